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
"""Spark's setting of jar files that a session has, separated by commas."""
PACKAGES: Final = "spark.jars.packages"
MASTER: Final = "spark.master"
REMOTE: Final = "spark.remote"
ADDRESS: Final = ("spark.driver.host", "spark.driver.bindAddress")
"""Where the driver listens."""
MEMORY: Final = "spark.driver.memory"
BOUND: Final = "spark.cdc.memory"
"""The MB of memory that each process of a decoder may have, of `--memory`; not known to Spark."""
FIRST_OFFSET: Final = "spark.cdc.firstOffset"
"""A setting of a call, unknown to Spark: this number is added to the offsets of the records before
they are decoded, and subtracted again from those of the decoder's rows.
"""
IN_PARTITION: Final = "spark.cdc.inPartition"
"""A setting of a call, unknown to Spark: the records are spread over partitions of so many
messages, whose offsets begin at 0; the decoder's rows get the original partitions and offsets
again.
"""
OTHER: Final = "other"
"""In the settings of one call, the value of a setting that is true or false: the opposite of what
the session has.
"""
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
"""A regular expression of the settings' names that a user may give: they begin with `spark.` and
are not OWNED.
"""


HIDDEN: Final = "..."
"""Stands for a secret wherever a setting is shown."""
_SECRET: Final = re.compile(
    "secret|passw|token|credential|jaas|signature|[.]sas[.]|key", re.IGNORECASE
)
"""Parts of a setting's name that say that its value may be secret."""
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
    """Returns the setting of `--spark-conf` if a user may give it. Raises UsageError if its name
    does not begin with `spark.`, or if the harness itself sets it (OWNED).
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
"""A regular expression of the URLs that `--master` takes."""
SERVERS: Final = r"^sc://[^/]+(/.*)?$"
"""A regular expression of the URLs that `--remote` takes."""
_PACKAGE: Final = r"[^:/,\s]+[:/][^:/,\s]+[:/][^:/,\s]+"
PACKAGE_LISTS: Final = rf"^{_PACKAGE}(,{_PACKAGE})*$"
"""A regular expression of what `--spark-packages` takes: Maven packages, separated by commas."""


def master_url(url: str) -> str:
    """Returns the URL of a Spark master. Raises UsageError unless it is one of the forms that
    `--master` takes.
    """
    if not re.search(MASTERS, url):
        raise UsageError(
            f"--master {hide_in_urls(url)!r}: expected spark://HOST:PORT, yarn,"
            " k8s://https://HOST:PORT or local[N]"
        )
    return url


def server_url(url: str) -> str:
    """Returns the URL of a Spark Connect server. Raises UsageError unless it has the form
    sc://HOST:PORT.
    """
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
    """The settings of a session that a user's options ask for: those of `--spark-conf`
    (`user_conf`), and under Spark's names those of `--master`, `--remote` and `--spark-packages`.
    Raises UsageError for options that exclude each other.
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
