"""What a liar is, and the few ways to make one of a correct decoder."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from pyspark.sql import Column as SparkColumn
from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import StructType

from generators.garbage.faults import OUTSIDE_DOMAIN
from generators.model import Column, Deployment, Layout, SourceType, Table, Written
from generators.sources import boundaries
from generators.sources.boundaries import ENVELOPE_NAMES, OTHER_DATABASE, OTHER_SCHEMA, POOL_DATABASE
from generators.sources.postgresql import SCHEMA
from generators.wire_format import get

Decode = Callable[..., DataFrame]

IMAGES: Final = ("before", "after")

_OWNERS: Final[Mapping[str, Mapping[str, str]]] = {
    "ticdc-canal-json": {
        "null": "fault/empty",
        "no-message": "fault/unreadable",
        "other-table": "change/extra",
        "text": "value/escapes",
        "long": "cell/value",
        "name": "cell/value",
    },
    "alibaba-canal-json": {"other-table": "rows/every-row", "name": "value/null"},
    "debezium-json": {"other-table": "rows/every-row", "name": "value/null"},
    "huawei-cdl-json": {"other-table": "rows/one-each"},
    "huawei-cdl-debezium": {"other-table": "rows/one-each"},
    "ticdc-simple-json": {"text": "value/escapes", "long": "value/other"},
    "ticdc-simple-avro": {"text": "value/text-as-it-stands", "long": "value/other"},
    "aliyun-dts-avro": {"text": "", "other-table": "rows/readable"},
    "cloudcanal-json": {"other-table": "rows/readable"},
    "cloudcanal-canal-json": {"other-table": "rows/readable"},
    "tencent-dts-json": {"other-table": "rows/readable"},
}
"""The rules of formats that have others than `fault/must-reject` on faults, than `change/one-each` on rows of other tables, or
than `value/text` on texts ("" for none); `name`: the rule on NULL for a text, in formats whose liars misread columns' names."""


@dataclass(frozen=True, slots=True)
class Liar:
    """A decoder that is wrong on purpose in one way.

    `level` is 1 or 2, and `decode` has the signature of that level's decoder; `convicts` is the id of the rule
    that must catch it, `why` the decoder or the mistake of the real world that it stands for. The self test tries it on cases in
    which that rule owns something, or on those of `scenario`, a glob.
    """

    name: str
    format: str
    level: int
    convicts: str
    why: str
    decode: Decode
    scenario: str = ""


def quoted(name: str) -> str:
    """A column name in SQL."""
    return "`" + name.replace("`", "``") + "`"


def on_input(decode: Decode, sql: str) -> Decode:
    """The decoder on other bytes: `sql` gives the value as text, from the value as text `t`; other columns stay."""

    def lie(records: DataFrame, *args: Table, deployment: Deployment | None = None) -> DataFrame:
        with_text = records.withColumn("t", F.col("value").cast("string"))
        return decode(with_text.withColumn("value", F.expr(sql).cast("binary")).drop("t"), *args, deployment=deployment)

    return lie


def on_columns(decode: Decode, **sql: str) -> Decode:
    """The decoder with columns of its output replaced by SQL over its output."""

    def lie(records: DataFrame, *args: Table, deployment: Deployment | None = None) -> DataFrame:
        return decode(records, *args, deployment=deployment).withColumns({name: F.expr(text) for name, text in sql.items()})

    return lie


def on_rows(decode: Decode, keep: str) -> Decode:
    """The decoder without the rows for which `keep` does not hold."""

    def lie(records: DataFrame, *args: Table, deployment: Deployment | None = None) -> DataFrame:
        return decode(records, *args, deployment=deployment).where(keep)

    return lie


def on_cells(decode_rows: Decode, which: Callable[[SourceType], bool], sql: Callable[[str, SourceType], str]) -> Decode:
    """The level-two decoder with the cells of some types replaced: `sql` is given the cell and its type."""

    def lie(records: DataFrame, table: Table, *, deployment: Deployment | None = None) -> DataFrame:
        def cell(side: str, c: Column) -> str:
            text = f"{side}.{quoted(c.name)}"
            return f"{sql(text, c.type) if which(c.type) else text} AS {quoted(c.name)}"

        def image(side: str) -> str:
            return f"CASE WHEN {side} IS NOT NULL THEN struct({', '.join(cell(side, c) for c in table.columns)}) END"

        decoded = decode_rows(records, table, deployment=deployment)
        return decoded.withColumns({side: F.expr(image(side)) for side in ("before", "after")})

    return lie


