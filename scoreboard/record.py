"""Faults of readers, as data: what each does wrong, where its source does it, the rule it breaks,
and a message that shows it.
"""

from __future__ import annotations

import enum
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path
from typing import Any, Final, Literal

from conformance.judging.causes import covers
from conformance.rules.tables import TableFile, check_fields, check_name, naming_place

FAULTS: Final = Path(__file__).parent / "faults"
"""The folder of the faults on record, a file for each product."""
BEHAVIOURS: Final = Path(__file__).parent / "behaviours.toml"


class Outcome(enum.StrEnum):
    """What a user of the reader meets, the worst first."""

    WRONG = "wrong value"
    DROPS = "drops"
    REFUSES = "refuses"

    @property
    def words(self) -> str:
        """The outcome as the pages word it, such as "drops silently"."""
        return {
            "wrong value": "wrong value silently",
            "drops": "drops silently",
            "refuses": "refuses",
        }[self.value]


class Standing(enum.StrEnum):
    """What a named failure is: a fault, what the reader's own documents declare, or nothing that
    can be held against it.
    """

    FAULT = "fault"
    LIMIT = "limit"
    DROPPED = "dropped"


class Reach(enum.StrEnum):
    """How many users meet a behaviour, the most first: those of any table, of a type, of some
    values of a type, or of a message that has no row.
    """

    ROWS = "rows"
    TYPE = "type"
    VALUE = "value"
    MESSAGE = "message"


class Newest(enum.StrEnum):
    """What the source of a product's newest release and branch says of a fault.

    `JUDGED`: the newest release is the one that was judged. `NOT_FOUND`: the source that could be
    had is not that of a later release.
    """

    STANDS = "stands"
    CHANGED = "changed"
    GONE = "gone"
    JUDGED = "judged"
    NOT_FOUND = "not found"


@dataclass(frozen=True, slots=True)
class Behaviour:
    """What readers do with what a message holds, in the same words for all of them.

    `fault` is whether it is held against a reader, and `why` says why.
    """

    id: str
    title: str
    reach: Reach
    fault: bool
    why: str


@dataclass(frozen=True, slots=True)
class Fault:
    """A named failure of a reader, as its record has it.

    What it is: `title`, `outcome` and `why`; `behaviour` names it in the words for all readers;
    `standing` says whether it is held against the reader; `rule` is the rule that it breaks. Which
    failures of a run it explains: those of `formats` (() any) whose rule, cause and error match the
    globs of `rules`, `causes` and `errors`; `readers` are those of a shared record that have it, ()
    all of them; `witness` is a regular expression that a case's message holds if this fault drops
    it, since the cause of a row that is not there is a guess; `alone`: no case at level two shows
    it, only its program.

    Where it is: `source` is the address of the line in the reader's own source; `newest` says
    whether later source has it, at the line `newest_source`; `documentation` what of the reader's
    documents was searched for it; `declared` the address of the document that declares a limit;
    `known` that of a report of it; `searched` the day on which no report was found, by
    `search_words`; `mend` what could be done, if a report is ready to be sent. All are "" if there
    is none.

    The rest is its reproduction: in `kind` the envelope (canal, debezium, maxwell, ogg), the
    reader's `options`, the declared `columns`, the `message`, and what the reader must make of it
    (`expected`) and does make of it (`actual`), in the words that the program prints.
    """

    id: str
    formats: tuple[str, ...]
    title: str
    outcome: Outcome
    rules: tuple[str, ...]
    why: str
    standing: Standing = Standing.FAULT
    causes: tuple[str, ...] = ()
    errors: tuple[str, ...] = ()
    readers: tuple[str, ...] = ()
    behaviour: str = ""
    source: str = ""
    newest: Newest | Literal[""] = ""
    newest_source: str = ""
    documentation: str = ""
    declared: str = ""
    known: str = ""
    searched: str = ""
    search_words: str = ""
    mend: str = ""
    witness: str = ""
    rule: str = ""
    alone: bool = False
    kind: str = ""
    options: Mapping[str, str] = field(default_factory=dict)
    columns: str = ""
    message: str = ""
    expected: str = ""
    actual: str = ""

    @property
    def on_board(self) -> bool:
        """Whether the failure is held against the reader, as a fault."""
        return self.standing is Standing.FAULT

    def explains(self, fmt: str, failure: Mapping[str, Any]) -> bool:
        """Whether this fault (a named failure of a product) explains a failure of the
        report: format, rule and cause (and the error's text, if the fault names one) match its
        globs.
        """
        rule, cause = str(failure["rule"]).partition("/")[2], str(failure["cause"])
        return (
            (not self.formats or fmt in self.formats)
            and any(fnmatchcase(rule, glob) for glob in self.rules)
            and (not self.causes or any(covers(glob, cause) for glob in self.causes))
            and (
                not self.errors
                or any(
                    fnmatchcase(str(failure["actual"]), f"CORRUPT: {glob}") for glob in self.errors
                )
            )
        )


