//! Functions: those that configurations build queues and functions with.

use std::rc::Rc;

use hcl_edit::expr::FuncCall;

use super::evaluate::{Evaluator, Outcome, Scope, mistake};
use super::operator::computed;
use super::template::Part;
use super::value::{Traced, Value};
use crate::engine::fact::{Fact, Place, Source};

impl<'a> Evaluator<'a> {
    pub(super) fn call(&self, scope: &Scope<'a>, call: &FuncCall, place: &Place) -> Outcome {
        let name = call.name.name.as_str();
        let unsupported = || {
            let why = format!("the function `{name}` is not evaluated here");
            Ok(Fact::new(Value::unknown(why, Some(place.clone())), Source::Written(place.clone())))
        };
        if call.name.is_namespaced() {
            return unsupported();
        }
        match name {
            "try" => return self.try_each(scope, call, place),
            "can" => {
                let value = match call.args.iter().next().map(|argument| self.strictly(true, || self.eval(scope, argument))) {
                    Some(Ok(Fact { value: unknown @ Value::Unknown(_), .. })) => unknown,
                    Some(outcome) => Value::Bool(outcome.is_ok()),
                    None => return Err(mistake("`can` needs an argument", place.clone())),
                };
                return Ok(Fact::new(value, Source::Written(place.clone())));
            }
            _ => {}
        }
        let arguments = self.arguments(scope, call)?;
        let first = arguments.first();
        match (name, first) {
            // The value itself, as text, or as it was before it was text.
            ("jsonencode" | "sensitive" | "nonsensitive" | "ephemeralasnull" | "tomap", Some(value)) => Ok(value.clone()),
            ("jsondecode", Some(value)) => Ok(match &value.value {
                Value::Text(text) => Value::from_json(text, &value.source).unwrap_or_else(|| value.clone()),
                _ => value.clone(),
            }),
            ("tonumber", Some(value)) => converted(value, value.value.number().map(Value::Number), place),
            ("tobool", Some(value)) => converted(value, value.value.boolean().map(Value::Bool), place),
            ("tostring", Some(value)) => match value.value {
                Value::Reference(_) => Ok(value.clone()),
                _ => converted(value, value.value.text().map(Value::Text), place),
            },
            ("abs" | "ceil" | "floor" | "signum" | "pow" | "max" | "min" | "sum" | "parseint" | "length", _) => {
                computed(number(name, &arguments), &arguments.iter().collect::<Vec<_>>(), place)
            }
            ("coalesce", _) => coalesce(&arguments, place),
            ("format", Some(_)) => self.format(&arguments, place),
            ("join", Some(_)) => self.joined(&arguments, place),
            (
                "basename" | "dirname" | "abspath" | "pathexpand" | "upper" | "lower" | "title" | "trimspace" | "trim"
                | "trimprefix" | "trimsuffix" | "replace" | "substr" | "split" | "startswith" | "endswith" | "strcontains",
                Some(_),
            ) => self.text_function(name, &arguments, place),
            _ => match self.collection_function(name, &arguments, place) {
                Some(outcome) => outcome,
                None => unsupported(),
            },
        }
    }

    fn arguments(&self, scope: &Scope<'a>, call: &FuncCall) -> Result<Vec<Traced>, Rc<crate::engine::deployment::Unresolved>> {
        let mut arguments: Vec<Traced> =
            call.args.iter().map(|argument| self.eval(scope, argument)).collect::<Result<_, _>>()?;
        if call.args.expand_final()
            && let Some(Fact { value: Value::List(items), .. }) = arguments.last().cloned()
        {
            arguments.pop();
            arguments.extend(items.iter().cloned());
        }
        Ok(arguments)
    }

    /// The first argument that is no mistake; what is only unknown ends the search.
    fn try_each(&self, scope: &Scope<'a>, call: &FuncCall, place: &Place) -> Outcome {
        let mut last = Err(mistake("`try` needs an argument", place.clone()));
        for argument in &call.args {
            last = self.strictly(true, || self.eval(scope, argument));
            if last.is_ok() || self.is_exhausted() {
                break;
            }
        }
        last
    }

