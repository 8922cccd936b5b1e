//! The plan as JSON. Its schema is `docs/schema/plan-concurrency.json`.

use serde_json::{Map, Value, json};

use super::Answer;
use crate::engine::concurrency::sensitivity::QuotaNeed;
use crate::engine::quota_match::Row;
use crate::report::json::{OperationView, PlanView, inputs, report};

pub(super) fn json(answer: &Answer) -> Value {
    let Answer { gathered, plan, advice, ceiling, sensitivity, warnings, .. } = answer;
    let mut view = match serde_json::to_value(PlanView::from(plan)) {
        Ok(Value::Object(view)) => view,
        _ => Map::new(),
    };
    let admission = &advice.admission;
    view.insert(
        "admission".into(),
        json!({"rpm": admission.rpm, "tpm": admission.tpm, "output_tpm": admission.output_tpm,
               "reserve_tokens": admission.reserve, "settle_tokens": admission.settle}),
    );
    view.insert("semaphore_per_worker".into(), json!(advice.semaphore_per_worker));
    view.insert("reserved_concurrency_at_least".into(), json!(plan.recommended));
    view.insert("max_tokens_frees_above".into(), json!(advice.max_tokens_frees_above));
    view.insert(
        "arrivals".into(),
        json!(advice.arrivals.map(|arrivals| json!({
            "messages_per_min": arrivals.messages_per_min, "capacity_per_min": arrivals.capacity_per_min,
            "workers_busy": arrivals.workers_busy, "keeps_up": arrivals.keeps_up, "needs": needs(&arrivals.needs),
        }))),
    );
    view.insert(
        "backlog".into(),
        json!(advice.backlog.map(|backlog| json!({"messages": backlog.messages, "drain_s": backlog.drain_s}))),
    );
    view.insert(
        "deployed".into(),
        json!(advice.deployed.map(|deployed| json!({
            "maximum_concurrency": deployed.maximum_concurrency, "reserved_concurrency": deployed.reserved_concurrency,
            "calls_offered": deployed.offered, "calls_allowed": deployed.allowed, "semaphore_per_worker": deployed.semaphore,
        }))),
    );
    view.insert(
        "day".into(),
        json!(advice.day.map(|day| json!({"tokens": day.tokens, "allowance": day.allowance, "lasts_h": day.lasts_h}))),
    );
    let at_minimum = plan.recommended.is_none().then(|| OperationView::from(&plan.operation));
    view.insert("at_minimum".into(), json!(at_minimum));
    view.insert("needs_for_minimum".into(), json!(advice.for_minimum.as_ref().map(needs)));
    view.insert(
        "observed_ceiling".into(),
        json!(ceiling.map(|ceiling| json!({
            "throttled_minutes": ceiling.evidence.minutes, "throttles": ceiling.evidence.throttles,
            "rpm": ceiling.evidence.ceiling_rpm, "tpm": ceiling.evidence.ceiling_tpm,
            "rpm_below_quota": ceiling.rpm.is_some(), "tpm_below_quota": ceiling.tpm.is_some(),
        }))),
    );
    let variations: Vec<Value> = sensitivity
        .iter()
        .map(|variation| {
            json!({"change": variation.change, "allowed": variation.least, "recommended": variation.recommended,
                   "messages_per_min": variation.messages_per_min})
        })
        .collect();
    view.insert("sensitivity".into(), json!(variations));
    let identity = gathered.identity.as_ref().map(|identity| {
        json!({"given": identity.given, "model": identity.model, "route": identity.route, "endpoint": identity.endpoint,
               "application_profile": identity.application.as_ref().map(|profile| &profile.id)})
    });
    report(
        "plan-concurrency",
        json!({
            "model": identity,
            "inputs": inputs(&answer.inputs.facts),
            "quotas": quotas(answer),
            "plan": view,
            "warnings": warnings,
        }),
    )
}

fn needs(need: &QuotaNeed) -> Value {
    json!({"rpm": need.rpm, "tpm": need.tpm, "output_tpm": need.output_tpm})
}

/// The rows behind the quotas, where Service Quotas was asked.
fn quotas(answer: &Answer) -> Value {
    let Some(rows) = &answer.gathered.rows else { return Value::Null };
    let region = answer.gathered.region.as_deref().unwrap_or_default();
    let view = |row: &Row| match row {
        Row::Listed(row) => json!({"code": row.code, "name": row.name, "applied": row.applied, "default": row.default,
                                   "adjustable": row.adjustable, "console": row.console_url(region)}),
        _ => Value::Null,
    };
    json!({
        "rpm": view(&rows.rpm), "tpm": view(&rows.tpm), "input_tpm": view(&rows.input_tpm), "output_tpm": view(&rows.output_tpm),
        "tokens_per_day": view(&rows.tokens_per_day), "cross_model_tokens_per_day": view(&rows.cross_model_per_day),
    })
}
