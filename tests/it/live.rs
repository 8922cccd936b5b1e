//! Live AWS, answered by an account of our own on loopback: what is asked, how often, and what is said when AWS will not.

use crate::account::{Account, Fault, Row, State};
use crate::program::{Program, Run};

const MODEL: &str = "us.anthropic.claude-sonnet-4-6";

fn row(code: &'static str, name: &str, applied: f64, default: f64) -> Row {
    Row { code, name: name.to_owned(), applied: Some(applied), default: Some(default) }
}

/// A Region with a model's rows among others, over two pages, and an hour of its calls.
fn region() -> State {
    let mut rows = vec![
        row(
            "L-15B8E632",
            "Cross-region model inference tokens per minute for Anthropic Claude Sonnet 4.6",
            200_000.0,
            6_000_000.0,
        ),
        row("L-00FF3314", "Cross-region model inference requests per minute for Anthropic Claude Sonnet 4.6", 200.0, 10_000.0),
        row(
            "L-7BEE40FB",
            "Global cross-region model inference tokens per minute for Anthropic Claude Sonnet 4.6",
            0.0,
            6_000_000.0,
        ),
        row("L-E3F10727", "Cross-Model Max Tokens Per Day", 700_000_000.0, 700_000_000.0),
        row(
            "L-DB99DCDB",
            "Cross-region model inference tokens per minute for Anthropic Claude Opus 4.8",
            30_000_000.0,
            30_000_000.0,
        ),
    ];
    let filler = (0..150).map(|i| Row {
        code: Box::leak(format!("L-F{i:07}").into_boxed_str()),
        name: format!("(Flows) Something number {i}"),
        applied: Some(1.0),
        default: Some(1.0),
    });
    rows.splice(2..2, filler);
    let mut state = State { rows, ..State::default() };
    for minute in 1..=60 {
        for call in 0..20 {
            let mut sample = |metric, value| state.samples.push((MODEL.to_owned(), metric, minute, value));
            sample("Invocations", 1.0);
            sample("InvocationLatency", 3000.0 + 100.0 * f64::from(call));
            sample("InputTokenCount", 1617.0);
            sample("OutputTokenCount", 100.0 + 5.0 * f64::from(call));
            sample("EstimatedTPMQuotaUsage", 2117.0 + 25.0 * f64::from(call));
        }
    }
    state
}

fn live(account: &Account, arguments: &[&str]) -> Program {
    let mut all = arguments.to_vec();
    all.extend(["--endpoint-url", &account.url]);
    Program::new(&all)
        .variable("AWS_ACCESS_KEY_ID", "testing")
        .variable("AWS_SECRET_ACCESS_KEY", "testing")
        .variable("AWS_REGION", "us-east-1")
}

/// The live plan of the model, as JSON, with more arguments.
fn plan_json(account: &Account, more: &[&str]) -> Program {
    live(account, &[&["plan", "concurrency", "--model", MODEL, "--max-tokens", "500", "--format", "json"], more].concat())
}

fn plan(account: &Account) -> Program {
    live(account, &["plan", "concurrency", "--model", MODEL, "--max-tokens", "500"])
}

/// Live plans of several shapes, for whoever checks what they look like.
pub(crate) fn plans() -> Vec<serde_json::Value> {
    let mut state = region();
    state.samples.push((MODEL.to_owned(), "InvocationThrottles", 3, 12.0));
    let account = Account::start(state);
    let json = ["plan", "concurrency", "--model", MODEL, "--format", "json"];
    [vec!["--max-tokens", "500"], vec!["--max-tokens", "500", "--use-observed-ceiling"], vec![]]
        .into_iter()
        .map(|more| serde_json::from_str(&live(&account, &[&json[..], &more].concat()).run().stdout).unwrap())
        .collect()
}

/// Text with what changes from run to run taken out.
fn steady(text: &str, account: &Account) -> String {
    text.replace(&account.url, "http://ACCOUNT")
}

