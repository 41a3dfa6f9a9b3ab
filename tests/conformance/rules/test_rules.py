"""The rules of every format, as a catalogue: complete, cited, and closed by rules that own whatever is left."""

import importlib
from fnmatch import fnmatchcase

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conformance.judging.output import ENVELOPE
from conformance.rules.base import Aspect, Citation, Effect, Obligation, Provenance, Rule, Selector, Subject, owner, rules
from generators.errors import UnknownName
from generators.model import Kind, Logical, Op, State
from generators.sources import mysql
from generators.sources.registry import source
from generators.wire_format import FORMATS, get, module_name

LAWS = ["batch", "environment", "places", "returns", "row-shape"]
ALL = [rule for name in FORMATS for rule in rules(name)]

CHANGE = (Aspect.MISSING, Aspect.EXTRA, Aspect.CORRUPT, Aspect.ACCEPTED, Aspect.KIND, Aspect.OP)
PLACES = [
    *(("change", aspect, "") for aspect in CHANGE),
    *((name, Aspect.FIELD, "") for name in ENVELOPE),
    *(("image", Aspect.IMAGE, side) for side in ("before", "after")),
    *(("cell", aspect, side) for aspect in (Aspect.PRESENCE, Aspect.NULL, Aspect.VALUE) for side in ("before", "after")),
]
"""Every (field, aspect, side) that the judge compares."""
CLASSES = sorted(
    {mysql.value_class(mysql.TYPES[name], value) for name in mysql.TYPES for value in mysql.boundary_values(name).values()}
)


@pytest.mark.parametrize("name", FORMATS)
def test_ids_are_unique_and_begin_with_the_format(name):
    ids = [rule.id for rule in rules(name)]
    assert len(set(ids)) == len(ids) >= 20
    for rule_id in ids:
        fmt, area, *rest = rule_id.split("/")
        assert fmt == name
        assert area
        assert len(rest) == 1
        assert rule_id == rule_id.lower()
        assert " " not in rule_id


def test_there_are_enough_rules():
    assert len(ALL) >= 40


@pytest.mark.parametrize("rule", ALL, ids=lambda rule: rule.id)
def test_a_rule_says_what_is_owed_and_who_says_so(rule):
    assert rule.statement.endswith(".")
    assert rule.citations
    assert all(citation.where.strip() for citation in rule.citations)
    assert isinstance(rule.obligation, Obligation)
    assert isinstance(rule.provenance, Provenance)
    assert isinstance(rule.effect, Effect)
    assert rule.law in ("", *LAWS)
    assert not (rule.law and rule.selector != Selector())


@pytest.mark.parametrize("rule", ALL, ids=lambda rule: rule.id)
def test_a_selector_names_what_exists(rule):
    selector = rule.selector
    fmt = get(rule.id.partition("/")[0])
    assert set(selector.fields) <= {field for field, _, _ in PLACES}
    assert set(selector.kinds) <= {kind.value for kind in Kind}
    assert set(selector.ops) <= {"", *(op.value for op in Op)}
    assert set(selector.sides) <= {"", "before", "after"}
    assert set(selector.logicals) <= {logical.value for logical in Logical}
    assert set(selector.states) <= {state.value for state in State}
    assert set(selector.levels) <= {1, 2}
    for glob in selector.profiles:
        assert any(fnmatchcase(profile.name, glob) for profile in fmt.profiles), glob
    known = [kind.key for name in {p.source for p in fmt.profiles} for kind in source(name).types.values()]
    for glob in selector.types:
        assert any(fnmatchcase(key, glob) for key in known), glob


@pytest.mark.parametrize("name", FORMATS)
def test_every_format_has_the_laws(name):
    assert sorted(rule.law for rule in rules(name) if rule.law) == LAWS


def subjects(name):
    """Comparisons over everything that the judge may ask about, with or without tags."""
    fmt = get(name)
    tags = sorted({tag for rule in rules(name) for tag in rule.selector.tags})
    return st.builds(
        lambda place, kind, **more: Subject(field=place[0], aspect=place[1], side=place[2], kind=kind, **more),
        st.sampled_from(PLACES),
        st.sampled_from([kind.value for kind in Kind]),
        profile=st.sampled_from([profile.name for profile in fmt.profiles]),
        level=st.sampled_from((1, 2)),
        op=st.sampled_from(["", *(op.value for op in Op)]),
        type=st.sampled_from(["", *(kind.key for kind in mysql.TYPES.values())]),
        logical=st.sampled_from(["", *(logical.value for logical in Logical)]),
        cls=st.sampled_from(["", *CLASSES]),
        state=st.sampled_from(["", *(state.value for state in State)]),
        tags=st.frozensets(st.sampled_from(["boundary", "drawn", *tags]), max_size=3),
    )


