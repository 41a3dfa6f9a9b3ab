"""Messages as every report shows them: what a finding is about is there and marked, what is not
needed is left out and counted.
"""

import time

import pytest

from conformance.cases.catalogue import named_cases
from conformance.judging.findings import CaseResult, Finding, Verdict
from conformance.judging.results import Failure
from conformance.reports.excerpt import (
    Field,
    Form,
    excerpt_failure,
    excerpt_record,
    excerpt_value,
    find_first_fault,
)
from conformance.reports.wire import MALFORMED, WHOLE
from conformance.rules.rules import Aspect, rules
from generators.model import Kind
from generators.wire_format import get

CELL = Field("after['c']", 0, "after", "c", ("1",))


def marked_text(excerpt):
    """The excerpt with its marks in « and »."""
    parts = [
        piece.gap if piece.omitted else f"«{piece.text}»" if piece.marked else piece.text
        for piece in excerpt.segments
    ]
    return "".join(parts)


SCHEMA = '{"type":"struct","fields":[' + '{"type":"int64","field":"c"},' * 60 + '{"field":"d"}]}'
GAP = f"... (Connect's schema, {len(SCHEMA):,} characters) ..."


@pytest.mark.parametrize(
    ("value", "field", "shown"),
    [
        (
            f'{{"schema":{SCHEMA},"payload":{{"before":null,"after":{{"c":2}}}}}}',
            CELL,
            f'{{"schema":{GAP},"payload":{{"before":null,"after":{{«"c":2»}}}}}}',
        ),
        (
            f'{{"payload":{{"after":{{"c":2}}}},"schema":{SCHEMA}}}',
            CELL,
            f'{{"payload":{{"after":{{«"c":2»}}}},"schema":{GAP}}}',
        ),
        # What is spoiled is searched for in the whole text.
        (
            f'{{"schema":{SCHEMA},"payload":{{"after":{{"c":-Infinity}}}}}}',
            Field(WHOLE),
            f'{{"schema":{GAP},"payload":{{"after":{{"c":«-Infinity»}}}}}}',
        ),
        # A payload beside no schema of Connect's, and a short schema, stay.
        (
            '{"schema":{"c":1},"payload":{"c":2}}',
            Field(WHOLE),
            '{"schema":{"c":1},"payload":{"c":2}}',
        ),
        (f'{{"schema":{{"c":1}},"c":{SCHEMA[:200]!r}}}'.replace("'", ""), Field(WHOLE), None),
    ],
)
def test_connects_schema_is_left_out(value, field, shown):
    excerpt = excerpt_value(value.encode(), field, 300)
    assert excerpt.form is Form.TEXT
    if shown is None:
        assert "Connect" not in marked_text(excerpt)
    else:
        assert marked_text(excerpt) == shown


def test_a_fault_in_connects_schema_is_shown():
    value = f'{{"schema":{SCHEMA[:-1]},"x":NaN}},"payload":{{}}}}'.encode()
    assert "«NaN»" in marked_text(excerpt_value(value, Field(WHOLE), 300))


OPEN_PROTOCOL = b"\0\0\0\0\0\0\0\x12" + b'{"u":{"c":{"v":1}}}' + b"\0\0\0\0\0\0\0\x12"
OPEN_PROTOCOL += b'{"u":{"c":{"v":2}}}'


HEAD = "[00 00 00 00 00 00 00 12]"


@pytest.mark.parametrize(
    ("value", "field", "shown", "note"),
    [
        (
            OPEN_PROTOCOL,
            Field("after['c']", 1, "after", "c"),
            f'{HEAD}{{"u":{{"c":{{"v":1}}}}}}{HEAD}{{"u":{{«"c":{{"v":2}}»}}}}',
            "bytes before JSON in brackets, as hex",
        ),
        (
            b'\0\0\0\0\x07{"after":{"c":1}}',
            CELL,
            '[00 00 00 00 07]{"after":{«"c":1»}}',
            "bytes before JSON in brackets, as hex",
        ),
        (
            b'\0\0\0\0\0\0\0\x2c{"d":{"c":{"v":"\xff"}}',
            Field("before['c']", 0, "before", "c"),
            '[00 00 00 00 00 00 00 2c]{"d":{«"c":{"v":"\\xff"}»}',
            "bytes before JSON in brackets, as hex; not UTF-8: such bytes are shown as \\xNN",
        ),
    ],
)
def test_framed_json_is_text(value, field, shown, note):
    excerpt = excerpt_value(value, field, 300)
    assert (marked_text(excerpt), excerpt.form, excerpt.note) == (shown, Form.FRAMES, note)
    assert excerpt.formatted == []


