//! Filling a workload: flags, then its file, then a snapshot or live AWS, then the model profile.

use std::path::Path;

use anyhow::Context as _;

use super::{World, hinted};
use crate::cli::{AwsArgs, EndpointArg, ModelArgs, QuotaArg, RouteArg, WorkloadArgs};
use crate::engine::fact::{Fact, Source};
use crate::engine::identity::{Identity, IdentityError};
use crate::engine::model_id::{Endpoint, ModelId, Route};
use crate::engine::model_profile::ModelProfile;
use crate::engine::observed::{Origin, Rows, Traffic, quota_facts, traffic_facts};
use crate::engine::quota_match::Matcher;
use crate::engine::snapshot::Snapshot;
use crate::engine::workload::{Quantity, Workload};
use crate::sources::models::Models;
use crate::sources::{snapshot_file, workload};

/// A workload, and everything that was found about it.
#[derive(Default)]
pub struct Gathered {
    pub workload: Workload,
    pub identity: Option<Identity>,
    pub profile: Option<ModelProfile>,
    pub rows: Option<Rows>,
    pub traffic: Option<Traffic>,
    /// The Region that quotas and metrics are of.
    pub region: Option<String>,
    pub notes: Vec<String>,
    /// The connection that was opened, for what turns out to be needed later.
    #[cfg(feature = "live")]
    pub session: Option<super::live::Session>,
}

/// What a command needs to know besides what flags and file say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Need {
    pub quotas: bool,
    pub metrics: bool,
}

impl Need {
    pub fn anything(self) -> bool {
        self.quotas || self.metrics
    }
}

pub fn route(arg: Option<RouteArg>) -> Option<Route> {
    arg.map(|route| match route {
        RouteArg::OnDemand => Route::OnDemand,
        RouteArg::Geo => Route::Geo,
        RouteArg::Global => Route::Global,
    })
}

fn text(value: Option<&String>, flag: &str) -> Option<Fact<String>> {
    value.map(|value| Fact::new(value.clone(), Source::flag(flag)))
}

fn number(value: Option<f64>, flag: &str) -> Option<Fact<f64>> {
    value.map(|value| Fact::new(value, Source::flag(flag)))
}

/// The model by flags.
pub fn model_flags(args: &ModelArgs) -> Workload {
    Workload {
        model: text(args.model.as_ref(), "model"),
        region: text(args.region.as_ref(), "region"),
        endpoint: args.endpoint.map(|endpoint| {
            let endpoint = match endpoint {
                EndpointArg::BedrockRuntime => Endpoint::BedrockRuntime,
                EndpointArg::BedrockMantle => Endpoint::BedrockMantle,
            };
            Fact::new(endpoint, Source::flag("endpoint"))
        }),
        ..Workload::default()
    }
}

/// The whole workload by flags.
pub fn workload_flags(args: &WorkloadArgs) -> Workload {
    let mut flags = model_flags(&args.model);
    let quota = |value: Option<QuotaArg>, flag: &str| value.map(|QuotaArg(value)| Fact::new(value, Source::flag(flag)));
    flags.quotas.rpm = quota(args.rpm, "rpm");
    flags.quotas.tpm = quota(args.tpm, "tpm");
    flags.quotas.input_tpm = quota(args.input_tpm, "input-tpm");
    flags.quotas.output_tpm = quota(args.output_tpm, "output-tpm");
    let mean = |value, flag| Quantity { mean: number(value, flag), ..Quantity::default() };
    flags.call.latency_s = Quantity {
        p99: number(args.latency_p99, "latency-p99"),
        max: number(args.latency_max, "latency-max"),
        ..mean(args.latency, "latency")
    };
    flags.call.input_tokens =
        Quantity { p99: number(args.input_tokens_p99, "input-tokens-p99"), ..mean(args.input_tokens, "input-tokens") };
    flags.call.output_tokens =
        Quantity { p99: number(args.output_tokens_p99, "output-tokens-p99"), ..mean(args.output_tokens, "output-tokens") };
    flags.call.cache_write_tokens = mean(args.cache_write_tokens, "cache-write-tokens");
    flags.call.cache_read_tokens = mean(args.cache_read_tokens, "cache-read-tokens");
    flags.call.max_tokens = number(args.max_tokens, "max-tokens");
    flags.call.burndown = number(args.burndown, "burndown");
    flags.worker.batch_size = number(args.batch_size, "batch-size");
    flags.worker.parallel_calls = number(args.parallel_calls, "parallel-calls");
    flags.worker.calls_per_message = number(args.calls_per_message, "calls-per-message");
    flags.worker.attempts_per_call = number(args.attempts_per_call, "attempts-per-call");
    flags.worker.overhead_s = number(args.overhead, "overhead");
    flags
}

