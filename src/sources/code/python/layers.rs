//! Retry layers around calls of models: decorators, objects that retry, and loops that try again.

use tree_sitter::Node;

use super::program::{Program, children_of_arguments};
use super::reach::Reach;
use super::scope::{Kind, What, children};
use super::value::{At, Span, Value};
use crate::engine::fact::Place;

const DEEPEST: usize = 60;

/// Words in the names that loops over attempts use.
const WORDS: [&str; 6] = ["attempt", "retr", "tries", "trial", "backoff", "delay"];

/// A library's function or class that retries what it is given.
fn layer(path: &str) -> Option<String> {
    let (package, name) = path.split_once('.')?;
    let last = name.rsplit('.').next().unwrap_or(name);
    let known = match package {
        "tenacity" => matches!(last, "retry" | "Retrying" | "AsyncRetrying"),
        "backoff" => matches!(last, "on_exception" | "on_predicate"),
        "retrying" => matches!(last, "retry" | "Retrying"),
        "stamina" => matches!(last, "retry" | "retry_context" | "RetryingCaller" | "AsyncRetryingCaller"),
        "retry" | "retry2" => matches!(last, "retry" | "retry_call"),
        _ => false,
    };
    (known && !path.contains("()")).then(|| format!("{package}'s `{last}`"))
}

impl<'t> Program<'t> {
    pub(super) fn nested_retries(&self, reach: &Reach, langchain: bool) -> Vec<(Place, String)> {
        let mut found: Vec<(Span, String)> = Vec::new();
        if reach.is_empty() {
            return Vec::new();
        }
        let retrying = self.retrying_functions();
        for (index, scope) in self.all.list.iter().enumerate() {
            if !reach.function(index) {
                continue;
            }
            for decorator in &scope.decorators {
                let Some(node) = decorator.named_child(0) else { continue };
                let at = At { node, scope: scope.parent.unwrap_or(index), env: None };
                if let Some(text) = self.layer_of(&at, &retrying) {
                    let function = node.child_by_field_name("function").unwrap_or(node);
                    let span = self.span(*decorator, index);
                    found.push((Span { end: function.end_byte(), ..span }, text));
                }
            }
        }
        for (node, scope) in &self.all.loops {
            if let Some(text) = self.loop_layer(*node, *scope, reach, &retrying) {
                let span = self.span(*node, *scope);
                let body = node.child_by_field_name("body").map_or(span.end, |body| body.start_byte());
                let header = self.text(*node, *scope).find('\n').map_or(span.end, |line| span.start + line);
                found.push((Span { end: header.min(body), ..span }, text));
            }
        }
        for call in &self.all.calls {
            let span = self.span(call.node, call.scope);
            let Some(function) = call.node.child_by_field_name("function") else { continue };
            let callee = Span { end: function.end_byte(), ..span };
            if langchain && function.kind() == "attribute" {
                let name = function.child_by_field_name("attribute").map_or("", |name| self.text(name, call.scope));
                if name == "with_retry" {
                    found.push((callee, "LangChain's `with_retry`".to_owned()));
                    continue;
                }
            }
            if !reach.covers(self, span) {
                continue;
            }
            let at = At { node: function, scope: call.scope, env: None };
            let text = match self.fresh(|| self.eval(&at)).value {
                Value::Function(scope, _) if retrying.contains(&scope) && self.hands_over(call.node, call.scope, reach) => {
                    Some(format!("`{}`, which tries again", self.all.list[scope].name))
                }
                Value::Made(made) if !self.is_single(made.call.node, &made.call) => layer(&made.path),
                Value::Library(path) => {
                    let object = path.strip_suffix("().call").or_else(|| path.strip_suffix("().wraps"));
                    object.and_then(layer).or_else(|| layer(&path).filter(|_| path.ends_with("retry_call")))
                }
                _ => None,
            };
            found.extend(text.map(|text| (callee, text)));
        }
        found.sort_by_key(|(span, _)| (span.module, span.start));
        found.dedup_by_key(|(span, _)| (span.module, span.start));
        found.into_iter().map(|(span, text)| (self.place(span), text)).collect()
    }

