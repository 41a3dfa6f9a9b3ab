"""What the two JSON formats of the Kafka sink of Flink CDC's pipelines share: releases, and the
messages of a history.

Source: Flink CDC's own serializers (the page flink-cdc of the sources). A message holds one row
change and the names of its database and table. Values are spelled by Flink's own converters, so
that they are those of Flink SQL's sinks (`generators/families/flink.py`). Columns have the types
that Flink CDC's pipelines map MySQL's to.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from generators.families import flink
from generators.families.connect import print_as_jackson
from generators.families.flat import SEND_LAG_MS
from generators.families.flink import FlinkProfile, json_row, json_value, spell_cell, without_nulls
from generators.families.wire_messages import ABSENT, WireMessage, print_message
from generators.model import (
    Change,
    Column,
    History,
    Image,
    Kind,
    Layout,
    Op,
    Row,
    RowChange,
    RowImages,
    Scenario,
    Table,
    Written,
)
from generators.profile_tables import read_choices
from generators.sources import mysql
from generators.sources.boundaries import ID, change, named, neutral
from generators.wire_format import Format, about


@dataclass(frozen=True, slots=True)
class FlinkCdcProfile(FlinkProfile):
    """A release of Flink CDC with the options of its sink's format, which are facts by their
    names.
    """

    keyed: bool = True
    """A record has a key, an object of the table's name and the key's columns."""
    deletes_in_old: bool = False
    """The row of a DELETE of canal-json stands in `old`, and `data` is null."""


KEY_PROFILE: Final = FlinkCdcProfile("")
"""How the values of a record's key are spelled: the options are those of the value's format."""


class WrittenChange(NamedTuple):
    """One row change, of which a message is made: the table, the operation, and the rows before and
    after it in JSON by column; None for a row that the operation does not have.
    """

    table: Table
    op: Op
    before: Mapping[str, Any] | None
    after: Mapping[str, Any] | None


MembersOf = Callable[[WrittenChange, FlinkCdcProfile], Mapping[str, Any]]
"""The function that gives the members of the message of one row change, by name in their order; a
member that is None stands as null.
"""


def pipeline_format(name: str, members_of: MembersOf, *, keyed: bool) -> Format[FlinkCdcProfile]:
    """The format `name`, of a sink whose messages have the members that `members_of` gives. `keyed`
    says that they name the key's columns.
    """

    def write(history: History, profile: FlinkCdcProfile, layout: Layout) -> list[Written]:
        """The messages of a history as the sink writes them: one for each changed row, two for an
        UPDATE of the key. All other events have no message.
        """
        written: list[Written] = []
        for number, event in enumerate(history.events):
            if not isinstance(event, RowChange):
                continue
            for images in event.rows:
                for part in _parts(event.table, images):
                    written += print_message(
                        _message(event.table, part, profile, members_of, keyed),
                        print_as_jackson,
                        layout,
                        event=number,
                        timestamp_ms=event.at.ms + SEND_LAG_MS,
                    )
        return written

    return Format(
        **about(name, read_choices(name, FlinkCdcProfile)),
        write=write,
        scenarios=scenarios,
        supports=flink.supports,
        cell_faults=flink.cell_faults,
        fits=flink.FITS,
    )


def scenarios(profile: FlinkCdcProfile, database: str) -> Iterator[Scenario]:
    """The cases of Flink SQL's sinks (`flink.scenarios`), and two more: UPDATEs of the key, and an
    UPDATE of a table without a key.
    """
    yield from flink.scenarios(profile, database)
    columns = (ID, Column("a", mysql.text()))
    moved = Table(database, neutral("update/key"), columns, ("id",))
    first_row: Row = {"id": 1, "a": "x"}
    images = (
        ({**first_row, "id": number}, {**first_row, "id": number + 10, "a": "y"})
        for number in range(3)
    )
    yield named("update/key", change(moved, Op.UPDATE, *images), tags={"key-update"})
    keyless = Table(database, neutral("update/without-key"), columns)
    new_row: Row = {"id": 2, "a": "x"}
    yield named(
        "update/without-key",
        change(keyless, Op.UPDATE, (first_row, new_row)),
        tags={"keys:none"},
    )


def _parts(table: Table, images: RowImages) -> Iterator[RowImages]:
    """The images of each message of a changed row. There is one message, but two for an UPDATE of
    the key, which reaches the sink as the DELETE of the old row and the INSERT of the new one.
    """
    before, after = images.before, images.after
    if before is None or after is None or _key(table, before) == _key(table, after):
        yield images
        return
    yield RowImages(before, None)
    yield RowImages(None, after)


def _key(table: Table, source_row: Row) -> list[object]:
    """The values of a row's primary key; [] for a table without one."""
    return [source_row.get(column) for column in table.primary_key]


def _message(
    table: Table,
    images: RowImages,
    profile: FlinkCdcProfile,
    members_of: MembersOf,
    keyed: bool,
) -> WireMessage:
    """The message of one row change, and the change that a decoder must return for it. `keyed` says
    that the message names the key's columns.
    """
    before = _image(table, images.before, profile)
    after = _image(table, images.after, profile)
    op = Op.INSERT if before is None else Op.DELETE if after is None else Op.UPDATE
    written = WrittenChange(table, op, _json(before, profile), _json(after, profile))
    members = dict(members_of(written, profile))
    if not profile.writes_nulls:
        members = {name: ABSENT if value is None else value for name, value in members.items()}
    owed_change = Change(
        0,
        Kind.ROW,
        op,
        database=table.database,
        table=table.name,
        keys=table.primary_key if keyed else None,
        other_keys=() if keyed else (table.primary_key,),
        before=_sent_image(before, profile),
        after=_sent_image(after, profile),
        full_before=before,
        full_after=after,
    )
    key_row = images.before if images.after is None else images.after
    assert key_row is not None
    key = _record_key(table, key_row) if profile.keyed else None
    return WireMessage(members, (owed_change,), key)


def _image(table: Table, source_row: Row | None, profile: FlinkCdcProfile) -> Image | None:
    """The cells of a row, as a sink spells them; None without a row."""
    if source_row is None:
        return None
    return {
        column.name: spell_cell(column.type, source_row.get(column.name), profile)
        for column in table.columns
    }


def _json(image: Image | None, profile: FlinkCdcProfile) -> Mapping[str, Any] | None:
    """The values of a row in JSON by column; None without a row."""
    return None if image is None else json_row(image, profile)


def _sent_image(image: Image | None, profile: FlinkCdcProfile) -> Image | None:
    """The image as messages have it: with `encode.ignore-null-fields` what is NULL is absent."""
    return image if image is None or profile.writes_nulls else without_nulls(image)


def _record_key(table: Table, source_row: Row) -> Mapping[str, Any]:
    """The members of a record's key: the table's name with its database, and the key's columns.
    Their values are spelled as a sink without options spells them (KEY_PROFILE), whatever the
    options of the value are.
    """
    types = {column.name: column.type for column in table.columns}
    return {
        "TableId": f"{table.database}.{table.name}",
        **{
            name: json_value(spell_cell(types[name], source_row.get(name), KEY_PROFILE))
            for name in table.primary_key
        },
    }
