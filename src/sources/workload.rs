//! Workload files: YAML, read through the tree, so that every mistake is reported with its place.

use std::path::{Path, PathBuf};

use super::text_file::{self, ReadError};
use super::tree::{Node, Value};
use crate::engine::concurrency::Start;
use crate::engine::fact::{Fact, Source};
use crate::engine::model_id::Endpoint;
use crate::engine::problem::{Problem, Problems, line_and_column};
use crate::engine::workload::fields::{self, Field, Kind, QUANTITY_PARTS, Range};
use crate::engine::workload::{Quantity, Workload};

/// Why a workload file could not be read.
#[derive(Debug, thiserror::Error)]
pub enum WorkloadError {
    #[error(transparent)]
    Read(#[from] ReadError),
    #[error(transparent)]
    Wrong(#[from] Problems),
}

/// Example workloads that the program carries, by the name that stands for a path.
pub const EXAMPLES: &[(&str, &str)] = &[
    ("agent-tool-loop", include_str!("../../profiles/workloads/agent-tool-loop.yaml")),
    ("image-moderation", include_str!("../../profiles/workloads/image-moderation.yaml")),
    ("overnight-classification", include_str!("../../profiles/workloads/overnight-classification.yaml")),
    ("pdf-extraction", include_str!("../../profiles/workloads/pdf-extraction.yaml")),
    ("ticket-triage", include_str!("../../profiles/workloads/ticket-triage.yaml")),
];

/// How an example is named where a path is expected: `example:image-moderation`.
pub const EXAMPLE_PREFIX: &str = "example:";

/// Reads a workload file, `-` for standard input, or an embedded example.
///
/// # Errors
/// Where there is no such file or example, or it is not a workload; all mistakes are reported at once.
pub fn read(path: &Path) -> Result<Workload, WorkloadError> {
    let shown = path.display().to_string();
    if let Some(name) = shown.strip_prefix(EXAMPLE_PREFIX) {
        return match EXAMPLES.iter().find(|(example, _)| *example == name) {
            Some((_, text)) => Ok(parse(&shown, text)?),
            None => {
                Err(ReadError::NoExample { name: name.to_owned(), known: EXAMPLES.iter().map(|(name, _)| *name).collect() }
                    .into())
            }
        };
    }
    let text = text_file::read(&PathBuf::from(path))?;
    Ok(parse(&shown, &text)?)
}

/// Reads the text of a workload file.
///
/// # Errors
/// All that is wrong with it.
pub fn parse(path: &str, text: &str) -> Result<Workload, Problems> {
    let root = Node::parse(text).map_err(|error| {
        let problem =
            Problem { span: error.at..error.at, message: "this is not YAML".to_owned(), label: error.message, help: None };
        Problems::new(path, text, vec![problem])
    })?;
    let mut reader = Reader { path, text, problems: Vec::new(), workload: Workload::default() };
    reader.read(&root);
    let Reader { problems, workload, .. } = reader;
    if problems.is_empty() { Ok(workload) } else { Err(Problems::new(path, text, problems)) }
}

struct Reader<'a> {
    path: &'a str,
    text: &'a str,
    problems: Vec<Problem>,
    workload: Workload,
}

impl Reader<'_> {
    fn problem(&mut self, node: &Node, message: String, label: String, help: Option<String>) {
        self.problems.push(Problem { span: node.span.clone(), message, label, help });
    }

    fn fact<T>(&self, node: &Node, value: T) -> Fact<T> {
        let (line, column) = line_and_column(self.text, node.span.start);
        Fact::new(value, Source::File { path: self.path.to_owned(), line, column })
    }

    fn read(&mut self, root: &Node) {
        let Value::Mapping(entries) = &root.value else {
            let message = format!("a workload file is a mapping, and this is {}", root.describe());
            let help = "run `forebay init` for a commented file to start from".to_owned();
            self.problem(root, message, "expected fields such as `model:`".to_owned(), Some(help));
            return;
        };
        let mut known: Vec<&str> = fields::of_section("").map(|field| field.name).collect();
        known.extend(fields::sections().into_iter().filter(|section| !section.is_empty()));
        for (key, value) in self.unique(entries) {
            let name = key.text().unwrap_or_default();
            if let Some(field) = fields::of_section("").find(|field| field.name == name) {
                self.field(field, value);
            } else if known.contains(&name) && !name.is_empty() {
                self.section(name, value);
            } else {
                self.unknown(key, "", &known);
            }
        }
        self.required(root, entries);
        if self.problems.is_empty() {
            self.cross_check(root);
        }
    }

