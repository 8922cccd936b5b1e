//! Evaluates expressions as far as the files decide them; what they do not is unknown, with why.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, HashMap};
use std::rc::Rc;

use hcl_edit::Span;
use hcl_edit::expr::{Expression, Object, ObjectKey};
use hcl_edit::structure::{Attribute, Block, Body};

use super::folder::Folder;
use super::instance::{Instance, Key, Thing};
use super::value::{Entry, Traced, Value, place_of};
use super::variables::Inputs;
use crate::engine::deployment::Unresolved;
use crate::engine::fact::{Fact, Place, Source};
use crate::sources::iac::text::File;

/// A value, or the mistake that `try` passes over. A value that is only unknown is no mistake.
pub(super) type Outcome = Result<Traced, Rc<Unresolved>>;

/// How deep expressions and what they refer to may nest.
const DEEPEST: usize = 120;

/// How much may be evaluated for one root module.
const MOST_STEPS: usize = 2_000_000;

/// Where an expression stands: the module instance, the file, and the names that are bound there.
#[derive(Clone)]
pub(super) struct Scope<'a> {
    pub(super) instance: usize,
    pub(super) file: &'a File,
    pub(super) bindings: Option<Rc<Binding>>,
}

/// `each`, `count`, an iterator or a variable of a `for` expression.
pub(super) struct Binding {
    pub(super) name: Rc<str>,
    pub(super) value: Traced,
    pub(super) next: Option<Rc<Self>>,
}

impl Scope<'_> {
    pub(super) fn place(&self, of: &impl Span) -> Place {
        self.file.place(&of.span().unwrap_or(0..0))
    }

    #[must_use]
    pub(super) fn with(&self, name: &str, value: Traced) -> Self {
        let binding = Binding { name: Rc::from(name), value, next: self.bindings.clone() };
        Self { bindings: Some(Rc::new(binding)), ..self.clone() }
    }

    pub(super) fn bound(&self, name: &str) -> Option<Traced> {
        let mut next = self.bindings.as_ref();
        while let Some(binding) = next {
            if &*binding.name == name {
                return Some(binding.value.clone());
            }
            next = binding.next.as_ref();
        }
        None
    }
}

/// A block with the scope that its body is evaluated in.
pub(super) struct Section<'a> {
    pub(super) scope: Scope<'a>,
    pub(super) body: &'a Body,
    pub(super) place: Place,
}

/// One root module and all that it calls.
pub(super) struct Evaluator<'a> {
    pub(super) folders: &'a BTreeMap<&'a str, Folder<'a>>,
    pub(super) inputs: &'a Inputs<'a>,
    pub(super) instances: RefCell<Vec<Rc<Instance<'a>>>>,
    /// What addresses of references stand for.
    pub(super) things: RefCell<HashMap<Rc<str>, Thing>>,
    depth: Cell<usize>,
    steps: Cell<usize>,
    /// Inside of `try` and `can`, where a mistake in a member is one of the whole.
    strict: Cell<bool>,
}

struct Level<'e>(&'e Cell<usize>);

impl Drop for Level<'_> {
    fn drop(&mut self) {
        self.0.set(self.0.get().saturating_sub(1));
    }
}

pub(super) fn mistake(why: impl Into<String>, place: Place) -> Rc<Unresolved> {
    Rc::new(Unresolved { why: why.into(), give: None, place: Some(place) })
}

/// A mistake is unknown where nobody passes over it.
pub(super) fn absorb(outcome: Outcome) -> Traced {
    outcome.unwrap_or_else(|unresolved| {
        let source = unresolved.place.clone().map_or_else(|| Source::Derived("unknown".to_owned()), Source::Written);
        Fact::new(Value::Unknown(unresolved), source)
    })
}

impl<'a> Evaluator<'a> {
    pub(super) fn new(folders: &'a BTreeMap<&'a str, Folder<'a>>, inputs: &'a Inputs<'a>, root: &'a Folder<'a>) -> Self {
        Self {
            folders,
            inputs,
            instances: RefCell::new(vec![Rc::new(Instance::root(root))]),
            things: RefCell::default(),
            depth: Cell::new(0),
            steps: Cell::new(0),
            strict: Cell::new(false),
        }
    }

