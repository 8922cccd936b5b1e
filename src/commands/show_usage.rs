//! `show usage`: traffic on a model's quota, and what throttled minutes prove.

use anyhow::Result;
use serde_json::json;

use super::gather::{Gathered, LiveAsk, Need, gather, model_flags, parsed_id, route, with_file};
use super::{Report, World, hinted};
use crate::cli::{ShowUsageArgs, WindowArgs};
use crate::engine::advice::{Ceiling, ceiling};
use crate::engine::dry_run::DryRun;
use crate::engine::model_id::{Endpoint, Route};
use crate::engine::observed::Traffic;
use crate::engine::usage::{Distribution, Peak, Usage};
use crate::engine::workload::{Quotas, Workload};
use crate::exit::Exit;
use crate::report::document::{Document, Table, Tone};
use crate::report::json::report;
use crate::report::number::{count, duration, percent, plural, quantity};
use crate::sources::models::Models;

pub fn run(args: &ShowUsageArgs, world: &World) -> Result<Report> {
    let models = Models::load(args.model.models.as_deref())?;
    let workload = with_file(model_flags(&args.model), args.workload.as_deref())?;
    // Of a workload file only the model is meant: its own numbers are not what the account shows.
    let workload =
        Workload { model: workload.model, region: workload.region, endpoint: workload.endpoint, ..Workload::default() };
    if workload.endpoint_or_default() == Endpoint::BedrockMantle {
        return Err(hinted(
            "metrics of bedrock-mantle are not read: it publishes no latency, and counts tokens by project, not by call",
            "`forebay show quotas --endpoint bedrock-mantle` shows its quotas",
        ));
    }
    let need = Need { quotas: true, metrics: true };
    if args.window.dry_run {
        return dry_run(&workload, route(args.model.route), need, &args.window, &models, world);
    }
    let gathered = gather(workload, route(args.model.route), need, args.window.window.minutes, &args.aws, &models, world)?;
    let Some(traffic) = &gathered.traffic else {
        let message = "there are no metrics to show: nothing was asked (`--offline`), or the snapshot has none of this model";
        return Err(hinted(message, "drop `--offline`, or take a snapshot with `--model`"));
    };
    let ceiling = ceiling(traffic, &gathered.workload);
    Ok(Report::new(document(&gathered, traffic, ceiling.as_ref()), view(&gathered, traffic, ceiling.as_ref()), Exit::Done))
}

fn document(gathered: &Gathered, traffic: &Traffic, ceiling: Option<&Ceiling>) -> Document {
    let mut document = Document::default();
    let id = gathered.identity.as_ref().map_or("the model", |identity| identity.given.as_str());
    let region = gathered.region.as_deref().unwrap_or("this Region");
    let Some(own) = &traffic.own else {
        document.answer(Tone::Warning, format!("No calls of {id} in {region} in the last {}", traffic.window));
        document.text(format!("CloudWatch was asked for {}.", traffic.asked.join(", ")));
        others(&mut document, traffic);
        document.items(Tone::Warning, gathered.notes.iter().cloned());
        return document;
    };
    document.answer(Tone::Plain, format!("{id} in {region}, last {}", traffic.window));
    document.section("Calls");
    let mut calls = Table::new(&["", "count>", "note"]);
    let totals = &own.totals;
    let amount = |value: Option<f64>| value.map_or_else(|| "no data".to_owned(), count);
    calls.row(["accepted".to_owned(), amount(totals.invocations), "later failures included, throttles not".to_owned()]);
    calls.row(["throttled".to_owned(), amount(totals.throttles), "429; retries count again".to_owned()]);
    calls.row(["client errors".to_owned(), amount(totals.client_errors), "4xx; quota rejections are among them".to_owned()]);
    calls.row(["server errors".to_owned(), amount(totals.server_errors), "5xx: capacity, never your quota".to_owned()]);
    document.table(calls);
    document.section("One call");
    let mut one = Table::new(&["", "mean>", "p50>", "p90>", "p99>", "max>"]);
    let seconds = |value: f64| duration(value / 1000.0);
    describe(&mut one, "latency", &own.latency_ms, seconds);
    describe(&mut one, "time to first token", &own.time_to_first_token_ms, seconds);
    describe(&mut one, "input tokens", &own.input_tokens, quantity);
    describe(&mut one, "output tokens", &own.output_tokens, quantity);
    let mean_only = |value: Option<f64>| Distribution { mean: value, ..Distribution::default() };
    describe(&mut one, "cache-read tokens", &mean_only(own.cache_read_mean()), quantity);
    describe(&mut one, "cache-write tokens", &mean_only(own.cache_write_mean()), quantity);
    document.table(one);
    others(&mut document, traffic);
    document.section("Busiest minutes on the quota");
    let mut peaks = Table::new(&["a minute", "p99>", "max>", "quota>", "share of it at most>"]);
    peak_row(&mut peaks, "requests", traffic.peak_rpm, gathered.workload.quotas.rpm.as_ref().map(|fact| fact.value));
    peak_row(&mut peaks, "settled tokens", traffic.peak_tpm, gathered.workload.quotas.tpm.as_ref().map(|fact| fact.value));
    document.table(peaks);
    document.text("Settled tokens do not show what calls reserve while they run: a quota can throttle far below this share.");
    evidence(&mut document, ceiling, &gathered.workload.quotas);
    document.items(Tone::Warning, gathered.notes.iter().cloned());
    document
}

