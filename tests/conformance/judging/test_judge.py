"""The judge on hand-made rules, cases and output rows: which rule a mismatch convicts, and what a
case comes to.
"""

import datetime as dt
from dataclasses import replace

import pytest

from conformance.judging.capabilities import Capabilities
from conformance.judging.causes import cause
from conformance.judging.compare import Typed
from conformance.judging.findings import Verdict
from conformance.judging.judge import Judge
from conformance.judging.ledger import HarnessFault
from conformance.judging.output import OutputRow
from conformance.rules.rules import (
    Aspect,
    Citation,
    Effect,
    Obligation,
    Provenance,
    Rule,
    Selector,
    rules,
)
from generators.model import (
    Case,
    Cell,
    Change,
    Column,
    Deployment,
    Kind,
    Message,
    Op,
    State,
    Table,
    Written,
    ZeroDate,
)
from generators.sources import mysql

INT, TEXT, DATE = mysql.TYPES["int"], mysql.TYPES["varchar"], mysql.TYPES["date"]
TABLE = Table("db", "t", (Column("id", INT), Column("a", TEXT)), ("id",))


def rule(name, obligation=Obligation.MUST, **selector):
    cited = (Citation("harness#every-offset"),)
    return Rule(
        f"x/{name}",
        "It is so.",
        obligation,
        Provenance.ASSUMED,
        cited,
        Effect.WRONG_VALUE,
        Selector(**selector),
    )


GENERAL = tuple(rule(aspect.value, aspects=(aspect,)) for aspect in Aspect)


def number(value, **more):
    return Cell(State.VALUE, INT, value, str(value), cls="plain", **more)


def text(value):
    return Cell(State.VALUE, TEXT, value, value, cls="plain")


NULL, ABSENT = Cell(State.NULL, TEXT), Cell(State.ABSENT, TEXT)
INSERT = Change(
    0, Kind.ROW, Op.INSERT, "db", None, "t", ("id",), after={"id": number(1), "a": text("x")}
)
UPDATE = replace(INSERT, op=Op.UPDATE, before={"id": ABSENT, "a": text("w")})
GOOD = OutputRow(
    0,
    "ROW",
    "INSERT",
    {"database": "db", "table": "t", "keys": ["id"]},
    None,
    {"id": "1", "a": "x"},
)
CORRUPT = Change(0, Kind.CORRUPT)
REJECTED = OutputRow(0, "CORRUPT", None, error="no JSON")


def case(*messages, level=1, tags=()):
    """A case whose messages owe these changes."""
    written = tuple(Written(Message("cdc", 0, None, b"{}"), tuple(changes)) for changes in messages)
    return Case("x/v1/c", "x", "v1", Deployment(), level, (TABLE,), written, frozenset(tags))


def judge(changes, rows, *, rules=GENERAL, level=1, table="t", tags=(), **more):
    """The result of a case of one message."""
    return Judge(rules, **more).judge(case(changes, level=level, tags=tags), [rows], table)


def convicted(result):
    return [(f.rule.removeprefix("x/"), f.path) for f in result.findings]


def test_a_correct_output_passes_and_is_counted():
    judged = Judge(GENERAL)
    result = judged.judge(case([INSERT]), [[GOOD]])
    assert (result.verdict, result.findings) == (Verdict.PASS, ())
    assert not judged.broken
    assert {name.removeprefix("x/"): n for name, n in judged.compared.items()} == {
        "missing": 1, "extra": 1, "corrupt": 1, "kind": 1, "op": 1, "field": 3, "image": 2, "presence": 2, "null": 2, "value": 2,
    }  # fmt: skip
    assert judged.cells == {State.VALUE: 2}


def test_a_row_without_an_operation_is_told_without_a_gap():
    result = judge([INSERT], [GOOD, replace(GOOD, row=1, op=None)])
    assert [finding.actual for finding in result.findings if finding.path == "rows"] == [
        "1 more, the first: ROW {id: 1, a: x}"
    ]


