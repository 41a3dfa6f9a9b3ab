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
"""The Java package of Kafka's login modules."""
_MODULES: Final = {
    "PLAIN": f"{_AUTH}.plain.PlainLoginModule",
    "SCRAM-SHA-256": f"{_AUTH}.scram.ScramLoginModule",
    "SCRAM-SHA-512": f"{_AUTH}.scram.ScramLoginModule",
    "OAUTHBEARER": f"{_AUTH}.oauthbearer.OAuthBearerLoginModule",
}
"""The login module of Java's client for each SASL mechanism."""
TOKENS: Final = "sasl.oauthbearer.token.endpoint.url"
"""The property with the URL at which OAuth tokens are fetched."""

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
"""Properties of librdkafka whose values Java's client takes as they are, with the names that they
have there.
"""

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
"""Beginnings of the names of librdkafka's properties that Spark's source does not need: only
producers have them, or they do not change what is read.
"""


def spark_options(target: Target) -> dict[str, str]:
    """The options of Spark's Kafka source (`kafka.NAME`: value) with which it reaches a broker: the
    address, and the user's librdkafka properties in the names of Java's client. Raises UsageError
    for a property that Java's client does not have.
    """
    cluster = as_cluster(target)
    remaining = {
        name: value for name, value in cluster.properties.items() if not name.startswith(UNREAD)
    }
    options = {"bootstrap.servers": cluster.bootstrap}
    for translate in (_protocol_options, _sasl_options, _ssl_options):
        options |= translate(remaining)
    for name in [name for name in remaining if name in SAME]:
        options[SAME[name]] = remaining.pop(name)
    if remaining:
        raise UsageError(
            f"property {min(remaining)} of the broker has no counterpart in Spark's Kafka source, which"
            " reads the topic; leave it out"
        )
    return {f"kafka.{name}": value for name, value in options.items()}


def _protocol_options(remaining: dict[str, str]) -> Mapping[str, str]:
    """Takes the security protocol out of the broker's properties `remaining`, and gives Java's
    option for it, in capitals as Java's client needs it.
    """
    protocol = remaining.pop("security.protocol", "")
    return {"security.protocol": protocol.upper()} if protocol else {}


def _sasl_options(remaining: dict[str, str]) -> Mapping[str, str]:
    """Takes the SASL properties out of `remaining`, and gives Java's options for them: the
    mechanism, and its login module, which holds name and password.
    """
    mechanism = remaining.pop("sasl.mechanisms", "") or remaining.pop("sasl.mechanism", "")
    if not mechanism:
        return {}
    if mechanism not in _MODULES:
        raise UsageError(
            f"SASL mechanism {mechanism!r} is not translated for Spark; known:"
            f" {', '.join(_MODULES)}"
        )
    if mechanism != "OAUTHBEARER":
        entries = {name: remaining.pop(f"sasl.{name}", "") for name in ("username", "password")}
        return {"sasl.mechanism": mechanism, "sasl.jaas.config": _jaas_config(mechanism, entries)}
    remaining.pop("sasl.oauthbearer.method", "")
    renamed_options = (
        ("clientId", "client.id"),
        ("clientSecret", "client.secret"),
        ("scope", "scope"),
    )
    entries = {
        java: remaining.pop(f"sasl.oauthbearer.{name}")
        for java, name in renamed_options
        if f"sasl.oauthbearer.{name}" in remaining
    }
    for pair in filter(None, remaining.pop("sasl.oauthbearer.extensions", "").split(",")):
        name, _, value = pair.partition("=")
        entries[f"extension_{name}"] = value
    return {
        "sasl.mechanism": mechanism,
        "sasl.jaas.config": _jaas_config(mechanism, entries),
        "sasl.login.callback.handler.class": f"{_AUTH}.oauthbearer.OAuthBearerLoginCallbackHandler",
    }


def _jaas_config(mechanism: str, entries: Mapping[str, str]) -> str:
    """The text of `sasl.jaas.config`: the mechanism's login module with the entries (such as name
    and password).
    """
    quoted = (f'{name}="{_escape_jaas(value)}"' for name, value in entries.items())
    return f"{_MODULES[mechanism]} required {' '.join(quoted)};"


def _escape_jaas(value: str) -> str:
    """The value as it stands between double quotes in `sasl.jaas.config`."""
    return value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")


def _ssl_options(remaining: dict[str, str]) -> Mapping[str, str]:
    """Takes the certificates and keys out of `remaining`, and gives Java's options for them. Raises
    UsageError for a file that cannot be read, and for a key that Java does not read.
    """
    options: dict[str, str] = {}
    if remaining.get("enable.ssl.certificate.verification") == "true":
        del remaining["enable.ssl.certificate.verification"]
    identification = remaining.pop("ssl.endpoint.identification.algorithm", None)
    if identification is not None:
        options["ssl.endpoint.identification.algorithm"] = (
            "" if identification == "none" else identification
        )
    if authorities := _pem_text(remaining, "ssl.ca"):
        options |= {"ssl.truststore.type": "PEM", "ssl.truststore.certificates": authorities}
    certificate = _pem_text(remaining, "ssl.certificate")
    key = _pem_text(remaining, "ssl.key", _check_key)
    password = remaining.pop("ssl.key.password", "")
    if certificate or key:
        options |= {
            "ssl.keystore.type": "PEM",
            "ssl.keystore.certificate.chain": certificate,
            "ssl.keystore.key": key,
        }
        options |= {"ssl.key.password": password} if password else {}
    if store := remaining.pop("ssl.keystore.location", ""):
        options |= {"ssl.keystore.type": "PKCS12", "ssl.keystore.location": store}
        options["ssl.keystore.password"] = options["ssl.key.password"] = remaining.pop(
            "ssl.keystore.password", ""
        )
    return options


def _pem_text(
    remaining: dict[str, str],
    name: str,
    check: Callable[[str, str], None] = lambda _name, _pem: None,
) -> str:
    """Takes the properties NAME.pem and NAME.location (such as `ssl.ca.pem`) out of `remaining`,
    and gives the text of the first or of the second's file; "" without either. `check` may refuse
    the text. Raises UsageError for a file that cannot be read, and for a text that is not PEM.
    """
    pem, location = remaining.pop(f"{name}.pem", ""), remaining.pop(f"{name}.location", "")
    origin = f"{name}.pem" if pem else f"{name}.location={location}"
    if location and not pem:
        try:
            pem = Path(location).read_text("ascii", errors="replace")
        except OSError as error:
            raise UsageError(
                f"property {origin} of the broker: {error.strerror}; Spark takes a file in PEM"
            ) from None
    if pem:
        if "-----BEGIN" not in pem:
            raise UsageError(
                f"property {origin} of the broker: Spark takes text in PEM, which this is not"
            )
        check(origin, pem)
    return pem


def _check_key(origin: str, pem: str) -> None:
    """Raises UsageError unless a private key in PEM is in PKCS#8, the one form that Java reads;
    `origin` is the name of the broker property that gave it.
    """
    if "BEGIN PRIVATE KEY" not in pem and "BEGIN ENCRYPTED PRIVATE KEY" not in pem:
        raise UsageError(
            f"property {origin} of the broker: Java reads keys in PKCS#8 alone (BEGIN PRIVATE KEY)."
            " Convert it: openssl pkcs8 -topk8 -nocrypt -in OLD -out NEW"
        )
