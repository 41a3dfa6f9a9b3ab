"""The scoreboard's data: outcomes, faults and their proofs."""

import json
import re
from dataclasses import replace

import pytest
from click.testing import CliRunner

from conformance.cases import catalogue
from conformance.judging.capabilities import Capabilities
from conformance.judging.selection import check_claims
from conformance.rules.rules import rules
from conformance.rules.tables import TableFile
from generators.errors import UnknownName, UsageError
from generators.wire_format import FORMATS, get
from scoreboard import board, judging, page, record, reproducing
from scoreboard.__main__ import main
from scoreboard.readers import READERS, Reader, find_reader, of_product

OLDER_SOURCE = {"kafka2delta": "1.3.0"}
"""Readers whose repository, as it could be had, ends before the judged release, with that end; the
package of the judged release has the same lines.
"""
CLAIMS = {"alibaba-canal-json": {}}
READER = Reader(
    "reader",
    "A reader",
    "1.0",
    CLAIMS,
    "A class",
    "",
    "As it is.",
    module="canal.py:decode_rows_zip",
)
FAULT = """
[[fault]]
id = "old"
formats = ["alibaba-canal-json"]
title = "Old rows are NULL | in part"
outcome = "wrong value"
rules = ["old/*"]
causes = ["null: cells before"]
why = "It takes the first."
known = "https://github.com/a/b/issues/1"
"""


def failure(rule, cause, **changes):
    shown = {
        "path": "row 0, before.a",
        "expected": "1",
        "actual": "NULL",
        "cause": cause,
        "cause_in_words": "gives NULL",
    }
    place = {
        "rule": f"alibaba-canal-json/{rule}",
        "case": f"alibaba-canal-json/1.1.8/{rule}",
        "cases": 3,
        "obligation": "MUST",
    }
    return {**place, **shown, **changes}


OLD = failure("old/rows", "null: cells before UPDATE")


def judged(tmp_path, *failures, recorded=(), faults=FAULT):
    """The board of a reader with these failures and faults."""
    counts = {
        "cases": {"fail": 3, "pass": 4, "unsupported": 9},
        "compared": 5,
        "seconds": 6,
        "verdict": "does not conform",
    }
    outcome = {**counts, "failures": list(failures), "recorded": {"failures": list(recorded)}}
    report = {"reader": "reader", "release": "1.0", "formats": {"alibaba-canal-json": outcome}}
    (tmp_path / "reader.json").write_text(json.dumps(report))
    (tmp_path / "reader.toml").write_text(faults, "utf-8")
    return board.board(tmp_path, tmp_path, [READER])


@pytest.mark.parametrize(
    ("cause", "actual", "outcome"),
    [
        ("refused: cell bit value plain", "CORRUPT: an error", "refuses"),
        *(
            ("raised: fault truncated", "an exception", "refuses"),
            ("lost: row DELETE", "no output row", "drops"),
        ),
        *(
            ("null: cell int value", "NULL", "wrong value"),
            ("wrong: cell time value", "CORRUPT", "wrong value"),
        ),
        *(
            ("accepted: fault cell-int", "ROW INSERT {a: 1}", "wrong value"),
            ("accepted: fault empty", "no output row", "drops"),
        ),
        ("accepted: fault trailing-brace", "ROW INSERT {a: 1}", "drops"),
        ("accepted: fault second-document", "ROW INSERT {a: 1}", "drops"),
        ("extra: foreign", "1 more, the first: ROW INSERT {a: 1}", "wrong value"),
        *(("extra: kind DDL", "1 more, the first: CORRUPT", "refuses"), (None, "1", "wrong value")),
    ],
)
def test_what_a_user_meets_follows_from_cause_and_answer(tmp_path, cause, actual, outcome):
    [result] = judged(tmp_path, failure("value/bit", cause, actual=actual))
    assert result.failures[0].outcome == outcome
    assert (result.unexplained, result.cases) == (1, 7)


