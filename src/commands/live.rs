//! Live AWS, for commands: a runtime, a connection, and snapshots that come out of them.

use std::path::PathBuf;

use anyhow::Context as _;
use jiff::Timestamp;

use super::gather::{Gathered, LiveAsk, fill, named_region};
use super::{World, hinted};
use crate::cli::AwsArgs;
use crate::engine::dry_run::{DryRun, MetricsCost};
use crate::engine::identity::{Identity, IdentityError};
use crate::engine::model_id::ModelId;
use crate::engine::observed::Origin;
use crate::engine::snapshot::Snapshot;
use crate::engine::workload::Workload;
use crate::sources::aws::code_cache::CodeCache;
use crate::sources::aws::metrics::Request;
use crate::sources::aws::pull::{self, Ask, Now, PullError};
use crate::sources::aws::{Aws, Connection, deployed, quotas};
use crate::sources::models::Models;

/// A connection and the runtime that its requests run on.
pub struct Session {
    runtime: tokio::runtime::Runtime,
    pub aws: Aws,
    cache: CodeCache,
    now: Now,
}

impl Session {
    /// Connects as the flags say.
    ///
    /// # Errors
    /// Where there is no Region or no credentials.
    pub fn open(args: &AwsArgs, region: Option<String>, world: &World) -> anyhow::Result<Self> {
        let runtime =
            tokio::runtime::Builder::new_current_thread().enable_all().build().context("no runtime for network requests")?;
        let connection = Connection {
            profile: args.profile.clone(),
            region,
            endpoint_url: args.endpoint_url.clone(),
            attempts: args.aws_attempts,
        };
        let aws = runtime.block_on(Aws::connect(&connection))?;
        // A list that is made anew is not read, but kept for the next run.
        let folder: Option<PathBuf> = world.cache_folder.clone();
        if args.refresh {
            CodeCache::new(folder.clone()).forget(&aws.cache_key);
        }
        Ok(Self { runtime, aws, cache: CodeCache::new(folder), now: Now { seconds: world.now } })
    }

    fn taken_at(&self) -> anyhow::Result<String> {
        Ok(Timestamp::from_second(self.now.seconds).context("the clock is out of range")?.to_string())
    }

    /// A whole snapshot of the Region.
    ///
    /// # Errors
    /// Where any of it cannot be asked.
    pub fn whole(&self, asks: &[Ask], models: &Models) -> anyhow::Result<Snapshot> {
        let empty = self.aws.empty_snapshot(self.taken_at()?);
        self.runtime.block_on(pull::whole(&self.aws, asks, models, self.now, empty)).map_err(plain)
    }

    /// What is deployed.
    ///
    /// # Errors
    /// Where any of it cannot be asked.
    pub fn deployed(&self, select: &deployed::Select) -> anyhow::Result<crate::engine::deployment::Deployment> {
        Ok(self.runtime.block_on(deployed::read(&self.aws.lambda, &self.aws.sqs, select))?)
    }

    /// The default value of a row; `None` where AWS publishes none.
    ///
    /// # Errors
    /// Where it cannot be asked.
    pub fn default_of(&self, code: &str) -> anyhow::Result<Option<f64>> {
        Ok(self.runtime.block_on(quotas::default(&self.aws.quotas, code))?.and_then(|quota| quota.value()))
    }
}

/// The cause itself, not the enum around it: its hint is found by its type.
fn plain(error: PullError) -> anyhow::Error {
    match error {
        PullError::Aws(error) => error.into(),
        PullError::Identity(error) => error.into(),
    }
}

