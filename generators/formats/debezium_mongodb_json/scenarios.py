"""The cases that only this format has, and cells whose text is no value of their field's type."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from decimal import Decimal
from functools import partial
from typing import Final, NamedTuple, TypeAlias

from generators.formats.debezium_mongodb_json.profiles import MongodbProfile
from generators.garbage.cell_faults import CellFault
from generators.model import (
    Column,
    Event,
    Heartbeat,
    Instant,
    Json,
    Op,
    Row,
    Scenario,
    Table,
    Value,
)
from generators.sources.boundaries import START, change, insert, named, neutral
from generators.sources.mongodb import ID, TYPES
from generators.wire_format import Loss

_OBJECT_ID: Final = "5f43a1b2c3d4e5f601234567"
_UUID: Final = "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11"
_DAY: Final = 1_626_560_000_000_000

_KEYS: Final[Mapping[str, Value]] = {
    "int": 5,
    "long": (1 << 53) + 1,
    "double": 1.5,
    "decimal": Decimal("1.50"),
    "string": 'say "hi"',
    "bool": 1,
    "date": 1_700_000_000_120_000,
    "objectId": _OBJECT_ID,
    "uuid": _UUID,
    "binData": b"\x01\x02\xff",
    "object": Json(
        {"region": "eu", "number": 1 << 40, "since": {"$oid": "5f43a1b2c3d4e5f601234567"}}
    ),
}
"""A value of `_id` of each type that it may have; no array is one."""


def losses(profile: MongodbProfile) -> tuple[Loss, ...]:
    """What a profile's messages lose, for every decoder."""
    if profile.full_update or profile.pre_image:
        return ()
    statement = "An UPDATE has neither document: rows cannot be rebuilt from changes alone"
    return (Loss((), statement, "debezium-mongodb#after"),)


def scenarios(profile: MongodbProfile, database: str) -> Iterator[Scenario]:
    """The named cases of the format, for a profile's database: keys of each type, updates, names of
    fields, a snapshot, a heartbeat, numbers whose document is no JSON (NaN, infinities), and
    changes of one second and of the next, by which `source.ord` counts.
    """
    yield from _key_scenarios(database)
    yield from _update_scenarios(database)
    yield from _field_scenarios(database)
    notes = collection(database, "snapshot/rows")
    documents: list[Row] = [{ID: number, "a": "x", "n": number} for number in (1, 2)]
    yield named(
        "snapshot/rows",
        *(change(notes, Op.READ, (None, document)) for document in documents),
        tags={"snapshot"},
    )
    beats = collection(database, "control/heartbeat")
    yield named("control/heartbeat", insert(beats, documents[0]), Heartbeat(Instant(START.ms + 5)))
    reals = collection(database, "values/not-finite", x="double", a="string")
    finite: Row = {ID: 1, "x": 1.5, "a": "b"}
    yield named(
        "values/not-finite",
        *(insert(reals, {**finite, ID: i, "x": x}) for i, x in enumerate((math.nan, -math.inf))),
        change(reals, Op.UPDATE, (finite, {**finite, "x": math.inf})),
        tags={"not-json"},
    )
    clock = collection(database, "order/seconds")
    at = [Instant(START.ms + ms, 1) for ms in (1, 2, 1001)]
    events = (
        insert(clock, {**documents[0], ID: number}, at=moment) for number, moment in enumerate(at)
    )
    yield named("order/seconds", *events)


def collection(database: str, name: str, key: str = "long", **fields: str) -> Table:
    """The collection of a scenario: `_id` of the type `key`, and fields of the types by name, by
    default a string `a` and an int `n`.
    """
    columns = (
        Column(ID, TYPES[key], nullable=False),
        *(
            Column(field, TYPES[type])
            for field, type in (fields or {"a": "string", "n": "int"}).items()
        ),
    )
    return Table(database, neutral(name), columns, (ID,))


