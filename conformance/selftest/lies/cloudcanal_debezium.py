"""The lies about CloudCanal's Debezium Envelope."""

from __future__ import annotations

from typing import Final

from conformance.selftest.lies.altering import in_json, put, swap
from conformance.selftest.lies.base import Alter, Lie


def _cell(value: str | int) -> Alter:
    """Column `c` of the new row has this value."""
    return in_json(put(value, "payload", "after", "c"))


_SWAPPED: Final = in_json(swap("after", "before", "payload"))

LIES: Final = (
    Lie("images-swapped", "2022", "image/orientation", "image/orientation", alter=_SWAPPED),
    Lie("connector", "2022", None, alter=in_json(put("mysql", "payload", "source", "connector"))),
    Lie("null-images", "2022", None, "*", "empty_images", False),
    Lie("ddl-op", "2022", None, "*", "ddl_op", True),
    Lie("schemaless", "2022", None, "*", "schemas", False),
    Lie("labels-escaped", "2022", "value/labels", "enum-quoted/member-2", alter=_cell("a\\,b")),
    Lie("year-zero", "2022", "value/year", "year/zero", alter=_cell(1900)),
)
