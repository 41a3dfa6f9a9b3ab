"""Ratios against the baseline, saved and compared, and how soon run --watch answers a save."""

import compileall
import copy
import json
from contextlib import nullcontext
from pathlib import Path
from types import SimpleNamespace

import pytest
from command_lines import performed
from shown import shown

from conformance.load import bench as measure
from conformance.load import watched
from conformance.rules.rules import rules
from conformance.running.events import Broken
from generators.errors import HarnessError, UsageError
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


def test_the_table_has_figures_ratio_and_range_and_says_when_other_rows_are_found():
    own = result(decoder="mine.py:decode_rows", median=0.526)
    text = shown(measure.render([own]))
    for part in (
        "8,000",
        "10,000",
        "0.53x",
        "0.43..0.63",
        "100,000",
        "mine.py:decode_rows",
        "3 interleaved rounds over 200",
    ):
        assert part in text
    assert "different work" not in text
    other = shown(measure.render([own | {"rows": 199}]))
    assert "returns 199 row changes, the baseline 200: the ratio compares different work" in other


def result(name=FORMAT, level=1, decoder="reference", median=0.8, **more):
    ratio = {"median": median, "min": median - 0.1, "max": median + 0.1}
    facts = {
        "profile": "v7.1.6",
        "messages": 200,
        "rounds": 3,
        "rows": 200,
        "baseline_rows": 200,
        "bytes": 90_000,
    }
    speeds = {"per_second": 8_000, "baseline_per_second": 10_000, "generated_per_second": 100_000}
    return {
        "format": name,
        "level": level,
        "decoder": decoder,
        "ratio": ratio,
        **facts,
        **speeds,
        **more,
    }


def test_saved_results_come_back_with_versions_and_machine_beside_them(tmp_path):
    path = tmp_path / "bench.json"
    measure.write_results([result(), result(level=2)], path, {"pyspark": "4.0.0"})
    document = json.loads(path.read_text("utf-8"))
    assert document["versions"] == {"pyspark": "4.0.0"}
    assert document["machine"]["processors"] >= 1
    assert measure.read_results(path) == [result(), result(level=2)]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (None, "No such file"),
        ("{", "is not JSON"),
        ("9" * 5000, "is not JSON"),
        ("[" * 100_000, "is not JSON: nested too deeply"),
        ("[]", "was not written by bench --save"),
        ('{"type": "load", "results": []}', "was not written by bench --save"),
        (
            '{"type": "cdc-conformance bench", "results": [{"format": "a"}]}',
            "without format, level, decoder",
        ),
        ('{"type": "cdc-conformance bench", "results": [1]}', "without format, level, decoder"),
    ],
)
def test_a_file_that_save_did_not_write_is_refused(tmp_path, text, problem):
    path = tmp_path / "bench.json"
    if text is not None:
        path.write_text(text, "utf-8")
    with pytest.raises(UsageError, match=problem):
        measure.read_results(path)


def test_ratios_are_compared_by_format_level_and_decoder():
    whole = {"median": 1.0}
    old = [
        result(),
        result(level=2, **whole),
        result("debezium-json", **whole),
        result(decoder="gone", **whole),
    ]
    new = [result(level=2, median=0.89), result(median=0.72), result(decoder="new", **whole)]
    comparison = measure.compare_results(old, new, 0.9)
    names = ("format", "level", "decoder", "saved_ratio", "ratio", "below")
    assert [
        tuple(row[name] for name in names) for row in comparison if row["type"] == "bench-change"
    ] == [
        (FORMAT, 1, "reference", 0.8, 0.72, False),
        (FORMAT, 2, "reference", 1.0, 0.89, True),
    ]
    assert [round(row["change"], 3) for row in comparison if "change" in row] == [-0.1, -0.11]
    assert [(row["type"], row["decoder"]) for row in comparison[2:]] == [
        ("bench-added", "new"),
        ("bench-gone", "gone"),
    ]
    assert measure.is_slower(comparison) and not measure.is_slower(
        measure.compare_results(old, new, 0.8)
    )


def test_a_comparison_shows_old_new_change_and_names_what_it_leaves_out():
    old = [result(median=0.8), result(decoder="gone"), result(level=2, messages=100)]
    comparison = measure.compare_results(
        old, [result(median=0.4), result(decoder="new"), result(level=2)], 0.9
    )
    text = shown(measure.render_comparison(comparison, 0.9))
    for part in ("0.80x", "0.40x", "-50.0%", "below 0.9 of the saved"):
        assert part in text
    assert f"{FORMAT} changes new: not in the saved file" in text
    assert f"{FORMAT} changes gone: in the saved file, not measured now" in text
    assert f"{FORMAT} rows reference: measured with messages 200 instead of 100" in text
    assert "| 0.80x | 0.40x | -50.0% | below 0.9 of the saved |" in measure.markdown(
        [result()], comparison, 0.9
    )
    kinds = [row["type"] for row in json.loads(json.dumps(comparison))]
    assert kinds == ["bench-change", "bench-change", "bench-added", "bench-gone"]


