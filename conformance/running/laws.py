"""The decoding laws: a message decodes alike in any batch, partitioning and session.

A seeded sample of messages is decoded again under other circumstances. Each message's rows are
compared with those of a plain call on the sample.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Container, Iterator, Mapping, Sequence
from concurrent.futures import CancelledError, Future
from dataclasses import replace
from functools import partial
from typing import Any, Final, NamedTuple, TypeAlias

from conformance.cases.catalogue import Call
from conformance.engines.engine import (
    DecodeRaised,
    Engine,
    ProcessLost,
    Request,
    ranges_of,
    tables_of_cases,
)
from conformance.judging.findings import CIRCUMSTANCE, Finding
from conformance.judging.judge import Judge
from conformance.judging.output import OutputRow, Outputs, Place, read
from conformance.judging.wording import instant, typed
from conformance.rules.rules import Aspect
from conformance.running.hangs import find_culprits
from conformance.running.prepared import (
    Owners,
    Prepared,
    Sample,
    Trial,
    decode_request,
    seeded_sample,
)
from generators.errors import first_line
from generators.model import Case, Kind, Message

ALONE: Final = 4
"""How many messages of a sample are decoded alone, one per call, when a difference is looked into.
"""

PARTITIONS: Final = 3
"""Number of partitions of the Spark frame in which a sample is decoded again: fewer than its
messages, more than cores.
"""

EMPTY: Final = "a batch without messages"
"""The circumstance of a call without any message: what a stream gives that has nothing new."""

_UNSTABLE: Final = ("types", "schema_version")
"""Fields that a decoder may give differently in each call; laws do not compare them."""
_FAILURES: Final = (DecodeRaised, ProcessLost)
"""The errors of a decode call for which the decoder is to blame."""

Parts: TypeAlias = Sequence[Sequence[Place]]
"""Groups of messages, each group to be decoded in a call of its own; a message is given by its
coordinates (topic, partition, offset).
"""


def choose_calls(calls: Sequence[Call], seed: int) -> list[Call]:
    """The judged calls from whose messages the laws are sampled. At level one (changes with texts)
    this is the call of one deployment, preferably without compression and with a time zone other
    than UTC. At level two (typed rows) it is the call of one table, drawn by the seed from the half
    with the most cases, since few cases show little.
    """
    level_one_calls = [call for call in calls if call.level == 1]
    table_calls = [call for call in calls if call.level == 2]
    plainest = sorted(
        level_one_calls,
        key=lambda call: (
            call.deployment.compression != "none",
            call.deployment.time_zone == "UTC",
        ),
    )[:1]
    by_size = sorted(table_calls, key=lambda call: -len(call.cases))
    largest = by_size[: (len(table_calls) + 1) // 2]
    return plainest + seeded_sample(seed, "law/table", largest, 1)


def submit_trials(engine: Engine, prepared: Prepared) -> list[Sample]:
    """Chooses a sample of messages for each level, submits the decode calls that test the laws on
    it, and returns the samples with these pending calls (trials).

    The main trial changes environment, batch and partitioning at once: a message that decodes as in
    the judged call obeys both laws. Only after a difference are the circumstances tried one by one
    (`try_each_circumstance`). Two more trials decode a single message (an unreadable one if the
    sample has any), and no message at all; a budget that judges only a selection of the named cases
    makes these two at one level, which the seed chooses.
    """
    samples: list[Sample] = []
    seed, sampled = prepared.settings.seed, prepared.settings.budget.sampled
    judged = {
        call.name: future for call, future in zip(prepared.calls, prepared.futures, strict=True)
    }
    calls = choose_calls(prepared.calls, seed)
    for call in calls:
        messages: list[tuple[Case, int, Message]] = []
        for case in call.cases:
            for number, written in enumerate(case.written):
                if written.message.size < 100_000:
                    messages.append((case, number, written.message))
        share = max(10, sampled // max(1, len(calls)))
        owners = {
            prepared.place(m): (case, n)
            for case, n, m in seeded_sample(seed, f"law/{call.name}", messages, share)
        }
        unreadable = [(case, n, m) for case, n, m in messages if _is_unreadable(case, n)]
        owners |= {
            prepared.place(m): (case, n)
            for case, n, m in seeded_sample(seed, f"law/{call.name}/unreadable", unreadable, 1)
        }
        if owners:
            shuffled = random.Random(f"{seed}/order").sample(list(owners), len(owners))
            shuffled.sort(key=lambda place: not _is_unreadable(*owners[place]))
            tables = tables_of_cases({case.id: case for case, _ in owners.values()}.values())
            plain = replace(
                decode_request(prepared, call, ()), ranges=ranges_of(owners), tables=tables
            )
            samples.append(Sample(call.name, plain, owners, tuple(shuffled), []))

    def attempt(
        target: Sample,
        laws: tuple[str, ...],
        environment: str,
        part: Sequence[Place],
        **changed: Any,
    ) -> None:
        """Submits the decode call of a sample once more, on the messages at the coordinates `part`
        and with the request's fields `changed`, and notes it as a trial of these laws; its rows are
        later compared with those of the judged call. `laws` are names of laws, such as `batch`;
        `environment` says in words what is different.
        """
        future = engine.decode(replace(target.plain, ranges=ranges_of(part), **changed))
        target.trials.append(Trial(laws, environment, tuple(part), (future,)))

    # Calls under equal settings can run together, so those of both levels are adjacent.
    for environment, conf in engine.environments.items():
        for law_sample in samples:
            circumstance = f"{environment}, in {PARTITIONS} partitions"
            attempt(
                law_sample,
                ("environment", "batch"),
                circumstance,
                law_sample.places,
                conf=conf,
                repartition=PARTITIONS,
            )
    for law_sample in (
        seeded_sample(seed, "law/alone", samples, 1)
        if prepared.settings.budget.covering
        else samples
    ):
        attempt(
            law_sample,
            ("batch",),
            "alone, beside an empty partition",
            law_sample.places[:1],
            repartition=2,
        )
        attempt(law_sample, ("batch",), EMPTY, ())
    for law_sample in samples:
        trials = list(pending_futures([law_sample]))
        judged[law_sample.call].add_done_callback(partial(_cancel_after_failure, trials, _FAILURES))
        _cancel_others_after_loss(trials)
    return samples


def pending_futures(samples: Sequence[Sample]) -> Iterator[Future[Any]]:
    """The futures of all decode calls that were submitted for the laws, finished or not."""
    for sample in samples:
        for trial in sample.trials:
            yield from trial.futures


def _is_unreadable(case: Case, number: int) -> bool:
    """Whether a right decoder returns nothing but CORRUPT rows for the case's message with this
    index.
    """
    return {change.kind for change in case.written[number].changes} == {Kind.CORRUPT}


def _cancel_after_failure(
    futures: Sequence[Future[Any]],
    failures: type[Exception] | tuple[type[Exception], ...],
    future: Future[Any],
) -> None:
    """Cancels those of the calls `futures` that have not begun if the finished call `future` ended
    with one of the errors `failures`: the same message would make them fail, too.
    """
    if not future.cancelled() and isinstance(future.exception(), failures):
        for other_future in futures:
            other_future.cancel()


def _cancel_others_after_loss(futures: Sequence[Future[Any]]) -> None:
    """Makes the first of these calls that hangs or ends its process cancel all others that have not
    begun.
    """
    for future in futures:
        future.add_done_callback(partial(_cancel_after_failure, futures, ProcessLost))


def collect_findings(
    engine: Engine,
    samples: Sequence[Sample],
    outputs: Mapping[str, Outputs],
    failed: Container[str],
    judge: Judge,
    limit_s: float,
) -> list[Finding]:
    """Waits for the trials, compares their rows with those of the judged calls (`outputs`, by the
    calls' names) and returns the findings; counts each message as a comparison of the tested laws.
    Where the judged call is in `failed`, the circumstances are tried one by one, on the messages
    that have rows. `limit_s` is the time limit of a call.
    """
    findings: list[Finding] = []
    for full_sample in samples:
        part, judged = full_sample, outputs.get(full_sample.call, {})
        if part.call in failed:
            decoded_places = tuple(place for place in part.places if judged.get(place))
            part = replace(
                part,
                places=decoded_places,
                owners={place: part.owners[place] for place in decoded_places},
                trials=[],
            )
        differences_by_trial = [
            _compare_rows(judge, trial, judged, part.plain.level, part.owners)
            for trial in part.trials
        ]
        broken: list[Finding] = []
        if part.places and (
            part.call in failed
            or any(differences_by_trial)
            or any(map(_was_cancelled, part.trials))
        ):
            alone = [[place] for place in part.places[:ALONE]]
            broken = try_each_circumstance(engine, part.plain, part.owners, judge, alone, limit_s)
        if not broken:
            # A difference only in combination is a finding.
            for trial, differences in zip(part.trials, differences_by_trial, strict=False):
                _count_comparisons(judge, trial, differences)
                broken += differences
        findings += broken
    return findings


def try_each_circumstance(
    engine: Engine,
    plain: Request,
    owners: Owners,
    judge: Judge,
    alone: Parts | None = None,
    limit_s: float = 120,
    search: bool = True,
) -> list[Finding]:
    """Tests the laws one circumstance at a time, against a plain call on the same messages: every
    other environment (session settings), each message alone (or each group in `alone`), two halves,
    several partitions, and no message at all. Returns the findings.

    The first circumstance in which the decoder hangs or ends its process ends the test. If
    `search`, its messages are searched for those to blame, and the test is repeated once without
    them. `limit_s` is the time limit of a call.
    """
    places = tuple(sorted(owners))
    half = len(places) // 2

    def attempt(law: str, environment: str, parts: Parts, **changed: Any) -> Trial:
        """Submits the plain call once for each part of the messages that is not empty, with changed
        settings; all are one trial of the law.
        """
        futures = [
            engine.decode(replace(plain, ranges=ranges_of(part), **changed))
            for part in parts
            if part
        ]
        return Trial(
            (law,),
            environment,
            tuple(itertools.chain.from_iterable(parts)),
            tuple(futures),
            changed,
        )

    plain = replace(plain, ranges=ranges_of(places))
    baseline = engine.decode(plain)
    trials = [
        attempt("environment", environment, [places], conf=conf)
        for environment, conf in engine.environments.items()
    ]
    trials.append(
        attempt("batch", "alone", [[place] for place in places] if alone is None else alone)
    )
    trials.append(
        attempt("batch", "in other batches", [places[:half], places[half:]] if half else [])
    )
    trials.append(attempt("batch", f"in {PARTITIONS} partitions", [places], repartition=PARTITIONS))
    trials.append(Trial(("batch",), EMPTY, (), (engine.decode(replace(plain, ranges=())),)))
    all_futures = list(itertools.chain.from_iterable(trial.futures for trial in trials))
    baseline.add_done_callback(partial(_cancel_after_failure, all_futures, _FAILURES))
    _cancel_others_after_loss(all_futures)
    try:
        expected: Outputs = read(baseline.result(), plain.level)
    except (*_FAILURES, CancelledError):
        # A decoder that fails on the plain call is errored there; no output to compare.
        return []
    errors = (
        (trial, _error_of_call(future))
        for trial in trials
        for future in trial.futures
        if trial.places
    )
    lethal = next(
        ((trial, error) for trial, error in errors if isinstance(error, ProcessLost)), None
    )
    if search and lethal:
        return _without_culprits(engine, plain, owners, judge, alone, limit_s, *lethal)
    findings: list[Finding] = []
    for trial in trials:
        differences = _compare_rows(judge, trial, expected, plain.level, owners)
        _count_comparisons(judge, trial, differences)
        findings += differences
    return findings


def _without_culprits(
    engine: Engine,
    plain: Request,
    owners: Owners,
    judge: Judge,
    alone: Parts | None,
    limit_s: float,
    trial: Trial,
    error: ProcessLost,
) -> list[Finding]:
    """The findings where the trial hangs or ends the decoder's process with `error`: one for each
    message that alone does so, and those of the whole test on the remaining messages. A single
    finding if all or none of the messages do so.
    """

    def decode_part(part: Sequence[Place], within_s: float) -> object:
        """Decodes some of the messages under the circumstances of the trial, within so many
        seconds; `find_culprits` wants only its error.
        """
        return engine.decode(
            replace(plain, ranges=ranges_of(part), limit_s=within_s, **trial.changed)
        ).result()

    culprits = find_culprits(decode_part, trial.places, limit_s)
    separated = 0 < len(culprits) < len(trial.places)
    blamed: Mapping[Place, BaseException] = culprits if separated else {min(trial.places): error}
    findings = [_failure_finding(judge, trial, owners[place], why) for place, why in blamed.items()]
    _count_comparisons(judge, replace(trial, places=tuple(blamed), futures=()), findings)
    if not separated:
        return findings
    remaining = {place: owner for place, owner in owners.items() if place not in blamed}
    parts = (
        None
        if alone is None
        else [[place for place in part if place in remaining] for part in alone]
    )
    return findings + try_each_circumstance(
        engine, plain, remaining, judge, parts, limit_s, search=False
    )


def _was_cancelled(trial: Trial) -> bool:
    """Whether a decode call of the trial was cancelled, so that the trial shows nothing."""
    return any(isinstance(_error_of_call(future), CancelledError) for future in trial.futures)


def _error_of_call(future: Future[Any]) -> BaseException | None:
    """The error with which a finished call ended, which is CancelledError if it was cancelled; None
    if it has a result.
    """
    try:
        return future.exception()
    except CancelledError as error:
        return error


def _count_comparisons(judge: Judge, trial: Trial, findings: Sequence[Finding]) -> None:
    """Counts each message of the trial as a comparison of each of its laws, unless a call of the
    trial was cancelled, and each finding as a broken comparison of its rule.
    """
    for law in () if _was_cancelled(trial) else trial.laws:
        judge.compared[rule_of(judge, law)] += len(trial.places)
    for finding in findings:
        judge.broken[finding.rule] += 1


def rule_of(judge: Judge, law: str) -> str:
    """The id of the format's rule for a law, such as `batch`."""
    return next(rule.id for rule in judge.rules if rule.law == law)


def _compare_rows(
    judge: Judge, trial: Trial, expected: Outputs, level: int, owners: Owners
) -> list[Finding]:
    """A finding for each message whose rows in the trial differ from `expected`, the rows of the
    plain call; also one if a call without messages gave rows. A single finding if the decoder
    failed; none if a call was cancelled.
    """
    rule = rule_of(judge, trial.laws[0])
    trial_rows: dict[Place, list[OutputRow]] = {}
    try:
        for future in trial.futures:
            trial_rows |= read(future.result(), level)
    except CancelledError:
        return []
    except _FAILURES as error:
        return [_failure_finding(judge, trial, owners[min(trial.places or owners)], error)]
    findings = []
    for place in sorted(trial.places):
        before = _stable_rows(expected.get(place, ()))
        after = _stable_rows(trial_rows.get(place, ()))
        if before != after:
            case, number = owners[place]
            expected_text, actual_text = _describe_difference(before, after)
            findings.append(
                Finding(
                    case.id,
                    rule,
                    number,
                    0,
                    Aspect.VALUE,
                    CIRCUMSTANCE,
                    expected_text,
                    f"{trial.circumstance}: {actual_text}",
                    circumstance=trial.circumstance,
                )
            )
    if trial_rows and not trial.places:
        case, number = owners[min(owners)]
        actual = f"{trial.circumstance}: {sum(map(len, trial_rows.values()))} rows"
        findings.append(
            Finding(
                case.id,
                rule,
                number,
                0,
                Aspect.VALUE,
                CIRCUMSTANCE,
                "no row",
                actual,
                circumstance=trial.circumstance,
            )
        )
    return findings


def _failure_finding(
    judge: Judge, trial: Trial, owner: tuple[Case, int], error: BaseException
) -> Finding:
    """The finding that the decoder failed with `error` under the circumstances of a trial, on one
    of its messages: `owner` is the message's case and its index.
    """
    case, number = owner
    reason = first_line(error)
    actual = f"{trial.circumstance}: {reason}"
    return Finding(
        case.id,
        rule_of(judge, trial.laws[0]),
        number,
        0,
        Aspect.VALUE,
        CIRCUMSTANCE,
        "the same rows",
        actual,
        circumstance=trial.circumstance,
    )


def _without_unstable_fields(output_row: OutputRow) -> OutputRow:
    """The row without its error text and without the fields that a decoder may give differently in
    each call.
    """
    stable = {name: value for name, value in output_row.fields.items() if name not in _UNSTABLE}
    return replace(output_row, fields=stable, error=None)


def _stable_rows(output_rows: Sequence[OutputRow]) -> list[OutputRow]:
    """The rows of a message without what may differ between calls."""
    return [_without_unstable_fields(output_row) for output_row in output_rows]


class _Difference(NamedTuple):
    """What differs in the rows of a message, in words: before the circumstances changed, and
    after.
    """

    before: str
    after: str


def _describe_difference(before: Sequence[OutputRow], after: Sequence[OutputRow]) -> _Difference:
    """The first difference between the rows of a message before and after the circumstances
    changed, as two texts.
    """
    if len(before) != len(after):
        return _Difference(f"{len(before)} rows", f"{len(after)} rows")
    for old, new in zip(before, after, strict=True):
        for name in ("row", "kind", "op", "fields", "before", "after"):
            old_value, new_value = getattr(old, name), getattr(new, name)
            if old_value == new_value:
                continue
            if isinstance(old_value, Mapping) and isinstance(new_value, Mapping):
                key = next(
                    k
                    for k in {**old_value, **new_value}
                    if k not in old_value or k not in new_value or old_value[k] != new_value[k]
                )
                field_path = key if name == "fields" else f"{name}[{key!r}]"
                return _Difference(
                    f"{field_path} = {_cell_words(old_value, key)}",
                    f"{field_path} = {_cell_words(new_value, key)}",
                )
            return _Difference(f"{name} = {typed(old_value)}", f"{name} = {typed(new_value)}")
    return _Difference("the same rows", "other rows")


def _cell_words(cells: Mapping[str, Any], key: str) -> str:
    """The value of a column in words, for a finding: `absent` if it is missing, a commit time as a
    moment.
    """
    if key not in cells:
        return "absent"
    cell = cells[key]
    return typed(instant(cell) if key == "commit_time" and isinstance(cell, int) else cell)