def test_a_fault_is_proved_by_its_rules_and_causes(tmp_path):
    [result] = judged(tmp_path, OLD, failure("old/rows", "refused: cell bit value plain"))
    assert [f.fault.id if f.fault else None for f in result.failures] == ["old", None]
    [proof] = board.proofs([result], tmp_path)
    assert (proof.fault.id, proof.recorded, proof.cases) == ("old", "", 3)
    assert (dict(result.counts), result.unexplained) == ({record.Outcome.WRONG: 1}, 1)


def test_a_fault_may_be_known_by_what_the_readers_error_says(tmp_path):
    record = FAULT.replace("old/*", "rows/*").replace(
        'causes = ["null: cells before"]', 'errors = ["NullPointerException: text*"]'
    )
    its, other = (
        failure(
            "rows/readable",
            "refused: cell bigint value",
            actual=f"CORRUPT: {error}; and the message",
        )
        for error in ("NullPointerException: text", "DateTimeException: NullPointerException: text")
    )
    [result] = judged(tmp_path, its, other, faults=record)
    assert [f.fault.id if f.fault else None for f in result.failures] == ["old", None]


def test_a_fault_of_another_reader_of_the_record_explains_nothing(tmp_path):
    for name, count in (("reader", 1), ("other", 0)):
        assert (
            len(
                board.proofs(
                    judged(tmp_path, OLD, faults=f'{FAULT}readers = ["{name}"]\n'), tmp_path
                )
            )
            == count
        )


def test_a_recorded_message_confirms_a_fault(tmp_path):
    real = failure("old/rows", "null: cells before DELETE", case="alibaba-canal-json/recorded/x")
    [proof] = board.proofs(judged(tmp_path, OLD, recorded=[real]), tmp_path)
    assert proof.recorded == "alibaba-canal-json/recorded/x"


def test_a_fault_that_no_result_shows_is_told(tmp_path):
    judged(tmp_path, failure("value/bit", "null: cell bit value"))
    assert board.unproved(tmp_path, tmp_path, [READER]) == ["reader: old"]


FIVE = [
    *(failure(f"old/{name}", "null: cells before UPDATE") for name in "abc"),
    *(failure(name, "null: y") for name in "bc"),
]


@pytest.mark.parametrize(
    ("more", "failures", "cell"),
    [
        *(
            ('standing = "limit"\n', [OLD], "none"),
            ('standing = "dropped"\n', [OLD], "none"),
            ("", [], "none"),
        ),
        ('alone = true\nreaders = ["reader"]\n', [], "1 wrong value silently"),
        ('alone = true\nreaders = ["x"]\n', [], "none"),
        ("", [failure("value/bit", "null: cell bit value", obligation="SHOULD")], "none"),
        ("", FIVE, "1 wrong value silently; 2 not looked into"),
    ],
)
def test_a_cell_counts_faults_and_nothing_else(tmp_path, more, failures, cell):
    [result] = judged(tmp_path, *failures, faults=FAULT + more)
    assert page.cell(result) == cell
    assert "standing" not in more or (
        result.unexplained,
        board.unproved(tmp_path, tmp_path, [READER]),
    ) == (0, [])


def test_a_result_of_other_cases_is_marked(tmp_path, monkeypatch):
    (tmp_path / "stale.json").write_text('{"reader": ["alibaba-canal-json"]}')
    results = judged(tmp_path, OLD, faults=f'{FAULT}rule = "alibaba-canal-json/old/cumulative"\n')
    assert results[0].stale
    monkeypatch.setattr(reproducing, "program", lambda product, fault: "")
    assert (
        "| alibaba-canal-json | 1 wrong value silently\\* |"
        in page.pages(results, tmp_path)["scoreboard.md"]
    )


