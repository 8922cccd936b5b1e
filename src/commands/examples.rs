//! `show examples`: the embedded workloads.

use anyhow::Result;
use serde_json::json;

use super::{Report, hinted};
use crate::cli::ShowExamplesArgs;
use crate::exit::Exit;
use crate::report::document::{Document, Table, Tone};
use crate::report::json::report;
use crate::sources::workload::{EXAMPLE_PREFIX, EXAMPLES};

pub fn run(args: &ShowExamplesArgs) -> Result<Report> {
    if let Some(name) = &args.name {
        let name = name.strip_prefix(EXAMPLE_PREFIX).unwrap_or(name);
        let found = EXAMPLES.iter().find(|(known, _)| *known == name);
        let known: Vec<&str> = EXAMPLES.iter().map(|(name, _)| *name).collect();
        return found
            .map(|(_, text)| Report::raw((*text).to_owned()))
            .ok_or_else(|| hinted(format!("there is no example `{name}`"), format!("there are {}", known.join(", "))));
    }
    let mut document = Document::default();
    document.answer(Tone::Plain, "Example workloads");
    let mut table = Table::new(&["workload=", "what it is"]);
    let mut views = Vec::new();
    for (name, text) in EXAMPLES {
        let about: Vec<&str> = text.lines().map_while(|line| line.strip_prefix("# ")).collect();
        let about = about.join(" ");
        table.row([format!("{EXAMPLE_PREFIX}{name}"), about.clone()]);
        views.push(json!({"workload": format!("{EXAMPLE_PREFIX}{name}"), "about": about}));
    }
    document.table(table);
    document.text("Plan one: forebay plan concurrency example:image-moderation --offline");
    Ok(Report::new(document, report("examples", json!({"examples": views})), Exit::Done))
}
