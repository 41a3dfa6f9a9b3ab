"""TiCDC Simple protocol, JSON encoding: what PingCAP TiCDC writes to Kafka with `protocol=simple`,
`encoding-format=json`.

Releases: v7.5.7 and v8.5.7 of the classic architecture (pingcap/tiflow), v8.5.4 to v8.5.7 of the
new one (pingcap/ticdc). Source of truth: PingCAP's TiCDC Simple Protocol, corrected by TiCDC's
source and output (the facts ticdc#...).

A message is one JSON object without headers; keys that do not apply are left out, never null. Rows
go to one partition a table (chosen as for ticdc-canal-json) under a zero-length key, DDL and
WATERMARK to every partition under a null key, BOOTSTRAP, in the rows' channel, to every partition
or the first. Rows name the version of their table's schema and carry no types: `types` is the
mysqlType (without "unsigned", which is a flag of its own) of the tableSchema or preTableSchema of
the same database, table and version, if a message of the case has it, before the row or after it.
`keys` of a row is empty, since no row's message tells them, and of a DDL or BOOTSTRAP the primary
index of its tableSchema, whose columns have no isPk (ticdc#simple-columns). A DDL's database and
table are those of its tableSchema; a statement on a database has none.

Not written: ticdc#simple-column-sort, which only a lying profile has.

INSERT, UPDATE and DELETE of the row `id` 1 of `shop.notes`, ADD COLUMN, and a watermark:

    {"version":1,"database":"shop","table":"notes","tableID":311028109,"type":"INSERT",
    "commitTs":445644800000000001,"buildTs":1700000001734,"schemaVersion":442804258692849590,
    "data":{"id":"1","note":"old"}}

    {"version":1,"database":"shop","table":"notes","tableID":311028109,"type":"UPDATE",
    "commitTs":445644800000000001,"buildTs":1700000001734,"schemaVersion":442804258692849590,
    "data":{"id":"1","note":"new"},"old":{"id":"1","note":"old"}}

    {"version":1,"database":"shop","table":"notes","tableID":311028109,"type":"DELETE",
    "commitTs":445644800000000001,"buildTs":1700000001734,"schemaVersion":442804258692849590,
    "old":{"id":"1","note":"new"}}

    {"version":1,"type":"ALTER","sql":"ALTER TABLE `t3142384771` ADD COLUMN `added` INT DEFAULT 1",
    "commitTs":445644800000000001,"buildTs":1700000001734}

    {"version":1,"type":"WATERMARK","commitTs":445644800000000001,"buildTs":1700000001734}
"""

from __future__ import annotations

import base64
import random
import re
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, ClassVar, Final

from generators.families.ticdc import text
from generators.families.ticdc_simple import records
from generators.families.ticdc_simple.encoding import publish, timestamp_cell
from generators.families.ticdc_simple.plan import host_zone
from generators.families.ticdc_simple.profiles import SimpleProfile
from generators.families.ticdc_simple.scenarios import scenarios
from generators.families.wire_messages import ABSENT, Raw, print_json
from generators.garbage.cell_faults import CELL_FAULTS, CellFault
from generators.model import Cell, History, Layout, Logical, SourceType, State, Value, Written
from generators.profile_tables import read_choices
from generators.sources import mysql
from generators.wire_format import Format, about


def write(history: History, profile: SimpleProfile, layout: Layout) -> list[Written]:
    """Every message of the history with its expectation, in the order of publication.

    DDL statements and watermarks have messages, too; the SQL texts of row changes, heartbeats and
    transaction marks have none in this protocol.
    """
    return publish(history, layout, Printer(profile))


_SHORT: Final = {"\\u0008": "\\b", "\\u000c": "\\f"}
"""The short escapes of backspace and form feed, by their long ones."""
_CONTROL: Final = re.compile(r"((?<!\\)(?:\\\\)*)(\\u0008|\\u000c)")
"""A long escape of backspace or form feed, and the doubled back-slashes before it."""