def as_row(decode: Decode, which: str, op: str) -> Decode:
    """The decoder that takes records, for which the SQL `which` is true, for rows without columns."""

    def lie(records: DataFrame, *args: Table, deployment: Deployment | None = None) -> DataFrame:
        told = F.coalesce(F.expr(which), F.lit(False))
        wrong = decode(records.where(told), *args, deployment=deployment)
        row = {"kind": F.lit("ROW"), "op": F.lit(op), "error": F.lit(None).cast("string")}
        return decode(records.where(~told), *args, deployment=deployment).unionByName(wrong.withColumns(row))

    return lie


def refused_as_nulls(decode_rows: Decode) -> Decode:
    """The level-two decoder that gives an inserted row of NULLs wherever the right one refuses."""

    def lie(records: DataFrame, table: Table, *, deployment: Deployment | None = None) -> DataFrame:
        decoded = decode_rows(records, table, deployment=deployment)
        image = decoded.schema["after"].dataType
        assert isinstance(image, StructType)
        nulls = F.struct(*(F.lit(None).cast(field.dataType).alias(field.name) for field in image))
        row = {"kind": F.lit("ROW"), "op": F.lit("INSERT"), "error": F.lit(None).cast("string"), "after": nulls}
        refused = F.col("kind") == "CORRUPT"
        return decoded.withColumns({name: F.when(refused, is_so).otherwise(F.col(name)) for name, is_so in row.items()})

    return lie


_NAMESAKE: Final = "rows/keyless/same-name-elsewhere"


def _written(fmt: str, name: str) -> list[Written]:
    """The messages of a named scenario in the format's first profile."""
    wire = get(fmt)
    profile = wire.profiles[0]
    scenarios = boundaries.scenarios(profile.database, wire.supports, profile.source)
    history = next(scenario.history for scenario in scenarios if scenario.name == name)
    return list(wire.write(history, profile, Layout()))


def _tells_place(fmt: str) -> bool:
    """Whether the format's messages tell a database or a schema."""
    return any(change.database or change.schema for sent in _written(fmt, _NAMESAKE) for change in sent.changes)


def database_ignored(fmt: str, decode_rows: Decode) -> Iterator[Liar]:
    """It takes the namesake of the asked table for it; the names have one length, so that binary forms stay readable."""
    if not _tells_place(fmt):
        return

    def lie(records: DataFrame, table: Table, *, deployment: Deployment | None = None) -> DataFrame:
        pairs = ((OTHER_DATABASE, POOL_DATABASE), (OTHER_SCHEMA, SCHEMA))
        value = F.hex("value")
        for there, here in pairs:
            value = F.replace(value, F.lit(there.encode().hex().upper()), F.lit(here.encode().hex().upper()))
        return decode_rows(records.withColumn("value", F.unhex(value)), table, deployment=deployment)

    why = "The table's name alone selects its messages: those of its namesake in another database or schema are its rows."
    owner = _OWNERS.get(fmt, {}).get("other-table", "change/one-each")
    yield Liar("database-ignored", fmt, 2, f"{fmt}/{owner}", why, lie, _NAMESAKE)


def names_misread(fmt: str, decode_rows: Decode) -> Iterator[Liar]:
    """The level-two liars that lose columns by their names, in a few formats."""
    owner = _OWNERS.get(fmt, {}).get("name")
    if not owner:
        return

    def losing(which: Callable[[str], bool]) -> Decode:
        def lie(records: DataFrame, table: Table, *, deployment: Deployment | None = None) -> DataFrame:
            decoded = decode_rows(records, table, deployment=deployment)
            for side in IMAGES:
                cells = (
                    f"{'CAST(NULL AS string)' if which(c.name) else f'{side}.{quoted(c.name)}'} AS {quoted(c.name)}"
                    for c in table.columns
                )
                decoded = decoded.withColumn(side, F.expr(f"CASE WHEN {side} IS NOT NULL THEN struct({', '.join(cells)}) END"))
            return decoded

        return lie

    for name, why, which in (
        ("envelope-names-lost", "A column called data or type is taken for the envelope's member.", ENVELOPE_NAMES.__contains__),
        ("names-as-paths", "A name with punctuation is taken for a path.", lambda name: bool(set(":/,[.") & set(name))),
        ("names-in-lower-case", "Columns are looked up in lower case.", lambda name: name != name.lower()),
    ):
        yield Liar(name, fmt, 2, f"{fmt}/{owner}", why, losing(which), "rows/composite/*")


