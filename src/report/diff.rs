//! Edits of a file, made and shown as a unified diff that `git apply` takes.

use std::fmt::Write as _;
use std::ops::Range;

use similar::{ChangeTag, TextDiff};

use super::place;
use crate::engine::finding::Edit;

/// Lines around a change.
const CONTEXT: usize = 3;

/// The text with the edits of this file made; none without a change.
///
/// Of edits that overlap the first in the text is made, and of those that begin at the same byte the first in the list.
/// An edit of bytes that the text has not is left out.
pub fn apply(path: &str, text: &str, edits: &[Edit]) -> Option<String> {
    let mut sorted: Vec<&Edit> = edits.iter().filter(|edit| place::path(&edit.place.path) == place::path(path)).collect();
    sorted.sort_by_key(|edit| edit.place.start);
    let mut out = String::with_capacity(text.len());
    let mut done = 0;
    let mut last = None;
    for edit in sorted {
        let Some(span) = place::bytes(&edit.place, text) else { continue };
        // Two insertions at one byte overlap too.
        if span.start < done || last == Some(span.start) {
            continue;
        }
        out.push_str(text.get(done..span.start).unwrap_or_default());
        out.push_str(&edit.replacement);
        done = span.end;
        last = Some(span.start);
    }
    out.push_str(text.get(done..).unwrap_or_default());
    (out != text).then_some(out)
}

/// What the edits change in this file; none without a change.
///
/// A line that also holds values of an environment is not changed, for the diff would show them.
pub fn unified(path: &str, text: &str, edits: &[Edit]) -> Option<String> {
    let shown = |edit: &&Edit| place::line(&edit.place, text).is_none_or(|line| environment(&text[line]) != Some(true));
    let edits: Vec<Edit> = edits.iter().filter(shown).cloned().collect();
    let after = apply(path, text, &edits)?;
    let private = private(text);
    // git's lines end in line feeds only.
    let (old, new): (Vec<&str>, Vec<&str>) = (text.split_inclusive('\n').collect(), after.split_inclusive('\n').collect());
    let diff = TextDiff::configure().diff_slices(&old, &new);
    let changes: Vec<(ChangeTag, &str)> = diff.iter_all_changes().map(|change| (change.tag(), change.value())).collect();
    let name = place::path(path).trim_start_matches('/');
    let mut out = format!("--- {}\n+++ {}\n", header("a/", name), header("b/", name));
    let (mut before, mut done) = ((0, 0), 0);
    let hidden: Vec<bool> = diff
        .iter_all_changes()
        .map(|change| change.tag() == ChangeTag::Equal && change.old_index().is_some_and(|at| private.get(at) == Some(&true)))
        .collect();
    for span in hunks(&changes, &hidden) {
        before = moved(before, changes.get(done..span.start).unwrap_or_default());
        done = span.end;
        let hunk = changes.get(span).unwrap_or_default();
        let after = moved(before, hunk);
        let _ = writeln!(out, "@@ -{} +{} @@", lines(before.0, after.0), lines(before.1, after.1));
        before = after;
        for (tag, line) in hunk {
            out.push(match tag {
                ChangeTag::Equal => ' ',
                ChangeTag::Delete => '-',
                ChangeTag::Insert => '+',
            });
            out.push_str(line);
            if !line.ends_with('\n') {
                out.push_str("\n\\ No newline at end of file\n");
            }
        }
    }
    Some(out)
}

/// What changes, with the lines around that may be shown; hunks that touch are one. `similar` has hunks of its own, but the
/// numbers in their heads can be wrong.
fn hunks(changes: &[(ChangeTag, &str)], hidden: &[bool]) -> Vec<Range<usize>> {
    let hidden = |at: usize| hidden.get(at) == Some(&true);
    let mut out: Vec<Range<usize>> = Vec::new();
    for (i, _) in changes.iter().enumerate().filter(|(_, (tag, _))| *tag != ChangeTag::Equal) {
        let start = (i.saturating_sub(CONTEXT)..i).rev().take_while(|at| !hidden(*at)).last().unwrap_or(i);
        let end = (i + 1..(i + CONTEXT + 1).min(changes.len())).take_while(|at| !hidden(*at)).last().unwrap_or(i) + 1;
        match out.last_mut() {
            Some(last) if start <= last.end => last.end = last.end.max(end),
            _ => out.push(start..end),
        }
    }
    // `patch` finds the place of a hunk only where the lines before and after it are about as many.
    for span in &mut out {
        let equal = |at: &usize| changes.get(*at).is_some_and(|(tag, _)| *tag == ChangeTag::Equal);
        let (leading, trailing) = (span.clone().take_while(equal).count(), span.clone().rev().take_while(equal).count());
        if span.start > 0 && hidden(span.start - 1) {
            span.end -= trailing.saturating_sub(leading + 1);
        }
        if hidden(span.end) {
            span.start += leading.saturating_sub(trailing + 1);
        }
    }
    out
}

