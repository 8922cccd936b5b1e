//! What names stand for: declarations, fields, own functions.

use super::{Id, Kind, Program};
use crate::engine::deployment::Unresolved;

/// References that are followed one after the other.
pub(super) const DEPTH: usize = 40;

/// One step along a reference.
pub(crate) enum Next {
    /// It stands for this expression, or for one part of what that gives.
    To(Id, usize),
    /// It is no reference, or one to something outside of the program.
    Stop,
    /// It cannot be told; the reason begins with the name.
    Unknown(String),
}

pub(crate) fn is_this(name: &str) -> bool {
    matches!(name, "this" | "self" | "Self")
}

/// A type's own name: no package, no type arguments, no reference.
pub(crate) fn bare(of: &str) -> &str {
    let of = of.trim_start_matches(|c: char| !c.is_alphanumeric() && c != '_');
    let of = of.strip_prefix("mut ").unwrap_or(of);
    let end = of.find(['<', '[', '?', ' ']).unwrap_or(of.len());
    let of = of.get(..end).unwrap_or(of);
    of.rsplit(['.', ':']).next().unwrap_or(of)
}

impl Program {
    /// The declaration that a name means where it stands.
    pub(crate) fn declaration(&self, name: &str, at: Id) -> Option<Id> {
        let candidates = self.declarations.get(name)?;
        let around: Vec<Id> = self.around(at).collect();
        let start = self.node(at).span.start;
        let mut best: Option<(usize, Id)> = None;
        for &candidate in candidates.iter().take_while(|_| self.step()) {
            let Some(scope) = self.around(candidate).skip(1).find(|&up| self.kind(up).is_scope()) else { continue };
            let Some(distance) = around.iter().position(|&up| up == scope) else { continue };
            let local = !self.is_shared(scope);
            let before = matches!(self.kind(candidate), Kind::Parameter { .. }) || self.node(candidate).span.end <= start;
            if local && !before {
                continue;
            }
            // Of two in one block the later one hides the earlier.
            if best.is_none_or(|(nearest, _)| distance < nearest || (distance == nearest && local)) {
                best = Some((distance, candidate));
            }
        }
        if let Some((_, found)) = best {
            return Some(found);
        }
        if let Some(found) = self.class_of(at).and_then(|class| self.inherited(class, name, 0)) {
            return Some(found);
        }
        let mut shared = candidates.iter().copied().filter(|&candidate| {
            self.around(candidate).skip(1).find(|&up| self.kind(up).is_scope()).is_some_and(|scope| self.is_shared(scope))
                && !matches!(self.kind(candidate), Kind::Parameter { .. })
        });
        let first = shared.next()?;
        shared.next().is_none().then_some(first)
    }

    /// Whether a scope's names are seen before they are declared: a file's and a class's.
    fn is_shared(&self, scope: Id) -> bool {
        matches!(self.kind(scope), Kind::Class { .. }) || self.node(scope).parent == scope
    }

    /// A class by its name, if there is just one.
    pub(crate) fn class(&self, name: &str) -> Option<Id> {
        match self.classes.get(bare(name))?.as_slice() {
            [only] => Some(*only),
            // Parts of one class: Rust's `impl` blocks, C#'s partial classes.
            [first, ..] => Some(*first),
            [] => None,
        }
    }

    fn inherited(&self, class: Id, name: &str, depth: usize) -> Option<Id> {
        let Kind::Class { bases, .. } = self.kind(class) else { return None };
        bases.iter().filter(|_| depth < 8).find_map(|base| {
            let base = self.class(base)?;
            self.field_in(base, name).or_else(|| self.inherited(base, name, depth + 1))
        })
    }

    /// A field's declaration in a class, or a parameter of its own (records).
    pub(crate) fn field_in(&self, class: Id, name: &str) -> Option<Id> {
        let Kind::Class { name: of, .. } = self.kind(class) else { return None };
        let parts = self.classes.get(of)?;
        self.declarations.get(name)?.iter().copied().find(|&id| {
            self.around(id).skip(1).find(|&up| self.kind(up).is_scope()).is_some_and(|scope| parts.contains(&scope))
        })
    }

