//! Chains of calls and what fills an object: setters, literals of objects, lambdas, assignments to fields.

use super::names::{DEPTH, Next, bare};
use super::{Id, Kind, Program, Word};
use crate::engine::deployment::Unresolved;

/// A setter's call, a field of an object's literal, or an assignment to a field.
#[derive(Clone, Debug)]
pub(crate) struct Step {
    pub(crate) at: Id,
    pub(crate) name: Word,
    pub(crate) arguments: Vec<Id>,
}

/// An expression's beginning, and what is done to it: `Client.builder()` and so on.
#[derive(Clone, Debug)]
pub(crate) struct Chain {
    pub(crate) root: Id,
    pub(crate) steps: Vec<Step>,
    /// Why the root is not followed further.
    pub(crate) unknown: Option<String>,
}

impl Chain {
    /// The last step of a name: later ones overwrite.
    pub(crate) fn last(&self, names: &[&str]) -> Option<&Step> {
        self.steps.iter().rev().find(|step| names.contains(&step.name.text.as_str()))
    }
}

impl Program {
    /// Takes a chain of calls apart, through names and own functions, with the statements that go on filling it.
    pub(crate) fn chain(&self, id: Id) -> Chain {
        let mut steps = Vec::new();
        let (root, unknown) = self.chain_into(id, 0, &mut steps, 0);
        Chain { root, steps, unknown }
    }

    fn chain_into(&self, id: Id, part: usize, steps: &mut Vec<Step>, depth: usize) -> (Id, Option<String>) {
        if depth > 4 * DEPTH || !self.step() {
            return (id, Some("a chain of references that is too long to follow".to_owned()));
        }
        match self.next(id, part) {
            Next::To(next, of) => {
                let result = self.chain_into(next, of, steps, depth + 1);
                if let Kind::Name(name) = self.kind(id)
                    && let Some(declaration) = self.declaration(name, id)
                {
                    self.filling(name, declaration, declaration, steps);
                }
                result
            }
            Next::Unknown(why) => (id, Some(why)),
            Next::Stop => match self.kind(id) {
                Kind::Call { object: Some(object), name, arguments } => {
                    let result = self.chain_into(*object, 0, steps, depth + 1);
                    steps.push(Step { at: id, name: name.clone(), arguments: arguments.clone() });
                    result
                }
                Kind::New { entries, .. } => {
                    steps.extend(entries.iter().filter_map(|&entry| match self.kind(entry) {
                        Kind::Entry { name, value } => Some(Step { at: entry, name: name.clone(), arguments: vec![*value] }),
                        _ => None,
                    }));
                    (id, None)
                }
                _ => (id, None),
            },
        }
    }

    /// What the statements after a declaration do to what it declares.
    pub(crate) fn filled_later(&self, declaration: Id) -> Vec<Step> {
        let mut steps = Vec::new();
        if let Kind::Declare { name, .. } = self.kind(declaration) {
            self.filling(name, declaration, declaration, &mut steps);
        }
        steps
    }

    /// The statements of a block that fill what a name stands for: `b.x(1).y(2);`, `b.x = 1;`.
    fn filling(&self, name: &str, declaration: Id, scope_of: Id, steps: &mut Vec<Step>) {
        let Some(scope) = self.around(scope_of).skip(1).find(|&up| self.kind(up).is_scope()) else { return };
        let mine = |at: Id| {
            matches!(self.kind(at), Kind::Name(of) if of == name)
                && (at == declaration || self.declaration(name, at) == Some(declaration))
        };
        for at in self.within(scope) {
            if !self.step() {
                return;
            }
            match self.kind(at) {
                Kind::Call { object: Some(object), .. } if self.is_statement(at, name) && mine(self.innermost(*object)) => {
                    self.links(at, steps);
                }
                // The same name again, with more: `let b = b.x();`.
                Kind::Declare { name: again, value: Some(value), .. }
                    if again == name && at != declaration && mine(self.innermost(*value)) =>
                {
                    self.links(*value, steps);
                }
                Kind::Assign { target, value, .. } => {
                    if let Kind::Member { object, name } = self.kind(*target)
                        && mine(self.innermost(*object))
                    {
                        steps.push(Step { at, name: name.clone(), arguments: vec![*value] });
                    }
                }
                _ => {}
            }
        }
    }

    /// Whether a call is a statement of its own, or assigned back to the name that it begins with.
    fn is_statement(&self, call: Id, name: &str) -> bool {
        match self.kind(self.node(call).parent) {
            Kind::Scope(_) => true,
            Kind::Assign { target, value, .. } => *value == call && matches!(self.kind(*target), Kind::Name(of) if of == name),
            Kind::If { .. } | Kind::Group(_) => true,
            _ => false,
        }
    }

    /// The calls of a chain, first one first.
    fn links(&self, call: Id, steps: &mut Vec<Step>) {
        let mut links = Vec::new();
        let mut at = call;
        while let Kind::Call { object: Some(object), name, arguments } = self.kind(at) {
            links.push(Step { at, name: name.clone(), arguments: arguments.clone() });
            at = *object;
        }
        steps.extend(links.into_iter().rev());
    }

    /// What a lambda does to its parameter, by calls on it and assignments to its fields. `None` where it is no lambda.
    pub(crate) fn lambda_steps(&self, id: Id) -> Option<Vec<Step>> {
        let Kind::Function { parameters, body: Some(body), .. } = self.kind(id) else { return None };
        let (parameter, name) = parameters.first().and_then(|&first| match self.kind(first) {
            Kind::Parameter { name, .. } => Some((first, name.clone())),
            _ => None,
        })?;
        let mut steps = Vec::new();
        let mine =
            |at: Id| matches!(self.kind(at), Kind::Name(of) if *of == name) && self.declaration(&name, at) == Some(parameter);
        for at in self.within(*body) {
            match self.kind(at) {
                Kind::Call { object: Some(object), .. } if mine(self.innermost(*object)) => {
                    // Only whole chains: the outermost call holds the others.
                    let parent = self.node(at).parent;
                    if !matches!(self.kind(parent), Kind::Call { object: Some(object), .. } if *object == at) {
                        self.links(at, &mut steps);
                    }
                }
                Kind::Assign { target, value, .. } => {
                    if let Kind::Member { object, name } = self.kind(*target)
                        && mine(self.innermost(*object))
                    {
                        steps.push(Step { at, name: name.clone(), arguments: vec![*value] });
                    }
                }
                _ => {}
            }
        }
        Some(steps)
    }

    /// What fills an object: a lambda's steps on its parameter, or a chain's. The reason where it is neither.
    pub(crate) fn filled(&self, id: Id) -> Result<Chain, Unresolved> {
        let target = self.follow(id).unwrap_or(id);
        if let Some(steps) = self.lambda_steps(target) {
            return Ok(Chain { root: target, steps, unknown: None });
        }
        let chain = self.chain(id);
        match &chain.unknown {
            Some(why) => Err(self.unresolved(id, why.clone())),
            None => Ok(chain),
        }
    }

    /// The name that a chain begins with, where it is one of a library: a type, a package.
    pub(crate) fn root_name(&self, chain: &Chain) -> Option<&str> {
        match self.kind(chain.root) {
            Kind::Name(name) if chain.unknown.is_none() => Some(name),
            Kind::Member { name, .. } if chain.unknown.is_none() => Some(&name.text),
            Kind::New { of, .. } => Some(bare(of)),
            _ => None,
        }
    }
}
