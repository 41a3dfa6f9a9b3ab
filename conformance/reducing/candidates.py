"""Candidates of a reduction: scenarios with fewer events, rows and columns, simpler values and
shorter names.

The most promising candidates come first. A candidate need not fail, and a writer may refuse it, but
it is always smaller than its origin by `measure_scenario`.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Final, NamedTuple

from conformance.judging.findings import Finding
from conformance.reducing._plain_values import simpler_values, weight
from generators.drawing.cases import as_case
from generators.garbage import faults
from generators.model import (
    SIDES,
    Bootstrap,
    Case,
    Column,
    DtsOperation,
    Event,
    Heartbeat,
    History,
    Instant,
    Kind,
    LogicalMessage,
    Op,
    Origin,
    ReplicaIdentity,
    Row,
    RowChange,
    RowImages,
    Scenario,
    SchemaChange,
    Side,
    SourceStatement,
    Table,
    Value,
    Written,
)
from generators.profiles import Profile
from generators.sources import databases
from generators.sources.boundaries import of_three
from generators.tables.scenarios import TABLES_TAG
from generators.tables.schema import table_name
from generators.wire_format import Format


class Measure(NamedTuple):
    """The size of a case. Sizes are compared field by field, in this order.

    `length` is the bytes of the messages or the letters of names, `weight` that of all values and
    ops.
    """

    events: int
    rows: int
    columns: int
    length: int
    weight: int


_ROWS: Final = 12
"""Limit of an event's rows that are tried alone."""
_OPS: Final = (Op.INSERT, Op.DELETE, Op.UPDATE)
"""From plain to least plain; others come last."""
_ALONE: Final = 16
"""Limit of columns that are each tried alone beside the key."""
_WIDE: Final = 8
"""Above this many columns, values and names wait until no column can be left out."""
_VALUED: Final = 2
"""Limit of rows for simpler values: above it, leaving out rows does more."""


@dataclass(frozen=True, slots=True)
class Hint:
    """Where a case failed, by its finding: the event's number, the row in it, the column, the
    message. It decides what is tried first.
    """

    event: int = 0
    row_number: int = 0
    column: str | None = None
    message: int = 0


@dataclass(frozen=True, slots=True)
class Recipe:
    """Makes a case of a scenario: a profile writes it, and a fault case is spoiled."""

    fmt: Format[Any]
    profile: Profile
    spoil: Callable[[Written], Written] | None = None

    def case(self, scenario: Scenario) -> Case:
        """Writes the scenario as a case, spoiled as the failing case is. Raises Refused for a
        history that its source cannot have, or if the fault has no place in the messages.
        """
        case = as_case(self.fmt, self.profile, scenario)
        if self.spoil is None:
            return case
        spoil = self.spoil
        spoiled = (
            spoil(written) if any(c.kind is Kind.ROW for c in written.changes) else written
            for written in case.written
        )
        return replace(case, written=tuple(spoiled))

    def smaller_scenarios(self, scenario: Scenario, hint: Hint) -> Iterator[Scenario]:
        """Smaller scenarios, boldest first."""
        return smaller_scenarios(scenario, hint)


@dataclass(frozen=True, slots=True)
class RecordedRecipe:
    """Makes a case of some messages of a recorded case, as they are: an event of a scenario is the
    number of a message.
    """

    fmt: Format[Any]
    profile: Profile
    recording: Case

    @property
    def scenario(self) -> Scenario:
        """The recorded failing case as a scenario, of which the reducer leaves out messages."""
        numbers = tuple(Heartbeat(Instant(number)) for number in range(len(self.recording.written)))
        return Scenario(
            self.recording.scenario, History(numbers), self.recording.level, self.recording.tags
        )

    def case(self, scenario: Scenario) -> Case:
        """The recorded case with only the messages of the events that the scenario still has."""
        return replace(
            self.recording,
            written=tuple(self.recording.written[event.at.ms] for event in scenario.history.events),
        )

    def smaller_scenarios(self, scenario: Scenario, hint: Hint) -> Iterator[Scenario]:
        """The failing message alone, then without some others. A message of a schema stays while a
        row is left.
        """
        events = scenario.history.events
        failing = events[min(hint.message, len(events) - 1)]
        fixed = {event for event in events if self._kinds(event) & {Kind.BOOTSTRAP, Kind.DDL}}
        free = [event for event in events if event not in fixed and event is not failing]
        for others in ([], *_without_parts(free)):
            selected = {failing, *others}
            if any(Kind.ROW in self._kinds(event) for event in selected):
                selected |= fixed
            yield _with_events(scenario, (event for event in events if event in selected))

    def _kinds(self, event: Event) -> set[Kind]:
        return {change.kind for change in self.recording.written[event.at.ms].changes}


