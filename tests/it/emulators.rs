//! The same commands against AWS emulators that are not ours: fakecloud (Service Quotas with AWS's own list of Bedrock
//! quotas, CloudWatch, inference profiles) and ministack (another CloudWatch). `tests/run` starts them and names their
//! addresses; without them these tests are ignored.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::time::Duration;

use aws_sdk_cloudwatch::config::{BehaviorVersion, Credentials, Region};
use aws_sdk_cloudwatch::primitives::DateTime;
use aws_sdk_cloudwatch::types::{Dimension, MetricDatum, StandardUnit};
use serde_json::Value;

use crate::program::Program;

/// The address of an emulator.
#[expect(clippy::disallowed_methods, reason = "tests/run hands the addresses over in the environment")]
fn address(variable: &str) -> String {
    std::env::var(variable).unwrap_or_else(|_| panic!("{variable} is not set: run tests/run"))
}

fn fakecloud() -> String {
    address("FOREBAY_TEST_FAKECLOUD")
}

fn ministack() -> String {
    address("FOREBAY_TEST_MINISTACK")
}

fn command(arguments: &[&str], cloudwatch: &str) -> Program {
    Program::new(arguments)
        .variable("AWS_ACCESS_KEY_ID", "testing")
        .variable("AWS_SECRET_ACCESS_KEY", "testing")
        .variable("AWS_REGION", "us-east-1")
        .variable("AWS_ENDPOINT_URL", &fakecloud())
        .variable("AWS_ENDPOINT_URL_CLOUDWATCH", cloudwatch)
}

/// One request to fakecloud's own interface.
fn seed_quota(code: &str, value: f64) {
    let address = fakecloud();
    let host = address.strip_prefix("http://").unwrap();
    let body = format!("{{\"value\": {value}, \"region\": \"us-east-1\"}}");
    let mut stream = TcpStream::connect(host).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(5))).unwrap();
    write!(
        stream,
        "PUT /_fakecloud/service-quotas/quotas/bedrock/{code} HTTP/1.1\r\nhost: {host}\r\ncontent-type: application/json\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{body}",
        body.len()
    )
    .unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
}

/// Puts a hundred calls of a model into a CloudWatch: latencies of 100, 200 ... 10,000 ms in ten minutes of ten calls.
#[expect(clippy::disallowed_methods, reason = "metrics have to be of the last hours")]
fn seed_calls(url: &str, model: &str) {
    let config = aws_sdk_cloudwatch::Config::builder()
        .behavior_version(BehaviorVersion::latest())
        .region(Region::new("us-east-1"))
        .credentials_provider(Credentials::new("testing", "testing", None, None, "test"))
        .endpoint_url(url)
        .build();
    let client = aws_sdk_cloudwatch::Client::from_conf(config);
    let now = jiff::Timestamp::now().as_second() / 60 * 60;
    let mut data = Vec::new();
    for call in 0..100_i64 {
        let time = DateTime::from_secs(now - (call / 10 + 1) * 120 + call % 10);
        let mut put = |metric: &str, unit: StandardUnit, value: f64| {
            let dimension = Dimension::builder().name("ModelId").value(model).build();
            let datum =
                MetricDatum::builder().metric_name(metric).dimensions(dimension).timestamp(time).unit(unit).value(value);
            data.push(datum.build());
        };
        #[expect(clippy::cast_precision_loss, reason = "a hundred calls")]
        let step = (call + 1) as f64;
        put("InvocationLatency", StandardUnit::Milliseconds, step * 100.0);
        put("Invocations", StandardUnit::Count, 1.0);
        put("InputTokenCount", StandardUnit::Count, 1600.0);
        put("OutputTokenCount", StandardUnit::Count, 100.0 + step);
        put("EstimatedTPMQuotaUsage", StandardUnit::Count, 2350.0);
    }
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    for part in data.chunks(250) {
        let put = client.put_metric_data().namespace("AWS/Bedrock").set_metric_data(Some(part.to_vec())).send();
        runtime.block_on(put).unwrap();
    }
}

#[track_caller]
fn within(value: &Value, low: f64, high: f64) {
    let found = value.as_f64().unwrap_or(f64::NAN);
    assert!((low..=high).contains(&found), "{value} is not within {low} and {high}");
}

