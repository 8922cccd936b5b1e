//! `check timeouts --live`, answered by the account on loopback: what is deployed, and where it differs from templates.

use serde_json::{Value, json};

use crate::account::{Account, Fault, State};
use crate::program::Program;

const QUEUE: &str = "arn:aws:sqs:us-east-1:111122223333:app-Jobs-1A2B3C";
const FUNCTION: &str = "arn:aws:lambda:us-east-1:111122223333:function:app-Worker-9Z8Y";

/// A stack whose visibility timeout was lowered by hand, with a secret in the environment.
fn state() -> State {
    let mapping = json!({
        "UUID": "11111111-2222-3333-4444-555555555555", "BatchSize": 1, "MaximumBatchingWindowInSeconds": 0,
        "EventSourceArn": QUEUE, "FunctionArn": format!("{FUNCTION}:live"), "State": "Enabled",
        "FunctionResponseTypes": [], "ScalingConfig": {"MaximumConcurrency": 5},
    });
    let stream = json!({
        "UUID": "s", "BatchSize": 100, "EventSourceArn": "arn:aws:kinesis:us-east-1:111122223333:stream/s",
        "FunctionArn": FUNCTION, "State": "Enabled",
    });
    let function = json!({
        "Configuration": {
            "FunctionName": "app-Worker-9Z8Y", "Timeout": 120,
            "Environment": {"Variables": {"AWS_MAX_ATTEMPTS": "1", "TOKEN": "placeholder-77aa"}},
        },
        "Concurrency": {"ReservedConcurrentExecutions": 4},
        "Tags": {"aws:cloudformation:stack-name": "app", "aws:cloudformation:logical-id": "Worker"},
    });
    let attributes = json!({
        "VisibilityTimeout": "60", "MessageRetentionPeriod": "345600", "QueueArn": QUEUE,
        "RedrivePolicy": "{\"deadLetterTargetArn\":\"arn:aws:sqs:us-east-1:111122223333:app-Dead\",\"maxReceiveCount\":3}",
    });
    let dead = json!({"VisibilityTimeout": "30", "MessageRetentionPeriod": "1209600", "QueueArn": "arn:aws:sqs:us-east-1:111122223333:app-Dead"});
    let mut state = State { mappings: vec![mapping, stream], ..State::default() };
    state.functions.insert("app-Worker-9Z8Y", function);
    state.queues.insert("app-Jobs-1A2B3C", attributes);
    state.queues.insert("app-Dead", dead);
    state
}

fn check(account: &Account, more: &[&str]) -> Program {
    Program::new(&[&["check", "timeouts", "--live", "--endpoint-url", &account.url], more].concat())
        .variable("AWS_ACCESS_KEY_ID", "testing")
        .variable("AWS_SECRET_ACCESS_KEY", "testing")
        .variable("AWS_REGION", "us-east-1")
}

fn rules(report: &Value) -> Vec<String> {
    report["findings"].as_array().unwrap().iter().map(|finding| finding["rule"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn what_is_deployed_is_checked_by_function_queue_and_stack() {
    for select in [["--function", FUNCTION], ["--queue", "app-Jobs-1A2B3C"], ["--queue", QUEUE], ["--stack", "app"]] {
        let account = Account::start(state());
        let report = check(&account, &[&select[..], &["--format", "json"]].concat()).run().json(1);
        let chain = &report["chains"][0];
        assert_eq!((&chain["queue"]["value"], &chain["function"]["value"]), (&"app-Jobs-1A2B3C".into(), &"Worker".into()));
        assert_eq!(
            (&chain["visibility_timeout_s"]["value"], &chain["visibility_timeout_s"]["source"]),
            (&json!(60.0), &json!("live"))
        );
        assert_eq!(report["chains"].as_array().unwrap().len(), 1, "a stream is no queue");
        assert_eq!(
            rules(&report),
            ["maximum-concurrency-above-reserved", "visibility-below-function-timeout", "max-receive-count-low"],
            "{select:?}"
        );
        assert!(account.log().iter().all(|operation| operation.starts_with("Get") || operation.starts_with("List")));
    }
    let account = Account::start(state());
    let other = check(&account, &["--stack", "another", "--format", "json"]).run();
    assert_eq!(other.code, 3, "{}", other.stdout);
    let text = check(&account, &["--function", FUNCTION]).run().stdout(1);
    assert!(!text.contains("placeholder-77aa"));
    insta::assert_snapshot!(text);
}

const TEMPLATE: &str = "Resources:
  Jobs:
    Type: AWS::SQS::Queue
    Properties:
      VisibilityTimeout: 720
      RedrivePolicy: {deadLetterTargetArn: !GetAtt Dead.Arn, maxReceiveCount: 3}
  Dead: {Type: AWS::SQS::Queue, Properties: {MessageRetentionPeriod: 1209600}}
  Worker:
    Type: AWS::Lambda::Function
    Properties: {Timeout: 120, ReservedConcurrentExecutions: 5}
  Feed:
    Type: AWS::Lambda::EventSourceMapping
    Properties:
      EventSourceArn: !GetAtt Jobs.Arn
      FunctionName: !Ref Worker
      BatchSize: 1
      ScalingConfig: {MaximumConcurrency: 5}
";

#[test]
fn drift_from_the_template_is_a_finding_at_the_template_s_place() {
    let account = Account::start(state());
    let run = check(&account, &["t.yaml", "--stack", "app", "--format", "json"]).file("t.yaml", TEMPLATE).run();
    let report = run.json(0);
    let drift: Vec<(u64, &str)> = report["findings"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|finding| finding["rule"] == "live-drift")
        .map(|finding| (finding["line"].as_u64().unwrap(), finding["message"].as_str().unwrap()))
        .collect();
    assert_eq!(
        drift,
        [
            (5, "the visibility timeout is 720 in the template, and 60 live"),
            (10, "the reserved concurrency is 5 in the template, and 4 live")
        ]
    );
}

#[test]
fn what_cannot_be_asked_names_the_action() {
    let fault = |operation| Fault {
        operation,
        status: 403,
        kind: "AccessDeniedException",
        message: "not authorized",
        after: 0,
        times: 100,
    };
    for (operation, action) in [
        ("ListEventSourceMappings", "lambda:ListEventSourceMappings"),
        ("GetFunction", "lambda:GetFunction"),
        ("GetQueueAttributes", "sqs:GetQueueAttributes"),
    ] {
        let account = Account::start(State { faults: vec![fault(operation)], ..state() });
        let error = check(&account, &["--function", FUNCTION]).run().stderr();
        assert!(error.contains(&format!("the IAM action `{action}`")), "{error}");
    }
    let account = Account::start(state());
    let unnamed = check(&account, &[]).run().stderr();
    assert!(unnamed.contains("give `--function`, `--queue` or `--stack`"), "{unnamed}");
    let missing = check(&account, &["--queue", "nowhere"]).run().stderr();
    assert!(missing.contains("SQS: GetQueueUrl failed"), "{missing}");
}
