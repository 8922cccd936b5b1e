//! Operators, conditionals and `for` expressions.

use std::rc::Rc;

use hcl_edit::expr::{BinaryOp, BinaryOperator, Conditional, ForExpr, UnaryOp, UnaryOperator};

use super::evaluate::{Evaluator, Outcome, Scope, mistake, pairs, unknown_of, why_unknown};
use super::value::{Entry, Traced, Value};
use crate::engine::deployment::Unresolved;
use crate::engine::fact::{Fact, Place, Source};

impl<'a> Evaluator<'a> {
    pub(super) fn conditional(&self, scope: &Scope<'a>, conditional: &Conditional) -> Outcome {
        let condition = self.eval(scope, &conditional.cond_expr)?;
        match condition.value.boolean() {
            Some(true) => self.eval(scope, &conditional.true_expr),
            Some(false) => self.eval(scope, &conditional.false_expr),
            None => {
                let place = scope.place(&conditional.cond_expr);
                let (yes, no) = (self.value(scope, &conditional.true_expr), self.value(scope, &conditional.false_expr));
                // Whichever it is, it is the same.
                if self.equal(&yes, &no) == Some(true) {
                    return Ok(yes);
                }
                Ok(unknown_of(&condition, "the condition is not known", &place))
            }
        }
    }

    pub(super) fn unary(&self, scope: &Scope<'a>, operation: &UnaryOp, place: &Place) -> Outcome {
        let operand = self.eval(scope, &operation.expr)?;
        let value = match operation.operator.value() {
            UnaryOperator::Neg => operand.value.number().map(|number| Value::Number(-number)),
            UnaryOperator::Not => operand.value.boolean().map(|value| Value::Bool(!value)),
        };
        computed(value, &[&operand], place)
    }

    pub(super) fn binary(&self, scope: &Scope<'a>, operation: &BinaryOp, place: &Place) -> Outcome {
        let left = self.eval(scope, &operation.lhs_expr)?;
        let operator = *operation.operator.value();
        // One side decides, whatever the other is.
        let decides = match operator {
            BinaryOperator::And => Some(false),
            BinaryOperator::Or => Some(true),
            _ => None,
        };
        if decides.is_some() && left.value.boolean() == decides {
            return Ok(Fact::new(left.value, Source::Written(place.clone())));
        }
        let right = self.eval(scope, &operation.rhs_expr)?;
        let numbers = || Some((left.value.number()?, right.value.number()?));
        let calculated = |result: fn(f64, f64) -> f64| {
            numbers().map(|(a, b)| result(a, b)).filter(|number| number.is_finite()).map(Value::Number)
        };
        let compared = |result: fn(&f64, &f64) -> bool| numbers().map(|(a, b)| Value::Bool(result(&a, &b)));
        let value = match operator {
            BinaryOperator::And | BinaryOperator::Or => {
                if right.value.boolean() == decides {
                    decides.map(Value::Bool)
                } else {
                    left.value.boolean().and(right.value.boolean()).map(Value::Bool)
                }
            }
            BinaryOperator::Eq => self.equal(&left, &right).map(Value::Bool),
            BinaryOperator::NotEq => self.equal(&left, &right).map(|equal| Value::Bool(!equal)),
            BinaryOperator::Plus => calculated(|a, b| a + b),
            BinaryOperator::Minus => calculated(|a, b| a - b),
            BinaryOperator::Mul => calculated(|a, b| a * b),
            BinaryOperator::Div => calculated(|a, b| a / b),
            BinaryOperator::Mod => calculated(|a, b| a % b),
            BinaryOperator::Less => compared(f64::lt),
            BinaryOperator::LessEq => compared(f64::le),
            BinaryOperator::Greater => compared(f64::gt),
            BinaryOperator::GreaterEq => compared(f64::ge),
        };
        computed(value, &[&left, &right], place)
    }