#[test]
#[ignore = "needs the emulators that tests/run starts"]
fn percentiles_are_of_requests_on_both_cloudwatches() {
    for (url, model) in [
        (fakecloud(), "us.anthropic.claude-haiku-4-5-20251001-v1:0"),
        (ministack(), "us.anthropic.claude-haiku-4-5-20251001-v1:0"),
    ] {
        seed_calls(&url, model);
        let json = command(&["show", "usage", "--model", model, "--format", "json"], &url).run().json(0);
        let own = &json["own"];
        assert_eq!(own["totals"]["invocations"], 100.0, "{url}: {own}");
        // Emulators interpolate differently: the bounds allow for the method, not for another quantity.
        within(&own["latency_ms"]["mean"], 5050.0, 5050.0);
        within(&own["latency_ms"]["p50"], 5000.0, 5100.0);
        within(&own["latency_ms"]["p99"], 9850.0, 10_000.0);
        within(&own["latency_ms"]["max"], 10_000.0, 10_000.0);
        within(&own["output_tokens"]["p99"], 198.0, 200.0);
        // Ten calls a minute, as a one-minute sum: not divided by sixty.
        assert_eq!(json["peak_rpm"]["max"], 10.0, "{url}");
        assert_eq!(json["peak_tpm"]["max"], 23_500.0, "{url}");
        assert!(own["totals"].get("throttles").is_none(), "missing is not zero");
    }
}

#[test]
#[ignore = "needs the emulators that tests/run starts"]
fn the_same_plan_live_from_a_snapshot_and_by_flags() {
    let model = "us.anthropic.claude-sonnet-4-6";
    let cloudwatch = fakecloud();
    seed_quota("L-15B8E632", 200_000.0);
    seed_calls(&cloudwatch, model);
    let arguments = ["plan", "concurrency", "--model", model, "--max-tokens", "500", "--format", "json"];
    let live = command(&arguments, &cloudwatch).run().json(0);
    assert_eq!(live["quotas"]["tpm"]["code"], "L-15B8E632");
    assert_eq!(live["quotas"]["tpm"]["applied"], 200_000.0);
    assert_eq!(live["quotas"]["tpm"]["default"], 6_000_000.0, "applied and default are two values");
    let snapshot = command(&["snapshot", "--model", model], &cloudwatch).run().stdout(0);
    let from_file = Program::new(&[&arguments[..], &["--snapshot", "s.json"]].concat()).file("s.json", &snapshot).run().json(0);
    assert_eq!(live["plan"], from_file["plan"]);
    let input = |name: &str| live["inputs"][name]["value"].to_string();
    let (rpm, tpm, others_rpm) = (input("rpm"), input("tpm"), input("others_rpm"));
    let times = ["latency_s", "latency_p99_s"].map(|name| format!("{}s", input(name)));
    let tokens = ["input_tokens", "input_tokens_p99", "output_tokens", "output_tokens_p99"].map(input);
    let by_flags = Program::new(
        &[
            &arguments[..],
            &["--offline", "--region", "us-east-1", "--rpm", &rpm, "--tpm", &tpm, "--others-rpm", &others_rpm],
            &[
                "--latency",
                &times[0],
                "--latency-p99",
                &times[1],
                "--input-tokens",
                &tokens[0],
                "--input-tokens-p99",
                &tokens[1],
            ],
            &["--output-tokens", &tokens[2], "--output-tokens-p99", &tokens[3]],
        ]
        .concat(),
    )
    .run()
    .json(0);
    assert_eq!(live["plan"]["recommended"], by_flags["plan"]["recommended"]);
    for limits in ["at_full_quota", "after_headroom"] {
        for (id, value) in live["plan"][limits].as_object().unwrap() {
            let value = value.as_f64().unwrap();
            within(&by_flags["plan"][limits][id], value * 0.999_999, value * 1.000_001);
        }
    }
}

#[test]
#[ignore = "needs the emulators that tests/run starts"]
fn every_row_of_aws_s_list_is_read() {
    let json = command(&["show", "quotas", "--format", "json"], &fakecloud()).run().json(0);
    let rows = json["quotas"].as_array().unwrap();
    // fakecloud ships AWS's us-east-1 list: 287 rows of "model inference" among others.
    assert!(rows.len() > 280, "{}", rows.len());
    assert!(rows.iter().all(|row| row["applied"].is_number()
        && row["default"].is_number()
        && row["code"].as_str().unwrap().starts_with("L-")));
    let of_model =
        command(&["show", "quotas", "--model", "us.amazon.nova-pro-v1:0", "--format", "json"], &fakecloud()).run().json(0);
    let names: Vec<&str> = of_model["quotas"].as_array().unwrap().iter().map(|row| row["name"].as_str().unwrap()).collect();
    assert!(names.contains(&"Cross-region model inference tokens per minute for Amazon Nova Pro"), "{names:?}");
    assert!(names.iter().all(|name| name.to_lowercase().contains("nova pro")), "{names:?}");
}

