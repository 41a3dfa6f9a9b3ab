"""The checkpoint of a streaming query: where it is, which batch is under way, and the moment at
which a test kills the process.

Spark writes the file `offsets/N` before batch N and `commits/N` behind it, whatever the query does
with its rows.
"""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, Final

from pyspark.sql.streaming.query import StreamingQuery

POLL_S: Final = 0.01
"""Seconds between two looks at the checkpoint."""


def folder_of(query: StreamingQuery) -> Path | None:
    """The folder of a query's checkpoint; None if it is not on this machine, or Spark does not tell
    it (Spark Connect).
    """
    handle = getattr(query, "_jsq", None)
    if handle is None:
        return None
    root = str(handle.streamingQuery().resolvedCheckpointRoot())
    scheme, colon, path = root.partition(":")
    if colon and scheme != "file":
        return None
    return Path(path if colon else root)


class KillMoment:
    """Watches a query's checkpoint from another thread, and writes a mark into the folder `marks`
    at the moment that a request names; whoever sees the mark kills this process.

    `moment` has the number of a `batch`, and `at`: `before` (the batch has begun), `after` or
    `commit` (the batch is committed). Without a batch nothing is watched.
    """

    def __init__(self, query: StreamingQuery, moment: Mapping[str, Any], marks: Path) -> None:
        self._over = threading.Event()
        self._folder, self._marks = folder_of(query), marks
        self._batch, self._at = moment.get("batch"), str(moment.get("at", ""))
        self._thread = threading.Thread(target=self._watch, daemon=True)

    def __enter__(self) -> KillMoment:
        if self._batch is not None and self._folder is not None:
            self._marks.mkdir(parents=True, exist_ok=True)
            self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._over.set()

    def _watch(self) -> None:
        """Waits for the file of the awaited batch in the query's checkpoint, then writes a mark,
        by which the parent knows that now is the moment to kill this process.
        """
        assert self._folder is not None
        # Spark writes offsets/N before it runs batch N, commits/N after it.
        part = "offsets" if self._at == "before" else "commits"
        awaited = self._folder / part / str(self._batch)
        while not self._over.wait(POLL_S):
            if awaited.exists():
                mark = self._marks / f"held-{self._batch}-{self._at}"
                draft = mark.with_suffix(".draft")
                draft.write_text(
                    json.dumps({"checkpoint": str(self._folder), "process": os.getpid()}), "utf-8"
                )
                draft.rename(mark)
                return
