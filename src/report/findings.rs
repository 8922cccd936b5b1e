//! Findings for people: excerpts for a terminal, a table in Markdown.

use std::fmt::Write as _;
use std::ops::Range;
use std::sync::Arc;

use annotate_snippets::{
    Annotation, AnnotationKind, Element, Group, Level, Message, Origin, Renderer, Snippet, normalize_untrusted_str,
};

use super::terminal::{NARROWEST, WIDEST, wrap};
use super::{markdown, place};
use crate::engine::fact::Place;
use crate::engine::finding::{Finding, Label, Severity};

/// A line of more bytes is generated, and shown by its place alone.
const LONGEST_LINE: usize = 400;

/// Each finding with an excerpt of every file that it names, in the order given.
pub fn terminal(findings: &[Finding], texts: &dyn Fn(&str) -> Option<Arc<str>>, width: usize, colour: bool) -> String {
    let width = width.clamp(NARROWEST, WIDEST);
    let renderer = if colour { Renderer::styled() } else { Renderer::plain() }.term_width(width);
    let mut out = String::new();
    for finding in findings {
        if !out.is_empty() {
            out.push('\n');
        }
        for line in renderer.render(&[group(finding, texts, width)]).lines() {
            let _ = writeln!(out, "{}", line.trim_end());
        }
    }
    out
}

fn group<'a>(finding: &'a Finding, texts: &dyn Fn(&str) -> Option<Arc<str>>, width: usize) -> Group<'a> {
    let level = match finding.severity {
        Severity::Error => Level::ERROR,
        Severity::Warning => Level::WARNING,
        Severity::Note => Level::NOTE,
    };
    let mut group = Group::with_title(level.primary_title(&finding.message).id(finding.rule));
    let (excerpts, rest) = split(&finding.labels, texts);
    // The primary place comes first, with its excerpt or without.
    let first = excerpts.first().is_some_and(|excerpt| excerpt.primary);
    let mut excerpts: Vec<Element<'_>> = excerpts.into_iter().map(|excerpt| excerpt.snippet().into()).collect();
    let mut rest: Vec<Element<'_>> = rest.into_iter().flat_map(|label| bare(label, width)).collect();
    let elements = if first { [&mut excerpts, &mut rest] } else { [&mut rest, &mut excerpts] };
    for elements in elements {
        group = group.elements(elements.drain(..));
    }
    match &finding.suggestion {
        Some(suggestion) => group.element(message(Level::HELP, suggestion, width)),
        None => group,
    }
}

/// A label without its text.
fn bare(label: &Label, width: usize) -> impl Iterator<Item = Element<'_>> {
    let at = &label.place;
    let origin = Origin::path(safe(place::path(&at.path))).line(at.line).char_column(at.column);
    let says = (!label.text.is_empty()).then(|| message(Level::NOTE, &label.text, width).into());
    std::iter::once(origin.into()).chain(says)
}

fn message<'a>(level: Level<'a>, text: &str, width: usize) -> Message<'a> {
    level.message(wrap(&safe(text), width.saturating_sub(14)).join("\n"))
}

/// One line, in which nothing steers a terminal.
fn safe(text: &str) -> String {
    normalize_untrusted_str(&text.replace(['\r', '\n'], " "))
}

/// The labels of one file that can be shown in its lines.
struct Excerpt<'a> {
    path: &'a str,
    text: Arc<str>,
    marks: Vec<(Mark, &'a Label)>,
    /// Whether the first mark is the primary place.
    primary: bool,
}

