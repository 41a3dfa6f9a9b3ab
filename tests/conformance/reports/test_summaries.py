"""Badge, Markdown, picture, and all files of a report at once."""

import json
import re
from dataclasses import replace
from xml.etree import ElementTree as ET

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from shown import shown

from conformance import reports as report
from conformance.judging import mistakes as judging
from conformance.judging.findings import Verdict
from conformance.judging.known import State
from conformance.judging.results import circumstances
from conformance.reports import badge, console, junit, markdown, notebook, page, picture, records
from conformance.reports.repairs import repairs
from conformance.rules.rules import Obligation
from generators.errors import HarnessError, UsageError


@pytest.fixture
def recorded(full):
    """The run with everything that fails on record."""
    fmt = full.formats[0]
    known = tuple(
        replace(result, known=frozenset(f.rule for f in result.findings)) for result in fmt.cases
    )
    failures = tuple(
        replace(failure, on_record=failure.cases, reason="later") for failure in full.failures
    )
    return replace(
        full, formats=(replace(fmt, cases=known),), failures=failures, entries=full.entries[:1]
    )


def test_badges(full, good, recorded):
    assert badge.badge(good) == {
        "schemaVersion": 1, "label": "cdc conformance", "message": "x-json: 1/1 rules", "color": "brightgreen",
    }  # fmt: skip
    for run, message, colour in (
        *(
            (full, "x-json: 1/4 rules, 1 known", "red"),
            (recorded, "x-json: 1/4 rules, 3 known", "yellow"),
        ),
        (
            replace(recorded, entries=full.entries),
            "x-json: 1/4 rules, 3 known, record out of date",
            "orange",
        ),
        (replace(good, formats=good.formats * 2), "2 formats: 2/2 rules", "brightgreen"),
        (replace(good, formats=()), "nothing judged", "lightgrey"),
    ):
        shield = badge.badge(run)
        assert (shield["message"], shield["color"]) == (message, colour)
    assert json.loads(badge.badge_bytes(good)) == badge.badge(good)


def test_a_badge_of_a_broken_should_is_green_but_not_bright(full, recorded):
    fmt = full.formats[0]
    soft = replace(
        recorded,
        formats=(replace(fmt, cases=(fmt.cases[0], fmt.cases[3])),),
        failures=full.failures[1:2],
    )
    assert (soft.exit_code, badge.badge(soft)["color"]) == (0, "green")


def test_markdown_says_what_changed(full):
    text = markdown.render(full)
    lines = text.splitlines()
    unjudged = "1 rule and 1 case not judged (beyond level, selection or decoder)"
    assert (
        lines[0] == f"### ❌ <code>decoder mine.py&#58;decode</code> does NOT conform, {unjudged}"
    )
    assert lines[2:5] == [
        *(
            "| format | rules kept | cases | pass | non-strict | unsupp. | fail |",
            "|---|---|---|---|---|---|---|",
        ),
        "| ✗ x-json | 1/4 | 6 | 1 | 1 | 1 | 3 |",
    ]
    heads = [line for line in lines if line.startswith("####") or "<summary>" in line]
    assert heads == [
        *(
            "#### x-json: one mistake; repair first what stands first",
            "<details><summary>New failures: 1</summary>",
        ),
        "#### Fixed: remove from the record of known failures: 1",
        *(
            "#### Entries that match nothing: 1",
            "<details><summary>Broken, does not count: 1</summary>",
        ),
        *(
            "<details><summary>Known failures: 1</summary>",
            "<details><summary>By profile</summary>",
        ),
    ]
    (mistake,) = [line for line in lines if line.startswith("1. ")]
    assert mistake.startswith(
        "1. **every value is wrong&#58; 2 cases**<br><code>&#123;&#34;schema&#34;"
    )
    assert (
        "expected <code>9223372036854775808</code>, actual <code>-9223372036854775808</code> at <code>after"
        in mistake
    )
    assert mistake.endswith("<br><code>cdc-conformance replay out/failures/u.json</code>")
    new = lines[lines.index("<details><summary>New failures: 1</summary>") + 4]
    rule = "<code>x-json/value/unsigned</code><br>The statement of value/unsigned."
    assert new.startswith(f"| {rule} | MUST <code>WRONG&#95;SIGN</code> | 2 |")
    assert "- <code>x-json/value/kept, fail, profile v1&#42;</code>" in lines
    assert (
        "| <code>x-json/value/known</code> | 1 | <code>upstream 7</code> | [link](<https://example.test/7>) |"
        in lines
    )
    assert "| ! x-json | v2 | 1 | 0 | 0 | 0 | 1 |" in lines
    again = "<code>cdc-conformance run x-json --decoder mine.py&#58;decode --seed 7</code>"
    assert lines[-1] == f"Seed 7, budget smoke, exit code 1. To repeat it: {again}"


