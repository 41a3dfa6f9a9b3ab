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
from conformance.rules.tables import Legal, check_name, checked
from generators.errors import UsageError

POSITIONS: Final[Mapping[str, tuple[str, tuple[int, ...]]]] = {
    "number": (r"^(\d+)$", (1,)),
    "file:position": (r"^[^:]*?(\d+):(\d+)$", (1, 2)),
    "file:position:row": (r"^[^:]*?(\d+):(\d+):(\d+)$", (1, 2, 3)),
    "offset@file": (r"^(\d+)@(\d+)$", (2, 1)),
}
"""The forms of `position`: a pattern, and its groups from the most significant one on."""
KEYS: Final = ("change", "schema", "table")


@dataclass(frozen=True, slots=True)
class Order:
    """What says which of two changes of one row is the newer one.

    `positions` are patterns of `position`, each with the numbers of its groups from the most
    significant one on; a position that none matches says nothing, and `commit_time` stands in.
    Without patterns arrival decides among changes of one commit time. `deletes_first` says that of
    several changes of one position a delete is the older; otherwise, and among the rest, what came
    later is the newer. `arrival` says that the messages do not tell their order: whatever position
    and commit time some have, what came later is the newer. `keys` is where the key's columns are
    told: change (each row), schema (messages of their own, by version), table (not always: whoever
    reads has to know the table). `watermarks` says that a WATERMARK closes its partition up to its
    position. `compacted` says that records have the key of their row, so that topics of them may be
    compacted. `placeholders` are the texts that stand for a value that was not sent.
    `fixed_width` says that all positions have one number of digits.
    `stamps_in_order` says that the timestamps of records are in the order of the commits. `tried`
    is the profile on which the self test tries wrong keepers of tables, if the first that can be
    kept does not give each stream rule something to own.
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
    tried: str = ""

    def has(self, need: str) -> bool:
        """Whether it has what a stream rule or a keeper's mistake needs: order, schema, watermarks,
        compacted, unsent values, positions that are finer than commits, without watermarks, such
        positions of several lengths, or "" for nothing.
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
    "tried": str,
}
_FIELDS: Final[Mapping[str, Legal]] = {
    **_PLAIN,
    **dict.fromkeys(("positions", "placeholders"), list),
    "provenance": tuple(Provenance),
    "cites": str,
}


@cache
def order_of(fmt: str) -> Order:
    """The order of a format. Raises UnknownName, and UsageError with file and line for what is
    wrong in its file.
    """
    rule_book = book(fmt)
    try:
        return read(rule_book.order)
    except UsageError as error:
        raise UsageError(f"{rule_book.place}: order: {error}") from None


def read(data: Mapping[str, Any]) -> Order:
    """An order from the table of a file of rules. Raises UsageError."""
    checked(data, _FIELDS)
    return Order(
        tuple(
            POSITIONS[check_name(name, "position", POSITIONS)] for name in data.get("positions", ())
        ),
        parse_citations(data.get("cites", "")),
        Provenance(data["provenance"]),
        placeholders=tuple(data.get("placeholders", ())),
        **{name: data[name] for name in _PLAIN if name in data},
    )
