//! A file's text, with its lines: spans become places here, once, when a value is read.

use std::ops::Range;
use std::sync::Arc;

use crate::engine::fact::Place;

/// A file that is read for settings.
#[derive(Clone, Debug)]
pub struct File {
    /// Relative to the working folder, with `/`.
    pub path: Arc<str>,
    pub text: Arc<str>,
    /// Bytes at which lines begin.
    starts: Arc<[usize]>,
    /// Characters before each block of bytes: JSON may be one line of many megabytes, and have many places.
    letters: Arc<[usize]>,
}

/// Bytes of a block.
const BLOCK: usize = 4096;

/// Characters that begin in these bytes.
fn letters(bytes: &[u8]) -> usize {
    bytes.iter().filter(|byte| (**byte & 0xc0) != 0x80).count()
}

impl File {
    pub fn new(path: &str, text: &str) -> Self {
        let starts = std::iter::once(0).chain(text.bytes().enumerate().filter(|(_, b)| *b == b'\n').map(|(at, _)| at + 1));
        let before = text.as_bytes().chunks(BLOCK).scan(0, |before, block| {
            let here = *before;
            *before += letters(block);
            Some(here)
        });
        Self { path: Arc::from(path), text: Arc::from(text), starts: starts.collect(), letters: before.collect() }
    }

    /// The folder of the file: empty for the working folder itself.
    pub fn folder(&self) -> &str {
        self.path.rsplit_once('/').map_or("", |(folder, _)| folder)
    }

    /// The place of a span; columns count characters.
    pub fn place(&self, span: &Range<usize>) -> Place {
        let start = self.boundary(span.start);
        let end = self.boundary(span.end).max(start);
        let line = self.starts.partition_point(|&begin| begin <= start);
        let begin = self.starts.get(line.saturating_sub(1)).copied().unwrap_or(0);
        // Lines are short, but for JSON that is one line.
        let column = match self.text.as_bytes().get(begin..start) {
            Some(before) if before.len() <= BLOCK => letters(before) + 1,
            _ => self.letters_before(start) - self.letters_before(begin) + 1,
        };
        Place { path: Arc::clone(&self.path), line, column, start, end }
    }

    /// A line's text, counted from 1.
    pub fn line(&self, line: usize) -> Option<&str> {
        let start = *self.starts.get(line.checked_sub(1)?)?;
        self.text.get(start..)?.lines().next()
    }

    /// The byte at which a line begins, counted from 1.
    pub fn line_start(&self, line: usize) -> Option<usize> {
        self.starts.get(line.checked_sub(1)?).copied()
    }

    fn letters_before(&self, at: usize) -> usize {
        let block = at / BLOCK;
        let rest = self.text.as_bytes().get(block * BLOCK..at).map_or(0, letters);
        self.letters.get(block).copied().unwrap_or_else(|| letters(self.text.as_bytes())) + rest
    }

    /// The place of the word that begins at a line and column, both from 1.
    pub fn token(&self, line: usize, column: usize) -> Place {
        let begin = self.starts.get(line.saturating_sub(1)).copied().unwrap_or(0);
        let rest = self.text.get(begin..).unwrap_or_default();
        let start = begin + rest.chars().take(column.saturating_sub(1)).map(char::len_utf8).sum::<usize>();
        let word = self.text.get(start..).unwrap_or_default();
        let length = word.find(|c: char| c.is_whitespace() || matches!(c, ',' | '}' | ']')).unwrap_or(word.len());
        self.place(&(start..start + length))
    }

    fn boundary(&self, at: usize) -> usize {
        let mut at = at.min(self.text.len());
        while !self.text.is_char_boundary(at) {
            at -= 1;
        }
        at
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_of_long_lines_count_characters() {
        let text = format!("x\n{}!", "ü".repeat(5000));
        let file = File::new("a", &text);
        for at in [0, 1, 2047, 4094, 4999] {
            let place = file.place(&(2 + 2 * at..3 + 2 * at));
            assert_eq!((place.line, place.column), (2, at + 1));
        }
        assert_eq!(file.place(&(10_002..10_003)).column, 5001);
        let exact = File::new("a", &"a".repeat(BLOCK));
        assert_eq!(exact.place(&(BLOCK..BLOCK)).column, BLOCK + 1);
    }

    #[test]
    fn places_count_lines_and_characters_from_one() {
        let file = File::new("a/b.yaml", "a: 1\nü: 2\n");
        let at = file.text.find('2').unwrap();
        let place = file.place(&(at..at + 1));
        assert_eq!((place.line, place.column, place.to_string().as_str()), (2, 4, "a/b.yaml:2:4"));
        assert_eq!(file.folder(), "a");
        assert_eq!((file.place(&(0..1)).line, file.place(&(99..120)).line), (1, 3));
    }
}
