"""The rules of Simple's rows in both encodings, as JSON tells them: the schema cache, reduced messages, images, the envelope."""

from __future__ import annotations

from conformance.rules.base import Aspect, Effect, Rule, Selector
from conformance.rules.book import ASSUMED, DOCUMENTED, EXISTENCE, UNSPECIFIED, WHOLE, Book
from conformance.rules.families.ticdc_simple.retold import envelope


def schemas(book: Book) -> tuple[Rule, ...]:
    """The schema cache: which schema tells the types of a row."""
    return (
        book.rule(
            "schema/version",
            "A row's types are those of its own schemaVersion, not the table's latest or first.",
            Effect.WRONG_VALUE,
            envelope("types", kinds=("ROW",), tags=("schema:version",)),
            "ticdc#simple-schema-cache",
            provenance=DOCUMENTED,
        ),
        book.rule(
            "schema/late",
            "A row that came before its BOOTSTRAP has the types of the schema that follows, also if another table's comes first.",
            Effect.NULL_FOR_VALUE,
            envelope("types", kinds=("ROW",), tags=("schema:late",)),
            "ticdc#simple-schema-late",
            provenance=DOCUMENTED,
        ),
        book.rule(
            "schema/pre-table-schema",
            "A preTableSchema describes the rows of its version as a tableSchema does.",
            Effect.NULL_FOR_VALUE,
            envelope("types", kinds=("ROW",), tags=("schema:pre",), profiles=("v*",)),
            "ticdc#simple-schema-cache",
        ),
        book.rule(
            "schema/none",
            "A row whose schema never came is a row all the same, without types: no other version's and no other table's.",
            Effect.LOST_CHANGE,
            Selector(
                fields=("change", "types"), aspects=(*EXISTENCE, Aspect.FIELD), kinds=("ROW",), tags=("schema:none", "schema:pre")
            ),
            "ticdc#simple-rows",
            "ticdc#simple-schema-late",
            "harness#every-offset",
            provenance=ASSUMED,
        ),
        book.rule(
            "schema/rename",
            "RENAME keeps the version: the renamed table's rows find their schema by database, table and version together.",
            Effect.WRONG_TABLE,
            envelope("types", kinds=("ROW",), tags=("schema:rename",)),
            "ticdc#simple-rename",
            provenance=DOCUMENTED,
        ),
        book.rule(
            "schema/partitioned",
            "A partitioned table's rows have their partition's tableID, its schema the table's: a schema is not found by "
            "tableID.",
            Effect.NULL_FOR_VALUE,
            envelope("types", kinds=("ROW",), tags=("schema:partitioned",)),
            "ticdc#simple-partitions",
        ),
        book.rule(
            "schema/virtual-column",
            "A virtual column is in the tableSchema and its types, not in the rows.",
            Effect.WRONG_VALUE,
            envelope("types", kinds=("ROW",), tags=("virtual",)),
            "ticdc#virtual-columns",
        ),
        book.rule(
            "schema/types",
            "A row's types are the mysqlTypes of the schema of its database, table and schemaVersion.",
            Effect.WRONG_VALUE,
            envelope("types", kinds=("ROW",)),
            "ticdc#simple-schema-cache",
            "ticdc#simple-columns",
            provenance=DOCUMENTED,
        ),
        book.rule(
            "schema/schema-version",
            "schema_version of a row is its schemaVersion as text, all digits of a number beyond 2^53 kept.",
            Effect.LOST_PRECISION,
            envelope("schema_version", kinds=("ROW",)),
            "ticdc#simple-rows",
            "ticdc#tso",
            provenance=DOCUMENTED,
        ),
    )


def rows(book: Book) -> tuple[Rule, ...]:
    """Row messages as a whole."""
    return (
        book.rule(
            "framing/compression",
            "Whole values are snappy blocks when the deployment says so, and nothing in the message does.",
            Effect.LOST_CHANGE,
            Selector(fields=("change",), aspects=(Aspect.MISSING, Aspect.CORRUPT), kinds=("ROW",), profiles=("*+snappy",)),
            "ticdc#compression",
            "harness#deployment",
        ),
        book.rule(
            "op/key-update",
            "An UPDATE of a key is DELETE and INSERT of the same commitTs, deletes first.",
            Effect.WRONG_OP,
            Selector(fields=("change",), aspects=(Aspect.OP, Aspect.MISSING, Aspect.EXTRA), tags=("key-update",)),
            "ticdc#key-update",
        ),
        book.rule(
            "op/delete-row-in-old",
            "A DELETE has no data: its row is in old and is the before image; after is NULL.",
            Effect.LOST_DELETE,
            Selector(fields=("image", "change"), aspects=(*WHOLE, Aspect.IMAGE), ops=("DELETE",)),
            "ticdc#simple-images",
            provenance=DOCUMENTED,
        ),
        book.rule(
            "checksum/ignored",
            "A checksum block is no part of the row; a decoder need not verify it, and a row with one is a row.",
            Effect.LOST_CHANGE,
            Selector(fields=("change", "image"), aspects=(*WHOLE, Aspect.IMAGE), tags=("checksum",)),
            "ticdc#simple-checksum",
        ),
    )


