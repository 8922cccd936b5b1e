//! The model client and its calls: read timeout, attempts, connections, output limit.

use super::draft::{from, number, round_up, s};
use super::{Need, Rule};
use crate::engine::chain::{Chain, Context, MARGIN};
use crate::engine::deployment::Client;
use crate::engine::finding::{Finding, Severity};

/// Idle TCP connections are dropped by NAT gateways and interface endpoints after this (VPC User Guide).
const IDLE_DROP_S: f64 = 350.0;

pub(super) const BELOW_SLOWEST_CALL: Rule = Rule {
    id: "read-timeout-below-slowest-call",
    severity: Severity::Error,
    summary: "the read timeout is not above the slowest call (R <= X)",
    why: "The client gives up on calls that would have answered: they are billed all the same, and tried again.",
    remedy: "Set R to 1.25 x X, and T above it.",
    stronger: &["read-timeout-left-at-default"],
    needs: Need::SlowestCall,
    check: Some(|chain, context| against_slowest(chain, context, |r, x| r <= x, &BELOW_SLOWEST_CALL)),
};

pub(super) const WITHOUT_MARGIN: Rule = Rule {
    id: "read-timeout-without-margin",
    severity: Severity::Warning,
    summary: "the read timeout is less than a quarter above the slowest call (R < 1.25 X)",
    why: "The slowest call so far is not the slowest there will be: models, prompts and load change.",
    remedy: "Set R to 1.25 x X.",
    stronger: &["read-timeout-left-at-default", "read-timeout-below-slowest-call"],
    needs: Need::SlowestCall,
    check: Some(|chain, context| against_slowest(chain, context, |r, x| r > x && r < MARGIN * x, &WITHOUT_MARGIN)),
};

pub(super) const LEFT_AT_DEFAULT: Rule = Rule {
    id: "read-timeout-left-at-default",
    severity: Severity::Warning,
    summary: "the client's own read timeout applies (60 s in botocore, 30 s in Java, 300 s in current JavaScript, 100 s in .NET); an error where the slowest call exceeds it",
    why: "A call without streaming sends nothing until it is done: a default made for small answers ends long ones, and the SDK then tries again.",
    remedy: "Set the read timeout in code: `Config(read_timeout=...)` in botocore, `requestHandler: { requestTimeout: ... }` in JavaScript, `socketTimeout` of the HTTP client in Java.",
    stronger: &["read-timeout-option-ignored"],
    needs: Need::Nothing,
    check: Some(left_at_default),
};

pub(super) const MISSING: Rule = Rule {
    id: "read-timeout-missing",
    severity: Severity::Warning,
    summary: "the client waits for ever (Go, Rust, some JavaScript handlers)",
    why: "A connection that was dropped, or an answer that never comes, holds the worker until the function times out.",
    remedy: "Set a read timeout of 1.25 x the slowest call.",
    stronger: &["read-timeout-option-ignored"],
    needs: Need::Nothing,
    check: Some(missing),
};

pub(super) const OPTION_IGNORED: Rule = Rule {
    id: "read-timeout-option-ignored",
    severity: Severity::Error,
    summary: "an option looks like a read timeout, and the SDK does not read it",
    why: "What was meant as a limit is none: the SDK's default applies, or no limit at all.",
    remedy: "Use the option that the SDK reads: for JavaScript's default handler `requestHandler: { requestTimeout: ms }`, for NodeHttpHandler `requestTimeout` with `throwOnRequestTimeout: true`.",
    stronger: &[],
    needs: Need::Nothing,
    check: Some(option_ignored),
};

