"""Finds the case to blame when a call fails as a whole: it raises, hangs, ends its process, or
returns rows of no message.
"""

from __future__ import annotations

import itertools
import re
import time
from collections.abc import Collection, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Final

from conformance.cases.catalogue import Call
from conformance.engines.command import RecordsRaised
from conformance.engines.engine import ChildDied, DecodeRaised, DecodeTimeout, Engine, ProcessLost
from conformance.judging.findings import Finding, Verdict
from conformance.judging.judge import Judge
from conformance.judging.output import OutputRow, Outputs, Place, read
from conformance.rules.rules import Aspect
from conformance.running import laws
from conformance.running.hangs import PROBE_S, Search, divided, probe_s
from conformance.running.prepared import Prepared, decode_request
from generators.errors import HarnessError
from generators.model import Case, Message, Origin, Written, messages_of

CALLS: Final = 120
"""Limit of the decode calls that search for the messages that make a call fail."""
AGAIN: Final = "#again"
"""The end of the id of the case of a repeated message."""
ALIKE: Final = 6
"""How many cases are decoded alone before a call that raises is divided: if all give one error, the
search is spared.
"""
COLD: Final = (
    "in the first call of a process, and no time was left to ask again: is the machine busy?"
)
"""Why a hang may not be the decoder's fault."""

_TASK: Final = re.compile(r"(?<=[Tt]ask )[\d.]+|(?<=stage )[\d.]+|(?<=TID )\d+")
"""Numbers in Spark's errors that differ from call to call."""


@dataclass(frozen=True, slots=True)
class BlamedCase:
    """A case that makes decoding fail, with its verdict and the error's text. `alone` is False for
    a case that was only decoded together with others, because the limit of calls was reached.
    """

    case: Case
    verdict: Verdict
    why: str
    alone: bool = True


def foreign_case(prepared: Prepared, call: Call, message: Message) -> Case:
    """A foreign message of a decode call as a case that can be judged. At level one (the call has
    no table) it is a repeated message, which requires its rows again. At level two it is a message
    of another table, which requires no row. The case is a copy of the message's own one (`owner`),
    with this message alone and an id of its own, `ID#again` or `ID#in-TABLE`.
    """
    owner = prepared.owners[id(message)]
    if call.table is None:
        changes = next(written.changes for written in owner.written if written.message == message)
        return replace(owner, id=f"{owner.id}{AGAIN}", written=(Written(message, changes),))
    name = f"{owner.id}#in-{call.table.name}"
    return replace(
        owner, id=name, tables=(call.table,), written=(Written(message, ()),), origin=Origin.FOREIGN
    )


class EveryCall(ProcessLost):
    """The error that every call of a decoder hangs or ends its process. `probed` are the cases that
    were decoded alone and did so, `verdict` is that of all cases.
    """

    def __init__(self, error: Exception, probed: Sequence[Case]) -> None:
        super().__init__(
            f"{error}\nSo ends every call: one of many messages, and {len(probed)} of one case each."
        )
        self.probed_ids, self.verdict = {case.id for case in probed}, verdict_of(error)


def find_error_of_every_call(
    engine: Engine, prepared: Prepared, call: Call, first_error: Exception
) -> EveryCall | None:
    """Decodes the first and the last case of the call alone. If both fail as the call did with
    `first_error`, returns the error that every call fails; else None. After a time-out each has
    half the call's time limit, at least `PROBE_S` seconds.
    """
    limit_s = prepared.settings.timeout_s
    probed = (call.cases[0], call.cases[-1]) if len(call.cases) > 2 else ()
    for case in probed:
        probe = decode_request(prepared, replace(call, foreign=()), [case])
        if isinstance(first_error, DecodeTimeout):
            probe = replace(probe, limit_s=min(limit_s, max(PROBE_S, limit_s / 2)))
        try:
            engine.decode(probe).result()
            return None
        except ProcessLost as error:
            if type(error) is not type(first_error):
                return None
            first_error = error
        except (DecodeRaised, HarnessError):
            return None
    return EveryCall(first_error, probed) if probed else None


