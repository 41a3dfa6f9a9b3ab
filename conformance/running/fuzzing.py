"""Fuzzes a decoder with mutated messages; readers without Spark give the expectation.

Chunks of mutants are written as Parquet, decoded at level one in the child process, and tallied
there. A chunk that raises, hangs or ends the child is halved until the guilty messages are
isolated.
"""

from __future__ import annotations

import base64
import contextlib
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from conformance.cases import tables
from conformance.cases.catalogue import select_profiles
from conformance.engines.child import ChildEngine
from conformance.engines.engine import ChildDied, DecodeRaised, write_records
from conformance.engines.specs import decoder_spec
from conformance.files import json_text, put
from conformance.rules.book import law
from conformance.rules.rules import Aspect, Obligation, Rule, Subject, owner, rules
from generators.bulk.mutations import Mutant, Mutants, State, by_deployment
from generators.model import History, Message
from generators.profiles import Profile
from generators.storage import codec
from generators.wire_format import Format, get

if TYPE_CHECKING:
    from generators.tables.user_values import Values

DRAWN: Final = 120
"""How many histories are drawn of a user's tables; their messages are mutated."""
CHUNK: Final = 20_000
"""The largest number of mutants in a chunk, which is decoded in one call."""
FILE: Final = 5_000
"""Messages per Parquet file of a chunk; one task of Spark reads one file."""
CHUNK_BYTES: Final = 64 << 20
"""The size at which a chunk is full, in bytes of messages."""
TOPIC: Final = "fuzz"
"""The topic that the records of all mutants name."""
PARTITIONS: Final = 3
"""The number of partitions that the records of mutants name in turn."""
OFFENDERS: Final = 8
"""How many raising messages are isolated per chunk; each takes about fifteen calls. The others are
left unjudged.
"""
PROBE_S: Final = 30.0
"""The least time limit, in seconds, of a part of a chunk; a larger part has its share of the
chunk's limit.
"""
HUGE_START: Final = 1 << 40
"""The offset of the first huge mutant, from which the others count down; the numbers of all other
mutants are far below.
"""

BAD: Final = ("lost", "foreign", "misnumbered", "accepted", "raised", "hung", "died", "unjudged")
"""Outcomes that break the contract of level one. An `accepted` mutant fails the verdict only if its
rule is a MUST.
"""


@dataclass(frozen=True, slots=True)
class Tally:
    """How many mutants had one and the same outcome: `way` is how they were mutated, `state` and
    `reason` what is left of the message (such as readable), `kinds` the kinds of the decoder's
    rows. `offset` and `size` are those of the smallest mutant, `error` is its error, "" for none.
    """

    way: str
    state: str
    reason: str
    outcome: str
    kinds: str
    count: int
    size: int
    offset: int
    error: str = ""


@dataclass(frozen=True, slots=True)
class Finding:
    """A breach of the contract by a decoder: a way of mutation, the rule that is broken, and the
    smallest message, None if that is not known.
    """

    format: str
    profiles: tuple[str, ...]
    rule: Rule
    tally: Tally
    message: Message | None

    @property
    def fails(self) -> bool:
        """Whether the finding fails the verdict: every one does, except accepted messages whose
        rule is no MUST.
        """
        return self.tally.outcome != "accepted" or self.rule.obligation is Obligation.MUST

    def as_json(self) -> dict[str, Any]:
        """A finding of the fuzzer as a JSON object: which rule, how many mutants, and the smallest
        of them with key and value in base64.
        """
        tally, message = self.tally, self.message
        return {
            "format": self.format,
            "profiles": list(self.profiles),
            "rule": self.rule.id,
            "obligation": self.rule.obligation.value,
            **{
                name: getattr(tally, name)
                for name in ("outcome", "kinds", "way", "state", "reason", "count")
            },
            "number": tally.offset,
            "error": tally.error,
            "size": tally.size,
            "key": (
                None
                if message is None or message.key is None
                else base64.b64encode(message.key).decode()
            ),
            "value": (
                None
                if message is None or message.value is None
                else base64.b64encode(message.value).decode()
            ),
        }


