"""Programs of pip's pyspark beside the harness, whose Python has pyspark and nothing else."""

import contextlib
import os
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pyspark
import pytest

from conformance.brokers.jars import QUICK

HOME = Path(pyspark.__file__).parent
PATIENCE_S = 60


@pytest.fixture(scope="module")
def bare_python(tmp_path_factory):
    """A Python like the tests', without its installed packages."""
    path = tmp_path_factory.mktemp("bare") / "python"
    path.write_text(f'#!/bin/sh\nexec {sys.executable} -S "$@"\n', "utf-8")
    path.chmod(0o755)
    return str(path)


@pytest.fixture(scope="module")
def program(tmp_path_factory, bare_python, class_archive):
    """A function that starts a program of pyspark's `bin` and waits until its log has some
    words.
    """
    folder, started = tmp_path_factory.mktemp("spark"), []
    hidden = ("PYTHONPATH", "CDC_CONFORMANCE_REPLY_FD")
    environment = {name: value for name, value in os.environ.items() if name not in hidden} | {
        "SPARK_HOME": str(HOME),
        "SPARK_LOCAL_IP": "127.0.0.1",
        "SPARK_DAEMON_MEMORY": "1g",
        # Of all JVMs: also of the launchers, and of the executors.
        "JDK_JAVA_OPTIONS": " ".join((*QUICK, *class_archive)),
        "PYSPARK_PYTHON": bare_python,
    }

    def start(says, *words):
        file = folder / f"{len(started)}.log"
        with file.open("wb") as log:
            command = [HOME / "bin" / words[0], *words[1:]]
            process = subprocess.Popen(
                command, stdout=log, stderr=log, env=environment, cwd=folder, start_new_session=True
            )
        started.append(process)
        deadline = time.monotonic() + PATIENCE_S
        while says not in (text := file.read_text("utf-8", "replace")):
            assert process.poll() is None and time.monotonic() < deadline, text
            time.sleep(0.1)

    yield start
    for process in reversed(started):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


MODULES = {
    "parts/__init__.py": "",
    "parts/late.py": """
        def same(value):
            return value
        """,
    "helper.py": """
        import sys

        def same(value):
            import generators.model
            from parts.late import same
            assert ".zip" in generators.model.__file__, generators.model.__file__
            assert not any(name.endswith("-packages") for name in sys.path), sys.path
            return same(value)
        """,
    "mine.py": """
        import helper
        import parts
        from pyspark.sql import functions as F
        from spark_checks.decoders import ticdc_canal_json as reference

        def same(records):
            return records.withColumn("value", F.udf(helper.same, "binary")("value"))

        def decode(records, deployment=None):
            return reference.decode(same(records), deployment=deployment)

        def decode_rows(records, table, deployment=None):
            return reference.decode_rows(same(records), table, deployment=deployment)

        def arrow(records):
            return reference.decode(records.mapInArrow(lambda batches: batches, records.schema))
        """,
}
"""A decoder with a function in Python, its modules, and a package of which only workers import a
module.
"""


@pytest.fixture
def python_decoder(tmp_path, monkeypatch):
    """`mine.py` in the working directory."""
    monkeypatch.chdir(tmp_path)
    for name, code in MODULES.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(textwrap.dedent(code), "utf-8")
