//! Variables of the Serverless Framework: `${self:custom.x}`, `${opt:stage, 'dev'}`, `${file(x.yml):a.b}`, one inside another.

use std::cell::Cell;
use std::collections::BTreeMap;

use crate::engine::deployment::Unresolved;
use crate::engine::fact::Source;
use crate::sources::iac::Given;
use crate::sources::iac::cloudformation::join;
use crate::sources::iac::text::File;
use crate::sources::iac::value::{Traced, Value};
use crate::sources::tree::{Node, Value as Tree};

/// How deep variables may lead to variables.
const DEEPEST: u32 = 60;

/// A service with the files that it includes.
pub(super) struct Service<'a> {
    pub(super) file: &'a File,
    pub(super) root: &'a Node,
    pub(super) documents: &'a BTreeMap<String, (File, Node)>,
    pub(super) given: &'a Given,
    pub(super) depth: Cell<u32>,
}

/// What a variable stands for.
pub(super) enum Found<'a> {
    Node(&'a File, &'a Node),
    Value(Traced),
    Unresolved(Unresolved),
    /// There is none: the next fallback is taken.
    Missing(String),
}

/// A piece of a text: as it is, or inside `${...}`.
enum Piece<'t> {
    Text(&'t str),
    Variable(&'t str),
}

/// Cuts a text at its outermost `${...}`.
fn pieces(text: &str) -> Vec<Piece<'_>> {
    let mut pieces = Vec::new();
    let mut rest = text;
    while let Some(at) = rest.find("${") {
        let mut depth = 0_usize;
        let end = rest[at..].char_indices().find_map(|(i, c)| {
            match c {
                '{' => depth += 1,
                '}' => depth = depth.saturating_sub(1),
                _ => return None,
            }
            (c == '}' && depth == 0).then_some(at + i)
        });
        let Some(end) = end else { break };
        if at > 0 {
            pieces.push(Piece::Text(&rest[..at]));
        }
        pieces.push(Piece::Variable(&rest[at + 2..end]));
        rest = &rest[end + 1..];
    }
    if !rest.is_empty() {
        pieces.push(Piece::Text(rest));
    }
    pieces
}

/// Whether what stands in `${...}` is a variable of the framework; `${AWS::Region}` and `${Queue.Arn}` are CloudFormation's.
fn is_variable(inner: &str) -> bool {
    let source: String = inner.trim_start().chars().take_while(char::is_ascii_alphanumeric).collect();
    let rest = inner.trim_start().get(source.len()..).unwrap_or_default();
    match source.as_str() {
        "self" | "opt" | "env" | "sls" | "param" | "ssm" | "cf" | "s3" | "aws" | "git" | "output" | "terraform" | "vault" => {
            rest.starts_with([':', '.', '(']) && !rest.starts_with("::")
        }
        "file" | "strToBool" => rest.starts_with('('),
        _ => false,
    }
}

/// Cuts at commas that stand in no quotes, braces or brackets.
fn split_fallbacks(inner: &str) -> Vec<&str> {
    let (mut depth, mut quote, mut start) = (0_i32, None, 0);
    let mut parts = Vec::new();
    for (i, c) in inner.char_indices() {
        match (quote, c) {
            (Some(open), c) if c == open => quote = None,
            (Some(_), _) => {}
            (None, '\'' | '"') => quote = Some(c),
            (None, '{' | '(') => depth += 1,
            (None, '}' | ')') => depth -= 1,
            (None, ',') if depth == 0 => {
                parts.push(inner[start..i].trim());
                start = i + 1;
            }
            _ => {}
        }
    }
    parts.push(inner[start..].trim());
    parts
}