def test_a_result_is_stale_if_cases_or_adapter_are_others(tmp_path, monkeypatch):
    monkeypatch.setattr(judging, "RESULTS", tmp_path)
    monkeypatch.setattr(judging, "READERS", [READER])
    monkeypatch.setattr(judging, "digest", lambda reader, fmt: f"cases of {fmt}")
    now = {
        "cases_digest": "cases of alibaba-canal-json",
        "adapter_digest": judging.adapter_digest(READER, "alibaba-canal-json"),
    }
    for digests, stale in (
        (now, {}),
        (now | {"cases_digest": "x"}, 1),
        (now | {"adapter_digest": "x"}, 1),
        ({}, 1),
    ):
        (tmp_path / "reader.json").write_text(
            json.dumps({"formats": {"alibaba-canal-json": digests}})
        )
        assert judging.stale() == ({"reader": ["alibaba-canal-json"]} if stale else {})
    claims = {"types": ("int",), "profiles": ("1.1.8",)}
    for change, is_stale in (
        ({"settings": {"a": "b"}}, True),
        ({"formats": {"alibaba-canal-json": {**claims, "conventions": ("whole-before",)}}}, True),
        ({"formats": {"alibaba-canal-json": claims}}, False),
    ):
        digest = judging.adapter_digest(replace(READER, **change), "alibaba-canal-json")
        assert (digest != now["adapter_digest"]) is is_stale


def test_a_spark_reader_is_judged_on_the_profiles_of_its_entry():
    claims = {"debezium-json": {"profiles": ("1.*", "3.5.*")}}
    spark = replace(READER, formats=claims)
    assert list(judging._profile_options(spark, "debezium-json")) == [
        *("--writer-profile", "1.*"),
        *("--writer-profile", "3.5.*"),
    ]
    java = replace(find_reader("connect"), formats=claims)
    assert list(judging._profile_options(java, "debezium-json")) == []


def test_a_result_covers_the_cases_and_rules_of_the_profiles_that_its_reader_reads(monkeypatch):
    def digest(*profiles):
        claims = {"debezium-json": {"profiles": profiles}}
        return judging.digest(replace(READER, formats=claims), "debezium-json")

    every_rule = rules("debezium-json")
    of_sqlserver = "debezium-json/value/money-four-digits"
    fmt = get("debezium-json")
    cases = list(catalogue.named_cases(fmt, fmt.profiles, ("*/rows/debezium/key-update",)))
    monkeypatch.setattr(
        judging, "_typed_rows", lambda name: {case.id: (case, case.id.encode()) for case in cases}
    )
    before = {glob: digest(glob) for glob in ("3.5.0.Final", "3.6.1.Final+sqlserver")}
    assert digest("3.5.0.Fina[l]") == before["3.5.0.Final"]
    judging._digest_of_claims.cache_clear()
    monkeypatch.setattr(
        judging, "rules", lambda name: [rule for rule in every_rule if rule.id != of_sqlserver]
    )
    assert digest("3.5.0.Final") == before["3.5.0.Final"]
    assert digest("3.6.1.Final+sqlserver") != before["3.6.1.Final+sqlserver"]
    judging._digest_of_claims.cache_clear()


@pytest.mark.parametrize(
    ("line", "message"), [('outcome = "bad"', "unknown outcome 'bad'"), ("rulez = 1", "'rulez'")]
)
def test_a_record_that_does_not_fit_is_told(tmp_path, line, message):
    (tmp_path / "reader.toml").write_text(
        FAULT.replace(
            'outcome = "wrong value"', line if "outcome" in line else f'outcome = "drops"\n{line}'
        )
    )
    with pytest.raises(UsageError, match=f"reader.toml: old: .*{message}"):
        record.faults("reader", tmp_path)


