//! Clients of the AWS SDK for Go: the shared configuration, then the options of the client.

use crate::engine::deployment::{Client, Setting, Unresolved};
use crate::engine::fact::Place;
use crate::sources::code::program::chains::{Chain, Step};
use crate::sources::code::program::limits::{Limits, attempts, zero_is_endless};
use crate::sources::code::program::values::{Durations, Literal};
use crate::sources::code::program::{Id, Kind, Program};

const SDK: &str = "the AWS SDK for Go";
const DEFAULT: &str = "default of the AWS SDK for Go";

pub(super) const DURATIONS: Durations = Durations {
    types: &[],
    functions: &[],
    units: &[
        ("Nanosecond", 1e-9),
        ("Microsecond", 1e-6),
        ("Millisecond", 1e-3),
        ("Second", 1.0),
        ("Minute", 60.0),
        ("Hour", 3600.0),
    ],
    bare: Some(1e-9),
    endless: &[],
};

/// Whether a call makes a client.
pub(super) fn makes_client(program: &Program, id: Id) -> bool {
    let Kind::Call { object: Some(object), name, .. } = program.kind(id) else { return false };
    matches!(name.text.as_str(), "NewFromConfig" | "New")
        && matches!(program.kind(*object), Kind::Name(of) if of == "bedrockruntime")
}

/// The client, and the limits that go around a whole call where all of its calls have one.
pub(super) fn client(program: &Program, id: Id, call_bound: Option<&Setting<Option<f64>>>) -> Option<Client> {
    let Kind::Call { arguments, .. } = program.kind(id) else { return None };
    let mut limits;
    let mut pool = Setting::default();
    match settings(program, arguments) {
        Ok(steps) => {
            let chain = Chain { root: id, steps, unknown: None };
            let count = count(program, &chain);
            let (read, size) = http(program, chain.last(&["HTTPClient", "WithHTTPClient"]));
            pool = size;
            limits =
                Limits { from_environment: count.is_unset(), whole: None, read, attempts: count.or_default(vec![3], DEFAULT) };
        }
        Err(error) => {
            let (unresolved, place) = *error;
            limits = Limits::unresolved(unresolved, place);
        }
    }
    if let Some(bound) = call_bound {
        limits.bound_call(bound);
    }
    Some(Client {
        pool,
        // The buildable client's dialer keeps connections alive.
        tcp_keepalive: true,
        ..limits.client(SDK, program.statement(id))
    })
}

/// All settings of a client, in the order in which they take effect.
fn settings(program: &Program, arguments: &[Id]) -> Result<Vec<Step>, Box<(Unresolved, Place)>> {
    let Some((&config, options)) = arguments.split_first() else { return Ok(Vec::new()) };
    let failed = |unresolved: Unresolved| Box::new((unresolved, program.place(config)));
    let chain = program.filled(config).map_err(failed)?;
    let mut steps = Vec::new();
    match program.kind(chain.root) {
        Kind::New { .. } => steps.extend(chain.steps),
        Kind::Name(package) if package == "awsconfig" => {
            for step in chain.steps {
                if step.name.text == "LoadDefaultConfig" {
                    for &option in step.arguments.iter().skip(1) {
                        steps.extend(option_steps(program, option, 0).map_err(failed)?);
                    }
                } else {
                    steps.push(step);
                }
            }
        }
        _ => return Err(failed(program.unfollowed(chain.root))),
    }
    for &option in options {
        steps.extend(option_steps(program, option, 0).map_err(failed)?);
    }
    Ok(steps)
}

