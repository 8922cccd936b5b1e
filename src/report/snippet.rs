//! Mistakes in a file, shown in its text.

use annotate_snippets::{AnnotationKind, Level, Renderer, Snippet};

use crate::engine::problem::Problems;

/// All problems of a file, one excerpt each.
pub fn render(problems: &Problems, width: usize, colour: bool) -> String {
    let renderer = if colour { Renderer::styled() } else { Renderer::plain() }.term_width(width);
    let mut out = Vec::new();
    for problem in &problems.list {
        // An empty span at the end of the text has no character to point at.
        let start = problem.span.start.min(problems.text.len());
        let end = problem.span.end.clamp(start, problems.text.len());
        let annotation = AnnotationKind::Primary.span(start..end).label(&problem.label);
        let group = Level::ERROR
            .primary_title(&problem.message)
            .element(Snippet::source(&problems.text).path(&problems.path).annotation(annotation));
        let group = match &problem.help {
            Some(help) => group.element(Level::HELP.message(help)),
            None => group,
        };
        out.push(renderer.render(&[group]).clone());
    }
    out.join("\n\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::problem::Problem;

    #[test]
    fn a_problem_is_shown_in_its_line() {
        let text = "schema: 1\ncall:\n  latency_ms: 4500\n";
        let problem = Problem {
            span: 18..28,
            message: "unknown field `latency_ms` in `call`".into(),
            label: "did you mean `latency_s`?".into(),
            help: Some("known: latency_s, max_tokens".into()),
        };
        insta::assert_snapshot!(render(&Problems::new("w.yaml", text, vec![problem]), 80, false), @r"
        error: unknown field `latency_ms` in `call`
         --> w.yaml:3:3
          |
        3 |   latency_ms: 4500
          |   ^^^^^^^^^^ did you mean `latency_s`?
          |
          = help: known: latency_s, max_tokens
        ");
    }
}
