"""The lies about GoldenGate's writer."""

from __future__ import annotations

from typing import Final

from conformance.selftest.lies.altering import backwards, in_json, put, swap
from conformance.selftest.lies.lie import Lie

_ALL: Final = "19.1+primary-keys+tokens+null-images+colons"

LIES: Final = (
    Lie("keys untold", _ALL, "envelope/keys", "shape/insert", "primary_keys", False),
    Lie("tokens untold", _ALL, None, "shape/insert", "tokens", False),
    Lie("null images", "19.1", None, "shape/delete", "null_images", True),
    Lie("numbers as texts", "19.1", None, "int/max", "strings", True),
    Lie("before lost", "19.1", "image/sides", "shape/update-one-column", alter=in_json(put(None, "before"))),
    Lie("colons", "19.1", "value/date", "datetime-0/leap-day", "colons", True),
    Lie("time of the message", "19.1", "envelope/commit-time-digits", "shape/insert", alter=in_json(swap("op_ts", "current_ts"))),
    Lie("no database", "19.1", "rows/readable", "shape/insert", alter=in_json(put("shape_insert", "table"))),
    Lie("members backwards", "19.1", None, alter=in_json(backwards())),
)
