"""Reads the tables of evidence: `books/NAME.toml` says what properties of messages mean,
`books/NAME.py` has its facts.

A condition is terms that a `;` separates, all of which hold; a list of conditions holds if one of
them does. A term is

- `a.b`: this member of the message has a value that is not empty; `a.b?`: it is there
- `a=x|y`: it has one of these values, in JSON or as bare text; a member that is not there has null
- `x|y in a`: it contains one of these values
- `a~PATTERN`: it is, or it contains, a text in which the pattern is found
- `not TERM`

In place of a member stands `a|b` for any of several, or `fact()`: a function of the module that
takes a message, or an attribute of the message.
"""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from operator import attrgetter
from types import ModuleType
from typing import Any, Final, NamedTuple

from conformance.inspecting.evidence import EvidenceBook, MemberOrder, Sign, Watched
from conformance.inspecting.opening import OpenedRecord
from conformance.rules.tables import (
    TableFile,
    check_fields,
    check_name,
    naming_place,
    read_package_toml,
)
from generators.errors import UsageError
from generators.profiles import Choices
from generators.wire_format import get

PARTS: Final = {"books": dict, "signs": dict}
"""The tables of a file: formats below `books`, signs (properties of messages) below `signs`."""
BOOK: Final = {
    **dict.fromkeys(
        ("product", "root", "members", "describe", "watch", "version", "shapes_of", "filled"), str
    ),
    **dict.fromkeys(("shapes", "signs"), list),
    "marks": str | list,
    "inner": dict,
}
"""The fields of a table on a format; `signs` names its groups of signs, by default the one group of
its own name.
"""
SIGN: Final = {"when": str | list, "watched": str, "cites": str, "means": str, "each": str}
"""The fields of an entry on a sign. With `each = "release"` it stands for one sign for each release
of the format, whose name takes the place of {}.
"""
EACH: Final = "release"
"""The one value of the field `each`."""
_TERM: Final = re.compile(
    r"(?P<no>not )?(?:(?P<among>.+) in"
    r" )?(?P<names>\w+\(\)|[\w.|-]+)(?:(?P<there>\?)|=(?P<values>.*)|~(?P<pattern>.*))?"
)
"""A term of a condition, as this module's documentation describes them."""
_ABSENT: Final = object()
"""The value of a member that a message does not have."""

Fact = Callable[[OpenedRecord], Any]
"""A function that gives a value of a message."""
Facts = Mapping[str, Any]
"""The names in the module of a format, with what they stand for."""
Condition = Callable[[OpenedRecord], bool]
"""A function that says whether a condition holds of a message."""
Entries = Sequence[tuple[str, str, Mapping[str, Any]]]
"""For each entry of a table its place in the file, its name, and its fields."""


def books(modules: Iterable[ModuleType]) -> tuple[EvidenceBook, ...]:
    """The evidence books of all formats, read from the TOML file beside each of the modules. Raises
    UsageError with file and line.
    """
    names = [module.__name__.rpartition(".") for module in modules]
    files = [TableFile(*read_package_toml(package, name), PARTS) for package, _, name in names]
    return tuple(read(list(zip(files, map(vars, modules), strict=True))))


def read(files: Sequence[tuple[TableFile, Facts]]) -> Iterator[EvidenceBook]:
    """Reads the evidence books of formats (what the properties of their messages say of the writer)
    from TOML files, each with the module whose functions its conditions may call. Raises UsageError
    with file and line.
    """
    groups: dict[str, Entries] = {}
    tables_by_book: dict[str, Mapping[str, Any]] = {}
    for file, _ in files:
        for name in file.data.get("signs", ()):
            groups[name] = list(file.entries(f"signs.{name}"))
        tables_by_book |= file.data["books"]
    for file, facts in files:
        for name, book_table in file.data["books"].items():
            with naming_place(file.place(f"books.{name}")):
                check_fields(book_table, BOOK, ("product", "marks"))
                sign_groups = [
                    check_name(group, "group of signs", groups)
                    for group in book_table.get("signs", [name])
                ]
                shapes_table = tables_by_book[
                    check_name(book_table.get("shapes_of", name), "book", tables_by_book)
                ]
            yield _book(
                file.place(f"books.{name}"),
                name,
                book_table,
                facts,
                [groups[group] for group in sign_groups],
                shapes_table.get("shapes", ()),
                shapes_table.get("inner", {}),
            )


