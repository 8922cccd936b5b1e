//! What follows from a plan for the rest of the pipeline: throughput, backlog, deployed settings, daily quota, and the
//! evidence of throttled minutes.

use super::concurrency::sensitivity::{QuotaNeed, quota_for};
use super::concurrency::{LEAST_MAXIMUM_CONCURRENCY, Plan, PlanInput, Quota};
use super::fact::{Fact, Source};
use super::identity::Identity;
use super::observed::{Rows, Traffic, daily_allowance};
use super::quota_match::Row;
use super::usage::ThrottleEvidence;
use super::workload::Workload;

/// Everything that goes with a plan.
#[derive(Clone, Debug, PartialEq)]
pub struct Advice {
    /// Limits for a limiter that all callers of the quota share.
    pub admission: Admission,
    /// Calls that one worker may have in flight, so that all together stay within the limit.
    pub semaphore_per_worker: Option<u32>,
    pub arrivals: Option<ArrivalsAdvice>,
    /// Seconds until a backlog is done, steady arrivals going on; `None` without a backlog, infinite where it never ends.
    pub backlog: Option<Backlog>,
    pub deployed: Option<Deployed>,
    pub day: Option<Day>,
    /// Quotas that two workers would take, where fewer are allowed.
    pub for_minimum: Option<QuotaNeed>,
    /// The largest `max_tokens` from which a smaller one frees nothing: where R falls to S.
    pub max_tokens_frees_above: Option<f64>,
}

/// What a shared limiter is set to: requests and tokens per minute, and what a call takes at first and at last.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Admission {
    pub rpm: Option<f64>,
    pub tpm: Option<f64>,
    pub output_tpm: Option<f64>,
    pub reserve: f64,
    pub settle: f64,
}

/// Steady arrivals against the plan.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ArrivalsAdvice {
    pub messages_per_min: f64,
    pub capacity_per_min: f64,
    /// Workers that the arrivals keep busy, by Little's law: *arrival rate × time in service*.
    pub workers_busy: f64,
    pub keeps_up: bool,
    /// Quotas that it would take to keep up.
    pub needs: QuotaNeed,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Backlog {
    pub messages: f64,
    /// `None`: arrivals come faster than the plan works.
    pub drain_s: Option<f64>,
}

/// What is deployed against the plan.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Deployed {
    pub maximum_concurrency: Option<f64>,
    pub reserved_concurrency: Option<f64>,
    /// Calls that the deployed workers may have in flight.
    pub offered: Option<f64>,
    /// Calls that the plan's binding limit allows.
    pub allowed: f64,
    /// A semaphore per worker that keeps the deployed workers within the limit; 0: there is none.
    pub semaphore: Option<f64>,
    /// Whether the function's reserved concurrency is below the recommendation.
    pub reserved_too_small: bool,
}

/// A day at the plan's rate against the model's daily quota.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Day {
    pub tokens: f64,
    pub allowance: f64,
    /// Hours until the allowance is used up, where it does not last the day.
    pub lasts_h: Option<f64>,
}

/// Works out what follows from a plan.
pub fn advise(plan: &Plan, input: &PlanInput, workload: &Workload, rows: Option<&Rows>, identity: Option<&Identity>) -> Advice {
    let at = plan.recommended.map(|_| plan.operation);
    let f = f64::from(plan.derived.in_flight_per_worker);
    let allowed = (plan.least * f + 1e-9).floor();
    let rate = at.map_or(0.0, |at| at.messages_per_min);
    let arriving = workload.arrivals.messages_per_min.as_ref().map(|fact| fact.value);
    let arrivals = arriving.map(|messages_per_min| {
        let workers_busy = messages_per_min * plan.derived.invocation_s / (60.0 * f64::from(input.worker.batch_size));
        let needed = workers_busy.ceil().max(f64::from(LEAST_MAXIMUM_CONCURRENCY));
        ArrivalsAdvice {
            messages_per_min,
            capacity_per_min: rate,
            workers_busy,
            keeps_up: messages_per_min <= rate,
            needs: quota_for(needed, input),
        }
    });
    let backlog = workload.arrivals.burst.as_ref().map(|burst| Backlog {
        messages: burst.value,
        drain_s: (rate > arriving.unwrap_or(0.0)).then(|| burst.value / (rate - arriving.unwrap_or(0.0)) * 60.0),
    });
    Advice {
        admission: admission(plan, input),
        semaphore_per_worker: plan
            .recommended
            .map(|workers| floor(allowed / f64::from(workers)).min(plan.derived.in_flight_per_worker)),
        arrivals,
        backlog,
        deployed: deployed(plan, workload, f, allowed),
        day: day(at.map(|at| at.tpm_used), rows, identity),
        for_minimum: plan.recommended.is_none().then(|| quota_for(f64::from(LEAST_MAXIMUM_CONCURRENCY), input)),
        max_tokens_frees_above: match input.quota {
            Quota::Runtime { .. } => Some(plan.derived.settled_tokens - plan.derived.reserved_tokens + input.tokens.max_tokens),
            Quota::Mantle { .. } => None,
        },
    }
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a number of calls, at most what 1,000 workers have"
)]
fn floor(calls: f64) -> u32 {
    (calls + 1e-9).floor().max(1.0) as u32
}

