"""The page of a run and that of the differential check: one file that stands alone, says
everything, and obeys nobody.
"""

import json
import re
import time
from dataclasses import replace
from html.parser import HTMLParser

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from conformance.judging.causes import Cause, Symptom
from conformance.judging.relations import Relation, RelationKind
from conformance.judging.results import OwnTables
from conformance.reports import differential_page as differential
from conformance.reports import page
from conformance.running.differential import Comparison
from generators.tables.schema import Note

VOID = {"meta", "br", "link", "img", "hr", "input"}
INLINE = {"a", "b", "code", "mark", "span"}


class Reader(HTMLParser):
    """The elements of a page, its text, and whether they nest."""

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.open, self.elements, self.words = [], [], []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attributes):
        self.elements.append((tag, dict(attributes)))
        if tag not in VOID:
            self.open.append(tag)
        if tag not in INLINE:
            self.words.append(" ")

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if not {"style", "script"} & set(self.open):
            self.words.append(data)

    @property
    def text(self):
        return re.sub(r"\s+", " ", "".join(self.words))

    def all(self, tag):
        return [attributes for name, attributes in self.elements if name == tag]


def test_a_run_that_fails_says_what_where_and_how_to_see_it_again(full):
    reader = Reader(page.page_of_run(full))
    for words in (
        "decoder mine.py:decode: does NOT conform",
        "6 cases (0 drawn; 6 judged at level one, 0 at level two); 6 messages through a table in memory",
        *(
            "rules: ✓ 1 kept ✗ 1 broken ~ 1 broken, does not count ! 1 known failure - 1 out of reach",
            "x-json ✗ fails 1/5 6 6",
        ),
        *("2 broken rules", "✗ x-json/value/unsigned The statement of value/unsigned."),
        "MUST · WRONG_SIGN · documented: cdc-conformance, Writing a decoder, Level one, and 1 more [harness#every-offset]; ",
        *(
            "case x-json/v1/bad cases 2 at",
            "expected 9223372036854775808 actual -9223372036854775808",
        ),
        *('"data":[{"id":"1","c":"9223372036854775808"}]', "reduced from 3 rows to 1 row"),
        *(
            "cdc-conformance replay out/failures/u.json",
            "~ x-json/value/soft",
            "SHOULD, does not count",
        ),
        *(
            "upstream 7 https://example.test/7",
            "✗ unexpected pass x-json/value/kept, fail, profile v1*",
        ),
        *(
            "it no longer has the verdict fail; remove the entry",
            "no such rule; correct or remove the entry",
        ),
        *("cdc-conformance run x-json --decoder mine.py:decode --seed 7", "python 3.11.2"),
    ):
        assert words in reader.text, words
    assert "<mark>&#34;c&#34;:&#34;9223372036854775808&#34;</mark>" in page.page_of_run(full)
    assert '<mark class="bad">-</mark>9223372036854775808' in page.page_of_run(full)


def test_the_matrix_has_every_profile_with_a_sign(full):
    reader = Reader(page.page_of_run(full))
    signs = {link["aria-label"]: link["class"] for link in reader.all("a") if "aria-label" in link}
    assert signs == {"v1": "bad", "v2": "warn", "v3": "soft"}
    assert "v1 ✗ 2 4 4 1 1 - 2" in reader.text
    assert "v2 ! 1 1 - - - 1" in reader.text


def test_every_link_within_the_page_arrives(full):
    reader = Reader(page.page_of_run(full))
    ids = [attributes["id"] for _, attributes in reader.elements if "id" in attributes]
    assert len(ids) == len(set(ids))
    inner = {link["href"] for link in reader.all("a") if link["href"].startswith("#")}
    assert {
        f"#{anchor}"
        for anchor in ("x-json", "x-json/v1", "x-json/value/unsigned", "x-json/value/known")
    } <= inner
    assert inner <= {f"#{anchor}" for anchor in ids}


