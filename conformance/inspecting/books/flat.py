"""Evidence of the formats of one JSON object for each row: Maxwell's and Oracle GoldenGate's."""

from __future__ import annotations

import re
from typing import Any, Final

from conformance.inspecting.books.connect import kind_of, member_object
from conformance.inspecting.evidence import Described, EvidenceBook, Sign, names, shape
from conformance.inspecting.opening import Seen

MAXWELL: Final = "maxwell-json"
OGG: Final = "ogg-json"


def _is_live(seen: Seen) -> bool:
    return seen.members.get("type") in ("insert", "update", "delete")


def _row(seen: Seen) -> dict[str, Any]:
    return dict(member_object(seen.members.get("data")))


def _has(seen: Seen, value: Any) -> bool:
    return any(one == value for side in ("data", "old") for one in member_object(seen.members.get(side)).values())


def _zero(seen: Seen) -> bool:
    return any(isinstance(one, str) and one.startswith("0000-00-00") for one in _row(seen).values())


def _maxwell_table(seen: Seen) -> Described | None:
    types = {name: kind_of(value) for name, value in _row(seen).items()}
    keys = names(seen.members.get("primary_key_columns"))
    return Described(str(seen.members.get("database")), str(seen.members.get("table")), types, keys) if types else None


def _told(option: str, member: str, citation: str) -> tuple[Sign, Sign]:
    """A member that a row of the binlog has with an option alone."""
    return (
        Sign(f"{member} is there", lambda s: member in s.members, citation, f"+{option}"),
        Sign(f"{member} is not there", lambda s: _is_live(s) and member not in s.members, citation, f"-{option}"),
    )


_OPTIONAL: Final = "xid xoffset commit position server_id thread_id primary_key primary_key_columns old"
_MAXWELL: Final = EvidenceBook(
    MAXWELL,
    "Maxwell's daemon, JSON",
    lambda s: (
        s.container == "json" and {"database", "type", "ts"} <= s.members.keys() and bool({"data", "sql"} & s.members.keys())
    ),
    (
        shape(
            "database table type ts xid xoffset commit position server_id thread_id primary_key primary_key_columns data old",
            _OPTIONAL,
        ),
        shape("type database table old def ts sql position", "table old def position"),
    ),
    (
        Sign("type is in upper case", lambda s: str(s.members.get("type")).isupper(), "maxwell#type", never=True),
        *_told("position", "position", "maxwell#position"),
        *_told("primary-keys", "primary_key_columns", "maxwell#keys"),
        *_told("ids", "server_id", "maxwell#members"),
        Sign("rows are numbered", lambda s: "xoffset" in s.members, "maxwell#members", "+xoffset"),
        Sign("xid is there", lambda s: "xid" in s.members, "maxwell#members", "-without-commit-info"),
        Sign("xid is not there", lambda s: _is_live(s) and "xid" not in s.members, "maxwell#members", "+without-commit-info"),
        Sign("a value is null", lambda s: _has(s, None), "maxwell#nulls-left-out", "-without-nulls"),
        Sign("a zero date is there", _zero, "maxwell#zero-dates", "-null-zerodates"),
        Sign("a statement is a message", lambda s: "sql" in s.members, "maxwell#ddl", "+ddl"),
    ),
    describe=_maxwell_table,
)

# Oracle GoldenGate


def _images(seen: Seen) -> list[dict[str, Any]]:
    return [dict(member_object(seen.members.get(side))) for side in ("before", "after") if seen.members.get(side) is not None]


def _is(seen: Seen, op: str) -> bool:
    return seen.members.get("op_type") == op


def _matches(seen: Seen, pattern: re.Pattern[str]) -> bool:
    return any(isinstance(one, str) and pattern.fullmatch(one) for image in _images(seen) for one in image.values())


def _ogg_table(seen: Seen) -> Described | None:
    database, _, table = str(seen.members.get("table")).partition(".")
    types = {name: kind_of(value) for image in _images(seen) for name, value in image.items()}
    return Described(database, table, types, names(seen.members.get("primary_keys"))) if types else None


_COLON: Final = re.compile(r"\d{4}-\d\d-\d\d:\d\d:\d\d:\d\d(?:\.\d+)?")
_BLANK: Final = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(?:\.\d+)?")
_OGG: Final = EvidenceBook(
    OGG,
    "Oracle GoldenGate, JSON formatter",
    lambda s: s.container == "json" and {"table", "op_type", "op_ts"} <= s.members.keys(),
    (shape("table op_type op_ts current_ts pos primary_keys tokens before after", "primary_keys tokens before after"),),
    (
        Sign("primary_keys is there", lambda s: "primary_keys" in s.members, "ogg#keys", "+primary-keys"),
        Sign("primary_keys is not there", lambda s: "primary_keys" not in s.members, "ogg#keys", "-primary-keys"),
        Sign("tokens is there", lambda s: "tokens" in s.members, "ogg#members", "+tokens"),
        Sign("tokens is not there", lambda s: "tokens" not in s.members, "ogg#members", "-tokens"),
        Sign(
            "the missing image is null",
            lambda s: any(side in s.members and s.members[side] is None for side in ("before", "after")),
            "ogg#images",
            "+null-images",
        ),
        Sign(
            "the missing image is not there",
            lambda s: (_is(s, "I") and "before" not in s.members) or (_is(s, "D") and "after" not in s.members),
            "ogg#images",
            "-null-images",
        ),
        Sign(
            "a value is a number",
            lambda s: any(isinstance(one, int | float) for image in _images(s) for one in image.values()),
            "ogg#values",
            "-strings",
        ),
        Sign(
            "an UPDATE has no before",
            lambda s: _is(s, "U") and s.members.get("before") is None,
            "ogg#no-before",
            "+without-before",
        ),
        Sign(
            "an UPDATE has before", lambda s: _is(s, "U") and s.members.get("before") is not None, "ogg#images", "-without-before"
        ),
        Sign("a colon stands between date and time", lambda s: _matches(s, _COLON), "ogg#dates", "+colons"),
        Sign("a blank stands between date and time", lambda s: _matches(s, _BLANK), "ogg#dates", "-colons"),
    ),
    describe=_ogg_table,
)

BOOKS: Final = (_MAXWELL, _OGG)
