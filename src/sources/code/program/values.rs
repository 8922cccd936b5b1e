//! Values of expressions: numbers, durations in seconds, texts; each with the literal that it comes from.

use super::chains::Step;
use super::{Id, Kind, Program};
use crate::engine::deployment::{Setting, State, Unresolved};
use crate::engine::fact::{Fact, Place, Source};

/// Operands inside each other.
const DEPTH: usize = 24;

/// A value and the literal that gives it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Literal<T> {
    pub(crate) value: T,
    pub(crate) place: Place,
}

impl<T> Literal<T> {
    pub(crate) fn setting(self, place: Place) -> Setting<T> {
        Setting::written(self.value, self.place, place)
    }
}

/// How a language writes durations.
pub(crate) struct Durations {
    /// Types that make them: `Duration`, `TimeSpan`.
    pub(crate) types: &'static [&'static str],
    /// Their functions, and the seconds of one.
    pub(crate) functions: &'static [(&'static str, f64)],
    /// Units as constants: `time.Second`, `ChronoUnit.SECONDS`.
    pub(crate) units: &'static [(&'static str, f64)],
    /// Seconds of a bare number, where a duration may be one.
    pub(crate) bare: Option<f64>,
    /// Constants without end: `InfiniteTimeSpan`.
    pub(crate) endless: &'static [&'static str],
}

/// A number under way: a unit carries no literal of its own.
#[derive(Clone)]
struct Amount {
    value: f64,
    place: Place,
    unit: bool,
    only_unit: bool,
}

impl Program {
    /// The number that an expression gives.
    pub(crate) fn number(&self, id: Id) -> Result<Literal<f64>, Unresolved> {
        let amount = self.amount(id, &[], 0)?;
        Ok(Literal { value: amount.value, place: amount.place })
    }

    /// The seconds that an expression gives; `None` is without end.
    pub(crate) fn duration(&self, id: Id, how: &Durations) -> Result<Literal<Option<f64>>, Unresolved> {
        let target = self.follow(id).map_err(|why| self.unresolved(id, why))?;
        let endless = |name: &str| how.endless.contains(&name);
        match self.kind(target) {
            Kind::Member { name, .. } if endless(&name.text) => {
                return Ok(Literal { value: None, place: self.place(target) });
            }
            Kind::Call { object: Some(object), name, arguments } => {
                let made = matches!(self.kind(*object), Kind::Name(of) | Kind::Member { name: super::Word { text: of, .. }, .. }
                    if how.types.contains(&super::names::bare(of)));
                if made {
                    return self.made(target, &name.text, arguments, how);
                }
            }
            Kind::New { of, arguments, .. } if how.types.contains(&super::names::bare(of)) => {
                return self.made(target, "new", arguments, how);
            }
            _ => {}
        }
        let Some(bare) = how.bare else { return Err(self.unfollowed(target)) };
        let amount = self.amount(id, how.units, 0)?;
        let value = if amount.unit { amount.value } else { amount.value * bare };
        Ok(Literal { value: Some(value), place: amount.place })
    }

    /// A duration by a function of its type.
    fn made(&self, at: Id, name: &str, arguments: &[Id], how: &Durations) -> Result<Literal<Option<f64>>, Unresolved> {
        let factor = how.functions.iter().find(|(function, _)| *function == name).map(|(_, factor)| *factor);
        match (arguments, factor) {
            ([amount], Some(factor)) => {
                let number = self.number(*amount)?;
                Ok(Literal { value: Some(number.value * factor), place: number.place })
            }
            // `Duration.of(60, ChronoUnit.SECONDS)`.
            ([amount, unit], None) if name == "of" => {
                let unit = self.amount(*unit, how.units, 0)?;
                let number = self.number(*amount)?;
                Ok(Literal { value: Some(number.value * unit.value), place: number.place })
            }
            // Rust: seconds and nanoseconds.
            ([seconds, nanos], None) if name == "new" => {
                let (seconds, nanos) = (self.number(*seconds)?, self.number(*nanos)?);
                Ok(Literal { value: Some(seconds.value + nanos.value / 1e9), place: seconds.place })
            }
            // C#: hours, minutes, seconds; days before them.
            ([.., _, _, _], None) if name == "new" && arguments.len() <= 4 => {
                let mut total = 0.0;
                for (&argument, scale) in arguments.iter().rev().zip([1.0, 60.0, 3600.0, 86400.0]) {
                    total += self.number(argument)?.value * scale;
                }
                let first = self.node(arguments[0]).span.start;
                let last = arguments.last().map_or(first, |&last| self.node(last).span.end);
                Ok(Literal { value: Some(total), place: self.place_of(at, &(first..last)) })
            }
            ([text], None) if matches!(name, "parse" | "Parse") => {
                let text = self.text(*text)?;
                match iso_seconds(&text.value).or_else(|| clock_seconds(&text.value)) {
                    Some(seconds) => Ok(Literal { value: Some(seconds), place: text.place }),
                    None => Err(self.unfollowed(at)),
                }
            }
            _ => Err(self.unfollowed(at)),
        }
    }

