"""Failures made small: what is asked of an engine, what a limit costs, and seeded faults of real
decoders reduced to one row.
"""

import contextlib
import random
from concurrent.futures import Future
from dataclasses import replace

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import strategies as st
from remembered import done

from conformance.cases.catalogue import named_cases
from conformance.engines.engine import ChildDied, DecodeRaised, DecodeTimeout
from conformance.engines.specs import DECODERS
from conformance.judging.causes import Cause, Symptom
from conformance.judging.findings import CaseResult, Finding, Verdict
from conformance.judging.judge import Judge
from conformance.judging.output import REQUIRED
from conformance.judging.perfect import perfect_rows
from conformance.judging.results import Failure
from conformance.reducing.batches import LIMITS, Batch, Limits
from conformance.reducing.decoding import Decoding, OutOfTime
from conformance.reducing.raising import _first_raising
from conformance.reducing.reduce import reduce_failures
from conformance.reducing.tracks import Candidate
from conformance.rules.rules import Aspect, rules
from conformance.running import replay
from conformance.running.replay import ReplayOutcome
from generators.drawing import strategies
from generators.drawing.cases import as_case
from generators.errors import HarnessError, Refused, UsageError
from generators.model import Column, History, Instant, Op, Origin, RowImages, Scenario, Table
from generators.sources import boundaries, databases
from generators.sources.boundaries import KEYLESS, change, insert
from generators.wire_format import get

NAME = "ticdc-canal-json"
CANAL = get(NAME)
PROFILE = CANAL.profile("v7.1.6")
MISSING = f"{NAME}/change/missing"
RETURNS = f"{NAME}/law/returns"
PATIENT = Limits(seconds=600)
NOTHING = pa.table({name: pa.nulls(0) for name in REQUIRED[1]})
ROWS = tuple((None, {"a": i, "b": "x" * i, "c": None}) for i in range(1, 5))
BIG = Scenario(
    "shape/big",
    History(
        (change(KEYLESS, Op.INSERT, *ROWS), insert(KEYLESS, {"a": 1, "b": "y", "c": 7_000_000}))
    ),
)


class Fake:
    """An engine whose decoder returns no row; `fail` gives what it raises instead, told the values
    that are decoded.
    """

    def __init__(self, directory, fail=lambda values: None) -> None:
        self.directory, self.fail = directory, fail
        self.opened, self.asked, self.released = {}, [], []

    def keep_records(self, handle, source):
        rows = pq.read_table(source.parquet).to_pylist()
        self.opened[handle] = {
            (row["topic"], row["partition"], row["offset"]): row["value"] for row in rows
        }
        return done(len(self.opened[handle]))

    def decode(self, request):
        places = (
            (t, p, offset) for t, p, low, high in request.ranges for offset in range(low, high + 1)
        )
        values = [self.opened[request.handle][place] for place in places]
        self.asked.append((request, values))
        return done(self.fail(values) or NOTHING)

    def release(self, handle):
        self.released.append(handle)


def failed(scenario=BIG, rule=MISSING, **finding):
    """The failure of a scenario by a rule."""
    case = as_case(CANAL, PROFILE, scenario)
    first = Finding(case.id, rule, 0, 0, Aspect.MISSING, "row 0", "ROW INSERT", "no output row")
    verdict = Verdict.ERRORED if rule == RETURNS else Verdict.FAIL
    result = CaseResult(
        case, verdict, (replace(first, **finding),), note="raised" if rule == RETURNS else ""
    )
    return Failure(next(r for r in rules(NAME) if r.id == rule), result.findings[0], result, 7)


def shrunk(engine, *failures, fmt=CANAL, scenario_of=lambda _case: BIG, limits=LIMITS, notes=None):
    """What comes of failures."""
    note = (lambda _text: None) if notes is None else notes.append
    return reduce_failures(
        fmt,
        failures,
        Decoding(engine, "mine", {}, Judge(rules(fmt.name)), limits),
        scenario_of,
        note,
    )


