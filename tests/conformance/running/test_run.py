"""The main job without a broker: reference and faulty decoders, what a selection leaves, and failures judged again."""

import json
import textwrap
from dataclasses import replace

import pytest

from conformance.cases.catalogue import Budget, named_cases
from conformance.engines.engine import to_ranges
from conformance.engines.specs import DECODERS
from conformance.files import FAILURES
from conformance.judging.judge import Verdict
from conformance.judging.known import Entry, Expectations
from conformance.judging.known_files import under
from conformance.rules.rules import Aspect, rules
from conformance.running import replay
from conformance.running.prepared import Settings, sample
from conformance.running.run import run
from generators.errors import HarnessError, NothingSelected, UnknownName, UsageError
from generators.storage import codec
from generators.wire_format import get

NAME = "ticdc-canal-json"
REFERENCE = f"{DECODERS}.ticdc_canal_json"
PROFILE = f"{NAME}/v7.1.6"
TINY = Budget("tiny", 0, 12)
SETTINGS = Settings((NAME,), TINY, 7, writer_profile="v7.1.6")
SHAPES = (f"{PROFILE}/shape",)
LEVEL_TWO = (f"{PROFILE}/rows/keyless", f"{PROFILE}/rows/composite")
HEAD = """
from pyspark.sql import Window
from pyspark.sql import functions as F
from spark_checks.decoders import ticdc_canal_json as reference
PLACE = ["topic", "partition", "offset"]

"""


@pytest.fixture
def decoder(tmp_path):
    """A function that writes a decoder around the reference and gives its specification."""

    def write(text, name="decode", stem="mine"):
        path = tmp_path / f"{stem}.py"
        path.write_text(HEAD + textwrap.dedent(text), "utf-8")
        return f"{path}:{name}"

    return write


def broken(result):
    """Ids of the broken rules."""
    return {rule.rule.id for found in result.formats for rule in found.rules if rule.broken}


def replayed(tmp_path, engine, result, fixed):
    """Saves every failure, and judges each again with its decoder and with another: the outcomes."""
    outcomes = []
    for failure in result.failures:
        path = replay.save(
            tmp_path / "failures" / f"{replay.crash_id(failure)}.json", failure, result.header.decoder, "both", {}, {}
        )
        crash = replay.load(path)
        assert crash.case.id == failure.result.case.id
        assert [w.message.value for w in crash.case.written] == [w.message.value for w in failure.result.case.written]
        assert [w.changes for w in crash.case.written] == [w.changes for w in failure.result.case.written]
        outcomes.append((replay.replay(crash, engine)[0], replay.replay(crash, engine, fixed)[0]))
    return outcomes


FAILED_THEN_FIXED = (replay.ReplayOutcome.FAILED, replay.ReplayOutcome.FIXED)


@pytest.mark.spark
def test_an_envelope_fault_convicts_its_rule(engine, decoder, tmp_path):
    spec = decoder("""
        def decode(records, *, deployment=None):
            return reference.decode(records, deployment=deployment).withColumn("database", F.upper("database"))
    """)
    result = run(replace(SETTINGS, decoder=spec, select=SHAPES), engine)
    assert (result.exit_code, broken(result)) == (1, {f"{NAME}/envelope/names"})
    (failure,) = result.failures
    assert failure.finding.path == "database"
    assert failure.finding.actual == failure.finding.expected.upper() != failure.finding.expected
    right = [found.case.scenario for found in result.formats[0].cases if not found.findings]
    assert (right, failure.cases) == (["shape/upper-case"], len(result.formats[0].cases) - 1)
    sizes = [sum(w.message.size for w in found.case.written) for found in result.formats[0].cases]
    assert sum(w.message.size for w in failure.result.case.written) <= min(sizes)
    assert set(replayed(tmp_path, engine, result, f"{REFERENCE}:decode")) == {FAILED_THEN_FIXED}


@pytest.mark.spark
def test_a_value_fault_convicts_its_rule(engine, decoder, tmp_path):
    spec = decoder(
        """
        def decode_rows(records, table, *, deployment=None):
            rows = reference.decode_rows(records, table, deployment=deployment)
            if table.name != "visits":
                return rows
            return rows.withColumn("after", F.col("after").withField("a", F.col("after.a") + 1))
    """,
        "decode_rows",
    )
    result = run(replace(SETTINGS, decoder=spec, select=LEVEL_TWO), engine)
    assert (result.exit_code, broken(result), result.formats[0].levels) == (1, {f"{NAME}/value/integer"}, (2,))
    assert {found.case.id.split("/")[3] for found in result.formats[0].cases if found.findings} == {"keyless"}
    assert result.failures[0].finding.path == "after['a']"
    assert set(replayed(tmp_path, engine, result, f"{REFERENCE}:decode_rows")) == {FAILED_THEN_FIXED}


