"""The recordings are whole, and read as they were recorded."""

from __future__ import annotations

import json
import shutil

import pytest

from generators.errors import UnknownName
from generators.recorded import store


@pytest.fixture
def copy(tmp_path, monkeypatch):
    """The Canal recordings in a folder that a test may spoil."""
    shutil.copytree(store.root() / "canal", tmp_path / "canal")
    for cached in (store._index, store.messages, store.truth):
        cached.cache_clear()
    monkeypatch.setattr(store, "root", lambda: tmp_path)
    yield tmp_path / "canal"
    for cached in (store._index, store.messages, store.truth):
        cached.cache_clear()


@pytest.mark.parametrize(
    ("product", "number", "messages"),
    [("canal", 13, 2206), ("debezium", 40, 3807), ("ticdc", 51, 7546)],
)
def test_every_file_is_what_was_recorded(product, number, messages):
    assert store.verify(product) == []
    recordings = store.recordings(product)
    assert (len(recordings), sum(len(store.messages(recording)) for recording in recordings)) == (
        number,
        messages,
    )
    assert all(
        recording.release and recording.server and recording.options and recording.how
        for recording in recordings
    )
    assert all(store.truth(product, recording.truth) for recording in recordings)


def test_a_message_has_its_bytes():
    main = next(
        recording for recording in store.recordings("canal") if recording.name == "main-1.1.8"
    )
    first = store.messages(main)[0]
    assert (first.topic, first.partition, first.key, first.event) == ("example", 0, None, 0)
    assert first.value is not None and first.value.startswith(
        b'{"data":null,"database":"h_live","es":1795221137000,"gtid":"",'
    )
    flat = next(
        recording
        for recording in store.recordings("debezium")
        if recording.name == "mdb35-flat-default-noschema"
    )
    assert dict(store.messages(flat)[0].headers)["__debezium.context.connectorName"] == b"mariadb"
    avro = next(
        recording for recording in store.recordings("ticdc") if recording.name == "simple-avro-lz4"
    )
    assert any(b"\x00" in (message.value or b"") for message in store.messages(avro))


def test_damage_is_noticed(copy):
    assert store.verify("canal") == []
    file = copy / "main-1.1.8" / "messages.jsonl.xz"
    file.write_bytes(file.read_bytes()[:-1] + b"x")
    assert store.verify("canal") == [f"{file}: the SHA-256 is not the one in recordings.json"]
    file.unlink()
    assert store.verify("canal") == [f"{file}: No such file or directory"]


def test_a_wrong_count_and_a_stray_file_are_noticed(copy):
    (copy / "extra.json").write_text("{}")
    assert store.verify("canal") == ["canal/extra.json: not in recordings.json"]
    index = json.loads((copy / "recordings.json").read_text())
    index["recordings"][0]["count"] += 1
    (copy / "recordings.json").write_text(json.dumps(index))
    store._index.cache_clear()
    assert store.verify("canal") == ["canal/gbk-1.1.8: 103 messages, 104 in recordings.json"]


def test_unknown_names_are_refused():
    with pytest.raises(UnknownName, match="Did you mean 'canal'"):
        store.recordings("cannal")
    with pytest.raises(UnknownName, match="Did you mean 'truth-main'"):
        store.truth("canal", "truth-man")
