"""The generated pages of docs/: the formats, each on a page of its own, and what several of them
share.

`python -m spark_checks.pages docs` writes them: `spark_checks` knows the decoders that make these
mistakes.
"""

from __future__ import annotations

import ast
import dataclasses
import importlib
import inspect
import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, NamedTuple

from conformance.pages._markdown import table
from conformance.pages.column_types import column_types_page
from conformance.pages.recipes import recipe_mistakes, recipe_section
from conformance.pages.recorded import recorded_page
from conformance.pages.releases import release_table
from conformance.pages.rooms import picture, rooms, rooms_page
from conformance.pages.samples import Sample, plain, samples
from conformance.pages.sources import source_pages
from conformance.reports.facts import unusual
from conformance.rules import pipelines, streams
from conformance.rules.rules import Obligation, Provenance, Rule
from conformance.rules.rules import rules as format_rules
from conformance.text import printable
from generators.wire_format import FORMATS, Format, Members, formats, module_name

COMMAND: Final = "python -m spark_checks.pages docs"
_NOTE: Final = f"<!-- Written by `{COMMAND}`; a test compares. -->"
"""The line of each page that says what wrote it."""
_FOLDED: Final = 45
"""A message of more lines than these is folded on the page."""
_SHARED: Final = 3
"""What is the same in at least so many formats is described in docs/formats.md; what fewer share,
on the page of the first of them.
"""
_COMMON: Final = "formats"
"""The name of docs/formats.md among the pages of formats."""

_TEXT: Final = """
A **profile** is one exact release of a writer with the options that matter. A **rule** is one thing that a decoder owes. *Open*
rules are settled by no outside source. `cdc-conformance formats`, `rules` and `cases` print details.

## Sources

A rule cites facts of the [catalogue of sources](sources/index.md), each with evidence that a reader can open. DOCUMENTED rests
on a vendor's document, OBSERVED on a product's source or output, ASSUMED on neither: where documents are silent or contradict
each other, the harness does what is most plausible and says so. A rule that is ASSUMED, MAY or UNSPECIFIED is open.

## How rules judge

Rules go from special to general: a mismatch breaks the first rule that owns it. A broken MUST fails a decoder, a broken SHOULD
fails it with `--strict`; MAY and UNSPECIFIED never fail. `law/...` are about calls, `stream/...` about tables that
`cdc-conformance stream` keeps from a decoder's changes, `pipeline/...` about the table that a user's own pipeline keeps.

## Rules of several formats

These are alike in three formats or more, whose pages name them.
""".strip()

_TRAPS: Final = """
The [self test](design.md#what-the-harness-owes-about-itself) has a decoder for each of these mistakes, which is wrong in this way
alone. The format's page names the rule that convicts it. These are in three formats or more:
""".strip()


class Trap(NamedTuple):
    """A mistake that a wrong decoder of the self test makes. `convicts` is the id of the rule that
    it breaks.
    """

    name: str
    convicts: str
    why: str


@dataclass(frozen=True, slots=True)
class Homes:
    """The page on which each rule and each mistake is described: the name of a format, or _COMMON
    for docs/formats.md. Rules are given by their table rows, mistakes by name and reason.
    """

    rules: Mapping[tuple[str, ...], str]
    traps: Mapping[tuple[str, ...], str]


def homes(traps: Mapping[str, Iterable[Trap]]) -> Homes:
    """Where each thing is described that several formats share: for each rule, and for each mistake
    of the self test's wrong decoders (`traps`, by format), the page of its format, or
    docs/formats.md if at least _SHARED formats have it.
    """
    return Homes(
        _homes({name: _rule_rows(name, "") for name in FORMATS}),
        _homes(
            {
                name: ((trap.name, trap.why) for trap in format_traps)
                for name, format_traps in traps.items()
            }
        ),
    )


def _homes(by_format: Mapping[str, Iterable[tuple[str, ...]]]) -> dict[tuple[str, ...], str]:
    """The page of each item (a rule or a mistake): _COMMON if at least _SHARED formats have it,
    else the first format that has it. `by_format` lists the items of each format.
    """
    having: dict[tuple[str, ...], list[str]] = {}
    for name, items in by_format.items():
        for item in dict.fromkeys(items):
            having.setdefault(item, []).append(name)
    return {item: _COMMON if len(names) >= _SHARED else names[0] for item, names in having.items()}


