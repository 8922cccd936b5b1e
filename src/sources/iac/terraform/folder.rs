//! The files of one folder: what they declare, by name.

use std::collections::BTreeMap;

use hcl_edit::Span;
use hcl_edit::expr::Expression;
use hcl_edit::structure::{Attribute, Block, Body};

use crate::engine::fact::Place;
use crate::sources::iac::Unreadable;
use crate::sources::iac::text::File;
use crate::sources::path::follow;

/// A file and its syntax tree.
#[derive(Debug)]
pub(super) struct Parsed {
    pub(super) file: File,
    pub(super) body: Body,
}

/// Reads one file.
pub(super) fn parse(file: &File) -> Result<Parsed, Unreadable> {
    // As Terraform does: a byte order mark says nothing. Spaces keep the offsets.
    let text = match file.text.strip_prefix('\u{feff}') {
        Some(rest) => format!("   {rest}"),
        None => file.text.to_string(),
    };
    match hcl_edit::parser::parse_body(&text) {
        Ok(body) => Ok(Parsed { file: file.clone(), body }),
        Err(error) => {
            let at = error.location().offset();
            let message = error.message().split_whitespace().collect::<Vec<_>>().join(" ");
            Err(Unreadable { place: file.place(&(at..at + 1)), message })
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Kind {
    Resource,
    Data,
    Module,
}

/// A resource, a data source or a call of a module.
#[derive(Debug)]
pub(super) struct Declaration<'a> {
    pub(super) kind: Kind,
    /// `aws_sqs_queue`; empty for a module.
    pub(super) of: &'a str,
    pub(super) name: &'a str,
    pub(super) file: &'a File,
    pub(super) block: &'a Block,
}

impl Declaration<'_> {
    /// The header of its block.
    pub(super) fn place(&self) -> Place {
        header(self.file, self.block)
    }

    /// The text of an attribute that is a plain string.
    pub(super) fn literal(&self, name: &str) -> Option<&str> {
        self.block.body.get_attribute(name).and_then(|attribute| attribute.value.as_str())
    }

    /// Its name without instance: `data.aws_sqs_queue.jobs`.
    pub(super) fn address(&self) -> String {
        match self.kind {
            Kind::Resource => format!("{}.{}", self.of, self.name),
            Kind::Data => format!("data.{}.{}", self.of, self.name),
            Kind::Module => format!("module.{}", self.name),
        }
    }
}

/// The place of a block's type and labels.
pub(super) fn header(file: &File, block: &Block) -> Place {
    let start = block.ident.span().map_or(0, |span| span.start);
    let end = block.labels.iter().filter_map(Span::span).map(|span| span.end).max();
    file.place(&(start..end.or_else(|| block.ident.span().map(|span| span.end)).unwrap_or(start)))
}

/// A variable, a local value or an output: where its expression stands.
#[derive(Clone, Copy, Debug)]
pub(super) struct Named<'a> {
    pub(super) file: &'a File,
    pub(super) value: &'a Expression,
}

#[derive(Debug, Default)]
pub(super) struct Folder<'a> {
    pub(super) path: &'a str,
    pub(super) variables: BTreeMap<&'a str, (&'a File, &'a Block)>,
    pub(super) locals: BTreeMap<&'a str, Named<'a>>,
    pub(super) outputs: BTreeMap<&'a str, Named<'a>>,
    pub(super) declarations: Vec<Declaration<'a>>,
    index: BTreeMap<(Kind, &'a str, &'a str), usize>,
}

impl<'a> Folder<'a> {
    pub(super) fn new(path: &'a str, files: &'a [Parsed]) -> Self {
        let mut folder = Self { path, ..Self::default() };
        for Parsed { file, body } in files {
            for block in body.blocks() {
                folder.declare(file, block);
            }
        }
        folder
    }

    fn declare(&mut self, file: &'a File, block: &'a Block) {
        let labels: Vec<&str> = block.labels.iter().map(hcl_edit::structure::BlockLabel::as_str).collect();
        let (kind, of, name) = match (block.ident.as_str(), labels.as_slice()) {
            ("resource", [of, name]) => (Kind::Resource, *of, *name),
            ("data", [of, name]) => (Kind::Data, *of, *name),
            ("module", [name]) => (Kind::Module, "", *name),
            ("variable", [name]) => {
                self.variables.insert(name, (file, block));
                return;
            }
            ("output", [name]) => {
                if let Some(attribute) = block.body.get_attribute("value") {
                    self.outputs.insert(name, Named { file, value: &attribute.value });
                }
                return;
            }
            ("locals", []) => {
                for Attribute { key, value, .. } in block.body.attributes() {
                    self.locals.insert(key.as_str(), Named { file, value });
                }
                return;
            }
            _ => return,
        };
        self.index.entry((kind, of, name)).or_insert(self.declarations.len());
        self.declarations.push(Declaration { kind, of, name, file, block });
    }

    pub(super) fn find(&self, kind: Kind, of: &str, name: &str) -> Option<usize> {
        self.index.get(&(kind, of, name)).copied()
    }

    /// Folders that it calls as modules.
    pub(super) fn calls(&self) -> impl Iterator<Item = String> {
        self.declarations.iter().filter(|declaration| declaration.kind == Kind::Module).filter_map(|declaration| {
            let source = declaration.literal("source")?;
            is_local(source).then(|| join(self.path, source))
        })
    }
}

/// Whether a module's source is a folder beside.
pub(super) fn is_local(source: &str) -> bool {
    source == "." || source == ".." || source.starts_with("./") || source.starts_with("../")
}

/// A path below a folder, without `.` and, as far as it goes, without `..`.
pub(super) fn join(folder: &str, path: &str) -> String {
    let mut parts: Vec<&str> = Vec::new();
    let absolute = path.starts_with('/');
    let folder = if absolute { "" } else { folder };
    follow(&mut parts, folder);
    follow(&mut parts, path);
    if absolute || folder.starts_with('/') { format!("/{}", parts.join("/")) } else { parts.join("/") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_joined_without_dots() {
        for (folder, path, joined) in [
            ("", "./a", "a"),
            ("infra/live", "../modules/x/", "infra/modules/x"),
            ("", "../x", "../x"),
            ("a", ".", "a"),
            ("a", "/opt/x", "/opt/x"),
        ] {
            assert_eq!(join(folder, path), joined);
        }
    }

    #[test]
    fn a_byte_order_mark_does_not_move_places() {
        let file = File::new("main.tf", "\u{feff}locals {\n  a = 1\n}\n");
        assert!(parse(&file).is_ok());
        let error = parse(&File::new("main.tf", "locals {\n  a = = 1\n}\n")).unwrap_err();
        assert_eq!(error.place.line, 2);
        assert!(!error.message.contains('\n'));
    }
}
