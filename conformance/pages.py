"""The generated pages of docs/: the formats, and what documents leave open. `python -m conformance.pages docs` writes them."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from conformance.rules.base import Obligation, Provenance, Rule, rules
from generators.formats.base import Format, formats

_NOTE: Final = "<!-- Written by `python -m conformance.pages docs`; a test compares. -->"


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")


def _table(head: tuple[str, ...], rows: Iterator[tuple[str, ...]]) -> Iterator[str]:
    yield "| " + " | ".join(head) + " |"
    yield "|" + "---|" * len(head)
    for row in rows:
        yield "| " + " | ".join(map(_cell, row)) + " |"


def formats_page() -> str:
    """docs/formats.md: every format with its profiles, its wire messages by kind, its order, and what it loses."""
    lines = ["# Formats", "", _NOTE, ""]
    head = ("format", "source", "profiles", "rules")
    lines += _table(head, ((f.name, f.source, str(len(f.profiles)), str(len(rules(f.name)))) for f in formats()))
    for fmt in formats():
        lines += ["", f"## {fmt.name}", "", f"{fmt.title}. Position: {fmt.position}.", ""]
        lines += _table(("message", "kind", "op", "note"), ((k.wire, k.kind, k.op, k.note) for k in fmt.kinds))
        lines += ["", "Profiles: " + ", ".join(f"`{p.name}`" for p in fmt.profiles) + "."]
        lost = list(_losses(fmt))
        if lost:
            lines += ["", *_table(("loses", "in", "source"), iter(lost))]
    return "\n".join(lines) + "\n"


def _losses(fmt: Format[Any]) -> Iterator[tuple[str, str, str]]:
    """What a format's messages no longer hold, with the profiles that lose it."""
    found: dict[tuple[str, str], list[str]] = {}
    for profile in fmt.profiles:
        for loss in fmt.losses(profile):
            found.setdefault((loss.statement, loss.citation), []).append(f"`{profile.name}`")
    for (statement, citation), names in found.items():
        yield statement, ", ".join(names), citation


def _open(rule: Rule) -> bool:
    return rule.provenance is Provenance.ASSUMED or rule.obligation in (Obligation.UNSPECIFIED, Obligation.MAY)


def undecided_page() -> str:
    """docs/undecided.md: value forms without an outside literal, and rules that no document or product settles."""
    lines = [
        "# What the documents do not decide",
        "",
        _NOTE,
        "",
        "Where a vendor's document is silent or contradicts itself, the harness does the most plausible thing and says so here.",
        "An UNSPECIFIED rule is reported and never fails a decoder; an ASSUMED one rests on no outside literal.",
    ]
    for fmt in formats():
        lines += ["", f"## {fmt.name}"]
        assumed: dict[str, list[str]] = {}
        for profile in fmt.profiles:
            if profile.assumed:
                assumed.setdefault(profile.assumed, []).append(f"`{profile.name}`")
        for text, names in assumed.items():
            whole = len(names) == len(fmt.profiles)
            where = "" if whole else f" in {', '.join(names)}"
            lines += ["", f"Assumed{where}: {text}."]
        left = (
            (
                rule.id.removeprefix(f"{fmt.name}/"),
                rule.obligation.value,
                rule.provenance.value,
                rule.statement,
                "; ".join(map(str, rule.citations)),
            )
            for rule in rules(fmt.name)
            if _open(rule) and not rule.law
        )
        lines += ["", *_table(("rule", "obligation", "provenance", "statement", "citations"), left)]
    return "\n".join(lines) + "\n"


PAGES: Final = {"formats.md": formats_page, "undecided.md": undecided_page}


def main(directory: str) -> None:
    """Writes every page below the directory."""
    for name, page in PAGES.items():
        Path(directory, name).write_text(page(), "utf-8")


if __name__ == "__main__":
    main(sys.argv[1])
