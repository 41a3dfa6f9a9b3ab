"""How TiCDC's formats order changes: by commitTs, a delete before an insert of the same one."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from conformance.rules.base import Citation, Provenance
from conformance.rules.order import NUMBER, Order

_REFERENCE: Final = "reference/ticdc.md"

TICDC: Final = Order(
    (NUMBER,),
    (Citation(_REFERENCE, "1.3, 5, 7.7"), Citation("pingcap/tiflow#5598")),
    Provenance.OBSERVED,
    deletes_first=True,
    watermarks=True,
)

SIMPLE: Final = replace(TICDC, citations=(Citation(_REFERENCE, "3.5, 5"),), keys="schema")