def rules(name: str) -> tuple[Rule, ...]:
    """Every rule of a format, with the rules on tables that a stream or a pipeline keeps of its
    messages.
    """
    return (*format_rules(name), *streams.rules(name), *pipelines.rules(name))


def _rule_rows(name: str, docs_prefix: str) -> Iterator[tuple[str, ...]]:
    """The table rows of a format's rules, with the columns of _RULE. `docs_prefix` is the path from
    the page to docs/.
    """
    for rule in rules(name):
        cited = (citation.where for citation in rule.citations)
        links = " ".join(
            f"[{place}]({docs_prefix}sources/{place.replace('#', '.md#')})" for place in cited
        )
        obligation = f"{rule.obligation}, {rule.provenance}"
        yield rule.id.removeprefix(f"{name}/"), rule.statement, obligation, rule.effect.value, links


_RULE: Final = ("rule", "statement", "owed", "effect", "source")
"""The columns of the tables of rules."""


def formats_page(where: Homes) -> str:
    """The text of docs/formats.md: every format in one table with a link to its page, what the
    words of the table mean, and the rules and mistakes that several formats share. `where` says of
    each rule and mistake which page describes it.
    """
    head = ("format", "what", "source", "container", "profiles", "rules", "MUST", "SHOULD", "open")
    common_rules = (rule_cells for rule_cells, home in where.rules.items() if home == _COMMON)
    lines = [
        "# Formats",
        "",
        _NOTE,
        "",
        *table(head, map(_overview, formats())),
        "",
        _TEXT,
        "",
        *table(_RULE, common_rules),
    ]
    lines += ["", "## Traps of several formats", "", _TRAPS, ""]
    lines += (f"- {name}: {why}" for (name, why), home in where.traps.items() if home == _COMMON)
    return "\n".join(lines) + "\n"


def _overview(fmt: Format[Any]) -> tuple[object, ...]:
    """The row of a format in the table of all formats: link, title, database, container, and the
    numbers of its profiles, rules, MUSTs, SHOULDs and open rules.
    """
    rules_of_format = format_rules(fmt.name)
    count_by_obligation = Counter(rule.obligation for rule in rules_of_format)
    counts = (
        len(fmt.profiles),
        len(rules_of_format),
        count_by_obligation[Obligation.MUST],
        count_by_obligation[Obligation.SHOULD],
        sum(map(_is_open, rules_of_format)),
    )
    return (f"[{fmt.name}](formats/{fmt.name}.md)", fmt.title, fmt.source, fmt.container, *counts)


def _is_open(rule: Rule) -> bool:
    """Whether no outside source settles what the rule says: it is UNSPECIFIED or MAY, or rests on
    our assumption. Laws (rules on the calls of a decoder) are never open.
    """
    weak = rule.obligation in (Obligation.UNSPECIFIED, Obligation.MAY)
    return not rule.law and (weak or rule.provenance is Provenance.ASSUMED)


def format_page(
    fmt: Format[Any], traps: Iterable[Trap], where: Homes, mistakes: Iterable[str]
) -> str:
    """docs/formats/NAME.md: how the format works, an example, its profiles, what it loses, its
    rules, its traps and the mistakes of recipes for Spark.
    """
    module = importlib.import_module(f"generators.formats.{module_name(fmt.name)}")
    lines = [
        f"# {fmt.title}",
        "",
        _NOTE,
        "",
        (
            f"`{fmt.name}`. Source: {fmt.source}. Container: {fmt.container}. [How to read this"
            " page](../formats.md)"
        ),
        "",
        "## How it works",
        "",
        inspect.cleandoc(ast.get_docstring(ast.parse(inspect.getsource(module))) or ""),
        "",
        f"**Position** (what orders changes): {fmt.position}.",
        "",
        *table(
            ("message", "kind", "op", "note"), ((k.wire, k.kind, k.op, k.note) for k in fmt.kinds)
        ),
        "",
        *table(("field", "members"), _member_rows(fmt.members)),
        "",
        *_example(fmt),
        *_profiles(fmt),
        *release_table(fmt),
        *_losses(fmt),
        *_rules(fmt, where),
        *_traps(fmt, traps, where),
        *recipe_section(mistakes),
    ]
    return "\n".join(lines) + "\n"


def _member_rows(members: Members) -> Iterator[tuple[str, str]]:
    """A row for each field of a message that its members hold: the field, and the members'
    names.
    """
    for field in dataclasses.fields(members):
        if names := members.names_of_field(field.name):
            yield field.name, ", ".join(f"`{name}`" for name in names)


