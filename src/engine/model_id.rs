//! Model identifiers: what the code passes to Bedrock, taken apart.
//!
//! The prefix of an id is its route, and the route picks the quota (Bedrock User Guide, "inference profiles", read
//! 2026-10). The set of geographic prefixes is open: whatever stands before the vendor and is not `global` is a geography.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Which quota a call is counted against.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Route {
    /// A bare model id: the Region's own quota.
    OnDemand,
    /// A geographic inference profile: the source Region's cross-Region quota.
    Geo,
    /// A `global.` profile: the source Region's global quota.
    Global,
}

impl fmt::Display for Route {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::OnDemand => "on-demand",
            Self::Geo => "geo",
            Self::Global => "global",
        })
    }
}

/// Which service endpoint takes the calls; each has quotas and accounting of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Endpoint {
    BedrockRuntime,
    BedrockMantle,
}

impl fmt::Display for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::BedrockRuntime => "bedrock-runtime",
            Self::BedrockMantle => "bedrock-mantle",
        })
    }
}

/// A model identifier, classified.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ModelId {
    /// A model with on-demand quotas: foundation model, or a system inference profile of one.
    Base(BaseModel),
    /// An application inference profile, by its ARN or its bare id; its parent decides route and quota.
    Application { id: String, region: Option<String> },
    /// Something that has no on-demand quota of its own.
    Unmetered { kind: UnmeteredKind, id: String },
}

/// A foundation model and the route it is called by.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BaseModel {
    /// The foundation model id, without prefix: `anthropic.claude-sonnet-4-6`.
    pub model: String,
    /// The geographic or global prefix as written, without its dot.
    pub prefix: Option<String>,
    /// The Region named by the ARN, where one was given.
    pub region: Option<String>,
}

impl BaseModel {
    pub fn route(&self) -> Route {
        match self.prefix.as_deref() {
            None => Route::OnDemand,
            Some("global") => Route::Global,
            Some(_) => Route::Geo,
        }
    }

    /// `anthropic` of `us.anthropic.claude-sonnet-4-6`.
    pub fn vendor(&self) -> &str {
        self.model.split('.').next().unwrap_or(&self.model)
    }

    /// The id as a call passes it: prefix and model. CloudWatch's ModelId dimension has this form.
    pub fn id(&self) -> String {
        match &self.prefix {
            Some(prefix) => format!("{prefix}.{}", self.model),
            None => self.model.clone(),
        }
    }
}

/// Model resources that on-demand quotas do not meter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnmeteredKind {
    Provisioned,
    Imported,
    CustomDeployment,
    Custom,
    PromptRouter,
    Marketplace,
}

impl UnmeteredKind {
    /// Why no on-demand quota applies, and what does.
    pub fn reason(self) -> &'static str {
        match self {
            Self::Provisioned => {
                "a provisioned model runs on the model units that were bought for it; its limit is their throughput, not the on-demand quotas"
            }
            Self::Imported => {
                "an imported model runs on its own model copies; its limit is the copies per model, not the on-demand quotas"
            }
            Self::CustomDeployment | Self::Custom => {
                "a custom model is metered by the `Sum of on demand custom model deployment` quotas, not by its base model's"
            }
            Self::PromptRouter => "a prompt router picks a model for each call; plan each of its models by its own id",
            Self::Marketplace => {
                "a marketplace endpoint runs on instances of its own; its limit is theirs, not the on-demand quotas"
            }
        }
    }
}

/// Why an identifier could not be read.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum ModelIdError {
    #[error(
        "`{0}` is not a model id: expected `vendor.model`, a profile such as `us.vendor.model` or `global.vendor.model`, or a Bedrock ARN"
    )]
    Malformed(String),
    #[error("`{arn}` is an ARN of `{resource}`, which is no model")]
    NotAModel { arn: String, resource: String },
}

