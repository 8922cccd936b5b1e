//! From resources to a deployment. Resources are known by their logical ids with their stack's prefix, so that values can
//! name them before they are read, across nested stacks too.

use std::collections::BTreeMap;

use super::Template;
use crate::engine::deployment::{Deployment, Exported, Function, Link, Mapping, Queue, Redrive, Setting, State, Unresolved};
use crate::engine::fact::{Fact, Place, Source};
use crate::sources::iac::value::{Traced, Value, bool_setting, name_of_arn, number_setting};
use crate::sources::tree::Node;

/// Whose defaults apply.
pub(crate) const SQS: &str = "default of SQS";
pub(crate) const LAMBDA: &str = "default of Lambda";

/// What a logical id stands for.
#[derive(Clone, Debug)]
enum Known {
    Queue(usize),
    Function(usize),
    /// An alias or a version: the function that it names.
    Qualified(Traced),
    /// A resource of another type.
    Other(String),
}

/// A mapping whose ends are values still.
pub(crate) struct Pending {
    pub(crate) mapping: Mapping,
    pub(crate) source: Traced,
    pub(crate) function: Traced,
    /// Where the source is given.
    pub(crate) source_place: Place,
}

/// Builds one deployment out of many templates.
#[derive(Default)]
pub(crate) struct Builder {
    deployment: Deployment,
    known: BTreeMap<String, Known>,
    pending: Vec<Pending>,
    /// Queues whose dead-letter queue is a value still.
    redrives: Vec<(usize, Traced)>,
    exports: Vec<(String, Traced)>,
}

/// Services whose mappings are none of queues.
const OTHER_SOURCES: &[&str] =
    &["AWS::Kinesis::", "AWS::DynamoDB::", "AWS::MSK::", "AWS::AmazonMQ::", "AWS::DocDB::", "AWS::S3::", "AWS::SNS::"];

impl Template<'_> {
    /// A property, evaluated, with the place of its name.
    pub(crate) fn property(&self, properties: Option<&Node>, name: &str) -> Option<(Traced, Place)> {
        let properties = properties?;
        properties.entry(name).map(|(key, value)| (self.eval(value), self.place(key)))
    }

    pub(crate) fn number(&self, properties: Option<&Node>, name: &str) -> Setting<f64> {
        match self.property(properties, name) {
            Some((value, place)) => number_setting(Some(&value), Some(place)),
            None => Setting::default(),
        }
    }

    /// A number inside an object, which may itself be the result of a function.
    pub(crate) fn inner_number(&self, properties: Option<&Node>, object: &str, name: &str) -> Setting<f64> {
        let Some((key, node)) = properties.and_then(|properties| properties.entry(object)) else { return Setting::default() };
        if node.tag.is_none() && node.get(name).is_some() {
            return self.number(Some(node), name);
        }
        let value = self.eval(node);
        match &value.value {
            Value::Map(_) => number_setting(value.value.get(name), Some(self.place(key))),
            Value::Unresolved(unresolved) => Setting::unresolved(unresolved.clone(), Some(self.place(key))),
            _ => Setting::default(),
        }
    }

    pub(crate) fn boolean(&self, properties: Option<&Node>, name: &str) -> Setting<bool> {
        match self.property(properties, name) {
            Some((value, place)) => bool_setting(Some(&value), Some(place)),
            None => Setting::default(),
        }
    }

    /// `ReportBatchItemFailures` among the response types.
    pub(crate) fn reports_failures(&self, properties: Option<&Node>, name: &str) -> Setting<bool> {
        let Some((value, place)) = self.property(properties, name) else { return Setting::default() };
        let reports = |value: &Value| value.text().is_some_and(|text| text == "ReportBatchItemFailures");
        match &value.value {
            Value::Unresolved(unresolved) => Setting::unresolved(unresolved.clone(), Some(place)),
            Value::List(items) => {
                Setting::known(items.iter().any(|item| reports(&item.value)), value.source.clone(), Some(place))
            }
            Value::Null => Setting::default(),
            other => Setting::known(reports(other), value.source.clone(), Some(place)),
        }
    }

    /// A loop that could not be written out, where it would make queues, functions or mappings.
    fn unknown_loop(&self, key: &Node, body: &Node) -> Option<Unresolved> {
        const OF_CHAINS: &[&str] =
            &["AWS::SQS::Queue", "AWS::Lambda::Function", "AWS::Serverless::Function", "AWS::Lambda::EventSourceMapping"];
        let name = key.text().filter(|name| name.starts_with("Fn::ForEach"))?;
        let makes = body.items().iter().flat_map(Node::entries).filter_map(|(_, resource)| resource.get("Type")?.text());
        let kinds: Vec<&str> = makes.filter(|kind| OF_CHAINS.contains(kind)).collect();
        (!kinds.is_empty()).then(|| Unresolved {
            why: format!("`{name}` loops over a list that is only known on deployment, and makes {}", kinds.join(", ")),
            give: None,
            place: Some(self.place(key)),
        })
    }

    /// Whether a resource's condition lets it exist; where that is not known it is taken to exist.
    fn exists(&self, resource: &Node) -> bool {
        let condition = resource.get("Condition").and_then(Node::text);
        condition.is_none_or(|name| self.condition(name) != Ok(false))
    }
}

