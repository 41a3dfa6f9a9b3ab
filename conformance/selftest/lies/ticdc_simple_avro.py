"""The lies about TiCDC Simple in Avro."""

from __future__ import annotations

from typing import Final

from conformance.selftest.lies._ticdc_simple import shared
from conformance.selftest.lies.altering import Edit, backwards, in_avro
from conformance.selftest.lies.lie import Alter, Lie
from generators.formats.ticdc_simple_avro.schema import ENCODER


def _in_record(*edits: Edit) -> Alter:
    """The edits of a message of TiCDC's schema."""
    return in_avro(ENCODER.schema, *edits)


LIES: Final = (
    *shared("value/timestamp-record", _in_record, "payload"),
    Lie("bit-as-long", "new-8.5.4", "value/bit-string", "bit-64/all-ones", "bits", "long"),
    Lie("bit-as-string", "v8.5.7", "value/bit-64", "bit-64/all-ones", "bits", "string"),
    Lie("timestamp-decimal", "v8.5.7", None, "bootstrap/every-type", "timestamp_decimal", True),
    Lie("map-backwards", "v8.5.7", None, "shape/many-columns", alter=_in_record(backwards("payload", "data"))),
)