UPDATED = replace(GOOD, op="UPDATE", before={"a": "w"})
MISMATCHES = [
    *(("missing", "row 0", [INSERT], []), ("missing", "row 1", [INSERT, replace(INSERT, row=1)], [GOOD])),
    *(("extra", "rows", [INSERT], [GOOD, replace(GOOD, row=1)]), ("extra", "row 0", [INSERT], [GOOD, GOOD])),
    *(("corrupt", "kind", [INSERT], [REJECTED]), ("corrupt", "kind", [INSERT, replace(INSERT, row=1)], [REJECTED])),
    *(("accepted", "kind", [CORRUPT], [GOOD]), ("accepted", "kind", [CORRUPT], [])),
    ("accepted", "kind", [CORRUPT], [REJECTED, REJECTED]),
    ("accepted", "kind", [CORRUPT], [replace(GOOD, after={"id": None, "a": None})]),
    *(("kind", "kind", [INSERT], [replace(GOOD, kind="DDL", op=None)]), ("kind", "kind", [INSERT], [replace(GOOD, kind=None)])),
    *(("op", "op", [INSERT], [replace(GOOD, op="READ")]), ("op", "op", [INSERT], [replace(GOOD, op=None)])),
    ("field", "database", [INSERT], [replace(GOOD, fields={"database": "DB"})]),
    ("field", "database", [INSERT], [replace(GOOD, fields={"database": None})]),
    ("field", "schema", [INSERT], [replace(GOOD, fields={"schema": "public"})]),
    ("field", "keys", [INSERT], [replace(GOOD, fields={"keys": ["a"]})]),
    ("field", "keys", [INSERT], [replace(GOOD, fields={"keys": None})]),
    ("field", "keys", [replace(INSERT, keys=("id", "a"))], [replace(GOOD, fields={"keys": ["a", "id"]})]),
    ("field", "keys", [INSERT], [replace(GOOD, fields={"keys": ["id", "id"]})]),
    ("field", "position", [replace(INSERT, position="9")], [replace(GOOD, fields={"position": "10"})]),
    ("digits", "commit_time", [replace(INSERT, commit_time_us=5)], [replace(GOOD, fields={"commit_time": 5000})]),
    ("field", "commit_time", [replace(INSERT, commit_time_us=5)], [replace(GOOD, fields={"commit_time": 5 + 3_600_000_000})]),
    ("field", "types", [replace(INSERT, types={"id": "int"})], [replace(GOOD, fields={"types": {"id": "bigint"}})]),
    ("field", "schema_version", [replace(INSERT, schema_version="2")], [replace(GOOD, fields={"schema_version": "1"})]),
    *(("image", "before", [INSERT], [replace(GOOD, before={})]), ("image", "after", [INSERT], [replace(GOOD, after=None)])),
    ("image", "before", [UPDATE], [replace(UPDATED, before=None)]),
    ("presence", "after['a']", [INSERT], [replace(GOOD, after={"id": "1"})]),
    ("presence", "after['b']", [INSERT], [replace(GOOD, after={"id": "1", "a": "x", "b": None})]),
    ("presence", "before['id']", [UPDATE], [replace(UPDATED, before={"id": None, "a": "w"})]),
    ("null", "after['a']", [INSERT], [replace(GOOD, after={"id": "1", "a": None})]),
    ("null", "after['a']", [replace(INSERT, after={"a": NULL})], [replace(GOOD, after={"a": ""})]),
    ("value", "after['id']", [INSERT], [replace(GOOD, after={"id": "01", "a": "x"})]),
    ("value", "before['a']", [UPDATE], [replace(UPDATED, before={"a": "W"})]),
]  # fmt: skip


@pytest.mark.parametrize(("name", "path", "changes", "rows"), MISMATCHES)
def test_a_mismatch_convicts_the_rule_of_its_aspect_and_no_other(name, path, changes, rows):
    result = judge(changes, rows)
    assert {rule for rule, _ in convicted(result)} == {name}
    assert path in {at for _, at in convicted(result)}
    assert result.verdict is (Verdict.ACCEPTED if name == "accepted" else Verdict.FAIL)


@pytest.mark.parametrize("number", [None, 1, -1])
def test_a_wrongly_numbered_row_is_missing_where_it_should_be_and_extra_where_it_is(number):
    assert convicted(judge([INSERT], [replace(GOOD, row=number)])) == [
        ("missing", "row 0"),
        ("extra", "rows"),
    ]


def test_every_aspect_is_shown():
    assert {name for name, _, _, _ in MISMATCHES} == {aspect.value for aspect in Aspect}


def test_a_finding_says_what_was_expected_and_what_was_there():
    (finding,) = judge([INSERT], [replace(GOOD, after={"id": "2", "a": "x"})]).findings
    assert (finding.case, finding.message, finding.row, finding.aspect) == (
        "x/v1/c",
        0,
        0,
        Aspect.VALUE,
    )
    assert (finding.path, finding.expected, finding.actual) == ("after['id']", "1", "2")
    (finding,) = judge([INSERT], [replace(REJECTED, error="cut off")]).findings
    assert (finding.expected, finding.actual) == ("ROW INSERT", "CORRUPT: cut off")
    typed = {"id": Typed("string", "1"), "a": Typed("string", "x")}
    (finding,) = judge([INSERT], [replace(GOOD, after=typed)], level=2).findings
    assert (finding.expected, finding.actual) == ("1 (int)", "1 (string)")


