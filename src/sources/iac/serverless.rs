//! The Serverless Framework: functions with `sqs` events, and queues in its CloudFormation resources.

mod variables;

use std::cell::Cell;
use std::collections::BTreeMap;

use super::cloudformation::{Builder, Index, Pending, Stacks, Template, join};
use super::text::File;
use super::value::{Value, number_setting, text_setting};
use super::{Given, Read};
use crate::engine::deployment::{CodeRef, Function, Link, Mapping, Setting, Unresolved};
use crate::engine::fact::Place;
use crate::sources::tree::{Node, Value as Tree};
use variables::Service;

/// Whose default the function timeout is: 6 s, not Lambda's 3 (`lib/plugins/aws/package/compile/functions.js`, 3.40).
const FRAMEWORK: &str = "default of the Serverless Framework";

/// How deep lists of functions and resources may include further ones.
const DEEPEST: usize = 8;

/// Whether a document is a service.
pub fn is_service(root: &Node) -> bool {
    root.get("service").is_some() && (root.get("provider").is_some() || root.get("functions").is_some())
}

/// Files that a service includes, as far as they can be told with the documents that are there.
pub fn includes(path: &str, documents: &BTreeMap<String, (File, Node)>, given: &Given) -> Vec<String> {
    let Some((file, root)) = documents.get(path) else { return Vec::new() };
    let service = Service { file, root, documents, given, depth: Cell::new(0) };
    let mut paths = Vec::new();
    service.includes(file, root, &mut paths);
    // What is included may include more.
    for known in paths.clone() {
        if let Some((file, root)) = documents.get(&known) {
            service.includes(file, root, &mut paths);
        }
    }
    paths.sort();
    paths.dedup();
    paths
}

/// Reads a service.
pub fn read(path: &str, documents: &BTreeMap<String, (File, Node)>, given: &Given) -> Read {
    let Some((file, root)) = documents.get(path) else { return Read::default() };
    let service = Service { file, root, documents, given, depth: Cell::new(0) };
    let none = BTreeMap::new();
    let stacks = Stacks { templates: &none, given };
    let mut builder = Builder::default();
    if let Some(resources) = root.get("resources") {
        for (file, piece) in pieces(&service, file, resources, 0) {
            let variables = |node: &Node| service.scalar(file, node);
            builder.add(&template(&service, &stacks, file, piece, &variables));
        }
    }
    if let Some(functions) = root.get("functions") {
        for (file, section) in pieces(&service, file, functions, 0) {
            for (key, body) in section.entries() {
                let (file, body) = service.follow(file, body).unwrap_or((file, body));
                let variables = |node: &Node| service.scalar(file, node);
                let own = template(&service, &stacks, file, root, &variables);
                let of_root = |node: &Node| service.scalar(service.file, node);
                let provider = template(&service, &stacks, service.file, root, &of_root);
                add(&mut builder, &own, &provider, key, body);
            }
        }
    }
    // serverless-lift makes a queue and a worker out of a construct, with settings of its own.
    for (key, construct) in root.get("constructs").map(Node::entries).unwrap_or_default() {
        if construct.get("type").and_then(Node::text) == Some("queue") {
            let name = key.text().unwrap_or_default();
            builder.add_unresolved(Unresolved {
                why: format!("the construct `{name}` of serverless-lift makes a queue and its worker: they are in no file"),
                give: Some("check what `serverless package` makes under .serverless".to_owned()),
                place: Some(file.place(&key.span)),
            });
        }
    }
    Read { deployment: builder.finish(), unreadable: Vec::new() }
}

fn template<'a>(
    service: &Service<'a>,
    stacks: &'a Stacks<'a>,
    file: &'a File,
    root: &'a Node,
    variables: &'a dyn Fn(&Node) -> Option<super::value::Traced>,
) -> Template<'a> {
    Template {
        file,
        root,
        stacks,
        prefix: service.prefix(),
        bound: BTreeMap::new(),
        variables: Some(variables),
        depth: Cell::new(0),
        index: Index::new(root),
    }
}

/// The mappings of a section, which may be one, a list of them, or included from files.
fn pieces<'a>(service: &Service<'a>, file: &'a File, node: &'a Node, depth: usize) -> Vec<(&'a File, &'a Node)> {
    if depth > DEEPEST {
        return Vec::new();
    }
    match &node.value {
        Tree::Mapping(_) => vec![(file, node)],
        Tree::Sequence(items) => items.iter().flat_map(|item| pieces(service, file, item, depth + 1)).collect(),
        Tree::Scalar { .. } => match service.follow(file, node) {
            Some((file, node)) => pieces(service, file, node, depth + 1),
            None => Vec::new(),
        },
    }
}

/// `tagPhoto` as CloudFormation knows it: `TagPhotoLambdaFunction`.
fn logical_id(name: &str) -> String {
    let mut letters = name.chars();
    let first = letters.next().map(|c| c.to_ascii_uppercase()).into_iter();
    let id: String = first.chain(letters).collect();
    format!("{}LambdaFunction", id.replace('-', "Dash").replace('_', "Underscore"))
}

