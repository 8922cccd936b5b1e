//! What flags, a workload file and a snapshot give to a check: a chain without files, the slowest call, the plan.

use std::path::Path;
use std::sync::Arc;

use anyhow::{Result, anyhow};

use super::read_text;
use crate::cli::CheckTimeoutsArgs;
use crate::commands::gather::{Need, gather as gather_from_aws, with_file};
use crate::commands::{World, hinted};
use crate::engine::concurrency::plan;
use crate::engine::deployment::{Client, Deployment, Function, Link, Mapping, Queue, Redrive, Setting, SourceFacts};
use crate::engine::fact::{Fact, Place, Source};
use crate::engine::finding::Finding;
use crate::engine::inputs::inputs;
use crate::engine::workload::Workload;
use crate::sources::iac::Given;
use crate::sources::iac::text::File;
use crate::sources::models::Models;
use crate::sources::tree::Node;
use crate::sources::workload::{EXAMPLE_PREFIX, EXAMPLES};

/// What is known before any file is read.
#[derive(Default)]
pub(super) struct Gathered {
    /// One chain, out of flags and the workload's pipeline.
    pub(super) deployment: Deployment,
    pub(super) slowest: Option<Fact<f64>>,
    pub(super) calls_per_message: f64,
    pub(super) parallel_calls: Option<f64>,
    pub(super) overhead_s: f64,
    pub(super) allowed_in_flight: Option<Fact<f64>>,
    /// The workload file's text, for findings in it.
    pub(super) texts: Vec<(Arc<str>, Arc<str>)>,
    pub(super) notes: Vec<String>,
}

pub(super) fn gather_workload(args: &CheckTimeoutsArgs, models: &Models, world: &World) -> Result<(Workload, Vec<String>)> {
    let workload = with_file(Workload::default(), args.workload.as_deref())?;
    let mut notes = Vec::new();
    // Live AWS is only asked for latencies where it is asked at all, and only about a model that is named.
    let from_aws = args.aws.snapshot.is_some() || (args.live && workload.model.is_some());
    if from_aws && workload.model.is_none() {
        return Err(hinted("a snapshot is of many models: which one is called is not said", "give a `--workload` file"));
    }
    if !from_aws {
        return Ok((workload, notes));
    }
    let need = Need { quotas: true, metrics: true };
    let gathered = gather_from_aws(workload, None, need, args.window.minutes, &args.aws, models, world)?;
    notes.extend(gathered.notes);
    Ok((gathered.workload, notes))
}

pub(super) fn gather(args: &CheckTimeoutsArgs, models: &Models, world: &World) -> Result<Gathered> {
    let (workload, notes) = gather_workload(args, models, world)?;
    let flag = |value: Option<f64>, name: &str| value.map(|value| Fact::new(value, Source::flag(name)));
    let slowest = flag(args.slowest_call, "slowest-call").or_else(|| workload.call.latency_s.max.clone());
    let worker = &workload.worker;
    let number = |given: Option<f64>, fact: &Option<Fact<f64>>| given.or(fact.as_ref().map(|fact| fact.value));
    let text = match &args.workload {
        Some(path) if path.as_os_str() != "-" => {
            let shown = path.display().to_string();
            let example = shown.strip_prefix(EXAMPLE_PREFIX).and_then(|name| EXAMPLES.iter().find(|(known, _)| *known == name));
            let text = match example {
                Some((_, text)) => (*text).to_owned(),
                None => read_text(path)?,
            };
            Some(File::new(&shown, &text))
        }
        _ => None,
    };
    Ok(Gathered {
        deployment: if args.paths.is_empty() { chain(args, &workload, text.as_ref())? } else { refuse_flags(args)? },
        slowest,
        calls_per_message: number(args.calls_per_message, &worker.calls_per_message).unwrap_or(1.0),
        parallel_calls: number(args.parallel_calls, &worker.parallel_calls),
        overhead_s: number(args.overhead, &worker.overhead_s).unwrap_or(0.0),
        allowed_in_flight: allowed(&workload, models),
        texts: text.iter().map(|file| (Arc::clone(&file.path), Arc::clone(&file.text))).collect(),
        notes,
    })
}

