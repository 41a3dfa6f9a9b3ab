"""The readers of the scoreboard, as data: release, jars, adapter, formats, and what each claims."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from conformance.brokers.jars import LOGGING, Bundle

JACKSON: Final = ("com.fasterxml.jackson.core", "jackson-databind", "2.18.2")
"""What the adapters write the protocol with, beside the reader's own (often relocated) copy."""


@dataclass(frozen=True, slots=True)
class Reader:
    """A reader at a release. `formats` maps each of our formats that it claims to its capabilities there.

    A Java reader has `bundle`, its jars, and `factory`, the class in `java/` that opens it; a Spark reader has `module`, a decoder
    module in `spark/` that tells its own capabilities. `source` is the address of its source at the release, `note` what the
    adapter had to choose.
    """

    name: str
    title: str
    release: str
    formats: Mapping[str, Mapping[str, tuple[str, ...]]]
    source: str
    note: str
    bundle: Bundle | None = None
    factory: str = ""
    module: str = ""
    options: tuple[str, ...] = field(default=())


def _jars(name: str, title: str, size: str, main: str, *modules: tuple[str, str, str], without: tuple[str, ...] = ()) -> Bundle:
    return Bundle(f"scoreboard-{name}", title, (*modules, JACKSON, LOGGING), main, size, without)


READERS: Final[tuple[Reader, ...]] = ()


def named(name: str) -> Reader:
    """The reader of that name. Raises UnknownName."""
    from generators.errors import UnknownName

    for reader in READERS:
        if reader.name == name:
            return reader
    raise UnknownName("reader", name, [reader.name for reader in READERS])
