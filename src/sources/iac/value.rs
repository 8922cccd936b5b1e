//! Values of templates, after references are followed: each with its source, or with why it is not known.

use crate::engine::deployment::{Setting, State, Unresolved};
use crate::engine::fact::{Fact, Place, Source};

/// A value and where it came from: the literal's place, a flag, a default.
pub type Traced = Fact<Value>;

#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    Null,
    Bool(bool),
    Number(f64),
    Text(String),
    List(Vec<Traced>),
    Map(Vec<(String, Traced)>),
    /// An attribute of a resource that exists only after deployment: `aws_sqs_queue.jobs` and `arn`, `JobQueue` and `Arn`.
    Attribute {
        resource: String,
        attribute: String,
    },
    /// What another stack exports, or an SSM parameter holds (`ssm:/name`).
    Import(String),
    Unresolved(Unresolved),
}

impl Value {
    /// A number, also one that is written as text: `"30"`.
    pub fn number(&self) -> Option<f64> {
        match self {
            Self::Number(number) => Some(*number),
            Self::Text(text) => text.trim().parse().ok().filter(|number: &f64| number.is_finite()),
            _ => None,
        }
    }

    /// A boolean, also one that is written as text: `"true"`.
    pub fn boolean(&self) -> Option<bool> {
        match self {
            Self::Bool(value) => Some(*value),
            Self::Text(text) => match text.trim() {
                "true" | "True" => Some(true),
                "false" | "False" => Some(false),
                _ => None,
            },
            _ => None,
        }
    }

    /// A text, also a number's.
    pub fn text(&self) -> Option<String> {
        match self {
            Self::Text(text) => Some(text.clone()),
            Self::Number(number) => Some(number.to_string()),
            Self::Bool(value) => Some(value.to_string()),
            _ => None,
        }
    }

    pub fn get(&self, key: &str) -> Option<&Traced> {
        match self {
            Self::Map(entries) => entries.iter().find(|(name, _)| name == key).map(|(_, value)| value),
            _ => None,
        }
    }
}

/// A setting out of a value. What is there and is no `T` is unresolved, with what was expected, never a default; null is
/// not set.
pub fn setting<T>(
    value: Option<&Traced>,
    place: Option<Place>,
    expected: &str,
    read: impl Fn(&Value) -> Option<T>,
) -> Setting<T> {
    let Some(value) = value else { return Setting::default() };
    match &value.value {
        Value::Null => Setting::default(),
        Value::Unresolved(unresolved) => Setting::unresolved(unresolved.clone(), place),
        Value::Import(name) => {
            let why = match name.strip_prefix("ssm:") {
                Some(name) => format!("the SSM parameter `{name}` is read on deployment"),
                None => format!("the export `{name}` belongs to another stack"),
            };
            Setting::unresolved(Unresolved { why, give: None, place: place.clone() }, place)
        }
        known => match read(known) {
            Some(read) => Setting { state: State::Known(Fact::new(read, value.source.clone())), place },
            None => {
                let at = match &value.source {
                    Source::Written(literal) => Some(literal.clone()),
                    _ => place.clone(),
                };
                let unresolved = Unresolved { why: format!("expected {expected}"), give: None, place: at };
                Setting::unresolved(unresolved, place)
            }
        },
    }
}

pub fn number_setting(value: Option<&Traced>, place: Option<Place>) -> Setting<f64> {
    setting(value, place, "a number", Value::number)
}

pub fn bool_setting(value: Option<&Traced>, place: Option<Place>) -> Setting<bool> {
    setting(value, place, "true or false", Value::boolean)
}

pub fn text_setting(value: Option<&Traced>, place: Option<Place>) -> Setting<String> {
    setting(value, place, "a text", Value::text)
}

/// The last part of an SQS or Lambda ARN, or of a queue URL: the resource's name. A function's version or alias is left out.
pub fn name_of_arn(text: &str, service: &str) -> Option<String> {
    if service == "sqs" && text.starts_with("https://") {
        return text.rsplit('/').next().filter(|name| !name.is_empty()).map(str::to_owned);
    }
    let parts: Vec<&str> = text.split(':').collect();
    match (service, parts.as_slice()) {
        ("sqs", ["arn", _, "sqs", _, _, name]) if !name.is_empty() => Some((*name).to_owned()),
        ("lambda", ["arn", _, "lambda", _, _, "function", name, ..]) if !name.is_empty() => Some((*name).to_owned()),
        // `account:function:name`, the partial form.
        ("lambda", [_, "function", name, ..]) if !name.is_empty() => Some((*name).to_owned()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_come_out_of_arns_and_urls() {
        assert_eq!(name_of_arn("arn:aws:sqs:eu-west-1:111122223333:jobs.fifo", "sqs").as_deref(), Some("jobs.fifo"));
        assert_eq!(name_of_arn("https://sqs.eu-west-1.amazonaws.com/111122223333/jobs", "sqs").as_deref(), Some("jobs"));
        assert_eq!(name_of_arn("arn:aws:lambda:eu-west-1:1:function:work:live", "lambda").as_deref(), Some("work"));
        assert_eq!(name_of_arn("arn:aws:kinesis:eu-west-1:1:stream/x", "sqs"), None);
    }

    #[test]
    fn what_is_there_and_is_no_number_is_not_a_default() {
        let traced = |value| Fact::new(value, Source::Default("test"));
        assert_eq!(number_setting(Some(&traced(Value::Text("30".into()))), None).value(), Some(30.0));
        assert!(number_setting(Some(&traced(Value::Text("soon".into()))), None).why_unresolved().is_some());
        assert!(number_setting(Some(&traced(Value::Null)), None).is_unset());
        assert!(number_setting(None, None).is_unset());
    }
}
