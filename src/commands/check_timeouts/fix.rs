//! `--fix`: a unified diff of what literals can mend.

use std::collections::BTreeMap;

use crate::engine::finding::{Edit, Finding, Severity};
use crate::report::diff::unified;
use crate::report::document::Texts;

/// The diff of all edits; advice (notes) changes nothing.
pub(super) fn diff(findings: &[Finding], texts: &Texts) -> String {
    let mut edits: BTreeMap<&str, Vec<Edit>> = BTreeMap::new();
    for finding in findings.iter().filter(|finding| finding.severity >= Severity::Warning) {
        if let Some(edit) = &finding.edit
            && let Some(text) = texts.get(&edit.place.path).filter(|text| !is_generated(&edit.place.path, text))
            && let Some(old) = text.get(edit.place.start..edit.place.end)
            && let Some(replacement) = replacement(old, &edit.replacement)
        {
            let edit = Edit { replacement, ..edit.clone() };
            edits.entry(&finding.labels[0].place.path).or_default().push(edit);
        }
    }
    edits.into_iter().filter_map(|(path, edits)| unified(path, &texts.get(path)?, &edits)).collect()
}

/// What a tool wrote: it is mended where the tool reads from, and a plan holds secrets beside its numbers.
fn is_generated(path: &str, text: &str) -> bool {
    path.split('/').any(|part| part == "cdk.out")
        || ["\"planned_values\"", "\"resource_changes\"", "\"newState\""].iter().any(|key| text.contains(key))
}

/// The new text of a literal: a number stays a number, a quoted one stays quoted; anything else is not touched, for it is
/// more than the number.
fn replacement(old: &str, new: &str) -> Option<String> {
    let trimmed = old.trim_end();
    let tail = &old[trimmed.len()..];
    let quote = trimmed.chars().next().filter(|c| matches!(c, '"' | '\''));
    let inner = match quote {
        Some(quote) => trimmed.strip_prefix(quote)?.strip_suffix(quote)?,
        None => trimmed,
    };
    inner.trim().parse::<f64>().ok()?;
    let quote = quote.map(String::from).unwrap_or_default();
    Some(format!("{quote}{new}{quote}{tail}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_plain_numbers_are_replaced() {
        assert_eq!(replacement("30", "360").as_deref(), Some("360"));
        assert_eq!(replacement("\"30\"", "360").as_deref(), Some("\"360\""));
        assert_eq!(replacement("'30' ", "360").as_deref(), Some("'360' "));
        assert_eq!(replacement("{\"maxReceiveCount\": 3}", "5"), None);
        assert_eq!(replacement("var.timeout * 2", "5"), None);
    }
}