READERS_FILE = """[texts]
class = "A class"
[[reader]]
name = "mine"
title = "Mine"
release = "1.0"
built = "@class@ of @release@"
source = ""
note = ""
formats.maxwell-json = { types = ["@all"] }
"""


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("[texts]", "[text]", "x.toml:1: unknown part 'text'. Did you mean 'texts'?"),
        ("title", "titel", "x.toml:4: mine: unknown field 'titel'. Did you mean 'title'?"),
        ('release = "1.0"', "", "x.toml:4: mine: it does not say release"),
        ('note = ""', "note = 1", "x.toml:4: mine: note is 1, not of type str"),
        ('note = ""', 'note = ""\nof = "mien"', "x.toml:4: mine: unknown reader 'mien'"),
        (
            "maxwell-json",
            "maxwell",
            "x.toml:4: mine: unknown format 'maxwell'. Did you mean 'maxwell-json'?",
        ),
        ("types", "tpyes", "x.toml:4: mine: unknown field 'tpyes'. Did you mean 'types'?"),
        ("@all", "@al", "x.toml:4: mine: unknown list 'al'. Did you mean 'all'?"),
        ("@class@", "@clas@", "x.toml:4: mine: unknown text 'clas'. Did you mean 'class'?"),
        (
            "formats.",
            'jars = { name = "j", mian = "m" }\nformats.',
            "x.toml:4: mine: unknown field 'mian'. Did you mean 'main'?",
        ),
    ],
)
def test_what_is_wrong_in_a_file_of_readers_is_told_with_its_line(old, new, message):
    def read(text):
        return list(
            of_product(
                TableFile("x.toml", text, {"texts": dict, "reader": list}), {"all": ["int", "bit"]}
            )
        )

    [reader] = read(READERS_FILE)
    assert (reader.built, reader.formats) == (
        "A class of 1.0",
        {"maxwell-json": {"types": ("int", "bit")}},
    )
    assert READERS_FILE.count(old) == 1
    with pytest.raises(UsageError) as error:
        read(READERS_FILE.replace(old, new))
    assert str(error.value).startswith(message)


def test_long_texts_are_cut():
    failed = dict.fromkeys(judging._KEPT, "x" * 800) | {
        "type": "failure",
        "rule": "r",
        "cases": 3,
        "message": {},
    }
    rule = {"type": "rule", "id": "r", "broken": 1, "compared": 1, "obligation": "MUST"}
    [cut] = judging.distilled([rule, failed], 1)["failures"]
    assert cut["expected"] == "x" * 700 + "... (800 characters)"
    assert (cut["obligation"], cut["cases"], "message" in cut) == ("MUST", 3, False)


def test_texts_of_messages_are_escaped(tmp_path, monkeypatch):
    shown = 'rule = "alibaba-canal-json/old/null-is-a-value"\nmessage = "<b>|"\nactual = "<i>|"\n'
    failed = failure("old/rows", "null: cells before UPDATE", cause_in_words="<u>|")
    monkeypatch.setattr(
        reproducing, "program", lambda product, fault: f"// {product} {fault.message}\n"
    )
    every = page.pages(judged(tmp_path, failed, faults=FAULT + shown), tmp_path)
    assert "| nothing: no row, no error | &lt;i>\\| |" in every["scoreboard/reader.md"]
    assert "| &lt;u>\\| |" in every["scoreboard/failures-reader.md"]
    html = every["scoreboard.html"]
    assert "<pre>&lt;b&gt;|</pre>" in html
    assert "// reader &lt;b&gt;|" in html
    assert "<script" not in html


@pytest.mark.parametrize(
    ("shown", "releases"),
    [
        (("2.0", "2.1"), "2.0 to 2.1"),
        (("2.1",), "2.1; not in 2.0"),
        (("2.0",), "2.0; gone in 2.1"),
        ((), "1.0"),
    ],
)
def test_releases_say_when_a_fault_came_and_went(tmp_path, shown, releases):
    seen = {"tried": {"reader": ["2.0", "2.1"]}, "shown": {"reader": {"old": shown}}}
    (tmp_path / "releases.json").write_text(json.dumps(seen))
    [proof] = board.proofs(
        judged(tmp_path, OLD, faults=f'{FAULT}message = "x"\n'), tmp_path, tmp_path
    )
    assert page.shown_on(proof) == releases


def test_formats_of_a_reader_with_the_same_cell_share_a_line():
    lines = [
        line for line in page.pages()["scoreboard.md"].splitlines() if "Flink SQL, its" in line
    ]
    formats = "flink-canal-json, flink-debezium-json, flink-maxwell-json, flink-ogg-json"
    assert [line.split(" | ")[2:] for line in lines] == [[formats, "none |"]] * 2