def values(failure):
    """The values of a failure's messages."""
    return [w.message.value for w in failure.result.case.written]


def size(failure):
    """Rows and columns of a failure's case."""
    changes = [change for w in failure.result.case.written for change in w.changes]
    return len(changes), max(
        len(image)
        for change in changes
        for image in (change.before, change.after)
        if image is not None
    )


@pytest.fixture
def fake(tmp_path):
    """A function that makes a fake engine."""
    return lambda *fail: Fake(tmp_path, *fail)


def test_a_failure_becomes_its_smallest_message_and_says_what_that_took(fake) -> None:
    engine = fake()
    (small,) = shrunk(engine, failed())
    assert size(small) == (1, 1)
    assert small.rule.id == small.finding.rule == MISSING
    assert (
        small.result.case.id
        == small.finding.case
        == small.result.case.written[0].message.case
        == f"{NAME}/v7.1.6/shape/big"
    )
    assert small.result.case.tags == BIG.tags
    assert small.result.verdict is Verdict.FAIL
    assert small.cases == 7
    assert small.reduced.startswith(
        "reduced from 2 events, 5 rows, 3 columns, 1,355 bytes to 1 row, 1 column, "
    )
    assert f" {len(values(small)[0])} bytes in 1 round, 1 call, " in small.reduced
    assert len(engine.asked) == 1
    assert engine.released == list(engine.opened) == ["shrink-1"]


def test_the_smallest_case_is_judged_and_its_messages_are_those_that_were_decoded(fake) -> None:
    engine = fake()
    (small,) = shrunk(engine, failed())
    decoded = {value for _, asked in engine.asked for value in asked}
    assert set(values(small)) <= decoded
    assert b'"table":"t"' in values(small)[0]


def test_failures_are_reduced_together_in_one_call_a_round(fake) -> None:
    alone, together = fake(), fake()
    shrunk(alone, failed())
    failures = shrunk(together, *(failed() for _ in range(5)))
    assert ([size(failure) for failure in failures], len(together.asked)) == (
        [(1, 1)] * 5,
        len(alone.asked),
    )
    assert len({tuple(values(failure)) for failure in failures}) == 5


def test_offsets_of_a_round_are_its_own_and_without_gaps(fake) -> None:
    engine = fake()
    shrunk(engine, failed(), failed())
    for places in engine.opened.values():
        by_partition = {}
        for topic, partition, offset in places:
            by_partition.setdefault((topic, partition), []).append(offset)
        assert all(offsets == list(range(len(offsets))) for offsets in by_partition.values())


def test_what_cannot_be_written_again_stays_as_it_is(fake) -> None:
    engine, law = fake(), next(rule for rule in rules(NAME) if rule.law == "batch")
    foreign = failed()
    foreign = replace(
        foreign,
        result=replace(foreign.result, case=replace(foreign.result.case, origin=Origin.FOREIGN)),
    )
    ended = failed(rule=RETURNS)
    kept = (
        foreign,
        replace(failed(), rule=law),
        replace(ended, result=replace(ended.result, verdict=Verdict.TIMEOUT)),
    )
    assert shrunk(engine, *kept) == list(kept)
    unknown = failed()
    assert (shrunk(engine, unknown, scenario_of=lambda _case: None), engine.asked) == (
        [unknown],
        [],
    )


def accepted(fault, rule):
    """The failure of a fault's case of which a decoder makes no row."""
    case = next(
        case for case in named_cases(CANAL, [PROFILE]) if case.id == f"{NAME}/v7.1.6/fault/{fault}"
    )
    owner = next(r for r in rules(NAME) if r.id == f"{NAME}/fault/{rule}")
    finding = Finding(
        case.id, owner.id, 0, 0, Aspect.ACCEPTED, "kind", "exactly one CORRUPT row", "no output row"
    )
    return Failure(owner, finding, CaseResult(case, Verdict.ACCEPTED, (finding,)), 1)


