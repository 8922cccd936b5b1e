//! What the tests of several languages' readers ask.

use std::sync::Arc;

use super::Load;
use crate::engine::deployment::{Client, Setting, SourceFacts};

/// Reads the first of some files.
pub(super) fn read_first(files: &[(&str, &str)], read: impl Fn(&str, &Load<'_>) -> SourceFacts) -> SourceFacts {
    let load = |path: &str| files.iter().find(|(name, _)| *name == path).map(|(_, text)| Arc::from(*text));
    read(files[0].0, &load)
}

/// The one client.
pub(super) fn client(facts: &SourceFacts) -> &Client {
    assert_eq!(facts.clients.len(), 1, "{facts:#?}");
    &facts.clients[0]
}

/// The read timeout, where it is known.
pub(super) fn seconds(client: &Client) -> Option<Option<f64>> {
    client.read_timeout_s.value()
}

/// The attempts, where they are known.
pub(super) fn attempts(client: &Client) -> Option<Vec<u32>> {
    client.attempts.fact().map(|fact| fact.value.clone())
}

/// Whether a setting is there and cannot be followed.
pub(super) fn hidden<T>(setting: &Setting<T>) -> bool {
    setting.why_unresolved().is_some()
}
