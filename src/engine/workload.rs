//! One pipeline, described: model and route, traffic, worker, timeouts, policy.
//!
//! Every field is an optional [`Fact`]: a workload is filled from flags, a file, a snapshot or live AWS, in that order of
//! precedence, and what is still empty at the end is said to be missing. Which fields exist is data ([`fields::FIELDS`]).

pub mod fields;

use super::concurrency::Start;
use super::fact::{Fact, Source};
use super::model_id::Endpoint;

/// One pipeline.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Workload {
    pub name: Option<Fact<String>>,
    /// As the code passes it: its prefix is the route.
    pub model: Option<Fact<String>>,
    pub region: Option<Fact<String>>,
    pub endpoint: Option<Fact<Endpoint>>,
    pub quotas: Quotas,
    pub call: Call,
    pub worker: WorkerFacts,
    pub policy: PolicyFacts,
    pub pipeline: Pipeline,
    pub arrivals: Arrivals,
}

/// Quotas; an inner `None` is "the account has no such row".
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Quotas {
    pub rpm: Option<Fact<Option<f64>>>,
    pub tpm: Option<Fact<Option<f64>>>,
    pub input_tpm: Option<Fact<Option<f64>>>,
    pub output_tpm: Option<Fact<Option<f64>>>,
}

/// A quantity, as far as it is known.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Quantity {
    pub mean: Option<Fact<f64>>,
    pub p50: Option<Fact<f64>>,
    pub p90: Option<Fact<f64>>,
    pub p99: Option<Fact<f64>>,
    pub max: Option<Fact<f64>>,
}

/// One call to the model.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Call {
    pub latency_s: Quantity,
    pub input_tokens: Quantity,
    pub cache_write_tokens: Quantity,
    pub cache_read_tokens: Quantity,
    pub output_tokens: Quantity,
    pub max_tokens: Option<Fact<f64>>,
    pub burndown: Option<Fact<f64>>,
}

/// One worker.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct WorkerFacts {
    pub batch_size: Option<Fact<f64>>,
    pub parallel_calls: Option<Fact<f64>>,
    pub calls_per_message: Option<Fact<f64>>,
    pub attempts_per_call: Option<Fact<f64>>,
    pub overhead_s: Option<Fact<f64>>,
}

/// What the plan leaves free.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PolicyFacts {
    pub headroom: Option<Fact<f64>>,
    pub start: Option<Fact<Start>>,
    pub others_rpm: Option<Fact<f64>>,
    pub others_tpm: Option<Fact<f64>>,
    pub others_output_tpm: Option<Fact<f64>>,
    pub tested_in_flight: Option<Fact<f64>>,
    pub reserve_cache_reads: Option<Fact<bool>>,
    pub throttle_risk: Option<Fact<f64>>,
}

/// What is deployed.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Pipeline {
    pub visibility_timeout_s: Option<Fact<f64>>,
    pub lambda_timeout_s: Option<Fact<f64>>,
    pub read_timeout_s: Option<Fact<f64>>,
    pub client_attempts: Option<Fact<f64>>,
    pub max_receive_count: Option<Fact<f64>>,
    pub report_batch_item_failures: Option<Fact<bool>>,
    pub maximum_concurrency: Option<Fact<f64>>,
    pub reserved_concurrency: Option<Fact<f64>>,
}

/// The traffic.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Arrivals {
    pub messages_per_min: Option<Fact<f64>>,
    /// Messages that are there at once.
    pub burst: Option<Fact<f64>>,
}

impl Quantity {
    fn parts_mut(&mut self) -> [(&'static str, &mut Option<Fact<f64>>); 5] {
        [
            ("mean", &mut self.mean),
            ("p50", &mut self.p50),
            ("p90", &mut self.p90),
            ("p99", &mut self.p99),
            ("max", &mut self.max),
        ]
    }

    /// The parts that are known, smallest rank first; the mean is apart.
    pub fn ranks(&self) -> impl Iterator<Item = (&'static str, &Fact<f64>)> {
        [("p50", &self.p50), ("p90", &self.p90), ("p99", &self.p99), ("max", &self.max)]
            .into_iter()
            .filter_map(|(name, fact)| Some((name, fact.as_ref()?)))
    }

    pub fn is_empty(&self) -> bool {
        self.mean.is_none() && self.ranks().next().is_none()
    }

    /// Sets a part by its name: `mean`, `p50`, `p90`, `p99` or `max`.
    pub fn set(&mut self, part: &str, fact: Fact<f64>) {
        if let Some((_, slot)) = self.parts_mut().into_iter().find(|(name, _)| *name == part) {
            *slot = Some(fact);
        }
    }

    /// Fills the parts that are empty here.
    pub fn fill(&mut self, mut from: Self) {
        for ((_, slot), (_, other)) in self.parts_mut().into_iter().zip(from.parts_mut()) {
            fill(slot, other.take());
        }
    }

    /// The first contradiction among the parts: one that should not exceed another, and does.
    pub fn contradiction(&self) -> Option<Contradiction<'_>> {
        let ranks: Vec<_> = self.ranks().collect();
        for pair in ranks.windows(2) {
            if let [(low_name, low), (high_name, high)] = pair
                && low.value > high.value
            {
                return Some(Contradiction { low: (low_name, low), high: (high_name, high) });
            }
        }
        let mean = self.mean.as_ref()?;
        let max = self.max.as_ref().filter(|max| mean.value > max.value).map(|max| ("max", max));
        // A mean above the 99th percentile takes a tail that no call latency or token count has; it is a mix-up.
        let p99 = self.p99.as_ref().filter(|p99| mean.value > p99.value).map(|p99| ("p99", p99));
        p99.or(max).map(|high| Contradiction { low: ("mean", mean), high })
    }
}

