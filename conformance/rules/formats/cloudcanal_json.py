"""What a decoder of CloudCanal Json owes, special before general.

Citations name document 001 and reference/cloud_vendors.md 4; its 4.4 numbers the document's contradictions (CC-n).
"""

from __future__ import annotations

from typing import Final

from conformance.rules.base import Aspect, Citation, Effect, Selector
from conformance.rules.book import ASSUMED, CONTENT, DOCUMENTED, EXISTENCE, SHOULD, UNSPECIFIED, WHOLE, Book, changes
from conformance.rules.families import mysql_values as _mysql_values
from conformance.rules.families.cloudcanal import DOCUMENT, REFERENCE, values
from conformance.rules.order import Order

_BOOK: Final = Book("cloudcanal-json", DOCUMENTED)
_TABLE: Final = (DOCUMENT, "CloudCanal Json, field table")
_DML: Final = (DOCUMENT, "CloudCanal Json, DML example")
_DDL: Final = (DOCUMENT, "CloudCanal Json, DDL example")

_CONTROL: Final = (
    _BOOK.rule(
        "control/transaction-end",
        "A message with entryType TRANSACTIONEND ends a transaction: it is no row and no error.",
        Effect.PHANTOM_ROW,
        changes(kinds=("TRANSACTION",)),
        _TABLE,
        (REFERENCE, "4.1: no example"),
    ),
    _BOOK.rule(
        "control/transaction-names",
        "A TRANSACTIONEND names no table; nothing documents what its fields hold.",
        Effect.WRONG_TABLE,
        Selector(fields=("database", "schema", "table", "keys", "types", "sql"), kinds=("TRANSACTION",)),
        (REFERENCE, "4.1: no example"),
        obligation=UNSPECIFIED,
        provenance=ASSUMED,
    ),
)

_STATEMENTS: Final = (
    _BOOK.rule(
        "ddl/older-key",
        "Where the older edition's ddl stands in place of isDdl, ddl true makes a message DDL.",
        Effect.LOST_SCHEMA_CHANGE,
        Selector(fields=("change",), aspects=WHOLE, kinds=("DDL",), profiles=("*ddl-key*",)),
        (REFERENCE, "4.4 CC-9"),
        ("reference/canal.md", "5: accept both"),
        obligation=SHOULD,
    ),
    _BOOK.rule(
        "ddl/document",
        "The documented DDL message is DDL: entryType ROWDATA makes it no row, and tableChanges (one object, from 0) no error.",
        Effect.LOST_SCHEMA_CHANGE,
        changes(kinds=("DDL",), tags=("ddl:document",)),
        _DDL,
        (REFERENCE, "4.4 CC-5, CC-11"),
    ),
    _BOOK.rule(
        "ddl/unlisted-action",
        "isDdl true makes a message DDL whatever its action, of which only ALTER is documented.",
        Effect.STOPPED_PIPELINE,
        changes(kinds=("DDL",), tags=("ddl:unlisted",)),
        _TABLE,
        (REFERENCE, "4.1: other DDL actions not listed"),
        provenance=ASSUMED,
    ),
    _BOOK.rule(
        "ddl/kind",
        "isDdl true is one DDL change, though entryType is ROWDATA and data is empty.",
        Effect.LOST_SCHEMA_CHANGE,
        changes(kinds=("DDL",)),
        _TABLE,
        _DDL,
        (REFERENCE, "4.4 CC-11"),
    ),
    _BOOK.rule(
        "ddl/sql",
        "sql is the whole statement, with comments and line ends.",
        Effect.LOST_SCHEMA_CHANGE,
        Selector(fields=("sql",), kinds=("DDL",)),
        _TABLE,
    ),
    _BOOK.rule(
        "ddl/types-after",
        "The type maps of a DDL are those of the table after the statement.",
        Effect.SILENT_CORRUPTION,
        Selector(fields=("types",), kinds=("DDL",)),
        _DDL,
        (REFERENCE, "4.4 CC-8"),
        obligation=SHOULD,
    ),
    _BOOK.rule(
        "ddl/keys",
        "pks of a DDL is empty although tableChanges names the key: keys are pks.",
        Effect.WRONG_ROW_KEY,
        Selector(fields=("keys",), kinds=("DDL",)),
        _DDL,
        (REFERENCE, "4.4 CC-7"),
        obligation=UNSPECIFIED,
    ),
)

