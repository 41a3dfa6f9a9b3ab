"""The page of `inspect`: everything that the other outputs say, each message that decides
something, and nothing that acts.
"""

import html
import json
import re

import pytest

from conformance.inspecting.inspector import UNTOLD, YES, as_json, inspect
from conformance.inspecting.opening import ReadRecord
from conformance.reports import inspection
from conformance.text import printable
from generators.recorded import store

RECORDED = {
    recording.name: recording
    for product in store.PRODUCTS
    for recording in store.recordings(product)
}


def inspected(name):
    records = enumerate(store.messages(RECORDED[name]))
    return inspect(
        ReadRecord(r.value, r.key, r.topic, r.partition, place=f"{r.topic}@{number}")
        for number, r in records
    )


def words(text):
    """The text of a page; inline elements end no word."""
    plain = re.sub(r"</?(?:a|b|code|mark|span)\b[^>]*>", "", text.partition("</style>")[2])
    return re.sub(r"\s+", " ", html.unescape(re.sub(r"<[^>]*>", " ", plain)))


NAMES = [
    "canal-json-ext-lz4",
    "simple-avro-main",
    "pg35-default",
    "mdb35-default-noschema",
    "main-1.1.8",
]


@pytest.mark.parametrize("name", NAMES)
def test_the_page_of_a_recording_says_what_inspect_says(name):
    inspector = inspected(name)
    text = inspection.page(inspector)
    read = words(text)
    (writer,) = as_json(inspector)["writers"]
    (fmt,) = writer["formats"]
    for phrase in (fmt["product"], f"{fmt['messages']:,} messages", fmt["command"]):
        assert printable(phrase) in read
    for option, state in fmt["options"].items():
        assert f"{option} {state}" in read
    for evidence in fmt["evidence"]:
        assert f"{evidence['says']} first: {evidence['place']}" in read
    for table in fmt["tables"]:
        assert printable(f"{table['database']}.{table['table']}") in read
        for column, types in table["columns"].items():
            assert printable(column) in read and printable(" or ".join(types)) in read
    for loss in fmt["losses"]:
        assert loss["statement"] in read and f"[{loss['citation']}]" in read


def test_a_decision_leads_to_its_evidence_and_that_to_its_message():
    inspector = inspected("canal-json-ext-lz4")
    tally, text = inspector.tallies["ticdc-canal-json"], inspection.page(inspector)
    assert (tally.options["lz4"], tally.options["snappy"], tally.options["ts"]) == (
        YES,
        "no",
        UNTOLD,
    )
    anchor = re.search(r'<tr id="(ticdc-canal-json-\d+)"><td>values are compressed with lz4', text)[
        1
    ]
    for option in ("lz4", "snappy"):
        row = re.search(rf"<tr><td><code>{option}</code>.*?</tr>", text)[0]
        assert f'<a href="#{anchor}">values are compressed with lz4</a>' in row
    assert '<td class="small"></td>' in re.search(r"<tr><td><code>ts</code>.*?</tr>", text)[0]
    # The message is shown as it was before it was compressed.
    message = text.partition(f'id="{anchor}"')[2].partition("</details>")[0]
    assert (
        '"watermarkTs": 470606870778478593' in html.unescape(message) and "(231 bytes)" in message
    )
    ids = re.findall(r'id="([^"]+)"', text)
    assert len(ids) == len(set(ids)) and set(re.findall(r'href="#([^"]+)"', text)) <= set(ids)


def test_a_binary_message_has_its_bytes_escaped_and_a_long_one_is_cut():
    avro = inspection.page(inspected("simple-avro-main"))
    assert r"<pre>\x16\x00\x00" in avro
    long = b'{"a":"' + b"x" * 10_000 + b'"}'
    text = inspection.page(inspect([ReadRecord(long, place="here")]))
    assert 'here <span class="soft">(the first 4,000 of 10,008 bytes)</span>' in text
    assert "x" * 3_900 in text and "x" * 4_001 not in text


def test_what_no_known_profile_writes_and_what_cannot_be_told():
    insert = (
        b'{"data":[{"id":"1","v":"x"}],"database":"d","es":1700000000000,"id":7,"isDdl":false,'
        b'"mysqlType":{"id":"int(11)","v":"varchar(9)"},"old":null,"pkNames":["id"],"sql":"","sqlType":{"id":4,"v":12},'
        b'"table":"t","ts":1700000000120,"type":"INSERT"}'
    )
    records = [
        ReadRecord(insert),
        ReadRecord(b'{"a":1}', place="m:2"),
        ReadRecord(b'{"a":2}', place="m:3"),
    ]
    read = words(inspection.page(inspect(records)))
    assert (
        "Nothing tells which wrote 1 of the messages: alibaba-canal-json or cloudcanal-canal-json."
        in read
    )
    assert "A message of which one of these is true is not of alibaba-canal-json:" in read
    assert "2 messages: no known format has these members: a" in read
    assert "m:2 (7 bytes)" in read and "m:3 (7 bytes)" in read


def test_messages_are_never_obeyed(hostile):
    value = json.dumps({hostile: hostile}).encode("utf-8", "surrogatepass")
    text = inspection.page(
        inspect(
            [
                ReadRecord(value, place=hostile),
                ReadRecord(hostile.encode("utf-8", "backslashreplace")),
            ]
        )
    )
    assert "<script" not in text
    assert not set(text) & set("\x00\x07\x1b\u202e\ud800")
    assert "default-src &#39;none&#39;" in text


def test_files_are_written_beside_each_other(tmp_path):
    inspector = inspected("canal-json-ext-lz4")
    made = inspection.write(inspector, tmp_path / "report")
    assert [path.name for path in made] == ["inspection.html", "inspection.json"]
    assert (json.loads(made[1].read_text()), made[0].read_text()) == (
        as_json(inspector),
        inspection.page(inspector),
    )


MAXWELL = (
    b'{"database":"d","table":"t","type":"insert","ts":1477053217,"xid":1,"commit":true,'
    b'"data":{"id":1}}'
)


def test_a_release_that_nothing_in_the_messages_tells_is_not_named():
    """Maxwell's profiles are all of one release, and its messages name none."""
    inspector = inspect([ReadRecord(MAXWELL)])
    lines = [row for _, _, rows in inspection.blocks(inspector) for row in rows]
    assert (f"release: {UNTOLD}: every profile is of 1.45.0",) in lines