def test_a_wrong_instant_is_shown_as_a_time_with_the_shift_and_the_zone():
    owed = Cell(State.VALUE, mysql.TYPES["timestamp-0"], 0, "1970-01-01 08:00:00", cls="plain")
    change, row = (
        replace(INSERT, after={"id": owed}),
        replace(GOOD, after={"id": Typed("timestamp", -18_000_000_000)}),
    )
    shown = replace(case([change], level=2), deployment=Deployment("Asia/Shanghai"))
    (finding,) = Judge(GENERAL).judge(shown, [[row]], "t").findings
    assert finding.expected == f"1970-01-01T00:00:00Z ({owed.type.key})"
    assert (
        finding.actual
        == "1969-12-31T19:00:00Z (timestamp), 5 h earlier; the deployment's time zone is Asia/Shanghai"
    )
    committed, fields = (
        replace(INSERT, commit_time_us=0),
        GOOD.fields | {"commit_time": 3_600_000_000},
    )
    (finding,) = judge([committed], [replace(GOOD, fields=fields)]).findings
    assert finding.expected == "1970-01-01T00:00:00Z"
    assert finding.actual == "1970-01-01T01:00:00Z, 1 h later; the deployment's time zone is UTC"


def test_an_unreadable_kind_or_a_missing_change_leaves_its_cells_alone():
    judged = Judge(GENERAL)
    judged.judge(case([INSERT], [INSERT]), [[replace(GOOD, kind="DDL", after=None)], []])
    assert not {"x/value", "x/presence", "x/image", "x/field"} & set(judged.compared)


def test_messages_and_rows_are_numbered():
    second = replace(INSERT, row=1)
    result = Judge(GENERAL).judge(
        case([INSERT], [INSERT, second]), [[GOOD], [GOOD, replace(GOOD, row=1, op="READ")]]
    )
    assert [(f.message, f.row) for f in result.findings] == [(1, 1)]


@pytest.mark.parametrize("got", [None, ""])
@pytest.mark.parametrize("name", ["database", "schema", "table"])
def test_no_name_and_an_empty_name_are_alike(name, got):
    nameless = replace(INSERT, database=None, schema="", table=None)
    assert judge([nameless], [replace(GOOD, fields={name: got})]).verdict is Verdict.PASS


def test_no_keys_and_an_empty_list_are_alike():
    for got in (None, []):
        assert (
            judge([replace(INSERT, keys=None)], [replace(GOOD, fields={"keys": got})]).verdict
            is Verdict.PASS
        )


def test_other_keys_are_as_good_in_any_order():
    several = replace(
        INSERT, keys=("id", "a"), key_sets=(frozenset(("id", "a")), frozenset(("b",)))
    )
    for got, expected in (
        (["a", "id"], True),
        (["b"], True),
        (["a"], False),
        (["a", "id", "a"], False),
        ([], False),
    ):
        verdict = judge([several], [replace(GOOD, fields={"keys": got})]).verdict
        assert (verdict is Verdict.PASS) is expected


def test_keys_that_another_part_of_the_record_names_are_as_good_in_their_order():
    told_twice = replace(INSERT, keys=("n", "id"), other_keys=(("id", "n"),))
    for got, expected in (
        (["n", "id"], True),
        (["id", "n"], True),
        (["id"], False),
        (["id", "n", "id"], False),
        ([], False),
    ):
        verdict = judge([told_twice], [replace(GOOD, fields={"keys": got})]).verdict
        assert (verdict is Verdict.PASS) is expected


@pytest.mark.parametrize(
    ("fields", "is_right"),
    [
        ({"database": "d", "table": "a.b"}, True),
        ({"database": "d.a", "table": "b"}, True),
        ({"table": "b"}, True),
        ({"database": "d", "table": "b"}, False),
        ({"database": "d.a", "table": "a.b"}, False),
        ({"database": "d.a.b", "table": ""}, False),
    ],
)
def test_names_that_stand_in_one_text_are_parted_at_one_dot(fields, is_right):
    dotted = replace(INSERT, database="d.a", table="b", databases=("d", "d.a"), tables=("a.b", "b"))
    verdict = judge([dotted], [replace(GOOD, fields=fields)]).verdict
    assert (verdict is Verdict.PASS) is is_right