    /// `%s`, `%d`, `%v` and `%%`.
    fn format(&self, arguments: &[Traced], place: &Place) -> Outcome {
        let (Some(pattern), mut rest) = (arguments.first(), arguments.iter().skip(1)) else {
            return Err(mistake("`format` needs a pattern", place.clone()));
        };
        let pattern = self.needed_text(pattern, place)?;
        let mut parts = Vec::new();
        let mut pieces = pattern.split('%');
        parts.extend(pieces.next().map(|piece| Part::Text(Rc::from(piece), None)));
        let mut literal_percent = false;
        for piece in pieces {
            if literal_percent {
                parts.push(Part::Text(Rc::from(format!("%{piece}")), None));
                literal_percent = false;
                continue;
            }
            match piece.chars().next() {
                None => literal_percent = true,
                Some('s' | 'd' | 'v') => {
                    let value = rest.next().ok_or_else(|| mistake("`format` has too few arguments", place.clone()))?;
                    parts.push(Part::Value(value.clone()));
                    let after = piece.get(1..).unwrap_or_default();
                    if !after.is_empty() {
                        parts.push(Part::Text(Rc::from(after), None));
                    }
                }
                Some(_) => {
                    let unknown = Value::unknown("the pattern of `format` is not evaluated here", Some(place.clone()));
                    return Ok(Fact::new(unknown, Source::Written(place.clone())));
                }
            }
        }
        parts.retain(|part| !matches!(part, Part::Text(text, _) if text.is_empty()));
        self.assemble(&parts, place)
    }

    fn joined(&self, arguments: &[Traced], place: &Place) -> Outcome {
        let [separator, lists @ ..] = arguments else { return Err(mistake("`join` needs a list", place.clone())) };
        let separator = self.needed_text(separator, place)?;
        let mut parts = Vec::new();
        for list in lists {
            let Value::List(items) = &list.value else { return computed(None, &[list], place) };
            for item in items.iter() {
                if !parts.is_empty() {
                    parts.push(Part::Text(Rc::clone(&separator), None));
                }
                parts.push(Part::Value(item.clone()));
            }
        }
        self.assemble(&parts, place)
    }

    fn text_function(&self, name: &str, arguments: &[Traced], place: &Place) -> Outcome {
        let text = |at: usize| arguments.get(at).and_then(|argument| self.text(argument));
        let number = |at: usize| arguments.get(at).and_then(|argument| argument.value.number());
        let result = (|| {
            let first = match name {
                "split" => text(1)?,
                _ => text(0)?,
            };
            Some(match name {
                // Where Terraform will run is not known.
                "basename" | "dirname" | "abspath" if &*first == "." => return None,
                "basename" => Value::text_from(first.rsplit('/').next().unwrap_or_default()),
                "dirname" => Value::text_from(first.rsplit_once('/').map_or(".", |(folder, _)| folder)),
                "abspath" | "pathexpand" => Value::Text(first),
                "upper" => Value::text_from(&first.to_uppercase()),
                "lower" => Value::text_from(&first.to_lowercase()),
                "title" => Value::text_from(&title(&first)),
                "trimspace" => Value::text_from(first.trim()),
                "trim" => {
                    let cut = text(1)?;
                    Value::text_from(first.trim_matches(|c| cut.contains(c)))
                }
                "trimprefix" => Value::text_from(first.strip_prefix(&*text(1)?).unwrap_or(&first)),
                "trimsuffix" => Value::text_from(first.strip_suffix(&*text(1)?).unwrap_or(&first)),
                // In slashes it is a pattern.
                "replace" => {
                    let (from, to) = (text(1)?, text(2)?);
                    let is_pattern = from.len() > 1 && from.starts_with('/') && from.ends_with('/');
                    let grows = !from.is_empty() && first.len().saturating_mul(to.len().max(1)) < 1 << 20;
                    if is_pattern || !grows {
                        return None;
                    }
                    Value::text_from(&first.replace(&*from, &to))
                }
                "substr" => Value::text_from(&substr(&first, number(1)?, number(2)?)),
                "split" => {
                    let separator = text(0).filter(|separator| !separator.is_empty())?;
                    let source = Source::Written(place.clone());
                    Value::list(
                        first.split(&*separator).map(|part| Fact::new(Value::text_from(part), source.clone())).collect(),
                    )
                }
                "startswith" => Value::Bool(first.starts_with(&*text(1)?)),
                "endswith" => Value::Bool(first.ends_with(&*text(1)?)),
                "strcontains" => Value::Bool(first.contains(&*text(1)?)),
                _ => return None,
            })
        })();
        computed(result, &arguments.iter().collect::<Vec<_>>(), place)
    }
}

