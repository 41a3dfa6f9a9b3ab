"""Publishing against what the bare client reaches on the same broker, with the same settings and delivery reports."""

import pytest

from conformance.commands.publish import bare
from conformance.load.bench import SEED, plain_profile
from generators.bulk import expander as bulk
from generators.model import Layout
from generators.publishing.pacing import publish_paced
from generators.wire_format import get

FORMAT = "ticdc-canal-json"


@pytest.fixture
def topic(kafka):
    from generators.publishing.kafka import run_topic

    with run_topic(kafka.bootstrap, Layout().partitions, prefix="cdc-bench") as name:
        yield name


@pytest.mark.kafka
def test_publish(topic, count, against, benchmark, request):
    bootstrap = request.getfixturevalue("kafka").bootstrap
    count *= 5
    fmt = get(FORMAT)
    messages = list(bulk.messages(fmt, plain_profile(fmt), SEED, count=count))

    def ours():
        result = publish_paced(bootstrap, topic, messages, rate=None)
        assert (result.acknowledged, result.failed) == (count, 0)

    def theirs():
        assert bare(bootstrap, topic, messages)[0] == count

    benchmark.group = "publish"
    ratios = against(lambda: ours, lambda: theirs, count, 1)
    assert all(ratio > 0 for ratio in ratios)