/// One excerpt a file, and the labels that have none.
fn split<'a>(labels: &'a [Label], texts: &dyn Fn(&str) -> Option<Arc<str>>) -> (Vec<Excerpt<'a>>, Vec<&'a Label>) {
    let (mut excerpts, mut rest) = (Vec::<Excerpt<'a>>::new(), Vec::new());
    for (i, label) in labels.iter().enumerate() {
        let path = place::path(&label.place.path);
        let shown = texts(&label.place.path).and_then(|text| Some((mark(&label.place, &text)?, text)));
        match (shown, excerpts.iter_mut().find(|excerpt| excerpt.path == path)) {
            (Some((mark, _)), Some(excerpt)) => excerpt.marks.push((mark, label)),
            (Some((mark, text)), None) => excerpts.push(Excerpt { path, text, marks: vec![(mark, label)], primary: i == 0 }),
            (None, _) => rest.push(label),
        }
    }
    (excerpts, rest)
}

/// What is underlined: of a place over several lines the first one, and no more than may be shown. None in a line that
/// is too long to show.
fn mark(at: &Place, text: &str) -> Option<Mark> {
    let line = place::line(at, text)?;
    let piece = place::piece(at, text)?;
    let span = place::within(place::bytes(at, text)?, &line);
    let span = span.start..span.end.min(piece.end).max(span.start);
    (line.len() <= LONGEST_LINE).then_some(Mark { span, piece, line })
}

/// Bytes of a text.
#[derive(Clone)]
struct Mark {
    span: Range<usize>,
    /// What may be shown around it.
    piece: Range<usize>,
    line: Range<usize>,
}

impl<'a> Excerpt<'a> {
    /// The lines from the first mark to the last. Those between, which nothing is said about, are left out.
    fn snippet(self) -> Snippet<'a, Annotation<'a>> {
        let first = self.marks.iter().map(|(_, label)| label.place.line).min().unwrap_or(1);
        let mut order: Vec<usize> = (0..self.marks.len()).collect();
        order.sort_by_key(|i| self.marks.get(*i).map(|(mark, _)| (mark.piece.start, mark.span.start)));
        let mut out = String::new();
        let mut annotations = Vec::new();
        let mut written: Option<Written> = None;
        for i in order {
            let Some((mark, label)) = self.marks.get(i) else { continue };
            let at = Written::put(&mut written, &mut out, mark, &self.text);
            let kind = if i == 0 && self.primary { AnnotationKind::Primary } else { AnnotationKind::Context };
            let annotation = kind.span(at);
            annotations.push(if label.text.is_empty() { annotation } else { annotation.label(safe(&label.text)) });
        }
        if let Some(written) = &written {
            written.close(&mut out, &self.text);
        }
        Snippet::source(out).line_start(first).path(safe(self.path)).annotations(annotations)
    }
}

/// What has been written last of an excerpt.
struct Written {
    line: Range<usize>,
    /// Where the last piece ends, in the file and in the excerpt: they run in step from its start.
    end: usize,
    shift: (usize, usize),
}

impl Written {
    /// Writes what is not written yet of a mark's piece, and says where in the excerpt the mark is.
    fn put(last: &mut Option<Self>, out: &mut String, mark: &Mark, text: &str) -> Range<usize> {
        let piece = |range: Range<usize>| text.get(range).unwrap_or_default();
        match last {
            Some(last) if last.line == mark.line && mark.piece.start <= last.end => {
                out.push_str(piece(last.end..mark.piece.end));
                last.end = last.end.max(mark.piece.end);
            }
            Some(last) if last.line == mark.line => {
                out.push_str(" ... ");
                *last = Self::begin(out, mark, text);
            }
            _ => {
                if let Some(last) = last {
                    last.close(out, text);
                    let lines = piece(last.line.end..mark.line.start).matches('\n').count();
                    out.push_str(&"\n...".repeat(lines.saturating_sub(1)));
                    out.push('\n');
                }
                if !piece(mark.line.start..mark.piece.start).trim().is_empty() {
                    out.push_str("... ");
                }
                *last = Some(Self::begin(out, mark, text));
            }
        }
        let (from, to) = last.as_ref().map_or((0, 0), |last| last.shift);
        let at = |byte: usize| byte.saturating_sub(from) + to;
        at(mark.span.start)..at(mark.span.end)
    }

    /// Writes a piece after another or at the start of a line.
    fn begin(out: &mut String, mark: &Mark, text: &str) -> Self {
        let piece = text.get(mark.piece.clone()).unwrap_or_default();
        // Indentation stays; what parts the piece from others goes.
        let lead = if mark.piece.start == mark.line.start { 0 } else { piece.len() - piece.trim_start().len() };
        let start = (mark.piece.start + lead).min(mark.span.start);
        let shift = (start, out.len());
        out.push_str(text.get(start..mark.piece.end).unwrap_or_default());
        Self { line: mark.line.clone(), end: mark.piece.end, shift }
    }

    /// Says that the line goes on.
    fn close(&self, out: &mut String, text: &str) {
        if !text.get(self.end..self.line.end).unwrap_or_default().trim().is_empty() {
            out.push_str(" ...");
        }
    }
}

/// A table, in the order given.
pub fn markdown(findings: &[Finding]) -> String {
    let mut out = "| severity | rule | where | what |\n| --- | --- | --- | --- |\n".to_owned();
    for finding in findings {
        let at = finding
            .place()
            .map_or_else(|| "command line".to_owned(), |at| format!("{}:{}:{}", place::path(&at.path), at.line, at.column));
        let what = cell(&place::remark(finding));
        let _ = writeln!(out, "| {} | {} | {} | {what} |", finding.severity, finding.rule, cell(&at));
    }
    out
}

/// Text in a cell. What stands between backticks is code, in which only pipes need an escape.
fn cell(text: &str) -> String {
    let text = text.replace(['\r', '\n'], " ");
    if text.matches('`').count() % 2 == 1 {
        return escape(&text).replace('`', "\\`");
    }
    let pieces = text.split('`').enumerate();
    pieces.map(|(i, piece)| if i % 2 == 1 { piece.replace('|', "\\|") } else { escape(piece) }).collect::<Vec<_>>().join("`")
}

/// A name from a template makes no link.
fn escape(text: &str) -> String {
    markdown::escape(text).replace('[', "\\[")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::report::place::tests::{TEMPLATE, label, placeless, read_timeout, texts, visibility};
    fn show(findings: &[Finding], more: &[(&str, &str)]) -> String {
        let more: Vec<(String, String)> = more.iter().map(|(path, text)| ((*path).to_owned(), (*text).to_owned())).collect();
        let all = move |path: &str| match more.iter().find(|(name, _)| name == path) {
            Some((_, text)) => Some(Arc::from(text.as_str())),
            None => texts(path),
        };
        terminal(findings, &all, 80, false)
    }

    #[test]
    fn every_label_is_shown_in_its_file() {
        insta::assert_snapshot!(show(&[visibility(), read_timeout()], &[]), @r#"
        error[visibility-below-function-timeout]: visibility timeout 45 s is below the function timeout 90 s
         --> infra/template.yaml:5:26
          |
        5 |       VisibilityTimeout: 45
          |                          ^^ hides messages for 45 s
        ...
        9 |       Timeout: 90
          |       ----------- may run 90 s
          |
          = help: set VisibilityTimeout to 540

        warning[read-timeout-left-at-default]: the client waits 60 s, the default of botocore
         --> src/handler.py:5:12
          |
        5 |     return boto3.client("bedrock-runtime")  # ü
          |            ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ no `read_timeout`
          |
         ::: infra/template.yaml:9:7
          |
        9 |       Timeout: 90
          |       ----------- may run 90 s
          |
          = help: pass Config(read_timeout=80)
        "#);
    }

    #[test]
    fn without_place_or_text_there_is_no_excerpt() {
        let mut lost = read_timeout();
        lost.labels[0].place.path = "lost.py".into();
        insta::assert_snapshot!(show(&[placeless(), lost], &[]), @"
        note[visibility-below-six-times]: visibility timeout 100 s is below six times the function timeout 90 s
         |
         = help: pass --visibility-timeout 540s

        warning[read-timeout-left-at-default]: the client waits 60 s, the default of botocore
         --> lost.py:5:12
          = note: no `read_timeout`
          |
         ::: infra/template.yaml:9:7
          |
        9 |       Timeout: 90
          |       ----------- may run 90 s
          |
          = help: pass Config(read_timeout=80)
        ");
    }

    #[test]
    fn a_line_without_end_is_named_and_not_shown() {
        let json = format!("{{\"A\": {:?}, \"VisibilityTimeout\": 45, \"Timeout\": 90}}", "x".repeat(1 << 20));
        let mut finding = visibility();
        finding.labels = vec![
            label("t.json", &json, "45", "hides messages for 45 s"),
            label("t.json", &json, "\"Timeout\": 90", "may run 90 s"),
            label("infra/template.yaml", TEMPLATE, "Sorter:", "the function"),
        ];
        insta::assert_snapshot!(show(&[finding], &[("t.json", &json)]), @"
        error[visibility-below-function-timeout]: visibility timeout 45 s is below the function timeout 90 s
         --> t.json:1:1048608
          = note: hides messages for 45 s
         ::: t.json:1:1048612
          = note: may run 90 s
          |
         ::: infra/template.yaml:6:3
          |
        6 |   Sorter:
          |   ------- the function
          |
          = help: set VisibilityTimeout to 540
        ");
    }

    #[test]
    fn a_line_without_end_between_two_labels_is_left_out() {
        let text = format!("A: 45\nB: {}\r\nC: 90\r\n", "x".repeat(1 << 20));
        let mut finding = visibility();
        finding.labels = vec![label("t.yaml", &text, "C: 90", "may run 90 s"), label("t.yaml", &text, "45", "hides for 45 s")];
        insta::assert_snapshot!(show(&[finding], &[("t.yaml", &text)]), @"
        error[visibility-below-function-timeout]: visibility timeout 45 s is below the function timeout 90 s
         --> t.yaml:3:1
          |
        1 | A: 45
          |    -- hides for 45 s
        2 | ...
        3 | C: 90
          | ^^^^^ may run 90 s
          |
          = help: set VisibilityTimeout to 540
        ");
    }

    #[test]
    fn what_stands_beside_a_setting_is_not_shown() {
        let plan = "{\n  {\"a\": \"f.sorter\", \"env\": {\"KEY\": \"s3cret\"}, \"timeout\": 90, \"b\": {\"C\": \"s3cret\"}},\n  \"KEY\": \"s3cret\",\n  \"visibility\": 45,\n}\n";
        let mut finding = visibility();
        finding.labels = vec![
            label("p.json", plan, "45", "hides messages for 45 s"),
            label("p.json", plan, "90", "may run 90 s"),
            label("p.json", plan, "\"f.sorter\"", "the function"),
            label("p.json", plan, "\"timeout\": 90", "set here"),
            label("p.json", plan, "{\"KEY\": \"s3cret\"}", "its environment"),
        ];
        let text = show(&[finding], &[("p.json", plan)]);
        assert!(!text.contains("s3cret"), "{text}");
        insta::assert_snapshot!(text, @r#"
        error[visibility-below-function-timeout]: visibility timeout 45 s is below the function timeout 90 s
         --> p.json:4:17
          |
        2 | ... "a": "f.sorter" ... "env": { ... "timeout": 90 ...
          |          ----------            -     -------------
          |          |                     |     |          |
          |          |                     |     |          may run 90 s
          |          |                     |     set here
          |          |                     its environment
          |          the function
        3 | ...
        4 |   "visibility": 45,
          |                 ^^ hides messages for 45 s
          |
          = help: set VisibilityTimeout to 540
        "#);
    }

    #[test]
    fn places_over_several_lines_and_on_one_line() {
        let mut finding = visibility();
        finding.labels[1] = label("infra/template.yaml", TEMPLATE, "Sorter:\n    Type: AWS::Lambda::Function\n", "function");
        finding.labels.push(label("infra/template.yaml", TEMPLATE, "VisibilityTimeout: 45", "of the queue"));
        finding.suggestion =
            Some("set it to 540, which is ".to_owned() + &"six times the function timeout, ".repeat(4) + "so.");
        insta::assert_snapshot!(show(&[finding], &[]), @"
        error[visibility-below-function-timeout]: visibility timeout 45 s is below the function timeout 90 s
         --> infra/template.yaml:5:26
          |
        5 |       VisibilityTimeout: 45
          |       -------------------^^
          |       |                  |
          |       |                  hides messages for 45 s
          |       of the queue
        6 |   Sorter:
          |   ------- function
          |
          = help: set it to 540, which is six times the function timeout, six times
                  the function timeout, six times the function timeout, six times
                  the function timeout, so.
        ");
    }

    #[test]
    fn colour_adds_codes_and_nothing_else() {
        let findings = [visibility(), read_timeout(), placeless()];
        let coloured = terminal(&findings, &texts, 80, true);
        assert!(coloured.contains("\u{1b}["));
        assert_eq!(anstream::adapter::strip_str(&coloured).to_string(), terminal(&findings, &texts, 80, false));
    }

    #[test]
    fn what_names_hold_is_no_command_of_the_terminal() {
        let mut finding = visibility();
        finding.message = "a\u{1b}[2Jb".to_owned();
        finding.suggestion = Some("c\u{1b}[2Jd".to_owned());
        finding.labels[0].text = "e\u{1b}[2Jf".to_owned();
        finding.labels[1].place.path = "g\u{1b}[2Jh".into();
        finding.labels[1].text = "i\u{1b}[2Jj".to_owned();
        let text = show(&[finding], &[]);
        assert!(!text.contains('\u{1b}'), "{text:?}");
    }

    #[test]
    fn findings_in_a_table() {
        let mut odd = visibility();
        odd.message = "`a|b*` of lane[\"x\"] <b> c|d\n* e".to_owned();
        odd.suggestion = Some("no ` more".to_owned());
        insta::assert_snapshot!(markdown(&[visibility(), placeless(), odd]), @r#"
        | severity | rule | where | what |
        | --- | --- | --- | --- |
        | error | visibility-below-function-timeout | infra/template.yaml:5:26 | visibility timeout 45 s is below the function timeout 90 s; set VisibilityTimeout to 540 |
        | note | visibility-below-six-times | command line | visibility timeout 100 s is below six times the function timeout 90 s; pass --visibility-timeout 540s |
        | error | visibility-below-function-timeout | infra/template.yaml:5:26 | \`a\|b\*\` of lane\["x"] &lt;b> c\|d \* e; no \` more |
        "#);
        assert_eq!(cell("`a|b*`\r\nc*"), "`a\\|b*`  c\\*");
    }

    #[test]
    fn a_place_within_a_line_break_is_shown_at_the_lines_end() {
        let text = ": ü\ta\r\r\r\n";
        let place = Place { path: Arc::from("t"), line: 1, column: 8, start: 8, end: 8 };
        let finding = Finding { labels: vec![Label { place, text: "here".to_owned() }], ..visibility() };
        assert!(show(&[finding], &[("t", text)]).contains("here"));
    }

    proptest! {
        #[test]
        fn any_place_can_be_shown(
            text in "[a-cü{,:\r\n\t ]{0,30}",
            places in prop::collection::vec((0..40usize, 0..40usize, 0..9usize), 0..4),
        ) {
            let labels = places.iter().map(|(start, end, line)| Label {
                place: Place { path: Arc::from("t"), line: *line, column: 1, start: *start, end: *end },
                text: "here".to_owned(),
            });
            let finding = Finding { labels: labels.collect(), ..visibility() };
            prop_assert!(show(std::slice::from_ref(&finding), &[("t", &text)]).contains(&finding.message));
        }
    }
}
