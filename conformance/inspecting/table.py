"""Reads the tables of evidence: `books/NAME.toml` says what properties of messages mean, `books/NAME.py` has its facts.

A condition is terms that a `;` separates, all of which hold; a list of conditions holds if one of them does. A term is

- `a.b`: this member of the message has a value that is not empty; `a.b?`: it is there
- `a=x|y`: it has one of these values, in JSON or as bare text; a member that is not there has null
- `x|y in a`: it contains one of these values
- `a~PATTERN`: it is, or it contains, a text in which the pattern is found
- `not TERM`

In place of a member stands `a|b` for any of several, or `fact()`: a function of the module that takes a message, or an attribute
of the message.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from operator import attrgetter
from pathlib import Path
from types import ModuleType
from typing import Any, Final

from conformance.inspecting.evidence import EvidenceBook, MemberOrder, Sign
from conformance.inspecting.opening import Seen
from generators.wire_format import Choices, get

_TERM: Final = re.compile(
    r"(?P<no>not )?(?:(?P<among>.+) in )?(?P<names>\w+\(\)|[\w.|]+)(?:(?P<there>\?)|=(?P<values>.*)|~(?P<pattern>.*))?"
)
_ABSENT: Final = object()

Fact = Callable[[Seen], Any]
Condition = Callable[[Seen], bool]


def books(modules: Iterable[ModuleType]) -> tuple[EvidenceBook, ...]:
    """The books of the tables beside modules."""
    tables = [(vars(one), tomllib.loads(Path(str(one.__file__)).with_suffix(".toml").read_text("utf-8"))) for one in modules]
    groups = {name: group for _, table in tables for name, group in table["signs"].items()}
    shapes = {name: row.get("shapes", ()) for _, table in tables for name, row in table["books"].items()}
    return tuple(
        _book(name, row, facts, groups, shapes[row.get("shapes_of", name)])
        for facts, table in tables
        for name, row in table["books"].items()
    )


def _book(
    name: str, row: Mapping[str, Any], facts: Mapping[str, Any], groups: Mapping[str, Any], shapes: Iterable[str]
) -> EvidenceBook:
    root = _fact(row.get("root", "members"), facts)
    choices = get(name).choices
    assert choices is not None
    return EvidenceBook(
        name,
        row["product"],
        condition(row["marks"], root, facts),
        tuple(map(MemberOrder.of, shapes)),
        tuple(
            Sign(
                says,
                condition(one.get("when", ()), root, facts),
                one.get("cites", "").strip(),
                **_meaning(choices, one["means"].split()),
            )
            for group in row.get("signs", [name])
            for says, one in groups[group].items()
        ),
        members=_fact(row["members"], facts) if "members" in row else root,
        **{hook: facts[row[hook]] for hook in ("describe", "watch", "version") if hook in row},
    )


def _meaning(choices: Choices, words: Sequence[str]) -> dict[str, Any]:
    """What words say of a sign: `never`, options as `+name` and `-name`, releases by name, `A..B` for those from A to B, and
    `having` for those that have the options, if not all do."""
    known = choices.releases
    given = tuple(word[1:] for word in words if word[0] == "+")
    releases: list[str] = []
    for word in words:
        first, dots, last = word.partition("..")
        if dots:
            releases += known[known.index(first) if first else 0 : known.index(last) + 1 if last else None]
        elif word == "having":
            limits = [one.releases for one in choices.limits if one.option in given and one.releases]
            releases += [name for name in known if limits and all(name in one for one in limits)]
        elif word[0] not in "+-" and word != "never":
            releases.append(word)
    without = tuple(word[1:] for word in words if word[0] == "-")
    return {"given": given, "without": without, "releases": tuple(releases), "never": "never" in words}


def _fact(name: str, facts: Mapping[str, Any]) -> Fact:
    found: Fact | None = facts.get(name)
    if found is None and not (name in Seen.__annotations__ or hasattr(Seen, name)):
        raise ValueError(f"no fact {name}()")
    return found or attrgetter(name)


def condition(told: str | Sequence[str], root: Fact, facts: Mapping[str, Any]) -> Condition:
    """Whether a condition holds of a message, whose members are those of `root`."""
    alternatives = [told] if isinstance(told, str) else told
    cases = [[_term(term.strip(), root, facts) for term in one.split(";")] for one in alternatives]

    def holds(seen: Seen) -> bool:
        for terms in cases:  # loops, since every message is asked for every sign
            for value, test, inverse in terms:
                if test(value(seen)) is inverse:
                    break
            else:
                return True
        return False

    return holds


def _term(text: str, root: Fact, facts: Mapping[str, Any]) -> tuple[Fact, Callable[[Any], bool], bool]:
    """The value that a term looks at, its test, and whether that must fail."""
    found = _TERM.fullmatch(text)
    if found is None:
        raise ValueError(f"no term of a condition: {text}")
    test, names = _test(found), found["names"]
    if names.endswith("()"):
        return _fact(names[:-2], facts), test, found["no"] is not None
    if "|" not in names:
        return partial(_at, root, names.split(".")), test, found["no"] is not None
    paths = [name.split(".") for name in names.split("|")]
    return (lambda seen: [_at(root, path, seen) for path in paths]), lambda each: any(map(test, each)), found["no"] is not None


def _at(root: Fact, path: Sequence[str], seen: Seen) -> Any:
    found = root(seen)
    for name in path:
        found = found.get(name, _ABSENT) if isinstance(found, dict) else _ABSENT
    return found


def _test(term: re.Match[str]) -> Callable[[Any], bool]:
    """The test of a value that a term makes."""
    if term["among"]:
        among = [_value(one) for one in term["among"].split("|")]
        return lambda found: any(one in found for one in among)
    if term["there"]:
        return lambda found: found is not _ABSENT
    if term["values"] is not None:
        values = [_value(one) for one in term["values"].split("|")]
        kinds = [type(one) for one in values]
        return lambda found: (found := None if found is _ABSENT else found) in values and type(found) in kinds
    if term["pattern"] is not None:
        pattern = re.compile(term["pattern"])
        return lambda found: any(map(pattern.search, _texts(found)))
    return lambda found: found is not _ABSENT and bool(found)


def _value(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text


def _texts(found: Any) -> Iterable[str]:
    if isinstance(found, str):
        return (found,)
    inner = found.values() if isinstance(found, dict) else found if isinstance(found, list | set) else ()
    return [one for one in inner if isinstance(one, str)]
