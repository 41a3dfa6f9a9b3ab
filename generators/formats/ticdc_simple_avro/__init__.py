r"""TiCDC Simple protocol, Avro encoding: what PingCAP TiCDC writes to Kafka with `protocol=simple`,
`encoding-format=avro`.

Releases: v7.5.7 and v8.5.7 of the classic architecture (pingcap/tiflow), v8.5.4 to v8.5.7 of the
new one (pingcap/ticdc). Source of truth: PingCAP's TiCDC Simple Protocol, corrected by TiCDC's
source and output (the facts ticdc#...).

A value is one raw Avro datum of a union of twelve records, always its last, Message: no registry,
no magic, no container, and the first byte is 16. Keys, partitions, versions, the schema cache,
`types` and `keys` are as in ticdc-simple-json. A BOOTSTRAP has no commitTs: it has no position and
no commit time. A row's map is in random order, drawn from the history's seed.

At level one a long, float or double is a plain JSON number, a string text, bytes lower-case hex,
Timestamp and UnsignedBigint compact JSON. A large message of a table without a key has empty maps,
where JSON leaves the images out.

Key and value of INSERT, UPDATE and DELETE of the row `id` 1 of `shop.notes`, ADD COLUMN, and a
watermark, with v8.5.7:

    b'' b'\x16\x06\x06\x02\x08shop\nnotes\x9a\xa6\xcf\xa8\x02\x00\x82\x80\x80\x80\xb4\xe5\x9f\xaf
    \x0c\x8c\xbb\xab\xfe\xf9b\xec\xfe\xd6\x86\x92\x88\x94\xa5\x0c\x00\x00\x00\x02\x04\x04id\x02\x02
    \x08note\x08\x06old\x00\x00'

    b'' b'\x16\x06\x06\x02\x08shop\nnotes\x9a\xa6\xcf\xa8\x02\x02\x82\x80\x80\x80\xb4\xe5\x9f\xaf
    \x0c\x8c\xbb\xab\xfe\xf9b\xec\xfe\xd6\x86\x92\x88\x94\xa5\x0c\x00\x00\x00\x02\x04\x04id\x02\x02
    \x08note\x08\x06new\x00\x02\x04\x04id\x02\x02\x08note\x08\x06old\x00'

    b'' b'\x16\x06\x06\x02\x08shop\nnotes\x9a\xa6\xcf\xa8\x02\x04\x82\x80\x80\x80\xb4\xe5\x9f\xaf
    \x0c\x8c\xbb\xab\xfe\xf9b\xec\xfe\xd6\x86\x92\x88\x94\xa5\x0c\x00\x00\x00\x00\x02\x04\x04id\x02
    \x02\x08note\x08\x06new\x00'

    None b'\x16\x04\x04\x02\x02tALTER TABLE `t3142384771` ADD COLUMN `added` INT DEFAULT 1\x82\x80
    \x80\x80\xb4\xe5\x9f\xaf\x0c\x8c\xbb\xab\xfe\xf9b\x00\x00'

    None b'\x16\x00\x00\x02\x82\x80\x80\x80\xb4\xe5\x9f\xaf\x0c\x8c\xbb\xab\xfe\xf9b'
"""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Final

from generators.families.avro import FAULTS as AVRO_FAULTS
from generators.families.ticdc import text
from generators.families.ticdc_simple.encoding import publish, timestamp_cell, timestamp_texts
from generators.families.ticdc_simple.records import DmlRecord, Record, RowImage
from generators.formats.ticdc_simple_avro.faults import FAULTS, FITS, cell_faults, unfit
from generators.formats.ticdc_simple_avro.profiles import CHOICES, AvroProfile
from generators.formats.ticdc_simple_avro.scenarios import scenarios
from generators.formats.ticdc_simple_avro.schema import (
    ENCODER,
    NAMESPACE,
    VERSION,
    checksum,
    control,
    message_value,
)
from generators.model import Cell, History, Layout, Logical, SourceType, State, Value, Written
from generators.wire_format import Format, about

_HALF: Final = 1 << 63
"""The first number that an int64 does not hold."""


def write(history: History, profile: AvroProfile, layout: Layout) -> list[Written]:
    """Every message of the history with its expectation, in the order of publication.

    DDL statements and watermarks have messages, too; the SQL texts of row changes, heartbeats and
    transaction marks have none in this protocol.
    """
    return publish(history, layout, Binary(profile))


