"""The table of a format's profiles: what is read from a file, and what is refused."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Literal

import pytest

from generators import profile_tables
from generators.errors import UsageError
from generators.model import Deployment
from generators.profile_tables import read_choices
from generators.profiles import Choices, Limit, Profile


class Escapes(Enum):
    """How a text is escaped."""

    RAW = 1
    SHORT = 2


@dataclass(frozen=True, slots=True)
class ToyProfile(Profile):
    """A profile of the format `toy-json`."""

    escapes: Escapes = Escapes.RAW
    image: Literal["full", "minimal"] = "full"
    end: bytes = b""
    names: tuple[str, ...] = ()
    gtid: str | None = None
    wide: bool = False
    limit: int = 10


HEAD = 'title = "Toy"\nsource = "mysql"\nposition = ""\nprofiles = []\nkinds = []\n'
TABLE = """
[releases.1]
like = "2"
limit = 5

[releases.2]
escapes = "SHORT"
end = "\\r\\n"
names = ["a", "b"]
deployment.time_zone = "Asia/Tokyo"

[releases.3]
gtid = "x:1"

[options.minimal]
says = "The image is minimal."
group = "image"
sets = { image = "minimal" }
when = [{ since = "2" }]

[options.full]
says = "The image is full."
group = "image"

[options.lz4]
sets = { deployment.compression = "lz4" }
when = [{ without = ["full"], why = "is slow" }]

[[pairs]]
until = "2"
needs = ["lz4"]
sets = { wide = true }
"""

Read = Callable[[str], Choices[ToyProfile]]


@pytest.fixture(name="read")
def reader(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Read:
    """Reads a table as that of toy-json, or of the format named."""
    monkeypatch.setattr(profile_tables, "read_file", profile_tables.read_file.__wrapped__)
    monkeypatch.setattr(profile_tables.resources, "files", lambda _package: tmp_path)
    (tmp_path / "shared.toml").write_text('lz4 = "Compressed."', "utf-8")
    (tmp_path / "toy-json.toml").write_text(HEAD + TABLE, "utf-8")

    def read(table: str) -> Choices[ToyProfile]:
        (tmp_path / "other-json.toml").write_text(HEAD + table, "utf-8")
        return read_choices("other-json", ToyProfile)

    return read


def test_releases_options_and_pairs_are_read(read: Read) -> None:
    choices = read(TABLE)
    tokyo = Deployment(time_zone="Asia/Tokyo")
    second = ToyProfile("2", deployment=tokyo, escapes=Escapes.SHORT, end=b"\r\n", names=("a", "b"))
    assert choices.releases == ("1", "2", "3")
    assert choices.build("2") == second
    assert choices.build("1") == ToyProfile(
        "1", deployment=tokyo, escapes=Escapes.SHORT, end=b"\r\n", names=("a", "b"), limit=5
    )
    assert choices.build("3") == ToyProfile("3", gtid="x:1")
    assert choices.build("2", "lz4").wide and not choices.build("3", "lz4").wide
    assert choices.build("3", "lz4").deployment.compression == "lz4"
    assert choices.options == {
        "minimal": "The image is minimal.",
        "full": "The image is full.",
        "lz4": "Compressed.",
    }
    assert choices.exclusive == (("minimal", "full"),)
    assert choices.limits == (
        Limit(option="minimal", why="is an option of 2, 3 alone", releases=("2", "3")),
        Limit(option="lz4", why="is slow", without=("full",)),
    )


FAMILY = """
[family]
like = "toy-json"
without = ["full"]
sets = { limit = 7, deployment.charset = "gbk" }

[releases.3]
wide = true

[releases.4]
limit = 8

