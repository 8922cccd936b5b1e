//! `pulumi preview --json`: planned resources, joined through the dependencies of their properties where values are only
//! known after the update.

use std::collections::BTreeMap;

use super::Read;
use super::cloudformation::allows;
use super::cloudformation::builder::{LAMBDA, SQS};
use super::text::File;
use super::value::{Traced, Value, bool_setting, name_of_arn, number_setting, text_setting};
use crate::engine::deployment::{CodeRef, Deployment, Function, Link, Mapping, Queue, Redrive, Setting, State, Unresolved};
use crate::engine::fact::{Fact, Place, Source};
use crate::sources::tree::{Node, Value as Tree};

/// What stands for a value that is only known after the update (Pulumi's `UnknownStringValue`).
const UNKNOWN: &str = "04da6b54-80e4-46f7-96ec-b56ff0331ba9";

/// Whether a document is a preview: steps with the state of a resource each.
pub fn is_preview(root: &Node) -> bool {
    root.get("steps")
        .is_some_and(|steps| steps.items().iter().any(|step| step.get("urn").is_some() && step.get("op").is_some()))
}

/// Reads a preview.
pub fn read(file: &File, root: &Node) -> Read {
    let states: Vec<Planned<'_>> = root
        .get("steps")
        .map(Node::items)
        .unwrap_or_default()
        .iter()
        .filter(|step| !step.get("op").and_then(Node::text).is_some_and(|op| op.contains("delete") || op == "remove"))
        .filter_map(|step| {
            let state = step.get("newState")?;
            let urn = state.get("urn").or_else(|| step.get("urn"))?;
            Some(Planned { file, urn, kind: state.get("type")?.text()?, inputs: state.get("inputs"), state })
        })
        .collect();
    let mut deployment = Deployment::default();
    let (mut queues, mut functions) = (BTreeMap::new(), BTreeMap::new());
    for state in &states {
        match state.kind {
            "aws:sqs/queue:Queue" => {
                queues.insert(state.urn_text(), deployment.queues.len());
                deployment.queues.push(state.queue());
            }
            "aws:lambda/function:Function" => {
                functions.insert(state.urn_text(), deployment.functions.len());
                deployment.functions.push(state.function(&states));
            }
            _ => {}
        }
    }
    for state in &states {
        match state.kind {
            "aws:sqs/redrivePolicy:RedrivePolicy" => {
                if let Some(index) = state.depends("queueUrl").find_map(|urn| queues.get(urn)) {
                    deployment.queues[*index].redrive = state.redrive();
                }
            }
            "aws:lambda/eventSourceMapping:EventSourceMapping" => {
                let Some(queue) = state.source(&queues, &states) else { continue };
                let function = state.target(&functions, &states);
                deployment.mappings.push(state.mapping(queue, function));
            }
            _ => {}
        }
        if let Some(dead) = state.depends("redrivePolicy").find_map(|urn| queues.get(urn))
            && let Some(index) = queues.get(state.urn_text())
            && let State::Known(redrive) = &mut deployment.queues[*index].redrive.state
        {
            redrive.value.dead_letter = Some(*dead);
        }
    }
    Read { deployment, unreadable: Vec::new() }
}

/// One planned resource.
struct Planned<'a> {
    file: &'a File,
    urn: &'a Node,
    kind: &'a str,
    inputs: Option<&'a Node>,
    state: &'a Node,
}

