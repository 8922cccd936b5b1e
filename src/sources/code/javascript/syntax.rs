//! Files as syntax trees, and what every reader of them needs: the text of a node, its meaning as a literal.

use tree_sitter::{Language, Node, Parser, Tree};

use crate::sources::iac::text::File;

/// A file that is parsed.
pub(super) struct Parsed {
    pub(super) file: File,
    /// What was parsed: the file's text, for JSON in parentheses, so that it is an expression.
    source: String,
    /// How many bytes of `source` stand before the file's text.
    shift: usize,
    tree: Tree,
}

impl Parsed {
    /// `None` where the name is none of JavaScript, TypeScript and JSON.
    pub(super) fn new(path: &str, text: &str) -> Option<Self> {
        let language: Language = match path.rsplit_once('.')?.1 {
            "js" | "mjs" | "cjs" | "jsx" | "json" => tree_sitter_javascript::LANGUAGE.into(),
            "ts" | "mts" | "cts" => tree_sitter_typescript::LANGUAGE_TYPESCRIPT.into(),
            "tsx" => tree_sitter_typescript::LANGUAGE_TSX.into(),
            _ => return None,
        };
        let json = is_json(path);
        let source = if json { format!("({text})") } else { text.to_owned() };
        let mut parser = Parser::new();
        parser.set_language(&language).ok()?;
        let tree = parser.parse(&source, None)?;
        Some(Self { file: File::new(path, text), source, shift: usize::from(json), tree })
    }

    pub(super) fn root(&self) -> Node<'_> {
        self.tree.root_node()
    }

    pub(super) fn text(&self, node: Node<'_>) -> &str {
        self.source.get(node.byte_range()).unwrap_or_default()
    }

    /// The bytes of a node in the file.
    pub(super) fn span(&self, node: Node<'_>) -> std::ops::Range<usize> {
        node.start_byte().saturating_sub(self.shift)..node.end_byte().saturating_sub(self.shift)
    }

    /// The text of a string literal, or of a template without substitutions.
    pub(super) fn string(&self, node: Node<'_>) -> Option<String> {
        if !matches!(node.kind(), "string" | "template_string") {
            return None;
        }
        let mut text = String::new();
        for part in named(node) {
            match part.kind() {
                "string_fragment" => text.push_str(self.text(part)),
                "escape_sequence" => text.push_str(match self.text(part) {
                    "\\n" => "\n",
                    "\\t" => "\t",
                    other => other.strip_prefix('\\').unwrap_or(other),
                }),
                _ => return None,
            }
        }
        Some(text)
    }

    /// The name of a property: an identifier, a string or a number.
    pub(super) fn key(&self, node: Node<'_>) -> Option<String> {
        match node.kind() {
            "string" => self.string(node),
            "computed_property_name" => self.string(named(node).next()?),
            _ => Some(self.text(node).to_owned()),
        }
    }

    pub(super) fn number(&self, node: Node<'_>) -> Option<f64> {
        let text = self.text(node).replace('_', "");
        let text = text.strip_suffix('n').unwrap_or(&text);
        let radix = [("0x", 16), ("0o", 8), ("0b", 2)]
            .into_iter()
            .find_map(|(prefix, radix)| Some((text.to_ascii_lowercase().strip_prefix(prefix)?.to_owned(), radix)));
        match radix {
            #[expect(clippy::cast_precision_loss, reason = "a number of tokens or milliseconds")]
            Some((digits, radix)) => u64::from_str_radix(&digits, radix).ok().map(|value| value as f64),
            None => text.parse().ok().filter(|value: &f64| value.is_finite()),
        }
    }
}

pub(super) fn is_json(path: &str) -> bool {
    path.rsplit_once('.').is_some_and(|(_, extension)| extension == "json")
}

/// The named children, comments left out.
pub(super) fn named(node: Node<'_>) -> impl Iterator<Item = Node<'_>> {
    let mut cursor = node.walk();
    let mut more = cursor.goto_first_child();
    std::iter::from_fn(move || {
        while more {
            let child = cursor.node();
            more = cursor.goto_next_sibling();
            if child.is_named() && !child.is_extra() {
                return Some(child);
            }
        }
        None
    })
}

pub(super) fn field<'t>(node: Node<'t>, name: &str) -> Option<Node<'t>> {
    node.child_by_field_name(name)
}

/// The expression within parentheses, type assertions and `await`.
pub(super) fn unwrap(node: Node<'_>) -> Node<'_> {
    let mut node = node;
    for _ in 0..32 {
        let inner = match node.kind() {
            "parenthesized_expression"
            | "as_expression"
            | "satisfies_expression"
            | "non_null_expression"
            | "await_expression" => named(node).next(),
            "type_assertion" | "sequence_expression" => named(node).last(),
            _ => None,
        };
        match inner {
            Some(inner) => node = inner,
            None => break,
        }
    }
    node
}

/// The argument of a call or of `new` at an index. A spread before it hides which one it is.
pub(super) fn argument(call: Node<'_>, index: usize) -> Option<Node<'_>> {
    field(call, "arguments").and_then(|list| named(list).nth(index))
}

/// Whether a call's arguments hold a spread.
pub(super) fn spreads(call: Node<'_>) -> bool {
    field(call, "arguments").is_some_and(|list| named(list).any(|item| item.kind() == "spread_element"))
}

pub(super) fn is_function(node: Node<'_>) -> bool {
    matches!(
        node.kind(),
        "function_declaration"
            | "function_expression"
            | "generator_function"
            | "generator_function_declaration"
            | "arrow_function"
            | "method_definition"
    )
}

pub(super) fn is_class(node: Node<'_>) -> bool {
    matches!(node.kind(), "class_declaration" | "class" | "abstract_class_declaration")
}

/// How deep trees are looked at. Nobody writes deeper.
const DEEPEST: u32 = 400;

/// Every named node under one, itself first, in the order of the text, as long as the visit says to go on down.
pub(super) fn walk<'t>(root: Node<'t>, mut visit: impl FnMut(Node<'t>) -> bool) {
    let mut cursor = root.walk();
    loop {
        let node = cursor.node();
        let down = node.is_named() && visit(node) && cursor.depth() < DEEPEST;
        if down && cursor.goto_first_child() {
            continue;
        }
        loop {
            if cursor.node() == root {
                return;
            }
            if cursor.goto_next_sibling() {
                break;
            }
            if !cursor.goto_parent() {
                return;
            }
        }
    }
}
