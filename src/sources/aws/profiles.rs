//! Application inference profiles: which model they stand for, and on which route.
//!
//! They add no quota: their traffic counts against that of what they were copied from.

use aws_sdk_bedrock::Client;
use aws_sdk_bedrock::types::{InferenceProfileModel, InferenceProfileType};

use super::error::{AwsError, GET_PROFILE, LIST_PROFILES};
use crate::engine::model_id::{ModelId, Route};
use crate::engine::snapshot::ApplicationProfile;

/// The most profiles of a page (API reference).
const PAGE: i32 = 1000;

/// The account's application inference profiles, sorted by id; those that cannot be told apart from other resources are
/// left out.
///
/// # Errors
/// Where they cannot be listed.
pub async fn list(client: &Client) -> Result<Vec<ApplicationProfile>, AwsError> {
    let mut pages = client
        .list_inference_profiles()
        .type_equals(InferenceProfileType::Application)
        .max_results(PAGE)
        .into_paginator()
        .send();
    let mut profiles = Vec::new();
    while let Some(page) = pages.next().await {
        let page = page.map_err(|error| AwsError::of(LIST_PROFILES, &error))?;
        for profile in page.inference_profile_summaries() {
            // Emulators and older endpoints return system profiles too, whatever type was asked for.
            if *profile.r#type() == InferenceProfileType::Application {
                profiles.extend(resolve(profile.inference_profile_id(), profile.inference_profile_name(), profile.models()));
            }
        }
    }
    profiles.sort_by(|a, b| a.id.cmp(&b.id));
    Ok(profiles)
}

/// One application inference profile, by id or ARN; `None` where it names no model.
///
/// # Errors
/// Where it cannot be asked, or does not exist.
pub async fn get(client: &Client, id: &str) -> Result<Option<ApplicationProfile>, AwsError> {
    let output = client
        .get_inference_profile()
        .inference_profile_identifier(id)
        .send()
        .await
        .map_err(|error| AwsError::of(GET_PROFILE, &error))?;
    Ok(resolve(output.inference_profile_id(), output.inference_profile_name(), output.models()))
}

/// What the profile was copied from is not returned, only the models that it reaches: one model in one Region is a
/// foundation model's copy, several Regions a geographic profile's, and a model without a Region a global profile's.
fn resolve(id: &str, name: &str, models: &[InferenceProfileModel]) -> Option<ApplicationProfile> {
    let mut regions = Vec::new();
    let mut model = None;
    for reached in models {
        let ModelId::Base(base) = ModelId::parse(reached.model_arn()?).ok()? else { return None };
        regions.push(base.region);
        model.get_or_insert(base.model);
    }
    regions.sort();
    regions.dedup();
    let route = match regions.as_slice() {
        regions if regions.contains(&None) => Route::Global,
        [_] => Route::OnDemand,
        _ => Route::Geo,
    };
    Some(ApplicationProfile { id: id.to_owned(), name: name.to_owned(), model: model?, route })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn route(arns: &[&str]) -> Option<(String, Route)> {
        let models: Vec<_> = arns.iter().map(|arn| InferenceProfileModel::builder().model_arn(*arn).build()).collect();
        resolve("a1b2c3d4e5f6", "n", &models).map(|profile| (profile.model, profile.route))
    }

    #[test]
    fn the_regions_that_a_profile_reaches_are_its_route() {
        let arn = |region: &str| format!("arn:aws:bedrock:{region}::foundation-model/amazon.nova-pro-v1:0");
        let model = "amazon.nova-pro-v1:0".to_owned();
        assert_eq!(route(&[&arn("us-east-1")]), Some((model.clone(), Route::OnDemand)));
        assert_eq!(route(&[&arn("us-east-1"), &arn("us-west-2")]), Some((model.clone(), Route::Geo)));
        assert_eq!(route(&[&arn("us-east-1"), &arn("")]), Some((model, Route::Global)));
        assert_eq!(route(&[]), None);
        assert_eq!(route(&["arn:aws:bedrock:us-east-1:1:provisioned-model/x"]), None);
    }
}
