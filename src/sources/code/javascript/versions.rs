//! Versions of the SDK that a repository asks for: a lock file's, else the newest that package.json admits.

use serde_json::Value;

use crate::sources::code::Load;

pub(super) const CLIENT: &str = "@aws-sdk/client-bedrock-runtime";
pub(super) const HANDLER: &str = "@smithy/node-http-handler";

/// The largest lock file that is read.
const LARGEST_LOCK: usize = 16 << 20;

pub(super) type Version = [u32; 3];

/// Newer than any.
const NEWEST: Version = [u32::MAX; 3];

/// What is installed, as far as it shows.
#[derive(Debug, Default)]
pub(super) struct Versions {
    found: Vec<(String, Version)>,
}

impl Versions {
    /// Reads package.json and the lock files of the entry's folder and its parents; the nearest wins.
    pub(super) fn read(entry: &str, load: &Load<'_>) -> Self {
        let (mut locked, mut nested, mut asked) = (Vec::new(), Vec::new(), Vec::new());
        let mut folder = entry;
        for _ in 0..32 {
            folder = folder.rsplit_once('/').map_or("", |(parent, _)| parent);
            let at = |name: &str| load(&if folder.is_empty() { name.to_owned() } else { format!("{folder}/{name}") });
            if let Some(text) = at("package.json") {
                declared(&text, &mut asked);
            }
            if let Some(text) = at("package-lock.json").filter(|text| text.len() <= LARGEST_LOCK) {
                npm_lock(&text, &mut locked, &mut nested);
            }
            if let Some(text) = at("yarn.lock").filter(|text| text.len() <= LARGEST_LOCK) {
                yarn_lock(&text, &mut locked);
            }
            if let Some(text) = at("pnpm-lock.yaml").filter(|text| text.len() <= LARGEST_LOCK) {
                pnpm_lock(&text, &mut locked);
            }
            if folder.is_empty() {
                break;
            }
        }
        nested.extend(locked);
        nested.extend(asked);
        Self { found: nested }
    }

    fn of(&self, package: &str) -> Option<Version> {
        self.found.iter().find(|(name, _)| name == package).map(|(_, version)| *version)
    }

    /// Whether a package is at a version or later; where nothing is known, yes.
    pub(super) fn at_least(&self, package: &str, version: Version) -> bool {
        self.of(package).unwrap_or(NEWEST) >= version
    }

    /// The version of the handler that the client brings along itself.
    pub(super) fn handler_of_client(&self) -> Version {
        // The first versions of the client that ask for these of the handler.
        const ASKED: [([u32; 3], [u32; 3]); 3] =
            [([3, 1138, 0], [4, 12, 1]), ([3, 910, 0], [4, 4, 1]), ([3, 723, 0], [4, 0, 0])];
        if let Some(nested) = self.of(NESTED) {
            return nested;
        }
        let client = self.of(CLIENT).unwrap_or(NEWEST);
        let Some((_, least)) = ASKED.iter().find(|(version, _)| client >= *version) else { return [3, 0, 0] };
        match self.of(HANDLER) {
            Some(version) if version >= *least => version,
            _ => NEWEST,
        }
    }

    /// The version of the handler that the repository's own code imports.
    pub(super) fn handler_of_code(&self) -> Version {
        self.of(HANDLER).unwrap_or_else(|| self.handler_of_client())
    }
}

/// The handler below the client's own folder.
const NESTED: &str = "@aws-sdk/client-bedrock-runtime/node_modules/@smithy/node-http-handler";

fn declared(text: &str, found: &mut Vec<(String, Version)>) {
    let Ok(Value::Object(package)) = serde_json::from_str(text) else { return };
    for kind in ["dependencies", "devDependencies", "optionalDependencies", "peerDependencies"] {
        for (name, range) in package.get(kind).and_then(Value::as_object).into_iter().flatten() {
            if let Some(version) = range.as_str().and_then(newest) {
                found.push((name.clone(), version));
            }
        }
    }
}

fn npm_lock(text: &str, found: &mut Vec<(String, Version)>, nested: &mut Vec<(String, Version)>) {
    let Ok(Value::Object(lock)) = serde_json::from_str(text) else { return };
    for (path, package) in lock.get("packages").and_then(Value::as_object).into_iter().flatten() {
        let version = package.get("version").and_then(Value::as_str).and_then(newest);
        if let (Some((_, name)), Some(version)) = (path.split_once("node_modules/"), version) {
            let list = if name == NESTED { &mut *nested } else { &mut *found };
            list.push((name.to_owned(), version));
        }
    }
    // The first format of the file.
    for (name, package) in lock.get("dependencies").and_then(Value::as_object).into_iter().flatten() {
        if let Some(version) = package.get("version").and_then(Value::as_str).and_then(newest) {
            found.push((name.clone(), version));
        }
    }
}

