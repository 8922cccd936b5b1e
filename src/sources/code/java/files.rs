//! Which other files a Java file may mean.

use std::collections::BTreeSet;

use tree_sitter::Node;

use crate::sources::code::program::lower::{child, named as children, walk};
use crate::sources::code::program::{join, parent};

/// Paths of classes that a file names: of its own package, and those that it imports from under its own source root.
pub(super) fn named(root: Node<'_>, path: &str, text: &str) -> Vec<String> {
    let of = |node: Node<'_>| text.get(node.byte_range()).unwrap_or("").to_owned();
    let mut folders = vec![parent(path).to_owned()];
    let mut paths = Vec::new();
    let mut source_root = None;
    for part in children(root) {
        let Some(name) = children(part).into_iter().find(|name| matches!(name.kind(), "identifier" | "scoped_identifier"))
        else {
            continue;
        };
        let name = of(name).replace('.', "/");
        match part.kind() {
            "package_declaration" => {
                let folder = parent(path);
                source_root = folder.strip_suffix(&name).map(|root| root.trim_end_matches('/').to_owned());
            }
            "import_declaration" => {
                let Some(root) = &source_root else { continue };
                if name.starts_with("java/") || name.starts_with("javax/") || name.starts_with("software/amazon") {
                    continue;
                }
                let target = join(root, &name);
                if child(part, "asterisk").is_some() {
                    folders.push(target.clone());
                }
                // A class, or the class of a static member or of an inner class.
                paths.push(format!("{target}.java"));
                let outer = parent(&target);
                if outer.rsplit('/').next().is_some_and(|last| last.starts_with(char::is_uppercase)) {
                    paths.push(format!("{outer}.java"));
                }
            }
            _ => {}
        }
    }
    let mut names = BTreeSet::new();
    walk(root, |node| {
        if matches!(node.kind(), "type_identifier" | "identifier") {
            let name = of(node);
            // `MODEL` is a constant, `Model` a type.
            if name.starts_with(char::is_uppercase) && name.chars().any(char::is_lowercase) {
                names.insert(name);
            }
        }
    });
    // And what an interface is implemented by, as it is mostly named.
    for file in [".java", "Impl.java"] {
        for folder in &folders {
            paths.extend(names.iter().map(|name| join(folder, &format!("{name}{file}"))));
        }
    }
    paths
}
