"""What a wire format is: its profiles, its writer, and the registry that finds it by name."""

from __future__ import annotations

import importlib
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cache
from importlib import resources
from typing import Any, Final, Generic, Protocol, TypeVar

from generators.errors import UnknownName, UsageError
from generators.garbage.faults import CELL_FAULTS, FAULTS, CellFault, Fault, unfit_cells
from generators.garbage.wellformed import Oracle
from generators.model import (
    Deployment,
    History,
    Layout,
    Logical,
    Scenario,
    SourceType,
    Value,
    Written,
)
from generators.sources.boundaries import neutral


@dataclass(frozen=True, slots=True)
class Profile:
    """One exact release of a writer with its options. Formats subclass it with the facts that
    differ.

    `name` is `release[+option...]` in the format's fixed option order; `assumed` says which value
    forms have no outside literal (provenance ASSUMED in the report); `source` is the database that
    the writer reads (generators.sources.registry).
    """

    release: str
    options: tuple[str, ...] = ()
    deployment: Deployment = Deployment()
    assumed: str = ""
    source: str = "mysql"

    @property
    def name(self) -> str:
        """`v7.1.6+extension`."""
        return "+".join((self.release, *self.options))

    @property
    def database(self) -> str:
        """A database name unique to this profile, so that cases of several profiles can share a
        decode call.
        """
        return neutral(self.name, "d")


P = TypeVar("P", bound=Profile)


@dataclass(frozen=True, slots=True)
class Limit:
    """What an option cannot be combined with: it needs one of `releases`, every one of `needs` and
    none of `without`; () is no condition. `why` completes a sentence that begins with the option.
    """

    option: str
    why: str
    releases: tuple[str, ...] = ()
    needs: tuple[str, ...] = ()
    without: tuple[str, ...] = ()

    def broken(self, release: str, options: Sequence[str]) -> bool:
        """Whether no writer has this combination."""
        return self.option in options and (
            bool(self.releases and release not in self.releases)
            or not set(self.needs) <= set(options)
            or not set(self.without).isdisjoint(options)
        )


@dataclass(frozen=True, slots=True)
class Choices:
    """What the profiles of a format are made of: a release, and options, each of which may be given
    once.

    `options` says what each option means, in the order of a profile's name; of each of `exclusive`
    at most one may be given. `facts` are those of a profile that an option sets, of a deployment
    some of its fields; a later option's win.
    """

    of: str
    releases: tuple[str, ...]
    options: Mapping[str, str] = field(hash=False)
    exclusive: tuple[tuple[str, ...], ...] = ()
    limits: tuple[Limit, ...] = ()
    facts: Mapping[str, Mapping[str, Any]] = field(default_factory=dict, hash=False)

    def checked(self, release: str, options: Sequence[str]) -> tuple[str, ...]:
        """The options in the order of a name. Raises UnknownName, or UsageError that says why a
        combination cannot be.
        """
        if release not in self.releases:
            raise UnknownName("release", release, self.releases, of=self.of)
        for option in options:
            if option not in self.options:
                raise UnknownName("option", option, self.options, of=self.of)
        if len(set(options)) < len(options):
            raise UsageError(f"options {', '.join(options)} of {self.of}: each may be given once")
        for group in self.exclusive:
            if len(given := [option for option in group if option in options]) > 1:
                raise UsageError(f"options {' and '.join(given)} of {self.of} exclude each other")
        for limit in self.limits:
            if limit.broken(release, options):
                raise UsageError(
                    f"{self.of} {'+'.join((release, *options))}: {limit.option} {limit.why}"
                )
        return tuple(option for option in self.options if option in options)

    def made(self, bases: Mapping[str, P], release: str, *options: str) -> P:
        """A profile of the release's, with options: each sets the fact of its name, if there is
        one, which `without-` clears, and its `facts`. Raises as `checked` does.
        """
        made = replace(bases[release], options=self.checked(release, options))
        names = {field.name for field in fields(made)}
        flags = {
            option.removeprefix("without-").replace("-", "_"): not option.startswith("without-")
            for option in made.options
        }
        changes: list[Mapping[str, Any]] = [
            {name: fact for name, fact in flags.items() if name in names}
        ]
        changes += [facts for option, facts in self.facts.items() if option in made.options]
        for facts in changes:
            parts = {
                name: replace(getattr(made, name), **fact)
                for name, fact in facts.items()
                if isinstance(fact, Mapping)
            }
            made = replace(made, **{**facts, **parts})
        return made


