//! Terraform: configurations in HCL, with the modules that they call, and plans in JSON.

use std::collections::{BTreeMap, BTreeSet};

use super::text::File;
use super::{Given, Read};
use evaluate::Evaluator;
use folder::{Folder, Parsed};
use variables::{Givers, Inputs};

mod assemble;
mod code;
mod collect;
mod collection;
mod evaluate;
mod folder;
mod function;
mod iam;
mod instance;
mod item;
mod operator;
mod plan;
mod refer;
mod registry;
mod template;
#[cfg(test)]
mod tests;
mod value;
mod variables;

pub use plan::read_plan;

const SQS_DEFAULT: &str = "default of SQS";
const LAMBDA_DEFAULT: &str = "default of Lambda";

/// Reads folders of Terraform files. A folder that no other calls as a module is a root module.
pub fn read_folders(folders: &BTreeMap<String, Vec<File>>, given: &Given) -> Read {
    let mut read = Read::default();
    let givers = Givers::new(given, &mut read.unreadable);
    let mut parsed: BTreeMap<&str, Vec<Parsed>> = BTreeMap::new();
    let mut own: BTreeMap<&str, Vec<Parsed>> = BTreeMap::new();
    for (path, files) in folders {
        let mut files: Vec<&File> = files.iter().collect();
        // `terraform.tfvars` before `*.auto.tfvars`, and those in the order of their names.
        files.sort_by_key(|file| (file.path.ends_with(".auto.tfvars"), file.path.clone()));
        for file in files {
            let list = if file.path.ends_with(".tf") {
                &mut parsed
            } else if file.path.ends_with("terraform.tfvars") || file.path.ends_with(".auto.tfvars") {
                &mut own
            } else {
                continue;
            };
            match folder::parse(file) {
                Ok(file) => list.entry(path).or_default().push(file),
                Err(problem) => read.unreadable.push(problem),
            }
        }
    }
    let index: BTreeMap<&str, Folder<'_>> = parsed.iter().map(|(path, files)| (*path, Folder::new(path, files))).collect();
    let called: BTreeSet<String> =
        index.iter().flat_map(|(path, folder)| folder.calls().filter(move |called| called != path)).collect();
    let (roots, modules): (Vec<&str>, Vec<&str>) = index.keys().partition(|path| !called.contains(**path));
    let mut walked: BTreeSet<String> = BTreeSet::new();
    // Modules that only call each other have no root: each is then read as one.
    for path in roots.into_iter().chain(modules) {
        let Some(root) = index.get(path).filter(|_| !walked.contains(path)) else { continue };
        let inputs = Inputs::new(own.get(path).map(Vec::as_slice).unwrap_or_default(), &givers);
        let evaluator = Evaluator::new(&index, &inputs, root);
        let (items, reached) = evaluator.collect();
        walked.extend(reached);
        read.deployment.merge(assemble::assemble(&items));
    }
    read
}
