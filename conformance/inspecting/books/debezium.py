"""Facts of Debezium's messages, in their envelope and without it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
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
from conformance.inspecting.evidence import Described, Watch, Watched
from conformance.inspecting.opening import Seen, enveloped
from generators.wire_format import get

_FLAT: Final = ("flattened",)
"""In place of the members of a row without envelope, which are its columns, or of a tombstone."""
_TYPE: Final = "__debezium.source.column.type"


def is_heartbeat(seen: Seen) -> bool:
    """Whether a heartbeat says that it is one."""
    own = "serverName" in key_names(seen) or str(schema(seen).get("name", "")).endswith(
        ".Heartbeat"
    )
    return own and is_bare_heartbeat(seen)


def is_bare_heartbeat(seen: Seen) -> bool:
    """Whether the message has the member of a heartbeat alone."""
    return seen.payload.keys() == {"ts_ms"}


def is_tombstone(seen: Seen) -> bool:
    """Whether the message is a null with a schema, or one of Kafka Connect before 2.2."""
    return seen.members.keys() == {"schema", "payload"} and seen.members["payload"] is None


def has_null_schema(seen: Seen) -> bool:
    """Whether the envelope has null in place of a schema."""
    return seen.members.get("schema") is None


def members_of_json(seen: Seen) -> Iterable[str]:
    """The members of the payload, for a row without envelope or a tombstone a name of ours."""
    return _FLAT if is_flat(seen) or is_tombstone(seen) else seen.payload


def members_of_avro(seen: Seen) -> Iterable[str]:
    """The members of the payload, for a row without envelope a name of ours."""
    return _FLAT if "__deleted" in seen.payload else seen.payload


_CONNECT: Final = "org.apache.kafka.connect."
_DECIMAL: Final = f"{_CONNECT}data.Decimal"


def kinds(seen: Seen) -> set[str]:
    """The types of the columns, those with a name by its end."""
    types = (str(column.get("name") or column.get("type")) for column in columns(seen))
    return {name.removeprefix("io.debezium.").removeprefix(_CONNECT) for name in types}


def decimals(seen: Seen) -> set[str]:
    """The kinds of the values of columns whose schema is Connect's Decimal with a scale above 0 (no
    BIGINT UNSIGNED), and not 2 in 1.x, whose money is a Decimal in every mode (debezium#money).
    """
    written = set()
    unlike = ("0", "2", None) if version(seen).startswith("1.") or not source(seen) else ("0", None)
    for column in columns(seen):
        if (
            column.get("name") == _DECIMAL
            and member_object(column.get("parameters")).get("scale") not in unlike
        ):
            written |= {kind_of(image.get(column["field"])) for image in images(seen)}
    return written


def null_is_kept(seen: Seen) -> bool:
    """Whether a column with a default has NULL."""
    with_default = [
        column["field"] for column in columns(seen) if column.get("default") is not None
    ]
    return any(image.get(name, "") is None for image in images(seen) for name in with_default)


def typed(seen: Seen) -> set[bool]:
    """Whether columns name the type of their source."""
    return {_TYPE in member_object(column.get("parameters")) for column in columns(seen)}


def _types_of(seen: Seen, *originals: str) -> set[Any]:
    """The types of the columns of these types of the source."""
    own = [
        column
        for column in columns(seen)
        if str(member_object(column.get("parameters")).get(_TYPE)).upper() in originals
    ]
    return {column.get("name") or column.get("type") for column in own}


def decimal_columns(seen: Seen) -> set[Any]:
    """The types of the columns that are decimals in their source."""
    return _types_of(seen, "DECIMAL", "NUMERIC")


def unsigned_bigints(seen: Seen) -> set[Any]:
    """The types of the columns that are BIGINT UNSIGNED in their source."""
    return _types_of(seen, "BIGINT UNSIGNED")


def version(seen: Seen) -> str:
    """The release that the message names."""
    release = source(seen).get("version")
    return release if isinstance(release, str) and source(seen).get("name") is not None else ""


def key_has_schema(seen: Seen) -> bool | None:
    """Whether the key is in an envelope; None without a key that is an object."""
    key = seen.key_document
    return enveloped(key) if isinstance(key, dict) else None


def transaction_is_first(seen: Seen) -> bool | None:
    """Whether `transaction` of a row stands before `op`; None without one."""
    order = list(seen.payload)
    return (
        order.index("transaction") < order.index("op")
        if is_row(seen) and "transaction" in order
        else None
    )


def nearest(release: str) -> str:
    """The release of Debezium's profiles by which messages of another one are judged: the newest up
    to it, else the oldest.
    """

    def number(text: str) -> tuple[int, ...]:
        return tuple(int(part) for part in text.split(".")[:3] if part.isdigit())

    known = get("debezium-json").choices.releases
    return max(
        (other for other in known if number(other) <= number(release)), key=number, default=known[0]
    )


def described(seen: Seen) -> Described | None:
    """The table of a row."""
    origin, payload = source(seen), seen.payload
    if is_flat(seen):
        database, table, image = "", str(payload.get("__table", "")), payload
    elif is_row(seen):
        database = ".".join(str(origin[name]) for name in ("db", "schema") if origin.get(name))
        table, image = (
            str(origin.get("table")),
            member_object(payload.get("after") or payload.get("before")),
        )
    else:
        return None
    types = {
        str(column["field"]): column_type(column) for column in columns(seen) if "field" in column
    }
    types = types or {name: kind_of(value) for name, value in image.items() if name not in ADDED}
    return Described(database, table, types, key_names(seen))


def before_is_whole(seen: Seen) -> bool:
    """Whether two columns beside the key have old values that are no fallbacks: an index as
    identity has mostly one.
    """
    before = member_object(seen.payload.get("before"))
    return (
        len([name for name, value in before.items() if value and name not in key_names(seen)]) > 1
    )


def watch_tombstones() -> Watch:
    """Sees what follows a delete in its partition."""
    last: dict[tuple[str, int], Seen] = {}

    def watch(seen: Seen) -> Iterator[Watched]:
        place = (seen.record.topic, seen.record.partition)
        before = last.pop(place, None)
        if before is not None:
            same = before.record.key == seen.record.key
            is_next = before.record.offset >= 0 and seen.record.offset == before.record.offset + 1
            if seen.record.value is None and same:
                yield Watched.TOMBSTONE
            elif is_next and seen.container == "json" and not is_tombstone(seen):
                yield Watched.NO_TOMBSTONE
        if (
            seen.payload.get("op") == "d"
            and is_row(seen)
            and seen.record.key is not None
            and len(last) < 10_000
        ):
            last[place] = seen

    return watch
