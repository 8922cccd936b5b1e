//! Everything that needs no AWS: plans by file and flags, formats, mistakes, and the texts that are generated.

use crate::program::Program;

const BY_FLAGS: &[&str] = &[
    "plan",
    "concurrency",
    "--offline",
    "--model",
    "us.anthropic.claude-sonnet-4-6",
    "--region",
    "us-east-1",
    "--rpm",
    "200",
    "--tpm",
    "200,000",
    "--latency",
    "4.5s",
    "--latency-p99",
    "9s",
    "--input-tokens",
    "1617",
    "--input-tokens-p99",
    "1900",
    "--output-tokens",
    "150",
    "--output-tokens-p99",
    "420",
    "--max-tokens",
    "500",
];

fn by_flags(more: &[&str]) -> Program {
    Program::new(&[BY_FLAGS, more].concat())
}

#[test]
fn every_example_plans_offline() {
    for (example, code) in [
        ("image-moderation", 0),
        ("pdf-extraction", 0),
        ("ticket-triage", 0),
        ("overnight-classification", 0),
        ("agent-tool-loop", 0),
    ] {
        let text = Program::new(&["plan", "concurrency", &format!("example:{example}"), "--offline"]).run().stdout(code);
        insta::assert_snapshot!(example, text);
    }
}

#[test]
fn a_plan_by_flags_alone() {
    insta::assert_snapshot!(by_flags(&["--width", "120", "--backlog", "300", "--arrivals", "60"]).run().stdout(0));
}

#[test]
fn a_plan_in_every_format() {
    insta::assert_snapshot!("plan_json", by_flags(&["--format", "json"]).run().stdout(0));
    insta::assert_snapshot!("plan_markdown", by_flags(&["--format", "markdown"]).run().stdout(0));
    let coloured = by_flags(&["--color", "always"]).run().stdout(0);
    assert!(coloured.contains("\u{1b}[1m\u{1b}[32m") || coloured.contains("\u{1b}[32m"), "colour on demand");
    let plain = by_flags(&[]).variable("NO_COLOR", "1").run().stdout(0);
    assert!(!plain.contains('\u{1b}'), "none into a pipe");
    assert_eq!(anstream::adapter::strip_str(&coloured).to_string(), plain);
    assert!(plain.lines().all(|line| line.chars().count() <= 80), "80 columns");
}

#[test]
fn the_exit_code_does_not_depend_on_the_format() {
    for format in ["terminal", "json", "markdown"] {
        by_flags(&["--format", format]).run().stdout(0);
        // Arrivals that the plan cannot keep up with.
        by_flags(&["--format", format, "--arrivals", "500"]).run().stdout(1);
    }
}

#[test]
fn plans_that_are_none() {
    insta::assert_snapshot!("below_two", by_flags(&[]).run_replacing("--tpm", "50000").stdout(1));
    insta::assert_snapshot!("blocked", by_flags(&[]).run_replacing("--tpm", "0").stdout(1));
}

#[test]
fn a_long_wave_a_chance_and_a_tested_limit() {
    let json = |more: &[&str]| by_flags(more).run().json(0);
    let binding = |more: &[&str]| json(more)["plan"]["binding"].as_str().unwrap().to_owned();
    assert_eq!(binding(&["--format", "json", "--headroom", "0"]), "mc_burst_tpm");
    assert_eq!(binding(&["--format", "json", "--headroom", "0", "--start", "steady"]), "mc_tpm");
    assert_eq!(binding(&["--format", "json", "--tested-in-flight", "3"]), "mc_tested");
    let risk = json(&["--format", "json", "--throttle-risk", "0.01", "--start", "steady"]);
    let chance = risk["plan"]["chance_minute_over_tpm"].as_f64().unwrap();
    assert!(chance <= 0.01, "{chance}");
    assert_eq!(risk["inputs"]["throttle_risk"]["source"], "--throttle-risk");
}

