//! Paths as files name them: with `/`, on every system.

/// Goes from a folder, given by its parts, along a path. `.` stays, and `..` goes up as far as there are parts to leave.
pub(crate) fn follow<'p>(parts: &mut Vec<&'p str>, path: &'p str) {
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." if parts.last().is_some_and(|last| *last != "..") => {
                parts.pop();
            }
            part => parts.push(part),
        }
    }
}
