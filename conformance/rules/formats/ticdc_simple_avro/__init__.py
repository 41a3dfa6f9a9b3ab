"""What a decoder of TiCDC's Simple protocol in Avro owes, special before general; the first rule that matches owns a comparison.

Sources: document 002 (TiCDC Simple Protocol), corrected where reference/ticdc.md 00, 1, 3, 4, 5 read the product otherwise.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from conformance.rules.base import Aspect, Effect, Rule, Selector
from conformance.rules.book import ASSUMED, AVRO, EXISTENCE, SHOULD, WHOLE
from conformance.rules.families.ticdc_order import SIMPLE
from conformance.rules.families.ticdc_simple.control import bootstrap, ddl, watermark
from conformance.rules.families.ticdc_simple.retold import DOCUMENT, REF, Retold, retold
from conformance.rules.families.ticdc_simple.rows import general, presence, reduced, rows, schemas
from conformance.rules.formats.ticdc_simple_avro.values import BOOK, VALUES

_RECORDS: Final = (REF, "4.1")
_FRAMING: Final = (REF, "4.2")
_DDL: Final = (DOCUMENT, "DDL")
_BOOTSTRAP: Final = (DOCUMENT, "BOOTSTRAP")
_TYPES: Final = (DOCUMENT, "Message types")

_rule = BOOK.rule

_OWN: Final = (
    _rule(
        "fault/contradiction",
        "A message whose type names another record than its payload's is none that TiCDC writes: one CORRUPT row.",
        Effect.SILENT_CORRUPTION,
        Selector(aspects=(Aspect.ACCEPTED,), tags=("fault:contradiction",)),
        (REF, "4.2: the frames of well-formed messages"),
        ("DESIGN", "3.6 Faults"),
        provenance=ASSUMED,
    ),
    _rule(
        "framing/union-index",
        "A value is one datum of the schema's union of twelve records: the byte 16, then Message's own fields.",
        Effect.LOST_CHANGE,
        Selector(fields=("change",), aspects=EXISTENCE, tags=("framing",)),
        _FRAMING,
        (AVRO, "Binary encoding: unions"),
    ),
    _rule(
        "ddl/bit-default-not-utf-8",
        "A BIT column's default may be bytes that are no UTF-8 where the schema says string; the DDL is not lost for it.",
        Effect.LOST_SCHEMA_CHANGE,
        Selector(fields=("change",), aspects=WHOLE, tags=("default:bit-not-utf-8",)),
        (REF, "00-5, 4.3"),
        obligation=SHOULD,
    ),
)

_WORDS: Final[Mapping[str, Retold]] = {
    "ddl/bit-default": Retold(
        "A BIT column's default is a raw byte string, not the number that the document shows; the message stays readable.",
        ((REF, "00-5, 4.3"), (DOCUMENT, "Column definition: default is a String")),
    ),
    "ddl/without-table-schema": Retold(
        "A statement on a database has null in tableSchema and in preTableSchema and is a DDL change all the same.",
    ),
    "ddl/kind": Retold("The type DDL tells a DDL; which one, CREATE or ALTER, its payload's own type tells.", (_RECORDS, _TYPES)),
    "ddl/names": Retold(
        "A DDL has no database and table of its own: they are tableSchema.database, JSON's schema, and tableSchema.table.",
        (_RECORDS, _DDL),
    ),
    "ddl/sql": Retold("sql is the statement as TiDB restored it.", (_DDL, (REF, "00-1, 1.6"))),
    "watermark/not-dropped": Retold(
        "A WATERMARK has three fields and is still exactly one readable change in each partition.",
    ),
    "bootstrap/not-dropped": Retold(
        "A BOOTSTRAP, which has no commitTs, is exactly one readable change, in every partition that has it.",
        (_RECORDS, _BOOTSTRAP, (REF, "3.5")),
    ),
    "bootstrap/position": Retold(
        "A BOOTSTRAP has no commitTs, not even JSON's 0: it has no position.", (_RECORDS, _BOOTSTRAP), obligation=SHOULD
    ),
    "bootstrap/commit-time": Retold("A BOOTSTRAP has no commitTs, and so no commit time.", (_RECORDS, _BOOTSTRAP)),
    "bootstrap/names": Retold(
        "A BOOTSTRAP's database and table are tableSchema.database, JSON's schema, and tableSchema.table; it has no statement.",
        (_RECORDS, _BOOTSTRAP),
    ),
    "reduced/keyless": Retold(
        "A large message of a table without a key has empty maps; a row without columns or CORRUPT are as good.",
        ((REF, "00-2, 4.1"),),
    ),
    "op/delete-row-in-old": Retold(
        "A DELETE's data is null: its row is in old and is the before image; after is NULL.", ((DOCUMENT, "DELETE"), _RECORDS)
    ),
    "change/kind": Retold("The type DML is a row, whatever optional fields its payload has.", (_RECORDS, _TYPES)),
    "change/op": Retold("The payload's own type tells a row's operation.", (_RECORDS, _TYPES)),
    "change/corrupt": Retold(
        "A message as TiCDC writes it is readable, with any columns in any order and with the optional fields null.",
        (_RECORDS, _FRAMING),
    ),
    "image/sides": Retold(
        "data is the after image of INSERT and UPDATE, old the before image of UPDATE; an image that is null is NULL.",
        ((DOCUMENT, "DML"), _RECORDS),
    ),
}

RULES: Final[tuple[Rule, ...]] = (
    *BOOK.faults("avro"),
    *_OWN,
    *retold(
        (
            *ddl(BOOK),
            *watermark(BOOK),
            *bootstrap(BOOK),
            *reduced(BOOK),
            *rows(BOOK),
            *schemas(BOOK),
            *presence(BOOK),
            *VALUES,
            *general(BOOK),
        ),
        _WORDS,
    ),
)

ORDER: Final = SIMPLE
"""How its changes are ordered (`conformance.rules.order`)."""
