"""What a decoder of CloudCanal Json owes, special before general."""

from __future__ import annotations

from typing import Final

from conformance.rules.base import Aspect, Citation, Effect, Selector
from conformance.rules.book import ASSUMED, CONTENT, DOCUMENTED, EXISTENCE, SHOULD, UNSPECIFIED, WHOLE, Book, changes
from conformance.rules.families import mysql_values as _mysql_values
from conformance.rules.families.cloudcanal import partial, values
from conformance.rules.order import Order

_BOOK: Final = Book("cloudcanal-json", DOCUMENTED)

_CONTROL: Final = (
    _BOOK.rule(
        "rows/older-key",
        "A message with the older edition's ddl in place of isDdl is readable: its rows, and the end of a transaction.",
        Effect.STOPPED_PIPELINE,
        Selector(fields=("change",), aspects=(Aspect.CORRUPT,), kinds=("ROW", "TRANSACTION"), profiles=("*ddl-key*",)),
        "cloudcanal#ddl-key",
        obligation=SHOULD,
    ),
    _BOOK.rule(
        "control/transaction-end",
        "A message with entryType TRANSACTIONEND ends a transaction: it is no row and no error.",
        Effect.PHANTOM_ROW,
        changes(kinds=("TRANSACTION",)),
        "cloudcanal#transaction-end",
    ),
    _BOOK.rule(
        "control/transaction-names",
        "A TRANSACTIONEND names no table; nothing documents what its fields hold.",
        Effect.WRONG_TABLE,
        Selector(fields=("database", "schema", "table", "keys", "types", "sql"), kinds=("TRANSACTION",)),
        "cloudcanal#transaction-end-open",
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
        "cloudcanal#ddl-key",
        obligation=SHOULD,
    ),
    _BOOK.rule(
        "ddl/document",
        "The documented DDL message is DDL: entryType ROWDATA makes it no row, and tableChanges (one object, from 0) no error.",
        Effect.LOST_SCHEMA_CHANGE,
        changes(kinds=("DDL",), tags=("ddl:document",)),
        "cloudcanal#ddl-example",
        "cloudcanal#table-changes",
    ),
    _BOOK.rule(
        "ddl/unlisted-action",
        "isDdl true makes a message DDL whatever its action, of which only ALTER is documented.",
        Effect.STOPPED_PIPELINE,
        changes(kinds=("DDL",), tags=("ddl:unlisted",)),
        "cloudcanal#ddl-flag",
        "cloudcanal#ddl-actions-open",
        provenance=ASSUMED,
    ),
    _BOOK.rule(
        "ddl/kind",
        "isDdl true is one DDL change, though entryType is ROWDATA and data is empty.",
        Effect.LOST_SCHEMA_CHANGE,
        changes(kinds=("DDL",)),
        "cloudcanal#ddl-flag",
        "cloudcanal#ddl-example",
    ),
    _BOOK.rule(
        "ddl/sql",
        "sql is the whole statement, with comments and line ends.",
        Effect.LOST_SCHEMA_CHANGE,
        Selector(fields=("sql",), kinds=("DDL",)),
        "cloudcanal#sql",
    ),
    _BOOK.rule(
        "ddl/types-after",
        "The type maps of a DDL are those of the table after the statement.",
        Effect.SILENT_CORRUPTION,
        Selector(fields=("types",), kinds=("DDL",)),
        "cloudcanal#types-after",
        obligation=SHOULD,
    ),
    _BOOK.rule(
        "ddl/keys",
        "pks of a DDL is empty although tableChanges names the key: keys are pks.",
        Effect.WRONG_ROW_KEY,
        Selector(fields=("keys",), kinds=("DDL",)),
        "cloudcanal#keys-empty",
        "cloudcanal#table-changes",
        obligation=UNSPECIFIED,
    ),
)

