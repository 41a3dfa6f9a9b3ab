"""Batch decode throughput of the Avro formats' decoders of rows against fastavro, which reads the same values in one process."""

import io

import fastavro
import pytest

from conformance.engines.specs import decoder_of
from generators.bulk import expander as bulk
from generators.formats.aliyun_dts_avro.schema import record_schema
from generators.formats.ticdc_simple_avro.schema import schema

SCHEMAS = {"aliyun-dts-avro": record_schema, "ticdc-simple-avro": schema}


@pytest.mark.parametrize("name", SCHEMAS)
def test_against_fastavro(name, loaded, count, against, benchmark):
    from spark_checks.services.engine import load
    from spark_checks.services.throughput import WARM_UP, Contestant, execute

    profile, messages, frame = loaded(name)
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
