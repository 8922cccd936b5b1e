use proptest::prelude::*;

use super::read;
use crate::engine::deployment::SourceFacts;
use crate::sources::code::testing::{attempts, client, hidden, read_first, seconds};

fn files(files: &[(&str, &str)]) -> SourceFacts {
    read_first(files, read)
}

const IMPORTS: &str = r#"package main
import (
	"context"
	"time"
	"net/http"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/config"
	br "github.com/aws/aws-sdk-go-v2/service/bedrockruntime"
	"github.com/aws/aws-sdk-go-v2/service/bedrockruntime/types"
	"github.com/cenkalti/backoff/v4"
	again "github.com/avast/retry-go/v4"
)
"#;

/// A file whose own text begins on line 15.
fn file(body: &str) -> SourceFacts {
    files(&[("cmd/main.go", &format!("{IMPORTS}{body}"))])
}

fn loaded(options: &str, own: &str) -> SourceFacts {
    file(&format!(
        "func setup(ctx context.Context) *br.Client {{\ncfg, err := config.LoadDefaultConfig(ctx{options})\nif err != nil {{ panic(err) }}\nreturn br.NewFromConfig(cfg{own})\n}}"
    ))
}

#[test]
fn without_settings_it_waits_for_ever_and_tries_three_times() {
    let facts = loaded("", "");
    let client = client(&facts);
    assert_eq!((seconds(client), attempts(client)), (Some(None), Some(vec![3])));
    assert!(client.read_timeout_s.is_default() && client.attempts.is_default() && client.attempts_from_environment);
    assert_eq!((client.place.line, client.sdk), (18, "the AWS SDK for Go"));
}

#[test]
fn timeouts_of_http_clients() {
    for (http, expected) in [
        ("awshttp.NewBuildableClient().WithTimeout(40*time.Second)", Some(Some(40.0))),
        ("awshttp.NewBuildableClient()", Some(None)),
        ("&http.Client{Timeout: time.Minute}", Some(Some(60.0))),
        ("&http.Client{Timeout: 2 * 30 * time.Second}", Some(Some(60.0))),
        ("&http.Client{Timeout: time.Duration(45) * time.Second}", Some(Some(45.0))),
        ("&http.Client{Timeout: 5000000000}", Some(Some(5.0))),
        (
            "&http.Client{Timeout: 90 * time.Second, Transport: &http.Transport{ResponseHeaderTimeout: 20 * time.Second}}",
            Some(Some(20.0)),
        ),
        (
            "awshttp.NewBuildableClient().WithTransportOptions(func(t *http.Transport) { t.ResponseHeaderTimeout = 9 * time.Second })",
            Some(Some(9.0)),
        ),
        ("&http.Client{}", Some(None)),
        ("&http.Client{Timeout: limit()}", None),
        ("shared", None),
    ] {
        for facts in [
            loaded(&format!(", config.WithHTTPClient({http})"), ""),
            loaded("", &format!(", func(o *br.Options) {{ o.HTTPClient = {http} }}")),
        ] {
            assert_eq!(seconds(client(&facts)), expected, "{http}");
        }
    }
    let facts =
        loaded("", ", func(o *br.Options) {\no.HTTPClient = awshttp.NewBuildableClient().WithTimeout(\n40*time.Second) }");
    let timeout = &client(&facts).read_timeout_s;
    let lines = (timeout.literal().map(|place| place.line), timeout.place.as_ref().map(|place| place.line));
    assert_eq!(lines, (Some(20), Some(19)));
    assert_eq!(timeout.literal().map(|place| place.end - place.start), Some(2));
}

