"""The lies about CloudCanal Json."""

from __future__ import annotations

from typing import Final

from conformance.selftest.lies._cloudcanal import cell, shared
from conformance.selftest.lies.base import Lie

_NAME: Final = "cloudcanal-json"
_LAST: Final = "2022+described+deleted-in-before"

LIES: Final = (
    *shared(_NAME, _LAST, "columns", "before", "execTs", "sendTs", "61620000"),
    Lie("enum index", "2022", f"{_NAME}/value/enum", "enum/member-1", alter=cell("1")),
    Lie("ddl key", "2022", None, "ddl/*", field="ddl_key", value=True),
    Lie("keys filled", "2022", f"{_NAME}/envelope/keys-left-empty", "envelope/composite-key", field="keyed", value=True),
    Lie("deleted row in data", _LAST, None, "shape/delete", field="deleted_in_before", value=False),
)