/// Two parts of a quantity in the wrong order.
#[derive(Clone, Debug, PartialEq)]
pub struct Contradiction<'a> {
    pub low: (&'static str, &'a Fact<f64>),
    pub high: (&'static str, &'a Fact<f64>),
}

fn fill<T>(slot: &mut Option<T>, from: Option<T>) {
    if slot.is_none() {
        *slot = from;
    }
}

impl Workload {
    /// Fills what is empty here from a source of lower precedence.
    pub fn fill(&mut self, from: Self) {
        fill(&mut self.name, from.name);
        fill(&mut self.model, from.model);
        fill(&mut self.region, from.region);
        fill(&mut self.endpoint, from.endpoint);
        fill(&mut self.quotas.rpm, from.quotas.rpm);
        fill(&mut self.quotas.tpm, from.quotas.tpm);
        fill(&mut self.quotas.input_tpm, from.quotas.input_tpm);
        fill(&mut self.quotas.output_tpm, from.quotas.output_tpm);
        self.call.fill(from.call);
        let (worker, other) = (&mut self.worker, from.worker);
        fill(&mut worker.batch_size, other.batch_size);
        fill(&mut worker.parallel_calls, other.parallel_calls);
        fill(&mut worker.calls_per_message, other.calls_per_message);
        fill(&mut worker.attempts_per_call, other.attempts_per_call);
        fill(&mut worker.overhead_s, other.overhead_s);
        let (policy, other) = (&mut self.policy, from.policy);
        fill(&mut policy.headroom, other.headroom);
        fill(&mut policy.start, other.start);
        fill(&mut policy.others_rpm, other.others_rpm);
        fill(&mut policy.others_tpm, other.others_tpm);
        fill(&mut policy.others_output_tpm, other.others_output_tpm);
        fill(&mut policy.tested_in_flight, other.tested_in_flight);
        fill(&mut policy.reserve_cache_reads, other.reserve_cache_reads);
        fill(&mut policy.throttle_risk, other.throttle_risk);
        let (pipeline, other) = (&mut self.pipeline, from.pipeline);
        fill(&mut pipeline.visibility_timeout_s, other.visibility_timeout_s);
        fill(&mut pipeline.lambda_timeout_s, other.lambda_timeout_s);
        fill(&mut pipeline.read_timeout_s, other.read_timeout_s);
        fill(&mut pipeline.client_attempts, other.client_attempts);
        fill(&mut pipeline.max_receive_count, other.max_receive_count);
        fill(&mut pipeline.report_batch_item_failures, other.report_batch_item_failures);
        fill(&mut pipeline.maximum_concurrency, other.maximum_concurrency);
        fill(&mut pipeline.reserved_concurrency, other.reserved_concurrency);
        fill(&mut self.arrivals.messages_per_min, from.arrivals.messages_per_min);
        fill(&mut self.arrivals.burst, from.arrivals.burst);
    }

