"""What the tests of decoders have in common: the contract's columns, rows by message, a session's
settings, typed cells.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any
from zlib import crc32

from literals import literal
from pyspark.sql import DataFrame, Row, SparkSession
from pyspark.sql.types import DataType, StructType

from generators.model import Column, Deployment, SourceType, Table

RECORDS = (
    "key binary, value binary, topic string, partition int, offset bigint, timestamp timestamp, timestampType int, "
    "headers array<struct<key: string, value: binary>>"
)
CHANGES = (
    "topic string, partition int, offset bigint, row int, kind string, op string, database string, schema string, table string, "
    "keys array<string>, position string, commit_time timestamp, before map<string,string>, after map<string,string>, "
    "types map<string,string>, schema_version string, sql string, error string"
)
TYPED = ["topic", "partition", "offset", "row", "kind", "op", "before", "after", "error"]
ENVIRONMENTS = (("UTC", "true"), ("America/New_York", "false"))
"""Session time zones and ANSI modes that cells are typed in, a format's in one of them: a run's
laws hold them equal.
"""
DOCUMENT_004 = literal("huawei-cdl-2.0.json")
"""The vendor's example of CDL's envelope of Debezium, as it stands in document 004."""
MISFIT = object()
"""Stands for a cell that does not fit its type: its message is corrupt."""
Records = Callable[..., DataFrame]


def rows_by_offset(frame: DataFrame) -> dict[int, list[Row]]:
    """Output rows by offset, in the order of `row`."""
    groups: dict[int, list[Row]] = {}
    for row in sorted(frame.collect(), key=lambda r: (r.offset, r.row)):
        groups.setdefault(row.offset, []).append(row)
    return groups


def by_offset(frame: DataFrame) -> dict[int, Row]:
    """Output rows by offset, of which there is one each."""
    groups = rows_by_offset(frame)
    assert all([row.row for row in rows] == [0] for rows in groups.values())
    return {offset: rows[0] for offset, rows in groups.items()}


def by_message(frame: DataFrame) -> list[list[Row]]:
    """Output rows of each message, which has at least one."""
    groups = rows_by_offset(frame)
    assert list(groups) == list(range(len(groups)))
    return list(groups.values())


def instant(value: object) -> object:
    """Spark's local datetime as an aware one."""
    return value.astimezone(dt.UTC) if isinstance(value, dt.datetime) else value


def fields(struct: DataType) -> list[tuple[str, DataType]]:
    """Names and types of a struct's fields."""
    assert isinstance(struct, StructType)
    return [(f.name, f.dataType) for f in struct]


def assert_contract(module: Any, records: Records, table: Table) -> None:
    """A decoder's output has the columns of both levels."""
    changes, rows = (
        module.decode(records(b"{}")).schema,
        module.decode_rows(records(b"{}"), table).schema,
    )
    assert fields(changes) == fields(StructType.fromDDL(CHANGES))
    assert rows.names == TYPED
    wanted = fields(StructType.fromDDL(table.spark_ddl()))
    assert fields(rows["before"].dataType) == fields(rows["after"].dataType) == wanted


def assert_corrupt(frame: DataFrame, count: int) -> None:
    """Each of so many messages is one corrupt row that tells a reason and nothing else."""
    out = by_offset(frame)
    assert {offset: r.kind for offset, r in out.items()} == dict.fromkeys(range(count), "CORRUPT")
    assert all(
        r.error and r.op is None and r.before is None and r.after is None for r in out.values()
    )


def parses(frame: DataFrame, word: str = "from_json(") -> list[int]:
    """How often each line of the executed plan that parses messages does so."""
    plan = frame._jdf.queryExecution().executedPlan().toString()
    return [line.count(word) for line in plan.splitlines() if word in line]


@contextmanager
def settings(spark: SparkSession, wanted: Mapping[str, str]) -> Iterator[None]:
    """SQL settings for the time of a block."""
    kept = {key: spark.conf.get(key, None) for key in wanted}
    try:
        for key, value in wanted.items():
            spark.conf.set(key, value)
        yield
    finally:
        for key, old in kept.items():
            if old is None:
                spark.conf.unset(key)
            else:
                spark.conf.set(key, old)


def assert_typed(
    spark: SparkSession,
    records: Records,
    module: Any,
    cells: Iterable[tuple[SourceType, Any, object]],
    write: Callable[[str, Any], str | bytes],
    deployment: Deployment,
    schema: str | None = None,
) -> None:
    """Of each type one column; `write` puts every cell alone into a row, in DELETE, so that
    `before` is typed too.
    """
    cells = list(cells)
    kinds = list(dict.fromkeys(kind for kind, _, _ in cells))
    table = Table(
        "db", "t", tuple(Column(f"c{i}", kind) for i, kind in enumerate(kinds)), schema=schema
    )
    names = [f"c{kinds.index(kind)}" for kind, _, _ in cells]
    wire = [write(name, cell) for name, (_, cell, _) in zip(names, cells, strict=True)]
    zone, ansi = ENVIRONMENTS[crc32(f"{module.__name__} {deployment}".encode()) % 2]
    with settings(spark, {"spark.sql.session.timeZone": zone, "spark.sql.ansi.enabled": ansi}):
        out = by_offset(module.decode_rows(records(*wire), table, deployment=deployment))
    for i, (kind, cell, wanted) in enumerate(cells):
        context = (zone, kind, cell)
        if wanted is MISFIT:
            assert out[i].kind == "CORRUPT", context
            continue
        assert out[i].kind == "ROW", context
        got = out[i].before[names[i]]
        got = bytes(got) if isinstance(got, bytearray) else got
        aware = isinstance(wanted, dt.datetime) and wanted.tzinfo
        got = instant(got) if aware else got
        assert (repr(got) if got != got else got) == (
            repr(wanted) if wanted != wanted else wanted
        ), context
        assert type(got) is type(wanted), context
