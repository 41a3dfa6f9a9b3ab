"""Evidence of Debezium JSON, in its envelope and without it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from conformance.inspecting.books.connect import (
    ADDED,
    column_type,
    columns,
    connector,
    images,
    is_flat,
    is_row,
    key_names,
    kind_of,
    member_object,
    schema,
    source,
)
from conformance.inspecting.evidence import Described, EvidenceBook, Sign, Watch, releases_of, shape
from conformance.inspecting.opening import Seen, enveloped

DEBEZIUM: Final = "debezium-json"
_FLAT: Final = "flattened"
_RELEASES: Final = releases_of(DEBEZIUM)


def _heartbeat(seen: Seen) -> bool:
    own = "serverName" in key_names(seen) or str(schema(seen).get("name", "")).endswith(".Heartbeat")
    return own and seen.payload.keys() == {"ts_ms"}


def _tombstone(seen: Seen) -> bool:
    """Whether the message is a null with a schema, or one of Kafka Connect before 2.2."""
    return seen.members.keys() == {"schema", "payload"} and seen.members["payload"] is None


def _debezium_marks(seen: Seen) -> bool:
    found = seen.payload
    return seen.container == "json" and (
        {"source", "op"} <= found.keys()
        or {"source", "ddl", "databaseName"} <= found.keys()
        or {"status", "id", "event_count", "data_collections"} <= found.keys()
        or is_flat(seen)
        or _heartbeat(seen)
        or _tombstone(seen)
    )


def _debezium_members(seen: Seen) -> Iterable[str]:
    """The members of the payload, for a row without envelope or a tombstone a name of ours."""
    return (_FLAT,) if is_flat(seen) or _tombstone(seen) else seen.payload


def _has(seen: Seen, package: str, *kinds: str) -> bool:
    """Whether a column is of one of these types of a package."""
    return any(one.get("name") in {f"{package}{kind}" for kind in kinds} for one in columns(seen))


_DECIMAL: Final = "org.apache.kafka.connect.data.Decimal"
_TIME: Final = "io.debezium.time."
_CONNECT: Final = "org.apache.kafka.connect.data."
_TEMPORALS: Final = ("adaptive_time_microseconds", "adaptive", "connect", "isostring", "microseconds", "nanoseconds")


def _others(*kept: str) -> str:
    """The options that a writer lacks whose mode is one of these."""
    return " ".join(f"-{one}" for one in _TEMPORALS if one not in kept)


def _decimals(seen: Seen) -> Iterator[Any]:
    """The values of columns whose schema is Connect's Decimal with a scale above 0 (no BIGINT UNSIGNED), and not 2 in 1.x, whose
    money is a Decimal in every mode (debezium#money)."""
    unlike = ("0", "2", None) if _version(seen).startswith("1.") or not source(seen) else ("0", None)
    for column in columns(seen):
        if column.get("name") == _DECIMAL and member_object(column.get("parameters")).get("scale") not in unlike:
            yield from (image[column["field"]] for image in images(seen) if image.get(column["field"]) is not None)


def _bare_bytes(seen: Seen) -> bool:
    return any(one.get("type") == "bytes" and not one.get("name") for one in columns(seen))


def _kept_null(seen: Seen) -> bool:
    with_default = [one["field"] for one in columns(seen) if one.get("default") is not None]
    return any(image.get(name, "") is None for image in images(seen) for name in with_default)


def _parameters(seen: Seen) -> set[bool]:
    told = "__debezium.source.column.type"
    return {told in member_object(one.get("parameters")) for one in columns(seen)}


def _original(seen: Seen, *kinds: str) -> list[Mapping[str, Any]]:
    """The columns whose schema names one of these source types."""
    told = "__debezium.source.column.type"
    return [one for one in columns(seen) if str(member_object(one.get("parameters")).get(told)).upper() in kinds]


def _version(seen: Seen) -> str:
    found = source(seen).get("version")
    return found if isinstance(found, str) and source(seen).get("name") is not None else ""


def _key_has_schema(seen: Seen) -> bool | None:
    found = seen.key_document
    return enveloped(found) if isinstance(found, dict) else None


def _rows_transaction(seen: Seen) -> bool:
    return is_row(seen) and "transaction" in seen.payload


def _before_index(seen: Seen) -> tuple[int, int]:
    order = list(seen.payload)
    return order.index("transaction"), order.index("op")


def _nearest(release: str) -> str:
    """The newest of the profiles' releases up to the given one, else the oldest."""

    def number(text: str) -> tuple[int, ...]:
        return tuple(int(part) for part in text.split(".")[:3] if part.isdigit())

    return max((one for one in _RELEASES if number(one) <= number(release)), key=number, default=_RELEASES[0])


def nearest(release: str) -> str:
    """The release of Debezium's profiles by which messages of another release are judged."""
    return _nearest(release)


def _debezium_table(seen: Seen) -> Described | None:
    origin, found = source(seen), seen.payload
    if is_flat(seen):
        database, table, image = "", str(found.get("__table", "")), found
    elif is_row(seen):
        database = ".".join(str(origin[name]) for name in ("db", "schema") if origin.get(name))
        table, image = str(origin.get("table")), member_object(found.get("after") or found.get("before"))
    else:
        return None
    types = {str(one["field"]): column_type(one) for one in columns(seen) if "field" in one}
    types = types or {name: kind_of(value) for name, value in image.items() if name not in ADDED}
    return Described(database, table, types, key_names(seen))


def _deleted(seen: Seen) -> bool:
    return seen.payload.get("op") == "d" and is_row(seen)


def _whole_before(seen: Seen) -> bool:
    """Whether two columns beside the key have old values that are no fallbacks: an index as identity has mostly one."""
    before = member_object(seen.payload.get("before"))
    told = [name for name, value in before.items() if value and name not in key_names(seen)]
    return connector(seen) == "postgresql" and seen.payload.get("op") == "u" and len(told) > 1


_NO_TOMBSTONE: Final = Sign(
    "the record right behind a delete, by offset, is no tombstone", lambda _seen: True, "debezium#tombstone", "+no-tombstone"
)
_TOMBSTONE: Final = Sign(
    "a null value follows a delete, of the same key", lambda _seen: True, "debezium#tombstone", "-no-tombstone -legacy-tombstone"
)


def _watch_tombstones() -> Watch:
    """Sees what follows a delete in its partition."""
    last: dict[tuple[str, int], Seen] = {}

    def watch(seen: Seen) -> Iterator[Sign]:
        place = (seen.record.topic, seen.record.partition)
        before = last.pop(place, None)
        if before is not None:
            same = before.record.key == seen.record.key
            next_one = before.record.offset >= 0 and seen.record.offset == before.record.offset + 1
            if seen.record.value is None and same:
                yield _TOMBSTONE
            elif next_one and seen.container == "json" and not _tombstone(seen):
                yield _NO_TOMBSTONE
        if _deleted(seen) and seen.record.key is not None and len(last) < 10_000:
            last[place] = seen

    return watch


_DEBEZIUM_SIGNS: Final = (
    Sign(
        "the connector is none that a profile has",
        lambda s: bool(source(s)) and connector(s) not in ("mysql", "postgresql", "mariadb"),
        "debezium#source-mysql",
        never=True,
    ),
    Sign("source has no version", lambda s: bool(source(s)) and "version" not in source(s), "debezium#source-mysql", never=True),
    *(
        Sign(f"source.version is {one}", lambda s, one=one: _version(s) == one, "debezium#source-mysql", releases=(one,))  # type: ignore[misc]
        for one in _RELEASES
    ),
    Sign(
        "transaction stands before op",
        lambda s: _rows_transaction(s) and _before_index(s)[0] < _before_index(s)[1],
        "debezium#envelope-members",
        releases=_RELEASES[3:],
    ),
    Sign(
        "transaction stands behind op",
        lambda s: _rows_transaction(s) and _before_index(s)[0] > _before_index(s)[1],
        "debezium#envelope-members",
        releases=_RELEASES[:3],
    ),
    Sign("the connector is postgresql", lambda s: connector(s) == "postgresql", "debezium#source-postgresql", "+postgresql"),
    Sign(
        "the connector is mysql",
        lambda s: connector(s) == "mysql",
        "debezium#source-mysql",
        "-postgresql -mariadb -full -index -hstore-map -interval-string -include-unknown -money-digits-0 -money-digits-4",
    ),
    Sign("the connector is mariadb", lambda s: connector(s) == "mariadb", "debezium#source-mysql", "+mariadb"),
    Sign("the value has no schema", lambda s: not s.has_schema, "debezium#schema-optional", "+schemaless"),
    Sign("the value has a schema", lambda s: s.has_schema, "debezium#schema-optional", "-schemaless"),
    Sign(
        "the value has a schema, the key has none",
        lambda s: s.has_schema and _key_has_schema(s) is False,
        "debezium#schema-optional",
        "+plain-key",
    ),
    Sign("the key has a schema", lambda s: _key_has_schema(s) is True, "debezium#schema-optional", "-plain-key"),
    Sign(
        "a row has a transaction, or a message is BEGIN or END",
        lambda s: "event_count" in s.payload or (_rows_transaction(s) and s.payload["transaction"] is not None),
        "debezium#transaction-boundary",
        "+transaction",
    ),
    Sign(
        "a streamed row has no transaction",
        lambda s: _rows_transaction(s) and s.payload["transaction"] is None and s.payload.get("op") in ("c", "u", "d"),
        "debezium#transaction-boundary",
        "-transaction",
    ),
    Sign("source.query is a statement", lambda s: isinstance(source(s).get("query"), str), "debezium#query", "+include-query"),
    Sign(
        "a streamed row has no statement",
        lambda s: source(s).get("query", "") is None and s.payload.get("op") in ("c", "u", "d"),
        "debezium#query",
        "-include-query",
    ),
    Sign(
        "a tombstone is an object of nulls",
        lambda s: _tombstone(s) and s.members["schema"] is None,
        "connect#null-record",
        "+legacy-tombstone",
    ),
    Sign("a NULL stands in a column with a default", _kept_null, "connect#nulls-kept", "+nulls-kept"),
    Sign(
        "a Decimal is base64",
        lambda s: any(isinstance(one, str) for one in _decimals(s)),
        "debezium#decimal-precise",
        "-double -string -numeric",
    ),
    Sign(
        "a Decimal is a number",
        lambda s: any(isinstance(one, int | float) for one in _decimals(s)),
        "connect#decimal-numeric",
        "+numeric",
    ),
    Sign(
        "a column of decimals is a string",
        lambda s: any(one.get("type") == "string" for one in _original(s, "DECIMAL", "NUMERIC")),
        "debezium#decimal-string",
        "+string",
    ),
    Sign(
        "a column of decimals is a double",
        lambda s: any(one.get("type") == "double" for one in _original(s, "DECIMAL", "NUMERIC")),
        "debezium#decimal-double",
        "+double",
    ),
    Sign(
        "BIGINT UNSIGNED is a Decimal",
        lambda s: any(one.get("name") == _DECIMAL for one in _original(s, "BIGINT UNSIGNED")),
        "debezium#unsigned-precise",
        "+unsigned-precise",
    ),
    Sign(
        "BIGINT UNSIGNED is an int64",
        lambda s: any(one.get("type") == "int64" for one in _original(s, "BIGINT UNSIGNED")),
        "debezium#unsigned-long",
        "-unsigned-precise",
    ),
    Sign(
        "a column is IsoDate, IsoTime or IsoTimestamp",
        lambda s: _has(s, _TIME, "IsoDate", "IsoTime", "IsoTimestamp"),
        "debezium#iso-strings",
        f"+isostring {_others('isostring')}",
    ),
    Sign(
        "a column is Connect's Date, Time or Timestamp",
        lambda s: _has(s, _CONNECT, "Date", "Time", "Timestamp"),
        "debezium#connect-times",
        f"+connect {_others('connect')}",
    ),
    Sign(
        "a column is NanoTime or NanoTimestamp",
        lambda s: _has(s, _TIME, "NanoTime", "NanoTimestamp"),
        "debezium#datetime-units",
        f"+nanoseconds {_others('nanoseconds')}",
    ),
    Sign(
        "a column is Timestamp, in milliseconds",
        lambda s: _has(s, _TIME, "Timestamp"),
        "debezium#datetime-units",
        _others("adaptive", "adaptive_time_microseconds"),
    ),
    Sign(
        "a column is MicroTimestamp or MicroTime",
        lambda s: _has(s, _TIME, "MicroTimestamp", "MicroTime"),
        "debezium#datetime-units",
        _others("adaptive", "adaptive_time_microseconds", "microseconds"),
    ),
    Sign("a column is Time, in milliseconds", lambda s: _has(s, _TIME, "Time"), "debezium#time-adaptive", _others("adaptive")),
    Sign("a column is bytes", _bare_bytes, "debezium#binary-modes", "-base64 -base64-url-safe -hex"),
    Sign("a column is MicroDuration", lambda s: _has(s, _TIME, "MicroDuration"), "debezium#interval", "-interval-string"),
    Sign("a column is Interval", lambda s: _has(s, _TIME, "Interval"), "debezium#interval", "+interval-string"),
    Sign("a column is a map", lambda s: any(one.get("type") == "map" for one in columns(s)), "debezium#hstore", "+hstore-map"),
    Sign("column schemas name the source's type", lambda s: True in _parameters(s), "debezium#source-type", "+source-type"),
    Sign(
        "column schemas do not name the source's type",
        lambda s: _parameters(s) == {False},
        "debezium#source-type",
        "-source-type",
    ),
    Sign(
        "an UPDATE of PostgreSQL has no before image",
        lambda s: connector(s) == "postgresql" and s.payload.get("op") == "u" and s.payload.get("before") is None,
        "debezium#before-default-identity",
        "-full",
    ),
    Sign(
        "an UPDATE of PostgreSQL has a before image of columns beside the key",
        _whole_before,
        "debezium#before-default-identity",
        "+full",
    ),
    Sign(
        "a row has no envelope, and __deleted",
        lambda s: is_flat(s) and "__deleted" in s.payload,
        "debezium#flattened",
        "+flat-rewrite",
    ),
    Sign(
        "a row has no envelope, and no __deleted",
        lambda s: is_flat(s) and "__deleted" not in s.payload,
        "debezium#flattened",
        "+flat",
    ),
    Sign("a row has its envelope", is_row, "debezium#images", "-flat -flat-rewrite"),
)

_DEBEZIUM: Final = EvidenceBook(
    DEBEZIUM,
    "Debezium, JSON of Kafka Connect",
    _debezium_marks,
    (
        shape("before after source transaction op ts_ms ts_us ts_ns", "ts_us ts_ns"),
        shape("before after source op ts_ms ts_us ts_ns transaction", "ts_us ts_ns transaction"),
        shape("source ts_ms databaseName schemaName ddl tableChanges", "ts_ms schemaName tableChanges"),
        shape("status id event_count data_collections ts_ms", "ts_ms"),
        shape("op ts_ms ts_us ts_ns source transaction message", "ts_us ts_ns transaction"),
        shape("ts_ms"),
        shape(_FLAT),
    ),
    _DEBEZIUM_SIGNS,
    members=_debezium_members,
    describe=_debezium_table,
    watch=_watch_tombstones,
    version=_version,
)

_AVRO_SIGNS: Final = (
    Sign("source.connector is postgresql", lambda s: connector(s) == "postgresql", "confluent#connect-schema", "+postgresql"),
    Sign("source.connector is mariadb", lambda s: connector(s) == "mariadb", "confluent#connect-schema", "+mariadb"),
    Sign(
        "a row has a transaction",
        lambda s: _rows_transaction(s) and s.payload["transaction"] is not None,
        "debezium#transaction-boundary",
        "+transaction",
    ),
    Sign("a row has no envelope, and __deleted", lambda s: "__deleted" in s.payload, "debezium#flattened", "+flat-rewrite"),
)


def _avro_marks(seen: Seen) -> bool:
    return seen.container == "confluent" and (
        {"source", "op"} <= seen.payload.keys()
        or {"source", "ddl"} <= seen.payload.keys()
        or {"status", "id"} <= seen.payload.keys()
        or seen.payload.keys() == {"ts_ms"}
        or "__deleted" in seen.payload
    )


_AVRO: Final = EvidenceBook(
    "debezium-avro",
    "Debezium, Avro of a schema registry",
    _avro_marks,
    _DEBEZIUM.shapes,
    _AVRO_SIGNS,
    members=lambda seen: (_FLAT,) if "__deleted" in seen.payload else seen.payload,
    version=_version,
)

BOOKS: Final = (_DEBEZIUM, _AVRO)
