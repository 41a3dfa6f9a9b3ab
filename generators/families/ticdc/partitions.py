"""The ids of the partitions of a history's tables. TiDB gives every partition the id of a table of
its own; which number that is nobody can know from the history.
"""

from __future__ import annotations

import zlib
from dataclasses import dataclass, field, replace
from typing import Final

from generators.errors import Refused
from generators.families.ticdc.ddl import parse
from generators.families.ticdc.placing import Place, place_nowhere, place_of_rows, unplaced
from generators.families.ticdc.sink import handle_key
from generators.model import Row, SchemaChange, Table

_UNPARTITIONED: Final = ("drop table", "remove partitioning")
"""The actions after which a table has no partitions."""
_IDS: Final = 1_000_000
"""How many numbers the ids of partitioned tables are drawn from."""


@dataclass(frozen=True, slots=True)
class _Partitioning:
    """A table's partitions: how many it has, as the statement that made them says, and the function
    that gives the number of a row's partition.
    """

    count: int
    place: Place


@dataclass(slots=True)
class Partitions:
    """The partitioned tables that the statements of a history have made so far, by database and
    name.
    """

    _tables: dict[tuple[str, str], _Partitioning] = field(default_factory=dict)

    def follow(self, event: SchemaChange) -> None:
        """Takes account of a statement that makes, changes, renames or drops a table. After one
        whose form is not known here, the table counts as having no partitions. The event's
        `old_name` is the table's name before a RENAME; its partitions go with it. (Of an EXCHANGE
        PARTITION it is the other table's, which has none.) After other changes of partitions than
        by PARTITION BY, their number is taken to be the same, but the rows' places are no longer
        known.
        """
        table_key = (event.database, event.table)
        old_key = (event.database, event.old_name)
        if event.old_name and old_key in self._tables:
            self._tables[table_key] = self._tables.pop(old_key)
        if event.action in _UNPARTITIONED:
            self._tables.pop(table_key, None)
        elif event.action in ("create table", "alter partitioning"):
            self._note_partitions(table_key, event)
        elif partitioning := self._tables.get(table_key):
            self._tables[table_key] = replace(
                partitioning, place=unplaced(event, partitioning.place)
            )

    def _note_partitions(self, table_key: tuple[str, str], event: SchemaChange) -> None:
        """Notes the partitions that a statement gives to the table of this database and name, in
        place of those that it had. A statement that cannot be parsed here gives it none. In which
        partition a row lies is known only after a CREATE TABLE with the table that it made.
        """
        self._tables.pop(table_key, None)
        try:
            statement = parse(event.sql)
        except Refused:
            return
        if statement.partitions:
            place_row: Place = place_nowhere
            if event.action == "create table" and event.after:
                place_row = place_of_rows(event.after, statement)
            self._tables[table_key] = _Partitioning(statement.partitions, place_row)

    def id_of(self, table: Table, source_row: Row) -> int | None:
        """A number that stands for the id of the partition that holds the row; None for a table
        without partitions. It follows from the table's name, since nobody can know TiDB's own id.
        Where the row's partition is not known, a hash of the row's key chooses one.
        """
        partitioning = self._tables.get((table.database, table.name))
        if partitioning is None:
            return None
        number = partitioning.place(source_row)
        if number is None:
            key = repr([source_row[name] for name in handle_key(table)])
            number = zlib.crc32(key.encode()) % partitioning.count
        name_hash = zlib.crc32(f"{table.database}\0{table.name}".encode(errors="surrogatepass"))
        return 100 + name_hash % _IDS + number
