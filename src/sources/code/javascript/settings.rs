//! Settings out of looked-up options.

use super::lookup::Lookup;
use super::program::{Program, Spot, returns};
use super::value::{Found, Value};
use crate::engine::deployment::{Setting, State, Unresolved};
use crate::engine::fact::{Fact, Source};

impl<'t> Program<'t> {
    /// A setting out of an option: unset where it is not there, unresolved where it is and cannot be read.
    pub(super) fn setting<T>(&self, lookup: &Lookup<'t>, expected: &str, read: impl Fn(&Found<'t>) -> Option<T>) -> Setting<T> {
        let place = lookup.key().map(|key| self.place(key));
        let found = match lookup {
            Lookup::Absent => return Setting::default(),
            Lookup::Entry { value, .. } => self.evaluate(*value),
            Lookup::Value(found) | Lookup::Unknown(found) => found.clone(),
        };
        let unresolved = |why: String| {
            let at = if matches!(lookup, Lookup::Entry { .. }) { place.clone() } else { None };
            let at = at.or_else(|| Some(self.place(found.spot)));
            Setting::unresolved(Unresolved { why, give: None, place: at }, place.clone())
        };
        match (&found.value, read(&found)) {
            (_, Some(value)) => {
                let source = Source::Written(self.place(found.spot));
                Setting { state: State::Known(Fact::new(value, source)), place }
            }
            (Value::Nothing, None) => Setting::default(),
            (Value::Text(_) | Value::Number(_) | Value::Bool(_) | Value::Object, None) => {
                unresolved(format!("expected {expected}"))
            }
            _ => unresolved(found.why()),
        }
    }

    /// A number; a function without arguments stands for what it returns.
    pub(super) fn number(&self, lookup: &Lookup<'t>) -> Setting<f64> {
        let called = |found: &Found<'t>| match (&found.value, returns(found.spot.node).as_slice()) {
            (Value::Function, [only]) => {
                Some(Lookup::Entry { key: lookup.key().unwrap_or(found.spot), value: found.spot.at(*only) })
            }
            _ => None,
        };
        let inner = match lookup {
            Lookup::Entry { value, .. } => called(&self.evaluate(*value)),
            _ => None,
        };
        self.setting(inner.as_ref().unwrap_or(lookup), "a number", |found| match found.value {
            Value::Number(number) => Some(number),
            _ => None,
        })
    }

    pub(super) fn text_setting(&self, lookup: &Lookup<'t>) -> Setting<String> {
        self.setting(lookup, "a text", |found| match &found.value {
            Value::Text(text) => Some(text.clone()),
            _ => None,
        })
    }

    pub(super) fn boolean(&self, lookup: &Lookup<'t>) -> Setting<bool> {
        self.setting(lookup, "true or false", |found| match found.value {
            Value::Bool(value) => Some(value),
            _ => None,
        })
    }

    /// An option of a call's or constructor's argument.
    pub(super) fn option(&self, call: Spot<'t>, index: usize, key: &str) -> Lookup<'t> {
        match super::syntax::argument(call.node, index) {
            Some(node) => self.lookup(call.at(node), key),
            None => Lookup::Absent,
        }
    }
}

/// The same setting with another value.
pub(super) fn map<T, U>(setting: Setting<T>, change: impl FnOnce(T) -> U) -> Setting<U> {
    let state = match setting.state {
        State::Known(fact) => State::Known(fact.map(change)),
        State::Unset => State::Unset,
        State::Unresolved(unresolved) => State::Unresolved(unresolved),
    };
    Setting { state, place: setting.place }
}

/// An argument of a call, as what is looked up.
pub(super) fn given(call: Spot<'_>, index: usize) -> Lookup<'_> {
    match super::syntax::argument(call.node, index) {
        Some(node) => Lookup::Entry { key: call.at(node), value: call.at(node) },
        None => Lookup::Absent,
    }
}