fn admission(plan: &Plan, input: &PlanInput) -> Admission {
    let policy = &input.policy;
    let kept = 1.0 - policy.headroom;
    let after = |quota: Option<f64>, others: f64| quota.map(|quota| (quota * kept - others).max(0.0));
    let (rpm, tpm, output_tpm) = match input.quota {
        Quota::Runtime { rpm, tpm } => (after(rpm, policy.others_rpm), after(tpm, policy.others_tpm), None),
        Quota::Mantle { input_tpm, output_tpm } => {
            (None, after(input_tpm, policy.others_tpm), after(output_tpm, policy.others_output_tpm))
        }
    };
    Admission { rpm, tpm, output_tpm, reserve: plan.derived.reserved_tokens, settle: plan.derived.settled_tokens }
}

fn deployed(plan: &Plan, workload: &Workload, f: f64, allowed: f64) -> Option<Deployed> {
    let maximum = workload.pipeline.maximum_concurrency.as_ref().map(|fact| fact.value);
    let reserved = workload.pipeline.reserved_concurrency.as_ref().map(|fact| fact.value);
    if maximum.is_none() && reserved.is_none() {
        return None;
    }
    let offered = maximum.map(|maximum| maximum * f);
    let semaphore = maximum.filter(|maximum| maximum * f > allowed).map(|maximum| (allowed / maximum).floor());
    let reserved_too_small =
        reserved.zip(plan.recommended).is_some_and(|(reserved, recommended)| reserved < f64::from(recommended));
    Some(Deployed {
        maximum_concurrency: maximum,
        reserved_concurrency: reserved,
        offered,
        allowed,
        semaphore,
        reserved_too_small,
    })
}

fn day(tpm: Option<f64>, rows: Option<&Rows>, identity: Option<&Identity>) -> Option<Day> {
    let Row::Listed(row) = &rows?.tokens_per_day else { return None };
    let (allowance, tokens) = (daily_allowance(row, identity?)?, tpm? * 1440.0);
    let lasts_h = (tokens > allowance).then(|| 24.0 * allowance / tokens);
    Some(Day { tokens, allowance, lasts_h })
}

/// Which quotas throttled minutes prove to be smaller than applied.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ceiling {
    pub evidence: ThrottleEvidence,
    /// The ceiling, where it is below the applied quota.
    pub rpm: Option<f64>,
    pub tpm: Option<f64>,
}

/// The evidence of a window against applied quotas; `None` where no minute was throttled.
pub fn ceiling(traffic: &Traffic, workload: &Workload) -> Option<Ceiling> {
    let evidence = traffic.evidence?;
    let below = |ceiling: Option<f64>, quota: &Option<Fact<Option<f64>>>| {
        // Where the account has no such row there is no such limit, and the observation is of the other one.
        ceiling.filter(|&ceiling| quota.as_ref().and_then(|fact| fact.value).is_some_and(|quota| ceiling < quota))
    };
    Some(Ceiling {
        evidence,
        rpm: below(evidence.ceiling_rpm, &workload.quotas.rpm),
        tpm: below(evidence.ceiling_tpm, &workload.quotas.tpm),
    })
}

/// Plans on the ceiling instead of the applied quota, where it is below.
pub fn use_ceiling(workload: &mut Workload, ceiling: &Ceiling, window: &str) {
    let replace = |quota: &mut Option<Fact<Option<f64>>>, ceiling: Option<f64>, what: &str| {
        if let Some(ceiling) = ceiling {
            let source = format!("observed ceiling: most {what} accepted in a throttled minute, {window}");
            *quota = Some(Fact::new(Some(ceiling), Source::Derived(source)));
        }
    };
    replace(&mut workload.quotas.rpm, ceiling.rpm, "requests");
    replace(&mut workload.quotas.tpm, ceiling.tpm, "settled tokens");
}

