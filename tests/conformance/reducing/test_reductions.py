"""What cases are reduced by: smaller candidates that keep the key, down to one row and column;
recorded ones lose messages.
"""

from __future__ import annotations

import datetime as dt
import itertools
import random
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from conformance.cases.catalogue import named_cases
from conformance.judging.findings import CaseResult, Finding, Verdict
from conformance.judging.results import Failure
from conformance.reducing._plain_values import simpler_values, weight
from conformance.reducing.batches import LIMITS, Batch, Limits, propose_batches
from conformance.reducing.candidates import smaller_scenarios
from conformance.reducing.hints import Hint, find_hint
from conformance.reducing.measure import measure_scenario
from conformance.reducing.recipes import Recipe, RecordedRecipe, fault_recipe
from conformance.reducing.rounds import reduce_tracks
from conformance.reducing.scenario_parts import scenario_tables, separate_databases
from conformance.reducing.tracks import Track, start_track
from conformance.rules.rules import Aspect, rules
from generators import model
from generators.drawing import strategies
from generators.drawing.cases import as_case, boundary_scenarios
from generators.errors import Refused
from generators.model import (
    History,
    Json,
    Op,
    Row,
    RowChange,
    RowImages,
    Scenario,
    SourceType,
    Value,
)
from generators.recorded import registry
from generators.sources import boundaries, databases, mysql, postgresql
from generators.sources.boundaries import (
    AWKWARD_NAMES,
    COMPOSITE,
    KEYLESS,
    change,
    insert,
    scenario,
)
from generators.wire_format import FORMATS, get

CANAL = get("ticdc-canal-json")
PROFILE = CANAL.profile("v7.1.6")
ROW = {n: f"v{i}" for i, n in enumerate(c.name for c in COMPOSITE.columns)} | {AWKWARD_NAMES[0]: 5}
QUICK = settings(max_examples=40, deadline=None, database=None)
DRAWN = strategies.histories("ticdc-canal-json", max_events=6).map(
    lambda history: Scenario("drawn", history)
)
ON_POSTGRESQL = strategies.histories("debezium-json", source="postgresql").map(
    lambda history: Scenario("drawn", history)
)


def changes(candidate: Scenario) -> list[RowChange]:
    return [event for event in candidate.history.events if isinstance(event, RowChange)]


def shape(candidate: Scenario) -> tuple[int, int, int]:
    return measure_scenario(candidate)[:3]


@pytest.mark.parametrize(
    ("type", "value", "plain"),
    [
        *(
            (mysql.integer("bigint", unsigned=True), 18446744073709551615, 0),
            (mysql.integer("int"), -7, 0),
        ),
        *(
            (mysql.decimal(10, 2), Decimal("-123.45"), Decimal(0)),
            (mysql.real("double"), -2.5e300, 0.0),
        ),
        *((mysql.bit(64), 1 << 63, 0), (mysql.text("varchar", 64), "汉字\n", "")),
        *(
            (mysql.binary("varbinary", 16), b"\xff\x00", b""),
            (mysql.temporal("date"), dt.date(2024, 2, 29), dt.date(1970, 1, 1)),
        ),
        (mysql.temporal("date"), model.ZeroDate(), dt.date(1970, 1, 1)),
        (mysql.temporal("datetime", 6), mysql.wall("2024-02-29 23:59:59.999999"), 0),
        (mysql.temporal("timestamp", 0), mysql.wall("2024-06-15 12:34:56"), 1_000_000),
        *(
            (mysql.temporal("time", 3), -3_020_399_000_000, 0),
            (mysql.year(), 2155, 0),
            (mysql.enum_of("a", "b", "c"), 3, 0),
        ),
        *(
            (mysql.set_of("a", "b", "c"), 0b101, 0),
            (mysql.json(), Json({"a": [1, "x"]}), Json({})),
            (postgresql.boolean(), 1, 0),
        ),
        (postgresql.enum_of("sad", "ok"), "sad", "ok"),
        (
            postgresql.uuid(),
            "6f1c2a30-8b4e-4f7a-9d21-0c5e7a3b9f10",
            "00000000-0000-0000-0000-000000000000",
        ),
        (postgresql.array("integer"), Json([1, None]), Json([])),
    ],
)
def test_the_plainest_value_of_a_type_comes_first(
    type: SourceType, value: Value, plain: Value
) -> None:
    assert simpler_values(type, value)[0] == plain


