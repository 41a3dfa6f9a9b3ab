"""What a decoder of TiCDC Simple in JSON owes, special before general; the first rule that matches owns a comparison."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from conformance.rules.base import Rule
from conformance.rules.families.ticdc_order import SIMPLE
from conformance.rules.families.ticdc_simple.control import bootstrap, ddl, faults, watermark
from conformance.rules.families.ticdc_simple.rows import general, presence, reduced, rows, schemas
from conformance.rules.formats.ticdc_simple_json.values import BOOK, VALUES

RULES: Final[tuple[Rule, ...]] = (
    *faults(BOOK),
    *ddl(BOOK),
    *watermark(BOOK),
    *bootstrap(BOOK),
    *reduced(BOOK),
    *rows(BOOK),
    *schemas(BOOK),
    *presence(BOOK),
    *VALUES,
    *general(BOOK),
)

ORDER: Final = replace(SIMPLE, tried="v7.5.7+auto-bootstrap+one-partition")
"""How its changes are ordered (`conformance.rules.order`)."""
