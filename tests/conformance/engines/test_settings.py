"""What an engine is given: a decoder's file, settings of Spark, masters and servers."""

import importlib.util
import os
import re
import socket

import pytest

from conformance.brokers.embedded import free_ports
from conformance.brokers.registry import Remote
from conformance.commands.spark_options import SparkSetting, check_local, check_not_remote
from conformance.engines._child_log import ChildLog
from conformance.engines.child import QUICK
from conformance.engines.cluster import (
    driver_address,
    host_ports,
    unreachable_broker,
    uses_other_machines,
)
from conformance.engines.command import engine_for
from conformance.engines.memory import DEFAULT_MB, bound_mb, memory_remark, session_bound_mb
from conformance.engines.spark_conf import (
    BOUND,
    NAMES,
    OWNED,
    check_setting,
    cluster_url,
    hide_in_setting,
    hide_in_text,
    hide_in_urls,
    master_url,
    merge_settings,
    parse_packages,
    server_url,
    settings_of_options,
)
from conformance.engines.specs import check_decoder_file
from generators.errors import HarnessError, UnknownName, UsageError

MODULE = "import os\nfrom a.b import c as read\nVALUE = 1\n\nif VALUE:\n    def decode(records):\n        return records\n"


S3 = "spark.hadoop.fs.s3a.secret.key"


@pytest.mark.parametrize(
    "take",
    [
        lambda: SparkSetting().convert("=https://me:hunter2@host/x", None, None),
        lambda: SparkSetting().convert("https://me:hunter2@host/x", None, None),
        lambda: master_url("https://me:hunter2@host/x"),
        lambda: server_url("https://host/;token=hunter2"),
        lambda: check_not_remote("load", {"spark.remote": "sc://host/;token=hunter2"}),
        lambda: check_local({"spark.remote": "sc://host/;token=hunter2"}),
        lambda: Remote("me:hunter2@host:8081"),
    ],
)
def test_no_error_of_an_option_shows_the_password_of_a_url(take):
    with pytest.raises(UsageError) as caught:
        take()
    assert "hunter2" not in str(caught.value)
    assert "host" in str(caught.value)


@pytest.mark.parametrize(
    ("setting", "shown"),
    [
        (f"{S3}=hunter2", f"{S3}=..."),
        (
            "spark.hadoop.fs.azure.account.key.x.dfs=aGk=",
            "spark.hadoop.fs.azure.account.key.x.dfs=...",
        ),
        ("spark.databricks.Token=hunter2", "spark.databricks.Token=..."),
        ("spark.ssl.keyStorePassword=hunter2", "spark.ssl.keyStorePassword=..."),
        ("spark.hadoop.x.passwd=hunter2", "spark.hadoop.x.passwd=..."),
        ("spark.kafka.sasl.jaas.config=a b", "spark.kafka.sasl.jaas.config=..."),
        ("spark.x.url=https://me:hunter2@host/a", "spark.x.url=https://...@host/a"),
        ("spark.sql.ansi.enabled=false", "spark.sql.ansi.enabled=false"),
        ("spark.driver.memory=4g", "spark.driver.memory=4g"),
    ],
)
def test_a_setting_is_shown_without_what_may_be_a_secret(setting, shown):
    assert hide_in_setting(setting) == shown


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        (
            "sc://host:443/;use_ssl=true;token=hunter2;x=1",
            "sc://host:443/;use_ssl=true;token=...;x=1",
        ),
        ("mysql://root:hunter2@db/shop", "mysql://...@db/shop"),
        (
            "mail to a@b.example, see https://b.example/",
            "mail to a@b.example, see https://b.example/",
        ),
    ],
)
def test_an_address_is_shown_without_user_password_and_token(text, shown):
    assert hide_in_urls(text) == shown


def test_what_spark_or_a_decoder_says_is_shown_without_the_secrets_of_the_settings():
    conf = {
        S3: "hunter2",
        f"{S3}.more": "hunter2-and-more",
        "spark.remote": "sc://host/;token=t0ken",
        "spark.x.primary.key": "true",
        "spark.y.key.length": "2048",
        "spark.sql.shuffle.partitions": "1234",
    }
    text = "true: hunter2, hunter2-and-more, t0ken, 2048 and 1234"
    assert hide_in_text(text, conf) == "true: ..., ..., ..., 2048 and 1234"


@pytest.mark.parametrize("name", ["decode", "read", "VALUE", "os"])
def test_a_function_that_the_file_has_is_taken(tmp_path, name):
    (tmp_path / "mine.py").write_text(MODULE, "utf-8")
    check_decoder_file(f"{tmp_path / 'mine.py'}:{name}")


