"""sample-json's writer prints what the document prints, and its rules cite the document.

What is still to be written fails with a sentence that names the file and the next thing to write in
it.
"""

from __future__ import annotations

from pathlib import Path
from typing import NoReturn

import pytest

from conformance.rules.rules import rules
from conformance.rules.sources import pages
from conformance.selftest.lies.lie import lies
from generators.errors import UsageError
from generators.formats.sample_json import FORMAT, write
from generators.model import Column, History, Layout, Op, Table, Written
from generators.sources import boundaries, mysql

ROOT = Path(__file__).parents[3]
PAGE = "sample"
ABOUT = "generators/formats/sample-json.toml"
RULES = "conformance/rules/sample-json.toml"
LIES = "conformance/selftest/lies/sample-json.toml"
FACTS = f"conformance/rules/sources/{PAGE}.toml"
TESTS = "tests/generators/formats/test_sample_json.py"
TABLE = Table("db", "t", (Column("id", mysql.integer("int")), Column("a", mysql.text())), ("id",))
ROW, CHANGED = {"id": 1, "a": "x"}, {"id": 1, "a": None}
HISTORY = History(
    (
        boundaries.change(TABLE, Op.INSERT, (None, ROW)),
        boundaries.change(TABLE, Op.UPDATE, (ROW, CHANGED)),
        boundaries.change(TABLE, Op.DELETE, (CHANGED, None)),
    )
)
DOCUMENTED: tuple[str, ...] = ()
"""The document's own messages of HISTORY, character for character; its names and values may be put
into HISTORY.
"""


def due(sentence: str) -> NoReturn:
    """Ends a test that has something to be written first."""
    pytest.fail(sentence, pytrace=False)


def written() -> list[Written]:
    try:
        return write(HISTORY, FORMAT.profiles[0], Layout())
    except UsageError as error:
        sentence = str(error)
    due(sentence)


def test_the_page_of_sources_says_what_the_document_says() -> None:
    """The page FACTS quotes the document in at least one fact, and none is left to be written."""
    if "To write" in (ROOT / FACTS).read_text("utf-8"):
        due(
            f"{FACTS}: write a fact, with its quote, for each sentence of the document that a"
            " decoder depends on"
        )
    assert pages()[PAGE].facts


def test_the_writer_prints_what_the_document_prints() -> None:
    if not DOCUMENTED:
        due(f"{TESTS}: put the document's messages into DOCUMENTED, and its rows into HISTORY")
    assert [(record.message.value or b"").decode() for record in written()] == list(DOCUMENTED)


def test_the_writer_tells_what_a_decoder_recovers() -> None:
    assert [change.op for record in written() for change in record.changes] == [
        Op.INSERT,
        Op.UPDATE,
        Op.DELETE,
    ]


def test_the_kinds_of_messages_are_named() -> None:
    if any("to write" in kind.wire for kind in FORMAT.kinds):
        due(f"{ABOUT}: name the kinds of messages, by what stands in them")
    assert FORMAT.kinds


def test_a_lie_is_answered_by_a_rule_and_another_changes_bytes_only() -> None:
    convicts = [lie.convicts for lie in lies(FORMAT.name)]
    if None not in convicts or not any(convicts):
        due(
            f"{LIES}: change the messages in a way that a rule answers, and in one that changes"
            " bytes only"
        )
    assert len(convicts) >= 2


def test_every_fact_is_cited() -> None:
    cited = {citation.where for rule in rules(FORMAT.name) for citation in rule.citations}
    missing = [fact.id for fact in pages()[PAGE].facts.values() if fact.id not in cited]
    if missing or len(rules(FORMAT.name)) < 20:
        due(f"{RULES}: write a rule for each fact and each kind of value, 20 at least")
    assert not missing
