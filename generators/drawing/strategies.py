"""Hypothesis strategies: types, values, names, columns, tables, rows, row changes, histories,
messages and scenarios.

They work in any `@given`, alone or composed: `messages("ticdc-canal-json", profile="v5.4.3")`.
Options are keyword-only, an illegal argument raises `hypothesis.errors.InvalidArgument` where the
strategy is made, and everything shrinks towards the smallest table with plain names and NULL, zero
or empty values.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, TypeVar

from hypothesis import HealthCheck, Phase, assume, given, seed, settings
from hypothesis import strategies as st
from hypothesis.errors import InvalidArgument
from hypothesis.strategies import DrawFn, SearchStrategy

from generators import wire_format
from generators.drawing import histories as _drawing
from generators.drawing import value_strategies as _values
from generators.errors import UnknownName
from generators.model import (
    Bootstrap,
    Column,
    DtsOperation,
    Event,
    History,
    Instant,
    Layout,
    LogicalMessage,
    Op,
    ReplicaIdentity,
    Row,
    RowChange,
    RowImages,
    Scenario,
    SchemaChange,
    SourceStatement,
    SourceType,
    Table,
    Value,
    Written,
)
from generators.profiles import Profile
from generators.sources import databases
from generators.sources.boundaries import START
from generators.wire_format import Format

T = TypeVar("T")


def any_type(_kind: SourceType) -> bool:
    """Accepts every type: the default of the argument `supports` of strategies, the function that
    says which types may be drawn.
    """
    return True


def types(
    *, supports: Callable[[SourceType], bool] = any_type, source: str = "mysql"
) -> SearchStrategy[SourceType]:
    """Column types of a source (a name of `databases.SOURCES`) that `supports` accepts, over the
    whole domain.

    MySQL: five widths of integers, signed, unsigned and zerofill, decimal(1..65, 0..30),
    bit(1..64), char and varchar lengths, fractional digits 0 to 6, enum and set of up to 64 labels.
    PostgreSQL: three widths of integers, numeric(1..65, 0..30) and without precision, money,
    boolean, bit and varbit(1..64), char and varchar lengths, text, bytea, fractional digits 0 to 6
    with and without time zone, interval, enum of up to 64 labels, uuid, inet, json, jsonb, hstore,
    integer[] and text[].

    Raises InvalidArgument when `supports` is not callable or accepts no type, or `source` is
    unknown.

    Shrinks towards int, and within a type towards the shortest or most common parameters.
    """
    return _types(supports, _source(source))


def values(type: SourceType, /, *, nullable: bool = False) -> SearchStrategy[Value]:
    """Canonical values of a type, all of which fit it (`databases.fits`); with `nullable` also None.

    About half are the type's boundaries and texts, bytes and times that decoders get wrong; the
    rest is the whole range. There are no surrogates and no NaN; infinities and negative zeros come
    only where the source is PostgreSQL.

    Raises InvalidArgument when `type` is no SourceType or of an unknown source, or `nullable` no
    bool.

    Shrinks towards None, zero, the empty value or 1970-01-01; enums towards their first label.
    """
    _check_class("kind", type, SourceType, "a SourceType such as mysql.integer('int')")
    _source(type.source)
    _check_class("nullable", nullable, bool, "True or False")
    return _values.value_strategy(type, nullable)


def names() -> SearchStrategy[str]:
    """Names of columns and tables: about half plain ones, else ones that mostly need escaping in
    SQL, JSON, JSON paths or HTML.

    1 to 64 characters below U+10000, no trailing space, never empty.

    Shrinks towards "a".
    """
    drawn = st.text("a0_Z `\"'\\.-<é汉\t", min_size=1, max_size=8).filter(
        lambda name: not name.endswith((" ", "\t"))
    )
    # Hypothesis drops a branch that is the same object as an earlier one.
    plain, plain_again = (st.sampled_from(_drawing.PLAIN_NAMES) for _ in range(2))
    return st.one_of(plain, plain_again, st.sampled_from(_drawing.ODD_NAMES), drawn)


def columns(
    *, supports: Callable[[SourceType], bool] = any_type, source: str = "mysql"
) -> SearchStrategy[Column]:
    """Columns of any name, any type of the source that `supports` accepts, nullable or not.

    Raises InvalidArgument when `supports` is not callable or accepts no type, or `source` is
    unknown.

    Shrinks towards a nullable int named "a".
    """
    origin = _source(source)
    return st.builds(
        Column,
        names().map(origin.identifier),
        _types(supports, origin),
        st.sampled_from((True, False)),
    )


def tables(
    *,
    database: str = "drawn",
    min_columns: int = 1,
    max_columns: int = 6,
    keyed: bool | None = None,
    supports: Callable[[SourceType], bool] = any_type,
    source: str = "mysql",
) -> SearchStrategy[Table]:
    """Tables of a source of `min_columns` to `max_columns` columns whose names differ ignoring
    case, as MySQL requires.

    Keys are single, composite (in another order than the columns, too), a unique key without
    nullable columns, or none. `keyed` True gives only tables with a primary key, False only tables
    without any key. Key columns are of key-able types and not nullable.

    Raises InvalidArgument for an empty database name, `min_columns` below 1 or above `max_columns`,
    `max_columns` above 1017, `keyed` other than None, True or False, a `supports` that leaves no
    type, and an unknown source.

    Shrinks towards a table `t` of one int column `c0` that is its primary key.
    """
    _expect_database(database)
    _expect_range("min_columns", min_columns, 1, _drawing.MAX_COLUMNS)
    _expect_range("max_columns", max_columns, min_columns, _drawing.MAX_COLUMNS, "min_columns")
    if keyed not in (None, True, False) or not isinstance(keyed, bool | None):
        raise InvalidArgument(f"keyed={keyed!r}: expected None, True or False")
    origin = _source(source)
    _groups(supports, bool(keyed), origin)
    return _draw_with(
        lambda draw: _drawing.draw_table(
            draw, database, min_columns, max_columns, keyed, supports, origin
        )
    )


def rows(table: Table, /) -> SearchStrategy[Row]:
    """Whole rows of a table: a value for each column, None only where the column is nullable.

    Raises InvalidArgument when `table` is no Table or has no columns.

    Shrinks towards a row of NULLs, zeros and empty values.
    """
    _expect_table(table)
    return _draw_with(lambda draw: _drawing.draw_row(draw, table))


def row_changes(
    table: Table, /, *, max_rows: int = 4, at: Instant = START
) -> SearchStrategy[RowChange]:
    """An INSERT, UPDATE or DELETE of 1 to `max_rows` rows of a table, whose keys differ where the
    table has a key.

    An UPDATE changes one column of a row more often than several, sometimes none or the key. Of a
    nullable column about every fifth value is NULL.

    Raises InvalidArgument when `table` is no Table, or `max_rows` is not from 1 to 1000.

    Shrinks towards an INSERT of one row, and an UPDATE towards its last column alone.
    """
    _expect_table(table)
    _expect_range("max_rows", max_rows, 1, 1000)
    _check_class("at", at, Instant, "an Instant")
    return _draw_with(lambda draw: _drawing.draw_change(draw, table, max_rows, at))


def histories(
    fmt: str | Format[Any],
    /,
    *,
    database: str = "drawn",
    max_events: int = 5,
    source: str | None = None,
) -> SearchStrategy[History]:
    """What happens at a source that the format's writer can follow: changes of one or two tables,
    DDL, watermarks, heartbeats and bootstraps where the format has them, 1 to `max_events` events
    at strictly growing instants.

    Rows obey a model of the source: only existing rows are updated or deleted, keys stay unique.
    `source` is one that a profile of the format reads; None is its first profile's.

    Raises InvalidArgument for an unknown format (naming the nearest), an empty database,
    `max_events` not from 1 to 1000, or a source that no profile of the format reads.

    Shrinks towards one INSERT of one row into a table of one column.
    """
    resolved = _format(fmt)
    _expect_database(database)
    _expect_range("max_events", max_events, 1, 1000)
    origin = _origin(resolved, source)
    return _draw_with(
        lambda draw: _drawing.draw_history(draw, resolved, database, max_events, origin)
    )


def messages(
    fmt: str | Format[Any], /, *, profile: str | Profile | None = None
) -> SearchStrategy[Written]:
    """One message of a format as a profile's release would write it, and its expected changes.

    `profile` is a profile's name or the profile; None draws one.

    Raises InvalidArgument for an unknown format or profile, naming the nearest.

    Shrinks towards the first message of a one-row INSERT, written by the format's first profile.
    """
    resolved = _format(fmt)
    if profile is None:
        profiles: tuple[Any, ...] = resolved.profiles
    elif isinstance(profile, str):
        try:
            profiles = (resolved.profile(profile),)
        except UnknownName as error:
            raise InvalidArgument(f"profile={profile!r}: {error}") from None
    elif profile in resolved.profiles:
        profiles = (profile,)
    else:
        raise InvalidArgument(
            f"profile={profile!r}: expected None, or one of"
            f" {', '.join(p.name for p in resolved.profiles)}"
        )
    return _draw_with(lambda draw: _draw_message(draw, resolved, profiles))


def scenarios(
    fmt: str | Format[Any], /, *, database: str = "drawn", source: str | None = None
) -> SearchStrategy[Scenario]:
    """Level-one scenarios: mostly one change of a small table, sometimes a history of several
    events. All are tagged `drawn`.

    `source` is one that a profile of the format reads, and only such profiles can write them; None
    is its first profile's. Table names repeat from scenario to scenario; `rename` makes them
    unique.

    Raises InvalidArgument for an unknown format (naming the nearest), an empty database, or a
    source that no profile of the format reads.

    Shrinks towards one INSERT of one row into a table of one column.
    """
    resolved = _format(fmt)
    _expect_database(database)
    origin = _origin(resolved, source)
    return _draw_with(lambda draw: _draw_scenario(draw, resolved, database, origin))


def row_scenarios(pool: Sequence[Table], /) -> SearchStrategy[Scenario]:
    """Level-two scenarios: one change of one of the given tables. All are tagged `drawn`.

    In a table of more than 12 columns, 1 to 5 columns beside the key have values and the others are
    NULL.

    Raises InvalidArgument when `pool` is empty or holds something other than tables with columns.

    Shrinks towards an INSERT of one row of NULLs, zeros and empty values into the smallest table.
    """
    if not pool:
        raise InvalidArgument(f"pool={pool!r}: expected at least one Table")
    for table in pool:
        _expect_table(table)
    tables = tuple(pool)
    return _draw_with(lambda draw: _row_scenario(draw, tables))


def rename(scenario: Scenario, database: str, suffix: str) -> Scenario:
    """The scenario with every table in the database `database` and with `suffix` at the end of its
    name, in DDL texts, too. If a name would be too long for the database, it is shortened before
    the suffix.
    """

    def table(old: Table) -> Table:
        """The table in the new database, with the suffix at the end of its name."""
        return replace(
            old, database=database, name=_add_suffix(old.name, suffix, databases.of_table(old))
        )

    def event(old: Event) -> Event:
        """The event in the new database, with the suffix at the end of its tables' names and in its
        SQL. Events of no table or database stay as they are.
        """
        match old:
            case RowChange() | Bootstrap():
                return replace(old, table=table(old.table))
            case SchemaChange():
                source = _source_of(old)
                return replace(
                    old,
                    sql=_renamed_sql(old, database, suffix),
                    database=database,
                    table=old.table and _add_suffix(old.table, suffix, source),
                    before=old.before and table(old.before),
                    after=old.after and table(old.after),
                    old_name=old.old_name and _add_suffix(old.old_name, suffix, source),
                )
            case SourceStatement():
                moved = old.table and _add_suffix(old.table, suffix, databases.MYSQL)
                sql = _swap_quoted(
                    old.sql,
                    {old.database: database} | ({old.table: moved} if old.table and moved else {}),
                )
                return replace(old, sql=sql, database=old.database and database, table=moved)
            case LogicalMessage() | DtsOperation():
                return replace(old, database=old.database and database)
            case ReplicaIdentity():
                name = _add_suffix(old.table, suffix, databases.POSTGRESQL)
                return replace(old, database=database, table=name)
            case _:
                return old

    return replace(
        scenario,
        history=replace(scenario.history, events=tuple(map(event, scenario.history.events))),
    )


def draw(
    strategy: SearchStrategy[T],
    count: int,
    seed_: int,
    *,
    progress: Callable[[int], None] | None = None,
) -> list[T]:
    """Exactly `count` values of a strategy, the same for the same seed within one installation.

    `progress` is called with the number drawn so far, about every hundred values. Generation only:
    no database, no deadline, no shrinking. Values may repeat when the strategy has fewer than
    `count`.

    Raises InvalidArgument for a negative count, and Unsatisfiable when the strategy gives nothing.
    """
    _check_class("strategy", strategy, SearchStrategy, "a Hypothesis strategy")
    _expect_range("count", count, 0, 10**9)
    drawn: list[T] = []
    part = 0
    with _without_constants():
        while len(drawn) < count:
            _draw_some(
                strategy,
                drawn,
                count - len(drawn),
                f"{seed_}/{part}" if part else str(seed_),
                progress,
            )
            part += 1
    return drawn[:count]


@contextmanager
def _without_constants() -> Iterator[None]:
    """A context in which Hypothesis draws no constants from the source of loaded modules, so that
    these do not change what a seed gives.
    """
    from hypothesis.internal.conjecture import providers

    names = ("_get_local_constants", "CONSTANTS_CACHE", "GLOBAL_CONSTANTS")
    module_names = vars(providers)
    # Another release of Hypothesis draws none, or has other names.
    if not all(name in module_names for name in names):
        yield
        return
    nothing = type(module_names["GLOBAL_CONSTANTS"])()
    before = {name: module_names[name] for name in names}
    module_names.update(_get_local_constants=lambda: nothing, CONSTANTS_CACHE={})
    try:
        yield
    finally:
        module_names.update(before)


def _draw_some(
    strategy: SearchStrategy[T],
    drawn: list[T],
    count: int,
    seed_: str,
    progress: Callable[[int], None] | None,
) -> None:
    """Appends up to `count` values of the strategy to `drawn`, by the given seed. `progress` is
    called at every hundredth with the number of values in `drawn`.
    """

    @seed(seed_)
    @settings(
        max_examples=count,
        phases=[Phase.generate],
        database=None,
        deadline=None,
        derandomize=False,
        print_blob=False,
        suppress_health_check=list(HealthCheck),
    )
    @given(strategy)
    def collect(value: T) -> None:
        """Appends one drawn value to `drawn`, and calls `progress` at every hundredth."""
        drawn.append(value)
        if progress and len(drawn) % 100 == 0:
            progress(len(drawn))

    collect()


def _check_class(name: str, value: object, kind: type, legal: str) -> None:
    """Raises InvalidArgument if the value of a strategy's argument `name` is not of the class
    `kind`; `legal` is the message's text for what it may be.
    """
    if not isinstance(value, kind):
        raise InvalidArgument(f"{name}={value!r}: expected {legal}")


def _expect_range(name: str, value: object, low: int, high: int, low_name: str = "") -> None:
    """Raises InvalidArgument if the value of a strategy's argument `name` is not an integer from
    `low` to `high`. `low_name` is the other argument whose value is `low`, for the message; "" if
    `low` is a constant.
    """
    if type(value) is not int or not low <= value <= high:
        bound = f"{low_name}={low}" if low_name else str(low)
        raise InvalidArgument(f"{name}={value!r}: expected an integer from {bound} to {high}")


def _expect_database(database: object) -> None:
    """Raises InvalidArgument if a strategy's `database` is not a name."""
    if not isinstance(database, str) or not database:
        raise InvalidArgument(f"database={database!r}: expected a non-empty database name")