fn describe(table: &mut Table, name: &str, of: &Distribution, show: impl Fn(f64) -> String) {
    let value = |value: Option<f64>| value.map_or_else(|| "-".to_owned(), &show);
    if *of == Distribution::default() {
        table.row([name.to_owned(), "no data".to_owned(), String::new(), String::new(), String::new(), String::new()]);
    } else {
        table.row([name.to_owned(), value(of.mean), value(of.p50), value(of.p90), value(of.p99), value(of.max)]);
    }
}

fn others(document: &mut Document, traffic: &Traffic) {
    document.section("Others on the same quota");
    if traffic.others.is_empty() {
        document.text("None of the other ModelIds that were asked for had calls.");
        return;
    }
    let mut table = Table::new(&["ModelId=", "accepted>", "throttled>", "settled tokens>"]);
    let amount = |value: Option<f64>| value.map_or_else(|| "no data".to_owned(), count);
    for usage in &traffic.others {
        let totals = &usage.totals;
        table.row([
            usage.model_id.clone(),
            amount(totals.invocations),
            amount(totals.throttles),
            amount(totals.settled_tokens),
        ]);
    }
    document.table(table);
}

fn peak_row(table: &mut Table, name: &str, peak: Option<Peak>, quota: Option<Option<f64>>) {
    let Some(peak) = peak else {
        table.row([name.to_owned(), "no data".to_owned(), String::new(), String::new(), String::new()]);
        return;
    };
    let (quota, share) = match quota {
        Some(Some(quota)) if quota > 0.0 => (count(quota), percent(peak.max / quota)),
        Some(Some(quota)) => (count(quota), "-".to_owned()),
        Some(None) => ("none".to_owned(), "-".to_owned()),
        None => ("not known".to_owned(), "-".to_owned()),
    };
    table.row([name.to_owned(), quantity(peak.p99), quantity(peak.max), quota, share]);
}

fn evidence(document: &mut Document, ceiling: Option<&Ceiling>, quotas: &Quotas) {
    document.section("Throttle evidence");
    let Some(ceiling) = ceiling else {
        document.text("No minute in the window was throttled.");
        return;
    };
    let evidence = &ceiling.evidence;
    #[expect(clippy::cast_precision_loss, reason = "at most the minutes of 15 days")]
    let minutes = evidence.minutes as f64;
    document.text(format!("{} in {}.", plural(evidence.throttles, "throttle"), plural(minutes, "minute")));
    let line = |what: &str, most: Option<f64>, below: Option<f64>, known: bool| {
        most.map(|most| {
            let verdict = match (below, known) {
                (Some(_), _) => "less than the quota: the account really gets no more",
                (None, true) => "not below the quota",
                (None, false) => "and the quota is not known",
            };
            format!("{what}: at most {} were accepted in a throttled minute, {verdict}", count(most))
        })
    };
    let lines = [
        line("requests", evidence.ceiling_rpm, ceiling.rpm, quotas.rpm.is_some()),
        line("settled tokens", evidence.ceiling_tpm, ceiling.tpm, quotas.tpm.is_some()),
    ];
    document.items(Tone::Plain, lines.into_iter().flatten());
}