_ROWS: Final = (
    _BOOK.rule(
        "rows/deleted-in-before",
        "A DELETE whose data is empty has its rows in before: the other reading of a document that does not say.",
        Effect.LOST_DELETE,
        Selector(fields=("change", "image"), aspects=(*WHOLE, Aspect.IMAGE), ops=("DELETE",), profiles=("*deleted-in-before*",)),
        "cloudcanal#delete-open",
        obligation=SHOULD,
        provenance=ASSUMED,
    ),
    _BOOK.rule(
        "rows/deleted-in-both",
        "A DELETE that has its rows in data and in before, as the example has both lists, is its rows whichever list is read.",
        Effect.LOST_DELETE,
        Selector(fields=("change", "image"), aspects=(*WHOLE, Aspect.IMAGE), ops=("DELETE",), profiles=("*deleted-in-both*",)),
        "cloudcanal#delete-open",
        "cloudcanal#row-example",
        provenance=ASSUMED,
    ),
    _BOOK.rule(
        "rows/deleted-in-data",
        "A DELETE whose before is empty has its rows in data: one reading of a document that does not say.",
        Effect.LOST_DELETE,
        Selector(fields=("change",), aspects=EXISTENCE, ops=("DELETE",)),
        "cloudcanal#delete-open",
        obligation=SHOULD,
        provenance=ASSUMED,
    ),
    _BOOK.rule(
        "rows/batch",
        "Every element of data is one change, in order; equal rows too.",
        Effect.LOST_CHANGE,
        Selector(fields=("change",), aspects=EXISTENCE, kinds=("ROW",), tags=("batch",)),
        "cloudcanal#batch",
    ),
    _BOOK.rule(
        "rows/pairing",
        "before[i] is the old row of data[i].",
        Effect.WRONG_VALUE,
        Selector(fields=("cell",), aspects=CONTENT, sides=("before",), ops=("UPDATE",), tags=("batch",)),
        "cloudcanal#pairing-open",
        "cloudcanal#batch",
        obligation=SHOULD,
        provenance=ASSUMED,
    ),
    _BOOK.rule(
        "rows/readable",
        "A message with isDdl false is its rows.",
        Effect.LOST_CHANGE,
        Selector(fields=("change",), aspects=EXISTENCE, kinds=("ROW",)),
        "cloudcanal#ddl-flag",
        "cloudcanal#row-example",
    ),
    _BOOK.rule(
        "rows/op",
        "action is the operation: one of the three words that the example runs together.",
        Effect.WRONG_OP,
        Selector(fields=("change",), aspects=(Aspect.OP,), kinds=("ROW",)),
        "cloudcanal#action",
    ),
    _BOOK.one_each(),
)

_ENVELOPE: Final = (
    _BOOK.rule(
        "envelope/keys-described",
        "pks are the names of the source's primary key, in its order.",
        Effect.WRONG_ROW_KEY,
        Selector(fields=("keys",), profiles=("*described*",)),
        "cloudcanal#keys",
        obligation=SHOULD,
    ),
    _BOOK.rule(
        "envelope/keys-left-empty",
        "pks may be empty though the table has a key: keys are pks, and an empty array says nothing.",
        Effect.WRONG_ROW_KEY,
        Selector(fields=("keys",)),
        "cloudcanal#keys",
        "cloudcanal#keys-empty",
        obligation=SHOULD,
    ),
    _BOOK.rule(
        "envelope/position",
        "bid numbers the producer's batches: 0 in every example, so it gives no order and refuses no message.",
        Effect.WRONG_ORDER,
        Selector(fields=("position",)),
        "cloudcanal#bid",
        obligation=SHOULD,
    ),
    _BOOK.rule(
        "envelope/commit-time",
        "execTs, in milliseconds, when the source executed the statement, stands for the commit's time; sendTs does not.",
        Effect.TIME_SHIFT,
        Selector(fields=("commit_time",)),
        "cloudcanal#exec-ts",
        obligation=SHOULD,
    ),
    _BOOK.rule(
        "envelope/schema",
        "schema stands beside db, and need not be equal to it.",
        Effect.WRONG_TABLE,
        Selector(fields=("schema",)),
        "cloudcanal#names",
    ),
    _BOOK.rule(
        "envelope/types",
        "types are dbValType as it stands, lengths included.",
        Effect.SILENT_CORRUPTION,
        Selector(fields=("types",)),
        "cloudcanal#types",
        obligation=SHOULD,
    ),
    _BOOK.rule(
        "envelope/names",
        "db and table are the message's, compared exactly; a row has no DDL text.",
        Effect.WRONG_TABLE,
        Selector(aspects=(Aspect.FIELD,)),
        "cloudcanal#names",
        "cloudcanal#sql",
    ),
)

_IMAGES: Final = (
    _BOOK.rule(
        "image/delete-in-data",
        "DELETE has its rows in data, the current operation's: they are before images, and there is no after image.",
        Effect.LOST_DELETE,
        Selector(aspects=(Aspect.IMAGE,), ops=("DELETE",)),
        "cloudcanal#delete-open",
        "canal#delete-in-data",
        obligation=SHOULD,
        provenance=ASSUMED,
    ),
    _BOOK.rule(
        "image/sides",
        "INSERT has an after image alone, UPDATE both.",
        Effect.PHANTOM_ROW,
        Selector(aspects=(Aspect.IMAGE,)),
        "cloudcanal#row-example",
        provenance=ASSUMED,
    ),
    *partial(_BOOK, "before"),
    _BOOK.rule(
        "image/columns",
        "An image has exactly the columns of its row; before holds whole rows.",
        Effect.NULL_FOR_ABSENT,
        Selector(aspects=(Aspect.PRESENCE,)),
        "cloudcanal#row-example",
        "cloudcanal#before-whole-open",
        provenance=ASSUMED,
    ),
)

RULES: Final = (
    *_BOOK.faults(),
    *_CONTROL,
    *_STATEMENTS,
    *_ROWS,
    *_ENVELOPE,
    *_IMAGES,
    *_mysql_values.rules(_BOOK, values(enum="ENUM is its label.", sets="SET is its labels, joined by commas.")),
)
"""Every rule of the format but the laws; the first that matches a comparison owns it."""

ORDER: Final = Order((), (Citation("cloudcanal#exec-ts"), Citation("cloudcanal#keys-empty")), ASSUMED, keys="table")
"""No total order: `execTs` orders commits, arrival decides among equals."""
