"""What a decoder of TiCDC Simple in Avro owes, special before general; the first rule that matches owns a comparison."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from conformance.rules.base import Aspect, Effect, Rule, Selector
from conformance.rules.book import ASSUMED, EXISTENCE, OBSERVED, SHOULD, WHOLE
from conformance.rules.families.ticdc_order import SIMPLE
from conformance.rules.families.ticdc_simple.control import bootstrap, ddl, faults, watermark
from conformance.rules.families.ticdc_simple.retold import Retold, retold
from conformance.rules.families.ticdc_simple.rows import general, presence, reduced, rows, schemas
from conformance.rules.formats.ticdc_simple_avro.values import BOOK, VALUES

_RECORDS: Final = "ticdc#avro-records"

_rule = BOOK.rule

_OWN: Final = (
    _rule(
        "fault/contradiction",
        "A message whose type names another record than its payload's is none that TiCDC writes: one CORRUPT row.",
        Effect.SILENT_CORRUPTION,
        Selector(aspects=(Aspect.ACCEPTED,), tags=("fault:contradiction",)),
        _RECORDS,
        "harness#malformed",
        "ticdc#own-decoder-lenient",
        provenance=ASSUMED,
    ),
    _rule(
        "framing/union-index",
        "A value is one datum of the schema's union of twelve records: the byte 16, then Message's own fields.",
        Effect.LOST_CHANGE,
        Selector(fields=("change",), aspects=EXISTENCE, tags=("framing",)),
        "ticdc#avro-framing",
        "standards#avro-union",
    ),
    _rule(
        "ddl/bit-default-not-utf-8",
        "A BIT column's default may be bytes that are no UTF-8 where the schema says string; the DDL is not lost for it.",
        Effect.LOST_SCHEMA_CHANGE,
        Selector(fields=("change",), aspects=WHOLE, tags=("default:bit-not-utf-8",)),
        "ticdc#simple-bit-default",
        obligation=SHOULD,
    ),
)

_WORDS: Final[Mapping[str, Retold]] = {
    "ddl/bit-default": Retold(
        "A BIT column's default is a raw byte string, not the number that the document shows; the message stays readable.",
    ),
    "ddl/without-table-schema": Retold(
        "A statement on a database has null in tableSchema and in preTableSchema and is a DDL change all the same.",
    ),
    "ddl/kind": Retold(
        "The type DDL tells a DDL; which one, CREATE or ALTER, its payload's own type tells.",
        (_RECORDS, "ticdc#simple-types"),
        provenance=OBSERVED,
    ),
    "ddl/names": Retold(
        "A DDL has no database and table of its own: they are tableSchema.database, JSON's schema, and tableSchema.table.",
        (_RECORDS, "ticdc#simple-ddl"),
        provenance=OBSERVED,
    ),
    "ddl/sql": Retold("sql is the statement as TiDB restored it."),
    "watermark/not-dropped": Retold(
        "A WATERMARK has three fields and is still exactly one readable change in each partition.",
    ),
    "bootstrap/not-dropped": Retold(
        "A BOOTSTRAP, which has no commitTs, is exactly one readable change, in every partition that has it.",
        (_RECORDS, "ticdc#simple-bootstrap", "ticdc#simple-bootstrap-sending"),
    ),
    "bootstrap/position": Retold(
        "A BOOTSTRAP has no commitTs, not even JSON's 0: it has no position.",
        (_RECORDS, "ticdc#simple-bootstrap"),
        obligation=SHOULD,
    ),
    "bootstrap/commit-time": Retold(
        "A BOOTSTRAP has no commitTs, and so no commit time.", (_RECORDS, "ticdc#simple-bootstrap"), provenance=OBSERVED
    ),
    "bootstrap/names": Retold(
        "A BOOTSTRAP's database and table are tableSchema.database, JSON's schema, and tableSchema.table; it has no statement.",
        (_RECORDS, "ticdc#simple-bootstrap"),
        provenance=OBSERVED,
    ),
    "reduced/keyless": Retold(
        "A large message of a table without a key has empty maps; a row without columns or CORRUPT are as good.",
    ),
    "op/delete-row-in-old": Retold(
        "A DELETE's data is null: its row is in old and is the before image; after is NULL.", ("ticdc#simple-images", _RECORDS)
    ),
    "change/kind": Retold("The type DML is a row, whatever optional fields its payload has.", (_RECORDS,), provenance=OBSERVED),
    "change/op": Retold("The payload's own type tells a row's operation.", (_RECORDS, "ticdc#simple-types"), provenance=OBSERVED),
    "change/corrupt": Retold(
        "A message as TiCDC writes it is readable, with any columns in any order and with the optional fields null.",
        (_RECORDS, "ticdc#avro-framing"),
    ),
    "image/sides": Retold(
        "data is the after image of INSERT and UPDATE, old the before image of UPDATE; an image that is null is NULL.",
        ("ticdc#simple-images", _RECORDS),
    ),
}

RULES: Final[tuple[Rule, ...]] = (
    *faults(BOOK, "avro"),
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
