//! The mapping's batches.

use super::draft::{number, round_up, s};
use super::{Need, Rule};
use crate::engine::chain::{Chain, Context};
use crate::engine::finding::{Finding, Severity};

pub(super) const BATCH_EXCEEDS_TIMEOUT: Rule = Rule {
    id: "batch-exceeds-function-timeout",
    severity: Severity::Error,
    summary: "a batch of slowest calls takes longer than the function may run: T < ceil(B x c / p) x X + B x o",
    why: "A full batch of slow calls cannot be finished: the function dies, and the whole batch comes back and is paid for again.",
    remedy: "Make batches smaller, make more calls at a time, or raise T.",
    stronger: &[],
    needs: Need::SlowestCall,
    check: Some(batch_exceeds),
};

pub(super) const PARTIAL_RESPONSE_MISSING: Rule = Rule {
    id: "partial-batch-response-missing",
    severity: Severity::Warning,
    summary: "batches of more than one message without ReportBatchItemFailures",
    why: "One message that fails brings the whole batch back: its other calls are made, and paid for, again.",
    remedy: "Set FunctionResponseTypes to ReportBatchItemFailures, and return the ids of failed messages as `batchItemFailures`.",
    stronger: &[],
    needs: Need::Nothing,
    check: Some(partial_response),
};

pub(super) const WINDOW_MISSING: Rule = Rule {
    id: "batch-window-missing",
    severity: Severity::Error,
    summary: "a batch of more than 10 messages without a batch window of at least 1 s",
    why: "Lambda refuses the mapping.",
    remedy: "Set MaximumBatchingWindowInSeconds to 1 or more, or BatchSize to 10 or less.",
    stronger: &["fifo-batch-too-large"],
    needs: Need::Nothing,
    check: Some(window_missing),
};

pub(super) const FIFO_TOO_LARGE: Rule = Rule {
    id: "fifo-batch-too-large",
    severity: Severity::Error,
    summary: "a FIFO queue with batches of more than 10, or with a batch window",
    why: "A FIFO queue hands out 10 messages at most, and takes no window: Lambda refuses the mapping.",
    remedy: "Set BatchSize to 10 or less, and no window.",
    stronger: &[],
    needs: Need::Nothing,
    check: Some(fifo),
};

fn batch_exceeds(chain: &Chain<'_>, context: &Context<'_>) -> Vec<Finding> {
    let (Some(function), Some(mapping), Some(slowest)) = (chain.function.get(), chain.mapping, &context.slowest_call_s) else {
        return Vec::new();
    };
    let (Some(t), Some(rounds)) = (function.timeout_s.value(), chain.rounds(context)) else { return Vec::new() };
    let needed = rounds.mul_add(slowest.value, chain.overhead_s(context));
    if t >= needed {
        return Vec::new();
    }
    let p = chain.parallel_calls(context);
    let batch = chain.batch_size().unwrap_or(1.0);
    let message = format!(
        "`{}` may run {}, and a batch of {} message{} at {} call{} a time takes {} in its slowest calls",
        function.name,
        s(t),
        number(batch),
        if batch == 1.0 { "" } else { "s" },
        number(p),
        if p == 1.0 { "" } else { "s" },
        s(needed)
    );
    let fits = (t / slowest.value).floor() * p / context.calls_per_message;
    let suggestion = if fits >= 1.0 {
        format!("set the batch size to {} or less, or the function timeout to {}", number(fits.floor()), s(round_up(needed)))
    } else {
        format!("set the function timeout to {} or more", s(round_up(needed)))
    };
    vec![
        BATCH_EXCEEDS_TIMEOUT
            .finding(chain, message)
            .value(&function.timeout_s, function.place.as_ref(), format!("function timeout {}", s(t)))
            .value(&mapping.batch_size, mapping.place.as_ref(), format!("batch size {}", number(batch)))
            .suggest(suggestion),
    ]
}

fn partial_response(chain: &Chain<'_>, _: &Context<'_>) -> Vec<Finding> {
    let Some(mapping) = chain.mapping else { return Vec::new() };
    let Some(batch) = mapping.batch_size.value().filter(|&batch| batch > 1.0) else { return Vec::new() };
    let set = &mapping.report_batch_item_failures;
    if set.why_unresolved().is_some() || set.value() == Some(true) {
        return Vec::new();
    }
    let of = mapping.batch_size.fact().map(|fact| super::draft::from(&fact.source)).unwrap_or_default();
    let message =
        format!("batches of {}{of} without ReportBatchItemFailures: one failure repeats the whole batch", number(batch));
    vec![
        PARTIAL_RESPONSE_MISSING
            .finding(chain, message)
            .at(mapping.place.as_ref(), "no partial batch response")
            .suggest("set FunctionResponseTypes to ReportBatchItemFailures, or the batch size to 1"),
    ]
}

fn window_missing(chain: &Chain<'_>, _: &Context<'_>) -> Vec<Finding> {
    let Some(mapping) = chain.mapping else { return Vec::new() };
    let (Some(batch), Some(window)) = (mapping.batch_size.value(), mapping.batch_window_s.value()) else { return Vec::new() };
    if batch <= 10.0 || window >= 1.0 {
        return Vec::new();
    }
    let message = format!("batches of {} need a batch window of at least 1 s, and it is {}", number(batch), s(window));
    vec![
        WINDOW_MISSING
            .finding(chain, message)
            .value(&mapping.batch_size, mapping.place.as_ref(), format!("batch size {}", number(batch)))
            .suggest("set a batch window of 1 s or more, or a batch size of 10 or less"),
    ]
}

fn fifo(chain: &Chain<'_>, _: &Context<'_>) -> Vec<Finding> {
    let Some(mapping) = chain.mapping.filter(|_| chain.is_fifo()) else { return Vec::new() };
    let batch = mapping.batch_size.value().filter(|&batch| batch > 10.0);
    let window = mapping.batch_window_s.value().filter(|&window| window > 0.0);
    let finding = |message: String| FIFO_TOO_LARGE.finding(chain, message);
    match (batch, window) {
        (Some(batch), _) => vec![
            finding(format!("a FIFO queue hands out 10 messages at most, and the batch size is {}", number(batch)))
                .value(&mapping.batch_size, mapping.place.as_ref(), format!("batch size {}", number(batch)))
                .suggest("set the batch size to 10 or less"),
        ],
        (None, Some(window)) => vec![
            finding(format!("a FIFO queue takes no batch window, and it is {}", s(window)))
                .value(&mapping.batch_window_s, mapping.place.as_ref(), format!("batch window {}", s(window)))
                .suggest("remove the batch window"),
        ],
        (None, None) => Vec::new(),
    }
}
