"""The generic boundary cases: their names are ids, so their number and spelling are pinned."""

import re
from collections import Counter

import pytest

from generators.errors import UnknownName
from generators.model import Op, RowChange, Scenario, SchemaChange
from generators.sources import boundaries, databases

ALL = list(boundaries.scenarios("db", lambda _kind: True))
POSTGRESQL = list(boundaries.scenarios("db", lambda _kind: True, "postgresql"))
BOTH = pytest.mark.parametrize(
    ("source", "scenarios"),
    [("mysql", ALL), ("postgresql", POSTGRESQL)],
    ids=["mysql", "postgresql"],
)


def row_changes(scenario: Scenario) -> list[RowChange]:
    return [event for event in scenario.history.events if isinstance(event, RowChange)]


def test_names_are_unique_and_their_number_is_known() -> None:
    assert len({scenario.name for scenario in ALL}) == len(ALL)
    assert Counter(scenario.level for scenario in ALL) == {1: 709, 2: 98}
    assert len({scenario.name for scenario in POSTGRESQL}) == len(POSTGRESQL)
    assert Counter(scenario.level for scenario in POSTGRESQL) == {1: 507, 2: 84}


def test_the_largest_message_and_the_statement_with_a_semicolon() -> None:
    (large,) = row_changes(boundaries.megabyte("db"))
    (row,) = large.rows
    assert row.after is not None
    assert len(str(row.after["c"])) == 1_100_000
    (statement,) = next(s for s in ALL if s.name == "ddl/semicolon-in-text").history.events
    assert isinstance(statement, SchemaChange)
    assert statement.sql == "ALTER TABLE `t4086129046` COMMENT = ' first; second -- 汉字 é #'"


def test_names_do_not_change() -> None:
    assert {
        *(
            "tinyint/min",
            "unsigned-bigint/one-over-signed-max",
            "decimal-65-30/max",
            "datetime-6/spring-gap",
        ),
        *(
            "time-6/minus-one-unit",
            "varbinary/not-utf-8",
            "json/null-literal",
            "date/partial-zero",
            "set-64/one-over-signed-max",
        ),
        *(
            "int/update-to-null",
            "int/delete",
            "shape/multi-row-update-one-unchanged",
            "shape/awkward-names",
        ),
        *(
            "rows/every-type/boundaries-0",
            "rows/every-type/update-key",
            "rows/composite/update",
            "rows/keyless/multi-row-delete",
        ),
    } <= {scenario.name for scenario in ALL}
    assert {
        *(
            "bigint/two-to-53-plus-one",
            "numeric/many-digits",
            "numeric-65-30/max",
            "timestamp-6/before-epoch",
        ),
        *(
            "timestamptz-6/autumn-second",
            "bytea/every-byte",
            "text/unavailable-text",
            "double-precision/negative-infinity",
        ),
        *("interval/every-field", "integer-array/null-item", "uuid/delete", "shape/awkward-names"),
        *("rows/every-type/boundaries-0", "rows/composite/update", "rows/keyless/multi-row-delete"),
    } <= {scenario.name for scenario in POSTGRESQL}
    assert all(
        re.fullmatch(r"[a-z0-9]+([/-][a-z0-9]+)*", scenario.name)
        for scenario in (*ALL, *POSTGRESQL)
    )


def test_shapes_are_the_same_for_every_source() -> None:
    def shapes(scenarios: list[Scenario]) -> list[str]:
        return [
            s.name
            for s in scenarios
            if s.name.startswith(("shape/", "rows/"))
            and "/boundaries-" not in s.name
            and "/alone-" not in s.name
        ]

    assert [name for name in shapes(ALL) if name != "shape/wide-enum"] == shapes(POSTGRESQL)


@BOTH
def test_every_row_fits_its_table(source: str, scenarios: list[Scenario]) -> None:
    schema = databases.source(source).schema
    for scenario in scenarios:
        for change in row_changes(scenario):
            assert change.table.schema == schema or change.table == boundaries.namesake(source), (
                scenario.name
            )
            assert {column.type.source for column in change.table.columns} == {source}, (
                scenario.name
            )
            for images in change.rows:
                for row in (images.before, images.after):
                    if row is None:
                        continue
                    assert set(row) == {column.name for column in change.table.columns}, (
                        scenario.name
                    )
                    for column in change.table.columns:
                        assert databases.fits(column.type, row[column.name]), (
                            scenario.name,
                            column.name,
                        )
                        assert column.nullable or row[column.name] is not None, (
                            scenario.name,
                            column.name,
                        )


