//! From a workload to the inputs of a plan: defaults filled in, and everything that is missing named.

use super::accounting::CallTokens;
use super::concurrency::{PlanInput, Policy, Quota, Spread, Start, Worker};
use super::fact::{Fact, Source};
use super::model_id::Endpoint;
use super::model_profile::ModelProfile;
use super::stats::lognormal_variance;
use super::workload::fields::range_of;
use super::workload::{Quantity, Workload};

/// The headroom of a plan that names none: a fifth covers the drift of a workload between two plans.
pub const DEFAULT_HEADROOM: f64 = 0.2;

/// A value that a plan cannot do without.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Missing {
    /// The field of a workload file.
    pub field: &'static str,
    /// What it is, in words.
    pub what: &'static str,
    /// The flag that gives it.
    pub flag: &'static str,
}

const fn missing(field: &'static str, what: &'static str, flag: &'static str) -> Missing {
    Missing { field, what, flag }
}

/// The inputs of a plan, checked, with every value's origin in the order of a workload file.
#[derive(Clone, Debug, PartialEq)]
pub struct Inputs {
    pub plan: PlanInput,
    pub facts: Vec<(&'static str, Fact<Value>)>,
    /// What was assumed, for the reader to weigh.
    pub assumptions: Vec<String>,
}

/// An input's value, as JSON and tables show it.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    Number(f64),
    /// The account has no such row.
    NoRow,
    Text(String),
    Flag(bool),
}

/// Why a workload has no inputs yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum InputsError {
    Missing(Vec<Missing>),
    /// A value contradicts another one.
    Contradiction(String),
    /// A number is out of the range of its field.
    OutOfRange(String),
}

struct Collector {
    facts: Vec<(&'static str, Fact<Value>)>,
    missing: Vec<Missing>,
    assumptions: Vec<String>,
}

impl Collector {
    fn number(&mut self, name: &'static str, fact: Option<Fact<f64>>) -> Option<f64> {
        let fact = fact?;
        let value = fact.value;
        self.facts.push((name, fact.map(Value::Number)));
        Some(value)
    }

    fn or_default(&mut self, name: &'static str, fact: Option<Fact<f64>>, default: f64, why: &'static str) -> f64 {
        let fact = fact.unwrap_or_else(|| Fact::new(default, Source::Default(why)));
        self.number(name, Some(fact)).unwrap_or(default)
    }

    /// A needed value; NaN stands in until the whole list of what is missing is returned instead.
    fn needed(&mut self, name: &'static str, fact: Option<Fact<f64>>, missing: Missing) -> f64 {
        self.number(name, fact).unwrap_or_else(|| {
            self.missing.push(missing);
            f64::NAN
        })
    }

