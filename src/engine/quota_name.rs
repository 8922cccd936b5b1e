//! The grammar of Service Quotas names for inference.
//!
//! Bedrock's rows carry no unit, no metric and no model id: kind, scope and model are in the name alone, so the name is
//! parsed. This module reads names; matching the model that a name speaks of is [`super::quota_match`]'s subject.
//! The grammar was drawn from 1,297 distinct names seen in AWS's own lists, 2025-06 to 2026-10.

use std::fmt;

use serde::Serialize;

/// Which traffic a quota meters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Scope {
    OnDemand,
    OnDemandLatencyOptimized,
    /// Geographic cross-Region profiles: one quota per model and source Region, shared by all geographies.
    Geo,
    Global,
    /// On-demand and geographic traffic together (the per-model daily quota).
    Shared,
    SharedLatencyOptimized,
    /// Every model of the account and Region together (the cross-model daily quota).
    Account,
    Mantle,
    Batch,
    BatchCustom,
    CustomDeployment,
    Provisioned,
}

/// What a quota counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Metric {
    RequestsPerMinute,
    TokensPerMinute,
    TokensPerDay,
    InputTokensPerMinute,
    OutputTokensPerMinute,
    ConcurrentRequests,
    AsyncConcurrentRequests,
    BatchJobSizeGb,
    BatchInputFileSizeGb,
    BatchRecordsPerJob,
    BatchRecordsPerFile,
    BatchMinimumRecords,
    BatchJobs,
    ModelUnits,
}

impl fmt::Display for Metric {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::RequestsPerMinute => "RPM",
            Self::TokensPerMinute => "TPM",
            Self::TokensPerDay => "tokens/day",
            Self::InputTokensPerMinute => "input TPM",
            Self::OutputTokensPerMinute => "output TPM",
            Self::ConcurrentRequests => "concurrent requests",
            Self::AsyncConcurrentRequests => "async concurrent requests",
            Self::BatchJobSizeGb => "batch job size (GB)",
            Self::BatchInputFileSizeGb => "batch input file size (GB)",
            Self::BatchRecordsPerJob => "records per batch job",
            Self::BatchRecordsPerFile => "records per batch file",
            Self::BatchMinimumRecords => "least records per batch job",
            Self::BatchJobs => "batch jobs",
            Self::ModelUnits => "model units",
        })
    }
}

impl fmt::Display for Scope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::OnDemand => "on-demand",
            Self::OnDemandLatencyOptimized => "on-demand, latency-optimized",
            Self::Geo => "geo",
            Self::Global => "global",
            Self::Shared => "on-demand and geo",
            Self::SharedLatencyOptimized => "latency-optimized",
            Self::Account => "all models",
            Self::Mantle => "bedrock-mantle",
            Self::Batch => "batch",
            Self::BatchCustom => "batch, custom model",
            Self::CustomDeployment => "custom deployment",
            Self::Provisioned => "provisioned",
        })
    }
}

/// A quota's name, taken apart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QuotaName {
    pub scope: Scope,
    pub metric: Metric,
    /// The model as the name spells it, without a context-length suffix; `None` for quotas of the whole account.
    pub model: Option<String>,
    /// `1M Context Length` rows are quotas of their own, never the model's base quota.
    pub long_context: bool,
    /// Whether the name says that cross-Region calls have twice the listed allowance.
    pub doubled_for_cross_region: bool,
}