@pytest.mark.parametrize(
    ("others", "fields", "is_right"),
    [
        ({"tables": ("old", "older")}, {"database": "d", "table": "older"}, True),
        ({"tables": ("old",)}, {"database": "old", "table": "t"}, False),
        ({"tables": ("old",)}, {"database": "d", "table": "new"}, False),
        ({"databases": ("", "e")}, {"database": "e", "table": "t"}, True),
        ({"databases": ("", "e")}, {"database": "d", "table": "e"}, False),
    ],
)
def test_other_names_of_one_kind_leave_the_other_as_it_is(others, fields, is_right):
    named = replace(INSERT, database="d", table="t", **others)
    verdict = judge([named], [replace(GOOD, fields=fields)]).verdict
    assert (verdict is Verdict.PASS) is is_right


def test_a_column_that_is_not_returned_is_not_judged():
    assert (
        judge([replace(INSERT, position="1", commit_time_us=1)], [replace(GOOD, fields={})]).verdict
        is Verdict.PASS
    )


def test_the_first_rule_that_matches_owns():
    special = (
        rule(
            "special", fields=("cell",), aspects=(Aspect.VALUE,), types=("int",), classes=("plain",)
        ),
        rule("tagged", fields=("cell",), tags=("boundary*",)),
        *GENERAL,
    )
    wrong = replace(GOOD, after={"id": "2", "a": "y"})
    assert convicted(judge([INSERT], [wrong], rules=special)) == [
        ("special", "after['id']"),
        ("value", "after['a']"),
    ]
    tagged = judge([INSERT], [wrong], rules=special, tags=("boundary-1",))
    assert convicted(tagged) == [("special", "after['id']"), ("tagged", "after['a']")]
    backwards = judge([INSERT], [wrong], rules=tuple(reversed(special)))
    assert convicted(backwards) == [("value", "after['id']"), ("value", "after['a']")]


@pytest.mark.parametrize(
    ("late", "names", "broken"),
    [(8 * 3_600_000_000, True, "zone"), (1, True, "digits"), (1, False, "zone"), (0, True, None)],
)
def test_digits_of_a_moment_are_their_rule_s_and_of_the_value_s_where_no_rule_names_them(
    late, names, broken
):
    moment = Cell(
        State.VALUE,
        mysql.TYPES["timestamp-6"],
        mysql.wall("2024-02-29 23:59:59.123456"),
        "",
        cls="micros",
    )
    owed = replace(INSERT, after={"id": moment}, commit_time_us=moment.value)
    fields, after = (
        {"commit_time": owed.commit_time_us + late},
        {"id": Typed("timestamp", moment.value + late)},
    )
    output = OutputRow(0, "ROW", "INSERT", fields, after=after)
    known = (
        rule("digits", aspects=(Aspect.DIGITS,))
        if names
        else rule("none", aspects=(Aspect.EXTRA,)),
        rule("zone"),
    )
    assert {f.rule for f in judge([owed], [output], rules=known, level=2).findings} == (
        {f"x/{broken}"} if broken else set()
    )
    output = replace(output, after=GOOD.after)
    findings = judge([replace(owed, after=INSERT.after)], [output], rules=known).findings
    assert [(f.rule, f.path) for f in findings] == (
        [(f"x/{broken}", "commit_time")] if broken else []
    )


def test_owners_are_kept_apart_by_profile_level_and_tags():
    rules = (
        rule("of-v2", profiles=("v2*",)),
        rule("of-two", levels=(2,)),
        rule("of-b", tags=("b",)),
        *GENERAL,
    )
    judged, plain, wrong = Judge(rules), case([INSERT]), [[replace(GOOD, op="READ")]]
    others = ({}, {"profile": "v2.1"}, {"level": 2}, {"tags": frozenset("b")}, {})
    owners = [
        judged.judge(replace(plain, **other), wrong, "t").findings[0].rule for other in others
    ]
    assert owners == ["x/op", "x/of-v2", "x/of-two", "x/of-b", "x/op"]


def test_a_comparison_without_an_owner_is_the_harness_fault():
    with pytest.raises(HarnessFault, match="no rule owns Subject"):
        judge([INSERT], [GOOD], rules=tuple(r for r in GENERAL if r.id != "x/image"))


def test_laws_own_nothing():
    law = replace(GENERAL[0], id="x/law", selector=Selector(), law="batch")
    assert (
        judge([INSERT], [replace(GOOD, op="READ")], rules=(law, *GENERAL)).findings[0].rule
        == "x/op"
    )


ANY = Cell(State.ANY, TEXT, reason="information was lost")
ANY_TEXT = Cell(State.ANY, TEXT, text="\ufffd", reason="U+FFFD stands on the wire")
HOUR = 3_600_000_000
EITHER = Cell(
    State.ONE_OF,
    mysql.TYPES["timestamp-0"],
    options=(0, HOUR),
    text="1970-01-01 00:00:00",
    reason="twice",
)


