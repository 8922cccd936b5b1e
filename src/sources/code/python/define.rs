//! Definitions of functions and classes, as scopes.

use tree_sitter::Node;

use super::scope::{Binding, Kind, Parameter, Pass, What, children};
use super::walk::{Here, Walker};

impl<'t> Walker<'t, '_> {
    pub(super) fn function(&mut self, node: Node<'t>, decorators: &[Node<'t>], here: &Here<'t>) {
        let name = node.child_by_field_name("name").map_or("", |name| self.text(name));
        let scope = self.scope(Kind::Function, Some(here.scope), node, name);
        self.all.list[scope].decorators = decorators.to_vec();
        self.bind(name, What::Function(scope), node, here);
        self.parameters(node, scope, here);
        if let Some(body) = node.child_by_field_name("body") {
            let block = node.byte_range();
            self.inside(body, &Here { scope, block, missing: None, statement: None, depth: here.depth + 1 });
        }
    }

    pub(super) fn parameters(&mut self, node: Node<'t>, scope: usize, here: &Here<'t>) {
        let mut pass = Pass::Either;
        for node in node.child_by_field_name("parameters").map(children).unwrap_or_default() {
            let default = node.child_by_field_name("value");
            if let Some(default) = default {
                self.visit(default, &Here { statement: None, ..here.clone() });
            }
            let named = match node.kind() {
                "keyword_separator" => {
                    pass = Pass::Keyword;
                    continue;
                }
                "default_parameter" | "typed_default_parameter" => node.child_by_field_name("name"),
                "typed_parameter" => node.named_child(0),
                "identifier" | "list_splat_pattern" | "dictionary_splat_pattern" => Some(node),
                _ => None,
            };
            let Some(named) = named else { continue };
            let rest = matches!(named.kind(), "list_splat_pattern" | "dictionary_splat_pattern");
            let name = self.text(named).trim_start_matches('*');
            let annotation = node.child_by_field_name("type").map_or("", |annotation| self.text(annotation));
            let how = if rest { Pass::Rest } else { pass };
            if named.kind() == "list_splat_pattern" {
                pass = Pass::Keyword;
            }
            let index = self.all.list[scope].parameters.len();
            self.all.list[scope].parameters.push(Parameter { name, node, default, annotation, pass: how });
            let (from, block) = (node.start_byte(), self.all.list[scope].node.byte_range());
            let binding = Binding { what: What::Parameter(index), scope, from, block, if_missing: false };
            self.all.list[scope].bindings.entry(name).or_default().push(binding);
        }
    }

    pub(super) fn class(&mut self, node: Node<'t>, decorators: &[Node<'t>], here: &Here<'t>) {
        let name = node.child_by_field_name("name").map_or("", |name| self.text(name));
        let scope = self.scope(Kind::Class, Some(here.scope), node, name);
        self.all.list[scope].decorators = decorators.to_vec();
        self.bind(name, What::Class(scope), node, here);
        if let Some(bases) = node.child_by_field_name("superclasses") {
            self.all.list[scope].bases = children(bases);
            self.inside(bases, here);
        }
        if let Some(body) = node.child_by_field_name("body") {
            let block = node.byte_range();
            self.inside(body, &Here { scope, block, missing: None, statement: None, depth: here.depth + 1 });
        }
    }
}
