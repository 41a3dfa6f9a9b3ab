"""What the sinks of Flink SQL's four changelog formats in JSON share: releases, how a row of a
Flink table is spelled, and the messages of a history.

Source: Flink's own serializers (the page flink of the sources). A message holds one row and whether
it is inserted or deleted, and nothing else: Flink writes an UPDATE as the DELETE of the old row and
the INSERT of the new one, in two messages. Columns have the types of Flink that Flink CDC maps
MySQL's to, TIMESTAMP as its pipelines do (TIMESTAMP_LTZ).
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any, Final, NamedTuple

from generators.families.connect import print_as_jackson
from generators.families.flat import SEND_LAG_MS, key_scenarios
from generators.families.java_text import java_decimal, unscaled
from generators.families.mysql_texts import BASE64, TextForms, binary_text, cell
from generators.families.wire_messages import ABSENT, Printer, Raw, WireMessage, print_message
from generators.garbage.cell_faults import CELL_FAULTS, CellFault, Way
from generators.model import (
    Cell,
    Change,
    Column,
    History,
    Image,
    Kind,
    Layout,
    Logical,
    Op,
    Row,
    RowChange,
    RowImages,
    Scenario,
    SourceType,
    State,
    Table,
    Value,
    Written,
    ZeroDate,
)
from generators.profile_tables import read_choices
from generators.profiles import Profile
from generators.sources import mysql
from generators.sources.boundaries import ID, change, insert, named, neutral
from generators.wire_format import Format, about


@dataclass(frozen=True, slots=True)
class FlinkProfile(Profile):
    """A release of Flink with the options of its sink, which are facts by their names."""

    iso_timestamps: bool = False
    """A T stands between date and time."""
    plain_decimals: bool = False
    """A DECIMAL has no exponent."""
    keeps_scale: bool = False
    """A plain DECIMAL has every digit of its scale."""
    writes_nulls: bool = True
    """What is NULL is null, and not left out."""
    keyed: bool = False
    """A record has a key, an object of the key's columns."""


FORMS: Final = TextForms("UTC", binary=BASE64, labels=True)
"""How MySQL's values are texts in a Flink table."""

_LARGEST_PRECISION: Final = 38
"""The digits of Flink's DECIMAL."""
_NUMBERS: Final = frozenset(
    {Logical.INT, Logical.DECIMAL, Logical.FLOAT, Logical.DOUBLE, Logical.YEAR}
)
_CLOCKS: Final = frozenset({Logical.DATETIME, Logical.TIMESTAMP})
_TEXTS: Final = frozenset({Logical.TEXT, Logical.BINARY, Logical.DATE, Logical.JSON, Logical.ENUM})


def supports(type: SourceType) -> bool:
    """Whether a Flink table has every value of the type in a form that a document names: not a TIME
    beyond a day, a BIT of several bits, a SET, nor a DECIMAL of more than 38 digits.
    """
    if type.source != "mysql" or type.name == "vector":
        return False
    match type.logical:
        case Logical.BIT:
            return type.length == 1
        case Logical.DECIMAL:
            return (type.precision or 0) <= _LARGEST_PRECISION
    return type.logical in _NUMBERS | _CLOCKS | _TEXTS


def spell_cell(type: SourceType, value: Value, profile: FlinkProfile) -> Cell:
    """A column's value as the sink writes it, and what a decoder owes for it. A zero date, which no
    Flink type has, is NULL. A BIGINT UNSIGNED is spelled as a decimal without fraction digits, a
    BIT as true or false. A value of any other type has MySQL's text.
    """
    if value is None or isinstance(value, ZeroDate):
        return Cell(State.NULL, type)
    base = cell(type, value, FORMS)
    match type.logical, value:
        case Logical.DECIMAL, Decimal():
            return _number(base, _decimal_text(value, type.scale or 0, profile))
        case Logical.INT, int() if type.name == "bigint" and type.unsigned:
            return _number(base, _decimal_text(Decimal(value), 0, profile))
        case ((Logical.INT | Logical.YEAR), int()):
            return _number(base, str(value))
        case ((Logical.FLOAT | Logical.DOUBLE), _):
            return _number(base, base.text or "")
        case Logical.BIT, int():
            return _number(base, "true" if value else "false")
        case Logical.BINARY, bytes():
            return replace(base, value=value, text=binary_text(value, BASE64), reason="")
        case ((Logical.DATETIME | Logical.TIMESTAMP), _):
            return spell_moment(base, type.logical, profile)
    return base


def spell_moment(base: Cell, logical: Logical, profile: FlinkProfile) -> Cell:
    """The cell `base` of a date and time, with the text that a sink writes: that of a TIMESTAMP has
    a Z, since it is an instant, that of a DATETIME has none.
    """
    return replace(base, text=_moment_text(base.text or "", logical, profile))


