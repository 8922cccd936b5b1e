use std::collections::BTreeMap;

use proptest::prelude::*;

use super::*;
use crate::engine::deployment::{Deployment, Link};

fn deployment_of(files: &[(&str, &str)], parameters: &[(&str, &str)]) -> Deployment {
    let templates: BTreeMap<String, (File, Node)> =
        files.iter().map(|(path, text)| ((*path).to_owned(), (File::new(path, text), Node::parse(text).unwrap()))).collect();
    let parameters = parameters.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    let mut deployment = read(&templates, &Given { parameters, ..Given::default() }).deployment;
    deployment.join();
    deployment
}

fn one(text: &str) -> Deployment {
    deployment_of(&[("t.yaml", text)], &[])
}

const STACK: &str = "
Parameters:
  Hidden: {Type: Number, Default: 95}
  Work: {Type: Number}
Resources:
  Jobs:
    Type: AWS::SQS::Queue
    Properties:
      VisibilityTimeout: !Ref Hidden
  Worker:
    Type: AWS::Lambda::Function
    Properties:
      Timeout: !Ref Work
  Feed:
    Type: AWS::Lambda::EventSourceMapping
    Properties:
      EventSourceArn: !GetAtt Jobs.Arn
      FunctionName: !Ref Worker
";

#[test]
fn a_parameter_is_followed_to_its_default_and_one_without_is_unresolved() {
    let stack = one(STACK);
    let visibility = &stack.queues[0].visibility_s;
    assert_eq!(visibility.value(), Some(95.0));
    assert_eq!((visibility.literal().unwrap().line, visibility.place.as_ref().unwrap().line), (3, 9));
    let unresolved = stack.functions[0].timeout_s.why_unresolved().unwrap();
    assert_eq!(unresolved.why, "parameter `Work` has no default");
    assert_eq!((unresolved.place.as_ref().unwrap().line, unresolved.give.as_deref()), (13, Some("--parameter Work=...")));
    let given = deployment_of(&[("t.yaml", STACK)], &[("Work", "70"), ("Work", "80")]);
    let timeout = given.functions[0].timeout_s.fact().unwrap();
    assert_eq!((timeout.value, timeout.source.to_string().as_str()), (80.0, "--parameter Work"));
    assert_eq!((&given.mappings[0].queue, &given.mappings[0].function), (&Link::To(0), &Link::To(0)));
    assert!(given.mappings[0].batch_size.is_default());
}

#[test]
fn branches_follow_conditions_and_unknown_ones_are_said() {
    let text = |stage: &str| {
        format!(
            "
Parameters:
  Stage: {{Type: String{stage}}}
Conditions:
  Live: !Equals [!Ref Stage, live]
  Trial: !Not [!Condition Live]
Resources:
  A:
    Type: AWS::SQS::Queue
    Properties:
      VisibilityTimeout: !If [Live, 900, 90]
      FifoQueue: !If [Trial, true, !Ref AWS::NoValue]
      MessageRetentionPeriod: !If [Live, 600, 600]
  B:
    Type: AWS::SQS::Queue
    Condition: Live
"
        )
    };
    let trial = one(&text(", Default: trial"));
    assert_eq!((trial.queues.len(), trial.queues[0].visibility_s.value()), (1, Some(90.0)));
    assert_eq!(trial.queues[0].fifo.value(), Some(true));
    let unknown = one(&text(""));
    assert_eq!(unknown.queues.len(), 2);
    let why = unknown.queues[0].visibility_s.why_unresolved().unwrap();
    assert_eq!(why.why, "condition `Live` is not known: parameter `Stage` has no default");
    assert_eq!(unknown.queues[0].retention_s.value(), Some(600.0), "both branches say the same");
}

