//! Terraform reads folders: what belongs to a configuration is read with it, whether it was named or not.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use super::Project;
use crate::sources::code;
use crate::sources::iac::cloudformation::join;
use crate::sources::iac::text::File;
use crate::sources::text_file;

/// How many folders local modules may add.
const MOST_FOLDERS: usize = 200;

impl Project {
    /// Adds the other files of each folder, and the folders of local modules.
    pub(super) fn complete_terraform(&mut self) {
        let mut open: Vec<String> = self.terraform.keys().cloned().collect();
        let mut seen: BTreeSet<String> = BTreeSet::new();
        while let Some(folder) = open.pop() {
            if seen.len() >= MOST_FOLDERS + self.terraform.len() || !seen.insert(folder.clone()) {
                continue;
            }
            self.read_folder(&folder);
            for file in self.terraform.get(&folder).into_iter().flatten() {
                open.extend(local_modules(&file.text).map(|source| join(&folder, source)));
            }
        }
        for files in self.terraform.values_mut() {
            files.sort_by(|a, b| a.path.cmp(&b.path));
        }
    }

    fn read_folder(&mut self, folder: &str) {
        let path = if folder.is_empty() { Path::new(".") } else { Path::new(folder) };
        let Ok(entries) = std::fs::read_dir(path) else { return };
        for entry in entries.filter_map(Result::ok) {
            let Ok(name) = entry.file_name().into_string() else { continue };
            // Other tfvars files are for those who name them.
            let belongs = code::ending(&name) == "tf" || super::is_loaded(&name);
            let path = if folder.is_empty() { name.clone() } else { format!("{folder}/{name}") };
            let known = self.terraform.get(folder).is_some_and(|files| files.iter().any(|file| *file.path == path));
            if !belongs || known {
                continue;
            }
            if let Ok(text) = text_file::read(Path::new(&path)) {
                let file = File::new(&path, &text);
                self.texts.borrow_mut().insert(path, Arc::clone(&file.text));
                self.terraform.entry(folder.to_owned()).or_default().push(file);
            }
        }
    }
}

/// Sources of modules in folders: `source = "./queue"`. A look that is too wide only reads a folder more.
fn local_modules(text: &str) -> impl Iterator<Item = &str> {
    text.lines().filter_map(|line| {
        let value = line.trim().strip_prefix("source")?.trim_start().strip_prefix('=')?.trim();
        let path = value.strip_prefix('"')?.split('"').next()?;
        (path.starts_with("./") || path.starts_with("../")).then_some(path)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sources::iac::Given;

    #[test]
    fn a_file_that_is_named_brings_its_folder_and_its_modules() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| {
            let path = folder.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        };
        write("main.tf", "module \"q\" {\n  source = \"./queue\"\n  hidden = var.hidden\n}\n");
        write("variables.tf", "variable \"hidden\" { default = 77 }\n");
        write("other.tfvars", "hidden = 1\n");
        write(
            "queue/main.tf",
            "variable \"hidden\" {}\nresource \"aws_sqs_queue\" \"this\" { visibility_timeout_seconds = var.hidden }\n",
        );
        let project = Project::collect(&[folder.path().join("main.tf")], Given::default()).unwrap();
        let queues = project.read().deployment.queues;
        assert_eq!((queues.len(), queues[0].visibility_s.value()), (1, Some(77.0)));
    }
}
