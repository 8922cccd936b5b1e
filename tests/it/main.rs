//! Integration tests: the library's public face, and the program as a user runs it.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

#[cfg(feature = "live")]
mod account;
#[cfg(feature = "live")]
mod deployed;
mod docs;
#[cfg(feature = "live")]
mod emulators;
mod layers;
#[cfg(feature = "live")]
mod live;
mod offline;
mod plan_properties;
mod program;
mod quota_names;
mod rules;
mod sarif;
mod timeouts;
mod vectors;
