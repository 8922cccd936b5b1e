//! YAML (and so JSON) as a tree in which every node knows its bytes in the file.
//!
//! Typed readers that lose positions cannot say where a mistake is; everything that users write is read through this.

use std::ops::Range;

use granit_parser::{Event, Parser, ScalarStyle};

/// A node and where it stands.
#[derive(Clone, Debug, PartialEq)]
pub struct Node {
    pub value: Value,
    pub span: Range<usize>,
    /// A tag of one's own, without its `!`: `Ref` of `!Ref Queue`.
    pub tag: Option<Box<str>>,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    Scalar {
        text: String,
        /// Not quoted: numbers, booleans and null are only read from these.
        plain: bool,
    },
    Sequence(Vec<Node>),
    Mapping(Vec<(Node, Node)>),
}

/// Text that is not YAML.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct SyntaxError {
    pub message: String,
    pub at: usize,
}

/// How many nodes aliases may repeat in all: a few nested aliases can stand for more nodes than memory holds.
const MOST_REPEATED: usize = 100_000;

/// How deep a document may nest. Nobody writes deeper, and recursion has to end.
const DEEPEST: usize = 100;

impl Node {
    /// Reads one document. An empty one is a null scalar.
    ///
    /// # Errors
    /// Where the text is not YAML, has more than one document, or nests too deep.
    pub fn parse(text: &str) -> Result<Self, SyntaxError> {
        let mut builder =
            Builder { parser: Parser::new_from_str(text), anchors: Vec::new(), repeated: 0, end: text.len(), text };
        let mut root = None;
        while let Some((event, span)) = builder.next()? {
            match event {
                Event::StreamStart | Event::StreamEnd | Event::DocumentStart(..) | Event::DocumentEnd => {}
                event => {
                    if root.is_some() {
                        let message = "a second document in the same file: expected one".to_owned();
                        return Err(SyntaxError { message, at: span.start });
                    }
                    root = Some(builder.node(event, span, 0)?);
                }
            }
        }
        Ok(root.unwrap_or(Self { value: Value::Scalar { text: String::new(), plain: true }, span: 0..0, tag: None }))
    }

    /// The value of a key; where the key is not there, that of a merged mapping (`<<`).
    pub fn get(&self, key: &str) -> Option<&Self> {
        self.entry(key).map(|(_, value)| value)
    }

    /// The same with the key's node.
    pub fn entry(&self, key: &str) -> Option<(&Self, &Self)> {
        let find = |entries: &'_ [(Self, Self)]| entries.iter().position(|(name, _)| name.text() == Some(key));
        let Value::Mapping(entries) = &self.value else { return None };
        if let Some(at) = find(entries) {
            return entries.get(at).map(|(name, value)| (name, value));
        }
        let (_, merged) = entries.iter().find(|(name, _)| name.text() == Some("<<"))?;
        match &merged.value {
            Value::Mapping(_) => merged.entry(key),
            Value::Sequence(items) => items.iter().find_map(|item| item.entry(key)),
            Value::Scalar { .. } => None,
        }
    }

    /// The entries of a mapping; none of anything else.
    pub fn entries(&self) -> &[(Self, Self)] {
        match &self.value {
            Value::Mapping(entries) => entries,
            _ => &[],
        }
    }

    /// The items of a list; none of anything else.
    pub fn items(&self) -> &[Self] {
        match &self.value {
            Value::Sequence(items) => items,
            _ => &[],
        }
    }

    /// The text of a scalar.
    pub fn text(&self) -> Option<&str> {
        match &self.value {
            Value::Scalar { text, .. } => Some(text),
            _ => None,
        }
    }

    /// `null`, `~` or nothing.
    pub fn is_null(&self) -> bool {
        matches!(&self.value, Value::Scalar { text, plain: true } if matches!(text.as_str(), "" | "~" | "null" | "Null" | "NULL"))
    }

