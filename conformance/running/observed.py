"""Judges a decoder on messages whose truth is unknown: by the laws, and by its differences from the
reference decoder.

The laws hold for every message: an answer to each, no exception, the shape of rows, the same rows
in any batch and environment. A difference from the reference decoder is no verdict, since either
may be right.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from typing import Any, Final

from conformance.brokers.jars import java_words
from conformance.cases.catalogue import Call
from conformance.engines.engine import (
    DecodeRaised,
    Engine,
    Loaded,
    Lost,
    RecordSource,
    Request,
    lay,
    to_ranges,
    write_records,
)
from conformance.engines.specs import decoder_of
from conformance.inspecting.opening import ReadRecord
from conformance.judging.clusters import smallest_failures
from conformance.judging.compare import Typed
from conformance.judging.judge import NULL_FOR_ABSENT, READ_AS_INSERT, TYPED_VALUES, Capabilities
from conformance.judging.known import EntryTracker as Known
from conformance.judging.output import OutputRow, Outputs, Place, read
from conformance.judging.results import Header, RunResult, circumstances
from conformance.running import laws
from conformance.running.events import Judged, Listener, ignore, working
from conformance.running.prepared import Prepared, Settings, request
from conformance.running.run import finish, load
from generators.errors import HarnessError, UsageError
from generators.model import Case, Change, Kind, Message, Table, Written
from generators.profiles import Profile
from generators.wire_format import Format

MOST: Final = 100_000
"""Limit of the messages that are judged at once."""
TOPIC: Final = "messages"
"""The topic of messages that name none."""


@dataclass(slots=True)
class Difference:
    """A part of the output in which the decoders differ: in how many messages, and in the first of
    them what each gave.

    `what` is `TABLE after.COLUMN`, `ROW op`, `message kinds of rows` ...; `place` names the message
    in the input, `value` is the message's.
    """

    what: str
    messages: int
    place: str
    value: bytes | None
    reference: str
    decoder: str


@dataclass(frozen=True, slots=True)
class Observed:
    """What is known of a decoder on such messages: the laws' result, and the differences by part,
    most frequent first.

    Of the `messages` those are `judged` whose kinds the decoder claims; `unlike` counts those that
    differ, `refused` those that the reference calls CORRUPT. Typed rows of the `tables` were
    compared, too.
    """

    result: RunResult
    profile: str
    messages: int
    judged: int
    unlike: int
    refused: int
    differences: tuple[Difference, ...]
    tables: tuple[str, ...] = ()


def observe(
    settings: Settings,
    engine: Engine,
    reference: Engine,
    profile: Profile,
    fmt: Format[Any],
    records: Iterable[ReadRecord],
    tables: Sequence[Table] = (),
    listen: Listener = ignore,
) -> Observed:
    """Decodes the records with the settings' decoder and with the reference, whose engine may be
    the same.

    At most MOST records are taken. `tables` are decoded at level two, each on all messages, and
    compared cell by cell. Raises UsageError where there is no record, or the decoder cannot be
    loaded; HarnessError if the reference fails.
    """
    began, note = time.monotonic(), working(listen)
    taken = list(itertools.islice(records, MOST))
    if not taken:
        raise UsageError("there is no message to judge")
    note(f"{fmt.name}: {len(taken):,} messages")
    settings = replace(settings, writer_profile=profile.name)
    loaded = load(settings, engine, fmt).result()
    if 1 not in loaded.levels:
        raise UsageError("--messages needs a decoder of level one; --tables adds level two")
    prepared = _prepared(settings, fmt, profile, taken, loaded)
    (call,) = prepared.calls
    engines = {id(each): each for each in (engine, reference)}.values()
    for each in engines:
        _open(each, prepared, call)
    asked = request(prepared, call, call.cases)
    theirs = replace(asked, decoder=decoder_of(fmt.name, None), mapping={})
    note("the reference decoder")
    right = _right(reference, theirs)
    call = prepared.calls[0] = replace(
        call, cases=tuple(case for case in call.cases if _claimed(prepared, case, right))
    )
    note("the decoder")
    evidence: dict[str, Outputs] = {}
    prepared.futures.append(engine.decode(request(prepared, call, call.cases)))
    prepared.laws = laws.submit(engine, prepared)
    result = finish(engine, prepared, listen, evidence)
    listen(Judged(result))
    by_case = dict(zip((case.id for case in prepared.owners.values()), taken, strict=True))
    comparison = _Differences(prepared, by_case, call, loaded.capabilities)
    failed = {
        case.case.id
        for case in result.cases
        if any(finding.path == "decoding" for finding in case.findings)
    }
    comparison.compare(right, evidence.get(call.name, {}), "", failed)
    typed = [table for table in tables if 2 in loaded.levels]
    for table in typed:
        note(f"typed rows of {table.name}")
        try:
            ours = read(
                engine.decode(
                    replace(request(prepared, call, call.cases), level=2, table=table)
                ).result(),
                2,
            )
        except (DecodeRaised, Lost) as error:
            comparison.raised(table.name, str(error).splitlines()[0])
        else:
            comparison.compare(
                _right(reference, replace(theirs, level=2, table=table)), ours, table.name, failed
            )
    for each in engines:
        each.release(prepared.handle)
    head = Header(
        settings.seed,
        "messages",
        settings.decoder or "reference",
        "none",
        "",
        circumstances(java_words()),
        settings.arguments,
    )
    failures = smallest_failures(result, Known(settings.expect), settings.causes)
    whole = RunResult(head, (result,), tuple(failures), time.monotonic() - began, settings.strict)
    differences = tuple(sorted(comparison.by_part.values(), key=lambda part: -part.messages))
    refused = sum(all(row.kind == Kind.CORRUPT for row in rows) for rows in right.values() if rows)
    names = tuple(table.name for table in typed)
    return Observed(
        whole,
        profile.name,
        len(taken),
        len(call.cases),
        len(comparison.unlike),
        refused,
        differences,
        names,
    )


def _prepared(
    settings: Settings,
    fmt: Format[Any],
    profile: Profile,
    taken: Sequence[ReadRecord],
    loaded: Loaded,
) -> Prepared:
    """The messages as cases that require at least one row, whatever it is; they keep their own
    offsets where these are known.
    """
    cases, used = [], set[str]()
    for number, record in enumerate(taken):
        name = f"{fmt.name}/{profile.name}/messages/{record.place or number}"
        name = (
            f"{name}#{number}" if name in used else name
        )  # files of several folders may share their names
        used.add(name)
        message = Message(
            record.topic or TOPIC, record.partition, record.key, record.value, case=name
        )
        owed = Change(0, Kind.CORRUPT, anything=True)
        written = (Written(message, (owed,)),)
        cases.append(
            Case(
                name,
                fmt.name,
                profile.name,
                profile.deployment,
                1,
                (),
                written,
                scenario="messages",
            )
        )
    call = Call(fmt.name, profile.deployment, 1, tuple(cases), source=profile.source)
    sent = [case.written[0].message for case in cases]
    own: list[Place] = [(m.topic, m.partition, r.offset) for m, r in zip(sent, taken, strict=True)]
    known = all(record.offset >= 0 for record in taken) and len(set(own)) == len(own)
    places = own if known else lay(sent)
    placed = dict(zip(map(id, sent), places, strict=True))
    prepared = Prepared(
        settings, fmt, decoder_of(fmt.name, settings.decoder), loaded, [call], placed, fmt.name
    )
    prepared.kept = frozenset(rule.id for rule in prepared.rules)
    prepared.owners = dict(zip(map(id, sent), cases, strict=True))
    return prepared


def _claimed(prepared: Prepared, case: Case, right: Outputs) -> bool:
    """Whether the decoder claims the kinds of rows that the reference has of a message."""
    rows = right.get(prepared.place(case.written[0].message), ())
    return all(
        row.kind is None or prepared.loaded.capabilities.claims("kinds", row.kind) for row in rows
    )


def _open(engine: Engine, prepared: Prepared, call: Call) -> None:
    sent = [case.written[0].message for case in call.cases]
    places = [prepared.place(message) for message in sent]
    path = engine.directory / f"{prepared.handle}.parquet"
    write_records(path, sent, [offset for _, _, offset in places])
    engine.open(prepared.handle, RecordSource(to_ranges(places), parquet=str(path))).result()


def _right(engine: Engine, asked: Request) -> Outputs:
    """The reference decoder's rows."""
    try:
        return read(engine.decode(asked).result(), asked.level)
    except (DecodeRaised, Lost) as error:
        raise HarnessError(
            f"the reference decoder gave no rows: {error}. Take fewer messages, or more --timeout"
        ) from error