def test_the_notes_on_a_users_tables_stand_on_the_page(full, hostile):
    notes = (Note("a.sql", 3, 9, "KEY `k`", "left out"), Note("a.sql", 4, 1, hostile, "noted"))
    own = OwnTables(
        "mysql", ("shop.orders", "shop.lines"), notes, ("x-json: table geo is left out",)
    )
    reader = alone(page.page_of_run(replace(full, header=replace(full.header, tables=own))))
    for words in (
        *("Your tables shop.orders, shop.lines (mysql)", "x-json: table geo is left out"),
        *("2 constructs are not taken as they stand", "a.sql:3:9 KEY `k` left out"),
    ):
        assert words in reader.text, words
    whole = Reader(
        page.page_of_run(
            replace(full, header=replace(full.header, tables=OwnTables("mysql", ("shop.orders",))))
        )
    )
    assert "shop.orders (mysql); all that the DDL says is taken as it stands" in whole.text
    assert "Your tables" not in Reader(page.page_of_run(full)).text


def test_a_run_that_conforms_is_green_and_short(good):
    text = page.page_of_run(good)
    reader = Reader(text)
    assert [heading["class"] for heading in reader.all("h1")] == ["good"]
    assert "conforms" in reader.text
    assert not any(
        words in reader.text
        for words in ("broken rule", "Record of known", "Broken rules by profile")
    )
    assert len(text) < 15_000


@pytest.mark.parametrize(("code", "tone"), [(0, "good"), (1, "bad"), (4, "warn"), (5, "warn")])
def test_the_headline_has_the_colour_of_the_exit_code(full, good, code, tone):
    made = {0: good, 1: full, 4: replace(good, formats=()), 5: replace(good, entries=full.entries)}[
        code
    ]
    assert (made.exit_code, Reader(page.page_of_run(made)).all("h1")[0]["class"]) == (code, tone)


def alone(text):
    """What would reach for something outside, run something, or break out of the page."""
    reader = Reader(text)
    # The page of a run has one script, the search, which its policy names by its digest.
    searches = page.SEARCHING_POLICY in {meta.get("content") for meta in reader.all("meta")}
    assert re.findall(r"<script>(.*?)</script>", text, re.DOTALL) == [page.SEARCH] * searches
    assert len(reader.all("script")) == searches
    assert not {"iframe", "object", "embed", "form", "img", "link", "base", "svg"} & {
        tag for tag, _ in reader.elements
    }
    for tag, attributes in reader.elements:
        active = [
            name
            for name in attributes
            if name.startswith("on") or name in ("src", "srcset", "style", "action")
        ]
        assert active == [], tag
    assert all(re.match(r"#|https?://", link["href"]) for link in reader.all("a"))
    assert "url(" not in text and "@import" not in text
    assert {
        "http-equiv": "Content-Security-Policy",
        "content": page.SEARCHING_POLICY if searches else page.POLICY,
    } in reader.all("meta")
    text.encode("utf-8")
    assert not set(text) & set("\x00\x07\x1b\u202e\u2028\ud800")
    return reader


def test_a_page_stands_alone(full, good):
    alone(page.page_of_run(full))
    alone(page.page_of_run(good))


def test_broken_rules_have_an_index_a_matrix_and_a_search(full):
    text = page.page_of_run(full)
    reader = Reader(text)
    assert "value/unsigned ✗ 2 value/soft ~ 1 value/known ! 1" in reader.text
    assert (
        "one mistake; repair first what stands first every value is wrong: 2 cases" in reader.text
    )
    assert "x-json/value/unsigned WRONG_SIGN 2 The statement of value/unsigned." in reader.text
    assert "empty: no case of the profile breaks it" in reader.text
    searched = [attributes for _, attributes in reader.elements if "data-rule" in attributes]
    # An index of two, their articles, a matrix of three, and a table of five.
    assert (len(searched), reader.all("input")) == (
        2 + 2 + 3 + 5,
        [{"id": "search", "type": "search", "autocomplete": "off"}],
    )


def test_a_long_known_value_is_cut_with_a_sign(full):
    known = full.failures[2]
    long = replace(known, finding=replace(known.finding, actual="9" * 200))
    text = Reader(page.page_of_run(replace(full, failures=(*full.failures[:2], long)))).text
    assert "9" * 120 + "... (200 characters)" in text