@pytest.mark.parametrize("source", databases.SOURCES)
def test_every_simpler_value_fits_its_type_and_weighs_less(source: str) -> None:
    dialect = databases.source(source)
    for slug, kind in dialect.types.items():
        for value in dialect.boundary_values(slug).values():
            for other in simpler_values(kind, value):
                assert dialect.fits(kind, other), (slug, value, other)
                assert 0 < weight(kind, other) < weight(kind, value), (slug, value, other)


@QUICK
@given(st.data())
def test_simpler_values_of_drawn_ones_fit_and_weigh_less(data: st.DataObject) -> None:
    kind = data.draw(strategies.types() | strategies.types(source="postgresql"))
    value = data.draw(strategies.values(kind))
    assert all(
        databases.fits(kind, other) and weight(kind, other) < weight(kind, value)
        for other in simpler_values(kind, value)
    )


def test_a_boundary_is_among_the_simpler_values_of_what_lies_beyond_it() -> None:
    assert 1 << 63 in simpler_values(mysql.integer("bigint", unsigned=True), 18446744073709551615)
    assert (1 << 53) + 1 in simpler_values(mysql.integer("bigint"), 9_223_372_036_854_775_807)


@pytest.mark.parametrize(
    ("day", "in_1970"), [("2023-12-31", "1970-12-31"), ("2024-02-29", "1970-02-28")]
)
def test_a_day_of_1970_is_among_the_simpler_values_of_a_date(day: str, in_1970: str) -> None:
    simpler = simpler_values(mysql.TYPES["date"], dt.date.fromisoformat(day))
    assert dt.date.fromisoformat(in_1970) in simpler


def test_null_is_the_plainest_and_has_nothing_simpler() -> None:
    assert (weight(mysql.json(), None), simpler_values(mysql.json(), None)) == (0, [])


@QUICK
@given(DRAWN | ON_POSTGRESQL, st.integers(0, 5), st.booleans(), st.data())
def test_every_candidate_is_smaller_and_keeps_what_is_left_of_the_key(
    drawn: Scenario, event: int, named: bool, data: st.DataObject
) -> None:
    names = [c.name for table in scenario_tables(drawn) for c in table.columns]
    where = Hint(event, 0, data.draw(st.sampled_from(names)) if named else None)
    keyed = all(table.handle_key for table in scenario_tables(drawn))
    for smaller in smaller_scenarios(drawn, where):
        assert measure_scenario(smaller) < measure_scenario(drawn)
        assert smaller.history.events
        for change_ in changes(smaller):
            assert {c.name for c in change_.table.columns} >= set(change_.table.handle_key)
            assert change_.table.handle_key or not keyed
            for image in (
                image
                for images in change_.rows
                for image in (images.before, images.after)
                if image is not None
            ):
                assert list(image) and set(image) == {c.name for c in change_.table.columns}
                assert all(
                    databases.fits(change_.table.column(name).type, value)
                    for name, value in image.items()
                )


@pytest.mark.parametrize("name", AWKWARD_NAMES[2:])
def test_a_cell_is_reduced_to_the_key_and_its_column_at_once(name: str) -> None:
    first, second, *_ = smaller_scenarios(
        scenario("s", insert(COMPOSITE, ROW), level=2), Hint(column=name)
    )
    assert {c.name for c in changes(second)[0].table.columns} == {*COMPOSITE.primary_key, name}
    assert ([c.name for c in changes(first)[0].table.columns], changes(first)[0].table.name) == (
        ["c", "c1", "c2"],
        "t",
    )
    assert changes(first)[0].table.database == "pool"


