"""Topics of a broker: whether it answers, and topics that are created, used, counted and deleted.

The topic options are those of Kafka 4.3.
"""

from __future__ import annotations

import contextlib
import re
import secrets
import sys
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from generators.errors import HarnessError, UnknownName, UsageError
from generators.publishing._certificates import distrust
from generators.publishing.cluster import PREFIX, Target, as_cluster, client, settings

if TYPE_CHECKING:
    from confluent_kafka import KafkaError
    from confluent_kafka.admin import AdminClient
    from confluent_kafka.admin._metadata import TopicMetadata

LARGEST_MESSAGE = 32 * 1024 * 1024
"""The limit of a record's size in bytes, of the producer and of topics that are created here."""

TOPIC_CONFIG: Mapping[str, str] = {
    "retention.ms": "-1",
    "message.timestamp.after.max.ms": "9223372036854775807",
    "max.message.bytes": str(LARGEST_MESSAGE),
    # Segments roll by record time: records decades apart would open a file each.
    "segment.ms": "9223372036854775807",
}
"""Without these a broker refuses records from the future and deletes those from the past."""


def admin_of(bootstrap: Target, heard: list[str] | None = None) -> AdminClient:
    """An admin client that prints nothing; the texts of its errors are added to `heard`."""
    client()
    from confluent_kafka.admin import AdminClient

    def note(error: KafkaError) -> None:
        """Adds an error's text to the list `heard` of the caller of `admin_of`, if it gave one."""
        if heard is not None:
            heard.append(error.str())

    quick: dict[str, Any] = {"reconnect.backoff.ms": 50, "reconnect.backoff.max.ms": 500}
    return AdminClient(quick | settings(bootstrap) | {"error_cb": note, "log_level": 0})


def unreachable(bootstrap: Target, timeout_s: float, heard: Iterable[str]) -> str:
    """The error text for a broker that does not answer, or does not let this client in. `heard` are
    the client's error messages.
    """
    distinct_errors = list(dict.fromkeys(heard))
    # "All brokers are down" only repeats the other texts.
    telling = [
        error_text for error_text in distinct_errors if "brokers are down" not in error_text
    ] or distinct_errors
    because = f" ({as_cluster(bootstrap).mask_secrets(max(telling, key=len))})" if telling else ""
    if re.search("SSL|SASL|authentication", because):
        remedy = distrust(as_cluster(bootstrap)) if "certificate" in because else ""
        remedy = remedy or (
            "Check the properties of --broker-config and --broker-property: protocol, certificates,"
            " mechanism, name, password."
        )
        return (
            f"the broker at {bootstrap} does not let this client in within {timeout_s:g}"
            f" s{because}. {remedy}"
        )
    return (
        f"no Kafka broker answers at {bootstrap} within {timeout_s:g} s{because}. Check that it"
        " runs, that its advertised listener can be reached from here, and whether it wants TLS or"
        " a password (--broker-config), or let the harness start one: --broker embedded."
    )


class TopicForbidden(HarnessError):
    """The broker does not let this client create a topic."""


def describe_denial(
    bootstrap: Target, topic: str, needed: str, remedy: str = "publish to another topic"
) -> str:
    """The error text for a topic that the broker does not let this client use. `needed` names the
    operations to grant, such as "READ and DESCRIBE"; `remedy` says what to do else.
    """
    who = as_cluster(bootstrap).principal
    return (
        f"the broker at {bootstrap} refuses access to topic {topic!r} to {who} (Topic authorization"
        f" failed). Grant this client {needed} on it, or {remedy}."
    )


def check_reachable(bootstrap: Target, timeout_s: float = 10) -> None:
    """Asks the broker for its metadata. Raises HarnessError if no answer comes within
    `timeout_s`.
    """
    visible(bootstrap, timeout_s)


def visible(bootstrap: Target, timeout_s: float = 10) -> Mapping[str, TopicMetadata]:
    """The topics that this client may see, by name. Raises HarnessError if the broker does not
    answer within `timeout_s`.
    """
    kafka = client()
    heard: list[str] = []
    admin = admin_of(bootstrap, heard)
    try:
        # A topic that is asked for by name may be created by the question.
        return admin.list_topics(timeout=timeout_s).topics
    except kafka.KafkaException as error:
        admin.poll(0)
        raise HarnessError(unreachable(bootstrap, timeout_s, heard)) from error


def _forbids(error: BaseException) -> bool:
    """Whether a client's error says that the client lacks a permission."""
    codes = client().KafkaError
    first = error.args[0] if error.args else None
    return isinstance(first, codes) and first.code() in (
        codes.TOPIC_AUTHORIZATION_FAILED,
        codes.CLUSTER_AUTHORIZATION_FAILED,
    )


