"""How a format orders the changes of one row: `[order]` of its file of rules, since its documents
say it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, Final

from conformance.rules.book import book, parse_citations
from conformance.rules.rule import Citation, Provenance
from conformance.rules.tables import Legal, check_fields, check_name
from generators.errors import UsageError

LSN: Final = "([0-9a-f]{8}):([0-9a-f]{8}):([0-9a-f]{4})"
"""A place in SQL Server's log: file, block and slot in hexadecimal digits."""
POSITIONS: Final[Mapping[str, tuple[str, tuple[int, ...]]]] = {
    "number": (r"^(\d+)$", (1,)),
    "file:position": (r"^[^:]*?(\d+):(\d+)$", (1, 2)),
    "file:position:row": (r"^[^:]*?(\d+):(\d+):(\d+)$", (1, 2, 3)),
    "commit_lsn:change_lsn:event_serial_no": (
        rf"^{LSN}:{LSN}:([0-9a-f]+)$",
        (1, 2, 3, 4, 5, 6, 7),
    ),
    "commit_lsn": (rf"^{LSN}$", (1, 2, 3)),
    "offset@file": (r"^(\d+)@(\d+)$", (2, 1)),
}
"""The forms that the field `position` has in some format, by name: a regular expression, and the
numbers of its groups, from the most significant one on.
"""


def base_of(pattern: str) -> int:
    """The base of the numbers in positions that match the pattern: 16 if it has hexadecimal digits,
    else 10. (Decimal numbers without leading zeros keep their order if they are read as hexadecimal
    ones.)
    """
    return 16 if "[0-9a-f]" in pattern else 10


def number_sql(pattern: str, group: int) -> str:
    """Spark SQL for the number that a group of the regular expression `pattern` finds in the column
    `position`.
    """
    digits = f"regexp_extract(position, r'{pattern}', {group})"
    if base_of(pattern) == 16:
        digits = f"conv({digits}, 16, 10)"
    return f"CAST({digits} AS decimal(20,0))"


KEYS: Final = ("change", "schema", "table")
"""Where messages name the key's columns, as `Order.keys` says it."""


@dataclass(frozen=True, slots=True)
class Order:
    """How a format tells which of two changes of one row is the newer one.

    `positions` are regular expressions for the field `position`. Each comes with the numbers of its
    groups, the most significant group first. Where no expression matches, `commit_time` decides;
    without expressions, changes of one commit time are ordered by arrival. `deletes_first`: of
    several changes at one position a delete is the older one. All other changes at one position are
    ordered by arrival. `arrival`: the messages do not tell the order, so that arrival alone
    decides, whatever position and commit time they have. `keys` says where the key's columns are
    named: change (in each row), schema (in messages of their own, by version), table (not in every
    message: the reader must know the table). `watermarks`: a WATERMARK closes its partition up to
    its position. `compacted`: a record's key is the key of its row, so that the topic may be
    compacted. `placeholders` are texts that stand for a value that was not sent. `fixed_width`: all
    positions have the same number of digits. `stamps_in_order`: the timestamps of records are in
    the order of the commits. `profile_for_wrong_keepers` is the profile with which the self
    test tries wrong keepers of tables; it is only set where the first profile that can be kept does
    not exercise every stream rule.
    """

    positions: tuple[tuple[str, tuple[int, ...]], ...]
    citations: tuple[Citation, ...]
    provenance: Provenance = Provenance.DOCUMENTED
    deletes_first: bool = False
    arrival: bool = False
    keys: str = "change"
    watermarks: bool = False
    compacted: bool = False
    fixed_width: bool = False
    placeholders: tuple[str, ...] = ()
    stamps_in_order: bool = True
    profile_for_wrong_keepers: str = ""

    def has(self, need: str) -> bool:
        """Whether the format has what a stream rule needs to apply, or a mistake of a keeper (a
        program that keeps a table from the stream) to show. `need` is one of: "order" (messages
        tell the order), "positions" (finer than commits, without watermarks), "lengths" (such
        positions with different numbers of digits), "schema" (the key's columns are named in
        messages of their own), "watermarks", "compacted", "unsent" (placeholders for values that
        were not sent), or "" for nothing.
        """
        return {
            "": True,
            "order": not self.arrival,
            "positions": bool(self.positions) and not self.watermarks,
            "lengths": bool(self.positions) and not self.watermarks and not self.fixed_width,
            "schema": self.keys == "schema",
            "watermarks": self.watermarks,
            "compacted": self.compacted,
            "unsent": bool(self.placeholders),
        }[need]


_PLAIN: Final[Mapping[str, Legal]] = {
    **dict.fromkeys(
        ("deletes_first", "arrival", "watermarks", "compacted", "fixed_width", "stamps_in_order"),
        bool,
    ),
    "keys": KEYS,
    "profile_for_wrong_keepers": str,
}
"""The fields of `[order]` that go into `Order` as they stand, with what their values may be."""
_FIELDS: Final[Mapping[str, Legal]] = {
    **_PLAIN,
    **dict.fromkeys(("positions", "placeholders"), list),
    "provenance": tuple(Provenance),
    "cites": str,
}
"""All legal fields of `[order]`, with what their values may be."""


@cache
def order_of(fmt: str) -> Order:
    """How a format orders the changes of a row. Raises UnknownName for an unknown format, and
    UsageError, which names file and line, for an error in its file.
    """
    rule_book = book(fmt)
    try:
        return parse_order(rule_book.order)
    except UsageError as error:
        raise UsageError(f"{rule_book.place}: order: {error}") from None


def parse_order(data: Mapping[str, Any]) -> Order:
    """Parses the table `[order]` of a file of rules. Raises UsageError for an error in it."""
    check_fields(data, _FIELDS)
    return Order(
        tuple(
            POSITIONS[check_name(name, "position", POSITIONS)] for name in data.get("positions", ())
        ),
        parse_citations(data.get("cites", "")),
        Provenance(data["provenance"]),
        placeholders=tuple(data.get("placeholders", ())),
        **{name: data[name] for name in _PLAIN if name in data},
    )
