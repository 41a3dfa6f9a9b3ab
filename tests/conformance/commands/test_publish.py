"""Commands on messages and tables: topics by a pattern, a user's tables, bulk corpora, and the
profile of observed messages.
"""

import contextlib
import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from command_lines import performed
from confluent_kafka import KafkaException
from confluent_kafka.admin import AdminClient
from remembered import done

from conformance.commands import bulk_corpora
from conformance.commands.observing import written_by
from conformance.commands.shell import without_secrets
from conformance.engines.engine import DecodeRaised
from conformance.inspecting.opening import ReadRecord
from generators.errors import HarnessError, UnknownName, UsageError
from generators.publishing.layouts import placeholders, require_placeholder
from generators.publishing.topics import delete_topics, ends
from generators.recorded import store
from generators.storage import bulk, records
from generators.wire_format import get

FORMAT = "ticdc-canal-json"
TABLES = "CREATE TABLE shop.orders (id INT PRIMARY KEY);\nCREATE TABLE shop.`größe` (id INT PRIMARY KEY);\n"


def publish(*words):
    done = performed("publish", *words)
    assert done.exit_code == 0, done.output
    return json.loads(done.stdout.splitlines()[-1])


def groups(bootstrap):
    """The names of the broker's consumer groups. On a busy machine a client may wait for its own
    request for ever; another does not.
    """
    for _ in range(6):
        asked = AdminClient({"bootstrap.servers": bootstrap}).list_consumer_groups(
            request_timeout=10
        )
        with contextlib.suppress(TimeoutError, KafkaException):
            return [group.group_id for group in asked.result(11).valid]
    raise TimeoutError("six clients wait for the broker's groups")


def test_placeholders_of_a_topic():
    assert placeholders("cdc") == ()
    assert placeholders("a.{database}.{table}") == ("database", "table")
    assert placeholders("{table}.{{x}}.{table}") == ("table", "table")
    with pytest.raises(
        UnknownName, match=r"unknown placeholder of --topic 'tabel'\. Did you mean 'table'\?"
    ):
        placeholders("{tabel}")
    with pytest.raises(UnknownName, match=r"unknown placeholder of --topic 'table\.__class__'"):
        placeholders("{table.__class__}")
    with pytest.raises(UsageError, match=r"--topic \{: Single '\{' encountered in format string"):
        placeholders("{")


@pytest.mark.parametrize("pattern", ["{table!z}", "{table!r}", "{table:d}", "{table:{x}}"])
def test_a_placeholder_takes_no_format_and_no_conversion(pattern):
    expected = r"--topic-pattern .*: \{table\} takes neither a format \(`:`\) nor a conversion"
    with pytest.raises(UsageError, match=expected):
        require_placeholder(pattern)


def test_a_pattern_of_several_topics_has_a_placeholder():
    require_placeholder("cdc.{table}")
    with pytest.raises(
        UsageError, match=r"--topic-pattern cdc: name one of \{topic\}, \{database\}, \{schema\}"
    ):
        require_placeholder("cdc")


def test_each_table_has_its_topic(kafka, tmp_path):
    ddl = tmp_path / "shop.sql"
    ddl.write_text(TABLES, "utf-8")
    there = ("--broker", kafka.bootstrap, "--count", 40, "--dialect", "mysql", "--tables", ddl)
    published = publish(FORMAT, *there, "--topic", "by-{database}_{table}", "--partitions", 2)
    assert (published["topics"], published["acknowledged"]) == (
        ["by-shop_gr__e", "by-shop_orders"],
        40,
    )
    assert {len(ends(kafka.bootstrap, topic)) for topic in published["topics"]} == {2}
    own = publish("debezium-json", *there, "--topic", "{topic}", "--rate", 1000)
    assert own["topics"] == ["cdc.shop.gr__e", "cdc.shop.orders"]
    inspected = performed("inspect", "by-shop_*", "--broker", kafka.bootstrap, "--format", "json")
    inspection = json.loads(inspected.stdout)
    assert (inspection["messages"], inspection["writers"][0]["formats"][0]["format"]) == (
        40,
        FORMAT,
    )
    assert inspection["writers"][0]["formats"][0]["evidence"][0]["place"].startswith("by-shop_")
    assert not any("inspect" in group for group in groups(kafka.bootstrap))
    nothing = performed("inspect", "no-*", "--broker", kafka.bootstrap)
    assert str(nothing.exception).startswith("unknown topic 'no-*'.")
    delete_topics(kafka.bootstrap, [*published["topics"], *own["topics"]])


SHOP = str(Path(__file__).parents[3] / "examples" / "tables" / "shop.sql")


def said(*arguments):
    done = performed(*arguments)
    return f"{done.output}{done.exception}"


def test_a_corpus_of_the_tables_and_the_notes(tmp_path):
    dump = tmp_path / "dump.sql"
    dump.write_text(Path(SHOP).read_text("utf-8") + "CREATE VIEW v AS SELECT 1;\n" * 8, "utf-8")
    arguments = (
        "corpus",
        "write",
        FORMAT,
        "--writer-profile",
        "v7.1.6",
        "--tables",
        dump,
        "--out",
        tmp_path,
    )
    short = said(*arguments, "--count", "3")
    assert "tables: customers, orders (mysql); 9 notes" in short
    assert short.count("CREATE VIEW") == 1 and "(and 7 more of this kind)" in short
    assert "left out" in short.splitlines()[1]
    assert (
        said(*arguments, "--no-boundaries", "--count", "3", "--verbose").count("CREATE VIEW") == 8
    )
    ids = (tmp_path / FORMAT / "v7.1.6" / "tables.json").read_text("utf-8")
    assert "tables/histories/drawn/1/0" in ids


