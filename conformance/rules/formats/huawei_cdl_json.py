"""What a decoder of Huawei CDL JSON (message_version 1.0) owes, special before general."""

from __future__ import annotations

from typing import Final

from conformance.rules.base import Aspect, Citation, Effect, Selector
from conformance.rules.book import ASSUMED, DOCUMENTED, Book, value
from conformance.rules.families import cdl as _cdl
from conformance.rules.order import NUMBER, Order

_BOOK: Final = Book("huawei-cdl-json", DOCUMENTED)

_IDENTIFIER: Final = _BOOK.rule(
    "rows/heartbeat-identifier",
    "HEARTBEAT_IDENTIFIER stands in the INSERT of a user's table: it does not make a heartbeat of a row.",
    Effect.LOST_CHANGE,
    Selector(fields=("change",), aspects=(Aspect.KIND,), kinds=("ROW",)),
    "huawei#heartbeat-identifier",
)

_DATABASE: Final = _BOOK.rule(
    "envelope/database",
    "The message does not name the database; SEG_OWNER is the schema.",
    Effect.WRONG_TABLE,
    Selector(fields=("database",)),
    "huawei#database",
)

_TIMES: Final = (
    _BOOK.rule(
        "value/timestamp",
        "A timestamp is a number of milliseconds since the epoch (Connect's Timestamp); version 2.0 of the same column is text.",
        Effect.TIME_SHIFT,
        value("datetime", "timestamp"),
        "huawei#timestamp-millis",
        "connect#timestamp",
    ),
    _BOOK.rule(
        "value/time",
        "A time is a number of milliseconds since midnight (Connect's Time).",
        Effect.TIME_SHIFT,
        value("time"),
        "huawei#kafka-connect",
        "connect#time",
        provenance=ASSUMED,
    ),
)

RULES: Final = (
    _BOOK.after_the_document("huawei#kafka-connect"),
    *_BOOK.faults(domain=False),
    _IDENTIFIER,
    *_cdl.rows(
        _BOOK, snapshot="The document has no snapshot operation for this version, so a snapshot's row has OPERATION INSERT"
    ),
    *_cdl.envelope(
        _BOOK, time="TIMESTAMP", position="The entry named lsn of transaction.properties, an array,", database=_DATABASE
    ),
    *_cdl.images(_BOOK, before="before", after="data"),
    *_TIMES,
    *_cdl.plain_values(_BOOK),
    _cdl.text(_BOOK),
)
"""Every rule of the format but the laws; the first that matches a comparison owns it."""

ORDER: Final = Order((NUMBER,), (Citation("huawei#log-position"),), ASSUMED)
"""How its changes are ordered (`conformance.rules.order`)."""
