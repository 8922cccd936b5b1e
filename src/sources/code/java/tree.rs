//! Java's syntax tree as a program.

use tree_sitter::Node;

use crate::sources::code::program::lower::{DEPTH, Lowering, child, fields, named, unescape};
use crate::sources::code::program::{Id, Kind, Word};

impl Lowering<'_> {
    /// A file.
    pub(super) fn java(&mut self, root: Node<'_>) {
        let list = self.java_all(named(root));
        self.add(root, Kind::Scope(list));
    }

    fn java_all(&mut self, nodes: Vec<Node<'_>>) -> Vec<Id> {
        nodes.into_iter().flat_map(|node| self.java_many(node)).collect()
    }

    /// Declarations may give several nodes, or none.
    fn java_many(&mut self, node: Node<'_>) -> Vec<Id> {
        if self.depth >= DEPTH || self.program.is_full() {
            return Vec::new();
        }
        self.depth += 1;
        let list = match node.kind() {
            "field_declaration" | "local_variable_declaration" | "constant_declaration" => self.java_variables(node),
            "expression_statement" | "parenthesized_expression" | "labeled_statement" => self.java_all(named(node)),
            "package_declaration" | "import_declaration" | "modifiers" | "type_arguments" | "type_parameters" => Vec::new(),
            _ => vec![self.java_node(node)],
        };
        self.depth -= 1;
        list
    }

    /// An expression or a statement, as one node.
    fn java_one(&mut self, node: Node<'_>) -> Id {
        let mut list = self.java_many(node);
        if list.len() == 1 { list.swap_remove(0) } else { self.add(node, Kind::Group(list)) }
    }

    fn java_field(&mut self, node: Node<'_>, field: &str) -> Option<Id> {
        node.child_by_field_name(field).map(|child| self.java_one(child))
    }

    fn java_arguments(&mut self, node: Node<'_>) -> Vec<Id> {
        let list = node.child_by_field_name("arguments").map(named).unwrap_or_default();
        list.into_iter().map(|argument| self.java_one(argument)).collect()
    }

    /// The declarators of a declaration; each begins where the declaration does, after its annotations.
    fn java_variables(&mut self, node: Node<'_>) -> Vec<Id> {
        let of = self.field_text(node, "type");
        let mut start = node.start_byte();
        if let Some(modifiers) = child(node, "modifiers") {
            let mut cursor = modifiers.walk();
            let first = modifiers.children(&mut cursor).find(|part| !part.kind().ends_with("annotation") && !part.is_extra());
            start = match (first, node.child_by_field_name("type")) {
                (Some(first), _) => first.start_byte(),
                (None, Some(of)) => of.start_byte(),
                (None, None) => start,
            };
        }
        let declarators = fields(node, "declarator");
        let mut list = Vec::new();
        for declarator in declarators {
            let value = self.java_field(declarator, "value");
            let name = self.field_text(declarator, "name");
            let kind = Kind::Declare { name, of: of.clone(), value, part: 0 };
            list.push(self.add_span(start..node.end_byte(), kind));
        }
        list
    }

    fn java_marks(&self, node: Node<'_>) -> Vec<Word> {
        let modifiers = child(node, "modifiers").map(named).unwrap_or_default();
        modifiers
            .into_iter()
            .filter(|part| part.kind().ends_with("annotation"))
            .map(|part| Word { text: self.field_text(part, "name"), span: part.byte_range() })
            .collect()
    }

    fn java_parameters(&mut self, node: Option<Node<'_>>) -> Vec<Id> {
        let Some(node) = node else { return Vec::new() };
        let list = if node.kind() == "identifier" { vec![node] } else { named(node) };
        list.into_iter()
            .map(|parameter| {
                let (name, of) = match parameter.kind() {
                    "identifier" => (self.text(parameter).to_owned(), String::new()),
                    _ => (self.field_text(parameter, "name"), self.field_text(parameter, "type")),
                };
                self.add(parameter, Kind::Parameter { name, of })
            })
            .collect()
    }

    fn java_type(&mut self, node: Node<'_>) -> Id {
        let mut members = self.java_parameters(node.child_by_field_name("parameters"));
        if let Some(body) = node.child_by_field_name("body") {
            members.extend(self.java_all(named(body)));
        }
        let mut bases = Vec::new();
        for part in named(node) {
            if matches!(part.kind(), "superclass" | "super_interfaces" | "extends_interfaces") {
                let list = child(part, "type_list").map_or_else(|| named(part), named);
                bases.extend(list.into_iter().map(|base| self.text(base).to_owned()));
            }
        }
        let kind = Kind::Class { name: self.field_text(node, "name"), bases, members, marks: self.java_marks(node) };
        self.add(node, kind)
    }

    fn java_node(&mut self, node: Node<'_>) -> Id {
        let kind = match node.kind() {
            "class_declaration" | "record_declaration" | "interface_declaration" | "enum_declaration" => {
                return self.java_type(node);
            }
            "method_declaration" | "constructor_declaration" | "compact_constructor_declaration" => Kind::Function {
                name: self.field_text(node, "name"),
                parameters: self.java_parameters(node.child_by_field_name("parameters")),
                result: self.field_text(node, "type"),
                body: self.java_field(node, "body"),
                marks: self.java_marks(node),
            },
            "lambda_expression" => Kind::Function {
                name: String::new(),
                parameters: self.java_parameters(node.child_by_field_name("parameters")),
                result: String::new(),
                body: self.java_field(node, "body"),
                marks: Vec::new(),
            },
            "block" | "constructor_body" => Kind::Scope(self.java_all(named(node))),
            "method_invocation" => Kind::Call {
                object: self.java_field(node, "object"),
                name: node.child_by_field_name("name").map(|name| self.word(name)).unwrap_or_default(),
                arguments: self.java_arguments(node),
            },
            "object_creation_expression" => {
                let arguments = self.java_arguments(node);
                // The body of an anonymous class.
                let entries = match child(node, "class_body") {
                    Some(body) => {
                        let members = self.java_all(named(body));
                        vec![self.add(body, Kind::Class { name: String::new(), bases: Vec::new(), members, marks: Vec::new() })]
                    }
                    None => Vec::new(),
                };
                let of = self.field_text(node, "type");
                Kind::New { of: of.split('<').next().unwrap_or_default().to_owned(), arguments, entries }
            }
            "array_creation_expression" => {
                let entries = self.java_field(node, "value").into_iter().collect();
                Kind::New { of: String::new(), arguments: Vec::new(), entries }
            }
            "array_initializer" => Kind::New { of: String::new(), arguments: Vec::new(), entries: self.java_all(named(node)) },
            "field_access" => match (self.java_field(node, "object"), node.child_by_field_name("field")) {
                (Some(object), Some(field)) => Kind::Member { object, name: self.word(field) },
                _ => Kind::Group(Vec::new()),
            },
            "identifier" | "type_identifier" | "this" | "super" => Kind::Name(self.text(node).to_owned()),
            "decimal_integer_literal" | "hex_integer_literal" | "decimal_floating_point_literal" => {
                self.number(node).map_or(Kind::Group(Vec::new()), Kind::Number)
            }
            "string_literal" => Kind::Text(java_text(self.text(node))),
            "true" => Kind::Truth(true),
            "false" => Kind::Truth(false),
            "null_literal" => Kind::Null,
            "cast_expression" => match node.child_by_field_name("value") {
                Some(value) => return self.java_one(value),
                None => Kind::Group(Vec::new()),
            },
            "binary_expression" => match (self.java_field(node, "left"), self.java_field(node, "right")) {
                (Some(left), Some(right)) => Kind::Binary { operator: self.field_text(node, "operator"), left, right },
                _ => Kind::Group(Vec::new()),
            },
            "assignment_expression" => match (self.java_field(node, "left"), self.java_field(node, "right")) {
                (Some(target), Some(value)) => {
                    Kind::Assign { target, value, part: 0, updates: self.field_text(node, "operator") != "=" }
                }
                _ => Kind::Group(Vec::new()),
            },
            "update_expression" => match named(node).first() {
                Some(&target) => {
                    let target = self.java_one(target);
                    let value = self.add_span(node.byte_range(), Kind::Group(Vec::new()));
                    Kind::Assign { target, value, part: 0, updates: true }
                }
                None => Kind::Group(Vec::new()),
            },
            "if_statement" | "ternary_expression" => {
                let condition = self.java_field(node, "condition");
                let then = self.java_field(node, "consequence");
                let otherwise = self.java_field(node, "alternative");
                match then {
                    Some(then) => Kind::If { condition, then, otherwise },
                    None => Kind::Group(condition.into_iter().chain(otherwise).collect()),
                }
            }
            "enhanced_for_statement" => {
                let value = self.java_field(node, "value");
                let name = self.field_text(node, "name");
                let of = self.field_text(node, "type");
                let item = self.add(node, Kind::Parameter { name, of });
                let head = value.into_iter().chain(std::iter::once(item)).collect();
                self.java_loop(node, true, head)
            }
            "for_statement" | "while_statement" | "do_statement" => {
                let mut head = Vec::new();
                for field in ["init", "condition", "update"] {
                    for part in fields(node, field) {
                        head.extend(self.java_many(part));
                    }
                }
                self.java_loop(node, false, head)
            }
            "try_statement" | "try_with_resources_statement" => {
                let (mut body, mut handlers) = (Vec::new(), Vec::new());
                for part in named(node) {
                    match part.kind() {
                        "catch_clause" => handlers.extend(self.java_all(named(part))),
                        "resource_specification" => body.extend(self.java_all(named(part))),
                        _ => body.push(self.java_one(part)),
                    }
                }
                Kind::Try { body, handlers }
            }
            "resource" if node.child_by_field_name("name").is_some() => Kind::Declare {
                name: self.field_text(node, "name"),
                of: self.field_text(node, "type"),
                value: self.java_field(node, "value"),
                part: 0,
            },
            "return_statement" => Kind::Return(self.java_all(named(node))),
            "break_statement" => Kind::Break,
            "continue_statement" => Kind::Continue,
            _ => Kind::Group(self.java_all(named(node))),
        };
        self.add(node, kind)
    }

    fn java_loop(&mut self, node: Node<'_>, each: bool, head: Vec<Id>) -> Kind {
        match self.java_field(node, "body") {
            Some(body) => Kind::Loop { each, head, body },
            None => Kind::Group(head),
        }
    }
}

/// A string literal's text; a text block's without its indentation's meaning.
fn java_text(text: &str) -> String {
    let inner = match text.strip_prefix("\"\"\"") {
        Some(block) => block.strip_suffix("\"\"\"").unwrap_or(block),
        None => text.strip_prefix('"').and_then(|text| text.strip_suffix('"')).unwrap_or(text),
    };
    unescape(inner)
}