def on_texts(fmt: str, decode: Decode) -> Iterator[Liar]:
    """The liar on texts."""

    def unescaped(side: str) -> SparkColumn:
        def text(_: SparkColumn, value: SparkColumn) -> SparkColumn:
            for escaped, plain in (("\\\\", "\\"), ("\\n", "\n"), ("\\u0041", "A")):
                value = F.replace(value, F.lit(escaped), F.lit(plain))
            return value

        return F.transform_values(side, text)

    def twice(records: DataFrame, *args: Table, deployment: Deployment | None = None) -> DataFrame:
        decoded = decode(records, *args, deployment=deployment)
        return decoded.withColumns({side: unescaped(side) for side in IMAGES})

    def cut(records: DataFrame, *args: Table, deployment: Deployment | None = None) -> DataFrame:
        decoded = decode(records, *args, deployment=deployment)
        return decoded.withColumns({side: F.transform_values(side, lambda _, v: F.left(v, F.lit(1_000_000))) for side in IMAGES})

    why = "A text is unescaped twice: a backslash and an n, as characters, become a line feed."
    # Where a text is bytes on the wire, level one has no character to unescape.
    if owner := _OWNERS.get(fmt, {}).get("text", "value/text"):
        yield Liar("double-unescape", fmt, 1, f"{fmt}/{owner}", why, twice, "shape/awkward-texts")
        why = "A buffer of a million characters: the rest of a larger message is lost."
        long = _OWNERS.get(fmt, {}).get("long", owner)
        yield Liar("cut-at-a-million", fmt, 1, f"{fmt}/{long}", why, cut, "shape/megabyte")


def malformed(fmt: str, decode: Decode, decode_rows: Decode) -> Iterator[Liar]:
    """The liars that take what is no message, or no value of its column, for a row; of a format whose cases have such faults."""
    wire = get(fmt)
    tags = {fault.tag for fault in wire.faults}
    owners = {"null": "fault/must-reject", "no-message": "fault/must-reject", **_OWNERS.get(fmt, {})}
    if "null" in tags:
        why = "A record without a value is taken for the deletion of its key, as a compacted topic has it."
        yield Liar("null-as-delete", fmt, 1, f"{fmt}/{owners['null']}", why, as_row(decode, "value IS NULL", "DELETE"))
    if "no-message" in tags:
        why = "from_json reads any object: one without members becomes a row without columns."
        lie = as_row(decode, r"rlike(CAST(value AS string), '^[{][}][\\r\\n]*$')", "INSERT")
        yield Liar("no-message-as-row", fmt, 1, f"{fmt}/{owners['no-message']}", why, lie)
    if "no-such-message" in tags:
        why = "An unknown operation is taken for the first that the decoder knows."
        lie = as_row(decode, "CAST(value AS string) LIKE '%\"UNHEARD\"%'", "INSERT")
        yield Liar("unknown-type-as-insert", fmt, 1, f"{fmt}/fault/no-such-message", why, lie)
    if any(cell.name in OUTSIDE_DOMAIN for cell in wire.cell_faults(wire.profiles[0])):
        why = "try_cast gives NULL for a cell outside its column's domain, and the row goes on."
        yield Liar("cell-outside-domain-as-null", fmt, 2, f"{fmt}/fault/cell-domain", why, refused_as_nulls(decode_rows))


