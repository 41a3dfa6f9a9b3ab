"""The topics of a load. They are created for it, or exist; a pattern may make several; on request
they look used.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import product
from typing import Any

from conformance.brokers.spark_options import spark_options
from conformance.lanes import by_name
from conformance.load.source import Routes
from generators.bulk import orders
from generators.model import Layout, Message
from generators.profiles import Profile
from generators.publishing import kafka, topics
from generators.publishing.cluster import Target, as_cluster
from generators.publishing.layouts import topic_of
from generators.publishing.transactions import ABORTED, Interleaved, Sending, delete_before
from generators.tables.load import TableLoad
from generators.wire_format import Format


@dataclass(frozen=True, slots=True)
class Topics:
    """The topics of a load: `names` are their names by route (what the pattern makes of a message,
    see `find_routes`), `partitions` the number of partitions of each. `starting` has the offset
    from which a reader starts, by topic and partition. Each partition of `used` topics began with a
    record of an aborted transaction, which was deleted again.
    """

    bootstrap: Target
    names: Mapping[str, str]
    partitions: int
    used: bool
    starting: Mapping[str, Mapping[str, int]]

    @property
    def source(self) -> dict[str, Any]:
        """The options with which Spark's query reads the load's topics: broker, names, first
        offsets, and the lane (a number across all topics) of each partition. Of topics in which
        transactions were aborted (`used`) only committed records are read.
        """
        committed = {"kafka.isolation.level": "read_committed"} if self.used else {}
        return {
            "kafka": {**spark_options(self.bootstrap), **committed},
            "topic": ",".join(self.names.values()),
            "starting": self.starting,
            "lanes": by_name(Routes(self.names, "", self.partitions).lanes),
        }


@contextlib.contextmanager
def create_topics(
    bootstrap: Target,
    ends: Iterable[str],
    partitions: int,
    note: Callable[[str], None],
    *,
    used: bool,
    append_time: bool,
) -> Iterator[Topics]:
    """A context that yields the topics of a load. If `bootstrap` names an existing topic, it is
    that one alone. Otherwise a topic is created for each of `ends`, which is the end of its name
    (("",) for a single topic), and deleted afterwards. `used` topics begin above offset 0, as if
    others had written and deleted records; in those of `append_time` the broker sets the
    timestamps. `note` gets a line about a topic that cannot be deleted.
    """
    with contextlib.ExitStack() as stack:
        if as_cluster(bootstrap).topic:
            names: Mapping[str, str] = {
                "": stack.enter_context(kafka.run_topic(bootstrap, partitions, note=note))
            }
        else:
            counts = dict.fromkeys(ends, partitions)
            times = tuple(counts) if append_time else ()
            names = stack.enter_context(
                kafka.run_topics(bootstrap, counts, note=note, append_time=times)
            )
        if used:
            topic_partitions = list(product(names.values(), range(partitions)))
            Interleaved(bootstrap).publish(
                Sending(Message(topic, number, None, ABORTED), is_aborted=True)
                for topic, number in topic_partitions
            )
            delete_before(bootstrap, dict.fromkeys(topic_partitions, 1))
        # An existing topic may have records of others; of a `used` one all that is left is read.
        starting: dict[str, dict[str, int]] = {}
        for name in names.values():
            ends_of_topic = topics.ends(bootstrap, name)
            starting[name] = {
                str(number): first if used else end
                for number, (first, end) in ends_of_topic.items()
            }
        yield Topics(bootstrap, names, partitions, used, starting)


def find_routes(
    fmt: Format[Any],
    profile: Profile,
    seed: int,
    partitions: int,
    user_tables: TableLoad | None = None,
    pattern: str = "",
) -> tuple[str, ...]:
    """The routes of a load's messages, each once: what `pattern` (such as `{database}.{table}`)
    makes of a message's topic and table. Each becomes a topic of its own, whose name ends with it.
    Without a pattern ("") there is one, ("",), for the one topic of all messages. `user_tables` are
    a user's tables, None for the harness's table of orders.
    """
    routes: dict[str, None] = {}
    for unit in range(len(user_tables.users) if user_tables else 1):
        table = user_tables.users[unit].table if user_tables else orders.load_table(profile.source)
        scenario = (
            user_tables.scenario(seed, unit)
            if user_tables
            else orders.load_scenario(fmt, profile, seed, unit)
        )
        for written in fmt.write(scenario.history, profile, Layout(partitions=partitions)):
            routes[topic_of(pattern, written.message.topic, table)] = None
    return tuple(routes)
