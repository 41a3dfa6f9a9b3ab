"""A format's first verdict: the named cases of one profile, decoded while all the others are still
drawn and published.

It tells a decoder's author at once that something is wrong, and warms Spark up in a time in which
it has nothing else to do. The same cases are judged again among all: nothing that is said here
counts.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import CancelledError, Future
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from conformance.cases.catalogue import Call, group_calls, named_cases, select_profiles
from conformance.engines.engine import DecodeRaised, Engine, Loaded, ProcessLost, write_table
from conformance.engines.specs import decoder_spec
from conformance.judging.findings import CaseResult, Finding
from conformance.judging.judge import Judge
from conformance.judging.output import Place, read
from conformance.judging.selection import split_by_claims
from conformance.running.events import Listener, failing
from conformance.running.isolating import find_error_of_every_call
from conformance.running.mixing import ACQUITTING
from conformance.running.prepared import Prepared, Settings, decode_request
from generators.errors import HarnessError
from generators.model import Case, messages_of
from generators.wire_format import Format

__all__ = ["Early", "start_early"]


@dataclass(slots=True)
class Early:
    """Named cases of one profile that are decoded before all others are drawn; the engine already
    has their messages, under the name `handle`. `start_decoding` submits the call, `breaks` waits
    for it. `findings` are the first ones of each rule; none if decoding failed, whose cause is
    searched for later, among all cases. `always` is the error with which every call ends, None if
    there is no such error.
    """

    settings: Settings
    engine: Engine
    fmt: Format[Any]
    cases: Sequence[Case]
    handle: str
    places: dict[int, Place]
    listen: Listener
    pending: tuple[Prepared, Call, Future[pa.Table]] | None = None
    findings: tuple[tuple[Finding, CaseResult], ...] = ()
    always: Exception | None = None

    def start_decoding(self, loaded: Loaded) -> None:
        """Submits the largest decode call of the early cases that the decoder claims; does nothing
        if it claims none.
        """
        # For a decoder that claims only some types, level two is judged on other tables.
        cases = (
            [case for case in self.cases if case.level == 1]
            if loaded.capabilities.types
            else self.cases
        )
        supported, _ = split_by_claims(cases, loaded.capabilities, loaded.levels)
        grouped = group_calls(self.fmt, supported, loaded.levels, self.settings.seed)
        if grouped:
            call = max(grouped, key=lambda call: len(call.cases))
            decoder = decoder_spec(self.fmt.name, self.settings.decoder)
            prepared = Prepared(
                self.settings, self.fmt, decoder, loaded, [call], self.places, self.handle
            )
            self.pending = (
                prepared,
                call,
                self.engine.decode(decode_request(prepared, call, call.cases)),
            )

    def breaks(self) -> bool:
        """Waits for the early call and judges its rows, whose first finding of each rule it keeps.
        Returns whether the decoder failed or a case failed: then there is a verdict to show at
        once.
        """
        if self.pending is None:
            return False
        prepared, call, future = self.pending
        try:
            outputs = read(future.result(), call.level)
        except ProcessLost as error:
            failing(self.listen, call.name, error)
            self.always = find_error_of_every_call(self.engine, prepared, call, error)
            return True
        except (CancelledError, DecodeRaised, HarnessError):
            return True
        finally:
            self.engine.release(prepared.handle)
        judge = Judge(prepared.rules, prepared.loaded.capabilities)
        by_rule: dict[str, tuple[Finding, CaseResult]] = {}
        for case in call.cases:
            result = judge.judge(
                case, [outputs.get(prepared.place(w.message), ()) for w in case.written]
            )
            for finding in result.findings:
                by_rule.setdefault(finding.rule, (finding, result))
        self.findings = tuple(by_rule.values())
        return any(result.verdict not in ACQUITTING for _, result in self.findings)


def start_early(
    settings: Settings, engine: Engine, fmt: Format[Any], listen: Listener
) -> Early | None:
    """Hands the named cases of the first selected profile to the engine, to be decoded while the
    other cases are drawn. None for the reference decoder, and where the user selected cases or gave
    tables of his own.
    """
    if settings.decoder is None or settings.selection or settings.tables is not None:
        return None
    cases = list(named_cases(fmt, select_profiles(fmt, settings.writer_profile)[:1]))
    messages = list(messages_of(cases))
    handle = f"{fmt.name}-first"
    places, source = write_table(engine.directory, handle, messages)
    engine.keep_records(handle, source)  # if it fails, so does the decode call
    by_message = {id(message): place for message, place in zip(messages, places, strict=True)}
    return Early(settings, engine, fmt, cases, handle, by_message, listen)