def find_hint(finding: Finding, case: Case) -> Hint:
    """Where the finding of a failing case lies (message, row, column), so that the reducer keeps
    that and drops the rest first.
    """
    column = finding.column
    all_columns = itertools.chain.from_iterable(table.columns for table in case.tables)
    is_column = column in {candidate.name for candidate in all_columns}
    if finding.message >= len(case.written):
        return Hint(column=column if is_column else None, message=finding.message)
    event = case.written[finding.message].message.event
    earlier_changes = sum(
        len(w.changes) for w in case.written[: finding.message] if w.message.event == event
    )
    return Hint(
        event, earlier_changes + finding.row, column if is_column else None, finding.message
    )


def _message_fault(fmt: Format[Any], profile: Profile, case: Case) -> faults.Fault | None:
    """The fault of the format's catalogue that spoils whole messages and was applied to this case;
    None for another case.
    """
    applicable = faults.applicable(fmt.faults, profile.deployment.compression)
    return next((fault for fault in applicable if fault.name == case.fault), None)


def make_recipe(fmt: Format[Any], profile: Profile, case: Case) -> Recipe:
    """How the reducer writes smaller scenarios as cases of the same format and profile; if the
    case's messages were spoiled as wholes, they are spoiled in the same way.
    """
    fault = _message_fault(fmt, profile, case)
    return Recipe(fmt, profile, partial(faults.apply, fault=fault) if fault else None)


class ScenarioRecipe(NamedTuple):
    """A scenario, and the recipe that makes a case of it."""

    scenario: Scenario
    recipe: Recipe | RecordedRecipe


def fault_recipe(fmt: Format[Any], profile: Profile, case: Case) -> ScenarioRecipe | None:
    """The scenario and recipe of a fault case; None when the case has no fault of the catalogue."""
    if case.origin is not Origin.FAULT:
        return None
    if (fault := _message_fault(fmt, profile, case)) is not None:
        if case.level == 2:
            unreadable_row = faults.unreadable_row(fault, profile.source)
            return ScenarioRecipe(unreadable_row, make_recipe(fmt, profile, case))
        alone = (
            scenario
            for _, scenario in faults.fault_scenarios(profile.database, profile.source, (fault,))
        )
        return next(
            (
                ScenarioRecipe(s, make_recipe(fmt, profile, case))
                for s in _with_three_row_variant(alone)
                if s.name == case.scenario
            ),
            None,
        )
    for cell, scenario in faults.cell_fault_scenarios(
        fmt.supports, fmt.unfit_cells(profile), profile.source
    ):
        for variant in _with_three_row_variant((scenario,), cell.column):
            if variant.name == case.scenario:
                spoil = partial(faults.cell_fault, fault=cell)
                return ScenarioRecipe(variant, Recipe(fmt, profile, spoil))
    edited = faults.edited_cells(fmt.unfit_cells(profile))
    for cell, scenario in faults.cell_text_scenarios(
        profile.database, fmt.supports, profile.source, edited
    ):
        if scenario.name == case.scenario:
            spoil = partial(faults.cell_text, fault=cell)
            return ScenarioRecipe(scenario, Recipe(fmt, profile, spoil))
    return None


def _with_three_row_variant(single: Iterable[Scenario], column: str = "") -> Iterator[Scenario]:
    """The scenarios, which have one row each; an INSERT also comes as a message of three rows, with
    the row between two others.
    """
    for scenario in single:
        yield scenario
        (event,) = scenario.history.events[:1]
        if (
            isinstance(event, RowChange)
            and event.op is Op.INSERT
            and len(scenario.history.events) == 1
        ):
            yield of_three(scenario, column)


