use proptest::prelude::*;

use super::read;
use crate::engine::deployment::{Client, Setting, SourceFacts};
use crate::sources::code::testing::{attempts, client, hidden, read_first};

mod around;

/// Reads the first of some files.
fn files(files: &[(&str, &str)]) -> SourceFacts {
    read_first(files, read)
}

fn class(body: &str) -> SourceFacts {
    let text =
        format!("package shop;\nimport software.amazon.awssdk.services.bedrockruntime.*;\nclass Worker {{\n{body}\n}}\n");
    files(&[("src/shop/Worker.java", &text)])
}

/// Seconds, the literal's line, the setting's line.
fn read_timeout(client: &Client) -> (Option<Option<f64>>, Option<usize>, Option<usize>) {
    let setting = &client.read_timeout_s;
    (setting.value(), setting.literal().map(|place| place.line), setting.place.as_ref().map(|place| place.line))
}

fn of_config(config: &str) -> SourceFacts {
    class(&format!("static final BedrockRuntimeClient C = BedrockRuntimeClient.builder(){config}.build();"))
}

#[test]
fn the_socket_timeout_is_the_default_whatever_the_calls_limit() {
    let facts = of_config(
        ".overrideConfiguration(o -> o\n.apiCallTimeout(Duration.ofMinutes(4)).apiCallAttemptTimeout(Duration.ofSeconds(80)))\n",
    );
    let client = client(&facts);
    assert_eq!(read_timeout(client), (Some(Some(30.0)), None, None));
    assert_eq!(attempts(client), Some(vec![3, 4]));
    assert!(client.read_timeout_s.is_default() && client.attempts.is_default() && client.attempts_from_environment);
    assert_eq!((client.pool.value(), client.place.line), (Some(50.0), 4));
}

#[test]
fn each_http_client_has_its_own_name_for_it() {
    for (http, seconds) in [
        ("httpClientBuilder(ApacheHttpClient.builder().socketTimeout(Duration.ofSeconds(75)))", Some(75.0)),
        ("httpClient(Apache5HttpClient.builder().socketTimeout(Duration.ofMillis(1500)).build())", Some(1.5)),
        ("httpClientBuilder(NettyNioAsyncHttpClient.builder().readTimeout(Duration.ofMinutes(2)))", Some(120.0)),
        ("httpClientBuilder(NettyNioAsyncHttpClient.builder().writeTimeout(Duration.ofMinutes(2)))", Some(30.0)),
        ("httpClient(UrlConnectionHttpClient.builder().socketTimeout(Duration.of(9, ChronoUnit.SECONDS)).build())", Some(9.0)),
        ("httpClient(UrlConnectionHttpClient.create())", Some(30.0)),
        ("httpClient(AwsCrtAsyncHttpClient.builder().build())", None),
        ("httpClient(ApacheHttpClient.builder().socketTimeout(Duration.ZERO).build())", None),
        ("httpClient(ApacheHttpClient.builder().socketTimeout(Duration.parse(\"PT1M5S\")).build())", Some(65.0)),
    ] {
        let facts = of_config(&format!(".{http}"));
        assert_eq!(read_timeout(client(&facts)).0, Some(seconds), "{http}");
    }
}

#[test]
fn pools_and_keepalive_are_read() {
    let facts = of_config(".httpClientBuilder(ApacheHttpClient.builder().maxConnections(8).tcpKeepAlive(true))");
    assert_eq!((client(&facts).pool.value(), client(&facts).tcp_keepalive), (Some(8.0), true));
    let facts = of_config(".httpClientBuilder(NettyNioAsyncHttpClient.builder().maxConcurrency(12))");
    assert_eq!((client(&facts).pool.value(), client(&facts).tcp_keepalive), (Some(12.0), false));
}

