//! C#: the AWS SDK for .NET.

use tree_sitter::Node;

use super::Load;
use super::program::lower::{Lowering, read_files};
use crate::engine::deployment::SourceFacts;

mod calls;
mod clients;
mod files;
mod members;
mod tree;

/// Reads a handler's file, and files beside it that are named as the types that it uses.
pub fn read(entry: &str, load: &Load<'_>) -> SourceFacts {
    let language = tree_sitter_c_sharp::LANGUAGE.into();
    let lower = |lowering: &mut Lowering<'_>, root: Node<'_>| lowering.csharp(root);
    calls::facts(&read_files(vec![entry.to_owned()], &language, load, files::named, lower))
}

#[cfg(test)]
mod tests;
