"""Liars in Spark: the table of each format, and the few ways to make one of a correct decoder.

A format's file NAME.toml has a table `[[liars]]` for each: the fields of `Liar` (`level` is 1
without a line) and one of `WAYS`, which says how the reference decoder is spoilt; or `decoder`,
another format's, as it is. `shared` names liars of shared.toml.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, replace
from functools import cache
from importlib import import_module
from typing import Any, Final

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from conformance.judging.output import ENVELOPE, REQUIRED
from conformance.rules.rules import rules
from conformance.rules.tables import (
    Legal,
    TableFile,
    check_fields,
    check_name,
    naming_place,
    read_package_toml,
)
from generators.errors import UsageError
from generators.model import Column, Deployment, SourceType, Table
from generators.wire_format import FORMATS, module_name

Decode = Callable[..., DataFrame]
"""A decoder's function of level one (rows as maps of texts) or two (typed rows)."""
Change = Callable[[DataFrame], DataFrame]
"""A function that changes records, or rows."""

IMAGES: Final = ("before", "after")


@dataclass(frozen=True, slots=True)
class Liar:
    """A decoder that is wrong on purpose in one way, so that the self test can show that the wrong
    way is caught.

    `level` is 1 or 2, and `decode` has the signature of that level's decoder. `convicts` is the
    rule of the format that must catch it, `why` the decoder or the mistake of the real world that
    it stands for. `scenario` is a glob for the cases on which the self test tries it; "" for all
    cases in which that rule demands something.
    """

    name: str
    level: int
    convicts: str
    why: str
    decode: Decode
    scenario: str = ""


def _same(frame: DataFrame) -> DataFrame:
    """The records, or rows, unchanged."""
    return frame


def quoted(name: str) -> str:
    """A column's name, quoted for SQL."""
    return "`" + name.replace("`", "``") + "`"


def _spoil(
    decode: Decode, change_records: Change = _same, change_rows: Change = _same, **options: str
) -> Decode:
    """A decoder made wrong: `change_records` changes the records before `decode` gets them,
    `change_rows` the rows that it returns; `options` replace options of the deployment that it is
    told.
    """

    def lie(
        true_records: DataFrame, *args: Table, deployment: Deployment | None = None
    ) -> DataFrame:
        """The spoilt decoder, of level one or, if `args` has a table, of level two."""
        false_deployment = replace(deployment or Deployment(), **options) if options else deployment
        return change_rows(decode(change_records(true_records), *args, deployment=false_deployment))

    return lie


def _on_message_text(decode: Decode, sql: str) -> Decode:
    """A decoder made wrong by other messages: the value of each record is replaced by the result of
    `sql` over the value's text, which the SQL calls `t`.
    """

    def read_altered_text(records: DataFrame) -> DataFrame:
        """The records, each value replaced by the result of `sql` over the value's text, which the
        SQL calls `t`.
        """
        with_text = records.withColumn("t", F.col("value").cast("string"))
        return with_text.withColumn("value", F.expr(sql).cast("binary")).drop("t")

    return _spoil(decode, read_altered_text)


def on_columns(decode: Decode, **sql: str) -> Decode:
    """A decoder made wrong by its output: `sql` has, for some columns by name, the SQL over that
    output which replaces them.
    """
    return _spoil(
        decode,
        change_rows=lambda output: output.withColumns(
            {name: F.expr(expression) for name, expression in sql.items()}
        ),
    )


def on_cells(
    decode_rows: Decode, which: Callable[[SourceType], bool], sql: Callable[[str, SourceType], str]
) -> Decode:
    """A decoder of level two made wrong by replacing cells: for a column whose type `which`
    accepts, the cell becomes the SQL that `sql` gives for the cell's SQL and the type.
    """

    def lie(records: DataFrame, table: Table, *, deployment: Deployment | None = None) -> DataFrame:
        """The spoilt decoder: it calls the right one, then replaces cells in both images."""

        def cell(side: str, c: Column) -> str:
            """SQL of a column of an image (`side` is before or after): the replaced cell if `which`
            accepts the column's type, else the cell as it is.
            """
            cell_sql = f"{side}.{quoted(c.name)}"
            return f"{sql(cell_sql, c.type) if which(c.type) else cell_sql} AS {quoted(c.name)}"

        def image(side: str) -> str:
            """SQL of an image with replaced cells; NULL where the right decoder gives NULL."""
            return (
                f"CASE WHEN {side} IS NOT NULL THEN"
                f" struct({', '.join(cell(side, c) for c in table.columns)}) END"
            )

        decoded = decode_rows(records, table, deployment=deployment)
        return decoded.withColumns({side: F.expr(image(side)) for side in IMAGES})

    return lie


def _cells(decode: Decode, lie: Mapping[str, str]) -> Decode:
    """A decoder of level two made wrong by replacing cells, as the entry `lie` of a table says:
    `sql` over {cell}, {column} and {spark}, for columns of its `types` or `logicals`,
    blank-separated names.
    """

    def is_about(type: SourceType) -> bool:
        """Whether cells of this type are replaced; of every type if the entry names none."""
        return (
            type.name in lie.get("types", type.name).split()
            and type.logical in lie.get("logicals", type.logical).split()
        )

    def sql(cell: str, type: SourceType) -> str:
        """The SQL that replaces a cell, from the entry's."""
        return lie["sql"].format(cell=cell, column=cell.partition(".")[2], spark=type.spark)

    return on_cells(decode, is_about, sql)