@dataclass(frozen=True, slots=True)
class Fuzzed:
    """The result of fuzzing one format. `peak_bytes` is the largest memory of the decoding process,
    None where the system does not report it; `limit_bytes` is the limit that it must keep.
    """

    format: str
    seed: int
    decoder: str
    tallies: tuple[Tally, ...]
    findings: tuple[Finding, ...]
    seconds: float
    peak_bytes: int | None
    limit_bytes: int
    interrupted: bool = False

    def count(self, state: str = "", outcome: str = "") -> int:
        """The number of mutants in this state (such as readable) and with this outcome (such as
        accepted); "" stands for any.
        """
        return sum(
            t.count for t in self.tallies if state in ("", t.state) and outcome in ("", t.outcome)
        )

    @property
    def mutants(self) -> int:
        """The number of mutants that were sent; rows at coordinates of no mutant are tallied, too,
        but are none.
        """
        return sum(t.count for t in self.tallies if t.outcome != "foreign")

    @property
    def too_large(self) -> bool:
        """Whether the child exceeded its memory limit."""
        return self.peak_bytes is not None and self.peak_bytes > self.limit_bytes

    @property
    def ok(self) -> bool:
        """Whether the decoder passes: no finding fails the verdict, and the memory limit was kept."""
        return not self.too_large and not any(f.fails for f in self.findings)

    def as_json(self) -> dict[str, Any]:
        """The result of fuzzing one format as a JSON object: the verdict, the number of mutants by
        outcome, speed and memory.
        """
        accepted, doubtful = Counter[str](), Counter[str]()
        for finding in self.findings:
            if finding.tally.outcome == "accepted":
                accepted[finding.rule.id] += finding.tally.count
        for tally in self.tallies:
            if tally.state == State.DOUBTFUL:
                doubtful[tally.reason] += tally.count
        return {
            "format": self.format,
            "seed": self.seed,
            "decoder": self.decoder,
            "verdict": "interrupted" if self.interrupted else "ok" if self.ok else "failed",
            "mutants": self.mutants,
            "readable": self.count(State.READABLE),
            "unreadable": self.count(State.UNREADABLE),
            "rejected": self.count(outcome="rejected"),
            "accepted": accepted,
            "doubtful": doubtful,
            **{outcome: self.count(outcome=outcome) for outcome in BAD if outcome != "accepted"},
            "seconds": round(self.seconds, 1),
            "per_second": round(self.mutants / self.seconds) if self.seconds else 0,
            "peak_mb": None if self.peak_bytes is None else self.peak_bytes >> 20,
            "limit_mb": self.limit_bytes >> 20,
        }


@dataclass(frozen=True, slots=True)
class FuzzSettings:
    """Settings of the fuzzer: `count` mutants per format, beside the huge ones if `huge`;
    `timeout_s` limits a call, `memory_mb` the memory of the decoding process. `tables` are the
    user's own tables, whose messages are mutated in place of the generic ones.
    """

    count: int
    seed: int = 1
    decoder: str = ""
    writer_profile: str | tuple[str, ...] = "*"
    timeout_s: float = 300
    memory_mb: int = 4096
    huge: bool = True
    tables: Values | None = None


@dataclass(frozen=True, slots=True)
class _Chunk:
    """Mutants on disk that are decoded in one call: `records` are files of their messages,
    `expected` files of what must become of them, `low` and `high` the smallest and the largest
    number, `mutants` the mutants by number. `group` are the profiles, all of one deployment.
    """

    group: tuple[Profile, ...]
    records: tuple[Path, ...]
    expected: tuple[Path, ...]
    low: int
    high: int
    mutants: Mapping[int, Mutant]