def _book(
    place: str,
    name: str,
    book_table: Mapping[str, Any],
    facts: Facts,
    groups: Iterable[Entries],
    shapes: Iterable[str],
    inner: Mapping[str, str],
) -> EvidenceBook:
    """Makes the evidence book of a format from its table: conditions and signs are parsed, and
    names of facts looked up in `facts`. `groups` are the entries of its signs. Raises UsageError
    with the place.
    """
    choices = get(name).choices
    with naming_place(place):
        root = _find_fact(book_table.get("root", "members"), facts)
        members = _find_fact(book_table["members"], facts) if "members" in book_table else root
        hooks: dict[str, Any] = {
            hook: _find_fact(book_table[hook], facts)
            for hook in ("describe", "watch", "version")
            if hook in book_table
        }
        marks = condition(book_table["marks"], root, facts)
    signs: list[Sign] = []
    for where, statement, sign in itertools.chain.from_iterable(groups):
        with naming_place(f"{where}: {statement}"):
            check_fields(sign, SIGN, ("means",))
            if ("when" in sign) == ("watched" in sign):
                raise UsageError("a sign says either when a message has it, or what a watch tells.")
            if "watched" in sign and "watch" not in book_table:
                raise UsageError(f"{name} has no watch.")
            check_name(sign.get("each", EACH), "each", (EACH,))
            signs += (
                _sign(statement, sign, release, choices, root, facts)
                for release in (choices.releases if "each" in sign else ("{}",))
            )
    return EvidenceBook(
        name,
        book_table["product"],
        marks,
        tuple(map(MemberOrder.parse_order, shapes)),
        tuple(signs),
        members=members,
        root=root,
        inner={member: frozenset(names.split()) for member, names in inner.items()},
        filled=tuple(book_table.get("filled", "").split()),
        **hooks,
    )


def _sign(
    statement: str,
    sign: Mapping[str, Any],
    release: str,
    choices: Choices[Any],
    root: Fact,
    facts: Facts,
) -> Sign:
    """Makes a sign from its entry in the table: a property, which a message shows (`when`) or a
    watch over several messages (`watched`), and what it says of the writer (`means`). In an entry
    for several releases, `release` takes the place of {}.
    """
    when = sign.get("when", ())
    has_property = condition(
        when.replace("{}", release) if isinstance(when, str) else when, root, facts
    )
    watched = (
        Watched(check_name(sign["watched"], "watched", Watched)) if "watched" in sign else None
    )
    meaning = _meaning(choices, sign["means"].replace("{}", release).split())
    return Sign(
        statement.replace("{}", release),
        has_property,
        sign.get("cites", "").strip(),
        watched=watched,
        **meaning,
    )


def _meaning(choices: Choices[Any], words: Sequence[str]) -> dict[str, Any]:
    """What the words of an entry's `means` say of the writer, as fields of Sign: `never`; options
    that it has and lacks, as `+name` and `-name`; releases by name; `A..B` for those from A to B;
    `having` for the releases that have these options, unless all have them.
    """
    legal_names = choices.releases

    def options_after(prefix: str) -> tuple[str, ...]:
        """The names of the options among the words that begin with `prefix` (`+` or `-`). Raises
        UnknownName for a name that is no option.
        """
        names = (word[1:] for word in words if word[0] == prefix)
        return tuple(check_name(name, "option", choices.options) for name in names)

    set_options, unset_options = options_after("+"), options_after("-")
    releases: list[str] = []
    for word in words:
        first, dots, last = word.partition("..")
        if dots:
            ends = [
                legal_names.index(check_name(end, "release", legal_names))
                for end in (first or legal_names[0], last or legal_names[-1])
            ]
            releases += legal_names[ends[0] : ends[1] + 1]
        elif word == "having":
            limits = [
                limit.releases
                for limit in choices.limits
                if limit.option in set_options and limit.releases
            ]
            common = set(legal_names).intersection(*limits) if limits else set()
            releases += [name for name in legal_names if name in common]
        elif word[0] not in "+-" and word != "never":
            releases.append(check_name(word, "release", legal_names))
    return {
        "given": set_options,
        "without": unset_options,
        "releases": tuple(releases),
        "never": "never" in words,
    }


def _find_fact(name: str, facts: Facts) -> Fact:
    """The function that a condition or a table names, which takes an opened record: a function of
    the format's module (`facts`), or a property of OpenedRecord, which every format has. A function
    comes before a property of the same name. Raises UnknownName, which shows the functions that are
    not private (`_`).
    """
    if name in OpenedRecord.__annotations__ or hasattr(OpenedRecord, name):
        return facts.get(name) or attrgetter(name)
    fact: Fact = facts[
        check_name(
            name,
            "fact",
            [
                fact_name
                for fact_name, value in facts.items()
                if callable(value) and fact_name[0] != "_"
            ],
        )
    ]
    return fact


