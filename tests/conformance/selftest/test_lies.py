"""The tables of lies name what exists and change bytes, and every alteration does what it says and
no more.
"""

import json
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import fields
from itertools import product
from typing import Any

import pytest
from text_tables import rows

from conformance.rules.rules import rules
from conformance.rules.tables import call_named
from conformance.selftest.lies import lie as table
from conformance.selftest.lies.altering import (
    ALTERS,
    ARGUMENTS,
    EDITS,
    Alter,
    Edit,
    in_avro,
    in_json,
    respell,
)
from conformance.selftest.lies.lie import lies
from generators.errors import UsageError
from generators.families.avro import Encoder
from generators.model import Message
from generators.profiles import Profile
from generators.wire_format import FORMATS, get

LIES = [(name, lie) for name in FORMATS for lie in lies(name)]


@pytest.mark.parametrize("name", FORMATS)
def test_lies_name_existing_profiles_and_rules(name: str) -> None:
    fmt, own = get(name), lies(name)
    assert len({lie.name for lie in own}) == len(own)
    assert {lie.convicts for lie in own} - {rule.id for rule in rules(name)} == {None}
    assert any(lie.convicts for lie in own)
    for lie in own:
        assert lie.lying != fmt.profile(lie.profile), lie


def single_options(name: str) -> Iterator[Profile]:
    """Every release with one option, as far as it may have it."""
    fmt = get(name)
    for release, option in product(fmt.choices.releases, fmt.choices.options):
        with suppress(UsageError):
            yield fmt.profile(f"{release}+{option}")


def test_a_profile_holds_no_fact_for_the_sake_of_lies() -> None:
    """Every fact differs between profiles, or is an option of the product with a default that all
    of them keep.
    """
    values: dict[tuple[type, str], set[Any]] = {}
    for name in FORMATS:
        for profile in (*get(name).profiles, *single_options(name)):
            for fact in fields(profile):
                owner = next(
                    cls
                    for cls in reversed(type(profile).__mro__)
                    if fact.name in getattr(cls, "__annotations__", ())
                )
                values.setdefault((owner, fact.name), set()).add(getattr(profile, fact.name))
    constant = {fact for (_, fact), distinct in values.items() if len(distinct) == 1}
    # PostgreSQL's toast_tuple_target; how the TiDB inside spells doubles of JSON, which recordings
    # tell
    assert constant == {"toasted", "json_doubles"}


def message(value: bytes | None) -> Message:
    return Message("t", 1, b"k", value, (("a", b"1"), ("b", b"2")))


def edit(*words: Any) -> Edit:
    return call_named([*words], "edit", EDITS, ARGUMENTS)


def altered(alter: Alter, value: bytes) -> bytes | None:
    return alter(message(value)).value


@pytest.mark.parametrize(("words", "before", "after"), rows(__file__, "edits.txt"))
def test_edits_change_what_they_name(words: str, before: str, after: str) -> None:
    assert altered(in_json(edit(*json.loads(words))), before.encode()) == after.encode()


ABSENT = [
    ["put", 1, "x"],
    ["put", 1, "7"],
    ["shift", 1, "x"],
    ["drop", "x"],
    ["swap", "a", "x"],
    ["backwards", "x"],
]


@pytest.mark.parametrize("words", ABSENT)
def test_an_edit_of_what_is_not_there_leaves_the_message_alone(words: list[Any]) -> None:
    for value in (b'{"a" : 1}', b'{"a" : [{}]}', None):
        honest = message(value)
        assert in_json(edit(*words))(honest) is honest


def test_numbers_and_texts_outlive_an_edit() -> None:
    numbers = '[1.50,1E400,-0,12345678901234567890123,9007199254740993,"\\u6c49\\ud83d\\ude00"]'
    kept = '[1.50,1E400,-0,12345678901234567890123,9007199254740993,"汉😀"]'
    assert (
        altered(in_json(edit("put", 0, "x")), f'{{"x":1,"y":{numbers}}}'.encode())
        == f'{{"x":0,"y":{kept}}}'.encode()
    )


def test_edits_of_avro_go_through_the_branch_of_a_union() -> None:
    inner = {"type": "record", "name": "Inner", "fields": [{"name": "n", "type": "long"}]}
    values = {"name": "m", "type": {"type": "map", "values": ["null", "string", inner]}}
    schema = {
        "type": "record",
        "name": "Outer",
        "fields": [values, {"name": "o", "type": ["null", "long"]}],
    }
    encoder = Encoder(schema)
    honest = encoder({"m": {"a": ("Inner", {"n": 1}), "b": "x"}, "o": None})
    shifted = encoder({"m": {"a": ("Inner", {"n": 5}), "b": "x"}, "o": None})
    assert altered(in_avro(schema, edit("shift", 4, "m.a.n")), honest) == shifted
    assert altered(in_avro(schema, edit("drop", "a", "m")), honest) == encoder(
        {"m": {"b": "x"}, "o": None}
    )
    assert altered(in_avro(schema, edit("put", 7, "p")), honest) == honest


def test_spellings_are_replaced_whole() -> None:
    alter = respell({"\\u003c": "<", "\x7f": "\\u007F"})
    assert altered(alter, b'"\\u003ca\\\\u003c\\n\x7f\\u003e"') == b'"<a\\\\u003c\\n\\u007F\\u003e"'


def test_changes_of_the_record() -> None:
    honest = message(b"value")
    messages = {
        name: call_named([name, *words], "change", ALTERS, ARGUMENTS)(honest)
        for name, *words in CHANGES
    }
    assert messages == {
        "partition": Message("t", 0, b"k", b"value", honest.headers),
        "headers-lost": Message("t", 1, b"k", b"value", (("b", b"2"),)),
        "key-lost": Message("t", 1, None, b"value", honest.headers),
        "value-lost": Message("t", 1, b"k", None, honest.headers),
        "headed": Message("t", 1, b"k", b"\0\xfflue", honest.headers),
    }


CHANGES = (
    ["partition", 0],
    ["headers-lost", "a", "c"],
    ["key-lost"],
    ["value-lost"],
    ["headed", "\0\xff"],
)


@pytest.mark.parametrize(("line", "words"), rows(__file__, "wrong_lies.txt"))
def test_a_wrong_line_is_told_with_its_place_and_the_nearest_name(
    monkeypatch: pytest.MonkeyPatch, line: str, words: str
) -> None:
    text = (
        f'profile = "1.1.8"\n\n[lies]\n"as it should be" = {{ unset = "gtid" }}\n"wrong" = {line}\n'
    )
    monkeypatch.setattr(table, "read_package_toml", lambda _package, name: (f"{name}.toml", text))
    with pytest.raises(UsageError) as caught:
        lies.__wrapped__("alibaba-canal-json")
    assert str(caught.value).startswith(f"alibaba-canal-json.toml:5: wrong: {words}")
