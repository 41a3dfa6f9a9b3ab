"""Runs a product: a small Java program over the product's own jars, which writes each record as a
line of JSON.
"""

from __future__ import annotations

import base64
import json
import os
import re
import shutil
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from conformance.brokers.guarded import Guarded
from conformance.brokers.jars import Bundle, Note, jars_of, require_java
from generators.errors import HarnessError
from recorders.databases import Database

HEAP: Final = "-Xmx512m"
"""The option of Java that limits its memory."""
SENTINEL: Final = "zz_end"
"""The table of the last record."""

LIMIT_S: Final = 120
"""Seconds that a product has to publish the last record, unless the caller gives another limit."""

_SOURCES: Final = Path(__file__).with_name("java")
"""The folder of the Java programs."""
_LOG_LINES: Final = 12
"""Lines of the product's log that an error shows."""


@dataclass(frozen=True, slots=True)
class ProducedRecord:
    """A record as the product hands it to Kafka's producer. `partition` is None if the producer
    chooses it.
    """

    topic: str
    partition: int | None
    key: bytes | None
    value: bytes | None
    headers: tuple[tuple[str, bytes], ...] = ()


class Stopped(HarnessError):
    """The product ended or stalled before the last record. `records` are those that it had sent."""

    def __init__(self, reason: str, records: list[ProducedRecord]) -> None:
        super().__init__(reason)
        self.records = records


def parse_record(line: str) -> ProducedRecord:
    """The record in a line of JSON that one of the recorders' Java programs wrote, which has topic,
    key, value and headers in base64. A header without a value gets empty bytes.
    """
    fields = json.loads(line)
    headers = tuple(
        (_decode_base64(name).decode(), _decode_base64(value)) for name, value in fields["headers"]
    )
    return ProducedRecord(
        _decode_base64(fields["topic"]).decode(),
        fields["partition"],
        _decode_optional(fields["key"]),
        _decode_optional(fields["value"]),
        headers,
    )


def _decode_base64(base64_text: str | None) -> bytes:
    """The bytes of a text in base64; none for None."""
    return base64.b64decode(base64_text or "")


def _decode_optional(base64_text: str | None) -> bytes | None:
    """The bytes of a text in base64; None for None."""
    return None if base64_text is None else base64.b64decode(base64_text)


def find_compiler() -> str:
    """The path of the Java that can run a source file. Raises HarnessError without a JDK."""
    java = require_java()
    if not Path(java.path).resolve().with_name("javac").exists():
        raise HarnessError(
            f"{java.path} is no JDK: a recorder is a source file, which needs the compiler. Install"
            " a JDK of 17 or 21 (Debian, Ubuntu: openjdk-17-jdk-headless), or set JAVA_HOME to it."
        )
    return java.path


def run_product(
    program: str,
    bundle: Bundle,
    properties: Mapping[str, str],
    note: Note,
    *,
    limit_s: int,
) -> list[ProducedRecord]:
    """Runs a product until it publishes the sentinel (a row of the table SENTINEL, which is changed
    last), and returns its records except those of that table. Raises Stopped, with errors from the
    product's log, if the sentinel does not come within `limit_s` seconds.
    """
    java, jars = find_compiler(), jars_of(bundle, note)
    note(f"running {bundle.title}")
    work = Path(tempfile.mkdtemp(prefix="cdc-conformance-recorder-"))
    try:
        output = work / "records"
        settings = {**properties, "recorder.output": str(output), "recorder.seconds": str(limit_s)}
        (work / "properties").write_text(
            "".join(f"{name}={_spell_property(value)}\n" for name, value in settings.items()),
            "ascii",
        )
        command = [
            *(
                java,
                HEAP,
                "-XX:+UseSerialGC",
                "-XX:TieredStopAtLevel=1",
                "-Djava.awt.headless=true",
                f"-Djava.io.tmpdir={work}",
            ),
            *(
                "-Duser.timezone=" + properties.get("recorder.zone", "UTC"),
                "-Dorg.slf4j.simpleLogger.defaultLogLevel=info",
            ),
            *(
                "-cp",
                os.pathsep.join(map(str, jars)),
                str(_SOURCES / f"{program}.java"),
                str(work / "properties"),
            ),
        ]
        with (work / "log").open("wb") as log:
            process = Guarded(command, output=log, pid_file=work / "pid", remove=work)
        try:
            code = process.wait(limit_s + 60)
        finally:
            process.stop()
        lines = output.read_text("ascii").splitlines() if output.exists() else []
        records = [record for record in map(parse_record, lines) if not _is_sentinel(record)]
        if code != 0:
            raise Stopped(_failure_text(bundle, code, len(lines), work / "log"), records)
        return records
    finally:
        shutil.rmtree(work, ignore_errors=True)


def _spell_property(value: str) -> str:
    """A value as a Java properties file spells it: by its units of UTF-16."""
    units = memoryview(value.encode("utf-16-le", "surrogatepass")).cast("H")
    return "".join(
        chr(unit) if 0x20 <= unit <= 0x7E and unit != 0x5C else f"\\u{unit:04x}" for unit in units
    )


def _is_sentinel(record: ProducedRecord) -> bool:
    """Whether a record is of the sentinel's table, whose row is changed last."""
    return SENTINEL.encode() in (record.value or b"") or SENTINEL in record.topic


def _failure_text(bundle: Bundle, code: int | None, count: int, log: Path) -> str:
    """Says why a product's run failed, for Stopped: its exit code in words, the number of records,
    and the last errors in its log, or its last lines if there are none.
    """
    words_by_code: dict[int | None, str] = {
        3: "ended before the last record",
        4: "did not send the last record in time",
        5: "stopped sending",
        None: "did not end",
    }
    lines = [
        line
        for line in log.read_text("utf-8", "replace").splitlines()
        if not line.startswith("\tat ")
    ]
    errors = [line for line in lines if re.search(r"\bERROR\b|^Caused by|Exception", line)]
    different_errors = list(dict.fromkeys(errors))
    log_tail = "\n".join(f"  {line[:400]}" for line in (different_errors or lines)[-_LOG_LINES:])
    ending = words_by_code.get(code, f"ended with exit code {code}")
    return f"{bundle.title} {ending}, after {count} records. Its log:\n{log_tail}"


def sentinel_statements(database: Database) -> tuple[str, ...]:
    """The statements that make the product publish the sentinel, the last record."""
    place = f"public.{SENTINEL}" if database.source == "postgresql" else SENTINEL
    return (
        f"CREATE TABLE {place} (id int PRIMARY KEY)",
        f"INSERT INTO {place} VALUES (1)",  # noqa: S608 - no value from outside
    )
