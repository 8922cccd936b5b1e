//! Calls of models in Go, and what stands around them.

use super::clients;
use crate::engine::deployment::{ModelCall, Setting, SourceFacts};
use crate::engine::fact::{Fact, Place};
use crate::sources::code::program::body::calls_text_model;
use crate::sources::code::program::chains::Chain;
use crate::sources::code::program::limits::{CallBounds, bound_of};
use crate::sources::code::program::retries::{Reach, smallest};
use crate::sources::code::program::{Id, Kind, Program};

const CALLS: &[&str] = &["Converse", "ConverseStream", "InvokeModel", "InvokeModelWithResponseStream"];

pub(super) fn facts(program: &Program) -> SourceFacts {
    let mut facts = SourceFacts::default();
    let mut called = Vec::new();
    let mut bounds: CallBounds = Vec::new();
    for id in program.ids() {
        let Some(call) = call(program, id) else { continue };
        if let Kind::Call { object: Some(object), arguments, .. } = program.kind(id) {
            let bound = arguments.first().and_then(|&context| clients::context_bound(program, context));
            bounds.push((made_by(program, *object), bound));
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

/// The call that makes the client that an object is.
fn made_by(program: &Program, object: Id) -> Option<Id> {
    program.chain(object).steps.into_iter().map(|step| step.at).find(|&at| clients::makes_client(program, at))
}

fn call(program: &Program, id: Id) -> Option<ModelCall> {
    let Kind::Call { object: Some(object), name, arguments } = program.kind(id) else { return None };
    let &[_, input, ..] = arguments.as_slice() else { return None };
    if !CALLS.contains(&name.text.as_str()) {
        return None;
    }
    let filled = program.filled(input);
    let literal = |chain: &Chain| match program.kind(chain.root) {
        Kind::New { of, .. } => of.starts_with("bedrockruntime."),
        _ => false,
    };
    let shown = filled.as_ref().is_ok_and(literal);
    if !shown && !on_client(program, *object) && !is_input(program, input) {
        return None;
    }
    let unresolved = match filled {
        Ok(chain) if shown => {
            let model = program.text_step(chain.last(&["ModelId"]));
            let max_tokens = if name.text.starts_with("Converse") {
                limit(program, &chain)
            } else {
                let body = chain.last(&["Body"]).and_then(|step| step.arguments.first());
                body.map_or_else(Setting::default, |&body| program.body_limit(body))
            };
            let place = program.place_of(id, &name.span);
            return calls_text_model(&model).then_some(ModelCall { place, max_tokens, model });
        }
        Ok(chain) => program.unfollowed(chain.root),
        Err(unresolved) => unresolved,
    };
    let place = Some(program.place(input));
    Some(ModelCall {
        place: program.place_of(id, &name.span),
        max_tokens: Setting::unresolved(unresolved.clone(), place.clone()),
        model: Setting::unresolved(unresolved, place),
    })
}

fn on_client(program: &Program, object: Id) -> bool {
    program.type_of(object, 0).is_some_and(|of| of == "bedrockruntime.Client") || made_by(program, object).is_some()
}

fn is_input(program: &Program, input: Id) -> bool {
    program.type_of(input, 0).is_some_and(|of| of.starts_with("bedrockruntime."))
}

fn limit(program: &Program, chain: &Chain) -> Setting<f64> {
    // `input.InferenceConfig.MaxTokens = aws.Int32(900)` is a step of its own.
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

fn nested(program: &Program, reach: &Reach) -> Vec<(Place, String)> {
    let mut found = program.retry_loops(reach);
    for id in program.ids() {
        let Kind::Call { object: Some(object), name, .. } = program.kind(id) else { continue };
        let Kind::Name(package) = program.kind(*object) else { continue };
        let what = match (package.as_str(), name.text.as_str()) {
            ("backoff", "Retry" | "RetryNotify" | "RetryWithData" | "RetryNotifyWithData") => "backoff's `Retry`",
            ("avast-retry", "Do" | "DoWithData") => "retry-go's `Do`",
            ("sethvargo-retry", "Do" | "DoValue" | "Exponential" | "Constant" | "Fibonacci") => "go-retry's `Do`",
            _ => continue,
        };
        if reach.within(program, id) {
            found.push((program.place_of(id, &name.span), what.to_owned()));
        }
    }
    found
}

/// A semaphore, a group with a limit, or a channel that is named as one.
fn pool(program: &Program, id: Id) -> Option<Fact<f64>> {
    match program.kind(id) {
        Kind::Call { object: Some(object), name, arguments } => {
            let package = matches!(program.kind(*object), Kind::Name(of) if of == "semaphore");
            let weighted = name.text == "NewWeighted" && package;
            if weighted || (name.text == "SetLimit" && arguments.len() == 1) {
                return program.fact(*arguments.first()?);
            }
            None
        }
        Kind::Declare { name, value: Some(value), .. } => {
            let Kind::New { of, arguments, .. } = program.kind(*value) else { return None };
            let name = name.to_ascii_lowercase();
            let named = ["sem", "limit", "slots"].iter().any(|part| name.contains(part));
            (of.starts_with("chan") && named).then(|| program.fact(*arguments.first()?))?
        }
        _ => None,
    }
}
