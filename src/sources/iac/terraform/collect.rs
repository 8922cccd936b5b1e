//! Walks a root module and what it calls, and collects the resources of pipelines with their values.

use std::collections::BTreeSet;
use std::rc::Rc;

use hcl_edit::structure::Body;

use super::evaluate::{Evaluator, Scope, absorb};
use super::folder::Kind;
use super::instance::Thing;
use super::item::Item;
use super::registry;
use super::value::{Entry, Value};
use crate::engine::fact::{Fact, Source};

/// Resources and data sources that are read.
pub(super) const KINDS: [&str; 17] = [
    "aws_sqs_queue",
    "aws_sqs_queue_redrive_policy",
    "aws_lambda_function",
    "aws_lambda_alias",
    "aws_lambda_event_source_mapping",
    "aws_iam_role",
    "aws_iam_role_policy",
    "aws_iam_policy",
    "aws_iam_role_policy_attachment",
    "aws_iam_policy_attachment",
    "archive_file",
    "data.aws_sqs_queue",
    "data.aws_lambda_function",
    "data.aws_lambda_alias",
    "data.aws_iam_role",
    "data.aws_iam_policy",
    "data.aws_iam_policy_document",
];

/// As a data source it is the same.
const ARCHIVE: &str = "data.archive_file";

pub(super) fn is_read(kind: &str) -> bool {
    kind == ARCHIVE || KINDS.contains(&kind)
}

impl<'a> Evaluator<'a> {
    /// The items of all modules, and the folders that were walked.
    pub(super) fn collect(&self) -> (Vec<Item>, BTreeSet<String>) {
        let mut items = Vec::new();
        let mut walked = BTreeSet::new();
        let mut next = 0;
        // Modules are added to the list as they are called.
        let mut pending = vec![0];
        while let Some(index) = pending.get(next).copied() {
            next += 1;
            let Some(instance) = self.instance(index) else { continue };
            walked.insert(instance.folder.path.to_owned());
            for declaration in 0..instance.folder.declarations.len() {
                let Some(expansion) = self.expand(index, declaration) else { continue };
                for (key, _) in &expansion.instances {
                    let thing = Thing { instance: index, declaration, key: key.clone() };
                    match self.child(&thing) {
                        Some(child) => pending.push(child),
                        None => items.extend(self.items(&thing)),
                    }
                }
            }
            if self.is_exhausted() {
                break;
            }
        }
        (items, walked)
    }

    fn items(&self, thing: &Thing) -> Vec<Item> {
        let found = self.scope_of(thing).zip(self.address(thing)).zip(self.refer(thing.clone(), None));
        let Some((((scope, declaration), address), reference)) = found else { return Vec::new() };
        let root = self.instance(0).map_or("", |root| root.folder.path);
        let own = declaration.file.folder();
        let near = if own == root { vec![own.to_owned()] } else { vec![own.to_owned(), root.to_owned()] };
        let place = declaration.place();
        if declaration.kind == Kind::Module {
            let Some(module) = declaration.literal("source").and_then(registry::module) else { return Vec::new() };
            let inputs = self.body(&scope, &declaration.block.body);
            return registry::Call { address, inputs, place, base: root.to_owned(), near }.items(module);
        }
        if !is_read(&reference.kind) {
            return Vec::new();
        }
        let values = self.body(&scope, &declaration.block.body);
        vec![Item { address, kind: reference.kind, place, values, base: root.to_owned(), near }]
    }

    /// Attributes, and blocks as lists of maps.
    fn body(&self, scope: &Scope<'a>, body: &'a Body) -> Value {
        let mut entries: Vec<Entry> = body.attributes().map(|attribute| self.attribute(scope, attribute)).collect();
        let names: BTreeSet<&str> = body
            .blocks()
            .filter_map(|block| match block.ident.as_str() {
                "dynamic" => block.labels.first().map(hcl_edit::structure::BlockLabel::as_str),
                name => Some(name),
            })
            .collect();
        for name in names {
            entries.push(self.blocks(scope, body, name));
        }
        Value::map(entries)
    }

    fn blocks(&self, scope: &Scope<'a>, body: &'a Body, name: &str) -> Entry {
        let header = body
            .blocks()
            .find(|block| block.ident.as_str() == name || block.labels.first().is_some_and(|label| label.as_str() == name));
        let place = header.map(|block| super::folder::header(scope.file, block));
        let value = match self.sections(scope, body, name) {
            Ok(sections) => {
                let of_each = |section: &super::evaluate::Section<'a>| {
                    Fact::new(self.body(&section.scope, section.body), Source::Written(section.place.clone()))
                };
                let source = place.clone().map_or_else(|| Source::Derived("no block".to_owned()), Source::Written);
                Fact::new(Value::list(sections.iter().map(of_each).collect()), source)
            }
            Err(unresolved) => absorb(Err(unresolved)),
        };
        Entry { key: Rc::from(name), place, value }
    }
}
