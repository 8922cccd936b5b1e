//! forebay: a capacity planner for Amazon Bedrock workloads.
//!
//! ```text
//! main ──► commands ──► sources ──► engine
//!               └─────► report ───────┘
//! cli: clap only; read by commands
//! ```
//!
//! - [`engine`]: the domain, pure. Values are [`Fact`](engine::fact::Fact)s: a number and where it came from. A
//!   [`Workload`](engine::workload::Workload) is one pipeline, a [`Snapshot`](engine::snapshot::Snapshot) what AWS said at
//!   one moment, a [`Plan`](engine::concurrency::Plan) the least of what each limit allows.
//! - [`sources`]: files and AWS, read into engine types.
//! - [`report`]: a [`Document`](report::document::Document) in each format.
//! - [`commands`]: gather, compute, describe; one file each.

pub mod cli;
pub mod commands;
pub mod engine;
pub mod exit;
pub mod report;
pub mod sources;
