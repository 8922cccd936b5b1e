//! Objects of local classes, and functions under the arguments of a call.

use std::rc::Rc;

use super::program::Program;
use super::scope::{Binding, Kind, Pass, What};
use super::value::{At, Caller, Dict, Env, Frame, Instance, Made, Traced, Value};

/// Follows a chain of base classes no further than this.
const MOST_BASES: usize = 8;

impl<'t> Program<'t> {
    /// An attribute of an object of a local class.
    pub(super) fn instance_member(&self, object: &Rc<Instance<'t>>, name: &str, at: &At<'t>) -> Traced<'t> {
        let inside = At { node: at.node, scope: at.scope, env: object.env.clone() };
        let mut library = false;
        for class in self.with_bases(object.class, &mut library) {
            let here = &self.all.list[class];
            let mut bindings: Vec<Binding<'t>> = here.bindings.get(name).cloned().unwrap_or_default();
            if let [Binding { what: What::Function(scope), .. }] = bindings.as_slice() {
                if self.is_decorated(*scope, &["property", "cached_property"]) {
                    let caller = Caller { call: at.node, scope: at.scope, bound: true };
                    return self.enter(*scope, caller, Some(Rc::clone(object)), &at.env);
                }
                return self.traced(Value::Function(*scope, Some(Rc::clone(object))), at);
            }
            bindings.extend(here.attributes.get(name).into_iter().flatten().cloned());
            if !bindings.is_empty() {
                if let Some(given) = self.given_field(object, class, name) {
                    return given;
                }
                if library && here.bindings.contains_key(name) && self.reads_environment(object.class) {
                    return self.unknown(at, format!("`{name}` of `{}`, which reads the environment", here.name));
                }
                return self.bound_to(&bindings, &inside);
            }
        }
        self.unknown(at, format!("`{name}` of an object of `{}`", self.all.list[object.class].name))
    }

    /// A field that the call of a dataclass gives.
    fn given_field(&self, object: &Rc<Instance<'t>>, class: usize, name: &str) -> Option<Traced<'t>> {
        if self.method(object.class, "__init__").is_some() || !self.all.list[class].bindings.contains_key(name) {
            return None;
        }
        let (caller, env) = self.frame(object.class, &object.env)?;
        let arguments = self.arguments(caller.call, caller.scope, &env);
        arguments.named.get(name).map(|entry| self.held(&entry.value))
    }

    /// A class and the local classes that it is based on; says whether a library's class is among them.
    fn with_bases(&self, class: usize, library: &mut bool) -> Vec<usize> {
        let mut classes = vec![class];
        let mut next = 0;
        while let Some(&class) = classes.get(next) {
            next += 1;
            let here = &self.all.list[class];
            for base in here.bases.iter().take(MOST_BASES) {
                let at = At { node: *base, scope: here.parent.unwrap_or(class), env: None };
                match self.eval(&at).value {
                    Value::Class(base) if classes.len() < MOST_BASES && !classes.contains(&base) => classes.push(base),
                    _ => *library = true,
                }
            }
        }
        classes
    }

    fn reads_environment(&self, class: usize) -> bool {
        self.with_bases(class, &mut false).iter().any(|class| {
            let here = &self.all.list[*class];
            here.bases.iter().any(|base| self.text(*base, *class).ends_with("BaseSettings"))
        })
    }

    /// A method of a class, or of those that it is based on.
    pub(super) fn method(&self, class: usize, name: &str) -> Option<usize> {
        self.with_bases(class, &mut false).iter().find_map(|class| {
            match self.all.list[*class].bindings.get(name)?.last()?.what {
                What::Function(scope) => Some(scope),
                _ => None,
            }
        })
    }

    pub(super) fn is_decorated(&self, scope: usize, names: &[&str]) -> bool {
        let here = &self.all.list[scope];
        here.decorators.iter().filter_map(|decorator| decorator.named_child(0)).any(|decorator| {
            let text = self.text(decorator, scope);
            names.contains(&text.rsplit('.').next().unwrap_or(text))
        })
    }

    /// The call whose arguments a function's parameters stand for, with where its own names are looked up.
    fn frame(&self, scope: usize, env: &Env<'t>) -> Option<(Caller<'t>, Env<'t>)> {
        let mut env = env.as_ref();
        while let Some(frame) = env {
            if frame.scope == scope {
                return Some((frame.caller, frame.outer.clone()));
            }
            env = frame.outer.as_ref();
        }
        self.assumed(scope).map(|caller| (caller, None))
    }

    fn receiver(scope: usize, env: &Env<'t>) -> Option<Rc<Instance<'t>>> {
        let mut env = env.as_ref();
        while let Some(frame) = env {
            if frame.scope == scope {
                return frame.receiver.clone();
            }
            env = frame.outer.as_ref();
        }
        None
    }

    pub(super) fn parameter(&self, scope: usize, index: usize, env: &Env<'t>) -> Traced<'t> {
        let here = &self.all.list[scope];
        let Some(parameter) = here.parameters.get(index) else {
            return self.unknown(&At { node: here.node, scope, env: None }, "an argument".to_owned());
        };
        let at = At { node: parameter.node, scope, env: None };
        let class = here.parent.filter(|parent| self.all.list[*parent].kind == Kind::Class);
        if let (0, Some(class)) = (index, class)
            && here.kind == Kind::Function
            && !self.is_decorated(scope, &["staticmethod"])
        {
            if self.is_decorated(scope, &["classmethod"]) {
                return self.traced(Value::Class(class), &at);
            }
            let own = || Rc::new(Instance { class, env: env.clone() });
            return self.traced(Value::Instance(Self::receiver(scope, env).unwrap_or_else(own)), &at);
        }
        let function = if here.name.is_empty() { "a lambda".to_owned() } else { format!("`{}`", here.name) };
        let why = || format!("argument `{}` of {function}", parameter.name);
        let Some((caller, outer)) = self.frame(scope, env) else {
            self.missed(scope);
            if parameter.annotation.trim_matches(['"', '\'']).ends_with("BedrockRuntimeClient") {
                return self.traced(Value::Made(Rc::new(Made { path: Rc::from(super::CLIENT), call: at.clone() })), &at);
            }
            if self.text(parameter.node, scope).starts_with("**") {
                let dict = Dict { entries: Vec::new(), open: Some(self.why(&at, why())) };
                return self.traced(Value::Dict(Rc::new(dict)), &at);
            }
            return self.unknown(&at, why());
        };
        let arguments = self.arguments(caller.call, caller.scope, &outer);
        if parameter.pass == Pass::Rest {
            if !self.text(parameter.node, scope).starts_with("**") {
                return self.unknown(&at, why());
            }
            let mut rest = arguments.named;
            rest.entries.retain(|entry| here.parameters.iter().all(|other| other.name != &*entry.key));
            return self.traced(Value::Dict(Rc::new(rest)), &at);
        }
        if let Some(entry) = arguments.named.get(parameter.name) {
            return self.held(&entry.value);
        }
        if parameter.pass == Pass::Either {
            let given = index.checked_sub(usize::from(caller.bound)).and_then(|index| arguments.positional.get(index));
            if let Some(given) = given {
                return self.eval(given);
            }
        }
        if arguments.splat || arguments.named.open.is_some() {
            return self.unknown(&at, why());
        }
        match parameter.default {
            Some(default) => self.eval(&At { node: default, scope: here.parent.unwrap_or(scope), env: None }),
            None => self.unknown(&at, why()),
        }
    }

    /// What a local function returns.
    pub(super) fn enter(
        &self,
        scope: usize,
        caller: Caller<'t>,
        receiver: Option<Rc<Instance<'t>>>,
        env: &Env<'t>,
    ) -> Traced<'t> {
        let frame = Frame { scope, caller, receiver, outer: env.clone() };
        let env = Some(Rc::new(frame));
        let at = At { node: caller.call, scope: caller.scope, env: None };
        let returns = &self.all.list[scope].returns;
        if returns.is_empty() {
            return self.traced(Value::Nothing, &at);
        }
        self.union(returns.iter().map(|node| self.eval(&At { node: *node, scope, env: env.clone() })).collect(), &at)
    }
}