    /// The retry layer that an expression is, of a library or a local one.
    fn layer_of(&self, at: &At<'t>, retrying: &[usize]) -> Option<String> {
        match self.fresh(|| self.eval(at)).value {
            Value::Library(path) => layer(&path),
            Value::Made(made) if !self.is_single(made.call.node, &made.call) => layer(&made.path),
            Value::Function(scope, _) if self.enclosing(scope).iter().any(|scope| retrying.contains(scope)) => {
                let outer = self.enclosing(scope).last().copied().unwrap_or(scope);
                Some(format!("`{}`, which tries again", self.all.list[outer].name))
            }
            _ => None,
        }
    }

    /// Whether a retry layer is set to one attempt.
    fn is_single(&self, call: Node<'t>, at: &At<'t>) -> bool {
        let arguments = self.arguments(call, at.scope, &at.env);
        let one = |key: &str| {
            let value = arguments.named.get(key).map(|entry| self.held(&entry.value).value);
            match value {
                Some(Value::Number(number)) => number <= 1.0,
                Some(Value::Made(made)) if made.path.ends_with("stop_after_attempt") => {
                    let inner = self.arguments(made.call.node, made.call.scope, &made.call.env);
                    let first = inner.positional.first().map(|first| self.eval(first).value);
                    matches!(first, Some(Value::Number(number)) if number <= 1.0)
                }
                _ => false,
            }
        };
        ["stop", "max_tries", "attempts", "tries", "stop_max_attempt_number"].iter().any(|key| one(key))
    }

    /// Whether a call hands over a function that reaches a model.
    fn hands_over(&self, call: Node<'t>, scope: usize, reach: &Reach) -> bool {
        children_of_arguments(call).into_iter().any(|argument| match argument.kind() {
            "lambda" | "call" => reach.covers(self, self.span(argument, scope)),
            "identifier" | "attribute" => {
                let value = self.fresh(|| self.eval(&At { node: argument, scope, env: None })).value;
                match value {
                    Value::Function(function, _) => reach.function(function),
                    Value::Library(path) => path.starts_with(super::CLIENT),
                    _ => false,
                }
            }
            _ => false,
        })
    }

    /// Local functions that try what they are given again: a loop around a call of a parameter.
    fn retrying_functions(&self) -> Vec<usize> {
        let mut functions = Vec::new();
        for (node, scope) in &self.all.loops {
            let body = self.span(*node, *scope);
            let calls_parameter = || {
                self.all.calls.iter().filter(|call| body.holds(self.span(call.node, call.scope))).any(|call| {
                    let function = call.node.child_by_field_name("function");
                    function.is_some_and(|function| {
                        function.kind() == "identifier" && self.is_parameter(self.text(function, call.scope), call.scope)
                    })
                })
            };
            if self.tries_again(*node, *scope, &|_| true) && calls_parameter() {
                functions.extend(self.enclosing(*scope));
            }
        }
        functions
    }

    fn is_parameter(&self, name: &str, scope: usize) -> bool {
        let mut next = Some(scope);
        while let Some(scope) = next {
            let here = &self.all.list[scope];
            if let Some(bindings) = here.bindings.get(name) {
                return here.kind == Kind::Function
                    && matches!(bindings.as_slice(), [binding] if matches!(binding.what, What::Parameter(_)));
            }
            next = here.parent;
        }
        false
    }

    fn loop_layer(&self, node: Node<'t>, scope: usize, reach: &Reach, retrying: &[usize]) -> Option<String> {
        if !reach.covers(self, self.span(node, scope)) {
            return None;
        }
        if let Some(right) = node.child_by_field_name("right")
            && let Some(text) = self.layer_of(&At { node: right, scope, env: None }, retrying)
        {
            return Some(text);
        }
        let kind = if node.kind() == "for_statement" { "for" } else { "while" };
        let covers = |inner: Node<'t>| reach.covers(self, self.span(inner, scope));
        self.tries_again(node, scope, &covers).then(|| format!("a `{kind}` loop that tries again"))
    }

