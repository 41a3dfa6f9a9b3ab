"""How a Kafka broker is reached: its address, and properties of the client in librdkafka's names.

Properties may be secrets: no text made here contains a property's value.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any, Final, TypeAlias

from generators.errors import HarnessError

PREFIX: Final = "cdc-conformance"
"""How the names of topics begin that are created here."""

_SHORTEST: Final = 4
"""The length of the shortest secret that is replaced in texts: a shorter one may be a part of
ordinary words.
"""


@dataclass(frozen=True, slots=True)
class Cluster:
    """A broker's address, HOST:PORT, with the properties of every client of it. `str()` of it is
    the address. Topics that are created have names that begin with `prefix`. If `topic` is given,
    it exists already, and a run uses it instead of creating one.
    """

    bootstrap: str
    properties: Mapping[str, str] = field(default_factory=dict, repr=False, hash=False)
    prefix: str = PREFIX
    topic: str = ""

    def __str__(self) -> str:
        return self.bootstrap

    @property
    def principal(self) -> str:
        """The name by which the broker probably knows this client, for error texts about
        permissions.
        """
        if name := self.properties.get("sasl.username"):
            return f"User:{name}"
        if mechanism := self.properties.get("sasl.mechanism") or self.properties.get(
            "sasl.mechanisms"
        ):
            return f"the client of {mechanism}"
        if any(
            name in self.properties
            for name in ("ssl.certificate.location", "ssl.certificate.pem", "ssl.keystore.location")
        ):
            return "the subject of the client's certificate"
        return "User:ANONYMOUS"

    def mask_secrets(self, client_text: str) -> str:
        """A text of the Kafka client in which `***` stands in place of the value of each property
        that is secret by its name (`secret`). Values that are shorter than _SHORTEST stay: they may
        be parts of ordinary words.
        """
        for name, value in self.properties.items():
            if secret(name) and len(value) >= _SHORTEST:
                client_text = client_text.replace(value, "***")
        return client_text


Target: TypeAlias = Cluster | str
"""A cluster, or the address of one that needs no properties."""


def parse_port(digits: str) -> int | None:
    """The TCP port that decimal digits name, however many they are; None outside 1 to 65535."""
    significant = digits.lstrip("0")
    return int(significant) if 1 <= len(significant) <= 5 and int(significant) <= 65535 else None


def as_cluster(target: Target) -> Cluster:
    """The target as a Cluster; a bare address has no properties."""
    return target if isinstance(target, Cluster) else Cluster(target)


def settings(target: Target) -> dict[str, Any]:
    """The settings with which a Kafka client reaches the target: the cluster's properties, and its
    address.
    """
    cluster = as_cluster(target)
    return {**cluster.properties, "bootstrap.servers": cluster.bootstrap}


def fields(target: Target) -> dict[str, Any]:
    """The target's fields for another process, which calls `Cluster(**fields)`. Never pass them as
    command line arguments, which other users can see.
    """
    cluster = as_cluster(target)
    return {"bootstrap": cluster.bootstrap, "properties": dict(cluster.properties)}


def client() -> ModuleType:
    """Imports the module of the Kafka client. Raises HarnessError if that fails."""
    try:
        import confluent_kafka
    except ImportError as error:
        raise HarnessError(
            f"the Kafka client does not load ({error}): {sys.executable} -m pip install"
            " confluent-kafka"
        ) from error
    return confluent_kafka


_SECRET: Final = (
    "password",
    "secret",
    "key.pem",
    "private.key",
    "oauthbearer.config",
    "assertion",
    "jaas",
    "token",
)
"""A property whose name has one of these parts has a secret as its value."""
_PLAIN: Final = ("sasl.oauthbearer.token.endpoint.url",)
"""Properties whose name has such a part and whose value is no secret."""


def secret(name: str) -> bool:
    """Whether a property's name says that its value is a secret, such as a password, not a file
    that has it.
    """
    return (
        name not in _PLAIN
        and not name.endswith((".location", ".file"))
        and any(part in name for part in _SECRET)
    )
