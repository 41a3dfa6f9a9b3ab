"""Shows a decoder's output rows for a corpus, beside their cases, without a verdict."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any, Final

from conformance.engines.child import ChildEngine, required_packages
from conformance.engines.engine import (
    DecodeRaised,
    ProcessLost,
    RecordSource,
    Request,
    assign_places,
    ranges_of,
    write_records,
)
from conformance.engines.specs import decoder_spec
from conformance.judging.compare import Typed
from conformance.judging.output import OutputRow, Place, read
from generators.errors import HarnessError, NothingSelected
from generators.model import SIDES, Case, Message, Table
from generators.storage import corpus

OPTIONAL: Final = ("schema", "position", "commit_time", "types", "schema_version", "sql")
"""Fields of a line that are left out where the decoder does not fill them."""

UNANSWERED: Final = "the decoder gave no row for this message"
"""The error text of the line for a message without a row."""
_EPOCH: Final = datetime(1970, 1, 1)
"""The moment from which microseconds are counted."""


class LookFailed(HarnessError):
    """The decoder raised, hung or ended its process."""

    exit_code = 1


@dataclass(frozen=True, slots=True)
class _StoredMessage:
    """A message of a corpus, with its coordinates (topic, partition, offset) and its case."""

    place: Place
    case: Case
    message: Message

    @property
    def offset(self) -> int:
        """The offset under which the decoder reads the message."""
        _, _, offset = self.place
        return offset


def decode_corpora(
    fmt: str, directory: Path, decoder: str | None, is_selected: Callable[[str], bool]
) -> Iterator[dict[str, Any]]:
    """One JSON-able object per output row, in the order of the corpora at or below `directory` and
    of their messages.

    Offsets are the corpus's ordinals. `decoder` None is the reference; `is_selected` takes case
    ids. A decoder without level one is asked for level two, table by table: of the level-two cases
    if any, else of all cases. Bytes are lower-case hex, decimals text, times ISO 8601 (instants end
    in Z). At level one a message without a row gives a line with an `error`. Raises CorpusError,
    NothingSelected, UsageError for a decoder that cannot be loaded, LookFailed when it raises or
    hangs.
    """
    spec = decoder_spec(fmt, decoder)
    corpora = [
        stored for stored in map(corpus.read, corpus.find(directory)) if stored.format == fmt
    ]
    selected = [
        (stored, messages)
        for stored in corpora
        if (messages := [s for s in _stored_messages(stored) if is_selected(s.case.id)])
    ]
    if not selected:
        what = "no case is selected" if corpora else f"no corpus is of format {fmt}"
        raise NothingSelected(f"{directory}: {what}")
    with ChildEngine(packages=required_packages((fmt,))) as engine:
        levels = engine.load(spec, "auto").result().levels
        for number, (stored, messages) in enumerate(selected):
            handle = f"look-{number}"
            path = engine.directory / f"{handle}.parquet"
            write_records(path, [s.message for s in messages], [s.offset for s in messages])
            engine.keep_records(handle, RecordSource((), parquet=str(path))).result()
            try:
                if 1 in levels:
                    outputs = read(
                        engine.decode(_request(handle, messages, spec, None)).result(), 1
                    )
                else:
                    outputs = _typed_rows(engine, handle, messages, spec)
            except (DecodeRaised, ProcessLost) as error:
                raise LookFailed(f"{spec} on {stored.path}: {error}") from None
            engine.release(handle)
            yield from _lines(messages, outputs, unanswered=1 in levels)


def _stored_messages(stored: corpus.Corpus) -> list[_StoredMessage]:
    """The messages of a corpus in order, each with its case and the coordinates under which the
    decoder reads it.
    """
    messages: list[tuple[Case, Message]] = []
    for case in stored.cases:
        messages += ((case, written.message) for written in case.written)
    places = assign_places([message for _, message in messages])
    return [
        _StoredMessage(place, case, message)
        for place, (case, message) in zip(places, messages, strict=True)
    ]


def _request(
    handle: str, messages: Sequence[_StoredMessage], spec: str, table: Table | None
) -> Request:
    """The decode request of these messages, in the deployment of the first one: at level two for
    `table`, at level one if that is None.
    """
    ranges = ranges_of(s.place for s in messages)
    return Request(
        handle, ranges, spec, 1 if table is None else 2, messages[0].case.deployment, table
    )


def _typed_rows(
    engine: ChildEngine, handle: str, messages: Sequence[_StoredMessage], spec: str
) -> dict[Place, list[OutputRow]]:
    """The decoder's typed rows (level two) by the coordinates of their messages: one call for each
    table, on the messages of its cases. Cases of level two are asked for if the corpus has any,
    else all cases. `handle` is the engine's name of the messages, `spec` names the decoder. Of a
    message that several calls read, a typed row of one hides a CORRUPT row of another.
    """
    requested = [s for s in messages if s.case.level == 2] or list(messages)
    by_table: dict[Table, list[_StoredMessage]] = {}
    for entry in requested:
        for table in entry.case.tables:
            by_table.setdefault(table, []).append(entry)
    futures = [
        (table, table_messages, engine.decode(_request(handle, table_messages, spec, table)))
        for table, table_messages in by_table.items()
    ]
    typed: dict[Place, list[OutputRow]] = {}
    for table, table_messages, future in futures:
        places = {s.place for s in table_messages}
        for place, output_rows in read(future.result(), 2).items():
            if place in places:
                rows_with_names = [
                    _with_table_names(output_row, table) for output_row in output_rows
                ]
                typed[place] = _merge_rows(typed.get(place, []), rows_with_names)
    return typed


def _merge_rows(earlier: list[OutputRow], later: list[OutputRow]) -> list[OutputRow]:
    """The rows that two calls, each for a table of its own, give of one message: those of both
    tables, and a CORRUPT row only if neither has another.
    """
    every_row = [*earlier, *later]
    typed_rows = [output_row for output_row in every_row if output_row.kind != "CORRUPT"]
    return typed_rows or earlier or later


def _with_table_names(output_row: OutputRow, table: Table) -> OutputRow:
    """A typed row with the database, schema, name and key columns of the requested table, which the
    decoder does not return. A row of another kind, such as CORRUPT, is unchanged.
    """
    if output_row.kind != "ROW":
        return output_row
    fields = {
        "database": table.database,
        **({} if table.schema is None else {"schema": table.schema}),
        "table": table.name,
        "keys": list(table.handle_key),
        **output_row.fields,
    }
    return OutputRow(
        output_row.row,
        output_row.kind,
        output_row.op,
        fields,
        output_row.before,
        output_row.after,
        output_row.error,
    )


def _lines(
    messages: Iterable[_StoredMessage], outputs: dict[Place, list[OutputRow]], unanswered: bool
) -> Iterator[dict[str, Any]]:
    """The decoded rows of the messages as JSON-able objects. With `unanswered` also an object with
    an error for each message without a row.
    """
    for entry in messages:
        topic, partition, offset = entry.place
        head = {"case": entry.case.id, "topic": topic, "partition": partition, "offset": offset}
        answered = outputs.get(entry.place, [])
        if not answered and unanswered:
            answered = [OutputRow(None, None, None, error=UNANSWERED)]
        for output_row in answered:
            optional_fields = {
                name: _field_as_json(name, output_row.fields[name])
                for name in OPTIONAL
                if output_row.fields.get(name) is not None
            }
            yield {
                **head,
                "row": output_row.row,
                "kind": output_row.kind,
                "op": output_row.op,
                **{name: output_row.fields.get(name) for name in ("database", "table", "keys")},
                **{side: _image_as_json(getattr(output_row, side)) for side in SIDES},
                **optional_fields,
                "error": output_row.error,
            }


def _field_as_json(name: str, value: Any) -> Any:
    """An optional field as JSON: a commit time in microseconds as ISO 8601 text in UTC, anything
    else unchanged.
    """
    return _instant(value) + "Z" if name == "commit_time" and isinstance(value, int) else value


def _image_as_json(image: Any) -> dict[str, Any] | None:
    """A row's before or after image as JSON, cell by cell; None if the row has none."""
    return None if image is None else {name: _cell_as_json(value) for name, value in image.items()}


