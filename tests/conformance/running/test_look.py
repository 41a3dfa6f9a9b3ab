import datetime as dt
import json
from contextlib import nullcontext
from decimal import Decimal

import pytest

from conformance.cases.catalogue import matches_pattern, named_cases
from conformance.judging.compare import Typed
from conformance.judging.output import OutputRow
from conformance.running import look as module
from conformance.running.look import LookFailed, decode_corpora
from generators.bulk import expander as bulk
from generators.errors import NothingSelected
from generators.model import Column, Table
from generators.sources import postgresql
from generators.storage import corpus
from generators.wire_format import get

FORMAT, PROFILE = "ticdc-canal-json", "v7.1.6"


@pytest.fixture
def looking(engine, monkeypatch):
    """`decode_corpora` on the child of the session, of which it leaves nothing."""
    monkeypatch.setattr(module, "ChildEngine", lambda **_options: nullcontext(engine))
    yield decode_corpora
    assert list(engine.directory.glob("out-*")) == []


@pytest.fixture(scope="module")
def directory(tmp_path_factory):
    """A corpus of a few seeded cases of both levels and two faulty messages."""
    fmt = get(FORMAT)
    profile = fmt.profile(PROFILE)
    faults, out = (
        [c for c in named_cases(fmt, (profile,)) if "/fault/" in c.id][:2],
        tmp_path_factory.mktemp("corpora"),
    )
    corpus.write(out, fmt, profile, [*bulk.cases(fmt, profile, 1, 4), *faults], seed=1)
    return out


@pytest.mark.parametrize(
    ("cell", "shown"),
    [
        *(
            ("01.50", "01.50"),
            (None, None),
            (Typed("int", 1 << 62), 1 << 62),
            (Typed("boolean", True), True),
        ),
        *(
            (Typed("decimal", Decimal("1E+2")), "100"),
            (Typed("decimal", 1 << 64), "18446744073709551616"),
        ),
        *((Typed("double", float("nan")), "nan"), (Typed("binary", b"\x00\xff"), "00ff")),
        *(
            (Typed("date", dt.date(2024, 2, 29)), "2024-02-29"),
            (Typed("timestamp", -1), "1969-12-31T23:59:59.999999Z"),
        ),
        *(
            (Typed("timestamp_ntz", 0), "1970-01-01T00:00:00"),
            (Typed("timestamp_ntz", 1 << 62), str(1 << 62)),
        ),
        *((Typed("interval", -5), -5), (Typed("array", ["a", "b"]), ["a", "b"])),
    ],
)
def test_cells_are_shown_without_loss(cell, shown):
    assert module._cell_as_json(cell) == shown
    json.dumps(shown, allow_nan=False)


def test_what_is_not_there_is_told(directory):
    with pytest.raises(NothingSelected, match="no corpus is of format alibaba-canal-json"):
        next(decode_corpora("alibaba-canal-json", directory, None, lambda _id: True))
    with pytest.raises(NothingSelected, match="no case is selected"):
        next(decode_corpora(FORMAT, directory, None, lambda _id: False))


RAISES = """
from pyspark.sql import functions as F
from spark_checks.decoders import ticdc_canal_json


def decode(records, deployment=None):
    rows = ticdc_canal_json.decode(records, deployment=deployment)
    return rows.withColumn("error", F.raise_error(F.lit("boom")).cast("string"))
"""

SILENT = """
from spark_checks.decoders import ticdc_canal_json


def decode(records, deployment=None):
    return ticdc_canal_json.decode(records.where("offset > 0"), deployment=deployment)
"""


def test_a_look_has_a_line_per_row_in_the_order_of_the_corpus(directory, looking):
    (folder,) = corpus.find(directory)
    cases, lines = (
        corpus.read(folder).cases,
        list(looking(FORMAT, directory, None, lambda _id: True)),
    )
    json.dumps(lines, allow_nan=False)
    owed = [(case.id, c.kind, c.op) for case in cases for w in case.written for c in w.changes]
    assert [(line["case"], line["kind"], line["op"]) for line in lines] == owed
    assert {line["kind"] for line in lines} == {"ROW", "CORRUPT"}
    assert all((line["error"] is not None) == (line["kind"] == "CORRUPT") for line in lines)
    row = next(line for line in lines if line["op"] == "INSERT")
    assert {
        "database",
        "table",
        "keys",
        "before",
        "after",
        "row",
        "partition",
        "offset",
    } <= row.keys()
    assert row["before"] is None and row["after"]


def test_level_two_shows_typed_rows_of_the_level_two_cases(directory, looking):
    spec = "spark_checks.decoders.ticdc_canal_json:decode_rows"
    lines = list(
        looking(
            FORMAT,
            directory,
            spec,
            lambda case_id: matches_pattern(case_id, f"{FORMAT}/{PROFILE}/bulk-rows"),
        )
    )
    assert lines
    for line in lines:
        assert (line["kind"], line["database"]) == ("ROW", "pool")
        image = line["after"] or line["before"]
        assert any(not isinstance(value, str) for value in image.values())


ORDER = OutputRow(0, "ROW", "INSERT", {"table": "orders"})
ITEM = OutputRow(1, "ROW", "INSERT", {"table": "items"})
UNREADABLE = OutputRow(None, "CORRUPT", None)


@pytest.mark.parametrize(
    ("first_call", "second_call", "merged"),
    [
        ([ORDER], [ITEM], [ORDER, ITEM]),
        ([ORDER], [UNREADABLE], [ORDER]),
        ([UNREADABLE], [ITEM], [ITEM]),
        ([UNREADABLE], [UNREADABLE], [UNREADABLE]),
        ([], [UNREADABLE], [UNREADABLE]),
    ],
)
def test_a_message_of_two_tables_has_the_rows_of_both_calls(first_call, second_call, merged):
    assert module._merge_rows(first_call, second_call) == merged


def test_a_row_of_level_two_has_the_names_of_its_table():
    columns = (Column("n", postgresql.integer(), nullable=False),)
    table = Table("shop", "orders", columns, unique=(("n",),), schema="sales")
    named = module._with_table_names(OutputRow(0, "ROW", "INSERT"), table)
    assert named.fields == {
        "database": "shop",
        "schema": "sales",
        "table": "orders",
        "keys": ["n"],
    }


def test_a_decoder_that_raises_or_keeps_silent_is_told(directory, tmp_path, looking):
    (tmp_path / "raises.py").write_text(RAISES, encoding="utf-8")
    (tmp_path / "silent.py").write_text(SILENT, encoding="utf-8")
    with pytest.raises(LookFailed, match="boom"):
        list(looking(FORMAT, directory, f"{tmp_path}/raises.py:decode", lambda _id: True))
    lines = list(looking(FORMAT, directory, f"{tmp_path}/silent.py:decode", lambda _id: True))
    unanswered = [line for line in lines if line["error"] == module.UNANSWERED]
    assert unanswered
    assert {(line["offset"], line["kind"], line["row"]) for line in unanswered} == {(0, None, None)}
