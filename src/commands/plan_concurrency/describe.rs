//! The plan in words and tables: the answer first, then the limits, what it does, what would raise it, where it came from.

use super::Answer;
use crate::commands::gather::Gathered;
use crate::engine::concurrency::sensitivity::QuotaNeed;
use crate::engine::concurrency::{LARGEST_MAXIMUM_CONCURRENCY, LimitId, Plan, Quota};
use crate::engine::inputs::{Inputs, Value};
use crate::engine::observed::Rows;
use crate::engine::quota_match::Row;
use crate::engine::snapshot::QuotaRow;
use crate::report::document::{Document, Table, Tone};
use crate::report::number::{chance, count, duration, percent, plural, quantity, workers};

pub(super) fn document(answer: &Answer) -> Document {
    let mut document = Document::default();
    head(&mut document, answer);
    document.section("Limits, in workers");
    document.table(limits(&answer.plan));
    if !is_blocked(answer) {
        operation(&mut document, answer);
    }
    if let Some(warnings) = Some(&answer.warnings).filter(|warnings| !warnings.is_empty()) {
        document.section("Watch out");
        document.items(Tone::Warning, warnings.iter().cloned());
    }
    if !is_blocked(answer) {
        document.section("What would raise it");
        document.table(sensitivity(answer));
        document.section("Deploy with it");
        document.items(Tone::Plain, deploy(answer));
    }
    quotas(&mut document, answer);
    document.section("Where the numbers came from");
    document.table(origins(&answer.inputs));
    document
}

fn head(document: &mut Document, answer: &Answer) {
    let Answer { gathered, plan, advice, .. } = answer;
    let name = gathered.workload.name.as_ref().map(|name| name.value.clone());
    let model = gathered.identity.as_ref().map(|identity| format!("{} ({} route)", identity.given, identity.route));
    let parts: Vec<String> = [name, model, gathered.region.clone()].into_iter().flatten().collect();
    match plan.recommended {
        Some(recommended) => document.answer(Tone::Good, format!("MaximumConcurrency {recommended}")),
        None if is_blocked(answer) => {
            document.answer(Tone::Bad, "Blocked: an applied quota is 0. No call of this model goes through on this route.");
        }
        None => {
            let text = format!(
                "No MaximumConcurrency fits: {} carries {} workers, and the least setting is 2",
                carrier(plan.binding),
                workers(plan.least)
            );
            document.answer(Tone::Bad, text);
        }
    }
    if !parts.is_empty() {
        document.text(parts.join(", "));
    }
    document.text(format!("Bound by {}: {}.", plan.binding, plan.binding.meaning()));
    if plan.capped {
        document.text(format!(
            "The limits allow {} workers; {LARGEST_MAXIMUM_CONCURRENCY} is the most that one event source mapping can be set to. A second mapping on the same function takes more.",
            workers(plan.least)
        ));
    }
    let at = &plan.operation;
    if plan.recommended.is_some() {
        let mut line = format!(
            "{} in flight, {} a minute",
            plural(f64::from(at.calls_in_flight), "call"),
            plural(at.messages_per_min, "message")
        );
        if let Some(backlog) = advice.backlog {
            line.push_str(&match backlog.drain_s {
                Some(drain) => format!("; a backlog of {} takes {}", count(backlog.messages), duration(drain)),
                None => format!("; a backlog of {} never drains", count(backlog.messages)),
            });
        }
        document.text(format!("{line}."));
    }
    if let Some(arrivals) = advice.arrivals {
        let busy =
            format!("{} a minute keep {} workers busy", quantity(arrivals.messages_per_min), quantity(arrivals.workers_busy));
        document.text(if arrivals.keeps_up {
            format!("It keeps up with the arrivals: {busy}.")
        } else {
            format!("It does not keep up with the arrivals: {busy}. To keep up takes {}.", needed(&arrivals.needs))
        });
    }
    if is_blocked(answer) {
        document.text(
            "Waiting and retrying do not help: new accounts are often given 0. Ask AWS Support to enable the model's quota, or take another route or Region that has one.",
        );
    } else if let Some(need) = &advice.for_minimum {
        document.text(format!("Two workers take {}.", needed(need)));
        document.text(
            "What makes room: fewer parallel calls in a worker, a smaller max_tokens, a larger quota, or a FIFO queue with one message group (one worker at a time).",
        );
    }
}

fn is_blocked(answer: &Answer) -> bool {
    let (a, b) = match answer.inputs.plan.quota {
        Quota::Runtime { rpm, tpm } => (rpm, tpm),
        Quota::Mantle { input_tpm, output_tpm } => (input_tpm, output_tpm),
    };
    a == Some(0.0) || b == Some(0.0) || answer.inputs.plan.blocked_by_day
}