/// Calls in flight that the workload's plan allows, where it is whole; else what a load test carried.
fn allowed(workload: &Workload, models: &Models) -> Option<Fact<f64>> {
    let id = crate::commands::gather::parsed_id(workload).ok()??;
    let profile = match &id.1 {
        crate::engine::model_id::ModelId::Base(base) => {
            models.of_vendor(base.vendor()).into_iter().find(|profile| profile.id == base.model)
        }
        _ => None,
    };
    let planned = inputs(workload, profile.as_ref()).ok().and_then(|inputs| plan(&inputs.plan).ok());
    match planned {
        Some(plan) => {
            let calls = (plan.least * f64::from(plan.derived.in_flight_per_worker) + 1e-9).floor();
            Some(Fact::new(calls, Source::Derived(format!("the plan of the workload, bound by {}", plan.binding))))
        }
        None => workload.policy.tested_in_flight.clone(),
    }
}

fn refuse_flags(args: &CheckTimeoutsArgs) -> Result<Deployment> {
    let chain = &args.chain;
    let given = [
        ("--visibility", chain.visibility),
        ("--lambda", chain.lambda),
        ("--read", chain.read),
        ("--attempts", chain.attempts),
        ("--batch-size", chain.batch_size),
        ("--batch-window", chain.batch_window),
        ("--maximum-concurrency", chain.maximum_concurrency),
        ("--reserved-concurrency", chain.reserved_concurrency),
        ("--max-receive-count", chain.max_receive_count),
    ];
    match given.iter().find(|(_, value)| value.is_some()) {
        Some((flag, _)) => Err(hinted(
            format!("{flag} describes a chain without files, and files are given"),
            "give parameters of templates by `--parameter` or `--var`",
        )),
        None => Ok(Deployment::default()),
    }
}

/// One chain out of flags, then the workload's pipeline; nothing where neither says anything of one.
fn chain(args: &CheckTimeoutsArgs, workload: &Workload, file: Option<&File>) -> Result<Deployment> {
    let setting = |given: Option<f64>, name: &str, fact: &Option<Fact<f64>>| match (given, fact) {
        (Some(value), _) => Setting::known(value, Source::flag(name), None),
        (None, Some(fact)) => placed(fact, file),
        (None, None) => Setting::default(),
    };
    let (flags, pipeline) = (&args.chain, &workload.pipeline);
    let visibility_s = setting(flags.visibility, "visibility", &pipeline.visibility_timeout_s);
    let timeout_s = setting(flags.lambda, "lambda", &pipeline.lambda_timeout_s);
    let read = setting(flags.read, "read", &pipeline.read_timeout_s);
    let attempts = setting(flags.attempts, "attempts", &pipeline.client_attempts);
    if visibility_s.is_unset() && timeout_s.is_unset() && read.is_unset() {
        return Ok(Deployment::default());
    }
    for (value, name, largest) in [(flags.visibility, "--visibility", 43_200.0), (flags.batch_window, "--batch-window", 300.0)]
    {
        if value.is_some_and(|value| value > largest) {
            return Err(anyhow!("{name}: AWS takes {largest} s at most"));
        }
    }
    let receives = setting(flags.max_receive_count, "max-receive-count", &pipeline.max_receive_count);
    let name = workload.name.as_ref().map_or("the queue", |name| name.value.as_str());
    let unsaid =
        |what: &str| crate::engine::deployment::Unresolved { why: format!("{what} {NOT_GIVEN}"), give: None, place: None };
    let redrive = if receives.is_unset() {
        Setting::unresolved(unsaid("maxReceiveCount"), None)
    } else {
        let source = receives.fact().map_or(Source::Default("flags"), |fact| fact.source.clone());
        Setting::known(Redrive { max_receive_count: receives, dead_letter: None }, source, None)
    };
    let mut source = SourceFacts::default();
    if let Some(fact) = read.fact() {
        let place = read.literal().cloned().unwrap_or_else(nowhere);
        let count = attempts.fact().map(|fact| (fact.value, fact.source.clone()));
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a checked count; saturates")]
        let attempts = match count {
            Some((count, source)) => Setting::known(vec![count as u32], source, attempts.place.clone()),
            None => Setting::unresolved(unsaid("the client's attempts"), None),
        };
        source.clients.push(Client {
            place,
            sdk: "the client",
            read_timeout_s: Setting::known(Some(fact.value), fact.source.clone(), read.place.clone()),
            attempts,
            attempts_from_environment: false,
            whole_call_s: None,
            ignored: Vec::new(),
            pool: Setting::default(),
            tcp_keepalive: false,
        });
    }
    let fact_or = |setting: Setting<f64>, what: &str| {
        if setting.is_unset() { Setting::unresolved(unsaid(what), None) } else { setting }
    };
    let reports = match &pipeline.report_batch_item_failures {
        Some(fact) => Setting::known(fact.value, fact.source.clone(), None),
        None => Setting::unresolved(unsaid("ReportBatchItemFailures"), None),
    };
    let batch = setting(flags.batch_size, "batch-size", &workload.worker.batch_size);
    Ok(Deployment {
        queues: vec![Queue {
            name: name.to_owned(),
            visibility_s: fact_or(visibility_s, "the visibility timeout"),
            retention_s: Setting::default_of(345_600.0, "default of SQS"),
            redrive,
            ..Queue::default()
        }],
        functions: vec![Function {
            name: "the function".to_owned(),
            timeout_s: fact_or(timeout_s, "the function timeout"),
            reserved_concurrency: setting(flags.reserved_concurrency, "reserved-concurrency", &pipeline.reserved_concurrency),
            source,
            ..Function::default()
        }],
        mappings: vec![Mapping {
            place: None,
            queue: Link::To(0),
            function: Link::To(0),
            batch_size: batch.or_default(1.0, "one message, where no other number is given"),
            batch_window_s: setting(flags.batch_window, "batch-window", &None).or_default(0.0, "no batch window"),
            maximum_concurrency: fact_or(
                setting(flags.maximum_concurrency, "maximum-concurrency", &pipeline.maximum_concurrency),
                "MaximumConcurrency",
            ),
            provisioned: None,
            report_batch_item_failures: reports,
            enabled: Setting::default(),
        }],
        exports: Vec::new(),
        unresolved: Vec::new(),
    })
}

