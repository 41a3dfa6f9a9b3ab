"""What several folders of tests share: one broker and one Spark session for a whole run."""

from __future__ import annotations

import ast
import gc
import signal
import subprocess
from functools import cache

import pytest
from hypothesis import HealthCheck, settings

# A run in the background of a script ignores Ctrl-C, and so would every process whose end by Ctrl-C
# is tested.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
# So does one under nohup a hangup.
if signal.getsignal(signal.SIGHUP) is signal.SIG_IGN:
    signal.signal(signal.SIGHUP, signal.SIG_DFL)

# Cases are many small objects that live until the end; the command line sets the same.
gc.set_threshold(200_000, 50, 100)


def pytest_sessionfinish():
    """What is left is collected once; pytest would look through two million cases' objects twice
    more.
    """
    gc.collect()
    gc.freeze()


# How long an example takes says something of the machine, not of the code.
settings.register_profile("untimed", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("untimed")


def pytest_collection_modifyitems(items):
    """A test that takes the broker or a session, itself or by a fixture, needs it: no file has to
    say so.
    """
    for item in items:
        for need, fixture in {"kafka": "kafka", "spark": "class_archive"}.items():
            if fixture in getattr(item, "fixturenames", ()):
                item.add_marker(need)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    """Of several processes one runs the files that take the session, two those that take the child,
    one of them with those that take the broker: a JVM more costs ten seconds. Other files run
    anywhere, each in one process.
    """
    from xdist.scheduler import LoadFileScheduling

    class Sharing(LoadFileScheduling):
        def _split_scope(self, nodeid):
            file = super()._split_scope(nodeid)
            return shared(config.rootpath / file) or file

    return Sharing(config, log)


@cache
def shared(file):
    """What the tests of a file start, by its place and the names that its functions take; None if
    they start nothing.
    """
    functions = (
        node
        for node in ast.walk(ast.parse(file.read_text("utf-8")))
        if isinstance(node, ast.FunctionDef)
    )
    taken = {given.arg for function in functions for given in function.args.args}
    child = bool(taken & {"engine", "in_session"})
    if not child and ("spark" in taken or file.parent.name == "decoders"):
        return "session"
    if "kafka" in taken or (child and file.parent.name in ("load", "commands")):
        return "child and broker"
    # Two children, since one would run longer than all else.
    return "child" if child else None


@pytest.fixture(scope="session", autouse=True)
def schemas():
    """The small registry, for decoders that are called without a command."""
    from conformance.brokers.registry import ensure_registry

    ensure_registry(("debezium-avro",))


@pytest.fixture(scope="session")
def certificates(tmp_path_factory):
    """A folder with ca.pem, and server and client: .pem, .key, and -all.pem with both."""
    folder = tmp_path_factory.mktemp("certificates")

    def openssl(*words):
        subprocess.run(["openssl", *words], cwd=folder, check=True, capture_output=True)

    key = ("-newkey", "rsa:2048", "-nodes", "-keyout")
    openssl("req", "-x509", "-days", "2", *key, "ca.key", "-out", "ca.pem", "-subj", "/CN=ca")
    (folder / "names").write_text("subjectAltName=IP:127.0.0.1\n", "ascii")
    for name in ("server", "client"):
        openssl("req", *key, f"{name}.key", "-out", f"{name}.csr", "-subj", f"/CN={name}")
        signed = (
            "-CA",
            "ca.pem",
            "-CAkey",
            "ca.key",
            "-CAcreateserial",
            "-days",
            "2",
            "-extfile",
            "names",
        )
        openssl("x509", "-req", "-in", f"{name}.csr", *signed, "-out", f"{name}.pem")
        (folder / f"{name}-all.pem").write_text(
            (folder / f"{name}.key").read_text() + (folder / f"{name}.pem").read_text()
        )
    return folder


@pytest.fixture(scope="session")
def kafka():
    """An embedded broker."""
    from conformance.brokers.broker import broker

    with broker("embedded") as started:
        yield started


@pytest.fixture(scope="session")
def class_archive():
    """The options of the JVM's class archive as it is when the session starts; it may be written
    later.
    """
    from conformance.brokers.archive import archive_options, spark_classes

    return archive_options(spark_classes())


@pytest.fixture(scope="session")
def engine(class_archive):
    """A child that decodes, with the Kafka and Avro packages; its plans are interpreted, since each
    decodes few messages.
    """
    from conformance.engines.child import OURS, SMALL, ChildEngine

    with ChildEngine(packages=("kafka", "avro"), conf={**OURS, **SMALL}) as started:
        yield started


@pytest.fixture
def in_session(engine, monkeypatch):
    """A function that performs a command line in this process, on the child of the session: its
    exit code and what it said.
    """
    from click.testing import CliRunner
    from lent import Lent

    from conformance.commands.cli import cli

    # What a command says is text, too, where it goes into a pipe, and wraps at a terminal's width.
    monkeypatch.setenv("COLUMNS", "200")
    for module in ("conformance.engines.child", "conformance.engines.command"):
        monkeypatch.setattr(f"{module}.ChildEngine", lambda **_options: Lent(engine))

    def perform(*words):
        done = CliRunner().invoke(cli, list(map(str, words)))
        assert done.exception is None or isinstance(done.exception, SystemExit), repr(
            done.exception
        )
        return done.exit_code, done.stdout + done.stderr

    return perform


@pytest.fixture(scope="session")
def spark(class_archive):
    """A session with the Kafka and Avro packages; its plans are interpreted, since each call
    decodes few messages.
    """
    from conformance.brokers.spark import prepare_jars
    from conformance.engines.child import OURS, SMALL
    from spark_checks.services.session import session

    started = session(jars=prepare_jars(("kafka", "avro"), print), conf={**OURS, **SMALL})
    yield started
    started.stop()