@pytest.mark.parametrize(
    ("cell", "level", "actual", "fine"),
    [
        *(
            (ANY, 1, None, True),
            (ANY, 2, None, True),
            (ANY, 2, Typed("float", 1.0), True),
            (ANY_TEXT, 1, "\ufffd", True),
        ),
        *(
            (ANY_TEXT, 1, "?", False),
            (ANY_TEXT, 2, Typed("string", "?"), True),
            (EITHER, 1, "1970-01-01 00:00:00", True),
        ),
        *((EITHER, 1, "1970-01-01 01:00:00", False), (EITHER, 2, Typed("timestamp", 0), True)),
        *(
            (EITHER, 2, Typed("timestamp", HOUR), True),
            (EITHER, 2, Typed("timestamp", 1), False),
            (EITHER, 2, None, False),
        ),
        (Cell(State.VALUE, DATE, ZeroDate(), "0000-00-00"), 2, None, True),
        (Cell(State.VALUE, DATE, ZeroDate(), "0000-00-00"), 1, None, False),
        *(
            (Cell(State.VALUE, DATE, dt.date(1970, 1, 1), "1970-01-01"), 2, None, False),
            (NULL, 2, None, True),
        ),
        *(
            (NULL, 2, Typed("string", ""), False),
            (number(1), 2, Typed("int", 1), True),
            (number(1), 2, Typed("int", 2), False),
        ),
        (number(1), 2, Typed("string", "1"), False),
    ],
)
def test_cells(cell, level, actual, fine):
    change = replace(INSERT, after={"c": cell, "id": number(1)})
    first = "1" if level == 1 else Typed("int", 1)
    result = judge([change], [replace(GOOD, after={"c": actual, "id": first})], level=level)
    assert (result.verdict is Verdict.PASS) is fine


def test_an_image_of_which_nothing_is_known_is_not_looked_at():
    unknown = replace(
        INSERT, op=Op.UPDATE, before={"id": Cell(State.ANY, INT, reason="reduced"), "a": ANY}
    )
    for before in (None, {}, {"id": "9"}):
        assert judge([unknown], [replace(UPDATED, before=before)]).verdict is Verdict.PASS


def test_a_column_that_level_two_lacks_is_missing_and_an_additional_one_is_not_judged():
    after = {"id": Typed("int", 1)}
    assert convicted(judge([INSERT], [replace(GOOD, after=after)], level=2)) == [
        ("presence", "after['a']")
    ]
    after |= {"a": Typed("string", "x"), "b": None}
    assert judge([INSERT], [replace(GOOD, after=after)], level=2).verdict is Verdict.PASS


KEY_ONLY = replace(INSERT, op=Op.DELETE, before={"id": number(1), "a": ABSENT}, after=None)
TYPED_UPDATE = replace(GOOD, op="UPDATE", after={"id": Typed("int", 1), "a": Typed("string", "x")})
KEY_READ = replace(GOOD, op="DELETE", before={"id": Typed("int", 1), "a": None}, after=None)


def test_null_for_a_column_that_the_message_does_not_hold_is_informational_and_no_finding():
    result = judge([KEY_ONLY], [KEY_READ], level=2)
    assert (result.verdict, result.findings, result.nulled) == (Verdict.INFORMATIONAL, (), 1)
    assert result.note == "NULL in 1 cell(s) whose columns the message does not hold"
    claims = Capabilities(conventions=("null-for-absent",))
    claimed = judge([KEY_ONLY], [KEY_READ], level=2, capabilities=claims)
    assert (claimed.verdict, claimed.nulled, claimed.note) == (Verdict.PASS, 0, "")
    unclaimed = judge([KEY_ONLY], [KEY_READ], level=2, capabilities=Capabilities(types=("int",)))
    assert unclaimed.verdict is Verdict.PASS


MADE_UP = replace(KEY_READ, before={"id": Typed("int", 1), "a": Typed("string", "")})


@pytest.mark.parametrize("conventions", [(), ("null-for-absent",)])
def test_a_value_for_a_column_that_the_message_does_not_hold_is_made_up(conventions):
    result = judge(
        [KEY_ONLY], [MADE_UP], level=2, capabilities=Capabilities(conventions=conventions)
    )
    assert (result.verdict, convicted(result), result.nulled) == (
        Verdict.FAIL,
        [("presence", "before['a']")],
        0,
    )
    (finding,) = result.findings
    assert (finding.expected, finding.actual) == (
        "NULL, because the message does not hold the column",
        "'' (string)",
    )
    assert (
        cause(finding, result.case).words
        == "gives a column that the message does not hold in the image before DELETE"
    )
    assert (
        judge([KEY_ONLY], [MADE_UP], level=2, capabilities=Capabilities(types=("int",))).verdict
        is Verdict.PASS
    )


