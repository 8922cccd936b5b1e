//! Variables: what the command line, variable files, calls and defaults give them, in that order.

use std::collections::BTreeMap;
use std::rc::Rc;

use hcl_edit::expr::{Expression, FuncCall, ObjectKey};

use super::evaluate::{Evaluator, Outcome, Scope, absorb, mistake};
use super::folder::{Parsed, parse};
use super::instance::Slot;
use super::value::{Entry, Traced, Value, from_node, with_source};
use crate::engine::deployment::Unresolved;
use crate::engine::fact::{Fact, Place, Source};
use crate::sources::iac::text::File;
use crate::sources::iac::{Given, Unreadable};
use crate::sources::tree;

/// Files and flags that give variables, read once.
#[derive(Default)]
pub(super) struct Givers {
    files: Vec<Parsed>,
    /// Out of `.tfvars.json` files.
    json: Vec<(String, Traced)>,
    /// The name, the text as typed, and what it is as an expression.
    flags: Vec<(String, String, Option<Parsed>)>,
}

impl Givers {
    pub(super) fn new(given: &Given, unreadable: &mut Vec<Unreadable>) -> Self {
        let mut givers = Self::default();
        for file in &given.variable_files {
            if file.path.ends_with(".json") {
                givers.read_json(file, unreadable);
                continue;
            }
            match parse(file) {
                Ok(parsed) => givers.files.push(parsed),
                Err(problem) => unreadable.push(problem),
            }
        }
        for (name, text) in &given.variables {
            let literal = parse(&File::new("", &format!("value = {text}\n"))).ok().filter(|parsed| parsed.body.len() == 1);
            givers.flags.push((name.clone(), text.clone(), literal));
        }
        givers
    }

    fn read_json(&mut self, file: &File, unreadable: &mut Vec<Unreadable>) {
        match tree::Node::parse(&file.text) {
            Ok(root) => {
                let read = from_node(&root, &mut |node| Some(file.place(&node.span)), &mut |_, _| None);
                if let Some(Value::Map(entries)) = read.map(|read| read.value) {
                    self.json.extend(entries.iter().map(|entry| (entry.key.to_string(), entry.value.clone())));
                }
            }
            Err(error) => {
                unreadable.push(Unreadable { place: file.place(&(error.at..error.at + 1)), message: error.message });
            }
        }
    }
}

/// One value that a root module is given.
enum Input<'a> {
    Written(&'a File, &'a Expression),
    Json(&'a Traced),
    /// A flag's name, its text, and the same as an expression.
    Typed(&'a str, &'a str, Option<(&'a File, &'a Expression)>),
}

/// All that a root module is given.
#[derive(Default)]
pub(super) struct Inputs<'a>(BTreeMap<&'a str, Input<'a>>);

impl<'a> Inputs<'a> {
    /// The variable files of the module's own folder, the command line's, and its flags: later ones win.
    pub(super) fn new(own: &'a [Parsed], givers: &'a Givers) -> Self {
        let mut inputs = BTreeMap::new();
        for Parsed { file, body } in own.iter().chain(&givers.files) {
            for attribute in body.attributes() {
                inputs.insert(attribute.key.as_str(), Input::Written(file, &attribute.value));
            }
        }
        for (name, value) in &givers.json {
            inputs.insert(name, Input::Json(value));
        }
        for (name, text, literal) in &givers.flags {
            let expression = literal.as_ref().and_then(|parsed| {
                let attribute = parsed.body.get_attribute("value")?;
                Some((&parsed.file, &attribute.value))
            });
            inputs.insert(name, Input::Typed(name, text, expression));
        }
        Self(inputs)
    }
}

impl<'a> Evaluator<'a> {
    pub(super) fn variable(&self, instance: usize, name: &str, place: &Place) -> Outcome {
        let missing = || mistake(format!("there is no variable `{name}`"), place.clone());
        let found = self.instance(instance).ok_or_else(missing)?;
        let (name, (file, block)) = found.folder.variables.get_key_value(name).ok_or_else(missing)?;
        let own = Scope { instance, file, bindings: None };
        let work = || {
            let body = &block.body;
            let kind = body.get_attribute("type").map(|attribute| &attribute.value);
            let default = || body.get_attribute("default").map(|attribute| self.eval(&own, &attribute.value));
            let given = match &found.call {
                Some((scope, call)) => call.body.get_attribute(name).map(|input| self.eval(scope, &input.value)),
                None => self.inputs.0.get(name).map(|input| self.input(&own, input, kind)),
            };
            let nullable = body.get_attribute("nullable").and_then(|attribute| attribute.value.as_bool()) != Some(false);
            let given = given.filter(|value| nullable || !matches!(value, Ok(Fact { value: Value::Null, .. })));
            match given.or_else(default) {
                Some(value) => Ok(match kind {
                    Some(kind) => self.convert(&own, value?, kind),
                    None => value?,
                }),
                None => Ok(absorb(Err(Rc::new(not_given(name, found.call.is_none()))))),
            }
        };
        let value = found.once(Slot::Variable, name, place, || self.strictly(false, work))?;
        Ok(match &value.value {
            // Each reference to it is a place of its own.
            Value::Unknown(unresolved) if unresolved.place.is_none() => {
                let unresolved = Unresolved { place: Some(place.clone()), ..(**unresolved).clone() };
                Fact::new(Value::Unknown(Rc::new(unresolved)), Source::Written(place.clone()))
            }
            _ => value,
        })
    }

