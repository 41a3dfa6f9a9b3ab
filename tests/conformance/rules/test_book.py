"""Rules as data: what a file of rules may say, what is said of a wrong one, and that no file says
anything twice.
"""

import tomllib
from pathlib import Path

import pytest
from text_tables import of_lines, rows

import conformance.rules
from conformance.rules import book
from conformance.rules.order import Order, order_of
from conformance.rules.order import parse_order as order
from conformance.rules.rules import (
    Aspect,
    Citation,
    Effect,
    Obligation,
    Provenance,
    Rule,
    Selector,
    rules,
)
from generators.errors import UsageError
from generators.wire_format import FORMATS

FOLDER = Path(conformance.rules.__file__).parent
TOY = (
    Path(__file__).parents[3] / "examples" / "toy-json" / "conformance" / "rules" / "toy-json.toml"
)
OWN = 'effect = "WRONG_OP", cites = "canal#times", owns = "aspect=op", says = "S."'


def read(text):
    return book.parse_book("toy-json", "toy.toml", text).rules


def test_a_kind_is_taken_as_it_is_or_with_other_words():
    plain, cited, other = read(
        """
provenance = "OBSERVED"
[rules]
"fault/never-lost" = {}
"value/null" = "canal#times canal#old-empty"
"value/integer" = { grade = "SHOULD ASSUMED", effect = "WRONG_SIGN", cites = "canal#times", owns = "cell=content", says = '''
    One
    two.''' }
"""
    )
    assert plain.id == "toy-json/fault/never-lost"
    assert [citation.where for citation in plain.citations] == [
        "standards#json-doubtful",
        "harness#every-offset",
    ]
    assert (plain.obligation, plain.provenance) == (Obligation.MUST, Provenance.ASSUMED)
    citations, null = (
        (Citation("canal#times"), Citation("canal#old-empty")),
        Selector(aspects=(Aspect.NULL,)),
    )
    standing = (Obligation.MUST, Provenance.OBSERVED, citations, Effect.VALUE_FOR_NULL, null)
    assert cited == Rule("toy-json/value/null", "JSON null is NULL and a string is not.", *standing)
    content = Selector(fields=("cell",), aspects=(Aspect.NULL, Aspect.VALUE))
    standing = (Obligation.SHOULD, Provenance.ASSUMED, citations[:1], Effect.WRONG_SIGN, content)
    assert other == Rule("toy-json/value/integer", "One two.", *standing)


def test_a_format_that_is_like_another_has_its_rules_behind_its_own_and_says_what_differs():
    toy_rules = read(
        f"""
like = "debezium-json"
without = "rows/schemaless key/schemaless"
[rules]
"value/null" = {{ grade = "SHOULD", cites = "canal#times" }}
"new/rule" = {{ {OWN} }}
"""
    )
    other = rules("debezium-json")
    names = [
        rule.id.partition("/")[2] for rule in other if not rule.law and rule.id not in LEFT_OUT
    ]
    assert [rule.id for rule in toy_rules] == [
        "toy-json/new/rule",
        *(f"toy-json/{name}" for name in names),
    ]
    (null,) = (rule for rule in toy_rules if rule.id == "toy-json/value/null")
    (theirs,) = (rule for rule in other if rule.id == "debezium-json/value/null")
    assert (null.obligation, null.citations) == (Obligation.SHOULD, (Citation("canal#times"),))
    assert (null.statement, null.selector, null.effect) == (
        theirs.statement,
        theirs.selector,
        theirs.effect,
    )


LEFT_OUT = ("debezium-json/rows/schemaless", "debezium-json/key/schemaless")


def test_several_kinds_in_one_line_keep_their_order():
    toy_rules = read('[rules]\n"value/integer value/decimal value/null" = "canal#times"\n')
    assert [rule.id.split("/", 1)[1] for rule in toy_rules] == [
        "value/integer",
        "value/decimal",
        "value/null",
    ]
    assert {rule.citations for rule in toy_rules} == {(Citation("canal#times"),)}


def test_a_family_s_words_stand_before_a_kind_s():
    (general,) = read('[rules]\n"envelope/position" = "canal#times"\n')
    (own,) = read('family = "ticdc"\n[rules]\n"envelope/position" = "canal#times"\n')
    assert general.statement == "The position is the message's, all digits kept."
    assert own.statement == "position is commitTs, all digits of a number beyond 2^53 kept."


OF_CELLS = Selector(logicals=("text",), classes=("a", "b"), tags=("x:*",), profiles=("v1*",))


@pytest.mark.parametrize(
    ("text", "selector"),
    [
        *(
            ("", Selector()),
            (
                "change=whole",
                Selector(("change",), (*book.ASPECTS["existence"], Aspect.KIND, Aspect.OP)),
            ),
        ),
        (
            "change=existence|image",
            Selector(("change",), (Aspect.MISSING, Aspect.EXTRA, Aspect.CORRUPT, Aspect.IMAGE)),
        ),
        ("envelope=keys|sql; kind=DDL", Selector(("keys", "sql"), (Aspect.FIELD,), kinds=("DDL",))),
        (
            "type=bigint unsigned|int*; level=2",
            Selector(types=("bigint unsigned", "int*"), levels=(2,)),
        ),
        (
            "op=UPDATE; side=before; state=ABSENT",
            Selector(ops=("UPDATE",), sides=("before",), states=("ABSENT",)),
        ),
        ("logical=text; class=a|b; tag=x:*; profile=v1*", OF_CELLS),
    ],
)
def test_a_selector_is_its_conditions(text, selector):
    assert book.parse_selector(text) == selector


