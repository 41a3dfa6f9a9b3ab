"""Debezium's recordings as episodes of the SQL truth."""

from __future__ import annotations

from decimal import Decimal

import pytest

from generators.model import Column, Json, Logical, Op
from generators.recorded import debezium, postgresql_truth
from generators.recorded.episodes import Episode, cases
from generators.recorded.mysql_truth import Unsupported
from generators.recorded.registry import episodes
from generators.sources import postgresql
from generators.wire_format import get

FORMAT = get("debezium-json")


@pytest.fixture(scope="module")
def recorded() -> tuple[Episode, ...]:
    return episodes(FORMAT.name)


def test_recordings_have_the_profile_of_their_options(recorded: tuple[Episode, ...]) -> None:
    profiles = {
        episode.recording.name: episode.recording.profile
        for episode in recorded
        if episode.name == "t_int"
    }
    assert profiles["pg35-default"] == "3.5.0.Final+postgresql"
    assert profiles["pg14-default-noschema"] == "1.4.0.Final+postgresql+schemaless"
    full = {episode.recording.profile for episode in recorded if episode.name == "t_ri_full-2"}
    assert "3.5.0.Final+postgresql+full" in full
    mariadb = {
        e.recording.profile for e in recorded if e.recording.name == "mdb35-time-connect-noschema"
    }
    assert mariadb == {"3.5.0.Final+mariadb+schemaless+connect"}


def test_events_are_the_truths(recorded: tuple[Episode, ...]) -> None:
    (episode,) = (e for e in recorded if (e.recording.name, e.name) == ("pg35-default", "t_int"))
    assert [(event.op, len(event.rows)) for event in episode.history.events][-4:] == [  # type: ignore[union-attr]
        (Op.UPDATE, 2),
        (Op.UPDATE, 1),
        (Op.UPDATE, 1),
        (Op.DELETE, 1),
    ]
    assert len(episode.messages) == 5 + 1 + 2 + 1 + 3 + 2


def test_what_a_utf16_column_loses(recorded: tuple[Episode, ...]) -> None:
    (strings,) = (
        e for e in recorded if (e.recording.name, e.name) == ("mdb35-default", "inv_t_str")
    )
    (case, *_) = cases(FORMAT, FORMAT.profile(strings.recording.profile), strings)
    stored = {
        row.after["u16"] for event in strings.history.events for row in event.rows if row.after
    }  # type: ignore[union-attr]
    read = {
        change.after["u16"].value
        for record in case.written
        for change in record.changes
        if change.after
    }
    assert "\ufeffBOM\u200b" in stored and "BOM\u200b" in read - stored


@pytest.mark.parametrize(
    ("default_text", "value"),
    [("'a'", "a"), ("'it''s'", "it's"), ("'a'::text", "a"), ("''::text", ""), ("lower(", None)],
)
def test_a_default_of_postgresql_is_what_its_literal_says(
    default_text: str, value: str | None
) -> None:
    column = Column("c", postgresql.text("text"), default=None)
    default = debezium._default_of_literal(column, default_text)
    assert (default.text, default.value) == (default_text, value)


def test_types_of_postgresql_by_their_names() -> None:
    def of(spelling: str) -> tuple[str, Logical, int | None, int]:
        kind = postgresql_truth.source_type(spelling, debezium.ENUMS, debezium.DOMAINS)
        return kind.name, kind.logical, kind.precision or kind.length, kind.fsp

    assert of("timestamp(3) with time zone") == ("timestamptz", Logical.TIMESTAMP, None, 3)
    assert of("time without time zone") == ("time", Logical.TIME, None, 6)
    assert of("money2") == ("numeric", Logical.DECIMAL, 10, 0)
    assert of("bit varying(5)") == ("varbit", Logical.BIT, 5, 0)
    assert of('"char"') == ('"char"', Logical.TEXT, None, 0)
    assert of("oid") == ("oid", Logical.INT, None, 0)
    assert of("numeric(10,2)[]") == ("numeric[]", Logical.JSON, 10, 0)
    assert of("bit varying") == ("varbit", Logical.BIT, postgresql.UNBOUNDED, 0)
    with pytest.raises(Unsupported):
        of("polygon")


def test_texts_of_postgresql() -> None:
    value = postgresql_truth.cell_value
    assert value(postgresql.money(), "-$92,233,720,368,547,758.08") == Decimal(
        "-92233720368547758.08"
    )
    assert value(postgresql.bit(4), "b:0101") == 5
    assert value(postgresql.boolean(), "true") == 1
    assert value(postgresql.text("char", 4), "ab") == "ab  "
    assert value(postgresql.temporal("timestamptz", 0), "1970-01-01 00:00:01+00") == 1_000_000
    assert value(postgresql.array("text"), '{a,"b,c",NULL,"NULL","q\\"x",""}') == Json(
        ["a", "b,c", None, "NULL", 'q"x', ""]
    )
    assert value(postgresql.array("integer"), "[0:1]={7,8}") == Json([7, 8])
    assert value(postgresql.hstore(), '"k"=>"v", "n"=>NULL, "q\\"x"=>"é"') == Json(
        {"k": "v", "n": None, 'q"x': "é"}
    )
    assert value(postgresql.temporal("date"), "infinity") == "infinity"
    assert value(postgresql.temporal("date"), "0044-03-15 BC") == -735160
    assert (
        value(postgresql.temporal("timestamp"), "0001-12-31 23:59:59.999 BC") == -62135596800001000
    )
    assert (
        value(postgresql.temporal("timestamptz"), "10000-01-01 00:00:00.5+00") == 253402300800500000
    )
    assert value(postgresql.bit(None, varying=True), "b:") == ""
    assert value(postgresql.array_of(postgresql.bit(3)), "{101,011,NULL}") == Json([5, 3, None])
    assert value(postgresql.array_of(postgresql.bit(None, varying=True)), '{101,""}') == Json(
        [5, ""]
    )
    assert value(postgresql.array_of(postgresql.boolean()), "{t,f}") == Json([True, False])
    assert value(postgresql.inet(), "::1/128") == "::1"
    assert value(postgresql.array_of(postgresql.integer()), "{{1,2},{3,NULL}}") == Json(
        [[1, 2], [3, None]]
    )
    assert value(postgresql.point(), "(-0,1e+300)") == Json({"x": -0.0, "y": 1e300})
