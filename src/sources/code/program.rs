//! Programs in one shape for several languages: expressions, declarations, functions and loops, in files that refer to
//! each other. Each language lowers its syntax trees into it; names, values and retries are found here.

use std::cell::Cell;
use std::collections::{HashMap, HashSet};
use std::ops::Range;

use super::Load;
use crate::engine::fact::Place;
use crate::sources::iac::text::File;

pub(crate) mod body;
pub(crate) mod chains;
pub(crate) mod limits;
pub(crate) mod lower;
pub(crate) mod names;
pub(crate) mod retries;
pub(crate) mod values;

/// Files of one program, and bytes of one file, that are read.
const FILES: usize = 64;
const BYTES: usize = 2 << 20;
/// Paths that are asked for: most names of types are those of a library.
const TRIES: usize = 800;
/// Nodes of one program.
const NODES: usize = 1 << 20;
/// Steps that all references of one program may take together.
const STEPS: u32 = 1 << 24;

/// A node's index.
pub(crate) type Id = usize;

#[derive(Clone, Debug)]
pub(crate) struct Node {
    pub(crate) file: usize,
    /// Its own index at the root of a file.
    pub(crate) parent: Id,
    pub(crate) span: Range<usize>,
    pub(crate) kind: Kind,
}

/// A name where it is written.
#[derive(Clone, Debug, Default)]
pub(crate) struct Word {
    pub(crate) text: String,
    pub(crate) span: Range<usize>,
}

#[derive(Clone, Debug)]
pub(crate) enum Kind {
    /// Whatever only holds other nodes.
    Group(Vec<Id>),
    /// A block or a file: names that are declared in it end with it.
    Scope(Vec<Id>),
    Class {
        name: String,
        bases: Vec<String>,
        members: Vec<Id>,
        marks: Vec<Word>,
    },
    /// A function, a method, a constructor (named as its class), or a lambda (without a name).
    Function {
        name: String,
        parameters: Vec<Id>,
        result: String,
        body: Option<Id>,
        marks: Vec<Word>,
    },
    Parameter {
        name: String,
        of: String,
    },
    /// `part` is the index of the name where one expression gives several.
    Declare {
        name: String,
        of: String,
        value: Option<Id>,
        part: usize,
    },
    Assign {
        target: Id,
        value: Id,
        part: usize,
        /// Whether it also reads the target: `+=`.
        updates: bool,
    },
    Call {
        object: Option<Id>,
        name: Word,
        arguments: Vec<Id>,
    },
    /// A literal of an object, a map or a list, with its entries; and a constructor's call.
    New {
        of: String,
        arguments: Vec<Id>,
        entries: Vec<Id>,
    },
    Entry {
        name: Word,
        value: Id,
    },
    Name(String),
    Member {
        object: Id,
        name: Word,
    },
    Number(f64),
    Text(String),
    /// A text with expressions in it, each of which reads `x` here.
    Template(String),
    Truth(bool),
    Null,
    Binary {
        operator: String,
        left: Id,
        right: Id,
    },
    If {
        condition: Option<Id>,
        then: Id,
        otherwise: Option<Id>,
    },
    Loop {
        /// Over the items of something, not a number of times.
        each: bool,
        head: Vec<Id>,
        body: Id,
    },
    Try {
        body: Vec<Id>,
        handlers: Vec<Id>,
    },
    Return(Vec<Id>),
    /// Ends the loop.
    Break,
    Continue,
}

