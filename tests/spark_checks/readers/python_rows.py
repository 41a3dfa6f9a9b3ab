"""What a message means in plain Python, and four ways in which Spark calls such a function."""

import datetime as dt
import json
from collections.abc import Iterator, Mapping
from typing import Any

import pandas as pd
import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

CAPABILITIES = {"kinds": ["ROW"]}
PLACES = ("topic", "partition", "offset")

CHANGES = """
    topic string, partition int, offset bigint, row int, kind string, op string, database string,
    `table` string, keys array<string>, position string, commit_time timestamp,
    before map<string,string>, after map<string,string>, sql string, error string
"""


def cell_text(value: Any) -> str | None:
    if value is None or isinstance(value, str):
        return value
    return json.dumps(value)


def image(members: Mapping[str, Any] | None) -> dict[str, str | None] | None:
    return None if members is None else {name: cell_text(v) for name, v in members.items()}


def read_value(value: bytes) -> dict[str, Any]:
    """The columns that a message's value tells."""
    message = json.loads(value.decode())
    word = message["type"]
    sides = {"update": ("old", "data"), "delete": ("data", None)}.get(word, (None, "data"))
    before, after = (image(message.get(side)) if side else None for side in sides)
    return {
        "row": 0,
        "kind": "ROW",
        "op": {"bootstrap-insert": "READ"}.get(word, word.upper()),
        "database": message["database"],
        "table": message["table"],
        "keys": message.get("primary_key_columns"),
        "position": message.get("position"),
        "commit_time": dt.datetime.fromtimestamp(message["ts"], dt.UTC),
        "before": before,
        "after": after,
        "sql": None,
        "error": None,
    }


TEXT, TEXTS = pa.string(), pa.map_(pa.string(), pa.string())
SCHEMA = pa.schema(
    [
        *(("topic", TEXT), ("partition", pa.int32()), ("offset", pa.int64()), ("row", pa.int32())),
        *((name, TEXT) for name in ("kind", "op", "database", "table")),
        *(("keys", pa.list_(TEXT)), ("position", TEXT)),
        ("commit_time", pa.timestamp("us", "UTC")),
        *(("before", TEXTS), ("after", TEXTS), ("sql", TEXT), ("error", TEXT)),
    ]
)


def read_batches(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        changes = []
        for record in batch.select([*PLACES, "value"]).to_pylist():
            change = read_value(record.pop("value")) | record
            for side in ("before", "after"):
                change[side] = change[side] and list(change[side].items())
            changes.append(change)
        yield pa.RecordBatch.from_pylist(changes, SCHEMA)


def decode_in_arrow(records: DataFrame) -> DataFrame:
    """Batches of Arrow, read row by row."""
    return records.mapInArrow(read_batches, CHANGES)


def read_frames(frames: Iterator[pd.DataFrame]) -> Iterator[pd.DataFrame]:
    for frame in frames:
        places = frame[list(PLACES)].to_dict("records")
        read = [read_value(bytes(value)) for value in frame["value"]]
        changes = [place | change for place, change in zip(places, read, strict=True)]
        yield pd.DataFrame(changes, columns=SCHEMA.names)


def decode_in_pandas(records: DataFrame) -> DataFrame:
    """Frames of pandas, made of dictionaries."""
    return records.mapInPandas(read_frames, CHANGES)


def decode_by_function(records: DataFrame) -> DataFrame:
    """A Python function of the value that gives a struct, spread into columns."""
    read = F.udf(lambda value: read_value(bytes(value)), CHANGES.split("offset bigint,")[1])
    return records.withColumn("change", read("value")).select(*PLACES, "change.*")


def decode_by_rdd(records: DataFrame) -> DataFrame:
    """An RDD of dictionaries, as programs of Spark 1 have it."""

    def read(record):
        return {name: record[name] for name in PLACES} | read_value(bytes(record.value))

    return records.sparkSession.createDataFrame(records.rdd.map(read), CHANGES)
