"""The cases of a user's own tables, in place of the generic ones."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cache, partial
from itertools import chain, cycle
from pathlib import Path
from typing import Any

from conformance.cases.catalogue import faulty, perhaps_spoiled, profiles
from generators.drawing.cases import as_case
from generators.errors import Refused, UsageError
from generators.garbage import faults
from generators.model import Bootstrap, Case, History, Kind, Op, RowChange, Scenario, Table
from generators.profiles import Profile
from generators.sources.boundaries import change
from generators.tables import overrides, scenarios
from generators.tables.load import TableLoad
from generators.tables.schema import DIALECTS, Schema, UserTable, table_name
from generators.tables.user_values import Values
from generators.wire_format import Format, get


@dataclass(frozen=True, slots=True)
class Usable:
    """The tables that a format's writer can write; `notes` say why the others are left out."""

    users: tuple[UserTable, ...]
    notes: tuple[str, ...] = ()


def usable(fmt: Format[Any], schema: Schema) -> Usable:
    """The tables of which the format has every type. A table without one of its columns would not
    be the user's.
    """
    kept, notes = [], []
    for user in schema.tables:
        foreign = [
            f"{column.name} {column.type.key}"
            for column in user.table.columns
            if not fmt.supports(column.type)
        ]
        if foreign:
            what = "this type" if len(foreign) == 1 else "these types"
            notes.append(
                f"{fmt.name}: table {user.table.name} is left out: the format has not {what}:"
                f" {', '.join(foreign)}"
            )
        else:
            kept.append(user)
    return Usable(tuple(kept), tuple(notes))


def reading(fmt: Format[Any], selected: Sequence[Profile], schema: Schema) -> tuple[Profile, ...]:
    """The profiles whose writer reads the tables' database. Raises UsageError where there is
    none.
    """
    readers = tuple(profile for profile in selected if profile.source == schema.source)
    if not readers:
        databases = ", ".join(dict.fromkeys(profile.source for profile in selected))
        raise UsageError(
            f"{fmt.name}: the tables are of {schema.dialect}, the selected profiles read"
            f" {databases}"
        )
    return readers


def read_tables(
    sources: Sequence[str],
    dialect: str | None,
    database: str | None,
    values_file: Path | None,
    seed: int,
    readers: Sequence[Profile] = (),
) -> Values:
    """A user's tables with their values. Where the text does not tell its dialect, it is the only
    one of the source that all `readers`, the selected profiles, read. Raises UsageError.
    """
    from generators.tables.reading import read_schema

    origins = {reader.source for reader in readers}
    dialects = [name for name, origin in DIALECTS.items() if origins == {origin}]
    fallback = dialects[0] if len(dialects) == 1 else None
    schema = read_schema(sources, dialect, database, fallback)
    return Values(
        schema,
        overrides.load_overrides(values_file, schema) if values_file else overrides.NO_OVERRIDES,
        seed,
    )


def load_of(fmt: Format[Any], profile: str | None, values: Values) -> tuple[Profile, TableLoad]:
    """The load of a user's tables, and the profile that writes it: the given one, else the last
    without compression that reads their database. Raises UsageError.
    """
    readers = reading(fmt, [fmt.profile(profile)] if profile else fmt.profiles, values.schema)
    plain = [reader for reader in readers if reader.deployment.compression == "none"] or readers
    return plain[-1], TableLoad(values, usable(fmt, values.schema).users)


def writing(
    names: Sequence[str],
    given: Sequence[str],
    globs: Sequence[str],
    schema: Schema,
    left_out: Callable[[Sequence[str]], object],
) -> tuple[str, ...]:
    """The formats of `names` that can write some of the tables, with selected profiles that read
    their database.

    `left_out` gets the notes on tables that a format leaves out, if any. Raises UsageError where a
    `given` format, or every format, can write none.
    """
    kept, notes, problem = [], list[str](), ""
    for name in names:
        fmt = get(name)
        try:
            reading(fmt, profiles(fmt, globs), schema)
        except UsageError as error:
            if name in given:
                raise
            problem = str(error)
            continue
        tables = usable(fmt, schema)
        notes += tables.notes
        if tables.users:
            kept.append(name)
        elif name in given:
            raise UsageError(f"{name} can write none of the tables: {'; '.join(tables.notes)}")
    if notes:
        left_out(notes)
    if not kept:
        raise UsageError(problem or f"no format can write the tables: {'; '.join(notes)}")
    return tuple(kept)


