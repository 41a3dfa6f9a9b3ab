"""The lies about Maxwell's writer."""

from __future__ import annotations

from typing import Final

from conformance.selftest.lies.altering import at, backwards, drop, in_json, put, shift
from conformance.selftest.lies.lie import Lie

_ALL: Final = "1.45.0+position+primary-keys+xoffset+ids+ddl"

LIES: Final = (
    Lie("nulls left out", "1.45.0", "image/columns", "shape/all-null", "nulls", False),
    Lie("zero dates null", "1.45.0", "value/null", "date/zero", "null_zerodates", True),
    Lie("keys untold", _ALL, "envelope/keys", "shape/insert", "primary_keys", False),
    Lie("position untold", _ALL, "envelope/position", "shape/insert", "position", False),
    Lie("statement in seconds", _ALL, "envelope/ddl-time", "ddl/create-table", alter=in_json(at(lambda ms: ms // 1000, "ts"))),
    Lie("commit untold", "1.45.0", None, "shape/insert", "commit_info", False),
    Lie("rows numbered", "1.45.0", None, "commit/rows", "xoffset", True),
    Lie("servers told", "1.45.0", None, "shape/insert", "ids", True),
    Lie("a second later", "1.45.0", "envelope/commit-time", "shape/insert", alter=in_json(shift(1, "ts"))),
    Lie("old lost", "1.45.0", "image/old", "shape/update-one-column", alter=in_json(put({}, "old"))),
    Lie("no table", "1.45.0", "rows/readable", "shape/insert", alter=in_json(drop("table"))),
    Lie("members backwards", "1.45.0", None, alter=in_json(backwards())),
)
