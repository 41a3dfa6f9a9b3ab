"""The cases of the committed corpora in `fixtures/`: a few boundaries by name, a few of bulk, the
same for every profile.

`python -m generators.storage.fixtures DIR [FORMAT...]` writes them anew below DIR (`fixtures` in a
checkout).
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from generators.bulk import expander
from generators.drawing.cases import as_case, boundary_scenarios
from generators.model import Case
from generators.profiles import Profile
from generators.storage import corpus
from generators.wire_format import Format, formats

SEED: Final = 7
"""The seed of the drawn cases."""
NAMES: Final = (
    "bigint/two-to-53-plus-one",
    "unsigned-bigint/one-over-signed-max",
    "decimal-65-30/max",
    "float/short",
    "double/seventeen-digits",
    "bit-64/all-ones",
    "varchar/controls",
    "varchar/literal-null",
    "varchar/emoji",
    "varbinary/not-utf-8",
    "date/zero",
    "datetime-6/max",
    "timestamp-6/plain",
    "time-3/min",
    "enum/member-2",
    "set-64/one-over-signed-max",
    "json/keys-by-length",
    "int/update-to-null",
    "shape/update-one-column",
    "shape/delete",
    "shape/multi-row-update-cumulative",
    "shape/awkward-names",
    "rows/composite/update",
    "rows/keyless/multi-row-insert",
    "numeric-65-30/max",
    "numeric/tiny",
    "double-precision/negative-infinity",
    "boolean/true",
    "bytea/digits-in-base64",
    "date/before-epoch",
    "timestamp-6/pre-1970-fraction",
    "timestamptz-6/max",
    "uuid/digits",
    "jsonb/null-literal",
    "long/two-to-53-plus-one",
    "long/min",
    "decimal/exponent",
    "decimal/many-digits",
    "string/controls",
    "string/emoji",
    "string/extended-json",
    "object/look-alike",
    "objectId/digits",
    "binData/digits-in-base64",
    "binData/update-to-null",
    "object/every-type",
    "array/longs",
    "array/mixed",
    "tinyint/over-signed",
    "numeric-18-0/max",
    "bit/true",
    "smallmoney/min",
    "nvarchar/emoji",
    "nchar/han",
    "uniqueidentifier/plain",
    "rowversion/high",
    "hierarchyid/child",
    "time-7/fraction",
    "datetime2-7/last-in-nanoseconds",
    "datetimeoffset-7/before-epoch",
    "smalldatetime/max",
    "number/money",
    "number/hundred",
    "number-18/max",
    "number-10-minus-2/max",
    "number-20-minus-2/min",
    "date/noon",
    "timestamp-9/last-in-nanoseconds",
    "timestamptz-9/before-epoch",
    "interval-day/negative",
    "interval-year/plain",
    "nvarchar2/emoji",
    "clob/empty",
    "raw/ascii",
    "rowid/slashes",
)
"""Generic boundary cases, by name, of MySQL, PostgreSQL, SQL Server, MongoDB and Oracle: those in
which decoders fail most.
"""

OWN: Final = 7
"""How many of the scenarios that only this format has are among the cases: evenly spread over their
order.
"""

BULK: Final = 4
"""How many drawn cases a profile has; the last of them is of level two (typed rows)."""

LARGEST: Final = 4_000
"""The largest size of a case's messages together, in bytes; larger cases are left out."""

WIDEST: Final = 40
"""The largest number of columns; a case with a wider table is left out."""


def fixture_cases(fmt: Format[Any], profile: Profile) -> Iterator[Case]:
    """The cases of a profile that the fixture holds, in their fixed order: some named ones and some
    drawn ones, without those that are too wide or too long.
    """
    # OWN of the format's own scenarios, at equal distances.
    format_scenarios = [scenario.name for scenario in fmt.scenarios(profile, profile.database)]
    spread = (
        {format_scenarios[i * len(format_scenarios) // OWN] for i in range(OWN)}
        if format_scenarios
        else set()
    )
    named_cases = []
    for scenario in boundary_scenarios(fmt, profile):
        if scenario.name in spread or scenario.name in NAMES:
            named_cases.append(as_case(fmt, profile, scenario))
    for case in (*named_cases, *expander.cases(fmt, profile, SEED, BULK)):
        widest = max((len(table.columns) for table in case.tables), default=0)
        if widest <= WIDEST and sum(written.message.size for written in case.written) <= LARGEST:
            yield case


def write_all(out: Path, names: tuple[str, ...] = ()) -> list[corpus.Summary]:
    """Writes the fixtures of the named formats, or of all, below the folder `out`, one corpus for
    each profile. Raises UsageError or HarnessError if a corpus cannot be written.
    """
    summaries: list[corpus.Summary] = []
    for fmt in formats(names):
        for profile in fmt.profiles:
            cases = fixture_cases(fmt, profile)
            summaries.append(corpus.write(out, fmt, profile, cases, seed=SEED))
    return summaries


if __name__ == "__main__":
    for summary in write_all(Path(sys.argv[1]), tuple(sys.argv[2:])):
        sys.stderr.write(
            f"{summary.path}: {summary.cases} cases, {summary.messages} messages, {summary.size}"
            " bytes\n"
        )
