"""The lies about upstream Debezium's JSON."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from conformance.selftest.lies.altering import in_json, put, without_headers
from conformance.selftest.lies.lie import Lie
from generators.families.debezium.values import Modes

_NEW: Final = "3.5.0.Final"
_STRING: Final = "1.4.0.Final+legacy-tombstone+string+connect+base64"
_ISO: Final = "3.5.0.Final+double+isostring+hex+unsigned-precise"
_DEFAULT: Final = "3.5.0.Final+postgresql"
_FULL: Final = "3.5.0.Final+postgresql+full+schemaless+transaction+string+connect+base64+interval-string"
_OLD: Final = "1.4.0.Final+postgresql"
_ISO_MODES: Final = Modes(decimal="double", temporal="isostring", binary="hex", bigint_unsigned="precise")
_KEPT: Final = "2.5.4.Final+plain-key+transaction+nulls-kept"
_UNKNOWN: Final = "2.5.4.Final+postgresql+include-unknown"
_UNWRAPPED: Final = in_json(put((1 << 64) - 1, "payload", "after", "c"))
_NULLED: Final = in_json(put(None, "payload", "before", "c_integer"))

LIES: Final = (
    Lie("no schemas", _NEW, None, "*", "schemas", False),
    Lie("no schema in keys", _NEW, None, "*", "key_schemas", False),
    Lie("schemas", "3.5.0.Final+schemaless", None, "*", "schemas", True),
    Lie("transaction blocks", _DEFAULT, None, "shape/insert", "transactions", True),
    Lie("no context headers", _NEW, None, "*", "context_headers", False),
    Lie("no headers of key updates", _NEW, None, "key/*", alter=without_headers("__debezium.newkey", "__debezium.oldkey")),
    Lie("transaction last", _NEW, None, "*", "transaction_first", False),
    Lie("legacy tombstones", _NEW, None, "shape/delete", "legacy_tombstones", True),
    Lie("no tombstones", _NEW, "tombstone/kind", "shape/delete", "tombstones", False),
    Lie("null tombstones", _STRING, None, "shape/delete", "legacy_tombstones", False),
    Lie("decimals as text", _NEW, "value/decimal-base64", "decimal-10-2/max", "modes", Modes(decimal="string")),
    Lie("decimals as doubles", _NEW, "value/decimal-base64", "decimal-10-2/max", "modes", Modes(decimal="double")),
    Lie("digits as text", _NEW, "value/decimal-base64-digits", "values/decimal-base64-1234", "modes", Modes(decimal="string")),
    Lie(
        "base64 for text",
        _STRING,
        "value/decimal-string",
        "decimal-10-2/max",
        "modes",
        Modes((1, 4), "precise", "connect", "base64"),
    ),
    Lie(
        "plain decimals of 1.9",
        _STRING,
        "value/decimal-exponent",
        "decimal-20-10/*",
        "modes",
        Modes((1, 9), "string", "connect", "base64"),
    ),
    Lie("base64 for doubles", _ISO, "value/decimal-double", "decimal-10-2/max", "modes", replace(_ISO_MODES, decimal="precise")),
    Lie("negative number as it is", _NEW, "value/unsigned-long", "unsigned-bigint/max", alter=_UNWRAPPED),
    Lie(
        "long for precise",
        _ISO,
        "value/unsigned-precise",
        "unsigned-bigint/max",
        "modes",
        replace(_ISO_MODES, bigint_unsigned="long"),
    ),
    Lie("milliseconds alone", _NEW, "value/datetime-micros", "datetime-6/max", "modes", Modes(temporal="connect")),
    Lie("microseconds always", _NEW, "value/datetime-millis", "datetime-3/max", "modes", Modes(temporal="microseconds")),
    Lie("ISO texts", _NEW, "value/date-days", "date/leap-day", "modes", Modes(temporal="isostring")),
    Lie("nanoseconds", _NEW, "value/time", "time-3/last-of-day", "modes", Modes(temporal="nanoseconds")),
    Lie("connect for iso", _ISO, "value/iso", "date/leap-day", "modes", replace(_ISO_MODES, temporal="connect")),
    Lie("hex binaries", _NEW, "value/binary-base64", "varbinary/high", "modes", Modes(binary="hex")),
    Lie("base64 for hex", _ISO, "value/binary-hex", "varbinary/high", "modes", replace(_ISO_MODES, binary="bytes")),
    Lie("labels as they are", _NEW, "value/enum-escaped", "enum-quoted/member-2", "modes", Modes(escapes_labels=False)),
    Lie("YEAR 0 as 0", _NEW, "value/year-zero", "year/zero", "modes", Modes(year_zero=0)),
    Lie("no time adjuster", _NEW, "value/two-digit-year", "values/two-digit-year-date-low", "modes", Modes(adjusts_years=False)),
    Lie("FLOAT widened", _NEW, "value/float", "float/fraction", "modes", Modes((1, 9))),
    Lie("intervals as microseconds", _FULL, "value/interval", "interval/*", "modes", Modes(decimal="string", temporal="connect")),
    Lie("no defaults", _NEW, "value/default-for-null", "values/default-for-null", "defaults", False),
    Lie("MariaDB's names", _NEW, None, "shape/insert", "connector", "mariadb"),
    Lie("NULL kept", _NEW, "value/default-for-null", "values/default-for-null", "nulls_kept", True),
    Lie("defaults for NULL", _KEPT, "value/null-kept", "values/default-for-null", "nulls_kept", False),
    Lie("whole old row", _DEFAULT, "before/update-without", "shape/update-one-column", "image", "full"),
    Lie("old key alone", _FULL, "before/update-full", "shape/update-one-column", "image", "default"),
    Lie("null for fallbacks", _DEFAULT, "before/fallback", "identity/delete-not-null", alter=_NULLED),
    Lie("back-ticks halved", _KEPT, "image/back-tick", "names/back-ticks", "doubles_ticks", False),
    Lie("names as they are", _OLD, "image/mangled-names", "names/not-ascii-key", "mangles_names", False),
    Lie("values in line", _DEFAULT, "toast/placeholder", "toast/text", "toasted", 1 << 30),
    Lie("types of the source", _NEW, None, "shape/insert", "source_types", True),
    Lie("no envelope", "3.5.0.Final+schemaless", "image/sides", "shape/update-one-column", "flat", "flat-rewrite"),
    Lie("unknown types left out", _UNKNOWN, "value/unknown-type", "values/unknown-box", "unknown_types", False),
    Lie("money rounded", _DEFAULT, "value/money", "money/*", "modes", Modes(temporal="adaptive", money_digits=0)),
    Lie("statements", _NEW, None, "shape/insert", "queries", True),
    Lie("milliseconds of the binlog", _NEW, "envelope/commit-time", "shape/insert", "step_ms", 7),
)
