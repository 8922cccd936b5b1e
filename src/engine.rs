//! The domain, pure: no clock, no randomness but a seed, no files, no AWS, no printing.

pub mod accounting;
pub mod advice;
pub mod concurrency;
pub mod dry_run;
pub mod fact;
pub mod identity;
pub mod inputs;
pub mod model_id;
pub mod model_profile;
pub mod observed;
pub mod problem;
pub mod quota_match;
pub mod quota_name;
pub mod snapshot;
pub mod stats;
pub mod usage;
pub mod workload;
