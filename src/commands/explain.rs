//! `explain`: why a rule exists, and what to do.

use anyhow::Result;
use serde_json::json;

use super::{Report, hinted};
use crate::cli::ExplainArgs;
use crate::engine::finding::Severity;
use crate::engine::rules::{Need, RULES, Rule, rule};
use crate::exit::Exit;
use crate::report::document::{Document, Table, Tone};
use crate::report::json::report;
use crate::sources::workload::nearest;

pub fn run(args: &ExplainArgs) -> Result<Report> {
    let Some(id) = &args.rule else { return Ok(all()) };
    let Some(rule) = rule(id) else {
        let hint = match nearest(id, RULES.iter().map(|rule| rule.id)) {
            Some(near) => format!("did you mean `{near}`? `forebay explain` lists them all"),
            None => "`forebay explain` lists them all".to_owned(),
        };
        return Err(hinted(format!("there is no rule `{id}`"), hint));
    };
    let mut document = Document::default();
    document.answer(tone(rule.severity), format!("{} ({})", rule.id, rule.severity));
    document.text(format!("When: {}.", rule.summary));
    document.section("Why");
    document.text(rule.why);
    document.section("What to do");
    document.text(rule.remedy);
    if !rule.stronger.is_empty() {
        document.section("Silent where one of these speaks");
        document.items(Tone::Plain, rule.stronger.iter().map(|&stronger| stronger.to_owned()));
    }
    document.section("To leave it out");
    document.text(format!("On the command line: --allow {}. In the file, on the value's line or the one above:", rule.id));
    document.code(format!("# forebay: ignore[{}] the reason", rule.id));
    Ok(Report::new(document, report("rule", view(rule)), Exit::Done))
}

fn all() -> Report {
    let mut document = Document::default();
    document.answer(Tone::Plain, format!("{} rules; `forebay explain RULE` says why and what to do", RULES.len()));
    let mut table = Table::new(&["severity=", "rule=", "when"]);
    for rule in RULES {
        table.row([rule.severity.to_string(), rule.id.to_owned(), rule.summary.to_owned()]);
    }
    document.table(table);
    let rules: Vec<_> = RULES.iter().map(view).collect();
    Report::new(document, report("rules", json!({ "rules": rules })), Exit::Done)
}

fn tone(severity: Severity) -> Tone {
    match severity {
        Severity::Error => Tone::Bad,
        Severity::Warning => Tone::Warning,
        Severity::Note => Tone::Plain,
    }
}

fn view(rule: &Rule) -> serde_json::Value {
    let needs = match rule.needs {
        Need::Nothing => None,
        Need::SlowestCall => Some("slowest call"),
        Need::Plan => Some("plan"),
    };
    json!({"id": rule.id, "severity": rule.severity, "when": rule.summary, "why": rule.why, "remedy": rule.remedy,
           "stronger": rule.stronger, "needs": needs})
}