pub(super) const RETRIES_MULTIPLY: Rule = Rule {
    id: "client-retries-multiply",
    severity: Severity::Warning,
    summary: "the client makes more than one attempt behind a queue that retries already (A > 1)",
    why: "Each receive of a message makes A calls: a throttled quota is asked N x A times for one message, and each attempt may take a whole read timeout. In botocore `max_attempts` counts retries: 1 is two attempts.",
    remedy: "One attempt in the client (`retries={\"total_max_attempts\": 1}` in botocore, `maxAttempts: 1` in JavaScript), and let the queue retry after the visibility timeout.",
    stronger: &[],
    needs: Need::Nothing,
    check: Some(retries_multiply),
};

pub(super) const NESTED_RETRIES: Rule = Rule {
    id: "nested-retries",
    severity: Severity::Warning,
    summary: "a second retry layer stands around the client",
    why: "Retry layers multiply: three tries around a client of three attempts behind a queue of five receives are 45 calls.",
    remedy: "Keep one layer: the queue.",
    stronger: &[],
    needs: Need::Nothing,
    check: Some(nested),
};

pub(super) const POOL_BELOW_PARALLEL: Rule = Rule {
    id: "http-pool-below-parallel-calls",
    severity: Severity::Warning,
    summary: "the client's connection pool is smaller than the calls that a worker makes at the same time",
    why: "Calls wait for a connection while their messages' time runs, or connections are opened and thrown away for each call.",
    remedy: "Set the pool to the parallel calls: `Config(max_pool_connections=...)` in botocore, `maxConnections` in Java.",
    stronger: &[],
    needs: Need::Nothing,
    check: Some(pool),
};

pub(super) const TCP_IDLE_DROP: Rule = Rule {
    id: "tcp-idle-drop",
    severity: Severity::Note,
    summary: "the read timeout is above 350 s in a VPC, without TCP keepalive",
    why: "NAT gateways and interface endpoints drop a connection that is idle for 350 s: the client then waits for an answer that cannot arrive.",
    remedy: "Turn TCP keepalive on (`Config(tcp_keepalive=True)` in botocore), or stream the answer.",
    stronger: &[],
    needs: Need::Nothing,
    check: Some(idle_drop),
};

pub(super) const MAX_TOKENS_UNSET: Rule = Rule {
    id: "max-tokens-unset",
    severity: Severity::Warning,
    summary: "a call sets no output limit: the model's maximum is reserved",
    why: "Every call takes its output limit from the tokens quota when it starts. Without a limit that is the model's maximum, often a hundred times what answers have, and throttles far below the quota.",
    remedy: "Set it from the lengths of real answers: `forebay recommend maxtokens`, or the 99th percentile and a margin.",
    stronger: &[],
    needs: Need::Nothing,
    check: Some(max_tokens_unset),
};

pub(super) const MAX_TOKENS_AT_MAXIMUM: Rule = Rule {
    id: "max-tokens-at-model-maximum",
    severity: Severity::Warning,
    summary: "the output limit of a call equals the model's maximum",
    why: "Every call reserves the whole maximum when it starts, as if no limit were set.",
    remedy: "Set it from the lengths of real answers.",
    stronger: &[],
    needs: Need::Nothing,
    check: Some(max_tokens_at_maximum),
};

fn of_r(client: &Client) -> String {
    client.read_timeout_s.fact().map(|fact| from(&fact.source)).unwrap_or_default()
}

fn against_slowest(chain: &Chain<'_>, context: &Context<'_>, wrong: impl Fn(f64, f64) -> bool, rule: &Rule) -> Vec<Finding> {
    let Some(slowest) = &context.slowest_call_s else { return Vec::new() };
    let x = slowest.value;
    let mut findings = Vec::new();
    for client in chain.clients() {
        let Some(Some(r)) = client.read_timeout_s.value() else { continue };
        if !wrong(r, x) || client.read_timeout_s.is_default() && rule.id == BELOW_SLOWEST_CALL.id {
            continue;
        }
        let message = format!(
            "the client waits {}{} for one answer, and the slowest call takes {} ({})",
            s(r),
            of_r(client),
            s(x),
            slowest.source
        );
        findings.push(
            rule.finding(chain, message)
                .about(&client.place)
                .value(&client.read_timeout_s, Some(&client.place), format!("read timeout {}", s(r)))
                .suggest(format!("set the read timeout to {} or more (a quarter above)", s(round_up(x * MARGIN)))),
        );
    }
    findings
}

