//! All files of a function together: identifiers followed to what they stand for, over files and calls.

use std::cell::{Cell, RefCell};
use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use tree_sitter::Node;

use super::files::Files;
use super::scope::{Binding, Export, Exported, Imported, Module, Path};
use super::syntax::{argument, field, is_class, is_function, is_json, named, spreads, unwrap, walk};
use super::value::{Found, Symbol, Value};
use crate::engine::fact::Place;

/// How deep references are followed.
const DEEPEST: u32 = 60;
/// How many expressions are looked at for one question, and in all.
const FUEL: u32 = 30_000;
const ALL_FUEL: u32 = 600_000;
const MOST_FRAMES: usize = 20_000;
const MOST_SITES: usize = 200;
/// How many calls of one name are looked at.
const MOST_CALLS: usize = 2_000;

/// An expression: its file, its node, and the calls through which it is looked at.
#[derive(Clone, Copy, Debug)]
pub(super) struct Spot<'t> {
    pub(super) module: usize,
    pub(super) node: Node<'t>,
    pub(super) frame: usize,
}

impl<'t> Spot<'t> {
    pub(super) fn new(module: usize, node: Node<'t>) -> Self {
        Self { module, node, frame: 0 }
    }

    pub(super) fn at(self, node: Node<'t>) -> Self {
        Self { node, ..self }
    }

    /// The same whichever way it was come to.
    pub(super) fn id(self) -> (usize, usize) {
        (self.module, self.node.id())
    }
}

/// A call through which a function's body is looked at.
#[derive(Clone, Copy)]
struct Frame<'t> {
    function: (usize, usize),
    call: Spot<'t>,
    outer: usize,
}

/// Where an identifier leads.
pub(super) enum Step<'t> {
    Expression(Spot<'t>, Path<'t>),
    Is(Found<'t>),
}

pub(super) struct Program<'t> {
    pub(super) modules: Vec<Module<'t>>,
    files: &'t Files,
    frames: RefCell<Vec<Frame<'t>>>,
    sites: RefCell<HashMap<(usize, usize), Rc<[Spot<'t>]>>>,
    /// The nodes in use, once they are known: other calls of a function do not count.
    live: Option<HashSet<(usize, usize)>>,
    depth: Cell<u32>,
    fuel: Cell<u32>,
    all_fuel: Cell<u32>,
}

impl<'t> Program<'t> {
    pub(super) fn new(files: &'t Files) -> Self {
        Self {
            modules: files.list.iter().map(Module::new).collect(),
            files,
            frames: RefCell::new(Vec::new()),
            sites: RefCell::new(HashMap::new()),
            live: None,
            depth: Cell::new(0),
            fuel: Cell::new(FUEL),
            all_fuel: Cell::new(ALL_FUEL),
        }
    }

    /// Looks at calls among these nodes only from here on.
    pub(super) fn keep_to(&mut self, live: HashSet<(usize, usize)>) {
        self.live = Some(live);
        self.sites.borrow_mut().clear();
    }

    /// The file that another one imports under a specifier.
    pub(super) fn target(&self, from: usize, specifier: &str) -> Option<usize> {
        self.files.target(from, specifier)
    }

