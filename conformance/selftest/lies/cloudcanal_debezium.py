"""The lies about CloudCanal's Debezium Envelope."""

from __future__ import annotations

from typing import Final

from conformance.selftest.lies.base import Lie
from generators.families.debezium.values import Modes

_NAME: Final = "cloudcanal-debezium"

LIES: Final = (
    Lie("images-swapped", "2022", f"{_NAME}/image/orientation", "image/orientation", field="swapped", value=True),
    Lie("connector", "2022", None, field="connector", value="mysql"),
    Lie("null-images", "2022", None, field="empty_images", value=False),
    Lie("ddl-op", "2022", None, field="ddl_op", value=True),
    Lie("schemaless", "2022", None, field="schemas", value=False),
    Lie(
        "labels-escaped",
        "2022",
        f"{_NAME}/value/labels",
        "enum-quoted/*",
        field="modes",
        value=Modes(escapes_labels=True, year_zero=0, adjusts_years=False),
    ),
    Lie(
        "year-zero",
        "2022",
        f"{_NAME}/value/year",
        "year/zero",
        field="modes",
        value=Modes(escapes_labels=False, adjusts_years=False),
    ),
)