fn left_at_default(chain: &Chain<'_>, context: &Context<'_>) -> Vec<Finding> {
    let defaults = chain.clients().iter().filter(|client| client.read_timeout_s.is_default() && client.ignored.is_empty());
    let slowest = context.slowest_call_s.as_ref();
    defaults
        .filter_map(|client| {
            let r = client.read_timeout_s.value()??;
            let exceeded = slowest.filter(|slowest| r <= slowest.value);
            let message = match exceeded {
                Some(slowest) => format!(
                    "the client sets no read timeout: {}'s {} apply, and the slowest call takes {} ({})",
                    client.sdk,
                    s(r),
                    s(slowest.value),
                    slowest.source
                ),
                None => format!("the client sets no read timeout: {}'s {} apply", client.sdk, s(r)),
            };
            let severity = if exceeded.is_some() { Severity::Error } else { Severity::Warning };
            let finding = LEFT_AT_DEFAULT
                .finding(chain, message)
                .about(&client.place)
                .severity(severity)
                .at(Some(&client.place), format!("no read timeout here: {}", s(r)));
            Some(match slowest {
                Some(slowest) => finding.suggest(format!("set a read timeout of {}", s(round_up(slowest.value * MARGIN)))),
                None => finding.suggest("set a read timeout of 1.25 x the slowest call"),
            })
        })
        .collect()
}

fn missing(chain: &Chain<'_>, context: &Context<'_>) -> Vec<Finding> {
    let unlimited = chain.clients().iter().filter(|client| client.read_timeout_s.value() == Some(None));
    unlimited
        .filter(|client| client.ignored.is_empty())
        .map(|client| {
            let message = format!("the client waits for ever: {} sets no limit here", client.sdk);
            let finding = MISSING.finding(chain, message).about(&client.place).value(
                &client.read_timeout_s,
                Some(&client.place),
                "no read timeout",
            );
            match &context.slowest_call_s {
                Some(slowest) => finding.suggest(format!("set a read timeout of {}", s(round_up(slowest.value * MARGIN)))),
                None => finding.suggest("set a read timeout of 1.25 x the slowest call"),
            }
        })
        .collect()
}

fn option_ignored(chain: &Chain<'_>, _: &Context<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    for client in chain.clients() {
        let applies = match client.read_timeout_s.value() {
            Some(Some(r)) => format!("{}{} apply", s(r), of_r(client)),
            Some(None) => "the client waits for ever".to_owned(),
            None => "what applies is not known".to_owned(),
        };
        for option in &client.ignored {
            findings.push(
                OPTION_IGNORED
                    .finding(chain, format!("`{}` is no read timeout here: {applies}", option.option))
                    .about(&client.place)
                    .at(Some(&option.place), "not read")
                    .at(Some(&client.place), "the client")
                    .suggest(option.why.clone()),
            );
        }
    }
    findings
}

fn retries_multiply(chain: &Chain<'_>, _: &Context<'_>) -> Vec<Finding> {
    // Without a queue in front nothing else retries.
    if chain.mapping.is_none() {
        return Vec::new();
    }
    let mut findings = Vec::new();
    for client in chain.clients() {
        let Some(attempts) = client.attempts.fact().filter(|fact| fact.value.iter().all(|&count| count > 1)) else { continue };
        let count = attempts.value.iter().map(ToString::to_string).collect::<Vec<_>>().join(" or ");
        let counts_retries = client.sdk == "botocore" && client.attempts.literal().is_some();
        let hint = if counts_retries {
            "; botocore's `max_attempts` counts retries, `total_max_attempts` counts attempts"
        } else {
            ""
        };
        let message = format!(
            "the client makes {count} attempts{} for each receive of a message, and the queue retries already{hint}",
            from(&attempts.source)
        );
        findings.push(
            RETRIES_MULTIPLY
                .finding(chain, message)
                .value(&client.attempts, Some(&client.place), format!("{count} attempts"))
                .suggest("make one attempt in the client, and let the queue retry"),
        );
    }
    findings
}