@pytest.mark.parametrize(
    ("value", "form", "text"),
    [
        (None, Form.NULL, "no value: NULL"),
        (b"", Form.NULL, "an empty value: 0 bytes"),
        (b'{"a":"\xff"}', Form.TEXT, '{"a":"\\xff"}'),
        (b"plain", Form.TEXT, "plain"),
        (b"a\r\n", Form.TEXT, "a\\r\\n"),
        ("汉\u2028".encode(), Form.TEXT, "汉\\u2028"),
        ("\ufeff{}".encode(), Form.TEXT, "\\ufeff{}"),
        (b"\xff\x00\\", Form.BYTES, "\\xff\\x00\\\\"),
        (b"\0\x02{\x00", Form.BYTES, "\\x00\\x02{\\x00"),
        (bytes(8), Form.BYTES, "\\x00" * 8),
    ],
)
def test_the_form_fits_the_value(value, form, text):
    excerpt = excerpt_value(value, CELL)
    assert (excerpt.form, excerpt.plain) == (form, text)


def test_binary_data_has_the_columns_name_and_the_expected_text_marked():
    value = b"\x02\x0cc1\x00\xff" + "héllo".encode() + bytes(3)
    excerpt = excerpt_value(value, Field("after['c1']", 0, "after", "c1", ("héllo",)))
    assert marked_text(excerpt) == "\\x02\\x0c«c1»\\x00\\xff«héllo»\\x00\\x00\\x00"
    assert excerpt.note == "binary: what is no text as \\xNN"


def test_an_expected_text_with_escaped_characters_is_marked_in_binary_data():
    value = b"\x00\x01col C:\\dir\x02"
    excerpt = excerpt_value(value, Field(texts=("C:\\dir\x02",), column="col"))
    assert marked_text(excerpt) == "\\x00\\x01«col» «C:\\\\dir\\x02»"


def test_the_mark_stays_in_a_long_message():
    value = b'{"other":"' + b"x" * 5000 + b'","payload":{"after":{"c":"here"}}}' + b" " * 5000
    excerpt = excerpt_value(value, CELL, 600)
    assert [piece.text for piece in excerpt.segments if piece.marked] == ['"c":"here"']
    assert sum(len(piece.text) for piece in excerpt.segments) < 1000
    assert marked_text(excerpt).startswith('{"other":"x')
    assert excerpt.note == "shortened; 10,045 bytes in all"


def test_a_few_characters_are_not_left_out():
    value = b'{"d":"' + b"x" * 270 + b'","after":{"c":2},"e":"' + b"y" * 40 + b'"}'
    assert marked_text(excerpt_value(value, CELL, 200)).endswith('yyyy"}')


def test_a_message_of_25_megabytes_is_quick():
    value, began = b'{"data":[{"c":"' + b'\\"{[,:' * 4_000_000 + b'"}]}', time.process_time()
    excerpt = excerpt_value(value, CELL, 600)
    assert time.process_time() - began < 5
    assert sum(len(piece.text) for piece in excerpt.segments) < 1500


@pytest.mark.parametrize(
    ("text", "marked"),
    [
        ('{"a":1}', ""),
        ('{"a":"NaN"}', ""),
        ('{"a":-Infinity}', "«-Infinity»}"),
        ('{"a":+Infinity}', "«+Infinity»}"),
        ('{"a":NaN,"b":x}', '«NaN»,"b":x}'),
        ('{"NaN":NaN}', "«NaN»}"),
        # What is wrong first, though Python reads on to no NaN.
        ("{a:NaN}", "«a»:NaN}"),
        ('{"a" 1}{"b":NaN}', '«1»}{"b":NaN}'),
        ('{"a":"\\\'"}', "«\\»'\"}"),
        ('{"a":"\\u12g4"}', '«\\»u12g4"}'),
        ('{"a":"\x01', "«\x01»"),
        ('{"a":01}', "«1»}"),
        ('{"a":1}x', "«x»"),
        ('{"a":trux}', "«x»}"),
        ('{"a":nul}', "«}»"),
        ('{"a":-x}', "«x»}"),
        ('{"a":1.}', "«}»"),
        ('{"a":1.e5}', "«e»5}"),
        ('{"a":1e+}', "«}»"),
        ('{"a":1.5.2}', "«.»2}"),
        ("[1 2]", "«2»]"),
        ("[1 , ]", "«]»"),
        ('\ufeff{"a":x}', "«x»}"),
        # Texts that are cut.
        ('{"a":1', ""),
        ('{"a": "bc', ""),
        ('{"a":"NaN', ""),
        ('{"a":"x\\', ""),
        ('{"a":"\\u12', ""),
        ('{"a":"\\ud83d\\ude', ""),
        ('{"a":tru', ""),
        ('{"a":f', ""),
        ('{"a":nul', ""),
        ('{"a":-', ""),
        ('{"a":1.', ""),
        ('{"a":1.5e', ""),
        ('{"a":1E-', ""),
        ('{"a":1, ', ""),
        # Texts that Python does not read.
        ("[" * 2000, ""),
        ("1" * 5000, ""),
    ],
)
def test_the_first_character_that_is_no_json(text, marked):
    shown = "".join(f"«{text[low:high]}»{text[high:]}" for low, high in find_first_fault(text))
    assert shown == marked


