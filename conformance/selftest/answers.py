"""What becomes of the operators, as tables of docs/design.md: how many are convicted in each
format, and why some are only with `--strict`.

`cdc-conformance selftest --new-faults --format json | python -m conformance.selftest.answers docs`
writes them.
"""

from __future__ import annotations

import json
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Final, NamedTuple

from conformance.selftest.measuring import Answer, find_reason
from conformance.sheets import markdown_table

PAGE: Final = "design.md"
"""The page of the documentation with the tables."""
_BEGIN: Final = "<!-- Of the self test, by `python -m conformance.selftest.answers docs`: -->"
"""The line of the page behind which the tables begin."""
_END: Final = "<!-- to here -->"
"""The line of the page before which the tables end."""
COLUMNS: Final[Mapping[str, str]] = {
    "pairs": "pairs of operator and level",
    "named": "convicted by a rule that names the fault",
    "misled": "by one that misleads",
    "strict": "only with `--strict`",
    "drawn": "by drawn cases alone",
    "missed": "not at all",
    "open": "left open",
    "right": "right",
    "impossible": "impossible",
    "untried": "no case",
}
"""The heads of the table of rates, by the member of `measuring.Rate`'s JSON."""


class Pair(NamedTuple):
    """An operator at a level that no MUST rule convicts in a format."""

    fmt: str
    operator: str
    level: int

    @property
    def reason(self) -> str:
        """Why no MUST rule convicts it, as reasons.toml says it."""
        return find_reason("loose", f"{self.fmt}/{self.operator}/{self.level}")


class Answers(NamedTuple):
    """The rates of each format by column, and the pairs that only `--strict` convicts."""

    rates: Mapping[str, Mapping[str, int]]
    pairs: tuple[Pair, ...]


def read_answers(lines: Iterable[str]) -> Answers:
    """Reads the lines that `selftest` prints as JSON, and returns those on operators: what became
    of each.
    """
    rates: dict[str, Mapping[str, int]] = {}
    pairs = []
    for check in map(json.loads, filter(str.strip, lines)):
        if rate := check.get("rate"):
            rates[check["format"]] = rate
        measured = check.get("measured")
        if measured and Answer[measured["answer"].upper()] is Answer.LOOSE:
            pairs.append(Pair(check["format"], measured["operator"], measured["level"]))
    return Answers(rates, tuple(sorted(pairs)))


def rate_table(answers: Answers) -> Iterator[str]:
    """The table of docs/design.md with the number of operators (imitated mistakes of decoders) by
    what became of them, a line for each format and one for all.
    """
    lines = []
    totals = Counter[str]()
    for name, rate in sorted(answers.rates.items()):
        lines.append((name, *(rate[column] for column in COLUMNS)))
        totals.update({column: rate[column] for column in COLUMNS})
    lines.append(("all", *(totals[column] for column in COLUMNS)))
    yield from markdown_table(("format", *COLUMNS.values()), lines)


def reason_table(answers: Answers) -> Iterator[str]:
    """The table of docs/design.md with the reasons why operators (imitated mistakes of decoders)
    are rightly not convicted, a line for each reason and format.
    """
    names_by_reason = defaultdict[tuple[str, str], list[str]](list)
    for pair in answers.pairs:
        names_by_reason[pair.reason, pair.fmt].append(f"{pair.operator}/{pair.level}")
    lines = [
        (reason, fmt, str(len(names)), ", ".join(names))
        for (reason, fmt), names in sorted(names_by_reason.items())
    ]
    yield from markdown_table(
        ("why no MUST rule convicts it", "format", "pairs", "operator/level"), lines
    )


def write_tables(page: str, answers: Answers) -> str:
    """Writes both tables into the page, between its marks."""
    head, page_rest = page.split(_BEGIN)
    _, tail = page_rest.split(_END)
    tables = (
        *rate_table(answers),
        "",
        f"The {len(answers.pairs)} pairs that only `--strict` convicts, each with its reason:",
        "",
        *reason_table(answers),
    )
    return "\n".join([f"{head}{_BEGIN}", "", *tables, "", f"{_END}{tail}"])


def main() -> None:
    """The command line of this module: reads the self test's JSON lines from standard input, and
    writes the tables into docs/design.md in the folder that is given.
    """
    path = Path(sys.argv[1]) / PAGE
    path.write_text(write_tables(path.read_text("utf-8"), read_answers(sys.stdin)), "utf-8")


if __name__ == "__main__":
    main()
