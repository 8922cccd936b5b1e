//! Evaluation of expressions: literals, names, attributes, operators and dictionaries.

use std::rc::Rc;

use tree_sitter::Node;

use super::files::Name;
use super::program::Program;
use super::scope::children;
use super::value::{At, Dict, Entry, Held, Instance, Span, Traced, Unknown, Value};

const MOST_ENTRIES: usize = 256;
const LONGEST_TEXT: usize = 2_000;

impl<'t> Program<'t> {
    pub(super) fn expression(&self, at: &At<'t>) -> Traced<'t> {
        let node = at.node;
        let inner = |node: Node<'t>| At { node, ..at.clone() };
        let field = |name: &str| node.child_by_field_name(name).map(inner);
        match node.kind() {
            "integer" | "float" => match number(self.text(node, at.scope)) {
                Some(number) => self.traced(Value::Number(number), at),
                None => self.unknown(at, "a number out of range".to_owned()),
            },
            "true" | "false" => self.traced(Value::Bool(node.kind() == "true"), at),
            "none" => self.traced(Value::Nothing, at),
            "string" | "concatenated_string" => self.string(at),
            "identifier" => self.name(at),
            "attribute" => match (field("object"), node.child_by_field_name("attribute")) {
                (Some(object), Some(name)) => {
                    let name = self.text(name, at.scope);
                    self.attribute(&self.eval(&object), name, at)
                }
                _ => self.other(at),
            },
            "subscript" => match (field("value"), field("subscript")) {
                (Some(object), Some(key)) => self.subscript(&self.eval(&object), &key, at),
                _ => self.other(at),
            },
            "call" => self.call(at),
            "await" | "parenthesized_expression" | "as_pattern" | "type" | "yield" => match node.named_child(0).map(inner) {
                Some(inner) => self.eval(&inner),
                None => self.other(at),
            },
            "named_expression" => field("value").map_or_else(|| self.other(at), |value| self.eval(&value)),
            "dictionary" => {
                let dict = self.dictionary(children(node).into_iter().map(inner));
                self.traced(Value::Dict(Rc::new(dict)), at)
            }
            "binary_operator" => match (field("left"), field("right"), node.child_by_field_name("operator")) {
                (Some(left), Some(right), Some(operator)) => {
                    let (left, right) = (self.eval(&left), self.eval(&right));
                    self.arithmetic(&left, operator.kind(), &right, at)
                }
                _ => self.other(at),
            },
            "unary_operator" => {
                let argument = field("argument").map(|argument| self.eval(&argument));
                let sign = node.child_by_field_name("operator").map_or("", |operator| operator.kind());
                match (argument.map(|argument| argument.value), sign) {
                    (Some(Value::Number(number)), "-") => self.traced(Value::Number(-number), at),
                    (Some(Value::Number(number)), "+") => self.traced(Value::Number(number), at),
                    (Some(value @ Value::Unknown(_)), _) => self.traced(value, at),
                    _ => self.other(at),
                }
            }
            "boolean_operator" => match (field("left"), field("right"), node.child_by_field_name("operator")) {
                (Some(left), Some(right), Some(operator)) => {
                    let left = self.eval(&left);
                    let first = operator.kind() == "or";
                    match left.value.truth() {
                        Some(truth) if truth == first => left,
                        Some(_) => self.eval(&right),
                        None if first => self.or(left, &right, at),
                        None => self.other(at),
                    }
                }
                _ => self.other(at),
            },
            "conditional_expression" => match children(node).as_slice() {
                [yes, condition, no] => match self.eval(&inner(*condition)).value.truth() {
                    Some(true) => self.eval(&inner(*yes)),
                    Some(false) => self.eval(&inner(*no)),
                    None => self.union(vec![self.eval(&inner(*yes)), self.eval(&inner(*no))], at),
                },
                _ => self.other(at),
            },
            "lambda" => match self.all.by_node.get(&(self.all.list[at.scope].module, node.id())) {
                Some(scope) => self.traced(Value::Function(*scope, None), at),
                None => self.other(at),
            },
            _ => self.other(at),
        }
    }

    fn described(&self, at: &At<'t>) -> String {
        let name = self.dotted(at.node, at.scope);
        if name == "..." { "an expression that is not followed".to_owned() } else { format!("`{name}`") }
    }

    fn other(&self, at: &At<'t>) -> Traced<'t> {
        self.unknown(at, self.described(at))
    }

    /// Why what a value holds is not known.
    pub(super) fn reason(&self, value: &Traced<'t>, at: &At<'t>) -> Rc<Unknown> {
        match &value.value {
            Value::Unknown(unknown) => Rc::clone(unknown),
            Value::Library(path) => self.why(at, format!("`{path}` is not in the files that were read")),
            Value::Made(made) => self.why(at, format!("what `{}()` returns", made.path)),
            Value::Any(_) => self.why(at, format!("`{}` has one of several values", self.dotted(at.node, at.scope))),
            _ => self.why(at, self.described(at)),
        }
    }

    /// `left or right`, where it is not known whether left has a value.
    fn or(&self, left: Traced<'t>, right: &At<'t>, at: &At<'t>) -> Traced<'t> {
        match left.value {
            // What it may be: those that have a value, or the right side.
            Value::Any(members) => {
                let mut values: Vec<_> = members.iter().filter(|member| member.value.truth() != Some(false)).cloned().collect();
                if values.len() < members.len() {
                    values.push(self.eval(right));
                }
                self.union(values, at)
            }
            _ => self.union(vec![left, self.eval(right)], at),
        }
    }

    fn string(&self, at: &At<'t>) -> Traced<'t> {
        let mut text = String::new();
        let mut parts: Vec<Node<'t>> = children(at.node);
        if at.node.kind() == "concatenated_string" {
            parts = parts.into_iter().flat_map(children).collect();
        }
        for part in parts {
            match part.kind() {
                "string_content" => text.push_str(self.text(part, at.scope)),
                "interpolation" => {
                    let expression = part.child_by_field_name("expression");
                    let value = expression.map(|node| self.eval(&At { node, ..at.clone() }).value);
                    match value {
                        Some(Value::Text(inner)) if part.named_child_count() == 1 => text.push_str(&inner),
                        Some(Value::Unknown(unknown)) => return self.starting(&text, &unknown, at),
                        _ => return self.starting(&text, &self.why(at, self.described(at)), at),
                    }
                }
                _ => {}
            }
            if text.len() > LONGEST_TEXT {
                return self.unknown(at, "a long text".to_owned());
            }
        }
        self.traced(Value::Text(Rc::from(text)), at)
    }

    /// A text of which only the beginning is known.
    fn starting(&self, text: &str, rest: &Unknown, at: &At<'t>) -> Traced<'t> {
        let starts = format!("{text}{}", rest.starts.as_deref().unwrap_or(""));
        let unknown = Unknown { unresolved: rest.unresolved.clone(), starts: Some(Rc::from(starts)) };
        self.traced(Value::Unknown(Rc::new(unknown)), at)
    }

    pub(super) fn attribute(&self, object: &Traced<'t>, name: &str, at: &At<'t>) -> Traced<'t> {
        let library = |path: String| self.traced(Value::Library(Rc::from(path)), at);
        match &object.value {
            Value::Library(path) => library(format!("{path}.{name}")),
            Value::Made(made) => library(format!("{}().{name}", made.path)),
            Value::Module(from, level, dotted) => self.module_member(*from, &Name { level: *level, dotted }, name, at),
            Value::Class(class) => {
                let object = Rc::new(Instance { class: *class, env: None });
                self.instance_member(&object, name, at)
            }
            Value::Instance(instance) => self.instance_member(instance, name, at),
            Value::Any(members) => {
                let present = members.iter().filter(|member| !matches!(member.value, Value::Nothing));
                let values = present.filter_map(|member| self.deeper(|| self.attribute(member, name, at))).collect();
                self.union(values, at)
            }
            // Of an enumeration's member.
            Value::Number(_) | Value::Text(_) if name == "value" => object.clone(),
            Value::Unknown(unknown) => self.traced(Value::Unknown(Rc::clone(unknown)), at),
            _ => self.other(at),
        }
    }

    fn subscript(&self, object: &Traced<'t>, key: &At<'t>, at: &At<'t>) -> Traced<'t> {
        let key = self.eval(key).value;
        match (&object.value, key) {
            (Value::Library(path), Value::Text(name)) if &**path == "os.environ" => self.environment(&name, at),
            (Value::Dict(dict), Value::Text(name)) => match (dict.get(&name), &dict.open) {
                (Some(entry), _) => self.held(&entry.value),
                (None, Some(open)) => self.traced(Value::Unknown(Rc::clone(open)), at),
                (None, None) => self.other(at),
            },
            (Value::Unknown(_) | Value::Library(_) | Value::Made(_), _) => {
                self.traced(Value::Unknown(self.reason(object, at)), at)
            }
            _ => self.other(at),
        }
    }

    pub(super) fn environment(&self, name: &str, at: &At<'t>) -> Traced<'t> {
        let short: String = name.chars().filter(|c| !c.is_control()).take(64).collect();
        self.unknown(at, format!("environment variable `{short}`"))
    }

    pub(super) fn held(&self, held: &Held<'t>) -> Traced<'t> {
        match held {
            Held::At(at) => self.eval(at),
            Held::Value(value) => value.clone(),
        }
    }

    /// A dictionary out of pairs, keyword arguments and expansions.
    pub(super) fn dictionary(&self, parts: impl Iterator<Item = At<'t>>) -> Dict<'t> {
        let mut dict = Dict::default();
        for part in parts {
            if dict.entries.len() >= MOST_ENTRIES {
                dict.open = Some(self.why(&part, self.described(&part)));
                break;
            }
            let field = |name: &str| part.node.child_by_field_name(name);
            match part.node.kind() {
                "pair" => {
                    let (Some(key), Some(value)) = (field("key"), field("value")) else { continue };
                    let key_at = At { node: key, ..part.clone() };
                    let key = self.eval(&key_at);
                    match key.value {
                        Value::Text(key) => self.put(&mut dict, key, &part, value),
                        Value::Number(_) => {}
                        _ => dict.open = Some(self.reason(&key, &key_at)),
                    }
                }
                "keyword_argument" => {
                    let (Some(name), Some(value)) = (field("name"), field("value")) else { continue };
                    self.put(&mut dict, Rc::from(self.text(name, part.scope)), &part, value);
                }
                "dictionary_splat" => {
                    let Some(node) = part.node.named_child(0) else { continue };
                    let inner = At { node, ..part.clone() };
                    let expanded = self.eval(&inner);
                    match &expanded.value {
                        Value::Dict(other) => {
                            for entry in &other.entries {
                                let mut entry = entry.clone();
                                entry.place = followed(&entry, self.span(part.node, part.scope));
                                dict.set(entry);
                            }
                            if let Some(open) = &other.open {
                                dict.open = Some(Rc::clone(open));
                            }
                        }
                        _ => dict.open = Some(self.reason(&expanded, &inner)),
                    }
                }
                "ERROR" => dict.open = Some(self.why(&part, self.described(&part))),
                _ => {}
            }
        }
        dict
    }

    fn put(&self, dict: &mut Dict<'t>, key: Rc<str>, part: &At<'t>, value: Node<'t>) {
        let place = self.span(part.node, part.scope);
        dict.set(Entry { key, place, value: Held::At(At { node: value, ..part.clone() }) });
    }

    pub(super) fn arithmetic(&self, left: &Traced<'t>, operator: &str, right: &Traced<'t>, at: &At<'t>) -> Traced<'t> {
        match (&left.value, operator, &right.value) {
            (Value::Number(a), _, Value::Number(b)) => {
                let value = match operator {
                    "+" => a + b,
                    "-" => a - b,
                    "*" => a * b,
                    "/" => a / b,
                    "//" => (a / b).floor(),
                    "%" => a - b * (a / b).floor(),
                    "**" => a.powf(*b),
                    _ => f64::NAN,
                };
                if value.is_finite() { self.traced(Value::Number(value), at) } else { self.other(at) }
            }
            (Value::Text(a), "+", Value::Text(b)) if a.len() + b.len() <= LONGEST_TEXT => {
                self.traced(Value::Text(Rc::from(format!("{a}{b}"))), at)
            }
            (Value::Text(a), "+", Value::Unknown(unknown)) if a.len() <= LONGEST_TEXT => self.starting(a, unknown, at),
            (Value::Dict(a), "|", Value::Dict(b)) => {
                let mut dict = (**a).clone();
                dict.update(b);
                self.traced(Value::Dict(Rc::new(dict)), at)
            }
            (Value::Unknown(_) | Value::Library(_) | Value::Made(_), ..) => {
                self.traced(Value::Unknown(self.reason(left, at)), at)
            }
            (.., Value::Unknown(_) | Value::Library(_) | Value::Made(_)) => {
                self.traced(Value::Unknown(self.reason(right, at)), at)
            }
            _ => self.other(at),
        }
    }
}

/// Where a setting takes its value from elsewhere: the key, or where the literal stands at the key itself, what refers to
/// the dictionary.
pub(super) fn followed(entry: &Entry<'_>, reference: Span) -> Span {
    let direct = matches!(&entry.value, Held::At(at) if is_literal(at.node));
    if direct && !reference.holds(entry.place) { reference } else { entry.place }
}

fn is_literal(node: Node<'_>) -> bool {
    matches!(node.kind(), "integer" | "float" | "string" | "none" | "true" | "false" | "unary_operator" | "binary_operator")
}

/// A number as Python writes it.
pub(super) fn number(text: &str) -> Option<f64> {
    let text: String = text.trim().chars().filter(|c| *c != '_').collect::<String>().to_ascii_lowercase();
    let radix = |digits: &str, radix| u64::from_str_radix(digits, radix).ok();
    let whole = match text.get(..2) {
        Some("0x") => radix(text.get(2..)?, 16),
        Some("0o") => radix(text.get(2..)?, 8),
        Some("0b") => radix(text.get(2..)?, 2),
        _ => return text.parse().ok().filter(|number: &f64| number.is_finite() && !text.starts_with(['i', 'n'])),
    };
    #[expect(clippy::cast_precision_loss, reason = "such a number is no length of time")]
    whole.map(|whole| whole as f64)
}
