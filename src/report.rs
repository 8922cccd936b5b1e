//! Turning results into text. Nothing here reads a file, knows AWS or computes a plan.

pub mod document;
pub mod json;
pub mod markdown;
pub mod number;
pub mod schema;
pub mod snippet;
pub mod terminal;