def create_topic(bootstrap: Target, name: str, partitions: int, timeout_s: float = 30) -> None:
    """Creates one topic as `create_topics` does, with its settings and errors."""
    create_topics(bootstrap, {name: partitions}, timeout_s)


def create_topics(
    bootstrap: Target,
    partitions: Mapping[str, int],
    timeout_s: float = 30,
    append_time: Collection[str] = (),
) -> None:
    """Creates topics fit for records of any time and size, replicated as the broker does by
    default, and waits until every partition has a leader. `partitions` has the number of partitions
    by the topic's name. In the topics named in `append_time` a record's timestamp is the time at
    which the broker got it.

    Raises HarnessError when one exists already, a name is illegal, the broker refuses or does not
    answer.
    """
    kafka = client()
    from confluent_kafka.cimpl import NewTopic

    deadline = time.monotonic() + timeout_s
    check_reachable(bootstrap, timeout_s)
    admin = admin_of(bootstrap)
    topics = [
        NewTopic(
            name,
            num_partitions=count,
            replication_factor=-1,
            config=dict(config_of(name in append_time)),
        )
        for name, count in partitions.items()
    ]
    seconds_left = max(1.0, deadline - time.monotonic())
    name = next(iter(partitions))
    try:
        created = admin.create_topics(
            topics, operation_timeout=seconds_left, request_timeout=seconds_left
        )
        for name in partitions:
            created[name].result(seconds_left + 1)
        while True:
            existing = admin.list_topics(
                name if len(topics) == 1 else None, timeout=max(0.1, deadline - time.monotonic())
            ).topics
            unready = [
                topic
                for topic, count in partitions.items()
                if topic not in existing or not _has_leaders(existing[topic], count)
            ]
            unready = unready or _topics_not_led_yet(
                admin, partitions, max(0.1, deadline - time.monotonic())
            )
            if not unready:
                return
            if time.monotonic() > deadline:
                raise HarnessError(
                    f"topic {unready[0]!r} at {bootstrap} has no leader for every partition after"
                    f" {timeout_s:g} s"
                )
            time.sleep(0.02)
    except (kafka.KafkaException, ValueError, TimeoutError) as error:
        if _forbids(error):
            raise TopicForbidden(
                describe_refused_topic(bootstrap, name, _error_text(error))
            ) from error
        raise HarnessError(
            f"cannot create topic {name!r} with {partitions[name]} partitions at {bootstrap}:"
            f" {_error_text(error)}"
        ) from error


def config_of(append_time: bool) -> Mapping[str, str]:
    """The configuration of a topic to be created; with `append_time` the broker sets the records'
    timestamps.
    """
    return (
        {**TOPIC_CONFIG, "message.timestamp.type": "LogAppendTime"} if append_time else TOPIC_CONFIG
    )


def _has_leaders(topic: TopicMetadata, partitions: int) -> bool:
    """Whether a topic has all its partitions, and each of them a broker that leads it."""
    return (
        topic.error is None
        and sum(partition.leader >= 0 for partition in topic.partitions.values()) == partitions
    )


def _is_not_led_yet(error: BaseException) -> bool:
    """Whether a client's error says that a partition's leader, named by the metadata, does not know
    yet that it leads, as happens for a moment with a new topic.
    """
    codes = client().KafkaError
    first = error.args[0] if error.args else None
    return isinstance(first, codes) and first.code() in (
        codes.NOT_LEADER_FOR_PARTITION,
        codes.LEADER_NOT_AVAILABLE,
        codes.UNKNOWN_LEADER_EPOCH,
        codes.OFFSET_NOT_AVAILABLE,
    )


def _topics_not_led_yet(
    admin: AdminClient, partitions: Mapping[str, int], timeout_s: float
) -> list[str]:
    """The topics of which a partition's leader does not yet know that it leads, found by asking
    every partition for its end. Raises KafkaException for another error than that.

    The metadata names a leader shortly before the leader knows. In that gap an idempotent
    producer loses messages that it counts as acknowledged: the leader refuses the first batch and
    takes the second, since it has no state of the producer yet; the first batch, sent again, is
    then taken for a repeat and acknowledged without an offset. Kafka's KAFKA-15591 describes it:
    https://github.com/apache/kafka/pull/23234
    """
    kafka = client()
    from confluent_kafka.admin._listoffsets import OffsetSpec

    # The client's class has no annotations.
    offset_spec: Any = OffsetSpec
    questions = {
        kafka.TopicPartition(topic, number): offset_spec.latest()
        for topic, count in partitions.items()
        for number in range(count)
    }
    unready: list[str] = []
    for place, answer in admin.list_offsets(questions, request_timeout=timeout_s).items():
        try:
            answer.result(timeout_s + 1)
        except kafka.KafkaException as error:
            if not _is_not_led_yet(error):
                raise
            unready.append(place.topic)
    return unready