def _expect_table(table: object) -> None:
    """Raises InvalidArgument if a strategy's `table` is not a Table, or has no columns."""
    if not isinstance(table, Table) or not table.columns:
        raise InvalidArgument(f"table={table!r}: expected a Table with columns")


def _format(fmt: str | Format[Any]) -> Format[Any]:
    """The format that a caller of a strategy gave as an object or by its name. Raises
    InvalidArgument for anything else.
    """
    if isinstance(fmt, Format):
        return fmt
    if not isinstance(fmt, str):
        raise InvalidArgument(
            f"fmt={fmt!r}: expected a Format, or one of {', '.join(wire_format.FORMATS)}"
        )
    try:
        return wire_format.get(fmt)
    except UnknownName as error:
        raise InvalidArgument(f"fmt={fmt!r}: {error}") from None


def _source(name: object) -> databases.Source:
    """The source that a strategy's argument names. Raises InvalidArgument for an unknown one."""
    if not isinstance(name, str) or name not in databases.SOURCES:
        raise InvalidArgument(f"source={name!r}: expected one of {', '.join(databases.SOURCES)}")
    return databases.source(name)


def _origin(fmt: Format[Any], name: str | None) -> databases.Source:
    """The source `name`, or, if None, that of the format's first profile. Raises InvalidArgument
    unless a profile of the format reads it.
    """
    legal = list(dict.fromkeys(profile.source for profile in fmt.profiles))
    if name is not None and name not in legal:
        raise InvalidArgument(
            f"source={name!r}: expected None, or one that {fmt.name} reads: {', '.join(legal)}"
        )
    return _source(legal[0] if name is None else name)


