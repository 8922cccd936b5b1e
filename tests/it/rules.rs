//! Every rule with a bad and a good chain, written out in several dialects and, for clients, in several languages.
//!
//! A chain is described once, and rendered as CloudFormation, Terraform, Serverless and Pulumi: what holds for a rule in one
//! dialect holds in all of them, or a reader is wrong.

use std::fmt::Write as _;

use serde_json::{Value, json};

use crate::program::Program;

/// A chain. What is `None` is left out of the file.
#[derive(Clone)]
#[expect(clippy::struct_excessive_bools, reason = "settings that are there or not")]
struct Chain {
    visibility: Option<u32>,
    retention: Option<u32>,
    fifo: bool,
    receives: Option<u32>,
    dead_retention: Option<u32>,
    timeout: Option<u32>,
    reserved: Option<u32>,
    batch: u32,
    window: Option<u32>,
    maximum: Option<u32>,
    pollers: bool,
    reports: bool,
    vpc: bool,
    /// Source of the handler, by the ending of its file.
    source: Option<(&'static str, String)>,
    arguments: Vec<&'static str>,
    comment: Option<&'static str>,
}

/// Nothing is wrong with it.
fn good() -> Chain {
    Chain {
        visibility: Some(300),
        retention: None,
        fifo: false,
        receives: Some(5),
        dead_retention: Some(1_209_600),
        timeout: Some(50),
        reserved: None,
        batch: 1,
        window: None,
        maximum: Some(5),
        pollers: false,
        reports: false,
        vpc: false,
        source: None,
        arguments: Vec::new(),
        comment: None,
    }
}

fn with(change: impl FnOnce(&mut Chain)) -> Chain {
    let mut chain = good();
    change(&mut chain);
    chain
}

fn line(out: &mut String, indent: usize, name: &str, value: Option<impl std::fmt::Display>) {
    if let Some(value) = value {
        let _ = writeln!(out, "{:indent$}{name}: {value}", "");
    }
}

/// One argument of a Terraform block.
fn assign(out: &mut String, name: &str, value: Option<String>) {
    if let Some(value) = value {
        let _ = writeln!(out, "  {name} = {value}");
    }
}

impl Chain {
    fn comment(&self, out: &mut String, indent: usize) {
        if let Some(comment) = self.comment {
            let _ = writeln!(out, "{:indent$}# {comment}", "");
        }
    }

    fn queues(&self, indent: usize) -> String {
        let mut out = String::new();
        let pad = " ".repeat(indent);
        let _ = writeln!(out, "{pad}Dead:\n{pad}  Type: AWS::SQS::Queue\n{pad}  Properties:");
        line(&mut out, indent + 4, "MessageRetentionPeriod", self.dead_retention);
        line(&mut out, indent + 4, "FifoQueue", self.fifo.then_some(true));
        let _ = writeln!(out, "{pad}Jobs:\n{pad}  Type: AWS::SQS::Queue\n{pad}  Properties:");
        self.comment(&mut out, indent + 4);
        line(&mut out, indent + 4, "VisibilityTimeout", self.visibility);
        line(&mut out, indent + 4, "MessageRetentionPeriod", self.retention);
        line(&mut out, indent + 4, "FifoQueue", self.fifo.then_some(true));
        if let Some(receives) = self.receives {
            let _ =
                writeln!(out, "{pad}    RedrivePolicy: {{deadLetterTargetArn: !GetAtt Dead.Arn, maxReceiveCount: {receives}}}");
        }
        out
    }

    fn cloudformation(&self) -> String {
        let mut out = format!("AWSTemplateFormatVersion: '2010-09-09'\nResources:\n{}", self.queues(2));
        out.push_str("  Worker:\n    Type: AWS::Lambda::Function\n    Properties:\n      Handler: app.handler\n");
        line(&mut out, 6, "Timeout", self.timeout);
        line(&mut out, 6, "ReservedConcurrentExecutions", self.reserved);
        if self.vpc {
            out.push_str("      VpcConfig: {SubnetIds: [subnet-1], SecurityGroupIds: [sg-1]}\n");
        }
        out.push_str("  Feed:\n    Type: AWS::Lambda::EventSourceMapping\n    Properties:\n      EventSourceArn: !GetAtt Jobs.Arn\n      FunctionName: !Ref Worker\n");
        line(&mut out, 6, "BatchSize", Some(self.batch));
        line(&mut out, 6, "MaximumBatchingWindowInSeconds", self.window);
        line(&mut out, 6, "FunctionResponseTypes", self.reports.then_some("[ReportBatchItemFailures]"));
        line(&mut out, 6, "ScalingConfig", self.maximum.map(|maximum| format!("{{MaximumConcurrency: {maximum}}}")));
        line(&mut out, 6, "ProvisionedPollerConfig", self.pollers.then_some("{MinimumPollers: 2}"));
        out
    }

