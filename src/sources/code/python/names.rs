//! Looking names up: which bindings hold where a name is used, what they stand for, and what changed it since.

use std::rc::Rc;

use tree_sitter::Node;

use super::files::Name;
use super::program::Program;
use super::scope::{Binding, Change, Changed, Kind, What, children};
use super::value::{At, Dict, Entry, Held, Span, Traced, Unknown, Value};
use crate::engine::deployment::Unresolved;

impl<'t> Program<'t> {
    pub(super) fn name(&self, at: &At<'t>) -> Traced<'t> {
        let name = self.text(at.node, at.scope);
        let mut scope = at.scope;
        let mut position = at.node.start_byte();
        let mut changes = Vec::new();
        loop {
            let here = &self.all.list[scope];
            if here.kind != Kind::Class || scope == at.scope {
                changes.extend(here.changes.get(name).into_iter().flatten().map(|change| (change, position)));
                if let Some(bindings) = here.bindings.get(name) {
                    let held = self.holding(bindings, position, scope);
                    let found = self.union(self.kept(&held, at), at);
                    return self.changed(found, &held, &changes, at);
                }
            }
            if here.is_callable() {
                position = usize::MAX;
            }
            let Some(parent) = here.parent else { break };
            scope = parent;
        }
        self.starred(scope, name, at).unwrap_or_else(|| self.traced(Value::Library(Rc::from(name)), at))
    }

    /// A name of a module, as other modules see it.
    pub(super) fn member(&self, module: usize, name: &str, at: &At<'t>) -> Option<Traced<'t>> {
        let scope = *self.all.modules.get(module)?;
        let here = &self.all.list[scope];
        match here.bindings.get(name) {
            Some(bindings) => {
                let held = self.holding(bindings, usize::MAX, scope);
                let changes: Vec<_> = here.changes.get(name).into_iter().flatten().map(|change| (change, usize::MAX)).collect();
                let found = self.union(self.kept(&held, at), at);
                Some(self.changed(found, &held, &changes, at))
            }
            None => self.starred(scope, name, at),
        }
    }

    fn starred(&self, scope: usize, name: &str, at: &At<'t>) -> Option<Traced<'t>> {
        let here = &self.all.list[scope];
        here.stars.iter().rev().find_map(|star| {
            let module = self.files.find(here.module, star).filter(|module| *module != here.module)?;
            self.deeper(|| self.member(module, name, at)).flatten()
        })
    }

    /// Bindings that may hold at a position: from the last one that is sure to.
    fn holding<'b>(&self, bindings: &'b [Binding<'t>], position: usize, scope: usize) -> Vec<&'b Binding<'t>> {
        let whole = self.all.list[scope].node.byte_range();
        let mut held: Vec<&Binding<'t>> = bindings.iter().filter(|binding| binding.from <= position).collect();
        if held.is_empty() {
            held = bindings.iter().collect();
        }
        let sure =
            |binding: &&Binding<'t>| binding.block == whole || (binding.block.contains(&position) && binding.scope == scope);
        let last = held.iter().rposition(sure).unwrap_or(0);
        held.split_off(last)
    }

    /// The values of bindings; one that fills in for a missing value replaces what is missing.
    fn kept(&self, bindings: &[&Binding<'t>], at: &At<'t>) -> Vec<Traced<'t>> {
        let mut values: Vec<Traced<'t>> = Vec::new();
        let mut ordered: Vec<&Binding<'t>> = bindings.to_vec();
        ordered.sort_by_key(|binding| binding.if_missing);
        for binding in ordered {
            if binding.if_missing && !values.is_empty() {
                if values.iter().all(|old| old.value.truth() == Some(true)) {
                    continue;
                }
                values.retain(|old| old.value.truth() != Some(false));
            }
            values.push(self.binding(binding, at));
        }
        values
    }

    pub(super) fn bound_to(&self, bindings: &[Binding<'t>], at: &At<'t>) -> Traced<'t> {
        let held: Vec<_> = bindings.iter().collect();
        self.union(self.kept(&held, at), at)
    }

    fn binding(&self, binding: &Binding<'t>, at: &At<'t>) -> Traced<'t> {
        match &binding.what {
            What::Value(node) => self.eval(&At { node: *node, scope: binding.scope, env: at.env.clone() }),
            What::Parameter(index) => self.parameter(binding.scope, *index, &at.env),
            What::Function(scope) => self.traced(Value::Function(*scope, None), at),
            What::Class(scope) => self.traced(Value::Class(*scope), at),
            What::Import(name) => self.imported(binding.scope, name, at),
            What::ImportFrom(module, name) => self.imported_from(binding.scope, module, name, at),
            What::Opaque(node) => {
                let here = At { node: *node, scope: binding.scope, env: None };
                self.unknown(&here, format!("`{}` changes as the program runs", self.dotted(*node, binding.scope)))
            }
        }
    }

    fn imported(&self, scope: usize, name: &Name<'t>, at: &At<'t>) -> Traced<'t> {
        let from = self.all.list[scope].module;
        let value = if self.files.is_local(from, name) {
            Value::Module(from, name.level, Rc::from(name.dotted))
        } else {
            Value::Library(Rc::from(name.dotted))
        };
        self.traced(value, at)
    }

    fn imported_from(&self, scope: usize, module: &Name<'t>, name: &str, at: &At<'t>) -> Traced<'t> {
        let from = self.all.list[scope].module;
        if self.files.is_local(from, module) {
            return self.module_member(from, module, name, at);
        }
        self.traced(Value::Library(Rc::from(format!("{}.{name}", module.dotted))), at)
    }