def _key_scenarios(database: str) -> Iterator[Scenario]:
    """A document with a key of each type: inserted, updated and deleted."""
    for type, key in _KEYS.items():
        name = f"keys/{type}"
        table = collection(database, name, type)
        document: Row = {ID: key, "a": "x", "n": 1}
        changed = {**document, "a": "y"}
        events: tuple[Event, ...] = (
            insert(table, document),
            change(table, Op.UPDATE, (document, changed)),
            change(table, Op.DELETE, (changed, None)),
        )
        yield named(name, *events)


def _update_scenarios(database: str) -> Iterator[Scenario]:
    """Updates of each kind: of a field, to null, of a field that is removed or added, within an
    object or an array, and a replacement.
    """
    fields = {"a": "string", "n": "int", "o": "object", "l": "array", "b": "long", "d": "date"}
    document: Row = {
        ID: 1,
        "a": "x",
        "n": 1,
        "o": Json({"p": 1, "q": {"r": "s"}}),
        "l": Json([1, 2, 3]),
        "b": 1 << 40,
        "d": 1_700_000_000_000_000,
    }
    without = {name: value for name, value in document.items() if name != "a"}
    changes: Mapping[str, tuple[Row, Row]] = {
        "one-field": (document, {**document, "a": "y"}),
        "to-null": (document, {**document, "a": None}),
        "removed": (document, without),
        "added": (without, {**without, "a": "z"}),
        "removed-and-set": (document, {**without, "n": 2}),
        "path": (document, {**document, "o": Json({"p": 2, "q": {"r": "s"}})}),
        "path-of-long": (document, {**document, "o": Json({"p": 1, "q": 1 << 40})}),
        "path-removed": (document, {**document, "o": Json({"p": 1})}),
        "path-added": (document, {**document, "o": Json({"p": 1, "q": {"r": "s"}, "t": "u"})}),
        "whole-object": (document, {**document, "o": Json({"v": 1})}),
        "whole-array": (document, {**document, "l": Json([3, 2])}),
        "truncated-array": (document, {**document, "l": Json([1, 2])}),
        "long-and-date": (document, {**document, "b": (1 << 40) + 1, "d": 1_700_000_000_500_000}),
        "date-before-1970": (document, {**document, "d": -1000}),
        "replaced": (
            document,
            {ID: 1, "a": "y", "n": 2, "o": Json({}), "l": Json([]), "b": 2, "d": 0},
        ),
    }
    for label, pair in changes.items():
        name = f"update/{label}"
        yield named(
            name, change(collection(database, name, **fields), Op.UPDATE, pair), tags={"update"}
        )
    first: dict[str, Value] = {ID: 1, **{name: _first(name) for name in TYPES}}
    for type in TYPES:
        name = f"update/{type}"
        table = collection(database, name, **{f"c_{field}": field for field in TYPES})
        before = {ID: 1, **{f"c_{field}": first[field] for field in TYPES}}
        after = {**before, f"c_{type}": _second(type)}
        yield named(name, change(table, Op.UPDATE, (before, after)), tags={"update"})


_VALUES: Final[Mapping[str, tuple[Value, Value]]] = {
    "int": (1, -7),
    "long": (1, 1 << 62),
    "double": (1.5, 1e20),
    "decimal": (Decimal("1.50"), Decimal("1E+3")),
    "string": ("x", 'y "\u00e9\u0301'),
    "bool": (0, 1),
    "date": (0, 1_700_000_000_120_000),
    "objectId": ("0" * 24, "5f43a1b2c3d4e5f601234567"),
    "uuid": ("00000000-0000-0000-0000-000000000000", "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11"),
    "binData": (b"", b"\x00\xffab"),
    "object": (
        Json({}),
        Json({"long": 1 << 40, "date": {"$date": {"$numberLong": "1700000000000"}}}),
    ),
    "array": (Json([]), Json([1, 1 << 40, "x"])),
}
"""Two values of each type, before and after an update."""


