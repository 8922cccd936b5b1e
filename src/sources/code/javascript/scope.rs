//! Names: which declaration stands behind an identifier, what a module imports and exports, and where names are assigned.

use std::collections::HashMap;

use tree_sitter::Node;

use super::syntax::{Parsed, field, is_class, is_function, named, unwrap, walk};

/// Steps into a value: a key, and what stands in where it is not there.
pub(super) type Path<'t> = Vec<(String, Option<Node<'t>>)>;

/// What a name stands for in its scope.
#[derive(Clone, Debug)]
pub(super) enum Binding<'t> {
    /// A variable, or a part of it by destructuring.
    Variable {
        declarator: Node<'t>,
        constant: bool,
        path: Path<'t>,
    },
    /// A function, class or enumeration.
    Declared(Node<'t>),
    Parameter {
        function: Node<'t>,
        index: usize,
        default: Option<Node<'t>>,
        path: Path<'t>,
    },
    Import {
        specifier: String,
        name: Imported,
    },
    /// A loop's variable, a caught error, the rest of a pattern.
    Opaque,
}

/// What is taken from a module.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Imported {
    Name(String),
    Whole,
}

/// Something that a module exports; without a name, everything of another module.
pub(super) struct Export<'t> {
    pub(super) name: Option<String>,
    pub(super) what: Exported<'t>,
}

pub(super) enum Exported<'t> {
    /// A name of the module's own scope.
    Local(String),
    Value(Node<'t>),
    From {
        specifier: String,
        name: Imported,
    },
}

/// A parsed file with its names.
pub(super) struct Module<'t> {
    pub(super) parsed: &'t Parsed,
    parents: HashMap<usize, Node<'t>>,
    scopes: HashMap<usize, HashMap<String, Binding<'t>>>,
    pub(super) exports: Vec<Export<'t>>,
    /// `module.exports = ...`.
    pub(super) whole: Option<Node<'t>>,
    /// Assignments and updates, by the name of the variable.
    pub(super) assigned: HashMap<&'t str, Vec<Node<'t>>>,
    /// Assignments to properties, by the name of the property.
    pub(super) set: HashMap<&'t str, Vec<Node<'t>>>,
    /// Calls and `new`, by the last name of what is called.
    pub(super) calls: HashMap<&'t str, Vec<Node<'t>>>,
}

impl<'t> Module<'t> {
    pub(super) fn new(parsed: &'t Parsed) -> Self {
        let mut module = Self {
            parsed,
            parents: HashMap::new(),
            scopes: HashMap::new(),
            exports: Vec::new(),
            whole: None,
            assigned: HashMap::new(),
            set: HashMap::new(),
            calls: HashMap::new(),
        };
        let mut nodes = Vec::new();
        walk(parsed.root(), |node| {
            nodes.push(node);
            true
        });
        for node in &nodes {
            for child in named(*node) {
                module.parents.insert(child.id(), *node);
            }
        }
        for node in nodes {
            module.declare(node);
        }
        module
    }

