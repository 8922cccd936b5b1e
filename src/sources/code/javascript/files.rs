//! The entry file and the local files that it imports.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use tree_sitter::Node;

use super::syntax::{Parsed, field, is_json, named, unwrap, walk};
use crate::sources::code::Load;
use crate::sources::path::follow;

const MOST_FILES: usize = 64;
const LARGEST_FILE: usize = 2 << 20;
const LARGEST_SUM: usize = 6 << 20;
const EXTENSIONS: [&str; 9] = ["ts", "tsx", "mts", "cts", "js", "jsx", "mjs", "cjs", "json"];

/// Parsed files; the first is the entry.
pub(super) struct Files {
    pub(super) list: Vec<Parsed>,
    /// By the importing file and the specifier as written: which file that is.
    targets: HashMap<(usize, String), usize>,
}

impl Files {
    pub(super) fn read(entry: &str, load: &Load<'_>) -> Self {
        let mut reader = Reader { load, aliases: Aliases::read(entry, load), paths: HashMap::new(), sum: 0 };
        let mut files = Self { list: Vec::new(), targets: HashMap::new() };
        let entry = normal("", entry);
        let first = reader.file(&entry, &mut files.list).or_else(|| reader.module(&entry, &mut files.list));
        let Some(first) = first else { return files };
        let mut open = VecDeque::from([first]);
        while let Some(index) = open.pop_front() {
            let Some(parsed) = files.list.get(index) else { continue };
            let from = Arc::clone(&parsed.file.path);
            for specifier in specifiers(parsed) {
                let before = files.list.len();
                if let Some(target) = reader.import(&from, &specifier, &mut files.list) {
                    files.targets.insert((index, specifier), target);
                    if files.list.len() > before {
                        open.push_back(target);
                    }
                }
            }
        }
        files
    }

    pub(super) fn target(&self, from: usize, specifier: &str) -> Option<usize> {
        self.targets.get(&(from, specifier.to_owned())).copied()
    }
}

struct Reader<'a> {
    load: &'a Load<'a>,
    aliases: Aliases,
    /// Paths that were tried.
    paths: HashMap<String, Option<usize>>,
    sum: usize,
}

impl Reader<'_> {
    fn import(&mut self, from: &str, specifier: &str, list: &mut Vec<Parsed>) -> Option<usize> {
        if specifier.starts_with('.') {
            let folder = from.rsplit_once('/').map_or("", |(folder, _)| folder);
            return self.module(&normal(folder, specifier), list);
        }
        self.aliases.paths(specifier).into_iter().find_map(|path| self.module(&path, list))
    }

    /// A file by its path without extension, with it, with the extension that it gets when it is compiled, or an index.
    fn module(&mut self, path: &str, list: &mut Vec<Parsed>) -> Option<usize> {
        let compiled = match path.rsplit_once('.') {
            Some((stem, "js")) => vec![path.to_owned(), format!("{stem}.ts"), format!("{stem}.tsx")],
            Some((stem, "jsx")) => vec![path.to_owned(), format!("{stem}.tsx")],
            Some((stem, "mjs")) => vec![path.to_owned(), format!("{stem}.mts")],
            Some((stem, "cjs")) => vec![path.to_owned(), format!("{stem}.cts")],
            Some((_, extension)) if EXTENSIONS.contains(&extension) => vec![path.to_owned()],
            _ => Vec::new(),
        };
        let base = if path.is_empty() { String::new() } else { format!("{path}/") };
        let added = EXTENSIONS.iter().map(|extension| format!("{path}.{extension}"));
        let index = EXTENSIONS.iter().map(|extension| format!("{base}index.{extension}"));
        compiled.into_iter().chain(added).chain(index).find_map(|path| self.file(&path, list))
    }

    fn file(&mut self, path: &str, list: &mut Vec<Parsed>) -> Option<usize> {
        if let Some(known) = self.paths.get(path) {
            return *known;
        }
        let read = || {
            let text = (self.load)(path)?;
            let fits = list.len() < MOST_FILES && text.len() <= LARGEST_FILE && self.sum + text.len() <= LARGEST_SUM;
            let parsed = fits.then(|| Parsed::new(path, &text)).flatten()?;
            Some((parsed, text.len()))
        };
        let index = read().map(|(parsed, size)| {
            self.sum += size;
            list.push(parsed);
            list.len() - 1
        });
        self.paths.insert(path.to_owned(), index);
        index
    }
}

/// What a file imports, as written.
fn specifiers(parsed: &Parsed) -> Vec<String> {
    let mut found = Vec::new();
    if is_json(&parsed.file.path) {
        return found;
    }
    walk(parsed.root(), |node| {
        let source = match node.kind() {
            "import_statement" | "export_statement" | "import_require_clause" => field(node, "source"),
            "call_expression" => field(node, "function")
                .filter(|callee| callee.kind() == "import" || parsed.text(*callee) == "require")
                .and_then(|_| super::syntax::argument(node, 0)),
            _ => None,
        };
        found.extend(source.and_then(|source| parsed.string(source)));
        true
    });
    found
}

/// Path aliases of the nearest tsconfig.json or jsconfig.json, and `imports` of the nearest package.json.
#[derive(Default)]
struct Aliases {
    /// Where other names than relative ones are looked for, if anywhere.
    base: Option<String>,
    /// The pattern before and after its `*`, and the replacements.
    list: Vec<(String, Option<String>, Vec<String>)>,
}

