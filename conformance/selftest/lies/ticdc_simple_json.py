"""The lies about TiCDC Simple in JSON."""

from __future__ import annotations

from typing import Final

from conformance.selftest.lies._ticdc import HTML_RAW
from conformance.selftest.lies._ticdc_simple import shared
from conformance.selftest.lies.altering import in_json
from conformance.selftest.lies.lie import Lie

LIES: Final = (
    *shared("value/timestamp-object", in_json),
    Lie("html-raw", "v8.5.7", None, "*/html", alter=HTML_RAW),
    Lie("escapes-long", "v8.5.7", None, "*/controls", "short_escapes", False),
    Lie("float-exponents", "v8.5.7", "value/double", "float/go-thresholds", "float_verb", "g"),
    Lie("float-fixed", "new-8.5.4", "value/float-exponent", "float/go-thresholds", "float_verb", "f"),
)
