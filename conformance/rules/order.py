"""How a format orders the changes of one row: data that each format's rules bring as `ORDER`, since its documents say it."""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from functools import cache
from typing import Final

from conformance.rules.base import Citation, Provenance
from generators.errors import UnknownName
from generators.wire_format import FORMATS, module_name

NUMBER: Final = (r"^(\d+)$", (1,))
FILE_POSITION: Final = (r"^[^:]*?(\d+):(\d+)$", (1, 2))
FILE_POSITION_ROW: Final = (r"^[^:]*?(\d+):(\d+):(\d+)$", (1, 2, 3))
OFFSET_AT_FILE: Final = (r"^(\d+)@(\d+)$", (2, 1))


@dataclass(frozen=True, slots=True)
class Order:
    """What says which of two changes of one row is the newer one.

    `positions` are patterns of `position`, each with the numbers of its groups from the most significant one on; a position that
    none matches says nothing, and `commit_time` stands in. Without patterns arrival decides among changes of one commit time.
    `deletes_first` says that of several changes of one position a delete is the older; otherwise, and among the rest, what came
    later is the newer. `keys` is where the key's columns are told: change (each row), schema (messages of their own, by version),
    table (not always: whoever reads has to know the table). `watermarks` says that a WATERMARK closes its partition up to its
    position. `compacted` says that records have the key of their row, so that topics of them may be compacted. `placeholders` are
    the texts that stand for a value that was not sent. `tried` is the profile on which the self test tries wrong keepers of
    tables, where all rules of streams have something to own in it.
    """

    positions: tuple[tuple[str, tuple[int, ...]], ...]
    citations: tuple[Citation, ...]
    provenance: Provenance = Provenance.DOCUMENTED
    deletes_first: bool = False
    keys: str = "change"
    watermarks: bool = False
    compacted: bool = False
    placeholders: tuple[str, ...] = ()
    tried: str = ""


@cache
def order_of(fmt: str) -> Order:
    """The order of a format. Raises UnknownName."""
    if fmt not in FORMATS:
        raise UnknownName("format", fmt, FORMATS)
    found = importlib.import_module(f"conformance.rules.formats.{module_name(fmt)}").ORDER
    assert isinstance(found, Order)
    return found
