import json
from concurrent.futures import Future
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
from click.testing import CliRunner

from conformance.commands import bulk_corpora
from conformance.commands.cli import cli
from conformance.engines.engine import DecodeRaised
from generators.errors import HarnessError
from generators.storage import bulk, records
from generators.wire_format import get

FORMAT = "ticdc-canal-json"


class Writing:
    """An engine that writes a file as Spark does; or does not."""

    def __init__(self, fails=False, **options):
        self.options, self.started, self._fails = options, Future(), fails
        self.started.set_result(None)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        pass

    def ask(self, service, request, _limit_s):
        assert (service, request["parts"]) == ("corpus", 3)
        fmt, out, answer = get(request["format"]), Path(request["out"]), Future()
        out.mkdir()
        (out / "_SUCCESS").touch()
        made = bulk.numbered(fmt, fmt.profile(request["profile"]), request["seed"], 0, request["count"])
        rows = [records.row(one, offset) for offset, one in made]
        pq.write_table(pa.Table.from_pylist(rows, records.schema()), out / "part-00000-x.snappy.parquet")
        if self._fails:
            answer.set_exception(DecodeRaised("disk full"))
        else:
            sums = map(sum, zip(*map(bulk.words, rows), strict=True))
            answer.set_result({"messages": len(rows), "content": bulk.content(*sums)})
        return answer


def write(tmp_path, *more):
    return CliRunner().invoke(cli, ["corpus", "write", FORMAT, "--out", str(tmp_path), "--count", "40", "--seed", "7", *more])


def test_a_bulk_corpus_is_of_the_last_profile_and_can_be_verified(tmp_path, monkeypatch):
    monkeypatch.setattr(bulk_corpora, "ChildEngine", Writing)
    result = write(tmp_path, "--executors", "3")
    assert result.exit_code == 0, result.output
    (folder,) = bulk.find(tmp_path)
    assert folder == tmp_path / FORMAT / get(FORMAT).profiles[-1].name
    assert [path.relative_to(folder).as_posix() for path in sorted(folder.rglob("*.*")) if path.is_file()] == [
        "bulk.json",
        "messages.parquet/00000.parquet",
    ]
    known = json.loads((folder / "bulk.json").read_text())
    assert (known["seed"], known["statements"], known["messages"], known["width"]) == ("7", 40, 40, 1)
    assert f"40 messages, content {known['content']}, 1 files" in result.output
    verified = CliRunner().invoke(cli, ["corpus", "verify", str(tmp_path)])
    assert (verified.exit_code, verified.output) == (0, f"{folder}: ok\n")


def test_what_is_not_whole_leaves_nothing(tmp_path, monkeypatch):
    monkeypatch.setattr(bulk_corpora, "ChildEngine", lambda **options: Writing(fails=True, **options))
    raised = write(tmp_path / "new", "--executors", "3").exception
    assert isinstance(raised, HarnessError)
    assert "writing on executors failed: disk full" in str(raised)
    assert list(tmp_path.iterdir()) == []
