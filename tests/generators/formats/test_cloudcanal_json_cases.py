"""Every case of the formats that write MySQL values as texts (CloudCanal's two, Tencent DTS) through writer, rules and lies:
what a perfect decoder would return is judged by the judge itself."""

from __future__ import annotations

import dataclasses
import json
from collections import Counter
from collections.abc import Mapping
from fnmatch import fnmatchcase
from functools import cache
from typing import Any

import pytest

from conformance.cases.catalogue import named_cases
from conformance.judging.compare import Typed
from conformance.judging.judge import Judge, Verdict
from conformance.judging.output import OutputRow
from conformance.rules.base import Obligation, rules
from conformance.selftest.lies.base import Lie, lies
from generators.drawing.cases import LAYOUT, as_case, boundary_scenarios
from generators.families.cloudcanal.messages import RELEASE
from generators.model import (
    Case,
    Cell,
    Change,
    Column,
    History,
    Json,
    Kind,
    Logical,
    Scenario,
    SchemaChange,
    State,
    Table,
    Written,
    ZeroDate,
)
from generators.sources import mysql
from generators.sources.boundaries import START, insert
from generators.sources.boundaries import scenarios as generic
from generators.wire_format import Format, Profile, get

NAMES = ("cloudcanal-json", "cloudcanal-canal-json", "tencent-dts-json")
FLIPS = [(name, lie) for name in NAMES for lie in lies(name) if lie.alter is None]

FAMILY: Mapping[Logical, str] = {
    Logical.INT: "int",
    Logical.YEAR: "int",
    Logical.BIT: "int",
    Logical.ENUM: "int",
    Logical.SET: "int",
    Logical.TEXT: "string",
    Logical.JSON: "string",
    Logical.TIME: "interval",
    Logical.DATETIME: "timestamp_ntz",
    Logical.DECIMAL: "decimal",
    Logical.FLOAT: "float",
    Logical.DOUBLE: "double",
    Logical.BINARY: "binary",
    Logical.DATE: "date",
    Logical.TIMESTAMP: "timestamp",
}


def returned(change: Change, level: int) -> OutputRow:
    """A perfect decoder's row for a change."""
    fields: dict[str, Any] = {}
    if level == 1:
        fields = {n: getattr(change, n) for n in ("database", "schema", "table", "keys", "sql", "position", "types")}
        fields["commit_time"] = change.commit_time_us
    sides = [_image(change.image(side, level), level) for side in ("before", "after")]
    return OutputRow(
        change.row,
        change.kind.value,
        change.op.value if change.op else None,
        fields,
        *sides,
        error="unreadable" if change.kind is Kind.CORRUPT else None,
    )


def _image(image: Mapping[str, Cell] | None, level: int) -> dict[str, Any] | None:
    if image is None:
        return None
    if level == 1:
        return {name: cell.text for name, cell in image.items() if cell.state is not State.ABSENT}
    return {name: _typed(cell) for name, cell in image.items()}


def _typed(cell: Cell) -> Typed | None:
    value, family = cell.value, FAMILY[cell.type.logical]
    if value is None or isinstance(value, ZeroDate):
        return None
    if isinstance(value, Json):
        return Typed(family, json.dumps(value.value))
    if family == "decimal" and (cell.type.precision or 0) > 38:
        return Typed("string", str(value))
    return Typed(family, value)


def outputs(case: Case, written: tuple[Written, ...]) -> list[list[OutputRow]]:
    """What a perfect decoder returns for each message, at level two of the case's table alone."""
    table = case.tables[0].name if case.level == 2 else None

    def wanted(change: Change) -> bool:
        return case.level == 1 or change.kind is Kind.CORRUPT or (change.kind is Kind.ROW and change.table == table)

    return [[returned(change, case.level) for change in one.changes if wanted(change)] for one in written]


def judged(judge: Judge, case: Case, written: tuple[Written, ...]) -> Verdict:
    return judge.judge(case, outputs(case, written), case.tables[0].name if case.level == 2 else None).verdict