class _Term(NamedTuple):
    """A term of a condition: the function that gives the value to look at in a message, the test of
    that value, and whether the term begins with `not`.
    """

    value: Fact
    test: Callable[[Any], bool]
    is_negated: bool


def condition(expression: str | Sequence[str], root: Fact, facts: Facts) -> Condition:
    """Parses a condition of a table of evidence into a function that says whether it holds of a
    message. An expression is terms joined by `;`, which must all hold; of several expressions one
    must. Members that it names are those of the object that `root` gives of a message. Raises
    UsageError.
    """
    alternatives = [expression] if isinstance(expression, str) else expression
    cases: list[list[_Term]] = []
    for alternative in alternatives:
        terms = alternative.split(";")
        cases.append([_parse_term(term.strip(), root, facts) for term in terms])

    def holds(opened: OpenedRecord) -> bool:
        """Whether all terms of at least one alternative hold of a message."""
        for terms in cases:  # loops, since every message is asked for every sign
            for value, test, is_negated in terms:
                if test(value(opened)) is is_negated:
                    break
            else:
                return True
        return False

    return holds


def _parse_term(expression: str, root: Fact, facts: Facts) -> _Term:
    """Parses one term of a condition, such as `not a.b=x`. The value that it looks at is a fact
    (`name()`), or a member of the object that `root` gives of a message, or several members
    (`a|b`). Raises UsageError.
    """
    term = _TERM.fullmatch(expression)
    if term is None:
        raise UsageError(f"no term of a condition: {expression}")
    test, names, is_negated = _parse_test(term), term["names"], term["no"] is not None
    if names.endswith("()"):
        return _Term(_find_fact(names[:-2], facts), test, is_negated)
    if "|" not in names:
        return _Term(partial(_read_path, root, names.split(".")), test, is_negated)
    paths = [name.split(".") for name in names.split("|")]
    return _Term(
        lambda opened: [_read_path(root, path, opened) for path in paths],
        lambda members: any(map(test, members)),
        is_negated,
    )


def _read_path(root: Fact, path: Sequence[str], opened: OpenedRecord) -> Any:
    """The value in a message at a path of member names, below the object that `root` gives; _ABSENT
    if a step of the path is missing.
    """
    value = root(opened)
    for name in path:
        value = value.get(name, _ABSENT) if isinstance(value, dict) else _ABSENT
    return value


def _parse_test(term: re.Match[str]) -> Callable[[Any], bool]:
    """Turns a parsed term of a condition into a function that tests a value: that it contains one
    of some items, is there, equals one of some values, has a text in which a pattern is found, or
    (without any of these) is not empty. Raises UsageError.
    """
    if term["among"]:
        among = [_parse_value(part) for part in term["among"].split("|")]
        return lambda value: any(item in value for item in among)
    if term["there"]:
        return lambda value: value is not _ABSENT
    if term["values"] is not None:
        values = [_parse_value(part) for part in term["values"].split("|")]
        return partial(_is_among, values)
    if term["pattern"] is not None:
        try:
            pattern = re.compile(term["pattern"])
        except re.error as error:
            raise UsageError(f"{term['pattern']} is no pattern: {error}.") from None
        return lambda value: any(map(pattern.search, _texts(value)))
    return lambda value: value is not _ABSENT and bool(value)


def _is_among(values: Sequence[Any], member: Any) -> bool:
    """Whether a member of a message equals one of the values and is of the same Python type (True
    is not 1); an absent member counts as null.
    """
    value = None if member is _ABSENT else member
    return any(type(value) is type(item) and value == item for item in values)


def _parse_value(value_text: str) -> Any:
    """Parses a value in the text of a condition: JSON if it is such, else the text itself."""
    try:
        return json.loads(value_text)
    except ValueError:
        return value_text


def _texts(value: Any) -> Iterable[str]:
    """The texts in a value: a text itself, else those among the items of a list or a set, or the
    values of an object.
    """
    if isinstance(value, str):
        return (value,)
    inner: Iterable[Any] = ()
    if isinstance(value, dict):
        inner = value.values()
    elif isinstance(value, list | set):
        inner = value
    return [item for item in inner if isinstance(item, str)]