[options.own]
says = "Own."
sets = { wide = false }
"""


def test_a_family_s_releases_and_options_have_facts_on_top(read: Read) -> None:
    choices = read(FAMILY)
    both = Deployment(time_zone="Asia/Tokyo", charset="gbk")
    assert choices.releases == ("1", "2", "3", "4")
    assert list(choices.options) == ["minimal", "lz4", "own"]
    assert choices.build("2").deployment == both and choices.build("2").limit == 7
    assert choices.build("3").wide and not choices.build("3", "own").wide
    assert choices.build("4") == ToyProfile("4", limit=8)
    with pytest.raises(UsageError, match=r"minimal is an option of 2, 3, 4 alone"):
        choices.build("1", "minimal")


@pytest.mark.parametrize(
    ("line", "wrong", "why"),
    [
        (
            "limit = 5",
            "limits = 5",
            r"other-json\.toml: releases\.1: unknown fact of ToyProfile 'limits'\. Did you mean",
        ),
        ("limit = 5", 'limit = "5"', r"releases\.1\.limit = '5': expected int$"),
        ("limit = 5", "limit = true", r"releases\.1\.limit = True: expected int$"),
        ('like = "2"', 'like = "22"', r"releases\.1\.like: unknown release '22'\. Did you mean"),
        ('like = "2"', 'like = "1"', r"releases\.1 is like itself: 1 -> 1$"),
        ('"SHORT"', '"SHOR"', r"releases\.2\.escapes: unknown value 'SHOR'\. Did you mean 'SHORT'"),
        (
            'image = "minimal"',
            'image = "mini"',
            r"options\.minimal\.sets\.image: unknown value 'mini'\. Did you mean 'minimal'\?",
        ),
        (
            "deployment.compression",
            "deployment.compresion",
            r"options\.lz4\.sets\.deployment: unknown fact of Deployment 'compresion'\. Did you",
        ),
        ("group", "groups", r"options\.minimal: unknown key 'groups'\. Did you mean 'group'\?"),
        ('says = "The image is full."', "", r"options\.full says nothing of what the option"),
        (
            'since = "2"',
            'since = "9"',
            r"options\.minimal\.when\[0\]: unknown release '9'\. Known: 1, 2, 3\.$",
        ),
        (
            'since = "2"',
            'sinc = "2"',
            r"options\.minimal\.when\[0\]: unknown key 'sinc'\. Did you mean 'since'\?",
        ),
        (', why = "is slow"', "", r"options\.lz4\.when\[0\] has no `why`, which says why"),
        ('needs = ["lz4"]', 'needs = ["lz"]', r"pairs\[0\]\.needs: unknown option 'lz'\. Did you"),
        ("wide = true", "wid = true", r"pairs\[0\]\.sets: unknown fact of ToyProfile 'wid'\. Did"),
    ],
)
def test_a_wrong_row_is_refused_with_its_place(read: Read, line: str, wrong: str, why: str) -> None:
    assert line in TABLE
    with pytest.raises(UsageError, match=why):
        read(TABLE.replace(line, wrong))


@pytest.mark.parametrize(
    ("table", "why"),
    [
        (
            "",
            r"other-json\.toml: unknown or missing: releases\. A format's file has kinds, ",
        ),
        ("[release.1]", r"unknown or missing: release, releases\."),
        ("[releases.1]\nlimit = Toy", r"other-json\.toml: Invalid value \(at line 7, "),
        (
            FAMILY.replace('["full"]', '["ful"]'),
            r"family\.without: unknown option 'ful'\. Did you mean 'full'\?",
        ),
        (FAMILY.replace("without", "with"), r"family: unknown key 'with'\. Did you mean 'without'"),
        ("[releases]\n1 = 'x'", r"releases\.1 = 'x': expected a table, such as \{ fact = true \}$"),
        (
            '[releases.1]\n[options.big]\nsays = "Big."\nsets = "wide"',
            r"options\.big\.sets = 'wide': expected a table, such as ",
        ),
        ("[releases.1]\n[options]\nbig = 3", r"options\.big = 3: expected a table, such as "),
        ("[family]\nwithout = []", r"other-json\.toml: family has no `like`, the format whose "),
    ],
)
def test_a_wrong_file_is_refused(read: Read, table: str, why: str) -> None:
    with pytest.raises(UsageError, match=why):
        read(table)