def test_a_fault_is_reduced_as_its_catalogue_has_it(fake) -> None:
    failure = accepted("trailing-brace/update", "trailing-content")
    (small,) = shrunk(fake(), failure, scenario_of=lambda _case: None)
    assert small.finding.rule == failure.rule.id
    assert values(small)[0].endswith(b'"old":null,"data":[{"id":"0"}]}}')
    assert small.result.case.tags == failure.result.case.tags


def test_a_cell_fault_is_reduced_to_one_column_beside_the_key(fake) -> None:
    failure = accepted("cell-date", "cell-type")
    (small,) = shrunk(
        fake(), failure, scenario_of=lambda _case: None, limits=Limits(rounds=30, calls=1000)
    )
    assert len(failure.result.case.tables[0].columns) > 50
    assert values(small)[0].endswith(b'"data":[{"id":"0","c":"2021-13-45"}]}')
    assert [c.name for c in small.result.case.tables[0].columns] == ["id", "c"]


class WithReference(Fake):
    """A fake engine whose decoder "reference" returns a CORRUPT row for each message that it can
    tell to be spoiled; every other decoder returns no row.
    """

    def __init__(self, directory, can_tell) -> None:
        super().__init__(directory)
        self.can_tell = can_tell

    def load(self, _decoder, _level):
        return done(None)

    def decode(self, request):
        answer = super().decode(request)
        if request.decoder != "reference":
            return answer
        places = [
            place
            for place, value in self.opened[request.handle].items()
            if place[2] in range(request.ranges[0][2], request.ranges[0][3] + 1)
            and self.can_tell(value)
        ]
        columns = {name: [None] * len(places) for name in REQUIRED[1]}
        columns |= {
            "topic": [topic for topic, _, _ in places],
            "partition": [partition for _, partition, _ in places],
            "offset": [offset for _, _, offset in places],
            "row": [0] * len(places),
            "kind": ["CORRUPT"] * len(places),
            "error": ["spoiled"] * len(places),
        }
        return done(pa.table(columns))


def reduced_with_reference(engine, notes):
    """The trailing brace of an UPDATE, accepted and reduced, and what was noted."""
    failure = accepted("trailing-brace/update", "trailing-content")
    decoding = Decoding(engine, "mine", {}, Judge(rules(NAME)), LIMITS, reference="reference")
    (small,) = reduce_failures(CANAL, [failure], decoding, lambda _case: None, notes.append)
    return failure, small


@pytest.mark.parametrize(
    ("needed", "to"),
    [
        (b"UPDATE", "1 row, 1 column"),
        (b'"a":', "1 row, 2 columns"),
        (b'"mysqlType":{"a":"varchar","b":"int"', "1 row, 3 columns"),
    ],
)
def test_a_smaller_case_is_kept_only_if_the_reference_decoder_passes_it(
    tmp_path, needed, to
) -> None:
    """A decoder that is right cannot tell a message that was reduced too far."""
    engine, notes = WithReference(tmp_path, lambda value: needed in value), []
    failure, small = reduced_with_reference(engine, notes)
    assert [needed in value for value in values(failure)] == [True]
    assert [needed in value for value in values(small)] == [True]
    assert small.reduced.startswith(f"reduced from 1 row, 3 columns, 306 bytes to {to}, ")


def test_a_failure_that_the_reference_decoder_confirms_nowhere_stays_as_it_is(tmp_path) -> None:
    notes = []
    failure, small = reduced_with_reference(WithReference(tmp_path, lambda _value: False), notes)
    assert (values(small), small.reduced) == (values(failure), "")


def test_a_case_whose_perfect_rows_break_a_rule_is_no_smaller_case(fake, monkeypatch) -> None:
    """Rows that a case owes, and its judge does not take, tell nothing of a decoder."""
    monkeypatch.setattr(
        "conformance.reducing.decoding.perfect_rows",
        lambda case, written: (
            perfect_rows(case, written) if len(case.tables[0].columns) > 1 else []
        ),
    )
    (small,) = shrunk(fake(), failed())
    assert size(small) == (1, 2)