P_contra = TypeVar("P_contra", bound=Profile, contravariant=True)


class Writer(Protocol[P_contra]):
    """Writes the messages of a release."""

    def __call__(self, history: History, profile: P_contra, layout: Layout) -> list[Written]:
        """Every message of the history in the order of publication, each with its expectation."""
        ...


@dataclass(frozen=True, slots=True)
class Loss:
    """Information that a profile's messages lose, for every decoder.

    `logicals` are the affected logical types, `left` gives the remaining value of a type and a
    value; `left` None says that rows cannot be rebuilt from changes. `citation` is a fact of the
    catalogue of sources, `page#fact`.
    """

    logicals: tuple[Logical, ...]
    statement: str
    citation: str
    left: Callable[[SourceType, Value], Value] | None = None

    def covers(self, type: SourceType) -> bool:
        """Whether values of the type are affected."""
        return type.logical in self.logicals


@dataclass(frozen=True, slots=True)
class KindRow:
    """A row of the format's table from wire message to kind and op."""

    wire: str
    kind: str
    op: str = ""
    note: str = ""


@dataclass(frozen=True, slots=True)
class Format(Generic[P]):
    """A wire format.

    `supports` says whether the writer can write a column type; `scenarios` are the named cases that
    only this format has (options, control messages, DDL types), for one profile and a database
    name; `choices` are the releases and options that `build` makes a profile of, `profiles` those
    that run unasked; `container` is json, avro, confluent or frames; `faults` are the ways to spoil
    a whole value, `cell_faults` unfit cells of its own that a profile's messages can have, `unfit`
    those of every kind of types in every way, told what fits in it (`fits`: `LOGICAL/WAY`, and
    why); `losses` is what a profile's messages do not hold of values that the source has. `schemas`
    are the published schemas of a binary container, one for each edition that a decoder cannot tell
    from another: a value is one record of theirs, whole. `oracle` says what is left of a spoiled
    value, where neither JSON nor a published schema does.
    """

    name: str
    title: str
    source: str
    profiles: tuple[P, ...]
    write: Writer[P]
    kinds: tuple[KindRow, ...]
    position: str
    scenarios: Callable[[P, str], Iterable[Scenario]]
    choices: Choices
    build: Callable[..., P]
    supports: Callable[[SourceType], bool] = lambda _type: True
    container: str = "json"
    faults: tuple[Fault, ...] = FAULTS
    cell_faults: Callable[[P], Iterable[CellFault]] = lambda _profile: CELL_FAULTS
    fits: Mapping[str, str] = field(default_factory=dict, hash=False)
    unfit: Callable[[P, Mapping[str, str]], Iterable[CellFault]] = lambda profile, fits: (
        unfit_cells(profile.source, fits)
    )
    losses: Callable[[P], tuple[Loss, ...]] = lambda _profile: ()
    schemas: Callable[[P], tuple[Any, ...]] = lambda _profile: ()
    oracle: Oracle | None = None

    def unfit_cells(self, profile: P) -> tuple[CellFault, ...]:
        """Every unfit cell that the profile's messages can have."""
        own = {fault.name: fault for fault in self.cell_faults(profile)}
        return (
            *own.values(),
            *(fault for fault in self.unfit(profile, self.fits) if fault.name not in own),
        )

    def profile(self, name: str) -> P:
        """The profile of that name, `release[+option...]`: a listed one, or one that is made of the
        format's choices.

        Raises UnknownName, or UsageError for options that do not go together.
        """
        for profile in self.profiles:
            if profile.name == name:
                return profile
        release, *options = name.split("+")
        if release not in self.choices.releases:
            raise UnknownName("profile", name, [p.name for p in self.profiles], of=self.name)
        return self.build(release, *options)