def test_short_names_never_meet_another_column() -> None:
    table = boundaries.one_column("d", "t", mysql.integer("int"))
    columns = (
        *table.columns,
        replace(table.columns[1], name="null"),
        replace(table.columns[1], name="C1"),
    )
    row: Row = {"id": 1, "c": 2, "null": 3, "C1": 4}
    for smaller in smaller_scenarios(
        scenario("s", insert(replace(table, columns=columns), row)), Hint()
    ):
        names = [c.name.casefold() for c in changes(smaller)[0].table.columns]
        assert len(names) == len(set(names)) == len(changes(smaller)[0].rows[0].after or ())


def test_the_failing_row_of_many_is_tried_first() -> None:
    rows = [(None, {"a": i, "b": "x", "c": None}) for i in range(5)]
    first = next(
        smaller_scenarios(
            scenario("s", change(KEYLESS, Op.INSERT, *rows), level=2),
            Hint(row_number=3, column="a"),
        )
    )
    assert changes(first)[0].rows == (RowImages(None, {"a": 3}),)


def test_rows_are_tried_alone_and_without_each_half() -> None:
    rows = [(None, {"a": i, "b": "x", "c": None}) for i in range(3)]
    smaller = list(
        smaller_scenarios(
            scenario("s", change(KEYLESS, Op.INSERT, *rows), level=2), Hint(column="a")
        )
    )
    kept = [
        tuple(images.after.get("a") for images in changes(candidate)[0].rows)
        for candidate in smaller
    ]
    assert {(0,), (1,), (2,), (1, 2), (0, 2), (0, 1)} <= set(kept)


def test_the_smallest_scenario_has_no_candidate() -> None:
    table = replace(boundaries.one_column("d", "t", mysql.integer("int")), name="t")
    (key_alone,) = smaller_scenarios(
        scenario("s", change(table, Op.INSERT, (None, {"id": 0, "c": None}))), Hint(column="c")
    )
    assert [column.name for column in changes(key_alone)[0].table.columns] == ["id"]
    assert list(smaller_scenarios(key_alone, Hint())) == []


def test_a_database_of_its_own_is_told_in_statements_too() -> None:
    table = boundaries.one_column("d`b", "t", mysql.integer("int"))
    ddl = model.SchemaChange(
        model.Instant(1), "drop table", "DROP TABLE `d``b`.`t`", "d`b", "t", table
    )
    row = insert(table, {"id": 1, "c": 2})
    moved = separate_databases(Scenario("s", History((row, ddl))), "xy").history.events
    assert moved[0] == insert(
        separate_databases(scenario("s", row), "xy").history.events[0].table, {"id": 1, "c": 2}
    )
    assert moved[0].table.database == "d`bxy"
    assert (moved[1].sql, moved[1].database, moved[1].before.database) == (
        "DROP TABLE `d``bxy`.`t`",
        "d`bxy",
        "d`bxy",
    )


@pytest.mark.parametrize("name", FORMATS[::3])
def test_every_fault_is_written_again_as_the_catalogue_has_it(name: str) -> None:
    fmt = get(name)
    profile = fmt.profiles[0]
    cases = [
        case
        for case in named_cases(fmt, [profile])
        if case.id.startswith(f"{name}/{profile.name}/fault/")
    ]
    assert len(cases) > 30
    for case in cases:
        base = fault_recipe(fmt, profile, case)
        assert base is not None, case.id
        assert base.recipe.case(base.scenario) == case


def test_a_case_of_no_fault_has_no_base() -> None:
    case = as_case(
        CANAL, PROFILE, scenario("shape/insert", insert(KEYLESS, {"a": 1, "b": None, "c": None}))
    )
    assert fault_recipe(CANAL, PROFILE, case) is None


@pytest.mark.parametrize("name", FORMATS)
def test_a_writer_takes_every_candidate_of_a_named_scenario_or_refuses_it_on_purpose(
    name: str,
) -> None:
    fmt = get(name)
    profile = fmt.profiles[-1]
    recipe = Recipe(fmt, profile)
    taken: Counter[str] = Counter()
    for named in random.Random(name).sample(list(boundary_scenarios(fmt, profile)), 30):
        for smaller in itertools.islice(smaller_scenarios(named, Hint()), 0, 24, 7):
            try:
                taken["written" if recipe.case(smaller).written else "empty"] += 1
            except Refused:
                taken["refused"] += 1
    assert taken["written"] > 10 * taken["refused"]