@pytest.fixture
def commanded(monkeypatch):
    """A function that runs the command `bench` with these results in place of measured ones."""

    def run(results, *arguments):
        monkeypatch.setattr("conformance.engines.child.ChildEngine", lambda **_: nullcontext())
        monkeypatch.setattr(measure, "bench", lambda *_: copy.deepcopy(results))
        return performed("bench", FORMAT, "--format", "json", *arguments)

    return run


def test_the_command_saves_compares_and_exits_with_1_below_the_share(commanded, tmp_path):
    path = str(tmp_path / "bench.json")
    assert commanded([result(median=1.0)], "--save", path).exit_code == 0
    same = commanded([result(median=0.95)], "--compare", path, "--fail-below", "0.9")
    assert same.exit_code == 0
    assert [json.loads(line).get("change") for line in same.stdout.splitlines()] == [None, -0.05]
    assert commanded([result(median=0.89)], "--compare", path, "--fail-below", "0.9").exit_code == 1
    assert commanded([result(median=0.1)], "--compare", path).exit_code == 0


def test_a_small_bench_measures_reference_and_user_at_the_levels_that_they_have(engine, tmp_path):
    mine = tmp_path / "mine.py"
    mine.write_text(
        "from spark_checks.decoders.huawei_cdl_json import BASELINE\n"
        "def decode_rows(records, table):\n    return BASELINE.decode_rows(records, table)\n",
        encoding="utf-8",
    )
    spec = f"{mine}:decode_rows"
    notes = []
    results = measure.bench(engine, [LIGHT], spec, 50, 1, notes.append)
    with pytest.raises(UsageError):
        measure.bench(engine, [LIGHT], None, 0, 2, notes.append)
    with pytest.raises(UsageError, match="absent"):
        measure.bench(engine, [LIGHT], "absent.py:decode", 200, 2, notes.append)
    assert list(engine.directory.glob("bench-*")) == []
    assert [(r["level"], r["decoder"]) for r in results] == [
        (1, "reference"),
        (2, "reference"),
        (2, spec),
    ]
    assert notes
    for result in json.loads(json.dumps(results)):
        assert (result["format"], result["messages"], result["rounds"]) == (LIGHT, 50, 1)
        assert result["profile"] == measure.plain_profile(get(LIGHT)).name
        assert result["bytes"] > 50 * 100
        assert result["rows"] == result["baseline_rows"] == 50
        assert (
            min(result["per_second"], result["baseline_per_second"], result["generated_per_second"])
            > 0
        )
        ratio = result["ratio"]
        assert 0 < ratio["min"] <= ratio["median"] <= ratio["max"]


@pytest.fixture
def watching(monkeypatch):
    """A watching that breaks a rule whenever the decoder has its mistake; it gives the texts that
    were saved.
    """
    clock, saved = iter(range(1000)), []
    monkeypatch.setattr(watched, "time", SimpleNamespace(monotonic=lambda: float(next(clock))))
    monkeypatch.setattr(watched, "await_change", lambda _seen: None)

    def start(judge):
        def turns(settings, _engine, listen, wait):
            path = Path(settings.decoder.rpartition(":")[0])
            while True:
                saved.append(path.read_text("utf-8"))
                judge(saved[-1], listen)
                listen(SimpleNamespace())
                yield SimpleNamespace(
                    result=SimpleNamespace(formats=[SimpleNamespace(cases=[1, 2])]), error=""
                )
                wait({})

        monkeypatch.setattr(watched, "turns", turns)
        return saved

    return start


def broken_if_wrong(text, listen):
    if "DELETE" in text:
        for rule in rules(FORMAT)[:2]:
            listen(Broken(FORMAT, rule, None, None))


def test_a_round_saves_a_mistake_twice_and_takes_the_time_to_the_first_rule(watching, tmp_path):
    saved = watching(broken_if_wrong)
    times = watched.measure(None, FORMAT, tmp_path, 2, lambda _text: None)
    assert ["DELETE" in text for text in saved] == [False, True, True, False, True, True]
    assert len(set(saved)) == len(saved)
    assert all("reference.decode(records, deployment=deployment)" in text for text in saved)
    assert compileall.compile_dir(tmp_path, quiet=1)
    # Each reading of this clock is a second later: one at the save, the next at the first rule,
    # none at the second rule.
    span = {"median": 1.0, "min": 1.0, "max": 1.0}
    facts = {
        "type": "bench-watch",
        "format": FORMAT,
        "profile": times["profile"],
        "cases": 2,
        "rounds": 2,
    }
    assert times == {**facts, "first": span, "again": span}
    assert watched.markdown([times]).endswith(
        f"| {FORMAT} | {times['profile']} | 2 | 2 | 1.0 s (1.0..1.0) | 1.0 s (1.0..1.0) |"
    )


def test_a_mistake_that_breaks_no_rule_is_no_endless_loop(watching, tmp_path):
    watching(lambda _text, _listen: None)
    with pytest.raises(HarnessError, match="a decoder that loses DELETEs broke no rule"):
        watched.measure(None, FORMAT, tmp_path, 3, lambda _text: None)
