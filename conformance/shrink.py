"""Makes a failing case small: the same fault in fewer rows and columns, still convicted by the same rule.

A level-two case of a wide table is written again with its key columns and the one that failed; several candidates go through the
decoder in one call per set of columns.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator
from dataclasses import replace

from conformance.engine import ChildDied, ChildEngine, DecodeRaised, DecodeTimeout, Request, Source, write_records
from conformance.judge import CaseResult, Judge
from conformance.output import Place, read
from conformance.results import Failure
from conformance.rules.base import rules
from conformance.run import Settings, to_ranges
from generators.cases import as_case
from generators.errors import HarnessError
from generators.formats.base import get
from generators.model import Case, History, RowChange, RowImages, Scenario, Table

_CELL = re.compile(r"(?:before|after)\[(?P<name>.*)\]", re.DOTALL)


def shrink(
    settings: Settings,
    engine: ChildEngine,
    failure: Failure,
    decoder: str,
    scenario: Scenario | None,
    note: Callable[[str], None],
) -> Failure:
    """The failure on the smallest case found within a few decode calls; the failure itself when nothing smaller convicts."""
    if scenario is None or failure.rule.law or "#" in failure.finding.case or "fault" in failure.finding.case:
        return failure
    note(f"reducing {failure.finding.case}")
    best = failure
    for candidate in _candidates(scenario, failure):
        found = _convicted(settings, engine, best, decoder, candidate)
        if found is not None and _size(found.result.case) < _size(best.result.case):
            return found
    return best


def _size(case: Case) -> int:
    return sum(w.message.size for w in case.written)


def _candidates(scenario: Scenario, failure: Failure) -> Iterator[Scenario]:
    """Smaller scenarios, smallest first: one row of one event, with the key and the failing column; then whole rows."""
    cell = _CELL.fullmatch(failure.finding.path)
    named = None if cell is None else ast.literal_eval(cell["name"])
    column = named if named is not None and _has(scenario, named) else None
    events = [e for e in scenario.history.events if isinstance(e, RowChange)]
    for event in events:
        keep = (*event.table.primary_key, column) if column else None
        if keep is None:
            continue
        for images in event.rows:
            small = replace(event, table=_narrow(event.table, keep), rows=(_cut(images, keep),))
            yield replace(scenario, history=History((small,), scenario.history.seed))
    for event in events:
        if len(events) > 1 or len(event.rows) > 1:
            for images in event.rows:
                yield replace(scenario, history=History((replace(event, rows=(images,)),), scenario.history.seed))


def _has(scenario: Scenario, column: str) -> bool:
    return any(column == c.name for e in scenario.history.events if isinstance(e, RowChange) for c in e.table.columns)


def _narrow(table: Table, keep: tuple[str, ...]) -> Table:
    return replace(table, columns=tuple(c for c in table.columns if c.name in keep), unique=())


def _cut(images: RowImages, keep: tuple[str, ...]) -> RowImages:
    before, after = (None if i is None else {k: v for k, v in i.items() if k in keep} for i in (images.before, images.after))
    return RowImages(before, after)


def _convicted(settings: Settings, engine: ChildEngine, failure: Failure, decoder: str, scenario: Scenario) -> Failure | None:
    """The failure on this scenario, if the same rule convicts there."""
    fmt = get(failure.result.case.format)
    profile = fmt.profile(failure.result.case.profile)
    case = replace(as_case(fmt, profile, scenario), id=failure.result.case.id, tags=failure.result.case.tags)
    if not case.written:
        return None
    messages = [w.message for w in case.written]
    path = engine.directory / "shrink.parquet"
    counters: dict[int, int] = {}
    places: list[Place] = []
    for message in messages:
        counters[message.partition] = counters.get(message.partition, -1) + 1
        places.append((message.topic, message.partition, counters[message.partition]))
    write_records(path, messages, [offset for _, _, offset in places])
    ranges = to_ranges(places)
    engine.open("shrink", Source(ranges, parquet=str(path)))
    table = case.tables[0] if case.level == 2 else None
    judge = Judge(rules(fmt.name))
    asked = Request("shrink", ranges, decoder, case.level, case.deployment, table, mapping=settings.mapping)
    try:
        outputs = read(engine.decode(asked).result(), case.level)
    except (DecodeRaised, DecodeTimeout, ChildDied, HarnessError):
        return None
    finally:
        engine.release("shrink")
    result = judge.judge(case, [outputs.get(p, ()) for p in places], table.name if table else None)
    finding = next((f for f in result.findings if f.rule == failure.rule.id), None)
    if finding is None:
        return None
    return replace(failure, finding=finding, result=CaseResult(case, result.verdict, result.findings))
