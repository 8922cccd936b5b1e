use proptest::prelude::*;

use super::read;
use crate::engine::deployment::SourceFacts;
use crate::sources::code::testing::{attempts, client, hidden, read_first, seconds};

fn files(files: &[(&str, &str)]) -> SourceFacts {
    read_first(files, read)
}

/// A class whose members begin on line 5.
fn class(members: &str) -> SourceFacts {
    let text = format!("using Amazon.BedrockRuntime;\n\nnamespace Shop;\npublic class Worker {{\n{members}\n}}\n");
    files(&[("src/Worker.cs", &text)])
}

fn config(entries: &str) -> SourceFacts {
    class(&format!(
        "private static readonly AmazonBedrockRuntimeClient Model = new(new AmazonBedrockRuntimeConfig {{ {entries} }});"
    ))
}

#[test]
fn without_settings_it_waits_a_hundred_seconds_and_tries_three_or_five_times() {
    for facts in [
        class(
            "[Obsolete]\nprivate readonly IAmazonBedrockRuntime model = new AmazonBedrockRuntimeClient(RegionEndpoint.EUWest1);",
        ),
        config("\nRegionEndpoint = RegionEndpoint.EUWest1"),
    ] {
        let client = client(&facts);
        assert_eq!((seconds(client), attempts(client)), (Some(Some(100.0)), Some(vec![3, 5])));
        assert!(client.read_timeout_s.is_default() && client.attempts.is_default() && client.attempts_from_environment);
        assert_eq!(client.sdk, "the AWS SDK for .NET");
    }
    let facts = class("void Run() {\n[Obsolete] int x = 1;\nusing var model =\nnew AmazonBedrockRuntimeClient();\n}");
    assert_eq!(client(&facts).place.line, 7);
    let facts = class("[Obsolete]\nprivate readonly AmazonBedrockRuntimeClient model =\nnew();");
    assert_eq!(client(&facts).place.line, 6);
}

#[test]
fn timeouts() {
    for (timeout, expected) in [
        ("TimeSpan.FromSeconds(45)", Some(Some(45.0))),
        ("TimeSpan.FromMinutes(2)", Some(Some(120.0))),
        ("new TimeSpan(0, 1, 30)", Some(Some(90.0))),
        ("TimeSpan.Parse(\"00:00:20\")", Some(Some(20.0))),
        ("Timeout.InfiniteTimeSpan", Some(None)),
        ("System.Threading.Timeout.InfiniteTimeSpan", Some(None)),
        ("TimeSpan.FromSeconds(int.Parse(Environment.GetEnvironmentVariable(\"READ\")!))", None),
        ("patience", None),
    ] {
        assert_eq!(seconds(client(&config(&format!("Timeout = {timeout}")))), expected, "{timeout}");
    }
    assert_eq!(seconds(client(&config("ReadWriteTimeout = TimeSpan.FromSeconds(45)"))), Some(Some(100.0)));
    let facts = config("\nTimeout = TimeSpan.FromSeconds(\n45)");
    let timeout = &client(&facts).read_timeout_s;
    let lines = (timeout.literal().map(|place| place.line), timeout.place.as_ref().map(|place| place.line));
    assert_eq!(lines, (Some(7), Some(6)));
}

#[test]
fn retries_are_counted_beside_the_first_attempt() {
    for (entries, count, environment) in [
        ("MaxErrorRetry = 0", vec![1], false),
        ("MaxErrorRetry = 3", vec![4], false),
        ("RetryMode = RequestRetryMode.Standard", vec![3], true),
        ("RetryMode = RequestRetryMode.Legacy", vec![5], true),
        ("RetryMode = RequestRetryMode.Standard, MaxErrorRetry = 1", vec![2], false),
    ] {
        let facts = config(entries);
        assert_eq!(
            (attempts(client(&facts)), client(&facts).attempts_from_environment),
            (Some(count), environment),
            "{entries}"
        );
    }
    assert!(hidden(&client(&config("MaxErrorRetry = settings.Retries")).attempts));
}

#[test]
fn configurations_are_followed() {
    let facts = class(
        "AmazonBedrockRuntimeClient Make() {\nvar config = new AmazonBedrockRuntimeConfig();\nconfig.MaxErrorRetry = 2;\nconfig.Timeout = Limits.Read;\nreturn new AmazonBedrockRuntimeClient(config);\n}\n}\nstatic class Limits { const int Seconds = 33; public static TimeSpan Read => TimeSpan.FromSeconds(Seconds);",
    );
    assert_eq!((seconds(client(&facts)), attempts(client(&facts))), (Some(Some(33.0)), Some(vec![3])));
    assert_eq!(client(&facts).place.line, 9);
    let facts = class("Worker(AmazonBedrockRuntimeConfig c) {\nmodel = new AmazonBedrockRuntimeClient(c);\n}");
    assert!(hidden(&client(&facts).read_timeout_s) && hidden(&client(&facts).attempts));
    let facts = class(
        "Worker(X given) {\nvar c = given ?? new AmazonBedrockRuntimeConfig();\nmodel = new AmazonBedrockRuntimeClient(c);\n}",
    );
    assert!(hidden(&client(&facts).read_timeout_s));
}

