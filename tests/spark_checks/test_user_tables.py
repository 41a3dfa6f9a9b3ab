"""The reference decoders conform on a user's tables, and a decoder that is wrong only for one of
their types is convicted.
"""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from conformance.cases.catalogue import Budget
from conformance.judging.findings import Verdict
from conformance.running.prepared import Settings
from conformance.running.run import run_formats
from generators.model import Column, Table
from generators.sources import postgresql
from generators.tables.reading import read_schema
from generators.tables.schema import Check, ForeignKey, Schema, UserTable, table_name
from generators.tables.user_values import Values

SHOP = Values(read_schema([str(Path(__file__).parents[2] / "examples" / "tables" / "shop.sql")]))


def bank():
    key = Column("id", postgresql.integer("bigint"), False)
    shown = (
        *(
            Column("tags", postgresql.array("text")),
            Column("prefs", postgresql.json("jsonb")),
            Column("raw", postgresql.bytea()),
        ),
    )
    typed = (
        Column("score", postgresql.real("double precision")),
        Column("code", postgresql.text("char", 4)),
    )
    opened = Column("opened_at", postgresql.temporal("timestamptz"), False)
    accounts = Table("bank", "accounts", (key, *shown, *typed, opened), ("id",), schema="public")
    paid = (
        Column("account_id", key.type, False),
        Column("amount", postgresql.numeric(12, 2), False),
    )
    payments = Table(
        "bank",
        "payments",
        (replace(key, type=postgresql.integer("integer")), *paid),
        ("id",),
        schema="public",
    )
    foreign, check = (
        ForeignKey(("account_id",), table_name(accounts), ("id",)),
        Check("amount", "amount >= 0", low=0),
    )
    return Values(
        Schema("postgresql", (UserTable(accounts), UserTable(payments, (foreign,), (check,))))
    )


WRONG = """
from pyspark.sql import functions as F
from spark_checks.decoders import ticdc_canal_json as right


def decode_rows(records, table, *, deployment=None):
    rows = right.decode_rows(records, table, deployment=deployment)
    for column in table.columns:
        if column.type.key == {key!r}:
            for side in ("before", "after"):
                cell = F.expr({wrong!r}.replace("$", side + "." + column.name))
                rows = rows.withColumn(side, F.when(F.col(side).isNotNull(), F.col(side).withField(column.name, cell)))
    return rows
"""


WRAPPED = "CAST(CASE WHEN $ > 9223372036854775807 THEN $ - 18446744073709551616 ELSE $ END AS decimal(20,0))"


def judged(engine, name, profile, values, **more):
    settings = Settings(
        (name,), Budget("tables", 12, 4), 1, writer_profile=(profile,), tables=values, **more
    )
    return run_formats(settings, engine)


def test_the_reference_decoder_conforms_on_a_user_s_tables(engine):
    """Of PostgreSQL; those of MySQL are run by the page that is about a user's tables."""
    values = bank()
    result = judged(engine, "debezium-json", "3.5.0.Final+postgresql", values)
    (fmt,) = result.formats
    assert not result.failures
    assert set(fmt.verdicts) <= {Verdict.PASS, Verdict.REJECTED, Verdict.INFORMATIONAL}
    assert fmt.verdicts[Verdict.PASS] > 200
    tables = {user.table.name for user in values.schema.tables}
    assert {call.name.split()[-1] for call in fmt.calls if call.level == 2} == tables
    assert {table.name for result in fmt.cases for table in result.case.tables} <= {
        *tables,
        *(name + "_r" for name in tables),
    }


@pytest.mark.parametrize(
    ("key", "wrong", "rule", "column"),
    [
        (
            "decimal",
            "TRY_CAST(CAST($ AS double) AS decimal(20,4))",
            "ticdc-canal-json/value/decimal-long",
            "amount",
        ),
        ("bigint unsigned", WRAPPED, "ticdc-canal-json/value/unsigned-bigint", "customer_id"),
    ],
)
def test_a_decoder_that_is_wrong_for_one_type_is_convicted_on_the_user_s_table(
    engine, tmp_path, key, wrong, rule, column
):
    path = tmp_path / "mine.py"
    path.write_text(WRONG.format(key=key, wrong=wrong), "utf-8")
    select = (f"ticdc-canal-json/v7.1.6/tables/orders/{column}",)
    result = judged(
        engine, "ticdc-canal-json", "v7.1.6", SHOP, decoder=f"{path}:decode_rows", select=select
    )
    assert result.exit_code == 1
    failures = {failure.rule.id: failure for failure in result.failures}
    assert rule in failures, {
        name: (str(failure.finding), failure.result.note) for name, failure in failures.items()
    }
    failure = failures[rule]
    message = json.loads(failure.result.case.written[failure.finding.message].message.value)
    assert (message["database"], message["table"]) == ("app", "orders")
    assert column in message["data"][0]
    assert failure.result.case.id.startswith(select[0])
