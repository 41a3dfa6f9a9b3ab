"""The lies about Alibaba Canal's flat message."""

from __future__ import annotations

from typing import Final

from conformance.selftest.lies.altering import backwards, drop, in_json, put, shift
from conformance.selftest.lies.lie import Alter, Lie
from generators.families.java_text import Escapes
from generators.model import Deployment

_ZONE: Final = Deployment(time_zone="Asia/Shanghai")


def _cell(text: str) -> Alter:
    """Column `c` of the first row has this text."""
    return in_json(put(text, "data", 0, "c"))


LIES: Final = (
    Lie("no gtid field", "1.1.8", None, "*", "gtid", None),
    Lie("fastjson 1 escapes", "1.1.8", None, "*", "escapes", Escapes.FASTJSON1),
    Lie("escaped control characters", "1.1.6", None, "*", "escapes", Escapes.FASTJSON2),
    Lie("old codes of NULL", "1.1.8", None, "*", "lob_null_codes", False),
    Lie("BIT code of tinyint(1)", "1.1.8", None, "*", "boolean_code", -7),
    Lie("QUERY is DDL", "1.1.4", None, "ddl/*", "query_is_ddl", True),
    Lie("later ts", "1.1.8", None, alter=in_json(shift(3_600_000, "ts"))),
    Lie("keys backwards", "1.1.8", None, alter=in_json(backwards())),
    Lie("one partition", "1.1.8+pk-hash", None, "hash/one-row-*", "pk_hash", False),
    Lie("hash without database", "1.1.8+pk-hash", None, "hash/one-row-*", "database_hash", False),
    Lie("old left out", "1.1.8", "old/empty-element", "old/all-unchanged", "drops_empty_old", True),
    Lie("old of its own row only", "1.1.8", "old/cumulative", "old/cumulative", alter=in_json(drop("a", "old", 1))),
    Lie("lost sign", "1.1.8", "value/time-negative", "time-3/minus-one-unit", "time_sign_lost", True),
    Lie("hour 100 as 00", "1.1.8", "value/time-over-24h", "time-0/hundred-hours", "hundred_hours_lost", True),
    Lie("dropped key kept", "1.1.8", "envelope/no-keys", "envelope/after-drop-primary-key", "keeps_dropped_key", True),
    Lie("back-ticks halved", "1.1.7", "image/columns", "names/back-ticks", "doubles_ticks", False),
    Lie("es in milliseconds", "1.1.8", "envelope/commit-time", "envelope/commit-time-seconds", alter=in_json(shift(987, "es"))),
    Lie("full row image", "1.1.8+minimal", "image/partial", "shape/update-one-column", "image", "full"),
    Lie("zeros kept", "1.1.8", "value/binary-stripped", "binary/trailing-zeros", alter=_cell("ab\0\0")),
    Lie("decimal scale kept", "1.1.8", "value/decimal", "decimal-10-4/zero", alter=_cell("0.0000")),
    Lie("enum labels", "1.1.8", "value/enum-index", "enum/member-1", alter=_cell("a")),
    Lie("another zone", "1.1.8", "value/timestamp-zone", "timestamp-0/plain", "deployment", _ZONE),
)
