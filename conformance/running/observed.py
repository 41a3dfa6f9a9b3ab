"""Judges a decoder on messages whose truth is unknown: by the laws, and by its differences from the
reference decoder.

The laws hold for every message: an answer to each, no exception, the shape of rows, the same rows
in any batch and environment. A difference from the reference decoder is no verdict, since either
may be right.
"""

from __future__ import annotations

import itertools
import math
import struct
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from typing import Any, Final, NamedTuple

from conformance.brokers.jars import java_words
from conformance.cases.catalogue import Call
from conformance.engines.engine import (
    DecodeRaised,
    Engine,
    Loaded,
    ProcessLost,
    RecordSource,
    Request,
    assign_places,
    ranges_of,
    write_records,
)
from conformance.engines.specs import decoder_spec
from conformance.inspecting.opening import ReadRecord
from conformance.judging.capabilities import (
    NULL_FOR_ABSENT,
    READ_AS_INSERT,
    TYPED_VALUES,
    Capabilities,
)
from conformance.judging.clusters import smallest_failures
from conformance.judging.compare import Typed
from conformance.judging.known import EntryTracker
from conformance.judging.output import OutputRow, Outputs, Place, read
from conformance.judging.results import Header, RunResult, circumstances
from conformance.running import laws
from conformance.running.events import Judged, Listener, ignore, working
from conformance.running.finishing import finish_format
from conformance.running.prepared import Prepared, Settings, decode_request
from conformance.running.preparing import start_loading
from generators.errors import HarnessError, UsageError, first_line
from generators.model import SIDES, Case, Change, Kind, Message, Side, Table, Written
from generators.profiles import Profile
from generators.wire_format import Format

MOST: Final = 100_000
"""How many messages are judged at most; further ones are ignored."""
TOPIC: Final = "messages"
"""The topic of messages whose source names none."""


@dataclass(slots=True)
class Difference:
    """A part of the output in which the decoder differs from the reference decoder: in how many
    messages, and for the first of these what each of the two gave.

    `what` names the part: `TABLE after.COLUMN`, `ROW op`, `message kinds of rows` ...; `place` says
    where the first message stands in the input, `value` is its value.
    """

    what: str
    messages: int
    place: str
    value: bytes | None
    reference: str
    decoder: str


@dataclass(frozen=True, slots=True)
class Observed:
    """What is found out about a decoder on messages whose truth is unknown: the result of the laws,
    and the differences from the reference decoder by part of the output, most frequent first.

    Of the `messages` those are `judged` whose kinds of rows the decoder claims; `unlike` counts the
    messages in which the decoders differ, `refused_messages` those for which the reference decoder
    gives CORRUPT rows alone. `tables` are those whose typed rows were compared, too.
    """

    result: RunResult
    profile: str
    messages: int
    judged: int
    unlike: int
    refused_messages: int
    differences: tuple[Difference, ...]
    tables: tuple[str, ...] = ()


