//! Something to act on: what is wrong, where, and what to write instead.

use std::fmt;

use serde::Serialize;

use super::fact::Place;

/// How bad it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// Advice, or a trade-off.
    Note,
    /// Will hurt under load, or soon.
    Warning,
    /// Breaks, loses or repeats work.
    Error,
}

impl Severity {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Note => "note",
            Self::Warning => "warning",
            Self::Error => "error",
        }
    }
}

impl fmt::Display for Severity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A place with what it says about the finding: "hides messages for 60 s".
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Label {
    pub place: Place,
    pub text: String,
}

/// What to write at a place instead of what stands there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edit {
    pub place: Place,
    pub replacement: String,
}

/// One finding.
#[derive(Clone, Debug, PartialEq)]
pub struct Finding {
    /// The id of its rule.
    pub rule: &'static str,
    pub severity: Severity,
    /// One sentence, lower case, with the values and their units.
    pub message: String,
    /// The first is the primary one. Empty where every value came from the command line.
    pub labels: Vec<Label>,
    /// What to set instead, in words.
    pub suggestion: Option<String>,
    /// A literal that can be replaced to mend it.
    pub edit: Option<Edit>,
    /// The client that it is about, where a function has several: of two findings about one, the stronger speaks.
    pub subject: Option<Place>,
    /// The queue and the function of the chain, by their names.
    pub queue: Option<String>,
    pub function: Option<String>,
}

impl Finding {
    /// Where the finding is shown.
    pub fn place(&self) -> Option<&Place> {
        self.labels.first().map(|label| &label.place)
    }
}
