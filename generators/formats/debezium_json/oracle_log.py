"""Places in Oracle's redo log, by which Debezium's connector orders changes.

Source: debezium#source-oracle.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

_COMMIT_AHEAD: Final = 1 << 16
"""How far behind the beginning of a transaction its commit stands in the log."""
_USER: Final = "SHOP"
"""The user of the database who made every change."""
_DIGITS: Final = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
"""The digits of base64, by which Oracle prints the ids of rows."""


def row_id(place: int) -> str:
    """The ROWID of a row: 18 digits of base64's alphabet. The first nine are the same for every
    row; the last nine, of the block and of the place in it, are here the number `place` to the base
    64. Any number that tells rows apart will do: the log gives that of the row's change.
    """
    digits = ""
    for _ in range(9):
        place, digit = divmod(place, 64)
        digits = _DIGITS[digit] + digits
    return f"AAASdqAAE{digits}"


@dataclass(slots=True)
class OracleLog:
    """Where the connector stands in Oracle's redo log. `scn` is the number of the current row's
    change, `start_scn` that of the transaction's first change, `commit_scn` that of its commit;
    `start_ms` is when it began, `sequence` counts its rows so far.
    """

    scn: int = 0
    commit_scn: int = 0
    start_scn: int = 0
    start_ms: int = 0
    sequence: int = 0

    def begin(self, place: int, ms: int) -> None:
        """Begins a transaction at a place in the log. Its commit is taken to stand _COMMIT_AHEAD
        behind; `sequence` 0 says that no row of it was seen yet.
        """
        self.scn, self.start_scn, self.start_ms = place, place, ms
        self.commit_scn, self.sequence = place + _COMMIT_AHEAD, 0

    def see_row(self, place: int, ms: int) -> None:
        """Goes on to the next changed row, at a place in the log and the time `ms`. The transaction
        starts at its first row.
        """
        if not self.sequence:
            self.start_scn, self.start_ms = place, ms
        self.scn, self.sequence = place, self.sequence + 1

    @property
    def transaction(self) -> str:
        """The id of the transaction, as the connector spells it: 16 hexadecimal digits."""
        return f"{self.commit_scn:016x}"

    def position(self, snapshot: bool) -> str:
        """The position of a change: the numbers of its commit and of itself, and 0, with colons
        between them. For a row that a snapshot read (`snapshot`) the number of the snapshot alone.
        """
        return str(self.scn) if snapshot else f"{self.commit_scn}:{self.scn}:0"

    def members(self, snapshot: bool) -> dict[str, Any]:
        """The members of `source` that tell the place of a change, or of a row that a snapshot
        read. The ROWID is made of the change's number, and the commit's time is taken to be that of
        the transaction's start.
        """
        if snapshot:
            return {"scn": str(self.scn), "ssn": 0}
        return {
            "txId": self.transaction,
            "scn": str(self.scn),
            "commit_scn": str(self.commit_scn),
            "rs_id": f"0x{self.scn >> 24:06x}.{self.scn >> 8 & 0xFFFF:08x}.{self.scn & 0xFF:04x}",
            "ssn": 0,
            "redo_thread": 1,
            "user_name": _USER,
            "row_id": row_id(self.scn),
            "commit_ts_ms": self.start_ms,
            "start_scn": str(self.start_scn),
            "start_ts_ms": self.start_ms,
            "txSeq": self.sequence,
        }
