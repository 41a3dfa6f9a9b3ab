"""Topics: what a broker says of a new one before it knows that it leads it."""

from concurrent.futures import Future
from types import SimpleNamespace

import confluent_kafka
import pytest
from confluent_kafka import KafkaError, KafkaException

from generators.errors import HarnessError
from generators.publishing import topics


@pytest.fixture
def answering(monkeypatch):
    """A function that sets what the broker answers, one after the other, for the offsets of the
    only partition.
    """

    def answer(*answers):
        left = iter(answers)

        class Consumer:
            def __init__(self, _settings):
                pass

            def list_topics(self, topic, timeout):
                return SimpleNamespace(topics={topic: SimpleNamespace(partitions={0: None})})

            def get_watermark_offsets(self, _partition, timeout):
                given = next(left)
                if isinstance(given, int):
                    raise KafkaException(KafkaError(given))
                return given

            def close(self):
                pass

        monkeypatch.setattr(confluent_kafka, "Consumer", Consumer)

    return answer


def test_a_leader_that_does_not_know_it_yet_is_asked_again(answering):
    answering(KafkaError.NOT_LEADER_FOR_PARTITION, KafkaError.LEADER_NOT_AVAILABLE, (3, 9))
    assert topics.records_in("127.0.0.1:1", "orders") == 6


def test_another_error_is_told_at_once(answering):
    answering(KafkaError.TOPIC_AUTHORIZATION_FAILED, (3, 9))
    with pytest.raises(HarnessError, match="cannot count the records of topic 'orders'"):
        topics.records_in("127.0.0.1:1", "orders")


def test_a_leader_that_never_knows_it_is_an_error(answering):
    answering(*[KafkaError.NOT_LEADER_FOR_PARTITION] * 99)
    with pytest.raises(HarnessError, match="cannot count the records of topic 'orders'"):
        topics.ends("127.0.0.1:1", "orders", timeout_s=0.2)


class NewTopics:
    """An admin client of a broker whose metadata names the leaders at once; partition 1 of a topic
    answers for its offsets as `answers` say, one after the other, and then with an offset.
    """

    def __init__(self, *answers):
        self.left = list(answers)
        self.asked = []

    def create_topics(self, topics, **_limits):
        return {topic.topic: resolved(None) for topic in topics}

    def list_topics(self, _name=None, timeout=0):
        led = {number: SimpleNamespace(leader=1) for number in range(2)}
        return SimpleNamespace(topics={"orders": SimpleNamespace(error=None, partitions=led)})

    def list_offsets(self, wanted, request_timeout):
        self.asked.append(sorted((place.topic, place.partition) for place in wanted))
        code = self.left.pop(0) if self.left else None
        return {place: resolved(code if place.partition == 1 else None) for place in wanted}


def resolved(code):
    """A future that failed with a code of Kafka's, or with None succeeded."""
    future = Future()
    if code is None:
        future.set_result(None)
    else:
        future.set_exception(KafkaException(KafkaError(code)))
    return future


@pytest.fixture
def created(monkeypatch):
    """A function that creates a topic of two partitions at a broker that answers so; returns what
    the leaders were asked.
    """

    def create(*answers, timeout_s=5):
        admin = NewTopics(*answers)
        monkeypatch.setattr(topics, "check_reachable", lambda *_: None)
        monkeypatch.setattr(topics, "admin_of", lambda *_: admin)
        topics.create_topic("127.0.0.1:1", "orders", 2, timeout_s)
        return admin.asked

    return create


BOTH = [("orders", 0), ("orders", 1)]


def test_a_topic_is_created_when_each_leader_knows_that_it_leads(created):
    """Until then an idempotent producer's first batch is refused, its second taken, and the first,
    sent again, acknowledged as a repeat and lost.
    """
    assert created() == [BOTH]
    assert created(KafkaError.NOT_LEADER_FOR_PARTITION, KafkaError.UNKNOWN_LEADER_EPOCH) == [
        BOTH,
        BOTH,
        BOTH,
    ]


def test_a_new_topic_whose_leader_never_knows_is_an_error(created):
    never = [KafkaError.NOT_LEADER_FOR_PARTITION] * 99
    with pytest.raises(HarnessError, match=r"topic 'orders' at .* has no leader for every"):
        created(*never, timeout_s=0.2)


def test_a_new_topic_that_may_not_be_read_is_an_error(created):
    with pytest.raises(
        topics.TopicForbidden, match="does not let User:ANONYMOUS create topic 'orders'"
    ):
        created(KafkaError.TOPIC_AUTHORIZATION_FAILED)
