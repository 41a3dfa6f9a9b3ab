"""An engine that answers from memory: the rows that the cases owe, of a decoder that breaks a law
of decoding.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from concurrent.futures import Future
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final, TypeAlias

import pyarrow as pa

from conformance.engines.child import ENVIRONMENTS
from conformance.engines.engine import DecodeRaised, Loaded, RecordSource, Request
from conformance.engines.spark_conf import FIRST_OFFSET, IN_PARTITION
from conformance.judging.capabilities import Capabilities
from conformance.judging.output import ENVELOPE, OutputRow, Place
from generators.model import Kind

Truth: TypeAlias = Mapping[Place, tuple[OutputRow, ...]]
"""The rows that a right decoder returns, by the place (topic, partition, offset) of their
message.
"""
Placed: TypeAlias = list[tuple[tuple[str, int, int | None], OutputRow]]
"""The rows that a decoder returns in a call, each with the place (topic, partition, offset) of its
message; a wrong decoder may lose the offset.
"""
Breach: TypeAlias = Callable[[Request, Placed], Placed]
"""What a decoder that breaks a law makes of the rows of a call."""

_ZONE: Final = "spark.sql.session.timeZone"
"""Spark's setting of a session's time zone."""
_HOUR: Final = 3_600_000_000
"""An hour in microseconds."""


def _raise_on_unreadable(_request: Request, answer: Placed) -> Placed:
    """A decoder that breaks a law: it raises if one of the call's messages is unreadable."""
    if any(output_row.kind == Kind.CORRUPT for _, output_row in answer):
        raise DecodeRaised("malformed record")
    return answer


def _raise_on_no_rows(_request: Request, answer: Placed) -> Placed:
    """A decoder that breaks a law: it raises in a call that gives no rows."""
    if not answer:
        raise DecodeRaised("no record to tell the schema of")
    return answer


def _rows_elsewhere(_request: Request, answer: Placed) -> Placed:
    """A decoder that breaks a law: it returns each row a second time, with an offset that no
    message of the call has.
    """
    return [
        *answer,
        *(
            ((topic, partition, (offset or 0) + 1_000_000), output_row)
            for (topic, partition, offset), output_row in answer
        ),
    ]


def _rows_nowhere(_request: Request, answer: Placed) -> Placed:
    """A decoder that breaks a law: its CORRUPT rows of unreadable messages have NULL as offset."""
    return [
        ((topic, partition, None if output_row.kind == Kind.CORRUPT else offset), output_row)
        for (topic, partition, offset), output_row in answer
    ]


def _offsets_of_32_bits(request: Request, answer: Placed) -> Placed:
    """A decoder that breaks a law: it casts offsets to 32 bits, which shows only in the environment
    that raises the offsets of the records (FIRST_OFFSET).
    """
    first = int(request.conf.get(FIRST_OFFSET, 0))

    def cut_to_32_bits(offset: int) -> int:
        """The offset, without the raise, that the raised one has as a signed number of 32 bits."""
        return (offset + first + (1 << 31)) % (1 << 32) - (1 << 31) - first

    return [
        ((topic, partition, cut_to_32_bits(offset or 0)), output_row)
        for (topic, partition, offset), output_row in answer
    ]


def _one_row_of_an_offset(request: Request, answer: Placed) -> Placed:
    """A decoder that breaks a law: of messages of several partitions with the same offset it
    returns only one. It shows only in the environment in which a partition has few messages, as
    many as the setting IN_PARTITION says. There the offsets of each partition begin at 0, but
    `answer` has the original places (topic, partition, offset): the remainder is the offset there.
    """
    records_of_partition = int(request.conf.get(IN_PARTITION, 0))
    if not records_of_partition:
        return answer
    last_of_offset: dict[tuple[int, int | None], tuple[tuple[str, int, int | None], OutputRow]] = {}
    for place, output_row in answer:
        _, _, offset = place
        offset_in_environment = (offset or 0) % records_of_partition
        last_of_offset[offset_in_environment, output_row.row] = place, output_row
    return list(last_of_offset.values())


def _table_of_the_batch(_request: Request, answer: Placed) -> Placed:
    """A decoder that breaks a law: all its rows of a call have the same table's name, the last by
    alphabet.
    """
    last = max((output_row.fields.get("table") or "" for _, output_row in answer), default="")
    return [
        (place, replace(output_row, fields={**output_row.fields, "table": last}))
        for place, output_row in answer
    ]


