"""Profiles: a release of a writer with its options, and the choices that a format makes them of."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, is_dataclass, replace
from typing import Any, Generic, TypeVar

from generators.errors import UnknownName, UsageError
from generators.model import Deployment
from generators.sources.boundaries import neutral


@dataclass(frozen=True, slots=True)
class Profile:
    """One exact release of a writer with its options. Formats subclass it with the facts that
    differ.

    `name` is `release[+option...]` in the format's fixed option order; `assumed` says which forms
    of values, or other facts, no document or message of the product shows, so that we assume them
    (provenance ASSUMED in the report); `source` is the database that the writer reads
    (generators.sources.databases).
    """

    release: str
    options: tuple[str, ...] = ()
    deployment: Deployment = Deployment()
    assumed: str = ""
    source: str = "mysql"

    @property
    def name(self) -> str:
        """The profile's name: the release and its options, such as `v7.1.6+extension`."""
        return "+".join((self.release, *self.options))

    @property
    def database(self) -> str:
        """A database name unique to this profile, so that cases of several profiles can share a
        decode call.
        """
        return neutral(self.name, "d")


P = TypeVar("P", bound=Profile)


@dataclass(frozen=True, slots=True)
class Condition:
    """A condition on a release and its options: it is one of `releases`, has every option of
    `needs` and none of `without`; () is no condition.
    """

    releases: tuple[str, ...] = ()
    needs: tuple[str, ...] = ()
    without: tuple[str, ...] = ()

    def holds(self, release: str, options: Sequence[str]) -> bool:
        """Whether a release with these options meets the condition."""
        return (
            (not self.releases or release in self.releases)
            and set(self.needs) <= set(options)
            and set(self.without).isdisjoint(options)
        )


@dataclass(frozen=True, slots=True)
class Limit(Condition):
    """The condition under which `option` may be given to the releases of `among` (() are all).
    `why`, behind the option's name, makes the sentence of the error where it may not.
    """

    option: str = ""
    why: str = ""
    among: tuple[str, ...] = ()

    def forbids(self, release: str, options: Sequence[str]) -> bool:
        """Whether the combination is illegal: the option is given, the release is one of `among`,
        and the condition does not hold.
        """
        is_concerned = self.option in options and (not self.among or release in self.among)
        return is_concerned and not self.holds(release, options)


Facts = Mapping[str, Any]
"""Fields of a profile with their values. A mapping sets some fields of a field's own dataclass."""


@dataclass(frozen=True, slots=True)
class Pair(Condition):
    """Facts of a combination, which neither its release nor one of its options has alone."""

    facts: Facts = field(default_factory=dict, hash=False)


@dataclass(frozen=True, slots=True)
class Choices(Generic[P]):
    """What the profiles of a format are made of: a release, and options, each of which may be given
    once.

    `of` is the format's name. `bases` are the releases without options, in the order of their
    publication. `options` says what each option means, in the order of a profile's name; of each
    group of `exclusive` at most one may be given, and `limits` say which releases and options go
    together. `facts` are those that an option sets, `pairs` those of combinations. Facts of an
    option win over the release's, those of a later option over an earlier one's, those of pairs
    over all.
    """

    of: str
    bases: Mapping[str, P] = field(hash=False)
    options: Mapping[str, str] = field(default_factory=dict, hash=False)
    exclusive: tuple[tuple[str, ...], ...] = ()
    limits: tuple[Limit, ...] = ()
    facts: Mapping[str, Facts] = field(default_factory=dict, hash=False)
    pairs: tuple[Pair, ...] = ()

    @property
    def releases(self) -> tuple[str, ...]:
        """The releases in the order of their publication."""
        return tuple(self.bases)

    def checked(self, release: str, options: Sequence[str]) -> tuple[str, ...]:
        """The options in the order in which a profile's name has them. Raises UnknownName for an
        unknown release or option, and UsageError, which says why, for a combination that cannot be.
        """
        if release not in self.bases:
            raise UnknownName("release", release, self.releases, of=self.of)
        for option in options:
            if option not in self.options:
                raise UnknownName("option", option, self.options, of=self.of)
        if len(set(options)) < len(options):
            raise UsageError(f"options {', '.join(options)} of {self.of}: each may be given once")
        for group in self.exclusive:
            if len(exclusive_options := [option for option in group if option in options]) > 1:
                raise UsageError(
                    f"options {' and '.join(exclusive_options)} of {self.of} exclude each other"
                )
        for limit in self.limits:
            if limit.forbids(release, options):
                raise UsageError(
                    f"{self.of} {'+'.join((release, *options))}: {limit.option} {limit.why}"
                )
        return tuple(option for option in self.options if option in options)

    def build(self, release: str, *options: str) -> P:
        """The profile of a release with options, which may come in any order. Raises UnknownName
        for an unknown release or option, and UsageError for a combination that cannot be.
        """
        ordered = self.checked(release, options)
        profile = replace(self.bases[release], options=ordered)
        for option in ordered:
            profile = with_facts(profile, self.facts.get(option, {}))
        for pair in self.pairs:
            if pair.holds(release, ordered):
                profile = with_facts(profile, pair.facts)
        return profile


D = TypeVar("D")


def with_facts(record: D, facts: Facts) -> D:
    """The dataclass with other values of the fields that `facts` names. Where a field holds a
    dataclass itself, a mapping sets some of its fields.
    """
    values: dict[str, Any] = {}
    for name, value in facts.items():
        present_value = getattr(record, name)
        is_partial = is_dataclass(present_value) and isinstance(value, Mapping)
        values[name] = with_facts(present_value, value) if is_partial else value
    return replace(record, **values)  # type: ignore[type-var]
