"""Reads the table of a format's profiles from the TOML file of the format.

    [releases."1.5"]                        # a release: what it has otherwise than the class says
    escapes = "FASTJSON1"

    [releases."1.6"]
    like = "1.5"                            # ... and otherwise than another release
    keeps_key = false

    [options.minimal]                       # an option: what it means, and the facts that it sets
    says = "binlog_row_image=MINIMAL"       # without it, shared.toml says so
    group = "image"                         # of a group at most one option is given
    sets = { image = "minimal", deployment.time_zone = "UTC" }
    when = [{ since = "1.6" }, { without = ["gbk"], why = "is refused beside gbk" }]

    [[pairs]]                               # what only a combination has
    until = "1.5"
    needs = ["minimal"]
    sets = { keeps_key = true }

    [family]                                # the releases and options of another format's file,
    like = "other-json"                     # but for some options; `releases` adds facts to them
    without = ["flat"]

A condition has `releases`, or `since` and `until` in the order of the releases, and `needs` and
`without`, which name options; one of `when` holds of the releases of `among` alone, if it has that.
Facts are fields of the format's profile class.
"""

from __future__ import annotations

import tomllib
import types
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from enum import Enum
from functools import cache
from importlib import resources
from typing import Any, Final, Literal, Union, get_args, get_origin, get_type_hints

from generators.errors import UnknownName, UsageError
from generators.profiles import Choices, Facts, Limit, P, Pair, with_facts

FILE: Final = "generators/formats/{}.toml"
"""Where a format's file lies."""

_MUST: Final = frozenset({"title", "source", "position", "profiles", "kinds"})
"""The keys that a format's file must have."""
_MAY: Final = frozenset({"members", "releases", "options", "pairs", "family"})
"""The keys that a format's file may have beside `_MUST`."""
_OPTION_KEYS: Final = frozenset({"says", "group", "sets", "when"})
_CONDITION_KEYS: Final = frozenset({"releases", "since", "until", "needs", "without"})
_FAMILY_KEYS: Final = frozenset({"like", "without", "sets"})


@cache
def read_file(name: str) -> dict[str, Any]:
    """A parsed TOML file of the folder of formats, by its name without the ending."""
    # Executors import the package from a zip.
    toml_text = resources.files("generators.formats").joinpath(f"{name}.toml").read_text("utf-8")
    try:
        return tomllib.loads(toml_text)
    except tomllib.TOMLDecodeError as error:
        raise UsageError(f"{FILE.format(name)}: {error}") from error


def read_format(name: str) -> dict[str, Any]:
    """The parsed TOML file of a format. Raises UsageError for a key that a format's file may not
    have, and for one that is missing.
    """
    table = read_file(name)
    wrong_keys = (table.keys() - _MAY) ^ _MUST
    if not table.keys() & {"releases", "family"}:
        wrong_keys |= {"releases"}
    if wrong_keys:
        raise UsageError(
            f"{FILE.format(name)}: unknown or missing: {', '.join(sorted(wrong_keys))}. A format's"
            f" file has {', '.join(sorted(_MUST))}, and may have {', '.join(sorted(_MAY))}."
        )
    return table


def read_choices(name: str, profile_class: type[P]) -> Choices[P]:
    """The releases and options of a format, as its file has them. Raises UsageError that names file
    and key, what is legal there, and the nearest match.
    """
    table = _read_table(name)
    place = _Place(FILE.format(name))
    releases = tuple(table.releases)
    for release, row in table.releases.items():
        place.at("releases").at(release).refuse_other_than_table(row)
    bases = {
        release: _base(table.releases, release, profile_class, place.at("releases"))
        for release in releases
    }
    option_tables = {
        option: _read_option(name, option, option_table)
        for option, option_table in table.options.items()
    }
    known_options = (*option_tables, *table.left_out)
    limits: list[Limit] = []
    facts: dict[str, Facts] = {}
    groups: dict[str, list[str]] = {}
    for option, option_table in option_tables.items():
        option_place = place.at("options").at(option)
        facts[option] = _facts(option_table.get("sets", {}), profile_class, option_place.at("sets"))
        groups.setdefault(option_table.get("group", option), []).append(option)
        for number, condition in enumerate(option_table.get("when", ())):
            condition_place = option_place.at(f"when[{number}]")
            condition_place.refuse_unknown(condition, _CONDITION_KEYS | {"among", "why"})
            limit = _condition(condition, releases, known_options, condition_place)
            why = condition.get("why") or _why(limit, condition_place)
            among = tuple(condition.get("among", ()))
            limits.append(Limit(**limit, option=option, why=why, among=among))
    pairs: list[Pair] = []
    for number, pair_table in enumerate(table.pairs):
        pair_place = place.at(f"pairs[{number}]")
        pair_place.refuse_unknown(pair_table, _CONDITION_KEYS | {"sets"})
        condition = _condition(pair_table, releases, known_options, pair_place)
        pair_facts = _facts(pair_table.get("sets", {}), profile_class, pair_place.at("sets"))
        pairs.append(Pair(**condition, facts=pair_facts))
    return Choices(
        of=name,
        bases=bases,
        options={option: option_table["says"] for option, option_table in option_tables.items()},
        exclusive=tuple(tuple(group) for group in groups.values() if len(group) > 1),
        limits=tuple(limits),
        facts=facts,
        pairs=tuple(pairs),
    )


