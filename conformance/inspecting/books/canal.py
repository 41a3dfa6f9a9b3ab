"""Facts of the formats that write Canal's flat message or follow it: Canal, TiCDC's Canal-JSON,
CloudCanal's Canal Json, and the dialects of cloud services, whose messages without anything of
their own are Alibaba's as well and are not claimed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any, Final

from conformance.inspecting.books.ticdc import unquoted
from conformance.inspecting.evidence import Described, Watch, Watched, names, rows, texts
from conformance.inspecting.opening import Seen

_SECONDS: Final = 100_000_000_000
_DRS: Final = "mysqlType id es ts database table type isDdl sql sqlType data old pkNames"
_SIZED: Final = re.compile(r"^(?:(?:var)?(?:char|binary)|decimal|enum|set|bit|bigint|year)\b(\()?")
"""Types that have parameters in content-compatible messages whatever the column is."""
_ESCAPE: Final = re.compile(r"(?<!\\)(?:\\\\)*\\u([0-9A-Fa-f]{4})")
_LOBS: Final = re.compile(r"^(?:tiny|medium|long)?(?:text|blob)\b", re.IGNORECASE)


def is_row(seen: Seen) -> bool:
    """Whether the message is a row change."""
    members = seen.members
    kind, data = members.get("type"), members.get("data")
    return (
        kind in ("INSERT", "UPDATE", "DELETE")
        and members.get("isDdl") is False
        and isinstance(data, list)
    )


def statement(seen: Seen) -> str:
    """The statement without what it quotes."""
    return unquoted(seen.members.get("sql"))


def lists(seen: Seen) -> set[str]:
    """The members that are lists."""
    return {name for name, value in seen.members.items() if isinstance(value, list)}


def data_rows(seen: Seen) -> list[Mapping[str, Any]]:
    """The rows of `data`."""
    return rows(seen.members.get("data"))


def old_rows(seen: Seen) -> list[Mapping[str, Any]]:
    """The rows of `old`."""
    return rows(seen.members.get("old"))


def several_rows(seen: Seen) -> bool:
    """Whether `data` has more than one row."""
    return len(data_rows(seen)) > 1


def short_old(seen: Seen) -> bool:
    """Whether `old` has fewer rows than `data`."""
    return len(old_rows(seen)) < len(data_rows(seen))


def _types(seen: Seen) -> Mapping[str, str]:
    return texts(seen.members.get("mysqlType"))


def _update_of_one(seen: Seen) -> Iterator[tuple[Mapping[str, Any], Mapping[str, Any]]]:
    data, old = data_rows(seen), old_rows(seen)
    if seen.members.get("type") == "UPDATE" and len(data) == len(old) == 1:
        yield data[0], old[0]


def same(seen: Seen) -> bool:
    """Whether `old` of an UPDATE of one row repeats a value of `data`."""
    return any(
        data.get(name, seen) == value
        for data, old in _update_of_one(seen)
        for name, value in old.items()
    )


def partial(seen: Seen) -> bool:
    """Whether `old` of an UPDATE of one row lacks a column of `data`."""
    return any(not data.keys() <= old.keys() for data, old in _update_of_one(seen))


def described(seen: Seen) -> Described | None:
    """The table of a message with types."""
    members, types = seen.members, _types(seen)
    if not types or not isinstance(members.get("table"), str):
        return None
    return Described(
        str(members.get("database")), members["table"], types, names(members.get("pkNames"))
    )


def milliseconds(seen: Seen) -> int:
    """How far `es` is from a whole second."""
    es = seen.members.get("es")
    return es % 1000 if isinstance(es, int) else 0


def sides(seen: Seen) -> list[str]:
    """The images in the order of the message."""
    return [name for name in seen.members if name in ("data", "old")]


def line_end(seen: Seen) -> str:
    """`crlf`, `other`, or "" if the input does not tell."""
    return "crlf" if seen.text.endswith("\r\n") else "other" if seen.record.exact else ""


def sized(seen: Seen) -> set[bool]:
    """Whether types that always have parameters have them."""
    return {match[1] is not None for text in _types(seen).values() if (match := _SIZED.match(text))}


def reduced(seen: Seen) -> bool:
    """Whether TiCDC says that a row is not whole."""
    extension = seen.members.get("_tidb")
    return isinstance(extension, dict) and not extension.keys().isdisjoint(
        ("onlyHandleKey", "claimCheckLocation")
    )


def beyond_key(seen: Seen) -> bool:
    """Whether a row has more than the columns of its key."""
    keys = set(names(seen.members.get("pkNames")))
    return bool(keys) and any(set(row) - keys for row in data_rows(seen))


def watch_deletes() -> Watch:
    """Sees a DELETE with only the key of a table whose earlier and later rows have more columns."""
    wide: set[tuple[Any, Any]] = set()
    waiting: set[tuple[Any, Any]] = set()

    def watch(seen: Seen) -> Iterator[Watched]:
        members = seen.members
        table, keys, data = (
            (members.get("database"), members.get("table")),
            names(members.get("pkNames")),
            data_rows(seen),
        )
        if not is_row(seen) or len(wide) > 10_000:
            return
        if members["type"] == "DELETE":
            if not reduced(seen) and keys and len(data) == 1 and set(data[0]) == set(keys):
                waiting.update({table} & wide)
        elif any(set(row) > set(keys) for row in data):
            wide.add(table)
            if table in waiting:
                yield Watched.KEY_ALONE

    return watch


@lru_cache(maxsize=1)
def escapes(seen: Seen) -> set[str]:
    """The kinds of escapes by number: of a `control` character, in `upper` or `lower` case, of a
    character that is `wide`.
    """
    kinds = set()
    for code in _ESCAPE.findall(seen.text) if "\\u" in seen.text else ():
        if code < "0020":
            kinds.add("control")
            kinds.update(
                name
                for name, plain in (("upper", code.lower()), ("lower", code.upper()))
                if code != plain
            )
        elif 0x7F <= int(code, 16) <= 0x9F or code in ("2028", "2029"):
            kinds.add("wide")
    return kinds


def old_null_codes(seen: Seen) -> bool:
    """Whether a large column has the code that fits its NULL, not its type."""
    codes = seen.members.get("sqlType")
    return isinstance(codes, dict) and any(
        codes.get(n) in (-3, -4) for n, text in _types(seen).items() if _LOBS.match(text)
    )


def watch_images() -> Watch:
    """Sees an UPDATE without columns that earlier and later rows of the table have: the row image
    is not FULL.
    """
    known: dict[tuple[Any, Any], set[str]] = {}
    waiting: dict[tuple[Any, Any], set[str]] = {}

    def watch(seen: Seen) -> Iterator[Watched]:
        table = (seen.members.get("database"), seen.members.get("table"))
        if not is_row(seen):
            known.pop(table, None)
            waiting.pop(table, None)
            return
        if len(known) > 10_000:
            return
        types = {
            name
            for name, text in _types(seen).items()
            if not _LOBS.match(text) and not text.lower().startswith("json")
        }
        before = known.setdefault(table, set())
        if waiting.get(table, set()) & types:
            yield Watched.LACKING
        if seen.members["type"] == "UPDATE" and before - types:
            waiting.setdefault(table, set()).update(before - types)
        before |= types

    return watch


def topic_of_table(seen: Seen) -> bool | None:
    """Whether the topic of a row is named after its table; None where no topic is known."""
    named = f"{seen.members.get('database')}_{seen.members.get('table')}".lower()
    return seen.record.topic == named if is_row(seen) and seen.record.topic else None


def uncoded(seen: Seen) -> bool:
    """Whether a row has no codes of types."""
    return seen.members.get("sqlType") is None and (
        is_row(seen) or seen.members.get("type") == "INIT"
    )


def es_unit(seen: Seen) -> str:
    """The unit in which `es` is."""
    es = seen.members.get("es")
    return (
        "" if not isinstance(es, int) or es <= 0 else "seconds" if es < _SECONDS else "milliseconds"
    )


def is_drs(seen: Seen) -> bool:
    """Whether the members are those of Huawei DRS, in its order."""
    return list(seen.members) == _DRS.split()


def stamps(seen: Seen) -> list[Any]:
    """The values of TIMESTAMP columns."""
    return [
        row.get(name)
        for name, type in _types(seen).items()
        if type == "timestamp"
        for row in data_rows(seen)
    ]