def observe_messages(
    settings: Settings,
    engine: Engine,
    reference: Engine,
    profile: Profile,
    fmt: Format[Any],
    records: Iterable[ReadRecord],
    tables: Sequence[Table] = (),
    listen: Listener = ignore,
) -> Observed:
    """Decodes the records with the settings' decoder and with the reference decoder, tests the
    laws, and compares the two decoders' rows. `engine` runs the decoder, `reference` the reference
    decoder; they may be one engine.

    At most MOST records are taken. `tables` are decoded at level two (typed rows), each from all
    messages, and compared cell by cell. Raises UsageError where there is no record, or the decoder
    cannot be loaded; HarnessError if the reference decoder fails.
    """
    began, note = time.monotonic(), working(listen)
    read_records = list(itertools.islice(records, MOST))
    if not read_records:
        raise UsageError("there is no message to judge")
    note(f"{fmt.name}: {len(read_records):,} messages")
    settings = replace(settings, writer_profile=profile.name)
    loaded = start_loading(settings, engine, fmt).result()
    if 1 not in loaded.levels:
        raise UsageError("--messages needs a decoder of level one; --tables adds level two")
    prepared = _prepare_messages(settings, fmt, profile, read_records, loaded)
    (call,) = prepared.calls
    engines = {id(used_engine): used_engine for used_engine in (engine, reference)}.values()
    for used_engine in engines:
        _keep_records(used_engine, prepared, call)
    decoder_request = decode_request(prepared, call, call.cases)
    reference_request = replace(decoder_request, decoder=decoder_spec(fmt.name, None), mapping={})
    note("the reference decoder")
    reference_outputs = _reference_outputs(reference, reference_request)
    call = prepared.calls[0] = replace(
        call,
        cases=tuple(case for case in call.cases if _is_claimed(prepared, case, reference_outputs)),
    )
    note("the decoder")
    evidence: dict[str, Outputs] = {}
    prepared.futures.append(engine.decode(decode_request(prepared, call, call.cases)))
    prepared.laws = laws.submit_trials(engine, prepared)
    result = finish_format(engine, prepared, listen, evidence)
    listen(Judged(result))
    by_case = dict(zip((case.id for case in prepared.owners.values()), read_records, strict=True))
    comparison = _Differences(prepared, by_case, call, loaded.capabilities)
    failed: set[str] = set()
    for case in result.cases:
        if any(finding.path == "decoding" for finding in case.findings):
            failed.add(case.case.id)
    comparison.compare(reference_outputs, evidence.get(call.name, {}), "", failed)
    typed = [table for table in tables if 2 in loaded.levels]
    for table in typed:
        note(f"typed rows of {table.name}")
        try:
            decoder_outputs = read(
                engine.decode(
                    replace(decode_request(prepared, call, call.cases), level=2, table=table)
                ).result(),
                2,
            )
        except (DecodeRaised, ProcessLost) as error:
            comparison.count_raise(table.name, first_line(error))
        else:
            comparison.compare(
                _reference_outputs(reference, replace(reference_request, level=2, table=table)),
                decoder_outputs,
                table.name,
                failed,
            )
    for used_engine in engines:
        used_engine.release(prepared.handle)
    head = Header(
        settings.seed,
        "messages",
        settings.decoder or "reference",
        "none",
        "",
        circumstances(java_words()),
        settings.arguments,
    )
    failures = smallest_failures(result, EntryTracker(settings.expect), settings.causes)
    run_result = RunResult(
        head, (result,), tuple(failures), time.monotonic() - began, settings.strict
    )
    differences = tuple(sorted(comparison.by_part.values(), key=lambda part: -part.messages))
    refused_messages = sum(
        all(output_row.kind == Kind.CORRUPT for output_row in output_rows)
        for output_rows in reference_outputs.values()
        if output_rows
    )
    names = tuple(table.name for table in typed)
    return Observed(
        run_result,
        profile.name,
        len(read_records),
        len(call.cases),
        len(comparison.unlike),
        refused_messages,
        differences,
        names,
    )


def _prepare_messages(
    settings: Settings,
    fmt: Format[Any],
    profile: Profile,
    read_records: Sequence[ReadRecord],
    loaded: Loaded,
) -> Prepared:
    """The messages, each as a case of one decode call that requires at least one row, whatever it
    is. They keep their own offsets where all of these are known and differ.
    """
    cases, used = [], set[str]()
    for number, record in enumerate(read_records):
        name = f"{fmt.name}/{profile.name}/messages/{record.place or number}"
        # Files of several folders may share their names.
        name = f"{name}#{number}" if name in used else name
        used.add(name)
        message = Message(
            record.topic or TOPIC, record.partition, record.key, record.value, case=name
        )
        tolerant_change = Change(0, Kind.CORRUPT, anything=True)
        written = (Written(message, (tolerant_change,)),)
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
    messages = [case.written[0].message for case in cases]
    own_places: list[Place] = [
        (m.topic, m.partition, r.offset) for m, r in zip(messages, read_records, strict=True)
    ]
    has_offsets = all(record.offset >= 0 for record in read_records) and len(
        set(own_places)
    ) == len(own_places)
    places = own_places if has_offsets else assign_places(messages)
    place_of_message = dict(zip(map(id, messages), places, strict=True))
    prepared = Prepared(
        settings,
        fmt,
        decoder_spec(fmt.name, settings.decoder),
        loaded,
        [call],
        place_of_message,
        fmt.name,
    )
    prepared.counted_rules = frozenset(rule.id for rule in prepared.rules)
    prepared.owners = dict(zip(map(id, messages), cases, strict=True))
    return prepared