UNSENT: Final = Fault(
    "of-no-writer",
    (),
    "A message that no writer is known to send is read: without bytes, with something behind its"
    " document, or with a cell that does not fit",
    Outcome.WRONG,
    ("fault/*",),
    "The rules are assumptions of this project.",
    Standing.DROPPED,
)
"""The failures that are held against no reader; every record has this entry behind its own."""


_BEHAVIOUR: Final = {
    **dict.fromkeys(("title", "reach", "why"), str),
    "fault": bool,
}
"""The fields of an entry in behaviours.toml."""
_LISTS: Final = ("formats", "rules", "causes", "errors", "readers")
"""The fields of a fault that are lists."""
_FIELDS: Final = {f.name: list if f.name in _LISTS else str for f in fields(Fault)} | {
    "alone": bool,
    "options": dict,
}
"""The fields of a fault's entry."""


def faults(name: str, directory: Path = FAULTS) -> tuple[Fault, ...]:
    """The faults (named failures) in a product's record, in its order, and last `UNSENT` (failures
    at messages that no writer sends). `name` is the name of the record's file in `directory`,
    without its ending; without such a file there is `UNSENT` alone. Raises UsageError for a file
    that does not fit the record, such as one with an unknown outcome, standing, state of the newest
    release or behaviour.
    """
    file = directory / f"{name}.toml"
    if not file.exists():
        return (UNSENT,)
    record_faults = []
    for entry in _read(file).data["fault"]:
        with naming_place(f"{file.name}: {entry.get('id', 'an entry without an id')}"):
            check_fields(
                entry,
                _FIELDS,
                ("id", "formats", "title", "outcome", "rules", "why"),
                empty=("expected", "actual", "rules"),
            )
            outcome = Outcome(check_name(entry["outcome"], "outcome", Outcome))
            standing = Standing(
                check_name(entry.get("standing", Standing.FAULT), "standing", Standing)
            )
            newest = entry.get("newest", "") and Newest(
                check_name(entry["newest"], "newest", Newest)
            )
            check_name(entry.get("behaviour", ""), "behaviour", ("", *behaviours()))
        lists = {key: tuple(entry[key]) for key in _LISTS if key in entry}
        enums = {"outcome": outcome, "standing": standing, "newest": newest}
        record_faults.append(Fault(**{**entry, **lists, **enums}))
    return (*record_faults, UNSENT)


@cache
def behaviours() -> Mapping[str, Behaviour]:
    """The behaviours of readers by their ids. Raises UsageError for a file that does not fit."""
    table = TableFile(BEHAVIOURS.name, BEHAVIOURS.read_text("utf-8"), {"behaviour": dict})
    every = {}
    for place, name, entry in table.entries("behaviour"):
        with naming_place(f"{place}: {name}"):
            check_fields(entry, _BEHAVIOUR, tuple(_BEHAVIOUR))
            reach = Reach(check_name(entry["reach"], "reach", Reach))
        every[name] = Behaviour(name, **{**entry, "reach": reach})
    return every


def tracker(name: str) -> tuple[str, str]:
    """The address of a product's issue tracker, and in words where reports of faults were looked
    for.
    """
    data = _read(FAULTS / f"{name}.toml").data
    return data["tracker"], data["looked"]


def newest_release(name: str) -> str:
    """The words for the newest release and branch of a product whose source was looked at for its
    faults.
    """
    return str(_read(FAULTS / f"{name}.toml").data["newest"])


def _read(file: Path) -> TableFile:
    """The parsed TOML file of faults/ that has the named failures of one product."""
    return TableFile(
        file.name,
        file.read_text("utf-8"),
        {"tracker": str, "looked": str, "newest": str, "fault": list},
    )
