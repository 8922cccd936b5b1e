//! Deployed settings, live: mappings and functions from Lambda, queues from SQS. Read only; environments are looked at for
//! two names, and never kept.

use std::collections::BTreeMap;

use aws_sdk_lambda::types::EventSourceMappingConfiguration;
use aws_sdk_sqs::types::QueueAttributeName;

use super::error::{AwsError, GET_FUNCTION, LIST_MAPPINGS, QUEUE_ATTRIBUTES, QUEUE_URL};
use crate::engine::deployment::{Deployment, Function, Link, Mapping, Queue, Redrive, Setting, Unresolved};
use crate::engine::fact::Source;
use crate::sources::iac::value::name_of_arn;

/// What is asked for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Select {
    /// Functions, by name or ARN.
    pub functions: Vec<String>,
    /// Queues, by name, URL or ARN.
    pub queues: Vec<String>,
    /// CloudFormation stacks, by name: functions carry it as a tag.
    pub stacks: Vec<String>,
}

/// The tags that CloudFormation gives to what it makes.
const STACK_TAG: &str = "aws:cloudformation:stack-name";
const LOGICAL_TAG: &str = "aws:cloudformation:logical-id";

/// Reads what is deployed.
///
/// # Errors
/// Where any of it cannot be asked: half a chain is no chain.
pub async fn read(lambda: &aws_sdk_lambda::Client, sqs: &aws_sdk_sqs::Client, select: &Select) -> Result<Deployment, AwsError> {
    let mut mappings = Vec::new();
    for function in &select.functions {
        let mut found = list(lambda, Some(function), None).await?;
        found.retain(of_queue);
        // A mapping may name an alias or a version, and is then listed under that only.
        if found.is_empty() {
            let name = name_of_arn(function, "lambda").unwrap_or_else(|| function.clone());
            let is_its = |arn: &str| name_of_arn(arn, "lambda").is_some_and(|of| of == name);
            found = list(lambda, None, None).await?;
            found.retain(|mapping| mapping.function_arn().is_some_and(is_its));
        }
        mappings.extend(found);
    }
    for queue in &select.queues {
        let arn = if queue.starts_with("arn:") { queue.clone() } else { queue_arn(sqs, queue).await? };
        mappings.extend(list(lambda, None, Some(&arn)).await?);
    }
    if !select.stacks.is_empty() {
        mappings.extend(list(lambda, None, None).await?);
    }
    mappings.retain(of_queue);
    mappings.sort_by(|a, b| (a.function_arn(), a.event_source_arn()).cmp(&(b.function_arn(), b.event_source_arn())));
    mappings.dedup_by(|a, b| a.uuid() == b.uuid() && a.uuid().is_some());
    let mut deployment = Deployment::default();
    let (mut functions, mut queues): (BTreeMap<String, Option<usize>>, BTreeMap<String, usize>) = Default::default();
    for mapping in mappings {
        let (Some(function_arn), Some(queue_arn)) = (mapping.function_arn(), mapping.event_source_arn()) else { continue };
        // Settings are of the function, whichever version or alias the mapping names.
        let unqualified: String = function_arn.split(':').take(7).collect::<Vec<_>>().join(":");
        if !functions.contains_key(&unqualified) {
            let found = function(lambda, function_arn).await?;
            let wanted = select.stacks.is_empty() || found.1.is_some_and(|stack| select.stacks.contains(&stack));
            let index = wanted.then(|| {
                deployment.functions.push(found.0);
                deployment.functions.len() - 1
            });
            functions.insert(unqualified.clone(), index);
        }
        let Some(Some(function)) = functions.get(&unqualified).copied() else { continue };
        let queue = match queues.get(queue_arn) {
            Some(index) => *index,
            None => {
                let index = queue_with_dead_letters(sqs, queue_arn, &mut deployment).await?;
                queues.insert(queue_arn.to_owned(), index);
                index
            }
        };
        deployment.mappings.push(settings(&mapping, queue, function));
    }
    Ok(deployment)
}

fn of_queue(mapping: &EventSourceMappingConfiguration) -> bool {
    mapping.event_source_arn().is_some_and(|arn| arn.contains(":sqs:"))
}