    fn serverless(&self) -> String {
        let mut out = "service: s\nprovider: {name: aws}\nfunctions:\n  worker:\n    handler: app.handler\n".to_owned();
        line(&mut out, 4, "timeout", self.timeout);
        line(&mut out, 4, "reservedConcurrency", self.reserved);
        line(&mut out, 4, "vpc", self.vpc.then_some("{subnetIds: [subnet-1], securityGroupIds: [sg-1]}"));
        out.push_str("    events:\n      - sqs:\n          arn: !GetAtt Jobs.Arn\n");
        line(&mut out, 10, "batchSize", Some(self.batch));
        line(&mut out, 10, "maximumBatchingWindow", self.window);
        line(&mut out, 10, "functionResponseType", self.reports.then_some("ReportBatchItemFailures"));
        line(&mut out, 10, "maximumConcurrency", self.maximum);
        format!("{out}resources:\n  Resources:\n{}", self.queues(4))
    }

    fn terraform(&self) -> String {
        let text = |value: Option<u32>| value.map(|value| value.to_string());
        let mut out = String::new();
        assign(&mut out, "message_retention_seconds", text(self.dead_retention));
        assign(&mut out, "fifo_queue", self.fifo.then(|| "true".to_owned()));
        let dead = format!("resource \"aws_sqs_queue\" \"dead\" {{\n{}}}\n", std::mem::take(&mut out));
        self.comment(&mut out, 2);
        assign(&mut out, "visibility_timeout_seconds", text(self.visibility));
        assign(&mut out, "message_retention_seconds", text(self.retention));
        assign(&mut out, "fifo_queue", self.fifo.then(|| "true".to_owned()));
        assign(
            &mut out,
            "redrive_policy",
            self.receives.map(|receives| {
                format!("jsonencode({{ deadLetterTargetArn = aws_sqs_queue.dead.arn, maxReceiveCount = {receives} }})")
            }),
        );
        let jobs = format!("resource \"aws_sqs_queue\" \"jobs\" {{\n{}}}\n", std::mem::take(&mut out));
        assign(&mut out, "handler", Some("\"app.handler\"".to_owned()));
        assign(&mut out, "timeout", text(self.timeout));
        assign(&mut out, "reserved_concurrent_executions", text(self.reserved));
        if self.vpc {
            out.push_str("  vpc_config {\n    subnet_ids = [\"subnet-1\"]\n    security_group_ids = [\"sg-1\"]\n  }\n");
        }
        let worker = format!("resource \"aws_lambda_function\" \"worker\" {{\n{}}}\n", std::mem::take(&mut out));
        assign(&mut out, "event_source_arn", Some("aws_sqs_queue.jobs.arn".to_owned()));
        assign(&mut out, "function_name", Some("aws_lambda_function.worker.arn".to_owned()));
        assign(&mut out, "batch_size", Some(self.batch.to_string()));
        assign(&mut out, "maximum_batching_window_in_seconds", text(self.window));
        assign(&mut out, "function_response_types", self.reports.then(|| "[\"ReportBatchItemFailures\"]".to_owned()));
        if let Some(maximum) = self.maximum {
            let _ = writeln!(out, "  scaling_config {{\n    maximum_concurrency = {maximum}\n  }}");
        }
        if self.pollers {
            out.push_str("  provisioned_poller_config {\n    minimum_pollers = 2\n  }\n");
        }
        let feed = format!("resource \"aws_lambda_event_source_mapping\" \"feed\" {{\n{out}}}\n");
        format!("{dead}{jobs}{worker}{feed}")
    }

