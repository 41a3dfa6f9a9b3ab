"""The rules of streams: what keyed tables that are kept from a decoder's changes owe, and how each format orders changes.

They are laws over whole streams: no selector owns them, `conformance.streams.reading` does. How a format orders the changes of
one row is data here too, since its documents say it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Final

from conformance.rules.base import Citation, Effect, Obligation, Provenance, Rule
from generators.wire_format import FORMATS, get

_KEYED_TABLES: Final = Citation("harness#keyed-tables")


@dataclass(frozen=True, slots=True)
class Order:
    """What says which of two changes of one row is the newer one.

    `positions` are patterns of `position`, each with the numbers of its groups from the most significant one on; a position that
    none matches says nothing, and `commit_time` stands in. `deletes_first` says that of several changes of one position a delete
    is the older; otherwise, and among the rest, what came later is the newer. `keys` is where the key's columns stand: change
    (each row), schema (messages of their own, by version), table (not always in a message: a reader has to know the table).
    `watermarks` says that a WATERMARK closes its partition up to its position.
    """

    positions: tuple[tuple[str, tuple[int, ...]], ...]
    citations: tuple[Citation, ...]
    provenance: Provenance = Provenance.DOCUMENTED
    deletes_first: bool = False
    keys: str = "change"
    watermarks: bool = False
    placeholders: tuple[str, ...] = ()


_NUMBER: Final = (r"^(\d+)$", (1,))
_FILE_POSITION: Final = (r"^[^:]*?(\d+):(\d+)$", (1, 2))
_FILE_POSITION_ROW: Final = (r"^[^:]*?(\d+):(\d+):(\d+)$", (1, 2, 3))
_OFFSET_AT_FILE: Final = (r"^(\d+)@(\d+)$", (2, 1))

_UNAVAILABLE: Final = ("__debezium_unavailable_value", "X19kZWJleml1bV91bmF2YWlsYWJsZV92YWx1ZQ==")
"""What stands for a value that PostgreSQL did not send, as text and in base64 (debezium#unavailable-value)."""

_TICDC_ORDER: Final = Order(
    (_NUMBER,),
    (Citation("ticdc#order"), Citation("ticdc#tso")),
    Provenance.OBSERVED,
    deletes_first=True,
    watermarks=True,
)

_SIMPLE_ORDER: Final = replace(_TICDC_ORDER, keys="schema")

ORDERS: Final[Mapping[str, Order]] = {
    "ticdc-canal-json": _TICDC_ORDER,
    "ticdc-simple-json": _SIMPLE_ORDER,
    "ticdc-simple-avro": _SIMPLE_ORDER,
    "alibaba-canal-json": Order((), (Citation("canal#no-position"), Citation("canal#partition")), Provenance.OBSERVED),
    "cloudcanal-json": Order((), (Citation("cloudcanal#exec-ts"), Citation("cloudcanal#keys-empty")), keys="table"),
    "cloudcanal-canal-json": Order((), (Citation("cloudcanal#canal-es"), Citation("cloudcanal#canal-id"))),
    "cloudcanal-debezium": Order((_FILE_POSITION,), (Citation("cloudcanal-envelope#source-position"),), keys="table"),
    "aliyun-dts-avro": Order(
        (_OFFSET_AT_FILE, _NUMBER), (Citation("aliyun#source-position"), Citation("aliyun#one-partition")), Provenance.OBSERVED
    ),
    "tencent-dts-json": Order((_OFFSET_AT_FILE,), (Citation("tencent#position"), Citation("tencent#order"))),
    "huawei-cdl-json": Order((_NUMBER,), (Citation("huawei#log-position"),)),
    "huawei-cdl-debezium": Order((_NUMBER,), (Citation("huawei#log-position"),)),
    "debezium-json": Order(
        (_FILE_POSITION_ROW, _NUMBER),
        (Citation("debezium#source-mysql"), Citation("debezium#source-postgresql")),
        Provenance.OBSERVED,
        placeholders=_UNAVAILABLE,
    ),
}
"""Canal and CloudCanal's forms of it have no total order: `es` and `execTs` order commits, arrival decides among equals."""


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
        "convergence",
        "When the stream has been read to its end, the kept tables are the source's tables, row by row and cell by cell.",
        Effect.WRONG_VALUE,
    ),
)


@cache
def rules(fmt: str) -> tuple[Rule, ...]:
    """The stream rules of a format, `<format>/stream/<name>`. Raises UnknownName."""
    assert get(fmt).name in FORMATS
    order = ORDERS[fmt]
    has = {"schema": order.keys == "schema", "watermarks": order.watermarks}
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
