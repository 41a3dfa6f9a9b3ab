"""SeaTunnel's canal_json as its Kafka sink writes it: a message for each row inserted or deleted.

Source: `CanalJsonSerializationSchema` and the Kafka sink of Apache SeaTunnel 2.3.3 and 2.3.8 (the
page seatunnel of the sources). An UPDATE is the DELETE of the old row and the INSERT of the new
one, in two messages. Of Canal's members there are `data` and `type`, and `data` is the row itself
and no list: no database, no table, no key, no time. With `partition_key_fields` the record's key
is a message, too: the key's columns in `data`, and INSERT in `type`, also of a DELETE.

A reader of Canal's own messages breaks on them: `data` is no list, and `database`, `table`,
`pkNames` and `es` are missing. Columns have the types that SeaTunnel's MySQL-CDC source maps
MySQL's to; a TIMESTAMP is a wall clock in the zone that the source was told.

INSERT, UPDATE and DELETE of the row `id` 1 of `shop.notes`:

    {"data":{"id":1,"note":"old"},"type":"INSERT"}

    {"data":{"id":1,"note":"old"},"type":"DELETE"}

    {"data":{"id":1,"note":"new"},"type":"INSERT"}

    {"data":{"id":1,"note":"new"},"type":"DELETE"}
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Final

from generators.families import flink
from generators.families.connect import quoted
from generators.families.flink import FlinkProfile, SinkMessages, WrittenRow, spell_cell, write_rows
from generators.families.mysql_texts import TextForms, cell
from generators.families.wire_messages import print_json
from generators.model import (
    Cell,
    History,
    Layout,
    Logical,
    Op,
    SourceType,
    Value,
    Written,
    ZeroDate,
)
from generators.profile_tables import read_choices
from generators.wire_format import Format, about

__all__ = ["FORMAT"]

NAME: Final = "seatunnel-canal-json"


@dataclass(frozen=True, slots=True)
class SeaTunnelProfile(FlinkProfile):
    """A release of SeaTunnel with the options of its sink and source; the facts that Flink has
    options for are fixed.
    """

    iso_timestamps: bool = True
    escapes_astral: bool = False
    """A character beyond U+FFFF is escaped, as the pair of its surrogates."""


def spell(type: SourceType, value: Value, profile: SeaTunnelProfile) -> Cell:
    """A column's value as the sink writes it, and what a decoder owes for it. A TIMESTAMP is
    spelled as a DATETIME is: a wall clock without a zone (seatunnel#zone), of the time zone that
    the deployment tells. All else is spelled as Flink's sink does.
    """
    if type.logical is not Logical.TIMESTAMP or value is None or isinstance(value, ZeroDate):
        return spell_cell(type, value, profile)
    base = cell(type, value, TextForms(profile.deployment.time_zone))
    return flink.spell_moment(base, Logical.DATETIME, profile)


def members_of(written: WrittenRow) -> Mapping[str, Any]:
    """The members of a message: the row, inserted or deleted."""
    return {"data": written.values, "type": written.op.value}


def key_of(values: Mapping[str, Any]) -> Mapping[str, Any]:
    """The members of a record's key, which is a row inserted, whatever the message says."""
    return members_of(WrittenRow(Op.INSERT, values))


_ESCAPING: Final = SinkMessages(members_of, spell, key_of)
"""The messages of a release that escapes characters beyond U+FFFF."""
_RAW: Final = replace(_ESCAPING, printer=partial(print_json, quote=quoted))
"""The messages of a release that writes such characters as they are."""


def _write(history: History, profile: SeaTunnelProfile, layout: Layout) -> list[Written]:
    """The messages of a history as SeaTunnel's sink writes them."""
    sink = _ESCAPING if profile.escapes_astral else _RAW
    return write_rows(history, profile, layout, sink)


FORMAT: Final = Format(
    **about(NAME, read_choices(NAME, SeaTunnelProfile)),
    write=_write,
    scenarios=flink.scenarios,
    supports=flink.supports,
    cell_faults=flink.cell_faults,
    fits=flink.FITS,
)