def test_markdown_of_a_run_that_conforms(good):
    text = markdown.render(good)
    assert text.startswith("### ✅ <code>decoder mine.py&#58;decode</code> conforms\n")
    assert "failures" not in text and "Seed 7, budget smoke, exit code 0." in text


def cells(line):
    return len(re.findall(r"(?<!\\)\|", line)) - 1


def test_markdown_obeys_nobody(with_finding, full, hostile):
    made = with_finding(actual=hostile + "\nnext", expected="", path=hostile, case=hostile)
    known = replace(full.failures[2], reason=hostile, link="javascript:" + hostile)
    entry = replace(full.entries[1].entry, rule=hostile)
    wrong = replace(full.entries[1], state=State.MATCHES_NOTHING, hint=hostile, entry=entry)
    header = replace(made.header, decoder=hostile)
    text = markdown.render(
        replace(made, header=header, failures=(*made.failures[:2], known), entries=(wrong,))
    )
    for sign in (
        "<script",
        "@someone",
        "http://",
        "`a`",
        "\x1b",
        "\x00",
        "javascript:",
        "](<javascript",
    ):
        assert sign not in text
    tables = [line for line in text.splitlines() if line.startswith("|")]
    assert {cells(line) for line in tables} == {7, 4}
    assert set(re.findall(r"<(/?\w+)", text)) <= {
        "b",
        "/b",
        "code",
        "/code",
        "br",
        "i",
        "/i",
        "details",
        "/details",
        "summary",
        "/summary",
    }


def test_markdown_marks_the_field_in_the_message(full):
    text = markdown.render(full)
    assert "<b>&#34;c&#34;&#58;&#34;9223372036854775808&#34;</b>" in text


@settings(deadline=None)
@given(text=st.text(st.characters(), max_size=80))
def test_code_holds_nothing_that_markdown_obeys(text):
    code = markdown.code(text)
    if not text:
        assert code == "<i>empty</i>"
        return
    inner = code.removeprefix("<code>").removesuffix("</code>")
    assert not set(re.sub(r"&#\d+;", "", inner)) & set("<>&|`*_[]@#\\~:!\"'{}$^\n")
    assert re.fullmatch(r"[\x20-\x7e]*", inner)


def test_markdown_stays_short(many):
    text = markdown.render(many(12, 100, 10))
    assert len(text) < 65_536
    assert "| and 1150 more |" in text


def written(run):
    return [json.dumps(line).encode() for line in records.records(run)]


def test_the_picture_has_a_square_for_each_profile(full):
    root, space = (
        ET.fromstring(picture.svg(picture.read(written(full)))),
        {"s": "http://www.w3.org/2000/svg"},
    )
    squares = [
        (group.find("s:title", space), group.find("s:rect", space).get("class"))
        for group in root.iterfind("s:g", space)
    ]
    assert [(title.text, tone) for title, tone in squares if title is not None] == [
        *(
            ("v1: 2 fail, 1 pass, 1 pass-non-strict", "bad"),
            ("v2: 1 fail", "warn"),
            ("v3: 1 unsupported", "none"),
        ),
    ]
    words = [element.text for element in root.iterfind("s:text", space)]
    assert words[:2] == [
        "decoder mine.py:decode: does NOT conform",
        "1 format, 3 profiles, 6 cases, 1 of 5 rules kept",
    ]
    assert {"x-json", "1/5", "6"} <= set(words)


