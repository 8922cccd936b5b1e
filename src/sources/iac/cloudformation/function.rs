//! Functions: CloudFormation's own, and SAM's, which take what they leave out from `Globals`.

use super::builder::LAMBDA;
use super::{Template, join};
use crate::engine::deployment::{CodeRef, Function, Inline, Setting};
use crate::sources::iac::value::{Value, number_setting, text_setting};
use crate::sources::tree::Node;

impl Template<'_> {
    pub(super) fn function(&self, key: &Node, resource: &Node, globals: Option<&Node>) -> Function {
        let properties = resource.get("Properties");
        // What the function leaves out is the globals'.
        let of = |name: &str| if properties.is_some_and(|own| own.get(name).is_some()) { properties } else { globals };
        let text = |name: &str| self.property(of(name), name).and_then(|(value, _)| value.value.text());
        let variable = |name: &str| {
            [properties, globals].into_iter().find_map(|section| {
                let variables = section?.get("Environment")?.get("Variables")?;
                self.property(Some(variables), name)
            })
        };
        let in_vpc = self.property(of("VpcConfig"), "VpcConfig").is_some_and(|(value, _)| match value.value {
            Value::Null => false,
            Value::Map(entries) => entries.iter().any(|(name, value)| {
                name == "SubnetIds" && !matches!(&value.value, Value::Null) && value.value != Value::List(Vec::new())
            }),
            _ => true,
        });
        let role = self.property(of("Role"), "Role").and_then(|(value, _)| match value.value {
            Value::Attribute { resource, .. } => resource.strip_prefix(&self.prefix).map(str::to_owned),
            _ => None,
        });
        let model_permission =
            role.and_then(|role| self.role_may_call(&role)).or_else(|| self.model_policies(properties?.get("Policies")?));
        Function {
            name: key.text().unwrap_or_default().to_owned(),
            function_name: text("FunctionName").filter(|name| !name.contains("${")),
            place: Some(self.place(key)),
            timeout_s: self.number(of("Timeout"), "Timeout").or_default(3.0, LAMBDA),
            reserved_concurrency: self.number(of("ReservedConcurrentExecutions"), "ReservedConcurrentExecutions"),
            in_vpc,
            managed_instances: self
                .property(of("CapacityProviderConfig"), "CapacityProviderConfig")
                .is_some_and(|(value, _)| value.value != Value::Null),
            model_permission,
            max_attempts: variable("AWS_MAX_ATTEMPTS")
                .map_or_else(Setting::default, |(value, place)| number_setting(Some(&value), Some(place))),
            retry_mode: variable("AWS_RETRY_MODE")
                .map_or_else(Setting::default, |(value, place)| text_setting(Some(&value), Some(place))),
            code: text("Handler").map(|handler| CodeRef {
                folders: self.code_folders(resource, text("CodeUri").or_else(|| text("Code"))),
                handler,
                runtime: text("Runtime"),
                inline: self.inline(of("InlineCode"), properties),
            }),
            ..Function::default()
        }
    }

    /// Source in the template itself: `Code.ZipFile`, or SAM's `InlineCode`.
    fn inline(&self, of_sam: Option<&Node>, properties: Option<&Node>) -> Option<Inline> {
        let node = of_sam.and_then(|properties| properties.get("InlineCode"));
        let node = node.or_else(|| properties?.get("Code")?.get("ZipFile"))?;
        // `Fn::Sub` puts values into it; the code around them stays as it is.
        let node = node.get("Fn::Sub").unwrap_or(node);
        Some(Inline { text: node.text()?.to_owned(), place: self.place(node) })
    }

    /// Where the code may be: the CDK's asset, SAM's folder, or beside the template.
    fn code_folders(&self, resource: &Node, uri: Option<String>) -> Vec<String> {
        let folder = self.file.folder();
        let asset = resource.get("Metadata").and_then(|metadata| metadata.get("aws:asset:path")?.text());
        let uri = uri.filter(|uri| !uri.contains("://") && !uri.contains("${") && !uri.starts_with('/'));
        let mut folders: Vec<String> = asset.into_iter().chain(uri.as_deref()).map(|path| join(folder, path)).collect();
        folders.extend([join(folder, "."), join(folder, "src")]);
        folders.dedup();
        folders
    }
}
