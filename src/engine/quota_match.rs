//! Which quota rows belong to a model id.
//!
//! AWS documents no mapping: a row speaks of `Anthropic Claude Sonnet 4.5 V1`, a call of
//! `anthropic.claude-sonnet-4-5-20250929-v1:0`. Both are reduced to a set of words and compared for equality; there is no
//! similarity score in here, because `Sonnet 4` is inside `Sonnet 4.5` and `Opus 5` inside `Opus 5.5`. What the rules
//! cannot say is data (`quota_names` in the model profiles), and what fits twice is reported as ambiguous.

use std::collections::BTreeSet;

use serde::Serialize;

use super::model_id::{Endpoint, Route};
use super::model_profile::ModelProfile;
use super::quota_name::{Metric, QuotaName, Scope};
use super::snapshot::QuotaRow;

/// What rows and ids are compared by.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Words {
    set: BTreeSet<String>,
    /// `2407`: year and month in two digits each, where the name has them.
    release: Option<String>,
    /// `V2` of `Claude 3.5 Sonnet V2`.
    api_version: Option<u32>,
}

/// Words that name a provider; rows drop and repeat them at will.
const PROVIDER_WORDS: &[&str] = &[
    "ai",
    "ai21",
    "amazon",
    "anthropic",
    "cohere",
    "deepseek",
    "google",
    "labs",
    "luma",
    "meta",
    "minimax",
    "mistral",
    "moonshot",
    "moonshotai",
    "nvidia",
    "openai",
    "stability",
    "twelve",
    "twelvelabs",
    "writer",
    "xai",
    "z",
    "zai",
];

/// Words that some spellings of a model have and others have not.
const OPTIONAL_WORDS: &[&str] = &["17b", "and", "g1", "image", "instruct", "it", "text"];

/// Names of Claude tiers, which old batch rows write without the word `Claude`.
const CLAUDE_TIERS: &[&str] = &["fable", "haiku", "opus", "sonnet"];

/// The provider that a row names first, as the vendor segment of an id: rows of one never match ids of another.
fn provider_of(fragment: &str) -> Option<&'static str> {
    let first = fragment.split(|c: char| !c.is_ascii_alphanumeric()).next()?.to_ascii_lowercase();
    Some(match first.as_str() {
        "ai21" => "ai21",
        "amazon" => "amazon",
        "anthropic" => "anthropic",
        "cohere" => "cohere",
        "deepseek" => "deepseek",
        "google" => "google",
        "luma" => "luma",
        "meta" => "meta",
        "minimax" => "minimax",
        "mistral" => "mistral",
        "moonshot" => "moonshot",
        "nvidia" => "nvidia",
        "openai" => "openai",
        "stability" => "stability",
        "twelve" | "twelvelabs" => "twelvelabs",
        "writer" => "writer",
        "xai" => "xai",
        "z" => "zai",
        _ => return None,
    })
}

