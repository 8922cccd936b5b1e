//! What a file's syntax tree holds: scopes with what is bound in them, calls and loops.

use std::collections::HashMap;
use std::ops::Range;

use tree_sitter::Node;

use super::files::Name;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Module,
    Class,
    Function,
    Lambda,
    Comprehension,
}

/// A module, class or function, or what else has names of its own.
pub(super) struct Scope<'t> {
    pub(super) kind: Kind,
    pub(super) module: usize,
    pub(super) parent: Option<usize>,
    pub(super) node: Node<'t>,
    pub(super) name: &'t str,
    pub(super) bindings: HashMap<&'t str, Vec<Binding<'t>>>,
    /// Of a class: what its methods bind to attributes of their first parameter.
    pub(super) attributes: HashMap<&'t str, Vec<Binding<'t>>>,
    /// Changes of dictionaries, by their names.
    pub(super) changes: HashMap<&'t str, Vec<Change<'t>>>,
    pub(super) stars: Vec<Name<'t>>,
    pub(super) parameters: Vec<Parameter<'t>>,
    pub(super) returns: Vec<Node<'t>>,
    pub(super) decorators: Vec<Node<'t>>,
    pub(super) bases: Vec<Node<'t>>,
    /// Names of an outer scope that are bound here.
    pub(super) outer: HashMap<&'t str, usize>,
}

impl Scope<'_> {
    pub(super) fn is_callable(&self) -> bool {
        matches!(self.kind, Kind::Function | Kind::Lambda)
    }
}

#[derive(Clone, Debug)]
pub(super) struct Binding<'t> {
    pub(super) what: What<'t>,
    /// The scope in which its expression is evaluated.
    pub(super) scope: usize,
    /// The byte from which it holds.
    pub(super) from: usize,
    /// The block in which it is sure to hold; empty where that is none.
    pub(super) block: Range<usize>,
    /// Bound only where the name had no value: under `if name is None:`.
    pub(super) if_missing: bool,
}

#[derive(Clone, Debug)]
pub(super) enum What<'t> {
    Value(Node<'t>),
    Parameter(usize),
    Function(usize),
    Class(usize),
    Import(Name<'t>),
    ImportFrom(Name<'t>, &'t str),
    /// Something that changes as the program runs.
    Opaque(Node<'t>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Pass {
    Either,
    Keyword,
    /// `*rest` or `**options`.
    Rest,
}

#[derive(Clone, Debug)]
pub(super) struct Parameter<'t> {
    pub(super) name: &'t str,
    pub(super) node: Node<'t>,
    pub(super) default: Option<Node<'t>>,
    pub(super) annotation: &'t str,
    pub(super) pass: Pass,
}

/// A change of a dictionary after it was made.
#[derive(Clone, Debug)]
pub(super) struct Change<'t> {
    pub(super) what: Changed<'t>,
    pub(super) scope: usize,
    pub(super) from: usize,
    pub(super) block: Range<usize>,
}

#[derive(Clone, Debug)]
pub(super) enum Changed<'t> {
    /// `name[key] = value`.
    Set(Node<'t>, Node<'t>),
    /// Something inside one of its values: `name[key][inner] = value`.
    Inside,
    /// A call of one of its methods.
    Method(&'t str, Node<'t>),
    /// It was handed to a function.
    Passed(Node<'t>),
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Call<'t> {
    pub(super) node: Node<'t>,
    pub(super) scope: usize,
    /// The statement that it is part of.
    pub(super) statement: Option<Node<'t>>,
}

/// All scopes of all files.
#[derive(Default)]
pub(super) struct Scopes<'t> {
    pub(super) list: Vec<Scope<'t>>,
    /// The scope of a class, function or lambda, by its file and its node.
    pub(super) by_node: HashMap<(usize, usize), usize>,
    pub(super) modules: Vec<usize>,
    pub(super) calls: Vec<Call<'t>>,
    /// `for` and `while` loops, and `with` statements, each with its scope.
    pub(super) loops: Vec<(Node<'t>, usize)>,
    pub(super) withs: Vec<(Node<'t>, usize)>,
    /// Assignments to attributes of anything: `module.name = value`.
    pub(super) settings: Vec<(Node<'t>, Node<'t>, usize)>,
}

/// Named children, without comments.
pub(super) fn children(node: Node<'_>) -> Vec<Node<'_>> {
    let mut cursor = node.walk();
    node.named_children(&mut cursor).filter(|child| child.kind() != "comment").collect()
}
