//! M, reserved concurrency, and the plan.

use super::draft::number;
use super::{Need, Rule};
use crate::engine::chain::{Chain, Context};
use crate::engine::concurrency::{LARGEST_MAXIMUM_CONCURRENCY, LEAST_MAXIMUM_CONCURRENCY};
use crate::engine::finding::{Finding, Severity};

pub(super) const MISSING: Rule = Rule {
    id: "maximum-concurrency-missing",
    severity: Severity::Warning,
    summary: "a mapping in front of a model without MaximumConcurrency",
    why: "A backlog starts up to 1,000 workers, 300 more each minute: they take the model's whole quota, throttle each other and everybody else on it.",
    remedy: "Set ScalingConfig MaximumConcurrency to what `forebay plan concurrency` says.",
    stronger: &["reserved-concurrency-as-throttle"],
    needs: Need::Nothing,
    check: Some(missing),
};

pub(super) const OUT_OF_RANGE: Rule = Rule {
    id: "maximum-concurrency-out-of-range",
    severity: Severity::Error,
    summary: "MaximumConcurrency is below 2; a warning above 1,000, which needs a raised quota",
    why: "Lambda refuses the mapping.",
    remedy: "Set 2 or more. One worker at a time is a FIFO queue with one message group.",
    stronger: &[],
    needs: Need::Nothing,
    check: Some(out_of_range),
};

pub(super) const WITH_PROVISIONED: Rule = Rule {
    id: "maximum-concurrency-with-provisioned-mode",
    severity: Severity::Error,
    summary: "MaximumConcurrency and provisioned pollers are both set",
    why: "The two exclude each other: Lambda refuses the mapping.",
    remedy: "Keep MaximumConcurrency where a model's quota is behind the queue; pollers bound throughput, not workers.",
    stronger: &[],
    needs: Need::Nothing,
    check: Some(with_provisioned),
};

pub(super) const ABOVE_RESERVED: Rule = Rule {
    id: "maximum-concurrency-above-reserved",
    severity: Severity::Error,
    summary: "MaximumConcurrency is above the function's reserved concurrency",
    why: "Lambda refuses the mapping; where it already exists, polls above the reserved concurrency are throttled and use receives up.",
    remedy: "Reserve at least the sum of the maxima of all the function's SQS mappings.",
    stronger: &[],
    needs: Need::Nothing,
    check: Some(above_reserved),
};

pub(super) const RESERVED_BELOW_SUM: Rule = Rule {
    id: "reserved-below-sum-of-maxima",
    severity: Severity::Warning,
    summary: "the function's reserved concurrency is below the sum of MaximumConcurrency over its SQS mappings",
    why: "Each mapping alone is accepted, but together they poll for more workers than the function may have: throttled polls use receives up.",
    remedy: "Reserve at least the sum, or lower the maxima.",
    stronger: &["maximum-concurrency-above-reserved"],
    needs: Need::Nothing,
    check: Some(reserved_below_sum),
};

pub(super) const RESERVED_AS_THROTTLE: Rule = Rule {
    id: "reserved-concurrency-as-throttle",
    severity: Severity::Warning,
    summary: "reserved concurrency bounds the workers, and MaximumConcurrency is not set",
    why: "Pollers do not know the reserved concurrency: they take messages whose invocations are then throttled, until the visibility timeout ends and the receive has counted. Messages end up in the dead-letter queue without having run.",
    remedy: "Set MaximumConcurrency, and reserved concurrency to at least as much. A reserved concurrency of 1 has no legal maximum: use a FIFO queue with one message group.",
    stronger: &[],
    needs: Need::Nothing,
    check: Some(reserved_as_throttle),
};

pub(super) const ABOVE_PLAN: Rule = Rule {
    id: "in-flight-above-plan",
    severity: Severity::Error,
    summary: "MaximumConcurrency times the parallel calls exceeds what the plan or the load test allows",
    why: "The pipeline offers more calls at the same time than the model's quota carries: it throttles under every backlog.",
    remedy: "Lower MaximumConcurrency, or put a semaphore into each worker; more reserved concurrency only adds load.",
    stronger: &[],
    needs: Need::Plan,
    check: Some(above_plan),
};