#[test]
fn a_live_plan_from_quotas_and_metrics() {
    let account = Account::start(region());
    insta::assert_snapshot!(plan(&account).run().stdout(0));
}

#[test]
fn the_first_plan_lists_quotas_and_the_next_ones_ask_by_code() {
    let account = Account::start(region());
    let command = plan_json(&account, &[]);
    let home = tempfile::tempdir().unwrap();
    let first = command.run_in(home.path()).json(0);
    let mut asked = account.log();
    asked.sort();
    assert_eq!(
        asked,
        ["GetAWSDefaultServiceQuota", "GetMetricData", "ListInferenceProfiles", "ListServiceQuotas", "ListServiceQuotas"],
        "two pages, one default, and metrics"
    );
    let second = command.run_in(home.path()).json(0);
    let mut asked = account.log();
    asked.sort();
    assert_eq!(
        asked,
        [
            "GetAWSDefaultServiceQuota",
            "GetAWSDefaultServiceQuota",
            "GetMetricData",
            "GetServiceQuota",
            "GetServiceQuota",
            "GetServiceQuota",
            "ListInferenceProfiles"
        ]
    );
    assert_eq!(first["plan"], second["plan"]);
    assert_eq!(second["quotas"]["rpm"]["default"], 10_000.0);
    // A row that was renamed is one that the kept code may no longer stand for: the list is made anew.
    account.state.lock().unwrap().rows[0].name = "Cross-region model inference tokens per minute for Claude Sonnet 4.6".into();
    command.run_in(home.path()).json(0);
    assert_eq!(account.log().iter().filter(|operation| *operation == "ListServiceQuotas").count(), 2);
    // So is a model that the kept list does not have.
    live(&account, &["plan", "concurrency", "--model", "us.anthropic.claude-opus-5-5", "--max-tokens", "500"])
        .run_in(home.path());
    assert_eq!(account.log().iter().filter(|operation| *operation == "ListServiceQuotas").count(), 2);
}

/// Everything under `plan` and `inputs` that does not say where it is from.
fn numbers(run: Run) -> (serde_json::Value, Vec<(String, serde_json::Value)>) {
    let json = run.json(0);
    let inputs = json["inputs"].as_object().unwrap();
    let values = inputs.iter().filter(|(name, _)| !matches!(name.as_str(), "region" | "name"));
    (json["plan"].clone(), values.map(|(name, input)| (name.clone(), input["value"].clone())).collect())
}

#[test]
fn the_same_plan_live_from_a_snapshot_and_by_flags() {
    let account = Account::start(region());
    let from_live = plan_json(&account, &[]).run();
    let taken = live(&account, &["snapshot", "--model", MODEL]).run().stdout(0);
    assert!(taken.contains("\"account\": \"********3333\"") && !taken.contains("111122223333"), "the account is masked");
    let from_snapshot = Program::new(&[
        "plan",
        "concurrency",
        "--model",
        MODEL,
        "--max-tokens",
        "500",
        "--snapshot",
        "s.json",
        "--format",
        "json",
    ])
    .file("s.json", &taken)
    .run();
    let by_flags = Program::new(&[
        "plan",
        "concurrency",
        "--model",
        MODEL,
        "--region",
        "us-east-1",
        "--rpm",
        "200",
        "--tpm",
        "200000",
        "--latency",
        "3950ms",
        "--latency-p99",
        "4.9s",
        "--latency-max",
        "4.9s",
        "--input-tokens",
        "1617",
        "--input-tokens-p99",
        "1617",
        "--output-tokens",
        "147.5",
        "--output-tokens-p99",
        "195",
        "--max-tokens",
        "500",
        "--offline",
        "--format",
        "json",
    ])
    .run();
    let (live, snapshot, flags) = (numbers(from_live), numbers(from_snapshot), numbers(by_flags));
    assert_eq!(live.0, snapshot.0);
    assert_eq!(live.1, snapshot.1);
    assert_eq!(live.0, flags.0);
}

