"""The catalogue: the cases of a run, grouped into decode calls.

Every selected profile has boundary cases, format scenarios and faults; drawn cases come on top, as
many as the budget says. One call holds the cases of one format, deployment, source database and
level (and, at level two, table): a writer reads one database, and a decoder of a deployment never
sees messages of both.
"""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from functools import cache, partial
from itertools import accumulate, chain, pairwise
from typing import Any, Final

from conformance.cases import kept
from generators.drawing.cases import as_case, boundary_scenarios, case_id
from generators.errors import Refused, UnknownName, UsageError
from generators.garbage import faults
from generators.model import Case, Deployment, Kind, Message, Origin, Scenario, Table, Written
from generators.profiles import Profile
from generators.recorded import registry as recordings
from generators.recorded.episodes import RECORDED
from generators.sources import boundaries
from generators.sources import registry as sources
from generators.wire_format import Format

FOREIGN: Final = 12
"""Messages of other tables in a level-two call, which the decoder must leave out."""
REPEATED: Final = 3
"""Messages of a level-one call that come twice."""
SPOILED: Final = 8
"""How many drawn cases of level one there are to one that is spoiled."""
_WILD: Final = re.compile(r"[*?[]")


@dataclass(frozen=True, slots=True)
class Budget:
    """A run's size: drawn cases per format beside the named ones, messages sampled for the laws,
    recorded cases per format (None: all of them), whether deployments are decoded together first
    (conformance.running.mixing), and whether the named cases are all judged, or a selection that
    covers them (conformance.cases.covering).
    """

    name: str
    drawn: int
    sampled: int
    recorded: int | None = 0
    mixed: bool = True
    covering: bool = False


BUDGETS: Final = {
    "smoke": Budget("smoke", 120, 40, 12, covering=True),
    "ci": Budget("ci", 1_000, 200, None),
    "nightly": Budget("nightly", 10_000, 200, None, mixed=False),
}


@dataclass(frozen=True, slots=True)
class Call:
    """One decode call: its cases, and at level two the requested table and messages of other tables
    of its source; `foreign` are those, at level one messages that come again.

    `version` tells recorded tables of one name apart.
    """

    format: str
    deployment: Deployment
    level: int
    cases: tuple[Case, ...]
    table: Table | None = None
    foreign: tuple[Message, ...] = ()
    source: str = "mysql"
    version: int = 0

    @property
    def name(self) -> str:
        """Its name in progress and reports."""
        packing = () if self.deployment.compression == "none" else (self.deployment.compression,)
        origin = () if self.source == "mysql" else (self.source,)
        parts = (
            *origin,
            self.deployment.time_zone,
            *packing,
            *filter(None, _options(self.deployment)[1:]),
        )
        table = self.table.name if self.table else ""
        if self.table and self.version:
            table = f"{self.table.database}.{table}#{self.version}"
        return f"{self.format} {' '.join(parts)} level {self.level} {table}".rstrip()


def budget(name: str) -> Budget:
    """The budget of that name. Raises UnknownName."""
    if name not in BUDGETS:
        raise UnknownName("budget", name, BUDGETS)
    return BUDGETS[name]


def matches(name: str, pattern: str) -> bool:
    """Whether an id is selected by a prefix (up to a `/`) or a glob."""
    return fnmatchcase(name, pattern) or name.startswith(
        pattern if pattern.endswith("/") else pattern + "/"
    )


def may_match(patterns: Sequence[str], start: str) -> bool:
    """Whether a pattern may match an id with these first parts, of which `*` stands for any; all do
    without patterns.
    """
    asked = (_WILD.split(pattern, maxsplit=1)[0].split("/") for pattern in patterns)
    parts = start.split("/")
    return not patterns or any(
        all(part == "*" or part.startswith(some) for part, some in zip(parts, wanted, strict=False))
        for wanted in asked
    )


