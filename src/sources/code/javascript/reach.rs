//! Which code the entry file uses: all of its own, and of other files the declarations that it comes to.

use std::collections::HashSet;

use tree_sitter::Node;

use super::program::{Program, Spot, Step};
use super::scope::{Binding, Exported};
use super::syntax::{field, is_json, named, walk};
use super::value::{Found, Value};

/// Every node that is in use, in the order of the files and their text.
pub(super) fn live<'t>(program: &Program<'t>) -> Vec<Spot<'t>> {
    let mut reach = Reach { program, seen: HashSet::new(), roots: Vec::new(), modules: HashSet::new() };
    if let Some(entry) = program.modules.first() {
        reach.modules.insert(0);
        reach.mark(Spot::new(0, entry.parsed.root()));
        // What the entry passes on.
        for export in &entry.exports {
            match (&export.name, &export.what) {
                (Some(name), Exported::From { .. }) => reach.name(0, name),
                (None, Exported::From { specifier, .. }) => {
                    if let Some(target) = program.target(0, specifier) {
                        reach.all(target);
                    }
                }
                _ => {}
            }
        }
    }
    let mut next = 0;
    while let Some(root) = reach.roots.get(next).copied() {
        next += 1;
        walk(root.node, |node| {
            if matches!(node.kind(), "identifier" | "shorthand_property_identifier" | "call_expression") {
                reach.visit(root.at(node));
            }
            node.kind() != "import_statement"
        });
    }
    let mut nodes = Vec::new();
    let mut taken = HashSet::new();
    reach.roots.sort_by_key(|root| (root.module, root.node.start_byte(), std::cmp::Reverse(root.node.end_byte())));
    for root in &reach.roots {
        walk(root.node, |node| {
            let fresh = taken.insert((root.module, node.id()));
            if fresh {
                nodes.push(root.at(node));
            }
            fresh
        });
    }
    nodes
}

struct Reach<'a, 't> {
    program: &'a Program<'t>,
    seen: HashSet<(usize, usize)>,
    roots: Vec<Spot<'t>>,
    modules: HashSet<usize>,
}

impl<'t> Reach<'_, 't> {
    fn mark(&mut self, spot: Spot<'t>) {
        if self.seen.insert(spot.id()) {
            self.roots.push(spot);
        }
    }

    fn visit(&mut self, spot: Spot<'t>) {
        let program = self.program;
        if spot.node.kind() == "call_expression" {
            // A module that is required for its effects, or whose exports are taken apart on the spot.
            let callee = field(spot.node, "function").map_or("", |callee| program.text(spot.at(callee)));
            if matches!(callee, "require" | "import")
                && let Found { value: Value::Namespace(module), .. } = program.evaluate(spot)
            {
                self.run(module);
                self.member_or_all(module, spot);
            }
            return;
        }
        let name = program.text(spot);
        let Some((_, binding)) = program.module(spot).binding(name, spot.node) else { return };
        match binding {
            Binding::Import { .. } => match program.step(spot) {
                Some(Step::Is(Found { value: Value::Namespace(module), .. })) => {
                    self.run(module);
                    self.member_or_all(module, spot);
                }
                Some(Step::Is(found)) => self.declaration(found.spot),
                Some(Step::Expression(at, _)) => self.declaration(at),
                None => {}
            },
            Binding::Variable { declarator, path, .. } => {
                self.top_level(spot.at(*declarator));
                if let (Some((key, _)), Some(init)) = (path.first(), field(*declarator, "value"))
                    && let Found { value: Value::Namespace(module), .. } = program.evaluate(spot.at(init))
                {
                    self.name(module, key);
                }
            }
            Binding::Declared(node) => self.top_level(spot.at(*node)),
            Binding::Parameter { .. } | Binding::Opaque => {}
        }
    }

    /// Marks a declaration of another file; what is declared inside of functions comes with them.
    fn top_level(&mut self, spot: Spot<'t>) {
        if spot.module != 0 {
            self.mark(spot);
        }
    }

    /// Marks what is declared where an import leads, and what its file does when it is loaded.
    fn declaration(&mut self, spot: Spot<'t>) {
        self.run(spot.module);
        if spot.module != 0 {
            let module = self.program.module(spot);
            let around = module.ancestors(spot.node).find(|node| node.kind() == "variable_declarator");
            self.mark(spot.at(around.unwrap_or(spot.node)));
        }
    }

    /// What a file does when it is loaded, its declarations and exports left out.
    fn run(&mut self, index: usize) {
        if !self.modules.insert(index) {
            return;
        }
        let Some(module) = self.program.modules.get(index) else { return };
        if is_json(&module.parsed.file.path) {
            return;
        }
        let root = Spot::new(index, module.parsed.root());
        for statement in named(root.node) {
            let exports =
                named(statement).next().filter(|inner| inner.kind() == "assignment_expression").is_some_and(|inner| {
                    field(inner, "left").is_some_and(|left| {
                        let text = module.text(left);
                        text == "module.exports" || text.starts_with("exports.") || text.starts_with("module.exports.")
                    })
                });
            let effect = matches!(
                statement.kind(),
                "expression_statement"
                    | "if_statement"
                    | "try_statement"
                    | "for_statement"
                    | "for_in_statement"
                    | "while_statement"
            );
            if effect && !exports {
                self.mark(root.at(statement));
            }
        }
    }

    /// `clients.fast` takes one export, anything else all.
    fn member_or_all(&mut self, module: usize, spot: Spot<'t>) {
        let program = self.program;
        let around = |node: Node<'t>| program.module(spot).parent(node);
        let mut parent = around(spot.node);
        while let Some(node) = parent.filter(|node| matches!(node.kind(), "await_expression" | "parenthesized_expression")) {
            parent = around(node);
        }
        match parent {
            Some(node) if node.kind() == "member_expression" => {
                if let Some(property) = field(node, "property") {
                    self.name(module, program.text(spot.at(property)));
                }
            }
            // What it is called, or taken apart into, is used or not.
            Some(node) if node.kind() == "variable_declarator" || node.kind() == "expression_statement" => {}
            _ => self.all(module),
        }
    }

    fn name(&mut self, module: usize, name: &str) {
        match self.program.export(module, name) {
            Some(Step::Is(Found { value: Value::Namespace(inner), .. })) => self.all(inner),
            Some(Step::Is(found)) => self.declaration(found.spot),
            Some(Step::Expression(spot, path)) => {
                let entry = path.first().map(|(key, _)| self.program.lookup(spot, key));
                let spot = entry.and_then(|entry| match entry {
                    super::lookup::Lookup::Entry { value, .. } => Some(value),
                    _ => None,
                });
                match (spot, self.program.export(module, name)) {
                    (Some(spot), _) | (None, Some(Step::Expression(spot, _))) => self.declaration(spot),
                    _ => {}
                }
            }
            None => {}
        }
    }

    fn all(&mut self, index: usize) {
        let Some(module) = self.program.modules.get(index) else { return };
        self.run(index);
        if !self.seen.insert((index, usize::MAX)) {
            return;
        }
        if let Some(whole) = module.whole {
            self.mark(Spot::new(index, whole));
        }
        for export in &module.exports {
            match (&export.name, &export.what) {
                (Some(name), _) => self.name(index, name),
                (None, Exported::From { specifier, .. }) => {
                    if let Some(target) = self.program.target(index, specifier) {
                        self.all(target);
                    }
                }
                (None, _) => {}
            }
        }
    }
}
