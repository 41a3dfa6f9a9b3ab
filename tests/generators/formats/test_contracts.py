"""What every format keeps: its cases, its profiles, and the facts of a profile that a lying writer
flips.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import fields
from itertools import chain, combinations
from typing import Any

import pytest
from text_tables import rows

from conformance.selftest.lies.lie import lies
from generators.drawing.cases import as_case, boundary_scenarios
from generators.errors import UsageError
from generators.garbage.faults import SCHEMA_NO_GRAMMAR, applicable
from generators.model import Kind, Origin, State
from generators.sources import boundaries
from generators.wire_format import FORMATS, get

# Cases

_KEYLESS = (
    *("key-update/nullable-unique", "shape/duplicate-after-rows", "shape/keyless"),
    *("shape/all-null-keyless", "shape/equal-rows", "rows/keyless/repeated"),
    *(f"rows/keyless/multi-row-{op}" for op in ("insert", "update", "delete")),
    *(
        f"rows/keyless/{name}"
        for name in ("all-null", "awkward-texts", "equal-rows", "same-name-elsewhere")
    ),
)
"""Scenarios of tables without a key, of which some writers publish nothing."""
KEYED = ("ticdc-avro", "ticdc-debezium-avro")
"""Formats whose tables have a key."""

_EMPTY = {
    *(
        "enum/empty",
        "enum-quoted/empty",
        "rows/every-type/alone-enum",
        "rows/every-type/alone-enum-quoted",
    ),
    *(f"rows/every-type/boundaries-{number}" for number in (1, 6, 9, 11, 16)),
}
"""Those that begin with an ENUM's empty value, at which TiCDC's Avro stops."""
SILENT = {
    "aws-dms-json/2016-01-01+control-details+table-alters+before-image": {"ddl/semicolon-in-text"},
    "aws-dms-json": {"ddl/semicolon-in-text", "ddl/semicolon-in-a-columns-comment"},
    "alibaba-canal-json/1.1.6+minimal": {
        "shape/update-nothing",
        "rows/every-type/update-nothing",
        "old/all-unchanged",
    },
    "alibaba-canal-protobuf/1.1.6+minimal": {
        "shape/update-nothing",
        "rows/every-type/update-nothing",
        "old/all-unchanged",
    },
    "alibaba-canal-protobuf/1.1.8+minimal": {
        "shape/update-nothing",
        "rows/every-type/update-nothing",
        "old/all-unchanged",
    },
    "cloudcanal-debezium": {
        *(
            "ddl/add-foreign-key",
            "ddl/create-view",
            "ddl/drop-view",
            "ddl/create-sequence",
            "ddl/exchange-partition",
        )
    },
    "ticdc-debezium-json/v8.1.2": {"ddl/semicolon-in-text", "ddl/semicolon-in-a-columns-comment"},
    "huawei-cdl-json/1.0+default-identity": {"rows/keyless/multi-row-delete"},
    "huawei-cdl-debezium/2.0+default-identity": {"rows/keyless/multi-row-delete"},
    "debezium-json/2.5.4.Final+plain-key+transaction+nulls-kept": {
        "shape/update-nothing",
        "rows/every-type/update-nothing",
    },
    "maxwell-json/1.45.0": {"ddl/semicolon-in-text", "ddl/semicolon-in-a-columns-comment"},
    "maxwell-json/1.45.0+without-commit-info+without-nulls+null-zerodates": {
        "ddl/semicolon-in-text",
        "ddl/semicolon-in-a-columns-comment",
    },
    "ogg-json": {"ddl/semicolon-in-text", "ddl/semicolon-in-a-columns-comment"},
    "flink-canal-json": {"ddl/semicolon-in-text", "ddl/semicolon-in-a-columns-comment"},
    "flink-debezium-json": {"ddl/semicolon-in-text", "ddl/semicolon-in-a-columns-comment"},
    "flink-maxwell-json": {"ddl/semicolon-in-text", "ddl/semicolon-in-a-columns-comment"},
    "flink-ogg-json": {"ddl/semicolon-in-text", "ddl/semicolon-in-a-columns-comment"},
    "flinkcdc-canal-json": {"ddl/semicolon-in-text", "ddl/semicolon-in-a-columns-comment"},
    "flinkcdc-debezium-json": {"ddl/semicolon-in-text", "ddl/semicolon-in-a-columns-comment"},
    "seatunnel-canal-json": {"ddl/semicolon-in-text", "ddl/semicolon-in-a-columns-comment"},
    "debezium-avro": {"shape/update-nothing", "rows/every-type/update-nothing"},
    "ticdc-avro/v7.1.6+force-replicate": {
        "ddl/semicolon-in-text",
        "ddl/semicolon-in-a-columns-comment",
        *_EMPTY,
    },
    "ticdc-avro": {
        *("ddl/semicolon-in-text", "ddl/semicolon-in-a-columns-comment"),
        *_KEYLESS,
        *_EMPTY,
    },
    "ticdc-debezium-avro/new-26.3.4": {
        *("unsigned-bigint/max", "unsigned-bigint/one-over-signed-max"),
        *(f"rows/every-type/boundaries-{number}" for number in (2, 5, 10, 13)),
        *("ddl/semicolon-in-text", "ddl/semicolon-in-a-columns-comment"),
        *_KEYLESS,
    },
    "ticdc-debezium-avro/new-26.3.4+decimal-string+bigint-string+without-before": {
        *("ddl/semicolon-in-text", "ddl/semicolon-in-a-columns-comment"),
        *_KEYLESS,
    },
    "ticdc-debezium-avro": set(_KEYLESS),
    "debezium-mongodb-json": {"shape/update-nothing", "rows/every-type/update-nothing"},
    "debezium-mongodb-avro": {"shape/update-nothing", "rows/every-type/update-nothing"},
    "debezium-json/3.5.0.Final+postgresql": {
        *("rows/keyless/multi-row-delete", "tombstone/keyless", "rows/debezium/keyless-deletes")
    },
}
"""Scenarios of which a writer publishes nothing."""


def test_few_scenarios_are_silent(named: Any) -> None:
    fmt, profile, cases = named
    scenarios = [scenario.name for scenario in boundary_scenarios(fmt, profile)]
    fewest = 250 if fmt.source == "mongodb" else 400
    assert len(set(scenarios)) == len(scenarios) > fewest
    silent = set(scenarios) - {case.scenario for case in cases if case.origin is Origin.NAMED}
    assert silent == SILENT.get(f"{fmt.name}/{profile.name}", SILENT.get(fmt.name, set()))


def test_the_generic_scenarios_come_first_and_the_format_has_its_own(named: Any) -> None:
    fmt, profile, _ = named
    generic = [
        scenario.name
        for scenario in boundaries.scenarios(profile.database, fmt.supports, profile.source)
    ]
    own = [scenario.name for scenario in fmt.scenarios(profile, profile.database)]
    names = [scenario.name for scenario in boundary_scenarios(fmt, profile)]
    assert (names[: len(generic)], names[len(names) - len(own) :]) == (generic, own)
    assert ("shape/megabyte" in names) is (profile is fmt.profiles[0])
    assert own


OPEN = dict.fromkeys(("cloudcanal-json", "cloudcanal-canal-json", "tencent-dts-json"), 100)
"""At most one cell in a hundred; in twenty elsewhere."""


def test_few_cells_are_left_open_and_each_says_why(named: Any) -> None:
    fmt, _, cases = named
    counts: Counter[State] = Counter()
    for case in cases:
        for change in (change for record in case.written for change in record.changes):
            for cell in (
                cell
                for side in ("before", "after")
                for cell in (change.image(side, case.level) or {}).values()
            ):
                counts[cell.state] += 1
                assert cell.reason or cell.state not in (State.ANY, State.ONE_OF), case.id
    assert (counts[State.ANY] + counts[State.ONE_OF]) * OPEN.get(fmt.name, 20) < counts.total()


def test_level_one_cases_share_no_table(named: Any) -> None:
    owner: dict[tuple[Any, ...], str] = {}
    for case in named.cases:
        for change in (
            change
            for record in case.written
            for change in record.changes
            if case.level == 1 and change.table
        ):
            assert (
                owner.setdefault((change.database, change.schema, change.table), case.id) == case.id
            )


def test_level_two_cases_hold_rows_of_the_pool_at_one_version(named: Any) -> None:
    fmt, profile, cases = named
    versions: dict[tuple[Any, ...], str | None] = {}
    for case in cases:
        for record in case.written if case.level == 2 else ():
            for change in record.changes:
                assert change.kind is not Kind.DDL or "default-for-null" in case.tags, case.id
                if change.kind is Kind.ROW:
                    place = change.database, *(change.tables or (change.table,))
                    assert (
                        versions.setdefault(place, change.schema_version) == change.schema_version
                    ), case.id
    keyless = (
        set()
        if fmt.name not in KEYED or "force-replicate" in profile.name
        else {boundaries.KEYLESS.name}
    )
    assert {t for _, t in versions} >= {
        t.name for t in boundaries.pool(fmt.supports, profile.source)
    } - keyless


def test_an_unfit_cell_spoils_one_message(named: Any) -> None:
    fmt, profile, cases = named
    if profile.deployment.compression == "none":
        faults = fmt.unfit_cells(profile)
        assert len({fault.name for fault in faults}) == len(faults) > 6
        for fault in faults:
            spoiled = [
                w
                for c in cases
                if c.fault == fault.name
                for w in c.written
                if c.scenario.startswith("fault/")
            ]
            assert {w.changes[0].kind for w in spoiled if w.changes} >= {Kind.CORRUPT}, fault.name


def test_every_fault_has_its_cases(named: Any) -> None:
    fmt, profile, cases = named
    owed = applicable(fmt.faults, profile.deployment.compression)
    values = [written.message.value or b"" for case in cases for written in case.written]
    has_schema = any(b'"schema":{"type":"struct"' in value for value in values)
    placeless = set() if has_schema else {SCHEMA_NO_GRAMMAR.name}
    assert {fault.name for fault in owed} - placeless <= {case.fault for case in cases}


AVRO = {"aliyun-dts-avro", "ticdc-simple-avro"}
"""Formats whose messages have numbers in the place of words."""


@pytest.mark.parametrize("name", [name for name in FORMATS if name not in AVRO])
def test_every_type_of_message_that_the_page_names_is_written(name: str) -> None:
    fmt = get(name)
    words = {
        word
        for kind in fmt.kinds
        for word in re.findall(r"\b(?:[A-Z]{3,}(?:_[A-Z]+)*|[a-z]+-[a-z]+)\b", kind.wire)
    }
    for profile in fmt.profiles:
        for scenario in boundary_scenarios(fmt, profile) if words else ():
            values = [
                record.message.value or b"" for record in as_case(fmt, profile, scenario).written
            ]
            if fmt.codec is not None:
                values = [
                    json.dumps(fmt.codec.read(value), default=repr).encode() for value in values
                ]
            written = b" ".join(values)
            words -= {word for word in words if f'"{word}"'.encode() in written}
    assert words == set()


# Profiles


def combined(fmt: Any) -> Iterator[Any]:
    """Profiles that together have each option under each release that has it, and each two options
    that go together, and that no listed profile has.
    """
    choices = fmt.choices

    def built(release: str, *options: str) -> Any:
        try:
            return fmt.build(release, *options)
        except UsageError:
            return None

    def has(profile: Any) -> set[Any]:
        single = {(profile.release, option) for option in profile.options}
        return single | {frozenset(pair) for pair in combinations(profile.options, 2)}

    def wider(profile: Any) -> Iterator[Any]:
        rest = (option for option in choices.options if option not in profile.options)
        yield from filter(
            None, (built(profile.release, *profile.options, option) for option in rest)
        )

    needs = {
        option: {n for limit in choices.limits if limit.option == option for n in limit.needs}
        for option in choices.options
    }
    wanted: dict[Any, Any] = {}
    for release in choices.releases:
        for pair in chain(combinations(choices.options, 2), zip(choices.options)):
            whole = sorted(set(pair).union(*(needs[option] for option in pair)))
            if combination := built(release, *whole):
                wanted.setdefault(
                    (release, *pair) if len(pair) == 1 else frozenset(pair), combination
                )
    covered = set().union(*map(has, fmt.profiles))
    while left := [key for key in wanted if key not in covered]:
        profile = wanted[left[0]]
        while (
            better := max(wider(profile), key=lambda p: len(has(p) - covered), default=None)
        ) and (len(has(better) - covered) > len(has(profile) - covered)):
            profile = better
        covered |= has(profile)
        yield profile


@pytest.mark.parametrize("name", FORMATS)
def test_every_option_and_every_two_that_go_together_write_the_scenarios(name: str) -> None:
    """A twelfth of the scenarios each, in turn: which it is matters little to what two options have
    to do with each other.
    """
    fmt = get(name)
    for number, profile in enumerate(combined(fmt)):
        asked = list(boundary_scenarios(fmt, profile))[number % 12 :: 12]
        written = [as_case(fmt, profile, scenario).written for scenario in asked]
        assert sum(map(bool, written)) > (20 if fmt.source == "mongodb" else 25), profile.name


@pytest.mark.parametrize("name", FORMATS)
def test_profiles_share_few_deployments(name: str) -> None:
    assert len({profile.deployment for profile in get(name).profiles}) <= {
        "debezium-json": 9,
        "debezium-avro": 4,
        "alibaba-canal-json": 4,
        "alibaba-canal-protobuf": 4,
    }.get(name, 3)


@pytest.mark.parametrize(("wrong", "why"), rows(__file__, "refused.txt"))
def test_options_that_do_not_go_together_say_why(wrong: str, why: str) -> None:
    name, _, profile = wrong.partition(" ")
    release, *options = profile.split("+")
    with pytest.raises(UsageError, match=re.escape(why)):
        get(name).build(release, *options)


# Facts of a profile


_OF_PROFILE = {"release", "options", "assumed", "source", "deployment"}
_CANAL = {
    "connection_charset",
    "display_widths",
    "dynamic_topic",
    "hash_columns",
    "live",
    "mariadb",
    "old_time",
    "table_hash",
    "table_options_silent",
}
_SINK = {"rebuilds_drops", "selected", "routed", "stored_select", "vectors"}
"""Facts of every protocol of TiCDC: options, the server's types, its stored SELECT and a DROP's text."""
_OF_DEBEZIUM_S_RELEASES = {
    "binary_defaults",
    "counts_updates",
    "doubled_quotes",
    "edits_modified",
    "enum_defaults",
    "flat_stops_at_heartbeats",
    "follows_conversions",
    "hexadecimal_defaults",
    "incremental_snapshots",
    "keeps_collations_of_defaults",
    "keeps_schema_names",
    "keys_have_included",
    "knows_truncate",
    "localtime_defaults",
    "logical_messages",
    "names_serials",
    "oracle_starts",
    "refreshes_labels",
    "short_schema_changes",
    "short_time_defaults",
    "truncate_has_statement",
    "views_have_statement",
    "zero_length",
}
"""Facts that no lie flips. `incremental_snapshots` and `knows_truncate` select cases and are not asked by
the writer; without `logical_messages`, or where `flat_stops_at_heartbeats`, no message is left to lie in;
no named case shows another default (`binary_defaults`, `doubled_quotes`, `enum_defaults`, `hexadecimal_defaults`,
`keeps_collations_of_defaults`, `localtime_defaults`, `short_time_defaults`) or name (`keeps_schema_names`, `names_serials`) when it is flipped alone; what a statement owes follows
from `short_schema_changes`, `truncate_has_statement` and `views_have_statement`; no field of a change shows where Oracle's transaction
began (`oracle_starts`); and no named case has an index with further columns (`keys_have_included`), converts a table to another character set
(`follows_conversions`), gives an enum a label while rows of it come (`refreshes_labels`), has 0 behind a type
(`zero_length`), ON UPDATE (`counts_updates`) or gives a column fewer numbers (`edits_modified`);
`watermarks` says only which messages come. Literal tests of the format hold what they write.
"""
UNFLIPPED = {
    "ticdc-canal-json": {"dispatcher", "placement_rules", "ttl_off", *_SINK},
    "alibaba-canal-json": _CANAL,
    "alibaba-canal-protobuf": {"escapes", "drops_empty_old", *_CANAL},
    "cloudcanal-json": {"ddl_topic"},
    "cloudcanal-canal-json": {"ddl_topic"},
    "cloudcanal-debezium": {"ddl_topic", "typed"},
    "aliyun-dts-avro": {
        "charset",
        "framing",
        "logical_tags",
        "null_fraction",
        "partial",
        "physical",
        "source_type",
    },
    "ticdc-simple-json": {"dispatcher", *_SINK},
    "ticdc-simple-avro": {"dispatcher", "float_verb", "short_escapes", *_SINK},
    "huawei-cdl-json": {"heartbeat", "text_timestamps"},
    "huawei-cdl-debezium": {"properties", "text_timestamps"},
    "maxwell-json": {"ddl"},
    "canal-dialects-json": {"datetime_code", "example_order", "gtid", "seconds"},
    "ogg-json": {"before"},
    "ticdc-avro": {"force_replicate", "checksum_version", *_SINK},
    "ticdc-debezium-avro": {"watermarks", *_SINK},
    "ticdc-open-protocol": _SINK,
    "ticdc-debezium-json": {"describes_commit", *_SINK},
    "debezium-json": {"avro_names", "subjects", *_OF_DEBEZIUM_S_RELEASES},
    "debezium-mongodb-json": {"schemas", "avro_names", "subjects"},
    "debezium-mongodb-avro": {"schemas", "avro_names", "subjects"},
    "flinkcdc-debezium-json": {"deletes_in_old"},
    "debezium-avro": {f.name for f in fields(get("debezium-json").profiles[0])}
    - {"modes", "avro_names", *_OF_PROFILE},
}
"""Facts that only options or releases change, or that are another format's; literal tests of the format hold
what they write.
"""


@pytest.mark.parametrize("name", FORMATS)
def test_every_fact_of_a_profile_has_a_flip(name: str) -> None:
    fmt = get(name)
    facts = {f.name for f in fields(fmt.profiles[0])} - {"release", "options", "assumed", "source"}
    lying = [(lie.lying, fmt.profile(lie.profile)) for lie in lies(name) if lie.lying]
    flipped = {
        fact
        for fact in facts
        if any(getattr(liar, fact) != getattr(honest, fact) for liar, honest in lying)
    }
    assert facts - flipped - {"deployment"} == UNFLIPPED.get(name, set())
