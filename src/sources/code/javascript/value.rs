//! Values of expressions, as far as they show without running the code.

use tree_sitter::Node;

use super::program::{Program, Spot, Step, returns};
use super::scope::Path;
use super::syntax::{argument, field, is_class, is_function, named, unwrap};

/// Something that a package provides, or a global: the names from the package on. The default export is the package itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Symbol {
    /// Empty for globals.
    pub(super) package: String,
    pub(super) path: Vec<String>,
}

impl Symbol {
    pub(super) fn is(&self, package: &str, path: &[&str]) -> bool {
        self.package == package && self.path == path
    }

    pub(super) fn is_global(&self, path: &[&str]) -> bool {
        self.is("", path)
    }

    pub(super) fn last(&self) -> &str {
        self.path.last().map_or("", String::as_str)
    }

    pub(super) fn then(&self, key: &str) -> Self {
        let mut path = self.path.clone();
        if key != "default" {
            path.push(key.to_owned());
        }
        Self { package: self.package.clone(), path }
    }

    /// The environment variable that it names.
    fn variable(&self) -> Option<&str> {
        match (self.package.as_str(), self.path.as_slice()) {
            ("", [process, env, name]) if process == "process" && env == "env" => Some(name),
            ("process" | "node:process", [env, name]) if env == "env" => Some(name),
            _ => None,
        }
    }
}

#[derive(Clone, Debug)]
pub(super) enum Value {
    Nothing,
    Bool(bool),
    Number(f64),
    Text(String),
    /// An object literal.
    Object,
    Function,
    Class,
    Enum,
    /// An object of a class in the files.
    Instance,
    /// What calling or constructing something of a package gives.
    Made(Symbol),
    Symbol(Symbol),
    /// All that a module exports.
    Namespace(usize),
    /// A list, an expression without a meaning here.
    Other,
    Unresolved(String),
}

/// A value, and the expression that it is after references were followed.
#[derive(Clone, Debug)]
pub(super) struct Found<'t> {
    pub(super) value: Value,
    pub(super) spot: Spot<'t>,
}

impl Found<'_> {
    pub(super) fn is_code(&self) -> bool {
        matches!(self.value, Value::Function | Value::Class)
    }

    /// Why there is no number or text.
    pub(super) fn why(&self) -> String {
        match &self.value {
            Value::Unresolved(why) => why.clone(),
            Value::Symbol(symbol) => match symbol.variable() {
                Some(name) => format!("the environment variable `{name}` is read when the code runs"),
                None if symbol.package.is_empty() => format!("`{}` is not known before the code runs", symbol.path.join(".")),
                None => format!("it comes from the package `{}`, which is not read", symbol.package),
            },
            Value::Made(symbol) if symbol.package.is_empty() => {
                format!("`{}` is called when the code runs", symbol.path.join("."))
            }
            Value::Made(symbol) => format!("it comes from the package `{}`, which is not read", symbol.package),
            _ => "the expression is not a constant".to_owned(),
        }
    }

    fn truth(&self) -> Option<bool> {
        match &self.value {
            Value::Nothing => Some(false),
            Value::Bool(value) => Some(*value),
            Value::Number(value) => Some(*value != 0.0),
            Value::Text(text) => Some(!text.is_empty()),
            Value::Unresolved(_) | Value::Symbol(_) | Value::Other => None,
            _ => Some(true),
        }
    }

    /// Whether both are the same constant, or the very same expression.
    pub(super) fn same(&self, other: &Self) -> bool {
        match (&self.value, &other.value) {
            (Value::Number(a), Value::Number(b)) => a == b,
            (Value::Text(a), Value::Text(b)) => a == b,
            (Value::Bool(a), Value::Bool(b)) => a == b,
            (Value::Nothing, Value::Nothing) => true,
            (Value::Unresolved(_), _) | (_, Value::Unresolved(_)) => false,
            _ => self.spot.id() == other.spot.id(),
        }
    }
}

