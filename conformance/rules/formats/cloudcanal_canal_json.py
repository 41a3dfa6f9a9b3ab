"""What a decoder of CloudCanal's Canal Json owes, special before general."""

from __future__ import annotations

from typing import Final

from conformance.rules.base import Aspect, Citation, Effect, Selector
from conformance.rules.book import ASSUMED, CONTENT, DOCUMENTED, EXISTENCE, SHOULD, UNSPECIFIED, WHOLE, Book, changes
from conformance.rules.families import mysql_values as _mysql_values
from conformance.rules.families.cloudcanal import partial, values
from conformance.rules.order import Order

_BOOK: Final = Book("cloudcanal-canal-json", DOCUMENTED)

_STATEMENTS: Final = (
    _BOOK.rule(
        "ddl/document",
        "The documented DDL message is DDL: neither [] in data, old and pkNames nor tableChanges (one object, positions from 0) "
        "make it a row or an error.",
        Effect.LOST_SCHEMA_CHANGE,
        changes(kinds=("DDL",), tags=("ddl:document",)),
        "cloudcanal#canal-ddl-example",
    ),
    _BOOK.rule(
        "ddl/unlisted-type",
        "isDdl true makes a message DDL whatever its type, of which only ALTER is documented.",
        Effect.STOPPED_PIPELINE,
        changes(kinds=("DDL",), tags=("ddl:unlisted",)),
        "cloudcanal#canal-ddl-flag",
        "cloudcanal#canal-ddl-types-open",
        provenance=ASSUMED,
    ),
    _BOOK.rule(
        "ddl/kind",
        "isDdl true is one DDL change: data is [], not null, and holds no row.",
        Effect.PHANTOM_ROW,
        changes(kinds=("DDL",)),
        "cloudcanal#canal-ddl-flag",
        "cloudcanal#canal-ddl-example",
    ),
    _BOOK.rule(
        "ddl/sql",
        "sql is the whole statement, with comments and line ends.",
        Effect.LOST_SCHEMA_CHANGE,
        Selector(fields=("sql",), kinds=("DDL",)),
        "cloudcanal#canal-sql",
    ),
    _BOOK.rule(
        "ddl/types-after",
        "The type maps of a DDL, null in Canal, are those of the table after the statement.",
        Effect.SILENT_CORRUPTION,
        Selector(fields=("types",), kinds=("DDL",)),
        "cloudcanal#canal-types-after",
        obligation=SHOULD,
    ),
    _BOOK.rule(
        "ddl/keys",
        "pkNames of a DDL is [] although tableChanges names the key: keys are pkNames.",
        Effect.WRONG_ROW_KEY,
        Selector(fields=("keys",), kinds=("DDL",)),
        "cloudcanal#canal-keys",
        obligation=UNSPECIFIED,
    ),
)

_ROWS: Final = (
    _BOOK.rule(
        "rows/deleted-in-both",
        "A DELETE that has its rows in data and in old, as the example has both lists, is its rows whichever list is read.",
        Effect.LOST_DELETE,
        Selector(fields=("change", "image"), aspects=(*WHOLE, Aspect.IMAGE), ops=("DELETE",), profiles=("*deleted-in-both*",)),
        "cloudcanal#delete-open",
        "cloudcanal#canal-row-example",
        provenance=ASSUMED,
    ),
    _BOOK.rule(
        "rows/deleted-in-data",
        "A DELETE without old has its rows in data, as in Canal: the field table alone would have them in old.",
        Effect.LOST_DELETE,
        Selector(fields=("change",), aspects=EXISTENCE, ops=("DELETE",)),
        "cloudcanal#delete-open",
        "canal#delete-in-data",
        obligation=SHOULD,
        provenance=ASSUMED,
    ),
    _BOOK.rule(
        "rows/old-null",
        "An INSERT with old null is its rows.",
        Effect.LOST_CHANGE,
        Selector(fields=("change",), aspects=EXISTENCE, ops=("INSERT",), profiles=("*null-old*",)),
        "cloudcanal#canal-old-open",
        provenance=ASSUMED,
    ),
    _BOOK.rule(
        "rows/old-absent",
        "An INSERT without old is its rows.",
        Effect.LOST_CHANGE,
        Selector(fields=("change",), aspects=EXISTENCE, ops=("INSERT",), profiles=("*without-old*",)),
        "cloudcanal#canal-old-open",
        provenance=ASSUMED,
    ),
    _BOOK.rule(
        "rows/batch",
        "Every element of data is one change, in order; equal rows too.",
        Effect.LOST_CHANGE,
        Selector(fields=("change",), aspects=EXISTENCE, kinds=("ROW",), tags=("batch",)),
        "cloudcanal#canal-batch",
    ),
    _BOOK.rule(
        "rows/pairing",
        "old[i] is the old row of data[i].",
        Effect.WRONG_VALUE,
        Selector(fields=("cell",), aspects=CONTENT, sides=("before",), ops=("UPDATE",), tags=("batch",)),
        "cloudcanal#pairing-open",
        "canal#old-by-index",
        obligation=SHOULD,
        provenance=ASSUMED,
    ),
    _BOOK.rule(
        "rows/readable",
        "A message with isDdl false is its rows; old may be [].",
        Effect.LOST_CHANGE,
        Selector(fields=("change",), aspects=EXISTENCE, kinds=("ROW",)),
        "cloudcanal#canal-ddl-flag",
        "cloudcanal#canal-row-example",
    ),
    _BOOK.rule(
        "rows/op",
        "type is the operation: one of the three words that the example runs together.",
        Effect.WRONG_OP,
        Selector(fields=("change",), aspects=(Aspect.OP,), kinds=("ROW",)),
        "cloudcanal#canal-type",
    ),
    _BOOK.one_each(),
)