    /// `schema` says what the rest means.
    fn required(&mut self, root: &Node, entries: &[(Node, Node)]) {
        for name in ["schema", "model"] {
            if !entries.iter().any(|(key, _)| key.text() == Some(name)) {
                let (label, help) = match name {
                    "schema" => ("add `schema: 1`", "it names the version of this format"),
                    _ => (
                        "add `model: ` and the id that the code passes",
                        "its prefix is the route: `us.` and other geographies, `global.`, or none",
                    ),
                };
                let start = root.span.start;
                let first_line = Node {
                    value: root.value.clone(),
                    span: start..self.text[start..].find('\n').map_or(root.span.end, |end| start + end),
                    tag: None,
                };
                self.problem(&first_line, format!("`{name}` is missing"), label.to_owned(), Some(help.to_owned()));
            }
        }
    }

    /// Reports keys that stand twice; YAML forbids them and the last would win silently.
    fn unique<'n>(&mut self, entries: &'n [(Node, Node)]) -> Vec<(&'n Node, &'n Node)> {
        let mut seen: Vec<&str> = Vec::new();
        let mut unique = Vec::new();
        for (key, value) in entries {
            let name = key.text().unwrap_or_default();
            if seen.contains(&name) {
                self.problem(key, format!("`{name}` stands twice"), "expected each field once".to_owned(), None);
            } else {
                seen.push(name);
                unique.push((key, value));
            }
        }
        unique
    }

    fn unknown(&mut self, key: &Node, section: &str, known: &[&str]) {
        let name = key.text().unwrap_or_default().to_owned();
        let nearest = nearest(&name, known.iter().copied());
        let moved = fields::FIELDS.iter().find(|field| field.name == name && !field.section.is_empty());
        let within = if section.is_empty() { String::new() } else { format!(" in `{section}`") };
        let label = match (nearest, moved) {
            (_, Some(field)) => format!("it belongs under `{}:`", field.section),
            (Some(nearest), None) => format!("did you mean `{nearest}`?"),
            (None, None) => "no such field".to_owned(),
        };
        let help = format!("known{within}: {}", known.join(", "));
        self.problem(key, format!("unknown field `{name}`{within}"), label, Some(help));
    }

    fn section(&mut self, section: &str, node: &Node) {
        if node.is_null() {
            return;
        }
        let known: Vec<&str> = fields::of_section(section).map(|field| field.name).collect();
        let Value::Mapping(entries) = &node.value else {
            let label = format!("expected a mapping of {}", known.join(", "));
            self.problem(node, format!("`{section}` is {}", node.describe()), label, None);
            return;
        };
        for (key, value) in self.unique(entries) {
            match fields::of_section(section).find(|field| Some(field.name) == key.text()) {
                Some(field) => self.field(field, value),
                None => self.unknown(key, section, &known),
            }
        }
    }

    fn field(&mut self, field: &Field, node: &Node) {
        match field.kind {
            Kind::Text => match node.text().filter(|text| !text.is_empty() && !node.is_null()) {
                Some(text) => {
                    let fact = self.fact(node, text.to_owned());
                    self.set_text(field, fact);
                }
                None => self.expected(field, node),
            },
            Kind::Flag => match node.boolean() {
                Some(value) => {
                    let fact = self.fact(node, value);
                    match field.name {
                        "reserve_cache_reads" => self.workload.policy.reserve_cache_reads = Some(fact),
                        "report_batch_item_failures" => self.workload.pipeline.report_batch_item_failures = Some(fact),
                        _ => {}
                    }
                }
                None => self.expected(field, node),
            },
            Kind::Choice(words) => match node.text().filter(|text| words.contains(text)) {
                Some(word) => {
                    let word = self.fact(node, word.to_owned());
                    self.set_choice(field, word);
                }
                None => self.expected(field, node),
            },
            Kind::Number(range) => {
                if let Some(fact) = self.number(field, range, node) {
                    self.set_number(field, fact.map(Some));
                }
            }
            Kind::NumberOrNull(range) => {
                if node.is_null() {
                    let fact = self.fact(node, None);
                    self.set_number(field, fact);
                } else if let Some(fact) = self.number(field, range, node) {
                    self.set_number(field, fact.map(Some));
                }
            }
            Kind::Quantity(range) => {
                if let Some(quantity) = self.quantity(field, range, node) {
                    self.set_quantity(field, quantity);
                }
            }
            // Read by the commands that use them; here they are only checked.
            Kind::Duration => {
                if !node.text().is_some_and(is_duration) {
                    self.expected(field, node);
                }
            }
            Kind::Durations => match &node.value {
                Value::Sequence(items) => {
                    for item in items.iter().filter(|item| !item.text().is_some_and(is_duration)) {
                        self.expected(field, item);
                    }
                }
                _ => self.expected(field, node),
            },
            Kind::Words(words) => match &node.value {
                Value::Sequence(items) => {
                    for item in items.iter().filter(|item| !item.text().is_some_and(|text| words.contains(&text))) {
                        self.expected(field, item);
                    }
                }
                _ => self.expected(field, node),
            },
        }
    }

    fn expected(&mut self, field: &Field, node: &Node) {
        let help = unit_help(field, node);
        self.problem(
            node,
            format!("`{}` is {}", field.name, node.describe()),
            format!("expected {}", field.kind.describe()),
            help,
        );
    }

    fn number(&mut self, field: &Field, range: Range, node: &Node) -> Option<Fact<f64>> {
        match node.number().filter(|&number| range.contains(number)) {
            Some(number) => Some(self.fact(node, number)),
            None => {
                self.expected(field, node);
                None
            }
        }
    }

    fn quantity(&mut self, field: &Field, range: Range, node: &Node) -> Option<Quantity> {
        let mut quantity = Quantity::default();
        let Value::Mapping(entries) = &node.value else {
            quantity.set("mean", self.number(field, range, node)?);
            return Some(quantity);
        };
        let before = self.problems.len();
        for (key, value) in self.unique(entries) {
            let part = key.text().unwrap_or_default();
            if QUANTITY_PARTS.contains(&part) {
                if let Some(fact) = self.number(field, range, value) {
                    quantity.set(part, fact);
                }
            } else {
                self.unknown(key, field.name, QUANTITY_PARTS);
            }
        }
        if let Some(found) = quantity.contradiction() {
            let message = format!(
                "`{}` has a {} of {} above its {} of {}",
                field.name, found.low.0, found.low.1.value, found.high.0, found.high.1.value
            );
            self.problem(node, message, "expected the values in order".to_owned(), None);
        }
        (self.problems.len() == before).then_some(quantity)
    }

    fn set_text(&mut self, field: &Field, fact: Fact<String>) {
        let workload = &mut self.workload;
        match field.name {
            "name" => workload.name = Some(fact),
            "model" => workload.model = Some(fact),
            "region" => workload.region = Some(fact),
            _ => {}
        }
    }

    fn set_choice(&mut self, field: &Field, fact: Fact<String>) {
        match field.name {
            "endpoint" => {
                self.workload.endpoint = Some(fact.map(|word| match word.as_str() {
                    "bedrock-mantle" => Endpoint::BedrockMantle,
                    _ => Endpoint::BedrockRuntime,
                }));
            }
            "start" => {
                self.workload.policy.start = Some(fact.map(|word| if word == "steady" { Start::Steady } else { Start::Burst }));
            }
            _ => {}
        }
    }

    fn set_number(&mut self, field: &Field, fact: Fact<Option<f64>>) {
        let workload = &mut self.workload;
        let known = || fact.value.map(|value| Fact::new(value, fact.source.clone()));
        match field.name {
            "rpm" => workload.quotas.rpm = Some(fact),
            "tpm" => workload.quotas.tpm = Some(fact),
            "input_tpm" => workload.quotas.input_tpm = Some(fact),
            "output_tpm" => workload.quotas.output_tpm = Some(fact),
            "max_tokens" => workload.call.max_tokens = known(),
            "burndown" => workload.call.burndown = known(),
            "batch_size" => workload.worker.batch_size = known(),
            "parallel_calls" => workload.worker.parallel_calls = known(),
            "calls_per_message" => workload.worker.calls_per_message = known(),
            "attempts_per_call" => workload.worker.attempts_per_call = known(),
            "overhead_s" => workload.worker.overhead_s = known(),
            "headroom" => workload.policy.headroom = known(),
            "others_rpm" => workload.policy.others_rpm = known(),
            "others_tpm" => workload.policy.others_tpm = known(),
            "others_output_tpm" => workload.policy.others_output_tpm = known(),
            "tested_in_flight" => workload.policy.tested_in_flight = known(),
            "throttle_risk" => workload.policy.throttle_risk = known(),
            "visibility_timeout_s" => workload.pipeline.visibility_timeout_s = known(),
            "lambda_timeout_s" => workload.pipeline.lambda_timeout_s = known(),
            "read_timeout_s" => workload.pipeline.read_timeout_s = known(),
            "client_attempts" => workload.pipeline.client_attempts = known(),
            "max_receive_count" => workload.pipeline.max_receive_count = known(),
            "maximum_concurrency" => workload.pipeline.maximum_concurrency = known(),
            "reserved_concurrency" => workload.pipeline.reserved_concurrency = known(),
            "messages_per_min" => workload.arrivals.messages_per_min = known(),
            "burst" => workload.arrivals.burst = known(),
            _ => {}
        }
    }

    fn set_quantity(&mut self, field: &Field, quantity: Quantity) {
        let call = &mut self.workload.call;
        match field.name {
            "latency_s" => call.latency_s = quantity,
            "input_tokens" => call.input_tokens = quantity,
            "cache_write_tokens" => call.cache_write_tokens = quantity,
            "cache_read_tokens" => call.cache_read_tokens = quantity,
            "output_tokens" => call.output_tokens = quantity,
            _ => {}
        }
    }

    /// What each value alone does not show.
    fn cross_check(&mut self, root: &Node) {
        let policy = &self.workload.policy;
        if policy.headroom.is_some()
            && policy.throttle_risk.is_some()
            && let Some(node) = find(root, "policy", "throttle_risk")
        {
            let message = "`throttle_risk` stands beside `headroom`, which it replaces".to_owned();
            self.problem(&node.clone(), message, "expected one of the two".to_owned(), None);
        }
        let call = &self.workload.call;
        let too_long =
            call.output_tokens.mean.as_ref().zip(call.max_tokens.as_ref()).filter(|(mean, max)| mean.value > max.value);
        if let Some((mean, max)) = too_long {
            let message =
                format!("`output_tokens` has a mean of {}, and `max_tokens` cuts every answer at {}", mean.value, max.value);
            if let Some(node) = find(root, "call", "max_tokens") {
                self.problem(&node.clone(), message, format!("expected at least {}", mean.value), None);
            }
        }
    }
}

