"""Inspects messages: which formats may have written them, and what the evidence says of each
format's writer.
"""

from __future__ import annotations

import contextlib
import itertools
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

from conformance.inspecting.books import BOOKS
from conformance.inspecting.books.debezium import nearest
from conformance.inspecting.evidence import EvidenceBook, Sign
from conformance.inspecting.opening import OpenedRecord, ReadRecord, open_record
from generators.errors import UsageError
from generators.wire_format import get

TABLES: Final = 500
"""Limit of the tables kept per format."""
COLUMNS: Final = 2000
"""Limit of the columns kept per table."""
SAMPLES: Final = 3
"""Limit of the messages kept per problem."""
KINDS: Final = 40
"""Limit of the distinct problems, and of the releases named by messages, that are kept."""
SHOWN: Final = 240
"""Characters of a message that are printed in a line."""
MANY: Final = 4
"""A hint names at most so many formats: what more of them have in common says nothing of the
writer.
"""
KEPT: Final = 4000
"""Limit of the characters kept of a message, or of the bytes if it is no text."""


@dataclass(frozen=True, slots=True)
class Sample:
    """A message kept for the report because it decides something: its place in the input, its
    beginning in one line, and the kept part of its decompressed value. `size` counts the bytes of
    the whole value.
    """

    place: str
    text: str
    body: bytes | None = None
    size: int = 0

    @classmethod
    def of_record(cls, opened: OpenedRecord) -> Sample:
        """A sample of a message for the report: where it was read, its beginning for one line
        (SHOWN characters of its text, or bytes in hex), its kept part (KEPT characters or bytes),
        and its size.
        """
        value = opened.record.value
        complete_text = opened.text or ("null" if value is None else value[:SHOWN].hex())
        short = complete_text[:SHOWN] + ("..." if len(complete_text) > SHOWN else "")
        if opened.text:
            size = len(opened.text.encode("utf-8", "surrogatepass"))
            return cls(
                opened.record.place,
                short,
                opened.text[:KEPT].encode("utf-8", "backslashreplace"),
                size,
            )
        return cls(
            opened.record.place, short, None if value is None else value[:KEPT], len(value or b"")
        )


@dataclass
class Observation:
    """How many messages had a property that says something of their writer, and the first of
    them.
    """

    sign: Sign
    sample: Sample
    count: int = 1


@dataclass
class TableSummary:
    """What all messages of a table say of it. `types` has for each column the distinct types that
    messages gave it, at most SAMPLES.
    """

    database: str
    table: str
    messages: int = 0
    types: dict[str, list[str]] = field(default_factory=dict)
    keys: tuple[str, ...] = ()

    def add(self, types: Iterable[tuple[str, str]], keys: tuple[str, ...]) -> None:
        """Takes the columns' types and the key that one message names into the summary of its
        table.
        """
        self.messages += 1
        self.keys = self.keys or keys
        for column, type_text in types:
            if len(self.types) < COLUMNS or column in self.types:
                known_types = self.types.setdefault(column, [])
                if type_text not in known_types and len(known_types) < SAMPLES:
                    known_types.append(type_text)


@dataclass
class Problem:
    """The messages that no known profile writes for one reason (`why`); `formats` are those that
    they come nearest to.
    """

    why: str
    formats: tuple[str, ...]
    samples: list[Sample] = field(default_factory=list)
    count: int = 0

    def add(self, opened: OpenedRecord) -> None:
        """Counts a message with this problem, and keeps the first few as samples."""
        self.count += 1
        if len(self.samples) < SAMPLES:
            self.samples.append(Sample.of_record(opened))


UNTOLD: Final = "cannot be told"
"""The state of an option of the writer of which the messages show nothing."""
YES: Final = "yes"
NO: Final = "no"
BOTH: Final = "messages disagree"


