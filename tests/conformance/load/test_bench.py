import copy
import json

import pytest
from click.testing import CliRunner
from rich.console import Console

from conformance.commands.cli import cli
from conformance.load import bench as measure
from generators.errors import UsageError
from generators.wire_format import FORMATS, get

FORMAT = "ticdc-canal-json"
LIGHT = "huawei-cdl-json"
"""Whose decoder Spark plans fastest."""


@pytest.mark.parametrize("name", FORMATS)
def test_load_is_of_the_last_profile_with_the_fewest_options(name):
    profiles = [p for p in get(name).profiles if p.deployment.compression == "none"]
    profile = measure.plain_profile(get(name))
    options = [p.name.count("+") for p in profiles]
    at = profiles.index(profile)
    assert options[at] == min(options)
    assert min(options[at + 1 :], default=99) > options[at]


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
    assert "returns 199 row changes, the baseline 200: the ratio compares different work" in shown([one | {"rows": 199}])


def result(name=FORMAT, level=1, decoder="reference", median=0.8, **more):
    ratio = {"median": median, "min": median - 0.1, "max": median + 0.1}
    facts = {"profile": "v7.1.6", "messages": 200, "rounds": 3, "rows": 200, "baseline_rows": 200, "bytes": 90_000}
    speeds = {"per_second": 8_000, "baseline_per_second": 10_000, "generated_per_second": 100_000}
    return {"format": name, "level": level, "decoder": decoder, "ratio": ratio, **facts, **speeds, **more}


def test_saved_results_come_back_with_versions_and_machine_beside_them(tmp_path):
    path = tmp_path / "bench.json"
    measure.save([result(), result(level=2)], path, {"pyspark": "4.0.0"})
    document = json.loads(path.read_text("utf-8"))
    assert document["versions"] == {"pyspark": "4.0.0"}
    assert document["machine"]["processors"] >= 1
    assert measure.saved(path) == [result(), result(level=2)]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (None, "No such file"),
        ("{", "is not JSON"),
        ("[]", "was not written by bench --save"),
        ('{"type": "load", "results": []}', "was not written by bench --save"),
        ('{"type": "cdc-conformance bench", "results": [{"format": "a"}]}', "without format, level, decoder"),
        ('{"type": "cdc-conformance bench", "results": [1]}', "without format, level, decoder"),
    ],
)
def test_a_file_that_save_did_not_write_is_refused(tmp_path, text, told):
    path = tmp_path / "bench.json"
    if text is not None:
        path.write_text(text, "utf-8")
    with pytest.raises(UsageError, match=told):
        measure.saved(path)


def test_ratios_are_compared_by_format_level_and_decoder():
    old = [
        result(median=0.8),
        result(level=2, median=1.0),
        result("debezium-json", median=1.0),
        result(decoder="gone", median=1.0),
    ]
    new = [result(level=2, median=0.89), result(median=0.72), result(decoder="new", median=1.0)]
    found = measure.compare(old, new, 0.9)
    assert [(one.key, one.old, one.new, one.below) for one in found.changed] == [
        ((FORMAT, 1, "reference"), 0.8, 0.72, False),
        ((FORMAT, 2, "reference"), 1.0, 0.89, True),
    ]
    assert [round(one.change, 3) for one in found.changed] == [-0.1, -0.11]
    assert found.added == ((FORMAT, 1, "new"),)
    assert found.gone == ((FORMAT, 1, "gone"),)
    assert found.slower
    assert not measure.compare(old, new, 0.8).slower


def compared(found):
    console = Console(width=150, force_terminal=False)
    with console.capture() as capture:
        console.print(measure.render_comparison(found, 0.9))
    return capture.get()


