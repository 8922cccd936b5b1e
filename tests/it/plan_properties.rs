//! What holds for every plan, whatever the numbers.

use forebay::engine::accounting::CallTokens;
use forebay::engine::advice::advise;
use forebay::engine::concurrency::sensitivity::{quota_for, sensitivity};
use forebay::engine::concurrency::{Plan, PlanInput, Policy, Quota, Spread, Start, Worker, plan};
use forebay::engine::workload::Workload;
use proptest::prelude::*;

prop_compose! {
    fn inputs()(
        rpm in prop::option::of(0.0..1e6), tpm in 0.0..1e9_f64, latency in 0.001..900.0_f64, tail in 1.0..20.0_f64,
        input in 1.0..2e5_f64, cache in 0.0..1e5_f64, output in 0.0..1e4_f64, limit in 1.0..20.0_f64, burndown in 1.0..15.0_f64,
        batch_size in 1..100_u32, parallel_calls in 1..20_u32, calls in 0.001..10.0_f64, attempts in 1.0..5.0_f64, overhead in 0.0..60.0_f64,
        headroom in 0.0..0.99_f64, burst in any::<bool>(), others in 0.0..1.0_f64,
    ) -> PlanInput {
        PlanInput {
            blocked_by_day: false,
            quota: Quota::Runtime { rpm, tpm: Some(tpm) },
            latency_s: Spread::fit(latency, Some(latency * tail)),
            tokens: CallTokens { input, cache_write: cache, cache_read: cache, output, max_tokens: (output * limit).max(1.0) },
            input_variance: Some(input),
            output_variance: Some(output),
            burndown,
            worker: Worker { batch_size, parallel_calls, calls_per_message: calls, attempts_per_call: attempts, overhead_s: overhead },
            policy: Policy {
                headroom,
                start: if burst { Start::Burst } else { Start::Steady },
                others_rpm: others * 100.0,
                others_tpm: others * 1e5,
                others_output_tpm: 0.0,
                tested_in_flight: None,
                reserve_cache_reads: burst,
                throttle_risk: None,
            },
        }
    }
}

fn planned(input: &PlanInput) -> Plan {
    plan(input).unwrap()
}

fn with_quota(input: &PlanInput, factor: f64) -> PlanInput {
    let Quota::Runtime { rpm, tpm } = input.quota else { unreachable!() };
    PlanInput { quota: Quota::Runtime { rpm: rpm.map(|rpm| rpm * factor), tpm: tpm.map(|tpm| tpm * factor) }, ..*input }
}

proptest! {
    #[test]
    fn a_plan_is_the_least_of_its_limits_and_never_a_nan(input in inputs()) {
        let plan = planned(&input);
        for limit in &plan.limits {
            prop_assert!(limit.full.is_finite() && limit.planned.is_finite() && limit.planned >= 0.0, "{limit:?}");
            prop_assert!(limit.planned <= limit.full + 1e-9, "{limit:?}");
            prop_assert!(plan.least <= limit.planned);
        }
        match plan.recommended {
            Some(workers) => prop_assert!((2..=1000).contains(&workers) && f64::from(workers) <= plan.least + 1e-6),
            None => prop_assert!(plan.least < 2.0),
        }
        for chance in [plan.operation.chance_minute_over_rpm, plan.operation.chance_minute_over_tpm].into_iter().flatten() {
            prop_assert!((0.0..=1.0).contains(&chance));
        }
    }

    #[test]
    fn more_quota_never_lowers_the_plan(input in inputs(), factor in 1.0..10.0_f64) {
        prop_assert!(planned(&with_quota(&input, factor)).least >= planned(&input).least - 1e-9);
    }

    #[test]
    fn more_headroom_others_or_retries_never_raise_it(input in inputs()) {
        let before = planned(&input).least;
        let mut changed = input;
        changed.policy.headroom += (1.0 - changed.policy.headroom) / 2.0;
        prop_assert!(planned(&changed).least <= before + 1e-9);
        let mut changed = input;
        changed.policy.others_tpm += 1000.0;
        prop_assert!(planned(&changed).least <= before + 1e-9);
        let mut changed = input;
        changed.worker.attempts_per_call += 1.0;
        prop_assert!(planned(&changed).least <= before + 1e-9);
    }

    #[test]
    fn at_the_recommendation_the_quota_holds(input in inputs()) {
        let plan = planned(&input);
        let Quota::Runtime { rpm, tpm } = input.quota else { unreachable!() };
        if plan.recommended.is_some() {
            let at = plan.operation;
            prop_assert!(at.tpm_used <= tpm.unwrap() * (1.0 + 1e-6) && at.held_tpm <= tpm.unwrap() * (1.0 + 1e-6));
            prop_assert!(rpm.is_none_or(|rpm| at.rpm_used <= rpm * (1.0 + 1e-6)));
        }
    }

    #[test]
    fn the_quota_for_a_number_of_workers_carries_them(input in inputs(), workers in 2.0..500.0_f64) {
        let need = quota_for(workers, &input);
        let Quota::Runtime { rpm, .. } = input.quota else { unreachable!() };
        let quota = Quota::Runtime { rpm: rpm.and(need.rpm), tpm: need.tpm };
        let least = planned(&PlanInput { quota, ..input }).least;
        prop_assert!(least >= workers * (1.0 - 1e-9), "{least} of {workers}");
    }

    #[test]
    fn what_follows_from_a_plan_is_finite(input in inputs()) {
        let plan = planned(&input);
        let advice = advise(&plan, &input, &Workload::default(), None, None);
        prop_assert!(advice.admission.reserve.is_finite() && advice.admission.settle > 0.0);
        prop_assert!(advice.semaphore_per_worker.is_none_or(|calls| calls >= 1 && calls <= plan.derived.in_flight_per_worker));
        prop_assert!(sensitivity(&input).iter().all(|variation| variation.least.is_finite()));
    }
}
