//! The entry file and the local files that it imports, parsed.

use std::collections::{BTreeSet, HashMap, VecDeque};

use tree_sitter::{Node, Parser, Tree};

use super::super::Load;
use crate::sources::iac::text::File;

const MOST_FILES: usize = 64;
const MOST_BYTES: usize = 2 * 1024 * 1024;
const MOST_FOLDERS: usize = 8;
/// Imports of one file that are followed.
const MOST_IMPORTS: usize = 1_000;

/// Packages that come from a registry or with Python: looked at as libraries also where a copy lies beside the source.
const LIBRARIES: [&str; 35] = [
    "aioboto3",
    "aiobotocore",
    "anthropic",
    "asyncio",
    "backoff",
    "base64",
    "boto3",
    "botocore",
    "collections",
    "concurrent",
    "copy",
    "dataclasses",
    "datetime",
    "functools",
    "httpx",
    "json",
    "langchain",
    "langchain_aws",
    "langchain_community",
    "langchain_core",
    "litellm",
    "logging",
    "multiprocessing",
    "numpy",
    "os",
    "pydantic",
    "pydantic_settings",
    "re",
    "requests",
    "retrying",
    "stamina",
    "strands",
    "tenacity",
    "time",
    "typing",
];

pub(super) struct Parsed {
    pub(super) file: File,
    pub(super) tree: Tree,
}

/// The files that were read, the entry first, with the folders in which imports are looked up.
#[derive(Default)]
pub(super) struct Files {
    pub(super) parsed: Vec<Parsed>,
    by_path: HashMap<String, usize>,
    roots: Vec<String>,
}

/// A module's name as an import writes it: the dots before it, and the dotted name.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Name<'t> {
    pub(super) level: usize,
    pub(super) dotted: &'t str,
}

impl Files {
    /// Reads the entry file, and what it imports, file by file.
    pub(super) fn read(entry: &str, load: &Load<'_>) -> Self {
        let entry = entry.strip_prefix("./").unwrap_or(entry);
        let mut files = Self { roots: roots(entry), ..Self::default() };
        let mut parser = Parser::new();
        if parser.set_language(&tree_sitter_python::LANGUAGE.into()).is_err() {
            return files;
        }
        let mut absent = BTreeSet::new();
        let mut waiting = VecDeque::new();
        files.add(entry, load, &mut parser, &mut absent);
        waiting.extend(files.by_path.get(entry).copied());
        while let Some(index) = waiting.pop_front() {
            let Some(parsed) = files.parsed.get(index) else { continue };
            let path = parsed.file.path.to_string();
            for (level, dotted) in imported(&parsed.tree, &parsed.file.text).into_iter().take(MOST_IMPORTS) {
                for base in files.bases(&path, &Name { level, dotted: &dotted }) {
                    let before = files.parsed.len();
                    let found = [format!("{base}.py"), join(&base, "__init__.py")]
                        .iter()
                        .any(|path| files.add(path, load, &mut parser, &mut absent));
                    waiting.extend(before..files.parsed.len());
                    if found {
                        break;
                    }
                }
            }
        }
        files
    }

    /// Whether the file is there, now or before.
    fn add(&mut self, path: &str, load: &Load<'_>, parser: &mut Parser, absent: &mut BTreeSet<String>) -> bool {
        if self.by_path.contains_key(path) {
            return true;
        }
        if self.parsed.len() >= MOST_FILES || absent.contains(path) {
            return false;
        }
        let text = load(path).filter(|text| text.len() <= MOST_BYTES);
        let Some((text, tree)) = text.and_then(|text| Some((text.clone(), parser.parse(text.as_bytes(), None)?))) else {
            absent.insert(path.to_owned());
            return false;
        };
        self.by_path.insert(path.to_owned(), self.parsed.len());
        self.parsed.push(Parsed { file: File::new(path, &text), tree });
        true
    }

