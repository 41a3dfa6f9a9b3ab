"""Holds our writers to a product's sink: the product's own serializer and our writer are given the
rows of the named histories, and their messages are compared. The product's are kept in a file that
tests read.

A `Sink` says how one product's serializer is run; `record_sink` compares, prints and keeps.
"""

from __future__ import annotations

import base64
import datetime as dt
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import islice
from pathlib import Path
from typing import Any, ClassVar, Final

import click

from generators.drawing.cases import as_case, boundary_scenarios
from generators.families.flink import FORMS
from generators.families.mysql_texts import cell
from generators.model import (
    Json,
    Logical,
    Message,
    Op,
    Row,
    RowChange,
    RowImages,
    Scenario,
    SourceType,
    Table,
    Value,
    ZeroDate,
)
from generators.profiles import Profile
from generators.sources import mysql
from generators.wire_format import Format, get

_MOST_ROWS: Final = 100
_MOST_CHARACTERS: Final = 50_000
"""The most rows, and characters of rows, of a history that is compared."""
_MOST_SHOWN: Final = 3
"""The most differing messages of a profile of which both texts are printed."""


class Sink(ABC):
    """A product's sink: which of our formats play it, and how its own serializer is run.

    The serializer's program reads lines of parts that are separated by tabs: one for each table,
    which begins with `table`, and one for each message that the sink sends.
    """

    product: ClassVar[str]
    file: ClassVar[str]
    """Where the product's messages are kept, from the project's root."""
    formats: ClassVar[Sequence[str]]
    profiles: ClassVar[Sequence[str]]
    """The names of the profiles that are compared. The messages of those that the format lists
    itself are kept in the file.
    """
    longest_message: ClassVar[int]
    """The characters of the longest message that the file keeps."""
    has_keys: ClassVar[bool]
    """Whether the program gives the record's key and a tab before its value."""

    @abstractmethod
    def serialize(self, profile: Profile, lines: str) -> Iterator[str]:
        """Runs the product's serializer on the lines, and yields its messages."""

    @abstractmethod
    def table_line(self, fmt: Format[Any], profile: Profile, table: Table) -> str:
        """The line that tells the serializer's program of a table, before its rows."""

    @abstractmethod
    def change_lines(self, table: Table, images: RowImages) -> list[str]:
        """The lines of a changed row, one for each message that the sink sends of it."""

    def message_text(self, message: Message) -> str:
        """Our message as the program prints the product's."""
        value = (message.value or b"").decode()
        if not self.has_keys:
            return value
        return f"{(message.key or b'').decode()}\t{value}"


@dataclass(frozen=True, slots=True)
class Comparison:
    """What the product's sink and our writer made of the rows of one history."""

    scenario: str
    product: tuple[str, ...]
    ours: tuple[str, ...]


def compare(sink: Sink, fmt: Format[Any], profile: Profile) -> Iterator[Comparison]:
    """Compares the product's messages with ours, history by history: for each named history that
    has rows of a size to be compared, what both make of its row changes. Statements are left out.
    """
    histories = [
        scenario for scenario in boundary_scenarios(fmt, profile) if has_writable_rows(scenario)
    ]
    blocks = [_history_lines(sink, fmt, profile, scenario) for scenario in histories]
    messages = sink.serialize(profile, "".join(map("".join, blocks)))
    for scenario, block in zip(histories, blocks, strict=True):
        count = sum(not line.startswith("table\t") for line in block)
        case = as_case(fmt, profile, scenario)
        ours = tuple(sink.message_text(written.message) for written in case.written)
        yield Comparison(scenario.name, tuple(islice(messages, count)), ours)
    # Each message was asked for by a line.
    assert next(messages, None) is None


def has_writable_rows(scenario: Scenario) -> bool:
    """Whether a history has rows that are not too many or too long for a comparison."""
    images: list[RowImages] = []
    for event in scenario.history.events:
        if isinstance(event, RowChange) and event.op is not Op.TRUNCATE:
            images += event.rows
    return 0 < len(images) <= _MOST_ROWS and len(str(images)) < _MOST_CHARACTERS


def _history_lines(sink: Sink, fmt: Format[Any], profile: Profile, scenario: Scenario) -> list[str]:
    """The lines of a history: those of its row changes, and one of the table before a row of
    another table than the row before.
    """
    lines: list[str] = []
    table: Table | None = None
    for event in scenario.history.events:
        if not isinstance(event, RowChange) or event.op is Op.TRUNCATE:
            continue
        if event.table != table:
            table = event.table
            lines.append(sink.table_line(fmt, profile, table))
        for images in event.rows:
            lines += sink.change_lines(table, images)
    return lines


def row_kind_lines(table: Table, images: RowImages) -> list[str]:
    """The lines of a changed row for a sink that writes each side by itself: `row`, the kind of the
    change in the short form that Flink and SeaTunnel print (-U +U -D +I), and the values.
    """
    is_update = images.before is not None and images.after is not None
    lines: list[str] = []
    if images.before is not None:
        lines.append(_row_line("-U" if is_update else "-D", table, images.before))
    if images.after is not None:
        lines.append(_row_line("+U" if is_update else "+I", table, images.after))
    return lines


