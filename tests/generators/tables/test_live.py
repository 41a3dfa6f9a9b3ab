import importlib.util
import os
import shutil
import subprocess
import traceback
from dataclasses import replace
from pathlib import Path

import pytest

from generators.errors import HarnessError, UsageError
from generators.model import Column
from generators.sources import mysql
from generators.tables import live
from generators.tables.reading import read_schema

PATHS = os.pathsep.join(
    [os.environ["PATH"], "/usr/sbin", *map(str, Path("/usr/lib/postgresql").glob("*/bin"))]
)
SECRET = "pa55-w0rd"
FORM = "scheme://user@host:port/database expected"
SCHEMES = "one of the schemes mysql, mariadb, tidb, postgresql"


def statements(name):
    """Those of `dumps/live-NAME.sql`, each on one line."""
    text = (
        Path(__file__)
        .with_name("dumps")
        .joinpath(f"live-{name}.sql")
        .read_text("utf-8")
        .replace("SECRET", SECRET)
    )
    return [" ".join(statement.split()) for statement in text.split(";\n") if statement.strip()]


def needs(driver, *programs):
    missing = [name for name in programs if shutil.which(name, path=PATHS) is None]
    if importlib.util.find_spec(driver) is None:
        missing.insert(0, f"the extra `databases` ({driver})")
    return pytest.mark.skipif(bool(missing), reason=f"needs {', '.join(missing)}")


KEYS = """id=bigint unsigned,t1=tinyint,t2=tinyint unsigned,sm=smallint unsigned,me=mediumint,i=int,ib=int,bg=bigint,de=decimal,
de2=decimal,de3=decimal unsigned,f=float,f2=float,f3=double,d2=double unsigned,r=double,b1=bit,b8=bit,ch=char,
vc=varchar,tt=tinytext,tx=text,mt=mediumtext,lt=longtext,bi=binary,vb=varbinary,tb=tinyblob,bl=blob,mb=mediumblob,
lb=longblob,da=date,ts=timestamp,dt=datetime,ti=time,y=year,en=enum,se=set,js=longtext,gs=int,gv=int,inv=int,
ex=varchar,co=text,seq=int,na=char"""


@needs("pymysql", "mariadbd", "mariadb-install-db", "mariadb", "mariadb-dump")
@pytest.mark.slow
def test_mariadb_and_its_dump_tell_the_same_tables(tmp_path, monkeypatch):
    from recorders.databases import MariaDb

    dump = tmp_path / "dump.sql"
    with MariaDb(lambda _: None, {}) as database:
        database.must(*statements("mariadb"))
        client = [
            "mariadb-dump",
            "--no-defaults",
            f"--socket={database.directory}/socket",
            "--user=root",
            "--databases",
            "audit",
        ]
        dump.write_bytes(subprocess.run(client, capture_output=True, check=True).stdout)
        url = f"mysql://secret@127.0.0.1:{database.port}/audit"
        monkeypatch.setenv("MYSQL_PWD", SECRET)
        alive = read_schema([url])
        monkeypatch.setenv(live.PASSWORD, f"not-{SECRET}")
        with pytest.raises(
            HarnessError, match=r"cannot be read: .*Access denied for user 'secret'"
        ) as raised:
            read_schema([url])
    assert SECRET not in "".join(traceback.format_exception(raised.value))
    dumped = read_schema([str(dump)])
    assert (alive.dialect, dumped.dialect) == ("mariadb", "mariadb")
    assert alive.tables == dumped.tables
    other, everything, _parts = alive.tables
    assert [user.table.name for user in alive.tables] == ["a`b", "everything", "parts"]
    assert [
        f"{column.name}={column.type.key}" for column in everything.table.columns
    ] == KEYS.replace("\n", "").split(",")
    assert everything.table.column("vb").default is not None
    assert everything.table.column("sm") == Column(
        "sm",
        replace(mysql.integer("smallint", zerofill=True), length=5),
        declared=everything.table.column("sm").declared,
    )
    assert [check.column for check in everything.checks] == ["seq", "bg", "vc"]
    assert other.foreign_keys[0].parent == ("audit", None, "everything")
    texts = [f"{note.construct}: {note.action}" for note in alive.notes]
    for text in texts:
        assert text.startswith(
            (
                *(
                    "FOREIGN KEY",
                    "\ufffd",
                    "DEFAULT '\\0",
                    "CHECK (json_valid",
                    "GENERATED",
                    "INVISIBLE",
                    "UNIQUE KEY `p`",
                ),
                *("FULLTEXT", "point", "SPATIAL", "PARTITION", "CREATE VIEW `v`"),
            )
        ), text
    assert {f"{note.construct}: {note.action}" for note in dumped.notes} >= {
        text for text in texts if not text.startswith("CREATE VIEW")
    } | {"INSERT INTO `a``b`: left out: rows are drawn, not read"}


