"""How both CloudCanal formats grade the rules on MySQL values: the document shows strings and says nothing more."""

from __future__ import annotations

from typing import Final

from conformance.rules.book import DOCUMENTED, SHOULD, UNSPECIFIED
from conformance.rules.families.mysql_values import MANUAL, Grade, Values

DOCUMENT: Final = "document 001"
REFERENCE: Final = "reference/cloud_vendors.md"
OPEN: Final = (REFERENCE, "4.1: NULL, binary, bit, time-zone and decimal spelling are undocumented")
_STRINGS: Final = (DOCUMENT, "examples: every value is a string")


def values(
    example: str, *, enum: str, sets: str, cite: tuple[tuple[str, str], ...] = (), without: tuple[str, ...] = ()
) -> Values:
    """The grades of a format whose example is that section of document 001; `enum` and `sets` are its words on ENUM and SET,
    `cite` what else stands behind its guesses, `without` the lines that it has no case of."""
    default = Grade((_STRINGS, OPEN))
    guessed = Grade((OPEN, *cite), obligation=UNSPECIFIED)
    told = Grade((OPEN, ("DESIGN", "3.4 Deployment")), obligation=SHOULD)
    return Values(
        default,
        {
            "null": Grade((OPEN, ("RFC 8259", "3"))),
            "text": Grade(((DOCUMENT, example), OPEN), provenance=DOCUMENTED),
            "bit-ambiguous": guessed,
            "bits-64": guessed,
            "bits": guessed,
            "label-ambiguous": guessed,
            "enum": Grade(guessed.citations, enum, UNSPECIFIED),
            "set-64": Grade(guessed.citations, "A SET of 64 members has them all.", UNSPECIFIED),
            "set": Grade(guessed.citations, sets, UNSPECIFIED),
            "float-exponent": Grade((OPEN, *cite), "FLOAT and DOUBLE may have Java's exponent form."),
            "binary-empty": told,
            "binary-stripped": Grade((OPEN, ("osheroff/mysql-binlog-connector-java issues", "#139")), obligation=UNSPECIFIED),
            "binary": told,
            "timestamp-ambiguous": told,
            "timestamp": told,
            "zero-date": Grade((_STRINGS, (MANUAL, "13.2"))),
            "time-negative": Grade((_STRINGS, (MANUAL, "13.2.3"))),
            "time-over-24h": Grade((_STRINGS, (MANUAL, "13.2.3"))),
        },
        frozenset({"timestamp-truncated", *without}),
    )