@pytest.mark.parametrize("field", ["expected", "actual", "path", "case"])
def test_hostile_findings_are_shown_and_obeyed_nowhere(with_finding, hostile, field):
    reader = alone(page.page_of_run(with_finding(**{field: hostile})))
    assert (
        "[red]x[/red] \\x1b[2J\\x07 \\u202e<script>alert(1)</script> | `a` \\ \\x00 \\ud800 @someone"
        in reader.text
    )


def test_hostile_messages_records_decoders_and_errors_are_too(with_finding, full, hostile):
    value = ('{"data":[{"c":"' + hostile + '"}]}').encode("utf-8", "surrogatepass")
    made = with_finding(value=value)
    raised = replace(
        made.failures[0],
        result=replace(made.failures[0].result, note=hostile),
        file=hostile,
        reduced=hostile,
    )
    known = replace(full.failures[2], reason=hostile, link="javascript:alert(1)//" + hostile)
    entry = replace(
        full.entries[1],
        hint=hostile,
        entry=replace(full.entries[1].entry, rule=hostile, reason=hostile),
    )
    call = replace(made.formats[0].calls[0], name=hostile, note=hostile)
    fmt = replace(made.formats[0], decoder=hostile, notes=(hostile,), calls=(call,))
    header = replace(
        made.header, decoder=hostile, arguments=("run", hostile), versions={hostile: hostile}
    )
    reader = alone(
        page.page_of_run(
            replace(made, header=header, formats=(fmt,), failures=(raised, known), entries=(entry,))
        )
    )
    assert reader.text.count("<script>alert(1)</script>") >= 12
    assert all("javascript" not in link["href"] for link in reader.all("a"))


@settings(deadline=None)
@given(text=st.text(st.characters(), max_size=60))
def test_no_text_breaks_the_page(text):
    policy = '<meta http-equiv="Content-Security-Policy" content="{{ POLICY }}">'
    template = policy + '{{ a }}<b title="{{ a | shown }}">{{ a | kept }}</b>'
    reader = alone(page.environment().from_string(template).render(a=text))
    assert [tag for tag, _ in reader.elements] == ["meta", "b"]


@pytest.mark.parametrize(
    ("link", "follows"),
    [
        *(
            ("https://example.test/a?b=c#d", True),
            ("http://example.test", True),
            ("javascript:alert(1)", False),
        ),
        *(
            ("javascript://example.test/%0aalert(1)", False),
            ("ftp://example.test", False),
            ("https://", False),
        ),
        *(
            ("//example.test", False),
            ("data:text/html,x", False),
            ("https://exa mple.test", False),
            ("https://[", False),
        ),
        ("", False),
    ],
)
def test_only_links_to_the_web_can_be_followed(link, follows):
    assert page.is_web(link) is follows


@pytest.mark.parametrize(
    ("text", "other", "expected"),
    [
        *(
            ("1.50", "1.5", (("1.5", "0", ""), ("1.5", "", ""))),
            ("922", "-922", (("", "", "922"), ("", "-", "922"))),
        ),
        *(
            ("an image", "None", (("", "an image", ""), ("", "None", ""))),
            ("", "x", (("", "", ""), ("", "x", ""))),
        ),
        *(
            ("same", "same", (("same", "", ""), ("same", "", ""))),
            ("aXb", "aYb", (("a", "X", "b"), ("a", "Y", "b"))),
        ),
    ],
)
def test_what_differs_is_told_from_what_does_not(text, other, expected):
    assert page.differing(text, other) == expected


@settings(deadline=None)
@given(text=st.text(max_size=20), other=st.text(max_size=20))
def test_the_parts_are_the_texts(text, other):
    left, right = page.differing(text, other)
    assert ("".join(left), "".join(right), left[0], left[2]) == (text, other, right[0], right[2])


def test_a_megabyte_of_text_is_shortened(with_finding):
    text = page.page_of_run(with_finding(value=b'{"data":[{"c":"' + b"<" * 1_000_000 + b'"}]}'))
    assert len(text) < 60_000
    assert "shortened; 1,000,019 bytes in all" in text


