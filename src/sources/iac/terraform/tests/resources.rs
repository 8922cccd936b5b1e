//! Resources, their links, and what registry modules and roles add.

use super::{function, lines, queue, read, read_all};
use crate::engine::deployment::Link;

#[test]
fn instances_have_addresses_and_dynamic_blocks_their_own_values() {
    let text = r#"locals {
  lanes = [{ name = "x", most = 7 }, { name = "y.z", most = null }]
}
resource "aws_sqs_queue" "lane" {
  for_each = { for lane in local.lanes : lane.name => lane }
  name     = "jobs-${each.key}"
}
resource "aws_lambda_function" "lane" {
  count         = length(local.lanes)
  function_name = format("work-%s-%d", local.lanes[count.index].name, count.index)
}
resource "aws_lambda_event_source_mapping" "lane" {
  for_each         = { for at, lane in local.lanes : lane.name => merge(lane, { at = at }) }
  event_source_arn = aws_sqs_queue.lane[each.key].arn
  function_name    = aws_lambda_function.lane[each.value.at].arn
  dynamic "scaling_config" {
    for_each = [for most in [each.value.most] : most if most != null]
    iterator = it
    content {
      maximum_concurrency = it.value
    }
  }
  dynamic "provisioned_poller_config" {
    for_each = each.value.most == null ? toset([2]) : []
    content {
      minimum_pollers = provisioned_poller_config.value
    }
  }
}
"#;
    let deployment = read(text);
    assert_eq!(queue(&deployment, "aws_sqs_queue.lane[\"y.z\"]").queue_name.as_deref(), Some("jobs-y.z"));
    assert_eq!(function(&deployment, "aws_lambda_function.lane[1]").function_name.as_deref(), Some("work-y.z-1"));
    let [first, second] = deployment.mappings.as_slice() else { panic!() };
    assert_eq!(
        (&first.queue, &first.function, &second.queue, &second.function),
        (&Link::To(0), &Link::To(0), &Link::To(1), &Link::To(1))
    );
    assert_eq!(lines(&first.maximum_concurrency), (Some(7.0), Some(2), Some(20)));
    assert!(second.maximum_concurrency.is_unset());
    assert_eq!((first.provisioned.is_some(), second.provisioned.as_ref().map(|place| place.line)), (false, Some(23)));
}

#[test]
fn an_unknown_number_of_instances_is_one() {
    let text = r#"variable "lanes" {}
resource "aws_sqs_queue" "q" {
  for_each                   = var.lanes
  visibility_timeout_seconds = each.value
  message_retention_seconds  = 600
}
resource "aws_lambda_function" "f" { timeout = 9 }
resource "aws_lambda_event_source_mapping" "m" {
  for_each         = var.lanes
  event_source_arn = aws_sqs_queue.q[each.key].arn
  function_name    = aws_lambda_function.f.arn
}
"#;
    let deployment = read(text);
    let queue = queue(&deployment, "aws_sqs_queue.q");
    assert_eq!(queue.visibility_s.why_unresolved().unwrap().give.as_deref(), Some("--var lanes=..."));
    assert_eq!(queue.retention_s.value(), Some(600.0));
    assert_eq!((&deployment.mappings[0].queue, &deployment.mappings[0].function), (&Link::To(0), &Link::To(0)));
}