def describe_refused_topic(bootstrap: Target, name: str, why: str) -> str:
    """The error text for a topic that this client may not create."""
    cluster = as_cluster(bootstrap)
    return (
        f"the broker at {cluster} does not let {cluster.principal} create topic {name!r}"
        f" ({why.strip(' .')}). Name a topic that is there with --topic, a prefix that it may use"
        " with --topic-prefix, or grant it CREATE, DESCRIBE, WRITE, READ and DELETE on topics that"
        f" begin with {cluster.prefix!r}."
    )


def ensure_topic(bootstrap: Target, name: str, partitions: int, timeout_s: float = 30) -> None:
    """Creates the topic unless it exists; one that exists keeps its settings.

    Raises UsageError when it has fewer partitions than asked for, HarnessError when the broker does
    not answer.
    """
    existing = visible(bootstrap, timeout_s).get(name)
    if existing is None:
        create_topic(bootstrap, name, partitions, timeout_s)
    else:
        _check_partition_count(bootstrap, existing, partitions)


def _check_partition_count(bootstrap: Target, topic: TopicMetadata, partitions: int) -> None:
    """Raises UsageError if an existing topic has fewer partitions than are needed."""
    if len(topic.partitions) < partitions:
        raise UsageError(
            f"topic {topic.topic!r} at {bootstrap} has {len(topic.partitions)} partitions; at least"
            f" {partitions} are needed"
        )


def check_topic(bootstrap: Target, name: str, partitions: int, timeout_s: float = 30) -> None:
    """Raises UsageError unless the topic is there, has the partitions, and keeps records whose keys
    repeat; HarnessError when the broker does not answer.
    """
    topics = visible(bootstrap, timeout_s)
    if name not in topics:
        raise UnknownName(
            "topic",
            name,
            topics,
            of=f"the broker at {bootstrap}, which {as_cluster(bootstrap).principal} may see",
        )
    _check_partition_count(bootstrap, topics[name], partitions)
    if "compact" in _setting(bootstrap, name, "cleanup.policy", timeout_s):
        raise UsageError(
            f"topic {name!r} at {bootstrap} is compacted: of messages with one key only the last"
            " would remain"
        )


def with_size_limit(bootstrap: Target, topic: str | None, error_text: str) -> str:
    """The text of an error for a message that was refused. If it was too large, the limit is added:
    the topic's if the broker refused it, else this client's.
    """
    if "size too large" not in error_text:
        return error_text
    limit = str(settings(bootstrap).get("message.max.bytes", LARGEST_MESSAGE))
    whose = "message.max.bytes of this client"
    if error_text.startswith("Broker") and topic:
        with contextlib.suppress(HarnessError):
            limit = _setting(bootstrap, topic, "max.message.bytes", 10)
            whose = f"max.message.bytes of topic {topic!r}"
    return f"{error_text} ({whose} is {limit})" if limit else error_text


def _setting(bootstrap: Target, topic: str, name: str, timeout_s: float) -> str:
    """The value of a topic's setting; "" if this client may not see it."""
    kafka = client()
    from confluent_kafka.admin._config import ConfigResource

    resource, admin = ConfigResource(ConfigResource.Type.TOPIC, topic), admin_of(bootstrap)
    try:
        entries = admin.describe_configs([resource], request_timeout=timeout_s)[resource].result(
            timeout_s + 1
        )
    except (kafka.KafkaException, TimeoutError) as error:
        if _forbids(error):
            return ""
        raise HarnessError(
            f"cannot read the settings of topic {topic!r} at {bootstrap}: {_error_text(error)}"
        ) from error
    return str(entries[name].value) if name in entries else ""


