"""The generated pages of docs/, with the traps that the decoders of the self test fall into.

`python -m spark_checks.pages docs` writes them. Imports `liars`.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

from conformance.pages.pages import Trap
from conformance.pages.pages import pages as of_traps
from conformance.selftest.keeping import mistakes_of
from conformance.selftest.liars import table
from generators.wire_format import FORMATS
from spark_checks.liars.liar import liars as in_spark


def traps(fmt: str) -> Iterator[Trap]:
    """What the decoders and the keepers of tables that are wrong on purpose do, in a format."""
    own = (Trap(liar.name, liar.convicts, liar.why) for liar in in_spark(fmt))
    traps = (Trap(liar.name, liar.convicts, liar.why) for liar in table.liars(fmt))
    yield from {(trap.name, trap.convicts): trap for trap in (*own, *traps)}.values()
    for mistake in mistakes_of(fmt):
        for rule in mistake.rules(fmt):
            yield Trap(mistake.name, f"{fmt}/stream/{rule}", mistake.why)


def pages() -> dict[str, str]:
    """Every generated page by its name below docs/."""
    return of_traps({fmt: tuple(traps(fmt)) for fmt in FORMATS})


def main(directory: str) -> None:
    """Writes every page below the directory."""
    for name, text in pages().items():
        path = Path(directory, name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")


if __name__ == "__main__":
    main(sys.argv[1])
