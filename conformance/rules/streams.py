"""The rules of streams: what keyed tables that are kept from a decoder's changes owe.

They are laws over whole streams (DESIGN 3.6): no selector owns them, `conformance.streams.reading` does. How a format orders the
changes of one row is its own `ORDER` (`conformance.rules.order`).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache
from typing import Final

from conformance.rules.base import Citation, Effect, Obligation, Provenance, Rule
from conformance.rules.order import order_of

_TICDC: Final = "reference/ticdc.md"
_DEBEZIUM: Final = "reference/debezium.md"
_VENDORS: Final = "reference/cloud_vendors.md"
_DESIGN: Final = Citation("DESIGN", "3.4 Level three, 3.6 Laws")


@dataclass(frozen=True, slots=True)
class _Law:
    name: str
    statement: str
    effect: Effect
    citations: tuple[Citation, ...] = ()
    provenance: Provenance = Provenance.ASSUMED
    needs: tuple[str, ...] = field(default=())


_LAWS: Final[tuple[_Law, ...]] = (
    _Law(
        "every-offset",
        "Every message of the stream is taken into account: its offset was seen when the stream has been read to its end.",
        Effect.LOST_CHANGE,
    ),
    _Law(
        "corrupt-kept",
        "A message that nobody can read is kept and counted with its offset, neither swallowed nor the end of the stream.",
        Effect.SILENT_CORRUPTION,
    ),
    _Law(
        "at-least-once",
        "A change that comes again leaves the table as it is: there is one row to a key.",
        Effect.PHANTOM_ROW,
        (Citation(_TICDC, "5: delivery is at least once"), Citation(_VENDORS, "2.5, 5: duplicates after restart")),
        Provenance.DOCUMENTED,
    ),
    _Law(
        "key-change",
        "After an UPDATE of the key, or the delete and the insert that stand for it, no row is left under the old key.",
        Effect.PHANTOM_ROW,
        (Citation(_TICDC, "5: updates of a key"), Citation(_DEBEZIUM, "1.4")),
        Provenance.OBSERVED,
    ),
    _Law(
        "schema-cache",
        "Rows that come before the schema that they name wait for it.",
        Effect.LOST_CHANGE,
        (Citation("document 002"), Citation(_TICDC, "3.5, 5: rows without schema are cached")),
        Provenance.OBSERVED,
        needs=("schema",),
    ),
    _Law(
        "watermark",
        "A watermark below a known one is ignored, and rows that their partition's watermark has passed are late repeats: both "
        "change nothing.",
        Effect.PHANTOM_ROW,
        (Citation("document 000"), Citation(_TICDC, "5: a lower watermark is ignored")),
        Provenance.DOCUMENTED,
        needs=("watermarks",),
    ),
    _Law(
        "restart",
        "A reader that dies and goes on from its checkpoint ends with the tables of one that did not, and so if its broker dies.",
        Effect.LOST_CHANGE,
        (_DESIGN,),
    ),
    _Law(
        "order",
        "A change that is not newer than what the row shows, by the format's own order, changes nothing.",
        Effect.WRONG_ORDER,
    ),
    _Law(
        "convergence",
        "When the stream has been read to its end, the kept tables are the source's tables, row by row and cell by cell.",
        Effect.WRONG_VALUE,
        (_DESIGN,),
    ),
)


@cache
def rules(fmt: str) -> tuple[Rule, ...]:
    """The stream rules of a format, `<format>/stream/<name>`. Raises UnknownName."""
    order = order_of(fmt)
    has = {"schema": order.keys == "schema", "watermarks": order.watermarks}
    return tuple(
        Rule(
            f"{fmt}/stream/{law.name}",
            law.statement,
            Obligation.MUST,
            order.provenance if law.name == "order" else law.provenance,
            order.citations if law.name == "order" else (*law.citations, *(() if law.citations else (_DESIGN,))),
            law.effect,
            law="stream",
        )
        for law in _LAWS
        if all(has[need] for need in law.needs)
    )
