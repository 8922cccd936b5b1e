//! JavaScript and TypeScript: clients of bedrock-runtime, how long they wait and how often they try, and the calls they make.

use std::collections::HashSet;

use super::Load;
use crate::engine::deployment::SourceFacts;

mod calls;
mod clients;
mod files;
mod handlers;
mod layers;
mod lookup;
mod program;
mod reach;
mod scope;
mod settings;
mod syntax;
mod value;
mod versions;
mod wrappers;

/// Reads a handler's module and the local files that it imports.
///
/// Of the entry everything counts, of other files what the entry comes to. Versions of the SDK are those of the lock file or
/// package.json beside the entry or above; where there is none, the current ones.
pub fn read(entry: &str, load: &Load<'_>) -> SourceFacts {
    let files = files::Files::read(entry, load);
    let mut program = program::Program::new(&files);
    let nodes = reach::live(&program);
    program.keep_to(nodes.iter().map(|spot| spot.id()).collect::<HashSet<_>>());
    let versions = versions::Versions::read(entry, load);
    let reader = clients::Reader::new(&program, &versions, &nodes);
    let mut facts = SourceFacts {
        clients: reader.aws_clients(),
        calls: reader.aws_calls(),
        parallel_calls: reader.parallel_calls(),
        nested_retries: reader.nested_retries(),
    };
    reader.wrappers(&mut facts);
    facts
}

#[cfg(test)]
mod tests;
