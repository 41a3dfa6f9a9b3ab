"""Checks what a session on a cluster needs before it starts: its jars, a master or server that
answers, and an address to which the cluster connects back.
"""

from __future__ import annotations

import importlib.util
import ipaddress
import os
import re
import socket
from collections.abc import Collection, Mapping
from contextlib import suppress
from typing import Final

from conformance.brokers.jars import Note
from conformance.brokers.spark import fetch_packages, prepare_jars
from conformance.engines.spark_conf import (
    ADDRESS,
    JARS,
    MASTER,
    PACKAGES,
    REMOTE,
    cluster_url,
    hide_in_urls,
    parse_packages,
)
from generators.errors import HarnessError, UsageError
from generators.publishing.cluster import parse_port

PATIENCE_S: Final = 5.0
"""Time limit of connecting to a master or a server."""
PORTS: Final = {"sc": 15002, "http": 80, "https": 443}
"""The ports of URLs without one."""


def host_ports(url: str) -> list[tuple[str, int]]:
    """Hosts and ports in the URL of a master or server; none for YARN, whose configuration files
    name them. Raises UsageError for a port outside 1 to 65535.
    """
    match = re.match(r"(?:k8s://)?(?:(\w+)://)?([^/;]*)", url)
    scheme, hosts = (match[1] or "https", match[2]) if match and "://" in url else ("", "")
    addresses = []
    for address in filter(None, hosts.split(",")):
        host, _, digits = address.rpartition(":")
        if not re.fullmatch("[0-9]+", digits):
            host, digits = address, str(PORTS.get(scheme, 443))
        port = parse_port(digits)
        if port is None:
            raise UsageError(f"{hide_in_urls(url)[:200]}: port {digits[:20]} is outside 1 to 65535")
        addresses.append((host.strip("[]"), port))
    return addresses


def session_jars(modules: Collection[str], conf: Mapping[str, str], note: Note) -> list[str]:
    """The jars that a session needs: those of Spark's `modules`, the user's, and those of packages;
    [] for a Spark Connect server, which has its own.
    """
    if conf.get(REMOTE):
        return []
    user_jars = [
        *filter(None, conf.get(JARS, "").split(",")),
        *map(str, fetch_packages(parse_packages(conf.get(PACKAGES, "")), note)),
    ]
    return [str(jar) for jar in prepare_jars(modules, note, extra_jars=user_jars)]


def driver_address(conf: Mapping[str, str]) -> dict[str, str]:
    """The settings for the address by which a cluster reaches this machine, where Spark's driver
    runs. {} for a session on this machine, and for clusters for which Spark itself chooses the
    address. Raises HarnessError if nobody answers within `PATIENCE_S`, or the address cannot be
    found out.
    """
    url = cluster_url(conf)
    if not url:
        return {}
    if conf.get(REMOTE) and importlib.util.find_spec("grpc") is None:
        raise HarnessError(
            f"--remote {hide_in_urls(url)} needs the client of Spark Connect: pip install"
            " 'cdc-conformance[connect]'"
        )
    if url == "yarn" and not {"HADOOP_CONF_DIR", "YARN_CONF_DIR"} & os.environ.keys():
        raise HarnessError(
            "--master yarn: set HADOOP_CONF_DIR or YARN_CONF_DIR to the folder of the cluster's"
            " configuration"
        )
    own_address, failures = "", []
    for host, port in host_ports(url):
        try:
            with socket.create_connection((host, port), PATIENCE_S) as answered:
                own_address = own_address or answered.getsockname()[0]
        except OSError as error:
            failures.append(f"{host}:{port}: {error.strerror or error}")
    if host_ports(url) and not own_address:
        option = "--remote" if conf.get(REMOTE) else "--master"
        raise HarnessError(f"{option} {hide_in_urls(url)} does not answer: {', '.join(failures)}")
    if not url.startswith("spark://"):
        return {}
    return {
        name: f"[{own_address}]" if ":" in own_address else own_address
        for name in ADDRESS
        if name not in conf
    }


def uses_other_machines(conf: Mapping[str, str]) -> bool:
    """Whether a session may run on other machines, which cannot reach a server that listens on this
    machine's loopback address. False if all hosts in the URL of its master or server are this
    machine.
    """
    url = cluster_url(conf)
    return bool(url) and not (
        host_ports(url) and all(map(_is_loopback, (host for host, _ in host_ports(url))))
    )


def _is_loopback(host: str) -> bool:
    """Whether all addresses of a host are this machine's own (loopback); false for a host whose
    name is not known.
    """
    with suppress(OSError, ValueError):
        return all(
            ipaddress.ip_address(entry[4][0]).is_loopback
            for entry in socket.getaddrinfo(host, None)
        )
    return False


def unreachable_broker(conf: Mapping[str, str], kind: str, bootstrap: str) -> str:
    """Why other machines of the session cannot read the broker; "" if they can, or there are
    none.
    """
    if not uses_other_machines(conf) or kind not in ("embedded", "container"):
        return ""
    target = conf.get(REMOTE) or conf.get(MASTER)
    return (
        f"the broker {bootstrap} listens on loopback alone: machines of {target} other than this one"
        " need --broker HOST:PORT"
    )
