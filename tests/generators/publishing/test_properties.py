"""Properties of a user's Kafka client: how they are read, which are refused, and that no text has a
secret.
"""

import pytest

from generators.errors import UnknownName, UsageError
from generators.publishing import properties
from generators.publishing.cluster import Cluster, as_cluster, fields, secret, settings

SECRET = "hunter2-hunter2"
SCRAM = {
    "security.protocol": "SASL_PLAINTEXT",
    "sasl.mechanism": "SCRAM-SHA-256",
    "sasl.username": "alice",
}


def test_a_cluster_shows_no_value_and_travels_whole():
    cluster = Cluster("kafka:9092", {**SCRAM, "sasl.password": SECRET})
    assert (str(cluster), repr(cluster)) == (
        "kafka:9092",
        "Cluster(bootstrap='kafka:9092', prefix='cdc-conformance', topic='')",
    )
    assert settings(cluster)["sasl.password"] == SECRET
    assert Cluster(**fields(cluster)) == cluster
    assert {cluster: 1}[as_cluster(cluster)] == 1
    assert settings("kafka:9092") == {"bootstrap.servers": "kafka:9092"}


@pytest.mark.parametrize(
    ("given", "principal"),
    [
        (SCRAM, "User:alice"),
        ({"sasl.mechanism": "OAUTHBEARER"}, "the client of OAUTHBEARER"),
        (
            {"security.protocol": "ssl", "ssl.certificate.location": "a.pem"},
            "the subject of the client's certificate",
        ),
        ({}, "User:ANONYMOUS"),
    ],
)
def test_the_name_that_a_broker_knows_a_client_by(given, principal):
    assert Cluster("kafka:9092", given).principal == principal


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        *(
            ("sasl.password", True),
            ("ssl.key.password", True),
            ("ssl.keystore.password", True),
            ("ssl.key.pem", True),
        ),
        *(
            ("sasl.oauthbearer.client.secret", True),
            ("sasl.jaas.config", True),
            ("ssl.key.location", False),
        ),
        *(
            ("ssl.certificate.pem", False),
            ("sasl.username", False),
            ("sasl.oauthbearer.token.endpoint.url", False),
        ),
        ("security.protocol", False),
    ],
)
def test_which_values_are_secrets(name, expected):
    assert secret(name) is expected


def test_a_file_is_read_as_kcat_reads_it(tmp_path):
    file = tmp_path / "client.properties"
    file.write_text("# ours\n\n  security.protocol = SASL_SSL\nsasl.password=a=b#c \n", "utf-8")
    assert properties.read(file) == {"security.protocol": "SASL_SSL", "sasl.password": "a=b#c"}


def test_a_file_of_an_editor_of_windows_has_the_same_properties(tmp_path):
    file = tmp_path / "client.properties"
    file.write_bytes(b"\xef\xbb\xbfsecurity.protocol=SSL\r\nclient.id=a\r\n")
    assert properties.read(file) == {"security.protocol": "SSL", "client.id": "a"}


@pytest.mark.parametrize("character", ["\x0b", "\x0c", "\x1c", "\x85", "\u2028"])
def test_only_a_line_feed_ends_a_value(tmp_path, character):
    file = tmp_path / "client.properties"
    file.write_text(f"sasl.password=a{character}b\nclient.id=a\n", "utf-8")
    assert properties.read(file) == {"sasl.password": f"a{character}b", "client.id": "a"}


def test_errors_of_a_file_name_its_line_and_no_value(tmp_path):
    file = tmp_path / "client.properties"
    file.write_text(f"security.protocol=SSL\n{SECRET}\n", "utf-8")
    with pytest.raises(UsageError) as caught:
        properties.read(file)
    assert str(caught.value) == f"--broker-config {file}, line 2: expected NAME=VALUE"
    with pytest.raises(UsageError, match="No such file or directory"):
        properties.read(tmp_path / "absent")
    file.write_bytes(b"\xff=\xff")
    with pytest.raises(UsageError, match="it is not UTF-8"):
        properties.read(file)


def test_a_property_of_the_command_line(monkeypatch):
    monkeypatch.setenv("KAFKA_PASSWORD", SECRET)
    assert properties.parse_property("security.protocol=SSL") == ("security.protocol", "SSL")
    assert properties.parse_property("ssl.ca.location=a=b") == ("ssl.ca.location", "a=b")
    assert properties.parse_property("sasl.password=env:KAFKA_PASSWORD") == (
        "sasl.password",
        SECRET,
    )


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (SECRET, "--broker-property: expected NAME=VALUE, such as security.protocol=SASL_SSL"),
        (
            f"sasl.password={SECRET}",
            (
                "--broker-property sasl.password: every user of the machine sees the arguments of a command. Write it into "
                "the file of --broker-config, or name an environment variable: sasl.password=env:VARIABLE"
            ),
        ),
        (
            "sasl.password=env:NO_SUCH",
            "--broker-property sasl.password: there is no environment variable 'NO_SUCH'",
        ),
    ],
)
def test_a_secret_is_no_argument(text, expected):
    with pytest.raises(UsageError) as caught:
        properties.parse_property(text)
    assert str(caught.value) == expected


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (
            {"acks": "1"},
            "property acks of the broker cannot be given: a message counts when all replicas have it",
        ),
        (
            {"sasl.jaas.config": SECRET},
            "property sasl.jaas.config of the broker is of Java's client; write sasl.username and sasl.password",
        ),
        (
            {**SCRAM, "sasl.mechanism": "OAUTHBEARER"},
            "property sasl.oauthbearer.method of the broker: OAUTHBEARER is taken with oidc alone, and its token endpoint",
        ),
        (
            {"security.protocol": "sasl_sll"},
            (
                'the Kafka client refuses the properties of the broker: Invalid value "sasl_sll" for configuration property '
                '"security.protocol"'
            ),
        ),
        (
            SCRAM,
            (
                "the Kafka client refuses the properties of the broker: Failed to create consumer: sasl.username and "
                "sasl.password must be set"
            ),
        ),
    ],
)
def test_properties_that_are_refused(given, expected):
    with pytest.raises(UsageError) as caught:
        properties.check(Cluster("127.0.0.1:1", given))
    assert str(caught.value) == expected


def test_an_unknown_property_gets_the_nearest_match():
    with pytest.raises(
        UnknownName,
        match=r"unknown property of the broker 'sasl.pasword'\. Did you mean 'sasl.password'\?",
    ) as caught:
        properties.check(Cluster("127.0.0.1:1", {"sasl.pasword": SECRET}))
    assert SECRET not in str(caught.value)


def test_legal_properties_are_taken():
    properties.check(
        Cluster(
            "127.0.0.1:1",
            {**SCRAM, "sasl.password": SECRET, "compression.type": "zstd", "linger.ms": "7"},
        )
    )


def test_words_of_a_client_are_without_secrets():
    cluster = Cluster(
        "kafka:9092", {"sasl.password": SECRET, "ssl.key.password": "abc", "client.id": "me-and-me"}
    )
    assert (
        cluster.mask_secrets(f"'{SECRET}' is wrong, abc, me-and-me")
        == "'***' is wrong, abc, me-and-me"
    )
