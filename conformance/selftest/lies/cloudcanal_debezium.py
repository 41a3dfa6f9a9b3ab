"""The lies about CloudCanal's Debezium Envelope."""

from __future__ import annotations

from typing import Final

from conformance.selftest.lies.altering import in_json, put, swap
from conformance.selftest.lies.lie import Alter, Lie


def _cell(value: str | int) -> Alter:
    """Column `c` of the new row has this value."""
    return in_json(put(value, "payload", "after", "c"))


_TYPED: Final = "2022+typed+null-images+op-a"
_SWAPPED: Final = in_json(swap("after", "before", "payload"))

LIES: Final = (
    Lie("images-swapped", "2022", "image/orientation", "image/orientation", alter=_SWAPPED),
    Lie("connector", "2022", None, alter=in_json(put("mysql", "payload", "source", "connector"))),
    Lie("null-images", "2022", None, "*", "empty_images", False),
    Lie("ddl-op", "2022", None, "*", "ddl_op", True),
    Lie("schemaless", "2022", None, "*", "schemas", False),
    Lie("order of the sample", "2022", None, "*", "sample", True),
    Lie("labels-escaped", "2022", "value/wire", "enum-quoted/member-2", alter=_cell("a\\,b")),
    Lie("year-zero", _TYPED, "value/wire", "year/zero", alter=_cell(1900)),
    Lie("number for a text", "2022", None, "int/max", alter=_cell(2147483647)),
)