async fn list(
    lambda: &aws_sdk_lambda::Client,
    function: Option<&str>,
    source: Option<&str>,
) -> Result<Vec<EventSourceMappingConfiguration>, AwsError> {
    let mut pages = lambda
        .list_event_source_mappings()
        .set_function_name(function.map(str::to_owned))
        .set_event_source_arn(source.map(str::to_owned))
        .into_paginator()
        .send();
    let mut found = Vec::new();
    while let Some(page) = pages.next().await {
        let page = page.map_err(|error| AwsError::of(LIST_MAPPINGS, &error))?;
        found.extend(page.event_source_mappings.unwrap_or_default());
    }
    Ok(found)
}

fn live(operation: &'static str, resource: &str) -> Source {
    Source::Live { operation, resource: resource.to_owned() }
}

/// A function, and the stack that it belongs to.
async fn function(lambda: &aws_sdk_lambda::Client, arn: &str) -> Result<(Function, Option<String>), AwsError> {
    let output = lambda.get_function().function_name(arn).send().await.map_err(|error| AwsError::of(GET_FUNCTION, &error))?;
    let name = name_of_arn(arn, "lambda").unwrap_or_else(|| arn.to_owned());
    let source = || live("GetFunction", &name);
    let number = |value: Option<i32>| match value {
        Some(value) => Setting::known(f64::from(value), source(), None),
        None => Setting::default(),
    };
    let configuration = output.configuration();
    // Only these two names; the rest of an environment may be secret.
    let variable =
        |wanted: &str| configuration.and_then(|configuration| configuration.environment()?.variables()?.get(wanted).cloned());
    let tag = |wanted: &str| output.tags().and_then(|tags| tags.get(wanted).cloned());
    let attempts = variable("AWS_MAX_ATTEMPTS").and_then(|text| text.parse::<f64>().ok());
    let function = Function {
        name: tag(LOGICAL_TAG).unwrap_or_else(|| name.clone()),
        function_name: Some(name.clone()),
        timeout_s: number(configuration.and_then(aws_sdk_lambda::types::FunctionConfiguration::timeout))
            .or_default(3.0, "default of Lambda"),
        reserved_concurrency: number(
            output.concurrency().and_then(aws_sdk_lambda::types::Concurrency::reserved_concurrent_executions),
        ),
        in_vpc: configuration
            .and_then(|configuration| configuration.vpc_config())
            .is_some_and(|vpc| !vpc.subnet_ids().is_empty()),
        managed_instances: configuration.is_some_and(|configuration| configuration.capacity_provider_config().is_some()),
        max_attempts: attempts.map_or_else(Setting::default, |count| Setting::known(count, source(), None)),
        retry_mode: variable("AWS_RETRY_MODE").map_or_else(Setting::default, |mode| Setting::known(mode, source(), None)),
        ..Function::default()
    };
    Ok((function, tag(STACK_TAG)))
}

async fn queue_arn(sqs: &aws_sdk_sqs::Client, queue: &str) -> Result<String, AwsError> {
    let url = if queue.starts_with("http") { queue.to_owned() } else { queue_url(sqs, queue, None).await? };
    let attributes = attributes(sqs, &url).await?;
    attributes
        .get(&QueueAttributeName::QueueArn)
        .cloned()
        .ok_or_else(|| AwsError::Unreadable { operation: QUEUE_ATTRIBUTES, cause: "the answer has no QueueArn".to_owned() })
}

async fn queue_url(sqs: &aws_sdk_sqs::Client, name: &str, account: Option<&str>) -> Result<String, AwsError> {
    let output = sqs
        .get_queue_url()
        .queue_name(name)
        .set_queue_owner_aws_account_id(account.map(str::to_owned))
        .send()
        .await
        .map_err(|error| AwsError::of(QUEUE_URL, &error))?;
    output
        .queue_url
        .ok_or_else(|| AwsError::Unreadable { operation: QUEUE_URL, cause: "the answer has no QueueUrl".to_owned() })
}

async fn attributes(sqs: &aws_sdk_sqs::Client, url: &str) -> Result<BTreeMap<QueueAttributeName, String>, AwsError> {
    let names = [
        QueueAttributeName::VisibilityTimeout,
        QueueAttributeName::MessageRetentionPeriod,
        QueueAttributeName::RedrivePolicy,
        QueueAttributeName::FifoQueue,
        QueueAttributeName::QueueArn,
    ];
    let output = sqs
        .get_queue_attributes()
        .queue_url(url)
        .set_attribute_names(Some(names.to_vec()))
        .send()
        .await
        .map_err(|error| AwsError::of(QUEUE_ATTRIBUTES, &error))?;
    Ok(output.attributes.unwrap_or_default().into_iter().collect())
}

