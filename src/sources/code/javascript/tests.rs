use std::fmt::Write;
use std::sync::Arc;

use proptest::prelude::*;

use super::*;
use crate::engine::deployment::{Setting, State};
use crate::engine::fact::{Place, Source};
use crate::sources::code::testing::read_first;

mod calls;
mod handlers;

const NEW: (&str, &str) = (
    "package.json",
    r#"{"dependencies": {"@aws-sdk/client-bedrock-runtime": "3.1150.0", "@smithy/node-http-handler": "4.13.0"}}"#,
);
const IMPORTS: &str = "import { BedrockRuntimeClient, ConverseCommand } from '@aws-sdk/client-bedrock-runtime';\nimport { NodeHttpHandler, NodeHttp2Handler } from '@smithy/node-http-handler';\n";

fn facts(files: &[(&str, &str)]) -> SourceFacts {
    read_first(files, read)
}

fn at(place: &Place) -> String {
    let name = place.path.rsplit('/').next().unwrap();
    if name.starts_with("main.") { place.line.to_string() } else { format!("{name}:{}", place.line) }
}

fn setting<T>(setting: &Setting<T>, value: impl Fn(&T) -> String) -> String {
    match &setting.state {
        State::Unset => "unset".to_owned(),
        State::Unresolved(unresolved) => format!("? ({})", unresolved.why),
        State::Known(fact) => match &fact.source {
            Source::Written(place) => {
                let own = setting.place.as_ref().unwrap();
                let own = if at(own) == at(place) { String::new() } else { format!(", set at {}", at(own)) };
                format!("{} at {}{own}", value(&fact.value), at(place))
            }
            Source::Default(_) => format!("{} by default", value(&fact.value)),
            other => format!("{} ({other})", value(&fact.value)),
        },
    }
}

fn show(facts: &SourceFacts) -> String {
    let mut text = String::new();
    let seconds = |limit: &Option<f64>| limit.map_or("no limit".to_owned(), |limit| format!("{limit} s"));
    let count = |counts: &Vec<u32>| format!("{counts:?}");
    for client in &facts.clients {
        let environment = if client.attempts_from_environment { ", or the environment's" } else { "" };
        let (read, attempts) = (setting(&client.read_timeout_s, seconds), setting(&client.attempts, count));
        writeln!(text, "client at {}: {read}; {attempts}{environment}", at(&client.place)).unwrap();
        for option in &client.ignored {
            writeln!(text, "  ignored {} at {}", option.option, at(&option.place)).unwrap();
        }
    }
    for call in &facts.calls {
        let model = setting(&call.model, String::clone);
        let limit = setting(&call.max_tokens, f64::to_string);
        writeln!(text, "call at {}: {limit}; {model}", at(&call.place)).unwrap();
    }
    if let Some(parallel) = &facts.parallel_calls {
        writeln!(text, "{} at a time", parallel.value).unwrap();
    }
    for (place, what) in &facts.nested_retries {
        writeln!(text, "{what} at {}", at(place)).unwrap();
    }
    text.trim_end().to_owned()
}

/// What one file with the current SDK shows.
fn main_ts(text: &str) -> String {
    show(&facts(&[("main.ts", text), NEW]))
}

/// The first line for a client that is made on the third line, of two lines of imports.
fn client(text: &str) -> String {
    main_ts(&format!("{IMPORTS}{text}"))
}

/// The same with other versions.
fn client_of(sdk: &str, handler: &str, text: &str) -> String {
    let package = format!(
        r#"{{"dependencies": {{"@aws-sdk/client-bedrock-runtime": "{sdk}", "@smithy/node-http-handler": "{handler}"}}}}"#
    );
    show(&facts(&[("main.ts", &format!("{IMPORTS}{text}")), ("package.json", &package)]))
}

