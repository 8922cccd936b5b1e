pub mod engine;
pub mod sources;
