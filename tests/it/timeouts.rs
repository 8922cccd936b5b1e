//! `check timeouts` on small projects with the right answers: every folder of tests/data/timeouts with its expected.yaml.

use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::program::{Program, Run};

fn data(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/timeouts").join(name)
}

fn check(folder: &Path, format: &str, more: &[String]) -> Run {
    let mut arguments = vec!["check", "timeouts", ".", "--format", format];
    arguments.extend(more.iter().map(String::as_str));
    Program::new(&arguments).run_in(folder)
}

fn strings(value: &Value) -> Vec<String> {
    value.as_array().into_iter().flatten().map(|text| text.as_str().unwrap().to_owned()).collect()
}

/// What a chain has that was not expected, in words.
fn chain_faults(wanted: &Value, chains: &[Value]) -> Vec<String> {
    let name = |value: &Value, key: &str| value[key].clone();
    let found = chains.iter().find(|chain| {
        chain["queue"]["value"] == name(wanted, "queue") && chain["function"]["value"] == name(wanted, "function")
    });
    let Some(found) = found else { return vec![format!("no chain {} -> {}", wanted["queue"], wanted["function"])] };
    let mut faults = Vec::new();
    for (key, value) in wanted.as_object().unwrap() {
        let (got, key) = match key.strip_suffix("_source") {
            Some(key) => (&found[key]["source"], key),
            None => (&found[key.as_str()]["value"], key.as_str()),
        };
        let same = got == value || got.as_f64().is_some_and(|got| value.as_f64() == Some(got));
        if !same {
            faults.push(format!("{} -> {}: {key} is {got}, expected {value}", wanted["queue"], wanted["function"]));
        }
    }
    faults
}

fn fits(wanted: &Value, finding: &Value) -> bool {
    let line = if wanted["line"].is_null() { &wanted["resource_line"] } else { &wanted["line"] };
    let setting = &wanted["setting_line"];
    let file = wanted.get("setting_file").unwrap_or(&wanted["file"]);
    let labels = finding["labels"].as_array().unwrap();
    finding["rule"] == wanted["rule"]
        && finding["severity"] == wanted["severity"]
        && finding["path"] == wanted["file"]
        && finding["line"] == *line
        && wanted.get("for").is_none_or(|function| finding["function"] == *function)
        && (setting.is_null() || labels.iter().any(|label| label["line"] == *setting && label["path"] == *file))
}

fn faults(folder: &Path) -> Vec<String> {
    let expected: Value = serde_yaml::from_str(&std::fs::read_to_string(folder.join("expected.yaml")).unwrap()).unwrap();
    let arguments = strings(&expected["args"]);
    let run = check(folder, "json", &arguments);
    let Ok(report) = serde_json::from_str::<Value>(&run.stdout) else { return vec![format!("{}{}", run.stdout, run.stderr)] };
    let (chains, wanted) = (report["chains"].as_array().unwrap(), expected["chains"].as_array().unwrap());
    let mut faults: Vec<String> = wanted.iter().flat_map(|wanted| chain_faults(wanted, chains)).collect();
    if chains.len() != wanted.len() {
        faults.push(format!("{} chains, expected {}", chains.len(), wanted.len()));
    }
    let mut rest: Vec<&Value> = report["findings"].as_array().unwrap().iter().collect();
    for wanted in expected["findings"].as_array().unwrap() {
        match rest.iter().position(|finding| fits(wanted, finding)) {
            Some(at) => drop(rest.remove(at)),
            None => faults.push(format!("missing: {wanted}")),
        }
    }
    faults.extend(rest.iter().map(|finding| format!("not expected: {finding}")));
    let errors = expected["findings"].as_array().unwrap().iter().any(|finding| finding["severity"] == "error");
    if run.code != i32::from(errors) {
        faults.push(format!("exit code {}", run.code));
    }
    if let Some(suppressed) = expected.get("suppressed")
        && report["suppressed"] != *suppressed
    {
        faults.push(format!("{} suppressed", report["suppressed"]));
    }
    for secret in strings(&expected["must_not_print"]) {
        for format in ["terminal", "json", "markdown", "sarif", "junit", "github"] {
            let run = check(folder, format, &arguments);
            if run.stdout.contains(&secret) || run.stderr.contains(&secret) {
                faults.push(format!("{secret} is printed as {format}"));
            }
        }
    }
    faults
}