def _need_a_record(records: DataFrame) -> DataFrame:
    """Returns the records unchanged, but fails if there are none, as a decoder does that takes the
    schema from the first record.
    """
    assert records.head(1), "no record to tell the schema of"
    return records


_ROWS: Final[Mapping[str, Callable[[DataFrame], DataFrame]]] = {
    "elsewhere": lambda rows: rows.unionByName(
        rows.withColumn("offset", F.col("offset") + 1_000_000)
    ),
    "one-of-an-offset": lambda rows: rows.dropDuplicates(["offset", "row"]),
    "needed": _need_a_record,
}
"""Ways to change a decoder's rows, or to fail, by the names that tables have for them."""
WAYS: Final[Mapping[str, Callable[[Decode, Any], Decode]]] = {
    "text": _on_message_text,
    "bytes": lambda decode, sql: _spoil(
        decode, lambda records: records.withColumn("value", F.expr(sql))
    ),
    "columns": lambda decode, sql: on_columns(decode, **sql),
    "cells": _cells,
    "deployment": lambda decode, options: _spoil(decode, **options),
    "where": lambda decode, sql: _spoil(decode, change_rows=lambda rows: rows.where(sql)),
    "rows": lambda decode, name: _spoil(decode, change_rows=_ROWS[name]),
}
"""How a decoder is spoilt: other text (SQL over `t`) or bytes (over `value`) in, another
deployment, other columns out (SQL by name), other cells at level two (`sql` over {cell}, {column}
and {spark} of columns of these `types` or `logicals`) or rows.
"""
PARTS: Final = {"shared": str, "liars": list}
"""The members of a file, with their types."""
FIELDS: Final[Mapping[str, Legal]] = {
    **dict.fromkeys(("name", "convicts", "why", "scenario"), str),
    "level": (1, 2),
    "decoder": FORMATS,
    **dict.fromkeys(("text", "bytes", "where"), str),
    "rows": tuple(_ROWS),
    **dict.fromkeys(("columns", "cells", "deployment"), dict),
}
"""The fields of an entry `[[liars]]`, with what each may be."""
TABLES: Final[Mapping[str, Mapping[str, Legal]]] = {
    "columns": dict.fromkeys((*REQUIRED[1], *ENVELOPE), str),
    "cells": dict.fromkeys(("types", "logicals", "sql"), str),
    "deployment": dict.fromkeys((fact.name for fact in fields(Deployment)), str),
}
"""The fields of the tables within an entry, with what each may be."""


@cache
def _file(name: str) -> TableFile:
    """The file NAME.toml of this package, parsed and checked."""
    return TableFile(*read_package_toml(__package__, name), PARTS)


def liars(fmt: str) -> tuple[Liar, ...]:
    """The liars (decoders that are wrong on purpose) of a format: those of its own table, then
    those of shared.toml that the table names. Raises UsageError, with file and line, for an error
    in the tables.
    """
    file = _file(fmt)
    own_liars = [_make_liar(fmt, place, line) for place, _, line in file.entries("liars")]
    shared = {name: (place, line) for place, name, line in _file("shared").entries("liars")}
    with naming_place(file.place("shared")):
        shared_entries = [
            shared[check_name(name, "shared liar", shared)]
            for name in file.data.get("shared", "").split()
        ]
    return (*own_liars, *(_make_liar(fmt, place, line) for place, line in shared_entries))


def _make_liar(fmt: str, place: str, line: Mapping[str, Any]) -> Liar:
    """Makes the wrong decoder that an entry of a format's table describes: the reference decoder,
    spoilt in the one way of WAYS that the entry has, or, if it has `decoder` instead, another
    format's decoder as it is. `line` has the entry's fields, `place` is its file and line for
    errors. Raises UsageError.
    """
    with naming_place(f"{place}: {line.get('name', 'a liar')}"):
        check_fields(line, FIELDS, ("name", "convicts", "why"))
        for name, table in TABLES.items():
            with naming_place(name):
                check_fields(
                    line.get(name, {}), table, ("sql",) if name == "cells" and name in line else ()
                )
        ways = [way for way in (*WAYS, "decoder") if way in line]
        if len(ways) != 1:
            raise UsageError(
                f"a liar says one of {', '.join(WAYS)}, decoder, not"
                f" {' and '.join(ways) or 'none'}."
            )
        rule_id = check_name(f"{fmt}/{line['convicts']}", "rule", (rule.id for rule in rules(fmt)))
    module = import_module(f"spark_checks.decoders.{module_name(line.get('decoder', fmt))}")
    level = line.get("level", 1)
    decode = module.decode if level == 1 else module.decode_rows
    (way,) = ways
    if way in WAYS:
        decode = WAYS[way](decode, line[way])
    return Liar(line["name"], level, rule_id, line["why"], decode, line.get("scenario", ""))
