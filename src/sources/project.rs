//! Files and folders that are checked: walked, sorted by what they are, parsed side by side.

mod inline;
mod terraform_folders;

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use ignore::WalkBuilder;

use super::code;
use super::iac::text::File;
use super::iac::{Given, Read, Unreadable, cloudformation, pulumi, serverless, terraform};
use super::text_file::{self, ReadError};
use super::tree::Node;
use crate::engine::deployment::{CodeRef, Deployment, Function, SourceFacts};

/// Folders that hold what others wrote, or what a build made out of what is read anyway.
const SKIPPED_FOLDERS: &[&str] = &[
    "node_modules",
    ".git",
    ".terraform",
    ".aws-sam",
    ".serverless",
    "venv",
    ".venv",
    "site-packages",
    "__pycache__",
    "target",
];

/// Larger files are no templates: CloudFormation takes 1 MB, and plans of thousands of resources have some tens.
const LARGEST_FILE: u64 = 64 << 20;

/// How many source files are looked through where no template leads to them.
const MOST_SOURCES: usize = 500;

/// How many levels of folders are walked.
const DEEPEST_FOLDER: usize = 40;

/// What is to be read.
#[derive(Debug, Default)]
pub struct Project {
    /// YAML and JSON files, each parsed.
    documents: BTreeMap<String, (File, Node)>,
    /// Terraform files by folder.
    terraform: BTreeMap<String, Vec<File>>,
    /// Source files that were walked over or named, not read yet.
    pub sources: Vec<String>,
    /// Source files that were named by themselves.
    pub named_sources: Vec<String>,
    unreadable: Vec<Unreadable>,
    /// Texts of everything that was read, by path.
    texts: RefCell<BTreeMap<String, Arc<str>>>,
    /// The text of `-`, read once.
    pub given: Given,
}

/// Whether Terraform loads a variable file on its own.
fn is_loaded(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    matches!(name, "terraform.tfvars" | "terraform.tfvars.json")
        || name.ends_with(".auto.tfvars")
        || name.ends_with(".auto.tfvars.json")
}

/// A path as it is shown: relative where it was given so, with `/`.
fn shown(path: &Path) -> String {
    let text = path.to_string_lossy().replace('\\', "/");
    text.strip_prefix("./").map_or(text.clone(), str::to_owned)
}

/// What is wrong with a file that is JSON by its name: YAML would take a trailing comma, and whoever deploys it does not.
fn not_json(file: &File, text: &str) -> Option<(usize, String)> {
    if !file.path.ends_with(".json") {
        return None;
    }
    let error = serde_json::from_str::<serde::de::IgnoredAny>(text).err()?;
    let at = file.line_start(error.line().max(1)).unwrap_or(0) + error.column().saturating_sub(1);
    let message = error.to_string();
    // The place is shown anyway.
    let message = message.split(" at line ").next().unwrap_or(&message).to_owned();
    Some((at.min(text.len().saturating_sub(1)), message))
}

/// Whether a text that is no YAML was meant as a template: only then its mistakes are worth a finding.
fn looks_like_template(text: &str) -> bool {
    text.contains("AWSTemplateFormatVersion")
        || (text.contains("Resources") && text.contains("AWS::"))
        || (text.contains("\nfunctions:") && text.contains("\nprovider:"))
        || text.contains("\"planned_values\"")
        || (text.contains("\"steps\"") && text.contains("\"newState\""))
}

/// Whether a document can matter at all: most YAML and JSON of a repository is about something else.
fn may_matter(path: &str, text: &str) -> bool {
    text.contains("AWS::")
        || text.contains("planned_values")
        || text.contains("resource_changes")
        || text.contains("aws:sqs")
        || text.contains("aws:lambda")
        || path.rsplit('/').next().is_some_and(|name| name.starts_with("serverless"))
        || (text.contains("functions") && text.contains("provider"))
}

