//! The program as a user runs it: a hermetic command, and its whole output.

use std::path::Path;
use std::process::{Command, Stdio};

/// A run of the program in an empty folder, with nothing of the surroundings: no AWS configuration, no colour, no cache.
pub(crate) struct Program {
    pub(crate) folder: tempfile::TempDir,
    arguments: Vec<String>,
    variables: Vec<(String, String)>,
    input: Option<String>,
}

pub(crate) struct Run {
    pub(crate) code: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Program {
    pub(crate) fn new(arguments: &[&str]) -> Self {
        Self {
            folder: tempfile::tempdir().unwrap(),
            arguments: arguments.iter().map(|&argument| argument.to_owned()).collect(),
            variables: Vec::new(),
            input: None,
        }
    }

    pub(crate) fn file(self, name: &str, text: &str) -> Self {
        std::fs::write(self.folder.path().join(name), text).unwrap();
        self
    }

    pub(crate) fn variable(mut self, name: &str, value: &str) -> Self {
        self.variables.push((name.to_owned(), value.to_owned()));
        self
    }

    pub(crate) fn input(mut self, text: &str) -> Self {
        self.input = Some(text.to_owned());
        self
    }

    /// Runs in a folder that outlives this run.
    pub(crate) fn run_in(&self, folder: &Path) -> Run {
        let mut command = Command::new(env!("CARGO_BIN_EXE_forebay"));
        command
            .args(&self.arguments)
            .current_dir(folder)
            .env_clear()
            .env("HOME", folder)
            .env("AWS_EC2_METADATA_DISABLED", "true")
            .envs(self.variables.iter().map(|(name, value)| (name, value)))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        if let Some(input) = &self.input {
            use std::io::Write as _;
            child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
        }
        drop(child.stdin.take());
        let output = child.wait_with_output().unwrap();
        Run {
            code: output.status.code().expect("no signal ended it"),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
        }
    }

    /// Runs with another value after a flag.
    pub(crate) fn run_replacing(mut self, flag: &str, value: &str) -> Run {
        let at = self.arguments.iter().position(|argument| argument == flag).expect("the flag is there");
        value.clone_into(&mut self.arguments[at + 1]);
        self.run()
    }

    pub(crate) fn run(&self) -> Run {
        self.run_in(self.folder.path())
    }
}

impl Run {
    /// Standard output of a run that ended with `code`.
    #[track_caller]
    pub(crate) fn stdout(self, code: i32) -> String {
        assert_eq!(self.code, code, "stdout:\n{}\nstderr:\n{}", self.stdout, self.stderr);
        assert_eq!(self.stderr, "");
        self.stdout
    }

    /// Standard error of a run that failed with 2 and printed nothing else.
    #[track_caller]
    pub(crate) fn stderr(self) -> String {
        assert_eq!((self.code, self.stdout.as_str()), (2, ""), "{}", self.stderr);
        self.stderr
    }

    #[track_caller]
    pub(crate) fn json(self, code: i32) -> serde_json::Value {
        serde_json::from_str(&self.stdout(code)).unwrap()
    }
}