class Tally:
    """The evidence in the messages that one format may have written."""

    def __init__(self, book: EvidenceBook) -> None:
        self.book, self.format = book, get(book.format)
        self.choices = self.format.choices
        self.messages = 0
        self.observations: dict[str, Observation] = {}
        self.tables: dict[tuple[str, str], TableSummary] = {}
        self.more_tables = False
        self.versions: Counter[str] = Counter()
        self._watch = book.watch()
        self._watched = {sign.watched: sign for sign in book.signs}

    def add(self, opened: OpenedRecord) -> None:
        """Takes a message that this format may have written into account: the signs of its writer,
        the release that it names, and its table.
        """
        self.messages += 1
        for sign in self.book.signs:
            if not sign.never and sign.seen(opened):
                self._note(sign, opened)
        self.watch(opened)
        version = self.book.version(opened)
        if version and (version in self.versions or len(self.versions) < KINDS):
            self.versions[version] += 1
        table = self.book.describe(opened)
        if table is not None:
            place = (table.database, table.table)
            if place not in self.tables and len(self.tables) >= TABLES:
                self.more_tables = True
                return
            self.tables.setdefault(place, TableSummary(*place)).add(table.types.items(), table.keys)

    def watch(self, opened: OpenedRecord) -> None:
        """Shows a message to the format's watch, which looks at several successive messages, and to
        nothing else. For a tombstone (a null value) that is all that there is to look at.
        """
        for watched in self._watch(opened):
            self._note(self._watched[watched], opened)

    def _note(self, sign: Sign, opened: OpenedRecord) -> None:
        """Counts a message in which a sign of the writer was seen; the first one is kept as its
        sample.
        """
        observation = self.observations.get(sign.says)
        if observation is None:
            self.observations[sign.says] = Observation(sign, Sample.of_record(opened))
        else:
            observation.count += 1

    @property
    def releases(self) -> tuple[str, ...]:
        """The releases that can have written all of these messages, by their properties and by the
        release that they name themselves; () if they contradict each other. A named release without
        a profile stands for the nearest one that has a profile.
        """
        releases_of_signs = [observation.sign.releases for observation in self._all]

        def is_possible(release: str) -> bool:
            """Whether every property seen in the messages is one that the release may write."""
            return all(release in releases or not releases for releases in releases_of_signs)

        possible = list(filter(is_possible, self.choices.releases))
        foreign = [version for version in self.versions if version not in self.choices.releases]
        if foreign:
            return (
                tuple(dict.fromkeys(nearest(version) for version in self.versions))
                if len(self.versions) == 1
                else ()
            )
        return tuple(possible)

    @property
    def _all(self) -> list[Observation]:
        """What was observed of each property, in the order in which messages first had it."""
        return list(self.observations.values())

    @property
    def unknown_versions(self) -> tuple[str, ...]:
        """Releases that messages name and no profile has."""
        return tuple(version for version in self.versions if version not in self.choices.releases)

    @property
    def options(self) -> dict[str, str]:
        """For each option of the product its state: YES if the messages show that it is set, NO if
        they show that it is not, BOTH if they show both and contradict each other, else UNTOLD.
        """
        in_use: set[str] = set()
        without: set[str] = set()
        for observation in self._all:
            in_use.update(observation.sign.given)
            without.update(observation.sign.without)
        for group in self.choices.exclusive:
            if len(used_of_group := in_use.intersection(group)) == 1:
                without |= {option for option in group if option not in used_of_group}
        states: dict[str, str] = {}
        for option in self.choices.options:
            if option in in_use & without:
                states[option] = BOTH
            elif option in in_use:
                states[option] = YES
            elif option in without:
                states[option] = NO
            else:
                states[option] = UNTOLD
        return states

    def profiles(self) -> tuple[str, ...]:
        """The names of the profiles that may have written the messages: each possible release with
        the options that are known to be set, the newest first.
        """
        known_options = [option for option, state in self.options.items() if state == YES]
        profiles = []
        for release in reversed(self.releases):
            # `checked` raises UsageError for options that the release cannot have.
            with contextlib.suppress(UsageError):
                profiles.append("+".join((release, *self.choices.checked(release, known_options))))
        return tuple(profiles)

    def losses(self) -> dict[tuple[str, str], list[str]]:
        """What the possible profiles are documented to lose of a source's values: for each loss, as
        (sentence, citation), the profiles that have it.
        """
        losses: dict[tuple[str, str], list[str]] = {}
        for name in self.profiles():
            for loss in self.format.losses(self.format.profile(name)):
                losses.setdefault((loss.statement, loss.citation), []).append(name)
        return losses

    def never(self) -> tuple[str, ...]:
        """The properties that no message of the format has, in words: a message with one of them
        excludes the format.
        """
        return tuple(sign.says for sign in self.book.signs if sign.never)

    @property
    def members(self) -> frozenset[str]:
        """The names of all members that a message of the format may have."""
        return frozenset[str]().union(*(shape.order for shape in self.book.shapes))


@dataclass
class Group:
    """The messages of one writer, with the evidence for each format that they may be of: one, or
    several that cannot be told apart.
    """

    tallies: list[Tally]
    messages: int