#[test]
fn attempts_have_many_spellings() {
    for (options, own, count) in [
        (", config.WithRetryMaxAttempts(5)", "", 5),
        ("", ", func(o *br.Options) { o.RetryMaxAttempts = 2 }", 2),
        (", config.WithRetryMaxAttempts(5)", ", func(o *br.Options) { o.RetryMaxAttempts = 2 }", 2),
        ("", ", func(o *br.Options) { o.Retryer = aws.NopRetryer{} }", 1),
        (", config.WithRetryer(func() aws.Retryer { return aws.NopRetryer{} })", "", 1),
        (", config.WithRetryer(func() aws.Retryer { return retry.AddWithMaxAttempts(retry.NewStandard(), 6) })", "", 6),
        (
            ", config.WithRetryer(func() aws.Retryer { return retry.NewStandard(func(o *retry.StandardOptions) { o.MaxAttempts = 4 }) })",
            "",
            4,
        ),
    ] {
        let facts = loaded(options, own);
        assert_eq!(attempts(client(&facts)), Some(vec![count]), "{options} {own}");
        assert!(!client(&facts).attempts_from_environment);
    }
    assert!(hidden(&client(&loaded(", config.WithRetryMaxAttempts(0)", "")).attempts));
    assert!(hidden(&client(&loaded(", config.WithRetryer(custom)", "")).attempts));
    let facts = file("var model = br.New(br.Options{Region: region, RetryMaxAttempts: 1})");
    assert_eq!(attempts(client(&facts)), Some(vec![1]));
    let facts =
        file("func f() { cfg, _ := config.LoadDefaultConfig(ctx)\ncfg.RetryMaxAttempts = 7\nc := br.NewFromConfig(cfg) }");
    assert_eq!(attempts(client(&facts)), Some(vec![7]));
    let facts = file(
        "func f() { config, _ := config.LoadDefaultConfig(ctx, config.WithRetryMaxAttempts(2))\nc := br.NewFromConfig(config) }",
    );
    assert_eq!(attempts(client(&facts)), Some(vec![2]));
}

#[test]
fn a_configuration_that_is_an_argument_is_followed_to_its_one_caller_or_unresolved() {
    let with = "func build(cfg aws.Config) *br.Client { return br.NewFromConfig(cfg) }";
    let facts = file(with);
    assert!(hidden(&client(&facts).read_timeout_s) && hidden(&client(&facts).attempts));
    let facts = file(&format!(
        "{with}\nfunc init() {{ cfg, _ := config.LoadDefaultConfig(ctx, config.WithRetryMaxAttempts(4))\nmodel = build(cfg) }}"
    ));
    assert_eq!(attempts(client(&facts)), Some(vec![4]));
}

#[test]
fn lists_of_options_are_followed() {
    let facts = file(
        "func f() {\nopts := []func(*config.LoadOptions) error{config.WithRegion(r)}\nif x { opts = append(opts, config.WithRetryMaxAttempts(6)) }\n\
         cfg, _ := config.LoadDefaultConfig(ctx, opts...)\nvar own []func(*br.Options)\n\
         own = append(own, func(o *br.Options) { o.HTTPClient = &http.Client{Timeout: time.Minute} })\nc := br.NewFromConfig(cfg, own...) }",
    );
    assert_eq!((seconds(client(&facts)), attempts(client(&facts))), (Some(Some(60.0)), Some(vec![6])));
    let facts = file(
        "func f(given ...func(*br.Options)) { cfg, _ := config.LoadDefaultConfig(ctx)\nc := br.NewFromConfig(cfg, given...) }",
    );
    assert!(hidden(&client(&facts).read_timeout_s) && hidden(&client(&facts).attempts));
}

const CLIENT: &str = "var c = br.New(br.Options{})\n";

fn call(body: &str) -> SourceFacts {
    file(&format!("{CLIENT}func ask(ctx context.Context, text string) {{\n{body}\n}}"))
}

#[test]
fn contexts_bound_the_whole_call() {
    let ask = "c.Converse(ctx, &br.ConverseInput{})";
    for (body, expected) in [
        (format!("ctx, cancel := context.WithTimeout(ctx, 50*time.Second)\ndefer cancel()\n{ask}"), Some(50.0)),
        (format!("var cancel func()\nctx, cancel = context.WithTimeout(ctx, 50*time.Second)\n{ask}"), Some(50.0)),
        (format!("ctx, cancel := context.WithDeadline(ctx, time.Now().Add(time.Minute))\n{ask}"), Some(60.0)),
        (format!("short, cancel := context.WithTimeout(ctx, 50*time.Second)\nother(short)\n{ask}"), None),
        (
            format!(
                "short, cancel := context.WithTimeout(ctx, 50*time.Second)\nc.Converse(short, &br.ConverseInput{{}})\n{ask}"
            ),
            None,
        ),
    ] {
        let facts = call(&body);
        assert_eq!((seconds(client(&facts)), client(&facts).whole_call_s), (Some(expected), expected), "{body}");
        assert_eq!(attempts(client(&facts)), Some(vec![3]), "{body}: cut off, and still as many");
    }
}

