//! Values while a configuration is evaluated: as shared values, with the places of keys and with references.

use std::ops::Deref;
use std::rc::Rc;

use crate::engine::deployment::{Setting, Unresolved};
use crate::engine::fact::{Fact, Place, Source};
use crate::sources::iac::value;
use crate::sources::tree;

/// A value and where it came from.
pub(super) type Traced = Fact<Value>;

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Value {
    Null,
    Bool(bool),
    Number(f64),
    Text(Rc<str>),
    List(Shared<Traced>),
    Map(Shared<Entry>),
    Reference(Reference),
    Unknown(Rc<Unresolved>),
}

/// Members, with how deep they nest.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Shared<T> {
    height: u16,
    members: Rc<[T]>,
}

impl<T> Deref for Shared<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        &self.members
    }
}

/// Values that nest deeper are unknown: recursion has to end.
const DEEPEST: u16 = 120;

/// A member of a map, or an attribute or block of a resource.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Entry {
    pub(super) key: Rc<str>,
    pub(super) place: Option<Place>,
    pub(super) value: Traced,
}

/// What exists only after apply: a resource, a data source or a registry module, or an attribute of it.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Reference {
    /// `module.lanes.aws_sqs_queue.lane["slow"]`.
    pub(super) address: Rc<str>,
    /// `aws_sqs_queue`, `data.aws_sqs_queue`, `module`.
    pub(super) kind: Rc<str>,
    /// The whole of it where none is named.
    pub(super) attribute: Option<Rc<str>>,
}

impl Reference {
    pub(super) fn unresolved(&self, place: Option<Place>) -> Unresolved {
        let attribute = self.attribute.as_ref().map_or_else(String::new, |attribute| format!(".{attribute}"));
        Unresolved { why: format!("`{}{attribute}` is known only after apply", self.address), give: None, place }
    }
}

impl Value {
    pub(super) fn text_from(text: &str) -> Self {
        Self::Text(Rc::from(text))
    }

    pub(super) fn unknown(why: impl Into<String>, place: Option<Place>) -> Self {
        Self::Unknown(Rc::new(Unresolved { why: why.into(), give: None, place }))
    }

    pub(super) fn map(entries: Vec<Entry>) -> Self {
        match 1 + entries.iter().map(|entry| entry.value.value.height()).max().unwrap_or(0) {
            height if height > DEEPEST => Self::unknown("it is nested too deep", None),
            height => Self::Map(Shared { height, members: Rc::from(entries) }),
        }
    }

    pub(super) fn list(items: Vec<Traced>) -> Self {
        match 1 + items.iter().map(|item| item.value.height()).max().unwrap_or(0) {
            height if height > DEEPEST => Self::unknown("it is nested too deep", None),
            height => Self::List(Shared { height, members: Rc::from(items) }),
        }
    }

    fn height(&self) -> u16 {
        match self {
            Self::List(items) => items.height,
            Self::Map(entries) => entries.height,
            _ => 0,
        }
    }

    pub(super) fn entry(&self, key: &str) -> Option<&Entry> {
        match self {
            Self::Map(entries) => entries.iter().find(|entry| &*entry.key == key),
            _ => None,
        }
    }

    /// A member that is set: null is not.
    pub(super) fn get(&self, key: &str) -> Option<&Traced> {
        self.entry(key).map(|entry| &entry.value).filter(|value| value.value != Self::Null)
    }

    pub(super) fn number(&self) -> Option<f64> {
        match self {
            Self::Number(number) => Some(*number),
            Self::Text(text) => text.trim().parse().ok().filter(|number: &f64| number.is_finite()),
            _ => None,
        }
    }

    pub(super) fn boolean(&self) -> Option<bool> {
        match self {
            Self::Bool(value) => Some(*value),
            Self::Text(text) => match &**text {
                "true" | "1" => Some(true),
                "false" | "0" => Some(false),
                _ => None,
            },
            _ => None,
        }
    }

    pub(super) fn text(&self) -> Option<Rc<str>> {
        match self {
            Self::Text(text) => Some(Rc::clone(text)),
            Self::Number(number) => Some(Rc::from(number.to_string())),
            Self::Bool(value) => Some(Rc::from(value.to_string())),
            _ => None,
        }
    }

    /// A list's items; a block or object that stands alone is a list of one, null is an empty one.
    pub(super) fn items(&self) -> Vec<&Self> {
        match self {
            Self::List(items) => items.iter().map(|item| &item.value).collect(),
            Self::Null | Self::Unknown(_) | Self::Reference(_) => Vec::new(),
            other => vec![other],
        }
    }

