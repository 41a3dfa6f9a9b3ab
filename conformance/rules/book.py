"""Rules as data: the catalogue of kinds (kinds.toml), and a TOML file of rules for each format.

A kind is a rule without a format, in words that fit most formats; a family has kinds of its own, in
words of one vendor. A rule in a format's file names its kind and cites the format's sources; what
else it says stands in place of what the family and the kind say. A name that is no kind is a rule
of that format alone, and says everything itself. The order counts: the first rule that owns a
comparison is the one that a difference breaks.

    page = "toy"                                 # of sources: `#ts` is the fact toy#ts; the name of
    the file
                                                 # without this line
    family = "toy"                               # whose kinds the format has; most formats have
    none
    like = "debezium-json"                       # whose rules the format has too, behind its own; a
    rule named again says
                                                 # what is different
    without = "rows/schemaless"                  # but for these
    provenance = "OBSERVED"                      # of rules whose grade names none; ASSUMED without
    this line

    [order]                                      # which change of a row is the newer one
    (conformance.rules.order)
    family = "toy"                               # what a family's formats have in common
    cites = "toy#ts"
    positions = ["number"]

    [rules]
    "fault/must-reject fault/cell-type" = {}     # two kinds, as they are: both have citations
    "rows/op" = "#op"                            # a kind, cited
    "value/null" = { grade = "SHOULD", cites = "#values #old", owns = "aspect=null; op=UPDATE", says
    = '''
        null in old is the value NULL, not a column that did not change.''' }

`says` is the statement; `effect` what breaking it does; `grade` an obligation (else MUST), a
provenance or both; `cites` facts of the catalogue of sources; `owns` a selector: conditions
`CONDITIONS`, `name=value|value`, separated by `; `, or "" for whatever is left. White space in
these texts, line ends too, is one space.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any, Final, NamedTuple, TypeAlias

from conformance.rules.rule import (
    FIELDS,
    Aspect,
    Citation,
    Effect,
    Obligation,
    Provenance,
    Rule,
    Selector,
)
from conformance.rules.sources import fact
from conformance.rules.tables import (
    Legal,
    TableFile,
    check_name,
    check_value,
    naming_place,
    read_package_toml,
)
from generators.errors import UnknownName, UsageError
from generators.model import Kind, Logical, Op, State
from generators.wire_format import FORMATS

_EXISTENCE: Final = (Aspect.MISSING, Aspect.EXTRA, Aspect.CORRUPT)
"""What may be wrong with a row as a whole: it is missing, one too many, or reported CORRUPT."""
ASPECTS: Final[Mapping[str, tuple[Aspect, ...]]] = {
    **{aspect.value: (aspect,) for aspect in Aspect},
    "existence": _EXISTENCE,
    "whole": (*_EXISTENCE, Aspect.KIND, Aspect.OP),
    "content": (Aspect.NULL, Aspect.VALUE),
}
"""What `aspect=` may name: aspects, and names of several."""

CONDITIONS: Final[Mapping[str, tuple[str, Iterable[str] | None]]] = {
    "field": ("fields", FIELDS),
    "aspect": ("aspects", ASPECTS),
    "kind": ("kinds", tuple(Kind)),
    "op": ("ops", ("", *Op)),
    "side": ("sides", ("", "before", "after")),
    "type": ("types", None),
    "logical": ("logicals", tuple(Logical)),
    "class": ("classes", None),
    "state": ("states", tuple(State)),
    "tag": ("tags", None),
    "profile": ("profiles", None),
    "level": ("levels", ("1", "2")),
}
"""The conditions of a selector: the field of `Selector` and the legal values; None for globs."""

SHORT: Final = {
    "change": "field=change; aspect=",
    "cell": "field=cell; aspect=",
    "envelope": "aspect=field; field=",
}
"""What stands for two conditions, with the values of the second: `change=missing` is `field=change;
aspect=missing`.
"""

NEEDED: Final = {"says": "statement", "effect": "effect", "cites": "citations", "owns": "selector"}
"""The fields that an entry must have, itself or through its kind, by their name in the TOML file;
the values are the names of the same fields in `Rule`.
"""
OTHERS: Final = ("grade", "law", "needs")
"""Fields that an entry may have besides; `law` and `needs` stand in laws.toml alone, whose rules
own nothing.
"""
FIELD: Final[Mapping[str, Legal]] = dict.fromkeys((*NEEDED, *OTHERS), str)
"""The legal type of each field of an entry, by the field's name."""
PARTS: Final[Mapping[str, Legal]] = {
    **dict.fromkeys(("page", "family", "like", "without"), str),
    "provenance": tuple(Provenance),
    **dict.fromkeys(("order", "rules"), dict),
}
"""The legal top-level keys of a file of rules, with what their values may be."""
OPEN: Final = ("open-forms", "open-zones", "open-images")
"""Needs of the laws of readings (a decoder reads a column in one way in all messages): the format
has a rule that is not MUST on the forms of values, on the zone of moments, or on images.
"""
NEEDS: Final = ("order", "schema", "watermarks", "compacted", "unsent", *OPEN)
"""What a law may need of a format before it applies: `leaves_open` decides it for those in OPEN,
`Order.has` for the others.
"""