def profiles(fmt: Format[Any], globs: str | Sequence[str] = "*") -> tuple[Profile, ...]:
    """The format's profiles that match a glob, or any of several; a name without wildcards may be
    any that its options make.

    Raises UnknownName if nothing matches, UsageError for options that do not go together.
    """
    chosen: dict[str, Profile] = {}
    unknown: UnknownName | None = None
    for glob in (globs,) if isinstance(globs, str) else globs:
        try:
            chosen |= {profile.name: profile for profile in _matching(fmt, glob)}
        except UnknownName as error:
            unknown = unknown or error
    if unknown and not chosen:
        raise unknown
    return (
        *(p for p in fmt.profiles if p.name in chosen),
        *(p for p in chosen.values() if p not in fmt.profiles),
    )


def _matching(fmt: Format[Any], glob: str) -> tuple[Profile, ...]:
    listed = tuple(profile for profile in fmt.profiles if fnmatchcase(profile.name, glob))
    if listed or set("*?[").isdisjoint(glob):
        return listed or (fmt.profile(glob),)
    raise UnknownName("profile", glob, [profile.name for profile in fmt.profiles], of=fmt.name)


def check_profiles(formats: Iterable[Format[Any]], globs: Sequence[str]) -> None:
    """Raises UnknownName unless every glob matches a profile of a format, and every format has a
    profile that matches.
    """
    several = tuple(formats)
    for glob in globs:
        problems: list[UsageError] = []
        for fmt in several:
            try:
                _matching(fmt, glob)
                break
            except UsageError as error:
                problems.append(error)
        else:
            if len(several) == 1:
                raise problems[0]
            names = [profile.name for fmt in several for profile in fmt.profiles]
            raise UnknownName("profile", glob, names, of=", ".join(fmt.name for fmt in several))
    for fmt in several:
        profiles(fmt, globs)


def _asked_for(name: str, patterns: tuple[str, ...]) -> bool:
    return not patterns or any(matches(name, pattern) for pattern in patterns)


@cache
def _named(fmt: Format[Any], profile: Profile, patterns: tuple[str, ...]) -> tuple[Case, ...]:
    """The profile's named cases whose id matches a pattern, or all without patterns: kept ones, or
    new ones, which are kept.
    """
    cases = kept.read(fmt, profile)
    if cases is not None:
        return tuple(case for case in cases if _asked_for(case.id, patterns))
    cases = made(fmt, profile, patterns)
    if not patterns:
        kept.keep(fmt, profile, cases)
    return cases


def made(fmt: Format[Any], profile: Profile, patterns: tuple[str, ...] = ()) -> tuple[Case, ...]:
    """`named_cases` of a profile, made anew; no messages are written of cases that match no
    pattern.
    """

    def asked(scenario: Scenario) -> bool:
        return _asked_for(case_id(fmt, profile, scenario), patterns)

    compression = profile.deployment.compression
    applicable = faults.applicable(fmt.faults, compression)
    unreadable = (
        (f, faults.unreadable_row(f, profile.source))
        for f in applicable
        if f.obligation == faults.MUST
    )
    cases = [
        as_case(fmt, profile, scenario)
        for scenario in boundary_scenarios(fmt, profile)
        if asked(scenario)
    ]
    for fault, scenario in (
        *faults.fault_scenarios(profile.database, profile.source, applicable),
        *unreadable,
    ):
        if asked(scenario):
            case = as_case(fmt, profile, scenario)
            with suppress(
                Refused
                # a message without a place for the fault: a flattened one has no member for its
                # kind
            ):
                cases.append(faulty(case, partial(faults.apply, fault=fault), fault.name))
    if compression == "none":
        for cell, scenario in faults.cell_fault_scenarios(
            fmt.supports, fmt.unfit_cells(profile), profile.source
        ):
            if asked(scenario):
                cases.append(
                    faulty(
                        as_case(fmt, profile, scenario),
                        partial(faults.cell_fault, fault=cell),
                        cell.name,
                    )
                )
        cases += _of_three(fmt, profile, applicable, asked)
        first = next(other for other in fmt.profiles if other.source == profile.source)
        for cell, scenario in faults.cell_text_scenarios(
            profile.database, fmt.supports, profile.source
        ):
            if fmt.container in _OF_JSON and profile is first and asked(scenario):
                with suppress(Refused):  # a form of values that level one gives another text of
                    cases.append(
                        faulty(
                            as_case(fmt, profile, scenario),
                            partial(faults.cell_text, fault=cell),
                            cell.name,
                        )
                    )
    return tuple(case for case in cases if case.written)


