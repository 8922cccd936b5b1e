//! Java: the AWS SDK for Java 2, and the model of `LangChain4j` on top of it.

use tree_sitter::Node;

use super::Load;
use super::program::lower::{Lowering, read_files};
use crate::engine::deployment::SourceFacts;

mod calls;
mod clients;
mod files;
mod tree;

/// Reads a handler's file and the classes of its program that it names.
pub fn read(entry: &str, load: &Load<'_>) -> SourceFacts {
    let language = tree_sitter_java::LANGUAGE.into();
    let lower = |lowering: &mut Lowering<'_>, root: Node<'_>| lowering.java(root);
    calls::facts(&read_files(vec![entry.to_owned()], &language, load, files::named, lower))
}

#[cfg(test)]
mod tests;