    pub(super) fn module(&self, spot: Spot<'t>) -> &Module<'t> {
        &self.modules[spot.module]
    }

    pub(super) fn text(&self, spot: Spot<'t>) -> &'t str {
        self.module(spot).text(spot.node)
    }

    pub(super) fn place(&self, spot: Spot<'t>) -> Place {
        let parsed = self.module(spot).parsed;
        parsed.file.place(&parsed.span(spot.node))
    }

    /// Runs one step of following, unless it goes too deep or on for too long.
    pub(super) fn guarded<T>(&self, run: impl FnOnce() -> T) -> Option<T> {
        let (depth, all) = (self.depth.get(), self.all_fuel.get());
        let fuel = if depth == 0 { FUEL } else { self.fuel.get() };
        if depth >= DEEPEST || fuel == 0 || all == 0 {
            return None;
        }
        self.depth.set(depth + 1);
        self.fuel.set(fuel - 1);
        self.all_fuel.set(all - 1);
        let result = run();
        self.depth.set(depth);
        Some(result)
    }

    /// The body of a function as one call sees it.
    pub(super) fn enter(&self, function: Spot<'t>, call: Spot<'t>) -> usize {
        let mut frames = self.frames.borrow_mut();
        if frames.len() >= MOST_FRAMES {
            return function.frame;
        }
        frames.push(Frame { function: function.id(), call, outer: function.frame });
        frames.len()
    }

    fn call_of(&self, function: (usize, usize), frame: usize) -> Option<Spot<'t>> {
        let frames = self.frames.borrow();
        let mut frame = frame;
        for _ in 0..DEEPEST {
            let current = frames.get(frame.checked_sub(1)?)?;
            if current.function == function {
                return Some(current.call);
            }
            frame = current.outer;
        }
        None
    }

    /// Where an identifier leads; `None` for a global.
    pub(super) fn step(&self, spot: Spot<'t>) -> Option<Step<'t>> {
        let name = self.text(spot);
        let (scope, binding) = self.module(spot).binding(name, spot.node)?;
        Some(self.follow(spot, name, scope, binding))
    }

    fn follow(&self, spot: Spot<'t>, name: &str, scope: usize, binding: &Binding<'t>) -> Step<'t> {
        match binding {
            Binding::Declared(node) => Step::Is(declared(spot.at(*node))),
            Binding::Opaque => unknown(spot, format!("`{name}` is not known before the code runs")),
            Binding::Variable { declarator, path, constant } => self.variable(spot, name, scope, *declarator, path, *constant),
            Binding::Parameter { function, index, default, path } => {
                self.parameter(spot, name, *function, *index, *default, path)
            }
            Binding::Import { specifier, name: imported } => self.import(spot, specifier, imported),
        }
    }

    fn variable(
        &self,
        spot: Spot<'t>,
        name: &str,
        scope: usize,
        declarator: Node<'t>,
        path: &Path<'t>,
        constant: bool,
    ) -> Step<'t> {
        let init = field(declarator, "value").map(unwrap).filter(|init| {
            !path.is_empty()
                || constant
                || !matches!(init.kind(), "null" | "undefined") && self.text(spot.at(*init)) != "undefined"
        });
        let mut values: Vec<Node<'t>> = init.into_iter().collect();
        if !constant {
            for write in self.module(spot).assigned.get(name).into_iter().flatten() {
                let target = field(*write, "left").or_else(|| field(*write, "argument"));
                if self.module(spot).binding(name, target.unwrap_or(*write)).is_none_or(|(found, _)| found != scope) {
                    continue;
                }
                let operator = field(*write, "operator").map_or("=", |operator| self.text(spot.at(operator)));
                match field(*write, "right") {
                    Some(right) if matches!(operator, "=" | "??=" | "||=") => values.push(right),
                    _ => return unknown(spot, format!("`{name}` changes while the code runs")),
                }
            }
        }
        match values.as_slice() {
            [value] => Step::Expression(spot.at(*value), path.clone()),
            [] => unknown(spot, format!("`{name}` gets no value in the code that is read")),
            _ => unknown(spot, format!("`{name}` is assigned more than once")),
        }
    }

