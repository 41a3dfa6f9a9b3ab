"""The lossless JSON forms of the model: what corpora and crash files are made of (docs/corpus.md).

`dump_x` gives plain JSON values (dict, list, str, int, bool, None), `load_x` reads them back: `load_x(dump_x(x)) == x`. Fields at
their default are left out, unless a reader would miss them. What cannot be loaded raises `Malformed`, which names the field.
"""

from __future__ import annotations

from typing import Any, Final
from zoneinfo import ZoneInfo

from generators.errors import UsageError
from generators.families import confluent
from generators.model import (
    Case,
    Cell,
    Change,
    Column,
    Default,
    Deployment,
    Image,
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
    Malformed,
    Plain,
    array,
    boolean,
    dump_bytes,
    dump_text,
    dump_value,
    fields,
    from_line,
    integer,
    integer_text,
    kind_of,
    load_bytes,
    load_value,
    maybe,
    member,
    need,
    path,
    string,
    to_line,
)

__all__ = [
    "Malformed",
    "dump_bytes",
    "dump_case",
    "dump_cell",
    "dump_change",
    "dump_column",
    "dump_deployment",
    "dump_message",
    "dump_schemas",
    "dump_table",
    "dump_type",
    "dump_value",
    "from_line",
    "load_bytes",
    "load_case",
    "load_cell",
    "load_change",
    "load_column",
    "load_deployment",
    "load_message",
    "load_schemas",
    "load_table",
    "load_type",
    "load_value",
    "to_line",
]


def dump_type(type: SourceType) -> Plain:
    """A source type: `name`, `logical`, and its parameters that are not at their default; bounds are texts."""
    plain: dict[str, Any] = {"name": type.name, "logical": type.logical.value}
    for flag in ("unsigned", "zerofill"):
        if getattr(type, flag):
            plain[flag] = True
    for number in ("length", "precision", "scale"):
        if getattr(type, number) is not None:
            plain[number] = getattr(type, number)
    if type.fsp:
        plain["fsp"] = type.fsp
    if type.members:
        plain["members"] = [dump_text(member) for member in type.members]
    for bound in ("low", "high"):
        if getattr(type, bound) is not None:
            plain[bound] = str(getattr(type, bound))
    if type.source != "mysql":
        plain["source"] = type.source
    return plain


_TYPE = frozenset(
    {"name", "logical", "unsigned", "zerofill", "length", "precision", "scale", "fsp", "members", "low", "high", "source"}
)


def load_type(data: Plain, at: str = "") -> SourceType:
    """Inverse of `dump_type`. Raises Malformed."""
    members = fields(data, at, _TYPE)
    return SourceType(
        string(need(members, "name", at), path(at, "name")),
        member(Logical, need(members, "logical", at), path(at, "logical")),
        unsigned=boolean(members.get("unsigned", False), path(at, "unsigned")),
        zerofill=boolean(members.get("zerofill", False), path(at, "zerofill")),
        length=maybe(members, "length", at, integer),
        precision=maybe(members, "precision", at, integer),
        scale=maybe(members, "scale", at, integer),
        fsp=integer(members.get("fsp", 0), path(at, "fsp")),
        members=array(members.get("members", []), path(at, "members"), string),
        low=maybe(members, "low", at, integer_text),
        high=maybe(members, "high", at, integer_text),
        source=string(members.get("source", "mysql"), path(at, "source")),
    )


def dump_column(column: Column) -> Plain:
    """A column: `name`, `type`, `nullable`; `declared`, `charset`, `generated`, `comment` and `default` where the column has
    them."""
    plain: dict[str, Any] = {"name": dump_text(column.name), "type": dump_type(column.type), "nullable": column.nullable}
    plain |= {key: dump_text(text) for key in _SPELLED if (text := getattr(column, key))}
    if column.default is not None:
        plain["default"] = {"text": dump_text(column.default.text), "value": dump_value(column.default.value)}
    return plain


_SPELLED = ("declared", "charset", "generated", "comment")
_COLUMN = frozenset({"name", "type", "nullable", "default", *_SPELLED})


def _load_default(data: Plain, at: str) -> Default:
    members = fields(data, at, frozenset({"text", "value"}))
    return Default(string(need(members, "text", at), path(at, "text")), load_value(need(members, "value", at), path(at, "value")))


def load_column(data: Plain, at: str = "") -> Column:
    """Inverse of `dump_column`. Raises Malformed."""
    members = fields(data, at, _COLUMN)
    return Column(
        string(need(members, "name", at), path(at, "name")),
        load_type(need(members, "type", at), path(at, "type")),
        boolean(need(members, "nullable", at), path(at, "nullable")),
        default=maybe(members, "default", at, _load_default),
        **{key: string(members.get(key, ""), path(at, key)) for key in _SPELLED},
    )


