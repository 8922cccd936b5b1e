//! Go: the AWS SDK for Go 2.

use super::Load;
use super::program::lower::{self, Lowering};
use super::program::{Loader, Program};
use crate::engine::deployment::SourceFacts;

mod calls;
mod clients;
mod files;
mod tree;

/// Reads a handler's file, the files beside it that are named as such files mostly are, and the packages of its module.
pub fn read(entry: &str, load: &Load<'_>) -> SourceFacts {
    let mut program = Program::default();
    let mut loader = Loader::new(load);
    let module = files::module(entry, load);
    let mut open = vec![entry.to_owned()];
    let mut folders = Vec::new();
    while let Some(path) = open.pop() {
        let mut next = files::beside(&path, &mut folders);
        if let Some(file) = loader.file(&path)
            && let Some(tree) = lower::parse(&tree_sitter_go::LANGUAGE.into(), &file.text)
        {
            let mut lowering = Lowering::new(&mut program, file);
            for import in lowering.go(tree.root_node()) {
                next.extend(module.as_ref().and_then(|module| module.folder(&import)).map(|folder| files::package(&folder)));
            }
        }
        next.reverse();
        open.extend(next);
    }
    program.index();
    calls::facts(&program)
}

#[cfg(test)]
mod tests;
