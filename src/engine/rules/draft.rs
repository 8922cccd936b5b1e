//! Building findings, and the rules that no chain decides: what cannot be resolved or read, and comments.

use super::{Need, Rule};
use crate::engine::chain::Chain;
use crate::engine::deployment::{Setting, Unresolved};
use crate::engine::fact::{Place, Source};
use crate::engine::finding::{Edit, Finding, Label, Severity};

/// Seconds, in a sentence.
pub(super) fn s(seconds: f64) -> String {
    format!("{} s", number(seconds))
}

/// A number without needless decimals.
pub(super) fn number(value: f64) -> String {
    let rounded = (value * 100.0).round() / 100.0;
    format!("{rounded}")
}

impl Rule {
    /// A finding of this rule, about a chain.
    pub(super) fn finding(&self, chain: &Chain<'_>, message: String) -> Finding {
        Finding {
            rule: self.id,
            severity: self.severity,
            message,
            labels: Vec::new(),
            suggestion: None,
            edit: None,
            subject: None,
            queue: chain.queue_name().map(str::to_owned),
            function: chain.function_name().map(str::to_owned),
        }
    }
}

impl Finding {
    pub(super) fn severity(mut self, severity: Severity) -> Self {
        self.severity = severity;
        self
    }

    pub(super) fn about(mut self, client: &Place) -> Self {
        self.subject = Some(client.clone());
        self
    }

    /// A place, where there is one; the first is the primary one, and no place is named twice.
    pub(super) fn at(mut self, place: Option<&Place>, text: impl Into<String>) -> Self {
        if let Some(place) = place
            && !self.labels.iter().any(|label| label.place == *place)
        {
            self.labels.push(Label { place: place.clone(), text: text.into() });
        }
        self
    }

    /// A setting: its literal, then the line that takes it from there; where neither is written, what it belongs to.
    pub(super) fn value<T>(self, setting: &Setting<T>, owner: Option<&Place>, text: impl Into<String>) -> Self {
        match (setting.literal(), setting.place.as_ref()) {
            (Some(literal), Some(place)) if !same_line(literal, place) => {
                self.at(Some(literal), text).at(Some(place), "taken from there")
            }
            (Some(literal), _) => self.at(Some(literal), text),
            (None, Some(place)) => self.at(Some(place), text),
            (None, None) => self.at(owner, text),
        }
    }

    pub(super) fn suggest(mut self, text: impl Into<String>) -> Self {
        self.suggestion = Some(text.into());
        self
    }

    /// Offers a new value where the setting's own is a literal.
    pub(super) fn edit<T>(mut self, setting: &Setting<T>, value: f64) -> Self {
        if let Some(place) = setting.literal() {
            self.edit = Some(Edit { place: place.clone(), replacement: number(value) });
        }
        self
    }
}

fn same_line(a: &Place, b: &Place) -> bool {
    a.path == b.path && a.line == b.line
}

/// The next "round" number of seconds: a multiple of 5.
pub(super) fn round_up(seconds: f64) -> f64 {
    (seconds / 5.0 - 1e-9).ceil() * 5.0
}

const fn of_files(
    id: &'static str,
    severity: Severity,
    summary: &'static str,
    why: &'static str,
    remedy: &'static str,
) -> Rule {
    Rule { id, severity, summary, why, remedy, stronger: &[], needs: Need::Nothing, check: None }
}

pub(super) const LIVE_DRIFT: Rule = of_files(
    "live-drift",
    Severity::Warning,
    "a live setting differs from the template",
    "Lambda compares visibility and function timeout only when a mapping is created or updated: what was changed by hand since then is checked by nobody, and the next deployment undoes it.",
    "Deploy the template, or write the live value into it.",
);

pub(super) const VALUE_UNRESOLVED: Rule = of_files(
    "value-unresolved",
    Severity::Note,
    "a value of the chain cannot be resolved",
    "What is not known is not checked, and never guessed: a parameter without a default, an import of another stack, an environment variable.",
    "Give it: `--parameter Name=value`, `--var name=value`, the other stack's template in the same run, or `--live`.",
);

