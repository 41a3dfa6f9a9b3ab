"""The broker that a user asks for: its file and properties, what they cannot be given for, and what
Spark is told of them.
"""

import pytest
from text_tables import rows

from conformance.brokers.asked import broker_options
from conformance.brokers.spark_options import spark_options
from generators.errors import UsageError
from generators.publishing.cluster import Cluster


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "client.properties"
    path.write_text(
        "bootstrap.servers=kafka:9093\nsecurity.protocol=SSL\nclient.id=mine\n", "utf-8"
    )
    return path


def test_the_command_line_wins_over_the_file_and_the_file_names_the_broker(file):
    broker = broker_options("auto", file, [("client.id", "yours")], prefix="team-")
    cluster = broker.at(broker.spec)
    assert (cluster.bootstrap, cluster.prefix, cluster.topic) == ("kafka:9093", "team-", "")
    assert cluster.properties == {"security.protocol": "SSL", "client.id": "yours"}
    assert broker_options("other:9094", file).spec == "other:9094"
    assert broker_options(None, file).spec == "kafka:9093"


def test_without_anything_it_is_as_before():
    broker = broker_options()
    assert (broker.spec, dict(broker.properties), broker.topic, broker.prefix) == (
        "auto",
        {},
        "",
        "cdc-conformance",
    )
    assert (broker.kafka, broker_options("none").kafka) == (True, False)
    assert broker_options("embedded", None, [("compression.type", "zstd")]).properties == {
        "compression.type": "zstd"
    }


@pytest.mark.parametrize(
    ("spec", "given", "topic", "expected"), rows(__file__, "contradictions.txt")
)
def test_what_does_not_go_together(spec, given, topic, expected):
    pairs = [tuple(given.split("=", 1))] if given != "-" else []
    with pytest.raises(UsageError) as caught:
        broker_options(spec, None, pairs, topic if topic != "-" else None)
    assert str(caught.value).startswith(expected)


def test_what_spark_cannot_take_is_told_before_it_starts():
    broker = broker_options(
        "kafka:9093",
        None,
        [("security.protocol", "ssl"), ("ssl.cipher.suites", "ECDHE-RSA-AES128-GCM-SHA256")],
    )
    with pytest.raises(
        UsageError, match=r"property ssl\.cipher\.suites of the broker has no counterpart"
    ):
        broker.check_spark()


CERTIFICATE = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"
KEY = "-----BEGIN PRIVATE KEY-----\nBBBB\n-----END PRIVATE KEY-----\n"
LOGIN = "org.apache.kafka.common.security"


def translated(**given):
    options = spark_options(
        Cluster("kafka:9093", {name.replace("_", "."): value for name, value in given.items()})
    )
    assert options.pop("kafka.bootstrap.servers") == "kafka:9093"
    return {name.removeprefix("kafka."): value for name, value in options.items()}


def test_an_address_alone():
    assert spark_options("kafka:9092") == {"kafka.bootstrap.servers": "kafka:9092"}


@pytest.mark.parametrize("name", ["sasl_mechanism", "sasl_mechanisms"])
def test_name_and_password_are_in_a_login_module(name):
    assert translated(
        **{name: "SCRAM-SHA-512"},
        security_protocol="sasl_ssl",
        sasl_username="alice",
        sasl_password='pa"ss\\w;',
    ) == {
        "security.protocol": "SASL_SSL",
        "sasl.mechanism": "SCRAM-SHA-512",
        "sasl.jaas.config": f'{LOGIN}.scram.ScramLoginModule required username="alice" password="pa\\"ss\\\\w;";',
    }
    plain = translated(sasl_mechanism="PLAIN", sasl_username="a", sasl_password="b")
    assert (
        plain["sasl.jaas.config"]
        == f'{LOGIN}.plain.PlainLoginModule required username="a" password="b";'
    )


def test_tokens_come_from_an_endpoint():
    url = "https://login.test/token"
    assert translated(
        sasl_mechanism="OAUTHBEARER",
        sasl_oauthbearer_method="oidc",
        sasl_oauthbearer_client_id="me",
        sasl_oauthbearer_client_secret="s",
        sasl_oauthbearer_scope="kafka",
        sasl_oauthbearer_extensions="logicalCluster=lkc-1,pool=2",
        sasl_oauthbearer_token_endpoint_url=url,
    ) == {
        "sasl.mechanism": "OAUTHBEARER",
        "sasl.jaas.config": (
            f'{LOGIN}.oauthbearer.OAuthBearerLoginModule required clientId="me" clientSecret="s" scope="kafka" '
            'extension_logicalCluster="lkc-1" extension_pool="2";'
        ),
        "sasl.login.callback.handler.class": f"{LOGIN}.oauthbearer.OAuthBearerLoginCallbackHandler",
        "sasl.oauthbearer.token.endpoint.url": url,
    }


def test_certificates_and_keys_are_handed_over_as_text(tmp_path):
    for name, text in (("ca", CERTIFICATE), ("own", CERTIFICATE), ("key", KEY)):
        (tmp_path / name).write_text(text, "ascii")
    trusted = {"ssl.truststore.type": "PEM", "ssl.truststore.certificates": CERTIFICATE}
    assert translated(
        security_protocol="SSL",
        ssl_ca_location=str(tmp_path / "ca"),
        ssl_certificate_location=str(tmp_path / "own"),
        ssl_key_location=str(tmp_path / "key"),
        ssl_key_password="s",
        ssl_endpoint_identification_algorithm="none",
    ) == {
        "security.protocol": "SSL",
        "ssl.endpoint.identification.algorithm": "",
        **trusted,
        "ssl.keystore.type": "PEM",
        "ssl.keystore.certificate.chain": CERTIFICATE,
        "ssl.keystore.key": KEY,
        "ssl.key.password": "s",
    }
    https = translated(ssl_ca_pem=CERTIFICATE, ssl_endpoint_identification_algorithm="https")
    assert https == {"ssl.endpoint.identification.algorithm": "https", **trusted}
    store = {
        "ssl.keystore.type": "PKCS12",
        "ssl.keystore.location": "a.p12",
        "ssl.keystore.password": "s",
    }
    assert translated(ssl_keystore_location="a.p12", ssl_keystore_password="s") == {
        **store,
        "ssl.key.password": "s",
    }


def test_what_only_producers_have_is_left_out_and_names_of_java_are_used():
    assert translated(
        compression_type="zstd",
        linger_ms="5",
        fetch_wait_max_ms="20",
        isolation_level="read_committed",
        debug="all",
    ) == {"fetch.max.wait.ms": "20", "isolation.level": "read_committed"}


@pytest.mark.parametrize(("given", "expected"), rows(__file__, "untranslated.txt"))
def test_what_cannot_be_translated_is_named(given, expected):
    name, value = given.split("=", 1)
    with pytest.raises(UsageError) as caught:
        translated(**{name: KEY.replace("PRIVATE", "RSA PRIVATE") if value == "RSA" else value})
    assert str(caught.value) == expected
