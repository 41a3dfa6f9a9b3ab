"""The lies about TiCDC Simple in Avro."""

from __future__ import annotations

from typing import Final

from conformance.selftest.lies._ticdc_simple import shared
from conformance.selftest.lies.base import Lie

_NAME: Final = "ticdc-simple-avro"

LIES: Final = (
    *shared(_NAME, "value/timestamp-record"),
    Lie("bit-as-long", "new-8.5.4", f"{_NAME}/value/bit-string", "bit-64/all-ones", field="bits", value="long"),
    Lie("bit-as-string", "v8.5.7", f"{_NAME}/value/bit-64", "bit-64/all-ones", field="bits", value="string"),
    Lie("timestamp-decimal", "v8.5.7", None, "bootstrap/every-type", field="timestamp_decimal", value=True),
    Lie("sorted-maps", "v8.5.7", None, "shape/many-columns", field="sorted_maps", value=True),
)
