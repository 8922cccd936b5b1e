//! Findings as XML of `JUnit`: a suite for each file, a failing test for each finding.

use std::collections::HashSet;
use std::fmt::Write as _;

use quick_junit::{NonSuccessKind, Property, Report, TestCase, TestCaseStatus, TestSuite};

use super::place;
use crate::engine::finding::{Finding, Severity};

/// The suite of findings whose values are in no file.
const COMMAND_LINE: &str = "command line";

/// `checked`: each file, and how many chains it takes part in. Files with findings that are not among them follow.
pub fn render(findings: &[Finding], checked: &[(String, usize)]) -> String {
    let mut report = Report::new("forebay check timeouts");
    let mut done: HashSet<&str> = HashSet::new();
    for (path, chains) in checked {
        if done.insert(place::path(path)) {
            let mut suite = suite(place::path(path), findings);
            suite.add_property(Property::new("chains", chains.to_string()));
            report.add_test_suite(suite);
        }
    }
    let mut others: Vec<&str> = findings.iter().map(home).filter(|home| !done.contains(home)).collect();
    // Files by name, and what belongs to none at the end.
    others.sort_unstable_by_key(|home| (*home == COMMAND_LINE, *home));
    others.dedup();
    for home in others {
        report.add_test_suite(suite(home, findings));
    }
    report.to_string().unwrap_or_default()
}

fn home(finding: &Finding) -> &str {
    finding.place().map_or(COMMAND_LINE, |at| place::path(&at.path))
}

fn suite(name: &str, findings: &[Finding]) -> TestSuite {
    let mut suite = TestSuite::new(xml(name));
    let mut names = HashSet::new();
    let mut notes = Vec::new();
    for finding in findings.iter().filter(|finding| home(finding) == name) {
        if finding.severity == Severity::Note {
            notes.push(format!("note[{}]: {}{}", finding.rule, finding.message, details(finding)));
        } else {
            suite.add_test_case(case(name, finding, &mut names));
        }
    }
    if suite.test_cases.is_empty() {
        let mut case = TestCase::new("timeouts", TestCaseStatus::success());
        case.set_classname(xml(name));
        suite.add_test_case(case);
    }
    if !notes.is_empty() {
        suite.set_system_out(xml(&notes.join("\n\n")));
    }
    suite
}

fn case(home: &str, finding: &Finding, names: &mut HashSet<String>) -> TestCase {
    let mut status = TestCaseStatus::non_success(NonSuccessKind::Failure);
    let text = format!("{}{}", finding.message, details(finding));
    status.set_type(finding.severity.as_str()).set_message(xml(&finding.message)).set_description(xml(&text));
    let mut case = TestCase::new(xml(&unique(finding, names)), status);
    case.set_classname(xml(home));
    if let Some(at) = finding.place() {
        case.extra.insert("file".into(), xml(home).into());
        case.extra.insert("line".into(), at.line.to_string().into());
    }
    case
}

/// The rule and the function; a second one of the same name tells its line, and a third its number: readers keep one test
/// of each name.
fn unique(finding: &Finding, names: &mut HashSet<String>) -> String {
    let mut name = finding.rule.to_owned();
    if let Some(function) = &finding.function {
        let _ = write!(name, " ({function})");
    }
    if let (true, Some(at)) = (names.contains(&name), finding.place()) {
        let _ = write!(name, " line {}", at.line);
    }
    let mut out = name.clone();
    let mut times = 1;
    while !names.insert(out.clone()) {
        times += 1;
        out = format!("{name} #{times}");
    }
    out
}

/// Suggestion and places, each on a line of its own.
fn details(finding: &Finding) -> String {
    let mut out = String::new();
    if let Some(suggestion) = &finding.suggestion {
        let _ = write!(out, "\nhelp: {suggestion}");
    }
    for label in &finding.labels {
        let says = if label.text.is_empty() { "" } else { ": " };
        let _ = write!(out, "\n{}{says}{}", label.place, label.text);
    }
    out
}