@pytest.mark.spark
@pytest.mark.parametrize("kind", ["CORRUPT", "ROW"])
def test_messages_of_other_tables_are_to_be_left_out(engine, decoder, tmp_path, kind):
    spec = decoder(
        f"""
        def decode_rows(records, table, *, deployment=None):
            rows = reference.decode_rows(records, table, deployment=deployment)
            others = records.join(rows, PLACE, "left_anti").select(*PLACE, F.lit(0).alias("row"), F.lit("{kind}").alias("kind"))
            others = others.withColumn("error", F.when(F.col("kind") == "CORRUPT", "not mine"))
            return rows.unionByName(others, allowMissingColumns=True)
    """,
        "decode_rows",
    )
    result = run(replace(SETTINGS, decoder=spec, select=LEVEL_TWO), engine)
    assert {failure.finding.aspect for failure in result.failures} == {Aspect.EXTRA}
    named = {finding.case for case in result.formats[0].cases for finding in case.findings}
    assert any("#in-" in name for name in named) and any(name.endswith("/same-name-elsewhere") for name in named)
    assert (result.exit_code, set(replayed(tmp_path, engine, result, f"{REFERENCE}:decode_rows"))) == (1, {FAILED_THEN_FIXED})


@pytest.mark.spark
def test_only_the_messages_that_raise_are_errored(engine, decoder, tmp_path):
    spec = decoder("""
        def decode(records, *, deployment=None):
            bad = F.col("table") == "t0650015747"
            rows = reference.decode(records, deployment=deployment)
            return rows.withColumn("database", F.when(bad, F.raise_error("no such table")).otherwise(F.col("database")))
    """)
    result = run(replace(SETTINGS, decoder=spec, select=SHAPES), engine)
    (found,) = result.formats
    assert [c.case.id for c in found.cases if c.verdict is Verdict.ERRORED] == [f"{PROFILE}/shape/delete"]
    assert {c.verdict for c in found.cases if c.case.id != f"{PROFILE}/shape/delete"} == {Verdict.PASS}
    assert "no such table" in next(c.note for c in found.cases if c.verdict is Verdict.ERRORED)
    assert "raised on 1 cases" in found.calls[0].note
    assert result.exit_code == 1
    (failure,) = result.failures
    assert (failure.rule.id, failure.cases) == (f"{NAME}/law/returns", 1)
    assert "no such table" in failure.finding.actual
    law = next(one for one in found.rules if one.rule.law == "returns")
    assert (law.compared, law.broken) == (len(found.cases), 1)
    assert set(replayed(tmp_path, engine, result, f"{REFERENCE}:decode")) == {FAILED_THEN_FIXED}
    on_record = Entry(f"{NAME}/law/returns", Verdict.ERRORED, cases=(f"{PROFILE}/shape/delete",))
    assert under(result, Expectations((on_record,))).exit_code == 0


@pytest.mark.spark
def test_the_laws_convict_a_decoder_that_depends_on_its_surroundings(engine, decoder, tmp_path):
    spec = decoder("""
        def decode(records, *, deployment=None):
            rows = reference.decode(records, deployment=deployment)
            alone = records.count() == 1
            here = F.current_timezone() == "UTC"
            return rows.withColumn("database", F.when(here & F.lit(not alone), F.col("database")).otherwise("elsewhere"))
    """)
    result = run(replace(SETTINGS, decoder=spec, select=(f"{NAME}/law", *SHAPES)), engine)
    assert broken(result) >= {f"{NAME}/law/batch-independence", f"{NAME}/law/environment-independence"}
    assert {failure.rule.law for failure in result.failures} == {"batch", "environment"}
    assert {found.case.id.split("/")[2] for found in result.formats[0].cases} == {"shape"}
    told = [(failure.rule.law, failure.finding.actual) for failure in result.failures]
    assert any(law == "batch" and actual.startswith("alone: ") for law, actual in told)
    assert any(law == "environment" and actual.startswith("time zone America/New_York") for law, actual in told)
    several = replace(result, failures=tuple(f for f in result.failures if f.rule.law == "environment"))
    assert set(replayed(tmp_path, engine, several, f"{REFERENCE}:decode")) == {FAILED_THEN_FIXED}


