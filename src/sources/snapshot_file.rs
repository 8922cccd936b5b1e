//! Snapshot files: JSON, versioned.

use std::path::Path;

use super::text_file::{self, ReadError};
use crate::engine::snapshot::{SNAPSHOT_SCHEMA, Snapshot, Window};

/// Why a snapshot could not be read.
#[derive(Debug, thiserror::Error)]
pub enum SnapshotError {
    #[error(transparent)]
    Read(#[from] ReadError),
    #[error("`{path}` is not a snapshot: {source}")]
    NotASnapshot { path: String, source: serde_json::Error },
    #[error("`{path}` is a snapshot of schema {found}, and this forebay reads schema {SNAPSHOT_SCHEMA}")]
    Schema { path: String, found: u64 },
    #[error("`{path}` is not a snapshot: its metrics window goes from minute {} to {} since 1970, with minutes from {}", window.start_minute, window.end_minute, window.minutes_from)]
    Window { path: String, window: Window },
}

/// Minutes of two centuries: no window is outside, and sums of them stay exact.
const LAST_MINUTE: i64 = 200 * 366 * 1440;

/// Reads a snapshot file.
///
/// # Errors
/// Where there is none, it is no snapshot, or one of another schema.
pub fn read(path: &Path) -> Result<Snapshot, SnapshotError> {
    let text = text_file::read(path)?;
    let path = path.display().to_string();
    // The schema is looked at first: a file of a later one would otherwise be reported as one with unknown fields.
    let schema = serde_json::from_str::<serde_json::Value>(&text).ok().and_then(|value| value.get("schema")?.as_u64());
    if let Some(found) = schema.filter(|&found| found != u64::from(SNAPSHOT_SCHEMA)) {
        return Err(SnapshotError::Schema { path, found });
    }
    let snapshot: Snapshot = match serde_json::from_str(&text) {
        Ok(snapshot) => snapshot,
        Err(source) => return Err(SnapshotError::NotASnapshot { path, source }),
    };
    match snapshot.metrics.as_ref().map(|metrics| metrics.window) {
        Some(window) if !ordered(window) => Err(SnapshotError::Window { path, window }),
        _ => Ok(snapshot),
    }
}

fn ordered(window: Window) -> bool {
    (0..=LAST_MINUTE).contains(&window.start_minute)
        && (window.start_minute..=LAST_MINUTE).contains(&window.minutes_from)
        && (window.start_minute + 1..=LAST_MINUTE).contains(&window.end_minute)
}

/// The file's text.
pub fn to_text(snapshot: &Snapshot) -> String {
    let mut text = serde_json::to_string_pretty(snapshot).expect("a snapshot has string keys and finite numbers");
    text.push('\n');
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::model_id::Route;
    use crate::engine::snapshot::{ApplicationProfile, Metrics, QuotaList, QuotaRow};
    use crate::engine::usage::Usage;

    #[test]
    fn a_snapshot_comes_back_as_it_was_written() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("s.json");
        let snapshot = Snapshot {
            schema: SNAPSHOT_SCHEMA,
            taken_at: "2026-11-30T09:00:00Z".into(),
            region: "us-east-1".into(),
            account: Some("********3333".into()),
            quotas: Some(QuotaList {
                only_models: None,
                rows: vec![QuotaRow {
                    code: "L-1".into(),
                    name: "n".into(),
                    applied: Some(0.0),
                    default: None,
                    adjustable: Some(true),
                }],
            }),
            metrics: Some(Metrics {
                window: Window { start_minute: 1, end_minute: 61, minutes_from: 1 },
                usage: vec![Usage {
                    model_id: "m".into(),
                    minutes: vec![(1, Some(1.5), None, Some(2.0)).into()],
                    ..Usage::default()
                }],
                asked: vec!["m".into()],
                described: vec!["m".into()],
            }),
            application_profiles: Some(vec![ApplicationProfile {
                id: "a".into(),
                name: "b".into(),
                model: "c.d".into(),
                route: Route::Geo,
            }]),
            notes: vec!["x".into()],
        };
        text_file::write(&path, &to_text(&snapshot)).unwrap();
        assert_eq!(read(&path).unwrap(), snapshot);
    }

    #[test]
    fn other_files_are_refused_with_the_place() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("s.json");
        std::fs::write(&path, "{\"schema\": 1, \"taken_at\": 5}").unwrap();
        assert!(read(&path).unwrap_err().to_string().contains("line 1 column 27"), "{}", read(&path).unwrap_err());
        std::fs::write(&path, "{\"schema\": 9}").unwrap();
        assert!(matches!(read(&path), Err(SnapshotError::Schema { found: 9, .. })));
    }
}