    /// A plain number; `1_000` is none, as in YAML 1.2.
    pub fn number(&self) -> Option<f64> {
        match &self.value {
            Value::Scalar { text, plain: true }
                if text.starts_with(|c: char| c.is_ascii_digit() || matches!(c, '-' | '+' | '.')) =>
            {
                text.parse().ok()
            }
            _ => None,
        }
    }

    pub fn boolean(&self) -> Option<bool> {
        match &self.value {
            Value::Scalar { text, plain: true } => match text.as_str() {
                "true" | "True" | "TRUE" => Some(true),
                "false" | "False" | "FALSE" => Some(false),
                _ => None,
            },
            _ => None,
        }
    }

    /// What the node is, in a message: `a list`, or the text itself.
    pub fn describe(&self) -> String {
        match &self.value {
            Value::Scalar { text, .. } if self.is_null() && text.is_empty() => "nothing".to_owned(),
            Value::Scalar { text, .. } => format!("`{text}`"),
            Value::Sequence(_) => "a list".to_owned(),
            Value::Mapping(_) => "a mapping".to_owned(),
        }
    }
}

impl Value {
    /// How many nodes hang here, this one counted.
    fn nodes(&self) -> usize {
        1 + match self {
            Self::Scalar { .. } => 0,
            Self::Sequence(items) => items.iter().map(|item| item.value.nodes()).sum(),
            Self::Mapping(entries) => entries.iter().map(|(key, value)| key.value.nodes() + value.value.nodes()).sum(),
        }
    }
}

/// A tag of one's own: `!Ref`. Those of YAML itself (`!!str`) say nothing that is needed here.
fn own_tag(tag: Option<&granit_parser::Tag>) -> Option<Box<str>> {
    tag.filter(|tag| tag.handle() == "!").map(|tag| Box::from(tag.suffix()))
}

struct Builder<'input> {
    parser: Parser<'input, granit_parser::StrInput<'input>>,
    anchors: Vec<(usize, Node)>,
    repeated: usize,
    end: usize,
    text: &'input str,
}

impl<'input> Builder<'input> {
    /// The next event that is not a comment, with its bytes.
    fn next(&mut self) -> Result<Option<(Event<'input>, Range<usize>)>, SyntaxError> {
        loop {
            return match self.parser.next_event() {
                None => Ok(None),
                Some(Err(error)) => {
                    let at = error.marker().byte_offset().unwrap_or(self.end).min(self.end);
                    let message = error.info();
                    // The parser says where the scalar began that the tab broke; what has to be mended is the tab.
                    let tab = message.contains("found a tab").then(|| self.text.get(at..)?.find('\t')).flatten();
                    Err(SyntaxError { message, at: tab.map_or(at, |tab| at + tab) })
                }
                Some(Ok((Event::Comment(..) | Event::Anchor(..), _))) => continue,
                Some(Ok((event, span))) => Ok(Some((event, span.byte_range().unwrap_or(self.end..self.end)))),
            };
        }
    }

    fn expect(&mut self) -> Result<(Event<'input>, Range<usize>), SyntaxError> {
        let at = self.end;
        self.next()?.ok_or_else(|| SyntaxError { message: "the file ends in the middle".to_owned(), at })
    }

