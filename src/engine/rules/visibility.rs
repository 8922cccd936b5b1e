//! V against T and W: the first link of the chain. Of these rules only the strongest speaks.

use super::draft::{from, round_up, s};
use super::{Need, Rule};
use crate::engine::chain::{Chain, Context};
use crate::engine::finding::{Finding, Severity};

const EDITED: &[&str] =
    &["visibility-below-function-timeout", "visibility-equals-function-timeout", "visibility-below-timeout-plus-window"];

pub(super) const BELOW_FUNCTION_TIMEOUT: Rule = Rule {
    id: "visibility-below-function-timeout",
    severity: Severity::Error,
    summary: "the queue's visibility timeout is below the function timeout (V < T)",
    why: "A message becomes visible again while a worker still has it, and is worked on, and paid for, twice. Lambda refuses the mapping when it is created or updated, and does not look again when either value changes later.",
    remedy: "Set V to at least T plus the batch window, better 6 x T + W; or lower T to what a batch really needs.",
    stronger: &[],
    needs: Need::Nothing,
    check: Some(|chain, _| compare(chain, |v, t, _| v < t, &BELOW_FUNCTION_TIMEOUT)),
};

pub(super) const EQUALS_FUNCTION_TIMEOUT: Rule = Rule {
    id: "visibility-equals-function-timeout",
    severity: Severity::Warning,
    summary: "the visibility timeout equals the function timeout (V = T): accepted, without headroom",
    why: "Lambda receives a message before it invokes the function: the visibility timeout runs while the batch waits. A function that uses its whole timeout ends after its messages have come back.",
    remedy: "Set V above T + W; AWS advises 6 x T + W.",
    stronger: &["visibility-below-function-timeout"],
    needs: Need::Nothing,
    check: Some(|chain, _| compare(chain, |v, t, _| v == t, &EQUALS_FUNCTION_TIMEOUT)),
};

pub(super) const BELOW_TIMEOUT_PLUS_WINDOW: Rule = Rule {
    id: "visibility-below-timeout-plus-window",
    severity: Severity::Warning,
    summary: "the visibility timeout is above T and below T + W",
    why: "The batch window is part of the time that a message is hidden: a batch that waits the whole window and runs the whole timeout comes back while it is worked on.",
    remedy: "Set V above T + W, or shorten the batch window.",
    stronger: &["visibility-below-function-timeout", "visibility-equals-function-timeout"],
    needs: Need::Nothing,
    check: Some(|chain, _| compare(chain, |v, t, w| t < v && v < t + w, &BELOW_TIMEOUT_PLUS_WINDOW)),
};

pub(super) const BELOW_SIX_TIMES: Rule = Rule {
    id: "visibility-below-six-times",
    severity: Severity::Note,
    summary: "the visibility timeout is below AWS's advice of 6 x T + W",
    why: "AWS advises six times the function timeout plus the batch window, so that throttled invocations can be retried before the message comes back. But the visibility timeout is also the wait before a failed message is tried again: more safety means slower retries.",
    remedy: "Raise V to 6 x T + W where duplicates cost more than waiting; keep it where a failed message has to be retried soon.",
    stronger: EDITED,
    needs: Need::Nothing,
    check: Some(|chain, _| compare(chain, |v, t, w| t < v && v < 6.0 * t + w, &BELOW_SIX_TIMES)),
};

pub(super) const SLOWS_RETRIES: Rule = Rule {
    id: "visibility-slows-retries",
    severity: Severity::Note,
    summary: "the visibility timeout is above 6 x T + W: a failed message waits that long before its next try",
    why: "A message that failed, or was throttled, is hidden until its visibility timeout ends; in a FIFO queue its whole group waits with it.",
    remedy: "Lower V to 6 x T + W, or let the function shorten it for failed messages with ChangeMessageVisibility.",
    stronger: &[],
    needs: Need::Nothing,
    check: Some(|chain, _| compare(chain, |v, t, w| v > 6.0 * t + w, &SLOWS_RETRIES)),
};

