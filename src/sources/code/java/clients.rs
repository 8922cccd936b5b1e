//! Clients of the AWS SDK for Java, by their builders.

use crate::engine::deployment::{Client, Setting, Unresolved};
use crate::engine::fact::{Fact, Place, Source};
use crate::sources::code::program::chains::{Chain, Step};
use crate::sources::code::program::limits::{Limits, attempts, zero_is_endless};
use crate::sources::code::program::names::bare;
use crate::sources::code::program::values::{Durations, Literal};
use crate::sources::code::program::{Id, Kind, Program};

const SDK: &str = "the AWS SDK for Java";
const DEFAULT: &str = "default of the AWS SDK for Java";
const LANGCHAIN: &str = "default of LangChain4j";

/// The types of clients.
pub(super) const CLIENTS: &[&str] = &["BedrockRuntimeClient", "BedrockRuntimeAsyncClient"];
pub(super) const MODELS: &[&str] = &["BedrockChatModel", "BedrockStreamingChatModel"];

pub(super) const DURATIONS: Durations = Durations {
    types: &["Duration"],
    functions: &[
        ("ofNanos", 1e-9),
        ("ofMillis", 1e-3),
        ("ofSeconds", 1.0),
        ("ofMinutes", 60.0),
        ("ofHours", 3600.0),
        ("ofDays", 86400.0),
    ],
    units: &[("MILLIS", 1e-3), ("SECONDS", 1.0), ("MINUTES", 60.0), ("HOURS", 3600.0)],
    bare: None,
    endless: &["ZERO"],
};

/// The client that a call makes, if it makes one.
pub(super) fn client(program: &Program, id: Id) -> Option<Client> {
    let Kind::Call { name, .. } = program.kind(id) else { return None };
    if !matches!(name.text.as_str(), "build" | "create") {
        return None;
    }
    let chain = program.chain(id);
    if chain.steps.last()?.at != id {
        return None;
    }
    let root = program.root_name(&chain)?;
    if CLIENTS.contains(&root) {
        return Some(of_sdk(program, id, &chain));
    }
    if MODELS.contains(&root) { of_langchain(program, id, &chain) } else { None }
}

fn of_sdk(program: &Program, id: Id, chain: &Chain) -> Client {
    let http = http(program, chain.last(&["httpClient", "httpClientBuilder"]));
    let overrides = overrides(program, chain);
    let mut limits = Limits { read: http.read, attempts: Setting::default(), from_environment: false, whole: None };
    let call_bound;
    match overrides {
        Ok(steps) => {
            let chain = Chain { root: id, steps, unknown: None };
            let strategy = chain.last(&["retryPolicy", "retryStrategy"]);
            limits.attempts = program.step_setting(strategy, |argument| counted(program, argument));
            limits.bound_attempt(program.duration_step(chain.last(&["apiCallAttemptTimeout"]), &DURATIONS));
            call_bound = program.duration_step(chain.last(&["apiCallTimeout"]), &DURATIONS);
        }
        Err(error) => {
            let (unresolved, place) = *error;
            limits.attempts = Setting::unresolved(unresolved, Some(place));
            call_bound = Setting::default();
        }
    }
    if limits.attempts.is_unset() {
        limits.from_environment = true;
        limits.attempts = Setting::default_of(default_attempts(program, chain), DEFAULT);
    }
    limits.bound_call(&call_bound);
    Client { pool: http.pool, tcp_keepalive: http.keepalive, ..limits.client(SDK, program.statement(id)) }
}

/// Four by the legacy mode, three by the standard one, which is the default of 2026 and of every other defaults mode.
fn default_attempts(program: &Program, chain: &Chain) -> Vec<u32> {
    let mode = chain.last(&["defaultsMode"]).and_then(|step| step.arguments.first());
    match mode.map(|&mode| program.kind(mode)) {
        Some(Kind::Member { name, .. }) if name.text != "LEGACY" => vec![3],
        _ => vec![3, 4],
    }
}

struct Http {
    read: Setting<Option<f64>>,
    pool: Setting<f64>,
    keepalive: bool,
}

/// The read timeout lives in the HTTP client, under a name that depends on which one it is.
fn http(program: &Program, step: Option<&Step>) -> Http {
    let default = || Setting::default_of(Some(30.0), DEFAULT);
    let Some(step) = step else {
        return Http { read: default(), pool: Setting::default_of(50.0, DEFAULT), keepalive: false };
    };
    let unknown = |unresolved: Unresolved| Http {
        read: Setting::unresolved(unresolved, Some(program.step_place(step))),
        pool: Setting::default(),
        keepalive: false,
    };
    let Some(&argument) = step.arguments.first() else { return unknown(program.unfollowed(step.at)) };
    let chain = match program.filled(argument) {
        Ok(chain) => chain,
        Err(unresolved) => return unknown(unresolved),
    };
    let (timeout, pool): (&[&str], &[&str]) = match program.root_name(&chain) {
        Some("ApacheHttpClient" | "Apache5HttpClient") => (&["socketTimeout"], &["maxConnections"]),
        Some("NettyNioAsyncHttpClient") => (&["readTimeout"], &["maxConcurrency"]),
        Some("UrlConnectionHttpClient") => (&["socketTimeout"], &[]),
        Some("AwsCrtAsyncHttpClient" | "AwsCrtHttpClient") => (&[], &["maxConcurrency"]),
        _ => return unknown(program.unfollowed(chain.root)),
    };
    let read = match program.duration_step(chain.last(timeout), &DURATIONS) {
        unset if unset.is_unset() && timeout.is_empty() => Setting::default_of(None, "default of the AWS CRT HTTP client"),
        unset if unset.is_unset() => default(),
        set => zero_is_endless(set),
    };
    let pool = match program.number_step(chain.last(pool)) {
        unset if unset.is_unset() && !pool.is_empty() => Setting::default_of(50.0, DEFAULT),
        set => set,
    };
    Http { read, pool, keepalive: program.truth_step(chain.last(&["tcpKeepAlive"])) }
}

