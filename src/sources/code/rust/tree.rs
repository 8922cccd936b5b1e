//! Rust's syntax tree as a program.

use tree_sitter::Node;

use crate::sources::code::program::lower::{DEPTH, Lowering, child, named, unescape};
use crate::sources::code::program::{Id, Kind, Word};

/// Methods that give what they are called on, as another type.
const SAME: &[&str] = &[
    "unwrap",
    "clone",
    "into",
    "to_owned",
    "to_string",
    "as_ref",
    "as_deref",
    "as_str",
    "borrow",
    "cloned",
    "copied",
    "unwrap_or_default",
    "try_into",
    "context",
    "expect",
];
/// Functions that give what they are given.
const WRAPS: &[&str] = &["Some", "Ok", "Arc::new", "Box::new", "Rc::new", "String::from", "LazyLock::new", "Lazy::new"];

impl Lowering<'_> {
    /// A file.
    pub(super) fn rust(&mut self, root: Node<'_>) {
        for item in named(root) {
            self.rust_imports(item, "", 0);
        }
        let list = self.rust_all(named(root));
        self.add(root, Kind::Scope(list));
    }

    pub(super) fn rust_all(&mut self, nodes: Vec<Node<'_>>) -> Vec<Id> {
        nodes.into_iter().flat_map(|node| self.rust_many(node)).collect()
    }

    fn rust_many(&mut self, node: Node<'_>) -> Vec<Id> {
        if self.depth >= DEPTH || self.program.is_full() {
            return Vec::new();
        }
        self.depth += 1;
        let list = match node.kind() {
            "use_declaration" => {
                self.rust_imports(node, "", 0);
                Vec::new()
            }
            "attribute_item" | "inner_attribute_item" | "type_arguments" | "lifetime" | "label" | "empty_statement" => {
                Vec::new()
            }
            "expression_statement"
            | "parenthesized_expression"
            | "await_expression"
            | "try_expression"
            | "else_clause"
            | "declaration_list" => self.rust_all(named(node)),
            "reference_expression" => node.child_by_field_name("value").map(|value| self.rust_many(value)).unwrap_or_default(),
            "type_cast_expression" => node.child_by_field_name("value").map(|value| self.rust_many(value)).unwrap_or_default(),
            _ => vec![self.rust_node(node)],
        };
        self.depth -= 1;
        list
    }

    pub(super) fn rust_one(&mut self, node: Node<'_>) -> Id {
        let mut list = self.rust_many(node);
        if list.len() == 1 { list.swap_remove(0) } else { self.add(node, Kind::Group(list)) }
    }

    fn rust_field(&mut self, node: Node<'_>, field: &str) -> Option<Id> {
        node.child_by_field_name(field).map(|child| self.rust_one(child))
    }

    fn rust_call(&mut self, node: Node<'_>) -> Result<Kind, Id> {
        let Some(mut function) = node.child_by_field_name("function") else { return Ok(Kind::Group(Vec::new())) };
        let arguments = node.child_by_field_name("arguments").map(named).unwrap_or_default();
        if function.kind() == "generic_function" {
            function = function.child_by_field_name("function").unwrap_or(function);
        }
        match function.kind() {
            "field_expression" => {
                let object = self.rust_field(function, "value");
                let name = function.child_by_field_name("field").map(|field| self.word(field)).unwrap_or_default();
                if let Some(object) = object
                    && SAME.contains(&name.text.as_str())
                {
                    return Err(object);
                }
                let arguments = arguments.into_iter().map(|argument| self.rust_one(argument)).collect();
                Ok(Kind::Call { object, name, arguments })
            }
            "scoped_identifier" | "identifier" => {
                let full = self.rust_path(self.text(function));
                let arguments: Vec<Id> = arguments.into_iter().map(|argument| self.rust_one(argument)).collect();
                let wraps = WRAPS
                    .iter()
                    .any(|wrap| full == *wrap || full.strip_suffix(wrap).is_some_and(|start| start.ends_with("::")));
                if wraps && let [argument] = arguments.as_slice() {
                    return Err(*argument);
                }
                let last = function.child_by_field_name("name").unwrap_or(function);
                let (path, name) = full.rsplit_once("::").unwrap_or(("", full.as_str()));
                let name = Word { text: name.to_owned(), span: last.byte_range() };
                let span = function.start_byte()..last.start_byte();
                // Own functions that are imported by name are found by it.
                let own = function.kind() == "identifier" && path.starts_with("crate");
                let object = (!path.is_empty() && !own).then(|| self.add_span(span, Kind::Name(head(path))));
                Ok(Kind::Call { object, name, arguments })
            }
            _ => {
                let mut list = vec![self.rust_one(function)];
                list.extend(self.rust_all(arguments));
                Ok(Kind::Group(list))
            }
        }
    }

    fn rust_node(&mut self, node: Node<'_>) -> Id {
        let nothing = Kind::Group(Vec::new());
        let kind = match node.kind() {
            "struct_item" => self.rust_struct(node),
            "impl_item" => self.rust_impl(node),
            "trait_item" => Kind::Class {
                name: self.field_text(node, "name"),
                bases: Vec::new(),
                members: node.child_by_field_name("body").map(|body| self.rust_all(named(body))).unwrap_or_default(),
                marks: Vec::new(),
            },
            "function_item" | "function_signature_item" => self.rust_function(node),
            "closure_expression" => {
                let parameters = self.rust_parameters(node.child_by_field_name("parameters"));
                let body = node.child_by_field_name("body").map(|body| self.rust_body(body));
                Kind::Function { name: String::new(), parameters, result: String::new(), body, marks: Vec::new() }
            }
            "block" => Kind::Scope(self.rust_all(named(node))),
            "let_declaration" => {
                let value = self.rust_field(node, "value");
                let name = node.child_by_field_name("pattern").map(|pattern| self.rust_pattern(pattern)).unwrap_or_default();
                Kind::Declare { name, of: self.rust_type_field(node, "type"), value, part: 0 }
            }
            "const_item" | "static_item" => Kind::Declare {
                name: self.field_text(node, "name"),
                of: self.rust_type_field(node, "type"),
                value: self.rust_field(node, "value"),
                part: 0,
            },
            "call_expression" => match self.rust_call(node) {
                Ok(kind) => kind,
                Err(same) => return same,
            },
            "field_expression" => match (self.rust_field(node, "value"), node.child_by_field_name("field")) {
                (Some(object), Some(field)) => Kind::Member { object, name: self.word(field) },
                _ => nothing,
            },
            "scoped_identifier" => {
                let full = self.rust_path(self.text(node));
                let last = node.child_by_field_name("name").map_or(0..0, |name| name.byte_range());
                let (path, name) = full.rsplit_once("::").unwrap_or(("", full.as_str()));
                let object = self.add_span(node.start_byte()..last.start, Kind::Name(head(path)));
                Kind::Member { object, name: Word { text: name.to_owned(), span: last } }
            }
            "identifier" | "self" | "shorthand_field_identifier" => Kind::Name(self.text(node).to_owned()),
            "integer_literal" | "float_literal" => self.number(node).map_or(nothing, Kind::Number),
            "string_literal" => Kind::Text(unescape(self.text(node).trim_matches('"'))),
            "raw_string_literal" => {
                Kind::Text(self.text(node).trim_start_matches('r').trim_matches('#').trim_matches('"').to_owned())
            }
            "boolean_literal" => Kind::Truth(self.text(node) == "true"),
            "binary_expression" => match (self.rust_field(node, "left"), self.rust_field(node, "right")) {
                (Some(left), Some(right)) => Kind::Binary { operator: self.field_text(node, "operator"), left, right },
                _ => nothing,
            },
            "assignment_expression" | "compound_assignment_expr" => {
                match (self.rust_field(node, "left"), self.rust_field(node, "right")) {
                    (Some(target), Some(value)) => {
                        Kind::Assign { target, value, part: 0, updates: node.kind() != "assignment_expression" }
                    }
                    _ => nothing,
                }
            }
            "struct_expression" => {
                let of = node.child_by_field_name("name").map(|of| self.rust_path(self.text(of))).unwrap_or_default();
                let entries = node.child_by_field_name("body").map(|body| self.rust_entries(body)).unwrap_or_default();
                Kind::New { of, arguments: Vec::new(), entries }
            }
            "array_expression" => Kind::New { of: String::new(), arguments: Vec::new(), entries: self.rust_all(named(node)) },
            "macro_invocation" => self.rust_macro(node),
            "if_expression" => {
                let condition = node.child_by_field_name("condition").map(|condition| self.rust_condition(condition));
                let then = self.rust_field(node, "consequence");
                let otherwise = self.rust_field(node, "alternative");
                match then {
                    Some(then) => Kind::If { condition, then, otherwise },
                    None => nothing,
                }
            }
            "match_expression" => {
                let mut list: Vec<Id> = self.rust_field(node, "value").into_iter().collect();
                let subject = list.first().copied();
                for arm in node.child_by_field_name("body").map(named).unwrap_or_default() {
                    list.extend(self.rust_arm(arm, subject));
                }
                Kind::Group(list)
            }
            "for_expression" => {
                let value = node.child_by_field_name("value");
                let each = value.is_none_or(|value| value.kind() != "range_expression");
                let head = value.map(|value| self.rust_one(value)).into_iter().collect();
                self.rust_loop(node, each, head)
            }
            "while_expression" | "loop_expression" => {
                let condition = node.child_by_field_name("condition").map(|condition| self.rust_condition(condition));
                self.rust_loop(node, false, condition.into_iter().collect())
            }
            "return_expression" => Kind::Return(self.rust_all(named(node))),
            "break_expression" => Kind::Break,
            "continue_expression" => Kind::Continue,
            _ => Kind::Group(self.rust_all(named(node))),
        };
        self.add(node, kind)
    }

    fn rust_loop(&mut self, node: Node<'_>, each: bool, head: Vec<Id>) -> Kind {
        match self.rust_field(node, "body") {
            Some(body) => Kind::Loop { each, head, body },
            None => Kind::Group(head),
        }
    }

    fn rust_entries(&mut self, body: Node<'_>) -> Vec<Id> {
        let mut entries = Vec::new();
        for field in named(body) {
            let (name, value) = match field.kind() {
                "field_initializer" => match (field.child_by_field_name("field"), self.rust_field(field, "value")) {
                    (Some(name), Some(value)) => (self.word(name), value),
                    _ => continue,
                },
                "shorthand_field_initializer" => {
                    let Some(name) = child(field, "identifier") else { continue };
                    (self.word(name), self.rust_one(name))
                }
                _ => continue,
            };
            entries.push(self.add(field, Kind::Entry { name, value }));
        }
        entries
    }

    /// A condition; a pattern's is a comparison with the pattern's outermost name: `Ok`, `Err`, `Some`.
    fn rust_condition(&mut self, node: Node<'_>) -> Id {
        if node.kind() != "let_condition" {
            return self.rust_one(node);
        }
        let left = self.rust_field(node, "value");
        let operator = node.child_by_field_name("pattern").map(|pattern| self.rust_outer(pattern)).unwrap_or_default();
        let right = self.add(node, Kind::Group(Vec::new()));
        let kind = left.map_or(Kind::Group(Vec::new()), |left| Kind::Binary { operator, left, right });
        self.add(node, kind)
    }

    fn rust_outer(&self, pattern: Node<'_>) -> String {
        let text = self.text(pattern);
        text.split(['(', '{', ' ']).next().unwrap_or(text).rsplit("::").next().unwrap_or("").to_owned()
    }

    /// An arm, as a branch on its pattern. The subject stands before all of them, and is in none.
    fn rust_arm(&mut self, arm: Node<'_>, subject: Option<Id>) -> Option<Id> {
        let operator = arm.child_by_field_name("pattern").map(|pattern| self.rust_outer(pattern))?;
        let then = self.rust_field(arm, "value")?;
        let _ = subject?;
        let left = self.add_span(arm.start_byte()..arm.start_byte(), Kind::Group(Vec::new()));
        let right = self.add_span(arm.start_byte()..arm.start_byte(), Kind::Group(Vec::new()));
        let condition = self.add(arm, Kind::Binary { operator, left, right });
        Some(self.add(arm, Kind::If { condition: Some(condition), then, otherwise: None }))
    }

    fn rust_macro(&mut self, node: Node<'_>) -> Kind {
        let name = self.field_text(node, "macro");
        let name = name.rsplit("::").next().unwrap_or("");
        let Some(tokens) = child(node, "token_tree") else { return Kind::Group(Vec::new()) };
        match name {
            "json" => match named(tokens).first() {
                Some(&object) if object.kind() == "token_tree" => self.rust_json(object, 0),
                _ => Kind::Group(Vec::new()),
            },
            "format" => match named(tokens).first() {
                Some(&text) if text.kind().ends_with("string_literal") => {
                    let text = self.text(text);
                    let text = if text.starts_with('r') {
                        text.trim_start_matches('r').trim_matches('#').trim_matches('"').to_owned()
                    } else {
                        unescape(text.trim_matches('"'))
                    };
                    Kind::Template(fill(&text))
                }
                _ => Kind::Group(Vec::new()),
            },
            _ => Kind::Group(Vec::new()),
        }
    }

    /// `{"key": value, ...}` and `[value, ...]` in a macro's tokens.
    fn rust_json(&mut self, node: Node<'_>, depth: usize) -> Kind {
        let mut cursor = node.walk();
        let tokens: Vec<Node<'_>> = node.children(&mut cursor).filter(|token| !token.is_extra()).collect();
        let inner = tokens.get(1..tokens.len().saturating_sub(1)).unwrap_or_default();
        let mut entries = Vec::new();
        for item in inner.split(|token| token.kind() == ",") {
            let (key, value) = match item {
                [key, colon, value @ ..] if colon.kind() == ":" && key.kind() == "string_literal" => (Some(*key), value),
                _ => (None, item),
            };
            let Some(first) = value.first() else { continue };
            let value = match value {
                [one] if one.kind() == "token_tree" && depth < 16 => {
                    let kind = self.rust_json(*one, depth + 1);
                    self.add(*one, kind)
                }
                [one] if one.is_named() => self.rust_one(*one),
                _ => self.add(*first, Kind::Group(Vec::new())),
            };
            match key {
                Some(key) => {
                    let text = self.text(key).trim_matches('"').to_owned();
                    let name = Word { text, span: key.byte_range() };
                    entries.push(self.add(key, Kind::Entry { name, value }));
                }
                None => entries.push(value),
            }
        }
        Kind::New { of: String::new(), arguments: Vec::new(), entries }
    }
}

/// The path before a function's name: a module is never a variable of the same name.
fn head(path: &str) -> String {
    if path.contains("::") || path.starts_with(char::is_uppercase) { path.to_owned() } else { format!("::{path}") }
}

/// A format text with `x` for each of its gaps, and single braces.
fn fill(text: &str) -> String {
    let (mut filled, mut chars) = (String::new(), text.chars().peekable());
    while let Some(c) = chars.next() {
        match c {
            '{' | '}' if chars.peek() == Some(&c) => {
                chars.next();
                filled.push(c);
            }
            '{' => {
                for inner in chars.by_ref() {
                    if inner == '}' {
                        break;
                    }
                }
                filled.push('x');
            }
            _ => filled.push(c),
        }
    }
    filled
}
