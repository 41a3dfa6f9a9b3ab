"""The lies about Alibaba Canal's flat message."""

from __future__ import annotations

from typing import Final

from conformance.selftest.lies.altering import backwards, drop, in_json, put, shift
from conformance.selftest.lies.base import Alter, Lie
from generators.families.java_text import Escapes
from generators.model import Deployment

_NAME: Final = "alibaba-canal-json"
_ZONE: Final = Deployment(time_zone="Asia/Shanghai")


def _cell(text: str) -> Alter:
    """Column `c` of the first row has this text."""
    return in_json(put(text, "data", 0, "c"))


LIES: Final = (
    Lie("no gtid field", "1.1.8", None, field="gtid", value=None),
    Lie("fastjson 1 escapes", "1.1.8", None, field="escapes", value=Escapes.FASTJSON1),
    Lie("escaped control characters", "1.1.6", None, field="escapes", value=Escapes.FASTJSON2),
    Lie("old codes of NULL", "1.1.8", None, field="lob_null_codes", value=False),
    Lie("BIT code of tinyint(1)", "1.1.8", None, field="boolean_code", value=-7),
    Lie("QUERY is DDL", "1.1.4", None, "ddl/*", field="query_is_ddl", value=True),
    Lie("later ts", "1.1.8", None, alter=in_json(shift(3_600_000, "ts"))),
    Lie("keys backwards", "1.1.8", None, alter=in_json(backwards())),
    Lie("one partition", "1.1.8+pk-hash", None, "hash/one-row-*", field="pk_hash", value=False),
    Lie("hash without database", "1.1.8+pk-hash", None, "hash/one-row-*", field="database_hash", value=False),
    Lie("old left out", "1.1.8", f"{_NAME}/old/empty-element", "old/all-unchanged", field="drops_empty_old", value=True),
    Lie("old of its own row only", "1.1.8", f"{_NAME}/old/cumulative", "old/cumulative", alter=in_json(drop("a", "old", 1))),
    Lie("lost sign", "1.1.8", f"{_NAME}/value/time-negative", "time-3/minus-one-unit", field="time_sign_lost", value=True),
    Lie(
        "hour 100 as 00", "1.1.8", f"{_NAME}/value/time-over-24h", "time-0/hundred-hours", field="hundred_hours_lost", value=True
    ),
    Lie(
        "dropped key kept",
        "1.1.8",
        f"{_NAME}/envelope/no-keys",
        "envelope/after-drop-primary-key",
        field="keeps_dropped_key",
        value=True,
    ),
    Lie(
        "es in milliseconds",
        "1.1.8",
        f"{_NAME}/envelope/commit-time",
        "envelope/commit-time-seconds",
        alter=in_json(shift(987, "es")),
    ),
    Lie("full row image", "1.1.8+minimal", f"{_NAME}/image/partial", "shape/update-one-column", field="image", value="full"),
    Lie(
        "zeros kept",
        "1.1.8",
        f"{_NAME}/value/binary-stripped",
        "binary/trailing-zeros",
        alter=_cell("ab\0\0"),
    ),
    Lie("decimal scale kept", "1.1.8", f"{_NAME}/value/decimal", "decimal-10-4/zero", alter=_cell("0.0000")),
    Lie("enum labels", "1.1.8", f"{_NAME}/value/enum-index", "enum/member-1", alter=_cell("a")),
    Lie("another zone", "1.1.8", f"{_NAME}/value/timestamp-zone", "timestamp-0/plain", field="deployment", value=_ZONE),
)
