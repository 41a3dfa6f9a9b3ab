"""Named cases on disk, made once for all processes of the same sources:
`cases/<sources>/<format>/<profile>` in the cache.

Beside them stand the schemas that messages in Confluent's framing name. `<sources>` digests
everything that makes cases. The newest GENERATIONS stay, each with a file for every listed profile
of the formats. A file is a digest and compressed data of `marshal`, which runs nothing when it is
read; a file of another user or of other content than its digest says is not read. Where nothing can
be written, every process makes its cases.
"""

from __future__ import annotations

import contextlib
import hashlib
import logging
import marshal
import os
import shutil
import sys
import time
import zoneinfo
from collections.abc import Callable, Iterable, Mapping
from dataclasses import fields
from datetime import date
from decimal import Decimal
from functools import cache
from importlib import metadata
from itertools import chain
from operator import attrgetter
from pathlib import Path
from types import NoneType
from typing import Any, Final

import cramjam
from cramjam import zstd

from conformance.files import cache_dir, put
from generators import model
from generators.errors import HarnessError
from generators.families import confluent
from generators.model import Case, Change, Message, Written
from generators.profiles import Profile
from generators.wire_format import FORMATS, Format, get

GENERATIONS: Final = 5
"""How many digests of sources keep their cases."""
PACKAGES: Final = ("cramjam", "faker", "fastavro", "hypothesis", "orjson", "tzdata")
"""Distributions that have a part in what is written."""
_UNREADABLE: Final = (
    *(ValueError, TypeError, IndexError, KeyError, ArithmeticError, EOFError, AttributeError),
    cramjam.DecompressionError,
)
"""What unpacking a file raises that another program wrote, or forged."""
_STARTED: Final = time.time() - 2
"""When this process imported the sources, less two seconds for file systems with coarse times."""


def cache_root() -> Path:
    """The folder of all generations; it may not exist."""
    return cache_dir() / "cases"


def read_cases(fmt: Format[Any], profile: Profile) -> tuple[Case, ...] | None:
    """The profile's named cases from the cache on disk; None if they are not there, or if the file
    is damaged or another user's.
    """
    path = _case_path(fmt, profile)
    with contextlib.suppress(OSError):
        if path is not None:
            with path.open("rb") as file:
                owner, seal, packed = os.fstat(file.fileno()).st_uid, file.read(32), file.read()
            if _is_trusted_owner(owner) and hashlib.sha256(packed).digest() == seal:
                with contextlib.suppress(*_UNREADABLE):
                    return _unpack_cases(packed)
            _warn_once(
                f"{path} does not have the content that its digest says: its cases are made again"
            )
    return None


def write_cases(fmt: Format[Any], profile: Profile, cases: tuple[Case, ...]) -> None:
    """Keeps the profile's named cases on disk, and drops the cases of old generations. Does nothing
    if the format or profile is not a registered one, or if the sources changed after this process
    started. Warns if the file cannot be written.
    """
    path = _case_path(fmt, profile)
    if path is None or not _imported_since_changed(_source_files()):
        return
    try:
        packed = _pack_cases(cases)
        put(path, lambda: (sealed(packed),), "the named cases")
    except HarnessError as error:
        _warn_once(f"{error} Until then every process makes them again.")
    _remove_old_generations()


def sealed(packed: bytes) -> bytes:
    """The content of a cache file: the SHA-256 digest of the packed cases, and then these."""
    return hashlib.sha256(packed).digest() + packed


def total_bytes() -> int:
    """The size in bytes of all cached case files together."""
    return sum(path.stat().st_size for path in cache_root().rglob("*.cases"))


def _case_path(fmt: Format[Any], profile: Profile) -> Path | None:
    """The file that caches a profile's named cases, those that are neither drawn at random nor
    recorded; None if the format or profile is not a registered one, or the sources changed after
    this process started.
    """
    registered = (
        fmt.name in FORMATS
        and fmt is get(fmt.name)
        and any(profile is listed for listed in fmt.profiles)
    )
    if not registered or (generation := _generation()) is None:
        return None
    return cache_root() / generation / fmt.name / f"{profile.name}.cases"


def _source_files() -> list[Path]:
    """The files whose content decides the named cases that are cached on disk: our own code and
    data, and the time zones of the system, which go before those of the package tzdata.
    """
    ours = (Path(model.__file__).parent, Path(__file__).parent)
    files = chain.from_iterable(folder.rglob("*") for folder in ours)
    code = sorted(path for path in files if path.suffix in (".py", ".json", ".toml"))
    # Recordings, which are in a wheel alone, make no named case: a checkout and its wheel share
    # theirs.
    code = [path for path in code if path.parent.parent != ours[0] / "recorded" / "data"]
    zones = (Path(folder, "tzdata.zi") for folder in zoneinfo.TZPATH)
    return [*code, *(path for path in zones if path.is_file())]


def _imported_since_changed(sources: list[Path]) -> bool:
    """Whether this process has imported the sources as they are now."""
    return max(path.stat().st_mtime for path in sources) < _STARTED


@cache
def _generation() -> str | None:
    """The name of the folder that caches cases made by today's sources: a digest of the source
    files, of Python's version and of the packages' versions. Marks the folder as used. None if the
    sources changed after this process started, since its cases would then be of other sources.
    """
    sources = _source_files()
    if not _imported_since_changed(sources):
        return None
    digest = hashlib.sha256(repr((sys.version, *map(metadata.version, PACKAGES))).encode())
    for path in sources:
        digest.update(f"{path.name} {path.stat().st_size}\n".encode() + path.read_bytes())
    name = digest.hexdigest()[:16]
    with contextlib.suppress(OSError):
        os.utime(cache_root() / name)
    return name


