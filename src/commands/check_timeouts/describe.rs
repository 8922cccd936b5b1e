//! The check in words: the count first, then each chain that has findings drawn to scale, then the findings.

use super::Checked;
use crate::engine::chain::{Chain, origin};
use crate::engine::finding::Severity;
use crate::engine::suggestion::Suggestion;
use crate::report::chain::Bar;
use crate::report::document::{Document, Tone};
use crate::report::number::duration;

/// How many chains are drawn: more are read as findings.
const MOST_DRAWN: usize = 6;

pub(super) fn document(checked: &Checked<'_>) -> Document {
    let mut document = Document::default();
    head(&mut document, checked);
    let with_findings: Vec<usize> = (0..checked.chains.len()).filter(|&i| has_findings(checked, i)).collect();
    let few = checked.chains.len() <= 2;
    let drawn: Vec<usize> = if few { (0..checked.chains.len()).collect() } else { with_findings };
    for &i in drawn.iter().take(MOST_DRAWN) {
        let (Some(chain), Some(suggestion)) = (checked.chains.get(i), checked.suggestions.get(i)) else { continue };
        document.section(title(chain));
        document.chain(bars(chain), checked.slowest.as_ref().map(|fact| fact.value));
        if has_findings(checked, i)
            && let Some(suggestion) = suggestion
        {
            document.text(suggested(suggestion));
        }
    }
    if drawn.len() > MOST_DRAWN {
        document.text(format!("{} more chains have findings, and are not drawn.", drawn.len() - MOST_DRAWN));
    }
    document.findings(checked.findings.clone(), checked.texts.clone());
    let mut notes = checked.notes.clone();
    if !checked.unchecked.is_empty() {
        let mut reasons: Vec<&str> = checked.unchecked.iter().map(|(_, why)| *why).collect();
        reasons.sort_unstable();
        reasons.dedup();
        for why in reasons {
            let rules: Vec<&str> = checked.unchecked.iter().filter(|(_, of)| *of == why).map(|(rule, _)| *rule).collect();
            notes.push(format!("not checked: {} ({why})", rules.join(", ")));
        }
    }
    if !notes.is_empty() {
        document.section("Notes");
        document.items(Tone::Plain, notes);
    }
    document
}

fn head(document: &mut Document, checked: &Checked<'_>) {
    let count = |severity: Severity| checked.findings.iter().filter(|finding| finding.severity == severity).count();
    let plural = |count: usize, noun: &str| if count == 1 { format!("1 {noun}") } else { format!("{count} {noun}s") };
    let (errors, warnings, notes) = (count(Severity::Error), count(Severity::Warning), count(Severity::Note));
    let parts: Vec<String> = [(errors, "error"), (warnings, "warning"), (notes, "note")]
        .into_iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, noun)| plural(count, noun))
        .collect();
    let chains = plural(checked.chains.len(), "chain");
    if checked.chains.is_empty() && checked.findings.is_empty() {
        document.answer(Tone::Warning, "Nothing to check: no mapping from a queue to a function, and no model client");
    } else if parts.is_empty() {
        document.answer(Tone::Good, format!("No findings in {chains}"));
    } else {
        let tone = if errors > 0 {
            Tone::Bad
        } else if warnings > 0 {
            Tone::Warning
        } else {
            Tone::Plain
        };
        document.answer(tone, format!("{} in {chains}", parts.join(", ")));
    }
    let hidden: Vec<String> = [(checked.suppressed, "suppressed by comments"), (checked.in_baseline, "known by the baseline")]
        .into_iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, how)| format!("{} {how}", plural(count, "finding")))
        .collect();
    if !hidden.is_empty() {
        document.text(format!("{}.", hidden.join(", ")));
    }
}

fn has_findings(checked: &Checked<'_>, i: usize) -> bool {
    let Some(chain) = checked.chains.get(i) else { return false };
    checked.findings.iter().any(|finding| {
        finding.function.is_some()
            && finding.function.as_deref() == chain.function_name()
            && (finding.queue.as_deref() == chain.queue_name() || finding.queue.is_none())
    })
}

fn title(chain: &Chain<'_>) -> String {
    let queue = chain.queue_name().unwrap_or("an unknown queue");
    match (chain.mapping.is_some(), chain.function_name()) {
        (true, function) => format!("{queue} -> {}", function.unwrap_or("an unknown function")),
        (false, function) => function.unwrap_or("a model client").to_owned(),
    }
}

/// The three times, as far as they are known.
fn bars(chain: &Chain<'_>) -> Vec<Bar> {
    let mut bars = Vec::new();
    if let Some(queue) = chain.queue.get() {
        bars.push(Bar {
            name: "visibility".to_owned(),
            seconds: queue.visibility_s.value(),
            parts: Vec::new(),
            note: origin(&queue.visibility_s).trim().to_owned(),
        });
    } else if chain.mapping.is_some() {
        bars.push(Bar { name: "visibility".to_owned(), ..Bar::default() });
    }
    if let Some(function) = chain.function.get() {
        if chain.mapping.is_some() {
            bars.push(Bar {
                name: "function".to_owned(),
                seconds: function.timeout_s.value(),
                parts: Vec::new(),
                note: origin(&function.timeout_s).trim().to_owned(),
            });
        }
    } else {
        bars.push(Bar { name: "function".to_owned(), ..Bar::default() });
    }
    if let Some(client) = chain.client() {
        let attempts = client.attempts.fact().map(|fact| fact.value.clone()).unwrap_or_default();
        let most = attempts.iter().max().copied().unwrap_or(1);
        let limit = client.read_timeout_s.value();
        let count = attempts.iter().map(ToString::to_string).collect::<Vec<_>>().join(" or ");
        let (seconds, parts) = match limit {
            None => (None, Vec::new()),
            Some(None) => (Some(f64::INFINITY), Vec::new()),
            Some(Some(limit)) => {
                let parts = vec![limit; usize::try_from(most.min(20)).unwrap_or(1)];
                (Some(limit * f64::from(most)), if most > 1 { parts } else { Vec::new() })
            }
        };
        let origin = origin(&client.read_timeout_s).trim();
        let note = match (attempts.len() > 1, origin.is_empty()) {
            (true, true) => format!("{count} attempts"),
            (true, false) => format!("{count} attempts, {origin}"),
            (false, _) => origin.to_owned(),
        };
        bars.push(Bar { name: "read x attempts".to_owned(), seconds, parts, note });
    }
    bars
}

fn suggested(suggestion: &Suggestion) -> String {
    let Suggestion { read_timeout_s, lambda_timeout_s, visibility_timeout_s, .. } = *suggestion;
    let fits = if suggestion.fits_lambda {
        ""
    } else {
        " The function timeout is more than Lambda's 900 s: make batches smaller, or more calls at a time."
    };
    format!(
        "From the slowest call: read timeout {}, one attempt, function timeout {}, visibility timeout {}.{fits}",
        duration(read_timeout_s),
        duration(lambda_timeout_s),
        duration(visibility_timeout_s)
    )
}