    pub(super) fn parent(&self, node: Node<'t>) -> Option<Node<'t>> {
        self.parents.get(&node.id()).copied()
    }

    /// The nodes around one, innermost first.
    pub(super) fn ancestors(&self, node: Node<'t>) -> impl Iterator<Item = Node<'t>> {
        std::iter::successors(self.parent(node), |node| self.parent(*node))
    }

    pub(super) fn text(&self, node: Node<'t>) -> &'t str {
        self.parsed.text(node)
    }

    /// What a name stands for at a node, with the scope that declares it.
    pub(super) fn binding(&self, name: &str, at: Node<'t>) -> Option<(usize, &Binding<'t>)> {
        std::iter::once(at)
            .chain(self.ancestors(at))
            .find_map(|scope| Some((scope.id(), self.scopes.get(&scope.id())?.get(name)?)))
    }

    pub(super) fn top(&self, name: &str) -> Option<&Binding<'t>> {
        self.scopes.get(&self.parsed.root().id())?.get(name)
    }

    fn scope(&self, node: Node<'t>) -> Node<'t> {
        let is_scope = |node: &Node<'t>| {
            is_function(*node)
                || matches!(
                    node.kind(),
                    "statement_block"
                        | "for_statement"
                        | "for_in_statement"
                        | "catch_clause"
                        | "switch_body"
                        | "class_static_block"
                )
        };
        self.ancestors(node).find(is_scope).unwrap_or_else(|| self.parsed.root())
    }

    fn bind(&mut self, scope: Node<'t>, name: &str, binding: Binding<'t>) {
        self.scopes.entry(scope.id()).or_default().insert(name.to_owned(), binding);
    }

    fn declare(&mut self, node: Node<'t>) {
        let parsed = self.parsed;
        match node.kind() {
            "variable_declarator" => {
                let constant =
                    self.parent(node).and_then(|list| field(list, "kind")).is_some_and(|kind| parsed.text(kind) == "const");
                if let Some(pattern) = field(node, "name") {
                    let scope = self.scope(node);
                    for (name, path) in names(parsed, pattern) {
                        let binding = match path {
                            Some(path) => Binding::Variable { declarator: node, constant, path },
                            None => Binding::Opaque,
                        };
                        self.bind(scope, &name, binding);
                    }
                }
            }
            "for_in_statement" if field(node, "kind").is_some() => {
                if let Some(pattern) = field(node, "left") {
                    for (name, _) in names(parsed, pattern) {
                        self.bind(node, &name, Binding::Opaque);
                    }
                }
            }
            "catch_clause" => {
                if let Some(pattern) = field(node, "parameter") {
                    for (name, _) in names(parsed, pattern) {
                        self.bind(node, &name, Binding::Opaque);
                    }
                }
            }
            "enum_declaration" => self.bind_declared(node),
            "import_statement" => self.import(node),
            "export_statement" => self.export(node),
            "assignment_expression" | "augmented_assignment_expression" => self.assignment(node),
            "update_expression" => {
                if let Some(target) = field(node, "argument") {
                    self.assigned.entry(parsed.text(target)).or_default().push(node);
                }
            }
            "call_expression" | "new_expression" => self.call(node),
            _ if is_class(node) => self.bind_declared(node),
            _ if is_function(node) => {
                if node.kind().ends_with("_declaration") {
                    self.bind_declared(node);
                } else if let (Some(name), true) = (field(node, "name"), node.kind() != "method_definition") {
                    self.bind(node, parsed.text(name), Binding::Declared(node));
                }
                self.parameters(node);
            }
            _ => {}
        }
    }

    fn bind_declared(&mut self, node: Node<'t>) {
        if let Some(name) = field(node, "name") {
            let scope = self.scope(node);
            self.bind(scope, self.parsed.text(name), Binding::Declared(node));
        }
    }

    fn parameters(&mut self, function: Node<'t>) {
        let parsed = self.parsed;
        if let Some(name) = field(function, "parameter") {
            let binding = Binding::Parameter { function, index: 0, default: None, path: Vec::new() };
            self.bind(function, parsed.text(name), binding);
        }
        let Some(list) = field(function, "parameters") else { return };
        for (index, item) in named(list).enumerate() {
            let (pattern, default) = match item.kind() {
                "assignment_pattern" => (field(item, "left"), field(item, "right")),
                "required_parameter" | "optional_parameter" => (field(item, "pattern"), field(item, "value")),
                _ => (Some(item), None),
            };
            for (name, path) in pattern.map(|pattern| names(parsed, pattern)).unwrap_or_default() {
                let binding = match path {
                    Some(path) => Binding::Parameter { function, index, default, path },
                    None => Binding::Opaque,
                };
                self.bind(function, &name, binding);
            }
        }
    }

    fn import(&mut self, node: Node<'t>) {
        let parsed = self.parsed;
        let types_only = (0..node.child_count()).filter_map(|i| node.child(i)).any(|child| child.kind() == "type");
        if types_only {
            return;
        }
        let root = parsed.root();
        let clause = named(node).find(|child| child.kind() == "import_clause");
        let required = named(node).find(|child| child.kind() == "import_require_clause");
        let source = field(node, "source").or_else(|| required.and_then(|clause| field(clause, "source")));
        let Some(specifier) = source.and_then(|source| parsed.string(source)) else { return };
        let import = |name| Binding::Import { specifier: specifier.clone(), name };
        if let Some(name) = required.and_then(|clause| named(clause).next()) {
            self.bind(root, parsed.text(name), import(Imported::Whole));
        }
        for part in clause.into_iter().flat_map(named) {
            match part.kind() {
                "identifier" => self.bind(root, parsed.text(part), import(Imported::Name("default".to_owned()))),
                "namespace_import" => {
                    if let Some(name) = named(part).next() {
                        self.bind(root, parsed.text(name), import(Imported::Whole));
                    }
                }
                "named_imports" => {
                    for item in named(part) {
                        let name = field(item, "name");
                        let local = field(item, "alias").or(name);
                        if let (Some(name), Some(local)) = (name.and_then(|name| parsed.key(name)), local) {
                            self.bind(root, parsed.text(local), import(Imported::Name(name)));
                        }
                    }
                }
                _ => {}
            }
        }
    }

    fn export(&mut self, node: Node<'t>) {
        let parsed = self.parsed;
        let token = |kind: &str| (0..node.child_count()).filter_map(|i| node.child(i)).any(|child| child.kind() == kind);
        let mut add = |name: Option<String>, what| self.exports.push(Export { name, what });
        if let Some(specifier) = field(node, "source").and_then(|source| parsed.string(source)) {
            let from = |name| Exported::From { specifier: specifier.clone(), name };
            for part in named(node) {
                match part.kind() {
                    "export_clause" => {
                        for (name, outer) in specifiers(parsed, part) {
                            add(Some(outer), from(Imported::Name(name)));
                        }
                    }
                    "namespace_export" => {
                        let name = named(part).next().and_then(|name| parsed.key(name));
                        add(name, from(Imported::Whole));
                    }
                    _ => {}
                }
            }
            if token("*") {
                add(None, from(Imported::Whole));
            }
            return;
        }
        let declaration = field(node, "declaration");
        if token("default") {
            if let Some(value) = declaration.or_else(|| field(node, "value")) {
                add(Some("default".to_owned()), Exported::Value(value));
            }
        } else if let Some(declaration) = declaration {
            let mut local = |name: String| add(Some(name.clone()), Exported::Local(name));
            if let Some(name) = field(declaration, "name") {
                local(parsed.text(name).to_owned());
            }
            for pattern in named(declaration).filter_map(|item| match item.kind() {
                "variable_declarator" => field(item, "name"),
                _ => None,
            }) {
                for (name, _) in names(parsed, pattern) {
                    local(name);
                }
            }
        } else if let Some(clause) = named(node).find(|child| child.kind() == "export_clause") {
            for (name, outer) in specifiers(parsed, clause) {
                add(Some(outer), Exported::Local(name));
            }
        } else if token("=") {
            self.whole = named(node).last();
        }
    }

    fn assignment(&mut self, node: Node<'t>) {
        let parsed = self.parsed;
        let (Some(left), Some(right)) = (field(node, "left"), field(node, "right")) else { return };
        match left.kind() {
            "identifier" => self.assigned.entry(parsed.text(left)).or_default().push(node),
            "member_expression" => {
                let (Some(object), Some(property)) = (field(left, "object"), field(left, "property")) else { return };
                self.set.entry(parsed.text(property)).or_default().push(node);
                match (parsed.text(object), parsed.text(property)) {
                    ("module", "exports") => self.whole = Some(right),
                    ("exports" | "module.exports", name) => {
                        self.exports.push(Export { name: Some(name.to_owned()), what: Exported::Value(right) });
                    }
                    _ => {}
                }
            }
            _ => {}
        }
    }

    fn call(&mut self, node: Node<'t>) {
        let parsed = self.parsed;
        let Some(callee) = field(node, "function").or_else(|| field(node, "constructor")) else { return };
        let callee = unwrap(callee);
        let name = match callee.kind() {
            "member_expression" => field(callee, "property"),
            _ => Some(callee),
        };
        let Some(name) = name.map(|name| parsed.text(name)) else { return };
        self.calls.entry(name).or_default().push(node);
    }
}

/// Names of an export clause: inside, outside.
fn specifiers(parsed: &Parsed, clause: Node<'_>) -> Vec<(String, String)> {
    named(clause)
        .filter_map(|item| {
            let name = parsed.key(field(item, "name")?)?;
            let outer = field(item, "alias").and_then(|alias| parsed.key(alias)).unwrap_or_else(|| name.clone());
            Some((name, outer))
        })
        .collect()
}

/// The names that a pattern binds, each with its path into the value; without one where it cannot be followed.
fn names<'t>(parsed: &'t Parsed, pattern: Node<'t>) -> Vec<(String, Option<Path<'t>>)> {
    let mut found = Vec::new();
    let mut open: Vec<(Node<'t>, Option<Path<'t>>)> = vec![(pattern, Some(Vec::new()))];
    while let Some((pattern, path)) = open.pop() {
        let step = |key: Option<String>, default: Option<Node<'t>>| {
            let mut path = path.clone()?;
            path.push((key?, default));
            (path.len() < 16).then_some(path)
        };
        match pattern.kind() {
            "identifier" | "shorthand_property_identifier_pattern" => found.push((parsed.text(pattern).to_owned(), path)),
            "object_pattern" => {
                for item in named(pattern) {
                    match item.kind() {
                        "shorthand_property_identifier_pattern" => open.push((item, step(parsed.key(item), None))),
                        "object_assignment_pattern" => {
                            if let Some(left) = field(item, "left") {
                                open.push((left, step(parsed.key(left), field(item, "right"))));
                            }
                        }
                        "pair_pattern" => {
                            let key = field(item, "key").and_then(|key| parsed.key(key));
                            match field(item, "value") {
                                Some(value) if value.kind() == "assignment_pattern" => {
                                    if let Some(left) = field(value, "left") {
                                        open.push((left, step(key, field(value, "right"))));
                                    }
                                }
                                Some(value) => open.push((value, step(key, None))),
                                None => {}
                            }
                        }
                        _ => open.extend(named(item).map(|name| (name, None))),
                    }
                }
            }
            "array_pattern" | "rest_pattern" | "assignment_pattern" => open.extend(named(pattern).map(|item| (item, None))),
            _ => {}
        }
    }
    found
}