    /// Whether two values are equal, where that can be told.
    pub(super) fn equal(&self, left: &Traced, right: &Traced) -> Option<bool> {
        match (&left.value, &right.value) {
            (Value::Unknown(_), _) | (_, Value::Unknown(_)) => None,
            (Value::Reference(a), Value::Reference(b)) if a == b => Some(true),
            (Value::Reference(_), Value::Null) | (Value::Null, Value::Reference(_)) => Some(false),
            (Value::Reference(_), Value::Text(text)) | (Value::Text(text), Value::Reference(_)) if text.is_empty() => {
                Some(false)
            }
            (Value::Reference(_), _) | (_, Value::Reference(_)) => Some(self.text(left)? == self.text(right)?),
            (Value::List(a), Value::List(b)) => self.all_equal(a.len() == b.len(), a.iter().zip(b.iter())),
            (Value::Map(a), Value::Map(b)) => {
                let same_keys = a.len() == b.len() && a.iter().all(|entry| right.value.entry(&entry.key).is_some());
                let both = a.iter().filter_map(|entry| Some((&entry.value, &right.value.entry(&entry.key)?.value)));
                self.all_equal(same_keys, both)
            }
            (a, b) => Some(a == b),
        }
    }

    fn all_equal<'v>(&self, same_shape: bool, mut both: impl Iterator<Item = (&'v Traced, &'v Traced)>) -> Option<bool> {
        if !same_shape {
            return Some(false);
        }
        both.try_fold(true, |so_far, (a, b)| {
            self.charge(1);
            if self.is_exhausted() { None } else { Some(so_far && self.equal(a, b)?) }
        })
    }

    pub(super) fn for_expression(&self, scope: &Scope<'a>, each: &ForExpr, place: &Place) -> Outcome {
        let collection = self.eval(scope, &each.intro.collection_expr)?;
        if matches!(collection.value, Value::Unknown(_)) {
            return Ok(collection);
        }
        let mut items = Vec::new();
        let mut entries: Vec<Entry> = Vec::new();
        for (key, value) in pairs(&collection, place)? {
            self.spend(1, place)?;
            let mut inner = scope.with(each.intro.value_var.as_str(), value);
            if let Some(name) = &each.intro.key_var {
                inner = inner.with(name.as_str(), key);
            }
            if let Some(condition) = &each.cond {
                let condition = self.eval(&inner, &condition.expr)?;
                match condition.value.boolean() {
                    Some(true) => {}
                    Some(false) => continue,
                    None => return Ok(unknown_of(&condition, "the condition is not known", place)),
                }
            }
            let value = self.member_value(&inner, &each.value_expr)?;
            match &each.key_expr {
                None => items.push(value),
                Some(key) => {
                    let key = self.eval(&inner, key)?;
                    let Some(text) = self.text(&key) else {
                        return Ok(unknown_of(&key, "a key is not known", place));
                    };
                    let work = add(&mut entries, text, value, each.grouping);
                    self.spend(work, place)?;
                }
            }
        }
        let value = if each.key_expr.is_some() { Value::map(entries) } else { Value::list(items) };
        Ok(Fact::new(value, Source::Written(place.clone())))
    }
}

/// Adds a member; says how much work that was.
fn add(entries: &mut Vec<Entry>, key: Rc<str>, value: Traced, grouping: bool) -> usize {
    let work = entries.len() / 16;
    let at = entries.iter().position(|entry| entry.key == key);
    match at.and_then(|at| entries.get_mut(at)) {
        Some(entry) if grouping => {
            let mut items = match &entry.value.value {
                Value::List(items) => items.to_vec(),
                _ => Vec::new(),
            };
            items.push(value);
            let copied = items.len();
            entry.value.value = Value::list(items);
            return work + copied;
        }
        Some(entry) => entry.value = value,
        None => {
            let value = if grouping {
                let source = value.source.clone();
                Fact::new(Value::list(vec![value]), source)
            } else {
                value
            };
            entries.push(Entry { key, place: None, value });
        }
    }
    work
}

/// A value that was worked out here; unknown where an operand is, else a mistake.
pub(super) fn computed(value: Option<Value>, operands: &[&Traced], place: &Place) -> Outcome {
    match value {
        Some(value) => Ok(Fact::new(value, Source::Written(place.clone()))),
        None => missing(operands, place),
    }
}

fn missing(operands: &[&Traced], place: &Place) -> Outcome {
    let unknown = operands.iter().find(|operand| matches!(operand.value, Value::Unknown(_) | Value::Reference(_)));
    let why: Option<Rc<Unresolved>> = unknown.map(|operand| why_unknown(operand, "", place));
    match why {
        Some(why) => Ok(Fact::new(Value::Unknown(why), Source::Written(place.clone()))),
        None => Err(mistake("this cannot be worked out", place.clone())),
    }
}
