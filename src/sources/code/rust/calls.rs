//! Calls of models in Rust, and what stands around them.

use super::clients::{self, is_client, of_runtime};
use crate::engine::deployment::{ModelCall, Setting, SourceFacts};
use crate::engine::fact::{Fact, Place};
use crate::sources::code::program::body::calls_text_model;
use crate::sources::code::program::chains::{Chain, Step};
use crate::sources::code::program::names::bare;
use crate::sources::code::program::retries::{Reach, smallest};
use crate::sources::code::program::{Id, Kind, Program};

const CALLS: &[&str] = &["converse", "converse_stream", "invoke_model", "invoke_model_with_response_stream"];

pub(super) fn facts(program: &Program) -> SourceFacts {
    let mut facts = SourceFacts::default();
    let mut called = Vec::new();
    for id in program.ids() {
        if clients::makes_client(program, id) {
            facts.clients.extend(clients::client(program, id));
        } else if let Some(call) = call(program, id) {
            called.push(id);
            facts.calls.push(call);
        }
    }
    if called.is_empty() {
        return facts;
    }
    let reach = Reach::new(program, &called);
    facts.nested_retries = nested(program, &reach);
    facts.parallel_calls = smallest(program.ids().filter_map(|id| pool(program, id)).collect());
    facts
}

fn call(program: &Program, id: Id) -> Option<ModelCall> {
    let Kind::Call { object: Some(object), name, arguments } = program.kind(id) else { return None };
    if !CALLS.contains(&name.text.as_str()) || !arguments.is_empty() || !on_client(program, *object) {
        return None;
    }
    let chain = request(program, id);
    let model = program.text_step(chain.last(&["model_id", "set_model_id"]));
    let max_tokens = if name.text.starts_with("converse") {
        limit(program, &chain)
    } else {
        let body = chain.last(&["body", "set_body"]).and_then(|step| step.arguments.first());
        body.map_or_else(Setting::default, |&body| program.body_limit(body))
    };
    let place = program.place_of(id, &name.span);
    calls_text_model(&model).then_some(ModelCall { place, max_tokens, model })
}

/// What is set on a request: on the call itself, and on the name that it is given.
fn request(program: &Program, call: Id) -> Chain {
    let mut steps = Vec::new();
    let mut at = call;
    loop {
        let parent = program.node(at).parent;
        match program.kind(parent) {
            Kind::Call { object: Some(object), name, arguments } if *object == at && parent != at => {
                steps.push(Step { at: parent, name: name.clone(), arguments: arguments.clone() });
                at = parent;
            }
            Kind::Declare { .. } => {
                steps.extend(program.filled_later(parent));
                break;
            }
            _ => break,
        }
    }
    Chain { root: call, steps, unknown: None }
}

/// Whether an object is a client; where that cannot be told, the file's imports decide.
fn on_client(program: &Program, object: Id) -> bool {
    if let Some(of) = program.type_of(object, 0) {
        return is_client(&of);
    }
    let chain = program.chain(object);
    if chain.steps.iter().any(|step| clients::makes_client(program, step.at)) {
        return true;
    }
    let file = program.files.get(program.node(object).file);
    let named = !matches!(program.kind(object), Kind::Name(name) if name == "self");
    named && file.is_some_and(|file| file.text.contains("aws_sdk_bedrockruntime"))
}

fn limit(program: &Program, chain: &Chain) -> Setting<f64> {
    let Some(step) = chain.last(&["inference_config", "set_inference_config"]) else { return Setting::default() };
    let Some(&argument) = step.arguments.first() else { return Setting::default() };
    match program.filled(argument) {
        Ok(config) => {
            let known = matches!(program.kind(config.root), Kind::Name(root) if of_runtime(root) || bare(root).starts_with("InferenceConfiguration"));
            match program.number_step(config.last(&["max_tokens", "set_max_tokens"])) {
                unset if unset.is_unset() && !known => {
                    Setting::unresolved(program.unfollowed(config.root), Some(program.step_place(step)))
                }
                set => set,
            }
        }
        Err(unresolved) => Setting::unresolved(unresolved, Some(program.step_place(step))),
    }
}

fn nested(program: &Program, reach: &Reach) -> Vec<(Place, String)> {
    let mut found = program.retry_loops(reach);
    for id in program.ids() {
        let Kind::Call { object: Some(object), name, arguments } = program.kind(id) else { continue };
        let path = match program.kind(*object) {
            Kind::Name(path) => path.trim_start_matches(':'),
            _ => "",
        };
        let file = program.files.get(program.node(id).file);
        let what = match name.text.as_str() {
            "retry" | "retry_notify" if path.starts_with("backoff") => "backoff's `retry`",
            "spawn" | "start" if path.starts_with("tokio_retry") => "tokio-retry's `Retry`",
            "retry" if !arguments.is_empty() && file.is_some_and(|file| file.text.contains("backon")) => "backon's `retry`",
            _ => continue,
        };
        if reach.within(program, id) {
            found.push((program.place_of(id, &name.span), what.to_owned()));
        }
    }
    found
}

/// A stream's limit or a semaphore's size.
fn pool(program: &Program, id: Id) -> Option<Fact<f64>> {
    let Kind::Call { object: Some(object), name, arguments } = program.kind(id) else { return None };
    let semaphore = matches!(program.kind(*object), Kind::Name(of) if bare(of) == "Semaphore");
    match name.text.as_str() {
        "buffer_unordered" | "buffered" | "for_each_concurrent" | "try_for_each_concurrent" | "try_buffer_unordered" => {
            program.fact(*arguments.first()?)
        }
        "new" if semaphore => program.fact(*arguments.first()?),
        _ => None,
    }
}
