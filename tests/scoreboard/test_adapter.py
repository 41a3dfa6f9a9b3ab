"""The adapters' common half, served over the real protocol, with a reader that echoes."""

import hashlib
import json
import shutil
import subprocess
from pathlib import Path

import pytest

from conformance.brokers.jars import pyspark_jars
from generators.errors import HarnessError
from scoreboard import judging
from scoreboard.judging import JAVA

ECHO = Path(__file__).with_name("Echo.java").read_text("utf-8")


@pytest.fixture(scope="module")
def classes(tmp_path_factory):
    if shutil.which("javac") is None:
        pytest.skip("needs a JDK: the adapters are compiled")
    work = tmp_path_factory.mktemp("adapter")
    (work / "Echo.java").write_text(ECHO)
    path = ":".join(str(jar) for jar in pyspark_jars().glob("jackson-*-2*.jar"))
    sources = [*map(str, (JAVA / "scoreboard").glob("*.java")), str(work / "Echo.java")]
    subprocess.run(
        ["javac", "-Xlint:all", "-Werror", "-proc:none", "-d", str(work), "-cp", path, *sources],
        check=True,
    )
    return f"{work}:{path}"


def spoken(classes, *lines):
    command = [
        "java",
        "-XX:TieredStopAtLevel=1",
        "-cp",
        classes,
        "scoreboard.Adapter",
        "echo.Echo",
        '{"types":["int"]}',
        "a=b=c",
    ]
    text = "".join(json.dumps(line) + "\n" for line in lines)
    done = subprocess.run(command, input=text, capture_output=True, text=True, check=True)
    return [json.loads(line) for line in done.stdout.splitlines()]


def begin(name):
    column = {
        "name": "e",
        "nullable": True,
        "spark": "int",
        "type": {"name": "enum", "logical": "enum", "members": ["x", "y"]},
    }
    table = {"database": "d", "schema": None, "name": name, "primary_key": [], "columns": [column]}
    return {
        "type": "begin",
        "batch": 1,
        "level": 2,
        "deployment": {"time_zone": "UTC"},
        "table": table,
    }


def record(seq, value):
    return {
        "type": "record",
        "seq": seq,
        "topic": "t",
        "key": None,
        "value": None if value is None else {"base64": value},
    }


def test_a_conversation(classes):
    start = {"type": "start", "cdc": 1, "format": "alibaba-canal-json", "levels": [1, 2]}
    end = {"type": "end", "batch": 1}
    first = (begin("t"), record(1, "AP8="), record(2, ""), record(3, None), end)
    second = (begin("refused"), record(4, "AP8="), end)
    started, full, empty, null, ended, refused, _ = spoken(classes, start, *first, *second)
    forms = {
        "language": "Java",
        "levels": [2],
        "bytes": "base64",
        "labels": True,
        "capabilities": {"types": ["int"]},
    }
    assert started == {"type": "started", "cdc": 1, **forms}
    image = {
        "name": "e[x, y]",
        "number": "9223372036854775807",
        "decimal": "1000",
        "bytes": {"base64": "AP8="},
    }
    image |= {
        "instant": "2024-02-29T23:59:59.123456Z",
        "clock": "2024-02-29T00:00:00",
        "time": "23:59:00",
    }
    image |= {"date": "0001-01-01", "set": "a,b", "flag": True, "none": None, "zone": "UTC{a=b=c}"}
    assert full["rows"][0] == {
        "row": 0,
        "kind": "ROW",
        "op": "UPDATE",
        "before": None,
        "after": image,
    }
    assert full["rows"][1] == {
        "row": 1,
        "kind": "ROW",
        "op": "DELETE",
        "before": image,
        "after": None,
    }
    assert empty["rows"] == [
        {"row": 0, "kind": "CORRUPT", "error": "java.lang.IllegalArgumentException: empty"}
    ]
    assert null["rows"] == []
    assert ended == {"type": "ended", "batch": 1}
    message = "java.lang.Exception: really; java.lang.IllegalStateException: no such type"
    assert refused["rows"] == [{"row": 0, "kind": "CORRUPT", "error": message}]


def test_packages_are_installed_once_and_never_without_a_digest(tmp_path, monkeypatch):
    monkeypatch.setattr(judging, "cache_dir", lambda: tmp_path)
    notes = []
    assert judging.install_wheels((), notes.append) is None
    with pytest.raises(HarnessError, match=r"cannot install a==1, b==2:\n"):
        judging.install_wheels(("a==1", "b==2"), notes.append)
    assert notes == ["installing a==1, b==2"]
    assert [*(tmp_path / "scoreboard").iterdir()] == []
    digest = hashlib.sha256(b"a==1\nb==2\n").hexdigest()[:16]
    installed = tmp_path / "scoreboard" / f"wheels-{digest}"
    installed.mkdir()
    assert judging.install_wheels(("a==1", "b==2"), notes.append) == installed


def test_without_pip_uv_installs_and_without_both_it_is_told(tmp_path, monkeypatch):
    monkeypatch.setattr(judging.importlib.util, "find_spec", lambda name: None)
    monkeypatch.setattr(judging.sys, "executable", str(tmp_path / "python"))
    with pytest.raises(HarnessError, match=r"/python has neither pip nor uv"):
        judging._installer()
    (tmp_path / "uv").touch()
    python = str(tmp_path / "python")
    assert judging._installer() == [str(tmp_path / "uv"), "pip", "install", "--python", python]
