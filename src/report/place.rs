//! Places in texts, as every report of findings needs them.

use std::ops::Range;

use crate::engine::fact::Place;
use crate::engine::finding::Finding;

/// A path as other programs know it: without `./` before it.
pub(super) fn path(path: &str) -> &str {
    let mut path = path;
    while let Some(rest) = path.strip_prefix("./") {
        path = rest.trim_start_matches('/');
    }
    path
}

/// The bytes of a place, if the text has them.
pub(super) fn bytes(place: &Place, text: &str) -> Option<Range<usize>> {
    text.get(place.start..place.end).map(|_| place.start..place.end)
}

/// Line and column behind the last character of a span, counted on from where its place begins.
pub(super) fn end(place: &Place, text: &str, span: Range<usize>) -> Option<(usize, usize)> {
    let piece = text.get(span)?;
    Some(match piece.rsplit_once('\n') {
        Some((before, last)) => (place.line + before.matches('\n').count() + 1, last.chars().count() + 1),
        None => (place.line, place.column + piece.chars().count()),
    })
}

/// Where a place that is shown ends: white space at its end is none of it.
pub(super) fn shown_end(place: &Place, text: &str) -> Option<(usize, usize)> {
    let span = bytes(place, text)?;
    let length = text.get(span.clone())?.trim_end().len();
    end(place, text, span.start..span.start + length)
}

/// The line in which a place begins, without its line break.
pub(super) fn line(place: &Place, text: &str) -> Option<Range<usize>> {
    let (before, after) = text.split_at_checked(place.start)?;
    let start = before.rfind('\n').map_or(0, |at| at + 1);
    let end = place.start + after.find('\n').unwrap_or(after.len());
    let length = text.get(start..end)?.trim_end_matches('\r').len();
    Some(start..start + length)
}

/// What of a span stands in its line: line breaks at the line's end are none of it.
pub(super) fn within(span: Range<usize>, line: &Range<usize>) -> Range<usize> {
    let start = span.start.min(line.end);
    start..span.end.clamp(start, line.end)
}

/// Extensions of source code, whose lines are shown whole.
const CODE: &[&str] =
    &["py", "js", "mjs", "cjs", "jsx", "ts", "mts", "cts", "tsx", "java", "kt", "scala", "go", "rs", "cs", "fs", "vb"];

/// Parts of names that credentials have in source code; of a line that has one only the place itself is shown.
const CREDENTIALS: &[&str] =
    &["secret", "password", "passwd", "accesskey", "apikey", "authtoken", "sessiontoken", "bearer", "credential"];

/// What may be shown around a place: the line in which it begins, or where that holds several settings only this one.
///
/// Plans and previews have a whole resource on one line, with the secrets of its environment.
pub(super) fn piece(place: &Place, text: &str) -> Option<Range<usize>> {
    let line = line(place, text)?;
    let span = within(bytes(place, text)?, &line);
    let end = span.end;
    let code = path(&place.path).rsplit_once('.').is_some_and(|(_, extension)| CODE.contains(&extension));
    let after = separators(text.get(end..line.end).unwrap_or_default());
    if code && names_a_credential(text.get(line.clone())?) {
        return Some(span.start..span.start + beginning(text.get(span.start..end)?));
    }
    if code || (after == 0 && separators(text.get(line.clone())?) <= 1) {
        return Some(line);
    }
    let start = text.get(line.start..span.start)?.rfind(open).map_or(line.start, |at| line.start + at + 1);
    Some(start..span.start + beginning(text.get(span.start..end)?))
}

/// Length of what is shown of a value: of one that holds others only its beginning.
fn beginning(own: &str) -> usize {
    own.char_indices().find(|(_, c)| open(*c)).map_or(own.len(), |(at, c)| at.max(c.len_utf8()))
}

/// Whether other values follow.
fn open(c: char) -> bool {
    matches!(c, '{' | '[' | '(' | ',' | ';')
}

fn names_a_credential(line: &str) -> bool {
    let plain: String = line.chars().filter(|c| !matches!(c, '_' | '-')).flat_map(char::to_lowercase).collect();
    CREDENTIALS.iter().any(|name| plain.contains(name))
}