def _row_line(kind: str, table: Table, source_row: Row) -> str:
    """The line of one side of a changed row: `row`, the kind of the change, and the values."""
    return "\t".join(["row", kind, *value_texts(table, source_row)]) + "\n"


def value_texts(table: Table, source_row: Row) -> list[str]:
    """The values of a row as the programs read them, in the order of the table's columns."""
    return [value_text(column.type, source_row.get(column.name)) for column in table.columns]


def value_text(type: SourceType, value: Value) -> str:
    """A value as the programs read it: texts and binaries in base64, an ENUM by its label, `NULL`
    for NULL and for a zero date. Raises TypeError for a value that is none of the type.
    """
    if value is None or isinstance(value, ZeroDate):
        return "NULL"
    match type.logical, value:
        case Logical.ENUM, int():
            return base64_text(type.members[value - 1].encode() if value else b"")
        case Logical.TEXT, str():
            stored = value.rstrip(" ") if type.name == "char" else value
            return base64_text(stored.encode())
        case Logical.JSON, Json():
            return base64_text(_json_text(type, value).encode())
        case Logical.BINARY, bytes():
            return base64_text(value)
        case Logical.BIT, int():
            return "true" if value else "false"
        case ((Logical.FLOAT | Logical.DOUBLE), float()):
            return repr(value)
        case Logical.DECIMAL, Decimal():
            return format(value, "f")
        case Logical.DATE, dt.date():
            return value.isoformat()
        case Logical.DATETIME, int():
            return _moment(value)
        case Logical.TIMESTAMP, int():
            return f"{_moment(value)}Z"
        case _, int():
            return str(value)
    raise TypeError(f"{value!r} is no value of {type.key}")


def _json_text(type: SourceType, value: Json) -> str:
    """The text of a document that the writer gives to the sink, which has no type for one."""
    return cell(type, value, FORMS).text or ""


def base64_text(value: bytes) -> str:
    """Bytes as the programs read them."""
    return base64.b64encode(value).decode()


def name_texts(names: Sequence[str]) -> list[str]:
    """Names of tables and columns as the programs read them."""
    return [base64_text(name.encode()) for name in names]


def column_parts(table: Table, type_name: Callable[[SourceType], str]) -> list[str]:
    """Name and type of each column as the programs read them; the product calls a type
    `type_name(type)`.
    """
    parts: list[str] = []
    for column in table.columns:
        parts += [base64_text(column.name.encode()), type_name(column.type)]
    return parts


def _moment(micros: int) -> str:
    """Microseconds since 1970 in ISO 8601, without a zone."""
    return (mysql.EPOCH + dt.timedelta(microseconds=micros)).isoformat()


def kept_line(comparison: Comparison, longest: int) -> str:
    """The line of the file for one history: its name and the product's messages, none of which has
    a tab but the one after its key; "" for a history with a message of more than `longest`
    characters.
    """
    if any(len(message) > longest for message in comparison.product):
        return ""
    return "\t".join([comparison.scenario, *comparison.product]) + "\n"


def record_sink(sink: Sink, *, check: bool) -> bool:
    """Compares all profiles of a sink, prints how many messages agree and the first that do not,
    and writes its file; with `check` it writes nothing.

    Returns whether every message agrees and, with `check`, the file would stay as it is.
    """
    kept_lines: list[str] = []
    differing = 0
    for name in sink.formats:
        fmt = get(name)
        listed_profiles = {profile.name for profile in fmt.profiles}
        for profile in map(fmt.profile, sink.profiles):
            is_kept = profile.name in listed_profiles
            if is_kept:
                kept_lines.append(f"{name}\t{profile.name}\n")
            counts: Counter[str] = Counter()
            for comparison in compare(sink, fmt, profile):
                _count_messages(sink, comparison, counts)
                if is_kept:
                    kept_lines.append(kept_line(comparison, sink.longest_message))
            differing += counts["other"]
            click.echo(
                f"{name} {profile.name}: {counts['identical']} messages identical,"
                f" {counts['other']} other"
            )
    file = Path(__file__).parents[1] / sink.file
    text = "".join(kept_lines)
    if check:
        return not differing and file.exists() and file.read_text("utf-8") == text
    file.write_text(text, "utf-8")
    return not differing


def _count_messages(sink: Sink, comparison: Comparison, counts: Counter[str]) -> None:
    """Counts the messages of a history as `identical` or `other`; prints both texts of those that
    differ, the first _MOST_SHOWN of a profile.
    """
    width = max(len(sink.product), len("ours"))
    for product, ours in zip(comparison.product, comparison.ours, strict=True):
        counts["identical" if product == ours else "other"] += 1
        if product != ours and counts["other"] <= _MOST_SHOWN:
            click.echo(f"  {comparison.scenario}")
            click.echo(f"    {sink.product:{width}} {product}")
            click.echo(f"    {'ours':{width}} {ours}")
