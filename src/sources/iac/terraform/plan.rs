//! Plans: what `terraform show -json` prints. Values are planned; what is known only after apply is joined by configuration.

use std::collections::HashMap;
use std::rc::Rc;

use super::assemble::assemble;
use super::collect::is_read;
use super::item::Item;
use super::value::{Entry, Traced, Value, from_node};
use crate::engine::fact::{Fact, Place, Source};
use crate::sources::iac::text::File;
use crate::sources::iac::{Read, Unreadable};
use crate::sources::tree::{self, Node};
use configuration::Configuration;

mod configuration;

/// Attributes that point at other resources.
const LINKS: [&str; 7] = ["event_source_arn", "function_name", "queue_url", "role", "policy_arn", "policy", "filename"];

/// Reads a plan; `None` where the file is none.
pub fn read_plan(file: &File) -> Option<Read> {
    let names = |name: &str| file.text.contains(name);
    if !names("\"format_version\"") || !(names("\"planned_values\"") || names("\"resource_changes\"")) {
        return None;
    }
    let root = match Node::parse(&file.text) {
        Ok(root) => root,
        Err(error) => {
            let place = file.place(&(error.at..error.at + 1));
            return Some(Read { unreadable: vec![Unreadable { place, message: error.message }], ..Read::default() });
        }
    };
    get(&root, "format_version")?;
    let planned = planned(&root)?;
    let unknown = changes(&root)
        .filter_map(|change| Some((text(change, "address")?, get(get(change, "change")?, "after_unknown")?)))
        .collect();
    let configuration = get(&root, "configuration").and_then(|all| get(all, "root_module"));
    let mut reader =
        Reader { file, unknown, configuration: Configuration::new(configuration, &planned), documents: HashMap::new() };
    let mut items: Vec<Item> = planned.iter().filter_map(|resource| reader.item(resource)).collect();
    items.extend(reader.documents.into_values());
    Some(Read { deployment: assemble(&items), unreadable: Vec::new() })
}

/// A resource, as it is planned.
pub(super) struct Planned<'p> {
    pub(super) address: &'p str,
    /// `aws_sqs_queue`, `data.aws_sqs_queue`.
    pub(super) kind: String,
    pub(super) name: &'p str,
    /// The address of its module; empty for the root.
    pub(super) module: &'p str,
    /// Its key by `count` or `for_each`.
    pub(super) key: Option<&'p str>,
    node: &'p Node,
    values: &'p Node,
}

impl<'p> Planned<'p> {
    fn new(resource: &'p Node, module: &'p str, values: &'p Node) -> Option<Self> {
        let of = text(resource, "type")?;
        let kind = if text(resource, "mode") == Some("data") { format!("data.{of}") } else { of.to_owned() };
        let node = get(resource, "address")?;
        Some(Self {
            address: node.text()?,
            kind,
            name: text(resource, "name")?,
            module,
            key: text(resource, "index"),
            node,
            values,
        })
    }
}

/// Planned values, or where there are none the changes.
fn planned(root: &Node) -> Option<Vec<Planned<'_>>> {
    let mut resources = Vec::new();
    if let Some(values) = get(root, "planned_values") {
        let mut modules: Vec<&Node> = get(values, "root_module").into_iter().collect();
        while let Some(module) = modules.pop() {
            let address = text(module, "address").unwrap_or_default();
            let own = items(get(module, "resources"));
            resources.extend(own.filter_map(|resource| Planned::new(resource, address, get(resource, "values")?)));
            modules.extend(items(get(module, "child_modules")));
        }
        return Some(resources);
    }
    get(root, "resource_changes")?;
    resources.extend(changes(root).filter_map(|resource| {
        let after = get(get(resource, "change")?, "after").filter(|after| !after.is_null())?;
        Planned::new(resource, text(resource, "module_address").unwrap_or_default(), after)
    }));
    Some(resources)
}

fn changes(root: &Node) -> impl Iterator<Item = &Node> {
    items(get(root, "resource_changes"))
}

fn get<'n>(node: &'n Node, key: &str) -> Option<&'n Node> {
    match &node.value {
        tree::Value::Mapping(entries) => entries.iter().find(|(name, _)| name.text() == Some(key)).map(|(_, value)| value),
        _ => None,
    }
}

