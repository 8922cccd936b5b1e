//! Which model, route and endpoint a workload means, after application profiles are resolved.

use super::model_id::{BaseModel, Endpoint, ModelId, Route, UnmeteredKind};
use super::model_profile::ModelProfile;
use super::quota_match::Matcher;
use super::snapshot::ApplicationProfile;

/// A model with on-demand quotas, and how it is called.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Identity {
    /// As the code passes it.
    pub given: String,
    /// The foundation model id.
    pub model: String,
    pub route: Route,
    pub endpoint: Endpoint,
    /// `ModelIds` under which CloudWatch counts the workload's own calls.
    pub own_ids: Vec<String>,
    /// The application profile that was resolved, where the id was one's.
    pub application: Option<ApplicationProfile>,
}

/// Why a workload has no on-demand quota to plan on.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum IdentityError {
    #[error("`{given}` goes the {found} route, and `--route` says {said}")]
    OtherRoute { given: String, found: Route, said: Route },
    #[error("`{given}` has no on-demand quota: {}", kind.reason())]
    Unmetered { given: String, kind: UnmeteredKind },
    #[error("`{given}` is an application inference profile, and what it was copied from is not known")]
    Unresolved { given: String },
    #[error("`{given}` names the Region {named}, and the workload is in {region}")]
    OtherRegion { given: String, named: String, region: String },
}

impl IdentityError {
    /// What to try.
    pub fn hint(&self) -> Option<&'static str> {
        match self {
            Self::OtherRoute { .. } => {
                Some("the prefix of the id is the route: none is on-demand, `global.` is global, any other is geo")
            }
            Self::Unresolved { .. } => Some(
                "drop `--offline` to ask AWS, use a snapshot that was taken with it, or give the id of the profile's parent",
            ),
            Self::Unmetered { .. } | Self::OtherRegion { .. } => None,
        }
    }
}

impl Identity {
    /// From a parsed id; `profiles` are the account's application profiles, as far as they are known.
    ///
    /// # Errors
    /// Where the id has no on-demand quota, cannot be resolved, or contradicts the route, endpoint or Region given.
    pub fn new(
        given: &str,
        id: &ModelId,
        endpoint: Endpoint,
        said_route: Option<Route>,
        region: Option<&str>,
        profiles: &[ApplicationProfile],
    ) -> Result<Self, IdentityError> {
        let given = given.to_owned();
        let (base, named) = match id {
            ModelId::Unmetered { kind, .. } => return Err(IdentityError::Unmetered { given, kind: *kind }),
            ModelId::Base(base) => (Some(base), &base.region),
            ModelId::Application { region, .. } => (None, region),
        };
        if let (Some(named), Some(region)) = (named, region)
            && named != region
        {
            return Err(IdentityError::OtherRegion { given, named: named.clone(), region: region.to_owned() });
        }
        let identity = match (base, id) {
            (Some(base), _) => Self::of_base(given, base, endpoint),
            (None, ModelId::Application { id, .. }) => {
                let Some(profile) = profiles.iter().find(|profile| profile.id == *id) else {
                    return Err(IdentityError::Unresolved { given });
                };
                let mut own_ids = vec![id.clone()];
                push_new(&mut own_ids, &given);
                let (model, route, application) = (profile.model.clone(), profile.route, Some(profile.clone()));
                Self { given, model, route, endpoint, own_ids, application }
            }
            (None, _) => return Err(IdentityError::Unresolved { given }),
        };
        if let Some(said) = said_route
            && said != identity.route
        {
            return Err(IdentityError::OtherRoute { given: identity.given, found: identity.route, said });
        }
        Ok(identity)
    }

    fn of_base(given: String, base: &BaseModel, endpoint: Endpoint) -> Self {
        // The metric's dimension has the id, whatever form the call used; a call by ARN may be counted under either.
        let mut own_ids = vec![base.id()];
        push_new(&mut own_ids, &given);
        Self { given, model: base.model.clone(), route: base.route(), endpoint, own_ids, application: None }
    }

    /// `anthropic` of `anthropic.claude-sonnet-4-6`.
    pub fn vendor(&self) -> &str {
        self.model.split('.').next().unwrap_or(&self.model)
    }

