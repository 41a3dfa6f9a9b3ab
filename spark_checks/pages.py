"""The generated pages of docs/, with the traps that the decoders of the self test fall into.

`python -m spark_checks.pages docs` writes them; names of formats behind it leave out what a change
of those cannot alter. Imports `liars`.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

from conformance.pages.pages import Trap
from conformance.pages.pages import pages as of_traps
from conformance.selftest.keeping import mistakes_of
from conformance.selftest.liars import table
from generators.recorded.registry import PRODUCTS
from generators.wire_format import FORMATS
from spark_checks.liars.liar import liars as in_spark


def traps(fmt: str) -> Iterator[Trap]:
    """The mistakes of the self test that a page of this format lists: those of its liars (decoders
    that are wrong on purpose) and of its wrong keepers of tables, each with the rule that it breaks
    and the reason. A mistake comes once, even if both tables of liars have it (those in
    conformance/selftest/liars and those in spark_checks/liars).
    """
    spark_traps = [Trap(liar.name, liar.convicts, liar.why) for liar in in_spark(fmt)]
    table_traps = [Trap(liar.name, liar.convicts, liar.why) for liar in table.liars(fmt)]
    yield from {(trap.name, trap.convicts): trap for trap in spark_traps + table_traps}.values()
    for mistake in mistakes_of(fmt):
        for rule in mistake.rules(fmt):
            yield Trap(mistake.name, f"{fmt}/stream/{rule}", mistake.why)


def pages(docs: Path, changed: Iterable[str] = FORMATS) -> dict[str, str]:
    """The text of each generated page, by the page's path below `docs`. `changed` are the formats
    that were changed: docs/recorded.md, which takes longer to make than all other pages together,
    is made only if one of them has messages recorded from a real product. The mistakes of recipes
    are read from the folder scoreboard/faults beside `docs`.
    """
    return of_traps(
        {fmt: tuple(traps(fmt)) for fmt in FORMATS},
        docs.resolve().parent / "scoreboard" / "faults",
        recorded=not PRODUCTS.keys().isdisjoint(changed),
    )


def main(directory: str, *changed: str) -> None:
    """Writes the generated pages below the directory: those of some formats, or all. Exits where an
    option stands for the directory.
    """
    if directory.startswith("-"):
        sys.exit("usage: python -m spark_checks.pages DIRECTORY [FORMAT...]")
    docs = Path(directory)
    for name, page in pages(docs, changed or FORMATS).items():
        path = docs / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(page, "utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