@pytest.mark.spark
def test_what_differs_only_between_the_judged_call_and_smaller_ones_breaks_a_law(engine, decoder):
    """One circumstance at a time, every call over the sample is as small as the others, and agrees with them."""
    spec = decoder("""
        def decode(records, *, deployment=None):
            rows = reference.decode(records, deployment=deployment)
            return rows if records.count() <= 12 else rows.withColumn("database", F.lower("table"))
    """)
    result = run(replace(SETTINGS, decoder=spec, select=(f"{NAME}/law", *SHAPES, f"{PROFILE}/ddl")), engine)
    found = {rule.rule.law: rule for rule in result.formats[0].rules if rule.rule.law}
    assert sum(len(w.case.written) for w in result.formats[0].cases) > 12
    assert found["environment"].broken + found["batch"].broken > 0
    assert all(rule.compared >= rule.broken for rule in found.values())


def test_a_decoder_that_hangs_or_dies_is_a_verdict(fake):
    make, _ = fake
    for word, verdict in (("hang", Verdict.TIMEOUT), ("exit", Verdict.ERRORED)):
        result = run(replace(SETTINGS, decoder="fine", select=(f"{PROFILE}/shape/insert*",)), renamed(make(timeout_s=0.5), word))
        assert ({found.verdict for found in result.formats[0].cases}, result.exit_code) == ({verdict}, 1)
        assert result.formats[0].notes


def renamed(engine, word):
    """The engine with the decoder of its decode calls, and of those alone, exchanged."""
    decode = engine.decode
    engine.decode = lambda request: decode(replace(request, decoder=word))
    return engine


def test_a_session_that_does_not_start_is_no_verdict(fake, monkeypatch):
    monkeypatch.setenv("FAKE_START", "exit")
    with pytest.raises(HarnessError, match="Spark did not start: "):
        run(replace(SETTINGS, decoder="fine", select=SHAPES), fake[0]())


def test_records_that_cannot_be_read_are_no_verdict(fake):
    engine = fake[0]()
    opened = engine.open
    engine.open = lambda handle, source: opened(handle, replace(source, parquet="harness"))
    with pytest.raises(HarnessError, match="told so"):
        run(replace(SETTINGS, decoder="fine", select=SHAPES), engine)


@pytest.mark.parametrize(
    ("settings", "error", "said"),
    [
        ({"formats": ("ticdc-canal",)}, UnknownName, "Did you mean 'ticdc-canal-json'"),
        ({"select": ("tidb-canal-json/v7.1.6",)}, NothingSelected, "unknown case or rule 'tidb-canal-json/v7.1.6'"),
        ({"exclude": ("nonsense",)}, NothingSelected, "unknown case or rule 'nonsense'"),
        ({"select": (f"{PROFILE}/no-such-case",)}, NothingSelected, "no case matches"),
        ({"exclude": (f"{NAME}/v*",)}, NothingSelected, "no case"),
        *(({"writer_profile": "v9*"}, UnknownName, "unknown profile 'v9[*]'"), ({"decoder": "usage"}, UsageError, "told so")),
    ],
)
def test_settings_that_cannot_be_run(fake, settings, error, said):
    with pytest.raises(error, match=said):
        run(replace(SETTINGS, **settings), fake[0]())


@pytest.mark.parametrize(
    ("places", "ranges"),
    [
        *(([], ()), ([("t", 0, 5)], (("t", 0, 5, 5),)), ([("t", 0, 2), ("t", 0, 1), ("t", 0, 2)], (("t", 0, 1, 2),))),
        ([("t", 1, 0), ("t", 0, 0), ("t", 0, 2)], (("t", 0, 0, 0), ("t", 0, 2, 2), ("t", 1, 0, 0))),
        ([("u", 0, 1), ("t", 0, 0), ("u", 0, 0)], (("t", 0, 0, 0), ("u", 0, 0, 1))),
    ],
)
def test_ranges(places, ranges):
    assert to_ranges(places) == ranges


@pytest.fixture(scope="module")
def named():
    fmt = get(NAME)
    return list(named_cases(fmt, (fmt.profile("v7.1.6"),)))


@pytest.mark.parametrize(
    ("select", "exclude", "kept"),
    [
        *(((), (), {"shape/insert", "ddl/add-column", "fault/truncated/insert"}), ((f"{PROFILE}/shape",), (), {"shape/insert"})),
        ((f"{PROFILE}/shape/insert", "*/ddl/*"), (), {"shape/insert", "ddl/add-column"}),
        ((), ("*/fault/*",), {"shape/insert", "ddl/add-column"}),
        ((f"{NAME}/v*",), (), {"shape/insert", "ddl/add-column", "fault/truncated/insert"}),
        ((f"{NAME}/value",), (), {"shape/insert", "ddl/add-column", "fault/truncated/insert"}),
        *(((f"{NAME}/value", f"{PROFILE}/ddl"), (), {"ddl/add-column"}), (("*/no-such",), (), set())),
    ],
)
def test_selected_cases(named, select, exclude, kept):
    looked_at = {f"{PROFILE}/{name}": name for name in ("shape/insert", "ddl/add-column", "fault/truncated/insert")}
    assert looked_at.keys() <= {case.id for case in named}
    settings = replace(SETTINGS, select=select, exclude=exclude)
    chosen = settings.selection.cases(settings.selection.rule_patterns(rules(NAME), named), named)
    assert {looked_at[case.id] for case in chosen if case.id in looked_at} == kept
    assert bool(chosen) is bool(kept)