#[test]
fn mantle_has_two_quotas_and_no_burndown() {
    let text = Program::new(&[
        "plan",
        "concurrency",
        "--offline",
        "--model",
        "us.anthropic.claude-opus-5",
        "--endpoint",
        "bedrock-mantle",
        "--input-tpm",
        "200000",
        "--output-tpm",
        "20000",
        "--latency",
        "4.5s",
        "--input-tokens",
        "1617",
        "--output-tokens",
        "150",
        "--max-tokens",
        "500",
    ])
    .run()
    .stdout(0);
    insta::assert_snapshot!(text);
}

#[test]
fn a_file_with_mistakes_is_shown_with_all_of_them() {
    let file = "schema: 1\nname: tickets\nmodel: us.anthropic.claude-sonnet-4-6\nquota: {rpm: 200}\ncall:\n  latency_ms: 4500\n  input_tokens: {mean: 1617, p95: 1900}\n  output_tokens: 150 tokens\n  max_tokens: 500\npolicy:\n  headroom: 20%\nworker: {batch_size: 0}\n";
    insta::assert_snapshot!(Program::new(&["plan", "concurrency", "w.yaml", "--offline"]).file("w.yaml", file).run().stderr());
    insta::assert_snapshot!(
        Program::new(&["plan", "concurrency", "w.yaml", "--offline"]).file("w.yaml", "a: [1\n").run().stderr()
    );
}

#[test]
fn inputs_that_cannot_be() {
    let run = |more: &[&str]| by_flags(more).run().stderr();
    insta::assert_snapshot!(by_flags(&[]).run_replacing("--latency-p99", "4s").stderr());
    insta::assert_snapshot!(run(&["--route", "global"]));
    insta::assert_snapshot!(run(&["--headroom", "0.1", "--throttle-risk", "0.01"]));
    insta::assert_snapshot!(run(&["--profile", "x"]));
    insta::assert_snapshot!(by_flags(&[]).run_replacing("--latency", "4.5").stderr());
    insta::assert_snapshot!(by_flags(&[]).run_replacing("--model", "claude").stderr());
    assert_eq!(run(&["--batch-size", "20000"]), "error: --batch-size 20000: expected a whole number of messages, 1 to 10000\n");
    let provisioned = "arn:aws:bedrock:us-east-1:111122223333:provisioned-model/abc";
    insta::assert_snapshot!(by_flags(&[]).run_replacing("--model", provisioned).stderr());
}

#[test]
fn an_application_profile_offline() {
    let arn = "arn:aws:bedrock:us-east-1:111122223333:application-inference-profile/abcdef123456";
    // With every number given nothing hangs on its parent.
    let given = by_flags(&["--burndown", "5", "--format", "json"]).run_replacing("--model", arn).json(0);
    assert_eq!(given["plan"]["recommended"], 5);
    assert!(given["warnings"].to_string().contains("was not asked"), "{}", given["warnings"]);
    insta::assert_snapshot!(by_flags(&[]).run_replacing("--model", arn).stderr());
}

#[test]
fn what_is_missing_offline() {
    insta::assert_snapshot!(
        Program::new(&["plan", "concurrency", "--offline", "--model", "us.anthropic.claude-fable-5"]).run().stderr()
    );
}

#[test]
fn a_workload_on_standard_input_and_a_report_to_a_file() {
    let file = include_str!("../../profiles/workloads/image-moderation.yaml");
    let program = Program::new(&["plan", "concurrency", "-", "--offline", "--format", "json", "-o", "plan.json"]).input(file);
    assert_eq!(program.run().stdout(0), "");
    let written = std::fs::read_to_string(program.folder.path().join("plan.json")).unwrap();
    let json: serde_json::Value = serde_json::from_str(&written).unwrap();
    assert_eq!(json["plan"]["recommended"], 5);
    assert_eq!(json["inputs"]["rpm"]["source"], "-:8:15");
    let missing = Program::new(&["plan", "concurrency", "none.yaml", "--offline"]).run().stderr();
    assert!(missing.starts_with("error: cannot read `none.yaml`\n  because: "), "{missing}");
}