fn find<'n>(root: &'n Node, section: &str, name: &str) -> Option<&'n Node> {
    let entry = |node: &'n Node, name: &str| match &node.value {
        Value::Mapping(entries) => entries.iter().find(|(key, _)| key.text() == Some(name)).map(|(_, value)| value),
        _ => None,
    };
    entry(entry(root, section)?, name)
}

/// The nearest known name, where one is near enough to be meant.
pub fn nearest<'k>(name: &str, known: impl Iterator<Item = &'k str>) -> Option<&'k str> {
    let lower = name.to_ascii_lowercase();
    known
        .map(|candidate| (strsim::jaro_winkler(&lower, candidate), candidate))
        .filter(|(score, _)| *score >= 0.8)
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .map(|(_, candidate)| candidate)
}

/// `8h`, `1h 30m`, `PT8H`: what jiff reads as a length of time.
fn is_duration(text: &str) -> bool {
    text.parse::<jiff::SignedDuration>().is_ok_and(|duration| duration.is_positive())
}

/// What to write instead of a number with a unit: `4500ms` is 4.5 in a field of seconds, `20%` is 0.2 of a share.
fn unit_help(field: &Field, node: &Node) -> Option<String> {
    let (Kind::Number(range) | Kind::NumberOrNull(range) | Kind::Quantity(range)) = field.kind else { return None };
    let text = node.text()?.trim();
    let value = match range.unit {
        "seconds" => text.parse::<jiff::SignedDuration>().ok()?.as_secs_f64(),
        unit if unit.starts_with("as ") => match text.strip_suffix('%') {
            Some(percent) => percent.trim().parse::<f64>().ok()? / 100.0,
            None => text.parse::<f64>().ok().filter(|&value| value > 1.0 && value < 100.0)? / 100.0,
        },
        _ => {
            let digits: String = text.chars().filter(|c| !matches!(c, ',' | '_' | '\'' | ' ')).collect();
            digits.parse::<f64>().ok().filter(|_| digits.len() < text.len())?
        }
    };
    range.contains(value).then(|| format!("the unit is in the field's name or fixed: write `{}: {value}`", field.name))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn problems(text: &str) -> String {
        parse("w.yaml", text).expect_err("wrong on purpose").to_string()
    }

    #[test]
    fn a_value_knows_its_place() {
        let workload =
            parse("w.yaml", "schema: 1\nmodel: a.b\ncall:\n  latency_s: {mean: 4.5, p99: 9}\nquotas: {rpm: null, tpm: 7}\n")
                .unwrap();
        let latency = &workload.call.latency_s;
        assert_eq!(latency.mean.as_ref().unwrap().source.to_string(), "w.yaml:4:21");
        assert_eq!(latency.p99.as_ref().unwrap().value, 9.0);
        assert_eq!(workload.quotas.rpm.as_ref().unwrap().value, None);
        assert_eq!(workload.quotas.tpm.as_ref().unwrap().value, Some(7.0));
    }

    #[test]
    fn all_mistakes_come_at_once_each_with_its_place() {
        let text = "schema: 1\nmodel: a.b\nquota: {rpm: 5}\ncall:\n  latency_ms: 4500\n  latency_s: 4500ms\n  output_tokens: {mean: 10, p99: 5}\n  max_tokens: 0\npolicy: {headroom: 20}\nworker: [1]\nrpm: 4\n";
        insta::assert_snapshot!(problems(text), @r"
        w.yaml:3:1: unknown field `quota`: did you mean `quotas`?
        w.yaml:5:3: unknown field `latency_ms` in `call`: did you mean `latency_s`?
        w.yaml:6:14: `latency_s` is `4500ms`: expected a number of seconds, 0.001 or more, or a mapping of mean, p50, p90, p99 and max
        w.yaml:7:18: `output_tokens` has a mean of 10 above its p99 of 5: expected the values in order
        w.yaml:8:15: `max_tokens` is `0`: expected a whole number of tokens, 1 to 1000000000
        w.yaml:9:20: `headroom` is `20`: expected a number as a share, from 0 to below 1
        w.yaml:10:9: `worker` is a list: expected a mapping of batch_size, parallel_calls, calls_per_message, attempts_per_call, overhead_s
        w.yaml:11:1: unknown field `rpm`: it belongs under `quotas:`
        ");
    }

    #[test]
    fn a_unit_in_the_value_gets_the_number_to_write() {
        let help = |text: &str| {
            parse("w.yaml", &format!("schema: 1\nmodel: a.b\n{text}\n")).unwrap_err().list[0].help.clone().unwrap()
        };
        assert!(help("call: {latency_s: 4500ms}").ends_with("write `latency_s: 4.5`"));
        assert!(help("policy: {headroom: 20%}").ends_with("write `headroom: 0.2`"));
        assert!(help("policy: {headroom: 20}").ends_with("write `headroom: 0.2`"));
        assert!(help("quotas: {tpm: '200,000'}").ends_with("write `tpm: 200000`"));
    }

    #[test]
    fn missing_and_doubled_fields() {
        insta::assert_snapshot!(problems("name: x\nname: y\n"), @r"
        w.yaml:1:1: `schema` is missing: add `schema: 1`
        w.yaml:1:1: `model` is missing: add `model: ` and the id that the code passes
        w.yaml:2:1: `name` stands twice: expected each field once
        ");
        insta::assert_snapshot!(problems("- 1\n"), @"w.yaml:1:1: a workload file is a mapping, and this is a list: expected fields such as `model:`");
        insta::assert_snapshot!(problems("schema: 2\nmodel: a.b\n"), @"w.yaml:1:9: `schema` is `2`: expected a whole number, 1");
        insta::assert_snapshot!(
            problems("schema: 1\nmodel: a.b\ncall: {output_tokens: 900, max_tokens: 500}\n"),
            @"w.yaml:3:40: `output_tokens` has a mean of 900, and `max_tokens` cuts every answer at 500: expected at least 900"
        );
        insta::assert_snapshot!(
            problems("schema: 1\nmodel: a.b\npolicy: {headroom: 0.1, throttle_risk: 0.01}\n"),
            @"w.yaml:3:40: `throttle_risk` stands beside `headroom`, which it replaces: expected one of the two"
        );
    }

    #[test]
    fn every_example_is_whole() {
        for (name, text) in EXAMPLES {
            let workload = parse(name, text).unwrap_or_else(|problems| panic!("{problems}"));
            assert!(
                workload.model.is_some() && workload.call.latency_s.p99.is_some() && workload.quotas.tpm.is_some(),
                "{name}"
            );
        }
    }

    proptest! {
        #[test]
        fn any_number_in_range_is_kept_and_any_other_is_reported(value in prop::num::f64::ANY) {
            let text = format!("schema: 1\nmodel: a.b\ncall: {{latency_s: {value}}}\n");
            match parse("w.yaml", &text) {
                Ok(workload) => {
                    prop_assert_eq!(workload.call.latency_s.mean.unwrap().value, value);
                    prop_assert!((0.001..=1e15).contains(&value));
                }
                Err(problems) => prop_assert!(!(0.001..=1e15).contains(&value), "{problems}"),
            }
        }

        #[test]
        fn any_text_is_a_workload_or_a_list_of_problems(text in "[a-z_:{}\\[\\], 0-9\n.'\"&*-]{0,200}") {
            if let Err(problems) = parse("w.yaml", &text) {
                prop_assert!(!problems.list.is_empty());
                prop_assert!(problems.list.iter().all(|problem| problem.span.end <= text.len()));
            }
        }
    }
}
