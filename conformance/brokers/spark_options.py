"""The options of Spark's Kafka source that reach a cluster: librdkafka's properties in the names of
Java's client.

Certificates and keys are handed over as text, because an option may be read where their files are
not.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

from generators.errors import UsageError
from generators.publishing.cluster import Target, as_cluster

_AUTH: Final = "org.apache.kafka.common.security"
_MODULES: Final = {
    "PLAIN": f"{_AUTH}.plain.PlainLoginModule",
    "SCRAM-SHA-256": f"{_AUTH}.scram.ScramLoginModule",
    "SCRAM-SHA-512": f"{_AUTH}.scram.ScramLoginModule",
    "OAUTHBEARER": f"{_AUTH}.oauthbearer.OAuthBearerLoginModule",
}
TOKENS: Final = "sasl.oauthbearer.token.endpoint.url"

SAME: Final = {
    **{
        name: name
        for name in (
            *(
                "client.id",
                "client.rack",
                "client.dns.lookup",
                "group.id",
                "isolation.level",
                "check.crcs",
            ),
            *(
                "fetch.min.bytes",
                "fetch.max.bytes",
                "max.partition.fetch.bytes",
                "metadata.max.age.ms",
            ),
            *(
                "connections.max.idle.ms",
                "socket.connection.setup.timeout.ms",
                "reconnect.backoff.ms",
            ),
            *("reconnect.backoff.max.ms", "retry.backoff.ms", "retry.backoff.max.ms", TOKENS),
        )
    },
    "fetch.message.max.bytes": "max.partition.fetch.bytes",
    "fetch.wait.max.ms": "fetch.max.wait.ms",
    "socket.receive.buffer.bytes": "receive.buffer.bytes",
    "socket.send.buffer.bytes": "send.buffer.bytes",
    "socket.timeout.ms": "request.timeout.ms",
}
"""Properties whose value Java's client takes as it is, and their names there."""

UNREAD: Final = (
    *(
        "compression.",
        "queue.",
        "linger.ms",
        "batch.",
        "message.",
        "retries",
        "max.in.flight",
        "sticky.partitioning.",
    ),
    *(
        "debug",
        "log.",
        "statistics.interval.ms",
        "socket.keepalive.enable",
        "socket.nagle.disable",
        "broker.address.family",
    ),
    *(
        "broker.address.ttl",
        "api.version.",
        "broker.version.fallback",
        "receive.message.max.bytes",
        "internal.termination.signal",
    ),
    *(
        "topic.metadata.",
        "metadata.request.",
        "enable.metrics.push",
        "consume.callback.max.messages",
        "partitioner",
    ),
)
"""Beginnings of properties that only producers have, or that do not change what is read."""


def spark_options(target: Target) -> dict[str, str]:
    """The options by name, with the address. Raises UsageError for a property without a counterpart
    in Java's client.
    """
    cluster = as_cluster(target)
    left = {
        name: value for name, value in cluster.properties.items() if not name.startswith(UNREAD)
    }
    options = {"bootstrap.servers": cluster.bootstrap}
    for translate in (_protocol, _sasl, _ssl):
        options |= translate(left)
    for name in [name for name in left if name in SAME]:
        options[SAME[name]] = left.pop(name)
    if left:
        raise UsageError(
            f"property {min(left)} of the broker has no counterpart in Spark's Kafka source, which"
            " reads the topic; leave it out"
        )
    return {f"kafka.{name}": value for name, value in options.items()}


def _protocol(left: dict[str, str]) -> Mapping[str, str]:
    protocol = left.pop("security.protocol", "")
    return {"security.protocol": protocol.upper()} if protocol else {}


