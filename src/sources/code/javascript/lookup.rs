//! Properties of objects: whether a key is there, certainly not there, or may be there where it does not show.

use super::program::{Program, Spot, Step, returns};
use super::scope::Binding;
use super::syntax::{argument, field, is_class, is_function, named, unwrap};
use super::value::{Found, Value, lost};

/// What is known of a key.
#[derive(Clone, Debug)]
pub(super) enum Lookup<'t> {
    Absent,
    /// The key, and the expression beside it.
    Entry {
        key: Spot<'t>,
        value: Spot<'t>,
    },
    /// A value that stands in no object literal.
    Value(Found<'t>),
    Unknown(Found<'t>),
}

impl<'t> Lookup<'t> {
    /// Where the key stands.
    pub(super) fn key(&self) -> Option<Spot<'t>> {
        match self {
            Self::Entry { key, .. } => Some(*key),
            _ => None,
        }
    }

    pub(super) fn is_absent(&self) -> bool {
        matches!(self, Self::Absent)
    }
}

impl<'t> Program<'t> {
    /// The value of what was looked up.
    pub(super) fn got(&self, lookup: Lookup<'t>, spot: Spot<'t>) -> Found<'t> {
        match lookup {
            Lookup::Absent => Found { value: Value::Nothing, spot },
            Lookup::Entry { value, .. } => self.evaluate(value),
            Lookup::Value(found) | Lookup::Unknown(found) => found,
        }
    }

    /// A key of what an expression stands for.
    pub(super) fn lookup(&self, spot: Spot<'t>, key: &str) -> Lookup<'t> {
        let spot = spot.at(unwrap(spot.node));
        self.guarded(|| self.look(spot, key))
            .unwrap_or_else(|| Lookup::Unknown(lost(spot, "it is too far away to be followed")))
    }

    fn look(&self, spot: Spot<'t>, key: &str) -> Lookup<'t> {
        let part = |name| field(spot.node, name).map(|node| spot.at(node));
        match spot.node.kind() {
            "object" => self.entry(spot, key),
            "this" => self.own(spot, key),
            "identifier" | "shorthand_property_identifier" => self.variable_key(spot, key),
            "ternary_expression" => match (part("condition"), part("consequence"), part("alternative")) {
                (Some(condition), Some(a), Some(b)) => match self.evaluate(condition).value {
                    Value::Bool(true) => self.lookup(a, key),
                    Value::Bool(false) | Value::Nothing => self.lookup(b, key),
                    _ => self.either(spot, self.lookup(a, key), self.lookup(b, key)),
                },
                _ => Lookup::Absent,
            },
            "binary_expression" => match (part("left"), part("operator"), part("right")) {
                (Some(a), Some(operator), Some(b)) => match self.text(operator) {
                    "&&" => match self.evaluate(a).value {
                        Value::Bool(false) | Value::Nothing => Lookup::Absent,
                        Value::Bool(true) | Value::Object => self.lookup(b, key),
                        _ => self.either(spot, Lookup::Absent, self.lookup(b, key)),
                    },
                    "??" | "||" => match self.evaluate(a).value {
                        Value::Nothing => self.lookup(b, key),
                        Value::Object => self.lookup(a, key),
                        _ => self.either(spot, self.lookup(a, key), self.lookup(b, key)),
                    },
                    _ => Lookup::Absent,
                },
                _ => Lookup::Absent,
            },
            "call_expression" => self.result_key(spot, key),
            _ => self.property(&self.evaluate(spot), key),
        }
    }

    /// A key of one of two, whichever it will be.
    fn either(&self, spot: Spot<'t>, a: Lookup<'t>, b: Lookup<'t>) -> Lookup<'t> {
        match (&a, &b) {
            (Lookup::Absent, Lookup::Absent) => Lookup::Absent,
            (Lookup::Unknown(_), _) => a,
            (_, Lookup::Unknown(_)) => b,
            _ => {
                if self.got(a.clone(), spot).same(&self.got(b, spot)) {
                    a
                } else {
                    Lookup::Unknown(lost(spot, "it depends on a condition"))
                }
            }
        }
    }

    /// A key of an object literal: the last entry wins, and what is spread may hold it too.
    fn entry(&self, object: Spot<'t>, key: &str) -> Lookup<'t> {
        let parsed = self.module(object).parsed;
        let entries: Vec<_> = named(object.node).collect();
        for item in entries.into_iter().rev() {
            let at = object.at(item);
            match item.kind() {
                "pair" => {
                    let (Some(name), Some(value)) = (field(item, "key"), field(item, "value")) else { continue };
                    let text = match name.kind() {
                        "computed_property_name" => match named(name).next().map(|inner| self.evaluate(at.at(inner))) {
                            Some(Found { value: Value::Text(text), .. }) => Some(text),
                            Some(found) => return Lookup::Unknown(lost(at, &found.why())),
                            None => None,
                        },
                        _ => parsed.key(name),
                    };
                    if text.as_deref() == Some(key) {
                        return Lookup::Entry { key: at.at(name), value: at.at(value) };
                    }
                }
                "shorthand_property_identifier" if self.text(at) == key => return Lookup::Entry { key: at, value: at },
                "method_definition" => {
                    if let Some(name) = field(item, "name").filter(|name| self.text(at.at(*name)) == key) {
                        return Lookup::Entry { key: at.at(name), value: at };
                    }
                }
                "spread_element" => {
                    let inner = named(item).next().map(|inner| self.lookup(at.at(inner), key));
                    if let Some(found) = inner.filter(|found| !found.is_absent()) {
                        return found;
                    }
                }
                _ => {}
            }
        }
        Lookup::Absent
    }

    /// A key of a variable: of its value, or assigned to it later.
    fn variable_key(&self, spot: Spot<'t>, key: &str) -> Lookup<'t> {
        let module = self.module(spot);
        let name = self.text(spot);
        let binding = module.binding(name, spot.node);
        if let Some((scope, Binding::Variable { .. })) = binding {
            let mut later = module.set.get(key).into_iter().flatten().filter_map(|write| {
                let left = field(*write, "left")?;
                let object = field(left, "object").filter(|object| object.kind() == "identifier")?;
                let same =
                    self.text(spot.at(object)) == name && module.binding(name, object).is_some_and(|(at, _)| at == scope);
                same.then_some((*write, left))
            });
            if let Some((write, left)) = later.next() {
                let certain = module.ancestors(write).take_while(|node| !is_function(*node)).all(|node| {
                    matches!(node.kind(), "expression_statement" | "statement_block" | "program" | "export_statement")
                });
                let value = (field(write, "property").or_else(|| field(left, "property"))).zip(field(write, "right"));
                return match value {
                    Some((property, right)) if certain && later.next().is_none() => {
                        Lookup::Entry { key: spot.at(property), value: spot.at(right) }
                    }
                    _ => Lookup::Unknown(lost(spot, &format!("`{name}.{key}` is assigned under a condition"))),
                };
            }
        }
        match self.step(spot) {
            Some(Step::Expression(next, path)) if path.is_empty() => self.lookup(next, key),
            Some(step) => {
                let found = self.arrive(step);
                self.property(&found, key)
            }
            None => self.property(&self.evaluate(spot), key),
        }
    }

    /// A key of what a call returns.
    fn result_key(&self, call: Spot<'t>, key: &str) -> Lookup<'t> {
        let callee = field(call.node, "function").map(|callee| self.evaluate(call.at(callee)));
        let first = argument(call.node, 0).map(|node| call.at(node));
        match callee {
            Some(Found { value: Value::Function, spot: function }) => {
                let frame = self.enter(function, call);
                let mut results =
                    returns(function.node).into_iter().take(16).map(|node| self.lookup(Spot { node, frame, ..function }, key));
                let first = results.next().unwrap_or(Lookup::Absent);
                results.fold(first, |a, b| self.either(call, a, b))
            }
            Some(Found { value: Value::Symbol(symbol), .. }) if symbol.is_global(&["Object", "assign"]) => {
                let parts: Vec<_> = field(call.node, "arguments").into_iter().flat_map(named).collect();
                let mut parts = parts.into_iter().rev().map(|node| self.lookup(call.at(node), key));
                parts.find(|found| !found.is_absent()).unwrap_or(Lookup::Absent)
            }
            Some(Found { value: Value::Symbol(symbol), .. })
                if symbol.is_global(&["Object", "freeze"])
                    || symbol.is_global(&["Object", "seal"])
                    || symbol.is_global(&["structuredClone"]) =>
            {
                first.map_or(Lookup::Absent, |first| self.lookup(first, key))
            }
            _ => self.property(&self.evaluate(call), key),
        }
    }

    /// A property of a value.
    pub(super) fn property(&self, found: &Found<'t>, key: &str) -> Lookup<'t> {
        let is = |value| Lookup::Value(Found { value, spot: found.spot });
        match &found.value {
            Value::Object => self.entry(found.spot, key),
            Value::Nothing | Value::Bool(_) | Value::Number(_) | Value::Text(_) => Lookup::Absent,
            Value::Symbol(symbol) | Value::Made(symbol) => is(Value::Symbol(symbol.then(key))),
            Value::Class => self.class_key(found.spot, key),
            Value::Instance => self.instance_key(found.spot, key),
            Value::Enum => self.enum_key(found.spot, key),
            Value::Namespace(module) => match self.export(*module, key) {
                Some(Step::Expression(spot, path)) if path.is_empty() => Lookup::Entry { key: spot, value: spot },
                Some(step) => Lookup::Value(self.arrive(step)),
                None if key == "default" => is(Value::Namespace(*module)),
                None => Lookup::Unknown(lost(found.spot, &format!("no export `{key}` shows"))),
            },
            Value::Function | Value::Other | Value::Unresolved(_) => Lookup::Unknown(lost(found.spot, &found.why())),
        }
    }

    /// A key of `this`.
    fn own(&self, spot: Spot<'t>, key: &str) -> Lookup<'t> {
        match self.module(spot).ancestors(spot.node).find(|node| is_class(*node)) {
            Some(class) => self.class_key(spot.at(class), key),
            None => Lookup::Unknown(lost(spot, "`this` is not known before the code runs")),
        }
    }

    fn instance_key(&self, new: Spot<'t>, key: &str) -> Lookup<'t> {
        let class = field(new.node, "constructor").map(|class| self.evaluate(new.at(class)));
        let Some(Found { value: Value::Class, spot: class }) = class else { return Lookup::Unknown(lost(new, "no class")) };
        let constructor = field(class.node, "body")
            .into_iter()
            .flat_map(named)
            .find(|member| field(*member, "name").is_some_and(|name| self.text(class.at(name)) == "constructor"));
        let frame = constructor.map_or(class.frame, |constructor| self.enter(class.at(constructor), new));
        self.class_key(Spot { frame, ..class }, key)
    }

    /// A field, getter or method of a class, or a property that its code assigns to `this`.
    fn class_key(&self, class: Spot<'t>, key: &str) -> Lookup<'t> {
        let module = self.module(class);
        let mut declared = false;
        for member in field(class.node, "body").into_iter().flat_map(named) {
            let name = field(member, "name").or_else(|| field(member, "property"));
            let named_so = name.filter(|name| module.parsed.key(*name).as_deref() == Some(key));
            match (named_so, member.kind()) {
                (Some(name), "method_definition") => {
                    let getter = (0..member.child_count()).filter_map(|i| member.child(i)).any(|child| child.kind() == "get");
                    let value = if getter { returns(member).first().copied() } else { Some(member) };
                    return value.map_or(Lookup::Absent, |value| Lookup::Entry { key: class.at(name), value: class.at(value) });
                }
                (Some(name), _) => {
                    declared = true;
                    if let Some(value) = field(member, "value") {
                        return Lookup::Entry { key: class.at(name), value: class.at(value) };
                    }
                }
                (None, "method_definition") => {
                    // `constructor(private readonly client: Client)`.
                    for parameter in field(member, "parameters").into_iter().flat_map(named) {
                        let pattern = field(parameter, "pattern").filter(|pattern| self.text(class.at(*pattern)) == key);
                        let kept = named(parameter).any(|part| matches!(part.kind(), "accessibility_modifier"));
                        if let Some(pattern) = pattern.filter(|_| kept) {
                            return Lookup::Entry { key: class.at(pattern), value: class.at(pattern) };
                        }
                    }
                }
                _ => {}
            }
        }
        let mut writes = module.set.get(key).into_iter().flatten().filter_map(|write| {
            let left = field(*write, "left")?;
            let own = field(left, "object").is_some_and(|object| object.kind() == "this")
                && module.ancestors(*write).find(|node| is_class(*node)) == Some(class.node);
            own.then_some(field(left, "property").zip(field(*write, "right"))?)
        });
        match (writes.next(), writes.next()) {
            (Some((property, right)), None) => Lookup::Entry { key: class.at(property), value: class.at(right) },
            (Some(_), Some(_)) => Lookup::Unknown(lost(class, &format!("`this.{key}` is assigned more than once"))),
            (None, _) if declared => Lookup::Unknown(lost(class, &format!("`{key}` gets no value in the code that is read"))),
            (None, _) => self.inherited(class, key),
        }
    }

    fn inherited(&self, class: Spot<'t>, key: &str) -> Lookup<'t> {
        let heritage = named(class.node).find(|part| part.kind() == "class_heritage").and_then(|part| named(part).next());
        let base = heritage.and_then(|part| if part.kind() == "extends_clause" { field(part, "value") } else { Some(part) });
        match base {
            Some(base) => self.lookup(class.at(base), key),
            None => Lookup::Unknown(lost(class, &format!("the class shows no `{key}`"))),
        }
    }

    fn enum_key(&self, declaration: Spot<'t>, key: &str) -> Lookup<'t> {
        let parsed = self.module(declaration).parsed;
        field(declaration.node, "body")
            .into_iter()
            .flat_map(named)
            .find_map(|member| {
                let name = field(member, "name").filter(|name| parsed.key(*name).as_deref() == Some(key))?;
                Some(Lookup::Entry { key: declaration.at(name), value: declaration.at(field(member, "value")?) })
            })
            .unwrap_or_else(|| Lookup::Unknown(lost(declaration, &format!("the enumeration gives `{key}` no value"))))
    }
}