def test_readers_are_named_once_and_claim_formats_that_are_there():
    names = [reader.name for reader in READERS]
    assert len(set(names)) == len(names)
    for reader in READERS:
        assert set(reader.formats) <= set(FORMATS)
        assert (reader.bundle is None) == bool(reader.module)
        if reader.factory:
            assert (
                judging.JAVA / f"{reader.factory.partition('$')[0].replace('.', '/')}.java"
            ).is_file()
        else:
            file, _, function = reader.module.partition(":")
            assert f"def {function}(" in (judging.ROOT / "spark" / file).read_text("utf-8")
    with pytest.raises(UnknownName, match=r"spark-canal-zap.*spark-canal-zip"):
        find_reader("spark-canal-zap")


def test_a_fault_on_the_board_stands_on_three_feet():
    for name in reproducing.PRODUCTS:
        for fault in record.faults(name):
            if fault.standing is record.Standing.LIMIT:
                assert fault.declared.startswith("https://"), fault.id
            if not fault.on_board:
                assert not fault.message
                continue
            rule = page.rule_of(fault)
            assert re.fullmatch(r"https://github\.com/.*#L\d+(-L\d+)?", fault.source), fault.id
            assert (rule.obligation, rule.provenance != "ASSUMED", bool(rule.citations)) == (
                "MUST",
                True,
                True,
            ), fault.id
            assert fault.rule.partition("/")[0] in fault.formats
            assert fault.message
            assert bool(re.match(r"https://", fault.known)) != bool(
                re.fullmatch(r"\d{4}-\d\d-\d\d", fault.searched)
            ), fault.id
            assert fault.actual != fault.expected, fault.id


def product_faults():
    """The named failures of all products, each with its record."""
    return [(name, fault) for name in reproducing.PRODUCTS for fault in record.faults(name)]


def test_a_behaviour_has_one_standing_over_all_readers():
    for name, fault in product_faults():
        if fault.behaviour:
            behaviour = record.behaviours()[fault.behaviour]
            assert fault.on_board == behaviour.fault, (name, fault.id)
        assert fault.behaviour or not fault.on_board, (name, fault.id)
    used = {fault.behaviour for _, fault in product_faults()}
    assert set(record.behaviours()) == used - {""}


def test_a_fault_says_what_of_the_readers_documents_was_searched_and_what_later_source_has():
    for name, fault in product_faults():
        if fault.on_board:
            assert len(fault.documentation) > 20, (name, fault.id)
            looked_at = fault.newest in ("stands", "changed", "gone")
            assert fault.newest, (name, fault.id)
            assert looked_at == fault.newest_source.startswith("https://github.com/"), fault.id


def test_what_no_reader_can_know_is_no_expectation():
    """A number is a date or a time of a unit that the schema block alone names."""
    for name, fault in product_faults():
        if fault.kind == "debezium" and fault.on_board:
            message = json.loads(fault.message)
            row = (message.get("payload") or message).get("after") or {}
            timed = re.findall(r"(\w+) (?:DATE|TIME|TIMESTAMP)\b", fault.columns)
            if any(isinstance(row.get(column), int) for column in timed):
                assert message.get("schema"), (name, fault.id)


def test_no_refusal_is_a_fault_if_the_reader_says_itself_that_it_does_not_support_it():
    """But for a table that is excluded: what such an error says is of no interest to the job."""
    for name, fault in product_faults():
        if fault.on_board and fault.behaviour != "rows-of-other-tables":
            own_words = r"(?i)(n't|not|un)[ -]?support|missing '\w+' field|please check"
            assert not re.search(own_words, fault.actual), (name, fault.id)


def test_a_decimal_of_debezium_is_what_one_of_its_modes_writes():
    """Base64 or digits in a text, an object of scale and value, or a double: never an integer."""
    decimals = []
    for name, fault in product_faults():
        if fault.kind == "debezium" and fault.on_board:
            message = json.loads(fault.message)
            row = (message.get("payload") or message).get("after") or {}
            for column in re.findall(r"(\w+) DECIMAL\b", fault.columns):
                decimals.append((name, fault.id))
                assert not isinstance(row.get(column), int), (name, fault.id)
    assert decimals


def test_an_update_is_expected_with_both_images_if_the_rule_asks_for_both():
    for name, fault in product_faults():
        if fault.rule.endswith("image/sides") and "+U" in fault.expected:
            assert "-U" in fault.expected, (name, fault.id)