@dataclass(frozen=True, slots=True)
class _Place:
    """A place in a file, as errors name it: `generators/formats/toy-json.toml: options.big`."""

    file: str
    keys: tuple[str, ...] = ()

    def at(self, key: str) -> _Place:
        """The place below this one that has the key."""
        return _Place(self.file, (*self.keys, key))

    def __str__(self) -> str:
        return f"{self.file}: {'.'.join(self.keys)}"

    def error(self, message: str) -> UsageError:
        """The error that says `message` of this place."""
        return UsageError(f"{self} {message}")

    def unknown(self, what: str, value: str, legal: Iterable[str]) -> UsageError:
        """The error for a value that is none of the legal ones; `what` says what it is, such as
        `option`.
        """
        return UsageError(f"{self}: {UnknownName(what, value, legal)}")

    def refuse_other_than_table(self, value: object) -> None:
        """Raises UsageError if the value at this place is no table."""
        if not isinstance(value, Mapping):
            raise self.error(f"= {value!r}: expected a table, such as {{ fact = true }}")

    def refuse_unknown(self, table: Mapping[str, Any], legal: Iterable[str]) -> None:
        """Raises UsageError if the value is no table, or if it has a key that is not legal at this
        place.
        """
        self.refuse_other_than_table(table)
        for key in table:
            if key not in legal:
                raise self.unknown("key", key, legal)


@dataclass(frozen=True, slots=True)
class _Table:
    """The rows of a format's releases, options and pairs (facts of a combination). `left_out` are
    those options of its family, the format that it is `like`, that this format does not have;
    conditions may name them all the same.
    """

    releases: Mapping[str, Mapping[str, Any]]
    options: Mapping[str, str | Mapping[str, Any]]
    pairs: Sequence[Mapping[str, Any]]
    left_out: Sequence[str] = ()


def _read_table(name: str) -> _Table:
    """The releases, options and pairs in a format's file, on top of those of the format that its
    `family` names: the format's own facts win, and its own options come behind the family's.
    """
    file = read_format(name)
    table_of_file = _Table(file.get("releases", {}), file.get("options", {}), file.get("pairs", ()))
    if "family" not in file:
        return table_of_file
    family = file["family"]
    place = _Place(FILE.format(name)).at("family")
    place.refuse_unknown(family, _FAMILY_KEYS)
    if "like" not in family:
        raise place.error("has no `like`, the format whose releases and options these are")
    family_table = _read_table(family["like"])
    left_out = family.get("without", ())
    for option in left_out:
        if option not in family_table.options:
            raise place.at("without").unknown("option", option, family_table.options)
    releases = {
        release: _merge(
            _merge(entry, family.get("sets", {})), table_of_file.releases.get(release, {})
        )
        for release, entry in family_table.releases.items()
    }
    added = {name: entry for name, entry in table_of_file.releases.items() if name not in releases}
    options = {
        option: entry for option, entry in family_table.options.items() if option not in left_out
    }
    pairs = (pair for pair in family_table.pairs if not _names_any(pair, left_out))
    return _Table(
        releases={**releases, **added},
        options={**options, **table_of_file.options},
        pairs=(*pairs, *table_of_file.pairs),
        left_out=(*family_table.left_out, *left_out),
    )


def _merge(table: Mapping[str, Any], overriding: Mapping[str, Any]) -> dict[str, Any]:
    """The mapping with the members of `overriding` on top; a member that is a mapping in both is
    merged in the same way.
    """
    merged = dict(table)
    for key, value in overriding.items():
        below = merged.get(key)
        if isinstance(below, Mapping) and isinstance(value, Mapping):
            value = _merge(below, value)
        merged[key] = value
    return merged


def _names_any(pair: Mapping[str, Any], options: Sequence[str]) -> bool:
    """Whether a row of `pairs` needs one of these options."""
    return not set(options).isdisjoint(pair.get("needs", ()))


