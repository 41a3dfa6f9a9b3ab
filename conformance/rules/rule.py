"""What a rule is: data that says what is owed, who says so, and which compared fields it owns."""

from __future__ import annotations

import enum
from collections.abc import Iterable
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from itertools import chain
from typing import Final, TypeAlias

from conformance.rules.sources import fact


class Obligation(enum.StrEnum):
    """How binding a rule is."""

    MUST = "MUST"
    SHOULD = "SHOULD"
    MAY = "MAY"
    UNSPECIFIED = "UNSPECIFIED"

    @property
    def binds(self) -> int:
        """How binding the obligation is, as a number to compare: 2 for MUST, 1 for SHOULD, 0 for
        MAY and UNSPECIFIED.
        """
        return {Obligation.MUST: 2, Obligation.SHOULD: 1}.get(self, 0)


class Provenance(enum.StrEnum):
    """Where a rule comes from: a vendor's document, the product's source or output, or our own
    assumption.
    """

    DOCUMENTED = "DOCUMENTED"
    OBSERVED = "OBSERVED"
    ASSUMED = "ASSUMED"


class Effect(enum.StrEnum):
    """What breaking a rule does to the data downstream."""

    LOST_CHANGE = "LOST_CHANGE"
    LOST_DELETE = "LOST_DELETE"
    LOST_PRECISION = "LOST_PRECISION"
    LOST_SCHEMA_CHANGE = "LOST_SCHEMA_CHANGE"
    WRONG_VALUE = "WRONG_VALUE"
    WRONG_SIGN = "WRONG_SIGN"
    WRONG_ROW_KEY = "WRONG_ROW_KEY"
    WRONG_OP = "WRONG_OP"
    WRONG_TABLE = "WRONG_TABLE"
    WRONG_ORDER = "WRONG_ORDER"
    MOJIBAKE = "MOJIBAKE"
    TIME_SHIFT = "TIME_SHIFT"
    NULL_FOR_ABSENT = "NULL_FOR_ABSENT"
    NULL_FOR_VALUE = "NULL_FOR_VALUE"
    VALUE_FOR_NULL = "VALUE_FOR_NULL"
    PHANTOM_ROW = "PHANTOM_ROW"
    SILENT_CORRUPTION = "SILENT_CORRUPTION"
    UNSTABLE_RESULT = "UNSTABLE_RESULT"
    STOPPED_PIPELINE = "STOPPED_PIPELINE"


class Aspect(enum.StrEnum):
    """The property of a field that a comparison compares."""

    MISSING = "missing"  # a change that should be there is not
    EXTRA = "extra"  # a change that should not be there is
    CORRUPT = "corrupt"  # a readable change was reported CORRUPT
    ACCEPTED = "accepted"  # an unreadable message was not reported as exactly one CORRUPT row
    KIND = "kind"
    OP = "op"
    FIELD = "field"  # an envelope field (the subject's `field` names it)
    IMAGE = "image"  # an image is there or is NULL
    PRESENCE = "presence"  # a column is in the image, or is absent
    NULL = "null"  # a column's value is NULL, or is not
    VALUE = "value"
    # of a moment, what no zone changes: a rule owns it that names it, else it is part of value or
    # field
    DIGITS = "digits"


FIELDS: Final = (
    *(
        "change",
        "database",
        "schema",
        "table",
        "keys",
        "position",
        "commit_time",
        "types",
        "schema_version",
        "sql",
    ),
    *("image", "cell"),
)
"""What is compared: see `Subject`."""


