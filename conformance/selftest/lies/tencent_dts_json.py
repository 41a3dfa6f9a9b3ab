"""The lies about Tencent Cloud DTS JSON."""

from __future__ import annotations

from typing import Final

from conformance.selftest.lies._fastjson import FASTJSON_1
from conformance.selftest.lies.altering import in_json, put, respelled, shift
from conformance.selftest.lies.lie import Alter, Lie
from generators.model import Deployment

_PLAIN: Final = "version-1"
_SPARSE: Final = "version-1+sparse+upper-hex+padded-time+pk-hash"
_OLDER: Final = "version-1+older-edition"
_ZONE: Final = Deployment(time_zone="Asia/Tokyo")


def _second(text: str) -> Alter:
    """The second value of a row is this text."""
    return in_json(put(text, "newColumns", 1))


LIES: Final = (
    Lie("fields left out", _PLAIN, None, "[ce]*/*", "absent", True),
    Lie("short lists", _PLAIN, None, "lists/*", "short_lists", True),
    Lie("fields null", _SPARSE, None, "[ce]*/*", "absent", False),
    Lie("whole lists", _SPARSE, None, "lists/*", "short_lists", False),
    Lie("another source type", _PLAIN, None, "envelope/*", "source_type", "TDSQL-C"),
    Lie("protocol type numbers", _PLAIN, None, "datetime-0/*", "binlog_codes", False),
    Lie("index as total", _PLAIN, None, "envelope/*", "index_is_total", True),
    Lie("tags", _OLDER, None, "envelope/*", "tags", "{}"),
    Lie("later reader", _PLAIN, None, "envelope/*", alter=in_json(shift(3_600_000, "readerTimestamp"))),
    Lie("fastjson 1 escapes", _PLAIN, None, "varchar/*", alter=respelled(FASTJSON_1)),
    Lie("placed by key", _PLAIN, None, "envelope/place-*", "pk_hash", True),
    Lie("placed by table", _SPARSE, None, "envelope/place-*", "pk_hash", False),
    Lie("upper-case hex", _PLAIN, "value/binary", "varbinary/high", "upper_hex", True),
    Lie("padded TIME", _PLAIN, "value/time", "time-0/last-of-day", "padded_time", True),
    Lie("TIMESTAMP without its milliseconds", _PLAIN, "value/wire", "timestamp-0/plain", "own_digits", True),
    Lie("TIMESTAMP in milliseconds", _PLAIN, "value/wire", "timestamp-0/plain", "epoch_ms", True),
    Lie("TIMESTAMP as text", _OLDER, "value/wire", "timestamp-0/plain", "epoch_ms", False),
    Lie("another zone", _PLAIN, "value/wire", "timestamp-0/plain", "deployment", _ZONE),
    Lie("enum index", _PLAIN, "value/wire", "enum/member-1", alter=_second("1")),
    Lie("zeros kept", _PLAIN, "value/binary", "binary/trailing-zeros", alter=_second("0x61620000")),
)