_OF_JSON: Final = ("json", "frames")
"""Containers whose cells stand in JSON, where the text of an unfit cell is what a decoder gives at
level one.
"""


def _of_three(
    fmt: Format[Any],
    profile: Profile,
    applicable: Iterable[faults.Fault],
    asked: Callable[[Scenario], bool],
) -> Iterator[Case]:
    """Messages of three rows that cannot be read to the end, or whose second row has an unfit cell:
    where a message holds several rows.
    """
    spoiling: list[tuple[str, Callable[[Written], Written], Scenario]] = [
        (fault.name, partial(faults.apply, fault=fault), boundaries.of_three(scenario))
        for fault, scenario in faults.fault_scenarios(profile.database, profile.source, applicable)
        if fault.tag == "truncated" and scenario.name.endswith("/insert")
    ]
    fitting = [cell for cell in fmt.unfit_cells(profile) if not faults.outside_domain(cell.name)][
        :1
    ]
    for cell, scenario in faults.cell_fault_scenarios(fmt.supports, tuple(fitting), profile.source):
        spoiling.append(
            (
                cell.name,
                partial(faults.cell_fault, fault=cell),
                boundaries.of_three(scenario, cell.column),
            )
        )
    for name, apply, scenario in spoiling:
        if asked(scenario):
            case = as_case(fmt, profile, scenario)
            if any(len(sent.changes) > 1 for sent in case.written):
                yield faulty(case, apply, name)


def faulty(case: Case, apply: Callable[[Written], Written], name: str) -> Case:
    """The case with its row messages spoiled; other messages (schemas, tombstones, deletes without
    a value) stay.
    """
    written = (apply(sent) if _has_row(sent) else sent for sent in case.written)
    return replace(case, written=tuple(written), origin=Origin.FAULT, fault=name)


def _has_row(sent: Written) -> bool:
    return sent.message.value is not None and any(c.kind is Kind.ROW for c in sent.changes)


def named_cases(
    fmt: Format[Any], selected: Sequence[Profile], patterns: tuple[str, ...] = ()
) -> Iterator[Case]:
    """Every boundary, format-specific and fault case of the profiles, or those whose id matches a
    pattern.
    """
    for profile in selected:
        yield from _named(fmt, profile, patterns)