def test_a_big_run_is_a_small_page_made_quickly(many):
    run, began = many(12, 100, 100_000), time.process_time()
    text = page.page_of_run(run)
    assert time.process_time() - began < 20
    assert len(text.encode()) < 2_000_000
    assert "950 more, in short; report.jsonl has their messages." in text
    assert all(f'id="{failure.rule.id}"' in text for failure in run.failures)


def outcomes():
    wrong = Comparison("f-json", "v2", 3, 2, 28, columns=("raw",))
    wrong.differ("row 1, exact: '<script>' became 'c'", "exact")
    wrong.worn["name"] = 2
    return [
        Comparison("f-json", "v1", 3, 2, 28),
        wrong,
        Comparison("g-json", "v1", 3, 2, lost={"rows are logged in part": 2}),
    ]


def test_the_differential_page_is_one_table_with_the_differences_marked():
    reader = alone(differential.page(outcomes(), 7))
    assert [heading["class"] for heading in reader.all("h1")] == ["bad"]
    for words in (
        *(
            "1 of 3 profiles leave another table",
            "One history of seed 7 through 3 profiles of 2 formats",
            "v2 ✗ 1 differ 2 28",
        ),
        *(
            "f-json/v2: 1: row 1, exact: '<script>' became 'c'",
            "rows are logged in part g-json/v1 (2)",
        ),
    ):
        assert words in reader.text, words
    titles = {cell["title"] for cell in reader.all("td") if "title" in cell}
    assert titles >= {"exact: 1 cells differ", "name: 2 cells lost as documented"}
    assert titles >= {f"raw: {words}" for words in ("not carried", "not compared", "the same")}


def test_the_differential_page_of_equal_tables():
    reader = alone(differential.page(outcomes()[:1]))
    assert "the same table from every format" in reader.text
    assert reader.all("h1")[0]["class"] == "good"


def test_the_differential_check_is_written_as_two_files(tmp_path):
    paths = differential.write(outcomes(), tmp_path / "new", 7)
    assert [path.name for path in paths] == ["differential.jsonl", "differential.html"]
    lines = [json.loads(line) for line in paths[0].read_text("utf-8").splitlines()]
    assert [(line["profile"], line["broken"], line["worn"]) for line in lines] == [
        ("v1", {}, {}), ("v2", {"exact": 1}, {"name": 2}), ("v1", {}, {}),
    ]  # fmt: skip
    assert paths[1].read_text("utf-8") == differential.page(outcomes(), 7)


def test_differences_in_markdown_obey_nobody():
    text = differential.markdown(outcomes())
    assert text.splitlines()[-1].startswith("- f-json/v2: <code>row 1, exact&#58; &#39;&#60;script")
    assert text.splitlines()[3] == "| f-json | v2 | 2 | 28 | 1 | no column raw |"


def test_each_cause_of_a_rule_has_its_box_its_anchor_and_its_words(full, hostile):
    refused = Cause(Symptom.REFUSED, (("cell", "bit", "value"),), "bit(1)", "'1'")
    first = replace(full.failures[0], cause=refused, profiles=("v1",), judged=2)
    second = replace(
        first,
        cause=Cause(
            Symptom.WRONG,
            (("cell", "bit", "value"),),
            "bit(1)",
            hostile,
            Relation(RelationKind.OTHER_COLUMN, name=hostile),
        ),
        others=2,
    )
    text = page.page_of_run(replace(full, failures=(first, second, full.failures[2])))
    reader = Reader(text)
    assert "1 broken rule, 2 causes" in reader.text
    assert "refuses every row with a value in a bit(1) cell, here '1'" in reader.text
    assert "cases 2 in 1 of 2 profiles: v1" in reader.text
    assert "and 2 other causes of this rule" in reader.text
    assert (
        text.count('id="x-json/value/unsigned"') == text.count('id="x-json/value/unsigned~2"') == 1
    )
    assert hostile not in text
