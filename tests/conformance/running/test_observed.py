"""Messages without truth: the laws that hold for all, and what differs from the reference
decoder.
"""

import math
from dataclasses import replace
from decimal import Decimal

import pytest

from conformance.cases.catalogue import find_budget
from conformance.commands.observing import finish
from conformance.inspecting.opening import ReadRecord
from conformance.judging.capabilities import Capabilities
from conformance.judging.compare import Typed
from conformance.judging.output import OutputRow
from conformance.running import observed
from conformance.running.observed import observe_messages
from conformance.running.prepared import Settings
from generators.drawing.cases import LAYOUT
from generators.errors import UsageError
from generators.model import Column, History, Instant, Op, RowChange, RowImages, Table
from generators.sources import mysql
from generators.wire_format import get

FORMAT = "ticdc-canal-json"
FMT = get(FORMAT)
PROFILE = FMT.profile("v7.1.6")
ID, PRICE = (
    Column("id", mysql.integer("int"), nullable=False),
    Column("price", mysql.decimal(10, 2)),
)
TABLE = Table("shop", "orders", (ID, PRICE), ("id",))
START = """
from pyspark.sql import Window
from pyspark.sql import functions as F
from spark_checks.decoders import ticdc_canal_json as right

def decode(records):
    rows = right.decode(records)
    return {}

"""
DECODERS = {
    "same": "rows",
    "other": """rows.withColumn("op", F.lower("op")).withColumn(
        "after", F.expr("transform_values(after, (k, v) -> if(k = 'price', concat(v, '0'), v))"))""",
    "silent": """rows.where("after['id'] IS NULL OR after['id'] <> '2'")""",
    "raises": """rows.withColumn("op", F.expr("if(after['id'] = '2', raise_error('no two'), op)"))""",
    "batch": """rows.withColumn("sql", F.count("*").over(Window.partitionBy(F.lit(1))).cast("string"))""",
}
TYPED = """
def decode_rows(records, table):
    more = "if(after IS NULL, NULL, named_struct('id', after.id, 'price', CAST(after.price + 1 AS decimal(10,2))))"
    return right.decode_rows(records, table).withColumn("after", F.expr(more))
"""
FILES = {name: START.format(text) for name, text in DECODERS.items()} | {
    "same": START.format("rows") + "decode_rows = right.decode_rows\n",
    "typed": START.format("rows") + TYPED,
    "rows": "from spark_checks.decoders.ticdc_canal_json import decode_rows\n",
    "claims": START.format(DECODERS["silent"]) + "CAPABILITIES = {'kinds': ['CORRUPT']}\n",
}


def records():
    rows = [{"id": number, "price": Decimal(number)} for number in (1, 2, 3)]
    events = [
        RowChange(Instant(1_700_000_000_000 + n), TABLE, Op.INSERT, (RowImages(None, row),))
        for n, row in enumerate(rows)
    ]
    messages = [w.message for w in FMT.write(History(tuple(events)), PROFILE, LAYOUT)]
    sent = [
        ReadRecord(m.value, m.key, "orders", 0, 7 + 2 * number, f"file:{number + 1}")
        for number, m in enumerate(messages)
    ]
    return [*sent, ReadRecord(b"{", None, "orders", 0, 90, "file:4")]


@pytest.fixture(scope="module")
def engine(engine, tmp_path_factory):
    """A session, and the folder with a file for each decoder."""
    folder = tmp_path_factory.mktemp("observed")
    for name, text in FILES.items():
        (folder / f"{name}.py").write_text(text, "utf-8")
    return engine, folder


def seen(engine, name, tables=(), sent=None):
    started, folder = engine
    settings = Settings((FORMAT,), find_budget("smoke"), 1, decoder=f"{folder / name}.py")
    return observe_messages(
        settings, started, started, PROFILE, FMT, records() if sent is None else sent, tables
    )


def broken(observed):
    return {
        failure.rule.id.removeprefix(f"{FORMAT}/"): failure.cases
        for failure in observed.result.failures
    }


def parts(observed):
    return [(d.what, d.messages, d.place, d.reference, d.decoder) for d in observed.differences]