FORMATS: tuple[str, ...] = (
    "ticdc-canal-json",
    "alibaba-canal-json",
    "cloudcanal-json",
    "cloudcanal-canal-json",
    "cloudcanal-debezium",
    "aliyun-dts-avro",
    "ticdc-simple-json",
    "ticdc-simple-avro",
    "tencent-dts-json",
    "huawei-cdl-json",
    "huawei-cdl-debezium",
    "debezium-json",
    "maxwell-json",
    "ogg-json",
    "canal-dialects-json",
    "ticdc-debezium-json",
    "ticdc-open-protocol",
    "debezium-avro",
    "ticdc-avro",
)
"""The registry: a format is the module of the same name (`-` as `_`) here and in
spark_checks/decoders, and the TOML files of its name beside the module, in conformance/rules, in
conformance/selftest/lies and in spark_checks/liars.
"""

_FILE: Final = "generators/formats/{}.toml"
_KEYS: Final = frozenset({"title", "source", "position", "profiles", "kinds", "options"})


@cache
def _table(name: str) -> dict[str, Any]:
    # Executors import the package from a zip.
    text = resources.files("generators.formats").joinpath(f"{name}.toml").read_text("utf-8")
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise UsageError(f"{_FILE.format(name)}: {error}") from error


def _own(name: str) -> dict[str, Any]:
    own = {"options": {}, **_table(name)}
    if wrong := own.keys() ^ _KEYS:
        keys = ", ".join(sorted(_KEYS))
        raise UsageError(
            f"{_FILE.format(name)}: unknown or missing: {', '.join(sorted(wrong))}. A format's file"
            f" has {keys}."
        )
    return own


def about(name: str, choices: Choices, build: Callable[..., P]) -> dict[str, Any]:
    """What a format's file says of it, and its profiles that run unasked, as members of its
    `Format`.

    Raises UsageError for a wrong file, and as `build` does.
    """
    own = _own(name)
    kinds = tuple(KindRow(*row) for row in own["kinds"])
    profiles = tuple(build(*profile.split("+")) for profile in own["profiles"])
    texts = {key: own[key] for key in ("title", "source", "position")}
    return {
        "name": name,
        "kinds": kinds,
        "profiles": profiles,
        "choices": choices,
        "build": build,
        **texts,
    }


def meanings(name: str) -> dict[str, str]:
    """What each option means, in the order of a profile's name: the text of the file, for an empty
    one that of shared.toml.

    Raises UsageError for a wrong file.
    """
    texts: dict[str, str] = {
        option: text or _table("shared").get(option, "")
        for option, text in _own(name)["options"].items()
    }
    if silent := [option for option, text in texts.items() if not text]:
        raise UsageError(
            f"{_FILE.format(name)}: options without a text, here and in shared.toml:"
            f" {', '.join(silent)}"
        )
    return texts


def module_name(name: str) -> str:
    """The Python module name of a format."""
    return name.replace("-", "_")


@cache
def get(name: str) -> Format[Any]:
    """The format of that name. Raises UnknownName with the nearest match."""
    if name not in FORMATS:
        raise UnknownName("format", name, FORMATS)
    fmt = importlib.import_module(f"generators.formats.{module_name(name)}").FORMAT
    assert isinstance(fmt, Format)
    return fmt


def formats(names: Sequence[str] = ()) -> Iterator[Format[Any]]:
    """The named formats, or all of them in registry order."""
    for name in names or FORMATS:
        yield get(name)