def track_of(drawn: Scenario, finding: Callable[[Scenario, Any], Finding | None]) -> Track:
    case = as_case(CANAL, PROFILE, drawn)
    first = finding(drawn, case)
    assert first is not None
    result, rule = (
        CaseResult(case, Verdict.FAIL, (first,)),
        next(rule for rule in rules(CANAL.name) if rule.id == first.rule),
    )
    size = measure_scenario(drawn, sum(w.message.size for w in case.written))
    return Track(
        Failure(rule, first, result, 1),
        Recipe(CANAL, PROFILE),
        drawn,
        case,
        first,
        result,
        size,
        size,
    )


def oracle(
    finding: Callable[[Scenario, Any], Finding | None], asked: list[list[Batch]] | None = None
):
    """Judges candidates without a decoder."""

    def ask(batches):
        if asked is not None:
            asked.append(list(batches))
        for candidate in (c for batch in batches for c in batch.candidates):
            first = finding(candidate.scenario, candidate.case)
            yield (
                candidate,
                CaseResult(
                    candidate.case,
                    Verdict.FAIL if first else Verdict.PASS,
                    (first,) if first else (),
                ),
            )

    return ask


def cell_fails(predicate: Callable[[SourceType, Value], bool]):
    """Fails where some cell satisfies a predicate, and tells which, as the judge does."""

    def finding(drawn: Scenario, case: Any) -> Finding | None:
        for number, event in enumerate(drawn.history.events):
            for row, images in enumerate(event.rows if isinstance(event, RowChange) else ()):
                for side, image in (("before", images.before), ("after", images.after)):
                    for name, value in (image or {}).items():
                        if predicate(event.table.column(name).type, value):
                            messages = [
                                i for i, w in enumerate(case.written) if w.message.event == number
                            ] or [0]
                            where = (
                                messages[min(row, len(messages) - 1)],
                                0,
                                Aspect.VALUE,
                                f"{side}[{name!r}]",
                            )
                            return Finding(
                                case.id, "ticdc-canal-json/cell/value", *where, "", "", side, name
                            )
        return None

    return finding


@settings(max_examples=60, deadline=None, database=None)
@given(DRAWN, st.data())
def test_a_failing_cell_ends_at_one_row_and_at_most_one_column_beside_the_key(
    drawn: Scenario, data: st.DataObject
) -> None:
    images = [
        (e.table, image)
        for e in changes(drawn)
        for row in e.rows
        for image in (row.before, row.after)
        if image
    ]
    cells = [
        (table.column(name).type, value) for table, image in images for name, value in image.items()
    ]
    kind, value = data.draw(st.sampled_from(cells))
    least = data.draw(st.integers(0, weight(kind, value)))
    fails = cell_fails(lambda k, v: k == kind and weight(k, v) >= least)
    assume(as_case(CANAL, PROFILE, drawn).written)
    track = track_of(drawn, fails)
    asked: list[list[Batch]] = []
    reduce_tracks([track], oracle(fails, asked), Limits(rounds=100))
    assert len(asked) < 60
    (event,) = changes(track.scenario)
    assert (track.scenario.history.events, len(event.rows)) == ((event,), 1)
    assert len([c for c in event.table.columns if c.name not in event.table.handle_key]) <= 1
    assert len(event.table.columns) <= 2
    assert (fails(track.scenario, track.case), track.case.id) == (
        track.finding,
        "ticdc-canal-json/v7.1.6/drawn",
    )


@QUICK
@given(DRAWN)
def test_reduction_ends_whether_everything_fails_or_nothing_does(drawn: Scenario) -> None:
    assume(as_case(CANAL, PROFILE, drawn).written)
    always, never = (
        track_of(drawn, cell_fails(lambda _k, _v: True)),
        track_of(drawn, cell_fails(lambda _k, _v: True)),
    )
    reduce_tracks([always], oracle(cell_fails(lambda _k, _v: True)), Limits(rounds=200))
    asked: list[list[Batch]] = []
    reduce_tracks([never], oracle(lambda _s, _c: None, asked), Limits(rounds=200))
    assert (shape(always.scenario), propose_batches([always])) == ((1, 1, 1), [])
    assert never.scenario is drawn
    assert len(asked) < 200
    assert propose_batches([never]) == []