def _sends(fmt: Format[Any], kind: Kind) -> bool:
    return any(row.kind == kind for row in fmt.kinds)


def _announced(scenario: Scenario) -> Scenario:
    """The scenario behind the schemas of its tables: cases of one table share a decoder's cache of
    schemas.
    """
    events = scenario.history.events
    first: dict[tuple[str, str | None, str], Table] = {}
    for event in events:
        if isinstance(event, RowChange):
            first.setdefault(table_name(event.table), event.table)
    bootstraps = (Bootstrap(events[0].at, table) for table in first.values())
    return replace(scenario, history=replace(scenario.history, events=(*bootstraps, *events)))


def _as_sent(fmt: Format[Any], bare: Iterable[Scenario]) -> Iterator[Scenario]:
    """The scenarios as the format tells them."""
    announces = _sends(fmt, Kind.BOOTSTRAP)
    return (
        _announced(scenario) if scenario.level == 1 and announces else scenario for scenario in bare
    )


def _named(fmt: Format[Any], values: Values, users: Sequence[UserTable]) -> Iterator[Scenario]:
    return _as_sent(fmt, scenarios.named_scenarios(values, users, ddl=_sends(fmt, Kind.DDL)))


@cache
def _drawn(fmt: Format[Any], values: Values, count: int, seed: int) -> tuple[Scenario, ...]:
    """The drawn scenarios, once: each failure is looked up among them."""
    users = usable(fmt, values.schema).users
    drawn = (
        scenarios.drawn_scenarios(values, users, count, seed, ddl=_sends(fmt, Kind.DDL))
        if users and count
        else ()
    )
    return tuple(_as_sent(fmt, drawn))


def named_cases(fmt: Format[Any], selected: Sequence[Profile], values: Values) -> Iterator[Case]:
    """Every boundary, operation, statement and fault case of the tables, as each profile writes
    them.
    """
    users = usable(fmt, values.schema).users
    named = [*_named(fmt, values, users)]
    for profile in reading(fmt, selected, values.schema):
        for scenario in named:
            case = as_case(fmt, profile, scenario)
            if case.written:
                yield case
        yield from _faults(fmt, profile, values, users)


def _faults(
    fmt: Format[Any], profile: Profile, values: Values, users: Sequence[UserTable]
) -> Iterator[Case]:
    """An INSERT of each table, spoiled in each way that no decoder may accept."""
    known = scenarios.table_labels(values.schema)
    for number, user in enumerate(values.schema.tables):
        if user not in users:
            continue
        for fault in faults.applicable(fmt.faults, profile.deployment.compression):
            if fault.obligation != faults.MUST:
                continue
            row = change(user.table, Op.INSERT, (None, values.base_row(user, 0)))
            name = f"{scenarios.TAG}/{known[number]}/fault/{fault.name}"
            scenario = scenarios.boundary_scenario(name, row, tags=[f"fault:{fault.tag}"])
            with suppress(Refused):
                case = faulty(
                    as_case(fmt, profile, scenario), partial(faults.apply, fault=fault), fault.name
                )
                if case.written:
                    yield case


def drawn_cases(
    fmt: Format[Any], selected: Sequence[Profile], values: Values, count: int, seed: int
) -> Iterator[Case]:
    """Up to `count` drawn cases, which the profiles write in turn: a third at level two, the others
    histories of all tables.
    """
    profiles = cycle(reading(fmt, selected, values.schema))
    for scenario, profile in zip(_drawn(fmt, values, count, seed), profiles, strict=False):
        case = as_case(fmt, profile, scenario)
        if case.written:
            yield perhaps_spoiled(fmt, profile, case)


def histories(fmt: Format[Any], values: Values, count: int, seed: int) -> tuple[History, ...]:
    """The histories of level one: the named ones, and `count` drawn ones."""
    every = chain(
        _named(fmt, values, usable(fmt, values.schema).users), _drawn(fmt, values, count, seed)
    )
    return tuple(scenario.history for scenario in every if scenario.level == 1)


def find_scenario(
    fmt: Format[Any], values: Values, case: Case, count: int, seed: int
) -> Scenario | None:
    """The scenario of a case; None for faults."""
    of_tables = usable(fmt, values.schema).users
    candidates = (
        _drawn(fmt, values, count, seed) if "drawn" in case.tags else _named(fmt, values, of_tables)
    )
    return next((scenario for scenario in candidates if scenario.name == case.scenario), None)
