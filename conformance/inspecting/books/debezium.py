"""Facts of Debezium's messages, in their envelope and without it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from itertools import product
from typing import Any, Final

from conformance.inspecting.books.connect import (
    ADDED,
    column_type,
    columns,
    images,
    is_flat,
    is_row,
    key_names,
    kind_of,
    member_object,
    schema,
    source,
)
from conformance.inspecting.evidence import TableDescription, Watch, Watched
from conformance.inspecting.opening import OpenedRecord, is_enveloped
from generators.wire_format import get

_FLAT: Final = ("flattened",)
"""The one name that stands for the members of a row without envelope, which are its columns, and
for those of a tombstone.
"""
_TYPE: Final = "__debezium.source.column.type"
"""The parameter of a column's schema in which Debezium names the column's type at the source."""


def is_heartbeat(opened: OpenedRecord) -> bool:
    """Whether the message is a heartbeat that its key or its schema's name shows to be
    Debezium's.
    """
    names_itself = "serverName" in key_names(opened) or str(
        schema(opened).get("name", "")
    ).endswith(".Heartbeat")
    return names_itself and is_bare_heartbeat(opened)


def is_bare_heartbeat(opened: OpenedRecord) -> bool:
    """Whether `ts_ms`, the one member of a heartbeat, is the only member of the message."""
    return opened.payload.keys() == {"ts_ms"}


def is_tombstone(opened: OpenedRecord) -> bool:
    """Whether the message is an object of `schema` and `payload` whose payload is null: a null with
    its schema, or a tombstone as Kafka Connect before 2.2 writes it.
    """
    return opened.members.keys() == {"schema", "payload"} and opened.members["payload"] is None


def has_null_schema(opened: OpenedRecord) -> bool:
    """Whether the message's member `schema` is null or missing."""
    return opened.members.get("schema") is None


def members_of_json(opened: OpenedRecord) -> Iterable[str]:
    """The names of the message's members, which `inspect` compares with the members of each kind of
    message that the format has. A row without envelope (its columns may have any names) and a
    tombstone give the one name of `_FLAT` in place of them.
    """
    return _FLAT if is_flat(opened) or is_tombstone(opened) else opened.payload


def members_of_avro(opened: OpenedRecord) -> Iterable[str]:
    """The names of the message's members, which `inspect` compares with the members of each kind of
    message that the format has. A row without envelope, known by its column `__deleted`, gives the
    one name of `_FLAT` in place of its columns.
    """
    return _FLAT if "__deleted" in opened.payload else opened.payload


_CONNECT: Final = "org.apache.kafka.connect."
_DECIMAL: Final = f"{_CONNECT}data.Decimal"


def kinds(opened: OpenedRecord) -> set[str]:
    """The types of the row's columns in their Kafka Connect schema, such as `int64` or
    `time.MicroTimestamp`, without the prefixes of Debezium and Kafka Connect; empty without a
    schema.
    """
    types = (str(column.get("name") or column.get("type")) for column in columns(opened))
    return {name.removeprefix("io.debezium.").removeprefix(_CONNECT) for name in types}


def decimals(opened: OpenedRecord) -> set[str]:
    """The kinds of JSON values (text, number ...) in the columns whose schema is Kafka Connect's
    Decimal: they show how the writer encodes decimals. Columns of scale 0 are left out, since
    BIGINT UNSIGNED has it, as are those of scale 2 if the message names release 1.x or no source,
    since MONEY is a Decimal there whatever the options are (debezium#money).
    """
    value_kinds = set()
    left_out_scales: tuple[str | None, ...] = ("0", None)
    if version(opened).startswith("1.") or not source(opened):
        left_out_scales = ("0", "2", None)
    for column in columns(opened):
        if (
            column.get("name") == _DECIMAL
            and member_object(column.get("parameters")).get("scale") not in left_out_scales
        ):
            value_kinds |= {kind_of(image.get(column["field"])) for image in images(opened)}
    return value_kinds


def null_is_kept(opened: OpenedRecord) -> bool:
    """Whether a row has NULL in a column whose schema has a default: without the option that keeps
    NULLs the writer writes the default instead.
    """
    with_default = [
        column["field"] for column in columns(opened) if column.get("default") is not None
    ]
    # A column that an image lacks is no NULL: "" stands for it.
    cells = (image.get(name, "") for image, name in product(images(opened), with_default))
    return any(cell is None for cell in cells)


def typed(opened: OpenedRecord) -> set[bool]:
    """Whether the Connect schemas of columns name their type at the source: {True}, {False}, or
    both if some do; empty without columns.
    """
    return {_TYPE in member_object(column.get("parameters")) for column in columns(opened)}


def _types_of(opened: OpenedRecord, *originals: str) -> set[Any]:
    """The Kafka Connect types of those columns whose schema says that they have one of the types
    `originals` at the source: the schema's name (such as that of Decimal) if it has one, else its
    plain type.
    """
    columns_of_types = [
        column
        for column in columns(opened)
        if str(member_object(column.get("parameters")).get(_TYPE)).upper() in originals
    ]
    return {column.get("name") or column.get("type") for column in columns_of_types}