def _number(base: Cell, json_text: str) -> Cell:
    """The cell `base` with this text, which stands in the message as a JSON number, true or false,
    not as a string.
    """
    return replace(base, state=State.VALUE, text=json_text, options=(), reason="", json=True)


def _decimal_text(value: Decimal, scale: int, profile: FlinkProfile) -> str:
    """The JSON number of a DECIMAL. Zeros at its end are left out, which may give an exponent
    (`1E+2`). With the profile's `plain_decimals` there is no exponent. With `plain_decimals` and
    `keeps_scale` the number has every digit of the scale.
    """
    if profile.plain_decimals and profile.keeps_scale:
        return java_decimal(unscaled(value, scale), scale, plain=True)
    _, digits, exponent = value.as_tuple()
    assert isinstance(exponent, int)
    all_digits = "".join(map(str, digits))
    kept_digits = all_digits.rstrip("0")
    if not kept_digits:
        return "0"
    own_scale = -exponent - (len(all_digits) - len(kept_digits))
    number = -int(kept_digits) if value < 0 else int(kept_digits)
    return java_decimal(number, own_scale, plain=profile.plain_decimals)


def _moment_text(mysql_text: str, logical: Logical, profile: FlinkProfile) -> str:
    """A date and time as a sink writes it, from MySQL's text: without the zeros at the end of its
    fraction, with a Z for a TIMESTAMP.
    """
    clock = mysql_text.rstrip("0").rstrip(".") if "." in mysql_text else mysql_text
    separated = clock.replace(" ", "T") if profile.iso_timestamps else clock
    return f"{separated}Z" if logical is Logical.TIMESTAMP else separated


class WrittenRow(NamedTuple):
    """One row of a message, before it is bytes: whether it is inserted or deleted, and its values
    in JSON by column.
    """

    op: Op
    values: Mapping[str, Any]


MembersOf = Callable[[WrittenRow], Mapping[str, Any]]
"""The function that gives the members of the message of one row, by name in their order; a member
that is None stands as null.
"""


SpellCell = Callable[[SourceType, Value, Any], Cell]
"""The function that gives the cell of a column's value, from its type and the profile: how a sink
writes it, and what a decoder must return for it.
"""

KeyOf = Callable[[Mapping[str, Any]], Mapping[str, Any]]
"""The members of a record's key, from the values of the key's columns in JSON."""


def _bare_key(values: Mapping[str, Any]) -> Mapping[str, Any]:
    """The members of a record's key that has the key's columns and nothing else."""
    return values


@dataclass(frozen=True, slots=True)
class SinkMessages:
    """What a sink's messages are made by: the functions for their members, their cells and their
    key, and the printer of their JSON.
    """

    members_of: MembersOf
    spell: SpellCell = spell_cell
    key_of: KeyOf = _bare_key
    printer: Printer = print_as_jackson


def write_rows(
    history: History, profile: FlinkProfile, layout: Layout, sink: SinkMessages
) -> list[Written]:
    """The messages of a history's row changes: for each row of an UPDATE a DELETE and an INSERT,
    for each row of any other change one. All other events have no message.
    """
    written: list[Written] = []
    for number, event in enumerate(history.events):
        if not isinstance(event, RowChange):
            continue
        for images in event.rows:
            for message in _messages_of_row(event.table, images, profile, sink):
                written += print_message(
                    message,
                    sink.printer,
                    layout,
                    event=number,
                    timestamp_ms=event.at.ms + SEND_LAG_MS,
                )
    return written


def sink_format(name: str, members_of: MembersOf) -> Format[FlinkProfile]:
    """The format `name`, of a sink whose messages have the members that `members_of` gives."""
    sink = SinkMessages(members_of)

    def write(history: History, profile: FlinkProfile, layout: Layout) -> list[Written]:
        """The messages of a history as Flink's sink writes them."""
        return write_rows(history, profile, layout, sink)

    return Format(
        **about(name, read_choices(name, FlinkProfile)),
        write=write,
        scenarios=scenarios,
        supports=supports,
        cell_faults=cell_faults,
        fits=FITS,
    )


def _messages_of_row(
    table: Table, images: RowImages, profile: FlinkProfile, sink: SinkMessages
) -> Iterator[WireMessage]:
    """The messages of one changed row: the DELETE of the row before the change and the INSERT of
    the row after it; an INSERT or DELETE has only one of the two.
    """
    for op, source_row in ((Op.DELETE, images.before), (Op.INSERT, images.after)):
        if source_row is not None:
            yield _message(table, op, source_row, profile, sink)