/// What an option sets: `config.WithRetryMaxAttempts(2)`, a function on options, or a list of such.
fn option_steps(program: &Program, option: Id, depth: usize) -> Result<Vec<Step>, Unresolved> {
    if depth > 8 {
        return Err(program.unfollowed(option));
    }
    let mut steps = Vec::new();
    if let Some(values) = appended(program, option) {
        for value in values {
            steps.extend(option_steps(program, value, depth + 1)?);
        }
        return Ok(steps);
    }
    let target = program.follow(option).map_err(|why| program.unresolved(option, why))?;
    match program.kind(target) {
        Kind::New { entries, .. } => {
            for &entry in entries {
                steps.extend(option_steps(program, entry, depth + 1)?);
            }
            Ok(steps)
        }
        Kind::Function { .. } => Ok(program.lambda_steps(target).unwrap_or_default()),
        Kind::Call { .. } => Ok(program.chain(target).steps),
        // A declared list without a value, or a function by its name.
        Kind::Null => Ok(steps),
        _ => Err(program.unfollowed(target)),
    }
}

/// The values of a list that is filled by `list = append(list, value)`.
fn appended(program: &Program, list: Id) -> Option<Vec<Id>> {
    let Kind::Name(name) = program.kind(list) else { return None };
    let declaration = program.declaration(name, list)?;
    let sets = program.assignments_to(declaration, name);
    let mut values = match program.kind(declaration) {
        Kind::Declare { value, .. } if !sets.is_empty() => value.iter().copied().collect::<Vec<Id>>(),
        _ => return None,
    };
    for set in sets {
        let Kind::Assign { value, .. } = program.kind(set) else { return None };
        let Kind::Call { object: None, name: function, arguments } = program.kind(*value) else { return None };
        if function.text != "append" {
            return None;
        }
        values.extend(arguments.iter().skip(1));
    }
    Some(values)
}

fn count(program: &Program, chain: &Chain) -> Setting<Vec<u32>> {
    if let Some(step) = chain.last(&["RetryMaxAttempts", "WithRetryMaxAttempts"]) {
        return attempts(program.number_step(Some(step)), 0.0);
    }
    let step = chain.last(&["Retryer", "WithRetryer"]);
    program.step_setting(step, |argument| retryer(program, argument, 0))
}

/// The attempts of a retryer, or of a function that gives one.
fn retryer(program: &Program, argument: Id, depth: usize) -> Result<Literal<Vec<u32>>, Unresolved> {
    let target = program.follow(argument).map_err(|why| program.unresolved(argument, why))?;
    let hidden = || program.unresolved(target, "the retryer does not show its number of attempts".to_owned());
    if depth > 8 {
        return Err(hidden());
    }
    match program.kind(target) {
        Kind::Function { .. } => match program.returns(target).as_slice() {
            [values] if values.len() == 1 => retryer(program, values[0], depth + 1),
            _ => Err(hidden()),
        },
        Kind::New { of, .. } if of == "aws.NopRetryer" => Ok(Literal { value: vec![1], place: program.place(target) }),
        Kind::Call { name, arguments, .. } => match name.text.as_str() {
            "AddWithMaxAttempts" if arguments.len() == 2 => {
                let number = program.number(arguments[1])?;
                let setting = attempts(number.clone().setting(number.place.clone()), 0.0);
                let value = setting.fact().map(|fact| fact.value.clone()).ok_or_else(hidden)?;
                Ok(Literal { value, place: number.place })
            }
            "AddWithMaxBackoffDelay" | "AddWithErrorCodes" if !arguments.is_empty() => {
                retryer(program, arguments[0], depth + 1)
            }
            "NewStandard" | "NewAdaptiveMode" => {
                let mut steps = Vec::new();
                for &option in arguments {
                    steps.extend(option_steps(program, option, 0)?);
                }
                let chain = Chain { root: target, steps, unknown: None };
                match chain.last(&["MaxAttempts"]) {
                    Some(step) => {
                        let setting = attempts(program.number_step(Some(step)), 0.0);
                        let value = setting.fact().map(|fact| fact.value.clone());
                        match (value, setting.literal()) {
                            (Some(value), Some(place)) => Ok(Literal { value, place: place.clone() }),
                            _ => Err(setting.why_unresolved().cloned().unwrap_or_else(hidden)),
                        }
                    }
                    None => Ok(Literal { value: vec![3], place: program.place_of(target, &name.span) }),
                }
            }
            _ => Err(hidden()),
        },
        _ => Err(hidden()),
    }
}