/// Beginnings of names, most specific first: `Global cross-region` before `Cross-region`, latency-optimized before plain.
/// `|` separates alternatives of one word group.
const PATTERNS: &[(&str, Scope, Metric)] = {
    use Metric as M;
    use Scope as S;
    &[
        ("global cross-region {call} requests per minute for ", S::Global, M::RequestsPerMinute),
        ("global cross-region {call} tokens per minute for ", S::Global, M::TokensPerMinute),
        ("global cross-region {call} tokens per day for ", S::Global, M::TokensPerDay),
        ("cross-region {call} requests per minute for ", S::Geo, M::RequestsPerMinute),
        ("cross-region {call} tokens per minute for ", S::Geo, M::TokensPerMinute),
        ("on-demand latency-optimized {call} requests per minute for ", S::OnDemandLatencyOptimized, M::RequestsPerMinute),
        ("on-demand latency-optimized {call} tokens per minute for ", S::OnDemandLatencyOptimized, M::TokensPerMinute),
        ("on-demand {call} requests per minute for ", S::OnDemand, M::RequestsPerMinute),
        ("on-demand {call} tokens per minute for ", S::OnDemand, M::TokensPerMinute),
        ("on-demand {call} async concurrent requests for ", S::OnDemand, M::AsyncConcurrentRequests),
        ("on-demand {call} concurrent requests for ", S::OnDemand, M::ConcurrentRequests),
        ("model invocation max latency-optimized tokens per day for ", S::SharedLatencyOptimized, M::TokensPerDay),
        ("model invocation max tokens per day for ", S::Shared, M::TokensPerDay),
        ("[bedrock-mantle endpoint] input tokens per minute for ", S::Mantle, M::InputTokensPerMinute),
        ("[bedrock-mantle endpoint] output tokens per minute for ", S::Mantle, M::OutputTokensPerMinute),
        ("batch inference job size (in gb) for ", S::Batch, M::BatchJobSizeGb),
        ("batch inference job size for ", S::Batch, M::BatchJobSizeGb),
        ("batch inference input file size (in gb) for ", S::Batch, M::BatchInputFileSizeGb),
        ("batch inference input file size for ", S::Batch, M::BatchInputFileSizeGb),
        ("records per batch inference job for ", S::Batch, M::BatchRecordsPerJob),
        ("records per input file per batch inference job for ", S::Batch, M::BatchRecordsPerFile),
        ("minimum number of records per batch inference job for ", S::Batch, M::BatchMinimumRecords),
        ("sum of in-progress and submitted batch inference jobs using a base model for ", S::Batch, M::BatchJobs),
        ("sum of in-progress and submitted batch inference jobs using a custom model for ", S::BatchCustom, M::BatchJobs),
        (
            "(model customization) sum of on demand custom model deployment requests per minute for ",
            S::CustomDeployment,
            M::RequestsPerMinute,
        ),
        (
            "(model customization) sum of on demand custom model deployment tokens per minute for ",
            S::CustomDeployment,
            M::TokensPerMinute,
        ),
        (
            "(model customization) sum of on demand custom model deployment tokens per day for ",
            S::CustomDeployment,
            M::TokensPerDay,
        ),
        ("model units per provisioned model for ", S::Provisioned, M::ModelUnits),
        // The first spelling is AWS's own ("Throughout").
        ("model units, with commitment, for provisioned throughout created for ", S::Provisioned, M::ModelUnits),
        ("model units, with commitment, for provisioned throughput created for ", S::Provisioned, M::ModelUnits),
        ("no-commitment model units for provisioned throughput created for base model ", S::Provisioned, M::ModelUnits),
        ("no-commitment model units for provisioned throughput created for custom model ", S::Provisioned, M::ModelUnits),
    ]
};

/// Names without a model.
const WHOLE_NAMES: &[(&str, Scope, Metric)] = &[
    ("cross-model max tokens per day", Scope::Account, Metric::TokensPerDay),
    // An older General Reference's label of the same row.
    ("cross-model account-level tokens per day", Scope::Account, Metric::TokensPerDay),
    ("model units no-commitment provisioned throughputs across base models", Scope::Provisioned, Metric::ModelUnits),
    ("model units no-commitment provisioned throughputs across custom models", Scope::Provisioned, Metric::ModelUnits),
];

const DOUBLED: &str = "(doubled for cross-region calls)";
const LONG_CONTEXT: &str = "1m context length";

impl QuotaName {
    /// Reads a quota's name; `None` where it does not concern inference.
    pub fn parse(name: &str) -> Option<Self> {
        // AWS's lists have double spaces, trailing spaces and trailing dots. Lower-casing ASCII keeps byte offsets, so
        // that the model is cut from the text as written.
        let text = name.split_whitespace().collect::<Vec<_>>().join(" ");
        let text = text.trim_end_matches('.');
        let lower = text.to_ascii_lowercase();
        for &(whole, scope, metric) in WHOLE_NAMES {
            if lower == whole {
                return Some(Self { scope, metric, model: None, long_context: false, doubled_for_cross_region: false });
            }
        }
        let (length, scope, metric) =
            PATTERNS.iter().find_map(|&(pattern, scope, metric)| Some((match_pattern(pattern, &lower)?, scope, metric)))?;
        let mut model = text[length..].trim();
        if let Some((variant, rest)) = model.split_once(" context length variant for ")
            && variant.starts_with("the ")
        {
            model = rest.trim();
        }
        let doubled = model.to_ascii_lowercase().ends_with(DOUBLED);
        if doubled {
            model = model[..model.len() - DOUBLED.len()].trim_end();
        }
        // The legacy word order of the batch rows puts the unit last.
        if model.to_ascii_lowercase().ends_with("(in gb)") {
            model = model[..model.len() - "(in gb)".len()].trim_end();
        }
        let long_context = model.to_ascii_lowercase().ends_with(LONG_CONTEXT);
        if long_context {
            model = model[..model.len() - LONG_CONTEXT.len()].trim_end();
        }
        if model.is_empty() {
            return None;
        }
        Some(Self { scope, metric, model: Some(model.to_owned()), long_context, doubled_for_cross_region: doubled })
    }
}