/// Splits at everything but letters, digits and the dots between two digits.
fn split_words(text: &str) -> Vec<String> {
    let chars: Vec<char> = text.to_ascii_lowercase().chars().collect();
    let mut words = vec![String::new()];
    for (i, &c) in chars.iter().enumerate() {
        let is_decimal_point =
            c == '.' && i > 0 && chars[i - 1].is_ascii_digit() && chars.get(i + 1).is_some_and(char::is_ascii_digit);
        if c.is_ascii_alphanumeric() || is_decimal_point {
            if let Some(word) = words.last_mut() {
                word.push(c);
            }
        } else {
            words.push(String::new());
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

/// `llama3` is `llama 3`, `reel1.0` is `reel 1.0`; `m2` and `k2` stay, for there the letter belongs to the number.
fn split_name_from_number(word: String) -> Vec<String> {
    let digits_at = word.find(|c: char| c.is_ascii_digit()).unwrap_or(word.len());
    let (name, number) = word.split_at(digits_at);
    let is_number = number.bytes().all(|b| b.is_ascii_digit() || b == b'.');
    if name.len() >= 3 && !number.is_empty() && is_number { vec![name.to_owned(), number.to_owned()] } else { vec![word] }
}

fn all_digits(word: &str) -> bool {
    !word.is_empty() && word.bytes().all(|b| b.is_ascii_digit())
}

/// `20250514`, the day of a snapshot.
fn is_day(word: &str) -> bool {
    word.len() == 8 && all_digits(word) && word.starts_with("20")
}

/// `2407`: July 2024.
fn is_release(word: &str) -> bool {
    word.len() == 4
        && all_digits(word)
        && matches!(&word[..2], "23" | "24" | "25" | "26" | "27")
        && matches!(word[2..].parse(), Ok(1..=12))
}

/// `a22b`: active parameters of a mixture of experts.
fn is_active_parameters(word: &str) -> bool {
    word.strip_prefix('a').and_then(|rest| rest.strip_suffix('b')).is_some_and(all_digits)
}

impl Words {
    fn new(words: Vec<String>, api_version: Option<u32>, vendor: &str) -> Self {
        let words: Vec<String> = words.into_iter().flat_map(split_name_from_number).filter(|word| !is_day(word)).collect();
        let release = words.iter().find(|word| is_release(word)).cloned();
        // `3-5` is written for 3.5, and 3.0 for 3.
        let mut joined: Vec<String> = Vec::new();
        let mut last_was_number = false;
        for word in words.into_iter().filter(|word| !is_release(word)) {
            let is_number = word.len() <= 2 && all_digits(&word);
            match joined.last_mut() {
                Some(last) if is_number && last_was_number => {
                    last.push('.');
                    last.push_str(&word);
                    last_was_number = false;
                }
                _ => {
                    joined.push(word);
                    last_was_number = is_number;
                }
            }
        }
        let mut set: BTreeSet<String> = joined
            .into_iter()
            .map(|word| match word.as_str() {
                "embeddings" | "embedding" => "embed".to_owned(),
                _ => word.strip_suffix(".0").map(str::to_owned).unwrap_or(word),
            })
            .filter(|word| {
                let word = word.as_str();
                word != vendor
                    && !PROVIDER_WORDS.contains(&word)
                    && !OPTIONAL_WORDS.contains(&word)
                    && !is_active_parameters(word)
            })
            .collect();
        if CLAUDE_TIERS.iter().any(|&tier| set.contains(tier)) {
            set.insert("claude".to_owned());
        }
        Self { set, release, api_version }
    }

    /// Of a model id without prefix: `anthropic.claude-3-5-sonnet-20241022-v2:0`.
    fn of_id(model: &str) -> Self {
        let (vendor, name) = model.split_once('.').unwrap_or(("", model));
        // `:0` is a revision, `:200k` a context length.
        let name = name.split(':').next().unwrap_or(name);
        let mut words = split_words(name);
        let mut api_version = None;
        if words.len() > 1
            && let Some(version) = words.last().and_then(|word| version_number(word))
        {
            api_version = Some(version).filter(|&version| version > 0);
            words.pop();
        } else if words.len() > 1 && words.last().is_some_and(|word| word == "1") && words[words.len() - 2].ends_with('b') {
            // `gpt-oss-120b-1`: a revision without its letter.
            words.pop();
        }
        Self::new(words, api_version, vendor)
    }

    /// Of a row's model as spelt: `Anthropic Claude 3.5 Sonnet V2`.
    fn of_fragment(fragment: &str, vendor: &str) -> Self {
        let mut words = split_words(fragment);
        if let Some(version) = words.last().and_then(|word| version_number(word)) {
            let rest = words[..words.len() - 1].to_vec();
            let without = Self::new(rest, Some(version), vendor);
            // In `DeepSeek V3` the version is the name.
            if !without.set.is_empty() {
                return without;
            }
        }
        words.retain(|word| !word.is_empty());
        Self::new(words, None, vendor)
    }
}

/// 2 of `v2`.
fn version_number(word: &str) -> Option<u32> {
    word.strip_prefix('v').filter(|digits| all_digits(digits)).and_then(|digits| digits.parse().ok())
}

fn letters_and_digits(text: &str) -> String {
    text.chars().filter(char::is_ascii_alphanumeric).map(|c| c.to_ascii_lowercase()).collect()
}

/// How well a row's spelling fits; a closer one wins over a looser one of the same scope and metric.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Fit {
    /// The row leaves out the id's API version or release.
    Loose,
    /// The row says all that the id says.
    Exact,
}

/// Matches rows to one model; built once, asked for every row.
pub struct Matcher<'a> {
    model: &'a str,
    vendor: &'a str,
    words: Words,
    /// Exact spellings from the profile; where there are any, nothing else matches.
    overrides: Vec<String>,
    /// Spellings that overrides of other models claim.
    claimed: BTreeSet<String>,
    /// Whether a known model differs from this one only by an earlier API version.
    has_first_version: bool,
}

impl<'a> Matcher<'a> {
    /// `known` are the profiles of the same vendor: they hold the overrides and the siblings.
    pub fn new(model: &'a str, known: &[ModelProfile]) -> Self {
        let words = Words::of_id(model);
        let vendor = model.split('.').next().unwrap_or_default();
        let spellings = |profile: &ModelProfile| -> Vec<String> {
            profile.quota_names.iter().map(|name| letters_and_digits(name)).collect()
        };
        let overrides = known.iter().find(|profile| profile.id == model).map(spellings).unwrap_or_default();
        let claimed = known.iter().filter(|profile| profile.id != model).flat_map(spellings).collect();
        let has_first_version = known.iter().any(|profile| {
            let sibling = Words::of_id(&profile.id);
            profile.id != model && sibling.set == words.set && sibling.api_version.unwrap_or(1) == 1
        });
        Self { model, vendor, words, overrides, claimed, has_first_version }
    }

    /// Whether a row's model, as spelt, is this one.
    pub fn matches(&self, fragment: &str) -> bool {
        self.fit(fragment).is_some()
    }

    /// Whether rows cannot tell this model from another one: the same words, release and version, and no spellings of its own.
    pub fn same_rows(&self, other: &str, known: &[ModelProfile]) -> bool {
        let other_matcher = Matcher::new(other, known);
        let version = |words: &Words| words.api_version.unwrap_or(1);
        self.vendor == other_matcher.vendor
            && self.words.set == other_matcher.words.set
            && self.words.release == other_matcher.words.release
            && version(&self.words) == version(&other_matcher.words)
            && self.overrides == other_matcher.overrides
    }

    fn fit(&self, fragment: &str) -> Option<Fit> {
        let spelling = letters_and_digits(fragment);
        if !self.overrides.is_empty() {
            return self.overrides.contains(&spelling).then_some(Fit::Exact);
        }
        if self.claimed.contains(&spelling) {
            return None;
        }
        if let Some(provider) = provider_of(fragment)
            && provider != self.vendor
            && !(provider == "moonshot" && self.vendor == "moonshotai")
        {
            return None;
        }
        let row = Words::of_fragment(fragment, self.vendor);
        if row.set != self.words.set || row.set.is_empty() {
            return None;
        }
        let release = match (&row.release, &self.words.release) {
            (Some(row), Some(id)) if row == id => Fit::Exact,
            (None, None) => Fit::Exact,
            (None, Some(_)) => Fit::Loose,
            _ => return None,
        };
        let version = match (row.api_version, self.words.api_version.unwrap_or(1)) {
            (Some(row), id) if row == id => Fit::Exact,
            (Some(_), _) => return None,
            (None, 1) => Fit::Loose,
            (None, _) if !self.has_first_version => Fit::Loose,
            (None, _) => return None,
        };
        Some(release.min(version))
    }

    /// The row of this model for a scope and metric; base quotas only, never the `1M Context Length` ones.
    pub fn find<'r>(&self, rows: &'r [QuotaRow], scope: Scope, metric: Metric) -> Found<'r> {
        let mut best: Vec<(Fit, &QuotaRow)> = Vec::new();
        for row in rows {
            let Some(name) = QuotaName::parse(&row.name) else { continue };
            if name.scope != scope || name.metric != metric || name.long_context {
                continue;
            }
            let fit = match &name.model {
                None => Some(Fit::Exact),
                Some(fragment) => self.fit(fragment),
            };
            let Some(fit) = fit else { continue };
            match best.first() {
                Some(&(found, _)) if found > fit => continue,
                Some(&(found, _)) if found < fit => best.clear(),
                _ => {}
            }
            if !best.iter().any(|(_, known)| known.code == row.code) {
                best.push((fit, row));
            }
        }
        match best.as_slice() {
            [] => Found::None,
            [(_, row)] => Found::One(row),
            _ => Found::Several(best.into_iter().map(|(_, row)| row).collect()),
        }
    }

    /// All inference rows of this model, the long-context ones included, in the order of the list.
    pub fn rows<'r>(&self, rows: &'r [QuotaRow]) -> Vec<&'r QuotaRow> {
        rows.iter()
            .filter(|row| QuotaName::parse(&row.name).and_then(|name| name.model).is_some_and(|model| self.matches(&model)))
            .collect()
    }

    /// The models that rows of this scope speak of, nearest spelling first: what to show when nothing matched.
    pub fn nearest(&self, rows: &[QuotaRow], scope: Scope, most: usize) -> Vec<String> {
        let name = self.model.split_once('.').map_or(self.model, |(_, name)| name);
        let wanted = letters_and_digits(name);
        let mut fragments: Vec<String> = rows
            .iter()
            .filter_map(|row| QuotaName::parse(&row.name))
            .filter(|name| name.scope == scope)
            .filter_map(|name| name.model)
            .collect();
        fragments.sort();
        fragments.dedup();
        let mut scored: Vec<(f64, String)> = fragments
            .into_iter()
            .map(|fragment| (strsim::jaro_winkler(&wanted, &letters_and_digits(strip_provider(&fragment))), fragment))
            .collect();
        scored.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| a.1.cmp(&b.1)));
        scored.into_iter().filter(|(score, _)| *score > 0.6).take(most).map(|(_, fragment)| fragment).collect()
    }
}