def test_a_value_that_bytes_or_the_after_image_or_a_required_column_explain_is_not_made_up():
    blank = replace(
        KEY_ONLY, before={**KEY_ONLY.before, "a": text("")}, full_before=KEY_ONLY.before
    )
    assert judge([blank], [MADE_UP], level=2).verdict is Verdict.PASS
    said = replace(blank, before={**KEY_ONLY.before, "a": NULL})
    assert judge([said], [MADE_UP], level=2).verdict is Verdict.FAIL
    update = replace(INSERT, op=Op.UPDATE, before={"id": number(1), "a": ABSENT})
    rows = {
        value: replace(TYPED_UPDATE, before={"id": Typed("int", 1), "a": Typed("string", value)})
        for value in ("x", "y")
    }
    assert judge([update], [rows["x"]], level=2).verdict is Verdict.INFORMATIONAL
    assert judge([update], [rows["y"]], level=2).verdict is Verdict.FAIL
    table = replace(TABLE, columns=(Column("id", INT), Column("a", TEXT, nullable=False)))
    required = replace(case([KEY_ONLY], level=2), tables=(table,))
    assert Judge(GENERAL).judge(required, [[MADE_UP]], "t").verdict is Verdict.INFORMATIONAL


def test_null_for_absent_hides_neither_a_failure_nor_a_rejection():
    wrong = replace(KEY_READ, before={"id": Typed("int", 2), "a": None})
    assert judge([KEY_ONLY], [wrong], level=2).verdict is Verdict.FAIL
    both = Judge(GENERAL).judge(case([KEY_ONLY], [CORRUPT], level=2), [[KEY_READ], [REJECTED]], "t")
    assert (both.verdict, both.nulled) == (Verdict.REJECTED, 1)


PARTIAL = replace(UPDATE, full_before={"id": number(1), "a": text("w")})
OVERLAID = replace(UPDATED, before={"id": "1", "a": "w"})


def test_a_partial_before_stays_partial_at_level_one_and_is_whole_at_level_two():
    after = {"id": Typed("int", 1), "a": Typed("string", "x")}
    whole = replace(UPDATED, before={"id": Typed("int", 1), "a": Typed("string", "w")}, after=after)
    partial = replace(whole, before={"id": None, "a": Typed("string", "w")})
    assert judge([PARTIAL], [UPDATED]).verdict is Verdict.PASS
    assert judge([PARTIAL], [whole], level=2).verdict is Verdict.PASS
    assert convicted(judge([PARTIAL], [partial], level=2)) == [("null", "before['id']")]
    assert convicted(judge([PARTIAL], [OVERLAID])) == [("presence", "before['id']")]


def test_a_column_that_the_table_has_not_is_seen_in_a_partial_image_too():
    phantom = replace(UPDATED, before={"a": "w", "b": "x"})
    assert (convicted(judge([UPDATE], [phantom])), len(phantom.before)) == (
        [("presence", "before['b']")],
        len(UPDATE.before),
    )


def test_alternatives_of_kind_and_op():
    either = Change(
        0, Kind.DDL, database="db", sql="SET x", accept=((Kind.CONTROL, None), (Kind.CORRUPT, None))
    )
    ddl = OutputRow(0, "DDL", None, {"database": "db", "sql": "SET x"})
    for row in (
        ddl,
        replace(ddl, kind="CONTROL", fields={"database": "?"}),
        replace(ddl, kind="CORRUPT", fields={}),
    ):
        assert judge([either], [row]).verdict is Verdict.PASS
    assert convicted(judge([either], [replace(ddl, kind="ROW")])) == [("kind", "kind")]
    assert (
        judge([either], [replace(ddl, kind="ROW")]).findings[0].expected
        == "CONTROL or CORRUPT or DDL"
    )
    assert convicted(judge([either], [replace(ddl, op="INSERT")])) == [("op", "op")]
    assert convicted(judge([either], [replace(ddl, fields={"sql": "set x"})])) == [("field", "sql")]
    read = replace(INSERT, accept=((Kind.ROW, Op.READ),))
    assert judge([read], [replace(GOOD, op="READ")]).verdict is Verdict.PASS
    assert judge([read], [replace(GOOD, op="UPDATE")]).findings[0].expected == "INSERT or READ"


ANYTHING = Change(0, Kind.CORRUPT, anything=True)


