"""Right decoders in unusual styles are accused of nothing: the reference's changes in another form, one a test."""

import textwrap

import pytest

from conformance.cases.catalogue import Budget
from conformance.running.prepared import Settings
from conformance.running.run import run

pytestmark = pytest.mark.spark

NAME, PROFILE = "alibaba-canal-json", "1.1.8"
BOTH_LEVELS = ("shape", "fault/duplicate-key", "fault/bom", "fault/raw-control", "fault/truncated", "fault/empty", "rows/keyless")
CELLS = ("rows/every-type/alone-*",)
HEAD = '''
import json

from pyspark.sql import functions as F
from spark_checks.decoders import alibaba_canal_json as reference
from spark_checks.liars.base import quoted

decode, decode_rows = reference.decode, reference.decode_rows


def on_cells(decoded, table, cell):
    """Both images with each cell as the SQL that `cell` makes of its name and column."""
    for side in ("before", "after"):
        fields = ", ".join(f"{cell(f'{side}.{quoted(c.name)}', c)} AS {quoted(c.name)}" for c in table.columns)
        decoded = decoded.withColumn(side, F.expr(f"CASE WHEN {side} IS NOT NULL THEN struct({fields}) END"))
    return decoded


'''
BOTH = """
def decode(records, *, deployment=None):
    return styled(reference.decode(records, deployment=deployment))

def decode_rows(records, table, *, deployment=None):
    return styled(reference.decode_rows(records, table, deployment=deployment))
"""
STYLES = {
    "rows-in-another-order": "def styled(decoded):\n    return decoded.orderBy(F.desc('offset'), F.desc('row'))\n" + BOTH,
    "columns-in-another-order": "def styled(decoded):\n    return decoded.select(*reversed(decoded.columns))\n" + BOTH,
    "repartitioned": "def styled(decoded):\n    return decoded.repartition(5, 'row')\n" + BOTH,
    "one-partition": "def styled(decoded):\n    return decoded.coalesce(1)\n" + BOTH,
    "through-arrow": "def styled(decoded):\n    return decoded.mapInArrow(lambda batches: batches, decoded.schema)\n" + BOTH,
    "through-a-pandas-function": """
        import pandas as pd

        def styled(decoded):
            @F.pandas_udf("string")
            def same(kinds: pd.Series) -> pd.Series:
                return kinds
            return decoded.withColumn("kind", same("kind"))
        """
    + BOTH,
    "through-a-python-function": """
        def styled(decoded):
            return decoded.withColumn("op", F.udf(lambda op: op, "string")("op"))
        """
    + BOTH,
    "a-union-of-kinds": """
        def styled(decoded):
            parts = [decoded.where(f"kind = '{kind}'") for kind in ("ROW", "CORRUPT")]
            rest = decoded.where("kind NOT IN ('ROW', 'CORRUPT')")
            return parts[0].unionByName(parts[1]).unionByName(rest)
        """
    + BOTH,
    "a-further-interval-column": """
        def styled(decoded):
            return decoded.withColumn("took", F.expr("make_interval(0, 0, 0, 1)"))
        """
    + BOTH,
    "without-optional-columns": """
        def decode(records, *, deployment=None):
            optional = ("schema", "position", "commit_time", "types", "schema_version")
            return reference.decode(records, deployment=deployment).drop(*optional)
        """,
    "longer-integers": """
        def styled(decoded):
            return decoded.withColumns({"row": F.col("row").cast("bigint"), "partition": F.col("partition").cast("bigint")})
        """
    + BOTH,
    "strict-json": """
        def once(pairs):
            if len(dict(pairs)) < len(pairs):
                raise ValueError("a name twice")
            return dict(pairs)

        def is_strict(value):
            try:
                json.dumps(json.loads(bytes(value).decode(), object_pairs_hook=once), ensure_ascii=False).encode()
                return True
            except (TypeError, ValueError):
                return False

        def strict(records):
            value = F.when(F.udf(is_strict, "boolean")("value"), F.col("value")).otherwise(F.lit("no JSON").cast("binary"))
            return records.withColumn("value", value)

        def decode(records, *, deployment=None):
            return reference.decode(strict(records), deployment=deployment)

        def decode_rows(records, table, *, deployment=None):
            return reference.decode_rows(strict(records), table, deployment=deployment)
        """,
    "padded-binary": """
        def decode_rows(records, table, *, deployment=None):
            def cell(held, c):
                return f"rpad({held}, {c.type.length}, X'00')" if c.type.name == "binary" else held
            return on_cells(reference.decode_rows(records, table, deployment=deployment), table, cell)
        """,
    "not-null-nested-fields": """
        def decode_rows(records, table, *, deployment=None):
            def cell(held, c):
                return held if c.nullable else f"coalesce({held}, CAST(0 AS {c.type.spark}))"
            return on_cells(reference.decode_rows(records, table, deployment=deployment), table, cell)
        """,
    "wider-numbers": """
        WIDER = {"int": "decimal(38,0)", "float": "double"}

        def decode_rows(records, table, *, deployment=None):
            def cell(held, c):
                wider = WIDER.get(c.type.logical.value)
                return f"CAST({held} AS {wider})" if wider else held
            return on_cells(reference.decode_rows(records, table, deployment=deployment), table, cell)
        """,
    "labels": """
        def decode_rows(records, table, *, deployment=None):
            def cell(held, c):
                if c.type.logical.value != "enum":
                    return held
                labels = ", ".join("CAST(X'" + label.encode().hex() + "' AS string)" for label in ("", *c.type.members))
                return f"get(array({labels}), {held})"
            return on_cells(reference.decode_rows(records, table, deployment=deployment), table, cell)
        """,
}
"""Decoders by the style in which they are unusual."""


@pytest.mark.parametrize("style", STYLES)
def test_a_right_decoder_is_not_accused(engine, tmp_path, style):
    if style == "through-a-pandas-function":
        pytest.importorskip("pandas")
    path = tmp_path / f"{style.replace('-', '_')}.py"
    path.write_text(HEAD + textwrap.dedent(STYLES[style].removesuffix(BOTH)) + BOTH * STYLES[style].endswith(BOTH), "utf-8")
    names = CELLS if "on_cells(" in STYLES[style] else BOTH_LEVELS
    cases = tuple(f"{NAME}/{PROFILE}/{name}" for name in names)
    settings = Settings((NAME,), Budget("tiny", 0, 12), 7, str(path), writer_profile=PROFILE, select=cases, strict=True)
    result = run(settings, engine)
    assert not [(f.rule.id, f.finding) for f in result.failures]
    assert sum(rule.compared for rule in result.formats[0].rules) > 400
