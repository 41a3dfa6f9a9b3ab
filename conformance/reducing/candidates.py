"""Candidates of a reduction: scenarios with fewer events, rows and columns, simpler values and
shorter names.

The most promising candidates come first. A candidate need not fail, and a writer may refuse it, but
it is always smaller than its origin by `measure`.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Final

from conformance.judging.judge import Finding
from conformance.reducing._plain_values import simpler, weight
from generators.drawing.cases import as_case
from generators.garbage import faults
from generators.model import (
    Bootstrap,
    Case,
    Column,
    Event,
    Heartbeat,
    History,
    Instant,
    Kind,
    Op,
    Origin,
    Row,
    RowChange,
    RowImages,
    Scenario,
    SchemaChange,
    SourceStatement,
    Table,
    Value,
    Written,
)
from generators.profiles import Profile
from generators.sources import registry as sources
from generators.sources.boundaries import of_three
from generators.tables.scenarios import TAG as TABLES
from generators.tables.schema import table_name
from generators.wire_format import Format

Measure = tuple[int, int, int, int, int]
"""Events, rows, columns, bytes or letters of names, and the weight of all values and ops; compared
in this order.
"""

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
    row: int = 0
    column: str | None = None
    message: int = 0


@dataclass(frozen=True, slots=True)
class Recipe:
    """Makes a case of a scenario: a profile writes it, and a fault case is spoiled."""

    fmt: Format[Any]
    profile: Profile
    spoil: Callable[[Written], Written] | None = None

    def case(self, scenario: Scenario) -> Case:
        """The case. Raises Refused for a history that its source cannot have, or a fault without a
        place in a message.
        """
        case = as_case(self.fmt, self.profile, scenario)
        if self.spoil is None:
            return case
        spoil = self.spoil
        rows = (
            spoil(written) if any(c.kind is Kind.ROW for c in written.changes) else written
            for written in case.written
        )
        return replace(case, written=tuple(rows))

    def smaller(self, scenario: Scenario, where: Hint) -> Iterator[Scenario]:
        """Smaller scenarios, boldest first."""
        return candidates(scenario, where)


@dataclass(frozen=True, slots=True)
class RecordedRecipe:
    """Makes a case of some messages of a recorded case, as they are: an event of a scenario is the
    number of a message.
    """

    fmt: Format[Any]
    profile: Profile
    whole: Case

    @property
    def scenario(self) -> Scenario:
        """The scenario of all messages."""
        numbers = tuple(Heartbeat(Instant(number)) for number in range(len(self.whole.written)))
        return Scenario(self.whole.scenario, History(numbers), self.whole.level, self.whole.tags)

    def case(self, scenario: Scenario) -> Case:
        """The case with the scenario's messages."""
        return replace(
            self.whole,
            written=tuple(self.whole.written[event.at.ms] for event in scenario.history.events),
        )

    def smaller(self, scenario: Scenario, where: Hint) -> Iterator[Scenario]:
        """The failing message alone, then without some others. A message of a schema stays while a
        row is left.
        """
        events = scenario.history.events
        failing = events[min(where.message, len(events) - 1)]
        fixed = {event for event in events if self._kinds(event) & {Kind.BOOTSTRAP, Kind.DDL}}
        free = [event for event in events if event not in fixed and event is not failing]
        for left in ([], *_left(free)):
            chosen = {failing, *left}
            if any(Kind.ROW in self._kinds(event) for event in chosen):
                chosen |= fixed
            yield _with(scenario, (event for event in events if event in chosen))

    def _kinds(self, event: Event) -> set[Kind]:
        return {change.kind for change in self.whole.written[event.at.ms].changes}


def hint(finding: Finding, case: Case) -> Hint:
    """The place of a case's finding."""
    column = finding.column
    known = any(column == c.name for table in case.tables for c in table.columns)
    if finding.message >= len(case.written):
        return Hint(column=column if known else None, message=finding.message)
    event = case.written[finding.message].message.event
    before = sum(
        len(w.changes) for w in case.written[: finding.message] if w.message.event == event
    )
    return Hint(event, before + finding.row, column if known else None, finding.message)