def scenario_tables(scenario: Scenario) -> tuple[Table, ...]:
    """All tables that occur in the scenario's events; a table that a statement changes comes once
    for each version.
    """
    tables_found: dict[Table, None] = {}
    for event in scenario.history.events:
        match event:
            case RowChange() | Bootstrap():
                tables_found[event.table] = None
            case SchemaChange():
                tables_found |= {table: None for table in (event.before, event.after) if table}
    return tuple(tables_found)


def measure_scenario(scenario: Scenario, size: int | None = None) -> Measure:
    """The size of a scenario. `size` is the bytes of its messages; without it, the letters of names
    count.
    """
    changes = [event for event in scenario.history.events if isinstance(event, RowChange)]
    used = scenario_tables(scenario)
    letters = 0
    for table in used:
        names = (table.database, table.name, *(column.name for column in table.columns))
        letters += sum(map(_byte_length, names)) + len(table.unique)
    heavy = sum(map(_weigh_change, changes))
    columns = sum(len(table.columns) for table in used)
    return Measure(
        events=len(scenario.history.events),
        rows=sum(len(e.rows) for e in changes),
        columns=columns,
        length=letters if size is None else size,
        weight=heavy,
    )


def _weigh_change(event: RowChange) -> int:
    """The weight of a row change for the comparison of sizes: its values (how far from plain ones),
    and its op, since INSERT is the simplest.
    """
    total = _OPS.index(event.op) if event.op in _OPS else len(_OPS)
    for image in _row_images(event):
        for name, value in image.items():
            total += 1 + weight(event.table.column(name).type, value)
    return total


def _byte_length(name: str) -> int:
    return len(name.encode())


def smaller_scenarios(scenario: Scenario, where: Hint) -> Iterator[Scenario]:
    """Smaller scenarios, boldest first, each below `scenario` by `measure_scenario`; some may
    come twice.
    """
    most = measure_scenario(scenario)
    for smaller in _propose(scenario, where):
        if measure_scenario(smaller) < most and (
            TABLES_TAG not in scenario.tags or _has_only_parts(smaller, scenario)
        ):
            yield smaller


def _has_only_parts(smaller: Scenario, scenario: Scenario) -> bool:
    """Whether a candidate has only tables and cells of the scenario: a user's table keeps its name
    and its values.
    """
    names = set(map(table_name, scenario_tables(smaller)))
    if not names <= set(map(table_name, scenario_tables(scenario))):
        return False
    return _spelled_cells(smaller) <= _spelled_cells(scenario)


def _spelled_cells(scenario: Scenario) -> set[tuple[str, str]]:
    """The (column, value as text) pairs of all cells in the row changes of a scenario."""
    cells: set[tuple[str, str]] = set()
    for event in _row_changes(scenario):
        for image in _row_images(event):
            cells.update((name, repr(value)) for name, value in image.items())
    return cells


def _propose(scenario: Scenario, where: Hint) -> Iterator[Scenario]:
    """Scenarios to try in place of a failing one, in which `where` shows the failure: single rows
    first, then fewer columns, events and rows, and of few rows also simpler values and shorter
    names. Not all are smaller: `smaller_scenarios` drops the others.
    """
    structure = (
        _with_fewer_columns(scenario, where),
        _with_fewer_events(scenario, where),
        _with_fewer_rows(scenario),
    )
    details: tuple[Iterator[Scenario], ...] = ()
    if sum(len(event.rows) for event in _row_changes(scenario)) <= _VALUED:
        details = (_with_simpler_values(scenario, where.column), _with_short_names(scenario))
    yield from _interleave(_failing_row_alone(scenario, where), _rows_alone(scenario, where))
    if max((len(table.columns) for table in scenario_tables(scenario)), default=0) > _WIDE:
        yield from _interleave(*structure)
        yield from _interleave(*details)
    else:
        yield from _interleave(*structure, *details)


