//! `init`: a commented workload file, with live values where there are any.

use anyhow::Result;

use super::gather::{Gathered, Need, gather, model_flags, parsed_id, route};
use super::{Report, World};
use crate::cli::InitArgs;
use crate::engine::identity::Identity;
use crate::engine::model_id::{Endpoint, ModelId};
use crate::engine::workload::fields::{Field, Kind, of_section, sections};
use crate::engine::workload::{Quantity, Workload};
use crate::sources::models::Models;

/// The model of a file that names none: one to replace.
const PLACEHOLDER: &str = "us.anthropic.claude-sonnet-4-6";

pub fn run(args: &InitArgs, world: &World) -> Result<Report> {
    let models = Models::load(args.model.models.as_deref())?;
    let workload = model_flags(&args.model);
    // Without a model there is nothing to ask AWS for.
    let known = workload.model.is_some() && !(args.aws.offline && args.aws.snapshot.is_none());
    let mantle = workload.endpoint_or_default() == Endpoint::BedrockMantle;
    let need = Need { quotas: known, metrics: known && !mantle };
    if args.window.dry_run {
        return super::show_usage::dry_run(&workload, route(args.model.route), need, &args.window, &models, world);
    }
    let gathered = if known {
        gather(workload, route(args.model.route), need, args.window.window.minutes, &args.aws, &models, world)?
    } else {
        // What the id itself says is checked all the same.
        if let Some((given, id)) = parsed_id(&workload)?.filter(|(_, id)| !matches!(id, ModelId::Application { .. })) {
            let region = workload.region.as_ref().map(|region| region.value.as_str());
            Identity::new(&given, &id, workload.endpoint_or_default(), route(args.model.route), region, &[])?;
        }
        Gathered { workload, ..Gathered::default() }
    };
    Ok(Report::raw(template(&args.name, &gathered)))
}

/// Every field, with its meaning; what is known is filled in, the rest is a comment to take the `#` from.
fn template(name: &str, gathered: &Gathered) -> String {
    let workload = &gathered.workload;
    let mut out = String::from(
        "# A workload for forebay. A field that is left out is pulled live, or its documented default, or reported missing.\n# A quantity is a number, or {mean, p50, p90, p99, max} with what is known of it.\n",
    );
    for note in &gathered.notes {
        out.push_str(&format!("# note: {note}\n"));
    }
    for section in sections() {
        let indent = if section.is_empty() { "" } else { "  " };
        let lines: Vec<String> = of_section(section).map(|field| line(field, indent, name, workload)).collect();
        if !section.is_empty() {
            let any = lines.iter().any(|line| !line.trim_start().starts_with('#'));
            out.push_str(&format!("{}{section}:\n", if any { "" } else { "# " }));
        }
        out.extend(lines);
    }
    out
}

fn line(field: &Field, indent: &str, name: &str, workload: &Workload) -> String {
    let (value, from) = match value(field, name, workload) {
        Some((value, from)) => (value, from.map_or(String::new(), |from| format!(" [{from}]"))),
        None => {
            let text = format!("# {indent}{}: {}", field.name, example(field));
            return format!("{text:<44} # {}\n", field.help);
        }
    };
    let text = format!("{indent}{}: {value}", field.name);
    format!("{text:<44} # {}{from}\n", field.help)
}

/// What is known of a field, as YAML, and where it is from.
fn value(field: &Field, name: &str, workload: &Workload) -> Option<(String, Option<String>)> {
    let quota = |fact: &Option<crate::engine::fact::Fact<Option<f64>>>| {
        fact.as_ref()
            .map(|fact| (fact.value.map_or("null".to_owned(), |value| value.to_string()), Some(fact.source.to_string())))
    };
    let number = |fact: &Option<crate::engine::fact::Fact<f64>>| {
        fact.as_ref().map(|fact| (rounded(fact.value), Some(fact.source.to_string())))
    };
    let text = |fact: &Option<crate::engine::fact::Fact<String>>| fact.as_ref().map(|fact| (quoted(&fact.value), None));
    match field.name {
        "schema" => Some(("1".to_owned(), None)),
        "name" => Some((quoted(name), None)),
        "model" => text(&workload.model).or_else(|| Some((PLACEHOLDER.to_owned(), Some("replace it".to_owned())))),
        "region" => text(&workload.region),
        "endpoint" => workload.endpoint.as_ref().map(|fact| (fact.value.to_string(), None)),
        "rpm" => quota(&workload.quotas.rpm),
        "tpm" => quota(&workload.quotas.tpm),
        "input_tpm" => quota(&workload.quotas.input_tpm),
        "output_tpm" => quota(&workload.quotas.output_tpm),
        "latency_s" => quantity(&workload.call.latency_s),
        "input_tokens" => quantity(&workload.call.input_tokens),
        "cache_write_tokens" => quantity(&workload.call.cache_write_tokens),
        "cache_read_tokens" => quantity(&workload.call.cache_read_tokens),
        "output_tokens" => quantity(&workload.call.output_tokens),
        "others_rpm" => number(&workload.policy.others_rpm),
        "others_tpm" => number(&workload.policy.others_tpm),
        _ => None,
    }
}

