"""Sizes of the benchmarks, and a session without Kafka's package: no benchmark reads Kafka with
Spark.
"""

from __future__ import annotations

import os

import pytest


@pytest.fixture(scope="session")
def spark():
    """A session on two cores."""
    from conformance.brokers.spark import prepare_jars
    from spark_checks.services.session import session

    started = session(jars=prepare_jars(("avro",), print))
    yield started
    started.stop()


@pytest.fixture(scope="session")
def count():
    """Messages per measurement: CDC_BENCH_MESSAGES, else 20,000."""
    return int(os.environ.get("CDC_BENCH_MESSAGES", "20000"))


@pytest.fixture(scope="session")
def rounds():
    """Timed rounds: CDC_BENCH_ROUNDS, else 7."""
    return int(os.environ.get("CDC_BENCH_ROUNDS", "7"))


@pytest.fixture
def loaded(spark, count, tmp_path):
    """A function of a format's name: its plain profile, a load of `count` messages, and the load as
    cached records.
    """
    from conformance.engines.engine import write_records
    from conformance.load.bench import generate, plain_profile
    from generators.wire_format import get
    from spark_checks.services.throughput import cache_records

    frames = []

    def load(name):
        fmt = get(name)
        profile = plain_profile(fmt)
        messages, _ = generate(fmt, profile, count)
        path = tmp_path / "load.parquet"
        write_records(path, messages, range(len(messages)))
        frames.append(cache_records(spark, str(path)))
        return profile, messages, frames[-1]

    yield load
    for frame in frames:
        frame.unpersist()


@pytest.fixture
def against(benchmark, rounds):
    """Times a contestant and a yardstick in turn, and records the ratio of their speeds per round
    in `extra_info`.

    Both are functions that make a function without arguments: what they make is timed, the making
    is not. The yardstick's seconds of a round are the mean of its runs before and after it, so that
    a drift favours neither.
    """
    import statistics
    import time

    def run(contestant, yardstick, count, warm_up):
        before = []

        def measure():
            made = yardstick()
            began = time.perf_counter()
            made()
            before.append(time.perf_counter() - began)

        def setup():
            measure()
            return (contestant(),), {}

        benchmark.pedantic(lambda made: made(), setup=setup, rounds=rounds, warmup_rounds=warm_up)
        measure()
        own = benchmark.stats.stats.data
        base = before[-len(own) - 1 :]
        ratios = [(a + b) / 2 / o for a, b, o in zip(base, base[1:], own, strict=False)]
        benchmark.extra_info |= {
            "messages": count,
            "per_second": round(count / statistics.median(own)),
            "yardstick_per_second": round(count / statistics.median(base)),
            "ratio": round(statistics.median(ratios), 3),
            "ratio_range": [round(min(ratios), 3), round(max(ratios), 3)],
        }
        return ratios

    return run


def pytest_terminal_summary(terminalreporter, config):
    """The ratios, which the table of seconds does not show."""
    session = getattr(config, "_benchmarksession", None)
    measured = [b for b in getattr(session, "benchmarks", ()) if b.extra_info]
    if measured:
        terminalreporter.section("ratios and rates")
        for bench in measured:
            shown = ", ".join(f"{name} {value}" for name, value in bench.extra_info.items())
            terminalreporter.write_line(f"{bench.name}: {shown}")
