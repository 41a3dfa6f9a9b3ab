"""The readers of the scoreboard: a file of TOML for each product, what they are read as, and
`find_reader`, which looks one up.

A reader that is `of` another has all that it does not say itself of that one; of one that is
`ignoring`, a second stands behind it, with the option by which a job goes on behind a message that
cannot be read. `@name@` in a text is a text of the file, or the release; "@name" in a list is a
list of the file or of `claims.toml`.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any, Final

from conformance.brokers.jars import LOGGING, Bundle
from conformance.judging.capabilities import Capabilities
from conformance.rules.tables import (
    TableFile,
    check_fields,
    check_name,
    naming_place,
    read_package_toml,
)
from generators.errors import UnknownName
from generators.wire_format import FORMATS

__all__ = ["JACKSON", "READERS", "Reader", "find_reader", "of_product"]

JACKSON: Final = ("com.fasterxml.jackson.core", "jackson-databind", "2.18.2")
"""What the adapters write the protocol with, beside the reader's own (often relocated) copy."""


@dataclass(frozen=True, slots=True)
class Reader:
    """A reader at a release. `formats` maps each of our formats that it claims to its capabilities
    there.

    A Java reader has `bundle`, its jars, and `factory`, the class in `java/` that opens it; a Spark
    reader has `module`, a function in `spark/` whose module tells its capabilities, and `wheels`,
    the lines of pip's requirements, with digests, of the packages that it calls. `built` says
    which class of the product reads and with which options, `source` is the address of the
    product's line that builds it so, `settings` are the options that the adapter passes on, and
    `note` is what it had to choose beside them. `without_option` names the same reader without the
    option by which a job goes on behind a message that cannot be read; "" if it has no such option.
    """

    name: str
    title: str
    release: str
    formats: Mapping[str, Mapping[str, tuple[str, ...]]]
    built: str
    source: str
    note: str
    bundle: Bundle | None = None
    factory: str = ""
    settings: Mapping[str, str] = field(default_factory=dict)
    module: str = ""
    wheels: tuple[str, ...] = ()
    options: tuple[str, ...] = ()
    faults: str = ""
    without_option: str = ""

    @property
    def record(self) -> str:
        """The file of its proved faults; several readers may share one."""
        return self.faults or self.name


_PRODUCTS: Final = (
    *(
        "flink",
        "flinkcdc",
        "connect",
        "paimon",
        "seatunnel",
        "doris",
        "canal",
        "kafka2delta",
        "spark",
    ),
)
"""The files of readers, one a product, in the order of the board."""


_FIELDS: Final = {
    **{
        member.name: str
        for member in fields(Reader)
        if member.name not in ("bundle", "wheels", "options", "without_option")
    },
    **dict.fromkeys(("formats", "settings", "jars"), dict),
    **dict.fromkeys(("wheels", "options"), list),
    "of": str,
    "ignoring": bool,
}
"""The fields that a file may give a reader."""
_NEEDED: Final = ("name", "title", "release", "formats", "built", "source", "note")
"""The fields that a reader must have."""
_JARS: Final = {
    **dict.fromkeys(("name", "title", "size", "main"), str),
    **dict.fromkeys(("modules", "without"), list),
}
"""The fields of a Java reader's jars."""
_CLAIMS: Final = {member.name: list for member in fields(Capabilities)}
"""The fields of what a reader claims of a format."""


def of_product(file: TableFile, shared: Mapping[str, Sequence[str]]) -> Iterator[Reader]:
    """The readers that a product's file describes, in its order; a reader with `ignoring` is
    followed by itself with that option set. `shared` are lists that the file may name beside its
    own. Raises UsageError with file and line.
    """
    named_lists = {**shared, **file.data.get("lists", {})}
    entries: dict[str, dict[str, Any]] = {}
    for place, name, entry in file.entries("reader"):
        with naming_place(f"{place}: {name}"):
            base_reader = entry.get("of", "")
            entries[name] = {
                **entries.get(check_name(base_reader, "reader", ("", *entries)), {}),
                **entry,
            }
            check_fields(entries[name], _FIELDS, _NEEDED, empty=("faults", "source", "note"))
            for format_, claims in entries[name]["formats"].items():
                check_name(format_, "format", FORMATS)
                check_fields(claims, _CLAIMS)
            if "jars" in entries[name]:
                check_fields(
                    entries[name]["jars"], _JARS, ("name", "title", "size", "main", "modules")
                )
            reader = _make_reader(entries[name], file.data.get("texts", {}), named_lists)
        yield reader
        if entry.get("ignoring"):
            yield _ignoring_parse_errors(reader)