def _message(
    table: Table, op: Op, source_row: Row, profile: FlinkProfile, sink: SinkMessages
) -> WireMessage:
    """The message of one row that is inserted or deleted (`op`), and the change that a decoder must
    return for it.
    """
    image = {
        column.name: sink.spell(column.type, source_row.get(column.name), profile)
        for column in table.columns
    }
    members = dict(sink.members_of(WrittenRow(op, json_row(image, profile))))
    if not profile.writes_nulls:
        members = {name: ABSENT if value is None else value for name, value in members.items()}
    key_values = {name: json_value(image[name]) for name in table.primary_key}
    row_change = replace(_change(op, image, profile), tables=(table.name,))
    if not (profile.keyed and key_values):
        return WireMessage(members, (row_change,))
    keyed_change = replace(row_change, other_keys=(table.primary_key,))
    return WireMessage(members, (keyed_change,), sink.key_of(key_values))


def json_row(image: Image, profile: FlinkProfile) -> dict[str, Any]:
    """The values of a row by column; with `encode.ignore-null-fields` without those that are
    NULL.
    """
    return {
        name: json_value(wire_cell)
        for name, wire_cell in image.items()
        if profile.writes_nulls or wire_cell.state is not State.NULL
    }


def json_value(wire_cell: Cell) -> Any:
    """A cell as a JSON value."""
    return Raw(wire_cell.text or "") if wire_cell.json else wire_cell.text


def _change(op: Op, image: Image, profile: FlinkProfile) -> Change:
    """The change that a decoder must return for the message of a row. It has the row alone:
    messages have no names of tables, no time and no position.
    """
    sent_image = image if profile.writes_nulls else without_nulls(image)
    if op is Op.DELETE:
        return Change(0, Kind.ROW, op, before=sent_image, full_before=image)
    return Change(0, Kind.ROW, op, after=sent_image, full_after=image)


def without_nulls(image: Image) -> Image:
    """The image in which the columns that are NULL are absent."""
    return {
        name: Cell(State.ABSENT, wire_cell.type) if wire_cell.state is State.NULL else wire_cell
        for name, wire_cell in image.items()
    }


def scenarios(_profile: FlinkProfile, database: str) -> Iterator[Scenario]:
    """The cases that only these formats have: a snapshot's rows, changes of several rows, keys, and
    numbers whose zeros become an exponent.
    """
    columns = (ID, Column("a", mysql.text()), Column("n", mysql.decimal(10, 2)))
    first_row: Row = {"id": 1, "a": "x", "n": None}
    loaded = Table(database, neutral("snapshot/rows"), columns, ("id",))
    yield named("snapshot/rows", change(loaded, Op.READ, (None, first_row)), tags={"snapshot"})
    updated = Table(database, neutral("update/rows"), columns, ("id",))
    images = (
        ({**first_row, "id": number}, {**first_row, "id": number, "a": "y"}) for number in range(3)
    )
    yield named("update/rows", change(updated, Op.UPDATE, *images), tags={"split-update"})
    yield from key_scenarios(database, columns, ("a", "id"), first_row)
    amounts = Table(database, neutral("decimal/zeros"), (ID, *_ROUND_COLUMNS), ("id",))
    yield named("decimal/zeros", insert(amounts, {"id": 1, **_ROUND_ROW}))


_ROUND_COLUMNS: Final = (
    Column("hundred", mysql.decimal(10, 2)),
    Column("half", mysql.decimal(10, 2)),
    Column("zero", mysql.decimal(10, 2)),
    Column("small", mysql.decimal(20, 10)),
    Column("long", mysql.decimal(38, 0)),
    Column("unsigned", mysql.integer("bigint", unsigned=True)),
)
_ROUND_ROW: Final[Row] = {
    "hundred": Decimal("100.00"),
    "half": Decimal("1.50"),
    "zero": Decimal("0.00"),
    "small": Decimal("0.0000000270"),
    "long": Decimal(12345678901234567890123456789012345000),
    "unsigned": 18446744073709551610,
}
"""Values of DECIMAL and BIGINT UNSIGNED that end in zeros, or begin with them."""


UNTYPED_COLUMNS: Final = ("c_bit_8", "c_set_64", "c_time_0")
"""Columns of the faults' table whose types no Flink table of these formats has."""


def cell_faults(_profile: FlinkProfile) -> tuple[CellFault, ...]:
    """The unfit cells (JSON that a column's type cannot hold) that a message can have: those of
    columns whose types a Flink table has.
    """
    return tuple(fault for fault in CELL_FAULTS if fault.column not in UNTYPED_COLUMNS)


FITS: Final = dict.fromkeys(
    map("/".join, itertools.product((Logical.BIT, Logical.SET, Logical.TIME), Way)),
    "no column of a Flink table has the type here",
)
"""The combinations of a kind of types and a way of being unfit that have no column."""
