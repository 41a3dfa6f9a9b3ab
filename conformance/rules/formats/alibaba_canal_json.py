"""What a decoder of Alibaba Canal's flat message owes, special before general.

Citations name the product's source (alibaba/canal @ e20e4424 unless a tag is given), reports about it, and the sections of
reference/canal.md that hold the executed vectors.
"""

from __future__ import annotations

from typing import Final

from conformance.rules.base import Aspect, Citation, Effect, Obligation, Provenance, Rule, Selector
from conformance.rules.order import Order

_MESSAGE_UTILS: Final = "alibaba/canal connector/core MQMessageUtils.java @ e20e4424"
_EVENTS: Final = "alibaba/canal parse LogEventConvert.java @ e20e4424"
_DDL: Final = "alibaba/canal parse DruidDdlParser.java, tags canal-1.1.4 to canal-1.1.7"
_BINLOG: Final = "alibaba/canal dbsync RowsLogBuffer.java @ e20e4424"
_REFERENCE: Final = "reference/canal.md"
_RFC8259: Final = "RFC 8259"
_MANUAL: Final = "MySQL 8.0 Reference Manual"

_EXISTENCE: Final = (Aspect.MISSING, Aspect.EXTRA, Aspect.CORRUPT)
_WHOLE: Final = (*_EXISTENCE, Aspect.KIND, Aspect.OP)
_CONTENT: Final = (Aspect.NULL, Aspect.VALUE)
_PARTIAL: Final = ("*+minimal*", "*+noblob*")
_MUST, _SHOULD, _UNSPECIFIED = Obligation.MUST, Obligation.SHOULD, Obligation.UNSPECIFIED
_OBSERVED, _DOCUMENTED, _ASSUMED = Provenance.OBSERVED, Provenance.DOCUMENTED, Provenance.ASSUMED


def _rule(
    name: str,
    statement: str,
    effect: Effect,
    selector: Selector,
    *citations: tuple[str, str],
    obligation: Obligation = _MUST,
    provenance: Provenance = _OBSERVED,
) -> Rule:
    cited = tuple(Citation(where, section) for where, section in citations)
    return Rule(f"alibaba-canal-json/{name}", statement, obligation, provenance, cited, effect, selector)


def _value(*logicals: str, classes: tuple[str, ...] = (), types: tuple[str, ...] = (), states: tuple[str, ...] = ()) -> Selector:
    """Values of these types; NULL in place of such a value is the affair of the rules on NULL."""
    return Selector(fields=("cell",), aspects=(Aspect.VALUE,), logicals=logicals, classes=classes, types=types, states=states)


_FAULTS: Final = (
    _rule(
        "fault/must-reject",
        "A truncated document, another container than an object, anything after it, and an empty value are one CORRUPT row.",
        Effect.SILENT_CORRUPTION,
        Selector(
            aspects=(Aspect.ACCEPTED,),
            tags=("fault:truncated", "fault:wrong-container", "fault:trailing-content", "fault:second-document", "fault:empty"),
        ),
        (_RFC8259, "2"),
        (_REFERENCE, "4.0: Flink, Paimon and SeaTunnel drop a second document silently"),
        provenance=_ASSUMED,
    ),
    _rule(
        "fault/cell-type",
        "A message of the table with a cell that does not fit its column's type is one CORRUPT row.",
        Effect.SILENT_CORRUPTION,
        Selector(aspects=(Aspect.ACCEPTED,), tags=("fault:cell-*",)),
        ("DESIGN", "3.4"),
        (_REFERENCE, "4.0: Flink turns an over-long decimal into NULL"),
        provenance=_ASSUMED,
    ),
    _rule(
        "fault/never-lost",
        "Duplicate keys, a BOM, invalid UTF-8, lone surrogates and raw control characters are read or refused, never lost.",
        Effect.LOST_CHANGE,
        Selector(
            fields=("change",),
            aspects=(Aspect.MISSING,),
            tags=("fault:duplicate-key", "fault:bom", "fault:invalid-utf-8", "fault:lone-surrogate", "fault:raw-control"),
        ),
        (_RFC8259, "4, 7, 8.1"),
        obligation=_UNSPECIFIED,
        provenance=_ASSUMED,
    ),
)