@dataclass(frozen=True, slots=True)
class Printer:
    """Prints logical messages as Go's encoding/json prints TiCDC's structs. A BOOTSTRAP has the
    commitTs 0 (`bootstrap_position`), and an image without columns is left out (`empty_images`).
    """

    profile: SimpleProfile
    bootstrap_position: ClassVar[str | None] = "0"
    empty_images: ClassVar[bool] = False

    def value(self, record: records.Record, chance: random.Random) -> bytes:
        """The message as UTF-8. Nothing is drawn from `chance`, since Go sorts the keys of maps."""
        return print_json(self.members(record), self._quote)

    def expected(self, type: SourceType, value: Value) -> Cell:
        """The cell that a decoder owes for a value as TiDB stores it."""
        return self.cell(type, value)[1]

    def members(self, record: records.Record) -> Mapping[str, Any]:
        """The members of a message in their order."""
        match record:
            case records.DmlRecord():
                return self._members_of_row(record)
            case records.DdlRecord():
                return {
                    "version": 1,
                    "type": record.type,
                    "sql": record.sql,
                    "commitTs": record.commit_ts,
                    "buildTs": record.build_ts,
                    "tableSchema": _members_of_schema(record.table_schema),
                    "preTableSchema": _members_of_schema(record.pre_table_schema),
                }
            case records.BootstrapRecord():
                return {
                    "version": 1,
                    "type": "BOOTSTRAP",
                    "commitTs": 0,
                    "buildTs": record.build_ts,
                    "tableSchema": _members_of_schema(record.table_schema),
                }
            case records.WatermarkRecord():
                return {
                    "version": 1,
                    "type": "WATERMARK",
                    "commitTs": record.commit_ts,
                    "buildTs": record.build_ts,
                }

    def _members_of_row(self, record: records.DmlRecord) -> dict[str, Any]:
        """The members of a row's message; claim check, handle key, checksum and images are left out
        if the record has none.
        """
        return {
            "version": 1,
            "database": record.source.database,
            "table": record.source.name,
            "tableID": record.table_id,
            "type": record.op,
            "commitTs": record.commit_ts,
            "buildTs": record.build_ts,
            "schemaVersion": record.schema_version,
            "claimCheckLocation": record.claim_check_location or ABSENT,
            "handleKeyOnly": record.handle_key_only or ABSENT,
            "checksum": _members_of_checksum(record.checksum) if record.checksum else ABSENT,
            "data": self._members_of_image(record.data) if record.data else ABSENT,
            "old": self._members_of_image(record.old) if record.old else ABSENT,
        }

    def _members_of_image(self, image: records.RowImage) -> dict[str, Raw]:
        """The cells of an image by column, sorted by the bytes of their names. `image` has the type
        and the stored value of each column.
        """
        names = sorted(image, key=lambda name: name.encode(errors="surrogatepass"))
        return {name: Raw(self.cell(*image[name])[0]) for name in names}

    def _quote(self, value: str) -> str:
        """A text as a JSON string in Go's spelling, with the short escapes of backspace and form
        feed if the profile has them. Texts of up to 100 characters are escaped by a cached
        function.
        """
        escape = text.escape if len(value) > 100 else text.escape_name
        escaped = escape(value)
        if self.profile.short_escapes and "\\u00" in escaped:
            return _CONTROL.sub(lambda match: match[1] + _SHORT[match[2]], escaped)
        return escaped

    def cell(self, type: SourceType, value: Value) -> tuple[str, Cell]:
        """A value as TiDB stores it, as JSON, and the cell that a decoder owes for it."""
        if value is None:
            return "null", Cell(State.NULL, type)
        if type.logical is Logical.TIMESTAMP:
            cell = timestamp_cell(self.profile, type, value)
            return cell.text or "", cell
        cell_text = self._cell_text(type, value)
        return self._quote(cell_text), Cell(
            State.VALUE, type, value, cell_text, text.value_class(type, value)
        )

    def _cell_text(self, type: SourceType, value: Value) -> str:
        """The text of a value: Base64 of a binary, a float with as few digits as Go's verb g prints
        if the profile uses that, else TiCDC's own spelling.
        """
        match value:
            case bytes():
                return base64.b64encode(value).decode()
            case float() if self.profile.float_verb == "g":
                return go_shortest(value, single=type.logical is Logical.FLOAT)
            case _:
                return text.value_text(type, value, json_doubles=self.profile.json_doubles)


def _members_of_checksum(record: records.Checksum) -> dict[str, Any]:
    """The members of a row's checksum in a message."""
    return {
        "version": record.version,
        "corrupted": False,
        "current": record.current,
        "previous": record.previous,
    }