/// What a limit is of: the subject of "carries N workers".
fn carrier(binding: LimitId) -> &'static str {
    if binding == LimitId::McTested { "the load-tested point" } else { "the quota" }
}

fn needed(need: &QuotaNeed) -> String {
    let tokens = if need.output_tpm.is_some() { "input tokens" } else { "tokens" };
    let parts = [(need.rpm, "requests"), (need.tpm, tokens), (need.output_tpm, "output tokens")];
    let parts: Vec<String> = parts
        .into_iter()
        .filter_map(|(amount, what)| amount.map(|amount| format!("{} {what} a minute", count(amount.ceil()))))
        .collect();
    parts.join(" and ")
}

fn limits(plan: &Plan) -> Table {
    let mut table = Table::new(&["=", "limit=", "full quota>", "planned>", "what it is"]);
    for (i, limit) in plan.limits.iter().enumerate() {
        let binds = limit.id == plan.binding;
        if binds {
            table.marked = Some(i);
        }
        let mark = if binds { "->" } else { "" };
        table.row([
            mark.to_owned(),
            limit.id.to_string(),
            workers(limit.full),
            workers(limit.planned),
            limit.id.meaning().to_owned(),
        ]);
    }
    table
}

fn operation(document: &mut Document, answer: &Answer) {
    let plan = &answer.plan;
    let at = &plan.operation;
    let input = &answer.inputs.plan;
    document.section(match plan.recommended {
        Some(recommended) => format!("At {}", plural(f64::from(recommended), "worker")),
        None => "What two workers would offer".to_owned(),
    });
    let mut table = Table::new(&["a minute=", "used>", "quota>", "share>", "chance over"]);
    let mut row = |what: &str, used: f64, quota: Option<f64>, exceeds: Option<Option<f64>>| {
        let share = quota.filter(|&quota| quota > 0.0).map_or_else(|| "-".to_owned(), |quota| percent(used / quota));
        let exceeds = match (exceeds, quota) {
            (Some(Some(probability)), Some(_)) => chance(probability),
            (Some(None), Some(_)) => "unknown: no p99".to_owned(),
            _ => String::new(),
        };
        table.row([what.to_owned(), quantity(used), quota.map_or_else(|| "none".to_owned(), count), share, exceeds]);
    };
    match input.quota {
        Quota::Runtime { rpm, tpm } => {
            row("requests", at.rpm_used, rpm, Some(at.chance_minute_over_rpm));
            row("tokens, raw", at.raw_tpm, tpm, None);
            row("tokens, settled", at.tpm_used, tpm, Some(at.chance_minute_over_tpm));
            row("tokens, held at most", at.held_tpm, tpm, None);
        }
        Quota::Mantle { input_tpm, output_tpm } => {
            row("input tokens", at.tpm_used, input_tpm, None);
            row("input tokens, held at most", at.held_tpm, input_tpm, None);
            row("output tokens", at.output_tpm, output_tpm, None);
        }
    }
    document.table(table);
    let derived = &plan.derived;
    document.text(format!(
        "One call settles {} tokens and reserves {} when it starts; one invocation makes {} in {}.",
        count(derived.settled_tokens),
        count(derived.reserved_tokens),
        plural(derived.calls_per_invocation, "call"),
        duration(derived.invocation_s),
    ));
    if let Some(day) = answer.advice.day {
        let lasts = match day.lasts_h {
            Some(hours) => format!("it is used up after {}", duration(hours * 3600.0)),
            None => format!("{} of it", percent(day.tokens / day.allowance)),
        };
        document.text(format!(
            "A day at this rate settles {} tokens of {} a day: {lasts}.",
            count(day.tokens),
            count(day.allowance)
        ));
    }
}

fn sensitivity(answer: &Answer) -> Table {
    let mut table = Table::new(&["change=", "workers>", "MaximumConcurrency>", "messages a minute>"]);
    let before = answer.plan.least;
    for variation in &answer.sensitivity {
        let difference = variation.least - before;
        let note = if difference.abs() < 1e-9 { "no change".to_owned() } else { workers(variation.least) };
        let dash = || "-".to_owned();
        table.row([
            variation.change.clone(),
            note,
            variation.recommended.map_or_else(dash, |recommended| recommended.to_string()),
            variation.messages_per_min.map_or_else(dash, quantity),
        ]);
    }
    table
}