EntryFields: TypeAlias = Mapping[str, Any]
"""What an entry says: fields of a Rule, and `needs` of a law."""


@dataclass(frozen=True, slots=True)
class Book:
    """The contents of one format's file of rules. `order` is the file's table `[order]`, not yet
    parsed (`conformance.rules.order` does it); `place` is the file and line of that table, for
    error messages. `like` is the format whose rules this format has too, "" for none.
    """

    rules: tuple[Rule, ...]
    order: Mapping[str, Any]
    place: str
    like: str = ""


_OUTSIDE: Final[dict[str, Path]] = {}
"""The files of rules of formats that are defined outside this package, by the format's name."""


def register(fmt: str, path: Path) -> None:
    """Registers the file of rules of a format that is defined outside this package; `book` then
    reads `path` for it.

    Raises UsageError if the format has another file already.
    """
    if fmt in FORMATS or _OUTSIDE.setdefault(fmt, path) != path:
        raise UsageError(f"format {fmt!r} has a file of rules already")


@cache
def book(fmt: str) -> Book:
    """The parsed file of rules of a format, which is in this package or was given to `register`.
    Raises UnknownName for an unknown format, and UsageError, which names file and line, for an
    error in the file.
    """
    if path := _OUTSIDE.get(fmt):
        return parse_book(fmt, str(path), path.read_text("utf-8"))
    if fmt not in FORMATS:
        raise UnknownName("format", fmt, (*FORMATS, *_OUTSIDE))
    return parse_book(fmt, *read_package_toml(__package__, fmt))


def parse_book(fmt: str, file_name: str, toml_text: str) -> Book:
    """Parses the TOML text of a format's file of rules: its own rules first, then those of the
    format that it names under `like`, changed where its own entries say so. `file_name` only stands
    in error messages. Raises UsageError for an error in the text.
    """
    file = TableFile(file_name, toml_text, PARTS)
    with naming_place(file.place("family")):
        kinds_of_family = kinds_of(file.data.get("family", ""))
    provenance = Provenance(file.data.get("provenance", Provenance.ASSUMED))
    with naming_place(file.place("like")):
        base_book = book(file.data["like"]) if "like" in file.data else Book((), {}, "")
    rules = []
    rules_of_base: dict[str, Rule] = {}
    for rule in base_book.rules:
        name = rule.id.partition("/")[2]
        rules_of_base[name] = replace(rule, id=f"{fmt}/{name}")
    with naming_place(file.place("without")):
        for name in file.data.get("without", "").split():
            del rules_of_base[check_name(name, "rule", rules_of_base)]
    for place, name, entry in _entries(file, "rules"):
        if name in rules_of_base:
            rules_of_base[name] = replace(rules_of_base[name], **entry)
            continue
        fields = {
            "obligation": Obligation.MUST,
            "provenance": provenance,
            **kinds_of_family.get(name, {}),
            **entry,
        }
        if lacking := ", ".join(
            field for field, of_rule in NEEDED.items() if of_rule not in fields
        ):
            if name in kinds_of_family:
                raise UsageError(f"{place}: neither the rule nor its kind says {lacking}.")
            raise UsageError(
                f"{place}: {UnknownName('kind', name, kinds_of_family)} A rule of no kind says {lacking}"
                " itself."
            )
        rules.append(Rule(id=f"{fmt}/{name}", **fields))
    own_order = {**file.data.get("order", {})}
    with naming_place(f"{file.place('order')}: order"):
        family = check_name(own_order.pop("family", ""), "family", ("", *_orders_of_families()))
        order_of_family = _orders_of_families().get(family, {})
    order = {**base_book.order, "provenance": provenance, **order_of_family, **own_order}
    return Book(
        (*rules, *rules_of_base.values()), order, file.place("order"), file.data.get("like", "")
    )


