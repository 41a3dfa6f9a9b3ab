"""What the rule tables of all formats share: how a rule is spelt, selectors of whole areas, and the rules that are the same."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from conformance.rules.base import Aspect, Citation, Effect, Obligation, Provenance, Rule, Selector

RFC8259: Final = "RFC 8259"

EXISTENCE: Final = (Aspect.MISSING, Aspect.EXTRA, Aspect.CORRUPT)
WHOLE: Final = (*EXISTENCE, Aspect.KIND, Aspect.OP)
CONTENT: Final = (Aspect.NULL, Aspect.VALUE)

MALFORMED: Final = ("truncated", "wrong-container", "trailing-content", "second-document", "empty")
DUBIOUS: Final = ("duplicate-key", "bom", "invalid-utf-8", "lone-surrogate", "raw-control")

MUST, SHOULD, MAY, UNSPECIFIED = Obligation.MUST, Obligation.SHOULD, Obligation.MAY, Obligation.UNSPECIFIED
OBSERVED, DOCUMENTED, ASSUMED = Provenance.OBSERVED, Provenance.DOCUMENTED, Provenance.ASSUMED


@dataclass(frozen=True, slots=True)
class Book:
    """The rules of one format as they are written down. `provenance` is what a rule has unless it says otherwise."""

    format: str
    provenance: Provenance

    def rule(
        self,
        name: str,
        statement: str,
        effect: Effect,
        selector: Selector,
        *citations: tuple[str, str],
        obligation: Obligation = MUST,
        provenance: Provenance | None = None,
    ) -> Rule:
        """The rule `<format>/<name>`; a citation is (document or repository path, section)."""
        cited = tuple(Citation(where, section) for where, section in citations)
        return Rule(f"{self.format}/{name}", statement, obligation, provenance or self.provenance, cited, effect, selector)

    def faults(self) -> tuple[Rule, ...]:
        """What is owed for messages that are no JSON of this format, which no vendor's document says (DESIGN 3.6)."""
        return (
            self.rule(
                "fault/must-reject",
                "A truncated document, another container than an object, content after it, an empty value: one CORRUPT row.",
                Effect.SILENT_CORRUPTION,
                Selector(
                    aspects=(Aspect.ACCEPTED,),
                    tags=(
                        "fault:truncated",
                        "fault:wrong-container",
                        "fault:trailing-content",
                        "fault:second-document",
                        "fault:empty",
                    ),
                ),
                (RFC8259, "2"),
                ("DESIGN", "3.6 Faults"),
                provenance=ASSUMED,
            ),
            self.rule(
                "fault/cell-type",
                "A message of the table with a cell that does not fit its column's type is one CORRUPT row.",
                Effect.SILENT_CORRUPTION,
                Selector(aspects=(Aspect.ACCEPTED,), tags=("fault:cell-*",)),
                ("DESIGN", "3.4"),
                provenance=ASSUMED,
            ),
            self.rule(
                "fault/never-lost",
                "Duplicate keys, a BOM, invalid UTF-8, lone surrogates, raw control characters are read or refused, never lost.",
                Effect.LOST_CHANGE,
                Selector(
                    fields=("change",),
                    aspects=(Aspect.MISSING,),
                    tags=tuple(f"fault:{name}" for name in DUBIOUS),
                ),
                (RFC8259, "4, 7, 8.1"),
                obligation=UNSPECIFIED,
                provenance=ASSUMED,
            ),
        )

    def one_each(self) -> Rule:
        """The catch-all of changes: it stands behind every rule that owns some."""
        return self.rule(
            "change/one-each",
            "Every readable message gives its changes with their kind; every unreadable one exactly one CORRUPT row.",
            Effect.SILENT_CORRUPTION,
            Selector(fields=("change",)),
            ("DESIGN", "3.3"),
            provenance=ASSUMED,
        )


def changes(*, kinds: tuple[str, ...] = (), ops: tuple[str, ...] = (), tags: tuple[str, ...] = ()) -> Selector:
    """Whether changes are there, readable, and of their kind and op."""
    return Selector(fields=("change",), aspects=WHOLE, kinds=kinds, ops=ops, tags=tags)


def value(*logicals: str, classes: tuple[str, ...] = (), types: tuple[str, ...] = (), states: tuple[str, ...] = ()) -> Selector:
    """Values of these types; NULL in place of such a value is the affair of the rules on NULL."""
    return Selector(fields=("cell",), aspects=(Aspect.VALUE,), logicals=logicals, classes=classes, types=types, states=states)
