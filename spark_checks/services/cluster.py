"""Sessions on other machines: what this process sends there, and what is missing there.

No disk is shared: tables go through the driver, and modules as Spark's own artefacts (`--py-files`,
`addArtifacts`).
"""

from __future__ import annotations

import functools
import importlib.util
import itertools
import re
import shutil
import sys
import zipfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Final

import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.pandas.types import from_arrow_schema
from pyspark.sql.utils import is_remote

OWN: Final = ("generators", "conformance", "spark_checks")
"""The packages that workers get."""
_numbers = itertools.count(1)

_NO_MODULE: Final = re.compile(
    r"(?:ModuleNotFoundError: No module named |PACKAGE_NOT_INSTALLED\] )['\"]?(\w+)"
)
"""How an error names a Python module that a worker lacks."""
_SIGNS: Final[Mapping[str, str]] = {
    r'Cannot run program "([^"]+)"': (
        "cannot run {}; PYSPARK_PYTHON names the Python of the workers"
    ),
    r"PYTHON_VERSION_MISMATCH\].*?(3\.\d+)": (
        "has Python {}, which is not this machine's; PYSPARK_PYTHON names another"
    ),
    r"\b(AVRO_NOT_LOADED|ClassNotFoundException: \S+)": "lacks a jar ({})",
    r"Failed to find (?:the )?data source: (\w+)": "lacks the jars of the source {}",
    r"(StatusCode\.UNAVAILABLE|stopped SparkContext|SparkContext was shut down)": (
        "has ended the session ({})"
    ),
}
"""What a machine of the session lacks, by what its error says."""


def is_local(spark: SparkSession) -> bool:
    """Whether the session runs on this machine alone, so that it can read this machine's files."""
    return not is_remote() and str(spark.conf.get("spark.master")).startswith("local")


def parallelism(spark: SparkSession) -> int:
    """The number of tasks that the session can run at once; on a Spark Connect server, which does
    not tell it, the number of partitions that Spark chooses.
    """
    if not is_remote():
        return int(spark.sparkContext.defaultParallelism)
    return spark.range(1_000).select(F.spark_partition_id()).distinct().count()


def table(spark: SparkSession, *paths: str) -> DataFrame:
    """A DataFrame of Parquet files that the harness wrote on this machine. If the session runs on
    other machines, the rows are sent there through the driver.
    """
    if is_local(spark):
        # Spark would run a job to learn the schema.
        return spark.read.schema(from_arrow_schema(pq.read_schema(paths[0]))).parquet(*paths)
    return spark.createDataFrame(pa.concat_tables(map(pq.read_table, paths)))


@functools.cache
def shares_folder(spark: SparkSession, folder: str) -> bool:
    """Whether the session's machines and this one share the folder: it is tested with a row from
    each of four tasks, whose files are removed.
    """
    place, tasks = Path(folder) / f".shared-{next(_numbers)}", 4
    try:
        spark.range(0, tasks, 1, tasks).write.mode("overwrite").parquet(str(place))
        return bool(
            sum(pq.read_metadata(file).num_rows for file in place.glob("*.parquet")) == tasks
        )
    except Exception:  # noqa: BLE001 - a folder that is not there fails in each file system's own way
        return False
    finally:
        shutil.rmtree(place, ignore_errors=True)


def send_harness_modules(spark: SparkSession, folder: str) -> None:
    """Sends the harness's own modules to the workers of a cluster, which have not installed it."""
    roots = [Path(sys.modules[name].__file__ or "").parent for name in OWN if name in sys.modules]
    files: dict[str, Path] = {}
    for root in roots:
        files |= {f"{root.name}/{file.relative_to(root)}": file for file in _sources(root)}
    _send(spark, Path(folder) / "cdc-conformance-modules.zip", files)


def send(spark: SparkSession, folder: str, modules: Mapping[str, Path]) -> None:
    """Sends a decoder's modules to the workers of a cluster: `modules` are files by name; of a
    package all modules are sent.
    """
    files: dict[str, Path] = {}
    for name, file in modules.items():
        top = sys.modules.get(name.partition(".")[0])
        if top is not None and (package_file := Path(top.__file__ or "/")).name == "__init__.py":
            files |= {
                f"{package_file.parent.name}/{path.relative_to(package_file.parent)}": path
                for path in _sources(package_file.parent)
            }
        else:
            # A decoder's file is loaded under a name that hides nothing.
            files[
                file.name if name.startswith("_cdc_user_") else f"{name.replace('.', '/')}.py"
            ] = file
    if files:
        _send(spark, Path(folder) / f"decoder-{next(_numbers)}.zip", files)


def _sources(root: Path) -> Iterable[Path]:
    """The files of a package's folder that workers need: modules and tables."""
    return itertools.chain.from_iterable(root.rglob(f"*.{kind}") for kind in ("py", "toml", "json"))


def _send(spark: SparkSession, path: Path, files: Mapping[str, Path]) -> None:
    """Sends Python modules to the session's executors as one zip file at `path`: `files` are the
    modules by their paths in it.
    """
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, file in sorted(files.items()):
            archive.write(file, name)
    spark.addArtifacts(str(path), pyfile=True)


def missing_on_cluster(error: BaseException, place: str) -> str:
    """What a machine of the session at `place` lacks, if that is the reason for the error; "" if it
    is not.
    """
    message = str(error)
    for sign, what in _SIGNS.items():
        if hit := re.search(sign, message, re.DOTALL):
            return f"a machine of {place} {what.format(hit[1])}"
    if (hit := _NO_MODULE.search(message)) and importlib.util.find_spec(hit[1].lower()) is not None:
        return (
            f"a worker of {place} has no Python module {hit[1].lower()}, which is here: install it"
            " there"
        )
    return ""
