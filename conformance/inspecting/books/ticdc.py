"""Evidence of TiCDC's protocols beside Canal-JSON and Simple."""

from __future__ import annotations

from typing import Final

from conformance.inspecting.books.connect import column_type, columns, images, is_row, key_names, kind_of, source
from conformance.inspecting.evidence import Described, EvidenceBook, Sign, releases_of, shape
from conformance.inspecting.opening import Seen

DEBEZIUM: Final = "ticdc-debezium-json"
_OLD, _CLASSIC, _NEW = releases_of(DEBEZIUM)


def _described(seen: Seen) -> Described | None:
    if not is_row(seen):
        return None
    types = {str(one["field"]): column_type(one) for one in columns(seen) if "field" in one}
    types = types or {name: kind_of(value) for image in images(seen) for name, value in image.items()}
    return Described(str(source(seen).get("db")), str(source(seen).get("table")), types, key_names(seen))


def _watermark(seen: Seen) -> bool:
    return seen.payload.get("op") == "m"


def _update(seen: Seen, *, before: bool) -> bool:
    return seen.payload.get("op") == "u" and ("before" in seen.payload) is before


_SIGNS: Final = (
    Sign("the key has no bytes", lambda s: is_row(s) and s.record.key == b"", "ticdc-debezium#key", (_OLD,)),
    Sign("the key has a payload", lambda s: bool(s.key_document), "ticdc-debezium#key", (_CLASSIC, _NEW)),
    Sign("the message is a statement or a watermark", lambda s: not is_row(s), "ticdc-debezium#kinds", (_NEW,)),
    Sign("op is m", _watermark, "ticdc-debezium#kinds", (_NEW,), ("extension",)),
    Sign("a column has a tidb_type", lambda s: any("tidb_type" in c for c in columns(s)), "", (_NEW,), ("extension",)),
    Sign("a column has no tidb_type", lambda s: any("tidb_type" not in c for c in columns(s)), "", without=("extension",)),
    Sign("the value has no schema", lambda s: not s.has_schema, "ticdc-debezium#envelope", given=("schemaless",)),
    Sign("the value has a schema", lambda s: s.has_schema, "ticdc-debezium#envelope", without=("schemaless",)),
    Sign("an UPDATE has no before", lambda s: _update(s, before=False), "ticdc-debezium#images", given=("without-before",)),
    Sign("an UPDATE has before", lambda s: _update(s, before=True), "ticdc-debezium#images", without=("without-before",)),
)

_DEBEZIUM: Final = EvidenceBook(
    DEBEZIUM,
    "TiCDC (PingCAP), protocol debezium",
    lambda s: s.container == "json" and {"commit_ts", "cluster_id"} <= source(s).keys(),
    (
        shape("source ts_ms transaction op before after", "before"),
        shape("source ts_ms transaction op after before"),
        shape("source ts_ms transaction op"),
        shape("source ts_ms databaseName schemaName ddl tableChanges"),
    ),
    _SIGNS,
    members=lambda seen: seen.payload,
    describe=_described,
)

BOOKS: Final = (_DEBEZIUM,)