@pytest.mark.parametrize("rule", [MISSING, RETURNS])
def test_a_smaller_case_keeps_what_the_failure_is_caused_by(fake, rule) -> None:
    fails = (lambda _values: DecodeRaised("always")) if rule == RETURNS else (lambda _values: None)
    symptom, path = (Symptom.RAISED, "decoding") if rule == RETURNS else (Symptom.LOST, "row 0")
    failure = replace(
        failed(rule=rule, path=path), cause=Cause(symptom, (("cell", "varchar", "value", "plain"),))
    )
    (small,) = shrunk(fake(fails), failure)
    assert [c.type.name for c in small.result.case.tables[0].columns] == ["varchar"]
    (other,) = shrunk(
        fake(fails),
        replace(failure, cause=Cause(symptom, (("cell", "datetime", "value", "micros"),))),
    )
    assert other == replace(failure, cause=other.cause)


@pytest.mark.parametrize("op", [Op.INSERT, Op.UPDATE, Op.DELETE])
def test_a_smaller_case_keeps_the_operation_that_the_failure_is_caused_by(fake, op) -> None:
    """A row of another operation is smaller, and lost, too."""
    row, other = {"a": 1, "b": "y", "c": 7_000_000}, {"a": 2, "b": "z", "c": None}
    images = {Op.INSERT: (None, row), Op.UPDATE: (row, other), Op.DELETE: (row, None)}
    scenario = Scenario(
        "shape/ops",
        History(tuple(change(KEYLESS, operation, pair) for operation, pair in images.items())),
    )
    number = list(images).index(op)
    failure = replace(failed(scenario, message=number), cause=Cause(Symptom.LOST, (("op", op),)))
    (small,) = shrunk(fake(), failure, scenario_of=lambda _case: scenario)
    assert [c.op for w in small.result.case.written for c in w.changes] == [op]


def test_a_rule_that_is_blamed_in_place_of_a_traits_is_reduced_by_the_traits(fake) -> None:
    plain, first = next(r for r in rules(NAME) if r.id == f"{NAME}/change/corrupt"), failed()
    failure = replace(
        first, rule=plain, finding=replace(first.finding, rule=plain.id, instead=MISSING)
    )
    (small,) = shrunk(fake(), failure)
    assert (size(small), small.finding.rule) == ((1, 1), plain.id)


def test_the_candidates_of_a_call_that_raises_are_tried_in_halves(fake) -> None:
    engine = fake(lambda _values: DecodeRaised("whole") if len(engine.asked) == 1 else None)
    (small,) = shrunk(engine, failed(), limits=Limits(rounds=1))
    whole, *halves = (asked for _, asked in engine.asked)
    assert (len(halves), sorted(halves[0] + halves[1]), size(small)) == (2, sorted(whole), (1, 1))


OTHERWISE = [ChildDied("gone"), DecodeTimeout("late"), UsageError("columns"), HarnessError("Spark")]


@pytest.mark.parametrize(
    ("error", "rule"), [*((error, MISSING) for error in OTHERWISE), (ChildDied("gone"), RETURNS)]
)
def test_a_call_that_fails_otherwise_costs_its_candidates_and_never_the_failure(
    fake, error, rule
) -> None:
    engine, failure = fake(lambda _values: error), failed(rule=rule)
    assert (shrunk(engine, failure), len(engine.asked)) == ([failure], 1)


def test_the_best_so_far_is_kept_when_the_calls_are_used_up(fake) -> None:
    engine, notes = fake(), []
    (small,) = shrunk(engine, failed(), limits=Limits(calls=1, candidates=2), notes=notes)
    assert (len(engine.asked), size(small)) == (1, (1, 1))
    assert "reduced from" in small.reduced
    assert notes[-1] == f"{NAME}: reduction stopped: 1 decode calls made"


def writer(refuses, error):
    """The format with a writer that raises on some histories."""

    def write(history, profile, layout):
        if refuses(history):
            raise error
        return CANAL.write(history, profile, layout)

    return replace(CANAL, write=write)


