"""The lies about CloudCanal's Canal Json."""

from __future__ import annotations

from typing import Final

from conformance.selftest.lies._cloudcanal import shared
from conformance.selftest.lies.base import Lie

_NAME: Final = "cloudcanal-canal-json"

LIES: Final = (
    *shared(_NAME, "2022+without-old+numbered", "whole-old"),
    Lie("enum labels", "2022", f"{_NAME}/value/enum", "enum/member-1", field="labels", value=True),
    Lie("old null", "2022", None, "shape/insert", field="no_old", value="null"),
)
