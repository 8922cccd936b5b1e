//! The files as one program: who calls which function, and evaluation under each caller's arguments.

use std::cell::{Cell, RefCell};
use std::collections::{HashMap, VecDeque};

use tree_sitter::Node;

use super::files::Files;
use super::scope::{Scopes, children};
use super::value::{At, Caller, Span, Traced, Value};
use crate::engine::fact::Place;

/// Expressions nested or followed further than this are unknown.
const DEEPEST: usize = 40;
/// Expressions that are evaluated for one question.
const MOST_STEPS: usize = 20_000;
/// Expressions that are evaluated for all questions together.
const MOST_STEPS_IN_ALL: usize = 300_000;
/// Combinations of callers that one question is asked for.
const MOST_CALLERS: usize = 48;
/// Calls that are looked at in all.
const MOST_CALLS: usize = 20_000;

pub(super) struct Program<'t> {
    pub(super) files: &'t Files,
    pub(super) all: Scopes<'t>,
    callers: HashMap<usize, Vec<Caller<'t>>>,
    /// Where a local function is called or handed on.
    pub(super) references: Vec<Reference>,
    assumed: RefCell<Vec<(usize, Caller<'t>)>>,
    missed: RefCell<Vec<usize>>,
    depth: Cell<usize>,
    steps: Cell<usize>,
    all_steps: Cell<usize>,
}

/// A call of a local function, or one that hands it on.
#[derive(Clone, Copy)]
pub(super) struct Reference {
    pub(super) span: Span,
    pub(super) scope: usize,
    pub(super) target: usize,
}

impl<'t> Program<'t> {
    pub(super) fn new(files: &'t Files) -> Self {
        let mut all = Scopes::default();
        for parsed in &files.parsed {
            all.add(parsed.tree.root_node(), &parsed.file.text);
        }
        all.calls.truncate(MOST_CALLS);
        let mut program = Self {
            files,
            all,
            callers: HashMap::new(),
            references: Vec::new(),
            assumed: RefCell::default(),
            missed: RefCell::default(),
            depth: Cell::new(0),
            steps: Cell::new(0),
            all_steps: Cell::new(0),
        };
        program.link();
        program
    }

    /// Finds out which local functions are called or handed on, and where.
    fn link(&mut self) {
        let mut callers: HashMap<usize, Vec<Caller<'t>>> = HashMap::new();
        let mut references = Vec::new();
        for call in &self.all.calls {
            let span = self.span(call.node, call.scope);
            let function = call.node.child_by_field_name("function");
            for (node, called) in function
                .map(|function| (function, true))
                .into_iter()
                .chain(children_of_arguments(call.node).into_iter().map(|argument| (argument, false)))
            {
                if !matches!(node.kind(), "identifier" | "attribute") {
                    continue;
                }
                let at = At { node, scope: call.scope, env: None };
                let (target, bound) = match self.fresh(|| self.eval(&at)).value {
                    Value::Function(scope, object) => (scope, object.is_some()),
                    Value::Class(class) => (self.method(class, "__init__").unwrap_or(class), true),
                    _ => continue,
                };
                references.push(Reference { span, scope: call.scope, target });
                if called {
                    callers.entry(target).or_default().push(Caller { call: call.node, scope: call.scope, bound });
                }
            }
        }
        self.callers = callers;
        self.references = references;
    }

    /// Evaluates for no caller in particular.
    pub(super) fn fresh<T>(&self, ask: impl FnOnce() -> T) -> T {
        self.steps.set(0);
        self.depth.set(0);
        self.missed.borrow_mut().clear();
        ask()
    }

    /// Asks once for each combination of the callers whose arguments the answer depends on. Each answer comes once.
    pub(super) fn for_each_caller<T: PartialEq>(&self, ask: impl Fn() -> T) -> Vec<T> {
        let mut waiting = VecDeque::from([Vec::new()]);
        let mut answers = Vec::new();
        let mut asked = 0;
        while let Some(assumed) = waiting.pop_front() {
            asked += 1;
            self.assumed.replace(assumed.clone());
            let answer = self.fresh(&ask);
            let missed = self.missed.take();
            let open = missed.iter().find_map(|scope| {
                let known = assumed.iter().any(|(other, _)| other == scope);
                self.callers.get(scope).filter(|callers| !known && !callers.is_empty()).map(|callers| (*scope, callers))
            });
            match open {
                Some((scope, callers)) if asked + waiting.len() < MOST_CALLERS => {
                    for caller in callers.iter().take(MOST_CALLERS) {
                        let mut assumed = assumed.clone();
                        assumed.push((scope, *caller));
                        waiting.push_back(assumed);
                    }
                }
                _ => {
                    if !answers.contains(&answer) {
                        answers.push(answer);
                    }
                }
            }
        }
        self.assumed.take();
        answers
    }

    pub(super) fn assumed(&self, scope: usize) -> Option<Caller<'t>> {
        self.assumed.borrow().iter().find(|(other, _)| *other == scope).map(|(_, caller)| *caller)
    }

    /// Notes that a parameter of a function was asked for, and no caller is assumed.
    pub(super) fn missed(&self, scope: usize) {
        let mut missed = self.missed.borrow_mut();
        if !missed.contains(&scope) {
            missed.push(scope);
        }
    }

    /// Goes one step further, unless that is too far.
    pub(super) fn deeper<T>(&self, ask: impl FnOnce() -> T) -> Option<T> {
        let (depth, steps, all) = (self.depth.get(), self.steps.get(), self.all_steps.get());
        if depth >= DEEPEST || steps >= MOST_STEPS || all >= MOST_STEPS_IN_ALL {
            return None;
        }
        self.depth.set(depth + 1);
        self.steps.set(steps + 1);
        self.all_steps.set(all + 1);
        let answer = ask();
        self.depth.set(depth);
        Some(answer)
    }

    pub(super) fn eval(&self, at: &At<'t>) -> Traced<'t> {
        self.deeper(|| self.expression(at)).unwrap_or_else(|| self.unknown(at, "a value too far away to follow".to_owned()))
    }

    pub(super) fn text(&self, node: Node<'_>, scope: usize) -> &'t str {
        let module = self.all.list[scope].module;
        self.files.parsed.get(module).and_then(|parsed| parsed.file.text.get(node.byte_range())).unwrap_or("")
    }

    pub(super) fn place(&self, span: Span) -> Place {
        let file = &self.files.parsed[span.module].file;
        file.place(&(span.start..span.end))
    }
}

/// The values of a call's arguments.
pub(super) fn children_of_arguments(call: Node<'_>) -> Vec<Node<'_>> {
    let arguments = call.child_by_field_name("arguments").map(children).unwrap_or_default();
    arguments
        .into_iter()
        .filter_map(|argument| match argument.kind() {
            "keyword_argument" => argument.child_by_field_name("value"),
            _ => Some(argument),
        })
        .collect()
}