def test_a_value_ends_at_the_smallest_that_still_fails() -> None:
    kind = mysql.integer("bigint", unsigned=True)
    table = boundaries.one_column("db", "amounts", kind)
    fails = cell_fails(lambda k, v: k == kind and v is not None and v >= 1 << 63)
    track = track_of(
        scenario("drawn", insert(table, {"id": 12345, "c": 18446744073709551615})), fails
    )
    reduce_tracks([track], oracle(fails))
    assert changes(track.scenario)[0].rows == (
        RowImages(None, {"id": 0, "c": 9_223_372_036_854_775_808}),
    )
    assert changes(track.scenario)[0].table.name == "t"


def test_a_rule_that_needs_a_name_keeps_it() -> None:
    def fails(drawn: Scenario, case: Any) -> Finding | None:
        (event,) = changes(drawn)
        finding = Finding(
            case.id,
            "ticdc-canal-json/cell/value",
            0,
            0,
            Aspect.VALUE,
            "after['a`b']",
            "",
            "",
            "after",
            "a`b",
        )
        return finding if any(c.name == "a`b" for c in event.table.columns) else None

    table = boundaries.one_column("db", "quoted", mysql.integer("int"))
    columns = (*table.columns, replace(table.columns[1], name="a`b", type=mysql.text()))
    named = insert(replace(table, columns=columns), {"id": 9, "c": 8, "a`b": "text"})
    track = track_of(scenario("drawn", named), fails)
    reduce_tracks([track], oracle(fails))
    assert [c.name for c in changes(track.scenario)[0].table.columns] == ["id", "a`b"]
    assert changes(track.scenario)[0].table.name == "t"


def test_a_smaller_case_that_breaks_another_rule_does_not_count() -> None:
    def fails(drawn: Scenario, case: Any) -> Finding:
        rule = "cell/value" if len(changes(drawn)[0].table.columns) > 2 else "cell/null"
        return Finding(
            case.id,
            f"ticdc-canal-json/{rule}",
            0,
            0,
            Aspect.VALUE,
            "after['a']",
            "",
            "",
            "after",
            "a",
        )

    track = track_of(scenario("drawn", insert(KEYLESS, {"a": 5, "b": "x", "c": 8_000_000})), fails)
    reduce_tracks([track], oracle(fails))
    assert changes(track.scenario)[0].rows == (RowImages(None, {"a": 0, "b": "", "c": None}),)
    assert track.finding.rule == "ticdc-canal-json/cell/value"


def test_candidates_of_one_call_never_share_a_table_at_level_one_and_always_at_level_two() -> None:
    fails, rows = (
        cell_fails(lambda k, v: v is not None),
        [(None, {"a": i, "b": "x" * i, "c": None}) for i in range(4)],
    )
    level_one = [
        track_of(Scenario("drawn", History((change(KEYLESS, Op.INSERT, *rows),))), fails)
        for _ in range(3)
    ]
    level_two = [
        track_of(Scenario("drawn", History((change(KEYLESS, Op.INSERT, *rows),)), 2), fails)
        for _ in range(3)
    ]
    (first, *more) = propose_batches([*level_one, *level_two])
    assert (first.level, first.table) == (1, None)
    homes = [(t.database, t.name) for candidate in first.candidates for t in candidate.case.tables]
    assert len(homes) == len(set(homes)) > LIMITS.candidates
    assert {batch.level for batch in more} == {2}
    assert all({c.case.tables for c in batch.candidates} == {(batch.table,)} for batch in more)
    assert len(more) == len({batch.table for batch in more}) == LIMITS.tables
    assert all(len({c.track for c in batch.candidates}) == 3 for batch in more)