fn missing(chain: &Chain<'_>, _: &Context<'_>) -> Vec<Finding> {
    let Some(mapping) = chain.mapping.filter(|_| chain.calls_model()) else { return Vec::new() };
    if !mapping.maximum_concurrency.is_unset() || mapping.provisioned.is_some() {
        return Vec::new();
    }
    let permission = chain.function.get().and_then(|function| function.model_permission.as_ref());
    let evidence = permission.or(chain.clients().first().map(|client| &client.place));
    let message = "nothing bounds the workers in front of the model: a backlog takes the whole quota".to_owned();
    vec![
        MISSING
            .finding(chain, message)
            .at(mapping.place.as_ref(), "no MaximumConcurrency")
            .at(evidence, "the model")
            .suggest("set MaximumConcurrency to what `forebay plan concurrency` says"),
    ]
}

fn out_of_range(chain: &Chain<'_>, _: &Context<'_>) -> Vec<Finding> {
    let Some(mapping) = chain.mapping else { return Vec::new() };
    let Some(m) = mapping.maximum_concurrency.value() else { return Vec::new() };
    let (severity, message) = if m < f64::from(LEAST_MAXIMUM_CONCURRENCY) {
        (Severity::Error, format!("MaximumConcurrency is {}, and 2 is the least", number(m)))
    } else if m > f64::from(LARGEST_MAXIMUM_CONCURRENCY) {
        (Severity::Warning, format!("MaximumConcurrency is {}: above 1000 it needs a raised Lambda quota", number(m)))
    } else {
        return Vec::new();
    };
    vec![
        OUT_OF_RANGE
            .finding(chain, message)
            .severity(severity)
            .value(&mapping.maximum_concurrency, mapping.place.as_ref(), format!("MaximumConcurrency {}", number(m)))
            .suggest("set 2 to 1000; one worker at a time is a FIFO queue with one message group"),
    ]
}

fn with_provisioned(chain: &Chain<'_>, _: &Context<'_>) -> Vec<Finding> {
    let Some(mapping) = chain.mapping else { return Vec::new() };
    let (Some(provisioned), false) = (&mapping.provisioned, mapping.maximum_concurrency.is_unset()) else { return Vec::new() };
    vec![
        WITH_PROVISIONED
            .finding(chain, "MaximumConcurrency and provisioned pollers exclude each other".to_owned())
            .value(&mapping.maximum_concurrency, mapping.place.as_ref(), "MaximumConcurrency")
            .at(Some(provisioned), "provisioned pollers")
            .suggest("remove the provisioned pollers, or MaximumConcurrency"),
    ]
}

fn above_reserved(chain: &Chain<'_>, _: &Context<'_>) -> Vec<Finding> {
    let (Some(mapping), Some(function)) = (chain.mapping, chain.function.get()) else { return Vec::new() };
    let (Some(m), Some(reserved)) = (mapping.maximum_concurrency.value(), function.reserved_concurrency.value()) else {
        return Vec::new();
    };
    if m <= reserved {
        return Vec::new();
    }
    let message = format!(
        "MaximumConcurrency is {}, and `{}` has {} reserved: Lambda refuses the mapping",
        number(m),
        function.name,
        number(reserved)
    );
    vec![
        ABOVE_RESERVED
            .finding(chain, message)
            .value(&mapping.maximum_concurrency, mapping.place.as_ref(), format!("MaximumConcurrency {}", number(m)))
            .value(&function.reserved_concurrency, function.place.as_ref(), format!("{} reserved", number(reserved)))
            .suggest(format!("reserve {} or more, or none", number(m))),
    ]
}