def dump_table(table: Table) -> Plain:
    """A table: `database`, `schema` where the source has one, `name`, `columns`, `primary_key` and `unique` in declared order."""
    plain: dict[str, Any] = {"database": dump_text(table.database)}
    if table.schema is not None:
        plain["schema"] = dump_text(table.schema)
    return plain | {
        "name": dump_text(table.name),
        "columns": [dump_column(column) for column in table.columns],
        "primary_key": [dump_text(name) for name in table.primary_key],
        "unique": [[dump_text(name) for name in key] for key in table.unique],
    }


_TABLE = frozenset({"database", "schema", "name", "columns", "primary_key", "unique"})


def load_table(data: Plain, at: str = "") -> Table:
    """Inverse of `dump_table`. Raises Malformed."""
    members = fields(data, at, _TABLE)
    return Table(
        string(need(members, "database", at), path(at, "database")),
        string(need(members, "name", at), path(at, "name")),
        array(need(members, "columns", at), path(at, "columns"), load_column),
        array(need(members, "primary_key", at), path(at, "primary_key"), string),
        array(need(members, "unique", at), path(at, "unique"), lambda key, where: array(key, where, string)),
        maybe(members, "schema", at, string),
    )


_DEPLOYMENT = ("time_zone", "charset", "compression", "binary", "decimal", "temporal", "bigint_unsigned", "schemas")


def dump_deployment(deployment: Deployment) -> Plain:
    """A deployment, all its fields."""
    return {name: dump_text(getattr(deployment, name)) for name in _DEPLOYMENT}


COMPRESSIONS: Final = ("none", "snappy", "lz4")
"""Those of `Deployment.compression`."""


def load_deployment(data: Plain, at: str = "") -> Deployment:
    """Inverse of `dump_deployment`; older files lack `schemas`. Raises Malformed."""
    members = {"schemas": "", **fields(data, at, frozenset(_DEPLOYMENT))}
    loaded = Deployment(*(string(need(members, name, at), path(at, name)) for name in _DEPLOYMENT))
    try:
        ZoneInfo(loaded.time_zone)
    except (ValueError, LookupError, OSError):
        raise Malformed(path(at, "time_zone"), f"{loaded.time_zone!r} is no time zone") from None
    if loaded.compression not in COMPRESSIONS:
        raise Malformed(path(at, "compression"), f"{loaded.compression!r} is none of {', '.join(COMPRESSIONS)}")
    return loaded


def dump_message(message: Message) -> Plain:
    """A message; `key`, `value` and header values in the form of `dump_bytes`. The case id is left to the caller."""
    return {
        "event": message.event,
        "topic": dump_text(message.topic),
        "partition": message.partition,
        "timestamp_ms": message.timestamp_ms,
        "key": dump_bytes(message.key),
        "value": dump_bytes(message.value),
        "headers": [{"key": dump_text(key), "value": dump_bytes(value)} for key, value in message.headers],
    }


_MESSAGE = frozenset({"event", "topic", "partition", "timestamp_ms", "key", "value", "headers"})
_HEADER = frozenset({"key", "value"})


_PARTITIONS: Final = (1 << 31) - 1
"""Kafka's highest partition."""
_TIMESTAMP: Final = ((1 << 63) - 1) // 1000
"""The highest time in milliseconds that Spark's microseconds hold."""


def load_message(data: Plain, at: str = "", *, case: str = "") -> Message:
    """Inverse of `dump_message`, under the case id given. Raises Malformed."""
    members = fields(data, at, _MESSAGE)
    partition = integer(need(members, "partition", at), path(at, "partition"))
    if not 0 <= partition <= _PARTITIONS:
        raise Malformed(path(at, "partition"), f"must be from 0 to {_PARTITIONS}")
    timestamp = integer(need(members, "timestamp_ms", at), path(at, "timestamp_ms"))
    if not -1 <= timestamp <= _TIMESTAMP:
        raise Malformed(path(at, "timestamp_ms"), f"must be from -1 to {_TIMESTAMP}")
    return Message(
        topic=string(need(members, "topic", at), path(at, "topic")),
        partition=partition,
        key=load_bytes(need(members, "key", at), path(at, "key")),
        value=load_bytes(need(members, "value", at), path(at, "value")),
        headers=array(need(members, "headers", at), path(at, "headers"), _load_header),
        timestamp_ms=timestamp,
        event=integer(need(members, "event", at), path(at, "event")),
        case=case,
    )


def _load_header(data: Plain, at: str) -> tuple[str, bytes]:
    members = fields(data, at, _HEADER)
    value = load_bytes(need(members, "value", at), path(at, "value"))
    if value is None:
        raise Malformed(path(at, "value"), "must not be null")
    return string(need(members, "key", at), path(at, "key")), value


