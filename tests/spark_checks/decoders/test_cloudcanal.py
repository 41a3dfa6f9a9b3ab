"""The reference decoders of CloudCanal's formats against the samples of the vendor's page, and
against what the page leaves open.

The page's samples are no JSON (comments, a trailing comma) and show three operations as one: they
are given here without comments, one operation each.
"""

import datetime as dt
import json
from decimal import Decimal

import pytest
from decoded import assert_corrupt, by_message

from generators.model import Column, Deployment, Table
from generators.sources import mysql
from spark_checks.decoders import cloudcanal_canal_json, cloudcanal_debezium, cloudcanal_json

OWN, CANAL, ENVELOPE = cloudcanal_json, cloudcanal_canal_json, cloudcanal_debezium

AFTER, BEFORE = (
    {"col1": "11", "col2": "11", "col_pk": "11"},
    {"col1": "22", "col2": "22", "col_pk": "22"},
)
TYPES, CODES = dict.fromkeys(AFTER, "varchar(22)"), dict.fromkeys(AFTER, 12)
SOURCE = {
    "ts_ms": 1669796261933,
    "db": "db_test",
    "table": "table_test",
    "connector": "MySQL",
    "gtid": None,
}
SOURCE |= {"file": "mysql-bin.000003", "pos": 154, "server_id": 223344}
DDL = "alter table table_test add col2 varchar(22) null"
CHANGED = {"jdbcType": 12, "typeExpression": "varchar(22)", "typeName": "varchar"}
CHANGES = {
    "table": {
        "columns": [{**CHANGED, "name": name, "position": i} for i, name in enumerate(AFTER)]
    },
    "type": "ALTER",
}
CHANGES["table"] |= {"primaryKeyColumnNames": ["col_pk"]}
TABLE = Table(
    "db_test",
    "table_test",
    tuple(Column(name, mysql.text("varchar", 22)) for name in AFTER),
    ("col_pk",),
)


def own(action: object, data: object = None, before: object = None, **members: object) -> str:
    """A CloudCanal message as the page's DML example; `members` replace or add, those that are
    `...` are left out.
    """
    common = json.loads(
        '{"bid":0,"db":"db_test","isDdl":false,"entryType":"ROWDATA","execTs":1669789152000,"pks":[],"schema":"db_test",'
        '"sendTs":1669789153377,"sql":"","table":"table_test"}'
    )
    common |= {
        "action": action,
        "before": before,
        "data": data,
        "dbValType": TYPES,
        "jdbcType": CODES,
    }
    return json.dumps(
        {k: v for k, v in (common | members).items() if v is not ...}, ensure_ascii=False
    )


def canal(type_: object, data: object = None, old: object = None, **members: object) -> str:
    """A message of CloudCanal's Canal Json, likewise."""
    common = json.loads(
        '{"database":"db_test","es":1669790847000,"id":0,"isDdl":false,"pkNames":["col_pk"],"sql":"","table":"table_test",'
        '"ts":1669790848072}'
    )
    common |= {"data": data, "mysqlType": TYPES, "old": old, "sqlType": CODES, "type": type_}
    return json.dumps(
        {k: v for k, v in (common | members).items() if v is not ...}, ensure_ascii=False
    )


WRITE = {OWN: own, CANAL: canal}
EACH = pytest.mark.parametrize(
    "module", WRITE, ids=lambda module: module.__name__.rpartition(".")[2]
)


def utc(moment: dt.datetime) -> dt.datetime:
    """Spark's local datetime as an aware one."""
    return moment.astimezone(dt.UTC)


def test_own_samples_of_document_001(records):
    ddl = own("ALTER", [], [], isDdl=True, execTs=1669789188000, sql=DDL, tableChanges=CHANGES)
    values = (
        own("INSERT", [AFTER], []),
        own("UPDATE", [AFTER], [BEFORE]),
        own("DELETE", [AFTER], []),
        ddl,
    )
    (insert,), (update,), (delete,), (alter,) = by_message(OWN.decode(records(*values)))
    assert [(r.kind, r.op, r.before, r.after) for r in (insert, update, delete, alter)] == [
        *(
            ("ROW", "INSERT", None, AFTER),
            ("ROW", "UPDATE", BEFORE, AFTER),
            ("ROW", "DELETE", AFTER, None),
        ),
        ("DDL", None, None, None),
    ]
    for row in (insert, alter):
        assert (row.database, row.schema, row.table, row["keys"], row.position) == (
            "db_test",
            "db_test",
            "table_test",
            [],
            "0",
        )
        assert row.types == TYPES
    assert (insert.sql, alter.sql, utc(insert.commit_time)) == (
        None,
        DDL,
        dt.datetime(2022, 11, 30, 6, 19, 12, tzinfo=dt.UTC),
    )
    assert [
        tuple(r.before or ()) for (r,) in by_message(OWN.decode_rows(records(*values[:3]), TABLE))
    ] == [*((), ("22",) * 3, ("11",) * 3)]


