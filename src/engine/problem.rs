//! What is wrong with a file that a user wrote, with the places.

use std::fmt;
use std::ops::Range;

/// One mistake.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// Bytes of the text.
    pub span: Range<usize>,
    /// What is wrong, lower case, without a final period.
    pub message: String,
    /// What was expected, at the place.
    pub label: String,
    /// What to try.
    pub help: Option<String>,
}

/// All mistakes of one file, in the order of their places.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problems {
    pub path: String,
    pub text: String,
    pub list: Vec<Problem>,
}

impl Problems {
    pub fn new(path: &str, text: &str, mut list: Vec<Problem>) -> Self {
        list.sort_by_key(|problem| (problem.span.start, problem.span.end));
        Self { path: path.to_owned(), text: text.to_owned(), list }
    }
}

impl fmt::Display for Problems {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, problem) in self.list.iter().enumerate() {
            let (line, column) = line_and_column(&self.text, problem.span.start);
            let separator = if i > 0 { "\n" } else { "" };
            write!(f, "{separator}{}:{line}:{column}: {}: {}", self.path, problem.message, problem.label)?;
        }
        Ok(())
    }
}

impl std::error::Error for Problems {}

/// Line and column of a byte, both from 1; columns count characters.
pub fn line_and_column(text: &str, at: usize) -> (usize, usize) {
    let mut at = at.min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    let before = &text[..at];
    let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
    (before.matches('\n').count() + 1, before[line_start..].chars().count() + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_count_characters_from_one() {
        let text = "a: 1\nü: 2\n";
        assert_eq!(line_and_column(text, 0), (1, 1));
        assert_eq!(line_and_column(text, text.find('2').unwrap()), (2, 4));
        assert_eq!(line_and_column(text, 999), (3, 1));
    }
}