def _groups(
    supports: Callable[[SourceType], bool], keys: bool, source: databases.Source
) -> tuple[tuple[SourceType, ...], ...]:
    """The source's types that `supports` accepts, in groups of related types such as integers or
    texts; with `keys` only types that a key may have. Raises InvalidArgument if `supports` is no
    function, or accepts no type.
    """
    if not callable(supports):
        raise InvalidArgument(f"supports={supports!r}: expected a function from SourceType to bool")
    groups = _values.type_groups(supports, keys, source.name)
    if not groups:
        source_words = "" if source is databases.MYSQL else f" of {source.name}"
        raise InvalidArgument(
            f"supports={supports!r}: accepts no {'key-able ' if keys else ''}type{source_words}"
        )
    return groups


def _types(
    supports: Callable[[SourceType], bool], source: databases.Source
) -> SearchStrategy[SourceType]:
    """The strategy of the source's column types that `supports` accepts: each group of types is
    equally likely, and Hypothesis shrinks towards the first types of the first group. Raises
    InvalidArgument if it accepts none.
    """
    groups = _groups(supports, False, source)
    return st.integers(0, _values.STEPS * len(groups) - 1).map(
        lambda number: _values.type_at(groups, number)
    )


@st.composite
def _draw_with(draw: DrawFn, make: Callable[[DrawFn], T]) -> T:
    """A strategy whose values the function `make` draws; it gets Hypothesis's `draw`, the argument
    that `st.composite` fills in. The strategy has a short repr: Hypothesis warns of the long ones
    that formats and wide tables would give.
    """
    return make(draw)