/// A queue with its dead-letter queue, a function, and a mapping between the two, in ministack.
async fn deploy(url: &str) {
    use aws_sdk_lambda::types::{FunctionCode, Runtime as Language, ScalingConfig};
    use aws_sdk_sqs::types::QueueAttributeName;

    let credentials = || Credentials::new("testing", "testing", None, None, "test");
    let sqs = aws_sdk_sqs::Client::from_conf(
        aws_sdk_sqs::Config::builder()
            .behavior_version(BehaviorVersion::latest())
            .region(Region::new("us-east-1"))
            .credentials_provider(credentials())
            .endpoint_url(url)
            .build(),
    );
    let lambda = aws_sdk_lambda::Client::from_conf(
        aws_sdk_lambda::Config::builder()
            .behavior_version(BehaviorVersion::latest())
            .region(Region::new("us-east-1"))
            .credentials_provider(credentials())
            .endpoint_url(url)
            .build(),
    );
    sqs.create_queue().queue_name("forms-dead").send().await.unwrap();
    let policy = r#"{"deadLetterTargetArn":"arn:aws:sqs:us-east-1:000000000000:forms-dead","maxReceiveCount":"3"}"#;
    sqs.create_queue()
        .queue_name("forms")
        .attributes(QueueAttributeName::VisibilityTimeout, "100")
        .attributes(QueueAttributeName::RedrivePolicy, policy)
        .send()
        .await
        .unwrap();
    // An empty archive: nothing is ever run.
    let archive = [b"PK\x05\x06".as_slice(), &[0; 18]].concat();
    lambda
        .create_function()
        .function_name("reader")
        .runtime(Language::from("python3.13"))
        .role("arn:aws:iam::000000000000:role/reader")
        .handler("app.handler")
        .timeout(90)
        .code(FunctionCode::builder().zip_file(aws_sdk_lambda::primitives::Blob::new(archive)).build())
        .send()
        .await
        .unwrap();
    lambda.put_function_concurrency().function_name("reader").reserved_concurrent_executions(6).send().await.unwrap();
    // Created while the visibility timeout was longer; lowered afterwards, which Lambda does not look at.
    lambda
        .create_event_source_mapping()
        .function_name("reader")
        .event_source_arn("arn:aws:sqs:us-east-1:000000000000:forms")
        .batch_size(4)
        .enabled(false)
        .scaling_config(ScalingConfig::builder().maximum_concurrency(6).build())
        .send()
        .await
        .unwrap();
    let queue = sqs.get_queue_url().queue_name("forms").send().await.unwrap().queue_url.unwrap();
    sqs.set_queue_attributes().queue_url(queue).attributes(QueueAttributeName::VisibilityTimeout, "60").send().await.unwrap();
}

#[test]
#[ignore = "needs the emulators that tests/run starts"]
fn what_is_deployed_is_read_back_and_checked() {
    let url = ministack();
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(deploy(&url));
    for select in [["--function", "reader"], ["--queue", "forms"]] {
        let arguments = [&["check", "timeouts", "--live", "--format", "json", "--endpoint-url", &url], &select[..]].concat();
        let report = command(&arguments, &url).run().json(1);
        let chain = &report["chains"][0];
        for (key, value) in [
            ("visibility_timeout_s", 60.0),
            ("lambda_timeout_s", 90.0),
            ("batch_size", 4.0),
            ("maximum_concurrency", 6.0),
            ("reserved_concurrency", 6.0),
            ("max_receive_count", 3.0),
        ] {
            assert_eq!(chain[key]["value"], value, "{select:?} {key}: {chain:#}");
        }
        let rules: Vec<&str> =
            report["findings"].as_array().unwrap().iter().map(|finding| finding["rule"].as_str().unwrap()).collect();
        assert!(rules.contains(&"visibility-below-function-timeout") && rules.contains(&"max-receive-count-low"), "{rules:?}");
    }
}
