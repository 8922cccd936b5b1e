//! Whether a role lets a function call a model: the evidence that a quota stands behind the queue.

use std::collections::HashMap;

use super::Template;
use crate::engine::fact::Place;
use crate::sources::iac::value::Value;
use crate::sources::tree::Node;

/// Actions that call a model on bedrock-runtime.
const CALLS: &[&str] =
    &["bedrock:invokemodel", "bedrock:invokemodelwithresponsestream", "bedrock:converse", "bedrock:conversestream"];

/// Managed policies that allow it.
const MANAGED: &[&str] = &["AmazonBedrockFullAccess", "AmazonBedrockLimitedAccess"];

/// Whether an action of a policy lets a model be called. `*` alone does not count: it allows everything, and so says nothing
/// of what the function is for.
pub(crate) fn allows(action: &str) -> bool {
    let action = action.trim().to_ascii_lowercase();
    action != "*" && CALLS.iter().any(|call| matches_pattern(&action, call))
}

/// Whether an ARN or name is that of a managed policy that allows it.
pub(crate) fn is_managed(policy: &str) -> bool {
    policy.rsplit('/').next().is_some_and(|name| MANAGED.contains(&name))
}

/// IAM's patterns: `*` is any text, `?` one character.
fn matches_pattern(pattern: &str, text: &str) -> bool {
    let (pattern, text) = (pattern.as_bytes(), text.as_bytes());
    let (mut p, mut t) = (0, 0);
    let mut star: Option<(usize, usize)> = None;
    while t < text.len() {
        match pattern.get(p) {
            Some(b'*') => {
                star = Some((p, t));
                p += 1;
            }
            Some(b) if *b == b'?' || *b == text[t] => {
                p += 1;
                t += 1;
            }
            _ => match star {
                Some((at, from)) => {
                    p = at + 1;
                    t = from + 1;
                    star = Some((at, from + 1));
                }
                None => return false,
            },
        }
    }
    pattern[p.min(pattern.len())..].iter().all(|b| *b == b'*')
}

impl Template<'_> {
    /// Where statements let a model be called: a policy document, a list of statements, or one.
    pub(crate) fn model_statement(&self, node: &Node) -> Option<Place> {
        if let Some(statements) = node.get("Statement") {
            return self.model_statement(statements);
        }
        if !node.items().is_empty() {
            return node.items().iter().find_map(|item| self.model_statement(item));
        }
        if node.get("Effect").and_then(Node::text) == Some("Deny") {
            return None;
        }
        let (key, action) = node.entry("Action")?;
        let allowed = match self.eval(action).value {
            Value::List(items) => items.iter().any(|item| item.value.text().is_some_and(|text| allows(&text))),
            action => action.text().is_some_and(|text| allows(&text)),
        };
        allowed.then(|| self.place(key))
    }

    /// The same of SAM's `Policies`: managed names, templates and documents, in a list or alone.
    pub(super) fn model_policies(&self, node: &Node) -> Option<Place> {
        if let Some(text) = node.text() {
            return is_managed(text).then(|| self.place(node));
        }
        if !node.items().is_empty() {
            return node.items().iter().find_map(|item| self.model_policies(item));
        }
        self.model_statement(node)
    }

    /// Where a role, by its logical id, is allowed to call a model: by policies of its own, or by others that name it.
    pub(super) fn role_may_call(&self, role: &str) -> Option<Place> {
        let properties = self.resource(role)?.get("Properties");
        let own = properties.and_then(|properties| {
            let inline = properties.get("Policies").map(Node::items).unwrap_or_default();
            let inline = inline.iter().find_map(|policy| self.model_statement(policy.get("PolicyDocument")?));
            inline.or_else(|| {
                let managed = properties.get("ManagedPolicyArns").map(Node::items).unwrap_or_default();
                managed.iter().find(|arn| arn_text(self, arn).is_some_and(|arn| is_managed(&arn))).map(|arn| self.place(arn))
            })
        });
        own.or_else(|| self.index.role_policies.get_or_init(|| self.policies_by_role()).get(role).cloned())
    }

    /// Where policies that stand by themselves let a model be called, by the roles that they name.
    fn policies_by_role(&self) -> HashMap<String, Place> {
        let mut found = HashMap::new();
        for (_, resource) in self.section("Resources").map(Node::entries).unwrap_or_default() {
            let (Some(kind), Some(properties)) = (resource.get("Type").and_then(Node::text), resource.get("Properties")) else {
                continue;
            };
            let roles: Vec<&Node> = match kind {
                "AWS::IAM::Policy" | "AWS::IAM::ManagedPolicy" => {
                    properties.get("Roles").map(Node::items).unwrap_or_default().iter().collect()
                }
                "AWS::IAM::RolePolicy" => properties.get("RoleName").into_iter().collect(),
                _ => continue,
            };
            let Some(place) = properties.get("PolicyDocument").and_then(|document| self.model_statement(document)) else {
                continue;
            };
            for role in roles {
                if let Value::Attribute { resource, .. } = self.eval(role).value
                    && let Some(role) = resource.strip_prefix(&self.prefix)
                {
                    found.entry(role.to_owned()).or_insert_with(|| place.clone());
                }
            }
        }
        found
    }
}

fn arn_text(template: &Template<'_>, node: &Node) -> Option<String> {
    template.eval(node).value.text()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_of_actions() {
        for (action, allowed) in [
            ("bedrock:InvokeModel", true),
            ("bedrock:InvokeModel*", true),
            ("bedrock:*", true),
            ("bedrock:Converse*", true),
            ("bedrock:Invoke?odel", true),
            ("bedrock:ListFoundationModels", false),
            ("bedrock:CreateModelInvocationJob", false),
            ("s3:*", false),
            ("*", false),
        ] {
            assert_eq!(allows(action), allowed, "{action}");
        }
        assert!(is_managed("arn:aws:iam::aws:policy/AmazonBedrockFullAccess"));
        assert!(!is_managed("arn:aws:iam::aws:policy/AmazonSQSFullAccess"));
    }
}