#[test]
fn output_limits() {
    for (body, limit) in [
        (
            "c.Converse(ctx, &br.ConverseInput{ModelId: aws.String(\"m\"), InferenceConfig: &types.InferenceConfiguration{MaxTokens: aws.Int32(320)}})",
            Some(Some(320.0)),
        ),
        (
            "in := &br.ConverseStreamInput{}\nin.InferenceConfig = &types.InferenceConfiguration{MaxTokens: aws.Int32(320)}\nc.ConverseStream(ctx, in)",
            Some(Some(320.0)),
        ),
        (
            "c.Converse(ctx, &br.ConverseInput{InferenceConfig: &types.InferenceConfiguration{Temperature: aws.Float32(0)}})",
            Some(None),
        ),
        ("c.Converse(ctx, &br.ConverseInput{ModelId: aws.String(\"m\")})", Some(None)),
        ("c.Converse(ctx, &br.ConverseInput{InferenceConfig: options()})", None),
        ("c.Converse(ctx, input)", None),
        (
            "body, err := json.Marshal(map[string]any{\"prompt\": text, \"max_tokens\": 320})\nc.InvokeModel(ctx, &br.InvokeModelInput{Body: body})",
            Some(Some(320.0)),
        ),
        (
            "payload := map[string]interface{}{\"prompt\": text}\npayload[\"max_tokens\"] = 320\nbody, _ := json.Marshal(payload)\nc.InvokeModel(ctx, &br.InvokeModelInput{Body: body})",
            Some(Some(320.0)),
        ),
        (
            "body, err := json.Marshal(Claude{Prompt: text, MaxTokens: 320})\nc.InvokeModel(ctx, &br.InvokeModelInput{Body: body})",
            Some(Some(320.0)),
        ),
        (
            "body, err := json.Marshal(map[string]any{\"prompt\": text})\nc.InvokeModel(ctx, &br.InvokeModelInput{Body: body})",
            Some(None),
        ),
        ("c.InvokeModel(ctx, &br.InvokeModelInput{Body: []byte(`{\"max_tokens\": 320}`)})", Some(Some(320.0))),
        (
            "c.InvokeModel(ctx, &br.InvokeModelInput{Body: []byte(fmt.Sprintf(`{\"max_tokens\": 320, \"prompt\": \"%s\"}`, text))})",
            Some(Some(320.0)),
        ),
        ("c.InvokeModel(ctx, &br.InvokeModelInput{Body: payload})", None),
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
        call("c.InvokeModel(ctx, &br.InvokeModelInput{ModelId: aws.String(\"cohere.embed-english-v3\")})").calls.is_empty()
    );
    assert!(call("service.Converse(ctx, text)").calls.is_empty());
}

#[test]
fn packages_beside_and_below_are_read() {
    let handler = "package main\nimport (\n\"example.com/shop/internal/llm\"\n\"github.com/aws/aws-sdk-go-v2/service/bedrockruntime\"\n)\ntype Handler struct { model *bedrockruntime.Client }\nfunc (h *Handler) Handle(ctx context.Context, in *bedrockruntime.ConverseInput) { h.model.Converse(ctx, in) }\nfunc main() { h := &Handler{model: llm.NewModel(patience)}\nlambda.Start(h.Handle) }\n";
    let facts = files(&[
        ("svc/cmd/worker.go", handler),
        ("svc/go.mod", "module example.com/shop\n\ngo 1.24\n"),
        ("svc/cmd/constants.go", "package main\nimport \"time\"\nconst (\nother = 1\npatience = 33 * time.Second\n)\n"),
        ("svc/internal/llm/llm.go", &IMPORTS.replace("package main", "package llm")),
        (
            "svc/internal/llm/client.go",
            &format!(
                "{}func NewModel(limit time.Duration) *br.Client {{\ncfg, _ := config.LoadDefaultConfig(context.TODO(), config.WithHTTPClient(&http.Client{{Timeout: limit}}))\nreturn br.NewFromConfig(cfg)\n}}\n",
                IMPORTS.replace("package main", "package llm")
            ),
        ),
    ]);
    let client = client(&facts);
    assert_eq!(seconds(client), Some(Some(33.0)));
    let literal = client.read_timeout_s.literal().unwrap();
    assert_eq!((&*literal.path, literal.line), ("svc/cmd/constants.go", 5));
    assert_eq!(&*client.place.path, "svc/internal/llm/client.go");
    assert_eq!(facts.calls.len(), 1);
}