    /// A type as written for a name or an expression, if it can be told.
    pub(crate) fn type_of(&self, id: Id, depth: usize) -> Option<String> {
        if depth > DEPTH || !self.step() {
            return None;
        }
        let declared = |found: Id| match self.kind(found) {
            Kind::Parameter { of, .. } => Some(of.clone()).filter(|of| is_type(of)),
            Kind::Declare { of, value, part, .. } => {
                Some(of.clone()).filter(|of| is_type(of)).or_else(|| self.type_of((*value).filter(|_| *part == 0)?, depth + 1))
            }
            _ => None,
        };
        match self.kind(id) {
            Kind::Name(name) if is_this(name) => match self.kind(self.class_of(id)?) {
                Kind::Class { name, .. } => Some(name.clone()),
                _ => None,
            },
            Kind::Name(name) => declared(self.declaration(name, id)?),
            Kind::Member { .. } => declared(self.member(id, depth + 1)?),
            Kind::New { of, .. } => Some(of.clone()).filter(|of| !of.is_empty()),
            // `given ?? new Config()`, and either branch of a condition.
            Kind::Binary { operator, left, right } if operator == "??" => {
                self.type_of(*right, depth + 1).or_else(|| self.type_of(*left, depth + 1))
            }
            Kind::If { then, .. } => self.type_of(*then, depth + 1),
            Kind::Call { .. } => match self.kind(self.own_function(id, depth + 1)?) {
                Kind::Function { result, .. } => Some(result.clone()).filter(|of| is_type(of)),
                _ => None,
            },
            _ => None,
        }
    }

    /// The declaration of a field: `this.seconds`, `Settings.SECONDS`, `settings.seconds`.
    fn member(&self, id: Id, depth: usize) -> Option<Id> {
        let Kind::Member { object, name } = self.kind(id) else { return None };
        let class = match self.kind(*object) {
            Kind::Name(of) if is_this(of) => self.class_of(id)?,
            Kind::Name(of) if self.declaration(of, *object).is_none() => match self.class(of) {
                Some(class) => class,
                None => return self.in_module(of, &name.text, &self.declarations),
            },
            Kind::Member { name: of, .. } if self.classes.contains_key(&of.text) => self.class(&of.text)?,
            _ => self.class(&self.type_of(*object, depth)?)?,
        };
        self.field_in(class, &name.text).or_else(|| self.inherited(class, &name.text, 0))
    }

    /// Something at the top of a file that is named as the module or package: `clients.rs`, `clients/mod.rs`, `clients/x.go`.
    fn in_module(&self, module: &str, name: &str, list: &std::collections::HashMap<String, Vec<Id>>) -> Option<Id> {
        let module = bare(module);
        let mut found = list.get(name)?.iter().copied().filter(|&id| {
            let path = &self.files[self.node(id).file].path;
            let mut parts = path.rsplit('/');
            let stem = parts.next().map(|file| file.split('.').next().unwrap_or(file));
            (stem == Some(module) || parts.next() == Some(module) || matches!(module, "crate" | "super"))
                && self
                    .around(id)
                    .skip(1)
                    .find(|&up| self.kind(up).is_scope())
                    .is_some_and(|scope| self.node(scope).parent == scope)
        });
        let first = found.next()?;
        found.next().is_none().then_some(first)
    }

    /// The function of the program that a call runs.
    pub(crate) fn own_function(&self, call: Id, depth: usize) -> Option<Id> {
        let Kind::Call { object, name, arguments } = self.kind(call) else { return None };
        if depth > DEPTH {
            return None;
        }
        let candidates = self.functions.get(&name.text)?;
        let fits = |&id: &Id| match self.kind(id) {
            Kind::Function { parameters, .. } => parameters.len() == arguments.len(),
            _ => false,
        };
        let within = |class: Id| {
            let Kind::Class { name, .. } = self.kind(class) else { return None };
            let parts = self.classes.get(name)?;
            let own = |id: &Id| self.class_of(*id).is_some_and(|of| parts.contains(&of));
            candidates.iter().copied().filter(own).find(fits)
        };
        let object = match object {
            None => {
                return self.class_of(call).and_then(within).or_else(|| {
                    let mut fitting = candidates.iter().copied().filter(fits);
                    let first = fitting.next()?;
                    fitting.next().is_none().then_some(first)
                });
            }
            Some(object) => *object,
        };
        match self.kind(object) {
            Kind::Name(of) if is_this(of) => self.class_of(call).and_then(within),
            Kind::Name(of) if self.declaration(of, object).is_none() => match self.class(of) {
                Some(class) => within(class),
                None => self.in_module(of, &name.text, &self.functions).filter(fits),
            },
            Kind::Member { name: of, .. } if self.classes.contains_key(&of.text) => self.class(&of.text).and_then(within),
            Kind::Member { object: outer, name: module } if matches!(self.kind(*outer), Kind::Name(outer) if self.declaration(outer, object).is_none()) => {
                self.in_module(&module.text, &name.text, &self.functions)
                    .filter(fits)
                    .or_else(|| self.type_of(object, depth + 1).and_then(|of| self.class(&of)).and_then(within))
            }
            _ => within(self.class(&self.type_of(object, depth + 1)?)?),
        }
    }

