//! Whole configurations, from text to settings.

use proptest::prelude::*;

use super::*;
use crate::engine::deployment::{Deployment, Function, Link, Queue, Setting};
use crate::engine::fact::Source;

mod resources;

fn files(list: &[(&str, &str)]) -> BTreeMap<String, Vec<File>> {
    let mut folders: BTreeMap<String, Vec<File>> = BTreeMap::new();
    for (path, text) in list {
        let file = File::new(path, text);
        folders.entry(file.folder().to_owned()).or_default().push(file);
    }
    folders
}

fn read_all(list: &[(&str, &str)], vars: &[(&str, &str)]) -> Deployment {
    let variables = vars.iter().map(|(name, text)| ((*name).to_owned(), (*text).to_owned())).collect();
    let read = read_folders(&files(list), &Given { variables, ..Given::default() });
    assert!(read.unreadable.is_empty(), "{:?}", read.unreadable);
    read.deployment
}

fn read(text: &str) -> Deployment {
    read_all(&[("main.tf", text)], &[])
}

fn queue<'d>(deployment: &'d Deployment, name: &str) -> &'d Queue {
    deployment.queues.iter().find(|queue| queue.name == name).unwrap_or_else(|| panic!("{:#?}", deployment.queues))
}

fn function<'d>(deployment: &'d Deployment, name: &str) -> &'d Function {
    deployment.functions.iter().find(|function| function.name == name).unwrap_or_else(|| panic!("{:#?}", deployment.functions))
}

/// Value, the literal's line and the setting's line.
fn lines(setting: &Setting<f64>) -> (Option<f64>, Option<usize>, Option<usize>) {
    (setting.value(), setting.literal().map(|place| place.line), setting.place.as_ref().map(|place| place.line))
}

#[test]
fn values_are_followed_to_their_literals() {
    let text = r#"variable "span" {
  type    = object({ work = number, hide = optional(number, 444) })
  default = { work = 71 }
}
locals {
  double = local.base * 2
  base   = 35
  picked = var.span.work > 70 ? 900 : 800
}
resource "aws_sqs_queue" "a" { visibility_timeout_seconds = var.span.hide }
resource "aws_sqs_queue" "b" { visibility_timeout_seconds = local.double }
resource "aws_sqs_queue" "c" { visibility_timeout_seconds = (local.picked) }
resource "aws_sqs_queue" "d" { visibility_timeout_seconds = "${var.span.work}" }
resource "aws_sqs_queue" "e" { visibility_timeout_seconds = try(local.nothing.at, coalesce(null, 31)) }
resource "aws_sqs_queue" "f" { visibility_timeout_seconds = null }
resource "aws_sqs_queue" "g" { visibility_timeout_seconds = aws_lambda_function.f.timeout * 6 }
resource "aws_lambda_function" "f" {
  timeout                        = aws_sqs_queue.b.visibility_timeout_seconds
  reserved_concurrent_executions = -1
}
"#;
    let deployment = read(text);
    for (name, value, literal, setting) in [
        ("a", 444.0, Some(2), Some(10)),
        ("b", 70.0, Some(6), Some(11)),
        ("c", 900.0, Some(8), Some(12)),
        ("d", 71.0, Some(3), Some(13)),
        ("e", 31.0, Some(14), Some(14)),
        ("f", 30.0, None, None),
        ("g", 420.0, Some(16), Some(16)),
    ] {
        let found = lines(&queue(&deployment, &format!("aws_sqs_queue.{name}")).visibility_s);
        assert_eq!(found, (Some(value), literal, setting), "{name}");
    }
    let function = function(&deployment, "aws_lambda_function.f");
    assert_eq!(lines(&function.timeout_s), (Some(70.0), Some(6), Some(18)));
    assert!(function.reserved_concurrency.is_unset());
    assert!(queue(&deployment, "aws_sqs_queue.f").visibility_s.is_default());
}