    /// How much work it is to copy or print: what bounds evaluation counts.
    pub(super) fn weight(&self) -> usize {
        match self {
            Self::List(items) => items.len(),
            Self::Map(entries) => entries.len(),
            Self::Text(text) => text.len() / 16,
            _ => 0,
        }
    }

    /// A map or list out of JSON in a text; all of it stands where the text does.
    pub(super) fn from_json(text: &str, source: &Source) -> Option<Traced> {
        let node = tree::Node::parse(text).ok()?;
        let read = from_node(&node, &mut |_| None, &mut |_, _| None)?;
        matches!(read.value, Self::Map(_) | Self::List(_)).then(|| with_source(&read, source))
    }
}

/// The value of a JSON node. `place` says where a node stands; `replace` may give another value for a scalar.
pub(super) fn from_node(
    node: &tree::Node,
    place: &mut dyn FnMut(&tree::Node) -> Option<Place>,
    replace: &mut dyn FnMut(&tree::Node, Option<Place>) -> Option<Traced>,
) -> Option<Traced> {
    let at = place(node);
    if let Some(replaced) = replace(node, at.clone()) {
        return Some(replaced);
    }
    let value = match &node.value {
        tree::Value::Sequence(items) => {
            Value::list(items.iter().map(|item| from_node(item, place, replace)).collect::<Option<_>>()?)
        }
        tree::Value::Mapping(entries) => {
            let mut read = Vec::with_capacity(entries.len());
            for (key, value) in entries {
                let key_place = place(key);
                read.push(Entry { key: Rc::from(key.text()?), place: key_place, value: from_node(value, place, replace)? });
            }
            Value::map(read)
        }
        tree::Value::Scalar { text, plain } => scalar(node, text, *plain, at.clone()),
    };
    Some(Fact::new(value, written(at)))
}

fn scalar(node: &tree::Node, text: &str, plain: bool, at: Option<Place>) -> Value {
    if node.is_null() {
        return Value::Null;
    }
    if let Some(value) = node.boolean() {
        return Value::Bool(value);
    }
    match node.number() {
        Some(number) if number.is_finite() => Value::Number(number),
        Some(_) => Value::unknown("the number is too large", at),
        None if plain && text.is_empty() => Value::Null,
        None => Value::text_from(text),
    }
}

fn written(place: Option<Place>) -> Source {
    place.map_or_else(|| Source::Derived("JSON".to_owned()), Source::Written)
}

/// The same value, all of it from one source.
pub(super) fn with_source(traced: &Traced, source: &Source) -> Traced {
    let at = match source {
        Source::Written(place) => Some(place.clone()),
        _ => None,
    };
    let value = match &traced.value {
        Value::List(items) => Value::list(items.iter().map(|item| with_source(item, source)).collect()),
        Value::Map(entries) => Value::map(
            entries
                .iter()
                .map(|entry| Entry { key: Rc::clone(&entry.key), place: at.clone(), value: with_source(&entry.value, source) })
                .collect(),
        ),
        other => other.clone(),
    };
    Fact::new(value, source.clone())
}

/// The literal's place.
pub(super) fn place_of(traced: &Traced) -> Option<Place> {
    match &traced.source {
        Source::Written(place) => Some(place.clone()),
        _ => None,
    }
}

/// As the shared reader of settings takes it.
fn shared(traced: &Traced) -> value::Traced {
    let value = match &traced.value {
        Value::Null => value::Value::Null,
        Value::Bool(value) => value::Value::Bool(*value),
        Value::Number(number) => value::Value::Number(*number),
        Value::Text(text) => value::Value::Text(text.to_string()),
        Value::List(_) => value::Value::List(Vec::new()),
        Value::Map(_) => value::Value::Map(Vec::new()),
        Value::Reference(reference) => value::Value::Unresolved(reference.unresolved(place_of(traced))),
        Value::Unknown(unresolved) => value::Value::Unresolved((**unresolved).clone()),
    };
    Fact::new(value, traced.source.clone())
}

/// The setting of an entry, as a number.
pub(super) fn number(entry: Option<&Entry>) -> Setting<f64> {
    value::number_setting(entry.map(|entry| shared(&entry.value)).as_ref(), entry.and_then(|entry| entry.place.clone()))
}

pub(super) fn boolean(entry: Option<&Entry>) -> Setting<bool> {
    value::bool_setting(entry.map(|entry| shared(&entry.value)).as_ref(), entry.and_then(|entry| entry.place.clone()))
}

pub(super) fn text(entry: Option<&Entry>) -> Setting<String> {
    value::text_setting(entry.map(|entry| shared(&entry.value)).as_ref(), entry.and_then(|entry| entry.place.clone()))
}
