"""The lies about Aliyun DTS Avro."""

from __future__ import annotations

from typing import Final

from conformance.selftest.lies.altering import EACH, Edit, at, backwards, drop, in_avro, put
from conformance.selftest.lies.lie import Alter, Lie
from generators.formats.aliyun_dts_avro.schema import whole

_PLAIN: Final = "2020-06"
_OLD: Final = "2019"
_DRDS: Final = "2020-06+drds"
_LEGACY: Final = "2020-06+text-object+legacy-charsets"
_POSTGRESQL: Final = "2020-06+postgresql"
_PHYSICAL: Final = "2020-06+postgresql+physical-log"


def _record(*edits: Edit) -> Alter:
    """The edits of a record of the edition 2020-06."""
    return in_avro(whole().schema, *edits)


_BACKWARDS: Final = _record(*(backwards(name) for name in ("tags", "fields", "beforeImages", "afterImages")))
_BORN: Final = _record(at(lambda seconds: seconds * 1000, "bornTimestamp"))
_EMPTY: Final = _record(*(at(lambda image: [] if image is None else image, name) for name in ("beforeImages", "afterImages")))
_MILLIS: Final = _record(at(lambda fraction: fraction // 1000, "afterImages", EACH, "millis"))

LIES: Final = (
    Lie("bornTimestamp in milliseconds", _PLAIN, None, "[cs]*/*", alter=_BORN),
    Lie("no bornTimestamp", _PLAIN, None, "shape/*", "born", False),
    Lie("bornTimestamp in 2019", _OLD, None, "shape/*", "born", True),
    Lie("another order of columns and tags", _PLAIN, None, "shape/*", alter=_BACKWARDS),
    Lie("another version", _PLAIN, None, "shape/*", "version", 170844600),
    Lie("no metaVersion", _PLAIN, None, "shape/*", "meta_version", False),
    Lie("processTimestamps", _PLAIN, None, "shape/*", "processed", True),
    Lie("one id", _PLAIN, None, "shape/*", alter=_record(put(1, "id"))),
    Lie("later reader", _PLAIN, None, "shape/*", alter=_record(put("1700003600000", "tags", "readerThroughoutTime"))),
    Lie("empty arrays for no image", _PLAIN, None, "shape/*", alter=_EMPTY),
    Lie("MySQL of another version", _PLAIN, None, "shape/*", "source_version", "5.7.35"),
    Lie("nanoseconds of MySQL", _PLAIN, "value/fraction", "datetime-6/*", "fraction", "nanos"),
    Lie("milliseconds of MySQL", _PLAIN, "value/fraction", "datetime-6/*", alter=_MILLIS),
    Lie("microseconds of DRDS", _DRDS, "value/fraction-wire", "datetime-6/*", "fraction", "micros"),
    Lie("microseconds of the physical log", _PHYSICAL, "value/fraction-wire", "timestamp-6/*", "fraction", "micros"),
    Lie("milliseconds of TIMESTAMP", _PLAIN, "value/timestamp-fraction", "timestamp-6/*", alter=_MILLIS),
    Lie("gbk called latin1", _LEGACY, "charset/legacy", "varchar/plain", "charsets", (("varchar", "latin1"),)),
    Lie("another branch of TEXT", _PLAIN, "value/text", "text/plain", "text", "text-object"),
    Lie("binaries as objects", _PLAIN, "value/binary-character", "varbinary/high", "binary", "object"),
    Lie("another offset", _POSTGRESQL, "value/timestamp-zone", "timestamptz-6/leap-day", "offset", 0),
    Lie("other texts of boolean", _POSTGRESQL, "value/boolean", "boolean/*", "booleans", ("false", "true")),
    Lie("no pk_uk_info", _PLAIN, "envelope/keys", "shape/insert", alter=_record(drop("pk_uk_info", "tags"))),
)
