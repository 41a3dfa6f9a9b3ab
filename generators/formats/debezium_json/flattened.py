"""Rows without their envelope, as ExtractNewRecordState leaves them (debezium#flattened)."""

from __future__ import annotations

from typing import Any, Final

from generators.families.wire_messages import Part, Raw
from generators.formats.debezium_json.profiles import DebeziumProfile
from generators.formats.debezium_json.rows import Place, Wires, full_image, image, row_members
from generators.model import Change, Event, Heartbeat, Kind, Op, RowChange

CODES: Final = {Op.READ: "r", Op.INSERT: "c", Op.UPDATE: "u", Op.DELETE: "d", Op.TRUNCATE: "t"}
"""The letter of each operation in the members `op` and `__op`."""


ADDED: Final = ("__op", "__table", "__lsn", "__source_ts_ms")
"""The members that the transform adds to a row, but for `__deleted`."""


def stops(event: Event, profile: DebeziumProfile) -> bool:
    """Whether the transform stops the connector at an event: a column has the name of a member that
    is added (debezium#flattened-names), or release 2.5 meets a message without source
    (debezium#flattened-without-source). Of the members, `__lsn` is not added to MySQL's rows, and
    `__deleted` only with the option `rewrite` (the profile's "flat-rewrite"). False without a
    transform.
    """
    if not isinstance(event, RowChange):
        return (
            bool(profile.flat) and profile.flat_stops_at_heartbeats and isinstance(event, Heartbeat)
        )
    added = (
        {*ADDED, "__deleted"}
        - ({"__lsn"} if profile.is_mysql else set())
        - ({"__deleted"} if profile.flat == "flat" else set())
    )
    return bool(profile.flat) and not added.isdisjoint(
        column.name for column in event.table.columns
    )


def flattened(
    profile: DebeziumProfile,
    place: Place,
    op: Op,
    row: Wires,
    keys: tuple[str, ...] | None,
    lsn: int | None,
    source_ms: int,
) -> tuple[Part, Change]:
    """The value of a row's message without envelope, and the change that a decoder owes for it: the
    new row, of a delete the old row, or, without the option `rewrite`, null, which only a header
    distinguishes from a tombstone. An UPDATE's old row and the schema's name are lost; the
    database's name is in a header.
    """
    shape, gone = place.shape, op is Op.DELETE
    if gone and profile.flat == "flat":
        value: Part = b"null"
        if shape.row_schema:
            value = {"schema": Raw(shape.row_schema), "payload": None}
        return value, Change(0, Kind.TOMBSTONE, keys=keys, accept=((Kind.ROW, Op.DELETE),))
    added: dict[str, Any] = {"__op": CODES[op], "__table": shape.table}
    if not profile.is_mysql:
        added["__lsn"] = lsn
    added["__source_ts_ms"] = source_ms
    if profile.flat == "flat-rewrite":
        marked = {"__deleted": str(gone).lower()}
        added = {**marked, **added} if profile.deleted_first else {**added, **marked}
    payload = {**(row_members(shape, row) or {}), **added}
    shown, full = image(shape, row), full_image(shape, row)
    change = Change(
        0,
        Kind.ROW,
        op,
        table=shape.table,
        keys=keys,
        position=None if profile.is_mysql or lsn is None else str(lsn),
        commit_time_us=source_ms * 1000,
        before=shown if gone else None,
        after=None if gone else shown,
        full_before=full if gone else None,
        full_after=None if gone else full,
        accept=((Kind.CORRUPT, None),) if any(wire.corrupt for wire in row.values()) else (),
        databases=(place.event.table.database,),
    )
    return shape.value_part(payload), change