fn nested(chain: &Chain<'_>, _: &Context<'_>) -> Vec<Finding> {
    let layers = chain.function.get().map(|function| function.source.nested_retries.as_slice()).unwrap_or_default();
    layers
        .iter()
        .map(|(place, what)| {
            NESTED_RETRIES
                .finding(chain, format!("{what} retries the model call, around the client and the queue"))
                .at(Some(place), "a retry layer")
                .suggest("keep one layer of retries: the queue")
        })
        .collect()
}

fn pool(chain: &Chain<'_>, context: &Context<'_>) -> Vec<Finding> {
    let p = chain.parallel_calls(context);
    let small = chain.clients().iter().filter_map(|client| Some((client, client.pool.value()?)));
    small
        .filter(|(_, pool)| *pool < p)
        .map(|(client, pool)| {
            let of = client.pool.fact().map(|fact| from(&fact.source)).unwrap_or_default();
            let message =
                format!("the client holds {} connections{of}, and a worker makes {} calls at a time", number(pool), number(p));
            POOL_BELOW_PARALLEL
                .finding(chain, message)
                .value(&client.pool, Some(&client.place), format!("{} connections", number(pool)))
                .suggest(format!("set the pool to {} connections", number(p)))
        })
        .collect()
}

fn idle_drop(chain: &Chain<'_>, _: &Context<'_>) -> Vec<Finding> {
    let in_vpc = chain.function.get().is_some_and(|function| function.in_vpc);
    let clients = chain.clients().iter().filter(|client| in_vpc && !client.tcp_keepalive);
    clients
        .filter_map(|client| {
            let r = client.read_timeout_s.value()?.filter(|&r| r > IDLE_DROP_S)?;
            let message = format!("the client waits {}{}, and a VPC drops idle connections after 350 s", s(r), of_r(client));
            Some(
                TCP_IDLE_DROP
                    .finding(chain, message)
                    .value(&client.read_timeout_s, Some(&client.place), format!("read timeout {}", s(r)))
                    .suggest("turn TCP keepalive on, or stream the answer"),
            )
        })
        .collect()
}

fn max_tokens_unset(chain: &Chain<'_>, _: &Context<'_>) -> Vec<Finding> {
    let calls = chain.function.get().map(|function| function.source.calls.as_slice()).unwrap_or_default();
    calls
        .iter()
        .filter(|call| call.max_tokens.is_unset())
        .map(|call| {
            MAX_TOKENS_UNSET
                .finding(chain, "the call sets no output limit: the model's maximum is reserved when it starts".to_owned())
                .at(Some(&call.place), "no output limit")
                .suggest("set it from the lengths of real answers")
        })
        .collect()
}

fn max_tokens_at_maximum(chain: &Chain<'_>, context: &Context<'_>) -> Vec<Finding> {
    let calls = chain.function.get().map(|function| function.source.calls.as_slice()).unwrap_or_default();
    calls
        .iter()
        .filter_map(|call| {
            let limit = call.max_tokens.value()?;
            let model = &call.model.fact()?.value;
            let maximum = (context.model_maximum)(model).filter(|&maximum| limit >= maximum)?;
            let message = format!(
                "the output limit of {} tokens is the maximum of `{model}` ({}): every call reserves it",
                number(limit),
                number(maximum)
            );
            Some(
                MAX_TOKENS_AT_MAXIMUM
                    .finding(chain, message)
                    .value(&call.max_tokens, Some(&call.place), "output limit")
                    .suggest("set it from the lengths of real answers"),
            )
        })
        .collect()
}
