"""The rules of streams: what keyed tables that are kept from a decoder's changes owe.

They are laws over whole streams: no selector owns them, `conformance.streams.reading` does. How a format orders the changes of
one row is its own `ORDER` (`conformance.rules.order`).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache
from typing import Final

from conformance.rules.base import Citation, Effect, Obligation, Provenance, Rule
from conformance.rules.order import order_of

_KEYED_TABLES: Final = Citation("harness#keyed-tables")


@dataclass(frozen=True, slots=True)
class _Law:
    name: str
    statement: str
    effect: Effect
    citations: tuple[Citation, ...] = (_KEYED_TABLES,)
    provenance: Provenance = Provenance.ASSUMED
    needs: tuple[str, ...] = field(default=())


_LAWS: Final[tuple[_Law, ...]] = (
    _Law(
        "every-offset",
        "Every message of the stream is taken into account: its offset was seen when the stream has been read to its end.",
        Effect.LOST_CHANGE,
        (Citation("harness#every-offset"),),
    ),
    _Law(
        "corrupt-kept",
        "A message that nobody can read is kept and counted with its offset, neither swallowed nor the end of the stream.",
        Effect.SILENT_CORRUPTION,
        (Citation("harness#corrupt-not-raise"),),
    ),
    _Law(
        "at-least-once",
        "A change that comes again leaves the table as it is: there is one row to a key.",
        Effect.PHANTOM_ROW,
    ),
    _Law(
        "key-change",
        "After an UPDATE of the key, or the delete and the insert that stand for it, no row is left under the old key.",
        Effect.PHANTOM_ROW,
    ),
    _Law(
        "schema-cache",
        "Rows that come before the schema that they name wait for it.",
        Effect.LOST_CHANGE,
        (Citation("ticdc#simple-schema-cache"), Citation("ticdc#simple-schema-late")),
        Provenance.OBSERVED,
        needs=("schema",),
    ),
    _Law(
        "watermark",
        "A watermark below a known one is ignored, and rows that their partition's watermark has passed are late repeats: both "
        "change nothing.",
        Effect.PHANTOM_ROW,
        (Citation("ticdc#watermark-order"),),
        Provenance.DOCUMENTED,
        needs=("watermarks",),
    ),
    _Law(
        "restart",
        "A reader that dies and goes on from its checkpoint ends with the tables of one that did not, and so if its broker dies.",
        Effect.LOST_CHANGE,
    ),
    _Law(
        "order",
        "A change that is not newer than what the row shows, by the format's own order, changes nothing.",
        Effect.WRONG_ORDER,
    ),
    _Law(
        "record-time",
        "The timestamps of records order nothing: in a topic of LogAppendTime they are the times at which its broker got them, "
        "so that a copy of an old record is new.",
        Effect.WRONG_ORDER,
        (Citation("kafka#timestamp-type"), _KEYED_TABLES),
    ),
    _Law(
        "compaction",
        "Where compaction left the last record of each key, the tables are still the source's: the first record of a row may be "
        "an UPDATE, its only one a tombstone, and offsets are missing.",
        Effect.LOST_CHANGE,
        (Citation("kafka#compaction"), Citation("kafka#delete-markers"), _KEYED_TABLES),
        needs=("compacted",),
    ),
    _Law(
        "convergence",
        "When the stream has been read to its end, the kept tables are the source's tables, row by row and cell by cell.",
        Effect.WRONG_VALUE,
    ),
)


@cache
def rules(fmt: str) -> tuple[Rule, ...]:
    """The stream rules of a format, `<format>/stream/<name>`. Raises UnknownName."""
    order = order_of(fmt)
    has = {"schema": order.keys == "schema", "watermarks": order.watermarks, "compacted": order.compacted}
    return tuple(
        Rule(
            f"{fmt}/stream/{law.name}",
            law.statement,
            Obligation.MUST,
            order.provenance if law.name == "order" else law.provenance,
            order.citations if law.name == "order" else law.citations,
            law.effect,
            law="stream",
        )
        for law in _LAWS
        if all(has[need] for need in law.needs)
    )