/// For each line, whether it belongs to the environment of a function: its values may be secrets, and no diff shows them as
/// lines around a change.
///
/// Read by indentation and brackets, for templates, HCL and JSON alike: at worst some more lines are not shown.
fn private(text: &str) -> Vec<bool> {
    let mut block: Option<(usize, i64)> = None;
    text.split_inclusive('\n')
        .map(|line| {
            let indent = line.len() - line.trim_start().len();
            let inside = block.is_some_and(|(outer, depth)| depth > 0 || indent > outer || line.trim().is_empty());
            if inside {
                block = block.map(|(outer, depth)| (outer, depth + opened(line)));
                return true;
            }
            let opener = environment(line);
            block = opener.map(|_| (indent, opened(line)));
            opener == Some(true)
        })
        .collect()
}

/// Whether values follow the name of an environment block in its line; none where no such name is.
fn environment(line: &str) -> Option<bool> {
    let lower = line.to_ascii_lowercase();
    ["environment", "variables"].iter().find_map(|name| {
        let at = lower.find(name)?;
        let before = lower.get(..at)?.chars().next_back();
        let rest = line.get(at + name.len()..)?.trim_start_matches(['"', '\'']);
        let named = !before.is_some_and(|c| c.is_alphanumeric() || c == '_') && rest.trim_start().starts_with([':', '=', '{']);
        named.then(|| !rest.trim_matches(|c: char| ":={[".contains(c) || c.is_whitespace()).is_empty())
    })
}

/// How many more brackets a line opens than it closes.
fn opened(line: &str) -> i64 {
    line.chars().fold(0, |depth, c| match c {
        '{' | '[' => depth + 1,
        '}' | ']' => depth - 1,
        _ => depth,
    })
}

/// Lines of the old text and of the new one after some changes.
fn moved((old, new): (usize, usize), changes: &[(ChangeTag, &str)]) -> (usize, usize) {
    let count = |other| changes.iter().filter(|(tag, _)| *tag != other).count();
    (old + count(ChangeTag::Insert), new + count(ChangeTag::Delete))
}

/// `3,7`: from the third line seven; of one line only its number, and of none the line before.
fn lines(before: usize, after: usize) -> String {
    match after - before {
        0 => format!("{before},0"),
        1 => format!("{after}"),
        count => format!("{},{count}", before + 1),
    }
}

