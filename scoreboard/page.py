"""The pages: docs/scoreboard.md and .html, a page of docs/scoreboard/ for each product's faults and
each reader's failures.
"""

from __future__ import annotations

import html
import itertools
import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import unquote_plus, urlsplit

from markupsafe import Markup

from conformance import sheets
from conformance.reports.page import environment
from conformance.rules.rules import Rule, rules
from conformance.rules.sources import fact
from conformance.text import printable_lines
from scoreboard import pipelines, reproducing
from scoreboard.board import Cause, Failure, Judged, Proof, board, causes, cited, proofs
from scoreboard.forms import forms
from scoreboard.judging import ROOT
from scoreboard.record import (
    FAULTS,
    Fault,
    Newest,
    Outcome,
    Reach,
    Standing,
    behaviours,
    newest_release,
    tracker,
)
from scoreboard.standings import read_standings

if TYPE_CHECKING:
    import jinja2

DOCS: Final = ROOT.parent / "docs"
RECIPES: Final = "spark-"
"""How the readers' names begin that this project wrote itself: they stand on a page of their own.
"""
TO_SEND: Final = (
    ("paimon", "schemaless-null-text"),
    ("flink", "flink-canal-old-of-several-rows"),
    ("paimon", "debezium-binary-as-utf-8"),
    ("paimon", "bit-as-base64"),
    ("paimon", "equal-rows"),
    ("seatunnel", "debezium-not-finite"),
)
"""The faults whose reports are ready to be sent, the best first: record and id."""


def pages(judged: tuple[Judged, ...] | None = None, faults: Path = FAULTS) -> dict[str, str]:
    """The texts of all pages of the scoreboard, by their names below docs/. `judged` are the
    results (by default those in the folder of results), `faults` is the folder of the faults on
    record.
    """
    every = board() if judged is None else judged
    recipes = tuple(result for result in every if result.reader.name.startswith(RECIPES))
    readers = tuple(result for result in every if result not in recipes)
    templates = _templates()

    def render(
        template: str, results: tuple[Judged, ...], proved: Sequence[Proof], **more: Any
    ) -> str:
        """Renders a template of a page: with the results by reader (a product's decoder that was
        judged), and the proofs (named failures with what shows them) by what each is: a fault, a
        limit that the product's documents declare, or nothing to be held against it. `more` are
        further values for the template.
        """
        by_reader: dict[str, list[Judged]] = {}
        for result in results:
            by_reader.setdefault(result.reader.name, []).append(result)
        by_standing: dict[str, list[Proof]] = {standing.value: [] for standing in Standing}
        for proof in proved:
            by_standing[proof.fault.standing.value].append(proof)
        return templates.get_template(template).render(
            judged=results,
            readers=list(by_reader.values()),
            proofs=list(proved),
            causes=causes(proved),
            behaviours=behaviours().values(),
            standings=by_standing,
            **more,
        )

    proved = proofs(readers, faults)
    written = {
        f"scoreboard.{kind}": render(f"scoreboard.{kind}.j2", readers, proved)
        for kind in ("md", "html")
    }
    written["scoreboard/spark.md"] = render("spark.md.j2", recipes, proofs(recipes, faults))
    for record in dict.fromkeys(result.reader.record for result in readers):
        own_proofs = _sort_by_cause(proof for proof in proved if proof.reader.record == record)
        product_results = tuple(result for result in readers if result.reader.record == record)
        written[f"scoreboard/{record}.md"] = render(
            "product.md.j2", product_results, own_proofs, record=record
        )
    for name in dict.fromkeys(result.reader.name for result in every):
        written[f"scoreboard/failures-{name}.md"] = render(
            "failures.md.j2", tuple(r for r in every if r.reader.name == name), ()
        )
    written["scoreboard/standings.md"] = render("standings.md.j2", readers, ())
    send: list[Proof] = []
    for place in TO_SEND:
        send += [proof for proof in proved if (proof.reader.record, proof.fault.id) == place]
    written["issues-to-send.md"] = render("send.md.j2", readers, send)
    return written


def _sort_by_cause(proofs_of_product: Iterable[Proof]) -> list[Proof]:
    """The proofs of a product in the order in which the board has their causes, then those that
    have no cause on the board.
    """
    proved = list(proofs_of_product)
    ordered = [proof for cause in causes(proved) for proof in cause.proofs]
    return ordered + [proof for proof in proved if proof not in ordered]


