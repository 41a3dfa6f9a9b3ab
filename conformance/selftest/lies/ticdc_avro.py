"""The lies about TiCDC's Avro protocol."""

from __future__ import annotations

from typing import Final

from conformance.selftest.lies.lie import Lie

LIES: Final = ()