impl Aliases {
    fn read(entry: &str, load: &Load<'_>) -> Self {
        let entry = normal("", entry);
        let mut aliases = Self::default();
        let nearest = |names: &[&str]| {
            let mut folder = entry.clone();
            for _ in 0..32 {
                folder = folder.rsplit_once('/').map_or(String::new(), |(parent, _)| parent.to_owned());
                let found = names.iter().find_map(|name| {
                    let path = normal(&folder, name);
                    let text = load(&path).filter(|text| text.len() <= LARGEST_FILE)?;
                    Parsed::new(&path, &text)
                });
                if found.is_some() || folder.is_empty() {
                    return found.map(|parsed| (parsed, folder));
                }
            }
            None
        };
        if let Some((parsed, folder)) = nearest(&["tsconfig.json", "jsconfig.json"])
            && let Some(options) = root(&parsed).and_then(|root| entry_of(&parsed, root, "compilerOptions"))
        {
            let base = entry_of(&parsed, options, "baseUrl").and_then(|node| parsed.string(node));
            aliases.base = base.map(|base| normal(&folder, &base));
            let from = aliases.base.clone().unwrap_or(folder);
            aliases.add(&parsed, entry_of(&parsed, options, "paths"), &from);
        }
        if let Some((parsed, folder)) = nearest(&["package.json"]) {
            aliases.add(&parsed, root(&parsed).and_then(|root| entry_of(&parsed, root, "imports")), &folder);
        }
        aliases
    }

    /// Takes in patterns and their replacements, one or a list.
    fn add(&mut self, parsed: &Parsed, paths: Option<Node<'_>>, from: &str) {
        for pair in paths.into_iter().flat_map(named) {
            let (Some(pattern), Some(value)) = (field(pair, "key").and_then(|key| parsed.key(key)), field(pair, "value"))
            else {
                continue;
            };
            let targets = named(value).chain([value]).filter_map(|item| parsed.string(item)).map(|item| normal(from, &item));
            let targets = targets.collect();
            self.list.push(match pattern.split_once('*') {
                Some((before, after)) => (before.to_owned(), Some(after.to_owned()), targets),
                None => (pattern, None, targets),
            });
        }
    }

    fn paths(&self, specifier: &str) -> Vec<String> {
        let mut found = Vec::new();
        for (before, after, targets) in &self.list {
            let middle = match after {
                Some(after) => specifier.strip_prefix(before.as_str()).and_then(|rest| rest.strip_suffix(after.as_str())),
                None => (specifier == before).then_some(""),
            };
            if let Some(middle) = middle {
                found.extend(targets.iter().map(|target| normal("", &target.replacen('*', middle, 1))));
            }
        }
        found.extend(self.base.as_ref().map(|base| normal(base, specifier)));
        found
    }
}

/// The value of a JSON file.
fn root(parsed: &Parsed) -> Option<Node<'_>> {
    let statement = named(parsed.root()).find(|node| node.kind() == "expression_statement")?;
    named(statement).next().map(unwrap)
}

fn entry_of<'t>(parsed: &Parsed, object: Node<'t>, key: &str) -> Option<Node<'t>> {
    named(object)
        .find(|pair| field(*pair, "key").and_then(|name| parsed.key(name)).is_some_and(|name| name == key))
        .and_then(|pair| field(pair, "value"))
}

/// A path from a folder, without `.` and `..` where that can be.
fn normal(folder: &str, path: &str) -> String {
    let mut parts: Vec<&str> = Vec::new();
    follow(&mut parts, folder);
    follow(&mut parts, path);
    let joined = parts.join("/");
    if folder.is_empty() && path.starts_with('/') || folder.starts_with('/') { format!("/{joined}") } else { joined }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn paths(entry: &str, files: &[(&str, &str)]) -> Vec<String> {
        let load = |path: &str| files.iter().find(|(name, _)| *name == path).map(|(_, text)| Arc::from(*text));
        Files::read(entry, &load).list.iter().map(|parsed| parsed.file.path.to_string()).collect()
    }

    #[test]
    fn every_kind_of_import_is_followed_once() {
        let files = [
            (
                "app/src/work.ts",
                "import { a } from './a.js';\nexport * from \"../lib\";\nconst b = require('./b');\nawait import('./c.mjs');\nimport x from 'x';",
            ),
            ("app/src/a.ts", "import w from './work';"),
            ("app/lib/index.ts", ""),
            ("app/src/b.json", "{}"),
            ("app/src/c.mts", ""),
        ];
        let read = paths("app/src/work.ts", &files);
        assert_eq!(read, ["app/src/work.ts", "app/src/a.ts", "app/lib/index.ts", "app/src/b.json", "app/src/c.mts"]);
    }

    #[test]
    fn path_aliases_come_from_the_nearest_configuration() {
        let files = [
            (
                "tsconfig.json",
                "{ // ours\n \"compilerOptions\": { \"baseUrl\": \".\", \"paths\": {\"@lib/*\": [\"shared/*\"], \"settings\": [\"conf/s\"]} },\n}",
            ),
            ("package.json", "{\"imports\": {\"#core/*\": \"./core/*\"}}"),
            ("src/a.ts", "import '@lib/b';\nimport 'settings';\nimport 'other/c';\nimport '#core/d.js';"),
            ("core/d.js", ""),
            ("shared/b.ts", ""),
            ("conf/s.ts", ""),
            ("other/c.ts", ""),
        ];
        assert_eq!(paths("src/a.ts", &files), ["src/a.ts", "shared/b.ts", "conf/s.ts", "other/c.ts", "core/d.js"]);
    }

    #[test]
    fn files_are_bounded() {
        let load = |path: &str| {
            let number: usize = path.trim_start_matches('f').trim_end_matches(".js").parse().ok()?;
            Some(Arc::from(format!("import './f{}.js'", number + 1)))
        };
        assert_eq!(Files::read("f0.js", &load).list.len(), MOST_FILES);
        let large = |_: &str| Some(Arc::from(" ".repeat(LARGEST_FILE + 1)));
        assert!(Files::read("f0.js", &large).list.is_empty());
    }
}
