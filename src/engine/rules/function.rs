//! T against R, A and what Lambda takes.

use super::draft::{from, number, round_up, s};
use super::{Need, Rule};
use crate::engine::chain::{Chain, Context, MARGIN};
use crate::engine::finding::{Finding, Severity};

/// The longest that a function runs without asking (Lambda quotas, read 2026-10).
const COMMON_MAXIMUM_S: f64 = 900.0;
/// The longest that the API model names for functions without a capacity provider (botocore 1.44.7, 2026-11).
const MAXIMUM_S: f64 = 1800.0;
/// The longest on Lambda Managed Instances, for event sources (same source).
const MANAGED_MAXIMUM_S: f64 = 5400.0;

pub(super) const BELOW_READ_TIMEOUT: Rule = Rule {
    id: "function-timeout-below-read-timeout",
    severity: Severity::Error,
    summary: "the function timeout is not above the read timeout of its model client (T <= R)",
    why: "The function dies before its client gives up: no error is handled, no partial batch response is sent, and a call that was about to answer is paid for and thrown away.",
    remedy: "Set T above R x A plus the work around the call, or lower R.",
    stronger: &[],
    needs: Need::Nothing,
    check: Some(below_read_timeout),
};

pub(super) const BELOW_CLIENT_ATTEMPTS: Rule = Rule {
    id: "function-timeout-below-client-attempts",
    severity: Severity::Error,
    summary: "the function timeout is below all attempts of its client: T < ceil(B x c / p) x R x A + B x o; a warning where it depends on the SDK's version",
    why: "The last attempts are started, billed and thrown away: the function ends before they can answer. Backoff between attempts comes on top.",
    remedy: "Let the queue retry: one attempt in the client (`total_max_attempts: 1` in botocore, `maxAttempts: 1` in JavaScript), and T above R plus the work around the call. Or raise T.",
    stronger: &["function-timeout-below-read-timeout"],
    needs: Need::Nothing,
    check: Some(below_attempts),
};

pub(super) const LEFT_AT_DEFAULT: Rule = Rule {
    id: "function-timeout-left-at-default",
    severity: Severity::Warning,
    summary: "the function timeout is not set: the dialect's default applies (3 s; 6 s in the Serverless Framework)",
    why: "A model call takes seconds, and a default that is too short ends it every time.",
    remedy: "Set it from the slowest call: the read timeout times the attempts, plus a quarter.",
    stronger: &[],
    needs: Need::Nothing,
    check: Some(left_at_default),
};

pub(super) const OUT_OF_RANGE: Rule = Rule {
    id: "function-timeout-out-of-range",
    severity: Severity::Error,
    summary: "the function timeout is above what Lambda allows: an error above 1,800 s (5,400 s on Managed Instances), a warning above 900 s",
    why: "Lambda refuses the function. Up to 900 s every Region takes; up to 1,800 s newer API models do; 5,400 s are for Lambda Managed Instances only.",
    remedy: "Stay at 900 s or below, or split the work; longer work belongs into Step Functions or a batch inference job.",
    stronger: &[],
    needs: Need::Nothing,
    check: Some(out_of_range),
};

fn below_read_timeout(chain: &Chain<'_>, _: &Context<'_>) -> Vec<Finding> {
    let Some(function) = chain.function.get() else { return Vec::new() };
    let Some(t) = function.timeout_s.value() else { return Vec::new() };
    let mut findings = Vec::new();
    for client in chain.clients() {
        let Some(Some(r)) = client.read_timeout_s.value() else { continue };
        if t > r {
            continue;
        }
        let of_r = client.read_timeout_s.fact().map(|fact| from(&fact.source)).unwrap_or_default();
        let message = format!(
            "`{}` may run {} and its client waits {}{of_r} for one answer: the function ends first",
            function.name,
            s(t),
            s(r)
        );
        findings.push(
            BELOW_READ_TIMEOUT
                .finding(chain, message)
                .about(&client.place)
                .value(&function.timeout_s, function.place.as_ref(), format!("function timeout {}", s(t)))
                .value(&client.read_timeout_s, Some(&client.place), format!("read timeout {}", s(r)))
                .suggest(format!("set the function timeout above {}, or the read timeout below {}", s(r), s(t))),
        );
    }
    findings
}

