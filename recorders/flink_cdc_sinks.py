"""Writes `tests/shared/literals/flink-cdc-sinks.txt`: what the serializers of Flink CDC's Kafka
sink make of the rows of the named histories; and holds the writers to them.

    python -m recorders.flink_cdc_sinks --source CLONE           writes the file again
    python -m recorders.flink_cdc_sinks --source CLONE --check   exit 1 if the file would change

Both say how many messages our writers write as Flink CDC does, key and value, and show the first
that they do not. CLONE is a git clone of apache/flink-cdc with its tags: the sink's own classes are
compiled from it as they stand at the tag of a release, since not every Maven registry has their
jar. All that they need is from the registry. Needs a JDK and git.
"""

from __future__ import annotations

import io
import os
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Final

import click

from conformance.brokers.jars import LOGGING, Bundle, Note, jars_of
from generators.errors import HarnessError
from generators.model import Row, RowImages, Table
from generators.profiles import Profile
from generators.wire_format import Format
from recorders.debezium_types import run_program
from recorders.flink_sinks import OPTIONS, flink_type
from recorders.running import find_compiler
from recorders.sinks import Sink, column_parts, name_texts, record_sink, value_texts

FLINK: Final = {"3.2.1": "1.18.1", "3.5.0": "1.20.1"}
"""The release of Flink that a release of Flink CDC names in its own build."""
_SINK: Final = (
    "flink-cdc-connect/flink-cdc-pipeline-connectors/flink-cdc-pipeline-connector-kafka"
    "/src/main/java/org/apache/flink/cdc/connectors/kafka"
)
"""The folder of the sink's sources in a clone."""
_SERIALIZERS: Final = (
    *("json/", "serialization/", "utils/JsonRow"),
    *("sink/Key", "sink/KafkaDataSinkOptions", "sink/PartitionStrategy"),
)
"""How the names of the sources begin that its serializers need."""
_LIMIT_S: Final = 180


def flink_cdc_bundle(release: str) -> Bundle:
    """The jars that the serializers of the sink need."""
    of_flink = (
        *("flink-json", "flink-csv", "flink-core", "flink-table-common", "flink-table-runtime"),
        *("flink-table-api-java", "flink-table-api-java-bridge", "flink-connector-base"),
    )
    return Bundle(
        f"flink-cdc-{release}",
        "Flink CDC and what its serializers need",
        (
            *(("org.apache.flink", f"flink-cdc-{name}", release) for name in ("common", "runtime")),
            *(("org.apache.flink", name, FLINK[release]) for name in of_flink),
            ("org.apache.kafka", "connect-json", "3.4.0"),
            ("io.debezium", "debezium-core", "1.9.8.Final"),
            LOGGING,
        ),
        main="flink-cdc-common-",
        download="about 80 jars",
    )


def compile_serializers(clone: Path, release: str, jars: Sequence[Path], folder: Path) -> Path:
    """Compiles the sink's serializers of a release, and returns the folder of their classes. Raises
    HarnessError if the clone lacks the release, or if they cannot be compiled.
    """
    sources, classes = folder / "sources", folder / "classes"
    archive_bytes = _run(
        ["git", "-C", str(clone), "archive", "--format=zip", f"release-{release}", _SINK]
    )
    with zipfile.ZipFile(io.BytesIO(archive_bytes)) as archive:
        archive.extractall(sources)
    root = sources / _SINK
    files = [
        str(path)
        for path in sorted(root.rglob("*.java"))
        if str(path.relative_to(root)).startswith(_SERIALIZERS)
    ]
    compiler = Path(find_compiler()).with_name("javac")
    class_path = os.pathsep.join(map(str, jars))
    _run([str(compiler), "-nowarn", "-d", str(classes), "-cp", class_path, *files])
    return classes


def _run(command: Sequence[str]) -> bytes:
    """The output of a command. Raises HarnessError if it fails."""
    finished = subprocess.run(command, capture_output=True, timeout=_LIMIT_S, check=False)
    if finished.returncode:
        raise HarnessError(f"{command[0]} failed:\n{finished.stderr.decode()[-2000:]}")
    return finished.stdout


class FlinkCdcSink(Sink):
    """The Kafka sink of Flink CDC's pipelines. `class_paths` has the jars and compiled classes of
    each release.
    """

    product = "Flink CDC"
    file = "tests/shared/literals/flink-cdc-sinks.txt"
    formats = ("flinkcdc-canal-json", "flinkcdc-debezium-json")
    profiles = (
        "3.2.1",
        "3.2.1+iso-8601+plain-decimals",
        "3.5.0",
        "3.5.0+plain-decimals",
        "3.5.0+non-null",
        "3.5.0+iso-8601+plain-decimals+non-null",
    )
    longest_message = 220
    has_keys = True

    def __init__(self, class_paths: Mapping[str, Sequence[Path]]) -> None:
        self._class_paths = class_paths

    def serialize(self, profile: Profile, lines: str) -> Iterator[str]:
        """The sink's messages, from the classes of the profile's release."""
        return iter(run_program("FlinkCdcSinks", self._class_paths[profile.release], lines))

    def table_line(self, fmt: Format[Any], profile: Profile, table: Table) -> str:
        """The format, its options joined by blanks, database and table, the number of the key's
        columns and their names, then name and type of each column.
        """
        options = [OPTIONS[option] for option in profile.options]
        kind = fmt.name.removeprefix("flinkcdc-")
        names = name_texts((table.database, table.name))
        key = name_texts(table.primary_key)
        parts = ["table", kind, " ".join(options), *names, str(len(key)), *key]
        return "\t".join([*parts, *column_parts(table, flink_type)]) + "\n"

    def change_lines(self, table: Table, images: RowImages) -> list[str]:
        """A change is one line with both sides, and one message; an UPDATE of the key is two."""
        return [_change_line(table, part) for part in _split_key_update(table, images)]


def _split_key_update(table: Table, images: RowImages) -> Sequence[RowImages]:
    """The changed row as the sink gets it: an UPDATE of the key reaches it as a DELETE and an
    INSERT.
    """
    before, after = images.before, images.after
    if before is None or after is None:
        return (images,)
    if all(before.get(column) == after.get(column) for column in table.primary_key):
        return (images,)
    return (RowImages(before, None), RowImages(None, after))


def _change_line(table: Table, images: RowImages) -> str:
    """The line of a changed row: `change`, and the values of both sides."""
    sides = [_row_part(table, images.before), _row_part(table, images.after)]
    return "\t".join(["change", *sides]) + "\n"


def _row_part(table: Table, source_row: Row | None) -> str:
    """The values of one side of a change, or `-` for a side that it does not have."""
    if source_row is None:
        return "-"
    return "\t".join(value_texts(table, source_row))


@click.command()
@click.option("--source", "clone", required=True, help="A git clone of apache/flink-cdc.")
@click.option("--check", is_flag=True, help="Write nothing; exit 1 if the file would change.")
def main(clone: str, check: bool) -> None:
    """Writes, or checks with --check, what the sink's serializers make of the histories' rows."""
    note: Note = partial(click.echo, err=True)
    with tempfile.TemporaryDirectory(prefix="cdc-conformance-flink-cdc-") as folder:
        class_paths: dict[str, Sequence[Path]] = {}
        for release in FLINK:
            jars = jars_of(flink_cdc_bundle(release), note)
            classes = compile_serializers(Path(clone), release, jars, Path(folder, release))
            class_paths[release] = [classes, *jars]
        agrees = record_sink(FlinkCdcSink(class_paths), check=check)
    if not agrees:
        sys.exit(1)


if __name__ == "__main__":
    main()
