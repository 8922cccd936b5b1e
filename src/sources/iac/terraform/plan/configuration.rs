//! The configuration in a plan: what expressions refer to, through variables, outputs and instances.

use std::collections::HashMap;
use std::rc::Rc;

use super::super::value::Reference;
use super::{Planned, get, items, text};
use crate::sources::tree::{Node, Value};

/// How many variables, outputs and `for_each` one reference may go through.
const LONGEST: usize = 24;

/// How many references are followed for one link.
const MOST: usize = 2000;

pub(super) struct Configuration<'p> {
    root: Option<&'p Node>,
    /// Resources and data sources by the path of their module, kind and name.
    declared: HashMap<[String; 3], &'p Node>,
    /// Planned instances by module, kind and name.
    planned: HashMap<(&'p str, String, &'p str), Vec<(Option<&'p str>, &'p str)>>,
}

/// A module on the way from the root to a resource.
#[derive(Clone)]
struct Level<'p> {
    /// Empty for the root.
    address: String,
    /// The same without keys.
    path: String,
    node: &'p Node,
    /// The call that makes it, and its key there.
    call: Option<&'p Node>,
    key: Option<String>,
}

/// What is being followed: where, for which instance, and how often already.
struct Way<'l, 'p> {
    levels: &'l [Level<'p>],
    key: Option<&'l str>,
    /// The resource or call, for its `for_each`.
    of: Option<&'p Node>,
    depth: usize,
}

/// A part of an address, with its key.
#[derive(Debug, PartialEq)]
struct Segment {
    name: String,
    key: Option<String>,
}