def decimal_columns(opened: OpenedRecord) -> set[Any]:
    """The Kafka Connect types of the columns that are DECIMAL or NUMERIC at the source."""
    return _types_of(opened, "DECIMAL", "NUMERIC")


def unsigned_bigints(opened: OpenedRecord) -> set[Any]:
    """The Kafka Connect types of the columns that are BIGINT UNSIGNED at the source."""
    return _types_of(opened, "BIGINT UNSIGNED")


def version(opened: OpenedRecord) -> str:
    """The release of Debezium that the member `source` of a message names. "" if it names none, or
    has no `name` (that of the connector).
    """
    release = source(opened).get("version")
    return release if isinstance(release, str) and source(opened).get("name") is not None else ""


def key_has_schema(opened: OpenedRecord) -> bool | None:
    """Whether the record's key comes with Kafka Connect's schema: an object with `schema` and
    `payload`, not with a payload alone. None if the key is no JSON object.
    """
    key = opened.key_document
    return "schema" in key and is_enveloped(key) if isinstance(key, dict) else None


def transaction_is_first(opened: OpenedRecord) -> bool | None:
    """Whether the member `transaction` stands before `op` in a row's message, by which
    debezium.toml tells releases apart; None for a message that is no row or has no `transaction`.
    """
    order = list(opened.payload)
    return (
        order.index("transaction") < order.index("op")
        if is_row(opened) and "transaction" in order
        else None
    )


def nearest(release: str) -> str:
    """The release among those of Debezium's profiles by which messages of the release `release` are
    judged: the newest that is not newer than it, or the oldest if all are newer.
    """

    def number(release_text: str) -> tuple[int, ...]:
        """The first three parts of a release as numbers that compare, without parts that are none:
        (2, 7, 3) for 2.7.3.Final.
        """
        parts = release_text.split(".")[:3]
        return tuple(int(part) for part in parts if re.fullmatch("[0-9]{1,9}", part))

    all_releases = get("debezium-json").choices.releases
    return max(
        (
            profile_release
            for profile_release in all_releases
            if number(profile_release) <= number(release)
        ),
        key=number,
        default=all_releases[0],
    )


def described(opened: OpenedRecord) -> TableDescription | None:
    """The table that a row change is of (database, name, columns with their types, key columns);
    types without a schema are kinds of JSON values. None for other messages.
    """
    origin, payload = source(opened), opened.payload
    if is_flat(opened):
        database, table, image = "", str(payload.get("__table", "")), payload
    elif is_row(opened):
        database = ".".join(str(origin[name]) for name in ("db", "schema") if origin.get(name))
        table = str(origin.get("table"))
        image = member_object(payload.get("after") or payload.get("before"))
    else:
        return None
    types = {
        str(column["field"]): column_type(column) for column in columns(opened) if "field" in column
    }
    types = types or {name: kind_of(value) for name, value in image.items() if name not in ADDED}
    return TableDescription(database, table, types, key_names(opened))


def describe_collection(opened: OpenedRecord) -> TableDescription | None:
    """The collection that a change is of: its database and name, the kinds of JSON values that the
    fields of its document have, and its key `_id`. None for other messages.
    """
    if not is_row(opened):
        return None
    origin, payload = source(opened), opened.payload
    document_text = payload.get("after") or payload.get("before") or "{}"
    try:
        document = json.loads(document_text) if isinstance(document_text, str) else {}
    except ValueError:
        document = {}
    types = {name: kind_of(value) for name, value in member_object(document).items()}
    return TableDescription(str(origin.get("db")), str(origin.get("collection")), types, ("_id",))


def before_is_whole(opened: OpenedRecord) -> bool:
    """Whether the before image is a complete row: it has values, not empty ones, in at least two
    columns that are not of the key. (An empty value may be the placeholder of a partial image, and
    an index as replica identity mostly adds only one column.)
    """
    before = member_object(opened.payload.get("before"))
    return (
        len([name for name, value in before.items() if value and name not in key_names(opened)]) > 1
    )


def watch_tombstones() -> Watch:
    """Makes a watch over successive records: it finds whether a delete is followed by a tombstone
    in its partition.
    """
    last_deletes: dict[tuple[str, int], OpenedRecord] = {}

    def watch(opened: OpenedRecord) -> Iterator[Watched]:
        """Takes the next message; if the one before it in its partition was a delete, yields
        TOMBSTONE for a null value under the same key, NO_TOMBSTONE for a JSON message at the next
        offset.
        """
        partition = (opened.record.topic, opened.record.partition)
        delete = last_deletes.pop(partition, None)
        if delete is not None:
            has_same_key = delete.record.key == opened.record.key
            is_next = delete.record.offset >= 0 and opened.record.offset == delete.record.offset + 1
            if opened.record.value is None and has_same_key:
                yield Watched.TOMBSTONE
            elif is_next and opened.container == "json" and not is_tombstone(opened):
                yield Watched.NO_TOMBSTONE
        if (
            opened.payload.get("op") == "d"
            and is_row(opened)
            and opened.record.key is not None
            and len(last_deletes) < 10_000
        ):
            last_deletes[partition] = opened

    return watch
