"""A reader of the scoreboard, as data: release, jars, adapter, formats, and what it claims there."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from conformance.brokers.jars import LOGGING, Bundle

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


def jars(name: str, title: str, size: str, main: str, *modules: tuple[str, str, str], without: tuple[str, ...] = ()) -> Bundle:
    """The jars of a Java reader, with those that its adapter needs; others under another name in the cache."""
    every = (*modules, JACKSON, LOGGING)
    digest = hashlib.sha256(repr((every, without)).encode()).hexdigest()[:8]
    return Bundle(f"scoreboard-{name}-{digest}", title, every, main, size, without)
