"""Named cases on disk: equal to those made anew, and made anew wherever the disk does not have
them.
"""

import dataclasses
import os
from dataclasses import replace

import pytest

from conformance.cases import catalogue, kept
from conformance.cases.catalogue import named_cases, write_named_cases
from generators.errors import HarnessError
from generators.families import confluent
from generators.wire_format import FORMATS, get

FMT = get("huawei-cdl-json")
PROFILE = FMT.profiles[-1]


@pytest.fixture(autouse=True)
def place(tmp_path, monkeypatch):
    """An empty cache on disk, and none in memory; sources that this process has imported as they
    are.
    """
    monkeypatch.setenv("CDC_CONFORMANCE_CACHE", str(tmp_path))
    monkeypatch.setattr(kept, "_STARTED", float("inf"))
    for cached in (kept._generation, kept._warn_once, catalogue._cached_named_cases):
        cached.cache_clear()
    yield tmp_path / "cases"
    for cached in (kept._generation, kept._warn_once, catalogue._cached_named_cases):
        cached.cache_clear()


def anew():
    """The profile's cases as another process gets them."""
    catalogue._cached_named_cases.cache_clear()
    return list(named_cases(FMT, (PROFILE,)))


def alike(left, right, seen):
    """Whether two values hold the same with the same types, what equality leaves out included;
    pairs that were seen are.
    """
    if (id(left), id(right)) in seen:
        return True
    seen.add((id(left), id(right)))
    if type(left) is not type(right):
        return False
    if dataclasses.is_dataclass(left):
        parts = (
            [getattr(value, field.name) for field in dataclasses.fields(value)]
            for value in (left, right)
        )
    elif isinstance(left, dict):
        parts = ([*value, *value.values()] for value in (left, right))
    elif isinstance(left, tuple | list):
        parts = left, right
    else:
        return repr(left) == repr(right) if isinstance(left, float) else left == right
    mine, theirs = parts
    return len(mine) == len(theirs) and all(
        alike(a, b, seen) for a, b in zip(mine, theirs, strict=True)
    )


@pytest.mark.parametrize("name", FORMATS[::5])
def test_kept_cases_equal_those_made_anew(name):
    fmt = get(name)
    new = write_named_cases(fmt, fmt.profiles[-1])
    kept.write_cases(fmt, fmt.profiles[-1], new)
    read = kept.read_cases(fmt, fmt.profiles[-1])
    assert read == new and len(read) > 400
    assert alike(read, new, set())
    assert [hash(case.tables) for case in read] == [hash(case.tables) for case in new]


def test_equal_messages_and_changes_stay_two():
    """A run knows them by their identity."""
    (case, *_) = write_named_cases(FMT, PROFILE)
    (sent, *_) = case.written
    (change, *_) = sent.changes
    again = replace(sent, message=replace(sent.message), changes=(replace(change), replace(change)))
    (read,) = kept._unpack_cases(
        kept._pack_cases(
            (replace(case, written=(again, replace(again, message=replace(sent.message)))),)
        )
    )
    first, second = read.written
    assert first == second == again
    assert first.message is not second.message
    assert first.changes[0] is not first.changes[1]


def test_a_later_process_makes_no_cases(place, monkeypatch):
    first = anew()
    (file,) = place.rglob("*.cases")
    assert file.parts[-3:] == (kept._generation(), FMT.name, f"{PROFILE.name}.cases")
    monkeypatch.setattr(catalogue, "write_named_cases", None)
    assert anew() == first
    patterns = ("*/fault/*",)
    some = list(named_cases(FMT, (PROFILE,), patterns))
    assert some == [case for case in first if "/fault/" in case.id] != []


def test_a_selection_is_not_kept(place):
    assert list(named_cases(FMT, (PROFILE,), ("*/fault/*",)))
    assert not place.exists()


@pytest.mark.parametrize(
    "spoil",
    [lambda data: b"", lambda data: data[:-1], lambda data: data[:-1] + bytes([data[-1] ^ 1])],
)
def test_a_spoiled_file_is_written_again(place, spoil):
    first = anew()
    (file,) = place.rglob("*.cases")
    data = file.read_bytes()
    file.write_bytes(spoil(data))
    assert kept.read_cases(FMT, PROFILE) is None
    assert (anew(), file.read_bytes()) == (first, data)


