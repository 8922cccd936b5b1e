//! Every clap type. A doc comment is a flag's help text.

mod check;

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

pub use check::{ChainArgs, CheckTimeoutsArgs, ExplainArgs, FailOn, FindingArgs};

/// Capacity planner for Amazon Bedrock workloads.
///
/// Says how many model calls may be in flight before quotas throttle them, and what MaximumConcurrency to deploy. Every
/// number that it prints says where it came from.
#[derive(Debug, Parser)]
#[command(name = "forebay", version, propagate_version = true, arg_required_else_help = true)]
pub struct Cli {
    #[command(subcommand)]
    pub command: Command,
    #[command(flatten)]
    pub output: OutputArgs,
}

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Plan a workload: concurrency from quotas, latency and tokens.
    #[command(subcommand)]
    Plan(PlanCommand),
    /// Check what is deployed, or will be: the chain of timeouts from queue to model.
    #[command(subcommand)]
    Check(CheckCommand),
    /// Show what forebay sees and knows.
    #[command(subcommand)]
    Show(ShowCommand),
    /// Say why a rule exists and what to do, with numbers; without a rule, list them all.
    Explain(ExplainArgs),
    /// Save quotas and metrics of a Region in one file, for plans offline.
    Snapshot(Box<SnapshotArgs>),
    /// Write a commented workload file, from live data where there is any.
    Init(Box<InitArgs>),
}

#[derive(Debug, Subcommand)]
pub enum PlanCommand {
    /// The MaximumConcurrency to deploy, what limits it, and what goes with it.
    ///
    /// Inputs come from flags, then the workload file, then a snapshot or live AWS, then the model profile. AWS is only
    /// asked for what the others leave open.
    Concurrency(Box<PlanConcurrencyArgs>),
}

#[derive(Debug, Subcommand)]
pub enum CheckCommand {
    /// Visibility timeout > function timeout > read timeout x attempts > slowest call, and the settings around them.
    ///
    /// Reads CloudFormation, SAM, the CDK's output, Terraform (plans and HCL), the Serverless Framework, Pulumi previews, and
    /// the model client in the functions' source. What cannot be resolved is said, never guessed.
    Timeouts(Box<CheckTimeoutsArgs>),
}

#[derive(Debug, Subcommand)]
pub enum ShowCommand {
    /// Quotas of a model, or of all models of a Region.
    Quotas(Box<ShowQuotasArgs>),
    /// Traffic on a model's quota: latency, tokens, peaks, and what throttled minutes prove.
    Usage(Box<ShowUsageArgs>),
    /// What is known of the models: burndown, output limits, profiles, each with its source.
    Models(ShowModelsArgs),
    /// The least IAM policy that forebay needs.
    Policy,
    /// The embedded example workloads; with a name, its file.
    Examples(ShowExamplesArgs),
}