def _whole(fmt: Format[Any], profile: Profile, case: Case) -> faults.Fault | None:
    """The fault of the case's whole values."""
    applicable = faults.applicable(fmt.faults, profile.deployment.compression)
    return next((fault for fault in applicable if fault.name == case.fault), None)


def recipe(fmt: Format[Any], profile: Profile, case: Case) -> Recipe:
    """The recipe of a case of a scenario; its whole values are spoiled as the case's are."""
    fault = _whole(fmt, profile, case)
    return Recipe(fmt, profile, partial(faults.apply, fault=fault) if fault else None)


def fault_of(fmt: Format[Any], profile: Profile, case: Case) -> tuple[Scenario, Recipe] | None:
    """The scenario and recipe of a fault case; None when the case has no fault of the catalogue."""
    if case.origin is not Origin.FAULT:
        return None
    if (fault := _whole(fmt, profile, case)) is not None:
        if case.level == 2:
            return faults.unreadable_row(fault, profile.source), recipe(fmt, profile, case)
        alone = (
            scenario
            for _, scenario in faults.fault_scenarios(profile.database, profile.source, (fault,))
        )
        return next(
            (
                (s, recipe(fmt, profile, case))
                for s in _and_of_three(alone)
                if s.name == case.scenario
            ),
            None,
        )
    for cell, scenario in faults.cell_fault_scenarios(
        fmt.supports, fmt.unfit_cells(profile), profile.source
    ):
        for variant in _and_of_three((scenario,), cell.column):
            if variant.name == case.scenario:
                return variant, Recipe(fmt, profile, partial(faults.cell_fault, fault=cell))
    for cell, scenario in faults.cell_text_scenarios(
        profile.database, fmt.supports, profile.source
    ):
        if scenario.name == case.scenario:
            return scenario, Recipe(fmt, profile, partial(faults.cell_text, fault=cell))
    return None


def _and_of_three(single: Iterable[Scenario], column: str = "") -> Iterator[Scenario]:
    """Scenarios of one row; an inserted row also stands between two others."""
    for scenario in single:
        yield scenario
        (event,) = scenario.history.events[:1]
        if (
            isinstance(event, RowChange)
            and event.op is Op.INSERT
            and len(scenario.history.events) == 1
        ):
            yield of_three(scenario, column)


def tables(scenario: Scenario) -> tuple[Table, ...]:
    """Every table, at every version, of the scenario's events."""
    seen: dict[Table, None] = {}
    for event in scenario.history.events:
        match event:
            case RowChange() | Bootstrap():
                seen[event.table] = None
            case SchemaChange():
                seen |= {table: None for table in (event.before, event.after) if table}
    return tuple(seen)


def measure(scenario: Scenario, size: int | None = None) -> Measure:
    """The size of a scenario. `size` is the bytes of its messages; without it, the letters of names
    count.
    """
    changes = [event for event in scenario.history.events if isinstance(event, RowChange)]
    used = tables(scenario)
    names = [name for t in used for name in (t.database, t.name, *(c.name for c in t.columns))]
    letters = sum(map(_length, names)) + sum(len(t.unique) for t in used)
    heavy = sum(
        1 + weight(e.table.column(n).type, v)
        for e in changes
        for i in _images(e)
        for n, v in i.items()
    )
    heavy += sum(_OPS.index(e.op) if e.op in _OPS else len(_OPS) for e in changes)
    columns = sum(len(table.columns) for table in used)
    return (
        len(scenario.history.events),
        sum(len(e.rows) for e in changes),
        columns,
        letters if size is None else size,
        heavy,
    )


def _length(name: str) -> int:
    return len(name.encode())


