//! Resources with their values: what configurations and plans have in common, and the settings that are read out of it.

use std::rc::Rc;

use super::value::{Entry, Traced, Value, boolean, number, place_of, text};
use crate::engine::deployment::{Function, Link, Mapping, Queue, Setting, Unresolved};
use crate::engine::fact::{Fact, Place};
use crate::sources::iac::terraform::{LAMBDA_DEFAULT, SQS_DEFAULT};

/// A resource, a data source, or what a registry module makes.
#[derive(Clone, Debug)]
pub(super) struct Item {
    pub(super) address: Rc<str>,
    /// `aws_sqs_queue`, `data.aws_sqs_queue`.
    pub(super) kind: Rc<str>,
    pub(super) place: Place,
    /// Its attributes, and its blocks as lists of maps.
    pub(super) values: Value,
    /// The folder where relative paths begin.
    pub(super) base: String,
    /// Folders of the files that it stands in.
    pub(super) near: Vec<String>,
}

impl Item {
    pub(super) fn entry(&self, key: &str) -> Option<&Entry> {
        self.values.entry(key)
    }

    pub(super) fn get(&self, key: &str) -> Option<&Traced> {
        self.values.get(key)
    }

    /// A text that stands there.
    pub(super) fn text(&self, key: &str) -> Option<String> {
        match &self.get(key)?.value {
            Value::Text(text) => Some(text.to_string()),
            _ => None,
        }
    }

    /// Whether a block is there, or a map in its place.
    fn has_block(&self, key: &str) -> bool {
        self.get(key).is_some_and(|value| match &value.value {
            Value::List(items) => !items.is_empty(),
            Value::Map(entries) => !entries.is_empty(),
            _ => false,
        })
    }

    /// An attribute of a block that stands once.
    fn within(&self, block: &str, key: &str) -> Within<'_> {
        let Some(entry) = self.entry(block) else { return Within::Absent };
        match &entry.value.value {
            Value::Unknown(unresolved) => Within::Unknown((**unresolved).clone(), entry.place.clone()),
            Value::Reference(reference) => Within::Unknown(reference.unresolved(place_of(&entry.value)), entry.place.clone()),
            value => match value.items().first() {
                Some(Value::Unknown(unresolved)) => Within::Unknown((**unresolved).clone(), entry.place.clone()),
                Some(block) => block.entry(key).map_or(Within::Absent, Within::Entry),
                None => Within::Absent,
            },
        }
    }

    /// The queue, without its redrive policy.
    pub(super) fn queue(&self) -> Queue {
        Queue {
            name: self.address.to_string(),
            queue_name: self.text("name"),
            place: Some(self.place.clone()),
            visibility_s: number(self.entry("visibility_timeout_seconds")).or_default(30.0, SQS_DEFAULT),
            retention_s: number(self.entry("message_retention_seconds")).or_default(345_600.0, SQS_DEFAULT),
            fifo: boolean(self.entry("fifo_queue")),
            redrive: Setting::default(),
        }
    }

    /// The function, without what its role allows and without its source.
    pub(super) fn function(&self) -> Function {
        let reserved = number(self.entry("reserved_concurrent_executions"));
        let in_vpc = self.has_block("vpc_config") && {
            let subnets = self.within("vpc_config", "subnet_ids");
            !matches!(&subnets, Within::Entry(Entry { value: Fact { value: Value::List(ids), .. }, .. }) if ids.is_empty())
        };
        let variable = |name: &str| match self.within("environment", "variables") {
            Within::Entry(variables) => variables.value.value.entry(name).cloned(),
            Within::Absent | Within::Unknown(..) => None,
        };
        Function {
            name: self.address.to_string(),
            function_name: self.text("function_name"),
            place: Some(self.place.clone()),
            timeout_s: number(self.entry("timeout")).or_default(3.0, LAMBDA_DEFAULT),
            // -1 is none.
            reserved_concurrency: if reserved.value().is_some_and(|value| value < 0.0) { Setting::default() } else { reserved },
            in_vpc,
            managed_instances: self.has_block("capacity_provider_config"),
            max_attempts: number(variable("AWS_MAX_ATTEMPTS").as_ref()),
            retry_mode: text(variable("AWS_RETRY_MODE").as_ref()),
            ..Function::default()
        }
    }

    /// The mapping, between what its links say.
    pub(super) fn mapping(&self, queue: Link, function: Link) -> Mapping {
        let maximum_concurrency = match self.within("scaling_config", "maximum_concurrency") {
            Within::Entry(entry) => number(Some(entry)),
            Within::Absent => Setting::default(),
            Within::Unknown(unresolved, place) => Setting::unresolved(unresolved, place),
        };
        let provisioned = self.has_block("provisioned_poller_config");
        Mapping {
            place: Some(self.place.clone()),
            queue,
            function,
            batch_size: number(self.entry("batch_size")).or_default(10.0, LAMBDA_DEFAULT),
            batch_window_s: number(self.entry("maximum_batching_window_in_seconds")).or_default(0.0, LAMBDA_DEFAULT),
            maximum_concurrency,
            provisioned: self
                .entry("provisioned_poller_config")
                .filter(|_| provisioned)
                .map(|entry| entry.place.clone().unwrap_or_else(|| self.place.clone())),
            report_batch_item_failures: self.reports_failures(),
            enabled: boolean(self.entry("enabled")),
        }
    }

    fn reports_failures(&self) -> Setting<bool> {
        let Some(entry) = self.entry("function_response_types") else { return Setting::default() };
        let place = entry.place.clone();
        let unresolved = |unresolved: &Unresolved| Setting::unresolved(unresolved.clone(), place.clone());
        match &entry.value.value {
            Value::Null => Setting::default(),
            Value::List(items) => {
                let reports = |item: &&Traced| item.value == Value::text_from("ReportBatchItemFailures");
                let unknown = items.iter().find_map(|item| match &item.value {
                    Value::Unknown(why) => Some(why),
                    _ => None,
                });
                match (items.iter().find(reports), unknown) {
                    (Some(item), _) => Setting::known(true, item.source.clone(), place),
                    (None, Some(why)) => unresolved(why),
                    (None, None) => Setting::known(false, entry.value.source.clone(), place),
                }
            }
            Value::Unknown(why) => unresolved(why),
            Value::Reference(reference) => unresolved(&reference.unresolved(place_of(&entry.value))),
            _ => unresolved(&Unresolved {
                why: "expected a list".to_owned(),
                give: None,
                place: place_of(&entry.value).or_else(|| place.clone()),
            }),
        }
    }

    /// Whether a mapping says by its settings that its source is no queue.
    pub(super) fn has_other_source(&self) -> bool {
        const OTHERS: [&str; 7] = [
            "starting_position",
            "self_managed_event_source",
            "self_managed_kafka_event_source_config",
            "amazon_managed_kafka_event_source_config",
            "document_db_event_source_config",
            "topics",
            "queues",
        ];
        OTHERS.iter().any(|name| match self.get(name).map(|value| &value.value) {
            None => false,
            Some(Value::List(items)) => !items.is_empty(),
            Some(Value::Text(text)) => !text.is_empty(),
            // Unknown in a plan is what the provider fills in.
            Some(Value::Unknown(_) | Value::Reference(_)) => false,
            Some(_) => true,
        })
    }
}

enum Within<'i> {
    Absent,
    Entry(&'i Entry),
    /// With why, and where the block stands.
    Unknown(Unresolved, Option<Place>),
}
