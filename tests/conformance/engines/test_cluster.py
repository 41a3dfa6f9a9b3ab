"""Masters and servers: whether they answer, by which address they reach this machine, and which brokers their workers reach."""

import importlib.util
import socket

import pytest

from conformance.brokers.embedded import free_ports
from conformance.engines.cluster import other_machines, places, settings, unreachable
from conformance.engines.command import engine_for
from generators.errors import HarnessError, UsageError


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
        ("yarn", []),
    ],
)
def test_a_url_names_hosts_and_ports(url, expected):
    assert places(url) == expected


@pytest.fixture
def listening():
    """The port of a socket that takes connections."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server.getsockname()[1]


def test_the_driver_listens_where_the_master_reaches_it(listening):
    conf = {"spark.master": f"spark://127.0.0.1:{free_ports(1)[0]},127.0.0.1:{listening}"}
    assert settings(conf) == {"spark.driver.host": "127.0.0.1", "spark.driver.bindAddress": "127.0.0.1"}
    assert settings(conf | {"spark.driver.host": "me"}) == {"spark.driver.bindAddress": "127.0.0.1"}
    assert settings({"spark.master": f"k8s://https://127.0.0.1:{listening}"}) == {}
    assert settings({"spark.master": "local[2]"}) == settings({}) == {}


def test_a_master_that_does_not_answer_is_named():
    port = free_ports(1)[0]
    with pytest.raises(HarnessError) as error:
        settings({"spark.master": f"spark://127.0.0.1:{port}"})
    assert str(error.value) == f"--master spark://127.0.0.1:{port} does not answer: 127.0.0.1:{port}: Connection refused"


def test_yarn_needs_its_configuration(monkeypatch):
    monkeypatch.delenv("HADOOP_CONF_DIR", raising=False)
    monkeypatch.delenv("YARN_CONF_DIR", raising=False)
    with pytest.raises(HarnessError, match=r"^--master yarn: set HADOOP_CONF_DIR or YARN_CONF_DIR"):
        settings({"spark.master": "yarn"})
    monkeypatch.setenv("YARN_CONF_DIR", "x")
    assert settings({"spark.master": "yarn"}) == {}


def test_a_server_needs_the_client_of_spark_connect(monkeypatch, listening):
    find = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name == "grpc" else find(name))
    with pytest.raises(HarnessError, match=r"needs the client of Spark Connect: pip install 'cdc-conformance\[connect\]'$"):
        settings({"spark.remote": f"sc://127.0.0.1:{listening}"})


def test_a_broker_on_loopback_serves_this_machine_alone():
    near, far = {"spark.master": "spark://127.0.0.1:7077"}, {"spark.master": "yarn"}
    assert [other_machines(one) for one in ({}, {"spark.master": "local[2]"}, near, far)] == [False, False, False, True]
    expected = "the broker 127.0.0.1:9 listens on loopback alone: machines of yarn other than this one need --broker HOST:PORT"
    assert unreachable(far, "embedded", "127.0.0.1:9") == expected
    assert unreachable(far, "running", "127.0.0.1:9") == unreachable(near, "embedded", "127.0.0.1:9") == ""


def test_a_command_does_not_run_on_a_cluster():
    with pytest.raises(UsageError, match=r"^--decoder 'cmd:x' does not run on yarn, which needs a decoder in Spark$"):
        engine_for("cmd:x", ("huawei-cdl-json",), conf={"spark.master": "yarn"})