def test_the_picture_of_a_run_that_conforms_is_green(good):
    text = picture.svg(picture.read(written(good)))
    assert 'class="head good"' in text
    assert "prefers-color-scheme: dark" in text
    assert set(re.findall(r"https?://[^\"]+", text)) == {"http://www.w3.org/2000/svg"}
    assert not re.search(r"url\(|@import|@font-face|<script|href", text)


def test_many_profiles_take_several_lines(good):
    fmt = good.formats[0]
    cases = tuple(
        replace(fmt.cases[0], case=replace(fmt.cases[0].case, profile=f"v{n}")) for n in range(50)
    )
    few = ET.fromstring(picture.svg(picture.read(written(good))))
    more = ET.fromstring(
        picture.svg(picture.read(written(replace(good, formats=(replace(fmt, cases=cases),)))))
    )
    assert int(more.get("height")) - int(few.get("height")) == 2 * picture.STEP


def test_a_hostile_decoder_in_a_picture(good, hostile):
    lines = written(
        replace(good, header=replace(good.header, decoder=hostile.replace("\ud800", "")))
    )
    root = ET.fromstring(picture.svg(picture.read(lines)))
    assert "<script>" in root[0].text


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        *(
            ([], "no footer"),
            ([b'{"type":"header","decoder":"x"}'], "no footer"),
            ([b"nonsense"], "line 1 is no line"),
        ),
        *(([b'{"type":"header"}'], "no footer"), ([b"[]"], "line 1 is no line")),
        ([b'{"type":"case","format":"x"}'], "line 1 is no line"),
    ],
)
def test_what_is_no_report_is_not_drawn(lines, message):
    with pytest.raises(UsageError, match=message):
        picture.read(lines)


def test_the_picture_is_made_of_a_file(full, tmp_path):
    path = records.write(full, tmp_path)
    picture.main(str(path), str(tmp_path / "matrix.svg"))
    assert ET.parse(tmp_path / "matrix.svg").getroot().get("role") == "img"
    with pytest.raises(HarnessError, match="cannot draw"):
        picture.main(str(tmp_path / "none"), str(tmp_path / "matrix.svg"))


def test_a_page_has_the_table_that_the_console_shows_between_its_marks(full, tmp_path):
    fmt = full.formats[0]
    run = replace(full, formats=(fmt, replace(fmt, format="y-json")))
    page, marks = tmp_path / "page.md", [mark.strip() for mark in picture._MARKS]
    page.write_text("\n".join(["before", marks[0], "old", marks[1], "after", ""]), "utf-8")
    picture.main(str(records.write(run, tmp_path)), str(tmp_path / "matrix.svg"), str(page))
    first, begin, fence, *table, about, said, close, end, last = page.read_text(
        "utf-8"
    ).splitlines()
    assert (first, begin, fence, close, end, last) == (
        "before",
        marks[0],
        "```text",
        "```",
        marks[1],
        "after",
    )
    lines = shown(console.render(run)).splitlines()
    assert [line[:7] for line in table] == [
        "┏━━━━━━",
        "┃format",
        "┡━━━━━━",
        "│x-json",
        "│y-json",
        "└──────",
    ]
    there = lines.index(table[0])
    assert [_counts(line) for line in lines[there : there + 6]] == [_counts(line) for line in table]
    assert any(line.startswith(about.partition(",")[0]) for line in lines)
    assert lines[-1].startswith(said)
    with pytest.raises(UsageError, match="the page has no marks for a report"):
        picture.renewed("nothing", picture.read(written(run)))


