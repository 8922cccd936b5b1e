//! Calls of models in Java, and what stands around them.

use super::clients::{self, CLIENTS, MODELS, is_client};
use crate::engine::deployment::{ModelCall, Setting, SourceFacts};
use crate::engine::fact::Place;
use crate::sources::code::program::body::calls_text_model;
use crate::sources::code::program::chains::{Chain, Step};
use crate::sources::code::program::names::bare;
use crate::sources::code::program::retries::{Reach, smallest};
use crate::sources::code::program::{Id, Kind, Program, Word};

const CALLS: &[&str] = &["converse", "converseStream", "invokeModel", "invokeModelWithResponseStream"];

/// resilience4j's functions that run or wrap a call.
const DECORATORS: &[&str] = &[
    "decorateSupplier",
    "decorateCallable",
    "decorateCheckedSupplier",
    "decorateFunction",
    "decorateRunnable",
    "decorateCompletionStage",
    "executeSupplier",
    "executeCallable",
    "executeCheckedSupplier",
    "executeFunction",
    "executeRunnable",
    "executeCompletionStage",
];

pub(super) fn facts(program: &Program) -> SourceFacts {
    let mut facts = SourceFacts::default();
    let mut called = Vec::new();
    for id in program.ids() {
        facts.clients.extend(clients::client(program, id));
        if let Some(call) = langchain_call(program, id).or_else(|| call(program, id)) {
            facts.nested_retries.extend(clients::langchain_retries(program, id));
            called.push(id);
            facts.calls.push(call);
        }
    }
    if called.is_empty() {
        return facts;
    }
    let reach = Reach::new(program, &called);
    facts.nested_retries.extend(nested(program, &reach));
    facts.parallel_calls = smallest(program.ids().filter_map(|id| pool(program, id)).collect());
    facts
}

fn call(program: &Program, id: Id) -> Option<ModelCall> {
    let Kind::Call { object: Some(object), name, arguments } = program.kind(id) else { return None };
    let request = *arguments.first()?;
    if !CALLS.contains(&name.text.as_str()) || !on_client(program, *object) {
        return None;
    }
    let place = program.place_of(id, &name.span);
    let (model, max_tokens) = match request_steps(program, request) {
        Ok(chain) => (
            program.text_step(chain.last(&["modelId"])),
            if name.text.starts_with("converse") {
                limit(program, &chain)
            } else {
                match chain.last(&["body"]) {
                    Some(Step { arguments, .. }) if arguments.len() == 1 => program.body_limit(arguments[0]),
                    _ => Setting::default(),
                }
            },
        ),
        Err(unresolved) => (
            Setting::unresolved(unresolved.clone(), Some(program.place(request))),
            Setting::unresolved(unresolved, Some(program.place(request))),
        ),
    };
    calls_text_model(&model).then_some(ModelCall { place, max_tokens, model })
}

fn request_steps(program: &Program, request: Id) -> Result<Chain, crate::engine::deployment::Unresolved> {
    let filled = program.filled(request)?;
    let known = matches!(program.kind(filled.root), Kind::Function { .. })
        || program.root_name(&filled).is_some_and(|root| root.ends_with("Request"));
    if known { Ok(filled) } else { Err(program.unfollowed(filled.root)) }
}

/// `inferenceConfig(c -> c.maxTokens(900))`, or a configuration built elsewhere.
fn limit(program: &Program, chain: &Chain) -> Setting<f64> {
    let Some(step) = chain.last(&["inferenceConfig"]) else { return Setting::default() };
    let Some(&argument) = step.arguments.first() else { return Setting::default() };
    match program.filled(argument) {
        Ok(config) => {
            let known = matches!(program.kind(config.root), Kind::Function { .. })
                || program.root_name(&config) == Some("InferenceConfiguration");
            match program.number_step(config.last(&["maxTokens"])) {
                unset if unset.is_unset() && !known => {
                    Setting::unresolved(program.unfollowed(config.root), Some(program.step_place(step)))
                }
                set => set,
            }
        }
        Err(unresolved) => Setting::unresolved(unresolved, Some(program.step_place(step))),
    }
}

