"""Sessions on other machines: what is sent there, and what a machine lacks, by the words of its
error.
"""

import sys
import zipfile
from types import ModuleType, SimpleNamespace
from unittest.mock import MagicMock

import pytest
from text_tables import of_lines

from spark_checks.services import cluster

PLACE = "spark://h:7077"


@pytest.fixture
def sent():
    """A session that keeps what it is given, and that."""
    artifacts = []
    return SimpleNamespace(
        addArtifacts=lambda path, pyfile: artifacts.append((path, pyfile))
    ), artifacts


def names(path):
    with zipfile.ZipFile(path) as archive:
        return archive.namelist()


def test_workers_get_our_packages_with_their_data(sent, tmp_path):
    session, artifacts = sent
    cluster.send_harness_modules(session, str(tmp_path))
    ((path, pyfile),) = artifacts
    assert pyfile
    listed = names(path)
    assert {
        "generators/model.py",
        "spark_checks/decoders/__init__.py",
        "conformance/rules/sources/canal.toml",
    } <= set(listed)
    assert not any("__pycache__" in name for name in listed)


def test_workers_get_a_decoder_s_modules_and_the_whole_of_its_packages(sent, tmp_path, monkeypatch):
    session, artifacts = sent
    for name in (
        "mine.py",
        "helper.py",
        "deep/one.py",
        "parts/__init__.py",
        "parts/used.py",
        "parts/in/late.py",
    ):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    parts = ModuleType("parts")
    parts.__file__ = str(tmp_path / "parts" / "__init__.py")
    monkeypatch.setitem(sys.modules, "parts", parts)
    modules = {
        "_cdc_user_mine": "mine.py",
        "helper": "helper.py",
        "deep.one": "deep/one.py",
        "parts.used": "parts/used.py",
    }
    cluster.send(session, str(tmp_path), {name: tmp_path / file for name, file in modules.items()})
    ((path, _),) = artifacts
    assert names(path) == [
        "deep/one.py",
        "helper.py",
        "mine.py",
        "parts/__init__.py",
        "parts/in/late.py",
        "parts/used.py",
    ]
    cluster.send(session, str(tmp_path), {})
    assert len(artifacts) == 1


@pytest.mark.parametrize(("text", "message"), of_lines(__file__, "errors.txt"))
def test_what_a_machine_lacks_is_known_by_its_error(text, message):
    assert cluster.missing_on_cluster(RuntimeError(text), PLACE).startswith(message.format(PLACE))


@pytest.mark.parametrize(
    "text",
    [
        "No module named 'no_such_module_here'",
        "ModuleNotFoundError: No module named 'no_such_module'",
        "x",
    ],
)
def test_what_is_missing_here_too_is_the_decoder_s_fault(text):
    assert cluster.missing_on_cluster(ValueError(text), PLACE) == ""


def test_a_table_through_the_driver_is_the_file_s(spark, tmp_path, monkeypatch):
    import pyarrow as pa

    from conformance.engines.engine import write_records
    from generators.model import Message

    messages = [
        *(
            Message("t", 3, b"k", b"v", (("a", b"\x00"), ("b", b"")), 1_700_000_000_123),
            Message("t", 0, None, None),
        ),
        Message("u", 1, b"", b"\xff" * 70_000, timestamp_ms=253_402_300_799_999),
    ]
    paths = [str(tmp_path / f"{number}.parquet") for number in (1, 2)]
    write_records(tmp_path / "1.parquet", messages, [0, 1, 1 << 33])
    write_records(tmp_path / "2.parquet", messages[:1], [5])
    here = cluster.table(spark, *paths)
    monkeypatch.setattr(cluster, "is_local", lambda _spark: False)
    there = cluster.table(spark, *paths)
    assert there.schema == here.schema
    order = ["topic", "partition", "offset"]
    assert there.orderBy(*order).toArrow() == here.orderBy(*order).toArrow()
    assert isinstance(there.toArrow(), pa.Table)


def test_a_folder_that_is_not_shared_is_noticed(spark, tmp_path):
    assert cluster.shares_folder(spark, str(tmp_path))
    assert not cluster.shares_folder(spark, "/proc/no-such")
    # What other machines write to disks of their own does not arrive.
    assert not cluster.shares_folder(MagicMock(), str(tmp_path))
    assert list(tmp_path.iterdir()) == []
