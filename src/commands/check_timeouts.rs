//! `check timeouts`: the chain from the queue to the model, in templates, source code and live settings.

mod baseline;
mod deployed;
mod describe;
mod fix;
mod given;
mod view;

use std::collections::{BTreeMap, HashSet};
use std::path::PathBuf;

use anyhow::{Context as _, Result};

use super::{Findings, Report, World, hinted};
use crate::cli::{CheckTimeoutsArgs, FailOn, FindingArgs};
use crate::engine::chain::{Chain, Context};
use crate::engine::deployment::Deployment;
use crate::engine::drift::drift;
use crate::engine::fact::Fact;
use crate::engine::finding::{Finding, Label, Severity};
use crate::engine::model_id::ModelId;
use crate::engine::rules::{self, Need, RULES, rule};
use crate::engine::suggestion::{Suggestion, suggest};
use crate::engine::suppress::suppress;
use crate::exit::Exit;
use crate::report::document::Texts;
use crate::sources::iac::Unreadable;
use crate::sources::models::Models;
use crate::sources::project::Project;
use crate::sources::workload::nearest;

/// Everything that the report speaks of.
pub(super) struct Checked<'d> {
    pub(super) chains: Vec<Chain<'d>>,
    pub(super) suggestions: Vec<Option<Suggestion>>,
    pub(super) findings: Vec<Finding>,
    pub(super) texts: Texts,
    pub(super) slowest: Option<Fact<f64>>,
    /// Rules that could not fire, and what they would have needed.
    pub(super) unchecked: Vec<(&'static str, &'static str)>,
    pub(super) suppressed: usize,
    pub(super) in_baseline: usize,
    pub(super) notes: Vec<String>,
}

pub fn run(args: &CheckTimeoutsArgs, world: &World) -> Result<Report> {
    known_rules(&args.findings)?;
    let models = Models::load(args.models.as_deref())?;
    let given = given::gather(args, &models, world)?;
    let project = Project::collect(&paths(args), given::templates(args)?).map_err(anyhow::Error::from)?;
    let mut read = project.read();
    let mut notes = given.notes.clone();
    notes.extend(unused_parameters(args, &project));
    let deployed = if args.live { Some(deployed::read(args, world)?) } else { None };
    if args.paths.is_empty() && deployed.is_none() {
        if given.deployment.mappings.is_empty() && given.deployment.functions.is_empty() {
            return Err(hinted(
                "nothing to check: no path, no chain by flags, no workload file with a pipeline",
                "`forebay check timeouts .` checks a folder; `--visibility 300s --lambda 180s --read 120s` one chain by flags",
            ));
        }
        read.deployment.merge(given.deployment);
    }
    let mut found = Vec::new();
    match deployed {
        Some(live) if args.paths.is_empty() => {
            read.deployment.merge(live);
            project.read_sources(&mut read.deployment);
            read.deployment.apply_environment();
        }
        Some(live) => {
            let (differences, unknown) = drift(&read.deployment, &live);
            found = differences;
            notes.extend(unknown.into_iter().map(|chain| format!("live, and in none of the templates: {chain}")));
        }
        None => {}
    }
    let maximum = |id: &str| model_maximum(&models, id);
    let context = Context {
        slowest_call_s: given.slowest.clone(),
        calls_per_message: given.calls_per_message,
        parallel_calls: given.parallel_calls,
        overhead_s: given.overhead_s,
        allowed_in_flight: given.allowed_in_flight.clone(),
        model_maximum: &maximum,
    };
    let deployment = read.deployment;
    let mut chains = deployment.chains();
    chains.extend(deployment.clients_alone().into_iter().filter(|chain| is_named(chain, &project, &deployment)));
    found.extend(chains.iter().flat_map(|chain| rules::check(chain, &context)));
    let unknown = deployment.unknown_mappings();
    found.extend(deployment.unresolved.iter().chain(&unknown).map(rules::unknown_resources));
    found.extend(read.unreadable.iter().filter_map(unreadable));
    given::tidy(&mut found);
    // The same value may stand in several chains, and is one finding.
    dedup(&mut found);
    let files: Vec<_> = project.texts().into_iter().chain(given.texts).collect();
    let (mut found, suppressed) = suppress(found, &files);
    severities(&mut found, &args.findings);
    sort(&mut found);
    let texts = Texts::new(files);
    if let Some(path) = &args.findings.write_baseline {
        baseline::write(path, &found, &texts)?;
    }
    let before = found.len();
    if let Some(path) = &args.findings.baseline {
        let known = baseline::read(path)?;
        let stale = known.take_out(&mut found, &texts);
        if stale > 0 {
            notes.push(format!("{stale} entries of the baseline `{}` are not found any more: write it anew", path.display()));
        }
    }
    let in_baseline = before - found.len();
    let unchecked = unchecked(&chains, &context);
    let suggestions = chains.iter().map(|chain| suggest(chain, &context)).collect();
    let exit = exit(&found, args, chains.is_empty() && read.unreadable.is_empty());
    let checked = Checked {
        suggestions,
        slowest: given.slowest.clone(),
        unchecked,
        suppressed,
        in_baseline,
        notes,
        texts: texts.clone(),
        findings: found.clone(),
        chains,
    };
    if args.findings.fix {
        return Ok(Report::raw(fix::diff(&checked.findings, &texts)));
    }
    let counts = files_checked(&checked);
    let report = Report::new(describe::document(&checked), view::json(&checked), exit);
    Ok(Report { findings: Some(Findings { list: found, texts, checked: counts }), ..report })
}

