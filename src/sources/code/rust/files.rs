//! Which other files a Rust file declares: `mod x;`.

use tree_sitter::Node;

use crate::sources::code::program::lower::named;
use crate::sources::code::program::{join, parent};

/// A program's own library, which it uses by the crate's name.
pub(super) fn beside(entry: &str) -> Vec<String> {
    let name = entry.rsplit('/').next().unwrap_or(entry);
    let folder = match parent(entry) {
        bin if bin == "bin" || bin.ends_with("/bin") => parent(bin),
        folder => folder,
    };
    if name == "lib.rs" { Vec::new() } else { vec![join(folder, "lib.rs")] }
}

/// Files of the modules that a file declares.
pub(super) fn modules(root: Node<'_>, path: &str, text: &str) -> Vec<String> {
    let file = path.rsplit('/').next().unwrap_or(path);
    let folder = match file {
        "main.rs" | "lib.rs" | "mod.rs" => parent(path).to_owned(),
        _ => path.strip_suffix(".rs").unwrap_or(path).to_owned(),
    };
    let mut paths = Vec::new();
    for item in named(root) {
        if item.kind() != "mod_item" || item.child_by_field_name("body").is_some() {
            continue;
        }
        let Some(name) = item.child_by_field_name("name").and_then(|name| text.get(name.byte_range())) else { continue };
        paths.push(join(&folder, &format!("{name}.rs")));
        paths.push(join(&folder, &format!("{name}/mod.rs")));
        // A program in `src/bin`, or one that is no `main.rs`, has its modules beside it.
        if !matches!(file, "main.rs" | "lib.rs" | "mod.rs") {
            paths.push(join(parent(path), &format!("{name}.rs")));
        }
    }
    paths
}