fn items(node: Option<&Node>) -> impl Iterator<Item = &Node> {
    match node.map(|node| &node.value) {
        Some(tree::Value::Sequence(items)) => items.as_slice(),
        _ => &[],
    }
    .iter()
}

fn text<'n>(node: &'n Node, key: &str) -> Option<&'n str> {
    get(node, key)?.text()
}

struct Reader<'p> {
    file: &'p File,
    unknown: HashMap<&'p str, &'p Node>,
    configuration: Configuration<'p>,
    /// Policy documents that are only in the configuration, by their addresses.
    documents: HashMap<Rc<str>, Item>,
}

impl<'p> Reader<'p> {
    fn place(&self, node: &Node) -> Place {
        self.file.place(&node.span)
    }

    fn value(&self, node: &Node) -> Option<Traced> {
        from_node(node, &mut |node| Some(self.place(node)), &mut |_, _| None)
    }

    fn item(&mut self, resource: &Planned<'p>) -> Option<Item> {
        if !is_read(&resource.kind) {
            return None;
        }
        let mut values = self.value(resource.values)?;
        if let Some(unknown) = self.unknown.get(resource.address) {
            values = self.overlaid(Some(values), unknown, &resource.kind)?;
        }
        let Value::Map(entries) = &values.value else { return None };
        let mut entries = entries.to_vec();
        for name in LINKS {
            self.link(resource, name, &mut entries);
        }
        Some(Item {
            address: Rc::from(resource.address),
            kind: Rc::from(resource.kind.as_str()),
            place: self.place(resource.node),
            values: Value::map(entries),
            base: self.file.folder().to_owned(),
            near: vec![self.file.folder().to_owned()],
        })
    }

    /// A link that is known only after apply, by what the configuration refers to.
    fn link(&mut self, resource: &Planned<'p>, name: &str, entries: &mut Vec<Entry>) {
        let at = entries.iter().position(|entry| &*entry.key == name);
        let current = at.and_then(|at| entries.get(at)).map(|entry| &entry.value);
        if current.is_some_and(|value| !matches!(value.value, Value::Unknown(_) | Value::Null)) {
            return;
        }
        let Some(reference) = self.configuration.reference(resource, name) else { return };
        if &*reference.kind == "data.aws_iam_policy_document" {
            self.document(&reference.address, resource);
        }
        let source = current.map_or_else(|| Source::Written(self.place(resource.node)), |value| value.source.clone());
        let value = Fact::new(Value::Reference(reference), source);
        match at.and_then(|at| entries.get_mut(at)) {
            Some(entry) => entry.value = value,
            None => entries.push(Entry { key: Rc::from(name), place: None, value }),
        }
    }

    /// Keeps what the configuration says of a policy document.
    fn document(&mut self, address: &Rc<str>, resource: &Planned<'p>) {
        if self.documents.contains_key(address) || self.configuration.is_planned(address) {
            return;
        }
        let Some(node) = self.configuration.document(address) else { return };
        let Some(expressions) = get(node, "expressions") else { return };
        let item = Item {
            address: Rc::clone(address),
            kind: Rc::from("data.aws_iam_policy_document"),
            place: self.place(resource.node),
            values: self.constants(expressions).value,
            base: String::new(),
            near: Vec::new(),
        };
        self.documents.insert(Rc::clone(address), item);
    }

    /// What expressions of the configuration say as constants.
    fn constants(&self, node: &Node) -> Traced {
        let source = Source::Written(self.place(node));
        let unknown = || Value::unknown("it is known only after apply", Some(self.place(node)));
        let value = match &node.value {
            tree::Value::Sequence(items) => Value::list(items.iter().map(|item| self.constants(item)).collect()),
            tree::Value::Mapping(entries) => match get(node, "constant_value").and_then(|value| self.value(value)) {
                Some(constant) => return constant,
                None if get(node, "references").is_some() => unknown(),
                None => Value::map(
                    entries
                        .iter()
                        .filter_map(|(key, value)| {
                            Some(Entry {
                                key: Rc::from(key.text()?),
                                place: Some(self.place(key)),
                                value: self.constants(value),
                            })
                        })
                        .collect(),
                ),
            },
            tree::Value::Scalar { .. } => unknown(),
        };
        Fact::new(value, source)
    }

