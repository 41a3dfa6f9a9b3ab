"""What a lie is, what its messages are, and the tables of lies: a file NAME.toml for each format.

    profile = "1.1.8"             # of lies that name none
    like = "ticdc-simple"         # the file of a family, whose lies the format has, too

    [profiles]
    hash = "1.1.8+pk-hash"        # a short name

    [lies]
    "old left out" = { by = "old/empty-element", scenario = "old/all-unchanged", set.drops_empty_old
    = true }
    "later ts" = { edits = [["shift", 3_600_000, "ts"]] }
    "one partition" = { profile = "hash", alters = ["partition", 0] }
    "later send time" = { edits = [["shift", 3_600_000, "sendTs"]] }    # one of the family, but for
    this

A lie of which no rule tells (`by`) changes bytes and no verdict.
"""

from __future__ import annotations

import enum
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass, replace
from functools import cache
from typing import Any, Final

from conformance.rules.rules import rules
from conformance.rules.tables import (
    Legal,
    TableFile,
    called,
    check_name,
    checked,
    named_place,
    ours,
)
from conformance.selftest.lies.altering import ALTERS, ARGUMENTS, EDITS, Alter, in_avro, in_json
from generators.drawing.cases import LAYOUT
from generators.errors import UsageError
from generators.model import History, Message, Written
from generators.wire_format import Format, get

PARTS: Final[Mapping[str, Legal]] = dict.fromkeys(("profile", "like"), str) | dict.fromkeys(
    ("profiles", "lies"), dict
)
FIELDS: Final[Mapping[str, Legal]] = {
    **dict.fromkeys(("profile", "by", "scenario", "unset"), str),
    "set": dict,
    **dict.fromkeys(("edits", "alters"), list),
}
"""What an entry says. `set` has facts of the profile with other values, `unset` one that is not
there any more; `edits` change the document and `alters` the message
(conformance.selftest.lies.altering).
"""
_HOW: Final = ("set", "unset", "edits", "alters")


@dataclass(frozen=True, slots=True)
class Lie:
    """A writer's messages changed without telling it to the judge.

    `profile` names the honest profile; the writer has the profile `lying`, or its messages are
    altered. `convicts` is the rule that must answer; None says that the lie changes bytes and no
    verdict. `scenario` is a glob of the scenario names in which the lie shows.
    """

    name: str
    profile: str
    convicts: str | None
    scenario: str
    lying: Any = None
    alter: Alter | None = None

    def messages(
        self, fmt: Format[Any], history: History, truth: Sequence[Written]
    ) -> list[Message | None]:
        """A message or None (not sent) for each honest one, and those that the lie sends beside
        them.
        """
        if self.alter is not None:
            return [self.alter(written.message) for written in truth]
        sent = [written.message for written in fmt.write(history, self.lying, LAYOUT)]
        return [*sent, *[None] * (len(truth) - len(sent))]


@cache
def lies(name: str) -> tuple[Lie, ...]:
    """The lies of a format. Raises UsageError with file and line for what is wrong in its table."""
    return tuple(
        _lie(get(name), place, lie, entry) for lie, (place, entry) in _entries(name).items()
    )


def _entries(name: str) -> dict[str, tuple[str, dict[str, Any]]]:
    """What a file and that of its family say of each lie, and where."""
    file = TableFile(*ours(__package__, name), PARTS)
    entries = _entries(file.data["like"]) if "like" in file.data else {}
    for place, lie, given in file.entries("lies"):
        _, shared = entries.get(lie, ("", {"profile": file.data.get("profile", "")}))
        with named_place(f"{place}: {lie}"):
            entry = {**shared, **checked(given, FIELDS)}
        entries[lie] = (
            place,
            entry
            | {"profile": file.data.get("profiles", {}).get(entry["profile"], entry["profile"])},
        )
    return entries


def _lie(fmt: Format[Any], place: str, name: str, entry: Mapping[str, Any]) -> Lie:
    with named_place(f"{place}: {name}"):
        honest, convicts = fmt.profile(entry["profile"]), entry.get("by")
        if convicts:
            check_name(f"{fmt.name}/{convicts}", "rule", (rule.id for rule in rules(fmt.name)))
        lie = Lie(
            name,
            entry["profile"],
            convicts and f"{fmt.name}/{convicts}",
            entry.get("scenario", "*"),
        )
        match [how for how in _HOW if how in entry]:
            case ["set"]:
                return replace(lie, lying=_other(honest, entry["set"]))
            case ["unset"]:
                return replace(
                    lie,
                    lying=_with(honest, {check_name(entry["unset"], "fact", _facts(honest)): None}),
                )
            case ["edits"]:
                edits = [called(edit, "edit", EDITS, ARGUMENTS) for edit in entry["edits"]]
                avro = fmt.container == "avro"
                return replace(
                    lie, alter=in_avro(fmt.schemas(honest)[0], *edits) if avro else in_json(*edits)
                )
            case ["alters"]:
                return replace(
                    lie, alter=called(entry["alters"], "change of a message", ALTERS, ARGUMENTS)
                )
        raise UsageError(f"a lie says one of {', '.join(_HOW)}.")


def _facts(held: Any) -> list[str]:
    return [fact.name for fact in fields(held)]


def _other(held: Any, given: Mapping[str, Any]) -> Any:
    """The dataclass with other values of the table. Raises UsageError for a fact that is not
    there.
    """
    facts = _facts(held)
    return _with(
        held,
        {
            name: _value(name, getattr(held, check_name(name, "fact", facts)), value)
            for name, value in given.items()
        },
    )


def _with(held: Any, values: Mapping[str, Any]) -> Any:
    """The dataclass with other values. Raises UsageError for those that it has already."""
    if (other := replace(held, **values)) == held:
        raise UsageError(f"{', '.join(values)}: the honest profile has no other value.")
    return other


def _value(name: str, held: Any, given: Any) -> Any:
    """A value of the table as the profile has it. Raises UsageError for one of another type."""
    match held, given:
        case enum.Enum(), str():
            return type(held)(check_name(given, name, type(held)))
        case bytes(), str():
            return given.encode()
        case tuple(), list():
            return tuple(tuple(each) if isinstance(each, list) else each for each in given)
        case _, dict() if is_dataclass(held):
            return _other(held, given)
    if held is not None and type(given) is not type(held):
        raise UsageError(f"{name} is {given!r}, not of type {type(held).__name__}.")
    return given
