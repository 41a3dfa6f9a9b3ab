import datetime as dt
import math
from decimal import Decimal

import pytest

from generators.tables.reading import read_schema
from generators.tables.schema import Check

MYSQL = (
    "i int, u tinyint unsigned, n decimal(5,2), f double, t varchar(9), e enum('a','b','c'), d date, m datetime(3), "
    "`Odd` int, y year"
)
POSTGRESQL = 'i integer, n numeric, p numeric(5,2), t text, e mood, d date, m timestamp(0), b boolean, "Odd" integer'
TYPE = "CREATE TYPE mood AS ENUM ('a', 'b');\n"


@pytest.fixture
def checks(tmp_path):
    def run(condition, dialect):
        path = tmp_path / "a.sql"
        columns, before = (POSTGRESQL, TYPE) if dialect == "postgresql" else (MYSQL, "")
        path.write_text(
            f"{before}CREATE TABLE t ({columns}, CHECK ({condition}));", encoding="utf-8"
        )
        schema = read_schema([str(path)], dialect=dialect, database="d")
        return schema.tables[0].checks, [note.action for note in schema.notes]

    return run


@pytest.mark.parametrize(
    ("condition", "column", "low", "high"),
    [
        *(
            ("i >= 5", "i", 5, None),
            ("i > 5", "i", 6, None),
            ("i > 5.5", "i", 6, None),
            ("i < 5.5", "i", None, 5),
        ),
        *(
            ("5 < i", "i", 6, None),
            ("10 >= i", "i", None, 10),
            ("(i > -5) and ((i <= 10))", "i", -4, 10),
        ),
        *(
            ("i between -1 and 1", "i", -1, 1),
            ("i between 0 and 9 and i <> 5 or 1 = 1", None, None, None),
        ),
        *(
            ("u < 1000", "u", None, 255),
            ("`odd` > 0", "Odd", 1, None),
            ("n > 0", "n", Decimal("0.01"), None),
        ),
        *(("n < 0.005", "n", None, Decimal("0.00")), ("n >= '1.5'", "n", Decimal("1.50"), None)),
        *(
            ("f > 0", "f", math.nextafter(0, 1), None),
            ("d > '2020-01-31'", "d", dt.date(2020, 2, 1), None),
        ),
        *(
            ("m < '1970-01-02'", "m", None, 86_399_999_000),
            ("y between 2000 and 2030", "y", 2000, 2030),
        ),
        *(
            ("t > 'a'", None, None, None),
            ("i > n", None, None, None),
            ("i + 1 > 5", None, None, None),
        ),
        *(("char_length(t) > 5", None, None, None), ("not (i > 5)", None, None, None)),
        *(
            ("i not between 1 and 5", None, None, None),
            ("i > 5 or i < 0", None, None, None),
            ("d > '2020'", None, None, None),
        ),
        ("i >", None, None, None),
    ],
)
def test_bounds_of_mysql(checks, condition, column, low, high):
    bounds, actions = checks(condition, "mysql")
    if column is None:
        assert (bounds, len(actions)) == ((), 1)
    else:
        assert (bounds, actions) == ((Check(column, condition, low, high),), [])


@pytest.mark.parametrize(
    ("condition", "column", "choices"),
    [
        *(
            ("t in ('a','b')", "t", ("a", "b")),
            ("(t in (_utf8mb4'a',_utf8mb4'it''s'))", "t", ("a", "it's")),
        ),
        *(
            ("t = 'a' or t = 'b' or t in ('c', 'a')", "t", ("a", "b", "c")),
            ("e in ('c','a')", "e", (3, 1)),
            ("i = 5", "i", (5,)),
        ),
        *(
            ("i in (1, 2, 99999999999)", None, ()),
            ("t in ('a', NULL)", None, ()),
            ("t = 'a' or e = 'b'", None, ()),
        ),
        *(("t not in ('a')", None, ()), ("t = 'a' and t = 'b'", "t", ("a",))),
    ],
)
def test_choices_of_mysql(checks, condition, column, choices):
    bounds, actions = checks(condition, "mysql")
    assert bounds == ((Check(column, condition, choices=choices),) if column else ())
    assert actions == (
        ["left out in part: values do not honour all of it"]
        if condition == "t = 'a' and t = 'b'"
        else []
        if column
        else ["left out: values do not honour it"]
    )


@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        ("((i >= 0) AND (i <= 10))", Check("i", "", 0, 10)),
        ("(n > (0)::numeric)", Check("n", "", Decimal("1E-10"))),
        ("(p > (0)::numeric)", Check("p", "", Decimal("0.01"))),
        (
            "((t)::text = ANY ((ARRAY['a'::character varying, 'b'::character varying])::text[]))",
            Check("t", "", choices=("a", "b")),
        ),
        (
            "(e = ANY (ARRAY['b'::public.mood, 'a'::public.mood]))",
            Check("e", "", choices=("b", "a")),
        ),
        ("(d >= '2020-01-01'::date)", Check("d", "", dt.date(2020, 1, 1))),
        ("(m > '1970-01-01 00:00:00'::timestamp without time zone)", Check("m", "", 1_000_000)),
        ('("Odd" < 0)', Check("Odd", "", None, -1)),
        ("(b = true)", Check("b", "", choices=(1,))),
        ("((i)::smallint > 5)", None),
        ("((m)::date > '2020-01-01'::date)", None),
        ("(b)", None),
        ("(t ~ '^a'::text)", None),
        ("(i IS NOT NULL)", None),
        ("(n < 'Infinity'::numeric)", None),
        ("(p < 'NaN'::numeric)", None),
        ("(i < 'NaN')", None),
        ("(i < '1e2000'::numeric)", None),
        ("(i < 1e400000)", None),
        ("(d > '9999-12-31'::date)", None),
    ],
)
def test_checks_of_postgresql(checks, condition, expected):
    bounds, actions = checks(condition, "postgresql")
    if expected is None:
        assert (bounds, actions) == ((), ["left out: values do not honour it"])
    else:
        assert bounds == (
            Check(expected.column, condition, expected.low, expected.high, expected.choices),
        )
        assert actions == []


def test_a_conjunction_is_taken_column_by_column(checks):
    bounds, actions = checks("i > 0 and n between 1 and 2 and t like 'a%'", "mysql")
    assert [(check.column, check.low, check.high) for check in bounds] == [
        ("i", 1, None),
        ("n", Decimal(1), Decimal(2)),
    ]
    assert actions == ["left out in part: values do not honour all of it"]