    fn input(&self, own: &Scope<'a>, input: &Input<'a>, kind: Option<&Expression>) -> Outcome {
        match input {
            Input::Written(file, expression) => self.eval(&Scope { file, ..own.clone() }, expression),
            Input::Json(value) => Ok((*value).clone()),
            Input::Typed(name, text, expression) => {
                let source = Source::Flag(format!("--var {name}"));
                let is_text = kind.is_some_and(|kind| type_name(kind) == Some("string"));
                let read = expression
                    .filter(|(_, expression)| !is_text && is_literal(expression))
                    .and_then(|(file, expression)| self.eval(&Scope { file, ..own.clone() }, expression).ok());
                Ok(match read {
                    Some(value) => with_source(&value, &source),
                    None => Fact::new(Value::text_from(text), source),
                })
            }
        }
    }

    /// The value as the variable's type has it: with the defaults of optional attributes.
    fn convert(&self, scope: &Scope<'a>, value: Traced, kind: &Expression) -> Traced {
        let number = value.value.number();
        let converted = match (type_name(kind), &value.value) {
            (Some("number"), Value::Text(_)) => number.map(Value::Number),
            (Some("bool"), Value::Text(_)) => value.value.boolean().map(Value::Bool),
            (Some("string"), Value::Number(_) | Value::Bool(_)) => value.value.text().map(Value::Text),
            _ => None,
        };
        if let Some(converted) = converted {
            return Fact::new(converted, value.source);
        }
        self.charge(1);
        let Some(call) = constructor(kind).filter(|_| !self.is_exhausted()) else { return value };
        let inner = call.args.iter().next();
        let converted = match (call.name.name.as_str(), &value.value, inner) {
            ("list" | "set", Value::List(items), Some(inner)) => {
                Value::list(items.iter().map(|item| self.convert(scope, item.clone(), inner)).collect())
            }
            ("map", Value::Map(entries), Some(inner)) => {
                let convert = |entry: &Entry| Entry { value: self.convert(scope, entry.value.clone(), inner), ..entry.clone() };
                Value::map(entries.iter().map(convert).collect())
            }
            ("object", Value::Map(entries), Some(Expression::Object(members))) => {
                let mut entries = entries.to_vec();
                for (key, kind) in members {
                    let ObjectKey::Ident(key) = key else { continue };
                    self.convert_member(scope, &mut entries, key.as_str(), kind.expr(), &value.source);
                }
                Value::map(entries)
            }
            ("optional", _, Some(inner)) => return self.convert(scope, value, inner),
            _ => return value,
        };
        Fact::new(converted, value.source)
    }

    fn convert_member(&self, scope: &Scope<'a>, entries: &mut Vec<Entry>, key: &str, kind: &Expression, source: &Source) {
        let at = entries.iter().position(|entry| &*entry.key == key);
        let optional = constructor(kind).filter(|call| call.name.name.as_str() == "optional");
        let default = || optional.and_then(|call| call.args.get(1)).map(|default| self.value(scope, default));
        match at.and_then(|at| entries.get_mut(at)) {
            Some(entry) => {
                let given = if entry.value.value == Value::Null { default() } else { None };
                entry.value = self.convert(scope, given.unwrap_or_else(|| entry.value.clone()), kind);
            }
            None => {
                let value = match default() {
                    Some(default) => self.convert(scope, default, kind),
                    None if optional.is_some() => Fact::new(Value::Null, source.clone()),
                    None => return,
                };
                entries.push(Entry { key: Rc::from(key), place: None, value });
            }
        }
    }
}

fn not_given(name: &str, is_root: bool) -> Unresolved {
    let (why, give) = if is_root {
        (format!("variable `{name}` has no default and is not given"), Some(format!("--var {name}=...")))
    } else {
        (format!("variable `{name}` has no default and the call of the module does not set it"), None)
    };
    Unresolved { why, give, place: None }
}

/// Whether an expression on the command line says its value itself; words without quotes are text.
fn is_literal(expression: &Expression) -> bool {
    match expression {
        Expression::Null(_) | Expression::Bool(_) | Expression::Number(_) | Expression::String(_) => true,
        Expression::Array(items) => items.iter().all(is_literal),
        Expression::Object(object) => object.iter().all(|(_, value)| is_literal(value.expr())),
        _ => false,
    }
}

/// `number`, also in the quotes of old versions.
fn type_name(kind: &Expression) -> Option<&str> {
    match kind {
        Expression::Variable(name) => Some(name.as_str()),
        Expression::String(text) => Some(text.value()),
        _ => None,
    }
}

fn constructor(kind: &Expression) -> Option<&FuncCall> {
    match kind {
        Expression::FuncCall(call) => Some(call),
        _ => None,
    }
}
