//! A document for a terminal of a given width, with or without colour; it means the same without.

use std::fmt::Write as _;

use anstyle::{AnsiColor, Style};
use comfy_table::{Cell, CellAlignment, ColumnConstraint, ContentArrangement, Table as Grid, presets};

use super::document::{Block, Document, Table, Tone};
use super::{chain, findings};

/// Narrower, tables cannot be read; wider, lines cannot.
pub const NARROWEST: usize = 60;
pub const WIDEST: usize = 120;

/// Renders for `width` columns.
pub fn render(document: &Document, width: usize, colour: bool) -> String {
    let width = width.clamp(NARROWEST, WIDEST);
    let paint = Paint { colour };
    let mut out = String::new();
    for block in &document.blocks {
        match block {
            Block::Answer { text, tone } => {
                for line in wrap(text, width) {
                    let _ = writeln!(out, "{}", paint.set(&line, tone.style().bold()));
                }
            }
            Block::Text(text) => {
                for line in wrap(text, width) {
                    let _ = writeln!(out, "{line}");
                }
            }
            Block::Section(title) => {
                let _ = writeln!(out, "\n{}", paint.set(title, Style::new().bold()));
            }
            Block::Table(table) => out.push_str(&grid(table, width, paint)),
            Block::Items(items) => {
                for item in items {
                    let (mark, style) = (item.tone.mark(), item.tone.style());
                    for (i, line) in wrap(&item.text, width - 2 - mark.len()).iter().enumerate() {
                        let lead = if i == 0 { paint.set(mark, style.bold()) } else { " ".repeat(mark.len()) };
                        let _ = writeln!(out, "  {lead}{line}");
                    }
                }
            }
            Block::Findings { list, texts } => {
                let text = findings::terminal(list, &|path| texts.get(path), width, colour);
                let _ = writeln!(out, "\n{}", text.trim_end());
            }
            Block::Chain { bars, slowest } => {
                for line in chain::drawing(bars, *slowest, width - 2) {
                    let _ = writeln!(out, "{}", format!("  {line}").trim_end());
                }
            }
            Block::Code(text) => {
                for line in text.lines() {
                    let _ = writeln!(out, "{}", format!("  {line}").trim_end());
                }
            }
        }
    }
    out
}

#[derive(Clone, Copy)]
struct Paint {
    colour: bool,
}

impl Paint {
    fn set(self, text: &str, style: Style) -> String {
        if self.colour { format!("{style}{text}{style:#}") } else { text.to_owned() }
    }
}

impl Tone {
    fn style(self) -> Style {
        match self {
            Self::Good => AnsiColor::Green.on_default(),
            Self::Warning => AnsiColor::Yellow.on_default(),
            Self::Bad => AnsiColor::Red.on_default(),
            Self::Plain => Style::new(),
        }
    }

    fn mark(self) -> &'static str {
        match self {
            Self::Good | Self::Plain => "- ",
            Self::Warning => "warning: ",
            Self::Bad => "problem: ",
        }
    }
}

fn grid(table: &Table, width: usize, paint: Paint) -> String {
    let mut grid = Grid::new();
    grid.load_style(presets::NOTHING);
    grid.set_content_arrangement(ContentArrangement::Dynamic);
    // Two columns are the margin.
    grid.set_width(u16::try_from(width - 2).unwrap_or(u16::MAX));
    grid.set_header(table.columns.iter().map(|column| Cell::new(column.name).set_alignment(alignment(column.right))));
    for row in &table.rows {
        grid.add_row(
            row.iter().zip(&table.columns).map(|(text, column)| Cell::new(text).set_alignment(alignment(column.right))),
        );
    }
    for (column, of) in grid.column_iter_mut().zip(&table.columns) {
        // A number that is broken in two is two numbers.
        if of.whole || of.right {
            column.set_constraint(ColumnConstraint::ContentWidth);
        }
    }
    let mut out = String::new();
    let head = table.columns.iter().any(|column| !column.name.is_empty());
    for (i, line) in grid.lines().enumerate().skip(usize::from(!head)) {
        let line = format!(" {}", line.trim_end());
        let style = if i == 0 && head { Style::new().dimmed() } else { Style::new() };
        let marked = table.marked.is_some_and(|marked| i == marked + 1);
        let style = if marked { style.bold() } else { style };
        let plain = style == Style::new();
        let _ = writeln!(out, "{}", if plain { line } else { paint.set(&line, style) });
    }
    out
}

fn alignment(right: bool) -> CellAlignment {
    if right { CellAlignment::Right } else { CellAlignment::Left }
}

/// Breaks text at spaces; a word longer than a line keeps its own.
pub fn wrap(text: &str, width: usize) -> Vec<String> {
    let mut lines = Vec::new();
    for paragraph in text.lines() {
        let mut line = String::new();
        for word in paragraph.split(' ') {
            if !line.is_empty() && line.chars().count() + 1 + word.chars().count() > width {
                lines.push(std::mem::take(&mut line));
            }
            if !line.is_empty() {
                line.push(' ');
            }
            line.push_str(word);
        }
        lines.push(line);
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample() -> Document {
        let mut document = Document::default();
        document.answer(Tone::Good, "MaximumConcurrency 5");
        document.text("A line that is long enough to need more than the sixty columns that there are at the least.");
        document.section("Limits");
        let mut table = Table::new(&["limit", "workers>"]);
        table.row(["mc_rpm".to_owned(), "12.00".to_owned()]);
        table.row(["mc_tpm".to_owned(), "5.06".to_owned()]);
        table.marked = Some(1);
        document.table(table);
        document.items(Tone::Warning, ["first".to_owned(), "second".to_owned()]);
        document.code("A: 1\n  B: 2\n");
        document
    }

    #[test]
    fn without_colour_a_document_is_plain_text() {
        insta::assert_snapshot!(render(&sample(), 10, false), @r"
        MaximumConcurrency 5
        A line that is long enough to need more than the sixty
        columns that there are at the least.

        Limits
          limit   workers
          mc_rpm    12.00
          mc_tpm     5.06
          warning: first
          warning: second
          A: 1
            B: 2
        ");
    }

    #[test]
    fn colour_adds_codes_and_nothing_else() {
        let coloured = render(&sample(), 80, true);
        assert!(coloured.contains("\u{1b}["));
        assert_eq!(anstream::adapter::strip_str(&coloured).to_string(), render(&sample(), 80, false));
    }
}