def ends(bootstrap: Target, topic: str, timeout_s: float = 10) -> dict[int, tuple[int, int]]:
    """For each partition of a topic, by number, the first offset and the offset that the next
    record will get. Raises HarnessError if they cannot be had in time.
    """
    kafka = client()
    consumer = kafka.Consumer(
        {"group.id": "cdc-conformance-count", **settings(bootstrap), "log_level": 0}
    )
    deadline = time.monotonic() + timeout_s

    def of_partition(number: int) -> tuple[int, int]:
        """The first offset of a partition, and the one that its next record will get. Tries again
        while a new partition has no leader.
        """
        while True:
            try:
                low, high = consumer.get_watermark_offsets(
                    kafka.TopicPartition(topic, number), timeout=timeout_s
                )
                return low, high
            except kafka.KafkaException as error:
                if not _is_not_led_yet(error) or time.monotonic() > deadline:
                    raise
                time.sleep(0.05)

    try:
        return {
            n: of_partition(n)
            for n in consumer.list_topics(topic, timeout=timeout_s).topics[topic].partitions
        }
    except kafka.KafkaException as error:
        raise HarnessError(
            f"cannot count the records of topic {topic!r} at {bootstrap}: {_error_text(error)}"
        ) from error
    finally:
        consumer.close()


def records_in(bootstrap: Target, topic: str, timeout_s: float = 10) -> int:
    """The number of records in a topic, from the first and the next offset of each partition.
    Raises HarnessError.
    """
    return sum(high - low for low, high in ends(bootstrap, topic, timeout_s).values())


def delete_topics(bootstrap: Target, names: Sequence[str], timeout_s: float = 30) -> None:
    """Deletes topics; ignores those that do not exist. Raises HarnessError if the broker refuses or
    does not answer.
    """
    kafka = client()
    admin = admin_of(bootstrap)
    first_failure = ""
    for name, done in admin.delete_topics(
        list(names), operation_timeout=timeout_s, request_timeout=timeout_s
    ).items():
        try:
            done.result(timeout_s + 1)
        except (kafka.KafkaException, TimeoutError) as error:
            cause = error.args[0] if error.args else None
            if (
                not isinstance(cause, kafka.KafkaError)
                or cause.code() != kafka.KafkaError.UNKNOWN_TOPIC_OR_PART
            ):
                first_failure = (
                    first_failure
                    or f"cannot delete topic {name!r} at {bootstrap}: {_error_text(error)}"
                )
    if first_failure:
        raise HarnessError(first_failure)


def run_topic_name(prefix: str = PREFIX) -> str:
    """A topic name that no other run has: prefix, UTC time, random digits."""
    return f"{prefix}-{time.strftime('%Y%m%d-%H%M%S', time.gmtime())}-{secrets.token_hex(4)}"


@contextlib.contextmanager
def run_topic(
    bootstrap: Target, partitions: int, *, note: Callable[[str], None] | None = None
) -> Iterator[str]:
    """A context that creates a topic of `partitions` partitions, yields its name, which is new with
    each run, and deletes the topic at the end. If the cluster names a `topic`, that one is checked
    and yielded instead, and stays. Raises what `create_topics` raises, and UsageError for a named
    topic that does not fit.
    """
    cluster = as_cluster(bootstrap)
    if cluster.topic:
        check_topic(cluster, cluster.topic, partitions)
        yield cluster.topic
        return
    with run_topics(bootstrap, {"": partitions}, note=note) as names:
        yield names[""]


@contextlib.contextmanager
def run_topics(
    bootstrap: Target,
    partitions: Mapping[str, int],
    *,
    note: Callable[[str], None] | None = None,
    append_time: Collection[str] = (),
) -> Iterator[Mapping[str, str]]:
    """Creates a run's own topics, yields their names, and deletes them afterwards, whatever
    happened in between. `partitions` has the number of partitions by the end of a topic's name,
    which stands behind the run's name and a dot; the end "" gives the run's name itself.
    `append_time` and the yielded mapping name topics by these ends, too.

    If one cannot be deleted, `note` gets a text that names it; without `note` HarnessError is
    raised, unless another exception is already raised. Raises as `create_topics` does.
    """
    run = run_topic_name(as_cluster(bootstrap).prefix)
    names = {end: f"{run}.{end}" if end else run for end in partitions}
    try:
        counts = {names[end]: count for end, count in partitions.items()}
        create_topics(bootstrap, counts, append_time=[names[end] for end in append_time])
        yield names
    finally:
        raised = sys.exc_info()[1]
        try:
            if not isinstance(raised, TopicForbidden):
                # A broker that is gone took its topics along: no long wait.
                delete_topics(
                    bootstrap, list(names.values()), timeout_s=30 if raised is None else 5
                )
        except HarnessError as error:
            if note is not None:
                note(str(error))
            elif raised is None:
                raise


def _error_text(error: BaseException) -> str:
    """The words of a Kafka client's error, which may hide them in its first argument."""
    first = error.args[0] if error.args else None
    described = getattr(first, "str", None)
    return str(described()) if callable(described) else str(error) or type(error).__name__
