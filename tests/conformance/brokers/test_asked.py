"""The broker that a user asks for: its file, its properties, and what they cannot be given for."""

import pytest

from conformance.brokers.asked import asked
from generators.errors import UsageError


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "client.properties"
    path.write_text("bootstrap.servers=kafka:9093\nsecurity.protocol=SSL\nclient.id=mine\n", "utf-8")
    return path


def test_the_command_line_wins_over_the_file_and_the_file_names_the_broker(file):
    found = asked("auto", file, [("client.id", "yours")], prefix="team-")
    cluster = found.at(found.spec)
    assert (cluster.bootstrap, cluster.prefix, cluster.topic) == ("kafka:9093", "team-", "")
    assert cluster.properties == {"security.protocol": "SSL", "client.id": "yours"}
    assert asked("other:9094", file).spec == "other:9094"
    assert asked(None, file).spec == "kafka:9093"


def test_without_anything_it_is_as_before():
    found = asked()
    assert (found.spec, dict(found.properties), found.topic, found.prefix) == ("auto", {}, "", "cdc-conformance")
    assert (found.kafka, asked("none").kafka) == (True, False)
    assert asked("embedded", None, [("compression.type", "zstd")]).properties == {"compression.type": "zstd"}


RUNNING = "of the broker needs a running one, --broker HOST:PORT; this is --broker"


@pytest.mark.parametrize(
    ("spec", "pairs", "topic", "expected"),
    [
        ("embedded", [("security.protocol", "SSL")], None, f"property security.protocol {RUNNING} embedded"),
        ("none", [("client.id", "x")], None, f"property client.id {RUNNING} none"),
        ("auto", [], "mine", "--topic mine needs a running broker, --broker HOST:PORT; this is --broker auto"),
        (
            "auto",
            [("bootstrap.servers", "kafka")],
            None,
            "property bootstrap.servers of the broker: 'kafka' is not HOST:PORT, or several with commas",
        ),
        ("embeded", [], None, "unknown broker 'embeded'. Did you mean 'embedded'?"),
    ],
)
def test_what_does_not_go_together(spec, pairs, topic, expected):
    with pytest.raises(UsageError) as caught:
        asked(spec, None, pairs, topic)
    assert str(caught.value).startswith(expected)


def test_what_spark_cannot_take_is_told_before_it_starts():
    found = asked("kafka:9093", None, [("security.protocol", "ssl"), ("ssl.cipher.suites", "ECDHE-RSA-AES128-GCM-SHA256")])
    with pytest.raises(UsageError, match=r"property ssl\.cipher\.suites of the broker has no counterpart"):
        found.check_spark()
