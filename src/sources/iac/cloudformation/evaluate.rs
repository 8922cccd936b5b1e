//! Intrinsic functions: a node of a template becomes a value with its source, or says why it cannot.

use std::cell::{Cell, OnceCell};
use std::collections::{BTreeMap, HashMap};

use super::Stacks;
use crate::engine::deployment::Unresolved;
use crate::engine::fact::{Place, Source};
use crate::sources::iac::text::File;
use crate::sources::iac::value::{Traced, Value};
use crate::sources::tree::{Node, Value as Tree};

/// How deep references may lead. Templates nest at most 100 deep, and follow a few references at each level.
pub(super) const DEEPEST: u32 = 400;

/// What reads variables of another language inside a template: the Serverless Framework's.
pub(crate) type Variables<'a> = dyn Fn(&Node) -> Option<Traced> + 'a;

/// One template as one stack: nested stacks of the same template differ in what their parent gives them.
pub(crate) struct Template<'a> {
    pub(crate) file: &'a File,
    pub(crate) root: &'a Node,
    pub(crate) stacks: &'a Stacks<'a>,
    /// Before logical ids, so that those of all stacks differ.
    pub(crate) prefix: String,
    /// What a parent stack passes.
    pub(crate) bound: BTreeMap<String, Traced>,
    pub(crate) variables: Option<&'a Variables<'a>>,
    pub(crate) depth: Cell<u32>,
    pub(crate) index: Index<'a>,
}

/// What is looked up by name again and again: a large template has tens of thousands of resources.
#[derive(Default)]
pub(crate) struct Index<'a> {
    resources: HashMap<&'a str, &'a Node>,
    /// Where policies that stand by themselves let roles call a model, by the roles' ids; worked out once it is asked for.
    pub(super) role_policies: OnceCell<HashMap<String, Place>>,
}

impl<'a> Index<'a> {
    pub(crate) fn new(root: &'a Node) -> Self {
        let resources = root.get("Resources").map(Node::entries).unwrap_or_default();
        // The first of two keys wins, as everywhere.
        let resources = resources.iter().rev().filter_map(|(key, resource)| Some((key.text()?, resource))).collect();
        Self { resources, role_policies: OnceCell::new() }
    }
}

/// A call of an intrinsic function: its name without `Fn::`, and its argument.
pub(super) struct Call<'n> {
    pub(super) name: &'n str,
    pub(super) argument: &'n Node,
    /// Written as a tag: the argument's own tag is the call itself.
    tagged: bool,
}

pub(super) fn call(node: &Node) -> Option<Call<'_>> {
    if let Some(tag) = &node.tag {
        return Some(Call { name: tag, argument: node, tagged: true });
    }
    let [(key, argument)] = node.entries() else { return None };
    let name = key.text()?;
    let name = match name.strip_prefix("Fn::") {
        Some(name) => name,
        None if name == "Ref" || name == "Condition" => name,
        None => return None,
    };
    Some(Call { name, argument, tagged: false })
}

impl<'a> Template<'a> {
    pub(crate) fn place(&self, node: &Node) -> Place {
        self.file.place(&node.span)
    }

    pub(super) fn written(&self, value: Value, node: &Node) -> Traced {
        Traced::new(value, Source::Written(self.place(node)))
    }

    pub(super) fn unresolved(&self, node: &Node, why: impl Into<String>, give: Option<String>) -> Traced {
        self.written(Value::Unresolved(Unresolved { why: why.into(), give, place: Some(self.place(node)) }), node)
    }

