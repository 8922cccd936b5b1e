//! What is written in docs is what the program does: generated pages, schemas, and every command of the README.

use std::path::Path;

use clap::CommandFactory as _;
use forebay::cli::Cli;
use forebay::report::{json, schema};
use serde_json::Value;

use crate::program::Program;

fn root(path: &str) -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

/// Compares a generated page with the one that is committed; `FOREBAY_UPDATE_DOCS=1` writes it.
#[track_caller]
#[expect(clippy::disallowed_methods, reason = "how a developer asks for the pages to be written")]
fn is_generated(path: &str, text: &str) {
    if std::env::var_os("FOREBAY_UPDATE_DOCS").is_some() {
        std::fs::write(root(path), text).unwrap();
    }
    let committed = std::fs::read_to_string(root(path)).unwrap_or_default();
    assert!(committed == text, "{path} is out of date: run `FOREBAY_UPDATE_DOCS=1 cargo test --test it docs`");
}

fn help(command: &mut clap::Command, path: &str, out: &mut String) {
    let title = format!("{path} {}", command.get_name());
    let title = title.trim().to_owned();
    let text = command.clone().bin_name(&title).term_width(100).render_long_help().to_string();
    let trimmed: Vec<&str> = text.lines().map(str::trim_end).collect();
    out.push_str(&format!("\n## {title}\n\n```text\n{}\n```\n", trimmed.join("\n").trim_end()));
    for sub in command.get_subcommands_mut().filter(|sub| sub.get_name() != "help") {
        help(sub, &title, out);
    }
}

#[test]
fn the_command_line_reference_is_generated() {
    let mut command = Cli::command();
    command.build();
    let mut out = "# Command line\n\nGenerated from the program; `forebay COMMAND --help` prints the same.\n".to_owned();
    help(&mut command, "", &mut out);
    is_generated("docs/cli.md", &out);
}

#[test]
fn the_page_of_rules_is_generated() {
    use forebay::engine::rules::{Need, RULES};

    let mut out = "# Rules of `check timeouts`\n\nGenerated from the program; `forebay explain RULE` prints the same. V is the queue's visibility timeout, T the function\ntimeout, R the read timeout of the model client, A its attempts, X the slowest call, B the batch size, W the batch window,\nc the calls of a message, p the calls at a time, o the work per message outside the call, M MaximumConcurrency, N\nmaxReceiveCount.\n\n| rule | severity | when |\n|---|---|---|\n".to_owned();
    for rule in RULES {
        out.push_str(&format!("| [{0}](#{0}) | {1} | {2} |\n", rule.id, rule.severity, rule.summary));
    }
    for rule in RULES {
        out.push_str(&format!("\n## {}\n\n{}: {}.\n\n{}\n\n{}\n", rule.id, rule.severity, rule.summary, rule.why, rule.remedy));
        let needs = match rule.needs {
            Need::Nothing => None,
            Need::SlowestCall => Some("the slowest call (`--slowest-call`, or a workload)"),
            Need::Plan => Some("the plan of a workload (`--workload`)"),
        };
        if let Some(needs) = needs {
            out.push_str(&format!("\nIt needs {needs}.\n"));
        }
        if !rule.stronger.is_empty() {
            out.push_str(&format!("\nSilent where one of these speaks: {}.\n", rule.stronger.join(", ")));
        }
    }
    is_generated("docs/rules.md", &out);
}

#[test]
fn the_workload_schema_is_generated_and_takes_every_example() {
    let schema = schema::workload();
    is_generated("docs/schema/workload.json", &json::render(&schema));
    let validator = jsonschema::validator_for(&schema).unwrap();
    for (name, text) in forebay::sources::workload::EXAMPLES {
        let workload: Value = serde_yaml::from_str(text).unwrap();
        let errors: Vec<String> = validator.iter_errors(&workload).map(|error| error.to_string()).collect();
        assert!(errors.is_empty(), "{name}: {errors:?}");
    }
    let wrong: Value = serde_yaml::from_str("{schema: 1, model: a.b, call: {latency_ms: 4500}}").unwrap();
    assert!(!validator.is_valid(&wrong));
}

