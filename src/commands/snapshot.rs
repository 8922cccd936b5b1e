//! `snapshot`: quotas and metrics of a Region in one file.

use anyhow::Result;

use super::{Report, World};
use crate::cli::SnapshotArgs;

#[cfg(feature = "live")]
pub fn run(args: &SnapshotArgs, world: &World) -> Result<Report> {
    use super::gather::{LiveAsk, Need, parsed_id, with_file};
    use super::hinted;
    use crate::engine::fact::{Fact, Source};
    use crate::engine::model_id::Endpoint;
    use crate::engine::workload::Workload;
    use crate::sources::aws::pull::Ask;
    use crate::sources::models::Models;
    use crate::sources::snapshot_file;

    if args.aws.offline || args.aws.snapshot.is_some() {
        return Err(hinted("a snapshot is taken from live AWS", "drop `--offline` and `--snapshot`"));
    }
    let models = Models::load(args.models.as_deref())?;
    let mut workloads = Vec::new();
    for path in &args.workloads {
        workloads.push(with_file(Workload::default(), Some(path))?);
    }
    for model in &args.model {
        workloads.push(Workload { model: Some(Fact::new(model.clone(), Source::flag("model"))), ..Workload::default() });
    }
    let mut region = args.region.clone();
    let mut asks = Vec::new();
    for workload in &workloads {
        let Some((given, id)) = parsed_id(workload)? else { continue };
        match (&region, &workload.region) {
            (None, Some(named)) => region = Some(named.value.clone()),
            (Some(region), Some(named)) if *region != named.value => {
                let message =
                    format!("a snapshot is of one Region, and {} names {} beside {region}", named.source, named.value);
                return Err(hinted(message, "take one snapshot for each Region"));
            }
            _ => {}
        }
        asks.push(Ask {
            given,
            id,
            endpoint: workload.endpoint_or_default(),
            said_route: None,
            quotas: true,
            window_minutes: (workload.endpoint_or_default() == Endpoint::BedrockRuntime).then_some(args.window.window.minutes),
        });
    }
    if args.window.dry_run {
        let asks: Vec<LiveAsk> = asks
            .into_iter()
            .map(|ask| LiveAsk {
                given: ask.given,
                id: ask.id,
                endpoint: ask.endpoint,
                said_route: None,
                need: Need { quotas: true, metrics: ask.window_minutes.is_some() },
                window_minutes: args.window.window.minutes,
            })
            .collect();
        let dry = super::live::dry_run(region.as_deref(), &asks, true, &models, args.window.metric_price, world)?;
        return Ok(super::show_usage::dry_run_report(&dry));
    }
    let snapshot = super::live::Session::open(&args.aws, region, world)?.whole(&asks, &models)?;
    Ok(Report::raw(snapshot_file::to_text(&snapshot)))
}

#[cfg(not(feature = "live"))]
pub fn run(_: &SnapshotArgs, _: &World) -> Result<Report> {
    Err(super::gather::no_live())
}
