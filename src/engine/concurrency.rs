//! The concurrency plan: how many workers may run, and which limit says so.
//!
//! A plan is the least of what each limit allows. Every limit is one entry of the list that [`plan`] builds, so the table
//! that explains the answer is the computation itself; a new limit is one more entry.
//!
//! Symbols, as in `docs/mathematics.md`: RPM and TPM are applied quotas, h headroom, B batch size, c calls per message,
//! a attempts per call, p parallel calls of one worker, o overhead per message, H mean latency of one call, S and R the
//! tokens that one call settles and reserves, k = B·c·a calls per invocation, f calls that one worker has in flight at
//! most, D seconds per invocation.

pub mod operation;
pub mod sensitivity;

use std::fmt;

use serde::{Deserialize, Serialize};

use super::accounting::CallTokens;
use super::stats::{lognormal_variance, normal_tail_quantile};
use operation::Operation;

/// The least `MaximumConcurrency` of an SQS event source mapping (Lambda API, `ScalingConfig`, read 2026-10).
pub const LEAST_MAXIMUM_CONCURRENCY: u32 = 2;
/// The largest, as long as the function's own quota is not raised (same source).
pub const LARGEST_MAXIMUM_CONCURRENCY: u32 = 1000;

/// The quotas of a model, Region, endpoint and route. `None` is "the account has no such row", 0 is "blocked".
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Quota {
    Runtime { rpm: Option<f64>, tpm: Option<f64> },
    Mantle { input_tpm: Option<f64>, output_tpm: Option<f64> },
}

/// A quantity's mean and, where the spread is known, its variance.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spread {
    pub mean: f64,
    pub variance: Option<f64>,
}

impl Spread {
    /// From a mean and, where there is one, a 99th percentile, by the lognormal fit.
    pub fn fit(mean: f64, p99: Option<f64>) -> Self {
        Self { mean, variance: p99.and_then(|p99| lognormal_variance(mean, p99)) }
    }
}

/// One Lambda worker, and the work of one message.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Worker {
    pub batch_size: u32,
    /// Calls that one worker makes at the same time, at most.
    pub parallel_calls: u32,
    pub calls_per_message: f64,
    /// Mean attempts per call, 1 or more.
    pub attempts_per_call: f64,
    /// Work per message outside the call, seconds.
    pub overhead_s: f64,
}

/// Whether the plan has to carry all workers starting in one minute.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Start {
    Burst,
    Steady,
}

/// What the plan leaves free, and for whom.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Policy {
    /// Share of a quota that the plan leaves unused, 0 to below 1.
    pub headroom: f64,
    pub start: Start,
    /// Requests per minute that other traffic on the same quota needs.
    pub others_rpm: f64,
    /// Tokens per minute that other traffic needs; on bedrock-mantle, input tokens.
    pub others_tpm: f64,
    /// Output tokens per minute that other traffic needs; bedrock-mantle only.
    pub others_output_tpm: f64,
    /// Calls in flight that a load test carried.
    pub tested_in_flight: Option<f64>,
    pub reserve_cache_reads: bool,
    /// Accepted chance that a minute exceeds the quota; replaces headroom where given.
    pub throttle_risk: Option<f64>,
}

/// All that a plan is computed from, checked: means are positive, shares within their ranges.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PlanInput {
    pub quota: Quota,
    pub latency_s: Spread,
    pub tokens: CallTokens,
    /// Variance of one call's input tokens, where known.
    pub input_variance: Option<f64>,
    /// Variance of one call's output tokens, where known.
    pub output_variance: Option<f64>,
    pub burndown: f64,
    pub worker: Worker,
    pub policy: Policy,
    /// Whether a daily tokens quota is applied as 0. A larger one limits how long workers run, not how many.
    pub blocked_by_day: bool,
}

/// A limit on workers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum LimitId {
    McRpm,
    McTpm,
    McReserved,
    McBurstRpm,
    McBurstTpm,
    McItpm,
    McOtpm,
    McTested,
    McDay,
}

