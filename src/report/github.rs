//! Findings as workflow commands of GitHub Actions: each becomes an annotation on its line.

use std::fmt::Write as _;
use std::sync::Arc;

use super::place;
use crate::engine::finding::{Finding, Severity};

/// One command a line.
pub fn render(findings: &[Finding], texts: &dyn Fn(&str) -> Option<Arc<str>>) -> String {
    let mut out = String::new();
    for finding in findings {
        let command = match finding.severity {
            Severity::Error => "error",
            Severity::Warning => "warning",
            Severity::Note => "notice",
        };
        let mut properties = Vec::new();
        let mut message = place::remark(finding);
        if let Some(at) = finding.place() {
            let end = texts(&at.path).and_then(|text| place::shown_end(at, &text)).unwrap_or((at.line, at.column));
            properties.push(format!("file={}", property(place::path(&at.path))));
            properties.push(format!("line={}", at.line));
            properties.push(format!("endLine={}", end.0));
            // Columns of an annotation over several lines are refused.
            if end.0 == at.line {
                properties.push(format!("col={}", at.column));
                if end.1 > at.column {
                    properties.push(format!("endColumn={}", end.1));
                }
            }
        }
        properties.push(format!("title={}", property(finding.rule)));
        for label in finding.labels.iter().skip(1) {
            let _ = write!(message, "\n{}: {}", label.place, label.text);
        }
        let _ = writeln!(out, "::{command} {}::{}", properties.join(","), data(&message));
    }
    out
}

fn data(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::place::tests::{TEMPLATE, label, placeless, read_timeout, texts, visibility};

    #[test]
    fn findings_become_annotations() {
        insta::assert_snapshot!(render(&[visibility(), read_timeout(), placeless()], &texts), @"
        ::error file=infra/template.yaml,line=5,endLine=5,col=26,endColumn=28,title=visibility-below-function-timeout::visibility timeout 45 s is below the function timeout 90 s; set VisibilityTimeout to 540%0Ainfra/template.yaml:9:7: may run 90 s
        ::warning file=src/handler.py,line=5,endLine=5,col=12,endColumn=43,title=read-timeout-left-at-default::the client waits 60 s, the default of botocore; pass Config(read_timeout=80)%0Ainfra/template.yaml:9:7: may run 90 s
        ::notice title=visibility-below-six-times::visibility timeout 100 s is below six times the function timeout 90 s; pass --visibility-timeout 540s
        ");
    }

    #[test]
    fn over_several_lines_there_are_no_columns() {
        let mut finding = visibility();
        finding.labels = vec![label("infra/template.yaml", TEMPLATE, "Properties:\n      VisibilityTimeout: 45\n", "")];
        let text = render(&[finding], &texts);
        assert!(text.starts_with("::error file=infra/template.yaml,line=4,endLine=5,title="), "{text}");
    }

    #[test]
    fn without_the_text_only_the_start_is_known() {
        let text = render(&[visibility()], &|_| None);
        assert!(text.starts_with("::error file=infra/template.yaml,line=5,endLine=5,col=26,title="), "{text}");
    }

    #[test]
    fn a_name_cannot_end_the_command_or_begin_another() {
        let mut finding = visibility();
        finding.message = "100 % of\r\n::set-env name=A::b".to_owned();
        finding.suggestion = None;
        finding.labels.truncate(1);
        finding.labels[0].place.path = "./a,b:c%.yaml\n".into();
        let text = render(&[finding], &texts);
        assert_eq!(
            text,
            "::error file=a%2Cb%3Ac%25.yaml%0A,line=5,endLine=5,col=26,title=visibility-below-function-timeout::100 %25 of%0D%0A::set-env name=A::b\n"
        );
    }
}
