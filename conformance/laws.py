"""The decoding laws: a message decodes alike in any batch, any partitioning and any session (DESIGN 3.6).

A seeded sample of messages is decoded again under other circumstances, and each message's rows are compared with those of a plain
call over the same sample.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import CancelledError, Future
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final

import pyarrow as pa

from conformance.cases import Call
from conformance.engine import ChildDied, ChildEngine, DecodeRaised, DecodeTimeout, Request
from conformance.judge import Finding, Judge
from conformance.output import OutputRow, Place, read
from conformance.rules.base import Aspect
from generators.model import Case, Message

if TYPE_CHECKING:
    from conformance.run import Prepared, Settings

ALONE: Final = 4
"""How many messages are decoded each in a call of its own."""

PARTITIONS: Final = 3
"""Into how many partitions a sample is spread, fewer than its messages and more than cores."""

ENVIRONMENTS: Final[Mapping[str, Mapping[str, str]]] = {
    "time zone America/New_York, ANSI off, case-sensitive, 1 shuffle partition": {
        "spark.sql.session.timeZone": "America/New_York",
        "spark.sql.ansi.enabled": "false",
        "spark.sql.caseSensitive": "true",
        "spark.sql.shuffle.partitions": "1",
    },
    "time zone Asia/Kolkata, ANSI on, case-insensitive, 7 shuffle partitions": {
        "spark.sql.session.timeZone": "Asia/Kolkata",
        "spark.sql.ansi.enabled": "true",
        "spark.sql.caseSensitive": "false",
        "spark.sql.shuffle.partitions": "7",
    },
}

_UNSTABLE = ("types", "schema_version")


@dataclass(frozen=True, slots=True)
class Trial:
    """A sample decoded under one circumstance, to be compared with the plain call `baseline`."""

    law: str
    circumstance: str
    level: int
    places: frozenset[Place]
    baseline: Future[pa.Table]
    futures: tuple[Future[pa.Table], ...]


@dataclass(frozen=True, slots=True)
class Pending:
    """Trials under way, and which case and message each place belongs to."""

    trials: tuple[Trial, ...]
    owners: Mapping[Place, tuple[Case, int]] = field(default_factory=dict)


def submit(engine: ChildEngine, one: Prepared, settings: Settings) -> Pending:
    """Submits the law calls of a format: batches and environments for one deployment at level one, environments for the
    widest table at level two."""
    from conformance.run import request, sample, to_ranges

    trials: list[Trial] = []
    owners: dict[Place, tuple[Case, int]] = {}
    by_level = {level: [c for c in one.calls if c.level == level] for level in (1, 2)}
    chosen = _plainest(by_level[1]) + _widest(by_level[2])
    for call in chosen:
        mine = [(case, n, w.message) for case in call.cases for n, w in enumerate(case.written) if w.message.size < 100_000]
        share = max(10, settings.budget.sampled // max(1, len(chosen)))
        picked = sample(settings.seed, f"law/{call.name}", mine, share)
        if not picked:
            continue
        owners |= {one.place(message): (case, n) for case, n, message in picked}
        messages = [message for _, _, message in picked]
        plain = replace(request(settings, one, call, ()), ranges=to_ranges(one.place(m) for m in messages))
        baseline = engine.decode(plain)

        def trial(
            law: str,
            circumstance: str,
            requests: Sequence[Request],
            some: Sequence[Message],
            call: Call = call,
            baseline: Future[pa.Table] = baseline,
        ) -> Trial:
            futures = tuple(engine.decode(r) for r in requests)
            return Trial(law, circumstance, call.level, frozenset(one.place(m) for m in some), baseline, futures)

        for name, conf in ENVIRONMENTS.items():
            trials.append(trial("environment", name, [replace(plain, conf=conf)], messages))
        if call is not chosen[0]:
            continue
        mixed = random.Random(f"{settings.seed}/halves").sample(messages, len(messages))
        half = len(mixed) // 2
        for name, parts in (("alone", [[m] for m in mixed[:ALONE]]), ("in other batches", [mixed[:half], mixed[half:]])):
            requests = [replace(plain, ranges=to_ranges(one.place(m) for m in part)) for part in parts if part]
            trials.append(trial("batch", name, requests, [m for part in parts for m in part]))
        trials.append(trial("batch", f"in {PARTITIONS} partitions", [replace(plain, repartition=PARTITIONS)], messages))
    return Pending(tuple(trials), owners)


def _plainest(found: Sequence[Call]) -> list[Call]:
    """A level-one call whose messages need no decompression, away from UTC if there is one."""
    return sorted(found, key=lambda c: (c.deployment.compression != "none", c.deployment.time_zone == "UTC"))[:1]


def _widest(found: Sequence[Call]) -> list[Call]:
    """The level-two call with the most columns, away from UTC if there is one: that is where types and time zones show."""

    def rank(call: Call) -> tuple[int, bool, int]:
        return len(call.table.columns) if call.table else 0, call.deployment.time_zone != "UTC", len(call.cases)

    return [max(found, key=rank)] if found else []


def collect(pending: Pending, judge: Judge, note: Callable[[str], None]) -> list[Finding]:
    """Waits for the trials and compares; counts each message as a comparison of its law."""
    ids = {rule.law: rule.id for rule in judge.rules if rule.law}
    findings: list[Finding] = []
    for trial in pending.trials:
        rule = ids[trial.law]
        try:
            plain = read(trial.baseline.result(), trial.level)
        except (DecodeRaised, DecodeTimeout, ChildDied, CancelledError):
            # A decoder that fails on the plain call is errored there; there is nothing to compare with.
            continue
        try:
            other: dict[Place, list[OutputRow]] = {}
            for future in trial.futures:
                other |= read(future.result(), trial.level)
        except (DecodeRaised, DecodeTimeout, ChildDied, CancelledError) as error:
            place = min(trial.places)
            case, number = pending.owners[place]
            judge.compared[rule] += 1
            judge.broken[rule] += 1
            text = f"{trial.circumstance}: {str(error).splitlines()[0] if str(error) else type(error).__name__}"
            findings.append(Finding(case.id, rule, number, 0, Aspect.VALUE, "message", "the same rows", text))
            continue
        for place in sorted(trial.places):
            judge.compared[rule] += 1
            before, after = _stable(plain.get(place, [])), _stable(other.get(place, []))
            if before != after:
                judge.broken[rule] += 1
                case, number = pending.owners[place]
                want, got = _difference(before, after)
                text = f"{trial.circumstance}: {got}"
                findings.append(Finding(case.id, rule, number, 0, Aspect.VALUE, "message", want, text))
    return findings


def _stable(rows: Sequence[OutputRow]) -> list[OutputRow]:
    return [replace(row, fields={k: v for k, v in row.fields.items() if k not in _UNSTABLE}, error=None) for row in rows]


def _difference(before: Sequence[OutputRow], after: Sequence[OutputRow]) -> tuple[str, str]:
    if len(before) != len(after):
        return f"{len(before)} rows", f"{len(after)} rows"
    for old, new in zip(before, after, strict=True):
        for name in ("row", "kind", "op", "fields", "before", "after"):
            one, two = getattr(old, name), getattr(new, name)
            if one == two:
                continue
            if isinstance(one, Mapping) and isinstance(two, Mapping):
                key = next((k for k in one if one[k] != two.get(k)), next(iter(two)))
                return f"{name}[{key!r}] = {one.get(key)!r}"[:300], f"{name}[{key!r}] = {two.get(key)!r}"[:300]
            return f"{name} = {one!r}"[:300], f"{name} = {two!r}"[:300]
    return "the same rows", "other rows"


def again(engine: ChildEngine, plain: Request, owners: Mapping[Place, tuple[Case, int]], judge: Judge) -> list[Finding]:
    """The laws over a few messages: each alone, in several partitions, and in every other environment, against one plain call."""
    baseline = engine.decode(plain)
    places = frozenset(owners)

    def trial(law: str, name: str, requests: Sequence[Request]) -> Trial:
        return Trial(law, name, plain.level, places, baseline, tuple(engine.decode(r) for r in requests))

    trials = [trial("environment", name, [replace(plain, conf=conf)]) for name, conf in ENVIRONMENTS.items()]
    trials.append(trial("batch", "alone", [replace(plain, ranges=((p, o, o),)) for _, p, o in sorted(places)]))
    trials.append(trial("batch", f"in {PARTITIONS} partitions", [replace(plain, repartition=PARTITIONS)]))
    return collect(Pending(tuple(trials), owners), judge, lambda _text: None)