@dataclass(slots=True)
class _Differences:
    """Collects what differs, by part."""

    prepared: Prepared
    records: Mapping[str, ReadRecord]
    call: Call
    claims: Capabilities
    by_part: dict[str, Difference] = field(default_factory=dict)
    unlike: set[str] = field(default_factory=set)

    def compare(self, right: Outputs, mine: Outputs, table: str, failed: set[str]) -> None:
        """Compares the rows of each message that the decoder did not fail on, at level two those of
        a table.
        """
        for case in self.call.cases:
            place = self.prepared.place(case.written[0].message)
            if case.id not in failed:
                for part in self._parts(right.get(place, ()), mine.get(place, ()), table):
                    self._add(case.id, *part)

    def raised(self, table: str, why: str) -> None:
        """Notes that the decoder has no typed rows of a table at all."""
        for case in self.call.cases:
            self._add(case.id, f"{table} rows", "rows", f"raised: {why}")

    def _add(self, case: str, what: str, want: str, got: str) -> None:
        self.unlike.add(case)
        record = self.records[case]
        self.by_part.setdefault(
            what, Difference(what, 0, record.place, record.value, want, got)
        ).messages += 1

    def _parts(
        self, right: Sequence[OutputRow], mine: Sequence[OutputRow], table: str
    ) -> Iterator[tuple[str, str, str]]:
        """What differs in a message, each part once."""
        wanted, actual = (
            ", ".join(str(row.kind) for row in rows) or "no row" for rows in (right, mine)
        )
        if wanted != actual:
            yield f"{table or 'message'} kinds of rows", wanted, actual
            return
        parts = dict[str, tuple[str, str]]()
        for want, got in zip(right, mine, strict=True):
            for what, cell, other in self._row(want, got, table):
                parts.setdefault(what, (_text(cell), _text(other)))
        yield from ((what, *texts) for what, texts in parts.items())

    def _row(self, want: OutputRow, got: OutputRow, table: str) -> Iterator[tuple[str, Any, Any]]:
        inserted = READ_AS_INSERT in self.claims.conventions and (want.op, got.op) == (
            "READ",
            "INSERT",
        )
        if want.op != got.op and not inserted:
            yield f"{table or want.kind} op", want.op, got.op
        for part in ("database", "table", "keys", "sql") if not table else ():
            cell, other = (_unordered(row.fields.get(part)) for row in (want, got))
            if not _alike(cell, other):
                yield f"{want.kind} {part}", cell, other
        name = table or ".".join(
            str(want.fields[part]) for part in ("database", "table") if want.fields.get(part)
        )
        for side in ("before", "after"):
            yield from self._image(name, side, getattr(want, side), getattr(got, side))

    def _image(
        self, name: str, side: str, want: Mapping[str, Any] | None, got: Mapping[str, Any] | None
    ) -> Iterator[tuple[str, Any, Any]]:
        if want is None or got is None:
            if want is not got:
                left, right = ("NULL" if image is None else "an image" for image in (want, got))
                yield f"{name} {side}", left, right
            return
        for column in dict.fromkeys((*want, *got)):
            cell, other = want.get(column, ABSENT), got.get(column, ABSENT)
            absent = (
                NULL_FOR_ABSENT in self.claims.conventions
                and cell is ABSENT
                and _value(other) is None
            )
            held = (
                TYPED_VALUES in self.claims.conventions
                and isinstance(cell, str)
                and isinstance(other, str)
            )
            if not (absent or held or _alike(cell, other)):
                yield f"{name} {side}.{column}", cell, other


class _Absent:
    """A column that an image lacks."""

    def __repr__(self) -> str:
        return "absent"


ABSENT: Final = _Absent()


def _unordered(value: Any) -> Any:
    return sorted(value) if isinstance(value, list) else value


def _value(cell: Any) -> Any:
    return cell.value if isinstance(cell, Typed) else cell


def _alike(want: Any, got: Any) -> bool:
    """Whether two cells are equal; values of different types are equal only if they are equal
    numbers.
    """
    left, right = _value(want), _value(got)
    numbers = all(
        isinstance(value, int | Decimal | float) and not isinstance(value, bool)
        for value in (left, right)
    )
    return (numbers or type(left) is type(right)) and bool(left == right)


def _text(value: Any) -> str:
    held = _value(value)
    return "NULL" if held is None else repr(held)[:200]