#[test]
fn semaphores_limit_parallel_calls() {
    for (made, size) in [
        ("s := semaphore.NewWeighted(5)", Some(5.0)),
        ("g.SetLimit(6)", Some(6.0)),
        ("sem := make(chan struct{}, 7)", Some(7.0)),
        ("jobs := make(chan string, 7)", None),
    ] {
        let facts = call(&format!("{made}\nc.Converse(ctx, &br.ConverseInput{{}})"));
        assert_eq!(facts.parallel_calls.map(|fact| fact.value), size, "{made}");
    }
}

#[test]
fn a_second_layer_of_retries_is_seen() {
    let ask = "c.Converse(ctx, &br.ConverseInput{})";
    for (body, what) in [
        (format!("backoff.Retry(func() error {{ _, err := {ask}; return err }}, b)"), "backoff's `Retry`"),
        (format!("again.Do(func() error {{ _, err := {ask}; return err }})"), "retry-go's `Do`"),
        (
            format!("for i := 0; i < 3; i++ {{ out, err := {ask}\nif err == nil {{ return out }}\ntime.Sleep(1) }}"),
            "a loop that calls the model again",
        ),
        (
            format!("for i := range 3 {{ out, err := {ask}\nif err != nil {{ log(err); continue }}\nreturn out }}"),
            "a loop that calls the model again",
        ),
        (format!("for {{ if out, err := {ask}; err == nil {{ break }} }}"), "a loop that calls the model again"),
    ] {
        let found = call(&body).nested_retries;
        assert_eq!(found.iter().map(|(_, what)| what.as_str()).collect::<Vec<_>>(), [what], "{body}");
        assert_eq!(found[0].0.line, 17, "{body}");
    }
    for body in [
        format!("for _, r := range event.Records {{ out, err := {ask}\nif err == nil {{ return out }} }}"),
        format!("for i := 0; i < len(records); i++ {{ _, err := {ask}\nif err == nil {{ break }} }}"),
        format!("for i := 0; i < 3; i++ {{ _, err := {ask}\nif err != nil {{ return err }} }}"),
        format!(
            "for i := 0; i < n; i++ {{ _, err := {ask}\nif err != nil {{ failed = append(failed, i); continue }}\ndone(i) }}"
        ),
    ] {
        assert_eq!(call(&body).nested_retries, [], "{body}");
    }
}

#[test]
fn a_broken_file_is_read_as_far_as_it_goes() {
    let facts = file("var c = br.New(br.Options{RetryMaxAttempts: 2})\nfunc broken( {\nif }\n");
    assert_eq!(attempts(client(&facts)), Some(vec![2]));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn any_text_is_read_without_a_panic(text in "\\PC{0,200}") {
        let _ = files(&[("a.go", &text)]);
    }

    #[test]
    fn any_pieces_of_code_are_read_without_a_panic(pieces in prop::collection::vec(prop::sample::select(PIECES), 0..40)) {
        let _ = file(&pieces.concat());
    }
}

const PIECES: &[&str] = &[
    "func f(",
    "ctx",
    ") {\n",
    "}\n",
    "{",
    "c := ",
    "c, err := ",
    "br.NewFromConfig(",
    "cfg",
    ", func(o *br.Options) {",
    "o.HTTPClient = ",
    "&http.Client{Timeout: ",
    "5 * time.Second",
    ")",
    ".Converse(ctx, ",
    "context.WithTimeout(ctx, ",
    "for {\n",
    "for i := range 3 {",
    "f(",
    "if err == nil {",
    "return ",
    "config.LoadDefaultConfig(ctx",
    "map[string]any{\"max_tokens\": ",
    "json.Marshal(",
    "`",
    "é",
    "= c\n",
];