#[test]
fn values_are_followed_to_their_literals() {
    let files = [
        (
            "src/main.ts",
            "import { BedrockRuntimeClient as Runtime } from '@aws-sdk/client-bedrock-runtime';\nimport settings, { TRIES } from './settings.js';\nimport * as shared from '../shared';\nconst base = { region: 'x', maxAttempts: 9 };\nconst c = new Runtime({\n  ...base,\n  maxAttempts: TRIES,\n  requestHandler: { requestTimeout: settings.wait.read, sessionTimeout: shared.Limits.Session },\n});\n",
        ),
        (
            "src/settings.ts",
            "const SECOND = 1_000;\nexport const TRIES = 2;\nexport default {\n  wait: {\n    read: 52 * SECOND,\n  },\n} as const;\n",
        ),
        ("shared/index.ts", "export * from './limits';\n"),
        ("shared/limits.ts", "export enum Limits {\n  Session = 60_000,\n}\n"),
        NEW,
    ];
    assert_eq!(show(&facts(&files)), "client at 5: 52 s at settings.ts:5, set at 8; [2] at settings.ts:2, set at 7");
}

#[test]
fn seconds_that_are_multiplied_are_written_where_the_seconds_are() {
    let text = "const READ_S = 33;\nconst c = new BedrockRuntimeClient({ maxAttempts: 1, requestHandler: { requestTimeout: READ_S * 1000 } });";
    assert_eq!(client(text), "client at 4: 33 s at 3, set at 4; [1] at 4");
}

#[test]
fn common_js_and_namespaces() {
    let files = [
        (
            "main.js",
            "const bedrock = require('@aws-sdk/client-bedrock-runtime');\nconst { ConverseCommand: Ask } = bedrock;\nconst { fast, limits: { tokens } } = require('./clients');\nexports.handler = async () => fast.send(new Ask({ modelId: 'm', inferenceConfig: { maxTokens: tokens } }));\n",
        ),
        (
            "clients.js",
            "const { BedrockRuntimeClient } = require('@aws-sdk/client-bedrock-runtime');\nconst fast = new BedrockRuntimeClient({ maxAttempts: 1 });\nconst slow = new BedrockRuntimeClient({ maxAttempts: 7 });\nmodule.exports = {\n  fast, slow,\n  limits: { tokens: 70 },\n};\n",
        ),
        NEW,
    ];
    assert_eq!(
        show(&facts(&files)),
        "client at clients.js:2: 300 s by default; [1] at clients.js:2\ncall at 4: 70 at clients.js:6, set at 4; m at 4"
    );
}

#[test]
fn of_imported_files_only_what_is_used_counts() {
    let clients = "import { BedrockRuntimeClient } from '@aws-sdk/client-bedrock-runtime';\nconst make = (ms: number) => new BedrockRuntimeClient({ maxAttempts: 1, requestHandler: { requestTimeout: ms } });\nexport const fast = make(5_000);\nexport const slow = make(61_000);\nexport function lazy() {\n  return new BedrockRuntimeClient({ maxAttempts: 4 });\n}\n";
    let used = |text: &str| show(&facts(&[("main.ts", text), ("clients.ts", clients), NEW]));
    let slow = "client at clients.ts:2: 61 s at clients.ts:4, set at clients.ts:2; [1] at clients.ts:2";
    let fast = "client at clients.ts:2: 5 s at clients.ts:3, set at clients.ts:2; [1] at clients.ts:2";
    assert_eq!(used("import { slow } from './clients';\nslow.send();"), slow);
    assert_eq!(used("import * as all from './clients';\nall.slow.send();"), slow);
    assert_eq!(used("import { fast, slow } from './clients';\nfast.send(); slow.send();"), format!("{fast}\n{slow}"));
    let lazy = "client at clients.ts:6: 300 s by default; [4] at clients.ts:6";
    assert_eq!(used("export const h = async () => (await import('./clients')).lazy().send();"), lazy);
    assert_eq!(used("import type { slow } from './clients';"), "");
}