def _example(fmt: Format[Any]) -> Iterator[str]:
    """The lines of the section "Example" of a format's page: its sample messages as laid-out text,
    long ones folded, a schema that is equal to the one before left out.
    """
    yield from ("## Example", "")
    yield (
        f"A row of four columns inserted, changed and deleted, as profile `{plain(fmt).name}`"
        " writes it; line breaks are added."
    )
    if fmt.container == "avro":
        yield (
            "Avro as its schema reads it: a union's record has its name before it, bytes are 0x..."
        )
    if fmt.container == "protobuf":
        yield (
            "Protobuf by the names of its fields; a message that stands in bytes is decoded, too,"
            " and a field with its default is there only if it is written."
        )
    if fmt.container == "confluent":
        yield (
            "Keys and values as their schemas in the registry read them, without the zero and the"
            " id before each."
        )
    schema = ""
    for sample in samples(fmt):
        sample_text = sample.text
        head = (
            sample_text[: sample_text.find('\n  "payload"')]
            if sample_text.startswith('{\n  "schema":{')
            else ""
        )
        if head and head == schema:
            sample_text = '{\n  "schema":(the same again),' + sample_text[len(head) :]
        schema = head or schema
        yield from ("", f"**{sample.kind}**: {_record(sample)}", "")
        count = sample_text.count("\n") + 1
        fenced = ("```json" if sample.message.value is not None else "```text", sample_text, "```")
        yield from (
            (f"<details><summary>{count} lines</summary>", "", *fenced, "", "</details>")
            if count > _FOLDED
            else fenced
        )
    yield ""


def _record(sample: Sample) -> str:
    """A Kafka record of a sample in one line: partition, key (of one with a schema, the payload),
    names of headers, and size of the value.
    """
    message = sample.message
    if message.key is None:
        key = "key null"
    elif not message.key:
        key = "key of zero bytes"
    else:
        key_text = message.key.decode()
        key_json = json.loads(key_text) if key_text.startswith('{"schema":') else {}
        key = (
            f'key `{{"schema": ..., "payload": {json.dumps(key_json["payload"])}}}`'
            if key_json
            else f"key `{printable(key_text)}`"
        )
    headers = "".join(f", header `{name}`" for name, _ in message.headers)
    size = "null" if message.value is None else f"{len(message.value):,} bytes"
    return f"partition {message.partition}, {key}{headers}, value {size}"


def _profiles(fmt: Format[Any]) -> Iterator[str]:
    """The lines of the section "Profiles" of a format's page: profiles by database and deployment,
    the options that may be combined, and what is assumed of which profiles.
    """
    yield from ("## Profiles", "")
    profiles_by_deployment: dict[tuple[str, str], list[str]] = {}
    for profile in fmt.profiles:
        deployment = unusual(profile.deployment) or "UTC, utf8mb4, not compressed"
        profiles_by_deployment.setdefault((profile.source, deployment), []).append(
            f"`{profile.name}`"
        )
    profile_cells = (
        (", ".join(names), source, deployment)
        for (source, deployment), names in profiles_by_deployment.items()
    )
    yield from table(("profiles", "database", "the decoder's `deployment`"), profile_cells)
    if fmt.choices.options:
        releases = ", ".join(f"`{release}`" for release in fmt.choices.releases)
        yield ""
        yield (
            f"`--writer-profile` takes a release ({releases}) with any of these options that go"
            " together, behind a `+`:"
        )
        yield ""
        yield from (
            f"- `{option}`: {explanation}" for option, explanation in fmt.choices.options.items()
        )
    assumed: dict[str, list[str]] = {}
    for profile in fmt.profiles:
        if profile.assumed:
            assumed.setdefault(profile.assumed, []).append(f"`{profile.name}`")
    for explanation, names in assumed.items():
        is_everywhere = len(names) == len(fmt.profiles)
        scope = "" if is_everywhere else f" in {_describe_profiles(fmt, names)}"
        yield from ("", f"Assumed{scope}: {explanation}.")
    yield ""


def _losses(fmt: Format[Any]) -> Iterator[str]:
    """The lines of the section "Losses" of a format's page: the values of the source that its
    messages lack for any decoder, with the profiles that lose them; nothing if there are none.
    """
    losing: dict[tuple[str, str], list[str]] = {}
    for profile in fmt.profiles:
        for loss in fmt.losses(profile):
            losing.setdefault((loss.statement, loss.citation), []).append(f"`{profile.name}`")
    if losing:
        yield from ("## Losses", "", "What these messages lack of the source's values:", "")
        yield from (
            f"- {statement}; {_describe_profiles(fmt, names)} ({citation})"
            for (statement, citation), names in losing.items()
        )
        yield ""


