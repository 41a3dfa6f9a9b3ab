"""Settings of Spark's session that a user gives; the harness owns the others.

`--spark-conf KEY=VALUE` gives one by its name. `--master`, `--remote` and `--spark-packages` have
options of their own, and go with the others under Spark's names.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from itertools import chain
from typing import Final, NamedTuple

from generators.errors import UsageError

JARS: Final = "spark.jars"
PACKAGES: Final = "spark.jars.packages"
MASTER: Final = "spark.master"
REMOTE: Final = "spark.remote"
ADDRESS: Final = ("spark.driver.host", "spark.driver.bindAddress")
"""Where the driver listens."""
MEMORY: Final = "spark.driver.memory"
BOUND: Final = "spark.cdc.memory"
"""The MB of memory that each process of a decoder may have, of `--memory`; not known to Spark."""
FIRST_OFFSET: Final = "spark.cdc.firstOffset"
"""A setting of Spark decoders: the offsets of records are raised by it, those of the output lowered
again.
"""
IN_PARTITION: Final = "spark.cdc.inPartition"
"""A setting of Spark decoders: so many messages are in a partition, with offsets from 0 on; the
output has their own again.
"""
OTHER: Final = "other"
"""The value of a call's setting that is true where the session has false, and the reverse."""
OPTIONS: Final = ("spark.driver.extraJavaOptions", "spark.executor.extraJavaOptions")
"""Options of a JVM, which are added to the harness's."""

OWNED: Final[Mapping[str, str]] = {
    MASTER: "--master names a cluster",
    REMOTE: "--remote names a server of Spark Connect",
    "spark.app.name": "it names the harness",
    "spark.submit.": "the harness starts Spark itself",
    "spark.cdc.": "it is the harness's own",
    "spark.ui.": "a run has no UI",
    "spark.local.dir": "it is in the run's own folder, which TMPDIR places",
    "spark.sql.warehouse.dir": "it is in the run's own folder, which TMPDIR places",
    "spark.pyspark.": (
        "Spark's Python is the harness's own; with --master PYSPARK_PYTHON names that of the"
        " workers"
    ),
    "spark.sql.execution.arrow.pyspark.enabled": "rows reach the judge as Arrow",
}
"""Settings that a user cannot give, and why; a name with a dot at the end is a group of settings.
"""


NAMES: Final = (
    f"^(?!{'|'.join(re.escape(name) + '$' * (name[-1] != '.') for name in OWNED)})spark\\.[^=]+$"
)
"""The names that can be given, as a pattern."""


HIDDEN: Final = "..."
"""Stands for a secret wherever a setting is shown."""
_SECRET: Final = re.compile(
    "secret|passw|token|credential|jaas|signature|[.]sas[.]|key", re.IGNORECASE
)
_IN_URL: Final = re.compile(r"(?<=://)[^/\s@;,]+(?=@)|(?<=[;?&]token=)[^;&\s]+")
"""The user and password of a URL, and the token of a server of Spark Connect."""
_SHORT: Final = 4
"""Shorter values cannot be told from other text."""


def is_secret(name: str) -> bool:
    """Whether a setting with this name may have a secret value."""
    return bool(_SECRET.search(name))


def hide_in_setting(setting: str) -> str:
    """KEY=VALUE for an error text: without the value if it may be secret, and without secrets in
    URLs.
    """
    name, equals, _ = setting.partition("=")
    return f"{name}={HIDDEN}" if equals and is_secret(name) else hide_in_urls(setting)


def hide_in_urls(sentence: str) -> str:
    """The text with users, passwords and tokens removed from its URLs."""
    return _IN_URL.sub(HIDDEN, sentence)


def hide_in_text(words: str, conf: Mapping[str, str]) -> str:
    """A text of Spark or of a decoder with the secrets of these settings removed."""
    secrets = {value for name, value in conf.items() if is_secret(name)}
    secrets |= set(chain.from_iterable(map(_IN_URL.findall, conf.values())))
    for secret in sorted(secrets, key=len, reverse=True):
        if len(secret) >= _SHORT and secret not in ("true", "false") and not secret.isdecimal():
            words = words.replace(secret, HIDDEN)
    return words