    /// Whether a loop is left once its work is done, and goes round after an exception.
    fn tries_again(&self, node: Node<'t>, scope: usize, covers: &dyn Fn(Node<'t>) -> bool) -> bool {
        let Some(body) = node.child_by_field_name("body") else { return false };
        let header = self.text(node, scope).get(..body.start_byte().saturating_sub(node.start_byte())).unwrap_or("");
        let header = header.to_ascii_lowercase();
        let named = WORDS.iter().any(|word| header.contains(word));
        let counts = match node.child_by_field_name("right") {
            Some(right) => match self.range(right, scope) {
                Some(Some(count)) => count > 1.0,
                // An index that nobody asks for.
                Some(None) => named || node.child_by_field_name("left").is_some_and(|left| self.text(left, scope) == "_"),
                None => named,
            },
            None => true,
        };
        if !counts {
            return false;
        }
        let mut tries = Vec::new();
        collect(body, "try_statement", 0, &mut tries);
        let retries = tries.iter().any(|node| {
            let inside = node.child_by_field_name("body").is_some_and(covers);
            inside && children(*node).iter().any(|clause| clause.kind().starts_with("except") && goes_on(*clause))
        });
        retries && (leaves(body, false, 0) || (named && node.kind() == "while_statement"))
    }

    /// How often a `range` goes round: `Some(None)` where that is not known.
    fn range(&self, node: Node<'t>, scope: usize) -> Option<Option<f64>> {
        let function = node.child_by_field_name("function")?;
        let at = |node| At { node, scope, env: None };
        let callee = self.fresh(|| self.eval(&at(function))).value;
        if !matches!(&callee, Value::Library(path) if &**path == "range") {
            return None;
        }
        let arguments = self.arguments(node, scope, &None);
        let numbers: Vec<Option<f64>> = arguments
            .positional
            .iter()
            .map(|argument| match self.eval(argument).value {
                Value::Number(number) => Some(number),
                _ => None,
            })
            .collect();
        Some(match numbers.as_slice() {
            [Some(end)] => Some(*end),
            [Some(start), Some(end), ..] => Some(end - start),
            _ => None,
        })
    }
}

/// Nodes of a kind, not looking into functions.
fn collect<'t>(node: Node<'t>, kind: &str, depth: usize, found: &mut Vec<Node<'t>>) {
    if depth > DEEPEST || is_scope(node) {
        return;
    }
    if node.kind() == kind {
        found.push(node);
    }
    for child in children(node) {
        collect(child, kind, depth + 1, found);
    }
}

/// Whether a loop's body has a way out beside its exceptions.
fn leaves(node: Node<'_>, in_loop: bool, depth: usize) -> bool {
    if depth > DEEPEST || is_scope(node) || node.kind().starts_with("except") {
        return false;
    }
    match node.kind() {
        "return_statement" => true,
        "break_statement" => !in_loop,
        kind => {
            let in_loop = in_loop || matches!(kind, "for_statement" | "while_statement");
            children(node).into_iter().any(|child| leaves(child, in_loop, depth + 1))
        }
    }
}

/// Whether the loop goes on after an `except` clause.
fn goes_on(clause: Node<'_>) -> bool {
    let mut continues = Vec::new();
    collect(clause, "continue_statement", 0, &mut continues);
    let block = children(clause).into_iter().find(|child| child.kind() == "block");
    let last = block.and_then(|block| children(block).last().copied());
    let ends = last.is_some_and(|last| matches!(last.kind(), "raise_statement" | "return_statement" | "break_statement"));
    !continues.is_empty() || !ends
}

fn is_scope(node: Node<'_>) -> bool {
    matches!(node.kind(), "function_definition" | "class_definition" | "lambda")
}
