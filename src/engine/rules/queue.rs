//! The queue's second line of defence: receives, dead letters, retention.

use super::draft::{from, number, s};
use super::{Need, Rule};
use crate::engine::chain::{Chain, Context};
use crate::engine::finding::{Finding, Severity};

/// AWS's advice for queues that Lambda reads (Lambda Developer Guide, "Using Lambda with Amazon SQS").
const LEAST_RECEIVES: f64 = 5.0;

/// The longest that SQS keeps a message: 14 days (SQS API reference, `CreateQueue`).
const MOST_RETENTION_S: f64 = 1_209_600.0;

pub(super) const DEAD_LETTER_MISSING: Rule = Rule {
    id: "dead-letter-queue-missing",
    severity: Severity::Warning,
    summary: "the source queue has no redrive policy (a function's DeadLetterQueue is not it)",
    why: "A message that always fails is tried until its retention ends, days later: each try costs a call, and then the message is gone without a trace.",
    remedy: "Give the queue a redrive policy with a dead-letter queue that keeps messages for 14 days, and maxReceiveCount of 5 or more.",
    stronger: &[],
    needs: Need::Nothing,
    check: Some(dead_letter_missing),
};

pub(super) const RECEIVES_LOW: Rule = Rule {
    id: "max-receive-count-low",
    severity: Severity::Warning,
    summary: "maxReceiveCount is below 5; an error at 1",
    why: "Polls that Lambda throttles count as receives: good messages go to the dead-letter queue without ever having run.",
    remedy: "Set maxReceiveCount to 5 or more.",
    stronger: &[],
    needs: Need::Nothing,
    check: Some(receives_low),
};

pub(super) const RETENTION_SHORT: Rule = Rule {
    id: "retention-shorter-than-retries",
    severity: Severity::Warning,
    summary: "messages are kept for less than their receives take (retention < N x V)",
    why: "A message expires before it has used its receives: it never reaches the dead-letter queue.",
    remedy: "Raise MessageRetentionPeriod above N x V; 4 days are the default, 14 the most.",
    stronger: &[],
    needs: Need::Nothing,
    check: Some(retention_short),
};

pub(super) const DEAD_LETTER_RETENTION: Rule = Rule {
    id: "dead-letter-retention-short",
    severity: Severity::Warning,
    summary: "the dead-letter queue keeps messages no longer than the source; a note where both are defaults",
    why: "In a standard queue a message's age counts from when it was first sent: a message that fails late has little of its time left in the dead-letter queue, or none.",
    remedy: "Set the dead-letter queue's MessageRetentionPeriod to 1,209,600 s (14 days).",
    stronger: &[],
    needs: Need::Nothing,
    check: Some(dead_letter_retention),
};

fn dead_letter_missing(chain: &Chain<'_>, _: &Context<'_>) -> Vec<Finding> {
    let Some(queue) = chain.queue.get().filter(|queue| queue.redrive.is_unset()) else { return Vec::new() };
    let message = format!("`{}` has no redrive policy: a message that always fails is tried until it expires", queue.name);
    vec![
        DEAD_LETTER_MISSING
            .finding(chain, message)
            .at(queue.place.as_ref(), "no redrive policy")
            .suggest("add a dead-letter queue, with maxReceiveCount 5 or more"),
    ]
}

fn receives_low(chain: &Chain<'_>, _: &Context<'_>) -> Vec<Finding> {
    let (Some(queue), Some(redrive)) = (chain.queue.get(), chain.redrive()) else { return Vec::new() };
    let Some(n) = redrive.max_receive_count.value().filter(|&n| n < LEAST_RECEIVES) else { return Vec::new() };
    let severity = if n <= 1.0 { Severity::Error } else { Severity::Warning };
    let of = redrive.max_receive_count.fact().map(|fact| from(&fact.source)).unwrap_or_default();
    let message = format!(
        "a message of `{}` may be received {}{of}: throttled polls use receives up, and it goes to the dead-letter queue without having run",
        queue.name,
        if n == 1.0 { "once".to_owned() } else { format!("{} times", number(n)) }
    );
    vec![
        RECEIVES_LOW
            .finding(chain, message)
            .severity(severity)
            .value(&redrive.max_receive_count, queue.place.as_ref(), format!("{} receives", number(n)))
            .edit(&redrive.max_receive_count, LEAST_RECEIVES)
            .suggest("set maxReceiveCount to 5 or more"),
    ]
}

fn retention_short(chain: &Chain<'_>, _: &Context<'_>) -> Vec<Finding> {
    let (Some(queue), Some(redrive)) = (chain.queue.get(), chain.redrive()) else { return Vec::new() };
    let (Some(kept), Some(v), Some(n)) =
        (queue.retention_s.value(), queue.visibility_s.value(), redrive.max_receive_count.value())
    else {
        return Vec::new();
    };
    if kept >= n * v {
        return Vec::new();
    }
    let message = format!(
        "`{}` keeps messages for {}, and {} receives of {} each take {}",
        queue.name,
        s(kept),
        number(n),
        s(v),
        s(n * v)
    );
    vec![
        RETENTION_SHORT
            .finding(chain, message)
            .value(&queue.retention_s, queue.place.as_ref(), format!("kept for {}", s(kept)))
            .value(&queue.visibility_s, queue.place.as_ref(), format!("hidden for {}", s(v)))
            .suggest(if n * v < MOST_RETENTION_S {
                format!("keep messages for more than {}", s(n * v))
            } else {
                format!(
                    "lower maxReceiveCount or the visibility timeout: SQS keeps messages for {} at most",
                    s(MOST_RETENTION_S)
                )
            }),
    ]
}

fn dead_letter_retention(chain: &Chain<'_>, _: &Context<'_>) -> Vec<Finding> {
    let (Some(queue), Some(dead)) = (chain.queue.get().filter(|_| !chain.is_fifo()), chain.dead_letter) else {
        return Vec::new();
    };
    let (Some(kept), Some(dead_kept)) = (queue.retention_s.value(), dead.retention_s.value()) else { return Vec::new() };
    if dead_kept > kept {
        return Vec::new();
    }
    let both = queue.retention_s.is_default() && dead.retention_s.is_default();
    let message = format!(
        "the dead-letter queue `{}` keeps messages for {}, no longer than `{}` with {}: the age counts from the first send",
        dead.name,
        s(dead_kept),
        queue.name,
        s(kept)
    );
    vec![
        DEAD_LETTER_RETENTION
            .finding(chain, message)
            .severity(if both { Severity::Note } else { Severity::Warning })
            .value(&dead.retention_s, dead.place.as_ref(), format!("kept for {}", s(dead_kept)))
            .value(&queue.retention_s, queue.place.as_ref(), format!("kept for {}", s(kept)))
            .suggest("keep dead letters for 1209600 s (14 days)"),
    ]
}
