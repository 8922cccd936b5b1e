//! Items become a deployment: links are followed to queues and functions.

use std::collections::HashMap;
use std::rc::Rc;

use super::item::Item;
use super::registry;
use super::value::{Reference, Traced, Value, number, place_of};
use super::{SQS_DEFAULT, code, iam};
use crate::engine::deployment::{Deployment, Link, Redrive, Setting, Unresolved};
use crate::engine::fact::Place;
use crate::sources::iac::value::name_of_arn;

/// How many aliases and data sources one link may go through.
const LONGEST_LINK: usize = 8;

/// Items by address, and where their queues and functions are in the deployment.
pub(super) struct Links<'i> {
    pub(super) items: &'i [Item],
    by_address: HashMap<&'i str, Vec<usize>>,
    queues: HashMap<usize, usize>,
    functions: HashMap<usize, usize>,
    /// By kind and name in AWS; more than one may have it.
    by_name: HashMap<(&'i str, String), Vec<usize>>,
}

impl<'i> Links<'i> {
    fn new(items: &'i [Item]) -> Self {
        let mut links = Self {
            items,
            by_address: HashMap::new(),
            queues: HashMap::new(),
            functions: HashMap::new(),
            by_name: HashMap::new(),
        };
        for (at, item) in items.iter().enumerate() {
            links.by_address.entry(&*item.address).or_default().push(at);
            // An archive is known by its file.
            if let Some(name) = item.text("name").or_else(|| item.text("output_path")) {
                links.by_name.entry((&*item.kind, name)).or_default().push(at);
            }
            let list = match &*item.kind {
                "aws_sqs_queue" => &mut links.queues,
                "aws_lambda_function" => &mut links.functions,
                _ => continue,
            };
            let next = list.len();
            list.insert(at, next);
        }
        links
    }

    /// The items that a reference may mean: a registry module makes more than one.
    pub(super) fn meant_by(&self, reference: &Reference) -> impl Iterator<Item = (usize, &'i Item)> {
        let dead = reference.attribute.as_ref().is_some_and(|attribute| attribute.contains("dead_letter"));
        let address: Rc<str> = if &*reference.kind == "module" && dead {
            Rc::from(registry::dead_letter_address(&reference.address))
        } else {
            Rc::clone(&reference.address)
        };
        let found = self.by_address.get(&*address).cloned().unwrap_or_default();
        found.into_iter().filter_map(|at| Some((at, self.items.get(at)?)))
    }

    fn queue_of(&self, reference: &Reference) -> Option<usize> {
        self.meant_by(reference).find_map(|(at, _)| self.queues.get(&at).copied())
    }

    /// The item of a kind that has a name in AWS, where it is the only one.
    pub(super) fn named(&self, kind: &'static str, name: &str) -> Option<(usize, &'i Item)> {
        match self.by_name.get(&(kind, name.to_owned()))?.as_slice() {
            [only] => Some((*only, self.items.get(*only)?)),
            _ => None,
        }
    }

    fn queue_named(&self, name: &str) -> Option<usize> {
        self.queues.get(&self.named("aws_sqs_queue", name)?.0).copied()
    }

    /// The queue that a mapping takes from; `None` where its source is no queue.
    fn queue(&self, value: Option<&Traced>, place: &Place, depth: usize) -> Option<Link> {
        let value = value?;
        let at = place_of(value).unwrap_or_else(|| place.clone());
        Some(match &value.value {
            Value::Reference(reference) => {
                if let Some(index) = self.queue_of(reference) {
                    return Some(Link::To(index));
                }
                let data = self.meant_by(reference).find(|(_, item)| &*item.kind == "data.aws_sqs_queue");
                match data {
                    Some((_, item)) if depth < LONGEST_LINK => match item.get("name").map(|name| (name, &name.value)) {
                        Some((_, Value::Text(name))) => Link::Named { name: name.to_string(), place: at },
                        Some((name, _)) => return self.queue(Some(name), place, depth + 1),
                        None => Link::Unresolved(reference.unresolved(Some(at))),
                    },
                    _ if is_other_source(&reference.kind) => return None,
                    _ => Link::Unresolved(reference.unresolved(Some(at))),
                }
            }
            Value::Text(text) => match name_of_arn(text, "sqs") {
                Some(name) => Link::Named { name, place: at },
                None if text.starts_with("arn:") => return None,
                None => Link::Unresolved(expected("the ARN of a queue", at)),
            },
            Value::Unknown(unresolved) => Link::Unresolved((**unresolved).clone()),
            _ => Link::Unresolved(expected("the ARN of a queue", at)),
        })
    }