impl ModelId {
    /// Reads an id, a profile id or an ARN.
    ///
    /// # Errors
    /// When the text has none of these forms.
    pub fn parse(text: &str) -> Result<Self, ModelIdError> {
        let text = text.trim();
        if text.starts_with("arn:") {
            return Self::parse_arn(text);
        }
        // Application profiles may be passed by their 12-character id (CloudWatch names them so).
        if is_opaque_id(text) {
            return Ok(Self::Application { id: text.to_owned(), region: None });
        }
        BaseModel::parse(text, None).map(Self::Base).ok_or_else(|| ModelIdError::Malformed(text.to_owned()))
    }

    fn parse_arn(arn: &str) -> Result<Self, ModelIdError> {
        let malformed = || ModelIdError::Malformed(arn.to_owned());
        // arn:partition:service:region:account:resource, where the resource may hold colons of its own.
        let mut parts = arn.splitn(6, ':').skip(2);
        let (service, region) = (parts.next().ok_or_else(malformed)?, parts.next().ok_or_else(malformed)?);
        let resource = parts.nth(1).ok_or_else(malformed)?;
        let region = (!region.is_empty()).then(|| region.to_owned());
        let (kind, id) = resource.split_once('/').ok_or_else(malformed)?;
        if id.is_empty() {
            return Err(malformed());
        }
        let unmetered = |kind| Ok(Self::Unmetered { kind, id: id.to_owned() });
        match (service, kind) {
            ("bedrock", "foundation-model" | "inference-profile") => {
                BaseModel::parse(id, region).map(Self::Base).ok_or_else(malformed)
            }
            ("bedrock", "application-inference-profile") => Ok(Self::Application { id: id.to_owned(), region }),
            ("bedrock", "provisioned-model") => unmetered(UnmeteredKind::Provisioned),
            ("bedrock", "imported-model") => unmetered(UnmeteredKind::Imported),
            ("bedrock", "custom-model-deployment") => unmetered(UnmeteredKind::CustomDeployment),
            ("bedrock", "custom-model") => unmetered(UnmeteredKind::Custom),
            ("bedrock", "prompt-router" | "default-prompt-router") => unmetered(UnmeteredKind::PromptRouter),
            ("sagemaker", "endpoint") => unmetered(UnmeteredKind::Marketplace),
            _ => Err(ModelIdError::NotAModel { arn: arn.to_owned(), resource: format!("{service} {kind}") }),
        }
    }
}

impl BaseModel {
    fn parse(id: &str, region: Option<String>) -> Option<Self> {
        let id = id.to_ascii_lowercase();
        let valid = id.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'-' | b':' | b'_'));
        let (first, rest) = id.split_once('.')?;
        if !valid || first.is_empty() || rest.is_empty() || !first.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-') {
            return None;
        }
        // A second dot is a vendor's only if what lies between the dots can be a vendor: `us.anthropic.claude` has one,
        // `openai.gpt-5.6-sol` has not, for no vendor's name holds a hyphen or begins with a digit.
        let vendor_follows = rest.split_once('.').is_some_and(|(vendor, model)| {
            !model.is_empty()
                && vendor.starts_with(|c: char| c.is_ascii_alphabetic())
                && vendor.bytes().all(|b| b.is_ascii_alphanumeric())
                && !is_version_word(vendor)
        });
        let (prefix, model) = if vendor_follows { (Some(first.to_owned()), rest.to_owned()) } else { (None, id.clone()) };
        Some(Self { model, prefix, region })
    }
}

/// `v3` of `deepseek.v3.2` or `m2` of `minimax.m2.1` is a version and no vendor: letters, then digits up to the end.
fn is_version_word(word: &str) -> bool {
    let digits = word.trim_start_matches(|c: char| c.is_ascii_alphabetic());
    word.len() - digits.len() == 1 && !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit())
}