def _remove_old_generations() -> None:
    """Removes the cases that are cached on disk of all but the GENERATIONS digests that were used
    last; errors are passed over.
    """
    with contextlib.suppress(OSError):
        for old in sorted(cache_root().iterdir(), key=lambda folder: -folder.stat().st_mtime)[
            GENERATIONS:
        ]:
            shutil.rmtree(old, ignore_errors=True)


@cache
def _warn_once(warning: str) -> None:
    """Logs a warning, each text once in a process."""
    logging.getLogger(__name__).warning(warning)


def _is_trusted_owner(owner: int) -> bool:
    """Whether a file of this user id may be read: root's, or the user's own."""
    return owner == 0 or owner == os.getuid()


_LABELS: Final = (model.Kind, model.Op, model.State, model.Logical, model.Origin)
"""Enumerations, whose members are written as their value."""
_OF_CELLS: Final = (model.Cell, model.SourceType, model.ZeroDate, model.Json)
"""Dataclasses that a cell is made of."""
_OF_TABLES: Final = (model.Table, model.Column, model.Index, model.Default)
"""Dataclasses that a table is made of."""
_CLASSES: Final = (Case, Written, Message, Change, model.Deployment, *_OF_TABLES, *_OF_CELLS)
"""All dataclasses that a case is made of: they are written as their fields."""
_ATOMS: Final = frozenset((str, bytes, int, bool, float, NoneType))
"""Types of simple values, which are written as they are."""
_UNSHARED: Final = frozenset((Case, Written, Message, Change, dict, list))
"""Types whose equal values are written one by one, since they are told apart by identity or can be
changed; equal values of other types are written once.
"""
_PARTS: Final[Mapping[type, Callable[[Any], Iterable[Any]]]] = {
    tuple: iter,
    list: iter,
    frozenset: iter,
    dict: lambda value: chain.from_iterable(value.items()),
    Decimal: lambda value: (str(value),),
    date: lambda value: (value.year, value.month, value.day),
    **{kind: lambda value: (value.value,) for kind in _LABELS},
    **{kind: attrgetter(*(field.name for field in fields(kind))) for kind in _CLASSES},
}
"""The parts of which a value of each type is made, in order."""
_MAKERS: Final[tuple[Callable[..., Any], ...]] = (
    lambda *parts: parts,
    lambda *parts: list(parts),
    lambda *parts: frozenset(parts),
    lambda *parts: dict(zip(parts[::2], parts[1::2], strict=True)),
    *list(_PARTS)[4:],
)
"""The functions that make a value from its parts, in the order of `_PARTS`: on disk a type is its
number there.
"""
_NUMBERS: Final = {kind: number for number, kind in enumerate(_PARTS)}
"""The number of each type on disk."""


def _pack_cases(cases: tuple[Case, ...]) -> bytes:
    """Packs cases, with the schemas that their messages have in a registry, into bytes for
    `_unpack_cases`; a value that occurs often is written once. Raises HarnessError for a value of
    an unknown type.
    """
    atoms: list[Any] = []
    nodes: list[tuple[int, tuple[int, ...]]] = []
    numbers: dict[Any, int] = {}
    number_by_id: dict[int, int] = {}

    def assign_number(value: Any) -> int:
        """The number that stands for a value in the packed cases. Simple values (texts, numbers:
        _ATOMS) count down from -1. Values made of others count up from 0; each is written as the
        number of its type and the numbers of its parts. Equal values share a number, except those
        of the types _UNSHARED: of these only one and the same object does.
        """
        kind = type(value)
        if kind in _ATOMS:
            key: Any = (kind, repr(value) if kind is float else value)
            if key not in numbers:
                numbers[key] = ~len(atoms)
                atoms.append(value)
            return numbers[key]
        if (number_before := number_by_id.get(id(value))) is not None:
            return number_before
        if kind not in _NUMBERS:
            raise HarnessError(f"cannot write the named cases: they hold a {kind.__name__}.")
        key = (_NUMBERS[kind], tuple([assign_number(part) for part in _PARTS[kind](value)]))
        number = None if kind in _UNSHARED else numbers.get(key)
        if number is None:
            number = numbers[key] = len(nodes)
            nodes.append(key)
        number_by_id[id(value)] = number
        return number

    assign_number((cases, confluent.schemas_of_cases(cases)))
    # In the file all values are in one list, the simple ones first.
    first_node = len(atoms)
    renumbered = [
        (kind, tuple([part + first_node if part >= 0 else ~part for part in parts]))
        for kind, parts in nodes
    ]
    return bytes(zstd.compress(marshal.dumps((atoms, renumbered)), 3))


def _unpack_cases(packed: bytes) -> tuple[Case, ...]:
    """The cases that `_pack_cases` packed; registers their schemas. The file has the simple values,
    and the nodes: values made of earlier ones, each as the number of its type and the indices of
    its parts. The last node is the cases with their schemas. Raises one of _UNREADABLE if the bytes
    are of another form.
    """
    values, nodes = marshal.loads(zstd.decompress(packed))  # noqa: S302 - the digest and the owner are checked
    for kind, parts in nodes:
        values.append(_MAKERS[kind](*[values[index] for index in parts]))
    cases: tuple[Case, ...]
    cases, schemas = values[-1]
    if not all(isinstance(case, Case) for case in cases):
        raise TypeError("other values than cases")
    confluent.recall(schemas)
    return cases
