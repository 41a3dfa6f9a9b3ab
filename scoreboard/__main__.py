"""`python -m scoreboard [READER...]`: builds and judges readers, and writes the page."""

from __future__ import annotations

import sys
import time

import click

from generators.errors import HarnessError
from scoreboard import board, judging, page, readers


@click.command(help="Builds and judges READERs (all of them without an argument), and writes docs/scoreboard.md and .html.")
@click.argument("names", metavar="[READER]...", nargs=-1)
@click.option("--format", "formats", multiple=True, metavar="FORMAT", help="Only this format; repeatable.")
@click.option("--page-only", is_flag=True, help="Writes the page of the results that are there.")
@click.option("--list", "listing", is_flag=True, help="Prints the readers and their formats.")
def main(names: tuple[str, ...], formats: tuple[str, ...], page_only: bool, listing: bool) -> None:
    """Judges readers. Exit code 1 if a fault on record is no longer shown, 3 if a reader could not be judged."""
    chosen = [readers.named(name) for name in names] or list(readers.READERS)
    if listing:
        for reader in chosen:
            click.echo(f"{reader.name:28} {reader.release:10} {', '.join(reader.formats)}")
        return
    broken = []
    for reader in () if page_only else chosen:
        wanted = [fmt for fmt in reader.formats if not formats or fmt in formats]
        began = time.monotonic()
        try:
            judging.save(judging.judge(reader, _note, formats=wanted))
        except HarnessError as error:
            broken.append(reader.name)
            _note(f"{reader.name}: not judged: {error}")
        _note(f"{reader.name}: {time.monotonic() - began:.0f} s")
    for path in page.write():
        _note(f"wrote {path.name}")
    for one in board.board():
        click.echo(f"{one.reader.name:28} {one.format:22} {page.cell(one)}")
    lost = board.unproved()
    for name in lost:
        click.echo(f"on record, but not shown: {name}", err=True)
    sys.exit(3 if broken else 1 if lost else 0)


def _note(text: str) -> None:
    click.echo(text, err=True)


if __name__ == "__main__":
    try:
        main()
    except HarnessError as error:
        click.echo(f"scoreboard: {error}", err=True)
        sys.exit(2)