@needs("psycopg", "initdb", "postgres", "psql", "pg_dump")
@pytest.mark.slow
def test_postgresql_and_its_dump_tell_the_same_tables(tmp_path, monkeypatch):
    from recorders.databases import PostgreSql

    dump = tmp_path / "dump.sql"
    with PostgreSql(lambda _: None, {}) as database:
        database.must(*statements("postgresql"))
        client = [
            "pg_dump",
            "-h",
            "127.0.0.1",
            "-p",
            str(database.port),
            "-U",
            "cdc",
            "-s",
            "-f",
            str(dump),
            "audit",
        ]
        subprocess.run(client, capture_output=True, check=True)
        monkeypatch.setenv(live.PASSWORD, SECRET)
        alive = read_schema([f"postgresql://secret@127.0.0.1:{database.port}/audit"])
        with pytest.raises(
            HarnessError, match=r'cannot be read: .*database "none" does not exist'
        ) as raised:
            read_schema([f"postgresql://secret@127.0.0.1:{database.port}/none"])
    assert SECRET not in "".join(traceback.format_exception(raised.value))
    dumped = read_schema([str(dump)], database="audit")
    assert alive.dialect == "postgresql"
    assert {user.table.name: user for user in alive.tables} == {
        user.table.name: user for user in dumped.tables
    }
    assert sorted(user.table.name for user in alive.tables) == [
        "child",
        "everything",
        "noway",
        "pairs",
        "parted",
        "parted_1",
    ]
    kinds = {(note.construct.split(" ")[0], note.action) for note in dumped.notes}
    assert kinds - {(note.construct.split(" ")[0], note.action) for note in alive.notes} == {
        ("CREATE", "left out: columns of this type are left out, too"),
        ("CREATE", "left out: no histories of a publication"),
    }


@pytest.mark.parametrize(
    ("url", "message"),
    [
        (
            f"mysql://u:{SECRET}@h/d",
            "the URL of mysql://h holds a password, which others can see; set CDC_CONFORMANCE_DATABASE_PASSWORD instead",
        ),
        (f"oracle://u:{SECRET}@h/d", f"no database has a URL oracle: {FORM}, with {SCHEMES}"),
        (
            f"jdbc:mysql://u:{SECRET}@h/d",
            f"no database has a URL of this form: {FORM}, with {SCHEMES}",
        ),
        (
            f"mysql://u:1/{SECRET}@h/d",
            f"this URL of mysql is not understood: {FORM}, and nothing else",
        ),
        (f"mysql://u:x/{SECRET}@h/d", f"this URL of mysql is not understood: {FORM}"),
        (
            f"tidb://u@h/d?password={SECRET}",
            f"this URL of tidb is not understood: {FORM}, and nothing else",
        ),
        ("mysql://u@h", f"this URL of mysql is not understood: {FORM}, and nothing else"),
        ("postgresql://h/d", f"this URL of postgresql is not understood: {FORM}, and nothing else"),
    ],
)
def test_a_url_with_a_password_or_another_form_is_refused(url, message):
    with pytest.raises(UsageError) as raised:
        read_schema([url])
    assert str(raised.value) == message
    assert SECRET not in "".join(traceback.format_exception(raised.value))


def test_an_address_has_defaults():
    assert str(live.parse_address("mariadb://a%40b@h/my%20db")) == "mariadb://a@b@h:3306/my db"
    assert live.parse_address("tidb://root@h/test").port == 4000
    assert live.parse_address("postgresql://u@[::1]:7/d") == live.Address(
        "postgresql", "u", "::1", 7, "d"
    )
    assert not live.is_url("C:/dumps/a.sql")


def test_a_driver_that_is_missing_names_the_extra(monkeypatch):
    monkeypatch.setitem(live.KINDS, "mysql", replace(live.KINDS["mysql"], module="no_such_driver"))
    with pytest.raises(UsageError) as raised:
        read_schema(["mysql://u@h/d"])
    assert str(raised.value) == (
        "mysql://u@h:3306/d needs the driver no_such_driver: install the extra `databases` "
        "(pip install 'cdc-conformance[databases]')"
    )


@needs("pymysql")
def test_a_database_that_does_not_answer_is_named():
    with pytest.raises(
        HarnessError, match=r"^mysql://u@127\.0\.0\.1:1/d cannot be read: .*Connection refused"
    ):
        read_schema(["mysql://u@127.0.0.1:1/d"])
