"""Nothing of a command decoder survives a harness that was killed, not even its children in
sessions of their own.
"""

import os
import shlex
import signal
import subprocess
import sys
from pathlib import Path

from processes import alive

STRAY = """
import json, subprocess, sys, time
for line in sys.stdin:
    message = json.loads(line)
    if message["type"] == "start":
        child = subprocess.Popen(["sleep", "600"], start_new_session=True, stdin=-3, stdout=-3, stderr=-3)
        open(sys.argv[1], "w").write(str(child.pid))
        print(json.dumps({"type": "started", "cdc": 1, "levels": [1]}), flush=True)
time.sleep(600)
"""
HARNESS = """
import sys, time
from conformance.engines.command import CommandEngine
engine = CommandEngine(timeout_s=20)
engine.load(sys.argv[1], "changes").result()
print(engine.pid, engine.directory, flush=True)
time.sleep(600)
"""


def command(folder):
    (folder / "decoder.py").write_text(STRAY)
    return "cmd:" + shlex.join([sys.executable, str(folder / "decoder.py"), str(folder / "pid")])


def test_a_killed_harness_leaves_neither_decoder_nor_folder(eventually, tmp_path):
    asked = [sys.executable, "-c", HARNESS, command(tmp_path)]
    with subprocess.Popen(asked, stdout=subprocess.PIPE, text=True) as harness:
        decoder, directory = harness.stdout.readline().split()
        stray = (tmp_path / "pid").read_text()
        os.kill(harness.pid, signal.SIGKILL)
    eventually(lambda: not (alive(decoder) or alive(stray) or Path(directory).exists()))
