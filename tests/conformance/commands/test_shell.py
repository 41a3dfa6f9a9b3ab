"""Progress off a terminal, files that are saved after a verdict, and interrupts, which are never
dropped.
"""

import io
import signal
import subprocess
import sys
from pathlib import Path

import click
import pytest

from conformance.commands import shell
from generators.errors import HarnessError


def progress(monkeypatch, capsys, steps):
    """What is printed for steps of (seconds, message or None for a look at the clock)."""
    clock = [100.0]
    monkeypatch.setattr(shell.time, "monotonic", lambda: clock[0])
    note = shell.Progress()
    for seconds, text in steps:
        clock[0] = 100.0 + seconds
        if text is None:
            note._print_if_due()
        else:
            note(text)
    return capsys.readouterr().err.splitlines()


def test_a_message_that_comes_too_soon_is_printed_later(monkeypatch, capsys):
    steps = [
        (0, "first"),
        (1, "second"),
        (2, "third"),
        (5, None),
        (10, None),
        (11, None),
        (30, "fourth"),
    ]
    assert progress(monkeypatch, capsys, steps) == ["... first", "... third", "... fourth"]


def test_a_long_step_says_that_it_goes_on(monkeypatch, capsys):
    steps = [(0, "long"), *((second, None) for second in range(1, 130))]
    assert progress(monkeypatch, capsys, steps) == [
        "... long",
        "... long (60 s)",
        "... long (120 s)",
    ]


def test_nothing_in_a_message_acts_on_a_terminal(monkeypatch, capsys):
    assert progress(monkeypatch, capsys, [(0, "\x1b[2J[red]x\u202e")]) == [
        "... \\x1b[2J[red]x\\u202e"
    ]
    shell.Progress().line("\x1b]0;title\x07")
    assert capsys.readouterr().err == "\\x1b]0;title\\x07\n"


def test_what_cannot_be_saved_is_named_and_has_a_code(capsys):
    def full():
        raise HarnessError("cannot write the report to x: No space left on device")

    assert shell.save_files(full) == 3
    assert (
        capsys.readouterr().err
        == "cdc-conformance: cannot write the report to x: No space left on device\n"
    )
    assert shell.save_files(lambda: ["a", "b"]) == 0
    assert capsys.readouterr().err == "report: a\nreport: b\n"


ROOT = Path(__file__).parents[3]
# In "finaliser" the signal comes while the callback of the garbage collector runs, as one of
# Hypothesis does, in its first call only. In "wait" another thread takes it, so that no call of the
# main thread ends.
MOMENTS = {
    "finaliser": """
def callback(phase, info):
    gc.callbacks.remove(callback)
    send()
    time.sleep(0.05)

gc.callbacks.append(callback)
gc.collect()
write(1, b"went on\\n")  # at once, whenever the signal comes
time.sleep(30)
""",
    "wait": """
signal.pthread_sigmask(signal.SIG_BLOCK, {number})
threading.Timer(0.1, send).start()
threading.Event().wait(15)
write(1, b"went on\\n")
""",
    "import": """
with tempfile.TemporaryDirectory() as folder:
    Path(folder, "drops.py").write_text("import __main__\\ntry: __main__.send()\\nexcept BaseException: pass\\n")
    sys.path.insert(0, folder)
    import drops
time.sleep(15)
write(1, b"went on\\n")
""",
    "text": """
exec("send(); time.sleep(15)")
""",
    "library": """
try:
    send()
    time.sleep(15)
except BaseException:
    raise AssertionError
""",
}
INTERRUPTED = """
import gc, os, signal, sys, tempfile, threading, time
from pathlib import Path
from conformance.commands.interrupts import install_handlers, surface_interrupts

write, number = os.write, int(sys.argv[1])

def send():
    os.kill(os.getpid(), number)

def slow(file, data):
    write(file, data)
    time.sleep(float(sys.argv[2]))

install_handlers()
os.write = slow
try:
    with surface_interrupts():
        exec(compile(sys.argv[3], "moment", "exec"))
except KeyboardInterrupt:
    print("interrupted")
"""


