"""What a decoder of Huawei CDL's Debezium JSON (message_version 2.0) owes, special before general."""

from __future__ import annotations

from typing import Final

from conformance.rules.base import Aspect, Citation, Effect, Selector
from conformance.rules.book import ASSUMED, DOCUMENTED, UNSPECIFIED, Book, value
from conformance.rules.families import cdl as _cdl
from conformance.rules.families.cdl import DEBEZIUM, DOCUMENT, REFERENCE
from conformance.rules.order import NUMBER, Order

_BOOK: Final = Book("huawei-cdl-debezium", DOCUMENTED)

_NAMES: Final = (
    _BOOK.rule(
        "rows/heartbeat-identifier",
        "HEARTBEAT_IDENTIFIER, which the table lists and the example lacks, does not make a heartbeat of a row.",
        Effect.LOST_CHANGE,
        Selector(fields=("change",), aspects=(Aspect.KIND,), kinds=("ROW",), profiles=("*heartbeat-identifier*",)),
        (DOCUMENT, "table 1 and Debezium JSON example"),
        (REFERENCE, "3.4 CDL-1"),
        obligation=UNSPECIFIED,
    ),
    _BOOK.rule(
        "rows/envelope-name",
        "The envelope's schema is called schema.table, not *.Envelope, and the message is a row change all the same.",
        Effect.STOPPED_PIPELINE,
        Selector(fields=("change",), aspects=(Aspect.KIND,), kinds=("ROW",)),
        (DOCUMENT, "Debezium JSON example"),
        (REFERENCE, "3.2, 3.4 CDL-10"),
        (DEBEZIUM, "5.2"),
    ),
)

_DATABASE: Final = _BOOK.rule(
    "envelope/database",
    "source.db is the database and source.schema the schema.",
    Effect.WRONG_TABLE,
    Selector(fields=("database", "schema")),
    (DOCUMENT, "table 1"),
)

_TIMES: Final = (
    _BOOK.rule(
        "value/timestamp-text",
        "A timestamp is text under a logical type that ends in .timestamp; the document shows only null, so the form is a guess.",
        Effect.TIME_SHIFT,
        value("datetime"),
        (DOCUMENT, "Debezium JSON example: time1"),
        (REFERENCE, "3.2, 3.4 CDL-4"),
        provenance=ASSUMED,
    ),
    _BOOK.rule(
        "value/timestamp-zone",
        "A timestamptz is ZonedTimestamp text in UTC.",
        Effect.TIME_SHIFT,
        value("timestamp"),
        (DEBEZIUM, "2.3"),
        provenance=ASSUMED,
    ),
    _BOOK.rule(
        "value/time",
        "A time is a number of microseconds since midnight (MicroTime).",
        Effect.TIME_SHIFT,
        value("time"),
        (DEBEZIUM, "2.3"),
        provenance=ASSUMED,
    ),
)

RULES: Final = (
    *_BOOK.faults(),
    *_NAMES,
    *_cdl.rows(_BOOK, snapshot="op r is not listed though source.snapshot may be true, so a snapshot's row has op c"),
    *_cdl.envelope(_BOOK, time="source.ts_ms", position="source.lsn", database=_DATABASE),
    *_cdl.images(_BOOK, before="before", after="after"),
    *_TIMES,
    *_cdl.plain_values(_BOOK),
    _cdl.text(_BOOK),
)
"""Every rule of the format but the laws; the first that matches a comparison owns it."""

ORDER: Final = Order((NUMBER,), (Citation(DOCUMENT), Citation(REFERENCE, "3.2")))
"""How its changes are ordered (`conformance.rules.order`)."""