    /// The value with what is known only after apply. Its name is for messages.
    fn overlaid(&self, value: Option<Traced>, unknown: &Node, name: &str) -> Option<Traced> {
        let at = self.place(unknown);
        let source = Source::Written(at.clone());
        match &unknown.value {
            tree::Value::Scalar { .. } if unknown.boolean() == Some(true) => {
                Some(Fact::new(Value::unknown(format!("`{name}` is known only after apply"), Some(at)), source))
            }
            tree::Value::Scalar { .. } => value,
            tree::Value::Mapping(members) => {
                let source = value.as_ref().map_or(source, |value| value.source.clone());
                let mut entries = match value.as_ref().map(|value| &value.value) {
                    Some(Value::Map(entries)) => entries.to_vec(),
                    None => Vec::new(),
                    Some(_) => return value,
                };
                let positions: HashMap<Rc<str>, usize> =
                    entries.iter().enumerate().map(|(at, entry)| (Rc::clone(&entry.key), at)).collect();
                for (key, unknown) in members {
                    let Some(name) = key.text() else { continue };
                    let position = positions.get(name).copied();
                    let old = position.and_then(|position| entries.get(position));
                    let Some(new) = self.overlaid(old.map(|entry| entry.value.clone()), unknown, name) else { continue };
                    match position.and_then(|position| entries.get_mut(position)) {
                        Some(entry) => entry.value = new,
                        None => entries.push(Entry { key: Rc::from(name), place: Some(self.place(key)), value: new }),
                    }
                }
                Some(Fact::new(Value::map(entries), source))
            }
            tree::Value::Sequence(unknowns) => {
                let source = value.as_ref().map_or(source, |value| value.source.clone());
                let old = match value.as_ref().map(|value| &value.value) {
                    Some(Value::List(items)) => items.to_vec(),
                    None => Vec::new(),
                    Some(_) => return value,
                };
                let count = old.len().max(unknowns.len());
                let mut old = old.into_iter();
                let mut unknowns = unknowns.iter();
                let items = (0..count).filter_map(|_| match (old.next(), unknowns.next()) {
                    (old, Some(unknown)) => self.overlaid(old, unknown, name),
                    (old, None) => old,
                });
                Some(Fact::new(Value::list(items.collect()), source))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::engine::deployment::Link;

    const CHANGES: &str = r#"{
 "format_version": "1.2",
 "variables": {"password": {"value": "hunter-two"}},
 "planned_values": {"root_module": {
  "resources": [
   {"address": "aws_sqs_queue.jobs[\"a\"]", "mode": "managed", "type": "aws_sqs_queue", "name": "jobs", "index": "a", "values": {"name": "jobs-a", "visibility_timeout_seconds": 77}},
   {"address": "aws_sqs_queue.jobs[\"b\"]", "mode": "managed", "type": "aws_sqs_queue", "name": "jobs", "index": "b", "values": {"name": "jobs-b", "visibility_timeout_seconds": 78}},
   {"address": "aws_kinesis_stream.feed", "mode": "managed", "type": "aws_kinesis_stream", "name": "feed", "values": {}},
   {"address": "aws_lambda_event_source_mapping.feed", "mode": "managed", "type": "aws_lambda_event_source_mapping", "name": "feed", "values": {"batch_size": 5}},
   {"address": "aws_lambda_event_source_mapping.jobs[\"a\"]", "mode": "managed", "type": "aws_lambda_event_source_mapping", "name": "jobs", "index": "a", "values": {"batch_size": 5, "function_response_types": ["ReportBatchItemFailures"]}},
   {"address": "aws_lambda_event_source_mapping.jobs[\"b\"]", "mode": "managed", "type": "aws_lambda_event_source_mapping", "name": "jobs", "index": "b", "values": {"batch_size": 6}}
  ],
  "child_modules": [{"address": "module.work[0]", "resources": [
   {"address": "module.work[0].aws_lambda_function.this", "mode": "managed", "type": "aws_lambda_function", "name": "this", "values": {"function_name": "work", "handler": "a.b", "timeout": 1e999, "reserved_concurrent_executions": -1, "environment": [{"variables": {"AWS_MAX_ATTEMPTS": "2", "PASSWORD": "hunter-two"}}]}}
  ]}]
 }},
 "resource_changes": [
  {"address": "aws_lambda_event_source_mapping.feed", "change": {"after_unknown": {"event_source_arn": true, "function_name": true}}},
  {"address": "aws_lambda_event_source_mapping.jobs[\"a\"]", "change": {"after_unknown": {"event_source_arn": true, "function_name": true, "scaling_config": [{"maximum_concurrency": true}]}}},
  {"address": "aws_lambda_event_source_mapping.jobs[\"b\"]", "change": {"after_unknown": {"event_source_arn": true, "function_name": true}}},
  {"address": "module.work[0].aws_lambda_function.this", "change": {"after_unknown": {"role": true}}}
 ],
 "configuration": {"root_module": {
  "resources": [
   {"address": "aws_lambda_event_source_mapping.feed", "mode": "managed", "type": "aws_lambda_event_source_mapping", "name": "feed", "expressions": {"event_source_arn": {"references": ["aws_kinesis_stream.feed.arn", "aws_kinesis_stream.feed"]}, "function_name": {"references": ["module.work[0].name", "module.work[0]", "module.work"]}}},
   {"address": "aws_lambda_event_source_mapping.jobs", "mode": "managed", "type": "aws_lambda_event_source_mapping", "name": "jobs", "for_each_expression": {"references": ["aws_sqs_queue.jobs"]}, "expressions": {"event_source_arn": {"references": ["each.value.arn", "each.value"]}, "function_name": {"references": ["module.work[0].name", "module.work[0]", "module.work"]}}}
  ],
  "module_calls": {"work": {"source": "./work", "count_expression": {"constant_value": 1}, "expressions": {"policy": {"references": ["data.aws_iam_policy_document.model.json", "data.aws_iam_policy_document.model"]}}, "module": {
   "outputs": {"name": {"expression": {"references": ["aws_lambda_function.this.function_name", "aws_lambda_function.this"]}}},
   "resources": [{"mode": "managed", "type": "aws_lambda_function", "name": "this", "expressions": {"role": {"references": ["aws_iam_role.this.arn", "aws_iam_role.this"]}}}]
  }}}
 }}
}"#;

    fn read(text: &str) -> crate::engine::deployment::Deployment {
        read_plan(&File::new("plans/plan.json", text)).unwrap().deployment
    }

    #[test]
    fn unknown_links_are_joined_by_configuration() {
        let deployment = read(CHANGES);
        assert_eq!(deployment.queues.len(), 2);
        assert_eq!(deployment.mappings.len(), 2, "a stream is no queue");
        for (mapping, queue, batch) in [(0, "aws_sqs_queue.jobs[\"a\"]", 5.0), (1, "aws_sqs_queue.jobs[\"b\"]", 6.0)] {
            let mapping = &deployment.mappings[mapping];
            let Link::To(index) = mapping.queue else { panic!("{:?}", mapping.queue) };
            assert_eq!(deployment.queues[index].name, queue);
            assert_eq!(mapping.function, Link::To(0));
            assert_eq!(mapping.batch_size.value(), Some(batch));
        }
        let unknown = deployment.mappings[0].maximum_concurrency.why_unresolved().unwrap();
        assert_eq!(unknown.place.as_ref().unwrap().line, 19);
        assert_eq!(deployment.mappings[0].report_batch_item_failures.value(), Some(true));
        assert!(deployment.mappings[1].maximum_concurrency.is_unset());
        assert_eq!(deployment.queues[0].visibility_s.literal().unwrap().line, 6);
    }

    #[test]
    fn numbers_beyond_what_fits_are_unknown_and_secrets_stay_out() {
        let deployment = read(CHANGES);
        let function = &deployment.functions[0];
        assert_eq!(function.name, "module.work[0].aws_lambda_function.this");
        assert!(function.timeout_s.why_unresolved().is_some());
        assert!(function.reserved_concurrency.is_unset());
        assert_eq!(function.max_attempts.value(), Some(2.0));
        assert!(!format!("{deployment:?}").contains("hunter-two"));
    }

    #[test]
    fn changes_stand_in_for_planned_values() {
        let text = r#"{"format_version": "1.0", "resource_changes": [
            {"address": "aws_sqs_queue.old", "mode": "managed", "type": "aws_sqs_queue", "name": "old", "change": {"actions": ["delete"], "after": null}},
            {"address": "module.q.aws_sqs_queue.jobs", "module_address": "module.q", "mode": "managed", "type": "aws_sqs_queue", "name": "jobs",
             "change": {"actions": ["create"], "after": {"name": "jobs", "redrive_policy": "{\"deadLetterTargetArn\":\"arn:aws:sqs:r:1:dead\",\"maxReceiveCount\":\"7\"}"}, "after_unknown": {"visibility_timeout_seconds": true}}},
            {"address": "aws_sqs_queue.dead", "mode": "managed", "type": "aws_sqs_queue", "name": "dead", "change": {"after": {"name": "dead", "redrive_policy": ""}}}
        ]}"#;
        let deployment = read(text);
        assert_eq!(deployment.queues.len(), 2);
        let queue = &deployment.queues[0];
        assert_eq!(queue.name, "module.q.aws_sqs_queue.jobs");
        assert_eq!(queue.visibility_s.why_unresolved().unwrap().place.as_ref().unwrap().line, 4);
        let redrive = queue.redrive.fact().unwrap();
        assert_eq!((redrive.value.max_receive_count.value(), redrive.value.dead_letter), (Some(7.0), Some(1)));
        assert!(deployment.queues[1].redrive.is_unset());
    }