fn below_attempts(chain: &Chain<'_>, context: &Context<'_>) -> Vec<Finding> {
    let Some(function) = chain.function.get() else { return Vec::new() };
    let (Some(t), Some(rounds)) = (function.timeout_s.value(), chain.rounds(context)) else { return Vec::new() };
    let mut findings = Vec::new();
    for client in chain.clients() {
        let (Some(Some(r)), Some(attempts)) = (client.read_timeout_s.value(), client.attempts.fact()) else { continue };
        let overhead = chain.overhead_s(context);
        // What cuts all attempts off ends them sooner.
        let one_call = |attempts: u32| {
            let all = r * f64::from(attempts);
            client.whole_call_s.map_or(all, |whole| whole.min(all))
        };
        let needed = |attempts: u32| rounds.mul_add(one_call(attempts), overhead);
        let short: Vec<u32> = attempts.value.iter().copied().filter(|&attempts| t < needed(attempts)).collect();
        let Some(&worst) = short.iter().max() else { continue };
        let count = attempts.value.iter().map(ToString::to_string).collect::<Vec<_>>().join(" or ");
        let in_rounds = if rounds > 1.0 { format!("{} rounds of ", number(rounds)) } else { String::new() };
        let message = format!(
            "`{}` may run {}, and its client may take {}: {in_rounds}{count} attempt{}{} of {}{}",
            function.name,
            s(t),
            short.iter().map(|&attempts| s(needed(attempts))).collect::<Vec<_>>().join(" or "),
            if count == "1" { "" } else { "s" },
            from(&attempts.source),
            s(r),
            client.read_timeout_s.fact().map(|fact| from(&fact.source)).unwrap_or_default(),
        );
        let severity = if short.len() == attempts.value.len() { Severity::Error } else { Severity::Warning };
        let one = needed(1);
        let suggestion = if worst > 1 && t >= one {
            format!(
                "make one attempt in the client and let the queue retry ({} then fit), or set the function timeout above {}",
                s(one),
                s(needed(worst))
            )
        } else {
            format!("set the function timeout above {}, or make batches smaller", s(round_up(needed(worst))))
        };
        let mut finding = BELOW_CLIENT_ATTEMPTS
            .finding(chain, message)
            .about(&client.place)
            .severity(severity)
            .value(&function.timeout_s, function.place.as_ref(), format!("function timeout {}", s(t)))
            .value(&client.read_timeout_s, Some(&client.place), format!("read timeout {}", s(r)))
            .value(&client.attempts, Some(&client.place), format!("attempts: {count}"));
        if rounds > 1.0
            && let Some(mapping) = chain.mapping
        {
            finding = finding.value(&mapping.batch_size, mapping.place.as_ref(), "batch size");
        }
        findings.push(finding.suggest(suggestion));
    }
    findings
}

fn left_at_default(chain: &Chain<'_>, context: &Context<'_>) -> Vec<Finding> {
    let Some(function) = chain.function.get().filter(|function| function.timeout_s.is_default()) else { return Vec::new() };
    let seconds = function.timeout_s.value().unwrap_or(3.0);
    let message = format!("`{}` sets no timeout: {} apply", function.name, s(seconds));
    let finding = LEFT_AT_DEFAULT.finding(chain, message).at(function.place.as_ref(), "no timeout here");
    let slowest = context.slowest_call_s.as_ref().map(|fact| fact.value * MARGIN * MARGIN);
    vec![match slowest {
        Some(seconds) => finding.suggest(format!("set {} or more", s(round_up(seconds)))),
        None => finding.suggest("set it from the slowest call"),
    }]
}

fn out_of_range(chain: &Chain<'_>, _: &Context<'_>) -> Vec<Finding> {
    let Some(function) = chain.function.get() else { return Vec::new() };
    let Some(t) = function.timeout_s.value() else { return Vec::new() };
    let (largest, common) =
        if function.managed_instances { (MANAGED_MAXIMUM_S, MANAGED_MAXIMUM_S) } else { (MAXIMUM_S, COMMON_MAXIMUM_S) };
    let (severity, message) = if t > largest {
        (Severity::Error, format!("`{}` may run {}, and Lambda allows {} at most", function.name, s(t), s(largest)))
    } else if t < 1.0 {
        (Severity::Error, format!("`{}` may run {}, and Lambda takes 1 s or more", function.name, s(t)))
    } else if t > common {
        let message = format!(
            "`{}` may run {}: above {} only newer API versions take it, and not in every Region",
            function.name,
            s(t),
            s(common)
        );
        (Severity::Warning, message)
    } else {
        return Vec::new();
    };
    vec![
        OUT_OF_RANGE
            .finding(chain, message)
            .severity(severity)
            .value(&function.timeout_s, function.place.as_ref(), format!("function timeout {}", s(t)))
            .suggest(format!("set {} or less, and make batches smaller", s(common))),
    ]
}
