"""What a decoder of Huawei CDL's Debezium JSON (message_version 2.0) owes, special before general."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from conformance.rules.base import Aspect, Citation, Effect, Selector
from conformance.rules.book import ASSUMED, DOCUMENTED, SHOULD, UNSPECIFIED, Book, value
from conformance.rules.families import cdl as _cdl
from conformance.rules.order import NUMBER, Order

_BOOK: Final = Book("huawei-cdl-debezium", DOCUMENTED)

_NAMES: Final = (
    _BOOK.rule(
        "rows/heartbeat-identifier",
        "HEARTBEAT_IDENTIFIER, which the table lists and the example lacks, does not make a heartbeat of a row.",
        Effect.LOST_CHANGE,
        Selector(fields=("change",), aspects=(Aspect.KIND,), kinds=("ROW",), profiles=("*heartbeat-identifier*",)),
        "huawei#heartbeat-identifier",
        obligation=UNSPECIFIED,
    ),
    _BOOK.rule(
        "rows/envelope-name",
        "The envelope's schema is called schema.table, not *.Envelope, and the message is a row change all the same.",
        Effect.STOPPED_PIPELINE,
        Selector(fields=("change",), aspects=(Aspect.KIND,), kinds=("ROW",)),
        "huawei#envelope-name",
    ),
)

_DATABASE: Final = _BOOK.rule(
    "envelope/database",
    "source.db is the database and source.schema the schema.",
    Effect.WRONG_TABLE,
    Selector(fields=("database", "schema")),
    "huawei#database",
    "huawei#names",
)

_TIMES: Final = (
    _BOOK.rule(
        "value/timestamp-text",
        "A timestamp is text under a logical type that ends in .timestamp; the document shows only null, so the form is a guess.",
        Effect.TIME_SHIFT,
        replace(value("datetime"), levels=(2,)),
        "huawei#timestamp-text",
        obligation=SHOULD,
        provenance=ASSUMED,
    ),
    _BOOK.rule(
        "value/timestamp-zone",
        "A timestamptz is ZonedTimestamp text in UTC.",
        Effect.TIME_SHIFT,
        value("timestamp"),
        "huawei#debezium-source",
        "debezium#timestamp-zoned",
        provenance=ASSUMED,
    ),
    _BOOK.rule(
        "value/time",
        "A time is a number of microseconds since midnight (MicroTime).",
        Effect.TIME_SHIFT,
        value("time"),
        "huawei#debezium-source",
        "debezium#time-micros",
        provenance=ASSUMED,
    ),
)

RULES: Final = (
    _BOOK.after_the_document("huawei#kafka-connect"),
    *_BOOK.faults(domain=False),
    *_NAMES,
    *_cdl.rows(_BOOK, snapshot="op r is not listed though source.snapshot may be true, so a snapshot's row has op c"),
    *_cdl.envelope(_BOOK, time="source.ts_ms", position="source.lsn", database=_DATABASE),
    *_cdl.images(_BOOK, before="before", after="after"),
    *_TIMES,
    *_cdl.plain_values(_BOOK),
    _cdl.text(_BOOK),
)
"""Every rule of the format but the laws; the first that matches a comparison owns it."""

ORDER: Final = Order((NUMBER,), (Citation("huawei#log-position"),), ASSUMED)
"""How its changes are ordered (`conformance.rules.order`)."""
