"""Evidence of the formats of one JSON object for each row: Maxwell's."""

from __future__ import annotations

from typing import Any, Final

from conformance.inspecting.books.connect import kind_of, member_object
from conformance.inspecting.evidence import Described, EvidenceBook, Sign, names, shape
from conformance.inspecting.opening import Seen

MAXWELL: Final = "maxwell-json"


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
        Sign(f"{member} is there", lambda s: member in s.members, citation, given=(option,)),
        Sign(f"{member} is not there", lambda s: _is_live(s) and member not in s.members, citation, without=(option,)),
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
        Sign("rows are numbered", lambda s: "xoffset" in s.members, "maxwell#members", given=("xoffset",)),
        Sign("xid is there", lambda s: "xid" in s.members, "maxwell#members", without=("without-commit-info",)),
        Sign(
            "xid is not there",
            lambda s: _is_live(s) and "xid" not in s.members,
            "maxwell#members",
            given=("without-commit-info",),
        ),
        Sign("a value is null", lambda s: _has(s, None), "maxwell#nulls-left-out", without=("without-nulls",)),
        Sign("a zero date is there", _zero, "maxwell#zero-dates", without=("null-zerodates",)),
        Sign("a statement is a message", lambda s: "sql" in s.members, "maxwell#ddl", given=("ddl",)),
    ),
    describe=_maxwell_table,
)

BOOKS: Final = (_MAXWELL,)
