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
from generators.garbage import cell_faults, faults
from generators.model import Case, Deployment, Kind, Message, Origin, Scenario, Table, Written
from generators.profiles import Profile
from generators.recorded import registry as recordings
from generators.recorded.episodes import RECORDED
from generators.sources import boundaries, databases, mongodb
from generators.wire_format import Format

FOREIGN: Final = 12
"""Messages of other tables in a level-two call, which the decoder must leave out."""
REPEATED: Final = 3
"""Messages of a level-one call that come twice."""
SPOILED_EVERY: Final = 8
"""One of so many drawn cases of level one is spoiled."""
_WILDCARD: Final = re.compile(r"[*?[]")
"""A character with which a glob begins to stand for several texts."""


@dataclass(frozen=True, slots=True)
class Budget:
    """A run's size: drawn cases per format beside the named ones, messages sampled for the laws,
    recorded cases per format (None: all of them), whether deployments are decoded together first
    (conformance.running.mixing), and whether the named cases are all judged, or a selection that
    covers them (conformance.cases.covering). With `telling`, so many named cases of one profile are
    judged at most (conformance.cases.telling), without laws, and no failure is reduced.
    """

    name: str
    drawn: int
    sampled: int
    recorded: int | None = 0
    mixed: bool = True
    covering: bool = False
    telling: int = 0


BUDGETS: Final = {
    "quick": Budget("quick", 0, 0, 0, telling=40),
    "smoke": Budget("smoke", 120, 40, 12, covering=True),
    "ci": Budget("ci", 1_000, 200, None),
    "nightly": Budget("nightly", 10_000, 200, None, mixed=False),
}
"""The budgets of --budget by name."""