def candidates(scenario: Scenario, where: Hint) -> Iterator[Scenario]:
    """Smaller scenarios, boldest first, each below `scenario` by `measure`; some may come twice."""
    most = measure(scenario)
    for smaller in _candidates(scenario, where):
        if measure(smaller) < most and (TABLES not in scenario.tags or _parts(smaller, scenario)):
            yield smaller


def _parts(smaller: Scenario, scenario: Scenario) -> bool:
    """Whether a candidate has only tables and cells of the scenario: a user's table keeps its name
    and its values.
    """
    cells = {
        (name, repr(value))
        for event in _changes(scenario)
        for image in _images(event)
        for name, value in image.items()
    }
    held = all(
        (name, repr(value)) in cells
        for event in _changes(smaller)
        for row in _images(event)
        for name, value in row.items()
    )
    return held and set(map(table_name, tables(smaller))) <= set(map(table_name, tables(scenario)))


def _candidates(scenario: Scenario, where: Hint) -> Iterator[Scenario]:
    structure = (_columns(scenario, where), _events(scenario, where), _rows(scenario))
    details: tuple[Iterator[Scenario], ...] = ()
    if sum(len(event.rows) for event in _changes(scenario)) <= _VALUED:
        details = (_values(scenario, where.column), _names(scenario))
    yield from _interleaved(_boldest(scenario, where), _rows_alone(scenario, where))
    if max((len(table.columns) for table in tables(scenario)), default=0) > _WIDE:
        yield from _interleaved(*structure)
        yield from _interleaved(*details)
    else:
        yield from _interleaved(*structure, *details)


def _boldest(scenario: Scenario, where: Hint) -> Iterator[Scenario]:
    """The failing row, cut to the key and the failing column, with short names and with its own;
    then with simpler values and a plainer op, all at once. Without a failing column: the key alone,
    or with a column that the row changes.
    """
    event = next(iter(scenario.history.events[where.event : where.event + 1]), None)
    if not isinstance(event, RowChange) or not event.rows:
        return
    row = event.rows[min(where.row, len(event.rows) - 1)]
    alone = _with(scenario, (replace(event, rows=(row,)),))
    aims = [where.column] if where.column is not None else [None, *_likely(event.table, row)]
    own = {aim: _narrow(alone, () if aim is None else {aim}) for aim in aims}
    called = {aim: _short(cut) for aim, cut in own.items()}
    short = {aim: _called(cut, *called[aim]) for aim, cut in own.items()}
    yield from (cut for aim in aims for cut in (short[aim], own[aim]))
    for aim in aims:
        column = None if aim is None else called[aim][2].get(aim, aim)
        for images in (short[aim], *_shorter_images(short[aim])):
            yield images
            cells = [
                (cell, plain[0])
                for cell in _cells(images)
                if cell.column.name != column and (plain := _plainest(cell))
            ]
            plainer = _set(images, cells)
            yield plainer
            yield from _values(plainer, column)


def _likely(table: Table, row: RowImages) -> list[str]:
    """Columns beside the key: some changed columns, and the first."""
    free = [c.name for c in table.columns if c.name not in table.handle_key]
    before, after = row.before or {}, row.after or {}
    changed = [
        name for name in free if name in before and name in after and before[name] != after[name]
    ]
    return list(dict.fromkeys((*changed[:2], *free[:1])))


def apart(scenario: Scenario, suffix: str) -> Scenario:
    """The scenario with the suffix on every database name, so that it shares no table with other
    scenarios.
    """
    events = scenario.history.events
    return _with(
        scenario,
        (
            _renamed(event, lambda table: replace(table, database=table.database + suffix), suffix)
            for event in events
        ),
    )


def _with(scenario: Scenario, events: Iterable[Event]) -> Scenario:
    return replace(scenario, history=replace(scenario.history, events=tuple(events)))


def _changes(scenario: Scenario) -> list[RowChange]:
    return [event for event in scenario.history.events if isinstance(event, RowChange)]


