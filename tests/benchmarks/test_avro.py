"""Batch decode throughput of the Avro formats' decoders of rows against fastavro, which reads the same values in one process."""

import io

import fastavro
import pytest

from conformance.engines.base import write_records
from conformance.engines.specs import decoder_of
from conformance.load.bench import generate, plain_profile
from generators.bulk import expander as bulk
from generators.formats.aliyun_dts_avro.schema import record_schema
from generators.formats.ticdc_simple_avro.schema import schema
from generators.wire_format import get

SCHEMAS = {"aliyun-dts-avro": record_schema, "ticdc-simple-avro": schema}


@pytest.mark.parametrize("name", SCHEMAS)
def test_against_fastavro(name, spark, count, against, benchmark, tmp_path):
    from spark_checks.services.engine import load
    from spark_checks.services.throughput import WARM_UP, Contestant, cached, execute

    fmt = get(name)
    profile = plain_profile(fmt)
    messages, _ = generate(fmt, profile, count)
    path = tmp_path / "load.parquet"
    write_records(path, messages, range(len(messages)))
    frame = cached(spark, str(path))
    who = Contestant(name, load(decoder_of(name, None)), 2, bulk.load_table(), profile.deployment)
    assert who.rows(frame) == count
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
    frame.unpersist()
