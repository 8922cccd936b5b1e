#!/usr/bin/env python3
"""A live plan behind a proxy that adds 50 ms to every request, beside two published tools on the same seeded data.

    cargo build --release
    python3 tests/bench/live_plan.py            # forebay alone
    python3 tests/bench/live_plan.py --peers    # and the peers, installed from PyPI under target/

Needs fakecloud where tests/run keeps it. Times are wall-clock of whole processes; the median of five runs.
What each tool does differs: the table says what, and compares no more than that.
"""

import argparse
import asyncio
import datetime
import os
import pathlib
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
MODEL = "us.anthropic.claude-sonnet-4-6"
DELAY_S = 0.05
RUNS = 5
PEERS = ["bedrock-usage-analyzer==0.7.0b0", "bedrock-quota==1.1.2", "boto3"]


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


class Proxy(threading.Thread):
    """HTTP/1.1 with keep-alive; each request waits, is counted, and goes on."""

    def __init__(self, upstream):
        super().__init__(daemon=True)
        self.port, self.upstream, self.count = free_port(), upstream, 0
        self.ready = threading.Event()

    def run(self):
        asyncio.run(self.serve())

    async def serve(self):
        await asyncio.start_server(self.handle, "127.0.0.1", self.port)
        self.ready.set()
        await asyncio.Event().wait()

    async def handle(self, reader, writer):
        up_reader, up_writer = await asyncio.open_connection("127.0.0.1", self.upstream)

        async def back():
            while data := await up_reader.read(65536):
                writer.write(data)
                await writer.drain()
            writer.close()

        task = asyncio.create_task(back())
        try:
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                length = 0
                for line in head.split(b"\r\n"):
                    name, _, value = line.partition(b":")
                    if name.lower() == b"content-length":
                        length = int(value)
                    if name.lower() == b"expect":
                        writer.write(b"HTTP/1.1 100 Continue\r\n\r\n")
                body = await reader.readexactly(length)
                self.count += 1
                await asyncio.sleep(DELAY_S)
                up_writer.write(head + body)
                await up_writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            up_writer.close()
        await task


SEED = """
import boto3, datetime, sys
cw = boto3.client("cloudwatch")
now = datetime.datetime.now(datetime.timezone.utc).replace(second=0, microsecond=0)
data = []
for minute in range(1, 61):
    for call in range(1, 21):
        at = now - datetime.timedelta(minutes=2 * minute) + datetime.timedelta(seconds=call)
        for name, value in (("InvocationLatency", 1000 + 100 * call), ("InputTokenCount", 1600 + call),
                            ("OutputTokenCount", 100 + 5 * call), ("Invocations", 1), ("EstimatedTPMQuotaUsage", 2100 + 26 * call)):
            data.append(dict(MetricName=name, Dimensions=[{"Name": "ModelId", "Value": sys.argv[1]}], Timestamp=at, Value=float(value)))
for i in range(0, len(data), 500):
    cw.put_metric_data(Namespace="AWS/Bedrock", MetricData=data[i:i + 500])
"""

# What its screen for one model runs, without the screen: the quotas of the Region, and a fortnight's metrics.
BEDROCK_QUOTA = """
import sys
from bedrock_quota.aws_client import AWSClient
from bedrock_quota.cloudwatch_service import CloudWatchService
from bedrock_quota.quota_service import QuotaService
import datetime
import bedrock_quota.time_periods as periods
client = AWSClient("us-east-1")
quotas = QuotaService(client).fetch_quotas()
service = CloudWatchService(client)
now = datetime.datetime.now(datetime.timezone.utc)
span = lambda days, label: periods.TimeRange(label=label, start=now - datetime.timedelta(days=days), end=now)
if service.get_usage_metrics(sys.argv[1], span(14, "14d"), span(1, "today")) is None:
    sys.exit("it finds no ModelId for the model")
"""


def measure(proxy, command, env, runs=RUNS):
    times, counts = [], []
    for _ in range(runs):
        before = proxy.count
        start = time.perf_counter()
        done = subprocess.run(command, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=120)
        times.append(time.perf_counter() - start)
        counts.append(proxy.count - before)
        if done.returncode != 0:
            return None, counts[-1], (done.stderr or done.stdout).decode()[-300:]
    return statistics.median(times), max(counts), ""


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--peers", action="store_true")
    args = parser.parse_args()
    cache = pathlib.Path(os.environ.get("FOREBAY_EMULATORS", pathlib.Path.home() / ".cache/forebay-emulators"))
    fakecloud = cache / "fakecloud-0.51.0/bin/fakecloud"
    forebay = ROOT / "target/release/forebay"
    for program in (fakecloud, forebay):
        if not program.exists():
            sys.exit(f"{program} is not there: run tests/run and `cargo build --release` first")
    venv = ROOT / "target/bench-venv"
    if not (venv / "bin/python").exists():
        subprocess.run([sys.executable, "-m", "venv", venv], check=True)
    wanted = PEERS if args.peers else ["boto3"]
    subprocess.run([venv / "bin/pip", "install", "--quiet", "--disable-pip-version-check", *wanted], check=True)
    port = free_port()
    server = subprocess.Popen([fakecloud, "--addr", f"127.0.0.1:{port}", "--log-level", "error"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    folder = pathlib.Path(tempfile.mkdtemp())
    try:
        for _ in range(100):
            with socket.socket() as s:
                if s.connect_ex(("127.0.0.1", port)) == 0:
                    break
            time.sleep(0.1)
        env = dict(os.environ, HOME=str(folder), XDG_CACHE_HOME=str(folder), AWS_ACCESS_KEY_ID="testing", AWS_SECRET_ACCESS_KEY="testing",
                   AWS_REGION="us-east-1", AWS_DEFAULT_REGION="us-east-1", AWS_EC2_METADATA_DISABLED="true", TERM="dumb")
        subprocess.run([venv / "bin/python", "-c", SEED, MODEL], env=dict(env, AWS_ENDPOINT_URL=f"http://127.0.0.1:{port}"), check=True)
        proxy = Proxy(port)
        proxy.start()
        proxy.ready.wait()
        env["AWS_ENDPOINT_URL"] = f"http://127.0.0.1:{proxy.port}"
        plan = [forebay, "plan", "concurrency", "--model", MODEL, "--max-tokens", "500"]
        rows = [
            ("forebay, first plan of a Region", *measure(proxy, [*plan, "--refresh"], env)),
            ("forebay, repeated plan", *measure(proxy, plan, env)),
            ("forebay, offline example", *measure(proxy, [forebay, "plan", "concurrency", "example:image-moderation", "--offline"], env, 20)),
        ]
        if args.peers:
            analyze = [venv / "bin/bedrock-usage-analyzer", "analyze", "-r", "us-east-1", "-m", MODEL, "-g", "1hour", "-y", "-o", folder / "bua"]
            rows.append(("bedrock-usage-analyzer 0.7.0b0, analyze", *measure(proxy, analyze, env, 3)))
            rows.append(("bedrock-quota 1.1.2, quotas and one model", *measure(proxy, [venv / "bin/python", "-c", BEDROCK_QUOTA, MODEL.removeprefix("us.")], env, 3)))
        print("| what | requests | seconds | x repeated plan |\n|---|---:|---:|---:|")
        base = rows[1][1]
        for name, seconds, requests, error in rows:
            if seconds is None:
                print(f"| {name} | {requests} | failed: {error.strip()} | |")
            else:
                print(f"| {name} | {requests} | {seconds:.3f} | {seconds / base:.2f} |")
    finally:
        server.kill()
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