    /// What a function returns: each expression list, those of its lambdas left out.
    pub(crate) fn returns(&self, function: Id) -> Vec<Vec<Id>> {
        let Kind::Function { body: Some(body), .. } = self.kind(function) else { return Vec::new() };
        if !matches!(self.kind(*body), Kind::Scope(_)) {
            return vec![vec![*body]];
        }
        let (mut found, mut open) = (Vec::new(), vec![*body]);
        while let Some(at) = open.pop() {
            match self.kind(at) {
                Kind::Return(values) => found.push(values.clone()),
                Kind::Function { .. } => {}
                other => open.extend(other.children()),
            }
        }
        found
    }

    /// One step from a reference to what it stands for.
    pub(crate) fn next(&self, id: Id, part: usize) -> Next {
        match self.kind(id) {
            Kind::Name(name) => match self.declaration(name, id) {
                Some(found) => self.origin(found, name),
                None => Next::Stop,
            },
            Kind::Member { object, name } => {
                if let Some(entry) = self.entry(*object, &name.text) {
                    return Next::To(entry, 0);
                }
                match self.member(id, 0) {
                    Some(found) => self.origin(found, &name.text),
                    None => Next::Stop,
                }
            }
            Kind::Call { name, .. } => {
                let Some(function) = self.own_function(id, 0) else { return Next::Stop };
                let mut values = self.returns(function).into_iter().filter_map(|values| values.get(part).copied());
                let mut real = values.by_ref().filter(|&value| !matches!(self.kind(value), Kind::Null));
                match (real.next(), real.next()) {
                    (Some(value), None) => Next::To(value, 0),
                    (None, _) => Next::Stop,
                    _ => Next::Unknown(format!("`{}` returns one of several values", name.text)),
                }
            }
            _ => Next::Stop,
        }
    }

    /// The value of a field in the literal of the object that a name stands for.
    fn entry(&self, object: Id, name: &str) -> Option<Id> {
        let Kind::Name(of) = self.kind(object) else { return None };
        let found = self.declaration(of, object)?;
        let Kind::Declare { value: Some(value), .. } = self.kind(found) else { return None };
        let Kind::New { entries, .. } = self.kind(*value) else { return None };
        entries.iter().find_map(|&entry| match self.kind(entry) {
            Kind::Entry { name: key, value } if key.text == name => Some(*value),
            _ => None,
        })
    }

    /// What a declared name stands for.
    fn origin(&self, declaration: Id, name: &str) -> Next {
        let sets = self.assignments_to(declaration, name);
        match self.kind(declaration) {
            Kind::Parameter { .. } if sets.is_empty() => match self.argument_for(declaration) {
                Some(argument) => Next::To(argument, 0),
                None => Next::Unknown(format!("`{name}` is an argument")),
            },
            Kind::Declare { value, part, .. } => {
                let first = (*value).filter(|&value| !matches!(self.kind(value), Kind::Null)).map(|value| (value, *part));
                let others = sets.iter().filter_map(|&set| match self.kind(set) {
                    Kind::Assign { value, part, .. } => Some((*value, *part)),
                    Kind::Entry { value, .. } => Some((*value, 0)),
                    _ => None,
                });
                let mut all = first.into_iter().chain(others.filter(|(value, _)| !matches!(self.kind(*value), Kind::Null)));
                match (all.next(), all.next()) {
                    (Some((value, part)), None) => Next::To(value, part),
                    (None, _) => Next::Unknown(format!("`{name}` has no value in the files that were read")),
                    _ => Next::Unknown(format!("`{name}` is set in several places")),
                }
            }
            _ => Next::Unknown(format!("`{name}` is set in several places")),
        }
    }