/// What `overrideConfiguration` sets.
fn overrides(program: &Program, chain: &Chain) -> Result<Vec<Step>, Box<(Unresolved, Place)>> {
    let Some(step) = chain.last(&["overrideConfiguration"]) else { return Ok(Vec::new()) };
    let place = program.step_place(step);
    let Some(&argument) = step.arguments.first() else { return Err(Box::new((program.unfollowed(step.at), place))) };
    let filled = program.filled(argument).map_err(|unresolved| Box::new((unresolved, place.clone())))?;
    let known = matches!(program.kind(filled.root), Kind::Function { .. })
        || program.root_name(&filled) == Some("ClientOverrideConfiguration");
    if known { Ok(filled.steps) } else { Err(Box::new((program.unfollowed(filled.root), place))) }
}

/// The attempts of a retry policy, a retry strategy or a retry mode.
fn counted(program: &Program, argument: Id) -> Result<Literal<Vec<u32>>, Unresolved> {
    let filled = program.filled(argument)?;
    if let Some(step) = filled.last(&["numRetries", "maxAttempts"]) {
        let extra = if step.name.text == "numRetries" { 1.0 } else { 0.0 };
        return literal(&attempts(program.number_step(Some(step)), extra), program, step.at);
    }
    let mode = |name: &str| match name {
        "STANDARD" | "ADAPTIVE" | "ADAPTIVE_V2" => Some(vec![3]),
        "LEGACY" => Some(vec![4]),
        _ => None,
    };
    if let Kind::Member { name, .. } = program.kind(filled.root)
        && filled.steps.is_empty()
        && let Some(value) = mode(&name.text)
    {
        return Ok(Literal { value, place: program.place(filled.root) });
    }
    let root = program.root_name(&filled).map(str::to_owned).unwrap_or_default();
    for step in &filled.steps {
        let value = match (step.name.text.as_str(), root.as_str()) {
            ("none" | "doNotRetry", _) => Some(vec![1]),
            ("standardStrategyBuilder" | "standardRetryStrategy" | "adaptiveStrategyBuilder" | "adaptiveRetryStrategy", _) => {
                Some(vec![3])
            }
            ("legacyStrategyBuilder" | "legacyRetryStrategy", _) => Some(vec![4]),
            ("builder" | "create", "StandardRetryStrategy" | "AdaptiveRetryStrategy") => Some(vec![3]),
            ("builder" | "create", "LegacyRetryStrategy") => Some(vec![4]),
            ("forRetryMode" | "builder", _) => step.arguments.first().and_then(|&mode_at| match program.kind(mode_at) {
                Kind::Member { name, .. } => mode(&name.text),
                _ => None,
            }),
            _ => None,
        };
        if let Some(value) = value {
            return Ok(Literal { value, place: program.step_place(step) });
        }
    }
    Err(program.unresolved(argument, "the retry policy does not show its number of attempts".to_owned()))
}

fn literal(setting: &Setting<Vec<u32>>, program: &Program, at: Id) -> Result<Literal<Vec<u32>>, Unresolved> {
    match setting.fact() {
        Some(Fact { value, source: Source::Written(place) }) => Ok(Literal { value: value.clone(), place: place.clone() }),
        _ => Err(setting.why_unresolved().cloned().unwrap_or_else(|| program.unfollowed(at))),
    }
}

/// `LangChain4j` sets one limit around the call of the SDK, and counts retries of that call. A client that it is given
/// has limits of its own.
fn of_langchain(program: &Program, id: Id, chain: &Chain) -> Option<Client> {
    if chain.last(&["client"]).is_some() {
        return None;
    }
    let retried = program.root_name(chain) == Some(MODELS[0]);
    let default = if retried { vec![3] } else { vec![1] };
    Some(Client {
        place: program.statement(id),
        sdk: "LangChain4j",
        read_timeout_s: program.duration_step(chain.last(&["timeout"]), &DURATIONS).or_default(Some(60.0), LANGCHAIN),
        attempts: attempts(program.number_step(chain.last(&["maxRetries"])), 1.0).or_default(default, LANGCHAIN),
        attempts_from_environment: false,
        whole_call_s: None,
        ignored: Vec::new(),
        pool: Setting::default(),
        tcp_keepalive: false,
    })
}

/// The retries that `LangChain4j` puts around a client that it is given.
pub(super) fn langchain_retries(program: &Program, id: Id) -> Option<(Place, String)> {
    let chain = program.chain(id);
    let last = chain.steps.last()?;
    if last.at != id || program.root_name(&chain) != Some(MODELS[0]) || chain.last(&["client"]).is_none() {
        return None;
    }
    let step = chain.last(&["maxRetries"]);
    if program.number_step(step).value() == Some(0.0) {
        return None;
    }
    let place = step.map_or_else(|| program.statement(id), |step| program.step_place(step));
    Some((place, "the retries of LangChain4j".to_owned()))
}

/// Whether a type, as written, is one of a client's.
pub(super) fn is_client(of: &str) -> bool {
    CLIENTS.contains(&bare(of))
}
