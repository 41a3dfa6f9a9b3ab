"""The lies about upstream Debezium's JSON."""

from __future__ import annotations

from typing import Final

from conformance.selftest.lies.altering import in_json, put, without_headers
from conformance.selftest.lies.base import Lie
from generators.families.debezium.values import Modes

_NAME: Final = "debezium-json"
_NEW: Final = "3.5.0.Final"
_STRING: Final = "1.4.0.Final+legacy-tombstone+string+connect+base64"
_ISO: Final = "3.5.0.Final+double+isostring+hex+unsigned-precise"
_DEFAULT: Final = "3.5.0.Final+postgresql"
_FULL: Final = "3.5.0.Final+postgresql+full+schemaless+transaction+string+connect+base64+interval-string"
_OLD: Final = "1.4.0.Final+postgresql"


def _told(name: str, profile: str, modes: Modes, rule: str, scenario: str) -> Lie:
    return Lie(name, profile, f"{_NAME}/{rule}", scenario, field="modes", value=modes)


_UNWRAPPED: Final = in_json(put((1 << 64) - 1, "payload", "after", "c"))
_NULLED: Final = in_json(put(None, "payload", "before", "c_integer"))

LIES: Final = (
    Lie("no schemas", _NEW, None, field="schemas", value=False),
    Lie("no schema in keys", _NEW, None, field="key_schemas", value=False),
    Lie("schemas", "3.5.0.Final+schemaless", None, field="schemas", value=True),
    Lie("transaction blocks", _DEFAULT, None, "shape/insert", field="transactions", value=True),
    Lie("no context headers", _NEW, None, field="context_headers", value=False),
    Lie("no headers of key updates", _NEW, None, "key/*", alter=without_headers("__debezium.newkey", "__debezium.oldkey")),
    Lie("transaction last", _NEW, None, field="transaction_first", value=False),
    Lie("legacy tombstones", _NEW, None, "shape/delete", field="legacy_tombstones", value=True),
    Lie("no tombstones", _NEW, f"{_NAME}/tombstone/kind", "shape/delete", field="tombstones", value=False),
    Lie("null tombstones", _STRING, None, "shape/delete", field="legacy_tombstones", value=False),
    _told("decimals as text", _NEW, Modes(decimal="string"), "value/decimal-base64", "decimal-10-2/max"),
    _told("decimals as doubles", _NEW, Modes(decimal="double"), "value/decimal-base64", "decimal-10-2/max"),
    _told("digits as text", _NEW, Modes(decimal="string"), "value/decimal-base64-digits", "values/decimal-base64-1234"),
    _told("base64 for text", _STRING, Modes((1, 4), "precise", "connect", "base64"), "value/decimal-string", "decimal-10-2/max"),
    _told(
        "plain decimals of 1.9",
        _STRING,
        Modes((1, 9), "string", "connect", "base64"),
        "value/decimal-exponent",
        "decimal-20-10/*",
    ),
    _told(
        "base64 for doubles",
        _ISO,
        Modes(decimal="precise", temporal="isostring", binary="hex", bigint_unsigned="precise"),
        "value/decimal-double",
        "decimal-10-2/max",
    ),
    Lie("negative number as it is", _NEW, f"{_NAME}/value/unsigned-long", "unsigned-bigint/max", alter=_UNWRAPPED),
    _told(
        "long for precise",
        _ISO,
        Modes(decimal="double", temporal="isostring", binary="hex"),
        "value/unsigned-precise",
        "unsigned-bigint/max",
    ),
    _told("milliseconds alone", _NEW, Modes(temporal="connect"), "value/datetime-micros", "datetime-6/max"),
    _told("microseconds always", _NEW, Modes(temporal="microseconds"), "value/datetime-millis", "datetime-3/max"),
    _told("ISO texts", _NEW, Modes(temporal="isostring"), "value/date-days", "date/leap-day"),
    _told("nanoseconds", _NEW, Modes(temporal="nanoseconds"), "value/time", "time-3/last-of-day"),
    _told("connect for iso", _ISO, Modes(decimal="double", temporal="connect", binary="hex"), "value/iso", "date/leap-day"),
    _told("hex binaries", _NEW, Modes(binary="hex"), "value/binary-base64", "varbinary/high"),
    _told(
        "base64 for hex",
        _ISO,
        Modes(decimal="double", temporal="isostring", bigint_unsigned="precise"),
        "value/binary-hex",
        "varbinary/high",
    ),
    _told("labels as they are", _NEW, Modes(escapes_labels=False), "value/enum-escaped", "enum-quoted/member-2"),
    _told("YEAR 0 as 0", _NEW, Modes(year_zero=0), "value/year-zero", "year/zero"),
    _told("no time adjuster", _NEW, Modes(adjusts_years=False), "value/two-digit-year", "values/two-digit-year-date-low"),
    _told("FLOAT widened", _NEW, Modes((1, 9)), "value/float", "float/fraction"),
    _told("intervals as microseconds", _FULL, Modes(decimal="string", temporal="connect"), "value/interval", "interval/*"),
    Lie("NULL kept", _NEW, f"{_NAME}/value/default-for-null", "values/default-for-null", field="nulls_kept", value=True),
    Lie(
        "defaults for NULL",
        "2.5.4.Final+plain-key+transaction+nulls-kept",
        f"{_NAME}/value/null-kept",
        "values/default-for-null",
        field="nulls_kept",
        value=False,
    ),
    Lie("whole old row", _DEFAULT, f"{_NAME}/before/update-without", "shape/update-one-column", field="image", value="full"),
    Lie("old key alone", _FULL, f"{_NAME}/before/update-full", "shape/update-one-column", field="image", value="default"),
    Lie("null for fallbacks", _DEFAULT, f"{_NAME}/before/fallback", "identity/delete-not-null", alter=_NULLED),
    Lie("names as they are", _OLD, f"{_NAME}/image/mangled-names", "shape/awkward-names", field="mangles_names", value=False),
    Lie("milliseconds of the binlog", _NEW, f"{_NAME}/envelope/commit-time", "shape/insert", field="step_ms", value=7),
)
