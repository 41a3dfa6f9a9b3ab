"""Evidence of the formats that write Canal's flat message or follow it: Canal, TiCDC's Canal-JSON, CloudCanal's Canal Json, and
the dialects of cloud services."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any, Final

from conformance.inspecting.books.ticdc import packed, routing
from conformance.inspecting.evidence import Described, EvidenceBook, Sign, Watch, having, names, releases_of, rows, shape, texts
from conformance.inspecting.opening import Seen

TICDC: Final = "ticdc-canal-json"
CANAL: Final = "alibaba-canal-json"
CLOUDCANAL: Final = "cloudcanal-canal-json"
DIALECTS: Final = "canal-dialects-json"

ROWS: Final = ("INSERT", "UPDATE", "DELETE")


def _type(seen: Seen) -> Any:
    return seen.members.get("type")


def is_row(seen: Seen) -> bool:
    """Whether the message is a row change."""
    return _type(seen) in ROWS and seen.members.get("isDdl") is False and isinstance(seen.members.get("data"), list)


def _data(seen: Seen) -> list[Mapping[str, Any]]:
    return rows(seen.members.get("data"))


def _old(seen: Seen) -> list[Mapping[str, Any]]:
    return rows(seen.members.get("old"))


def _types(seen: Seen) -> Mapping[str, str]:
    return texts(seen.members.get("mysqlType"))


def _any_type(seen: Seen, pattern: re.Pattern[str]) -> bool:
    return any(pattern.search(text) for text in _types(seen).values())


def _same(seen: Seen) -> bool:
    """Whether `old` of an UPDATE of one row repeats a value of `data`."""
    data, old = _data(seen), _old(seen)
    return _type(seen) == "UPDATE" and len(data) == len(old) == 1 and any(data[0].get(n, old) == v for n, v in old[0].items())


def _partial(seen: Seen) -> bool:
    """Whether `old` of an UPDATE of one row lacks a column of `data`."""
    data, old = _data(seen), _old(seen)
    return _type(seen) == "UPDATE" and len(data) == len(old) == 1 and not data[0].keys() <= old[0].keys()


def _described(seen: Seen) -> Described | None:
    found, types = seen.members, _types(seen)
    if not types or not isinstance(found.get("table"), str):
        return None
    return Described(str(found.get("database")), found["table"], types, names(found.get("pkNames")))


def _marks(seen: Seen) -> bool:
    return seen.container == "json" and {"database", "isDdl", "mysqlType", "sqlType", "table"} <= seen.members.keys()


_SECONDS: Final = 100_000_000_000
_DRS: Final = "mysqlType id es ts database table type isDdl sql sqlType data old pkNames"


def _loaded(seen: Seen) -> bool:
    return _type(seen) in ("INIT", "INIT_DDL", "DDL")


def _uncoded(seen: Seen) -> bool:
    return seen.members.get("sqlType") is None and (is_row(seen) or _type(seen) == "INIT")


def _in_seconds(seen: Seen) -> bool:
    es = seen.members.get("es")
    return isinstance(es, int) and 0 < es < _SECONDS


def _moved(seen: Seen) -> bool:
    return _type(seen) == "DELETE" and seen.members.get("data") is None and bool(_old(seen))


def _is_drs(seen: Seen) -> bool:
    return list(seen.members) == _DRS.split()


_FOREIGN: Final = (
    Sign("type is INIT, INIT_DDL or DDL", _loaded, "canal-dialects#init", never=True),
    Sign("a row has no sqlType", _uncoded, "canal-dialects#no-codes", never=True),
    Sign("es is in seconds", _in_seconds, "canal-dialects#es", never=True),
    Sign("a deleted row stands in old, and data is null", _moved, "canal-dialects#deleted-in-old", never=True),
)
"""What only the dialects of cloud services have."""

# TiCDC

_V = releases_of(TICDC)
_SINCE_5_4, _SINCE_6_5, _SINCE_7_1 = _V[1:], _V[2:], _V[4:]
_SUFFIX: Final = re.compile(r"\bunsigned\b")
_SPELLED: Final = re.compile(r"^(?!(?i:enum|set)\b)\w*[A-Z]|^(serial|integer|numeric|dec|fixed|bool|boolean|real)\b")
_ZEROFILL: Final = re.compile(r"\bzerofill\b")
_SIZED: Final = re.compile(r"^(?:(?:var)?(?:char|binary)|decimal|enum|set|bit|bigint|year)\b(\()?")
"""Types that have parameters in content-compatible messages whatever the column is."""


def _tidb(seen: Seen) -> Mapping[str, Any]:
    found = seen.members.get("_tidb")
    return found if isinstance(found, dict) else {}


def _reduced(seen: Seen) -> bool:
    return "onlyHandleKey" in _tidb(seen) or "claimCheckLocation" in _tidb(seen)


def _sizes(seen: Seen) -> set[bool]:
    """Whether types that always have parameters have them."""
    return {match[1] is not None for text in _types(seen).values() if (match := _SIZED.match(text))}


def _order(seen: Seen) -> list[str]:
    return [name for name in seen.members if name in ("data", "old")]


def _cut_delete(seen: Seen) -> bool:
    data, keys = _data(seen), names(seen.members.get("pkNames"))
    return _type(seen) == "DELETE" and not _reduced(seen) and bool(keys) and len(data) == 1 and set(data[0]) == set(keys)


def _watch_deletes() -> Watch:
    """Sees a DELETE with only the key of a table whose earlier and later rows have more columns."""
    wide: set[tuple[Any, Any]] = set()
    waiting: set[tuple[Any, Any]] = set()

    def watch(seen: Seen) -> Iterator[Sign]:
        table = (seen.members.get("database"), seen.members.get("table"))
        if not is_row(seen) or len(wide) > 10_000:
            return
        if _cut_delete(seen):
            waiting.update({table} & wide)
        elif _type(seen) != "DELETE" and any(set(row) > set(names(seen.members.get("pkNames"))) for row in _data(seen)):
            wide.add(table)
            if table in waiting:
                yield _CUT

    return watch


_CUT: Final = Sign(
    "a DELETE has the key alone where the table's rows before and after it have more columns",
    lambda _seen: True,
    "ticdc#canal-delete-handle-key",
    "+delete-handle-key",
    releases=having(TICDC, "delete-handle-key"),
)

_TICDC_SIGNS: Final = (
    Sign("id is not 0", lambda s: s.members.get("id") != 0, "ticdc#canal-fields", never=True),
    Sign("data has several rows", lambda s: len(_data(s)) > 1, "ticdc#canal-one-row", never=True),
    Sign(
        "a DDL has rows or types",
        lambda s: s.members.get("isDdl") is True and any(s.members.get(n) for n in ("data", "old", "mysqlType", "sqlType")),
        "ticdc#canal-ddl",
        never=True,
    ),
    Sign(
        "a row has data before old",
        lambda s: is_row(s) and _order(s) == ["data", "old"],
        "ticdc#canal-key-order",
        releases=_V[:2],
    ),
    Sign(
        "a row has old before data",
        lambda s: is_row(s) and _order(s) == ["old", "data"],
        "ticdc#canal-key-order",
        releases=_SINCE_6_5,
    ),
    Sign(
        "old of an INSERT is [null]",
        lambda s: _type(s) == "INSERT" and s.members.get("old") == [None],
        "ticdc#canal-insert-old",
        releases=_V[:1],
    ),
    Sign(
        "old of an INSERT or a DELETE is null",
        lambda s: _type(s) in ("INSERT", "DELETE") and s.members.get("old") is None,
        "ticdc#canal-delete",
        releases=_SINCE_5_4,
    ),
    Sign("old of a DELETE has the row", lambda s: _type(s) == "DELETE" and bool(_old(s)), "ticdc#canal-delete", releases=_V[:1]),
    Sign("a row ends with CR LF", lambda s: is_row(s) and s.text.endswith("\r\n"), "ticdc#canal-crlf", releases=_V[2:4]),
    Sign(
        "a row does not end with CR LF, the default terminator",
        lambda s: is_row(s) and s.record.exact and not s.text.endswith("\r\n"),
        "ticdc#canal-crlf",
        releases=(*_V[:2], *_SINCE_7_1),
    ),
    Sign("mysqlType says unsigned", lambda s: _any_type(s, _SUFFIX), "ticdc#canal-mysql-type", releases=_SINCE_5_4),
    Sign("mysqlType says zerofill", lambda s: _any_type(s, _ZEROFILL), "ticdc#canal-mysql-type", releases=_V[3:]),
    Sign(
        "`_tidb` is there",
        lambda s: "_tidb" in s.members,
        "ticdc#canal-extension",
        "+extension",
        releases=having(TICDC, "extension"),
    ),
    Sign("`_tidb` is not there", lambda s: "_tidb" not in s.members, "ticdc#canal-extension", "-extension"),
    Sign(
        "mysqlType has lengths or labels",
        lambda s: True in _sizes(s),
        "ticdc#canal-content-compatible",
        "+content-compatible",
        releases=having(TICDC, "content-compatible"),
    ),
    Sign(
        "mysqlType lacks the length or the labels of a type that has them",
        lambda s: False in _sizes(s),
        "ticdc#canal-content-compatible",
        "-content-compatible",
    ),
    Sign(
        "old of an UPDATE lacks columns of data, and mysqlType has no lengths",
        lambda s: is_row(s) and _partial(s) and not _reduced(s) and _sizes(s) == {False},
        "ticdc#canal-old-partial",
        "+only-updated",
        releases=having(TICDC, "only-updated"),
    ),
    Sign(
        "old of an UPDATE repeats a column that did not change",
        lambda s: is_row(s) and _same(s),
        "ticdc#canal-old-partial",
        "-only-updated -content-compatible",
    ),
    Sign(
        "`_tidb` has onlyHandleKey",
        lambda s: "onlyHandleKey" in _tidb(s),
        "ticdc#canal-handle-key-only",
        "+handle-key-only",
        releases=having(TICDC, "handle-key-only"),
    ),
    Sign(
        "`_tidb` has claimCheckLocation",
        lambda s: "claimCheckLocation" in _tidb(s),
        "ticdc#canal-claim-check",
        "+claim-check",
        releases=having(TICDC, "claim-check"),
    ),
    Sign("`_tidb` has rowkey", lambda s: "rowkey" in _tidb(s), "", "+row-key", releases=having(TICDC, "row-key")),
    Sign("`_tidb` of a row has no rowkey", lambda s: is_row(s) and bool(_tidb(s)) and "rowkey" not in _tidb(s), "", "-row-key"),
    Sign(
        "a DELETE has a column outside the key",
        lambda s: (
            _type(s) == "DELETE"
            and bool(names(s.members.get("pkNames")))
            and any(set(row) - set(names(s.members.get("pkNames"))) for row in _data(s))
        ),
        "ticdc#canal-delete-handle-key",
        "-delete-handle-key",
    ),
    *packed(TICDC),
    *routing(lambda s: s.members.get("sql")),
)

_TICDC: Final = EvidenceBook(
    TICDC,
    "TiCDC (PingCAP), protocol canal-json",
    _marks,
    (
        shape("id database table pkNames isDdl type es ts sql sqlType mysqlType data old _tidb", "_tidb"),
        shape("id database table pkNames isDdl type es ts sql sqlType mysqlType old data _tidb", "_tidb"),
    ),
    _TICDC_SIGNS,
    describe=_described,
    watch=_watch_deletes,
)

# Canal

_OLD, _NEW = releases_of(CANAL)[:3], releases_of(CANAL)[3:]
_FASTJSON1, _RAW = _OLD[:2], _OLD[2:]
_ESCAPE: Final = re.compile(r"(?<!\\)(?:\\\\)*\\u([0-9A-Fa-f]{4})")
_CONTROLS: Final = re.compile(r"[\x00-\x07\x0b\x0e-\x1f]")
_WIDE: Final = re.compile("[\x7f-\x9f\u2028\u2029]")
_WIDTH: Final = re.compile(
    r"(?:tinyint\(4|smallint\(6|mediumint\(9|int\(11|bigint\(20)\)"
    r"|(?:tinyint\(3|smallint\(5|mediumint\(8|int\(10|bigint\(20)\) unsigned"
)
_LOBS: Final = re.compile(r"^(?:tiny|medium|long)?(?:text|blob)\b", re.IGNORECASE)
_DATABASE: Final = re.compile(r"\s*(?:create|drop)\s+(?:database|schema)\b", re.IGNORECASE)


@lru_cache(maxsize=1)
def _escapes(seen: Seen) -> list[str]:
    return _ESCAPE.findall(seen.text) if "\\u" in seen.text else []


def _wide_escape(text: str) -> bool:
    return 0x7F <= int(text, 16) <= 0x9F or text in ("2028", "2029")


def _short_old(seen: Seen) -> bool:
    return _type(seen) == "UPDATE" and is_row(seen) and len(_old(seen)) < len(_data(seen))


def _old_null_codes(seen: Seen) -> bool:
    codes = seen.members.get("sqlType")
    return isinstance(codes, dict) and any(codes.get(n) in (-3, -4) for n, text in _types(seen).items() if _LOBS.match(text))


def _database_ddl(seen: Seen, flag: bool) -> bool:
    found = seen.members
    return found.get("type") == "QUERY" and found.get("isDdl") is flag and bool(_DATABASE.match(str(found.get("sql"))))


def _image(option: str, says: str) -> Sign:
    return Sign(says, lambda _seen: True, "canal#row-image", f"+{option}")


_MINIMAL: Final = _image(
    "minimal", "an UPDATE lacks columns, not all of them large, that messages of the table before and after it have"
)


def _watch_images() -> Watch:
    """Sees an UPDATE without columns that earlier and later rows of the table have: the row image is not FULL."""
    known: dict[tuple[Any, Any], set[str]] = {}
    waiting: dict[tuple[Any, Any], set[str]] = {}

    def watch(seen: Seen) -> Iterator[Sign]:
        table = (seen.members.get("database"), seen.members.get("table"))
        if not is_row(seen):
            known.pop(table, None)
            waiting.pop(table, None)
            return
        if len(known) > 10_000:
            return
        types = {name for name, text in _types(seen).items() if not _LOBS.match(text) and not text.lower().startswith("json")}
        before = known.setdefault(table, set())
        if waiting.get(table, set()) & types:
            yield _MINIMAL
        if _type(seen) == "UPDATE" and before - types:
            waiting.setdefault(table, set()).update(before - types)
        before |= types

    return watch


def _topic_of_table(seen: Seen) -> bool | None:
    """Whether the topic of a row is named after its table; None where no topic is known."""
    named = f"{seen.members.get('database')}_{seen.members.get('table')}".lower()
    return seen.record.topic == named if is_row(seen) and seen.record.topic else None


_CANAL_SIGNS: Final = (
    *_FOREIGN,
    Sign("the topic of a row is its database and table", lambda s: _topic_of_table(s) is True, "canal#topics", "+dynamic-topic"),
    Sign(
        "the topic of a row is not its database and table",
        lambda s: _topic_of_table(s) is False,
        "canal#topics",
        "-dynamic-topic",
    ),
    Sign(
        "a type has the width that a server before 8.0.19 prints",
        lambda s: is_row(s) and any(map(_WIDTH.fullmatch, _types(s).values())),
        "canal#mysql-type",
        "-mysql8",
    ),
    Sign("a type is spelled as no server spells it", lambda s: _any_type(s, _SPELLED), "canal#tsdb", "-tsdb-off"),
    Sign("id is 0", lambda s: s.members.get("id") == 0, "canal#batch-id", never=True),
    Sign("es is not in whole seconds", lambda s: bool(_number(s, "es") % 1000), "canal#times", never=True),
    Sign("a list is empty", lambda s: any(s.members.get(n) == [] for n in ("data", "old", "pkNames")), "canal#ddl", never=True),
    Sign(
        "old of an INSERT or a DELETE is not null",
        lambda s: is_row(s) and _type(s) != "UPDATE" and s.members.get("old") is not None,
        "canal#old-of-updates",
        never=True,
    ),
    Sign("gtid is there", lambda s: "gtid" in s.members, "canal#gtid", releases=_NEW),
    Sign("gtid is not there", lambda s: "gtid" not in s.members, "canal#gtid", releases=_OLD),
    Sign("gtid is not empty", lambda s: bool(s.members.get("gtid")), "canal#gtid", "-mariadb", releases=_NEW),
    Sign("a control character stands raw", lambda s: bool(_CONTROLS.search(s.text)), "canal#raw-controls", releases=_RAW),
    Sign(
        "an escape has upper-case hex digits, or is of a character above U+007E",
        lambda s: any(_wide_escape(one) or (one != one.lower() and one < "0020") for one in _escapes(s)),
        "canal#escapes",
        releases=_FASTJSON1,
    ),
    Sign(
        "an escape has lower-case hex digits",
        lambda s: any(one != one.upper() and one < "0020" for one in _escapes(s)),
        "canal#escapes",
        releases=_NEW,
    ),
    Sign(
        "a control character is escaped by its number",
        lambda s: any(one < "0020" for one in _escapes(s)),
        "canal#raw-controls",
        releases=(*_FASTJSON1, *_NEW),
    ),
    Sign(
        "a character of U+007F to U+009F, U+2028 or U+2029 stands as it is",
        lambda s: bool(_WIDE.search(s.text)),
        "canal#escapes",
        releases=(*_RAW, *_NEW),
    ),
    Sign("old has fewer elements than data", _short_old, "canal#old-left-out", releases=_OLD),
    Sign("old has {} for a row without a change", lambda s: is_row(s) and {} in _old(s), "canal#old-empty", releases=_NEW),
    Sign("sqlType of a text or blob is -3 or -4, as of NULL", _old_null_codes, "canal#sql-type", releases=_OLD),
    Sign("CREATE or DROP DATABASE has isDdl false", lambda s: _database_ddl(s, False), "canal#database-ddl", releases=("1.1.4",)),
    Sign(
        "CREATE or DROP DATABASE has isDdl true",
        lambda s: _database_ddl(s, True),
        "canal#database-ddl",
        releases=releases_of(CANAL)[1:],
    ),
)


def _number(seen: Seen, name: str) -> int:
    found = seen.members.get(name)
    return found if isinstance(found, int) else 0


_CANAL: Final = EvidenceBook(
    CANAL,
    "Canal (Alibaba), flat messages",
    _marks,
    (shape("data database es gtid id isDdl mysqlType old pkNames sql sqlType table ts type", "gtid"),),
    _CANAL_SIGNS,
    describe=_described,
    watch=_watch_images,
)

# CloudCanal's Canal Json


def _single_old(seen: Seen) -> Any:
    """The `old` of an INSERT, `seen` if it has none; () if the message is no INSERT."""
    return seen.members.get("old", seen) if _type(seen) == "INSERT" and is_row(seen) else ()


_CLOUDCANAL_SIGNS: Final = (
    *_FOREIGN,
    Sign("data is no list", lambda s: not isinstance(s.members.get("data"), list), "cloudcanal#canal-batch", never=True),
    Sign("pkNames is no list", lambda s: not isinstance(s.members.get("pkNames"), list), "cloudcanal#canal-keys", never=True),
    Sign(
        "a row has tableChanges",
        lambda s: s.members.get("isDdl") is not True and "tableChanges" in s.members,
        "cloudcanal#canal-members",
        never=True,
    ),
    Sign(
        "old of an UPDATE has no element for a row",
        lambda s: is_row(s) and _type(s) == "UPDATE" and len(_old(s)) < len(_data(s)),
        "cloudcanal#canal-row-example",
        never=True,
    ),
    Sign("old of an INSERT is []", lambda s: _single_old(s) == [], "cloudcanal#canal-old-open", "-null-old -without-old"),
    Sign("old of an INSERT is null", lambda s: _single_old(s) is None, "cloudcanal#canal-old-open", "+null-old -without-old"),
    Sign("an INSERT has no old", lambda s: _single_old(s) is s, "cloudcanal#canal-old-open", "+without-old -null-old"),
    Sign("id is not 0", lambda s: s.members.get("id") != 0, "cloudcanal#canal-id", "+numbered"),
    Sign("id is 0", lambda s: s.members.get("id") == 0, "cloudcanal#canal-id", "-numbered"),
    Sign(
        "a DELETE has its row in old and in data",
        lambda s: _type(s) == "DELETE" and bool(_old(s)) and bool(_data(s)),
        "cloudcanal#canal-old-open",
        "+deleted-in-both",
    ),
    Sign(
        "a DELETE has no row in old",
        lambda s: _type(s) == "DELETE" and is_row(s) and not _old(s),
        "cloudcanal#canal-old-open",
        "-deleted-in-both",
    ),
    Sign("old of an UPDATE lacks columns of data", _partial, "cloudcanal#before-whole-open", "+partial-old"),
    Sign("old of an UPDATE repeats a value of data", _same, "cloudcanal#before-whole-open", "-partial-old"),
    Sign("es has milliseconds", lambda s: bool(_number(s, "es") % 1000), "cloudcanal#canal-es", "+milliseconds"),
)

_CLOUDCANAL: Final = EvidenceBook(
    CLOUDCANAL,
    "CloudCanal (ClouGence), Canal Json",
    _marks,
    (shape("data database es id isDdl mysqlType old pkNames sql sqlType table tableChanges ts type", "old tableChanges"),),
    _CLOUDCANAL_SIGNS,
    describe=_described,
)

# The dialects of cloud services: messages that have nothing of their own are Alibaba's as well, and are not claimed


def _marks_dialect(seen: Seen) -> bool:
    return _marks(seen) and any(told(seen) for told in (_loaded, _uncoded, _in_seconds, _moved, _is_drs))


def _stamps(seen: Seen) -> list[str]:
    found = (row.get(name) for name, type in _types(seen).items() if type == "timestamp" for row in _data(seen))
    return [one for one in found if isinstance(one, str)]


def _unzoned(text: str) -> bool:
    return not text.endswith(_OFFSET) and not text.startswith("0000")


_OFFSET: Final = " +00:00"
_TENCENT, _HUAWEI, _ALIYUN, _CKAFKA = releases_of(DIALECTS)
_DIALECTS: Final = EvidenceBook(
    DIALECTS,
    "Tencent DTS, Huawei DRS, Aliyun DTS or Tencent CKafka's connector, Canal JSON",
    _marks_dialect,
    (
        shape("data database es gtid id isDdl mysqlType old pkNames sql sqlType table ts type", "gtid"),
        shape(_DRS),
    ),
    (
        Sign("members are in the order of Huawei DRS", _is_drs, "canal-dialects#bare-types", releases=(_HUAWEI,)),
        Sign(
            "members are in the order of the alphabet",
            lambda s: not _is_drs(s),
            "canal-dialects#modes",
            releases=(_TENCENT, _ALIYUN, _CKAFKA),
        ),
        Sign("es is in seconds", _in_seconds, "canal-dialects#es", releases=(_CKAFKA,)),
        Sign(
            "es is in milliseconds",
            lambda s: _number(s, "es") >= _SECONDS,
            "canal-dialects#es",
            releases=(_TENCENT, _HUAWEI, _ALIYUN),
        ),
        Sign("type is INIT", lambda s: _type(s) == "INIT", "canal-dialects#init", releases=(_TENCENT, _HUAWEI)),
        Sign("type is DDL or INIT_DDL", lambda s: _type(s) in ("DDL", "INIT_DDL"), "canal-dialects#ddl", releases=(_HUAWEI,)),
        Sign("a row has no sqlType", _uncoded, "canal-dialects#no-codes", releases=(_TENCENT, _CKAFKA)),
        Sign(
            "a deleted row stands in old, in the order of the alphabet",
            lambda s: _moved(s) and not _is_drs(s),
            "canal-dialects#deleted-in-old",
            "+deleted-in-old",
            releases=(_ALIYUN,),
        ),
        Sign("gtid is there", lambda s: "gtid" in s.members, "canal-dialects#modes", "+gtid", releases=(_TENCENT,)),
        Sign("gtid is not there", lambda s: "gtid" not in s.members, "canal-dialects#modes", "-gtid"),
        Sign(
            "a TIMESTAMP has its offset",
            lambda s: any(text.endswith(_OFFSET) for text in _stamps(s)),
            "canal-dialects#offset",
            "-compatible",
            releases=(_TENCENT,),
        ),
        Sign(
            "a TIMESTAMP has no offset",
            lambda s: _uncoded(s) and any(map(_unzoned, _stamps(s))),
            "canal-dialects#offset",
            "+compatible",
        ),
    ),
    describe=_described,
)

BOOKS: Final = (_TICDC, _CANAL, _CLOUDCANAL, _DIALECTS)
