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
import tarfile
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Final

import click

from conformance.brokers.jars import LOGGING, Bundle, Note, jars_of
from generators.drawing.cases import as_case, boundary_scenarios
from generators.errors import HarnessError
from generators.model import Op, Row, RowChange, RowImages, Scenario, Table
from generators.profiles import Profile
from generators.wire_format import Format, get
from recorders.debezium_types import run_program
from recorders.flink_sinks import (
    OPTIONS,
    Comparison,
    base64_text,
    flink_type,
    has_writable_rows,
    kept_line,
    value_text,
)
from recorders.running import find_compiler

FILE: Final = "tests/shared/literals/flink-cdc-sinks.txt"
FORMATS: Final = ("flinkcdc-canal-json", "flinkcdc-debezium-json")
PROFILES: Final = (
    "3.2.1",
    "3.2.1+iso-8601+plain-decimals",
    "3.5.0",
    "3.5.0+plain-decimals",
    "3.5.0+non-null",
    "3.5.0+iso-8601+plain-decimals+non-null",
)
"""The profiles that are compared; of those that run unasked the messages are kept."""
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
LONGEST_MESSAGE: Final = 220
"""The characters of the longest message, key and value, that the file keeps."""


def flink_cdc_bundle(release: str) -> Bundle:
    """The jars that the serializers of the sink need."""
    of_flink = (
        *("flink-json", "flink-csv", "flink-core", "flink-table-common", "flink-table-runtime"),
        *("flink-table-api-java", "flink-table-api-java-bridge", "flink-connector-base"),
    )
    return Bundle(
        f"flink-cdc-{release}",
        f"what Flink CDC's serializers {release} need",
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
    tree = _run(["git", "-C", str(clone), "archive", f"release-{release}", _SINK])
    with tarfile.open(fileobj=io.BytesIO(tree)) as archive:
        archive.extractall(sources, filter="data")
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


def compare(fmt: Format[Any], profile: Profile, class_path: Sequence[Path]) -> Iterator[Comparison]:
    """Runs the sink's serializers on the rows of all named histories without statements."""
    histories = [
        scenario for scenario in boundary_scenarios(fmt, profile) if has_writable_rows(scenario)
    ]
    blocks = [_lines_of(fmt, profile, scenario) for scenario in histories]
    written = iter(run_program("FlinkCdcSinks", class_path, "".join(map("".join, blocks))))
    for scenario, block in zip(histories, blocks, strict=True):
        flink = tuple(next(written) for line in block if line.startswith("change"))
        case = as_case(fmt, profile, scenario)
        ours = tuple(
            f"{(record.message.key or b'').decode()}\t{(record.message.value or b'').decode()}"
            for record in case.written
        )
        yield Comparison(fmt.name, profile.name, scenario.name, flink, ours)
    assert next(written, None) is None


def _lines_of(fmt: Format[Any], profile: Profile, scenario: Scenario) -> list[str]:
    """The lines for the Java program: one for each table of the history, one for each change that
    reaches the sink.
    """
    lines: list[str] = []
    table: Table | None = None
    for event in scenario.history.events:
        if not isinstance(event, RowChange) or event.op is Op.TRUNCATE:
            continue
        if event.table != table:
            table = event.table
            lines.append(_table_line(fmt, profile, table))
        for images in event.rows:
            lines += [_change_line(table, part) for part in _split_key_update(table, images)]
    return lines


def _table_line(fmt: Format[Any], profile: Profile, table: Table) -> str:
    names = [base64_text(text.encode()) for text in (table.database, table.name)]
    key = [base64_text(column.encode()) for column in table.primary_key]
    columns = [f"{base64_text(c.name.encode())}\t{flink_type(c.type)}" for c in table.columns]
    options = " ".join(OPTIONS[option] for option in profile.options)
    kind = fmt.name.removeprefix("flinkcdc-")
    return "\t".join(["table", kind, options, *names, str(len(key)), *key, *columns]) + "\n"


def _split_key_update(table: Table, images: RowImages) -> Sequence[RowImages]:
    """An UPDATE of the key is a DELETE and an INSERT before it reaches the sink."""
    before, after = images.before, images.after
    if before is None or after is None:
        return (images,)
    if all(before.get(column) == after.get(column) for column in table.primary_key):
        return (images,)
    return (RowImages(before, None), RowImages(None, after))


def _change_line(table: Table, images: RowImages) -> str:
    sides = [_row_part(table, images.before), _row_part(table, images.after)]
    return "\t".join(["change", *sides]) + "\n"


def _row_part(table: Table, source_row: Row | None) -> str:
    if source_row is None:
        return "-"
    return "\t".join(value_text(c.type, source_row.get(c.name)) for c in table.columns)


@click.command()
@click.option("--source", "clone", required=True, help="A git clone of apache/flink-cdc.")
@click.option("--check", is_flag=True, help="Write nothing; exit 1 if the file would change.")
def main(clone: str, check: bool) -> None:
    """Writes, or checks with --check, what the sink's serializers make of the histories' rows."""
    note: Note = partial(click.echo, err=True)
    kept_lines: list[str] = []
    differing = 0
    with tempfile.TemporaryDirectory(prefix="cdc-conformance-flink-cdc-") as folder:
        class_paths: dict[str, Sequence[Path]] = {}
        for release in FLINK:
            jars = jars_of(flink_cdc_bundle(release), note)
            classes = compile_serializers(Path(clone), release, jars, Path(folder, release))
            class_paths[release] = [classes, *jars]
        for name in FORMATS:
            fmt = get(name)
            unasked = {profile.name for profile in fmt.profiles}
            for profile in map(fmt.profile, PROFILES):
                is_kept = profile.name in unasked
                kept_lines += [f"{name}\t{profile.name}\n"] if is_kept else []
                counts: Counter[str] = Counter()
                for comparison in compare(fmt, profile, class_paths[profile.release]):
                    for flink, ours in zip(comparison.flink, comparison.ours, strict=True):
                        counts["identical" if flink == ours else "other"] += 1
                        if flink != ours and counts["other"] <= 3:
                            click.echo(
                                f"  {comparison.scenario}\n    flink {flink}\n    ours  {ours}"
                            )
                    kept_lines += [kept_line(comparison, LONGEST_MESSAGE)] if is_kept else []
                differing += counts["other"]
                click.echo(
                    f"{name} {profile.name}: {counts['identical']} messages identical,"
                    f" {counts['other']} other"
                )
    file = Path(__file__).parents[1] / FILE
    changed = not file.exists() or file.read_text("utf-8") != "".join(kept_lines)
    if not check:
        file.write_text("".join(kept_lines), "utf-8")
    if differing or (changed and check):
        sys.exit(1)


if __name__ == "__main__":
    main()