def _images(event: RowChange) -> Iterator[Row]:
    for images in event.rows:
        yield from (image for image in (images.before, images.after) if image is not None)


def _interleaved(*kinds: Iterator[Scenario]) -> Iterator[Scenario]:
    """Alternates, so that a limit cuts each kind of candidate alike."""
    for group in itertools.zip_longest(*kinds):
        yield from (candidate for candidate in group if candidate is not None)


def _first(items: Sequence[Any], number: int) -> list[Any]:
    """The items, with item `number` first."""
    return [*items[number : number + 1], *items[:number], *items[number + 1 :]]


# ---- rows and events


def _rows_alone(scenario: Scenario, where: Hint) -> Iterator[Scenario]:
    """One row: cut to the key and the failing column; whole; with all events that are no row
    change.
    """
    events = scenario.history.events
    kept = {where.column} if where.column is not None else set()
    alone: list[tuple[int, RowChange]] = []
    for number, event in _first(list(enumerate(events)), where.event):
        if isinstance(event, RowChange):
            alone += [(number, replace(event, rows=(images,))) for images in event.rows[:_ROWS]]
    if len(events) == 1 and alone and len(_changes(scenario)[0].rows) == 1:
        return
    for _, event in alone:
        yield _narrow(_with(scenario, (event,)), kept)
    for _, event in alone:
        yield _with(scenario, (event,))
    if any(not isinstance(event, RowChange) for event in events):
        for number, event in alone:
            around = (
                event if i == number else e
                for i, e in enumerate(events)
                if i == number or not isinstance(e, RowChange)
            )
            yield _narrow(_with(scenario, around), kept)
    for event in events:
        if not isinstance(event, RowChange):
            yield _with(scenario, (event,))


def _events(scenario: Scenario, where: Hint) -> Iterator[Scenario]:
    """The scenario without a half, a quarter ... of its events, and without each; cut to the
    failing column, and whole.
    """
    events = scenario.history.events
    for left in _left(events):
        smaller = _with(scenario, left)
        if where.column is not None:
            yield _narrow(smaller, {where.column})
        yield smaller


def _rows(scenario: Scenario) -> Iterator[Scenario]:
    """The scenario without a half, a quarter ... of an event's rows, and without each."""
    for number, event in enumerate(scenario.history.events):
        if isinstance(event, RowChange):
            for left in _left(event.rows):
                yield _put(scenario, number, replace(event, rows=tuple(left)))


def _left(items: Sequence[Any]) -> Iterator[list[Any]]:
    """The items without a part: halves first, then ever smaller parts; never empty."""
    size = len(items) // 2
    while size:
        for start in range(0, len(items), size):
            left = [*items[:start], *items[start + size :]]
            if left:
                yield left
        size //= 2


def _put(scenario: Scenario, number: int, event: Event) -> Scenario:
    events = scenario.history.events
    return _with(scenario, (*events[:number], event, *events[number + 1 :]))


# ---- columns


def _columns(scenario: Scenario, where: Hint) -> Iterator[Scenario]:
    """Key and failing column alone, the key alone, each column beside the key, without a half, a
    quarter ... of the columns; a key of one column in place of one of several; a plainer op.
    """
    used = tables(scenario)
    free = list(
        dict.fromkeys(
            c.name for table in used for c in table.columns if c.name not in table.handle_key
        )
    )
    if where.column is not None and (
        set(free) - {where.column} or any(table.unique for table in used)
    ):
        yield _narrow(scenario, {where.column})
    if free:
        yield _narrow(scenario, ())
    if where.column is None and 1 < len(free) <= _ALONE:
        yield from (_narrow(scenario, {name}) for name in free)
    if len(free) > 1:
        yield from (_narrow(scenario, set(left)) for left in _left(free))
    for name in dict.fromkeys(
        name for table in used if len(table.primary_key) > 1 for name in table.primary_key
    ):
        yield _narrow(scenario, {*free} if where.column is None else {where.column}, key=name)
    yield from _shorter_images(scenario)