@pytest.mark.parametrize(
    "line", ["from other import *", "globals()['decod'] = 1", "def __getattr__(name): ..."]
)
def test_what_a_module_makes_while_it_runs_may_have_any_name(tmp_path, line):
    (tmp_path / "mine.py").write_text(line, "utf-8")
    check_decoder_file(f"{tmp_path / 'mine.py'}:decod")


@pytest.mark.parametrize("pattern", ["decode", "[1, *decode]", "{**decode}", "(1 | 2) as decode"])
def test_a_name_that_a_pattern_of_match_binds_is_a_function_of_the_file(tmp_path, pattern):
    (tmp_path / "mine.py").write_text(f"match 1:\n    case {pattern}:\n        pass\n", "utf-8")
    check_decoder_file(f"{tmp_path / 'mine.py'}:decode")


def test_known_functions_are_functions_alone(tmp_path):
    file = tmp_path / "mine.py"
    file.write_text(
        "import os\nfrom a import F\nOPS = {}\n\nif OPS:\n    def decode_rows(records, x):\n"
        "        def kind(kv):\n            return kv\n        return records\n\n"
        "class Decoder:\n    def decode(self, records):\n        return records\n\n"
        "def _helper():\n    return 1\n",
        "utf-8",
    )
    with pytest.raises(UnknownName) as refused:
        check_decoder_file(f"{file}:decod")
    assert str(refused.value) == (
        f"unknown function 'decod' of {file}. Did you mean 'Decoder'? Known: Decoder, decode_rows."
    )


@pytest.mark.parametrize("spec", ["cmd:node mine.py", "mine.module:decod", "mine.module"])
def test_commands_and_modules_are_not_parsed(spec):
    check_decoder_file(spec)


def test_a_wrong_function_a_wrong_file_and_a_wrong_syntax_are_told_with_their_place(
    tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.py").write_text(MODULE, "utf-8")
    with pytest.raises(
        UnknownName, match=r"unknown function 'decod' of mine\.py\. Did you mean 'decode'"
    ):
        check_decoder_file("mine.py:decod")
    with pytest.raises(UsageError, match=r"decoder other\.py:decode: there is no file other\.py"):
        check_decoder_file("other.py:decode")
    (tmp_path / "mine.py").write_text("def decode(records):\n    return records.where(\n", "utf-8")
    with pytest.raises(
        UsageError, match=r"decoder mine\.py:decode: mine\.py, line 2: '\(' was never closed"
    ):
        check_decoder_file("mine.py:decode")
    check_decoder_file("mine.py:decode", parse_file=False)


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("spark.master", "--master names a cluster"),
        ("spark.remote", "--remote names a server of Spark Connect"),
        ("spark.pyspark.python", "PYSPARK_PYTHON names that of the workers"),
        ("spark.ui.port", "a run has no UI"),
        ("spark.cdc.firstOffset", "the harness's own"),
        ("spark.local.dir", "which TMPDIR places"),
        ("spark.sql.execution.arrow.pyspark.enabled", "as Arrow"),
    ],
)
def test_settings_of_the_harness_are_refused_with_the_reason(name, why):
    with pytest.raises(UsageError, match=rf"^--spark-conf {name}: the harness sets it; .*{why}$"):
        check_setting(name, "x")
    assert not re.search(NAMES, name)


def test_every_other_name_of_spark_is_taken():
    for name in (
        "spark.driver.memory",
        "spark.masterful",
        "spark.sql.session.timeZone",
        "spark.jars",
        "spark.jars.packages",
    ):
        assert check_setting(name, "x") == (name, "x")
        assert re.search(NAMES, name)
    with pytest.raises(
        UsageError,
        match=r"^--spark-conf driver\.memory: names of Spark's settings begin with spark\.$",
    ):
        check_setting("driver.memory", "x")
    assert all(why and name.startswith("spark.") for name, why in OWNED.items())


def test_the_user_s_settings_win_and_a_jvm_gets_both_options():
    options = "spark.driver.extraJavaOptions"
    conf = {options: "-Xmn1g", "spark.a": "1"}
    assert merge_settings(conf, {"spark.a": "2", "spark.b": "3"}) == {
        options: "-Xmn1g",
        "spark.a": "2",
        "spark.b": "3",
    }
    assert merge_settings(conf, {options: "-Dx=y"}) == {options: "-Xmn1g -Dx=y", "spark.a": "1"}
    assert merge_settings({}, {options: "-Dx=y"}) == {options: "-Dx=y"}


