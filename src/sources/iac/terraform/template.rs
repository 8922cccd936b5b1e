//! Templates: texts, JSON in texts, and ARNs of which only the name is known.

use std::ops::Range;
use std::rc::Rc;

use hcl_edit::Span;
use hcl_edit::template::{Directive, Element, ForDirective, Template};

use super::evaluate::{Evaluator, Outcome, Scope, pairs, unknown_of, why_unknown};
use super::value::{Reference, Traced, Value, from_node};
use crate::engine::deployment::Unresolved;
use crate::engine::fact::{Fact, Place, Source};
use crate::sources::iac::text::File;
use crate::sources::tree;

/// Longer texts are not put together.
const LONGEST: usize = 1 << 20;

/// Stand around the number of a value that stands in a JSON text.
const OPEN: char = '\u{e000}';
const CLOSE: char = '\u{e001}';

pub(super) enum Part {
    /// With its bytes in the file, where its lines end there as they do here.
    Text(Rc<str>, Option<Range<usize>>),
    Value(Traced),
}

impl<'a> Evaluator<'a> {
    pub(super) fn template(&self, scope: &Scope<'a>, template: &Template, place: &Place) -> Outcome {
        if let Some(Element::Interpolation(only)) = template.as_single_element() {
            return self.eval(scope, &only.expr);
        }
        let mut parts = Vec::new();
        self.parts(scope, template, &mut parts)?;
        let is_json = matches!(parts.first(), Some(Part::Text(text, _)) if text.trim_start().starts_with('{'));
        if is_json && let Some(value) = self.json(scope, &parts, place) {
            return Ok(value);
        }
        self.assemble(&parts, place)
    }

    fn parts(&self, scope: &Scope<'a>, template: &Template, parts: &mut Vec<Part>) -> Result<(), Rc<Unresolved>> {
        for element in template {
            match element {
                Element::Literal(text) => {
                    let span = element.span().filter(|span| ends_of_lines(scope.file, span, text.value()));
                    parts.push(Part::Text(Rc::from(text.value().as_str()), span));
                }
                Element::Interpolation(inner) => parts.push(Part::Value(self.value(scope, &inner.expr))),
                Element::Directive(directive) => match &**directive {
                    Directive::If(choice) => {
                        let condition = self.eval(scope, &choice.if_expr.cond_expr)?;
                        let place = scope.place(&choice.if_expr.cond_expr);
                        match (condition.value.boolean(), &choice.else_expr) {
                            (Some(true), _) => self.parts(scope, &choice.if_expr.template, parts)?,
                            (Some(false), Some(other)) => self.parts(scope, &other.template, parts)?,
                            (Some(false), None) => {}
                            (None, _) => {
                                parts.push(Part::Value(unknown_of(&condition, "the condition is not known", &place)));
                            }
                        }
                    }
                    Directive::For(each) => self.repeat(scope, each, parts)?,
                },
            }
        }
        Ok(())
    }

    fn repeat(&self, scope: &Scope<'a>, each: &ForDirective, parts: &mut Vec<Part>) -> Result<(), Rc<Unresolved>> {
        let each = &each.for_expr;
        let place = scope.place(&each.collection_expr);
        let collection = self.eval(scope, &each.collection_expr)?;
        for (key, value) in pairs(&collection, &place)? {
            self.spend(1, &place)?;
            let mut inner = scope.with(each.value_var.as_str(), value);
            if let Some(name) = &each.key_var {
                inner = inner.with(name.as_str(), key);
            }
            self.parts(&inner, &each.template, parts)?;
        }
        Ok(())
    }

    /// One text out of parts. An ARN keeps the reference or the name in it though other parts are unknown.
    pub(super) fn assemble(&self, parts: &[Part], place: &Place) -> Outcome {
        let known: Vec<Option<Rc<str>>> = parts
            .iter()
            .map(|part| match part {
                Part::Text(text, _) => Some(Rc::clone(text)),
                Part::Value(value) => self.text(value),
            })
            .collect();
        let mut text = String::new();
        for (at, part) in parts.iter().enumerate() {
            if let Part::Value(value) = part
                && names_its_object(value)
                && is_place_of_name(&text, parts.get(at + 1))
            {
                return Ok(value.clone());
            }
            text.push_str(known.get(at).and_then(Option::as_deref).unwrap_or("?"));
            if text.len() > LONGEST {
                return Err(super::evaluate::mistake("the text is too long", place.clone()));
            }
        }
        let unknown = parts.iter().zip(&known).find_map(|(part, known)| match part {
            Part::Value(value) if known.is_none() => Some(value),
            _ => None,
        });
        match unknown {
            Some(value) if !has_whole_name(&text) => Ok(unknown_of(value, "expected a text", place)),
            _ => Ok(Fact::new(Value::text_from(&text), Source::Written(place.clone()))),
        }
    }