    /// A name of a local module, or a module in its folder.
    pub(super) fn module_member(&self, from: usize, module: &Name<'_>, name: &str, at: &At<'t>) -> Traced<'t> {
        let file = self.files.find(from, module);
        if let Some(found) = file.and_then(|file| self.deeper(|| self.member(file, name, at)).flatten()) {
            return found;
        }
        let dot = if module.dotted.is_empty() { "" } else { "." };
        let inner = format!("{}{dot}{name}", module.dotted);
        let inner = Name { level: module.level, dotted: &inner };
        if self.files.find(from, &inner).is_some() || (file.is_none() && self.files.is_local(from, &inner)) {
            return self.traced(Value::Module(from, module.level, Rc::from(inner.dotted)), at);
        }
        self.unknown(at, format!("`{name}` is not in the files that were read"))
    }

    /// A dictionary after the changes that are made to it.
    fn changed(
        &self,
        found: Traced<'t>,
        bindings: &[&Binding<'t>],
        changes: &[(&Change<'t>, usize)],
        at: &At<'t>,
    ) -> Traced<'t> {
        let (Value::Dict(dict), Some(binding)) = (&found.value, bindings.first()) else { return found };
        let mut dict = (**dict).clone();
        for (change, position) in changes {
            if change.from > *position || (change.scope == binding.scope && change.from < binding.from) {
                continue;
            }
            let whole = self.all.list[change.scope].node.byte_range();
            let sure = change.block.contains(position) || change.block == binding.block || change.block == whole;
            self.change(&mut dict, change, sure, at);
        }
        Traced { value: Value::Dict(Rc::new(dict)), span: found.span }
    }

    fn change(&self, dict: &mut Dict<'t>, change: &Change<'t>, sure: bool, at: &At<'t>) {
        let inside = |node: Node<'t>| At { node, scope: change.scope, env: at.env.clone() };
        let unsure = || Some(self.why(at, format!("`{}` is changed", self.dotted(at.node, at.scope))));
        match &change.what {
            Changed::Set(key, value) => match self.eval(&inside(*key)).value {
                Value::Text(text) => {
                    let value = if sure {
                        Held::At(inside(*value))
                    } else {
                        Held::Value(self.unknown(at, format!("`{text}` is set in a branch")))
                    };
                    dict.set(Entry { key: text, place: self.span(*key, change.scope), value });
                }
                _ => dict.open = unsure(),
            },
            Changed::Inside => {
                for entry in &mut dict.entries {
                    let why = format!("something inside `{}` is changed", self.dotted(at.node, at.scope));
                    entry.value = Held::Value(self.unknown(at, why));
                }
                dict.open = unsure();
            }
            Changed::Method("update", call) => {
                let arguments = self.arguments(*call, change.scope, &at.env);
                let given = arguments.positional.first().map(|argument| self.eval(argument).value);
                match given {
                    None if sure => dict.update(&arguments.named),
                    Some(Value::Dict(other)) if sure => {
                        dict.update(&other);
                        dict.update(&arguments.named);
                    }
                    _ => dict.open = unsure(),
                }
            }
            Changed::Method(..) => dict.open = unsure(),
            // A local function may change what it is handed.
            Changed::Passed(function) => {
                if matches!(self.eval(&inside(*function)).value, Value::Function(..)) {
                    dict.open = unsure();
                }
            }
        }
    }

    /// One value, or one of several; several times the same value is that value.
    pub(super) fn union(&self, values: Vec<Traced<'t>>, at: &At<'t>) -> Traced<'t> {
        const MOST: usize = 8;
        let mut kept: Vec<Traced<'t>> = Vec::new();
        for value in values {
            let members = match &value.value {
                Value::Any(members) => members.to_vec(),
                _ => vec![value],
            };
            for member in members {
                if kept.len() < MOST && !kept.iter().any(|old| old.value.same(&member.value)) {
                    kept.push(member);
                }
            }
        }
        match kept.len() {
            0 => self.unknown(at, "no value".to_owned()),
            1 => kept.swap_remove(0),
            _ => self.traced(Value::Any(Rc::from(kept)), at),
        }
    }

    /// A name with dots, as far as an expression is one.
    pub(super) fn dotted(&self, node: Node<'t>, scope: usize) -> String {
        match node.kind() {
            "identifier" => self.text(node, scope).to_owned(),
            "attribute" => {
                let parts = children(node);
                let [object, name] = parts.as_slice() else { return "...".to_owned() };
                let object = if object.kind() == "identifier" { self.text(*object, scope) } else { "..." };
                format!("{object}.{}", self.text(*name, scope))
            }
            "call" => {
                let function = node.child_by_field_name("function").filter(|function| function.kind() != "call");
                function.map_or_else(|| "...".to_owned(), |function| format!("{}()", self.dotted(function, scope)))
            }
            _ => "...".to_owned(),
        }
    }

    /// Why the value of an expression is not known.
    pub(super) fn why(&self, at: &At<'t>, why: String) -> Rc<Unknown> {
        let place = Some(self.place(self.span(at.node, at.scope)));
        Rc::new(Unknown { unresolved: Unresolved { why, give: None, place }, starts: None })
    }

    pub(super) fn unknown(&self, at: &At<'t>, why: String) -> Traced<'t> {
        self.traced(Value::Unknown(self.why(at, why)), at)
    }

    pub(super) fn traced(&self, value: Value<'t>, at: &At<'t>) -> Traced<'t> {
        Traced { value, span: self.span(at.node, at.scope) }
    }

    pub(super) fn span(&self, node: Node<'_>, scope: usize) -> Span {
        let module = self.all.list[scope].module;
        Span { module, start: node.start_byte(), end: node.end_byte() }
    }
}