def check_setting(name: str, value: str) -> tuple[str, str]:
    """Returns the setting. Raises UsageError if its name is no setting of Spark, or if the harness
    sets it.
    """
    if not name.startswith("spark."):
        raise UsageError(f"--spark-conf {name}: names of Spark's settings begin with spark.")
    for owned, why in OWNED.items():
        if name == owned or (owned.endswith(".") and name.startswith(owned)):
            raise UsageError(f"--spark-conf {name}: the harness sets it; {why}")
    return name, value


def merge_settings(conf: Mapping[str, str], user_conf: Mapping[str, str]) -> dict[str, str]:
    """A session's settings with the user's, which win. JVM options are joined, the user's last. If
    the user sets the driver's memory, the harness's settings of the heap's parts are left out: they
    may not fit into it.
    """
    if MEMORY in user_conf and OPTIONS[0] in conf:
        conf = {**conf, OPTIONS[0]: re.sub(r" ?-Xm[sn]\S+", "", conf[OPTIONS[0]])}
    joined_options = {
        name: f"{conf.get(name, '')} {user_conf[name]}".strip()
        for name in OPTIONS
        if name in user_conf
    }
    return {**conf, **user_conf, **joined_options}


MASTERS: Final = r"^(local(\[[^\]]+\])?|yarn|spark://[^/]+:[0-9]+|k8s://.+)$"
SERVERS: Final = r"^sc://[^/]+(/.*)?$"
_PACKAGE: Final = r"[^:/,\s]+[:/][^:/,\s]+[:/][^:/,\s]+"
PACKAGE_LISTS: Final = rf"^{_PACKAGE}(,{_PACKAGE})*$"


def master_url(url: str) -> str:
    """Returns the URL of a master. Raises UsageError if it is no such URL."""
    if not re.search(MASTERS, url):
        raise UsageError(
            f"--master {hide_in_urls(url)!r}: expected spark://HOST:PORT, yarn,"
            " k8s://https://HOST:PORT or local[N]"
        )
    return url


def server_url(url: str) -> str:
    """Returns the URL of a Spark Connect server. Raises UsageError if it is no such URL."""
    if not re.search(SERVERS, url):
        raise UsageError(
            f"--remote {hide_in_urls(url)!r}: expected sc://HOST:PORT, with parameters behind /; if"
            " any"
        )
    return url


class MavenPackage(NamedTuple):
    """A package of a Maven registry."""

    organisation: str
    name: str
    release: str


def parse_packages(listed: str) -> tuple[MavenPackage, ...]:
    """Parses Maven packages (`org.apache.spark:spark-avro_2.13:4.0.0`), separated by commas. Raises
    UsageError if a part of one is missing.
    """
    coordinates = []
    for package in listed.split(",") if listed else ():
        if not re.fullmatch(_PACKAGE, package):
            raise UsageError(f"--spark-packages {package!r}: expected GROUP:ARTEFACT:VERSION")
        organisation, name, release = re.split("[:/]", package)
        coordinates.append(MavenPackage(organisation, name, release))
    return tuple(coordinates)


def settings_of_options(
    user_conf: Mapping[str, str],
    *,
    master: str = "",
    remote: str = "",
    added_packages: Iterable[str] = (),
) -> dict[str, str]:
    """A user's settings, with those for which there are options of their own. Raises UsageError for
    settings that exclude each other.
    """
    package_list = ",".join(filter(None, [user_conf.get(PACKAGES, ""), *added_packages]))
    parse_packages(package_list)
    if master and remote:
        raise UsageError(f"--master {master} and --remote {remote}: give one of them")
    for name in ADDRESS:
        if name in user_conf and not cluster_url({MASTER: master_url(master)} if master else {}):
            raise UsageError(
                f"--spark-conf {name}: without --master Spark listens on loopback alone"
            )
    if remote and (package_list or JARS in user_conf):
        raise UsageError(
            f"--remote {server_url(remote)}: the server has its own jars; leave out"
            f" --spark-packages and {JARS}"
        )
    options = {
        MASTER: master and master_url(master),
        REMOTE: remote and server_url(remote),
        PACKAGES: package_list,
    }
    return {**user_conf, **{name: value for name, value in options.items() if value}}


def cluster_url(conf: Mapping[str, str]) -> str:
    """The URL of the cluster or server on which a session runs; "" for a session on this machine
    alone.
    """
    master = conf.get(MASTER, "local")
    return conf.get(REMOTE, "") or ("" if master.startswith("local") else master)