/// Whether an object is a client: by its declared type, by what it is made of, or, where neither is known, by the file.
fn on_client(program: &Program, object: Id) -> bool {
    if let Some(of) = program.type_of(object, 0) {
        return is_client(&of);
    }
    let chain = program.chain(object);
    match program.root_name(&chain) {
        Some(root) if CLIENTS.contains(&root) => true,
        Some(root) if root == "this" || root == "super" => false,
        _ => {
            let file = program.node(object).file;
            program.files.get(file).is_some_and(|file| file.text.contains("services.bedrockruntime"))
        }
    }
}

/// A `LangChain4j` model is called through interfaces; its builder says what its calls ask for.
fn langchain_call(program: &Program, id: Id) -> Option<ModelCall> {
    if !matches!(program.kind(id), Kind::Call { name, .. } if name.text == "build") {
        return None;
    }
    let chain = program.chain(id);
    let root = program.root_name(&chain)?;
    if !MODELS.contains(&root) {
        return None;
    }
    let limits: &[&str] = &["maxOutputTokens", "maxTokens"];
    let mut max_tokens = program.number_step(chain.last(limits));
    if max_tokens.is_unset()
        && let Some(step) = chain.last(&["defaultRequestParameters"])
        && let Some(&argument) = step.arguments.first()
    {
        max_tokens = match program.filled(argument) {
            Ok(parameters) => program.number_step(parameters.last(limits)),
            Err(unresolved) => Setting::unresolved(unresolved, Some(program.step_place(step))),
        };
    }
    let model = program.text_step(chain.last(&["modelId", "model"]));
    calls_text_model(&model).then(|| ModelCall { place: program.statement(id), max_tokens, model })
}

fn nested(program: &Program, reach: &Reach) -> Vec<(Place, String)> {
    let mut found = program.retry_loops(reach);
    for id in program.ids() {
        match program.kind(id) {
            Kind::Function { marks, .. } if reach.holds(id) => found.extend(marked(program, id, marks)),
            Kind::Class { marks, .. } if !marks.is_empty() && reach.within(program, id) => {
                found.extend(marked(program, id, marks));
            }
            Kind::Call { object: Some(object), name, arguments } => {
                let Some(what) = wrapper(program, *object, &name.text, arguments) else { continue };
                if reach.within(program, id) {
                    found.push((program.place_of(id, &name.span), what));
                }
            }
            _ => {}
        }
    }
    found
}

fn marked(program: &Program, id: Id, marks: &[Word]) -> Vec<(Place, String)> {
    let what = |name: &str| match bare(name) {
        "Retryable" => Some("Spring's `@Retryable`"),
        "Retry" => Some("a `@Retry` annotation"),
        _ => None,
    };
    marks.iter().filter_map(|mark| Some((program.place_of(id, &mark.span), what(&mark.text)?.to_owned()))).collect()
}

/// A retry library's function that runs what it is given.
fn wrapper(program: &Program, object: Id, name: &str, arguments: &[Id]) -> Option<String> {
    let made_of = |id: Id, of: &str| {
        program.type_of(id, 0).is_some_and(|declared| bare(&declared).contains(of))
            || program.root_name(&program.chain(id)).is_some_and(|root| root.contains(of))
    };
    if DECORATORS.contains(&name) && made_of(object, "Retry") {
        return Some("resilience4j's `Retry`".to_owned());
    }
    if name == "execute" && made_of(object, "RetryTemplate") {
        return Some("Spring's `RetryTemplate`".to_owned());
    }
    if name == "withRetry" && !arguments.is_empty() {
        return Some("resilience4j's `Retry`".to_owned());
    }
    if matches!(name, "get" | "run" | "getAsync" | "runAsync" | "getStageAsync" | "call") && made_of(object, "Failsafe") {
        let chain = program.chain(object);
        let retries =
            chain.last(&["with"]).is_some_and(|with| with.arguments.iter().any(|&policy| made_of(policy, "RetryPolicy")));
        return retries.then(|| "Failsafe's `RetryPolicy`".to_owned());
    }
    None
}

/// A thread pool or semaphore of a literal size.
fn pool(program: &Program, id: Id) -> Option<crate::engine::fact::Fact<f64>> {
    match program.kind(id) {
        Kind::Call { name, arguments, .. } if matches!(name.text.as_str(), "newFixedThreadPool" | "newWorkStealingPool") => {
            program.fact(*arguments.first()?)
        }
        Kind::New { of, arguments, .. } if matches!(bare(of), "Semaphore" | "ForkJoinPool") => {
            program.fact(*arguments.first()?)
        }
        _ => None,
    }
}
