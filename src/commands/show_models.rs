//! `show models`: what is known of the models, each fact with its source.

use anyhow::Result;
use serde_json::json;

use super::{Report, hinted};
use crate::cli::ShowModelsArgs;
use crate::engine::fact::Fact;
use crate::engine::model_profile::ModelProfile;
use crate::exit::Exit;
use crate::report::document::{Document, Table, Tone};
use crate::report::json::report;
use crate::report::number::count;
use crate::sources::models::Models;

pub fn run(args: &ShowModelsArgs) -> Result<Report> {
    let all = Models::load(args.models.as_deref())?.all();
    let filter = args.filter.as_deref().unwrap_or_default().to_ascii_lowercase();
    let named =
        |profile: &ModelProfile| profile.name.as_deref().is_some_and(|name| name.to_ascii_lowercase().contains(&filter));
    let found: Vec<ModelProfile> = all.into_iter().filter(|profile| profile.id.contains(&filter) || named(profile)).collect();
    if found.is_empty() {
        return Err(hinted(
            format!("no known model has `{filter}` in its id or name"),
            "`forebay show models` lists them all; `--models FILE` adds your own",
        ));
    }
    let mut document = Document::default();
    document.answer(Tone::Plain, format!("{} known models", found.len()));
    // Lifecycle, batch and token counting are in JSON: an id takes half the width of a terminal.
    let mut table = Table::new(&["model=", "burndown>", "max output>", "profiles"]);
    for profile in &found {
        let number = |fact: &Option<Fact<f64>>| fact.as_ref().map_or_else(|| "unknown".to_owned(), |fact| count(fact.value));
        let profiles = if profile.profiles.is_empty() { "-".to_owned() } else { profile.profiles.join(" ") };
        table.row([profile.id.clone(), number(&profile.burndown), number(&profile.max_output_tokens), profiles]);
    }
    document.table(table);
    document.text("Unknown is not 1: a model whose burndown nobody published needs `--burndown`, or a profile of your own with `--models FILE`. Sources, dates, lifecycle and batch support are in --format json.");
    let mut notes: Vec<String> = Vec::new();
    for profile in &found {
        notes.extend(profile.notes.iter().map(|note| format!("{}: {note}", profile.id)));
    }
    document.items(Tone::Plain, notes);
    let view = |profile: &ModelProfile| {
        json!({"id": profile.id, "name": profile.name, "burndown": profile.burndown, "max_output_tokens": profile.max_output_tokens,
               "context_tokens": profile.context_tokens, "batch": profile.batch, "count_tokens": profile.count_tokens,
               "profiles": profile.profiles, "mantle": profile.mantle, "lifecycle": profile.lifecycle,
               "quota_names": profile.quota_names, "notes": profile.notes})
    };
    let json = report("models", json!({"models": found.iter().map(view).collect::<Vec<_>>()}));
    Ok(Report::new(document, json, Exit::Done))
}