    fn quota(&mut self, name: &'static str, fact: Option<&Fact<Option<f64>>>, missing: Missing) -> Option<f64> {
        match fact {
            None => {
                self.missing.push(missing);
                None
            }
            Some(fact) => {
                let shown = fact.value.map_or(Value::NoRow, Value::Number);
                self.facts.push((name, Fact::new(shown, fact.source.clone())));
                fact.value
            }
        }
    }
}

/// Reads a workload for a plan.
///
/// # Errors
/// With all that is missing, or the first contradiction.
pub fn inputs(workload: &Workload, profile: Option<&ModelProfile>) -> Result<Inputs, InputsError> {
    check(workload)?;
    let mantle = workload.endpoint_or_default() == Endpoint::BedrockMantle;
    let mut c = Collector { facts: Vec::new(), missing: Vec::new(), assumptions: of_other_endpoint(workload, mantle)? };
    let mut text = |name, fact: &Option<Fact<String>>| {
        if let Some(fact) = fact {
            c.facts.push((name, fact.clone().map(Value::Text)));
        }
    };
    text("name", &workload.name);
    text("model", &workload.model);
    text("region", &workload.region);
    let endpoint = workload
        .endpoint
        .clone()
        .unwrap_or_else(|| Fact::new(Endpoint::BedrockRuntime, Source::Default("the endpoint of Converse and InvokeModel")));
    c.facts.push(("endpoint", endpoint.map(|endpoint| Value::Text(endpoint.to_string()))));
    let quota = if mantle {
        Quota::Mantle {
            input_tpm: c.quota(
                "input_tpm",
                workload.quotas.input_tpm.as_ref(),
                missing("quotas.input_tpm", "input tokens per minute of bedrock-mantle", "--input-tpm 20000000"),
            ),
            output_tpm: c.quota(
                "output_tpm",
                workload.quotas.output_tpm.as_ref(),
                missing("quotas.output_tpm", "output tokens per minute of bedrock-mantle", "--output-tpm 2000000"),
            ),
        }
    } else {
        Quota::Runtime {
            rpm: c.quota(
                "rpm",
                workload.quotas.rpm.as_ref(),
                missing("quotas.rpm", "requests per minute", "--rpm 200, or --rpm none"),
            ),
            tpm: c.quota(
                "tpm",
                workload.quotas.tpm.as_ref(),
                missing("quotas.tpm", "tokens per minute", "--tpm 200000, or --tpm none"),
            ),
        }
    };
    let call = &workload.call;
    let latency = spread(
        &mut c,
        ["latency_s", "latency_p99_s", "latency_max_s"],
        &call.latency_s,
        missing("call.latency_s", "mean latency of one call", "--latency 4.5s"),
    );
    let input = spread(
        &mut c,
        ["input_tokens", "input_tokens_p99", "input_tokens_max"],
        &call.input_tokens,
        missing("call.input_tokens", "mean input tokens of one call", "--input-tokens 1600"),
    );
    let none = "no prompt cache";
    let cache_write = c.or_default("cache_write_tokens", call.cache_write_tokens.mean.clone(), 0.0, none);
    let cache_read = c.or_default("cache_read_tokens", call.cache_read_tokens.mean.clone(), 0.0, none);
    let output = spread(
        &mut c,
        ["output_tokens", "output_tokens_p99", "output_tokens_max"],
        &call.output_tokens,
        missing("call.output_tokens", "mean output tokens of one call", "--output-tokens 150"),
    );
    // A call that generates nothing (embeddings, reranking) has no output limit and nothing that could burn down.
    let silent = |value: f64| (output.mean == 0.0).then(|| Fact::new(value, Source::Default("no output tokens")));
    let unset = call.max_tokens.is_none() && output.mean != 0.0;
    let model_maximum = silent(0.0).or_else(|| profile.and_then(|profile| profile.max_output_tokens.clone()));
    let max_tokens = c.needed(
        "max_tokens",
        call.max_tokens.clone().or(model_maximum),
        missing("call.max_tokens", "the output limit of one call (the model's maximum is not known)", "--max-tokens 500"),
    );
    for (name, fact) in [
        ("max_tokens", profile.and_then(|profile| profile.max_output_tokens.as_ref())),
        ("burndown", profile.and_then(|profile| profile.burndown.as_ref())),
    ] {
        if let Some(text) = fact.and_then(|fact| outside("call", name, fact.value, &fact.source)) {
            return Err(InputsError::OutOfRange(text));
        }
    }
    if unset && !max_tokens.is_nan() {
        c.assumptions.push(format!(
            "max_tokens is not set: every call reserves the model's maximum of {max_tokens:.0} output tokens, as Converse does"
        ));
    }
    let burndown = if mantle {
        1.0
    } else {
        let known = profile.and_then(|profile| profile.burndown.clone()).or_else(|| silent(1.0));
        c.needed(
            "burndown",
            call.burndown.clone().or(known),
            missing("call.burndown", "quota tokens per output token (not published for this model)", "--burndown 5"),
        )
    };
    let one = "one after the other";
    let w = &workload.worker;
    let worker = Worker {
        batch_size: whole(c.or_default("batch_size", w.batch_size.clone(), 1.0, "one message per invocation")),
        parallel_calls: whole(c.or_default("parallel_calls", w.parallel_calls.clone(), 1.0, one)),
        calls_per_message: c.or_default("calls_per_message", w.calls_per_message.clone(), 1.0, "one call per message"),
        attempts_per_call: c.or_default("attempts_per_call", w.attempts_per_call.clone(), 1.0, "no retries"),
        overhead_s: c.or_default("overhead_s", w.overhead_s.clone(), 0.0, "no work outside the call"),
    };
    let policy = policy(&mut c, workload, mantle);
    c.number("messages_per_min", workload.arrivals.messages_per_min.clone());
    c.number("burst", workload.arrivals.burst.clone());
    c.number("maximum_concurrency", workload.pipeline.maximum_concurrency.clone());
    c.number("reserved_concurrency", workload.pipeline.reserved_concurrency.clone());
    if !c.missing.is_empty() {
        return Err(InputsError::Missing(c.missing));
    }
    if output.mean > max_tokens {
        return Err(InputsError::Contradiction(format!(
            "answers have {:.0} tokens on average, and max_tokens cuts them at {max_tokens:.0}",
            output.mean
        )));
    }
    // A quota of requests alone limits calls that have no tokens, such as those that make images.
    let tokens_limit = !matches!(quota, Quota::Runtime { tpm: None, .. });
    if tokens_limit && input.mean + output.mean + cache_write <= 0.0 {
        return Err(InputsError::Contradiction("a call has neither input nor output tokens".to_owned()));
    }
    let plan = PlanInput {
        quota,
        latency_s: latency,
        tokens: CallTokens { input: input.mean, cache_write, cache_read, output: output.mean, max_tokens },
        input_variance: input.variance,
        output_variance: output.variance,
        burndown,
        worker,
        policy,
        blocked_by_day: false,
    };
    if plan.derived().invocation_s > f64::from(LAMBDA_MAXIMUM_S) {
        c.assumptions.push(format!(
            "one invocation takes {:.0} s on average, and a Lambda function may run {LAMBDA_MAXIMUM_S} s: are the latencies in seconds?",
            plan.derived().invocation_s
        ));
    }
    Ok(Inputs { plan, facts: c.facts, assumptions: c.assumptions })
}

/// The longest that a Lambda function may run, seconds (Lambda quotas, read 2026-10).
pub const LAMBDA_MAXIMUM_S: u16 = 900;

fn policy(c: &mut Collector, workload: &Workload, mantle: bool) -> Policy {
    let p = &workload.policy;
    let unknown = "not known, taken as none";
    if p.others_rpm.is_none() && p.others_tpm.is_none() {
        c.assumptions.push("other traffic on the same quota is not known, and taken as none".to_owned());
    }
    let throttle_risk = c.number("throttle_risk", p.throttle_risk.clone());
    let headroom = match throttle_risk {
        Some(_) => 0.0,
        None => c.or_default("headroom", p.headroom.clone(), DEFAULT_HEADROOM, "a fifth"),
    };
    let start = p.start.clone().unwrap_or_else(|| Fact::new(Start::Burst, Source::Default("all workers may start at once")));
    let start_value = start.value;
    c.facts.push(("start", start.map(|start| Value::Text(if start == Start::Burst { "burst" } else { "steady" }.to_owned()))));
    let others_rpm = if mantle { 0.0 } else { c.or_default("others_rpm", p.others_rpm.clone(), 0.0, unknown) };
    let others_tpm = c.or_default("others_tpm", p.others_tpm.clone(), 0.0, unknown);
    let others_output_tpm =
        if mantle { c.or_default("others_output_tpm", p.others_output_tpm.clone(), 0.0, unknown) } else { 0.0 };
    let reserve =
        p.reserve_cache_reads.clone().unwrap_or_else(|| Fact::new(false, Source::Default("the User Guide's arithmetic")));
    let reserve_cache_reads = reserve.value;
    c.facts.push(("reserve_cache_reads", reserve.map(Value::Flag)));
    let tested_in_flight = c.number("tested_in_flight", p.tested_in_flight.clone());
    Policy {
        headroom,
        start: start_value,
        others_rpm,
        others_tpm,
        others_output_tpm,
        tested_in_flight,
        reserve_cache_reads,
        throttle_risk,
    }
}

fn spread(c: &mut Collector, names: [&'static str; 3], quantity: &Quantity, missing: Missing) -> Spread {
    let mean = c.needed(names[0], quantity.mean.clone(), missing);
    let p99 = c.number(names[1], quantity.p99.clone());
    c.number(names[2], quantity.max.clone());
    if p99.is_some_and(|p99| !mean.is_nan() && lognormal_variance(mean, p99).is_none()) {
        c.assumptions.push(format!(
            "no lognormal law has the mean and p99 of {}: its spread, and the chance of a throttled minute, stay unknown",
            names[0]
        ));
    }
    if mean.is_nan() { Spread { mean, variance: None } } else { Spread::fit(mean, p99) }
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "checked against a range of whole numbers when it was read"
)]
fn whole(value: f64) -> u32 {
    value as u32
}

/// What the other endpoint's quotas and policy would be: an error where it was typed, for then another endpoint was meant,
/// and not used where it is from a file, which may describe both.
fn of_other_endpoint(workload: &Workload, mantle: bool) -> Result<Vec<String>, InputsError> {
    fn source<T>(fact: Option<&Fact<T>>) -> Option<&Source> {
        fact.map(|fact| &fact.source)
    }
    let (quotas, policy) = (&workload.quotas, &workload.policy);
    let foreign = if mantle {
        vec![
            ("rpm", source(quotas.rpm.as_ref())),
            ("tpm", source(quotas.tpm.as_ref())),
            ("others_rpm", source(policy.others_rpm.as_ref())),
            ("burndown", source(workload.call.burndown.as_ref())),
            ("reserve_cache_reads", source(policy.reserve_cache_reads.as_ref())),
        ]
    } else {
        vec![
            ("input_tpm", source(quotas.input_tpm.as_ref())),
            ("output_tpm", source(quotas.output_tpm.as_ref())),
            ("others_output_tpm", source(policy.others_output_tpm.as_ref())),
        ]
    };
    let (this, other) = if mantle {
        (Endpoint::BedrockMantle, Endpoint::BedrockRuntime)
    } else {
        (Endpoint::BedrockRuntime, Endpoint::BedrockMantle)
    };
    let mut notes = Vec::new();
    for (name, source) in foreign {
        match source {
            Some(flag @ Source::Flag(_)) => {
                return Err(InputsError::Contradiction(format!("{flag} is of {other}, and the calls go to {this}")));
            }
            Some(place @ Source::File { .. }) => {
                notes.push(format!("{name} ({place}) is of {other} and not used: the calls go to {this}"));
            }
            _ => {}
        }
    }
    Ok(notes)
}

/// What is wrong with a number that is out of its field's range.
fn outside(section: &str, name: &str, value: f64, source: &Source) -> Option<String> {
    let range = range_of(section, name).filter(|range| !range.contains(value))?;
    let what = match source {
        Source::Flag(flag) => format!("{flag} {value}"),
        source => format!("{name} {value} ({source})"),
    };
    Some(format!("{what}: expected {}", range.describe()))
}

/// Holds every number of a workload, wherever it is from, to the range of its field.
///
/// # Errors
/// With the first number that is out of it.
pub fn check_ranges(workload: &Workload) -> Result<(), InputsError> {
    let found = workload.numbers().into_iter().find_map(|(section, name, value, source)| outside(section, name, value, source));
    found.map_or(Ok(()), |text| Err(InputsError::OutOfRange(text)))
}

/// Values from different sources that contradict each other: each source alone was checked when it was read.
fn check(workload: &Workload) -> Result<(), InputsError> {
    check_ranges(workload)?;
    let call = &workload.call;
    for (name, quantity) in [
        ("latency_s", &call.latency_s),
        ("input_tokens", &call.input_tokens),
        ("output_tokens", &call.output_tokens),
        ("cache_read_tokens", &call.cache_read_tokens),
        ("cache_write_tokens", &call.cache_write_tokens),
    ] {
        if let Some(found) = quantity.contradiction() {
            let part = |(name, fact): (&str, &Fact<f64>)| format!("{name} {} ({})", fact.value, fact.source);
            return Err(InputsError::Contradiction(format!("{name}: {} is above {}", part(found.low), part(found.high))));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn flag(value: f64) -> Option<Fact<f64>> {
        Some(Fact::new(value, Source::flag("x")))
    }

    fn quota(value: Option<f64>) -> Option<Fact<Option<f64>>> {
        Some(Fact::new(value, Source::flag("x")))
    }

    fn complete() -> Workload {
        let mut workload = Workload::default();
        workload.quotas.rpm = quota(Some(200.0));
        workload.quotas.tpm = quota(Some(200_000.0));
        workload.call.latency_s.mean = flag(4.5);
        workload.call.input_tokens.mean = flag(1617.0);
        workload.call.output_tokens.mean = flag(150.0);
        workload.call.max_tokens = flag(500.0);
        workload.call.burndown = flag(5.0);
        workload
    }

    #[test]
    fn all_that_is_missing_is_named_at_once() {
        let Err(InputsError::Missing(missing)) = inputs(&Workload::default(), None) else { panic!() };
        let fields: Vec<_> = missing.iter().map(|missing| missing.field).collect();
        assert_eq!(
            fields,
            [
                "quotas.rpm",
                "quotas.tpm",
                "call.latency_s",
                "call.input_tokens",
                "call.output_tokens",
                "call.max_tokens",
                "call.burndown"
            ]
        );
    }

    #[test]
    fn an_unset_limit_reserves_the_model_s_maximum() {
        let mut workload = complete();
        workload.call.max_tokens = None;
        let profile = ModelProfile {
            max_output_tokens: Some(Fact::new(64_000.0, super::super::model_profile::profile_source("cards", "2026-10-07"))),
            ..ModelProfile::default()
        };
        let inputs = inputs(&workload, Some(&profile)).unwrap();
        assert_eq!(inputs.plan.tokens.max_tokens, 64_000.0);
        assert!(inputs.assumptions[0].contains("64000"), "{:?}", inputs.assumptions);
    }

    #[test]
    fn an_embedding_has_no_output_to_limit() {
        let mut workload = complete();
        (workload.call.max_tokens, workload.call.burndown) = (None, None);
        workload.call.output_tokens.mean = flag(0.0);
        let inputs = inputs(&workload, None).unwrap();
        assert_eq!((inputs.plan.tokens.max_tokens, inputs.plan.burndown), (0.0, 1.0));
        assert_eq!(inputs.plan.derived().reserved_tokens, 1617.0);
        workload.call.input_tokens.mean = flag(0.0);
        assert!(matches!(super::inputs(&workload, None), Err(InputsError::Contradiction(_))));
        workload.quotas.tpm = quota(None);
        assert!(super::inputs(&workload, None).is_ok(), "images have no tokens, and only a quota of requests");
    }

    #[test]
    fn values_of_two_sources_may_contradict_each_other() {
        let mut workload = complete();
        workload.call.latency_s.p99 = Some(Fact::new(4.0, Source::File { path: "w".into(), line: 1, column: 1 }));
        let Err(InputsError::Contradiction(text)) = inputs(&workload, None) else { panic!() };
        assert_eq!(text, "latency_s: mean 4.5 (--x) is above p99 4 (w:1:1)");
        let mut workload = complete();
        workload.call.max_tokens = flag(100.0);
        assert!(matches!(inputs(&workload, None), Err(InputsError::Contradiction(_))));
    }

    #[test]
    fn every_number_is_held_to_its_range_wherever_it_is_from() {
        let mut workload = complete();
        workload.call.latency_s.p99 = flag(f64::INFINITY);
        assert!(matches!(inputs(&workload, None), Err(InputsError::OutOfRange(_))));
        let mut workload = complete();
        workload.quotas.tpm = quota(Some(-1.0));
        let Err(InputsError::OutOfRange(text)) = inputs(&workload, None) else { panic!() };
        assert_eq!(text, "--x -1: expected a number of tokens per minute, 0 or more");
        let mut workload = complete();
        workload.call.burndown = None;
        let burndown = Some(Fact::new(0.0, super::super::model_profile::profile_source("mine", "2026-10-07")));
        let profile = ModelProfile { burndown, ..ModelProfile::default() };
        assert!(matches!(inputs(&workload, Some(&profile)), Err(InputsError::OutOfRange(_))));
    }

    #[test]
    fn what_is_of_the_other_endpoint_is_refused_as_a_flag_and_named_from_a_file() {
        let mut workload = complete();
        workload.quotas.input_tpm = quota(Some(5.0));
        let Err(InputsError::Contradiction(text)) = inputs(&workload, None) else { panic!() };
        assert_eq!(text, "--x is of bedrock-mantle, and the calls go to bedrock-runtime");
        workload.quotas.input_tpm = Some(Fact::new(Some(5.0), Source::File { path: "w".into(), line: 1, column: 1 }));
        let notes = inputs(&workload, None).unwrap().assumptions;
        assert_eq!(notes[0], "input_tpm (w:1:1) is of bedrock-mantle and not used: the calls go to bedrock-runtime");
    }

    #[test]
    fn milliseconds_in_a_field_of_seconds_are_noticed() {
        let mut workload = complete();
        workload.call.latency_s.mean = flag(4500.0);
        assert!(inputs(&workload, None).unwrap().assumptions.iter().any(|text| text.contains("are the latencies in seconds?")));
    }
}
