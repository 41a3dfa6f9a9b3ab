"""What several readers claim: globs of source types and of writer profiles."""

from __future__ import annotations

from typing import Final

INTEGERS: Final = ("tinyint*", "smallint*", "mediumint*", "int", "int unsigned", "integer")
REALS: Final = ("float*", "double*", "real")
TEXTS: Final = ("char", "varchar", "*text")
BINARIES: Final = ("binary", "varbinary", "*blob", "bytea")
TIMES: Final = ("date", "datetime", "timestamp*", "time")
MYSQL: Final = (*INTEGERS, "bigint*", "decimal*", *REALS, *TEXTS, "json", *BINARIES, *TIMES, "year")
LABELS: Final = ("enum", "set")
POSTGRESQL: Final = ("numeric", "boolean", "uuid", "jsonb")

UNCOMPRESSED: Final = ("*[!y4]", "*[!p]y", "*[!z]4")
"""TiCDC's profiles but those that end in snappy or lz4."""

MYSQL_TYPES: Final = (
    *("bit", *INTEGERS, "bigint*", "float*", "double*", "decimal*", "year"),
    *("date", "time", "datetime", "timestamp", "char", "varchar", "*text", "binary", "varbinary", "*blob", "json"),
)
POSTGRESQL_TYPES: Final = ("boolean", "real", "numeric", "money", "uuid", "jsonb", "bytea", "timestamptz")
STOPS: Final = ("stops-on-unreadable",)
SNAPSHOTS: Final = ("read-as-insert", *STOPS)
