//! The check as JSON: `chains[]` with every value and its place, `findings[]`, and what could not be checked.

use serde_json::{Map, Value, json};

use super::Checked;
use crate::engine::chain::{Chain, End};
use crate::engine::deployment::{Mapping, Setting, State};
use crate::engine::fact::{Fact, Place, Source};
use crate::engine::finding::Finding;
use crate::report::json::report;

pub(super) fn json(checked: &Checked<'_>) -> Value {
    let chains: Vec<Value> = checked
        .chains
        .iter()
        .zip(&checked.suggestions)
        .map(|(one, suggestion)| {
            let mut view = chain(one);
            view.insert(
                "suggested".to_owned(),
                json!(suggestion.map(|suggestion| json!({
                    "read_timeout_s": suggestion.read_timeout_s, "client_attempts": suggestion.client_attempts,
                    "lambda_timeout_s": suggestion.lambda_timeout_s,
                    "visibility_timeout_s": suggestion.visibility_timeout_s, "fits_lambda": suggestion.fits_lambda,
                }))),
            );
            Value::Object(view)
        })
        .collect();
    let unchecked: Vec<Value> = checked.unchecked.iter().map(|(rule, why)| json!({"rule": rule, "why": why})).collect();
    report(
        "check-timeouts",
        json!({
            "chains": chains,
            "findings": checked.findings.iter().map(finding).collect::<Vec<_>>(),
            "slowest_call_s": checked.slowest.as_ref().map(|fact| json!({"value": fact.value, "source": fact.source.to_string()})),
            "unchecked": unchecked,
            "suppressed": checked.suppressed,
            "in_baseline": checked.in_baseline,
            "notes": checked.notes,
        }),
    )
}

fn finding(finding: &Finding) -> Value {
    let place = finding.place();
    let labels: Vec<Value> = finding
        .labels
        .iter()
        .map(|label| {
            json!({"path": &*label.place.path, "line": label.place.line, "column": label.place.column, "text": label.text})
        })
        .collect();
    json!({
        "rule": finding.rule,
        "severity": finding.severity,
        "message": finding.message,
        "queue": finding.queue,
        "function": finding.function,
        "path": place.map(|place| &*place.path),
        "line": place.map(|place| place.line),
        "column": place.map(|place| place.column),
        "labels": labels,
        "suggestion": finding.suggestion,
    })
}

/// The word for where a value is from.
fn word(source: &Source) -> &'static str {
    match source {
        Source::Default(_) => "default",
        Source::Written(_) | Source::File { .. } => "file",
        Source::Flag(_) => "command line",
        Source::Live { .. } => "live",
        _ => "derived",
    }
}

fn known(value: &Value, source: &Source, setting: Option<&Place>) -> Value {
    let place = match source {
        Source::Written(place) => Some(place),
        _ => setting,
    };
    json!({
        "value": value, "source": word(source), "path": place.map(|place| &*place.path), "line": place.map(|place| place.line),
        "from": source.to_string(),
    })
}

fn unset(value: &Value) -> Value {
    json!({"value": value, "source": null, "path": null, "line": null})
}

fn unresolved(place: Option<&Place>, why: &str) -> Value {
    json!({"value": null, "source": "unresolved", "path": place.map(|place| &*place.path), "line": place.map(|place| place.line), "why": why})
}

/// A setting; what is not set has `or` for its value.
fn setting<T>(setting: &Setting<T>, or: &Value, value: impl Fn(&T) -> Value) -> Value {
    match &setting.state {
        State::Known(Fact { value: found, source }) => known(&value(found), source, setting.place.as_ref()),
        State::Unset => unset(or),
        State::Unresolved(found) => unresolved(found.place.as_ref().or(setting.place.as_ref()), &found.why),
    }
}

fn number(of: &Setting<f64>) -> Value {
    setting(of, &Value::Null, |value| json!(value))
}

fn end<T>(end: &End<'_, T>, name: Option<&str>, place: Option<&Place>) -> Value {
    match end {
        End::To(_) => {
            json!({"value": name, "source": "file", "path": place.map(|place| &*place.path), "line": place.map(|place| place.line)})
        }
        End::Named(name, found) => {
            let place = found.place.as_ref();
            json!({"value": name, "source": "file", "path": place.map(|place| &*place.path), "line": place.map(|place| place.line)})
        }
        End::Unresolved(found) => unresolved(found.place.as_ref(), &found.why),
        End::None => unset(&Value::Null),
    }
}

fn chain(chain: &Chain<'_>) -> Map<String, Value> {
    let mut view = Map::new();
    let mut put = |name: &str, value: Value| view.insert(name.to_owned(), value);
    put("queue", end(&chain.queue, chain.queue_name(), chain.queue.get().and_then(|queue| queue.place.as_ref())));
    put(
        "function",
        end(&chain.function, chain.function_name(), chain.function.get().and_then(|function| function.place.as_ref())),
    );
    let no_queue = || match chain.queue.unresolved() {
        Some(found) => unresolved(found.place.as_ref(), &found.why),
        None => unset(&Value::Null),
    };
    let no_function = || match chain.function.unresolved() {
        Some(found) => unresolved(found.place.as_ref(), &found.why),
        None => unset(&Value::Null),
    };
    let (queue, function) = (chain.queue.get(), chain.function.get());
    put("visibility_timeout_s", queue.map_or_else(no_queue, |queue| number(&queue.visibility_s)));
    put("lambda_timeout_s", function.map_or_else(no_function, |function| number(&function.timeout_s)));
    let client = chain.client();
    put(
        "read_timeout_s",
        client
            .map_or_else(|| unset(&Value::Null), |client| setting(&client.read_timeout_s, &Value::Null, |value| json!(value))),
    );
    let attempts = |counts: &Vec<u32>| match counts.as_slice() {
        [one] => json!(one),
        several => json!(several),
    };
    put(
        "client_attempts",
        client.map_or_else(|| unset(&Value::Null), |client| setting(&client.attempts, &Value::Null, attempts)),
    );
    // A client alone has no mapping; its keys are there all the same.
    let of_mapping = |of: &dyn Fn(&Mapping) -> Value| chain.mapping.map_or_else(|| unset(&Value::Null), of);
    put("batch_size", of_mapping(&|mapping| number(&mapping.batch_size)));
    put("batch_window_s", of_mapping(&|mapping| number(&mapping.batch_window_s)));
    put("maximum_concurrency", of_mapping(&|mapping| number(&mapping.maximum_concurrency)));
    put("reserved_concurrency", function.map_or_else(no_function, |function| number(&function.reserved_concurrency)));
    put(
        "report_batch_item_failures",
        of_mapping(&|mapping| setting(&mapping.report_batch_item_failures, &json!(false), |value| json!(value))),
    );
    put(
        "max_receive_count",
        queue.map_or_else(no_queue, |queue| match &queue.redrive.state {
            State::Known(fact) => number(&fact.value.max_receive_count),
            _ => setting(&queue.redrive, &Value::Null, |_| Value::Null),
        }),
    );
    put("fifo", queue.map_or_else(no_queue, |queue| setting(&queue.fifo, &json!(false), |value| json!(value))));
    view
}
