//! Which other files a Go file may mean: a package is a folder, and folders cannot be listed.

use crate::sources::code::Load;
use crate::sources::code::program::{join, parent};

/// What files of such packages are mostly called.
const NAMES: &[&str] = &[
    "main",
    "client",
    "clients",
    "bedrock",
    "config",
    "handler",
    "const",
    "constants",
    "consts",
    "settings",
    "model",
    "models",
    "llm",
    "ai",
    "aws",
    "service",
    "services",
    "processor",
    "worker",
    "invoke",
    "converse",
    "retry",
    "app",
    "server",
    "init",
    "types",
];

/// A module, and the folder of its `go.mod`.
pub(super) struct Module {
    path: String,
    folder: String,
}

impl Module {
    /// The folder of one of its packages.
    pub(super) fn folder(&self, import: &str) -> Option<String> {
        let within = import.strip_prefix(self.path.as_str())?;
        let within = within.strip_prefix('/').unwrap_or(within);
        Some(join(&self.folder, within).trim_end_matches('/').to_owned())
    }
}

/// The module that holds a file: the nearest `go.mod` above it.
pub(super) fn module(entry: &str, load: &Load<'_>) -> Option<Module> {
    let mut folder = parent(entry);
    for _ in 0..16 {
        if let Some(text) = load(&join(folder, "go.mod")) {
            let path = text.lines().find_map(|line| line.trim().strip_prefix("module "))?;
            return Some(Module { path: path.trim().trim_matches('"').to_owned(), folder: folder.to_owned() });
        }
        if folder.is_empty() {
            return None;
        }
        folder = parent(folder);
    }
    None
}

/// Files beside one, once for each folder.
pub(super) fn beside(path: &str, folders: &mut Vec<String>) -> Vec<String> {
    let folder = parent(path);
    if folders.len() >= 24 || folders.iter().any(|seen| seen == folder) {
        return Vec::new();
    }
    folders.push(folder.to_owned());
    NAMES.iter().map(|name| join(folder, &format!("{name}.go"))).chain(std::iter::once(package(folder))).collect()
}

/// The file that is named as its package.
pub(super) fn package(folder: &str) -> String {
    let last = folder.rsplit('/').next().unwrap_or(folder);
    join(folder, &format!("{last}.go"))
}
