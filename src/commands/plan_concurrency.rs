//! `plan concurrency`: the MaximumConcurrency to deploy, what limits it, and what goes with it.

mod describe;
mod view;
mod warnings;

use anyhow::{Result, anyhow};

use super::gather::{Gathered, Need, gather, route, with_file, workload_flags};
use super::{Report, World, hinted};
use crate::cli::{PlanConcurrencyArgs, StartArg};
use crate::engine::advice::{Advice, Ceiling, advise, ceiling, use_ceiling};
use crate::engine::concurrency::sensitivity::{Variation, sensitivity};
use crate::engine::concurrency::{Plan, PlanError, Start, plan};
use crate::engine::fact::{Fact, Source};
use crate::engine::inputs::{Inputs, InputsError, Missing, check_ranges, inputs};
use crate::engine::model_id::Endpoint;
use crate::engine::observed::Rows;
use crate::engine::quota_match::Row;
use crate::engine::workload::Workload;
use crate::exit::Exit;
use crate::sources::models::Models;

/// Everything that the report speaks of.
struct Answer {
    gathered: Gathered,
    inputs: Inputs,
    plan: Plan,
    advice: Advice,
    ceiling: Option<Ceiling>,
    sensitivity: Vec<Variation>,
    warnings: Vec<String>,
}

pub fn run(args: &PlanConcurrencyArgs, world: &World) -> Result<Report> {
    let models = Models::load(args.workload.model.models.as_deref())?;
    let flags = flags(args);
    check_ranges(&flags).map_err(wrong_inputs)?;
    let workload = with_file(flags, args.workload.workload.as_deref())?;
    let need = need(&workload, args);
    if args.window.dry_run {
        return super::show_usage::dry_run(&workload, route(args.workload.model.route), need, &args.window, &models, world);
    }
    let said_route = route(args.workload.model.route);
    let mut gathered = gather(workload, said_route, need, args.window.window.minutes, &args.aws, &models, world)?;
    let ceiling = gathered.traffic.as_ref().and_then(|traffic| ceiling(traffic, &gathered.workload));
    if args.use_observed_ceiling {
        match (&ceiling, &gathered.traffic) {
            (Some(ceiling), Some(traffic)) => use_ceiling(&mut gathered.workload, ceiling, &traffic.window),
            (None, Some(_)) => {
                gathered.notes.push("no throttled minute in the window: there is no observed ceiling to plan on".to_owned());
            }
            (_, None) => gathered.notes.push("no metrics were read: there is no observed ceiling to plan on".to_owned()),
        }
    }
    let mut inputs = match inputs(&gathered.workload, gathered.profile.as_ref()) {
        Ok(inputs) => inputs,
        Err(InputsError::Missing(missing)) => return Err(cannot_plan(&missing, &gathered, args)),
        Err(error) => return Err(wrong_inputs(error)),
    };
    inputs.plan.blocked_by_day = gathered.rows.as_ref().is_some_and(Rows::blocked_by_day);
    let plan = plan(&inputs.plan).map_err(no_plan)?;
    ask_binding_default(&mut gathered, &plan);
    let advice = advise(&plan, &inputs.plan, &gathered.workload, gathered.rows.as_ref(), gathered.identity.as_ref());
    let warnings = warnings::warnings(&gathered, &inputs, &plan, &advice, ceiling.as_ref(), args.use_observed_ceiling);
    let sensitivity = sensitivity(&inputs.plan);
    let keeps_up = advice.arrivals.is_none_or(|arrivals| arrivals.keeps_up);
    let exit = if plan.recommended.is_some() && keeps_up { Exit::Done } else { Exit::Missed };
    let answer = Answer { gathered, inputs, plan, advice, ceiling, sensitivity, warnings };
    Ok(Report::new(describe::document(&answer), view::json(&answer), exit))
}

/// The workload by flags, with the policy that only plans have.
fn flags(args: &PlanConcurrencyArgs) -> Workload {
    let mut flags = workload_flags(&args.workload);
    let number = |value: Option<f64>, flag: &str| value.map(|value| Fact::new(value, Source::flag(flag)));
    let policy = &mut flags.policy;
    policy.headroom = number(args.headroom, "headroom");
    policy.throttle_risk = number(args.throttle_risk, "throttle-risk");
    policy.others_rpm = number(args.others_rpm, "others-rpm");
    policy.others_tpm = number(args.others_tpm, "others-tpm");
    policy.others_output_tpm = number(args.others_output_tpm, "others-output-tpm");
    policy.tested_in_flight = number(args.tested_in_flight, "tested-in-flight");
    policy.start = args.start.map(|start| {
        let start = match start {
            StartArg::Burst => Start::Burst,
            StartArg::Steady => Start::Steady,
        };
        Fact::new(start, Source::flag("start"))
    });
    policy.reserve_cache_reads = args.reserve_cache_reads.then(|| Fact::new(true, Source::flag("reserve-cache-reads")));
    flags.arrivals.messages_per_min = number(args.arrivals, "arrivals");
    flags.arrivals.burst = number(args.backlog, "backlog");
    flags
}

/// AWS is only asked for what flags and file leave open.
fn need(workload: &Workload, args: &PlanConcurrencyArgs) -> Need {
    let quotas = &workload.quotas;
    let mantle = workload.endpoint_or_default() == Endpoint::BedrockMantle;
    let open = if mantle {
        quotas.input_tpm.is_none() || quotas.output_tpm.is_none()
    } else {
        quotas.rpm.is_none() || quotas.tpm.is_none()
    };
    let call = &workload.call;
    let unknown = call.latency_s.mean.is_none() || call.input_tokens.mean.is_none() || call.output_tokens.mean.is_none();
    // Where AWS is asked for quotas anyway, it is asked for the traffic of others on them too.
    let others = open && (workload.policy.others_rpm.is_none() || workload.policy.others_tpm.is_none());
    // bedrock-mantle publishes no latency, and its token metrics are by project: nothing there describes one call.
    Need { quotas: open, metrics: !mantle && (unknown || others || args.use_observed_ceiling) }
}

