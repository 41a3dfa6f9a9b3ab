"""The lies about CloudCanal Json."""

from __future__ import annotations

from typing import Final

from conformance.selftest.lies._cloudcanal import cell, shared
from conformance.selftest.lies.lie import Lie

_LAST: Final = "2022+described+deleted-in-before"

LIES: Final = (
    *shared(_LAST, "image/whole-old", "before", "sendTs", "61620000"),
    Lie("enum index", "2022", "value/wire", "enum/member-1", alter=cell("1")),
    Lie("ddl key", "2022", None, "ddl/*", "ddl_key", True),
    Lie("keys filled", "2022", "envelope/keys-left-empty", "envelope/composite-key", "keyed", True),
    Lie("deleted row in data", _LAST, None, "shape/delete", "deleted_in", "data"),
)
