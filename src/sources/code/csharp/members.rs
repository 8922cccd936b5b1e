//! C#'s types and members as classes and declarations.

use tree_sitter::Node;

use crate::sources::code::program::lower::{Lowering, child, named};
use crate::sources::code::program::{Id, Kind, Word};

/// Types that stand for what is in them.
const WRAPPERS: &[&str] = &["Task", "ValueTask", "Lazy", "Nullable"];

impl Lowering<'_> {
    /// A type's name, out of what only wraps it.
    pub(super) fn cs_type(&self, node: Node<'_>, depth: usize) -> String {
        match node.kind() {
            "nullable_type" => node.child_by_field_name("type").map(|of| self.cs_type(of, depth + 1)).unwrap_or_default(),
            "generic_name" if depth < 16 => {
                let name = named(node).first().map(|name| self.text(*name)).unwrap_or_default();
                let inner = child(node, "type_argument_list").map(named).unwrap_or_default();
                match inner.first() {
                    Some(inner) if WRAPPERS.contains(&name) => self.cs_type(*inner, depth + 1),
                    _ => name.to_owned(),
                }
            }
            "implicit_type" => String::new(),
            _ => self.text(node).to_owned(),
        }
    }

    pub(super) fn cs_type_field(&self, node: Node<'_>, field: &str) -> String {
        node.child_by_field_name(field).map(|of| self.cs_type(of, 0)).unwrap_or_default()
    }

    fn cs_marks(&self, node: Node<'_>) -> Vec<Word> {
        let lists = named(node).into_iter().filter(|part| part.kind() == "attribute_list");
        lists.flat_map(named).map(|part| Word { text: self.field_text(part, "name"), span: part.byte_range() }).collect()
    }

    pub(super) fn cs_parameters(&mut self, node: Option<Node<'_>>) -> Vec<Id> {
        let Some(node) = node else { return Vec::new() };
        if matches!(node.kind(), "implicit_parameter" | "identifier") {
            let name = self.text(node).to_owned();
            return vec![self.add(node, Kind::Parameter { name, of: String::new() })];
        }
        let mut list = Vec::new();
        for parameter in named(node) {
            if matches!(parameter.kind(), "parameter" | "implicit_parameter" | "identifier") {
                let name = match parameter.child_by_field_name("name") {
                    Some(name) => self.text(name).to_owned(),
                    None => self.text(parameter).to_owned(),
                };
                let of = self.cs_type_field(parameter, "type");
                list.push(self.add(parameter, Kind::Parameter { name, of }));
            }
        }
        list
    }

    pub(super) fn cs_class(&mut self, node: Node<'_>) -> Kind {
        let mut members = self.cs_parameters(child(node, "parameter_list"));
        members.extend(node.child_by_field_name("body").map(|body| self.cs_all(named(body))).unwrap_or_default());
        let bases = child(node, "base_list").map(named).unwrap_or_default();
        Kind::Class {
            name: self.field_text(node, "name"),
            bases: bases.into_iter().map(|base| self.cs_type(base, 0)).collect(),
            members,
            marks: self.cs_marks(node),
        }
    }

    pub(super) fn cs_function(&mut self, node: Node<'_>) -> Kind {
        let result = match self.cs_type_field(node, "returns") {
            empty if empty.is_empty() => self.cs_type_field(node, "type"),
            result => result,
        };
        let parameters = self.cs_parameters(node.child_by_field_name("parameters"));
        let body = node.child_by_field_name("body").map(|body| self.cs_one(body));
        if let Some(body) = body {
            self.program.target_type(body, &result);
        }
        Kind::Function { name: self.field_text(node, "name"), parameters, result, body, marks: self.cs_marks(node) }
    }

    /// A property is a field with the value that it begins with, or gives.
    pub(super) fn cs_property(&mut self, node: Node<'_>) -> Kind {
        let of = self.cs_type_field(node, "type");
        let value = node.child_by_field_name("value").map(|value| self.cs_one(value));
        if let Some(value) = value {
            self.program.target_type(value, &of);
        }
        Kind::Declare { name: self.field_text(node, "name"), of, value, part: 0 }
    }

    /// The declarators of a field or of a local declaration; each begins where the statement does, after its attributes.
    pub(super) fn cs_variables(&mut self, node: Node<'_>) -> Vec<Id> {
        let variables = if node.kind() == "variable_declaration" { Some(node) } else { child(node, "variable_declaration") };
        let Some(variables) = variables else { return Vec::new() };
        let first = named(node).into_iter().find(|part| part.kind() != "attribute_list");
        let start = match first {
            // `using` stands before the first named part.
            Some(first) if first.kind() != "variable_declaration" || node.kind() == "field_declaration" => first.start_byte(),
            _ => node.start_byte(),
        };
        let of = self.cs_type_field(variables, "type");
        let mut list = Vec::new();
        for declarator in named(variables).into_iter().filter(|part| part.kind() == "variable_declarator") {
            let name = declarator.child_by_field_name("name");
            let value =
                named(declarator).into_iter().rfind(|part| Some(*part) != name && part.kind() != "bracketed_argument_list");
            let value = value.map(|value| self.cs_one(value));
            if let Some(value) = value {
                self.program.target_type(value, &of);
            }
            let name = name.map(|name| self.text(name).to_owned()).unwrap_or_default();
            list.push(self.add_span(start..node.end_byte(), Kind::Declare { name, of: of.clone(), value, part: 0 }));
        }
        list
    }
}
