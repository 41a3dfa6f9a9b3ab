"""Places in SQL Server's transaction log, by which Debezium's connector orders changes.

Source: debezium#source-sqlserver.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

_FILE: Final = 0x25
"""The number of the log file in each place."""
_COMMIT_AHEAD: Final = 1 << 16
"""How far behind the beginning of a transaction its commit stands in the log."""


def lsn_text(place: int) -> str:
    """A place in the log as the connector prints it: the file, the block and the slot in
    hexadecimal digits. A block has 16 slots here, which count from 1.
    """
    return f"{_FILE:08x}:{place >> 4:08x}:{(place & 0xF) + 1:04x}"


@dataclass(slots=True)
class SqlServerLog:
    """Where the connector stands in SQL Server's log: the place of the transaction's commit, the
    place of the current row's change, "" before the first, and the number of the change among those
    at one place.
    """

    commit_lsn: str = ""
    change_lsn: str = ""
    serial_number: int = 1

    def begin(self, place: int) -> None:
        """Begins a transaction at a place in the log, that of its first change. Its commit is taken
        to stand _COMMIT_AHEAD behind.
        """
        self.commit_lsn = lsn_text(place + _COMMIT_AHEAD)
        self.change_lsn = lsn_text(place)

    def see_row(self, place: int) -> None:
        """Goes on to the next changed row."""
        self.change_lsn, self.serial_number = lsn_text(place), 1

    @property
    def position(self) -> str:
        """The position of a change: commit, change and number."""
        return f"{self.commit_lsn}:{self.change_lsn}:{self.serial_number}"
