"""The command `publish`: seeded load to a broker, from this process or Spark's executors; a
comparison with the bare client.
"""

from __future__ import annotations

import itertools
import json
import statistics
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import click

from conformance.commands.brokers import BrokerSpec, asks_broker
from conformance.commands.options import TableOptions, pass_options
from conformance.commands.shell import (
    FORMAT_NAME,
    PROFILE,
    FiniteFloat,
    Named,
    given_tables,
    print_notice,
    table_load,
    user_tables,
)
from conformance.commands.spark_options import MASTER
from generators.bulk import orders, traffic
from generators.bulk.orders import LoadOptions
from generators.errors import HarnessError, UsageError
from generators.model import Layout, Message, Table
from generators.profiles import Profile
from generators.publishing import kafka
from generators.publishing.cluster import Cluster, Target, client, fields, settings
from generators.publishing.layouts import placeholders, topic_of
from generators.publishing.pacing import (
    Published,
    PublishInterrupted,
    PublishStopped,
    publish_paced,
)
from generators.tables.load import TableLoad
from generators.wire_format import Format, get

if TYPE_CHECKING:
    from conformance.brokers.asked import BrokerOptions

ROUNDS = 7
"""Timed rounds of `--measure`, in each of which both clients publish all messages."""

_POLLED_EVERY = 1024
"""After so many messages the bare client handles acknowledgements."""
_MEASURED = 100_000
"""The number of messages of `--measure`, if --count does not say it."""
_INTERRUPTED = 130
"""The exit code after Ctrl-C."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PublishOptions:
    """The options of `publish`."""

    name: str
    profile: str | None
    count: int | None
    duration: float | None
    rate: float | None
    topic: str
    partitions: int
    seed: int
    broker_options: BrokerOptions
    ops: str | None
    keys: str
    rows: int
    transaction: int
    null_rate: float | None
    payload: int
    stamp: bool
    executors: int | None
    master: str | None
    timeout: float
    measure: bool
    table_options: TableOptions


@click.command(short_help="Sends seeded messages of a format to a broker.")
@click.argument("name", metavar="FORMAT", type=FORMAT_NAME)
@click.option(
    "--writer-profile",
    "profile",
    metavar="NAME",
    type=PROFILE,
    help="The profile; default: the format's last.",
)
@click.option(
    "--count",
    type=click.IntRange(1),
    help="Number of statements; default 10000 unless --duration is given.",
)
@click.option("--duration", type=FiniteFloat(min=0.1), help="Seconds.")
@click.option(
    "--rate",
    type=FiniteFloat(min=0, min_open=True),
    help="Messages/s; default: as fast as possible.",
)
@click.option(
    "--topic",
    required=True,
    metavar="NAME",
    help=(
        "The topic, created if missing; with {topic}, {database}, {schema} or {table} in it, one"
        " for each that comes."
    ),
)
@click.option(
    "--partitions",
    type=click.IntRange(1),
    default=3,
    show_default=True,
    help="Partitions of the topic, at least.",
)
@click.option("--seed", type=int, default=1, show_default=True, help="Same seed, same messages.")
@asks_broker(
    click.option(
        "--broker",
        "broker_spec",
        type=BrokerSpec(none=False),
        metavar="HOST:PORT",
        help="A running broker.",
    )
)
@click.option(
    "--ops", metavar="WEIGHTS", help="Weights of the operations: insert=50,update=40,delete=10."
)
@click.option(
    "--keys",
    type=Named("key skew", lambda: orders.SKEWS),
    default="uniform",
    show_default=True,
    metavar="SKEW",
    help="Distribution of changes over keys: uniform, zipf or hot.",
)
@click.option("--rows", type=int, default=1, show_default=True, help="Rows per statement.")
@click.option(
    "--transaction", type=int, default=1, show_default=True, help="Statements per commit."
)
@click.option(
    "--null-rate", type=float, help="Share of NULL in the nullable column, 0 to 1; default 1/256."
)
@click.option(
    "--payload", type=int, default=0, show_default=True, help="Bytes of an extra text column."
)
@click.option(
    "--stamp", is_flag=True, help="Sets record timestamps to the scheduled times, not the writer's."
)
@click.option(
    "--executors",
    type=click.IntRange(1),
    help="Makes and publishes messages on this many Spark executor cores.",
)
@MASTER
@click.option(
    "--timeout",
    type=FiniteFloat(min=0.1),
    default=30,
    show_default=True,
    help="Seconds to wait without an acknowledgement.",
)
@click.option("--measure", is_flag=True, help="Compares the rate with the bare client's instead.")
@user_tables
@pass_options(PublishOptions)
def publish(options: PublishOptions) -> None:
    """Publishes seeded messages of a format to a broker and counts acknowledgements.

    Message i is due at start + i/rate. Latency counts from that time, so a slow broker shows as latency.

    \b
    Example: cdc-conformance publish ticdc-canal-json --broker 127.0.0.1:9092 --topic cdc --rate 5000 --duration 60
    Example: cdc-conformance publish debezium-json --tables orders.sql --broker 127.0.0.1:9092 --topic "{topic}"
    Example: cdc-conformance publish ticdc-canal-json --tables orders.sql --broker 127.0.0.1:9092 --topic "{database}_{table}"
    """
    from conformance.brokers.broker import broker
    from conformance.commands.shell import Progress

    if options.broker_options.spec == "auto":
        raise UsageError(
            "publish needs a running broker: --broker HOST:PORT, or bootstrap.servers in the file"
            " of --broker-config"
        )
    fmt = get(options.name)
    profile, globs = options.profile, (options.profile,) if options.profile else ()
    user_load = table_load(
        fmt,
        profile,
        given_tables(options.table_options, options.seed, (fmt.name,), globs),
        options.table_options.verbose,
    )
    selected_profile = (
        user_load[0] if user_load else fmt.profile(profile) if profile else fmt.profiles[-1]
    )
    load_options, tables = _load_options(options), None
    if user_load:
        tables = _load_with_ops(user_load[1], load_options, options)
    if options.master and not options.executors:
        raise UsageError("--master URL needs --executors N")
    if options.executors and (options.duration or options.measure):
        raise UsageError(
            "--executors takes --count; it cannot be combined with --duration or --measure"
        )
    has_placeholders = bool(placeholders(options.topic))
    if has_placeholders and (options.executors or options.measure):
        raise UsageError(
            f"--topic {options.topic} names several topics; it cannot be combined with --executors or"
            " --measure"
        )
    with (
        Progress() as note,
        broker(
            options.broker_options.spec, note=note, cluster_at=options.broker_options.at
        ) as started,
    ):
        if not has_placeholders:
            kafka.ensure_topic(started.cluster, options.topic, options.partitions, options.timeout)
        if options.measure:
            click.echo(
                json.dumps(
                    compare_rates(
                        started.cluster,
                        options.topic,
                        fmt,
                        selected_profile,
                        options.seed,
                        options.count or _MEASURED,
                        load_options,
                        note,
                    )
                )
            )
            return
        if options.executors:
            summary, code = _on_executors(
                fmt,
                selected_profile,
                started.cluster,
                options.topic,
                load_options,
                options,
                options.executors,
                note,
            )
        else:
            count = options.count or (None if options.duration else 10_000)
            asked_for = (fmt, selected_profile, options.seed)
            layout = Layout(partitions=options.partitions)
            seeded_messages = traffic.messages(
                *asked_for, count=count, layout=layout, options=load_options
            )
            if tables:
                seeded_messages = tables.messages(*asked_for, count, layout)
            if not has_placeholders:
                summary, code = _from_here(
                    seeded_messages, started.cluster, options.topic, options, note
                )
            else:
                with_table = zip(
                    seeded_messages,
                    itertools.repeat(orders.load_table(selected_profile.source)),
                    strict=False,
                )
                routed = Routed(
                    started.cluster,
                    options.topic,
                    options.partitions,
                    tables.messages_with_tables(*asked_for, count, layout)
                    if tables
                    else with_table,
                )
                summary, code = _from_here(routed, started.cluster, None, options, note)
                summary["topics"] = sorted(routed.topics)
    click.echo(
        json.dumps(
            {
                "topic": options.topic,
                "profile": selected_profile.name,
                "seed": options.seed,
                **summary,
            }
        )
    )
    sys.exit(code)


class Routed:
    """The messages, each with the topic that a pattern such as `{database}_{table}` gives for its
    table. A topic is created when its first message comes; `topics` are those that came.
    """

    def __init__(
        self,
        cluster: Cluster,
        pattern: str,
        partitions: int,
        messages: Iterable[tuple[Message, Table]],
    ) -> None:
        self.cluster, self.pattern, self.partitions = cluster, pattern, partitions
        self._messages = iter(messages)
        self.topics: set[str] = set()

    def __iter__(self) -> Iterator[Message]:
        return (
            replace(message, topic=self._topic(message.topic, table))
            for message, table in self._messages
        )

    def _topic(self, message_topic: str, table: Table) -> str:
        """The topic that the pattern gives for a message of the table; it is created if no message
        went there before.
        """
        name = topic_of(self.pattern, message_topic, table)
        if name not in self.topics:
            kafka.ensure_topic(self.cluster, name, self.partitions)
            self.topics.add(name)
        return name


def _load_options(options: PublishOptions) -> LoadOptions:
    """The distribution of the drawn messages of `publish` (operations, keys, rows, NULLs, size)
    from the command's options; those that were not given are as in the default load.
    """
    default = orders.DEFAULT
    return LoadOptions(
        ops=orders.parse_ops(options.ops) if options.ops else default.ops,
        keys=options.keys,
        rows=options.rows,
        transaction=options.transaction,
        null_rate=default.null_rate if options.null_rate is None else options.null_rate,
        payload=options.payload,
    )


def _load_with_ops(
    user_load: TableLoad, load_options: LoadOptions, options: PublishOptions
) -> TableLoad:
    """The load of a user's own tables, with the shares of operations that --ops gives. Raises
    UsageError for options that only the harness's own table `shop.orders` has.
    """
    for name in ("keys", "rows", "transaction", "null_rate", "payload"):
        if getattr(load_options, name) != getattr(orders.DEFAULT, name):
            raise UsageError(
                f"--{name.replace('_', '-')} belongs to the table of load; with --tables use"
                " --values FILE"
            )
    if options.executors or options.measure:
        raise UsageError("--tables cannot be combined with --executors or --measure")
    return replace(user_load, ops=load_options.ops) if options.ops else user_load


def _from_here(
    messages: Iterable[Message],
    bootstrap: Target,
    topic: str | None,
    options: PublishOptions,
    note: Callable[[str], None],
) -> tuple[dict[str, Any], int]:
    """Publishes the messages from this process, without Spark; `topic` None takes each message's
    own topic. Returns the summary as JSON-able object, and the exit code.
    """
    stopped, code = None, 0
    try:
        done = publish_paced(
            bootstrap,
            topic,
            messages,
            rate=options.rate,
            duration_s=options.duration,
            stamp=options.stamp,
            progress=lambda n: note(f"{n} messages acknowledged"),
            timeout_s=options.timeout,
        )
    except PublishInterrupted as interruption:
        done, stopped, code = interruption.published, "interrupted", _INTERRUPTED
    except PublishStopped as error:
        done, stopped, code = error.published, str(error), error.exit_code
    return _summary(done, stopped), code or (1 if done.failed else 0)


def _summary(done: Published, stopped: str | None) -> dict[str, Any]:
    """The figures of a publishing as a JSON-able object. `stopped` is why it ended early, which is
    also printed; None if it did not.
    """
    if stopped:
        print_notice(f"cdc-conformance: {stopped}")
    return {
        "sent": done.sent,
        "acknowledged": done.acknowledged,
        "failed": done.failed,
        "errors": list(done.errors),
        "seconds": round(done.seconds, 3),
        "per_second": round(done.per_second),
        "p50_ms": done.p50_ms,
        "p99_ms": done.p99_ms,
        "max_ms": done.max_ms,
        "complete": stopped is None,
    }


def _on_executors(
    fmt: Format[Any],
    profile: Profile,
    bootstrap: Target,
    topic: str,
    load_options: LoadOptions,
    options: PublishOptions,
    executors: int,
    note: Callable[[str], None],
) -> tuple[dict[str, Any], int]:
    """Publishes the messages from tasks of Spark, each of which makes a range of them itself.
    Returns the summary as a JSON-able object, and the exit code.
    """
    from conformance.engines.child import ChildEngine
    from conformance.engines.engine import ChildDied, DecodeRaised

    count, master = options.count or 10_000, options.master
    conf = {"spark.master": master} if master else {}
    request = {
        "format": fmt.name,
        "profile": profile.name,
        "seed": options.seed,
        "options": orders.options_text(load_options),
        "partitions": options.partitions,
        **fields(bootstrap),
        "topic": topic,
        "count": count,
        "executors": executors,
        "rate": options.rate,
        "stamp": options.stamp,
        "timeout_s": options.timeout,
    }
    before = kafka.records_in(bootstrap, topic)
    note("starting Spark")
    with ChildEngine(cores=executors, conf=conf, note=note) as engine:
        try:
            engine.started.result()
            began = time.monotonic()
            pending = engine.ask_service("generate", request, float("inf"))
            while not pending.done():
                time.sleep(0.2)
                note(f"publishing {count} statements on {executors} executors")
            answer = dict(pending.result())
        except KeyboardInterrupt:
            print_notice("cdc-conformance: interrupted; the executors are stopped")
            engine.close()
            return {
                "acknowledged": kafka.records_in(bootstrap, topic) - before,
                "complete": False,
            }, _INTERRUPTED
        except (ChildDied, DecodeRaised) as error:
            raise HarnessError(f"publishing on executors failed: {error}") from error
        seconds = time.monotonic() - began
    answer.pop("id", None)
    stopped = answer.pop("stopped")
    for line in dict.fromkeys(stopped):
        print_notice(f"cdc-conformance: {line}")
    slowest = answer.pop("seconds")
    summary = {
        **answer,
        "seconds": round(seconds, 3),
        "publishing_seconds": round(slowest, 3),
        "per_second": round(answer["acknowledged"] / slowest) if slowest else 0,
        "executors": executors,
        "complete": not stopped,
    }
    return summary, HarnessError.exit_code if stopped else 1 if answer["failed"] else 0


def bare(bootstrap: Target, topic: str, messages: Iterable[Message]) -> tuple[int, float]:
    """Publishes the messages with the plain Kafka client, without the harness's pacing, under the
    same settings. Returns the number of acknowledged messages, and the seconds.
    """
    producer = client().Producer({**kafka.PRODUCER_CONFIG, **settings(bootstrap)})
    # Without the topic's metadata an idempotent producer waits half a second before the first
    # message.
    producer.list_topics(topic, timeout=30)
    acknowledged = 0

    def report(error: object, _message: object) -> None:
        """Called by the client for each message; counts those that were acknowledged without an
        error.
        """
        nonlocal acknowledged
        if error is None:
            acknowledged += 1

    produce, began = producer.produce, time.monotonic()
    for number, m in enumerate(messages):
        headers = list(m.headers) if m.headers else None
        while True:
            try:
                produce(topic, m.value, m.key, m.partition, report, None, m.timestamp_ms, headers)
                break
            except BufferError:
                producer.poll(0.1)
        if number % _POLLED_EVERY == 0:
            producer.poll(0)
    producer.flush()
    return acknowledged, time.monotonic() - began


def compare_rates(
    bootstrap: Target,
    topic: str,
    fmt: Format[Any],
    profile: Profile,
    seed: int,
    count: int,
    options: LoadOptions,
    note: Callable[[str], None],
) -> dict[str, Any]:
    """The rates, in messages a second, of the bare Kafka client and of ours with the same prepared
    messages, measured in turn; and that of ours including the making of messages. `ratio` is our
    rate over the bare client's per round: median, min and max.

    A first round is not counted. Raises HarnessError if a message is not delivered.
    """
    prepared = list(itertools.islice(traffic.messages(fmt, profile, seed, options=options), count))

    def time_ours(messages: Iterable[Message]) -> float:
        """The seconds in which our client publishes `count` messages. Raises HarnessError unless
        all are acknowledged.
        """
        done = publish_paced(bootstrap, topic, messages, rate=None, count=count)
        if done.acknowledged != count:
            raise HarnessError(
                f"{count - done.acknowledged} of {count} messages were not delivered:"
                f" {', '.join(done.errors)}"
            )
        return done.seconds

    def time_bare() -> float:
        """The seconds in which the bare client publishes the prepared messages. Raises HarnessError
        unless all are acknowledged.
        """
        acknowledged, seconds = bare(bootstrap, topic, prepared)
        if acknowledged != count:
            raise HarnessError(
                f"the bare client did not deliver {count - acknowledged} of {count} messages"
            )
        return seconds

    our_seconds, bare_seconds, seconds_with_making = list[float](), list[float](), list[float]()
    for number in range(-1, ROUNDS):
        note(f"round {number + 1} of {ROUNDS}")
        runs: list[Callable[[], None]] = [
            lambda: our_seconds.append(time_ours(prepared)),
            lambda: bare_seconds.append(time_bare()),
            lambda: seconds_with_making.append(
                time_ours(traffic.messages(fmt, profile, seed, options=options))
            ),
        ]
        for run in runs if number % 2 else reversed(runs):
            run()
        if number < 0:
            for seconds in (our_seconds, bare_seconds, seconds_with_making):
                seconds.clear()
    ratios = [b / o for b, o in zip(bare_seconds, our_seconds, strict=True)]
    return {
        "format": fmt.name,
        "profile": profile.name,
        "messages": count,
        "bytes": sum(message.size for message in prepared),
        "ours_per_second": round(count / statistics.median(our_seconds)),
        "bare_per_second": round(count / statistics.median(bare_seconds)),
        "end_to_end_per_second": round(count / statistics.median(seconds_with_making)),
        "ratio": {
            "median": round(statistics.median(ratios), 3),
            "min": round(min(ratios), 3),
            "max": round(max(ratios), 3),
        },
    }


COMMANDS = (publish,)
