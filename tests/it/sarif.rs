//! SARIF as the standard's own schema wants it.

use std::path::Path;
use std::sync::Arc;

use forebay::engine::fact::Place;
use forebay::engine::finding::{Edit, Finding, Label, Severity};
use forebay::engine::rules::{RULES, Rule};
use forebay::report::sarif;
use serde_json::Value;

const TEXT: &str = "Queue:\n  VisibilityTimeout: 45\nHandler:\n  Timeout: 90\n";

fn place(path: &str, line: usize, piece: &str) -> Place {
    let start = TEXT.find(piece).unwrap();
    Place { path: Arc::from(path), line, column: 3, start, end: start + piece.len() }
}

fn findings() -> Vec<Finding> {
    let label = |path: &str, line, piece, text: &str| Label { place: place(path, line, piece), text: text.to_owned() };
    let full = Finding {
        rule: "visibility-below-function-timeout",
        severity: Severity::Error,
        message: "visibility timeout 45 s is below the function timeout 90 s of ${self:custom.seconds} {0}".to_owned(),
        labels: vec![
            label("./in fra/a.yaml", 2, "VisibilityTimeout: 45\n", "hides messages for 45 s"),
            label("/srv/b.yaml", 4, "Timeout: 90", ""),
        ],
        suggestion: Some("set 540".to_owned()),
        subject: None,
        edit: Some(Edit { place: place("in fra/a.yaml", 2, "45"), replacement: "540".to_owned() }),
        queue: Some("Queue".to_owned()),
        function: Some("Handler".to_owned()),
    };
    let bare = Finding { labels: Vec::new(), suggestion: None, edit: None, queue: None, function: None, ..full.clone() };
    let severities = [Severity::Warning, Severity::Note];
    let others = severities.map(|severity| Finding { severity, rule: "value-unresolved", ..full.clone() });
    [full, bare].into_iter().chain(others).collect()
}

#[test]
fn sarif_fits_the_schema_of_the_standard() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/sarif-schema-2.1.0.json");
    let schema: Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    let validator = jsonschema::validator_for(&schema).unwrap();
    let rule = Rule {
        id: "visibility-below-function-timeout",
        severity: Severity::Error,
        summary: "V < T",
        why: "messages come back",
        remedy: "raise V",
        stronger: &[],
        needs: forebay::engine::rules::Need::Nothing,
        check: None,
    };
    let known = |_: &str| Some(Arc::from(TEXT));
    for (what, text) in [
        ("nothing", sarif::render(&[], &[], &known)),
        ("the program's rules", sarif::render(&findings(), RULES, &known)),
        ("findings", sarif::render(&findings(), &[rule], &known)),
        ("no texts", sarif::render(&findings(), &[rule], &|_| None)),
    ] {
        let log: Value = serde_json::from_str(&text).unwrap();
        let errors: Vec<String> =
            validator.iter_errors(&log).map(|error| format!("{}: {error}", error.instance_path())).collect();
        assert!(errors.is_empty(), "{what}: {errors:?}\n{text}");
    }
    let wrong = sarif::render(&findings(), &[rule], &known).replace("\"startLine\": 2", "\"startLine\": 0");
    assert!(!validator.is_valid(&serde_json::from_str(&wrong).unwrap()));
}
