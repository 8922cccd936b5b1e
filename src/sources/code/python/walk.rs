//! Reading a syntax tree into scopes.

use std::collections::HashMap;
use std::ops::Range;

use tree_sitter::Node;

use super::files::{Name, from_module, imports};
use super::scope::{Binding, Call, Change, Changed, Kind, Scope, Scopes, What, children};

/// Nested deeper than this, a piece of source is not looked at.
const DEEPEST: usize = 200;

/// Where the walk is.
#[derive(Clone)]
pub(super) struct Here<'t> {
    pub(super) scope: usize,
    pub(super) block: Range<usize>,
    pub(super) missing: Option<&'t str>,
    pub(super) statement: Option<Node<'t>>,
    pub(super) depth: usize,
}

pub(super) struct Walker<'t, 's> {
    pub(super) all: &'s mut Scopes<'t>,
    text: &'t str,
    module: usize,
}

impl<'t> Scopes<'t> {
    /// Takes in a file.
    pub(super) fn add(&mut self, root: Node<'t>, text: &'t str) {
        let module = self.modules.len();
        let mut walker = Walker { all: self, text, module };
        let scope = walker.scope(Kind::Module, None, root, "");
        walker.all.modules.push(scope);
        let here = Here { scope, block: root.byte_range(), missing: None, statement: None, depth: 0 };
        walker.inside(root, &here);
    }
}

