"""What the rule tables of all formats share: how a rule is spelt, selectors of whole areas, and the rules that are the same."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from conformance.rules.base import Aspect, Citation, Effect, Obligation, Provenance, Rule, Selector

EXISTENCE: Final = (Aspect.MISSING, Aspect.EXTRA, Aspect.CORRUPT)
WHOLE: Final = (*EXISTENCE, Aspect.KIND, Aspect.OP)
CONTENT: Final = (Aspect.NULL, Aspect.VALUE)

MALFORMED: Final = ("truncated", "wrong-container", "trailing-content", "second-document", "empty", "null", "no-message")
_DIGITS: Final = "fault:cell-decimal-digits"
DUBIOUS: Final = ("duplicate-key", "bom", "invalid-utf-8", "lone-surrogate", "raw-control", "nested-cell", "wrapped")


@dataclass(frozen=True, slots=True)
class FaultWords:
    """How the rules on faults are told for a container: the tags of what is owed, the statements, the sources."""

    malformed: tuple[str, ...]
    rejected: str
    source: str
    dubious: tuple[str, ...]
    doubtful: str
    leaves: str


_FAULTS: Final = {
    "json": FaultWords(
        MALFORMED,
        "A truncated document, a value that is no object, content after it, an empty or NULL value: one CORRUPT row.",
        "standards#json-document",
        DUBIOUS,
        "Duplicate keys, a BOM, invalid UTF-8, lone surrogates, raw controls, nested cells, an array of the message are read or "
        "refused, never lost.",
        "standards#json-doubtful",
    ),
    "avro": FaultWords(
        (*MALFORMED, "foreign-framing", "foreign-schema", "wrong-branch", "huge-length"),
        "A truncated record, bytes before or after it, another schema's record, a branch or symbol that the schema has not, a "
        "length that the value cannot hold, an empty or NULL value: one CORRUPT row.",
        "standards#avro-datum",
        ("invalid-utf-8", "overlong-number"),
        "A string that is no UTF-8 and a number longer than it need be are read or refused, never lost.",
        "standards#avro-numbers",
    ),
}

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
        *citations: str,
        obligation: Obligation = MUST,
        provenance: Provenance | None = None,
    ) -> Rule:
        """The rule `<format>/<name>`; a citation is a fact of the catalogue, `page#name` (conformance.rules.sources)."""
        cited = tuple(map(Citation, citations))
        return Rule(f"{self.format}/{name}", statement, obligation, provenance or self.provenance, cited, effect, selector)

    def faults(self, container: str = "json", *, domain: bool = True, kept: str = "") -> tuple[Rule, ...]:
        """What is owed for messages that are none of this format, which no vendor's document says.

        `domain`: the format has columns whose Spark type holds more than they do; `kept` is the fact that its decimals do.
        """
        words = _FAULTS[container]
        return (
            self.rule(
                "fault/must-reject",
                words.rejected,
                Effect.SILENT_CORRUPTION,
                Selector(aspects=(Aspect.ACCEPTED,), tags=tuple(f"fault:{name}" for name in words.malformed)),
                words.source,
                "harness#malformed",
                provenance=ASSUMED,
            ),
            self.rule(
                "fault/cell-type",
                "A message of the table with a cell that does not fit its column's type is one CORRUPT row.",
                Effect.SILENT_CORRUPTION,
                Selector(aspects=(Aspect.ACCEPTED,), tags=("fault:cell-*",)),
                "harness#cell-fits-type",
                provenance=ASSUMED,
            ),
            *((self.cell_domain(kept),) if domain else ()),
            *((self.no_such_message(),) if container == "json" else ()),
            self.rule(
                "fault/never-lost",
                words.doubtful,
                Effect.LOST_CHANGE,
                Selector(
                    fields=("change",),
                    aspects=(Aspect.MISSING,),
                    tags=tuple(f"fault:{name}" for name in words.dubious),
                ),
                words.leaves,
                "harness#every-offset",
                provenance=ASSUMED,
            ),
        )

    def after_the_document(self, *cited: str) -> Rule:
        """What is owed for what follows a document that Kafka Connect's converter writes: it stands before the other faults.

        Connect's own reader ignores it: a decoder that does so, too, is no worse. `cited` says that Connect's form is written.
        """
        return self.rule(
            "fault/after-the-document",
            "What follows the document, a letter or a second document, makes the message CORRUPT. "
            "Connect's own reader ignores it.",
            Effect.SILENT_CORRUPTION,
            Selector(aspects=(Aspect.ACCEPTED,), tags=("fault:trailing-content", "fault:second-document")),
            "standards#json-document",
            "connect#reader-is-lenient",
            *cited,
            "harness#malformed",
            obligation=SHOULD,
            provenance=ASSUMED,
        )

    def cell_domain(self, kept: str = "") -> Rule:
        """What is owed for a cell that no column of the source holds, but its default Spark type does, or its decimal."""
        more = (Aspect.KIND,) if kept else ()
        return self.rule(
            "fault/cell-domain",
            "A message of the table with a cell that its source type cannot hold should be one CORRUPT row, though Spark's can.",
            Effect.SILENT_CORRUPTION,
            Selector(aspects=(Aspect.ACCEPTED, *more), tags=("fault:domain", *((_DIGITS,) if kept else ()))),
            "harness#cell-in-domain",
            *((kept,) if kept else ()),
            obligation=SHOULD,
            provenance=ASSUMED,
        )

    def no_such_message(self) -> Rule:
        """What is owed for a JSON document of the format's look that its product does not write."""
        return self.rule(
            "fault/no-such-message",
            "A document without type, of an unknown type, with rows of another container should be CORRUPT or CONTROL.",
            Effect.SILENT_CORRUPTION,
            Selector(aspects=(Aspect.ACCEPTED,), tags=("fault:no-such-message",)),
            "harness#no-such-message",
            obligation=SHOULD,
            provenance=ASSUMED,
        )

    def readable(self) -> Rule:
        """The plain rule on refused rows, behind those on a trait of the message."""
        return self.rule(
            "rows/readable",
            "A message of rows as the product writes it is its rows: no value, column, option or member of it makes it CORRUPT.",
            Effect.LOST_CHANGE,
            Selector(fields=("change",), aspects=(Aspect.CORRUPT,), kinds=("ROW",)),
            "harness#every-offset",
            provenance=ASSUMED,
        )

    def one_each(self) -> Rule:
        """The catch-all of changes: it stands behind every rule that owns some."""
        return self.rule(
            "change/one-each",
            "Every readable message gives its changes with their kind; every unreadable one exactly one CORRUPT row.",
            Effect.SILENT_CORRUPTION,
            Selector(fields=("change",)),
            "harness#every-offset",
            provenance=ASSUMED,
        )


def changes(*, kinds: tuple[str, ...] = (), ops: tuple[str, ...] = (), tags: tuple[str, ...] = ()) -> Selector:
    """Whether changes are there, readable, and of their kind and op."""
    return Selector(fields=("change",), aspects=WHOLE, kinds=kinds, ops=ops, tags=tags)


def value(*logicals: str, classes: tuple[str, ...] = (), types: tuple[str, ...] = (), states: tuple[str, ...] = ()) -> Selector:
    """Values of these types; NULL in place of such a value is the affair of the rules on NULL."""
    return Selector(fields=("cell",), aspects=(Aspect.VALUE,), logicals=logicals, classes=classes, types=types, states=states)
