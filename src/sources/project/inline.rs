//! Source code inside a template.

use std::sync::Arc;

use super::Project;
use crate::engine::deployment::{CodeRef, SourceFacts};
use crate::engine::fact::Place;
use crate::sources::code;
use crate::sources::iac::text::File;

impl Project {
    /// Source that stands in the template: read by itself, and its places moved to where it stands.
    pub(super) fn read_inline(&self, code: &CodeRef) -> Option<SourceFacts> {
        let inline = code.inline.as_ref()?;
        let ending = match code.runtime.as_deref().unwrap_or_default() {
            runtime if runtime.starts_with("python") => "py",
            runtime if runtime.starts_with("nodejs") => "js",
            _ => return None,
        };
        let entry = format!("{}#inline.{ending}", inline.place.path);
        let text: Arc<str> = Arc::from(inline.text.as_str());
        let mut facts = code::read(&entry, &|path| (path == entry).then(|| Arc::clone(&text)))?;
        let template = File::new(&inline.place.path, &self.load(&inline.place.path)?);
        facts.move_places(&|place| inline_place(&template, &inline.place, &inline.text, place));
        Some(facts)
    }
}

/// Where a place of inline source stands in its template. In a block each line of the source is a line of the template, moved
/// to the right; of source in quotes only the whole has a place.
fn inline_place(template: &File, scalar: &Place, text: &str, place: &Place) -> Place {
    let first = text.lines().position(|line| !line.trim().is_empty());
    let found = first.and_then(|first| {
        let wanted = text.lines().nth(first)?;
        // The block begins on the scalar's line or one of the next two.
        let begin = (scalar.line..scalar.line + 3)
            .find(|line| template.line(*line).is_some_and(|line| line.trim() == wanted.trim()))?;
        let indent = template.line(begin)?.find(wanted.trim())?.checked_sub(wanted.find(wanted.trim())?)?;
        let line = (begin + place.line).checked_sub(1 + first)?;
        let start = template.line_start(line)? + indent + place.column - 1;
        Some(template.place(&(start..start + (place.end - place.start))))
    });
    found.unwrap_or_else(|| scalar.clone())
}