@pytest.mark.parametrize("rows", [[REJECTED], [GOOD], [GOOD, replace(GOOD, row=1)]])
def test_an_unspecified_fault_may_become_anything(rows):
    assert judge([ANYTHING], rows).verdict is Verdict.INFORMATIONAL


def test_an_unspecified_fault_may_not_vanish():
    assert convicted(judge([ANYTHING], [])) == [("missing", "rows")]


def test_level_two_judges_the_table_that_was_asked_for():
    other, typed = (
        replace(INSERT, table="u"),
        replace(GOOD, after={"id": Typed("int", 1), "a": Typed("string", "x")}),
    )
    assert judge([other], [], level=2).verdict is Verdict.PASS
    for row in (typed, REJECTED):
        assert convicted(judge([other], [row], level=2)) == [("extra", "rows")]
    assert judge([INSERT], [typed], level=2).verdict is Verdict.PASS
    assert judge([Change(0, Kind.DDL)], [], level=2).verdict is Verdict.PASS


OBLIGED = {
    Aspect.NULL: Obligation.SHOULD,
    Aspect.FIELD: Obligation.MAY,
    Aspect.PRESENCE: Obligation.UNSPECIFIED,
}
MIXED = tuple(
    rule(aspect.value, OBLIGED.get(aspect, Obligation.MUST), aspects=(aspect,)) for aspect in Aspect
)
VALUE, SHOULD = {"id": "2", "a": "x"}, {"id": "1", "a": None}
UNSPECIFIED = {"id": "1"}


@pytest.mark.parametrize(
    ("row", "verdict"),
    [
        *((GOOD, Verdict.PASS), (replace(GOOD, after=UNSPECIFIED), Verdict.INFORMATIONAL)),
        *(
            (replace(GOOD, fields={"table": "T"}), Verdict.INFORMATIONAL),
            (replace(GOOD, after=SHOULD), Verdict.NON_STRICT),
        ),
        *(
            (replace(GOOD, after=SHOULD, fields={"table": "T"}), Verdict.NON_STRICT),
            (replace(GOOD, after=VALUE), Verdict.FAIL),
        ),
        (replace(GOOD, after=VALUE | {"a": None}, fields={"table": "T"}), Verdict.FAIL),
    ],
)
def test_the_gravest_obligation_decides(row, verdict):
    assert judge([INSERT], [row], rules=MIXED).verdict is verdict


def test_a_lost_change_outweighs_an_accepted_fault():
    rows = [[replace(GOOD, after={})], []]
    assert Judge(GENERAL).judge(case([CORRUPT], [INSERT]), rows).verdict is Verdict.FAIL
    assert (
        Judge(GENERAL).judge(case([CORRUPT], [INSERT]), [rows[0], [GOOD]]).verdict
        is Verdict.ACCEPTED
    )
    assert (
        Judge(GENERAL).judge(case([CORRUPT], [INSERT]), [[REJECTED], [GOOD]]).verdict
        is Verdict.REJECTED
    )


def test_types_that_a_decoder_does_not_claim_are_not_compared():
    wrong, claims = [replace(GOOD, after={"id": "2", "a": "y"})], Capabilities(types=("varchar",))
    assert convicted(judge([INSERT], wrong, capabilities=claims)) == [("value", "after['a']")]


def test_claims_are_globs():
    wrong = [replace(GOOD, after={"id": "2", "a": "y"})]
    assert convicted(judge([INSERT], wrong, capabilities=Capabilities(types=("v*",)))) == [
        ("value", "after['a']")
    ]
    assert Capabilities(kinds=("ROW", "D*")).claims("kinds", "ROW", "DDL")
    assert not Capabilities(kinds=("ROW", "D*")).claims("kinds", "ROW", "WATERMARK")
    assert Capabilities().claims("profiles", "anything")


def test_envelope_columns_that_a_decoder_does_not_claim_are_not_judged():
    wrong = [replace(GOOD, fields={"database": "other", "table": "other", "keys": ["id"]})]
    assert convicted(judge([INSERT], wrong)) == [("field", "database"), ("field", "table")]
    assert convicted(
        judge([INSERT], wrong, capabilities=Capabilities(columns=("data*", "keys")))
    ) == [("field", "database")]


def test_counts_sites_and_cases_of_a_rule():
    judged = Judge(GENERAL, remembers=True)
    for name in ("c1", "c2", "c3", "c4"):
        judged.judge(
            replace(case([INSERT], [INSERT]), id=f"x/v1/{name}"),
            [[GOOD], [replace(GOOD, op="READ")]],
        )
    assert (judged.compared["x/op"], judged.broken["x/op"]) == (8, 4)
    assert set(judged.seen["x/op", 1]) == {"x/v1/c1", "x/v1/c2", "x/v1/c3", "x/v1/c4"}
    sites = [(f"x/v1/{name}", 0, Aspect.OP) for name in ("c1", "c2", "c3")]
    assert [(s.case, s.message, s.aspect) for s in judged.sites["x/op"]] == sites
    assert {(s.name, s.side) for s in judged.sites["x/image"]} == {("before", "before")}
    assert {(s.name, s.side) for s in judged.sites["x/value"]} == {("id", "after")}


