//! Reading and writing whole text files, with errors that name them.

use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};

/// Why a file could not be read.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    #[error("cannot read `{}`", path.display())]
    Io { path: PathBuf, source: std::io::Error },
    #[error("`{}` is not UTF-8 text (byte {at})", path.display())]
    NotText { path: PathBuf, at: usize },
    #[error("there is no example `{name}`; there are {}", known.join(", "))]
    NoExample { name: String, known: Vec<&'static str> },
}

/// Why a file could not be written.
#[derive(Debug, thiserror::Error)]
#[error("cannot write `{}`", path.display())]
pub struct WriteError {
    pub path: PathBuf,
    pub source: std::io::Error,
}

/// Reads a file, or standard input for `-`. A byte order mark is dropped.
///
/// # Errors
/// Where it cannot be read or is no text.
pub fn read(path: &Path) -> Result<String, ReadError> {
    let io = |source| ReadError::Io { path: path.to_owned(), source };
    let bytes = if path.as_os_str() == "-" {
        let mut bytes = Vec::new();
        std::io::stdin().lock().read_to_end(&mut bytes).map_err(io)?;
        bytes
    } else {
        std::fs::read(path).map_err(io)?
    };
    let text = String::from_utf8(bytes)
        .map_err(|error| ReadError::NotText { path: path.to_owned(), at: error.utf8_error().valid_up_to() })?;
    Ok(text.strip_prefix('\u{feff}').map(str::to_owned).unwrap_or(text))
}

/// Writes a file whole or not at all: into a new file beside it, which then takes its place.
///
/// # Errors
/// Where it cannot be written; what stood there before still stands.
pub fn write(path: &Path, text: &str) -> Result<(), WriteError> {
    let fail = |source| WriteError { path: path.to_owned(), source };
    let mut beside = path.as_os_str().to_owned();
    beside.push(format!(".{}.new", std::process::id()));
    let beside = PathBuf::from(beside);
    let written = std::fs::File::create(&beside)
        .and_then(|mut file| {
            file.write_all(text.as_bytes())?;
            file.sync_all()
        })
        .and_then(|()| std::fs::rename(&beside, path));
    written.map_err(|source| {
        // The error that counts is the first; a leftover that cannot be removed changes nothing.
        let _ = std::fs::remove_file(&beside);
        fail(source)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_byte_order_mark_is_dropped_and_bad_bytes_are_named() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("f");
        std::fs::write(&path, b"\xef\xbb\xbfschema: 1").unwrap();
        assert_eq!(read(&path).unwrap(), "schema: 1");
        std::fs::write(&path, b"ab\xff").unwrap();
        assert!(matches!(read(&path), Err(ReadError::NotText { at: 2, .. })));
        assert!(matches!(read(&folder.path().join("none")), Err(ReadError::Io { .. })));
    }

    #[test]
    fn a_failed_write_leaves_nothing_behind() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("f");
        write(&path, "one").unwrap();
        write(&path, "two").unwrap();
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "two");
        assert!(write(&folder.path().join("no/such/folder"), "x").is_err());
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    }
}
