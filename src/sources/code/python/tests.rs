use std::fmt::Write as _;

use proptest::prelude::*;

use super::read;
use crate::engine::deployment::{Setting, SourceFacts, State};
use crate::engine::fact::Place;
use crate::sources::code::testing::read_first;

mod clients;
mod followed;
mod layers;
mod requests;
mod wrappers;

/// Reads the first of some files, with the others beside it.
fn facts(files: &[(&str, &str)]) -> SourceFacts {
    read_first(files, read)
}

fn at(place: &Place) -> String {
    format!("{}:{}", place.path.trim_end_matches(".py"), place.line)
}

/// A setting as `value@literal<setting`, `value (default)`, `-` or `? why`.
fn shown<T>(setting: &Setting<T>, show: impl Fn(&T) -> String) -> String {
    match &setting.state {
        State::Known(fact) => match setting.literal() {
            Some(literal) => {
                let own = setting.place.as_ref().map(at).unwrap_or_default();
                let literal = at(literal);
                let own = if own == literal { String::new() } else { format!("<{own}") };
                format!("{}@{literal}{own}", show(&fact.value))
            }
            None => format!("{} ({})", show(&fact.value), fact.source),
        },
        State::Unset => "-".to_owned(),
        State::Unresolved(unresolved) => format!("? {}", unresolved.why),
    }
    .replace("default: default of", "default of")
}

fn seconds(value: Option<f64>) -> String {
    value.map_or_else(|| "for ever".to_owned(), |value| value.to_string())
}

/// Clients, one a line: place, SDK, read timeout, attempts.
fn clients(files: &[(&str, &str)]) -> String {
    let mut text = String::new();
    for client in facts(files).clients {
        let read = shown(&client.read_timeout_s, |value| seconds(*value));
        let attempts = shown(&client.attempts, |value| format!("{value:?}"));
        let environment = if client.attempts_from_environment { " or environment" } else { "" };
        writeln!(text, "{} {} {read}; {attempts}{environment}", at(&client.place), client.sdk).unwrap();
    }
    text
}

/// Calls, one a line: place, output limit, model.
fn calls(files: &[(&str, &str)]) -> String {
    let mut text = String::new();
    for call in facts(files).calls {
        let limit = shown(&call.max_tokens, f64::to_string);
        writeln!(text, "{} {limit}; {}", at(&call.place), shown(&call.model, String::clone)).unwrap();
    }
    text
}

/// The parallel calls and the retry layers.
fn layers(files: &[(&str, &str)]) -> String {
    let facts = facts(files);
    let mut text = String::new();
    if let Some(parallel) = facts.parallel_calls {
        writeln!(text, "{} at a time, {}", parallel.value, parallel.source.place().1.unwrap_or_default()).unwrap();
    }
    for (place, layer) in facts.nested_retries {
        writeln!(text, "{} {layer}", at(&place)).unwrap();
    }
    text
}

const PIECES: [&str; 40] = [
    "boto3",
    ".client(",
    "\"bedrock-runtime\"",
    ", config=",
    "Config(",
    "read_timeout=",
    "retries=",
    "{\"max_attempts\": 1}",
    ")",
    ")",
    "\n",
    "\n    ",
    "\n        ",
    "def f(x, *a, **k):",
    "return ",
    "f",
    "x",
    " = ",
    "class C(D):",
    "self.",
    "import ",
    "from a import ",
    "for x in range(3):",
    "try:",
    "except E:",
    "while x:",
    "with ",
    " as x:",
    "lambda x: ",
    "f(**k)",
    "@f",
    ".converse(",
    "modelId=",
    "json.dumps(",
    "if x is None:",
    "**",
    "[",
    "é",
    "'",
    "\"\"\"",
];

proptest! {
    #[test]
    fn any_text_is_read(text in "\\PC{0,300}") {
        facts(&[("a.py", &text)]);
    }

    #[test]
    fn any_pieces_of_python_are_read(pieces in prop::collection::vec(prop::sample::select(&PIECES[..]), 0..60)) {
        let text = format!("import boto3, json\nfrom botocore.config import Config\nfrom a import *\n{}", pieces.concat());
        facts(&[("a.py", &text)]);
    }
}

#[test]
fn deep_nesting_and_endless_references_end() {
    let deep = format!("import boto3\nx = {}1{}\n", "(".repeat(50_000), ")".repeat(50_000));
    facts(&[("a.py", &deep)]);
    facts(&[("a.py", &"[".repeat(100_000))]);
    facts(&[("a.py", &format!("x = {}1", "1 + ".repeat(50_000)))]);
    facts(&[("a.py", &format!("a{}", ".b()".repeat(20_000)))]);
    let mut doubling = "import boto3\nx0 = {'a': 1}\n".to_owned();
    for n in 1..200 {
        writeln!(doubling, "x{n} = x{} or x{}", n - 1, n - 1).unwrap();
        writeln!(doubling, "def f{n}(a, b): return f{}(a, f{}(b, a))", n - 1, n - 1).unwrap();
    }
    doubling.push_str(&"boto3.client('bedrock-runtime', config=f199(x199, f198(x199, x198)))\n".repeat(50));
    assert_eq!(facts(&[("a.py", &doubling)]).clients.len(), 50);
    let mutual = "from b import x\nimport boto3\ny = x\nboto3.client('bedrock-runtime', config=y)\n";
    assert_eq!(facts(&[("a.py", mutual), ("b.py", "from a import y\nx = y\n")]).clients.len(), 1);
}

#[test]
fn what_is_no_python_says_nothing() {
    assert!(facts(&[("a.py", "")]).is_empty());
    assert!(read("gone.py", &|_| None).is_empty());
}