def test_what_is_shown_of_a_value_is_bounded():
    (finding,) = judge([INSERT], [replace(GOOD, after={"id": "7" * 10_000, "a": "x"})]).findings
    assert len(finding.actual) < 500
    assert finding.actual.endswith("... (10000 characters)")


SHAPED = rules("ticdc-canal-json")
UNREADABLE = Change(0, Kind.CORRUPT)


@pytest.mark.parametrize(
    ("change", "row", "at"),
    [
        *(
            (UNREADABLE, OutputRow(0, "CORRUPT", None, error="cut"), None),
            (UNREADABLE, OutputRow(0, "CORRUPT", None), "error"),
        ),
        (UNREADABLE, OutputRow(0, "CORRUPT", None, error=""), "error"),
        (UNREADABLE, OutputRow(0, "CORRUPT", "INSERT", error="cut"), "op"),
        (UNREADABLE, OutputRow(0, "CORRUPT", None, before={}, error="cut"), "before"),
        (Change(0, Kind.WATERMARK), OutputRow(0, "WATERMARK", None), None),
        (Change(0, Kind.WATERMARK), OutputRow(0, "WATERMARK", None, after={}), "after"),
        (Change(0, Kind.WATERMARK), OutputRow(0, "WATERMARK", None, error="late"), "error"),
    ],
)
def test_columns_that_depend_on_the_kind_of_a_row(change, row, at):
    case = Case(
        "c",
        "ticdc-canal-json",
        "v7.1.6",
        Deployment(),
        1,
        (),
        (Written(Message("t", 0, None, b""), (change,)),),
    )
    findings = Judge(SHAPED).judge(case, [[row]]).findings
    assert [f.path for f in findings if f.rule == "ticdc-canal-json/law/row-shape"] == (
        [at] if at else []
    )


def claiming(*conventions):
    return Capabilities(conventions=conventions)


@pytest.mark.parametrize(
    ("convention", "change", "row"),
    [
        ("whole-before", PARTIAL, OVERLAID),
        ("typed-values", INSERT, replace(GOOD, after={"id": "1.0", "a": "other"})),
        ("read-as-insert", replace(INSERT, op=Op.READ), GOOD),
    ],
)
def test_a_claimed_convention_is_no_finding_and_an_unclaimed_one_is(convention, change, row):
    assert judge([change], [row], capabilities=claiming(convention)).verdict is Verdict.PASS
    assert judge([change], [row]).verdict is Verdict.FAIL


def test_typed_values_are_there_and_not_null_all_the_same():
    for after in ({"id": "1", "a": None}, {"id": "1"}):
        assert (
            judge(
                [INSERT], [replace(GOOD, after=after)], capabilities=claiming("typed-values")
            ).verdict
            is Verdict.FAIL
        )


def test_a_decoder_that_stops_gives_no_row_for_an_unreadable_message():
    assert (
        judge([CORRUPT], [], capabilities=claiming("stops-on-unreadable")).verdict
        is Verdict.REJECTED
    )
    assert (
        judge([CORRUPT], [GOOD], capabilities=claiming("stops-on-unreadable")).verdict
        is Verdict.ACCEPTED
    )
    assert judge([CORRUPT], []).verdict is Verdict.ACCEPTED


@pytest.mark.parametrize(
    ("level", "rows", "verdict"),
    [
        *(
            (1, (REJECTED,), Verdict.REJECTED),
            (1, (OutputRow(0, "TOMBSTONE", None),), Verdict.REJECTED),
        ),
        *((1, (GOOD,), Verdict.ACCEPTED), (1, (), Verdict.ACCEPTED), (2, (), Verdict.REJECTED)),
    ],
)
def test_a_kind_that_is_as_good_as_corrupt_has_no_row_at_level_two(level, rows, verdict):
    null = replace(CORRUPT, accept=((Kind.TOMBSTONE, None),))
    assert judge([null], rows, level=level).verdict is verdict


def test_the_rules_of_a_refused_row_are_counted_as_refused():
    judged = Judge(GENERAL)
    judged.judge(case([INSERT], level=2), [[REJECTED]])
    assert judged.refused == {"x/value": 2}
    assert not judged.compared["x/value"]
