//! What the roles of functions allow: only whether they may call a model, and where that is written.

use std::rc::Rc;

use super::assemble::Links;
use super::value::{Traced, Value, place_of};
use crate::engine::deployment::Deployment;
use crate::engine::fact::Place;
use crate::sources::iac::cloudformation::{allows as action_allows, is_managed};

/// How many policy documents may take in one another.
const DEEPEST: usize = 8;

/// A role: by its address, or by its name where it is in none of the files.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Role {
    At(Rc<str>),
    Named(String),
}

/// Functions, by their index in the deployment, whose role may call a model, with the statement that says so.
pub(super) fn model_permissions(links: &Links<'_>, deployment: &Deployment) -> Vec<(usize, Place)> {
    let grants = grants(links);
    let functions = links.items.iter().filter(|item| &*item.kind == "aws_lambda_function");
    functions
        .take(deployment.functions.len())
        .enumerate()
        .filter_map(|(index, item)| {
            let role = role(links, item.get("role")?)?;
            let (_, place) = grants.iter().find(|(granted, _)| *granted == role)?;
            Some((index, place.clone()))
        })
        .collect()
}

fn grants(links: &Links<'_>) -> Vec<(Role, Place)> {
    let mut grants = Vec::new();
    for item in links.items {
        match &*item.kind {
            "aws_iam_role_policy" => {
                let role = item.get("role").and_then(|value| role(links, value));
                grants.extend(role.zip(item.get("policy").and_then(|policy| allows(links, policy, 0))));
            }
            "aws_iam_role_policy_attachment" | "aws_iam_policy_attachment" => {
                let Some(place) = item.get("policy_arn").and_then(|policy| attached(links, policy)) else { continue };
                let one = item.get("role").into_iter();
                let many = item.get("roles").map_or_else(Vec::new, |roles| listed(roles));
                grants.extend(one.chain(many).filter_map(|value| Some((role(links, value)?, place.clone()))));
            }
            "aws_iam_role" => {
                let inline = item.get("inline_policy").map_or_else(Vec::new, listed).into_iter();
                let inline = inline.filter_map(|block| allows(links, block.value.get("policy")?, 0));
                let managed = item.get("managed_policy_arns").map_or_else(Vec::new, listed).into_iter();
                let managed = managed.filter_map(|policy| attached(links, policy));
                grants.extend(inline.chain(managed).map(|place| (Role::At(Rc::clone(&item.address)), place)));
            }
            _ => {}
        }
    }
    grants
}

fn listed(value: &Traced) -> Vec<&Traced> {
    match &value.value {
        Value::List(items) => items.iter().collect(),
        _ => vec![value],
    }
}

fn role(links: &Links<'_>, value: &Traced) -> Option<Role> {
    let name = match &value.value {
        Value::Reference(reference) => {
            let (_, item) = links.meant_by(reference).find(|(_, item)| item.kind.ends_with("aws_iam_role"))?;
            return Some(match (&*item.kind, item.text("name")) {
                ("data.aws_iam_role", Some(name)) => named(links, &name),
                _ => Role::At(Rc::clone(&item.address)),
            });
        }
        Value::Text(text) => text.rsplit('/').next().unwrap_or_default().to_owned(),
        _ => return None,
    };
    (!name.is_empty()).then(|| named(links, &name))
}

fn named(links: &Links<'_>, name: &str) -> Role {
    let found = links.named("aws_iam_role", name);
    found.map_or_else(|| Role::Named(name.to_owned()), |(_, item)| Role::At(Rc::clone(&item.address)))
}

/// A policy by its ARN.
fn attached(links: &Links<'_>, policy: &Traced) -> Option<Place> {
    match &policy.value {
        Value::Reference(reference) => {
            let (_, item) = links.meant_by(reference).find(|(_, item)| item.kind.ends_with("aws_iam_policy"))?;
            match item.get("policy") {
                Some(document) => allows(links, document, 0),
                None => ["name", "arn"].iter().filter_map(|key| item.get(key)).find_map(managed),
            }
        }
        Value::Text(arn) => {
            let name = arn.rsplit('/').next().unwrap_or_default();
            if arn.contains(":iam::") && managed(policy).is_some() {
                return place_of(policy);
            }
            allows(links, links.named("aws_iam_policy", name)?.1.get("policy")?, 0)
        }
        _ => None,
    }
}

/// One of AWS's own policies, by its name or ARN.
fn managed(policy: &Traced) -> Option<Place> {
    let Value::Text(text) = &policy.value else { return None };
    is_managed(text).then(|| place_of(policy)).flatten()
}

/// Where a policy document allows to call a model.
fn allows(links: &Links<'_>, document: &Traced, depth: usize) -> Option<Place> {
    if depth > DEEPEST {
        return None;
    }
    match &document.value {
        Value::Text(text) => allows(links, &Value::from_json(text, &document.source)?, depth + 1),
        Value::Map(_) => document.value.get("Statement").and_then(allowing_statement),
        Value::Reference(reference) => {
            let (_, item) = links.meant_by(reference).find(|(_, item)| &*item.kind == "data.aws_iam_policy_document")?;
            item.get("statement").and_then(allowing_statement).or_else(|| {
                ["source_policy_documents", "override_policy_documents", "source_json", "override_json"]
                    .iter()
                    .filter_map(|name| item.get(name))
                    .flat_map(listed)
                    .find_map(|inner| allows(links, inner, depth + 1))
            })
        }
        _ => None,
    }
}

/// Also of statements in a map, as registry modules take them.
fn allowing_statement(statements: &Traced) -> Option<Place> {
    let is_statement =
        |value: &Value| ["Action", "actions", "NotAction", "not_actions"].iter().any(|key| value.get(key).is_some());
    let all: Vec<&Traced> = match &statements.value {
        Value::Map(entries) if !is_statement(&statements.value) => entries.iter().map(|entry| &entry.value).collect(),
        _ => listed(statements),
    };
    all.into_iter().find(|statement| is_allowing(&statement.value)).and_then(place_of)
}

fn is_allowing(statement: &Value) -> bool {
    let either = |a: &str, b: &str| statement.get(a).or_else(|| statement.get(b)).map(|value| &value.value);
    let denies = match either("Effect", "effect") {
        Some(Value::Text(effect)) => !effect.eq_ignore_ascii_case("allow"),
        Some(_) => true,
        None => false,
    };
    let actions = either("Action", "actions").map_or_else(Vec::new, Value::items);
    !denies && actions.iter().any(|action| matches!(action, Value::Text(action) if action_allows(action)))
}
