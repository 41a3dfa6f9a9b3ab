"""Reproductions of faults without the harness: programs of at most 30 lines, in Java against a
reader's own class, or in Python against the functions of a package for Spark.
"""

from __future__ import annotations

import base64
import itertools
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Final

from conformance.brokers.jars import LOGGING, Bundle, Note, jars_of, require_java
from conformance.brokers.spark import fetch_packages
from conformance.engines.spark_conf import MavenPackage, parse_packages
from generators.errors import HarnessError
from scoreboard.judging import JAVA, JVM, ROOT, install_wheels, path_of, run_compiler
from scoreboard.readers import JACKSON, READERS, Reader
from scoreboard.record import FAULTS, Fault, faults

TEMPLATES: Final = JAVA / "reproduce"
"""The folder of the Java programs' texts, with placeholders."""
SPARK_TEMPLATES: Final = ROOT / "spark" / "reproduce"
"""The folder of the Python programs' texts, with placeholders."""
PRODUCTS: Final = (
    *("flink", "flink-avro", "connect", "iceberg", "paimon", "seatunnel", "doris", "kafka2delta"),
)
"""The products whose faults have programs."""
OTHER_RELEASES: Final[Mapping[str, tuple[str, ...]]] = {
    "flink": ("1.20.4", "2.2.1"),
    "flink-avro": ("1.20.0", "2.2.0"),
    "connect": ("3.9.1", "4.1.1", "4.3.1"),
    "iceberg": ("1.10.1", "1.11.0"),
    "paimon": ("1.2.0",),
    "doris": ("24.0.1", "25.0.0"),
}
"""Releases beside the judged one on which the programs are tried."""
_SEATUNNEL: Final = {
    "BYTES": "PrimitiveByteArrayType.INSTANCE",
    **{name: f"LocalTimeType.LOCAL_{name}_TYPE" for name in ("DATE", "TIME")},
    "TIMESTAMP": "LocalTimeType.LOCAL_DATE_TIME_TYPE",
    **{name: f"BasicType.{name}_TYPE" for name in ("BOOLEAN", "DOUBLE", "INT", "STRING")},
    **{name: f"BasicType.{java}_TYPE" for name, java in (("BIGINT", "LONG"), ("TINYINT", "BYTE"))},
}
"""SeaTunnel's types by the names of SQL."""
_PARSERS: Final = {"canal": "CanalRecordParser", "debezium": "DebeziumJsonRecordParser"}
"""The class of Paimon that parses each envelope."""


def judged_reader(product: str) -> Reader:
    """The first reader of a product on the board: its jars or packages are those that the programs
    need.
    """
    return next(reader for reader in READERS if reader.record == product)


def bundle(product: str, release: str = "") -> Bundle | None:
    """The jars that the programs need that show a product's faults (named failures), of one
    of its releases; "" is the release that was judged. None for a package for Spark.
    """
    reader = judged_reader(product)
    if reader.bundle is None or release in ("", reader.release):
        return reader.bundle
    modules = tuple(
        (org, name, release if at == reader.release else at)
        for org, name, at in reader.bundle.modules
    )
    return replace(reader.bundle, name=f"{reader.bundle.name}-at-{release}", modules=modules)


def spark_packages(product: str) -> tuple[MavenPackage, ...]:
    """The packages of a Maven registry that Spark needs for a product's programs."""
    options = dict(itertools.pairwise(judged_reader(product).options))
    return parse_packages(options["--spark-packages"])


def releases(product: str) -> list[str]:
    """The releases of a product on which the programs that show its faults are run, the oldest
    first: the one that was judged, and `OTHER_RELEASES`.
    """
    return sorted(
        (*OTHER_RELEASES.get(product, ()), judged_reader(product).release),
        key=lambda release: [int(number) for number in release.split(".")],
    )


def name_of(product: str, fault: Fault) -> str:
    """The name of the Java class of the program that shows a fault, made of the product and the
    fault's id.
    """
    words = fault.id.removeprefix(f"{product}-").split("-")
    return "".join(word.capitalize() for word in (*product.split("-"), *words))


def program(product: str, fault: Fault) -> str:
    """The text of the program that shows a fault without the harness, in Java, or in Python for a
    package for Spark; its first line names the jars or the packages that it needs.
    """
    jars = bundle(product)
    if jars is None:
        template = (SPARK_TEMPLATES / f"{product}.txt").read_text("utf-8")
        spark = spark_packages(product)[0].release
        wheels = " ".join(line.partition(" ")[0] for line in judged_reader(product).wheels)
        return f"# pip install pyspark=={spark} {wheels}\n" + template.replace(
            "@MESSAGE@", fault.message
        )
    modules = [module for module in jars.modules if module not in (JACKSON, LOGGING)]
    columns = (
        [column.split(" ", 1) for column in re.split(r", (?=\w+ [A-Z])", fault.columns)]
        if fault.columns
        else []
    )
    placeholders = {
        "NAME": name_of(product, fault),
        "KIND": fault.kind,
        "Kind": fault.kind.capitalize(),
        "Parser": _PARSERS.get(fault.kind, ""),
        "COLUMNS": _columns(product, columns),
        "OPTIONS": ", ".join(f'"{key}", "{value}"' for key, value in fault.options.items()),
        "OPEN": (
            "CanalJsonDeserializationSchema.builder(table).setIgnoreParseErrors(true).build()"
            if fault.kind == "canal"
            else "new DebeziumJsonDeserializationSchema(table, true,"
            f" {fault.options.get('schema-include', 'false')})"
        ),
        "MESSAGE": fault.message.replace("\\", "\\\\"),
    }
    kind_template = TEMPLATES / f"{product}-{fault.kind}.txt"
    template_path = kind_template if kind_template.exists() else TEMPLATES / f"{product}.txt"
    template = template_path.read_text("utf-8")
    return f"//DEPS {' '.join(':'.join(module) for module in modules)}\n" + re.sub(
        r"@(\w+)@", lambda hit: placeholders[hit[1]], template
    )