/// How many names are given a value: `a: 1`, `\"a\":1`, `a = 1`.
fn separators(text: &str) -> usize {
    let bytes = text.as_bytes();
    let at = |i: Option<usize>| i.and_then(|i| bytes.get(i)).copied().unwrap_or(b' ');
    let single = |i: usize, c: u8| match c {
        b':' => at(i.checked_sub(1)) != b':' && at(Some(i + 1)) != b':',
        b'=' => !b"=<>!".contains(&at(i.checked_sub(1))) && !b"=>".contains(&at(Some(i + 1))),
        _ => false,
    };
    bytes.iter().enumerate().filter(|(i, c)| single(*i, **c)).count()
}

/// What is wrong and what to set instead, in one line.
pub(super) fn remark(finding: &Finding) -> String {
    match &finding.suggestion {
        Some(suggestion) => format!("{}; {suggestion}", finding.message.trim_end_matches('.')),
        None => finding.message.clone(),
    }
}

#[cfg(test)]
pub(super) mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::engine::finding::{Edit, Label, Severity};

    pub(in crate::report) const TEMPLATE: &str = "Resources:\n  MailQueue:\n    Type: AWS::SQS::Queue\n    Properties:\n      VisibilityTimeout: 45\n  Sorter:\n    Type: AWS::Lambda::Function\n    Properties:\n      Timeout: 90\n";
    pub(in crate::report) const HANDLER: &str =
        "import boto3\n\n\ndef client():\n    return boto3.client(\"bedrock-runtime\")  # ü\n";

    /// The place of the first `piece` of a text.
    pub(in crate::report) fn at(path: &str, text: &str, piece: &str) -> Place {
        let start = text.find(piece).unwrap();
        let before = &text[..start];
        let line = before.matches('\n').count() + 1;
        let column = before.rsplit('\n').next().unwrap().chars().count() + 1;
        Place { path: Arc::from(path), line, column, start, end: start + piece.len() }
    }

    pub(in crate::report) fn label(path: &str, text: &str, piece: &str, says: &str) -> Label {
        Label { place: at(path, text, piece), text: says.to_owned() }
    }

    /// The texts of the two files above.
    pub(in crate::report) fn texts(path: &str) -> Option<Arc<str>> {
        match path {
            "infra/template.yaml" => Some(Arc::from(TEMPLATE)),
            "src/handler.py" => Some(Arc::from(HANDLER)),
            _ => None,
        }
    }

    pub(in crate::report) fn visibility() -> Finding {
        Finding {
            rule: "visibility-below-function-timeout",
            severity: Severity::Error,
            message: "visibility timeout 45 s is below the function timeout 90 s".to_owned(),
            labels: vec![
                label("infra/template.yaml", TEMPLATE, "45", "hides messages for 45 s"),
                label("infra/template.yaml", TEMPLATE, "Timeout: 90", "may run 90 s"),
            ],
            suggestion: Some("set VisibilityTimeout to 540".to_owned()),
            edit: Some(Edit { place: at("infra/template.yaml", TEMPLATE, "45"), replacement: "540".to_owned() }),
            subject: None,
            queue: Some("MailQueue".to_owned()),
            function: Some("Sorter".to_owned()),
        }
    }

    pub(in crate::report) fn read_timeout() -> Finding {
        Finding {
            rule: "read-timeout-left-at-default",
            severity: Severity::Warning,
            message: "the client waits 60 s, the default of botocore".to_owned(),
            labels: vec![
                label("src/handler.py", HANDLER, "boto3.client(\"bedrock-runtime\")", "no `read_timeout`"),
                label("infra/template.yaml", TEMPLATE, "Timeout: 90", "may run 90 s"),
            ],
            suggestion: Some("pass Config(read_timeout=80)".to_owned()),
            edit: None,
            subject: None,
            queue: Some("MailQueue".to_owned()),
            function: Some("Sorter".to_owned()),
        }
    }

    /// A note on values of which none is in a file.
    pub(in crate::report) fn placeless() -> Finding {
        Finding {
            rule: "visibility-below-six-times",
            severity: Severity::Note,
            message: "visibility timeout 100 s is below six times the function timeout 90 s".to_owned(),
            labels: Vec::new(),
            suggestion: Some("pass --visibility-timeout 540s".to_owned()),
            edit: None,
            subject: None,
            queue: None,
            function: None,
        }
    }

    #[test]
    fn a_path_has_no_dot_before_it() {
        for (given, clean) in [("./a/b.tf", "a/b.tf"), (".//a", "a"), ("a/./b", "a/./b"), (".a", ".a"), ("../a", "../a")] {
            assert_eq!(path(given), clean);
        }
    }

    #[test]
    fn ends_count_lines_and_characters() {
        let text = "a: ü1\nb:\n  c: 2\n\n";
        let place = at("f", text, "ü1");
        assert_eq!(end(&place, text, place.start..place.end), Some((1, 6)));
        let place = at("f", text, "b:\n  c: 2\n\n");
        assert_eq!(end(&place, text, place.start..place.end), Some((5, 1)));
        assert_eq!(shown_end(&place, text), Some((3, 7)));
        assert_eq!(line(&place, text), Some(7..9));
    }

    #[test]
    fn a_place_that_the_text_has_not_is_none() {
        let beyond = Place { path: Arc::from("f"), line: 9, column: 1, start: 90, end: 95 };
        let within = Place { path: Arc::from("f"), line: 1, column: 1, start: 1, end: 2 };
        let backwards = Place { path: Arc::from("f"), line: 1, column: 1, start: 2, end: 0 };
        for place in [beyond, within, backwards] {
            assert_eq!((bytes(&place, "ü"), shown_end(&place, "ü")), (None, None), "{place:?}");
        }
        let beyond = Place { path: Arc::from("f"), line: 9, column: 1, start: 90, end: 95 };
        assert_eq!(line(&beyond, "ü"), None);
        let windows = at("f", "a: 1\r\nb: 2\r\n", "2");
        assert_eq!(line(&windows, "a: 1\r\nb: 2\r\n"), Some(6..10));
    }

    fn shown<'a>(path: &str, text: &'a str, mark: &str) -> &'a str {
        &text[piece(&at(path, text, mark), text).unwrap()]
    }

    #[test]
    fn a_line_with_one_setting_is_shown_whole() {
        for (text, mark) in [
            ("  VisibilityTimeout: 45  # seconds\n", "45"),
            ("  Timeout: !If [IsProd, 1800, 60]\r\n", "60"),
            ("  \"Timeout\": 90,", "\"Timeout\": 90"),
            ("  \"Type\": \"AWS::SQS::Queue\",", "AWS::SQS::Queue"),
            ("  timeout = var.a >= 3", "var.a"),
            ("Sorter:\n  Type: AWS::Lambda::Function\n", "Sorter:\n  Type: AWS::Lambda::Function"),
        ] {
            assert_eq!(shown("t.yaml", text, mark), text.lines().next().unwrap());
        }
        let code = "c = boto3.client(\"bedrock-runtime\", config=Config(read_timeout=60))";
        assert_eq!(shown("a.py", code, "60"), code);
        let secret = "c = boto3.client(\"bedrock-runtime\", secret_key=\"wJalr\", config=Config(read_timeout=60))";
        assert_eq!(shown("a.py", secret, "60"), "60");
        assert_eq!(shown("a.py", secret, &secret[4..]), "boto3.client");
        let secret = "const c = new Client({ apiKey: \"sk-1\", timeout: 60 });";
        assert_eq!(shown("a.ts", secret, "60"), "60");
    }

    #[test]
    fn of_a_line_with_several_settings_only_the_one_meant_is_shown() {
        let plan = r#"{"address": "f.a", "values": {"timeout": 180, "environment": [{"variables": {"TOKEN": "s3cret"}}]}}"#;
        for (path, text, mark, piece) in [
            ("p.json", plan, "180", "\"timeout\": 180"),
            ("p.json", plan, "\"timeout\": 180", "\"timeout\": 180"),
            ("p.json", plan, "\"f.a\"", "\"address\": \"f.a\""),
            ("p.json", plan, plan, "{"),
            ("p.json", plan, r#""environment": [{"variables": {"TOKEN": "s3cret"}}]"#, r#" "environment": "#),
            ("p.json", plan, r#"{"TOKEN": "s3cret"}"#, r#""variables": {"#),
            ("t.tf", "  e { v = { A = \"3\", B = \"s3cret\" } }", "\"3\"", " A = \"3\""),
            ("t.yaml", "90, TOKEN: s3cret", "90", "90"),
            ("t.yaml", "Timeout: 90 # old: 30", "90", "Timeout: 90"),
        ] {
            assert_eq!(shown(path, text, mark), piece, "{mark}");
        }
    }
}
