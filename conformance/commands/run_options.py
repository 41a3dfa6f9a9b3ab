"""The options of the command `run`, as its parts read them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from conformance.commands.options import SelectionOptions

if TYPE_CHECKING:
    from conformance.brokers.asked import BrokerOptions
    from conformance.commands.shell import OutputStyle


@dataclass(frozen=True, slots=True, kw_only=True)
class RunOptions(SelectionOptions):
    """The options of `run`."""

    decoder: str | None
    mapping: tuple[tuple[str, str], ...]
    level: str
    budget: str
    broker_options: BrokerOptions
    select: tuple[str, ...]
    exclude: tuple[str, ...]
    quick: bool
    strict: bool
    expect: Path | None
    update: bool
    report: Path | None
    fail_fast: bool
    max_fail: int | None
    details: bool
    causes: int
    no_reduce: bool
    timeout: float
    spark_conf: Mapping[str, str]
    differential: bool
    messages: tuple[str, ...]
    failed: bool
    watch: bool
    style: OutputStyle