/// A name as git writes it: quoted if it must be, and with a tab after one that has spaces.
fn header(side: &str, name: &str) -> String {
    let special = |c: char| c.is_control() || c == '"' || c == '\\';
    if name.contains(special) {
        let mut out = format!("\"{side}");
        for c in name.chars() {
            match c {
                '"' | '\\' => out.extend(['\\', c]),
                c if special(c) => {
                    for byte in c.encode_utf8(&mut [0; 4]).bytes() {
                        let _ = write!(out, "\\{byte:03o}");
                    }
                }
                c => out.push(c),
            }
        }
        out.push('"');
        out
    } else if name.contains(' ') {
        format!("{side}{name}\t")
    } else {
        format!("{side}{name}")
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use proptest::prelude::*;

    use super::*;
    use crate::engine::fact::Place;

    fn edit(text: &str, piece: &str, replacement: &str) -> Edit {
        let start = text.find(piece).unwrap();
        span(start, start + piece.len(), replacement)
    }

    fn span(start: usize, end: usize, replacement: &str) -> Edit {
        let place = Place { path: Arc::from("t.yaml"), line: 1, column: 1, start, end };
        Edit { place, replacement: replacement.to_owned() }
    }

    /// Applies a diff as git does: every line that stays or goes must be there.
    fn patched(text: &str, diff: &str) -> String {
        let old: Vec<&str> = text.split_inclusive('\n').collect();
        let mut lines = diff.split_inclusive('\n').peekable();
        assert!(lines.next().unwrap().starts_with("--- a/") && lines.next().unwrap().starts_with("+++ b/"), "{diff}");
        let (mut out, mut at) = (String::new(), 0);
        while let Some(head) = lines.next() {
            let ranges: Vec<(usize, usize)> = head
                .split(' ')
                .skip(1)
                .take(2)
                .map(|range| {
                    let (start, count) = range[1..].split_once(',').unwrap_or((&range[1..], "1"));
                    (start.parse().unwrap(), count.parse().unwrap())
                })
                .collect();
            let ((start, mut gone), (begin, mut come)) = (ranges[0], ranges[1]);
            while at + usize::from(gone > 0) < start {
                out.push_str(old[at]);
                at += 1;
            }
            assert_eq!(out.matches('\n').count() + usize::from(come > 0), begin, "{diff}");
            while gone + come > 0 {
                let line = lines.next().unwrap();
                let mut value = line[1..].to_owned();
                if lines.peek().is_some_and(|next| next.starts_with('\\')) {
                    lines.next();
                    value.pop();
                }
                let sign = &line[..1];
                if sign != "+" {
                    assert_eq!(old[at], value);
                    at += 1;
                    gone -= 1;
                }
                if sign != "-" {
                    out.push_str(&value);
                    come -= 1;
                }
            }
        }
        out.extend(old[at..].iter().copied());
        out
    }

    const TEXT: &str = "A:\n  Timeout: 90\n  B: 1\n  C: 2\n  D: 3\n  E: 4\n  Hidden: 45\n";

    #[test]
    fn an_environment_is_no_line_around_a_change() {
        let yaml = "F:\n  Properties:\n    Environment:\n      Variables:\n        PASSWORD: hunter2\n    Timeout: 90\n    MemorySize: 128\n    Handler: a.b\n    Runtime: x\n";
        let before = unified("t.yaml", yaml, &[edit(yaml, "90", "80")]).unwrap();
        insta::assert_snapshot!(before, @r"
        --- a/t.yaml
        +++ b/t.yaml
        @@ -6,2 +6,2 @@
        -    Timeout: 90
        +    Timeout: 80
             MemorySize: 128
        ");
        let after = yaml.replace("    Environment:\n", "    Timeout: 90\n    Environment:\n").replacen(
            "    Timeout: 90\n    Mem",
            "    Mem",
            1,
        );
        insta::assert_snapshot!(unified("t.yaml", &after, &[edit(&after, "90", "80")]).unwrap(), @r"
        --- a/t.yaml
        +++ b/t.yaml
        @@ -1,4 +1,4 @@
         F:
           Properties:
        -    Timeout: 90
        +    Timeout: 80
             Environment:
        ");
        for text in [
            yaml,
            &after,
            "f {\nenvironment {\nvariables = {\nA = \"hunter2\"\n}\n}\ntimeout = 90\n}\n",
            "{\n  \"Timeout\": 90,\n  \"Environment\": {\"Variables\": {\"A\": \"hunter2\"}}\n}\n",
            "F:\n  Environment: {Variables: {A: hunter2}}\n  Timeout: 90\n",
        ] {
            let edits = [edit(text, "90", "80")];
            let diff = unified("t.yaml", text, &edits).unwrap();
            assert!(!diff.contains("hunter2"), "{diff}");
            assert_eq!(patched(text, &diff), apply("t.yaml", text, &edits).unwrap());
        }
        let one_line = "{\"Timeout\": 90, \"Environment\": {\"Variables\": {\"A\": \"hunter2\"}}}\n";
        assert_eq!(unified("t.yaml", one_line, &[edit(one_line, "90", "80")]), None);
    }

    #[test]
    fn edits_are_shown_with_three_lines_around() {
        let edits = [edit(TEXT, "45", "540"), edit(TEXT, "90", "80")];
        insta::assert_snapshot!(unified("./t.yaml", TEXT, &edits).unwrap(), @"
        --- a/t.yaml
        +++ b/t.yaml
        @@ -1,7 +1,7 @@
         A:
        -  Timeout: 90
        +  Timeout: 80
           B: 1
           C: 2
           D: 3
           E: 4
        -  Hidden: 45
        +  Hidden: 540
        ");
        assert_eq!(patched(TEXT, &unified("t.yaml", TEXT, &edits).unwrap()), TEXT.replace("45", "540").replace("90", "80"));
    }

    #[test]
    fn far_edits_have_hunks_of_their_own() {
        let text: String = (0..40).map(|i| format!("line {i} end\n")).collect();
        let edits = [edit(&text, "line 3 ", "row 3 "), edit(&text, "line 30 ", "row 30\n and ")];
        let diff = unified("t.yaml", &text, &edits).unwrap();
        assert_eq!(diff.matches("@@ -").count(), 2, "{diff}");
        assert_eq!(patched(&text, &diff), apply("t.yaml", &text, &edits).unwrap());
    }

    #[test]
    fn windows_line_breaks_and_a_missing_last_one_stay() {
        let text = "a: 1\r\nb: 2\r\nc: 3";
        let diff = unified("t.yaml", text, &[edit(text, "2", "20")]).unwrap();
        assert_eq!(
            diff,
            "--- a/t.yaml\n+++ b/t.yaml\n@@ -1,3 +1,3 @@\n a: 1\r\n-b: 2\r\n+b: 20\r\n c: 3\n\\ No newline at end of file\n"
        );
        let diff = unified("t.yaml", text, &[edit(text, "3", "30")]).unwrap();
        assert!(diff.ends_with("-c: 3\n\\ No newline at end of file\n+c: 30\n\\ No newline at end of file\n"), "{diff}");
        assert_eq!(patched(text, &diff), "a: 1\r\nb: 2\r\nc: 30");
    }

    #[test]
    fn of_overlapping_edits_the_first_is_made() {
        let text = "VisibilityTimeout: 45\n";
        let made = |edits: &[Edit]| apply("t.yaml", text, edits);
        assert_eq!(made(&[span(19, 21, "90"), span(19, 21, "540")]).as_deref(), Some("VisibilityTimeout: 90\n"));
        assert_eq!(made(&[span(20, 21, "9"), span(19, 21, "540")]).as_deref(), Some("VisibilityTimeout: 540\n"));
        assert_eq!(made(&[span(0, 0, "X: 1\n"), span(0, 0, "X: 1\n")]).as_deref(), Some("X: 1\nVisibilityTimeout: 45\n"));
    }

    #[test]
    fn nothing_to_change_is_no_diff() {
        let text = "a: 1 ü\n";
        let mut other = edit(text, "1", "2");
        other.place.path = "other.yaml".into();
        for edits in [vec![], vec![edit(text, "1", "1")], vec![span(6, 6, "x")], vec![span(9, 12, "x")], vec![other]] {
            assert_eq!(unified("t.yaml", text, &edits), None, "{edits:?}");
        }
    }

    #[test]
    fn names_are_quoted_as_git_does() {
        for (name, written) in [("a b.tf", "a/a b.tf\t"), ("ü.tf", "a/ü.tf"), ("q\"\t.tf", "\"a/q\\\"\\011.tf\"")] {
            assert_eq!(header("a/", name), written);
        }
        let mut edit = edit("a: 1\n", "1", "2");
        edit.place.path = "/srv/t.yaml".into();
        assert!(unified("/srv/t.yaml", "a: 1\n", &[edit]).unwrap().starts_with("--- a/srv/t.yaml\n+++ b/srv/t.yaml\n"));
    }

    proptest! {
        #[test]
        fn a_diff_makes_the_text_of_its_edits(
            text in "([a-cü]{0,3}\r?\n|\r){0,12}[a-c]{0,3}",
            edits in prop::collection::vec((0..40usize, 0..5usize, "[xy\r\n]{0,4}"), 0..5),
        ) {
            let edits: Vec<Edit> = edits.iter().map(|(start, length, with)| span(*start, start + length, with)).collect();
            if let Some(diff) = unified("t.yaml", &text, &edits) {
                prop_assert_eq!(patched(&text, &diff), apply("t.yaml", &text, &edits).unwrap());
            }
        }
    }
}