#[test]
fn links_are_followed_however_they_are_written() {
    let text = r#"variable "name" {}
variable "region" {}
resource "aws_sqs_queue" "q" { name = "${var.name}-jobs" }
resource "aws_sqs_queue" "plain" { name = "plain" }
resource "aws_lambda_function" "f" { function_name = "${var.name}-work" }
resource "aws_lambda_alias" "live" {
  function_name = aws_lambda_function.f.arn
  name          = "live"
}
data "aws_sqs_queue" "theirs" { name = "theirs" }
resource "aws_lambda_event_source_mapping" "a" {
  event_source_arn = "arn:aws:sqs:${var.region}:1:${aws_sqs_queue.q.name}"
  function_name    = aws_lambda_alias.live.arn
}
resource "aws_lambda_event_source_mapping" "b" {
  event_source_arn = "arn:aws:sqs:${var.region}:1:plain"
  function_name    = "${aws_lambda_function.f.arn}:${aws_lambda_alias.live.name}"
}
resource "aws_lambda_event_source_mapping" "c" {
  event_source_arn = data.aws_sqs_queue.theirs.arn
  function_name    = "arn:aws:lambda:eu-west-1:1:function:elsewhere:7"
}
resource "aws_lambda_event_source_mapping" "d" {
  event_source_arn = var.region
  function_name    = join(":", [aws_lambda_function.f.function_name, "live"])
}
resource "aws_lambda_event_source_mapping" "e" {
  event_source_arn  = aws_kinesis_stream.s.arn
  function_name     = aws_lambda_function.f.arn
}
resource "aws_kinesis_stream" "s" {}
resource "aws_lambda_event_source_mapping" "f" {
  event_source_arn  = var.region
  starting_position = "LATEST"
  function_name     = aws_lambda_function.f.arn
}
resource "aws_lambda_event_source_mapping" "g" {
  event_source_arn  = "arn:aws:dynamodb:eu-west-1:1:table/t/stream/x"
  function_name     = aws_lambda_function.f.arn
}
"#;
    let deployment = read(text);
    assert_eq!(deployment.mappings.len(), 4, "{:#?}", deployment.mappings);
    let named = |link: &Link| match link {
        Link::Named { name, .. } => name.clone(),
        other => panic!("{other:?}"),
    };
    let mapping = |at: usize| (&deployment.mappings[at].queue, &deployment.mappings[at].function);
    assert_eq!(mapping(0), (&Link::To(0), &Link::To(0)));
    assert_eq!(mapping(1), (&Link::To(1), &Link::To(0)));
    assert_eq!((named(mapping(2).0), named(mapping(2).1)), ("theirs".to_owned(), "elsewhere".to_owned()));
    assert!(matches!(mapping(3).0, Link::Unresolved(why) if why.give.as_deref() == Some("--var region=...")));
    assert_eq!(mapping(3).1, &Link::To(0));
}

#[test]
fn redrive_policies_are_read_in_all_their_forms() {
    let text = r#"variable "most" { default = 8 }
resource "aws_sqs_queue" "dead" { name = "dead" }
resource "aws_sqs_queue" "a" {
  redrive_policy = <<-EOT
    {
      "deadLetterTargetArn": "${aws_sqs_queue.dead.arn}",
      "maxReceiveCount": 3
    }
  EOT
}
resource "aws_sqs_queue" "b" {
  redrive_policy = "{\"deadLetterTargetArn\":\"${aws_sqs_queue.dead.arn}\",\"maxReceiveCount\":${var.most}}"
}
resource "aws_sqs_queue" "c" {
  redrive_policy = "{\"deadLetterTargetArn\":\"arn:aws:sqs:eu-west-1:1:dead\",\"maxReceiveCount\":\"6\"}"
}
resource "aws_sqs_queue" "d" {}
resource "aws_sqs_queue_redrive_policy" "d" {
  queue_url      = aws_sqs_queue.d.id
  redrive_policy = jsonencode({ maxReceiveCount = var.most, deadLetterTargetArn = aws_sqs_queue.dead.arn })
}
resource "aws_sqs_queue" "e" { redrive_policy = var.absent }
resource "aws_sqs_queue" "f" { redrive_policy = var.most > 8 ? jsonencode({ maxReceiveCount = 1 }) : null }
"#;
    let deployment = read(text);
    for (name, value, literal, setting) in [("a", 3.0, 7, 7), ("b", 8.0, 1, 12), ("c", 6.0, 15, 15), ("d", 8.0, 1, 20)] {
        let redrive = queue(&deployment, &format!("aws_sqs_queue.{name}")).redrive.fact().unwrap_or_else(|| panic!("{name}"));
        assert_eq!(lines(&redrive.value.max_receive_count), (Some(value), Some(literal), Some(setting)), "{name}");
        assert_eq!(redrive.value.dead_letter, Some(0), "{name}");
    }
    assert!(queue(&deployment, "aws_sqs_queue.e").redrive.why_unresolved().is_some());
    assert!(queue(&deployment, "aws_sqs_queue.f").redrive.is_unset());
}