def test_a_message_of_another_table_breaks_the_rule_of_names():
    for name, fault in product_faults():
        if fault.on_board and fault.behaviour == "rows-of-other-tables":
            assert fault.rule.endswith("envelope/names"), (name, fault.id)


def test_no_label_is_expected_of_a_message_that_names_none():
    """An ENUM or SET without its members: the message holds an index, and no label."""
    for name, fault in product_faults():
        if fault.kind == "canal" and fault.on_board:
            message = json.loads(fault.message)
            for column, declared in (message.get("mysqlType") or {}).items():
                if re.fullmatch(r"(?i)enum|set", declared):
                    index = message["data"][0][column]
                    assert index in fault.expected or "error" in fault.expected, (name, fault.id)


def test_a_reader_of_a_product_names_the_line_that_builds_it():
    for reader in READERS:
        if reader.record in reproducing.PRODUCTS:
            assert re.fullmatch(r"https://github\.com/.*#L\d+(-L\d+)?", reader.source), reader.name
            release = OLDER_SOURCE.get(reader.name, reader.release)
            assert release in reader.source, reader.name


def test_a_fault_that_has_no_later_source_is_of_the_newest_release():
    releases = {reader.record: reader.release for reader in READERS}
    for name, fault in product_faults():
        if fault.newest == "judged":
            newest = record.newest_release(name).partition(",")[0]
            assert newest == releases[name], (name, fault.id)


def test_a_report_to_be_sent_has_an_address_behind_each_claim_and_is_not_gone():
    text = page.pages()["issues-to-send.md"]
    assert not re.search(r", and \d+ more", text)
    assert not re.search(r"level (one|two)|CORRUPT", text)
    for name, fault_id in page.TO_SEND:
        [fault] = [fault for fault in record.faults(name) if fault.id == fault_id]
        assert fault.on_board
        assert fault.mend
        assert (fault.known, fault.newest in ("gone", "changed")) == ("", False)
        assert page.evidence(fault)
        assert fault.search_words or fault.searched
        output = fault.actual or "nothing: no row, no error"
        assert output.replace("\n", "\n> ") in text


def test_causes_are_counted_once_and_those_that_most_meet_come_first():
    causes = board.causes(board.proofs(of_products()))
    assert len(causes) < sum(len(cause.proofs) for cause in causes)
    assert [cause.rank for cause in causes] == sorted(cause.rank for cause in causes)
    names = [(cause.proofs[0].reader.record, cause.behaviour.id) for cause in causes]
    assert len(set(names)) == len(names)
    assert names.index(("paimon", "null-is-a-value")) < names.index(("paimon", "negative-zero"))


def test_a_text_for_a_tracker_says_nothing_of_the_levels_of_this_harness():
    text = (page.DOCS / "issues-to-send.md").read_text("utf-8")
    assert re.findall(r"level (?:one|two|1|2)\b", text) == []


def test_the_faults_of_a_product_stand_in_the_order_of_their_causes():
    """What most users meet, and of that the worst, is read first."""
    text = page.pages()["scoreboard/paimon.md"]
    titles = re.findall(r"^### (.*)$", text.partition("## Documented limits")[0], re.MULTILINE)
    proofs = [proof for proof in board.proofs(of_products()) if proof.reader.record == "paimon"]
    ordered = [proof.fault.title for cause in board.causes(proofs) for proof in cause.proofs]
    assert titles == ordered
    assert ordered[0] == "Without a schema block NULL becomes the text null"


def test_what_readers_claim_is_there():
    for reader in READERS:
        for name, claims in reader.formats.items():
            check_claims(get(name), Capabilities.of(claims), [])


def test_the_rules_of_messages_that_no_writer_sends_are_assumptions():
    every = {
        rule
        for reader in READERS
        for fmt in reader.formats
        for rule in rules(fmt)
        if "/fault/" in rule.id
    }
    assert {
        rule.id for rule in every if rule.obligation == "MUST" and rule.provenance != "ASSUMED"
    } == set()
    assert every


def of_products():
    """The results of readers that are no recipes."""
    return [result for result in board.board() if not result.reader.name.startswith(page.RECIPES)]