def _sparse_change(draw: DrawFn, table: Table) -> RowChange:
    """Draws a change of one row of a wide table: the key, the NOT NULL columns and 1 to 5 drawn
    columns have values, all others are NULL. An UPDATE changes some of the drawn columns.
    """
    key = set(table.handle_key)
    free_columns = [c for c in table.columns if c.name not in key]
    nulls: dict[str, Value] = {c.name: None for c in table.columns}
    needed_columns = [c for c in table.columns if c.name in key or not c.nullable]
    op = draw(_drawing.sample(_drawing.OPS))
    cells = nulls | {c.name: _values.pick(draw, c.type, False) for c in needed_columns}
    indexes: list[int] = []
    if free_columns:
        index = _values.between(0, len(free_columns) - 1)
        indexes = [draw(index) for _ in range(draw(_values.between(1, 5)))]
    changed_columns = [free_columns[i] for i in sorted(set(indexes))]
    cells |= {c.name: _values.pick(draw, c.type, c.nullable) for c in changed_columns}
    if op is not Op.UPDATE:
        return RowChange(
            START,
            table,
            op,
            (RowImages(None, cells) if op is Op.INSERT else RowImages(cells, None),),
        )
    after = dict(cells)
    mask = draw(_drawing.masks(len(changed_columns))) if changed_columns else 0
    for i, column in enumerate(changed_columns):
        if mask >> i & 1:
            after[column.name] = _values.pick(draw, column.type, column.nullable)
    return RowChange(START, table, op, (RowImages(cells, after),))


