import subprocess
import sys

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from generators.bulk import mutations
from generators.bulk.mutations import HUGE, HUGE_BYTES, Mutants, by_deployment, oracle_of
from generators.errors import UsageError
from generators.families.avro import Encoder
from generators.garbage.mutating import BYTES, DEEPEST, JSON, parts
from generators.garbage.wellformed import Remains, State, avro_remains, json_remains, packed_remains
from generators.wire_format import get

FORMAT = "ticdc-canal-json"
READABLE = Remains(State.READABLE)


def group(name=FORMAT, packing="none"):
    return next(
        g for g in by_deployment(get(name).profiles) if g[0].deployment.compression == packing
    )


@pytest.fixture(scope="module")
def mutants():
    return Mutants(get(FORMAT), group()[:2], 7)


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        *(
            (b"", "empty"),
            (b" \r\n", "empty"),
            (b'{"a":1', "truncated"),
            (b'{"a":"x', "truncated"),
            (b'{"a":"x\\', "truncated"),
        ),
        *((b'{"a":', "truncated"), (b"[1]", "wrong-container"), (b"null", "wrong-container")),
        *(
            (b'[{"a":1},{"a":1}]', "wrong-container"),
            (b'[{"a":1},{"a":\xff}]', "syntax"),
            (b'{"a":1}x', "trailing-content"),
        ),
        *(
            (b'{"a":1}}', "trailing-content"),
            (b'{"a":1},{}]}', "trailing-content"),
            (b'{"a":1}],"m":[{}', "trailing-content"),
        ),
        *(
            (b'{"a":1}\x00', "trailing-content"),
            (b'{"a":1}{"a":1}', "second-document"),
            (b'{"a":1}\n{"a":1}', "second-document"),
        ),
        *(
            (b'{"a":NaN}', "syntax"),
            (b'{"a":-Infinity}', "syntax"),
            (b'{"a":01}', "syntax"),
            (b'{"a":.5}', "syntax"),
        ),
        *(
            (b'{"a":+1}', "syntax"),
            (b'{"a":1.}', "syntax"),
            (b"{'a':1}", "syntax"),
            (b"{a:1}", "syntax"),
        ),
        *(
            (b'{"a":1,}', "syntax"),
            (b'{"a":"\\q"}', "syntax"),
            (b'{"a":"\\u12"}', "syntax"),
            (b'{"a":1/**/}', "syntax"),
        ),
        *(
            (b'{"a":\x0b1}', "syntax"),
            (b'{"a":\xff}', "syntax"),
            (b'{"a":' + b"[" * 100_000 + b"]" * 99_999 + b"}", "syntax"),
        ),
        (b'{"a":' + b"[" * 100_000 + b"]" * 100_000, "truncated"),
        *(
            (b'{"a":' + b"[" * 100_000 + b"]" * 100_000 + b"}}", "trailing-content"),
            (b"[" * 100_000, "truncated"),
        ),
        (b'{"a":' + b"[" * 3000 + b'"\\u","b"' + b"]" * 3000 + b"}", "syntax"),
    ],
)
def test_what_rfc_8259_forbids_is_unreadable(value, reason):
    assert json_remains(value) == Remains(State.UNREADABLE, reason)


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        *(
            (None, "null"),
            (b'{"a":1,"a":2}', "duplicate-key"),
            (b'{"a":{"b":1,"b":1}}', "duplicate-key"),
            # As long as its shortest form, in which 1E6 is 1000000.0.
            (b'{"a":1,"a":1,"b":1E6}', "duplicate-key"),
        ),
        *(
            (b'\xef\xbb\xbf{"a":1}', "bom"),
            (b'[{"a":1}]', "wrapped"),
            (b'[{"a":"\x01"}]', "wrapped"),
        ),
        *(
            (b'{"a":"\xff"}', "invalid-utf-8"),
            (b'{"a":"\xed\xa0\x80"}', "invalid-utf-8"),
            (b'{"a":"\\ud800"}', "lone-surrogate"),
        ),
        *((b'{"a":"\x01"}', "raw-control"), (b'{"a":"\n"}', "raw-control")),
    ],
)
def test_what_common_parsers_differ_on_is_doubtful(value, reason):
    assert json_remains(value) == Remains(State.DOUBTFUL, reason)


@pytest.mark.parametrize(
    "value",
    [
        *(
            b"{}",
            b'\r\n\t {"a":1}\r\n',
            b'{"a":1e400}',
            b'{"a":-1E-400}',
            b'{"a":' + b"9" * 5000 + b"}",
            b'{"a":"\x7f"}',
        ),
        *(b'{"a":"\\ud83d\\ude00"}', b'{"a":' + b"[" * 1100 + b"]" * 1100 + b"}"),
        b'{"a":' + b'{"a":' * 100_000 + b"1" + b"}" * 100_001,
        b'{"a":' + b'[{"b c":' * 5_000 + b'"x"' + b"}]" * 5_000 + b',"b":[1,2,{"c":null}]}',
    ],
)
def test_what_rfc_8259_allows_is_readable_however_large_and_deep(value):
    assert json_remains(value) == READABLE