    /// Paths, without ending, that a module's name may stand for in a file.
    fn bases(&self, from: &str, name: &Name<'_>) -> Vec<String> {
        let tail = name.dotted.replace('.', "/");
        if name.level == 0 {
            let first = name.dotted.split('.').next().unwrap_or("");
            if first.is_empty() || LIBRARIES.contains(&first) {
                return Vec::new();
            }
            return self.roots.iter().map(|root| join(root, &tail)).collect();
        }
        let mut folder = from;
        for _ in 0..name.level {
            folder = match folder.rsplit_once('/') {
                Some((above, _)) => above,
                None if folder.is_empty() => return Vec::new(),
                None => "",
            };
        }
        vec![join(folder, &tail)]
    }

    /// The file of a module, where it is among those that were read.
    pub(super) fn find(&self, from: usize, name: &Name<'_>) -> Option<usize> {
        let from = &self.parsed.get(from)?.file.path;
        self.bases(from, name).iter().find_map(|base| {
            let file = self.by_path.get(&format!("{base}.py"));
            file.or_else(|| self.by_path.get(&join(base, "__init__.py"))).copied()
        })
    }

    /// Whether a name is that of a local module, or of a folder of them.
    pub(super) fn is_local(&self, from: usize, name: &Name<'_>) -> bool {
        if name.level > 0 || self.find(from, name).is_some() {
            return true;
        }
        let Some(parsed) = self.parsed.get(from) else { return false };
        self.bases(&parsed.file.path, name).iter().any(|base| {
            let folder = format!("{base}/");
            self.by_path.keys().any(|path| path.starts_with(&folder))
        })
    }
}

/// The entry's folder, those above it, and their `src`.
fn roots(entry: &str) -> Vec<String> {
    let mut folders = Vec::new();
    let mut path = entry;
    while folders.len() < MOST_FOLDERS {
        let Some((folder, _)) = path.rsplit_once('/') else {
            folders.push(String::new());
            break;
        };
        folders.push(folder.to_owned());
        path = folder;
    }
    let below = folders.iter().map(|folder| join(folder, "src")).collect::<Vec<_>>();
    folders.extend(below);
    folders
}

fn join(folder: &str, name: &str) -> String {
    match (folder.is_empty(), name.is_empty()) {
        (true, _) => name.to_owned(),
        (false, true) => folder.to_owned(),
        (false, false) => format!("{folder}/{name}"),
    }
}

/// Names of the modules that a file's imports may load, in the order in which they stand.
fn imported(tree: &Tree, text: &str) -> Vec<(usize, String)> {
    let mut names = Vec::new();
    let mut cursor = tree.walk();
    loop {
        let node = cursor.node();
        match node.kind() {
            "import_statement" => {
                for (name, _) in imports(node, text) {
                    let mut end = 0;
                    for part in name.split('.') {
                        end += part.len();
                        names.push((0, name.get(..end).unwrap_or(name).to_owned()));
                        end += 1;
                    }
                }
            }
            "import_from_statement" => {
                if let Some(module) = from_module(node, text) {
                    names.push((module.level, module.dotted.to_owned()));
                    for (name, _) in imports(node, text) {
                        let dot = if module.dotted.is_empty() { "" } else { "." };
                        names.push((module.level, format!("{}{dot}{name}", module.dotted)));
                    }
                }
            }
            _ => {
                if cursor.goto_first_child() {
                    continue;
                }
            }
        }
        while !cursor.goto_next_sibling() {
            if !cursor.goto_parent() {
                return names;
            }
        }
    }
}

/// The module of `from .. import`.
pub(super) fn from_module<'t>(node: Node<'_>, text: &'t str) -> Option<Name<'t>> {
    let module = text.get(node.child_by_field_name("module_name")?.byte_range())?;
    let dotted = module.trim_start_matches(|c: char| c == '.' || c.is_whitespace());
    let level = module.get(..module.len() - dotted.len())?.matches('.').count();
    Some(Name { level, dotted })
}

/// What an import statement names, each with its alias.
pub(super) fn imports<'t>(node: Node<'_>, text: &'t str) -> Vec<(&'t str, Option<&'t str>)> {
    let mut cursor = node.walk();
    let of = |node: Node<'_>| text.get(node.byte_range());
    node.children_by_field_name("name", &mut cursor)
        .filter_map(|name| match name.kind() {
            "aliased_import" => Some((of(name.child_by_field_name("name")?)?, Some(of(name.child_by_field_name("alias")?)?))),
            _ => Some((of(name)?, None)),
        })
        .collect()
}
