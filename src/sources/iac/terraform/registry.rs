//! Modules of the registry that are known: `terraform-aws-modules/lambda/aws` and `terraform-aws-modules/sqs/aws`.
//!
//! Their inputs become the resources that they make; their defaults are the modules' own.

use std::rc::Rc;

use super::item::Item;
use super::value::{Entry, Reference, Traced, Value};
use crate::engine::fact::{Fact, Place, Source};

const SQS_MODULE: &str = "default of the sqs module";
const LAMBDA_MODULE: &str = "default of the lambda module";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Module {
    Sqs,
    Lambda,
    LambdaAlias,
}

/// The module that a source names, as an address of the registry or of its repository.
pub(super) fn module(source: &str) -> Option<Module> {
    let (_, rest) = source.split_once("terraform-aws-modules/")?;
    let rest = rest.split('?').next().unwrap_or_default();
    let (package, inner) = rest.split_once("//").unwrap_or((rest, ""));
    let package = package.trim_end_matches('/').trim_end_matches(".git");
    let inner = inner.trim_matches('/');
    match (package, inner) {
        ("sqs/aws" | "terraform-aws-sqs", "") => Some(Module::Sqs),
        ("lambda/aws" | "terraform-aws-lambda", "") => Some(Module::Lambda),
        ("lambda/aws" | "terraform-aws-lambda", "modules/alias") => Some(Module::LambdaAlias),
        _ => None,
    }
}

impl Module {
    /// The input that an output gives back as a name.
    pub(super) fn name_behind(self, output: &str) -> Option<&'static str> {
        match (self, output) {
            (Self::Sqs, "queue_name" | "sqs_queue_name" | "this_sqs_queue_name") => Some("name"),
            (Self::Lambda, "lambda_function_name" | "this_lambda_function_name") => Some("function_name"),
            _ => None,
        }
    }
}

/// The address of the dead-letter queue that a module makes for its queue.
pub(super) fn dead_letter_address(module: &str) -> String {
    format!("{module}.aws_sqs_queue.dlq[0]")
}

/// A call of a known module: its address, its inputs, and where it stands.
pub(super) struct Call {
    pub(super) address: Rc<str>,
    pub(super) inputs: Value,
    pub(super) place: Place,
    pub(super) base: String,
    pub(super) near: Vec<String>,
}

impl Call {
    /// The resources that it makes.
    pub(super) fn items(&self, module: Module) -> Vec<Item> {
        if self.is(false, "create") {
            return Vec::new();
        }
        match module {
            Module::Sqs => self.queues(),
            Module::Lambda => self.functions(),
            Module::LambdaAlias => {
                let alias = self.item("aws_lambda_alias", &self.address, self.named(&["function_name"]));
                let mappings = self.mappings(self.inputs.get("function_name"));
                std::iter::once(alias).chain(mappings).collect()
            }
        }
    }

    /// Whether an input has this value; unknown has none.
    fn is(&self, value: bool, name: &str) -> bool {
        self.inputs.get(name).and_then(|input| input.value.boolean()) == Some(value)
    }

    fn item(&self, kind: &str, address: &str, entries: Vec<Entry>) -> Item {
        Item {
            address: Rc::from(address),
            kind: Rc::from(kind),
            place: self.place.clone(),
            values: Value::map(entries),
            base: self.base.clone(),
            near: self.near.clone(),
        }
    }

    fn named(&self, names: &[&str]) -> Vec<Entry> {
        names
            .iter()
            .filter_map(|name| self.inputs.entry(name))
            .filter(|entry| entry.value.value != Value::Null)
            .cloned()
            .collect()
    }

    /// Inputs under the names that the resource has for them; the first that is set.
    fn renamed(&self, key: &str, names: &[&str]) -> Option<Entry> {
        self.named(names).into_iter().next().map(|entry| Entry { key: Rc::from(key), ..entry })
    }

    fn queues(&self) -> Vec<Item> {
        let mut queue = self.named(&["visibility_timeout_seconds", "message_retention_seconds", "fifo_queue"]);
        queue.extend(self.queue_name());
        let makes_dead = self.is(true, "create_dlq");
        queue.extend(self.redrive(makes_dead));
        let mut items = vec![self.item("aws_sqs_queue", &self.address, queue)];
        if makes_dead {
            let of_both = |key: &str| self.renamed(key, &[&format!("dlq_{key}"), key]);
            let dead: Vec<Entry> = [
                self.renamed("name", &["dlq_name"]),
                of_both("visibility_timeout_seconds"),
                of_both("message_retention_seconds"),
                self.renamed("fifo_queue", &["fifo_queue"]),
            ]
            .into_iter()
            .flatten()
            .collect();
            items.push(self.item("aws_sqs_queue", &dead_letter_address(&self.address), dead));
        }
        items
    }

