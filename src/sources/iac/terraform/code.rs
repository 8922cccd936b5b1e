//! Where the source of a function may be.

use super::assemble::Links;
use super::folder::join;
use super::item::Item;
use super::value::Value;
use crate::engine::deployment::CodeRef;

/// Folders that may hold it, best first.
pub(super) fn of(item: &Item, links: &Links<'_>) -> Option<CodeRef> {
    let handler = item.text("handler").or_else(|| command(item))?;
    let mut folders = Vec::new();
    let mut add = |folder: String| {
        if !folders.contains(&folder) {
            folders.push(folder);
        }
    };
    if let Some(source) = item.get("source_path") {
        for path in source_paths(&source.value) {
            add(folder_of(&join(&item.base, &path)));
        }
    }
    if let Some(filename) = item.get("filename").or_else(|| item.get("local_existing_package")) {
        let archive = match &filename.value {
            Value::Reference(reference) => links.meant_by(reference).find(|(_, item)| is_archive(item)).map(|(_, item)| item),
            Value::Text(path) => ["data.archive_file", "archive_file"]
                .iter()
                .find_map(|kind| links.named(kind, path))
                .map(|(_, archive)| archive),
            _ => None,
        };
        if let Some(archive) = archive {
            if let Some(folder) = archive.text("source_dir") {
                add(join(&archive.base, &folder));
            }
            if let Some(file) = archive.text("source_file") {
                add(parent(&join(&archive.base, &file)));
            }
        }
        if let Value::Text(path) = &filename.value {
            let path = join(&item.base, path);
            // Packed from a folder of the same name, as a rule.
            if let Some((stem, "zip" | "jar")) = path.rsplit_once('.') {
                add(stem.to_owned());
            }
            add(parent(&path));
        }
    }
    for folder in &item.near {
        add(folder.clone());
        add(join(folder, "src"));
    }
    Some(CodeRef { folders, handler, runtime: item.text("runtime"), inline: None })
}

/// The handler of a container image is its command.
fn command(item: &Item) -> Option<String> {
    let config = item.get("image_config")?;
    let config = config.value.items();
    let command = &config.first()?.get("command")?.value;
    command.items().first()?.text().map(|text| text.to_string())
}

fn is_archive(item: &Item) -> bool {
    matches!(&*item.kind, "archive_file" | "data.archive_file")
}

/// A path, or a list of paths and of objects that have one.
fn source_paths(value: &Value) -> Vec<String> {
    let one = |value: &Value| match value {
        Value::Text(path) => Some(path.to_string()),
        Value::Map(_) => value.get("path").and_then(|path| path.value.text()).map(|path| path.to_string()),
        _ => None,
    };
    value.items().into_iter().filter_map(one).collect()
}

/// The path, or its folder where it is a file's.
fn folder_of(path: &str) -> String {
    let name = path.rsplit('/').next().unwrap_or_default();
    let is_file = name.rsplit_once('.').is_some_and(|(stem, ending)| {
        !stem.is_empty()
            && matches!(
                ending,
                "py" | "js" | "mjs" | "cjs" | "ts" | "mts" | "cts" | "go" | "java" | "rs" | "cs" | "zip" | "jar"
            )
    });
    if is_file { parent(path) } else { path.to_owned() }
}

fn parent(path: &str) -> String {
    path.rsplit_once('/').map_or_else(String::new, |(folder, _)| folder.to_owned())
}
