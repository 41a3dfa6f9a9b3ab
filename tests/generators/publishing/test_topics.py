"""Topics: what a broker says of a new one before it knows that it leads it."""

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