def _counts(line):
    """The cells of a line but its messages: a fixture's cases have places only in part."""
    cells = line.split("│")
    return [*cells[:3], *cells[4:]] if len(cells) > 4 else cells


def test_a_run_of_several_formats_has_a_line_each_and_profiles_with_details(full):
    run = replace(full, formats=(full.formats[0], replace(full.formats[0], format="y-json")))
    for options, wanted in (({}, False), ({"details": True}, True)):
        assert ("│  v2 " in shown(console.render(run, **options))) is wanted


def test_a_report_is_seven_files(full, tmp_path):
    paths = report.write_all(full, tmp_path / "a" / "report")
    names = ["report.jsonl", "report.html", "junit.xml", "report.sarif", "report.md", "badge.json"]
    names += ["history.jsonl"]
    assert [path.name for path in paths] == names
    assert sorted(path.name for path in (tmp_path / "a" / "report").iterdir()) == sorted(names)
    assert json.loads(paths[0].read_bytes().splitlines()[-1])["type"] == "footer"
    assert paths[1].read_text("utf-8").startswith("<!DOCTYPE html>")
    assert ET.parse(paths[2]).getroot().tag == "testsuites"
    assert paths[4].read_text("utf-8").startswith("### ")
    assert json.loads(paths[5].read_bytes())["schemaVersion"] == 1


def test_a_report_that_cannot_be_written_says_so(full, tmp_path):
    (tmp_path / "junit.xml").mkdir()
    with pytest.raises(
        HarnessError, match=r"cannot write the report to .*junit\.xml.*another place"
    ):
        report.write_all(full, tmp_path)
    assert not list(tmp_path.glob("*.partial"))


def test_a_hostile_run_is_written_whole(with_finding, hostile, tmp_path):
    made = with_finding(actual=hostile, value=hostile.encode("utf-8", "surrogatepass"))
    for path in report.write_all(made, tmp_path):
        path.read_text("utf-8")
    lines = map(json.loads, (tmp_path / "report.jsonl").read_bytes().splitlines())
    failure = next(line for line in lines if line["type"] == "failure")
    assert failure["actual"] == hostile.replace("\ud800", r"\ud800")


def test_a_should_never_looks_like_a_must(full):
    soft = next(
        failure for failure in full.failures if failure.rule.obligation is Obligation.SHOULD
    )
    for strict, colour, words in (
        (False, "yellow", "does not count without --strict"),
        (True, "red", "SHOULD, "),
    ):
        panel = console.failure(soft, strict)
        assert (panel.border_style, words in panel.renderable.plain) == (colour, True)
    firm = console.failure(full.failures[0])
    assert firm.border_style == "red" and "count" not in firm.renderable.plain.splitlines()[1]
    assert "does not count without --strict" in junit.render(full)
    fmt = replace(full.formats[0], cases=full.formats[0].cases[3:4])
    named = shown(
        console.render(replace(full, formats=(fmt,), failures=full.failures[1:2], strict=True))
    )
    assert named.count("(SHOULD, counts with --strict)") == 1


@pytest.mark.parametrize(("more", "named"), [(0, False), (2, True)])
def test_every_report_says_how_many_smaller_mistakes_there_are(full, monkeypatch, more, named):
    (mistake,) = judging.mistakes(full.formats[0])
    monkeypatch.setattr(
        judging, "_find_mistakes", lambda _fmt, _strict: [mistake] * (judging.MOST + more)
    )
    run = replace(full, formats=(replace(full.formats[0]),))
    notebook_of = notebook.html(notebook.NotebookResult.of_result(run, None))
    for text in (
        shown(console.render(run)),
        markdown.render(run),
        page.page_of_run(run),
        notebook_of,
    ):
        assert f"x-json: {judging.MOST + more} mistakes" in text
        assert ("and 2 smaller ones" in text, "smaller" in text) == (named, named)


