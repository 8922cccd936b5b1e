//! What expressions refer to: variables, local values, modules and their outputs, resources and data sources.

use std::rc::Rc;

use hcl_edit::Decorated;
use hcl_edit::expr::{Expression, Traversal, TraversalOperator};

use super::evaluate::{Evaluator, Outcome, Scope, mistake, unknown_of};
use super::folder::{self, Kind};
use super::instance::{Key, Slot, Thing};
use super::registry;
use super::value::{Entry, Reference, Traced, Value};
use crate::engine::deployment::Unresolved;
use crate::engine::fact::{Fact, Place, Source};

type Operators<'e> = &'e [Decorated<TraversalOperator>];

/// One step from a value to a member of it.
enum Step<'s> {
    Name(&'s str),
    /// In brackets: the key may be anything, and is not repeated in messages.
    Key(&'s str),
    Index(usize),
}

impl<'a> Evaluator<'a> {
    pub(super) fn traversal(&self, scope: &Scope<'a>, traversal: &Traversal, place: &Place) -> Outcome {
        let operators = traversal.operators.as_slice();
        let Expression::Variable(root) = &traversal.expr else {
            let base = self.eval(scope, &traversal.expr)?;
            return self.follow(scope, base, operators, place);
        };
        if let Some(bound) = scope.bound(root.as_str()) {
            return self.follow(scope, bound, operators, place);
        }
        let name = |at: usize| match operators.get(at).map(Decorated::value) {
            Some(TraversalOperator::GetAttr(ident)) => Some(ident.as_str()),
            _ => None,
        };
        let nothing = || mistake(format!("`{}` is nothing that can be referred to", root.as_str()), place.clone());
        let first = name(0).ok_or_else(nothing)?;
        let (value, used) = match root.as_str() {
            "var" => (self.variable(scope.instance, first, place)?, 1),
            "local" => (self.local(scope.instance, first, place)?, 1),
            "path" => (self.path(scope, first, place)?, 1),
            "terraform" | "self" | "each" | "count" => {
                let why = format!("`{}.{first}` is not known from the files", root.as_str());
                (Fact::new(Value::unknown(why, Some(place.clone())), Source::Written(place.clone())), operators.len())
            }
            "module" => self.declared(scope, (Kind::Module, "", first), operators, 1, place)?,
            "data" => self.declared(scope, (Kind::Data, first, name(1).ok_or_else(nothing)?), operators, 2, place)?,
            of => self.declared(scope, (Kind::Resource, of, first), operators, 1, place)?,
        };
        self.follow(scope, value, operators.get(used..).unwrap_or_default(), place)
    }

    fn path(&self, scope: &Scope<'a>, name: &str, place: &Place) -> Outcome {
        let path = match (name, self.instance(scope.instance)) {
            ("module", Some(instance)) if !instance.path.is_empty() => instance.path.clone(),
            ("module" | "root" | "cwd", _) => ".".to_owned(),
            _ => return Err(mistake("there is no such path", place.clone())),
        };
        Ok(Fact::new(Value::text_from(&path), Source::Written(place.clone())))
    }

    pub(super) fn local(&self, instance: usize, name: &str, place: &Place) -> Outcome {
        let missing = || mistake(format!("there is no local value `{name}`"), place.clone());
        let found = self.instance(instance).ok_or_else(missing)?;
        let (name, named) = found.folder.locals.get_key_value(name).ok_or_else(missing)?;
        let scope = Scope { instance, file: named.file, bindings: None };
        found.once(Slot::Local, name, place, || self.strictly(false, || self.eval(&scope, named.value)))
    }

    fn output(&self, instance: usize, name: &str, place: &Place) -> Outcome {
        let missing = || mistake(format!("the module has no output `{name}`"), place.clone());
        let found = self.instance(instance).ok_or_else(missing)?;
        let (name, named) = found.folder.outputs.get_key_value(name).ok_or_else(missing)?;
        let scope = Scope { instance, file: named.file, bindings: None };
        found.once(Slot::Output, name, place, || self.strictly(false, || self.eval(&scope, named.value)))
    }

    /// A resource, a data source or a module, and how many operators name it.
    fn declared(
        &self,
        scope: &Scope<'a>,
        (kind, of, name): (Kind, &str, &str),
        operators: Operators<'_>,
        used: usize,
        place: &Place,
    ) -> Result<(Traced, usize), Rc<Unresolved>> {
        let missing = || {
            let shown = match kind {
                Kind::Resource => format!("{of}.{name}"),
                Kind::Data => format!("data.{of}.{name}"),
                Kind::Module => format!("module.{name}"),
            };
            mistake(format!("`{shown}` is in none of the files"), place.clone())
        };
        let instance = self.instance(scope.instance).ok_or_else(missing)?;
        let declaration = instance.folder.find(kind, of, name).ok_or_else(missing)?;
        let expansion = self.expand(scope.instance, declaration).ok_or_else(missing)?;
        let refer = |key: &Key| {
            let thing = Thing { instance: scope.instance, declaration, key: key.clone() };
            let reference = self.refer(thing, None).ok_or_else(missing)?;
            Ok::<_, Rc<Unresolved>>(Fact::new(Value::Reference(reference), Source::Written(place.clone())))
        };
        let index = match operators.get(used).map(Decorated::value) {
            Some(TraversalOperator::Index(expression)) => Some(self.value(scope, expression)),
            Some(TraversalOperator::LegacyIndex(index)) => {
                let number = u32::try_from(*index.value()).map_or(f64::INFINITY, f64::from);
                Some(Fact::new(Value::Number(number), Source::Written(place.clone())))
            }
            _ => None,
        };
        if !expansion.known {
            // One instance stands for all.
            return Ok((refer(&Key::Only)?, used + usize::from(index.is_some())));
        }
        if matches!(expansion.instances.as_slice(), [(Key::Only, _)]) {
            return Ok((refer(&Key::Only)?, used));
        }
        if let Some(index) = index {
            let key = expansion.instances.iter().map(|(key, _)| key).find(|key| match key {
                Key::Index(at) => index.value.number() == Some(Key::number(*at)),
                Key::Name(name) => self.text(&index).as_ref() == Some(name),
                Key::Only => false,
            });
            return match key {
                Some(key) => Ok((refer(key)?, used + 1)),
                None if self.text(&index).is_some() => Err(mistake("there is no such instance", place.clone())),
                None => Ok((unknown_of(&index, "the instance is not known", place), operators.len())),
            };
        }
        self.spend(expansion.instances.len(), place)?;
        let is_list = expansion.instances.iter().all(|(key, _)| matches!(key, Key::Index(_)));
        let named = instance.folder.declarations.get(declaration).is_some_and(|of| of.block.body.has_attribute("for_each"));
        let value = if is_list && !named {
            Value::list(expansion.instances.iter().map(|(key, _)| refer(key)).collect::<Result<_, _>>()?)
        } else {
            let mut entries = Vec::with_capacity(expansion.instances.len());
            for (key, _) in &expansion.instances {
                if let Key::Name(name) = key {
                    entries.push(Entry { key: Rc::clone(name), place: None, value: refer(key)? });
                }
            }
            Value::map(entries)
        };
        Ok((Fact::new(value, Source::Written(place.clone())), used))
    }

    fn follow(&self, scope: &Scope<'a>, from: Traced, operators: Operators<'_>, place: &Place) -> Outcome {
        let mut value = from;
        for (at, operator) in operators.iter().enumerate() {
            let rest = operators.get(at + 1..).unwrap_or_default();
            value = match operator.value() {
                TraversalOperator::GetAttr(name) => self.member(value, &Step::Name(name.as_str()), place)?,
                TraversalOperator::LegacyIndex(index) => {
                    let index = usize::try_from(*index.value()).unwrap_or(usize::MAX);
                    self.member(value, &Step::Index(index), place)?
                }
                TraversalOperator::Index(expression) => {
                    let key = self.value(scope, expression);
                    self.indexed(value, &key, place)?
                }
                TraversalOperator::AttrSplat(_) => {
                    let attributes = rest
                        .iter()
                        .position(|operator| !matches!(operator.value(), TraversalOperator::GetAttr(_)))
                        .unwrap_or(rest.len());
                    let (each, after) = rest.split_at(attributes);
                    let list = self.splat(scope, value, each, place)?;
                    return self.follow(scope, list, after, place);
                }
                TraversalOperator::FullSplat(_) => return self.splat(scope, value, rest, place),
            };
        }
        Ok(value)
    }

    fn splat(&self, scope: &Scope<'a>, value: Traced, each: Operators<'_>, place: &Place) -> Outcome {
        let items: Vec<Traced> = match &value.value {
            Value::Unknown(_) => return Ok(value),
            Value::Null => Vec::new(),
            Value::List(items) => items.to_vec(),
            _ => vec![value.clone()],
        };
        self.spend(items.len(), place)?;
        let followed = items.into_iter().map(|item| self.follow(scope, item, each, place)).collect::<Result<_, _>>()?;
        Ok(Fact::new(Value::list(followed), Source::Written(place.clone())))
    }

    pub(super) fn indexed(&self, value: Traced, key: &Traced, place: &Place) -> Outcome {
        if matches!(&value.value, Value::Unknown(_) | Value::Reference(Reference { attribute: Some(_), .. })) {
            return self.member(value, &Step::Index(0), place);
        }
        match (&key.value, self.text(key)) {
            (Value::Number(number), _) => {
                let index = (0..=1_000_000).find(|index| Key::number(*index) >= *number);
                self.member(value, &Step::Index(index.unwrap_or(usize::MAX)), place)
            }
            (_, Some(text)) => self.member(value, &Step::Key(&text), place),
            (_, None) => Ok(unknown_of(key, "the key is not known", place)),
        }
    }

    fn member(&self, value: Traced, step: &Step<'_>, place: &Place) -> Outcome {
        let absent = || match step {
            Step::Name(name) => mistake(format!("there is no `{name}` in it"), place.clone()),
            Step::Key(_) | Step::Index(_) => mistake("there is no such member", place.clone()),
        };
        let found = match (&value.value, step) {
            (Value::Unknown(_), _) => return Ok(value),
            (Value::Reference(reference), _) if reference.attribute.is_some() => {
                return Ok(unknown_of(&value, "it is known only after apply", place));
            }
            (Value::Reference(reference), Step::Name(name) | Step::Key(name)) => {
                return self.attribute_of(&reference.address, name, place);
            }
            (Value::Reference(_), Step::Index(_)) => return Ok(value),
            (Value::Map(_), Step::Name(name) | Step::Key(name)) => value.value.entry(name).map(|entry| entry.value.clone()),
            (Value::Map(_), Step::Index(index)) => value.value.entry(&index.to_string()).map(|entry| entry.value.clone()),
            (Value::List(items), Step::Index(index)) => items.get(*index).cloned(),
            (Value::List(items), Step::Key(text)) => text.parse().ok().and_then(|index: usize| items.get(index).cloned()),
            _ => None,
        };
        found.ok_or_else(absent)
    }

    /// An attribute of a resource, or an output of a module.
    pub(super) fn attribute_of(&self, address: &Rc<str>, name: &str, place: &Place) -> Outcome {
        let missing = || mistake(format!("`{address}` is in none of the files"), place.clone());
        let thing = self.things.borrow().get(address).cloned().ok_or_else(missing)?;
        let (scope, declaration) = self.scope_of(&thing).ok_or_else(missing)?;
        let reference = |attribute: &str| {
            let reference = self.refer(thing.clone(), Some(attribute)).ok_or_else(missing)?;
            Ok(Fact::new(Value::Reference(reference), Source::Written(place.clone())))
        };
        if declaration.kind == Kind::Module {
            if let Some(child) = self.child(&thing) {
                return self.output(child, name, place);
            }
            let source = declaration.literal("source").unwrap_or_default();
            if registry::module(source).is_some() {
                return reference(name);
            }
            let why = if folder::is_local(source) {
                format!("the folder of `{address}` is not among those that were read")
            } else {
                format!("`{address}` is a module that is not among the files")
            };
            return Ok(Fact::new(Value::unknown(why, Some(place.clone())), Source::Written(place.clone())));
        }
        if is_identity(declaration.of, name) {
            return reference(name);
        }
        match declaration.block.body.get_attribute(name) {
            // A null attribute has the provider's value.
            Some(attribute) => match self.strictly(false, || self.eval(&scope, &attribute.value))? {
                Fact { value: Value::Null, .. } => default_of(declaration.of, name).map_or_else(|| reference(name), Ok),
                value => Ok(value),
            },
            None => default_of(declaration.of, name).map_or_else(|| reference(name), Ok),
        }
    }

    /// A text, also a number's, also the name of a resource that stands in the files.
    pub(super) fn text(&self, value: &Traced) -> Option<Rc<str>> {
        match &value.value {
            Value::Reference(Reference { address, attribute: Some(attribute), .. }) => self.name_of(address, attribute),
            other => other.text(),
        }
    }

    fn name_of(&self, address: &Rc<str>, attribute: &str) -> Option<Rc<str>> {
        let thing = self.things.borrow().get(address).cloned()?;
        let (scope, declaration) = self.scope_of(&thing)?;
        let written = match declaration.kind {
            Kind::Module => registry::module(declaration.literal("source")?)?.name_behind(attribute)?,
            Kind::Resource | Kind::Data if is_identity(declaration.of, attribute) => attribute,
            _ => return None,
        };
        self.value(&scope, &declaration.block.body.get_attribute(written)?.value).value.text()
    }
}

/// Whether an attribute says which resource it is: it is followed to the resource, and not to its value.
fn is_identity(of: &str, attribute: &str) -> bool {
    match of {
        "aws_sqs_queue" | "aws_iam_role" | "aws_iam_policy" => attribute == "name",
        "aws_lambda_function" => attribute == "function_name",
        "archive_file" => attribute == "output_path",
        _ => false,
    }
}

/// What the provider sets where the files do not.
fn default_of(of: &str, attribute: &str) -> Option<Traced> {
    let (value, whose) = match (of, attribute) {
        ("aws_sqs_queue", "visibility_timeout_seconds") => (30.0, super::SQS_DEFAULT),
        ("aws_sqs_queue", "message_retention_seconds") => (345_600.0, super::SQS_DEFAULT),
        ("aws_lambda_function", "timeout") => (3.0, super::LAMBDA_DEFAULT),
        _ => return None,
    };
    Some(Fact::new(Value::Number(value), Source::Default(whose)))
}
