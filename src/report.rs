//! Turning results into text. Nothing here reads a file, knows AWS or computes a plan.

pub mod chain;
pub mod diff;
pub mod document;
pub mod findings;
pub mod fingerprint;
pub mod github;
pub mod json;
pub mod junit;
pub mod markdown;
pub mod number;
mod place;
pub mod sarif;
pub mod schema;
pub mod snippet;
pub mod terminal;
