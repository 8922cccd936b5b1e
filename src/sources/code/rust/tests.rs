use proptest::prelude::*;

use super::read;
use crate::engine::deployment::SourceFacts;
use crate::sources::code::testing::{attempts, client, hidden, read_first, seconds};

fn files(files: &[(&str, &str)]) -> SourceFacts {
    read_first(files, read)
}

const USES: &str = "use std::time::Duration;
use aws_config::{BehaviorVersion, retry::RetryConfig, timeout::TimeoutConfig};
use aws_sdk_bedrockruntime::types::InferenceConfiguration;
use aws_sdk_bedrockruntime::{Client as Bedrock, primitives::Blob};
";

/// A file whose own text begins on line 5.
fn file(body: &str) -> SourceFacts {
    files(&[("src/main.rs", &format!("{USES}{body}"))])
}

fn loaded(steps: &str) -> SourceFacts {
    file(&format!(
        "async fn main() {{\nlet config = aws_config::defaults(BehaviorVersion::latest()){steps}.load().await;\nlet client = Bedrock::new(&config);\n}}"
    ))
}

#[test]
fn without_settings_it_waits_for_ever_and_tries_three_times() {
    for facts in [loaded(""), file("async fn main() {\n\nlet client = Bedrock::new(&aws_config::load_from_env().await);\n}")] {
        let client = client(&facts);
        assert_eq!((seconds(client), attempts(client)), (Some(None), Some(vec![3])));
        assert!(client.read_timeout_s.is_default() && client.attempts.is_default() && client.attempts_from_environment);
        assert_eq!((client.place.line, client.sdk), (7, "the AWS SDK for Rust"));
    }
}

#[test]
fn timeouts() {
    for (config, expected, count) in [
        ("read_timeout(Duration::from_secs(40))", Some(40.0), vec![3]),
        ("read_timeout(Duration::from_millis(1500))", Some(1.5), vec![3]),
        ("read_timeout(Duration::new(7, 0)).connect_timeout(Duration::from_secs(1))", Some(7.0), vec![3]),
        ("operation_attempt_timeout(Duration::from_secs(20))", Some(20.0), vec![3]),
        ("read_timeout(Duration::from_secs(40)).operation_attempt_timeout(Duration::from_secs(20))", Some(20.0), vec![3]),
        ("read_timeout(Duration::from_secs(40)).operation_attempt_timeout(Duration::from_secs(50))", Some(40.0), vec![3]),
        ("operation_timeout(Duration::from_secs(100))", Some(100.0), vec![3]),
        ("connect_timeout(Duration::from_secs(3))", None, vec![3]),
    ] {
        let facts = loaded(&format!(".timeout_config(TimeoutConfig::builder().{config}.build())"));
        assert_eq!((seconds(client(&facts)), attempts(client(&facts))), (Some(expected), Some(count)), "{config}");
    }
    let facts = loaded("\n.timeout_config(TimeoutConfig::builder()\n.read_timeout(Duration::from_secs(\n40)).build())");
    let timeout = &client(&facts).read_timeout_s;
    let lines = (timeout.literal().map(|place| place.line), timeout.place.as_ref().map(|place| place.line));
    assert_eq!(lines, (Some(9), Some(8)));
    assert!(hidden(&client(&loaded(".timeout_config(limits)")).read_timeout_s));
    assert!(hidden(
        &client(&loaded(".timeout_config(TimeoutConfig::builder().read_timeout(Duration::from_secs(secs())).build())"))
            .read_timeout_s
    ));
}

#[test]
fn attempts_have_many_spellings() {
    for (retry, count) in [
        ("RetryConfig::standard().with_max_attempts(5)", 5),
        ("RetryConfig::adaptive()", 3),
        ("RetryConfig::disabled()", 1),
        ("aws_config::retry::RetryConfig::standard()", 3),
    ] {
        let facts = loaded(&format!(".retry_config({retry})"));
        assert_eq!(attempts(client(&facts)), Some(vec![count]), "{retry}");
        assert!(!client(&facts).attempts_from_environment);
    }
    assert!(hidden(&client(&loaded(".retry_config(custom)")).attempts));
}