@dataclass(frozen=True, slots=True)
class Call:
    """One decode call: its cases, and at level two the requested table. `foreign` are further
    messages: at level two those of other tables, which must give no rows, at level one some of its
    own that come again.

    `version` tells recorded tables of one name apart; 0 for a table that is not recorded.
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
        """The name of the decode call in progress and reports: format, deployment (source, time
        zone, compression and other fields that matter), level, and the table of a level-two call.
        """
        packing = () if self.deployment.compression == "none" else (self.deployment.compression,)
        origin = () if self.source == "mysql" else (self.source,)
        _charset, *further_options = _distinguishing_fields(self.deployment)
        parts = (
            *origin,
            self.deployment.time_zone,
            *packing,
            *filter(None, further_options),
        )
        table = self.table.name if self.table else ""
        if self.table and self.version:
            table = f"{self.table.database}.{table}#{self.version}"
        return f"{self.format} {' '.join(parts)} level {self.level} {table}".rstrip()


def find_budget(name: str) -> Budget:
    """The budget of that name, such as `quick`. Raises UnknownName if there is none."""
    if name not in BUDGETS:
        raise UnknownName("budget", name, BUDGETS)
    return BUDGETS[name]


def matches_pattern(name: str, pattern: str) -> bool:
    """Whether a pattern selects an id such as FORMAT/PROFILE/NAME: it matches as a glob, or is the
    id's beginning up to a `/`.
    """
    return fnmatchcase(name, pattern) or name.startswith(
        pattern if pattern.endswith("/") else pattern + "/"
    )


def matches_any_pattern(name: str, patterns: Iterable[str]) -> bool:
    """Whether an id is selected by one of the patterns."""
    return any(matches_pattern(name, pattern) for pattern in patterns)


def may_match(patterns: Sequence[str], id_start: str) -> bool:
    """Whether some case id that begins with `id_start` may match a pattern; if not, the cases of
    these ids need not be made. In `id_start` a part `*` stands for any. Without patterns every id
    matches.
    """
    return not patterns or any(_may_begin(pattern, id_start.split("/")) for pattern in patterns)


def _may_begin(pattern: str, parts: Sequence[str]) -> bool:
    """Whether a pattern may match an id that begins with `parts` (`*` stands for any part): the
    pattern's parts before its first wildcard are compared, as prefixes.
    """
    fixed_parts = _WILDCARD.split(pattern, maxsplit=1)[0].split("/")
    return all(
        part == "*" or part.startswith(fixed)
        for part, fixed in zip(parts, fixed_parts, strict=False)
    )


def select_profiles(fmt: Format[Any], globs: str | Sequence[str] = "*") -> tuple[Profile, ...]:
    """The format's profiles that match a glob, or any of several, in the format's order; a name
    without wildcards may also be an unlisted profile `release+option...`, and those come last.
    Raises UnknownName if no glob matches anything, UsageError for options that do not go together.
    """
    selected: dict[str, Profile] = {}
    unknown: UnknownName | None = None
    for glob in (globs,) if isinstance(globs, str) else globs:
        try:
            selected |= {profile.name: profile for profile in _match_profiles(fmt, glob)}
        except UnknownName as error:
            unknown = unknown or error
    if unknown and not selected:
        raise unknown
    return (
        *(p for p in fmt.profiles if p.name in selected),
        *(p for p in selected.values() if p not in fmt.profiles),
    )


def _match_profiles(fmt: Format[Any], glob: str) -> tuple[Profile, ...]:
    """The format's profiles whose names match a glob. A name without wildcards may also be a
    profile that is not listed, made of a release and options. Raises UnknownName if there is none.
    """
    listed = tuple(profile for profile in fmt.profiles if fnmatchcase(profile.name, glob))
    if listed or set("*?[").isdisjoint(glob):
        return listed or (fmt.profile(glob),)
    raise UnknownName("profile", glob, [profile.name for profile in fmt.profiles], of=fmt.name)


def check_profiles(formats: Iterable[Format[Any]], globs: Sequence[str]) -> None:
    """Raises UnknownName unless every glob matches a profile of a format, and every format has a
    profile that matches.
    """
    format_tuple = tuple(formats)
    for glob in globs:
        problems: list[UsageError] = []
        for fmt in format_tuple:
            try:
                _match_profiles(fmt, glob)
                break
            except UsageError as error:
                problems.append(error)
        else:
            if len(format_tuple) == 1:
                raise problems[0]
            profiles = chain.from_iterable(fmt.profiles for fmt in format_tuple)
            known_names = [profile.name for profile in profiles]
            searched = ", ".join(fmt.name for fmt in format_tuple)
            raise UnknownName("profile", glob, known_names, of=searched)
    for fmt in format_tuple:
        select_profiles(fmt, globs)


def _is_selected(name: str, patterns: tuple[str, ...]) -> bool:
    """Whether an id matches one of the patterns; true without patterns."""
    return not patterns or any(matches_pattern(name, pattern) for pattern in patterns)


@cache
def _cached_named_cases(
    fmt: Format[Any], profile: Profile, patterns: tuple[str, ...]
) -> tuple[Case, ...]:
    """The profile's named cases whose id matches a pattern, or all without patterns. They are read
    from the cache; if it has none they are written, and all of a profile are put into the cache.
    """
    cases = kept.read_cases(fmt, profile)
    if cases is not None:
        return tuple(case for case in cases if _is_selected(case.id, patterns))
    cases = write_named_cases(fmt, profile, patterns)
    if not patterns:
        kept.write_cases(fmt, profile, cases)
    return cases


def write_named_cases(
    fmt: Format[Any], profile: Profile, patterns: tuple[str, ...] = ()
) -> tuple[Case, ...]:
    """The named cases of a profile, without the cache. Messages are written only of cases that
    match a pattern.
    """

    def is_selected(scenario: Scenario) -> bool:
        """Whether the case of a scenario matches a pattern."""
        return _is_selected(case_id(fmt, profile, scenario), patterns)

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
        if is_selected(scenario)
    ]
    for fault, scenario in (
        *faults.fault_scenarios(profile.database, profile.source, applicable),
        *unreadable,
    ):
        if is_selected(scenario):
            case = as_case(fmt, profile, scenario)
            with suppress(
                Refused
                # a message without a place for the fault: a flattened one has no member for its
                # kind
            ):
                cases.append(spoil_case(case, partial(faults.apply, fault=fault), fault.name))
    if compression == "none":
        for cell, scenario in cell_faults.cell_fault_scenarios(
            fmt.supports, fmt.unfit_cells(profile), profile.source
        ):
            if is_selected(scenario):
                cases.append(
                    spoil_case(
                        as_case(fmt, profile, scenario),
                        partial(cell_faults.cell_fault, fault=cell),
                        cell.name,
                    )
                )
        cases += _three_row_faults(fmt, profile, applicable, is_selected)
        first_of_source = next(p for p in fmt.profiles if p.source == profile.source)
        edited = cell_faults.edited_cells(fmt.unfit_cells(profile))
        for cell, scenario in cell_faults.cell_text_scenarios(
            profile.database, fmt.supports, profile.source, edited
        ):
            if _has_json_cells(fmt) and profile is first_of_source and is_selected(scenario):
                with suppress(Refused):  # a form of values that level one gives another text of
                    cases.append(
                        spoil_case(
                            as_case(fmt, profile, scenario),
                            partial(cell_faults.cell_text, fault=cell),
                            cell.name,
                        )
                    )
    return tuple(case for case in cases if case.written)


_JSON_CONTAINERS: Final = ("json", "frames")
"""Containers whose cells stand in JSON."""


def _has_json_cells(fmt: Format[Any]) -> bool:
    """Whether the cells of a format's messages are JSON, so that a decoder returns a value that the
    column cannot hold as its text at level one. MongoDB's documents are JSON texts in every
    container.
    """
    return fmt.container in _JSON_CONTAINERS or fmt.source == mongodb.NAME


def _three_row_faults(
    fmt: Format[Any],
    profile: Profile,
    applicable: Iterable[faults.Fault],
    is_selected: Callable[[Scenario], bool],
) -> Iterator[Case]:
    """Cases in which a message of three rows is malformed: cut off, or with a value in the second
    row that its column cannot hold. There is no such case if the profile's messages hold one row
    each.
    """
    spoiling: list[tuple[str, Callable[[Written], Written], Scenario]] = [
        (fault.name, partial(faults.apply, fault=fault), boundaries.of_three(scenario))
        for fault, scenario in faults.fault_scenarios(profile.database, profile.source, applicable)
        if fault.tag == "truncated" and scenario.name.endswith("/insert")
    ]
    fitting = [
        cell for cell in fmt.unfit_cells(profile) if not cell_faults.outside_domain(cell.name)
    ][:1]
    for cell, scenario in cell_faults.cell_fault_scenarios(
        fmt.supports, tuple(fitting), profile.source
    ):
        spoiling.append(
            (
                cell.name,
                partial(cell_faults.cell_fault, fault=cell),
                boundaries.of_three(scenario, cell.column),
            )
        )
    for name, apply, scenario in spoiling:
        if is_selected(scenario):
            case = as_case(fmt, profile, scenario)
            if any(len(written.changes) > 1 for written in case.written):
                yield spoil_case(case, apply, name)


def spoil_case(case: Case, apply: Callable[[Written], Written], name: str) -> Case:
    """A fault case made of a case: each of its row messages is made malformed by `apply`, its other
    messages (schemas, tombstones, deletes without a value) stay. `name` is the name of the fault.
    """
    spoiled = (apply(message) if _has_row_change(message) else message for message in case.written)
    return replace(case, written=tuple(spoiled), origin=Origin.FAULT, fault=name)


def _has_row_change(written: Written) -> bool:
    """Whether a message has a value, and in it a row change."""
    return written.message.value is not None and any(c.kind is Kind.ROW for c in written.changes)


def named_cases(
    fmt: Format[Any], selected: Sequence[Profile], patterns: tuple[str, ...] = ()
) -> Iterator[Case]:
    """Every named case (not drawn at random: boundary values, format-specific cases, faults) of the
    profiles, or only those whose id matches one of `patterns`.
    """
    for profile in selected:
        yield from _cached_named_cases(fmt, profile, patterns)


def recorded_cases(
    fmt: Format[Any], globs: str | Sequence[str], count: int | None, select: Sequence[str] = ()
) -> tuple[Case, ...]:
    """The format's recorded cases whose profile matches: all when `count` is None or a pattern of
    `select` has the part RECORDED of their ids, else `count`, evenly spread. Of these a third is at
    level two, on the table that has most cases: each further table costs a decode call for its few
    messages.
    """
    profile_globs = (globs,) if isinstance(globs, str) else tuple(globs)
    recorded = recordings.recorded_cases(fmt, profile_globs)
    if (
        count is None
        or count >= len(recorded)
        or any(f"/{RECORDED}/" in f"{pattern}/" for pattern in select)
    ):
        return recorded
    level_one = [case for case in recorded if case.level == 1]
    case_counts = Counter((case.deployment, case.tables[0]) for case in recorded if case.level == 2)
    busiest = case_counts.most_common(1)[0][0] if case_counts else None
    level_two = [
        case
        for case in recorded
        if case.level == 2 and (case.deployment, case.tables[0]) == busiest
    ]
    return (*_spread_evenly(level_one, count - count // 3), *_spread_evenly(level_two, count // 3))


def _spread_evenly(cases: Sequence[Case], count: int) -> list[Case]:
    """Takes `count` of the cases at even distances, in their order; all of them if there are no
    more.
    """
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
    spare, level_two_count = count // 8 + 8, count // 3
    # Level two and level one, then the spare scenarios of both.
    parts: tuple[list[tuple[Scenario, str]], ...] = ([], [], [], [])
    for source, (level_two_share, level_one_share) in zip(
        by_source,
        _split_by_size((level_two_count, count - level_two_count), by_source.values()),
        strict=True,
    ):
        level_two = strategies.draw(
            strategies.row_scenarios(pool_tables(fmt, seed, source)),
            level_two_share + spare,
            seed + 1,
        )
        level_one = strategies.draw(
            strategies.scenarios(fmt, source=source), level_one_share + spare, seed
        )
        for part, part_scenarios in zip(
            parts,
            (
                level_two[:level_two_share],
                level_one[:level_one_share],
                level_two[level_two_share:],
                level_one[level_one_share:],
            ),
            strict=True,
        ):
            part.extend((scenario, source) for scenario in part_scenarios)
    pairs = []
    for i, (scenario, source) in enumerate(chain.from_iterable(parts)):
        profile = by_source[source][i % len(by_source[source])]
        if scenario.level == 1:
            scenario = strategies.rename(scenario, profile.database, f"_{i}")
        pairs.append(
            (replace(scenario, name=f"drawn/{seed}/{i}", tags=scenario.tags | {"drawn"}), profile)
        )
    return tuple(pairs)


def _split_by_size(
    counts: tuple[int, int], groups: Iterable[Sequence[Profile]]
) -> Iterator[tuple[int, int]]:
    """Shares out two counts (of cases at level one and at level two) among the groups of profiles,
    in proportion to the sizes of the groups. Yields both shares of each group; the shares add up to
    the counts.
    """
    sizes = [len(group) for group in groups]
    ends = [0, *accumulate(sizes)]
    for start, end in pairwise(ends):
        first_share, second_share = (
            count * end // ends[-1] - count * start // ends[-1] for count in counts
        )
        yield first_share, second_share


def drawn_cases(
    fmt: Format[Any], selected: Sequence[Profile], count: int, seed: int
) -> Iterator[Case]:
    """Yields `count` cases of random histories, none of them empty: a third at level two (typed
    rows of one table), the others at level one (all changes as text). A few of level one have rows
    made unreadable on purpose.
    """
    remaining = {2: count // 3, 1: count - count // 3}
    for scenario, profile in drawn_scenarios(fmt, tuple(selected), count, seed):
        if remaining[scenario.level] and (case := as_case(fmt, profile, scenario)).written:
            remaining[scenario.level] -= 1
            yield spoil_some_drawn(fmt, profile, case)


def spoil_some_drawn(fmt: Format[Any], profile: Profile, case: Case) -> Case:
    """A drawn case (one that comes from the run's seed), in which the rows are made unreadable if
    it is of level one, has rows, and is one in SPOILED_EVERY: so a decoder meets unreadable
    messages in every part of a run. Which one depends on the scenario's name alone.
    """
    chance, has_rows = random.Random(case.scenario), any(map(_has_row_change, case.written))
    if case.level == 2 or not has_rows or chance.randrange(SPOILED_EVERY):
        return case
    applicable = faults.applicable(fmt.faults, profile.deployment.compression)
    fault = chance.choice([fault for fault in applicable if fault.tag in faults.UNREADABLE])
    spoiled = spoil_case(case, partial(faults.apply, fault=fault), fault.name)
    return replace(spoiled, origin=Origin.DRAWN, tags=case.tags | {f"fault:{fault.tag}"})


def find_scenario(
    fmt: Format[Any], selected: Sequence[Profile], case: Case, count: int, seed: int
) -> Scenario | None:
    """The scenario (a history and its level) from which a case was written: a named one is found by
    its name, a drawn one is drawn again from `count` and `seed`. None for malformed messages and
    recordings.
    """
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
    """The tables of the run's level-two cases (typed rows) that are of a source database: three
    fixed ones and one drawn from the seed. The default is the source of the format's first profile.
    Raises UnknownName for an unknown source.
    """
    from generators.drawing import strategies

    origin = databases.source(source or fmt.profiles[0].source)
    all_types = chain.from_iterable(origin.families)
    keyed = any(fmt.supports(type) and origin.keyable(type) for type in all_types)
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


def group_calls(
    fmt: Format[Any], cases: Iterable[Case], levels: Sequence[int], seed: int
) -> list[Call]:
    """Groups cases into decode calls, in a stable order: those of one format, deployment, level and
    source, at level two of one table. Calls of level two also get foreign messages.
    """
    grouped: dict[tuple[tuple[Any, ...], Table | None], list[Case]] = {}
    for case in cases:
        if case.level not in levels:
            continue
        table, source = _requested_table(case), fmt.profile(case.profile).source
        name = (table.name, table.database, table.schema or "") if table else ("", "", "")
        key = (_deployment_order(case.deployment), case.level, *name, source)
        grouped.setdefault((key, table if case.origin is Origin.RECORDED else None), []).append(
            case
        )
    grouped_calls: list[Call] = []
    versions: Counter[tuple[Any, ...]] = Counter()
    for key, recorded_table in sorted(grouped, key=lambda group: group[0]):
        call_cases = grouped[key, recorded_table]
        versions[key] += recorded_table is not None
        version = versions[key] if recorded_table else 0
        *_, source = key
        grouped_calls.append(
            Call(
                fmt.name,
                call_cases[0].deployment,
                call_cases[0].level,
                tuple(call_cases),
                _requested_table(call_cases[0]),
                (),
                source,
                version,
            )
        )
    return [
        replace(call, foreign=_draw_foreign(call, grouped_calls, seed)) for call in grouped_calls
    ]


def repeat_messages(call: Call, seed: int) -> Call:
    """A level-one call in which some row messages come a second time, at other offsets: a decoder
    must not leave out the second as a duplicate. A call of level two stays as it is. Messages of
    100,000 bytes or more, or with anything but rows, are not repeated.
    """
    all_written = chain.from_iterable(case.written for case in call.cases)
    candidates = [
        written.message
        for written in all_written
        if _holds_rows_alone(written) and written.message.size < 100_000
    ]
    if call.level == 2 or not candidates:
        return call
    repeated = random.Random(f"{seed}/{call.name}/again").sample(
        candidates, min(REPEATED, len(candidates))
    )
    return replace(call, foreign=tuple(replace(message) for message in repeated))


def _holds_rows_alone(written: Written) -> bool:
    """Whether a message holds row changes and nothing else."""
    return {change.kind for change in written.changes} == {Kind.ROW}


def _names_its_tables(written: Written) -> bool:
    """Whether the message names the table of each of its rows."""
    return all(change.table for change in written.changes if change.kind is Kind.ROW)


def _deployment_order(deployment: Deployment) -> tuple[str, ...]:
    """A sort key for deployments, which also tells different ones apart."""
    return (deployment.compression, deployment.time_zone, *_distinguishing_fields(deployment))


def _distinguishing_fields(deployment: Deployment) -> tuple[str, ...]:
    """The fields of a deployment, beside compression and time zone, by which deployments are told
    apart in names and are sorted: first the character set, then the forms of values, last where
    schemas come from.
    """
    forms = deployment.binary, deployment.decimal, deployment.temporal, deployment.bigint_unsigned
    return (deployment.charset, *forms, deployment.schemas)


def _requested_table(case: Case) -> Table | None:
    """The table whose rows a decode call on the case asks for; None at level one, which decodes all
    tables.
    """
    if case.level == 1:
        return None
    assert len(case.tables) == 1, f"{case.id}: a level-two case has one table"
    return case.tables[0]


def _draw_foreign(call: Call, calls: Sequence[Call], seed: int) -> tuple[Message, ...]:
    """A sample of messages of other tables for a call that decodes one table (level two), which
    must give no rows of them. They are from calls of the same deployment and source, recorded ones
    if the call's table is recorded; versions of the call's own table are left out. So are messages
    that do not name their table: a decoder cannot know that it is another.
    """
    if call.table is None:
        return ()
    requested = (call.table.database, call.table.schema, call.table.name)
    messages: list[Message] = []
    for neighbour in calls:
        table = neighbour.table
        if table is None or (table.database, table.schema, table.name) == requested:
            continue
        same_stream = (neighbour.deployment, neighbour.source) == (call.deployment, call.source)
        if same_stream and bool(neighbour.version) == bool(call.version):
            valid = [case for case in neighbour.cases if case.origin is not Origin.FAULT]
            first = (case.written[0] for case in valid)
            messages += [written.message for written in first if _names_its_tables(written)]
    return tuple(random.Random(f"{seed}/{call.name}").sample(messages, min(FOREIGN, len(messages))))