impl Project {
    /// Walks folders and takes files; `-` is standard input.
    ///
    /// # Errors
    /// Where a path that was named cannot be read.
    pub fn collect(paths: &[PathBuf], given: Given) -> Result<Self, ReadError> {
        let mut project = Self { given, ..Self::default() };
        let mut documents: Vec<(String, bool)> = Vec::new();
        for path in paths {
            if path.as_os_str() != "-" && path.is_dir() {
                for found in walk(path) {
                    project.sort(&found, false, &mut documents)?;
                }
            } else {
                project.sort(path, true, &mut documents)?;
            }
        }
        project.complete_terraform();
        documents.sort();
        documents.dedup_by(|a, b| a.0 == b.0);
        project.parse(&documents)?;
        project.include()?;
        project.sources.sort();
        project.sources.dedup();
        Ok(project)
    }

    /// Sorts a file by what it is.
    fn sort(&mut self, path: &Path, named: bool, documents: &mut Vec<(String, bool)>) -> Result<(), ReadError> {
        let name = shown(path);
        match code::ending(&name) {
            // Of variable files Terraform takes these; others are for those who name them.
            "tfvars" | "json" if name.contains(".tfvars") && !is_loaded(&name) => {}
            "json" if !name.ends_with(".tfvars.json") => documents.push((name, named)),
            "tf" | "tfvars" | "json" => {
                let text = match text_file::read(path) {
                    Ok(text) => text,
                    Err(error) if named => return Err(error),
                    // Nothing is concluded from a file that is no text, and it is said.
                    Err(error) => {
                        let place = File::new(&name, "").place(&(0..0));
                        self.unreadable.push(Unreadable { place, message: error.to_string() });
                        return Ok(());
                    }
                };
                let file = File::new(&name, &text);
                self.texts.borrow_mut().insert(name, Arc::clone(&file.text));
                self.terraform.entry(file.folder().to_owned()).or_default().push(file);
            }
            ending if code::ENDINGS.contains(&ending) => {
                if named {
                    text_file::read(path)?;
                    self.named_sources.push(name.clone());
                }
                self.sources.push(name);
            }
            "yaml" | "yml" | "template" => documents.push((name, named)),
            // A file that was named is read, whatever it is called.
            _ if named => documents.push((name, true)),
            _ => {}
        }
        Ok(())
    }

    /// Reads the files that services include, also those that were not given: a service is not whole without them.
    fn include(&mut self) -> Result<(), ReadError> {
        // What is included may name more files, a few times over.
        for _ in 0..5 {
            let services = self.documents.iter().filter(|(_, (_, root))| serverless::is_service(root));
            let mut missing: Vec<(String, bool)> = services
                .flat_map(|(path, _)| serverless::includes(path, &self.documents, &self.given))
                .filter(|path| !self.documents.contains_key(path) && Path::new(path).is_file())
                .map(|path| (path, true))
                .collect();
            missing.sort();
            missing.dedup();
            missing.retain(|(path, _)| matches!(code::ending(path), "yaml" | "yml" | "json"));
            if missing.is_empty() {
                break;
            }
            self.parse(&missing)?;
        }
        Ok(())
    }

