//! The rules of `check timeouts`, as data: reports, `explain`, docs and tests read this one list.
//!
//! Symbols in texts: V visibility timeout, T function timeout, R read timeout of the model client, A its attempts, X the
//! slowest call, B batch size, W batch window, p parallel calls of a worker, M maximum concurrency, N receives.

mod client;
mod concurrency;
mod draft;
mod function;
mod mapping;
mod queue;
mod visibility;

use std::fmt;

use super::chain::{Chain, Context};
use super::finding::{Finding, Severity};
pub use draft::{live_drift, unknown_resources, unresolved};

/// One rule.
#[derive(Clone, Copy)]
pub struct Rule {
    /// Kebab-case: what is wrong.
    pub id: &'static str,
    /// As it is reported, unless the case at hand is worse or better: then the summary says so.
    pub severity: Severity,
    /// One sentence: when it fires.
    pub summary: &'static str,
    /// Why it matters.
    pub why: &'static str,
    /// What to do, with numbers.
    pub remedy: &'static str,
    /// Rules about the same values that say more: where one of them fires, this one is silent.
    pub stronger: &'static [&'static str],
    /// What it needs to know besides the chain: without it, it cannot fire.
    pub needs: Need,
    /// Looks at one chain; `None` where something else finds it: the readers, or the comments.
    pub check: Option<fn(&Chain<'_>, &Context<'_>) -> Vec<Finding>>,
}

impl fmt::Debug for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.id)
    }
}

/// What a rule cannot do without.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Need {
    Nothing,
    /// The slowest call.
    SlowestCall,
    /// The calls in flight that a plan or a load test allows.
    Plan,
}

/// Every rule, in the order of the chain: visibility, function, client, batch, queue, concurrency, call, files.
pub const RULES: &[Rule] = &[
    visibility::BELOW_FUNCTION_TIMEOUT,
    visibility::EQUALS_FUNCTION_TIMEOUT,
    visibility::BELOW_TIMEOUT_PLUS_WINDOW,
    visibility::BELOW_SIX_TIMES,
    visibility::SLOWS_RETRIES,
    visibility::LEFT_AT_DEFAULT,
    function::BELOW_READ_TIMEOUT,
    function::BELOW_CLIENT_ATTEMPTS,
    function::LEFT_AT_DEFAULT,
    function::OUT_OF_RANGE,
    client::BELOW_SLOWEST_CALL,
    client::WITHOUT_MARGIN,
    client::LEFT_AT_DEFAULT,
    client::MISSING,
    client::OPTION_IGNORED,
    client::RETRIES_MULTIPLY,
    client::NESTED_RETRIES,
    client::POOL_BELOW_PARALLEL,
    client::TCP_IDLE_DROP,
    client::MAX_TOKENS_UNSET,
    client::MAX_TOKENS_AT_MAXIMUM,
    mapping::BATCH_EXCEEDS_TIMEOUT,
    mapping::PARTIAL_RESPONSE_MISSING,
    mapping::WINDOW_MISSING,
    mapping::FIFO_TOO_LARGE,
    queue::DEAD_LETTER_MISSING,
    queue::RECEIVES_LOW,
    queue::RETENTION_SHORT,
    queue::DEAD_LETTER_RETENTION,
    concurrency::MISSING,
    concurrency::OUT_OF_RANGE,
    concurrency::WITH_PROVISIONED,
    concurrency::ABOVE_RESERVED,
    concurrency::RESERVED_BELOW_SUM,
    concurrency::RESERVED_AS_THROTTLE,
    concurrency::ABOVE_PLAN,
    draft::LIVE_DRIFT,
    draft::VALUE_UNRESOLVED,
    draft::INPUT_UNREADABLE,
    draft::IGNORE_WITHOUT_REASON,
    draft::IGNORE_UNUSED,
];

/// A rule by its id.
pub fn rule(id: &str) -> Option<&'static Rule> {
    RULES.iter().find(|rule| rule.id == id)
}

/// All findings of a chain: every rule's, without those that a stronger one about the same values speaks for.
pub fn check(chain: &Chain<'_>, context: &Context<'_>) -> Vec<Finding> {
    let found: Vec<Finding> = RULES.iter().filter_map(|rule| rule.check).flat_map(|check| check(chain, context)).collect();
    let spoken_for = |finding: &Finding| {
        let stronger = rule(finding.rule).map(|rule| rule.stronger).unwrap_or_default();
        found.iter().any(|other| stronger.contains(&other.rule) && other.subject == finding.subject)
    };
    let mut kept: Vec<Finding> = found.iter().filter(|finding| !spoken_for(finding)).cloned().collect();
    kept.extend(unresolved(chain));
    kept
}

#[cfg(test)]
mod tests;
