"""The child process: reads requests as JSON lines on stdin, answers on a descriptor of its own,
runs Spark in between.

Each request names a queue, which has a thread of its own; the first one's is the main thread.
Standard output and error belong to the decoder and go to the log. When stdin closes, the parent has
ended, and this process ends.
"""

from __future__ import annotations

import json
import os
import queue
import shutil
import signal
import sys
import threading
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final, TypeAlias

Request: TypeAlias = dict[str, Any]
RequestQueue: TypeAlias = "queue.Queue[Request | None]"

PARENT: Final = os.getppid()
"""The harness; another process is the parent once it is dead."""
GRACE_S: Final = 2.0
"""Time limit of running requests once the parent has ended."""


def main() -> None:
    """Serves the requests of the parent process, a thread for each queue, until stdin closes."""
    replies = os.fdopen(int(os.environ["CDC_CONFORMANCE_REPLY_FD"]), "w", encoding="utf-8")
    lock = threading.Lock()
    first: RequestQueue = queue.Queue()
    # A user's modules come last, so that none of them can shadow ours.
    sys.path.append(os.getcwd())
    from spark_checks.services import renewal
    from spark_checks.services.engine import SparkEngine

    engine = SparkEngine()

    def send_answer(reply: dict[str, Any]) -> None:
        """Writes a reply as one line of JSON to the parent process; one thread at a time."""
        with lock:
            replies.write(json.dumps(reply) + "\n")
            replies.flush()

    def serve(requests: RequestQueue) -> None:
        """Answers the requests of one queue in their order, until None stands in it."""
        while (request := requests.get()) is not None:
            send_answer({"id": request["id"], **_answer_request(engine, request)})
            requests.task_done()

    if (renewed := renewal.answer()) is not None:
        send_answer(renewed)

    threading.Thread(target=_dispatch_requests, args=(first, serve), daemon=True).start()
    serve(first)
    engine.stop()
    _tidy()


def _answer_request(engine: Any, request: Request) -> dict[str, Any]:
    """The engine's reply to a request, or a refusal with the error. If the JVM has ended, the
    process exits with code 70, so that the parent starts another.
    """
    from spark_checks.services.engine import DecoderError

    try:
        reply: dict[str, Any] = engine.handle(request)
        return reply
    except Exception as error:
        if not isinstance(error, DecoderError):
            traceback.print_exc()
            if engine.jvm_ended(error):
                # Nothing can be decoded here any more; the parent takes the exit for the answer and
                # starts another child.
                sys.stderr.flush()
                os._exit(70)
        answer: dict[str, Any] = engine.refusal(request, error)
        return answer


def _tidy() -> None:
    """Removes the harness's temporary folder if the harness was killed, and cannot do so itself;
    the folder of this process is in it.
    """
    if os.getppid() != PARENT and (folder := os.environ.get("TMPDIR")):
        shutil.rmtree(Path(folder).parent, ignore_errors=True)


def _dispatch_requests(first: RequestQueue, serve: Callable[[RequestQueue], None]) -> None:
    """Puts each request of stdin into the queue that it names, and starts a thread for each queue
    but `first`, which the main thread serves. When stdin closes, running requests have GRACE_S
    seconds; then the main thread gets the None that ends it or, if a request still runs, the whole
    process group is killed.
    """
    queues = [first]
    for line in sys.stdin:
        request = json.loads(line)
        while len(queues) <= request["queue"]:
            queues.append(queue.Queue())
            threading.Thread(target=serve, args=(queues[-1],), daemon=True).start()
        queues[request["queue"]].put(request)

    def wait() -> None:
        """Waits until the requests of all queues are answered."""
        for requests in queues:
            requests.join()

    answered = threading.Thread(target=wait, daemon=True)
    answered.start()
    answered.join(GRACE_S)
    if answered.is_alive():
        # Busy in a decoder that nobody waits for any more.
        _tidy()
        os.killpg(os.getpgid(0), signal.SIGKILL)
    first.put(None)


if __name__ == "__main__":
    main()