def _failing_row_alone(scenario: Scenario, where: Hint) -> Iterator[Scenario]:
    """The failing row, cut to the key and the failing column, with short names and with its own;
    then with simpler values and a plainer op, all at once. Without a failing column: the key alone,
    or with a column that the row changes.
    """
    event = next(iter(scenario.history.events[where.event : where.event + 1]), None)
    if not isinstance(event, RowChange) or not event.rows:
        return
    images = event.rows[min(where.row_number, len(event.rows) - 1)]
    single = _with_events(scenario, (replace(event, rows=(images,)),))
    columns_tried = (
        [where.column]
        if where.column is not None
        else [None, *_likely_columns(event.table, images)]
    )
    long_named = {
        tried_column: _cut_columns(single, () if tried_column is None else {tried_column})
        for tried_column in columns_tried
    }
    short_names = {tried_column: _short_names(cut) for tried_column, cut in long_named.items()}
    short_named = {
        tried_column: _rename_table(cut, *short_names[tried_column])
        for tried_column, cut in long_named.items()
    }
    for tried_column in columns_tried:
        yield short_named[tried_column]
        yield long_named[tried_column]
    for tried_column in columns_tried:
        column = (
            None
            if tried_column is None
            else short_names[tried_column][2].get(tried_column, tried_column)
        )
        for variant in (short_named[tried_column], *_shorter_images(short_named[tried_column])):
            yield variant
            cells = [
                (cell, plain[0])
                for cell in _cell_sites(variant)
                if cell.column.name != column and (plain := _simpler_cell_values(cell))
            ]
            plainer = _set_cells(variant, cells)
            yield plainer
            yield from _with_simpler_values(plainer, column)


def _likely_columns(table: Table, images: RowImages) -> list[str]:
    """The columns, beside the key, that a failure without a known column most likely needs: up to
    two whose values change, and the first one.
    """
    other_columns = [c.name for c in table.columns if c.name not in table.handle_key]
    before, after = images.before or {}, images.after or {}
    changed = [
        name
        for name in other_columns
        if name in before and name in after and before[name] != after[name]
    ]
    return list(dict.fromkeys((*changed[:2], *other_columns[:1])))


def separate_databases(scenario: Scenario, suffix: str) -> Scenario:
    """The scenario with the suffix on every database name, so that it shares no table with other
    scenarios.
    """
    events = scenario.history.events
    return _with_events(
        scenario,
        (
            _move_event(
                event, lambda table: replace(table, database=table.database + suffix), suffix
            )
            for event in events
        ),
    )


def _with_events(scenario: Scenario, events: Iterable[Event]) -> Scenario:
    return replace(scenario, history=replace(scenario.history, events=tuple(events)))


def _row_changes(scenario: Scenario) -> list[RowChange]:
    return [event for event in scenario.history.events if isinstance(event, RowChange)]


def _row_images(event: RowChange) -> Iterator[Row]:
    for images in event.rows:
        yield from (image for image in (images.before, images.after) if image is not None)


def _interleave(*kinds: Iterator[Scenario]) -> Iterator[Scenario]:
    """Alternates, so that a limit cuts each kind of candidate alike."""
    for group in itertools.zip_longest(*kinds):
        yield from (candidate for candidate in group if candidate is not None)


def _put_first(items: Sequence[Any], number: int) -> list[Any]:
    """The items, with item `number` first."""
    return [*items[number : number + 1], *items[:number], *items[number + 1 :]]


# ---- rows and events


def _rows_alone(scenario: Scenario, where: Hint) -> Iterator[Scenario]:
    """The scenario with one of its rows alone: cut to the key and the failing column, then whole,
    then with all events that are no row changes; last, each of these events alone.
    """
    events = scenario.history.events
    columns = {where.column} if where.column is not None else set()
    single_rows: list[tuple[int, RowChange]] = []
    for number, event in _put_first(list(enumerate(events)), where.event):
        if isinstance(event, RowChange):
            single_rows += [
                (number, replace(event, rows=(images,))) for images in event.rows[:_ROWS]
            ]
    if len(events) == 1 and single_rows and len(_row_changes(scenario)[0].rows) == 1:
        return
    for _, event in single_rows:
        yield _cut_columns(_with_events(scenario, (event,)), columns)
    for _, event in single_rows:
        yield _with_events(scenario, (event,))
    if any(not isinstance(event, RowChange) for event in events):
        for number, event in single_rows:
            with_others = (
                event if i == number else e
                for i, e in enumerate(events)
                if i == number or not isinstance(e, RowChange)
            )
            yield _cut_columns(_with_events(scenario, with_others), columns)
    for event in events:
        if not isinstance(event, RowChange):
            yield _with_events(scenario, (event,))