    /// With the ending that the module adds; a prefix is no name.
    fn queue_name(&self) -> Option<Entry> {
        let entry = self.renamed("name", &["name"]).filter(|_| !self.is(true, "use_name_prefix"))?;
        let Value::Text(name) = &entry.value.value else { return Some(entry) };
        let plain = name.strip_suffix(".fifo").unwrap_or(name);
        let whole = if self.is(true, "fifo_queue") { format!("{plain}.fifo") } else { plain.to_owned() };
        Some(Entry { value: Fact::new(Value::text_from(&whole), entry.value.source.clone()), ..entry })
    }

    fn redrive(&self, makes_dead: bool) -> Option<Entry> {
        let given = self.inputs.entry("redrive_policy").filter(|entry| entry.value.value != Value::Null);
        // What cannot be read is left as it is.
        if !makes_dead || given.is_some_and(|entry| !matches!(entry.value.value, Value::Map(_))) {
            return given.cloned().or_else(|| {
                let unknown = self.inputs.entry("create_dlq").filter(|entry| matches!(entry.value.value, Value::Unknown(_)));
                unknown.map(|entry| Entry { key: Rc::from("redrive_policy"), ..entry.clone() })
            });
        }
        let target = Reference {
            address: Rc::from(dead_letter_address(&self.address)),
            kind: Rc::from("aws_sqs_queue"),
            attribute: Some(Rc::from("arn")),
        };
        let own = Source::Default(SQS_MODULE);
        let mut policy = vec![
            Entry {
                key: Rc::from("deadLetterTargetArn"),
                place: None,
                value: Fact::new(Value::Reference(target), own.clone()),
            },
            Entry { key: Rc::from("maxReceiveCount"), place: None, value: Fact::new(Value::Number(5.0), own) },
        ];
        if let Some(Value::Map(entries)) = given.map(|entry| &entry.value.value) {
            policy.retain(|entry| entries.iter().all(|given| given.key != entry.key));
            policy.extend(entries.iter().cloned());
        }
        let create = self.inputs.entry("create_dlq");
        let entry = given.or(create)?;
        Some(Entry {
            key: Rc::from("redrive_policy"),
            place: entry.place.clone(),
            value: Fact::new(Value::map(policy), entry.value.source.clone()),
        })
    }

    fn functions(&self) -> Vec<Item> {
        if self.is(false, "create_function") || self.is(true, "create_layer") {
            return Vec::new();
        }
        let mut function = self.named(&[
            "function_name",
            "handler",
            "runtime",
            "timeout",
            "reserved_concurrent_executions",
            "source_path",
            "local_existing_package",
        ]);
        if !function.iter().any(|entry| &*entry.key == "timeout") {
            let value = Fact::new(Value::Number(3.0), Source::Default(LAMBDA_MODULE));
            function.push(Entry { key: Rc::from("timeout"), place: None, value });
        }
        let block = |name: &str, members: Vec<Entry>| Entry {
            key: Rc::from(name),
            place: None,
            value: Fact::new(Value::map(members), Source::Written(self.place.clone())),
        };
        function.extend(self.renamed("subnet_ids", &["vpc_subnet_ids"]).map(|subnets| block("vpc_config", vec![subnets])));
        function.extend(self.renamed("variables", &["environment_variables"]).map(|all| block("environment", vec![all])));
        let provider = self.renamed("arn", &["managed_instances_capacity_provider_arn"]);
        function.extend(provider.map(|arn| block("capacity_provider_config", vec![arn])));
        function.extend(self.renamed("command", &["image_config_command"]).map(|all| block("image_config", vec![all])));
        function.push(self.renamed("role", &["lambda_role"]).unwrap_or_else(|| self.own("role", "aws_iam_role")));
        let itself = self.own("function_name", "aws_lambda_function").value;
        let mut items = vec![
            self.item("aws_lambda_function", &self.address, function),
            self.item("aws_iam_role", &self.address, self.policies()),
        ];
        items.extend(self.mappings(Some(&itself)));
        items
    }