def test_canal_samples_of_document_001(records):
    ddl = canal(
        "ALTER", [], [], isDdl=True, es=1669790951000, pkNames=[], sql=DDL, tableChanges=CHANGES
    )
    values = (
        canal("INSERT", [AFTER]),
        canal("UPDATE", [AFTER], [BEFORE]),
        canal("DELETE", [AFTER], []),
        ddl,
    )
    (insert,), (update,), (delete,), (alter,) = by_message(CANAL.decode(records(*values)))
    assert [(r.kind, r.op, r.before, r.after) for r in (insert, update, delete, alter)] == [
        *(
            ("ROW", "INSERT", None, AFTER),
            ("ROW", "UPDATE", BEFORE, AFTER),
            ("ROW", "DELETE", AFTER, None),
        ),
        ("DDL", None, None, None),
    ]
    assert (alter["keys"], alter.types, alter.sql) == ([], TYPES, DDL)
    assert (insert["keys"], insert.schema, insert.position, insert.sql) == (
        ["col_pk"],
        None,
        "0",
        None,
    )
    assert utc(insert.commit_time) == dt.datetime(2022, 11, 30, 6, 47, 27, tzinfo=dt.UTC)


@EACH
def test_what_stands_in_the_old_of_an_insert_or_delete_is_not_looked_at(records, module):
    name, olds = "before" if module is OWN else "old", (None, [], ..., [BEFORE])
    values = [
        WRITE[module](op, [AFTER], **{name: old}) for old in olds for op in ("INSERT", "DELETE")
    ]
    out = by_message(module.decode(records(*values)))
    assert [(r.before, r.after) for (r,) in out] == [(None, AFTER), (AFTER, None)] * len(olds)


@EACH
def test_old_of_the_same_row_is_overlaid(records, module):
    first, second = (
        {"col1": "1", "col2": "2", "col_pk": "a"},
        {"col1": None, "col2": "4", "col_pk": "b"},
    )
    values = (
        WRITE[module]("UPDATE", [first, second], [{"col1": "x"}, {"col1": "q", "col2": None}]),
        *(
            WRITE[module]("UPDATE", [first, second], [{"col1": "x"}]),
            WRITE[module]("UPDATE", [first], [{}]),
        ),
        *(WRITE[module]("UPDATE", [first], []), WRITE[module]("UPDATE", [first], None)),
    )
    out = by_message(module.decode(records(*values)))
    assert [r.before for rows in out for r in rows] == [
        {"col1": "x"},
        {"col1": "q", "col2": None},
        None,
        None,
        {},
        None,
        None,
    ]
    typed = by_message(module.decode_rows(records(*values), TABLE))
    assert [tuple(r.before or ()) for rows in typed for r in rows] == [
        *(("x", "2", "a"), ("q", None, "b"), (), (), ("1", "2", "a"), (), ())
    ]
    assert [tuple(r.after) for r in typed[0]] == [("1", "2", "a"), (None, "4", "b")]


def test_a_batch_gives_every_row_and_a_deleted_row_may_stand_in_before(records):
    rows = [{"col1": str(i), "col2": None, "col_pk": str(i)} for i in range(3)]
    values = (
        *(
            own("INSERT", rows),
            own("DELETE", rows),
            own("DELETE", [], rows),
            own("DELETE", None, rows),
            own("DELETE", ..., rows),
        ),
    )
    inserts, *deletes = by_message(OWN.decode(records(*values)))
    assert [(r.row, r.after) for r in inserts] == list(enumerate(rows))
    for deleted in deletes:
        assert [(r.row, r.op, r.before, r.after) for r in deleted] == [
            (i, "DELETE", row, None) for i, row in enumerate(rows)
        ]
    typed = by_message(OWN.decode_rows(records(*values), TABLE))
    assert [[tuple(r.before) for r in deleted] for deleted in typed[1:]] == [
        [(str(i), None, str(i)) for i in range(3)]
    ] * 4


