"""The generated pages of docs/ are what the registries say."""

from __future__ import annotations

import json
import posixpath
import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from conformance.pages import pages as made
from conformance.pages import samples
from conformance.rules import pipelines, streams
from conformance.rules.rules import rules
from conformance.rules.sources import pages as sources
from generators.garbage.nemesis import NEMESES
from generators.wire_format import FORMATS, formats, get
from spark_checks import pages

DOCS = Path(__file__).parents[3] / "docs"
SOURCES = ["sources/index.md", *(f"sources/{name}.md" for name in sources())]
NAMES = [
    "formats.md",
    *SOURCES,
    "recorded.md",
    "column-types.md",
    "rooms.md",
    "rooms.svg",
    *(f"formats/{name}.md" for name in FORMATS),
]


@pytest.fixture(scope="module")
def text():
    return pages.pages(DOCS)


def test_there_is_a_page_for_each_format_and_no_other(text):
    assert (list(text), {path.name for path in (DOCS / "formats").iterdir()}) == (
        NAMES,
        {f"{name}.md" for name in FORMATS},
    )
    assert {f"sources/{path.name}" for path in (DOCS / "sources").iterdir()} == set(SOURCES)


@pytest.mark.parametrize(
    ("changed", "recorded"),
    [((), True), (("maxwell-json",), False), (("maxwell-json", "debezium-json"), True)],
)
def test_a_format_without_recordings_alters_no_page_on_them(
    changed, recorded, monkeypatch, tmp_path
):
    monkeypatch.setattr(
        pages, "of_traps", lambda _traps, _faults, recorded: {"recorded": str(recorded)}
    )
    pages.main(str(tmp_path), *changed)
    assert (tmp_path / "recorded").read_text("utf-8") == str(recorded)


@pytest.mark.parametrize("name", NAMES)
def test_a_page_is_as_generated(text, name):
    assert (DOCS / name).read_text("utf-8") == text[name], f"run: {made.COMMAND}"


def elsewhere(section):
    """What a section says to stand on other pages, with the page."""
    for page, words in re.findall(
        r"^As in \[[^]]*\]\(([^)#]+)[^)]*\): (.*)\.$", section, re.MULTILINE
    ):
        yield from ((words, posixpath.normpath(f"formats/{page}")) for words in words.split(", "))


@pytest.mark.parametrize("name", FORMATS)
def test_a_format_s_page_has_every_rule_profile_and_kind_of_message(text, name):
    page = text[f"formats/{name}.md"]
    section = page.split("## Rules")[1].split("## Traps")[0]
    owed = {
        rule.id.removeprefix(f"{name}/"): rule
        for rule in (*rules(name), *streams.rules(name), *pipelines.rules(name))
    }
    places = {words.strip("`"): place for words, place in elsewhere(section)}
    places |= dict.fromkeys(
        re.findall(r"^\|([a-z]+/[^|]+)\|", section, re.MULTILINE), f"formats/{name}.md"
    )
    assert places.keys() == owed.keys()
    for short, place in places.items():
        rule, where = owed[short], "" if place == "formats.md" else "../"
        links = " ".join(
            f"[{fact.where}]({where}sources/{fact.where.replace('#', '.md#')})"
            for fact in rule.citations
        )
        said = rule.statement.replace("|", "\\|")
        assert (
            f"\n|{short}|{said}|{rule.obligation}, {rule.provenance}|{rule.effect}|{links}|\n"
            in text[place]
        )
    assert [
        p.name
        for p in get(name).profiles
        if f"`{p.name}`" not in page.split("## Profiles")[1].split("\n## ")[0]
    ] == []
    assert [k.wire for k in get(name).kinds if f"\n|{k.wire}|{k.kind}|" not in page] == []


@pytest.mark.parametrize("name", FORMATS)
def test_a_format_s_page_has_every_trap_with_its_rule(text, name):
    page = text[f"formats/{name}.md"]
    section = page.split("## Traps")[1]
    places = dict(elsewhere(section))
    for trap in pages.traps(name):
        words = f"{trap.name} (`{trap.convicts.removeprefix(f'{name}/')}`)"
        if words not in places:
            assert f"\n- {words}: {trap.why}\n" in section
        else:
            assert re.search(
                rf"^- {trap.name}( \(`[^`]+`\))?: {re.escape(trap.why)}$",
                text[places[words]],
                re.MULTILINE,
            )


def test_what_two_formats_share_stands_on_the_page_of_the_first_and_what_three_share_in_formats_md():
    first, second, third = (made.Trap(name, "x/r", "Why.") for name in ("one", "two", "three"))
    shared = made.homes({"a": [first, second, third, third], "b": [second, third], "c": [third]})
    assert shared.traps == {
        ("one", "Why."): "a",
        ("two", "Why."): "a",
        ("three", "Why."): "formats",
    }


@pytest.mark.parametrize("fmt", list(formats()), ids=lambda fmt: fmt.name)
def test_every_option_of_a_profile_has_words(fmt):
    assert {option for profile in fmt.profiles for option in profile.options} <= set(
        fmt.choices.options
    )


@pytest.mark.parametrize("fmt", list(formats()), ids=lambda fmt: fmt.name)
def test_the_samples_of_a_format_are_an_insert_an_update_and_a_delete(fmt):
    written = list(samples.samples(fmt))
    # Without its extension TiCDC's Avro writes an UPDATE as an INSERT.
    update = ["INSERT"] if fmt.name == "ticdc-avro" else ["UPDATE"]
    # A sink of Flink or SeaTunnel writes the DELETE of the old row and the INSERT of the new one.
    update = ["DELETE", "INSERT"] if fmt.name.startswith(("flink-", "seatunnel-")) else update
    words = ["INSERT", *update, "DELETE"]
    assert [
        sample.kind for sample in written if sample.kind in ("INSERT", "UPDATE", "DELETE")
    ] == words
    for sample in written:
        read = json.loads(sample.text)
        if fmt.container == "json":
            assert read == (
                None if sample.message.value is None else json.loads(sample.message.value)
            )


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=30,
)


@settings(deadline=None)
@given(JSON, st.integers(1, 120), st.booleans())
def test_a_laid_out_json_text_is_the_same_but_for_white_space(value, width, spaced):
    text = json.dumps(value, ensure_ascii=False, separators=None if spaced else (",", ":"))
    laid = samples.pretty(text, width)
    assert (json.loads(laid), laid.split()) == (value, samples.pretty(laid, width).split())


def test_a_number_keeps_its_spelling_when_it_is_laid_out():
    assert (
        samples.pretty('{"a":[1.50,1e400,-0],"b":"x"}', 10)
        == '{\n  "a":[\n    1.50,\n    1e400,\n    -0\n  ],\n  "b":"x"\n}'
    )


def test_the_page_on_streams_names_every_nemesis():
    page = (DOCS / "load-and-streams.md").read_text("utf-8")
    assert [
        nemesis.name
        for nemesis in NEMESES
        if f"| {nemesis.name} | {nemesis.statement} |" not in page
    ] == []


def test_an_option_is_no_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit, match=r"usage: python -m spark_checks\.pages DIRECTORY"):
        pages.main("--help")
    assert not any(tmp_path.iterdir())
