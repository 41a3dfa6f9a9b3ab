import json

import pytest
from rich.console import Console

from conformance import bench as measure
from conformance.engine import ChildEngine
from generators.errors import UsageError
from generators.formats.base import FORMATS, get

FORMAT = "ticdc-canal-json"


@pytest.mark.parametrize("name", FORMATS)
def test_load_is_of_the_last_profile_without_compression(name):
    profile = measure.plain_profile(get(name))
    assert profile.deployment.compression == "none"
    later = get(name).profiles[get(name).profiles.index(profile) + 1 :]
    assert all(p.deployment.compression != "none" for p in later)


def test_generation_is_timed_and_gives_the_asked_for_messages():
    fmt = get(FORMAT)
    messages, rate = measure.generate(fmt, measure.plain_profile(fmt), 300)
    assert len({m.value for m in messages}) == len(messages) == 300
    assert rate > 0


@pytest.fixture
def one():
    return {
        "format": FORMAT,
        "profile": "v7.1.6",
        "level": 2,
        "decoder": "mine.py:decode_rows",
        "messages": 200,
        "rounds": 3,
        "per_second": 12_345,
        "baseline_per_second": 23_456,
        "ratio": {"median": 0.526, "min": 0.4, "max": 0.6},
        "generated_per_second": 123_456,
        "rows": 200,
        "baseline_rows": 200,
    }


def shown(results):
    console = Console(width=150, record=True, quiet=False, file=None, force_terminal=False)
    with console.capture() as capture:
        console.print(measure.render(results))
    return capture.get()


def test_the_table_has_figures_ratio_and_range(one):
    text = shown([one])
    for part in ("12,345", "23,456", "0.53x", "0.40..0.60", "123,456", "mine.py:decode_rows", "3 interleaved rounds over 200"):
        assert part in text
    assert "different work" not in text


def test_a_decoder_that_finds_other_rows_is_not_compared_silently(one):
    assert "finds 199 row changes, the baseline 200: the ratio compares different work" in shown([one | {"rows": 199}])


@pytest.mark.spark
@pytest.mark.slow
def test_a_small_bench_measures_reference_and_user_at_the_levels_that_they_have(tmp_path):
    mine = tmp_path / "mine.py"
    mine.write_text(
        "from spark_checks.decoders.baseline import TICDC_CANAL_JSON\n"
        "def decode_rows(records, table):\n    return TICDC_CANAL_JSON.decode_rows(records, table)\n",
        encoding="utf-8",
    )
    spec = f"{mine}:decode_rows"
    notes = []
    with ChildEngine() as engine:
        results = measure.bench(engine, [FORMAT], spec, 200, 3, notes.append)
        with pytest.raises(UsageError):
            measure.bench(engine, [FORMAT], None, 0, 3, notes.append)
        with pytest.raises(UsageError, match="absent"):
            measure.bench(engine, [FORMAT], "absent.py:decode", 200, 3, notes.append)
        assert list(engine.directory.glob("bench-*")) == []
    assert [(r["level"], r["decoder"]) for r in results] == [(1, "reference"), (2, "reference"), (2, spec)]
    assert notes
    for result in json.loads(json.dumps(results)):
        assert (result["format"], result["messages"], result["rounds"]) == (FORMAT, 200, 3)
        assert result["profile"] == measure.plain_profile(get(FORMAT)).name
        assert result["bytes"] > 200 * 100
        assert result["rows"] == result["baseline_rows"] == 200
        assert min(result["per_second"], result["baseline_per_second"], result["generated_per_second"]) > 0
        ratio = result["ratio"]
        assert 0 < ratio["min"] <= ratio["median"] <= ratio["max"]