    pub(super) fn instance(&self, index: usize) -> Option<Rc<Instance<'a>>> {
        self.instances.borrow().get(index).cloned()
    }

    /// Counts work; nothing more is evaluated once there has been too much.
    pub(super) fn spend(&self, steps: usize, place: &Place) -> Result<(), Rc<Unresolved>> {
        self.charge(steps);
        if self.is_exhausted() { Err(mistake("there is too much to evaluate", place.clone())) } else { Ok(()) }
    }

    pub(super) fn charge(&self, steps: usize) {
        self.steps.set(self.steps.get().saturating_add(steps));
    }

    pub(super) fn is_exhausted(&self) -> bool {
        self.steps.get() > MOST_STEPS
    }

    /// The value of an expression, where a mistake is unknown too.
    pub(super) fn value(&self, scope: &Scope<'a>, expression: &Expression) -> Traced {
        absorb(self.eval(scope, expression))
    }

    /// A member of a list or a map.
    pub(super) fn member_value(&self, scope: &Scope<'a>, expression: &Expression) -> Outcome {
        let outcome = self.eval(scope, expression);
        if self.strict.get() { outcome } else { Ok(absorb(outcome)) }
    }

    /// Works something out where mistakes are passed over, or where they are not.
    pub(super) fn strictly<T>(&self, strict: bool, work: impl FnOnce() -> T) -> T {
        let before = self.strict.replace(strict);
        let done = work();
        self.strict.set(before);
        done
    }

    pub(super) fn eval(&self, scope: &Scope<'a>, expression: &Expression) -> Outcome {
        let place = scope.place(expression);
        self.depth.set(self.depth.get() + 1);
        let _level = Level(&self.depth);
        if self.depth.get() > DEEPEST {
            return Err(mistake("expressions are nested too deep", place));
        }
        let value = self.expression(scope, expression, &place)?;
        self.spend(1 + value.value.weight(), &place)?;
        Ok(value)
    }

    fn expression(&self, scope: &Scope<'a>, expression: &Expression, place: &Place) -> Outcome {
        let written = |value| Ok(Fact::new(value, Source::Written(place.clone())));
        match expression {
            Expression::Null(_) => written(Value::Null),
            Expression::Bool(value) => written(Value::Bool(*value.value())),
            Expression::Number(number) => match number.value().as_f64().filter(|number| number.is_finite()) {
                Some(number) => written(Value::Number(number)),
                None => Err(mistake("the number is too large", place.clone())),
            },
            Expression::String(text) => written(Value::text_from(text.value())),
            Expression::Array(items) => {
                written(Value::list(items.iter().map(|item| self.member_value(scope, item)).collect::<Result<_, _>>()?))
            }
            Expression::Object(object) => self.object(scope, object, place),
            Expression::StringTemplate(template) => self.template(scope, template, place),
            Expression::HeredocTemplate(heredoc) => self.template(scope, &heredoc.template, place),
            Expression::Parenthesis(inner) => self.eval(scope, inner.inner()),
            Expression::Variable(name) => scope
                .bound(name.as_str())
                .ok_or_else(|| mistake(format!("`{}` is nothing that can be referred to", name.as_str()), place.clone())),
            Expression::Conditional(conditional) => self.conditional(scope, conditional),
            Expression::FuncCall(call) => self.call(scope, call, place),
            Expression::Traversal(traversal) => self.traversal(scope, traversal, place),
            Expression::UnaryOp(operation) => self.unary(scope, operation, place),
            Expression::BinaryOp(operation) => self.binary(scope, operation, place),
            Expression::ForExpr(each) => self.for_expression(scope, each, place),
        }
    }

    fn object(&self, scope: &Scope<'a>, object: &Object, place: &Place) -> Outcome {
        let mut entries: Vec<Entry> = Vec::with_capacity(object.len());
        for (key, value) in object {
            let (text, key_place) = match key {
                ObjectKey::Ident(ident) => (Rc::from(ident.as_str()), scope.place(ident)),
                ObjectKey::Expression(expression) => {
                    let key = self.eval(scope, expression)?;
                    match self.text(&key) {
                        Some(text) => (text, scope.place(expression)),
                        None => return Ok(unknown_of(&key, "a key is not known", place)),
                    }
                }
            };
            entries.push(Entry { key: text, place: Some(key_place), value: self.member_value(scope, value.expr())? });
        }
        Ok(Fact::new(Value::map(entries), Source::Written(place.clone())))
    }

    /// An attribute of a body.
    pub(super) fn attribute(&self, scope: &Scope<'a>, attribute: &Attribute) -> Entry {
        let key = Rc::from(attribute.key.as_str());
        Entry { key, place: Some(scope.place(&attribute.key)), value: self.value(scope, &attribute.value) }
    }

    /// The blocks of a name, and those that `dynamic` blocks make; or why it is not known how many.
    pub(super) fn sections(&self, scope: &Scope<'a>, body: &'a Body, name: &str) -> Result<Vec<Section<'a>>, Rc<Unresolved>> {
        let mut sections = Vec::new();
        for block in body.blocks() {
            let dynamic = block.ident.as_str() == "dynamic" && block.labels.first().is_some_and(|label| label.as_str() == name);
            if block.ident.as_str() == name {
                let place = super::folder::header(scope.file, block);
                sections.push(Section { scope: scope.clone(), body: &block.body, place });
            } else if dynamic {
                self.dynamic(scope, block, name, &mut sections)?;
            }
        }
        Ok(sections)
    }

    fn dynamic(
        &self,
        scope: &Scope<'a>,
        block: &'a Block,
        name: &str,
        sections: &mut Vec<Section<'a>>,
    ) -> Result<(), Rc<Unresolved>> {
        let place = super::folder::header(scope.file, block);
        let iterator = match block.body.get_attribute("iterator").map(|attribute| &attribute.value) {
            Some(Expression::Variable(ident)) => ident.as_str(),
            Some(Expression::String(text)) => text.value().as_str(),
            _ => name,
        };
        let (Some(each), Some(content)) =
            (block.body.get_attribute("for_each"), block.body.get_blocks("content").next().map(|block| &block.body))
        else {
            return Ok(());
        };
        let each = self.eval(scope, &each.value)?;
        for (key, value) in pairs(&each, &place)? {
            self.spend(1, &place)?;
            let item = Value::map(vec![
                Entry { key: Rc::from("key"), place: None, value: key },
                Entry { key: Rc::from("value"), place: None, value },
            ]);
            let bound = Fact::new(item, Source::Written(place.clone()));
            sections.push(Section { scope: scope.with(iterator, bound), body: content, place: place.clone() });
        }
        Ok(())
    }
}

