//! `show policy`: the least IAM policy that forebay needs. It only reads.

use serde_json::json;

use super::Report;

/// The actions, sorted; a test holds them to the operations that are called.
pub const ACTIONS: &[&str] = &[
    "bedrock:GetInferenceProfile",
    "bedrock:ListInferenceProfiles",
    "cloudwatch:GetMetricData",
    "lambda:GetFunction",
    "lambda:ListEventSourceMappings",
    "servicequotas:GetAWSDefaultServiceQuota",
    "servicequotas:GetServiceQuota",
    "servicequotas:ListAWSDefaultServiceQuotas",
    "servicequotas:ListServiceQuotas",
    "sqs:GetQueueAttributes",
    "sqs:GetQueueUrl",
];

pub fn run() -> Report {
    let policy = json!({
        "Version": "2012-10-17",
        "Statement": [{"Sid": "ForebayReadOnly", "Effect": "Allow", "Action": ACTIONS, "Resource": "*"}],
    });
    Report::raw(crate::report::json::render(&policy))
}

#[cfg(all(test, feature = "live"))]
mod tests {
    use super::*;
    use crate::sources::aws::error::OPERATIONS;

    #[test]
    fn the_policy_allows_what_is_called_and_nothing_else() {
        let mut actions: Vec<&str> = OPERATIONS.iter().map(|operation| operation.action).collect();
        actions.sort_unstable();
        assert_eq!(actions, ACTIONS);
    }
}