#[test]
fn a_snapshot_answers_for_every_command_that_reads_live() {
    let account = Account::start(region());
    let taken = live(&account, &["snapshot", "--model", MODEL]).run().stdout(0);
    for command in [vec!["show", "quotas"], vec!["show", "usage"]] {
        let mut from_live = command.clone();
        from_live.extend(["--model", MODEL, "--format", "json"]);
        let mut from_file = from_live.clone();
        from_file.extend(["--snapshot", "s.json"]);
        let mut left = live(&account, &from_live).run().json(0);
        let mut right = Program::new(&from_file).file("s.json", &taken).run().json(0);
        // A live plan asks for the model's minutes alone.
        for json in [&mut left, &mut right] {
            json.as_object_mut().unwrap().remove("asked");
        }
        assert_eq!(left, right, "{command:?}");
    }
}

#[test]
fn quotas_of_a_model_and_of_a_region() {
    let account = Account::start(region());
    insta::assert_snapshot!(live(&account, &["show", "quotas", "--model", MODEL]).run().stdout(0));
    insta::assert_snapshot!(live(&account, &["show", "quotas"]).run().stdout(0));
}

#[test]
fn usage_with_throttles_and_others() {
    let mut state = region();
    let profile = "a1b2c3d4e5f6";
    let reached = ["us-east-1", "us-west-2"]
        .map(|region| format!("arn:aws:bedrock:{region}::foundation-model/anthropic.claude-sonnet-4-6"));
    state.profiles = vec![(profile, "team", reached.to_vec())];
    for minute in 1..=30 {
        state.samples.push((profile.to_owned(), "Invocations", minute, f64::from(u8::try_from(minute).unwrap())));
        state.samples.push((profile.to_owned(), "EstimatedTPMQuotaUsage", minute, 1000.0));
    }
    state.samples.push((MODEL.to_owned(), "InvocationThrottles", 3, 12.0));
    state.samples.push((MODEL.to_owned(), "InvocationClientErrors", 3, 2.0));
    state.status.insert("InvocationServerErrors", "PartialData");
    let account = Account::start(state);
    insta::assert_snapshot!(live(&account, &["show", "usage", "--model", MODEL]).run().stdout(0));
    // Others' p99 of one-minute sums is what the plan leaves to them.
    let json = plan_json(&account, &[]).run().json(0);
    assert_eq!(json["inputs"]["others_rpm"]["value"], 30.0);
    assert_eq!(json["plan"]["observed_ceiling"]["rpm"], 23.0, "20 own and 3 of the profile in the throttled minute");
    let ceiling = plan_json(&account, &["--use-observed-ceiling"]);
    assert_eq!(ceiling.run().json(1)["inputs"]["rpm"]["value"], 23.0);
    // The profile itself takes its parent's quota, and counts as its own traffic.
    let own = live(
        &account,
        &[
            "plan",
            "concurrency",
            "--model",
            profile,
            "--max-tokens",
            "500",
            "--latency",
            "4s",
            "--input-tokens",
            "1617",
            "--output-tokens",
            "150",
            "--format",
            "json",
        ],
    );
    let json = own.run().json(0);
    assert_eq!(json["model"]["model"], "anthropic.claude-sonnet-4-6");
    assert_eq!(json["inputs"]["rpm"]["value"], 200.0);
    assert_eq!(json["inputs"]["others_rpm"]["value"], 20.0);
}

#[test]
fn a_long_window_keeps_its_minutes() {
    let mut state = region();
    state.samples.push((MODEL.to_owned(), "InvocationThrottles", 3, 12.0));
    let account = Account::start(state);
    for window in ["14d", "30d", "90d"] {
        let json = live(&account, &["show", "usage", "--model", MODEL, "--window", window, "--format", "json"]).run().json(0);
        assert_eq!(json["peak_rpm"]["max"], 20.0, "{window}");
        assert_eq!(json["throttle_evidence"]["minutes"], 1, "{window}");
        assert_eq!(json["own"]["totals"]["invocations"], 1200.0, "{window}");
    }
}