fn strip_provider(fragment: &str) -> &str {
    match provider_of(fragment) {
        Some(_) => fragment.split_once(' ').map_or(fragment, |(_, rest)| rest),
        None => fragment,
    }
}

/// What a search for one row found.
#[derive(Clone, Debug, PartialEq)]
pub enum Found<'r> {
    None,
    One(&'r QuotaRow),
    /// More than one row fits equally well; which is meant cannot be told.
    Several(Vec<&'r QuotaRow>),
}

/// The scope that requests and tokens per minute of a route are metered in.
pub fn minute_scope(endpoint: Endpoint, route: Route) -> Scope {
    match (endpoint, route) {
        (Endpoint::BedrockMantle, _) => Scope::Mantle,
        (Endpoint::BedrockRuntime, Route::OnDemand) => Scope::OnDemand,
        (Endpoint::BedrockRuntime, Route::Geo) => Scope::Geo,
        (Endpoint::BedrockRuntime, Route::Global) => Scope::Global,
    }
}

/// The scope of the per-model daily quota of a route: on-demand and geographic calls share one.
pub fn day_scope(route: Route) -> Scope {
    match route {
        Route::OnDemand | Route::Geo => Scope::Shared,
        Route::Global => Scope::Global,
    }
}

/// A model's row for one kind of limit: found, absent, or not to be told.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Row {
    Listed(QuotaRow),
    /// The list is whole and other rows of the model are in it, this one is not: no such limit.
    NoSuchRow,
    /// No row of the model was found at all; the models that the list does have, nearest first.
    NotMatched {
        nearest: Vec<String>,
    },
    Ambiguous(Vec<QuotaRow>),
}

