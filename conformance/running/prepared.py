"""Settings of a run, and a format with published messages and submitted calls."""

from __future__ import annotations

import contextlib
import enum
import random
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from conformance.cases.catalogue import Budget, Call
from conformance.engines.engine import Loaded, Request, ranges_of, tables_of_cases
from conformance.judging.clusters import SHOWN
from conformance.judging.findings import CaseResult, Finding
from conformance.judging.known import Expectations
from conformance.judging.output import Outputs, Place
from conformance.judging.selection import Selection
from conformance.rules.rules import Rule, rules
from conformance.running.mixing import Mixed
from generators.model import Case, Message, messages_of
from generators.publishing.cluster import Target
from generators.wire_format import Format, get

if TYPE_CHECKING:
    from generators.tables.user_values import Values

Note = Callable[[str], None]
"""Receives a text on what the run is doing."""
Owners = Mapping[Place, tuple[Case, int]]
"""For the coordinates of each message (topic, partition, offset) its case and its index in the
case.
"""


@dataclass(frozen=True, slots=True)
class Settings:
    """Settings of a run. `decoder` None is each format's reference decoder. `bootstrap` is the
    Kafka cluster to publish to; None hands the records to the decoder in a file. `causes` limits
    the causes that are shown of a rule. Without `reduce`, failures keep their first case. `tables`
    are the user's own tables with their values, which are judged in place of the generic cases.
    """

    formats: tuple[str, ...]
    budget: Budget
    seed: int
    decoder: str | None = None
    mapping: Mapping[str, str] = field(default_factory=dict)
    level: str = "both"
    writer_profile: str | tuple[str, ...] = "*"
    select: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    strict: bool = False
    max_fail: int = 0
    causes: int = SHOWN
    timeout_s: float = 120
    bootstrap: Target | None = None
    broker: str = "none"
    topic: str = ""
    arguments: tuple[str, ...] = ()
    expect: Expectations = Expectations()
    reduce: bool = True
    tables: Values | None = None

    @property
    def selection(self) -> Selection:
        """The cases and rules that --select and --exclude leave."""
        return Selection(self.select, self.exclude)

    def check_selection(self) -> None:
        """Raises NothingSelected for a selection that matches no case or no rule of the formats.
        With the user's own tables only the rules are checked here; a selection without a case is
        found when cases are drawn.
        """
        self.selection.check(self.formats)
        if self.select and self.tables is None:
            self.selection.check_cases(
                map(get, self.formats), self.writer_profile, self.budget, self.seed
            )

    @property
    def is_partial(self) -> bool:
        """Whether the run judges only a part of the format: cases are selected, the profiles or the
        budget are narrowed, or the tables are the user's.
        """
        return (
            bool(self.selection)
            or self.budget.telling > 0
            or self.writer_profile not in ("*", ("*",))
            or self.tables is not None
        )


@dataclass(frozen=True, slots=True)
class Trial:
    """Messages that are decoded once more to test `laws`, the names of decoding laws.
    `circumstance` says in words what is different (`in 3 partitions`), `changed` holds the changed
    fields of the plain request; `places` are the messages' coordinates, `futures` the decoder's
    answers.
    """

    laws: tuple[str, ...]
    circumstance: str
    places: tuple[Place, ...]
    futures: tuple[Future[pa.Table], ...]
    changed: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Sample:
    """Messages of the judged call named `call` on which the decoding laws are tried. `plain` is the
    request for them without a changed circumstance; `places` are their coordinates in a seeded
    random order; `trials` are the calls that were submitted for the laws.
    """

    call: str
    plain: Request
    owners: Owners
    places: tuple[Place, ...]
    trials: list[Trial]


class Part(enum.StrEnum):
    """A part of a run whose duration is measured, in the words that tell the user what takes long."""

    START = "until the decoder was loaded and the cases drawn"
    DECODING = "decoding and judging all cases"
    LAWS = "laws: some messages again, alone, in other orders and environments"
    ALONE = "failures again, each alone"
    REDUCTION = "reduction of failing messages (--no-reduce leaves it out)"


@dataclass(slots=True)
class Prepared:
    """A format of a run whose messages are published and whose decode calls are submitted.

    `calls` and `futures` belong together by index. `mixed` holds for the index of a call the common
    call of its group, until that is judged; `acquitted` the results and rows of calls whose cases
    all passed in the common call. `early_findings` are the first findings of the cases that were
    judged before all others. `always` is the error with which every call ends, once that is known:
    no further call is made. `laws` are the samples for the decoding laws. `alone` are pairs of rule
    and case that were seen to fail when decoded alone; `spent` are the seconds of each part of
    judging the format. `owners` gives the case of a message by the message's `id()`, `places` its
    coordinates.
    """

    settings: Settings
    fmt: Format[Any]
    decoder: str
    loaded: Loaded
    calls: list[Call]
    places: dict[int, Place]
    handle: str
    unsupported: list[CaseResult] = field(default_factory=list)
    drawn: int = 0
    futures: list[Future[pa.Table]] = field(default_factory=list)
    counted_rules: frozenset[str] = frozenset()
    early_findings: Sequence[tuple[Finding, CaseResult]] = ()
    laws: list[Sample] = field(default_factory=list)
    owners: dict[int, Case] = field(default_factory=dict)
    mixed: dict[int, Mixed] = field(default_factory=dict)
    acquitted: dict[int, tuple[list[CaseResult], Outputs]] = field(default_factory=dict)
    always: Exception | None = None
    alone: list[tuple[str, Case]] = field(default_factory=list)
    spent: dict[Part, float] = field(default_factory=dict)

    @contextlib.contextmanager
    def measure(self, part: Part) -> Iterator[None]:
        """A context whose duration is added to the time that this part of the run (such as the
        reduction of failures) has taken.
        """
        began = time.monotonic()
        try:
            yield
        finally:
            self.spent[part] = self.spent.get(part, 0.0) + time.monotonic() - began

    @property
    def rules(self) -> tuple[Rule, ...]:
        """The rules of the format."""
        return rules(self.fmt.name)

    def place(self, message: Message) -> Place:
        """The coordinates of a published message: topic, partition and offset."""
        return self.places[id(message)]


def decode_request(prepared: Prepared, call: Call, cases: Sequence[Case]) -> Request:
    """The request to decode some cases of a call, and with them the call's foreign messages: those
    of other tables, or at level one messages that come again.
    """
    messages = list(messages_of(cases))
    ranges = ranges_of(prepared.place(m) for m in (*messages, *call.foreign))
    call_request = Request(
        prepared.handle, ranges, prepared.decoder, call.level, call.deployment, call.table
    )
    return replace(call_request, mapping=prepared.settings.mapping, tables=tables_of_cases(cases))


def seeded_sample(seed: int, name: str, items: Sequence[Any], size: int) -> list[Any]:
    """At most `size` of the items, in their own order, chosen by the run's seed and a name for the
    purpose: the same in every run of that seed.
    """
    indices = random.Random(f"{seed}/{name}").sample(range(len(items)), min(size, len(items)))
    return [items[i] for i in sorted(indices)]