def test_off_a_terminal_the_verdict_is_on_stderr_and_a_report_is_written(engine, tmp_path, capsys):
    assert finish(seen(engine, "same"), "json", tmp_path / "r") == 0
    lines = capsys.readouterr().err.splitlines()
    assert (
        lines[1].startswith("4 messages: 4 give the rows of the reference decoder")
        and lines[2] == "laws: kept"
    )
    assert {path.name for path in (tmp_path / "r").iterdir()} >= {
        "report.html",
        "junit.xml",
        "report.md",
    }


@pytest.mark.parametrize(
    ("name", "tables", "counts", "breaks", "differs"),
    [
        ("same", (TABLE,), (4, 0), {}, []),
        (
            *("other", (), (4, 3), {}),
            [
                ("ROW op", 3, "file:1", "'INSERT'", "'insert'"),
                ("shop.orders after.price", 3, "file:1", "'1.00'", "'1.000'"),
            ],
        ),
        (
            "silent",
            (),
            (4, 1),
            {"change/missing": 1},
            [("message kinds of rows", 1, "file:2", "ROW", "no row")],
        ),
        ("raises", (), (4, 0), {"law/returns": 1}, []),
        ("typed", (TABLE,), (4, 3), {}, [("orders after.price", 3, "file:1", "1", "2")]),
        ("claims", (), (1, 0), {}, []),
    ],
)
def test_a_broken_law_is_a_verdict_and_what_differs_is_told_by_part(
    engine, name, tables, counts, breaks, differs
):
    observed = seen(engine, name, tables)
    assert (observed.messages, observed.refused_messages, observed.tables) == (
        4,
        1,
        tuple(table.name for table in tables),
    )
    assert (observed.judged, observed.unlike, broken(observed), sorted(parts(observed))) == (
        *counts,
        breaks,
        differs,
    )
    assert observed.result.exit_code == bool(breaks)
    assert {f.result.case.id for f in observed.result.failures} == {
        f"{FORMAT}/v7.1.6/messages/file:2" for _ in breaks
    }


def test_a_decoder_that_depends_on_its_batch_breaks_a_law(engine):
    observed = seen(engine, "batch")
    assert set(broken(observed)) == {"law/batch-independence"}


def test_what_cannot_be_judged_is_told(engine):
    with pytest.raises(UsageError, match="there is no message to judge"):
        seen(engine, "same", sent=[])
    with pytest.raises(UsageError, match="--messages needs a decoder of level one"):
        seen(engine, "rows")


def test_messages_of_files_that_share_a_name_are_told_apart(engine):
    """The second file of the name has the message that the decoder spoils."""
    (first, second, *_) = records()
    observed = seen(
        engine, "silent", sent=[replace(first, place="a:1"), replace(second, place="a:1")]
    )
    assert [difference.value for difference in observed.differences] == [second.value]
    assert observed.result.failures[0].result.case.id.endswith("/messages/a:1#1")


@pytest.mark.parametrize(
    ("reference", "decoder", "equal"),
    [
        (math.nan, math.nan, True),
        (math.nan, 0.0, False),
        (0.0, -0.0, False),
        (1, Decimal("1.0"), True),
        (1, True, False),
        ("1", 1, False),
    ],
)
def test_which_cells_of_two_decoders_are_equal(reference, decoder, equal):
    assert observed._are_equal(Typed("x", reference), decoder) is equal


@pytest.mark.parametrize(
    ("reference", "decoder"),
    [(("ROW", "ROW"), ("ROW, ROW",)), ((), ("no row",)), ((None,), ("None",))],
)
def test_a_kind_that_reads_like_several_rows_is_a_difference(reference, decoder):
    reference_rows, decoder_rows = (
        [OutputRow(number, kind, None, {}, None, None, None) for number, kind in enumerate(kinds)]
        for kinds in (reference, decoder)
    )
    differences = observed._Differences(None, {}, None, Capabilities())
    (difference,) = differences._part_differences(reference_rows, decoder_rows, "")
    assert difference.part == "message kinds of rows"