_ENVELOPE: Final = (
    _BOOK.rule(
        "envelope/keys",
        "pkNames are the names of the source's primary key, in its order; [] is no key.",
        Effect.WRONG_ROW_KEY,
        Selector(fields=("keys",)),
        "cloudcanal#canal-keys",
    ),
    _BOOK.rule(
        "envelope/position",
        "id is described as a sequence number and is 0 in every example, so it gives no order and refuses no message.",
        Effect.WRONG_ORDER,
        Selector(fields=("position",)),
        "cloudcanal#canal-id",
        obligation=SHOULD,
    ),
    _BOOK.rule(
        "envelope/commit-time",
        "es, in milliseconds, when the source executed the statement, stands for the commit's time; ts does not.",
        Effect.TIME_SHIFT,
        Selector(fields=("commit_time",)),
        "cloudcanal#canal-es",
        obligation=SHOULD,
    ),
    _BOOK.rule(
        "envelope/types",
        "types are mysqlType as it stands, lengths included.",
        Effect.SILENT_CORRUPTION,
        Selector(fields=("types",)),
        "cloudcanal#canal-types",
        obligation=SHOULD,
    ),
    _BOOK.rule(
        "envelope/names",
        "database and table are the message's, compared exactly; a row has no DDL text.",
        Effect.WRONG_TABLE,
        Selector(aspects=(Aspect.FIELD,)),
        "cloudcanal#canal-names",
        "cloudcanal#canal-sql",
    ),
)

_IMAGES: Final = (
    _BOOK.rule(
        "image/delete-in-data",
        "DELETE has its rows in data, as in Canal: they are before images, and there is no after image.",
        Effect.LOST_DELETE,
        Selector(aspects=(Aspect.IMAGE,), ops=("DELETE",)),
        "cloudcanal#delete-open",
        "cloudcanal#canal-compatible",
        "canal#delete-in-data",
        obligation=SHOULD,
        provenance=ASSUMED,
    ),
    _BOOK.rule(
        "image/sides",
        "INSERT has an after image alone, also with old []; UPDATE has both.",
        Effect.PHANTOM_ROW,
        Selector(aspects=(Aspect.IMAGE,)),
        "cloudcanal#canal-row-example",
        provenance=ASSUMED,
    ),
    *partial(_BOOK, "old"),
    _BOOK.rule(
        "image/whole-old",
        "old holds whole rows, unchanged columns and the key too, where Canal has the changed ones.",
        Effect.NULL_FOR_ABSENT,
        Selector(aspects=(Aspect.PRESENCE,), sides=("before",), ops=("UPDATE",)),
        "cloudcanal#canal-row-example",
        "cloudcanal#before-whole-open",
        obligation=SHOULD,
        provenance=ASSUMED,
    ),
    _BOOK.rule(
        "image/columns",
        "An image has exactly the columns of its row.",
        Effect.NULL_FOR_ABSENT,
        Selector(aspects=(Aspect.PRESENCE,)),
        "cloudcanal#canal-row-example",
    ),
)

RULES: Final = (
    *_BOOK.faults(),
    *_STATEMENTS,
    *_ROWS,
    *_ENVELOPE,
    *_IMAGES,
    *_mysql_values.rules(
        _BOOK,
        values(
            enum="ENUM is the 1-based index as text, 0 for the empty value, as in Canal.",
            sets="SET is an unsigned mask as text, as in Canal.",
            cite=("cloudcanal#canal-compatible", "canal#enums", "canal#sets", "canal#bits"),
            without=("label-ambiguous",),
        ),
    ),
)
"""Every rule of the format but the laws; the first that matches a comparison owns it."""

ORDER: Final = Order((), (Citation("cloudcanal#canal-es"), Citation("cloudcanal#canal-id")), ASSUMED)
"""No total order: `es` orders commits, arrival decides among equals."""