impl<'p> Configuration<'p> {
    pub(super) fn new(root: Option<&'p Node>, resources: &[Planned<'p>]) -> Self {
        let mut planned: HashMap<_, Vec<_>> = HashMap::new();
        for resource in resources {
            let of = (resource.module, resource.kind.clone(), resource.name);
            planned.entry(of).or_default().push((resource.key, resource.address));
        }
        let mut declared = HashMap::new();
        let mut modules: Vec<(String, &Node)> = root.map(|root| (String::new(), root)).into_iter().collect();
        while let Some((path, module)) = modules.pop() {
            for node in items(get(module, "resources")) {
                let (Some(of), Some(name)) = (text(node, "type"), text(node, "name")) else { continue };
                let kind = if text(node, "mode") == Some("data") { format!("data.{of}") } else { of.to_owned() };
                declared.entry([path.clone(), kind, name.to_owned()]).or_insert(node);
            }
            if let Some(Value::Mapping(calls)) = get(module, "module_calls").map(|calls| &calls.value) {
                modules
                    .extend(calls.iter().filter_map(|(name, call)| Some((below(&path, name.text()?), get(call, "module")?))));
            }
        }
        Self { root, declared, planned }
    }

    /// The one resource that an attribute refers to.
    pub(super) fn reference(&self, resource: &Planned<'p>, attribute: &str) -> Option<Reference> {
        let levels = self.levels(resource.module)?;
        let node = self.declared(levels.last()?, &resource.kind, resource.name)?;
        let references = get(get(get(node, "expressions")?, attribute)?, "references")?;
        let mut found = Vec::new();
        let mut steps = 0;
        let way = Way { levels: &levels, key: resource.key, of: Some(node), depth: 0 };
        self.follow(&way, references, &mut found, &mut steps);
        let (wanted, others): (Vec<Reference>, Vec<Reference>) =
            found.into_iter().partition(|reference| wanted(attribute).contains(&&*reference.kind));
        match (wanted.as_slice(), others.as_slice()) {
            ([one], []) => Some(one.clone()),
            // With a version or an alias behind it.
            ([one], _) if attribute == "function_name" => Some(one.clone()),
            ([], [one]) => Some(one.clone()),
            _ => None,
        }
    }

    pub(super) fn is_planned(&self, address: &str) -> bool {
        self.planned.values().flatten().any(|(_, planned)| *planned == address)
    }

    /// A data source, by its address.
    pub(super) fn document(&self, address: &str) -> Option<&'p Node> {
        let (module, name) = match address.rsplit_once("data.aws_iam_policy_document.") {
            Some((module, name)) => (module.trim_end_matches('.'), name),
            None => return None,
        };
        let name = name.split('[').next().unwrap_or_default();
        self.declared(self.levels(module)?.last()?, "data.aws_iam_policy_document", name)
    }

    /// A resource or data source of a module.
    fn declared(&self, level: &Level<'p>, kind: &str, name: &str) -> Option<&'p Node> {
        self.declared.get(&[level.path.clone(), kind.to_owned(), name.to_owned()]).copied()
    }

    fn levels(&self, module: &str) -> Option<Vec<Level<'p>>> {
        let mut levels = vec![Level { address: String::new(), path: String::new(), node: self.root?, call: None, key: None }];
        let segments = segments(module);
        for pair in segments.chunks(2) {
            let [marker, named] = pair else { continue };
            if marker.name != "module" {
                return None;
            }
            let next = child(levels.last()?, named)?;
            levels.push(next);
        }
        Some(levels)
    }

    fn follow(&self, way: &Way<'_, 'p>, references: &'p Node, found: &mut Vec<Reference>, steps: &mut usize) {
        let Some(level) = way.levels.last() else { return };
        for reference in items(Some(references)).filter_map(Node::text) {
            *steps += 1;
            if way.depth > LONGEST || *steps > MOST {
                return;
            }
            let segments = segments(reference);
            match segments.as_slice() {
                [var, name, ..] if var.name == "var" => {
                    let Some(call) = level.call else { continue };
                    let input = get(call, "expressions").and_then(|all| get(all, &name.name));
                    let outer = way.levels.get(..way.levels.len() - 1).unwrap_or_default();
                    let next = Way { levels: outer, key: level.key.as_deref(), of: Some(call), depth: way.depth + 1 };
                    if let Some(references) = input.and_then(|input| get(input, "references")) {
                        self.follow(&next, references, found, steps);
                    }
                }
                [each, value, ..] if each.name == "each" && value.name == "value" => {
                    let collection = way.of.and_then(|of| get(get(of, "for_each_expression")?, "references"));
                    let next = Way { levels: way.levels, key: way.key, of: None, depth: way.depth + 1 };
                    if let Some(references) = collection {
                        self.follow(&next, references, found, steps);
                    }
                }
                [module, name, output, ..] if module.name == "module" => {
                    let repeated =
                        get(level.node, "module_calls").and_then(|calls| get(calls, &name.name)).is_some_and(|call| {
                            get(call, "for_each_expression").is_some() || get(call, "count_expression").is_some()
                        });
                    let key = name.key.clone().or_else(|| way.key.filter(|_| repeated).map(str::to_owned));
                    let Some(inner) = child(level, &Segment { name: name.name.clone(), key }) else { continue };
                    let references = get(inner.node, "outputs")
                        .and_then(|outputs| get(get(get(outputs, &output.name)?, "expression")?, "references"));
                    let mut levels = way.levels.to_vec();
                    levels.push(inner);
                    let next = Way { levels: &levels, key: way.key, of: None, depth: way.depth + 1 };
                    if let Some(references) = references {
                        self.follow(&next, references, found, steps);
                    }
                }
                [data, of, name, ..] if data.name == "data" => {
                    self.found(level, &format!("data.{}", of.name), name, way.key, found);
                }
                [of, name, ..] if of.name.contains('_') => self.found(level, &of.name, name, way.key, found),
                _ => {}
            }
        }
    }

    /// The instance that is meant: the one that is named, the only one, or the one with the same key.
    fn found(&self, level: &Level<'p>, kind: &str, name: &Segment, key: Option<&str>, found: &mut Vec<Reference>) {
        const AROUND: [&str; 3] = ["data.aws_caller_identity", "data.aws_region", "data.aws_partition"];
        if AROUND.contains(&kind) {
            return;
        }
        let planned = self.planned.get(&(level.address.as_str(), kind.to_owned(), name.name.as_str()));
        let address = match planned.map(Vec::as_slice) {
            // Data that was read while planning is not among what is planned.
            None if kind.starts_with("data.") => {
                let prefix = if level.address.is_empty() { String::new() } else { format!("{}.", level.address) };
                format!("{prefix}{kind}.{}", name.name)
            }
            None => return,
            Some(instances) => {
                let wanted = name.key.as_deref();
                let instance = match (wanted, instances) {
                    (Some(_), _) => instances.iter().find(|(key, _)| *key == wanted),
                    (None, [only]) => Some(only),
                    (None, _) => instances.iter().find(|(other, _)| key.is_some() && *other == key),
                };
                match instance {
                    Some((_, address)) => (*address).to_owned(),
                    None => return,
                }
            }
        };
        if found.iter().all(|other| *other.address != *address) {
            found.push(Reference { address: Rc::from(address), kind: Rc::from(kind), attribute: Some(Rc::from("arn")) });
        }
    }
}