pub(super) const LEFT_AT_DEFAULT: Rule = Rule {
    id: "visibility-left-at-default",
    severity: Severity::Note,
    summary: "the visibility timeout is not set: 30 s apply",
    why: "A default that nobody chose fits a function of 5 s, and breaks when the function's timeout is raised.",
    remedy: "Set it beside the queue, from the function's timeout.",
    stronger: &[],
    needs: Need::Nothing,
    check: Some(left_at_default),
};

fn left_at_default(chain: &Chain<'_>, _: &Context<'_>) -> Vec<Finding> {
    let Some(queue) = chain.queue.get().filter(|queue| queue.visibility_s.is_default()) else { return Vec::new() };
    let seconds = queue.visibility_s.value().unwrap_or(30.0);
    let message = format!("`{}` sets no visibility timeout: {} apply", queue.name, s(seconds));
    let finding = LEFT_AT_DEFAULT.finding(chain, message).at(queue.place.as_ref(), "no visibility timeout here");
    vec![match chain.timeout_s() {
        Some(timeout) => finding.suggest(format!("set {}", s(six_times(timeout, chain.window_s())))),
        None => finding,
    }]
}

fn six_times(timeout: f64, window: f64) -> f64 {
    6.0 * timeout + window
}

/// One finding where V stands to T and W as the rule says.
fn compare(chain: &Chain<'_>, wrong: impl Fn(f64, f64, f64) -> bool, rule: &Rule) -> Vec<Finding> {
    let (Some(queue), Some(function)) = (chain.queue.get(), chain.function.get()) else { return Vec::new() };
    let (Some(v), Some(t)) = (queue.visibility_s.value(), function.timeout_s.value()) else { return Vec::new() };
    let w = chain.window_s();
    if !wrong(v, t, w) {
        return Vec::new();
    }
    let sources =
        |setting: &crate::engine::deployment::Setting<f64>| setting.fact().map(|fact| from(&fact.source)).unwrap_or_default();
    let (of_v, of_t) = (sources(&queue.visibility_s), sources(&function.timeout_s));
    let pair = format!("`{}` hides messages for {}{of_v} and `{}` may run {}{of_t}", queue.name, s(v), function.name, s(t));
    let advised = six_times(t, w);
    let message = match rule.id {
        "visibility-below-function-timeout" => format!("{pair}: messages come back while they are worked on"),
        "visibility-equals-function-timeout" => format!("{pair}: there is no headroom between the two"),
        "visibility-below-timeout-plus-window" => format!("{pair}, after waiting up to {} for a batch", s(w)),
        "visibility-below-six-times" => {
            format!(
                "{pair}: AWS advises {} (6 x timeout + window); it is also the wait before a failed message is tried again",
                s(advised)
            )
        }
        _ => format!("{pair}: a failed message waits {} before its next try, and {} are enough", s(v), s(advised)),
    };
    let suggestion = match rule.id {
        "visibility-slows-retries" => format!("lower the visibility timeout to {}", s(advised)),
        "visibility-below-six-times" => {
            format!("raise the visibility timeout to {} where duplicates cost more than waiting", s(advised))
        }
        _ => format!(
            "set the visibility timeout to {} (6 x timeout + window), and at least above {}",
            s(advised),
            s(round_up(t + w))
        ),
    };
    let mut finding = rule
        .finding(chain, message)
        .value(&queue.visibility_s, queue.place.as_ref(), format!("visibility timeout {}", s(v)))
        .value(&function.timeout_s, function.place.as_ref(), format!("function timeout {}", s(t)));
    if w > 0.0
        && let Some(mapping) = chain.mapping
    {
        finding = finding.value(&mapping.batch_window_s, mapping.place.as_ref(), format!("batch window {}", s(w)));
    }
    // SQS takes 12 hours at most; advice beyond that is none.
    // Nor is one where both come from the same literal.
    if advised <= 43_200.0 && queue.visibility_s.literal() != function.timeout_s.literal() {
        finding = finding.edit(&queue.visibility_s, advised);
    }
    vec![finding.suggest(suggestion)]
}