def test_options_of_their_own_go_by_spark_s_names():
    assert settings_of_options({"spark.a": "1"}) == {"spark.a": "1"}
    given = settings_of_options(
        {"spark.jars.packages": "a:b:1"}, master="spark://h:7077", added_packages=("c:d:2,e:f:3",)
    )
    assert given == {"spark.master": "spark://h:7077", "spark.jars.packages": "a:b:1,c:d:2,e:f:3"}
    assert settings_of_options({}, remote="sc://h:15002/;token=x") == {
        "spark.remote": "sc://h:15002/;token=x"
    }
    assert parse_packages("a:b_2.13:1,c/d/2") == (("a", "b_2.13", "1"), ("c", "d", "2"))


def test_the_driver_s_address_can_be_set_on_a_cluster_alone():
    host = {"spark.driver.host": "me"}
    assert settings_of_options(host, master="yarn") == {**host, "spark.master": "yarn"}
    for master in ("", "local[2]"):
        with pytest.raises(
            UsageError,
            match=r"^--spark-conf spark.driver.host: without --master Spark listens on loopback",
        ):
            settings_of_options(host, master=master)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"master": "h:7077"},
            "--master 'h:7077': expected spark://HOST:PORT, yarn, k8s://https://HOST:PORT or local[N]",
        ),
        ({"master": "spark://h"}, "--master 'spark://h': expected spark://HOST:PORT"),
        ({"master": "sc://h:15002"}, "--master 'sc://h:15002': expected spark://HOST:PORT"),
        ({"remote": "spark://h:7077"}, "--remote 'spark://h:7077': expected sc://HOST:PORT"),
        (
            {"master": "yarn", "remote": "sc://h"},
            "--master yarn and --remote sc://h: give one of them",
        ),
        (
            {"remote": "sc://h", "added_packages": ("a:b:1",)},
            "--remote sc://h: the server has its own jars",
        ),
        ({"added_packages": ("a:b",)}, "--spark-packages 'a:b': expected GROUP:ARTEFACT:VERSION"),
    ],
)
def test_what_cannot_be_is_refused(options, message):
    with pytest.raises(UsageError, match=f"^{re.escape(message)}"):
        settings_of_options({}, **options)


def test_a_session_is_away_or_here():
    assert cluster_url({}) == cluster_url({"spark.master": "local[4]"}) == ""
    assert cluster_url({"spark.master": "yarn"}) == "yarn"
    assert cluster_url({"spark.remote": "sc://h"}) == "sc://h"


def test_the_harness_s_heap_sizes_go_where_the_user_sets_the_driver_s_memory():
    given = merge_settings(
        QUICK, {"spark.driver.memory": "512m", "spark.driver.extraJavaOptions": "-Xms64m"}
    )
    flags = "-XX:TieredStopAtLevel=1 -XX:ReservedCodeCacheSize=256m -XX:+UseParallelGC -Xms64m"
    assert given["spark.driver.extraJavaOptions"] == flags
    assert "-Xms1g -Xmn512m" in merge_settings(QUICK, {})["spark.driver.extraJavaOptions"]


def test_what_a_jvm_says_before_pythons_traceback_is_shown():
    log = ChildLog()
    os.write(
        log.writing_end,
        b"Heap size is too large\nTraceback (most recent call last):\n"
        + b"  File\n" * 20
        + b"Error: no\n",
    )
    log.close_writing_end()
    assert (log.tail(before_traceback=True), log.tail()[-9:]) == (
        "Heap size is too large",
        "Error: no",
    )


@pytest.mark.parametrize(
    ("given", "mb"),
    [
        ({}, DEFAULT_MB + 1024),
        ({BOUND: "100"}, 1124),
        ({BOUND: "100", "spark.driver.memory": "8g"}, 8292),
        ({BOUND: "0"}, 0),
        # Spark says that it is no size.
        ({BOUND: "100", "spark.driver.memory": "9" * 5000}, 100),
    ],
)
def test_the_heap_of_the_jvm_is_added_to_the_bound_of_memory(given, mb):
    assert (session_bound_mb(given), bound_mb(given)) == (mb, int(given.get(BOUND, DEFAULT_MB)))
    assert session_bound_mb({**given, "spark.remote": "sc://h"}) == bound_mb(given)


