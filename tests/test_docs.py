"""README and docs/ hold together: links and anchors lead somewhere, commands parse, no page names a
machine or a registry.
"""

from __future__ import annotations

import json
import re
import shlex
import tomllib
from collections import Counter
from pathlib import Path

import click
import pytest
from command_lines import parsed

from generators.wire_format import FORMATS

ROOT = Path(__file__).parents[1]
PAGES = sorted(
    [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *(ROOT / "examples").rglob("*.md")]
)
NAMES = [path.relative_to(ROOT).as_posix() for path in PAGES]
FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
LINK = re.compile(r"!?\[[^\]]*\]\(([^()\s]+)\)")
# A command where one can stand: at the start of a line, behind a prompt, a list's dash or `run:`.
COMMAND = re.compile(r"^\s*(?:\$ |- |- run: )?(?:\S*/)?cdc-conformance (?P<rest>.*)$")
VARIABLE = re.compile(r'"?\$[A-Z_]+"?')
MACHINE = re.compile(r"(?:^|[\s\"'(`])/(?:root|work|farm|home/\w+|Users/\w+)/")
REGISTRY = re.compile(
    r"pypi\.org|repo\d?\.maven|maven\.org|npmjs|docker\.io|ghcr\.io|quay\.io|mirrors?\.\w+",
    re.IGNORECASE,
)


def text(name):
    return (ROOT / name).read_text("utf-8")


def prose(page):
    """The page without its code."""
    return re.sub(r"`[^`\n]*`", "", FENCE.sub("", page))


def anchors(page):
    """The anchors of its headings, as GitHub makes them."""
    ids, seen = set(), {}
    for title in re.findall(r"^#+ (.*)$", FENCE.sub("", page), re.MULTILINE):
        plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", title).lower()
        anchor = re.sub(r"[^\w\- ]", "", plain).replace(" ", "-")
        number = seen[anchor] = seen.get(anchor, -1) + 1
        ids.add(f"{anchor}-{number}" if number else anchor)
    return ids


def names_of(path, page):
    return set(re.findall(r'id="([^"]+)"', page)) if path.suffix == ".html" else anchors(page)


def broken(name, page):
    """Its links to files that are not there and to headings that no page has."""
    targets = []
    for target in LINK.findall(prose(page)):
        if re.match(r"[a-z]+:", target):
            continue
        path, _, anchor = target.partition("#")
        there = (ROOT / name).parent / path if path else ROOT / name
        if not there.exists() or (
            anchor and anchor not in names_of(there, page if not path else there.read_text("utf-8"))
        ):
            targets.append(target)
    return targets


def commands(page):
    """The commands of its code blocks, as lists of words; what stands in a table or in prose is no
    command.
    """
    for _language, block in FENCE.findall(page):
        joined = re.sub(r"\s*\\\n\s*", " ", block)
        joined = re.sub(
            r">-\n( +)((?:\S.*\n\1)*\S.*\n)",
            lambda match: " ".join(match[2].split()) + "\n",
            joined,
        )
        for line in joined.splitlines():
            if match := COMMAND.match(line):
                yield shlex.split(
                    VARIABLE.sub("1", match["rest"]).split(" > ")[0].split(" >> ")[0], comments=True
                )


@pytest.mark.parametrize("name", NAMES)
def test_every_link_of_a_page_leads_to_a_file_and_a_heading(name):
    assert broken(name, text(name)) == []


@pytest.mark.parametrize("name", NAMES)
def test_every_command_of_a_page_is_one_that_the_command_line_takes(monkeypatch, name):
    monkeypatch.setattr(click.Path, "convert", lambda _self, value, _param, _ctx: Path(value))
    wrong = []
    for words in commands(text(name)):
        try:
            # docs/adding-a-format.md adds toy-json to a copy.
            parsed(
                "--no-config",
                *(re.sub("<name>|toy-json", "ticdc-canal-json", word) for word in words),
            )
        except (click.ClickException, ValueError) as error:
            wrong.append(f"{' '.join(words)}: {error}")
    assert wrong == []


@pytest.mark.parametrize("name", NAMES)
def test_no_page_names_a_machine_s_path_or_a_registry(name):
    assert (MACHINE.findall(text(name)), REGISTRY.findall(text(name))) == ([], [])


@pytest.mark.parametrize("name", NAMES)
def test_no_page_holds_a_control_character(name):
    """A NUL makes a page binary: a code host does not show it, and grep does not search it."""
    assert re.findall(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]", text(name)) == []


@pytest.mark.parametrize("name", NAMES)
def test_json_and_toml_of_a_page_are_such(name):
    for language, block in FENCE.findall(text(name)):
        if language == "toml":
            tomllib.loads(block)
        if language == "json" and "(the same again)" not in block and "..." not in block:
            json.loads(block)


def test_the_index_leads_to_every_page_of_docs():
    index = text("docs/index.md")
    linked = {target.partition("#")[0] for target in LINK.findall(index)}
    assert {path.name for path in (ROOT / "docs").glob("*.md")} - {"index.md"} <= linked


