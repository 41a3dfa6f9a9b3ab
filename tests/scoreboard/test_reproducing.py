"""The programs that reproduce a fault run one after the other, whatever each of them raises."""

from __future__ import annotations

import base64
import os
import subprocess
import sys
from typing import TYPE_CHECKING

from scoreboard.reproducing import SPARK_TEMPLATES

if TYPE_CHECKING:
    from pathlib import Path

NO_SPARK = """
class SparkSession:
    def __getattr__(self, name):
        return lambda *arguments: self

SparkSession.builder = SparkSession()
"""
"""In place of PySpark: a session that takes every call."""


def test_an_exception_without_a_text_does_not_end_the_run(tmp_path: Path) -> None:
    (tmp_path / "pyspark").mkdir()
    (tmp_path / "pyspark" / "__init__.py").touch()
    (tmp_path / "pyspark" / "sql.py").write_text(NO_SPARK, "utf-8")
    (tmp_path / "bare.py").write_text("assert False", "utf-8")
    (tmp_path / "worded.py").write_text("raise ValueError('one\\ntwo')", "utf-8")
    ran = subprocess.run(
        [sys.executable, str(SPARK_TEMPLATES / "all.py"), "", "bare", "worded"],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
        check=False,
    )
    printed = [line.split(" ") for line in ran.stdout.splitlines()]
    assert [(name, base64.b64decode(output).decode()) for name, output in printed] == [
        ("bare", "AssertionError: "),
        ("worded", "ValueError: one"),
    ]
