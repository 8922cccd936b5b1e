//! What would raise the plan: the same computation with one input changed, and the quotas that a number of workers takes.

use super::{PlanInput, Quota, Start, plan};
use crate::engine::stats::normal_tail_quantile;

/// One input changed, and the plan that follows.
#[derive(Clone, Debug, PartialEq)]
pub struct Variation {
    /// `requests quota +10 %`.
    pub change: String,
    /// What the binding limit then allows, in workers.
    pub least: f64,
    pub recommended: Option<u32>,
    /// Messages per minute at that recommendation; `None` where there is none.
    pub messages_per_min: Option<f64>,
}

/// The variations worth knowing, in a fixed order: quotas up by a tenth, then what the workload itself can change.
pub fn sensitivity(input: &PlanInput) -> Vec<Variation> {
    let mut variations = Vec::new();
    let mut vary = |change: &str, changed: PlanInput| {
        let Ok(plan) = plan(&changed) else { return };
        variations.push(Variation {
            change: change.to_owned(),
            least: plan.least,
            recommended: plan.recommended,
            messages_per_min: plan.recommended.map(|_| plan.operation.messages_per_min),
        });
    };
    let raised = |value: Option<f64>| value.map(|value| value * 1.1);
    match input.quota {
        Quota::Runtime { rpm, tpm } => {
            if rpm.is_some() {
                vary("requests quota +10 %", PlanInput { quota: Quota::Runtime { rpm: raised(rpm), tpm }, ..*input });
            }
            if tpm.is_some() {
                vary("tokens quota +10 %", PlanInput { quota: Quota::Runtime { rpm, tpm: raised(tpm) }, ..*input });
            }
        }
        Quota::Mantle { input_tpm, output_tpm } => {
            if input_tpm.is_some() {
                let quota = Quota::Mantle { input_tpm: raised(input_tpm), output_tpm };
                vary("input tokens quota +10 %", PlanInput { quota, ..*input });
            }
            if output_tpm.is_some() {
                let quota = Quota::Mantle { input_tpm, output_tpm: raised(output_tpm) };
                vary("output tokens quota +10 %", PlanInput { quota, ..*input });
            }
        }
    }
    // A smaller limit may not go below what answers need on average; with more known, `recommend maxtokens` decides.
    let half = (input.tokens.max_tokens / 2.0).max(input.tokens.output);
    if half < input.tokens.max_tokens {
        let mut changed = *input;
        changed.tokens.max_tokens = half;
        vary(&format!("max_tokens {half:.0}, half of it"), changed);
    }
    let scale = |value: f64| value * 0.9;
    let mut shorter = *input;
    shorter.tokens.output = scale(shorter.tokens.output);
    shorter.output_variance = shorter.output_variance.map(|variance| variance * 0.81);
    vary("answers 10 % shorter", shorter);
    let mut smaller = *input;
    smaller.tokens.input = scale(smaller.tokens.input);
    smaller.input_variance = smaller.input_variance.map(|variance| variance * 0.81);
    vary("prompts 10 % shorter", smaller);
    let mut faster = *input;
    faster.latency_s.mean = scale(faster.latency_s.mean);
    faster.latency_s.variance = faster.latency_s.variance.map(|variance| variance * 0.81);
    vary("calls 10 % faster", faster);
    if input.worker.parallel_calls > 1 {
        let mut single = *input;
        single.worker.parallel_calls = 1;
        vary("one call at a time", single);
    }
    variations
}

/// The quotas that `workers` take under the plan's own policy: the other way round from [`plan`]. `None` for a quota that
/// the account has no row for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct QuotaNeed {
    pub rpm: Option<f64>,
    /// On bedrock-mantle, input tokens per minute.
    pub tpm: Option<f64>,
    /// Output tokens per minute; bedrock-mantle only.
    pub output_tpm: Option<f64>,
}

/// Design sections 3.3 and 3.8 solved for the quota.
pub fn quota_for(workers: f64, input: &PlanInput) -> QuotaNeed {
    let derived = input.derived();
    let policy = &input.policy;
    let f = f64::from(derived.in_flight_per_worker);
    let per_minute = 60.0 * derived.calls_per_invocation / derived.invocation_s;
    let kept = 1.0 - policy.headroom;
    let (s, r) = (derived.settled_tokens, derived.reserved_tokens);
    let steady = |use_: f64, others: f64| workers.mul_add(use_, others) / kept;
    // With an accepted chance the quota has to carry the mean and z standard deviations of a minute.
    let risky = |mean: f64, variance: Option<f64>, others: f64| {
        policy.throttle_risk.map_or(0.0, |risk| {
            let margin = normal_tail_quantile(risk) * (workers * variance.unwrap_or(0.0)).sqrt();
            workers.mul_add(mean, others) + margin
        })
    };
    let burst = |use_: f64, others: f64| if policy.start == Start::Burst { workers.mul_add(use_, others) } else { 0.0 };
    match input.quota {
        Quota::Runtime { rpm, tpm } => QuotaNeed {
            rpm: rpm.map(|_| {
                steady(per_minute, policy.others_rpm).max(burst(f + per_minute, policy.others_rpm)).max(risky(
                    per_minute,
                    input.call_count_variance(&derived),
                    policy.others_rpm,
                ))
            }),
            tpm: tpm.map(|_| {
                steady(per_minute.mul_add(s, f * (r - s).max(0.0)), policy.others_tpm)
                    .max(burst(per_minute.mul_add(s, f * r.max(s)), policy.others_tpm))
                    .max(risky(per_minute * s, input.token_variance(&derived), policy.others_tpm))
            }),
            output_tpm: None,
        },
        Quota::Mantle { input_tpm, output_tpm } => QuotaNeed {
            rpm: None,
            tpm: input_tpm.map(|_| steady(per_minute.mul_add(s, f * input.tokens.max_tokens), policy.others_tpm)),
            output_tpm: output_tpm.map(|_| steady(per_minute * input.tokens.output, policy.others_output_tpm)),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::image;
    use super::*;

    #[test]
    fn only_what_binds_raises_the_plan() {
        let input = image();
        let before = plan(&input).unwrap().least;
        let least = |change: &str| {
            sensitivity(&input).into_iter().find(|variation| variation.change.starts_with(change)).unwrap().least
        };
        assert_eq!(least("requests quota"), before);
        assert!((least("tokens quota") - before * 1.1).abs() < 1e-9);
        // R is below S already: a smaller limit frees nothing.
        assert_eq!(least("max_tokens"), before);
        assert!(least("answers") > before);
    }

    #[test]
    fn the_quota_for_the_plan_s_own_workers_is_the_quota() {
        let mut input = image();
        for headroom in [0.0, 0.2] {
            input.policy.headroom = headroom;
            let least = plan(&input).unwrap().least;
            let need = quota_for(least, &input);
            assert!((need.tpm.unwrap() - 200_000.0).abs() < 1e-6, "{need:?}");
            assert!(need.rpm.unwrap() < 200.0);
        }
        input.policy.headroom = 0.0;
        input.policy.start = Start::Steady;
        input.policy.throttle_risk = Some(0.01);
        input.policy.others_tpm = 1000.0;
        let need = quota_for(plan(&input).unwrap().least, &input);
        assert!((need.tpm.unwrap() - 200_000.0).abs() < 1e-6, "{need:?}");
    }
}
