import pytest

from generators.errors import UsageError
from recorders.audit import Difference
from recorders.explained import FILE, grouped, load

ENTRY = """
[[difference]]
profile = "canal 1.1.7*"
path = 'value\\.x'
ours = '1'
reason = "known"
"""


def written(tmp_path, text):
    path = tmp_path / "explained.toml"
    path.write_text(f"version = 1\n{text}")
    return path


def test_an_entry_explains_by_whole_texts(tmp_path):
    explained = load(written(tmp_path, ENTRY), "canal 1.1.7 mariadb")
    assert explained.why(Difference("value.x", "", "1", "2")).reason == "known"
    assert explained.why(Difference("value.xx", "", "1", "2")) is None
    assert explained.why(Difference("value.x", "", "11", "2")) is None
    assert explained.idle == ()


def test_an_entry_that_explains_nothing_is_idle_unless_it_is_drawn(tmp_path):
    assert [entry.path for entry in load(written(tmp_path, ENTRY), "canal 1.1.7").idle] == [r"value\.x"]
    assert load(written(tmp_path, ENTRY + "drawn = true\n"), "canal 1.1.7").idle == ()
    assert load(written(tmp_path, ENTRY), "canal 1.1.7").narrowed().idle == ()


def test_entries_of_other_profiles_do_not_apply(tmp_path):
    assert load(written(tmp_path, ENTRY), "canal 1.1.8").entries == ()


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ('[[difference]]\nprofile = "x"\npath = "y"\n', "difference 1: no reason"),
        *((ENTRY + 'colour = "red"\n', "unknown colour"), (ENTRY + "drawn = 1\n", "drawn is true or false")),
        *((ENTRY + "real = '('\n", "real is no regular expression"), ("other = 1\n", "expected version = 1")),
        ("=", "is no TOML"),
    ],
)
def test_a_wrong_file_is_told(tmp_path, text, why):
    with pytest.raises(UsageError, match=why):
        load(written(tmp_path, text), "canal 1.1.7")


def test_a_missing_file_is_told(tmp_path):
    with pytest.raises(UsageError, match="cannot read"):
        load(tmp_path / "none.toml", "canal 1.1.7")


@pytest.mark.parametrize("profile", ["debezium 3.5.0.Final+mariadb", "debezium 3.5.0.Final+postgresql"])
def test_the_package_s_own_file_has_entries_with_reasons(profile):
    entries = load(FILE, profile).entries
    assert bool(entries) != ("postgresql" in profile) and all(len(entry.reason) > 20 for entry in entries)


def test_the_most_frequent_differences_come_first():
    one, two = Difference("a", "int", "1", "2"), Difference("b", "", "1", "2")
    assert list(grouped([one, two, two])) == [("b", ""), ("a", "int")]