def _first(type: str) -> Value:
    """The value of a type before the updates of the cases."""
    return _VALUES[type][0]


def _second(type: str) -> Value:
    """The value of a type after the updates of the cases."""
    return _VALUES[type][1]


def _field_scenarios(database: str) -> Iterator[Scenario]:
    """Documents that lack fields, or have them in another order, and names of collections."""
    missing = collection(database, "fields/missing")
    yield named(
        "fields/missing",
        insert(missing, {ID: 1, "n": 2}),
        insert(missing, {ID: 2, "a": None}),
        tags={"missing"},
    )
    nothing = collection(database, "fields/none")
    yield named(
        "fields/none",
        insert(nothing, {ID: 1}),
        change(nothing, Op.DELETE, ({ID: 1}, None)),
        tags={"missing"},
    )
    turned = collection(database, "fields/other-order")
    yield named("fields/other-order", insert(turned, {"n": 1, "a": "x", ID: 1}))
    pointed = replace(
        collection(database, "fields/points", **{"a.b": "string", "c": "int"}),
        name=neutral("fields/points") + ".b",
    )
    before: Row = {ID: 1, "a.b": "x", "c": 1}
    yield named(
        "fields/points",
        insert(pointed, before),
        change(pointed, Op.UPDATE, (before, {**before, "c": 2})),
        change(pointed, Op.UPDATE, (before, {**before, "a.b": "y"})),
    )
    every_type = collection(database, "rows/missing", **{f"c_{name}": name for name in TYPES})
    gaps = replace(every_type, database="pool_mongo", name="gaps")
    sparse: Row = {ID: 1, "c_int": 1}
    yield named("rows/missing", insert(gaps, sparse), level=2, tags={"missing"})
    # A snapshot that begins again reads a document once more: an equal row, and no duplicate.
    read_again = (change(gaps, Op.READ, (None, sparse)) for _ in range(2))
    yield named("rows/read-again", *read_again, level=2, tags={"missing", "snapshot"})


class _Unfit(NamedTuple):
    """JSON that is no value of a field's type, and the value that it stands in the place of."""

    name: str
    type: str
    value: Value
    spoiled: str