    fn pulumi(&self) -> String {
        let redrive = self.receives.map(|receives| {
            json!({"deadLetterTargetArn": "arn:aws:sqs:eu-west-1:111122223333:elsewhere", "maxReceiveCount": receives})
                .to_string()
        });
        let state = |urn: &str, kind: &str, inputs: Value, depends: Value| {
            let mut inputs = inputs;
            if let Some(inputs) = inputs.as_object_mut() {
                inputs.retain(|_, value| !value.is_null());
            }
            json!({"op": "create", "urn": urn,
                   "newState": {"urn": urn, "type": kind, "inputs": inputs, "propertyDependencies": depends}})
        };
        let steps = [
            state(
                "u::jobs",
                "aws:sqs/queue:Queue",
                json!({"visibilityTimeoutSeconds": self.visibility, "messageRetentionSeconds": self.retention,
                       "fifoQueue": self.fifo.then_some(true), "redrivePolicy": redrive}),
                json!({}),
            ),
            state(
                "u::worker",
                "aws:lambda/function:Function",
                json!({"timeout": self.timeout, "reservedConcurrentExecutions": self.reserved, "handler": "app.handler",
                       "vpcConfig": self.vpc.then(|| json!({"subnetIds": ["subnet-1"]}))}),
                json!({}),
            ),
            state(
                "u::feed",
                "aws:lambda/eventSourceMapping:EventSourceMapping",
                json!({"eventSourceArn": "04da6b54-80e4-46f7-96ec-b56ff0331ba9", "functionName": "worker", "batchSize": self.batch,
                       "maximumBatchingWindowInSeconds": self.window,
                       "functionResponseTypes": self.reports.then(|| json!(["ReportBatchItemFailures"])),
                       "scalingConfig": self.maximum.map(|maximum| json!({"maximumConcurrency": maximum})),
                       "provisionedPollerConfig": self.pollers.then(|| json!({"minimumPollers": 2}))}),
                json!({"eventSourceArn": ["u::jobs"], "functionName": ["u::worker"]}),
            ),
        ];
        serde_json::to_string_pretty(&json!({ "steps": steps })).unwrap()
    }

