"""What a decoder of TiCDC Canal-JSON owes, special before general; the first rule that matches owns a comparison."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from conformance.rules.base import Aspect, Effect, Rule, Selector
from conformance.rules.book import ASSUMED, CONTENT, DOCUMENTED
from conformance.rules.families.ticdc_order import TICDC
from conformance.rules.formats.ticdc_canal_json.values import BOOK, LEGACY, VALUES

_PARTIAL: Final = ("*+only-updated*", "*+content-compatible*")

_rule = BOOK.rule

_FAULTS: Final = (
    _rule(
        "fault/cell-type",
        "A cell that does not fit its column's type makes its message one CORRUPT row, never a NULL or a wrapped number.",
        Effect.SILENT_CORRUPTION,
        Selector(fields=("change",), aspects=(Aspect.ACCEPTED,), tags=("fault:cell-*",)),
        "harness#cell-fits-type",
        "ticdc#own-decoder-lenient",
        provenance=ASSUMED,
    ),
    BOOK.cell_domain(),
    BOOK.no_such_message(),
    _rule(
        "fault/trailing-content",
        "Content after the JSON document, or a second document, makes the value one CORRUPT row.",
        Effect.SILENT_CORRUPTION,
        Selector(fields=("change",), aspects=(Aspect.ACCEPTED,), tags=("fault:trailing-content", "fault:second-document")),
        "ticdc#canal-one-row",
        "standards#json-document",
        "harness#malformed",
        "ticdc#own-decoder-lenient",
        provenance=ASSUMED,
    ),
    _rule(
        "fault/empty",
        "A null or empty value is no Canal-JSON message: one CORRUPT row.",
        Effect.LOST_CHANGE,
        Selector(fields=("change",), aspects=(Aspect.ACCEPTED,), tags=("fault:empty", "fault:null")),
        "ticdc#canal-empty-messages",
        "harness#malformed",
        provenance=ASSUMED,
    ),
    _rule(
        "fault/unreadable",
        "A value that is no whole Canal-JSON object (truncated, a number) is exactly one CORRUPT row.",
        Effect.SILENT_CORRUPTION,
        Selector(fields=("change",), aspects=(Aspect.ACCEPTED,)),
        "standards#json-document",
        "harness#malformed",
        provenance=ASSUMED,
    ),
    _rule(
        "fault/duplicate-key",
        "What becomes of a duplicate key is open, but the message still gives a row.",
        Effect.LOST_CHANGE,
        Selector(fields=("change",), aspects=(Aspect.MISSING,), tags=("fault:duplicate-key",)),
        "standards#json-doubtful",
        "harness#doubtful",
        "harness#every-offset",
        provenance=ASSUMED,
    ),
    _rule(
        "fault/encoding",
        "What becomes of a BOM, invalid UTF-8, lone surrogates, raw controls, nested cells, an array of the message is open, but "
        "a row is owed.",
        Effect.LOST_CHANGE,
        Selector(
            fields=("change",),
            aspects=(Aspect.MISSING,),
            tags=(
                "fault:bom",
                "fault:invalid-utf-8",
                "fault:lone-surrogate",
                "fault:raw-control",
                "fault:nested-cell",
                "fault:wrapped",
            ),
        ),
        "standards#json-doubtful",
        "harness#doubtful",
        "harness#every-offset",
        provenance=ASSUMED,
    ),
)

_DDL_RULES: Final = (
    _rule(
        "ddl/not-dropped",
        "A DDL message is a change of its own: its null data, sqlType and mysqlType make it neither unreadable nor nothing, nor "
        "does another one with the same commitTs.",
        Effect.LOST_SCHEMA_CHANGE,
        Selector(fields=("change",), aspects=(Aspect.MISSING, Aspect.CORRUPT), kinds=("DDL",)),
        "ticdc#canal-ddl",
        "ticdc#ddl-one-statement",
        provenance=DOCUMENTED,
    ),
    _rule(
        "ddl/kind",
        "isDdl true tells a DDL message, whatever its type says (QUERY, ALTER, TRUNCATE ...).",
        Effect.LOST_SCHEMA_CHANGE,
        Selector(fields=("change",), aspects=(Aspect.KIND, Aspect.OP), kinds=("DDL",)),
        "ticdc#canal-kinds",
        "ticdc#ddl-types",
        provenance=DOCUMENTED,
    ),
    _rule(
        "ddl/one-change",
        "A DDL message is one change without row images.",
        Effect.PHANTOM_ROW,
        Selector(fields=("change", "image"), aspects=(Aspect.EXTRA, Aspect.IMAGE), kinds=("DDL",)),
        "ticdc#canal-ddl",
        provenance=DOCUMENTED,
    ),
    _rule(
        "ddl/rename-new-name",
        "A RENAME names the table's new name.",
        Effect.WRONG_TABLE,
        Selector(fields=("database", "table"), tags=("ddl:rename table",)),
        "ticdc#canal-ddl-names",
    ),
    _rule(
        "ddl/database-level",
        "A statement on a database has an empty table name.",
        Effect.WRONG_TABLE,
        Selector(fields=("table",), tags=("ddl:create database", "ddl:drop database", "ddl:alter database")),
        "ticdc#canal-ddl-names",
        provenance=DOCUMENTED,
    ),
    _rule(
        "ddl/sql",
        "sql is the statement as TiDB restored it, with its JSON escapes undone.",
        Effect.LOST_SCHEMA_CHANGE,
        Selector(fields=("sql",), kinds=("DDL",)),
        "ticdc#ddl-restored",
        "ticdc#canal-ddl",
    ),
)

_WATERMARK_RULES: Final = (
    _rule(
        "watermark/not-dropped",
        "TIDB_WATERMARK has null data and empty names and is still exactly one readable change.",
        Effect.WRONG_ORDER,
        Selector(fields=("change",), aspects=(Aspect.MISSING, Aspect.EXTRA, Aspect.CORRUPT), kinds=("WATERMARK",)),
        "ticdc#canal-watermark",
        provenance=DOCUMENTED,
    ),
    _rule(
        "watermark/kind",
        "TIDB_WATERMARK with isDdl false is a watermark, not a row.",
        Effect.PHANTOM_ROW,
        Selector(fields=("change", "image"), aspects=(Aspect.KIND, Aspect.OP, Aspect.IMAGE), kinds=("WATERMARK",)),
        "ticdc#canal-kinds",
        "ticdc#canal-watermark",
        provenance=DOCUMENTED,
    ),
    _rule(
        "watermark/position",
        "A watermark's position is its watermarkTs, all digits kept, and its time is watermarkTs >> 18.",
        Effect.LOST_PRECISION,
        Selector(fields=("position", "commit_time"), kinds=("WATERMARK",)),
        "ticdc#canal-watermark",
        "ticdc#tso",
        provenance=DOCUMENTED,
    ),
)

_FRAMING: Final = (
    _rule(
        "framing/crlf",
        "v6.5 ends every DML value with CRLF: the message stays readable.",
        Effect.LOST_CHANGE,
        Selector(fields=("change",), aspects=(Aspect.MISSING, Aspect.CORRUPT), kinds=("ROW",), profiles=("v6.5.*",)),
        "ticdc#canal-crlf",
    ),
    _rule(
        "framing/compression",
        "Whole values are snappy blocks or lz4 frames when the deployment says so, and nothing in the message does.",
        Effect.LOST_CHANGE,
        Selector(fields=("change",), aspects=(Aspect.MISSING, Aspect.CORRUPT), profiles=("*+snappy", "*+lz4")),
        "ticdc#compression",
        "harness#deployment",
    ),
)

_OPS: Final = (
    _rule(
        "op/key-update",
        "An UPDATE of a key is DELETE and INSERT where the release splits it, and one UPDATE where it does not.",
        Effect.WRONG_OP,
        Selector(fields=("change",), aspects=(Aspect.OP, Aspect.MISSING, Aspect.EXTRA), tags=("key-update",)),
        "ticdc#key-update",
    ),
    _rule(
        "old/insert-null-array",
        "Before v5.4 an INSERT has old [null]: one INSERT without a before image.",
        Effect.PHANTOM_ROW,
        Selector(
            fields=("change", "image"),
            aspects=(Aspect.EXTRA, Aspect.CORRUPT, Aspect.OP, Aspect.IMAGE),
            ops=("INSERT",),
            profiles=LEGACY,
        ),
        "ticdc#canal-insert-old",
    ),
    _rule(
        "old/delete-before-v5.4",
        "Before v5.4 a DELETE repeats data in old: still one DELETE, with a before image only.",
        Effect.WRONG_OP,
        Selector(
            fields=("change", "image"),
            aspects=(Aspect.EXTRA, Aspect.CORRUPT, Aspect.OP, Aspect.IMAGE),
            ops=("DELETE",),
            profiles=LEGACY,
        ),
        "ticdc#canal-delete",
        provenance=DOCUMENTED,
    ),
    _rule(
        "op/delete-row-in-data",
        "A DELETE's row is in data and is its before image; after is NULL.",
        Effect.LOST_DELETE,
        Selector(fields=("image", "change"), aspects=(Aspect.IMAGE, Aspect.OP), ops=("DELETE",)),
        "ticdc#canal-delete",
        provenance=DOCUMENTED,
    ),
)

_REDUCED: Final = (
    _rule(
        "reduced/handle-key-only",
        "A message with onlyHandleKey holds the handle key's columns; the others are absent, not NULL.",
        Effect.NULL_FOR_ABSENT,
        Selector(fields=("cell", "types"), tags=("reduced",), profiles=("*handle-key-only*",)),
        "ticdc#canal-handle-key-only",
        "ticdc#handle-key",
    ),
    _rule(
        "reduced/claim-check",
        "A message with claimCheckLocation holds the handle key's columns and no flag; the others are absent, not NULL.",
        Effect.NULL_FOR_ABSENT,
        Selector(fields=("cell", "types"), tags=("reduced",), profiles=("*claim-check*",)),
        "ticdc#canal-claim-check",
        "ticdc#handle-key",
    ),
    _rule(
        "reduced/delete-handle-key",
        "With delete-only-output-handle-key-columns a DELETE holds the handle key's columns; the others are absent, not NULL.",
        Effect.NULL_FOR_ABSENT,
        Selector(
            fields=("cell", "types"),
            aspects=(Aspect.PRESENCE, Aspect.FIELD),
            ops=("DELETE",),
            profiles=("*+delete-handle-key*",),
        ),
        "ticdc#canal-delete-handle-key",
        "ticdc#handle-key",
    ),
    _rule(
        "reduced/readable",
        "A reduced message is still one change with its images: [{}] is an empty map.",
        Effect.LOST_CHANGE,
        Selector(
            fields=("change", "image"), aspects=(Aspect.MISSING, Aspect.CORRUPT, Aspect.EXTRA, Aspect.IMAGE), tags=("reduced",)
        ),
        "ticdc#canal-handle-key-only",
        "ticdc#canal-claim-check",
        "ticdc#canal-no-columns",
    ),
)

_OLD: Final = (
    _rule(
        "old/empty-object",
        "An old that lacks unchanged columns, even [{}], is a before image: an UPDATE's before is never NULL.",
        Effect.NULL_FOR_ABSENT,
        Selector(fields=("image",), aspects=(Aspect.IMAGE,), ops=("UPDATE",), sides=("before",), profiles=_PARTIAL),
        "ticdc#canal-old-partial",
    ),
    _rule(
        "old/overlay",
        "Typed rows complete a partial old from data: an unchanged column is not NULL in the pre-image.",
        Effect.NULL_FOR_ABSENT,
        Selector(
            fields=("cell",),
            aspects=(Aspect.PRESENCE, Aspect.NULL),
            ops=("UPDATE",),
            sides=("before",),
            levels=(2,),
            profiles=_PARTIAL,
        ),
        "ticdc#canal-old-completed",
        "ticdc#old-completed",
    ),
    _rule(
        "old/partial",
        "With only-output-updated-columns, old has the changed columns only; the others, which TiCDC's own decoder takes from "
        "data, are absent, not NULL.",
        Effect.NULL_FOR_ABSENT,
        Selector(
            fields=("cell",),
            aspects=(Aspect.PRESENCE,),
            ops=("UPDATE",),
            sides=("before",),
            states=("ABSENT",),
            profiles=_PARTIAL,
        ),
        "ticdc#canal-old-partial",
        "ticdc#canal-old-completed",
    ),
    _rule(
        "old/null-value",
        "A null in old is a column whose value was NULL, not a column that is absent.",
        Effect.NULL_FOR_ABSENT,
        Selector(
            fields=("cell",),
            aspects=(Aspect.PRESENCE, Aspect.NULL),
            ops=("UPDATE",),
            sides=("before",),
            states=("NULL",),
        ),
        "ticdc#canal-old-partial",
        "ticdc#canal-images",
    ),
    _rule(
        "old/all-columns",
        "Every column that old carries is in the before image: without options, all columns of the table.",
        Effect.NULL_FOR_ABSENT,
        Selector(fields=("cell",), aspects=(Aspect.PRESENCE,), ops=("UPDATE",), sides=("before",)),
        "ticdc#canal-images",
        provenance=DOCUMENTED,
    ),
)

_TYPES: Final = (
    _rule(
        "types/without-unsigned",
        "Before v5.4 mysqlType has no unsigned: it is passed on as it stands.",
        Effect.WRONG_VALUE,
        Selector(fields=("types",), profiles=LEGACY),
        "ticdc#canal-mysql-type",
    ),
    _rule(
        "types/content-compatible",
        "With content-compatible, mysqlType has the full type with its parameters and labels.",
        Effect.WRONG_VALUE,
        Selector(fields=("types",), profiles=("*+content-compatible*",)),
        "ticdc#canal-content-compatible",
    ),
    _rule(
        "types/bare",
        "types is mysqlType in any key order: bare names, with unsigned and (late releases) zerofill.",
        Effect.WRONG_VALUE,
        Selector(fields=("types",)),
        "ticdc#canal-mysql-type",
        "ticdc#canal-key-order",
        provenance=DOCUMENTED,
    ),
)

_ENVELOPE: Final = (
    _rule(
        "envelope/keys",
        "keys are the columns of pkNames, in any order; a table without a primary key has none.",
        Effect.WRONG_ROW_KEY,
        Selector(fields=("keys",)),
        "ticdc#canal-pk-names",
        "ticdc#keys-as-told",
        provenance=DOCUMENTED,
    ),
    _rule(
        "envelope/position",
        "position is _tidb.commitTs, all digits of a number beyond 2^53 kept, and NULL without the extension.",
        Effect.LOST_PRECISION,
        Selector(fields=("position",)),
        "ticdc#canal-extension",
        "ticdc#tso",
        provenance=DOCUMENTED,
    ),
    _rule(
        "envelope/commit-time",
        "The commit time is es in milliseconds, not ts.",
        Effect.TIME_SHIFT,
        Selector(fields=("commit_time",)),
        "ticdc#canal-fields",
        "ticdc#tso",
        provenance=DOCUMENTED,
    ),
    _rule(
        "envelope/names",
        "Database and table are those of the message, whatever the topic.",
        Effect.WRONG_TABLE,
        Selector(aspects=(Aspect.FIELD,)),
        "ticdc#canal-fields",
        provenance=DOCUMENTED,
    ),
)

_GENERAL: Final = (
    _rule(
        "change/zero-date-not-corrupt",
        "A zero date does not make its row CORRUPT.",
        Effect.LOST_CHANGE,
        Selector(fields=("change",), aspects=(Aspect.CORRUPT,), tags=("zero-date",)),
        "ticdc#dates-and-times",
        "standards#mysql-zero-dates",
        provenance=ASSUMED,
    ),
    _rule(
        "change/kind",
        "A message with isDdl false that is no watermark is a row change.",
        Effect.LOST_CHANGE,
        Selector(aspects=(Aspect.KIND,)),
        "ticdc#canal-kinds",
        provenance=DOCUMENTED,
    ),
    _rule(
        "change/op",
        "type tells the operation: INSERT, UPDATE or DELETE.",
        Effect.WRONG_OP,
        Selector(aspects=(Aspect.OP,)),
        "ticdc#canal-kinds",
        provenance=DOCUMENTED,
    ),
    _rule(
        "change/missing",
        "Every message gives its change.",
        Effect.LOST_CHANGE,
        Selector(aspects=(Aspect.MISSING,)),
        "ticdc#canal-one-row",
        "harness#every-offset",
        provenance=ASSUMED,
    ),
    _rule(
        "change/extra",
        "A message is one row change: data and old are arrays of one object.",
        Effect.PHANTOM_ROW,
        Selector(aspects=(Aspect.EXTRA,)),
        "ticdc#canal-one-row",
        provenance=DOCUMENTED,
    ),
    _rule(
        "change/corrupt",
        "A message as TiCDC writes it is readable, in any key order.",
        Effect.LOST_CHANGE,
        Selector(aspects=(Aspect.CORRUPT,)),
        "ticdc#canal-key-order",
        "ticdc#canal-fields",
    ),
    _rule(
        "image/sides",
        "data is the after image of INSERT and UPDATE, old the before image of UPDATE; an image that is not sent is NULL.",
        Effect.WRONG_VALUE,
        Selector(aspects=(Aspect.IMAGE,)),
        "ticdc#canal-images",
        provenance=DOCUMENTED,
    ),
    _rule(
        "cell/presence",
        "An image has the columns that the message carries, under names that keep their case and their characters.",
        Effect.NULL_FOR_ABSENT,
        Selector(aspects=(Aspect.PRESENCE,)),
        "ticdc#canal-images",
        provenance=DOCUMENTED,
    ),
    _rule(
        "cell/value",
        "Every other value is the text that stands on the wire.",
        Effect.WRONG_VALUE,
        Selector(aspects=CONTENT),
        "ticdc#canal-one-row",
        "ticdc#canal-fields",
    ),
)

RULES: Final[tuple[Rule, ...]] = (
    *_FAULTS,
    *_DDL_RULES,
    *_WATERMARK_RULES,
    *_FRAMING,
    *_OPS,
    *_REDUCED,
    *_OLD,
    *VALUES,
    *_TYPES,
    *_ENVELOPE,
    *_GENERAL,
)

ORDER: Final = replace(TICDC, tried="v7.1.6+extension")
"""How its changes are ordered (`conformance.rules.order`)."""