def _with_fewer_events(scenario: Scenario, where: Hint) -> Iterator[Scenario]:
    """The scenario without a half, a quarter ... of its events, and without each; cut to the
    failing column, and whole.
    """
    events = scenario.history.events
    for remaining in _without_parts(events):
        smaller = _with_events(scenario, remaining)
        if where.column is not None:
            yield _cut_columns(smaller, {where.column})
        yield smaller


def _with_fewer_rows(scenario: Scenario) -> Iterator[Scenario]:
    """The scenario without a half, a quarter ... of an event's rows, and without each."""
    for number, event in enumerate(scenario.history.events):
        if isinstance(event, RowChange):
            for remaining in _without_parts(event.rows):
                yield _replace_event(scenario, number, replace(event, rows=tuple(remaining)))


def _without_parts(items: Sequence[Any]) -> Iterator[list[Any]]:
    """The items without a part: halves first, then ever smaller parts; never empty."""
    size = len(items) // 2
    while size:
        for start in range(0, len(items), size):
            remaining = [*items[:start], *items[start + size :]]
            if remaining:
                yield remaining
        size //= 2


def _replace_event(scenario: Scenario, number: int, event: Event) -> Scenario:
    events = scenario.history.events
    return _with_events(scenario, (*events[:number], event, *events[number + 1 :]))


# ---- columns


def _with_fewer_columns(scenario: Scenario, where: Hint) -> Iterator[Scenario]:
    """Scenarios of the key and the failing column alone, of the key alone, of the key and one other
    column, and without a half, a quarter ... of the columns. Then those with one column of a key of
    several as the whole key, and those in which an UPDATE or DELETE is replaced by an INSERT or
    DELETE of one image.
    """
    used = scenario_tables(scenario)
    free: dict[str, None] = {}
    for table in used:
        for column in table.columns:
            if column.name not in table.handle_key:
                free[column.name] = None
    other_columns = list(free)
    if where.column is not None and (
        set(other_columns) - {where.column} or any(table.unique for table in used)
    ):
        yield _cut_columns(scenario, {where.column})
    if other_columns:
        yield _cut_columns(scenario, ())
    if where.column is None and 1 < len(other_columns) <= _ALONE:
        yield from (_cut_columns(scenario, {name}) for name in other_columns)
    if len(other_columns) > 1:
        yield from (
            _cut_columns(scenario, set(remaining)) for remaining in _without_parts(other_columns)
        )
    wide_keys = [table.primary_key for table in used if len(table.primary_key) > 1]
    for name in dict.fromkeys(itertools.chain.from_iterable(wide_keys)):
        yield _cut_columns(
            scenario, {*other_columns} if where.column is None else {where.column}, key=name
        )
    yield from _shorter_images(scenario)


def _cut_columns(
    scenario: Scenario, column_names: Collection[str], key: str | None = None
) -> Scenario:
    """The scenario with every table cut to its key and these columns, or to its first column if
    none is left; with `key`, a column of a primary key of several, that column is the whole key.
    """
    cut_tables = {
        table: _cut_table(table, column_names, key) for table in scenario_tables(scenario)
    }
    return _with_events(
        scenario, (_move_event(event, cut_tables.__getitem__) for event in scenario.history.events)
    )


def _cut_table(table: Table, column_names: Collection[str], key: str | None) -> Table:
    """The table with its key and these columns, or its first column if none is left; with `key`, a
    column of a primary key of several, that column is the whole primary key.
    """
    primary = (key,) if key in table.primary_key and key is not None else table.primary_key
    handle = primary or table.handle_key
    columns = tuple(
        c
        for c in table.columns
        if c.name in handle
        or (c.name in column_names and (c.name not in table.primary_key or c.name in primary))
    )
    columns = columns or table.columns[:1]
    # Another unique key would be one more index in the messages of writers that describe the table.
    unique = (handle,) if handle and not primary else ()
    return replace(table, columns=columns, primary_key=primary, unique=unique)


