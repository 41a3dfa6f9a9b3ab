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
from conformance.judging.judge import Capabilities
from conformance.judging.output import ENVELOPE, OutputRow, Place
from generators.model import Kind

Truth: TypeAlias = Mapping[Place, tuple[OutputRow, ...]]
Placed: TypeAlias = list[tuple[tuple[str, int, int | None], OutputRow]]
"""Rows with their places, of which an offset may be lost."""
Breach: TypeAlias = Callable[[Request, Placed], Placed]
"""What a decoder that breaks a law makes of the rows of a call."""

_ZONE: Final = "spark.sql.session.timeZone"
_HOUR: Final = 3_600_000_000


def _raises(_asked: Request, rows: Placed) -> Placed:
    if any(row.kind == Kind.CORRUPT for _, row in rows):
        raise DecodeRaised("malformed record")
    return rows


def _raises_on_nothing(_asked: Request, rows: Placed) -> Placed:
    if not rows:
        raise DecodeRaised("no record to tell the schema of")
    return rows


def _elsewhere(_asked: Request, rows: Placed) -> Placed:
    return [
        *rows,
        *(
            ((topic, partition, (offset or 0) + 1_000_000), row)
            for (topic, partition, offset), row in rows
        ),
    ]


def _nowhere(_asked: Request, rows: Placed) -> Placed:
    return [
        ((*place[:2], None if row.kind == Kind.CORRUPT else place[2]), row) for place, row in rows
    ]


def _of_32_bits(asked: Request, rows: Placed) -> Placed:
    first = int(asked.conf.get(FIRST_OFFSET, 0))

    def wrapped(offset: int) -> int:
        return (offset + first + (1 << 31)) % (1 << 32) - (1 << 31) - first

    return [((*place[:2], wrapped(place[2] or 0)), row) for place, row in rows]


def _by_offset(asked: Request, rows: Placed) -> Placed:
    each = int(asked.conf.get(IN_PARTITION, 0))
    if not each:
        return rows
    return list({((place[2] or 0) % each, row.row): (place, row) for place, row in rows}.values())


def _of_the_batch(_asked: Request, rows: Placed) -> Placed:
    last = max((row.fields.get("table") or "" for _, row in rows), default="")
    return [(place, replace(row, fields={**row.fields, "table": last})) for place, row in rows]


def _of_the_session(asked: Request, rows: Placed) -> Placed:
    if asked.conf.get(_ZONE, "UTC") == "UTC":
        return rows
    return [
        (
            place,
            (
                replace(row, fields={**row.fields, "commit_time": at + _HOUR})
                if (at := row.fields.get("commit_time"))
                else row
            ),
        )
        for place, row in rows
    ]


BREACHES: Final[Mapping[str, Breach]] = {
    "raises": _raises,
    "raises-on-nothing": _raises_on_nothing,
    "rows-elsewhere": _elsewhere,
    "rows-nowhere": _nowhere,
    "offsets-of-32-bits": _of_32_bits,
    "one-of-an-offset": _by_offset,
    "table-of-the-batch": _of_the_batch,
    "time-of-the-session": _of_the_session,
}
"""Decoders that break a law at level one, by name: the table of liars says what for."""

_MAP: Final = pa.map_(pa.string(), pa.string())
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


def _arrow(rows: Placed) -> pa.Table:
    def items(held: Mapping[str, Any] | None) -> list[tuple[str, Any]] | None:
        return None if held is None else list(held.items())

    columns = [
        {
            **dict(zip(("topic", "partition", "offset"), place, strict=True)),
            **{name: getattr(row, name) for name in ("row", "kind", "op", "error")},
            **row.fields,
            "types": items(row.fields.get("types")),
            "before": items(row.before),
            "after": items(row.after),
        }
        for place, row in rows
    ]
    return pa.Table.from_pylist(columns, pa.schema(list(_TYPES.items())))


def _done(value: Any) -> Future[Any]:
    future: Future[Any] = Future()
    future.set_result(value)
    return future


@dataclass(slots=True)
class Memory:
    """The engine of right rows at level one, by place; a decoder is the name of a breach, or
    none.
    """

    truth: Truth
    directory: Path = field(default_factory=Path)
    environments: Mapping[str, Mapping[str, str]] = field(default_factory=lambda: ENVIRONMENTS)

    def load(self, decoder: str, level: str) -> Future[Loaded]:
        """Every breach is there."""
        return _done(Loaded((1,), Capabilities()))

    def open_records(self, handle: str, source: RecordSource) -> Future[int]:
        """All is there."""
        return _done(len(self.truth))

    def release(self, handle: str) -> None:
        """Nothing to forget."""

    def renew(self) -> Future[Any]:
        """Nothing to end."""
        return Future()

    def close(self) -> None:
        """Nothing to stop."""

    def decode(self, request: Request) -> Future[pa.Table]:
        """The right rows of the asked places, after the breach."""
        places = [
            (t, p, offset) for t, p, low, high in request.ranges for offset in range(low, high + 1)
        ]
        rows: Placed = [(place, row) for place in places for row in self.truth.get(place, ())]
        breach = BREACHES.get(request.decoder)
        try:
            return _done(_arrow(breach(request, rows) if breach else rows))
        except DecodeRaised as raised:
            future: Future[pa.Table] = Future()
            future.set_exception(raised)
            return future
