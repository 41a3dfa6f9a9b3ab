"""A table's rows, its schema and its messages as TiCDC's own encoder writes them.

pkg/sink/codec/avro of pingcap/tiflow v8.5.7 with linkedin/goavro v2.11.1, and of pingcap/ticdc
v8.5.7 with goavro v2.14.0, compiled for this purpose with a registry in memory: each column's value
was given as TiCDC's mounter gives it, and the checksum.
"""

from __future__ import annotations

import datetime as dt
import json
from decimal import Decimal
from typing import Final

from literals import literal

from generators.model import Column, Default, Json, Row, Table
from generators.sources import mysql

TABLE: Final = Table(
    "test-db",
    "1t",
    (
        Column("id", mysql.integer("int"), False),
        Column("u", mysql.integer("bigint", unsigned=True)),
        Column("y", mysql.TYPES["year"]),
        Column("f", mysql.real("float")),
        Column("d", mysql.real("double")),
        Column("p", mysql.decimal(10, 2)),
        Column("s", mysql.text("varchar", 16), default=Default("'x<y>'", "x<y>")),
        Column("w", mysql.binary("varbinary", 8)),
        Column("b", mysql.bit(12)),
        Column("e", mysql.enum_of("a,b", "c"), default=Default("'c'", 2)),
        Column("t", mysql.set_of("x", "y", "z")),
        Column("j", mysql.TYPES["json"]),
        Column("da", mysql.TYPES["date"]),
        Column("dt", mysql.temporal("datetime", 3)),
        Column("ts", mysql.temporal("timestamp", 6)),
        Column("ti", mysql.temporal("time", 1)),
    ),
    ("id",),
)
ROW: Final[Row] = {
    "id": -7,
    "u": (1 << 64) - 1,
    "y": 2024,
    "f": mysql.to_float32(1.1),
    "d": -0.1,
    "p": Decimal("-1.28"),
    "s": "汉🚲\n",
    "w": b"\0\xff",
    "b": 5,
    "e": 1,
    "t": 5,
    "j": Json({"a": [1, None]}),
    "da": dt.date(2024, 2, 29),
    "dt": mysql.wall("2024-02-29 23:59:59.5"),
    "ts": 1_700_000_000_123_456,
    "ti": -3_600_500_000,
}
EMPTY: Final[Row] = {**dict.fromkeys(ROW), "id": -7}
"""The row after an UPDATE."""
SCHEMA: Final = literal("ticdc-avro.avsc")
"""The value's, of v8.5.7."""
PAYLOAD: Final = json.loads(literal("ticdc-avro-row.json"))
"""The row as the encoder was given it: a TIMESTAMP is Shanghai's."""
KEY: Final = "0d"
_HEAD: Final = (
    "0d02%s02d01f02cdcc8c3f029a9999999999b9bf02%s0010e6b189f09f9ab20a020400ff02%s0006612c62"
)
_TAIL: Final = (
    "0206782c7a02207b2261223a205b312c206e756c6c5d7d0214323032342d30322d3239022e323032342d30322d32392032333a35393a35392e353030"
    "0234323032332d31312d31352030363a31333a32302e31323334353602162d30313a30303a30302e35"
)
_PLAIN: Final = _HEAD % ("01", "0280", "0205") + _TAIL
_NULLS: Final = "0d000000000002000002000000000000"
_COMMIT: Final = "82808080b4e59faf0c80a0abfef962"
_TEXT: Final = "283138343436373434303733373039353531363135"
"""The BIGINT UNSIGNED as text."""
VALUES: Final = {
    "v8.5.7": (_PLAIN, _NULLS),
    "v8.5.7+extension": (f"{_PLAIN}0263{_COMMIT}", f"{_NULLS}0275{_COMMIT}"),
    "v8.5.7+extension+checksum+decimal-string+bigint-string": (
        f"{_HEAD % (_TEXT, '0a2d312e3238', '0205')}{_TAIL}0263{_COMMIT}14333135313332353636320004",
        f"{_NULLS}0275{_COMMIT}14333837383430393838330004",
    ),
    "new-8.5.7+extension+bigint-string": (
        f"{_HEAD % (_TEXT, '0280', '040005')}{_TAIL}0263{_COMMIT}",
        f"{_NULLS}0275{_COMMIT}",
    ),
}
"""The data of INSERT and UPDATE behind the framing, by profile."""
