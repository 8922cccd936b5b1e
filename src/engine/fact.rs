//! A value and where it came from.
//!
//! Every number that forebay prints can be traced: a plan's "where from" column and a finding's place are the same
//! type. This module only describes origins; it never reads them.

use std::fmt;
use std::sync::Arc;

use serde::{Serialize, Serializer};

/// A piece of a file: bytes, with the line and column of the first one, both from 1.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Place {
    pub path: Arc<str>,
    pub line: usize,
    pub column: usize,
    pub start: usize,
    pub end: usize,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}", self.path, self.line, self.column)
    }
}

/// Where a value came from.
#[derive(Clone, Debug, PartialEq)]
pub enum Source {
    /// A command-line flag, spelt as typed: `--rpm`.
    Flag(String),
    /// A place in a file; line and column count from 1.
    File { path: String, line: usize, column: usize },
    /// A piece of a file that a finding can show: the literal itself, after references were followed.
    Written(Place),
    /// An API operation, asked live, about one resource.
    Live { operation: &'static str, resource: String },
    /// A Service Quotas row, asked live.
    ServiceQuotas { code: String, region: String },
    /// CloudWatch, asked live: the metric and the statistic, over the window named.
    CloudWatch { metric: String, statistic: String, window: String },
    /// Any live source, read back from a snapshot file.
    Snapshot { path: String, taken_at: String, inner: Box<Source> },
    /// What is known of a model: the source of the fact and the day it was read.
    ModelProfile { source: String, date: String },
    /// A documented default.
    Default(&'static str),
    /// Worked out from other values.
    Derived(String),
}

impl Source {
    /// The place that many values share, and what is particular to one: a file and a line, a service and a metric.
    pub fn place(&self) -> (String, Option<String>) {
        match self {
            Self::Flag(flag) => ("flags".to_owned(), Some(flag.clone())),
            Self::File { path, line, .. } => (path.clone(), Some(format!("line {line}"))),
            Self::Written(place) => (place.path.to_string(), Some(format!("line {}", place.line))),
            Self::Live { operation, resource } => ("live".to_owned(), Some(format!("{operation} {resource}"))),
            Self::ServiceQuotas { code, region } => (format!("Service Quotas, {region}"), Some(code.clone())),
            Self::CloudWatch { metric, statistic, window } => {
                (format!("CloudWatch, last {window}"), Some(format!("{metric} {statistic}")))
            }
            Self::Snapshot { path, taken_at, inner } => {
                let (place, detail) = inner.place();
                (format!("{place} ({path} of {taken_at})"), detail)
            }
            Self::ModelProfile { source, date } => ("model profile".to_owned(), Some(format!("{source}, {date}"))),
            Self::Derived(text) => (text.clone(), None),
            Self::Default(text) => ("defaults".to_owned(), Some((*text).to_owned())),
        }
    }

    /// A flag by its name without dashes.
    pub fn flag(name: &str) -> Self {
        Self::Flag(format!("--{name}"))
    }
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Flag(flag) => f.write_str(flag),
            Self::File { path, line, column } => write!(f, "{path}:{line}:{column}"),
            Self::Written(place) => write!(f, "{place}"),
            Self::Live { operation, resource } => write!(f, "live: {operation} {resource}"),
            Self::ServiceQuotas { code, region } => write!(f, "Service Quotas {code}, {region}"),
            Self::CloudWatch { metric, statistic, window } => write!(f, "CloudWatch {metric} {statistic}, {window}"),
            Self::Snapshot { path, taken_at, inner } => write!(f, "{inner} ({path} of {taken_at})"),
            Self::ModelProfile { source, date } => write!(f, "model profile ({source}, {date})"),
            Self::Default(text) if text.starts_with("default") => f.write_str(text),
            Self::Default(text) => write!(f, "default: {text}"),
            Self::Derived(text) => f.write_str(text),
        }
    }
}

impl Serialize for Source {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// A value and where it came from.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Fact<T> {
    pub value: T,
    pub source: Source,
}

impl<T> Fact<T> {
    pub fn new(value: T, source: Source) -> Self {
        Self { value, source }
    }

    /// The same origin with another value.
    pub fn map<U>(self, change: impl FnOnce(T) -> U) -> Fact<U> {
        Fact { value: change(self.value), source: self.source }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_source_reads_as_a_place_or_a_name() {
        let quota = Source::ServiceQuotas { code: "L-15B8E632".into(), region: "us-east-1".into() };
        let snapshot =
            Source::Snapshot { path: "s.json".into(), taken_at: "2026-11-30T09:00:00Z".into(), inner: Box::new(quota.clone()) };
        for (source, text) in [
            (Source::flag("rpm"), "--rpm"),
            (Source::File { path: "w.yaml".into(), line: 4, column: 12 }, "w.yaml:4:12"),
            (quota, "Service Quotas L-15B8E632, us-east-1"),
            (snapshot, "Service Quotas L-15B8E632, us-east-1 (s.json of 2026-11-30T09:00:00Z)"),
            (Source::Default("one message per invocation"), "default: one message per invocation"),
        ] {
            assert_eq!(source.to_string(), text);
        }
    }
}