def write(directory: Path = DOCS) -> list[Path]:
    """Writes the pages of the scoreboard, and removes the pages of readers that are gone; returns
    the paths. The page of pipelines is written by `scoreboard.pipelines`.
    """
    every = pages()
    for old in (directory / "scoreboard").glob("*.md"):
        if f"scoreboard/{old.name}" not in every and old.name != pipelines.PAGE.name:
            old.unlink()
    for name, content in every.items():
        (directory / name).parent.mkdir(exist_ok=True)
        (directory / name).write_text(content, "utf-8")
    return [directory / name for name in every]


def cell(judged: Judged) -> str:
    """The result of a reader on a format in a few words, for a cell of the table: how many faults
    (named failures) it has by outcome, or "none".
    """
    counts = [
        f"{judged.counts[outcome]} {outcome.words}" for outcome in Outcome if judged.counts[outcome]
    ]
    counts += [f"{judged.unexplained} not looked into"] if judged.unexplained else []
    return "; ".join(counts) or "none"


def with_equal_cells(results: Iterable[Judged]) -> list[list[Judged]]:
    """Results for the lines of the table: those of one reader that stand beside each other and
    have the same cell share a line.
    """

    def line(result: Judged) -> tuple[str, str, bool]:
        """What the results that share a line of the table have alike: the reader, the cell, and
        whether they are stale.
        """
        return result.reader.name, cell(result), result.stale

    return [list(same_line) for _, same_line in itertools.groupby(results, line)]


def anchor(fault: Fault) -> str:
    """The name of a fault's heading in a page, to which a link with # leads."""
    return re.sub(r"[^\w\- ]", "", fault.title.lower()).replace(" ", "-")


def shown_on(proof: Proof) -> str:
    """The releases of a product whose program shows the fault (a named failure), in words,
    such as "1.0 to 1.3; gone in 2.0".
    """
    if not proof.releases:
        return f"{proof.reader.release}"
    span = (
        f"{proof.releases[0]} to {proof.releases[-1]}"
        if len(proof.releases) > 1
        else "".join(proof.releases)
    )
    later = [release for release in proof.tried if _key(release) > _key(proof.releases[-1])]
    older = [release for release in proof.tried if _key(release) < _key(proof.releases[0])]
    return (
        span
        + (f"; not in {older[-1]}" if older else "")
        + (f"; gone in {later[0]}" if later else "")
    )


def _key(release: str) -> tuple[int, ...]:
    """The numbers in a release's name, by which releases are ordered."""
    return tuple(int(number) for number in re.findall(r"\d+", release))


def rule_of(fault: Fault) -> Rule:
    """The rule of the harness that a fault breaks, as its record names it."""
    return next(rule for rule in rules(fault.rule.partition("/")[0]) if rule.id == fault.rule)


def citations(fault: Fault) -> list[tuple[str, str]]:
    """The sources of the rule that a fault (a named failure of a reader) breaks, each in
    words and with the link below docs/ to its page.
    """
    return [cited(str(citation)) for citation in rule_of(fault).citations]


def evidence(fault: Fault) -> list[tuple[str, str]]:
    """The addresses on the web of the evidence for the rule that a fault breaks, as (words,
    address) pairs.
    """
    text_by_address: dict[str, str] = {}
    for citation in rule_of(fault).citations:
        for item in fact(citation.where).evidence:
            if item.address.startswith("https://"):
                text_by_address[item.address] = item.text
    return [(words, address) for address, words in text_by_address.items()]


def program_output(output: str) -> str:
    """What a program prints, in words where it prints nothing."""
    return output or "nothing: no row, no error"


def fenced(message: str) -> str:
    r"""A message as text that can stand in a fenced block of Markdown: carriage returns are shown
    as \r, and fences in it are broken up.
    """
    return message.replace("\r", "\\r").replace("```", "` ` `")


def plain(content: str) -> Markup:
    """A text as safe HTML between tags: unprintable characters are shown, `<`, `>` and `&` are
    escaped. Quotes stay: they need no escape between tags, and escaped, those of messages were a
    quarter of the page.
    """
    return Markup(html.escape(printable_lines(content), quote=False))  # noqa: S704 - escaped here


def words(sentence: str) -> Markup:
    """A text of our own between tags, escaped, in which back-ticks mark code."""
    return Markup(re.sub(r"`([^`]+)`", r"<code>\1</code>", plain(sentence)))  # noqa: S704