_STATEMENTS: Final = (
    _rule(
        "control/rows-query",
        "A rows query (QUERY, isDdl false, data null) is no row: CONTROL, or DDL, as CREATE DATABASE of 1.1.4 looks the same.",
        Effect.PHANTOM_ROW,
        Selector(fields=("change",), aspects=_WHOLE, kinds=("CONTROL",), tags=("control:rows-query",)),
        (_EVENTS, "parseRowsQueryEvent"),
        ("alibaba/canal issues", "#2609, #3873, #3893"),
    ),
    _rule(
        "control/statement-dml",
        "INSERT, UPDATE or DELETE with data null is DML logged as a statement, not a row.",
        Effect.PHANTOM_ROW,
        Selector(fields=("change",), aspects=_WHOLE, kinds=("CONTROL",), tags=("control:statement-*",)),
        (_EVENTS, "parseQueryEvent"),
        (_REFERENCE, "1.4"),
    ),
    _rule(
        "control/xa",
        "XACOMMIT and XAROLLBACK end a transaction and carry no row.",
        Effect.PHANTOM_ROW,
        Selector(fields=("change",), aspects=_WHOLE, tags=("control:xa-*",)),
        (_EVENTS, "parseQueryEvent"),
        (_REFERENCE, "1.4"),
    ),
    _rule(
        "control/sql",
        "Such a message gives its statement text.",
        Effect.LOST_SCHEMA_CHANGE,
        Selector(fields=("sql",), kinds=("CONTROL", "TRANSACTION")),
        (_REFERENCE, "1.4"),
        obligation=_SHOULD,
    ),
    _rule(
        "ddl/database",
        "CREATE and DROP DATABASE are QUERY and DDL; with isDdl false (1.1.4) the bytes cannot tell, and CONTROL is as good.",
        Effect.LOST_SCHEMA_CHANGE,
        Selector(fields=("change",), aspects=_WHOLE, kinds=("DDL",), tags=("ddl:create database", "ddl:drop database")),
        (_REFERENCE, "0.5, 0.11, 1.6"),
        ("alibaba/canal issues", "#3418"),
    ),
    _rule(
        "ddl/index-and-erase",
        "ERASE is DROP TABLE, CINDEX and DINDEX are index clauses (ADD PRIMARY KEY among them): all DDL.",
        Effect.LOST_SCHEMA_CHANGE,
        Selector(
            fields=("change",),
            aspects=_WHOLE,
            kinds=("DDL",),
            tags=("ddl:drop table", "ddl:create index", "ddl:drop index", "ddl:add primary key"),
        ),
        (_DDL, "parse"),
        (_REFERENCE, "0.8, 1.4"),
    ),
    _rule(
        "ddl/kind",
        "Every other message with isDdl true is one DDL change, whatever its type; it is neither an error nor a row.",
        Effect.STOPPED_PIPELINE,
        Selector(fields=("change",), aspects=_WHOLE, kinds=("DDL",)),
        (_DDL, "parse"),
        ("apache/flink FLINK-19873", "skips CREATE alone, any ALTER kills a strict job"),
    ),
    _rule(
        "ddl/names",
        "A DDL names what the message names: a RENAME's new name, the first table of several, a database as it was spelled.",
        Effect.WRONG_TABLE,
        Selector(fields=("database", "table"), kinds=("DDL",)),
        (_DDL, "processName"),
        (_REFERENCE, "0.5, 1.4"),
    ),
    _rule(
        "ddl/sql",
        "A DDL's text is the whole statement, with comments and line ends.",
        Effect.LOST_SCHEMA_CHANGE,
        Selector(fields=("sql",), kinds=("DDL",)),
        (_REFERENCE, "1.4"),
        ("apache/paimon canal/table/nononddldata", "a comment before the statement"),
    ),
)