/// The queue's index; its dead-letter queue comes with it where it can be read.
async fn queue_with_dead_letters(sqs: &aws_sdk_sqs::Client, arn: &str, deployment: &mut Deployment) -> Result<usize, AwsError> {
    let (queue, dead) = queue(sqs, arn).await?;
    deployment.queues.push(queue);
    let index = deployment.queues.len() - 1;
    // A dead-letter queue of another account may not be readable, and the chain holds without it.
    if let Some(dead) = dead
        && let Ok((dead, _)) = self::queue(sqs, &dead).await
    {
        deployment.queues.push(dead);
        let last = deployment.queues.len() - 1;
        if let crate::engine::deployment::State::Known(redrive) = &mut deployment.queues[index].redrive.state {
            redrive.value.dead_letter = Some(last);
        }
    }
    Ok(index)
}

/// A queue, and the ARN of its dead-letter queue.
async fn queue(sqs: &aws_sdk_sqs::Client, arn: &str) -> Result<(Queue, Option<String>), AwsError> {
    let name = name_of_arn(arn, "sqs").unwrap_or_else(|| arn.to_owned());
    let url = queue_url(sqs, &name, arn.split(':').nth(4)).await?;
    let attributes = attributes(sqs, &url).await?;
    let source = || live("GetQueueAttributes", &name);
    let number = |wanted: QueueAttributeName| match attributes.get(&wanted).and_then(|text| text.parse().ok()) {
        Some(value) => Setting::known(value, source(), None),
        None => Setting::unresolved(
            Unresolved { why: format!("SQS did not say {}", wanted.as_str()), give: None, place: None },
            None,
        ),
    };
    let policy: Option<serde_json::Value> =
        attributes.get(&QueueAttributeName::RedrivePolicy).and_then(|text| serde_json::from_str(text).ok());
    let (redrive, dead) = match policy {
        None => (Setting::default(), None),
        Some(policy) => {
            let count = &policy["maxReceiveCount"];
            let count = count.as_f64().or_else(|| count.as_str()?.parse().ok());
            let max_receive_count = count.map_or_else(Setting::default, |count| Setting::known(count, source(), None));
            let dead = policy["deadLetterTargetArn"].as_str().map(str::to_owned);
            (Setting::known(Redrive { max_receive_count, dead_letter: None }, source(), None), dead)
        }
    };
    let fifo = attributes.get(&QueueAttributeName::FifoQueue).is_some_and(|text| text == "true");
    let queue = Queue {
        name: name.clone(),
        queue_name: Some(name.clone()),
        place: None,
        visibility_s: number(QueueAttributeName::VisibilityTimeout),
        retention_s: number(QueueAttributeName::MessageRetentionPeriod),
        fifo: Setting::known(fifo, source(), None),
        redrive,
    };
    Ok((queue, dead))
}

fn settings(mapping: &EventSourceMappingConfiguration, queue: usize, function: usize) -> Mapping {
    let name = mapping.uuid().unwrap_or("mapping");
    let source = || live("ListEventSourceMappings", name);
    let number = |value: Option<i32>| match value {
        Some(value) => Setting::known(f64::from(value), source(), None),
        None => Setting::default(),
    };
    let reports = mapping.function_response_types().iter().any(|kind| kind.as_str() == "ReportBatchItemFailures");
    let enabled = mapping.state().is_none_or(|state| !matches!(state, "Disabled" | "Disabling"));
    Mapping {
        place: None,
        queue: Link::To(queue),
        function: Link::To(function),
        batch_size: number(mapping.batch_size()).or_default(10.0, "default of Lambda"),
        batch_window_s: number(mapping.maximum_batching_window_in_seconds()).or_default(0.0, "default of Lambda"),
        maximum_concurrency: number(
            mapping.scaling_config().and_then(aws_sdk_lambda::types::ScalingConfig::maximum_concurrency),
        ),
        provisioned: None,
        report_batch_item_failures: Setting::known(reports, source(), None),
        enabled: Setting::known(enabled, source(), None),
    }
}
