//! What a command says, before any format: titles, texts, tables, lists. Renderers know only these.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::chain::Bar;
use crate::engine::finding::Finding;

/// Texts of files, by path: what findings are shown in.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Texts(BTreeMap<Arc<str>, Arc<str>>);

impl Texts {
    pub fn new(files: impl IntoIterator<Item = (Arc<str>, Arc<str>)>) -> Self {
        Self(files.into_iter().collect())
    }

    pub fn get(&self, path: &str) -> Option<Arc<str>> {
        self.0.get(path).cloned()
    }
}

/// A report, in the order in which it is read.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Document {
    pub blocks: Vec<Block>,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Block {
    /// The answer, in one line.
    Answer {
        text: String,
        tone: Tone,
    },
    /// A paragraph under the answer or a section.
    Text(String),
    Section(String),
    Table(Table),
    /// One line each.
    Items(Vec<Item>),
    /// Text to copy: kept as it is.
    Code(String),
    /// Findings, each with its places.
    Findings {
        list: Vec<Finding>,
        texts: Texts,
    },
    /// Times of a chain, drawn to scale, with the slowest call inside.
    Chain {
        bars: Vec<Bar>,
        slowest: Option<f64>,
    },
}

/// How good or bad something is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tone {
    Good,
    Warning,
    Bad,
    Plain,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Item {
    pub tone: Tone,
    pub text: String,
}

/// Columns and rows of the same width.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Table {
    pub columns: Vec<Column>,
    pub rows: Vec<Vec<String>>,
    /// The row that matters most, to be set apart.
    pub marked: Option<usize>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Column {
    pub name: &'static str,
    /// Numbers stand to the right.
    pub right: bool,
    /// Ids to copy: never broken over lines.
    pub whole: bool,
}

impl Table {
    /// Columns by name; a name that ends in `>` holds numbers, one in `=` ids that are never broken.
    pub fn new(columns: &[&'static str]) -> Self {
        let column = |name: &&'static str| match name.strip_suffix('>') {
            Some(name) => Column { name, right: true, whole: false },
            None => Column { name: name.strip_suffix('=').unwrap_or(name), right: false, whole: name.ends_with('=') },
        };
        Self { columns: columns.iter().map(column).collect(), rows: Vec::new(), marked: None }
    }

    pub fn row(&mut self, cells: impl IntoIterator<Item = String>) {
        self.rows.push(cells.into_iter().collect());
    }
}

impl Document {
    pub fn answer(&mut self, tone: Tone, text: impl Into<String>) {
        self.blocks.push(Block::Answer { text: text.into(), tone });
    }

    pub fn text(&mut self, text: impl Into<String>) {
        self.blocks.push(Block::Text(text.into()));
    }

    pub fn section(&mut self, title: impl Into<String>) {
        self.blocks.push(Block::Section(title.into()));
    }

    pub fn table(&mut self, table: Table) {
        self.blocks.push(Block::Table(table));
    }

    pub fn items(&mut self, tone: Tone, texts: impl IntoIterator<Item = String>) {
        let items: Vec<Item> = texts.into_iter().map(|text| Item { tone, text }).collect();
        if !items.is_empty() {
            self.blocks.push(Block::Items(items));
        }
    }

    pub fn findings(&mut self, list: Vec<Finding>, texts: Texts) {
        if !list.is_empty() {
            self.blocks.push(Block::Findings { list, texts });
        }
    }

    pub fn chain(&mut self, bars: Vec<Bar>, slowest: Option<f64>) {
        self.blocks.push(Block::Chain { bars, slowest });
    }

    pub fn code(&mut self, text: impl Into<String>) {
        self.blocks.push(Block::Code(text.into()));
    }
}
