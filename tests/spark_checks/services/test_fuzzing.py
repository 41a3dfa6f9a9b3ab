"""What Spark does with garbage, and how it is tallied."""

import pytest
from pyspark.errors import PySparkException
from pyspark.sql import functions as F

from generators.model import Deployment, Message
from generators.storage import codec
from spark_checks.decoders import ticdc_canal_json as reference
from spark_checks.services import fuzzing
from spark_checks.services.engine import Decoder, DecoderError

EXPECTED = (
    "topic string, partition int, offset long, way string, state string, reason string, size long"
)
CHANGES = "topic string, partition int, offset long, row int, kind string"


def tallied(spark, state, *changes):
    """The outcomes of one message of that state, at offset 5, and of the rows given as (offset,
    row, kind).
    """
    expected = spark.createDataFrame([("t", 0, 5, "flip", state, "why", 9)], EXPECTED)
    rows = spark.createDataFrame([("t", 0, *change) for change in changes], CHANGES)
    return {(tally["outcome"], tally["kinds"]): tally for tally in fuzzing.tally(expected, rows)}


OUTCOMES = (
    *(
        ("unreadable", [(0, "CORRUPT")], "rejected", "CORRUPT"),
        ("unreadable", [(0, "ROW")], "accepted", "ROW"),
    ),
    ("unreadable", [(0, "CORRUPT"), (1, "CORRUPT")], "accepted", "CORRUPT"),
    *(
        ("unreadable", [(0, "CORRUPT"), (1, "ROW")], "accepted", "CORRUPT+ROW"),
        ("unreadable", [], "lost", ""),
    ),
    *(
        ("readable", [(0, "CORRUPT")], "corrupt", "CORRUPT"),
        ("readable", [(0, "ROW"), (1, "ROW")], "rows", "ROW"),
    ),
    *(("readable", [], "lost", ""), ("readable", [(0, "ROW"), (0, "ROW")], "misnumbered", "ROW")),
    *(
        ("readable", [(1, "ROW")], "misnumbered", "ROW"),
        ("readable", [(0, "ROW"), (2, "ROW")], "misnumbered", "ROW"),
    ),
    *(
        ("unreadable", [(None, "CORRUPT")], "misnumbered", "CORRUPT"),
        ("doubtful", [(0, "CORRUPT")], "corrupt", "CORRUPT"),
    ),
    *(("doubtful", [(0, "TOMBSTONE")], "rows", "TOMBSTONE"), ("doubtful", [], "lost", "")),
    ("readable", [(0, "row")], "rows", "?"),
)
"""The state of a message, its rows as (row, kind), what comes of it, and the kinds that are told.
"""


def test_the_outcome_of_a_message(spark):
    """Each message has a way of its own, so that it is tallied alone."""
    messages = [
        ("t", 0, n, f"flip {n}", state, "why", 9) for n, (state, _, _, _) in enumerate(OUTCOMES)
    ]
    rows = [("t", 0, n, *row) for n, (_, changes, _, _) in enumerate(OUTCOMES) for row in changes]
    tallies = fuzzing.tally(
        spark.createDataFrame(messages, EXPECTED), spark.createDataFrame(rows, CHANGES)
    )
    outcomes = {
        tally["offset"]: (tally["state"], tally["outcome"], tally["kinds"]) for tally in tallies
    }
    assert outcomes == {
        n: (state, outcome, kinds) for n, (state, _, outcome, kinds) in enumerate(OUTCOMES)
    }
    assert len(tallies) == len(OUTCOMES)
    for tally in tallies:
        assert (tally["way"], tally["reason"], tally["count"], tally["size"]) == (
            f"flip {tally['offset']}",
            "why",
            1,
            9,
        )


def test_rows_at_a_place_that_no_message_has_are_foreign(spark):
    tallies = tallied(spark, "readable", (5, 0, "ROW"), (6, 0, "ROW"), (None, 0, "ROW"))
    assert {(outcome, tally["count"]) for (outcome, _), tally in tallies.items()} == {
        ("rows", 1),
        ("foreign", 2),
    }


def test_a_tally_names_its_smallest_message(spark):
    expected = spark.createDataFrame(
        [("t", n % 2, n, "flip", "readable", "", 100 - n) for n in range(10)], EXPECTED
    )
    rows = spark.createDataFrame([("t", n % 2, n, 0, "ROW") for n in range(10)], CHANGES)
    (tally,) = fuzzing.tally(expected, rows)
    assert (tally["count"], tally["size"], tally["offset"]) == (10, 91, 9)