#[test]
fn every_plan_fits_its_schema() {
    let schema: Value =
        serde_json::from_str(&std::fs::read_to_string(root("docs/schema/plan-concurrency.json")).unwrap()).unwrap();
    let validator = jsonschema::validator_for(&schema).unwrap();
    let plans = [
        vec!["example:image-moderation"],
        vec!["example:ticket-triage"],
        vec!["example:agent-tool-loop", "--arrivals", "500", "--backlog", "10"],
        vec!["example:image-moderation", "--tpm", "50000"],
        vec!["example:image-moderation", "--rpm", "none", "--throttle-risk", "0.05"],
    ];
    for plan in plans {
        let run = Program::new(&[&["plan", "concurrency", "--offline", "--format", "json"], plan.as_slice()].concat()).run();
        let json: Value = serde_json::from_str(&run.stdout).unwrap();
        let errors: Vec<String> =
            validator.iter_errors(&json).map(|error| format!("{}: {error}", error.instance_path())).collect();
        assert!(errors.is_empty(), "{plan:?}: {errors:?}");
    }
    #[cfg(feature = "live")]
    for json in crate::live::plans() {
        let errors: Vec<String> =
            validator.iter_errors(&json).map(|error| format!("{}: {error}", error.instance_path())).collect();
        assert!(errors.is_empty(), "live: {errors:?}");
    }
}

#[test]
fn every_check_fits_its_schema() {
    let schema: Value =
        serde_json::from_str(&std::fs::read_to_string(root("docs/schema/check-timeouts.json")).unwrap()).unwrap();
    let validator = jsonschema::validator_for(&schema).unwrap();
    let mut seen = 0;
    for folder in std::fs::read_dir(root("tests/data/timeouts")).unwrap() {
        let run = Program::new(&["check", "timeouts", ".", "--slowest-call", "20s", "--format", "json"]);
        let json: Value = serde_json::from_str(&run.run_in(&folder.unwrap().path()).stdout).unwrap();
        let errors: Vec<String> =
            validator.iter_errors(&json).map(|error| format!("{}: {error}", error.instance_path())).collect();
        assert!(errors.is_empty(), "{errors:?}");
        seen += 1;
    }
    assert!(seen >= 14);
}

/// Every `console` block of README and guide is run: a line that begins with `$ forebay`, and what it prints.
#[test]
fn the_commands_of_the_docs_print_what_the_docs_show() {
    let mut run = 0;
    for page in ["README.md", "docs/guide.md", "docs/timeouts.md"] {
        let text = std::fs::read_to_string(root(page)).unwrap();
        for block in text.split("```console\n").skip(1) {
            let block = block.split("```").next().unwrap();
            let (line, expected) = block.split_once('\n').unwrap();
            let arguments: Vec<&str> =
                line.strip_prefix("$ forebay ").unwrap_or_else(|| panic!("{page}: {line}")).split(' ').collect();
            let printed = Program::new(&arguments).run();
            let shown = if printed.code == 2 { &printed.stderr } else { &printed.stdout };
            // A block may show the beginning and say so.
            match expected.trim_end().strip_suffix("...") {
                Some(beginning) => assert!(shown.starts_with(beginning.trim_end_matches(' ')), "{page}: {line}\n{shown}"),
                None => assert_eq!(shown.trim_end(), expected.trim_end(), "{page}: {line}"),
            }
            run += 1;
        }
    }
    assert!(run >= 4, "{run} blocks were run");
}

/// Every `yaml` block of the page on CI can be parsed.
#[test]
fn the_jobs_of_the_docs_are_yaml() {
    let text = std::fs::read_to_string(root("docs/ci.md")).unwrap();
    let blocks: Vec<&str> = text.split("```yaml\n").skip(1).map(|block| block.split("```").next().unwrap()).collect();
    assert!(blocks.len() >= 4, "{}", blocks.len());
    for block in blocks {
        if let Err(error) = serde_yaml::from_str::<Value>(block) {
            panic!("{error}\n{block}");
        }
    }
}
