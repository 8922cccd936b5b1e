//! From syntax trees to programs: what all languages' readers need.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use tree_sitter::{Language, Node, Parser, Tree};

use super::{Id, Kind, Loader, Program, Word};
use crate::sources::code::Load;
use crate::sources::iac::text::File;

/// Syntax nodes inside each other; what is deeper is left out.
pub(crate) const DEPTH: usize = 240;

/// A file that is being lowered.
pub(crate) struct Lowering<'p> {
    pub(crate) program: &'p mut Program,
    pub(crate) file: usize,
    pub(crate) source: Arc<str>,
    pub(crate) depth: usize,
    /// What the file's imports call things, and what they are called here.
    pub(crate) imports: HashMap<String, String>,
}

/// The syntax tree; a file with errors has one too.
pub(crate) fn parse(language: &Language, text: &str) -> Option<Tree> {
    let mut parser = Parser::new();
    parser.set_language(language).ok()?;
    parser.parse(text, None)
}

/// Reads files, the last first, and those that each of them names: before the ones that wait, in the order given.
pub(crate) fn read_files(
    mut open: Vec<String>,
    language: &Language,
    load: &Load<'_>,
    named: impl Fn(Node<'_>, &str, &str) -> Vec<String>,
    lower: impl Fn(&mut Lowering<'_>, Node<'_>),
) -> Program {
    let mut program = Program::default();
    let mut loader = Loader::new(load);
    while let Some(path) = open.pop() {
        let Some(file) = loader.file(&path) else { continue };
        let Some(tree) = parse(language, &file.text) else { continue };
        open.extend(named(tree.root_node(), &path, &file.text).into_iter().rev());
        lower(&mut Lowering::new(&mut program, file), tree.root_node());
    }
    program.index();
    program
}

/// The children that mean something: no comments, but what stands in an error.
pub(crate) fn named(node: Node<'_>) -> Vec<Node<'_>> {
    let mut cursor = node.walk();
    node.named_children(&mut cursor).filter(|child| !child.is_extra() || child.is_error()).collect()
}

/// Visits all nodes, without regard to how deep they stand.
pub(crate) fn walk<'t>(root: Node<'t>, mut visit: impl FnMut(Node<'t>)) {
    let mut cursor = root.walk();
    loop {
        visit(cursor.node());
        if cursor.goto_first_child() {
            continue;
        }
        while !cursor.goto_next_sibling() {
            if !cursor.goto_parent() {
                return;
            }
        }
    }
}

/// All children of a field.
pub(crate) fn fields<'t>(node: Node<'t>, name: &str) -> Vec<Node<'t>> {
    let mut cursor = node.walk();
    node.children_by_field_name(name, &mut cursor).filter(Node::is_named).collect()
}

/// The first child of a kind.
pub(crate) fn child<'t>(node: Node<'t>, kind: &str) -> Option<Node<'t>> {
    named(node).into_iter().find(|child| child.kind() == kind)
}

impl<'p> Lowering<'p> {
    /// Takes a file into a program.
    pub(crate) fn new(program: &'p mut Program, file: File) -> Self {
        let source = Arc::clone(&file.text);
        let file = program.file(file);
        Self { program, file, source, depth: 0, imports: HashMap::new() }
    }
}

impl Lowering<'_> {
    pub(crate) fn text(&self, node: Node<'_>) -> &str {
        self.source.get(node.byte_range()).unwrap_or("")
    }

    pub(crate) fn field_text(&self, node: Node<'_>, field: &str) -> String {
        node.child_by_field_name(field).map(|child| self.text(child).to_owned()).unwrap_or_default()
    }

    pub(crate) fn word(&self, node: Node<'_>) -> Word {
        Word { text: self.text(node).to_owned(), span: node.byte_range() }
    }

    pub(crate) fn add(&mut self, node: Node<'_>, kind: Kind) -> Id {
        self.program.add(self.file, node.byte_range(), kind)
    }

    pub(crate) fn add_span(&mut self, span: Range<usize>, kind: Kind) -> Id {
        self.program.add(self.file, span, kind)
    }

    /// A number's value: digits with underscores, hexadecimal, suffixes of its type.
    pub(crate) fn number(&self, node: Node<'_>) -> Option<f64> {
        number(self.text(node))
    }
}

/// The value of a literal: `1_000`, `0x1F`, `60L`, `2.5f64`.
pub(crate) fn number(text: &str) -> Option<f64> {
    let text: String = text.chars().filter(|c| *c != '_').collect::<String>().to_ascii_lowercase();
    if let Some(digits) = text.strip_prefix("0x") {
        #[expect(clippy::cast_precision_loss, reason = "a count of seconds or tokens")]
        return u64::from_str_radix(digits.trim_end_matches(['l', 'u']), 16).ok().map(|value| value as f64);
    }
    let end = text.char_indices().find(|(at, c)| {
        let exponent_sign = matches!(c, '+' | '-') && text[..*at].ends_with('e');
        let exponent =
            *c == 'e' && text[at + 1..].starts_with(|next: char| next.is_ascii_digit() || next == '-' || next == '+');
        !(c.is_ascii_digit() || *c == '.' || exponent || exponent_sign)
    });
    let end = end.map_or(text.len(), |(at, _)| at);
    let (digits, suffix) = text.split_at(end);
    let plain = suffix.chars().all(|c| c.is_ascii_alphanumeric());
    digits.parse().ok().filter(|value: &f64| plain && value.is_finite())
}

/// A text without the backslashes of its escapes.
pub(crate) fn unescape(text: &str) -> String {
    let (mut plain, mut chars) = (String::with_capacity(text.len()), text.chars());
    while let Some(c) = chars.next() {
        match (c == '\\').then(|| chars.next()).flatten() {
            None => plain.push(c),
            Some('n') => plain.push('\n'),
            Some('t') => plain.push('\t'),
            Some('r') => plain.push('\r'),
            Some(other) => plain.push(other),
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_read_with_their_suffixes() {
        for (text, value) in
            [("1_000", 1000.0), ("60L", 60.0), ("0x10", 16.0), ("2.5f64", 2.5), ("1e3", 1000.0), ("30u64", 30.0)]
        {
            assert_eq!(number(text), Some(value), "{text}");
        }
        assert_eq!(number("seconds"), None);
        assert_eq!(number("1.2.3"), None);
    }

    #[test]
    fn escapes_are_taken_out() {
        assert_eq!(unescape(r#"{\"a\": 1}\n\"#), "{\"a\": 1}\n\\");
    }
}