@pytest.mark.parametrize(
    "json_text", ['{"a":[true,false,null],"b":{"c":"\\ud83d\\ude00\\n"}}', "-10.25e+30", "[0E0]"]
)
def test_the_beginning_of_json_has_no_fault(json_text):
    assert [find_first_fault(json_text[:end]) for end in range(len(json_text) + 1)] == (
        [[]] * (len(json_text) + 1)
    )


@pytest.mark.parametrize(
    ("key", "value", "field", "key_text", "matters"),
    [
        (b'{"id":1}', b'{"after":{"c":1}}', Field("keys"), '{«"id":1»}', True),
        (b'{"id":1}', b'{"after":{"c":1}}', CELL, '{"id":1}', False),
        (b'{"c":1}', b'{"after":{}}', CELL, '{«"c":1»}', True),
        (b'{"id":1}', None, Field("kind"), '{"id":1}', True),
        (
            b'{"table":"t","pk.id":1}',
            b'{"data":{}}',
            Field("keys"),
            '{"table":"t",«"pk.id":1»}',
            True,
        ),
        (b'{"table":"t","pk.c":1}', b'{"data":{}}', CELL, '{"table":"t",«"pk.c":1»}', True),
        # A column may be called as the member is that names a table.
        (
            b'{"id":1,"table":5}',
            b'{"after":{}}',
            Field("keys"),
            '{«"id":1»,«"table":5»}',
            True,
        ),
        # The value says itself which columns are the key.
        (b'{"id":1}', b'{"pkNames":["id"]}', Field("keys"), '{«"id":1»}', False),
        # The key of TiCDC's Open Protocol has no column.
        (
            b'\0\x07{"scm":"d","tbl":"t"}',
            b'{"u":{"id":{"h":true}}}',
            Field("keys"),
            '[00 07]{"scm":"d","tbl":"t"}',
            False,
        ),
    ],
)
def test_the_key_matters_where_the_field_is_in_it_alone(key, value, field, key_text, matters):
    excerpt = excerpt_record(key, value, field, 300)
    assert (marked_text(excerpt.key), excerpt.key_matters) == (key_text, matters)


@pytest.mark.parametrize(
    ("name", "container"),
    [
        ("debezium-json", "json"),
        ("ticdc-open-protocol", "frames"),
        ("debezium-avro", "confluent"),
        ("ticdc-avro", "confluent"),
        ("ticdc-simple-avro", "avro"),
        ("aliyun-dts-avro", "avro"),
        ("alibaba-canal-protobuf", "protobuf"),
    ],
)
def test_a_cell_of_every_container_is_marked_within_300_characters(name, container):
    fmt = get(name)
    assert fmt.container == container
    profile = next(each for each in reversed(fmt.profiles) if each.deployment.compression == "none")
    marked = unmarked = 0
    for case in named_cases(fmt, [profile]):
        row = next(
            (
                (number, change)
                for number, written in enumerate(case.written)
                for change in written.changes
                if change.kind is Kind.ROW and change.after and written.message.value
            ),
            None,
        )
        if "/fault/" in case.id or row is None:
            continue
        number, change = row
        column = next(iter(change.after))
        place = (f"after[{column!r}]", "1", "2", "after", column)
        finding = Finding(case.id, "", number, change.row, Aspect.VALUE, *place)
        result = CaseResult(case, Verdict.FAIL, (finding,))
        excerpt = excerpt_failure(Failure(rules(name)[0], finding, result, 1), 300)
        assert excerpt.value.form is not Form.BYTES
        pieces = excerpt.value.segments
        assert sum(len(piece.text) for piece in pieces if not piece.marked) < 900
        if any(piece.marked for piece in pieces):
            marked += 1
        else:
            unmarked += 1
        if marked + unmarked == 40:
            break
    assert marked > 9 * unmarked


def test_what_follows_a_document_is_marked():
    excerpt = excerpt_value(b'{"a":1} {"b":2} ', Field(MALFORMED))
    assert marked_text(excerpt) == '{"a":1} «{"b":2}» '
