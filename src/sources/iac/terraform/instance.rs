//! Instances of modules, and of resources by `count` and `for_each`.

use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::rc::Rc;

use super::evaluate::{Binding, Evaluator, Outcome, Scope, mistake};
use super::folder::{self, Declaration, Folder, Kind};
use super::value::{Entry, Reference, Traced, Value};
use crate::engine::deployment::Unresolved;
use crate::engine::fact::{Fact, Place, Source};

/// How many instances one `count` or `for_each` makes; more are taken for an unknown number.
const MOST_INSTANCES: usize = 1000;

/// How deep modules may call each other.
const DEEPEST_MODULE: usize = 16;

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Key {
    /// Neither `count` nor `for_each`, or a number of instances that is not known.
    Only,
    Index(usize),
    Name(Rc<str>),
}

impl Key {
    /// As an address ends in it.
    pub(super) fn suffix(&self) -> String {
        match self {
            Self::Only => String::new(),
            Self::Index(index) => format!("[{index}]"),
            Self::Name(name) => format!("[\"{}\"]", name.replace('\\', "\\\\").replace('"', "\\\"")),
        }
    }

    pub(super) fn number(index: usize) -> f64 {
        f64::from(u32::try_from(index).unwrap_or(u32::MAX))
    }
}

/// One of the instances of a declaration.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Thing {
    pub(super) instance: usize,
    pub(super) declaration: usize,
    pub(super) key: Key,
}

/// The instances of a declaration.
pub(super) struct Expansion {
    /// Whether their number is known.
    pub(super) known: bool,
    pub(super) instances: Vec<(Key, Option<Rc<Binding>>)>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Slot {
    Variable,
    Local,
    Output,
}

/// A module, as it is called in one place.
pub(super) struct Instance<'a> {
    pub(super) folder: &'a Folder<'a>,
    /// `module.lanes["slow"].`; empty for the root.
    pub(super) prefix: String,
    /// From the root's folder to this one's: `path.module`.
    pub(super) path: String,
    /// Where it is called, and the block that does.
    pub(super) call: Option<(Scope<'a>, &'a hcl_edit::structure::Block)>,
    depth: usize,
    memo: RefCell<HashMap<(Slot, &'a str), Option<Outcome>>>,
    expansions: RefCell<BTreeMap<usize, Option<Rc<Expansion>>>>,
    children: RefCell<BTreeMap<(usize, Key), usize>>,
}

impl<'a> Instance<'a> {
    pub(super) fn root(folder: &'a Folder<'a>) -> Self {
        Self {
            folder,
            prefix: String::new(),
            path: String::new(),
            call: None,
            depth: 0,
            memo: RefCell::default(),
            expansions: RefCell::default(),
            children: RefCell::default(),
        }
    }

    /// Works a named value out once.
    pub(super) fn once(&self, slot: Slot, name: &'a str, place: &Place, work: impl FnOnce() -> Outcome) -> Outcome {
        if let Some(outcome) = self.memo.borrow().get(&(slot, name)) {
            return outcome.clone().unwrap_or_else(|| Err(mistake(format!("`{name}` refers to itself"), place.clone())));
        }
        self.memo.borrow_mut().insert((slot, name), None);
        let outcome = work();
        self.memo.borrow_mut().insert((slot, name), Some(outcome.clone()));
        outcome
    }
}

impl<'a> Evaluator<'a> {
    /// The scope of one instance of a declaration.
    pub(super) fn scope_of(&self, thing: &Thing) -> Option<(Scope<'a>, &'a Declaration<'a>)> {
        let instance = self.instance(thing.instance)?;
        let declaration = instance.folder.declarations.get(thing.declaration)?;
        let expansion = self.expand(thing.instance, thing.declaration)?;
        self.charge(expansion.instances.len() / 16);
        let bindings = expansion.instances.iter().find(|(key, _)| *key == thing.key).and_then(|(_, binding)| binding.clone());
        Some((Scope { instance: thing.instance, file: declaration.file, bindings }, declaration))
    }

    pub(super) fn address(&self, thing: &Thing) -> Option<Rc<str>> {
        let instance = self.instance(thing.instance)?;
        let declaration = instance.folder.declarations.get(thing.declaration)?;
        Some(Rc::from(format!("{}{}{}", instance.prefix, declaration.address(), thing.key.suffix())))
    }

    /// A reference to all of an instance.
    pub(super) fn refer(&self, thing: Thing, attribute: Option<&str>) -> Option<Reference> {
        let address = self.address(&thing)?;
        let instance = self.instance(thing.instance)?;
        let declaration = instance.folder.declarations.get(thing.declaration)?;
        let kind = match declaration.kind {
            Kind::Resource => Rc::from(declaration.of),
            Kind::Data => Rc::from(format!("data.{}", declaration.of)),
            Kind::Module => Rc::from("module"),
        };
        self.things.borrow_mut().entry(Rc::clone(&address)).or_insert(thing);
        Some(Reference { address, kind, attribute: attribute.map(Rc::from) })
    }