@pytest.mark.parametrize("name", FORMATS)
@given(data=st.data())
def test_every_comparison_has_an_owner(name, data):
    subject = data.draw(subjects(name))
    found = owner(rules(name), subject)
    assert found is not None
    assert found.selector.matches(subject)
    assert not found.law


@pytest.mark.parametrize("name", FORMATS)
def test_the_closing_rules_ask_for_an_aspect_and_nothing_else(name):
    """Without tags, types or classes every place is owned, too."""
    for kind in Kind:
        for field, aspect, side in PLACES:
            for level in (1, 2):
                subject = Subject("no such profile", level, kind.value, "", field, aspect, side)
                assert owner(rules(name), subject) is not None, subject


def test_a_list_that_is_not_closed_is_seen():
    open_ended = tuple(rule for rule in rules(FORMATS[0]) if Aspect.PRESENCE not in rule.selector.aspects)
    subject = Subject("v7.1.6", 1, "ROW", "INSERT", "cell", Aspect.PRESENCE, "after", "int", "int", "plain", "VALUE")
    assert owner(open_ended, subject) is None
    assert owner(rules(FORMATS[0]), subject) is not None


@pytest.mark.parametrize("name", FORMATS)
def test_liars_name_existing_rules(name):
    ids = {rule.id for rule in rules(name)}
    found = importlib.import_module(f"spark_checks.liars.{module_name(name)}").LIARS
    assert found
    assert [liar.name for liar in found if liar.convicts not in ids] == []
    assert len({liar.name for liar in found}) == len(found)
    assert all(liar.format == name and liar.level in (1, 2) and liar.why for liar in found)


def test_an_unknown_format_has_no_rules():
    with pytest.raises(UnknownName, match="Did you mean 'ticdc-canal-json'"):
        rules("tidb-canal-json")


SUBJECT = Subject(
    "v7.1.6+extension", 1, "ROW", "UPDATE", "cell", Aspect.VALUE, "before", "bigint unsigned", "int", "plain", "VALUE",
    frozenset({"boundary", "ddl:add column"}),
)  # fmt: skip


@pytest.mark.parametrize(
    ("conditions", "matches"),
    [
        ({}, True),
        ({"profiles": ("v7.1.6*",)}, True),
        ({"profiles": ("v7.1.6",)}, False),
        ({"profiles": ("v5*", "*+extension")}, True),
        ({"types": ("* unsigned",)}, True),
        ({"types": ("bigint",)}, False),
        ({"classes": ("pla?n",)}, True),
        ({"tags": ("ddl:*",)}, True),
        ({"tags": ("ddl:drop*", "fault:*")}, False),
        ({"fields": ("image", "cell"), "aspects": (Aspect.VALUE,)}, True),
        ({"fields": ("cell",), "aspects": (Aspect.NULL,)}, False),
        ({"kinds": ("DDL",)}, False),
        ({"ops": ("UPDATE",), "sides": ("before",)}, True),
        ({"sides": ("after",)}, False),
        ({"levels": (2,)}, False),
        ({"logicals": ("int",), "states": ("VALUE",)}, True),
        ({"states": ("NULL",)}, False),
    ],
)
def test_every_given_condition_must_hold(conditions, matches):
    assert Selector(**conditions).matches(SUBJECT) is matches


def test_citations_print_with_their_section():
    one = Citation("standards#mysql-time-range")
    assert str(one) == "Oracle, MySQL 8.0 Reference Manual, 13.2.3 The TIME Type, 13.2.3 [standards#mysql-time-range]"
    assert one.address == "https://dev.mysql.com/doc/refman/8.0/en/time.html"
    assert str(Citation("harness#every-offset")).endswith(", and 1 more [harness#every-offset]")
    assert Citation("harness#every-offset").address == ""


def test_the_first_rule_owns():
    def rule(name, **conditions):
        cited = (Citation("x"),)
        return Rule(name, "S.", Obligation.MUST, Provenance.ASSUMED, cited, Effect.WRONG_VALUE, Selector(**conditions))

    found = (rule("no", kinds=("DDL",)), rule("first", tags=("boundary",)), rule("second"))
    assert owner(found, SUBJECT) is found[1]
    assert owner(found[:1], SUBJECT) is None