@BOTH
def test_awkward_texts_and_equal_rows_are_written_at_both_levels(
    source: str, scenarios: list[Scenario]
) -> None:
    by_name = {scenario.name: row_changes(scenario) for scenario in scenarios}
    (wide,), (tall,) = by_name["shape/awkward-texts"], by_name["rows/keyless/awkward-texts"]
    texts = [
        " both ends ",
        r"\n",
        r"\\",
        r"\u0041",
        "a\r\nb",
        "e\u0301",
        "\u00a0nbsp\u00a0",
        "%41",
        "dots...",
        "$.a",
        "MiXed",
    ]
    assert [row.after["b"] for row in tall.rows if row.after] == texts
    assert [list(row.after.values())[1:] for row in wide.rows if row.after] == [texts]
    for name in ("shape/equal-rows", "rows/keyless/equal-rows"):
        first, second = by_name[name][0].rows
        assert first == second and not by_name[name][0].table.primary_key
    (long,) = by_name["rows/every-type/long-text"]
    assert any(
        isinstance(v, str) and len(v) > 255 for row in long.rows for v in (row.after or {}).values()
    )


@BOTH
def test_images_follow_the_op(source: str, scenarios: list[Scenario]) -> None:
    images = {Op.INSERT: (False, True), Op.UPDATE: (True, True), Op.DELETE: (True, False)}
    for scenario in scenarios:
        for change in row_changes(scenario):
            for row in change.rows:
                assert (row.before is not None, row.after is not None) == images[change.op], (
                    scenario.name
                )


@BOTH
def test_level_two_cases_have_only_the_pool(source: str, scenarios: list[Scenario]) -> None:
    pool = boundaries.pool(lambda _kind: True, source)
    for scenario in (scenario for scenario in scenarios if scenario.level == 2):
        assert scenario.name.startswith("rows/")
        assert {change.table for change in row_changes(scenario)} <= {
            *pool,
            boundaries.namesake(source),
        }
    everything = boundaries.every_type
    assert [table.name for table in pool] == ["ledger", "plant `x`", "visits"]
    assert len(everything(_no_json, source).columns) == len(pool[0].columns) - 1


def _no_json(kind: object) -> bool:
    return getattr(kind, "name", "") != "json"


@BOTH
def test_level_two_rows_hold_every_boundary_value_of_every_type(
    source: str, scenarios: list[Scenario]
) -> None:
    table = boundaries.every_type(lambda _kind: True, source)
    rows = [
        s.history.events[0].rows[0].after
        for s in scenarios
        if s.name.startswith("rows/every-type/boundaries-")
    ]
    for (_, _, values), column in zip(
        boundaries.type_values(lambda _kind: True, source), table.columns[1:], strict=True
    ):
        held = [row[column.name] for row in rows]
        assert all(value in held for value in values.values()), column.name


def test_unsupported_types_have_no_cases() -> None:
    names = {scenario.name for scenario in boundaries.scenarios("db", _no_json)}
    assert not any(name.startswith("json/") for name in names)
    assert "int/min" in names


def test_every_case_is_tagged() -> None:
    assert all("boundary" in scenario.tags for scenario in ALL)


def test_helpers_follow_the_type() -> None:
    kind = databases.POSTGRESQL.types["uuid"]
    table = boundaries.one_column("db", "x/y", kind)
    assert (table.schema, table.name, table.primary_key) == ("public", "t2657489167", ("id",))
    assert table.columns[0] == boundaries.id_column("postgresql") != boundaries.ID
    assert (boundaries.composite(), boundaries.keyless()) == (
        boundaries.COMPOSITE,
        boundaries.KEYLESS,
    )
    with pytest.raises(UnknownName):
        boundaries.every_type(lambda _kind: True, "db2")
    with pytest.raises(UnknownName):
        next(boundaries.scenarios("db", lambda _kind: True, "db2"))