def _sasl(left: dict[str, str]) -> Mapping[str, str]:
    """The mechanism with its login module, which holds name and password."""
    mechanism = left.pop("sasl.mechanisms", "") or left.pop("sasl.mechanism", "")
    if not mechanism:
        return {}
    if mechanism not in _MODULES:
        raise UsageError(
            f"SASL mechanism {mechanism!r} is not translated for Spark; known:"
            f" {', '.join(_MODULES)}"
        )
    if mechanism != "OAUTHBEARER":
        entries = {name: left.pop(f"sasl.{name}", "") for name in ("username", "password")}
        return {"sasl.mechanism": mechanism, "sasl.jaas.config": _jaas(mechanism, entries)}
    left.pop("sasl.oauthbearer.method", "")
    taken = (("clientId", "client.id"), ("clientSecret", "client.secret"), ("scope", "scope"))
    entries = {
        java: left.pop(f"sasl.oauthbearer.{name}")
        for java, name in taken
        if f"sasl.oauthbearer.{name}" in left
    }
    for pair in filter(None, left.pop("sasl.oauthbearer.extensions", "").split(",")):
        name, _, value = pair.partition("=")
        entries[f"extension_{name}"] = value
    return {
        "sasl.mechanism": mechanism,
        "sasl.jaas.config": _jaas(mechanism, entries),
        "sasl.login.callback.handler.class": f"{_AUTH}.oauthbearer.OAuthBearerLoginCallbackHandler",
    }


def _jaas(mechanism: str, entries: Mapping[str, str]) -> str:
    quoted = (f'{name}="{_escaped(value)}"' for name, value in entries.items())
    return f"{_MODULES[mechanism]} required {' '.join(quoted)};"


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")


def _ssl(left: dict[str, str]) -> Mapping[str, str]:
    """Certificates and keys. Raises UsageError for a file that cannot be read, and for a key that
    Java does not read.
    """
    options: dict[str, str] = {}
    if left.get("enable.ssl.certificate.verification") == "true":
        del left["enable.ssl.certificate.verification"]
    checked = left.pop("ssl.endpoint.identification.algorithm", None)
    if checked is not None:
        options["ssl.endpoint.identification.algorithm"] = "" if checked == "none" else checked
    if authorities := _pem(left, "ssl.ca"):
        options |= {"ssl.truststore.type": "PEM", "ssl.truststore.certificates": authorities}
    certificate, key = _pem(left, "ssl.certificate"), _pem(left, "ssl.key", _readable_key)
    password = left.pop("ssl.key.password", "")
    if certificate or key:
        options |= {
            "ssl.keystore.type": "PEM",
            "ssl.keystore.certificate.chain": certificate,
            "ssl.keystore.key": key,
        }
        options |= {"ssl.key.password": password} if password else {}
    if store := left.pop("ssl.keystore.location", ""):
        options |= {"ssl.keystore.type": "PKCS12", "ssl.keystore.location": store}
        options["ssl.keystore.password"] = options["ssl.key.password"] = left.pop(
            "ssl.keystore.password", ""
        )
    return options


def _pem(
    left: dict[str, str], name: str, check: Callable[[str, str], None] = lambda _name, _text: None
) -> str:
    """The text of NAME.pem, or of the file of NAME.location; "" without either."""
    text, place = left.pop(f"{name}.pem", ""), left.pop(f"{name}.location", "")
    origin = f"{name}.pem" if text else f"{name}.location={place}"
    if place and not text:
        try:
            text = Path(place).read_text("ascii", errors="replace")
        except OSError as error:
            raise UsageError(
                f"property {origin} of the broker: {error.strerror}; Spark takes a file in PEM"
            ) from None
    if text:
        if "-----BEGIN" not in text:
            raise UsageError(
                f"property {origin} of the broker: Spark takes text in PEM, which this is not"
            )
        check(origin, text)
    return text


def _readable_key(origin: str, text: str) -> None:
    if "BEGIN PRIVATE KEY" not in text and "BEGIN ENCRYPTED PRIVATE KEY" not in text:
        raise UsageError(
            f"property {origin} of the broker: Java reads keys in PKCS#8 alone (BEGIN PRIVATE KEY)."
            " Convert it: openssl pkcs8 -topk8 -nocrypt -in OLD -out NEW"
        )
