//! Evaluation of calls: local functions and classes, and those of libraries that matter here.

use std::rc::Rc;

use super::eval::number;
use super::program::Program;
use super::scope::children;
use super::value::{At, Caller, Dict, Env, Frame, Instance, Made, Traced, Value};

/// What a call hands over.
#[derive(Default)]
pub(super) struct Arguments<'t> {
    /// Before the first `*list`.
    pub(super) positional: Vec<At<'t>>,
    pub(super) named: Dict<'t>,
    /// Whether a `*list` is among them.
    pub(super) splat: bool,
}

impl<'t> Program<'t> {
    pub(super) fn arguments(&self, call: tree_sitter::Node<'t>, scope: usize, env: &Env<'t>) -> Arguments<'t> {
        let Some(list) = call.child_by_field_name("arguments") else { return Arguments::default() };
        let at = |node| At { node, scope, env: env.clone() };
        if list.kind() != "argument_list" {
            return Arguments { positional: vec![at(list)], ..Arguments::default() };
        }
        let mut arguments = Arguments::default();
        let mut named = Vec::new();
        for node in children(list) {
            match node.kind() {
                "keyword_argument" | "dictionary_splat" => named.push(at(node)),
                "list_splat" => arguments.splat = true,
                _ if !arguments.splat => arguments.positional.push(at(node)),
                _ => {}
            }
        }
        arguments.named = self.dictionary(named.into_iter());
        arguments
    }

    pub(super) fn call(&self, at: &At<'t>) -> Traced<'t> {
        let Some(function) = at.node.child_by_field_name("function") else {
            return self.unknown(at, "a call".to_owned());
        };
        let function_at = At { node: function, ..at.clone() };
        if let (Some(object), Some(name)) = (function.child_by_field_name("object"), function.child_by_field_name("attribute"))
        {
            let object = self.eval(&At { node: object, ..at.clone() });
            let name = self.text(name, at.scope);
            if let Some(result) = self.method_of_value(&object, name, at) {
                return result;
            }
            let callee = self.attribute(&object, name, &function_at);
            return self.result(&callee, at);
        }
        let callee = self.eval(&function_at);
        self.result(&callee, at)
    }

    /// Methods of values that are known: dictionaries, configurations, texts.
    fn method_of_value(&self, object: &Traced<'t>, name: &str, at: &At<'t>) -> Option<Traced<'t>> {
        let arguments = || self.arguments(at.node, at.scope, &at.env);
        match (&object.value, name) {
            (Value::Config(config), "merge") => {
                let other = arguments().positional.first().map(|other| self.eval(other))?;
                match &other.value {
                    Value::Config(other) => {
                        let mut merged = (**config).clone();
                        merged.update(other);
                        Some(self.traced(Value::Config(Rc::new(merged)), at))
                    }
                    Value::Nothing => Some(object.clone()),
                    _ => {
                        let merged = Dict { entries: Vec::new(), open: Some(self.reason(&other, at)) };
                        Some(self.traced(Value::Config(Rc::new(merged)), at))
                    }
                }
            }
            (Value::Dict(_), "copy") | (Value::Json(_), "encode") => Some(object.clone()),
            (Value::Dict(dict), "get") => {
                let arguments = arguments();
                let Value::Text(key) = self.eval(arguments.positional.first()?).value else { return None };
                match (dict.get(&key), &dict.open, arguments.positional.get(1)) {
                    (Some(entry), ..) => Some(self.held(&entry.value)),
                    (None, Some(open), _) => Some(self.traced(Value::Unknown(Rc::clone(open)), at)),
                    (None, None, Some(default)) => Some(self.eval(default)),
                    (None, None, None) => Some(self.traced(Value::Nothing, at)),
                }
            }
            _ => None,
        }
    }

    fn result(&self, callee: &Traced<'t>, at: &At<'t>) -> Traced<'t> {
        match &callee.value {
            Value::Library(path) => self.library(path, at),
            Value::Function(scope, object) => {
                let caller = Caller { call: at.node, scope: at.scope, bound: object.is_some() };
                self.enter(*scope, caller, object.clone(), &at.env)
            }
            Value::Class(class) => {
                let scope = self.method(*class, "__init__").unwrap_or(*class);
                let caller = Caller { call: at.node, scope: at.scope, bound: true };
                let frame = Frame { scope, caller, receiver: None, outer: at.env.clone() };
                let object = Instance { class: *class, env: Some(Rc::new(frame)) };
                self.traced(Value::Instance(Rc::new(object)), at)
            }
            Value::Any(members) => {
                let values = members.iter().filter_map(|member| self.deeper(|| self.result(member, at))).collect();
                self.union(values, at)
            }
            Value::Unknown(unknown) => match self.asked_service(at) {
                Some(service) => self.made(&service, at),
                None => self.traced(Value::Unknown(Rc::clone(unknown)), at),
            },
            _ => self.unknown(at, format!("what `{}` returns", self.dotted(at.node, at.scope))),
        }
    }

    fn made(&self, path: &str, at: &At<'t>) -> Traced<'t> {
        self.traced(Value::Made(Rc::new(Made { path: Rc::from(path), call: at.clone() })), at)
    }

    /// The service that a call of an unknown object's method asks a client for.
    fn asked_service(&self, at: &At<'t>) -> Option<Rc<str>> {
        let name = at.node.child_by_field_name("function")?.child_by_field_name("attribute")?;
        if matches!(self.text(name, at.scope), "client" | "create_client") { self.service(at) } else { None }
    }

    /// The service that a client is made for.
    fn service(&self, at: &At<'t>) -> Option<Rc<str>> {
        let arguments = self.arguments(at.node, at.scope, &at.env);
        let value = match (arguments.positional.first(), arguments.named.get("service_name")) {
            (Some(first), _) => self.eval(first),
            (None, Some(entry)) => self.held(&entry.value),
            (None, None) => return None,
        };
        match value.value {
            Value::Text(service) => Some(service),
            _ => None,
        }
    }

    fn library(&self, path: &Rc<str>, at: &At<'t>) -> Traced<'t> {
        let arguments = || self.arguments(at.node, at.scope, &at.env);
        let first = || arguments().positional.first().map(|argument| self.eval(argument));
        let (package, last) = (path.split('.').next().unwrap_or(path), path.rsplit('.').next().unwrap_or(path));
        match (package, last) {
            ("boto3" | "botocore" | "aioboto3" | "aiobotocore" | "session", "Config" | "AioConfig") => {
                return self.traced(Value::Config(Rc::new(arguments().named)), at);
            }
            // Of boto3 itself, or of anything that has sessions.
            (_, "client" | "create_client") if path.contains('.') => {
                return self.made(&self.service(at).unwrap_or_else(|| Rc::clone(path)), at);
            }
            _ => {}
        }
        match &**path {
            "dict" => {
                let arguments = arguments();
                let given = arguments.positional.first().map(|argument| self.eval(argument));
                let dict = match given.map(|given| given.value) {
                    None => arguments.named,
                    Some(Value::Dict(given)) => {
                        let mut dict = (*given).clone();
                        dict.update(&arguments.named);
                        dict
                    }
                    Some(_) => return self.unknown(at, "what `dict()` returns".to_owned()),
                };
                self.traced(Value::Dict(Rc::new(dict)), at)
            }
            "int" | "float" | "str" | "round" => match first() {
                Some(Traced { value: Value::Text(text), span }) if &**path != "str" => match number(&text) {
                    Some(number) => Traced { value: Value::Number(number), span },
                    None => self.unknown(at, "a text that is no number".to_owned()),
                },
                Some(Traced { value: Value::Number(number), span }) if matches!(&**path, "int" | "round") => {
                    let whole = if &**path == "int" { number.trunc() } else { number.round_ties_even() };
                    Traced { value: Value::Number(whole), span }
                }
                Some(Traced { value: Value::Number(_), .. }) if &**path == "str" => {
                    self.unknown(at, "a number as text".to_owned())
                }
                Some(value) => value,
                None => self.unknown(at, format!("what `{path}()` returns")),
            },
            "os.getenv" | "os.environ.get" => match first().map(|name| name.value) {
                Some(Value::Text(name)) => self.environment(&name, at),
                _ => self.unknown(at, "an environment variable".to_owned()),
            },
            "min" | "max" => self.extreme(&arguments(), &**path == "min", at),
            "bytes" | "bytearray" | "copy.copy" | "copy.deepcopy" => {
                first().unwrap_or_else(|| self.unknown(at, format!("what `{path}()` returns")))
            }
            "typing.cast" => match arguments().positional.get(1) {
                Some(value) => self.eval(value),
                None => self.unknown(at, "what `cast()` returns".to_owned()),
            },
            _ if last == "dumps" => match first() {
                Some(value) => self.traced(Value::Json(Rc::new(value)), at),
                None => self.unknown(at, "what `dumps()` returns".to_owned()),
            },
            _ => self.made(path, at),
        }
    }

    fn extreme(&self, arguments: &Arguments<'t>, least: bool, at: &At<'t>) -> Traced<'t> {
        let values: Vec<_> = arguments.positional.iter().map(|argument| self.eval(argument)).collect();
        let numbers: Vec<f64> = values
            .iter()
            .filter_map(|value| match value.value {
                Value::Number(number) => Some(number),
                _ => None,
            })
            .collect();
        let best = numbers.iter().copied().reduce(if least { f64::min } else { f64::max });
        match best {
            Some(best) if numbers.len() == values.len() && !arguments.splat && values.len() > 1 => {
                let span = values.iter().zip(&numbers).find(|(_, number)| **number == best).map(|(value, _)| value.span);
                let traced = self.traced(Value::Number(best), at);
                Traced { span: span.unwrap_or(traced.span), ..traced }
            }
            _ => self.unknown(at, format!("what `{}` returns", self.dotted(at.node, at.scope))),
        }
    }
}