def _cancel_waiting_calls(prepared: Prepared) -> list[int]:
    """Cancels all calls of a format that the decoder has not begun. Returns the indices of the
    cancelled calls that the caller must submit again if they are wanted. Common calls of groups and
    calls for laws are cancelled, too, but not returned: the code that waits for them makes up for
    them.
    """
    for future in (
        *(mixed.future for mixed in prepared.mixed.values()),
        *laws.pending_futures(prepared.laws),
    ):
        future.cancel()
    return [
        number
        for number, future in enumerate(prepared.futures)
        if number not in prepared.mixed and future.cancel()
    ]


def isolate_failing_cases(
    engine: Engine, prepared: Prepared, call: Call, first: Exception | None = None
) -> tuple[Outputs, list[BlamedCase]]:
    """Finds the cases that make a call fail: decodes smaller and smaller parts of it until failing
    cases stand alone. `first` is the error of the whole call, None if it was not decoded yet.
    Returns the output rows of the other cases, and the cases to blame.
    """
    outputs: dict[Place, list[OutputRow]] = {}
    blamed: list[BlamedCase] = []
    call_alone, limit_s = replace(call, foreign=()), prepared.settings.timeout_s
    cases = (*call.cases, *(foreign_case(prepared, call, message) for message in call.foreign))
    divisible = (
        isinstance(first, DecodeRaised)
        and not isinstance(first, RecordsRaised)
        and len(cases) > 2 * ALIKE
    )
    if divisible and (same_errors := _same_error_everywhere(engine, prepared, call_alone, cases)):
        return {}, same_errors
    killed = isinstance(first, DecodeTimeout | ChildDied)
    if killed and first is not None and prepared.always is None:
        cancelled = _cancel_waiting_calls(prepared)
        prepared.always = find_error_of_every_call(engine, prepared, call_alone, first)
        for number in cancelled if prepared.always is None else ():
            cancelled_call = prepared.calls[number]
            prepared.futures[number] = engine.decode(
                decode_request(prepared, cancelled_call, cancelled_call.cases)
            )
    if isinstance(every_call := prepared.always, EveryCall):
        return {}, [
            BlamedCase(
                case, every_call.verdict, str(every_call), alone=case.id in every_call.probed_ids
            )
            for case in cases
        ]
    is_undivided = first is None or isinstance(first, RecordsRaised)
    search = Search(
        [cases] if is_undivided or first is None else divided(cases, first), limit_s, killed
    )
    performed = 0
    while search and performed < CALLS:
        suspects = search.pop()
        probe = decode_request(prepared, call_alone, suspects)
        if isinstance(first, DecodeTimeout) and len(suspects) > 1:
            probe = replace(probe, limit_s=probe_s(limit_s))
        performed, began = performed + 1, time.monotonic()
        try:
            outputs |= read(engine.decode(probe).result(), call.level)
            search.cold = False
        except RecordsRaised as error:
            search.cold = False
            for case in suspects:
                whys = [
                    error.errors.get(prepared.place(written.message)) for written in case.written
                ]
                if reasons := [why for why in whys if why is not None]:
                    blamed.append(BlamedCase(case, Verdict.ERRORED, reasons[-1]))
            outputs |= read(error.table, call.level)
        except (DecodeRaised, ProcessLost) as error:
            first = error if isinstance(error, ProcessLost) else first
            if search.convicts(suspects, error, began):
                blamed.append(BlamedCase(suspects[0], verdict_of(error), str(error)))
    blamed += [
        BlamedCase(case, Verdict.TIMEOUT, f"{error}, {COLD}") for case, error in search.doubted
    ]
    verdict = Verdict.ERRORED if first is None else verdict_of(first)
    why = (
        f"not isolated within {performed} calls: a batch with this case makes the decoder"
        f" {_FAILED[verdict]}: {first}"
    )
    undecided = itertools.chain.from_iterable(search.waiting)
    return outputs, blamed + [BlamedCase(case, verdict, why, alone=False) for case in undecided]


