"""What the commands share: their common options, words about long work, and the broker that a run publishes to."""

from __future__ import annotations

import contextlib
import sys
import time
from collections.abc import Callable, Iterator, Sequence

import click

from generators.errors import UnknownName
from generators.formats.base import FORMATS

FORMAT = click.option(
    "--format", "style", type=click.Choice(["pretty", "json", "markdown"]), help="How to print; pretty on a terminal, else json."
)
BUDGET = click.option("--budget", default="smoke", show_default=True, help="smoke, ci or nightly: how many cases are drawn.")
SEED = click.option("--seed", type=int, default=1, show_default=True, help="Seed of everything drawn.")
BROKER = click.option(
    "--broker",
    "broker_spec",
    default="auto",
    show_default=True,
    help="auto, embedded, container, HOST:PORT, or none: records go to Spark as a table.",
)


def known(names: Sequence[str]) -> tuple[str, ...]:
    """The formats named, or all of them. Raises UnknownName."""
    for name in names:
        if name not in FORMATS:
            raise UnknownName("format", name, FORMATS)
    return tuple(names) or FORMATS


class Progress:
    """Words about long work on stderr: a spinner on a terminal, else a line at most every 10 seconds."""

    def __init__(self) -> None:
        from conformance.report.console import console

        self._console = console(stderr=True)
        self._last = 0.0
        self._status = self._console.status("starting") if self._console.is_terminal else None

    def __call__(self, text: str) -> None:
        """Says what is going on."""
        if self._status is not None:
            self._status.update(text)
        elif time.monotonic() - self._last >= 10:
            self._last = time.monotonic()
            click.echo(f"... {text}", err=True)

    def __enter__(self) -> Progress:
        if self._status is not None:
            self._status.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._status is not None:
            self._status.stop()


def chosen(style: str | None) -> str:
    """The output style: the one asked for, else pretty on a terminal and json through a pipe."""
    return style or ("pretty" if sys.stdout.isatty() else "json")


@contextlib.contextmanager
def transport(spec: str, note: Callable[[str], None]) -> Iterator[tuple[str | None, str, str]]:
    """A broker and a run topic, as (bootstrap, broker's description, topic); (None, "none", "") without a broker."""
    if spec == "none":
        yield None, "none", ""
        return
    from conformance.broker import broker
    from generators import kafka
    from generators.model import Layout

    with broker(spec, note=note) as started, kafka.run_topic(started.bootstrap, Layout().partitions, note=note) as topic:
        yield started.bootstrap, f"{started.kind} {started.bootstrap}", topic
