"""The readers of the scoreboard, as data: release, jars, adapter, formats, and what each claims."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from conformance.brokers.jars import LOGGING, Bundle

JACKSON: Final = ("com.fasterxml.jackson.core", "jackson-databind", "2.18.2")
"""What the adapters write the protocol with, beside the reader's own (often relocated) copy."""


@dataclass(frozen=True, slots=True)
class Reader:
    """A reader at a release. `formats` maps each of our formats that it claims to its capabilities there.

    A Java reader has `bundle`, its jars, and `factory`, the class in `java/` that opens it; a Spark reader has `module`, a
    function in `spark/` whose module tells its capabilities. `source` is the address of its source at the release, `note` what
    the adapter had to choose.
    """

    name: str
    title: str
    release: str
    formats: Mapping[str, Mapping[str, tuple[str, ...]]]
    source: str
    note: str
    bundle: Bundle | None = None
    factory: str = ""
    module: str = ""
    options: tuple[str, ...] = ()
    faults: str = ""

    @property
    def record(self) -> str:
        """The file of its proved faults; several readers may share one."""
        return self.faults or self.name


def _jars(name: str, title: str, size: str, main: str, *modules: tuple[str, str, str], without: tuple[str, ...] = ()) -> Bundle:
    return Bundle(f"scoreboard-{name}", title, (*modules, JACKSON, LOGGING), main, size, without)


_SPARK: Final = "4.0.0"
_SPARK_SOURCE: Final = "https://github.com/apache/spark/tree/v4.0.0"


def _spark(way: str, title: str, module: str, *formats: str) -> Reader:
    return Reader(
        f"spark-{way}",
        f"Spark: {title}",
        _SPARK,
        {fmt: {} for fmt in formats},
        _SPARK_SOURCE,
        "A few lines of PySpark as guides show them, with the table's types that the harness offers and try_cast.",
        module=module,
        faults=f"spark-{way.partition('-')[0]}",
    )


_CANALS: Final = ("alibaba-canal-json", "ticdc-canal-json")

SPARK: Final = (
    _spark("canal-explode", "from_json and posexplode", "canal.py:decode_rows_explode", *_CANALS),
    _spark("canal-zip", "from_json, arrays_zip and posexplode", "canal.py:decode_rows_zip", *_CANALS),
    _spark("canal-get-json-object", "get_json_object", "canal.py:decode_rows_get_json_object", *_CANALS),
    _spark("canal-variant", "VARIANT", "canal.py:decode_rows_variant", *_CANALS),
    _spark("debezium-typed", "from_json with the table's types", "debezium.py:decode_rows_typed", "debezium-json"),
    _spark("debezium-get-json-object", "get_json_object", "debezium.py:decode_rows_get_json_object", "debezium-json"),
)

READERS: Final[tuple[Reader, ...]] = (*SPARK,)


def named(name: str) -> Reader:
    """The reader of that name. Raises UnknownName."""
    from generators.errors import UnknownName

    for reader in READERS:
        if reader.name == name:
            return reader
    raise UnknownName("reader", name, [reader.name for reader in READERS])
