//! C#: the AWS SDK for .NET.

use super::Load;
use super::program::lower::{self, Lowering};
use super::program::{Loader, Program};
use crate::engine::deployment::SourceFacts;

mod calls;
mod clients;
mod files;
mod members;
mod tree;

/// Reads a handler's file, and files beside it that are named as the types that it uses.
pub fn read(entry: &str, load: &Load<'_>) -> SourceFacts {
    let mut program = Program::default();
    let mut loader = Loader::new(load);
    let mut open = vec![entry.to_owned()];
    while let Some(path) = open.pop() {
        let Some(file) = loader.file(&path) else { continue };
        let Some(tree) = lower::parse(&tree_sitter_c_sharp::LANGUAGE.into(), &file.text) else { continue };
        let mut next = files::named(tree.root_node(), &path, &file.text);
        next.reverse();
        open.extend(next);
        Lowering::new(&mut program, file).csharp(tree.root_node());
    }
    program.index();
    calls::facts(&program)
}

#[cfg(test)]
mod tests;