def _is_claimed(prepared: Prepared, case: Case, reference_outputs: Outputs) -> bool:
    """Whether the decoder's capabilities include every kind of row that the reference decoder
    returned for the case's message. A case here has one message, an observed one.
    """
    reference_rows = reference_outputs.get(prepared.place(case.written[0].message), ())
    return all(
        reference_row.kind is None
        or prepared.loaded.capabilities.claims("kinds", reference_row.kind)
        for reference_row in reference_rows
    )


def _keep_records(engine: Engine, prepared: Prepared, call: Call) -> None:
    """Writes the first message of each case of a call into a Parquet file, and waits until the
    engine keeps them as the records of `prepared.handle`, the name by which decode requests refer
    to them.
    """
    messages = [case.written[0].message for case in call.cases]
    places = [prepared.place(message) for message in messages]
    path = engine.directory / f"{prepared.handle}.parquet"
    write_records(path, messages, [offset for _, _, offset in places])
    engine.keep_records(
        prepared.handle, RecordSource(ranges_of(places), parquet=str(path))
    ).result()


def _reference_outputs(engine: Engine, reference_request: Request) -> Outputs:
    """Runs the reference decoder and returns its rows by message. Raises HarnessError if it fails,
    since there is nothing to compare with then.
    """
    try:
        return read(engine.decode(reference_request).result(), reference_request.level)
    except (DecodeRaised, ProcessLost) as error:
        raise HarnessError(
            f"the reference decoder gave no rows: {error}. Take fewer messages, or more --timeout"
        ) from error


def _kinds_text(rows_of_message: Sequence[OutputRow]) -> str:
    """The kinds of a message's rows in words, such as `ROW, ROW`; "no row" if it has none."""
    return ", ".join(str(output.kind) for output in rows_of_message) or "no row"


class PartDifference(NamedTuple):
    """A part of a message's rows in which the two decoders differ (such as `orders.t after.name`),
    with what each of them has there.
    """

    part: str
    reference: Any
    decoder: Any


