"""The readers of the scoreboard: a file of TOML for each product, what they are read as, and `named`, which looks one up.

A reader that is `of` another has all that it does not say itself of that one; of one that is `ignoring`, a second stands behind
it, with the option by which a job goes on behind a message that cannot be read. `@name@` in a text is a text of the file, or the
release; "@name" in a list is a list of the file or of `claims.toml`.
"""

from __future__ import annotations

import hashlib
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

from conformance.brokers.jars import LOGGING, Bundle
from generators.errors import UnknownName

__all__ = ["JACKSON", "READERS", "Reader", "named"]

JACKSON: Final = ("com.fasterxml.jackson.core", "jackson-databind", "2.18.2")
"""What the adapters write the protocol with, beside the reader's own (often relocated) copy."""


@dataclass(frozen=True, slots=True)
class Reader:
    """A reader at a release. `formats` maps each of our formats that it claims to its capabilities there.

    A Java reader has `bundle`, its jars, and `factory`, the class in `java/` that opens it; a Spark reader has `module`, a
    function in `spark/` whose module tells its capabilities. `built` says which class of the product reads and with which
    options, `source` is the address of the product's line that builds it so, `settings` are the options that the adapter passes
    on, and `note` is what it had to choose beside them.
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
    options: tuple[str, ...] = ()
    faults: str = ""

    @property
    def record(self) -> str:
        """The file of its proved faults; several readers may share one."""
        return self.faults or self.name


_FOLDER: Final = Path(__file__).parent
_PRODUCTS: Final = ("flink", "connect", "paimon", "seatunnel", "doris", "canal", "spark")


def _read(file: str) -> dict[str, Any]:
    return tomllib.loads((_FOLDER / f"{file}.toml").read_text("utf-8"))


def _of_product(product: str) -> Iterator[Reader]:
    document = _read(product)
    lists = _read("claims")["lists"] | document.get("lists", {})
    told: dict[str, dict[str, Any]] = {}
    for entry in document["reader"]:
        told[entry["name"]] = {**told.get(entry.get("of", ""), {}), **entry}
        reader = _reader(told[entry["name"]], document.get("texts", {}), lists)
        yield reader
        if entry.get("ignoring"):
            yield _ignoring(reader)


def _reader(told: Mapping[str, Any], texts: Mapping[str, str], lists: Mapping[str, Sequence[str]]) -> Reader:
    known = {**texts, "release": told["release"]}

    def text(value: str) -> str:
        return re.sub(r"@(\w+)@", lambda hit: known[hit[1]], value)

    def globs(values: Sequence[str]) -> tuple[str, ...]:
        return tuple(glob for one in values for glob in (globs(lists[one[1:]]) if one.startswith("@") else (one,)))

    jars = told.get("jars")
    return Reader(
        **{key: text(value) for key, value in told.items() if isinstance(value, str) and key != "of"},
        formats={name: {key: globs(some) for key, some in claims.items()} for name, claims in told["formats"].items()},
        bundle=jars and _bundle(**{**jars, "modules": map(text, jars["modules"])}),
        settings=told.get("settings", {}),
        options=tuple(told.get("options", ())),
    )


def _bundle(name: str, title: str, size: str, main: str, modules: Iterator[str], without: Sequence[str] = ()) -> Bundle:
    """The jars of a Java reader, with those that its adapter needs; others under another name in the cache."""
    every = (*((org, module, release) for org, module, release in (one.split(":") for one in modules)), JACKSON, LOGGING)
    digest = hashlib.sha256(repr((every, tuple(without))).encode()).hexdigest()[:8]
    return Bundle(f"scoreboard-{name}-{digest}", title, every, main, size, tuple(without))


def _ignoring(reader: Reader) -> Reader:
    option = "ignore-parse-errors"
    changes = {"name": f"{reader.name}-ignore", "title": f"{reader.title}, {option}", "built": f"{reader.built}; {option}=true"}
    return replace(reader, **changes, settings={**reader.settings, option: "true"})  # type: ignore[arg-type]


READERS: Final = tuple(reader for product in _PRODUCTS for reader in _of_product(product))


def named(name: str) -> Reader:
    """The reader of that name. Raises UnknownName."""
    for reader in READERS:
        if reader.name == name:
            return reader
    raise UnknownName("reader", name, [reader.name for reader in READERS])