@dataclass(frozen=True, slots=True)
class Binary:
    """Encodes logical messages as TiCDC's goavro does (ticdc#avro-framing). A BOOTSTRAP has no
    commitTs, so `bootstrap_position` is None; an image without columns stands in the message as an
    empty map (`empty_images`).
    """

    profile: AvroProfile
    bootstrap_position: ClassVar[str | None] = None
    empty_images: ClassVar[bool] = True

    def value(self, record: Record, chance: random.Random) -> bytes:
        """The bytes of a message; the orders of its maps are drawn from `chance`."""
        if isinstance(record, DmlRecord):
            return ENCODER(self._row_value(record, chance))
        return ENCODER(control(record, timestamp_decimal=self.profile.timestamp_decimal))

    def expected(self, type: SourceType, value: Value) -> Cell:
        """The cell that a decoder owes for a value as TiDB stores it, with the text of what stands
        in the union: texts as they are, bytes in hexadecimal digits. Numbers, and the record of a
        BIGINT UNSIGNED (`value` alone), are JSON there and compared as values.
        """
        if value is None:
            return Cell(State.NULL, type)
        if type.logical is Logical.TIMESTAMP:
            return timestamp_cell(self.profile, type, value)
        cls = text.value_class(type, value)
        match self.wire(type, value)[1]:
            case str() as shown:
                return Cell(State.VALUE, type, value, shown, cls)
            case bytes() as raw:
                return Cell(State.VALUE, type, value, raw.hex(), cls)
            case float() as number:
                fixed = text.fixed32 if type.logical is Logical.FLOAT else text.fixed
                return Cell(State.VALUE, type, value, _fraction(fixed(number)), cls, json=True)
            case {"value": number}:
                return Cell(State.VALUE, type, value, f'{{"value":{number}}}', cls, json=True)
            case number:
                return Cell(State.VALUE, type, value, str(number), cls, json=True)

    def _row_value(self, record: DmlRecord, chance: random.Random) -> Any:
        """A row's message as a value of the Avro schema: the branch DML with its table, times,
        versions and images.
        """
        payload = {
            "version": VERSION,
            "database": record.source.database,
            "table": record.source.name,
            "tableID": record.table_id,
            "type": record.op.value,
            "commitTs": record.commit_ts,
            "buildTs": record.build_ts,
            "schemaVersion": record.schema_version,
            "claimCheckLocation": record.claim_check_location or None,
            "handleKeyOnly": True if record.handle_key_only else None,
            "checksum": checksum(record.checksum),
            "data": self._image(record.data, chance),
            "old": self._image(record.old, chance),
        }
        return message_value("DML", payload)

    def _image(self, image: RowImage | None, chance: random.Random) -> Mapping[str, Any] | None:
        """An image as a value of Avro's map, with the columns in a random order as Go writes maps;
        None for no image. `image` has the type and the stored value of each column by its name;
        NULL is the branch null.
        """
        if image is None:
            return None
        names = list(image)
        chance.shuffle(names)
        return {name: None if image[name][1] is None else self.wire(*image[name]) for name in names}

    def wire(self, type: SourceType, value: Value) -> tuple[str, Any]:
        """A stored value that is not NULL as (branch, value) of the union that a row's map
        holds.
        """
        match type.logical, value:
            case Logical.TIMESTAMP, _:
                texts = timestamp_texts(self.profile, type, value)
                return f"{NAMESPACE}.Timestamp", {"location": texts.location, "value": texts.wall}
            case Logical.INT, int() if type.name == "bigint" and type.unsigned:
                return f"{NAMESPACE}.UnsignedBigint", {"value": signed(value)}
            case Logical.BIT, int() if self.profile.bits == "string":
                return "string", str(value)
            case ((Logical.INT | Logical.YEAR | Logical.ENUM | Logical.SET | Logical.BIT), int()):
                return "long", signed(value)
            case Logical.FLOAT, float():
                return "float", value
            case Logical.DOUBLE, float():
                return "double", value
            case Logical.BINARY, bytes():
                return "bytes", value
            case _:
                return "string", text.value_text(
                    type, value, json_doubles=self.profile.json_doubles
                )


def signed(value: int) -> int:
    """A number of 64 bits as Go casts it to int64: from 2^63 on it becomes negative."""
    return value - 2 * _HALF if value >= _HALF else value


def _fraction(number: str) -> str:
    """The text of a number with one fraction digit at least: a JSON number without a dot is an
    integer, and would be compared exactly rather than as the nearest binary64.
    """
    return number if "." in number else f"{number}.0"


__all__ = ["FORMAT", "AvroProfile", "Binary", "signed", "write"]

FORMAT: Final[Format[AvroProfile]] = Format(
    **about("ticdc-simple-avro", CHOICES),
    supports=text.supports,
    write=write,
    scenarios=scenarios,
    container="avro",
    faults=(*AVRO_FAULTS, *FAULTS),
    cell_faults=cell_faults,
    fits=FITS,
    unfit=lambda profile, fits: unfit(profile, fits, Binary(profile).wire),
    schemas=lambda _profile: (ENCODER.schema,),
)
