"""The child process: reads requests as JSON lines on stdin, answers on a descriptor of its own, runs Spark in between.

Standard output and error belong to the decoder and go to the log. When stdin closes, the parent is gone and so is this process.
"""

from __future__ import annotations

import json
import os
import queue
import signal
import sys
import threading
import traceback
from typing import Any


def main() -> None:
    """Serves until stdin closes."""
    replies = os.fdopen(int(os.environ["CDC_CONFORMANCE_REPLY_FD"]), "w", encoding="utf-8")
    requests: queue.Queue[dict[str, Any] | None] = queue.Queue()
    idle = threading.Event()
    threading.Thread(target=_read, args=(requests, idle), daemon=True).start()
    # A user's modules come last, so that none of them can shadow ours.
    sys.path.append(os.getcwd())
    from spark_checks.engine import DecoderError, SparkEngine

    engine = SparkEngine()
    while True:
        idle.set()
        request = requests.get()
        idle.clear()
        if request is None:
            break
        try:
            reply = engine.handle(request)
        except DecoderError as error:
            reply = {"error": "usage", "message": str(error)}
        except Exception as error:
            kind = "raised" if request["op"] in ("decode", "bench") else "harness"
            reply = {"error": kind, "message": _short(error)}
            traceback.print_exc()
            if engine.jvm_ended(error):
                # Nothing can be decoded here any more; the parent takes the exit for the answer and starts another child.
                sys.stderr.flush()
                os._exit(70)
        replies.write(json.dumps(reply) + "\n")
        replies.flush()
    engine.stop()


def _read(requests: queue.Queue[dict[str, Any] | None], idle: threading.Event) -> None:
    for line in sys.stdin:
        requests.put(json.loads(line))
    requests.put(None)
    if not idle.wait(2.0):
        # Busy in a decoder that nobody waits for any more.
        os.killpg(os.getpgid(0), signal.SIGKILL)


def _short(error: BaseException) -> str:
    lines = [line for line in str(error).splitlines() if line.strip() and not line.startswith("\tat ")]
    return f"{type(error).__name__}: " + "\n".join(lines[:12])[:4000]


if __name__ == "__main__":
    main()