#[test]
fn later_givers_of_variables_win() {
    let list = [
        ("live/main.tf", "variable \"t\" {}\nresource \"aws_lambda_function\" \"f\" { timeout = var.t }\n"),
        ("live/terraform.tfvars", "t = 11\n"),
        ("live/a.auto.tfvars", "\nt = 12\n"),
        ("live/other.tfvars", "t = 99\n"),
    ];
    let timeout = |deployment: Deployment| deployment.functions[0].timeout_s.clone();
    let own = timeout(read_all(&list, &[]));
    assert_eq!((own.value(), own.literal().unwrap().to_string().as_str()), (Some(12.0), "live/a.auto.tfvars:2:5"));
    let variable_files = vec![File::new("x.tfvars", "t = 13\n"), File::new("y.tfvars.json", "{\"t\": 14}")];
    let read = read_folders(&files(&list), &Given { variable_files, ..Given::default() });
    let given = timeout(read.deployment);
    assert_eq!((given.value(), given.literal().unwrap().to_string().as_str()), (Some(14.0), "y.tfvars.json:1:7"));
    let typed = timeout(read_all(&list, &[("t", "15")]));
    assert_eq!(typed.fact().unwrap().source, Source::Flag("--var t".to_owned()));
    assert_eq!(typed.value(), Some(15.0));
}

#[test]
fn what_is_not_given_is_unresolved_and_never_a_default() {
    let text = r#"variable "t" { type = number }
variable "secret" {}
data "aws_ssm_parameter" "p" { name = "/t" }
resource "aws_lambda_function" "f" { timeout = var.t }
resource "aws_lambda_function" "g" { timeout = var.t + 5 }
resource "aws_lambda_function" "h" { timeout = data.aws_ssm_parameter.p.value }
resource "aws_lambda_function" "i" { timeout = regex("[0-9]+", "30s") }
resource "aws_lambda_function" "j" { timeout = local.absent }
resource "aws_lambda_function" "k" { timeout = "soon" }
resource "aws_lambda_function" "l" { timeout = var.t == 3 ? 60 : 60 }
"#;
    let deployment = read_all(&[("main.tf", text)], &[("secret", "[hunter, \"two\"]")]);
    let unresolved = |name: &str| {
        function(&deployment, &format!("aws_lambda_function.{name}"))
            .timeout_s
            .why_unresolved()
            .cloned()
            .unwrap_or_else(|| panic!("{name}"))
    };
    let first = unresolved("f");
    assert_eq!(first.why, "variable `t` has no default and is not given");
    assert_eq!(first.give.as_deref(), Some("--var t=..."));
    assert_eq!((first.place.unwrap().line, unresolved("g").place.unwrap().line), (4, 5));
    assert_eq!(unresolved("h").why, "`data.aws_ssm_parameter.p.value` is known only after apply");
    assert_eq!(unresolved("i").why, "the function `regex` is not evaluated here");
    assert_eq!(unresolved("j").why, "there is no local value `absent`");
    assert_eq!(unresolved("k").why, "expected a number");
    assert_eq!(function(&deployment, "aws_lambda_function.l").timeout_s.value(), Some(60.0));
}

#[test]
fn flags_are_read_as_their_types_have_them() {
    let text = r#"variable "lanes" { type = map(object({ t = number })) }
variable "name" { type = string }
variable "word" {}
resource "aws_lambda_function" "f" {
  for_each      = var.lanes
  function_name = "${var.name}-${var.word}"
  timeout       = each.value.t
}
"#;
    let deployment =
        read_all(&[("main.tf", text)], &[("lanes", "{ slow = { t = \"44\" } }"), ("name", "007"), ("word", "live")]);
    let function = function(&deployment, "aws_lambda_function.f[\"slow\"]");
    assert_eq!(function.function_name.as_deref(), Some("007-live"));
    assert_eq!(function.timeout_s.value(), Some(44.0));
    assert_eq!(function.timeout_s.fact().unwrap().source, Source::Flag("--var lanes".to_owned()));
}