#[test]
fn functions_show_what_else_bears_on_the_chain() {
    let text = r#"locals { tries = 2 }
resource "aws_lambda_function" "f" {
  handler  = "app.main"
  filename = "${path.module}/build/app.zip"
  runtime  = "python3.13"
  vpc_config {
    subnet_ids         = [var.subnet]
    security_group_ids = []
  }
  environment {
    variables = {
      PASSWORD         = "hunter-two"
      AWS_MAX_ATTEMPTS = local.tries
      AWS_RETRY_MODE   = "standard"
    }
  }
}
resource "aws_lambda_function" "g" {
  vpc_config {
    subnet_ids = []
  }
}
variable "subnet" {}
"#;
    let deployment = read_all(&[("app/infra/main.tf", text)], &[]);
    let first = function(&deployment, "aws_lambda_function.f");
    assert!(first.in_vpc);
    assert_eq!(lines(&first.max_attempts), (Some(2.0), Some(1), Some(13)));
    assert_eq!(first.retry_mode.fact().unwrap().value, "standard");
    let code = first.code.as_ref().unwrap();
    assert_eq!((code.handler.as_str(), code.runtime.as_deref()), ("app.main", Some("python3.13")));
    assert_eq!(code.folders, ["app/infra/build/app", "app/infra/build", "app/infra", "app/infra/src"]);
    assert!(!function(&deployment, "aws_lambda_function.g").in_vpc);
    assert!(!format!("{deployment:?}").contains("hunter-two"));
}

#[test]
fn registry_modules_become_what_they_make() {
    let text = r#"module "jobs" {
  source                     = "terraform-aws-modules/sqs/aws"
  name                       = "jobs"
  create_dlq                 = true
  redrive_policy             = { maxReceiveCount = 4 }
  message_retention_seconds  = 7200
}
module "bare" {
  source = "git::https://github.com/terraform-aws-modules/terraform-aws-sqs.git?ref=v5.0.0"
  name   = "bare"
}
module "work" {
  source        = "terraform-aws-modules/lambda/aws"
  function_name = "work"
  handler       = "work.main"
  source_path   = ["../src/work/main.py", { path = "../lib" }]
  timeout       = 33
  vpc_subnet_ids = ["subnet-1"]
  environment_variables = {
    AWS_MAX_ATTEMPTS = "1"
  }
  attach_policy_statements = true
  policy_statements = {
    logs = { effect = "Allow", actions = ["logs:*"], resources = ["*"] }
    model = {
      effect    = "Allow", actions = ["bedrock:InvokeModel"], resources = ["*"]
    }
  }
  event_source_mapping = {
    jobs = { event_source_arn = module.jobs.queue_arn, scaling_config = { maximum_concurrency = 6 } }
    dead = { event_source_arn = module.jobs.dead_letter_queue_arn, batch_size = 2, provisioned_poller_config = { minimum_pollers = 2 } }
  }
}
resource "aws_lambda_event_source_mapping" "bare" {
  event_source_arn = module.bare.queue_arn
  function_name    = module.work.lambda_function_name
}
resource "aws_lambda_event_source_mapping" "other" {
  event_source_arn = module.other.queue_arn
  function_name    = module.work.lambda_function_arn
}
module "other" { source = "acme/queues/aws" }
"#;
    let deployment = read_all(&[("infra/main.tf", text)], &[]);
    let jobs = queue(&deployment, "module.jobs");
    let redrive = &jobs.redrive.fact().unwrap().value;
    assert_eq!(lines(&redrive.max_receive_count), (Some(4.0), Some(5), Some(5)));
    assert_eq!(redrive.dead_letter, Some(1));
    assert_eq!(deployment.queues[1].retention_s.value(), Some(7200.0));
    assert!(queue(&deployment, "module.bare").redrive.is_unset());
    let work = function(&deployment, "module.work");
    assert_eq!(lines(&work.timeout_s), (Some(33.0), Some(17), Some(17)));
    assert!(work.in_vpc);
    assert_eq!(work.max_attempts.value(), Some(1.0));
    assert_eq!(work.model_permission.as_ref().unwrap().line, 25);
    assert_eq!(work.code.as_ref().unwrap().folders, ["src/work", "lib", "infra", "infra/src"]);
    let links: Vec<(&Link, &Link)> = deployment.mappings.iter().map(|mapping| (&mapping.queue, &mapping.function)).collect();
    assert_eq!(links[..3], [(&Link::To(0), &Link::To(0)), (&Link::To(1), &Link::To(0)), (&Link::To(2), &Link::To(0))]);
    assert!(matches!(links[3], (Link::Unresolved(why), Link::To(0)) if why.why.contains("module.other")));
    assert_eq!(deployment.mappings[0].maximum_concurrency.value(), Some(6.0));
    assert!(deployment.mappings[1].provisioned.is_some());
    assert_eq!(deployment.mappings[0].place.as_ref().unwrap().line, 30);
}