impl Builder {
    /// Reads a template and the stacks that it nests.
    pub(crate) fn add(&mut self, template: &Template<'_>) {
        let resources = template.section("Resources").map(Node::entries).unwrap_or_default();
        let globals = template.section("Globals").and_then(|globals| globals.get("Function"));
        for (key, resource) in resources {
            let (Some(name), Some(kind)) = (key.text(), resource.get("Type").and_then(Node::text)) else {
                self.deployment.unresolved.extend(template.unknown_loop(key, resource));
                continue;
            };
            if !template.exists(resource) {
                continue;
            }
            let properties = resource.get("Properties");
            let known = match kind {
                "AWS::SQS::Queue" => self.queue(template, key, properties),
                "AWS::Lambda::Function" => self.function(template.function(key, resource, None)),
                "AWS::Serverless::Function" => {
                    let known = self.function(template.function(key, resource, globals));
                    self.events(template, key, properties);
                    known
                }
                "AWS::Lambda::EventSourceMapping" => {
                    self.mapping(template, key, properties);
                    Known::Other(kind.to_owned())
                }
                "AWS::Lambda::Alias" | "AWS::Lambda::Version" => match template.property(properties, "FunctionName") {
                    Some((function, _)) => Known::Qualified(function),
                    None => Known::Other(kind.to_owned()),
                },
                "AWS::SSM::Parameter" => {
                    let name = template.property(properties, "Name").and_then(|(name, _)| name.value.text());
                    if let (Some(name), Some((value, _))) = (name, template.property(properties, "Value")) {
                        self.exports.push((format!("ssm:{name}"), value));
                    }
                    Known::Other(kind.to_owned())
                }
                "AWS::CloudFormation::Stack" | "AWS::Serverless::Application" => {
                    if let Some(child) = template.child(name) {
                        self.add(&child);
                    }
                    Known::Other(kind.to_owned())
                }
                _ => Known::Other(kind.to_owned()),
            };
            self.known.insert(format!("{}{name}", template.prefix), known);
        }
        for (_, output) in template.section("Outputs").map(Node::entries).unwrap_or_default() {
            let name = output.get("Export").and_then(|export| export.get("Name"));
            if let (Some(name), Some(value)) = (name, output.get("Value"))
                && let Some(name) = template.eval(name).value.text()
            {
                self.exports.push((name, template.eval(value)));
            }
        }
    }

    fn function(&mut self, function: Function) -> Known {
        self.deployment.functions.push(function);
        Known::Function(self.deployment.functions.len() - 1)
    }

    /// A function that no template has as a resource, under the id that references use.
    pub(crate) fn add_function(&mut self, id: String, function: Function) {
        let known = self.function(function);
        self.known.insert(id, known);
    }

    /// Resources that cannot be told.
    pub(crate) fn add_unresolved(&mut self, unresolved: Unresolved) {
        self.deployment.unresolved.push(unresolved);
    }

    pub(crate) fn add_pending(&mut self, pending: Pending) {
        self.pending.push(pending);
    }

