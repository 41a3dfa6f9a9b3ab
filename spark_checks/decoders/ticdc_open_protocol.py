"""TiCDC's Open Protocol as native Spark expressions (sources: the page ticdc-open).

A record's key is a version, 1, and the keys of its events; its value has their values; each is a
JSON object behind its length. The lengths are cut by one aggregation over each half, then all
objects of a record are parsed at once. One event that cannot be read, or one cell that does not
fit, makes the record one CORRUPT row; so does a half with an event more than the other, a length
beyond the end, another version.

The key's `t` tells rows (1), statements (2) and Resolved Events (3), which are watermarks and have
no value. A row with `d` is a DELETE, one with `u` and `p` an UPDATE, one with `u` alone an INSERT:
with output-old-value=false, and where nothing changed under only-output-updated-columns, an UPDATE
is written so. A column that `p` lacks did not change. `keys` are the columns with `h`, `position`
is the key's `ts`, a TSO, and the commit time its milliseconds.

Values are TiDB's texts and JSON numbers; TEXT and BLOB types are base64, BINARY and VARBINARY Go's
quoted form; ENUM and SET are numbers; a TIMESTAMP is wall clock of the deployment's zone.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import (
    BooleanType,
    DataType,
    IntegerType,
    LongType,
    MapType,
    StringType,
    StructField,
    StructType,
)

from generators import model
from generators.model import Deployment, Logical, Table
from spark_checks.decoders.baselines import cast_columns, level_one, level_two
from spark_checks.decoders.families import framing
from spark_checks.decoders.families.connect.decimals import base64_bytes
from spark_checks.decoders.families.mysql import misfit, mysql_typed
from spark_checks.decoders.families.sql import let, let_column, literal, name

_STRING: Final = StringType()
_CELLS: Final = MapType(
    _STRING, StructType([StructField("h", BooleanType()), StructField("v", _STRING)])
)
"""The type of a row in which any column may be: by name, `h` (whether it is part of the key) and
`v` (the value's text).
"""
_BASE64: Final = frozenset(
    f"{size}{kind}" for size in ("tiny", "", "medium", "long") for kind in ("text", "blob")
)
"""The MySQL types whose cells are base64."""
_TOKEN: Final = r"""r'\\x[0-9a-f]{2}|\\u[0-9a-f]{4}|\\U[0-9a-f]{8}|\\[abfnrtv\\"]|[^\\]+'"""
"""SQL of the pattern of a token in Go's quoted form: an escape, or what stands between escapes."""
_SHORT: Final = {
    "a": "07",
    "b": "08",
    "f": "0C",
    "n": "0A",
    "r": "0D",
    "t": "09",
    "v": "0B",
    "\\": "5C",
    '"': "22",
}
"""The bytes, in hex, for which Go's escapes of one character stand."""


def _envelope(image: DataType) -> StructType:
    """The type of an event's key and of its value, which are parsed alike. `image` is the type of a
    row: `u` is the new one, `p` the old one, `d` the deleted one.
    """
    heads = [StructField("ts", LongType()), StructField("t", IntegerType())]
    text_fields = [StructField(member, _STRING) for member in ("scm", "tbl", "q")]
    return StructType([*heads, *text_fields, *(StructField(side, image) for side in "upd")])


def _parts(half: str, start: int, most: str) -> str:
    """SQL of the array of texts, each behind its length in eight bytes, in one half of the record:
    `half` is `key` or `value`, `start` the place of the first length, `most` the SQL of how many
    texts there are at most. NULL if the half does not end with the last of them.

    The SQL goes on from text to text with the state `s`: `s.at` is the place of the next length
    (NULL after a wrong one), `s.found` are the texts so far.
    """
    size = f"try_cast(conv(hex(substring({half}, s.at, 8)), 16, 10) AS bigint)"
    part_text = f"CAST(substring({half}, s.at + 8, CAST(n AS int)) AS string)"
    cut = f"named_struct('at', s.at + 8 + CAST(n AS int), 'found', concat(s.found, array({part_text})))"
    failed = "named_struct('at', CAST(NULL AS int), 'found', s.found)"
    step = let(
        size,
        "n",
        f"CASE WHEN n BETWEEN 0 AND length({half}) - s.at - 7 THEN {cut} ELSE {failed} END",
    )
    begin = f"named_struct('at', {start}, 'found', CAST(array() AS array<string>))"
    again = f"CASE WHEN s.at <= length({half}) THEN {step} ELSE s END"
    end = f"CASE WHEN s.at = length({half}) + 1 THEN s.found END"
    return f"aggregate(sequence(1, {most}), {begin}, (s, i) -> {again}, s -> {end})"


_KEYS: Final = (
    "CASE WHEN hex(substring(key, 1, 8)) = '0000000000000001' THEN"
    f" {_parts('key', 9, 'length(key) DIV 10 + 1')} END"
)
"""SQL of the array of the events' keys; NULL for a record key of another version."""
_PAIRS: Final = (
    "flatten(transform(ks, (k, i) -> array(k, CASE WHEN get(vs, i) = '' THEN '{}' ELSE get(vs, i)"
    " END)))"
)
"""SQL of the events' keys (`ks`) and values (`vs`) in turn; an empty value becomes {}."""
_VALUES: Final = let(
    _parts("value", 1, "size(ks)"), "vs", f"CASE WHEN size(vs) = size(ks) THEN {_PAIRS} END"
)
"""SQL of the same from the keys `ks` and the record's value; NULL if the numbers differ."""
_TEXTS: Final = let(_KEYS, "ks", f"CASE WHEN size(ks) > 0 THEN {_VALUES} END")
"""SQL of the JSON texts of a record's events, key and value in turn; NULL for a record that is not
of this protocol.
"""


def _kind(key: Column, value: Column) -> Column:
    """The kind of one event of a record, from `t` in its key and the rows in its value: ROW, DDL or
    WATERMARK; NULL if key and value do not agree.
    """
    is_named = key["scm"].isNotNull() & key["tbl"].isNotNull()
    new, old, gone = (value[side].isNotNull() for side in "upd")
    return F.when(
        key["ts"].isNotNull(),
        F.when((key["t"] == 1) & is_named & ((new & ~gone) | (gone & ~new & ~old)), "ROW")
        .when((key["t"] == 2) & value["q"].isNotNull(), "DDL")
        .when((key["t"] == 3) & ~new & ~old & ~gone & value["q"].isNull(), "WATERMARK"),
    )


def _op(value: Column) -> Column:
    """The operation of a row event, from which images its value has."""
    return (
        F.when(value["d"].isNotNull(), "DELETE")
        .when(value["p"].isNotNull(), "UPDATE")
        .otherwise("INSERT")
    )


def _parse_events(image: DataType, extract: Callable[[Column], Column]) -> Column:
    """Parses a record's key and value, and returns what `extract` makes of the record's events, an
    array of structs of `key`, `value` and `kind`; `extract` gets NULL for a record that cannot be
    read. `image` is the type as which rows are parsed.
    """

    def event(parsed: Column) -> Callable[[Column], Column]:
        """The function that makes, from an event's number, a struct of its key, its value and its
        kind. `parsed` is the array of the record's keys and values, which alternate.
        """

        def extract_event(i: Column) -> Column:
            """The struct of the event with this number."""
            key, value = framing.message_at(parsed, i * 2), framing.message_at(parsed, i * 2 + 1)
            return F.struct(key.alias("key"), value.alias("value"), _kind(key, value).alias("kind"))

        return extract_event

    def extract_judged(texts: Column, parsed: Column) -> Column:
        """What `extract` makes of a record's events, which are built from the record's JSON texts
        (key and value in turn) and from the same texts parsed. `extract` gets NULL if a text is not
        one JSON object, or if the kind of an event is NULL because its key and value do not agree.
        """
        places = F.sequence(F.lit(0), F.shiftright(F.size(texts), 1) - 1)
        events = F.when(
            framing.is_one_object_each(parsed, F.size(texts)), F.transform(places, event(parsed))
        )
        return let_column(
            events,
            lambda events: extract(
                F.when(F.forall(events, lambda e: e["kind"].isNotNull()), events)
            ),
        )

    def parse_texts(texts: Column) -> Column:
        """What `extract` makes of the events, given the JSON texts of a record's keys and values in
        turn.
        """
        return let_column(
            framing.read_each(texts, _envelope(image)), lambda parsed: extract_judged(texts, parsed)
        )

    return let_column(F.expr(_TEXTS), parse_texts)


def decode(records: DataFrame, *, deployment: Deployment | None = None) -> DataFrame:
    """Level one: the changes that Open Protocol records carry, one row for each event's row."""

    def image(cells: Column) -> Column:
        """A row as a map of texts."""
        return F.transform_values(cells, lambda _name, cell: cell["v"])

    def change(event: Column, ordinal: Column) -> Column:
        """The level-one row of an event, whose number in its message is `ordinal`. The protocol's
        members are short: `scm` is the database, `tbl` the table, `ts` the commit's TSO, whose
        milliseconds stand above a counter of 18 bits; `u`, `p` and `d` are the new, the old and the
        deleted row, and `h` of a cell says whether it belongs to the key; `q` is a statement.
        """
        key, value, kind = event["key"], event["value"], event["kind"]
        op = F.when(kind == "ROW", _op(value))
        handle = F.map_keys(
            F.map_filter(F.coalesce(value["u"], value["d"]), lambda _name, cell: cell["h"])
        )
        return F.struct(
            *framing.change(
                kind,
                row=ordinal,
                op=op,
                database=key["scm"],
                table=key["tbl"],
                keys=F.when(kind == "ROW", handle),
                position=key["ts"].cast("string"),
                commit_time=framing.instant(F.shiftright(key["ts"], 18)),
                before=F.when(op == "DELETE", image(value["d"])).when(
                    op == "UPDATE", image(value["p"])
                ),
                after=framing.after(op, image(value["u"])),
                sql=F.when(kind == "DDL", value["q"]),
            )
        )

    corrupt = F.array(F.struct(*framing.change(F.lit("CORRUPT"))))
    event_rows = _parse_events(
        _CELLS, lambda events: F.coalesce(F.transform(events, change), corrupt)
    )
    return framing.changes(records, event_rows, deployment)


def decode_rows(
    records: DataFrame, table: Table, *, deployment: Deployment | None = None
) -> DataFrame:
    """Level two: typed row changes of `table`, and CORRUPT rows. A column that the old row (`p`)
    lacks is taken from the new one (`u`).
    """
    zone = deployment.time_zone if deployment else "UTC"
    cell = StructType([StructField("v", _STRING)])

    def part(events: Column) -> Column:
        """What level two (typed rows) needs of a record, as a struct: `corrupt`, whether it cannot
        be read, and `events`.
        """

        def event_struct(event: Column) -> Column:
            """An event's op if it is a row of the table, else NULL, and its rows `u` (new), `p`
            (old) and `d` (deleted).
            """
            key, value = event["key"], event["value"]
            of_table = (
                (event["kind"] == "ROW")
                & (key["scm"] == table.database)
                & (key["tbl"] == table.name)
            )
            return F.struct(
                F.when(of_table, _op(value)).alias("op"),
                *(value[side].alias(side) for side in "upd"),
            )

        return F.struct(
            events.isNull().alias("corrupt"), F.transform(events, event_struct).alias("events")
        )

    def value(c: model.Column, image: str) -> str:
        """SQL that reads a cell of the image as a value of the column's type. MySQL's TEXT and BLOB
        types come as base64, BINARY and VARBINARY in Go's quoted form, other types as MySQL's text.
        """
        cell_text = framing.cell(c, image)
        if c.type.name in _BASE64:
            return (
                f"CAST({base64_bytes(cell_text)} AS string)"
                if c.type.logical is Logical.TEXT
                else base64_bytes(cell_text)
            )
        return (
            _unquoted(cell_text)
            if c.type.logical is Logical.BINARY
            else mysql_typed(cell_text, c.type, zone)
        )

    def unfit(c: model.Column) -> str | None:
        """SQL of the test whether a column's cell does not fit its type; None for texts that do not
        come as base64, which always fit.
        """
        cell_text, value_sql = framing.cell(c, "i.t"), framing.cell(c, "i.value")
        if c.type.logical is Logical.TEXT:
            return (
                f"({value_sql} IS NULL AND {cell_text} IS NOT NULL)"
                if c.type.name in _BASE64
                else None
            )
        return misfit(cell_text, value_sql, c.type)

    events = _parse_events(StructType([StructField(c.name, cell) for c in table.columns]), part)
    images = framing.with_unfit_marks(table, value, unfit, _images(table))
    return framing.typed_rows(records, events, let(images, "typed", _ROWS), deployment)


def _images(table: Table) -> str:
    """SQL of an array with two rows for each event of `part.events`, structs of texts: its before
    image and its after image, NULL where it has none.
    """

    def struct(cell: Callable[[str], str]) -> str:
        """SQL of the struct of the table's columns, with the SQL that `cell` gives for each."""
        return (
            f"struct({', '.join(f'{cell(name(c.name))} AS {name(c.name)}' for c in table.columns)})"
        )

    # With only-output-updated-columns `p` has the changed columns alone; the others are as in `u`.
    old = struct(lambda c: f"CASE WHEN e.p.{c} IS NOT NULL THEN e.p.{c}.v ELSE e.u.{c}.v END")
    before = (
        f"CASE e.op WHEN 'DELETE' THEN {struct(lambda c: f'e.d.{c}.v')} WHEN 'UPDATE' THEN"
        f" {old} END"
    )
    after = f"CASE WHEN e.op IN ('INSERT', 'UPDATE') THEN {struct(lambda c: f'e.u.{c}.v')} END"
    return f"flatten(transform(part.events, e -> array({before}, {after})))"


_TABLE_ROW: Final = framing.row_struct("i", "ROW", "e.op", ("2 * i", "2 * i + 1"))
"""SQL of the row of level two (typed rows) of event number `i`, `e`, which is of the table."""
_ROWS: Final = (
    f"CASE WHEN part.corrupt THEN {framing.corrupt(framing.UNREADABLE)} WHEN exists(typed, image ->"
    f" image.unfit) THEN {framing.corrupt(framing.MISFIT)} ELSE filter(transform(part.events, (e,"
    f" i) -> CASE WHEN e.op IS NOT NULL THEN {_TABLE_ROW} END), r -> r IS NOT NULL) END"
)
"""SQL of the array of a record's rows of level two (typed rows), over `part` and `typed`, the typed
images of its events.
"""


def _unquoted(quoted: str) -> str:
    """SQL of the bytes for which a text in Go's quoted form stands; NULL for a text that is not in
    that form: its tokens (escapes, and what stands between them) do not make up the whole text.
    """
    short = " ".join(f"WHEN {literal(char)} THEN '{code}'" for char, code in _SHORT.items())
    point = "hex(CAST(decode(unhex(lpad(substring(x, 3), 8, '0')), 'UTF-32') AS binary))"
    escape = (
        f"CASE substring(x, 2, 1) WHEN 'x' THEN substring(x, 3) WHEN 'u' THEN {point} WHEN 'U' THEN"
        f" {point} {short} END"
    )
    token = (
        f"CASE WHEN left(x, 1) = {literal(chr(92))} THEN {escape} ELSE hex(CAST(x AS binary)) END"
    )
    data = f"unhex(array_join(transform(tokens, x -> {token}), ''))"
    unquoted = f"CASE WHEN array_join(tokens, '') = {quoted} THEN {data} END"
    return let(f"regexp_extract_all({quoted}, {_TOKEN}, 0)", "tokens", unquoted)


class OpenBaseline:
    """The throughput baseline, a decoder without checks: it reads only the first event of a record,
    with `from_json` of the text behind the length, and leaves base64 and quotes as they are.
    """

    def decode(self, records: DataFrame, *, deployment: Deployment | None = None) -> DataFrame:
        """The baseline of level one: the first event of each record with its images as maps of
        texts, and its envelope, without any check.
        """
        k, v = F.col("k"), F.col("v")
        return level_one(
            _first_events(records, "map<string, struct<v: string>>"),
            F.when(k["t"] == 1, "ROW"),
            op=_op(v),
            database=k["scm"],
            table=k["tbl"],
            position=k["ts"].cast("string"),
            commit_time=F.timestamp_millis(F.shiftright(k["ts"], 18)),
            before=F.transform_values(F.coalesce(v["d"], v["p"]), lambda _name, cell: cell["v"]),
            after=F.transform_values(v["u"], lambda _name, cell: cell["v"]),
        )

    def decode_rows(
        self, records: DataFrame, table: Table, *, deployment: Deployment | None = None
    ) -> DataFrame:
        """Level two of the baseline, a decoder without any check, the yardstick of throughput: the
        first event of each record, its images as structs of the table's columns.
        """
        image = f"struct<{', '.join(f'{name(c.name)}: struct<v: string>' for c in table.columns)}>"
        v = F.col("v")
        old, new = F.coalesce(v["d"], v["p"]), v["u"]
        images = (
            cast_columns(table, lambda c, side=side: side[c]["v"])  # type: ignore[misc]
            for side in (old, new)
        )
        return level_two(
            _first_events(records, image), F.when(F.col("k")["t"] == 1, "ROW"), _op(v), *images
        )


def _first_events(records: DataFrame, image: str) -> DataFrame:
    """The first event of each record: its key `k`, and its value `v` with the images `u` (the new
    row), `p` (the old row) and `d` (the deleted row).
    """
    # The key begins with the version, in 8 bytes.
    key, value = (F.expr(_first_text(half, start)) for half, start in (("key", 9), ("value", 1)))
    cells = ", ".join(f"{side}: {image}" for side in "upd")
    schema = f"k struct<ts: bigint, t: int, scm: string, tbl: string>, v struct<{cells}>"
    parsed = F.from_json(F.concat(F.lit('{"k":'), key, F.lit(',"v":'), value, F.lit("}")), schema)
    return records.select(*framing.COORDINATES, parsed.alias("m")).select(
        *framing.COORDINATES, "m.k", "m.v"
    )


def _first_text(half: str, start: int) -> str:
    """SQL of the first text in one half of a record, `key` or `value`: `start` is the place of its
    length, which has 8 bytes. Other texts may stand behind it.
    """
    size = f"CAST(conv(hex(substring({half}, {start}, 8)), 16, 10) AS int)"
    return f"CAST(substring({half}, {start + 8}, {size}) AS string)"


BASELINE: Final = OpenBaseline()