#[test]
fn attempts_have_many_spellings() {
    for (retry, count) in [
        ("retryPolicy(RetryPolicy.builder().numRetries(5).build())", 6),
        ("retryPolicy(r -> r.numRetries(0))", 1),
        ("retryPolicy(RetryPolicy.none())", 1),
        ("retryPolicy(RetryMode.STANDARD)", 3),
        ("retryPolicy(RetryPolicy.forRetryMode(RetryMode.LEGACY))", 4),
        ("retryStrategy(RetryMode.ADAPTIVE_V2)", 3),
        ("retryStrategy(DefaultRetryStrategy.doNotRetry())", 1),
        ("retryStrategy(DefaultRetryStrategy.legacyStrategyBuilder().build())", 4),
        ("retryStrategy(StandardRetryStrategy.builder().maxAttempts(2).build())", 2),
        ("retryStrategy(s -> s.maxAttempts(7))", 7),
    ] {
        for config in [
            format!(".overrideConfiguration(o -> o.{retry})"),
            format!(".overrideConfiguration(o -> {{ o.{retry}; }})"),
            format!(".overrideConfiguration(ClientOverrideConfiguration.builder().{retry}.build())"),
        ] {
            let facts = of_config(&config);
            assert_eq!(attempts(client(&facts)), Some(vec![count]), "{config}");
            assert!(!client(&facts).attempts_from_environment);
            assert_eq!(client(&facts).attempts.literal().map(|place| place.line), Some(4));
        }
    }
    assert_eq!(attempts(client(&of_config(".defaultsMode(DefaultsMode.IN_REGION)"))), Some(vec![3]));
}

#[test]
fn shorter_limits_around_an_attempt_or_the_call_count() {
    let facts = of_config(".overrideConfiguration(o -> o.apiCallAttemptTimeout(Duration.ofSeconds(12)))");
    assert_eq!(read_timeout(client(&facts)), (Some(Some(12.0)), Some(4), Some(4)));
    let facts = of_config(".overrideConfiguration(o -> o.apiCallTimeout(Duration.ofSeconds(25)))");
    assert_eq!((read_timeout(client(&facts)).0, client(&facts).whole_call_s), (Some(Some(25.0)), Some(25.0)));
    assert_eq!(attempts(client(&facts)), Some(vec![3, 4]), "cut off, and still as many");
    let facts = of_config(".overrideConfiguration(o -> o.apiCallTimeout(Duration.ofSeconds(60)))");
    assert_eq!((read_timeout(client(&facts)).0, client(&facts).whole_call_s), (Some(Some(30.0)), Some(60.0)));
}

#[test]
fn constants_fields_and_methods_are_followed_to_the_literal() {
    let facts = files(&[
        (
            "app/src/main/java/shop/read/Worker.java",
            "package shop.read;\nimport shop.Settings;\nimport static shop.more.Limits.TOKENS;\n\
             public class Worker {\n\
               private final BedrockRuntimeClient model = Models.create();\n\
               String ask(String text) {\n\
                 return model.converse(r -> r.modelId(Settings.MODEL).inferenceConfig(c -> c.maxTokens(TOKENS))).toString();\n\
               }\n}\n",
        ),
        (
            "app/src/main/java/shop/read/Models.java",
            "package shop.read;\nimport shop.Settings;\nclass Models {\n\
               static BedrockRuntimeClient create() {\n\
                 SdkHttpClient http = http(Settings.READ);\n\
                 var builder = BedrockRuntimeClient.builder();\n\
                 builder.httpClient(http);\n\
                 return builder.build();\n\
               }\n\
               private static SdkHttpClient http(Duration read) {\n\
                 return ApacheHttpClient.builder()\n.socketTimeout(read)\n.build();\n\
               }\n}\n",
        ),
        (
            "app/src/main/java/shop/Settings.java",
            "package shop;\npublic final class Settings {\n\
               private static final int SECONDS = 44;\n\
               public static final Duration READ = Duration.ofSeconds(SECONDS);\n\
               public static final String MODEL = \"us.\" + \"amazon.nova-pro-v1:0\";\n}\n",
        ),
        (
            "app/src/main/java/shop/more/Limits.java",
            "package shop.more;\npublic class Limits {\npublic static final int TOKENS = 700;\n}\n",
        ),
    ]);
    let client = client(&facts);
    assert_eq!(read_timeout(client), (Some(Some(44.0)), Some(3), Some(12)));
    assert_eq!(client.read_timeout_s.literal().map(|place| &*place.path), Some("app/src/main/java/shop/Settings.java"));
    assert_eq!((&*client.place.path, client.place.line), ("app/src/main/java/shop/read/Models.java", 8));
    assert_eq!(facts.calls.len(), 1);
    let call = &facts.calls[0];
    assert_eq!((call.model.value_text(), call.max_tokens.value()), (Some("us.amazon.nova-pro-v1:0"), Some(700.0)));
}