def test_each_fault_on_record_is_shown_by_the_results():
    assert [name for name in board.unproved() if not name.startswith(page.RECIPES)] == []
    failures = [
        failure for result in of_products() for failure in (*result.failures, *result.recorded)
    ]
    assert {
        f.fault.id
        for f in failures
        if f.fault and f.fault.on_board and f.outcome != f.fault.outcome
    } == set()
    assert {path.stem for path in record.FAULTS.glob("*.toml")} <= {
        reader.record for reader in READERS
    }


def test_a_failure_has_one_entry_whatever_their_order():
    """But for what stands behind all others: the option's own limit, and a row whose cause is not
    known.
    """
    last_resorts = {"flink-ignore-parse-errors", "debezium-row-dropped", record.UNSENT.id}
    for result in of_products():
        entries = [
            fault
            for fault in record.faults(result.reader.record)
            if result.reader.name in (fault.readers or (result.reader.name,))
            and fault.id not in last_resorts
        ]
        for failure in (*result.failures, *result.recorded):
            explaining = [
                fault.id for fault in entries if fault.explains(result.format, failure.entry)
            ]
            assert len(explaining) <= 1, (result.reader.name, failure.entry["cause"], explaining)


def test_no_fault_counts_a_message_that_no_writer_sends():
    for name in sorted({reader.record for reader in READERS}):
        for fault in record.faults(name):
            assert not fault.on_board or not [
                rule for rule in fault.rules if rule.startswith("fault/")
            ], (name, fault.id)


def test_what_recipes_of_several_formats_do_alike_has_one_standing():
    """An id that several records of recipes share names one behaviour."""
    standings = {}
    for name in sorted({reader.record for reader in READERS}):
        if name.startswith(page.RECIPES):
            for fault in record.faults(name):
                standings.setdefault(fault.id, set()).add(fault.standing)
    assert {fault_id for fault_id, every in standings.items() if len(every) > 1} == set()
    assert len(standings) > 20


def test_a_fault_counts_what_its_reader_shows_without_the_option():
    """With `ignore-parse-errors` each decimal in base64 is NULL, which is the option's limit."""
    for result in of_products():
        if not result.reader.without_option:
            continue
        [plain] = [
            other
            for other in of_products()
            if (other.reader.name, other.format) == (result.reader.without_option, result.format)
        ]
        shown = {
            (failure.entry["rule"], failure.entry["cause"])
            for failure in (*plain.failures, *plain.recorded)
        }
        for failure in (*result.failures, *result.recorded):
            fault = failure.fault
            if fault and fault.on_board and result.reader.name not in fault.readers:
                place = failure.entry["rule"], failure.entry["cause"]
                assert place in shown or not place[1].startswith(("null:", "lost:")), fault.id


def test_the_cases_of_a_fault_that_drops_rows_hold_what_it_drops():
    for proof in board.proofs(of_products()):
        fault = proof.fault
        if not fault.on_board or fault.outcome is not record.Outcome.DROPS or fault.alone:
            continue
        assert fault.witness, fault.id
        for case_id in filter(None, (proof.case, proof.recorded)):
            assert any(
                re.search(fault.witness, text) for text in texts_of(proof.format, case_id)
            ), (fault.id, case_id)


def texts_of(format_name, case_id):
    """The values of a case's messages, as texts."""
    fmt = get(format_name)
    profile = case_id.split("/")[1]
    if profile == "recorded":
        cases = catalogue.recorded_cases(fmt, "*", None)
    elif "/drawn/" in case_id:
        seed = int(case_id.split("/")[3])
        cases = catalogue.drawn_cases(fmt, fmt.profiles, catalogue.BUDGETS["smoke"].drawn, seed)
    else:
        cases = catalogue.named_cases(fmt, catalogue.select_profiles(fmt, profile), (case_id,))
    for case in cases:
        if case.id == case_id:
            for written in case.written:
                if written.message.value:
                    yield written.message.value.decode("utf-8")