#[test]
fn the_clients_own_configuration_stands_over_the_shared_one() {
    let facts = file(
        "async fn main() {\nlet shared = aws_config::load_from_env().await;\nlet conf = aws_sdk_bedrockruntime::config::Builder::from(&shared)\n.retry_config(RetryConfig::standard().with_max_attempts(2)).build();\nlet c = Bedrock::from_conf(conf);\n}",
    );
    assert_eq!((attempts(client(&facts)), seconds(client(&facts)), client(&facts).place.line), (Some(vec![2]), Some(None), 9));
    let facts = file("fn f() { let c = Bedrock::from_conf(aws_sdk_bedrockruntime::Config::builder().region(r).build()); }");
    assert_eq!(attempts(client(&facts)), Some(vec![1, 3]));
    let facts = file("fn f(config: &SdkConfig) -> Bedrock { Bedrock::new(config) }");
    assert!(hidden(&client(&facts).read_timeout_s) && hidden(&client(&facts).attempts));
    let facts = file(
        "fn f() { let aws_config = aws_config::from_env().load().await;\nlet again = aws_config::from_env().retry_config(RetryConfig::disabled()).load().await;\nlet c = Bedrock::new(&again); }",
    );
    assert_eq!(attempts(client(&facts)), Some(vec![1]));
    assert!(file("fn f() { let c = aws_sdk_s3::Client::new(&config); }").is_empty());
}

fn call(body: &str) -> SourceFacts {
    file(&format!("async fn ask(client: &Bedrock, text: String) -> Result<String> {{\n{body}\n}}"))
}

#[test]
fn output_limits() {
    for (body, limit) in [
        (
            "client.converse().model_id(\"m\").inference_config(InferenceConfiguration::builder().max_tokens(310).build()).send().await?",
            Some(Some(310.0)),
        ),
        (
            "let limits = InferenceConfiguration::builder().max_tokens(310).build();\nclient.converse_stream().set_inference_config(Some(limits)).send().await?",
            Some(Some(310.0)),
        ),
        (
            "let mut request = client.converse();\nrequest = request.inference_config(InferenceConfiguration::builder().max_tokens(310).build());\nrequest.send().await",
            Some(Some(310.0)),
        ),
        (
            "let request = client.converse();\nlet request = request.inference_config(InferenceConfiguration::builder().max_tokens(310).build());\nrequest.send().await",
            Some(Some(310.0)),
        ),
        (
            "client.converse().inference_config(InferenceConfiguration::builder().temperature(0.1).build()).send().await",
            Some(None),
        ),
        ("client.converse().model_id(\"m\").send().await", Some(None)),
        ("client.converse().inference_config(limits()).send().await", None),
        ("client.converse().inference_config(InferenceConfiguration::builder().max_tokens(n).build()).send().await", None),
        ("client.invoke_model().body(Blob::new(r#\"{\"max_tokens\": 310}\"#)).send().await", Some(Some(310.0))),
        (
            "let body = json!({\"messages\": [{\"role\": \"user\", \"content\": text}], \"max_tokens\": 310});\nclient.invoke_model().body(Blob::new(body.to_string())).send().await",
            Some(Some(310.0)),
        ),
        (
            "client.invoke_model().body(Blob::new(serde_json::to_vec(&Claude { prompt: text, max_tokens: 310 })?)).send().await",
            Some(Some(310.0)),
        ),
        (
            "client.invoke_model().body(Blob::new(format!(\"{{\\\"max_tokens\\\": 310, \\\"prompt\\\": \\\"{text}\\\"}}\"))).send().await",
            Some(Some(310.0)),
        ),
        ("client.invoke_model().body(Blob::new(json!({\"prompt\": text}).to_string())).send().await", Some(None)),
        ("client.invoke_model().body(Blob::new(text)).send().await", None),
    ] {
        let facts = call(body);
        assert_eq!(facts.calls.len(), 1, "{body}");
        let tokens = &facts.calls[0].max_tokens;
        assert_eq!(
            (tokens.value(), tokens.is_unset(), hidden(tokens)),
            (limit.flatten(), limit == Some(None), limit.is_none()),
            "{body}"
        );
    }
    assert!(call("client.invoke_model().model_id(\"amazon.titan-embed-text-v2:0\").send().await").calls.is_empty());
    assert!(file("struct Own; impl Own { fn converse(&self) {} }\nfn f(own: Own) { own.converse(); }").is_empty());
}

