"""The lossless JSON forms of the model: what corpora and crash files are made of (docs/corpus.md).

`dump_x` gives plain JSON values (dict, list, str, int, bool, None), `load_x` reads them back:
`load_x(dump_x(x)) == x`. Fields at their default are left out, unless a reader would miss them.
What cannot be loaded raises `Malformed`, which names the field.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache
from typing import Any, Final
from zoneinfo import ZoneInfo

from generators.families import confluent
from generators.model import (
    Case,
    Cell,
    Change,
    Column,
    Default,
    Deployment,
    Kind,
    Logical,
    Message,
    Op,
    Origin,
    SourceType,
    State,
    Table,
    Written,
)
from generators.storage.jsonform import (
    BOOLEAN,
    BYTES,
    DIGITS,
    INTEGER,
    NAMES,
    NOTHING,
    TEXT,
    TEXTS,
    VALUE,
    Form,
    Malformed,
    Plain,
    Record,
    array,
    array_form,
    enum_form,
    fields,
    load_bytes,
    mapping,
    mapping_form,
    need,
    path,
    string,
)

_TYPE: Final = Record(
    SourceType,
    {
        "name": TEXT,
        "logical": enum_form(Logical),
        **dict.fromkeys(("unsigned", "zerofill"), BOOLEAN),
        **dict.fromkeys(("length", "precision", "scale", "fsp"), INTEGER),
        "members": TEXTS,
        **dict.fromkeys(("low", "high"), DIGITS),
        "source": TEXT,
    },
)
dump_type, load_type = _TYPE.dump, _TYPE.load
_SAME_TYPE: Final = Form(lru_cache(maxsize=1024)(dump_type), load_type)
"""The form of a column's or a cell's type. Its JSON object is made once and shared, because a
corpus has few different types and many cells of each.
"""

_DEFAULT: Final = Record(Default, {"text": TEXT, "value": VALUE}, needed=("value",))
_COLUMN: Final = Record(
    Column,
    {
        "name": TEXT,
        "type": _SAME_TYPE,
        "nullable": BOOLEAN,
        **dict.fromkeys(("declared", "charset", "generated", "comment"), TEXT),
        "default": _DEFAULT,
    },
    needed=("nullable",),
)
_TABLE: Final = Record(
    Table,
    {
        **dict.fromkeys(("database", "schema", "name"), TEXT),
        "columns": array_form(_COLUMN),
        "primary_key": TEXTS,
        "unique": array_form(TEXTS),
    },
    needed=("primary_key", "unique"),
)
"""The form of a table. Indexes and comments are left out, because no decoder needs them."""
dump_table, load_table = _TABLE.dump, _TABLE.load

COMPRESSIONS: Final = ("none", "snappy", "lz4")
"""The legal values of `Deployment.compression`."""
_OPTIONS: Final = (
    "time_zone",
    "charset",
    "compression",
    "binary",
    "decimal",
    "temporal",
    "bigint_unsigned",
)
"""The fields of a deployment that its JSON form must have."""
_DEPLOYMENT: Final = Record(
    Deployment,
    dict.fromkeys((*_OPTIONS, "schemas"), TEXT),
    needed=_OPTIONS,
    always_dumped=("schemas",),
)
"""The form of a deployment. `schemas` may be missing, because older files lack it."""
dump_deployment = _DEPLOYMENT.dump


def load_deployment(data: Plain, at: str = "") -> Deployment:
    """The deployment of a JSON form that `dump_deployment` made; `at` is the form's path in the
    file, for messages of errors. Raises Malformed for another form, an unknown time zone or
    compression.
    """
    loaded = _DEPLOYMENT.load(data, at)
    try:
        ZoneInfo(loaded.time_zone)
    except (ValueError, LookupError, OSError):
        raise Malformed(path(at, "time_zone"), f"{loaded.time_zone!r} is no time zone") from None
    if loaded.compression not in COMPRESSIONS:
        raise Malformed(
            path(at, "compression"), f"{loaded.compression!r} is none of {', '.join(COMPRESSIONS)}"
        )
    return loaded


def _dump_header(header: tuple[str, bytes]) -> Plain:
    """The JSON form of a header of a Kafka record, which is a pair of a name and a value."""
    name, value = header
    return {"key": TEXT.dump(name), "value": BYTES.dump(value)}


def _load_header(data: Plain, at: str) -> tuple[str, bytes]:
    """A header of a Kafka record, name and value, from its JSON form at the path `at`. Raises
    Malformed.
    """
    members = fields(data, at, {"key", "value"})
    value = load_bytes(need(members, "value", at), path(at, "value"))
    if value is None:
        raise Malformed(path(at, "value"), "must not be null")
    return string(need(members, "key", at), path(at, "key")), value


_MESSAGE: Final = Record(
    Message,
    {
        "event": INTEGER,
        "topic": TEXT,
        **dict.fromkeys(("partition", "timestamp_ms"), INTEGER),
        **dict.fromkeys(("key", "value"), BYTES),
        "headers": array_form(Form(_dump_header, _load_header)),
    },
    needed=("event", "timestamp_ms", "headers"),
)
dump_message = _MESSAGE.dump
_LIMITS: Final = {"partition": (0, (1 << 31) - 1), "timestamp_ms": (-1, ((1 << 63) - 1) // 1000)}
"""Kafka's highest partition, and the highest time in milliseconds that Spark's microseconds hold.
"""


def load_message(data: Plain, at: str = "", *, case: str = "") -> Message:
    """The message of a JSON form that `dump_message` made. `at` is the form's path in its document,
    for errors; `case` is the id of the message's case. Raises Malformed for another form, or a
    number outside its range.
    """
    loaded = _MESSAGE.load(data, at, {"case": case})
    for name, (low, high) in _LIMITS.items():
        if not low <= getattr(loaded, name) <= high:
            raise Malformed(path(at, name), f"must be from {low} to {high}")
    return loaded


_CELL: Final = Record(
    Cell,
    {
        "state": enum_form(State),
        "type": _SAME_TYPE,
        "value": VALUE,
        "text": TEXT,
        "json": BOOLEAN,
        "cls": TEXT,
        "options": array_form(VALUE),
        "reason": TEXT,
    },
)
_OP: Final = enum_form(Op)
_KIND: Final = enum_form(Kind)


def _dump_accept(pair: tuple[Kind, Op | None]) -> Plain:
    """The JSON form of a kind of row that is accepted in place of the expected one, with its
    operation or None.
    """
    kind, op = pair
    return {"kind": kind.value, "op": op and op.value}


def _load_accept(data: Plain, at: str) -> tuple[Kind, Op | None]:
    """A row that is accepted in place of the expected one: (kind, operation), from the JSON form at
    the path `at`. The operation is None for a row that has none. Raises Malformed.
    """
    members = fields(data, at, {"kind", "op"})
    op = members.get("op")
    kind = _KIND.load(need(members, "kind", at), path(at, "kind"))
    return kind, None if op is None else _OP.load(op, path(at, "op"))


_IMAGES: Final = ("before", "after", "full_before", "full_after")
"""The fields of a change that are images: the expected cells of a row before or after it, by
column.
"""
_CHANGE: Final = Record(
    Change,
    {
        "row": INTEGER,
        "kind": _KIND,
        "op": _OP,
        **dict.fromkeys(("database", "schema", "table"), TEXT),
        "keys": TEXTS,
        "position": TEXT,
        "commit_time_us": DIGITS,
        **dict.fromkeys(_IMAGES, mapping_form(_CELL)),
        "types": mapping_form(TEXT),
        **dict.fromkeys(("schema_version", "sql"), TEXT),
        "key_sets": array_form(NAMES),
        "other_keys": array_form(TEXTS),
        "accept": array_form(Form(_dump_accept, _load_accept)),
        **dict.fromkeys(("databases", "tables"), TEXTS),
        "anything": BOOLEAN,
    },
)


def _known_types(table: Table | None) -> Mapping[str, Any]:
    """What a reader of a change's JSON knows from the change's table: for each image, by column,
    the type of the cell. The JSON leaves these types out. Empty without a table.
    """
    if table is None:
        return NOTHING
    types = {column.name: {"type": column.type} for column in table.columns}
    return dict.fromkeys(_IMAGES, types)


def dump_change(change: Change, table: Table | None = None) -> dict[str, Plain]:
    """An expected change as JSON values. With a table, the type of a cell is left out where it is
    its column's type.
    """
    return _CHANGE.dump(change, _known_types(table))


def load_change(data: Plain, at: str = "", table: Table | None = None) -> Change:
    """The expected change of a JSON form that `dump_change` made with the same table. Raises
    Malformed.
    """
    return _CHANGE.load(data, at, _known_types(table))


def dump_schemas(schemas: confluent.Schemas) -> Plain:
    """The schemas of Confluent's registry that messages name, as JSON values: by id, the list of
    subjects and the schema's text.
    """
    return {
        str(number): [list(subjects), schema_text]
        for number, (subjects, schema_text) in schemas.items()
    }


def register_schemas(data: Plain, at: str = "") -> None:
    """Registers the schemas of a JSON form that `dump_schemas` made, so that this process finds
    them by id. Raises Malformed, and HarnessError if another schema has one of the ids.
    """
    schemas: confluent.Schemas = {}
    for number, schema in mapping(data, at).items():
        if not number.isdecimal() or len(number) > 10:
            raise Malformed(path(at, number[:80]), "is no id of a schema")
        items = array(schema, path(at, number), lambda value, _at: value)
        if len(items) != 2:
            raise Malformed(path(at, number), "must be an array of the subjects and the text")
        subjects, schema_text = items
        schemas[int(number)] = (
            TEXTS.load(subjects, path(at, number)),
            string(schema_text, path(at, number)),
        )
    confluent.recall(schemas)


_CASE: Final = Record(
    Case,
    {
        **dict.fromkeys(("id", "format", "profile"), TEXT),
        "deployment": Form(dump_deployment, load_deployment),
        "level": INTEGER,
        "tags": NAMES,
        "origin": enum_form(Origin),
        **dict.fromkeys(("scenario", "fault"), TEXT),
        "tables": array_form(_TABLE),
        "written": array_form(
            Record(
                Written,
                {"message": Form(dump_message, load_message), "changes": array_form(_CHANGE)},
            )
        ),
    },
    needed=("tags",),
    always_dumped=("origin", "scenario", "fault"),
)


def dump_case(case: Case) -> dict[str, Plain]:
    """A whole case as one JSON object; its messages do not repeat the case's id."""
    schemas = confluent.schemas_of_cases([case])
    return _CASE.dump(case) | ({"schemas": dump_schemas(schemas)} if schemas else {})


def load_case(data: Plain, at: str = "") -> Case:
    """The case of a JSON object that `dump_case` made; the schemas that its messages name are
    registered in this process, and the messages get the case's id. Raises Malformed, and
    HarnessError for a schema id that another schema has.
    """
    members = dict(mapping(data, at))
    register_schemas(members.pop("schemas", {}), path(at, "schemas"))
    case = _CASE.load(members, at)
    written_with_id = tuple(
        replace(written, message=replace(written.message, case=case.id)) for written in case.written
    )
    return replace(case, written=written_with_id)