fn add(builder: &mut Builder, own: &Template<'_>, provider: &Template<'_>, key: &Node, body: &Node) {
    let name = key.text().unwrap_or_default();
    let id = format!("{}{}", own.prefix, logical_id(name));
    let settings = provider.root.get("provider");
    builder.add_function(id.clone(), function(own, provider, settings, key, body));
    for event in body.get("events").map(Node::items).unwrap_or_default() {
        if let Some((plugin, _)) = event.entry("snsSqs") {
            builder.add_unresolved(Unresolved {
                why: format!("an `snsSqs` event of a plugin makes a queue for `{name}`: it is in no file"),
                give: None,
                place: Some(own.place(plugin)),
            });
        }
        let Some((sqs, value)) = event.entry("sqs") else { continue };
        let place = own.place(sqs);
        // An ARN alone, or an object.
        let settings = (!value.entries().is_empty() && value.get("arn").is_some()).then_some(value);
        let (source, source_place) = match own.property(settings, "arn") {
            Some(found) => found,
            None => (own.eval(value), place.clone()),
        };
        let mapping = mapping(own, settings, place);
        let target = Value::Attribute { resource: id.clone(), attribute: "Arn".to_owned() };
        let function = super::value::Traced::new(target, crate::engine::fact::Source::Written(own.place(key)));
        builder.add_pending(Pending { mapping, source, function, source_place });
    }
}

fn mapping(own: &Template<'_>, settings: Option<&Node>, place: Place) -> Mapping {
    let unknown = || Link::Unresolved(Unresolved { why: String::new(), give: None, place: None });
    Mapping {
        place: Some(place),
        queue: unknown(),
        function: unknown(),
        batch_size: own.number(settings, "batchSize").or_default(10.0, super::cloudformation::builder::LAMBDA),
        batch_window_s: own.number(settings, "maximumBatchingWindow").or_default(0.0, super::cloudformation::builder::LAMBDA),
        maximum_concurrency: own.number(settings, "maximumConcurrency"),
        provisioned: None,
        report_batch_item_failures: own.reports_failures(settings, "functionResponseType"),
        enabled: own.boolean(settings, "enabled"),
    }
}