    /// A section of the template: `Parameters`, `Mappings`.
    pub(crate) fn section(&self, name: &str) -> Option<&'a Node> {
        self.root.get(name)
    }

    /// The value of a node.
    pub(crate) fn eval(&self, node: &Node) -> Traced {
        if self.depth.get() >= DEEPEST {
            return self.unresolved(node, "references lead too deep", None);
        }
        self.depth.set(self.depth.get() + 1);
        let value = match call(node) {
            Some(call) => self.apply(&call, node),
            None => self.plain(node),
        };
        self.depth.set(self.depth.get() - 1);
        value
    }

    /// The value of a node without its tag.
    fn plain(&self, node: &Node) -> Traced {
        if let Some(value) = self.variables.and_then(|variables| variables(node)) {
            return value;
        }
        match &node.value {
            Tree::Scalar { text, .. } => {
                if let Some(value) = dynamic_reference(text) {
                    return match value {
                        Ok(name) => self.written(Value::Import(name), node),
                        Err(why) => self.unresolved(node, why, None),
                    };
                }
                let value = if node.is_null() {
                    Value::Null
                } else if let Some(number) = node.number() {
                    Value::Number(number)
                } else if let Some(boolean) = node.boolean() {
                    Value::Bool(boolean)
                } else {
                    Value::Text(text.clone())
                };
                self.written(value, node)
            }
            Tree::Sequence(items) => self.written(Value::List(items.iter().map(|item| self.eval(item)).collect()), node),
            Tree::Mapping(entries) => {
                let entries =
                    entries.iter().filter_map(|(key, value)| Some((key.text()?.to_owned(), self.eval(value)))).collect();
                self.written(Value::Map(entries), node)
            }
        }
    }

    fn argument(&self, call: &Call<'_>) -> Traced {
        if call.tagged { self.plain(call.argument) } else { self.eval(call.argument) }
    }

    fn apply(&self, call: &Call<'_>, node: &Node) -> Traced {
        match call.name {
            "Ref" => match call.argument.text() {
                Some(name) => self.reference(name, node),
                None => self.unresolved(node, "`Ref` of something that is no name", None),
            },
            "GetAtt" => self.attribute(call.argument, node),
            "Sub" => self.substitute(call.argument, node),
            "Join" => match call.argument.items() {
                [separator, list] => {
                    let separator = self.eval(separator).value.text().unwrap_or_default();
                    match self.eval(list).value {
                        Value::List(parts) => self.written(concatenate(parts, &separator), node),
                        Value::Unresolved(unresolved) => self.written(Value::Unresolved(unresolved), node),
                        _ => self.unresolved(node, "`Fn::Join` of something that is no list", None),
                    }
                }
                _ => self.unresolved(node, "`Fn::Join` takes a separator and a list", None),
            },
            "If" => self.branch(call.argument, node),
            "FindInMap" => self.find_in_map(call.argument, node),
            "ImportValue" => match self.argument(call).value {
                Value::Unresolved(unresolved) => self.written(Value::Unresolved(unresolved), node),
                name => match name.text() {
                    Some(name) => self.written(Value::Import(name), node),
                    None => self.unresolved(node, "the name of an import is not known", None),
                },
            },
            "Select" => match call.argument.items() {
                [index, list] => match (self.eval(index).value.number(), self.eval(list).value) {
                    (Some(index), Value::List(items)) => {
                        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "saturates; looked up")]
                        let found = items.into_iter().nth(index as usize);
                        found.unwrap_or_else(|| self.unresolved(node, "`Fn::Select` selects nothing", None))
                    }
                    (_, Value::Unresolved(unresolved)) => self.written(Value::Unresolved(unresolved), node),
                    _ => self.unresolved(node, "`Fn::Select` of something that is no list", None),
                },
                _ => self.unresolved(node, "`Fn::Select` takes an index and a list", None),
            },
            "Split" => match call.argument.items() {
                [separator, text] => {
                    let separator = self.eval(separator).value.text().unwrap_or_default();
                    let text = self.eval(text);
                    match (&text.value, separator.as_str()) {
                        (Value::Text(whole), separator) if !separator.is_empty() => {
                            let part = |part: &str| Traced::new(Value::Text(part.to_owned()), text.source.clone());
                            self.written(Value::List(whole.split(separator).map(part).collect()), node)
                        }
                        (Value::Unresolved(unresolved), _) => self.written(Value::Unresolved(unresolved.clone()), node),
                        _ => self.unresolved(node, "`Fn::Split` of something that is not known", None),
                    }
                }
                _ => self.unresolved(node, "`Fn::Split` takes a separator and a text", None),
            },
            other => self.unresolved(node, format!("`Fn::{other}` is only known on deployment"), None),
        }
    }

    /// `Ref`: a parameter's value, or a resource.
    fn reference(&self, name: &str, node: &Node) -> Traced {
        if name == "AWS::NoValue" {
            return self.written(Value::Null, node);
        }
        if name.starts_with("AWS::") {
            return self.written(Value::Text(format!("${{{}}}", name.replace("::", "."))), node);
        }
        if let Some(value) = self.bound.get(name) {
            return value.clone();
        }
        if let Some(parameter) = self.section("Parameters").and_then(|parameters| parameters.get(name)) {
            return self.parameter(name, parameter, node);
        }
        // SAM's names for what `AutoPublishAlias` makes: they are the function, for what is checked.
        if let Some((function, "Alias" | "Version")) = name.split_once('.')
            && self.resource(function).is_some()
        {
            return self.written(self.of_resource(function, "Ref"), node);
        }
        if self.resource(name).is_some() || self.adds_resources() {
            return self.written(self.of_resource(name, "Ref"), node);
        }
        self.unresolved(node, format!("`{name}` is neither a parameter nor a resource of this template"), None)
    }

    fn of_resource(&self, name: &str, attribute: &str) -> Value {
        Value::Attribute { resource: format!("{}{name}", self.prefix), attribute: attribute.to_owned() }
    }

    fn parameter(&self, name: &str, parameter: &Node, node: &Node) -> Traced {
        let give = Some(format!("--parameter {name}=..."));
        let given = self.stacks.given.parameters.iter().rev().find(|(given, _)| given == name);
        let value = match (given, parameter.get("Default")) {
            (Some((_, value)), _) => Traced::new(Value::Text(value.clone()), Source::Flag(format!("--parameter {name}"))),
            (None, Some(default)) => self.plain(default),
            (None, None) => return self.unresolved(node, format!("parameter `{name}` has no default"), give),
        };
        let kind = parameter.get("Type").and_then(Node::text).unwrap_or_default();
        if kind.starts_with("AWS::SSM::Parameter::Value") {
            return match value.value.text() {
                Some(path) => Traced::new(Value::Import(format!("ssm:{path}")), value.source),
                None => self.unresolved(node, format!("parameter `{name}` is read from SSM"), give),
            };
        }
        // Of a list there are as many values as commas leave.
        if (kind == "CommaDelimitedList" || kind.starts_with("List<"))
            && let Value::Text(text) = &value.value
        {
            let items = text.split(',').map(|item| Traced::new(Value::Text(item.trim().to_owned()), value.source.clone()));
            return Traced::new(Value::List(items.collect()), value.source);
        }
        value
    }

    /// A resource by its logical id, where its condition lets it exist.
    pub(crate) fn resource(&self, name: &str) -> Option<&'a Node> {
        self.index.resources.get(name).copied()
    }

    /// `GetAtt`: `Queue.Arn`, or a list of both.
    fn attribute(&self, argument: &Node, node: &Node) -> Traced {
        let (name, attribute) = match (argument.text(), argument.items()) {
            (Some(text), _) => match text.split_once('.') {
                Some((name, attribute)) => (name.to_owned(), attribute.to_owned()),
                None => return self.unresolved(node, "`Fn::GetAtt` without an attribute", None),
            },
            (None, [name, attribute]) => {
                (name.text().unwrap_or_default().to_owned(), self.eval(attribute).value.text().unwrap_or_default())
            }
            _ => return self.unresolved(node, "`Fn::GetAtt` takes a resource and an attribute", None),
        };
        self.attribute_of(&name, &attribute, node)
    }

    fn attribute_of(&self, name: &str, attribute: &str, node: &Node) -> Traced {
        if let Some(output) = attribute.strip_prefix("Outputs.")
            && let Some(child) = self.child(name)
        {
            return match child.section("Outputs").and_then(|outputs| outputs.get(output)?.get("Value")) {
                Some(value) => {
                    child.depth.set(self.depth.get() + 1);
                    child.eval(value)
                }
                None => self.unresolved(node, format!("nested stack `{name}` has no output `{output}`"), None),
            };
        }
        if self.resource(name).is_none() && !self.adds_resources() {
            return self.unresolved(node, format!("`{name}` is no resource of this template"), None);
        }
        self.written(self.of_resource(name, attribute), node)
    }

    /// Whether a framework adds resources, or spreads them over files: then a name that is not here may be elsewhere.
    fn adds_resources(&self) -> bool {
        self.variables.is_some()
    }

    /// `Sub`: `${Name}`, `${Name.Attribute}`, `${!literal}`, with variables of its own.
    fn substitute(&self, argument: &Node, node: &Node) -> Traced {
        let (template, variables) = match (argument.text(), argument.items()) {
            (Some(_), _) => (argument, None),
            (None, [template, variables]) => (template, Some(variables)),
            _ => return self.unresolved(node, "`Fn::Sub` takes a text, and variables", None),
        };
        // A variable of the framework inside is its own: the text that it yields is what is substituted into.
        let framework = self.variables.and_then(|variables| variables(template));
        let text = match &framework {
            Some(value) => match value.value.text() {
                Some(text) => text,
                None => return value.clone(),
            },
            None => template.text().unwrap_or_default().to_owned(),
        };
        let mut parts = Vec::new();
        let mut rest = text.as_str();
        while let Some(at) = rest.find("${") {
            let Some(length) = rest[at..].find('}') else { break };
            let name = rest[at + 2..at + length].trim();
            if at > 0 {
                parts.push(self.written(Value::Text(rest[..at].to_owned()), node));
            }
            if let Some(literal) = name.strip_prefix('!') {
                parts.push(self.written(Value::Text(format!("${{{literal}}}")), node));
            } else if let Some(variable) = variables.and_then(|variables| variables.get(name)) {
                parts.push(self.eval(variable));
            } else if let Some((resource, attribute)) = name.split_once('.') {
                parts.push(self.attribute_of(resource, attribute, node));
            } else {
                parts.push(self.reference(name, node));
            }
            rest = &rest[at + length + 1..];
        }
        if !rest.is_empty() || parts.is_empty() {
            parts.push(self.written(Value::Text(rest.to_owned()), node));
        }
        // `${Seconds}` alone is the parameter itself, with its place.
        match <[Traced; 1]>::try_from(parts) {
            Ok([only]) => only,
            Err(parts) => self.written(concatenate(parts, ""), node),
        }
    }

    fn find_in_map(&self, argument: &Node, node: &Node) -> Traced {
        let [map, first, second, more @ ..] = argument.items() else {
            return self.unresolved(node, "`Fn::FindInMap` takes a map and two keys", None);
        };
        let mut keys = Vec::new();
        for key in [map, first, second] {
            match self.eval(key).value {
                Value::Unresolved(unresolved) => return self.written(Value::Unresolved(unresolved), node),
                key => match key.text().filter(|text| !text.contains("${AWS.")) {
                    Some(text) => keys.push(text),
                    None => return self.unresolved(node, "a key of `Fn::FindInMap` is only known on deployment", None),
                },
            }
        }
        let found = keys.iter().try_fold(self.section("Mappings"), |level, key| level.map(|level| level.get(key)));
        match (found.flatten(), more.iter().find_map(|more| more.get("DefaultValue"))) {
            (Some(value), _) | (None, Some(value)) => self.eval(value),
            (None, None) => self.unresolved(node, format!("the mappings have no {}", keys.join(".")), None),
        }
    }
}

