"""What a session needs before it starts: its jars, a master or server that answers, an address to
connect back to.
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
from conformance.brokers.spark import packages as fetched
from conformance.brokers.spark import ready
from conformance.engines.spark_conf import ADDRESS, JARS, MASTER, PACKAGES, REMOTE, away, packages
from generators.errors import HarnessError

PATIENCE_S: Final = 5.0
"""Time limit of connecting to a master or a server."""
PORTS: Final = {"sc": 15002, "http": 80, "https": 443}
"""The ports of URLs without one."""


def places(url: str) -> list[tuple[str, int]]:
    """Hosts and ports of a master or server; none for YARN, whose own files name it."""
    match = re.match(r"(?:k8s://)?(?:(\w+)://)?([^/;]*)", url)
    scheme, hosts = (match[1] or "https", match[2]) if match and "://" in url else ("", "")
    named = (re.fullmatch(r"(.*?)(?::(\d+))?", host) for host in hosts.split(",") if host)
    return [
        (address[1].strip("[]"), int(address[2] or PORTS.get(scheme, 443)))
        for address in named
        if address
    ]


def jars(modules: Collection[str], conf: Mapping[str, str], note: Note) -> list[str]:
    """The jars of a session: of Spark's `modules` (`conformance.brokers.spark.ready`), of the user,
    of packages. A server has its own, so none.
    """
    if conf.get(REMOTE):
        return []
    named = [
        *filter(None, conf.get(JARS, "").split(",")),
        *map(str, fetched(packages(conf.get(PACKAGES, "")), note)),
    ]
    return [str(jar) for jar in ready(modules, note, named=named)]


def settings(conf: Mapping[str, str]) -> dict[str, str]:
    """What a session on other machines needs beside its own settings: the driver's address, as the
    master reaches it.

    {} for a session on this machine, and for clusters whose driver's address Spark itself chooses.
    Raises HarnessError if nobody answers within `PATIENCE_S`, or this machine lacks what leads
    there.
    """
    url = away(conf)
    if not url:
        return {}
    if conf.get(REMOTE) and importlib.util.find_spec("grpc") is None:
        raise HarnessError(
            f"--remote {url} needs the client of Spark Connect: pip install"
            " 'cdc-conformance[connect]'"
        )
    if url == "yarn" and not {"HADOOP_CONF_DIR", "YARN_CONF_DIR"} & os.environ.keys():
        raise HarnessError(
            "--master yarn: set HADOOP_CONF_DIR or YARN_CONF_DIR to the folder of the cluster's"
            " configuration"
        )
    own, why = "", []
    for host, port in places(url):
        try:
            with socket.create_connection((host, port), PATIENCE_S) as answered:
                own = own or answered.getsockname()[0]
        except OSError as error:
            why.append(f"{host}:{port}: {error.strerror or error}")
    if places(url) and not own:
        option = "--remote" if conf.get(REMOTE) else "--master"
        raise HarnessError(f"{option} {url} does not answer: {', '.join(why)}")
    if not url.startswith("spark://"):
        return {}
    return {name: f"[{own}]" if ":" in own else own for name in ADDRESS if name not in conf}


def other_machines(conf: Mapping[str, str]) -> bool:
    """Whether a session may run on machines to which the loopback of this one is another."""
    url = away(conf)
    return bool(url) and not (
        places(url) and all(map(_loopback, (host for host, _ in places(url))))
    )


def _loopback(host: str) -> bool:
    with suppress(OSError, ValueError):
        return all(
            ipaddress.ip_address(entry[4][0]).is_loopback
            for entry in socket.getaddrinfo(host, None)
        )
    return False


def unreachable(conf: Mapping[str, str], kind: str, bootstrap: str) -> str:
    """Why a broker cannot be read from other machines; "" if it can, or there are none."""
    if not other_machines(conf) or kind not in ("embedded", "container"):
        return ""
    where = conf.get(REMOTE) or conf.get(MASTER)
    return (
        f"the broker {bootstrap} listens on loopback alone: machines of {where} other than this one"
        " need --broker HOST:PORT"
    )