    #[test]
    fn statements_are_found_in_the_configuration() {
        let text = r#"{"format_version": "1.2", "planned_values": {"root_module": {"resources": [
            {"address": "aws_lambda_function.f", "type": "aws_lambda_function", "name": "f", "values": {"handler": "a.b"}},
            {"address": "aws_iam_role.r", "type": "aws_iam_role", "name": "r", "values": {"name": "r"}},
            {"address": "aws_iam_role_policy.p", "type": "aws_iam_role_policy", "name": "p", "values": {}}
        ]}}, "configuration": {"root_module": {"resources": [
            {"type": "aws_lambda_function", "name": "f", "expressions": {"role": {"references": ["aws_iam_role.r.arn", "aws_iam_role.r"]}}},
            {"type": "aws_iam_role_policy", "name": "p", "expressions": {"role": {"references": ["aws_iam_role.r.id", "aws_iam_role.r"]}, "policy": {"references": ["data.aws_iam_policy_document.d.json", "data.aws_iam_policy_document.d"]}}},
            {"mode": "data", "type": "aws_iam_policy_document", "name": "d", "expressions": {"statement": [
                {"actions": {"constant_value": ["logs:*"]}},
                {"actions": {"constant_value": ["bedrock:InvokeModel"]}}
            ]}}
        ]}}}"#;
        assert_eq!(read(text).functions[0].model_permission.as_ref().unwrap().line, 10);
    }

    #[test]
    fn what_is_no_plan_is_left_alone() {
        for text in
            ["{}", "{\"planned_values\": {}}", "[\"format_version\", \"planned_values\"]", "format_version: \"planned_values\""]
        {
            assert!(read_plan(&File::new("a.json", text)).is_none(), "{text}");
        }
        let broken = read_plan(&File::new("a.json", "{\"format_version\": \"1.2\",\n \"planned_values\": ]\n")).unwrap();
        assert_eq!(broken.unreadable.len(), 1);
    }

    proptest! {
        #[test]
        fn any_text_in_a_plan_is_read_without_panic(at in 0..CHANGES.len(), cut in 0_usize..400, put in "\\PC{0,12}") {
            let mut text = CHANGES.to_owned();
            text.replace_range(at..(at + cut).min(CHANGES.len()), &put);
            let _ = read_plan(&File::new("plan.json", &text));
        }

        #[test]
        fn any_references_are_followed_without_panic(reference in "(var|module|each|data|aws_sqs_queue|[a-z.\\[\\]\"\\\\0]{0,8})([.\\[\\]\"\\\\]|jobs|work|name|0){0,8}") {
            let text = CHANGES.replace("each.value.arn", &reference.replace('\\', "\\\\").replace('"', "\\\""));
            let _ = read_plan(&File::new("plan.json", &text));
        }
    }
}
