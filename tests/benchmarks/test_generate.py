"""How many messages a second one process makes."""

from collections import deque

import pytest

from conformance.load.bench import SEED, plain_profile
from generators.bulk import expander as bulk
from generators.wire_format import FORMATS, get


@pytest.mark.parametrize("name", FORMATS)
def test_generate(name, count, rounds, benchmark):
    fmt = get(name)
    profile = plain_profile(fmt)

    def made(keep):
        return deque(bulk.messages(fmt, profile, SEED, count=count), maxlen=keep)

    # A statement may be several messages: a tombstone follows a delete.
    messages = len(made(None))
    assert messages >= count
    benchmark.group = "generate"
    benchmark.pedantic(made, args=(0,), rounds=rounds, warmup_rounds=1)
    seconds = benchmark.stats.stats
    benchmark.extra_info |= {
        "messages": messages,
        "per_second": round(messages / seconds.median),
        "per_second_range": [round(messages / seconds.max), round(messages / seconds.min)],
    }
