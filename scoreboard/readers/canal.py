"""Canal's own client."""

from __future__ import annotations

from typing import Final

from scoreboard.readers.claims import INTEGERS, REALS, STOPS, TEXTS, UNCOMPRESSED
from scoreboard.readers.reader import Reader, jars

_RELEASE: Final = "1.1.8"
_TYPES: Final = (*INTEGERS, "bigint*", "decimal*", *REALS, *TEXTS, "json", "year", "date", "time")
CANAL: Final = Reader(
    "canal-client",
    "Alibaba Canal: canal.client, flat messages from Kafka",
    _RELEASE,
    {
        "alibaba-canal-json": {"types": _TYPES, "conventions": STOPS},
        "ticdc-canal-json": {"types": _TYPES, "profiles": UNCOMPRESSED, "conventions": STOPS},
        "cloudcanal-canal-json": {"types": _TYPES, "conventions": STOPS},
    },
    "com.alibaba.otter.canal.protocol.FlatMessage by fastjson2, as KafkaCanalConnector.getFlatListWithoutAck parses it",
    f"https://github.com/alibaba/canal/blob/canal-{_RELEASE}/client/src/main/java/com/alibaba/otter/canal/client/kafka"
    "/KafkaCanalConnector.java#L216-L236",
    "All values of a FlatMessage are texts: only types are claimed whose text is the value. The rows are those of data; old, "
    "which the client hands on as it is, makes no image here. The rows are kept whose database and table name the table.",
    jars(
        "canal-client",
        "Canal's client",
        "36 jars, 27 MB",
        "canal.client",
        ("com.alibaba.otter", "canal.client", _RELEASE),
        ("com.alibaba.otter", "canal.protocol", _RELEASE),
    ),
    "canal.CanalReader",
)