/// The keys and values that a `for` runs over; a list's keys are its positions.
pub(super) fn pairs(collection: &Traced, place: &Place) -> Result<Vec<(Traced, Traced)>, Rc<Unresolved>> {
    match &collection.value {
        Value::List(items) => Ok(items
            .iter()
            .enumerate()
            .map(|(at, item)| (Fact::new(Value::Number(Key::number(at)), item.source.clone()), item.clone()))
            .collect()),
        Value::Map(entries) => Ok(entries
            .iter()
            .map(|entry| {
                let source = entry.place.clone().map_or_else(|| entry.value.source.clone(), Source::Written);
                (Fact::new(Value::Text(Rc::clone(&entry.key)), source), entry.value.clone())
            })
            .collect()),
        Value::Null => Err(mistake("null has no members", place.clone())),
        _ => Err(why_unknown(collection, "this is no collection", place)),
    }
}

/// Why a value that is needed is not there.
pub(super) fn why_unknown(value: &Traced, otherwise: &str, place: &Place) -> Rc<Unresolved> {
    match &value.value {
        Value::Unknown(unresolved) => Rc::clone(unresolved),
        Value::Reference(reference) => Rc::new(reference.unresolved(Some(place_of(value).unwrap_or_else(|| place.clone())))),
        _ => mistake(otherwise, place.clone()),
    }
}

pub(super) fn unknown_of(value: &Traced, otherwise: &str, place: &Place) -> Traced {
    Fact::new(Value::Unknown(why_unknown(value, otherwise, place)), Source::Written(place.clone()))
}
