//! The grammar of quota names and the mapping to models, against every name seen in AWS's lists.
//!
//! `tests/data/quota-names.tsv`: kind (by an independent reading of the grammar; `-` is no inference quota), codes, name.
//! `tests/data/model-quota-names.tsv`: model id, what is known of it, display name, spellings, kinds. `Titan Image Generator
//! G1` without a version is the first version's: the second one has rows of its own.

use std::collections::BTreeSet;

use forebay::engine::quota_match::Matcher;
use forebay::engine::quota_name::{Metric, QuotaName, Scope};
use forebay::sources::models::Models;

const NAMES: &str = include_str!("../data/quota-names.tsv");
const MODELS: &str = include_str!("../data/model-quota-names.tsv");

fn kind(name: &QuotaName) -> String {
    let scope = match name.scope {
        Scope::OnDemand => "ondemand",
        Scope::OnDemandLatencyOptimized => "ondemand-latopt",
        Scope::Geo => "cross",
        Scope::Global => "global",
        Scope::Shared => "shared",
        Scope::SharedLatencyOptimized => "shared-latopt",
        Scope::Account => "account",
        Scope::Mantle => "mantle",
        Scope::Batch => "batch",
        Scope::BatchCustom => "batch-custom",
        Scope::CustomDeployment => "custom",
        Scope::Provisioned => "provisioned",
    };
    let metric = match (name.scope, name.metric) {
        (Scope::BatchCustom, Metric::BatchJobs) => "concurrent-jobs",
        (_, Metric::RequestsPerMinute) => "rpm",
        (_, Metric::TokensPerMinute) => "tpm",
        (_, Metric::TokensPerDay) => "tpd",
        (_, Metric::InputTokensPerMinute) => "itpm",
        (_, Metric::OutputTokensPerMinute) => "otpm",
        (_, Metric::ConcurrentRequests) => "concurrency",
        (_, Metric::AsyncConcurrentRequests) => "async-concurrency",
        (_, Metric::BatchJobSizeGb) => "job-size",
        (_, Metric::BatchInputFileSizeGb) => "file-size",
        (_, Metric::BatchRecordsPerJob) => "records",
        (_, Metric::BatchRecordsPerFile) => "file-records",
        (_, Metric::BatchMinimumRecords) => "minimum",
        (_, Metric::BatchJobs) => "jobs",
        (_, Metric::ModelUnits) => "model-units",
    };
    format!("{scope}:{metric}")
}

fn names() -> impl Iterator<Item = (&'static str, &'static str, &'static str)> {
    NAMES.lines().map(|line| {
        let mut columns = line.splitn(3, '\t');
        (columns.next().unwrap(), columns.next().unwrap(), columns.next().unwrap())
    })
}

#[test]
fn every_inference_name_parses_to_its_kind_and_no_other_name_does() {
    let mut parsed = 0;
    for (expected, _, name) in names() {
        let found = QuotaName::parse(name).as_ref().map_or("-".to_owned(), kind);
        assert_eq!(found, expected, "{name}");
        parsed += usize::from(found != "-");
    }
    assert_eq!((parsed, names().count()), (985, 1297));
}

#[test]
fn every_model_maps_to_exactly_its_spellings_and_kinds() {
    let models = Models::default();
    let mut wrong = Vec::new();
    for line in MODELS.lines() {
        let columns: Vec<&str> = line.split('\t').collect();
        let [id, known, display, spellings, kinds] = columns[..] else { panic!("{line}") };
        let profiles = models.of_vendor(id.split('.').next().unwrap());
        let matcher = Matcher::new(id, &profiles);
        let mut found = BTreeSet::new();
        let mut found_kinds = BTreeSet::new();
        for (_, _, name) in names() {
            let Some(quota) = QuotaName::parse(name) else { continue };
            let Some(model) = &quota.model else { continue };
            if matcher.matches(model) {
                found.insert(model.clone());
                // The spellings and kinds were collected without batch and long-context rows' kinds.
                if quota.scope != Scope::Batch && !quota.long_context {
                    found_kinds.insert(kind(&quota));
                }
            }
        }
        let found_spellings = found.iter().cloned().collect::<Vec<_>>().join("|");
        let found_kinds = found_kinds.into_iter().collect::<Vec<_>>().join(" ");
        let right = match known {
            "known" => found_spellings == spellings && found_kinds == kinds,
            // Only the display name was recorded.
            "named" => found.iter().any(|name| display.ends_with(name.as_str()) || name.ends_with(display)),
            _ => found.is_empty(),
        };
        if !right {
            wrong.push(format!("{id} ({known} {display}): {found_spellings} / {found_kinds}, expected {spellings} / {kinds}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// No runtime row is claimed by two models that are not the same model under two ids.
#[test]
fn no_row_belongs_to_two_different_models() {
    let models = Models::default();
    let all = models.all();
    let matchers: Vec<(&str, Matcher<'_>)> = all
        .iter()
        .map(|profile| {
            let vendor = profile.id.split('.').next().unwrap();
            (profile.name.as_deref().unwrap_or(&profile.id), Matcher::new(&profile.id, &models.of_vendor(vendor)))
        })
        .collect();
    for (_, _, name) in names() {
        let Some(QuotaName { model: Some(fragment), scope, .. }) = QuotaName::parse(name) else { continue };
        if matches!(scope, Scope::Batch | Scope::BatchCustom | Scope::Provisioned | Scope::CustomDeployment) {
            continue;
        }
        let claimants: BTreeSet<&str> =
            matchers.iter().filter(|(_, matcher)| matcher.matches(&fragment)).map(|(name, _)| *name).collect();
        assert!(claimants.len() <= 1, "{name}: {claimants:?}");
    }
}

proptest::proptest! {
    /// A name or an id that nobody has seen is read or refused, never a crash; and a row is only ever one model's by rule.
    #[test]
    fn any_text_is_read_or_refused(text in "\\PC{0,80}", head in proptest::sample::select(vec![
        "", "On-demand model inference tokens per minute for ", "Cross-region model inference requests per minute for ",
        "Model invocation max tokens per day for ", "Batch inference job size for ",
    ])) {
        let name = format!("{head}{text}");
        if let Some(quota) = QuotaName::parse(&name) {
            let model = quota.model.unwrap_or_default();
            Matcher::new("anthropic.claude-sonnet-4-6", &[]).matches(&model);
        }
        let _ = forebay::engine::model_id::ModelId::parse(&text);
        Matcher::new(&text, &[]).matches("Anthropic Claude Sonnet 4.6");
    }

    /// Case, double spaces and a trailing dot, all seen in AWS's lists, change nothing.
    #[test]
    fn spelling_noise_changes_nothing(at in 0..1297_usize, spaces in 1..4_usize) {
        let (_, _, name) = names().nth(at).unwrap();
        let noisy = format!("{}.", name.trim().trim_end_matches('.').replace(' ', &" ".repeat(spaces)));
        let kinds = |name: &str| QuotaName::parse(name).map(|quota| (kind(&quota), quota.model, quota.long_context));
        proptest::prop_assert_eq!(kinds(name), kinds(&noisy));
    }
}
