"""Right decoders in unusual styles are accused of nothing: the reference's changes in other forms,
as many at once as agree.
"""

import re
import textwrap
from dataclasses import dataclass
from pathlib import Path

import pytest

from conformance.cases.catalogue import Budget, group_calls, named_cases
from conformance.running.prepared import Settings
from conformance.running.run import run_formats
from generators.model import Kind
from generators.wire_format import get, module_name

NAME, PROFILE = "alibaba-canal-json", "1.1.8"
BOTH_LEVELS = (
    "shape",
    "fault/duplicate-key",
    "fault/bom",
    "fault/raw-control",
    "fault/truncated",
    "fault/empty",
    "rows/keyless",
)
CELLS = ("rows/every-type/alone-*",)
HEAD = '''
import json

from pyspark.sql import functions as F
from spark_checks.decoders import MODULE as reference
from spark_checks.liars.liar import quoted

decode, decode_rows = reference.decode, reference.decode_rows


def on_cells(decoded, table, cell):
    """Both images with each cell as the SQL that `cell` makes of its name and column."""
    for side in ("before", "after"):
        fields = ", ".join(f"{cell(f'{side}.{quoted(c.name)}', c)} AS {quoted(c.name)}" for c in table.columns)
        decoded = decoded.withColumn(side, F.expr(f"CASE WHEN {side} IS NOT NULL THEN struct({fields}) END"))
    return decoded


'''
STYLES = {
    "form": """
        import pandas as pd

        def styled(decoded):
            @F.pandas_udf("string")
            def same(kinds: pd.Series) -> pd.Series:
                return kinds

            parts = [decoded.where(f"kind = '{kind}'") for kind in ("ROW", "CORRUPT")]
            rest = decoded.where("kind NOT IN ('ROW', 'CORRUPT')")
            decoded = parts[0].unionByName(parts[1]).unionByName(rest)
            decoded = decoded.withColumn("kind", same("kind")).withColumn("op", F.udf(lambda op: op, "string")("op"))
            decoded = decoded.repartition(5, "row").mapInArrow(lambda batches: batches, decoded.schema)
            decoded = decoded.withColumns({name: F.col(name).cast("bigint") for name in ("row", "partition")})
            decoded = decoded.withColumn("took", F.expr("make_interval(0, 0, 0, 1)"))
            return decoded.orderBy(F.desc("offset"), F.desc("row")).coalesce(1).select(*reversed(decoded.columns))

        def decode(records, *, deployment=None):
            optional = ("schema", "position", "commit_time", "types", "schema_version")
            return styled(reference.decode(records, deployment=deployment).drop(*optional))

        def decode_rows(records, table, *, deployment=None):
            return styled(reference.decode_rows(records, table, deployment=deployment))
        """,
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
    "columns-of-the-first-row": """
        from pyspark.sql import Window

        def styled(decoded):
            message = Window.partitionBy("topic", "partition", "offset").orderBy("row")
            names = F.first(F.map_keys("after")).over(message)
            row = F.map_from_arrays(names, F.transform(names, lambda name: F.try_element_at("after", name)))
            return decoded.withColumn("after", F.when(F.col("after").isNotNull(), row))

        def decode(records, *, deployment=None):
            return styled(reference.decode(records, deployment=deployment))
        """,
    "samples-alone": """
        def is_sample(value):
            try:
                document = json.loads(bytes(value))
                payload = document.get("payload", document)
                images = [payload.get(side) or {} for side in ("before", "after")]
            except (AttributeError, TypeError, ValueError):
                return True
            typed = any(not isinstance(cell, (str, type(None))) for image in images for cell in image.values())
            return not typed and b'"optional"' not in bytes(value)

        def samples(records):
            value = F.when(F.udf(is_sample, "boolean")("value"), F.col("value")).otherwise(F.lit("no sample").cast("binary"))
            return records.withColumn("value", value)

        def decode(records, *, deployment=None):
            return reference.decode(samples(records), deployment=deployment)

        def decode_rows(records, table, *, deployment=None):
            return reference.decode_rows(samples(records), table, deployment=deployment)
        """,
    "cells": """
        WIDER = {"int": "decimal(38,0)", "float": "double"}

        def decode_rows(records, table, *, deployment=None):
            def cell(held, c):
                logical = c.type.logical.value
                if not c.nullable:
                    held = f"coalesce({held}, CAST(0 AS {c.type.spark}))"
                if c.type.name == "binary":
                    held = f"rpad({held}, {c.type.length}, X'00')"
                elif logical == "enum":
                    labels = ", ".join("CAST(X'" + label.encode().hex() + "' AS string)" for label in ("", *c.type.members))
                    held = f"get(array({labels}), {held})"
                return f"CAST({held} AS {WIDER[logical]})" if logical in WIDER else held

            return on_cells(reference.decode_rows(records, table, deployment=deployment), table, cell)
        """,
}
"""Decoders by the style in which they are unusual: `form` has its rows and columns in another
order, in other partitions, through Arrow, pandas and Python functions, as a union, with a further
interval column and longer integers, at level one without optional columns; `cells` has padded
BINARY, labels, wider numbers and NOT NULL nested fields.
"""