OF_A_RULE = rows(__file__, "wrong_rules.txt")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        *of_lines(__file__, "wrong_files.txt"),
        *((f"[rules]\n\n{wrong}\n", f"toy.toml:3: rows/op: {said}") for wrong, said in OF_A_RULE),
    ],
)
def test_a_wrong_file_is_told_with_its_line_and_the_nearest_name(text, message):
    with pytest.raises(UsageError) as error:
        read(text)
    assert str(error.value).startswith(message)


def test_a_rule_of_no_kind_says_everything_itself():
    (own,) = read(f'[rules]\n"rows/of-mine" = {{ {OWN} }}\n')
    assert own.statement == "S."
    with pytest.raises(
        UsageError, match=r"toy.toml:2: .* A rule of no kind says says, effect, owns itself\."
    ):
        read('[rules]\n"rows/of-mine" = "canal#times"\n')


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ({"cite": "canal#times"}, "unknown field 'cite'. Did you mean 'cites'?"),
        ({"positions": ["numbers"]}, "unknown position 'numbers'. Did you mean 'number'?"),
        ({"keys": "tables"}, "unknown keys 'tables'. Did you mean 'table'?"),
        ({"arrival": "yes"}, "arrival is 'yes', not of type bool."),
        *(
            ({"provenance": "ASSUME"}, "unknown provenance 'ASSUME'. Did you mean 'ASSUMED'?"),
            ({}, "cites is empty."),
        ),
        (
            {"cites": "canal#time"},
            "unknown fact 'time' of sources/canal.toml. Did you mean 'times'?",
        ),
    ],
)
def test_a_wrong_order_says_what_is_wrong(data, message):
    with pytest.raises(UsageError) as error:
        order({"provenance": "ASSUMED", **data})
    assert str(error.value).startswith(message)


def test_a_format_from_outside_brings_its_file(tmp_path, monkeypatch):
    monkeypatch.setattr(book, "_OUTSIDE", {})
    path = tmp_path / "outside-json.toml"
    path.write_text(
        f'[order]\ncites = "canal#times"\nkeys = "table"\n\n[rules]\n"rows/of-mine" = {{ {OWN} }}\n',
        "utf-8",
    )
    book.register("outside-json", path)
    assert [rule.id for rule in rules("outside-json") if not rule.law] == [
        "outside-json/rows/of-mine"
    ]
    assert order_of("outside-json") == Order(
        (), (Citation("canal#times"),), Provenance.ASSUMED, keys="table"
    )
    book.register("outside-json", path)
    for name, other in (("outside-json", TOY), (FORMATS[0], path)):
        with pytest.raises(UsageError, match=f"format '{name}' has a file of rules already"):
            book.register(name, other)
    path.write_text('[order]\nkeys = "key"\n', "utf-8")
    book.register("outside-2-json", path)
    with pytest.raises(UsageError, match=r"outside-json\.toml:1: order: unknown keys 'key'"):
        order_of("outside-2-json")


def data(name):
    return tomllib.loads((FOLDER / f"{name}.toml").read_text("utf-8"))


def named(table):
    return {name for key in table for name in key.split()}


def names(fmt):
    return named(data(fmt)["rules"])


def test_every_kind_is_of_two_formats_at_least():
    catalogue, used = data("kinds"), [names(fmt) for fmt in FORMATS]
    assert [
        name for name in named(catalogue["kinds"]) if sum(name in keys for keys in used) < 2
    ] == []
    for family, kinds in catalogue["family"].items():
        used = [names(fmt) for fmt in FORMATS if data(fmt).get("family") == family]
        assert [name for name in named(kinds) if sum(name in keys for keys in used) < 2] == []


@pytest.mark.parametrize("fmt", FORMATS)
def test_no_rule_repeats_what_its_kind_says(fmt):
    kinds = book.kinds_of(data(fmt).get("family", ""))
    given = book._entries(
        book.TableFile(*book.read_package_toml("conformance.rules", fmt), book.PARTS), "rules"
    )
    repeated = [
        (name, field)
        for _, name, own in given
        for field in own
        if kinds.get(name, {}).get(field) == own[field]
    ]
    assert repeated == []


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.toml")), ids=lambda path: path.name)
def test_lines_are_not_too_long(path):
    assert [line for line in path.read_text("utf-8").splitlines() if len(line) > 130] == []


def test_a_key_that_stands_twice_is_named_with_both_places():
    text = (
        '[rules]\n"a/b" = "x"\n"c" = { says = """\n    y""" }\n"a/b" = { says = """\n    z""" }\n'
    )
    with pytest.raises(
        UsageError, match=r'^mine\.toml:6: "a/b" is there twice, first on line 2\.$'
    ):
        book.TableFile("mine.toml", text, {"rules": dict})