fn deploy(answer: &Answer) -> Vec<String> {
    let Answer { plan, advice, .. } = answer;
    let mut items = Vec::new();
    if let Some(recommended) = plan.recommended {
        items.push(format!("event source mapping: ScalingConfig MaximumConcurrency {recommended} (no provisioned mode: the two exclude each other)"));
        items.push(format!(
            "function: reserved concurrency of at least {recommended}, plus the maxima of its other SQS mappings; or none"
        ));
    }
    if let Some(semaphore) = advice.semaphore_per_worker.filter(|_| plan.derived.in_flight_per_worker > 1) {
        items.push(format!("worker: a semaphore of {}", plural(f64::from(semaphore), "call")));
    }
    let admission = &advice.admission;
    let limits = QuotaNeed {
        rpm: admission.rpm.map(f64::floor),
        tpm: admission.tpm.map(f64::floor),
        output_tpm: admission.output_tpm.map(f64::floor),
    };
    if limits.rpm.or(limits.tpm).or(limits.output_tpm).is_some() {
        items.push(format!(
            "a limiter shared by all callers: {}; take {} tokens when a call starts, settle {} when it ends",
            needed(&limits),
            count(admission.reserve),
            count(admission.settle)
        ));
    }
    items
}

fn quotas(document: &mut Document, answer: &Answer) {
    let (Some(rows), Some(region)) = (&answer.gathered.rows, &answer.gathered.region) else { return };
    document.section("Quotas");
    let mut table = Table::new(&["quota", "applied>", "default>", "code=", "adjustable"]);
    let amount = |value: Option<f64>| value.map_or_else(|| "-".to_owned(), count);
    for row in rows.listed() {
        let adjustable = match row.adjustable {
            Some(true) => "yes",
            Some(false) => "no",
            None => "-",
        };
        table.row([row.name.clone(), amount(row.applied), amount(row.default), row.code.clone(), adjustable.to_owned()]);
    }
    document.table(table);
    if let Some(row) = binding_row(&answer.gathered, &answer.plan) {
        document.text(format!("The one that binds: {}", row.console_url(region)));
    }
}

/// By where they came from: a reader asks "what did it take from the account", not "where is each of thirty values from".
fn origins(inputs: &Inputs) -> Table {
    let mut places: Vec<(String, Vec<String>)> = Vec::new();
    for (name, fact) in &inputs.facts {
        let value = match &fact.value {
            Value::Number(number) => quantity(*number),
            Value::NoRow => "none".to_owned(),
            Value::Text(text) => text.clone(),
            Value::Flag(flag) => flag.to_string(),
        };
        let (place, detail) = fact.source.place();
        let text = match detail {
            Some(detail) => format!("{name} {value} ({detail})"),
            None => format!("{name} {value}"),
        };
        match places.iter_mut().find(|(known, _)| *known == place) {
            Some((_, texts)) => texts.push(text),
            None => places.push((place, vec![text])),
        }
    }
    let mut table = Table::new(&["from", "inputs"]);
    for (place, texts) in places {
        table.row([place, texts.join(", ")]);
    }
    table
}

/// The quota row behind the binding limit.
pub(super) fn binding_row<'g>(gathered: &'g Gathered, plan: &Plan) -> Option<&'g QuotaRow> {
    match slot(gathered.rows.as_ref()?, plan.binding)? {
        Row::Listed(row) => Some(row),
        _ => None,
    }
}

fn slot(rows: &Rows, binding: LimitId) -> Option<&Row> {
    match binding {
        LimitId::McDay => [&rows.tokens_per_day, &rows.cross_model_per_day]
            .into_iter()
            .find(|row| matches!(row, Row::Listed(row) if row.applied == Some(0.0))),
        LimitId::McRpm | LimitId::McBurstRpm => Some(&rows.rpm),
        LimitId::McTpm | LimitId::McReserved | LimitId::McBurstTpm => Some(&rows.tpm),
        LimitId::McItpm => Some(&rows.input_tpm),
        LimitId::McOtpm => Some(&rows.output_tpm),
        LimitId::McTested => None,
    }
}

#[cfg(feature = "live")]
pub(super) fn row_mut<'r>(rows: &'r mut Rows, plan: &Plan) -> Option<&'r mut QuotaRow> {
    let row = match plan.binding {
        LimitId::McRpm | LimitId::McBurstRpm => &mut rows.rpm,
        LimitId::McTpm | LimitId::McReserved | LimitId::McBurstTpm => &mut rows.tpm,
        LimitId::McItpm => &mut rows.input_tpm,
        LimitId::McOtpm => &mut rows.output_tpm,
        LimitId::McTested | LimitId::McDay => return None,
    };
    match row {
        Row::Listed(row) => Some(row),
        _ => None,
    }
}
