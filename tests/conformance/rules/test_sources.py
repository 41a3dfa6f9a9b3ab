"""The catalogue of sources: every citation resolves, and provenance fits the kind of source."""

import re

import pytest

from conformance.cases.catalogue import named_cases
from conformance.rules import pipelines, streams
from conformance.rules.rules import Provenance, rules
from conformance.rules.sources import fact, pages, read
from conformance.rules.tables import TableFile
from conformance.selftest.bench import bench_of_cases
from generators.errors import UnknownName, UsageError
from generators.recorded import store
from generators.wire_format import FORMATS, get

KINDS = {
    Provenance.DOCUMENTED: {"document"},
    Provenance.OBSERVED: {"source", "issue", "recorded", "run"},
    Provenance.ASSUMED: {"document", "source", "issue", "recorded", "run", "standard", "reason"},
}
"""Evidence of which a rule of that provenance has at least one."""


@pytest.mark.parametrize("name", FORMATS)
def test_every_citation_opens_and_fits_the_provenance(name):
    for rule in (*rules(name), *streams.rules(name), *pipelines.rules(name)):
        facts = [fact(citation.where) for citation in rule.citations]
        kinds = {item.kind for cited in facts for item in cited.evidence}
        assert kinds & KINDS[rule.provenance], (
            f"{rule.id} is {rule.provenance}, but its sources are {sorted(kinds)}"
        )


@pytest.mark.parametrize("name", FORMATS)
def test_every_loss_cites_a_fact(name):
    fmt = get(name)
    for profile in fmt.profiles:
        for loss in fmt.losses(profile):
            assert fact(loss.citation).evidence


def test_evidence_says_where_it_is_to_be_opened():
    for page in pages().values():
        for entry in page.facts.values():
            assert re.fullmatch(r"[a-z0-9][a-z0-9.-]*", entry.name), entry.id
            for evidence in entry.evidence:
                assert evidence.text.strip(), entry.id
                if evidence.kind in ("document", "source", "issue"):
                    assert evidence.address.startswith("https://"), (entry.id, evidence)
                if evidence.kind in ("recorded", "run"):
                    assert evidence.quote, (entry.id, evidence)


def test_recorded_evidence_is_in_the_recordings():
    """A value in Avro stands there in hexadecimal digits, with spaces between its bytes."""
    kept = {
        record
        for product in store.PRODUCTS
        for recording in store.recordings(product)
        for record in store.messages(recording)
    }
    values = {value for record in kept for value in (record.key, record.value) if value}
    texts = values | {value.hex(" ").encode() for value in values}
    entries = [entry for page in pages().values() for entry in page.facts.values()]
    cited = [
        (entry.id, item.quote)
        for entry in entries
        for item in entry.evidence
        if item.kind == "recorded"
    ]
    assert len(cited) > 150
    assert [pair for pair in cited if pair[1].encode() not in texts] == []


PAGE = """
title = "X"
[documents.d]
title = "T"
publisher = "P"
address = "https://example.org/d"
[repositories.r]
name = "o/r"
commit = "0123456789012345678901234567890123456789"
release = "v1"
[facts.f]
fact = "A fact."
evidence = [%s]
"""


@pytest.mark.parametrize(
    ("evidence", "kind", "text", "address"),
    [
        (
            '{document = "d", section = "1", quote = "q"}',
            "document",
            "P, T, 1",
            "https://example.org/d",
        ),
        (
            '{repository = "r", path = "a/b.go", symbol = "F", lines = "3-7"}',
            "source",
            "o/r@0123456789 (v1) a/b.go:F",
            "https://github.com/o/r/blob/0123456789012345678901234567890123456789/a/b.go#L3-L7",
        ),
        ('{repository = "r", issue = 7}', "issue", "o/r#7", "https://github.com/o/r/issues/7"),
        ('{recorded = "X 1", message = "{}"}', "recorded", "recorded: X 1", ""),
        *(
            ('{run = "a:b:1", result = "2"}', "run", "run: a:b:1", ""),
            ('{reason = "because"}', "reason", "because", ""),
        ),
    ],
)
def test_each_kind_of_evidence(evidence, kind, text, address):
    (item,) = read("x", PAGE % evidence).facts["f"].evidence
    assert (item.kind, item.text, item.address) == (kind, text, address)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (PAGE % '{document = "e"}', "x#f: unknown document 'e'. Known: d."),
        (PAGE % '{repository = "q", path = "a"}', "x#f: unknown repository 'q'. Known: r."),
        (
            PAGE % '{book = "q"}',
            "x#f: evidence is document, repository, recorded, run, reason, not book.",
        ),
        (
            PAGE % '{document = "d", page = 3}',
            "x#f: unknown field 'page'. Known: document, quote, section.",
        ),
        (PAGE % "", "x#f: evidence is empty."),
        ((PAGE % '{reason = "b"}').replace("A fact.", "A fact"), "x#f: a fact is a sentence."),
        ((PAGE % '{reason = "b"}').replace("0123456789012345", "x"), "x: repository r: commit 'x"),
        ("title = 'X'\nfact = 1", "x.toml:2: unknown part 'fact'. Did you mean 'facts'?"),
    ],
)
def test_a_wrong_page_says_what_is_wrong(text, words):
    with pytest.raises(UsageError, match=re.escape(words)):
        read("x", text)


def test_a_name_that_another_one_begins_with_has_a_line_of_its_own():
    text = (
        "[a-b]\nwrong = 1\n[a]\n[[list]]\nname = 'x-y'\n[[list]]\nname = 'x'\n[c]\nd-e = 1\nd = 2\n"
    )
    with pytest.raises(UsageError, match=r"^x\.toml:3: "):
        TableFile("x.toml", text, {"a-b": dict, "a": list, "list": list, "c": dict})
    file = TableFile("x.toml", text, {"a-b": dict, "a": dict, "list": list, "c": dict})
    assert file.place("a") == "x.toml:3"
    assert [entry.place for entry in file.entries("list")] == ["x.toml:5", "x.toml:7"]
    assert [entry.place for entry in file.entries("c")] == ["x.toml:9", "x.toml:10"]


@pytest.mark.parametrize(
    ("cited", "words"),
    [("standard#x", "Did you mean 'standards'"), ("standards#json-nul", "'json-null'")],
)
def test_an_unknown_citation_names_the_nearest(cited, words):
    with pytest.raises(UnknownName, match=words):
        fact(cited)


@pytest.mark.parametrize("name", ["huawei-cdl-json", "tencent-dts-json"])
def test_a_rule_is_exercised_by_a_message_of_its_own(name):
    tried = bench_of_cases(get(name), named_cases(get(name), get(name).profiles))
    reached = {rule for rule, _ in tried.judge.seen}
    assert [rule.id for rule in rules(name) if not rule.law and rule.id not in reached] == []
