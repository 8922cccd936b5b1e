//! Model profiles: the embedded ones, and a user's own file over them.

use std::collections::BTreeMap;
use std::path::Path;

use serde::Deserialize;

use super::text_file::{self, ReadError};
use crate::engine::fact::Fact;
use crate::engine::model_profile::{ModelProfile, profile_source};
use crate::engine::problem::{Problem, Problems};

/// The embedded files, by the vendor segments of the ids in them. A file is only parsed when its vendor is asked for.
const FILES: &[(&[&str], &str, &str)] = &[
    (&["ai21"], "ai21", include_str!("../../profiles/models/ai21.yaml")),
    (&["amazon"], "amazon", include_str!("../../profiles/models/amazon.yaml")),
    (&["anthropic"], "anthropic", include_str!("../../profiles/models/anthropic.yaml")),
    (&["cohere"], "cohere", include_str!("../../profiles/models/cohere.yaml")),
    (&["deepseek"], "deepseek", include_str!("../../profiles/models/deepseek.yaml")),
    (&["google"], "google", include_str!("../../profiles/models/google.yaml")),
    (&["luma"], "luma", include_str!("../../profiles/models/luma.yaml")),
    (&["meta"], "meta", include_str!("../../profiles/models/meta.yaml")),
    (&["minimax"], "minimax", include_str!("../../profiles/models/minimax.yaml")),
    (&["mistral"], "mistral", include_str!("../../profiles/models/mistral.yaml")),
    (&["moonshot", "moonshotai"], "moonshot", include_str!("../../profiles/models/moonshot.yaml")),
    (&["nvidia"], "nvidia", include_str!("../../profiles/models/nvidia.yaml")),
    (&["openai"], "openai", include_str!("../../profiles/models/openai.yaml")),
    (&["qwen"], "qwen", include_str!("../../profiles/models/qwen.yaml")),
    (&["stability"], "stability", include_str!("../../profiles/models/stability.yaml")),
    (&["twelvelabs"], "twelvelabs", include_str!("../../profiles/models/twelvelabs.yaml")),
    (&["writer"], "writer", include_str!("../../profiles/models/writer.yaml")),
    (&["xai"], "xai", include_str!("../../profiles/models/xai.yaml")),
    (&["zai"], "zai", include_str!("../../profiles/models/zai.yaml")),
];

