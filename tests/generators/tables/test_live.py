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
from generators.tables.reading import read

PATHS = os.pathsep.join([os.environ["PATH"], "/usr/sbin", *map(str, Path("/usr/lib/postgresql").glob("*/bin"))])
SECRET = "pa55-w0rd"
FORM = "scheme://user@host:port/database expected"
SCHEMES = "one of the schemes mysql, mariadb, tidb, postgresql"


def needs(driver, *programs):
    missing = [name for name in programs if shutil.which(name, path=PATHS) is None]
    if importlib.util.find_spec(driver) is None:
        missing.insert(0, f"the extra `databases` ({driver})")
    return pytest.mark.skipif(bool(missing), reason=f"needs {', '.join(missing)}")


MARIADB = [
    """CREATE TABLE everything (
 id bigint unsigned NOT NULL AUTO_INCREMENT COMMENT 'it''s; `key`', t1 tinyint(1) DEFAULT 1, t2 tinyint(4) unsigned,
 sm smallint(5) zerofill, me mediumint NOT NULL DEFAULT -5, i int(11), ib int(5), bg bigint, de decimal(10,2) DEFAULT 0,
 de2 decimal(65,30), de3 decimal(5,2) unsigned, f float, f2 float(7,3), f3 float(30), d2 double(10,4) unsigned, r real,
 b1 bit(1) DEFAULT b'1', b8 bit(64), ch char(16) CHARACTER SET latin1 COLLATE latin1_bin DEFAULT 'x', vc varchar(255) DEFAULT '',
 tt tinytext, tx text, mt mediumtext, lt longtext, bi binary(4) DEFAULT 'ab', vb varbinary(64) DEFAULT x'00ff', tb tinyblob,
 bl blob, mb mediumblob, lb longblob, da date DEFAULT '2024-01-01', ts timestamp NOT NULL DEFAULT '2024-01-01 00:00:00',
 dt datetime(3) DEFAULT current_timestamp(3) ON UPDATE current_timestamp(3), ti time(2), y year(4) DEFAULT 2024,
 en enum('a','it''s','x,y','\\\\') NOT NULL DEFAULT 'it''s', se set('a','b','c') DEFAULT 'a,c', js json,
 gs int GENERATED ALWAYS AS (i + 1) STORED, gv int AS (i * 2) VIRTUAL, inv int INVISIBLE DEFAULT 3,
 ex varchar(36) DEFAULT (uuid()), co text COMPRESSED, seq int CHECK (seq > 5.5 and seq <= 100), na nchar(5),
 PRIMARY KEY (id, t1), UNIQUE KEY u (vc, i), UNIQUE KEY p (tx(10)), KEY k (dt) COMMENT 'c', FULLTEXT KEY ft (lt),
 CONSTRAINT c1 CHECK (bg BETWEEN -5 AND 5), CONSTRAINT c2 CHECK (vc IN ('a','b') OR vc = 'c')
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_general_ci COMMENT='all; types'""",
    """CREATE TABLE `a``b` (id int PRIMARY KEY, e_id bigint unsigned, t1 tinyint(1),
 FOREIGN KEY (e_id, t1) REFERENCES everything (id, t1))""",
    "CREATE TABLE geo (id int PRIMARY KEY, g point NOT NULL, SPATIAL KEY sg (g))",
    "CREATE TABLE parts (id int, y int) PARTITION BY RANGE (y) (PARTITION p0 VALUES LESS THAN (2020))",
    "CREATE VIEW v AS SELECT id, vc FROM everything",
    "CREATE TRIGGER trg BEFORE INSERT ON `a``b` FOR EACH ROW SET NEW.e_id = NULL",
    "INSERT INTO `a``b` VALUES (1, NULL, NULL)",
    f"CREATE USER secret@'%' IDENTIFIED BY '{SECRET}'",
    "GRANT SELECT, SHOW VIEW ON audit.* TO secret@'%'",
]
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
        database.must(*(" ".join(statement.split()) for statement in MARIADB))
        client = ["mariadb-dump", "--no-defaults", f"--socket={database.directory}/socket", "--user=root", "--databases", "audit"]
        dump.write_bytes(subprocess.run(client, capture_output=True, check=True).stdout)
        url = f"mysql://secret@127.0.0.1:{database.port}/audit"
        monkeypatch.setenv("MYSQL_PWD", SECRET)
        alive = read([url])
        monkeypatch.setenv(live.PASSWORD, f"not-{SECRET}")
        with pytest.raises(HarnessError, match=r"cannot be read: .*Access denied for user 'secret'") as raised:
            read([url])
    assert SECRET not in "".join(traceback.format_exception(raised.value))
    dumped = read([str(dump)])
    assert (alive.dialect, dumped.dialect) == ("mariadb", "mariadb")
    assert alive.tables == dumped.tables
    other, everything, _parts = alive.tables
    assert [user.table.name for user in alive.tables] == ["a`b", "everything", "parts"]
    assert [f"{column.name}={column.type.key}" for column in everything.table.columns] == KEYS.replace("\n", "").split(",")
    assert everything.table.column("vb").default is not None
    assert everything.table.column("sm") == Column(
        "sm", replace(mysql.integer("smallint", zerofill=True), length=5), declared=everything.table.column("sm").declared
    )
    assert [check.column for check in everything.checks] == ["seq", "bg", "vc"]
    assert other.foreign_keys[0].parent == ("audit", None, "everything")
    texts = [f"{note.construct}: {note.action}" for note in alive.notes]
    for text in texts:
        assert text.startswith(
            (
                *("FOREIGN KEY", "\ufffd", "DEFAULT '\\0", "CHECK (json_valid", "GENERATED", "INVISIBLE", "UNIQUE KEY `p`"),
                *("FULLTEXT", "point", "SPATIAL", "PARTITION", "CREATE VIEW `v`"),
            )
        ), text
    assert {f"{note.construct}: {note.action}" for note in dumped.notes} >= {
        text for text in texts if not text.startswith("CREATE VIEW")
    } | {"INSERT INTO `a``b`: left out: rows are drawn, not read"}