    fn queue(&mut self, template: &Template<'_>, key: &Node, properties: Option<&Node>) -> Known {
        let index = self.deployment.queues.len();
        let queue_name = template
            .property(properties, "QueueName")
            .and_then(|(name, _)| name.value.text())
            .filter(|name| !name.contains("${"));
        let redrive = match template.property(properties, "RedrivePolicy") {
            None => Setting::default(),
            Some((value, place)) => self.redrive(index, template, properties, &value, place),
        };
        self.deployment.queues.push(Queue {
            name: key.text().unwrap_or_default().to_owned(),
            queue_name,
            place: Some(template.place(key)),
            visibility_s: template.number(properties, "VisibilityTimeout").or_default(30.0, SQS),
            retention_s: template.number(properties, "MessageRetentionPeriod").or_default(345_600.0, SQS),
            fifo: template.boolean(properties, "FifoQueue"),
            redrive,
        });
        Known::Queue(index)
    }

    fn redrive(
        &mut self,
        queue: usize,
        template: &Template<'_>,
        properties: Option<&Node>,
        value: &Traced,
        place: Place,
    ) -> Setting<Redrive> {
        let state = match &value.value {
            Value::Map(_) => {
                if let Some(target) = value.value.get("deadLetterTargetArn") {
                    self.redrives.push((queue, target.clone()));
                }
                let count = template.inner_number(properties, "RedrivePolicy", "maxReceiveCount");
                let redrive = Redrive { max_receive_count: count.or_default(10.0, SQS), dead_letter: None };
                State::Known(Fact::new(redrive, value.source.clone()))
            }
            Value::Null => State::Unset,
            Value::Unresolved(unresolved) => State::Unresolved(unresolved.clone()),
            _ => State::Unresolved(Unresolved {
                why: "a redrive policy is an object".to_owned(),
                give: None,
                place: Some(place.clone()),
            }),
        };
        Setting { state, place: Some(place) }
    }

    /// A queue that nobody wrote: what a subscription makes.
    pub(crate) fn hidden_queue(&mut self, id: String, name: String, place: Place, fifo: Setting<bool>) {
        self.known.insert(id, Known::Queue(self.deployment.queues.len()));
        self.deployment.queues.push(Queue {
            name,
            place: Some(place),
            visibility_s: Setting::default_of(30.0, SQS),
            retention_s: Setting::default_of(345_600.0, SQS),
            fifo,
            ..Queue::default()
        });
    }

    fn mapping(&mut self, template: &Template<'_>, key: &Node, properties: Option<&Node>) {
        // Streams and topics need these; a queue's mapping has none of them.
        let of_stream = ["StartingPosition", "Topics", "Queues", "SelfManagedEventSource", "DocumentDBEventSourceConfig"];
        if of_stream.iter().any(|name| properties.is_some_and(|properties| properties.get(name).is_some())) {
            return;
        }
        let Some((source, source_place)) = template.property(properties, "EventSourceArn") else { return };
        let place = template.place(key);
        let Some((function, _)) = template.property(properties, "FunctionName") else { return };
        let mapping = Self::mapping_of(template, properties, place);
        self.pending.push(Pending { mapping, source, function, source_place });
    }

    /// The settings of a mapping, written as the Lambda API spells them: CloudFormation's and SAM's.
    pub(crate) fn mapping_of(template: &Template<'_>, properties: Option<&Node>, place: Place) -> Mapping {
        let provisioned = template
            .property(properties, "ProvisionedPollerConfig")
            .filter(|(value, _)| !matches!(value.value, Value::Null))
            .map(|(_, place)| place);
        Mapping {
            place: Some(place),
            queue: Link::Unresolved(Unresolved { why: String::new(), give: None, place: None }),
            function: Link::Unresolved(Unresolved { why: String::new(), give: None, place: None }),
            batch_size: template.number(properties, "BatchSize").or_default(10.0, LAMBDA),
            batch_window_s: template.number(properties, "MaximumBatchingWindowInSeconds").or_default(0.0, LAMBDA),
            maximum_concurrency: template.inner_number(properties, "ScalingConfig", "MaximumConcurrency"),
            provisioned,
            report_batch_item_failures: template.reports_failures(properties, "FunctionResponseTypes"),
            enabled: template.boolean(properties, "Enabled"),
        }
    }

