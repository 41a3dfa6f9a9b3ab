"""The lies about CloudCanal's Canal Json."""

from __future__ import annotations

from typing import Final

from conformance.selftest.lies._cloudcanal import cell, shared
from conformance.selftest.lies.base import Lie

_NAME: Final = "cloudcanal-canal-json"

LIES: Final = (
    *shared(_NAME, "2022+without-old+numbered", "whole-old", "old", "es", "ts", "ab\0\0"),
    Lie("enum labels", "2022", f"{_NAME}/value/enum", "enum/member-1", alter=cell("a")),
    Lie("old null", "2022", None, "shape/insert", field="no_old", value="null"),
)