#[test]
fn an_ambiguous_row_stays_ambiguous_when_codes_are_kept() {
    let mut state = region();
    let twin = "Cross-region model inference requests per minute for Claude Sonnet 4.6";
    state.rows.push(row("L-TWIN0001", twin, 5.0, 5.0));
    let account = Account::start(state);
    let home = tempfile::tempdir().unwrap();
    for run in 1..=2 {
        let text = plan(&account).run_in(home.path()).stderr();
        assert!(text.contains("several rows fit") && text.contains("L-TWIN0001"), "run {run}: {text}");
    }
}

#[test]
fn a_snapshot_of_two_ids_on_one_quota_describes_both_and_names_no_account() {
    let mut state = region();
    let profile = "a1b2c3d4e5f6";
    let reached = ["us-east-1", "us-west-2"]
        .map(|region| format!("arn:aws:bedrock:{region}::foundation-model/anthropic.claude-sonnet-4-6"));
    state.profiles = vec![(profile, "team", reached.to_vec())];
    let copies: Vec<_> =
        state.samples.iter().map(|(_, metric, minute, value)| (profile.to_owned(), *metric, *minute, *value)).collect();
    state.samples.extend(copies);
    let account = Account::start(state);
    let arn = format!("arn:aws:bedrock:us-east-1:111122223333:inference-profile/{MODEL}");
    let taken = live(&account, &["snapshot", "--model", &arn, "--model", profile]).run().stdout(0);
    assert!(!taken.contains("111122223333"), "{taken}");
    for id in [MODEL, profile, &arn] {
        let arguments = ["plan", "concurrency", "--model", id, "--max-tokens", "500", "--format", "json"];
        let from_live = live(&account, &arguments).run();
        let from_file = Program::new(&[&arguments[..], &["--snapshot", "s.json"]].concat()).file("s.json", &taken).run();
        assert_eq!(from_live.code, from_file.code, "{id}: {}{}", from_live.stderr, from_file.stderr);
        assert_eq!(numbers_of(&from_live), numbers_of(&from_file), "{id}");
    }
}

fn numbers_of(run: &Run) -> serde_json::Value {
    serde_json::from_str::<serde_json::Value>(&run.stdout).unwrap()["plan"].clone()
}

#[test]
fn a_series_over_two_pages_is_whole_at_its_end() {
    let usage = |pages| {
        let account = Account::start(State { metric_pages: pages, ..region() });
        let json = live(&account, &["show", "usage", "--model", MODEL, "--format", "json"]).run().json(0);
        (account.log().iter().filter(|operation| *operation == "GetMetricData").count(), json)
    };
    let (one, two) = (usage(false), usage(true));
    assert_eq!((one.0, two.0), (1, 2));
    assert_eq!(one.1, two.1);
    assert_eq!(two.1["own"]["partial"], false);
}

