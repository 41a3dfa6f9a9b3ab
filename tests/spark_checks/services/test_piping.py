"""The queries that a pipeline's `start` begins, without Spark: each is awaited and stopped."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from generators.model import Deployment
from generators.storage import codec
from generators.tables.reading import read_schema
from spark_checks.services import piping
from spark_checks.services.engine import DecoderError
from spark_checks.services.pipelines import offer_pipelines


class Query:
    """A streaming query of `session`, which notes what is asked of it."""

    def __init__(self, session: Session, run: str, error: Exception | None = None) -> None:
        self.runId, self.session, self.error = run, session, error
        self.isActive = True
        session.streams.active.append(self)

    def processAllAvailable(self) -> None:  # noqa: N802 - Spark's name
        self.session.noted.append(f"await {self.runId}")

    def exception(self) -> Exception | None:
        return self.error

    def stop(self) -> None:
        if self.isActive:
            self.session.noted.append(f"stop {self.runId}")
            self.isActive = False
            self.session.streams.active.remove(self)


class Session:
    """A session with a query of the user's own."""

    def __init__(self) -> None:
        self.noted: list[str] = []
        self.streams = SimpleNamespace(active=[])
        Query(self, "users")


@pytest.fixture
def session(monkeypatch: pytest.MonkeyPatch) -> Session:
    for name in ("_create_database", "_write_tables"):
        monkeypatch.setattr(piping, name, lambda *_: None)
    monkeypatch.setattr(piping, "records_of", lambda *_: "records")
    monkeypatch.setattr(piping, "folder_of", lambda _: None)
    return Session()


def ask(session: Session, folder: Path, start: Callable[..., Any], **more: Any) -> dict[str, Any]:
    """The answer of the service to a stage of a pipeline with this start."""
    ddl = folder / "t.sql"
    ddl.write_text("CREATE TABLE t (id INT PRIMARY KEY)", "utf-8")
    (user,) = read_schema([str(ddl)], "mysql").tables
    request = {
        "pipeline": "mine",
        "source": {},
        "target": "t",
        "lake": "",
        "table": codec.dump_table(user.table),
        "deployment": codec.dump_deployment(Deployment()),
        "checkpoint": str(folder / "checkpoint"),
        "directory": str(folder),
        "under_way": str(folder / "under-way"),
        **more,
    }
    with offer_pipelines({"mine": SimpleNamespace(start=start)}):
        return piping.handle(session, request, lambda _: None)  # type: ignore[arg-type, return-value]


def test_all_queries_are_awaited_and_stopped_but_those_of_before(
    session: Session, tmp_path: Path
) -> None:
    def start(spark: Session, records: object, target: str) -> Query:
        assert (tmp_path / "under-way").exists()
        Query(spark, "deletes")
        return Query(spark, "upserts")

    assert ask(session, tmp_path, start)["query"]
    assert session.noted == ["await upserts", "await deletes"]
    assert not (tmp_path / "under-way").exists()
    ask(session, tmp_path, start, last=True)
    assert session.noted[2:] == ["await upserts", "await deletes", "stop upserts", "stop deletes"]
    assert [query.runId for query in session.streams.active] == ["users"]


def test_the_error_of_a_second_query_is_raised_and_both_are_stopped(
    session: Session, tmp_path: Path
) -> None:
    def start(spark: Session, records: object, target: str) -> Query:
        Query(spark, "deletes", ValueError("no"))
        return Query(spark, "upserts")

    with pytest.raises(ValueError, match="no"):
        ask(session, tmp_path, start)
    assert session.noted[2:] == ["stop upserts", "stop deletes"]


def test_a_query_that_start_keeps_to_itself_is_told_and_stopped(
    session: Session, tmp_path: Path
) -> None:
    def start(spark: Session, records: object, target: str) -> None:
        Query(spark, "upserts")

    with pytest.raises(
        DecoderError,
        match=r"^pipeline mine: start began a streaming query and returned None; it must return",
    ):
        ask(session, tmp_path, start)
    assert session.noted == ["stop upserts"]


def test_what_a_start_began_is_stopped_if_it_raises(session: Session, tmp_path: Path) -> None:
    def start(spark: Session, records: object, target: str) -> None:
        Query(spark, "upserts")
        raise ValueError("no table")

    with pytest.raises(ValueError, match="no table"):
        ask(session, tmp_path, start)
    assert session.noted == ["stop upserts"]
    assert not (tmp_path / "under-way").exists()


def test_a_start_that_has_not_returned_can_be_stopped(session: Session, tmp_path: Path) -> None:
    def start(spark: Session, records: object, target: str) -> Query:
        query = Query(spark, "upserts")
        # From another thread, while start waits for its query.
        piping.stop_queries()
        assert not query.isActive
        return query

    ask(session, tmp_path, start)
    assert session.noted == ["stop upserts", "await upserts"]


def test_a_batch_job_has_no_query(session: Session, tmp_path: Path) -> None:
    assert ask(session, tmp_path, lambda spark, records, target: None)["query"] is False
    assert session.noted == []
