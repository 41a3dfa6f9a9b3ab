"""What the tests of publishing share: a topic of their own, and a broker that they may stop."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from conformance.brokers import embedded as _embedded
from generators.publishing.kafka import run_topic


@pytest.fixture
def topic(kafka: Any) -> Iterator[str]:
    with run_topic(kafka.bootstrap, 3) as name:
        yield name


@pytest.fixture(scope="module")
def stoppable() -> Iterator[_embedded.EmbeddedKafka]:
    """A broker with access control that allows what it does not forbid."""
    properties = {
        "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
        "allow.everyone.if.no.acl.found": "true",
    }
    with _embedded.EmbeddedKafka(lambda _line: None, properties=properties) as started:
        yield started


@pytest.fixture
def own(stoppable: _embedded.EmbeddedKafka) -> _embedded.EmbeddedKafka:
    """A broker that a test may stop; it runs again for the next."""
    if stoppable.pid is None:
        stoppable.start()
    return stoppable