/// Entries such as `"@smithy/types@^4.1.0", ...:` with `version "4.2.0"` or `version: 4.2.0` below. Of several the newest
/// counts.
fn yarn_lock(text: &str, found: &mut Vec<(String, Version)>) {
    let mut names: Vec<String> = Vec::new();
    let mut entries: Vec<(String, Version)> = Vec::new();
    for line in text.lines() {
        if line.starts_with('#') {
            continue;
        }
        if !line.starts_with(' ') && line.ends_with(':') {
            names = line.trim_end_matches(':').split(", ").filter_map(package_of).collect();
        } else if let Some(version) = line.trim_start().strip_prefix("version") {
            let version = newest(version.trim_matches(|c: char| matches!(c, ' ' | ':' | '"')));
            entries.extend(names.drain(..).filter_map(|name| Some((name, version?))));
        }
    }
    entries.sort_by_key(|(_, version)| std::cmp::Reverse(*version));
    found.extend(entries);
}

/// Keys such as `'@smithy/types@4.2.0':` or `/@smithy/types@4.2.0(peer@1.0.0):`. Of several the newest counts.
fn pnpm_lock(text: &str, found: &mut Vec<(String, Version)>) {
    let mut entries: Vec<(String, Version)> = text
        .lines()
        .filter(|line| line.starts_with("  ") && !line.starts_with("   ") && line.trim_end().ends_with(':'))
        .filter_map(|line| {
            let key = line.trim().trim_end_matches(':').trim_matches('\'').trim_start_matches('/');
            let key = key.split_once('(').map_or(key, |(key, _)| key);
            let (name, version) = key.rsplit_once('@').filter(|(name, _)| !name.is_empty())?;
            Some((name.to_owned(), newest(version)?))
        })
        .collect();
    entries.sort_by_key(|(_, version)| std::cmp::Reverse(*version));
    found.extend(entries);
}

fn package_of(key: &str) -> Option<String> {
    let key = key.trim_matches('"');
    let at = key.get(1..)?.find('@')? + 1;
    key.get(..at).map(str::to_owned)
}

/// The newest version that a range admits, with the largest number for what it leaves open.
fn newest(range: &str) -> Option<Version> {
    let range = range.rsplit("||").next()?.trim();
    let range = range.strip_prefix("npm:").and_then(|alias| alias.rsplit_once('@')).map_or(range, |(_, range)| range);
    if matches!(range, "" | "*" | "x" | "latest") {
        return Some(NEWEST);
    }
    let (open, rest) = match range {
        _ if range.starts_with(">=") || range.starts_with('>') => (0, range.trim_start_matches(['>', '=', ' '])),
        _ if range.starts_with('^') => (1, range.trim_start_matches(['^', ' '])),
        _ if range.starts_with('~') => (2, range.trim_start_matches(['~', '>', ' '])),
        _ => (3, range.trim_start_matches(['=', 'v', ' '])),
    };
    let mut words = rest.split_whitespace();
    let first = words.next()?;
    if let Some(below) = words.find_map(|word| word.strip_prefix('<')) {
        // `>=3.700.0 <3.800.0`: below the bound.
        return numbers(below.trim_start_matches('=')).map(|(bound, _)| before(bound));
    }
    let (mut version, given) = numbers(first)?;
    // `^0.3.1` keeps its first number that is not zero.
    let zeros = version.iter().take(2).take_while(|part| **part == 0).count();
    let keep = if open == 1 { (zeros + 1).min(given.max(1)) } else { open.min(given) };
    for part in version.iter_mut().skip(keep) {
        *part = u32::MAX;
    }
    Some(version)
}

fn before(bound: Version) -> Version {
    match bound {
        [major, 0, 0] => [major.saturating_sub(1), u32::MAX, u32::MAX],
        [major, minor, 0] => [major, minor.saturating_sub(1), u32::MAX],
        [major, minor, patch] => [major, minor, patch - 1],
    }
}

