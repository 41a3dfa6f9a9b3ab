"""Corpora on disk: whole or not at all, read back as they were, and refused when damaged or
hostile.
"""

from __future__ import annotations

import errno
import hashlib
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from generators.drawing.cases import as_case, boundary_scenarios
from generators.errors import HarnessError, UsageError
from generators.model import Case
from generators.storage import corpus
from generators.storage._folder import Sink
from generators.storage.fixtures import fixture_cases
from generators.wire_format import get

FMT = get("ticdc-canal-json")
PROFILE = FMT.profile("v7.1.6+extension")


@pytest.fixture
def cases() -> list[Case]:
    return list(fixture_cases(FMT, PROFILE))


@pytest.fixture
def written(tmp_path: Path, cases: list[Case]) -> Path:
    return corpus.write(tmp_path, FMT, PROFILE, cases, seed=7).path


def content(folder: Path) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in folder.iterdir()}


def test_what_is_read_is_what_was_written(written: Path, cases: list[Case]) -> None:
    assert written.parts[-2:] == ("ticdc-canal-json", "v7.1.6+extension")
    again = corpus.read(written)
    assert again.cases == tuple(cases)
    assert (again.format, again.profile, again.deployment, again.seed) == (
        FMT.name,
        PROFILE.name,
        PROFILE.deployment,
        7,
    )
    assert corpus.verify(written) == []


def test_every_boundary_case_survives(tmp_path: Path) -> None:
    cases = tuple(as_case(FMT, PROFILE, scenario) for scenario in boundary_scenarios(FMT, PROFILE))
    assert corpus.read(corpus.write(tmp_path, FMT, PROFILE, cases, seed=0).path).cases == cases


def test_the_summary_counts(tmp_path: Path, cases: list[Case]) -> None:
    summary = corpus.write(tmp_path, FMT, PROFILE, iter(cases), seed=7)
    assert summary.cases == len(cases)
    assert summary.messages == sum(len(case.written) for case in cases)
    assert summary.changes == sum(len(record.changes) for case in cases for record in case.written)
    assert summary.size == sum(map(len, content(summary.path).values()))


def test_ordinals_count_per_partition_and_join_expectations(written: Path) -> None:
    places = [json.loads(line) for line in (written / corpus.MESSAGES).read_text().splitlines()]
    following: dict[tuple[str, int], int] = {}
    for line in places:
        place = line["topic"], line["partition"]
        assert line["ordinal"] == following.get(place, 0)
        following[place] = line["ordinal"] + 1
    assert len(following) > 1
    known = {(line["topic"], line["partition"], line["ordinal"]): line["case"] for line in places}
    for text in (written / corpus.EXPECTED).read_text().splitlines():
        line = json.loads(text)
        assert known[line["topic"], line["partition"], line["ordinal"]] == line["case"]


def test_files_are_ascii_with_unix_line_ends(written: Path) -> None:
    for name, data in content(written).items():
        assert data.isascii() and data.endswith(b"\n") and b"\r" not in data, name


def test_writing_again_replaces_and_gives_the_same_bytes(
    tmp_path: Path, written: Path, cases: list[Case]
) -> None:
    before = content(written)
    corpus.write(tmp_path, FMT, PROFILE, cases[:3], seed=7)
    assert len(corpus.read(written).cases) == 3
    corpus.write(tmp_path, FMT, PROFILE, cases, seed=7)
    assert content(written) == before
    assert [entry.name for entry in written.parent.iterdir()] == [written.name]


def test_parquet_has_the_shape_of_sparks_kafka_source(tmp_path: Path, cases: list[Case]) -> None:
    folder = corpus.write(tmp_path, FMT, PROFILE, cases, seed=7, parquet=True).path
    table = pq.read_table(folder / corpus.PARQUET)
    assert {field.name: str(field.type) for field in table.schema} == {
        "key": "binary",
        "value": "binary",
        "topic": "string",
        "partition": "int32",
        "offset": "int64",
        "timestamp": "timestamp[us, tz=UTC]",
        "timestampType": "int32",
        "headers": "list<element: struct<key: string, value: binary>>",
    }
    messages = [record.message for case in cases for record in case.written]
    rows = table.to_pylist()
    assert [(r["key"], r["value"], r["topic"], r["partition"]) for r in rows] == [
        (m.key, m.value, m.topic, m.partition) for m in messages
    ]
    assert {r["headers"] for r in rows} == {None}
    lines = [json.loads(line) for line in (folder / corpus.MESSAGES).read_text().splitlines()]
    assert [r["offset"] for r in rows] == [line["ordinal"] for line in lines]
    assert corpus.verify(folder) == []