/// How output looks and where it goes.
#[derive(Debug, Args)]
pub struct OutputArgs {
    /// How the report is written.
    #[arg(long, global = true, value_enum, default_value_t = Format::Terminal, help_heading = "Output")]
    pub format: Format,
    /// Colour: `auto` follows the terminal and NO_COLOR.
    #[arg(long, global = true, value_enum, default_value_t = Colour::Auto, help_heading = "Output", alias = "colour")]
    pub color: Colour,
    /// Columns of the terminal report, 60 to 120; the terminal's own, or 80.
    #[arg(long, global = true, value_name = "COLUMNS", help_heading = "Output")]
    pub width: Option<usize>,
    /// Write the report to a file instead of standard output, whole or not at all.
    #[arg(long, short, global = true, value_name = "FILE", help_heading = "Output")]
    pub output: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Format {
    Terminal,
    Json,
    Markdown,
    /// SARIF 2.1.0, for code scanning; findings only.
    Sarif,
    /// JUnit XML, for test reports; findings only.
    Junit,
    /// GitHub's workflow annotations; findings only.
    Github,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Colour {
    Auto,
    Always,
    Never,
}

/// How to reach AWS.
#[derive(Debug, Default, Args)]
#[command(next_help_heading = "AWS")]
pub struct AwsArgs {
    /// Credentials profile of the shared AWS configuration.
    #[arg(long, value_name = "NAME")]
    pub profile: Option<String>,
    /// Where AWS answers, for all services; the SDK's own environment variables, one for each service, work too.
    #[arg(long, value_name = "URL")]
    pub endpoint_url: Option<String>,
    /// Attempts of each request, the first one counted.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=20))]
    pub aws_attempts: Option<u32>,
    /// Never use the network.
    #[arg(long, conflicts_with_all = ["profile", "endpoint_url", "aws_attempts", "refresh"])]
    pub offline: bool,
    /// Take what AWS would say from a snapshot file.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["profile", "endpoint_url", "aws_attempts", "refresh"])]
    pub snapshot: Option<PathBuf>,
    /// List the Region's quotas anew instead of using the codes kept from the last run.
    #[arg(long)]
    pub refresh: bool,
}

/// Which model, and how it is called.
#[derive(Debug, Default, Args)]
#[command(next_help_heading = "Model")]
pub struct ModelArgs {
    /// Model id, inference profile id or ARN, as the code passes it.
    #[arg(long, value_name = "ID")]
    pub model: Option<String>,
    /// The Region that the code calls.
    #[arg(long, value_name = "REGION")]
    pub region: Option<String>,
    /// Which endpoint takes the calls.
    #[arg(long, value_enum, value_name = "ENDPOINT")]
    pub endpoint: Option<EndpointArg>,
    /// The route that the id is expected to take; a contradiction is an error.
    #[arg(long, value_enum, value_name = "ROUTE")]
    pub route: Option<RouteArg>,
    /// Model profiles of your own over the embedded ones.
    #[arg(long, value_name = "FILE")]
    pub models: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum EndpointArg {
    BedrockRuntime,
    BedrockMantle,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum RouteArg {
    OnDemand,
    Geo,
    Global,
}

/// The metrics window.
#[derive(Debug, Args)]
#[command(next_help_heading = "Metrics")]
pub struct WindowArgs {
    /// How far back metrics go: 45m, 6h, 14d. One-minute peaks exist for the last 15 days.
    #[arg(long, value_name = "TIME", default_value = "14d", value_parser = parse_window)]
    pub window: Window,
    /// Print the AWS calls, the datapoints and the price, and ask nothing.
    #[arg(long, conflicts_with_all = ["offline", "snapshot"])]
    pub dry_run: bool,
    /// Price of 1,000 metrics requested, US dollars.
    #[arg(long, value_name = "USD", default_value_t = 0.01, value_parser = parse_amount)]
    pub metric_price: f64,
}

/// A window in minutes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window {
    pub minutes: i64,
}

/// The longest window: CloudWatch keeps nothing beyond 455 days.
const LONGEST_WINDOW_DAYS: i64 = 455;

fn parse_window(text: &str) -> Result<Window, String> {
    let minutes = parse_seconds(text)? / 60.0;
    if minutes < 1.0 || minutes.fract() != 0.0 {
        return Err("expected whole minutes, such as 45m, 6h or 14d".to_owned());
    }
    #[expect(clippy::cast_possible_truncation, reason = "bounded on the next line")]
    let minutes = minutes as i64;
    if minutes > LONGEST_WINDOW_DAYS * 1440 {
        return Err(format!("CloudWatch keeps metrics for {LONGEST_WINDOW_DAYS} days"));
    }
    Ok(Window { minutes })
}

/// `Name=value`; only the first `=` separates.
fn parse_assignment(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((name, value)) if !name.trim().is_empty() => Ok((name.trim().to_owned(), value.to_owned())),
        _ => Err("expected NAME=VALUE".to_owned()),
    }
}

/// Seconds of `4.5s`, `450ms`, `1m30s`, `14d`.
fn parse_seconds(text: &str) -> Result<f64, String> {
    let expected = || format!("expected a time with its unit, such as 4.5s, 450ms, 1m30s or 14d, not `{text}`");
    let mut rest = text.trim();
    if rest.is_empty() {
        return Err(expected());
    }
    let mut seconds = 0.0;
    while !rest.is_empty() {
        let number_ends = rest.find(|c: char| !c.is_ascii_digit() && c != '.').ok_or_else(expected)?;
        let number: f64 = rest[..number_ends].parse().map_err(|_| expected())?;
        rest = rest[number_ends..].trim_start();
        let unit_ends = rest.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(rest.len());
        let unit = match &rest[..unit_ends] {
            "ms" => 1e-3,
            "s" | "sec" => 1.0,
            "m" | "min" => 60.0,
            "h" => 3600.0,
            "d" => 86_400.0,
            _ => return Err(expected()),
        };
        seconds += number * unit;
        rest = rest[unit_ends..].trim_start();
    }
    Ok(seconds)
}

fn parse_latency(text: &str) -> Result<f64, String> {
    match parse_seconds(text)? {
        seconds if seconds > 0.0 => Ok(seconds),
        _ => Err("expected more than 0".to_owned()),
    }
}

fn parse_overhead(text: &str) -> Result<f64, String> {
    parse_seconds(text)
}

/// A number of 0 or more; commas and underscores may stand between thousands.
fn parse_amount(text: &str) -> Result<f64, String> {
    let digits: String = text.chars().filter(|c| !matches!(c, ',' | '_')).collect();
    match digits.parse::<f64>() {
        Ok(value) if value >= 0.0 && value.is_finite() => Ok(value),
        _ => Err(format!("expected a number of 0 or more, not `{text}`")),
    }
}

fn parse_positive(text: &str) -> Result<f64, String> {
    match parse_amount(text)? {
        value if value > 0.0 => Ok(value),
        _ => Err("expected more than 0".to_owned()),
    }
}

fn parse_count(text: &str) -> Result<f64, String> {
    match parse_amount(text)? {
        value if value >= 1.0 && value.fract() == 0.0 => Ok(value),
        _ => Err(format!("expected a whole number of 1 or more, not `{text}`")),
    }
}

fn parse_attempts(text: &str) -> Result<f64, String> {
    match parse_amount(text)? {
        value if value >= 1.0 => Ok(value),
        _ => Err("expected 1 or more: the first attempt counts".to_owned()),
    }
}

fn parse_share(text: &str) -> Result<f64, String> {
    let value = match text.strip_suffix('%') {
        Some(percent) => parse_amount(percent.trim())? / 100.0,
        None => parse_amount(text)?,
    };
    if value < 1.0 { Ok(value) } else { Err(format!("expected a share below 1, such as 0.2 or 20%, not `{text}`")) }
}

fn parse_chance(text: &str) -> Result<f64, String> {
    match parse_share(text)? {
        value if value > 0.0 && value <= 0.5 => Ok(value),
        _ => Err("expected a chance above 0 and up to a half, such as 0.01 or 1%".to_owned()),
    }
}

/// A quota, or `none`: the account has no such row.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct QuotaArg(pub Option<f64>);

fn parse_quota(text: &str) -> Result<QuotaArg, String> {
    if text.eq_ignore_ascii_case("none") {
        return Ok(QuotaArg(None));
    }
    parse_amount(text)
        .map(|value| QuotaArg(Some(value)))
        .map_err(|error| format!("{error}; or `none` where the account has no such quota"))
}

/// The workload by flags; each of them is a field of a workload file.
#[derive(Debug, Default, Args)]
pub struct WorkloadArgs {
    /// Workload file, `-` for standard input, or `example:NAME` (see `show examples`).
    #[arg(value_name = "WORKLOAD")]
    pub workload: Option<PathBuf>,
    #[command(flatten)]
    pub model: ModelArgs,
    /// Applied requests quota per minute; `none` where the account has no such row.
    #[arg(long, value_name = "N|none", value_parser = parse_quota, help_heading = "Quotas", conflicts_with_all = ["input_tpm", "output_tpm"])]
    pub rpm: Option<QuotaArg>,
    /// Applied tokens quota per minute; `none` where the account has no such row.
    #[arg(long, value_name = "N|none", value_parser = parse_quota, help_heading = "Quotas", conflicts_with_all = ["input_tpm", "output_tpm"])]
    pub tpm: Option<QuotaArg>,
    /// Input tokens quota per minute of bedrock-mantle.
    #[arg(long, value_name = "N|none", value_parser = parse_quota, help_heading = "Quotas")]
    pub input_tpm: Option<QuotaArg>,
    /// Output tokens quota per minute of bedrock-mantle.
    #[arg(long, value_name = "N|none", value_parser = parse_quota, help_heading = "Quotas")]
    pub output_tpm: Option<QuotaArg>,
    /// Mean latency of one call: 4.5s, 450ms.
    #[arg(long, value_name = "TIME", value_parser = parse_latency, help_heading = "Call")]
    pub latency: Option<f64>,
    /// Its 99th percentile.
    #[arg(long, value_name = "TIME", value_parser = parse_latency, help_heading = "Call")]
    pub latency_p99: Option<f64>,
    /// The slowest call.
    #[arg(long, value_name = "TIME", value_parser = parse_latency, help_heading = "Call")]
    pub latency_max: Option<f64>,
    /// Mean input tokens of one call, without cache reads and writes.
    #[arg(long, value_name = "N", value_parser = parse_amount, help_heading = "Call")]
    pub input_tokens: Option<f64>,
    /// Their 99th percentile.
    #[arg(long, value_name = "N", value_parser = parse_amount, help_heading = "Call")]
    pub input_tokens_p99: Option<f64>,
    /// Mean tokens written to the prompt cache.
    #[arg(long, value_name = "N", value_parser = parse_amount, help_heading = "Call")]
    pub cache_write_tokens: Option<f64>,
    /// Mean tokens read from the prompt cache.
    #[arg(long, value_name = "N", value_parser = parse_amount, help_heading = "Call")]
    pub cache_read_tokens: Option<f64>,
    /// Mean output tokens of one call.
    #[arg(long, value_name = "N", value_parser = parse_amount, help_heading = "Call")]
    pub output_tokens: Option<f64>,
    /// Their 99th percentile.
    #[arg(long, value_name = "N", value_parser = parse_amount, help_heading = "Call")]
    pub output_tokens_p99: Option<f64>,
    /// The output limit of the call; unset, the model's maximum is reserved.
    #[arg(long, value_name = "N", value_parser = parse_count, help_heading = "Call")]
    pub max_tokens: Option<f64>,
    /// Quota tokens per output token, over the model profile.
    #[arg(long, value_name = "N", value_parser = parse_positive, help_heading = "Call")]
    pub burndown: Option<f64>,
    /// Messages that one invocation receives.
    #[arg(long, value_name = "N", value_parser = parse_count, help_heading = "Worker")]
    pub batch_size: Option<f64>,
    /// Calls that one worker makes at the same time.
    #[arg(long, value_name = "N", value_parser = parse_count, help_heading = "Worker")]
    pub parallel_calls: Option<f64>,
    /// Calls of one message: more than 1 for a tool loop.
    #[arg(long, value_name = "N", value_parser = parse_positive, help_heading = "Worker")]
    pub calls_per_message: Option<f64>,
    /// Mean attempts of one call, retries counted.
    #[arg(long, value_name = "N", value_parser = parse_attempts, help_heading = "Worker")]
    pub attempts_per_call: Option<f64>,
    /// Work per message outside the call.
    #[arg(long, value_name = "TIME", value_parser = parse_overhead, help_heading = "Worker")]
    pub overhead: Option<f64>,
}

#[derive(Debug, Args)]
pub struct PlanConcurrencyArgs {
    #[command(flatten)]
    pub workload: WorkloadArgs,
    /// Share of each quota that the plan leaves unused: 0.2 or 20%.
    #[arg(long, value_name = "SHARE", value_parser = parse_share, help_heading = "Policy")]
    pub headroom: Option<f64>,
    /// Accepted chance that a minute exceeds the quota, instead of headroom.
    #[arg(long, value_name = "CHANCE", value_parser = parse_chance, help_heading = "Policy", conflicts_with = "headroom")]
    pub throttle_risk: Option<f64>,
    /// Whether all workers may start in one minute.
    #[arg(long, value_enum, value_name = "START", help_heading = "Policy")]
    pub start: Option<StartArg>,
    /// Requests per minute that other traffic on the quota needs.
    #[arg(long, value_name = "N", value_parser = parse_amount, help_heading = "Policy")]
    pub others_rpm: Option<f64>,
    /// Tokens per minute that other traffic on the quota needs; on bedrock-mantle, input tokens.
    #[arg(long, value_name = "N", value_parser = parse_amount, help_heading = "Policy")]
    pub others_tpm: Option<f64>,
    /// Output tokens per minute that other traffic needs, on bedrock-mantle.
    #[arg(long, value_name = "N", value_parser = parse_amount, help_heading = "Policy")]
    pub others_output_tpm: Option<f64>,
    /// Calls in flight that a load test carried.
    #[arg(long, value_name = "N", value_parser = parse_count, help_heading = "Policy")]
    pub tested_in_flight: Option<f64>,
    /// Count cache reads on admission: sources disagree whether they are.
    #[arg(long, help_heading = "Policy")]
    pub reserve_cache_reads: bool,
    /// Plan on what throttled minutes really got, where that is below the applied quota.
    #[arg(long, help_heading = "Policy")]
    pub use_observed_ceiling: bool,
    /// Messages that arrive per minute: the plan says whether it keeps up.
    #[arg(long, value_name = "N", value_parser = parse_amount, help_heading = "Traffic")]
    pub arrivals: Option<f64>,
    /// Messages that wait: the plan says how long they take.
    #[arg(long, value_name = "N", value_parser = parse_amount, help_heading = "Traffic")]
    pub backlog: Option<f64>,
    #[command(flatten)]
    pub window: WindowArgs,
    #[command(flatten)]
    pub aws: AwsArgs,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum StartArg {
    Burst,
    Steady,
}

#[derive(Debug, Args)]
pub struct ShowQuotasArgs {
    /// A workload file whose model is meant.
    #[arg(value_name = "WORKLOAD", conflicts_with = "model")]
    pub workload: Option<PathBuf>,
    #[command(flatten)]
    pub model: ModelArgs,
    #[command(flatten)]
    pub aws: AwsArgs,
}

#[derive(Debug, Args)]
pub struct ShowUsageArgs {
    /// A workload file whose model is meant.
    #[arg(value_name = "WORKLOAD", conflicts_with = "model")]
    pub workload: Option<PathBuf>,
    #[command(flatten)]
    pub model: ModelArgs,
    #[command(flatten)]
    pub window: WindowArgs,
    #[command(flatten)]
    pub aws: AwsArgs,
}

#[derive(Debug, Args)]
pub struct ShowModelsArgs {
    /// Only ids that contain this.
    #[arg(value_name = "TEXT")]
    pub filter: Option<String>,
    /// Model profiles of your own over the embedded ones.
    #[arg(long, value_name = "FILE")]
    pub models: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub struct ShowExamplesArgs {
    /// The example whose file is printed.
    #[arg(value_name = "NAME")]
    pub name: Option<String>,
}

#[derive(Debug, Args)]
pub struct SnapshotArgs {
    /// Workload files whose models' metrics are saved too.
    #[arg(value_name = "WORKLOAD")]
    pub workloads: Vec<PathBuf>,
    /// Models whose metrics are saved too; may stand several times.
    #[arg(long, value_name = "ID")]
    pub model: Vec<String>,
    /// The Region; the workloads' own, or that of the environment.
    #[arg(long, value_name = "REGION")]
    pub region: Option<String>,
    /// Model profiles of your own over the embedded ones.
    #[arg(long, value_name = "FILE")]
    pub models: Option<PathBuf>,
    #[command(flatten)]
    pub window: WindowArgs,
    #[command(flatten)]
    pub aws: AwsArgs,
}

#[derive(Debug, Args)]
pub struct InitArgs {
    /// What reports call the workload.
    #[arg(long, value_name = "NAME", default_value = "my-workload")]
    pub name: String,
    #[command(flatten)]
    pub model: ModelArgs,
    #[command(flatten)]
    pub window: WindowArgs,
    #[command(flatten)]
    pub aws: AwsArgs,
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn times_need_their_unit() {
        for (text, seconds) in [("4.5s", 4.5), ("450ms", 0.45), ("1m30s", 90.0), ("2h 5m", 7500.0), ("14d", 1_209_600.0)] {
            assert_eq!(parse_seconds(text), Ok(seconds), "{text}");
        }
        for text in ["4.5", "", "s", "4x", "4s5", "-4s"] {
            assert!(parse_seconds(text).is_err(), "{text}");
        }
        assert_eq!(parse_window("14d"), Ok(Window { minutes: 20_160 }));
        assert!(parse_window("90s").is_err() && parse_window("456d").is_err());
    }

    #[test]
    fn shares_and_amounts() {
        assert_eq!(parse_share("20%"), Ok(0.2));
        assert_eq!(parse_share("0.2"), Ok(0.2));
        assert!(parse_share("20").is_err() && parse_share("-0.1").is_err());
        assert_eq!(parse_amount("200,000"), Ok(200_000.0));
        assert!(parse_amount("nan").is_err() && parse_amount("inf").is_err() && parse_amount("-1").is_err());
        assert_eq!(parse_quota("none"), Ok(QuotaArg(None)));
        assert!(parse_count("0").is_err() && parse_count("1.5").is_err());
    }
}
