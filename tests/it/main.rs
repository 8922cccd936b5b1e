//! Integration tests: the library's public face, and the program as a user runs it.

mod program;
mod quota_names;
mod vectors;