def test_a_full_disk_leaves_nothing(
    tmp_path: Path, cases: list[Case], monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(self: Sink, data: bytes) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(Sink, "raw", full)
    with pytest.raises(HarnessError, match="disk full") as caught:
        corpus.write(tmp_path / "a" / "b", FMT, PROFILE, cases, seed=7)
    assert caught.value.exit_code == 3
    assert list(tmp_path.iterdir()) == []


def test_an_interrupt_keeps_the_old_corpus(
    tmp_path: Path, written: Path, cases: list[Case]
) -> None:
    before = content(written)

    def interrupted() -> Any:
        yield cases[0]
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        corpus.write(tmp_path, FMT, PROFILE, interrupted(), seed=8)
    assert content(written) == before
    assert [entry.name for entry in written.parent.iterdir()] == [written.name]


def test_a_folder_with_other_files_is_not_replaced(
    tmp_path: Path, written: Path, cases: list[Case]
) -> None:
    (written / "notes.txt").write_text("mine")
    with pytest.raises(UsageError, match=r"notes\.txt"):
        corpus.write(tmp_path, FMT, PROFILE, cases, seed=7)
    assert (written / "notes.txt").read_text() == "mine"


def test_cases_of_another_profile_and_repeated_ids_are_refused(
    tmp_path: Path, cases: list[Case]
) -> None:
    with pytest.raises(UsageError, match="is not of"):
        corpus.write(tmp_path, FMT, FMT.profile("v5.3.4"), cases, seed=7)
    with pytest.raises(UsageError, match="twice"):
        corpus.write(tmp_path, FMT, PROFILE, [cases[0], cases[0]], seed=7)
    assert list(tmp_path.iterdir()) == []


def resign(folder: Path, name: str) -> None:
    """Makes the manifest agree with a changed file."""
    manifest = json.loads((folder / corpus.MANIFEST).read_text())
    manifest["sha256"][name] = hashlib.sha256((folder / name).read_bytes()).hexdigest()
    (folder / corpus.MANIFEST).write_text(json.dumps(manifest))


def edit_manifest(folder: Path, change: Callable[[dict[str, Any]], object]) -> None:
    manifest = json.loads((folder / corpus.MANIFEST).read_text())
    change(manifest)
    (folder / corpus.MANIFEST).write_text(json.dumps(manifest))


def edit_line(folder: Path, name: str, change: Callable[[dict[str, Any]], object]) -> None:
    lines = (folder / name).read_text().splitlines()
    line = json.loads(lines[1])
    change(line)
    lines[1] = json.dumps(line)
    (folder / name).write_text("\n".join(lines) + "\n")
    resign(folder, name)


def link_out(folder: Path) -> None:
    outside = folder.parent / "outside"
    (folder / corpus.MESSAGES).rename(outside)
    (folder / corpus.MESSAGES).symlink_to(outside)


def truncate(folder: Path) -> None:
    file = folder / corpus.MESSAGES
    file.write_bytes(file.read_bytes()[:-1])
    resign(folder, corpus.MESSAGES)


def pipe(folder: Path) -> None:
    (folder / corpus.TABLES).unlink()
    os.mkfifo(folder / corpus.TABLES)


DAMAGES: dict[str, tuple[Callable[[Path], object], str]] = {
    "flipped byte": (
        lambda d: (d / corpus.EXPECTED).write_bytes((d / corpus.EXPECTED).read_bytes() + b" "),
        "wrong checksum",
    ),
    "missing file": (lambda d: (d / corpus.TABLES).unlink(), r"tables\.json: missing"),
    "missing manifest": (lambda d: (d / corpus.MANIFEST).unlink(), r"manifest\.json: missing"),
    "extra file": (lambda d: (d / "x.jsonl").write_text(""), r"x\.jsonl: not in the manifest"),
    "parent path": (
        lambda d: edit_manifest(d, lambda m: m["sha256"].update({"../outside": "0"})),
        r"refuses '\.\./outside'",
    ),
    "absolute path": (
        lambda d: edit_manifest(d, lambda m: m["sha256"].update({"/etc/passwd": "0"})),
        "refuses '/etc/passwd'",
    ),
    "link": (link_out, "symbolic link"),
    "pipe": (pipe, "no regular file"),
    "unknown version": (
        lambda d: edit_manifest(d, lambda m: m.update(version=99)),
        "version: 99 is not known",
    ),
    "wrong count": (
        lambda d: edit_manifest(d, lambda m: m["counts"].update(changes=1)),
        r"counts\.changes",
    ),
    "manifest no JSON": (lambda d: (d / corpus.MANIFEST).write_bytes(b"\xff{"), "not UTF-8"),
    "manifest deep": (
        lambda d: (d / corpus.MANIFEST).write_bytes(b"[" * 100_000),
        "nested too deeply",
    ),
    "digest no string": (
        lambda d: edit_manifest(d, lambda m: m["sha256"].update({corpus.TABLES: 5})),
        "sha256.tables.json",
    ),
    "last line cut": (truncate, "last line does not end"),
    "line no JSON": (
        lambda d: edit_line(d, corpus.MESSAGES, lambda m: m.update(key=float("nan"))),
        r"messages\.jsonl:2: NaN",
    ),
    "lone surrogate": (
        lambda d: edit_line(d, corpus.EXPECTED, lambda m: m.update(error="\ud800")),
        r"expected\.jsonl:2: a lone surr",
    ),
    "unknown compression": (
        lambda d: edit_manifest(d, lambda m: m["deployment"].update(compression="../x")),
        r"deployment\.compression: '\.\./x' is none of none, snappy, lz4",
    ),
    "unknown case": (
        lambda d: edit_line(d, corpus.MESSAGES, lambda m: m.update(case="x")),
        r"messages\.jsonl:2: field case",
    ),
    "far partition": (
        lambda d: edit_line(d, corpus.MESSAGES, lambda m: m.update(partition=1 << 32)),
        "field partition: must be",
    ),
    "far time": (
        lambda d: edit_line(d, corpus.MESSAGES, lambda m: m.update(timestamp_ms=10**30)),
        "field timestamp_ms: must be",
    ),
    "format above": (
        lambda d: edit_manifest(d, lambda m: m.update(format="../../x")),
        r"format: '\.\./\.\./x' cannot name a folder",
    ),
    "profile above": (
        lambda d: edit_manifest(d, lambda m: m.update(profile="..")),
        r"profile: '\.\.' cannot name a folder",
    ),
    "wrong ordinal": (
        lambda d: edit_line(d, corpus.MESSAGES, lambda m: m.update(ordinal=77)),
        r"messages\.jsonl:2: field ordinal",
    ),
    "bad field": (
        lambda d: edit_line(d, corpus.EXPECTED, lambda m: m.update(kind="X")),
        r"expected\.jsonl:2: field kind",
    ),
    "bad table": (
        lambda d: edit_line(d, corpus.EXPECTED, lambda m: m.update(table_id=-1)),
        r"expected\.jsonl:2: field table_id",
    ),
    "no such message": (
        lambda d: edit_line(d, corpus.EXPECTED, lambda m: m.update(ordinal=999)),
        r"expected\.jsonl:2: field ordinal",
    ),
    "surplus field": (
        lambda d: edit_line(d, corpus.EXPECTED, lambda m: m.update(after={"c": {"x": 1}})),
        r"after\.c\.x: unknown",
    ),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_damaged_and_hostile_corpora_are_refused(written: Path, damage: str) -> None:
    make, message = DAMAGES[damage]
    make(written)
    with pytest.raises(corpus.CorpusError, match=message) as caught:
        corpus.read(written)
    assert caught.value.exit_code == 2
    assert str(caught.value) in corpus.verify(written)


def test_verify_names_every_damaged_file(written: Path) -> None:
    (written / corpus.TABLES).unlink()
    (written / corpus.MESSAGES).write_text("")
    assert len(corpus.verify(written)) == 2


def test_find_lists_corpora_below_a_folder(tmp_path: Path, written: Path) -> None:
    assert corpus.find(tmp_path) == corpus.find(written) == [written]
    with pytest.raises(corpus.CorpusError, match="no corpus here"):
        corpus.find(tmp_path / "nowhere")
