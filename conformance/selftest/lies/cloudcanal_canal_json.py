"""The lies about CloudCanal's Canal Json."""

from __future__ import annotations

from typing import Final

from conformance.selftest.lies._cloudcanal import cell, shared
from conformance.selftest.lies.lie import Lie

LIES: Final = (
    *shared("2022+without-old+numbered", "image/whole-old", "old", "ts", "ab\0\0"),
    Lie("enum labels", "2022", "value/wire", "enum/member-1", alter=cell("a")),
    Lie("deleted row in old too", "2022", None, "shape/delete", "deleted_in", "both"),
    Lie("old null", "2022", None, "shape/insert", "no_old", "null"),
)