impl<'a> Service<'a> {
    /// The value of a scalar that holds variables; `None` where it holds none.
    pub(super) fn scalar(&self, file: &File, node: &Node) -> Option<Traced> {
        let text = node.text().filter(|text| text.contains("${"))?;
        let pieces = pieces(text);
        if !pieces.iter().any(|piece| matches!(piece, Piece::Variable(inner) if is_variable(inner))) {
            return None;
        }
        let place = file.place(&node.span);
        let written = |value| Traced::new(value, Source::Written(place.clone()));
        if let [Piece::Variable(inner)] = pieces.as_slice() {
            return Some(match self.variable(inner, file, node) {
                Found::Node(file, node) => self.value(file, node),
                Found::Value(value) => value,
                Found::Unresolved(unresolved) => written(Value::Unresolved(unresolved)),
                Found::Missing(why) => {
                    written(Value::Unresolved(Unresolved { why, give: give(inner), place: Some(place.clone()) }))
                }
            });
        }
        let mut out = String::new();
        for piece in pieces {
            match piece {
                Piece::Text(text) => out.push_str(text),
                Piece::Variable(inner) if !is_variable(inner) => out.push_str(&format!("${{{inner}}}")),
                Piece::Variable(inner) => match self.text(inner, file, node) {
                    Ok(text) => out.push_str(&text),
                    Err(unresolved) => return Some(written(Value::Unresolved(unresolved))),
                },
            }
        }
        Some(written(Value::Text(out)))
    }

    /// The text that a variable stands for.
    fn text(&self, inner: &str, file: &File, node: &Node) -> Result<String, Unresolved> {
        let place = || Some(file.place(&node.span));
        let value = match self.variable(inner, file, node) {
            Found::Node(file, node) => self.value(file, node),
            Found::Value(value) => value,
            Found::Unresolved(unresolved) => return Err(unresolved),
            Found::Missing(why) => return Err(Unresolved { why, give: give(inner), place: place() }),
        };
        match value.value {
            Value::Unresolved(unresolved) => Err(unresolved),
            value => {
                value.text().ok_or_else(|| Unresolved { why: format!("`{inner}` is no text"), give: None, place: place() })
            }
        }
    }