def test_selected_rules(named):
    found = rules(NAME)
    everything, laws = {rule.id for rule in found}, {rule.id for rule in found if rule.law}

    def kept(**options):
        settings = replace(SETTINGS, **options)
        return settings.selection.rules(settings.selection.rule_patterns(found, named), found)

    assert kept() == everything
    assert kept(select=SHAPES) == kept(select=("*/ddl/*",)) == kept(select=(f"{NAME}/v*",)) == everything
    assert kept(select=(f"{NAME}/law",)) == kept(select=(*SHAPES, f"{NAME}/law/*")) == laws
    assert (kept(exclude=(f"{NAME}/law/*",)), kept(exclude=("*/fault/*",))) == (everything - laws, everything)
    assert kept(select=(f"{NAME}/value",), exclude=(f"{NAME}/value/integer",)) == {
        i for i in everything if i.startswith(f"{NAME}/value/") and not i.endswith("/integer")
    }


def test_a_sample_is_seeded_and_in_order():
    items = list(range(100))
    assert sample(1, "a", items, 10) == sample(1, "a", items, 10) == sorted(sample(1, "a", items, 10))
    assert sample(1, "a", items, 10) != sample(2, "a", items, 10)
    assert (sample(1, "a", items, 1000), sample(1, "a", [], 5)) == (items, [])


HOSTILE_FILES = [
    *("", "[]", "{}", "5", "null", '{"version": 1}', '{"version": 2}', "[" * 100_000, '{"version": 1, "case": []}', "\x00"),
]


@pytest.mark.parametrize("text", HOSTILE_FILES, ids=range(len(HOSTILE_FILES)))
def test_a_file_that_is_no_crash_file_is_refused(tmp_path, text):
    path = tmp_path / "x.json"
    path.write_text(text, "utf-8")
    with pytest.raises(UsageError, match=r"x\.json"):
        replay.load(path)


def test_a_crash_file_without_messages_or_with_impossible_ones_is_refused(tmp_path, named):
    case = named[0]
    data = {"version": 1, "id": "i", "rule": "r", "decoder": "d", "level": "both", "mapping": {}, "versions": {}}
    path = tmp_path / "x.json"
    path.write_text(json.dumps(data | {"case": codec.dump_case(case)}), "utf-8")
    assert replay.load(path).case == case
    path.write_text(json.dumps(data | {"case": codec.dump_case(replace(case, written=()))}), "utf-8")
    with pytest.raises(UsageError, match="a case needs a message"):
        replay.load(path)
    far = codec.dump_case(case)
    far["written"][0]["message"]["timestamp_ms"] = 10**30
    path.write_text(json.dumps(data | {"case": far}), "utf-8")
    with pytest.raises(UsageError, match=r"timestamp_ms: must be from -1"):
        replay.load(path)


def test_a_failure_that_is_not_there_is_named_with_the_nearest(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    FAILURES.mkdir(parents=True)
    (FAILURES / "ticdc-value-12345678.json").write_text("{}", "utf-8")
    with pytest.raises(UnknownName, match="Did you mean 'ticdc-value-12345678'"):
        replay.find("ticdc-value-12345677")
    assert replay.find("ticdc-value-12345678") == FAILURES / "ticdc-value-12345678.json"
    assert replay.find(str(FAILURES / "ticdc-value-12345678.json")).is_file()


def test_what_only_a_crash_file_names_is_told(tmp_path, named):
    crash = replay.Crash("i", "r", "cmd:/usr/bin/touch x", "both", {"after": "row.after"}, named[0])
    own = replace(crash, decoder=REFERENCE, mapping={})
    assert replay.unnamed([own], None, {}) == []
    assert replay.unnamed([crash, crash], None, {}) == ["decoder 'cmd:/usr/bin/touch x'", "--map 'after=row.after'"]
    assert replay.unnamed([crash], "mine.py:decode", {"after": "other"}) == ["--map 'after=row.after'"]
    assert replay.unnamed([crash], "mine.py:decode", {"after": "row.after"}) == []
    assert replay.unnamed([replace(own, decoder="os:system")], None, {}) == ["decoder 'os:system'"]
