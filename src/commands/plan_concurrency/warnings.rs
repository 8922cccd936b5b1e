//! What the reader of a plan has to weigh: quotas, what is deployed, evidence, assumptions.

use crate::commands::gather::Gathered;
use crate::engine::advice::{Advice, Ceiling};
use crate::engine::concurrency::{LimitId, Plan};
use crate::engine::inputs::Inputs;
use crate::engine::model_id::{Endpoint, Route};
use crate::engine::observed::Rows;
use crate::report::number::{count, plural, quantity};

/// What the reader has to weigh.
pub(super) fn warnings(
    gathered: &Gathered,
    inputs: &Inputs,
    plan: &Plan,
    advice: &Advice,
    ceiling: Option<&Ceiling>,
    ceiling_used: bool,
) -> Vec<String> {
    let mut warnings = Vec::new();
    for row in gathered.rows.iter().flat_map(Rows::listed) {
        match (row.applied, row.default) {
            (Some(0.0), _) => {
                warnings.push(format!("`{}` is applied as 0: blocked until AWS Support raises it", row.name));
            }
            (Some(applied), Some(default)) if applied < default => warnings.push(format!(
                "`{}` is applied as {}, below AWS's default of {}: ask for the default first",
                row.name,
                count(applied),
                count(default)
            )),
            _ => {}
        }
    }
    // Where nothing goes through there is nothing to keep within.
    if let Some(deployed) = advice.deployed.filter(|deployed| deployed.allowed > 0.0) {
        if let (Some(maximum), Some(offered), Some(semaphore)) =
            (deployed.maximum_concurrency, deployed.offered, deployed.semaphore)
        {
            let keep = if semaphore >= 1.0 {
                format!(
                    "keep {} with a semaphore of {} in each worker and a limiter that all callers share",
                    quantity(maximum),
                    plural(semaphore, "call")
                )
            } else {
                "reduce the parallel calls of a worker".to_owned()
            };
            let set = plan.recommended.map_or_else(String::new, |recommended| format!("deploy {recommended}, or "));
            warnings.push(format!(
                "the deployed MaximumConcurrency of {} offers {} calls in flight, and {} are allowed: {set}{keep}; more reserved concurrency only adds load",
                quantity(maximum),
                quantity(offered),
                quantity(deployed.allowed)
            ));
        }
        if deployed.reserved_too_small {
            warnings.push("the function's reserved concurrency is below the recommendation: polls would be throttled, and use receives up".to_owned());
        }
    }
    if let Some(ceiling) = ceiling.filter(|ceiling| ceiling.rpm.or(ceiling.tpm).is_some()) {
        let got = [(ceiling.rpm, "requests"), (ceiling.tpm, "settled tokens")];
        let got: Vec<String> =
            got.into_iter().filter_map(|(amount, what)| amount.map(|amount| format!("{} {what}", count(amount)))).collect();
        let plan_on = if ceiling_used { "the plan is made on that" } else { "plan on that with --use-observed-ceiling" };
        warnings.push(format!(
            "in {} with throttles the account got {} at most, less than the quota: {plan_on}",
            plural(minutes(ceiling), "minute"),
            got.join(" and ")
        ));
    }
    if let Some(identity) = &gathered.identity
        && identity.endpoint == Endpoint::BedrockMantle
        && identity.route != Route::OnDemand
    {
        warnings.push(format!(
            "bedrock-mantle serves models in the Region only: a call of `{}` fails there, call `{}`",
            identity.given, identity.model
        ));
    }
    let tokens = &inputs.plan.tokens;
    if let Some(above) = advice.max_tokens_frees_above
        && tokens.max_tokens > above
        && matches!(plan.binding, LimitId::McReserved | LimitId::McBurstTpm)
    {
        warnings.push(format!(
            "max_tokens {} reserves more than calls settle; down to {} a smaller one frees quota, below it only truncates",
            count(tokens.max_tokens),
            count(above)
        ));
    }
    if tokens.cache_read > 0.0 && !inputs.plan.policy.reserve_cache_reads {
        warnings.push("sources disagree whether cache reads are reserved when a call starts: --reserve-cache-reads plans on the careful side".to_owned());
    }
    warnings.extend(inputs.assumptions.iter().cloned());
    if let Some(profile) = &gathered.profile {
        let runtime = gathered.workload.endpoint_or_default() == Endpoint::BedrockRuntime;
        warnings.extend(
            profile
                .notes
                .iter()
                .filter(|_| runtime && gathered.workload.call.burndown.is_none())
                .map(|note| format!("burndown: {note}")),
        );
    }
    warnings.extend(gathered.notes.iter().cloned());
    warnings
}

#[expect(clippy::cast_precision_loss, reason = "at most the minutes of 15 days")]
fn minutes(ceiling: &Ceiling) -> f64 {
    ceiling.evidence.minutes as f64
}
