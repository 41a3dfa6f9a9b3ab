"""Spark's source and the Kafka client with a token: both get it from an OIDC endpoint, and the
broker checks its signature.
"""

import base64
import json
import shutil
import subprocess
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from conformance.brokers.embedded import EmbeddedKafka
from conformance.brokers.spark_options import spark_options
from generators.model import Message
from generators.publishing import kafka as publishing
from generators.publishing.cluster import Cluster
from generators.publishing.properties import check
from generators.publishing.topics import create_topic
from spark_checks.services.engine import read_kafka

pytestmark = [
    *(pytest.mark.kafka, pytest.mark.slow),
    pytest.mark.skipif(shutil.which("openssl") is None, reason="openssl makes the key"),
]

OAUTH = "org.apache.kafka.common.security.oauthbearer"
HANDLER = "listener.name.secured.oauthbearer.sasl"


def base64url(content):
    return base64.urlsafe_b64encode(content).rstrip(b"=").decode("ascii")


@pytest.fixture(scope="module")
def key(tmp_path_factory):
    """A private key, with its public half beside it as a set of keys in JSON."""
    path = tmp_path_factory.mktemp("tokens") / "key"
    subprocess.run(["openssl", "genrsa", "-out", path, "2048"], check=True, capture_output=True)
    line = subprocess.run(
        ["openssl", "rsa", "-in", path, "-noout", "-modulus"],
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    modulus = base64url(bytes.fromhex(line.strip().partition("=")[2]))
    public = {"kty": "RSA", "kid": "1", "alg": "RS256", "use": "sig", "e": "AQAB", "n": modulus}
    path.with_suffix(".json").write_text(json.dumps({"keys": [public]}), "ascii")
    return path


@pytest.fixture
def endpoint(key):
    """A server of tokens: its URL, and the credentials that it was shown."""
    shown = []

    class Tokens(BaseHTTPRequestHandler):
        def do_POST(self):
            shown.append(self.headers["Authorization"])
            self.rfile.read(int(self.headers["Content-Length"]))
            now = int(time.time())
            claims = {
                "sub": "carol",
                "aud": "kafka",
                "iat": now,
                "exp": now + 3600,
                "scope": "kafka",
            }
            parts = [{"alg": "RS256", "kid": "1", "typ": "JWT"}, claims]
            text = ".".join(base64url(json.dumps(part).encode()) for part in parts).encode()
            signed = subprocess.run(
                ["openssl", "dgst", "-sha256", "-sign", key],
                input=text,
                check=True,
                capture_output=True,
            )
            token = f"{text.decode()}.{base64url(signed.stdout)}"
            answer = json.dumps(
                {"access_token": token, "token_type": "Bearer", "expires_in": 3600}
            ).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)

        def log_message(self, *_):
            """Says nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Tokens) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/token", shown
        server.shutdown()


def test_a_token_opens_the_broker_to_both_clients(spark, key, endpoint):
    url, shown = endpoint
    keys = key.with_suffix(".json").as_uri()
    properties = {
        "sasl.enabled.mechanisms": "OAUTHBEARER",
        f"{HANDLER}.jaas.config": f"{OAUTH}.OAuthBearerLoginModule required;",
        f"{HANDLER}.server.callback.handler.class": f"{OAUTH}.OAuthBearerValidatorCallbackHandler",
        f"{HANDLER}.oauthbearer.jwks.endpoint.url": keys,
        f"{HANDLER}.oauthbearer.expected.audience": "kafka",
    }
    flags = (
        f"-Dorg.apache.kafka.sasl.oauthbearer.allowed.urls={keys}",
        f"-Dorg.apache.kafka.sasl.oauthbearer.allowed.files={key.with_suffix('.json')}",
    )
    with EmbeddedKafka(
        lambda _line: None, protocol="SASL_PLAINTEXT", properties=properties, classes=flags
    ) as broker:
        oidc = {
            "method": "oidc",
            "client.id": "me",
            "client.secret": "my-secret",
            "scope": "kafka",
            "token.endpoint.url": url,
        }
        token = {f"sasl.oauthbearer.{name}": value for name, value in oidc.items()}
        secured = {"security.protocol": "SASL_PLAINTEXT", "sasl.mechanism": "OAUTHBEARER", **token}
        cluster = Cluster(broker.secured, secured)
        check(cluster)
        create_topic(cluster, "tokens", 1)
        assert (
            publishing.publish(
                cluster, "tokens", [Message("", 0, None, b"x", timestamp_ms=1)]
            ).acknowledged
            == 1
        )
        before = len(shown)
        (row,) = read_kafka(
            spark, spark_options(cluster), "tokens", [("tokens", 0, 0, 0)]
        ).collect()
        assert bytes(row["value"]) == b"x"
    assert len(shown) > before > 0
    assert set(shown) == {"Basic " + base64.b64encode(b"me:my-secret").decode()}