pub(super) const INPUT_UNREADABLE: Rule = of_files(
    "input-unreadable",
    Severity::Error,
    "a file cannot be parsed",
    "Nothing is concluded from a file that cannot be read: its queues and functions are not checked.",
    "Mend the syntax at the place that is shown.",
);

pub(super) const IGNORE_WITHOUT_REASON: Rule = of_files(
    "ignore-without-reason",
    Severity::Warning,
    "an ignore comment gives no reason, or names no known rule: it suppresses nothing",
    "A finding that was silenced without a reason cannot be judged by the next reader.",
    "Write `forebay: ignore[rule-id] the reason`.",
);

pub(super) const IGNORE_UNUSED: Rule = of_files(
    "ignore-unused",
    Severity::Note,
    "an ignore comment suppressed nothing",
    "It may stand at the wrong line, name the wrong rule, or be left over from what was mended.",
    "Remove it, or move it to the line of the value or the line above.",
);

/// What each value of a chain has to satisfy, so that a reader can judge it where the tool cannot.
fn must_satisfy(chain: &Chain<'_>, name: &str) -> Option<String> {
    match name {
        "visibility_timeout_s" | "queue" => {
            chain.timeout_s().map(|timeout| format!("the visibility timeout must be above {}", s(timeout)))
        }
        "lambda_timeout_s" | "function" => {
            chain.visibility_s().map(|visibility| format!("the function timeout must be below {}", s(visibility)))
        }
        "read_timeout_s" => chain.timeout_s().map(|timeout| format!("it must be below {}", s(timeout))),
        "client_attempts" => {
            let limit = chain.client()?.read_timeout_s.value()??;
            let timeout = chain.timeout_s()?;
            Some(format!("attempts x {} must be below {}", s(limit), s(timeout)))
        }
        "max_receive_count" => Some("it should be 5 or more".to_owned()),
        "maximum_concurrency" => Some("it must be at least 2, and at most the reserved concurrency".to_owned()),
        _ => None,
    }
}

/// What cannot be resolved: one note for each reference, whatever settings it stands for.
pub fn unresolved(chain: &Chain<'_>) -> Vec<Finding> {
    let mut seen: Vec<&Unresolved> = Vec::new();
    let mut findings = Vec::new();
    for (name, unresolved) in chain.unresolved() {
        let known = seen.iter().any(|known| match (&known.place, &unresolved.place) {
            (Some(a), Some(b)) => a == b,
            _ => known.why == unresolved.why,
        });
        if known {
            continue;
        }
        seen.push(unresolved);
        let must = must_satisfy(chain, name).map(|must| format!("; {must}")).unwrap_or_default();
        let message = format!("{name} is not known: {}{must}", unresolved.why);
        let owner = chain.mapping.and_then(|mapping| mapping.place.as_ref());
        let finding = VALUE_UNRESOLVED.finding(chain, message).at(unresolved.place.as_ref().or(owner), unresolved.why.clone());
        findings.push(match &unresolved.give {
            Some(give) => finding.suggest(format!("give it: {give}")),
            None => finding,
        });
    }
    findings
}

/// What stands for resources that cannot be told one by one.
pub fn unknown_resources(unresolved: &Unresolved) -> Finding {
    Finding {
        rule: VALUE_UNRESOLVED.id,
        severity: VALUE_UNRESOLVED.severity,
        message: unresolved.why.clone(),
        labels: Vec::new(),
        suggestion: unresolved.give.clone(),
        edit: None,
        subject: None,
        queue: None,
        function: None,
    }
    .at(unresolved.place.as_ref(), "not checked")
}

/// A setting that is another one live.
pub fn live_drift(
    chain: &Chain<'_>,
    what: &str,
    written: &Setting<f64>,
    owner: Option<&Place>,
    template: &str,
    live: &str,
) -> Finding {
    LIVE_DRIFT
        .finding(chain, format!("{what} is {template} in the template, and {live} live"))
        .value(written, owner, format!("{template} here"))
        .suggest("deploy the template, or write the live value into it")
}

/// A source in a sentence: `line 5 of template.yaml`, for messages that name a second value.
pub(super) fn from(source: &Source) -> String {
    match source {
        Source::Default(whose) => format!(" ({whose})"),
        Source::Written(_) => String::new(),
        other => format!(" ({other})"),
    }
}