impl LimitId {
    /// The id in JSON and tables: `mc_rpm`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::McRpm => "mc_rpm",
            Self::McTpm => "mc_tpm",
            Self::McReserved => "mc_reserved",
            Self::McBurstRpm => "mc_burst_rpm",
            Self::McBurstTpm => "mc_burst_tpm",
            Self::McItpm => "mc_itpm",
            Self::McOtpm => "mc_otpm",
            Self::McTested => "mc_tested",
            Self::McDay => "mc_day",
        }
    }

    /// What the limit is about, in a few words.
    pub fn meaning(self) -> &'static str {
        match self {
            Self::McRpm => "requests a minute",
            Self::McTpm => "tokens a minute, settled",
            Self::McReserved => "tokens a minute, held in flight",
            Self::McBurstRpm => "requests, all workers start at once",
            Self::McBurstTpm => "tokens, all workers start at once",
            Self::McItpm => "input tokens a minute, held in flight",
            Self::McOtpm => "output tokens a minute",
            Self::McTested => "calls in flight, as load-tested",
            Self::McDay => "tokens a day, of which there are 0",
        }
    }

    /// Whether the limit comes from the requests quota.
    pub fn is_requests(self) -> bool {
        matches!(self, Self::McRpm | Self::McBurstRpm)
    }
}

impl fmt::Display for LimitId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// What one limit allows, in workers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Limit {
    pub id: LimitId,
    /// On the whole quota, nobody else on it.
    pub full: f64,
    /// After headroom and other traffic: what the plan uses.
    pub planned: f64,
}

/// The quantities of section "derived": what one worker does.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Derived {
    pub settled_tokens: f64,
    pub reserved_tokens: f64,
    pub raw_tokens: f64,
    /// k: calls per invocation, attempts counted.
    pub calls_per_invocation: f64,
    /// f: most calls that one worker has in flight.
    pub in_flight_per_worker: u32,
    /// Rounds of calls, one after the other, in one invocation.
    pub rounds: f64,
    /// D: seconds per invocation.
    pub invocation_s: f64,
}

/// The answer.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    pub derived: Derived,
    /// In the order in which ties bind.
    pub limits: Vec<Limit>,
    pub binding: LimitId,
    /// What the binding limit allows, in workers.
    pub least: f64,
    /// `MaximumConcurrency`; `None` where fewer than two workers are allowed.
    pub recommended: Option<u32>,
    /// Whether the limits allow more than the mapping can be set to.
    pub capped: bool,
    /// The pipeline at the recommendation, or at the mapping's minimum of two workers where there is none.
    pub operation: Operation,
}

/// Why there is no plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PlanError {
    #[error("no quota limits this model on this route, and no load test does: there is nothing to plan on")]
    NoLimit,
    #[error("the chance of throttling cannot be computed: the spread of {0} is not known")]
    NoSpread(&'static str),
    #[error("an accepted chance of throttling cannot be planned on bedrock-mantle: its quotas have no such model")]
    RiskOnMantle,
}

impl PlanInput {
    /// What one worker does: design section 3.2.
    pub fn derived(&self) -> Derived {
        let Worker { batch_size, parallel_calls, calls_per_message, attempts_per_call, overhead_s } = self.worker;
        let calls = f64::from(batch_size) * calls_per_message;
        let parallel = f64::from(parallel_calls);
        // A mean below one call still has one call in flight while it runs.
        let in_flight = parallel.min(ceil(calls));
        let rounds = ceil(calls / parallel);
        let mantle = matches!(self.quota, Quota::Mantle { .. });
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "between 1 and `parallel_calls`, a u32")]
        let in_flight_per_worker = in_flight as u32;
        Derived {
            // bedrock-mantle counts output against a quota of its own, without burndown.
            settled_tokens: self.tokens.settled(if mantle { 0.0 } else { self.burndown }),
            reserved_tokens: self.tokens.reserved(!mantle && self.policy.reserve_cache_reads),
            raw_tokens: self.tokens.raw(),
            calls_per_invocation: calls * attempts_per_call,
            in_flight_per_worker,
            rounds,
            invocation_s: f64::from(batch_size).mul_add(overhead_s, rounds * self.latency_s.mean),
        }
    }

    /// Variance of one invocation's duration: its rounds of calls, taken as independent.
    fn invocation_variance(&self, derived: &Derived) -> Option<f64> {
        Some(derived.rounds * self.latency_s.variance?)
    }

    /// Variance of the tokens that one call settles.
    fn settled_variance(&self) -> Option<f64> {
        Some(self.input_variance? + self.burndown * self.burndown * self.output_variance?)
    }
}

