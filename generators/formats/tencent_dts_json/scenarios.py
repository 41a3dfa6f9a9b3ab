"""The named cases that only Tencent DTS JSON has, and its unfit cells."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from decimal import Decimal
from typing import Final

from generators.families.cases import OWN, Cases, deleted, inserted, updated
from generators.formats.tencent_dts_json.profiles import TencentProfile
from generators.garbage.cell_faults import CELL_FAULTS, CellFault
from generators.model import (
    Column,
    Heartbeat,
    Instant,
    Op,
    Row,
    Scenario,
    SchemaChange,
    SourceType,
    Table,
    TransactionMark,
    Value,
    Watermark,
)
from generators.sources import mysql
from generators.sources.boundaries import (
    COMPOSITE,
    ID,
    KEYLESS,
    START,
    change,
    every_type,
    insert,
    named,
)
from generators.sources.ddl import ddl_event, of_statement, rename_between_rows

_STRING: Final = mysql.text("varchar", 64)
_ABC: Final = (ID, Column("a", _STRING), Column("b", _STRING))
"""The columns of most cases."""
_ONE: Final[Row] = {"id": 1, "a": "x", "b": "k"}
_TWO: Final[Row] = {"id": 2, "a": "q", "b": None}
"""Two rows of the columns in _ABC."""


def scenarios(profile: TencentProfile, database: str) -> Iterator[Scenario]:
    """Every named case of this format alone that the profile can write. `database` is that of the
    tables of level one (cases whose values are compared as texts). Most have the columns _ABC.
    """
    cases = Cases(database, _ABC)
    yield from _ddl(cases)
    yield from _control(cases)
    yield from _lists(cases)
    yield from _envelope(cases)
    yield from _values(cases)
    yield from _typed_rows()


def _ddl(cases: Cases) -> Iterator[Scenario]:
    """Yields the DDL cases: one statement for each action of MySQL, a rename between rows, and a
    statement with a comment and line breaks.
    """
    # MySQL has no sequences.
    yield from (
        of_statement(ddl_event(action, cases.database))
        for action in mysql.DDL_ACTIONS
        if "sequence" not in action
    )
    yield rename_between_rows(cases.database)
    sql = "/* from a tool */ ALTER TABLE `t1`\r\n\tADD COLUMN `d` int"
    yield named(
        "ddl/comment-and-lines",
        SchemaChange(START, "add column", sql, cases.database, "t1"),
        tags={"ddl:add column"},
    )


def _control(cases: Cases) -> Iterator[Scenario]:
    """Yields the cases `control/...`: transaction marks, heartbeats and checkpoints, alone and
    between rows.
    """
    begin, commit = (
        TransactionMark(Instant(START.ms, seq), mark, "85")
        for seq, mark in ((1, "BEGIN"), (3, "COMMIT"))
    )
    yield named("control/begin", begin, tags={"control:begin"})
    yield named("control/commit", commit, tags={"control:commit"})
    yield named("control/empty-transaction", begin, commit, tags={"control:empty-transaction"})
    yield cases.case("control/whole-transaction", begin, inserted(_ONE), inserted(_TWO), commit)
    later = (
        TransactionMark(Instant(START.ms, seq), mark, "86")
        for seq, mark in ((4, "BEGIN"), (6, "COMMIT"))
    )
    opened, closed = later
    yield cases.case(
        "control/two-transactions",
        begin,
        inserted(_ONE),
        commit,
        opened,
        insert(OWN, _TWO, Instant(START.ms, 5)),
        closed,
    )
    yield named(
        "control/heartbeat",
        Heartbeat(START),
        Heartbeat(Instant(START.ms + 10_987, 2)),
        tags={"control:heartbeat"},
    )
    yield cases.case(
        "control/heartbeat-between-rows",
        inserted(_ONE),
        Heartbeat(START),
        inserted(_TWO),
        tags={"control:heartbeat"},
    )
    yield named("control/checkpoint", Watermark(START), tags={"control:checkpoint"})
    yield cases.case(
        "control/checkpoint-between-rows",
        inserted(_ONE),
        Watermark(START),
        inserted(_TWO),
        tags={"control:checkpoint"},
    )


def _lists(cases: Cases) -> Iterator[Scenario]:
    """Yields the cases `lists/...`: rows with NULLs at each place of the value lists, and a table
    whose columns change their order between two rows.
    """
    last: Row = {"id": 3, "a": None, "b": "m"}
    yield cases.case("lists/null-last", inserted(_TWO))
    yield cases.case("lists/null-inside", inserted(last))
    yield cases.case("lists/nulls-after-key", inserted({"id": 4, "a": None, "b": None}))
    yield cases.case("lists/update-other-length", updated(_TWO, {"b": "z"}))
    yield cases.case("lists/delete-null-last", deleted(_TWO))
    columns = (Column("b", _STRING), Column("a", _STRING), ID)
    yield cases.of(*columns).case("lists/key-last", inserted({"id": 1, "a": "x", "b": None}))
    yield cases.of(Column("a", _STRING), Column("b", _STRING), key=()).case(
        "lists/all-null", inserted({"a": None, "b": None})
    )
    name = "lists/columns-swapped"
    table = cases.table(name)
    swapped = replace(table, columns=(_ABC[0], _ABC[2], _ABC[1]))
    yield named(
        name,
        insert(table, _ONE),
        insert(swapped, {**_ONE, "id": 2}, Instant(START.ms, 2)),
        tags={"lists:swapped"},
    )


def _envelope(cases: Cases) -> Iterator[Scenario]:
    """Yields the cases `envelope/...`: commit times in seconds, binlog files with many digits,
    repeated delivery, fragments, the type of the source, a table without a key, dots in a name, and
    rows of several keys, which may choose the partition (`envelope/place-...`).
    """
    yield cases.case("envelope/commit-time-seconds", insert(OWN, _ONE, Instant(START.ms + 987, 1)))
    yield cases.case(
        "envelope/file-above-six-digits",
        insert(OWN, _ONE, Instant(START.ms, 1_000_000_000)),
        tags={"position:file"},
    )
    yield cases.case(
        "envelope/delivered-twice", inserted(_ONE), inserted(_ONE), tags={"delivery:twice"}
    )
    yield cases.case("envelope/fragment-fields", inserted(_ONE), tags={"fragment"})
    yield cases.case("envelope/source-type", inserted(_ONE), tags={"source-type"})
    yield cases.of(key=()).case(
        "envelope/no-key", inserted(_ONE), deleted(_ONE), tags={"keys:none"}
    )
    yield named("envelope/dotted-names", insert(Table(cases.database, "a.b", _ABC, ("id",)), _ONE))
    for i in (1, 2, 3, 4):
        yield cases.case(f"envelope/place-{i}", inserted({**_ONE, "id": i}))
    yield cases.case("envelope/place-rows", inserted(*({**_ONE, "id": i} for i in range(1, 8))))


_BINARY: Final = mysql.binary("varbinary", 16)
_OWN_VALUES: Final[tuple[tuple[str, SourceType, Value], ...]] = (
    ("document-binary", _BINARY, b"\x0f\xff"),
    ("document-number", mysql.decimal(2, 1), Decimal("3.0")),
    (
        "document-datetime-6",
        mysql.temporal("datetime", 6),
        mysql.wall("2024-10-24 12:34:56.123456"),
    ),
    ("document-datetime-0", mysql.temporal("datetime"), mysql.wall("2024-10-25 12:34:56")),
    (
        "document-timestamp-6",
        mysql.temporal("timestamp", 6),
        mysql.wall("2024-10-24 04:34:56.123456"),
    ),
    (
        "timestamp-round-up",
        mysql.temporal("timestamp", 6),
        mysql.wall("2024-10-24 04:34:56.999999"),
    ),
    ("timestamp-shanghai-overlap", mysql.temporal("timestamp"), mysql.wall("1991-09-14 16:30:00")),
    ("timestamp-shanghai-after", mysql.temporal("timestamp"), mysql.wall("1991-09-14 18:30:00")),
    *(
        (f"datetime-{n}-digits", mysql.temporal("datetime", n), mysql.wall("2024-10-24 12:34:56"))
        for n in (1, 2, 4, 5)
    ),
    *(
        (
            f"timestamp-{n}-digits",
            mysql.temporal("timestamp", n),
            mysql.wall("2024-10-24 04:34:56.120000"),
        )
        for n in (2, 4, 5)
    ),
    *((f"time-{n}-digits", mysql.temporal("time", n), 3_723 * mysql.MICROS) for n in (2, 4, 5)),
    (
        "datetime-day-like-month",
        mysql.temporal("datetime", 3),
        mysql.wall("2024-03-04 05:06:07.089"),
    ),
    ("time-minus-tenth", mysql.temporal("time", 1), -100_000),
    ("time-over-24h-fraction", mysql.temporal("time", 3), (100 * 3600 + 62) * mysql.MICROS + 5_000),
    ("binary-text-of-hex", _BINARY, b"0x41"),
    ("binary-one-byte", _BINARY, b"\x05"),
    ("text-like-hex", _STRING, "0x0fff"),
    ("bit-two-ones", mysql.bit(8), 11),
    ("enum-numeric-label", mysql.enum_of("2", "1", "x"), 1),
    ("set-numeric-label", mysql.set_of("4", "x", "1"), 4),
)
"""Values that are cases of their own: the case's name, the column's type, the value."""

_VALUE_TAGS: Final = {"text-like-hex": {"text:hex"}}
"""The tags of some of these cases, by name."""


def _values(cases: Cases) -> Iterator[Scenario]:
    """Yields the cases `values/...`: an INSERT of each value in _OWN_VALUES."""
    for label, type, value in _OWN_VALUES:
        yield cases.value(f"values/{label}", type, value, tags=_VALUE_TAGS.get(label, set()))


_EVERY_TYPE: Final = every_type(lambda kind: kind.source == "mysql")


def _typed_rows() -> Iterator[Scenario]:
    """Yields the level-two cases: changes of the typed tables that all formats' cases share
    (`boundaries.pool`), without DDL.
    """
    names = [column.name for column in COMPOSITE.columns]
    string_row: Row = {**{name: f"v{i}" for i, name in enumerate(names)}, names[0]: 5}
    yield named(
        "rows/tencent/nulls-inside",
        insert(COMPOSITE, {**string_row, names[2]: None, names[3]: None}),
        level=2,
    )
    bare: Row = {"a": 1, "b": "x", "c": None}
    updates = change(
        KEYLESS, Op.UPDATE, (bare, {**bare, "b": None}), ({**bare, "a": None, "b": None}, bare)
    )
    yield named("rows/tencent/null-last", updates, level=2)
    yield named("rows/tencent/bit-two-ones", insert(_EVERY_TYPE, {"id": 1, "c_bit_8": 11}), level=2)
    moment: Row = {"id": 1, "c_datetime_3": mysql.wall("2024-03-04 05:06:07.089")}
    yield named(
        "rows/tencent/day-like-month",
        insert(_EVERY_TYPE, moment),
        level=2,
        tags={"datetime:day-first"},
    )
    beat = Heartbeat(START), Watermark(START), TransactionMark(START, "BEGIN", "85")
    yield named("rows/tencent/beside-control", *beat, insert(KEYLESS, bare), level=2)


def cell_faults(profile: TencentProfile) -> tuple[CellFault, ...]:
    """The cell faults of MySQL's texts, and binaries that are no whole bytes. SET is left out,
    since a decoder may pass its labels on.
    """
    written_form = '"0xABCDEF01"' if profile.upper_hex else '"0xabcdef01"'
    value = b"\xab\xcd\xef\x01"
    binary_faults = (
        CellFault("cell-binary", "c_varbinary", value, written_form, f'{written_form[:-2]}g"'),
        CellFault(
            "cell-binary-odd-nibble", "c_varbinary", value, written_form, f'{written_form[:-2]}"'
        ),
    )
    return (*(fault for fault in CELL_FAULTS if fault.column != "c_set_64"), *binary_faults)