def kinds_of(family: str = "") -> Mapping[str, EntryFields]:
    """The kinds (rules without a format) by name: those of every format, in the words of the family
    where it has words of its own. Raises UnknownName for an unknown family.
    """
    general, families = _read_kinds()
    of_family = families[check_name(family, "family", families)] if family else {}
    return {
        name: {**general.get(name, {}), **of_family.get(name, {})}
        for name in (*general, *of_family)
    }


@cache
def _read_kinds() -> tuple[Mapping[str, EntryFields], Mapping[str, Mapping[str, EntryFields]]]:
    """The kinds of kinds.toml by name: those of every format, and, for each family, what it changes
    in them or adds to them.
    """
    file = _kinds_file()
    tables = ("kinds", *(f"family.{name}" for name in file.data["family"]))
    general, *families = (_entries_by_name(file, table) for table in tables)
    return general, dict(zip(file.data["family"], families, strict=True))


def _entries_by_name(file: TableFile, table: str) -> dict[str, EntryFields]:
    """The entries of a table of rules by the rule's name, without their places in the file."""
    return {name: entry for _, name, entry in _entries(file, table)}


@cache
def _kinds_file() -> TableFile:
    """The parsed kinds.toml: the kinds of rules, what families of formats change in them, and the
    families' parts of the table `[order]`.
    """
    return TableFile(
        *read_package_toml(__package__, "kinds"), dict.fromkeys(("kinds", "family", "order"), dict)
    )


def _orders_of_families() -> Mapping[str, Mapping[str, Any]]:
    """By the name of a family of formats: the parts of the table `[order]` (how changes of a row
    are ordered) that all formats of the family share.
    """
    orders: Mapping[str, Mapping[str, Any]] = _kinds_file().data["order"]
    return orders


@cache
def read_laws() -> Mapping[str, EntryFields]:
    """The laws from laws.toml: rules that are the same in all formats, and whose findings come from
    a check of their own, not from a selector. The key is the rule's name: law/* for decoding,
    stream/* for tables kept from a stream, pipeline/* for a user's pipeline, and garbage/* for
    mutated messages. The value has the fields of a Rule. It may also have `needs`: what a format
    must have for the rule to apply.
    """
    file = TableFile(*read_package_toml(__package__, "laws"), {"rules": dict})
    return {name: entry for _, name, entry in _entries(file, "rules")}


def law(fmt: str, name: str) -> Rule:
    """The rule of a format for the entry `name` of laws.toml, such as `law/batch-independence`; its
    id is `<format>/<name>`. It is MUST and ASSUMED unless the entry says otherwise.
    """
    fields = {"obligation": Obligation.MUST, "provenance": Provenance.ASSUMED, **read_laws()[name]}
    fields.pop("needs", "")
    return Rule(id=f"{fmt}/{name}", **fields)


class RuleEntry(NamedTuple):
    """An entry of a table of rules: its place (`FILE:LINE: NAME`, for error messages), the rule's
    name, and its fields, parsed for a Rule.
    """

    place: str
    name: str
    fields: EntryFields