fn coalesce(arguments: &[Traced], place: &Place) -> Outcome {
    let set = arguments.iter().find(|argument| match &argument.value {
        Value::Null => false,
        Value::Text(text) => !text.is_empty(),
        _ => true,
    });
    set.cloned().ok_or_else(|| mistake("nothing of this is set", place.clone()))
}

/// The same value in another type keeps its source.
fn converted(value: &Traced, to: Option<Value>, place: &Place) -> Outcome {
    match (to, &value.value) {
        (_, Value::Null) => Ok(value.clone()),
        (Some(to), _) => Ok(Fact::new(to, value.source.clone())),
        (None, _) => computed(None, &[value], place),
    }
}

fn number(name: &str, arguments: &[Traced]) -> Option<Value> {
    let first = arguments.first()?;
    let numbers = |values: &[Traced]| values.iter().map(|value| value.value.number()).collect::<Option<Vec<f64>>>();
    let number = match name {
        "abs" => first.value.number()?.abs(),
        "ceil" => first.value.number()?.ceil(),
        "floor" => first.value.number()?.floor(),
        "signum" => match first.value.number()? {
            number if number > 0.0 => 1.0,
            number if number < 0.0 => -1.0,
            _ => 0.0,
        },
        "pow" => first.value.number()?.powf(arguments.get(1)?.value.number()?),
        "max" => numbers(arguments)?.into_iter().reduce(f64::max)?,
        "min" => numbers(arguments)?.into_iter().reduce(f64::min)?,
        "sum" => match &first.value {
            Value::List(items) => numbers(items)?.into_iter().reduce(|a, b| a + b)?,
            _ => return None,
        },
        "parseint" => match arguments.get(1)?.value.number()? {
            10.0 => first.value.number()?,
            _ => return None,
        },
        "length" => super::instance::Key::number(match &first.value {
            Value::List(items) => items.len(),
            Value::Map(entries) => entries.len(),
            Value::Text(text) => text.chars().count(),
            _ => return None,
        }),
        _ => return None,
    };
    number.is_finite().then_some(Value::Number(number))
}

fn title(text: &str) -> String {
    let mut after_letter = false;
    text.chars()
        .map(|letter| {
            let start = !after_letter && letter.is_alphabetic();
            after_letter = letter.is_alphanumeric();
            if start { letter.to_uppercase().to_string() } else { letter.to_string() }
        })
        .collect()
}

fn substr(text: &str, from: f64, length: f64) -> String {
    let letters: Vec<char> = text.chars().collect();
    let count = super::instance::Key::number(letters.len());
    let start = if from < 0.0 { (count + from).max(0.0) } else { from };
    let end = if length < 0.0 { count } else { start + length };
    let inside = |at: usize| (start..end).contains(&super::instance::Key::number(at));
    letters.iter().enumerate().filter(|(at, _)| inside(*at)).map(|(_, letter)| letter).collect()
}