class Fuzzer:
    """Fuzzes one decoder of one format. An interrupted `run` returns the result so far."""

    def __init__(
        self, engine: ChildEngine, name: str, settings: FuzzSettings, note: Callable[[str], None]
    ) -> None:
        self._engine, self._settings, self._note = engine, settings, note
        self._fmt: Format[Any] = get(name)
        self._decoder = decoder_spec(name, settings.decoder)
        profiles = select_profiles(self._fmt, settings.writer_profile)
        self._histories = tuple[History, ...]()
        if settings.tables is not None:
            profiles = tables.profiles_of_source(self._fmt, profiles, settings.tables.schema)
            self._histories = tables.table_histories(
                self._fmt, settings.tables, DRAWN, settings.seed
            )
        self._groups = by_deployment(profiles)
        self._tallies: dict[tuple[Any, ...], Tally] = {}
        self._examples: dict[tuple[Any, ...], tuple[tuple[Profile, ...], Message | None]] = {}
        self._peak: int | None = None
        self._files = 0

    def run(self) -> Fuzzed:
        """Lets the decoder read the mutants of all profiles, and returns the result; after Ctrl-C,
        the result so far. Raises UsageError if the decoder cannot be loaded, HarnessError if the
        engine cannot go on.
        """
        self._engine.started.result()
        began, interrupted = time.monotonic(), False
        under_way: list[tuple[_Chunk, Future[Mapping[str, Any]]]] = []
        try:
            for chunk in self._make_chunks():
                under_way.append((chunk, self._request_tallies(chunk, chunk.low, chunk.high)))
                if len(under_way) == 2:
                    self._settle(*under_way.pop(0))
            for chunk, future in under_way:
                self._settle(chunk, future)
        except KeyboardInterrupt:
            interrupted = True
        self._read_peak()
        settings = self._settings
        return Fuzzed(
            self._fmt.name,
            settings.seed,
            self._decoder,
            tuple(self._tallies.values()),
            tuple(self._findings()),
            time.monotonic() - began,
            self._peak,
            settings.memory_mb << 20,
            interrupted,
        )

    def _make_chunks(self) -> Iterator[_Chunk]:
        """Makes the mutants of each group of profiles with one deployment, as many as its share of
        all profiles, and writes them to files, chunk by chunk; the first group's huge messages come
        as a chunk of their own if the settings ask for them.
        """
        total, done = sum(map(len, self._groups)), 0
        for group in self._groups:
            start, done = done, done + len(group)
            count = self._settings.count * done // total - self._settings.count * start // total
            self._note(f"{self._fmt.name}: reading the messages of {group[0].name}")
            mutants = Mutants(self._fmt, group, self._settings.seed, self._histories)
            number = 0
            while number < count:
                chunk_mutants: list[Mutant] = []
                size = 0
                while number < count and len(chunk_mutants) < CHUNK and size < CHUNK_BYTES:
                    chunk_mutants.append(mutants(number))
                    size += chunk_mutants[-1].message.size
                    number += 1
                yield self._write(group, chunk_mutants, FILE)
            if self._settings.huge and group is self._groups[0]:
                huge = [
                    replace(mutant, number=HUGE_START - mutant.number) for mutant in mutants.huge()
                ]
                yield self._write(group, huge, 1)

    def _write(
        self, group: tuple[Profile, ...], chunk_mutants: Sequence[Mutant], per_file: int
    ) -> _Chunk:
        """Writes mutants to Parquet files for the child process, `per_file` to each: one of
        records, and one of what must become of them. The offset of a record is the mutant's number.
        """
        import pyarrow as pa
        import pyarrow.parquet as pq

        records, expected = [], []
        for start in range(0, len(chunk_mutants), per_file):
            part = chunk_mutants[start : start + per_file]
            self._files += 1
            paths = [
                self._engine.directory / f"fuzz-{what}-{self._files}.parquet"
                for what in ("records", "expected")
            ]
            messages = [
                replace(m.message, topic=TOPIC, partition=m.number % PARTITIONS) for m in part
            ]
            write_records(paths[0], messages, [m.number for m in part])
            columns = {
                "topic": pa.array([TOPIC] * len(part), pa.string()),
                "partition": pa.array([m.partition for m in messages], pa.int32()),
                "offset": pa.array([m.number for m in part], pa.int64()),
                "way": pa.array([m.way for m in part], pa.string()),
                "state": pa.array([m.remains.state.value for m in part], pa.string()),
                "reason": pa.array([m.remains.reason for m in part], pa.string()),
                "size": pa.array([m.message.size for m in part], pa.int64()),
            }
            pq.write_table(pa.table(columns), paths[1])
            records.append(paths[0])
            expected.append(paths[1])
        numbers = [m.number for m in chunk_mutants]
        return _Chunk(
            group,
            tuple(records),
            tuple(expected),
            min(numbers),
            max(numbers),
            {m.number: m for m in chunk_mutants},
        )

    def _request_tallies(self, chunk: _Chunk, low: int, high: int) -> Future[Mapping[str, Any]]:
        """Asks the decoding process for the tallies of the chunk's mutants with numbers from `low`
        to `high`, both included; the time limit is their share of the chunk's.
        """
        request = {
            "records": [str(path) for path in chunk.records],
            "expected": [str(path) for path in chunk.expected],
            "low": low,
            "high": high,
            "decoder": self._decoder,
            "deployment": codec.dump_deployment(chunk.group[0].deployment),
        }
        share = sum(low <= n <= high for n in chunk.mutants) / len(chunk.mutants)
        limit_s = max(min(PROBE_S, self._settings.timeout_s), share * self._settings.timeout_s)
        return self._engine.ask_service("fuzz", request, limit_s)

    def _wait(self, future: Future[Mapping[str, Any]]) -> Mapping[str, Any]:
        """Waits for the child's answer, and meanwhile looks at its memory twice a second."""
        while True:
            self._read_peak()
            with contextlib.suppress(TimeoutError):
                return future.result(timeout=0.5)

    def _read_peak(self) -> None:
        """Reads the peak of memory of the child process, if one runs, and keeps the highest one of
        all readings.
        """
        pid = self._engine.pid
        peak = None if pid is None else peak_memory(pid)
        if peak is not None:
            self._peak = max(self._peak or 0, peak)

    def _settle(self, chunk: _Chunk, future: Future[Mapping[str, Any]]) -> None:
        """Waits for the tallies of a chunk, adds them to those of the format and removes the
        chunk's files. Where the decoder raises or its process dies, halves are asked again until
        single mutants are found; after OFFENDERS of them the rest counts as unjudged.
        """
        self._note(
            f"{self._fmt.name}: {sum(t.count for t in self._tallies.values())} of"
            f" {self._settings.count} mutants"
        )
        offenders = 0
        pending = [(chunk.low, chunk.high, future)]
        while pending:
            low, high, answer = pending.pop()
            try:
                for fields in self._wait(answer)["tallies"]:
                    self._add_tally(chunk, Tally(**fields))
            except (DecodeRaised, ChildDied) as error:
                numbers = [n for n in chunk.mutants if low <= n <= high]
                if len(numbers) == 1:
                    offenders += 1
                    mutant = chunk.mutants[numbers[0]]
                    self._add_tally(chunk, _tally_failure(mutant, _outcome(error), 1, str(error)))
                elif offenders >= OFFENDERS:
                    smallest = min(
                        (chunk.mutants[n] for n in numbers), key=lambda m: m.message.size
                    )
                    self._add_tally(
                        chunk, _tally_failure(smallest, "unjudged", len(numbers), str(error))
                    )
                else:
                    self._note(
                        f"{self._fmt.name}: looking for what fails in {len(numbers)} mutants:"
                        f" {str(error)[:80]}"
                    )
                    middle = numbers[len(numbers) // 2]
                    pending += [
                        (*part, self._request_tallies(chunk, *part))
                        for part in ((middle, high), (low, middle - 1))
                    ]
        for path in (*chunk.records, *chunk.expected):
            path.unlink(missing_ok=True)

    def _add_tally(self, chunk: _Chunk, tally: Tally) -> None:
        """Adds a tally to the one with the same way, state, reason, outcome, kinds and error (its
        first line), and keeps the mutant of fewer bytes as its example; None for a mutant that the
        chunk does not have.
        """
        key = (
            tally.way,
            tally.state,
            tally.reason,
            tally.outcome,
            tally.kinds,
            tally.error.partition("\n")[0],
        )
        tally_before = self._tallies.setdefault(key, tally)
        if tally_before is tally or tally.size < tally_before.size:
            mutant = chunk.mutants.get(tally.offset)
            self._examples[key] = chunk.group, None if mutant is None else mutant.message
        if tally_before is not tally:
            self._tallies[key] = replace(
                min(tally_before, tally, key=lambda t: t.size),
                count=tally.count + tally_before.count,
            )

    def _findings(self) -> Iterator[Finding]:
        """The findings of fuzzing a format: the tallies with a bad outcome, joined by way of
        mutation, rule and outcome, each with its smallest message; the smallest first. The example
        of a tally is its smallest message, with the profiles (`group`) that it was made for: all
        of one deployment, so that the first stands for them.
        """
        merged: dict[tuple[str, str, str], Finding] = {}
        for key, tally in self._tallies.items():
            if tally.outcome not in BAD:
                continue
            group, message = self._examples[key]
            rule = owning_rule(self._fmt.name, group[0].name, tally)
            place = (tally.way, rule.id, tally.outcome)
            finding = Finding(self._fmt.name, tuple(p.name for p in group), rule, tally, message)
            finding_before = merged.setdefault(place, finding)
            if finding_before is not finding:
                small = min((finding, finding_before), key=lambda f: f.tally.size)
                count = tally.count + finding_before.tally.count
                merged[place] = replace(small, tally=replace(small.tally, count=count))
        yield from sorted(merged.values(), key=lambda f: (f.tally.size, f.tally.way))


def _tally_failure(mutant: Mutant, outcome: str, count: int, error: str) -> Tally:
    """The tally of `count` mutants, of which `mutant` is the smallest, on which decoding itself
    failed, so that there are no rows.
    """
    remains = mutant.remains
    return Tally(
        mutant.way,
        remains.state.value,
        remains.reason,
        outcome,
        "",
        count,
        mutant.message.size,
        mutant.number,
        error,
    )


def _outcome(error: Exception) -> str:
    """The outcome of a mutant on which a decode call ended with this error: raised, hung or died."""
    if isinstance(error, DecodeRaised):
        return "raised"
    # The engine's text for an expired limit; the child ended by itself otherwise.
    return "hung" if str(error).startswith("did not end within") else "died"


_ALIKE: Final = {"syntax": "truncated", "packing": "truncated"}
"""For a reason why a mutant is unreadable, and for which the format has no fault of its own, the
fault that owns it: each of them leaves no well-formed document.
"""


def owning_rule(fmt: str, profile: str, tally: Tally) -> Rule:
    """The rule that a bad outcome of fuzzing breaks: for an unreadable message that was accepted,
    the rule on its fault; for wrong rows, the law that each message gives rows at its offset; else
    the law that no message makes the decoder raise. Raises UnknownName.
    """
    if tally.outcome != "accepted":
        has_wrong_rows = tally.outcome in ("lost", "foreign", "misnumbered")
        return law(fmt, "garbage/every-offset" if has_wrong_rows else "garbage/no-exception")
    fault_tags = {fault.tag for fault in get(fmt).faults}
    is_fault = tally.reason in fault_tags
    tag = tally.reason if is_fault else _ALIKE.get(tally.reason, tally.reason)
    tags = frozenset({f"fault:{tag}"})
    rule = owner(
        rules(fmt), Subject(profile, 1, "CORRUPT", "", "change", Aspect.ACCEPTED, tags=tags)
    )
    assert rule is not None, f"{fmt} has no rule on {tags}"
    return rule


def peak_memory(leader: int) -> int | None:
    """The sum in bytes of the peak resident memory of all live processes, Java's too, in the
    session of processes that `leader` leads; None without /proc.
    """
    total = None
    for path in Path("/proc").glob("[0-9]*"):
        try:
            if (
                int((path / "stat").read_text("utf-8", "replace").rpartition(")")[2].split()[3])
                != leader
            ):
                continue
            line = next(
                t
                for t in (path / "status").read_text("utf-8", "replace").splitlines()
                if t.startswith("VmHWM:")
            )
        except (OSError, StopIteration, IndexError, ValueError):
            continue
        total = (total or 0) + int(line.split()[1]) * 1024
    return total


def save(directory: Path, result: Fuzzed) -> Path:
    """Writes the findings of fuzzing a format to the file `fuzz-FORMAT.jsonl` in the directory, one
    JSON object a line, smallest first; returns its path. Raises HarnessError if writing fails.
    """
    path = directory / f"fuzz-{result.format}.jsonl"
    return put(
        path,
        lambda: (json_text(finding.as_json()).encode() + b"\n" for finding in result.findings),
    )