POSTGRESQL = [
    "CREATE SCHEMA sales",
    "CREATE TYPE mood AS ENUM ('sad', 'it''s', 'a,b')",
    """CREATE TYPE sales."Kind" AS ENUM ('A', 'b')""",
    "CREATE TYPE pair AS (a int, b int)",
    "CREATE DOMAIN posint AS integer NOT NULL CHECK (VALUE > 0)",
    "CREATE DOMAIN short AS varchar(10) DEFAULT 'x'",
    """CREATE TABLE everything (id bigserial PRIMARY KEY, si smallint DEFAULT -5, i integer GENERATED BY DEFAULT AS IDENTITY,
 n numeric(10,2) DEFAULT 0.5 CHECK (n >= 0 AND n < 100), n2 numeric, n4 numeric(3,-2), mo money, r real, d double precision,
 b boolean DEFAULT true NOT NULL, bi bit(8) DEFAULT B'101', bv bit varying(63), c char(16) DEFAULT 'x', vcu varchar,
 vc varchar(255) DEFAULT 'it''s' COLLATE "C", t text DEFAULT 'a\\b', by bytea DEFAULT '\\x00ff', da date, ti time(3), tz timetz,
 ts timestamp DEFAULT now(), tsz0 timestamp(0) with time zone, iv3 interval(3), m mood DEFAULT 'sad', k sales."Kind", ma mood[],
 u uuid DEFAULT gen_random_uuid(), ine inet, jb jsonb DEFAULT '{}', h hstore, tv tsvector, r4 int4range, p point, qc "char",
 ia integer[] DEFAULT '{}', va varchar(5)[], do_ posint, sh short, g text GENERATED ALWAYS AS (vc || 'x') STORED,
 st text CHECK (st IN ('a','b')), bo boolean CHECK (bo), "Odd Name" int, UNIQUE (vc, i))""",
    "COMMENT ON TABLE everything IS 'all; types'",
    "COMMENT ON COLUMN everything.vc IS 'it''s'",
    "CREATE TABLE sales.child (id int, e_id bigint REFERENCES everything ON DELETE CASCADE, PRIMARY KEY (id))",
    "CREATE UNIQUE INDEX cu ON sales.child USING btree (e_id) WHERE id > 5",
    "CREATE UNIQUE INDEX cu2 ON sales.child (id, e_id)",
    "CREATE INDEX ci ON sales.child ((id + 1))",
    "CREATE INDEX ci2 ON sales.child (e_id DESC)",
    "ALTER TABLE sales.child REPLICA IDENTITY FULL",
    "CREATE TABLE pairs (id int, b pair)",
    "CREATE UNLOGGED TABLE ul (id int)",
    "CREATE TABLE parted (id int, y int) PARTITION BY RANGE (y)",
    "CREATE TABLE parted_1 PARTITION OF parted FOR VALUES FROM (1) TO (10)",
    "CREATE TABLE noway (a int, b tstzrange, EXCLUDE USING gist (b WITH &&))",
    "CREATE VIEW v AS SELECT 1 AS a",
    f"CREATE USER secret PASSWORD '{SECRET}'",
]


