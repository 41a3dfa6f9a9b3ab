"""Seconds from a command to what its user waits for: cold processes, without Kafka and with it."""

import os
import signal
import subprocess
import sys

import pytest

WRONG = """
from pyspark.sql import functions as F
from {module} import decode as right


def decode(records, *, deployment=None):
    return right(records, deployment=deployment).where(F.expr("op IS DISTINCT FROM 'DELETE'"))
"""


@pytest.fixture(scope="module", autouse=True)
def prepared():
    """The archives of the JVMs' classes, which a user makes once."""
    subprocess.run(
        [sys.executable, "-m", "conformance", "prepare"], check=True, capture_output=True
    )


@pytest.mark.parametrize("name", ["ticdc-canal-json", "debezium-json"])
def test_first_verdict(name, tmp_path, rounds, benchmark):
    path = tmp_path / "mine.py"
    path.write_text(WRONG.format(module=f"spark_checks.decoders.{name.replace('-', '_')}"), "utf-8")
    argv = [
        sys.executable,
        "-m",
        "conformance",
        "run",
        name,
        "--broker",
        "none",
        "--decoder",
        f"{path}:decode",
    ]
    started = []

    def first_broken_rule():
        child = subprocess.Popen(argv, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        started.append(child)
        assert next(line for line in child.stderr if line.startswith("✗"))

    def stopped():
        for child in started:
            child.send_signal(signal.SIGINT)
            child.communicate()
            assert child.returncode == 130
        started.clear()

    benchmark.group = "start"
    # Between the rounds, so that no round has the end of the last one beside it.
    benchmark.pedantic(first_broken_rule, setup=stopped, rounds=rounds, warmup_rounds=1)
    stopped()


@pytest.mark.parametrize(
    "options",
    [["--broker", "embedded"], ["--budget", "ci", "--broker", "none"]],
    ids=["smoke-kafka", "ci-without-kafka"],
)
def test_all_formats(options, benchmark):
    def run():
        argv = [sys.executable, "-m", "conformance", "run", "--all", *options]
        subprocess.run(argv, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    benchmark.group = "start"
    # Minutes each: CDC_BENCH_RUNS repeats them.
    benchmark.pedantic(run, rounds=int(os.environ.get("CDC_BENCH_RUNS", "1")))
