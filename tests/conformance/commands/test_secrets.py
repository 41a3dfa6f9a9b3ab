"""A secret among the settings of Spark stands in no output of a run and in no list of processes."""

import os
import subprocess
import sys

import pytest

TELLING = """
from pathlib import Path

from pyspark.sql import SparkSession


def decode(records):
    context = SparkSession.active().sparkContext
    secrets = [context.getConf().get(f"spark.hadoop.fs.s3a.{name}") for name in ("secret.key", "session.token")]
    lists = []
    for process in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            words = process.read_bytes()
        except OSError:
            continue
        if secrets[0].encode() in words:
            lists.append(words[:40])
    print("log", secrets)
    raise ValueError(f"the keys are {secrets}; {len(lists)} processes tell the first")
"""


@pytest.mark.spark
@pytest.mark.slow
def test_no_output_of_a_run_tells_a_secret_of_sparks_settings(tmp_path):
    (tmp_path / "telling.py").write_text(TELLING, "utf-8")
    (tmp_path / "cdc-conformance.toml").write_text(
        "[run]\nspark-conf = ['spark.hadoop.fs.s3a.secret.key=hunter2-of-file']\n", "utf-8"
    )
    options = ["--decoder", "telling.py:decode", "--writer-profile", "v7.1.6", "--broker", "none"]
    select = ["--select", "*/shape/insert", "--level", "changes", "--report", "out", "--details"]
    # The option would replace the file's array: both are of the file but one of the line.
    done = subprocess.run(
        [sys.executable, "-m", "conformance", "run", "ticdc-canal-json", *options, *select],
        cwd=tmp_path,
        capture_output=True,
        timeout=300,
        check=False,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(path for path in sys.path if path)},
    )
    assert done.returncode == 1, done.stderr
    files = [path for path in tmp_path.rglob("*") if path.is_file() and "out" in path.parts]
    assert {path.suffix for path in files} >= {".md", ".html", ".jsonl", ".sarif", ".xml", ".json"}
    outputs = {path.name: path.read_bytes() for path in files}
    outputs |= {"standard output": done.stdout, "standard error": done.stderr}
    assert [name for name, content in outputs.items() if b"hunter2" in content] == []
    assert b"the keys are ['...', None]; 0 processes tell the first" in outputs["report.jsonl"]