/// The length of `text`'s beginning that `pattern` matches. `{call}` stands for `model inference` or its older name
/// `InvokeModel`, and a comma may stand after `on-demand`.
fn match_pattern(pattern: &str, text: &str) -> Option<usize> {
    let (head, tail) = pattern.split_once("{call}").unwrap_or((pattern, ""));
    let rest = match text.strip_prefix(head) {
        Some(rest) => rest,
        None => text.strip_prefix("on-demand, ")?.strip_prefix(head.strip_prefix("on-demand ")?)?,
    };
    if !pattern.contains("{call}") {
        return Some(text.len() - rest.len());
    }
    let rest = rest.strip_prefix("model inference").or_else(|| rest.strip_prefix("invokemodel"))?;
    let rest = rest.strip_prefix(tail)?;
    Some(text.len() - rest.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(name: &str) -> (Scope, Metric, String, bool) {
        let parsed = QuotaName::parse(name).unwrap_or_else(|| panic!("{name}"));
        (parsed.scope, parsed.metric, parsed.model.unwrap_or_default(), parsed.long_context)
    }

    #[test]
    fn names_are_taken_apart() {
        use Metric as M;
        use Scope as S;
        for (name, scope, metric, model, long) in [
            (
                "On-demand model inference requests per minute for Mistral Large 3",
                S::OnDemand,
                M::RequestsPerMinute,
                "Mistral Large 3",
                false,
            ),
            (
                "Cross-Region model inference tokens per minute for Anthropic Claude 3.5 Sonnet V2",
                S::Geo,
                M::TokensPerMinute,
                "Anthropic Claude 3.5 Sonnet V2",
                false,
            ),
            (
                "Cross-region InvokeModel tokens per minute for Anthropic Claude 3 Haiku",
                S::Geo,
                M::TokensPerMinute,
                "Anthropic Claude 3 Haiku",
                false,
            ),
            (
                "Global cross-region model inference tokens per day for Amazon Nova 2 Lite",
                S::Global,
                M::TokensPerDay,
                "Amazon Nova 2 Lite",
                false,
            ),
            (
                "On-Demand, latency-optimized model inference tokens per minute for Amazon Nova Pro V1",
                S::OnDemandLatencyOptimized,
                M::TokensPerMinute,
                "Amazon Nova Pro V1",
                false,
            ),
            (
                "On-demand latency-optimized model inference requests per minute for Anthropic Claude 3.5 Haiku",
                S::OnDemandLatencyOptimized,
                M::RequestsPerMinute,
                "Anthropic Claude 3.5 Haiku",
                false,
            ),
            (
                "Cross-region model inference tokens per minute for Anthropic Claude Sonnet 4.5 V1 1M Context Length",
                S::Geo,
                M::TokensPerMinute,
                "Anthropic Claude Sonnet 4.5 V1",
                true,
            ),
            (
                "Model invocation max tokens per day for Amazon Nova Pro (doubled for cross-region calls)",
                S::Shared,
                M::TokensPerDay,
                "Amazon Nova Pro",
                false,
            ),
            (
                "[bedrock-mantle endpoint] Input tokens per minute for Claude Opus 4.8",
                S::Mantle,
                M::InputTokensPerMinute,
                "Claude Opus 4.8",
                false,
            ),
            ("Batch inference job size  (in GB) for Qwen3 Next 80B", S::Batch, M::BatchJobSizeGb, "Qwen3 Next 80B", false),
            ("Batch inference job size for Qwen3 Coder 480B (in GB)", S::Batch, M::BatchJobSizeGb, "Qwen3 Coder 480B", false),
            (
                "Records per batch inference job for Claude Sonnet 4.5.",
                S::Batch,
                M::BatchRecordsPerJob,
                "Claude Sonnet 4.5",
                false,
            ),
            ("Cross-Model Max Tokens Per Day", S::Account, M::TokensPerDay, "", false),
        ] {
            assert_eq!(parts(name), (scope, metric, model.to_owned(), long), "{name}");
        }
    }

    #[test]
    fn a_name_that_only_contains_the_words_is_not_inference() {
        for name in [
            "(Guardrails) On-demand InvokeGuardrailChecks requests per minute",
            "(Knowledge Bases) Concurrent ingestion jobs per account",
            "Throttle rate limit for Bedrock Data Automation Runtime: InvokeDataAutomationAsync",
            "Endpoints per inference profile",
            "On-demand model inference tokens per minute for ",
        ] {
            assert_eq!(QuotaName::parse(name), None, "{name}");
        }
    }
}
