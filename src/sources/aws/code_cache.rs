//! The quota codes of a Region, kept between runs.
//!
//! A list of quotas takes eleven pages, one after the other; by code, the same rows take one round trip. Codes and names
//! are kept, values never: they are asked each time. The file holds nothing of the account.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::engine::snapshot::QuotaRow;
use crate::sources::text_file;

/// After this many days the list is made anew, for rows may have come that no code points to.
const KEPT_DAYS: i64 = 7;

/// What a list belongs to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Key {
    pub region: String,
    pub endpoint: Option<String>,
    pub profile: Option<String>,
    /// The account or access key, as a [`fingerprint`].
    pub caller: String,
}

/// FNV-1a: tells callers apart without writing down who they are. It protects nothing.
pub fn fingerprint(text: &str) -> String {
    let hash =
        text.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3));
    format!("{hash:016x}")
}

#[derive(Debug, Serialize, Deserialize)]
struct File {
    schema: u32,
    #[serde(flatten)]
    key: Key,
    /// Seconds since the Unix epoch.
    listed_at: i64,
    /// Code, name, and whether Service Quotas takes an increase request for it.
    rows: Vec<(String, String, Option<bool>)>,
}

const SCHEMA: u32 = 1;

/// A folder of lists; without one, nothing is kept.
#[derive(Clone, Debug, Default)]
pub struct CodeCache {
    folder: Option<PathBuf>,
}

impl CodeCache {
    pub fn new(folder: Option<PathBuf>) -> Self {
        Self { folder }
    }

    fn path(&self, key: &Key) -> Option<PathBuf> {
        let word = |text: &Option<String>| {
            let text = text.as_deref().unwrap_or("default");
            text.chars().map(|c| if c.is_ascii_alphanumeric() || c == '-' { c } else { '_' }).collect::<String>()
        };
        let name = format!("codes_{}_{}_{}_{}.json", key.region, word(&key.endpoint), word(&key.profile), key.caller);
        Some(self.folder.as_ref()?.join(name))
    }

    /// The rows of a Region without their values; `None` where none are kept, or too old ones. A file that cannot be
    /// read is no list: it is made anew.
    pub fn load(&self, key: &Key, now: i64) -> Option<Vec<QuotaRow>> {
        let file: File = serde_json::from_str(&text_file::read(&self.path(key)?).ok()?).ok()?;
        let age = now - file.listed_at;
        let usable = file.schema == SCHEMA && file.key == *key && (0..KEPT_DAYS * 86_400).contains(&age);
        usable.then(|| {
            let row = |(code, name, adjustable)| QuotaRow { code, name, adjustable, ..QuotaRow::default() };
            file.rows.into_iter().map(row).collect()
        })
    }

    /// Drops the rows of a Region: the next list is made anew.
    pub fn forget(&self, key: &Key) {
        if let Some(path) = self.path(key) {
            // What is not there need not be removed, and what cannot be is replaced by the next list.
            let _ = std::fs::remove_file(path);
        }
    }

    /// Keeps the rows of a Region. Failing to is no error of the plan: it only costs the next one time.
    pub fn store(&self, key: &Key, now: i64, rows: &[QuotaRow]) {
        let Some(path) = self.path(key) else { return };
        let row = |row: &QuotaRow| (row.code.clone(), row.name.clone(), row.adjustable);
        let file = File { schema: SCHEMA, key: key.clone(), listed_at: now, rows: rows.iter().map(row).collect() };
        if let (Some(folder), Ok(text)) = (path.parent(), serde_json::to_string(&file)) {
            let made = std::fs::create_dir_all(folder).map_err(|_| ());
            let _ = made.and_then(|()| write(&path, &text));
        }
    }
}

fn write(path: &Path, text: &str) -> Result<(), ()> {
    text_file::write(path, text).map_err(|_| ())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(region: &str) -> Key {
        Key {
            region: region.into(),
            endpoint: Some("http://127.0.0.1:1".into()),
            profile: None,
            caller: fingerprint("111122223333"),
        }
    }

    #[test]
    fn names_and_codes_are_kept_and_values_are_not() {
        let folder = tempfile::tempdir().unwrap();
        let cache = CodeCache::new(Some(folder.path().join("new")));
        let row =
            QuotaRow { code: "L-1".into(), name: "n".into(), applied: Some(5.0), default: Some(6.0), adjustable: Some(false) };
        cache.store(&key("us-east-1"), 1000, std::slice::from_ref(&row));
        let kept = QuotaRow { applied: None, default: None, ..row };
        assert_eq!(cache.load(&key("us-east-1"), 2000), Some(vec![kept]));
        assert_eq!(cache.load(&key("eu-west-1"), 2000), None, "another Region");
        let other = Key { caller: fingerprint("444455556666"), ..key("us-east-1") };
        assert_eq!(cache.load(&other, 2000), None, "another account");
        assert_eq!(fingerprint("a"), "af63dc4c8601ec8c", "FNV-1a of one letter, from its authors' table");
        assert_eq!(cache.load(&key("us-east-1"), 1000 + 7 * 86_400), None, "too old");
        assert_eq!(cache.load(&key("us-east-1"), 900), None, "from the future");
        cache.forget(&key("us-east-1"));
        assert_eq!(cache.load(&key("us-east-1"), 2000), None, "forgotten");
        assert_eq!(CodeCache::default().load(&key("us-east-1"), 2000), None);
    }

    #[test]
    fn a_broken_file_is_no_list() {
        let folder = tempfile::tempdir().unwrap();
        let cache = CodeCache::new(Some(folder.path().to_owned()));
        cache.store(&key("us-east-1"), 1000, &[]);
        let path = cache.path(&key("us-east-1")).unwrap();
        std::fs::write(path, "{").unwrap();
        assert_eq!(cache.load(&key("us-east-1"), 1000), None);
    }
}
