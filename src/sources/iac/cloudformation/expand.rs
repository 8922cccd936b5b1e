//! `Fn::ForEach` written out: a loop over a literal list, or a parameter's, is so many resources. One over anything else
//! stays, and what it would make is not known.

use crate::sources::iac::Given;
use crate::sources::tree::{Node, Value};

/// How many resources loops may make in all: more than a template may have (500) many times over.
const MOST_RESOURCES: usize = 20_000;

/// The template with its loops over literal lists written out.
pub(super) fn for_each(root: &Node, given: &Given) -> Node {
    let looped = root.get("Resources").is_some_and(|resources| resources.entries().iter().any(|(key, _)| is_loop(key)));
    let parameters = root.get("Parameters").cloned();
    let lists = Lists { parameters: parameters.as_ref(), given };
    let mut root = root.clone();
    if looped
        && let Value::Mapping(sections) = &mut root.value
        && let Some((_, resources)) = sections.iter_mut().find(|(key, _)| key.text() == Some("Resources"))
        && let Value::Mapping(entries) = &resources.value
    {
        let mut out = Vec::new();
        for entry in entries {
            expand(entry, &lists, 0, &mut out);
        }
        resources.value = Value::Mapping(out);
    }
    root
}

/// Where lists come from that are not written in the loop.
struct Lists<'a> {
    parameters: Option<&'a Node>,
    given: &'a Given,
}

impl Lists<'_> {
    /// The values of a collection: a literal list, or a parameter that is given or has a default.
    fn values(&self, collection: &Node) -> Option<Vec<String>> {
        let reference = match collection.entries() {
            [(key, argument)] if key.text() == Some("Ref") => argument.text(),
            _ => collection.text().filter(|_| collection.tag.as_deref() == Some("Ref")),
        };
        if let Some(name) = reference {
            let given = self.given.parameters.iter().rev().find(|(given, _)| given == name).map(|(_, value)| value.as_str());
            let text = given.or_else(|| self.parameters?.get(name)?.get("Default")?.text())?;
            return Some(text.split(',').map(|value| value.trim().to_owned()).collect());
        }
        let items = collection.items();
        let texts: Vec<String> =
            items.iter().filter(|item| item.tag.is_none()).filter_map(|item| item.text().map(str::to_owned)).collect();
        (!items.is_empty() && texts.len() == items.len() && collection.tag.is_none()).then_some(texts)
    }
}

fn is_loop(key: &Node) -> bool {
    key.text().is_some_and(|key| key.starts_with("Fn::ForEach::"))
}

fn expand(entry: &(Node, Node), lists: &Lists<'_>, depth: usize, out: &mut Vec<(Node, Node)>) {
    let (key, body) = entry;
    if out.len() >= MOST_RESOURCES {
        return;
    }
    let items = body.items();
    let (true, [identifier, collection, fragment]) = (is_loop(key) && depth < 5, items) else {
        out.push(entry.clone());
        return;
    };
    let (Some(identifier), Some(values)) = (identifier.text(), lists.values(collection)) else {
        out.push(entry.clone());
        return;
    };
    for value in values {
        for (key, fragment) in fragment.entries() {
            expand(&(replaced(key, identifier, &value), replaced(fragment, identifier, &value)), lists, depth + 1, out);
        }
    }
}

/// The node with `${Name}` and `&{Name}` replaced, and a `Ref` to the name.
fn replaced(node: &Node, name: &str, value: &str) -> Node {
    let literal = |text: &str| {
        let stripped: String = value.chars().filter(char::is_ascii_alphanumeric).collect();
        text.replace(&format!("${{{name}}}"), value).replace(&format!("&{{{name}}}"), &stripped)
    };
    let text = Node { value: Value::Scalar { text: value.to_owned(), plain: true }, span: node.span.clone(), tag: None };
    if node.tag.as_deref() == Some("Ref") && node.text() == Some(name) {
        return text;
    }
    if let [(key, argument)] = node.entries()
        && key.text() == Some("Ref")
        && argument.text() == Some(name)
    {
        return text;
    }
    let inner = match &node.value {
        Value::Scalar { text, plain } => Value::Scalar { text: literal(text), plain: *plain },
        Value::Sequence(items) => Value::Sequence(items.iter().map(|item| replaced(item, name, value)).collect()),
        Value::Mapping(entries) => Value::Mapping(
            entries.iter().map(|(key, inner)| (replaced(key, name, value), replaced(inner, name, value))).collect(),
        ),
    };
    Node { value: inner, span: node.span.clone(), tag: node.tag.clone() }
}