def _shorter_images(scenario: Scenario) -> Iterator[Scenario]:
    """Scenarios in which an event with two images has only one: an UPDATE or DELETE becomes an
    INSERT of either image, an UPDATE a DELETE.
    """
    for number, event in enumerate(scenario.history.events):
        if isinstance(event, RowChange) and event.op in _OPS[1:]:
            for side, op in (("after", Op.INSERT), ("before", Op.INSERT), ("before", Op.DELETE)):
                images: list[Row | None] = [getattr(row_images, side) for row_images in event.rows]
                if op is not event.op and all(image is not None for image in images):
                    shortened = (
                        RowImages(image, None) if op is Op.DELETE else RowImages(None, image)
                        for image in images
                    )
                    yield _replace_event(
                        scenario, number, replace(event, op=op, rows=tuple(shortened))
                    )


# ---- values


def _with_simpler_values(scenario: Scenario, column: str | None) -> Iterator[Scenario]:
    """All cells but the failing column's at their plainest, then each cell at every simpler value,
    in both images at once if they are equal, and in each.
    """
    cells = list(_cell_sites(scenario))
    plain_cells = [
        (cell, plain[0])
        for cell in cells
        if cell.column.name != column and (plain := _simpler_cell_values(cell))
    ]
    if len(plain_cells) > 1:
        yield _set_cells(scenario, plain_cells)
    grouped: dict[tuple[int, int, str, str, str], list[tuple[_CellSite, Value]]] = {}
    for cell in cells:
        for simpler_value in _simpler_cell_values(cell):
            key = (
                cell.event,
                cell.row_number,
                cell.column.name,
                repr(cell.value),
                repr(simpler_value),
            )
            grouped.setdefault(key, []).append((cell, simpler_value))
    sites_by_column: dict[str, list[list[tuple[_CellSite, Value]]]] = {}
    for key, sites in grouped.items():
        sites_by_column.setdefault(key[2], []).append(sites)
    first = sorted(sites_by_column, key=lambda name: name != column)
    yield from _interleave(
        *(map(partial(_set_cells, scenario), sites_by_column[name]) for name in first)
    )
    for sites in grouped.values():
        if len(sites) > 1:
            yield from (_set_cells(scenario, [single]) for single in sites)


@dataclass(frozen=True, slots=True)
class _CellSite:
    """A cell: its place and value."""

    event: int
    row_number: int
    side: Side
    column: Column
    value: Value


def _cell_sites(scenario: Scenario) -> Iterator[_CellSite]:
    """The cells whose values may be replaced, with their places: all cells of row changes, but no
    cell of a key where a change has several rows, which their keys must tell apart.
    """
    for number, event in enumerate(scenario.history.events):
        if isinstance(event, RowChange):
            for row_number, images in enumerate(event.rows):
                for side in SIDES:
                    image = images.before if side == "before" else images.after
                    for name, value in (image or {}).items():
                        if len(event.rows) == 1 or name not in event.table.handle_key:
                            yield _CellSite(
                                number, row_number, side, event.table.column(name), value
                            )


def _simpler_cell_values(cell: _CellSite) -> list[Value]:
    """The values to try in place of a cell's: NULL first, if the column may hold it, then simpler
    values of its type.
    """
    null: list[Value] = [None] if cell.column.nullable and cell.value is not None else []
    return [*null, *simpler_values(cell.column.type, cell.value)]


def _set_cells(scenario: Scenario, cells: Iterable[tuple[_CellSite, Value]]) -> Scenario:
    """The scenario with another value in each of these cells."""
    for cell, value in cells:
        event = scenario.history.events[cell.event]
        assert isinstance(event, RowChange)
        images = event.rows[cell.row_number]
        image: Row | None = getattr(images, cell.side)
        assert image is not None
        changed = replace(images, **{cell.side: {**image, cell.column.name: value}})
        changed_rows = (*event.rows[: cell.row_number], changed, *event.rows[cell.row_number + 1 :])
        scenario = _replace_event(scenario, cell.event, replace(event, rows=changed_rows))
    return scenario


# ---- names