fn is_opaque_id(text: &str) -> bool {
    text.len() == 12
        && text.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit())
        && text.bytes().any(|b| b.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn base(id: &str) -> BaseModel {
        match ModelId::parse(id) {
            Ok(ModelId::Base(base)) => base,
            other => panic!("{id}: {other:?}"),
        }
    }

    #[test]
    fn the_prefix_is_the_route() {
        for (id, model, route) in [
            ("anthropic.claude-sonnet-4-6", "anthropic.claude-sonnet-4-6", Route::OnDemand),
            ("us.anthropic.claude-sonnet-4-6", "anthropic.claude-sonnet-4-6", Route::Geo),
            ("us-gov.anthropic.claude-3-haiku-20240307-v1:0", "anthropic.claude-3-haiku-20240307-v1:0", Route::Geo),
            ("kr.amazon.nova-lite-v1:0", "amazon.nova-lite-v1:0", Route::Geo),
            ("global.amazon.nova-2-lite-v1:0", "amazon.nova-2-lite-v1:0", Route::Global),
            ("openai.gpt-5.6-sol", "openai.gpt-5.6-sol", Route::OnDemand),
            ("us.openai.gpt-5.6-sol", "openai.gpt-5.6-sol", Route::Geo),
            ("deepseek.v3.2", "deepseek.v3.2", Route::OnDemand),
            ("us.deepseek.r1-v1:0", "deepseek.r1-v1:0", Route::Geo),
            ("minimax.minimax-m2.5", "minimax.minimax-m2.5", Route::OnDemand),
            ("zai.glm-4.7", "zai.glm-4.7", Route::OnDemand),
            ("global.xai.grok-4.6", "xai.grok-4.6", Route::Global),
        ] {
            let base = base(id);
            assert_eq!((base.model.as_str(), base.route()), (model, route), "{id}");
            assert_eq!(base.id(), id);
        }
    }

    #[test]
    fn arns_are_taken_apart() {
        let model = base("arn:aws:bedrock:us-east-1::foundation-model/anthropic.claude-3-haiku-20240307-v1:0");
        assert_eq!(model.model, "anthropic.claude-3-haiku-20240307-v1:0");
        assert_eq!(model.region.as_deref(), Some("us-east-1"));
        let profile = base("arn:aws:bedrock:eu-west-1:111122223333:inference-profile/eu.amazon.nova-pro-v1:0");
        assert_eq!((profile.route(), profile.vendor()), (Route::Geo, "amazon"));
        let global = base("arn:aws:bedrock:::foundation-model/anthropic.claude-opus-5");
        assert_eq!(global.region, None);
        assert_eq!(
            ModelId::parse("arn:aws:bedrock:us-east-1:111122223333:application-inference-profile/a1b2c3d4e5f6"),
            Ok(ModelId::Application { id: "a1b2c3d4e5f6".into(), region: Some("us-east-1".into()) })
        );
        assert_eq!(ModelId::parse("a1b2c3d4e5f6"), Ok(ModelId::Application { id: "a1b2c3d4e5f6".into(), region: None }));
    }

    #[test]
    fn resources_without_an_on_demand_quota_are_recognised() {
        for (resource, kind) in [
            ("provisioned-model/abc123", UnmeteredKind::Provisioned),
            ("imported-model/abc123", UnmeteredKind::Imported),
            ("custom-model-deployment/abc123", UnmeteredKind::CustomDeployment),
            ("custom-model/amazon.nova-lite-v1:0:300k/abc", UnmeteredKind::Custom),
            ("default-prompt-router/anthropic.claude:1", UnmeteredKind::PromptRouter),
        ] {
            let parsed = ModelId::parse(&format!("arn:aws:bedrock:us-east-1:111122223333:{resource}")).unwrap();
            assert!(matches!(parsed, ModelId::Unmetered { kind: found, .. } if found == kind), "{resource}");
        }
    }

    #[test]
    fn other_text_is_refused() {
        for text in ["", "claude", "us.", ".x", "a b.c", "arn:aws:bedrock", "arn:aws:bedrock:us-east-1::foundation-model/"] {
            assert!(matches!(ModelId::parse(text), Err(ModelIdError::Malformed(_))), "{text}");
        }
        assert!(matches!(ModelId::parse("arn:aws:bedrock:us-east-1:1:guardrail/x"), Err(ModelIdError::NotAModel { .. })));
    }
}
