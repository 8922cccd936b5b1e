//! Source code of functions: model clients, their timeouts and retries, and the calls they make, by syntax tree.

use std::sync::Arc;

use crate::engine::deployment::{CodeRef, Setting, SourceFacts};

pub mod csharp;
pub mod go;
pub mod java;
pub mod javascript;
mod program;
pub mod python;
mod python_version;
pub mod rust;
#[cfg(test)]
mod testing;

/// How a reader gets at the text of another file: by its path relative to the working folder, with `/`.
pub type Load<'a> = dyn Fn(&str) -> Option<Arc<str>> + 'a;

/// Endings of files that are read as source.
pub const ENDINGS: &[&str] = &["py", "js", "mjs", "cjs", "jsx", "ts", "mts", "cts", "tsx", "java", "go", "rs", "cs"];

/// The ending of a path.
pub fn ending(path: &str) -> &str {
    path.rsplit_once('.').map_or("", |(_, ending)| ending)
}

/// Reads a function's entry file and the local files that it imports.
///
/// `None` where the language is none of those that are read.
pub fn read(entry: &str, load: &Load<'_>) -> Option<SourceFacts> {
    Some(match ending(entry) {
        "py" => {
            let mut facts = python::read(entry, load);
            if let Some(count) = python_version::default_attempts(entry, load) {
                settle_attempts(&mut facts, count);
            }
            facts
        }
        "java" => java::read(entry, load),
        "go" => go::read(entry, load),
        "rs" => rust::read(entry, load),
        "cs" => csharp::read(entry, load),
        "js" | "mjs" | "cjs" | "jsx" | "ts" | "mts" | "cts" | "tsx" => javascript::read(entry, load),
        _ => return None,
    })
}

/// Where the count hangs on the SDK's version alone, the version that is pinned decides it.
fn settle_attempts(facts: &mut SourceFacts, count: u32) {
    for client in facts.clients.iter_mut().filter(|client| client.sdk == "botocore" && client.attempts.is_default()) {
        if client.attempts.fact().is_some_and(|fact| fact.value.len() > 1 && fact.value.contains(&count)) {
            client.attempts = Setting::default_of(vec![count], "default of botocore");
        }
    }
}

/// The entry file of a function: where its handler says, in the folders that may hold it; else the one source file of the
/// run that ends in that path. Two that do are no answer.
pub fn entry(code: &CodeRef, sources: &[String], load: &Load<'_>) -> Option<String> {
    let candidates = entry_paths(code);
    for folder in &code.folders {
        for candidate in &candidates {
            let path = if folder.is_empty() { candidate.clone() } else { format!("{folder}/{candidate}") };
            if load(&path).is_some() {
                return Some(path);
            }
        }
    }
    candidates.iter().find_map(|candidate| {
        let mut found = sources.iter().filter(|path| *path == candidate || path.ends_with(&format!("/{candidate}")));
        let first = found.next()?;
        found.next().is_none().then(|| first.clone())
    })
}

/// Paths that a handler may mean, by the runtime where it is known.
fn entry_paths(code: &CodeRef) -> Vec<String> {
    let runtime = code.runtime.as_deref().unwrap_or_default();
    let of = |prefixes: &[&str]| runtime.is_empty() || prefixes.iter().any(|prefix| runtime.starts_with(prefix));
    let handler = code.handler.trim_start_matches("./");
    let mut paths = Vec::new();
    let module = handler.rsplit_once('.').map_or(handler, |(module, _)| module);
    if of(&["python"]) && !handler.contains("::") {
        let module = module.replace('.', "/");
        paths.extend([format!("{module}.py"), format!("{module}/__init__.py")]);
    }
    if of(&["nodejs"]) && !handler.contains("::") {
        paths.extend(["ts", "mts", "cts", "tsx", "js", "mjs", "cjs", "jsx"].map(|ending| format!("{module}.{ending}")));
    }
    if of(&["java", "provided"]) {
        let class = handler.split("::").next().unwrap_or_default().replace('.', "/");
        paths.extend([format!("{class}.java"), format!("src/main/java/{class}.java")]);
    }
    if of(&["dotnet"])
        && let Some(class) = handler.split("::").nth(1)
    {
        let name = class.rsplit('.').next().unwrap_or(class);
        paths.extend([format!("{name}.cs"), format!("src/{name}.cs")]);
    }
    if of(&["go", "provided"]) && !handler.contains("::") {
        paths.extend(["main.go".to_owned(), "cmd/main.go".to_owned(), format!("cmd/{handler}/main.go")]);
    }
    if of(&["provided"]) && !runtime.is_empty() {
        paths.extend(["src/main.rs".to_owned(), "main.rs".to_owned()]);
    }
    paths
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(handler: &str, runtime: &str, folders: &[&str], files: &[&str]) -> Option<String> {
        let code = CodeRef {
            folders: folders.iter().map(|&folder| folder.to_owned()).collect(),
            handler: handler.to_owned(),
            runtime: (!runtime.is_empty()).then(|| runtime.to_owned()),
            inline: None,
        };
        let sources: Vec<String> = files.iter().map(|&file| file.to_owned()).collect();
        entry(&code, &sources, &|path| sources.iter().any(|file| file == path).then(|| Arc::from("")))
    }

    #[test]
    fn a_handler_leads_to_its_file() {
        for (handler, runtime, folders, file) in [
            ("app.main", "python3.13", &["code"][..], "code/app.py"),
            ("pkg.app.main", "", &[""], "pkg/app.py"),
            ("src/rank.handler", "nodejs22.x", &[""], "src/rank.ts"),
            ("estate.Reader::handle", "java21", &[""], "src/main/java/estate/Reader.java"),
            ("Assembly::Some.Space.Function::Run", "dotnet8", &["lib"], "lib/src/Function.cs"),
            ("bootstrap", "provided.al2023", &["cmd"], "cmd/main.go"),
            // Not where it was looked for, but only one fits.
            ("app.main", "python3.13", &["elsewhere"], "deep/inside/app.py"),
        ] {
            assert_eq!(found(handler, runtime, folders, &[file]).as_deref(), Some(file), "{handler}");
        }
        assert_eq!(found("app.main", "python3.13", &["x"], &["a/app.py", "b/app.py"]), None, "two fit");
        assert_eq!(found("app.main", "nodejs22.x", &[""], &["app.py"]), None);
    }
}