    fn amount(&self, id: Id, units: &[(&str, f64)], depth: usize) -> Result<Amount, Unresolved> {
        let target = self.follow(id).map_err(|why| self.unresolved(id, why))?;
        let place = self.place(target);
        match self.kind(target) {
            Kind::Number(value) => Ok(Amount { value: *value, place, unit: false, only_unit: false }),
            Kind::Member { name, .. } => match units.iter().find(|(unit, _)| *unit == name.text) {
                Some((_, seconds)) => Ok(Amount { value: *seconds, place, unit: true, only_unit: true }),
                None => Err(self.unfollowed(target)),
            },
            Kind::Binary { operator, left, right } if depth < DEPTH => {
                let (left, right) = (self.amount(*left, units, depth + 1)?, self.amount(*right, units, depth + 1)?);
                let value = match operator.as_str() {
                    "*" => left.value * right.value,
                    "/" if right.value != 0.0 => left.value / right.value,
                    "+" => left.value + right.value,
                    "-" => left.value - right.value,
                    _ => return Err(self.unfollowed(target)),
                };
                let place = match (left.only_unit, right.only_unit) {
                    (false, true) => left.place,
                    (true, false) => right.place,
                    _ => place,
                };
                let only_unit = left.only_unit && right.only_unit;
                Ok(Amount { value, place, unit: left.unit || right.unit, only_unit })
            }
            _ => Err(self.unfollowed(target)),
        }
        .and_then(|amount| if amount.value.is_finite() { Ok(amount) } else { Err(self.unfollowed(target)) })
    }

    /// The text that an expression gives.
    pub(crate) fn text(&self, id: Id) -> Result<Literal<String>, Unresolved> {
        self.text_at(id, 0)
    }

    fn text_at(&self, id: Id, depth: usize) -> Result<Literal<String>, Unresolved> {
        let target = self.follow(id).map_err(|why| self.unresolved(id, why))?;
        match self.kind(target) {
            Kind::Text(text) => Ok(Literal { value: text.clone(), place: self.place(target) }),
            Kind::Binary { operator, left, right } if operator == "+" && depth < DEPTH => {
                let (left, right) = (self.text_at(*left, depth + 1)?, self.text_at(*right, depth + 1)?);
                Ok(Literal { value: left.value + &right.value, place: self.place(target) })
            }
            _ => Err(self.unfollowed(target)),
        }
    }

    /// Why an expression gives no value, in its words: no texts out of it, only names.
    pub(crate) fn unfollowed(&self, at: Id) -> Unresolved {
        let why = match self.kind(at) {
            Kind::Call { name, .. } => format!("`{}(...)` gives it when the program runs", self.path(at, &name.text)),
            Kind::Name(name) => format!("`{name}` is not in the files that were read"),
            Kind::Member { name, .. } => format!("`{}` is not in the files that were read", self.path(at, &name.text)),
            Kind::If { .. } => "it depends on a condition".to_owned(),
            _ => "it is worked out when the program runs".to_owned(),
        };
        self.unresolved(at, why)
    }

