//! What is known of a model besides its quotas.
//!
//! Every fact carries its source and the day it was read. A fact that nobody published is absent: an unknown burndown is
//! unknown, never 1.

use super::fact::{Fact, Source};
use super::model_id::Route;

/// What is known of one model.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ModelProfile {
    /// The foundation model id, without prefix.
    pub id: String,
    /// AWS's display name.
    pub name: Option<String>,
    /// Quota tokens that one output token settles as, on bedrock-runtime.
    pub burndown: Option<Fact<f64>>,
    /// The most output tokens of one call; what an unset `max_tokens` reserves on Converse.
    pub max_output_tokens: Option<Fact<f64>>,
    /// The most input tokens of one call.
    pub context_tokens: Option<Fact<f64>>,
    /// Whether batch inference takes the model.
    pub batch: Option<bool>,
    /// Whether and where input tokens can be counted, in words.
    pub count_tokens: Option<String>,
    /// Prefixes of the system inference profiles that exist: `us`, `eu`, `global`.
    pub profiles: Vec<String>,
    /// Whether bedrock-mantle serves the model.
    pub mantle: Option<bool>,
    pub lifecycle: Option<String>,
    /// Exact spellings of the model in quota names, where the matching rules cannot find them.
    pub quota_names: Vec<String>,
    /// What a reader should know about the facts above: disagreements between sources.
    pub notes: Vec<String>,
}

impl ModelProfile {
    /// The ids by which calls reach this model on a route: they all draw on the same quota.
    pub fn ids_on_route(&self, route: Route) -> Vec<String> {
        match route {
            Route::OnDemand => vec![self.id.clone()],
            Route::Global => vec![format!("global.{}", self.id)],
            Route::Geo => self
                .profiles
                .iter()
                .filter(|prefix| *prefix != "global")
                .map(|prefix| format!("{prefix}.{}", self.id))
                .collect(),
        }
    }
}

/// The source of a fact in a profile file.
pub fn profile_source(source: &str, date: &str) -> Source {
    Source::ModelProfile { source: source.to_owned(), date: date.to_owned() }
}
