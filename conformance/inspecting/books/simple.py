"""Evidence of TiCDC's Simple protocol in JSON and in Avro."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any, Final

from conformance.inspecting.books.ticdc import packed, routing
from conformance.inspecting.evidence import Described, EvidenceBook, Sign, names, releases_of, rows, shape
from conformance.inspecting.opening import Seen

JSON: Final = "ticdc-simple-json"
AVRO: Final = "ticdc-simple-avro"
ROWS: Final = ("INSERT", "UPDATE", "DELETE")
_CLASSIC: Final = ("v7.5.7", "v8.5.7")
_NEW: Final = tuple(one for one in releases_of(JSON) if one not in _CLASSIC)
_NAMESPACE: Final = "com.pingcap.simple.avro."


def _plain(value: Any) -> Any:
    """An Avro value without the names of its branches."""
    match value:
        case (str() as name, inner) if name.startswith(_NAMESPACE) or isinstance(inner, dict):
            return _plain(inner)
        case dict():
            return {name: _plain(one) for name, one in value.items()}
        case list():
            return [_plain(one) for one in value]
    return value


@lru_cache(maxsize=1)
def content(seen: Seen) -> Mapping[str, Any]:
    """The message; in Avro, its payload without nulls."""
    if seen.container == "json":
        return seen.members
    datum = _plain(seen.document)
    found = datum.get("payload") if isinstance(datum, dict) else None
    return {name: one for name, one in found.items() if one is not None} if isinstance(found, dict) else {}


def _is_row(seen: Seen) -> bool:
    return content(seen).get("type") in ROWS


def _schemas(seen: Seen) -> Iterator[Mapping[str, Any]]:
    for name in ("tableSchema", "preTableSchema"):
        found = content(seen).get(name)
        if isinstance(found, dict):
            yield found


def _locations(seen: Seen) -> set[Any]:
    """The zones of the TIMESTAMP values of a row."""
    images = [content(seen).get(side) for side in ("data", "old")]
    cells = [cell for image in images if isinstance(image, dict) for cell in image.values()]
    return {cell["location"] for cell in cells if isinstance(cell, dict) and "location" in cell}


def _pre(seen: Seen) -> bool:
    return "preTableSchema" in content(seen)


def _altered(seen: Seen) -> bool:
    found = content(seen)
    return found.get("type") in ("ALTER", "CINDEX", "DINDEX") and "sql" in found and "tableSchema" in found and not _pre(seen)


_ESCAPE: Final = re.compile(r"(?<!\\)(?:\\\\)*\\(u0008|u000c|b|f)")


def _control(seen: Seen, *forms: str) -> bool:
    return "\\" in seen.text and any(one in forms for one in _ESCAPE.findall(seen.text))


def _stamps(seen: Seen) -> set[bool]:
    """Whether the TIMESTAMP columns of an Avro schema have a fraction."""
    columns = [column for schema in _schemas(seen) for column in rows(schema.get("columns"))]
    kinds = [column["dataType"] for column in columns if isinstance(column.get("dataType"), dict)]
    return {kind.get("decimal") is not None for kind in kinds if kind.get("mysqlType") == "timestamp"}


def _described(seen: Seen) -> Described | None:
    found = content(seen).get("tableSchema")
    if not isinstance(found, dict):
        row = content(seen)
        return Described(str(row.get("database")), str(row.get("table")), {}) if _is_row(seen) else None
    types = {str(one.get("name")): _type(one.get("dataType")) for one in rows(found.get("columns"))}
    primary = next((names(one.get("columns")) for one in rows(found.get("indexes")) if one.get("primary")), ())
    return Described(str(found.get("schema", found.get("database"))), str(found.get("table")), types, primary)


def _type(kind: Any) -> str:
    if not isinstance(kind, dict):
        return "?"
    sizes = [str(kind[name]) for name in ("length", "decimal") if kind.get(name)]
    suffix = "".join(f" {name}" for name in ("unsigned", "zerofill") if kind.get(name))
    return f"{kind.get('mysqlType')}{'(' + ','.join(sizes) + ')' if sizes else ''}{suffix}"


_EXCHANGE: Final = re.compile(r"\bEXCHANGE\s+PARTITION\b", re.IGNORECASE)
"""The only statement of these types with a second table (ticdc#simple-exchange-partition)."""

_COMMON: Final = (
    Sign(
        "a DDL of type ALTER, CINDEX or DINDEX on one table has preTableSchema",
        lambda s: content(s).get("type") in ("ALTER", "CINDEX", "DINDEX") and _pre(s) and not _EXCHANGE.search(content(s)["sql"]),
        "ticdc#simple-pre-table-schema",
        releases=_CLASSIC,
    ),
    Sign(
        "a DDL of type ALTER, CINDEX or DINDEX has tableSchema and no preTableSchema",
        _altered,
        "ticdc#simple-pre-table-schema",
        releases=_NEW,
    ),
    Sign("a row has a checksum", lambda s: "checksum" in content(s), "ticdc#simple-checksum", "+checksum"),
    Sign(
        "a row has claimCheckLocation",
        lambda s: "claimCheckLocation" in content(s),
        "ticdc#simple-reduced",
        "+claim-check -handle-key-only",
    ),
    Sign(
        "a row has handleKeyOnly and no claimCheckLocation",
        lambda s: bool(content(s).get("handleKeyOnly")) and "claimCheckLocation" not in content(s),
        "ticdc#simple-reduced",
        "+handle-key-only -claim-check",
    ),
    Sign("a TIMESTAMP has the location Local", lambda s: "Local" in _locations(s), "ticdc#simple-location-local", "+local-zone"),
    Sign(
        "a TIMESTAMP has a location with a name",
        lambda s: bool(_locations(s) - {"Local"}),
        "ticdc#simple-timestamp",
        "-local-zone",
    ),
    *packed(),
    *routing(lambda s: content(s).get("sql")),
)

_ROW: Final = "version database table tableID type commitTs buildTs schemaVersion"
_JSON: Final = EvidenceBook(
    JSON,
    "TiCDC (PingCAP), protocol simple, JSON",
    lambda s: s.container == "json" and {"version", "type", "commitTs", "buildTs"} <= s.members.keys(),
    (
        shape(
            f"{_ROW} claimCheckLocation handleKeyOnly checksum data old",
            "claimCheckLocation handleKeyOnly checksum data old",
        ),
        shape("version type sql commitTs buildTs tableSchema preTableSchema", "sql tableSchema preTableSchema"),
    ),
    (
        *_COMMON,
        Sign(
            "a backspace or a form feed is escaped by its number",
            lambda s: _control(s, "u0008", "u000c"),
            "ticdc#text-escapes",
            releases=_CLASSIC[:1],
        ),
        Sign(
            "a backspace or a form feed has an escape of two characters",
            lambda s: _control(s, "b", "f"),
            "ticdc#text-escapes",
            releases=(_CLASSIC[1], *_NEW),
        ),
    ),
    describe=_described,
)

_AVRO: Final = EvidenceBook(
    AVRO,
    "TiCDC (PingCAP), protocol simple, Avro",
    lambda s: s.schema == AVRO,
    (),
    (
        *_COMMON,
        Sign("a TIMESTAMP column has its fraction digits", lambda s: True in _stamps(s), "ticdc#simple-columns", releases=_NEW),
        Sign(
            "a TIMESTAMP column has no fraction digits", lambda s: False in _stamps(s), "ticdc#simple-columns", releases=_CLASSIC
        ),
    ),
    describe=_described,
)

BOOKS: Final = (_JSON, _AVRO)