#[test]
fn flags_win_over_the_file_and_say_so() {
    let json = Program::new(&[
        "plan",
        "concurrency",
        "example:image-moderation",
        "--offline",
        "--rpm",
        "none",
        "--max-tokens",
        "300",
        "--format",
        "json",
    ])
    .run()
    .json(0);
    assert!(json["inputs"]["rpm"]["value"].is_null());
    assert_eq!(json["inputs"]["rpm"]["source"], "--rpm");
    assert_eq!(json["inputs"]["max_tokens"]["source"], "--max-tokens");
    assert_eq!(json["inputs"]["tpm"]["source"], "example:image-moderation:8:25");
    assert!(json["plan"]["at_full_quota"].get("mc_rpm").is_none(), "no such row, no such limit");
}

#[test]
fn init_holds_the_id_to_what_is_said_of_it() {
    let error = |more: &[&str]| Program::new(&[&["init", "--offline"], more].concat()).run().stderr();
    assert!(error(&["--model", "us.amazon.nova-pro-v1:0", "--route", "global"]).contains("`--route` says global"));
    assert!(error(&["--model", "claude"]).contains("the model of --model"));
}

#[test]
fn headroom_by_flag_replaces_the_file_s_chance() {
    let file = include_str!("../../profiles/workloads/image-moderation.yaml");
    let file = file.replace("policy: {headroom: 0.2", "policy: {throttle_risk: 0.01");
    assert!(file.contains("throttle_risk"));
    let run = |more: &[&str]| {
        let all = [&["plan", "concurrency", "w.yaml", "--offline", "--format", "json"], more].concat();
        Program::new(&all).file("w.yaml", &file).run().json(0)
    };
    assert!(run(&[])["inputs"].get("headroom").is_none());
    let by_flag = run(&["--headroom", "0.2"]);
    assert!(by_flag["inputs"].get("throttle_risk").is_none());
    assert_eq!(by_flag["inputs"]["headroom"]["source"], "--headroom");
}

#[test]
fn a_model_profile_of_one_s_own() {
    let own = "provider: mine\nsources: {me: {text: measured, date: 2026-11-01}}\nmodels:\n  anthropic.claude-fable-5: {burndown: [10, me], max_output_tokens: [128000, me]}\n";
    let json = by_flags(&["--models", "own.yaml", "--format", "json"])
        .file("own.yaml", own)
        .run_replacing("--model", "us.anthropic.claude-fable-5")
        .json(0);
    assert_eq!(json["inputs"]["burndown"]["value"], 10.0);
    assert_eq!(json["inputs"]["burndown"]["source"], "model profile (measured, 2026-11-01)");
}

#[test]
fn what_forebay_knows() {
    insta::assert_snapshot!(Program::new(&["show", "models", "claude-opus"]).run().stdout(0));
    insta::assert_snapshot!(Program::new(&["show", "models", "gpt-9"]).run().stderr());
    insta::assert_snapshot!(Program::new(&["show", "policy"]).run().stdout(0));
    insta::assert_snapshot!(Program::new(&["show", "examples"]).run().stdout(0));
    let example = Program::new(&["show", "examples", "image-moderation"]).run().stdout(0);
    assert_eq!(example, include_str!("../../profiles/workloads/image-moderation.yaml"));
}

#[test]
fn a_closed_pipe_is_success() {
    use std::process::{Command, Stdio};
    let mut child = Command::new(env!("CARGO_BIN_EXE_forebay"))
        .args(["show", "models", "--format", "json"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

#[cfg(not(feature = "live"))]
#[test]
fn a_build_without_aws_says_what_to_do() {
    insta::assert_snapshot!(Program::new(&["plan", "concurrency", "--model", "us.anthropic.claude-sonnet-4-6"]).run().stderr(), @r"
    error: this forebay was built without `live` and cannot ask AWS

    hint: give a `--snapshot`, or the values by flags or file with `--offline`, or install it with default features
    ");
}
