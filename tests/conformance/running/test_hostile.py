"""The tables of docs/troubleshooting.md: decoders that do harm, and signals to the harness. Nothing
is left of them.
"""

import os
import re
import shlex
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest
from command_lines import performed

from generators.errors import HarnessError

ROOT = Path(__file__).resolve().parents[3]
NAME = "ticdc-canal-json"
LIMIT_S, PATIENCE_S, MEMORY_MB = 2, 60, 300
WAITED_FOR = ("hang", "closed output")
"""What only the limit ends: all else has time to do its harm on a busy machine."""
ASKED = (
    "--no-config",
    "run",
    NAME,
    "--broker",
    "none",
    "--writer-profile",
    "v7.1.6",
    "--select",
    f"{NAME}/v7.1.6/int/m*",
)
PAGE = (ROOT / "docs" / "troubleshooting.md").read_text("utf-8")


def rows(first):
    """The rows of the page's table whose first heading is this one."""
    table = PAGE.partition(f"| {first} |")[2].partition("\n\n")[0].splitlines()[2:]
    return [
        tuple(cell.strip().strip("`") for cell in row.strip("| ").split(" | ")) for row in table
    ]


@pytest.fixture
def place(tmp_path, monkeypatch):
    """A folder whose `tmp` is the temporary one; all that is started here is marked by it."""
    if not Path("/proc/self/environ").exists():
        pytest.skip("needs /proc")
    (tmp_path / "tmp").mkdir()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TMPDIR", str(tmp_path / "tmp"))
    monkeypatch.setenv("HOSTILE", str(tmp_path))
    monkeypatch.setattr(tempfile, "tempdir", None)
    return tmp_path


def left(place):
    """The processes and temporary files that are still there after some seconds."""
    mark, until = f"HOSTILE={place}".encode(), time.monotonic() + 20
    while True:
        processes = []
        for entry in Path("/proc").glob("[0-9]*"):
            try:
                marked = mark in (entry / "environ").read_bytes().split(b"\0")
                processes += (
                    [(entry / "cmdline").read_bytes()]
                    if marked and entry.name != str(os.getpid())
                    else []
                )
            except OSError:
                continue
        remains = processes, [path.name for path in (place / "tmp").iterdir()]
        if not any(remains) or time.monotonic() > until:
            return remains
        time.sleep(0.1)


def decoder(place, when, what):
    return "cmd:" + shlex.join(
        [
            sys.executable,
            str(Path(__file__).with_name("hostile.py")),
            when,
            what,
            str(place / "reached"),
        ]
    )


@pytest.mark.parametrize(("when", "what", "code", "said"), [row[:4] for row in rows("when")])
def test_a_decoder_that_does_harm_gets_a_verdict(place, when, what, code, said):
    began, limit_s = time.monotonic(), LIMIT_S if what in WAITED_FOR else PATIENCE_S
    words = (
        *ASKED,
        "--level",
        "changes",
        "--timeout",
        limit_s,
        "--memory",
        MEMORY_MB,
        "--decoder",
        decoder(place, when, what),
    )
    done = performed(*words, "--format", "pretty", width=400)
    error = done.exception
    text = " ".join(f"{done.output} {error if isinstance(error, HarnessError) else ''}".split())
    exit_code = error.exit_code if isinstance(error, HarnessError) else done.exit_code
    assert (exit_code, (place / "reached").exists()) == (int(code), True)
    assert said in text, text
    # Of the harness's own a few seconds on a busy machine.
    assert time.monotonic() - began < 8 * LIMIT_S + 30
    assert left(place) == ([], [])


# Each moment and each signal: the signals are handled alike at every moment.
@pytest.mark.parametrize(
    ("when", "number", "code"), [rows("while the decoder")[n][:3] for n in (0, 3, 4, 7)]
)
def test_a_signal_ends_the_harness_and_all_that_it_started(place, when, number, code):
    what = {"starts": "start", "decodes": "record", "is searched for one message": "one record"}[
        when
    ]
    limit_s = 5 if what == "one record" else 300
    words = (
        *ASKED,
        "--level",
        "changes",
        "--timeout",
        limit_s,
        "--decoder",
        decoder(place, what, "hang"),
    )
    argv, environ = (
        [sys.executable, "-m", "conformance", *map(str, words)],
        {**os.environ, "PYTHONPATH": str(ROOT)},
    )
    with subprocess.Popen(
        argv, env=environ, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    ) as harness:
        try:
            until, seen = time.monotonic() + 120, set()
            while len(seen) < (2 if what == "one record" else 1):
                assert time.monotonic() < until and harness.poll() is None
                if (place / "reached").exists():
                    seen |= {(place / "reached").read_text("ascii")} - {""}
                time.sleep(0.05)
            harness.send_signal(getattr(signal, number))
            began = time.monotonic()
            harness.communicate(timeout=60)
            took = time.monotonic() - began
        finally:
            harness.kill()
    assert (harness.returncode, took < 30, left(place)) == (int(code), True, ([], []))


def test_the_tables_are_read():
    assert len(rows("when")) > 15 and len(rows("while the decoder")) > 5
    assert re.fullmatch(r"-?\d+", rows("when")[0][2])
