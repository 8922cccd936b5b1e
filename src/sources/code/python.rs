//! Python: clients of Bedrock, their timeouts and retries, and the calls they make, by syntax tree.
//!
//! Expressions are evaluated as far as the source alone gives their values; nothing is run, and what depends on anything
//! else is unresolved.

use std::collections::HashMap;

use self::files::Files;
use self::program::Program;
use self::reach::Reach;
use self::scope::Call;
use self::value::{At, Span, Value};
use self::wrappers::{Wrapper, wrapper, wrapper_use};
use super::Load;
use crate::engine::deployment::{Client, ModelCall, SourceFacts};

mod calls;
mod clients;
mod define;
mod eval;
mod files;
mod layers;
mod names;
mod objects;
mod parallel;
mod program;
mod reach;
mod requests;
mod scope;
mod setting;
#[cfg(test)]
mod tests;
mod value;
mod walk;
mod wrappers;

/// The service whose clients call models.
const CLIENT: &str = "bedrock-runtime";

/// Words without one of which a file has nothing to do with models.
const WORDS: [&str; 2] = ["bedrock", "strands"];

/// Reads a handler's module and the local modules that it imports.
pub fn read(entry: &str, load: &Load<'_>) -> SourceFacts {
    let files = Files::read(entry, load);
    let mentioned = |text: &str| WORDS.iter().any(|word| text.to_ascii_lowercase().contains(word));
    if !files.parsed.iter().any(|parsed| mentioned(&parsed.file.text)) {
        return SourceFacts::default();
    }
    let program = Program::new(&files);
    let (clients, wrapped) = program.clients();
    let known = clients.iter().any(|client| client.sdk == "botocore");
    let (calls, uses) = program.model_calls(known, &wrapped);
    let reach = Reach::new(&program, &uses);
    let langchain = clients.iter().any(|client| client.sdk == "langchain-aws");
    SourceFacts {
        parallel_calls: program.parallel_calls(&reach),
        nested_retries: program.nested_retries(&reach, langchain),
        clients,
        calls,
    }
}

impl<'t> Program<'t> {
    /// Clients, and the calls of wrappers among all calls, by their index.
    fn clients(&self) -> (Vec<Client>, HashMap<usize, Wrapper>) {
        let (mut clients, mut wrapped) = (Vec::new(), HashMap::new());
        for (index, call) in self.all.calls.iter().enumerate() {
            let at = At { node: call.node, scope: call.scope, env: None };
            let callee = call.node.child_by_field_name("function").map(|node| At { node, ..at.clone() });
            // What a local function makes is found where it makes it.
            if callee
                .is_none_or(|callee| matches!(self.fresh(|| self.eval(&callee)).value, Value::Function(..) | Value::Class(_)))
            {
                continue;
            }
            let found = self.for_each_caller(|| match self.eval(&at).value {
                Value::Made(made) if made.call.node.id() == call.node.id() => match wrapper(&made.path) {
                    Some(wrapper) => (Some(wrapper), self.wrapper_client(wrapper, call)),
                    None => (None, (&*made.path == CLIENT).then(|| self.botocore_client(call))),
                },
                _ => (None, None),
            });
            for (wrapper, client) in found {
                wrapped.extend(wrapper.map(|wrapper| (index, wrapper)));
                clients.extend(client);
            }
        }
        (clients, wrapped)
    }

    /// Calls of models, and where models are used in all, each with its scope.
    fn model_calls(&self, known: bool, wrapped: &HashMap<usize, Wrapper>) -> (Vec<ModelCall>, Vec<(Span, usize)>) {
        let (mut calls, mut uses) = (Vec::new(), Vec::new());
        for (index, call) in self.all.calls.iter().enumerate() {
            let direct = self.for_each_caller(|| self.model_call(call, known).or_else(|| self.wrapper_request(call)));
            let direct: Vec<ModelCall> = direct.into_iter().flatten().collect();
            if !direct.is_empty() || (!wrapped.is_empty() && self.uses_wrapper(call)) {
                uses.push((self.span(call.node, call.scope), call.scope));
            }
            calls.extend(direct);
            if let Some(wrapper) = wrapped.get(&index) {
                calls.extend(self.for_each_caller(|| self.wrapper_call(*wrapper, call)).into_iter().flatten());
            }
        }
        (calls, uses)
    }

    /// Whether a call asks a model through a wrapper.
    fn uses_wrapper(&self, call: &Call<'t>) -> bool {
        let Some(node) = call.node.child_by_field_name("function") else { return false };
        let callee = self.fresh(|| self.eval(&At { node, scope: call.scope, env: None })).value;
        match wrapper_use(&callee) {
            Some(Wrapper::Litellm) => self.litellm_model(call).is_some(),
            found => found.is_some(),
        }
    }
}