JSON_VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**63 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4)
    ),
    max_leaves=12,
)


@given(st.dictionaries(st.text(max_size=5), JSON_VALUES, max_size=4).map(orjson.dumps))
def test_every_object_is_readable_and_no_proper_prefix_of_it_is(value):
    assert json_remains(value) == READABLE
    for end in range(len(value)):
        left = json_remains(value[:end])
        assert left.state is State.UNREADABLE
        assert left.reason in ("truncated", "empty", "syntax")


@given(st.dictionaries(st.text(max_size=5), JSON_VALUES, min_size=1, max_size=4).map(orjson.dumps))
def test_the_parts_of_a_document_are_its_values(value):
    for part in parts(value):
        orjson.loads(value[part.value : part.end])
        if part.is_member:
            assert list(orjson.loads(b"{" + value[part.start : part.end] + b"}"))
    named = [p for p in parts(value) if p.is_member]
    assert len(named) >= len(orjson.loads(value))


RECORD = {
    "type": "record",
    "name": "R",
    "fields": [{"name": "a", "type": "string"}, {"name": "b", "type": ["null", "long"]}],
}


def test_a_binary_value_is_read_whole_or_not_at_all():
    encoder = Encoder(RECORD)
    left, value = avro_remains([RECORD]), encoder({"a": "xy", "b": 5})
    assert left(value) == READABLE
    assert left(value[:-1]) == Remains(State.UNREADABLE, "truncated")
    assert left(value + b"\x00") == Remains(State.UNREADABLE, "trailing-content")
    assert left(b"") == Remains(State.UNREADABLE, "empty")
    assert left(b"\x04\xff\xfe\x00") == Remains(State.DOUBTFUL, "invalid-utf-8")
    assert left(b"\x04\xff\xfe") == Remains(State.UNREADABLE, "truncated")
    assert left(b"\x04\xff\xfe\x00\x00") == Remains(State.UNREADABLE, "trailing-content")
    assert left(b"\x04xy\x08") == Remains(State.UNREADABLE, "syntax")
    assert left(None) == Remains(State.DOUBTFUL, "null")


def test_an_int_with_more_than_32_bits_is_doubtful():
    left = avro_remains([RECORD])
    assert left(b"\x04xy\x80\x80\x80\x80\x10") == Remains(State.DOUBTFUL, "overlong-number")
    assert left(b"\x04xy\x82\x80\x80\x80\x70\x0a") == Remains(State.DOUBTFUL, "overlong-number")
    assert left(b"\x04xy\x88\x80\x80\x80\x10") == Remains(State.UNREADABLE, "syntax")
    assert left(b"\x04xy\x80\x80\x80\x80\x10\x00") == Remains(State.UNREADABLE, "syntax")


def test_a_value_of_any_edition_is_readable():
    later = {**RECORD, "fields": [*RECORD["fields"], {"name": "c", "type": "long"}]}
    left, value = avro_remains([later, RECORD]), Encoder(later)({"a": "xy", "b": 5, "c": 6})
    assert left(value) == left(value[:-1]) == READABLE
    assert left(value[:-2]) == Remains(State.UNREADABLE, "truncated")


@pytest.mark.parametrize("packing", ["snappy", "lz4"])
def test_a_compressed_value_is_judged_by_what_is_in_it(packing):
    from generators.bulk.templates import compressor

    left, compress = packed_remains(json_remains, packing), compressor(packing)
    assert left(bytes(compress(b'{"a":1}'))) == READABLE
    assert left(bytes(compress(b'{"a":1'))) == Remains(State.UNREADABLE, "truncated")
    assert left(b'{"a":1}') == Remains(State.UNREADABLE, "packing")
    assert left(b"") == Remains(State.UNREADABLE, "empty")
    with pytest.raises(ValueError, match="zstd"):
        packed_remains(json_remains, "zstd")


def test_a_snappy_block_that_announces_gigabytes_is_not_unpacked():
    assert packed_remains(json_remains, "snappy")(b"\xff\xff\xff\xff\x0f\x00") == Remains(
        State.UNREADABLE, "packing"
    )


def test_a_mutant_is_a_function_of_its_number(mutants):
    wanted = [mutants(n) for n in (0, 1, 500, 123_456)]
    again = Mutants(get(FORMAT), group()[:2], 7)
    assert [again(n) for n in (123_456, 500, 1, 0)] == wanted[::-1]
    assert list(again.mutants_from(500, 1)) == wanted[2:3]
    assert [Mutants(get(FORMAT), group()[:2], 8)(n) for n in (0, 1, 500)] != wanted[:3]


