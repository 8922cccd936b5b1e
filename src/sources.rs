//! Where values come from: files and AWS. Everything here ends in engine types.

#[cfg(feature = "live")]
pub mod aws;
pub mod code;
pub mod iac;
pub mod models;
pub(crate) mod path;
pub mod project;
pub mod snapshot_file;
pub mod text_file;
pub mod tree;
pub mod workload;