    /// Reads and parses documents on all cores; the result does not depend on how many there are.
    fn parse(&mut self, documents: &[(String, bool)]) -> Result<(), ReadError> {
        type Parsed = Result<Option<(File, Result<Node, (usize, String)>, bool)>, ReadError>;
        let parse = |(name, named): &(String, bool)| -> Parsed {
            let text = match text_file::read(Path::new(name)) {
                Ok(text) => text,
                Err(error) if *named => return Err(error),
                // What is no text is no template.
                Err(_) => return Ok(None),
            };
            if !named && !may_matter(name, &text) {
                return Ok(None);
            }
            let file = File::new(name, &text);
            let parsed = match not_json(&file, &text) {
                Some(error) => Err(error),
                None => Node::parse(&text).map_err(|error| (error.at, error.message)),
            };
            Ok(Some((file, parsed, *named)))
        };
        let threads = std::thread::available_parallelism().map_or(1, usize::from).min(documents.len().max(1));
        let size = documents.len().div_ceil(threads).max(1);
        let results: Vec<Parsed> = if threads == 1 {
            documents.iter().map(parse).collect()
        } else {
            std::thread::scope(|scope| {
                let handles: Vec<_> = documents
                    .chunks(size)
                    .map(|part| scope.spawn(move || part.iter().map(parse).collect::<Vec<_>>()))
                    .collect();
                handles.into_iter().flat_map(|handle| handle.join().unwrap_or_default()).collect()
            })
        };
        for result in results {
            let Some((file, parsed, named)) = result? else { continue };
            let path = file.path.to_string();
            match parsed {
                Ok(root) => {
                    self.documents.insert(path, (file, root));
                }
                Err((at, message)) => {
                    if named || looks_like_template(&file.text) {
                        let place = file.place(&(at..at + 1));
                        self.texts.borrow_mut().insert(path, Arc::clone(&file.text));
                        self.unreadable.push(Unreadable { place, message });
                    }
                }
            }
        }
        Ok(())
    }

    /// The text of a file, read once; `None` where there is none.
    pub fn load(&self, path: &str) -> Option<Arc<str>> {
        if let Some(text) = self.texts.borrow().get(path) {
            return Some(Arc::clone(text));
        }
        let small = std::fs::metadata(path).is_ok_and(|about| about.is_file() && about.len() <= LARGEST_FILE);
        let text: Arc<str> = if small { Arc::from(text_file::read(Path::new(path)).ok()?) } else { return None };
        self.texts.borrow_mut().insert(path.to_owned(), Arc::clone(&text));
        Some(text)
    }

    /// Texts of all files that were read, by path: what findings and comments are shown in.
    pub fn texts(&self) -> Vec<(Arc<str>, Arc<str>)> {
        self.texts.borrow().iter().map(|(path, text)| (Arc::from(path.as_str()), Arc::clone(text))).collect()
    }

    /// Reads everything into one deployment, with the functions' sources.
    pub fn read(&self) -> Read {
        let mut read = Read { unreadable: self.unreadable.clone(), ..Read::default() };
        let mut templates = BTreeMap::new();
        let keep = |file: &File| {
            self.texts.borrow_mut().insert(file.path.to_string(), Arc::clone(&file.text));
        };
        for (path, (file, root)) in &self.documents {
            if cloudformation::is_template(root) {
                keep(file);
                templates.insert(path.clone(), (file.clone(), root.clone()));
            } else if serverless::is_service(root) {
                for file in std::iter::once(path).chain(&serverless::includes(path, &self.documents, &self.given)) {
                    if let Some((file, _)) = self.documents.get(file) {
                        keep(file);
                    }
                }
                merge(&mut read, serverless::read(path, &self.documents, &self.given));
            } else if pulumi::is_preview(root) {
                keep(file);
                merge(&mut read, pulumi::read(file, root));
            } else if let Some(plan) = terraform::read_plan(file) {
                keep(file);
                merge(&mut read, plan);
            }
        }
        merge(&mut read, cloudformation::read(&templates, &self.given));
        if !self.terraform.is_empty() {
            merge(&mut read, terraform::read_folders(&self.terraform, &self.given));
        }
        read.deployment.join();
        self.read_sources(&mut read.deployment);
        read.deployment.apply_environment();
        read
    }

    /// Whether `--parameter` may give options of the Serverless Framework too, which are declared nowhere.
    pub fn has_serverless(&self) -> bool {
        self.documents.keys().any(|path| path.rsplit('/').next().is_some_and(|name| name.starts_with("serverless")))
    }

    /// Names that `--parameter` may give: those that any template declares.
    pub fn parameters(&self) -> Vec<&str> {
        self.documents.values().flat_map(|(_, root)| cloudformation::parameters(root)).collect()
    }