def _time_of_the_session(request: Request, answer: Placed) -> Placed:
    """A decoder that breaks a law: it reads commit times in the time zone of the session."""
    if request.conf.get(_ZONE, "UTC") == "UTC":
        return answer
    return [
        (
            place,
            (
                replace(output_row, fields={**output_row.fields, "commit_time": at + _HOUR})
                if (at := output_row.fields.get("commit_time"))
                else output_row
            ),
        )
        for place, output_row in answer
    ]


BREACHES: Final[Mapping[str, Breach]] = {
    "raises": _raise_on_unreadable,
    "raises-on-nothing": _raise_on_no_rows,
    "rows-elsewhere": _rows_elsewhere,
    "rows-nowhere": _rows_nowhere,
    "offsets-of-32-bits": _offsets_of_32_bits,
    "one-of-an-offset": _one_row_of_an_offset,
    "table-of-the-batch": _table_of_the_batch,
    "time-of-the-session": _time_of_the_session,
}
"""What decoders that break a law (a rule on decode calls) make of the right rows of level one, by
the names that the table of liars uses.
"""

_MAP: Final = pa.map_(pa.string(), pa.string())
"""The type of a column whose values are maps of texts, such as an image."""
_TYPES: Final[Mapping[str, pa.DataType]] = {
    "topic": pa.string(),
    "partition": pa.int32(),
    "offset": pa.int64(),
    "row": pa.int32(),
    **dict.fromkeys(("kind", "op", "error", *ENVELOPE), pa.string()),
    **dict.fromkeys(("before", "after", "types"), _MAP),
    "keys": pa.list_(pa.string()),
    "commit_time": pa.timestamp("us", "UTC"),
}
"""The columns of a decoder's output at level one, with their types in Arrow."""


def _arrow(answer: Placed) -> pa.Table:
    """Rows with their places as the Arrow table that an engine returns for a decode call."""

    def items(mapping: Mapping[str, Any] | None) -> list[tuple[str, Any]] | None:
        """A map in the form in which Arrow takes one: its pairs; None for NULL."""
        return None if mapping is None else list(mapping.items())

    columns = [
        {
            **dict(zip(("topic", "partition", "offset"), place, strict=True)),
            **{name: getattr(output_row, name) for name in ("row", "kind", "op", "error")},
            **output_row.fields,
            "types": items(output_row.fields.get("types")),
            "before": items(output_row.before),
            "after": items(output_row.after),
        }
        for place, output_row in answer
    ]
    return pa.Table.from_pylist(columns, pa.schema(list(_TYPES.items())))


def _finished_future(value: Any) -> Future[Any]:
    """A future that already has this result."""
    future: Future[Any] = Future()
    future.set_result(value)
    return future


@dataclass(slots=True)
class Memory:
    """An engine (see `conformance.engines.engine.Engine`) without a process: at level one it
    answers with the right rows in `truth`, as a decoder that breaks a law changes them. A decoder
    is the name of one of BREACHES; any other name is a right decoder.
    """

    truth: Truth
    directory: Path = field(default_factory=Path)
    environments: Mapping[str, Mapping[str, str]] = field(default_factory=lambda: ENVIRONMENTS)

    def load(self, decoder: str, level: str) -> Future[Loaded]:
        """Loads nothing: every decoder has level one and declares no capabilities."""
        return _finished_future(Loaded((1,), Capabilities()))

    def keep_records(self, handle: str, source: RecordSource) -> Future[int]:
        """Reads nothing; the future has the number of messages for which there are rows."""
        return _finished_future(len(self.truth))

    def release(self, handle: str) -> None:
        """Does nothing: no records are kept."""

    def renew(self) -> Future[Any]:
        """Does nothing: there is no process."""
        return Future()

    def close(self) -> None:
        """Does nothing: nothing was started."""

    def decode(self, request: Request) -> Future[pa.Table]:
        """Answers a decode call at once, with the right rows of the requested messages as the wrong
        decoder changes them.
        """
        answer: Placed = []
        for topic, partition, low, high in request.ranges:
            for offset in range(low, high + 1):
                place = (topic, partition, offset)
                answer += ((place, output_row) for output_row in self.truth.get(place, ()))
        breach = BREACHES.get(request.decoder)
        try:
            return _finished_future(_arrow(breach(request, answer) if breach else answer))
        except DecodeRaised as error:
            future: Future[pa.Table] = Future()
            future.set_exception(error)
            return future