    /// The other `ModelIds` whose calls count against the same quota: other ids of the model on the route, those of known
    /// models that the same rows speak of, and application profiles of any of them.
    pub fn ids_on_quota(&self, known: &[ModelProfile], profiles: &[ApplicationProfile]) -> Vec<String> {
        let matcher = Matcher::new(&self.model, known);
        let siblings: Vec<&ModelProfile> =
            known.iter().filter(|profile| profile.id == self.model || matcher.same_rows(&profile.id, known)).collect();
        let mut ids: Vec<String> = siblings.iter().flat_map(|profile| profile.ids_on_route(self.route)).collect();
        let of_quota = |model: &str| model == self.model || siblings.iter().any(|sibling| sibling.id == model);
        let on_route = profiles.iter().filter(|profile| profile.route == self.route && of_quota(&profile.model));
        ids.extend(on_route.map(|profile| profile.id.clone()));
        ids.retain(|id| !self.own_ids.contains(id));
        ids.sort();
        ids.dedup();
        ids
    }
}

fn push_new(ids: &mut Vec<String>, id: &str) {
    if !ids.iter().any(|known| known == id) {
        ids.push(id.to_owned());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn identity(given: &str, route: Option<Route>, profiles: &[ApplicationProfile]) -> Result<Identity, IdentityError> {
        let id = ModelId::parse(given).unwrap();
        Identity::new(given, &id, Endpoint::BedrockRuntime, route, Some("us-east-1"), profiles)
    }

    fn profile(route: Route) -> ApplicationProfile {
        ApplicationProfile { id: "a1b2c3d4e5f6".into(), name: "team".into(), model: "amazon.nova-pro-v1:0".into(), route }
    }

    #[test]
    fn an_application_profile_takes_its_parent_s_route_and_shares_its_quota() {
        let profiles = [profile(Route::Geo)];
        let arn = "arn:aws:bedrock:us-east-1:1:application-inference-profile/a1b2c3d4e5f6";
        let own = identity(arn, None, &profiles).unwrap();
        assert_eq!((own.model.as_str(), own.route), ("amazon.nova-pro-v1:0", Route::Geo));
        assert_eq!(own.own_ids, ["a1b2c3d4e5f6", arn]);
        let known = |id: &str| ModelProfile { id: id.into(), profiles: vec!["us".into()], ..ModelProfile::default() };
        let nova = [known("amazon.nova-pro-v1:0"), known("amazon.nova-lite-v1:0")];
        assert_eq!(own.ids_on_quota(&nova, &profiles), ["us.amazon.nova-pro-v1:0"]);
        let parent = identity("us.amazon.nova-pro-v1:0", None, &[]).unwrap();
        assert_eq!(parent.ids_on_quota(&nova, &profiles), ["a1b2c3d4e5f6"]);
        let other_route = identity("amazon.nova-pro-v1:0", None, &[]).unwrap();
        assert!(other_route.ids_on_quota(&nova, &profiles).is_empty());
    }

    #[test]
    fn ids_that_the_same_rows_speak_of_share_the_quota() {
        let known = |id: &str| ModelProfile { id: id.into(), ..ModelProfile::default() };
        let gpt = [known("openai.gpt-oss-120b"), known("openai.gpt-oss-120b-1:0"), known("openai.gpt-oss-20b")];
        let own = identity("openai.gpt-oss-120b-1:0", None, &[]).unwrap();
        assert_eq!(own.ids_on_quota(&gpt, &[]), ["openai.gpt-oss-120b"]);
        let sonnet = ["anthropic.claude-3-5-sonnet-20240620-v1:0", "anthropic.claude-3-5-sonnet-20241022-v2:0"].map(known);
        assert!(identity(&sonnet[0].id, None, &[]).unwrap().ids_on_quota(&sonnet, &[]).is_empty(), "a version of its own");
    }

    #[test]
    fn contradictions_show_both_sides() {
        let error = |given, route, profiles: &[_]| identity(given, route, profiles).unwrap_err().to_string();
        assert_eq!(
            error("us.amazon.nova-pro-v1:0", Some(Route::Global), &[]),
            "`us.amazon.nova-pro-v1:0` goes the geo route, and `--route` says global"
        );
        assert_eq!(
            error("arn:aws:bedrock:eu-west-1::foundation-model/amazon.nova-pro-v1:0", None, &[]),
            "`arn:aws:bedrock:eu-west-1::foundation-model/amazon.nova-pro-v1:0` names the Region eu-west-1, and the workload is in us-east-1"
        );
        assert!(error("arn:aws:bedrock:us-east-1:1:provisioned-model/x", None, &[]).contains("model units"));
        assert!(error("a1b2c3d4e5f6", None, &[]).contains("not known"));
    }
}