def test_either_name_of_the_flag_tells_a_ddl(records):
    flags, values = ("isDdl", "ddl"), []
    for flag in flags:
        values += [
            own(action, [], [], sql=DDL, **{"isDdl": ..., flag: True})
            for action in ("ALTER", "CREATE", "SOMETHING")
        ]
        values.append(own("INSERT", [AFTER], **{"isDdl": ..., flag: False}))
    out = [r.kind for (r,) in by_message(OWN.decode(records(*values)))]
    assert out == ["DDL", "DDL", "DDL", "ROW"] * len(flags)


def test_a_canal_ddl_of_any_type_is_one(records):
    values = [
        canal(t, data, old, isDdl=True, sql=DDL)
        for t in ("ALTER", "ERASE", "OTHER")
        for data, old in (([], []), (None, None))
    ]
    assert [r.kind for (r,) in by_message(CANAL.decode(records(*values)))] == ["DDL"] * 6


def test_the_end_of_a_transaction_is_no_row(records):
    nothing = {"entryType": "TRANSACTIONEND", "table": None, "dbValType": None, "jdbcType": {}}
    actions, empty = (None, "", "COMMIT", "INSERT", ...), (None, [], ...)
    values = [own(action, rows, rows, **nothing) for rows in empty for action in actions]
    out = by_message(OWN.decode(records(*values)))
    assert [(r.kind, r.op, r.table, r.before, r.after, r.position) for (r,) in out] == [
        ("TRANSACTION", None, None, None, None, "0")
    ] * 15
    assert OWN.decode_rows(records(*values), TABLE).count() == 0


