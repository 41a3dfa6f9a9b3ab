import subprocess
import sys
from pathlib import Path
from zipfile import ZipFile

import pyarrow as pa
import pyspark
import pytest

import _cdc_conformance_daemon as daemon


@pytest.fixture
def archives(tmp_path, monkeypatch):
    """Spark's archives and one of a user, all of which Python has looked into, before the rest of
    the path.
    """
    names = ("pyspark.zip", "py4j-0.10.9.9-src.zip", "spark-core_2.13-4.0.0.jar", "mine.zip")
    places = [str(tmp_path / name) for name in names]
    for place in places:
        with ZipFile(place, "w") as archive:
            archive.writestr("nothing.py", "")
        monkeypatch.setitem(sys.path_importer_cache, place, None)
    monkeypatch.setattr(sys, "path", [*places, *sys.path])
    return places


def test_spark_s_archives_leave_the_path_and_others_stay(archives):
    *ours, mine = archives
    daemon.leave_out_archives()
    assert sys.path[0] == mine
    assert not {*ours} & {*sys.path}
    assert {*archives} & {*sys.path_importer_cache} == {mine}


def test_they_stay_where_pyspark_is_installed_nowhere_else(archives, monkeypatch):
    monkeypatch.setattr(daemon, "find_spec", lambda name: None if name == "py4j" else name)
    path = list(sys.path)
    daemon.leave_out_archives()
    assert sys.path == path
    assert {*archives} <= {*sys.path_importer_cache}


def test_workers_import_pyspark_from_where_it_is_installed(spark):
    def look(batches):
        import sys
        from pathlib import Path

        import pyspark

        for _ in batches:
            archives = [
                place
                for place in {*sys.path, *sys.path_importer_cache}
                if Path(place).suffix in (".zip", ".jar")
            ]
            yield pa.RecordBatch.from_pydict({"place": [pyspark.__file__, *archives]})

    places = {
        row.place
        for row in spark.range(1, numPartitions=1).mapInArrow(look, "place string").collect()
    }
    installed = f"python{sys.version_info.major}{sys.version_info.minor}.zip"
    assert {place for place in places if Path(place).name != installed} == {pyspark.__file__}


def test_folders_of_the_user_hide_nothing_of_it(tmp_path):
    for name in ("generators", "conformance", "spark_checks"):
        (tmp_path / f"{name}.py").write_text("raise SystemExit(7)", "utf-8")
    started = [sys.executable, "-m", daemon.__name__, "pyspark.worker"]
    done = subprocess.run(
        started,
        cwd=tmp_path,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=False,
        timeout=60,
    )
    # It tells its port, and ends with its standard input.
    assert (len(done.stdout), done.stderr) == (4, b"")