def recorded_cases(
    fmt: Format[Any], globs: str | Sequence[str], count: int | None, select: Sequence[str] = ()
) -> tuple[Case, ...]:
    """The format's recorded cases whose profile matches: all when a selection names them, else
    `count`, evenly spread. Of these a third is at level two, on the table that has most cases: each
    further table costs a decode call for its few messages.
    """
    several = (globs,) if isinstance(globs, str) else tuple(globs)
    recorded = recordings.recorded_cases(fmt, several)
    if (
        count is None
        or count >= len(recorded)
        or any(f"/{RECORDED}/" in f"{pattern}/" for pattern in select)
    ):
        return recorded
    first = [case for case in recorded if case.level == 1]
    asked = Counter((case.deployment, case.tables[0]) for case in recorded if case.level == 2)
    most = asked.most_common(1)[0][0] if asked else None
    second = [
        case for case in recorded if case.level == 2 and (case.deployment, case.tables[0]) == most
    ]
    return (*_spread(first, count - count // 3), *_spread(second, count // 3))


def _spread(cases: Sequence[Case], count: int) -> list[Case]:
    return (
        [cases[i * len(cases) // count] for i in range(count)]
        if count < len(cases)
        else list(cases)
    )


@cache
def drawn_scenarios(
    fmt: Format[Any], selected: tuple[Profile, ...], count: int, seed: int
) -> tuple[tuple[Scenario, Profile], ...]:
    """Scenarios drawn by Hypothesis with the profile that writes each: about two thirds at level
    one, one third at level two.

    Each source's share follows the number of its profiles; the scenarios go to its profiles in
    turn. A writer may publish no event of a history, so there are some more than `count`, at the
    end.
    """
    from generators.drawing import strategies

    if not count:
        return ()
    by_source: dict[str, list[Profile]] = {}
    for profile in selected:
        by_source.setdefault(profile.source, []).append(profile)
    spare, rows = count // 8 + 8, count // 3
    parts: tuple[list[tuple[Scenario, str]], ...] = ([], [], [], [])
    for source, (few, some) in zip(
        by_source, _shares((rows, count - rows), by_source.values()), strict=True
    ):
        paired = strategies.draw(
            strategies.row_scenarios(pool_tables(fmt, seed, source)), few + spare, seed + 1
        )
        drawn = strategies.draw(strategies.scenarios(fmt, source=source), some + spare, seed)
        for part, chosen in zip(
            parts, (paired[:few], drawn[:some], paired[few:], drawn[some:]), strict=True
        ):
            part.extend((scenario, source) for scenario in chosen)
    pairs = []
    for i, (scenario, source) in enumerate(chain.from_iterable(parts)):
        profile = by_source[source][i % len(by_source[source])]
        if scenario.level == 1:
            scenario = strategies.rename(scenario, profile.database, f"_{i}")
        pairs.append(
            (replace(scenario, name=f"drawn/{seed}/{i}", tags=scenario.tags | {"drawn"}), profile)
        )
    return tuple(pairs)


def _shares(
    counts: tuple[int, int], groups: Iterable[Sequence[Profile]]
) -> Iterator[tuple[int, int]]:
    """Both counts split by the sizes of the groups, without rounding loss."""
    sizes = [len(group) for group in groups]
    ends = [0, *accumulate(sizes)]
    for start, end in pairwise(ends):
        few, some = (count * end // ends[-1] - count * start // ends[-1] for count in counts)
        yield few, some


def drawn_cases(
    fmt: Format[Any], selected: Sequence[Profile], count: int, seed: int
) -> Iterator[Case]:
    """`count` drawn cases, none of them empty: a third at level two, the others at level one."""
    left = {2: count // 3, 1: count - count // 3}
    for scenario, profile in drawn_scenarios(fmt, tuple(selected), count, seed):
        if left[scenario.level] and (case := as_case(fmt, profile, scenario)).written:
            left[scenario.level] -= 1
            yield perhaps_spoiled(fmt, profile, case)


def perhaps_spoiled(fmt: Format[Any], profile: Profile, case: Case) -> Case:
    """A drawn case; one of SPOILED at level one with rows that cannot be read: no place in a run
    has good messages alone.
    """
    chance, rows = random.Random(case.scenario), any(map(_has_row, case.written))
    if case.level == 2 or not rows or chance.randrange(SPOILED):
        return case
    applicable = faults.applicable(fmt.faults, profile.deployment.compression)
    fault = chance.choice([fault for fault in applicable if fault.tag in faults.UNREADABLE])
    spoiled = faulty(case, partial(faults.apply, fault=fault), fault.name)
    return replace(spoiled, origin=Origin.DRAWN, tags=case.tags | {f"fault:{fault.tag}"})


def find_scenario(
    fmt: Format[Any], selected: Sequence[Profile], case: Case, count: int, seed: int
) -> Scenario | None:
    """The scenario of a case: named, or drawn from the seed; None for faults."""
    if case.origin is Origin.DRAWN:
        return next(
            (
                s
                for s, _ in drawn_scenarios(fmt, tuple(selected), count, seed)
                if s.name == case.scenario
            ),
            None,
        )
    if case.origin is Origin.NAMED:
        return next(
            (
                s
                for s in boundary_scenarios(fmt, fmt.profile(case.profile))
                if s.name == case.scenario
            ),
            None,
        )
    return None


@cache
def pool_tables(fmt: Format[Any], seed: int, source: str | None = None) -> tuple[Table, ...]:
    """The run's level-two tables of a source: three fixed tables and one drawn from the seed.

    The default is the source of the format's first profile. Raises UnknownName.
    """
    from generators.drawing import strategies

    origin = sources.source(source or fmt.profiles[0].source)
    keyed = any(
        fmt.supports(type) and origin.keyable(type) for group in origin.families for type in group
    )
    tables = strategies.tables(
        database=origin.pool_database,
        min_columns=4,
        max_columns=8,
        keyed=keyed,
        supports=fmt.supports,
        source=origin.name,
    )
    # The first example is the smallest whatever the seed.
    drawn = strategies.draw(tables, 8, seed)[-1]
    return (*boundaries.pool(fmt.supports, origin.name), replace(drawn, name="people"))


def calls(fmt: Format[Any], cases: Iterable[Case], levels: Sequence[int], seed: int) -> list[Call]:
    """Groups cases into decode calls, in a stable order."""
    grouped: dict[tuple[tuple[Any, ...], Table | None], list[Case]] = {}
    for case in cases:
        if case.level not in levels:
            continue
        table, source = _asked(case), fmt.profile(case.profile).source
        name = (table.name, table.database, table.schema or "") if table else ("", "", "")
        key = (_order(case.deployment), case.level, *name, source)
        grouped.setdefault((key, table if case.origin is Origin.RECORDED else None), []).append(
            case
        )
    made: list[Call] = []
    versions: Counter[tuple[Any, ...]] = Counter()
    for key, recorded in sorted(grouped, key=lambda group: group[0]):
        some = grouped[key, recorded]
        versions[key] += recorded is not None
        version = versions[key] if recorded else 0
        made.append(
            Call(
                fmt.name,
                some[0].deployment,
                some[0].level,
                tuple(some),
                _asked(some[0]),
                (),
                key[-1],
                version,
            )
        )
    return [replace(call, foreign=_foreign(call, made, seed)) for call in made]


def repeating(call: Call, seed: int) -> Call:
    """The call with some messages of rows a second time, at other offsets, where it is of level
    one: what comes twice is no duplicate to leave out.
    """
    rows = [
        written.message
        for case in call.cases
        for written in case.written
        if {change.kind for change in written.changes} == {Kind.ROW}
        and written.message.size < 100_000
    ]
    if call.level == 2 or not rows:
        return call
    some = random.Random(f"{seed}/{call.name}/again").sample(rows, min(REPEATED, len(rows)))
    return replace(call, foreign=tuple(replace(message) for message in some))


def _order(deployment: Deployment) -> tuple[str, ...]:
    return (deployment.compression, deployment.time_zone, *_options(deployment))


def _options(deployment: Deployment) -> tuple[str, ...]:
    forms = deployment.binary, deployment.decimal, deployment.temporal, deployment.bigint_unsigned
    return (deployment.charset, *forms, deployment.schemas)


def _asked(case: Case) -> Table | None:
    if case.level == 1:
        return None
    assert len(case.tables) == 1, f"{case.id}: a level-two case has one table"
    return case.tables[0]


def _foreign(call: Call, others: Sequence[Call], seed: int) -> tuple[Message, ...]:
    """Messages of other tables, recorded ones for a recorded table. Versions of one table are not
    foreign to each other.
    """
    if call.table is None:
        return ()
    own = (call.table.database, call.table.schema, call.table.name)
    messages = [
        case.written[0].message
        for other in others
        if other.table is not None
        and (other.deployment, other.source) == (call.deployment, call.source)
        if (other.table.database, other.table.schema, other.table.name) != own
        and bool(other.version) == bool(call.version)
        for case in other.cases
        if case.origin is not Origin.FAULT
    ]
    return tuple(random.Random(f"{seed}/{call.name}").sample(messages, min(FOREIGN, len(messages))))