/// Flags over a workload file.
///
/// # Errors
/// Where the file is none.
pub fn with_file(mut flags: Workload, file: Option<&Path>) -> anyhow::Result<Workload> {
    if let Some(file) = file {
        let mut from_file = workload::read(file)?;
        // The two exclude each other: a flag replaces either of the file's.
        if flags.policy.headroom.is_some() || flags.policy.throttle_risk.is_some() {
            (from_file.policy.headroom, from_file.policy.throttle_risk) = (None, None);
        }
        flags.fill(from_file);
    }
    Ok(flags)
}

/// The id of a workload's model, parsed; `None` where it names none.
///
/// # Errors
/// Where the id is none.
pub fn parsed_id(workload: &Workload) -> anyhow::Result<Option<(String, ModelId)>> {
    let Some(model) = &workload.model else { return Ok(None) };
    let id = ModelId::parse(&model.value).with_context(|| format!("the model of {}", model.source))?;
    Ok(Some((model.value.clone(), id)))
}

/// Holds a workload's Region against a snapshot's.
///
/// # Errors
/// Where the two differ: quotas are of one Region.
pub fn check_region(workload: &Workload, snapshot: &Snapshot, path: &Path) -> anyhow::Result<()> {
    match &workload.region {
        Some(region) if region.value != snapshot.region => {
            let message = format!(
                "the snapshot `{}` is of {}, and the workload is in {} ({})",
                path.display(),
                snapshot.region,
                region.value,
                region.source
            );
            Err(hinted(message, "take a snapshot of that Region, or name the other one by `--region`"))
        }
        _ => Ok(()),
    }
}

/// Fills a workload with what AWS says, as far as `need` asks for it.
///
/// # Errors
/// Where the model has no on-demand quota, contradicts what else was said, or AWS cannot be asked.
pub fn gather(
    workload: Workload,
    said_route: Option<Route>,
    need: Need,
    window_minutes: i64,
    aws: &AwsArgs,
    models: &Models,
    world: &World,
) -> anyhow::Result<Gathered> {
    let Some((given, id)) = parsed_id(&workload)? else {
        if need.anything() && !aws.offline {
            return Err(hinted(
                "no model was named: neither a workload file nor `--model` does",
                "give `--model` and the id that the code passes, or `forebay show models` to see the known ones",
            ));
        }
        return Ok(Gathered { workload, ..Gathered::default() });
    };
    let endpoint = workload.endpoint_or_default();
    let region = workload.region.as_ref().map(|region| region.value.clone());
    if let Some(path) = &aws.snapshot {
        let snapshot = snapshot_file::read(path)?;
        check_region(&workload, &snapshot, path)?;
        let identity = Identity::new(
            &given,
            &id,
            endpoint,
            said_route,
            Some(&snapshot.region),
            snapshot.application_profiles.as_deref().unwrap_or_default(),
        )?;
        let origin =
            Origin { region: snapshot.region.clone(), file: Some((path.display().to_string(), snapshot.taken_at.clone())) };
        return Ok(fill(workload, identity, need, &snapshot, &origin, models));
    }
    // An application profile says nothing of its model: what the model profile would give has to come from elsewhere.
    let unresolved =
        matches!(id, ModelId::Application { .. }) && (workload.call.burndown.is_none() || workload.call.max_tokens.is_none());
    if !aws.offline && (need.anything() || unresolved) {
        let ask = LiveAsk { given, id, endpoint, said_route, need, window_minutes };
        return live(workload, ask, aws, models, world);
    }
    let identity = match Identity::new(&given, &id, endpoint, said_route, region.as_deref(), &[]) {
        Ok(identity) => identity,
        // With every number given nothing hangs on what the profile was copied from.
        Err(IdentityError::Unresolved { given }) if !unresolved && !need.anything() => {
            let notes = vec![format!("what `{given}` was copied from was not asked: its route and quota are taken as given")];
            return Ok(Gathered { workload, region, notes, ..Gathered::default() });
        }
        Err(error) => return Err(error.into()),
    };
    let region = region.or_else(|| named_region(&id));
    let profile = profile(&identity, models);
    Ok(Gathered { workload, identity: Some(identity), profile, region, ..Gathered::default() })
}