#[test]
fn classes_keep_clients_and_settings() {
    let text = format!(
        "{IMPORTS}class Gateway {{\n  private static readonly TOKENS = 90;\n  private readonly client: BedrockRuntimeClient;\n  constructor(private readonly waitMs: number, attempts = 2) {{\n    this.client = new BedrockRuntimeClient({{\n      maxAttempts: attempts,\n      requestHandler: {{ requestTimeout: this.waitMs }},\n    }});\n  }}\n  ask(text: string) {{\n    return this.client.send(new ConverseCommand({{ modelId: process.env.MODEL_ID, inferenceConfig: {{ maxTokens: Gateway.TOKENS }} }}), {{ abortSignal: AbortSignal.timeout(31_000) }});\n  }}\n}}\nconst gateway = new Gateway(\n  34_000,\n);\nexport const handler = () => gateway.ask('x');\n"
    );
    assert_eq!(
        main_ts(&text),
        "client at 7: 31 s at 13; [2] at 6, set at 8\ncall at 13: 90 at 4, set at 13; ? (the environment variable `MODEL_ID` is read when the code runs)"
    );
    let without = text.replace(", { abortSignal: AbortSignal.timeout(31_000) }", "");
    assert!(main_ts(&without).starts_with("client at 7: 34 s at 17, set at 9; [2] at 6, set at 8\n"), "{}", main_ts(&without));
}

#[test]
fn what_does_not_show_is_unresolved() {
    for (options, expected) in [
        (
            "{ maxAttempts: Number(process.env.TRIES ?? '2') }",
            "300 s by default; ? (the environment variable `TRIES` is read when the code runs)",
        ),
        ("{ maxAttempts: '2' }", "300 s by default; ? (expected a number)"),
        ("{ ...common, maxAttempts: 2 }", "? (it comes from the package `@acme/common`, which is not read); [2] at 4"),
        (
            "{ maxAttempts: 2, requestHandler: pick() }",
            "? (it comes from the package `@acme/common`, which is not read); [2] at 4",
        ),
        (
            "{ maxAttempts: 2, requestHandler: new NodeHttpHandler({ requestTimeout: 5, throwOnRequestTimeout: pick() }) }",
            "? (it comes from the package `@acme/common`, which is not read); [2] at 4",
        ),
        (
            "{ maxAttempts: 2, requestHandler: { requestTimeout: flag ? 1000 : 2000 } }",
            "? (it depends on a condition); [2] at 4",
        ),
        (
            "{ maxAttempts: 2, ...(flag && { requestHandler: { requestTimeout: 1000 } }) }",
            "? (it depends on a condition); [2] at 4",
        ),
        ("{ maxAttempts: 2, ...(flag && { region: 'x' }) }", "300 s by default; [2] at 4"),
    ] {
        let text =
            format!("import {{ common, pick, flag }} from '@acme/common';\nconst c = new BedrockRuntimeClient({options});");
        assert_eq!(client(&text), format!("client at 4: {expected}"), "{options}");
    }
    let argument = client(
        "export const make = (ms) => new BedrockRuntimeClient({ maxAttempts: 1, requestHandler: { requestTimeout: ms } });",
    );
    assert_eq!(argument, "client at 3: ? (`ms` is an argument, and no call shows its value); [1] at 3");
}

#[test]
fn variables_that_change_have_no_value_and_late_ones_have_theirs() {
    let late = client(
        "let c;\nlet tries = 5;\nfunction get() {\n  c ??= new BedrockRuntimeClient({ maxAttempts: tries });\n  return c;\n}\nif (x) tries = 6;\nget().send(new ConverseCommand({}), { requestTimeout: 7_000 });",
    );
    assert_eq!(late, "client at 6: 7 s at 10; ? (`tries` is assigned more than once)\ncall at 10: unset; unset");
    let options = client(
        "const options = { maxAttempts: 1 };\noptions.requestHandler = { requestTimeout: 8000 };\nconst c = new BedrockRuntimeClient(options);",
    );
    assert_eq!(options, "client at 5: 8 s at 4; [1] at 3");
    let maybe = client(
        "const options = { maxAttempts: 1 };\nif (x) options.requestHandler = { requestTimeout: 8000 };\nconst c = new BedrockRuntimeClient(options);",
    );
    assert_eq!(maybe, "client at 5: ? (`options.requestHandler` is assigned under a condition); [1] at 3");
}

#[test]
fn a_mistake_further_down_does_not_hide_what_is_above() {
    let text = "const c = new BedrockRuntimeClient({ maxAttempts: 1 });\nexport const handler = () => c.send(new ConverseCommand({ inferenceConfig: { maxTokens: 8 } }));\nfunction ( {{{ ===";
    assert_eq!(client(text), "client at 3: 300 s by default; [1] at 3\ncall at 4: 8 at 4; unset");
}