def test_a_history_that_a_source_cannot_have_is_no_candidate(fake) -> None:
    fmt, notes = writer(lambda history: len(history.events) < 2, Refused("one event alone")), []
    (small,) = shrunk(fake(), failed(), fmt=fmt, notes=notes)
    assert small.reduced.startswith(
        "reduced from 2 events, 5 rows, 3 columns, 1,355 bytes to 2 events, 2 rows, 1 column, "
    )
    assert not any("fault" in note for note in notes)


CRASHES = [AssertionError("no image"), KeyError("c"), TypeError("no value"), AttributeError("x")]


@pytest.mark.parametrize("error", [*CRASHES, ValueError("y"), UsageError("z")])
@pytest.mark.parametrize("rule", [MISSING, RETURNS])
def test_a_writer_that_crashes_is_the_harness_fault_and_the_failure_stays_as_it_is(
    fake, error, rule
) -> None:
    frail = replace(BIG, history=replace(BIG.history, seed=13))
    fmt, notes = writer(lambda history: history.seed == 13, error), []
    crashing, other = failed(frail, rule), failed()
    fails = (lambda _values: DecodeRaised("always")) if rule == RETURNS else (lambda _values: None)

    def scenario_of(case):
        return frail if case is crashing.result.case else BIG

    kept, small = shrunk(
        fake(fails), crashing, other, fmt=fmt, scenario_of=scenario_of, notes=notes
    )
    why = f"not reduced: a fault of the harness: writing a smaller case raised {type(error).__name__}: {error}"
    assert (kept, notes.count(f"{rule}: {why}")) == (replace(crashing, reduced=why), 1)
    assert rule == RETURNS or size(small) == (1, 1)


def test_no_call_is_made_when_the_time_is_over(fake) -> None:
    engine, notes, failure = fake(), [], failed()
    assert (shrunk(engine, failure, limits=Limits(seconds=-1), notes=notes), engine.asked) == (
        [failure],
        [],
    )
    assert notes[-1] == f"{NAME}: reduction stopped: -1 s are over"


def test_an_answer_that_does_not_come_in_time_is_not_waited_for(fake) -> None:
    engine = fake()
    engine.decode = lambda _request: Future()
    decoding, case = (
        Decoding(engine, "mine", {}, Judge(rules(NAME)), Limits(seconds=0.1)),
        as_case(CANAL, PROFILE, BIG),
    )
    batch = Batch(case.deployment, 1, None, [Candidate(None, BIG, case, (0, 0, 0, 0, 0))])
    with pytest.raises(OutOfTime), contextlib.closing(decoding([batch])) as answers:
        next(answers)
    assert engine.released == ["shrink-1"]


def test_records_that_cannot_be_opened_end_the_reduction(fake) -> None:
    engine, failure, notes = fake(), failed(), []
    engine.keep_records = lambda _handle, _source: done(HarnessError("Spark, open: no"))
    assert shrunk(engine, failure, notes=notes) == [failure]
    assert notes[-1].endswith("Spark, open: no")


def test_a_decoder_that_raises_is_reduced_by_decoding_alone(fake) -> None:
    engine = fake(
        lambda asked: (
            DecodeRaised("cannot read y") if any(b'"y"' in value for value in asked) else None
        )
    )
    (small,) = shrunk(engine, failed(rule=RETURNS, path="decoding"))
    (value,) = values(small)
    assert value.endswith(b'"data":[{"b":"y"}]}')
    assert small.rule.id == small.finding.rule == RETURNS
    assert (small.finding.path, small.finding.actual, small.result.note) == (
        "decoding",
        "cannot read y",
        "cannot read y",
    )
    assert small.result.verdict is Verdict.ERRORED
    assert small.result.findings == (small.finding,)
    assert small.reduced.startswith("reduced from 2 events, 5 rows, 3 columns")