def _same_error_everywhere(
    engine: Engine, prepared: Prepared, call: Call, cases: Sequence[Case]
) -> list[BlamedCase]:
    """Decodes a few cases of a call alone. If each of them raises the same error, returns all cases
    of the call, to be blamed, since a search would tell no more; else an empty list.
    """
    probed = [cases[number * (len(cases) - 1) // (ALIKE - 1)] for number in range(ALIKE)]
    lines, message = set[str](), ""
    for case in probed:
        try:
            engine.decode(decode_request(prepared, call, [case])).result()
        except ProcessLost:
            return []
        except DecodeRaised as error:
            message = str(error)
            lines.add(_TASK.sub("", message.partition("\n")[0]))
        else:
            return []
        if len(lines) > 1:
            return []
    why = f"{message}\nEach of {ALIKE} messages that were decoded alone raises this."
    ids = {case.id for case in probed}
    return [BlamedCase(case, Verdict.ERRORED, why, alone=case.id in ids) for case in cases]


_FAILED: Final = {Verdict.ERRORED: "raise", Verdict.TIMEOUT: "hang"}
"""What a batch makes the decoder do, as a word of a sentence."""


def verdict_of(error: Exception) -> Verdict:
    """The verdict on a case whose decoding ends with this error: TIMEOUT for an expired time limit,
    else ERRORED.
    """
    return Verdict.TIMEOUT if isinstance(error, DecodeTimeout) else Verdict.ERRORED


def find_stray_rows(
    engine: Engine, prepared: Prepared, call: Call, outputs: Outputs, judge: Judge
) -> Iterator[Finding]:
    """Yields a finding if the call's rows, `outputs`, name coordinates that none of its messages
    has; at most one. To find the case to blame, halves of the call are decoded again as long as one
    of them gives such rows; the finding names the first case of the smallest part found.
    """

    def stray(
        part: Sequence[Case], outputs: Outputs, more: Sequence[Message] = ()
    ) -> Finding | None:
        """The finding of rows whose coordinates are of no published message of the cases in `part`,
        or None; `more` are messages that were published beside them.
        """
        published = (*messages_of(part), *more)
        return stray_finding(judge, part[0].id, outputs, set(map(prepared.place, published)))

    call_alone, cases = replace(call, foreign=()), call.cases
    finding = smaller = stray(cases, outputs, call.foreign)
    with suppress(DecodeRaised, ProcessLost, HarnessError):
        while smaller and len(cases) > 1:
            for part in (cases[: len(cases) // 2], cases[len(cases) // 2 :]):
                smaller = stray(
                    part,
                    read(
                        engine.decode(decode_request(prepared, call_alone, part)).result(),
                        call.level,
                    ),
                )
                if smaller:
                    finding, cases = smaller, part
                    break
    if finding:
        yield finding


def stray_finding(
    judge: Judge, case: str, outputs: Outputs, requested: Collection[Place]
) -> Finding | None:
    """The finding that rows name coordinates (topic, partition, offset) that are not among
    `requested`, those of the messages in the call; None if there are no such rows. `case` is the id
    of the case that the finding is on.
    """
    stray_places = sorted((place for place in outputs if place not in requested), key=str)
    if not stray_places:
        return None
    number = sum(len(outputs[place]) for place in stray_places)
    total = sum(map(len, outputs.values()))
    first_row = outputs[stray_places[0]][0]
    topic, partition, offset = (
        "NULL" if value is None else value for value in tuple[object, ...](stray_places[0])
    )
    actual = (
        f"{number} of {total} rows, the first at {topic}/{partition}/{offset}: {first_row.kind}"
        f" {first_row.op or ''}".strip()
    )
    return Finding(
        case,
        laws.rule_of(judge, "places"),
        0,
        0,
        Aspect.EXTRA,
        "coordinates",
        "places of the messages read",
        actual,
    )
