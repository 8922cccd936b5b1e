//! Rust: the AWS SDK for Rust.

use super::Load;
use super::program::lower::{self, Lowering};
use super::program::{Loader, Program};
use crate::engine::deployment::SourceFacts;

mod calls;
mod clients;
mod files;
mod items;
mod tree;

/// Reads a crate's file, and the modules that it declares.
pub fn read(entry: &str, load: &Load<'_>) -> SourceFacts {
    let mut program = Program::default();
    let mut loader = Loader::new(load);
    let mut open = files::beside(entry);
    open.push(entry.to_owned());
    while let Some(path) = open.pop() {
        let Some(file) = loader.file(&path) else { continue };
        let Some(tree) = lower::parse(&tree_sitter_rust::LANGUAGE.into(), &file.text) else { continue };
        let mut next = files::modules(tree.root_node(), &path, &file.text);
        next.reverse();
        open.extend(next);
        Lowering::new(&mut program, file).rust(tree.root_node());
    }
    program.index();
    calls::facts(&program)
}

#[cfg(test)]
mod tests;
