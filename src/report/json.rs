//! JSON views: versioned, with structs of their own, so that internal types may change without breaking readers.
//!
//! Adding a field is fine; changing or removing one raises `schema`.

use serde::Serialize;
use serde_json::{Map, Value, json};

use crate::engine::concurrency::operation::Operation;
use crate::engine::concurrency::{Limit, Plan};
use crate::engine::fact::Fact;
use crate::engine::inputs;

/// The version of every JSON report.
pub const SCHEMA: u32 = 1;

/// A report's text.
pub fn render(value: &Value) -> String {
    let mut text = serde_json::to_string_pretty(value).expect("a JSON value can be written");
    text.push('\n');
    text
}

/// The head that every report has, with the fields of one command.
pub fn report(kind: &str, fields: impl Serialize) -> Value {
    let mut out = Map::new();
    out.insert("schema".to_owned(), json!(SCHEMA));
    out.insert("kind".to_owned(), json!(kind));
    out.insert("forebay".to_owned(), json!(env!("CARGO_PKG_VERSION")));
    if let Ok(Value::Object(fields)) = serde_json::to_value(fields) {
        out.extend(fields);
    }
    Value::Object(out)
}

/// A value and its origin; no such quota row is `null`.
#[derive(Debug, Serialize)]
pub struct InputView {
    pub value: Value,
    pub source: String,
}

/// Every input, by name, in the order of a workload file.
pub fn inputs(facts: &[(&'static str, Fact<inputs::Value>)]) -> Map<String, Value> {
    let value = |value: &inputs::Value| match value {
        inputs::Value::Number(number) => json!(number),
        inputs::Value::NoRow => Value::Null,
        inputs::Value::Text(text) => json!(text),
        inputs::Value::Flag(flag) => json!(flag),
    };
    facts
        .iter()
        .map(|(name, fact)| {
            ((*name).to_owned(), json!(InputView { value: value(&fact.value), source: fact.source.to_string() }))
        })
        .collect()
}

/// The plan: the keys of the test vectors, and the rest.
#[derive(Debug, Serialize)]
pub struct PlanView {
    pub settled_tokens: f64,
    pub reserved_tokens: f64,
    pub raw_tokens: f64,
    pub calls_per_invocation: f64,
    pub in_flight_per_worker: u32,
    pub invocation_s: f64,
    pub at_full_quota: Map<String, Value>,
    pub after_headroom: Map<String, Value>,
    pub binding: &'static str,
    /// What the binding limit allows, in workers, before rounding.
    pub allowed: f64,
    pub recommended: Option<u32>,
    pub capped_by_mapping: bool,
    pub calls_in_flight: Option<u32>,
    pub messages_per_min: Option<f64>,
    pub rpm_used: Option<f64>,
    pub tpm_used: Option<f64>,
    pub raw_tpm: Option<f64>,
    pub held_tpm: Option<f64>,
    pub output_tpm: Option<f64>,
    pub chance_minute_over_rpm: Option<f64>,
    pub chance_minute_over_tpm: Option<f64>,
}

/// One operating point.
#[derive(Debug, Serialize)]
pub struct OperationView {
    pub workers: u32,
    pub calls_in_flight: u32,
    pub messages_per_min: f64,
    pub rpm_used: f64,
    pub tpm_used: f64,
    pub held_tpm: f64,
    pub chance_minute_over_rpm: Option<f64>,
    pub chance_minute_over_tpm: Option<f64>,
}

impl From<&Operation> for OperationView {
    fn from(at: &Operation) -> Self {
        Self {
            workers: at.workers,
            calls_in_flight: at.calls_in_flight,
            messages_per_min: at.messages_per_min,
            rpm_used: at.rpm_used,
            tpm_used: at.tpm_used,
            held_tpm: at.held_tpm,
            chance_minute_over_rpm: at.chance_minute_over_rpm,
            chance_minute_over_tpm: at.chance_minute_over_tpm,
        }
    }
}

impl From<&Plan> for PlanView {
    fn from(plan: &Plan) -> Self {
        let limits = |value: fn(&Limit) -> f64| {
            plan.limits.iter().map(|limit| (limit.id.as_str().to_owned(), json!(value(limit)))).collect()
        };
        let at = plan.recommended.map(|_| &plan.operation);
        Self {
            settled_tokens: plan.derived.settled_tokens,
            reserved_tokens: plan.derived.reserved_tokens,
            raw_tokens: plan.derived.raw_tokens,
            calls_per_invocation: plan.derived.calls_per_invocation,
            in_flight_per_worker: plan.derived.in_flight_per_worker,
            invocation_s: plan.derived.invocation_s,
            at_full_quota: limits(|limit| limit.full),
            after_headroom: limits(|limit| limit.planned),
            binding: plan.binding.as_str(),
            allowed: plan.least,
            recommended: plan.recommended,
            capped_by_mapping: plan.capped,
            calls_in_flight: at.map(|at| at.calls_in_flight),
            messages_per_min: at.map(|at| at.messages_per_min),
            rpm_used: at.map(|at| at.rpm_used),
            tpm_used: at.map(|at| at.tpm_used),
            raw_tpm: at.map(|at| at.raw_tpm),
            held_tpm: at.map(|at| at.held_tpm),
            output_tpm: at.map(|at| at.output_tpm),
            chance_minute_over_rpm: at.and_then(|at| at.chance_minute_over_rpm),
            chance_minute_over_tpm: at.and_then(|at| at.chance_minute_over_tpm),
        }
    }
}