def _cell_as_json(value: Any) -> Any:
    """A cell as lossless JSON. A text of level one is unchanged. Of a typed value NULL, booleans,
    texts, integers and finite floats are JSON's own; timestamps are ISO 8601, with Z if they are
    instants; decimals and other floats are texts, bytes hex, arrays lists.
    """
    if not isinstance(value, Typed):
        return value
    plain_value, family = value.value, value.family
    match plain_value:
        case None | bool() | str():
            return plain_value
        case int() if family in ("timestamp", "timestamp_ntz"):
            return _instant(plain_value) + ("Z" if family == "timestamp" else "")
        case int() if family != "decimal":
            return plain_value
        case float():
            return plain_value if math.isfinite(plain_value) else str(plain_value)
        case int() | Decimal():
            return f"{plain_value:f}" if isinstance(plain_value, Decimal) else str(plain_value)
        case bytes():
            return plain_value.hex()
        case list():
            # The type of the items is not known (""): what Python has of them decides.
            return [_cell_as_json(Typed("", item)) for item in plain_value]
        case _:
            return str(plain_value)


def _instant(micros: int) -> str:
    """Microseconds since 1970 as ISO 8601 text without a zone; as a plain number if Python's
    calendar does not reach so far.
    """
    try:
        return (_EPOCH + timedelta(microseconds=micros)).isoformat()
    except OverflowError:
        return str(micros)
