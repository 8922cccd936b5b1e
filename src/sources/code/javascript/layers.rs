//! What runs around the calls: limits of how many run at a time, and layers that retry.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;

use tree_sitter::Node;

use super::clients::Reader;
use super::lookup::Lookup;
use super::program::Spot;
use super::settings::given;
use super::syntax::{argument, field, is_class, is_function, named, walk};
use super::value::{Found, Symbol, Value};
use crate::engine::deployment::{Setting, State};
use crate::engine::fact::{Fact, Place};

/// How many nodes are looked at in search of calls.
const MOST_LOOKED_AT: usize = 2_000_000;

impl<'t> Reader<'_, 't> {
    /// The literal size of a pool or semaphore, where the files have one.
    pub(super) fn parallel_calls(&self) -> Option<Fact<f64>> {
        self.nodes.iter().find_map(|spot| {
            let symbol =
                matches!(spot.node.kind(), "call_expression" | "new_expression").then(|| self.symbol(*spot)).flatten()?;
            let setting = self.program.number(&self.size(*spot, &symbol)?);
            match setting {
                Setting { state: State::Known(fact), .. } if fact.value >= 1.0 => Some(fact),
                _ => None,
            }
        })
    }

    fn size(&self, call: Spot<'t>, symbol: &Symbol) -> Option<Lookup<'t>> {
        let program = self.program;
        let path: Vec<&str> = symbol.path.iter().map(String::as_str).collect();
        Some(match (symbol.package.as_str(), path.as_slice()) {
            ("p-limit", [] | ["pLimit"]) => match given(call, 0) {
                Lookup::Entry { value, .. } if matches!(program.evaluate(value).value, Value::Object) => {
                    program.option(call, 0, "concurrency")
                }
                number => number,
            },
            ("p-map" | "bluebird", [] | ["map" | "pMap" | "pMapIterable"]) => program.option(call, 2, "concurrency"),
            ("p-all", []) => program.option(call, 1, "concurrency"),
            ("p-queue", [] | ["PQueue"]) => program.option(call, 0, "concurrency"),
            ("bottleneck", []) => program.option(call, 0, "maxConcurrent"),
            ("async-mutex" | "await-semaphore" | "semaphore-async-await", ["Semaphore"])
            | ("async-sema", ["Sema"])
            | ("@supercharge/promise-pool", [.., "withConcurrency"]) => given(call, 0),
            ("async", ["mapLimit" | "eachLimit" | "forEachLimit"]) => given(call, 1),
            _ => return None,
        })
    }

    /// Layers that retry what calls a model.
    pub(super) fn nested_retries(&self) -> Vec<(Place, String)> {
        let search = Search { reader: self, known: RefCell::new(HashMap::new()), left: Cell::new(MOST_LOOKED_AT) };
        let mut found: Vec<(Place, String)> = Vec::new();
        for spot in self.nodes {
            let layer = match spot.node.kind() {
                "call_expression" => self.retry(*spot, &search),
                "for_statement" | "while_statement" | "do_statement" => self.retry_loop(*spot, &search),
                "try_statement" => self.recursion(*spot, &search),
                _ => None,
            };
            if let Some((node, what)) = layer {
                let place = self.program.place(spot.at(node));
                if !found.iter().any(|(known, _)| *known == place) {
                    found.push((place, what));
                }
            }
        }
        found
    }

    fn retry(&self, call: Spot<'t>, search: &Search<'_, '_, 't>) -> Option<(Node<'t>, String)> {
        let symbol = self.symbol(call)?;
        let path: Vec<&str> = symbol.path.iter().map(String::as_str).collect();
        let what = match (symbol.package.as_str(), path.as_slice()) {
            (
                "p-retry" | "async-retry" | "promise-retry" | "ts-retry-promise" | "@zeit/p-retry",
                [] | ["retry" | "default" | "pRetry"],
            ) => symbol.package.clone(),
            ("exponential-backoff", ["backOff"])
            | ("@lifeomic/attempt" | "async" | "radash" | "es-toolkit" | "ts-retry", [.., "retry"])
            | ("ts-retry", ["retryAsync"]) => {
                format!("{}'s `{}`", symbol.package, symbol.last())
            }
            ("cockatiel", ["retry" | "wrap", .., "execute"]) => "cockatiel".to_owned(),
            (package, [.., "withRetry"]) if package.starts_with("@langchain/") => {
                return Some((field(call.node, "function")?, "LangChain's `withRetry`".to_owned()));
            }
            _ => return None,
        };
        let sends = field(call.node, "arguments").into_iter().flat_map(named).any(|item| search.value(call.at(item)));
        let callee = field(call.node, "function")?;
        sends.then_some((callee, what))
    }

    /// A loop that counts attempts around a call whose errors it catches.
    fn retry_loop(&self, spot: Spot<'t>, search: &Search<'_, '_, 't>) -> Option<(Node<'t>, String)> {
        let text = |node: Node<'t>| self.program.text(spot.at(node));
        let counts = |name: &str| {
            let name = name.to_ascii_lowercase();
            ["attempt", "retr", "tries", "trial"].iter().any(|part| name.contains(part))
        };
        let condition = field(spot.node, "condition").map(super::syntax::unwrap);
        let endless = condition.is_none_or(|condition| matches!(condition.kind(), "true" | "empty_statement"));
        let mut counted = false;
        let mut over_list = false;
        for node in [condition, field(spot.node, "initializer")].into_iter().flatten() {
            walk(node, |node| {
                match node.kind() {
                    "identifier" => counted |= counts(text(node)),
                    "property_identifier" => {
                        counted |= counts(text(node));
                        over_list |= matches!(text(node), "length" | "size");
                    }
                    _ => {}
                }
                true
            });
        }
        let bounded = || condition.is_some_and(|condition| self.is_bounded(spot, condition));
        if over_list || !counted && !endless && !bounded() {
            return None;
        }
        let body = field(spot.node, "body")?;
        let mut caught = false;
        walk(body, |node| {
            if node.kind() == "try_statement" && field(node, "handler").is_some_and(|handler| !gives_up(handler)) {
                caught |= field(node, "body").is_some_and(|body| search.code(spot.at(body)));
            }
            !is_function(node) && !is_class(node)
        });
        let header = (0..spot.node.child_count()).find_map(|i| spot.node.child(i))?;
        caught.then(|| (header, "a loop that tries again".to_owned()))
    }

    /// A function that catches errors of a call, and then calls itself.
    fn recursion(&self, spot: Spot<'t>, search: &Search<'_, '_, 't>) -> Option<(Node<'t>, String)> {
        let handler = field(spot.node, "handler")?;
        let around = self.program.functions_around(spot).first().map(|function| spot.at(*function).id())?;
        let mut again = None;
        walk(handler, |node| {
            if node.kind() == "call_expression" && again.is_none() {
                let callee = field(node, "function").map(|callee| self.program.evaluate(spot.at(callee)));
                again = callee.filter(|callee| callee.spot.id() == around && callee.is_code()).map(|_| node);
            }
            !is_function(node)
        });
        let callee = field(again?, "function")?;
        let sends = field(spot.node, "body").is_some_and(|body| search.code(spot.at(body)));
        sends.then(|| (callee, "a function that calls itself again after an error".to_owned()))
    }

    /// `i < 3`, with a constant that is small enough for attempts, where the loop's variable picks nothing out of a list.
    fn is_bounded(&self, spot: Spot<'t>, condition: Node<'t>) -> bool {
        if spot.node.kind() != "for_statement" || condition.kind() != "binary_expression" {
            return false;
        }
        let (Some(left), Some(right)) = (field(condition, "left"), field(condition, "right")) else { return false };
        let few = matches!(self.program.evaluate(spot.at(right)).value, Value::Number(number) if number <= 20.0);
        let variable = self.program.text(spot.at(left));
        let mut picks = false;
        if let Some(body) = field(spot.node, "body") {
            walk(body, |node| {
                if node.kind() == "subscript_expression" {
                    picks |= field(node, "index").is_some_and(|index| self.program.text(spot.at(index)) == variable);
                }
                true
            });
        }
        few && !picks
    }
}

