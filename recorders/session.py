"""One audit, from drawing to the table of results."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from functools import partial
from itertools import chain
from typing import Any, Final

from conformance.brokers.jars import Note
from conformance.text import printable
from generators.drawing.strategies import draw, rename, scenarios
from generators.errors import HarnessError, NothingSelected, Refused
from generators.model import Event, History, Layout, Message, Scenario, SchemaChange, SourceType
from generators.profiles import Profile
from generators.sources import boundaries
from recorders import running
from recorders.audit import SHAPES, Compared, Difference, compare, number_of, suffix, types_of
from recorders.databases import DATABASE, Database
from recorders.explained import Entry, Explained, grouped
from recorders.products import TOPIC, Product, json_record
from recorders.running import ProducedRecord
from recorders.sql import Plan, plan_statements, storable

LAYOUT: Final = Layout(topic=TOPIC)


@dataclass(frozen=True, slots=True)
class Audited:
    """The result of an audit. `refused` has the reason for each scenario that was left out, by its
    name. `unexplained` are differences that no entry explains, `idle` are entries that explained no
    difference.
    """

    product: str
    profile: str
    database: str
    seed: int
    scenarios: int
    compared: tuple[Compared, ...]
    explained: Counter[Entry]
    unexplained: tuple[Difference, ...]
    idle: tuple[Entry, ...]
    refused: dict[str, str] = field(default_factory=dict)

    @property
    def ok(self) -> bool:
        """Whether every record is identical or explained, and every entry explained something."""
        return not self.unexplained and not self.idle

    def count(self, agreement: str) -> int:
        """The number of records with this agreement: `identical`, `explained` or `unexplained`."""
        unexplained = set(self.unexplained)
        counts: Counter[str] = Counter()
        for record in self.compared:
            otherwise = "unexplained" if unexplained & set(record.differences) else "explained"
            counts["identical" if record.identical else otherwise] += 1
        return counts[agreement]

    @property
    def summary(self) -> str:
        """The last line of the audit's report: how many records are identical to ours, differ as
        the file of explained differences says, or differ otherwise; and how many entries of that
        file explained no difference (`idle`).
        """
        counts = ", ".join(
            f"{self.count(name)} {name}" for name in ("identical", "explained", "unexplained")
        )
        idle_entries = f"; {len(self.idle)} entries without a difference" if self.idle else ""
        return (
            f"{self.product} {self.profile} on {self.database}, seed {self.seed}: {self.scenarios}"
            f" scenarios, {len(self.refused)} left out; {len(self.compared)} records:"
            f" {counts}{idle_entries}"
        )

    def rows(self) -> list[dict[str, Any]]:
        """The result as rows of a table: counts of records, then differences by reason or place,
        and what was left out.
        """
        table_rows = [
            _result_row(name, self.count(name))
            for name in ("identical", "explained", "unexplained")
        ]
        table_rows += [
            _result_row("difference explained", n, e.path, e.type, e.ours, e.real, e.reason)
            for e, n in self.explained.items()
        ]
        for (path, kind), differences in grouped(self.unexplained).items():
            first = differences[0]
            table_rows.append(
                _result_row(
                    "difference unexplained",
                    len(differences),
                    path,
                    kind,
                    first.ours,
                    first.real,
                    first.scenario,
                )
            )
        table_rows += [
            _result_row("entry without a difference", 0, e.path, e.type, e.ours, e.real, e.reason)
            for e in self.idle
        ]
        reasons: dict[str, list[str]] = {}
        for name, why in self.refused.items():
            reasons.setdefault(_QUOTED.sub("...", why), []).append(name)
        table_rows += [
            _result_row("scenario left out", len(names), note=f"{why} ({names[0]})")
            for why, names in reasons.items()
        ]
        return table_rows


_QUOTED: Final = re.compile(r"'[^']*'|\"[^\"]*\"")
"""A text in quotes, which is left out where reasons are compared."""
_WIDEST: Final = 160
"""The characters to which a text of the table of results is cut."""


def _result_row(
    result: str,
    count: int,
    path: str = "",
    kind: str = "",
    ours: str = "",
    real: str = "",
    note: str = "",
) -> dict[str, Any]:
    """A row of the audit's table: what was found, how often, and, for a difference, its path, the
    type of the column, both texts and a note. Each text is printable and cut to a length.
    """
    texts = {"path": path, "type": kind, "ours": ours, "real": real, "note": note}
    return {
        "result": result,
        "count": count,
        **{name: printable(cell[:_WIDEST]) for name, cell in texts.items()},
    }


def _is_supported(product: Product, real_mysql: bool, type: SourceType) -> bool:
    """Whether a type can be audited: the product's format has it, and the database that is started
    can store it.
    """
    return product.wire_format.supports(type) and storable(type, real_mysql=real_mysql)


def draw_scenarios(
    product: Product,
    profile: Profile,
    count: int,
    seed: int,
    select: str = "*",
    *,
    real_mysql: bool = False,
) -> list[Scenario]:
    """The scenarios of an audit whose names the glob `select` matches: each type at its boundary
    values, each shape of table, and `count` random ones of the seed. Each scenario gets tables of
    its own. Raises NothingSelected if none matches.
    """
    supports = partial(_is_supported, product, real_mysql)
    fmt = replace(product.wire_format, supports=supports)
    boundary_scenarios = boundaries.scenarios(DATABASE, supports, profile.source)
    fresh = draw(scenarios(fmt, database=DATABASE, source=profile.source), count, seed)
    every = [
        *boundary_scenarios,
        *(replace(scenario, name=f"drawn/{seed}/{i}") for i, scenario in enumerate(fresh)),
    ]
    selected = [scenario for scenario in every if fnmatchcase(scenario.name, select)]
    if not selected:
        raise NothingSelected(
            f"no scenario matches {select!r}; names are such as {every[0].name}, {every[-1].name}"
        )
    return [rename(scenario, DATABASE, suffix(i)) for i, scenario in enumerate(selected)]


def audit(
    product: Product,
    profile: Profile,
    database: Database,
    cases: Sequence[Scenario],
    explained: Explained,
    seed: int,
    note: Note,
    stopped: Mapping[int, str],
    limit_s: int = running.LIMIT_S,
) -> Audited:
    """Executes the scenarios except the `stopped` ones (which would stop the product) in a fresh
    database, records what the product publishes, and compares it with our writer's messages. Raises
    Stopped if the product ends or stalls before the last record, or does not send it within
    `limit_s` seconds.
    """
    plans, refusals = _plans(product, cases, profile)
    refusals |= {cases[i].name: why for i, why in stopped.items() if plans.pop(i, None)}
    note(f"executing {sum(len(plan.statements) for plan in plans.values())} statements")
    refusals |= _execute(database, cases, plans)
    database.must(*running.sentinel_statements(database))
    records = product.record(profile, database, note, limit_s)
    note(f"comparing {len(records)} records")
    compared = tuple(_compare_records(product, profile, cases, plans, records))
    counts: Counter[Entry] = Counter()
    unexplained: list[Difference] = []
    for record in compared:
        for difference in record.differences:
            entry = explained.why(difference)
            if entry is None:
                unexplained.append(difference)
            else:
                counts[entry] += 1
    version = database.version
    return Audited(
        product.name,
        profile.name,
        version,
        seed,
        len(plans),
        compared,
        counts,
        tuple(unexplained),
        explained.idle,
        refusals,
    )


def plan_history(profile: Any, history: History) -> Plan:
    """The SQL statements of a history, for the database that the profile reads. Only some classes
    of profiles have `image` (PostgreSQL's REPLICA IDENTITY) and `queries` (the server logs each
    statement beside its rows). Raises Refused for a history that statements cannot cause.
    """
    return plan_statements(
        history, identity=getattr(profile, "image", ""), queries=getattr(profile, "queries", False)
    )


def _plans(
    product: Product, cases: Sequence[Scenario], profile: Any
) -> tuple[dict[int, Plan], dict[str, str]]:
    """The SQL plan of each scenario by its number; and, by the scenario's name, why it has none: it
    cannot be written as SQL, or the product is known to stop at it.
    """
    plans, refusals = {}, {}
    for i, case in enumerate(cases):
        try:
            case_plan = plan_history(profile, case.history)
        except Refused as error:
            refusals[case.name] = str(error)
            continue
        if why := product.stopped_by(profile, case_plan):
            refusals[case.name] = why
        else:
            plans[i] = case_plan
    return plans, refusals


def _execute(
    database: Database, cases: Sequence[Scenario], plans: dict[int, Plan]
) -> dict[str, str]:
    """Executes the plans in order. A plan with a statement that the server refuses is removed from
    `plans`. Returns the server's errors by the name of the scenario. Raises HarnessError if no plan
    is left.
    """
    owners: list[int] = []
    for number, plan in plans.items():
        owners += [number] * len(plan.statements)
    errors = database.run(chain.from_iterable(plan.statements for plan in plans.values()))
    refusals: dict[str, str] = {}
    for index, error in sorted(errors.items()):
        number = owners[index]
        refusals.setdefault(cases[number].name, error)
        plans.pop(number, None)
    if plans:
        return refusals
    raise HarnessError(
        f"the server refused every scenario, the first with: {next(iter(refusals.values()))}"
    )


def _compare_records(
    product: Product,
    profile: Profile,
    cases: Sequence[Scenario],
    plans: dict[int, Plan],
    records: Sequence[ProducedRecord],
) -> Iterator[Compared]:
    """Compares the product's records with the messages of our writer, scenario by scenario; records
    that name no table of a scenario come last, against none of ours.
    """
    fmt, shape = product.wire_format, SHAPES[product.format]
    real: dict[int | None, list[ProducedRecord]] = {}
    for record in records:
        real.setdefault(number_of(record), []).append(record)
    # One history, as the product reads one log: what a message takes from the one before it crosses
    # scenarios, too.
    owners: list[int] = []
    events: list[Event] = []
    for number, plan in plans.items():
        owners += [number] * len(plan.history.events)
        events += plan.history.events
    history = History(tuple(events))
    ours: dict[int, list[Message]] = {}
    for written in fmt.write(history, profile, LAYOUT):
        message = json_record(written.message) if fmt.container == "confluent" else written.message
        ours.setdefault(owners[written.message.event], []).append(message)
    # A statement that some other scenario was refused for may still have published something.
    for number, plan in plans.items():
        yield from compare(
            shape, cases[number].name, types_of(plan), ours.get(number, []), real.get(number, [])
        )
    if nameless := real.get(None):
        ddl = any(isinstance(event, SchemaChange) for event in events)
        yield from compare(shape, "(no table)" if ddl else "(none)", {}, [], nameless)
