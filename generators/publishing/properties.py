"""Properties of Kafka clients that a user gives: from a file as `kcat -F` reads it, or NAME=VALUE.

The client itself decides which names and values are legal. Errors never quote a value.
"""

from __future__ import annotations

import contextlib
import os
import re
import string
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from generators.errors import UnknownName, UsageError
from generators.publishing.cluster import Cluster, client, secret, settings

SERVERS: Final = ("bootstrap.servers", "metadata.broker.list")
"""Properties that name the broker, in place of --broker."""
FROM_ENVIRONMENT: Final = "env:"
"""Prefix of a value that is the name of an environment variable, which has the value."""

OWNED: Final[Mapping[str, str]] = {
    "acks": "a message counts when all replicas have it",
    "request.required.acks": "a message counts when all replicas have it",
    "enable.idempotence": "offsets are known only if nothing is stored twice",
    "transactional.id": "the harness's messages are in no transaction",
    "enable.auto.commit": "the harness commits nothing",
    "enable.auto.offset.store": "the harness commits nothing",
    "enable.partition.eof": "the ends of partitions are how a reading ends",
    "auto.offset.reset": "the harness names the offsets that it reads",
    "allow.auto.create.topics": "the harness creates its topics itself",
    "message.timeout.ms": "--timeout sets it",
    "delivery.timeout.ms": "--timeout sets it",
    "log_level": "the harness prints the client's errors itself",
}
"""Properties that cannot be given, and why."""

JAVA: Final[Mapping[str, str]] = {
    "sasl.jaas.config": "sasl.username and sasl.password",
    "ssl.truststore.location": "ssl.ca.location, a file in PEM",
    "ssl.truststore.password": "ssl.ca.location, a file in PEM",
    "ssl.truststore.type": "ssl.ca.location, a file in PEM",
    "sasl.login.callback.handler.class": "sasl.oauthbearer.method=oidc",
}
"""Names of Java's client, and librdkafka's names for the same."""

NAMES: Final = (
    *(
        "bootstrap.servers",
        "client.id",
        "client.rack",
        "group.id",
        "isolation.level",
        "compression.type",
        "linger.ms",
    ),
    *(
        "batch.size",
        "message.max.bytes",
        "fetch.wait.max.ms",
        "max.partition.fetch.bytes",
        "socket.timeout.ms",
    ),
    *(
        "security.protocol",
        "sasl.mechanism",
        "sasl.username",
        "sasl.password",
        "sasl.kerberos.service.name",
    ),
    *(
        "ssl.ca.location",
        "ssl.ca.pem",
        "ssl.certificate.location",
        "ssl.certificate.pem",
        "ssl.key.location",
        "ssl.key.pem",
    ),
    *(
        "ssl.key.password",
        "ssl.keystore.location",
        "ssl.keystore.password",
        "ssl.endpoint.identification.algorithm",
    ),
    *(
        "sasl.oauthbearer.method",
        "sasl.oauthbearer.client.id",
        "sasl.oauthbearer.client.secret",
        "sasl.oauthbearer.scope",
    ),
    *(
        "sasl.oauthbearer.extensions",
        "sasl.oauthbearer.token.endpoint.url",
        "enable.ssl.certificate.verification",
    ),
)
"""Usual names: the nearest match of an unknown one is among them."""


_METHOD: Final = "sasl.oauthbearer.method"
"""The property that says how a client of OAUTHBEARER gets its token."""


def parse_property(assignment: str) -> tuple[str, str]:
    """Splits NAME=VALUE; a value env:VARIABLE is read from the environment. Raises UsageError for
    another text, an unknown variable, and a secret that is given directly.
    """
    name, equals, value = assignment.partition("=")
    name = name.strip()
    if not equals or not name:
        raise UsageError(
            "--broker-property: expected NAME=VALUE, such as security.protocol=SASL_SSL"
        )
    if value.startswith(FROM_ENVIRONMENT):
        variable = value.removeprefix(FROM_ENVIRONMENT)
        if variable not in os.environ:
            raise UsageError(
                f"--broker-property {name}: there is no environment variable {variable!r}"
            )
        return name, os.environ[variable]
    if secret(name):
        raise UsageError(
            f"--broker-property {name}: every user of the machine sees the arguments of a command."
            " Write it into the file of --broker-config, or name an environment variable:"
            f" {name}=env:VARIABLE"
        )
    return name, value


def read(path: Path) -> dict[str, str]:
    """The Kafka client's properties in a file: NAME=VALUE lines, empty lines, lines that begin with
    #. Raises UsageError for a file that cannot be read, and for any other line.

    A byte order mark, which editors of Windows write, is no part of the first name. Not splitlines:
    it would also end a line inside a password that has U+0085 or U+2028.
    """
    try:
        lines = path.read_text("utf-8-sig").split("\n")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8"
        raise UsageError(f"--broker-config {path}: {reason}") from error
    properties: dict[str, str] = {}
    for number, line in enumerate(lines, 1):
        line = line.strip(string.whitespace)
        if line and not line.startswith("#"):
            name, equals, value = line.partition("=")
            if not equals or not name.strip():
                raise UsageError(f"--broker-config {path}, line {number}: expected NAME=VALUE")
            properties[name.strip(string.whitespace)] = value.strip(string.whitespace)
    return properties


def check(cluster: Cluster) -> None:
    """Checks the properties of a cluster. Raises UsageError for one that the client does not know,
    one whose value the client refuses, and one that the harness sets itself.
    """
    properties = cluster.properties
    for name in properties:
        if name in OWNED:
            raise UsageError(f"property {name} of the broker cannot be given: {OWNED[name]}")
        if name in JAVA:
            raise UsageError(
                f"property {name} of the broker is of Java's client; write {JAVA[name]}"
            )
    if (
        "OAUTHBEARER" in (properties.get("sasl.mechanism"), properties.get("sasl.mechanisms"))
        and properties.get(_METHOD) != "oidc"
    ):
        raise UsageError(
            f"property {_METHOD} of the broker: OAUTHBEARER is taken with oidc alone, and its token"
            " endpoint"
        )
    kafka = client()
    try:
        # The group is a name that the client demands; nothing is subscribed to.
        with contextlib.closing(
            kafka.Consumer({"group.id": "cdc-conformance", **settings(cluster), "log_level": 0})
        ):
            pass
    except kafka.KafkaException as error:
        refusal = cluster.mask_secrets(error.args[0].str())
        unknown = re.search(r'No such configuration property: "(.*)"', refusal)
        if unknown:
            raise UnknownName("property of the broker", unknown[1], NAMES) from None
        raise UsageError(
            f"the Kafka client refuses the properties of the broker: {refusal}"
        ) from None
