//! Integration tests: the library's public face, and the program as a user runs it.

mod quota_names;
