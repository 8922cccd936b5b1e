//! CloudFormation templates, YAML and JSON, plain, from SAM and from the CDK; with nested stacks, exports and SSM
//! parameters between the stacks that are given.

pub(crate) mod builder;
mod condition;
mod evaluate;
mod expand;
mod function;
mod permissions;
mod sam;

use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};

use super::text::File;
use super::{Given, Read};
use crate::sources::path::follow;
use crate::sources::tree::Node;

pub(crate) use builder::{Builder, Pending};
pub(crate) use evaluate::{Index, Template};
pub(crate) use permissions::{allows, is_managed};

/// All templates that are read together.
pub(crate) struct Stacks<'a> {
    /// By path.
    pub(crate) templates: &'a BTreeMap<String, (File, Node)>,
    pub(crate) given: &'a Given,
}

/// Whether a document is a CloudFormation template.
pub fn is_template(root: &Node) -> bool {
    let resources = root.get("Resources").map(Node::entries).unwrap_or_default();
    root.get("AWSTemplateFormatVersion").is_some()
        || resources.iter().any(|(key, resource)| {
            key.text().is_some_and(|key| key.starts_with("Fn::ForEach"))
                || resource.get("Type").and_then(Node::text).is_some_and(|kind| kind.contains("::"))
        })
}

/// Reads templates, each with its path. What a template nests is read where it is nested.
pub fn read(templates: &BTreeMap<String, (File, Node)>, given: &Given) -> Read {
    // Loops are written out before anything else looks at the resources.
    let templates: BTreeMap<String, (File, Node)> =
        templates.iter().map(|(path, (file, root))| (path.clone(), (file.clone(), expand::for_each(root, given)))).collect();
    let stacks = Stacks { templates: &templates, given };
    let nested: BTreeSet<String> =
        stacks.templates.values().flat_map(|(file, root)| Template::root_of(&stacks, file, root).nested_paths()).collect();
    let mut builder = Builder::default();
    for (path, (file, root)) in stacks.templates {
        if !nested.contains(path) {
            builder.add(&Template::root_of(&stacks, file, root));
        }
    }
    Read { deployment: builder.finish(), unreadable: Vec::new() }
}

/// Names of parameters that the templates declare: one that is given and declared nowhere is a mistake.
pub fn parameters(root: &Node) -> impl Iterator<Item = &str> {
    root.get("Parameters").map(Node::entries).unwrap_or_default().iter().filter_map(|(key, _)| key.text())
}

impl<'a> Template<'a> {
    pub(crate) fn root_of(stacks: &'a Stacks<'a>, file: &'a File, root: &'a Node) -> Self {
        Self {
            file,
            root,
            stacks,
            prefix: format!("{}#", file.path),
            bound: BTreeMap::new(),
            variables: None,
            depth: Cell::new(0),
            index: Index::new(root),
        }
    }

    /// The stack that a resource nests, where its template is among those that are read.
    pub(crate) fn child(&self, name: &str) -> Option<Self> {
        let resource = self.resource(name)?;
        let path = self.nested_path(resource)?;
        let (file, root) = self.stacks.templates.get(&path)?;
        // Each level makes the prefix longer: a template that nests itself ends here.
        if self.prefix.len() > 2000 || self.prefix.matches('.').count() > 200 {
            return None;
        }
        let parameters = resource.get("Properties").and_then(|properties| properties.get("Parameters"));
        let bound = parameters
            .map(Node::entries)
            .unwrap_or_default()
            .iter()
            .filter_map(|(key, value)| Some((key.text()?.to_owned(), self.eval(value))))
            .collect();
        let prefix = format!("{}{name}>", self.prefix);
        let index = Index::new(root);
        Some(Self { file, root, stacks: self.stacks, prefix, bound, variables: None, depth: Cell::new(0), index })
    }

    /// The path of the template that a resource nests.
    fn nested_path(&self, resource: &Node) -> Option<String> {
        let properties = resource.get("Properties");
        let location = match resource.get("Type").and_then(Node::text)? {
            "AWS::CloudFormation::Stack" => properties.and_then(|properties| properties.get("TemplateURL")),
            "AWS::Serverless::Application" => properties.and_then(|properties| properties.get("Location")),
            _ => return None,
        };
        let asset = resource.get("Metadata").and_then(|metadata| metadata.get("aws:asset:path"));
        let named = [asset, location].into_iter().flatten().filter_map(Node::text);
        // What `sam package` made is made of the template beside it.
        let packaged = |path: &str| {
            let folder = path.split("/.aws-sam/").next().filter(|folder| *folder != path);
            folder.map(|folder| ["yaml", "yml", "json"].map(|ending| format!("{folder}/template.{ending}")))
        };
        let paths = named.flat_map(|path| std::iter::once(path.to_owned()).chain(packaged(path).into_iter().flatten()));
        paths.map(|path| join(self.file.folder(), &path)).find(|path| self.stacks.templates.contains_key(path))
    }

    fn nested_paths(&self) -> Vec<String> {
        let resources = self.section("Resources").map(Node::entries).unwrap_or_default();
        resources.iter().filter_map(|(_, resource)| self.nested_path(resource)).collect()
    }
}

/// A path relative to a folder, without `.` and `..`.
pub(crate) fn join(folder: &str, path: &str) -> String {
    let mut parts: Vec<&str> = folder.split('/').filter(|part| !part.is_empty()).collect();
    follow(&mut parts, path);
    let root = if folder.starts_with('/') { "/" } else { "" };
    format!("{root}{}", parts.join("/"))
}

#[cfg(test)]
mod tests;