def test_a_mutant_is_the_same_under_another_hash_seed():
    code = (
        "import hashlib\nfrom generators.wire_format import get\nfrom generators.bulk.mutations import Mutants\n"
        "m = Mutants(get('huawei-cdl-json'), get('huawei-cdl-json').profiles[:1], 3)\n"
        "print(hashlib.sha256(b''.join(x.message.value or b'-' for x in m.mutants_from(0, 300))).hexdigest())"
    )
    digests = set()
    for seed in ("0", "1"):
        environment = {
            "PYTHONHASHSEED": seed,
            "TZ": "Asia/Tokyo",
            "PATH": "",
            "PYTHONPATH": ":".join(filter(None, sys.path)),
        }
        done = subprocess.run(
            [sys.executable, "-c", code],
            env=environment,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        digests.add(done.stdout)
    assert len(digests) == 1


def test_every_way_is_gone_and_every_state_is_reached(mutants):
    sample = list(mutants.mutants_from(0, 6000))
    assert {m.way for m in sample} == {way.name for way in (*BYTES, *JSON)}
    states = [m.remains.state for m in sample]
    assert all(states.count(state) > 300 for state in State)
    # Changed nothing or came out valid: seldom enough that most of the work is done on garbage.
    assert states.count(State.UNREADABLE) > len(sample) / 3


def test_compressed_messages_are_damaged_before_and_after_they_were_compressed():
    sample = list(Mutants(get(FORMAT), group(packing="snappy")[:1], 1).mutants_from(0, 400))
    packed = [m for m in sample if m.way.startswith("packed-")]
    assert 60 < len(packed) < 140
    assert {m.remains.state for m in sample if m not in packed} == set(State)


def test_nesting_reaches_the_depth_that_is_promised(mutants):
    deepest = max(
        (m.message.value or b"").count(b"[")
        for m in mutants.mutants_from(0, 40_000)
        if m.way == "nest"
    )
    assert DEEPEST / 10 < deepest <= DEEPEST + 100


@pytest.mark.slow
def test_the_huge_ones_are_of_25_megabytes_or_deeper_than_any_stack(mutants):
    by_way = {m.way: m for m in mutants.huge()}
    assert list(by_way) == list(HUGE["json"])
    assert [m.number for m in by_way.values()] == [-1 - n for n in range(len(by_way))]
    assert all(m.message.size > 5_000_000 for m in by_way.values())
    assert by_way["huge-string"].message.size > HUGE_BYTES > 20_000_000
    states = {name: (m.remains.state, m.remains.reason) for name, m in by_way.items()}
    broken = {"huge-truncated", "bottomless-unclosed"}
    assert {name for name, (state, _) in states.items() if state is State.UNREADABLE} == broken
    assert {states[name][1] for name in broken} == {"truncated"}


def test_profiles_of_several_deployments_are_told_apart_and_refused_together():
    fmt = get(FORMAT)
    groups = by_deployment(fmt.profiles)
    assert [p for g in groups for p in g] != []
    assert sorted(p.name for g in groups for p in g) == sorted(p.name for p in fmt.profiles)
    assert len({g[0].deployment for g in groups}) == len(groups) == 3
    with pytest.raises(UsageError, match="one deployment"):
        Mutants(fmt, fmt.profiles, 1)
    with pytest.raises(UsageError, match="the first is 0"):
        Mutants(fmt, groups[0][:1], 1)(-1)


def test_a_binary_format_needs_a_published_schema():
    from dataclasses import replace

    bare = replace(get(FORMAT), container="avro")
    with pytest.raises(UsageError, match="no published schema"):
        oracle_of(bare, bare.profiles[0])
    read = oracle_of(replace(bare, schemas=lambda _profile: (RECORD,)), bare.profiles[0])
    assert read(Encoder(RECORD)({"a": "", "b": None})) == READABLE


def test_unmutated_messages_of_every_json_format_are_readable():
    for name in ("ticdc-canal-json", "debezium-json", "tencent-dts-json", "huawei-cdl-json"):
        fmt = get(name)
        for profile, message, _ in mutations._bases(fmt, by_deployment(fmt.profiles)[0][:1], ()):
            assert (
                oracle_of(fmt, fmt.profile(profile))(message.value).state is not State.UNREADABLE
            ), message.value


@pytest.mark.parametrize(
    ("name", "state"), [("debezium-json", State.DOUBTFUL), ("ticdc-canal-json", State.UNREADABLE)]
)
def test_the_text_null_is_a_message_where_the_format_says_so(name: str, state: State) -> None:
    fmt = get(name)
    assert oracle_of(fmt, fmt.profiles[0])(b"null").state is state
