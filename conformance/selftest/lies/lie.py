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
from typing import Any, Final, NamedTuple

from conformance.rules.rules import rules
from conformance.rules.tables import (
    Legal,
    TableFile,
    call_named,
    check_fields,
    check_name,
    naming_place,
    read_package_toml,
)
from conformance.selftest.lies.altering import (
    ALTERS,
    ARGUMENTS,
    EDITS,
    Alter,
    in_avro,
    in_document,
    in_json,
)
from generators.drawing.cases import LAYOUT
from generators.errors import UsageError
from generators.model import History, Message, Written
from generators.wire_format import Format, get

PARTS: Final[Mapping[str, Legal]] = dict.fromkeys(("profile", "like"), str) | dict.fromkeys(
    ("profiles", "lies"), dict
)
"""What a file of lies may have at its top."""
FIELDS: Final[Mapping[str, Legal]] = {
    **dict.fromkeys(("profile", "by", "scenario", "unset"), str),
    "set": dict,
    **dict.fromkeys(("edits", "alters"), list),
}
"""What an entry says. `set` has facts of the profile with other values, `unset` one that is not
there any more; `edits` change the document and `alters` the message
(conformance.selftest.lies.altering).
"""
_WAYS: Final = ("set", "unset", "edits", "alters")
"""The members of an entry of which it has exactly one: how the lie is made."""


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
        """The messages of the lying writer, to be paired with those of `truth`, which the honest
        writer makes of the history, the first with the first and so on. If the liar sends fewer,
        the last ones are None, whichever it left out; if it sends more, they come at the end.
        """
        if self.alter is not None:
            return [self.alter(written.message) for written in truth]
        lying_messages = [written.message for written in fmt.write(history, self.lying, LAYOUT)]
        return [*lying_messages, *[None] * (len(truth) - len(lying_messages))]


@cache
def lies(name: str) -> tuple[Lie, ...]:
    """The lies of a format. Raises UsageError with file and line for what is wrong in its table."""
    return tuple(_read_lie(get(name), lie, entry) for lie, entry in _read_entries(name).items())


class Entry(NamedTuple):
    """The table of a lie, and its place (file and line)."""

    place: str
    table: dict[str, Any]


def _read_entries(name: str) -> dict[str, Entry]:
    """The entries of a format's file and of its family's file by the name of the lie (a change of a
    writer's messages that the judge is not told of). A lie of the family that the format has, too,
    differs by what its own entry says.
    """
    file = TableFile(*read_package_toml(__package__, name), PARTS)
    entries = _read_entries(file.data["like"]) if "like" in file.data else {}
    defaults = Entry("", {"profile": file.data.get("profile", "")})
    profiles = file.data.get("profiles", {})
    for place, lie, table in file.entries("lies"):
        family_entry = entries.get(lie, defaults)
        with naming_place(f"{place}: {lie}"):
            entry = {**family_entry.table, **check_fields(table, FIELDS)}
        profile = profiles.get(entry["profile"], entry["profile"])
        entries[lie] = Entry(place, {**entry, "profile": profile})
    return entries


def _read_lie(fmt: Format[Any], name: str, entry_of_lie: Entry) -> Lie:
    """The lie (a change of a writer's messages that the judge is not told of) that an entry of a
    table describes. Raises UsageError for an unknown profile, rule, fact, edit or change.
    """
    entry = entry_of_lie.table
    with naming_place(f"{entry_of_lie.place}: {name}"):
        honest, convicts = fmt.profile(entry["profile"]), entry.get("by")
        if convicts:
            check_name(f"{fmt.name}/{convicts}", "rule", (rule.id for rule in rules(fmt.name)))
        lie = Lie(
            name,
            entry["profile"],
            convicts and f"{fmt.name}/{convicts}",
            entry.get("scenario", "*"),
        )
        match [how for how in _WAYS if how in entry]:
            case ["set"]:
                return replace(lie, lying=_with_facts(honest, entry["set"]))
            case ["unset"]:
                return replace(
                    lie,
                    lying=_replace_facts(
                        honest, {check_name(entry["unset"], "fact", _fact_names(honest)): None}
                    ),
                )
            case ["edits"]:
                edits = [call_named(edit, "edit", EDITS, ARGUMENTS) for edit in entry["edits"]]
                if fmt.codec is not None:
                    return replace(lie, alter=in_document(fmt.codec, *edits))
                avro = fmt.container == "avro"
                return replace(
                    lie, alter=in_avro(fmt.schemas(honest)[0], *edits) if avro else in_json(*edits)
                )
            case ["alters"]:
                return replace(
                    lie, alter=call_named(entry["alters"], "change of a message", ALTERS, ARGUMENTS)
                )
        raise UsageError(f"a lie says one of {', '.join(_WAYS)}.")


def _fact_names(profile: Any) -> list[str]:
    """The names of the facts in a profile, or in a part of one."""
    return [fact.name for fact in fields(profile)]


def _with_facts(profile: Any, table: Mapping[str, Any]) -> Any:
    """A profile, or a part of one, with the facts that the lie changes, as the TOML table gives
    them. Raises UsageError for a fact that it does not have.
    """
    facts = _fact_names(profile)
    return _replace_facts(
        profile,
        {
            name: _convert_fact(name, getattr(profile, check_name(name, "fact", facts)), value)
            for name, value in table.items()
        },
    )


def _replace_facts(profile: Any, values: Mapping[str, Any]) -> Any:
    """A profile, or a part of one, with other values. Raises UsageError if it has these values
    already, since the lie would change nothing.
    """
    lying = replace(profile, **values)
    if lying == profile:
        raise UsageError(f"{', '.join(values)}: the honest profile has no other value.")
    return lying


def _convert_fact(name: str, current: Any, value: Any) -> Any:
    """A value of the TOML table as the fact `name` holds it, of the type of its `current` value: an
    Enum's member for a text, a tuple for a list. Raises UsageError for a value of another type.
    """
    match current, value:
        case enum.Enum(), str():
            return type(current)(check_name(value, name, type(current)))
        case bytes(), str():
            return value.encode()
        case tuple(), list():
            return tuple(tuple(item) if isinstance(item, list) else item for item in value)
        case _, dict() if is_dataclass(current):
            return _with_facts(current, value)
    if current is not None and type(value) is not type(current):
        raise UsageError(f"{name} is {value!r}, not of type {type(current).__name__}.")
    return value