#[test]
fn joined_and_substituted_arns_lead_to_their_resources() {
    let source = |arn: &str| {
        format!(
            "
Resources:
  Jobs: {{Type: AWS::SQS::Queue, Properties: {{QueueName: jobs}}}}
  Stream: {{Type: AWS::Kinesis::Stream}}
  Worker: {{Type: AWS::Lambda::Function, Properties: {{FunctionName: work}}}}
  Feed:
    Type: AWS::Lambda::EventSourceMapping
    Properties:
      EventSourceArn: {arn}
      FunctionName: !Sub 'arn:${{AWS::Partition}}:lambda:${{AWS::Region}}:${{AWS::AccountId}}:function:${{Worker}}:live'
"
        )
    };
    for arn in [
        "!Sub '${Jobs.Arn}'",
        "!Sub 'arn:${AWS::Partition}:sqs:${AWS::Region}:${AWS::AccountId}:${Jobs.QueueName}'",
        "!Sub ['arn:aws:sqs:eu-west-1:1:${Name}', {Name: !GetAtt Jobs.QueueName}]",
        "'arn:aws:sqs:eu-west-1:111122223333:jobs'",
        "!Sub 'arn:aws:sqs:${AWS::Region}:${AWS::AccountId}:jobs'",
        "{'Fn::Join': [':', [arn, aws, sqs, !Ref 'AWS::Region', !Ref 'AWS::AccountId', jobs]]}",
    ] {
        let stack = one(&source(arn));
        assert_eq!(stack.mappings.len(), 1, "{arn}");
        assert_eq!((&stack.mappings[0].queue, &stack.mappings[0].function), (&Link::To(0), &Link::To(0)), "{arn}");
    }
    assert!(one(&source("!GetAtt Stream.Arn")).mappings.is_empty());
    assert!(one(&source("arn:aws:dynamodb:eu-west-1:1:table/t/stream/s")).mappings.is_empty());
    assert!(matches!(one(&source("!ImportValue other")).mappings[0].queue, Link::Import { .. }));
    assert!(matches!(one(&source("arn:aws:sqs:eu-west-1:1:other")).mappings[0].queue, Link::Named { .. }));
    assert!(matches!(one(&source("!Ref Nothing")).mappings[0].queue, Link::Unresolved(_)));
}

#[test]
fn stacks_are_joined_by_exports_ssm_and_nesting() {
    let queue = "
Resources:
  Jobs: {Type: AWS::SQS::Queue, Properties: {VisibilityTimeout: 77}}
  Told: {Type: AWS::SSM::Parameter, Properties: {Name: /jobs/arn, Value: !GetAtt Jobs.Arn}}
Outputs:
  Arn: {Value: !GetAtt Jobs.Arn, Export: {Name: jobs-arn}}
";
    let worker = |arn: &str| {
        format!(
            "
Parameters:
  Told: {{Type: 'AWS::SSM::Parameter::Value<String>', Default: /jobs/arn}}
Resources:
  Worker: {{Type: AWS::Lambda::Function}}
  Feed: {{Type: AWS::Lambda::EventSourceMapping, Properties: {{EventSourceArn: {arn}, FunctionName: !Ref Worker}}}}
"
        )
    };
    for arn in ["!ImportValue jobs-arn", "!Ref Told", "'{{resolve:ssm:/jobs/arn:1}}'"] {
        let joined = deployment_of(&[("queue.yaml", queue), ("worker.yaml", &worker(arn))], &[]);
        assert_eq!(joined.mappings[0].queue, Link::To(0), "{arn}");
    }
    let child = "
Parameters: {Arn: {Type: String}}
Resources:
  Worker: {Type: AWS::Lambda::Function}
  Feed: {Type: AWS::Lambda::EventSourceMapping, Properties: {EventSourceArn: !Ref Arn, FunctionName: !Ref Worker}}
Outputs: {Fn: {Value: !GetAtt Worker.Arn}}
";
    let parent = "
Resources:
  Jobs: {Type: AWS::SQS::Queue}
  More: {Type: AWS::SQS::Queue}
  Inner: {Type: AWS::CloudFormation::Stack, Properties: {TemplateURL: ./child.yaml, Parameters: {Arn: !GetAtt Jobs.Arn}}}
  Feed:
    Type: AWS::Lambda::EventSourceMapping
    Properties: {EventSourceArn: !GetAtt More.Arn, FunctionName: !GetAtt Inner.Outputs.Fn}
";
    let nested = deployment_of(&[("a/child.yaml", child), ("a/parent.yaml", parent)], &[]);
    assert_eq!(nested.functions.len(), 1, "the child is read where it is nested, and only there");
    let links: Vec<_> = nested.mappings.iter().map(|mapping| (mapping.queue.clone(), mapping.function.clone())).collect();
    assert_eq!(links, [(Link::To(0), Link::To(0)), (Link::To(1), Link::To(0))]);
}

#[test]
fn loops_over_literals_are_written_out_and_others_stay_unknown() {
    let text = "
Resources:
  'Fn::ForEach::Lanes':
    - Lane
    - [Fast, Slow]
    - 'Jobs${Lane}':
        Type: AWS::SQS::Queue
        Properties: {QueueName: !Sub 'jobs-${Lane}', VisibilityTimeout: 50}
";
    let unknown = one(&text.replace("[Fast, Slow]", "!Ref Lanes"));
    assert!(unknown.queues.is_empty());
    assert_eq!(
        unknown.unresolved[0].why,
        "`Fn::ForEach::Lanes` loops over a list that is only known on deployment, and makes AWS::SQS::Queue"
    );
    let parameter = text
        .replace("[Fast, Slow]", "!Ref Lanes")
        .replace("Resources:", "Parameters: {Lanes: {Type: CommaDelimitedList, Default: 'A, B, C'}}\nResources:");
    assert_eq!(one(&parameter).queues.len(), 3);
    assert_eq!(deployment_of(&[("t.yaml", &parameter)], &[("Lanes", "X")]).queues[0].name, "JobsX");
    let names: Vec<_> = one(text).queues.into_iter().map(|queue| queue.name).collect();
    assert_eq!(names, ["JobsFast", "JobsSlow"]);
}