/// Without the two characters that XML has not and the writer lets through.
fn xml(text: &str) -> String {
    text.replace(['\u{fffe}', '\u{ffff}'], "\u{fffd}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::place::tests::{placeless, read_timeout, visibility};

    fn checked() -> Vec<(String, usize)> {
        vec![("./infra/template.yaml".to_owned(), 2), ("infra/other.yaml".to_owned(), 1)]
    }

    #[test]
    fn findings_fail_and_files_without_pass() {
        insta::assert_snapshot!(render(&[placeless(), visibility(), read_timeout()], &checked()), @r#"
        <?xml version="1.0" encoding="UTF-8"?>
        <testsuites name="forebay check timeouts" tests="4" skipped="0" failures="2" errors="0">
            <testsuite name="infra/template.yaml" tests="1" skipped="0" errors="0" failures="1">
                <properties>
                    <property name="chains" value="2"/>
                </properties>
                <testcase name="visibility-below-function-timeout (Sorter)" classname="infra/template.yaml" file="infra/template.yaml" line="5">
                    <failure message="visibility timeout 45 s is below the function timeout 90 s" type="error">visibility timeout 45 s is below the function timeout 90 s
        help: set VisibilityTimeout to 540
        infra/template.yaml:5:26: hides messages for 45 s
        infra/template.yaml:9:7: may run 90 s</failure>
                </testcase>
            </testsuite>
            <testsuite name="infra/other.yaml" tests="1" skipped="0" errors="0" failures="0">
                <properties>
                    <property name="chains" value="1"/>
                </properties>
                <testcase name="timeouts" classname="infra/other.yaml"/>
            </testsuite>
            <testsuite name="src/handler.py" tests="1" skipped="0" errors="0" failures="1">
                <testcase name="read-timeout-left-at-default (Sorter)" classname="src/handler.py" file="src/handler.py" line="5">
                    <failure message="the client waits 60 s, the default of botocore" type="warning">the client waits 60 s, the default of botocore
        help: pass Config(read_timeout=80)
        src/handler.py:5:12: no `read_timeout`
        infra/template.yaml:9:7: may run 90 s</failure>
                </testcase>
            </testsuite>
            <testsuite name="command line" tests="1" skipped="0" errors="0" failures="0">
                <testcase name="timeouts" classname="command line"/>
                <system-out>note[visibility-below-six-times]: visibility timeout 100 s is below six times the function timeout 90 s
        help: pass --visibility-timeout 540s</system-out>
            </testsuite>
        </testsuites>
        "#);
    }

    #[test]
    fn notes_do_not_fail() {
        let mut note = visibility();
        note.severity = Severity::Note;
        let text = render(&[note], &checked());
        assert!(text.contains("failures=\"0\"") && !text.contains("<failure"), "{text}");
        assert!(text.contains("<system-out>note[visibility-below-function-timeout]: visibility timeout 45 s"), "{text}");
    }

    #[test]
    fn no_two_tests_of_a_suite_have_one_name() {
        let mut names = HashSet::new();
        let found: Vec<String> = [visibility(), visibility(), visibility(), placeless(), placeless()]
            .iter()
            .map(|finding| unique(finding, &mut names))
            .collect();
        assert_eq!(
            found,
            [
                "visibility-below-function-timeout (Sorter)",
                "visibility-below-function-timeout (Sorter) line 5",
                "visibility-below-function-timeout (Sorter) line 5 #2",
                "visibility-below-six-times",
                "visibility-below-six-times #2",
            ]
        );
    }

    #[test]
    fn what_names_hold_is_text() {
        let mut finding = visibility();
        finding.message = "a<b & \"c\" \u{1b}[31m\u{0}\u{ffff}]]>".to_owned();
        let text = render(&[finding], &[]);
        assert!(text.contains("a&lt;b &amp;") && text.contains("]]&gt;"), "{text}");
        assert!(!text.contains(['\u{1b}', '\u{0}', '\u{ffff}']), "{text}");
    }
}
