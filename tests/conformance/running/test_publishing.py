"""Where a run's messages lie, and which cases of level two a claim of types leaves, without Kafka and Spark."""

from dataclasses import replace
from types import SimpleNamespace

import pytest

from conformance.cases.catalogue import BUDGETS
from conformance.judging.judge import Capabilities
from conformance.running import run as job
from conformance.running.prepared import Settings
from generators.errors import HarnessError
from generators.model import Message
from generators.publishing import kafka
from generators.wire_format import get

NAME = "ticdc-canal-json"
SETTINGS = Settings((NAME,), BUDGETS["smoke"], 1, writer_profile="v7.1.6", bootstrap="127.0.0.1:1", topic="run-1")
MESSAGES = [Message("cdc", partition, None, b"{}") for partition in (0, 2, 2)]


def published(monkeypatch, placed, *errors):
    """`publish` with a broker that gives these places."""
    places = [SimpleNamespace(topic="run-1", partition=p, offset=o) for p, o in placed]
    result = SimpleNamespace(placed=places, failed=len(errors), errors=errors)
    monkeypatch.setattr(kafka, "publish", lambda bootstrap, topic, messages: result)
    return job.publish(SETTINGS, SimpleNamespace(), NAME, MESSAGES)


def test_places_are_the_broker_s_and_ranges_hold_them(monkeypatch):
    places, source = published(monkeypatch, [(0, 5), (2, 7), (2, 9)])
    assert [places[id(message)] for message in MESSAGES] == [("run-1", 0, 5), ("run-1", 2, 7), ("run-1", 2, 9)]
    assert (source.ranges, source.bootstrap, source.topic) == ((("run-1", 0, 5, 5), ("run-1", 2, 7, 9)), "127.0.0.1:1", "run-1")


def test_a_message_that_is_not_delivered_ends_the_run(monkeypatch):
    with pytest.raises(HarnessError, match=r"1 of 3 messages were not delivered to run-1: too large"):
        published(monkeypatch, [(0, 5), (2, 7), (2, 9)], "too large")


def test_claimed_types_leave_tables_of_these_types_at_level_two():
    settings, claims = replace(SETTINGS, budget=replace(BUDGETS["smoke"], drawn=0)), Capabilities(types=("int", "varchar"))
    cases = job._claimed_rows(settings, get(NAME), claims, frozenset())
    assert {case.level for case in cases} == {2}
    # A format's own cases have tables of their own, which `claimed` leaves out.
    every = [case for case in cases if case.scenario.startswith("rows/every-type/")]
    assert {column.type.key for case in every for table in case.tables for column in table.columns} == {
        *("bigint", "int", "varchar"),
    }