_ROWS: Final = (
    _rule(
        "rows/raw-control-never-lost",
        "1.1.6 writes control characters raw, which is no JSON: the row is read, or the message is CORRUPT, but it is not lost.",
        Effect.LOST_CHANGE,
        Selector(fields=("change",), tags=("raw-control",)),
        ("alibaba/fastjson2 2.0.4", "JSON.toJSONBytes, run"),
        (_REFERENCE, "0.1"),
        (_RFC8259, "7"),
    ),
    _rule(
        "rows/gtid",
        "The gtid field (1.1.7 and later: empty, or the GTID set) is no reason to refuse a message.",
        Effect.STOPPED_PIPELINE,
        Selector(fields=("change",), tags=("gtid",)),
        ("alibaba/canal commit 62c43337", "canal-1.1.7-alpha-2"),
    ),
    _rule(
        "old/misaligned",
        "Up to 1.1.6 rows without a change have no element in old, which is null or shorter than data; each is still a change.",
        Effect.LOST_CHANGE,
        Selector(fields=("change",), tags=("old:misaligned",)),
        (_REFERENCE, "0.3, 1.6"),
        ("alibaba/canal issues", "#4267, #4352"),
    ),
    _rule(
        "old/empty-element",
        "From 1.1.7 a row without a change has {} in old: its before image is there and names no column.",
        Effect.NULL_FOR_ABSENT,
        Selector(
            aspects=(*_WHOLE, Aspect.IMAGE, Aspect.PRESENCE),
            sides=("", "before"),
            levels=(1,),
            ops=("UPDATE",),
            tags=("old:empty",),
        ),
        ("alibaba/canal commit 41a2a87a", "PRs #5020, #5021"),
        (_REFERENCE, "1.6, 2.6"),
    ),
    _rule(
        "old/cumulative",
        "A row's before image is its own element of old, whatever other elements name; a name in it may be unchanged.",
        Effect.NULL_FOR_VALUE,
        Selector(
            fields=("cell",),
            aspects=(Aspect.PRESENCE, *_CONTENT),
            sides=("before",),
            ops=("UPDATE",),
            tags=("old:cumulative",),
        ),
        (_MESSAGE_UTILS, "messageConverter: updateSet is never cleared"),
        (_REFERENCE, "2.3, 4.0, 4.2.2"),
    ),
    _rule(
        "rows/every-row",
        "Each element of data is one change, in order; equal rows too.",
        Effect.LOST_CHANGE,
        Selector(fields=("change",), aspects=(Aspect.MISSING, Aspect.EXTRA), kinds=("ROW",)),
        (_MESSAGE_UTILS, "messageConverter"),
        ("alibaba/canal issues", "#2789, #2973"),
        (_REFERENCE, "4.2.8: Paimon refuses equal rows"),
    ),
    _rule(
        "rows/op",
        "type is the operation.",
        Effect.WRONG_OP,
        Selector(fields=("change",), aspects=(Aspect.OP,), kinds=("ROW",)),
        (_REFERENCE, "1.4"),
    ),
    _rule(
        "change/one-each",
        "Every readable message gives its changes with their kind; every unreadable one exactly one CORRUPT row.",
        Effect.SILENT_CORRUPTION,
        Selector(fields=("change",)),
        ("DESIGN", "3.3"),
        provenance=_ASSUMED,
    ),
)