@EACH
def test_what_is_no_message_is_one_corrupt_row_at_both_levels(records, module):
    write, good = WRITE[module], WRITE[module]("INSERT", [AFTER])
    flag = {"isDdl": True}
    values = [
        *(
            None,
            b"",
            b"{}",
            b"[" + good.encode() + b"]",
            good + "x",
            good + "}",
            good * 2,
            good[:-1],
            good[: len(good) // 2],
        ),
        *(
            write("INSERT", []),
            write("INSERT", None),
            write("INSERT", AFTER),
            write("INSERT", [AFTER, None]),
        ),
        *(
            write("INSERT", ["x"]),
            write("UPSERT", [AFTER]),
            write("INSERT/DELETE/UPDATE", [AFTER], [BEFORE]),
        ),
        *(write(None, [AFTER]), write("UPDATE", [AFTER], AFTER), write("INSERT", [AFTER], **flag)),
        *(write("ALTER", [], [], sql=DDL), write("INSERT", [AFTER], isDdl="no")),
    ]
    if module is OWN:
        values += [
            own("DELETE", [], []),
            own("DELETE", None, [None]),
            own("INSERT", [], [AFTER]),
            own("UPDATE", [], [AFTER]),
        ]
    for frame in (module.decode(records(*values)), module.decode_rows(records(*values), TABLE)):
        assert_corrupt(frame, len(values))


@EACH
@pytest.mark.parametrize(
    ("binary", "text"),
    [("", "\x00ÿa"), ("hex", "00ff61"), ("hex", "0x00FF61"), ("base64", "AP9h")],
    ids=["undocumented", "hex", "0x", "base64"],
)
def test_binaries_are_as_the_deployment_has_them(records, module, binary, text):
    table = Table("db_test", "table_test", (Column("b", mysql.binary("blob")),))
    values = (
        *(
            WRITE[module]("INSERT", [{"b": text}]),
            WRITE[module]("INSERT", [{"b": ""}]),
            WRITE[module]("INSERT", [{"b": "汉"}]),
        ),
    )
    (first,), (empty,), (unfit,) = by_message(
        module.decode_rows(records(*values), table, deployment=Deployment(binary=binary))
    )
    assert (bytes(first.after.b), bytes(empty.after.b), unfit.kind) == (
        b"\x00\xffa",
        b"",
        "CORRUPT",
    )


@EACH
def test_enum_and_set_are_numbers_or_labels(records, module):
    members = [f"m{i}" for i in range(64)]
    kinds = (
        mysql.enum_of("a", "b,c", "it's"),
        mysql.set_of("a", "b"),
        mysql.set_of(*members),
        mysql.enum_of("x", ""),
    )
    table = Table(
        "db_test", "table_test", tuple(Column(f"c{i}", kind) for i, kind in enumerate(kinds))
    )
    rows: list[tuple[tuple[str, ...], tuple[int, ...]]] = [
        *(
            (("2", "3", str(2**64 - 1), "1"), (2, 3, 2**64 - 1, 1)),
            (("b,c", "b,a", "m63", "x"), (2, 3, 2**63, 1)),
        ),
        *(
            (("it's", "b", ",".join(members), ""), (3, 2, 2**64 - 1, 2)),
            (("", "", "", "0"), (0, 0, 0, 0)),
        ),
    ]
    values = [
        WRITE[module]("INSERT", [{f"c{i}": text for i, text in enumerate(texts)}])
        for texts, _ in rows
    ]
    unfit = [
        ("c0", "4"),
        ("c0", "A"),
        ("c1", "4"),
        ("c1", "a,c"),
        ("c1", "a,"),
        ("c2", "48x6"),
        ("c2", str(2**64)),
        ("c0", "-1"),
    ]
    values += [WRITE[module]("INSERT", [{name: text}]) for name, text in unfit]
    out = by_message(module.decode_rows(records(*values), table))
    assert [tuple(map(int, row.after)) for row, *_ in out[: len(rows)]] == [
        numbers for _, numbers in rows
    ]
    assert [row.kind for row, *_ in out[len(rows) :]] == ["CORRUPT"] * len(unfit)


@EACH
def test_an_unknown_form_of_binaries_is_refused(records, module):
    table = Table("db_test", "table_test", (Column("b", mysql.binary("blob")),))
    with pytest.raises(ValueError, match="one of latin-1, iso-8859-1, hex, base64"):
        module.decode_rows(records("{}"), table, deployment=Deployment(binary="roman"))


STATEMENT = {
    "databaseName": "db_test",
    "ddl": DDL,
    "ts_ms": 1669797213247,
    "source": SOURCE,
    "tableChanges": CHANGES,
}


def payload(
    op: object, after: object = None, before: object = None, **members: object
) -> dict[str, object]:
    """The payload of the page's DML example of the Debezium Envelope; members that are `...` are
    left out.
    """
    content = {
        "op": op,
        "ts_ms": 1669796261933,
        "after": after,
        "before": before,
        "source": SOURCE,
    } | members
    return {k: v for k, v in content.items() if v is not ...}


def enveloped(content: object) -> str:
    """The message as the page has it; what it leaves out of the schema is left out here too."""
    return json.dumps({"schema": {"type": "struct"}, "payload": content}, ensure_ascii=False)


@pytest.mark.parametrize("wrap", [enveloped, json.dumps], ids=["with schema", "bare"])
def test_envelope_samples_of_document_001(records, wrap):
    values = [
        *(payload("c", AFTER, {}), payload("u", AFTER, BEFORE), payload("d", {}, BEFORE)),
        *(dict(reversed(payload("u", AFTER, BEFORE).items())), STATEMENT),
    ]
    frame = records(*map(wrap, values))
    (insert,), (update,), (delete,), (reordered,), (ddl,) = by_message(ENVELOPE.decode(frame))
    assert [
        (r.kind, r.op, r.before, r.after) for r in (insert, update, delete, reordered, ddl)
    ] == [
        *(
            ("ROW", "INSERT", None, AFTER),
            ("ROW", "UPDATE", BEFORE, AFTER),
            ("ROW", "DELETE", BEFORE, None),
        ),
        *(("ROW", "UPDATE", BEFORE, AFTER), ("DDL", None, None, None)),
    ]
    for row in (insert, ddl):
        assert (row.database, row.schema, row.table, row.position) == (
            "db_test",
            None,
            "table_test",
            "mysql-bin.000003:154",
        )
        assert utc(row.commit_time) == dt.datetime(2022, 11, 30, 8, 17, 41, 933000, tzinfo=dt.UTC)
    assert (insert.sql, ddl.sql) == (None, DDL)
    typed = by_message(ENVELOPE.decode_rows(frame, TABLE))
    assert [(tuple(r.before or ()), tuple(r.after or ())) for (r,) in typed] == [
        *(
            ((), ("11",) * 3),
            (("22",) * 3, ("11",) * 3),
            (("22",) * 3, ()),
            (("22",) * 3, ("11",) * 3),
        )
    ]


def test_the_message_of_the_vendors_article(records):
    """An int is a text, the schema is CloudCanal's own, members are in alphabetical order;
    Debezium's form is told.
    """
    table = Table(
        "kafka_test",
        "new_table",
        (Column("column_1", mysql.integer("int")), Column("d", mysql.decimal(10, 2))),
    )
    own = {
        "fields": [
            {
                "field": "after",
                "fields": [{"field": "column_1", "isPK": True, "jdbType": 4, "type": "int(11)"}],
            }
        ]
    }
    source = {"db": "kafka_test", "pos": 110341861, "table": "new_table", "ts_ms": 1659614884026}
    content = {
        "after": {"column_1": "3", "d": "1.50"},
        "before": None,
        "op": "c",
        "source": source,
        "ts_ms": 1659614884026,
    }
    frame = records(json.dumps({"payload": content, "schema": own}), json.dumps(content))
    for (row,) in by_message(ENVELOPE.decode(frame)):
        assert (row.kind, row.op, row.before, row.after) == (
            "ROW",
            "INSERT",
            None,
            {"column_1": "3", "d": "1.50"},
        )
    for (row,) in by_message(ENVELOPE.decode_rows(frame, table)):
        assert (row.before, tuple(row.after)) == (None, (3, Decimal("1.50")))
    typed = records(json.dumps(content | {"after": {"column_1": 3, "d": "AJY="}}))
    ((row,),) = by_message(
        ENVELOPE.decode_rows(
            typed, table, deployment=Deployment(decimal="precise", temporal="adaptive")
        )
    )
    assert tuple(row.after) == (3, Decimal("1.50"))


def test_an_image_that_an_operation_has_not_is_none_however_it_is_written(records):
    empty = (None, {}, ...)
    values = [
        enveloped(content)
        for none in empty
        for content in (payload("c", AFTER, none), payload("d", none, BEFORE))
    ]
    images = [(None, AFTER), (BEFORE, None)] * len(empty)
    assert [(r.before, r.after) for (r,) in by_message(ENVELOPE.decode(records(*values)))] == images
    typed = by_message(ENVELOPE.decode_rows(records(*values), TABLE))
    typed_images = [(None, ("11",) * 3), (("22",) * 3, None)] * len(empty)
    assert [
        (r.before and tuple(r.before), r.after and tuple(r.after)) for (r,) in typed
    ] == typed_images


def test_a_payload_with_ddl_is_a_statement(records):
    """Whatever its op is, and whatever stands beside it as its changes."""
    extras = [
        {"op": op, "tableChanges": changes}
        for op in ("a", "A", None, ...)
        for changes in (CHANGES, [CHANGES], None, ...)
    ]
    values = [
        enveloped({k: v for k, v in (STATEMENT | extra).items() if v is not ...})
        for extra in extras
    ]
    out = by_message(ENVELOPE.decode(records(*values)))
    assert len(out) == len(extras) == 16
    for extra, (row,) in zip(extras, out, strict=True):
        assert (row.kind, row.op, row.sql, row.table) == ("DDL", None, DDL, "table_test"), extra


def test_columns_called_as_members_are_columns(records):
    row = {"op": "a", "ddl": "drop table t", "schema": "s", "payload": None}
    ((read,),) = by_message(ENVELOPE.decode(records(enveloped(payload("c", row, {})))))
    assert (read.kind, read.op, read.after, read.sql) == ("ROW", "INSERT", row, None)


def test_what_is_no_envelope_is_one_corrupt_row(records):
    good = enveloped(payload("c", AFTER, {}))
    values = [
        *(
            b"",
            b"{}",
            b"[" + good.encode() + b"]",
            good + "x",
            good * 2,
            good[:-1],
            enveloped(payload("c", None, {})),
        ),
        *(
            enveloped(payload("u", ..., BEFORE)),
            enveloped(payload("a", AFTER, {})),
            enveloped(payload("x", AFTER, {})),
        ),
        *(enveloped(payload(..., AFTER, {})), enveloped(payload("c", [AFTER], {}))),
        *(
            enveloped(payload("c", AFTER, {}, source=...)),
            enveloped(payload("c", AFTER, {}, source="MySQL")),
        ),
    ]
    for frame in (ENVELOPE.decode(records(*values)), ENVELOPE.decode_rows(records(*values), TABLE)):
        assert_corrupt(frame, len(values))