@pytest.mark.parametrize("name", NAMES)
def test_a_perfect_decoder_passes_and_every_rule_owns_something(name: str) -> None:
    fmt, judge = get(name), Judge(rules(name))
    verdicts = Counter(judged(judge, case, case.written) for case in named_cases(fmt, fmt.profiles))
    assert set(verdicts) <= {Verdict.PASS, Verdict.REJECTED, Verdict.INFORMATIONAL}
    assert verdicts[Verdict.PASS] > 700 * len(fmt.profiles)
    assert verdicts[Verdict.REJECTED] > 20 * len(fmt.profiles)
    found = [rule for rule in judge.rules if not rule.law]
    assert [rule.id for rule in found if not judge.compared[rule.id]] == []
    assert all(rule.citations for rule in found)
    assert len({rule.statement for rule in found}) == len(found)


@pytest.mark.parametrize("name", NAMES)
def test_few_cells_are_left_open_and_each_says_why(name: str) -> None:
    fmt = get(name)
    counts: Counter[State] = Counter()
    for case in named_cases(fmt, fmt.profiles):
        for change in (c for one in case.written for c in one.changes):
            for side in ("before", "after"):
                for cell in (change.image(side, case.level) or {}).values():
                    counts[cell.state] += 1
                    assert cell.reason or cell.state not in (State.ANY, State.ONE_OF)
    assert (counts[State.ANY] + counts[State.ONE_OF]) * 100 < sum(counts.values())


@pytest.mark.parametrize("name", NAMES)
def test_scenarios_have_names_and_tables_of_their_own(name: str) -> None:
    fmt = get(name)
    for profile in fmt.profiles:
        names = [scenario.name for scenario in boundary_scenarios(fmt, profile)]
        assert len(set(names)) == len(names)
        own = [s.name for s in fmt.scenarios(profile, profile.database)]
        large = names.count("shape/megabyte")
        assert large == (profile is fmt.profiles[0])
        assert own and len(names) - len(own) - large == len(list(generic(profile.database, fmt.supports)))


@pytest.mark.parametrize("name", NAMES)
def test_the_same_history_gives_the_same_bytes(name: str) -> None:
    fmt = get(name)
    for profile in fmt.profiles:
        for scenario in fmt.scenarios(profile, profile.database):
            assert fmt.write(scenario.history, profile, LAYOUT) == fmt.write(scenario.history, profile, LAYOUT)


@cache
def honest(name: str, profile: str) -> tuple[tuple[Scenario, Case], ...]:
    fmt = get(name)
    chosen = fmt.profile(profile)
    return tuple((scenario, as_case(fmt, chosen, scenario)) for scenario in boundary_scenarios(fmt, chosen))


@pytest.mark.parametrize(("name", "flip"), FLIPS, ids=[f"{name}: {flip.name}" for name, flip in FLIPS])
def test_a_flipped_fact_changes_bytes_and_convicts_its_rule_or_none(name: str, flip: Lie) -> None:
    """The lying bytes, perfectly decoded, against the honest expectation."""
    fmt, judge = get(name), Judge(rules(name))
    lying = dataclasses.replace(fmt.profile(flip.profile), **{flip.field: flip.value})
    changed = False
    for scenario, case in honest(name, flip.profile):
        if not fnmatchcase(scenario.name, flip.scenario):
            continue
        lie = tuple(fmt.write(scenario.history, lying, LAYOUT))
        mine = [(one.message.value, one.message.partition) for one in case.written]
        changed = changed or mine != [(one.message.value, one.message.partition) for one in lie]
        judged(judge, case, lie)
    assert changed
    broken = {rule for rule, count in judge.broken.items() if count}
    assert broken == ({flip.convicts} if flip.convicts else set())


