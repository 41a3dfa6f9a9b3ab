"""A command decoder that does harm: `hostile.py WHEN WHAT REACHED`. It writes its process id to the
file REACHED when it does.
"""

import json
import os
import signal
import subprocess
import sys
import time

WHEN, WHAT, REACHED = sys.argv[1:]
CORRUPT = {"row": 0, "kind": "CORRUPT", "error": "not read"}
NOWHERE = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}


def bomb():
    eaten = []
    while True:
        eaten.append(
            bytes(1 << 26)
        )  # Untouched zeros take no time, and count: they may be written.


def leave():
    print("I give up", file=sys.stderr, flush=True)  # noqa: T201
    os._exit(3)


def close():
    os.close(1)
    time.sleep(600)


ACTS = {
    "exit": leave,
    "signal": lambda: os.kill(os.getpid(), signal.SIGSEGV),
    "hang": lambda: time.sleep(600),
    "memory": bomb,
    "garbage": lambda: print("Starting the engine ...", flush=True),  # noqa: T201
    "closed output": close,
    "child": lambda: subprocess.Popen(["sleep", "600"], start_new_session=True, **NOWHERE),
}


def main():
    """Answers every message with a CORRUPT row, but for the harm."""
    for line in sys.stdin:
        message = json.loads(line)
        kind = message["type"]
        guilty = kind == "record" and '"c":"2147483647"' in message["value"].get("text", "")
        if kind == WHEN or (WHEN == "one record" and guilty):
            with open(REACHED, "w", encoding="ascii") as file:
                file.write(str(os.getpid()))
            ACTS[WHAT]()
        match kind:
            case "start":
                answer = {"type": "started", "cdc": 1, "levels": [1]}
            case "record":
                answer = {"type": "changes", "seq": message["seq"], "changes": [CORRUPT]}
            case "end":
                answer = {"type": "ended", "batch": message["batch"]}
            case _:
                continue
        print(json.dumps(answer), flush=True)  # noqa: T201


if __name__ == "__main__":
    main()
