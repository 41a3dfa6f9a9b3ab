"""The differential check: one history through every format must give one table.

Each format's writer writes the history, its decoder decodes it at level two, and the row changes
are applied to an empty table in message order. The result is compared cell by cell with the
source's table, not with a writer's expectation. `Format.losses` lists a profile's documented
losses, which are counted; everything else is a difference.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any, Final

from conformance.cases.catalogue import select_profiles
from conformance.engines.child import ChildEngine
from conformance.engines.engine import DecodeRaised, ProcessLost, Request, write_table
from conformance.engines.specs import decoder_spec
from conformance.judging.compare import Typed, same_value
from conformance.judging.output import OutputRow, read
from generators.drawing import shared_history
from generators.drawing.shared_history import Reference
from generators.model import Cell, Layout, Row, RowChange, State, Table, Value
from generators.profiles import Profile
from generators.sources import mysql
from generators.wire_format import Format, Loss, get

SHOWN: Final = 5
"""Differences kept per format."""


@dataclass(slots=True)
class Comparison:
    """The comparison of the table that a decoder's changes give, for one profile of a format, with
    the source's table.

    `changes` counts the events of the history, `row_count` the source's final rows, `cells` the
    compared cells. `columns` are those that the format cannot carry. `differences` counts what
    differs without a documented reason, `difference_texts` describes the first of it, `broken`
    counts it by column. `lost` counts what a documented loss of the format explains, by the loss's
    statement; `worn` counts such cells by column.
    """

    format: str
    profile: str
    changes: int
    row_count: int
    cells: int = 0
    lost: Counter[str] = field(default_factory=Counter)
    columns: tuple[str, ...] = ()
    difference_texts: list[str] = field(default_factory=list)
    differences: int = 0
    broken: Counter[str] = field(default_factory=Counter)
    worn: Counter[str] = field(default_factory=Counter)

    def differ(self, what: str, column: str = "") -> None:
        """Counts a difference, also for its column if it concerns one, and keeps its description,
        `what`, if it is among the first SHOWN.
        """
        self.differences += 1
        if column:
            self.broken[column] += 1
        if len(self.difference_texts) < SHOWN:
            self.difference_texts.append(what)


def compare(
    engine: ChildEngine,
    names: Sequence[str],
    globs: str | Sequence[str],
    seed: int,
    decoder: str | None,
    note: Callable[[str], None],
) -> list[Comparison]:
    """The differential checks of each profile of these formats that matches one of `globs`.
    `decoder` None is the reference decoder; `note` receives a text on each step. Raises UsageError
    for an unknown profile, or a decoder that cannot be loaded.
    """
    comparisons = []
    for name in names:
        fmt = get(name)
        for profile in select_profiles(fmt, globs):
            note(f"{name}/{profile.name}: one history of seed {seed}")
            comparisons.append(compare_profile(engine, fmt, profile, seed, decoder))
    return comparisons


def compare_profile(
    engine: ChildEngine, fmt: Format[Any], profile: Profile, seed: int, decoder: str | None = None
) -> Comparison:
    """Decodes one profile's messages of the common history, applies the changes to a table, and
    compares that with the source's. `decoder` None is the reference decoder. Raises UsageError when
    the decoder cannot be loaded.
    """
    expected = shared_history.history_of(fmt, profile, seed)
    written = fmt.write(expected.history, profile, Layout(partitions=1))
    messages = [w.message for w in written]
    carried = {column.name for column in expected.table.columns}
    missing = tuple(
        name
        for name in shared_history.COLUMNS
        if name not in carried and name != shared_history.KEY
    )
    outcome = Comparison(
        fmt.name, profile.name, len(expected.history.events), len(expected.rows), columns=missing
    )
    losses = fmt.losses(profile)
    for loss in losses:
        if loss.left is None:
            outcome.lost[loss.statement] = len(expected.rows)
            return outcome
    handle = f"differential-{fmt.name}"
    places, source = write_table(engine.directory, handle, messages)
    engine.keep_records(handle, source).result()
    spec = decoder_spec(fmt.name, decoder)
    try:
        request = Request(handle, source.ranges, spec, 2, profile.deployment, expected.table)
        outputs = read(engine.decode(request).result(), 2)
    except (DecodeRaised, ProcessLost) as error:
        outcome.differ(f"{spec}: {error}")
        return outcome
    finally:
        engine.release(handle)
    ordered = list(itertools.chain.from_iterable(outputs.get(place, ()) for place in places))
    (key_name,) = expected.table.primary_key
    expected_rows = _rows_by_key_left(expected, losses, outcome)
    table = _apply_changes(ordered, key_name, outcome)
    _compare_tables(expected.table, expected_rows, table, losses, outcome)
    return outcome


def _rows_by_key_left(
    expected: Reference, losses: Sequence[Loss], outcome: Comparison
) -> Mapping[Value, Row]:
    """The source's final rows by the primary key that the messages hold. Where the format loses a
    part of the key, rows with equal remains are one row to every reader: the last one written. The
    rows that are lost so are counted in `outcome`.
    """
    (key,) = [c for c in expected.table.columns if c.name in expected.table.primary_key]
    loss = next((loss for loss in losses if loss.covers(key.type)), None)
    if loss is None or loss.left is None:
        return expected.rows
    rows: dict[Value, Row] = {}
    for event in expected.history.events:
        assert isinstance(event, RowChange)
        for images in event.rows:
            if images.before is not None:
                rows.pop(loss.left(key.type, images.before[key.name]), None)
            if images.after is not None:
                rows[loss.left(key.type, images.after[key.name])] = images.after
    outcome.lost[loss.statement] += len(expected.rows) - len(rows)
    return rows


def _apply_changes(
    changes: Iterable[OutputRow], key_name: str, outcome: Comparison
) -> dict[Value, Mapping[str, Any]]:
    """Applies decoded changes in order to an empty table, and returns its rows by the value of the
    column `key_name`. A CORRUPT row is noted as a difference in `outcome`.
    """
    table: dict[Value, Mapping[str, Any]] = {}
    for change in changes:
        if change.kind == "CORRUPT":
            outcome.differ(f"a message was read as CORRUPT: {change.error}")
            continue
        before, after = change.before, change.after
        if change.op in ("UPDATE", "DELETE") and before is not None:
            table.pop(_key_value(before[key_name]), None)
        if after is not None and change.op in ("INSERT", "UPDATE", "READ"):
            table[_key_value(after[key_name])] = after
    return table


def _key_value(cell: Any) -> Value:
    """The value of a key cell as a dictionary key: of a decoded cell (`Typed`, a value with its
    Spark type) the value in it, of a decimal the integer.
    """
    value = cell.value if isinstance(cell, Typed) else cell
    return int(value) if isinstance(value, Decimal) else value


def _compare_tables(
    source_table: Table,
    expected_rows: Mapping[Value, Row],
    table: Mapping[Value, Mapping[str, Any]],
    losses: Sequence[Loss],
    outcome: Comparison,
) -> None:
    """Compares the table that the decoded changes give with the source's table, cell by cell, and
    notes in `outcome` what differs. A cell that differs exactly as a documented loss of the format
    says is counted apart and is no difference.
    """
    for key in expected_rows.keys() - table.keys():
        outcome.differ(f"row {key!r} is missing")
    for key in table.keys() - expected_rows.keys():
        outcome.differ(f"row {key!r} should not be there")
    for key in expected_rows.keys() & table.keys():
        for column in source_table.columns:
            outcome.cells += 1
            want, got = expected_rows[key][column.name], table[key][column.name]
            if _is_same(column.type, want, got):
                continue
            loss = next((loss for loss in losses if loss.covers(column.type)), None)
            if (
                loss is not None
                and loss.left is not None
                and _is_same(column.type, loss.left(column.type, want), got)
            ):
                outcome.lost[loss.statement] += 1
                outcome.worn[column.name] += 1
            else:
                outcome.differ(f"row {key!r}, {column.name}: {want!r} became {got!r}", column.name)


def _is_same(kind: Any, want: Value, got: Any) -> bool:
    """Whether a decoder's typed value is the source's value of the column type `kind`, as the judge
    compares; NULL only equals NULL.
    """
    if want is None or got is None:
        return want is got
    cell = Cell(State.VALUE, kind, want, cls=mysql.value_class(kind, want))
    return same_value(cell, got)