def _row_scenario(draw: DrawFn, pool: tuple[Table, ...]) -> Scenario:
    """Draws a level-two scenario (judged by typed rows of one table): one change of up to 3 rows in
    a table of the pool; of one row, mostly NULLs, if the table has more than 12 columns.
    """
    table = pool[draw(_values.between(0, len(pool) - 1))]
    change = (
        _sparse_change(draw, table)
        if len(table.columns) > 12
        else _drawing.draw_change(draw, table, 3, START)
    )
    return Scenario("drawn", History((change,), draw(_drawing.CHANCE)), 2, frozenset({"drawn"}))


def _draw_scenario(
    draw: DrawFn, fmt: Format[Any], database: str, source: databases.Source
) -> Scenario:
    """Draws a level-one scenario (judged by one output row for each change): a change of up to 3
    rows in a drawn table, or, once in 8, a history of up to 5 events. One drawn number, `chance`,
    chooses the commit time of a lone change, and is its history's seed.
    """
    if draw(_values.between(0, 7)) == 7:
        history = _drawing.draw_history(draw, fmt, database, 5, source)
    else:
        table = _drawing.draw_table(draw, database, 1, 6, None, fmt.supports, source)
        chance = draw(_drawing.CHANCE)
        at = Instant(_drawing.CLOCKS[chance % len(_drawing.CLOCKS)].first_ms, 1)
        history = History((_drawing.draw_change(draw, table, 3, at),), chance)
    return Scenario("drawn", history, 1, frozenset({"drawn"}))