def test_a_file_of_another_user_is_not_read(place, monkeypatch):
    first = anew()
    (file,) = place.rglob("*.cases")
    owner = file.stat().st_uid
    monkeypatch.setattr(kept, "_is_trusted_owner", lambda uid: uid != owner)
    assert kept.read_cases(FMT, PROFILE) is None
    monkeypatch.undo()
    monkeypatch.setattr(os, "getuid", lambda: 1000)
    assert [kept._is_trusted_owner(uid) for uid in (0, 1000, 1001)] == [True, True, False]
    assert first


def test_where_nothing_can_be_written_cases_are_made_and_it_is_said_once(
    tmp_path, monkeypatch, caplog
):
    (tmp_path / "file").write_bytes(b"")
    monkeypatch.setenv("CDC_CONFORMANCE_CACHE", str(tmp_path / "file"))
    assert anew() == list(write_named_cases(FMT, PROFILE))
    anew()
    path = tmp_path / "file" / "cases" / kept._generation() / FMT.name / f"{PROFILE.name}.cases"
    advice = "Free space, or choose another place. Until then every process makes them again."
    assert [record.message for record in caplog.records] == [
        f"cannot write the named cases to {path}: Not a directory. {advice}"
    ]


def test_cases_of_sources_that_changed_meanwhile_are_not_kept(place, monkeypatch):
    assert kept._generation()
    monkeypatch.setattr(kept, "_STARTED", 0.0)
    anew()
    assert not place.exists()
    kept._generation.cache_clear()
    assert kept._generation() is None


def test_formats_and_profiles_that_are_not_registered_are_not_kept(place):
    for fmt, profile in ((replace(FMT), PROFILE), (FMT, replace(PROFILE))):
        kept.write_cases(fmt, profile, ())
        assert kept.read_cases(fmt, profile) is None
    assert not place.exists()


def test_other_sources_have_other_cases(tmp_path, monkeypatch):
    source = tmp_path / "a.py"
    monkeypatch.setattr(kept, "_source_files", lambda: [source])
    names = []
    for text, release in (("x = 1", "1"), ("x = 2", "1"), ("x = 2", "2"), ("x = 1", "1")):
        source.write_text(text)
        monkeypatch.setattr(kept.metadata, "version", lambda _name, release=release: release)
        kept._generation.cache_clear()
        names.append(kept._generation())
    assert (len(set(names[:3])), names[3]) == (3, names[0])


def test_the_sources_are_those_of_the_writers_and_of_the_catalogue():
    names = {
        path.as_posix().split("/", path.as_posix().count("/") - 1)[-1]
        for path in kept._source_files()
    }
    assert names >= {
        "generators/model.py",
        "cases/catalogue.py",
        "sources/pools.json",
        "debezium_json/rows.py",
        "formats/maxwell-json.toml",
        "sources/mysql_types.toml",
    }


def test_the_oldest_generations_go(place):
    for number in range(kept.GENERATIONS + 1):
        (place / f"old{number}" / "format").mkdir(parents=True)
        os.utime(place / f"old{number}", (number, number))
    anew()
    assert {folder.name for folder in place.iterdir()} == {
        kept._generation(),
        "old2",
        "old3",
        "old4",
        "old5",
    }


def test_a_value_of_another_type_is_not_kept():
    (case, *_) = write_named_cases(FMT, PROFILE)
    with pytest.raises(HarnessError, match=r"cannot write the named cases: they hold a set\."):
        kept._pack_cases((replace(case, tags={"a"}),))


def test_the_schemas_that_messages_name_come_with_them(monkeypatch):
    fmt = get("debezium-avro")
    case = next(
        case
        for case in write_named_cases(fmt, fmt.profiles[0], ("*/schema/evolved",))
        if case.written
    )
    named = confluent.schemas_of_cases([case])
    packed = kept._pack_cases((case,))
    monkeypatch.setattr(confluent, "SCHEMAS", {})
    assert kept._unpack_cases(packed) == (case,)
    assert named == confluent.SCHEMAS and len(named) >= 5
