"""Ten times the messages take ten times the time; rows of Avro against fastavro, which reads the
same values in one process.
"""

import io
import time
from collections import deque

import fastavro
import pytest

from conformance.engines.engine import write_records
from conformance.engines.specs import decoder_spec
from conformance.load.bench import generate, plain_profile
from generators.bulk import expander as bulk
from generators.formats.aliyun_dts_avro.schema import record_schema
from generators.formats.ticdc_simple_avro.schema import schema
from generators.wire_format import get

TIMES = 10
NAMES = ("ticdc-canal-json", "debezium-json")


def compared(benchmark, small, large, rounds):
    """Times `large` against `small`, in turn: the growth of each round in `extra_info`."""
    seconds = []

    def before():
        began = time.perf_counter()
        small()
        seconds.append(time.perf_counter() - began)

    benchmark.pedantic(large, setup=before, rounds=rounds, warmup_rounds=1)
    growths = [
        own / base for own, base in zip(benchmark.stats.stats.data, seconds[1:], strict=True)
    ]
    ordered = sorted(growths)
    benchmark.extra_info |= {
        "times": TIMES,
        "growth": round(ordered[len(ordered) // 2], 2),
        "growth_range": [round(ordered[0], 2), round(ordered[-1], 2)],
    }
    assert len(growths) == rounds


@pytest.mark.parametrize("name", NAMES)
def test_generating(name, count, rounds, benchmark):
    fmt = get(name)
    profile = plain_profile(fmt)

    def made(number):
        deque(bulk.messages(fmt, profile, 1, count=number), maxlen=0)

    benchmark.group = "growth"
    compared(benchmark, lambda: made(count), lambda: made(count * TIMES), rounds)


@pytest.mark.parametrize("name", NAMES)
def test_decoding(name, spark, count, rounds, benchmark, tmp_path):
    from spark_checks.services.engine import load
    from spark_checks.services.throughput import Contestant, cache_records, execute

    fmt = get(name)
    profile = plain_profile(fmt)
    decoder = load(decoder_spec(name, None))
    frames = []
    for number in (count, count * TIMES):
        messages, _ = generate(fmt, profile, number)
        path = tmp_path / f"{number}.parquet"
        write_records(path, messages, range(len(messages)))
        frames.append(cache_records(spark, str(path)))
    who = Contestant(name, decoder, 2, bulk.load_table(), profile.deployment)
    benchmark.group = "growth"
    compared(
        benchmark,
        lambda: execute(who.frame(frames[0])),
        lambda: execute(who.frame(frames[1])),
        rounds,
    )
    for frame in frames:
        frame.unpersist()


SCHEMAS = {"aliyun-dts-avro": record_schema, "ticdc-simple-avro": schema}


@pytest.mark.parametrize("name", SCHEMAS)
def test_against_fastavro(name, loaded, count, against, benchmark):
    from spark_checks.services.engine import load
    from spark_checks.services.throughput import WARM_UP, Contestant, execute

    profile, messages, frame = loaded(name)
    who = Contestant(name, load(decoder_spec(name, None)), 2, bulk.load_table(), profile.deployment)
    assert who.count_rows(frame) == count
    parsed, values = fastavro.parse_schema(SCHEMAS[name]()), [message.value for message in messages]

    def ours():
        built = who.frame(frame)
        return lambda: execute(built)

    def theirs():
        def read():
            for value in values:
                fastavro.schemaless_reader(io.BytesIO(value), parsed, None)

        return read

    benchmark.group = f"decode {name} rows against fastavro"
    ratios = against(ours, theirs, count, WARM_UP)
    assert len(ratios) == len(benchmark.stats.stats.data)
