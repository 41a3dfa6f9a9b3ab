"""What a decoder of CloudCanal's Canal Json owes, special before general.

Citations name document 001, reference/canal.md 5 (against Canal) and reference/cloud_vendors.md 4.2 and 4.4 (contradictions,
CC-n).
"""

from __future__ import annotations

from typing import Final

from conformance.rules.base import Aspect, Citation, Effect, Selector
from conformance.rules.book import ASSUMED, CONTENT, DOCUMENTED, EXISTENCE, SHOULD, UNSPECIFIED, Book, changes
from conformance.rules.families import mysql_values as _mysql_values
from conformance.rules.families.cloudcanal import DOCUMENT, REFERENCE, values
from conformance.rules.order import Order

_BOOK: Final = Book("cloudcanal-canal-json", DOCUMENTED)
_CANAL: Final = "reference/canal.md"
_TABLE: Final = (DOCUMENT, "Canal Json, field table")
_DML: Final = (DOCUMENT, "Canal Json, DML example")
_DDL: Final = (DOCUMENT, "Canal Json, DDL example")

_STATEMENTS: Final = (
    _BOOK.rule(
        "ddl/document",
        "The documented DDL message is DDL: neither [] in data, old and pkNames nor tableChanges (one object, positions from 0) "
        "make it a row or an error.",
        Effect.LOST_SCHEMA_CHANGE,
        changes(kinds=("DDL",), tags=("ddl:document",)),
        _DDL,
        (REFERENCE, "4.4 CC-5"),
        (_CANAL, "5: SeaTunnel tests data for null and stops"),
    ),
    _BOOK.rule(
        "ddl/unlisted-type",
        "isDdl true makes a message DDL whatever its type, of which only ALTER is documented.",
        Effect.STOPPED_PIPELINE,
        changes(kinds=("DDL",), tags=("ddl:unlisted",)),
        _TABLE,
        (_CANAL, "5"),
        provenance=ASSUMED,
    ),
    _BOOK.rule(
        "ddl/kind",
        "isDdl true is one DDL change: data is [], not null, and holds no row.",
        Effect.PHANTOM_ROW,
        changes(kinds=("DDL",)),
        _TABLE,
        _DDL,
        (_CANAL, "5: branch on isDdl first"),
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
        "The type maps of a DDL, null in Canal, are those of the table after the statement.",
        Effect.SILENT_CORRUPTION,
        Selector(fields=("types",), kinds=("DDL",)),
        _DDL,
        (REFERENCE, "4.4 CC-8"),
        obligation=SHOULD,
    ),
    _BOOK.rule(
        "ddl/keys",
        "pkNames of a DDL is [] although tableChanges names the key: keys are pkNames.",
        Effect.WRONG_ROW_KEY,
        Selector(fields=("keys",), kinds=("DDL",)),
        _DDL,
        (REFERENCE, "4.4 CC-7"),
        obligation=UNSPECIFIED,
    ),
)

_ROWS: Final = (
    _BOOK.rule(
        "rows/old-null",
        "INSERT and DELETE with old null are rows.",
        Effect.LOST_CHANGE,
        Selector(fields=("change",), aspects=EXISTENCE, ops=("INSERT", "DELETE"), profiles=("*null-old*",)),
        (_CANAL, "5: old of INSERT and DELETE is not stated"),
        provenance=ASSUMED,
    ),
    _BOOK.rule(
        "rows/old-absent",
        "INSERT and DELETE without old are rows.",
        Effect.LOST_CHANGE,
        Selector(fields=("change",), aspects=EXISTENCE, ops=("INSERT", "DELETE"), profiles=("*without-old*",)),
        (_CANAL, "5: old of INSERT and DELETE is not stated"),
        provenance=ASSUMED,
    ),
    _BOOK.rule(
        "rows/batch",
        "Every element of data is one change, in order; equal rows too.",
        Effect.LOST_CHANGE,
        Selector(fields=("change",), aspects=EXISTENCE, kinds=("ROW",), tags=("batch",)),
        _TABLE,
        (REFERENCE, "4.4 CC-14"),
    ),
    _BOOK.rule(
        "rows/pairing",
        "old[i] is the old row of data[i].",
        Effect.WRONG_VALUE,
        Selector(fields=("cell",), aspects=CONTENT, sides=("before",), ops=("UPDATE",), tags=("batch",)),
        (_CANAL, "1.2"),
        (REFERENCE, "4.4 CC-14"),
        obligation=SHOULD,
        provenance=ASSUMED,
    ),
    _BOOK.rule(
        "rows/readable",
        "A message with isDdl false is its rows; old may be [].",
        Effect.LOST_CHANGE,
        Selector(fields=("change",), aspects=EXISTENCE, kinds=("ROW",)),
        _DML,
        (_CANAL, "5"),
    ),
    _BOOK.rule(
        "rows/op",
        "type is the operation: one of the three words that the example runs together.",
        Effect.WRONG_OP,
        Selector(fields=("change",), aspects=(Aspect.OP,), kinds=("ROW",)),
        _TABLE,
        (REFERENCE, "4.4 CC-10"),
    ),
    _BOOK.one_each(),
)