/// Texts one after the other. With one attribute among them the whole is a name or ARN of its resource, if the attribute
/// stands for a whole part of it.
fn concatenate(parts: Vec<Traced>, separator: &str) -> Value {
    let mut text = String::new();
    let mut attribute: Option<(String, usize)> = None;
    for (i, part) in parts.into_iter().enumerate() {
        if i > 0 {
            text.push_str(separator);
        }
        match part.value {
            Value::Unresolved(unresolved) => return Value::Unresolved(unresolved),
            Value::Attribute { resource, .. } => {
                if attribute.is_some() {
                    return unknown_text();
                }
                attribute = Some((resource, text.len()));
            }
            Value::Null => {}
            value => match value.text() {
                Some(part) => text.push_str(&part),
                None => return unknown_text(),
            },
        }
    }
    match attribute {
        None => Value::Text(text),
        Some((resource, at)) => {
            let (head, tail) = (&text[..at], &text[at..]);
            let whole = (head.is_empty() || head.ends_with([':', '/'])) && (tail.is_empty() || tail.starts_with(':'));
            if whole { Value::Attribute { resource, attribute: "joined".to_owned() } } else { unknown_text() }
        }
    }
}

fn unknown_text() -> Value {
    Value::Unresolved(Unresolved { why: "a text of it is only known on deployment".to_owned(), give: None, place: None })
}

/// `{{resolve:ssm:/name}}`: what it imports, or why it stays unknown.
fn dynamic_reference(text: &str) -> Option<Result<String, String>> {
    let inner = text.trim().strip_prefix("{{resolve:")?.strip_suffix("}}")?;
    let mut parts = inner.split(':');
    match (parts.next(), parts.next()) {
        (Some("ssm"), Some(name)) => Some(Ok(format!("ssm:{name}"))),
        (Some(service), _) => Some(Err(format!("a `{service}` reference is read on deployment"))),
        _ => None,
    }
}