def _with_short_names(scenario: Scenario) -> Iterator[Scenario]:
    """The scenario with short names for its table, database and columns: all at once, then each
    alone.
    """
    if len({(table.database, table.name) for table in scenario_tables(scenario)}) != 1 or len(
        _row_changes(scenario)
    ) < len(scenario.history.events):
        return
    table = _row_changes(scenario)[0].table
    name, database, columns = _short_names(scenario)
    for names in (
        (name, database, columns),
        (name, database, {}),
        (name, table.database, {}),
        (table.name, database, {}),
    ):
        yield _rename_table(scenario, *names)
    names_in_use = {c.name.casefold() for c in table.columns}
    yield from (
        _rename_table(scenario, table.name, table.database, {old: new})
        for old, new in columns.items()
        if new not in names_in_use
    )


def _short_names(scenario: Scenario) -> tuple[str, str, dict[str, str]]:
    """Short names for the first table: `t`, its database `d`, a key `id`, other columns `c`, `c1`
    ..., where they are shorter. At level two the database is the pool's.
    """
    table = _row_changes(scenario)[0].table
    other_columns = [c.name for c in table.columns if (c.name,) != table.handle_key]
    columns = {name: f"c{i or ''}" for i, name in enumerate(other_columns)}
    columns |= {c.name: "id" for c in table.columns if c.name not in other_columns}
    columns = {old: new for old, new in columns.items() if len(new) < _byte_length(old)}
    names_in_use = {c.name.casefold() for c in table.columns} - {old.casefold() for old in columns}
    columns = {old: new for old, new in columns.items() if new not in names_in_use}
    database = "d" if _byte_length(table.database) > 1 and scenario.level == 1 else table.database
    return "t" if _byte_length(table.name) > 1 else table.name, database, columns


def _rename_table(
    scenario: Scenario, name: str, database: str, columns: Mapping[str, str]
) -> Scenario:
    """The scenario with this name and database for every table (callers give scenarios of one), and
    columns renamed as the mapping from old to new names says.
    """

    def rename(table: Table) -> Table:
        """The table under its new names, which its keys have as well."""
        return replace(
            table,
            database=database,
            name=name,
            columns=tuple(replace(c, name=columns.get(c.name, c.name)) for c in table.columns),
            primary_key=tuple(columns.get(key, key) for key in table.primary_key),
            unique=tuple(tuple(columns.get(key, key) for key in keys) for keys in table.unique),
        )

    return _with_events(
        scenario, (_move_event(event, rename, columns=columns) for event in scenario.history.events)
    )


def _move_event(
    event: Event,
    to: Callable[[Table], Table],
    suffix: str = "",
    columns: Mapping[str, str] | None = None,
) -> Event:
    """The event on other tables; its rows keep the columns that the table still has."""
    match event:
        case RowChange():
            table, new_names = to(event.table), columns or {}
            names = {c.name for c in table.columns}

            def move_image(image: Row | None) -> Row | None:
                """The image under the columns' new names, without the columns that the table has
                lost.
                """
                if image is None:
                    return None
                return {
                    new: value
                    for old, value in image.items()
                    if (new := new_names.get(old, old)) in names
                }

            return replace(
                event,
                table=table,
                rows=tuple(
                    RowImages(move_image(i.before), move_image(i.after)) for i in event.rows
                ),
            )
        case Bootstrap():
            return replace(event, table=to(event.table))
        case SchemaChange():
            moved = replace(
                event,
                before=event.before and to(event.before),
                after=event.after and to(event.after),
            )
            return replace(
                moved,
                sql=_move_sql(event, suffix),
                database=event.database and event.database + suffix,
            )
        case SourceStatement():
            return replace(
                event,
                sql=_move_sql(event, suffix),
                database=event.database and event.database + suffix,
            )
        case LogicalMessage() | ReplicaIdentity() | DtsOperation():
            return replace(event, database=event.database and event.database + suffix)
    return event


def _move_sql(event: SchemaChange | SourceStatement, suffix: str) -> str:
    """The SQL of a statement, in which the quoted name of its database has the suffix; as it is
    without a suffix or a database.
    """
    if not suffix or not event.database:
        return event.sql
    table = (event.after or event.before) if isinstance(event, SchemaChange) else None
    quote = (databases.of_table(table) if table else databases.MYSQL).quote
    return event.sql.replace(quote(event.database), quote(event.database + suffix))
