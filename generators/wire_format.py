"""What a wire format is: its writer, what its file says of it, and the registry that finds it by
name.
"""

from __future__ import annotations

import importlib
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import cache
from typing import Any, Final, Generic, Protocol, TypeVar

from generators.errors import UnknownName, UsageError
from generators.garbage.cell_faults import CELL_FAULTS, CellFault, unfit_cells
from generators.garbage.faults import FAULTS, Fault
from generators.garbage.wellformed import Oracle
from generators.model import (
    History,
    Kind,
    Layout,
    Logical,
    Op,
    Scenario,
    SourceType,
    Value,
    Written,
)
from generators.profile_tables import read_format
from generators.profiles import Choices, P, Profile

P_contra = TypeVar("P_contra", bound=Profile, contravariant=True)


class Writer(Protocol[P_contra]):
    """A format's writer: writes a history as a release with its options does."""

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
        """Whether the messages lose information about values of the type."""
        return type.logical in self.logicals


EACH_OPERATION: Final = "that operation"
"""What stands for the operation in a KindRow whose messages name it themselves, INSERT or UPDATE,
say.
"""


@dataclass(frozen=True, slots=True)
class KindRow:
    """A row of the format's table of messages: what stands in a message (`wire`), the kind and the
    operation of the row that a decoder returns for it, and a note. `op` is "" for what is no row
    change.
    """

    wire: str
    kind: str
    op: str = ""
    note: str = ""


@dataclass(frozen=True, slots=True)
class Members:
    """By field of a decoder's row: the names of the message's members that hold it, in the order in
    which a decoder looks for them; () if no member does. Where an image is a list of values, the
    names of its columns are in another member.
    """

    kind: tuple[str, ...] = ()
    op: tuple[str, ...] = ()
    database: tuple[str, ...] = ()
    schema: tuple[str, ...] = ()
    table: tuple[str, ...] = ()
    keys: tuple[str, ...] = ()
    sql: tuple[str, ...] = ()
    types: tuple[str, ...] = ()
    commit_time: tuple[str, ...] = ()
    position: tuple[str, ...] = ()
    schema_version: tuple[str, ...] = ()
    after: tuple[str, ...] = ()
    before: tuple[str, ...] = ()

    def names_of_field(self, field_name: str) -> tuple[str, ...]:
        """The names of the members in which that field of a decoder's row stands; () if no member
        holds it.
        """
        names: tuple[str, ...] = getattr(self, field_name, ())
        return names


@dataclass(frozen=True, slots=True)
class Codec:
    """How a value of a container that names its members by numbers, as protobuf does, is read and
    written: `read` gives its document in JSON's types, `write` the bytes of a document. `read`
    raises ValueError for another format's value.
    """

    read: Callable[[bytes], Any]
    write: Callable[[Any], bytes]


@dataclass(frozen=True, slots=True)
class Format(Generic[P]):
    """A wire format.

    `supports` says whether the writer can write a column type; `scenarios` are the named cases that
    only this format has (options, control messages, DDL types), for one profile and a database
    name; `choices` are the releases and options that it has, `members` where fields stand,
    `profiles` those that run unasked; `container` is json, avro, confluent, frames or protobuf.
    `faults` are the ways to spoil a whole value. `cell_faults` are the format's own cells that
    their column's type cannot hold, as a profile's messages can have them; `unfit` gives such cells
    for every logical type, but for those that `fits` names: `LOGICAL/WAY`
    (`generators.garbage.cell_faults.Way`) with the reason why a decoder may read them. `losses` is what
    a profile's messages do not hold of values that the source has. `schemas` are the published
    schemas of a binary container, one for each edition that a decoder cannot tell from another: a
    value is one record of theirs, whole. `oracle` says what is left of a spoiled value, where
    neither JSON nor a published schema does. `codec` reads a value of the container protobuf.
    """

    name: str
    title: str
    source: str
    profiles: tuple[P, ...]
    write: Writer[P]
    kinds: tuple[KindRow, ...]
    position: str
    scenarios: Callable[[P, str], Iterable[Scenario]]
    choices: Choices[P]
    members: Members = Members()
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
    codec: Codec | None = None

    def unfit_cells(self, profile: P) -> tuple[CellFault, ...]:
        """Every way in which a cell of the profile's messages can hold what its type cannot; the
        format's own come first and replace general ones of the same name.
        """
        faults_by_name = {fault.name: fault for fault in self.cell_faults(profile)}
        return (
            *faults_by_name.values(),
            *(
                fault
                for fault in self.unfit(profile, self.fits)
                if fault.name not in faults_by_name
            ),
        )

    def profile(self, name: str) -> P:
        """The profile of that name, `release[+option...]`: one of `profiles`, or one that is made
        of the format's choices.

        Raises UnknownName, or UsageError for options that do not go together.
        """
        for profile in self.profiles:
            if profile.name == name:
                return profile
        release, *options = name.split("+")
        if release not in self.choices.releases:
            raise UnknownName("profile", name, [p.name for p in self.profiles], of=self.name)
        return self.choices.build(release, *options)

    def build(self, release: str, *options: str) -> P:
        """The profile of a release with options. Raises UnknownName for an unknown one, and
        UsageError for a combination that cannot be.
        """
        return self.choices.build(release, *options)


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
    "ticdc-debezium-avro",
    "aws-dms-json",
    "alibaba-canal-protobuf",
    "debezium-mongodb-json",
    "debezium-mongodb-avro",
    "flink-canal-json",
    "flink-debezium-json",
    "flink-maxwell-json",
    "flink-ogg-json",
    "flinkcdc-canal-json",
    "flinkcdc-debezium-json",
    "seatunnel-canal-json",
)
"""The registry: a format is the module of the same name (`-` as `_`) here and in
spark_checks/decoders, and the TOML files of its name beside the module, in conformance/rules, in
conformance/selftest/lies and in spark_checks/liars.
"""