@pytest.mark.parametrize(
    "words",
    [
        "MemoryError",
        "FATAL ERROR: Reached heap limit Allocation failed - JavaScript heap out of memory",
        "There is insufficient memory for the Java Runtime Environment to continue.",
        "java.lang.OutOfMemoryError: Java heap space",
        "terminate called after throwing an instance of 'std::bad_alloc'",
        "memory allocation of 1048576 bytes failed",
        "fatal error: runtime: cannot allocate memory",
    ],
)
def test_last_words_of_memory_are_followed_by_the_bound(words):
    assert (
        memory_remark(words, 4096) == "\nEach process of the decoder may have 4,096 MB (--memory)."
    )
    assert (memory_remark(words, 0), memory_remark("KeyError: 'memories'", 4096)) == ("", "")


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("spark://a:7077", [("a", 7077)]),
        ("spark://a:7077,b:7078", [("a", 7077), ("b", 7078)]),
        ("spark://[::1]:7077", [("::1", 7077)]),
        ("k8s://https://api:6443", [("api", 6443)]),
        ("k8s://https://api", [("api", 443)]),
        ("k8s://api:6443", [("api", 6443)]),
        ("sc://a", [("a", 15002)]),
        ("sc://a:1/;token=x/y", [("a", 1)]),
        ("sc://a:00065535", [("a", 65535)]),
        ("yarn", []),
    ],
)
def test_a_url_names_hosts_and_ports(url, expected):
    assert host_ports(url) == expected


@pytest.mark.parametrize("port", ["0", "65536", "9" * 5000])
def test_a_port_of_a_url_is_one_of_tcp(port):
    for scheme in ("spark", "sc", "k8s"):
        with pytest.raises(UsageError, match=rf"{scheme}://a:{port[:20]}.* outside 1 to 65535"):
            host_ports(f"{scheme}://a:{port}")


@pytest.fixture
def listening():
    """The port of a socket that takes connections."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server.getsockname()[1]


def test_the_driver_listens_where_the_master_reaches_it(listening):
    conf = {"spark.master": f"spark://127.0.0.1:{free_ports(1)[0]},127.0.0.1:{listening}"}
    assert driver_address(conf) == {
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
    }
    assert driver_address(conf | {"spark.driver.host": "me"}) == {
        "spark.driver.bindAddress": "127.0.0.1"
    }
    assert driver_address({"spark.master": f"k8s://https://127.0.0.1:{listening}"}) == {}
    assert driver_address({"spark.master": "local[2]"}) == driver_address({}) == {}


def test_a_master_that_does_not_answer_is_named():
    port = free_ports(1)[0]
    with pytest.raises(HarnessError) as error:
        driver_address({"spark.master": f"spark://127.0.0.1:{port}"})
    assert (
        str(error.value)
        == f"--master spark://127.0.0.1:{port} does not answer: 127.0.0.1:{port}: Connection refused"
    )


def test_yarn_needs_its_configuration(monkeypatch):
    monkeypatch.delenv("HADOOP_CONF_DIR", raising=False)
    monkeypatch.delenv("YARN_CONF_DIR", raising=False)
    with pytest.raises(HarnessError, match=r"^--master yarn: set HADOOP_CONF_DIR or YARN_CONF_DIR"):
        driver_address({"spark.master": "yarn"})
    monkeypatch.setenv("YARN_CONF_DIR", "x")
    assert driver_address({"spark.master": "yarn"}) == {}


def test_a_server_needs_the_client_of_spark_connect(monkeypatch, listening):
    find = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util, "find_spec", lambda name: None if name == "grpc" else find(name)
    )
    with pytest.raises(
        HarnessError,
        match=r"needs the client of Spark Connect: pip install 'cdc-conformance\[connect\]'$",
    ):
        driver_address({"spark.remote": f"sc://127.0.0.1:{listening}"})


def test_a_broker_on_loopback_serves_this_machine_alone():
    near, far = {"spark.master": "spark://127.0.0.1:7077"}, {"spark.master": "yarn"}
    assert [
        uses_other_machines(conf) for conf in ({}, {"spark.master": "local[2]"}, near, far)
    ] == [
        False,
        False,
        False,
        True,
    ]
    expected = "the broker 127.0.0.1:9 listens on loopback alone: machines of yarn other than this one need --broker HOST:PORT"
    assert unreachable_broker(far, "embedded", "127.0.0.1:9") == expected
    assert (
        unreachable_broker(far, "running", "127.0.0.1:9")
        == unreachable_broker(near, "embedded", "127.0.0.1:9")
        == ""
    )


def test_a_command_does_not_run_on_a_cluster():
    with pytest.raises(
        UsageError,
        match=r"^--decoder 'cmd:x' does not run on yarn, which needs a decoder in Spark$",
    ):
        engine_for("cmd:x", ("huawei-cdl-json",), conf={"spark.master": "yarn"})