fn wrong_inputs(error: InputsError) -> anyhow::Error {
    match error {
        InputsError::Contradiction(text) => anyhow!("the inputs contradict each other: {text}"),
        InputsError::OutOfRange(text) => anyhow!("{text}"),
        InputsError::Missing(missing) => {
            anyhow!("not known: {}", missing.iter().map(|missing| missing.what).collect::<Vec<_>>().join(", "))
        }
    }
}

fn no_plan(error: PlanError) -> anyhow::Error {
    match error {
        PlanError::NoLimit => hinted(error.to_string(), "give `--tpm`, or `--tested-in-flight` from a load test"),
        PlanError::RiskOnMantle => hinted(error.to_string(), "plan with `--headroom` instead of `--throttle-risk`"),
        PlanError::NoSpread(_) => hinted(
            error.to_string(),
            "give `--latency-p99`, `--input-tokens-p99` and `--output-tokens-p99`, or plan with `--headroom` instead of `--throttle-risk`",
        ),
    }
}

/// Nothing is printed as a plan when an input is unknown: what is missing is listed, with the flag that gives it and the
/// reason why it was not found.
fn cannot_plan(missing: &[Missing], gathered: &Gathered, args: &PlanConcurrencyArgs) -> anyhow::Error {
    let width = missing.iter().map(|missing| missing.what.len()).max().unwrap_or(0);
    let mut message = "no plan: these inputs are not known".to_owned();
    for missing in missing {
        message.push_str(&format!("\n  {:width$}  {}", missing.what, missing.flag));
    }
    for reason in reasons(missing, gathered) {
        message.push_str(&format!("\n  {reason}"));
    }
    let hint = match (args.aws.offline, &args.aws.snapshot) {
        _ if missing.iter().all(|missing| missing.field.starts_with("quotas.")) && gathered.rows.is_some() => {
            "`forebay show quotas` lists what the account has; give a quota by its flag, or `none` where none applies"
        }
        (true, None) => "give them by flags or in a workload file, take them from `--snapshot`, or drop `--offline`",
        _ => "give them by flags or in a workload file; `forebay init` writes one to fill in",
    };
    hinted(message, hint)
}

fn reasons(missing: &[Missing], gathered: &Gathered) -> Vec<String> {
    let mut reasons = Vec::new();
    let of = |prefix: &str| missing.iter().any(|missing| missing.field.starts_with(prefix));
    if let (Some(rows), Some(identity)) = (&gathered.rows, &gathered.identity)
        && of("quotas.")
    {
        let region = gathered.region.as_deref().unwrap_or("this Region");
        if let Some(nearest) = rows.not_matched() {
            let where_to_look = if !rows.elsewhere.is_empty() {
                let scopes: Vec<String> = rows.elsewhere.iter().map(ToString::to_string).collect();
                format!("it has rows for {}", scopes.join(", "))
            } else if nearest.is_empty() {
                "there is no row of this route at all".to_owned()
            } else {
                format!("the nearest names are {}", nearest.join(", "))
            };
            reasons.push(format!(
                "Service Quotas of {region} has no row for {} on the {} route; {where_to_look}.",
                identity.model, identity.route
            ));
        }
        for (metric, row) in rows.each() {
            match row {
                Row::Ambiguous(rows) => {
                    let names: Vec<String> = rows.iter().map(|row| format!("{} ({})", row.name, row.code)).collect();
                    reasons
                        .push(format!("{metric}: several rows fit and which is meant cannot be told: {}.", names.join("; ")));
                }
                Row::Listed(row) if row.applied.is_none() => {
                    reasons.push(format!(
                        "{metric}: `{}` ({}) has no applied value; its default is no substitute.",
                        row.name, row.code
                    ));
                }
                _ => {}
            }
        }
    }
    if let Some(traffic) = &gathered.traffic
        && of("call.")
        && traffic.own.is_none()
    {
        reasons.push(format!(
            "CloudWatch has no calls of {} in the last {}.",
            gathered.identity.as_ref().map_or("the model", |identity| identity.own_ids[0].as_str()),
            traffic.window
        ));
    }
    if let Some(identity) = &gathered.identity {
        if identity.endpoint == Endpoint::BedrockMantle && of("call.") {
            reasons.push("bedrock-mantle publishes no latency metric, and counts tokens by project, not by call.".to_owned());
        }
        if gathered.profile.is_none() && (of("call.burndown") || of("call.max_tokens")) {
            reasons.push(format!("No model profile is known for {}; `--models FILE` adds one.", identity.model));
        }
    }
    reasons
}

/// The default of the quota that binds, where it is not there yet: one request, asked last because only the plan says which
/// quota it is. That it cannot be asked is no reason to have no plan.
#[cfg(feature = "live")]
fn ask_binding_default(gathered: &mut Gathered, plan: &Plan) {
    let Some(session) = gathered.session.take() else { return };
    let Some(row) = gathered.rows.as_mut().and_then(|rows| describe::row_mut(rows, plan)).filter(|row| row.default.is_none())
    else {
        return;
    };
    match session.default_of(&row.code) {
        Ok(default) => row.default = default,
        Err(error) => gathered.notes.push(format!("the default of the binding quota was not read: {error}")),
    }
}

#[cfg(not(feature = "live"))]
fn ask_binding_default(_: &mut Gathered, _: &Plan) {}