class Inspector:
    """Takes messages one after the other and keeps what they say of their writers; its memory does
    not grow with their number.
    """

    def __init__(self) -> None:
        self.tallies: dict[str, Tally] = {}
        self.candidates: Counter[frozenset[str]] = Counter()
        self.problems: dict[tuple[str, tuple[str, ...]], Problem] = {}
        self.messages = self.nulls = self.other_problems = 0

    def add(self, record: ReadRecord) -> None:
        """Opens a record and takes it into account in the tally of each format that may have
        written it, or counts it as a problem if no format can have.
        """
        self.messages += 1
        opened = open_record(record)
        if opened.container == "null":
            self.nulls += 1
            for tally in self.tallies.values():
                tally.watch(opened)
            return
        if opened.container == "unreadable":
            self._count_problem(opened.problem, (), opened)
            return
        if is_printed_avro(opened):
            self._count_problem(PRINTED_AVRO, _known_by_members(opened, "avro"), opened)
            return
        objections = {
            book.format: (book, book.objections(opened)) for book in BOOKS if book.marks(opened)
        }
        if not objections:
            self._count_problem(_describe_unknown(opened), _known_by_members(opened), opened)
            return
        fewest = min(
            (len(by_shape), len(by_sign)) for _, (by_shape, by_sign) in objections.values()
        )
        fitting = [
            book
            for book, (by_shape, by_sign) in objections.values()
            if (len(by_shape), len(by_sign)) == fewest
        ]
        if fewest != (0, 0):
            fitting = _nearer(opened, fitting)
            why = "; or ".join(
                sorted({"; ".join(itertools.chain(*book.objections(opened))) for book in fitting})
            )
            self._count_problem(why, tuple(book.format for book in fitting), opened)
            return
        self.candidates[frozenset(book.format for book in fitting)] += 1
        for book in fitting:
            if book.format not in self.tallies:
                self.tallies[book.format] = Tally(book)
            self.tallies[book.format].add(opened)

    def _count_problem(self, why: str, formats: tuple[str, ...], opened: OpenedRecord) -> None:
        """Counts a message that no known profile can have written, by the reason (`why`) and the
        formats nearest to it. After KINDS such pairs, messages of further ones are counted
        together.
        """
        place = (why, formats)
        if place not in self.problems and len(self.problems) >= KINDS:
            self.other_problems += 1
            return
        self.problems.setdefault(place, Problem(why, formats)).add(opened)

    def groups(self) -> list[Group]:
        """The writers of the messages, each with the formats that it may be, the writer of most
        messages first. A format is certain once a message fits it alone; messages that fit a
        certain format among others are counted to it.
        """
        certain_formats = set[str]().union(*(names for names in self.candidates if len(names) == 1))
        ambiguous_sets = [names for names in self.candidates if not names & certain_formats]
        writers = {name: frozenset({name}) for name in sorted(certain_formats)}
        if ambiguous_sets:
            common = frozenset.intersection(*ambiguous_sets)
            for names in [common] if common else ambiguous_sets:
                writers[", ".join(sorted(names))] = names
        groups = []
        for names in writers.values():
            count = sum(n for formats, n in self.candidates.items() if formats & names)
            groups.append(Group([self.tallies[name] for name in sorted(names)], count))
        return sorted(groups, key=lambda group: -group.messages)


PRINTED_AVRO: Final = (
    "Avro that was printed as JSON, a union's value as an object of its type: give the records'"
    " bytes"
)
"""The problem of a message that is Avro printed as JSON."""
_AVRO_TYPES: Final = frozenset(("boolean", "int", "long", "float", "double", "bytes", "string"))
"""The names of Avro's primitive types."""
_ROWS: Final = frozenset(("before", "after", "data", "old"))
"""The names of members that hold rows."""


def is_printed_avro(opened: OpenedRecord) -> bool:
    """Whether a message is Avro that somebody printed as JSON, where a value of a union becomes an
    object whose one member is its type's name. A row with one column named `string` would look the
    same: for members that hold rows, only a record's name that ends in `.Value` counts.
    """
    if opened.container != "json":
        return False
    source = opened.members.get("source")
    members = [*opened.members.items(), *(source.items() if isinstance(source, dict) else ())]
    return any(_is_union(name, value) for name, value in members)


def _is_union(name: str, value: Any) -> bool:
    """Whether the value of member `name` is a union's in Avro's JSON encoding: an object whose one
    member is named after an Avro type, or, for a row, after a record whose name ends with `.Value`.
    """
    if not isinstance(value, dict) or len(value) != 1:
        return False
    ((type_name, inner),) = value.items()
    if name in _ROWS:
        return type_name.endswith(".Value") and isinstance(inner, dict)
    return type_name in _AVRO_TYPES and not isinstance(inner, dict | list)


class _Distance(NamedTuple):
    """How far a message is from a format by the names of its members; the smaller is the nearer."""

    unknown: int
    """The members that the format does not have."""
    minus_shared: int
    """The members that the format has, as a negative number."""


def _distance(book: EvidenceBook, opened: OpenedRecord) -> _Distance:
    """How far a message is from the format of an evidence book (a description of the format's
    messages), by the names of its members: unknown ones, then shared ones as a negative number.
    """
    known_members = frozenset[str]().union(*(shape.order for shape in book.shapes))
    names = book.root(opened).keys()
    return _Distance(len(names - known_members), -len(names & known_members))


