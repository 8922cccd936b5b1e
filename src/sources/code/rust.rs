//! Rust: the AWS SDK for Rust.

use tree_sitter::Node;

use super::Load;
use super::program::lower::{Lowering, read_files};
use crate::engine::deployment::SourceFacts;

mod calls;
mod clients;
mod files;
mod items;
mod tree;

/// Reads a crate's file, and the modules that it declares.
pub fn read(entry: &str, load: &Load<'_>) -> SourceFacts {
    let mut open = files::beside(entry);
    open.push(entry.to_owned());
    let language = tree_sitter_rust::LANGUAGE.into();
    let lower = |lowering: &mut Lowering<'_>, root: Node<'_>| lowering.rust(root);
    calls::facts(&read_files(open, &language, load, files::modules, lower))
}

#[cfg(test)]
mod tests;
