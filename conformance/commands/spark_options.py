"""The options that place and set the Spark session of a decoder."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from typing import Any, Final

import click

from conformance.commands.shell import Assignment, ParamType
from conformance.engines import spark_conf
from conformance.engines.memory import DEFAULT_MB
from generators.errors import UsageError


class SparkSetting(Assignment):
    """The type of --spark-conf: KEY=VALUE, a setting of Spark's session."""

    name = "setting"
    names = spark_conf.NAMES

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[str, str]:
        """Splits KEY=VALUE of --spark-conf for click. Raises UsageError for another form, and for a
        setting that the harness sets itself.
        """
        name, equals, setting = (
            (value[0], "=", value[1]) if isinstance(value, tuple) else str(value).partition("=")
        )
        if not equals or not name or not setting:
            safe_text = (
                spark_conf.HIDDEN
                if spark_conf.is_secret(str(value))
                else spark_conf.hide_in_urls(str(value))
            )
            raise UsageError(
                f"--spark-conf {safe_text!r}: expected KEY=VALUE, such as"
                " spark.sql.ansi.enabled=false"
            )
        return spark_conf.check_setting(name, setting)


class Checked(ParamType):
    """The type of an option whose text a function checks, which raises UsageError. `pattern` is a
    regular expression of legal texts, for the schema of configuration files.
    """

    def __init__(self, name: str, check: Callable[[str], object], pattern: str) -> None:
        self.name, self.pattern, self._check = name, pattern, check

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Checks an option's text for click, by the function that this type was made with, and
        returns it. Raises UsageError.
        """
        self._check(str(value))
        return str(value)


MASTER = click.option(
    "--master",
    metavar="URL",
    type=Checked("master", spark_conf.master_url, spark_conf.MASTERS),
    help=(
        "The Spark cluster, as Spark names it: spark://HOST:PORT, yarn, k8s://https://HOST:PORT;"
        " default: this machine."
    ),
)
_OPTIONS: Final = (
    MASTER,
    click.option(
        "--remote",
        metavar="URL",
        type=Checked("server", spark_conf.server_url, spark_conf.SERVERS),
        help="A server of Spark Connect: sc://HOST:PORT.",
    ),
    click.option(
        "--spark-packages",
        "spark_packages",
        multiple=True,
        metavar="G:A:V,...",
        type=Checked("packages", spark_conf.parse_packages, spark_conf.PACKAGE_LISTS),
        help="Packages of a Maven registry to add to Spark, with what they depend on; repeatable.",
    ),
    click.option(
        "--spark-conf",
        multiple=True,
        metavar="KEY=VALUE",
        type=SparkSetting(),
        help=(
            "A setting of Spark's session, such as spark.driver.memory=4g; repeatable. spark.jars"
            " names jars to add."
        ),
    ),
    click.option(
        "--memory",
        type=click.IntRange(0),
        default=DEFAULT_MB,
        show_default=True,
        metavar="MB",
        help=(
            "Memory that each process of a decoder may have, beside the heap of Spark's JVM; 0: no"
            " bound. Linux."
        ),
    ),
)
"""The options that `spark_options` adds to a command."""


def check_not_remote(command: str, settings: Mapping[str, str]) -> None:
    """Raises UsageError if the settings place the session on a server of Spark Connect: `command`,
    whose name is for the error, needs Spark's driver in a process of this machine.
    """
    if spark_conf.REMOTE in settings:
        server = spark_conf.hide_in_urls(settings[spark_conf.REMOTE])
        raise UsageError(
            f"--remote {server}: {command} needs Spark's driver here; --master names a cluster"
        )


def check_local(settings: object) -> None:
    """Raises UsageError if the settings place the session on a cluster, which `--watch` cannot use:
    the workers there would not read the changed decoder again.
    """
    if isinstance(settings, Mapping) and (place := spark_conf.cluster_url(settings)):
        cluster = spark_conf.hide_in_urls(place)
        raise UsageError(
            f"--watch watches on this machine, since workers of {cluster} get a module once"
        )


def spark_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Decorates a command with the options that place and set its Spark session; the command gets
    their values as one `spark_conf`, settings by Spark's names.
    """

    @functools.wraps(command)
    def run_with_session(
        *,
        master: str | None,
        remote: str | None,
        spark_packages: tuple[str, ...],
        memory: int,
        **command_options: Any,
    ) -> Any:
        """Calls the command with one `spark_conf`, the settings of the session, in place of the
        values of the session's options.
        """
        command_options["spark_conf"] = spark_conf.settings_of_options(
            dict(command_options["spark_conf"]),
            master=master or "",
            remote=remote or "",
            added_packages=spark_packages,
        )
        if memory != DEFAULT_MB:
            command_options["spark_conf"][spark_conf.BOUND] = str(memory)
        return command(**command_options)

    for option in reversed(_OPTIONS):
        run_with_session = option(run_with_session)
    return run_with_session
