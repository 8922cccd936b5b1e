//! Infrastructure as code: each dialect's reader turns files into a [`Deployment`].

use crate::engine::deployment::Deployment;
use crate::engine::fact::Place;

pub mod cloudformation;
pub mod pulumi;
pub mod serverless;
pub mod terraform;
pub mod text;
pub mod value;

/// What one or more files say.
#[derive(Debug, Default)]
pub struct Read {
    pub deployment: Deployment,
    /// Files that could not be read, or parts of them.
    pub unreadable: Vec<Unreadable>,
}

/// Why a file was not read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unreadable {
    pub place: Place,
    /// Lower case, without a final period.
    pub message: String,
}

/// Values that the command line gives: `--parameter`, `--var` and the files of both, later ones over earlier ones.
#[derive(Clone, Debug, Default)]
pub struct Given {
    /// CloudFormation parameters and Serverless options: name, value, and the flag as typed.
    pub parameters: Vec<(String, String)>,
    /// Terraform variables as typed: name and the text after `=`.
    pub variables: Vec<(String, String)>,
    /// Terraform variable files.
    pub variable_files: Vec<text::File>,
}
