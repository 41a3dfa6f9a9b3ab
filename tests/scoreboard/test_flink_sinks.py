"""Flink's readers on what its own sinks write, declared in another way than the sink: what
docs/flink-sinks.md says of them.
"""

import base64
import json
import subprocess
from functools import cache

import pytest

from conformance.files import cache_dir
from scoreboard import judging
from scoreboard.readers import find_reader

READER = find_reader("flink-sinks")
TYPES = {
    "int": ("int", "int"),
    "timestamp": ("timestamp", "timestamp"),
    "datetime": ("datetime", "timestamp_ntz"),
}
CANAL = '{"data":[{"id":1}],"type":"INSERT"}'
DEBEZIUM = '{"before":null,"after":{"id":1},"op":"c"}'
DELETE_OF_OLD = '{"old":[{"id":1}],"data":null,"type":"DELETE","database":"d","table":"t","pkNames":["id"],"ts":0}'
IGNORING = ("ignore-parse-errors=true",)
ISO = ("timestamp-format.standard=ISO-8601",)


def moment(text):
    return f'{{"data":[{{"id":1,"t":"{text}"}}],"type":"INSERT"}}'


@cache
def command():
    if not (cache_dir() / "jars" / READER.bundle.name).is_dir():
        pytest.skip(f"needs the jars of {READER.bundle.title}")
    return judging.java_command(
        READER, lambda line: None, "scoreboard.Adapter", READER.factory, "{}"
    )


def answer(fmt, options, columns, message):
    """What Flink's reader gives for a message: the rows' images, or the text of its error."""
    table = {"database": "d", "schema": None, "name": "t", "primary_key": ["id"]}
    table["columns"] = [
        {
            "name": name,
            "nullable": True,
            "spark": TYPES[kind][1],
            "type": {"name": kind, "logical": TYPES[kind][0], "fsp": 3},
        }
        for name, kind in columns.items()
    ]
    encoded = {"base64": base64.b64encode(message.encode()).decode()}
    lines = (
        {"type": "start", "cdc": 1, "format": fmt, "levels": [2]},
        {
            "type": "begin",
            "batch": 1,
            "level": 2,
            "deployment": {"time_zone": "UTC"},
            "table": table,
        },
        {"type": "record", "seq": 1, "topic": "t", "key": None, "value": encoded},
        {"type": "end", "batch": 1},
    )
    settings = [f"{key}={value}" for key, value in READER.settings.items()]
    ran = subprocess.run(
        [*command(), *settings, *options],
        input="".join(json.dumps(line) + "\n" for line in lines),
        capture_output=True,
        text=True,
        check=True,
    )
    rows = json.loads(ran.stdout.splitlines()[1])["rows"]
    return [row.get("error") or row["after"] or row["before"] for row in rows]


@pytest.mark.parametrize(
    ("fmt", "options", "message", "error"),
    [
        ("flink-canal-json", ("database.include=d",), CANAL, "Corrupt Canal JSON message"),
        ("flink-canal-json", ("table.include=t",), CANAL, "Corrupt Canal JSON message"),
        (
            "flink-debezium-json",
            ("schema-include=true",),
            DEBEZIUM,
            "Corrupt Debezium JSON message",
        ),
        ("flink-canal-json", (), DELETE_OF_OLD, "Corrupt Canal JSON message"),
    ],
)
def test_a_member_that_the_sink_does_not_write_stops_the_job_or_loses_the_row(
    fmt, options, message, error
):
    [text] = answer(fmt, options, {"id": "int"}, message)
    assert error in text
    assert answer(fmt, (*options, *IGNORING), {"id": "int"}, message) == []


@pytest.mark.parametrize(
    ("options", "kind", "text"),
    [
        ((), "timestamp", "2024-02-29T01:02:03.5Z"),
        (ISO, "timestamp", "2024-02-29 01:02:03.5Z"),
        ((), "datetime", "2024-02-29T01:02:03.5"),
        ((), "datetime", "2024-02-29 01:02:03.5Z"),
        ((), "timestamp", "2024-02-29 01:02:03.5"),
    ],
)
def test_a_moment_that_is_declared_in_another_way_stops_the_job_or_is_null(options, kind, text):
    columns = {"id": "int", "t": kind}
    [error] = answer("flink-canal-json", options, columns, moment(text))
    assert "DateTimeParseException" in error
    ignored = answer("flink-canal-json", (*options, *IGNORING), columns, moment(text))
    assert ignored == [{"id": "1", "t": None}]