def written(directory, values):
    """A request for these values, each at the offset of its number."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    from conformance.engines.engine import write_records

    numbers = list(range(len(values)))
    write_records(
        directory / "records.parquet", [Message("t", 0, None, v) for v in values], numbers
    )
    count, types = len(values), {"partition": pa.int32(), "offset": pa.int64(), "size": pa.int64()}
    columns = {
        "topic": ["t"] * count,
        "partition": [0] * count,
        "offset": numbers,
        "way": list(map(str, numbers)),
    }
    columns |= {
        "state": ["readable"] * count,
        "reason": [""] * count,
        "size": [len(v or b"") for v in values],
    }
    table = pa.table({name: pa.array(column, types.get(name)) for name, column in columns.items()})
    pq.write_table(table, directory / "expected.parquet")
    paths = {name: [str(directory / f"{name}.parquet")] for name in ("records", "expected")}
    return {
        **paths,
        "low": 0,
        "high": count,
        "decoder": "mine",
        "deployment": codec.dump_deployment(Deployment()),
    }


def loader(decode, level=1):
    return lambda _spec: Decoder("mine", {level: decode}, {})


def test_every_column_is_computed_not_only_those_that_are_checked(spark, tmp_path):
    def decode(records):
        fails = F.when(F.col("offset") == 1, F.raise_error(F.lit("only here")))
        return reference.decode(records).withColumn("sql", fails.cast("string"))

    request = written(tmp_path, [b"{}", b"{}"])
    assert fuzzing.handle(spark, {**request, "high": 0}, loader(decode))["tallies"][0]["count"] == 1
    with pytest.raises(PySparkException, match="only here"):
        fuzzing.handle(spark, request, loader(decode))


def test_nothing_stays_behind(spark, tmp_path):
    request, before = written(tmp_path, [b"{}"]), set(spark.sparkContext._jsc.getPersistentRDDs())
    fuzzing.handle(spark, request, loader(reference.decode))
    assert set(spark.sparkContext._jsc.getPersistentRDDs()) == before


def test_a_decoder_without_level_one_or_its_columns_is_refused(spark, tmp_path):
    request = written(tmp_path, [b"{}"])
    with pytest.raises(DecoderError, match="no level-one function"):
        fuzzing.handle(spark, request, loader(reference.decode, level=2))
    with pytest.raises(DecoderError, match="does not return row, kind"):
        fuzzing.handle(spark, request, loader(lambda records: records))


def canal(text):
    return (
        b'{"id":0,"database":"d","table":"t","isDdl":false,"type":"INSERT","data":[{"a":"1"}],"old":null%b}'
        % text
    )


EXTREMES = (
    *((canal(b""), "ROW"), (canal(b',"x":' + b"[" * 900 + b"]" * 900), "ROW")),
    # Jackson reads no more than 1,000 levels (StreamReadConstraints); Spark makes a corrupt record
    # of its exception.
    *(
        (canal(b',"x":' + b"[" * 1000 + b"]" * 1000), "CORRUPT"),
        (canal(b',"x":' + b"[" * 100_000 + b"]" * 100_000), "CORRUPT"),
    ),
    (canal(b',"x":' + b'{"a":' * 100_000 + b"1" + b"}" * 100_000), "CORRUPT"),
    # The limit of 20,000,000 characters in a string is raised by the option maxStringLen.
    *(
        (canal(b',"x":"' + b"x" * 25_000_000 + b'"'), "ROW"),
        (canal(b',"sql":"' + b"x" * 25_000_000 + b'"'), "ROW"),
    ),
    (canal(b',"x":"' + b"x" * 25_000_000), "CORRUPT"),
    # Names may have 50,000 characters, numbers 1,000.
    *((canal(b',"' + b"x" * 60_000 + b'":1'), "CORRUPT"), (canal(b',"x":1e400'), "ROW")),
    # What closes the decoder's wrapping itself.
    *((canal(b"") + b",{}]}", "CORRUPT"), (canal(b"") + b'],"m":[' + canal(b""), "CORRUPT")),
    *((canal(b"") + b',{"m":1}],"x":[' + canal(b""), "CORRUPT"), (canal(b"") + b",{}", "CORRUPT")),
)
"""Messages, and the kind of their rows."""


def test_no_depth_and_no_length_raises(spark, tmp_path):
    request = written(tmp_path, [value for value, _ in EXTREMES])
    tallies = fuzzing.handle(spark, request, loader(reference.decode))["tallies"]
    kinds = {int(tally["way"]): (tally["kinds"], tally["count"]) for tally in tallies}
    assert (kinds, len(tallies)) == (
        {number: (kind, 1) for number, (_, kind) in enumerate(EXTREMES)},
        len(EXTREMES),
    )