def _narrow(scenario: Scenario, kept: Collection[str], key: str | None = None) -> Scenario:
    """Every table cut to its key and these columns, at least one; with `key`, to that column of a
    key of several.
    """
    cut = {table: _cut(table, kept, key) for table in tables(scenario)}
    return _with(scenario, (_renamed(event, cut.__getitem__) for event in scenario.history.events))


def _cut(table: Table, kept: Collection[str], key: str | None) -> Table:
    primary = (key,) if key in table.primary_key and key is not None else table.primary_key
    handle = primary or table.handle_key
    columns = tuple(
        c
        for c in table.columns
        if c.name in handle
        or (c.name in kept and (c.name not in table.primary_key or c.name in primary))
    )
    columns = columns or table.columns[:1]
    # Another unique key would be one more index in the messages of writers that describe the table.
    unique = (handle,) if handle and not primary else ()
    return replace(table, columns=columns, primary_key=primary, unique=unique)


def _shorter_images(scenario: Scenario) -> Iterator[Scenario]:
    """An INSERT of either image for an UPDATE or DELETE, and a DELETE for an UPDATE."""
    for number, event in enumerate(scenario.history.events):
        if isinstance(event, RowChange) and event.op in _OPS[1:]:
            for side, op in (("after", Op.INSERT), ("before", Op.INSERT), ("before", Op.DELETE)):
                images: list[Row | None] = [getattr(row, side) for row in event.rows]
                if op is not event.op and all(image is not None for image in images):
                    alone = (
                        RowImages(image, None) if op is Op.DELETE else RowImages(None, image)
                        for image in images
                    )
                    yield _put(scenario, number, replace(event, op=op, rows=tuple(alone)))


# ---- values


def _values(scenario: Scenario, column: str | None) -> Iterator[Scenario]:
    """All cells but the failing column's at their plainest, then each cell at every simpler value,
    in both images at once if they are equal, and in each.
    """
    cells = list(_cells(scenario))
    others = [
        (cell, plain[0])
        for cell in cells
        if cell.column.name != column and (plain := _plainest(cell))
    ]
    if len(others) > 1:
        yield _set(scenario, others)
    grouped: dict[tuple[int, int, str, str, str], list[tuple[_Place, Value]]] = {}
    for cell in cells:
        for other in _plainest(cell):
            key = (cell.event, cell.row, cell.column.name, repr(cell.value), repr(other))
            grouped.setdefault(key, []).append((cell, other))
    by_column: dict[str, list[list[tuple[_Place, Value]]]] = {}
    for key, both in grouped.items():
        by_column.setdefault(key[2], []).append(both)
    first = sorted(by_column, key=lambda name: name != column)
    yield from _interleaved(*(map(partial(_set, scenario), by_column[name]) for name in first))
    yield from (
        _set(scenario, [single]) for both in grouped.values() if len(both) > 1 for single in both
    )


@dataclass(frozen=True, slots=True)
class _Place:
    """A cell: its place and value."""

    event: int
    row: int
    side: str
    column: Column
    value: Value


def _cells(scenario: Scenario) -> Iterator[_Place]:
    for number, event in enumerate(scenario.history.events):
        if isinstance(event, RowChange):
            for row, images in enumerate(event.rows):
                for side, image in (("before", images.before), ("after", images.after)):
                    for name, value in (image or {}).items():
                        if len(event.rows) == 1 or name not in event.table.handle_key:
                            yield _Place(number, row, side, event.table.column(name), value)


def _plainest(cell: _Place) -> list[Value]:
    null: list[Value] = [None] if cell.column.nullable and cell.value is not None else []
    return [*null, *simpler(cell.column.type, cell.value)]