    /// `os.Getenv`: the name with the name before it.
    fn path(&self, at: Id, name: &str) -> String {
        let object = match self.kind(at) {
            Kind::Call { object: Some(object), .. } | Kind::Member { object, .. } => *object,
            _ => return name.to_owned(),
        };
        match self.kind(object) {
            Kind::Name(of) => format!("{of}.{name}"),
            Kind::Call { name: of, .. } | Kind::Member { name: of, .. } => format!("{}.{name}", of.text),
            _ => name.to_owned(),
        }
    }

    /// Where a step's setting stands: its name.
    pub(crate) fn step_place(&self, step: &Step) -> Place {
        self.place_of(step.at, &step.name.span)
    }

    pub(crate) fn number_step(&self, step: Option<&Step>) -> Setting<f64> {
        self.step_setting(step, |argument| self.number(argument))
    }

    pub(crate) fn text_step(&self, step: Option<&Step>) -> Setting<String> {
        self.step_setting(step, |argument| self.text(argument))
    }

    pub(crate) fn duration_step(&self, step: Option<&Step>, how: &Durations) -> Setting<Option<f64>> {
        self.step_setting(step, |argument| self.duration(argument, how))
    }

    /// The setting of a step's one argument.
    pub(crate) fn step_setting<T>(
        &self,
        step: Option<&Step>,
        read: impl Fn(Id) -> Result<Literal<T>, Unresolved>,
    ) -> Setting<T> {
        let Some(step) = step else { return Setting::default() };
        let place = self.step_place(step);
        match step.arguments.first().map(|&argument| read(argument)) {
            Some(Ok(literal)) => literal.setting(place),
            Some(Err(unresolved)) => Setting::unresolved(unresolved, Some(place)),
            None => Setting::unresolved(self.unfollowed(step.at), Some(place)),
        }
    }

    /// Whether a step turns something on.
    pub(crate) fn truth_step(&self, step: Option<&Step>) -> bool {
        step.and_then(|step| step.arguments.first())
            .and_then(|&argument| self.follow(argument).ok())
            .is_some_and(|target| matches!(self.kind(target), Kind::Truth(true)))
    }

    /// A literal number as a fact: the size of a pool.
    pub(crate) fn fact(&self, id: Id) -> Option<Fact<f64>> {
        let number = self.number(id).ok().filter(|number| number.value >= 1.0)?;
        Some(Fact::new(number.value, Source::Written(number.place)))
    }
}

/// The same setting with another value.
pub(crate) fn map<T, U>(setting: Setting<T>, change: impl FnOnce(T) -> Option<U>) -> Setting<U> {
    let Setting { state, place } = setting;
    let state = match state {
        State::Unset => State::Unset,
        State::Unresolved(unresolved) => State::Unresolved(unresolved),
        State::Known(Fact { value, source }) => match change(value) {
            Some(value) => State::Known(Fact::new(value, source)),
            None => State::Unresolved(Unresolved { why: "out of range".to_owned(), give: None, place: place.clone() }),
        },
    };
    Setting { state, place }
}

/// Seconds of `PT1M30S`.
fn iso_seconds(text: &str) -> Option<f64> {
    let mut rest = text.strip_prefix("PT").or_else(|| text.strip_prefix("pt"))?;
    let mut total = 0.0;
    while !rest.is_empty() {
        let end = rest.find(|c: char| !(c.is_ascii_digit() || c == '.'))?;
        let (digits, tail) = rest.split_at(end);
        let scale = match tail.chars().next()? {
            'H' | 'h' => 3600.0,
            'M' | 'm' => 60.0,
            'S' | 's' => 1.0,
            _ => return None,
        };
        total += digits.parse::<f64>().ok()? * scale;
        rest = tail.get(1..)?;
    }
    Some(total)
}

/// Seconds of `00:01:30`.
fn clock_seconds(text: &str) -> Option<f64> {
    let parts: Vec<f64> = text.split(':').map(|part| part.parse().ok()).collect::<Option<_>>()?;
    match parts.as_slice() {
        [hours, minutes] => Some(hours * 3600.0 + minutes * 60.0),
        [hours, minutes, seconds] => Some(hours * 3600.0 + minutes * 60.0 + seconds),
        _ => None,
    }
}