_LETTERS: Final = '"?\u20ac"'
"""JSON of a text that is no value of any other type."""
_OTHER: Final = '{"x": "y"}'
"""JSON of an object that is no value of any type."""
_UNFIT: Final = (
    _Unfit("cell-int-letters", "int", 1234567895, _LETTERS),
    _Unfit("cell-int-empty", "int", 1234567895, '""'),
    _Unfit("cell-int-outside", "int", 1234567895, "2147483648"),
    _Unfit("cell-int-shape", "int", 1234567895, _OTHER),
    _Unfit("cell-long-letters", "long", 1234567890123, '{"$numberLong": "12x4"}'),
    _Unfit("cell-long-over", "long", 1234567890123, '{"$numberLong": "9223372036854775808"}'),
    _Unfit("cell-long-other", "long", 1234567890123, '{"$oid": "5f43a1b2c3d4e5f601234567"}'),
    _Unfit("cell-decimal-letters", "decimal", Decimal("7654321.35"), '{"$numberDecimal": "1.2.3"}'),
    _Unfit("cell-decimal-empty", "decimal", Decimal("7654321.35"), '{"$numberDecimal": ""}'),
    _Unfit("cell-decimal-outside", "decimal", Decimal("7654321.35"), '{"$numberDecimal": "1E+30"}'),
    _Unfit("cell-decimal-shape", "decimal", Decimal("7654321.35"), _OTHER),
    _Unfit("cell-double-letters", "double", 65432.25, _LETTERS),
    _Unfit("cell-double-empty", "double", 65432.25, '""'),
    _Unfit("cell-double-outside", "double", 65432.25, "1e309"),
    _Unfit("cell-double-shape", "double", 65432.25, _OTHER),
    _Unfit("cell-bit-letters", "bool", 1, _LETTERS),
    _Unfit("cell-bit-empty", "bool", 1, '""'),
    _Unfit("cell-bit-outside", "bool", 1, "256"),
    _Unfit("cell-bit-shape", "bool", 1, _OTHER),
    _Unfit("cell-timestamp-letters", "date", _DAY, '{"$date": "2021-13-45T00:00:00Z"}'),
    _Unfit("cell-timestamp-empty", "date", _DAY, '{"$date": ""}'),
    _Unfit("cell-timestamp-outside", "date", _DAY, '{"$date": 100000000000000000000}'),
    _Unfit("cell-timestamp-shape", "date", _DAY, _OTHER),
    _Unfit("cell-objectid-letters", "objectId", _OBJECT_ID, '{"$oid": "xyz"}'),
    _Unfit("cell-objectid-other", "objectId", _OBJECT_ID, _OTHER),
    _Unfit("cell-uuid-length", "uuid", _UUID, '{"$binary": "AQID", "$type": "04"}'),
    _Unfit(
        "cell-uuid-subtype", "uuid", _UUID, '{"$binary": "AAECAwQFBgcICQoLDA0ODw==", "$type": "00"}'
    ),
    _Unfit("cell-binary-letters", "binData", b"unfit bytes", '{"$binary": "?!", "$type": "00"}'),
    _Unfit("cell-binary-shape", "binData", b"unfit bytes", _OTHER),
    _Unfit("cell-json-letters", "object", Json({"unfit": "cell"}), _LETTERS),
    _Unfit("cell-array-other", "array", Json(["unfit"]), _OTHER),
)
"""The cell faults of the format."""


TextChange: TypeAlias = Callable[[str], str | None]
"""Changes the text of a document, or gives None where there is no place for it."""


def unfit_cells(
    change_document: Callable[[bytes, TextChange], bytes | None],
) -> tuple[CellFault, ...]:
    """The faults of cells of the connector: in the text of the document in `after`, a field has
    JSON that is no value of its type. `change_document` changes that text in a message's value. The
    written form is "": `edit` finds the place by the field's name.
    """

    def spoil_field(value: bytes, field: str, spoiled: str) -> bytes | None:
        """A message's value with other JSON in a field of its document; None if it lacks the
        field.
        """
        return change_document(value, partial(_spoil_field, field=field, spoiled=spoiled))

    return tuple(
        CellFault(
            unfit.name,
            f"c_{unfit.type}",
            unfit.value,
            "",
            unfit.spoiled,
            edit=partial(spoil_field, field=f"c_{unfit.type}", spoiled=unfit.spoiled),
        )
        for unfit in _UNFIT
    )


_AFTER: Final = re.compile(rb'"after":("(?:[^"\\]|\\.)*")')
"""The text of the document in `after`, as JSON in a message."""


_PLACE: Final = "the field's new value"
"""What stands in a field until it is replaced by JSON that no dump would print."""


def change_json_document(value: bytes, change: TextChange) -> bytes | None:
    """A message's value in JSON with the text of the document in `after` changed; None if it has
    none, or no place for the change.
    """
    match = _AFTER.search(value)
    changed = None if match is None else change(json.loads(match[1]))
    if match is None or changed is None:
        return None
    spoiled_text = json.dumps(changed, ensure_ascii=False).encode()
    return value[: match.start(1)] + spoiled_text + value[match.end(1) :]


def _spoil_field(document_text: str, field: str, spoiled: str) -> str | None:
    """The text of a document with the JSON `spoiled` in a field; None if it does not have the
    field. `spoiled` may be JSON that no dump prints: it replaces the text of a marker.
    """
    document = json.loads(document_text)
    if field not in document:
        return None
    return json.dumps({**document, field: _PLACE}).replace(json.dumps(_PLACE), spoiled)