_ENVELOPE: Final = (
    _rule(
        "envelope/no-keys",
        "pkNames null is a table without primary key, even if a unique key stands in for one.",
        Effect.WRONG_ROW_KEY,
        Selector(fields=("keys",), tags=("keys:none",)),
        (_MESSAGE_UTILS, "messageConverter: pkNames is made on the first key column"),
        (_REFERENCE, "0.8, 0.9"),
    ),
    _rule(
        "envelope/keys",
        "pkNames are the key columns of the first row's image, in table order; a MINIMAL update has none unless the key changed.",
        Effect.WRONG_ROW_KEY,
        Selector(fields=("keys",)),
        (_MESSAGE_UTILS, "messageConverter"),
        (_REFERENCE, "1.1, 2"),
    ),
    _rule(
        "envelope/position",
        "id numbers Canal's batch: every message of the batch has the same, and all are changes.",
        Effect.WRONG_ORDER,
        Selector(fields=("position",)),
        (_REFERENCE, "1.1"),
        ("apache/flink canal-data-filter-table.txt", "ids 6 and 9 occur twice"),
    ),
    _rule(
        "envelope/commit-time",
        "es is the commit time: milliseconds that end in 000. ts is when Canal built the message.",
        Effect.TIME_SHIFT,
        Selector(fields=("commit_time",)),
        (_MESSAGE_UTILS, "messageConverter"),
        (_REFERENCE, "1.1"),
    ),
    _rule(
        "envelope/types",
        "types are mysqlType as it stands, parameters and quoted labels included.",
        Effect.SILENT_CORRUPTION,
        Selector(fields=("types",)),
        (_REFERENCE, "3.7"),
        obligation=_SHOULD,
    ),
    _rule(
        "envelope/names",
        "database and table are the message's, compared exactly; a row has no DDL text.",
        Effect.WRONG_TABLE,
        Selector(aspects=(Aspect.FIELD,)),
        (_REFERENCE, "1.1"),
    ),
)

_IMAGES: Final = (
    _rule(
        "image/delete-in-data",
        "DELETE has its row in data: it is the before image, and there is no after image.",
        Effect.LOST_DELETE,
        Selector(aspects=(Aspect.IMAGE,), ops=("DELETE",)),
        (_MESSAGE_UTILS, "messageConverter"),
        (_REFERENCE, "2.1"),
    ),
    _rule(
        "image/sides",
        "INSERT has an after image alone, UPDATE both.",
        Effect.PHANTOM_ROW,
        Selector(aspects=(Aspect.IMAGE,)),
        (_REFERENCE, "2.1"),
    ),
    _rule(
        "image/partial",
        "Under row images MINIMAL and NOBLOB a column that the message does not hold stays absent: it is not NULL.",
        Effect.NULL_FOR_ABSENT,
        Selector(aspects=(Aspect.PRESENCE,), profiles=_PARTIAL),
        (_EVENTS, "parseOneRow: columns whose bit is off are skipped"),
        (_REFERENCE, "2"),
    ),
    _rule(
        "old/absent",
        "A column that old does not name is absent from the before image at level one.",
        Effect.NULL_FOR_ABSENT,
        Selector(aspects=(Aspect.PRESENCE,), sides=("before",), ops=("UPDATE",)),
        (_MESSAGE_UTILS, "messageConverter"),
        (_REFERENCE, "2.4"),
    ),
    _rule(
        "image/columns",
        "An image has exactly the columns of its row in data.",
        Effect.NULL_FOR_ABSENT,
        Selector(aspects=(Aspect.PRESENCE,)),
        (_REFERENCE, "1.1"),
    ),
    _rule(
        "value/text-null",
        "The text null is text.",
        Effect.NULL_FOR_VALUE,
        Selector(fields=("cell",), aspects=_CONTENT, logicals=("text",), classes=("literal-null",)),
        (_REFERENCE, "3"),
    ),
    _rule(
        "value/json-null-literal",
        'A JSON column that holds the literal null has the text "null"; it is not NULL.',
        Effect.NULL_FOR_VALUE,
        Selector(fields=("cell",), aspects=_CONTENT, logicals=("json",), classes=("null-literal",)),
        (_REFERENCE, "3.5"),
    ),
    _rule(
        "old/null-is-a-value",
        "null in old is the old value NULL, and a name that old lacks has the value of data.",
        Effect.NULL_FOR_VALUE,
        Selector(aspects=(Aspect.NULL,), sides=("before",), ops=("UPDATE",)),
        ("apache/flink FLINK-19446", "null in old was taken for unchanged"),
        (_REFERENCE, "2.4"),
    ),
    _rule(
        "value/null",
        "JSON null is NULL and a string is not.",
        Effect.VALUE_FOR_NULL,
        Selector(aspects=(Aspect.NULL,)),
        (_REFERENCE, "3"),
    ),
)