@dataclass(frozen=True)
class Run:
    """Cases of some profiles that a style is judged on; `broken` are the rules, none of which
    binds, that it breaks there.
    """

    style: str
    names: tuple[str, ...]
    format: str = NAME
    profiles: tuple[str, ...] = (PROFILE,)
    broken: frozenset[str] = frozenset()

    def __str__(self) -> str:
        return f"{self.style} {self.profiles[0]}"

    @property
    def cases(self) -> tuple[str, ...]:
        return tuple(
            f"{self.format}/{profile}/{name}" for profile in self.profiles for name in self.names
        )


RAW = (
    "values/raw-control-*",
    "rows/every-type/boundaries-4",
    "rows/every-type/boundaries-5",
    "rows/keyless",
    "shape",
)
RUNS = (
    *(Run("form", BOTH_LEVELS), Run("strict-json", (*BOTH_LEVELS, *RAW), profiles=("1.1.6",))),
    *(
        Run(
            "columns-of-the-first-row",
            ("shape", "op", "values"),
            profiles=("1.1.8+minimal", "1.1.4"),
        ),
        Run("cells", CELLS),
    ),
    Run(
        "samples-alone",
        ("shape", "op", "ddl", "document", "rows/keyless", "rows/every-type/boundaries-*"),
        "cloudcanal-debezium",
        ("2022+sample", "2022+typed+null-images+op-a"),
        frozenset({"cloudcanal-debezium/rows/typed"}),
    ),
)


@pytest.mark.parametrize("chosen", RUNS, ids=str)
def test_a_right_decoder_is_not_accused(engine, tmp_path, chosen):
    head, path = (
        HEAD.replace("MODULE", module_name(chosen.format)),
        tmp_path / f"{chosen.style.replace('-', '_')}.py",
    )
    path.write_text(head + textwrap.dedent(STYLES[chosen.style]), "utf-8")
    budget = Budget("tiny", 0, 12)
    settings = Settings(
        (chosen.format,),
        budget,
        7,
        str(path),
        writer_profile=chosen.profiles,
        select=chosen.cases,
        strict=not chosen.broken,
    )
    result = run_formats(settings, engine)
    assert [(f.rule.id, f.finding) for f in result.failures if f.rule.id not in chosen.broken] == []
    assert {f.rule.id for f in result.failures} == chosen.broken and result.exit_code == 0
    assert sum(rule.compared for rule in result.formats[0].rules) > 400


READERS = (
    *("from_json_struct.py:decode", "get_json_object.py:decode", "json_tuple.py:decode"),
    *("sql_text.py:decode", "variant.py:decode"),
    *("python_rows.py:decode_in_arrow", "python_rows.py:decode_in_pandas"),
    *("python_rows.py:decode_by_function", "python_rows.py:decode_by_rdd"),
)
"""Right decoders of Maxwell's rows, one for each way to write such a program: none shares code with
the reference decoder. They claim rows alone.
"""
MAXWELL = "maxwell-json"


@pytest.mark.parametrize("reader", READERS)
def test_a_right_decoder_of_rows_is_not_accused_however_it_is_written(engine, reader):
    names = [profile.name for profile in get(MAXWELL).profiles]
    settings = Settings(
        (MAXWELL,),
        Budget("tiny", 0, 12),
        7,
        str(Path(__file__).parent / "readers" / reader),
        select=tuple(f"{MAXWELL}/{name}/{group}/*" for name in names for group in ("shape", "old")),
        strict=True,
    )
    result = run_formats(settings, engine)
    assert [(failure.rule.id, failure.finding) for failure in result.failures] == []
    assert result.exit_code == 0
    assert sum(rule.compared for rule in result.formats[0].rules) > 400


def test_a_decimal_that_goes_through_a_double_is_convicted(engine):
    """get_json_object and from_json to texts parse a number as a double, whose digits end."""
    settings = Settings(
        (MAXWELL,),
        Budget("tiny", 0, 12),
        7,
        str(Path(__file__).parent / "readers" / "get_json_object.py"),
        select=(f"{MAXWELL}/1.45.0/decimal-38-10/*",),
        reduce=False,
    )
    result = run_formats(settings, engine)
    assert {failure.rule.id for failure in result.failures} == {f"{MAXWELL}/value/decimal-long"}
    assert result.exit_code == 1


def test_every_reader_is_tried():
    folder = Path(__file__).parent / "readers"
    functions = {
        f"{path.name}:{name}"
        for path in folder.glob("*.py")
        for name in re.findall(r"^def (decode\w*)\(", path.read_text("utf-8"), re.MULTILINE)
    }
    assert functions == set(READERS)


@pytest.mark.spark
def test_a_strict_reader_of_json_meets_raw_controls_among_the_messages_of_another_table():
    fmt = get(NAME)
    cases = [
        case
        for case in named_cases(fmt, [fmt.profile("1.1.6")])
        if case.level == 2 and case.scenario.startswith(RAW[1:])
    ]
    sent = {id(written.message): written for case in cases for written in case.written}
    met = [
        sent[id(message)] for call in group_calls(fmt, cases, (2,), 7) for message in call.foreign
    ]
    assert any(
        (Kind.CORRUPT, None) in change.accept for written in met for change in written.changes
    )
