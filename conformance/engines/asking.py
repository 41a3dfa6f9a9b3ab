"""The requests of an engine to Spark's side, as JSON values, and the meaning of the replies."""

from __future__ import annotations

import itertools
from abc import abstractmethod
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from pathlib import Path
from typing import Any, Final

import pyarrow as pa

from conformance.brokers.spark_options import spark_options
from conformance.closing import Closing
from conformance.engines.engine import DecodeRaised, Loaded, PlanFailed, RecordSource, Request
from conformance.judging.capabilities import CONVENTIONS, Capabilities
from conformance.judging.output import check_columns
from generators.errors import HarnessError, UnknownName, UsageError
from generators.storage import codec

_ERRORS: Final[Mapping[str, type[Exception]]] = {
    "raised": DecodeRaised,
    "plan": PlanFailed,
    "usage": UsageError,
}
"""The exception for each kind of error in a reply."""


class RequestingEngine(Closing):
    """The part of an Engine that decodes. A subclass implements `put`, which sends a request and
    returns its reply.
    """

    directory: Path
    _numbers: itertools.count[int]

    @abstractmethod
    def put(self, request: dict[str, Any]) -> Future[Any]:
        """Sends a request; the future has the reply."""

    def load(self, decoder: str, level: str) -> Future[Loaded]:
        """Loads a decoder. The future raises UsageError if it cannot be loaded."""
        return convert_result(
            self.put({"op": "load", "decoder": decoder, "level": level}), _parse_loaded
        )

    def keep_records(self, handle: str, source: RecordSource) -> Future[int]:
        """Reads records once and keeps them under the name `handle`. The future has their
        number.
        """
        request = {
            "op": "open",
            "handle": handle,
            "ranges": source.ranges,
            "kafka": spark_options(source.bootstrap) if source.bootstrap else {},
            "topic": source.topic,
            "parquet": source.parquet,
        }
        return convert_result(self.put(request), lambda reply: int(reply["rows"]))

    def release(self, handle: str) -> None:
        """Forgets the records that are kept under the name `handle`."""
        self.put({"op": "release", "handle": handle})

    def decode(self, request: Request) -> Future[pa.Table]:
        """Runs the decoder on records; the future has the Arrow table of its rows."""
        out = self.directory / f"out-{next(self._numbers)}.arrow"
        message = {
            "op": "decode",
            "handle": request.handle,
            "ranges": request.ranges,
            "decoder": request.decoder,
            "level": request.level,
            "table": None if request.table is None else codec.dump_table(request.table),
            "deployment": codec.dump_deployment(request.deployment),
            "conf": dict(request.conf),
            "repartition": request.repartition,
            "mapping": dict(request.mapping),
            "out": str(out),
            **({"limit_s": request.limit_s} if request.limit_s else {}),
        }

        def read(_reply: Mapping[str, Any]) -> pa.Table:
            """The decoder's output, which the child process wrote to a file before it replied."""
            return take_output(out, request.level, request.decoder)

        return convert_result(self.put(message), read)

    def renew(self) -> Future[Any]:
        """Runs the decoder in a new process once all earlier requests are answered."""
        return self.put({"op": "renew"})


def take_output(path: Path, level: int, decoder: str) -> pa.Table:
    """Reads and removes the file with a decoder's output. Raises UsageError if its columns violate
    the contract.
    """
    with pa.memory_map(str(path)) as file:
        table = pa.ipc.open_file(file).read_all()
    path.unlink()
    check_columns(table.schema, level, decoder)
    return table


def error_of_reply(kind: str, message: str) -> Exception:
    """The exception to raise for a reply with an error; `kind` is the error's kind in the reply."""
    return _ERRORS[kind](message) if kind in _ERRORS else HarnessError(f"Spark: {message}")


def convert_result(
    future: Future[Any],
    convert: Any,
    explain: Callable[[BaseException], BaseException] = lambda error: error,
) -> Future[Any]:
    """A future of the result of `future`, passed through `convert`; an error of it, or of
    `convert`, is passed through `explain`. Cancelling it cancels the request, unless that is
    running.
    """
    converted: Future[Any] = Future()
    converted.add_done_callback(
        lambda future_converted: future_converted.cancelled() and future.cancel()
    )

    def settle(finished: Future[Any]) -> None:
        """Gives the outcome of the finished request to `converted`: its converted result, or its
        error explained.
        """
        if finished.cancelled():
            converted.cancel()
        if not converted.set_running_or_notify_cancel():
            return
        try:
            converted.set_result(convert(finished.result()))
        except BaseException as error:
            converted.set_exception(explain(error))

    future.add_done_callback(settle)
    return converted


def _parse_loaded(reply: Mapping[str, Any]) -> Loaded:
    """The levels and capabilities of a decoder, from the reply to `load`. Raises UnknownName for a
    convention that does not exist.
    """
    claims = Capabilities.of(reply["capabilities"])
    for name in claims.conventions:
        if name not in CONVENTIONS:
            raise UnknownName("convention", name, CONVENTIONS)
    return Loaded(tuple(reply["levels"]), claims)