_VALUES: Final = (
    _rule(
        "value/unsigned",
        "An unsigned integer above the signed maximum is what its text says; sqlType, of the last row, binds no other row.",
        Effect.WRONG_SIGN,
        _value("int", classes=("over-signed",)),
        (_EVENTS, "parseOneRow"),
        (_REFERENCE, "3.1, 4.2.7"),
    ),
    _rule(
        "value/integer-64",
        "A 64-bit integer is exact beyond 2^53.",
        Effect.LOST_PRECISION,
        _value("int", classes=("beyond-double",)),
        (_REFERENCE, "3.2"),
    ),
    _rule(
        "value/integer",
        "Integers are decimal text; tinyint(1) is an integer, whatever its sqlType.",
        Effect.WRONG_VALUE,
        _value("int"),
        (_REFERENCE, "0.6, 3.1"),
    ),
    _rule(
        "value/decimal-long",
        "A DECIMAL of more than 15 digits is exact.",
        Effect.LOST_PRECISION,
        _value("decimal", classes=("long", "wide")),
        (_REFERENCE, "3.3"),
    ),
    _rule(
        "value/decimal",
        "DECIMAL text may have fewer fraction digits than the column: the number counts.",
        Effect.LOST_PRECISION,
        _value("decimal"),
        (_BINLOG, "getDecimal"),
        ("alibaba/canal issues", "#5313"),
    ),
    _rule(
        "value/float-exponent",
        "FLOAT and DOUBLE have Java's E notation below 1e-3 and from 1e7 on.",
        Effect.WRONG_VALUE,
        _value("float", "double", classes=("exponent",)),
        ("JDK 17 FloatingDecimal.dtoa", "run"),
        (_REFERENCE, "3.2, 3.4"),
    ),
    _rule(
        "value/float",
        "FLOAT is the nearest binary32, DOUBLE the nearest binary64; negative zero is -0.0.",
        Effect.LOST_PRECISION,
        _value("float", "double"),
        (_REFERENCE, "3.2"),
        ("alibaba/canal issues", "#1286, #961"),
    ),
    _rule(
        "value/bits-64",
        "BIT(64) and a SET of 64 members are unsigned 64-bit numbers.",
        Effect.WRONG_SIGN,
        _value("bit", "set", classes=("over-signed",)),
        (_REFERENCE, "3.2, 4.2.9"),
    ),
    _rule(
        "value/bits",
        "BIT and SET are unsigned decimal numbers; a SET's labels are not sent.",
        Effect.WRONG_VALUE,
        _value("bit", "set"),
        (_REFERENCE, "3.2, 4.0: Paimon reads bits as base64"),
    ),
    _rule(
        "value/enum-index",
        "ENUM is the 1-based index as text, 0 for the empty value.",
        Effect.WRONG_VALUE,
        _value("enum"),
        (_REFERENCE, "3.2, 4.0"),
    ),
    _rule(
        "value/binary-stripped",
        "BINARY(n) has lost its trailing zero bytes; the decoder gives the bytes that are there.",
        Effect.WRONG_VALUE,
        _value("binary", classes=("trailing-zero",)),
        (_REFERENCE, "3.2"),
        ("osheroff/mysql-binlog-connector-java issues", "#139"),
    ),
    _rule(
        "value/binary-base64-like",
        "Binary text is never base64, even if it could be.",
        Effect.SILENT_CORRUPTION,
        _value("binary", classes=("base64-like",)),
        (_REFERENCE, "4.2.6: Flink and SeaTunnel decode abcd to other bytes"),
    ),
    _rule(
        "value/binary-latin-1",
        "Binary text is ISO-8859-1: each character U+0000 to U+00FF is one byte.",
        Effect.MOJIBAKE,
        _value("binary"),
        (_EVENTS, "parseOneRow"),
        ("alibaba/canal issues", "#804, #4584"),
        (_REFERENCE, "3.2, 4.2.10"),
    ),
    _rule(
        "value/zero-date",
        "Zero and partly zero dates are NULL or kept as text, and never another date.",
        Effect.SILENT_CORRUPTION,
        _value("date", "datetime", "timestamp", classes=("zero", "partial-zero")),
        (_REFERENCE, "3.2"),
    ),
    _rule(
        "value/timestamp-ambiguous",
        "A TIMESTAMP in an hour that occurs twice is one of the two instants.",
        Effect.TIME_SHIFT,
        _value("timestamp", states=("ONE_OF",)),
        (_REFERENCE, "3.2"),
        ("alibaba/canal issues", "#2522"),
    ),
    _rule(
        "value/timestamp-zone",
        "TIMESTAMP is wall clock of Canal's JVM zone, neither UTC nor the reader's.",
        Effect.TIME_SHIFT,
        _value("timestamp"),
        (_BINLOG, "fetchValue"),
        ("alibaba/canal issues", "#2522, #1896"),
    ),
    _rule(
        "value/datetime-fraction",
        "DATETIME keeps its fraction to the microsecond.",
        Effect.LOST_PRECISION,
        _value("datetime", classes=("micros", "millis")),
        (_REFERENCE, "3.2"),
    ),
    _rule(
        "value/date",
        "DATE and DATETIME are wall clock without a zone, over MySQL's whole range.",
        Effect.TIME_SHIFT,
        _value("date", "datetime"),
        (_MANUAL, "13.2.2"),
        (_REFERENCE, "3.2"),
    ),
    _rule(
        "value/time-negative",
        "TIME may be negative, below one second too; what 1.1.4 and 1.1.5 wrote without its sign is positive.",
        Effect.WRONG_SIGN,
        _value("time", classes=("negative",)),
        (_REFERENCE, "0.7, 3.2, 4.2.7"),
    ),
    _rule(
        "value/time-over-24h",
        "TIME goes to 838:59:59; hour 100, which 1.1.4 wrote as 00, is what the text says.",
        Effect.WRONG_VALUE,
        _value("time", classes=("over-24h",)),
        (_BINLOG, "TIME2"),
        (_REFERENCE, "0.7, 3.2, 4.0"),
    ),
    _rule(
        "value/time",
        "TIME keeps its fraction to the microsecond.",
        Effect.LOST_PRECISION,
        _value("time"),
        (_REFERENCE, "3.2, 4.0: Flink drops it"),
    ),
    _rule(
        "value/year-zero",
        "YEAR 0 is written 0000 and is 0.",
        Effect.WRONG_VALUE,
        _value("year", classes=("zero",)),
        (_REFERENCE, "3.2"),
    ),
    _rule(
        "value/year",
        "YEAR is a number of four digits.",
        Effect.WRONG_VALUE,
        _value("year"),
        (_REFERENCE, "3.2"),
    ),
    _rule(
        "value/json",
        "A JSON column is its document as text, numbers exact.",
        Effect.LOST_PRECISION,
        _value("json"),
        (_REFERENCE, "3.5"),
    ),
    _rule(
        "value/text-controls",
        "Escaped control characters, U+007F to U+009F and line separators come back as they were, whether escaped or raw.",
        Effect.MOJIBAKE,
        _value("text", classes=("control", "separator")),
        ("alibaba/fastjson 1.2.58, alibaba/fastjson2 2.0.4 and 2.0.31", "run over U+0000 to U+00FF, U+2028, U+2029"),
        (_REFERENCE, "0.2, 1.5"),
    ),
    _rule(
        "value/text",
        "Text comes back character for character; so does every value that no other rule names.",
        Effect.MOJIBAKE,
        Selector(),
        (_REFERENCE, "1.5, 3.2"),
        provenance=_DOCUMENTED,
    ),
)

RULES: Final = (*_FAULTS, *_STATEMENTS, *_ROWS, *_ENVELOPE, *_IMAGES, *_VALUES)
"""Every rule of the format but the laws; the first that matches a comparison owns it."""

ORDER: Final = Order((), (Citation("reference/canal.md", "1.2, 1.3"),), Provenance.OBSERVED)
"""No total order: `es` orders commits, arrival decides among equals."""