@pytest.mark.parametrize("name", NAMES)
def test_every_fact_of_a_profile_has_a_flip(name: str) -> None:
    fmt: Format[Any] = get(name)
    facts = {f.name for f in dataclasses.fields(fmt.profiles[0])} - {"release", "options", "assumed", "source"}
    # A topic is no byte of a message: tests of the formats' options hold it.
    facts.discard("ddl_topic")
    assert {flip.field for of, flip in FLIPS if of == name} == facts


CONTRADICTIONS = {
    "cloudcanal-json": (
        *(f"cloudcanal#{n}" for n in ("table-changes", "keys-empty", "types-after", "ddl-key")),
        *(f"cloudcanal#{n}" for n in ("action", "ddl-example", "bid", "pairing-open", "delete-open", "before-whole-open")),
    ),
    "cloudcanal-canal-json": (
        *(f"cloudcanal#canal-{n}" for n in ("ddl-example", "keys", "types-after", "type", "id", "old-open")),
        *("cloudcanal#pairing-open", "cloudcanal#before-whole-open"),
    ),
    "tencent-dts-json": (
        *(
            f"tencent#{n}"
            for n in ("heartbeat", "checkpoint", "ddl-names", "position-number", "fragments", "source-type", "null")
        ),
        *(f"tencent#{n}" for n in ("absent-fields", "json-shapes", "type-numbers", "pairing", "datetime-example", "day-first")),
        *(f"tencent#{n}" for n in ("timestamp-epoch", "not-covered", "zero-dates", "binary-trailing-zeros", "null")),
    ),
}
"""What a vendor's page contradicts or leaves open, as facts."""


@pytest.mark.parametrize("name", NAMES)
def test_every_contradiction_is_cited_by_a_rule(name: str) -> None:
    cited = {citation.where for rule in rules(name) for citation in rule.citations}
    assert [fact for fact in CONTRADICTIONS[name] if fact not in cited] == []


def test_what_the_vendor_leaves_open_is_no_must() -> None:
    open_ = {
        "cloudcanal-json/value/bits": Obligation.UNSPECIFIED,
        "cloudcanal-json/value/enum": Obligation.UNSPECIFIED,
        "cloudcanal-json/value/binary": Obligation.SHOULD,
        "cloudcanal-json/rows/deleted-in-before": Obligation.SHOULD,
        "cloudcanal-canal-json/value/set": Obligation.UNSPECIFIED,
        "tencent-dts-json/fault/odd-nibble": Obligation.UNSPECIFIED,
        "tencent-dts-json/value/datetime-day-first": Obligation.UNSPECIFIED,
        "tencent-dts-json/value/binary": Obligation.MUST,
        "tencent-dts-json/value/timestamp": Obligation.SHOULD,
    }
    found = {rule.id: rule.obligation for name in NAMES for rule in rules(name)}
    assert {name: found[name] for name in open_} == open_


def test_profiles_share_few_deployments() -> None:
    for name in NAMES:
        profiles: tuple[Profile, ...] = get(name).profiles
        assert len({profile.deployment for profile in profiles}) == 2
        assert all(profile.assumed for profile in profiles)


@pytest.mark.parametrize("name", ["cloudcanal-json", "cloudcanal-canal-json", "cloudcanal-debezium"])
def test_ddl_goes_to_the_topic_that_the_parameter_names(name: str) -> None:
    """cloudcanal#ddl-partition."""
    fmt = get(name)
    table = Table("d", "t", (Column("id", mysql.integer("bigint")),), ("id",))
    added = SchemaChange(START, "add column", "ALTER TABLE t ADD COLUMN d int", "d", "t", table, table)
    events = (added, insert(table, {"id": 1}))
    topics = {
        option: [sent.message.topic for sent in fmt.write(History(events), fmt.profile(f"{RELEASE}{option}"), LAYOUT)]
        for option in ("", "+ddl-topic")
    }
    assert topics == {"": [LAYOUT.topic] * 2, "+ddl-topic": [f"{LAYOUT.topic}_ddl", LAYOUT.topic]}
