//! What stands around the calls of a model: loops that try again, retry libraries, pools and semaphores.

use std::collections::HashSet;

use super::{Id, Kind, Program};
use crate::engine::fact::{Fact, Place};

/// The calls of a model, and the functions that lead to them.
pub(crate) struct Reach {
    calls: HashSet<Id>,
    functions: HashSet<Id>,
    names: HashSet<String>,
}

impl Reach {
    /// Callers of callers, too.
    pub(crate) fn new(program: &Program, calls: &[Id]) -> Self {
        let mut reach = Self { calls: calls.iter().copied().collect(), functions: HashSet::new(), names: HashSet::new() };
        let mut open: Vec<Id> = calls.iter().filter_map(|&call| program.function_of(call)).collect();
        while let Some(function) = open.pop() {
            if !reach.functions.insert(function) {
                continue;
            }
            let Kind::Function { name, .. } = program.kind(function) else { continue };
            if reach.names.insert(name.clone()) {
                open.extend(program.callers(name).into_iter().filter_map(|call| program.function_of(call)));
            }
        }
        reach
    }

    /// Whether a function leads to a call.
    pub(crate) fn holds(&self, function: Id) -> bool {
        self.functions.contains(&function)
    }

    /// Whether a model is called in a piece of the program.
    pub(crate) fn within(&self, program: &Program, id: Id) -> bool {
        program.within(id).into_iter().any(|at| {
            self.calls.contains(&at)
                || match program.kind(at) {
                    Kind::Call { name, .. } => self.names.contains(&name.text),
                    // A function that is handed over: `this::ask`, `ask`.
                    Kind::Name(name) => {
                        self.names.contains(name) && !matches!(program.kind(program.node(at).parent), Kind::Entry { .. })
                    }
                    Kind::Member { name, .. } => self.names.contains(&name.text),
                    _ => false,
                }
        })
    }
}

impl Program {
    fn callers(&self, name: &str) -> Vec<Id> {
        self.calls.get(name).cloned().unwrap_or_default()
    }

    /// Loops that call a model until it works: a number of times or for ever, with an error taken and a way out.
    pub(crate) fn retry_loops(&self, reach: &Reach) -> Vec<(Place, String)> {
        let mut found = Vec::new();
        for id in self.ids() {
            let Kind::Loop { each: false, head, body } = self.kind(id) else { continue };
            if head.iter().any(|&part| self.counts_items(part)) || !reach.within(self, *body) {
                continue;
            }
            let nearest = self.within(*body).into_iter().any(|inner| {
                matches!(self.kind(inner), Kind::Loop { each: false, body, .. } if reach.within(self, *body) && self.tries_again(inner, reach))
            });
            if !nearest && self.tries_again(id, reach) {
                let start = self.node(id).span.start;
                let line = self.source(id).lines().next().map_or(0, |line| line.trim_end().len());
                found.push((self.place_of(id, &(start..start + line)), "a loop that calls the model again".to_owned()));
            }
        }
        found
    }

    /// `i < records.size()`: a loop over items.
    fn counts_items(&self, head: Id) -> bool {
        self.within(head).into_iter().any(|at| match self.kind(at) {
            Kind::Call { name, .. } | Kind::Member { name, .. } => {
                let name = name.text.to_ascii_lowercase();
                matches!(
                    name.as_str(),
                    "size" | "length" | "len" | "count" | "hasnext" | "next" | "movenext" | "poll" | "scan" | "pop" | "recv"
                )
            }
            _ => false,
        })
    }

    fn tries_again(&self, id: Id, reach: &Reach) -> bool {
        let Kind::Loop { head, body, .. } = self.kind(id) else { return false };
        let inside = self.within(*body);
        let flags: Vec<&str> = head
            .iter()
            .flat_map(|&part| self.within(part))
            .filter_map(|at| match self.kind(at) {
                Kind::Name(name) => Some(name.as_str()),
                _ => None,
            })
            .collect();
        inside.iter().any(|&at| match self.kind(at) {
            // try { call(); return; } catch { }
            Kind::Try { body: tried, handlers }
                if !handlers.is_empty() && tried.iter().any(|&part| reach.within(self, part)) =>
            {
                tried.iter().any(|&part| self.leaves(part, &flags)) || self.leaves_after(at)
            }
            // if err == nil { return }, if let Ok(..) = call() { return }, Ok(..) => return.
            Kind::If { condition: Some(condition), then, otherwise } => match self.outcome(*condition) {
                Some(true) => self.leaves(*then, &flags),
                Some(false) => {
                    otherwise.is_some_and(|otherwise| self.leaves(otherwise, &flags))
                        || (!self.leaves(*then, &flags) && self.leaves_after(at))
                }
                None => false,
            },
            _ => false,
        })
    }

    /// Whether a condition asks for success (`err == nil`, `Ok(..)`) or failure (`err != nil`, `Err(..)`).
    fn outcome(&self, condition: Id) -> Option<bool> {
        match self.kind(condition) {
            Kind::Binary { operator, right, left } => {
                let nil = matches!(self.kind(*right), Kind::Null) || matches!(self.kind(*left), Kind::Null);
                match operator.as_str() {
                    "==" if nil => Some(true),
                    "!=" if nil => Some(false),
                    // Patterns: `Ok(answer) = call()`.
                    "Ok" => Some(true),
                    "Err" => Some(false),
                    "&&" => self.outcome(*left).or_else(|| self.outcome(*right)),
                    _ => None,
                }
            }
            Kind::Call { name, .. } if name.text == "is_ok" => Some(true),
            Kind::Call { name, .. } if name.text == "is_err" => Some(false),
            _ => None,
        }
    }

    /// A way out of the loop: return, break, or the loop's own condition set.
    fn leaves(&self, id: Id, flags: &[&str]) -> bool {
        self.own(id).into_iter().any(|at| match self.kind(at) {
            Kind::Return(_) | Kind::Break => true,
            Kind::Assign { target, .. } => matches!(self.kind(*target), Kind::Name(name) if flags.contains(&name.as_str())),
            _ => false,
        })
    }

    /// Whether a statement after this one, in the same block, leaves the loop for certain.
    fn leaves_after(&self, id: Id) -> bool {
        let Some(statement) = self.around(id).find(|&at| !matches!(self.kind(self.node(at).parent), Kind::Group(_))) else {
            return false;
        };
        let Kind::Scope(list) = self.kind(self.node(statement).parent) else { return false };
        list.iter().skip_while(|&&at| at != statement).skip(1).any(|&at| matches!(self.kind(at), Kind::Return(_) | Kind::Break))
    }

    /// The nodes inside, but for loops, handlers and lambdas of their own.
    fn own(&self, id: Id) -> Vec<Id> {
        let (mut found, mut open) = (Vec::new(), vec![id]);
        while let Some(at) = open.pop() {
            found.push(at);
            match self.kind(at) {
                Kind::Function { .. } | Kind::Loop { .. } => {}
                Kind::Try { body, .. } => open.extend(body.iter().copied()),
                other => open.extend(other.children()),
            }
        }
        found
    }
}

/// The smallest of several sizes: it is what limits.
pub(crate) fn smallest(sizes: Vec<Fact<f64>>) -> Option<Fact<f64>> {
    sizes.into_iter().min_by(|a, b| a.value.total_cmp(&b.value))
}