    /// The instances of a declaration. One that refers to itself has an unknown number.
    pub(super) fn expand(&self, instance_index: usize, declaration_index: usize) -> Option<Rc<Expansion>> {
        let instance = self.instance(instance_index)?;
        let declaration = instance.folder.declarations.get(declaration_index)?;
        let known = instance.expansions.borrow().get(&declaration_index).cloned();
        if let Some(done) = known {
            let itself = || mistake(format!("`{}` refers to itself", declaration.address()), declaration.place());
            return Some(done.unwrap_or_else(|| Rc::new(unknown_number(&itself()))));
        }
        instance.expansions.borrow_mut().insert(declaration_index, None);
        let scope = Scope { instance: instance_index, file: declaration.file, bindings: None };
        let expansion = Rc::new(self.strictly(false, || self.expansion(&scope, declaration)));
        instance.expansions.borrow_mut().insert(declaration_index, Some(Rc::clone(&expansion)));
        Some(expansion)
    }

    fn expansion(&self, scope: &Scope<'a>, declaration: &'a Declaration<'a>) -> Expansion {
        let body = &declaration.block.body;
        let repeated = match (body.get_attribute("count"), body.get_attribute("for_each")) {
            (Some(count), _) => self.counted(&self.value(scope, &count.value), &declaration.place()),
            (None, Some(each)) => self.repeated(&self.value(scope, &each.value), &declaration.place()),
            (None, None) => return Expansion { known: true, instances: vec![(Key::Only, None)] },
        };
        match repeated {
            Ok(instances) => Expansion { known: true, instances },
            Err(unresolved) => unknown_number(&unresolved),
        }
    }

    fn counted(&self, count: &Traced, place: &Place) -> Result<Vec<(Key, Option<Rc<Binding>>)>, Rc<Unresolved>> {
        let Some(number) = count.value.number() else {
            return Err(super::evaluate::why_unknown(count, "`count` is no number", place));
        };
        let known = (0..=MOST_INSTANCES).take_while(|index| Key::number(*index) < number).count();
        if known > MOST_INSTANCES {
            return Err(mistake("`count` is too large", place.clone()));
        }
        self.spend(known, place)?;
        Ok((0..known)
            .map(|index| {
                let value = Fact::new(Value::Number(Key::number(index)), count.source.clone());
                let entry = Entry { key: Rc::from("index"), place: None, value };
                (Key::Index(index), Some(binding("count", vec![entry], &count.source)))
            })
            .collect())
    }

    fn repeated(&self, each: &Traced, place: &Place) -> Result<Vec<(Key, Option<Rc<Binding>>)>, Rc<Unresolved>> {
        let pairs = super::evaluate::pairs(each, place)?;
        if pairs.len() > MOST_INSTANCES {
            return Err(mistake("`for_each` has too many members", place.clone()));
        }
        self.spend(pairs.len(), place)?;
        let is_set = matches!(each.value, Value::List(_));
        let mut instances: Vec<(Key, Option<Rc<Binding>>)> = Vec::with_capacity(pairs.len());
        for (key, value) in pairs {
            let key = if is_set { value.clone() } else { key };
            let Some(text) = self.text(&key) else {
                return Err(super::evaluate::why_unknown(&key, "a key of `for_each` is not known", place));
            };
            let source = value.source.clone();
            let key = Fact::new(Value::Text(Rc::clone(&text)), key.source);
            let entries = vec![
                Entry { key: Rc::from("key"), place: None, value: key },
                Entry { key: Rc::from("value"), place: None, value },
            ];
            instances.push((Key::Name(text), Some(binding("each", entries, &source))));
        }
        let mut seen = HashSet::new();
        instances.retain(|(key, _)| seen.insert(key.clone()));
        Ok(instances)
    }

    /// The instance of a local module that a call makes; `None` where its folder is not there.
    pub(super) fn child(&self, thing: &Thing) -> Option<usize> {
        let parent = self.instance(thing.instance)?;
        let known = parent.children.borrow().get(&(thing.declaration, thing.key.clone())).copied();
        if known.is_some() {
            return known;
        }
        let (scope, declaration) = self.scope_of(thing)?;
        let source = declaration.literal("source").filter(|source| folder::is_local(source))?;
        let folder = self.folders.get(folder::join(parent.folder.path, source).as_str())?;
        if parent.depth >= DEEPEST_MODULE || self.spend(20, &declaration.place()).is_err() {
            return None;
        }
        let child = Instance {
            prefix: format!("{}.", self.address(thing)?),
            path: folder::join(&parent.path, source),
            call: Some((scope, declaration.block)),
            depth: parent.depth + 1,
            ..Instance::root(folder)
        };
        let mut instances = self.instances.borrow_mut();
        let index = instances.len();
        instances.push(Rc::new(child));
        parent.children.borrow_mut().insert((thing.declaration, thing.key.clone()), index);
        Some(index)
    }
}

fn binding(name: &str, entries: Vec<Entry>, source: &Source) -> Rc<Binding> {
    Rc::new(Binding { name: Rc::from(name), value: Fact::new(Value::map(entries), source.clone()), next: None })
}

/// One instance, whose `each` and `count` are unknown.
fn unknown_number(unresolved: &Rc<Unresolved>) -> Expansion {
    let source = Source::Derived("unknown".to_owned());
    let unknown = |key: &str| Entry {
        key: Rc::from(key),
        place: None,
        value: Fact::new(Value::Unknown(Rc::clone(unresolved)), source.clone()),
    };
    let count = binding("count", vec![unknown("index")], &source);
    let each = Binding {
        name: Rc::from("each"),
        value: Fact::new(Value::map(vec![unknown("key"), unknown("value")]), source.clone()),
        next: Some(count),
    };
    Expansion { known: false, instances: vec![(Key::Only, Some(Rc::new(each)))] }
}