trait Text {
    fn value_text(&self) -> Option<&str>;
}

impl Text for Setting<String> {
    fn value_text(&self) -> Option<&str> {
        self.fact().map(|fact| fact.value.as_str())
    }
}

#[test]
fn what_cannot_be_followed_is_unresolved_and_no_default() {
    for config in [
        ".httpClient(injected)",
        ".httpClient(Other.client())",
        ".httpClientBuilder(ApacheHttpClient.builder().socketTimeout(Duration.ofSeconds(Integer.parseInt(System.getenv(\"READ\")))))",
        ".httpClientBuilder(ApacheHttpClient.builder().socketTimeout(fast ? Duration.ofSeconds(5) : Duration.ofSeconds(50)))",
    ] {
        let facts = of_config(config);
        assert!(hidden(&client(&facts).read_timeout_s), "{config}");
    }
    for config in [".overrideConfiguration(settings)", ".overrideConfiguration(o -> o.retryStrategy(custom()))"] {
        let facts = of_config(config);
        assert!(hidden(&client(&facts).attempts), "{config}");
        assert!(!client(&facts).attempts_from_environment, "{config}");
    }
}

#[test]
fn a_variable_that_is_set_twice_is_not_guessed() {
    let facts = class(
        "void run() {\nDuration d = Duration.ofSeconds(5);\nif (slow) { d = Duration.ofSeconds(50); }\n\
         var c = BedrockRuntimeClient.builder().httpClient(ApacheHttpClient.builder().socketTimeout(d).build()).build();\n}",
    );
    assert_eq!(
        client(&facts).read_timeout_s.why_unresolved().map(|why| why.why.as_str()),
        Some("`d` is set in several places")
    );
}

#[test]
fn a_lazily_made_client_is_one() {
    let facts = class(
        "private static BedrockRuntimeAsyncClient c;\n\
         static BedrockRuntimeAsyncClient get() {\nif (c == null) {\nc = BedrockRuntimeAsyncClient.create();\n}\nreturn c;\n}\n\
         void ask(ConverseStreamRequest q) { get().converseStream(q, handler); }",
    );
    assert_eq!(client(&facts).place.line, 7);
    assert_eq!(facts.calls.len(), 1);
    assert!(hidden(&facts.calls[0].max_tokens) && hidden(&facts.calls[0].model));
}

/// The first call of a method's body, with a client `c`.
fn calls(body: &str) -> SourceFacts {
    class(&format!("BedrockRuntimeClient c;\nvoid ask(String text) {{\n{body}\n}}"))
}