def _entries(file: TableFile, table: str) -> Iterator[RuleEntry]:
    """Yields for each entry of a table: its place (for error messages), its name, and its fields
    parsed for a Rule. An entry whose key has several names is yielded once under each name.
    """
    places: dict[str, str] = {}
    for place, key, value in file.entries(table):
        fields = {"cites": value} if isinstance(value, str) else value
        with naming_place(f"{place}: {key}"):
            check_value("an entry", fields, dict)
        if isinstance(cites := fields.get("cites"), str):
            fields = {
                **fields,
                "cites": re.sub(
                    r"(?<!\S)#", f"{file.data.get('page', Path(file.where).stem)}#", cites
                ),
            }
        for name in key.split():
            with naming_place(f"{place}: {name}"):
                if name in places:
                    raise UsageError(f"a duplicate: it is in {places[name]}, too.")
                places[name] = place
                entry: dict[str, Any] = {}
                for field, words in fields.items():
                    entry.update(parse_field(field, words))
            yield RuleEntry(f"{place}: {name}", name, entry)


def parse_field(name: str, value: Any) -> Iterator[tuple[str, Any]]:
    """Parses one field of an entry into fields of a Rule, as (name, value); a `grade` gives one or
    two, every other field one. Raises UsageError for an illegal field or value.
    """
    check_value(name, value, FIELD[check_name(name, "field", FIELD)])
    words_text = " ".join(value.split())
    match name:
        case "grade":
            for word in words_text.split():
                grade = check_name(word, "grade", (*Obligation, *Provenance))
                yield (
                    ("obligation", Obligation(grade))
                    if grade in tuple(Obligation)
                    else ("provenance", Provenance(grade))
                )
        case "effect":
            yield "effect", Effect(check_name(words_text, "effect", Effect))
        case "owns":
            yield "selector", parse_selector(words_text)
        case "cites":
            yield "citations", parse_citations(words_text)
        case "needs":
            yield "needs", check_name(words_text, "need", NEEDS)
        case _:
            yield NEEDED.get(name, name), words_text


def parse_selector(conditions_text: str) -> Selector:
    """Parses a selector, such as `field=cell; aspect=null; op=UPDATE`. Raises UsageError for an
    unknown, empty or repeated condition.
    """
    fields: dict[str, tuple[Any, ...]] = {}
    for condition, values in _split_conditions(conditions_text):
        field, legal = CONDITIONS[condition]
        if field in fields:
            raise UsageError(f"condition {condition!r} is there twice.")
        fields[field] = tuple(_parse_values(condition, values, legal))
    return Selector(**fields)


def _split_conditions(selector_text: str) -> Iterator[tuple[str, str]]:
    """Splits the text of a selector into conditions: (name, text of its values). A short form, such
    as `change=missing`, gives the two conditions that it stands for.
    """
    for part in filter(None, selector_text.split("; ")):
        name, _, values = part.partition("=")
        check_name(name, "condition", (*CONDITIONS, *SHORT))
        for plain_condition in (SHORT.get(name, f"{name}=") + values).split("; "):
            condition, _, condition_values = plain_condition.partition("=")
            yield condition, condition_values


def _parse_values(condition: str, values_text: str, legal: Iterable[str] | None) -> Iterator[Any]:
    """Parses the values of one condition of a selector, separated by `|`: a level as a number, an
    aspect as all that it stands for. Raises UsageError for an empty value or one that is not in
    `legal`.
    """
    for value in map(str.strip, values_text.split("|")):
        if legal is not None:
            check_name(value, condition, legal)
        elif not value:
            raise UsageError(f"condition {condition!r} has an empty value.")
        if condition == "aspect":
            yield from ASPECTS[value]
        else:
            yield int(value) if condition == "level" else value


def parse_citations(facts_text: str) -> tuple[Citation, ...]:
    """Parses the ids of facts, separated by blanks, into citations. Raises UsageError for an empty
    text, and UnknownName for a fact that is not in the catalogue of sources.
    """
    if not facts_text:
        raise UsageError("cites is empty.")
    return tuple(Citation(fact(fact_id).id) for fact_id in facts_text.split())