    /// Ties all values to what they name.
    pub(crate) fn finish(mut self) -> Deployment {
        for (queue, target) in &self.redrives {
            let found = match self.queue_link(target, None) {
                Some(Link::To(index)) => Some(index),
                _ => None,
            };
            if let Some(State::Known(redrive)) = self.deployment.queues.get_mut(*queue).map(|queue| &mut queue.redrive.state) {
                redrive.value.dead_letter = found;
            }
        }
        let pending = std::mem::take(&mut self.pending);
        for Pending { mut mapping, source, function, source_place } in pending {
            let Some(queue) = self.queue_link(&source, Some(&source_place)) else { continue };
            mapping.queue = queue;
            mapping.function = self.function_link(&function, 0);
            self.deployment.mappings.push(mapping);
        }
        let exports: Vec<(String, Exported)> = self
            .exports
            .iter()
            .filter_map(|(name, value)| {
                let exported = match (self.queue_link(value, None), self.function_link(value, 0)) {
                    (Some(Link::To(index)), _) => Exported::Queue(index),
                    (_, Link::To(index)) => Exported::Function(index),
                    _ => return None,
                };
                Some((name.clone(), exported))
            })
            .collect();
        self.deployment.exports = exports;
        self.deployment
    }

    /// `None` where the source is no queue at all.
    fn queue_link(&self, source: &Traced, place: Option<&Place>) -> Option<Link> {
        let literal = match &source.source {
            Source::Written(literal) => Some(literal.clone()),
            _ => place.cloned(),
        };
        let unresolved = |why: String| Some(Link::Unresolved(Unresolved { why, give: None, place: literal.clone() }));
        match &source.value {
            Value::Attribute { resource, .. } => match self.known.get(resource) {
                Some(Known::Queue(index)) => Some(Link::To(*index)),
                Some(Known::Other(kind)) if OTHER_SOURCES.iter().any(|other| kind.starts_with(other)) => None,
                _ => unresolved(format!("`{}` is no queue of these templates", bare(resource))),
            },
            Value::Import(name) => match &literal {
                Some(place) => Some(Link::Import { name: name.clone(), place: place.clone() }),
                None => unresolved(format!("`{name}` belongs to another stack")),
            },
            Value::Unresolved(found) => {
                let place = found.place.clone().or(literal);
                Some(Link::Unresolved(Unresolved { place, ..found.clone() }))
            }
            other => {
                let text = other.text()?;
                match (name_of_arn(&text, "sqs"), literal.clone()) {
                    (Some(name), Some(place)) => Some(Link::Named { name, place }),
                    (Some(name), None) => unresolved(format!("the queue `{name}` is in none of the files")),
                    (None, _) if text.starts_with("arn:") => None,
                    (None, _) => unresolved("this is no ARN of a queue".to_owned()),
                }
            }
        }
    }

    fn function_link(&self, function: &Traced, depth: usize) -> Link {
        let literal = match &function.source {
            Source::Written(literal) => Some(literal.clone()),
            _ => None,
        };
        let unresolved = |why: String| Link::Unresolved(Unresolved { why, give: None, place: literal.clone() });
        match &function.value {
            Value::Attribute { resource, .. } => match self.known.get(resource) {
                Some(Known::Function(index)) => Link::To(*index),
                Some(Known::Qualified(inner)) if depth < 5 => self.function_link(inner, depth + 1),
                _ => unresolved(format!("`{}` is no function of these templates", bare(resource))),
            },
            Value::Import(name) => match &literal {
                Some(place) => Link::Import { name: name.clone(), place: place.clone() },
                None => unresolved(format!("`{name}` belongs to another stack")),
            },
            Value::Unresolved(found) => Link::Unresolved(found.clone()),
            other => {
                let text = other.text().unwrap_or_default();
                // A plain name, with or without an alias, or an ARN.
                let name = name_of_arn(&text, "lambda").or_else(|| {
                    let name = text.split(':').next().unwrap_or_default();
                    (!text.starts_with("arn:") && !name.is_empty() && !name.contains("${")).then(|| name.to_owned())
                });
                match (name, literal.clone()) {
                    (Some(name), Some(place)) => Link::Named { name, place },
                    _ => unresolved("the function that it names is not known".to_owned()),
                }
            }
        }
    }
}

/// A logical id without its stack.
fn bare(id: &str) -> &str {
    id.rsplit(['#', '>']).next().unwrap_or(id)
}
