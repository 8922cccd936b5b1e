//! Which other files a C# file may mean: one file a type, in the same folder or in that of a namespace.

use std::collections::BTreeSet;

use tree_sitter::Node;

use crate::sources::code::program::lower::{named as children, walk};
use crate::sources::code::program::{join, parent};

pub(super) fn named(root: Node<'_>, path: &str, text: &str) -> Vec<String> {
    let of = |node: Node<'_>| text.get(node.byte_range()).unwrap_or("");
    let here = parent(path);
    let mut folders = vec![here.to_owned()];
    for directive in children(root).into_iter().filter(|node| node.kind() == "using_directive") {
        let Some(name) = children(directive).into_iter().next_back().map(of) else { continue };
        if name.starts_with("System") || name.starts_with("Amazon") || name.starts_with("Microsoft") {
            continue;
        }
        // The namespace's last part is a folder below this one or beside it.
        let last = name.rsplit('.').next().unwrap_or(name);
        folders.push(join(here, last));
        folders.push(join(parent(here), last));
    }
    let mut names = BTreeSet::new();
    walk(root, |node| {
        if node.kind() == "identifier" && of(node).starts_with(char::is_uppercase) {
            let name = of(node);
            names.insert(name.to_owned());
            // What an interface is implemented by, as it is mostly named.
            if let Some(plain) = name.strip_prefix('I').filter(|plain| plain.starts_with(char::is_uppercase)) {
                names.insert(plain.to_owned());
            }
        }
    });
    folders.iter().flat_map(|folder| names.iter().map(move |name| join(folder, &format!("{name}.cs")))).collect()
}