    fn node(&mut self, event: Event<'input>, span: Range<usize>, depth: usize) -> Result<Node, SyntaxError> {
        let fail = |message: &str| Err(SyntaxError { message: message.to_owned(), at: span.start });
        if depth > DEEPEST {
            return fail("nested too deep");
        }
        let (node, anchor) = match event {
            Event::Scalar(text, style, anchor, tag) => {
                let plain = style == ScalarStyle::Plain;
                let tag = own_tag(tag.as_deref());
                (Node { value: Value::Scalar { text: text.into_owned(), plain }, span, tag }, anchor)
            }
            Event::SequenceStart(_, anchor, tag) => {
                let mut items = Vec::new();
                let end = loop {
                    match self.expect()? {
                        (Event::SequenceEnd, end) => break end,
                        (event, span) => items.push(self.node(event, span, depth + 1)?),
                    }
                };
                let span = span.start..items.last().map_or(end.end, |last: &Node| last.span.end.max(end.end));
                (Node { value: Value::Sequence(items), span, tag: own_tag(tag.as_deref()) }, anchor)
            }
            Event::MappingStart(_, anchor, tag) => {
                let mut entries: Vec<(Node, Node)> = Vec::new();
                let end = loop {
                    match self.expect()? {
                        (Event::MappingEnd, end) => break end,
                        (event, span) => {
                            let key = self.node(event, span, depth + 1)?;
                            let (event, span) = self.expect()?;
                            entries.push((key, self.node(event, span, depth + 1)?));
                        }
                    }
                };
                let span = span.start..entries.last().map_or(end.end, |(_, last)| last.span.end.max(end.start));
                (Node { value: Value::Mapping(entries), span, tag: own_tag(tag.as_deref()) }, anchor)
            }
            Event::Alias(id) => {
                let target = self.anchors.iter().rev().find(|(anchor, _)| *anchor == id).map(|(_, node)| node.clone());
                self.repeated += target.as_ref().map_or(0, |node| node.value.nodes());
                if self.repeated > MOST_REPEATED {
                    return fail("aliases repeat too much");
                }
                return match target {
                    // What is repeated stands where its anchor is: there it is written, and there it is changed.
                    Some(node) => Ok(node),
                    None => fail("an alias to something that is not there"),
                };
            }
            _ => return fail("this cannot stand here"),
        };
        if anchor > 0 {
            self.anchors.push((anchor, node.clone()));
        }
        Ok(node)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn nodes_know_their_bytes_even_after_wide_characters() {
        let text = "name: \"ü→\"\ncall:\n  latency_s: {mean: 4.5}\n";
        let root = Node::parse(text).unwrap();
        let Value::Mapping(entries) = &root.value else { panic!() };
        let Value::Mapping(call) = &entries[1].1.value else { panic!() };
        assert_eq!(&text[call[0].0.span.clone()], "latency_s");
        let Value::Mapping(latency) = &call[0].1.value else { panic!() };
        assert_eq!(&text[latency[0].1.span.clone()], "4.5");
        assert_eq!(latency[0].1.number(), Some(4.5));
    }

    #[test]
    fn words_are_not_numbers() {
        for (text, number) in
            [("4", Some(4.0)), ("-1.5e3", Some(-1500.0)), ("'4'", None), ("inf", None), ("nan", None), ("4s", None)]
        {
            assert_eq!(Node::parse(text).unwrap().number(), number, "{text}");
        }
    }

    #[test]
    fn what_is_not_yaml_is_refused_with_its_place() {
        let error = Node::parse("a: 1\nb: [1, 2\n").unwrap_err();
        assert!(error.at >= 8, "{error:?}");
        let tab = "a:\n  b: c\n\td: e\n";
        assert_eq!(Node::parse(tab).unwrap_err().at, tab.find('\t').unwrap());
        assert!(Node::parse("--- 1\n--- 2\n").unwrap_err().message.contains("second document"));
        assert!(Node::parse(&"[".repeat(500)).is_err());
        let laughs: String = (1..30).map(|i| format!("- &a{i} [*a{p}, *a{p}]\n", p = i - 1)).collect();
        assert_eq!(Node::parse(&format!("- &a0 x\n{laughs}")).unwrap_err().message, "aliases repeat too much");
    }

    proptest! {
        #[test]
        fn any_text_is_a_tree_or_an_error(text in "\\PC{0,60}(\n\\PC{0,60}){0,6}") {
            match Node::parse(&text) {
                Ok(node) => prop_assert!(node.span.end <= text.len()),
                Err(error) => prop_assert!(error.at <= text.len()),
            }
        }
    }
}