def markdown_link(address: str) -> str:
    """A link in Markdown whose words are short: a file with its lines, a repository with the number
    of its issue, or the last name of a path. An address as text does not wrap, and is wider than a
    phone.
    """
    place = urlsplit(address)
    path = place.path.strip("/")
    name = unquote_plus(path.rpartition("/")[2])
    if place.hostname != "github.com":
        words = f"{name} at {place.hostname}"
    elif issue := re.fullmatch(r"([^/]+/[^/]+)/(?:issues|pull)/(\d+)", path):
        words = f"{issue[1]} #{issue[2]}"
    elif lines := re.fullmatch(r"L(\d+)(?:-L(\d+))?", place.fragment):
        words = f"{name}, {f'lines {lines[1]}-{lines[2]}' if lines[2] else f'line {lines[1]}'}"
    else:
        words = name if "/blob/" in path else path
    return f"[{words}]({address})"


def reported(proof: Proof) -> str:
    """The sentence that says where a fault is reported, or on which day and where no report of it
    was found.
    """
    if proof.fault.known:
        return f"Reported: {markdown_link(proof.fault.known)}."
    words = f" by the words {proof.fault.search_words}" if proof.fault.search_words else ""
    place = tracker(proof.reader.record)[1]
    return f"No report was found on {proof.fault.searched}{words} in {place}."


def newest_in_words(proof: Proof) -> str:
    """The sentence that says whether the newest release or branch of a product still has a fault,
    in Markdown; "" if that was not looked up.
    """
    fault = proof.fault
    if not fault.newest:
        return ""
    release = newest_release(proof.reader.record)
    line = f" ({markdown_link(fault.newest_source)})" if fault.newest_source else ""
    match fault.newest:
        case Newest.STANDS:
            return f"It stands in the source of {release}{line}."
        case Newest.GONE:
            return f"It is gone in the source of {release}{line}."
        case Newest.CHANGED:
            return (
                f"These lines differ in {release}{line}: whether the fault is gone was not tried."
            )
        case Newest.JUDGED:
            return f"Newest release: {release}."
        case Newest.NOT_FOUND:
            return f"These lines were not found in {release}."


def newest_in_short(proof: Proof) -> str:
    """Whether the newest source of a product still has a fault (a named failure), in a word
    for a cell of a table; "" if that was not looked up.
    """
    if not proof.fault.newest:
        return ""
    return {
        Newest.STANDS: "stands",
        Newest.GONE: "gone",
        Newest.CHANGED: "changed",
        Newest.JUDGED: "is newest",
        Newest.NOT_FOUND: "not found",
    }[proof.fault.newest]


def later_in_short(cause: Cause) -> str:
    """What the newest source of a product still has of the faults (named failures) of a
    cause, in words for a cell of a table, each word once.
    """
    return ", ".join(dict.fromkeys(filter(None, map(newest_in_short, cause.proofs))))


def reach_in_words(reach: Reach) -> str:
    """Who meets a behaviour of a reader, in words: on any table, on each value of a type, on some
    values, or on a message without a row.
    """
    return {
        Reach.ROWS: "any table",
        Reach.TYPE: "each value of a type",
        Reach.VALUE: "some values",
        Reach.MESSAGE: "a message without a row",
    }[reach]


def program(proof: Proof) -> str:
    """The text of the program that shows a fault without the harness."""
    return reproducing.program(proof.reader.record, proof.fault)


def program_language(proof: Proof) -> str:
    """The language of the program that shows a fault: Python against a package for Spark, else
    Java.
    """
    return "java" if proof.reader.bundle else "python"


def _templates() -> jinja2.Environment:
    """The environment of the scoreboard's templates: that of the reports, with the scoreboard's own
    folder first, its filters and globals; only HTML is escaped.
    """
    import jinja2

    templates = environment()
    assert templates.loader is not None
    templates.loader = jinja2.ChoiceLoader(
        [jinja2.FileSystemLoader(ROOT / "templates", encoding="utf-8"), templates.loader]
    )
    filters = (
        fenced,
        anchor,
        plain,
        words,
        program_output,
        shown_on,
        reported,
        citations,
        evidence,
        markdown_link,
        rule_of,
        program,
        program_language,
        newest_in_words,
        newest_in_short,
        later_in_short,
        reach_in_words,
        tracker,
    )
    templates.filters |= {function.__name__: function for function in filters} | {
        "in_cell": sheets.cell
    }
    templates.globals |= {
        "cell": cell,
        "with_equal_cells": with_equal_cells,
        "by_rank": _by_rank,
        "forms": forms(),
        "standings_then": read_standings(),
    }
    templates.autoescape = jinja2.select_autoescape(["html.j2", "html"])
    return templates


def _by_rank(judged: Judged) -> Iterator[Failure]:
    """The failures of a reader on a format for its page: those of MUST rules first, then by
    outcome, the worst first.
    """
    order = list(Outcome)
    yield from sorted(
        judged.failures,
        key=lambda failure: (not failure.counts, order.index(failure.outcome), failure.rule),
    )