def reduced(book: Book) -> tuple[Rule, ...]:
    """Messages that were too large and hold the handle key only."""
    return (
        book.rule(
            "reduced/keyless",
            "A large message of a table without a key has neither data nor old; a row without images or CORRUPT are as good.",
            Effect.SILENT_CORRUPTION,
            Selector(fields=("change", "image"), tags=("reduced-keyless",)),
            "ticdc#simple-reduced-keyless",
            obligation=UNSPECIFIED,
        ),
        book.rule(
            "reduced/handle-key-only",
            "A message with handleKeyOnly holds the handle key's columns; the others are absent, not NULL.",
            Effect.NULL_FOR_ABSENT,
            Selector(fields=("cell",), tags=("reduced",), profiles=("*handle-key-only*",)),
            "ticdc#simple-reduced",
            "ticdc#handle-key",
        ),
        book.rule(
            "reduced/claim-check",
            "A message with claimCheckLocation has handleKeyOnly too, and the handle key's columns only: the others are absent.",
            Effect.NULL_FOR_ABSENT,
            Selector(fields=("cell",), tags=("reduced",), profiles=("*claim-check*",)),
            "ticdc#simple-reduced",
            "ticdc#handle-key",
        ),
        book.rule(
            "reduced/readable",
            "A reduced message is still one change with its images.",
            Effect.LOST_CHANGE,
            Selector(fields=("change", "image"), tags=("reduced",)),
            "ticdc#simple-reduced",
        ),
    )


def presence(book: Book) -> tuple[Rule, ...]:
    """Which columns an image has."""
    return (
        book.rule(
            "image/virtual-column",
            "A virtual generated column is not in data or old: it is absent, not NULL.",
            Effect.NULL_FOR_ABSENT,
            Selector(fields=("cell",), aspects=(Aspect.PRESENCE,), states=("ABSENT",), tags=("virtual",)),
            "ticdc#virtual-columns",
        ),
        book.rule(
            "old/complete",
            "An UPDATE's old has every column, unchanged ones and NULLs too.",
            Effect.NULL_FOR_ABSENT,
            Selector(fields=("cell",), aspects=(Aspect.PRESENCE,), ops=("UPDATE",), sides=("before",)),
            "ticdc#simple-images",
            provenance=DOCUMENTED,
        ),
        book.rule(
            "image/presence",
            "An image has the columns that the message carries, under names that keep their case and their characters.",
            Effect.NULL_FOR_ABSENT,
            Selector(fields=("cell",), aspects=(Aspect.PRESENCE,)),
            "ticdc#simple-rows",
            provenance=DOCUMENTED,
        ),
    )


def general(book: Book) -> tuple[Rule, ...]:
    """What every message owes; the last rules of a format."""
    return (
        book.rule(
            "envelope/keys",
            "A row's message has no keys: a decoder returns none, or those of the table's cached schema, in any order.",
            Effect.WRONG_ROW_KEY,
            envelope("keys"),
            "ticdc#keys-as-told",
            "ticdc#simple-schema-cache",
            "ticdc#simple-rows",
            provenance=ASSUMED,
        ),
        book.rule(
            "envelope/position",
            "position is commitTs, all digits of a number beyond 2^53 kept.",
            Effect.LOST_PRECISION,
            envelope("position"),
            "ticdc#simple-rows",
            "ticdc#tso",
            provenance=DOCUMENTED,
        ),
        book.rule(
            "envelope/commit-time",
            "The commit time is commitTs >> 18 milliseconds; buildTs is when the message was encoded.",
            Effect.TIME_SHIFT,
            envelope("commit_time"),
            "ticdc#simple-rows",
            "ticdc#tso",
            provenance=DOCUMENTED,
        ),
        book.rule(
            "envelope/names",
            "Database and table are those of the message.",
            Effect.WRONG_TABLE,
            envelope(),
            "ticdc#simple-rows",
            provenance=DOCUMENTED,
        ),
        book.rule(
            "change/zero-date-not-corrupt",
            "A zero date does not make its row CORRUPT.",
            Effect.LOST_CHANGE,
            Selector(fields=("change",), aspects=(Aspect.CORRUPT,), tags=("zero-date",)),
            "ticdc#dates-and-times",
            "standards#mysql-zero-dates",
            provenance=ASSUMED,
        ),
        book.rule(
            "change/kind",
            "type INSERT, UPDATE or DELETE is a row, whatever other fields the message has.",
            Effect.LOST_CHANGE,
            Selector(aspects=(Aspect.KIND,)),
            "ticdc#simple-types",
            provenance=DOCUMENTED,
        ),
        book.rule(
            "change/op",
            "type tells the operation.",
            Effect.WRONG_OP,
            Selector(aspects=(Aspect.OP,)),
            "ticdc#simple-types",
            provenance=DOCUMENTED,
        ),
        book.rule(
            "change/corrupt",
            "A message as TiCDC writes it is readable, in any key order and with the optional keys left out.",
            Effect.LOST_CHANGE,
            Selector(aspects=(Aspect.CORRUPT,)),
            "ticdc#simple-optional-keys",
            "ticdc#simple-rows",
        ),
        book.one_each(),
        book.rule(
            "image/sides",
            "data is the after image of INSERT and UPDATE, old the before image of UPDATE; an image that is not sent is NULL.",
            Effect.WRONG_VALUE,
            Selector(aspects=(Aspect.IMAGE,)),
            "ticdc#simple-images",
            provenance=DOCUMENTED,
        ),
    )
