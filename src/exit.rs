//! The exit codes, all of them.

use std::process::ExitCode;

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// 0: done.
    Done,
    /// 1: done, and the plan misses its target or there are findings at or above `--fail-on`.
    Missed,
    /// 2: wrong usage, or it could not be done.
    Failed,
    /// 3: nothing to check was found.
    Nothing,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(match exit {
            Exit::Done => 0,
            Exit::Missed => 1,
            Exit::Failed => 2,
            Exit::Nothing => 3,
        })
    }
}