def test_results_are_of_the_readers_releases_and_name_no_machine():
    for reader in READERS:
        text = (judging.RESULTS / f"{reader.name}.json").read_text("utf-8")
        assert json.loads(text)["release"] == reader.release
        assert "/home/" not in text


def test_the_pages_are_those_of_the_results():
    every = page.pages()
    names = {f"scoreboard/{path.name}" for path in (page.DOCS / "scoreboard").glob("*.md")}
    # Recipes that keep a table have a board of their own (tests/scoreboard/test_pipelines.py).
    assert names - {"scoreboard/pipelines.md"} < set(every)
    for name, text in every.items():
        assert (page.DOCS / name).read_text("utf-8") == text, (
            "run `python -m scoreboard --page-only`"
        )
    html = every["scoreboard.html"]
    readers = html[html.index('id="readers"') :]
    table = readers[: readers.index("</table>")]
    named_there = {
        f"{result.reader.record}-{fault.id}" for result in of_products() for fault in result.faults
    }
    assert set(re.findall(r'<li class="\w+"><a href="#([^"]+)"', table)) == named_there
    assert set(re.findall(r' href="#([^"]+)"', html)) <= set(re.findall(r' id="([^"]+)"', html))
    assert len(html.encode()) <= 400_000
    assert len(every["scoreboard.md"].split()) <= 5_000
    assert html.count("<table") == html.count("<caption>")
    assert "<th>" not in html


def test_pages_of_readers_that_are_gone_are_removed_and_no_others(tmp_path, monkeypatch):
    (tmp_path / "scoreboard").mkdir()
    for name in ("pipelines.md", "failures-gone.md"):
        (tmp_path / "scoreboard" / name).write_text("x")
    monkeypatch.setattr(page, "pages", lambda: {"scoreboard/flink.md": "y"})
    page.write(tmp_path)
    left = sorted(path.name for path in (tmp_path / "scoreboard").iterdir())
    assert left == ["flink.md", "pipelines.md"]


def test_a_program_has_at_most_thirty_lines_and_nothing_of_the_harness():
    for product in reproducing.PRODUCTS:
        for fault in reproducing.reproducible_faults(product):
            text = reproducing.program(product, fault)
            assert len(text.splitlines()) <= 30, fault.id
            assert not re.search(r"@\w+@|scoreboard|conformance", text)


def test_a_program_that_is_not_there_is_told():
    ran = CliRunner().invoke(main, ["--reproduce", "seatunnel/foreign-row"])
    assert isinstance(ran.exception, UnknownName)
    assert "seatunnel/foreign-rows" in str(ran.exception)


@pytest.mark.parametrize(
    ("address", "words"),
    [
        ("https://github.com/a/b/blob/1.0/c/D.java#L75-L76", "D.java, lines 75-76"),
        ("https://github.com/a/b/blob/1.0/c/D.java#L706", "D.java, line 706"),
        ("https://github.com/a/b/blob/1.0/e.md?plain=1#L1-L2", "e.md, lines 1-2"),
        ("https://github.com/a/b/blob/1.0/e.md?plain=1", "e.md"),
        ("https://github.com/a/b/issues/17", "a/b #17"),
        ("https://github.com/a/b/pull/18", "a/b #18"),
        ("https://github.com/a/b/issues", "a/b/issues"),
        ("https://issues.apache.org/jira/projects/FLINK", "FLINK at issues.apache.org"),
        ("https://x.org/KIP-581%3A+Value+of+null", "KIP-581: Value of null at x.org"),
        ("https://x.org/types/#time", "types at x.org"),
    ],
)
def test_a_link_has_short_words(address, words):
    assert page.markdown_link(address) == f"[{words}]({address})"


def test_no_page_shows_an_address_as_text():
    """It does not wrap, and is wider than a phone; within a block of code it is part of a program."""
    named = 0
    for name, text in page.pages().items():
        if name.endswith(".md"):
            prose = re.sub(r"```.*?```|`[^`\n]*`|<!--.*?-->", "", text, flags=re.DOTALL)
            assert re.findall(r"(?<!\]\()\bhttps?://[^\s)]+", prose) == [], name
            named += len(re.findall(r"\]\(https://", prose))
    assert named > 100
