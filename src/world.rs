//! The only place that looks at the process's surroundings: clock, environment, terminal, standard streams.

use std::io::{ErrorKind, IsTerminal as _, Write as _, stderr, stdout};
use std::path::PathBuf;

use forebay::commands::World;

#[expect(clippy::disallowed_methods, reason = "this is where the surroundings are read")]
pub(crate) fn read() -> World {
    let variable = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
    let cache_folder =
        variable("XDG_CACHE_HOME").map(PathBuf::from).or_else(|| Some(PathBuf::from(variable("HOME")?).join(".cache")));
    World {
        terminal: stdout().is_terminal().then(columns),
        no_color: variable("NO_COLOR").is_some(),
        errors_to_terminal: stderr().is_terminal(),
        cache_folder: cache_folder.map(|folder| folder.join("forebay")),
        now: jiff::Timestamp::now().as_second(),
    }
}

fn columns() -> usize {
    terminal_size::terminal_size().map_or(80, |(width, _)| usize::from(width.0))
}

/// Writes to standard output. A pipe that was closed by its reader is success: the reader has what it wanted.
pub(crate) fn write(text: &str) -> Result<(), ()> {
    let mut out = stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Ok(()) => Ok(()),
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        Err(error) => {
            complain(&format!("error: cannot write to standard output\n  because: {error}\n"));
            Err(())
        }
    }
}

/// Writes to standard error; where that fails too there is nobody to tell.
pub(crate) fn complain(text: &str) {
    let _ = stderr().lock().write_all(text.as_bytes());
}
