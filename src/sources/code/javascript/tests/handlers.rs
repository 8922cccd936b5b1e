use super::*;

#[test]
fn the_plain_client_waits_as_its_version_does() {
    let text = "const c = new BedrockRuntimeClient({ region: 'eu-west-1' });";
    assert_eq!(client(text), "client at 3: 300 s by default; [3] by default, or the environment's");
    let forever = "client at 3: no limit by default; [3] by default, or the environment's";
    assert_eq!(client_of("3.797.0", "4.13.0", text), forever, "HTTP/1.1");
    assert_eq!(client_of("3.900.0", "4.11.0", text), forever, "HTTP/2 without a limit of its own");
    assert_eq!(client_of("^3.700.0", "*", text), "client at 3: 300 s by default; [3] by default, or the environment's");
    let unknown = show(&facts(&[("main.ts", &format!("{IMPORTS}{text}"))]));
    assert_eq!(unknown, "client at 3: 300 s by default; [3] by default, or the environment's");
}

#[test]
fn options_of_the_http_2_handler() {
    for (handler, expected) in [
        ("{ requestTimeout: 41_000 }", "41 s at 3; [2] at 3"),
        ("{ sessionTimeout: 42e3 }", "42 s at 3; [2] at 3"),
        ("{ requestTimeout: 90000, sessionTimeout: 43 * 1000 }", "43 s at 3; [2] at 3"),
        ("{ socketTimeout: 44000 }", "no limit by default; [2] at 3\n  ignored socketTimeout at 3"),
        ("{ timeout: 44000 }", "no limit by default; [2] at 3\n  ignored timeout at 3"),
        ("{ requestTimeout: 45000, socketTimeout: 44000 }", "45 s at 3; [2] at 3"),
        ("{ connectionTimeout: 1000 }", "no limit by default; [2] at 3"),
        ("{ requestTimeout: 0 }", "no limit at 3; [2] at 3"),
        ("{ disableConcurrentStreams: true }", "300 s by default; [2] at 3"),
        ("{ disableConcurrentStreams: true, requestTimeout: 400_000 }", "300 s by default; [2] at 3"),
        ("{ requestTimeout: 400_000 }", "400 s at 3; [2] at 3"),
        ("new NodeHttp2Handler({ requestTimeout: 46000 })", "46 s at 3; [2] at 3"),
        ("NodeHttp2Handler.create({ requestTimeout: 47000 })", "47 s at 3; [2] at 3"),
        ("undefined", "300 s by default; [2] at 3"),
    ] {
        let text = format!("export const c = new BedrockRuntimeClient({{ maxAttempts: 2, requestHandler: {handler} }});");
        assert_eq!(client(&text), format!("client at 3: {expected}"), "{handler}");
    }
}

#[test]
fn options_of_the_http_1_handler() {
    let made = |options: &str| {
        format!("const c = new BedrockRuntimeClient({{ maxAttempts: 2, requestHandler: new NodeHttpHandler({options}) }});")
    };
    for (options, expected) in [
        ("", "no limit by default; [2] at 3"),
        ("{ requestTimeout: 21000 }", "no limit by default; [2] at 3\n  ignored requestTimeout at 3"),
        ("{ requestTimeout: 22000, throwOnRequestTimeout: true }", "22 s at 3; [2] at 3"),
        (
            "{ requestTimeout: 22000, throwOnRequestTimeout: false }",
            "no limit by default; [2] at 3\n  ignored requestTimeout at 3",
        ),
        ("{ requestTimeout: 22000, socketTimeout: 23000 }", "23 s at 3; [2] at 3"),
        ("{ requestTimeout: 24000, socketTimeout: 25000, throwOnRequestTimeout: true }", "24 s at 3; [2] at 3"),
        ("{ requestTimeout: 0 }", "no limit at 3; [2] at 3"),
        ("{ connectionTimeout: 3000 }", "no limit by default; [2] at 3"),
        ("{ socketTimeout: 0 }", "no limit at 3; [2] at 3"),
    ] {
        assert_eq!(client(&made(options)), format!("client at 3: {expected}"), "{options}");
    }
    let before = |options: &str| client_of("3.1150.0", "4.3.0", &made(options));
    assert_eq!(before("{ requestTimeout: 21000 }"), "client at 3: 21 s at 3; [2] at 3");
    assert_eq!(before("{ socketTimeout: 26000 }"), "client at 3: 26 s at 3; [2] at 3");
    let plain = "const c = new BedrockRuntimeClient({ maxAttempts: 2, requestHandler: { requestTimeout: 27000 } });";
    assert_eq!(client_of("3.700.0", "^3.0.0", plain), "client at 3: 27 s at 3; [2] at 3");
    let old = made("{ socketTimeout: 28000 }").replace("NodeHttpHandler", "Old");
    let old = format!("import {{ NodeHttpHandler as Old }} from '@aws-sdk/node-http-handler';\n{old}");
    assert_eq!(client(&old), "client at 4: 28 s at 4; [2] at 4");
}