fn wanted(attribute: &str) -> &'static [&'static str] {
    match attribute {
        "event_source_arn" | "queue_url" => &["aws_sqs_queue", "data.aws_sqs_queue"],
        "function_name" => &["aws_lambda_function", "data.aws_lambda_function"],
        "role" => &["aws_iam_role", "data.aws_iam_role"],
        "policy_arn" => &["aws_iam_policy"],
        "policy" => &["data.aws_iam_policy_document"],
        _ => &["archive_file", "data.archive_file"],
    }
}

fn child<'p>(level: &Level<'p>, named: &Segment) -> Option<Level<'p>> {
    let call = get(get(level.node, "module_calls")?, &named.name)?;
    let node = get(call, "module")?;
    let key = named.key.as_ref().map_or_else(String::new, |key| {
        let is_number = get(call, "count_expression").is_some();
        if is_number { format!("[{key}]") } else { format!("[\"{key}\"]") }
    });
    let address = format!("{}{key}", below(&level.address, &named.name));
    let path = below(&level.path, &named.name);
    matches!(node.value, Value::Mapping(_)).then(|| Level { address, path, node, call: Some(call), key: named.key.clone() })
}

fn below(module: &str, name: &str) -> String {
    if module.is_empty() { format!("module.{name}") } else { format!("{module}.module.{name}") }
}

/// The parts of an address; dots in keys do not part it.
fn segments(address: &str) -> Vec<Segment> {
    let mut segments = Vec::new();
    let mut name = String::new();
    let mut key: Option<String> = None;
    let mut letters = address.chars();
    while let Some(letter) = letters.next() {
        match letter {
            '.' => segments.push(Segment { name: std::mem::take(&mut name), key: key.take() }),
            '[' => key = Some(read_key(&mut letters)),
            letter => name.push(letter),
        }
    }
    if !name.is_empty() {
        segments.push(Segment { name, key });
    }
    segments
}

/// A key up to its closing bracket, without its quotes.
fn read_key(letters: &mut std::str::Chars<'_>) -> String {
    let mut key = String::new();
    let mut quoted = false;
    while let Some(letter) = letters.next() {
        match letter {
            '"' => quoted = !quoted,
            '\\' if quoted => key.extend(letters.next()),
            ']' if !quoted => break,
            letter => key.push(letter),
        }
    }
    key
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_parted_at_dots_outside_of_keys() {
        let parts: Vec<(String, Option<String>)> = segments(r#"module.a["x.\"y"].aws_sqs_queue.q[0].arn"#)
            .into_iter()
            .map(|segment| (segment.name, segment.key))
            .collect();
        let expected = [("module", None), ("a", Some("x.\"y")), ("aws_sqs_queue", None), ("q", Some("0")), ("arn", None)];
        assert_eq!(parts, expected.map(|(name, key)| (name.to_owned(), key.map(str::to_owned))));
        assert!(segments("").is_empty());
    }
}
