//! Findings in SARIF 2.1.0, the format that code scanning reads.

use std::collections::{BTreeMap, HashMap};
use std::fmt::Write as _;
use std::ops::Range;
use std::sync::Arc;

use serde_json::{Value, json};
use serde_sarif::sarif::{
    ArtifactChange, ArtifactContent, ArtifactLocation, Fix, Location, Message, MultiformatMessageString, PhysicalLocation,
    PropertyBag, Region, Replacement, ReportingConfiguration, ReportingDescriptor, Result as Outcome, ResultLevel, Run, Sarif,
    Tool, ToolComponent, Version,
};

use super::{fingerprint, json, markdown, place};
use crate::engine::fact::Place;
use crate::engine::finding::{Edit, Finding, Label, Severity};
use crate::engine::rules::Rule;

const SCHEMA: &str = "https://json.schemastore.org/sarif-2.1.0.json";

/// Paths are relative to this: the folder in which forebay ran, which should be the repository's.
const ROOT: &str = "%SRCROOT%";

/// One run, with all rules, and its results in the order of their places.
pub fn render(findings: &[Finding], rules: &[Rule], texts: &dyn Fn(&str) -> Option<Arc<str>>) -> String {
    let mut sorted: Vec<&Finding> = findings.iter().collect();
    sorted.sort_by(|a, b| order(a).cmp(&order(b)));
    let mut seen: HashMap<String, usize> = HashMap::new();
    let results: Vec<Outcome> = sorted
        .into_iter()
        .map(|finding| {
            let text = finding.place().and_then(|at| texts(&at.path));
            let print = fingerprint::of(finding, text.as_deref());
            let times = seen.entry(print.clone()).or_default();
            *times += 1;
            outcome(finding, rules, texts, format!("{print}:{times}"))
        })
        .collect();
    let driver = ToolComponent::builder()
        .name("forebay")
        .version(env!("CARGO_PKG_VERSION"))
        .semantic_version(env!("CARGO_PKG_VERSION"))
        .rules(rules.iter().map(descriptor).collect::<Vec<_>>())
        .build();
    let run = Run::builder()
        .tool(Tool::builder().driver(driver).build())
        .column_kind(json!("unicodeCodePoints"))
        .results(results)
        .build();
    let log = Sarif::builder().schema(SCHEMA).version(json!(Version::V2_1_0)).runs(vec![run]).build();
    json::render(&serde_json::to_value(log).unwrap_or(Value::Null))
}

/// Places first, in their order; then whatever tells findings of one place apart.
fn order(finding: &Finding) -> impl Ord + use<'_> {
    (finding.place().is_none(), finding.place(), finding.rule, &finding.queue, &finding.function, &finding.message)
}

fn descriptor(rule: &Rule) -> ReportingDescriptor {
    let text = |text: &str| MultiformatMessageString::builder().text(plain(text)).build();
    let help = MultiformatMessageString::builder().text(plain(rule.remedy)).markdown(plain(&markdown::escape(rule.remedy)));
    ReportingDescriptor::builder()
        .id(rule.id)
        .short_description(text(rule.summary))
        .full_description(text(rule.why))
        .help(help.build())
        .default_configuration(ReportingConfiguration::builder().level(json!(rule.severity.as_str())).build())
        .build()
}

fn outcome(finding: &Finding, rules: &[Rule], texts: &dyn Fn(&str) -> Option<Arc<str>>, print: String) -> Outcome {
    let mut out = Outcome::builder()
        .rule_id(finding.rule)
        .level(match finding.severity {
            Severity::Error => ResultLevel::Error,
            Severity::Warning => ResultLevel::Warning,
            Severity::Note => ResultLevel::Note,
        })
        .message(message(&place::remark(finding)))
        .partial_fingerprints(BTreeMap::from([("forebayFinding/v1".to_owned(), print)]))
        .build();
    out.rule_index = rules.iter().position(|rule| rule.id == finding.rule).and_then(|index| i64::try_from(index).ok());
    let mut places = finding.labels.iter().map(|label| location(label, texts));
    out.locations = places.next().map(|primary| vec![primary]);
    let related: Vec<Location> = places.collect();
    out.related_locations = (!related.is_empty()).then_some(related);
    out.fixes = finding.edit.as_ref().map(|edit| vec![fix(finding, edit, texts)]);
    let names = [("queue", &finding.queue), ("function", &finding.function)];
    let names: BTreeMap<String, Value> =
        names.into_iter().filter_map(|(key, name)| Some((key.to_owned(), json!(name.as_ref()?)))).collect();
    out.properties = (!names.is_empty()).then(|| PropertyBag::builder().additional_properties(names).build());
    out
}

