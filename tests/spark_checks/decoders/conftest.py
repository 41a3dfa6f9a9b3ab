"""What the tests of decoders share: one frame of records, and plans that are made once.

Making a decoder's plan costs several times as much as executing it for some messages. So there is
one frame, which reads whatever a test has laid out last, and the plan of each decoder, table,
deployment and setting is kept.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pyarrow as pa
import pytest
from decoded import RECORDS, Records
from pyspark.sql import DataFrame, SparkSession

from generators.wire_format import FORMATS
from spark_checks import reference

HEADERS = pa.list_(pa.struct([("key", pa.string()), ("value", pa.binary())]))
JOINS = ("ticdc-simple-json", "ticdc-simple-avro")
"""Formats whose decoders join: the broadcast side is kept with an executed plan, so that each
execution needs its own.
"""
SETTINGS = ("spark.sql.session.timeZone", "spark.sql.ansi.enabled")


def bytes_of(value: str | bytes | None) -> bytes | None:
    return value.encode("utf-8", "surrogatepass") if isinstance(value, str) else value


@pytest.fixture(scope="session")
def laid_out(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Records:
    """A function that lays out records and gives the frame that reads them whenever it is
    executed.
    """
    path = str(tmp_path_factory.mktemp("records") / "records.arrow")

    def read(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for _ in batches:
            with pa.OSFile(path) as file:
                yield from pa.ipc.open_file(file).read_all().to_batches()

    frame = spark.range(1, numPartitions=1).mapInArrow(read, RECORDS)

    def make(*values: str | bytes | tuple[Any, Any] | None) -> DataFrame:
        pairs = [value if isinstance(value, tuple) else (None, value) for value in values]
        count = len(pairs)
        table = pa.table(
            {
                "key": pa.array([bytes_of(key) for key, _ in pairs], pa.binary()),
                "value": pa.array([bytes_of(value) for _, value in pairs], pa.binary()),
                "topic": pa.array(["cdc"] * count, pa.string()),
                "partition": pa.array([1] * count, pa.int32()),
                "offset": pa.array(range(count), pa.int64()),
                "timestamp": pa.nulls(count, pa.timestamp("us", "UTC")),
                "timestampType": pa.array([0] * count, pa.int32()),
                "headers": pa.nulls(count, HEADERS),
            }
        )
        with pa.OSFile(path, "wb") as file, pa.ipc.new_file(file, table.schema) as writer:
            writer.write_table(table)
        return frame

    return make


@pytest.fixture(scope="session")
def plans() -> dict[Any, DataFrame]:
    """The plans over the frame of `laid_out`."""
    return {}


@pytest.fixture(scope="module")
def records(
    spark: SparkSession, laid_out: Records, plans: dict[Any, DataFrame]
) -> Iterator[Records]:
    """A function that makes Kafka records of values, or of (key, value) pairs, offsets counting
    from 0.

    Only the records that were made last can be read.
    """
    ours = laid_out()

    def keeping(name: str, decode: Callable[..., DataFrame]) -> Callable[..., DataFrame]:
        def kept(records: DataFrame, *more: Any, **options: Any) -> DataFrame:
            if records is not ours:
                return decode(records, *more, **options)
            key = (name, decode.__name__, repr(more), repr(options), *map(spark.conf.get, SETTINGS))
            if key not in plans:
                plans[key] = decode(records, *more, **options)
            return plans[key].select("*") if name in JOINS else plans[key]

        return kept

    with pytest.MonkeyPatch.context() as patch:
        for name in FORMATS:
            for level in ("decode", "decode_rows"):
                patch.setattr(
                    reference(name), level, keeping(name, getattr(reference(name), level))
                )
        yield laid_out