def _members_of_schema(schema: records.TableSchema | None) -> Any:
    """The members of a table's schema in a message; ABSENT for none."""
    if schema is None:
        return ABSENT
    return {
        "schema": schema.database,
        "table": schema.table,
        "tableID": schema.table_id,
        "version": schema.version,
        "columns": [_members_of_column(column) for column in schema.columns],
        "indexes": [_members_of_index(index) for index in schema.indexes],
    }


def _members_of_column(column: records.ColumnSchema) -> dict[str, Any]:
    """The members of a column in a table's schema: name, type, nullability and default; attributes
    of the type that are 0 or false are left out.
    """
    kind, default = column.data_type, column.default
    data_type = {
        "mysqlType": kind.mysql_type,
        "charset": kind.charset,
        "collate": kind.collate,
        "length": kind.length or ABSENT,
        "decimal": kind.decimal or ABSENT,
        "elements": kind.elements or ABSENT,
        "unsigned": kind.unsigned or ABSENT,
        "zerofill": kind.zerofill or ABSENT,
    }
    return {
        "name": column.name,
        "dataType": data_type,
        "nullable": column.nullable,
        "default": int.from_bytes(default) if isinstance(default, bytes) else default,
    }


def _members_of_index(index: records.IndexSchema) -> dict[str, Any]:
    """The members of an index in a table's schema."""
    return {
        "name": index.name,
        "unique": index.unique,
        "primary": index.primary,
        "nullable": index.nullable,
        "columns": index.columns,
    }


def go_shortest(value: float, *, single: bool) -> str:
    """A float by Go's `%v`: the shortest digits, with an exponent of at least two digits below 1e-4
    and from 1e6 on.

    `single` takes the shortest digits that read back as the same binary32.
    """
    number = Decimal(text.fixed32(value) if single else repr(value))
    if number == 0:
        return "0"
    exponent = number.adjusted()
    if -4 <= exponent < 6:
        return text.fixed32(value) if single else text.fixed(value)
    digits = "".join(map(str, number.as_tuple().digits)).strip("0")
    fraction = f".{digits[1:]}" if len(digits) > 1 else ""
    sign, exponent_sign = "-" if value < 0 else "", "-" if exponent < 0 else "+"
    return f"{sign}{digits[0]}{fraction}e{exponent_sign}{abs(exponent):02d}"


def cell_faults(profile: SimpleProfile) -> tuple[CellFault, ...]:
    """The cell faults of MySQL's texts, and those of what only Simple has: base64 and objects for
    TIMESTAMP.
    """
    printer = Printer(profile)

    def fault(
        name: str, column: str, type: SourceType, value: Value, spoiled_form: str
    ) -> CellFault:
        """The fault of one cell: `spoiled_form` replaces the JSON that the profile writes for
        `value` in `column`.
        """
        return CellFault(name, column, value, printer.cell(type, value)[0], spoiled_form)

    stamp = mysql.wall("2021-07-19 11:12:13")
    zone = printer.profile.location or host_zone(profile)
    type = mysql.TYPES["timestamp-0"]
    return (
        *CELL_FAULTS,
        fault(
            "cell-base64",
            "c_varbinary",
            mysql.TYPES["varbinary"],
            b"\xff\xfe\xfd\x00base64",
            '"//79AGJh*2U2NA=="',
        ),
        fault(
            "cell-timestamp-value",
            "c_timestamp_0",
            type,
            stamp,
            f'{{"location":"{zone}","value":"2021-07-19 25:61:61"}}',
        ),
        fault(
            "cell-timestamp-zone",
            "c_timestamp_0",
            type,
            stamp,
            '{"location":"Mars/Olympus","value":"2021-07-19 11:12:13"}',
        ),
    )


__all__ = ["FORMAT", "Printer", "SimpleProfile", "cell_faults", "go_shortest", "write"]

FORMAT: Final[Format[SimpleProfile]] = Format(
    **about("ticdc-simple-json", read_choices("ticdc-simple-json", SimpleProfile)),
    supports=text.supports,
    write=write,
    scenarios=scenarios,
    cell_faults=cell_faults,
    fits={"timestamp/outside": "cell-timestamp-value"},
)