fn location(label: &Label, texts: &dyn Fn(&str) -> Option<Arc<str>>) -> Location {
    let at = &label.place;
    let end = texts(&at.path).and_then(|text| place::shown_end(at, &text));
    let physical = PhysicalLocation::builder().artifact_location(artifact(&at.path)).region(region(at, end)).build();
    let mut location = Location::builder().physical_location(physical).build();
    location.message = (!label.text.is_empty()).then(|| message(&label.text));
    location
}

fn region(at: &Place, end: Option<(usize, usize)>) -> Region {
    let mut region = Region::builder().start_line(number(at.line)).start_column(number(at.column)).build();
    if let Some((line, column)) = end {
        region.end_line = Some(number(line));
        region.end_column = Some(number(column));
    }
    region
}

/// Lines and columns count from 1.
fn number(count: usize) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX).max(1)
}

/// The whole span is replaced. Without the text it is told in bytes.
fn fix(finding: &Finding, edit: &Edit, texts: &dyn Fn(&str) -> Option<Arc<str>>) -> Fix {
    let at = &edit.place;
    let span: Range<usize> = at.start..at.end;
    let deleted = match texts(&at.path).and_then(|text| place::end(at, &text, span)) {
        Some(end) => region(at, Some(end)),
        None => {
            let length = i64::try_from(at.end.saturating_sub(at.start)).unwrap_or(0);
            Region::builder().byte_offset(i64::try_from(at.start).unwrap_or(0)).byte_length(length).build()
        }
    };
    let inserted = ArtifactContent::builder().text(edit.replacement.clone()).build();
    let replacement = Replacement::builder().deleted_region(deleted).inserted_content(inserted).build();
    let change = ArtifactChange::builder().artifact_location(artifact(&at.path)).replacements(vec![replacement]).build();
    let says = finding.suggestion.clone().unwrap_or_else(|| format!("write {}", edit.replacement));
    Fix::builder().description(message(&says)).artifact_changes(vec![change]).build()
}

/// A file below the root by its relative path, any other by its whole one.
fn artifact(path: &str) -> ArtifactLocation {
    if path.starts_with('/') {
        ArtifactLocation::builder().uri(format!("file://{}", encoded(path))).build()
    } else {
        ArtifactLocation::builder().uri(encoded(place::path(path))).uri_base_id(ROOT).build()
    }
}

/// A path in a URI: all but unreserved characters and slashes in percent.
fn encoded(path: &str) -> String {
    let mut out = String::with_capacity(path.len());
    for byte in path.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~/".contains(&byte) {
            out.push(char::from(byte));
        } else {
            let _ = write!(out, "%{byte:02X}");
        }
    }
    out
}

fn message(text: &str) -> Message {
    Message::builder().text(plain(text)).build()
}