def _set(scenario: Scenario, cells: Iterable[tuple[_Place, Value]]) -> Scenario:
    for cell, value in cells:
        event = scenario.history.events[cell.event]
        assert isinstance(event, RowChange)
        images = event.rows[cell.row]
        image: Row | None = getattr(images, cell.side)
        assert image is not None
        changed = replace(images, **{cell.side: {**image, cell.column.name: value}})
        rows = (*event.rows[: cell.row], changed, *event.rows[cell.row + 1 :])
        scenario = _put(scenario, cell.event, replace(event, rows=rows))
    return scenario


# ---- names


def _names(scenario: Scenario) -> Iterator[Scenario]:
    """All names short, then each."""
    if len({(table.database, table.name) for table in tables(scenario)}) != 1 or len(
        _changes(scenario)
    ) < len(scenario.history.events):
        return
    table = _changes(scenario)[0].table
    name, database, columns = _short(scenario)
    for names in (
        (name, database, columns),
        (name, database, {}),
        (name, table.database, {}),
        (table.name, database, {}),
    ):
        yield _called(scenario, *names)
    taken = {c.name.casefold() for c in table.columns}
    yield from (
        _called(scenario, table.name, table.database, {old: new})
        for old, new in columns.items()
        if new not in taken
    )


def _short(scenario: Scenario) -> tuple[str, str, dict[str, str]]:
    """Short names for the first table: `t`, its database `d`, a key `id`, other columns `c`, `c1`
    ..., where they are shorter. At level two the database is the pool's.
    """
    table = _changes(scenario)[0].table
    beside = [c.name for c in table.columns if (c.name,) != table.handle_key]
    columns = {name: f"c{i or ''}" for i, name in enumerate(beside)}
    columns |= {c.name: "id" for c in table.columns if c.name not in beside}
    columns = {old: new for old, new in columns.items() if len(new) < _length(old)}
    taken = {c.name.casefold() for c in table.columns} - {old.casefold() for old in columns}
    columns = {old: new for old, new in columns.items() if new not in taken}
    database = "d" if _length(table.database) > 1 and scenario.level == 1 else table.database
    return "t" if _length(table.name) > 1 else table.name, database, columns


def _called(scenario: Scenario, name: str, database: str, columns: Mapping[str, str]) -> Scenario:
    def called(table: Table) -> Table:
        return replace(
            table,
            database=database,
            name=name,
            columns=tuple(replace(c, name=columns.get(c.name, c.name)) for c in table.columns),
            primary_key=tuple(columns.get(key, key) for key in table.primary_key),
            unique=tuple(tuple(columns.get(key, key) for key in keys) for keys in table.unique),
        )

    return _with(
        scenario, (_renamed(event, called, columns=columns) for event in scenario.history.events)
    )


def _renamed(
    event: Event,
    to: Callable[[Table], Table],
    suffix: str = "",
    columns: Mapping[str, str] | None = None,
) -> Event:
    """The event on other tables; its rows keep the columns that the table still has."""
    match event:
        case RowChange():
            table, called = to(event.table), columns or {}
            names = {c.name for c in table.columns}

            def image(row: Row | None) -> Row | None:
                if row is None:
                    return None
                return {
                    new: value
                    for old, value in row.items()
                    if (new := called.get(old, old)) in names
                }

            return replace(
                event,
                table=table,
                rows=tuple(RowImages(image(i.before), image(i.after)) for i in event.rows),
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
                sql=_moved_sql(event, suffix),
                database=event.database and event.database + suffix,
            )
        case SourceStatement():
            return replace(
                event,
                sql=_moved_sql(event, suffix),
                database=event.database and event.database + suffix,
            )
    return event


def _moved_sql(event: SchemaChange | SourceStatement, suffix: str) -> str:
    if not suffix or not event.database:
        return event.sql
    table = (event.after or event.before) if isinstance(event, SchemaChange) else None
    quote = (sources.of_table(table) if table else sources.MYSQL).quote
    return event.sql.replace(quote(event.database), quote(event.database + suffix))
