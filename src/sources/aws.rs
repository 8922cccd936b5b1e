//! Live AWS, read only: quotas, metrics, inference profiles. Everything ends in one [`Snapshot`].
//!
//! Quotas and metrics are asked side by side. The first plan of a Region lists its quotas; the codes are kept
//! ([`code_cache`]), so the next one asks for a handful of rows by code.

pub mod code_cache;
pub mod deployed;
pub mod error;
pub mod metrics;
pub mod profiles;
pub mod pull;
pub mod quotas;

use std::time::Duration;

use aws_config::retry::RetryConfig;
use aws_config::timeout::TimeoutConfig;
use aws_config::{BehaviorVersion, Region};
use aws_credential_types::provider::{ProvideCredentials, SharedCredentialsProvider};

use crate::engine::snapshot::Snapshot;
pub use error::AwsError;

/// How to reach AWS; what is left out comes from the environment and the shared configuration files.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Connection {
    pub profile: Option<String>,
    pub region: Option<String>,
    pub endpoint_url: Option<String>,
    /// Attempts of each request, the first one counted; `None`: [`DEFAULT_ATTEMPTS`].
    pub attempts: Option<u32>,
}

/// Attempts of each request. Listing quotas is throttled at a few requests a second, so one retry is not enough.
pub const DEFAULT_ATTEMPTS: u32 = 4;

/// How long one attempt may take before the next one: an answer that is this late will not come.
const ATTEMPT_TIMEOUT: Duration = Duration::from_secs(20);
const CONNECT_TIMEOUT: Duration = Duration::from_secs(4);

/// Clients of one account and Region.
#[derive(Clone, Debug)]
pub struct Aws {
    pub region: String,
    /// What the code cache is kept by: Region, endpoint and credentials profile.
    pub cache_key: code_cache::Key,
    pub quotas: aws_sdk_servicequotas::Client,
    pub cloudwatch: aws_sdk_cloudwatch::Client,
    pub bedrock: aws_sdk_bedrock::Client,
    pub lambda: aws_sdk_lambda::Client,
    pub sqs: aws_sdk_sqs::Client,
}

impl Aws {
    /// Finds a Region and credentials, and makes clients. No request is sent, unless the credentials need one.
    ///
    /// # Errors
    /// Where there is no Region, or no credentials that can be used.
    pub async fn connect(connection: &Connection) -> Result<Self, AwsError> {
        let attempts = connection.attempts.unwrap_or(DEFAULT_ATTEMPTS);
        let mut loader = aws_config::defaults(BehaviorVersion::latest())
            .retry_config(RetryConfig::standard().with_max_attempts(attempts))
            .timeout_config(
                TimeoutConfig::builder().connect_timeout(CONNECT_TIMEOUT).operation_attempt_timeout(ATTEMPT_TIMEOUT).build(),
            );
        if let Some(profile) = &connection.profile {
            loader = loader.profile_name(profile);
        }
        if let Some(region) = &connection.region {
            loader = loader.region(Region::new(region.clone()));
        }
        if let Some(url) = &connection.endpoint_url {
            loader = loader.endpoint_url(url);
        }
        let config = loader.load().await;
        let region = config.region().ok_or(AwsError::NoRegion)?.to_string();
        // Credentials are asked for once, before anything is sent: what is wrong with them is said once, typed, and three
        // clients do not each run the chain.
        let provider = config.credentials_provider().ok_or(AwsError::NoCredentials)?;
        let credentials = provider
            .provide_credentials()
            .await
            .map_err(|error| AwsError::of_credentials(&error, connection.profile.as_deref()))?;
        // Rows differ between accounts. Where the chain does not say which account it is, the key stands for it.
        let caller = credentials.account_id().map_or_else(|| credentials.access_key_id(), |account| account.as_str());
        let caller = code_cache::fingerprint(caller);
        let config = config.into_builder().credentials_provider(SharedCredentialsProvider::new(credentials)).build();
        Ok(Self {
            cache_key: code_cache::Key {
                region: region.clone(),
                endpoint: config.endpoint_url().map(str::to_owned),
                profile: connection.profile.clone(),
                caller,
            },
            region,
            quotas: aws_sdk_servicequotas::Client::new(&config),
            cloudwatch: aws_sdk_cloudwatch::Client::new(&config),
            bedrock: aws_sdk_bedrock::Client::new(&config),
            lambda: aws_sdk_lambda::Client::new(&config),
            sqs: aws_sdk_sqs::Client::new(&config),
        })
    }

    /// A snapshot with nothing in it yet.
    pub fn empty_snapshot(&self, taken_at: String) -> Snapshot {
        Snapshot {
            schema: crate::engine::snapshot::SNAPSHOT_SCHEMA,
            taken_at,
            region: self.region.clone(),
            account: None,
            quotas: None,
            metrics: None,
            application_profiles: None,
            notes: Vec::new(),
        }
    }
}
