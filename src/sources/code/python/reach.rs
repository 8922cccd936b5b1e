//! Which functions reach a model, and which pieces of source.

use std::collections::HashSet;

use tree_sitter::Node;

use super::program::Program;
use super::scope::Kind;
use super::value::Span;

/// Where models are called, directly and through local functions.
pub(super) struct Reach {
    uses: Vec<Span>,
    functions: HashSet<usize>,
}

impl Reach {
    /// `uses`: the calls of models, each with its scope.
    pub(super) fn new(program: &Program<'_>, uses: &[(Span, usize)]) -> Self {
        let mut functions = HashSet::new();
        for (_, scope) in uses {
            functions.extend(program.enclosing(*scope));
        }
        loop {
            let before = functions.len();
            for reference in &program.references {
                if functions.contains(&reference.target) {
                    functions.extend(program.enclosing(reference.scope));
                }
            }
            if functions.len() == before {
                break;
            }
        }
        Self { uses: uses.iter().map(|(span, _)| *span).collect(), functions }
    }

    pub(super) fn function(&self, scope: usize) -> bool {
        self.functions.contains(&scope)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.uses.is_empty()
    }

    /// Whether a piece of source calls a model, itself or through a function.
    pub(super) fn covers(&self, program: &Program<'_>, span: Span) -> bool {
        self.uses.iter().any(|inner| span.holds(*inner))
            || program.references.iter().any(|inner| span.holds(inner.span) && self.functions.contains(&inner.target))
    }
}

impl<'t> Program<'t> {
    /// The functions that a scope is written in, itself among them.
    pub(super) fn enclosing(&self, scope: usize) -> Vec<usize> {
        let mut functions = Vec::new();
        let mut next = Some(scope);
        while let Some(scope) = next {
            let here = &self.all.list[scope];
            if matches!(here.kind, Kind::Function | Kind::Lambda) {
                functions.push(scope);
            }
            next = here.parent;
        }
        functions
    }

    /// The expression at a place.
    pub(super) fn node_at(&self, span: Span) -> Node<'t> {
        let root = self.all.list[self.module(span.module)].node;
        root.named_descendant_for_byte_range(span.start, span.end).unwrap_or(root)
    }

    pub(super) fn module(&self, module: usize) -> usize {
        self.all.modules.get(module).copied().unwrap_or(0)
    }
}