impl Kind {
    pub(crate) fn children(&self) -> Vec<Id> {
        match self {
            Self::Group(list) | Self::Scope(list) | Self::Return(list) => list.clone(),
            Self::Class { members, .. } => members.clone(),
            Self::Function { parameters, body, .. } => parameters.iter().chain(body).copied().collect(),
            // Of several names for the parts of one expression, the first holds it.
            Self::Declare { value, part, .. } => value.iter().filter(|_| *part == 0).copied().collect(),
            Self::Assign { target, value, part, .. } if *part == 0 => vec![*target, *value],
            Self::Assign { target, .. } => vec![*target],
            Self::Call { object, arguments, .. } => object.iter().chain(arguments).copied().collect(),
            Self::New { arguments, entries, .. } => arguments.iter().chain(entries).copied().collect(),
            Self::Entry { value, .. } => vec![*value],
            Self::Member { object, .. } => vec![*object],
            Self::Binary { left, right, .. } => vec![*left, *right],
            Self::If { condition, then, otherwise } => {
                condition.iter().chain(std::iter::once(then)).chain(otherwise).copied().collect()
            }
            Self::Loop { head, body, .. } => head.iter().chain(std::iter::once(body)).copied().collect(),
            Self::Try { body, handlers } => body.iter().chain(handlers).copied().collect(),
            Self::Parameter { .. }
            | Self::Name(_)
            | Self::Number(_)
            | Self::Text(_)
            | Self::Template(_)
            | Self::Truth(_)
            | Self::Null
            | Self::Break
            | Self::Continue => Vec::new(),
        }
    }

    /// Whether names that are declared directly in it end with it.
    fn is_scope(&self) -> bool {
        matches!(self, Self::Scope(_) | Self::Function { .. } | Self::Class { .. } | Self::Loop { .. })
    }
}

/// The files that were read, as one program.
#[derive(Debug, Default)]
pub(crate) struct Program {
    pub(crate) files: Vec<File>,
    nodes: Vec<Node>,
    declarations: HashMap<String, Vec<Id>>,
    assignments: HashMap<String, Vec<Id>>,
    functions: HashMap<String, Vec<Id>>,
    classes: HashMap<String, Vec<Id>>,
    calls: HashMap<String, Vec<Id>>,
    steps: Cell<u32>,
}

/// Entries of one name that are looked at.
const SAME_NAME: usize = 400;

impl Program {
    /// Takes in a file; its nodes are added next.
    pub(crate) fn file(&mut self, file: File) -> usize {
        self.files.push(file);
        self.files.len() - 1
    }

    /// Whether more nodes may be added.
    pub(crate) fn is_full(&self) -> bool {
        self.nodes.len() >= NODES
    }

    pub(crate) fn add(&mut self, file: usize, span: Range<usize>, kind: Kind) -> Id {
        let id = self.nodes.len();
        for child in kind.children() {
            if let Some(node) = self.nodes.get_mut(child) {
                node.parent = id;
            }
        }
        self.nodes.push(Node { file, parent: id, span, kind });
        id
    }

    /// Says of what type a constructor's call is that leaves it to where it stands.
    pub(crate) fn target_type(&mut self, id: Id, target: &str) {
        if let Some(Node { kind: Kind::New { of, .. }, .. }) = self.nodes.get_mut(id)
            && of.is_empty()
        {
            target.clone_into(of);
        }
    }

    /// Makes the lists by name; to be called when all files are in.
    pub(crate) fn index(&mut self) {
        fn note(map: &mut HashMap<String, Vec<Id>>, name: &str, id: Id) {
            if !name.is_empty() {
                let list = map.entry(name.to_owned()).or_default();
                if list.len() < SAME_NAME {
                    list.push(id);
                }
            }
        }
        for (id, node) in self.nodes.iter().enumerate() {
            match &node.kind {
                Kind::Declare { name, .. } | Kind::Parameter { name, .. } => note(&mut self.declarations, name, id),
                Kind::Assign { target, .. } => match &self.nodes[*target].kind {
                    Kind::Name(name) => note(&mut self.assignments, name, id),
                    Kind::Member { name, .. } => note(&mut self.assignments, &name.text, id),
                    _ => {}
                },
                Kind::Function { name, .. } => note(&mut self.functions, name, id),
                Kind::Class { name, .. } => note(&mut self.classes, name, id),
                Kind::Call { name, .. } => note(&mut self.calls, &name.text, id),
                Kind::New { of, .. } => note(&mut self.calls, names::bare(of), id),
                _ => {}
            }
        }
    }