def about(name: str, choices: Choices[P]) -> dict[str, Any]:
    """What the file of the format `name` says of it, as arguments of `Format`: texts, kinds of
    messages, members, and the profiles that run unless others are asked for. Raises UsageError for
    a wrong file.
    """
    format_entry = read_format(name)
    kinds = tuple(read_kind(name, number, row) for number, row in enumerate(format_entry["kinds"]))
    profiles = tuple(read_profile(name, profile, choices) for profile in format_entry["profiles"])
    texts = {key: format_entry[key] for key in ("title", "source", "position")}
    return {
        "name": name,
        "kinds": kinds,
        "profiles": profiles,
        "choices": choices,
        "members": read_members(name, format_entry.get("members", {})),
        **texts,
    }


def read_kind(name: str, number: int, row: Sequence[str]) -> KindRow:
    """Row `number` of the table of kinds in a format's file: what stands in the message, its kind,
    the operation of a row change, and a note. Raises UsageError for a wrong row.
    """
    place = f"generators/formats/{name}.toml: kinds[{number}]"
    if not isinstance(row, list) or not 2 <= len(row) <= len(fields(KindRow)):
        columns = ", ".join(column.name for column in fields(KindRow))
        raise UsageError(f"{place} = {row!r}: expected [{columns}], of which two are needed")
    kind_row = KindRow(*row)
    for kind in re.split(", | or ", kind_row.kind):
        if kind not in Kind.__members__:
            raise UsageError(f"{place}: {UnknownName('kind', kind, Kind.__members__)}")
    operations = (*Op.__members__, EACH_OPERATION)
    if kind_row.op and kind_row.op not in operations:
        raise UsageError(f"{place}: {UnknownName('operation', kind_row.op, operations)}")
    return kind_row


def read_profile(name: str, profile: str, choices: Choices[P]) -> P:
    """The profile of that name, which a format's file lists among those that run unless others are
    asked for. Raises UsageError, which names the file, if the format's choices do not give it.
    """
    try:
        return choices.build(*profile.split("+"))
    except UsageError as error:
        raise UsageError(
            f"generators/formats/{name}.toml: profiles: {profile!r}: {error}"
        ) from error


def read_members(name: str, table: Mapping[str, Sequence[str]]) -> Members:
    """The names of a message's members by field of a decoder's row, from the table in a format's
    file. Raises UsageError for a field that no decoder's row has, and for a value that is no list
    of names.
    """
    legal = [member.name for member in fields(Members)]
    for key, names in table.items():
        place = f"generators/formats/{name}.toml: members.{key}"
        if key not in legal:
            raise UsageError(f"{place}: {UnknownName('field', key, legal)}")
        if not isinstance(names, list) or not all(isinstance(one, str) and one for one in names):
            raise UsageError(f"{place} is a list of members' names, not {names!r}")
    return Members(**{key: tuple(names) for key, names in table.items()})


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
    """The formats of these names; without names all formats, in the order of the registry."""
    for name in names or FORMATS:
        yield get(name)
