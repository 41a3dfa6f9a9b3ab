"""Shows a decoder's output rows for a corpus, beside their cases, without a verdict."""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any, Final

from conformance.engines.child import ChildEngine, needed
from conformance.engines.engine import (
    DecodeRaised,
    Lost,
    RecordSource,
    Request,
    lay,
    to_ranges,
    write_records,
)
from conformance.engines.specs import decoder_of
from conformance.judging.compare import Typed
from conformance.judging.output import OutputRow, Place, read
from generators.errors import HarnessError, NothingSelected
from generators.model import Case, Message, Table
from generators.storage import corpus

OPTIONAL: Final = ("schema", "position", "commit_time", "types", "schema_version", "sql")
"""Columns that a line has only if the decoder fills them."""

UNANSWERED: Final = "the decoder gave no row for this message"
_EPOCH: Final = dt.datetime(1970, 1, 1)


class LookFailed(HarnessError):
    """The decoder raised, hung or ended its process."""

    exit_code = 1


@dataclass(frozen=True, slots=True)
class _Seen:
    """A message of the corpus, with its place and case."""

    place: Place
    case: Case
    message: Message


def look(
    fmt: str, directory: Path, decoder: str | None, wanted: Callable[[str], bool]
) -> Iterator[dict[str, Any]]:
    """One JSON-able object per output row, in the order of the corpora at or below `directory` and
    of their messages.

    Offsets are the corpus's ordinals. `decoder` None is the reference; `wanted` takes case ids. A
    decoder without level one is asked for level two, table by table: of the level-two cases if any,
    else of all cases. Bytes are lower-case hex, decimals text, times ISO 8601 (instants end in Z).
    At level one a message without a row gives a line with an `error`. Raises CorpusError,
    NothingSelected, UsageError for a decoder that cannot be loaded, LookFailed when it raises or
    hangs.
    """
    spec = decoder_of(fmt, decoder)
    corpora = [
        stored for stored in map(corpus.read, corpus.find(directory)) if stored.format == fmt
    ]
    chosen = [
        (stored, seen)
        for stored in corpora
        if (seen := [s for s in _seen(stored) if wanted(s.case.id)])
    ]
    if not chosen:
        what = "no case is selected" if corpora else f"no corpus is of format {fmt}"
        raise NothingSelected(f"{directory}: {what}")
    with ChildEngine(packages=needed((fmt,))) as engine:
        levels = engine.load(spec, "auto").result().levels
        for number, (stored, seen) in enumerate(chosen):
            handle = f"look-{number}"
            path = engine.directory / f"{handle}.parquet"
            write_records(path, [s.message for s in seen], [s.place[2] for s in seen])
            engine.open(handle, RecordSource((), parquet=str(path))).result()
            try:
                if 1 in levels:
                    rows = read(engine.decode(_request(handle, seen, spec, None)).result(), 1)
                else:
                    rows = _typed_rows(engine, handle, seen, spec)
            except (DecodeRaised, Lost) as error:
                raise LookFailed(f"{spec} on {stored.path}: {error}") from None
            engine.release(handle)
            yield from _lines(seen, rows, unanswered=1 in levels)


def _seen(stored: corpus.Corpus) -> list[_Seen]:
    sent = [(case, written.message) for case in stored.cases for written in case.written]
    places = lay([message for _, message in sent])
    return [
        _Seen(place, case, message) for place, (case, message) in zip(places, sent, strict=True)
    ]


def _request(handle: str, seen: Sequence[_Seen], spec: str, table: Table | None) -> Request:
    ranges = to_ranges(s.place for s in seen)
    return Request(handle, ranges, spec, 1 if table is None else 2, seen[0].case.deployment, table)


def _typed_rows(
    engine: ChildEngine, handle: str, seen: Sequence[_Seen], spec: str
) -> dict[Place, list[OutputRow]]:
    """Level two, one call per table over the messages of its cases; typed rows win over another
    table's CORRUPT row.
    """
    asked = [s for s in seen if s.case.level == 2] or list(seen)
    by_table: dict[Table, list[_Seen]] = {}
    for entry in asked:
        for table in entry.case.tables:
            by_table.setdefault(table, []).append(entry)
    futures = [
        (table, some, engine.decode(_request(handle, some, spec, table)))
        for table, some in by_table.items()
    ]
    typed: dict[Place, list[OutputRow]] = {}
    for table, some, future in futures:
        places = {s.place for s in some}
        for place, rows in read(future.result(), 2).items():
            if place not in places or (
                place in typed and all(row.kind == "CORRUPT" for row in rows)
            ):
                continue
            typed[place] = [_named(row, table) for row in rows]
    return typed


def _named(row: OutputRow, table: Table) -> OutputRow:
    """A level-two row with the names of the requested table, which its columns lack."""
    if row.kind != "ROW":
        return row
    fields = {
        "database": table.database,
        "table": table.name,
        "keys": list(table.primary_key),
        **row.fields,
    }
    return OutputRow(row.row, row.kind, row.op, fields, row.before, row.after, row.error)


def _lines(
    seen: Iterable[_Seen], rows: dict[Place, list[OutputRow]], unanswered: bool
) -> Iterator[dict[str, Any]]:
    for entry in seen:
        topic, partition, offset = entry.place
        head = {"case": entry.case.id, "topic": topic, "partition": partition, "offset": offset}
        answered = rows.get(entry.place, [])
        if not answered and unanswered:
            answered = [OutputRow(None, None, None, error=UNANSWERED)]
        for row in answered:
            more = {
                name: _plain(name, row.fields[name])
                for name in OPTIONAL
                if row.fields.get(name) is not None
            }
            yield {
                **head,
                "row": row.row,
                "kind": row.kind,
                "op": row.op,
                **{name: row.fields.get(name) for name in ("database", "table", "keys")},
                **{side: _image(getattr(row, side)) for side in ("before", "after")},
                **more,
                "error": row.error,
            }


def _plain(name: str, value: Any) -> Any:
    return _instant(value) + "Z" if name == "commit_time" and isinstance(value, int) else value


def _image(image: Any) -> dict[str, Any] | None:
    return None if image is None else {name: _cell(value) for name, value in image.items()}


def _cell(value: Any) -> Any:
    """A cell as lossless JSON: a level-one text unchanged, a typed value by its family."""
    if not isinstance(value, Typed):
        return value
    held, family = value.value, value.family
    match held:
        case None | bool() | str():
            return held
        case int() if family in ("timestamp", "timestamp_ntz"):
            return _instant(held) + ("Z" if family == "timestamp" else "")
        case int() if family != "decimal":
            return held
        case float():
            return held if math.isfinite(held) else str(held)
        case int() | Decimal():
            return f"{held:f}" if isinstance(held, Decimal) else str(held)
        case bytes():
            return held.hex()
        case list():
            return [_cell(Typed("", item)) for item in held]
        case _:
            return str(held)


def _instant(micros: int) -> str:
    """Microseconds since 1970 as ISO 8601; as a number outside Python's calendar."""
    try:
        return (_EPOCH + dt.timedelta(microseconds=micros)).isoformat()
    except OverflowError:
        return str(micros)
