"""Bulk corpora that executors write: the same messages in any number of ranges."""

import json
from itertools import islice
from typing import Any

import pyarrow.parquet as pq
import pytest

from generators.bulk import traffic as load
from generators.storage import bulk, records
from generators.storage.corpus import PARQUET
from generators.wire_format import get
from spark_checks.services import corpora

COUNT = 400
PROFILES = (("ticdc-canal-json", "v7.1.6"), ("debezium-json", "3.5.0.Final"))


@pytest.mark.parametrize(("name", "profile"), PROFILES)
def test_a_message_has_one_offset_whatever_the_ranges(name, profile):
    fmt = get(name)
    chosen = fmt.profile(profile)
    whole = list(bulk.numbered_messages(fmt, chosen, 7, 0, 300))
    assert [message for _, message in whole] == list(load.messages(fmt, chosen, 7, 0, 300))
    assert [
        pair
        for start in (0, 101, 202)
        for pair in bulk.numbered_messages(fmt, chosen, 7, start, min(101, 300 - start))
    ] == whole
    offsets = [offset for offset, _ in whole]
    width, even = bulk.shape(fmt, chosen)
    assert (width, even) == ((1, True) if name == "ticdc-canal-json" else (2, False))
    assert (offsets, offsets[-1] // width) == (sorted(set(offsets)), 299)


def test_the_content_is_that_of_the_rows_in_any_order():
    fmt = get("debezium-json")
    made = [
        records.kafka_row(message, offset)
        for offset, message in islice(bulk.numbered_messages(fmt, fmt.profiles[0], 7, 0, 9), 9)
    ]
    assert bulk.hashed_bytes(
        {**made[0], "key": None, "value": b"\x0a|", "headers": [{"key": "h", "value": None}]}
    ) == (
        b"-|0A7C|%s|%d|0|%d|0|68=-"
        % (made[0]["topic"].encode(), made[0]["partition"], made[0]["timestamp"])
    )

    def hashed(rows: list[dict[str, Any]]) -> str:
        return bulk.content(*map(sum, zip(*map(bulk.digest_words, rows), strict=True)))

    assert hashed(made) == hashed(made[::-1])
    assert hashed(made) != hashed([*made[1:], {**made[0], "value": b"x"}])
    assert len(hashed(made)) == 30


def test_any_number_of_ranges_writes_the_same_messages(spark, tmp_path):
    name, profile = PROFILES[-1]
    fmt = get(name)
    chosen, answers = fmt.profile(profile), []
    for parts in (1, 2):
        with bulk.writing(tmp_path / str(parts), fmt, chosen) as folder:
            request = {
                "format": name,
                "profile": profile,
                "seed": 7,
                "count": COUNT,
                "parts": parts,
            }
            answers.append(
                corpora.handle(
                    spark,
                    {**request, "out": str(folder / PARQUET), "near": str(folder)},
                    lambda _: None,
                )
            )
            assert bulk.number_files(folder / PARQUET) == parts
            manifest = bulk.manifest(
                fmt, chosen, 7, COUNT, answers[-1]["messages"], answers[-1]["content"]
            )
            (folder / bulk.BULK).write_bytes(manifest)
    assert answers[0] == answers[1]
    folders = bulk.find(tmp_path)
    assert (len(folders), [bulk.verify(folder) for folder in folders]) == (2, [[]] * 2)
    rows = [
        sorted(pq.read_table(folder / PARQUET).to_pylist(), key=lambda row: row["offset"])
        for folder in folders
    ]
    assert rows[0] == rows[1]
    assert [row["value"] for row in rows[0]] == [
        message.value for message in load.messages(fmt, chosen, 7, 0, COUNT)
    ]
    damaged = folders[0] / bulk.BULK
    damaged.write_text(json.dumps({**json.loads(damaged.read_text()), "seed": "8"}), "utf-8")
    assert "is not what the writer writes" in bulk.verify(folders[0])[0]
    (folders[1] / PARQUET / "00001.parquet").unlink()
    assert "messages, the manifest says" in bulk.verify(folders[1])[0]