#[test]
fn loops_of_references_end() {
    let files = [
        (
            "main.ts",
            "import { BedrockRuntimeClient } from '@aws-sdk/client-bedrock-runtime';\nimport { a } from './b';\nexport const b = a;\nconst f = (n) => f(n);\nnew BedrockRuntimeClient({ maxAttempts: a, requestHandler: f(1) });",
        ),
        ("b.ts", "import { b } from './main';\nexport const a = b;\nexport * from './b';\nexport * from './main';"),
    ];
    let facts = facts(&files);
    assert!(facts.clients[0].attempts.why_unresolved().is_some() && facts.clients[0].read_timeout_s.why_unresolved().is_some());
}

#[test]
fn deep_nesting_is_read_or_left() {
    for (open, close) in [("(", ")"), ("[", "]"), ("{a:", "}"), ("f(", ")"), ("x ? ", " : 1"), ("!", ""), ("1 + ", "")] {
        let text =
            format!("{IMPORTS}new BedrockRuntimeClient({{ maxAttempts: {}1{} }});", open.repeat(3000), close.repeat(3000));
        facts(&[("main.ts", &text)]);
    }
}

#[test]
fn work_is_bounded() {
    let many = "try { f(x => x.y) } catch (e) { f(); }\nfor (let attempt = 0; attempt < 3; attempt++) { try { f(1) } catch (e) {} }\nfunction f(a) { return a(f(a)); }\n";
    let text = format!("{IMPORTS}const c = new BedrockRuntimeClient({{ maxAttempts: 1 }});\n{}", many.repeat(300));
    let shown = facts(&[("main.ts", &text), NEW]);
    assert_eq!(shown.clients.len(), 1);
    assert!(shown.nested_retries.is_empty());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn any_text_is_read(text in "\\PC{0,80}(\n\\PC{0,80}){0,6}") {
        for name in ["main.ts", "main.js", "main.tsx"] {
            facts(&[(name, &text), ("package.json", &text), ("yarn.lock", &text), ("tsconfig.json", &text)]);
        }
    }

    #[test]
    fn any_piece_of_code_is_read(parts in prop::collection::vec(prop::sample::select(vec![
        "import { BedrockRuntimeClient as C, ConverseCommand } from '@aws-sdk/client-bedrock-runtime';\n", "new C(", "{ ...a, maxAttempts: ", "const a = ",
        "export default ", "export * from './main';\n", "function f(a, { b = a } = {}) {\n return ", "a", "f(a)", "}", ")", ";\n", "=>", "class K extends K { x = this.x; }\n",
        "requestHandler: ", "module.exports = ", "require('./main')", "...", "a.send(new ConverseCommand(a), { abortSignal: a })", "for (let i = 0; i < 3; i++) { try { ", "} catch (e) {", ", ", "? ", ": ",
        "import a from './main';\n", "a.a = a", "`${a}`", "a ??= a", "ü",
    ]), 0..24)) {
        let text = parts.concat();
        for name in ["main.ts", "main.js"] {
            facts(&[(name, &text)]);
        }
    }
}

#[test]
fn compiled_code_and_an_entry_without_its_extension() {
    let text = "\"use strict\";\nObject.defineProperty(exports, \"__esModule\", { value: true });\nexports.handler = exports.tokens = void 0;\nconst sdk_1 = require(\"@aws-sdk/client-bedrock-runtime\");\nconst c = new sdk_1.BedrockRuntimeClient({ maxAttempts: (0, two_1.two)() });\n";
    let two = "exports.two = void 0;\nconst two = () => 2;\nexports.two = two;\n";
    let main = format!("const two_1 = require('./two');\n{text}");
    let load = |path: &str| match path {
        "out/main.js" => Some(Arc::from(main.as_str())),
        "out/two.js" => Some(Arc::from(two)),
        _ => None,
    };
    assert_eq!(show(&read("out/main", &load)), "client at 6: 300 s by default; [2] at two.js:2, set at 6");
}