fn function(own: &Template<'_>, provider: &Template<'_>, of_all: Option<&Node>, key: &Node, body: &Node) -> Function {
    let timeout = own.number(Some(body), "timeout");
    let timeout = if timeout.is_unset() { provider.number(of_all, "timeout") } else { timeout };
    let variable = |name: &str| {
        let of_function = body.get("environment").and_then(|variables| own.property(Some(variables), name));
        of_function.or_else(|| provider.property(of_all.and_then(|all| all.get("environment")), name))
    };
    let text = |name: &str| {
        let own = own.property(Some(body), name).and_then(|(value, _)| value.value.text());
        own.or_else(|| provider.property(of_all, name).and_then(|(value, _)| value.value.text()))
    };
    let vpc = body.get("vpc").or_else(|| of_all.and_then(|all| all.get("vpc")));
    let statements =
        of_all.and_then(|all| all.get("iamRoleStatements").or_else(|| all.get("iam")?.get("role")?.get("statements")));
    let model_permission = body
        .get("iamRoleStatements")
        .and_then(|statements| own.model_statement(statements))
        .or_else(|| provider.model_statement(statements?));
    let folder = own.file.folder();
    Function {
        name: key.text().unwrap_or_default().to_owned(),
        function_name: own.property(Some(body), "name").and_then(|(value, _)| value.value.text()),
        place: Some(own.place(key)),
        timeout_s: timeout.or_default(6.0, FRAMEWORK),
        reserved_concurrency: own.number(Some(body), "reservedConcurrency"),
        in_vpc: vpc.is_some_and(|vpc| !vpc.is_null() && vpc.boolean() != Some(false)),
        managed_instances: false,
        model_permission,
        max_attempts: variable("AWS_MAX_ATTEMPTS")
            .map_or_else(Setting::default, |(value, place)| number_setting(Some(&value), Some(place))),
        retry_mode: variable("AWS_RETRY_MODE")
            .map_or_else(Setting::default, |(value, place)| text_setting(Some(&value), Some(place))),
        code: text("handler").map(|handler| CodeRef {
            // Handlers are relative to the service, whichever file has the function.
            folders: vec![provider.file.folder().to_owned(), folder.to_owned(), join(folder, "src")],
            handler,
            runtime: text("runtime"),
            inline: None,
        }),
        ..Function::default()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::engine::deployment::Deployment;

    fn documents(files: &[(&str, &str)]) -> BTreeMap<String, (File, Node)> {
        files.iter().map(|(path, text)| ((*path).to_owned(), (File::new(path, text), Node::parse(text).unwrap()))).collect()
    }

    fn service(files: &[(&str, &str)], parameters: &[(&str, &str)]) -> Deployment {
        let parameters = parameters.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        let documents = documents(files);
        assert!(is_service(&documents[files[0].0].1));
        read(files[0].0, &documents, &Given { parameters, ..Given::default() }).deployment
    }

    const SERVICE: &str = "
service: mail
custom:
  hidden: {dev: 240, live: 480}
provider:
  name: aws
  stage: ${opt:stage, 'dev'}
  timeout: ${self:custom.work, 40}
  iam: {role: {statements: [{Effect: Allow, Action: ['bedrock:Converse*'], Resource: '*'}]}}
functions:
  sort-mail:
    handler: src/sort.main
    events:
      - sqs: {arn: !GetAtt Letters.Arn, batchSize: 3, functionResponseType: ReportBatchItemFailures}
      - sqs: arn:aws:sqs:eu-west-1:111122223333:parcels
      - http: GET /
resources:
  Resources:
    Letters:
      Type: AWS::SQS::Queue
      Properties: {VisibilityTimeout: '${self:custom.hidden.${self:provider.stage}}'}
";

    #[test]
    fn variables_inside_variables_keep_the_literal_s_place() {
        let read = service(&[("serverless.yml", SERVICE)], &[]);
        let visibility = &read.queues[0].visibility_s;
        assert_eq!((visibility.value(), visibility.literal().unwrap().line), (Some(240.0), 4));
        assert_eq!(visibility.place.as_ref().unwrap().line, 21);
        let function = &read.functions[0];
        assert_eq!(function.timeout_s.value(), Some(40.0), "the provider's fallback");
        assert!(function.model_permission.is_some());
        assert_eq!((&read.mappings[0].queue, &read.mappings[0].function), (&Link::To(0), &Link::To(0)));
        assert_eq!(read.mappings[0].report_batch_item_failures.value(), Some(true));
        assert!(matches!(&read.mappings[1].queue, Link::Named { name, .. } if name == "parcels"));
        let live = service(&[("serverless.yml", SERVICE)], &[("stage", "live")]);
        assert_eq!(live.queues[0].visibility_s.value(), Some(480.0));
        let unknown = service(&[("serverless.yml", SERVICE)], &[("stage", "other")]);
        assert!(unknown.queues[0].visibility_s.why_unresolved().is_some());
    }

    #[test]
    fn files_are_included_by_name_and_by_variable() {
        let files = [
            (
                "a/serverless.yml",
                "
service: x
provider: {name: aws}
custom: ${file(config/${sls:stage}.yml)}
functions:
  - ${file(functions.yml)}
resources: [\"${file(queues.json)}\"]
",
            ),
            ("a/config/dev.yml", "seconds: 77\n"),
            (
                "a/functions.yml",
                "work:\n  handler: w.main\n  timeout: ${self:custom.seconds}\n  events: [{sqs: {arn: {'Fn::GetAtt': [Jobs, Arn]}}}]\n",
            ),
            ("a/queues.json", "{\"Resources\": {\"Jobs\": {\"Type\": \"AWS::SQS::Queue\"}}}"),
        ];
        let all = documents(&files);
        let found = includes("a/serverless.yml", &all, &Given::default());
        assert_eq!(found, ["a/config/dev.yml", "a/functions.yml", "a/queues.json"]);
        let read = service(&files, &[]);
        let timeout = &read.functions[0].timeout_s;
        assert_eq!((timeout.value(), &*timeout.literal().unwrap().path), (Some(77.0), "a/config/dev.yml"));
        assert_eq!(read.mappings[0].queue, Link::To(0));
    }

    #[test]
    fn what_is_read_on_deployment_is_unresolved_and_the_framework_s_default_is_its_own() {
        let text = |timeout: &str| format!("service: x\nprovider: {{name: aws}}\nfunctions:\n  f: {{handler: a.b{timeout}}}\n");
        let of = |timeout: &str| service(&[("serverless.yml", &text(timeout))], &[]).functions[0].timeout_s.clone();
        assert_eq!((of("").value(), of("").is_default()), (Some(6.0), true));
        assert!(of(", timeout: '${ssm:/seconds, 30}'").why_unresolved().is_some());
        assert_eq!(of(", timeout: '${env:SECONDS, 30}'").value(), Some(30.0));
        let option = of(", timeout: '${opt:seconds}'");
        assert_eq!(option.why_unresolved().unwrap().give.as_deref(), Some("--parameter seconds=..."));
        assert!(of(", timeout: '${self:custom.a}'").why_unresolved().is_some());
    }

    #[test]
    fn variables_in_circles_end() {
        let text = "service: x\nprovider: {name: aws}\ncustom: {a: '${self:custom.b}', b: '${self:custom.a}'}\nfunctions:\n  f: {handler: a.b, timeout: '${self:custom.a}'}\n";
        assert!(service(&[("serverless.yml", text)], &[]).functions[0].timeout_s.why_unresolved().is_some());
    }

    proptest! {
        #[test]
        fn any_variable_is_read(inner in "[a-z:.,'(){}$ 0-9]{0,40}") {
            let text = format!("service: x\nprovider: {{name: aws}}\nfunctions:\n  f:\n    handler: a.b\n    timeout: \"${{{inner}}}\"\n");
            if let Ok(root) = Node::parse(&text) {
                let documents = BTreeMap::from([("s.yml".to_owned(), (File::new("s.yml", &text), root))]);
                includes("s.yml", &documents, &Given::default());
                read("s.yml", &documents, &Given::default());
            }
        }
    }
}