def _describe_profiles(fmt: Format[Any], names: list[str]) -> str:
    """Says of which of a format's profiles something holds: "every profile", "every profile of
    SOURCE" if `names` are all of one database, else the names.
    """
    if len(names) == len(fmt.profiles) > 1:
        return "every profile"
    for source in sorted({p.source for p in fmt.profiles}):
        if names == [f"`{p.name}`" for p in fmt.profiles if p.source == source] and len(names) > 1:
            return f"every profile of {source}"
    return ", ".join(names)


def _rules(fmt: Format[Any], where: Homes) -> Iterator[str]:
    """The lines of the section "Rules" of a format's page: a table of the rules that are described
    on this page, and links to the rules that are described on other pages.
    """
    rules_with_home = [
        (linked_cells, where.rules[rule_cells])
        for linked_cells, rule_cells in zip(
            _rule_rows(fmt.name, "../"), _rule_rows(fmt.name, ""), strict=True
        )
    ]
    yield from (
        "## Rules",
        "",
        *table(_RULE, (rule_cells for rule_cells, home in rules_with_home if home == fmt.name)),
    )
    yield from _elsewhere(
        fmt, "rules", ((f"`{rule_cells[0]}`", home) for rule_cells, home in rules_with_home)
    )
    yield ""


def _traps(fmt: Format[Any], traps: Iterable[Trap], where: Homes) -> Iterator[str]:
    """The lines of the section "Traps" of a format's page: each mistake of the self test's wrong
    decoders with the rule that convicts it, and links to those on other pages.
    """
    yield from (
        "## Traps",
        "",
        (
            "[Mistakes](../formats.md#traps-of-several-formats) of decoders, and the rule that"
            " convicts:"
        ),
        "",
    )
    mistakes = dict.fromkeys(
        (trap.name, trap.why, trap.convicts.removeprefix(f"{fmt.name}/")) for trap in traps
    )
    traps_with_home = [
        (f"{name} (`{rule}`)", why, where.traps[name, why]) for name, why, rule in mistakes
    ]
    yield from (f"- {words}: {why}" for words, why, home in traps_with_home if home == fmt.name)
    yield from _elsewhere(fmt, "traps", ((words, home) for words, _why, home in traps_with_home))


def _elsewhere(
    fmt: Format[Any], what: str, items_with_home: Iterable[tuple[str, str]]
) -> Iterator[str]:
    """The lines that link the rules or mistakes of a format which other pages describe, a line for
    each page. `items_with_home` has each item in words, with the name of its page; `what` is the
    section there.
    """
    items_by_home: dict[str, list[str]] = {}
    for words, home in items_with_home:
        if home != fmt.name:
            items_by_home.setdefault(home, []).append(words)
    for home, items in sorted(items_by_home.items()):
        link = (
            f"../formats.md#{what}-of-several-formats" if home == _COMMON else f"{home}.md#{what}"
        )
        yield from (
            "",
            (
                f"As in [{'several formats' if home == _COMMON else home}]({link}):"
                f" {', '.join(items)}."
            ),
        )


def pages(
    traps: Mapping[str, Iterable[Trap]], faults: Path, *, recorded: bool = True
) -> dict[str, str]:
    """The text of every generated page by its name below docs/; the page on recorded messages only
    if `recorded`. `traps` are the mistakes of the self test's wrong decoders, by format; `faults`
    is the scoreboard's folder, with the mistakes that public recipes make.
    """
    mistakes = recipe_mistakes(faults)
    homes_of_items = homes(traps)
    page_texts = {"formats.md": formats_page(homes_of_items), **source_pages(_NOTE)}
    if recorded:
        page_texts["recorded.md"] = recorded_page(_NOTE)
    by_name = rooms(Path(__file__).parents[2])  # the folders of the code and their imports
    page_texts["column-types.md"] = column_types_page(_NOTE)
    page_texts |= {"rooms.md": rooms_page(by_name, _NOTE), "rooms.svg": picture(by_name)}
    return page_texts | {
        f"formats/{fmt.name}.md": format_page(
            fmt, traps[fmt.name], homes_of_items, mistakes.get(fmt.name, ())
        )
        for fmt in formats()
    }