/// The time that an HTTP client gives an answer, and the connections that it keeps to one host.
fn http(program: &Program, step: Option<&Step>) -> (Setting<Option<f64>>, Setting<f64>) {
    let default = || Setting::default_of(None, DEFAULT);
    let Some(step) = step else { return (default(), Setting::default()) };
    let unknown = |unresolved| (Setting::unresolved(unresolved, Some(program.step_place(step))), Setting::default());
    let Some(&argument) = step.arguments.first() else { return unknown(program.unfollowed(step.at)) };
    let chain = match program.filled(argument) {
        Ok(chain) => chain,
        Err(unresolved) => return unknown(unresolved),
    };
    let transport = match (program.kind(chain.root), program.root_name(&chain)) {
        (Kind::New { .. }, Some("Client")) => chain.last(&["Transport"]).and_then(|step| step.arguments.first()),
        (_, Some("awshttp")) => chain.last(&["WithTransportOptions"]).and_then(|step| step.arguments.first()),
        // `http.DefaultClient` has no limit.
        (Kind::Member { name, .. }, _) if name.text == "DefaultClient" => None,
        _ => return unknown(program.unfollowed(chain.root)),
    };
    let transport = transport.and_then(|&transport| program.filled(transport).ok());
    let whole = zero_is_endless(program.duration_step(chain.last(&["Timeout", "WithTimeout"]), &DURATIONS));
    let mut limits =
        Limits { read: whole.or_default(None, DEFAULT), attempts: Setting::default(), from_environment: false, whole: None };
    let mut pool = Setting::default();
    if let Some(transport) = transport {
        let header = transport.last(&["ResponseHeaderTimeout"]);
        if header.is_some() {
            limits.bound_attempt(zero_is_endless(program.duration_step(header, &DURATIONS)));
        }
        pool = program.number_step(transport.last(&["MaxConnsPerHost"]));
    }
    (limits.read, pool)
}

/// The limit of a context: `context.WithTimeout`, itself or further up.
pub(super) fn context_bound(program: &Program, context: Id) -> Option<Setting<Option<f64>>> {
    let mut at = context;
    for _ in 0..8 {
        let target = match program.follow(at) {
            Ok(target) => target,
            // `ctx, cancel = context.WithTimeout(ctx, limit)` on an argument.
            Err(_) => reassigned(program, at)?,
        };
        let Kind::Call { object: Some(object), name, arguments } = program.kind(target) else { return None };
        if !matches!(program.kind(*object), Kind::Name(package) if package == "context") {
            return None;
        }
        let place = program.place_of(target, &name.span);
        match (name.text.as_str(), arguments.as_slice()) {
            ("WithTimeout" | "WithTimeoutCause", [_, limit, ..]) => return Some(seconds(program, *limit, place)),
            ("WithDeadline" | "WithDeadlineCause", [_, moment, ..]) => {
                let chain = program.chain(*moment);
                let limit = chain.last(&["Add"])?.arguments.first()?;
                return Some(seconds(program, *limit, place));
            }
            (_, [parent, ..]) => at = *parent,
            _ => return None,
        }
    }
    None
}

fn reassigned(program: &Program, name: Id) -> Option<Id> {
    let Kind::Name(text) = program.kind(name) else { return None };
    let declaration = program.declaration(text, name)?;
    match program.assignments_to(declaration, text).as_slice() {
        [one] => match program.kind(*one) {
            Kind::Assign { value, part: 0, .. } => Some(*value),
            _ => None,
        },
        _ => None,
    }
}

fn seconds(program: &Program, limit: Id, place: Place) -> Setting<Option<f64>> {
    match program.duration(limit, &DURATIONS) {
        Ok(literal) => literal.setting(place),
        Err(unresolved) => Setting::unresolved(unresolved, Some(place)),
    }
}