def _known_by_members(opened: OpenedRecord, container: str = "json") -> tuple[str, ...]:
    """For a hint, the formats that are nearest to a message which none of them wrote, by the names
    of its members. () if the nearest share fewer than two of the names, or more than half as many
    are unknown to them as they share, or if they are more than MANY. `container` is avro for the
    formats in Avro, else those in JSON are compared.
    """
    if not isinstance(opened.document, dict):
        return ()
    distances = {
        book.format: _distance(book, opened)
        for book in BOOKS
        if (book.format.rpartition("-")[2] == "avro") == (container == "avro")
    }
    smallest = min(distances.values())
    unknown, shared = smallest.unknown, -smallest.minus_shared
    if shared < 2 or unknown * 2 > shared:
        return ()
    names = tuple(name for name, distance in distances.items() if distance == smallest)
    return names if len(names) <= MANY else ()


def _nearer(opened: OpenedRecord, fitting: list[EvidenceBook]) -> list[EvidenceBook]:
    """For a message that fits no format: the evidence books (descriptions of one format's messages)
    of formats that know more of its members than those in `fitting`, or `fitting` if there are
    none.
    """
    fewest = min(_distance(book, opened).unknown for book in fitting)
    names = _known_by_members(opened)
    books = [book for book in BOOKS if book.format in names]
    if books and min(_distance(book, opened).unknown for book in books) < fewest:
        return books
    return fitting


def _describe_unknown(opened: OpenedRecord) -> str:
    """The reason, in words, why a JSON message is of no known format: it is no object, or no format
    has its members, of which the first eight are named.
    """
    if not isinstance(opened.document, dict):
        return "JSON that is no object: no known format"
    names = list(opened.document)
    listed = ", ".join(names[:8]) + (", ..." if len(names) > 8 else "")
    return f"no known format has these members: {listed}" if names else "an object without members"


def inspect(records: Iterable[ReadRecord]) -> Inspector:
    """Inspects messages of unknown origin; the returned Inspector has what they say of their
    writers.
    """
    inspector = Inspector()
    for record in records:
        inspector.add(record)
    return inspector


def as_json(inspector: Inspector) -> dict[str, Any]:
    """The whole result of `inspect` as a JSON object, for programs."""
    return {
        "messages": inspector.messages,
        "tombstones": inspector.nulls,
        "writers": list(map(_group_json, inspector.groups())),
        "problems": list(map(_problem_json, inspector.problems.values())),
        "other_problems": inspector.other_problems,
    }


def _group_json(group: Group) -> dict[str, Any]:
    """A group of messages that one writer may have written, as a JSON-able object: their number,
    the formats that they may be of, and under `told` whether just one format is left.
    """
    return {
        "messages": group.messages,
        "told": len(group.tallies) == 1,
        "formats": list(map(_tally_json, group.tallies)),
    }


def _problem_json(problem: Problem) -> dict[str, Any]:
    """A JSON-able object on messages that no profile writes for one reason: the reason, the formats
    nearest to them, their number and samples.
    """
    return {
        "why": problem.why,
        "formats": list(problem.formats),
        "messages": problem.count,
        "samples": [{"place": sample.place, "text": sample.text} for sample in problem.samples],
    }


def _tally_json(tally: Tally) -> dict[str, Any]:
    """What the messages show of one possible writer, as a JSON-able object: releases, options,
    profiles, evidence, tables and losses.
    """
    return {
        "format": tally.book.format,
        "product": tally.book.product,
        "messages": tally.messages,
        "releases": list(tally.releases) or BOTH,
        "unknown_releases": list(tally.unknown_versions),
        "options": tally.options,
        "profiles": list(tally.profiles()),
        "command": command(tally),
        "evidence": [
            {
                "says": f.sign.says,
                "releases": list(f.sign.releases),
                "given": list(f.sign.given),
                "without": list(f.sign.without),
                "citation": f.sign.citation,
                "messages": f.count,
                "place": f.sample.place,
                "text": f.sample.text,
            }
            for f in tally.observations.values()
        ],
        "tables": [
            {
                "database": t.database,
                "table": t.table,
                "messages": t.messages,
                "keys": list(t.keys),
                "columns": t.types,
            }
            for t in tally.tables.values()
        ],
        "more_tables": tally.more_tables,
        "losses": [
            {"statement": loss_text, "citation": citation, "profiles": names}
            for (loss_text, citation), names in tally.losses().items()
        ],
        "never": list(tally.never()),
    }


def command(tally: Tally) -> str:
    """The command line that judges a decoder under exactly the profiles that may have written the
    inspected messages; "" if there are none.
    """
    profile_options = "".join(f" --writer-profile '{name}'" for name in tally.profiles())
    return (
        f"cdc-conformance run {tally.book.format}{profile_options} --decoder mine.py:decode"
        if profile_options
        else ""
    )