def test_a_comparison_shows_old_new_change_and_names_what_it_leaves_out():
    old = [result(median=0.8), result(decoder="gone"), result(level=2, messages=100)]
    found = measure.compare(old, [result(median=0.4), result(decoder="new"), result(level=2)], 0.9)
    text = compared(found)
    for part in ("0.80x", "0.40x", "-50.0%", "below 0.9 of the saved"):
        assert part in text
    assert f"{FORMAT} changes new: not in the saved file" in text
    assert f"{FORMAT} changes gone: in the saved file, not measured now" in text
    assert f"{FORMAT} rows reference: measured with messages 200 instead of 100" in text
    assert "| 0.80 | 0.40 | -50.0% **too low** |" in measure.markdown([result()], found)
    kinds = [one["type"] for one in json.loads(json.dumps(measure.comparison_records(found)))]
    assert kinds == ["bench-change", "bench-change", "bench-added", "bench-gone"]


class Idle:
    """An engine that is never asked."""

    def __init__(self, **_):
        pass

    def __enter__(self):
        return self

    def __exit__(self, *_):
        pass


@pytest.fixture
def commanded(monkeypatch):
    """A function that runs the command `bench` with these results in place of measured ones."""

    def run(results, *arguments):
        monkeypatch.setattr("conformance.engines.child.ChildEngine", Idle)
        monkeypatch.setattr(measure, "bench", lambda *_: copy.deepcopy(results))
        return CliRunner().invoke(cli, ["bench", FORMAT, "--format", "json", *arguments])

    return run


def test_the_command_saves_compares_and_exits_with_1_below_the_share(commanded, tmp_path):
    path = str(tmp_path / "bench.json")
    assert commanded([result(median=1.0)], "--save", path).exit_code == 0
    same = commanded([result(median=0.95)], "--compare", path, "--fail-below", "0.9")
    assert same.exit_code == 0
    assert [json.loads(line).get("change") for line in same.stdout.splitlines()] == [None, -0.05]
    assert commanded([result(median=0.89)], "--compare", path, "--fail-below", "0.9").exit_code == 1
    assert commanded([result(median=0.1)], "--compare", path).exit_code == 0


def test_files_are_looked_at_before_anything_is_measured(commanded, tmp_path, monkeypatch):
    def measured(*_):
        raise AssertionError("measured")

    for arguments, told in (
        (["--fail-below", "0.9"], "--fail-below needs --compare"),
        (["--compare", str(tmp_path / "absent.json")], "No such file"),
        (["--save", str(tmp_path / "absent" / "bench.json")], "no directory"),
    ):
        monkeypatch.setattr(measure, "bench", measured)
        raised = CliRunner().invoke(cli, ["bench", FORMAT, *arguments]).exception
        assert isinstance(raised, UsageError)
        assert told in str(raised)


@pytest.mark.spark
@pytest.mark.slow
def test_a_small_bench_measures_reference_and_user_at_the_levels_that_they_have(engine, tmp_path):
    mine = tmp_path / "mine.py"
    mine.write_text(
        "from spark_checks.decoders.baselines.huawei_cdl_json import BASELINE\n"
        "def decode_rows(records, table):\n    return BASELINE.decode_rows(records, table)\n",
        encoding="utf-8",
    )
    spec = f"{mine}:decode_rows"
    notes = []
    results = measure.bench(engine, [LIGHT], spec, 200, 2, notes.append)
    with pytest.raises(UsageError):
        measure.bench(engine, [LIGHT], None, 0, 2, notes.append)
    with pytest.raises(UsageError, match="absent"):
        measure.bench(engine, [LIGHT], "absent.py:decode", 200, 2, notes.append)
    assert list(engine.directory.glob("bench-*")) == []
    assert [(r["level"], r["decoder"]) for r in results] == [(1, "reference"), (2, "reference"), (2, spec)]
    assert notes
    for result in json.loads(json.dumps(results)):
        assert (result["format"], result["messages"], result["rounds"]) == (LIGHT, 200, 2)
        assert result["profile"] == measure.plain_profile(get(LIGHT)).name
        assert result["bytes"] > 200 * 100
        assert result["rows"] == result["baseline_rows"] == 200
        assert min(result["per_second"], result["baseline_per_second"], result["generated_per_second"]) > 0
        ratio = result["ratio"]
        assert 0 < ratio["min"] <= ratio["median"] <= ratio["max"]
