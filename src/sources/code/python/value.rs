//! Values of expressions, as far as the source alone gives them.

use std::rc::Rc;

use tree_sitter::Node;

use crate::engine::deployment::Unresolved;

/// Bytes of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Span {
    pub(super) module: usize,
    pub(super) start: usize,
    pub(super) end: usize,
}

impl Span {
    pub(super) fn holds(self, other: Self) -> bool {
        self.module == other.module && self.start <= other.start && other.end <= self.end
    }
}

/// A value, and where it is written.
#[derive(Clone)]
pub(super) struct Traced<'t> {
    pub(super) value: Value<'t>,
    pub(super) span: Span,
}

#[derive(Clone)]
pub(super) enum Value<'t> {
    /// `None`.
    Nothing,
    Bool(bool),
    Number(f64),
    Text(Rc<str>),
    Dict(Rc<Dict<'t>>),
    /// A botocore `Config`, by its options.
    Config(Rc<Dict<'t>>),
    /// What `json.dumps` makes of a value.
    Json(Rc<Traced<'t>>),
    /// A local module: the file that imports it, the dots and the dotted name.
    Module(usize, usize, Rc<str>),
    /// Something of a library, by its dotted path; what a call returned ends in `()`.
    Library(Rc<str>),
    /// What a call of a library's function returned.
    Made(Rc<Made<'t>>),
    /// A local function, with the object that it is a method of.
    Function(usize, Option<Rc<Instance<'t>>>),
    Class(usize),
    Instance(Rc<Instance<'t>>),
    /// One of several.
    Any(Rc<[Traced<'t>]>),
    Unknown(Rc<Unknown>),
}

pub(super) struct Made<'t> {
    pub(super) path: Rc<str>,
    pub(super) call: At<'t>,
}

pub(super) struct Instance<'t> {
    pub(super) class: usize,
    pub(super) env: Env<'t>,
}

#[derive(Debug)]
pub(super) struct Unknown {
    pub(super) unresolved: Unresolved,
    /// What a text begins with, where that much is known.
    pub(super) starts: Option<Rc<str>>,
}

/// An expression to be evaluated, with where its names are looked up.
#[derive(Clone)]
pub(super) struct At<'t> {
    pub(super) node: Node<'t>,
    pub(super) scope: usize,
    pub(super) env: Env<'t>,
}

/// The arguments of calls that are being followed, the innermost first.
pub(super) type Env<'t> = Option<Rc<Frame<'t>>>;

pub(super) struct Frame<'t> {
    pub(super) scope: usize,
    pub(super) caller: Caller<'t>,
    pub(super) receiver: Option<Rc<Instance<'t>>>,
    pub(super) outer: Env<'t>,
}

#[derive(Clone, Copy)]
pub(super) struct Caller<'t> {
    pub(super) call: Node<'t>,
    pub(super) scope: usize,
    /// Whether the first parameter is the object that the method belongs to.
    pub(super) bound: bool,
}

/// A dictionary with keys that are written out.
#[derive(Clone, Default)]
pub(super) struct Dict<'t> {
    pub(super) entries: Vec<Entry<'t>>,
    /// Why there may be more keys.
    pub(super) open: Option<Rc<Unknown>>,
}

#[derive(Clone)]
pub(super) struct Entry<'t> {
    pub(super) key: Rc<str>,
    pub(super) place: Span,
    pub(super) value: Held<'t>,
}

#[derive(Clone)]
pub(super) enum Held<'t> {
    At(At<'t>),
    Value(Traced<'t>),
}

impl<'t> Dict<'t> {
    pub(super) fn get(&self, key: &str) -> Option<&Entry<'t>> {
        self.entries.iter().rev().find(|entry| &*entry.key == key)
    }

    pub(super) fn set(&mut self, entry: Entry<'t>) {
        self.entries.retain(|old| old.key != entry.key);
        self.entries.push(entry);
    }

    /// Takes in another dictionary, which wins.
    pub(super) fn update(&mut self, other: &Self) {
        for entry in &other.entries {
            self.set(entry.clone());
        }
        if self.open.is_none() {
            self.open.clone_from(&other.open);
        }
    }
}

impl Value<'_> {
    /// Whether it counts as true, where that is known.
    pub(super) fn truth(&self) -> Option<bool> {
        match self {
            Self::Nothing => Some(false),
            Self::Bool(value) => Some(*value),
            Self::Number(number) => Some(*number != 0.0),
            Self::Text(text) => Some(!text.is_empty()),
            Self::Dict(dict) if dict.open.is_none() => Some(!dict.entries.is_empty()),
            Self::Dict(_) | Self::Any(_) | Self::Unknown(_) | Self::Library(_) => None,
            _ => Some(true),
        }
    }

    /// Whether two values are known to be the same one.
    pub(super) fn same(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Nothing, Self::Nothing) => true,
            (Self::Bool(a), Self::Bool(b)) => a == b,
            (Self::Number(a), Self::Number(b)) => a == b,
            (Self::Text(a), Self::Text(b)) | (Self::Library(a), Self::Library(b)) => a == b,
            (Self::Function(a, _), Self::Function(b, _)) | (Self::Class(a), Self::Class(b)) => a == b,
            (Self::Made(a), Self::Made(b)) => a.path == b.path && a.call.node.id() == b.call.node.id(),
            _ => false,
        }
    }
}
