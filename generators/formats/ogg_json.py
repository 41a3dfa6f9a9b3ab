"""Oracle GoldenGate's JSON: one message for each row operation, with the row before and the row
after it.

Source: GoldenGate for Big Data, JSON formatter, as its documentation prints it and Flink's ogg-json
reads it (ogg#members and after). The trail is MySQL's here: a table is `database.table`. Numbers
are JSON numbers, everything else text; no page says how GoldenGate writes MySQL's BIT, ENUM, SET
and JSON, which are left out. `op_ts` has no zone: UTC is assumed, for TIMESTAMP too.

INSERT, UPDATE and DELETE of the row `id` 1 of `shop.notes`:

    {"table":"shop.notes","op_type":"I","op_ts":"2023-11-14 22:13:20.000000",
    "current_ts":"2023-11-14T22:13:20.729000","pos":"07130316800000000016","after":{"id":"1",
    "note":"old"}}

    {"table":"shop.notes","op_type":"U","op_ts":"2023-11-14 22:13:20.000000",
    "current_ts":"2023-11-14T22:13:20.729000","pos":"07130316800000000016","after":{"id":"1",
    "note":"new"}}

    {"table":"shop.notes","op_type":"D","op_ts":"2023-11-14 22:13:20.000000",
    "current_ts":"2023-11-14T22:13:20.729000","pos":"07130316800000000016","before":{"id":"1",
    "note":"new"}}
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any, Final

from generators.families.flat import (
    Flat,
    Member,
    Members,
    cells_of_image,
    key_scenarios,
    values_of_members,
    writer,
)
from generators.families.mysql_texts import BASE64, TextForms, scaled_text
from generators.families.wire_messages import ABSENT, WireMessage
from generators.garbage.cell_faults import CELL_FAULTS, Way
from generators.model import (
    Cell,
    Change,
    Column,
    Event,
    Kind,
    Logical,
    Op,
    Row,
    RowChange,
    Scenario,
    SchemaChange,
    SourceType,
    Table,
    Value,
)
from generators.profile_tables import read_choices
from generators.profiles import Profile
from generators.sources import mysql
from generators.sources.boundaries import ID, START, change, insert, named, neutral
from generators.wire_format import Format, about

__all__ = ["FORMAT", "OggProfile", "write"]

NAME: Final = "ogg-json"


@dataclass(frozen=True, slots=True)
class OggProfile(Profile):
    """A release with its options, which are facts by their names."""

    primary_keys: bool = False
    tokens: bool = False
    null_images: bool = False
    strings: bool = False
    before: bool = True
    colons: bool = False


CHOICES: Final = read_choices(NAME, OggProfile)

NUMBERS: Final = frozenset({Logical.INT, Logical.DECIMAL, Logical.FLOAT, Logical.DOUBLE})
"""The families of types whose values are JSON numbers."""
_CLOCKS: Final = frozenset({Logical.DATETIME, Logical.TIMESTAMP})
"""The families of types whose values are a date and a time."""
_TEXTS: Final = frozenset({Logical.TEXT, Logical.BINARY, Logical.DATE, Logical.TIME})
"""The families of types whose values are texts."""


def supports(type: SourceType) -> bool:
    """Whether the form of the type's values follows from the documentation. That of VECTOR, which
    the model counts among the texts, does not.
    """
    return (
        type.source == "mysql"
        and type.logical in NUMBERS | _CLOCKS | _TEXTS
        and type.name != "vector"
    )


def _decimal(cell: Cell, value: Value) -> Cell:
    """The cell of a DECIMAL with every digit of its scale, as PRODUCT_PRICE of the documentation
    shows; any other cell as it is.
    """
    if cell.type.logical is not Logical.DECIMAL or isinstance(value, (int, str, bytes)):
        return cell
    return replace(cell, text=scaled_text(value, cell.type.scale or 0))  # type: ignore[arg-type]


def _spell_with_colons(cell: Cell, value: Value) -> Cell:
    """An expected cell with a colon between date and time of a DATETIME or TIMESTAMP, and a DECIMAL
    with all digits of its scale, for profiles with that spelling.
    """
    cell = _decimal(cell, value)
    return (
        replace(cell, text=(cell.text or "").replace(" ", ":"))
        if cell.type.logical in _CLOCKS
        else cell
    )


def _clock(ms: int, mark: str) -> str:
    """A time in milliseconds as text with microseconds; `mark` stands between date and time."""
    moment = datetime(1970, 1, 1) + timedelta(milliseconds=ms)
    return moment.isoformat(mark, "microseconds")


def _position(event: Event, row_number: int) -> str:
    """The member `pos` of a row: the place in the trail, in 20 digits that sort as they count."""
    return f"{event.at.tso * 16 + min(row_number, 15):020d}"


OPS: Final = {Op.INSERT: "I", Op.UPDATE: "U", Op.DELETE: "D", Op.TRUNCATE: "T"}
"""The letter of each operation in `op_type`."""


def _image(profile: OggProfile, image: Member) -> Member:
    """The function that gives an image, with null in place of an absent one if the profile writes
    such nulls.
    """

    def member(event: RowChange, change: Change) -> Any:
        """The image, or None where null is written for an absent one."""
        image_value = image(event, change)
        return None if image_value is ABSENT and profile.null_images else image_value

    return member


def _members(profile: OggProfile) -> Members:
    """The members of a row's message in their order, each with the function that computes its value
    from the event and the expected change.
    """
    return (
        ("table", lambda event, _: f"{event.table.database}.{event.table.name}"),
        ("op_type", lambda event, _: OPS[event.op]),
        ("op_ts", lambda event, _: _clock(event.at.ms, " ")),
        ("current_ts", lambda event, _: _clock(event.at.ms + 729, "T")),
        ("pos", lambda event, change: _position(event, change.row)),
        (
            "primary_keys",
            lambda event, _: event.table.primary_key if profile.primary_keys else ABSENT,
        ),
        ("tokens", lambda _event, _: {"R": "AADPkvAAEAAEqLzAAA"} if profile.tokens else ABSENT),
        ("before", _image(profile, cells_of_image(lambda change: change.before))),
        ("after", _image(profile, cells_of_image(lambda change: change.after))),
    )


def _other_splits(event: RowChange) -> dict[str, Any]:
    """Other pairs of database and table that the member `table` may mean, as fields of a Change: if
    a name has a dot, each dot may be the one between the two.
    """
    parts = f"{event.table.database}.{event.table.name}".split(".")
    if len(parts) == 2:
        return {}
    places = range(1, len(parts))
    return {
        "databases": tuple(".".join(parts[:place]) for place in places),
        "tables": tuple(".".join(parts[place:]) for place in places),
    }


def _flat(profile: OggProfile) -> Flat:
    """How the profile writes each event, as the table from which `writer` makes the format's
    writer.
    """
    return Flat(
        members=_members(profile),
        forms=TextForms("UTC", binary=BASE64),
        keyed=profile.primary_keys,
        numbers=frozenset() if profile.strings else NUMBERS,
        complete_before=True,
        has_before=lambda _before, _after: profile.before,
        respell=_spell_with_colons if profile.colons else _decimal,
        more_fields=_other_splits,
        position=_position,
        write_other=lambda event: _truncate_message(event, profile),
    )


def _truncate_message(event: Event, profile: OggProfile) -> Iterable[WireMessage]:
    """The message of a TRUNCATE; nothing for any other event. TRUNCATE is the only statement that
    GoldenGate's trail has as an operation.
    """
    if (
        isinstance(event, SchemaChange)
        and event.action == "truncate table"
        and event.before is not None
    ):
        table = event.before
        truncation = Change(
            0,
            Kind.ROW,
            Op.TRUNCATE,
            commit_time_us=event.at.ms * 1000,
            position=_position(event, 0),
        )
        truncation = replace(truncation, accept=((Kind.DDL, None),), **_flat(profile).names(table))
        row_change = RowChange(event.at, table, Op.TRUNCATE, ())
        yield WireMessage(
            values_of_members(_members(profile), row_change, truncation), (truncation,)
        )


write: Final = writer(_flat)


def scenarios(profile: OggProfile, database: str) -> Iterator[Scenario]:
    """The cases that only this format has: TRUNCATE, keys, and the documentation's table."""
    columns = (ID, Column("a", mysql.text()), Column("n", mysql.decimal(10, 2)))
    example_row: Row = {"id": 1, "a": "x", "n": None}
    emptied = Table(database, neutral("op/truncate"), columns, ("id",))
    statement = SchemaChange(
        START, "truncate table", "TRUNCATE TABLE t", database, emptied.name, before=emptied
    )
    yield named("op/truncate", insert(emptied, example_row), statement)
    yield from key_scenarios(database, columns, ("n", "id"), {**example_row, "n": Decimal("1.50")})
    batch_table = Table(database, neutral("position/rows"), columns, ("id",))
    yield named(
        "position/rows",
        change(batch_table, Op.INSERT, *((None, {**example_row, "id": i}) for i in range(3))),
    )


_UNTYPED: Final = ("c_bit_8", "c_year", "c_set_64")
"""Columns of the faults' table whose types have no known form here."""


FORMAT: Final = Format(
    **about(NAME, CHOICES),
    write=write,
    scenarios=scenarios,
    supports=supports,
    cell_faults=lambda _profile: tuple(
        fault for fault in CELL_FAULTS if fault.column not in _UNTYPED
    ),
    fits={
        f"{logical}/{way}": "no documented form"
        for logical in (Logical.BIT, Logical.YEAR, Logical.ENUM, Logical.SET, Logical.JSON)
        for way in Way
    },
)
