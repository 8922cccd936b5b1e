//! Ignore comments: `forebay: ignore[rule-id] reason`, on the line of the value or the one above.

use std::sync::Arc;

use super::fact::Place;
use super::finding::{Finding, Label};
use super::rules::{Rule, rule};

/// What begins an ignore comment.
const MARK: &str = "forebay: ignore";

/// What begins a comment in one of the languages that are read.
const COMMENTS: &[&str] = &["#", "//", "/*", "*", "--", "<!--"];

/// One comment.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Comment {
    place: Place,
    rules: Vec<String>,
    /// Why it suppresses nothing; `None` where it does.
    fault: Option<String>,
    /// The line of code that it is about: its own, or where it stands alone the next one.
    about: usize,
}

/// Takes out what comments ignore, and adds what is wrong with the comments. The number is of those taken out.
pub fn suppress(findings: Vec<Finding>, files: &[(Arc<str>, Arc<str>)]) -> (Vec<Finding>, usize) {
    let comments: Vec<Comment> = files.iter().flat_map(|(path, text)| comments(path, text)).collect();
    if comments.is_empty() {
        return (findings, 0);
    }
    let mut used = vec![false; comments.len()];
    let before = findings.len();
    let mut kept: Vec<Finding> = findings
        .into_iter()
        .filter(|finding| {
            let mut ignored = false;
            for (comment, used) in comments.iter().zip(&mut used) {
                if comment.fault.is_none() && applies(comment, finding) {
                    *used = true;
                    ignored = true;
                }
            }
            !ignored
        })
        .collect();
    let suppressed = before - kept.len();
    for (comment, used) in comments.iter().zip(used) {
        let finding = match &comment.fault {
            Some(fault) => of_comment("ignore-without-reason", comment, fault.clone()),
            None if !used => {
                let message = format!("the comment ignores {}, which is not found here", comment.rules.join(", "));
                of_comment("ignore-unused", comment, message)
            }
            None => continue,
        };
        kept.extend(finding);
    }
    (kept, suppressed)
}

fn of_comment(id: &str, comment: &Comment, message: String) -> Option<Finding> {
    let rule: &Rule = rule(id)?;
    Some(Finding {
        rule: rule.id,
        severity: rule.severity,
        message,
        labels: vec![Label { place: comment.place.clone(), text: "this comment".to_owned() }],
        suggestion: Some(rule.remedy.to_owned()),
        edit: None,
        subject: None,
        queue: None,
        function: None,
    })
}

/// A comment is about the literal or the line that takes it: the first label, and the one that follows it.
fn applies(comment: &Comment, finding: &Finding) -> bool {
    let own = finding.labels.first();
    let taken = finding.labels.get(1).filter(|label| label.text == "taken from there");
    comment.rules.iter().any(|rule| rule == finding.rule)
        && [own, taken]
            .into_iter()
            .flatten()
            .any(|label| label.place.path == comment.place.path && label.place.line == comment.about)
}

fn comments(path: &Arc<str>, text: &str) -> Vec<Comment> {
    if !text.contains(MARK) {
        return Vec::new();
    }
    let lines: Vec<&str> = text.lines().collect();
    let mut offset = 0;
    let mut found = Vec::new();
    for (i, line) in text.split_inclusive('\n').enumerate() {
        let start = offset;
        offset += line.len();
        let Some(at) = line.find(MARK) else { continue };
        let before = &line[..at];
        if !COMMENTS.iter().any(|comment| before.trim_end().ends_with(comment)) {
            continue;
        }
        let rest = line[at + MARK.len()..].trim_end();
        let alone = COMMENTS.iter().any(|comment| before.trim() == *comment);
        let place = Place {
            path: Arc::clone(path),
            line: i + 1,
            column: before.chars().count() + 1,
            start: start + at,
            end: start + at + MARK.len() + rest.len(),
        };
        let about = if alone { next_code(&lines, i + 1) } else { i } + 1;
        let (rules, fault) = parse(rest);
        found.push(Comment { place, rules, fault, about });
    }
    found
}