fn view(gathered: &Gathered, traffic: &Traffic, ceiling: Option<&Ceiling>) -> serde_json::Value {
    let usage = |usage: &Usage| {
        json!({"model_id": usage.model_id, "totals": usage.totals, "latency_ms": usage.latency_ms,
               "time_to_first_token_ms": usage.time_to_first_token_ms, "input_tokens": usage.input_tokens,
               "output_tokens": usage.output_tokens, "cache_read_tokens_mean": usage.cache_read_mean(),
               "cache_write_tokens_mean": usage.cache_write_mean(), "partial": usage.partial})
    };
    report(
        "usage",
        json!({
            "region": gathered.region,
            "window": traffic.window,
            "own": traffic.own.as_ref().map(usage),
            "others": traffic.others.iter().map(usage).collect::<Vec<_>>(),
            "asked": traffic.asked,
            "peak_rpm": traffic.peak_rpm, "peak_tpm": traffic.peak_tpm,
            "others_rpm": traffic.others_rpm, "others_tpm": traffic.others_tpm,
            "quota_rpm": gathered.workload.quotas.rpm.as_ref().map(|fact| fact.value),
            "quota_tpm": gathered.workload.quotas.tpm.as_ref().map(|fact| fact.value),
            "throttle_evidence": ceiling.map(|ceiling| json!({
                "minutes": ceiling.evidence.minutes, "throttles": ceiling.evidence.throttles,
                "ceiling_rpm": ceiling.evidence.ceiling_rpm, "ceiling_tpm": ceiling.evidence.ceiling_tpm,
                "rpm_below_quota": ceiling.rpm.is_some(), "tpm_below_quota": ceiling.tpm.is_some(),
            })),
            "warnings": gathered.notes,
        }),
    )
}

/// `--dry-run` of a plan: the calls, the datapoints and the price, before anything is asked.
pub fn dry_run(
    workload: &Workload,
    said_route: Option<Route>,
    need: Need,
    window: &WindowArgs,
    models: &Models,
    world: &World,
) -> Result<Report> {
    let Some((given, id)) = parsed_id(workload)? else {
        return Err(hinted("no model was named", "give `--model` or a workload file"));
    };
    let endpoint = workload.endpoint_or_default();
    let ask = LiveAsk { given, id, endpoint, said_route, need, window_minutes: window.window.minutes };
    let region = workload.region.as_ref().map(|region| region.value.as_str());
    would_ask(region, &[ask], false, models, window.metric_price, world).map(|dry| dry_run_report(&dry))
}

pub fn dry_run_report(dry: &DryRun) -> Report {
    let mut document = Document::default();
    if dry.calls.is_empty() {
        document.answer(Tone::Good, "Nothing would be asked of AWS: flags and file say all that is needed");
    } else {
        document.answer(Tone::Plain, "What would be asked of AWS; nothing was");
    }
    let mut table = Table::new(&["call=", "how often"]);
    for (operation, how_often) in &dry.calls {
        table.row([operation.clone(), how_often.clone()]);
    }
    if !dry.calls.is_empty() {
        document.table(table);
    }
    if let Some(metrics) = &dry.metrics {
        document.text(format!(
            "{} metrics over {}, {} datapoints at most, about {:.4} US dollars. GetMetricData is charged by the metric, also within the free tier; the other calls are free.",
            metrics.metrics,
            metrics.window,
            count_i64(metrics.most_datapoints),
            metrics.price_usd
        ));
    }
    let calls: Vec<_> =
        dry.calls.iter().map(|(operation, how_often)| json!({"operation": operation, "how_often": how_often})).collect();
    let json = report("dry-run", json!({"calls": calls, "metrics": dry.metrics}));
    Report::new(document, json, Exit::Done)
}

#[expect(clippy::cast_precision_loss, reason = "at most some millions")]
fn count_i64(value: i64) -> String {
    count(value as f64)
}

#[cfg(feature = "live")]
fn would_ask(
    region: Option<&str>,
    asks: &[LiveAsk],
    whole: bool,
    models: &Models,
    price: f64,
    world: &World,
) -> Result<DryRun> {
    super::live::dry_run(region, asks, whole, models, price, world)
}

#[cfg(not(feature = "live"))]
fn would_ask(_: Option<&str>, _: &[LiveAsk], _: bool, _: &Models, _: f64, _: &World) -> Result<DryRun> {
    Err(super::gather::no_live())
}