#[test]
fn options_that_the_client_does_not_have() {
    let ignored =
        |options: &str| client(&format!("const c = new BedrockRuntimeClient({{\n  maxAttempts: 1,\n  {options}\n}});"));
    let with = |option: &str| format!("client at 3: 300 s by default; [1] at 4\n  ignored {option} at 5");
    assert_eq!(ignored("requestTimeout: 20_000"), with("requestTimeout"));
    assert_eq!(ignored("socketTimeout: LATER"), with("socketTimeout"));
    assert_eq!(ignored("httpOptions: { timeout: 9000 }"), with("timeout"));
    assert_eq!(ignored("requestTimeout: undefined"), "client at 3: 300 s by default; [1] at 4");
    let both = ignored("requestTimeout: 20_000, requestHandler: { requestTimeout: 20_000 }");
    assert_eq!(both, "client at 3: 20 s at 5; [1] at 4");
    let facts = facts(&[("main.ts", &format!("{IMPORTS}new BedrockRuntimeClient({{ requestTimeout: 5 }});")), NEW]);
    assert!(facts.clients[0].ignored[0].why.contains("`requestHandler: { requestTimeout: ... }`"));
}

#[test]
fn pools_and_keepalive_are_those_of_the_agent() {
    let agent = |options: &str| {
        let text =
            format!("{IMPORTS}import https from 'node:https';\nnew BedrockRuntimeClient({{ requestHandler: {options} }});");
        let facts = facts(&[("main.ts", &text), NEW]);
        (setting(&facts.clients[0].pool, f64::to_string), facts.clients[0].tcp_keepalive)
    };
    assert_eq!(agent("{}"), ("unset".to_owned(), false));
    assert_eq!(agent("new NodeHttpHandler()"), ("50 by default".to_owned(), true));
    assert_eq!(agent("new NodeHttpHandler({ httpsAgent: { maxSockets: 8 } })"), ("8 at 4".to_owned(), true));
    assert_eq!(agent("new NodeHttpHandler({ httpsAgent: new https.Agent({ maxSockets: 9 }) })"), ("9 at 4".to_owned(), false));
    let keeps = agent("new NodeHttpHandler({ httpsAgent: new https.Agent({ keepAlive: true }) })");
    assert_eq!(keeps, ("unset".to_owned(), true));
}

#[test]
fn retry_strategies_count_attempts() {
    let text = "import { ConfiguredRetryStrategy } from '@smithy/util-retry';\nconst c = new BedrockRuntimeClient({ maxAttempts: 9, retryStrategy: new ConfiguredRetryStrategy(4, 100) });";
    assert_eq!(client(text), "client at 4: 300 s by default; [4] at 4");
    let call = client("const c = new BedrockRuntimeClient({ maxAttempts: async () => 6 });");
    assert_eq!(call, "client at 3: 300 s by default; [6] at 3");
}

#[test]
fn what_every_send_passes_bounds_the_client() {
    let sends = |options: &[&str], client_options: &str| {
        let sends: String = options.iter().map(|options| format!("c.send(new ConverseCommand(x){options});\n")).collect();
        let shown = client(&format!("const c = new BedrockRuntimeClient({client_options});\n{sends}"));
        shown.lines().next().unwrap().to_owned()
    };
    let signal = ", { abortSignal: AbortSignal.timeout(20_000) }";
    let whole = "client at 3: 20 s at 4; [3]";
    assert_eq!(sends(&[signal], "{}"), format!("{whole} by default, or the environment's"));
    let longer = ", { abortSignal: AbortSignal.timeout(10_000) }";
    assert_eq!(sends(&[signal, longer], "{ maxAttempts: 3 }"), format!("{whole} at 3"));
    assert_eq!(sends(&[signal, ""], "{ maxAttempts: 3 }"), "client at 3: 300 s by default; [3] at 3");
    let short = "{ maxAttempts: 5, requestHandler: { requestTimeout: 9000 } }";
    assert_eq!(sends(&[signal], short), "client at 3: 9 s at 3; [5] at 3");
    let shorter = "{ maxAttempts: 2, requestHandler: { requestTimeout: 9000 } }";
    assert_eq!(sends(&[signal], shorter), "client at 3: 9 s at 3; [2] at 3");
    assert_eq!(sends(&[", { requestTimeout: 8000 }"], shorter), "client at 3: 8 s at 4; [2] at 3");
    let controller = "const c = new BedrockRuntimeClient({ maxAttempts: 3 });\nconst stop = new AbortController();\nsetTimeout(() => stop.abort(), 15_000);\nc.send(new ConverseCommand(x), { abortSignal: stop.signal });";
    assert!(client(controller).starts_with("client at 3: 15 s at 5, set at 6; [3] "), "{}", client(controller));
}