#[test]
fn local_modules_are_evaluated_for_each_call() {
    let list = [
        (
            "infra/main.tf",
            r#"module "lane" {
  source   = "./modules/lane"
  for_each = { a = 40, b = 50 }
  hide     = each.value
}
module "work" {
  source    = "../shared/work"
  queue_arn = module.lane["b"].arn
}
"#,
        ),
        (
            "infra/modules/lane/main.tf",
            r#"variable "hide" {}
variable "keep" {
  default  = 900
  nullable = false
}
resource "aws_sqs_queue" "main" {
  visibility_timeout_seconds = var.hide
  message_retention_seconds  = var.keep
}
output "arn" { value = one(aws_sqs_queue.main[*].arn) }
"#,
        ),
        (
            "shared/work/main.tf",
            r#"variable "queue_arn" {}
variable "other" {}
resource "aws_lambda_function" "this" {
  timeout  = var.other
  handler  = "app.go"
  filename = data.archive_file.zip.output_path
}
data "archive_file" "zip" {
  source_dir  = "${path.module}/code"
  output_path = "zip"
}
resource "aws_lambda_event_source_mapping" "this" {
  event_source_arn = var.queue_arn
  function_name    = aws_lambda_function.this.function_name
}
"#,
        ),
    ];
    let deployment = read_all(&list, &[("other", "5"), ("queue_arn", "x")]);
    assert_eq!(deployment.queues.len(), 2);
    let queue = queue(&deployment, "module.lane[\"b\"].aws_sqs_queue.main");
    assert_eq!(lines(&queue.visibility_s), (Some(50.0), Some(3), Some(7)));
    assert_eq!(queue.visibility_s.literal().unwrap().path.as_ref(), "infra/main.tf");
    assert_eq!(lines(&queue.retention_s), (Some(900.0), Some(3), Some(8)));
    let function = function(&deployment, "module.work.aws_lambda_function.this");
    assert!(function.timeout_s.why_unresolved().unwrap().give.is_none(), "flags are for the root");
    assert_eq!(
        function.code.as_ref().unwrap().folders,
        ["shared/work/code", "shared/work", "shared/work/src", "infra", "infra/src"]
    );
    assert_eq!((&deployment.mappings[0].queue, &deployment.mappings[0].function), (&Link::To(1), &Link::To(0)));
}

#[test]
fn modules_that_call_each_other_end() {
    let call = |to: &str| {
        format!(
            "module \"m\" {{\n  source = \"../{to}\"\n  v = module.m.o\n}}\nvariable \"v\" {{}}\noutput \"o\" {{ value = var.v }}\nresource \"aws_sqs_queue\" \"q\" {{ visibility_timeout_seconds = module.m.o }}\n"
        )
    };
    let (a, b) = (call("b"), call("a"));
    let deployment = read_all(&[("a/main.tf", &a), ("b/main.tf", &b)], &[]);
    assert!(deployment.queues.iter().all(|queue| queue.visibility_s.why_unresolved().is_some()));
    assert!(deployment.queues.len() > 2 && deployment.queues.len() < 40);
}

#[test]
fn a_broken_file_is_told_and_the_others_are_read() {
    let list = files(&[("a.tf", "resource \"aws_sqs_queue\" \"q\" {}\n"), ("b.tf", "locals {\n  a = 1\n  b = = 2\n}\n")]);
    let read = read_folders(&list, &Given::default());
    assert_eq!(read.unreadable.len(), 1);
    assert_eq!((read.unreadable[0].place.path.as_ref(), read.unreadable[0].place.line), ("b.tf", 3));
    assert_eq!(read.deployment.queues.len(), 1);
}

#[test]
fn work_is_bounded() {
    let doubling: String = (1..60)
        .map(|at| {
            format!(
                "l{at} = concat(local.l{}, local.l{})\nt{at} = \"${{local.t{}}}${{local.t{}}}\"\n",
                at - 1,
                at - 1,
                at - 1,
                at - 1
            )
        })
        .collect();
    let text = format!(
        "locals {{\nl0 = [1]\nt0 = \"xxxxxxxx\"\na = local.b\nb = local.a\n{doubling}}}\n\
         resource \"aws_sqs_queue\" \"q\" {{\n  count = 1000000000\n  visibility_timeout_seconds = length(local.l59)\n  message_retention_seconds = local.a\n  name = local.t59\n}}\n"
    );
    let deployment = read(&text);
    assert_eq!(deployment.queues.len(), 1);
    assert!(deployment.queues[0].visibility_s.why_unresolved().is_some());
    assert!(deployment.queues[0].retention_s.why_unresolved().is_some());
}

#[test]
fn deep_chains_and_deep_values_end() {
    let chain: String = (1..400).map(|at| format!("l{at} = max(((local.l{})), 1)\n", at - 1)).collect();
    let mut nested = String::new();
    for at in 1..300 {
        nested.push_str(&format!("n{at} = [local.n{}]\n", at - 1));
    }
    let resources: String = (1..300)
        .map(|at| {
            format!("resource \"aws_sqs_queue\" \"q{at}\" {{\n  count = length(local.n{at})\n  visibility_timeout_seconds = local.l{at}\n}}\n")
        })
        .collect();
    let deployment = read(&format!("locals {{\nl0 = 7\nn0 = 1\n{chain}{nested}}}\n{resources}"));
    assert_eq!(deployment.queues[0].visibility_s.value(), Some(7.0));
    assert_eq!(deployment.queues.len(), 299);
    // Read backwards, nothing is known beforehand.
    let text = format!(
        "locals {{\nl0 = 7\n{chain}}}\nresource \"aws_sqs_queue\" \"q\" {{ visibility_timeout_seconds = local.l399 }}\n"
    );
    assert_eq!(read(&text).queues[0].visibility_s.why_unresolved().unwrap().why, "expressions are nested too deep");
}

