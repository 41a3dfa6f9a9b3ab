"""What a decoder of TiCDC Canal-JSON owes, special before general; the first rule that matches owns a comparison.

Sources: document 000 (TiCDC Canal-JSON, TiDB v6.0), corrected where reference/ticdc.md 00 to 2 read the product otherwise.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from conformance.rules.base import Aspect, Citation, Effect, Obligation, Rule, Selector
from conformance.rules.families.ticdc_order import TICDC
from conformance.rules.formats.ticdc_canal_json.values import (
    ASSUMED,
    BOTH,
    DML,
    DOCUMENTED,
    JSON_RFC,
    LEGACY,
    VALUES,
    issue,
    ref,
    rule,
)

_PARTIAL: Final = ("*+only-updated*", "*+content-compatible*")

_MESSAGE: Final = Citation("document 000", "Message 格式定义")
_DDL: Final = Citation("document 000", "DDL Event")
_WATERMARK: Final = Citation("document 000", "WATERMARK Event")
_CONSUMER: Final = Citation("document 000", "消费端数据解析")
_SQL_TYPE: Final = Citation("document 000", "SQL Type 字段")
_MYSQL_TYPE: Final = Citation("document 000", "mysqlType 字段")
_UPDATE: Final = Citation("document 000", "Update 类型事件")
_DELETE: Final = Citation("document 000", "Delete 类型事件中 Old 字段的变化说明")
_ENCODER: Final = Citation("pingcap/tiflow pkg/sink/codec/canal/canal_json_row_event_encoder.go v8.5.7", "newJSONMessageForDML")
_NEW_ENCODER: Final = Citation("pingcap/ticdc pkg/sink/codec/canal/canal_json_encoder.go", "newJSONMessageForDML")
_COMPRESS: Final = Citation("pingcap/tiflow pkg/compression/compress.go", "Encode")
_DDL_ENCODER: Final = Citation("pingcap/tiflow pkg/sink/codec/canal/canal_json_row_event_encoder.go", "newJSONMessageForDDL")
_DESIGN_FAULTS: Final = Citation("DESIGN", "3.6 Faults")


_FAULTS: Final = (
    rule(
        "fault/cell-type",
        "A cell that does not fit its column's type makes its message one CORRUPT row, never a NULL or a wrapped number.",
        Effect.SILENT_CORRUPTION,
        Selector(fields=("change",), aspects=(Aspect.ACCEPTED,), tags=("fault:cell-*",)),
        ref("00-8"),
        _DESIGN_FAULTS,
        provenance=ASSUMED,
    ),
    rule(
        "fault/trailing-content",
        "Content after the JSON document, or a second document, makes the value one CORRUPT row.",
        Effect.SILENT_CORRUPTION,
        Selector(fields=("change",), aspects=(Aspect.ACCEPTED,), tags=("fault:trailing-content", "fault:second-document")),
        ref("1.1: one row change is one record"),
        _DESIGN_FAULTS,
        provenance=ASSUMED,
    ),
    rule(
        "fault/empty",
        "A null or empty value is no Canal-JSON message: one CORRUPT row.",
        Effect.LOST_CHANGE,
        Selector(fields=("change",), aspects=(Aspect.ACCEPTED,), tags=("fault:empty",)),
        issue("pingcap/tidb#21053"),
        _DESIGN_FAULTS,
        provenance=ASSUMED,
    ),
    rule(
        "fault/unreadable",
        "A value that is no whole Canal-JSON object (truncated, another container) is exactly one CORRUPT row.",
        Effect.SILENT_CORRUPTION,
        Selector(fields=("change",), aspects=(Aspect.ACCEPTED,)),
        JSON_RFC,
        _DESIGN_FAULTS,
        provenance=ASSUMED,
    ),
    rule(
        "fault/duplicate-key",
        "What becomes of a duplicate key is open, but the message still gives a row.",
        Effect.LOST_CHANGE,
        Selector(fields=("change",), aspects=(Aspect.MISSING,), tags=("fault:duplicate-key",)),
        JSON_RFC,
        _DESIGN_FAULTS,
        obligation=Obligation.UNSPECIFIED,
        provenance=ASSUMED,
    ),
    rule(
        "fault/encoding",
        "What becomes of a BOM, invalid UTF-8, lone surrogates or raw control characters is open, but the message gives a row.",
        Effect.LOST_CHANGE,
        Selector(
            fields=("change",),
            aspects=(Aspect.MISSING,),
            tags=("fault:bom", "fault:invalid-utf-8", "fault:lone-surrogate", "fault:raw-control"),
        ),
        JSON_RFC,
        _DESIGN_FAULTS,
        obligation=Obligation.UNSPECIFIED,
        provenance=ASSUMED,
    ),
)

_DDL_RULES: Final = (
    rule(
        "ddl/not-dropped",
        "A DDL message is a change of its own: its null data, sqlType and mysqlType make it neither unreadable nor nothing.",
        Effect.LOST_SCHEMA_CHANGE,
        Selector(fields=("change",), aspects=(Aspect.MISSING, Aspect.CORRUPT), kinds=("DDL",)),
        _DDL,
        _DDL_ENCODER,
        provenance=DOCUMENTED,
    ),
    rule(
        "ddl/kind",
        "isDdl true tells a DDL message, whatever its type says (QUERY, ALTER, TRUNCATE ...).",
        Effect.LOST_SCHEMA_CHANGE,
        Selector(fields=("change",), aspects=(Aspect.KIND, Aspect.OP), kinds=("DDL",)),
        _CONSUMER,
        ref("1.6"),
        provenance=DOCUMENTED,
    ),
    rule(
        "ddl/one-change",
        "A DDL message is one change without row images.",
        Effect.PHANTOM_ROW,
        Selector(fields=("change", "image"), aspects=(Aspect.EXTRA, Aspect.IMAGE), kinds=("DDL",)),
        _DDL,
        provenance=DOCUMENTED,
    ),
    rule(
        "ddl/rename-new-name",
        "A RENAME names the table's new name.",
        Effect.WRONG_TABLE,
        Selector(fields=("database", "table"), tags=("ddl:rename table",)),
        ref("1.2, 1.6"),
    ),
    rule(
        "ddl/database-level",
        "A statement on a database has an empty table name.",
        Effect.WRONG_TABLE,
        Selector(fields=("table",), tags=("ddl:create database", "ddl:drop database", "ddl:alter database")),
        _DDL,
        ref("1.6"),
        provenance=DOCUMENTED,
    ),
    rule(
        "ddl/sql",
        "sql is the statement as TiDB restored it, with its JSON escapes undone.",
        Effect.LOST_SCHEMA_CHANGE,
        Selector(fields=("sql",), kinds=("DDL",)),
        _DDL,
        ref("00-1, 1.6, 1.7"),
    ),
)

_WATERMARK_RULES: Final = (
    rule(
        "watermark/not-dropped",
        "TIDB_WATERMARK has null data and empty names and is still exactly one readable change.",
        Effect.WRONG_ORDER,
        Selector(fields=("change",), aspects=(Aspect.MISSING, Aspect.EXTRA, Aspect.CORRUPT), kinds=("WATERMARK",)),
        _WATERMARK,
        provenance=DOCUMENTED,
    ),
    rule(
        "watermark/kind",
        "TIDB_WATERMARK with isDdl false is a watermark, not a row.",
        Effect.PHANTOM_ROW,
        Selector(fields=("change", "image"), aspects=(Aspect.KIND, Aspect.OP, Aspect.IMAGE), kinds=("WATERMARK",)),
        _CONSUMER,
        _WATERMARK,
        provenance=DOCUMENTED,
    ),
    rule(
        "watermark/position",
        "A watermark's position is its watermarkTs, all digits kept, and its time is watermarkTs >> 18.",
        Effect.LOST_PRECISION,
        Selector(fields=("position", "commit_time"), kinds=("WATERMARK",)),
        _WATERMARK,
        ref("1.3, 1.4"),
        provenance=DOCUMENTED,
    ),
)

_FRAMING: Final = (
    rule(
        "framing/crlf",
        "v6.5 ends every DML value with CRLF: the message stays readable.",
        Effect.LOST_CHANGE,
        Selector(fields=("change",), aspects=(Aspect.MISSING, Aspect.CORRUPT), kinds=("ROW",), profiles=("v6.5.*",)),
        issue("pingcap/tiflow#11707"),
        issue("pingcap/tiflow#11708"),
        ref("0, 1.1"),
    ),
    rule(
        "framing/compression",
        "Whole values are snappy blocks or lz4 frames when the deployment says so, and nothing in the message does.",
        Effect.LOST_CHANGE,
        Selector(fields=("change",), aspects=(Aspect.MISSING, Aspect.CORRUPT), profiles=("*+snappy", "*+lz4")),
        _COMPRESS,
        ref("00-9, 1.1"),
    ),
)

_OPS: Final = (
    rule(
        "op/key-update",
        "An UPDATE of a key is DELETE and INSERT where the release splits it, and one UPDATE where it does not.",
        Effect.WRONG_OP,
        Selector(fields=("change",), aspects=(Aspect.OP, Aspect.MISSING, Aspect.EXTRA), tags=("key-update",)),
        ref("5"),
        issue("pingcap/tiflow#9086"),
        issue("pingcap/tiflow#11211"),
    ),
    rule(
        "old/insert-null-array",
        "Before v5.4 an INSERT has old [null]: one INSERT without a before image.",
        Effect.PHANTOM_ROW,
        Selector(
            fields=("change", "image"),
            aspects=(Aspect.EXTRA, Aspect.CORRUPT, Aspect.OP, Aspect.IMAGE),
            ops=("INSERT",),
            profiles=LEGACY,
        ),
        ref("1.5"),
        issue("pingcap/tiflow#4597"),
        Citation("pingcap/tiflow cdc/sink/codec/canal_flat.go v5.3.4"),
    ),
    rule(
        "old/delete-before-v5.4",
        "Before v5.4 a DELETE repeats data in old: still one DELETE, with a before image only.",
        Effect.WRONG_OP,
        Selector(
            fields=("change", "image"),
            aspects=(Aspect.EXTRA, Aspect.CORRUPT, Aspect.OP, Aspect.IMAGE),
            ops=("DELETE",),
            profiles=LEGACY,
        ),
        _DELETE,
        ref("1.5"),
        provenance=DOCUMENTED,
    ),
    rule(
        "op/delete-row-in-data",
        "A DELETE's row is in data and is its before image; after is NULL.",
        Effect.LOST_DELETE,
        Selector(fields=("image", "change"), aspects=(Aspect.IMAGE, Aspect.OP), ops=("DELETE",)),
        _DELETE,
        provenance=DOCUMENTED,
    ),
)

_REDUCED: Final = (
    rule(
        "reduced/handle-key-only",
        "A message with onlyHandleKey holds the handle key's columns; the others are absent, not NULL.",
        Effect.NULL_FOR_ABSENT,
        Selector(fields=("cell", "types"), tags=("reduced",), profiles=("*handle-key-only*",)),
        ref("1.2, 1.4"),
        _ENCODER,
    ),
    rule(
        "reduced/claim-check",
        "A message with claimCheckLocation holds the handle key's columns and no flag; the others are absent, not NULL.",
        Effect.NULL_FOR_ABSENT,
        Selector(fields=("cell", "types"), tags=("reduced",), profiles=("*claim-check*",)),
        ref("1.4"),
        _NEW_ENCODER,
    ),
    rule(
        "reduced/readable",
        "A reduced message is still one change with its images: [{}] is an empty map.",
        Effect.LOST_CHANGE,
        Selector(
            fields=("change", "image"), aspects=(Aspect.MISSING, Aspect.CORRUPT, Aspect.EXTRA, Aspect.IMAGE), tags=("reduced",)
        ),
        ref("1.2, 1.4"),
    ),
)

_OLD: Final = (
    rule(
        "old/empty-object",
        "An old that lacks unchanged columns, even [{}], is a before image: an UPDATE's before is never NULL.",
        Effect.NULL_FOR_ABSENT,
        Selector(fields=("image",), aspects=(Aspect.IMAGE,), ops=("UPDATE",), sides=("before",), profiles=_PARTIAL),
        ref("1.2, 1.5"),
        issue("pingcap/tiflow#8852"),
    ),
    rule(
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
        ref("1.5, 5"),
        Citation("pingcap/tiflow pkg/sink/codec/canal/canal_json_decoder.go"),
    ),
    rule(
        "old/partial",
        "With only-output-updated-columns, old has the changed columns only; the others are absent, not NULL.",
        Effect.NULL_FOR_ABSENT,
        Selector(
            fields=("cell",),
            aspects=(Aspect.PRESENCE,),
            ops=("UPDATE",),
            sides=("before",),
            states=("ABSENT",),
            profiles=_PARTIAL,
        ),
        ref("1.5"),
        issue("pingcap/tiflow#8852"),
    ),
    rule(
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
        _UPDATE,
        ref("1.5"),
        provenance=DOCUMENTED,
    ),
    rule(
        "old/all-columns",
        "Every column that old carries is in the before image: without options, all columns of the table.",
        Effect.NULL_FOR_ABSENT,
        Selector(fields=("cell",), aspects=(Aspect.PRESENCE,), ops=("UPDATE",), sides=("before",)),
        _UPDATE,
        provenance=DOCUMENTED,
    ),
)

_TYPES: Final = (
    rule(
        "types/without-unsigned",
        "Before v5.4 mysqlType has no unsigned: it is passed on as it stands.",
        Effect.WRONG_VALUE,
        Selector(fields=("types",), profiles=LEGACY),
        ref("0, 2.3"),
    ),
    rule(
        "types/content-compatible",
        "With content-compatible, mysqlType has the full type with its parameters and labels.",
        Effect.WRONG_VALUE,
        Selector(fields=("types",), profiles=("*+content-compatible*",)),
        ref("2.3"),
        issue("pingcap/tiflow#10106"),
    ),
    rule(
        "types/bare",
        "types is mysqlType in any key order: bare names, with unsigned and (late releases) zerofill.",
        Effect.WRONG_VALUE,
        Selector(fields=("types",)),
        _MYSQL_TYPE,
        ref("2.3"),
        provenance=DOCUMENTED,
    ),
)

_ENVELOPE: Final = (
    rule(
        "envelope/keys",
        "keys is pkNames in the wire's order; a table without a primary key has none.",
        Effect.WRONG_ROW_KEY,
        Selector(fields=("keys",)),
        DML,
        ref("1.2"),
        provenance=DOCUMENTED,
    ),
    rule(
        "envelope/position",
        "position is _tidb.commitTs, all digits of a number beyond 2^53 kept, and NULL without the extension.",
        Effect.LOST_PRECISION,
        Selector(fields=("position",)),
        _MESSAGE,
        ref("1.3, 1.4"),
        provenance=DOCUMENTED,
    ),
    rule(
        "envelope/commit-time",
        "The commit time is es in milliseconds, not ts.",
        Effect.TIME_SHIFT,
        Selector(fields=("commit_time",)),
        _MESSAGE,
        ref("1.3"),
        provenance=DOCUMENTED,
    ),
    rule(
        "envelope/names",
        "Database and table are those of the message, whatever the topic.",
        Effect.WRONG_TABLE,
        Selector(aspects=(Aspect.FIELD,)),
        _MESSAGE,
        provenance=DOCUMENTED,
    ),
)

_GENERAL: Final = (
    rule(
        "change/zero-date-not-corrupt",
        "A zero date does not make its row CORRUPT.",
        Effect.LOST_CHANGE,
        Selector(fields=("change",), aspects=(Aspect.CORRUPT,), tags=("zero-date",)),
        ref("2.1"),
        provenance=ASSUMED,
    ),
    rule(
        "change/kind",
        "A message with isDdl false that is no watermark is a row change.",
        Effect.LOST_CHANGE,
        Selector(aspects=(Aspect.KIND,)),
        _CONSUMER,
        provenance=DOCUMENTED,
    ),
    rule(
        "change/op",
        "type tells the operation: INSERT, UPDATE or DELETE.",
        Effect.WRONG_OP,
        Selector(aspects=(Aspect.OP,)),
        _MESSAGE,
        ref("1.2"),
        provenance=DOCUMENTED,
    ),
    rule(
        "change/missing",
        "Every message gives its change.",
        Effect.LOST_CHANGE,
        Selector(aspects=(Aspect.MISSING,)),
        _MESSAGE,
        ref("1.1"),
        provenance=DOCUMENTED,
    ),
    rule(
        "change/extra",
        "A message is one row change: data and old are arrays of one object.",
        Effect.PHANTOM_ROW,
        Selector(aspects=(Aspect.EXTRA,)),
        DML,
        ref("1.1"),
        provenance=DOCUMENTED,
    ),
    rule(
        "change/corrupt",
        "A message as TiCDC writes it is readable, in any key order.",
        Effect.LOST_CHANGE,
        Selector(aspects=(Aspect.CORRUPT,)),
        ref("1.2"),
        _ENCODER,
    ),
    rule(
        "image/sides",
        "data is the after image of INSERT and UPDATE, old the before image of UPDATE; an image that is not sent is NULL.",
        Effect.WRONG_VALUE,
        Selector(aspects=(Aspect.IMAGE,)),
        _MESSAGE,
        _UPDATE,
        provenance=DOCUMENTED,
    ),
    rule(
        "cell/presence",
        "An image has the columns that the message carries, under names that keep their case and their characters.",
        Effect.NULL_FOR_ABSENT,
        Selector(aspects=(Aspect.PRESENCE,)),
        _MESSAGE,
        provenance=DOCUMENTED,
    ),
    rule(
        "cell/value",
        "Every other value is the text that stands on the wire.",
        Effect.WRONG_VALUE,
        Selector(aspects=BOTH),
        _MESSAGE,
        _SQL_TYPE,
        ref("2.1"),
        provenance=DOCUMENTED,
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