/// Text that means itself: `{0}` would be an argument and `[a](1)` a link. Other braces stay single: viewers halve
/// doubled ones only where there are arguments.
fn plain(text: &str) -> String {
    let text = text.replace("](", "\\](");
    let mut out = String::with_capacity(text.len());
    let mut rest = text.as_str();
    while let Some((before, after)) = rest.split_once('{') {
        out.push_str(before);
        match after.split_once('}') {
            Some((index, after)) if !index.is_empty() && index.bytes().all(|byte| byte.is_ascii_digit()) => {
                let _ = write!(out, "{{{{{index}}}}}");
                rest = after;
            }
            _ => {
                out.push('{');
                rest = after;
            }
        }
    }
    out.push_str(rest);
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::place::tests::{placeless, read_timeout, texts, visibility};

    const RULES: &[Rule] = &[
        Rule {
            id: "read-timeout-left-at-default",
            severity: Severity::Warning,
            summary: "the default applies",
            why: "it is 60 s",
            remedy: "set 2 * X < T",
            stronger: &[],
            needs: crate::engine::rules::Need::Nothing,
            check: None,
        },
        Rule {
            id: "visibility-below-function-timeout",
            severity: Severity::Error,
            summary: "V < T",
            why: "messages come back",
            remedy: "raise V",
            stronger: &[],
            needs: crate::engine::rules::Need::Nothing,
            check: None,
        },
    ];

    fn run(findings: &[Finding]) -> Value {
        let text = render(findings, RULES, &texts);
        assert!(text.ends_with("}\n"));
        let log: Value = serde_json::from_str(&text).unwrap();
        log["runs"][0].clone()
    }

    #[test]
    fn a_finding_is_a_result_of_its_rule() {
        let run = run(&[visibility()]);
        assert_eq!(run["columnKind"], "unicodeCodePoints");
        let driver = &run["tool"]["driver"];
        assert_eq!((&driver["name"], &driver["version"]), (&json!("forebay"), &json!(env!("CARGO_PKG_VERSION"))));
        assert_eq!(
            driver["rules"][0],
            json!({
                "id": "read-timeout-left-at-default",
                "shortDescription": {"text": "the default applies"},
                "fullDescription": {"text": "it is 60 s"},
                "help": {"text": "set 2 * X < T", "markdown": "set 2 \\* X &lt; T"},
                "defaultConfiguration": {"level": "warning"},
            })
        );
        let place = |line, start, end| {
            json!({
                "artifactLocation": {"uri": "infra/template.yaml", "uriBaseId": "%SRCROOT%"},
                "region": {"startLine": line, "startColumn": start, "endLine": line, "endColumn": end},
            })
        };
        assert_eq!(
            run["results"],
            json!([{
                "ruleId": "visibility-below-function-timeout",
                "ruleIndex": 1,
                "level": "error",
                "message": {
                    "text": "visibility timeout 45 s is below the function timeout 90 s; set VisibilityTimeout to 540",
                },
                "locations": [
                    {"physicalLocation": place(5, 26, 28), "message": {"text": "hides messages for 45 s"}},
                ],
                "relatedLocations": [{"physicalLocation": place(9, 7, 18), "message": {"text": "may run 90 s"}}],
                "partialFingerprints": {
                    "forebayFinding/v1":
                        format!("{}:1", fingerprint::of(&visibility(), texts("infra/template.yaml").as_deref())),
                },
                "fixes": [{
                    "description": {"text": "set VisibilityTimeout to 540"},
                    "artifactChanges": [{
                        "artifactLocation": {"uri": "infra/template.yaml", "uriBaseId": "%SRCROOT%"},
                        "replacements": [{
                            "deletedRegion": {"startLine": 5, "startColumn": 26, "endLine": 5, "endColumn": 28},
                            "insertedContent": {"text": "540"},
                        }],
                    }],
                }],
                "properties": {"queue": "MailQueue", "function": "Sorter"},
            }])
        );
    }

    #[test]
    fn results_are_in_the_order_of_their_places_whatever_the_input() {
        let findings = [placeless(), read_timeout(), visibility()];
        let mut turned = findings.clone();
        turned.reverse();
        assert_eq!(render(&findings, RULES, &texts), render(&turned, RULES, &texts));
        let run = run(&findings);
        let ids: Vec<&str> =
            run["results"].as_array().unwrap().iter().map(|result| result["ruleId"].as_str().unwrap()).collect();
        assert_eq!(ids, ["visibility-below-function-timeout", "read-timeout-left-at-default", "visibility-below-six-times"]);
        let last = &run["results"][2];
        assert!(
            last.get("locations").is_none() && last.get("ruleIndex").is_none() && last.get("properties").is_none(),
            "{last}"
        );
    }

    #[test]
    fn findings_that_look_the_same_have_fingerprints_of_their_own() {
        let mut other = visibility();
        other.queue = Some("PostQueue".to_owned());
        let run = run(&[other, visibility()]);
        let print =
            |index: usize| run["results"][index]["partialFingerprints"]["forebayFinding/v1"].as_str().unwrap().to_owned();
        let (first, second) = (print(0), print(1));
        assert_eq!((first.split_once(':').unwrap().0, "1"), (second.split_once(':').unwrap().0, &first[17..]));
        assert!(second.ends_with(":2"), "{second}");
    }

    #[test]
    fn paths_are_uris() {
        let uri = |path: &str| {
            let mut finding = visibility();
            finding.labels[0].place.path = path.into();
            let run = run(&[finding]);
            run["results"][0]["locations"][0]["physicalLocation"]["artifactLocation"].clone()
        };
        assert_eq!(uri("./a b/ü#1.yaml"), json!({"uri": "a%20b/%C3%BC%231.yaml", "uriBaseId": "%SRCROOT%"}));
        assert_eq!(uri("/srv/a:b.yaml"), json!({"uri": "file:///srv/a%3Ab.yaml"}));
    }

    #[test]
    fn without_the_text_there_is_a_start_and_the_fix_counts_bytes() {
        let log: Value = serde_json::from_str(&render(&[visibility()], RULES, &|_| None)).unwrap();
        let result = &log["runs"][0]["results"][0];
        assert_eq!(result["locations"][0]["physicalLocation"]["region"], json!({"startLine": 5, "startColumn": 26}));
        let deleted = &result["fixes"][0]["artifactChanges"][0]["replacements"][0]["deletedRegion"];
        assert_eq!((&deleted["byteLength"], deleted.get("startLine")), (&json!(2), None));
    }

    #[test]
    fn names_from_a_template_are_neither_arguments_nor_links() {
        for (text, written) in [
            ("parameter {0} of ${self:custom.a}", "parameter {{0}} of ${self:custom.a}"),
            ("lane[\"{a{12}\"](x)", "lane[\"{a{{12}}\"\\](x)"),
            ("{} { }", "{} { }"),
        ] {
            assert_eq!(plain(text), written);
        }
    }
}
