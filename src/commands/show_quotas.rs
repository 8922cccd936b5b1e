//! `show quotas`: the rows of a model, or those of every model of a Region.

use anyhow::Result;
use serde_json::{Value, json};

use super::gather::{model_flags, parsed_id, profile, route, with_file};
use super::{Report, World, hinted};
use crate::cli::ShowQuotasArgs;
use crate::engine::identity::Identity;
use crate::engine::quota_match::Matcher;
use crate::engine::quota_name::{Metric, QuotaName, Scope};
use crate::engine::snapshot::{QuotaRow, Snapshot, console_url};
use crate::engine::workload::Workload;
use crate::exit::Exit;
use crate::report::document::{Document, Table, Tone};
use crate::report::json::report;
use crate::report::number::count;
use crate::sources::models::Models;
use crate::sources::snapshot_file;

pub fn run(args: &ShowQuotasArgs, world: &World) -> Result<Report> {
    let models = Models::load(args.model.models.as_deref())?;
    let workload = with_file(model_flags(&args.model), args.workload.as_deref())?;
    let (snapshot, origin) = match &args.aws.snapshot {
        Some(path) => {
            let snapshot = snapshot_file::read(path)?;
            super::gather::check_region(&workload, &snapshot, path)?;
            let origin = format!("{} of {}", path.display(), snapshot.taken_at);
            (snapshot, origin)
        }
        None => (live(args, &workload, &models, world)?, "live".to_owned()),
    };
    let Some(list) = &snapshot.quotas else {
        return Err(hinted("the snapshot has no quotas", "take one with `forebay snapshot`"));
    };
    let identity = match parsed_id(&workload)? {
        None => None,
        Some((given, id)) => Some(Identity::new(
            &given,
            &id,
            workload.endpoint_or_default(),
            route(args.model.route),
            Some(&snapshot.region),
            snapshot.application_profiles.as_deref().unwrap_or_default(),
        )?),
    };
    let rows: Vec<(&QuotaRow, QuotaName)> = match &identity {
        Some(identity) => {
            let known = models.of_vendor(identity.vendor());
            let matcher = Matcher::new(&identity.model, &known);
            let rows = matcher.rows(&list.rows);
            if rows.is_empty() {
                let scope = crate::engine::quota_match::minute_scope(identity.endpoint, identity.route);
                let nearest = matcher.nearest(&list.rows, scope, 5);
                let known = if profile(identity, &models).is_some() { "" } else { ", and no model profile is known for it" };
                let hint = if nearest.is_empty() {
                    "no row of this route at all: is this the Region?".to_owned()
                } else {
                    format!("the nearest names are {}", nearest.join(", "))
                };
                return Err(hinted(
                    format!("Service Quotas of {} has no row for {}{known}", snapshot.region, identity.model),
                    hint,
                ));
            }
            named(rows)
        }
        // Of a whole Region, what limits traffic; batch and provisioned rows only of a single model.
        None => named(list.rows.iter()).into_iter().filter(|(_, name)| limits_traffic(name)).collect(),
    };
    let title = match &identity {
        Some(identity) => format!("Quotas of {} in {}", identity.model, snapshot.region),
        None => format!("Inference quotas in {}: {} rows", snapshot.region, rows.len()),
    };
    let mut document = Document::default();
    document.answer(Tone::Plain, title);
    document.table(table(&rows, identity.is_some()));
    notes(&mut document, &rows, &snapshot, &origin);
    let views: Vec<Value> = rows.iter().map(|(row, name)| view(row, name, &snapshot.region)).collect();
    let json = report(
        "quotas",
        json!({"region": snapshot.region, "model": identity.as_ref().map(|identity| &identity.model), "quotas": views, "notes": snapshot.notes}),
    );
    Ok(Report::new(document, json, Exit::Done))
}

fn named<'r>(rows: impl IntoIterator<Item = &'r QuotaRow>) -> Vec<(&'r QuotaRow, QuotaName)> {
    let mut rows: Vec<_> = rows.into_iter().filter_map(|row| Some((row, QuotaName::parse(&row.name)?))).collect();
    rows.sort_by(|(a, a_name), (b, b_name)| {
        let key = |name: &QuotaName, row: &QuotaRow| {
            (name.model.clone(), name.scope, name.metric, name.long_context, row.code.clone())
        };
        key(a_name, a).cmp(&key(b_name, b))
    });
    rows
}