pub fn gather(workload: Workload, ask: LiveAsk, args: &AwsArgs, models: &Models, world: &World) -> anyhow::Result<Gathered> {
    let region = workload.region.as_ref().map(|region| region.value.clone()).or_else(|| named_region(&ask.id));
    let session = Session::open(args, region, world)?;
    let call = &workload.call;
    let metrics_needed =
        ask.need.metrics && (call.latency_s.is_empty() || call.input_tokens.is_empty() || call.output_tokens.is_empty());
    let need = ask.need;
    let ask = Ask {
        given: ask.given,
        id: ask.id,
        endpoint: ask.endpoint,
        said_route: ask.said_route,
        quotas: ask.need.quotas,
        window_minutes: ask.need.metrics.then_some(ask.window_minutes),
    };
    let mut pulled =
        session.runtime.block_on(pull::pull(&session.aws, &ask, models, &session.cache, session.now)).map_err(plain)?;
    if let Some(error) = pulled.metrics_error.take() {
        if metrics_needed {
            return Err(error.into());
        }
        pulled.notes.push(format!("metrics were not read: {error}; {}", error.hint()));
    }
    let identity = pulled.identity.clone();
    let snapshot = pulled.into_snapshot(session.aws.empty_snapshot(session.taken_at()?));
    let origin = Origin { region: snapshot.region.clone(), file: None };
    let gathered = fill(workload, identity, need, &snapshot, &origin, models);
    Ok(Gathered { session: Some(session), ..gathered })
}

/// The calls that live AWS would be asked, for `--dry-run`; nothing is sent, no credentials are looked for. `whole` is a
/// snapshot: both lists of quotas and the metrics of every model.
///
/// # Errors
/// Where what an application profile was copied from would have to be asked first.
pub fn dry_run(
    region: Option<&str>,
    asks: &[LiveAsk],
    whole: bool,
    models: &Models,
    price_per_1000: f64,
    world: &World,
) -> anyhow::Result<DryRun> {
    let mut calls = Vec::new();
    if whole {
        calls.push(("ListServiceQuotas".to_owned(), "about 11 pages".to_owned()));
        calls.push(("ListAWSDefaultServiceQuotas".to_owned(), "about 11 pages".to_owned()));
    } else if asks.iter().any(|ask| ask.need.quotas) {
        calls.push(("ListServiceQuotas".to_owned(), "about 11 pages, on the first plan of a Region".to_owned()));
        calls.push(("Get(AWSDefault)ServiceQuota".to_owned(), "at most 6 instead, once the codes are kept".to_owned()));
    }
    if whole || asks.iter().any(|ask| ask.need.metrics || matches!(ask.id, ModelId::Application { .. })) {
        calls.push(("ListInferenceProfiles".to_owned(), "1: application profiles share the quota".to_owned()));
    }
    let mut requests = Vec::new();
    for ask in asks.iter().filter(|ask| ask.need.metrics) {
        let identity = match Identity::new(&ask.given, &ask.id, ask.endpoint, ask.said_route, region, &[]) {
            Ok(identity) => identity,
            Err(IdentityError::Unresolved { given }) => {
                return Err(hinted(
                    format!("what `{given}` was copied from has to be asked before the calls about it are known"),
                    "give the id of its parent to see what a plan would ask",
                ));
            }
            Err(error) => return Err(error.into()),
        };
        requests.push(pull::metrics_request(&identity, models, &[], ask.window_minutes, Now { seconds: world.now }));
    }
    let mut metrics = None;
    if let Some(first) = requests.first() {
        let (sent, pages) =
            (requests.iter().map(Request::calls).sum::<usize>(), requests.iter().map(Request::most_pages).sum::<i64>());
        calls.push((
            "GetMetricData".to_owned(),
            format!("{sent} call(s), {pages} page(s) at most; 6 more metrics for each application profile"),
        ));
        let queries = requests.iter().map(Request::queries).sum();
        #[expect(clippy::cast_precision_loss, reason = "a few hundred for each model")]
        let price_usd = queries as f64 * price_per_1000 / 1000.0;
        metrics = Some(MetricsCost {
            window: first.window.length(),
            metrics: queries,
            most_datapoints: requests.iter().map(Request::most_points).sum(),
            price_usd,
        });
    }
    Ok(DryRun { calls, metrics })
}