_ROWS: Final = (
    _BOOK.rule(
        "rows/deleted-in-before",
        "A DELETE whose data is empty has its rows in before: the other reading of a document that does not say.",
        Effect.LOST_DELETE,
        Selector(fields=("change", "image"), aspects=(*WHOLE, Aspect.IMAGE), ops=("DELETE",), profiles=("*deleted-in-before*",)),
        (REFERENCE, "4.1: DELETE location"),
        (REFERENCE, "6.4"),
        obligation=SHOULD,
        provenance=ASSUMED,
    ),
    _BOOK.rule(
        "rows/batch",
        "Every element of data is one change, in order; equal rows too.",
        Effect.LOST_CHANGE,
        Selector(fields=("change",), aspects=EXISTENCE, kinds=("ROW",), tags=("batch",)),
        (DOCUMENT, "formats: batch delivery; field table: List"),
        (REFERENCE, "4.4 CC-14"),
    ),
    _BOOK.rule(
        "rows/pairing",
        "before[i] is the old row of data[i].",
        Effect.WRONG_VALUE,
        Selector(fields=("cell",), aspects=CONTENT, sides=("before",), ops=("UPDATE",), tags=("batch",)),
        (REFERENCE, "4.1: Batching"),
        (REFERENCE, "4.4 CC-14"),
        obligation=SHOULD,
        provenance=ASSUMED,
    ),
    _BOOK.rule(
        "rows/readable",
        "A message with isDdl false is its rows.",
        Effect.LOST_CHANGE,
        Selector(fields=("change",), aspects=EXISTENCE, kinds=("ROW",)),
        _DML,
        (REFERENCE, "4.4 CC-10"),
    ),
    _BOOK.rule(
        "rows/op",
        "action is the operation: one of the three words that the example runs together.",
        Effect.WRONG_OP,
        Selector(fields=("change",), aspects=(Aspect.OP,), kinds=("ROW",)),
        _TABLE,
        (REFERENCE, "4.4 CC-10"),
    ),
    _BOOK.one_each(),
)

_ENVELOPE: Final = (
    _BOOK.rule(
        "envelope/keys-described",
        "pks are the names of the source's primary key, in its order.",
        Effect.WRONG_ROW_KEY,
        Selector(fields=("keys",), profiles=("*described*",)),
        _TABLE,
        obligation=SHOULD,
    ),
    _BOOK.rule(
        "envelope/keys-left-empty",
        "pks may be empty though the table has a key: keys are pks, and an empty array says nothing.",
        Effect.WRONG_ROW_KEY,
        Selector(fields=("keys",)),
        _DML,
        (REFERENCE, "4.4 CC-7"),
        obligation=SHOULD,
    ),
    _BOOK.rule(
        "envelope/position",
        "bid numbers the producer's batches: 0 in every example, so it gives no order and refuses no message.",
        Effect.WRONG_ORDER,
        Selector(fields=("position",)),
        _TABLE,
        (REFERENCE, "4.4 CC-12"),
        obligation=SHOULD,
    ),
    _BOOK.rule(
        "envelope/commit-time",
        "execTs, in milliseconds, is the commit time; sendTs is when the message went out.",
        Effect.TIME_SHIFT,
        Selector(fields=("commit_time",)),
        _TABLE,
    ),
    _BOOK.rule(
        "envelope/schema",
        "schema stands beside db; for MySQL they are equal.",
        Effect.WRONG_TABLE,
        Selector(fields=("schema",)),
        _TABLE,
        (REFERENCE, "4.1: schema = db for MySQL"),
    ),
    _BOOK.rule(
        "envelope/types",
        "types are dbValType as it stands, lengths included.",
        Effect.SILENT_CORRUPTION,
        Selector(fields=("types",)),
        _TABLE,
        _DML,
        obligation=SHOULD,
    ),
    _BOOK.rule(
        "envelope/names",
        "db and table are the message's, compared exactly; a row has no DDL text.",
        Effect.WRONG_TABLE,
        Selector(aspects=(Aspect.FIELD,)),
        _TABLE,
    ),
)

_IMAGES: Final = (
    _BOOK.rule(
        "image/delete-in-data",
        "DELETE has its rows in data, the current operation's: they are before images, and there is no after image.",
        Effect.LOST_DELETE,
        Selector(aspects=(Aspect.IMAGE,), ops=("DELETE",)),
        (DOCUMENT, "CloudCanal Json, data and the comment on before"),
        (REFERENCE, "4.1: DELETE location"),
    ),
    _BOOK.rule(
        "image/sides",
        "INSERT has an after image alone, UPDATE both.",
        Effect.PHANTOM_ROW,
        Selector(aspects=(Aspect.IMAGE,)),
        _DML,
    ),
    _BOOK.rule(
        "image/columns",
        "An image has exactly the columns of its row; before holds whole rows.",
        Effect.NULL_FOR_ABSENT,
        Selector(aspects=(Aspect.PRESENCE,)),
        _DML,
        (REFERENCE, "4.1: partial or full is not proved"),
    ),
)

RULES: Final = (
    *_BOOK.faults(),
    *_CONTROL,
    *_STATEMENTS,
    *_ROWS,
    *_ENVELOPE,
    *_IMAGES,
    *_mysql_values.rules(
        _BOOK,
        values("CloudCanal Json, DML example", enum="ENUM is its label.", sets="SET is its labels, joined by commas."),
    ),
)
"""Every rule of the format but the laws; the first that matches a comparison owns it."""

ORDER: Final = Order((), (Citation(REFERENCE, "4.1, 4.4 CC-7"),), keys="table")
"""No total order: `execTs` orders commits, arrival decides among equals."""