/// The next line that is no comment, counted from 0: comments may stand one above the other, and an empty line ends that.
fn next_code(lines: &[&str], from: usize) -> usize {
    let is_comment = |line: &str| {
        let line = line.trim_start();
        ["#", "//", "/*", "*"].iter().any(|comment| line.starts_with(comment))
    };
    (from..lines.len()).find(|&i| lines.get(i).is_some_and(|line| !is_comment(line))).unwrap_or(from)
}

/// `[rule, rule] reason`: the rules, and what is wrong.
fn parse(rest: &str) -> (Vec<String>, Option<String>) {
    let Some((rules, reason)) = rest.strip_prefix('[').and_then(|rest| rest.split_once(']')) else {
        return (Vec::new(), Some("the comment names no rule in brackets: it suppresses nothing".to_owned()));
    };
    let rules: Vec<String> = rules.split(',').map(|rule| rule.trim().to_owned()).filter(|rule| !rule.is_empty()).collect();
    let unknown: Vec<&str> = rules.iter().map(String::as_str).filter(|id| rule(id).is_none()).collect();
    let reason = reason.trim().trim_end_matches("*/").trim_end_matches("-->").trim();
    let fault = if rules.is_empty() {
        Some("the comment names no rule: it suppresses nothing".to_owned())
    } else if !unknown.is_empty() {
        Some(format!("there is no rule `{}`: the comment suppresses nothing", unknown.join("`, `")))
    } else if reason.is_empty() {
        Some("the comment gives no reason: it suppresses nothing".to_owned())
    } else {
        None
    };
    (rules, fault)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn finding(rule: &'static str, line: usize) -> Finding {
        let place = Place { path: Arc::from("t"), line, column: 1, start: 0, end: 1 };
        Finding {
            rule,
            severity: super::super::finding::Severity::Warning,
            message: String::new(),
            labels: vec![Label { place, text: String::new() }],
            suggestion: None,
            edit: None,
            subject: None,
            queue: None,
            function: None,
        }
    }

    fn rules_left(text: &str, found: Vec<Finding>) -> Vec<(&'static str, usize)> {
        let files = [(Arc::from("t"), Arc::from(text))];
        suppress(found, &files).0.iter().map(|finding| (finding.rule, finding.labels[0].place.line)).collect()
    }

    const RULE: &str = "visibility-left-at-default";

    #[test]
    fn a_reason_suppresses_on_the_line_and_from_above() {
        let same = format!("A: 1 # forebay: ignore[{RULE}] on purpose\nB: 2\n");
        assert_eq!(rules_left(&same, vec![finding(RULE, 1), finding(RULE, 2)]), [(RULE, 2)]);
        let above = format!("// forebay: ignore[{RULE}, max-tokens-unset] on purpose\n// more words\nB: 2\n");
        assert!(rules_left(&above, vec![finding(RULE, 3), finding("max-tokens-unset", 3)]).is_empty());
        let apart = format!("# forebay: ignore[{RULE}] on purpose\n\nB: 2\n");
        assert_eq!(rules_left(&apart, vec![finding(RULE, 3)]), [(RULE, 3), ("ignore-unused", 1)]);
    }

    #[test]
    fn what_is_wrong_with_a_comment_is_a_finding() {
        for (comment, rule) in [
            ("# forebay: ignore[visibility-left-at-default]", "ignore-without-reason"),
            ("# forebay: ignore[no-such-rule] why", "ignore-without-reason"),
            ("# forebay: ignore why", "ignore-without-reason"),
            ("# forebay: ignore[max-tokens-unset] why", "ignore-unused"),
        ] {
            assert_eq!(rules_left(&format!("{comment}\nA: 1\n"), vec![finding(RULE, 2)]), [(RULE, 2), (rule, 1)], "{comment}");
        }
        // A text that only speaks of comments is none.
        assert_eq!(rules_left("A: 'say forebay: ignore[x] y'\n", vec![finding(RULE, 1)]), [(RULE, 1)]);
    }
}