#[test]
fn what_is_missing_is_listed_with_the_flag_and_the_reason() {
    let mut state = region();
    state.samples.clear();
    let account = Account::start(state);
    insta::assert_snapshot!(steady(&plan(&account).run().stderr(), &account), @r"
    error: no plan: these inputs are not known
      mean latency of one call        --latency 4.5s
      mean input tokens of one call   --input-tokens 1600
      mean output tokens of one call  --output-tokens 150
      CloudWatch has no calls of us.anthropic.claude-sonnet-4-6 in the last 14 d.

    hint: give them by flags or in a workload file; `forebay init` writes one to fill in
    ");
    // The same model by a route that has no row.
    let other_route = live(&account, &["plan", "concurrency", "--model", "anthropic.claude-sonnet-4-6", "--max-tokens", "500"]);
    let text = other_route.run().stderr();
    assert!(
        text.contains("no row for anthropic.claude-sonnet-4-6 on the on-demand route; it has rows for geo, global."),
        "{text}"
    );
    let elsewhere = live(&account, &["plan", "concurrency", "--model", "us.anthropic.claude-opus-5-5", "--max-tokens", "500"]);
    insta::assert_snapshot!(elsewhere.run().stderr(), @"
    error: no plan: these inputs are not known
      requests per minute             --rpm 200, or --rpm none
      tokens per minute               --tpm 200000, or --tpm none
      mean latency of one call        --latency 4.5s
      mean input tokens of one call   --input-tokens 1600
      mean output tokens of one call  --output-tokens 150
      Service Quotas of us-east-1 has no row for anthropic.claude-opus-5-5 on the geo route; the nearest names are Anthropic Claude Opus 4.8, Anthropic Claude Sonnet 4.6.
      CloudWatch has no calls of us.anthropic.claude-opus-5-5 in the last 14 d.

    hint: give them by flags or in a workload file; `forebay init` writes one to fill in
    ");
}

fn faulty(fault: Fault) -> Account {
    Account::start(State { faults: vec![fault], ..region() })
}

const ALWAYS: usize = 1000;

fn denied(operation: &'static str) -> Fault {
    Fault {
        operation,
        status: 400,
        kind: "AccessDeniedException",
        message: "User is not authorized to perform this",
        after: 0,
        times: ALWAYS,
    }
}

#[test]
fn denied_calls_name_the_action_that_is_missing() {
    insta::assert_snapshot!(plan(&faulty(denied("ListServiceQuotas"))).run().stderr(), @"
    error: Service Quotas: ListServiceQuotas was denied: User is not authorized to perform this

    hint: the caller needs the IAM action `servicequotas:ListServiceQuotas`; `forebay show policy` prints all that forebay asks for
    ");
    insta::assert_snapshot!(plan(&faulty(denied("GetMetricData"))).run().stderr(), @"
    error: CloudWatch: GetMetricData was denied: User is not authorized to perform this

    hint: the caller needs the IAM action `cloudwatch:GetMetricData`; `forebay show policy` prints all that forebay asks for
    ");
    // Without profiles there is a plan, which says what it lacks.
    let account = faulty(denied("ListInferenceProfiles"));
    let json = plan_json(&account, &[]).run().json(0);
    let warnings = json["warnings"].to_string();
    assert!(warnings.contains("application inference profiles were not listed"), "{warnings}");
    assert!(warnings.contains("other traffic on the same quota is not known"), "{warnings}");
    let known = plan_json(&Account::start(region()), &[]).run().json(0)["warnings"].to_string();
    assert!(!known.contains("is not known"), "those that were asked for had no calls: {known}");
}

#[test]
fn a_daily_quota_of_zero_blocks_whatever_a_minute_allows() {
    let mut state = region();
    for row in state.rows.iter_mut().filter(|row| row.code == "L-E3F10727") {
        row.applied = Some(0.0);
    }
    let account = Account::start(state);
    let json = plan_json(&account, &[]).run().json(1);
    assert_eq!((&json["plan"]["recommended"], &json["plan"]["binding"]), (&serde_json::Value::Null, &"mc_day".into()));
    let text = plan(&account).run().stdout(1);
    assert!(text.starts_with("Blocked: an applied quota is 0."), "{text}");
    assert!(
        text.contains(
            "The one that binds:\nhttps://us-east-1.console.aws.amazon.com/servicequotas/home/services/bedrock/quotas/L-E3F10727"
        ),
        "{text}"
    );
}

#[test]
fn a_snapshot_adds_nothing_that_live_would_not_ask_for() {
    let mut state = region();
    state.profiles = vec![(
        "a1b2c3d4e5f6",
        "team",
        ["us-east-1", "us-west-2"]
            .map(|region| format!("arn:aws:bedrock:{region}::foundation-model/anthropic.claude-sonnet-4-6"))
            .to_vec(),
    )];
    state.samples.push(("a1b2c3d4e5f6".into(), "Invocations", 5, 150.0));
    let account = Account::start(state);
    let taken = live(&account, &["snapshot", "--model", MODEL]).run().stdout(0);
    let complete = ["--rpm", "200", "--tpm", "200000", "--latency", "4s", "--input-tokens", "1600", "--output-tokens", "150"];
    let from_live = plan_json(&account, &complete).run().json(0);
    let arguments =
        ["plan", "concurrency", "--model", MODEL, "--max-tokens", "500", "--format", "json", "--snapshot", "s.json"];
    let from_file = Program::new(&[&arguments[..], &complete].concat()).file("s.json", &taken).run().json(0);
    assert_eq!(from_live["plan"], from_file["plan"]);
    assert_eq!(from_file["inputs"]["others_rpm"]["value"], 0.0, "{}", from_file["inputs"]["others_rpm"]);
}

#[test]
fn a_snapshot_of_another_region_is_refused_for_quotas_too() {
    let account = Account::start(region());
    let taken = live(&account, &["snapshot"]).run().stdout(0);
    let error = Program::new(&["show", "quotas", "--snapshot", "s.json", "--region", "eu-west-1"])
        .file("s.json", &taken)
        .run()
        .stderr();
    assert!(error.contains("is of us-east-1, and the workload is in eu-west-1 (--region)"), "{error}");
}

#[test]
fn metrics_that_are_not_needed_may_be_denied() {
    let account = faulty(denied("GetMetricData"));
    let json = plan_json(&account, &["--latency", "4s", "--input-tokens", "1617", "--output-tokens", "150"]).run().json(0);
    assert!(json["warnings"].to_string().contains("metrics were not read"), "{}", json["warnings"]);
}

#[test]
fn a_throttled_list_is_tried_again_and_then_given_up_whole() {
    let throttled = |after, times| Fault {
        operation: "ListServiceQuotas",
        status: 400,
        kind: "TooManyRequestsException",
        message: "Rate exceeded",
        after,
        times,
    };
    // Twice, then an answer.
    plan(&faulty(throttled(0, 2))).run().stdout(0);
    // The second page never comes: a part of the list is no list.
    let account = faulty(throttled(1, ALWAYS));
    let command = live(&account, &["plan", "concurrency", "--model", MODEL, "--max-tokens", "500", "--aws-attempts", "2"]);
    insta::assert_snapshot!(command.run().stderr(), @"
    error: Service Quotas: ListServiceQuotas broke off after page 1 (100 rows): Service Quotas: ListServiceQuotas was throttled at every attempt (TooManyRequestsException)

    hint: something else asks the same API in this account; wait a minute and try again, raise `--aws-attempts`, or plan from a snapshot
    ");
    assert_eq!(
        account.log().iter().filter(|operation| *operation == "ListServiceQuotas").count(),
        3,
        "one page, and two attempts"
    );
}

#[test]
fn expired_and_wrong_credentials() {
    let expired = Fault {
        operation: "ListServiceQuotas",
        status: 400,
        kind: "ExpiredTokenException",
        message: "The security token included in the request is expired",
        after: 0,
        times: ALWAYS,
    };
    insta::assert_snapshot!(plan(&faulty(expired)).run().stderr(), @"
    error: Service Quotas: ListServiceQuotas was refused: the credentials are not valid (ExpiredTokenException): The security token included in the request is expired

    hint: the key is wrong, expired, or of another partition; renew the credentials and try again
    ");
}

#[test]
fn no_credentials_no_region_and_an_ended_sso_session() {
    let arguments = ["plan", "concurrency", "--model", MODEL, "--max-tokens", "500"];
    insta::assert_snapshot!(Program::new(&arguments).variable("AWS_REGION", "us-east-1").run().stderr(), @"
    error: no AWS credentials were found

    hint: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, name a profile with `--profile`, or run `aws sso login`; without an account, give the quotas by `--rpm` and `--tpm` and add `--offline`
    ");
    let keys = |program: Program| program.variable("AWS_ACCESS_KEY_ID", "a").variable("AWS_SECRET_ACCESS_KEY", "b");
    insta::assert_snapshot!(keys(Program::new(&arguments)).run().stderr(), @"
    error: no Region: neither `--region`, the workload file, AWS_REGION nor the credentials profile names one

    hint: give `--region`, or put `region:` into the workload file
    ");
    let config = "[profile work]\nsso_session = corp\nsso_account_id = 111122223333\nsso_role_name = reader\nregion = us-east-1\n\n[sso-session corp]\nsso_region = us-east-1\nsso_start_url = https://example.awsapps.com/start\n";
    let sso = Program::new(&["plan", "concurrency", "--model", MODEL, "--max-tokens", "500", "--profile", "work"])
        .file("config", config)
        .variable("AWS_CONFIG_FILE", "config");
    let text = sso.run().stderr();
    assert!(text.starts_with("error: the AWS credentials cannot be used: "), "{text}");
    assert!(text.ends_with("hint: run `aws sso login --profile work` and try again\n"), "{text}");
    let unknown = Program::new(&["plan", "concurrency", "--model", MODEL, "--max-tokens", "500", "--profile", "nobody"]);
    let text = unknown.variable("AWS_REGION", "us-east-1").run().stderr();
    assert!(text.contains("credentials cannot be used") && text.contains("check the credentials profile"), "{text}");
}

#[test]
fn an_endpoint_that_is_not_there() {
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let url = format!("http://127.0.0.1:{port}");
    let command = Program::new(&[
        "plan",
        "concurrency",
        "--model",
        MODEL,
        "--max-tokens",
        "500",
        "--endpoint-url",
        &url,
        "--aws-attempts",
        "1",
    ])
    .variable("AWS_ACCESS_KEY_ID", "a")
    .variable("AWS_SECRET_ACCESS_KEY", "b")
    .variable("AWS_REGION", "us-east-1");
    let text = command.run().stderr();
    assert!(text.starts_with("error: Service Quotas: ListServiceQuotas could not be reached: "), "{text}");
    assert!(text.contains("hint: check the network, the proxy and `--endpoint-url`"), "{text}");
}

#[test]
fn a_dry_run_asks_nothing() {
    let account = Account::start(region());
    insta::assert_snapshot!(live(&account, &["plan", "concurrency", "--model", MODEL, "--dry-run"]).run().stdout(0));
    let two = ["snapshot", "--model", MODEL, "--model", "amazon.nova-pro-v1:0", "--dry-run"];
    insta::assert_snapshot!(live(&account, &two).run().stdout(0));
    assert!(account.log().is_empty());
}

#[test]
fn an_example_with_all_its_numbers_asks_nothing() {
    let account = Account::start(region());
    live(&account, &["plan", "concurrency", "example:image-moderation"]).run().stdout(0);
    assert!(account.log().is_empty());
}

#[test]
fn init_writes_what_the_account_shows() {
    let account = Account::start(region());
    let text = live(&account, &["init", "--model", MODEL, "--name", "tickets"]).run().stdout(0);
    insta::assert_snapshot!(text);
    let from_file = Program::new(&["plan", "concurrency", "w.yaml", "--max-tokens", "500", "--offline", "--format", "json"])
        .file("w.yaml", &text)
        .run();
    let from_live = plan_json(&account, &[]).run();
    assert_eq!(from_file.json(0)["plan"]["after_headroom"], from_live.json(0)["plan"]["after_headroom"]);
}