@dataclass(slots=True)
class _Differences:
    """Collects the differences between the rows of the two decoders: `by_part` the difference in
    each part of the output, `unlike` the ids of the cases that differ. `records` are the input
    records by case id, `claims` what the decoder claims to do.
    """

    prepared: Prepared
    records: Mapping[str, ReadRecord]
    call: Call
    claims: Capabilities
    by_part: dict[str, Difference] = field(default_factory=dict)
    unlike: set[str] = field(default_factory=set)

    def compare(
        self, reference_outputs: Outputs, decoder_outputs: Outputs, table: str, failed: set[str]
    ) -> None:
        """Compares the two decoders' rows of each message, and notes the differences. At level two
        `table` names the table whose typed rows these are; "" is level one. Cases whose ids are in
        `failed` are left out: the decoder failed on them.
        """
        for case in self.call.cases:
            place = self.prepared.place(case.written[0].message)
            if case.id not in failed:
                for difference in self._part_differences(
                    reference_outputs.get(place, ()), decoder_outputs.get(place, ()), table
                ):
                    self._add(case.id, difference)

    def count_raise(self, table: str, why: str) -> None:
        """Counts every message of the table as different: the decoder raised at level two, so that
        it has no typed rows of that table.
        """
        for case in self.call.cases:
            self._add(case.id, PartDifference(f"{table} rows", "rows", f"raised: {why}"))

    def _add(self, case: str, difference: PartDifference) -> None:
        """Counts a message in which the two decoders' values of one part (such as a column) differ,
        and keeps both values of the first such message.
        """
        self.unlike.add(case)
        record = self.records[case]
        what, want, got = difference
        self.by_part.setdefault(
            what, Difference(what, 0, record.place, record.value, want, got)
        ).messages += 1

    def _part_differences(
        self, reference_rows: Sequence[OutputRow], decoder_rows: Sequence[OutputRow], table: str
    ) -> Iterator[PartDifference]:
        """The parts (such as `orders.t after.name`) in which the two decoders' rows of one message
        differ, with both values as text. A part that differs in several rows comes once, with the
        first row's values; where the kinds of the rows differ, nothing else is compared.
        """
        reference_kinds = [output_row.kind for output_row in reference_rows]
        if reference_kinds != [output_row.kind for output_row in decoder_rows]:
            yield PartDifference(
                f"{table or 'message'} kinds of rows",
                _kinds_text(reference_rows),
                _kinds_text(decoder_rows),
            )
            return
        first_of_part = dict[str, PartDifference]()
        for reference_row, decoder_row in zip(reference_rows, decoder_rows, strict=True):
            for difference in self._row_differences(reference_row, decoder_row, table):
                first_of_part.setdefault(difference.part, difference)
        for difference in first_of_part.values():
            yield difference._replace(
                reference=_cell_text(difference.reference), decoder=_cell_text(difference.decoder)
            )

    def _row_differences(
        self, reference: OutputRow, decoder: OutputRow, table: str
    ) -> Iterator[PartDifference]:
        """The parts in which the decoder's row differs from the reference decoder's: op, columns of
        the envelope (at level one, where `table` is ""), images; each with both values. A READ as
        INSERT is no difference if the decoder claims that convention.
        """
        inserted = READ_AS_INSERT in self.claims.conventions and (reference.op, decoder.op) == (
            "READ",
            "INSERT",
        )
        if reference.op != decoder.op and not inserted:
            yield PartDifference(f"{table or reference.kind} op", reference.op, decoder.op)
        for part in ("database", "table", "keys", "sql") if not table else ():
            reference_cell, decoder_cell = (
                _unordered(output_row.fields.get(part)) for output_row in (reference, decoder)
            )
            if not _are_equal(reference_cell, decoder_cell):
                yield PartDifference(f"{reference.kind} {part}", reference_cell, decoder_cell)
        name = table or ".".join(
            str(reference.fields[part])
            for part in ("database", "table")
            if reference.fields.get(part)
        )
        for side in SIDES:
            yield from self._image_differences(
                name, side, getattr(reference, side), getattr(decoder, side)
            )

    def _image_differences(
        self,
        name: str,
        side: Side,
        reference: Mapping[str, Any] | None,
        decoder: Mapping[str, Any] | None,
    ) -> Iterator[PartDifference]:
        """The columns in which two images of a row differ, with both cells, or the image if one row
        has none. What the decoder's conventions allow, such as NULL for an absent column, is no
        difference.
        """
        if reference is None or decoder is None:
            if reference is not decoder:
                reference_text, decoder_text = (
                    "NULL" if image is None else "an image" for image in (reference, decoder)
                )
                yield PartDifference(f"{name} {side}", reference_text, decoder_text)
            return
        for column in dict.fromkeys((*reference, *decoder)):
            reference_cell = reference.get(column, ABSENT)
            decoder_cell = decoder.get(column, ABSENT)
            absent = (
                NULL_FOR_ABSENT in self.claims.conventions
                and reference_cell is ABSENT
                and _bare_value(decoder_cell) is None
            )
            texts_for_types = (
                TYPED_VALUES in self.claims.conventions
                and isinstance(reference_cell, str)
                and isinstance(decoder_cell, str)
            )
            if not (absent or texts_for_types or _are_equal(reference_cell, decoder_cell)):
                yield PartDifference(f"{name} {side}.{column}", reference_cell, decoder_cell)


class _Absent:
    """A column that an image lacks."""

    def __repr__(self) -> str:
        return "absent"


ABSENT: Final = _Absent()
"""Stands for the cell of a column that an image lacks."""


def _unordered(value: Any) -> Any:
    """A list in sorted order, so that lists are compared without their order; anything else
    unchanged.
    """
    return sorted(value) if isinstance(value, list) else value


def _bare_value(cell: Any) -> Any:
    """The value in a typed cell; a text of level one unchanged."""
    return cell.value if isinstance(cell, Typed) else cell


def _are_equal(want: Any, got: Any) -> bool:
    """Whether two cells are equal; values of different types are equal only if they are equal
    numbers. NaN equals NaN, and the sign of a zero counts between floating-point numbers.
    """
    reference_value, decoder_value = _bare_value(want), _bare_value(got)
    if isinstance(reference_value, float) and isinstance(decoder_value, float):
        return struct.pack("<d", reference_value) == struct.pack("<d", decoder_value) or (
            math.isnan(reference_value) and math.isnan(decoder_value)
        )
    numbers = all(
        isinstance(value, int | Decimal | float) and not isinstance(value, bool)
        for value in (reference_value, decoder_value)
    )
    return (numbers or type(reference_value) is type(decoder_value)) and bool(
        reference_value == decoder_value
    )


def _cell_text(cell: Any) -> str:
    """The value in a cell as text, `NULL` for None; cut to 200 characters."""
    value = _bare_value(cell)
    return "NULL" if value is None else repr(value)[:200]
