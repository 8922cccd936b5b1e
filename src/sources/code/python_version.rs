//! Which botocore a repository pins: from 1.44 on a call makes three attempts by default, before that five.

use super::Load;

/// The first minor version whose default retry mode is `standard` (botocore 1.44.0, 2026-11). boto3 counts alike.
const STANDARD_FROM: (u32, u32) = (1, 44);

/// Files that pin exactly, before files that give a range.
const LOCKS: &[&str] = &["uv.lock", "poetry.lock", "Pipfile.lock", "requirements.lock", "pylock.toml"];
const RANGES: &[&str] = &["requirements.txt", "constraints.txt", "pyproject.toml", "Pipfile", "setup.cfg"];

/// Default attempts under the versions that the files beside the entry, or above it, allow; `None` where they say nothing
/// that decides it.
pub(crate) fn default_attempts(entry: &str, load: &Load<'_>) -> Option<u32> {
    let mut folder = entry.rsplit_once('/').map_or("", |(folder, _)| folder);
    loop {
        for name in LOCKS.iter().chain(RANGES) {
            let path = if folder.is_empty() { (*name).to_owned() } else { format!("{folder}/{name}") };
            let Some(text) = load(&path) else { continue };
            // botocore itself decides; boto3 brings the botocore of its own number.
            let range = ["botocore", "boto3"].iter().find_map(|package| range_in(name, &text, package));
            if let Some(range) = range {
                return range.attempts();
            }
        }
        folder = match folder.rsplit_once('/') {
            Some((above, _)) => above,
            None if folder.is_empty() => return None,
            None => "",
        };
    }
}

/// Versions from `low`, and below `high`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Range {
    low: (u32, u32),
    high: Option<(u32, u32)>,
}

impl Range {
    fn attempts(self) -> Option<u32> {
        if self.low >= STANDARD_FROM {
            Some(3)
        } else if self.high.is_some_and(|high| high <= STANDARD_FROM) {
            Some(5)
        } else {
            None
        }
    }
}

fn range_in(file: &str, text: &str, package: &str) -> Option<Range> {
    if file == "Pipfile.lock" {
        let lock: serde_json::Value = serde_json::from_str(text).ok()?;
        return specifiers(lock["default"][package]["version"].as_str()?);
    }
    let mut lines = text.lines().map(str::trim);
    if LOCKS.contains(&file) {
        let name = format!("name = \"{package}\"");
        lines.find(|line| *line == name)?;
        let version = lines.take(3).find_map(|line| line.strip_prefix("version = \"")?.strip_suffix('"'))?;
        return specifiers(&format!("=={version}"));
    }
    lines.find_map(|line| {
        let line = line.split('#').next().unwrap_or(line).trim_start_matches(['"', '\'', '[', ' ']);
        let rest = line.strip_prefix(package)?;
        // `boto3-stubs` is another package.
        if rest.starts_with(|c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.')) {
            return None;
        }
        let rest = rest.split(';').next().unwrap_or(rest);
        let rest = rest.strip_prefix('[').and_then(|rest| rest.split_once(']')).map_or(rest, |(_, rest)| rest).trim();
        // `boto3 = "^1.44"` and `boto3 = {version = "..."}` of TOML.
        let toml = rest.strip_prefix('=').filter(|rest| !rest.starts_with('=')).map(|rest| {
            let rest = rest.split_once("version").map_or(rest, |(_, rest)| rest.trim_start_matches([' ', '=']));
            rest.trim().trim_start_matches('"').split('"').next().unwrap_or_default().to_owned()
        });
        specifiers(toml.as_deref().unwrap_or(rest.trim_end_matches(['"', '\'', ',', ' ', ']'])))
    })
}

/// `>=1.43,<1.45`, `~=1.44.0`, `^1.44`, `==1.43.*`.
fn specifiers(text: &str) -> Option<Range> {
    let mut range = Range { low: (0, 0), high: None };
    let mut any = false;
    for part in text.split(',').map(str::trim).filter(|part| !part.is_empty()) {
        let digits = part.find(|c: char| c.is_ascii_digit())?;
        let (operator, version) = (part[..digits].trim(), &part[digits..]);
        let numbers: Vec<u32> = version.split('.').map_while(|number| number.trim().parse().ok()).collect();
        let version = (*numbers.first()?, numbers.get(1).copied().unwrap_or(0));
        let next = (version.0, version.1 + 1);
        any = true;
        let high = match operator {
            "==" | "===" => {
                range.low = range.low.max(version);
                Some(next)
            }
            ">=" | ">" => {
                range.low = range.low.max(version);
                None
            }
            "<" if numbers.len() <= 2 || numbers[2..].iter().all(|number| *number == 0) => Some(version),
            "<" | "<=" => Some(next),
            "~=" | "~" => {
                range.low = range.low.max(version);
                // Two numbers hold the first, three hold the second.
                Some(if numbers.len() > 2 || operator == "~" { next } else { (version.0 + 1, 0) })
            }
            "^" | "" => {
                range.low = range.low.max(version);
                Some((version.0 + 1, 0))
            }
            _ => None,
        };
        if let Some(high) = high {
            range.high = Some(range.high.map_or(high, |known| known.min(high)));
        }
    }
    any.then_some(range)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    fn attempts(file: &str, text: &str) -> Option<u32> {
        default_attempts("app/src/handler.py", &|path| (path == format!("app/{file}")).then(|| Arc::from(text)))
    }

    #[test]
    fn pins_and_ranges_decide_where_they_can() {
        for (file, text, count) in [
            ("requirements.txt", "requests\nbotocore==1.44.8\n", Some(3)),
            ("requirements.txt", "boto3==1.40.0 # old\n", Some(5)),
            ("requirements.txt", "boto3[crt]>=1.44 ; python_version > '3.9'\n", Some(3)),
            ("requirements.txt", "boto3>=1.40\n", None),
            ("requirements.txt", "boto3~=1.43.0\n", Some(5)),
            ("requirements.txt", "boto3~=1.43\n", None),
            ("requirements.txt", "boto3>=1.40,<1.44\n", Some(5)),
            ("requirements.txt", "boto3==1.43.*\n", Some(5)),
            ("requirements.txt", "boto3\n", None),
            ("requirements.txt", "boto3-stubs==1.44.0\n", None),
            ("pyproject.toml", "[project]\ndependencies = [\n  \"boto3>=1.44.1\",\n]\n", Some(3)),
            ("pyproject.toml", "[tool.poetry.dependencies]\nboto3 = \"^1.44\"\n", Some(3)),
            ("pyproject.toml", "boto3 = {version = \"~1.43\", extras = [\"crt\"]}\n", Some(5)),
            ("uv.lock", "[[package]]\nname = \"botocore\"\nversion = \"1.44.8\"\n", Some(3)),
            ("poetry.lock", "[[package]]\nname = \"botocore\"\nversion = \"1.43.9\"\n", Some(5)),
            ("Pipfile.lock", "{\"default\": {\"boto3\": {\"version\": \"==1.44.0\"}}}", Some(3)),
        ] {
            assert_eq!(attempts(file, text), count, "{file}: {text}");
        }
    }
}
