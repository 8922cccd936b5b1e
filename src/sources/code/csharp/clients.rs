//! Clients of the AWS SDK for .NET, and their configuration objects.

use crate::engine::deployment::{Client, Setting, Unresolved};
use crate::engine::fact::Place;
use crate::sources::code::program::chains::{Chain, Step};
use crate::sources::code::program::limits::{Limits, attempts, zero_is_endless};
use crate::sources::code::program::names::bare;
use crate::sources::code::program::values::{Durations, Literal};
use crate::sources::code::program::{Id, Kind, Program};

const SDK: &str = "the AWS SDK for .NET";
const DEFAULT: &str = "default of the AWS SDK for .NET";
const CONFIG: &str = "AmazonBedrockRuntimeConfig";

pub(super) const DURATIONS: Durations = Durations {
    types: &["TimeSpan"],
    functions: &[
        ("FromMicroseconds", 1e-6),
        ("FromMilliseconds", 1e-3),
        ("FromSeconds", 1.0),
        ("FromMinutes", 60.0),
        ("FromHours", 3600.0),
        ("FromDays", 86400.0),
    ],
    units: &[],
    bare: None,
    endless: &["InfiniteTimeSpan", "MaxValue"],
};

pub(super) fn is_client(of: &str) -> bool {
    matches!(bare(of), "AmazonBedrockRuntimeClient" | "IAmazonBedrockRuntime")
}

pub(super) fn makes_client(program: &Program, id: Id) -> bool {
    matches!(program.kind(id), Kind::New { of, .. } if bare(of) == "AmazonBedrockRuntimeClient")
}

/// The client, and the limit that goes around a whole call where all of its calls have one.
pub(super) fn client(program: &Program, id: Id, call_bound: Option<&Setting<Option<f64>>>) -> Option<Client> {
    let Kind::New { arguments, .. } = program.kind(id) else { return None };
    let mut limits = match config(program, arguments) {
        Ok(chain) => limits(program, &chain),
        Err(error) => {
            let (unresolved, place) = *error;
            Limits::unresolved(unresolved, place)
        }
    };
    if let Some(bound) = call_bound {
        limits.bound_call(bound);
    }
    Some(limits.client(SDK, program.statement(id)))
}

/// The configuration among a constructor's arguments: credentials and regions may stand beside it.
fn config(program: &Program, arguments: &[Id]) -> Result<Chain, Box<(Unresolved, Place)>> {
    for &argument in arguments {
        let chain = program.chain(argument);
        if matches!(program.kind(chain.root), Kind::New { of, .. } if bare(of) == CONFIG) {
            return Ok(chain);
        }
        let typed = program.type_of(argument, 0);
        let named = matches!(program.kind(argument), Kind::Name(name) if name.to_ascii_lowercase().contains("config"));
        if typed.as_deref().map_or(named, |of| bare(of) == CONFIG) {
            let why = chain.unknown.clone().map(|why| program.unresolved(argument, why));
            let why = why.unwrap_or_else(|| program.unfollowed(chain.root));
            return Err(Box::new((why, program.place(argument))));
        }
    }
    Ok(Chain { root: 0, steps: Vec::new(), unknown: None })
}

fn limits(program: &Program, chain: &Chain) -> Limits {
    let read = zero_is_endless(program.duration_step(chain.last(&["Timeout"]), &DURATIONS));
    let retries = program.number_step(chain.last(&["MaxErrorRetry"]));
    let from_environment = retries.is_unset();
    let mut count = attempts(retries, 1.0);
    if count.is_unset() {
        count = program.step_setting(chain.last(&["RetryMode"]), |mode| by_mode(program, mode));
    }
    Limits {
        read: read.or_default(Some(100.0), DEFAULT),
        attempts: count.or_default(vec![3, 5], DEFAULT),
        from_environment,
        whole: None,
    }
}

fn by_mode(program: &Program, mode: Id) -> Result<Literal<Vec<u32>>, Unresolved> {
    let target = program.follow(mode).map_err(|why| program.unresolved(mode, why))?;
    let value = match program.kind(target) {
        Kind::Member { name, .. } if matches!(name.text.as_str(), "Standard" | "Adaptive") => vec![3],
        Kind::Member { name, .. } if name.text == "Legacy" => vec![5],
        _ => return Err(program.unfollowed(target)),
    };
    Ok(Literal { value, place: program.place(target) })
}

/// The limit of a cancellation token: of its source, when it is made or later.
pub(super) fn token_bound(program: &Program, argument: Id) -> Option<Setting<Option<f64>>> {
    let target = program.follow(argument).ok()?;
    let Kind::Member { object, name } = program.kind(target) else { return None };
    if name.text != "Token" {
        return None;
    }
    let chain = program.chain(*object);
    if let Some(step) = chain.last(&["CancelAfter"]) {
        return Some(seconds(program, step.arguments.first().copied()?, step));
    }
    let Kind::New { of, arguments, .. } = program.kind(chain.root) else { return None };
    if bare(of) != "CancellationTokenSource" {
        return None;
    }
    let &limit = arguments.first()?;
    let step = Step {
        at: limit,
        name: crate::sources::code::program::Word { text: String::new(), span: program.node(limit).span.clone() },
        arguments: Vec::new(),
    };
    Some(seconds(program, limit, &step))
}

/// A time span, or a number of milliseconds.
fn seconds(program: &Program, limit: Id, step: &Step) -> Setting<Option<f64>> {
    let place = program.step_place(step);
    if let Ok(number) = program.number(limit) {
        return Setting::written(Some(number.value / 1e3), number.place, place);
    }
    match program.duration(limit, &DURATIONS) {
        Ok(literal) => literal.setting(place),
        Err(unresolved) => Setting::unresolved(unresolved, Some(place)),
    }
}
