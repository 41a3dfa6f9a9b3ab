"""A reader of the scoreboard, as data: release, jars, adapter, formats, and what it claims there."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from conformance.brokers.jars import LOGGING, Bundle

JACKSON: Final = ("com.fasterxml.jackson.core", "jackson-databind", "2.18.2")
"""What the adapters write the protocol with, beside the reader's own (often relocated) copy."""


@dataclass(frozen=True, slots=True)
class Reader:
    """A reader at a release. `formats` maps each of our formats that it claims to its capabilities there.

    A Java reader has `bundle`, its jars, and `factory`, the class in `java/` that opens it; a Spark reader has `module`, a
    function in `spark/` whose module tells its capabilities. `source` is the address of its source at the release, `note` what
    the adapter had to choose.
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
    options: tuple[str, ...] = ()
    faults: str = ""

    @property
    def record(self) -> str:
        """The file of its proved faults; several readers may share one."""
        return self.faults or self.name


def jars(name: str, title: str, size: str, main: str, *modules: tuple[str, str, str], without: tuple[str, ...] = ()) -> Bundle:
    """The jars of a Java reader, with those that its adapter needs; others under another name in the cache."""
    every = (*modules, JACKSON, LOGGING)
    digest = hashlib.sha256(repr((every, without)).encode()).hexdigest()[:8]
    return Bundle(f"scoreboard-{name}-{digest}", title, every, main, size, without)