_ENVELOPE: Final = (
    _BOOK.rule(
        "envelope/keys",
        "pkNames are the names of the source's primary key, in its order; [] is no key.",
        Effect.WRONG_ROW_KEY,
        Selector(fields=("keys",)),
        _TABLE,
        _DML,
    ),
    _BOOK.rule(
        "envelope/position",
        "id is described as a sequence number and is 0 in every example, so it gives no order and refuses no message.",
        Effect.WRONG_ORDER,
        Selector(fields=("position",)),
        _TABLE,
        (REFERENCE, "4.4 CC-12"),
        obligation=SHOULD,
    ),
    _BOOK.rule(
        "envelope/commit-time",
        "es, in milliseconds, is the commit time; ts is when the message went out.",
        Effect.TIME_SHIFT,
        Selector(fields=("commit_time",)),
        _TABLE,
    ),
    _BOOK.rule(
        "envelope/types",
        "types are mysqlType as it stands, lengths included.",
        Effect.SILENT_CORRUPTION,
        Selector(fields=("types",)),
        _TABLE,
        _DML,
        obligation=SHOULD,
    ),
    _BOOK.rule(
        "envelope/names",
        "database and table are the message's, compared exactly; a row has no DDL text.",
        Effect.WRONG_TABLE,
        Selector(aspects=(Aspect.FIELD,)),
        _TABLE,
    ),
)

_IMAGES: Final = (
    _BOOK.rule(
        "image/delete-in-data",
        "DELETE has its rows in data, as in Canal: they are before images, and there is no after image.",
        Effect.LOST_DELETE,
        Selector(aspects=(Aspect.IMAGE,), ops=("DELETE",)),
        (DOCUMENT, "Canal Json, data and the comment on old"),
        (_CANAL, "2.1"),
    ),
    _BOOK.rule(
        "image/sides",
        "INSERT has an after image alone, also with old []; UPDATE has both.",
        Effect.PHANTOM_ROW,
        Selector(aspects=(Aspect.IMAGE,)),
        _DML,
    ),
    _BOOK.rule(
        "image/whole-old",
        "old holds whole rows, unchanged columns and the key too, where Canal has the changed ones.",
        Effect.NULL_FOR_ABSENT,
        Selector(aspects=(Aspect.PRESENCE,), sides=("before",), ops=("UPDATE",)),
        _DML,
        (_CANAL, "5"),
    ),
    _BOOK.rule(
        "image/columns",
        "An image has exactly the columns of its row.",
        Effect.NULL_FOR_ABSENT,
        Selector(aspects=(Aspect.PRESENCE,)),
        _DML,
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
            "Canal Json, DML example",
            enum="ENUM is the 1-based index as text, 0 for the empty value, as in Canal.",
            sets="SET is an unsigned mask as text, as in Canal.",
            cite=((_CANAL, "3.2, 5: values of this variant are undocumented"),),
            without=("label-ambiguous",),
        ),
    ),
)
"""Every rule of the format but the laws; the first that matches a comparison owns it."""

ORDER: Final = Order((), (Citation("reference/canal.md", "5"), Citation(REFERENCE, "4.2")))
"""No total order: `es` orders commits, arrival decides among equals."""
