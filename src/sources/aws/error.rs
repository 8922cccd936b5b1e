//! What AWS says when it does not answer, and what to do about it.

use std::error::Error as _;

use aws_credential_types::provider::error::CredentialsError;
use aws_smithy_runtime_api::client::orchestrator::HttpResponse;
use aws_smithy_runtime_api::client::result::SdkError;
use aws_smithy_types::error::metadata::ProvideErrorMetadata;

/// One API operation, with the IAM action that allows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Operation {
    pub service: &'static str,
    pub name: &'static str,
    pub action: &'static str,
}

/// Every operation that forebay calls. The policy of `show policy` is this list.
pub const OPERATIONS: &[Operation] = &[
    LIST_QUOTAS,
    LIST_DEFAULTS,
    GET_QUOTA,
    GET_DEFAULT,
    GET_METRIC_DATA,
    LIST_PROFILES,
    GET_PROFILE,
    LIST_MAPPINGS,
    GET_FUNCTION,
    QUEUE_URL,
    QUEUE_ATTRIBUTES,
];

pub const LIST_QUOTAS: Operation =
    Operation { service: "Service Quotas", name: "ListServiceQuotas", action: "servicequotas:ListServiceQuotas" };
pub const LIST_DEFAULTS: Operation = Operation {
    service: "Service Quotas",
    name: "ListAWSDefaultServiceQuotas",
    action: "servicequotas:ListAWSDefaultServiceQuotas",
};
pub const GET_QUOTA: Operation =
    Operation { service: "Service Quotas", name: "GetServiceQuota", action: "servicequotas:GetServiceQuota" };
pub const GET_DEFAULT: Operation = Operation {
    service: "Service Quotas",
    name: "GetAWSDefaultServiceQuota",
    action: "servicequotas:GetAWSDefaultServiceQuota",
};
pub const GET_METRIC_DATA: Operation =
    Operation { service: "CloudWatch", name: "GetMetricData", action: "cloudwatch:GetMetricData" };
pub const LIST_PROFILES: Operation =
    Operation { service: "Bedrock", name: "ListInferenceProfiles", action: "bedrock:ListInferenceProfiles" };
pub const GET_PROFILE: Operation =
    Operation { service: "Bedrock", name: "GetInferenceProfile", action: "bedrock:GetInferenceProfile" };

pub const LIST_MAPPINGS: Operation =
    Operation { service: "Lambda", name: "ListEventSourceMappings", action: "lambda:ListEventSourceMappings" };
pub const GET_FUNCTION: Operation = Operation { service: "Lambda", name: "GetFunction", action: "lambda:GetFunction" };
pub const QUEUE_URL: Operation = Operation { service: "SQS", name: "GetQueueUrl", action: "sqs:GetQueueUrl" };
pub const QUEUE_ATTRIBUTES: Operation =
    Operation { service: "SQS", name: "GetQueueAttributes", action: "sqs:GetQueueAttributes" };

/// Why AWS could not be asked.
#[derive(Debug, thiserror::Error)]
pub enum AwsError {
    #[error("no Region: neither `--region`, the workload file, AWS_REGION nor the credentials profile names one")]
    NoRegion,
    #[error("no AWS credentials were found")]
    NoCredentials,
    #[error("the AWS credentials cannot be used: {cause}")]
    BadCredentials { cause: String, sso: bool, profile: Option<String> },
    #[error("{}: {} was denied: {message}", operation.service, operation.name)]
    Denied { operation: Operation, message: String },
    #[error("{}: {} was refused: the credentials are not valid ({code}): {message}", operation.service, operation.name)]
    Refused { operation: Operation, code: String, message: String },
    #[error("{}: {} was throttled at every attempt ({code})", operation.service, operation.name)]
    Throttled { operation: Operation, code: String },
    #[error("{}: {} could not be reached: {cause}", operation.service, operation.name)]
    Unreachable { operation: Operation, cause: String },
    #[error("{}: {} did not answer in time", operation.service, operation.name)]
    TimedOut { operation: Operation },
    #[error("{}: {} answered with something that is no answer: {cause}", operation.service, operation.name)]
    Unreadable { operation: Operation, cause: String },
    #[error("{}: {} failed with {code}: {message}", operation.service, operation.name)]
    Failed { operation: Operation, code: String, message: String },
    #[error("{}: {} broke off after page {pages} ({rows} rows): {source}", operation.service, operation.name)]
    Partial { operation: Operation, pages: usize, rows: usize, source: Box<AwsError> },
}

