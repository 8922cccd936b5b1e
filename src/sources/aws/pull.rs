//! One pull of everything that a command needs: quotas and metrics side by side, in as few requests as there are.

use super::code_cache::CodeCache;
use super::error::AwsError;
use super::metrics::{self, Request};
use super::{Aws, profiles, quotas};
use crate::engine::identity::{Identity, IdentityError};
use crate::engine::model_id::{Endpoint, ModelId, Route};
use crate::engine::observed::Rows;
use crate::engine::quota_match::{Matcher, Row};
use crate::engine::snapshot::{ApplicationProfile, Metrics, QuotaList, Snapshot, mask_account};
use crate::sources::models::Models;

/// What is wanted of one model.
#[derive(Clone, Debug)]
pub struct Ask {
    /// As the code passes it.
    pub given: String,
    pub id: ModelId,
    pub endpoint: Endpoint,
    pub said_route: Option<Route>,
    pub quotas: bool,
    /// Minutes back from now; `None`: no metrics.
    pub window_minutes: Option<i64>,
}

/// The moment of a pull, handed in: nothing below the commands reads a clock.
#[derive(Clone, Copy, Debug)]
pub struct Now {
    /// Seconds since the Unix epoch.
    pub seconds: i64,
}

/// Why a pull ended without an answer.
#[derive(Debug, thiserror::Error)]
pub enum PullError {
    #[error(transparent)]
    Aws(#[from] AwsError),
    #[error(transparent)]
    Identity(#[from] IdentityError),
}

/// What came back.
#[derive(Debug)]
pub struct Pulled {
    pub identity: Identity,
    pub quotas: Option<QuotaList>,
    /// Whether the account's rows name it.
    pub account: Option<String>,
    pub metrics: Option<Metrics>,
    /// The account's application profiles; `None`: they were not asked for, or not listed.
    pub profiles: Option<Vec<ApplicationProfile>>,
    /// Why metrics were asked for and are not there: whether that matters is for the command to say.
    pub metrics_error: Option<AwsError>,
    pub notes: Vec<String>,
}

impl Pulled {
    /// Puts what came back into a snapshot.
    pub fn into_snapshot(self, mut snapshot: Snapshot) -> Snapshot {
        snapshot.account = self.account.as_deref().map(mask_account);
        snapshot.quotas = self.quotas;
        snapshot.metrics = self.metrics;
        snapshot.application_profiles = self.profiles;
        snapshot.notes = self.notes;
        snapshot.masked()
    }
}

/// The metrics request for a model: what `--dry-run` prints and what is sent are the same value.
pub fn metrics_request(
    identity: &Identity,
    models: &Models,
    profiles: &[ApplicationProfile],
    window: i64,
    now: Now,
) -> Request {
    let known = models.of_vendor(identity.vendor());
    Request::new(&identity.own_ids, &identity.ids_on_quota(&known, profiles), window, now.seconds.div_euclid(60))
}

/// Pulls what is asked for.
///
/// # Errors
/// Where the id has no on-demand quota, or quotas cannot be asked.
pub async fn pull(aws: &Aws, ask: &Ask, models: &Models, cache: &CodeCache, now: Now) -> Result<Pulled, PullError> {
    let mut notes = Vec::new();
    let is_application = matches!(ask.id, ModelId::Application { .. });
    let identity = |profiles: &[ApplicationProfile]| {
        Identity::new(&ask.given, &ask.id, ask.endpoint, ask.said_route, Some(&aws.region), profiles)
    };
    let quotas_of = |identity: Identity| async move {
        if ask.quotas { quotas(aws, &identity, models, cache, now).await.map(Some) } else { Ok(None) }
    };
    if is_application {
        let (found, failed) = application(aws, ask).await?;
        let identity = identity(&found)?;
        let (quotas, metrics) = tokio::join!(quotas_of(identity.clone()), metrics_of(aws, ask, &identity, models, &found, now));
        let whole = failed.is_none().then_some(found);
        notes.extend(failed.map(|error| not_listed(&error)));
        return Ok(finish(identity, quotas?, metrics, whole, notes));
    }
    let identity = identity(&[])?;
    let with_profiles = async {
        if ask.window_minutes.is_none() {
            return (None, None, Ok(None));
        }
        let (found, failed) = match profiles::list(&aws.bedrock).await {
            Ok(found) => (Some(found), None),
            Err(error) => (None, Some(error)),
        };
        let metrics = metrics_of(aws, ask, &identity, models, found.as_deref().unwrap_or_default(), now).await;
        (found, failed, metrics)
    };
    let (quotas, (found, failed, metrics)) = tokio::join!(quotas_of(identity.clone()), with_profiles);
    notes.extend(failed.map(|error| not_listed(&error)));
    Ok(finish(identity, quotas?, metrics, found, notes))
}

fn not_listed(error: &AwsError) -> String {
    format!("application inference profiles were not listed, and their traffic on this quota is not counted: {error}")
}

fn finish(
    identity: Identity,
    quotas: Option<(QuotaList, Option<String>)>,
    metrics: Result<Option<Metrics>, AwsError>,
    profiles: Option<Vec<ApplicationProfile>>,
    notes: Vec<String>,
) -> Pulled {
    let (quotas, account) = quotas.unzip();
    let (metrics, metrics_error) = match metrics {
        Ok(metrics) => (metrics, None),
        Err(error) => (None, Some(error)),
    };
    Pulled { identity, quotas, account: account.flatten(), metrics, profiles, metrics_error, notes }
}

/// The account's application profiles, and why they could not be listed; one that is not listed (it belongs to another
/// account, or listing is denied) is asked for by itself.
async fn application(aws: &Aws, ask: &Ask) -> Result<(Vec<ApplicationProfile>, Option<AwsError>), PullError> {
    let ModelId::Application { id, .. } = &ask.id else { return Ok((Vec::new(), None)) };
    let (mut found, failed) = match profiles::list(&aws.bedrock).await {
        Ok(found) => (found, None),
        Err(error) => (Vec::new(), Some(error)),
    };
    if !found.iter().any(|profile| profile.id == *id) {
        found.extend(profiles::get(&aws.bedrock, &ask.given).await?);
    }
    Ok((found, failed))
}

async fn metrics_of(
    aws: &Aws,
    ask: &Ask,
    identity: &Identity,
    models: &Models,
    profiles: &[ApplicationProfile],
    now: Now,
) -> Result<Option<Metrics>, AwsError> {
    match ask.window_minutes {
        None => Ok(None),
        Some(window) => {
            metrics::fetch(&aws.cloudwatch, &metrics_request(identity, models, profiles, window, now)).await.map(Some)
        }
    }
}

/// The model's rows: by the codes that were kept, or from the Region's list.
async fn quotas(
    aws: &Aws,
    identity: &Identity,
    models: &Models,
    cache: &CodeCache,
    now: Now,
) -> Result<(QuotaList, Option<String>), AwsError> {
    let known = models.of_vendor(identity.vendor());
    let matcher = Matcher::new(&identity.model, &known);
    if let Some(rows) = cache.load(&aws.cache_key, now.seconds)
        && let Some(found) = by_kept_codes(aws, identity, &matcher, &QuotaList { only_models: None, rows }).await?
    {
        return Ok(found);
    }
    let listed = quotas::list_applied(&aws.quotas).await?;
    cache.store(&aws.cache_key, now.seconds, &listed.rows);
    Ok((QuotaList { only_models: None, rows: listed.rows }, listed.account))
}

/// `None` where the kept codes do not serve: the model is new to them, or a row was renamed or is gone.
async fn by_kept_codes(
    aws: &Aws,
    identity: &Identity,
    matcher: &Matcher<'_>,
    kept: &QuotaList,
) -> Result<Option<(QuotaList, Option<String>)>, AwsError> {
    let rows = Rows::find(kept, matcher, identity);
    // Nor where rows are ambiguous: asked without them, the model would seem to have no such row.
    let ambiguous = rows.each().into_iter().any(|(_, row)| matches!(row, Row::Ambiguous(_)));
    if rows.not_matched().is_some() || ambiguous {
        return Ok(None);
    }
    let kept_rows: Vec<_> = rows.listed().cloned().collect();
    let codes: Vec<String> = kept_rows.iter().map(|row| row.code.clone()).collect();
    // Defaults only of the quotas that can bind: rows of a day are shown, and no plan is made on them.
    let binding = Rows { tokens_per_day: rows.rpm.clone(), cross_model_per_day: rows.rpm.clone(), ..rows };
    let with_default: Vec<String> = binding.listed().map(|row| row.code.clone()).collect();
    let listed = quotas::by_code(&aws.quotas, &codes, &dedup(with_default)).await?;
    let unchanged =
        listed.rows.len() == kept_rows.len() && listed.rows.iter().zip(&kept_rows).all(|(row, kept)| row.name == kept.name);
    let list = QuotaList { only_models: Some(vec![identity.model.clone()]), rows: listed.rows };
    Ok(unchanged.then_some((list, listed.account)))
}

fn dedup(mut codes: Vec<String>) -> Vec<String> {
    codes.sort();
    codes.dedup();
    codes
}

/// A whole snapshot of a Region: both lists of quotas, and metrics of each model.
///
/// # Errors
/// Where any of it cannot be asked.
pub async fn whole(aws: &Aws, asks: &[Ask], models: &Models, now: Now, mut snapshot: Snapshot) -> Result<Snapshot, PullError> {
    let lists = async { tokio::join!(quotas::list_applied(&aws.quotas), quotas::list_defaults(&aws.quotas)) };
    let ((applied, defaults), found) = tokio::join!(lists, profiles::list(&aws.bedrock));
    let listed = quotas::merge(applied?, defaults?);
    let mut failed = None;
    let mut found = found.unwrap_or_else(|error| {
        failed = Some(error);
        Vec::new()
    });
    for ask in asks {
        // One of another account is not in the list.
        if let ModelId::Application { id, .. } = &ask.id
            && !found.iter().any(|profile| profile.id == *id)
        {
            found.extend(profiles::get(&aws.bedrock, &ask.given).await?);
        }
        let identity = Identity::new(&ask.given, &ask.id, ask.endpoint, ask.said_route, Some(&aws.region), &found)?;
        if let Some(part) = metrics_of(aws, ask, &identity, models, &found, now).await? {
            match &mut snapshot.metrics {
                None => snapshot.metrics = Some(part),
                Some(metrics) => metrics.merge(part),
            }
        }
    }
    snapshot.account = listed.account.as_deref().map(mask_account);
    snapshot.quotas = Some(QuotaList { only_models: None, rows: listed.rows });
    snapshot.application_profiles = Some(found);
    if let Some(error) = failed {
        // Those that were asked for alone are kept, for their ids are the workload's; the rest is not known.
        snapshot.application_profiles = snapshot.application_profiles.filter(|found| !found.is_empty());
        snapshot.notes.push(not_listed(&error));
    }
    Ok(snapshot.masked())
}