/// What is asked of live AWS.
#[derive(Clone, Debug)]
pub struct LiveAsk {
    pub given: String,
    pub id: ModelId,
    pub endpoint: Endpoint,
    pub said_route: Option<Route>,
    pub need: Need,
    pub window_minutes: i64,
}

#[cfg(feature = "live")]
fn live(workload: Workload, ask: LiveAsk, aws: &AwsArgs, models: &Models, world: &World) -> anyhow::Result<Gathered> {
    super::live::gather(workload, ask, aws, models, world)
}

/// The Region that an ARN names.
pub fn named_region(id: &ModelId) -> Option<String> {
    match id {
        ModelId::Base(base) => base.region.clone(),
        ModelId::Application { region, .. } => region.clone(),
        ModelId::Unmetered { .. } => None,
    }
}

#[cfg(not(feature = "live"))]
fn live(_: Workload, _: LiveAsk, _: &AwsArgs, _: &Models, _: &World) -> anyhow::Result<Gathered> {
    Err(no_live())
}

/// What a build without AWS says where it would have to ask.
#[cfg(not(feature = "live"))]
pub fn no_live() -> anyhow::Error {
    hinted(
        "this forebay was built without `live` and cannot ask AWS",
        "give a `--snapshot`, or the values by flags or file with `--offline`, or install it with default features",
    )
}

pub fn profile(identity: &Identity, models: &Models) -> Option<ModelProfile> {
    models.of_vendor(identity.vendor()).into_iter().find(|profile| profile.id == identity.model)
}

/// Fills a workload from a snapshot: one from a file, or one just pulled. A file may hold more than is needed; that it is
/// there changes nothing, for a plan from a snapshot is the plan that live AWS would give.
pub fn fill(
    mut workload: Workload,
    identity: Identity,
    need: Need,
    snapshot: &Snapshot,
    origin: &Origin,
    models: &Models,
) -> Gathered {
    let known = models.of_vendor(identity.vendor());
    let profile = profile(&identity, models);
    let mut notes = snapshot.notes.clone();
    let mut facts = Workload::default();
    let rows = match snapshot.quotas.as_ref().filter(|_| need.quotas) {
        None => None,
        Some(list) if list.only_models.as_ref().is_some_and(|only| !only.contains(&identity.model)) => {
            notes.push(format!("the snapshot has no quotas of {}", identity.model));
            None
        }
        Some(list) => {
            let rows = Rows::find(list, &Matcher::new(&identity.model, &known), &identity);
            facts.quotas = quota_facts(&rows, origin);
            Some(rows)
        }
    };
    // AWS/Bedrock's metrics are of bedrock-runtime, whatever id they are under.
    let runtime = identity.endpoint == Endpoint::BedrockRuntime;
    let shared = identity.ids_on_quota(&known, snapshot.application_profiles.as_deref().unwrap_or_default());
    let traffic = if runtime && need.metrics { Traffic::of(snapshot, &identity, &shared) } else { None };
    if let Some(traffic) = &traffic {
        let observed = traffic_facts(traffic, origin);
        workload.call.fill(observed.call.clone());
        facts.policy = observed.policy;
        if traffic.partial {
            notes.push("CloudWatch said that some series are in part: what was counted may be too little".to_owned());
        }
    }
    if workload.region.is_none() {
        facts.region = Some(Fact::new(snapshot.region.clone(), Source::Derived(origin_name(origin))));
    }
    workload.fill(facts);
    let region = Some(snapshot.region.clone());
    Gathered {
        workload,
        identity: Some(identity),
        profile,
        rows,
        traffic,
        region,
        notes,
        #[cfg(feature = "live")]
        session: None,
    }
}

fn origin_name(origin: &Origin) -> String {
    match &origin.file {
        None => "AWS configuration".to_owned(),
        Some((path, _)) => path.clone(),
    }
}