/// Where a client stands that no file has.
const NOWHERE: &str = "command line";

fn nowhere() -> Place {
    Place { path: Arc::from(NOWHERE), line: 1, column: 1, start: 0, end: 0 }
}

/// Takes out places that are none, and notes on what a chain by flags leaves open: nobody asked for it.
pub(super) fn tidy(found: &mut Vec<Finding>) {
    for finding in &mut *found {
        finding.labels.retain(|label| &*label.place.path != NOWHERE);
    }
    found.retain(|finding| {
        !(finding.rule == "value-unresolved" && finding.labels.is_empty() && finding.message.contains(NOT_GIVEN))
    });
}

/// What a chain by flags says of what it leaves open.
const NOT_GIVEN: &str = "is not given";

/// A workload's value with its place in the file.
fn placed(fact: &Fact<f64>, file: Option<&File>) -> Setting<f64> {
    match (&fact.source, file) {
        (Source::File { line, column, .. }, Some(file)) => {
            let place = file.token(*line, *column);
            Setting::written(fact.value, place.clone(), place)
        }
        (source, _) => Setting::known(fact.value, source.clone(), None),
    }
}

/// What the command line gives to templates.
pub(super) fn templates(args: &CheckTimeoutsArgs) -> Result<Given> {
    let mut parameters = Vec::new();
    for path in &args.parameter_file {
        parameters.extend(parameter_file(path)?);
    }
    parameters.extend(args.parameter.iter().cloned());
    let mut variable_files = Vec::new();
    for path in &args.var_file {
        variable_files.push(File::new(&path.display().to_string(), &read_text(path)?));
    }
    Ok(Given { parameters, variables: args.var.clone(), variable_files })
}

/// The forms that the AWS CLI takes: a list of `ParameterKey` and `ParameterValue`, a list of `Name=value`, an object of
/// names, also under `Parameters`.
fn parameter_file(path: &Path) -> Result<Vec<(String, String)>> {
    let text = read_text(path)?;
    let expected = || {
        hinted(
            format!("`{}` is no parameter file", path.display()),
            "expected a list of {\"ParameterKey\": ..., \"ParameterValue\": ...}, a list of \"Name=value\", or an object of names",
        )
    };
    let root = Node::parse(&text).map_err(|error| anyhow!("`{}`: {error}", path.display()))?;
    let root = root.get("Parameters").unwrap_or(&root);
    let mut parameters = Vec::new();
    for (key, value) in root.entries() {
        match (key.text(), value.text()) {
            (Some(key), Some(value)) => parameters.push((key.to_owned(), value.to_owned())),
            _ => return Err(expected()),
        }
    }
    for item in root.items() {
        let pair = match item.text() {
            Some(text) => text.split_once('='),
            None => item.get("ParameterKey").and_then(Node::text).zip(item.get("ParameterValue").and_then(Node::text)),
        };
        let (key, value) = pair.ok_or_else(expected)?;
        parameters.push((key.to_owned(), value.to_owned()));
    }
    if parameters.is_empty() { Err(expected()) } else { Ok(parameters) }
}