@needs("psycopg", "initdb", "postgres", "psql", "pg_dump")
@pytest.mark.slow
def test_postgresql_and_its_dump_tell_the_same_tables(tmp_path, monkeypatch):
    from recorders.databases import PostgreSql

    dump = tmp_path / "dump.sql"
    with PostgreSql(lambda _: None, {}) as database:
        database.must(*(" ".join(statement.split()) for statement in POSTGRESQL))
        client = ["pg_dump", "-h", "127.0.0.1", "-p", str(database.port), "-U", "cdc", "-s", "-f", str(dump), "audit"]
        subprocess.run(client, capture_output=True, check=True)
        monkeypatch.setenv(live.PASSWORD, SECRET)
        alive = read([f"postgresql://secret@127.0.0.1:{database.port}/audit"])
        with pytest.raises(HarnessError, match=r'cannot be read: .*database "none" does not exist') as raised:
            read([f"postgresql://secret@127.0.0.1:{database.port}/none"])
    assert SECRET not in "".join(traceback.format_exception(raised.value))
    dumped = read([str(dump)], database="audit")
    assert alive.dialect == "postgresql"
    assert {user.table.name: user for user in alive.tables} == {user.table.name: user for user in dumped.tables}
    assert sorted(user.table.name for user in alive.tables) == ["child", "everything", "noway", "parted", "parted_1"]
    kinds = {(note.construct.split(" ")[0], note.action) for note in dumped.notes}
    assert kinds - {(note.construct.split(" ")[0], note.action) for note in alive.notes} == {
        ("CREATE", "left out: tables with a column of this type are left out, too"),
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
        (f"jdbc:mysql://u:{SECRET}@h/d", f"no database has a URL of this form: {FORM}, with {SCHEMES}"),
        (f"mysql://u:1/{SECRET}@h/d", f"this URL of mysql is not understood: {FORM}, and nothing else"),
        (f"mysql://u:x/{SECRET}@h/d", f"this URL of mysql is not understood: {FORM}"),
        (f"tidb://u@h/d?password={SECRET}", f"this URL of tidb is not understood: {FORM}, and nothing else"),
        ("mysql://u@h", f"this URL of mysql is not understood: {FORM}, and nothing else"),
        ("postgresql://h/d", f"this URL of postgresql is not understood: {FORM}, and nothing else"),
    ],
)
def test_a_url_with_a_password_or_another_form_is_refused(url, message):
    with pytest.raises(UsageError) as raised:
        read([url])
    assert str(raised.value) == message
    assert SECRET not in "".join(traceback.format_exception(raised.value))


def test_an_address_has_defaults():
    assert str(live.address("mariadb://a%40b@h/my%20db")) == "mariadb://a@b@h:3306/my db"
    assert live.address("tidb://root@h/test").port == 4000
    assert live.address("postgresql://u@[::1]:7/d") == live.Address("postgresql", "u", "::1", 7, "d")
    assert not live.is_url("C:/dumps/a.sql")


def test_a_driver_that_is_missing_names_the_extra(monkeypatch):
    monkeypatch.setitem(live.KINDS, "mysql", replace(live.KINDS["mysql"], module="no_such_driver"))
    with pytest.raises(UsageError) as raised:
        read(["mysql://u@h/d"])
    assert str(raised.value) == (
        "mysql://u@h:3306/d needs the driver no_such_driver: install the extra `databases` "
        "(pip install 'cdc-conformance[databases]')"
    )


@needs("pymysql")
def test_a_database_that_does_not_answer_is_named():
    with pytest.raises(HarnessError, match=r"^mysql://u@127\.0\.0\.1:1/d cannot be read: .*Connection refused"):
        read(["mysql://u@127.0.0.1:1/d"])