    pub(super) fn function(&self, value: Option<&Traced>, place: &Place, depth: usize) -> Link {
        let Some(value) = value else { return Link::Unresolved(expected("`function_name`", place.clone())) };
        let at = place_of(value).unwrap_or_else(|| place.clone());
        match &value.value {
            Value::Reference(reference) => {
                let function = self.meant_by(reference).find_map(|(at, _)| self.functions.get(&at).copied());
                if let Some(index) = function {
                    return Link::To(index);
                }
                let through = self.meant_by(reference).find(|(_, item)| {
                    matches!(&*item.kind, "aws_lambda_alias" | "data.aws_lambda_alias" | "data.aws_lambda_function")
                });
                match through {
                    Some((_, item)) if depth < LONGEST_LINK => self.function(item.get("function_name"), place, depth + 1),
                    _ => Link::Unresolved(reference.unresolved(Some(at))),
                }
            }
            Value::Text(text) => {
                let name = name_of_arn(text, "lambda").or_else(|| {
                    let name = text.split(':').next().unwrap_or_default();
                    (!name.is_empty() && !text.starts_with("arn:")).then(|| name.to_owned())
                });
                match name {
                    Some(name) => Link::Named { name, place: at },
                    None => Link::Unresolved(expected("the name or ARN of a function", at)),
                }
            }
            Value::Unknown(unresolved) => Link::Unresolved((**unresolved).clone()),
            _ => Link::Unresolved(expected("the name or ARN of a function", at)),
        }
    }

    fn redrive(&self, item: &Item) -> Setting<Redrive> {
        let Some(entry) = item.entry("redrive_policy") else { return Setting::default() };
        let place = entry.place.clone();
        let parsed = match &entry.value.value {
            Value::Text(text) if text.trim().is_empty() => return Setting::default(),
            Value::Text(text) => Value::from_json(text, &entry.value.source),
            _ => None,
        };
        let policy = parsed.as_ref().unwrap_or(&entry.value);
        match &policy.value {
            Value::Null => Setting::default(),
            Value::Map(entries) if entries.is_empty() => Setting::default(),
            Value::Map(_) => {
                let receives = number(policy.value.entry("maxReceiveCount")).or_default(10.0, SQS_DEFAULT);
                let dead_letter = policy.value.get("deadLetterTargetArn").and_then(|target| match &target.value {
                    Value::Reference(reference) => self.queue_of(reference),
                    Value::Text(arn) => self.queue_named(&name_of_arn(arn, "sqs")?),
                    _ => None,
                });
                Setting::known(Redrive { max_receive_count: receives, dead_letter }, policy.source.clone(), place)
            }
            Value::Unknown(unresolved) => Setting::unresolved((**unresolved).clone(), place),
            Value::Reference(reference) => Setting::unresolved(reference.unresolved(place_of(policy)), place),
            _ => {
                let at = place_of(policy).or_else(|| place.clone()).unwrap_or_else(|| item.place.clone());
                Setting::unresolved(expected("a redrive policy in JSON", at), place)
            }
        }
    }
}

/// Sources of events that are no queues.
fn is_other_source(kind: &str) -> bool {
    let kind = kind.strip_prefix("data.").unwrap_or(kind);
    ["aws_kinesis_", "aws_dynamodb_", "aws_msk", "aws_mq_", "aws_docdb_"].iter().any(|other| kind.starts_with(other))
}

fn expected(what: &str, place: Place) -> Unresolved {
    Unresolved { why: format!("expected {what}"), give: None, place: Some(place) }
}

/// The deployment that the items of one root module or plan make.
pub(super) fn assemble(items: &[Item]) -> Deployment {
    let links = Links::new(items);
    let mut deployment = Deployment::default();
    for item in items {
        match &*item.kind {
            "aws_sqs_queue" => {
                let mut queue = item.queue();
                queue.redrive = links.redrive(item);
                deployment.queues.push(queue);
            }
            "aws_lambda_function" => {
                let mut function = item.function();
                function.code = code::of(item, &links);
                deployment.functions.push(function);
            }
            _ => {}
        }
    }
    for item in items {
        match &*item.kind {
            "aws_sqs_queue_redrive_policy" => {
                let queue = item.get("queue_url").and_then(|url| match &url.value {
                    Value::Reference(reference) => links.queue_of(reference),
                    Value::Text(text) => links.queue_named(&name_of_arn(text, "sqs").unwrap_or_else(|| text.to_string())),
                    _ => None,
                });
                if let Some(queue) = queue.and_then(|index| deployment.queues.get_mut(index)) {
                    queue.redrive = links.redrive(item);
                }
            }
            "aws_lambda_event_source_mapping" if !item.has_other_source() => {
                if let Some(queue) = links.queue(item.get("event_source_arn"), &item.place, 0) {
                    let function = links.function(item.get("function_name"), &item.place, 0);
                    deployment.mappings.push(item.mapping(queue, function));
                }
            }
            _ => {}
        }
    }
    for (index, permission) in iam::model_permissions(&links, &deployment) {
        if let Some(function) = deployment.functions.get_mut(index) {
            function.model_permission = Some(permission);
        }
    }
    deployment.join();
    deployment
}