/// Why model profiles could not be read.
#[derive(Debug, thiserror::Error)]
pub enum ModelsError {
    #[error(transparent)]
    Read(#[from] ReadError),
    #[error(transparent)]
    Wrong(#[from] Problems),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(rename = "provider")]
    _provider: String,
    sources: BTreeMap<String, SourceEntry>,
    models: BTreeMap<String, Entry>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SourceEntry {
    text: String,
    date: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    name: Option<String>,
    burndown: Option<(f64, String)>,
    max_output_tokens: Option<(f64, String)>,
    context_tokens: Option<(f64, String)>,
    batch: Option<bool>,
    count_tokens: Option<String>,
    #[serde(default)]
    profiles: Vec<String>,
    mantle: Option<bool>,
    lifecycle: Option<String>,
    #[serde(default)]
    quota_names: Vec<String>,
    #[serde(default)]
    notes: Vec<String>,
}

/// All profiles that a command may ask for.
#[derive(Debug, Default)]
pub struct Models {
    /// From the user's own file: these replace embedded ones of the same id.
    own: Vec<ModelProfile>,
}

impl Models {
    /// The embedded profiles, and over them those of a file of the same format.
    ///
    /// # Errors
    /// Where the file cannot be read or is not of that format.
    pub fn load(own: Option<&Path>) -> Result<Self, ModelsError> {
        let own = match own {
            None => Vec::new(),
            Some(path) => parse(&path.display().to_string(), &text_file::read(path)?)?,
        };
        Ok(Self { own })
    }

    /// The profiles of one vendor: what mapping rows to a model needs to see.
    pub fn of_vendor(&self, vendor: &str) -> Vec<ModelProfile> {
        let embedded =
            FILES.iter().filter(|(vendors, ..)| vendors.contains(&vendor)).flat_map(|(_, name, text)| embedded(name, text));
        let mut profiles: Vec<ModelProfile> =
            embedded.filter(|profile| !self.own.iter().any(|own| own.id == profile.id)).collect();
        profiles.extend(self.own.iter().filter(|profile| profile.id.split('.').next() == Some(vendor)).cloned());
        profiles
    }

    /// Every profile, sorted by id.
    pub fn all(&self) -> Vec<ModelProfile> {
        let embedded = FILES.iter().flat_map(|(_, name, text)| embedded(name, text));
        let mut profiles: Vec<ModelProfile> =
            embedded.filter(|profile| !self.own.iter().any(|own| own.id == profile.id)).collect();
        profiles.extend(self.own.iter().cloned());
        profiles.sort_by(|a, b| a.id.cmp(&b.id));
        profiles
    }
}

fn embedded(name: &str, text: &str) -> Vec<ModelProfile> {
    parse(name, text).expect("the embedded profiles are read by a test")
}

fn parse(path: &str, text: &str) -> Result<Vec<ModelProfile>, Problems> {
    let wrong = |span: std::ops::Range<usize>, message: &str, label: String| {
        let problem = Problem {
            span,
            message: message.to_owned(),
            label,
            help: Some("the format is that of profiles/models/ in forebay's sources".to_owned()),
        };
        Problems::new(path, text, vec![problem])
    };
    let file: File = serde_yaml::from_str(text).map_err(|error| {
        let at = error.location().map_or(0, |location| location.index().min(text.len()));
        wrong(at..at, "this is not a file of model profiles", error.to_string())
    })?;
    let sources = &file.sources;
    let fact = |id: &str, value: Option<(f64, String)>| match value {
        None => Ok(None),
        Some((value, name)) => match sources.get(&name) {
            Some(source) => Ok(Some(Fact::new(value, profile_source(&source.text, &source.date)))),
            None => {
                let at = text.find(id).unwrap_or(0);
                Err(wrong(at..at + id.len(), "a fact without a source", format!("`{name}` is not under `sources:`")))
            }
        },
    };
    file.models
        .into_iter()
        .map(|(id, entry)| {
            Ok(ModelProfile {
                burndown: fact(&id, entry.burndown)?,
                max_output_tokens: fact(&id, entry.max_output_tokens)?,
                context_tokens: fact(&id, entry.context_tokens)?,
                id,
                name: entry.name,
                batch: entry.batch,
                count_tokens: entry.count_tokens,
                profiles: entry.profiles,
                mantle: entry.mantle,
                lifecycle: entry.lifecycle,
                quota_names: entry.quota_names,
                notes: entry.notes,
            })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::model_id::{ModelId, Route};

    #[test]
    fn every_embedded_profile_is_whole() {
        let all = Models::default().all();
        assert!(all.len() > 150, "{}", all.len());
        for profile in &all {
            let Ok(ModelId::Base(base)) = ModelId::parse(&profile.id) else { panic!("{}", profile.id) };
            assert_eq!((base.route(), base.model.as_str()), (Route::OnDemand, profile.id.as_str()));
            let found = Models::default().of_vendor(base.vendor());
            assert!(found.contains(profile), "{} is in its vendor's file", profile.id);
        }
    }

    #[test]
    fn burndown_is_known_disputed_or_unknown() {
        let of = |id: &str| {
            let vendor = id.split('.').next().unwrap();
            Models::default()
                .of_vendor(vendor)
                .into_iter()
                .find(|profile| profile.id == id)
                .unwrap()
                .burndown
                .map(|fact| fact.value)
        };
        for (id, burndown) in [
            ("anthropic.claude-opus-4-8", Some(15.0)),
            ("anthropic.claude-opus-5", Some(10.0)),
            ("anthropic.claude-opus-5-5", Some(10.0)),
            ("anthropic.claude-fable-5-1", Some(10.0)),
            ("anthropic.claude-fable-5", None),
            ("anthropic.claude-sonnet-5-5", None),
            ("anthropic.claude-haiku-4-5-20251001-v1:0", Some(5.0)),
            ("anthropic.claude-3-haiku-20240307-v1:0", Some(5.0)),
            ("amazon.nova-pro-v1:0", Some(1.0)),
            ("openai.gpt-5.6-sol", Some(10.0)),
            ("xai.grok-4.6", None),
        ] {
            assert_eq!(of(id), burndown, "{id}");
        }
    }

    #[test]
    fn a_user_s_file_replaces_and_adds() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("own.yaml");
        std::fs::write(
            &path,
            "provider: mine\nsources: {me: {text: measured, date: 2026-11-01}}\nmodels:\n  anthropic.claude-fable-5: {burndown: [10, me]}\n  new.model-1: {}\n",
        )
        .unwrap();
        let models = Models::load(Some(&path)).unwrap();
        let fable = models.of_vendor("anthropic").into_iter().find(|profile| profile.id == "anthropic.claude-fable-5").unwrap();
        let burndown = fable.burndown.unwrap();
        assert_eq!((burndown.value, burndown.source.to_string().as_str()), (10.0, "model profile (measured, 2026-11-01)"));
        assert_eq!(models.of_vendor("new").len(), 1);
        assert_eq!(models.all().len(), Models::default().all().len() + 1);
    }

    #[test]
    fn a_file_that_is_none_is_reported_with_its_place() {
        let error = parse("own.yaml", "provider: x\nsources: {}\nmodels:\n  a.b: {burndwn: [1, x]}\n").unwrap_err().to_string();
        assert!(error.starts_with("own.yaml:4:"), "{error}");
        let error =
            parse("own.yaml", "provider: x\nsources: {}\nmodels:\n  a.b: {burndown: [1, x]}\n").unwrap_err().to_string();
        assert_eq!(error, "own.yaml:4:3: a fact without a source: `x` is not under `sources:`");
    }
}