    fn parameter(
        &self,
        spot: Spot<'t>,
        name: &str,
        function: Node<'t>,
        index: usize,
        default: Option<Node<'t>>,
        path: &Path<'t>,
    ) -> Step<'t> {
        let at_call = |call: Spot<'t>| {
            let given = argument(call.node, index).filter(|given| self.text(call.at(*given)) != "undefined");
            match (given, default) {
                _ if spreads(call.node) => unknown(spot, format!("`{name}` is an argument that is spread")),
                (Some(given), _) => Step::Expression(call.at(given), path.clone()),
                (None, Some(default)) => Step::Expression(spot.at(default), path.clone()),
                (None, None) => Step::Is(Found { value: Value::Nothing, spot }),
            }
        };
        let function = spot.at(function);
        if let Some(call) = self.call_of(function.id(), spot.frame) {
            return at_call(call);
        }
        match self.sites(function).as_ref() {
            [only] => at_call(*only),
            [] => unknown(spot, format!("`{name}` is an argument, and no call shows its value")),
            _ => unknown(spot, format!("`{name}` is an argument, and several calls give it")),
        }
    }

    fn import(&self, spot: Spot<'t>, specifier: &str, imported: &Imported) -> Step<'t> {
        let Some(target) = self.target(spot.module, specifier) else {
            return package(spot, specifier, imported);
        };
        match imported {
            Imported::Whole => Step::Is(Found { value: Value::Namespace(target), spot }),
            Imported::Name(name) => self
                .export(target, name)
                .unwrap_or_else(|| unknown(spot, format!("`{specifier}` does not show an export `{name}`"))),
        }
    }

    /// What `require` or `import()` of a module gives.
    pub(super) fn required(&self, spot: Spot<'t>, specifier: &str) -> Found<'t> {
        match self.import(spot, specifier, &Imported::Whole) {
            Step::Is(found) => found,
            Step::Expression(spot, _) => Found { value: Value::Other, spot },
        }
    }

    /// What a module exports under a name.
    pub(super) fn export(&self, module: usize, name: &str) -> Option<Step<'t>> {
        self.guarded(|| self.exported(module, name)).flatten()
    }

    fn exported(&self, index: usize, name: &str) -> Option<Step<'t>> {
        let module = self.modules.get(index)?;
        let root = Spot::new(index, module.parsed.root());
        let path = |name: &str| if name == "default" { Vec::new() } else { vec![(name.to_owned(), None)] };
        if is_json(&module.parsed.file.path) {
            let statement = named(root.node).next().and_then(|statement| named(statement).next())?;
            return Some(Step::Expression(root.at(statement), path(name)));
        }
        let step = |export: &Export<'t>| match &export.what {
            Exported::Local(local) => Some(self.follow(root, local, root.node.id(), module.top(local)?)),
            Exported::Value(node) if is_function(*node) || is_class(*node) => Some(Step::Is(declared(root.at(*node)))),
            Exported::Value(node) => Some(Step::Expression(root.at(*node), Vec::new())),
            Exported::From { specifier, name } => Some(self.import(root, specifier, name)),
        };
        // The last, since compiled code first sets each to nothing.
        if let Some(export) = module.exports.iter().rev().find(|export| export.name.as_deref() == Some(name)) {
            return step(export);
        }
        if let Some(whole) = module.whole {
            return Some(Step::Expression(root.at(whole), path(name)));
        }
        module.exports.iter().filter(|export| export.name.is_none()).find_map(|export| match &export.what {
            Exported::From { specifier, .. } => match self.target(index, specifier) {
                Some(target) => self.export(target, name),
                None => None,
            },
            _ => None,
        })
    }

    /// The calls of a function, or the `new` of a constructor's class, in all files.
    pub(super) fn sites(&self, function: Spot<'t>) -> Rc<[Spot<'t>]> {
        if let Some(known) = self.sites.borrow().get(&function.id()) {
            return Rc::clone(known);
        }
        // A function whose calls are being looked for is not looked for again.
        self.sites.borrow_mut().insert(function.id(), Rc::from([]));
        let module = self.module(function);
        let class = module.parent(function.node).and_then(|body| module.parent(body)).filter(|class| is_class(*class));
        let constructor =
            class.filter(|_| field(function.node, "name").is_some_and(|name| self.text(function.at(name)) == "constructor"));
        let what = function.at(constructor.unwrap_or(function.node));
        let mut sites = Vec::new();
        if let Some(name) = self.name_of(what) {
            'all: for (index, module) in self.modules.iter().enumerate() {
                for call in module.calls.get(name).into_iter().flatten().take(MOST_CALLS) {
                    let call = Spot::new(index, *call);
                    if self.live.as_ref().is_some_and(|live| !live.contains(&call.id())) {
                        continue;
                    }
                    let callee = field(call.node, "function").or_else(|| field(call.node, "constructor"));
                    let found = callee.map(|callee| self.evaluate(call.at(callee)));
                    if found.is_some_and(|found| found.spot.id() == what.id() && found.is_code()) {
                        sites.push(call);
                    }
                    if sites.len() >= MOST_SITES || self.all_fuel.get() == 0 {
                        break 'all;
                    }
                }
            }
        }
        let sites: Rc<[Spot<'t>]> = Rc::from(sites);
        self.sites.borrow_mut().insert(function.id(), Rc::clone(&sites));
        sites
    }

    /// The name by which a function or class is called.
    pub(super) fn name_of(&self, spot: Spot<'t>) -> Option<&'t str> {
        let own = field(spot.node, "name").map(|name| self.text(spot.at(name)));
        own.or_else(|| {
            let parent = self.module(spot).parent(spot.node)?;
            let name = match parent.kind() {
                "variable_declarator" | "public_field_definition" => field(parent, "name"),
                "pair" => field(parent, "key"),
                "field_definition" => field(parent, "property"),
                "assignment_expression" => {
                    let left = field(parent, "left")?;
                    field(left, "property").or(Some(left))
                }
                _ => None,
            };
            name.map(|name| self.text(spot.at(name)))
        })
    }

    /// The functions and classes around an expression, innermost first.
    pub(super) fn functions_around(&self, spot: Spot<'t>) -> Vec<Node<'t>> {
        self.module(spot).ancestors(spot.node).filter(|node| is_function(*node)).collect()
    }
}

fn unknown(spot: Spot<'_>, why: String) -> Step<'_> {
    Step::Is(Found { value: Value::Unresolved(why), spot })
}

fn declared(spot: Spot<'_>) -> Found<'_> {
    let value = match spot.node.kind() {
        "enum_declaration" => Value::Enum,
        _ if is_class(spot.node) => Value::Class,
        _ => Value::Function,
    };
    Found { value, spot }
}

fn package<'t>(spot: Spot<'t>, specifier: &str, imported: &Imported) -> Step<'t> {
    if specifier.starts_with('.') {
        return unknown(spot, format!("`{specifier}` is not among the files that are read"));
    }
    let path = match imported {
        Imported::Name(name) if name != "default" => vec![name.clone()],
        _ => Vec::new(),
    };
    Step::Is(Found { value: Value::Symbol(Symbol { package: specifier.to_owned(), path }), spot })
}

/// The expressions that a function returns.
pub(super) fn returns(function: Node<'_>) -> Vec<Node<'_>> {
    let Some(body) = field(function, "body") else { return Vec::new() };
    if body.kind() != "statement_block" {
        return vec![body];
    }
    let mut found = Vec::new();
    walk(body, |node| {
        if node.kind() == "return_statement" {
            found.extend(named(node).next());
        }
        !is_function(node) && !is_class(node)
    });
    found
}
