//! C#'s syntax tree as a program.

use tree_sitter::Node;

use crate::sources::code::program::lower::{DEPTH, Lowering, child, fields, named, unescape};
use crate::sources::code::program::{Id, Kind, Word};

impl Lowering<'_> {
    /// A file.
    pub(super) fn csharp(&mut self, root: Node<'_>) {
        let list = self.cs_all(named(root));
        self.add(root, Kind::Scope(list));
    }

    pub(super) fn cs_all(&mut self, nodes: Vec<Node<'_>>) -> Vec<Id> {
        nodes.into_iter().flat_map(|node| self.cs_many(node)).collect()
    }

    fn cs_many(&mut self, node: Node<'_>) -> Vec<Id> {
        if self.depth >= DEPTH || self.program.is_full() {
            return Vec::new();
        }
        self.depth += 1;
        let list = match node.kind() {
            "using_directive" | "modifier" | "attribute_list" | "type_argument_list" => Vec::new(),
            "field_declaration" | "local_declaration_statement" | "variable_declaration" => self.cs_variables(node),
            "expression_statement"
            | "global_statement"
            | "parenthesized_expression"
            | "await_expression"
            | "arrow_expression_clause"
            | "checked_expression" => self.cs_all(named(node)),
            // `value!`
            "postfix_unary_expression" if self.text(node).ends_with('!') => self.cs_all(named(node)),
            "argument" => named(node).into_iter().next_back().map(|value| self.cs_many(value)).unwrap_or_default(),
            "cast_expression" => node.child_by_field_name("value").map(|value| self.cs_many(value)).unwrap_or_default(),
            "as_expression" => node.child_by_field_name("left").map(|value| self.cs_many(value)).unwrap_or_default(),
            _ => vec![self.cs_node(node)],
        };
        self.depth -= 1;
        list
    }

    pub(super) fn cs_one(&mut self, node: Node<'_>) -> Id {
        let mut list = self.cs_many(node);
        if list.len() == 1 { list.swap_remove(0) } else { self.add(node, Kind::Group(list)) }
    }

    fn cs_field(&mut self, node: Node<'_>, field: &str) -> Option<Id> {
        node.child_by_field_name(field).map(|child| self.cs_one(child))
    }

    fn cs_arguments(&mut self, list: Option<Node<'_>>) -> Vec<Id> {
        list.map(named).unwrap_or_default().into_iter().map(|argument| self.cs_one(argument)).collect()
    }

    /// A name without its type arguments.
    fn cs_word(&self, node: Node<'_>) -> Word {
        match node.kind() {
            "generic_name" => named(node).first().map(|name| self.word(*name)).unwrap_or_default(),
            _ => self.word(node),
        }
    }

    fn cs_call(&mut self, node: Node<'_>) -> Kind {
        let arguments = self.cs_arguments(node.child_by_field_name("arguments"));
        let Some(function) = node.child_by_field_name("function") else { return Kind::Group(arguments) };
        let (object, name) = match function.kind() {
            "member_access_expression" => (self.cs_field(function, "expression"), function.child_by_field_name("name")),
            // `client?.Ask()`
            "conditional_access_expression" => {
                let name = child(function, "member_binding_expression").and_then(|part| part.child_by_field_name("name"));
                (self.cs_field(function, "condition"), name)
            }
            "identifier" | "generic_name" => (None, Some(function)),
            _ => {
                let mut list = vec![self.cs_one(function)];
                list.extend(arguments);
                return Kind::Group(list);
            }
        };
        let name = name.map(|name| self.cs_word(name)).unwrap_or_default();
        Kind::Call { object, name, arguments }
    }

    /// `{ Timeout = x }`, `{ ["key"] = x }`, `{ { "key", x } }`, `{ x, y }`.
    fn cs_entries(&mut self, node: Node<'_>) -> Vec<Id> {
        let mut entries = Vec::new();
        for part in named(node) {
            let pair = match part.kind() {
                "assignment_expression" => {
                    let key = part.child_by_field_name("left").map(|left| self.cs_key(left));
                    key.zip(part.child_by_field_name("right"))
                }
                "initializer_expression" => match named(part).as_slice() {
                    [key, value] => Some((self.cs_key(*key), *value)),
                    _ => None,
                },
                _ => None,
            };
            match pair {
                Some((name, value)) => {
                    let value = match value.kind() {
                        "initializer_expression" => {
                            let entries = self.cs_entries(value);
                            self.add(value, Kind::New { of: String::new(), arguments: Vec::new(), entries })
                        }
                        _ => self.cs_one(value),
                    };
                    entries.push(self.add(part, Kind::Entry { name, value }));
                }
                None => entries.push(self.cs_one(part)),
            }
        }
        entries
    }

    /// The name of an entry, or the text that is its key.
    fn cs_key(&self, node: Node<'_>) -> Word {
        let mut at = node;
        for _ in 0..4 {
            match (at.kind(), named(at).first()) {
                ("identifier" | "string_literal", _) | (_, None) => break,
                (_, Some(inner)) => at = *inner,
            }
        }
        Word { text: self.text(at).trim_matches('"').to_owned(), span: at.byte_range() }
    }

    /// `new { max_tokens = 5, prompt }`
    fn cs_anonymous(&mut self, node: Node<'_>) -> Kind {
        let mut cursor = node.walk();
        let parts: Vec<Node<'_>> = node.children(&mut cursor).filter(|part| !part.is_extra()).collect();
        let mut entries = Vec::new();
        for (index, part) in parts.iter().enumerate() {
            let next = parts.get(index + 1).map(Node::kind);
            let before = index.checked_sub(1).and_then(|index| parts.get(index)).map(Node::kind);
            if !part.is_named() || (part.kind() == "identifier" && next == Some("=")) {
                continue;
            }
            let name = match before {
                Some("=") => index.checked_sub(2).and_then(|index| parts.get(index)).map(|name| self.word(*name)),
                _ => Some(self.word(part.child_by_field_name("name").unwrap_or(*part))),
            };
            let value = self.cs_one(*part);
            entries.push(self.add(*part, Kind::Entry { name: name.unwrap_or_default(), value }));
        }
        Kind::New { of: String::new(), arguments: Vec::new(), entries }
    }

    /// A text with gaps: each reads `x`.
    fn cs_template(&mut self, node: Node<'_>) -> Kind {
        let raw = child(node, "interpolation_start").is_some_and(|start| self.text(start).len() > 1)
            || child(node, "interpolation_quote").is_some_and(|quote| self.text(quote).len() > 1);
        let (mut text, mut gaps) = (String::new(), false);
        for part in named(node) {
            match part.kind() {
                "string_content" if raw => text.push_str(self.text(part)),
                "string_content" => text.push_str(&self.text(part).replace("{{", "{").replace("}}", "}")),
                "escape_sequence" => text.push_str(&unescape(self.text(part))),
                "interpolation" => {
                    gaps = true;
                    text.push('x');
                }
                _ => {}
            }
        }
        if gaps { Kind::Template(text) } else { Kind::Text(text) }
    }

    fn cs_node(&mut self, node: Node<'_>) -> Id {
        let nothing = Kind::Group(Vec::new());
        let kind = match node.kind() {
            "class_declaration" | "record_declaration" | "struct_declaration" | "interface_declaration" => self.cs_class(node),
            "method_declaration" | "constructor_declaration" | "local_function_statement" => self.cs_function(node),
            "property_declaration" => self.cs_property(node),
            "lambda_expression" | "anonymous_method_expression" => Kind::Function {
                name: String::new(),
                parameters: self.cs_parameters(node.child_by_field_name("parameters")),
                result: String::new(),
                body: self.cs_field(node, "body").or_else(|| child(node, "block").map(|block| self.cs_one(block))),
                marks: Vec::new(),
            },
            "block" => Kind::Scope(self.cs_all(named(node))),
            "invocation_expression" => self.cs_call(node),
            "object_creation_expression" | "implicit_object_creation_expression" => {
                let list = node.child_by_field_name("arguments").or_else(|| child(node, "argument_list"));
                let filled = node.child_by_field_name("initializer").or_else(|| child(node, "initializer_expression"));
                Kind::New {
                    of: self.cs_type_field(node, "type"),
                    arguments: self.cs_arguments(list),
                    entries: filled.map(|filled| self.cs_entries(filled)).unwrap_or_default(),
                }
            }
            "anonymous_object_creation_expression" => self.cs_anonymous(node),
            "array_creation_expression" | "implicit_array_creation_expression" => {
                let entries = child(node, "initializer_expression").map(|filled| self.cs_entries(filled)).unwrap_or_default();
                Kind::New { of: String::new(), arguments: Vec::new(), entries }
            }
            "initializer_expression" => Kind::New { of: String::new(), arguments: Vec::new(), entries: self.cs_entries(node) },
            "collection_expression" => {
                Kind::New { of: String::new(), arguments: Vec::new(), entries: self.cs_all(named(node)) }
            }
            "member_access_expression" => match (self.cs_field(node, "expression"), node.child_by_field_name("name")) {
                (Some(object), Some(name)) => Kind::Member { object, name: self.cs_word(name) },
                _ => nothing,
            },
            "element_access_expression" => match (self.cs_field(node, "expression"), node.child_by_field_name("subscript")) {
                (Some(object), Some(subscript)) => Kind::Member { object, name: self.cs_key(subscript) },
                _ => nothing,
            },
            "identifier" | "this" | "this_expression" | "base" | "predefined_type" => Kind::Name(self.text(node).to_owned()),
            "generic_name" => Kind::Name(self.cs_word(node).text),
            "integer_literal" | "real_literal" => self.number(node).map_or(nothing, Kind::Number),
            "string_literal" => Kind::Text(unescape(self.text(node).trim_matches('"'))),
            "verbatim_string_literal" => {
                let text = self.text(node).trim_start_matches('@');
                let inner = text.strip_prefix('"').and_then(|text| text.strip_suffix('"')).unwrap_or(text);
                Kind::Text(inner.replace("\"\"", "\""))
            }
            "raw_string_literal" => {
                Kind::Text(child(node, "raw_string_content").map(|text| self.text(text).to_owned()).unwrap_or_default())
            }
            "interpolated_string_expression" => self.cs_template(node),
            "boolean_literal" => Kind::Truth(self.text(node) == "true"),
            "null_literal" => Kind::Null,
            "binary_expression" => match (self.cs_field(node, "left"), self.cs_field(node, "right")) {
                (Some(left), Some(right)) => Kind::Binary { operator: self.field_text(node, "operator"), left, right },
                _ => nothing,
            },
            "assignment_expression" => match (self.cs_field(node, "left"), self.cs_field(node, "right")) {
                (Some(target), Some(value)) => {
                    let operator = self.field_text(node, "operator");
                    Kind::Assign { target, value, part: 0, updates: !matches!(operator.as_str(), "=" | "??=") }
                }
                _ => nothing,
            },
            "postfix_unary_expression" | "prefix_unary_expression" if self.text(node).contains("++") => {
                match named(node).first() {
                    Some(&target) => {
                        let target = self.cs_one(target);
                        let value = self.add(node, Kind::Group(Vec::new()));
                        Kind::Assign { target, value, part: 0, updates: true }
                    }
                    None => nothing,
                }
            }
            "if_statement" | "conditional_expression" => {
                let condition = self.cs_field(node, "condition");
                let then = self.cs_field(node, "consequence");
                let otherwise = self.cs_field(node, "alternative");
                match then {
                    Some(then) => Kind::If { condition, then, otherwise },
                    None => nothing,
                }
            }
            "foreach_statement" => {
                let mut head: Vec<Id> = self.cs_field(node, "right").into_iter().collect();
                let (name, of) = (self.field_text(node, "left"), self.cs_type_field(node, "type"));
                head.push(self.add(node, Kind::Parameter { name, of }));
                self.cs_loop(node, true, head)
            }
            "for_statement" | "while_statement" | "do_statement" => {
                let mut head = Vec::new();
                for field in ["initializer", "condition", "update"] {
                    for part in fields(node, field) {
                        head.extend(self.cs_many(part));
                    }
                }
                self.cs_loop(node, false, head)
            }
            "try_statement" => {
                let (mut body, mut handlers) = (Vec::new(), Vec::new());
                for part in named(node) {
                    match part.kind() {
                        "catch_clause" => handlers.extend(part.child_by_field_name("body").map(|body| self.cs_one(body))),
                        _ => body.push(self.cs_one(part)),
                    }
                }
                Kind::Try { body, handlers }
            }
            "return_statement" => Kind::Return(self.cs_all(named(node))),
            "break_statement" => Kind::Break,
            "continue_statement" => Kind::Continue,
            _ => Kind::Group(self.cs_all(named(node))),
        };
        self.add(node, kind)
    }

    fn cs_loop(&mut self, node: Node<'_>, each: bool, head: Vec<Id>) -> Kind {
        match self.cs_field(node, "body") {
            Some(body) => Kind::Loop { each, head, body },
            None => Kind::Group(head),
        }
    }
}