fn quantity(quantity: &Quantity) -> Option<(String, Option<String>)> {
    let mean = quantity.mean.as_ref()?;
    let source = Some(mean.source.to_string());
    let ranks: Vec<String> = quantity.ranks().map(|(part, fact)| format!("{part}: {}", rounded(fact.value))).collect();
    if ranks.is_empty() {
        return Some((rounded(mean.value), source));
    }
    Some((format!("{{mean: {}, {}}}", rounded(mean.value), ranks.join(", ")), source))
}

/// Six figures: more are noise, and fewer would change a plan.
fn rounded(value: f64) -> String {
    let places = if value.abs() >= 1000.0 { 1 } else { 4 };
    let text = format!("{value:.places$}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// Plain where YAML reads it as the same text.
fn quoted(text: &str) -> String {
    let plain = text.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | ':' | '/'))
        && text.starts_with(|c: char| c.is_ascii_alphabetic())
        && !text.ends_with(':')
        && !matches!(text.to_ascii_lowercase().as_str(), "null" | "true" | "false" | "yes" | "no" | "on" | "off");
    if plain { text.to_owned() } else { format!("'{}'", text.replace('\'', "''")) }
}

/// What a field could look like.
fn example(field: &Field) -> &'static str {
    match (field.name, field.kind) {
        ("endpoint", _) => "bedrock-runtime",
        ("region", _) => "us-east-1",
        ("rpm", _) => "200",
        ("tpm", _) => "200000",
        ("input_tpm", _) => "20000000",
        ("output_tpm", _) => "2000000",
        ("latency_s", _) => "{mean: 4.5, p99: 9.0, max: 14.0}",
        ("input_tokens", _) => "{mean: 1600, p99: 1900}",
        ("output_tokens", _) => "{mean: 150, p99: 420}",
        ("cache_write_tokens" | "cache_read_tokens" | "overhead_s" | "others_rpm" | "others_tpm" | "others_output_tpm", _) => {
            "0"
        }
        ("max_tokens", _) => "500",
        ("burndown", _) => "5",
        ("attempts_per_call", _) => "1.0",
        ("headroom", _) => "0.2",
        ("start", _) => "burst",
        ("tested_in_flight", _) => "25",
        ("throttle_risk", _) => "0.01",
        ("visibility_timeout_s", _) => "300",
        ("lambda_timeout_s", _) => "180",
        ("read_timeout_s", _) => "120",
        ("maximum_concurrency" | "reserved_concurrency" | "max_receive_count", _) => "5",
        ("messages_per_min", _) => "60",
        ("burst", _) => "300",
        ("trace", _) => "arrivals.csv",
        ("records", _) => "40000",
        ("needs", _) => "[]",
        (_, Kind::Duration) => "8h",
        (_, Kind::Durations) => "[55m, 70m]",
        (_, Kind::Flag) => "false",
        _ => "1",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sources::workload::parse;

    #[test]
    fn the_template_is_a_workload_file_with_and_without_its_comments() {
        let text = template("x", &Gathered::default());
        parse("init", &text).unwrap();
        // Every commented field becomes a valid one when its `#` is taken away.
        let all: String = text
            .lines()
            .skip(2)
            .map(|line| format!("{}\n", line.strip_prefix("# ").unwrap_or(line)))
            .filter(|line| !["input_tpm", "output_tpm", "throttle_risk"].iter().any(|name| line.contains(name)))
            .collect();
        let workload = parse("init", &all).unwrap();
        assert_eq!(workload.call.latency_s.p99.unwrap().value, 9.0);
        assert_eq!(workload.policy.headroom.unwrap().value, 0.2);
    }

    #[test]
    fn names_that_yaml_would_read_as_something_else_are_quoted() {
        for (text, yaml) in [("a-b", "a-b"), ("on", "'on'"), ("1st", "'1st'"), ("it's", "'it''s'"), ("a b", "'a b'")] {
            assert_eq!(quoted(text), yaml);
        }
        assert_eq!(rounded(4.5), "4.5");
        assert_eq!(rounded(1617.04), "1617");
        assert_eq!(rounded(0.0), "0");
    }
}