fn reserved_below_sum(chain: &Chain<'_>, _: &Context<'_>) -> Vec<Finding> {
    let Some(function) = chain.function.get() else { return Vec::new() };
    let Some(reserved) = function.reserved_concurrency.value() else { return Vec::new() };
    let maxima: Vec<f64> = chain.siblings.iter().filter_map(|mapping| mapping.maximum_concurrency.value()).collect();
    let sum: f64 = maxima.iter().sum();
    if maxima.len() < 2 || reserved >= sum || maxima.iter().any(|&m| m > reserved) {
        return Vec::new();
    }
    let parts = maxima.iter().map(|&m| number(m)).collect::<Vec<_>>().join(" + ");
    let message = format!(
        "`{}` has {} reserved, and its mappings may run {} workers ({parts})",
        function.name,
        number(reserved),
        number(sum)
    );
    let mut finding = RESERVED_BELOW_SUM.finding(chain, message).value(
        &function.reserved_concurrency,
        function.place.as_ref(),
        format!("{} reserved", number(reserved)),
    );
    for mapping in &chain.siblings {
        finding = finding.value(&mapping.maximum_concurrency, mapping.place.as_ref(), "MaximumConcurrency");
    }
    vec![finding.suggest(format!("reserve {} or more, or lower the maxima", number(sum)))]
}

fn reserved_as_throttle(chain: &Chain<'_>, _: &Context<'_>) -> Vec<Finding> {
    let (Some(mapping), Some(function)) = (chain.mapping, chain.function.get()) else { return Vec::new() };
    let Some(reserved) = function.reserved_concurrency.value() else { return Vec::new() };
    if !mapping.maximum_concurrency.is_unset() || mapping.provisioned.is_some() {
        return Vec::new();
    }
    let message = if reserved == 0.0 {
        format!("`{}` has 0 reserved: every invocation is throttled, and receives count up", function.name)
    } else {
        format!(
            "`{}` has {} reserved and its mapping no MaximumConcurrency: polls above it are throttled, and receives count up",
            function.name,
            number(reserved)
        )
    };
    let suggestion = if reserved < f64::from(LEAST_MAXIMUM_CONCURRENCY) {
        "set MaximumConcurrency 2 and reserve 2 or more; one worker at a time is a FIFO queue with one message group".to_owned()
    } else {
        format!("set MaximumConcurrency to {} or less", number(reserved))
    };
    vec![
        RESERVED_AS_THROTTLE
            .finding(chain, message)
            .value(&function.reserved_concurrency, function.place.as_ref(), format!("{} reserved", number(reserved)))
            .at(mapping.place.as_ref(), "no MaximumConcurrency")
            .suggest(suggestion),
    ]
}

fn above_plan(chain: &Chain<'_>, context: &Context<'_>) -> Vec<Finding> {
    let (Some(mapping), Some(allowed)) = (chain.mapping, &context.allowed_in_flight) else { return Vec::new() };
    let Some(m) = mapping.maximum_concurrency.value() else { return Vec::new() };
    let p = chain.parallel_calls(context);
    // A worker has no more calls in flight than its batch has.
    let p = chain.batch_size().map_or(p, |batch| p.min((batch * context.calls_per_message).ceil().max(1.0)));
    if m * p <= allowed.value {
        return Vec::new();
    }
    let message = format!(
        "{} workers with {} calls each offer {} calls in flight, and {} are allowed ({})",
        number(m),
        number(p),
        number(m * p),
        number(allowed.value),
        allowed.source
    );
    let fits = (allowed.value / p).floor();
    let suggestion = if fits >= f64::from(LEAST_MAXIMUM_CONCURRENCY) {
        format!("set MaximumConcurrency to {}", number(fits))
    } else {
        format!("let each worker make {} calls at a time", number((allowed.value / m).floor().max(1.0)))
    };
    vec![
        ABOVE_PLAN
            .finding(chain, message)
            .value(&mapping.maximum_concurrency, mapping.place.as_ref(), format!("MaximumConcurrency {}", number(m)))
            .suggest(suggestion),
    ]
}