def test_commands_are_found_in_every_dress():
    page = """
```sh
cdc-conformance run a \\
    --budget ci  # a remark
$ .venv/bin/cdc-conformance doctor > found
    - run: cdc-conformance rules b >> "$SUMMARY"
    - >-
      .venv/bin/cdc-conformance run c
      --seed "$SEED"
  artifacts: none
```
`cdc-conformance nothing`
"""
    assert list(commands(page)) == [
        ["run", "a", "--budget", "ci"],
        ["doctor"],
        ["rules", "b"],
        ["run", "c", "--seed", "1"],
    ]


@pytest.mark.parametrize(
    "line",
    [
        "runn x",
        "run --budgett ci",
        "run --budget",
        "corpus wirte x",
        "corpus",
        "rules --seed 1",
        "run ticdc-json --level row",
    ],
)
def test_a_wrong_command_is_seen(line):
    with pytest.raises((click.ClickException, ValueError)):
        parsed("--no-config", *shlex.split(line))


def test_a_broken_link_is_seen():
    page = "# A page\n[a](no-such.md) [b](#a-page) [c](#b) [d](docs/design.md#no-such) [e](https://x) `[f](g)`\n"
    assert broken("README.md", page) == ["no-such.md", "#b", "docs/design.md#no-such"]


def test_the_hook_of_pre_commit_is_a_command():
    hooks = (ROOT / ".pre-commit-hooks.yaml").read_text("utf-8")
    (entry,), (args,) = (
        re.findall("entry: (.*)", hooks),
        re.findall(r"args: \[(.*)\]", text("docs/ci.md")),
    )
    assert re.findall("id: (.*)", hooks) == re.findall(
        r"- repo: .*\n.*\n.*\n.*id: (.*)", text("docs/ci.md")
    )
    words = [*shlex.split(entry), *(word.strip(' "') for word in args.split(","))]
    assert words.pop(0) == "cdc-conformance"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(click.Path, "convert", lambda _self, value, _param, _ctx: Path(value))
        parsed(*words)


def test_the_pages_have_one_number_of_cases():
    (number,) = set(re.findall(r"([\d,]{6,}) cases,", text("docs/matrix.svg")))
    figures = [
        figure
        for name in NAMES
        if name != "CHANGELOG.md"
        for figure in re.findall(r"\b(\d{2,3},\d{3}) cases\b", text(name))
    ]
    assert set(figures) == {number}


def test_the_changes_of_a_release_are_told_once():
    """A merge brought a whole list back beside its successor."""
    for release in text("CHANGELOG.md").split("\n## ")[1:]:
        beginnings = [" ".join(entry.split()[:4]) for entry in release.split("\n- ")[1:]]
        twice = [beginning for beginning, count in Counter(beginnings).items() if count > 1]
        assert twice == [], release.splitlines()[0]


def test_the_table_and_the_picture_are_of_one_report_of_every_format():
    table = re.findall(r"^│(\S+) +│ +(\d+) │", text("README.md"), re.MULTILINE)
    drawn = re.findall(
        r'class="name"[^>]*>([^<]+)</text>(?:\n<g .*)*\n<text .*\n<text [^>]*>([\d,]+)</text>',
        text("docs/matrix.svg"),
    )
    assert {name: int(cases) for name, cases in table} == {
        name: int(cases.replace(",", "")) for name, cases in drawn
    }
    assert {name for name, _ in table} == set(FORMATS)
    (verdict,) = re.findall(r"^reference decoders: .*$", text("README.md"), re.MULTILINE)
    assert verdict in text("docs/matrix.svg")


def test_the_limits_that_are_told_are_those_of_the_code():
    from conformance.cases.catalogue import BUDGETS
    from conformance.selftest.checks import IN_SPARK
    from generators.drawing.cases import boundary_scenarios, tables_of
    from generators.drawing.streams import STATEMENTS
    from generators.wire_format import formats

    page = " ".join(text("docs/limits.md").split())
    assert (
        f"`smoke` draws {BUDGETS['smoke'].drawn} for each format, `ci` at least {BUDGETS['ci'].drawn:,}"
        in page
    )
    assert f"{BUDGETS['smoke'].sampled} under `smoke`, else {BUDGETS['ci'].sampled}" in page
    assert (sum(map(len, IN_SPARK.values())), len(IN_SPARK)) == (2, 2)
    assert "In Spark the self test tries two of them, and the right one in two formats." in page
    assert set(STATEMENTS) == {
        "add column",
        "truncate table",
        "drop column",
        "drop table",
        "add column again",
    }
    special, kinds = (
        {"integer[]", "text[]", "money", "interval", "hstore", "inet", "bit", "varbit"},
        {},
    )
    for fmt in formats():
        for profile in (profile for profile in fmt.profiles if profile.source == "postgresql"):
            tables = [
                table
                for scenario in boundary_scenarios(fmt, profile)
                for table in tables_of(scenario.history)
            ]
            kinds.setdefault(fmt.name, set()).update(
                column.type.name for table in tables for column in table.columns
            )
    assert {
        name: special & types for name, types in kinds.items() if special & types
    } == dict.fromkeys(("debezium-json", "debezium-avro"), special)
