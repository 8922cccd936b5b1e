//! Calls of models in C#, and what stands around them.

use super::clients::{self, is_client};
use crate::engine::deployment::{ModelCall, Setting, SourceFacts};
use crate::engine::fact::{Fact, Place};
use crate::sources::code::program::body::calls_text_model;
use crate::sources::code::program::chains::Chain;
use crate::sources::code::program::limits::{CallBounds, bound_of};
use crate::sources::code::program::names::bare;
use crate::sources::code::program::retries::{Reach, smallest};
use crate::sources::code::program::{Id, Kind, Program};

const CALLS: &[&str] = &[
    "Converse",
    "ConverseAsync",
    "ConverseStream",
    "ConverseStreamAsync",
    "InvokeModel",
    "InvokeModelAsync",
    "InvokeModelWithResponseStream",
    "InvokeModelWithResponseStreamAsync",
];

pub(super) fn facts(program: &Program) -> SourceFacts {
    let mut facts = SourceFacts::default();
    let mut called = Vec::new();
    let mut bounds: CallBounds = Vec::new();
    for id in program.ids() {
        let Some(call) = call(program, id) else { continue };
        if let Kind::Call { object: Some(object), arguments, .. } = program.kind(id) {
            let bound = arguments.iter().skip(1).find_map(|&argument| clients::token_bound(program, argument));
            let root = program.chain(*object).root;
            bounds.push((clients::makes_client(program, root).then_some(root), bound));
        }
        called.push(id);
        facts.calls.push(call);
    }
    for id in program.ids().filter(|&id| clients::makes_client(program, id)) {
        facts.clients.extend(clients::client(program, id, bound_of(id, &bounds).as_ref()));
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
    let &request = arguments.first()?;
    if !CALLS.contains(&name.text.as_str()) {
        return None;
    }
    let filled = program.filled(request);
    let shown = filled.as_ref().is_ok_and(|chain| is_request(program, chain));
    if !shown && !on_client(program, *object) {
        return None;
    }
    let place = program.place_of(id, &name.span);
    let unresolved = match filled {
        Ok(chain) if shown => {
            let model = program.text_step(chain.last(&["ModelId"]));
            let max_tokens = if name.text.starts_with("Converse") {
                limit(program, &chain)
            } else {
                let body = chain.last(&["Body"]).and_then(|step| step.arguments.first());
                body.map_or_else(Setting::default, |&body| program.body_limit(body))
            };
            return calls_text_model(&model).then_some(ModelCall { place, max_tokens, model });
        }
        Ok(chain) => program.unfollowed(chain.root),
        Err(unresolved) => unresolved,
    };
    let at = Some(program.place(request));
    let max_tokens = Setting::unresolved(unresolved.clone(), at.clone());
    Some(ModelCall { place, max_tokens, model: Setting::unresolved(unresolved, at) })
}

fn is_request(program: &Program, chain: &Chain) -> bool {
    let names = ["ConverseRequest", "ConverseStreamRequest", "InvokeModelRequest", "InvokeModelWithResponseStreamRequest"];
    matches!(program.kind(chain.root), Kind::New { of, .. } if names.contains(&bare(of)))
}

/// Whether an object is a client: by its type, or by what it is made of.
fn on_client(program: &Program, object: Id) -> bool {
    program.type_of(object, 0).is_some_and(|of| is_client(&of)) || clients::makes_client(program, program.chain(object).root)
}

fn limit(program: &Program, chain: &Chain) -> Setting<f64> {
    // `request.InferenceConfig.MaxTokens = 900` is a step of its own.
    let own = program.number_step(chain.last(&["MaxTokens"]));
    if !own.is_unset() {
        return own;
    }
    let Some(step) = chain.last(&["InferenceConfig"]) else { return Setting::default() };
    let Some(&argument) = step.arguments.first() else { return Setting::default() };
    match program.filled(argument) {
        Ok(config) => match program.number_step(config.last(&["MaxTokens"])) {
            unset if unset.is_unset() && !matches!(program.kind(config.root), Kind::New { .. } | Kind::Null) => {
                Setting::unresolved(program.unfollowed(config.root), Some(program.step_place(step)))
            }
            set => set,
        },
        Err(unresolved) => Setting::unresolved(unresolved, Some(program.step_place(step))),
    }
}

/// Polly's names for what tries again.
const POLLY: &[&str] = &[
    "Retry",
    "RetryAsync",
    "WaitAndRetry",
    "WaitAndRetryAsync",
    "RetryForever",
    "RetryForeverAsync",
    "WaitAndRetryForeverAsync",
    "AddRetry",
];

fn nested(program: &Program, reach: &Reach) -> Vec<(Place, String)> {
    let mut found = program.retry_loops(reach);
    for id in program.ids() {
        let Kind::Call { object: Some(object), name, arguments } = program.kind(id) else { continue };
        let runs = matches!(name.text.as_str(), "Execute" | "ExecuteAsync" | "ExecuteAndCapture" | "ExecuteAndCaptureAsync");
        if runs && !arguments.is_empty() && tries_again(program, *object) && reach.within(program, id) {
            found.push((program.place_of(id, &name.span), "Polly's retry".to_owned()));
        }
    }
    found
}

/// Whether a policy or a pipeline retries: by its type, or by how it is made; where that is not seen, by the file.
fn tries_again(program: &Program, policy: Id) -> bool {
    let of = program.type_of(policy, 0);
    if of.as_deref().is_some_and(|of| bare(of).contains("Retry")) {
        return true;
    }
    let chain = program.chain(policy);
    let in_steps = |chain: &Chain| chain.steps.iter().any(|step| POLLY.contains(&step.name.text.as_str()));
    if in_steps(&chain) {
        return true;
    }
    let polly = of.as_deref().is_some_and(|of| bare(of).contains("Policy") || bare(of).contains("Pipeline"));
    let file = program.files.get(program.node(policy).file);
    polly && chain.unknown.is_some() && file.is_some_and(|file| file.text.contains("Retry"))
}

/// A semaphore's size or the most that run at a time.
fn pool(program: &Program, id: Id) -> Option<Fact<f64>> {
    match program.kind(id) {
        Kind::New { of, arguments, .. } if bare(of) == "SemaphoreSlim" => program.fact(*arguments.first()?),
        Kind::Entry { name, value } if name.text == "MaxDegreeOfParallelism" => program.fact(*value),
        _ => None,
    }
}
