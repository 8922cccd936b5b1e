//! The layers of docs/architecture.md, held by reading the sources.

use std::path::{Path, PathBuf};

/// A layer, and paths that its files may not name.
const FORBIDDEN: &[(&str, &[&str])] = &[
    (
        "engine",
        &[
            "clap",
            "aws_",
            "tokio",
            "std::fs",
            "std::env",
            "std::io",
            "std::net",
            "std::time::SystemTime",
            "Timestamp::now",
            "println!",
            "eprintln!",
            "comfy_table",
            "annotate_snippets",
            "crate::sources",
            "crate::report",
            "crate::commands",
            "crate::cli",
        ],
    ),
    (
        "sources",
        &[
            "clap",
            "comfy_table",
            "annotate_snippets",
            "std::env",
            "Timestamp::now",
            "println!",
            "crate::report",
            "crate::commands",
            "crate::cli",
        ],
    ),
    (
        "report",
        &[
            "clap",
            "aws_",
            "tokio",
            "std::fs",
            "std::env",
            "std::io",
            "println!",
            "crate::sources",
            "crate::commands",
            "crate::cli",
        ],
    ),
    ("commands", &["clap", "std::env", "Timestamp::now", "println!", "comfy_table", "annotate_snippets"]),
    ("cli", &["aws_config", "aws_sdk", "tokio", "crate::sources", "crate::report", "crate::commands", "crate::engine"]),
];

/// The most lines of a file: one that passes it has two subjects.
const LONGEST: usize = 400;

fn files(folder: &Path, out: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files(&path, out);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            out.push(path);
        }
    }
}

fn sources() -> Vec<(PathBuf, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut paths = Vec::new();
    files(&root, &mut paths);
    paths.sort();
    paths
        .into_iter()
        .map(|path| (path.strip_prefix(&root).unwrap().to_owned(), std::fs::read_to_string(&path).unwrap()))
        .collect()
}

/// The code of a file: no comments, and nothing below its tests.
fn code(text: &str) -> String {
    let code =
        text.split("#[cfg(test)]\nmod tests").next().unwrap().split("#[cfg(test)]\npub(crate) mod tests").next().unwrap();
    code.lines().filter(|line| !line.trim_start().starts_with("//")).collect::<Vec<_>>().join("\n")
}

#[test]
fn no_layer_names_what_it_may_not_use() {
    let mut wrong = Vec::new();
    let mut seen = 0;
    for (path, text) in sources() {
        let layer = path.iter().next().unwrap().to_str().unwrap().trim_end_matches(".rs").to_owned();
        let Some((_, forbidden)) = FORBIDDEN.iter().find(|(name, _)| *name == layer) else { continue };
        seen += 1;
        for (i, line) in code(&text).lines().enumerate() {
            for word in *forbidden {
                let found =
                    line.match_indices(word).any(|(at, _)| !line[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_'));
                if found {
                    wrong.push(format!("{} (code line {}): `{word}` in {layer}: {}", path.display(), i + 1, line.trim()));
                }
            }
        }
    }
    assert!(seen > 40, "{seen} files were read");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn no_file_has_two_subjects() {
    let long: Vec<String> = sources()
        .into_iter()
        .map(|(path, text)| (path, code(&text).lines().filter(|line| !line.trim().is_empty()).count()))
        .filter(|(_, lines)| *lines > LONGEST)
        .map(|(path, lines)| format!("{}: {lines}", path.display()))
        .collect();
    assert!(long.is_empty(), "{}", long.join("\n"));
}

#[test]
fn main_is_thin() {
    let (_, main) = sources().into_iter().find(|(path, _)| path.as_os_str() == "main.rs").unwrap();
    assert!(main.lines().count() < 30);
}
