//! Thread pools and semaphores that calls of models run under.

use std::rc::Rc;

use tree_sitter::Node;

use super::program::Program;
use super::reach::Reach;
use super::scope::{Call, children};
use super::value::{At, Held, Made, Span, Traced, Value};
use crate::engine::fact::{Fact, Source};

/// Methods that give a pool work.
const WORK: [&str; 11] = [
    "submit",
    "map",
    "imap",
    "imap_unordered",
    "starmap",
    "apply",
    "apply_async",
    "map_async",
    "starmap_async",
    "acquire",
    "starmap_unordered",
];

/// The name of the argument that says how many may run at a time.
fn size_argument(path: &str) -> Option<&'static str> {
    let (package, last) = (path.split('.').next()?, path.rsplit('.').next()?);
    if path.contains("()") {
        return None;
    }
    match (package, last) {
        ("concurrent", "ThreadPoolExecutor" | "ProcessPoolExecutor") => Some("max_workers"),
        ("multiprocessing", "ThreadPool" | "Pool") => Some("processes"),
        ("asyncio" | "threading", "Semaphore" | "BoundedSemaphore") => Some("value"),
        ("anyio", "Semaphore") => Some("initial_value"),
        ("anyio", "CapacityLimiter") => Some("total_tokens"),
        _ => None,
    }
}

impl<'t> Program<'t> {
    /// The largest number of calls at a time that a pool or semaphore allows.
    pub(super) fn parallel_calls(&self, reach: &Reach) -> Option<Fact<f64>> {
        let mut largest: Option<(f64, Span)> = None;
        if reach.is_empty() {
            return None;
        }
        for call in &self.all.calls {
            let at = At { node: call.node, scope: call.scope, env: None };
            let Value::Made(made) = self.fresh(|| self.eval(&at)).value else { continue };
            if made.call.node.id() != call.node.id() {
                continue;
            }
            let Some(argument) = size_argument(&made.path) else { continue };
            let size = self.fresh(|| self.size(call, argument));
            if let Some((size, span)) = size
                && largest.is_none_or(|(most, _)| size > most)
                && self.works_for_models(&made, call, reach)
            {
                largest = Some((size, span));
            }
        }
        largest.map(|(size, span)| Fact::new(size, Source::Written(self.place(span))))
    }

    fn size(&self, call: &Call<'t>, argument: &str) -> Option<(f64, Span)> {
        let arguments = self.arguments(call.node, call.scope, &None);
        let value = match (arguments.positional.first(), arguments.named.get(argument)) {
            (Some(first), _) => self.bound(first),
            (None, Some(entry)) => match &entry.value {
                Held::At(at) => self.bound(at),
                Held::Value(value) => value.clone(),
            },
            (None, None) => return None,
        };
        match value.value {
            Value::Number(size) if size >= 1.0 => Some((size, value.span)),
            _ => None,
        }
    }

    /// A number, or the one that bounds it: 8 of `min(8, len(records))`.
    fn bound(&self, at: &At<'t>) -> Traced<'t> {
        let value = self.eval(at);
        let function = at.node.child_by_field_name("function");
        if !matches!(value.value, Value::Unknown(_)) || function.is_none_or(|function| self.text(function, at.scope) != "min") {
            return value;
        }
        let arguments = self.arguments(at.node, at.scope, &at.env);
        let numbers = arguments.positional.iter().map(|argument| self.eval(argument));
        let number = |traced: &Traced<'t>| match traced.value {
            Value::Number(number) => number,
            _ => f64::INFINITY,
        };
        let least = numbers.min_by(|a, b| number(a).total_cmp(&number(b)));
        least.filter(|least| number(least).is_finite()).unwrap_or(value)
    }

    /// Whether what a pool is given to do calls a model. Where it is given nothing in sight, its function decides.
    fn works_for_models(&self, pool: &Rc<Made<'t>>, made: &Call<'t>, reach: &Reach) -> bool {
        let is_pool = |node, scope| {
            let value = self.fresh(|| self.eval(&At { node, scope, env: None })).value;
            let same = |value: &Value<'t>| matches!(value, Value::Made(other) if other.call.node.id() == pool.call.node.id());
            match &value {
                Value::Any(members) => members.iter().any(|member| same(&member.value)),
                value => same(value),
            }
        };
        let mut used = false;
        for call in &self.all.calls {
            let Some(function) = call.node.child_by_field_name("function") else { continue };
            let (Some(object), Some(name)) =
                (function.child_by_field_name("object"), function.child_by_field_name("attribute"))
            else {
                continue;
            };
            let name = self.text(name, call.scope);
            let given = if name == "run_in_executor" {
                let arguments = self.arguments(call.node, call.scope, &None);
                arguments.positional.first().is_some_and(|first| is_pool(first.node, call.scope))
            } else {
                WORK.contains(&name) && is_pool(object, call.scope)
            };
            if given {
                used = true;
                let span = self.span(call.node, call.scope);
                let waits = name == "acquire" && self.enclosing(call.scope).iter().any(|scope| reach.function(*scope));
                if waits || reach.covers(self, span) {
                    return true;
                }
            }
        }
        if pool.path.ends_with("Semaphore") || pool.path.ends_with("CapacityLimiter") {
            for (node, scope) in &self.all.withs {
                if with_values(*node).into_iter().any(|value| is_pool(value, *scope)) {
                    used = true;
                    if reach.covers(self, self.span(*node, *scope)) {
                        return true;
                    }
                }
            }
        }
        let functions = self.enclosing(made.scope);
        !used && (functions.is_empty() || functions.iter().any(|scope| reach.function(*scope)))
    }
}

/// What a `with` statement enters.
fn with_values(node: Node<'_>) -> Vec<Node<'_>> {
    let clauses = children(node).into_iter().filter(|child| child.kind() == "with_clause");
    clauses.flat_map(children).filter_map(|item| item.child_by_field_name("value")).collect()
}
