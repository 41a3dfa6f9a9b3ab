"""Batch decode throughput of the reference decoders, each against the baseline at its level."""

import pytest

from conformance.engines.engine import write_records
from conformance.engines.specs import decoder_of
from conformance.load.bench import baseline, generate, plain_profile
from generators.bulk import expander as bulk
from generators.wire_format import FORMATS, get

LEVELS = {1: "changes", 2: "rows"}


@pytest.fixture(scope="module", params=FORMATS)
def records(request, spark, count, tmp_path_factory):
    """A format's profile and baseline, and its load as cached records."""
    from spark_checks.services.throughput import cached

    fmt = get(request.param)
    profile = plain_profile(fmt)
    messages, _ = generate(fmt, profile, count)
    path = tmp_path_factory.mktemp("records") / "load.parquet"
    write_records(path, messages, range(len(messages)))
    frame = cached(spark, str(path))
    yield fmt.name, profile, baseline(fmt.name, messages[0]), frame
    frame.unpersist()


@pytest.mark.parametrize("level", LEVELS, ids=LEVELS.values())
def test_decode(records, level, count, against, benchmark):
    from spark_checks.services.engine import load
    from spark_checks.services.throughput import WARM_UP, Contestant, execute

    name, profile, yardstick_of, frame = records
    own, yardstick = (
        Contestant(spec, load(spec), level, bulk.load_table(), profile.deployment)
        for spec in (decoder_of(name, None), yardstick_of)
    )
    assert own.rows(frame) == yardstick.rows(frame) == count

    def timed(who):
        built = who.frame(frame)
        return lambda: execute(built)

    benchmark.group = f"decode {name} {LEVELS[level]}"
    ratios = against(lambda: timed(own), lambda: timed(yardstick), count, WARM_UP)
    assert len(ratios) == len(benchmark.stats.stats.data)
