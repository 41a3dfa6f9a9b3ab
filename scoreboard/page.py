"""docs/scoreboard.md and docs/scoreboard.html: the readers by format, their failures, and the proved faults as bug reports."""

from __future__ import annotations

import html
import re
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from markupsafe import Markup

from conformance.reports.page import environment, kept
from scoreboard.board import FAULTS, Failure, Judged, Outcome, Proof, board, cited, proofs
from scoreboard.judging import ROOT

if TYPE_CHECKING:
    import jinja2

DOCS: Final = ROOT.parent / "docs"


def pages(judged: tuple[Judged, ...] | None = None, faults: Path = FAULTS) -> dict[str, str]:
    """Both pages by their names below docs/."""
    every = board() if judged is None else judged
    formats = list(dict.fromkeys(one.format for one in every))
    readers = list(dict.fromkeys(one.reader.name for one in every))
    proved = proofs(every, faults)
    context: dict[str, Any] = {
        "judged": every,
        "formats": formats,
        "readers": [[one for one in every if one.reader.name == name] for name in readers],
        "proofs": proved,
        "places": {(proof.reader.record, proof.fault.id): anchor(proof) for proof in proved},
        "messages": _messages(every),
        "outcomes": list(Outcome),
    }
    templates = _templates()
    return {f"scoreboard.{kind}": templates.get_template(f"scoreboard.{kind}.j2").render(page=context) for kind in ("md", "html")}


def write(directory: Path = DOCS) -> list[Path]:
    """Writes the pages."""
    written = []
    for name, text in pages().items():
        (directory / name).write_text(text, "utf-8")
        written.append(directory / name)
    return written


def cell(judged: Judged | None) -> str:
    """A reader on a format in a few words."""
    if judged is None:
        return "-"
    counts = [f"{judged.counts[outcome]} {outcome.words}" for outcome in Outcome if judged.counts[outcome]]
    return "; ".join(counts) or ("right" if not judged.failures else "right, but for what is not a MUST")


def heading(proof: Proof) -> str:
    """The title of a proved fault's report."""
    return f"{proof.reader.title} {proof.reader.release}: {proof.fault.title}"


def anchor(proof: Proof) -> str:
    """The name of a proved fault in both pages: that which a Markdown reader gives to its heading."""
    return re.sub(r"[^\w\- ]", "", heading(proof).lower()).replace(" ", "-")


def fenced(text: str) -> str:
    """A message as it can stand in a fenced block of Markdown, on one line."""
    return text.replace("\n", "\\n").replace("\r", "\\r").replace("```", "` ` `")


def plain(text: str) -> Markup:
    """A text between tags, where quotes need no escape: escaped, those of messages were a quarter of the page."""
    return Markup(html.escape(kept(text), quote=False))  # noqa: S704 - escaped here


def _messages(judged: Iterable[Judged]) -> dict[str, int]:
    """The messages of all failures, each once, by value, with their numbers."""
    values = dict.fromkeys(failure.value for one in judged for failure in _sorted(one))
    return {value: number for number, value in enumerate(values, 1)}


def in_cell(text: str) -> str:
    """A text as it can stand in a cell of a Markdown table."""
    return text.replace("\\", "\\\\").replace("|", "\\|").replace("\n", " ").replace("<", "&lt;")


def _templates() -> jinja2.Environment:
    import jinja2

    made = environment()
    assert made.loader is not None
    made.loader = jinja2.ChoiceLoader([jinja2.FileSystemLoader(ROOT, encoding="utf-8"), made.loader])
    made.filters |= {"fenced": fenced, "in_cell": in_cell, "cited": cited, "anchor": anchor, "heading": heading, "plain": plain}
    made.globals |= {"cell": cell, "of": _of, "sorted_failures": _sorted}
    made.autoescape = jinja2.select_autoescape(["html.j2", "html"])
    return made


def _of(some: list[Judged], fmt: str) -> Judged | None:
    return next((one for one in some if one.format == fmt), None)


def _sorted(judged: Judged) -> list[Failure]:
    """Failures, the worst outcome first, MUST before the others."""
    order = list(Outcome)
    return sorted(judged.failures, key=lambda failure: (not failure.counts, order.index(failure.outcome), failure.rule))