def _draw_message(draw: DrawFn, fmt: Format[Any], profiles: tuple[Any, ...]) -> Written:
    """Draws one of the messages that one of these profiles of the format writes for a drawn
    history, with the changes that a decoder must return for it.
    """
    profile = draw(_drawing.sample(profiles)) if len(profiles) > 1 else profiles[0]
    history = _drawing.draw_history(draw, fmt, "drawn", 3, databases.source(profile.source))
    written = fmt.write(history, profile, Layout())
    assume(written)
    return written[draw(_values.between(0, len(written) - 1))]


def _add_suffix(name: str, suffix: str, source: databases.Source) -> str:
    """The name with the suffix at its end. Characters before the suffix are cut off while the whole
    is longer than the source lets names be.
    """
    while name and source.identifier(name + suffix) != name + suffix:
        name = name[:-1]
    return name + suffix


def _source_of(event: SchemaChange) -> databases.Source:
    """The source whose statement this is, by the table that the statement makes or changes; MySQL
    if the event has no table.
    """
    table = event.after or event.before
    return databases.of_table(table) if table else databases.MYSQL


def _renamed_sql(event: SchemaChange, database: str, suffix: str) -> str:
    """A DDL statement's SQL for another database, and with a suffix at the tables' names. If
    `ddl_text` made the SQL, it makes the new one, too; in any other SQL the quoted names are
    replaced.
    """
    old_name, source = event.old_name or "", _source_of(event)
    drawn = event.action in source.ddl_actions
    if drawn and event.sql == _drawing.ddl_text(
        event.action, event.database, event.table, old_name, source.name
    ):
        moved, old = (_add_suffix(name, suffix, source) for name in (event.table, old_name))
        return _drawing.ddl_text(event.action, database, moved, old, source.name)
    tables = {name: _add_suffix(name, suffix, source) for name in (event.table, old_name) if name}
    return _swap_quoted(event.sql, {event.database: database} | tables, source)


def _swap_quoted(
    sql: str, swaps: dict[str, str], source: databases.Source = databases.MYSQL
) -> str:
    """The SQL in which each quoted name that is a key of `swaps` is replaced by its value, quoted
    as the source quotes names.
    """
    for old, new in swaps.items():
        sql = sql.replace(source.quote(old), source.quote(new))
    return sql
