"""The lies about Tencent Cloud DTS JSON."""

from __future__ import annotations

from typing import Final

from conformance.selftest.lies._fastjson import FASTJSON_1
from conformance.selftest.lies.altering import in_json, put, respelled, shift
from conformance.selftest.lies.base import Alter, Lie
from generators.model import Deployment

_NAME: Final = "tencent-dts-json"
_PLAIN: Final = "version-1"
_SPARSE: Final = "version-1+sparse+upper-hex+padded-time+pk-hash"
_OLDER: Final = "version-1+older-edition"
_ZONE: Final = Deployment(time_zone="Asia/Tokyo")


def _second(text: str) -> Alter:
    """The second value of a row is this text."""
    return in_json(put(text, "newColumns", 1))


LIES: Final = (
    Lie("fields left out", _PLAIN, None, "[ce]*/*", field="absent", value=True),
    Lie("short lists", _PLAIN, None, "lists/*", field="short_lists", value=True),
    Lie("fields null", _SPARSE, None, "[ce]*/*", field="absent", value=False),
    Lie("whole lists", _SPARSE, None, "lists/*", field="short_lists", value=False),
    Lie("another source type", _PLAIN, None, "envelope/*", field="source_type", value="TDSQL-C"),
    Lie("protocol type numbers", _PLAIN, None, "datetime-0/*", field="binlog_codes", value=False),
    Lie("index as total", _PLAIN, None, "envelope/*", field="index_is_total", value=True),
    Lie("tags", _OLDER, None, "envelope/*", field="tags", value="{}"),
    Lie("later reader", _PLAIN, None, "envelope/*", alter=in_json(shift(3_600_000, "readerTimestamp"))),
    Lie("fastjson 1 escapes", _PLAIN, None, "varchar/*", alter=respelled(FASTJSON_1)),
    Lie("placed by key", _PLAIN, None, "envelope/place-*", field="pk_hash", value=True),
    Lie("placed by table", _SPARSE, None, "envelope/place-*", field="pk_hash", value=False),
    Lie("upper-case hex", _PLAIN, f"{_NAME}/value/binary", "varbinary/high", field="upper_hex", value=True),
    Lie("padded TIME", _PLAIN, f"{_NAME}/value/time", "time-0/last-of-day", field="padded_time", value=True),
    Lie("TIMESTAMP in milliseconds", _PLAIN, f"{_NAME}/value/timestamp", "timestamp-0/plain", field="epoch_ms", value=True),
    Lie("TIMESTAMP as text", _OLDER, f"{_NAME}/value/timestamp-epoch", "timestamp-0/plain", field="epoch_ms", value=False),
    Lie("another zone", _PLAIN, f"{_NAME}/value/timestamp", "timestamp-0/plain", field="deployment", value=_ZONE),
    Lie("enum index", _PLAIN, f"{_NAME}/value/enum", "enum/member-1", alter=_second("1")),
    Lie("zeros kept", _PLAIN, f"{_NAME}/value/binary-stripped", "binary/trailing-zeros", alter=_second("0x61620000")),
)