def _make_reader(
    entry: Mapping[str, Any], texts: Mapping[str, str], lists: Mapping[str, Sequence[str]]
) -> Reader:
    """Makes a reader from its checked entry: `@NAME@` in texts is replaced from `texts` and the
    release, `@NAME` in lists of claims by the globs in `lists`. Raises UsageError for an unknown
    name.
    """
    replacements = {**texts, "release": entry["release"]}

    def replace_names(value: str) -> str:
        """Replaces each `@NAME@` in a text of the entry. Raises UsageError for another name."""
        return re.sub(
            r"@(\w+)@", lambda hit: replacements[check_name(hit[1], "text", replacements)], value
        )

    def globs(values: Sequence[str]) -> tuple[str, ...]:
        """The globs of a claim; `@NAME` gives those of the named list, which may name others."""
        expanded: list[str] = []
        for value in values:
            if value.startswith("@"):
                expanded += globs(lists[check_name(value[1:], "list", lists)])
            else:
                expanded.append(value)
        return tuple(expanded)

    jars = entry.get("jars")
    return Reader(
        **{
            key: replace_names(value)
            for key, value in entry.items()
            if isinstance(value, str) and key != "of"
        },
        formats={
            name: {key: globs(globs_of_claim) for key, globs_of_claim in claims.items()}
            for name, claims in entry["formats"].items()
        },
        bundle=jars and _bundle(**{**jars, "modules": map(replace_names, jars["modules"])}),
        settings=entry.get("settings", {}),
        wheels=tuple(map(replace_names, entry.get("wheels", ()))),
        options=tuple(entry.get("options", ())),
    )


def _bundle(
    name: str, title: str, size: str, main: str, modules: Iterator[str], without: Sequence[str] = ()
) -> Bundle:
    """The jars that a Java reader and its adapter need, as a bundle to download. Its name in the
    cache holds a digest of them, so that other jars get another folder.
    """
    all_modules = (
        *(
            (org, module, release)
            for org, module, release in (place.split(":") for place in modules)
        ),
        JACKSON,
        LOGGING,
    )
    digest = hashlib.sha256(repr((all_modules, tuple(without))).encode()).hexdigest()[:8]
    return Bundle(
        f"scoreboard-{name}-{digest}",
        title,
        all_modules,
        main=main,
        download=size,
        without=tuple(without),
    )


def _ignoring_parse_errors(reader: Reader) -> Reader:
    """The same reader with the option `ignore-parse-errors` set, under a name of its own, so that
    the board shows both.
    """
    option = "ignore-parse-errors"
    changes = {
        "name": f"{reader.name}-ignore",
        "title": f"{reader.title}, {option}",
        "built": f"{reader.built}; {option}=true",
        "without_option": reader.name,
    }
    settings = {**reader.settings, option: "true"}
    return replace(reader, **changes, settings=settings)  # type: ignore[arg-type]


_PARTS: Final = {"texts": dict, "lists": dict, "reader": list}
"""The tables of a product's file."""
_SHARED: Final = TableFile(*read_package_toml(__name__, "claims"), _PARTS).data["lists"]
"""The lists that every product's file may name, from claims.toml."""
READERS: Final = tuple(
    reader
    for product in _PRODUCTS
    for reader in of_product(TableFile(*read_package_toml(__name__, product), _PARTS), _SHARED)
)


def find_reader(name: str) -> Reader:
    """The reader (a product's decoder that the scoreboard judges) of that name. Raises UnknownName."""
    for reader in READERS:
        if reader.name == name:
            return reader
    raise UnknownName("reader", name, [reader.name for reader in READERS])