impl<'t> Program<'t> {
    pub(super) fn evaluate(&self, spot: Spot<'t>) -> Found<'t> {
        self.guarded(|| self.value(spot.at(unwrap(spot.node))))
            .unwrap_or_else(|| lost(spot, "it is too far away to be followed"))
    }

    fn value(&self, spot: Spot<'t>) -> Found<'t> {
        let node = spot.node;
        let parsed = self.module(spot).parsed;
        let is = |value| Found { value, spot };
        match node.kind() {
            "number" => parsed.number(node).map_or_else(|| is(Value::Other), |number| is(Value::Number(number))),
            "true" => is(Value::Bool(true)),
            "false" => is(Value::Bool(false)),
            "null" | "undefined" => is(Value::Nothing),
            "string" | "template_string" => match parsed.string(node) {
                Some(text) => is(Value::Text(text)),
                None => self.template(spot),
            },
            "identifier" | "shorthand_property_identifier" | "shorthand_property_identifier_pattern" => self.identifier(spot),
            "member_expression" | "subscript_expression" => self.member(spot),
            "unary_expression" => self.unary(spot),
            "binary_expression" => self.binary(spot),
            "ternary_expression" => self.ternary(spot),
            "assignment_expression" | "augmented_assignment_expression" => match field(node, "right") {
                Some(right) => self.evaluate(spot.at(right)),
                None => is(Value::Other),
            },
            "object" => is(Value::Object),
            "call_expression" => self.call(spot),
            "new_expression" => self.construct(spot),
            _ if is_function(node) => is(Value::Function),
            _ if is_class(node) => is(Value::Class),
            _ => is(Value::Other),
        }
    }

    fn identifier(&self, spot: Spot<'t>) -> Found<'t> {
        match self.step(spot) {
            Some(step) => self.arrive(step),
            None if self.text(spot) == "undefined" => Found { value: Value::Nothing, spot },
            None => {
                let path = vec![self.text(spot).to_owned()];
                Found { value: Value::Symbol(Symbol { package: String::new(), path }), spot }
            }
        }
    }

    /// The value at the end of a step.
    pub(super) fn arrive(&self, step: Step<'t>) -> Found<'t> {
        match step {
            Step::Is(found) => found,
            Step::Expression(spot, path) => self.descend(spot, &path),
        }
    }

    fn descend(&self, spot: Spot<'t>, path: &Path<'t>) -> Found<'t> {
        let Some(((key, default), rest)) = path.split_first() else { return self.evaluate(spot) };
        let mut found = self.got(self.lookup(spot, key), spot);
        if let (Value::Nothing, Some(default)) = (&found.value, default) {
            found = self.evaluate(Spot { node: *default, ..spot });
        }
        for (key, default) in rest {
            found = self.got(self.property(&found, key), found.spot);
            if let (Value::Nothing, Some(default)) = (&found.value, default) {
                found = self.evaluate(Spot { node: *default, ..spot });
            }
        }
        found
    }

    fn member(&self, spot: Spot<'t>) -> Found<'t> {
        let key = match spot.node.kind() {
            "member_expression" => field(spot.node, "property").map(|property| self.text(spot.at(property)).to_owned()),
            _ => field(spot.node, "index").and_then(|index| match self.evaluate(spot.at(index)).value {
                Value::Text(text) => Some(text),
                Value::Number(number) => Some(number.to_string()),
                _ => None,
            }),
        };
        let (Some(object), Some(key)) = (field(spot.node, "object"), key) else {
            return Found { value: Value::Other, spot };
        };
        self.got(self.lookup(spot.at(object), &key), spot)
    }

    fn template(&self, spot: Spot<'t>) -> Found<'t> {
        let mut text = String::new();
        for part in named(spot.node) {
            if part.kind() == "template_substitution" {
                let Some(inner) = named(part).next() else { continue };
                match self.evaluate(spot.at(inner)) {
                    Found { value: Value::Text(inner), .. } => text.push_str(&inner),
                    Found { value: Value::Number(inner), .. } => text.push_str(&inner.to_string()),
                    found => return lost(spot, &found.why()),
                }
            } else {
                text.push_str(self.text(spot.at(part)));
            }
            if text.len() > 100_000 {
                return lost(spot, "the text is too long");
            }
        }
        Found { value: Value::Text(text), spot }
    }

    fn unary(&self, spot: Spot<'t>) -> Found<'t> {
        let Some(inner) = field(spot.node, "argument").map(|inner| self.evaluate(spot.at(inner))) else {
            return Found { value: Value::Other, spot };
        };
        let operator = field(spot.node, "operator").map_or("", |operator| self.text(spot.at(operator)));
        let value = match (operator, &inner.value) {
            ("-", Value::Number(number)) => Value::Number(-number),
            ("+", _) => return number_of(inner),
            ("void", _) => Value::Nothing,
            ("!", _) => inner.truth().map_or_else(|| Value::Unresolved(inner.why()), |truth| Value::Bool(!truth)),
            _ => Value::Unresolved(inner.why()),
        };
        Found { value, spot }
    }

    fn binary(&self, spot: Spot<'t>) -> Found<'t> {
        let (Some(left), Some(right)) = (field(spot.node, "left"), field(spot.node, "right")) else {
            return Found { value: Value::Other, spot };
        };
        let operator = field(spot.node, "operator").map_or("", |operator| self.text(spot.at(operator)));
        let a = self.evaluate(spot.at(left));
        match operator {
            "??" => {
                return match a.value {
                    Value::Nothing => self.evaluate(spot.at(right)),
                    Value::Unresolved(_) | Value::Symbol(_) | Value::Other => lost(spot, &a.why()),
                    _ => a,
                };
            }
            "||" | "&&" => {
                return match a.truth() {
                    Some(truth) if truth == (operator == "||") => a,
                    Some(_) => self.evaluate(spot.at(right)),
                    None => lost(spot, &a.why()),
                };
            }
            _ => {}
        }
        let b = self.evaluate(spot.at(right));
        match (&a.value, &b.value) {
            (Value::Number(x), Value::Number(y)) => {
                let value = match operator {
                    "+" => Value::Number(x + y),
                    "-" => Value::Number(x - y),
                    "*" => Value::Number(x * y),
                    "/" => Value::Number(x / y),
                    "%" => Value::Number(x % y),
                    "**" => Value::Number(x.powf(*y)),
                    "===" | "==" => Value::Bool(x == y),
                    "!==" | "!=" => Value::Bool(x != y),
                    "<" => Value::Bool(x < y),
                    ">" => Value::Bool(x > y),
                    _ => return lost(spot, "the expression is not a constant"),
                };
                Found { value, spot: literal_of(spot, &a, &b) }
            }
            (Value::Text(x), Value::Text(y)) => match operator {
                "+" if x.len() + y.len() < 100_000 => Found { value: Value::Text(format!("{x}{y}")), spot },
                "===" | "==" => Found { value: Value::Bool(x == y), spot },
                "!==" | "!=" => Found { value: Value::Bool(x != y), spot },
                _ => lost(spot, "the expression is not a constant"),
            },
            (Value::Number(_) | Value::Text(_), _) => lost(spot, &b.why()),
            _ => lost(spot, &a.why()),
        }
    }

    fn ternary(&self, spot: Spot<'t>) -> Found<'t> {
        let part = |name| field(spot.node, name).map(|node| self.evaluate(spot.at(node)));
        let Some(condition) = part("condition") else { return Found { value: Value::Other, spot } };
        match condition.truth() {
            Some(truth) => part(if truth { "consequence" } else { "alternative" }),
            None => match (part("consequence"), part("alternative")) {
                (Some(a), Some(b)) if a.same(&b) => Some(a),
                _ => None,
            },
        }
        .unwrap_or_else(|| lost(spot, "it depends on a condition"))
    }

    fn call(&self, spot: Spot<'t>) -> Found<'t> {
        let Some(function) = field(spot.node, "function") else { return Found { value: Value::Other, spot } };
        let first = argument(spot.node, 0).map(|node| spot.at(node));
        if function.kind() == "import" {
            return self.require(spot, first);
        }
        let callee = self.evaluate(spot.at(function));
        let symbol = match &callee.value {
            Value::Symbol(symbol) | Value::Made(symbol) => symbol,
            Value::Function => return self.run(callee.spot, spot),
            _ => return lost(spot, &callee.why()),
        };
        let path: Vec<&str> = symbol.path.iter().map(String::as_str).collect();
        match (symbol.package.as_str(), path.as_slice(), first) {
            ("", ["require"], _) => self.require(spot, first),
            ("", ["Number" | "parseInt" | "parseFloat"] | ["Number", "parseInt" | "parseFloat"], Some(first)) => {
                number_of(self.evaluate(first))
            }
            ("", ["String" | "structuredClone"] | ["Object", "freeze" | "seal"] | ["Promise", "resolve"], Some(first)) => {
                self.evaluate(first)
            }
            ("", ["Math", name], _) => self.math(spot, name),
            (_, [.., "captureAWSv3Client" | "captureAWSClient"], Some(first)) => self.evaluate(first),
            _ => Found { value: Value::Made(symbol.clone()), spot },
        }
    }

    fn require(&self, spot: Spot<'t>, first: Option<Spot<'t>>) -> Found<'t> {
        match first.map(|first| self.evaluate(first).value) {
            Some(Value::Text(specifier)) => self.required(spot, &specifier),
            _ => lost(spot, "the name of the module is not a constant"),
        }
    }

    fn math(&self, spot: Spot<'t>, name: &str) -> Found<'t> {
        let mut numbers = Vec::new();
        for item in field(spot.node, "arguments").into_iter().flat_map(named) {
            match self.evaluate(spot.at(item)) {
                Found { value: Value::Number(number), .. } => numbers.push(number),
                found => return lost(spot, &found.why()),
            }
        }
        let first = numbers.first().copied();
        let number = match name {
            "min" => numbers.into_iter().reduce(f64::min),
            "max" => numbers.into_iter().reduce(f64::max),
            "round" => first.map(f64::round),
            "floor" | "trunc" => first.map(f64::floor),
            "ceil" => first.map(f64::ceil),
            _ => None,
        };
        number.map_or_else(
            || lost(spot, "the expression is not a constant"),
            |number| Found { value: Value::Number(number), spot },
        )
    }

    /// What a function of the files returns to a call.
    fn run(&self, function: Spot<'t>, call: Spot<'t>) -> Found<'t> {
        let frame = self.enter(function, call);
        let mut results =
            returns(function.node).into_iter().take(16).map(|node| self.evaluate(Spot { node, frame, ..function }));
        let Some(first) = results.next() else { return Found { value: Value::Nothing, spot: call } };
        if results.all(|other| other.same(&first)) {
            return first;
        }
        let name = self.name_of(function).unwrap_or("the function");
        lost(call, &format!("`{name}` returns more than one value"))
    }

    fn construct(&self, spot: Spot<'t>) -> Found<'t> {
        let Some(constructor) = field(spot.node, "constructor") else { return Found { value: Value::Other, spot } };
        let class = self.evaluate(spot.at(constructor));
        match class.value {
            Value::Symbol(symbol) => Found { value: Value::Made(symbol), spot },
            Value::Class => Found { value: Value::Instance, spot },
            _ => lost(spot, &class.why()),
        }
    }
}

pub(super) fn lost<'t>(spot: Spot<'t>, why: &str) -> Found<'t> {
    Found { value: Value::Unresolved(why.to_owned()), spot }
}

/// A number, also out of a text.
fn number_of(found: Found<'_>) -> Found<'_> {
    let number = match &found.value {
        Value::Number(_) => return found,
        Value::Text(text) => text.trim().replace('_', "").parse().ok().filter(|number: &f64| number.is_finite()),
        _ => None,
    };
    match number {
        Some(number) => Found { value: Value::Number(number), spot: found.spot },
        None => lost(found.spot, &found.why()),
    }
}

/// Where the number of a calculation is written: the whole of it, or the one literal elsewhere that it brings to another
/// unit.
fn literal_of<'t>(spot: Spot<'t>, a: &Found<'t>, b: &Found<'t>) -> Spot<'t> {
    let within = |found: &Found<'t>| {
        let inside = |node: Node<'t>| spot.node.start_byte() <= node.start_byte() && node.end_byte() <= spot.node.end_byte();
        found.spot.module == spot.module && inside(found.spot.node)
    };
    let unit =
        |found: &Found<'t>| matches!(found.value, Value::Number(n) if [60.0, 1000.0, 1024.0, 3600.0, 60_000.0].contains(&n));
    match (within(a), within(b)) {
        (false, _) if unit(b) && !unit(a) => a.spot,
        (_, false) if unit(a) && !unit(b) => b.spot,
        _ => spot,
    }
}
