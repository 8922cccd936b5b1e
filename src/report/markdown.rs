//! A document as GitHub-flavoured Markdown.

use std::fmt::Write as _;

use super::document::{Block, Document, Table, Tone};
use super::{chain, findings};

/// Columns of drawings: what fits into a comment of a pull request.
const MARKDOWN_WIDTH: usize = 100;

/// Renders a whole document.
pub fn render(document: &Document) -> String {
    let mut out = String::new();
    for block in &document.blocks {
        if !out.is_empty() {
            out.push('\n');
        }
        match block {
            Block::Answer { text, .. } => {
                let _ = writeln!(out, "# {}", escape(text));
            }
            Block::Text(text) => {
                let _ = writeln!(out, "{}", escape(text));
            }
            Block::Section(title) => {
                let _ = writeln!(out, "## {}", escape(title));
            }
            Block::Table(table) => grid(&mut out, table),
            Block::Items(items) => {
                for item in items {
                    let lead = match item.tone {
                        Tone::Warning => "**Warning:** ",
                        Tone::Bad => "**Problem:** ",
                        Tone::Good | Tone::Plain => "",
                    };
                    let _ = writeln!(out, "- {lead}{}", escape(&item.text));
                }
            }
            Block::Findings { list, .. } => out.push_str(&findings::markdown(list)),
            Block::Chain { bars, slowest } => {
                let lines = chain::drawing(bars, *slowest, MARKDOWN_WIDTH);
                let _ = writeln!(out, "```\n{}\n```", lines.join("\n"));
            }
            Block::Code(text) => {
                let _ = writeln!(out, "```\n{}\n```", text.trim_end());
            }
        }
    }
    out
}

fn grid(out: &mut String, table: &Table) {
    let line = |out: &mut String, cells: &mut dyn Iterator<Item = String>| {
        let _ = writeln!(out, "| {} |", cells.collect::<Vec<_>>().join(" | "));
    };
    line(out, &mut table.columns.iter().map(|column| escape(column.name)));
    line(out, &mut table.columns.iter().map(|column| if column.right { "---:" } else { "---" }.to_owned()));
    for (i, row) in table.rows.iter().enumerate() {
        let marked = table.marked == Some(i);
        line(
            out,
            &mut row.iter().map(|cell| if marked && !cell.is_empty() { format!("**{}**", escape(cell)) } else { escape(cell) }),
        );
    }
}

/// Underscores inside words need no escape in GitHub's Markdown, and ids are full of them.
pub(super) fn escape(text: &str) -> String {
    text.replace('\\', "\\\\").replace('|', "\\|").replace('*', "\\*").replace('<', "&lt;").replace('\n', " ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_document_in_markdown() {
        let mut document = Document::default();
        document.answer(Tone::Good, "MaximumConcurrency 5");
        document.section("Limits");
        let mut table = Table::new(&["limit", "workers>"]);
        table.row(["mc_rpm | a*b".to_owned(), "12.00".to_owned()]);
        table.row(["mc_tpm".to_owned(), "5.06".to_owned()]);
        table.marked = Some(1);
        document.table(table);
        document.items(Tone::Warning, ["first".to_owned()]);
        document.code("A: 1\n");
        insta::assert_snapshot!(render(&document), @r"
        # MaximumConcurrency 5

        ## Limits

        | limit | workers |
        | --- | ---: |
        | mc_rpm \| a\*b | 12.00 |
        | **mc_tpm** | **5.06** |

        - **Warning:** first

        ```
        A: 1
        ```
        ");
    }
}
