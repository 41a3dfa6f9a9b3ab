"""How TiCDC's formats order changes: by commitTs, a delete before an insert of the same one."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from conformance.rules.base import Citation, Provenance
from conformance.rules.order import NUMBER, Order

TICDC: Final = Order(
    (NUMBER,),
    (Citation("ticdc#order"), Citation("ticdc#tso")),
    Provenance.OBSERVED,
    deletes_first=True,
    watermarks=True,
)

SIMPLE: Final = replace(TICDC, keys="schema")
