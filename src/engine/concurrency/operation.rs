//! The pipeline at a number of workers: throughput, quota use, and the chance that a minute exceeds a quota.

use super::{Derived, PlanInput, Quota};
use crate::engine::stats::normal_tail;

/// What a number of workers does to the quotas.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Operation {
    pub workers: u32,
    pub calls_in_flight: u32,
    pub messages_per_min: f64,
    /// Calls per minute, attempts counted.
    pub rpm_used: f64,
    /// Settled tokens per minute; on bedrock-mantle, input tokens.
    pub tpm_used: f64,
    /// Tokens per minute as they are billed.
    pub raw_tpm: f64,
    /// Settled tokens per minute and what calls in flight hold above what they will settle: what admission sees.
    pub held_tpm: f64,
    /// Output tokens per minute, without burndown.
    pub output_tpm: f64,
    /// Chance that a minute exceeds the requests quota, less what others take of it; `None` without a requests quota or
    /// without the spread of latency.
    pub chance_minute_over_rpm: Option<f64>,
    /// The same for tokens; `None` without the spread of latency, input and output tokens.
    pub chance_minute_over_tpm: Option<f64>,
}

impl Operation {
    /// Design sections 3.4 and 3.5.
    pub fn at(workers: u32, input: &PlanInput, derived: &Derived) -> Self {
        let n = f64::from(workers);
        let invocations_per_min = 60.0 * n / derived.invocation_s;
        let rpm_used = invocations_per_min * derived.calls_per_invocation;
        let tpm_used = rpm_used * derived.settled_tokens;
        let in_flight = workers * derived.in_flight_per_worker;
        let held_above = match input.quota {
            Quota::Runtime { .. } => (derived.reserved_tokens - derived.settled_tokens).max(0.0),
            Quota::Mantle { .. } => input.tokens.max_tokens,
        };
        let chance = |quota: f64, mean: f64, variance: Option<f64>| {
            variance.map(|variance| normal_tail(quota, mean, (n * variance).sqrt()))
        };
        let (rpm, tpm) = match input.quota {
            Quota::Runtime { rpm, tpm } => (rpm, tpm),
            Quota::Mantle { .. } => (None, None),
        };
        let policy = &input.policy;
        Self {
            workers,
            calls_in_flight: in_flight,
            messages_per_min: invocations_per_min * f64::from(input.worker.batch_size),
            rpm_used,
            tpm_used,
            raw_tpm: rpm_used * derived.raw_tokens,
            held_tpm: f64::from(in_flight).mul_add(held_above, tpm_used),
            output_tpm: rpm_used * input.tokens.output,
            // The quota is taken whole, without headroom, but what others need of it is theirs.
            chance_minute_over_rpm: rpm
                .and_then(|rpm| chance((rpm - policy.others_rpm).max(0.0), rpm_used, input.call_count_variance(derived))),
            chance_minute_over_tpm: tpm
                .and_then(|tpm| chance((tpm - policy.others_tpm).max(0.0), tpm_used, input.token_variance(derived))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::image;
    use super::*;

    #[test]
    fn five_workers_by_hand() {
        let input = image();
        let at = Operation::at(5, &input, &input.derived());
        // 5 workers, 4.5 s each: 66.67 messages a minute; 66.67 * 2367 settled, * 1767 billed.
        assert!((at.messages_per_min - 66.666_667).abs() < 1e-6);
        assert!((at.tpm_used - 157_800.0).abs() < 1e-6);
        assert!((at.raw_tpm - 117_800.0).abs() < 1e-6);
        // Nothing is held above settlement: R = 2117 is below S = 2367.
        assert!((at.held_tpm - at.tpm_used).abs() < 1e-9);
        assert_eq!(at.calls_in_flight, 5);
    }

    #[test]
    fn the_chance_by_hand() {
        let mut input = image();
        input.quota = Quota::Runtime { rpm: Some(70.0), tpm: None };
        // Var(D) = 2.1828 (lognormal 4.5 / 9.0); calls of 5 workers in a minute: variance 60*5*2.1828/91.125 = 7.1863,
        // mean 66.667; (70 - 66.667)/2.6807 = 1.2434, tail 0.1069.
        let chance = Operation::at(5, &input, &input.derived()).chance_minute_over_rpm.unwrap();
        assert!((chance - 0.1069).abs() < 2e-4, "{chance}");
        input.latency_s.variance = None;
        assert_eq!(Operation::at(5, &input, &input.derived()).chance_minute_over_rpm, None);
    }
}
