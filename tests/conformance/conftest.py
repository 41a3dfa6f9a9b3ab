"""What the tests of engines, runs and commands share: a child without Spark, a look at processes,
and patience.
"""

import json
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from conformance.engines import child as engine
from conformance.engines.child import ChildEngine


def _stat(pid: str) -> tuple[str, int, int] | None:
    """State, parent and session of a process, or None when it is gone."""
    try:
        rest = Path("/proc", pid, "stat").read_text("utf-8", "replace").rpartition(")")[2].split()
    except OSError:
        return None
    return rest[0], int(rest[1]), int(rest[3])


def _living(wanted: Callable[[int, int], bool]) -> list[int]:
    """Processes, zombies excepted, whose parent and session are wanted."""
    if not Path("/proc/self/stat").exists():
        pytest.skip("needs /proc")
    processes = (
        (path.name, _stat(path.name)) for path in Path("/proc").iterdir() if path.name.isdecimal()
    )
    return [
        int(pid)
        for pid, seen in processes
        if seen is not None and seen[0] != "Z" and wanted(seen[1], seen[2])
    ]


@pytest.fixture
def session_processes():
    """A function that lists the living processes of a session: whatever a child that leads it has
    started.
    """
    return lambda leader: _living(lambda _parent, session: session == leader)


@pytest.fixture
def children():
    """A function that lists the living processes whose parent is the one given."""
    return lambda process: _living(lambda parent, _session: parent == process)


@pytest.fixture
def eventually():
    """A function that waits until a condition holds; fails when it does not within some seconds."""

    def wait(condition, seconds=20.0):
        deadline = time.monotonic() + seconds
        while not condition():
            assert time.monotonic() < deadline, "did not come true in time"
            time.sleep(0.05)

    return wait


FAKE = """
# Answers as it is told by the last part of the decoder's name, the records' path or, for a request named there, by FAKE_SAYS;
# `late` is answered behind the request that follows, or never.
import json, os, sys, time
replies = os.fdopen(int(os.environ["CDC_CONFORMANCE_REPLY_FD"]), "w")
log = open(os.environ["FAKE_LOG"], "a")
kept = []

def answer(request, reply):
    replies.write(json.dumps({"id": request["id"], **reply}) + "\\n")
    replies.flush()

for line in sys.stdin:
    request = json.loads(line)
    log.write(json.dumps([os.getpid(), request["op"], request.get("handle", ""), request.get("decoder", "")]) + "\\n")
    log.flush()
    if request["op"] == "start":
        open(os.environ["FAKE_LOG"] + "-start", "w").write(json.dumps(request))
    says = json.loads(os.environ.get("FAKE_SAYS", "{}"))
    word = request.get("decoder") or request.get("parquet") or says.get(request["op"], "")
    word = word.rpartition(".")[2]
    if word == "late":
        kept.append(request)
        continue
    print("noise on standard output", flush=True)
    if word == "flood":
        for _ in range(20_000):
            print("x" * 999, flush=True)
        word = "exit"
    if word == "garbage":
        replies.write("{garbage\\n")
        replies.flush()
        time.sleep(60)
    if word == "daemon":
        import subprocess
        sleeper = subprocess.Popen(["sleep", "60"], start_new_session=True)
        open(os.path.join(os.path.dirname(os.environ["FAKE_LOG"]), "daemon"), "w").write(str(sleeper.pid))
        word = "exit"
    if word == "spoil":
        os.environ["FAKE_SAYS"] = '{"start": "harness"}'
    if word == "exit":
        print("last words", file=sys.stderr, flush=True)
        os._exit(7)
    if word == "hang":
        time.sleep(600)
    if word in ("raised", "usage", "harness"):
        reply = {"error": word, "message": "told so"}
    else:
        reply = {"rows": 3, "levels": [1], "capabilities": {"kinds": ["ROW"]}, "answer": {"rows": 3}}
    answer(request, reply)
    while kept:
        answer(kept.pop(), {"error": "raised", "message": "late"})
"""


@pytest.fixture
def fake(tmp_path, monkeypatch):
    """A function that makes an engine whose child is FAKE, and one that gives what its children
    were asked.
    """
    (tmp_path / "fake_worker.py").write_text(FAKE, "utf-8")
    monkeypatch.setattr(engine, "WORKER", "fake_worker")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.setenv("FAKE_LOG", str(tmp_path / "log"))
    made = []

    def make(**options):
        made.append(ChildEngine(**{"timeout_s": 1, "start_s": 20} | options))
        return made[-1]

    def asked():
        return [json.loads(line) for line in (tmp_path / "log").read_text("utf-8").splitlines()]

    yield make, asked
    for started in made:
        started.close()


INSERTS = """
import json, sys
from beside import MORE

for line in sys.stdin:
    asked = json.loads(line)
    answer = {"type": "started", "cdc": 1, "levels": [1]}
    if asked["type"] == "record":
        read = json.loads(asked["value"]["text"])
        names = {"database": read["database"], "table": read["table"] + MORE, "keys": read["pkNames"]}
        change = {"row": 0, "kind": "ROW", "op": read["type"], "after": read["data"][0], **names}
        answer = {"type": "changes", "seq": asked["seq"], "changes": [change]}
    elif asked["type"] == "end":
        answer = {"type": "ended", "batch": asked["batch"]}
    if asked["type"] != "begin":
        print(json.dumps(answer), flush=True)
"""


@pytest.fixture
def beside(tmp_path, monkeypatch):
    """A decoder of INSERTs as a process in the working directory, `mine.py`, which starts in no
    time; the function writes `beside.py`, whose MORE the decoder adds to the name of a table.
    """
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.py").write_text(INSERTS, "utf-8")

    def write(text):
        (tmp_path / "beside.py").write_text(text, "utf-8")

    write("MORE = ''\n")
    return write