    /// The JSON that the parts spell: as `jsonencode` would have it, with places of what stands in the file as it is.
    fn json(&self, scope: &Scope<'a>, parts: &[Part], place: &Place) -> Option<Traced> {
        let mut text = String::new();
        // Bytes of lines in the text, and where each stands in the file.
        let mut spans: Vec<(Range<usize>, usize)> = Vec::new();
        for (at, part) in parts.iter().enumerate() {
            match part {
                Part::Text(literal, span) => {
                    if let Some(written) = span.as_ref().and_then(|span| scope.file.text.get(span.clone())) {
                        let (mut here, mut there) = (text.len(), span.as_ref().map_or(0, |span| span.start));
                        for (line, own) in literal.split_inclusive('\n').zip(written.split_inclusive('\n')) {
                            there += own.len();
                            spans.push((here..here + line.len(), there - line.len()));
                            here += line.len();
                        }
                    }
                    text.push_str(literal);
                }
                Part::Value(_) => text.push_str(&format!("{OPEN}{at}{CLOSE}")),
            }
        }
        self.spend(text.len() / 16, place).ok()?;
        let node = tree::Node::parse(&text).ok()?;
        let mut locate = |node: &tree::Node| {
            let next = spans.partition_point(|(span, _)| span.start <= node.span.start);
            let found = next.checked_sub(1).and_then(|at| spans.get(at)).filter(|(span, _)| node.span.start < span.end);
            Some(found.map_or_else(
                || place.clone(),
                |(span, start)| {
                    let begin = start + (node.span.start - span.start);
                    scope.file.place(&(begin..begin + node.span.end.min(span.end).saturating_sub(node.span.start)))
                },
            ))
        };
        let mut replace = |node: &tree::Node, _: Option<Place>| {
            let text = node.text().filter(|text| text.contains(OPEN))?;
            let mut inner = Vec::new();
            for piece in text.split_inclusive(CLOSE) {
                let (literal, number) = piece.split_once(OPEN).unwrap_or((piece, ""));
                if !literal.is_empty() {
                    inner.push(Part::Text(Rc::from(literal), None));
                }
                if let Ok(at) = number.trim_end_matches(CLOSE).parse::<usize>()
                    && let Some(Part::Value(value)) = parts.get(at)
                {
                    inner.push(Part::Value(value.clone()));
                }
            }
            match inner.as_slice() {
                [Part::Value(value)] => Some(value.clone()),
                _ => self.assemble(&inner, place).ok(),
            }
        };
        from_node(&node, &mut locate, &mut replace).filter(|read| matches!(read.value, Value::Map(_)))
    }

    /// A text that is needed: with why it is not known otherwise.
    pub(super) fn needed_text(&self, value: &Traced, place: &Place) -> Result<Rc<str>, Rc<Unresolved>> {
        self.text(value).ok_or_else(|| why_unknown(value, "expected a text", place))
    }
}

/// Whether the lines of a text are those of the file, but for what an indented heredoc leaves out before them.
fn ends_of_lines(file: &File, span: &Range<usize>, text: &str) -> bool {
    let Some(written) = file.text.get(span.clone()) else { return false };
    let (mut lines, mut own) = (text.split_inclusive('\n'), written.split_inclusive('\n'));
    loop {
        match (lines.next(), own.next()) {
            (None, None) => return true,
            (Some(line), Some(written)) if written.ends_with(line) => {}
            _ => return false,
        }
    }
}

/// Whether a reference is a queue's or a function's name or ARN.
fn names_its_object(value: &Traced) -> bool {
    let Value::Reference(Reference { kind, attribute: Some(attribute), .. }) = &value.value else { return false };
    let kind = kind.strip_prefix("data.").unwrap_or(kind);
    let is_identity = attribute.ends_with("name") || attribute.ends_with("arn") || matches!(&**attribute, "id" | "url");
    matches!(kind, "aws_sqs_queue" | "aws_lambda_function" | "aws_lambda_alias" | "module") && is_identity
}

/// Whether what comes after `before` is a name in an ARN or URL, or the text is it alone, up to a qualifier.
fn is_place_of_name(before: &str, after: Option<&Part>) -> bool {
    let ends = match after {
        None => true,
        Some(Part::Text(text, _)) => text.starts_with(':'),
        Some(Part::Value(_)) => false,
    };
    let starts = before.is_empty()
        || (before.starts_with("arn:") && before.ends_with(':'))
        || (before.starts_with("https://") && before.ends_with('/'));
    starts && ends
}

/// Whether the last part of an ARN is known, though others are `?`.
fn has_whole_name(text: &str) -> bool {
    text.starts_with("arn:")
        && ["sqs", "lambda"]
            .iter()
            .any(|service| crate::sources::iac::value::name_of_arn(text, service).is_some_and(|name| !name.contains('?')))
}