#[test]
fn roles_that_may_call_a_model() {
    let text = r#"resource "aws_iam_role" "a" { name = "role-a" }
resource "aws_iam_role" "b" {
  inline_policy {
    policy = jsonencode({
      Statement = [
        { Effect = "Deny", Action = "bedrock:InvokeModel" },
        { Effect = "Allow", Action = ["bedrock:Converse*"], Resource = "*" },
      ]
    })
  }
}
resource "aws_iam_role" "c" {}
resource "aws_iam_role" "d" {}
resource "aws_iam_role" "e" { managed_policy_arns = ["arn:${var.partition}:iam::aws:policy/AmazonBedrockFullAccess"] }
resource "aws_iam_role" "f" {}
data "aws_iam_policy" "full" { name = "AmazonBedrockFullAccess" }
resource "aws_iam_policy_attachment" "f" {
  roles      = [aws_iam_role.f.name]
  policy_arn = data.aws_iam_policy.full.arn
}
variable "partition" { default = "aws" }
data "aws_iam_policy_document" "inner" {
  statement {
    actions = ["sqs:*"]
  }
  statement {
    actions = ["bedrock:*"]
  }
}
data "aws_iam_policy_document" "outer" {
  source_policy_documents = [data.aws_iam_policy_document.inner.json]
}
resource "aws_iam_policy" "p" { policy = data.aws_iam_policy_document.outer.json }
resource "aws_iam_role_policy_attachment" "a" {
  role       = "role-a"
  policy_arn = aws_iam_policy.p.arn
}
resource "aws_iam_role_policy" "c" {
  role   = aws_iam_role.c.id
  policy = data.aws_iam_policy_document.inner.json
}
resource "aws_iam_role_policy" "d" {
  role   = aws_iam_role.d.name
  policy = jsonencode({ Statement = [{ Effect = "Allow", Action = "sqs:*" }] })
}
resource "aws_lambda_function" "a" { role = aws_iam_role.a.arn }
resource "aws_lambda_function" "b" { role = aws_iam_role.b.arn }
resource "aws_lambda_function" "c" { role = aws_iam_role.c.arn }
resource "aws_lambda_function" "d" { role = aws_iam_role.d.arn }
resource "aws_lambda_function" "e" { role = aws_iam_role.e.arn }
resource "aws_lambda_function" "f" { role = aws_iam_role.f.arn }
"#;
    let deployment = read(text);
    let line = |name: &str| {
        function(&deployment, &format!("aws_lambda_function.{name}")).model_permission.as_ref().map(|place| place.line)
    };
    assert_eq!((line("a"), line("b"), line("c"), line("d")), (Some(26), Some(7), Some(26), None));
    assert_eq!((line("e"), line("f")), (Some(14), Some(16)));
}