#[test]
fn modules_are_followed() {
    let facts = files(&[
        (
            "app/src/main.rs",
            "mod clients;\nmod settings;\nuse aws_sdk_bedrockruntime::Client;\nstruct App { model: Client }\nimpl App { async fn ask(&self) { self.model.converse().model_id(settings::MODEL).send().await; } }\nasync fn main() { let app = App { model: clients::bedrock().await }; }",
        ),
        (
            "app/src/clients/mod.rs",
            "use crate::settings::READ;\npub async fn bedrock() -> aws_sdk_bedrockruntime::Client {\nlet limits = aws_config::timeout::TimeoutConfig::builder().read_timeout(READ).build();\nlet config = aws_config::from_env().timeout_config(limits).load().await;\naws_sdk_bedrockruntime::Client::new(&config)\n}",
        ),
        (
            "app/src/settings.rs",
            "use std::time::Duration;\nconst SECONDS: u64 = 42;\npub const READ: Duration = Duration::from_secs(SECONDS);\npub const MODEL: &str = \"us.amazon.nova-pro-v1:0\";\n",
        ),
    ]);
    let client = client(&facts);
    assert_eq!(seconds(client), Some(Some(42.0)));
    let literal = client.read_timeout_s.literal().unwrap();
    assert_eq!((&*literal.path, literal.line), ("app/src/settings.rs", 2));
    assert_eq!((&*client.place.path, client.place.line), ("app/src/clients/mod.rs", 5));
    assert_eq!(facts.calls.len(), 1);
    assert_eq!(facts.calls[0].model.fact().map(|fact| fact.value.as_str()), Some("us.amazon.nova-pro-v1:0"));
}

#[test]
fn streams_and_semaphores_limit_parallel_calls() {
    let ask = "client.converse().send().await";
    for (body, size) in [
        (format!("stream::iter(items).map(|i| async {{ {ask} }}).buffer_unordered(6).collect().await"), Some(6.0)),
        (format!("let s = tokio::sync::Semaphore::new(3);\n{ask}"), Some(3.0)),
        (format!("let s = Vec::new(3);\n{ask}"), None),
    ] {
        assert_eq!(call(&body).parallel_calls.map(|fact| fact.value), size, "{body}");
    }
}

#[test]
fn a_second_layer_of_retries_is_seen() {
    let ask = "client.converse().send().await";
    for (body, what) in [
        (format!("backoff::future::retry(policy, || async {{ {ask} }}).await"), "backoff's `retry`"),
        (format!("tokio_retry::Retry::spawn(policy, || async {{ {ask} }}).await"), "tokio-retry's `Retry`"),
        (format!("use backon::Retryable; (|| async {{ {ask} }}).retry(policy).await"), "backon's `retry`"),
        (
            format!("for attempt in 0..3 {{ if let Ok(out) = {ask} {{ return Ok(out); }} }}"),
            "a loop that calls the model again",
        ),
        (format!("loop {{ match {ask} {{ Ok(out) => break, Err(e) => wait() }} }}"), "a loop that calls the model again"),
    ] {
        let found = call(&body).nested_retries;
        assert_eq!(found.iter().map(|(_, what)| what.as_str()).collect::<Vec<_>>(), [what], "{body}");
        assert_eq!(found[0].0.line, 6, "{body}");
    }
    for body in [
        format!("for record in event.records {{ if let Ok(out) = {ask} {{ return Ok(out); }} }}"),
        format!("for i in 0..records.len() {{ if let Ok(out) = {ask} {{ return Ok(out); }} }}"),
        format!("for i in 0..3 {{ {ask}?; }}"),
    ] {
        assert_eq!(call(&body).nested_retries, [], "{body}");
    }
}

#[test]
fn a_broken_file_is_read_as_far_as_it_goes() {
    let facts = file(
        "async fn f() { let c = Bedrock::new(&aws_config::from_env().retry_config(RetryConfig::disabled()).load().await); }\nfn broken( { if",
    );
    assert_eq!(attempts(client(&facts)), Some(vec![1]));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn any_text_is_read_without_a_panic(text in "\\PC{0,200}") {
        let _ = files(&[("a.rs", &text)]);
    }

    #[test]
    fn any_pieces_of_code_are_read_without_a_panic(pieces in prop::collection::vec(prop::sample::select(PIECES), 0..40)) {
        let _ = file(&pieces.concat());
    }
}

const PIECES: &[&str] = &[
    "fn f(",
    "client: &Bedrock",
    ") {\n",
    "}\n",
    "{",
    "let c = ",
    "Bedrock::new(",
    "&config",
    "aws_config::from_env()",
    ".timeout_config(",
    "TimeoutConfig::builder()",
    ".read_timeout(",
    "Duration::from_secs(",
    "5",
    ")",
    ".load().await",
    "client.converse()",
    ".send()",
    ".body(",
    "json!({\"max_tokens\": 3, ",
    "format!(\"{{\\\"",
    "loop {",
    "match c {",
    "Ok(x) => break,",
    "use a::{b, c as d};",
    "é",
    "r#\"",
    ";",
];
