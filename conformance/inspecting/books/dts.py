"""Evidence of CloudCanal Json, Tencent DTS JSON and Aliyun DTS Avro."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from conformance.inspecting.evidence import Described, EvidenceBook, Sign, names, releases_of, rows, shape, texts
from conformance.inspecting.opening import Seen

CLOUDCANAL: Final = "cloudcanal-json"
TENCENT: Final = "tencent-dts-json"
ALIYUN: Final = "aliyun-dts-avro"

# CloudCanal Json


def _is(seen: Seen, action: str) -> bool:
    return seen.members.get("action") == action and seen.members.get("entryType") == "ROWDATA"


def _filled(seen: Seen, name: str) -> bool:
    return bool(rows(seen.members.get(name)))


def _pairs(seen: Seen) -> Iterator[tuple[Mapping[str, Any], Mapping[str, Any]]]:
    before, data = rows(seen.members.get("before")), rows(seen.members.get("data"))
    if _is(seen, "UPDATE") and len(before) == len(data):
        yield from zip(before, data, strict=True)


def _remainder(seen: Seen, name: str) -> int:
    found = seen.members.get(name)
    return found % 1000 if isinstance(found, int) else 0


def _cloudcanal_table(seen: Seen) -> Described | None:
    found, types = seen.members, texts(seen.members.get("dbValType"))
    keys = names(found.get("pks"))
    return Described(str(found.get("db")), str(found.get("table")), types, keys) if types else None


_CLOUDCANAL_SIGNS: Final = (
    Sign("the flag is named ddl", lambda s: "ddl" in s.members, "cloudcanal#ddl-key", "+ddl-key"),
    Sign("the flag is named isDdl", lambda s: "isDdl" in s.members, "cloudcanal#ddl-key", "-ddl-key"),
    Sign("bid is not 0", lambda s: s.members.get("bid") != 0, "cloudcanal#bid", "+described"),
    Sign("bid is 0", lambda s: s.members.get("bid") == 0, "cloudcanal#bid", "-described"),
    Sign(
        "a DELETE has its row in before alone",
        lambda s: _is(s, "DELETE") and _filled(s, "before") and not _filled(s, "data"),
        "cloudcanal#delete-open",
        "+deleted-in-before",
    ),
    Sign(
        "a DELETE has its row in before and in data",
        lambda s: _is(s, "DELETE") and _filled(s, "before") and _filled(s, "data"),
        "cloudcanal#delete-open",
        "+deleted-in-both",
    ),
    Sign(
        "a DELETE has its row in data alone",
        lambda s: _is(s, "DELETE") and _filled(s, "data") and not _filled(s, "before"),
        "cloudcanal#delete-open",
        "-deleted-in-before -deleted-in-both",
    ),
    Sign(
        "before of an UPDATE lacks columns of data",
        lambda s: any(not new.keys() <= old.keys() for old, new in _pairs(s)),
        "cloudcanal#before-whole-open",
        "+partial-old",
    ),
    Sign(
        "before of an UPDATE repeats a value of data",
        lambda s: any(new.get(n, s) == v for old, new in _pairs(s) for n, v in old.items()),
        "cloudcanal#before-whole-open",
        "-partial-old",
    ),
    Sign("execTs has milliseconds", lambda s: bool(_remainder(s, "execTs")), "cloudcanal#exec-ts", "+milliseconds"),
)

_ORDER: Final = "action before bid data db dbValType {} entryType execTs jdbcType pks schema sendTs sql table tableChanges"
_CLOUDCANAL: Final = EvidenceBook(
    CLOUDCANAL,
    "CloudCanal (ClouGence), CloudCanal Json",
    lambda s: s.container == "json" and {"action", "dbValType", "jdbcType", "execTs"} <= s.members.keys(),
    (shape(_ORDER.format("isDdl"), "tableChanges"), shape(_ORDER.format("ddl"), "tableChanges")),
    _CLOUDCANAL_SIGNS,
    describe=_cloudcanal_table,
)

# Tencent DTS JSON

_FIELDS: Final = (
    "id version messageType fileName position safePosition timestamp gtid transactionId serverId threadId sourceType "
    "sourceVersion schemaName tableName objectName columns oldColumns newColumns sql executionTime heartbeatTimestamp "
    "syncedGtid fakeGtid pkNames readerTimestamp tags total index"
)
_CARRIED: Final = {"heartbeatTimestamp", "pkNames"}
_ALWAYS: Final = {"id", "version", "messageType", "sourceType", "sourceVersion", "fakeGtid", "readerTimestamp", "total", "index"}


def _cells(seen: Seen, pattern: re.Pattern[str]) -> Iterator[tuple[str, str]]:
    """Type and text of each value of a column whose type matches."""
    columns = rows(seen.members.get("columns"))
    for side in ("oldColumns", "newColumns"):
        values = seen.members.get(side)
        for column, value in zip(columns, values if isinstance(values, list) else (), strict=False):
            kind = column.get("originalType")
            if isinstance(kind, str) and isinstance(value, str) and pattern.match(kind):
                yield kind, value


_BINARY: Final = re.compile(r"(?:var)?binary|\w*blob", re.IGNORECASE)
_TIME: Final = re.compile(r"time(?:\([0-5]\))?$", re.IGNORECASE)
_TIMESTAMP: Final = re.compile(r"timestamp", re.IGNORECASE)
_SHORT_STAMP: Final = re.compile(r"timestamp(?:\([0-2]\))?$", re.IGNORECASE)
_PREFIXED: Final = re.compile(r"0x(?:\d*[A-F][\dA-F]*)$")
_LOWER: Final = re.compile(r"0x(?:\d*[a-f][\da-f]*)$")
_SIX: Final = re.compile(r"\.\d{6}$")
_THREE: Final = re.compile(r"\d{4}-.*\.\d{3}$")
_CLOCK: Final = re.compile(r"[1-9]\d{3}-\d\d-\d\d \d\d:\d\d:\d\d(?:\.\d{1,2})?$")


def _tencent_table(seen: Seen) -> Described | None:
    columns = rows(seen.members.get("columns"))
    if not columns:
        return None
    types = {str(one.get("name")): str(one.get("originalType")) for one in columns}
    found = seen.members
    return Described(str(found.get("schemaName")), str(found.get("tableName")), types, names(found.get("pkNames")))


_TENCENT_SIGNS: Final = (
    Sign(
        "a member that does not apply is left out",
        lambda s: not set(_FIELDS.split()) - _CARRIED <= s.members.keys(),
        "tencent#absent-fields",
        "+sparse",
    ),
    Sign(
        "every member is there, null where it does not apply",
        lambda s: set(_FIELDS.split()) - _CARRIED <= s.members.keys(),
        "tencent#absent-fields",
        "-sparse",
    ),
    Sign(
        "a binary has upper-case hex digits",
        lambda s: any(_PREFIXED.match(text) for _, text in _cells(s, _BINARY)),
        "tencent#binary",
        "+upper-hex",
    ),
    Sign(
        "a binary has lower-case hex digits",
        lambda s: any(_LOWER.match(text) for _, text in _cells(s, _BINARY)),
        "tencent#binary",
        "-upper-hex",
    ),
    Sign(
        "a TIME has six digits that its type does not declare",
        lambda s: any(_SIX.search(text) for _, text in _cells(s, _TIME)),
        "tencent#time",
        "+padded-time",
    ),
    Sign(
        "a TIME has the digits of its type",
        lambda s: any(not _SIX.search(text) for _, text in _cells(s, _TIME)),
        "tencent#time",
        "-padded-time",
    ),
    Sign(
        "a TIMESTAMP is a number",
        lambda s: any(re.fullmatch(r"-?\d+", text) for _, text in _cells(s, _TIMESTAMP)),
        "tencent#timestamp-epoch",
        "+older-edition",
    ),
    Sign(
        "a TIMESTAMP is a clock's text",
        lambda s: any("-" in text[1:] for _, text in _cells(s, _TIMESTAMP)),
        "tencent#timestamp-milliseconds",
        "-older-edition",
    ),
    Sign(
        "a TIMESTAMP has three digits, more than its type declares",
        lambda s: any(_THREE.match(text) for _, text in _cells(s, _SHORT_STAMP)),
        "tencent#timestamp-milliseconds",
        "-own-digits",
    ),
    Sign(
        "a TIMESTAMP has fewer than three digits",
        lambda s: any(_CLOCK.match(text) for _, text in _cells(s, _SHORT_STAMP)),
        "tencent#fraction-digits",
        "+own-digits",
    ),
)

_TENCENT: Final = EvidenceBook(
    TENCENT,
    "Tencent Cloud DTS, JSON",
    lambda s: s.container == "json" and {"messageType", "readerTimestamp", "sourceType", "fakeGtid"} <= s.members.keys(),
    (shape(_FIELDS, " ".join(set(_FIELDS.split()) - _ALWAYS)),),
    _TENCENT_SIGNS,
    describe=_tencent_table,
)

# Aliyun DTS Avro

_NAMESPACE: Final = "com.alibaba.dts.formats.avro."
_TEXT_NUMBERS: Final = (249, 250, 251, 252)
_NONE: Final = "NONE"


def _source(seen: Seen) -> Mapping[str, Any]:
    found = seen.members.get("source")
    return found if isinstance(found, dict) else {}


def _tags(seen: Seen) -> Mapping[str, Any]:
    found = seen.members.get("tags")
    return found if isinstance(found, dict) else {}


def _fields(seen: Seen) -> list[tuple[str, int]]:
    found = seen.members.get("fields")
    return [(one["name"], one["dataTypeNumber"]) for one in found] if isinstance(found, list) else []


def _values(seen: Seen, side: str) -> list[Any]:
    found = seen.members.get(side)
    return found if isinstance(found, list) else []


def _branches(seen: Seen) -> Iterator[tuple[int, str, Any]]:
    """Type number, branch and content of each value of a row."""
    for side in ("beforeImages", "afterImages"):
        for (_, number), value in zip(_fields(seen), _values(seen, side), strict=False):
            if isinstance(value, tuple):
                yield number, value[0].removeprefix(_NAMESPACE), value[1]


def _kind_of_text(seen: Seen, branch: str) -> bool:
    """Whether a text of the TEXT family has that branch; an object of BLOB has the same number."""
    return any(
        number in _TEXT_NUMBERS and name == branch and (not isinstance(one, dict) or "BLOB" not in str(one.get("type")).upper())
        for number, name, one in _branches(seen)
    )


def _aliyun_table(seen: Seen) -> Described | None:
    columns, name = _fields(seen), seen.members.get("objectName")
    if not columns or not isinstance(name, str):
        return None
    *above, table = name.split(".")
    try:
        keys = names(json.loads(_tags(seen).get("pk_uk_info", "{}")).get("PRIMARY"))
    except (ValueError, AttributeError):
        keys = ()
    branches = {number: branch for number, branch, _ in _branches(seen)}
    return Described(".".join(above), table, {n: f"{k} {branches.get(k, '')}".strip() for n, k in columns}, keys)


def _postgresql(seen: Seen) -> bool:
    return _source(seen).get("sourceType") == "PostgreSQL"


_ALIYUN_SIGNS: Final = (
    Sign("bornTimestamp is there", lambda s: s.edition == 0, "aliyun#editions", releases=releases_of(ALIYUN)[1:]),
    Sign("bornTimestamp is not there", lambda s: s.edition == 1, "aliyun#editions", releases=releases_of(ALIYUN)[:1]),
    Sign("the source is PostgreSQL", _postgresql, "aliyun#source-types", "+postgresql"),
    Sign("the source is not PostgreSQL", lambda s: not _postgresql(s), "aliyun#source-types", "-postgresql -physical-log"),
    Sign(
        "positions are of PostgreSQL's physical log",
        lambda s: _postgresql(s) and "<->" in str(s.members.get("sourcePosition")),
        "aliyun#datetime-nanos",
        "+physical-log",
    ),
    Sign(
        "positions are not of a physical log",
        lambda s: _postgresql(s) and "@" in str(s.members.get("sourcePosition")) and bool(_fields(s)),
        "aliyun#datetime-nanos",
        "-physical-log",
    ),
    Sign("the source is DRDS", lambda s: _source(s).get("sourceType") == "DRDS", "aliyun#logical-names", "+drds"),
    Sign("the source is not DRDS", lambda s: _source(s).get("sourceType") != "DRDS", "aliyun#logical-names", "-drds"),
    Sign(
        "tags have logical names, and the source is MySQL",
        lambda s: _source(s).get("sourceType") == "MySQL" and "l_db_name" in _tags(s),
        "aliyun#logical-names",
        "+logical-names",
    ),
    Sign(
        "a row's tags have no logical names",
        lambda s: bool(_fields(s)) and "l_db_name" not in _tags(s),
        "aliyun#logical-names",
        "-logical-names -drds",
    ),
    Sign(
        "a text of the TEXT family is a Character",
        lambda s: not _postgresql(s) and _kind_of_text(s, "Character"),
        "aliyun#binary-objects",
        "+text-character -text-object",
    ),
    Sign(
        "a text of the TEXT family is a TextObject",
        lambda s: not _postgresql(s) and _kind_of_text(s, "TextObject"),
        "aliyun#binary-objects",
        "+text-object -text-character",
    ),
    Sign(
        "a text of the TEXT family is a BinaryObject",
        lambda s: not _postgresql(s) and _kind_of_text(s, "BinaryObject"),
        "aliyun#binary-objects",
        "-text-character -text-object",
    ),
    Sign(
        "a before image says that a column was not captured",
        lambda s: _NONE in _values(s, "beforeImages") and _partial_update(s),
        "aliyun#not-captured",
        "+partial",
    ),
)


def _partial_update(seen: Seen) -> bool:
    """Whether the message has an after image that lacks no column."""
    after = _values(seen, "afterImages")
    return bool(after) and _NONE not in after


_ALIYUN: Final = EvidenceBook(
    ALIYUN,
    "Aliyun DTS, Avro",
    lambda s: s.schema == ALIYUN,
    (),
    _ALIYUN_SIGNS,
    describe=_aliyun_table,
)

BOOKS: Final = (_CLOUDCANAL, _TENCENT, _ALIYUN)