def dump_cell(cell: Cell, known: SourceType | None = None) -> Plain:
    """A cell; `type` is left out if the reader knows it."""
    plain: dict[str, Any] = {"state": cell.state.value}
    if cell.type != known:
        plain["type"] = dump_type(cell.type)
    if cell.value is not None:
        plain["value"] = dump_value(cell.value)
    if cell.text is not None:
        plain["text"] = dump_text(cell.text)
    if cell.json:
        plain["json"] = True
    if cell.cls:
        plain["cls"] = cell.cls
    if cell.options:
        plain["options"] = [dump_value(option) for option in cell.options]
    if cell.reason:
        plain["reason"] = dump_text(cell.reason)
    return plain


_CELL = frozenset({"state", "type", "value", "text", "json", "cls", "options", "reason"})


def load_cell(data: Plain, at: str = "", known: SourceType | None = None) -> Cell:
    """Inverse of `dump_cell`, given the same known type. Raises Malformed."""
    members = fields(data, at, _CELL)
    if known is None or "type" in members:
        known = load_type(need(members, "type", at), path(at, "type"))
    return Cell(
        state=member(State, need(members, "state", at), path(at, "state")),
        type=known,
        value=load_value(members.get("value"), path(at, "value")),
        text=maybe(members, "text", at, string),
        cls=string(members.get("cls", ""), path(at, "cls")),
        json=boolean(members.get("json", False), path(at, "json")),
        options=array(members.get("options", []), path(at, "options"), load_value),
        reason=string(members.get("reason", ""), path(at, "reason")),
    )


_TEXTS = ("database", "schema", "table")
_IMAGES = ("before", "after", "full_before", "full_after")
_CHANGE = frozenset({"row", "kind", "op", *_TEXTS, "keys", "position", "commit_time_us", *_IMAGES, "types", "schema_version"}) | {
    "sql",
    "accept",
    "databases",
    "tables",
    "key_sets",
    "anything",
}
_ACCEPT = frozenset({"kind", "op"})


def dump_change(change: Change, table: Table | None = None) -> Plain:
    """An expected change; with a table, cells of its columns' own types leave their type out."""
    types = {column.name: column.type for column in table.columns} if table else {}
    plain: dict[str, Any] = {"row": change.row, "kind": change.kind.value}
    if change.op is not None:
        plain["op"] = change.op.value
    for name in _TEXTS:
        if getattr(change, name) is not None:
            plain[name] = dump_text(getattr(change, name))
    if change.keys is not None:
        plain["keys"] = [dump_text(key) for key in change.keys]
    if change.position is not None:
        plain["position"] = dump_text(change.position)
    if change.commit_time_us is not None:
        plain["commit_time_us"] = str(change.commit_time_us)
    for side in _IMAGES:
        image: Image | None = getattr(change, side)
        if image is not None:
            plain[side] = {_name(name): dump_cell(cell, types.get(name)) for name, cell in image.items()}
    if change.types is not None:
        plain["types"] = {_name(name): dump_text(text) for name, text in change.types.items()}
    for name in ("schema_version", "sql"):
        if getattr(change, name) is not None:
            plain[name] = dump_text(getattr(change, name))
    if change.key_sets:
        plain["key_sets"] = [[dump_text(key) for key in sorted(keys)] for keys in change.key_sets]
    if change.accept:
        plain["accept"] = [{"kind": kind.value, "op": op.value if op else None} for kind, op in change.accept]
    for more in ("databases", "tables"):
        if names := getattr(change, more):
            plain[more] = [dump_text(name) for name in names]
    if change.anything:
        plain["anything"] = True
    return plain


def _name(name: str) -> str:
    if isinstance(dump_text(name), str):
        return name
    raise UsageError(f"column name {name!r} holds surrogates")