#[cfg(test)]
mod tests {
    use super::*;

    fn matches(model: &str, fragment: &str) -> bool {
        Matcher::new(model, &[]).matches(fragment)
    }

    #[test]
    fn spellings_of_one_model_match() {
        for (model, fragment) in [
            ("anthropic.claude-sonnet-4-5-20250929-v1:0", "Anthropic Claude Sonnet 4.5 V1"),
            ("anthropic.claude-sonnet-4-5-20250929-v1:0", "Sonnet 4.5"),
            ("anthropic.claude-haiku-4-5-20251001-v1:0", "Claude 4.5 Haiku"),
            ("anthropic.claude-3-5-sonnet-20241022-v2:0", "Anthropic Claude 3.5 Sonnet V2"),
            ("anthropic.claude-3-5-sonnet-20240620-v1:0", "Anthropic Claude 3.5 Sonnet"),
            ("anthropic.claude-opus-4-6-v1", "Anthropic Claude Opus 4.6 V1"),
            ("amazon.nova-pro-v1:0", "Amazon Nova Pro"),
            ("amazon.nova-pro-v1:0", "Nova Pro V1"),
            ("amazon.nova-lite-v1:0:300k", "Amazon Nova Lite"),
            ("meta.llama3-3-70b-instruct-v1:0", "Meta Llama 3.3 70B Instruct"),
            ("meta.llama4-scout-17b-instruct-v1:0", "Meta Llama 4 Scout V1"),
            ("mistral.mistral-7b-instruct-v0:2", "Mistral AI Mistral 7B Instruct"),
            ("mistral.ministral-3-14b-instruct", "Ministral 14B 3.0"),
            ("deepseek.v3-v1:0", "DeepSeek V3 V1"),
            ("deepseek.v3.2", "DeepSeek V3.2"),
            ("openai.gpt-oss-120b-1:0", "OpenAI GPT OSS 120b"),
            ("openai.gpt-5.6-sol", "GPT-5.6 Sol"),
            ("qwen.qwen3-235b-a22b-2507-v1:0", "Qwen3 235B a22b 2507 V1"),
            ("qwen.qwen3-235b-a22b-2507-v1:0", "Qwen3 235B"),
            ("zai.glm-4.7", "Z.ai GLM-4.7"),
            ("stability.stable-image-search-recolor-v1:0", "Stable Image Search and Recolor"),
            ("twelvelabs.marengo-embed-3-0-v1:0", "TwelveLabs Marengo Embed 3.0"),
            ("newvendor.model-7-v1:0", "Newvendor Model 7 V1"),
        ] {
            assert!(matches(model, fragment), "{model} ~ {fragment}");
        }
    }