/// Up to three numbers, and how many there are. A version that is not finished counts as the one that it leads to.
fn numbers(text: &str) -> Option<(Version, usize)> {
    let text = text.split(['-', '+', '(']).next()?;
    let mut version = [0; 3];
    let mut given = 0;
    for (slot, part) in version.iter_mut().zip(text.split('.')) {
        if matches!(part, "x" | "X" | "*") {
            break;
        }
        *slot = part.parse().ok()?;
        given += 1;
    }
    (given > 0).then_some((version, given))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    #[test]
    fn a_range_admits_a_newest_version() {
        const MAX: u32 = u32::MAX;
        for (range, version) in [
            ("3.1164.0", Some([3, 1164, 0])),
            ("^3.700.0", Some([3, MAX, MAX])),
            ("~3.797.0", Some([3, 797, MAX])),
            ("^0.3.1", Some([0, 3, MAX])),
            ("3.x", Some([3, MAX, MAX])),
            ("3", Some([3, MAX, MAX])),
            (">=3.700.0", Some(NEWEST)),
            (">=3.700.0 <3.798.0", Some([3, 797, MAX])),
            ("^2.0.0 || ^3.1.0", Some([3, MAX, MAX])),
            ("npm:@acme/fork@4.3.0", Some([4, 3, 0])),
            ("latest", Some(NEWEST)),
            ("workspace:*", None),
            ("git+https://example.org/x", None),
        ] {
            assert_eq!(newest(range), version, "{range}");
        }
    }

    fn versions(files: &[(&str, &str)]) -> Versions {
        Versions::read("services/rank/src/a.ts", &|path: &str| {
            files.iter().find(|(name, _)| *name == path).map(|(_, text)| Arc::from(*text))
        })
    }

    #[test]
    fn a_lock_file_beats_the_range_and_the_nearest_package_beats_its_parents() {
        let package =
            r#"{"dependencies": {"@aws-sdk/client-bedrock-runtime": "^3.700.0", "@smithy/node-http-handler": "4.4.0"}}"#;
        let range = versions(&[
            ("services/rank/package.json", package),
            ("package.json", r#"{"dependencies": {"@smithy/node-http-handler": "4.3.0"}}"#),
        ]);
        assert!(range.at_least(CLIENT, [3, 798, 0]));
        assert_eq!(range.handler_of_code(), [4, 4, 0]);
        for (name, lock) in [
            (
                "package-lock.json",
                r#"{"packages": {"": {}, "node_modules/@aws-sdk/client-bedrock-runtime": {"version": "3.720.0"}}}"#,
            ),
            ("package-lock.json", r#"{"dependencies": {"@aws-sdk/client-bedrock-runtime": {"version": "3.720.0"}}}"#),
            (
                "yarn.lock",
                "# x\n\n\"@aws-sdk/client-bedrock-runtime@^3.700.0\", \"@aws-sdk/client-bedrock-runtime@3\":\n  version \"3.720.0\"\n",
            ),
            ("yarn.lock", "\"@aws-sdk/client-bedrock-runtime@npm:^3.700.0\":\n  version: 3.720.0\n"),
            ("pnpm-lock.yaml", "packages:\n\n  '@aws-sdk/client-bedrock-runtime@3.720.0(a@1.0.0)':\n    resolution: {}\n"),
        ] {
            let locked = versions(&[("services/rank/package.json", package), (name, lock)]);
            assert_eq!(locked.of(CLIENT), Some([3, 720, 0]), "{name}");
            assert!(!locked.at_least(CLIENT, [3, 798, 0]));
        }
    }

    #[test]
    fn the_client_brings_a_handler_that_its_own_version_asks_for() {
        let with = |client: &str, handler: &str| {
            let package = format!(
                r#"{{"dependencies": {{"@aws-sdk/client-bedrock-runtime": "{client}", "@smithy/node-http-handler": "{handler}"}}}}"#
            );
            versions(&[("package.json", &package)])
        };
        assert_eq!(with("3.1164.0", "4.3.0").handler_of_client(), NEWEST);
        assert_eq!(with("3.1164.0", "4.3.0").handler_of_code(), [4, 3, 0]);
        assert_eq!(with("3.850.0", "4.3.0").handler_of_client(), [4, 3, 0]);
        assert_eq!(with("3.700.0", "workspace:*").handler_of_client(), [3, 0, 0]);
        assert_eq!(versions(&[]).handler_of_code(), NEWEST);
    }
}