impl<'t> Walker<'t, '_> {
    pub(super) fn text(&self, node: Node<'_>) -> &'t str {
        self.text.get(node.byte_range()).unwrap_or("")
    }

    pub(super) fn scope(&mut self, kind: Kind, parent: Option<usize>, node: Node<'t>, name: &'t str) -> usize {
        let index = self.all.list.len();
        self.all.by_node.insert((self.module, node.id()), index);
        self.all.list.push(Scope {
            kind,
            module: self.module,
            parent,
            node,
            name,
            bindings: HashMap::new(),
            attributes: HashMap::new(),
            changes: HashMap::new(),
            stars: Vec::new(),
            parameters: Vec::new(),
            returns: Vec::new(),
            decorators: Vec::new(),
            bases: Vec::new(),
            outer: HashMap::new(),
        });
        index
    }

    pub(super) fn inside(&mut self, node: Node<'t>, here: &Here<'t>) {
        if here.depth >= DEEPEST {
            return;
        }
        let mut here = Here { depth: here.depth + 1, ..here.clone() };
        let conditional = matches!(
            node.kind(),
            "if_statement"
                | "elif_clause"
                | "else_clause"
                | "for_statement"
                | "while_statement"
                | "try_statement"
                | "except_clause"
                | "except_group_clause"
                | "case_clause"
        );
        if conditional || matches!(node.kind(), "with_statement" | "match_statement") {
            here.statement = None;
        }
        for child in children(node) {
            if conditional && child.kind() == "block" {
                let missing = (node.kind() == "if_statement").then(|| self.subject_missing(node)).flatten();
                let block = Here { block: child.byte_range(), missing: missing.or(here.missing), ..here.clone() };
                self.inside(child, &block);
            } else {
                self.visit(child, &here);
            }
        }
    }

    /// The name that an `if` finds without a value: `if name is None`, `if not name`.
    fn subject_missing(&self, node: Node<'t>) -> Option<&'t str> {
        let mut condition = node.child_by_field_name("condition")?;
        while condition.kind() == "parenthesized_expression" {
            condition = condition.named_child(0)?;
        }
        match condition.kind() {
            "not_operator" => Some(self.text(condition.child_by_field_name("argument")?)),
            "comparison_operator" => {
                let parts = children(condition);
                let operator = condition.child_by_field_name("operators").map(|operator| self.text(operator))?;
                match parts.as_slice() {
                    [subject, none] if none.kind() == "none" && matches!(operator, "is" | "==") => Some(self.text(*subject)),
                    _ => None,
                }
            }
            _ => None,
        }
    }

    pub(super) fn visit(&mut self, node: Node<'t>, here: &Here<'t>) {
        match node.kind() {
            "comment" => {}
            "function_definition" => self.function(node, &[], here),
            "class_definition" => self.class(node, &[], here),
            "decorated_definition" => {
                let parts = children(node);
                let decorators: Vec<_> = parts.iter().filter(|part| part.kind() == "decorator").copied().collect();
                for decorator in &decorators {
                    self.inside(*decorator, here);
                }
                match node.child_by_field_name("definition") {
                    Some(class) if class.kind() == "class_definition" => self.class(class, &decorators, here),
                    Some(function) => self.function(function, &decorators, here),
                    None => {}
                }
            }
            "lambda" => {
                let scope = self.scope(Kind::Lambda, Some(here.scope), node, "");
                self.parameters(node, scope, here);
                if let Some(body) = node.child_by_field_name("body") {
                    self.all.list[scope].returns.push(body);
                    self.visit(body, &Here { scope, block: node.byte_range(), ..here.clone() });
                }
            }
            "list_comprehension" | "set_comprehension" | "dictionary_comprehension" | "generator_expression" => {
                let scope = self.scope(Kind::Comprehension, Some(here.scope), node, "");
                self.inside(node, &Here { scope, block: node.byte_range(), ..here.clone() });
            }
            "for_in_clause" => {
                if let Some(left) = node.child_by_field_name("left") {
                    self.opaque(left, here);
                }
                self.inside(node, here);
            }
            "import_statement" => {
                for (name, alias) in imports(node, self.text) {
                    let first = name.split('.').next().unwrap_or(name);
                    let dotted = if alias.is_some() { name } else { first };
                    self.bind(alias.unwrap_or(first), What::Import(Name { level: 0, dotted }), node, here);
                }
            }
            "import_from_statement" => {
                let Some(module) = from_module(node, self.text) else { return };
                if children(node).iter().any(|child| child.kind() == "wildcard_import") {
                    self.all.list[here.scope].stars.push(module);
                    return;
                }
                for (name, alias) in imports(node, self.text) {
                    self.bind(alias.unwrap_or(name), What::ImportFrom(module.clone(), name), node, here);
                }
            }
            "global_statement" | "nonlocal_statement" => {
                let parent = self.all.list[here.scope].parent;
                let to = if node.kind() == "global_statement" { Some(self.module_scope(here.scope)) } else { parent };
                if let Some(to) = to {
                    for name in children(node) {
                        let name = self.text(name);
                        self.all.list[here.scope].outer.insert(name, to);
                    }
                }
            }
            "if_statement" if self.is_main(node) => {
                for child in children(node).into_iter().filter(|child| child.kind() != "block") {
                    self.visit(child, here);
                }
            }
            "for_statement" | "while_statement" => {
                self.all.loops.push((node, here.scope));
                if let Some(left) = node.child_by_field_name("left") {
                    self.opaque(left, here);
                }
                self.inside(node, here);
            }
            "with_statement" => {
                self.all.withs.push((node, here.scope));
                self.inside(node, here);
            }
            "as_pattern" => {
                let value = node.named_child(0);
                if let (Some(alias), Some(value)) = (node.child_by_field_name("alias"), value) {
                    for target in children(alias) {
                        self.target(target, value, here);
                    }
                }
                self.inside(node, here);
            }
            "except_clause" => {
                if let Some(alias) = node.child_by_field_name("alias") {
                    self.opaque(alias, here);
                }
                self.inside(node, here);
            }
            "return_statement" | "yield" => {
                let scope = self.function_of(here.scope);
                if let (Some(scope), Some(value)) = (scope, node.named_child(0)) {
                    self.all.list[scope].returns.push(value);
                }
                let statement = if node.kind() == "yield" { here.statement } else { Some(node) };
                self.inside(node, &Here { statement, ..here.clone() });
            }
            "expression_statement" | "assert_statement" | "raise_statement" | "delete_statement" => {
                self.inside(node, &Here { statement: Some(node), ..here.clone() });
            }
            "assignment" => {
                if let (Some(target), Some(mut value)) = (node.child_by_field_name("left"), node.child_by_field_name("right")) {
                    let mut chain = 0;
                    while value.kind() == "assignment" && chain < DEEPEST {
                        let Some(inner) = value.child_by_field_name("right") else { break };
                        value = inner;
                        chain += 1;
                    }
                    self.target(target, value, here);
                }
                self.inside(node, here);
            }
            "named_expression" => {
                if let (Some(name), Some(value)) = (node.child_by_field_name("name"), node.child_by_field_name("value")) {
                    self.bind(self.text(name), What::Value(value), node, here);
                }
                self.inside(node, here);
            }
            "augmented_assignment" => {
                if let Some(left) = node.child_by_field_name("left") {
                    self.opaque(left, here);
                }
                self.inside(node, here);
            }
            "call" => {
                self.call(node, here);
                self.inside(node, here);
            }
            _ => self.inside(node, here),
        }
    }

    fn is_main(&self, node: Node<'t>) -> bool {
        node.child_by_field_name("condition").is_some_and(|condition| {
            let text = self.text(condition);
            text.contains("__name__") && text.contains("__main__")
        })
    }

    fn module_scope(&self, scope: usize) -> usize {
        let mut scope = scope;
        while let Some(parent) = self.all.list[scope].parent {
            scope = parent;
        }
        scope
    }

    fn function_of(&self, scope: usize) -> Option<usize> {
        let mut scope = scope;
        while !self.all.list[scope].is_callable() {
            scope = self.all.list[scope].parent?;
        }
        Some(scope)
    }

    pub(super) fn bind(&mut self, name: &'t str, what: What<'t>, node: Node<'t>, here: &Here<'t>) {
        let mut at = here.scope;
        while let (Kind::Comprehension, "named_expression", Some(parent)) =
            (self.all.list[at].kind, node.kind(), self.all.list[at].parent)
        {
            at = parent;
        }
        let outer = self.all.list[at].outer.get(name).copied();
        let binding = Binding {
            what,
            scope: here.scope,
            from: node.end_byte(),
            block: if outer.is_some() { 0..0 } else { here.block.clone() },
            if_missing: here.missing == Some(name),
        };
        self.all.list[outer.unwrap_or(at)].bindings.entry(name).or_default().push(binding);
    }

    /// Binds a target to a value.
    fn target(&mut self, target: Node<'t>, value: Node<'t>, here: &Here<'t>) {
        match target.kind() {
            "identifier" => self.bind(self.text(target), What::Value(value), value, here),
            "attribute" => {
                self.all.settings.push((target, value, here.scope));
                self.attribute(target, What::Value(value), here);
            }
            "subscript" => {
                if let (Some(name), Some(key)) = (target.child_by_field_name("value"), target.child_by_field_name("subscript"))
                {
                    let mut root = name;
                    while root.kind() == "subscript"
                        && let Some(outer) = root.child_by_field_name("value")
                    {
                        root = outer;
                    }
                    let change = if root.id() == name.id() { Changed::Set(key, value) } else { Changed::Inside };
                    self.change(root, change, target, here);
                }
            }
            "pattern_list" | "tuple_pattern" | "list_pattern" => {
                let (targets, values) = (children(target), children(value));
                let pairs = matches!(value.kind(), "expression_list" | "tuple" | "list") && targets.len() == values.len();
                for (index, inner) in targets.iter().enumerate() {
                    match values.get(index) {
                        Some(value) if pairs && here.depth < DEEPEST => {
                            self.target(*inner, *value, &Here { depth: here.depth + 1, ..here.clone() });
                        }
                        _ => self.opaque(*inner, here),
                    }
                }
            }
            _ => self.opaque(target, here),
        }
    }

    /// Binds the names of a target to something unknown.
    fn opaque(&mut self, target: Node<'t>, here: &Here<'t>) {
        match target.kind() {
            "identifier" => self.bind(self.text(target), What::Opaque(target), target, here),
            "attribute" => self.attribute(target, What::Opaque(target), here),
            "subscript" => {}
            _ if here.depth < DEEPEST => {
                for inner in children(target) {
                    self.opaque(inner, &Here { depth: here.depth + 1, ..here.clone() });
                }
            }
            _ => {}
        }
    }

    /// `self.name = value`, in a method.
    fn attribute(&mut self, target: Node<'t>, what: What<'t>, here: &Here<'t>) {
        let (Some(object), Some(name)) = (target.child_by_field_name("object"), target.child_by_field_name("attribute")) else {
            return;
        };
        let Some(class) = self.class_of_self(object, here.scope) else { return };
        let binding = Binding {
            what,
            scope: here.scope,
            from: target.end_byte(),
            block: 0..0,
            if_missing: here.missing == Some(self.text(target)),
        };
        let name = self.text(name);
        self.all.list[class].attributes.entry(name).or_default().push(binding);
    }

    fn class_of_self(&self, object: Node<'t>, scope: usize) -> Option<usize> {
        let mut scope = scope;
        loop {
            let method = &self.all.list[scope];
            let parent = method.parent?;
            if method.kind == Kind::Function && self.all.list[parent].kind == Kind::Class {
                let first = method.parameters.first()?;
                return (object.kind() == "identifier" && first.name == self.text(object)).then_some(parent);
            }
            scope = parent;
        }
    }

    fn change(&mut self, name: Node<'t>, what: Changed<'t>, node: Node<'t>, here: &Here<'t>) {
        if name.kind() == "identifier" {
            let change = Change { what, scope: here.scope, from: node.end_byte(), block: here.block.clone() };
            let name = self.text(name);
            self.all.list[here.scope].changes.entry(name).or_default().push(change);
        }
    }

    fn call(&mut self, node: Node<'t>, here: &Here<'t>) {
        self.all.calls.push(Call { node, scope: here.scope, statement: here.statement });
        let Some(function) = node.child_by_field_name("function") else { return };
        if let (Some(object), Some(name)) = (function.child_by_field_name("object"), function.child_by_field_name("attribute"))
        {
            let name = self.text(name);
            if matches!(name, "update" | "setdefault" | "pop" | "clear" | "popitem") {
                self.change(object, Changed::Method(name, node), node, here);
            }
        }
        for argument in node.child_by_field_name("arguments").map(children).unwrap_or_default() {
            self.change(argument, Changed::Passed(function), node, here);
        }
    }
}
