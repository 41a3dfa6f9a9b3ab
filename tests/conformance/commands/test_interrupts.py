"""An interrupt ends the command even where Python drops the exception that it raises."""

import signal
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]

# The signal comes while the callback of the garbage collector runs, as one of Hypothesis does; it comes in the first call only.
DROPPED = """
import gc, os, sys, time
from conformance.commands.interrupts import heed

def callback(phase, info):
    gc.callbacks.remove(callback)
    os.kill(os.getpid(), int(sys.argv[1]))
    time.sleep(0.05)

heed()
gc.callbacks.append(callback)
try:
    gc.collect()
    print("went on", flush=True)
    time.sleep(30)
except KeyboardInterrupt:
    print("interrupted")
"""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupt_in_a_callback_of_the_garbage_collector_is_not_dropped(number):
    done = subprocess.run(
        [sys.executable, "-c", DROPPED, str(int(number))], cwd=ROOT, capture_output=True, text=True, timeout=20, check=True
    )
    assert (done.stdout.split("\n"), done.stderr) == (["went on", "interrupted", ""], "")


# Every other exception of a finaliser is shown as Python shows it.
SHOWN = """
from conformance.commands.interrupts import heed

class Wrong:
    def __del__(self):
        raise ValueError("a fault of a finaliser")

heed()
Wrong()
"""


def test_other_dropped_exceptions_are_shown():
    done = subprocess.run([sys.executable, "-c", SHOWN], cwd=ROOT, capture_output=True, text=True, timeout=20, check=True)
    assert "ValueError: a fault of a finaliser" in done.stderr
