//! Clients of the AWS SDK for Rust: the shared configuration, then the client's own.

use crate::engine::deployment::{Client, Setting, Unresolved};
use crate::sources::code::program::chains::{Chain, Step};
use crate::sources::code::program::limits::{Limits, attempts, zero_is_endless};
use crate::sources::code::program::names::bare;
use crate::sources::code::program::values::{Durations, Literal};
use crate::sources::code::program::{Id, Kind, Program};

const SDK: &str = "the AWS SDK for Rust";
const DEFAULT: &str = "default of the AWS SDK for Rust";

pub(super) const DURATIONS: Durations = Durations {
    types: &["Duration"],
    functions: &[
        ("from_nanos", 1e-9),
        ("from_micros", 1e-6),
        ("from_millis", 1e-3),
        ("from_secs", 1.0),
        ("from_secs_f32", 1.0),
        ("from_secs_f64", 1.0),
        ("from_mins", 60.0),
        ("from_hours", 3600.0),
    ],
    units: &[],
    bare: None,
    endless: &["MAX"],
};

/// Whether a path is in the crate of the runtime's client.
pub(super) fn of_runtime(path: &str) -> bool {
    path.trim_start_matches(':').starts_with("aws_sdk_bedrockruntime")
}

pub(super) fn is_client(of: &str) -> bool {
    of_runtime(of) && bare(of) == "Client"
}

/// Whether a call makes a client.
pub(super) fn makes_client(program: &Program, id: Id) -> bool {
    let Kind::Call { object: Some(object), name, .. } = program.kind(id) else { return false };
    matches!(name.text.as_str(), "new" | "from_conf") && matches!(program.kind(*object), Kind::Name(of) if is_client(of))
}

pub(super) fn client(program: &Program, id: Id) -> Option<Client> {
    let Kind::Call { arguments, .. } = program.kind(id) else { return None };
    let &config = arguments.first()?;
    let limits = match settings(program, config, 0) {
        Ok(steps) => limits(program, &Chain { root: id, steps, unknown: None }),
        Err(unresolved) => Limits::unresolved(unresolved, program.place(config)),
    };
    Some(limits.client(SDK, program.statement(id)))
}

/// All settings of a configuration, in the order in which they take effect.
fn settings(program: &Program, config: Id, depth: usize) -> Result<Vec<Step>, Unresolved> {
    let chain = program.filled(config)?;
    let Kind::Name(root) = program.kind(chain.root) else { return Err(program.unfollowed(chain.root)) };
    let root = root.trim_start_matches(':');
    let known = of_runtime(root) || root.starts_with("aws_config") || root.starts_with("aws_types");
    if !known || depth > 8 {
        return Err(program.unfollowed(chain.root));
    }
    let mut steps = Vec::new();
    for step in chain.steps {
        // `Builder::from(&shared)`, `Config::new(&shared)`.
        if matches!(step.name.text.as_str(), "from" | "new")
            && let Some(&shared) = step.arguments.first()
        {
            steps.extend(settings(program, shared, depth + 1)?);
        }
        steps.push(step);
    }
    Ok(steps)
}

fn limits(program: &Program, chain: &Chain) -> Limits {
    let retry = chain.last(&["retry_config", "set_retry_config"]);
    let count = program.step_setting(retry, |argument| counted(program, argument));
    let from_environment = count.is_unset();
    // A configuration that is not made of the shared one retries only by its newest behaviour version.
    let shared = chain.steps.iter().any(|step| {
        matches!(step.name.text.as_str(), "from" | "new" | "load" | "load_defaults" | "load_from_env" | "defaults" | "from_env")
    });
    let default = if shared { vec![3] } else { vec![1, 3] };
    let mut limits = Limits {
        read: Setting::default_of(None, DEFAULT),
        attempts: count.or_default(default, DEFAULT),
        from_environment: from_environment && shared,
        whole: None,
    };
    let Some(step) = chain.last(&["timeout_config", "set_timeout_config"]) else { return limits };
    let Some(&argument) = step.arguments.first() else { return limits };
    match program.filled(argument) {
        Ok(config) if program.root_name(&config).is_some_and(|root| bare(root).starts_with("TimeoutConfig")) => {
            let seconds =
                |name: &str, setter: &str| zero_is_endless(program.duration_step(config.last(&[name, setter]), &DURATIONS));
            let read = seconds("read_timeout", "set_read_timeout");
            if !read.is_unset() {
                limits.read = read;
            }
            limits.bound_attempt(seconds("operation_attempt_timeout", "set_operation_attempt_timeout"));
            limits.bound_call(&seconds("operation_timeout", "set_operation_timeout"));
        }
        Ok(config) => {
            limits.read = Setting::unresolved(program.unfollowed(config.root), Some(program.step_place(step)));
        }
        Err(unresolved) => limits.read = Setting::unresolved(unresolved, Some(program.step_place(step))),
    }
    limits
}

/// The attempts of a retry configuration.
fn counted(program: &Program, argument: Id) -> Result<Literal<Vec<u32>>, Unresolved> {
    let chain = program.filled(argument)?;
    let hidden = || program.unresolved(argument, "the retry configuration does not show its number of attempts".to_owned());
    if !program.root_name(&chain).is_some_and(|root| bare(root).starts_with("RetryConfig")) {
        return Err(hidden());
    }
    if let Some(step) = chain.last(&["with_max_attempts", "max_attempts"]) {
        let setting = attempts(program.number_step(Some(step)), 0.0);
        return match (setting.fact(), setting.literal()) {
            (Some(fact), Some(place)) => Ok(Literal { value: fact.value.clone(), place: place.clone() }),
            _ => Err(setting.why_unresolved().cloned().unwrap_or_else(hidden)),
        };
    }
    let made = chain.steps.iter().find_map(|step| match step.name.text.as_str() {
        "disabled" => Some((vec![1], step)),
        "standard" | "adaptive" => Some((vec![3], step)),
        _ => None,
    });
    made.map(|(value, step)| Literal { value, place: program.step_place(step) }).ok_or_else(hidden)
}