    /// A reference to what the call itself makes.
    fn own(&self, key: &str, kind: &str) -> Entry {
        let reference = Reference { address: Rc::clone(&self.address), kind: Rc::from(kind), attribute: Some(Rc::from("arn")) };
        Entry {
            key: Rc::from(key),
            place: None,
            value: Fact::new(Value::Reference(reference), Source::Written(self.place.clone())),
        }
    }

    /// The policies of the function's own role, as those of a role.
    fn policies(&self) -> Vec<Entry> {
        let source = Source::Written(self.place.clone());
        let mut inline: Vec<Traced> = Vec::new();
        let mut add = |key: &str, value: Traced| {
            let member = Entry { key: Rc::from(key), place: None, value };
            inline.push(Fact::new(Value::map(vec![member]), source.clone()));
        };
        if self.is(true, "attach_policy_statements")
            && let Some(statements) = self.inputs.get("policy_statements")
        {
            let member = Entry { key: Rc::from("Statement"), place: None, value: statements.clone() };
            add("policy", Fact::new(Value::map(vec![member]), source.clone()));
        }
        if self.is(true, "attach_policy_json")
            && let Some(policy) = self.inputs.get("policy_json")
        {
            add("policy", policy.clone());
        }
        if self.is(true, "attach_policy_jsons")
            && let Some(Value::List(policies)) = self.inputs.get("policy_jsons").map(|value| &value.value)
        {
            policies.iter().for_each(|policy| add("policy", policy.clone()));
        }
        let mut attached: Vec<Traced> = Vec::new();
        if self.is(true, "attach_policy") {
            attached.extend(self.inputs.get("policy").cloned());
        }
        if self.is(true, "attach_policies")
            && let Some(Value::List(policies)) = self.inputs.get("policies").map(|value| &value.value)
        {
            attached.extend(policies.iter().cloned());
        }
        let list = |key: &str, items: Vec<Traced>| Entry {
            key: Rc::from(key),
            place: None,
            value: Fact::new(Value::list(items), source.clone()),
        };
        let mut entries = self.named(&["role_name"]);
        entries.extend([list("inline_policy", inline), list("managed_policy_arns", attached)]);
        entries
    }

    /// The mappings, one for each member of `event_source_mapping`.
    fn mappings(&self, function: Option<&Traced>) -> Vec<Item> {
        let Some(all) = self.inputs.entry("event_source_mapping") else { return Vec::new() };
        let mapping = |name: &str, place: Option<Place>, settings: &[Entry]| {
            let mut values = settings.to_vec();
            values.extend(function.cloned().map(|value| Entry { key: Rc::from("function_name"), place: None, value }));
            let address = format!("{}.aws_lambda_event_source_mapping.this[\"{name}\"]", self.address);
            let item = self.item("aws_lambda_event_source_mapping", &address, values);
            Item { place: place.unwrap_or_else(|| self.place.clone()), ..item }
        };
        match &all.value.value {
            Value::Map(entries) => entries
                .iter()
                .filter_map(|entry| match &entry.value.value {
                    Value::Map(settings) => Some(mapping(&entry.key, entry.place.clone(), settings)),
                    _ => None,
                })
                .collect(),
            // All of them are unknown: one stands for them.
            Value::Unknown(_) => {
                let source = Entry { key: Rc::from("event_source_arn"), ..all.clone() };
                vec![mapping("", all.place.clone(), &[source])]
            }
            _ => Vec::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn modules_are_known_by_their_sources() {
        for (source, expected) in [
            ("terraform-aws-modules/sqs/aws", Some(Module::Sqs)),
            ("registry.terraform.io/terraform-aws-modules/lambda/aws", Some(Module::Lambda)),
            ("terraform-aws-modules/lambda/aws//modules/alias", Some(Module::LambdaAlias)),
            ("terraform-aws-modules/lambda/aws//modules/docker-build", None),
            ("git::https://github.com/terraform-aws-modules/terraform-aws-lambda.git?ref=v8.1.0", Some(Module::Lambda)),
            ("git@github.com:terraform-aws-modules/terraform-aws-sqs.git", Some(Module::Sqs)),
            ("github.com/terraform-aws-modules/terraform-aws-lambda//modules/alias?ref=v8", Some(Module::LambdaAlias)),
            ("terraform-aws-modules/vpc/aws", None),
            ("other/sqs/aws", None),
        ] {
            assert_eq!(module(source), expected, "{source}");
        }
    }
}
