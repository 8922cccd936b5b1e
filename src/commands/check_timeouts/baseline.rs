//! Baselines: findings that are known, and do not count. What changes them is the rule, the file, the names of the chain and
//! the text of the line, not its number: code moves.

use std::path::Path;

use anyhow::{Context as _, Result};
use serde::{Deserialize, Serialize};

use super::read_text;
use crate::engine::finding::Finding;
use crate::report::document::Texts;
use crate::report::fingerprint;
use crate::sources::text_file;

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Baseline {
    schema: u32,
    findings: Vec<Entry>,
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    rule: String,
    #[serde(default)]
    path: Option<String>,
    fingerprint: String,
    /// How many findings have this fingerprint.
    count: usize,
}

fn entry(finding: &Finding, texts: &Texts) -> Entry {
    Entry {
        rule: finding.rule.to_owned(),
        path: finding.place().map(|place| place.path.to_string()),
        fingerprint: fingerprint::of(finding, finding.place().and_then(|place| texts.get(&place.path)).as_deref()),
        count: 1,
    }
}

pub(super) fn write(path: &Path, found: &[Finding], texts: &Texts) -> Result<()> {
    let mut findings: Vec<Entry> = Vec::new();
    for finding in found {
        let entry = entry(finding, texts);
        match findings.iter_mut().find(|known| known.fingerprint == entry.fingerprint && known.rule == entry.rule) {
            Some(known) => known.count += 1,
            None => findings.push(entry),
        }
    }
    findings.sort();
    let mut text = serde_json::to_string_pretty(&Baseline { schema: 1, findings })?;
    text.push('\n');
    Ok(text_file::write(path, &text)?)
}

pub(super) fn read(path: &Path) -> Result<Baseline> {
    let text = read_text(path)?;
    serde_json::from_str(&text).with_context(|| format!("`{}` is no baseline: `--write-baseline` makes one", path.display()))
}

impl Baseline {
    /// Takes known findings out; the number is of entries that were not found.
    pub(super) fn take_out(mut self, found: &mut Vec<Finding>, texts: &Texts) -> usize {
        found.retain(|finding| {
            let entry = entry(finding, texts);
            let known = self
                .findings
                .iter_mut()
                .find(|known| known.fingerprint == entry.fingerprint && known.rule == entry.rule && known.count > 0);
            match known {
                Some(known) => {
                    known.count -= 1;
                    false
                }
                None => true,
            }
        });
        self.findings.iter().map(|entry| entry.count).sum()
    }
}