    /// Assignments to what a declaration declares, but for those that only go on filling it: `b = b.x()`.
    pub(crate) fn assignments_to(&self, declaration: Id, name: &str) -> Vec<Id> {
        let list = self.assignments.get(name).map(Vec::as_slice).unwrap_or_default();
        let class = self.around(declaration).skip(1).find(|&up| self.kind(up).is_scope()).and_then(|up| match self.kind(up) {
            Kind::Class { name, .. } => Some(name.as_str()),
            _ => None,
        });
        let refers = |target: Id| match self.kind(target) {
            Kind::Name(_) => self.declaration(name, target) == Some(declaration),
            Kind::Member { object, .. } => {
                class.is_some_and(|class| self.type_of(*object, DEPTH / 2).is_some_and(|of| bare(&of) == class))
            }
            _ => false,
        };
        // Literals of the class that give the field a value.
        let literals = class.into_iter().flat_map(|class| self.literals(class)).filter_map(|(_, entries)| {
            entries.iter().copied().find(|&entry| matches!(self.kind(entry), Kind::Entry { name: key, .. } if key.text == name))
        });
        list.iter()
            .copied()
            .filter(|&set| match self.kind(set) {
                Kind::Assign { target, value, updates, .. } => {
                    refers(*target) && (*updates || !matches!(self.kind(self.innermost(*value)), Kind::Name(of) if of == name))
                }
                _ => false,
            })
            .chain(literals)
            .collect()
    }

    /// Literals of a class: `App { client }`, `Self { client }`.
    fn literals(&self, class: &str) -> Vec<(Id, &[Id])> {
        let by = |name: &str| self.calls.get(name).map(Vec::as_slice).unwrap_or_default().iter().copied();
        by(class)
            .chain(by("Self").filter(|&id| {
                let of = self.class_of(id).map(|of| self.kind(of));
                matches!(of, Some(Kind::Class { name, .. }) if name == class)
            }))
            .filter_map(|id| match self.kind(id) {
                Kind::New { entries, .. } => Some((id, entries.as_slice())),
                _ => None,
            })
            .collect()
    }

    /// The argument for a parameter, where the function has one caller.
    fn argument_for(&self, parameter: Id) -> Option<Id> {
        let function = self.node(parameter).parent;
        let (name, parameters) = match self.kind(function) {
            Kind::Function { name, parameters, .. } => (name, parameters.clone()),
            Kind::Class { name, members, .. } => {
                let own = members.iter().copied().filter(|&member| matches!(self.kind(member), Kind::Parameter { .. }));
                (name, own.collect())
            }
            _ => return None,
        };
        let index = parameters.iter().position(|&one| one == parameter)?;
        let mut callers = self.calls.get(name)?.iter().filter_map(|&call| match self.kind(call) {
            Kind::Call { arguments, .. } if arguments.len() == parameters.len() => arguments.get(index),
            Kind::New { arguments, entries, .. } if arguments.len() == parameters.len() && entries.is_empty() => {
                arguments.get(index)
            }
            _ => None,
        });
        let only = callers.next()?;
        callers.next().is_none().then_some(*only)
    }

    /// What an expression stands for in the end, or why that cannot be told.
    pub(crate) fn follow(&self, id: Id) -> Result<Id, String> {
        let (mut at, mut part) = (id, 0);
        for _ in 0..DEPTH {
            if !self.step() {
                break;
            }
            match self.next(at, part) {
                Next::To(next, of) => (at, part) = (next, of),
                Next::Stop => return if part == 0 { Ok(at) } else { Err("one of several results of a call".to_owned()) },
                Next::Unknown(why) => return Err(why),
            }
        }
        Err("a chain of references that is too long to follow".to_owned())
    }

    /// The object that a chain of calls and fields begins with.
    pub(crate) fn innermost(&self, id: Id) -> Id {
        let mut at = id;
        while let Kind::Call { object: Some(object), .. } | Kind::Member { object, .. } = self.kind(at) {
            at = *object;
        }
        at
    }

    pub(crate) fn unresolved(&self, at: Id, why: String) -> Unresolved {
        Unresolved { why, give: None, place: Some(self.place(at)) }
    }
}

/// Whether a type is written, and not left to the compiler.
fn is_type(of: &str) -> bool {
    !matches!(of, "" | "var" | "val" | "_")
}