    /// Reads the source of each function, where it is found.
    pub fn read_sources(&self, deployment: &mut Deployment) {
        let load = |path: &str| self.load(path);
        for function in &mut deployment.functions {
            if let Some(facts) = function.code.as_ref().and_then(|code| self.read_inline(code)) {
                function.source = facts;
                continue;
            }
            let entry = function.code.as_ref().and_then(|code| code::entry(code, &self.sources, &load));
            if let Some(facts) = entry.and_then(|entry| code::read(&entry, &load)) {
                function.source = facts;
            }
        }
        let unclaimed: Vec<&String> = self.named_sources.iter().filter(|path| !mentions(deployment, path)).collect();
        // A folder without any template: its clients are looked for in all of its source.
        let alone = deployment.mappings.is_empty() && deployment.functions.is_empty() && self.named_sources.is_empty();
        let unclaimed = if alone {
            let mentions = |path: &&String| load(path).is_some_and(|text| text.contains("edrock"));
            self.sources.iter().filter(mentions).take(MOST_SOURCES).collect()
        } else {
            unclaimed
        };
        let read = |path: &String| code::read(path, &load).filter(|facts| !facts.clients.is_empty());
        // One function without a source, and sources that were named and belong to none: they are its.
        let mut bare: Vec<&mut Function> =
            deployment.functions.iter_mut().filter(|function| function.source.is_empty()).collect();
        if let [function] = bare.as_mut_slice() {
            for facts in unclaimed.into_iter().filter_map(read) {
                absorb(&mut function.source, facts);
            }
            return;
        }
        for path in unclaimed {
            if let Some(source) = read(path) {
                let code = Some(CodeRef { handler: path.clone(), ..CodeRef::default() });
                deployment.functions.push(Function { name: path.clone(), code, source, ..Function::default() });
            }
        }
    }
}

/// Whether a function's source has a client in this file.
fn mentions(deployment: &Deployment, path: &str) -> bool {
    deployment.functions.iter().flat_map(|function| &function.source.clients).any(|client| &*client.place.path == path)
}

fn absorb(into: &mut SourceFacts, facts: SourceFacts) {
    into.clients.extend(facts.clients);
    into.calls.extend(facts.calls);
    into.nested_retries.extend(facts.nested_retries);
    if into.parallel_calls.is_none() {
        into.parallel_calls = facts.parallel_calls;
    }
}

fn merge(into: &mut Read, part: Read) {
    into.deployment.merge(part.deployment);
    into.unreadable.extend(part.unreadable);
}

/// The files of a folder, without those that git ignores, sorted.
fn walk(folder: &Path) -> Vec<PathBuf> {
    let mut found = walk_with(folder, true, |_| true);
    // What the CDK made is always in .gitignore, and is what is deployed.
    let of_cdk = |path: &Path| {
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        (name.ends_with(".template.json") || name.ends_with(".template.yaml"))
            && path.components().any(|part| part.as_os_str() == "cdk.out")
    };
    found.extend(walk_with(folder, false, of_cdk));
    found.sort();
    found.dedup();
    found
}

fn walk_with(folder: &Path, ignoring: bool, wanted: impl Fn(&Path) -> bool) -> Vec<PathBuf> {
    WalkBuilder::new(folder)
        .standard_filters(ignoring)
        .hidden(true)
        .require_git(false)
        .max_depth(Some(DEEPEST_FOLDER))
        .filter_entry(|entry| {
            let folder = entry.file_type().is_some_and(|kind| kind.is_dir());
            !(folder && entry.depth() > 0 && entry.file_name().to_str().is_some_and(|name| SKIPPED_FOLDERS.contains(&name)))
        })
        .build()
        .filter_map(Result::ok)
        .filter(|entry| entry.file_type().is_some_and(|kind| kind.is_file()))
        .filter(|entry| entry.metadata().is_ok_and(|about| about.len() <= LARGEST_FILE))
        .map(ignore::DirEntry::into_path)
        .filter(|path| wanted(path))
        .collect()
}