def test_a_round_has_no_more_calls_than_it_may_and_the_rest_has_its_turn() -> None:
    kinds = [mysql.integer("int"), mysql.text("varchar", 9), mysql.year(), mysql.temporal("date")]
    values: list[Value] = [7, "seven", 2007, dt.date(2007, 7, 7)]
    fails = cell_fails(lambda k, v: v is not None and k.name != "bigint")
    tracks = [
        track_of(
            scenario(
                "drawn",
                insert(boundaries.one_column("pool", f"t{i}", kind), {"id": 5, "c": value}),
                level=2,
            ),
            fails,
        )
        for i, (kind, value) in enumerate(zip(kinds, values, strict=True))
    ]
    few = Limits(rounds=50, round_calls=2)
    assert (len(propose_batches(tracks, few)), [track.deferred for track in tracks[2:]]) == (
        2,
        [True, True],
    )
    for track in tracks:
        track.tried_hashes.clear()
    reduce_tracks(tracks, oracle(fails), few)
    assert [changes(track.scenario)[0].rows[0].after["c"] for track in tracks] == [
        0,
        "",
        0,
        dt.date(1970, 1, 1),
    ]


def test_what_a_finding_tells_is_the_event_the_row_and_the_column() -> None:
    rows = change(
        KEYLESS,
        Op.INSERT,
        (None, {"a": 2, "b": "y", "c": None}),
        (None, {"a": 3, "b": "z", "c": None}),
    )
    case = as_case(
        CANAL, PROFILE, scenario("drawn", insert(KEYLESS, {"a": 1, "b": "x", "c": None}), rows)
    )
    last = len(case.written) - 1
    assert find_hint(
        Finding("", "", last, 0, Aspect.VALUE, "after['b']", "", "", "after", "b"), case
    ) == Hint(1, 1, "b", last)
    assert find_hint(Finding("", "", 0, 0, Aspect.MISSING, "row 0", "", ""), case) == Hint(
        0, 0, None
    )
    assert find_hint(
        Finding("", "", 0, 0, Aspect.VALUE, "after['gone']", "", "", "after", "gone"), case
    ) == Hint(0, 0, None)


FMT = get("alibaba-canal-json")
RULE = next(rule for rule in rules(FMT.name) if rule.id.endswith("/value/unsigned"))


def case(name="alibaba-canal-json/recorded/main-1.1.8/h_live.t_int"):
    return next(recorded for recorded in registry.recorded_cases(FMT) if recorded.id == name)


def failure(whole, message):
    finding = Finding(
        whole.id, RULE.id, message, 0, Aspect.VALUE, "after['bu']", "1", "2", "after", "bu"
    )
    return Failure(RULE, finding, CaseResult(whole, Verdict.FAIL, (finding,)), 1)


@pytest.mark.parametrize("needed", [(1,), (1, 7)])
def test_the_messages_that_a_failure_needs_are_left_with_their_bytes(needed):
    whole = case()
    assert len(whole.written) == 13
    wanted = [whole.written[at].message.value for at in needed]

    def ask(batches):
        for candidate in (c for batch in batches for c in batch.candidates):
            values = [w.message.value for w in candidate.case.written]
            broken = set(wanted) <= set(values)
            finding = replace(
                failure(whole, needed[-1]).finding,
                message=values.index(wanted[-1]) if broken else 0,
            )
            yield candidate, CaseResult(candidate.case, Verdict.FAIL, (finding,) if broken else ())

    track = start_track(FMT, failure(whole, needed[-1]), lambda _case: None)
    reduce_tracks([track], ask)
    assert list(track.case.written) == [whole.written[at] for at in needed]
    assert (track.case.id, track.finding.message, track.size[0]) == (
        whole.id,
        len(needed) - 1,
        len(needed),
    )
    assert track.size < track.origin


def test_a_schema_stays_while_a_row_is_left():
    rows = case().written[:4]
    schema = model.Written(rows[0].message, (model.Change(0, model.Kind.BOOTSTRAP),))
    recipe = RecordedRecipe(FMT, FMT.profile("1.1.8"), replace(case(), written=(schema, *rows)))
    smaller = [
        recipe.case(candidate).written
        for candidate in recipe.smaller_scenarios(recipe.scenario, Hint(message=2))
    ]
    assert smaller[0] == (schema, rows[1])
    assert all(written[0] is schema for written in smaller)
    assert recipe.case(
        next(recipe.smaller_scenarios(recipe.scenario, Hint(message=0)))
    ).written == (schema,)
