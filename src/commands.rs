//! One file per command: gather, compute, describe.

pub mod check_timeouts;
pub mod examples;
pub mod explain;
pub mod gather;
pub mod init;
pub mod plan_concurrency;
pub mod show_models;
pub mod show_policy;
pub mod show_quotas;
pub mod show_usage;
pub mod snapshot;

#[cfg(feature = "live")]
pub mod live;

use std::path::PathBuf;

use crate::cli::{CheckCommand, Cli, Colour, Command, Format, PlanCommand, ShowCommand};
use crate::engine::finding::Finding;
use crate::engine::problem::Problems;
use crate::engine::rules::RULES;
use crate::exit::Exit;
use crate::report::document::{Document, Texts};
use crate::report::{github, json, junit, markdown, sarif, snippet, terminal};
use crate::sources::models::ModelsError;
use crate::sources::text_file;
use crate::sources::workload::WorkloadError;

/// What a command may know of the world around it, read once in `main`.
#[derive(Clone, Debug)]
pub struct World {
    /// Columns of the terminal on standard output, if it is one.
    pub terminal: Option<usize>,
    pub no_color: bool,
    /// Columns and colour of standard error.
    pub errors_to_terminal: bool,
    /// Where quota codes may be kept.
    pub cache_folder: Option<PathBuf>,
    /// Seconds since the Unix epoch.
    pub now: i64,
}

/// What a command answers: one document and its JSON view; the exit code never depends on the format.
#[derive(Debug)]
pub struct Report {
    pub document: Document,
    pub json: serde_json::Value,
    pub exit: Exit,
    /// A file's text instead of a report: it is written as it is, in every format.
    pub raw: Option<String>,
    /// What SARIF, JUnit and annotations are made of.
    pub findings: Option<Findings>,
}

/// Findings, with what reports need to show them.
#[derive(Debug, Default)]
pub struct Findings {
    pub list: Vec<Finding>,
    pub texts: Texts,
    /// Files that were checked, with the number of chains in each.
    pub checked: Vec<(String, usize)>,
}

impl Report {
    fn new(document: Document, json: serde_json::Value, exit: Exit) -> Self {
        Self { document, json, exit, raw: None, findings: None }
    }

    fn raw(text: String) -> Self {
        Self::new(Document::default(), serde_json::Value::Null, Exit::Done).with_raw(text)
    }

    fn with_raw(self, text: String) -> Self {
        Self { raw: Some(text), ..self }
    }
}

/// Text for standard output, and how the run ended.
#[derive(Debug, PartialEq, Eq)]
pub struct Output {
    pub text: String,
    pub exit: Exit,
}

/// An error with something to try; shown as `hint:`.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub struct Hinted {
    pub message: String,
    pub hint: String,
}

fn hinted(message: impl Into<String>, hint: impl Into<String>) -> anyhow::Error {
    Hinted { message: message.into(), hint: hint.into() }.into()
}

/// Runs a command and renders what it answers.
///
/// # Errors
/// Where it could not be done.
pub fn run(cli: &Cli, world: &World) -> anyhow::Result<Output> {
    let report = answer(&cli.command, world)?;
    let to_file = cli.output.output.is_some();
    let colour = colour(cli.output.color, world.terminal.is_some() && !to_file, world);
    let width = cli.output.width.or(world.terminal).unwrap_or(80);
    let text = match (&report.raw, cli.output.format, &report.findings) {
        (Some(raw), ..) => raw.clone(),
        (None, Format::Terminal, _) => terminal::render(&report.document, width, colour),
        (None, Format::Json, _) => json::render(&report.json),
        (None, Format::Markdown, _) => markdown::render(&report.document),
        (None, Format::Sarif, Some(findings)) => sarif::render(&findings.list, RULES, &|path| findings.texts.get(path)),
        (None, Format::Junit, Some(findings)) => junit::render(&findings.list, &findings.checked),
        (None, Format::Github, Some(findings)) => github::render(&findings.list, &|path| findings.texts.get(path)),
        (None, Format::Sarif | Format::Junit | Format::Github, None) => {
            return Err(hinted("this format is for findings, and this command has none", "use `--format json`"));
        }
    };
    let text = match &cli.output.output {
        Some(path) => {
            text_file::write(path, &text)?;
            String::new()
        }
        None => text,
    };
    Ok(Output { text, exit: report.exit })
}

fn answer(command: &Command, world: &World) -> anyhow::Result<Report> {
    match command {
        Command::Plan(PlanCommand::Concurrency(args)) => plan_concurrency::run(args, world),
        Command::Check(CheckCommand::Timeouts(args)) => check_timeouts::run(args, world),
        Command::Explain(args) => explain::run(args),
        Command::Show(ShowCommand::Quotas(args)) => show_quotas::run(args, world),
        Command::Show(ShowCommand::Usage(args)) => show_usage::run(args, world),
        Command::Show(ShowCommand::Models(args)) => show_models::run(args),
        Command::Show(ShowCommand::Policy) => Ok(show_policy::run()),
        Command::Show(ShowCommand::Examples(args)) => examples::run(args),
        Command::Snapshot(args) => snapshot::run(args, world),
        Command::Init(args) => init::run(args, world),
    }
}

fn colour(said: Colour, terminal: bool, world: &World) -> bool {
    match said {
        Colour::Always => true,
        Colour::Never => false,
        Colour::Auto => terminal && !world.no_color,
    }
}

/// An error for standard error: `error:`, each cause on its own line, then `hint:`.
pub fn render_error(error: &anyhow::Error, said: Colour, world: &World) -> String {
    let colour = colour(said, world.errors_to_terminal, world);
    if let Some(problems) = problems(error) {
        return format!("{}\n", snippet::render(problems, terminal::WIDEST, colour));
    }
    let mut out = format!("error: {error}\n");
    let mut said = error.to_string();
    for cause in error.chain().skip(1) {
        // A transparent error repeats its cause's text.
        let text = cause.to_string();
        if !said.contains(&text) {
            out.push_str(&format!("  because: {text}\n"));
            said.push_str(&text);
        }
    }
    if let Some(hint) = hint(error) {
        out.push_str(&format!("\nhint: {hint}\n"));
    }
    out
}

/// The mistakes of a file that a user wrote. The errors around them are transparent, and so not causes of their own.
fn problems(error: &anyhow::Error) -> Option<&Problems> {
    error.chain().find_map(|cause| match (cause.downcast_ref::<WorkloadError>(), cause.downcast_ref::<ModelsError>()) {
        (Some(WorkloadError::Wrong(problems)), _) | (_, Some(ModelsError::Wrong(problems))) => Some(problems),
        _ => None,
    })
}

fn hint(error: &anyhow::Error) -> Option<String> {
    error.chain().find_map(|cause| {
        if let Some(hinted) = cause.downcast_ref::<Hinted>() {
            return Some(hinted.hint.clone());
        }
        if let Some(identity) = cause.downcast_ref::<crate::engine::identity::IdentityError>() {
            return identity.hint().map(str::to_owned);
        }
        #[cfg(feature = "live")]
        if let Some(aws) = cause.downcast_ref::<crate::sources::aws::AwsError>() {
            return Some(aws.hint());
        }
        None
    })
}
