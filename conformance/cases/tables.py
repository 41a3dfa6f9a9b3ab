"""The cases of a user's own tables, in place of the generic ones."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cache, partial
from itertools import chain, cycle
from pathlib import Path
from typing import Any

from conformance.cases.catalogue import select_profiles, spoil_case, spoil_some_drawn
from generators.drawing.cases import as_case
from generators.errors import Refused, UnknownName, UsageError
from generators.garbage import faults
from generators.model import Bootstrap, Case, History, Kind, Op, RowChange, Scenario, Table
from generators.profiles import Profile
from generators.sources.boundaries import change
from generators.sources.databases import source
from generators.tables import overrides, scenarios
from generators.tables.load import TableLoad
from generators.tables.schema import DIALECTS, Schema, UserTable, table_name
from generators.tables.user_values import Values
from generators.wire_format import Format, get


@dataclass(frozen=True, slots=True)
class UsableTables:
    """A user's tables that a format's writer can write (`users`), and for each other table a note
    why it is left out.
    """

    users: tuple[UserTable, ...]
    notes: tuple[str, ...] = ()


def usable_tables(fmt: Format[Any], schema: Schema) -> UsableTables:
    """The user's tables that the format can write: those of which it has the type of every column.
    A table without one of its columns would not be the user's.
    """
    usable, notes = [], []
    for user in schema.tables:
        unsupported = [
            f"{column.name} {column.type.key}"
            for column in user.table.columns
            if not fmt.supports(column.type)
        ]
        if unsupported:
            these_types = "this type" if len(unsupported) == 1 else "these types"
            notes.append(
                f"{fmt.name}: table {user.table.name} is left out: the format has not {these_types}:"
                f" {', '.join(unsupported)}"
            )
        else:
            usable.append(user)
    return UsableTables(tuple(usable), tuple(notes))


def profiles_of_source(
    fmt: Format[Any], selected: Sequence[Profile], schema: Schema
) -> tuple[Profile, ...]:
    """The selected profiles whose product reads the database of the user's tables, such as MySQL.
    Raises UsageError if there is none.
    """
    readers = tuple(profile for profile in selected if profile.source == schema.source)
    if not readers:
        databases = dict.fromkeys(profile.source for profile in selected)
        undeclared = [name for name in databases if not source(name).ddl_actions]
        hint = f". No DDL declares tables of {undeclared[0]}" if undeclared else ""
        raise UsageError(
            f"{fmt.name}: the tables are of {schema.dialect}, the selected profiles read"
            f" {', '.join(databases)}{hint}"
        )
    return readers


def profiles_matching(
    format_names: Iterable[str], globs: str | Sequence[str] = ()
) -> tuple[Profile, ...]:
    """The profiles of these formats that match a pattern, all profiles if there is no pattern. A
    format that is not known, or has no match, is skipped.
    """
    profiles: list[Profile] = []
    for name in format_names:
        with suppress(UnknownName):
            profiles += select_profiles(get(name), globs or "*")
    return tuple(profiles)


def read_tables(
    sources: Sequence[str],
    dialect: str | None,
    database: str | None,
    values_file: Path | None,
    seed: int,
    readers: Sequence[Profile],
) -> Values:
    """A user's tables (`sources`: their SQL files or a database's URL) with their values. If the
    text does not tell its SQL dialect, it is that of the database that all `readers`, the selected
    profiles, read, if this has only one dialect. Raises UsageError.
    """
    from generators.tables.reading import read_schema

    origins = {reader.source for reader in readers}
    if origins and origins.isdisjoint(DIALECTS.values()):
        names = ", ".join(sorted(origins))
        raise UsageError(
            f"the selected profiles read {names}, whose DDL is not read; select profiles that read"
            f" one of: {', '.join(dict.fromkeys(DIALECTS.values()))}"
        )
    dialects = [name for name, origin in DIALECTS.items() if origins == {origin}]
    fallback = dialects[0] if len(dialects) == 1 else None
    schema = read_schema(sources, dialect, database, fallback)
    return Values(
        schema,
        overrides.load_overrides(values_file, schema) if values_file else overrides.NO_OVERRIDES,
        seed,
    )


def table_load(fmt: Format[Any], profile: str | None, values: Values) -> tuple[Profile, TableLoad]:
    """What `load` and `publish` write of a user's tables, and the profile that writes it: the given
    one, else the last one without compression that reads the tables' database. Raises UsageError.
    """
    readers = profiles_of_source(
        fmt, [fmt.profile(profile)] if profile else fmt.profiles, values.schema
    )
    plain = [reader for reader in readers if reader.deployment.compression == "none"] or readers
    return plain[-1], TableLoad(values, usable_tables(fmt, values.schema).users)


def formats_for_tables(
    names: Sequence[str],
    requested_formats: Sequence[str],
    globs: Sequence[str],
    schema: Schema,
    report_left_out: Callable[[Sequence[str]], object],
) -> tuple[str, ...]:
    """The formats of `names` that can write some of the tables, with selected profiles that read
    their database.

    `report_left_out` gets the notes on tables that a format leaves out, if any. Raises UsageError
    where a `requested_formats` format, or every format, can write none.
    """
    writable, notes, problem = [], list[str](), ""
    for name in names:
        fmt = get(name)
        try:
            profiles_of_source(fmt, select_profiles(fmt, globs), schema)
        except UsageError as error:
            if name in requested_formats:
                raise
            problem = str(error)
            continue
        tables = usable_tables(fmt, schema)
        notes += tables.notes
        if tables.users:
            writable.append(name)
        elif name in requested_formats:
            raise UsageError(f"{name} can write none of the tables: {'; '.join(tables.notes)}")
    if notes:
        report_left_out(notes)
    if not writable:
        raise UsageError(problem or f"no format can write the tables: {'; '.join(notes)}")
    return tuple(writable)


def _has_kind(fmt: Format[Any], kind: Kind) -> bool:
    """Whether the format has messages of this kind of change, such as DDL."""
    return any(listed.kind == kind for listed in fmt.kinds)


def _with_bootstraps(scenario: Scenario) -> Scenario:
    """The scenario with a message that announces each table's schema put in front: cases of one
    table share a decoder's cache of schemas, so that each must bring its own.
    """
    events = scenario.history.events
    first: dict[tuple[str, str | None, str], Table] = {}
    for event in events:
        if isinstance(event, RowChange):
            first.setdefault(table_name(event.table), event.table)
    bootstraps = (Bootstrap(events[0].at, table) for table in first.values())
    return replace(scenario, history=replace(scenario.history, events=(*bootstraps, *events)))


def _adapt_scenarios(
    fmt: Format[Any], scenarios_of_tables: Iterable[Scenario]
) -> Iterator[Scenario]:
    """The scenarios as the format needs them. If the format has BOOTSTRAP messages, which announce
    schemas, scenarios of level one (all changes as text) begin with one for each table.
    """
    announces = _has_kind(fmt, Kind.BOOTSTRAP)
    return (
        _with_bootstraps(scenario) if scenario.level == 1 and announces else scenario
        for scenario in scenarios_of_tables
    )


def _named_scenarios(
    fmt: Format[Any], values: Values, users: Sequence[UserTable]
) -> Iterator[Scenario]:
    """The named scenarios (fixed histories, not drawn at random) of a user's tables as the format
    writes them. Those of DDL statements are there only if the format has DDL messages.
    """
    return _adapt_scenarios(
        fmt, scenarios.named_scenarios(values, users, ddl=_has_kind(fmt, Kind.DDL))
    )


@cache
def _drawn_scenarios(
    fmt: Format[Any], values: Values, count: int, seed: int
) -> tuple[Scenario, ...]:
    """The drawn scenarios (random histories) of the user's tables for this seed; none if no table
    is usable. The result is cached, since each failing case looks its scenario up in it.
    """
    users = usable_tables(fmt, values.schema).users
    drawn = (
        scenarios.drawn_scenarios(values, users, count, seed, ddl=_has_kind(fmt, Kind.DDL))
        if users and count
        else ()
    )
    return tuple(_adapt_scenarios(fmt, drawn))


def named_cases(fmt: Format[Any], selected: Sequence[Profile], values: Values) -> Iterator[Case]:
    """The named cases (not drawn at random) of the user's tables: every boundary value, operation,
    statement and fault, written by each profile whose database is that of the tables.
    """
    users = usable_tables(fmt, values.schema).users
    scenarios_of_tables = [*_named_scenarios(fmt, values, users)]
    for profile in profiles_of_source(fmt, selected, values.schema):
        for scenario in scenarios_of_tables:
            case = as_case(fmt, profile, scenario)
            if case.written:
                yield case
        yield from _fault_cases(fmt, profile, values, users)


def _fault_cases(
    fmt: Format[Any], profile: Profile, values: Values, users: Sequence[UserTable]
) -> Iterator[Case]:
    """Cases of an INSERT of each table, made malformed in each way that no decoder may accept.
    Inserts that the writer refuses, or that give no message, are left out.
    """
    labels = scenarios.table_labels(values.schema)
    for number, user in enumerate(values.schema.tables):
        if user not in users:
            continue
        for fault in faults.applicable(fmt.faults, profile.deployment.compression):
            if fault.obligation != faults.MUST:
                continue
            insert = change(user.table, Op.INSERT, (None, values.base_row(user, 0)))
            name = f"{scenarios.TABLES_TAG}/{labels[number]}/fault/{fault.name}"
            scenario = scenarios.boundary_scenario(name, insert, tags=[f"fault:{fault.tag}"])
            with suppress(Refused):
                case = spoil_case(
                    as_case(fmt, profile, scenario), partial(faults.apply, fault=fault), fault.name
                )
                if case.written:
                    yield case


def drawn_cases(
    fmt: Format[Any], selected: Sequence[Profile], values: Values, count: int, seed: int
) -> Iterator[Case]:
    """Up to `count` drawn cases (random ones) of the user's tables, which the profiles write in
    turn: a third at level two (typed rows of one table), the others at level one with histories of
    all tables. Cases without messages are left out.
    """
    profiles = cycle(profiles_of_source(fmt, selected, values.schema))
    for scenario, profile in zip(
        _drawn_scenarios(fmt, values, count, seed), profiles, strict=False
    ):
        case = as_case(fmt, profile, scenario)
        if case.written:
            yield spoil_some_drawn(fmt, profile, case)


def table_histories(fmt: Format[Any], values: Values, count: int, seed: int) -> tuple[History, ...]:
    """The histories of the user's tables that are for level one (all changes as text): those of the
    named scenarios, and of `count` drawn ones.
    """
    all_scenarios = chain(
        _named_scenarios(fmt, values, usable_tables(fmt, values.schema).users),
        _drawn_scenarios(fmt, values, count, seed),
    )
    return tuple(scenario.history for scenario in all_scenarios if scenario.level == 1)


def find_scenario(
    fmt: Format[Any], values: Values, case: Case, count: int, seed: int
) -> Scenario | None:
    """The scenario from which a case of the user's tables was written, found by its name; None for
    a malformed message, which has none. `count` and `seed` are those of the run's drawn cases.
    """
    of_tables = usable_tables(fmt, values.schema).users
    candidates = (
        _drawn_scenarios(fmt, values, count, seed)
        if "drawn" in case.tags
        else _named_scenarios(fmt, values, of_tables)
    )
    return next((scenario for scenario in candidates if scenario.name == case.scenario), None)