# On a busy machine a reminder comes before the hook that asked for it has ended.
@pytest.mark.parametrize(
    ("moment", "slow"), [("finaliser", 0.1), *((moment, 0) for moment in MOMENTS)]
)
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_no_interrupt_is_lost(number, moment, slow):
    command = [sys.executable, "-c", INTERRUPTED, str(int(number)), str(slow), MOMENTS[moment]]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=20, check=True)
    said = ["went on", "interrupted", ""] if moment == "finaliser" else ["interrupted", ""]
    assert (done.stdout.split("\n"), done.stderr) == (said, "")


def test_an_ignored_interrupt_stays_ignored():
    # As of a run in the background of a script.
    ignored = "import signal; signal.signal(signal.SIGINT, signal.SIG_IGN)\n" + INTERRUPTED
    command = [
        sys.executable,
        "-c",
        ignored,
        str(int(signal.SIGINT)),
        "0",
        "send(); time.sleep(0.1); print('went on')",
    ]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=20, check=True)
    assert (done.stdout, done.stderr) == ("went on\n", "")


# Every other exception of a finaliser is shown as Python shows it.
SHOWN = """
from conformance.commands.interrupts import install_handlers

class Wrong:
    def __del__(self):
        raise ValueError("a fault of a finaliser")

install_handlers()
Wrong()
"""


def test_other_dropped_exceptions_are_shown():
    done = subprocess.run(
        [sys.executable, "-c", SHOWN],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=20,
        check=True,
    )
    assert "ValueError: a fault of a finaliser" in done.stderr


def test_whether_both_streams_go_to_one_place(monkeypatch, tmp_path):
    with (tmp_path / "a").open("w") as output, (tmp_path / "b").open("w") as errors:
        monkeypatch.setattr("sys.stdout", output)
        monkeypatch.setattr("sys.stderr", errors)
        assert not shell.shares_output()
        monkeypatch.setattr("sys.stderr", output)
        assert shell.shares_output()
        monkeypatch.setattr("sys.stderr", io.StringIO())
        assert not shell.shares_output()


@pytest.mark.parametrize(
    ("given", "shown"),
    [
        (
            ["--spark-conf", "spark.x.secret.key=hunter2"],
            ["--spark-conf", "spark.x.secret.key=..."],
        ),
        (["--spark-conf=spark.x.token=hunter2"], ["--spark-conf=spark.x.token=..."]),
        (["--spark-conf", "spark.x.rows=2"], ["--spark-conf", "spark.x.rows=2"]),
        (["--remote", "sc://h/;token=hunter2"], ["--remote", "sc://h/;token=..."]),
        (["--tables", "mysql://me@db/shop"], ["--tables", "mysql://..."]),
        (["--decoder=mine.py:decode"], ["--decoder=mine.py:decode"]),
    ],
)
def test_the_arguments_in_a_report_hold_no_secret(given, shown):
    assert shell.without_secrets(["run", *given], ["mysql://me@db/shop"]) == ("run", *shown)


def test_a_table_that_goes_into_a_pipe_is_text_unless_json_is_asked_for():
    command = [Path(sys.executable).with_name("cdc-conformance"), "formats", "ogg-json"]
    for words, first in ([], "┏"), (["--format", "json"], '[\n {\n  "name":"ogg-json"'):
        done = subprocess.run([*command, *words], capture_output=True, check=True, timeout=60)
        assert done.stdout.decode().replace(": ", ":").startswith(first)


@pytest.mark.parametrize("text", ["nan", "inf", "-inf", "1e999", "0", "x"])
def test_a_number_of_seconds_is_finite_and_within_its_limits(text):
    with pytest.raises(click.BadParameter):
        shell.FiniteFloat(min=0.1).convert(text, None, None)
    assert shell.FiniteFloat(min=0.1).convert("2.5", None, None) == 2.5