impl AwsError {
    /// What to try.
    pub fn hint(&self) -> String {
        match self {
            Self::NoRegion => "give `--region`, or put `region:` into the workload file".to_owned(),
            Self::NoCredentials => {
                "set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, name a profile with `--profile`, or run `aws sso login`; without an account, give the quotas by `--rpm` and `--tpm` and add `--offline`".to_owned()
            }
            Self::BadCredentials { sso: true, profile, .. } => match profile {
                Some(profile) => format!("run `aws sso login --profile {profile}` and try again"),
                None => "run `aws sso login` and try again".to_owned(),
            },
            Self::BadCredentials { profile: None, .. } => Self::NoCredentials.hint(),
            Self::BadCredentials { .. } => {
                "check the credentials profile (`aws sts get-caller-identity` shows what it yields)".to_owned()
            }
            Self::Denied { operation, .. } => {
                format!("the caller needs the IAM action `{}`; `forebay show policy` prints all that forebay asks for", operation.action)
            }
            Self::Refused { .. } => "the key is wrong, expired, or of another partition; renew the credentials and try again".to_owned(),
            Self::Throttled { .. } => {
                "something else asks the same API in this account; wait a minute and try again, raise `--aws-attempts`, or plan from a snapshot".to_owned()
            }
            Self::Unreachable { .. } => {
                "check the network, the proxy and `--endpoint-url`; the Region may not exist or not have the service; or plan from a snapshot with `--snapshot`".to_owned()
            }
            Self::TimedOut { .. } => "try again, or plan from a snapshot with `--snapshot`".to_owned(),
            Self::Unreadable { .. } => "check `--endpoint-url`: what answers there does not speak this API".to_owned(),
            Self::Failed { code, .. } if code == "ResourceNotFoundException" || code == "NoSuchResourceException" => {
                "what was asked for is not in this account and Region: check the id and `--region`".to_owned()
            }
            Self::Failed { .. } => "try again; if it stays, give the values by flags, or plan from a snapshot with `--snapshot`".to_owned(),
            Self::Partial { source, .. } => source.hint(),
        }
    }

    pub(super) fn of_credentials(error: &CredentialsError, profile: Option<&str>) -> Self {
        if matches!(error, CredentialsError::CredentialsNotLoaded(_)) && profile.is_none() {
            return Self::NoCredentials;
        }
        // The chain of causes is the only place where the SDK says that an SSO session has ended: its token error is
        // private, so this one time the text is looked at. It only picks the hint.
        let mut causes = vec![error.to_string()];
        let mut source = error.source();
        while let Some(cause) = source {
            causes.push(cause.to_string());
            source = cause.source();
        }
        causes.dedup();
        let cause = causes.join(": ");
        let lower = cause.to_ascii_lowercase();
        Self::BadCredentials { sso: lower.contains("sso"), cause, profile: profile.map(str::to_owned) }
    }

    /// Of an operation's error, by its kind and, where the service answered, its modelled code.
    pub(super) fn of<E>(operation: Operation, error: &SdkError<E, HttpResponse>) -> Self
    where
        E: ProvideErrorMetadata + std::error::Error + 'static,
    {
        match error {
            SdkError::ServiceError(service) => {
                let code = service.err().code().unwrap_or("an error without a code").to_owned();
                let message = service.err().message().unwrap_or("no message").to_owned();
                match code.as_str() {
                    "AccessDeniedException" | "AccessDenied" | "UnauthorizedOperation" | "NotAuthorized" => {
                        Self::Denied { operation, message }
                    }
                    "UnrecognizedClientException"
                    | "InvalidClientTokenId"
                    | "InvalidSignatureException"
                    | "SignatureDoesNotMatch"
                    | "ExpiredTokenException"
                    | "ExpiredToken"
                    | "MissingAuthenticationToken"
                    | "IncompleteSignature"
                    | "InvalidAccessKeyId"
                    | "OptInRequired" => Self::Refused { operation, code, message },
                    "TooManyRequestsException"
                    | "ThrottlingException"
                    | "Throttling"
                    | "ThrottledException"
                    | "RequestLimitExceeded"
                    | "LimitExceededException" => Self::Throttled { operation, code },
                    _ => Self::Failed { operation, code, message },
                }
            }
            SdkError::TimeoutError(_) => Self::TimedOut { operation },
            SdkError::DispatchFailure(failure) if failure.is_timeout() => Self::TimedOut { operation },
            SdkError::ResponseError(_) => Self::Unreadable { operation, cause: root_cause(error) },
            _ => Self::Unreachable { operation, cause: root_cause(error) },
        }
    }
}

/// The last cause of a chain: the SDK's own outer texts say no more than "dispatch failure".
fn root_cause(error: &dyn std::error::Error) -> String {
    let mut cause = error;
    while let Some(next) = cause.source() {
        cause = next;
    }
    cause.to_string()
}