/// `ceil` that forgives the last bits of a quotient: 3 calls of 1.0 in 3 are one round.
fn ceil(x: f64) -> f64 {
    (x - 1e-9).ceil().max(1.0)
}

/// `floor` that forgives them too: a limit of 6 minus one rounding error is 6 workers.
fn floor(x: f64) -> f64 {
    (x + 1e-9).floor()
}

/// Plans: design sections 3.3 and 3.8.
///
/// # Errors
/// Where nothing limits the workload, or a chance is asked for without the spread that it takes.
pub fn plan(input: &PlanInput) -> Result<Plan, PlanError> {
    let derived = input.derived();
    let limits = limits(input, &derived)?;
    // `min_by` keeps the first of equals: ties bind in the order of the list.
    let least = limits.iter().min_by(|a, b| a.planned.total_cmp(&b.planned)).ok_or(PlanError::NoLimit)?;
    let workers = floor(least.planned);
    let largest = f64::from(LARGEST_MAXIMUM_CONCURRENCY);
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "between 2 and 1,000")]
    let recommended = (workers >= f64::from(LEAST_MAXIMUM_CONCURRENCY)).then(|| workers.min(largest) as u32);
    Ok(Plan {
        binding: least.id,
        least: least.planned,
        recommended,
        capped: workers > largest,
        operation: Operation::at(recommended.unwrap_or(LEAST_MAXIMUM_CONCURRENCY), input, &derived),
        derived,
        limits,
    })
}

fn limits(input: &PlanInput, derived: &Derived) -> Result<Vec<Limit>, PlanError> {
    let Derived { settled_tokens: s, reserved_tokens: r, calls_per_invocation: k, invocation_s: d, .. } = *derived;
    let f = f64::from(derived.in_flight_per_worker);
    let policy = &input.policy;
    // With an accepted chance of throttling there is no headroom: the chance is the margin.
    let kept = if policy.throttle_risk.is_some() { 1.0 } else { 1.0 - policy.headroom };
    let after = |quota: f64, others: f64| quota.mul_add(kept, -others).max(0.0);
    let mut limits = Vec::new();
    let mut push = |id, full: f64, planned: f64| limits.push(Limit { id, full, planned });
    match input.quota {
        Quota::Runtime { rpm, tpm } => {
            let per_minute = 60.0 * k / d;
            let held = per_minute.mul_add(s, f * (r - s).max(0.0));
            let burst_requests = f + per_minute;
            let burst_tokens = per_minute.mul_add(s, f * r.max(s));
            if let Some(rpm) = rpm {
                let planned = match policy.throttle_risk {
                    None => after(rpm, policy.others_rpm) / per_minute,
                    Some(risk) => {
                        workers_at_risk(after(rpm, policy.others_rpm), risk, per_minute, input.call_count_variance(derived))
                            .ok_or(PlanError::NoSpread("the latency"))?
                    }
                };
                push(LimitId::McRpm, rpm / per_minute, planned);
            }
            if let Some(tpm) = tpm {
                let available = after(tpm, policy.others_tpm);
                let planned = match policy.throttle_risk {
                    None => available / (per_minute * s),
                    Some(risk) => workers_at_risk(available, risk, per_minute * s, input.token_variance(derived))
                        .ok_or(PlanError::NoSpread("latency and tokens"))?,
                };
                push(LimitId::McTpm, tpm / (per_minute * s), planned);
                push(LimitId::McReserved, tpm / held, available / held);
            }
            if policy.start == Start::Burst {
                if let Some(rpm) = rpm {
                    push(LimitId::McBurstRpm, rpm / burst_requests, (rpm - policy.others_rpm).max(0.0) / burst_requests);
                }
                if let Some(tpm) = tpm {
                    push(LimitId::McBurstTpm, tpm / burst_tokens, (tpm - policy.others_tpm).max(0.0) / burst_tokens);
                }
            }
        }
        Quota::Mantle { .. } if policy.throttle_risk.is_some() => return Err(PlanError::RiskOnMantle),
        Quota::Mantle { input_tpm, output_tpm } => {
            let per_minute = 60.0 * k / d;
            if let Some(quota) = input_tpm {
                let held = per_minute.mul_add(s, f * input.tokens.max_tokens);
                push(LimitId::McItpm, quota / held, after(quota, policy.others_tpm) / held);
            }
            // A call that answers nothing is not limited by what it answers.
            if let Some(quota) = output_tpm.filter(|_| input.tokens.output > 0.0) {
                let made = per_minute * input.tokens.output;
                push(LimitId::McOtpm, quota / made, after(quota, policy.others_output_tpm) / made);
            }
        }
    }
    if let Some(tested) = policy.tested_in_flight {
        push(LimitId::McTested, tested / f, tested / f);
    }
    if input.blocked_by_day {
        push(LimitId::McDay, 0.0, 0.0);
    }
    Ok(limits)
}

