"""`python -m scoreboard [READER...]`: builds and judges readers, and writes the pages."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Collection, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor

import click

from conformance.brokers.jars import jars_of
from generators.errors import HarnessError, UnknownName
from scoreboard import board, judging, page, readers, reproducing
from scoreboard.record import Fault

LOST, BROKEN, STALE, UNEXPLAINED = 1, 3, 4, 5
"""Exit codes: a fault on record is no longer shown; a reader could not be judged; results are
stale; a failure is unexplained.
"""


@click.command(
    help=(
        "Builds and judges READERs (all of them without an argument), and writes docs/scoreboard.*."
    )
)
@click.argument("names", metavar="[READER]...", nargs=-1)
@click.option(
    "--format", "formats", multiple=True, metavar="FORMAT", help="Only this format; repeatable."
)
@click.option("--stale", is_flag=True, help="Judges only what is stale.")
@click.option(
    "--check",
    is_flag=True,
    help="Judges nothing: says which results are stale. Exit code 4 if there are any.",
)
@click.option("--page-only", is_flag=True, help="Writes the pages of the results that are there.")
@click.option(
    "--reproduce",
    is_flag=True,
    help="Runs the programs of the named records or record/fault; all without a name.",
)
@click.option(
    "--releases",
    is_flag=True,
    help="Runs the programs on earlier and later releases, too, and keeps what they show.",
)
@click.option("--list", "listing", is_flag=True, help="Prints the readers and their formats.")
def main(
    names: tuple[str, ...],
    formats: tuple[str, ...],
    stale: bool,
    check: bool,
    page_only: bool,
    reproduce: bool,
    releases: bool,
    listing: bool,
) -> None:
    """Exit code 1: a fault on record is no longer shown; 3: a reader could not be judged; 4:
    results are stale (--check); 5: a failure against a MUST is on no record.
    """
    if reproduce or releases:
        sys.exit(_reproduce(names, keep=releases))
    selected = [readers.find_reader(name) for name in names] or list(readers.READERS)
    if listing:
        for reader in selected:
            click.echo(f"{reader.name:28} {reader.release:10} {', '.join(reader.formats)}")
        return
    old = judging.stale() if check or stale or page_only else {}
    if check:
        for name, format_names in old.items():
            click.echo(f"stale: {name}: {', '.join(format_names)}")
        sys.exit(STALE if old else 0)
    broken = False
    for reader in () if page_only else selected:
        requested_formats = [fmt for fmt in reader.formats if not formats or fmt in formats]
        formats_to_judge = [
            fmt for fmt in requested_formats if not stale or fmt in old.get(reader.name, ())
        ]
        if not formats_to_judge:
            continue
        began = time.monotonic()
        try:
            for fmt in formats_to_judge:  # What is judged is kept, if the others are stopped.
                judging.save(judging.judge(reader, _print_note, formats=[fmt]))
        except HarnessError as error:
            broken = True
            _print_note(f"{reader.name}: not judged: {error}")
        _print_note(f"{reader.name}: {time.monotonic() - began:.0f} s")
    (board.STALE).write_text(json.dumps(judging.stale(), indent=1) + "\n", "utf-8")
    for path in page.write():
        _print_note(f"wrote {path.name}")
    lost, unexplained = board.unproved(), 0
    for result in board.board():
        click.echo(f"{result.reader.name:28} {result.format:22} {page.cell(result)}")
        unexplained += result.unexplained
    for name in lost:
        click.echo(f"on record, but not shown: {name}", err=True)
    if broken:
        sys.exit(BROKEN)
    if lost:
        sys.exit(LOST)
    sys.exit(UNEXPLAINED if unexplained else 0)


def _select_faults(
    product: str, faults: Iterable[Fault], names: Collection[str]
) -> tuple[Fault, ...]:
    """The faults (named failures) of a product, among `faults`, that the command line
    selects: all if it names the product, else those named PRODUCT/FAULT.
    """
    return tuple(fault for fault in faults if product in names or f"{product}/{fault.id}" in names)


def _reproduce(names: tuple[str, ...], *, keep: bool) -> int:
    """Runs the programs that show faults, of the products or PRODUCT/FAULT that `names` has, all
    without a name; with `keep` on all releases of each product, and records on which they show it.
    Returns the exit code: LOST if a program of the judged release does not print what is on record.
    Raises UnknownName.
    """
    releases = (
        json.loads(board.RELEASES.read_text("utf-8"))
        if board.RELEASES.exists()
        else {"tried": {}, "shown": {}}
    )
    differ = 0
    faults_by_product = {
        product: reproducing.reproducible_faults(product) for product in reproducing.PRODUCTS
    }
    program_names: set[str] = set()
    for product, faults in faults_by_product.items():
        program_names.update(f"{product}/{fault.id}" for fault in faults)
    for name in set(names) - program_names - set(reproducing.PRODUCTS):
        raise UnknownName("program", name, sorted(program_names))
    if names:
        faults_by_product = {
            product: _select_faults(product, faults, names)
            for product, faults in faults_by_product.items()
        }
    bundles = map(reproducing.bundle, filter(faults_by_product.get, faults_by_product))
    with ThreadPoolExecutor() as pool:  # All products' jars are fetched at the same time.
        list(pool.map(lambda bundle: jars_of(bundle, _print_note), filter(None, bundles)))
    for product, faults in faults_by_product.items():
        product_releases: Sequence[str] = ("",) if faults else ()
        if keep and faults:
            product_releases = reproducing.releases(product)
        for release in product_releases:
            try:
                outputs = reproducing.run(product, faults, _print_note, release)
            except HarnessError as error:
                if not keep:
                    raise
                _print_note(f"{product} {release}: {str(error)[:300]}")
                continue
            if keep:
                releases["tried"].setdefault(product, [])
                releases["tried"][product] = [
                    *(
                        earlier_release
                        for earlier_release in releases["tried"][product]
                        if earlier_release != release
                    ),
                    release,
                ]
                for fault in faults:
                    shown_releases = [
                        earlier_release
                        for earlier_release in releases["shown"]
                        .setdefault(product, {})
                        .get(fault.id, ())
                        if earlier_release != release
                    ]
                    releases["shown"][product][fault.id] = (
                        [*shown_releases, release]
                        if reproducing.is_shown(fault, outputs[fault.id])
                        else shown_releases
                    )
            for fault in faults:
                is_as_recorded = outputs[fault.id] == fault.actual
                differ += not is_as_recorded and not keep
                click.echo(
                    f"{'shown ' if is_as_recorded else 'DIFFERS'} {product} {release} {fault.id}:"
                    f" {page.program_output(outputs[fault.id])}"
                )
    if keep:
        board.RELEASES.write_text(json.dumps(releases, indent=1) + "\n", "utf-8")
    return LOST if differ else 0


def _print_note(line: str) -> None:
    """Prints a line about the progress of the run to standard error."""
    click.echo(line, err=True)


if __name__ == "__main__":
    try:
        main()
    except HarnessError as error:
        click.echo(f"scoreboard: {error}", err=True)
        sys.exit(2)
