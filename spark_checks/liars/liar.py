"""Liars in Spark: the table of each format, and the few ways to make one of a correct decoder.

A format's file NAME.toml has a table `[[liars]]` for each: the fields of `Liar` (`level` is 1 without a line) and one of `WAYS`,
which says how the reference decoder is spoilt; with `decoder` it is another format's. `shared` names liars of shared.toml.
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any, Final

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from generators.errors import UnknownName
from generators.model import Column, Deployment, SourceType, Table
from generators.wire_format import module_name

Decode = Callable[..., DataFrame]

IMAGES: Final = ("before", "after")


@dataclass(frozen=True, slots=True)
class Liar:
    """A decoder that is wrong on purpose in one way.

    `level` is 1 or 2, and `decode` has the signature of that level's decoder; `convicts` is the rule of its format
    that must catch it, `why` the decoder or the mistake of the real world that it stands for. The self test tries it on cases in
    which that rule owns something, or on those of `scenario`, a glob.
    """

    name: str
    level: int
    convicts: str
    why: str
    decode: Decode
    scenario: str = ""


def quoted(name: str) -> str:
    """A column name in SQL."""
    return "`" + name.replace("`", "``") + "`"


def on_bytes(decode: Decode, sql: str) -> Decode:
    """The decoder on other bytes: `sql` gives the value from `value`; other columns stay."""

    def lie(records: DataFrame, *args: Table, deployment: Deployment | None = None) -> DataFrame:
        return decode(records.withColumn("value", F.expr(sql)), *args, deployment=deployment)

    return lie


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


def on_cells(decode_rows: Decode, which: Callable[[SourceType], bool], sql: Callable[[str, SourceType], str]) -> Decode:
    """The level-two decoder with the cells of some types replaced: `sql` is given the cell and its type."""

    def lie(records: DataFrame, table: Table, *, deployment: Deployment | None = None) -> DataFrame:
        def cell(side: str, c: Column) -> str:
            text = f"{side}.{quoted(c.name)}"
            return f"{sql(text, c.type) if which(c.type) else text} AS {quoted(c.name)}"

        def image(side: str) -> str:
            return f"CASE WHEN {side} IS NOT NULL THEN struct({', '.join(cell(side, c) for c in table.columns)}) END"

        decoded = decode_rows(records, table, deployment=deployment)
        return decoded.withColumns({side: F.expr(image(side)) for side in IMAGES})

    return lie


def deployed(decode: Decode, **options: str) -> Decode:
    """The decoder that takes the deployment for another one."""

    def lie(records: DataFrame, *args: Table, deployment: Deployment | None = None) -> DataFrame:
        other = replace(deployment or Deployment(), **options)
        return decode(records, *args, deployment=other)

    return lie


def on_rows(decode: Decode, change: Callable[[DataFrame], DataFrame]) -> Decode:
    """The decoder with other rows in its output."""

    def lie(records: DataFrame, *args: Table, deployment: Deployment | None = None) -> DataFrame:
        return change(decode(records, *args, deployment=deployment))

    return lie


def _cells(decode: Decode, told: Mapping[str, str]) -> Decode:
    def which(type: SourceType) -> bool:
        return type.name in told.get("types", type.name).split() and type.logical in told.get("logicals", type.logical).split()

    def sql(cell: str, type: SourceType) -> str:
        return told["sql"].format(cell=cell, column=cell.partition(".")[2], spark=type.spark)

    return on_cells(decode, which, sql)


def _needed(rows: DataFrame) -> DataFrame:
    assert rows.head(1), "no record to tell the schema of"
    return rows


_ROWS: Final[Mapping[str, Callable[[DataFrame], DataFrame]]] = {
    "elsewhere": lambda rows: rows.unionByName(rows.withColumn("offset", F.col("offset") + 1_000_000)),
    "one-of-an-offset": lambda rows: rows.dropDuplicates(["offset", "row"]),
    "needed": _needed,
}
WAYS: Final[Mapping[str, Callable[[Decode, Any], Decode]]] = {
    "text": on_input,
    "bytes": on_bytes,
    "columns": lambda decode, sql: on_columns(decode, **sql),
    "cells": _cells,
    "deployment": lambda decode, options: deployed(decode, **options),
    "where": lambda decode, sql: on_rows(decode, lambda rows: rows.where(sql)),
    "rows": lambda decode, name: on_rows(decode, _ROWS[name]),
}
"""How a decoder is spoilt: other text (SQL over `t`) or bytes (over `value`) in, another deployment, other columns out (SQL by
name), other cells at level two (`sql` over {cell}, {column} and {spark} of columns of these `types` or `logicals`) or rows."""


@cache
def _lines(name: str) -> Mapping[str, Any]:
    return tomllib.loads(Path(__file__).with_name(f"{name}.toml").read_text("utf-8"))


def liars(fmt: str) -> tuple[Liar, ...]:
    """A format's liars, with the ids of the rules that must catch them. Raises UnknownName for a shared liar or a way"""
    shared, own = {line["name"]: line for line in _lines("shared")["liars"]}, _lines(fmt)
    lines = (*own.get("liars", ()), *(_known("shared liar", shared, name, fmt) for name in own.get("shared", "").split()))
    return tuple(_liar(fmt, **{"level": 1, **line}) for line in lines)


def _known(what: str, table: Mapping[str, Any], name: str, of: str) -> Any:
    if name not in table:
        raise UnknownName(what, name, table, of)
    return table[name]


def _liar(fmt: str, name: str, level: int, convicts: str, why: str, scenario: str = "", decoder: str = "", **way: Any) -> Liar:
    of = import_module(f"spark_checks.decoders.{module_name(decoder or fmt)}")
    decode = of.decode if level == 1 else of.decode_rows
    for how, told in way.items():
        decode = _known("way", WAYS, how, f"the liar {name} of {fmt}")(decode, told)
    return Liar(name, level, f"{fmt}/{convicts}", why, decode, scenario)