#[test]
fn the_anthropic_sdk_waits_ten_minutes() {
    let import = "import AnthropicBedrock from '@anthropic-ai/bedrock-sdk';\n";
    let plain = main_ts(&format!(
        "{import}const a = new AnthropicBedrock();\nawait a.messages.create({{ model: 'm', max_tokens: 30 }});"
    ));
    assert_eq!(plain, "client at 2: 600 s by default; [3] by default\ncall at 3: 30 at 3; m at 3");
    let set = main_ts(&format!("{import}const a = new AnthropicBedrock({{ timeout: 50_000, maxRetries: 0 }});"));
    assert_eq!(set, "client at 2: 50 s at 2; [1] at 2");
    let each = main_ts(&format!(
        "{import}const a = new AnthropicBedrock();\na.messages.stream({{ model: 'm' }}, {{ timeout: 9000 }});"
    ));
    assert_eq!(each, "client at 2: 9 s at 3; [3] by default\ncall at 3: unset; m at 3");
}

#[test]
fn wrappers_pass_options_to_the_client() {
    let chain = main_ts(
        "import { ChatBedrockConverse } from '@langchain/aws';\nconst m = new ChatBedrockConverse({\n  model: 'm', maxTokens: 20, maxRetries: 9,\n  clientOptions: { maxAttempts: 2, requestHandler: { requestTimeout: 44_000 } },\n});",
    );
    assert_eq!(chain, "client at 2: 44 s at 4; [2] at 4\ncall at 2: 20 at 3; m at 3");
    let again = main_ts(
        "import { ChatBedrockConverse } from '@langchain/aws';\nconst m = new ChatBedrockConverse('m', {}).withRetry({ stopAfterAttempt: 3 });",
    );
    assert!(again.ends_with("\ncall at 2: unset; m at 2\nLangChain's `withRetry` at 2"), "{again}");
    let timeout = main_ts(
        "import { ChatBedrockConverse } from '@langchain/aws';\nconst m = new ChatBedrockConverse({ timeout: 10_000 });",
    );
    assert!(timeout.contains("\n  ignored timeout at 2\n"), "{timeout}");
    let strands = "import { BedrockModel } from '@strands-agents/sdk';\nconst m = new BedrockModel({ modelId: 'm' });";
    let rest = "; [3] by default, or the environment's\ncall at 2: unset; m at 2";
    assert_eq!(main_ts(strands), format!("client at 2: 120 s by default{rest}"));
    let package =
        ("package.json", r#"{"dependencies": {"@strands-agents/sdk": "1.0.0", "@smithy/node-http-handler": "4.11.0"}}"#);
    let old = show(&facts(&[("main.ts", strands), package]));
    assert_eq!(old, format!("client at 2: 300 s by default{rest}"));
}

#[test]
fn the_ai_sdk_has_no_limit_of_its_own() {
    let text = |options: &str| {
        format!(
            "import {{ generateText }} from 'ai';\nimport {{ createAmazonBedrock }} from '@ai-sdk/amazon-bedrock';\nconst bedrock = createAmazonBedrock({{}});\nconst r = await generateText({{ model: bedrock('m'), maxOutputTokens: 60{options} }});"
        )
    };
    assert_eq!(main_ts(&text("")), "client at 4: no limit by default; [3] by default\ncall at 4: 60 at 4; m at 4");
    let bound = main_ts(&text(", maxRetries: 1, abortSignal: AbortSignal.timeout(9000)"));
    assert!(bound.starts_with("client at 4: 9 s at 4; [2] at 4\n"), "{bound}");
    assert!(main_ts(&text(", maxRetries: 1")).starts_with("client at 4: no limit by default; [2] at 4\n"));
}

#[test]
fn version_2_has_two_minutes_and_four_attempts() {
    let plain = main_ts("import AWS from 'aws-sdk';\nconst c = new AWS.BedrockRuntime();");
    assert_eq!(plain, "client at 2: 120 s by default; [4] by default");
    let set = main_ts(
        "const B = require('aws-sdk/clients/bedrockruntime');\nconst c = new B({ maxRetries: 1, httpOptions: { timeout: 7000 } });\nc.invokeModel({ modelId: 'm', body: JSON.stringify({ max_tokens: 3 }) }).promise();",
    );
    assert_eq!(set, "client at 2: 7 s at 2; [2] at 2\ncall at 3: 3 at 3; m at 3");
}