/// Templates and sources alike: what is named by `--source` is read as source.
fn paths(args: &CheckTimeoutsArgs) -> Vec<PathBuf> {
    args.paths.iter().chain(&args.source).cloned().collect()
}

/// A client alone is checked where its file was named, or where nothing else is there to check.
fn is_named(chain: &Chain<'_>, project: &Project, deployment: &Deployment) -> bool {
    let named = chain.clients().iter().any(|client| project.named_sources.iter().any(|path| **path == *client.place.path));
    named || deployment.mappings.is_empty()
}

fn known_rules(args: &FindingArgs) -> Result<()> {
    for (flag, ids) in [("--allow", &args.allow), ("--warn", &args.warn), ("--deny", &args.deny)] {
        for id in ids {
            if rule(id).is_none() {
                let hint = match nearest(id, RULES.iter().map(|rule| rule.id)) {
                    Some(near) => format!("did you mean `{near}`?"),
                    None => "`forebay explain` lists the rules".to_owned(),
                };
                return Err(hinted(format!("{flag} {id}: there is no such rule"), hint));
            }
        }
    }
    Ok(())
}

fn unused_parameters(args: &CheckTimeoutsArgs, project: &Project) -> Vec<String> {
    let declared = project.parameters();
    let unused = args.parameter.iter().filter(|(name, _)| !declared.contains(&name.as_str()) && !project.has_serverless());
    unused.map(|(name, _)| format!("--parameter {name}: no template declares it")).collect()
}

fn model_maximum(models: &Models, id: &str) -> Option<f64> {
    let Ok(ModelId::Base(base)) = ModelId::parse(id) else { return None };
    let profile = models.of_vendor(base.vendor()).into_iter().find(|profile| profile.id == base.model)?;
    profile.max_output_tokens.map(|fact| fact.value)
}

fn unreadable(file: &Unreadable) -> Option<Finding> {
    let rule = rule("input-unreadable")?;
    Some(Finding {
        rule: rule.id,
        severity: rule.severity,
        message: format!("`{}` cannot be read: {}", file.place.path, file.message),
        labels: vec![Label { place: file.place.clone(), text: file.message.clone() }],
        suggestion: None,
        edit: None,
        subject: None,
        queue: None,
        function: None,
    })
}

/// What several mappings of a function share is said once: the same words about the same function at the same place.
fn dedup(found: &mut Vec<Finding>) {
    let mut seen = HashSet::new();
    found.retain(|finding| {
        let Some(place) = finding.place() else { return true };
        seen.insert((finding.rule, place.clone(), finding.function.clone(), finding.message.clone()))
    });
}

/// By place; what has none comes last.
fn sort(found: &mut [Finding]) {
    found.sort_by(|a, b| {
        let key = |finding: &Finding| {
            let place = finding.place();
            (place.is_none(), place.map(|place| (place.path.clone(), place.line, place.column)))
        };
        key(a).cmp(&key(b)).then(b.severity.cmp(&a.severity)).then(a.rule.cmp(b.rule))
    });
}

fn severities(found: &mut Vec<Finding>, args: &FindingArgs) {
    found.retain(|finding| !args.allow.iter().any(|id| id == finding.rule));
    for finding in found {
        if args.deny.iter().any(|id| id == finding.rule) {
            finding.severity = Severity::Error;
        } else if args.warn.iter().any(|id| id == finding.rule) {
            finding.severity = Severity::Warning;
        }
    }
}

fn exit(found: &[Finding], args: &CheckTimeoutsArgs, nothing: bool) -> Exit {
    let least = match args.findings.fail_on {
        FailOn::Error => Some(Severity::Error),
        FailOn::Warning => Some(Severity::Warning),
        FailOn::Note => Some(Severity::Note),
        FailOn::Never => None,
    };
    if least.is_some_and(|least| found.iter().any(|finding| finding.severity >= least)) {
        Exit::Missed
    } else if nothing {
        Exit::Nothing
    } else {
        Exit::Done
    }
}

/// What rules could not be checked for want of something that is not known.
fn unchecked(chains: &[Chain<'_>], context: &Context<'_>) -> Vec<(&'static str, &'static str)> {
    let has_client = chains.iter().any(|chain| !chain.clients().is_empty());
    let has_mapping = chains.iter().any(|chain| chain.mapping.is_some());
    RULES
        .iter()
        .filter_map(|rule| match rule.needs {
            Need::SlowestCall if context.slowest_call_s.is_none() && (has_client || has_mapping) => {
                Some((rule.id, "the slowest call is not known: give --slowest-call, or a --workload"))
            }
            Need::Plan if context.allowed_in_flight.is_none() && has_mapping => {
                Some((rule.id, "the plan is not known: give a --workload"))
            }
            _ => None,
        })
        .collect()
}

/// The files of chains, with how many each has.
fn files_checked(checked: &Checked<'_>) -> Vec<(String, usize)> {
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for chain in &checked.chains {
        let place = chain.mapping.and_then(|mapping| mapping.place.as_ref());
        let place = place.or(chain.function.get().and_then(|function| function.place.as_ref()));
        let place = place.or(chain.client().map(|client| &client.place));
        if let Some(place) = place {
            *counts.entry(place.path.to_string()).or_default() += 1;
        }
    }
    counts.into_iter().collect()
}

/// Reads a file that the user named.
fn read_text(path: &std::path::Path) -> Result<String> {
    crate::sources::text_file::read(path).with_context(|| format!("reading `{}`", path.display()))
}
