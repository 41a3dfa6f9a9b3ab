"""The options of commands that use a Kafka broker."""

from __future__ import annotations

import functools
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import click
from click.shell_completion import CompletionItem

from conformance.commands.shell import Assignment, ParamType, completions
from conformance.commands.spark_options import Checked
from generators.publishing.layouts import PLACEHOLDER_PATTERN, require_placeholder


class BrokerSpec(ParamType):
    """The type of --broker: auto, embedded, container or HOST:PORT; with `none` also "none", for a
    command that can do without Kafka.
    """

    name = "broker"

    def __init__(self, none: bool = True) -> None:
        self.none = none

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Checks the value of --broker for click and returns it. Raises UsageError with the legal
        values and the nearest match.
        """
        from conformance.brokers.broker import check_spec

        return str(value) if self.none and value == "none" else check_spec(str(value))

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        """Completes --broker in the shell: the kinds of brokers that begin with what is typed."""
        return completions(self.kinds(), incomplete)

    def kinds(self) -> tuple[str, ...]:
        """The values beside HOST:PORT, for completion and the schema of configuration files."""
        from conformance.brokers.broker import KINDS

        return (*KINDS, "none") if self.none else KINDS


class BrokerProperty(Assignment):
    """The type of --broker-property: NAME=VALUE, a property of the Kafka client."""

    name = "property"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[str, str]:
        """Splits NAME=VALUE of --broker-property for click. Raises UsageError for a bad property,
        and for a secret in plain text.
        """
        from generators.publishing.properties import parse_property

        return (
            (str(value[0]), str(value[1]))
            if isinstance(value, tuple)
            else parse_property(str(value))
        )


BROKER: Final = click.option(
    "--broker",
    "broker_spec",
    type=BrokerSpec(),
    default="auto",
    show_default=True,
    metavar="BROKER",
    help="auto, embedded, container, HOST:PORT, or none (records go to Spark without Kafka).",
)


TOPIC_PATTERN: Final = click.option(
    "--topic-pattern",
    type=Checked("topics", require_placeholder, PLACEHOLDER_PATTERN),
    metavar="PATTERN",
    help=(
        "A topic for each table, named by {topic} (the writer's own), {database}, {schema} or"
        " {table}; default: one topic."
    ),
)
TOPIC: Final = click.option(
    "--topic",
    metavar="NAME",
    help="With HOST:PORT: a topic that is there; default: a new one, deleted at the end.",
)
PREFIX: Final = click.option(
    "--topic-prefix",
    metavar="TEXT",
    help="How names of created topics begin; default: cdc-conformance.",
)
_ACCESS: Final = (
    click.option(
        "--broker-config",
        type=click.Path(path_type=Path, dir_okay=False),
        help=(
            "File of the Kafka client's properties in librdkafka's names, as `kcat -F` reads it:"
            " TLS, SASL."
        ),
    ),
    click.option(
        "--broker-property",
        multiple=True,
        metavar="NAME=VALUE",
        type=BrokerProperty(),
        help="A property of the Kafka client; repeatable. A secret: NAME=env:VARIABLE.",
    ),
    click.option(
        "--registry",
        metavar="URL",
        help=(
            "A schema registry of yours, for formats that need one; its NAME:PASSWORD in"
            " CDC_CONFORMANCE_REGISTRY_USER, its certificates in the file"
            " CDC_CONFORMANCE_REGISTRY_CA. Default: one of the harness's own."
        ),
    ),
)
"""The options that every command with a broker has."""


def asks_broker(
    *options: Callable[[Any], Any],
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Decorates a command with the given broker and topic options, and with --broker-config,
    --broker-property and --registry. The command gets the values of all of them as one
    `broker_options`.
    """

    def decorate(command: Callable[..., Any]) -> Callable[..., Any]:
        """The callback of a command, with the options added: it gets one `broker_options` in place
        of their values.
        """

        @functools.wraps(command)
        def run_with_broker_options(
            *arguments: Any,
            broker_spec: str | None,
            broker_config: Path | None,
            **command_options: Any,
        ) -> Any:
            """Calls the command with one `broker_options` in place of the values of its broker
            options.
            """
            from conformance.brokers.asked import broker_options

            pairs = command_options.pop("broker_property")
            prefix = command_options.pop("topic_prefix", None)
            topic = command_options.pop("topic", None) if TOPIC in options else None
            return command(
                *arguments,
                broker_options=broker_options(
                    broker_spec,
                    broker_config,
                    pairs,
                    topic,
                    prefix,
                    command_options.pop("registry"),
                ),
                **command_options,
            )

        for option in reversed((*options, *_ACCESS)):
            run_with_broker_options = option(run_with_broker_options)
        return run_with_broker_options

    return decorate