#[test]
fn every_project_gives_exactly_its_findings() {
    let mut folders: Vec<PathBuf> = std::fs::read_dir(data("")).unwrap().map(|entry| entry.unwrap().path()).collect();
    folders.sort();
    assert!(folders.len() >= 14, "{}", folders.len());
    let mut wrong = Vec::new();
    for folder in folders {
        let faults = faults(&folder);
        if !faults.is_empty() {
            wrong.push(format!("{}:\n  {}", folder.file_name().unwrap().to_string_lossy(), faults.join("\n  ")));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The published pipeline as every format shows it, whole.
#[test]
fn the_published_pipeline_in_every_format() {
    let folder = data("published-sample");
    for format in ["terminal", "markdown", "json", "sarif", "junit", "github"] {
        let run = check(&folder, format, &["--slowest-call".to_owned(), "70s".to_owned()]);
        assert_eq!((run.code, run.stderr.as_str()), (1, ""), "{format}");
        // JUnit stamps nothing, and versions are the program's own.
        let text = run.stdout.replace(env!("CARGO_PKG_VERSION"), "VERSION");
        insta::assert_snapshot!(format!("published-{format}"), text);
    }
    let wide = check(&folder, "terminal", &["--width".to_owned(), "120".to_owned()]);
    insta::assert_snapshot!("published-terminal-120", wide.stdout);
}

#[test]
fn a_fix_mends_what_literals_can_and_applies_cleanly() {
    let template = "Resources:
  Jobs:
    Type: AWS::SQS::Queue
    Properties:
      VisibilityTimeout: \"30\"
      RedrivePolicy: {deadLetterTargetArn: !GetAtt Dead.Arn, maxReceiveCount: 2}
  Dead: {Type: AWS::SQS::Queue, Properties: {MessageRetentionPeriod: 1209600}}
  Worker: {Type: AWS::Lambda::Function, Properties: {Timeout: 60}}
  Feed:
    Type: AWS::Lambda::EventSourceMapping
    Properties: {EventSourceArn: !GetAtt Jobs.Arn, FunctionName: !Ref Worker, BatchSize: 1}
";
    let program = Program::new(&["check", "timeouts", "t.yaml", "--fix"]).file("t.yaml", template);
    let diff = program.run().stdout(0);
    insta::assert_snapshot!(diff, @r#"
    --- a/t.yaml
    +++ b/t.yaml
    @@ -2,8 +2,8 @@
       Jobs:
         Type: AWS::SQS::Queue
         Properties:
    -      VisibilityTimeout: "30"
    -      RedrivePolicy: {deadLetterTargetArn: !GetAtt Dead.Arn, maxReceiveCount: 2}
    +      VisibilityTimeout: "360"
    +      RedrivePolicy: {deadLetterTargetArn: !GetAtt Dead.Arn, maxReceiveCount: 5}
       Dead: {Type: AWS::SQS::Queue, Properties: {MessageRetentionPeriod: 1209600}}
       Worker: {Type: AWS::Lambda::Function, Properties: {Timeout: 60}}
       Feed:
    "#);
    let mended = template.replace("\"30\"", "\"360\"").replace("Count: 2", "Count: 5");
    assert!(Program::new(&["check", "timeouts", "t.yaml"]).file("t.yaml", &mended).run().stdout(0).starts_with("No findings"));
    // Through a parameter it is the default that is mended; one that is given on the command line is not touched.
    let parameter = template
        .replace("\"30\"", "!Ref Hidden")
        .replace("Resources:", "Parameters: {Hidden: {Type: Number, Default: 30}}\nResources:");
    let diff = |more: &[&str]| {
        let all = [&["check", "timeouts", "t.yaml", "--fix"], more].concat();
        Program::new(&all).file("t.yaml", &parameter).run().stdout(0)
    };
    assert!(diff(&[]).contains("+Parameters: {Hidden: {Type: Number, Default: 360}}"));
    assert!(!diff(&["--parameter", "Hidden=20"]).contains("Hidden:"), "{}", diff(&["--parameter", "Hidden=20"]));
}

#[test]
fn a_baseline_knows_old_findings_where_code_moves_and_counts_new_ones() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.yaml");
    let template = |before: &str, receives: u32| {
        format!(
            "{before}Resources:
  Jobs:
    Type: AWS::SQS::Queue
    Properties:
      VisibilityTimeout: 30
      RedrivePolicy: {{deadLetterTargetArn: arn:aws:sqs:eu-west-1:111122223333:dead, maxReceiveCount: {receives}}}
  Worker: {{Type: AWS::Lambda::Function, Properties: {{Timeout: 60}}}}
  Feed:
    Type: AWS::Lambda::EventSourceMapping
    Properties: {{EventSourceArn: !GetAtt Jobs.Arn, FunctionName: !Ref Worker, BatchSize: 1}}
"
        )
    };
    let run = |more: &[&str]| Program::new(&[&["check", "timeouts", "t.yaml"], more].concat()).run_in(folder.path());
    std::fs::write(&path, template("", 5)).unwrap();
    assert_eq!(run(&["--write-baseline", "old.json"]).code, 1);
    std::fs::write(&path, template("# two more\n# lines\n", 5)).unwrap();
    let known = run(&["--baseline", "old.json"]);
    assert!(known.code == 0 && known.stdout.contains("1 finding known by the baseline"), "{}", known.stdout);
    std::fs::write(&path, template("", 2)).unwrap();
    let new = run(&["--baseline", "old.json", "--fail-on", "warning"]);
    assert!(new.code == 1 && new.stdout.starts_with("1 warning in 1 chain"), "{}", new.stdout);
    std::fs::write(&path, template("", 5).replace("Timeout: 30", "Timeout: 360")).unwrap();
    let mended = run(&["--baseline", "old.json"]);
    assert!(mended.stdout.contains("1 entries of the baseline `old.json` are not found any more"), "{}", mended.stdout);
    assert!(run(&["--baseline", "t.yaml"]).stderr.contains("is no baseline"));
}

#[test]
fn severities_and_exit_codes() {
    let folder = data("cfn-json-strings");
    let code = |more: &[&str]| check(&folder, "json", &more.iter().map(|&text| text.to_owned()).collect::<Vec<_>>()).code;
    assert_eq!(code(&[]), 1);
    assert_eq!(code(&["--fail-on", "never"]), 0);
    let allowed = ["--allow", "batch-window-missing", "--allow", "maximum-concurrency-above-reserved"];
    assert_eq!(code(&allowed), 0);
    assert_eq!(code(&[&allowed[..], &["--fail-on", "warning"]].concat()), 1);
    assert_eq!(code(&[&allowed[..], &["--deny", "value-unresolved"]].concat()), 1);
    assert_eq!(code(&["--warn", "batch-window-missing", "--warn", "maximum-concurrency-above-reserved"]), 0);
    let unknown = Program::new(&["check", "timeouts", ".", "--deny", "visibility-below-function-timeouts"]).run().stderr();
    assert!(unknown.contains("did you mean `visibility-below-function-timeout`?"), "{unknown}");
    let nothing = Program::new(&["check", "timeouts", "."]).file("readme.yaml", "a: 1\n").run();
    assert_eq!(
        (nothing.code, nothing.stdout.as_str()),
        (3, "Nothing to check: no mapping from a queue to a function, and no model client\n")
    );
}

#[test]
fn standard_input_parameters_and_their_files() {
    let template = std::fs::read_to_string(data("cfn-json-strings").join("stack.json")).unwrap();
    let rules = |program: Program| -> Vec<String> {
        let report: Value = serde_json::from_str(&program.run().stdout).unwrap();
        report["findings"].as_array().unwrap().iter().map(|finding| finding["rule"].as_str().unwrap().to_owned()).collect()
    };
    let from_stdin =
        |more: &[&str]| Program::new(&[&["check", "timeouts", "-", "--format", "json"], more].concat()).input(&template);
    assert!(rules(from_stdin(&[])).contains(&"value-unresolved".to_owned()));
    let given = rules(from_stdin(&["--parameter", "Receives=2"]));
    assert!(given.contains(&"max-receive-count-low".to_owned()) && !given.contains(&"value-unresolved".to_owned()));
    for file in [
        "[{\"ParameterKey\": \"Receives\", \"ParameterValue\": \"2\"}]",
        "[\"Receives=2\"]",
        "{\"Parameters\": {\"Receives\": 2}}",
        "Receives: 2\n",
    ] {
        let program = from_stdin(&["--parameter-file", "p.json"]).file("p.json", file);
        assert!(rules(program).contains(&"max-receive-count-low".to_owned()), "{file}");
    }
    let unused = from_stdin(&["--parameter", "Recieves=2"]).run().stdout;
    assert!(unused.contains("--parameter Recieves: no template declares it"), "{unused}");
    let wrong = from_stdin(&["--parameter-file", "p.json"]).file("p.json", "[1]").run().stderr();
    assert!(wrong.contains("`p.json` is no parameter file"), "{wrong}");
}

#[test]
fn a_chain_by_flags_and_by_a_workload() {
    insta::assert_snapshot!(
        Program::new(&[
            "check",
            "timeouts",
            "--visibility",
            "120s",
            "--lambda",
            "60s",
            "--batch-size",
            "20",
            "--max-receive-count",
            "3"
        ])
        .run()
        .stdout(1)
    );
    let planned = Program::new(&["check", "timeouts", "--workload", "example:ticket-triage", "--format", "json"]).run().json(1);
    let found: Vec<&str> =
        planned["findings"].as_array().unwrap().iter().map(|finding| finding["rule"].as_str().unwrap()).collect();
    assert_eq!(found, ["visibility-below-six-times", "in-flight-above-plan"]);
    assert_eq!(planned["slowest_call_s"]["value"], 8.0);
    let mixed = Program::new(&["check", "timeouts", "t.yaml", "--read", "5s"]).file("t.yaml", "a: 1\n").run().stderr();
    assert!(mixed.contains("--read describes a chain without files"), "{mixed}");
    let nothing = Program::new(&["check", "timeouts"]).run().stderr();
    assert!(nothing.contains("nothing to check"), "{nothing}");
}

#[test]
fn a_client_alone_is_checked_where_its_file_is_named() {
    let source = "import boto3\nmodel = boto3.client('bedrock-runtime')\n\n\ndef f():\n    return model.converse(modelId='us.amazon.nova-pro-v1:0', messages=[])\n";
    let report = Program::new(&["check", "timeouts", "app.py", "--slowest-call", "80s", "--format", "json"])
        .file("app.py", source)
        .run()
        .json(1);
    let found: Vec<&str> =
        report["findings"].as_array().unwrap().iter().map(|finding| finding["rule"].as_str().unwrap()).collect();
    assert_eq!(found, ["read-timeout-left-at-default", "max-tokens-unset"], "no queue in front: retries are the client's own");
}

#[test]
fn git_ignored_files_and_vendored_folders_are_passed_over() {
    let template = "Resources:\n  Q: {Type: AWS::SQS::Queue}\n  F: {Type: AWS::Lambda::Function, Properties: {Timeout: 900}}\n  M: {Type: AWS::Lambda::EventSourceMapping, Properties: {EventSourceArn: !GetAtt Q.Arn, FunctionName: !Ref F}}\n";
    let program = Program::new(&["check", "timeouts", ".", "--format", "json"]).file(".gitignore", "built/\n");
    for folder in ["built", "node_modules/x", ".aws-sam", "kept"] {
        std::fs::create_dir_all(program.folder.path().join(folder)).unwrap();
        std::fs::write(program.folder.path().join(folder).join("t.yaml"), template).unwrap();
    }
    let report = program.run().json(1);
    assert_eq!(report["chains"].as_array().unwrap().len(), 1);
    assert_eq!(report["chains"][0]["queue"]["path"], "kept/t.yaml");
}

#[test]
fn rules_are_explained() {
    insta::assert_snapshot!("explain", Program::new(&["explain", "function-timeout-below-client-attempts"]).run().stdout(0));
    insta::assert_snapshot!("explain-all", Program::new(&["explain", "--width", "120"]).run().stdout(0));
    let unknown = Program::new(&["explain", "visibility"]).run().stderr();
    assert!(unknown.starts_with("error: there is no rule `visibility`"), "{unknown}");
    let findings_only = Program::new(&["explain", "--format", "sarif"]).run().stderr();
    assert!(findings_only.contains("this format is for findings"), "{findings_only}");
}

/// All files of the projects, each with its bytes.
fn samples() -> Vec<(String, Vec<u8>)> {
    let mut folders = vec![data("")];
    let mut found = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.file_name().unwrap() != "expected.yaml" {
                found.push((path.file_name().unwrap().to_str().unwrap().to_owned(), std::fs::read(&path).unwrap()));
            }
        }
    }
    found.sort();
    found
}

proptest::proptest! {
    #![proptest_config(proptest::prelude::ProptestConfig { cases: 400, ..Default::default() })]

    /// Real files with pieces cut out, doubled, moved and overwritten by arbitrary bytes: whatever comes, it is read or said.
    #[test]
    fn broken_files_never_panic(
        pick in proptest::prelude::any::<proptest::sample::Index>(),
        edits in proptest::collection::vec((proptest::prelude::any::<proptest::sample::Index>(), 0..40_usize, 0..4_u8, proptest::collection::vec(proptest::prelude::any::<u8>(), 0..6)), 1..6),
    ) {
        let samples = samples();
        let (name, mut bytes) = pick.get(&samples).clone();
        for (at, length, kind, more) in edits {
            let at = if bytes.is_empty() { 0 } else { at.index(bytes.len()) };
            let end = (at + length).min(bytes.len());
            match kind {
                0 => drop(bytes.drain(at..end)),
                1 => { let piece = bytes[at..end].to_vec(); bytes.splice(at..at, piece); }
                2 => bytes.truncate(end),
                _ => drop(bytes.splice(at..end, more)),
            }
        }
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join(&name), &bytes).unwrap();
        let project = forebay::sources::project::Project::collect(&[folder.path().to_owned()], forebay::sources::iac::Given::default()).unwrap();
        let read = project.read();
        proptest::prop_assert!(read.deployment.mappings.len() < 1000);
    }
}