    pub(crate) fn node(&self, id: Id) -> &Node {
        &self.nodes[id]
    }

    pub(crate) fn kind(&self, id: Id) -> &Kind {
        &self.nodes[id].kind
    }

    pub(crate) fn ids(&self) -> Range<Id> {
        0..self.nodes.len()
    }

    pub(crate) fn place(&self, id: Id) -> Place {
        self.place_of(id, &self.nodes[id].span)
    }

    /// The place of bytes in the file of a node.
    pub(crate) fn place_of(&self, id: Id, span: &Range<usize>) -> Place {
        self.files[self.nodes[id].file].place(span)
    }

    /// A node's text.
    pub(crate) fn source(&self, id: Id) -> &str {
        let node = &self.nodes[id];
        self.files[node.file].text.get(node.span.clone()).unwrap_or("")
    }

    /// The node and all that hold it, innermost first.
    pub(crate) fn around(&self, id: Id) -> impl Iterator<Item = Id> + '_ {
        let mut next = Some(id);
        std::iter::from_fn(move || {
            let at = next?;
            let parent = self.nodes[at].parent;
            next = (parent != at).then_some(parent);
            Some(at)
        })
    }

    /// The node and all in it, in the order of the text.
    pub(crate) fn within(&self, id: Id) -> Vec<Id> {
        let (mut found, mut open) = (Vec::new(), vec![id]);
        while let Some(at) = open.pop().filter(|_| self.step()) {
            found.push(at);
            open.extend(self.nodes[at].kind.children().into_iter().rev());
        }
        found
    }

    /// The nearest function that holds a node: not a lambda.
    pub(crate) fn function_of(&self, id: Id) -> Option<Id> {
        self.around(id).find(|&at| matches!(self.kind(at), Kind::Function { name, .. } if !name.is_empty()))
    }

    pub(crate) fn class_of(&self, id: Id) -> Option<Id> {
        self.around(id).find(|&at| matches!(self.kind(at), Kind::Class { .. }))
    }

    /// The first line of the statement or declaration that holds an expression.
    pub(crate) fn statement(&self, id: Id) -> Place {
        let top = self
            .around(id)
            .find(|&at| {
                matches!(self.kind(at), Kind::Declare { .. } | Kind::Assign { .. } | Kind::Return(_))
                    || matches!(self.kind(self.nodes[at].parent), Kind::Scope(_) | Kind::Class { .. } | Kind::Function { .. })
            })
            .unwrap_or(id);
        let span = self.nodes[top].span.clone();
        let first = self.source(top).lines().next().map_or(0, |line| line.trim_end().len());
        self.place_of(top, &(span.start..span.start + first))
    }

    /// Counts a step of following references; false when there were too many.
    fn step(&self) -> bool {
        self.steps.set(self.steps.get().saturating_add(1));
        self.steps.get() < STEPS
    }
}

/// Gives the text of files, each once, and not too many.
pub(crate) struct Loader<'a> {
    load: &'a Load<'a>,
    seen: HashSet<String>,
    files: usize,
}

impl<'a> Loader<'a> {
    pub(crate) fn new(load: &'a Load<'a>) -> Self {
        Self { load, seen: HashSet::new(), files: 0 }
    }

    /// The file, unless it was given before, is too long, or is not there.
    pub(crate) fn file(&mut self, path: &str) -> Option<File> {
        if self.files >= FILES || self.seen.len() >= TRIES || !self.seen.insert(path.to_owned()) {
            return None;
        }
        let text = (self.load)(path).filter(|text| text.len() <= BYTES)?;
        self.files += 1;
        Some(File::new(path, &text))
    }
}

/// `folder/name`, where the folder may be the working folder itself.
pub(crate) fn join(folder: &str, name: &str) -> String {
    if folder.is_empty() { name.to_owned() } else { format!("{folder}/{name}") }
}

/// The folder that holds a path.
pub(crate) fn parent(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(folder, _)| folder)
}
