"""Finds out why a client does not trust a broker's certificate: librdkafka has one error text for
all reasons, OpenSSL has one for each.
"""

from __future__ import annotations

import socket
import ssl
from pathlib import Path
from typing import Final

from generators.publishing.cluster import Cluster

_PATIENCE_S: Final = 5.0
"""Seconds to wait for a connection."""
_REMEDIES: Final = (
    ("expired", "Renew the broker's certificate"),
    ("not yet valid", "Compare the clocks of this machine and of the broker"),
    ("mismatch", "Name the broker by a name of its certificate"),
    ("", "ssl.ca.location names the authorities that are trusted, none of which issued this one"),
)
"""A part of OpenSSL's reason, and what the user can do; the first that matches is taken."""


def distrust(cluster: Cluster) -> str:
    """OpenSSL's reason against the certificate of the cluster's first address, with a remedy, for
    the error of a client that cannot connect; "" if it trusts the certificate or could not get it.
    """
    host, _, port = cluster.bootstrap.partition(",")[0].rpartition(":")
    context, properties = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT), cluster.properties
    context.check_hostname = (
        properties.get("ssl.endpoint.identification.algorithm", "https") == "https"
    )
    try:
        if place := properties.get("ssl.ca.location"):
            context.load_verify_locations(**{"capath" if Path(place).is_dir() else "cafile": place})
        else:
            context.load_default_certs()
        with socket.create_connection((host.strip("[]"), int(port)), _PATIENCE_S) as plain:
            context.wrap_socket(plain, server_hostname=host.strip("[]")).close()
    except ssl.SSLCertVerificationError as error:
        complaint = error.verify_message.rstrip(".")
        return (
            f"Its certificate: {complaint}."
            f" {next(remedy for word, remedy in _REMEDIES if word in complaint)}."
        )
    except (OSError, ValueError):
        pass
    return ""
