//! Conditions: which branch of `Fn::If` counts, and which resources exist.

use super::Template;
use super::evaluate::{DEEPEST, call};
use crate::engine::deployment::Unresolved;
use crate::sources::iac::value::{Traced, Value};
use crate::sources::tree::Node;

impl Template<'_> {
    pub(super) fn branch(&self, argument: &Node, node: &Node) -> Traced {
        let [name, yes, no] = argument.items() else {
            return self.unresolved(node, "`Fn::If` takes a condition and two values", None);
        };
        let Some(name) = name.text() else { return self.unresolved(node, "`Fn::If` without a condition's name", None) };
        match self.condition(name) {
            Ok(true) => self.eval(yes),
            Ok(false) => self.eval(no),
            Err(unresolved) => {
                let (yes, no) = (self.eval(yes), self.eval(no));
                if yes.value == no.value && !matches!(yes.value, Value::Unresolved(_)) {
                    return yes;
                }
                let why = format!("condition `{name}` is not known: {}", unresolved.why);
                self.unresolved(node, why, unresolved.give)
            }
        }
    }

    /// Whether a named condition holds.
    pub(crate) fn condition(&self, name: &str) -> Result<bool, Unresolved> {
        match self.section("Conditions").and_then(|conditions| conditions.get(name)) {
            Some(expression) => self.holds(expression),
            None => Err(Unresolved { why: format!("there is no condition `{name}`"), give: None, place: None }),
        }
    }

    fn holds(&self, node: &Node) -> Result<bool, Unresolved> {
        let fail = |why: &str| Err(Unresolved { why: why.to_owned(), give: None, place: Some(self.place(node)) });
        if self.depth.get() >= DEEPEST {
            return fail("conditions lead too deep");
        }
        let Some(call) = call(node) else { return fail("this is no condition") };
        self.depth.set(self.depth.get() + 1);
        let items = call.argument.items();
        let result = match (call.name, items) {
            ("Condition", _) => match call.argument.text() {
                Some(name) => self.condition(name),
                None => fail("`Condition` without a name"),
            },
            ("Not", [inner]) => self.holds(inner).map(|holds| !holds),
            ("And", items) => self.all(items, false).map(|decided| decided.is_none()),
            ("Or", items) => self.all(items, true).map(|decided| decided.is_some()),
            ("Equals", [a, b]) => match (self.eval(a).value, self.eval(b).value) {
                (Value::Unresolved(unresolved), _) | (_, Value::Unresolved(unresolved)) => Err(unresolved),
                (a, b) => match (a.text(), b.text()) {
                    (Some(a), Some(b)) if !a.contains("${AWS.") && !b.contains("${AWS.") => Ok(a == b),
                    _ => fail("a value of it is only known on deployment"),
                },
            },
            _ => fail("this is no condition"),
        };
        self.depth.set(self.depth.get() - 1);
        result
    }

    /// The first of the conditions that decides: that is false for `And`, true for `Or`. One that is not known only matters
    /// where no other one decides.
    fn all(&self, items: &[Node], deciding: bool) -> Result<Option<bool>, Unresolved> {
        let mut unknown = None;
        for item in items {
            match self.holds(item) {
                Ok(holds) if holds == deciding => return Ok(Some(holds)),
                Ok(_) => {}
                Err(unresolved) => unknown = Some(unresolved),
            }
        }
        unknown.map_or(Ok(None), Err)
    }
}
