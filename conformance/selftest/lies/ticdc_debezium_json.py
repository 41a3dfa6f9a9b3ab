"""The lies about TiCDC's Debezium protocol."""

from __future__ import annotations

from typing import Final

from conformance.selftest.lies.altering import backwards, in_json, put
from conformance.selftest.lies.lie import Lie

_NEW: Final = "new-8.5.6+extension"

LIES: Final = (
    Lie("no-key", "v8.5.7", "key/columns", "shape/insert", "keyed", False),
    Lie("nulls-kept", "v8.5.7", "value/default-for-null", "values/default-for-null", "filled", False),
    Lie("years-as-they-are", "v8.5.7", "value/two-digit-year", "values/two-digit-year", "years", False),
    Lie("virtual-column-once", _NEW, None, "values/declared", "statements", False),
    Lie("types-of-tidb-left-out", _NEW, None, "values/*", "extension", False),
    Lie("schema-left-out", "v8.5.7", None, "*", "schemaless", True),
    Lie("before-left-out", "v8.5.7", "image/sides", "shape/update-one-column", "before", False),
    Lie("schema-before-payload", "v8.5.7", None, alter=in_json(backwards())),
    Lie("another-version", "v8.5.7", None, alter=in_json(put("3.0.0.Final", "payload", "source", "version"))),
)