    /// Ids of the rules that fire, in one dialect.
    fn rules(&self, dialect: &str) -> Vec<String> {
        let (name, text) = match dialect {
            "cloudformation" => ("template.yaml", self.cloudformation()),
            "serverless" => ("serverless.yml", self.serverless()),
            "terraform" => ("main.tf", self.terraform()),
            _ => ("preview.json", self.pulumi()),
        };
        let mut arguments = vec!["check", "timeouts", ".", "--format", "json"];
        arguments.extend(&self.arguments);
        let mut program = Program::new(&arguments).file(name, &text);
        if let Some((ending, source)) = &self.source {
            program = program.file(&format!("app.{ending}"), source);
        }
        let run = program.run();
        let report: Value =
            serde_json::from_str(&run.stdout).unwrap_or_else(|_| panic!("{}{}\n{text}", run.stdout, run.stderr));
        assert_eq!(report["chains"].as_array().unwrap().len(), 1, "{dialect}:\n{text}\n{report:#}");
        report["findings"].as_array().unwrap().iter().map(|finding| finding["rule"].as_str().unwrap().to_owned()).collect()
    }
}

fn python(config: &str, more: &str) -> Option<(&'static str, String)> {
    let text = format!(
        "import boto3\nfrom botocore.config import Config\nmodel = boto3.client(\"bedrock-runtime\"{config})\n{more}\n\ndef handler(event, context):\n    return model.converse(modelId=\"us.amazon.nova-pro-v1:0\", messages=[], inferenceConfig={{\"maxTokens\": 300}})\n"
    );
    Some(("py", text))
}

fn javascript(options: &str, limit: &str) -> Option<(&'static str, String)> {
    let text = format!(
        "import {{ BedrockRuntimeClient, ConverseCommand }} from \"@aws-sdk/client-bedrock-runtime\";\nimport {{ NodeHttpHandler }} from \"@smithy/node-http-handler\";\nconst model = new BedrockRuntimeClient({{ {options} }});\nexport const handler = (event) =>\n  model.send(new ConverseCommand({{ modelId: \"us.amazon.nova-pro-v1:0\", messages: [], {limit} }}));\n"
    );
    Some(("mjs", text))
}

const PY_GOOD: &str = ", config=Config(read_timeout=30, retries={\"total_max_attempts\": 1})";
const JS_GOOD: &str = "maxAttempts: 1, requestHandler: { requestTimeout: 30000 }";
const JS_LIMIT: &str = "inferenceConfig: { maxTokens: 300 }";

/// A rule, a chain that breaks it and one that does not.
type Example = (&'static str, Chain, Chain);

/// Rules about the settings of templates.
fn of_templates() -> Vec<Example> {
    let model = |chain: &mut Chain| chain.source = python(PY_GOOD, "");
    vec![
        ("visibility-below-function-timeout", with(|c| c.visibility = Some(49)), good()),
        ("visibility-equals-function-timeout", with(|c| c.visibility = Some(50)), with(|c| c.visibility = Some(51))),
        (
            "visibility-below-timeout-plus-window",
            with(|c| (c.visibility, c.window) = (Some(59), Some(10))),
            with(|c| (c.visibility, c.window) = (Some(60), Some(10))),
        ),
        ("visibility-below-six-times", with(|c| c.visibility = Some(299)), good()),
        ("visibility-slows-retries", with(|c| c.visibility = Some(301)), good()),
        ("visibility-left-at-default", with(|c| (c.visibility, c.timeout) = (None, Some(5))), good()),
        ("function-timeout-left-at-default", with(|c| (c.timeout, c.visibility) = (None, Some(36))), good()),
        (
            "function-timeout-out-of-range",
            with(|c| (c.timeout, c.visibility) = (Some(1801), Some(10_806))),
            with(|c| (c.timeout, c.visibility) = (Some(900), Some(5400))),
        ),
        ("partial-batch-response-missing", with(|c| c.batch = 2), with(|c| (c.batch, c.reports) = (2, true))),
        (
            "batch-window-missing",
            with(|c| (c.batch, c.reports) = (11, true)),
            with(|c| (c.batch, c.reports, c.window, c.visibility) = (11, true, Some(1), Some(301))),
        ),
        ("fifo-batch-too-large", with(|c| (c.fifo, c.batch, c.reports) = (true, 11, true)), with(|c| c.fifo = true)),
        ("dead-letter-queue-missing", with(|c| c.receives = None), good()),
        ("max-receive-count-low", with(|c| c.receives = Some(4)), good()),
        ("retention-shorter-than-retries", with(|c| c.retention = Some(1499)), with(|c| c.retention = Some(1500))),
        ("dead-letter-retention-short", with(|c| c.dead_retention = None), good()),
        (
            "maximum-concurrency-missing",
            with(|c| {
                c.maximum = None;
                model(c);
            }),
            with(|c| c.maximum = None),
        ),
        ("maximum-concurrency-out-of-range", with(|c| c.maximum = Some(1)), good()),
        ("maximum-concurrency-with-provisioned-mode", with(|c| c.pollers = true), good()),
        ("maximum-concurrency-above-reserved", with(|c| c.reserved = Some(4)), with(|c| c.reserved = Some(5))),
        (
            "reserved-concurrency-as-throttle",
            with(|c| (c.reserved, c.maximum) = (Some(1), None)),
            with(|c| c.reserved = Some(5)),
        ),
        (
            "batch-exceeds-function-timeout",
            with(|c| (c.batch, c.reports, c.arguments) = (3, true, vec!["--slowest-call", "17s"])),
            with(|c| (c.batch, c.reports, c.arguments) = (3, true, vec!["--slowest-call", "16s"])),
        ),
        ("ignore-without-reason", with(|c| c.comment = Some("forebay: ignore[visibility-left-at-default]")), good()),
        (
            "ignore-unused",
            with(|c| c.comment = Some("forebay: ignore[visibility-left-at-default] no reason left")),
            with(|c| {
                c.visibility = Some(40);
                c.comment = Some("forebay: ignore[visibility-below-function-timeout] it ends by itself");
            }),
        ),
    ]
}

/// Rules about the client, in Python and in JavaScript.
fn of_clients() -> Vec<Example> {
    let py = |config: &str| with(|c| c.source = python(config, ""));
    let js = |options: &str| with(|c| c.source = javascript(options, JS_LIMIT));
    let slowest = |chain: Chain, seconds: &'static str| Chain { arguments: vec!["--slowest-call", seconds], ..chain };
    let (py_good, js_good) = (|| py(PY_GOOD), || js(JS_GOOD));
    let vpc = |chain: Chain| Chain { vpc: true, timeout: Some(400), visibility: Some(2400), ..chain };
    vec![
        (
            "function-timeout-below-read-timeout",
            py(", config=Config(read_timeout=50, retries={\"total_max_attempts\": 1})"),
            py_good(),
        ),
        ("function-timeout-below-read-timeout", js("maxAttempts: 1, requestHandler: { requestTimeout: 50_000 }"), js_good()),
        (
            "function-timeout-below-client-attempts",
            py(", config=Config(read_timeout=30, retries={\"max_attempts\": 1})"),
            py_good(),
        ),
        ("function-timeout-below-client-attempts", js("maxAttempts: 2, requestHandler: { requestTimeout: 30000 }"), js_good()),
        ("client-retries-multiply", py(", config=Config(read_timeout=10, retries={\"max_attempts\": 1})"), py_good()),
        ("client-retries-multiply", js("requestHandler: { requestTimeout: 10000 }"), js_good()),
        ("read-timeout-below-slowest-call", slowest(py_good(), "30s"), slowest(py_good(), "24s")),
        ("read-timeout-below-slowest-call", slowest(js_good(), "30s"), slowest(js_good(), "24s")),
        ("read-timeout-without-margin", slowest(py_good(), "25s"), slowest(py_good(), "24s")),
        ("read-timeout-without-margin", slowest(js_good(), "25s"), slowest(js_good(), "24s")),
        ("read-timeout-left-at-default", py(""), py_good()),
        ("read-timeout-left-at-default", js("maxAttempts: 1"), js_good()),
        ("read-timeout-missing", py(", config=Config(read_timeout=None)"), py_good()),
        ("read-timeout-missing", js("maxAttempts: 1, requestHandler: new NodeHttpHandler({})"), js_good()),
        ("read-timeout-option-ignored", js("maxAttempts: 1, requestTimeout: 30000"), js_good()),
        (
            "read-timeout-option-ignored",
            js("maxAttempts: 1, requestHandler: new NodeHttpHandler({ requestTimeout: 30000 })"),
            js("maxAttempts: 1, requestHandler: new NodeHttpHandler({ requestTimeout: 30000, throwOnRequestTimeout: true })"),
        ),
        (
            "tcp-idle-drop",
            vpc(py(", config=Config(read_timeout=351, retries={\"total_max_attempts\": 1})")),
            vpc(py(", config=Config(read_timeout=351, tcp_keepalive=True, retries={\"total_max_attempts\": 1})")),
        ),
        ("max-tokens-unset", with(|c| c.source = javascript(JS_GOOD, "")), js_good()),
        (
            "max-tokens-at-model-maximum",
            with(|c| c.source = javascript(JS_GOOD, "inferenceConfig: { maxTokens: 10_000 }")),
            js_good(),
        ),
        (
            "nested-retries",
            with(|c| {
                let (ending, text) = python(PY_GOOD, "from tenacity import retry").unwrap();
                c.source = Some((ending, text.replace("def handler", "@retry\ndef handler")));
            }),
            py_good(),
        ),
        (
            "http-pool-below-parallel-calls",
            with(|c| {
                let (ending, text) = python(PY_GOOD, "from concurrent.futures import ThreadPoolExecutor").unwrap();
                let pooled = "def one(record):\n    return model.converse(modelId=\"us.amazon.nova-pro-v1:0\", messages=[], inferenceConfig={\"maxTokens\": 300})\n\ndef handler(event, context):\n    with ThreadPoolExecutor(max_workers=11) as pool:\n        return list(pool.map(one, event[\"Records\"]))\n";
                let head = text.split("def handler").next().unwrap();
                c.source = Some((ending, format!("{head}{pooled}")));
            }),
            py_good(),
        ),
    ]
}

fn check(examples: &[Example], dialects: &[&str]) -> Vec<String> {
    let mut wrong = Vec::new();
    for (rule, bad, good) in examples {
        for dialect in dialects {
            // What a dialect has no words for.
            let absent = matches!(
                (*rule, *dialect),
                ("maximum-concurrency-with-provisioned-mode", "serverless")
                    | ("dead-letter-retention-short" | "ignore-without-reason" | "ignore-unused", "pulumi")
            );
            if absent {
                continue;
            }
            let (found, clean) = (bad.rules(dialect), good.rules(dialect));
            if !found.iter().any(|found| found == rule) {
                wrong.push(format!("{rule} in {dialect}: not found, but {found:?}"));
            }
            if clean.iter().any(|found| found == rule) {
                wrong.push(format!("{rule} in {dialect}: found where nothing is wrong"));
            }
        }
    }
    wrong
}

#[test]
fn rules_of_templates_hold_in_every_dialect() {
    let wrong = check(&of_templates(), &["cloudformation", "terraform", "serverless", "pulumi"]);
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    for dialect in ["cloudformation", "terraform", "serverless", "pulumi"] {
        assert_eq!(good().rules(dialect), Vec::<String>::new(), "{dialect}");
    }
}

#[test]
fn rules_of_clients_hold_in_two_languages_and_dialects() {
    let wrong = check(&of_clients(), &["cloudformation", "terraform"]);
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_rule_has_an_example_somewhere() {
    let shown: Vec<&str> = of_templates().iter().chain(&of_clients()).map(|(rule, ..)| *rule).collect();
    // These take more than one chain: they have their own tests.
    let elsewhere =
        ["reserved-below-sum-of-maxima", "in-flight-above-plan", "live-drift", "value-unresolved", "input-unreadable"];
    for rule in forebay::engine::rules::RULES {
        assert!(shown.contains(&rule.id) || elsewhere.contains(&rule.id), "{}", rule.id);
    }
}
