//! The domain, pure: no clock, no randomness but a seed, no files, no AWS, no printing.

pub mod accounting;
pub mod advice;
pub mod chain;
pub mod concurrency;
pub mod deployment;
pub mod drift;
pub mod dry_run;
pub mod fact;
pub mod finding;
pub mod identity;
pub mod inputs;
pub mod model_id;
pub mod model_profile;
pub mod observed;
pub mod problem;
pub mod quota_match;
pub mod quota_name;
pub mod rules;
pub mod snapshot;
pub mod stats;
pub mod suggestion;
pub mod suppress;
pub mod usage;
pub mod workload;