#[test]
fn lists_of_parameters_fifo_topics_and_aliases_of_sam() {
    let text = "
Transform: AWS::Serverless-2016-10-31
Parameters: {Numbers: {Type: CommaDelimitedList, Default: '60,360, 12'}}
Resources:
  Jobs: {Type: AWS::SQS::Queue, Properties: {VisibilityTimeout: !Select [1, !Ref Numbers]}}
  Topic: {Type: AWS::SNS::Topic, Properties: {FifoTopic: true}}
  Worker:
    Type: AWS::Serverless::Function
    Properties:
      AutoPublishAlias: live
      Events: {News: {Type: SNS, Properties: {Topic: !Ref Topic, SqsSubscription: true}}}
  Feed:
    Type: AWS::Lambda::EventSourceMapping
    Properties: {EventSourceArn: !GetAtt Jobs.Arn, FunctionName: !Ref Worker.Alias}
";
    let stack = one(text);
    assert_eq!(stack.queues[0].visibility_s.value(), Some(360.0));
    assert_eq!(stack.queues[1].fifo.value(), Some(true));
    assert!(stack.mappings.iter().all(|mapping| mapping.function == Link::To(0)), "{:?}", stack.mappings);
}

#[test]
fn sam_takes_globals_and_hides_queues() {
    let text = "
Transform: AWS::Serverless-2016-10-31
Globals:
  Function: {Timeout: 44, Environment: {Variables: {AWS_MAX_ATTEMPTS: '2'}}}
Resources:
  Topic: {Type: AWS::SNS::Topic}
  Worker:
    Type: AWS::Serverless::Function
    Properties:
      Handler: app.main
      CodeUri: code/
      Policies:
        - AmazonSQSFullAccess
        - Statement: {Effect: Allow, Action: ['bedrock:InvokeModel*'], Resource: '*'}
      Events:
        News: {Type: SNS, Properties: {Topic: !Ref Topic, SqsSubscription: {BatchSize: 4}}}
        Off: {Type: SNS, Properties: {Topic: !Ref Topic, SqsSubscription: false}}
";
    let stack = one(text);
    assert_eq!(stack.queues[0].name, "WorkerNewsQueue");
    assert_eq!((stack.mappings.len(), stack.mappings[0].batch_size.value()), (1, Some(4.0)));
    let worker = &stack.functions[0];
    assert_eq!((worker.timeout_s.value(), worker.max_attempts.value()), (Some(44.0), Some(2.0)));
    assert!(worker.model_permission.is_some());
    assert_eq!(worker.code.as_ref().unwrap().folders[0], "code");
}

#[test]
fn a_role_s_policies_are_the_evidence_of_a_model() {
    let text = |action: &str| {
        format!(
            "
Resources:
  Role: {{Type: AWS::IAM::Role}}
  Policy:
    Type: AWS::IAM::Policy
    Properties:
      PolicyDocument: {{Statement: [{{Effect: Allow, Action: '{action}'}}]}}
      Roles: [!Ref Role]
  Worker: {{Type: AWS::Lambda::Function, Properties: {{Role: !GetAtt Role.Arn}}}}
"
        )
    };
    assert!(one(&text("bedrock:Invoke*")).functions[0].model_permission.is_some());
    assert!(one(&text("bedrock:List*")).functions[0].model_permission.is_none());
}

#[test]
fn references_in_circles_end() {
    one("
Conditions: {A: !Condition B, B: !Condition A}
Resources:
  Q: {Type: AWS::SQS::Queue, Properties: {VisibilityTimeout: !If [A, 1, 2]}}
  S: {Type: AWS::CloudFormation::Stack, Properties: {TemplateURL: t.yaml}}
  T: {Type: AWS::SQS::Queue, Properties: {VisibilityTimeout: !GetAtt S.Outputs.X}}
Outputs: {X: {Value: !GetAtt S.Outputs.X}}
");
}

proptest! {
    #[test]
    fn any_tree_is_read(text in "(Resources|Parameters|Conditions|Outputs|Globals): [\\PC\n]{0,200}") {
        if let Ok(root) = Node::parse(&text) {
            let templates = BTreeMap::from([("t.yaml".to_owned(), (File::new("t.yaml", &text), root))]);
            read(&templates, &Given::default());
        }
    }
}
