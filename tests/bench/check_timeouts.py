#!/usr/bin/env python3
"""`check timeouts` beside cfn-lint on the same CloudFormation templates, in one run.

    cargo build --release --no-default-features
    python3 tests/bench/check_timeouts.py

cfn-lint is installed from PyPI under target/. What the two do differs: cfn-lint checks a template against all of its rules,
of which one (E3505) compares visibility timeout and function timeout; forebay checks the chain and nothing else.
Times are wall-clock of whole processes, medians of five runs (three of cfn-lint's).
"""

import pathlib
import statistics
import subprocess
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
FOREBAY = ROOT / "target/release/forebay"
VENV = ROOT / "target/bench/cfn-lint-1.58.0"

TEMPLATE = """AWSTemplateFormatVersion: "2010-09-09"
Parameters:
  Hidden{i}: {{Type: Number, Default: {hidden}}}
Resources:
  Dead{i}:
    Type: AWS::SQS::Queue
    Properties: {{MessageRetentionPeriod: 1209600}}
  Jobs{i}:
    Type: AWS::SQS::Queue
    Properties:
      VisibilityTimeout: !Ref Hidden{i}
      RedrivePolicy: {{deadLetterTargetArn: !GetAtt Dead{i}.Arn, maxReceiveCount: 5}}
  Role{i}:
    Type: AWS::IAM::Role
    Properties:
      AssumeRolePolicyDocument:
        Version: "2012-10-17"
        Statement: [{{Effect: Allow, Principal: {{Service: lambda.amazonaws.com}}, Action: "sts:AssumeRole"}}]
  Worker{i}:
    Type: AWS::Lambda::Function
    Properties:
      Runtime: python3.13
      Handler: app{i}.handler
      Role: !GetAtt Role{i}.Arn
      Timeout: {timeout}
      Code: {{S3Bucket: builds, S3Key: app.zip}}
  Feed{i}:
    Type: AWS::Lambda::EventSourceMapping
    Properties:
      EventSourceArn: !GetAtt Jobs{i}.Arn
      FunctionName: !Ref Worker{i}
      BatchSize: 1
      ScalingConfig: {{MaximumConcurrency: 5}}
"""


def install():
    if not (VENV / "bin/cfn-lint").exists():
        subprocess.run(["python3", "-m", "venv", VENV], check=True)
        subprocess.run([VENV / "bin/pip", "install", "--quiet", "cfn-lint==1.58.0"], check=True)


def median(command, runs, cwd):
    times = []
    for _ in range(runs):
        start = time.perf_counter()
        done = subprocess.run(command, cwd=cwd, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        times.append(time.perf_counter() - start)
        # Findings are exit codes of their own; a crash is none.
        assert done.returncode in (0, 1, 2, 4, 6) and "Traceback" not in done.stderr, done.stderr
    return statistics.median(times)


def write(folder, count):
    folder = pathlib.Path(folder)
    for i in range(count):
        # Every tenth has its fault.
        timeout = 60 if i % 10 else 900
        (folder / f"t{i:04}.yaml").write_text(TEMPLATE.format(i=i, hidden=360, timeout=timeout))
    return sorted(path.name for path in folder.glob("*.yaml"))


def main():
    install()
    check = [FOREBAY, "check", "timeouts", "--format", "json"]
    lint = [VENV / "bin/cfn-lint", "--format", "json"]
    rows = []
    for count, cfn_runs in [(1, 3), (50, 3)]:
        with tempfile.TemporaryDirectory() as folder:
            files = write(folder, count)
            ours = median([*check, *files], 5, folder)
            theirs = median([*lint, *files], cfn_runs, folder)
            rows.append((f"{count} template{'s' if count > 1 else ''}", ours, theirs))
    with tempfile.TemporaryDirectory() as folder:
        write(folder, 1000)
        rows.append(("1,000 templates, a folder", median([*check, "."], 5, folder), None))
    with tempfile.TemporaryDirectory() as folder:
        head, body = "Resources:\n", TEMPLATE.split("Resources:\n")[1]
        text = head + "".join(body.replace("!Ref Hidden{i}", "360").format(i=i, timeout=60) for i in range(11_000))
        (pathlib.Path(folder) / "large.yaml").write_text(text)
        rows.append((f"one template of {len(text) / 1e6:.0f} MB", median([*check, "large.yaml"], 3, folder), None))
    print("| what | forebay, s | cfn-lint 1.58.0, s | ratio |")
    print("|---|---:|---:|---:|")
    for what, ours, theirs in rows:
        other = "-" if theirs is None else f"{theirs:.2f}"
        ratio = "-" if theirs is None else f"{theirs / ours:.0f}"
        print(f"| {what} | {ours:.4f} | {other} | {ratio} |")


if __name__ == "__main__":
    main()