def test_markdown_shows_failures_openly_where_no_mistake_is_named(full):
    lines = markdown.render(replace(full, formats=())).splitlines()
    assert (
        "#### New failures: 1" in lines
        and "<details><summary>New failures: 1</summary>" not in lines
    )


def test_mistakes_are_looked_for_once_a_result(full, monkeypatch, tmp_path):
    asked = []
    monkeypatch.setattr(
        judging, "_find_mistakes", lambda fmt, strict: asked.append((fmt.format, strict)) or []
    )
    run = replace(full, formats=(replace(full.formats[0]),))
    console.render(run)
    report.write_all(run, tmp_path)
    assert asked == [("x-json", False)]


def test_markdown_has_new_failures_only_beside_a_record_and_each_with_its_message_and_replay(full):
    bare = markdown.render(replace(full, entries=()))
    assert "<summary>Failures: 1</summary>" in bare and "New failures" not in bare
    assert "cdc&#45;conformance replay" in markdown.render(full).replace(
        "cdc-conformance", "cdc&#45;conformance"
    )


def test_reports_say_when_and_where_the_run_was(full):
    run = replace(full, header=replace(full.header, versions=circumstances("openjdk version 17")))
    assert run.header.versions["date"].endswith("+00:00")
    text = markdown.render(run)
    assert (
        "date <code>" in text
        and "os <code>" in text
        and "java <code>openjdk version 17</code>" in text
    )
    assert 'timestamp="' + run.header.versions["date"][:19] in junit.render(run)
    assert all(
        float(case.get("time")) >= 0
        for case in ET.fromstring(junit.render(run))[0].iter("testcase")
    )


def test_cases_that_are_only_informational_are_not_counted_with_mistakes(full):
    """With --strict an informational case counts for the exit code, but it shows no mistake."""
    fmt = full.formats[0]
    broken = next(case for case in fmt.cases if case.findings)
    unspecified = replace(
        next(result for result in fmt.rules if result.rule.id == broken.findings[0].rule),
        rule=replace(fmt.rules[0].rule, id="x-json/open", obligation=Obligation.UNSPECIFIED),
    )
    open_ended = replace(
        next(case for case in fmt.cases if not case.findings),
        verdict=Verdict.INFORMATIONAL,
        findings=(replace(broken.findings[0], rule="x-json/open"),),
    )
    alone = replace(fmt, cases=(broken,))
    both = replace(fmt, cases=(broken, open_ended), rules=(*fmt.rules, unspecified))
    for some in (alone, both):
        strict = replace(full, formats=(some,), strict=True)
        assert "one mistake in 1 case;" in shown(console.render(strict))
    assert len(list(both.counting(strict=True))) == 2


PLAN_ERROR = "AnalysisException: [UNRESOLVED_COLUMN] `kindd` cannot be resolved; at mine.py, line 4"


def test_a_decoder_that_fails_before_it_reads_a_message_is_told_in_one_sentence(full):
    """Every case has the error: none is an example of it, and none is counted."""
    fmt = full.formats[0]
    broken = next(case for case in fmt.cases if case.findings)
    finding = replace(
        broken.findings[0], expected="an end", actual=PLAN_ERROR, path="decoding", plan_failed=True
    )
    cases = tuple(replace(case, findings=(finding,)) for case in (broken, broken))
    run = replace(full, formats=(replace(fmt, cases=cases),))
    (mistake,) = repairs(run.formats[0], run).first
    assert mistake.sentence == f"the decoder fails before it reads a message: {PLAN_ERROR}"
    text = shown(console.render(run))
    assert "one mistake; repair first" in text
    first_screen = text.partition("repair first")[2].partition("broken rule")[0]
    assert "`kindd` cannot be resolved" in first_screen
    assert "message   " not in first_screen and "expected  " not in first_screen
    assert "expected `an end`" not in markdown.render(run)