    /// A variable with its fallbacks: the first that is there.
    pub(super) fn variable(&self, inner: &str, file: &File, node: &Node) -> Found<'a> {
        if self.depth.get() >= DEEPEST {
            return self.unresolved("variables lead too deep", file, node);
        }
        self.depth.set(self.depth.get() + 1);
        let mut missing = format!("`${{{}}}` is not set", inner.trim());
        let mut found = None;
        for part in split_fallbacks(inner) {
            match self.part(part, file, node) {
                Found::Missing(why) => missing = why,
                other => {
                    found = Some(other);
                    break;
                }
            }
        }
        self.depth.set(self.depth.get() - 1);
        found.unwrap_or(Found::Missing(missing))
    }

    fn unresolved(&self, why: &str, file: &File, node: &Node) -> Found<'a> {
        let _ = self;
        Found::Unresolved(Unresolved { why: why.to_owned(), give: None, place: Some(file.place(&node.span)) })
    }

    /// One of the fallbacks: a literal, a variable in braces, or an address with its source.
    fn part(&self, part: &str, file: &File, node: &Node) -> Found<'a> {
        let literal = |value| Found::Value(Traced::new(value, Source::Written(file.place(&node.span))));
        for quote in ['\'', '"'] {
            if let Some(text) = part.strip_prefix(quote).and_then(|rest| rest.strip_suffix(quote)) {
                return literal(Value::Text(text.to_owned()));
            }
        }
        if let Ok(number) = part.parse::<f64>() {
            return literal(Value::Number(number));
        }
        match part {
            "true" | "false" => return literal(Value::Bool(part == "true")),
            "null" => return literal(Value::Null),
            _ => {}
        }
        if let [Piece::Variable(inner)] = pieces(part).as_slice() {
            return self.variable(inner, file, node);
        }
        // Variables inside an address are texts of it.
        let mut address = String::new();
        for piece in pieces(part) {
            match piece {
                Piece::Text(text) => address.push_str(text),
                Piece::Variable(inner) => match self.text(inner, file, node) {
                    Ok(text) => address.push_str(&text),
                    Err(unresolved) => return Found::Unresolved(unresolved),
                },
            }
        }
        self.address(&address, file, node)
    }

    fn address(&self, address: &str, file: &File, node: &Node) -> Found<'a> {
        if let Some(rest) = address.strip_prefix("file(") {
            let Some((path, rest)) = rest.split_once(')') else {
                return self.unresolved("`file(` without its `)`", file, node);
            };
            let path = join(file.folder(), path.trim().trim_matches(['\'', '"']));
            let Some((included, root)) = self.documents.get(&path) else {
                return self.unresolved(&format!("the file `{path}` is not there, or no YAML or JSON"), file, node);
            };
            return self.walk(included, root, rest.trim_start_matches(':'));
        }
        let (source, path) = address.split_once(':').unwrap_or((address, ""));
        let source = source.split(['.', '(']).next().unwrap_or(source).trim();
        let path = path.trim();
        match source {
            "self" => self.walk(self.file, self.root, path),
            "opt" => self.option(path),
            "sls" if path == "stage" => Found::Value(self.stage()),
            "param" => self.parameter(path),
            "env" => Found::Missing(format!("environment variable `{path}` is not known")),
            "ssm" | "cf" | "s3" | "aws" | "git" | "output" | "terraform" | "vault" | "sls" => {
                self.unresolved(&format!("`{source}:` is read on deployment"), file, node)
            }
            _ => self.unresolved(&format!("`{source}` is no source of variables that is known"), file, node),
        }
    }

    fn option(&self, name: &str) -> Found<'a> {
        match self.given.parameters.iter().rev().find(|(given, _)| given == name) {
            Some((_, value)) => {
                Found::Value(Traced::new(Value::Text(value.clone()), Source::Flag(format!("--parameter {name}"))))
            }
            None => Found::Missing(format!("option `{name}` is not given")),
        }
    }

    /// The stage: the option, the provider's, or `dev`.
    fn stage(&self) -> Traced {
        if let Found::Value(value) = self.option("stage") {
            return value;
        }
        let provider = self.root.get("provider").and_then(|provider| provider.get("stage"));
        match provider.map(|node| self.value(self.file, node)) {
            Some(value) if value.value.text().is_some() => value,
            _ => Traced::new(Value::Text("dev".to_owned()), Source::Default("stage of the Serverless Framework")),
        }
    }

    fn parameter(&self, name: &str) -> Found<'a> {
        if let Found::Value(value) = self.option(name) {
            return Found::Value(value);
        }
        let stage = self.stage().value.text().unwrap_or_default();
        for stage in [stage.as_str(), "default"] {
            let old = self.root.get("params").and_then(|params| params.get(stage)?.get(name));
            let new = || self.root.get("stages").and_then(|stages| stages.get(stage)?.get("params")?.get(name));
            if let Some(node) = old.or_else(new) {
                return Found::Node(self.file, node);
            }
        }
        Found::Missing(format!("parameter `{name}` is not set"))
    }

    /// Follows a path of keys and indices; where it meets a variable, through that.
    fn walk(&self, file: &'a File, root: &'a Node, path: &str) -> Found<'a> {
        let (mut file, mut node) = (file, root);
        for key in path.split('.').filter(|key| !key.is_empty()) {
            if let Some((at, target)) = self.follow(file, node) {
                (file, node) = (at, target);
            }
            let next = node.get(key).or_else(|| node.items().get(key.parse::<usize>().ok()?));
            match next {
                Some(next) => node = next,
                None => return Found::Missing(format!("there is no `{path}`")),
            }
        }
        Found::Node(file, node)
    }

    /// The node that a scalar stands for, where it is one variable.
    pub(super) fn follow(&self, file: &File, node: &Node) -> Option<(&'a File, &'a Node)> {
        let text = node.text()?;
        let pieces = pieces(text);
        let [Piece::Variable(inner)] = pieces.as_slice() else { return None };
        if !is_variable(inner) {
            return None;
        }
        if self.depth.get() >= DEEPEST {
            return None;
        }
        self.depth.set(self.depth.get() + 1);
        let found = match self.variable(inner, file, node) {
            Found::Node(file, node) => self.follow(file, node).or(Some((file, node))),
            _ => None,
        };
        self.depth.set(self.depth.get() - 1);
        found
    }

    /// The value of a node, variables followed.
    pub(super) fn value(&self, file: &File, node: &Node) -> Traced {
        if self.depth.get() >= DEEPEST {
            let unresolved =
                Unresolved { why: "variables lead too deep".to_owned(), give: None, place: Some(file.place(&node.span)) };
            return Traced::new(Value::Unresolved(unresolved), Source::Written(file.place(&node.span)));
        }
        self.depth.set(self.depth.get() + 1);
        let scalar = self.scalar(file, node);
        self.depth.set(self.depth.get() - 1);
        if let Some(value) = scalar {
            return value;
        }
        self.depth.set(self.depth.get() + 1);
        let value = match &node.value {
            Tree::Scalar { .. } if node.is_null() => Value::Null,
            Tree::Scalar { text, .. } => match (node.number(), node.boolean()) {
                (Some(number), _) => Value::Number(number),
                (None, Some(boolean)) => Value::Bool(boolean),
                (None, None) => Value::Text(text.clone()),
            },
            Tree::Sequence(items) => Value::List(items.iter().map(|item| self.value(file, item)).collect()),
            Tree::Mapping(entries) => self.attribute(entries).unwrap_or_else(|| {
                Value::Map(
                    entries.iter().filter_map(|(key, value)| Some((key.text()?.to_owned(), self.value(file, value)))).collect(),
                )
            }),
        };
        self.depth.set(self.depth.get() - 1);
        Traced::new(value, Source::Written(file.place(&node.span)))
    }

    /// `Fn::GetAtt` and `Ref` inside a value that a variable stands for.
    fn attribute(&self, entries: &[(Node, Node)]) -> Option<Value> {
        let [(key, argument)] = entries else { return None };
        let (name, attribute) = match key.text()? {
            "Fn::GetAtt" => match argument.items() {
                [name, attribute] => (name.text()?, attribute.text()?),
                _ => argument.text()?.split_once('.')?,
            },
            "Ref" => (argument.text()?, "Ref"),
            _ => return None,
        };
        Some(Value::Attribute { resource: format!("{}{name}", self.prefix()), attribute: attribute.to_owned() })
    }

    /// Before logical ids, as in templates.
    pub(super) fn prefix(&self) -> String {
        format!("{}#", self.file.path)
    }

    /// Paths of files that any scalar of a document includes.
    pub(super) fn includes(&self, file: &File, node: &Node, out: &mut Vec<String>) {
        match &node.value {
            Tree::Scalar { text, .. } => {
                let mut rest = text.as_str();
                while let Some(at) = rest.find("file(") {
                    rest = &rest[at + 5..];
                    let Some(end) = closing(rest) else { break };
                    let mut path = String::new();
                    for piece in pieces(&rest[..end]) {
                        match piece {
                            Piece::Text(text) => path.push_str(text),
                            Piece::Variable(inner) => path.push_str(&self.text(inner, file, node).unwrap_or_default()),
                        }
                    }
                    out.push(join(file.folder(), path.trim().trim_matches(['\'', '"'])));
                    rest = &rest[end..];
                }
            }
            Tree::Sequence(items) => items.iter().for_each(|item| self.includes(file, item, out)),
            Tree::Mapping(entries) => entries.iter().for_each(|(_, value)| self.includes(file, value, out)),
        }
    }
}

/// The byte of the `)` that closes what is open.
fn closing(text: &str) -> Option<usize> {
    let mut depth = 0_i32;
    text.char_indices().find_map(|(i, c)| {
        match c {
            '(' | '{' => depth += 1,
            ')' if depth == 0 => return Some(i),
            ')' | '}' => depth -= 1,
            _ => {}
        }
        None
    })
}

/// How to give what a variable lacks.
fn give(inner: &str) -> Option<String> {
    let first = inner.split(',').next().unwrap_or(inner).trim();
    let name = first.strip_prefix("opt:").or_else(|| first.strip_prefix("param:"))?;
    Some(format!("--parameter {name}=..."))
}