    /// Every number that is there, with the section and name of its field; the parts of a quantity each under its name.
    pub fn numbers(&self) -> Vec<(&'static str, &'static str, f64, &Source)> {
        let (call, worker, policy) = (&self.call, &self.worker, &self.policy);
        let mut numbers = Vec::new();
        for (name, quantity) in [
            ("latency_s", &call.latency_s),
            ("input_tokens", &call.input_tokens),
            ("cache_write_tokens", &call.cache_write_tokens),
            ("cache_read_tokens", &call.cache_read_tokens),
            ("output_tokens", &call.output_tokens),
        ] {
            let parts = quantity.mean.iter().chain(quantity.ranks().map(|(_, fact)| fact));
            numbers.extend(parts.map(|fact| ("call", name, fact.value, &fact.source)));
        }
        for (section, name, fact) in [
            ("call", "max_tokens", &call.max_tokens),
            ("call", "burndown", &call.burndown),
            ("worker", "batch_size", &worker.batch_size),
            ("worker", "parallel_calls", &worker.parallel_calls),
            ("worker", "calls_per_message", &worker.calls_per_message),
            ("worker", "attempts_per_call", &worker.attempts_per_call),
            ("worker", "overhead_s", &worker.overhead_s),
            ("policy", "headroom", &policy.headroom),
            ("policy", "others_rpm", &policy.others_rpm),
            ("policy", "others_tpm", &policy.others_tpm),
            ("policy", "others_output_tpm", &policy.others_output_tpm),
            ("policy", "tested_in_flight", &policy.tested_in_flight),
            ("policy", "throttle_risk", &policy.throttle_risk),
            ("pipeline", "visibility_timeout_s", &self.pipeline.visibility_timeout_s),
            ("pipeline", "lambda_timeout_s", &self.pipeline.lambda_timeout_s),
            ("pipeline", "read_timeout_s", &self.pipeline.read_timeout_s),
            ("pipeline", "client_attempts", &self.pipeline.client_attempts),
            ("pipeline", "max_receive_count", &self.pipeline.max_receive_count),
            ("pipeline", "maximum_concurrency", &self.pipeline.maximum_concurrency),
            ("pipeline", "reserved_concurrency", &self.pipeline.reserved_concurrency),
            ("arrivals", "messages_per_min", &self.arrivals.messages_per_min),
            ("arrivals", "burst", &self.arrivals.burst),
        ] {
            numbers.extend(fact.iter().map(|fact| (section, name, fact.value, &fact.source)));
        }
        let quotas = &self.quotas;
        for (name, fact) in
            [("rpm", &quotas.rpm), ("tpm", &quotas.tpm), ("input_tpm", &quotas.input_tpm), ("output_tpm", &quotas.output_tpm)]
        {
            numbers.extend(fact.iter().filter_map(|fact| Some(("quotas", name, fact.value?, &fact.source))));
        }
        numbers
    }

    /// The effective endpoint: bedrock-runtime unless said otherwise.
    pub fn endpoint_or_default(&self) -> Endpoint {
        self.endpoint.as_ref().map_or(Endpoint::BedrockRuntime, |fact| fact.value)
    }
}

impl Call {
    /// Fills quantities whose mean is not known here, and the limits. Where it is, the percentiles of the other source are
    /// not taken: the mean of one and the percentile of the other belong to no distribution.
    pub fn fill(&mut self, from: Self) {
        for (own, other) in [
            (&mut self.latency_s, from.latency_s),
            (&mut self.input_tokens, from.input_tokens),
            (&mut self.cache_write_tokens, from.cache_write_tokens),
            (&mut self.cache_read_tokens, from.cache_read_tokens),
            (&mut self.output_tokens, from.output_tokens),
        ] {
            if own.mean.is_none() {
                own.fill(other);
            }
        }
        fill(&mut self.max_tokens, from.max_tokens);
        fill(&mut self.burndown, from.burndown);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fact(value: f64) -> Option<Fact<f64>> {
        Some(Fact::new(value, Source::Default("test")))
    }

    #[test]
    fn a_quantity_in_the_wrong_order_is_a_contradiction() {
        let ok = Quantity { mean: fact(4.0), p50: fact(3.0), p99: fact(9.0), max: fact(9.0), ..Quantity::default() };
        assert_eq!(ok.contradiction(), None);
        let ranks = Quantity { p50: fact(5.0), p99: fact(4.0), ..Quantity::default() };
        assert_eq!(ranks.contradiction().map(|found| (found.low.0, found.high.0)), Some(("p50", "p99")));
        let mean = Quantity { mean: fact(9.5), p99: fact(9.0), max: fact(20.0), ..Quantity::default() };
        assert_eq!(mean.contradiction().map(|found| (found.low.0, found.high.0)), Some(("mean", "p99")));
    }

    #[test]
    fn higher_precedence_keeps_its_values() {
        let mut flags = Workload::default();
        flags.call.latency_s.mean = fact(2.0);
        let mut file = Workload::default();
        file.call.latency_s = Quantity { mean: fact(4.5), p99: fact(9.0), ..Quantity::default() };
        file.call.max_tokens = fact(500.0);
        flags.fill(file);
        assert_eq!(flags.call.latency_s.mean, fact(2.0));
        assert_eq!(flags.call.latency_s.p99, None, "the p99 of another mean");
        assert_eq!(flags.call.max_tokens, fact(500.0));
    }

    #[test]
    fn a_percentile_alone_takes_the_mean_from_the_next_source() {
        let mut given = Call::default();
        given.latency_s.p99 = fact(8.0);
        let mut measured = Call::default();
        measured.latency_s = Quantity { mean: fact(4.5), p99: fact(9.0), ..Quantity::default() };
        measured.output_tokens.mean = fact(150.0);
        given.fill(measured);
        assert_eq!((given.latency_s.mean, given.latency_s.p99), (fact(4.5), fact(8.0)));
        assert_eq!(given.output_tokens.mean, fact(150.0));
    }
}