fn limits_traffic(name: &QuotaName) -> bool {
    let runtime = matches!(name.scope, Scope::OnDemand | Scope::OnDemandLatencyOptimized | Scope::Geo | Scope::Global);
    runtime || matches!(name.scope, Scope::Shared | Scope::SharedLatencyOptimized | Scope::Account | Scope::Mantle)
}

fn table(rows: &[(&QuotaRow, QuotaName)], of_one_model: bool) -> Table {
    let mut table = if of_one_model {
        Table::new(&["route", "quota", "applied>", "default>", "code=", "adjustable"])
    } else {
        Table::new(&["model", "quota", "applied>", "default>", "code="])
    };
    for (row, name) in rows {
        let amount = |value: Option<f64>| value.map_or_else(|| "-".to_owned(), count);
        let applied = match row.applied {
            Some(applied) if applied == 0.0 && limits(name) => "0 (blocked)".to_owned(),
            applied => amount(applied),
        };
        let metric = if name.long_context { format!("{}, 1M context", name.metric) } else { name.metric.to_string() };
        let (scope, default, code) = (name.scope.to_string(), amount(row.default), row.code.clone());
        if of_one_model {
            let adjustable = match row.adjustable {
                Some(true) => "yes",
                Some(false) => "no",
                None => "-",
            };
            table.row([scope, metric, applied, default, code, adjustable.to_owned()]);
        } else {
            let model = name.model.clone().unwrap_or_else(|| "(the account)".to_owned());
            table.row([model, format!("{scope} {metric}"), applied, default, code]);
        }
    }
    table
}

/// Whether 0 means that calls are blocked; 0 model units just means that none were bought.
fn limits(name: &QuotaName) -> bool {
    !matches!(name.metric, Metric::ModelUnits)
}

fn notes(document: &mut Document, rows: &[(&QuotaRow, QuotaName)], snapshot: &Snapshot, origin: &str) {
    let below: Vec<String> = rows
        .iter()
        .filter(|(_, name)| limits(name))
        .filter_map(|(row, _)| match (row.applied, row.default) {
            (Some(applied), Some(default)) if applied < default => {
                Some(format!("`{}` is applied as {}, below AWS's default of {}", row.name, count(applied), count(default)))
            }
            _ => None,
        })
        .collect();
    let many = below.len() > 5;
    document.items(Tone::Warning, below.iter().take(5).cloned());
    if many {
        document.text(format!("{} more rows are applied below their default; --format json has them all.", below.len() - 5));
    }
    let first = rows.first();
    document.text(format!(
        "From Service Quotas, {origin}. A row of the console: {}",
        console_url(&snapshot.region, first.map_or("CODE", |(row, _)| row.code.as_str()))
    ));
    document.items(Tone::Warning, snapshot.notes.iter().cloned());
}

fn view(row: &QuotaRow, name: &QuotaName, region: &str) -> Value {
    json!({"code": row.code, "name": row.name, "model": name.model, "scope": name.scope, "metric": name.metric,
           "long_context": name.long_context, "applied": row.applied, "default": row.default,
           "blocked": row.applied == Some(0.0) && limits(name),
           "below_default": row.applied.zip(row.default).map(|(applied, default)| applied < default),
           "adjustable": row.adjustable, "console": row.console_url(region)})
}

#[cfg(feature = "live")]
fn live(args: &ShowQuotasArgs, workload: &Workload, models: &Models, world: &World) -> Result<Snapshot> {
    if args.aws.offline {
        return Err(hinted("quotas come from AWS, and `--offline` forbids to ask it", "give a `--snapshot`"));
    }
    let region = workload.region.as_ref().map(|region| region.value.clone());
    super::live::Session::open(&args.aws, region, world)?.whole(&[], models)
}

#[cfg(not(feature = "live"))]
fn live(_: &ShowQuotasArgs, _: &Workload, _: &Models, _: &World) -> Result<Snapshot> {
    Err(super::gather::no_live())
}
