"""The traps that cells set in both encodings of TiCDC's Simple protocol."""

from __future__ import annotations

from collections.abc import Iterator

from pyspark.sql import DataFrame

from generators.model import Deployment, Logical, SourceType, Table
from spark_checks.liars.base import IMAGES, Decode, Liar, on_cells, on_columns


def on_texts(decode: Decode, sql: str, *, of: tuple[str, ...] = ()) -> Decode:
    """Level one with the texts `v` of cells replaced; `of` are the mysqlTypes concerned, of the columns whose schema is known."""
    which = f"try_element_at(types, k) IN ({', '.join(map(repr, of))})" if of else "true"
    one = f"(k, v) -> CASE WHEN {which} THEN {sql} ELSE v END"
    return on_columns(decode, **{side: f"transform_values({side}, {one})" for side in IMAGES})


def of_64_bits(rows: Decode, *logicals: Logical) -> Decode:
    """Level two with numbers of 64 bits read as signed ones."""

    def which(kind: SourceType) -> bool:
        return kind.logical in logicals and kind.high == (1 << 64) - 1

    signed = "CAST(CASE WHEN {x} > 9223372036854775807 THEN {x} - 18446744073709551616 ELSE {x} END AS decimal(20,0))"
    return on_cells(rows, which, lambda x, _: signed.format(x=x))


def binary(kind: SourceType) -> bool:
    """Whether the type's values are bytes."""
    return kind.logical is Logical.BINARY


def _strict(rows: Decode) -> Decode:
    """Level two without the instants whose wall clock the deployment's zone has twice."""

    def lie(records: DataFrame, table: Table, *, deployment: Deployment | None = None) -> DataFrame:
        zone = (deployment or Deployment()).time_zone

        def clock(x: str) -> str:
            return f"from_utc_timestamp({x}, '{zone}')"

        def once(x: str, _: SourceType) -> str:
            near = ", ".join(clock(f"{x} {sign} INTERVAL '1' HOUR") for sign in "+-")
            return f"CASE WHEN {clock(x)} NOT IN ({near}) THEN {x} END"

        return on_cells(rows, lambda kind: kind.logical is Logical.TIMESTAMP, once)(records, table, deployment=deployment)

    return lie


def values(fmt: str, decode: Decode, rows: Decode) -> Iterator[Liar]:
    """The liars of both encodings."""

    def of(logical: Logical, sql: str, *, wide: bool | None = None) -> Decode:
        """Level two with the cells `{x}` of a type replaced; `wide`: only those that Spark has as text, or only the others."""

        def which(kind: SourceType) -> bool:
            return kind.logical is logical and (wide is None or wide is (kind.spark == "string"))

        return on_cells(rows, which, lambda x, kind: f"CAST({sql.replace('{x}', x)} AS {kind.spark})")

    def typed(name: str, rule: str, why: str, lie: Decode, scenario: str = "") -> Liar:
        return Liar(name, fmt, 2, f"{fmt}/value/{rule}", why, lie, scenario)

    def text(name: str, rule: str, why: str, sql: str, scenario: str = "", *, types: tuple[str, ...] = ()) -> Liar:
        return Liar(name, fmt, 1, f"{fmt}/value/{rule}", why, on_texts(decode, sql, of=types), scenario)

    def is_bits(kind: SourceType) -> bool:
        return kind.logical is Logical.BIT and kind.spark != "boolean"

    def as_boolean(x: str, kind: SourceType) -> str:
        return f"CAST(least({x}, 1) AS {kind.spark})"

    yield text("null-as-empty", "null", "NULL is read into a string, and is empty.", "coalesce(v, '')", "shape/all-null")
    yield text("empty-as-null", "empty", "An empty text is NULL, as it is to Oracle.", "nullif(v, '')")
    yield text(
        "text-as-latin-1",
        "unicode",
        "The bytes of a text are read in Latin-1, the column's character set.",
        "decode(encode(v, 'UTF-8'), 'ISO-8859-1')",
    )
    yield text(
        "float-widened",
        "float",
        "A float is printed by a library that has only doubles: 0.1 becomes 0.10000000149011612.",
        "CAST(CAST(CAST(v AS float) AS double) AS string)",
        types=("float",),
    )
    yield typed(
        "document-null-as-null",
        "json-null-literal",
        "A parser of JSON gives null for the document null, and that is taken for SQL NULL.",
        of(Logical.JSON, "nullif({x}, 'null')"),
    )
    yield typed(
        "document-of-doubles",
        "json-number",
        "A document is parsed and printed again by a library whose numbers are doubles: digits behind the sixteenth are lost.",
        of(Logical.JSON, r"regexp_replace({x}, r'(\d{16})\d+', '$1')"),
    )
    yield typed(
        "document-as-text",
        "json",
        "A document is encoded once more: it becomes a text of JSON.",
        of(Logical.JSON, r"""concat('"', replace(replace({x}, '\\', '\\\\'), '"', '\\"'), '"')"""),
    )
    yield typed(
        "wide-decimal-as-spark-has-it",
        "decimal-wide",
        "A DECIMAL of 65 digits is squeezed into the 38 that Spark's has.",
        of(Logical.DECIMAL, "try_cast({x} AS decimal(38,18))", wide=True),
    )
    yield typed("bits-as-boolean", "bit", "A BIT is true or false: what is not 0 becomes 1.", on_cells(rows, is_bits, as_boolean))
    yield typed(
        "members-counted",
        "set-mask",
        "The number of a SET is that of its members.",
        of(Logical.SET, "bit_count(try_cast({x} AS bigint))"),
    )
    yield typed(
        "twice-as-never",
        "ambiguous-hour",
        "A strict resolver of wall clocks has no answer for an hour that occurs twice, and NULL stands in.",
        _strict(rows),
    )
    yield typed(
        "timestamp-to-the-second",
        "timestamp",
        "A TIMESTAMP becomes seconds since 1970, and its fraction is lost.",
        of(Logical.TIMESTAMP, "date_trunc('SECOND', {x})"),
    )
    yield typed(
        "datetime-as-instant",
        "datetime-no-zone",
        "A DATETIME is taken for wall clock of the server's zone, and shown in UTC.",
        of(Logical.DATETIME, "{x} - INTERVAL '8' HOUR"),
    )
    yield typed(
        "time-without-its-sign",
        "time-range",
        "A TIME is read as a time of day, which has no sign.",
        of(Logical.TIME, "ltrim('-', {x})"),
    )
