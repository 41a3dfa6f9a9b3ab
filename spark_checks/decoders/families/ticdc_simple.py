"""What the decoders of TiCDC Simple share, in JSON and in Avro: schemas and their cache, instants.

A row change names its table and `schemaVersion` but no types: those come from the schemas that the
BOOTSTRAP and DDL messages of the same batch carry, wherever in the batch they stand. RENAME does
not change the version, hence a key of all three names.
"""

from __future__ import annotations

from typing import Final

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from generators.model import SourceType
from spark_checks.decoders.families.framing import COORDINATES
from spark_checks.decoders.families.mysql import mysql_typed

LOCAL: Final = "Local"
"""Go's name for the zone of the machine, which the deployment gives."""


def is_schema(schema: Column, database: str) -> Column:
    """Whether a table schema has the names of its database and table, a version, and each column's
    name once, so that a map of its columns can be made. `database` is the name of the schema's
    member that has the database.
    """
    names = schema["columns"]["name"]
    unique = (F.size(F.array_distinct(names)) == F.size(names)) & ~F.exists(
        names, lambda n: n.isNull()
    )
    is_named = (
        schema[database].isNotNull() & schema["table"].isNotNull() & schema["version"].isNotNull()
    )
    return F.coalesce(is_named & unique, F.lit(False))


def types(schema: Column) -> Column:
    """The MySQL type of each column by its name, from a table schema that is one (`is_schema`)."""
    return F.map_from_arrays(schema["columns"]["name"], schema["columns"]["dataType"]["mysqlType"])


def keys(schema: Column) -> Column:
    """The names of the primary key's columns in a table schema of TiCDC Simple; NULL without a
    primary key.
    """
    return F.get(F.filter(schema["indexes"], lambda i: i["primary"]), F.lit(0))["columns"]


def unsigned(number: str) -> str:
    """SQL of the unsigned 64-bit number, decimal(20,0), that a long holds as its two's
    complement.
    """
    return (
        f"CAST(CASE WHEN {number} < 0 THEN {number} + {1 << 64}BD ELSE {number} END AS"
        " decimal(20,0))"
    )


def tso_text(tso: Column) -> Column:
    """A commit timestamp (TSO) or a schema's version in decimal digits. Both are unsigned: a long
    holds one beyond 2^63-1 as its two's complement.
    """
    unsigned_tso = (tso + F.lit(str(1 << 64)).cast("decimal(20,0)")).cast("decimal(20,0)")
    return F.when(tso >= 0, tso.cast("string")).otherwise(unsigned_tso.cast("string"))


def committed(tso: Column) -> Column:
    """The time of a commit timestamp (TSO), whose milliseconds stand above a counter of 18 bits;
    NULL for 0, which is no time.
    """
    return F.when(tso > 0, F.timestamp_millis(F.shiftright(tso.try_cast("bigint"), 18)))


def with_types(changes: DataFrame, carried: DataFrame, database: str) -> DataFrame:
    """The changes, in which a row change gets the `types` of its table's columns from the schemas
    that messages of the batch carry. `carried` has the coordinates of each message and `schemas`,
    the array of its table schemas; `database` is the name of a schema's member that has the
    database.

    A schema is found by database, table and version; of several the first in the partition counts.
    """
    s = F.col("s")
    table_schemas = carried.select(*COORDINATES, F.posexplode_outer("schemas").alias("n", "s"))
    first = F.min_by("types", F.when(F.col("types").isNotNull(), F.struct(*COORDINATES, "n")))
    types_by_version = F.broadcast(
        table_schemas.select(
            *(*COORDINATES, "n"),
            s[database].alias("of_database"),
            s["table"].alias("of_table"),
            tso_text(s["version"]).alias("of_schema_version"),
            F.when(is_schema(s, database), types(s)).alias("types"),
        )
        .groupBy("of_database", "of_table", "of_schema_version")
        .agg(first.alias("of_types"))
    )
    key = ("database", "table", "schema_version")
    same = F.struct(*key) == F.struct(*(f"of_{part}" for part in key))
    joined = changes.join(types_by_version, (F.col("kind") == "ROW") & same, "left").withColumn(
        "types", F.coalesce("types", "of_types")
    )
    return joined.select(*changes.columns)


def instant(clock: str, location: str, type: SourceType, time_zone: str) -> str:
    """SQL of a TIMESTAMP's value, from the SQL of its wall clock (`clock`) and of the name of its
    zone (`location`); `time_zone` is the zone for which `Local` stands. NULL for a clock or a zone
    that does not exist.
    """
    zone = f"CASE {location} WHEN '{LOCAL}' THEN '{time_zone}' ELSE {location} END"
    # For a zone that does not exist the cast gives NULL, where to_utc_timestamp raises. For an
    # empty one or blanks it would take the session's: `+` is the first character, in the order of
    # their codes, with which a zone begins.
    zoned = (
        f"CASE WHEN left({zone}, 1) >= '+' THEN try_cast(concat({clock}, ' ', {zone}) AS"
        " timestamp) END"
    )
    return f"CASE WHEN {mysql_typed(clock, type)} IS NOT NULL THEN {zoned} END"