def before_the_error(fmt: str, decode: Decode, decode_rows: Decode) -> Iterator[Liar]:
    """The liars that give the rows before an error, beside the CORRUPT row; of a format with several rows a message."""
    if all(len(sent.changes) < 2 for sent in _written(fmt, "shape/multi-row-insert")):
        return
    wire = get(fmt)
    cell = next(cell for cell in wire.cell_faults(wire.profiles[0]) if cell.name not in OUTSIDE_DOMAIN)

    def rows_of(decoded: DataFrame, which: str) -> DataFrame:
        last = decoded.withColumn("last", F.expr("max(row) OVER (PARTITION BY topic, partition, offset)"))
        return last.where(f"kind = 'ROW' AND {which}").drop("last")

    def of_cut(records: DataFrame, *, deployment: Deployment | None = None) -> DataFrame:
        closed = records.withColumn("value", F.concat("value", F.lit(b"}")))
        return decode(records, deployment=deployment).unionByName(rows_of(decode(closed, deployment=deployment), "row < last"))

    def of_cell(records: DataFrame, table: Table, *, deployment: Deployment | None = None) -> DataFrame:
        text, good, bad = F.col("value").cast("string"), F.lit("null"), F.lit(str(cell.bad))
        mended = records.where(F.contains(text, bad)).withColumn("value", F.replace(text, bad, good).cast("binary"))
        before = rows_of(decode_rows(mended, table, deployment=deployment), "row = 0 AND last > 0")
        return decode_rows(records, table, deployment=deployment).unionByName(before)

    why = "A parser that emits as it reads: the rows before the error are out when the message is refused."
    cut, unfit = "fault/truncated-last/insert-of-three", f"fault/{cell.name}-of-three"
    yield Liar("rows-before-the-error", fmt, 1, f"{fmt}/fault/must-reject", why, of_cut, cut)
    yield Liar("rows-before-the-bad-cell", fmt, 2, f"{fmt}/fault/cell-type", why, of_cell, unfit)


def common(fmt: str, decode: Decode, decode_rows: Decode) -> tuple[Liar, ...]:
    """The liars that every format has: laws, and messages that none could have written."""

    def shifted(records: DataFrame, *args: Table, deployment: Deployment | None = None) -> DataFrame:
        decoded = decode(records, *args, deployment=deployment)
        return decoded.unionByName(decoded.withColumn("offset", F.col("offset") + 1_000_000))

    def law(name: str, rule: str, why: str, lie: Decode) -> Liar:
        return Liar(name, fmt, 1, f"{fmt}/law/{rule}", why, lie)

    return (
        failfast(fmt, decode),
        law("phantom-places", "places", "A join on the offset within a batch: each row occurs again, elsewhere.", shifted),
        law(
            "nowhere",
            "places",
            "An outer join loses the coordinates of an unreadable message.",
            on_columns(decode, offset="IF(kind = 'CORRUPT', NULL, offset)"),
        ),
        law(
            "offset-as-int",
            "environment-independence",
            "Offsets are cast to 32 bits: right until a partition has had 2^31 messages.",
            on_columns(decode, offset="IF(offset & 2147483648 = 0, 0, -2147483648) + (offset & 2147483647)"),
        ),
        law("no-reason", "row-shape", "A CORRUPT row without its reason.", on_columns(decode, error="CAST(NULL AS string)")),
        law(
            "corrupt-image",
            "row-shape",
            "A half-read message is CORRUPT and has an image: whoever reads images writes it downstream.",
            on_columns(decode, after="IF(kind = 'CORRUPT', map('id', '1'), after)"),
        ),
        *database_ignored(fmt, decode_rows),
        *on_texts(fmt, decode),
        *names_misread(fmt, decode_rows),
        *malformed(fmt, decode, decode_rows),
        *before_the_error(fmt, decode, decode_rows),
    )


def failfast(fmt: str, decode: Decode) -> Liar:
    """It raises where the decoder says CORRUPT."""

    def lie(records: DataFrame, *args: Table, deployment: Deployment | None = None) -> DataFrame:
        raised = "IF(kind = 'CORRUPT', CAST(raise_error(concat('malformed record at offset ', offset)) AS string), kind)"
        return decode(records, *args, deployment=deployment).withColumn("kind", F.expr(raised))

    why = "from_json with mode FAILFAST: one unreadable message stops the batch, and the query with it."
    return Liar("failfast", fmt, 1, f"{fmt}/law/returns", why, lie)