def _base(
    release_tables: Mapping[str, Mapping[str, Any]],
    release: str,
    profile_class: type[P],
    place: _Place,
) -> P:
    """The profile of a release without options. Its facts are the defaults of the class, then those
    of each release that it is `like`, the farthest first, then its own.
    """
    like_chain = [release]
    while (like_release := release_tables[like_chain[-1]].get("like")) is not None:
        if like_release not in release_tables:
            raise (
                place.at(like_chain[-1]).at("like").unknown("release", like_release, release_tables)
            )
        if like_release in like_chain:
            raise place.at(release).error(
                f"is like itself: {' -> '.join((*like_chain, like_release))}"
            )
        like_chain.append(like_release)
    profile = profile_class(release)
    for name in reversed(like_chain):
        facts_of_release = {
            fact: value for fact, value in release_tables[name].items() if fact != "like"
        }
        profile = with_facts(profile, _facts(facts_of_release, profile_class, place.at(name)))
    return profile


def _read_option(
    name: str, option: str, option_entry: str | Mapping[str, Any]
) -> Mapping[str, Any]:
    """The entry of an option in a format's file, always as a mapping with `says`, what the option
    means; an entry that is a text is just that. If the format says nothing, the words of
    shared.toml are taken. Raises UsageError if there are none.
    """
    place = _Place(FILE.format(name)).at("options").at(option)
    option_table = {"says": option_entry} if isinstance(option_entry, str) else option_entry
    place.refuse_unknown(option_table, _OPTION_KEYS)
    meaning = option_table.get("says") or read_file("shared").get(option, "")
    if not meaning:
        raise place.error("says nothing of what the option means, here and in shared.toml")
    return {**option_table, "says": meaning}


def _condition(
    table: Mapping[str, Any], releases: Sequence[str], options: Iterable[str], place: _Place
) -> dict[str, tuple[str, ...]]:
    """The condition of a row, as fields of `Condition`: the releases that its `releases`, or its
    `since` and `until`, select, and the options of its `needs` and `without`. Raises UsageError for
    an unknown one.
    """
    for key in ("needs", "without"):
        for option in table.get(key, ()):
            if option not in options:
                raise place.at(key).unknown("option", option, options)
    named_releases = list(table.get("releases", ()))
    for release in (
        *named_releases,
        *table.get("among", ()),
        *(table[key] for key in ("since", "until") if key in table),
    ):
        if release not in releases:
            raise place.unknown("release", release, releases)
    if "since" in table or "until" in table:
        first = releases.index(table["since"]) if "since" in table else 0
        last = releases.index(table["until"]) if "until" in table else len(releases) - 1
        named_releases += releases[first : last + 1]
    return {
        "releases": tuple(named_releases),
        "needs": tuple(table.get("needs", ())),
        "without": tuple(table.get("without", ())),
    }


def _why(limit: Mapping[str, Sequence[str]], place: _Place) -> str:
    """The reason why an option may not be given, for a condition without `why` of its own: only
    some releases have the option. Raises UsageError if the condition is about other options, too.
    """
    if limit["needs"] or limit["without"]:
        raise place.error("has no `why`, which says why the option may not be given")
    return f"is an option of {', '.join(limit['releases'])} alone"


def _facts(table: Mapping[str, Any], holder: type[Any], place: _Place) -> Facts:
    """The facts that a table of TOML sets, as values of the fields of the dataclass `holder`.
    Raises UsageError for an unknown fact or a wrong value.
    """
    hints = get_type_hints(holder)
    names = [field.name for field in fields(holder)]
    facts: dict[str, Any] = {}
    place.refuse_other_than_table(table)
    for name, value in table.items():
        if name not in names:
            raise place.unknown(f"fact of {holder.__name__}", name, names)
        facts[name] = _value(hints[name], value, place.at(name))
    return facts


def _value(hint: Any, value: Any, place: _Place) -> Any:
    """A value of TOML as a value of the type `hint`: for an Enum the name of a member, for bytes a
    text, for a tuple a list, for a dataclass a table of its fields. Raises UsageError for any other
    value.
    """
    origin = get_origin(hint)
    if origin in (Union, types.UnionType):
        (hint,) = (part for part in get_args(hint) if part is not type(None))
        return _value(hint, value, place)
    if origin is Literal:
        legal = get_args(hint)
        if value not in legal:
            raise place.unknown("value", str(value), map(str, legal))
        return value
    if origin is tuple and isinstance(value, list):
        (part, *_) = get_args(hint)
        return tuple(_value(part, item, place) for item in value)
    if isinstance(hint, type) and issubclass(hint, Enum) and isinstance(value, str):
        if value not in hint.__members__:
            raise place.unknown("value", value, hint.__members__)
        return hint[value]
    if isinstance(hint, type) and is_dataclass(hint) and isinstance(value, dict):
        return _facts(value, hint, place)
    if hint is bytes and isinstance(value, str):
        return value.encode()
    if type(value) is not hint:
        raise place.error(f"= {value!r}: expected {getattr(hint, '__name__', hint)}")
    return value
