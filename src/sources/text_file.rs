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

/// Writes a file whole or not at all: into a new file beside it, which then takes its place. A link stays one, and what it
/// points to is written; what is no regular file (a pipe, a device) is written into, for nothing may take its place.
///
/// # Errors
/// Where it cannot be written; what stood there before still stands.
pub fn write(path: &Path, text: &str) -> Result<(), WriteError> {
    let fail = |source| WriteError { path: path.to_owned(), source };
    let existing = std::fs::metadata(path).ok();
    if existing.as_ref().is_some_and(|existing| !existing.is_file() && !existing.is_dir()) {
        let opened = std::fs::OpenOptions::new().write(true).open(path);
        return opened.and_then(|mut file| file.write_all(text.as_bytes())).map_err(fail);
    }
    let target = std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let mut beside = target.as_os_str().to_owned();
    beside.push(format!(".{}.new", std::process::id()));
    let beside = PathBuf::from(beside);
    let written = std::fs::File::create(&beside)
        .and_then(|mut file| {
            file.write_all(text.as_bytes())?;
            if let Some(existing) = &existing {
                file.set_permissions(existing.permissions())?;
            }
            file.sync_all()
        })
        .and_then(|()| std::fs::rename(&beside, &target));
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

    #[cfg(unix)]
    #[test]
    fn links_and_devices_stay_what_they_are() {
        use std::os::unix::fs::{FileTypeExt as _, PermissionsExt as _};
        let folder = tempfile::tempdir().unwrap();
        let (file, link) = (folder.path().join("f"), folder.path().join("l"));
        std::fs::write(&file, "old").unwrap();
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o600)).unwrap();
        std::os::unix::fs::symlink(&file, &link).unwrap();
        write(&link, "new").unwrap();
        assert!(std::fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(std::fs::read_to_string(&file).unwrap(), "new");
        assert_eq!(std::fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
        // Through a link, so that a mistake here would replace the link and not the machine's device.
        let null = folder.path().join("null");
        std::os::unix::fs::symlink("/dev/null", &null).unwrap();
        write(&null, "gone").unwrap();
        assert!(std::fs::symlink_metadata(&null).unwrap().is_symlink());
        assert!(std::fs::metadata("/dev/null").unwrap().file_type().is_char_device());
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