def load_change(data: Plain, at: str = "", table: Table | None = None) -> Change:
    """Inverse of `dump_change`, given the same table. Raises Malformed."""
    found = fields(data, at, _CHANGE)
    types = {column.name: column.type for column in table.columns} if table else {}

    def image(data: Plain, where: str) -> dict[str, Cell]:
        if not isinstance(data, dict):
            raise Malformed(where, f"must be an object, not {kind_of(data)}")
        return {name: load_cell(cell, path(where, name), types.get(name)) for name, cell in data.items()}

    def texts(data: Plain, where: str) -> dict[str, str]:
        if not isinstance(data, dict):
            raise Malformed(where, f"must be an object, not {kind_of(data)}")
        return {name: string(text, path(where, name)) for name, text in data.items()}

    return Change(
        row=integer(need(found, "row", at), path(at, "row")),
        kind=member(Kind, need(found, "kind", at), path(at, "kind")),
        op=maybe(found, "op", at, lambda op, where: member(Op, op, where)),
        database=maybe(found, "database", at, string),
        schema=maybe(found, "schema", at, string),
        table=maybe(found, "table", at, string),
        keys=maybe(found, "keys", at, lambda keys, where: array(keys, where, string)),
        position=maybe(found, "position", at, string),
        commit_time_us=maybe(found, "commit_time_us", at, integer_text),
        before=maybe(found, "before", at, image),
        after=maybe(found, "after", at, image),
        full_before=maybe(found, "full_before", at, image),
        full_after=maybe(found, "full_after", at, image),
        types=maybe(found, "types", at, texts),
        schema_version=maybe(found, "schema_version", at, string),
        sql=maybe(found, "sql", at, string),
        key_sets=array(
            found.get("key_sets", []), path(at, "key_sets"), lambda keys, where: frozenset(array(keys, where, string))
        ),
        accept=array(found.get("accept", []), path(at, "accept"), _load_accept),
        databases=array(found.get("databases", []), path(at, "databases"), string),
        tables=array(found.get("tables", []), path(at, "tables"), string),
        anything=boolean(found.get("anything", False), path(at, "anything")),
    )


def _load_accept(data: Plain, at: str) -> tuple[Kind, Op | None]:
    members = fields(data, at, _ACCEPT)
    kind = member(Kind, need(members, "kind", at), path(at, "kind"))
    return kind, maybe(members, "op", at, lambda op, where: member(Op, op, where))


_CASE = frozenset(
    {"id", "format", "profile", "deployment", "level", "tags", "tables", "schemas", "written", "origin", "scenario", "fault"}
)
_WRITTEN = frozenset({"message", "changes"})


def dump_schemas(schemas: confluent.Schemas) -> Plain:
    """Schemas that messages in Confluent's framing name: subjects and text by id."""
    return {str(number): [list(subjects), text] for number, (subjects, text) in schemas.items()}


def load_schemas(data: Plain, at: str = "") -> None:
    """Makes schemas of `dump_schemas` known to this process. Raises Malformed."""
    if not isinstance(data, dict):
        raise Malformed(at, "must be an object")
    found: confluent.Schemas = {}
    for number, schema in data.items():
        if not number.isdecimal() or len(number) > 10:
            raise Malformed(path(at, number[:80]), "is no id of a schema")
        subjects, text = (*array(schema, path(at, number), lambda one, _where: one), [], "")[:2]
        found[int(number)] = array(subjects, path(at, number), string), string(text, path(at, number))
    confluent.recall(found)


def dump_case(case: Case) -> Plain:
    """A whole case in one object; its messages carry no case id of their own."""
    return {
        "id": dump_text(case.id),
        "format": case.format,
        "profile": case.profile,
        "deployment": dump_deployment(case.deployment),
        "level": case.level,
        "tags": sorted(case.tags),
        "origin": case.origin.value,
        "scenario": dump_text(case.scenario),
        "fault": case.fault,
        "tables": [dump_table(table) for table in case.tables],
        **({"schemas": dump_schemas(schemas)} if (schemas := confluent.named_in([case])) else {}),
        "written": [
            {"message": dump_message(written.message), "changes": [dump_change(change) for change in written.changes]}
            for written in case.written
        ],
    }


def load_case(data: Plain, at: str = "") -> Case:
    """Inverse of `dump_case` for a case whose messages carry its id. Raises Malformed."""
    members = fields(data, at, _CASE)
    load_schemas(members.get("schemas", {}), path(at, "schemas"))
    case_id = string(need(members, "id", at), path(at, "id"))

    def written(data: Plain, where: str) -> Written:
        one = fields(data, where, _WRITTEN)
        message = load_message(need(one, "message", where), path(where, "message"), case=case_id)
        return Written(message, array(need(one, "changes", where), path(where, "changes"), load_change))

    return Case(
        id=case_id,
        format=string(need(members, "format", at), path(at, "format")),
        profile=string(need(members, "profile", at), path(at, "profile")),
        deployment=load_deployment(need(members, "deployment", at), path(at, "deployment")),
        level=integer(need(members, "level", at), path(at, "level")),
        tables=array(need(members, "tables", at), path(at, "tables"), load_table),
        written=array(need(members, "written", at), path(at, "written"), written),
        tags=frozenset(array(need(members, "tags", at), path(at, "tags"), string)),
        origin=member(Origin, members.get("origin", Origin.NAMED.value), path(at, "origin")),
        scenario=string(members.get("scenario", ""), path(at, "scenario")),
        fault=string(members.get("fault", ""), path(at, "fault")),
    )