@dataclass(frozen=True, slots=True)
class Subject:
    """One comparison, as selectors see it: only the case and the expectation, never the output.

    `field` is "change" (missing, extra, corrupt, accepted, kind, op), an envelope field (database,
    schema, table, keys, position, commit_time, types, schema_version, sql), "image" or "cell";
    `side` is before or after for image and cell. `state` is the expected cell's State, `cls` its
    value class (generators.sources.mysql.value_class), `type` its SourceType.key, `logical` its
    Logical. `tags` are the case's.
    """

    profile: str
    level: int
    kind: str
    op: str
    field: str
    aspect: Aspect
    side: str = ""
    type: str = ""
    logical: str = ""
    cls: str = ""
    state: str = ""
    tags: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Selector:
    """A set of conditions; a rule owns the comparisons (`Subject`) that fulfil all of them. An
    empty tuple is no condition. `profiles`, `classes`, `types` and `tags` hold globs; for `tags`
    one glob must match one of the case's tags.
    """

    fields: tuple[str, ...] = ()
    aspects: tuple[Aspect, ...] = ()
    kinds: tuple[str, ...] = ()
    ops: tuple[str, ...] = ()
    sides: tuple[str, ...] = ()
    types: tuple[str, ...] = ()
    logicals: tuple[str, ...] = ()
    classes: tuple[str, ...] = ()
    states: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    profiles: tuple[str, ...] = ()
    levels: tuple[int, ...] = ()

    def concerns(self, field: str, aspect: Aspect, level: int) -> bool:
        """Whether a comparison of this field, aspect and level may be one that the selector
        selects: only its conditions on these three are checked. The aspect DIGITS (the digits of a
        time) is selected only by conditions that name it.
        """
        return (
            (not self.fields or field in self.fields)
            and ((not self.aspects and aspect is not Aspect.DIGITS) or aspect in self.aspects)
            and (not self.levels or level in self.levels)
        )

    def matches(self, s: Subject) -> bool:
        """Whether a comparison (its field, aspect, level, operation, type ...) meets all conditions
        of the selector, so that the rule owns it. A condition without values is met by any.
        """
        return (
            self.concerns(s.field, s.aspect, s.level)
            and (not self.kinds or s.kind in self.kinds)
            and (not self.ops or s.op in self.ops)
            and (not self.sides or s.side in self.sides)
            and (not self.logicals or s.logical in self.logicals)
            and (not self.states or s.state in self.states)
            and (not self.types or _matches_any(self.types, s.type))
            and (not self.classes or _matches_any(self.classes, s.cls))
            and (not self.profiles or _matches_any(self.profiles, s.profile))
            and (not self.tags or any(_matches_any(self.tags, tag) for tag in s.tags))
        )


def _matches_any(globs: Iterable[str], name: str) -> bool:
    """Whether a name matches one of the globs."""
    return any(fnmatchcase(name, glob) for glob in globs)


View: TypeAlias = tuple[str, frozenset[str]]
"""A profile and tags, reduced to what the rules' selectors distinguish."""


@dataclass(frozen=True, slots=True)
class Citation:
    """A fact of the catalogue of sources, `page#name` (conformance.rules.sources)."""

    where: str

    @property
    def address(self) -> str:
        """The first web address among the evidence of the cited fact; "" if there is none."""
        return next(
            (
                evidence.address
                for evidence in fact(self.where).evidence
                if evidence.address.startswith("https://")
            ),
            "",
        )

    def __str__(self) -> str:
        """The first evidence of the cited fact in words, the number of further ones, and the fact's
        id in brackets.
        """
        first, *more = fact(self.where).evidence
        return f"{first.text}{f', and {len(more)} more' if more else ''} [{self.where}]"


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule with its citations. `id` is `<format>/<area>/<name>`. A rule either owns the
    comparisons that `selector` selects, or names in `law` the check of its own that judges it.
    """

    id: str
    statement: str
    obligation: Obligation
    provenance: Provenance
    citations: tuple[Citation, ...]
    effect: Effect
    selector: Selector = Selector()
    law: str = ""


@dataclass(frozen=True, slots=True)
class RuleViews:
    """The rules of a format, with a cache of views: cases whose profile and tags no selector tells
    apart have one view, so that ownership is computed once for all of them. `views` are the views
    by profile and tags; `alike` is the profile that stands for all others that match the same
    globs, by which globs they match.
    """

    rules: tuple[Rule, ...]
    views: dict[View, View] = field(default_factory=dict)
    alike: dict[tuple[bool, ...], str] = field(default_factory=dict)

    def view(self, profile: str, tags: frozenset[str]) -> View:
        """A shortened description of a case (profile and tags) for which rules are looked up and
        cached: one profile stands for all that match the same globs of selectors, and tags that no
        selector names are left out.
        """
        view = self.views.get((profile, tags))
        if view is None:
            selectors = [rule.selector for rule in self.rules]
            globs = dict.fromkeys(chain.from_iterable(s.profiles for s in selectors))
            first = self.alike.setdefault(
                tuple(fnmatchcase(profile, glob) for glob in globs), profile
            )
            tag_globs = set(chain.from_iterable(s.tags for s in selectors))
            view = self.views[profile, tags] = (
                first,
                frozenset(tag for tag in tags if _matches_any(tag_globs, tag)),
            )
        return view


def owner(rules: tuple[Rule, ...], subject: Subject) -> Rule | None:
    """The first rule, in the given order, whose selector matches the comparison; None if no rule
    owns it. A law owns none: it has a check of its own in place of a selector.
    """
    for rule in rules:
        if not rule.law and rule.selector.matches(subject):
            return rule
    return None