/// The largest n at which a minute exceeds `available` with probability `risk`: the minute has mean m·n and variance v·n,
/// so n solves available − m·n = z·√(v·n), a quadratic in √n. For risks up to a half z is not negative, and the larger
/// root is the answer.
fn workers_at_risk(available: f64, risk: f64, mean: f64, variance: Option<f64>) -> Option<f64> {
    let spread = normal_tail_quantile(risk) * variance?.sqrt();
    if available <= 0.0 {
        return Some(0.0);
    }
    let root = (spread.mul_add(spread, 4.0 * mean * available).sqrt() - spread) / (2.0 * mean);
    Some(root * root)
}

impl PlanInput {
    /// Variance of the calls that one worker makes in a minute: 60·k²·Var(D)/D³, a renewal process's.
    fn call_count_variance(&self, derived: &Derived) -> Option<f64> {
        let k = derived.calls_per_invocation;
        Some(60.0 * k * k * self.invocation_variance(derived)? / derived.invocation_s.powi(3))
    }

    /// Variance of the tokens that one worker settles in a minute: 60·(Var(W) + (E\[W\]/D)²·Var(D))/D with W the tokens of
    /// one invocation and Var(W) = k·Var(S) (renewal reward, latency and tokens taken as independent).
    fn token_variance(&self, derived: &Derived) -> Option<f64> {
        let Derived { calls_per_invocation: k, invocation_s: d, settled_tokens: s, .. } = *derived;
        let rate = k * s / d;
        Some(60.0 * (k * self.settled_variance()? + rate * rate * self.invocation_variance(derived)?) / d)
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// One image on a 200 RPM, 200,000 TPM quota: the pipeline that the vectors begin with.
    pub(crate) fn image() -> PlanInput {
        PlanInput {
            quota: Quota::Runtime { rpm: Some(200.0), tpm: Some(200_000.0) },
            latency_s: Spread::fit(4.5, Some(9.0)),
            tokens: CallTokens { input: 1617.0, cache_write: 0.0, cache_read: 0.0, output: 150.0, max_tokens: 500.0 },
            input_variance: lognormal_variance(1617.0, 1900.0),
            output_variance: lognormal_variance(150.0, 420.0),
            burndown: 5.0,
            worker: Worker {
                batch_size: 1,
                parallel_calls: 1,
                calls_per_message: 1.0,
                attempts_per_call: 1.0,
                overhead_s: 0.0,
            },
            policy: Policy {
                headroom: 0.0,
                start: Start::Burst,
                others_rpm: 0.0,
                others_tpm: 0.0,
                others_output_tpm: 0.0,
                tested_in_flight: None,
                reserve_cache_reads: false,
                throttle_risk: None,
            },
            blocked_by_day: false,
        }
    }

    fn limit(plan: &Plan, id: LimitId) -> f64 {
        plan.limits.iter().find(|limit| limit.id == id).map(|limit| limit.planned).unwrap()
    }

    fn close(a: f64, b: f64) -> bool {
        (a - b).abs() < 1e-6 * b.abs().max(1.0)
    }

    #[test]
    fn the_image_pipeline_by_hand() {
        // S = 1617 + 5*150 = 2367, R = 1617 + 500 = 2117; mc_rpm = 200*4.5/60 = 15; mc_tpm = 200000*4.5/(60*2367);
        // burst: 200/(1 + 60/4.5) and 200000/(60*2367/4.5 + 2367).
        let plan = plan(&image()).unwrap();
        assert_eq!((plan.derived.settled_tokens, plan.derived.reserved_tokens), (2367.0, 2117.0));
        assert!(close(limit(&plan, LimitId::McRpm), 15.0));
        assert!(close(limit(&plan, LimitId::McTpm), 6.337_136));
        assert!(close(limit(&plan, LimitId::McReserved), 6.337_136));
        assert!(close(limit(&plan, LimitId::McBurstRpm), 13.953_488));
        assert!(close(limit(&plan, LimitId::McBurstTpm), 5.895_010));
        assert_eq!((plan.binding, plan.recommended), (LimitId::McBurstTpm, Some(5)));
    }

    #[test]
    fn mantle_by_hand() {
        let mut input = image();
        input.quota = Quota::Mantle { input_tpm: Some(200_000.0), output_tpm: Some(20_000.0) };
        // Input: 200000 / (60*1617/4.5 + 500) = 200000/22060; output: 20000*4.5/(60*150) = 10.
        let plan = plan(&input).unwrap();
        assert!(close(limit(&plan, LimitId::McItpm), 200_000.0 / 22_060.0));
        assert!(close(limit(&plan, LimitId::McOtpm), 10.0));
        assert_eq!((plan.binding, plan.recommended), (LimitId::McItpm, Some(9)));
    }

    #[test]
    fn an_applied_zero_blocks_and_an_absent_row_does_not() {
        let mut input = image();
        input.quota = Quota::Runtime { rpm: None, tpm: Some(0.0) };
        let blocked = plan(&input).unwrap();
        assert_eq!((blocked.recommended, blocked.least), (None, 0.0));
        assert!(blocked.limits.iter().all(|limit| !limit.id.is_requests()));
        input.quota = Quota::Runtime { rpm: None, tpm: None };
        assert_eq!(plan(&input), Err(PlanError::NoLimit));
        input.policy.tested_in_flight = Some(25.0);
        assert_eq!(plan(&input).unwrap().recommended, Some(25));
        input.blocked_by_day = true;
        let blocked = plan(&input).unwrap();
        assert_eq!((blocked.recommended, blocked.binding), (None, LimitId::McDay));
    }

    #[test]
    fn others_that_take_everything_leave_nothing() {
        let mut input = image();
        input.policy.others_tpm = 300_000.0;
        let plan = plan(&input).unwrap();
        assert_eq!((plan.least, plan.recommended), (0.0, None));
    }

    #[test]
    fn a_chance_replaces_headroom_and_is_met() {
        let mut input = image();
        input.policy.start = Start::Steady;
        input.quota = Quota::Runtime { rpm: Some(2000.0), tpm: Some(2_000_000.0) };
        input.policy.throttle_risk = Some(0.01);
        let derived = input.derived();
        let solved = plan(&input).unwrap();
        let chance = |n: u32| Operation::at(n, &input, &derived).chance_minute_over_tpm.unwrap();
        let n = solved.recommended.unwrap();
        assert!(chance(n) <= 0.01 && chance(n + 1) > 0.01, "{} {}", chance(n), chance(n + 1));
        input.policy.others_tpm = 3_000_000.0;
        assert_eq!(plan(&input).unwrap().least, 0.0, "nothing is left, whatever the chance");
        input.output_variance = None;
        assert_eq!(plan(&input), Err(PlanError::NoSpread("latency and tokens")));
        input.quota = Quota::Mantle { input_tpm: Some(1e6), output_tpm: None };
        assert_eq!(plan(&input), Err(PlanError::RiskOnMantle));
    }
}