#[cfg(test)]
mod tests {
    use super::super::concurrency::tests::image;
    use super::super::concurrency::{PlanInput, plan};
    use super::*;

    fn flag(value: f64) -> Option<Fact<f64>> {
        Some(Fact::new(value, Source::flag("x")))
    }

    fn advice(input: &PlanInput, workload: &Workload) -> Advice {
        advise(&plan(input).unwrap(), input, workload, None, None)
    }

    #[test]
    fn a_backlog_drains_at_what_the_plan_has_left() {
        let mut workload = Workload::default();
        workload.arrivals.burst = flag(300.0);
        // 5 workers of 4.5 s do 66.67 a minute: 300 take 270 s.
        let drained = advice(&image(), &workload).backlog.unwrap().drain_s.unwrap();
        assert!((drained - 270.0).abs() < 1e-6);
        workload.arrivals.messages_per_min = flag(60.0);
        let beside = advice(&image(), &workload);
        assert!((beside.backlog.unwrap().drain_s.unwrap() - 2700.0).abs() < 1e-6);
        // By Little's law 60 a minute of 4.5 s keep 4.5 workers busy.
        assert!((beside.arrivals.unwrap().workers_busy - 4.5).abs() < 1e-9);
        assert!(beside.arrivals.unwrap().keeps_up);
        workload.arrivals.messages_per_min = flag(67.0);
        let over = advice(&image(), &workload);
        assert_eq!((over.backlog.unwrap().drain_s, over.arrivals.unwrap().keeps_up), (None, false));
        assert!(over.arrivals.unwrap().needs.tpm.unwrap() > 200_000.0);
    }

    #[test]
    fn ten_workers_of_four_calls_before_a_limit_of_25_get_a_semaphore_of_two() {
        let mut input = image();
        input.quota = Quota::Runtime { rpm: Some(10_000.0), tpm: Some(20_000_000.0) };
        input.worker.batch_size = 4;
        input.worker.parallel_calls = 4;
        input.policy.tested_in_flight = Some(25.0);
        let mut workload = Workload::default();
        workload.pipeline.maximum_concurrency = flag(10.0);
        workload.pipeline.reserved_concurrency = flag(5.0);
        let advice = advice(&input, &workload);
        let deployed = advice.deployed.unwrap();
        assert_eq!((deployed.offered, deployed.allowed, deployed.semaphore), (Some(40.0), 25.0, Some(2.0)));
        assert!(deployed.reserved_too_small, "6 are recommended");
        assert_eq!(advice.semaphore_per_worker, Some(4));
    }

    #[test]
    fn a_smaller_limit_frees_nothing_below_output_times_burndown() {
        // S = 1617 + 750, R = 1617 + max_tokens: equal at 750.
        assert_eq!(advice(&image(), &Workload::default()).max_tokens_frees_above, Some(750.0));
    }

    #[test]
    fn throttled_minutes_lower_the_quota_they_prove() {
        let evidence = ThrottleEvidence { minutes: 3, throttles: 90.0, ceiling_rpm: Some(180.0), ceiling_tpm: Some(900_000.0) };
        let quota = |value| Some(Fact::new(value, Source::flag("x")));
        let mut workload = Workload::default();
        workload.quotas.rpm = quota(Some(200.0));
        workload.quotas.tpm = quota(Some(200_000.0));
        let traffic = Traffic {
            window: "14 d".into(),
            own: None,
            others: Vec::new(),
            asked: Vec::new(),
            minutes: Vec::new(),
            peak_rpm: None,
            peak_tpm: None,
            others_rpm: None,
            others_tpm: None,
            evidence: Some(evidence),
            partial: false,
            all_asked: true,
        };
        let found = ceiling(&traffic, &workload).unwrap();
        assert_eq!((found.rpm, found.tpm), (Some(180.0), None));
        let mut without_row = workload.clone();
        without_row.quotas.rpm = quota(None);
        assert_eq!(ceiling(&traffic, &without_row).unwrap().rpm, None);
        use_ceiling(&mut workload, &found, "14 d");
        assert_eq!(workload.quotas.rpm.unwrap().value, Some(180.0));
        assert_eq!(workload.quotas.tpm.unwrap().value, Some(200_000.0));
    }
}