    #[test]
    fn neighbours_do_not_match() {
        for (model, fragment) in [
            ("anthropic.claude-sonnet-4-20250514-v1:0", "Anthropic Claude Sonnet 4.5 V1"),
            ("anthropic.claude-opus-5", "Anthropic Claude Opus 5.5"),
            ("anthropic.claude-opus-5-5", "Anthropic Claude Opus 5"),
            ("anthropic.claude-3-5-sonnet-20240620-v1:0", "Anthropic Claude 3.5 Sonnet V2"),
            ("cohere.command-r-v1:0", "Cohere Command R Plus"),
            ("mistral.mistral-large-2402-v1:0", "Mistral Large 2407"),
            ("mistral.mistral-large-2402-v1:0", "Mistral Large 3"),
            ("amazon.nova-lite-v1:0", "Amazon Nova 2 Lite"),
            ("qwen.qwen3-vl-235b-a22b", "Qwen3 235B"),
            ("openai.gpt-5.4-2026-03-05", "GPT-5.4"),
            ("zai.glm-4.7", "Z.ai GLM-4.7 Flash"),
        ] {
            assert!(!matches(model, fragment), "{model} !~ {fragment}");
        }
    }

    #[test]
    fn an_unversioned_row_is_not_the_second_version_where_a_first_exists() {
        let first = ModelProfile { id: "amazon.titan-image-generator-v1".into(), ..ModelProfile::default() };
        let known = [first];
        let second = Matcher::new("amazon.titan-image-generator-v2:0", &known);
        assert!(second.matches("Amazon Titan Image Generator G1 V2"));
        assert!(!second.matches("Amazon Titan Image Generator G1"));
        assert!(matches("cohere.embed-english-v3", "Cohere Embed English"), "no first version is known");
    }

    #[test]
    fn overrides_win_and_keep_their_names_from_others() {
        let overridden = ModelProfile {
            id: "moonshot.kimi-k2-thinking".into(),
            quota_names: vec!["Kimi K2 Thinking".into()],
            ..ModelProfile::default()
        };
        let known = [overridden];
        assert!(Matcher::new("moonshot.kimi-k2-thinking", &known).matches("Kimi K2 Thinking"));
        assert!(!Matcher::new("moonshotai.kimi-k2-thinking", &known).matches("Kimi K2 Thinking"));
    }

    #[test]
    fn what_fits_twice_is_ambiguous_and_an_exact_version_wins() {
        let row = |code: &str, name: &str| QuotaRow { code: code.into(), name: name.into(), ..QuotaRow::default() };
        let tpm = "On-demand model inference tokens per minute for";
        let matcher = Matcher::new("amazon.nova-pro-v1:0", &[]);
        let rows = [row("L-1", &format!("{tpm} Amazon Nova Pro")), row("L-2", &format!("{tpm} Amazon Nova Pro V1"))];
        assert_eq!(matcher.find(&rows, Scope::OnDemand, Metric::TokensPerMinute), Found::One(&rows[1]));
        let twins = [row("L-1", &format!("{tpm} Amazon Nova Pro")), row("L-3", &format!("{tpm} Nova Pro"))];
        assert_eq!(matcher.find(&twins, Scope::OnDemand, Metric::TokensPerMinute), Found::Several(vec![&twins[0], &twins[1]]));
        assert_eq!(matcher.find(&rows, Scope::Geo, Metric::TokensPerMinute), Found::None);
    }
}
