//! The flags of `check` and `explain`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::{AwsArgs, Window};

/// What to check, and how strictly.
#[derive(Debug, Args)]
pub struct CheckTimeoutsArgs {
    /// Templates, source files and folders; `-` for standard input. Folders are walked, without what git ignores.
    #[arg(value_name = "PATH")]
    pub paths: Vec<PathBuf>,
    /// A CloudFormation parameter or a Serverless option; may stand several times.
    #[arg(long, value_name = "NAME=VALUE", value_parser = super::parse_assignment, help_heading = "Templates")]
    pub parameter: Vec<(String, String)>,
    /// A file of CloudFormation parameters, as the AWS CLI takes it.
    #[arg(long, value_name = "FILE", help_heading = "Templates")]
    pub parameter_file: Vec<PathBuf>,
    /// A Terraform variable; may stand several times.
    #[arg(long, value_name = "NAME=VALUE", value_parser = super::parse_assignment, help_heading = "Templates")]
    pub var: Vec<(String, String)>,
    /// A file of Terraform variables.
    #[arg(long, value_name = "FILE", help_heading = "Templates")]
    pub var_file: Vec<PathBuf>,
    /// Source of the function, where the template does not lead to it; a file or a folder.
    #[arg(long, value_name = "PATH", help_heading = "Templates")]
    pub source: Vec<PathBuf>,
    /// The slowest call: 70s. Without it the workload's, or the highest latency that CloudWatch or a snapshot has.
    #[arg(long, value_name = "TIME", value_parser = super::parse_latency, help_heading = "Call")]
    pub slowest_call: Option<f64>,
    /// Calls that one worker makes at the same time, over what its source shows.
    #[arg(long, value_name = "N", value_parser = super::parse_count, help_heading = "Call")]
    pub parallel_calls: Option<f64>,
    /// Calls of one message.
    #[arg(long, value_name = "N", value_parser = super::parse_positive, help_heading = "Call")]
    pub calls_per_message: Option<f64>,
    /// Work per message outside the call.
    #[arg(long, value_name = "TIME", value_parser = super::parse_overhead, help_heading = "Call")]
    pub overhead: Option<f64>,
    /// A workload file: its slowest call, its plan, and where no path is given its pipeline.
    #[arg(long, value_name = "FILE", help_heading = "Call")]
    pub workload: Option<PathBuf>,
    #[command(flatten)]
    pub chain: ChainArgs,
    #[command(flatten)]
    pub findings: FindingArgs,
    /// Ask Lambda and SQS what is deployed, read only: with paths it is compared with them, and without it is checked.
    #[arg(long, help_heading = "Live", conflicts_with_all = ["offline", "snapshot"])]
    pub live: bool,
    /// A deployed function, by name or ARN; may stand several times.
    #[arg(long, value_name = "NAME", help_heading = "Live", requires = "live")]
    pub function: Vec<String>,
    /// A deployed queue, by name, URL or ARN; may stand several times.
    #[arg(long, value_name = "NAME", help_heading = "Live", requires = "live")]
    pub queue: Vec<String>,
    /// A CloudFormation stack, whose functions carry its name as a tag; may stand several times.
    #[arg(long, value_name = "NAME", help_heading = "Live", requires = "live")]
    pub stack: Vec<String>,
    /// The Region that is asked.
    #[arg(long, value_name = "REGION", help_heading = "Live")]
    pub region: Option<String>,
    /// Model profiles of your own over the embedded ones.
    #[arg(long, value_name = "FILE")]
    pub models: Option<PathBuf>,
    /// How far back metrics go, where the slowest call comes from them.
    #[arg(long, value_name = "TIME", default_value = "14d", value_parser = super::parse_window, help_heading = "AWS")]
    pub window: Window,
    #[command(flatten)]
    pub aws: AwsArgs,
}

/// One chain by flags, without any file.
#[derive(Debug, Default, Args)]
#[command(next_help_heading = "Chain, without files")]
pub struct ChainArgs {
    /// Visibility timeout of the queue.
    #[arg(long, value_name = "TIME", value_parser = super::parse_overhead)]
    pub visibility: Option<f64>,
    /// Timeout of the function.
    #[arg(long, value_name = "TIME", value_parser = super::parse_latency)]
    pub lambda: Option<f64>,
    /// Read timeout of the model client.
    #[arg(long, value_name = "TIME", value_parser = super::parse_latency)]
    pub read: Option<f64>,
    /// Attempts of the client, the first one counted.
    #[arg(long, value_name = "N", value_parser = super::parse_count)]
    pub attempts: Option<f64>,
    /// Messages that one invocation receives.
    #[arg(long, value_name = "N", value_parser = super::parse_count)]
    pub batch_size: Option<f64>,
    /// How long the mapping waits for a full batch.
    #[arg(long, value_name = "TIME", value_parser = super::parse_overhead)]
    pub batch_window: Option<f64>,
    /// MaximumConcurrency of the mapping.
    #[arg(long, value_name = "N", value_parser = super::parse_count)]
    pub maximum_concurrency: Option<f64>,
    /// Reserved concurrency of the function.
    #[arg(long, value_name = "N", value_parser = super::parse_amount)]
    pub reserved_concurrency: Option<f64>,
    /// Receives before a message goes to the dead-letter queue.
    #[arg(long, value_name = "N", value_parser = super::parse_count)]
    pub max_receive_count: Option<f64>,
}

/// Which findings count.
#[derive(Debug, Args)]
#[command(next_help_heading = "Findings")]
pub struct FindingArgs {
    /// Leave a rule's findings out; may stand several times.
    #[arg(long, value_name = "RULE")]
    pub allow: Vec<String>,
    /// Report a rule's findings as warnings.
    #[arg(long, value_name = "RULE")]
    pub warn: Vec<String>,
    /// Report a rule's findings as errors.
    #[arg(long, value_name = "RULE")]
    pub deny: Vec<String>,
    /// The least severity that makes the run fail with exit code 1.
    #[arg(long, value_enum, value_name = "SEVERITY", default_value_t = FailOn::Error)]
    pub fail_on: FailOn,
    /// Leave out findings that this file lists: for stacks that are old already.
    #[arg(long, value_name = "FILE")]
    pub baseline: Option<PathBuf>,
    /// Write the findings of this run to a baseline file.
    #[arg(long, value_name = "FILE", conflicts_with = "baseline")]
    pub write_baseline: Option<PathBuf>,
    /// Print a unified diff that mends what literals in templates can mend, instead of the report.
    #[arg(long)]
    pub fix: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum FailOn {
    Error,
    Warning,
    Note,
    Never,
}

#[derive(Debug, Args)]
pub struct ExplainArgs {
    /// The rule's id: visibility-below-function-timeout.
    #[arg(value_name = "RULE")]
    pub rule: Option<String>,
}