def test_a_raising_case_keeps_the_findings_of_the_rule_on_returning_alone(fake) -> None:
    """Once for each that there was: the others' are of rows that nobody has."""
    failure = failed(rule=RETURNS, path="decoding")
    other = replace(failure.finding, rule=MISSING, path="row 0")
    failure = replace(
        failure, result=replace(failure.result, findings=(other, failure.finding, failure.finding))
    )
    (small,) = shrunk(fake(lambda _values: DecodeRaised("always")), failure)
    assert (size(small), small.result.findings) == ((1, 1), (small.finding, small.finding))
    assert (small.finding.rule, small.finding.path, small.finding.actual) == (
        RETURNS,
        "decoding",
        "always",
    )


def test_the_smallest_of_all_calls_that_raise_is_taken(fake) -> None:
    """At level two candidates of several tables are decoded in calls of their own."""
    table = replace(KEYLESS, database="pool")
    scenario = Scenario("shape/big", History((change(table, Op.INSERT, *ROWS),)), level=2)
    engine = fake(lambda _values: DecodeRaised("always"))
    (small,) = shrunk(
        engine,
        failed(scenario, RETURNS),
        scenario_of=lambda _case: scenario,
        limits=Limits(rounds=1),
    )
    calls = {request.table for request, _ in engine.asked}
    assert len(calls) > 2
    assert len(values(small)[0]) == min(len(value) for _, asked in engine.asked for value in asked)


def test_of_the_candidates_that_raise_the_smallest_is_found_by_halving(fake) -> None:
    engine = fake(
        lambda asked: (
            DecodeRaised("cannot read y") if any(b'"y"' in value for value in asked) else None
        )
    )
    decoding, texts = (
        Decoding(engine, "mine", {}, Judge(rules(NAME)), LIMITS),
        ["x", "y", "x", "y", "x", "x", "y", "x"],
    )
    inserts = [insert(KEYLESS, {"a": i, "b": text, "c": None}) for i, text in enumerate(texts)]
    cases = [
        as_case(CANAL, PROFILE, boundaries.scenario(f"s{i}", row)) for i, row in enumerate(inserts)
    ]
    candidates = [
        Candidate(None, None, case, (1, 1, 3, 100 - i, 0)) for i, case in enumerate(cases)
    ]
    batch = Batch(PROFILE.deployment, 1, None, candidates)
    assert _first_raising(decoding, decoding.open_batches([batch]), batch) == (
        candidates[6],
        "cannot read y",
    )
    assert [len(decoded) for _, decoded in engine.asked] == [8, 4, 2, 1, 1]
    texts_left = replace(batch, candidates=[candidates[0], candidates[2]])
    assert _first_raising(decoding, decoding.open_batches([texts_left]), texts_left) is None


# ---- seeded faults of real decoders, each from a large drawn case


@st.composite
def large(draw, fmt, profile, kind, level):
    """A drawn history of a table of a key and nine columns, one of them of the kind: six events of
    one to six rows each, at level two one event.
    """
    source, number, types = (
        profile.source,
        random.Random(kind),
        databases.source(profile.source).types,
    )
    others = number.sample(
        [other for name, other in types.items() if fmt.supports(other) and name != kind], 8
    )
    columns = (
        Column("failing", types[kind]),
        *(Column(f"c_{i}", other) for i, other in enumerate(others)),
    )
    database = profile.database if level == 1 else databases.source(source).pool_database
    table = Table(database, "wide", (boundaries.id_column(source), *columns), ("id",))
    at = [Instant(boundaries.START.ms + 1000 * i, 1 + i) for i in range(6 if level == 1 else 1)]
    return [
        draw(
            strategies.row_changes(table, max_rows=6, at=instant).filter(
                lambda e: len(e.rows) > level
            )
        )
        for instant in at
    ]


