//! Rust's items as declarations and classes, and its paths as names.

use tree_sitter::Node;

use crate::sources::code::program::lower::{Lowering, child, named};
use crate::sources::code::program::{Id, Kind};

/// Types that stand for what is in them.
const WRAPPERS: &[&str] =
    &["Arc", "Rc", "Box", "Option", "Result", "OnceCell", "OnceLock", "LazyLock", "Lazy", "Cow", "AsyncOnceCell"];

impl Lowering<'_> {
    /// What `use` brings in: names, and the paths that they stand for.
    pub(super) fn rust_imports(&mut self, node: Node<'_>, prefix: &str, depth: usize) {
        if depth > 16 {
            return;
        }
        let joined = |path: &str| if prefix.is_empty() { path.to_owned() } else { format!("{prefix}::{path}") };
        match node.kind() {
            "use_declaration" => {
                if let Some(argument) = node.child_by_field_name("argument") {
                    self.rust_imports(argument, prefix, depth + 1);
                }
            }
            "identifier" | "scoped_identifier" | "self" | "crate" => {
                let text = self.text(node);
                let (path, name) = match text {
                    "self" => (prefix.to_owned(), prefix.rsplit("::").next().unwrap_or(prefix).to_owned()),
                    _ => (joined(text), text.rsplit("::").next().unwrap_or(text).to_owned()),
                };
                self.imports.insert(name, path);
            }
            "use_as_clause" => {
                let path = joined(&self.field_text(node, "path"));
                let alias = self.field_text(node, "alias");
                self.imports.insert(alias, path);
            }
            "scoped_use_list" => {
                let path = joined(&self.field_text(node, "path"));
                if let Some(list) = node.child_by_field_name("list") {
                    self.rust_imports(list, &path, depth + 1);
                }
            }
            "use_list" => {
                for part in named(node) {
                    self.rust_imports(part, prefix, depth + 1);
                }
            }
            _ => {}
        }
    }

    /// A path in full, as far as `use` tells.
    pub(super) fn rust_path(&self, text: &str) -> String {
        let text: String = text.split_whitespace().collect();
        let (head, rest) = match text.split_once("::") {
            Some((head, rest)) => (head, Some(rest)),
            None => (text.as_str(), None),
        };
        let full = self.imports.get(head).map_or(head, String::as_str);
        rest.map_or(full.to_owned(), |rest| format!("{full}::{rest}"))
    }

    /// A type as a path, out of references and what only wraps it.
    pub(super) fn rust_type(&self, node: Node<'_>, depth: usize) -> String {
        if depth > 16 {
            return String::new();
        }
        match node.kind() {
            "reference_type" => node.child_by_field_name("type").map(|of| self.rust_type(of, depth + 1)).unwrap_or_default(),
            "generic_type" => {
                let of = self.field_text(node, "type");
                let inner = node.child_by_field_name("type_arguments").map(named).unwrap_or_default();
                let inner = inner.into_iter().find(|part| part.kind() != "lifetime");
                match inner {
                    Some(inner) if WRAPPERS.contains(&of.rsplit("::").next().unwrap_or(&of)) => {
                        self.rust_type(inner, depth + 1)
                    }
                    _ => self.rust_path(&of),
                }
            }
            "type_identifier" | "scoped_type_identifier" => self.rust_path(self.text(node)),
            _ => self.text(node).to_owned(),
        }
    }

    pub(super) fn rust_type_field(&self, node: Node<'_>, field: &str) -> String {
        node.child_by_field_name(field).map(|of| self.rust_type(of, 0)).unwrap_or_default()
    }

    pub(super) fn rust_struct(&mut self, node: Node<'_>) -> Kind {
        let mut members = Vec::new();
        for field in child(node, "field_declaration_list").map(named).unwrap_or_default() {
            if field.kind() == "field_declaration" {
                let of = self.rust_type_field(field, "type");
                let name = self.field_text(field, "name");
                members.push(self.add(field, Kind::Declare { name, of, value: None, part: 0 }));
            }
        }
        Kind::Class { name: self.field_text(node, "name"), bases: Vec::new(), members, marks: Vec::new() }
    }

    pub(super) fn rust_impl(&mut self, node: Node<'_>) -> Kind {
        let of = self.rust_type_field(node, "type");
        let members = node.child_by_field_name("body").map(named).unwrap_or_default();
        let members = self.rust_all(members);
        let name = of.rsplit("::").next().unwrap_or(&of).to_owned();
        Kind::Class { name, bases: Vec::new(), members, marks: Vec::new() }
    }

    pub(super) fn rust_function(&mut self, node: Node<'_>) -> Kind {
        let parameters = self.rust_parameters(node.child_by_field_name("parameters"));
        let body = node.child_by_field_name("body").map(|body| self.rust_body(body));
        Kind::Function {
            name: self.field_text(node, "name"),
            parameters,
            result: self.rust_type_field(node, "return_type"),
            body,
            marks: Vec::new(),
        }
    }

    pub(super) fn rust_parameters(&mut self, node: Option<Node<'_>>) -> Vec<Id> {
        let mut list = Vec::new();
        for parameter in node.map(named).unwrap_or_default() {
            let (pattern, of) = match parameter.kind() {
                "parameter" => (parameter.child_by_field_name("pattern"), self.rust_type_field(parameter, "type")),
                "self_parameter" | "attribute_item" => continue,
                _ => (Some(parameter), String::new()),
            };
            let name = pattern.map(|pattern| self.rust_pattern(pattern)).unwrap_or_default();
            list.push(self.add(parameter, Kind::Parameter { name, of }));
        }
        list
    }

    /// The one name that a pattern binds.
    pub(super) fn rust_pattern(&self, node: Node<'_>) -> String {
        match node.kind() {
            "identifier" => self.text(node).to_owned(),
            "mut_pattern" | "reference_pattern" | "ref_pattern" => {
                let inner = named(node).into_iter().rfind(|part| part.kind() == "identifier");
                inner.map(|inner| self.text(inner).to_owned()).unwrap_or_default()
            }
            _ => String::new(),
        }
    }

    /// A function's block: its last expression is what it returns.
    pub(super) fn rust_body(&mut self, node: Node<'_>) -> Id {
        if node.kind() != "block" {
            return self.rust_one(node);
        }
        let mut parts = named(node);
        let last = parts.pop_if(|last| {
            !last.kind().ends_with("_statement") && !last.kind().ends_with("_item") && !last.kind().ends_with("_declaration")
        });
        let mut list = self.rust_all(parts);
        if let Some(last) = last {
            let value = self.rust_one(last);
            list.push(if matches!(self.program.kind(value), Kind::Return(_)) {
                value
            } else {
                self.add(last, Kind::Return(vec![value]))
            });
        }
        self.add(node, Kind::Scope(list))
    }
}