def test_a_report_does_not_hold_the_url_of_a_database():
    url = "mysql://me:secret@db.example/shop"
    given = ["run", FORMAT, "--tables", url, f"--tables={url}", "--tables", "a.sql"]
    expected = (
        "run",
        FORMAT,
        "--tables",
        "mysql://...",
        "--tables=mysql://...",
        "--tables",
        "a.sql",
    )
    assert without_secrets(given, [url, "a.sql"]) == expected


def test_the_cases_of_the_tables_are_listed():
    chosen = ("--writer-profile", "v7.1.6", "--tables", SHOP, "--select", "*/tables/*")
    shown = said("cases", FORMAT, *chosen, "--format", "json")
    ids = [case["id"] for case in json.loads(shown[shown.index("[") : shown.rindex("]") + 1])]
    assert ids and all(case_id.startswith(f"{FORMAT}/v7.1.6/tables/") for case_id in ids)
    assert {case_id.split("/")[3] for case_id in ids} >= {"customers", "orders"}
    assert "no case matches --select */nothing" in said(
        "cases", FORMAT, "--tables", SHOP, "--select", "*/nothing"
    )


FMT = get(FORMAT)


def recorded(name):
    (recording,) = (r for r in store.recordings("ticdc") if r.name == name)
    return [
        ReadRecord(m.value, m.key, m.topic, m.partition, n, f"{n}")
        for n, m in enumerate(store.messages(recording))
    ]


def test_inspect_names_the_release_and_options_of_the_messages():
    profile, sentence = written_by(FMT, ("*",), recorded("v855-canal-json-ext-content-compatible"))
    assert profile.name.startswith(("new-8.5", "v8.5")) and {
        "extension",
        "content-compatible",
    } <= set(profile.options)
    assert (
        sentence.startswith(f"decoded as {profile.name} writes them") and "v5.3.4" not in sentence
    )


def test_the_users_profile_is_taken_as_it_is():
    profile, sentence = written_by(FMT, ("v7.1.6+extension",), recorded("v855-canal-json-ext"))
    assert (profile.name, sentence) == ("v7.1.6+extension", "")


def test_messages_that_inspect_does_not_know_need_a_profile():
    with pytest.raises(
        UsageError,
        match=f"inspect finds no message of {FORMAT} here: name its writer with --writer-profile",
    ):
        written_by(FMT, "*", [ReadRecord(b'{"a":1}')])


class Writing:
    """An engine that writes a file as Spark does; or does not."""

    def __init__(self, fails=False, **options):
        self.options, self.started, self._fails = options, done(), fails

    def __enter__(self):
        return self

    def __exit__(self, *_):
        pass

    def ask_service(self, service, request, _limit_s):
        assert (service, request["parts"]) == ("corpus", 3)
        fmt, out = get(request["format"]), Path(request["out"])
        out.mkdir()
        (out / "_SUCCESS").touch()
        made = bulk.numbered_messages(
            fmt, fmt.profile(request["profile"]), request["seed"], 0, request["count"]
        )
        rows = [records.kafka_row(message, offset) for offset, message in made]
        pq.write_table(
            pa.Table.from_pylist(rows, records.schema()), out / "part-00000-x.snappy.parquet"
        )
        sums = map(sum, zip(*map(bulk.digest_words, rows), strict=True))
        return done(
            DecodeRaised("disk full")
            if self._fails
            else {"messages": len(rows), "content": bulk.content(*sums)}
        )


def write(tmp_path, *more):
    return performed(
        "corpus", "write", FORMAT, "--out", tmp_path, "--count", "40", "--seed", "7", *more
    )


def test_a_bulk_corpus_is_of_the_last_profile_and_can_be_verified(tmp_path, monkeypatch):
    monkeypatch.setattr(bulk_corpora, "ChildEngine", Writing)
    result = write(tmp_path, "--executors", "3")
    assert result.exit_code == 0, result.output
    (folder,) = bulk.find(tmp_path)
    assert folder == tmp_path / FORMAT / get(FORMAT).profiles[-1].name
    files = [
        path.relative_to(folder).as_posix()
        for path in sorted(folder.rglob("*.*"))
        if path.is_file()
    ]
    assert files == ["bulk.json", "messages.parquet/00000.parquet"]
    known = json.loads((folder / "bulk.json").read_text())
    assert (known["seed"], known["statements"], known["messages"], known["width"]) == (
        "7",
        40,
        40,
        1,
    )
    assert f"40 messages, content {known['content']}, 1 files" in result.output
    verified = performed("corpus", "verify", tmp_path)
    assert (verified.exit_code, verified.output) == (0, f"{folder}: ok\n")


@pytest.mark.parametrize("seed", ["x", 7, "9" * 5000])
def test_the_seed_of_a_bulk_corpus_is_an_integer_s_text(tmp_path, seed):
    fields = dict.fromkeys(bulk.FIELDS, 1) | {"version": bulk.VERSION, "seed": seed}
    (tmp_path / "bulk.json").write_text(json.dumps(fields), "utf-8")
    (problem,) = bulk.verify(tmp_path)
    assert problem.endswith("bulk.json: seed must be an integer's text")


def test_what_is_not_whole_leaves_nothing(tmp_path, monkeypatch):
    monkeypatch.setattr(
        bulk_corpora, "ChildEngine", lambda **options: Writing(fails=True, **options)
    )
    raised = write(tmp_path / "new", "--executors", "3").exception
    assert isinstance(raised, HarnessError)
    assert "writing on executors failed: disk full" in str(raised)
    assert list(tmp_path.iterdir()) == []
