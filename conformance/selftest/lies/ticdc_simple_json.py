"""The lies about TiCDC Simple in JSON."""

from __future__ import annotations

from typing import Final

from conformance.selftest.lies._ticdc import HTML_RAW
from conformance.selftest.lies._ticdc_simple import shared
from conformance.selftest.lies.altering import in_json
from conformance.selftest.lies.base import Lie

_NAME: Final = "ticdc-simple-json"

LIES: Final = (
    *shared(_NAME, "value/timestamp-object", in_json),
    Lie("html-raw", "v8.5.7", None, "*/html", alter=HTML_RAW),
    Lie("float-exponents", "v8.5.7", f"{_NAME}/value/double", "float/go-thresholds", field="float_verb", value="g"),
    Lie("float-fixed", "new-8.5.4", f"{_NAME}/value/float-exponent", "float/go-thresholds", field="float_verb", value="f"),
)