def seeded(fmt, profile, kind, level, value):
    """The largest of some drawn scenarios, with the value in the last row of its last event."""
    scenarios = []
    for events in strategies.draw(large(fmt, profile, kind, level), 4, 5):
        *rows, last = events[-1].rows
        put = {
            side: image and {**image, "failing": value}
            for side, image in (("before", last.before), ("after", last.after))
        }
        if value is not None:
            events[-1] = replace(events[-1], rows=(*rows, RowImages(**put)))
        scenarios.append(
            Scenario("drawn/5", History(tuple(events), 1), level, frozenset({"drawn"}))
        )
    return max(
        scenarios,
        key=lambda scenario: sum(w.message.size for w in as_case(fmt, profile, scenario).written),
    )


WRONG = """
from spark_checks.decoders import {module} as reference
from spark_checks.liars.liar import on_cells, on_columns

SQL = {sql!r}
decode = on_columns(reference.decode, **{{{where!r}: SQL}})
decode_rows = on_cells(reference.decode_rows, lambda kind: kind.key == {where!r}, lambda x, kind: SQL.format(x=x, kind=kind))
"""


DEBEZIUM = ("debezium-json", "3.5.0.Final+schemaless")
SIGNED = ("bigint unsigned", "CAST({x} - 18446744073709551616 AS {kind.spark})")
SEEDED = [
    (NAME, "v7.1.6", SIGNED, "value/unsigned-bigint", 2, "unsigned-bigint", (1 << 64) - 7),
    (*DEBEZIUM, ("before", "CAST(NULL AS map<string, string>)"), "image/sides", 1, "int", None),
]


@pytest.mark.parametrize(("name", "profile", "wrong", "rule", "level", "kind", "value"), SEEDED)
def test_a_seeded_fault_in_a_large_drawn_case_ends_as_one_row_of_at_most_two_columns_and_is_replayed(
    engine, tmp_path, name, profile, wrong, rule, level, kind, value
) -> None:
    where, sql = wrong
    (tmp_path / "wrong.py").write_text(
        WRONG.format(module=name.replace("-", "_"), where=where, sql=sql), "utf-8"
    )
    fmt, spec = get(name), f"{tmp_path / 'wrong.py'}:{'decode' if level == 1 else 'decode_rows'}"
    drawn = seeded(fmt, fmt.profile(profile), kind, level, value)
    case = as_case(fmt, fmt.profile(profile), drawn)
    assert sum(len(event.rows) for event in drawn.history.events) > 3 - level
    assert len(case.tables[0].columns) == 10
    broken, result = (
        next(r for r in rules(name) if r.id == f"{name}/{rule}"),
        decoded(engine, spec, case),
    )
    failure = Failure(broken, next(f for f in result.findings if f.rule == broken.id), result, 1)
    decoding = Decoding(engine, spec, {}, Judge(rules(name)), PATIENT)

    (small,) = reduce_failures(fmt, [failure], decoding, lambda _case: drawn, lambda _text: None)

    (written,) = small.result.case.written
    (table,) = small.result.case.tables
    assert len(written.changes) == 1
    assert len(table.columns) <= 2
    assert (small.finding.rule, small.result.case.id) == (broken.id, case.id)
    assert broken.id in {f.rule for f in decoded(engine, spec, small.result.case).findings}
    assert small.reduced.startswith("reduced from ")
    levels = "changes" if level == 1 else "rows"
    crash = replay.load(
        replay.save(tmp_path / "saved.json", replace(small, alone=True), spec, levels, {}, {})
    )
    mended = f"{DECODERS}.{name.replace('-', '_')}"
    assert [replay.replay(crash, engine, asked)[0] for asked in (None, mended)] == [
        ReplayOutcome.FAILED,
        ReplayOutcome.FIXED,
    ]


def decoded(engine, spec, case):
    """What a case comes to whose messages are decoded alone."""
    batch = Batch(case.deployment, case.level, case.tables[0] if case.level == 2 else None)
    batch.candidates.append(Candidate(None, None, case, (0, 0, 0, 0, 0)))
    ((_, result),) = Decoding(engine, spec, {}, Judge(rules(case.format)), LIMITS)([batch])
    return result