#[test]
fn output_limits_of_converse() {
    for (body, limit) in [
        (
            "c.converse(ConverseRequest.builder().modelId(\"m\").inferenceConfig(InferenceConfiguration.builder().maxTokens(300).build()).build());",
            Some(Some(300.0)),
        ),
        (
            "var r = ConverseRequest.builder().modelId(\"m\").inferenceConfig(i -> i.maxTokens(300).temperature(0F)).build();\nc.converse(r);",
            Some(Some(300.0)),
        ),
        (
            "var b = ConverseRequest.builder().modelId(\"m\");\nb.inferenceConfig(i -> i.maxTokens(300));\nc.converse(b.build());",
            Some(Some(300.0)),
        ),
        ("c.converse(r -> { r.modelId(\"m\"); r.inferenceConfig(i -> i.maxTokens(300)); });", Some(Some(300.0))),
        ("c.converse(r -> r.modelId(\"m\").inferenceConfig(i -> i.temperature(0.5F)));", Some(None)),
        ("c.converse(r -> r.modelId(\"m\"));", Some(None)),
        ("c.converse(r -> r.modelId(\"m\").inferenceConfig(shared));", None),
        ("c.converse(r -> r.modelId(\"m\").inferenceConfig(i -> i.maxTokens(limit)));", None),
        ("c.converse(request);", None),
    ] {
        let facts = calls(body);
        assert_eq!(facts.calls.len(), 1, "{body}");
        let tokens = &facts.calls[0].max_tokens;
        assert_eq!(
            (tokens.value(), tokens.is_unset(), hidden(tokens)),
            (limit.flatten(), limit == Some(None), limit.is_none()),
            "{body}"
        );
    }
}

