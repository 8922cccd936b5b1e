//! Settings out of values.

use std::rc::Rc;

use super::eval::followed;
use super::program::Program;
use super::value::{Dict, Span, Traced, Unknown, Value};
use crate::engine::deployment::{Setting, State, Unresolved};

/// A setting's value with the place of the setting; `None` where it is not set.
pub(super) type Found<'t> = Option<(Traced<'t>, Option<Span>)>;

impl<'t> Program<'t> {
    /// An option of a dictionary; unknown where the dictionary may hold it unseen.
    pub(super) fn option(&self, dict: &Dict<'t>, key: &str) -> Found<'t> {
        match (dict.get(key), &dict.open) {
            (Some(entry), _) => Some((self.held(&entry.value), Some(entry.place))),
            (None, Some(open)) => Some((opened(open), None)),
            (None, None) => None,
        }
    }

    /// An option of a dictionary that is itself an option: its place is the key, or what refers to the dictionary.
    pub(super) fn inner_option(&self, dict: &Dict<'t>, key: &str, reference: Option<Span>) -> Found<'t> {
        let place = |entry| reference.map_or_else(|| None, |reference| Some(followed(entry, reference)));
        match (dict.get(key), &dict.open) {
            (Some(entry), _) => Some((self.held(&entry.value), place(entry).or(Some(entry.place)))),
            (None, Some(open)) => Some((opened(open), None)),
            (None, None) => None,
        }
    }

    pub(super) fn setting<T: PartialEq>(
        &self,
        found: Found<'t>,
        expected: &str,
        read: impl Fn(&Value<'t>) -> Option<T>,
    ) -> Setting<T> {
        let Some((value, setting)) = found else { return Setting::default() };
        let place = setting.map(|span| self.place(span));
        let members: &[Traced<'t>] = match &value.value {
            Value::Any(members) => members,
            _ => std::slice::from_ref(&value),
        };
        let value_span = value.span;
        let mut known: Option<(T, Span)> = None;
        for member in members {
            let unresolved = |why: String| Unresolved { why, give: None, place: Some(self.place(member.span)) };
            let wrong = match &member.value {
                Value::Unknown(unknown) => unknown.unresolved.clone(),
                value => match (read(value), &known) {
                    (Some(read), None) => {
                        known = Some((read, member.span));
                        continue;
                    }
                    (Some(read), Some((before, _))) if read == *before => continue,
                    (Some(_), Some(_)) => {
                        let name = self.name_at(value_span);
                        let why = name.map_or_else(
                            || "one of several values".to_owned(),
                            |name| format!("`{name}` has one of several values"),
                        );
                        Unresolved { why, give: None, place: Some(self.place(value_span)) }
                    }
                    (None, _) => unresolved(match value {
                        Value::Library(path) => format!("`{path}` is not in the files that were read"),
                        Value::Made(made) => format!("what `{}()` returns", made.path),
                        _ => format!("expected {expected}"),
                    }),
                },
            };
            return Setting::unresolved(wrong, place);
        }
        match known {
            Some((known, span)) => {
                let literal = self.place(span);
                let setting = place.unwrap_or_else(|| literal.clone());
                Setting::written(known, literal, setting)
            }
            None => Setting::default(),
        }
    }

    /// The name that stands at a place, if it is one.
    fn name_at(&self, span: Span) -> Option<&'t str> {
        let text = self.files.parsed.get(span.module)?.file.text.get(span.start..span.end)?;
        let is_name = text.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '.'));
        (is_name && text.starts_with(|c: char| c.is_alphabetic() || c == '_')).then_some(text)
    }

    pub(super) fn number(&self, found: Found<'t>) -> Setting<f64> {
        let number = |value: &Value<'t>| match value {
            Value::Number(number) => Some(*number),
            _ => None,
        };
        self.setting(not_nothing(found), "a number", number)
    }

    pub(super) fn text_setting(&self, found: Found<'t>) -> Setting<String> {
        let text = |value: &Value<'t>| match value {
            Value::Text(text) => Some(text.to_string()),
            _ => None,
        };
        self.setting(not_nothing(found), "a text", text)
    }

    /// Seconds; `None` waits for ever.
    pub(super) fn seconds(&self, found: Found<'t>) -> Setting<Option<f64>> {
        self.setting(found, "a number of seconds", |value| match value {
            Value::Number(number) if *number > 0.0 => Some(Some(*number)),
            Value::Nothing => Some(None),
            _ => None,
        })
    }

    /// A count of attempts, out of one that leaves out the first `uncounted` of them.
    pub(super) fn count(&self, found: Found<'t>, uncounted: u32) -> Setting<Vec<u32>> {
        self.setting(not_nothing(found), "a whole number of attempts", |value| match value {
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "in range, and whole")]
            Value::Number(number) if (0.0..=10_000.0).contains(number) && number.fract() == 0.0 => {
                Some(vec![(*number as u32 + uncounted).max(1)])
            }
            _ => None,
        })
    }
}

/// `None` as an argument is one that is not given.
pub(super) fn not_nothing(found: Found<'_>) -> Found<'_> {
    found.filter(|(value, _)| !matches!(value.value, Value::Nothing))
}

/// One setting out of what several branches say.
pub(super) fn joined<T: PartialEq>(settings: Vec<Setting<T>>) -> Setting<T> {
    let mut settings = settings.into_iter();
    let Some(first) = settings.next() else { return Setting::default() };
    let same = |a: &Setting<T>, b: &Setting<T>| match (&a.state, &b.state) {
        (State::Known(a), State::Known(b)) => a.value == b.value,
        (State::Unset, State::Unset) => true,
        _ => false,
    };
    let mut all = first;
    for other in settings {
        all = match (&all.state, &other.state) {
            (State::Unresolved(_), _) => all,
            (_, State::Unresolved(_)) => other,
            _ if same(&all, &other) => all,
            _ => {
                let place = all.place.clone().or_else(|| other.place.clone());
                let unresolved = Unresolved { why: "it depends on a branch".to_owned(), give: None, place: place.clone() };
                Setting::unresolved(unresolved, place)
            }
        };
    }
    all
}

fn opened<'t>(open: &Rc<Unknown>) -> Traced<'t> {
    let span = Span { module: 0, start: 0, end: 0 };
    Traced { value: Value::Unknown(Rc::clone(open)), span }
}