impl<'a> Planned<'a> {
    fn urn_text(&self) -> &'a str {
        self.urn.text().unwrap_or_default()
    }

    fn name(&self) -> String {
        self.urn_text().rsplit("::").next().unwrap_or_default().to_owned()
    }

    fn place(&self) -> Place {
        self.file.place(&self.urn.span)
    }

    /// The resources that a property's value comes from.
    fn depends(&self, property: &str) -> impl Iterator<Item = &'a str> {
        let urns = self.state.get("propertyDependencies").and_then(|of| of.get(property));
        urns.map(Node::items).unwrap_or_default().iter().filter_map(Node::text)
    }

    fn property(&self, name: &str) -> Option<(Traced, Place)> {
        let (key, value) = self.inputs?.entry(name)?;
        Some((self.value(value), self.file.place(&key.span)))
    }

    fn value(&self, node: &Node) -> Traced {
        let place = self.file.place(&node.span);
        let value = match &node.value {
            Tree::Scalar { text, .. } if text == UNKNOWN => Value::Unresolved(Unresolved {
                why: "it is only known after the update".to_owned(),
                give: None,
                place: Some(place.clone()),
            }),
            Tree::Scalar { .. } if node.is_null() => Value::Null,
            Tree::Scalar { text, .. } => match (node.number(), node.boolean()) {
                (Some(number), _) => Value::Number(number),
                (None, Some(boolean)) => Value::Bool(boolean),
                (None, None) => Value::Text(text.clone()),
            },
            Tree::Sequence(items) => Value::List(items.iter().map(|item| self.value(item)).collect()),
            Tree::Mapping(entries) => Value::Map(
                entries.iter().filter_map(|(key, value)| Some((key.text()?.to_owned(), self.value(value)))).collect(),
            ),
        };
        Fact::new(value, Source::Written(place))
    }

    fn number(&self, name: &str) -> Setting<f64> {
        self.property(name).map_or_else(Setting::default, |(value, place)| number_setting(Some(&value), Some(place)))
    }

    fn text(&self, name: &str) -> Option<String> {
        self.inputs?.get(name)?.text().filter(|text| *text != UNKNOWN).map(str::to_owned)
    }

    fn queue(&self) -> Queue {
        Queue {
            name: self.name(),
            queue_name: self.text("name"),
            place: Some(self.place()),
            visibility_s: self.number("visibilityTimeoutSeconds").or_default(30.0, SQS),
            retention_s: self.number("messageRetentionSeconds").or_default(345_600.0, SQS),
            fifo: self
                .property("fifoQueue")
                .map_or_else(Setting::default, |(value, place)| bool_setting(Some(&value), Some(place))),
            redrive: self.redrive(),
        }
    }

    /// The redrive policy: a JSON text.
    fn redrive(&self) -> Setting<Redrive> {
        let Some((value, place)) = self.property("redrivePolicy") else { return Setting::default() };
        let unresolved = |why: &str| {
            let unresolved = Unresolved { why: why.to_owned(), give: None, place: Some(place.clone()) };
            Setting::unresolved(unresolved, Some(place.clone()))
        };
        match &value.value {
            Value::Null => Setting::default(),
            Value::Text(text) => {
                let Ok(policy) = serde_json::from_str::<serde_json::Value>(text) else {
                    return unresolved("the redrive policy is no JSON");
                };
                let count = &policy["maxReceiveCount"];
                let count = count.as_f64().or_else(|| count.as_str()?.parse().ok());
                let max_receive_count = match count {
                    Some(count) => Setting::known(count, value.source.clone(), Some(place.clone())),
                    None => Setting::default_of(10.0, SQS),
                };
                Setting::known(Redrive { max_receive_count, dead_letter: None }, value.source.clone(), Some(place.clone()))
            }
            Value::Unresolved(_) => unresolved("the redrive policy is only known after the update"),
            _ => unresolved("a redrive policy is a JSON text"),
        }
    }

    fn function(&self, states: &[Planned<'_>]) -> Function {
        let variable = |name: &str| {
            let variables = self.inputs?.get("environment")?.get("variables")?;
            let (key, value) = variables.entry(name)?;
            Some((self.value(value), self.file.place(&key.span)))
        };
        let reserved = self.number("reservedConcurrentExecutions");
        let handler = self.text("handler");
        let subnets = self.inputs.and_then(|inputs| inputs.get("vpcConfig")?.get("subnetIds"));
        Function {
            name: self.name(),
            function_name: self.text("name"),
            place: Some(self.place()),
            timeout_s: self.number("timeout").or_default(3.0, LAMBDA),
            // -1 is none.
            reserved_concurrency: if reserved.value().is_some_and(|value| value < 0.0) { Setting::default() } else { reserved },
            in_vpc: subnets.is_some_and(|subnets| !subnets.items().is_empty() || subnets.text().is_some()),
            managed_instances: self.inputs.is_some_and(|inputs| inputs.get("capacityProviderConfig").is_some()),
            model_permission: self.permission(states),
            max_attempts: variable("AWS_MAX_ATTEMPTS")
                .map_or_else(Setting::default, |(value, place)| number_setting(Some(&value), Some(place))),
            retry_mode: variable("AWS_RETRY_MODE")
                .map_or_else(Setting::default, |(value, place)| text_setting(Some(&value), Some(place))),
            code: handler.map(|handler| CodeRef {
                folders: vec![self.file.folder().to_owned()],
                handler,
                runtime: self.text("runtime"),
                inline: None,
            }),
            ..Function::default()
        }
    }

    /// Where a policy of the function's role lets it call a model.
    fn permission(&self, states: &[Planned<'_>]) -> Option<Place> {
        let roles: Vec<&str> = self.depends("role").collect();
        states.iter().filter(|state| state.kind.starts_with("aws:iam/")).find_map(|state| {
            let of_role = state.depends("role").any(|role| roles.contains(&role)) || roles.contains(&state.urn_text());
            let (key, policy) = state.inputs?.entry("policy")?;
            let policy: serde_json::Value = serde_json::from_str(policy.text()?).ok()?;
            (of_role && policy_allows(&policy)).then(|| state.file.place(&key.span))
        })
    }

    /// The queue of a mapping; `None` where its source is another service's.
    fn source(&self, queues: &BTreeMap<&str, usize>, states: &[Planned<'_>]) -> Option<Link> {
        let (value, place) = self.property("eventSourceArn")?;
        if let Some(index) = self.depends("eventSourceArn").find_map(|urn| queues.get(urn)) {
            return Some(Link::To(*index));
        }
        if self.inputs.is_some_and(|inputs| inputs.get("startingPosition").is_some())
            || self.depends("eventSourceArn").any(|urn| states.iter().any(|state| state.urn_text() == urn))
        {
            return None;
        }
        match value.value.text() {
            Some(text) => name_of_arn(&text, "sqs").map(|name| Link::Named { name, place }),
            None => Some(Link::Unresolved(Unresolved {
                why: "the source is only known after the update".to_owned(),
                give: None,
                place: Some(place),
            })),
        }
    }

    /// The function of a mapping, also through an alias.
    fn target(&self, functions: &BTreeMap<&str, usize>, states: &[Planned<'_>]) -> Link {
        let direct = self.depends("functionName").find_map(|urn| functions.get(urn));
        let through_alias = || {
            let alias = self.depends("functionName").find_map(|urn| states.iter().find(|state| state.urn_text() == urn))?;
            alias.depends("functionName").find_map(|urn| functions.get(urn))
        };
        if let Some(index) = direct.or_else(through_alias) {
            return Link::To(*index);
        }
        let unresolved = |place| {
            Link::Unresolved(Unresolved { why: "the function is only known after the update".to_owned(), give: None, place })
        };
        match self.property("functionName") {
            Some((Traced { value: Value::Text(text), .. }, place)) => {
                let name =
                    name_of_arn(&text, "lambda").unwrap_or_else(|| text.split(':').next().unwrap_or_default().to_owned());
                Link::Named { name, place }
            }
            Some((_, place)) => unresolved(Some(place)),
            None => unresolved(None),
        }
    }

    fn mapping(&self, queue: Link, function: Link) -> Mapping {
        let inner = |object: &str, name: &str| {
            let (key, value) = self.inputs?.get(object)?.entry(name)?;
            Some((self.value(value), self.file.place(&key.span)))
        };
        let reports = self.property("functionResponseTypes").map(|(value, place)| {
            let reports = match &value.value {
                Value::List(items) => items.iter().any(|item| item.value.text().as_deref() == Some("ReportBatchItemFailures")),
                _ => false,
            };
            Setting::known(reports, value.source.clone(), Some(place))
        });
        Mapping {
            place: Some(self.place()),
            queue,
            function,
            batch_size: self.number("batchSize").or_default(10.0, LAMBDA),
            batch_window_s: self.number("maximumBatchingWindowInSeconds").or_default(0.0, LAMBDA),
            maximum_concurrency: inner("scalingConfig", "maximumConcurrency")
                .map_or_else(Setting::default, |(value, place)| number_setting(Some(&value), Some(place))),
            provisioned: self.property("provisionedPollerConfig").map(|(_, place)| place),
            report_batch_item_failures: reports.unwrap_or_default(),
            enabled: self
                .property("enabled")
                .map_or_else(Setting::default, |(value, place)| bool_setting(Some(&value), Some(place))),
        }
    }
}

/// Whether a policy document lets a model be called.
fn policy_allows(policy: &serde_json::Value) -> bool {
    let list = |value: &serde_json::Value| match value {
        serde_json::Value::Array(items) => items.clone(),
        other => vec![other.clone()],
    };
    list(&policy["Statement"]).iter().any(|statement| {
        statement["Effect"] != "Deny" && list(&statement["Action"]).iter().any(|action| action.as_str().is_some_and(allows))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn preview(mapping: &str, more: &str) -> Deployment {
        let text = format!(
            r#"{{"steps": [
{{"op": "create", "urn": "u::q::jobs", "newState": {{"urn": "u::q::jobs", "type": "aws:sqs/queue:Queue",
  "inputs": {{"visibilityTimeoutSeconds": 55{more}}}}}}},
{{"op": "create", "urn": "u::f::work", "newState": {{"urn": "u::f::work", "type": "aws:lambda/function:Function",
  "inputs": {{"timeout": 44, "reservedConcurrentExecutions": -1}}}}}},
{{"op": "create", "urn": "u::a::live", "newState": {{"urn": "u::a::live", "type": "aws:lambda/alias:Alias",
  "inputs": {{}}, "propertyDependencies": {{"functionName": ["u::f::work"]}}}}}},
{{"op": "create", "urn": "u::m::feed", "newState": {{"urn": "u::m::feed", "type": "aws:lambda/eventSourceMapping:EventSourceMapping", {mapping}}}}}
]}}"#
        );
        let root = Node::parse(&text).unwrap();
        assert!(is_preview(&root));
        read(&File::new("p.json", &text), &root).deployment
    }

    const UNKNOWN_ENDS: &str = r#""inputs": {"eventSourceArn": "04da6b54-80e4-46f7-96ec-b56ff0331ba9", "functionName": "04da6b54-80e4-46f7-96ec-b56ff0331ba9"}"#;

    #[test]
    fn unknown_arns_lead_through_dependencies_and_aliases() {
        let of = |function: &str| {
            format!(
                r#"{UNKNOWN_ENDS}, "propertyDependencies": {{"eventSourceArn": ["u::q::jobs"], "functionName": ["{function}"]}}"#
            )
        };
        for function in ["u::f::work", "u::a::live"] {
            let stack = preview(&of(function), "");
            assert_eq!((&stack.mappings[0].queue, &stack.mappings[0].function), (&Link::To(0), &Link::To(0)));
            assert!(stack.functions[0].reserved_concurrency.is_unset() && stack.mappings[0].batch_size.is_default());
        }
        let unknown = preview(UNKNOWN_ENDS, "");
        assert!(matches!(unknown.mappings[0].queue, Link::Unresolved(_)));
    }

    #[test]
    fn a_redrive_policy_is_a_text_or_not_known_yet() {
        let policy =
            r#", "redrivePolicy": "{\"deadLetterTargetArn\":\"arn:aws:sqs:eu-west-1:1:dead\",\"maxReceiveCount\":\"7\"}""#;
        let known = preview(UNKNOWN_ENDS, policy);
        assert_eq!(known.queues[0].redrive.fact().unwrap().value.max_receive_count.value(), Some(7.0));
        let unknown = preview(UNKNOWN_ENDS, r#", "redrivePolicy": "04da6b54-80e4-46f7-96ec-b56ff0331ba9""#);
        assert!(unknown.queues[0].redrive.why_unresolved().is_some());
    }
}
