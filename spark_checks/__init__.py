"""The Spark side: reference decoders, decoders that are wrong on purpose, and what runs in the
session.

Public: `reference` and `ChangeFeed` (docs/api.md), and the modules
`spark_checks.decoders.<format_name>` with `decode` and `decode_rows`. Everything else is private to
the project, and may change between releases.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any, Protocol, cast

from generators.wire_format import get, module_name

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from generators.model import Deployment, Table
    from spark_checks.services.feed import ChangeFeed

__all__ = ["ChangeFeed", "Decoder", "reference"]


def __getattr__(name: str) -> Any:
    if name == "ChangeFeed":
        return importlib.import_module("spark_checks.services.feed").ChangeFeed
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


class Decoder(Protocol):
    """A reference decoder: plain, native expressions, every check."""

    def decode(self, records: DataFrame, *, deployment: Deployment = ...) -> DataFrame:
        """Level one: a row for each change, in the columns of docs/writing-a-decoder.md."""
        ...

    def decode_rows(
        self, records: DataFrame, table: Table, *, deployment: Deployment = ...
    ) -> DataFrame:
        """Level two: the row changes of one table, with images typed for it."""
        ...


def reference(fmt: str) -> Decoder:
    """The reference decoder of a format. Raises UnknownName with the nearest match."""
    return cast(
        "Decoder", importlib.import_module(f"spark_checks.decoders.{module_name(get(fmt).name)}")
    )