#[test]
fn output_limits_in_bodies() {
    for (body, limit) in [
        (r#""{\"max_tokens\": 410, \"messages\": []}""#, Some(Some(410.0))),
        ("\"\"\"\n{\n\"anthropic_version\": \"v\",\n\"max_tokens\": 410\n}\"\"\"", Some(Some(410.0))),
        (r#""{\"textGenerationConfig\": {\"maxTokenCount\": 410}}""#, Some(Some(410.0))),
        (r#""{\"max_tokens\": 410, \"prompt\": \"%s\"}".formatted(text)"#, Some(Some(410.0))),
        (r#"String.format("{\"max_tokens\": 410, \"prompt\": \"%s\"}", text)"#, Some(Some(410.0))),
        (r#""{\"prompt\": \"x\"}""#, Some(None)),
        (r#""{\"max_tokens\": 410, \"prompt\": \"" + text + "\"}""#, None),
        (r#"String.format("{\"max_tokens\": %d}", limit)"#, None),
        ("text", None),
        (r#"new JSONObject().put("max_tokens", 410).put("prompt", text).toString()"#, Some(Some(410.0))),
        (r#"new JSONObject().put("prompt", text).toString()"#, Some(None)),
        (r#"MAPPER.writeValueAsString(Map.of("prompt", text, "max_tokens", 410))"#, Some(Some(410.0))),
        (r#"MAPPER.writeValueAsString(Map.of("prompt", text))"#, Some(None)),
        ("MAPPER.writeValueAsString(payload)", None),
    ] {
        let facts = class(&format!(
            "static final ObjectMapper MAPPER = new ObjectMapper();\nBedrockRuntimeClient c;\nvoid ask(String text) {{\n\
             c.invokeModel(r -> r.modelId(\"m\").body(SdkBytes.fromUtf8String({body})));\n}}"
        ));
        assert_eq!(facts.calls.len(), 1, "{body}");
        let tokens = &facts.calls[0].max_tokens;
        assert_eq!(
            (tokens.value(), tokens.is_unset(), hidden(tokens)),
            (limit.flatten(), limit == Some(None), limit.is_none()),
            "{body}"
        );
    }
    let facts = calls(
        "var body = new JSONObject();\nbody.put(\"prompt\", text);\nbody.put(\"max_tokens\", 410);\nc.invokeModel(r -> r.body(SdkBytes.fromUtf8String(body.toString())));",
    );
    assert_eq!(facts.calls[0].max_tokens.value(), Some(410.0));
    let facts = calls("c.invokeModel(r -> r.body(SdkBytes.fromUtf8String(\"\"\"\n{\"a\": 1,\n \"max_tokens\": 410}\"\"\")));");
    assert_eq!(facts.calls[0].max_tokens.literal().map(|place| (place.line, place.end - place.start)), Some((8, 3)));
}

#[test]
fn calls_without_text_and_calls_of_own_methods_are_none() {
    assert!(calls("c.invokeModel(r -> r.modelId(\"amazon.titan-embed-text-v2:0\").body(x));").calls.is_empty());
    assert!(calls("this.invokeModel(text);").calls.is_empty());
    assert!(class("Service s;\nvoid ask() { s.converse(r -> r.modelId(\"m\")); }").calls.is_empty());
    let other = "class W { void ask() { helper.converse(1); } }";
    assert!(files(&[("W.java", other)]).is_empty());
}

#[test]
fn langchain_has_a_timeout_and_retries_of_its_own() {
    let facts = class(
        "ChatModel m = BedrockChatModel.builder().modelId(\"x\").maxRetries(0).timeout(Duration.ofSeconds(80)).defaultRequestParameters(BedrockChatRequestParameters.builder().maxOutputTokens(99).build()).build();",
    );
    let first = client(&facts);
    assert_eq!((first.sdk, read_timeout(first).0, attempts(first)), ("LangChain4j", Some(Some(80.0)), Some(vec![1])));
    assert_eq!(facts.calls[0].max_tokens.value(), Some(99.0));
    let facts = class("ChatModel m = BedrockChatModel.builder().modelId(\"x\").build();");
    let first = client(&facts);
    assert_eq!((read_timeout(first).0, attempts(first)), (Some(Some(60.0)), Some(vec![3])));
    assert!(first.read_timeout_s.is_default() && facts.calls[0].max_tokens.is_unset());
    let facts = class(
        "BedrockRuntimeClient c = BedrockRuntimeClient.create();\nChatModel m = BedrockChatModel.builder().client(c)\n.maxRetries(1).build();",
    );
    assert_eq!((client(&facts).sdk, facts.calls.len(), facts.nested_retries[0].0.line), ("the AWS SDK for Java", 1, 6));
}

#[test]
fn a_broken_file_is_read_as_far_as_it_goes() {
    let facts = class(
        "BedrockRuntimeClient c = BedrockRuntimeClient.builder().httpClient(ApacheHttpClient.builder().socketTimeout(Duration.ofSeconds(8)).build()).build();\n\
         void broken( { if (",
    );
    assert_eq!(read_timeout(client(&facts)).0, Some(Some(8.0)));
}

#[test]
fn circles_and_depth_end() {
    let facts = class(
        "static final Duration A = B; static final Duration B = A;\n\
         BedrockRuntimeClient x() { return y(); } BedrockRuntimeClient y() { return x(); }\n\
         BedrockRuntimeClient c = BedrockRuntimeClient.builder().httpClient(ApacheHttpClient.builder().socketTimeout(A).build()).build();\n\
         void ask() { x().converse(r -> r.modelId(\"m\")); }",
    );
    assert!(hidden(&client(&facts).read_timeout_s));
    let deep = format!("class A {{ int x = {}1{}; }}", "(".repeat(20_000), ")".repeat(20_000));
    assert!(files(&[("A.java", &deep)]).is_empty());
    let chain = format!("class A {{ Object x = BedrockRuntimeClient.builder(){}.build(); }}", ".a(1)".repeat(20_000));
    let _ = files(&[("A.java", &chain)]);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn any_text_is_read_without_a_panic(text in "\\PC{0,200}") {
        let _ = files(&[("A.java", &text)]);
    }

    #[test]
    fn any_pieces_of_code_are_read_without_a_panic(pieces in prop::collection::vec(prop::sample::select(PIECES), 0..40)) {
        let _ = class(&pieces.concat());
    }
}

const PIECES: &[&str] = &[
    "class A {",
    "}",
    "(",
    ")",
    "{",
    ";",
    "BedrockRuntimeClient ",
    "c",
    " = ",
    "BedrockRuntimeClient.builder()",
    ".build()",
    ".httpClient(",
    "ApacheHttpClient.builder()",
    ".socketTimeout(",
    "Duration.ofSeconds(",
    "5",
    "c -> c",
    ".converse(",
    ".body(",
    "\"{\\\"max_tokens\\\": 3}\"",
    "\"\"\"",
    "for (;;) {",
    "try {",
    "catch (E e) {",
    "return ",
    "A()",
    " + ",
    "é",
    "new ",
    "@Retryable ",
    "final int x",
];