#[test]
fn functions_are_worked_out() {
    for (expression, value) in [
        ("max(30, 60, 45)", 60.0),
        ("min([30, 20]...)", 20.0),
        ("ceil(30.2) + floor(1.9) - abs(-2)", 30.0),
        ("tonumber(\"45\")", 45.0),
        ("lookup({ a = 1 }, \"b\", 12)", 12.0),
        ("merge({ a = 1 }, { a = 2 })[\"a\"]", 2.0),
        ("element([1, 2, 3], 4)", 2.0),
        ("length(distinct(concat([\"a\"], [\"a\", \"b\"])))", 2.0),
        ("values({ b = 2, a = 1 })[0]", 1.0),
        ("length(keys({ b = 2, a = 1 }))", 2.0),
        ("jsondecode(\"{\\\"a\\\": [7]}\").a[0]", 7.0),
        ("jsondecode(jsonencode({ a = 8 })).a", 8.0),
        ("one([9])", 9.0),
        ("contains([\"dev\"], lower(\"DEV\")) ? 10 : 11", 10.0),
        ("can(tonumber(\"x\")) ? 1 : 2", 2.0),
        ("try(tonumber(\"x\"), {}.y, 3)", 3.0),
        ("length(try([{}.y], [])) + length(try({ a = {}.y }, {})) + length([{}.y]) + 19", 20.0),
        ("sum([for key, value in { a = 1, b = 2 } : value if key != \"a\"])", 2.0),
        ("length({ for name in [\"a\", \"b\", \"a\"] : name => name... }.a)", 2.0),
        ("[{ t = 5 }, { t = 6 }].*.t[1] + length([{ t = [0] }][*].t[0]) - 1", 6.0),
        ("coalescelist([], [4])[0]", 4.0),
        ("flatten([[1, [2]], 3])[2]", 3.0),
        ("zipmap([\"a\"], [13])[\"a\"]", 13.0),
        ("range(1, 10, 4)[1]", 5.0),
        ("slice([1, 2, 3], 1, 2)[0]", 2.0),
        ("tonumber(split(\"-\", \"a-21\")[1])", 21.0),
        ("tonumber(replace(trimsuffix(\"3_3s\", \"s\"), \"_\", \"\"))", 33.0),
        ("(true && !false || false) && 3 >= 3 && 7 % 4 == 3 ? 14 : 0", 14.0),
        ("-(-6)", 6.0),
        ("tonumber(format(\"%d%s\", 4, \"2\"))", 42.0),
        ("tonumber(\"%{ if true }15%{ else }16%{ endif }\")", 15.0),
        ("tonumber(substr(\"abc17\", 3, -1))", 17.0),
    ] {
        let deployment = read(&format!("resource \"aws_lambda_function\" \"f\" {{\n  timeout = {expression}\n}}\n"));
        assert_eq!(deployment.functions[0].timeout_s.value(), Some(value), "{expression}");
    }
}

proptest! {
    #[test]
    fn any_text_is_read_without_panic(text in "(resource|module|locals|variable|dynamic|\"aws_sqs_queue\"|\"a\"|[a-z]{1,3}|[{}\\[\\]().=,:?*+\"$%<>!&|\n -]|[0-9]{1,3}){0,60}") {
        let _ = read_folders(&files(&[("main.tf", &text)]), &Given::default());
    }

    #[test]
    fn any_expression_is_read_without_panic(expression in "(var\\.a|local\\.b|local\\.l|each\\.key|aws_sqs_queue\\.q|module\\.m|\\.arn|\\[0\\]|\\[\\*\\]|\\.c|\"\\$\\{|\\}\"|for|in|=>|if|null|[0-9]{1,9}|max|try|concat|format|\"%s\"|[()\\[\\]{},:?*/%+=!<>&|. -]){1,24}") {
        let text = format!("variable \"a\" {{ default = {{ c = [1] }} }}\nlocals {{\n  b = {expression}\n  l = [{{ c = \"x\" }}]\n}}\nresource \"aws_sqs_queue\" \"q\" {{\n  for_each = local.b\n  visibility_timeout_seconds = {expression}\n  name = \"${{local.b}}\"\n}}\n");
        let _ = read_folders(&files(&[("main.tf", &text)]), &Given::default());
    }
}
