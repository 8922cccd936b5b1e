//! Service Quotas: lists, and rows by code.

use aws_sdk_servicequotas::Client;
use aws_sdk_servicequotas::types::ServiceQuota;
use tokio::task::JoinSet;

use super::error::{AwsError, GET_DEFAULT, GET_QUOTA, LIST_DEFAULTS, LIST_QUOTAS, Operation};
use crate::engine::snapshot::QuotaRow;

/// Both endpoints' quotas are under this code.
const SERVICE: &str = "bedrock";
/// The most rows of a page (API reference); fewer would only cost more round trips.
const PAGE: i32 = 100;

/// The rows of a list, and the account that they were returned for, where an ARN names it.
#[derive(Debug, Default)]
pub struct Listed {
    pub rows: Vec<QuotaRow>,
    pub account: Option<String>,
}

/// Which value of a row a list returned.
#[derive(Clone, Copy)]
enum Value {
    Applied,
    Default,
}

impl Listed {
    fn push(&mut self, quota: &ServiceQuota, value: Value) {
        let (Some(code), Some(name)) = (quota.quota_code(), quota.quota_name()) else { return };
        // arn:aws:servicequotas:us-east-1:111122223333:bedrock/L-… names the account; that of a default does not.
        let account = quota.quota_arn().and_then(|arn| arn.split(':').nth(4)).filter(|account| !account.is_empty());
        if self.account.is_none() {
            self.account = account.map(str::to_owned);
        }
        let mut row = QuotaRow {
            code: code.to_owned(),
            name: name.to_owned(),
            adjustable: Some(quota.adjustable()),
            ..QuotaRow::default()
        };
        match value {
            Value::Applied => row.applied = quota.value(),
            Value::Default => row.default = quota.value(),
        }
        self.rows.push(row);
    }
}

/// The account's applied values, page by page.
///
/// # Errors
/// Where a page does not come: a part of the list is no list, for what is missing from it would read as "no such quota".
pub async fn list_applied(client: &Client) -> Result<Listed, AwsError> {
    let mut pages = client.list_service_quotas().service_code(SERVICE).max_results(PAGE).into_paginator().send();
    let (mut listed, mut count) = (Listed::default(), 0);
    while let Some(page) = pages.next().await {
        let page = page.map_err(|error| part(LIST_QUOTAS, AwsError::of(LIST_QUOTAS, &error), count, &listed))?;
        count += 1;
        page.quotas().iter().for_each(|quota| listed.push(quota, Value::Applied));
    }
    Ok(listed)
}

/// AWS's default values, page by page.
///
/// # Errors
/// As for [`list_applied`].
pub async fn list_defaults(client: &Client) -> Result<Listed, AwsError> {
    let mut pages = client.list_aws_default_service_quotas().service_code(SERVICE).max_results(PAGE).into_paginator().send();
    let (mut listed, mut count) = (Listed::default(), 0);
    while let Some(page) = pages.next().await {
        let page = page.map_err(|error| part(LIST_DEFAULTS, AwsError::of(LIST_DEFAULTS, &error), count, &listed))?;
        count += 1;
        page.quotas().iter().for_each(|quota| listed.push(quota, Value::Default));
    }
    Ok(listed)
}

fn part(operation: Operation, error: AwsError, pages: usize, listed: &Listed) -> AwsError {
    if pages == 0 {
        return error;
    }
    AwsError::Partial { operation, pages, rows: listed.rows.len(), source: Box::new(error) }
}

/// Both lists as one: every row of either, with the values that each has.
pub fn merge(mut applied: Listed, defaults: Listed) -> Listed {
    let mut by_code: std::collections::HashMap<String, usize> =
        applied.rows.iter().enumerate().map(|(i, row)| (row.code.clone(), i)).collect();
    for row in defaults.rows {
        match by_code.get(&row.code) {
            Some(&i) => applied.rows[i].default = row.default,
            None => {
                by_code.insert(row.code.clone(), applied.rows.len());
                applied.rows.push(row);
            }
        }
    }
    applied
}

/// Rows by their codes, all at once: the applied values, and the defaults of those in `with_default`.
///
/// A code that Service Quotas does not know any more comes back without its row.
///
/// # Errors
/// Where a value cannot be asked.
pub async fn by_code(client: &Client, codes: &[String], with_default: &[String]) -> Result<Listed, AwsError> {
    let mut tasks = JoinSet::new();
    for (place, code) in codes.iter().enumerate() {
        let (client, code) = (client.clone(), code.clone());
        tasks.spawn(async move { (place, Value::Applied, applied(&client, &code).await) });
    }
    for code in with_default {
        let Some(place) = codes.iter().position(|known| known == code) else { continue };
        let (client, code) = (client.clone(), code.clone());
        tasks.spawn(async move { (place, Value::Default, default(&client, &code).await) });
    }
    let mut applied_rows: Vec<Option<ServiceQuota>> = vec![None; codes.len()];
    let mut defaults: Vec<Option<f64>> = vec![None; codes.len()];
    while let Some(task) = tasks.join_next().await {
        let (place, value, quota) = task.expect("the tasks neither panic nor are cancelled");
        match value {
            Value::Applied => applied_rows[place] = quota?,
            Value::Default => defaults[place] = quota?.and_then(|quota| quota.value()),
        }
    }
    let mut listed = Listed::default();
    for (quota, default) in applied_rows.iter().zip(defaults) {
        let before = listed.rows.len();
        if let Some(quota) = quota {
            listed.push(quota, Value::Applied);
        }
        if let Some(row) = listed.rows.get_mut(before) {
            row.default = default;
        }
    }
    Ok(listed)
}

async fn applied(client: &Client, code: &str) -> Result<Option<ServiceQuota>, AwsError> {
    match client.get_service_quota().service_code(SERVICE).quota_code(code).send().await {
        Ok(output) => Ok(output.quota),
        Err(error)
            if error.as_service_error().is_some_and(
                aws_sdk_servicequotas::operation::get_service_quota::GetServiceQuotaError::is_no_such_resource_exception,
            ) =>
        {
            Ok(None)
        }
        Err(error) => Err(AwsError::of(GET_QUOTA, &error)),
    }
}

/// The default value of one row; `None` where AWS publishes none.
///
/// # Errors
/// Where it cannot be asked.
pub async fn default(client: &Client, code: &str) -> Result<Option<ServiceQuota>, AwsError> {
    match client.get_aws_default_service_quota().service_code(SERVICE).quota_code(code).send().await {
        Ok(output) => Ok(output.quota),
        Err(error) if error.as_service_error().is_some_and(aws_sdk_servicequotas::operation::get_aws_default_service_quota::GetAWSDefaultServiceQuotaError::is_no_such_resource_exception) => Ok(None),
        Err(error) => Err(AwsError::of(GET_DEFAULT, &error)),
    }
}