fn call(body: &str) -> SourceFacts {
    class(&format!("IAmazonBedrockRuntime client;\nasync Task Ask(string text) {{\n{body}\n}}"))
}

#[test]
fn output_limits() {
    for (body, limit) in [
        (
            "await client.ConverseAsync(new ConverseRequest { ModelId = \"m\", InferenceConfig = new InferenceConfiguration { MaxTokens = 330 } });",
            Some(Some(330.0)),
        ),
        (
            "var r = new ConverseStreamRequest { InferenceConfig = new() { MaxTokens = 330 } };\nawait client.ConverseStreamAsync(r);",
            Some(Some(330.0)),
        ),
        (
            "var r = new ConverseRequest();\nr.InferenceConfig = new InferenceConfiguration { MaxTokens = 330 };\nawait client.ConverseAsync(r);",
            Some(Some(330.0)),
        ),
        (
            "var r = new ConverseRequest { InferenceConfig = new() };\nr.InferenceConfig.MaxTokens = 330;\nawait client.ConverseAsync(r);",
            Some(Some(330.0)),
        ),
        ("await client.ConverseAsync(new ConverseRequest { ModelId = \"m\" });", Some(None)),
        (
            "await client.ConverseAsync(new ConverseRequest { InferenceConfig = new InferenceConfiguration { Temperature = 0 } });",
            Some(None),
        ),
        ("await client.ConverseAsync(new ConverseRequest { InferenceConfig = shared });", None),
        ("await client.ConverseAsync(request);", None),
        (
            "var body = JsonSerializer.Serialize(new { prompt = text, max_tokens = 330 });\nawait client.InvokeModelAsync(new InvokeModelRequest { Body = new MemoryStream(Encoding.UTF8.GetBytes(body)) });",
            Some(Some(330.0)),
        ),
        (
            "await client.InvokeModelAsync(new InvokeModelRequest { Body = new MemoryStream(JsonSerializer.SerializeToUtf8Bytes(new Dictionary<string, object> { [\"max_tokens\"] = 330 })) });",
            Some(Some(330.0)),
        ),
        (
            "await client.InvokeModelAsync(new InvokeModelRequest { Body = new MemoryStream(Encoding.UTF8.GetBytes($\"{{\\\"max_tokens\\\": 330, \\\"prompt\\\": \\\"{text}\\\"}}\")) });",
            Some(Some(330.0)),
        ),
        (
            "await client.InvokeModelAsync(new InvokeModelRequest { Body = new MemoryStream(Encoding.UTF8.GetBytes(JsonSerializer.Serialize(new { prompt = text }))) });",
            Some(None),
        ),
        ("await client.InvokeModelAsync(new InvokeModelRequest { Body = payload });", None),
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
    assert!(
        call("await client.InvokeModelAsync(new InvokeModelRequest { ModelId = \"amazon.titan-embed-text-v2:0\" });")
            .calls
            .is_empty()
    );
    assert!(call("await service.ConverseAsync(text);").calls.is_empty());
}

#[test]
fn cancellation_bounds_the_whole_call() {
    let ask = |token: &str| {
        class(&format!(
            "AmazonBedrockRuntimeClient client = new();\nasync Task Ask(CancellationToken given) {{\nvar cts = new CancellationTokenSource(TimeSpan.FromSeconds(25));\nvar other = new CancellationTokenSource();\nother.CancelAfter(9000);\nawait client.ConverseAsync(new ConverseRequest(), {token});\n}}"
        ))
    };
    for (token, expected, whole) in [
        ("cts.Token", 25.0, Some(25.0)),
        ("cancellationToken: cts.Token", 25.0, Some(25.0)),
        ("other.Token", 9.0, Some(9.0)),
        ("given", 100.0, None),
    ] {
        let facts = ask(token);
        assert_eq!((seconds(client(&facts)), client(&facts).whole_call_s), (Some(Some(expected)), whole), "{token}");
        assert_eq!(attempts(client(&facts)), Some(vec![3, 5]), "{token}: cut off, and still as many");
    }
}

#[test]
fn types_in_files_beside_are_read() {
    let facts = files(&[
        (
            "src/App/Handler.cs",
            "using App.Services;\npublic class Handler(IReader reader) { public Task Run(string s) => reader.Read(s); }",
        ),
        (
            "src/App/Services/Reader.cs",
            "public class Reader : IReader {\nprivate readonly AmazonBedrockRuntimeClient model = Clients.Make();\npublic async Task Read(string s) { await model.ConverseAsync(new ConverseRequest { ModelId = Clients.Model }); }\n}",
        ),
        (
            "src/App/Services/Clients.cs",
            "static class Clients {\npublic const string Model = \"us.amazon.nova-pro-v1:0\";\npublic static AmazonBedrockRuntimeClient Make() => new(new AmazonBedrockRuntimeConfig { MaxErrorRetry = 0 });\n}",
        ),
    ]);
    assert_eq!((attempts(client(&facts)), client(&facts).place.line), (Some(vec![1]), 3));
    assert_eq!(facts.calls[0].model.fact().map(|fact| fact.value.as_str()), Some("us.amazon.nova-pro-v1:0"));
}

#[test]
fn semaphores_and_options_limit_parallel_calls() {
    let ask = "await client.ConverseAsync(new ConverseRequest());";
    for (body, size) in [
        (format!("var s = new SemaphoreSlim(4);\n{ask}"), Some(4.0)),
        (
            format!(
                "await Parallel.ForEachAsync(x, new ParallelOptions {{ MaxDegreeOfParallelism = 6 }}, async (r, t) => {{ {ask} }});"
            ),
            Some(6.0),
        ),
        (ask.to_owned(), None),
    ] {
        assert_eq!(call(&body).parallel_calls.map(|fact| fact.value), size, "{body}");
    }
}

#[test]
fn a_second_layer_of_retries_is_seen() {
    let ask = "await client.ConverseAsync(new ConverseRequest());";
    for (body, what) in [
        (
            format!("await Policy.Handle<Exception>().WaitAndRetryAsync(3, i => wait).ExecuteAsync(async () => {{ {ask} }});"),
            "Polly's retry",
        ),
        (format!("AsyncRetryPolicy policy = Make(); await policy.ExecuteAsync(async () => {{ {ask} }});"), "Polly's retry"),
        (
            format!(
                "var p = new ResiliencePipelineBuilder().AddRetry(new RetryStrategyOptions()).Build(); await p.ExecuteAsync(async t => {{ {ask} }});"
            ),
            "Polly's retry",
        ),
        (
            format!("for (int i = 0; i < 3; i++) {{ try {{ {ask} return; }} catch (Exception e) {{ Log(e); }} }}"),
            "a loop that calls the model again",
        ),
        (
            format!("while (true) {{ try {{ {ask} break; }} catch (Exception) when (n++ < 3) {{ }} }}"),
            "a loop that calls the model again",
        ),
    ] {
        let found = call(&body).nested_retries;
        assert_eq!(found.iter().map(|(_, what)| what.as_str()).collect::<Vec<_>>(), [what], "{body}");
        assert_eq!(found[0].0.line, 7, "{body}");
    }
    for body in [
        format!("foreach (var r in e.Records) {{ try {{ {ask} return; }} catch (Exception) {{ }} }}"),
        format!("for (int i = 0; i < e.Records.Count; i++) {{ try {{ {ask} break; }} catch (Exception) {{ }} }}"),
        format!("await Policy.TimeoutAsync(9).ExecuteAsync(async () => {{ {ask} }});"),
    ] {
        assert_eq!(call(&body).nested_retries, [], "{body}");
    }
}

#[test]
fn a_broken_file_is_read_as_far_as_it_goes() {
    let facts = class(
        "AmazonBedrockRuntimeClient c = new AmazonBedrockRuntimeClient(new AmazonBedrockRuntimeConfig { MaxErrorRetry = 1 });\nvoid Broken() { if (",
    );
    assert_eq!(attempts(client(&facts)), Some(vec![2]));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn any_text_is_read_without_a_panic(text in "\\PC{0,200}") {
        let _ = files(&[("A.cs", &text)]);
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
    "var c = ",
    "new AmazonBedrockRuntimeClient(",
    "new(",
    "new AmazonBedrockRuntimeConfig {",
    "Timeout = ",
    "TimeSpan.FromSeconds(",
    "5",
    "c.ConverseAsync(",
    "new ConverseRequest { ",
    "x => x.Y = ",
    "new { max_tokens = ",
    "$\"{{a{",
    "\"\"\"",
    "try {",
    "} catch {",
    "for (;;) {",
    "return ",
    "await ",
    "é",
    "[\"max_tokens\"] = ",
    "@\"",
    "void F(int a) {",
    ", ",
];
