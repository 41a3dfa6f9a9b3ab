"""What a decoder in Python costs before it decodes anything: records to Python, and rows back, against the baseline.

The ratio is the ceiling of every decoder that reads Arrow batches, however fast it decodes.
"""

import pyarrow as pa
import pytest

from conformance.engines.specs import decoder_of
from conformance.load.bench import baseline
from generators.bulk import expander as bulk

BATCH = 10_000
"""Messages of the canned answer: as many as Spark's own setting has records in a batch."""


def counted(batches):
    """A count of each batch."""
    for batch in batches:
        yield pa.RecordBatch.from_pydict({"count": pa.array([len(batch)], pa.int32())})


def canned(rows):
    """A function of batches that answers each with as many of these rows."""

    def answered(batches):
        for batch in batches:
            yield rows.slice(0, len(batch))

    return answered


@pytest.mark.parametrize("way", ["there", "there-and-back"])
@pytest.mark.parametrize("name", ["ticdc-canal-json", "alibaba-canal-json", "debezium-json"])
def test_hop(name, way, loaded, count, against, benchmark):
    from spark_checks.services.engine import load
    from spark_checks.services.throughput import WARM_UP, Contestant, execute

    profile, messages, frame = loaded(name)
    own, yardstick = (
        Contestant(spec, load(spec), 2, bulk.load_table(), profile.deployment)
        for spec in (decoder_of(name, None), baseline(name, messages[0]))
    )
    decoded = own.frame(frame.limit(BATCH))
    (rows,) = decoded.toArrow().combine_chunks().to_batches()
    answer, schema = (counted, "count int") if way == "there" else (canned(rows), decoded.schema)

    def hop():
        built = frame.select("topic", "partition", "offset", "value").mapInArrow(answer, schema)
        return lambda: execute(built)

    def decode():
        built = yardstick.frame(frame)
        return lambda: execute(built)

    benchmark.group = f"hop {name}"
    ratios = against(hop, decode, count, WARM_UP)
    assert len(ratios) == len(benchmark.stats.stats.data)