/// Whether a catch clause ends the loop in any case.
fn gives_up(handler: Node<'_>) -> bool {
    let ends = |node: Node<'_>| matches!(node.kind(), "throw_statement" | "return_statement" | "break_statement");
    field(handler, "body").is_some_and(|body| named(body).any(ends))
}

/// Looks for calls of models in code, through the functions that it calls.
struct Search<'a, 'b, 't> {
    reader: &'a Reader<'b, 't>,
    known: RefCell<HashMap<(usize, usize), bool>>,
    left: Cell<usize>,
}

impl<'t> Search<'_, '_, 't> {
    /// Whether what is passed to a retry layer calls a model: a function, or a function's name.
    fn value(&self, spot: Spot<'t>) -> bool {
        match self.reader.program.evaluate(spot) {
            Found { value: Value::Function, spot } => self.code(spot),
            _ => self.code(spot),
        }
    }

    fn code(&self, spot: Spot<'t>) -> bool {
        if let Some(known) = self.known.borrow().get(&spot.id()) {
            return *known;
        }
        // A function that calls itself adds nothing.
        self.known.borrow_mut().insert(spot.id(), false);
        let result = self.reader.program.guarded(|| self.look(spot)).unwrap_or(false);
        self.known.borrow_mut().insert(spot.id(), result);
        result
    }

    fn look(&self, spot: Spot<'t>) -> bool {
        let mut sends = false;
        walk(spot.node, |node| {
            let left = self.left.get();
            if sends || left == 0 {
                return false;
            }
            self.left.set(left - 1);
            if node.kind() == "call_expression" {
                sends |= self.call(spot.at(node));
            }
            true
        });
        sends
    }

    fn call(&self, call: Spot<'t>) -> bool {
        let (reader, program) = (self.reader, self.reader.program);
        if reader.send(call).is_some() || reader.messages(call).is_some() || reader.generates(call).is_some() {
            return true;
        }
        let Some(callee) = field(call.node, "function") else { return false };
        match program.evaluate(call.at(callee)) {
            Found { value: Value::Function, spot } => self.code(spot),
            // A function that was passed: any call of the one around may bring one that sends.
            Found { value: Value::Unresolved(_), .. } => self.passed(call.at(callee)),
            Found { value: Value::Symbol(symbol) | Value::Made(symbol), .. } => {
                symbol.last() == "invoke" && symbol.package == "@langchain/aws"
            }
            _ => false,
        }
    }

    fn passed(&self, callee: Spot<'t>) -> bool {
        let program = self.reader.program;
        let Some((_, super::scope::Binding::Parameter { function, index, .. })) =
            program.module(callee).binding(program.text(callee), callee.node)
        else {
            return false;
        };
        let sites = program.sites(callee.at(*function));
        sites.iter().any(|site| argument(site.node, *index).is_some_and(|given| self.value(site.at(given))))
    }
}
