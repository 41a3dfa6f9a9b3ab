"""The readers of the scoreboard, as data: a module for each product, and `named`, which looks one up."""

from __future__ import annotations

from typing import Final

from generators.errors import UnknownName
from scoreboard.readers.canal import CANAL
from scoreboard.readers.connect import CONNECT
from scoreboard.readers.doris import DORIS
from scoreboard.readers.flink import FLINK
from scoreboard.readers.paimon import PAIMON
from scoreboard.readers.reader import Reader
from scoreboard.readers.seatunnel import SEATUNNEL
from scoreboard.readers.spark import SPARK

__all__ = ["READERS", "Reader", "named"]

READERS: Final[tuple[Reader, ...]] = (*FLINK, *CONNECT, *PAIMON, SEATUNNEL, DORIS, CANAL, *SPARK)


def named(name: str) -> Reader:
    """The reader of that name. Raises UnknownName."""
    for reader in READERS:
        if reader.name == name:
            return reader
    raise UnknownName("reader", name, [reader.name for reader in READERS])
