import json

import pytest
from command_lines import parsed, performed

from generators.errors import HarnessError
from generators.publishing.topics import create_topic, delete_topics, visible
from generators.recorded import store

RECORDED = store.root() / "ticdc" / "canal-json-ext-lz4"
WATERMARK = '{"version":1,"type":"WATERMARK","commitTs":447984074911121409,"buildTs":1708936343598}'


def run(*words):
    return performed("inspect", *words)


def failed(*words):
    """Exit code and text of a call that fails, as the program's entry makes them of the error."""
    done = run(*words)
    if isinstance(done.exception, HarnessError):
        return done.exception.exit_code, str(done.exception)
    return done.exit_code, done.output


def inspection(*words):
    done = run(*words, "--format", "json")
    assert done.exit_code == 0, done.output
    return json.loads(done.stdout)


def test_json_says_everything():
    document = inspection(RECORDED / "messages.jsonl.xz")
    (writer,) = document["writers"]
    (fmt,) = writer["formats"]
    assert (document["messages"], document["tombstones"], document["problems"]) == (93, 0, [])
    assert (writer["messages"], writer["told"], fmt["format"]) == (93, True, "ticdc-canal-json")
    assert fmt["releases"] == ["v8.5.7", "new-8.5.4", "new-8.5.6", "new-8.5.7"]
    assert fmt["options"]["lz4"] == "yes" and fmt["options"]["ts"] == "cannot be told"
    assert fmt["command"].startswith(
        "cdc-conformance run ticdc-canal-json --writer-profile 'new-8.5.7+extension+lz4' --writer-profile"
    )
    evidence = next(entry for entry in fmt["evidence"] if entry["given"] == ["lz4"])
    assert evidence["says"] == "values are compressed with lz4"
    assert (evidence["citation"], evidence["messages"], evidence["place"]) == (
        "ticdc#compression",
        93,
        "messages.jsonl.xz:1",
    )
    assert any(table["columns"] for table in fmt["tables"])


def test_the_command_that_is_told_is_one_that_runs():
    words = inspection(RECORDED)["writers"][0]["formats"][0]["command"].replace("'", "").split()[1:]
    made = parsed("--no-config", *words)
    assert "new-8.5.7+extension+lz4" in made.params["writer_profile"]
    from conformance.cases.catalogue import check_profiles
    from generators.wire_format import get

    check_profiles([get("ticdc-canal-json")], made.params["writer_profile"])


@pytest.mark.parametrize("style", ["pretty", "markdown"])
def test_people_read_tables(tmp_path, style, monkeypatch):
    monkeypatch.setenv("COLUMNS", "160")
    file = tmp_path / "mixed.txt"
    file.write_text(f'{WATERMARK}\n{{"a":"\x1b[31m|"}}\n')
    done = run(file, "--format", style)
    assert done.exit_code == 0
    for text in (
        "2 messages: ticdc-simple-json",
        "release: v7.5.7 or later",
        "Messages that no known profile writes",
    ):
        assert text in done.stdout
    assert "no known format has these members: a" in " ".join(done.stdout.replace("│", " ").split())
    assert "\x1b[31m" not in done.stdout


def test_a_report_is_a_page_and_json_beside_the_output(tmp_path):
    page, data = tmp_path / "made" / "inspection.html", tmp_path / "made" / "inspection.json"
    done = run(RECORDED, "--format", "json", "--report", tmp_path / "made")
    assert (done.exit_code, data.read_text()) == (0, done.stdout)
    assert "ticdc-canal-json" in page.read_text()
    assert done.stderr.splitlines()[-2:] == [f"report: {page}", f"report: {data}"]
    (tmp_path / "file").touch()
    code, text = failed(RECORDED, "--report", tmp_path / "file" / "below")
    assert (code, "cannot write a report" in text) == (3, True)


def test_count_ends_the_reading():
    assert inspection(RECORDED, "--count", 5)["messages"] == 5


def test_nothing_to_inspect(tmp_path):
    (tmp_path / "empty.jsonl").touch()
    code, text = failed(tmp_path / "empty.jsonl")
    assert (code, text.startswith("no message in")) == (4, True)


def test_a_topic_without_records_and_one_that_is_not_there(kafka):
    create_topic(kafka.bootstrap, "inspected", 2)
    try:
        code, text = failed("inspected", "--broker", kafka.bootstrap)
        assert (code, text) == (4, "no message in inspected")
    finally:
        delete_topics(kafka.bootstrap, ["inspected"])
    code, text = failed("no-such-topic", "--broker", kafka.bootstrap)
    assert (code, text.startswith("topic 'no-such-topic': "), kafka.bootstrap in text) == (
        2,
        True,
        True,
    )
    assert "no-such-topic" not in visible(kafka.bootstrap)