def _columns(product: str, columns: list[list[str]]) -> str:
    """The Java code that declares a fault's columns, given as [name, type], in the program that
    shows it: fields of a row type in Flink, calls of `columns.column` in SeaTunnel.
    """
    if product.startswith("flink"):
        typed_columns = [(name, kind if "(" in kind else f"{kind}()") for name, kind in columns]
        return ", ".join(
            f'DataTypes.FIELD("{name}", DataTypes.{kind})' for name, kind in typed_columns
        )
    typed_columns = [
        (name, _SEATUNNEL.get(kind) or f"new {kind.replace('DECIMAL', 'DecimalType')}")
        for name, kind in columns
    ]
    column_calls = (
        f'PhysicalColumn.of("{name}", {kind}, 0, true, null, null)' for name, kind in typed_columns
    )
    return "\n".join(f"        columns.column({column});" for column in column_calls)


def reproducible_faults(product: str, directory: Path = FAULTS) -> tuple[Fault, ...]:
    """The faults of a product that have a reproduction."""
    return tuple(fault for fault in faults(product, directory) if fault.message)


def is_shown(fault: Fault, output: str) -> bool:
    """Whether a program's output shows its fault (a named failure) on a release: it is the
    output on record, or has other rows than those expected.
    """
    return output == fault.actual or (fault.expected[:1] in ("+", "-") and output != fault.expected)


def run(product: str, faults: Iterable[Fault], note: Note, release: str = "") -> dict[str, str]:
    """What the programs of faults print on a release, by the fault's id: they are compiled at once
    and run in one JVM, or run in one session of Spark.

    Raises HarnessError if the jars or packages cannot be had, or a program does not compile.
    """
    names = {name_of(product, fault): fault for fault in faults}
    needed = bundle(product, release)
    if needed is None:
        return _run_python(product, names, note)
    jars = jars_of(needed, note)
    with tempfile.TemporaryDirectory(prefix="cdc-conformance-reproduce-") as work:
        for name, fault in names.items():
            (Path(work) / f"{name}.java").write_text(program(product, fault), "utf-8")
        sources = [TEMPLATES / "All.java", *(Path(work) / f"{name}.java" for name in names)]
        run_compiler(
            require_java().path,
            jars,
            sources,
            Path(work) / "classes",
            f"the reproductions of {product} {release}",
        )
        words = [
            require_java().path,
            *JVM,
            "-Dorg.slf4j.simpleLogger.defaultLogLevel=off",
            f"@{path_of(Path(work) / 'classes', jars)}",
        ]
        ran = subprocess.run(
            [*words, "All", *names], capture_output=True, text=True, errors="replace", check=False
        )
    return _parse_outputs(product, release, names, ran)


def _run_python(product: str, names: Mapping[str, Fault], note: Note) -> dict[str, str]:
    """What the Python programs that show faults (named failures) print, by the fault's id:
    they are run in one session of Spark. `names` has the faults by the names of their programs.
    """
    reader = judged_reader(product)
    wheels = install_wheels(reader.wheels, note)
    jars = fetch_packages(spark_packages(product), note)
    with tempfile.TemporaryDirectory(prefix="cdc-conformance-reproduce-") as work:
        for name, fault in names.items():
            (Path(work) / f"{name}.py").write_text(program(product, fault), "utf-8")
        ran = subprocess.run(
            [sys.executable, str(SPARK_TEMPLATES / "all.py"), ",".join(map(str, jars)), *names],
            capture_output=True,
            text=True,
            errors="replace",
            cwd=work,
            env={**os.environ, "PYTHONPATH": str(wheels)},
            check=False,
        )
    return _parse_outputs(product, reader.release, names, ran)


def _parse_outputs(
    product: str,
    release: str,
    names: Mapping[str, Fault],
    ran: subprocess.CompletedProcess[str],
) -> dict[str, str]:
    """What each program printed, by the fault's id: a line of the run has a program's name, and in
    base64 what it printed. `names` has the faults by the names of their programs.

    Raises HarnessError unless all of them ran.
    """
    lines = [line.split(" ") for line in ran.stdout.splitlines()]
    if ran.returncode != 0 or [name for name, _ in lines] != list(names):
        raise HarnessError(
            f"the reproductions of {product} {release} ended with exit code"
            f" {ran.returncode}:\n{ran.stderr[-3000:]}"
        )
    return {
        names[name].id: base64.b64decode(output).decode("utf-8").strip("\n")
        for name, output in lines
    }
