"""`python -m scoreboard.pipelines [NAME...]`: judges public recipes that keep a table by MERGE,
in Delta Lake or Iceberg as they are printed, and the pipelines that `new-pipeline` writes in their
place; AUTO CDC where Spark 4.2 is installed. Names choose recipes and nemeses. Writes their
page.
"""

from __future__ import annotations

import itertools
import json
import re
import socket
import sys
import tempfile
import tomllib
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, NamedTuple

from conformance.brokers.jars import jars_of
from conformance.brokers.lakehouses import TABLES_FOR_TESTS, Sink, lakehouse
from conformance.brokers.spark import installed_spark
from conformance.engines.child import QUICK, ChildEngine
from conformance.pipelines.results import PipelineResult
from conformance.pipelines.running import PipelineSettings, run_pipeline
from conformance.pipelines.sessions import session_conf
from conformance.pipelines.writing import pipeline_text
from conformance.sheets import markdown_table
from generators.errors import UnknownName
from generators.garbage.nemesis import select_nemeses
from scoreboard.recipes.auto_cdc import PORT

REPAIRED: Final = "new-pipeline"
"""How the names of the right pipelines begin."""
AUTO_CDC: Final = "auto-cdc"
"""The name of the sink of AUTO CDC's recipes, in place of a lakehouse."""
FORMATS: Final = {
    "delta": "debezium-json",
    "iceberg": "debezium-json",
    AUTO_CDC: "ticdc-canal-json",
}
"""The format that each sink's recipes read: AUTO CDC is tried with the orders that TiCDC tells."""
NEMESES: Final = (
    *("none", "duplicate", "stale", "behind-deletes", "replay", "reorder", "changed-columns"),
)
"""The nemeses that recipes claim to stand, or that their readers meet."""
SINKS: Final[tuple[Sink, ...]] = ("delta", "iceberg")
"""The lakehouses into which recipes and right pipelines write."""
HOME: Final = Path(__file__).parent
RESULTS: Final = HOME / "results" / "pipelines.json"
"""The file of the kept results."""
PAGE: Final = HOME.parent / "docs" / "scoreboard" / "pipelines.md"


@dataclass(frozen=True, slots=True)
class Recipe:
    """A public recipe: where it stands and under which name, its steps in a line, the table format
    that it is printed for, what the page leaves open (`remark`), and what repairs it. `why` says
    why it does not run.
    """

    name: str
    title: str
    publisher: str
    address: str
    read: str = ""
    published: str = ""
    sink: str = ""
    function: str = ""
    remark: str = ""
    steps: str = ""
    repair: str = ""
    why: str = ""

    @property
    def anchor(self) -> str:
        """The name of its heading on the page, to which a link with # leads."""
        return self.name.replace("_", "-")


class PublishedRecipes(NamedTuple):
    """The published recipes that are judged, and those that cannot be."""

    judged: list[Recipe]
    unjudged: list[Recipe]


def published_recipes() -> PublishedRecipes:
    """The recipes for pipelines that others published, as recipes.toml lists them."""
    data = tomllib.loads((HOME / "recipes" / "recipes.toml").read_text("utf-8"))
    judged = [Recipe(name, **fields) for name, fields in data["recipes"].items()]
    unjudged = [Recipe(name, **fields) for name, fields in data["unjudged"].items()]
    return PublishedRecipes(judged, unjudged)


def repaired_name(sink: str) -> str:
    """The name of the right pipeline that `new-pipeline` writes for a lakehouse."""
    return f"{REPAIRED}-{sink}"


def candidates() -> dict[str, str]:
    """All pipelines that can be judged, by name with the lakehouse that each writes to: the recipes
    that run, and for each lakehouse the right pipeline that `new-pipeline` writes.
    """
    judged = published_recipes().judged
    return {r.name: r.sink for r in judged} | {repaired_name(sink): sink for sink in SINKS}


def judge(
    name: str, sink: str, nemesis: str, engine: ChildEngine, catalogue: str
) -> dict[str, Any]:
    """Runs a pipeline under one nemesis (disturbance of its stream), and returns the result in the
    form in which it is kept.

    `name` is that of a recipe, whose file is in recipes/, or begins with REPAIRED: then it is the
    right pipeline, which is written here for the lakehouse. `sink` is that lakehouse, or AUTO_CDC;
    `catalogue` is the one in which the session of `engine` keeps tables.
    """
    fmt = FORMATS[sink]
    with tempfile.TemporaryDirectory() as folder:
        path = HOME / "recipes" / f"{name}.py"
        if name.startswith(REPAIRED):
            path = Path(folder, "repaired.py")
            path.write_text(pipeline_text(fmt, _lakehouse_of(sink), path.name), "utf-8")
        settings = PipelineSettings(
            fmt, str(path), nemesis=nemesis, catalogue=catalogue, limit_s=600
        )
        results = list(run_pipeline(settings, engine, None, lambda _line: None))
    result = next(result for result in results if result.nemesis == nemesis)
    sys.stderr.write(f"{name}, {nemesis}: {result.word}, {result.seconds:.0f} s\n")
    return _facts(result)


def _lakehouse_of(sink: str) -> Sink:
    """The sink as the name of a lakehouse. Raises StopIteration for one that is none."""
    return next(name for name in SINKS if name == sink)


def _session_of(sink: str) -> tuple[dict[str, str], str]:
    """The settings of a Spark session for the pipelines of a lakehouse (or of AUTO CDC), and the
    name of the catalogue for their tables.
    """
    if sink != AUTO_CDC:
        return session_conf(QUICK, {}, _lakehouse_of(sink), "")
    conf, _ = session_conf(QUICK, {}, None, "")
    jars = jars_of(TABLES_FOR_TESTS, lambda line: None)
    with socket.socket() as free:
        free.bind(("localhost", 0))
        port = free.getsockname()[1]
    return {
        **conf,
        "spark.driver.extraClassPath": ":".join(map(str, jars)),
        "spark.sql.catalog.lake": (
            "org.apache.spark.sql.connector.catalog."
            "SharedTablesInMemoryRowLevelOperationTableCatalog"
        ),
        # An update asks for Spark Connect; the tables live in the JVM of this session.
        "spark.plugins": "org.apache.spark.sql.connect.SparkConnectPlugin",
        PORT: str(port),
    }, "lake"


_PLACE: Final = re.compile(r" at /\S+, line \d+")
"""The line of a recipe's file in an error, which names a path of one machine."""


def _facts(result: PipelineResult) -> dict[str, Any]:
    """What is kept of the result of a pipeline under one nemesis (disturbance of its stream): the
    result in a word, the profile, the number of differences of each broken rule, and the first
    difference without the line of the file.
    """
    return {
        "result": result.word,
        "profile": result.profile,
        "broken": {rule.rpartition("/")[2]: count for rule, count in result.broken.items()},
        "first": _PLACE.sub("", result.wrong[0][1]) if result.wrong else "",
    }


def page_text(data: Mapping[str, Any]) -> str:
    """The text of the page, made of the kept results."""
    return "\n".join(_page(data))


def _page(data: Mapping[str, Any]) -> Iterator[str]:
    """The lines of the page on recipes that keep a table: results in each format of tables, then
    each recipe's steps, differences and repair, then those that were not judged.
    """
    results, sessions = data["results"], data["sessions"]
    judged, unjudged = published_recipes()
    yield "# Recipes that keep a table"
    yield ""
    yield "<!-- Written by `python -m scoreboard.pipelines --page`; a test compares. -->"
    yield ""
    yield "Public recipes, judged by [`pipeline`](../from-rows-to-a-table.md). The harness's own"
    yield "decoder reads the messages, so that the MERGE alone is judged; its steps are written"
    yield "again in our own words (`scoreboard/recipes`), in SQL where a page uses Delta's builder."
    yield "A page's time of a change is the source's here (`source.ts_ms`, `es`). The repaired form"
    yield "is what `cdc-conformance new-pipeline` writes. A cell has the rules that are broken, the"
    yield "one that is told first in front, each with its differences: rows, or the query's end. An"
    yield "empty cell was not judged."
    yield ""
    shared = (nemeses_of(results, sink) for sink in FORMATS)
    judged_nemeses = set(itertools.chain.from_iterable(shared))
    for name in filter(judged_nemeses.__contains__, NEMESES):
        (selected_nemesis,) = select_nemeses(name)
        yield f"- {name}: {selected_nemesis.statement}"
    yield ""
    yield "*truncate* are rows that TRUNCATE TABLE or DROP TABLE removed: a recipe that reads"
    yield "changes of rows alone cannot remove them, and Debezium's connectors send no TRUNCATE"
    yield "unless `skipped.operations` says so. What a recipe does with an older change that comes"
    yield "late (*tombstone*, *order* under *stale* and *duplicate*) matters to who reads a topic"
    yield "again, or whose writer sends again after a failure."
    for sink in FORMATS:
        names = judged_names(results, sink)
        if not names:
            continue
        columns = nemeses_of(results, sink)
        session = sessions[sink]
        profile = next(iter(results[names[0]].values()))["profile"]
        yield ""
        yield f"## {TITLES[sink]}"
        yield ""
        yield f"{FORMATS[sink]}, profile {profile}, into {session['packages']} on Spark"
        yield f"{session['spark']}. {REMARKS[sink]}".rstrip()
        yield ""
        titles = {r.name: f"[{r.publisher}: {r.title}](#{r.anchor})" for r in judged}
        titles |= {repaired_name(s): f"`{REPAIRED} {FORMATS[s]} --sink {s}`" for s in SINKS}
        lines = [(titles[name], *_cells(results[name], columns)) for name in names]
        yield from markdown_table(("recipe", *columns), lines)
    for recipe in judged:
        if recipe.name not in results:
            continue
        yield ""
        yield f"## {recipe.anchor}"
        yield ""
        published = f" of {recipe.published}" if recipe.published else ""
        yield f"[{recipe.title}]({recipe.address}): `{recipe.function}`,"
        yield f"{recipe.publisher}{published}, read on {recipe.read}."
        yield ""
        yield f"- Steps: {recipe.steps}."
        if recipe.remark:
            yield f"- Of the page: {recipe.remark}."
        for nemesis in nemeses_of(results, recipe.sink):
            if first := results[recipe.name].get(nemesis, {}).get("first"):
                yield f"- {nemesis}: {first}."
        yield f"- Repair: {recipe.repair}."
    yield ""
    yield "## Not judged"
    yield ""
    for recipe in unjudged:
        yield f"- [{recipe.title}]({recipe.address}), {recipe.publisher}: {recipe.why}."
    for recipe in judged:
        if recipe.name not in results:
            where = f"[{recipe.title}]({recipe.address}), {recipe.publisher}"
            yield f"- {where}: it has its file, `{recipe.name}.py`, and no result yet."
    yield ""


TITLES: Final = {"delta": "In Delta Lake", "iceberg": "In Iceberg", AUTO_CDC: "AUTO CDC"}
"""The headings of the page, by sink."""
REMARKS: Final = {
    "delta": "",
    "iceberg": "",
    AUTO_CDC: (
        "No lakehouse takes it: Spark 4.2.0 refuses Delta Lake 4.4.0"
        " (`AUTOCDC_TARGET_DOES_NOT_SUPPORT_MERGE`, which [a pull"
        " request](https://github.com/apache/spark/pull/56683) would drop), and Iceberg has no"
        " runtime for Spark 4.2. So its target are Spark's own tables for tests, and each stage is"
        " one update."
    ),
}
"""What the page says below each heading, by sink."""


def judged_names(results: Mapping[str, Mapping[str, Any]], sink: str) -> list[str]:
    """The names of the pipelines that write to a sink (a lakehouse, or AUTO_CDC) and have results:
    recipes, and the right pipelines that `new-pipeline` writes.
    """
    names = [name for name, printed_for in candidates().items() if printed_for == sink]
    return [name for name in names if results.get(name)]


def nemeses_of(results: Mapping[str, Mapping[str, Any]], sink: str) -> list[str]:
    """The nemeses (disturbances of a stream) under which at least one pipeline of a lakehouse has a
    result.
    """
    judged = [results[name] for name in judged_names(results, sink)]
    return [nemesis for nemesis in NEMESES if any(nemesis in facts for facts in judged)]


def _cells(results: Mapping[str, Mapping[str, Any]], nemeses: Sequence[str]) -> list[str]:
    """The cells of a pipeline's line in the table, one for each of the nemeses (disturbances of a
    stream): its result under it, or "".
    """
    return [_cell(results[nemesis]) if nemesis in results else "" for nemesis in nemeses]


def _cell(facts: Mapping[str, Any]) -> str:
    """The result of a pipeline under a nemesis of its stream, for a cell of the page: each
    broken rule with the number of differences, or the result in a word.
    """
    broken = (f"{rule} {count}" for rule, count in facts["broken"].items())
    return ", ".join(broken) or facts["result"]


def main(arguments: list[str]) -> None:
    """Judges what the installed Spark can run: all, or the named recipes and nemeses; with
    `--page` nothing. Raises UnknownName.
    """
    if arguments != ["--page"]:
        spark = installed_spark()[0]
        sinks = (AUTO_CDC,) if spark.startswith("4.2") else SINKS
        runnable = {name: sink for name, sink in candidates().items() if sink in sinks}
        names, nemeses = selected(arguments, runnable)
        for sink in dict.fromkeys(runnable[name] for name in names):
            conf, catalogue = _session_of(sink)
            session = {"spark": spark, "packages": _packages(sink, spark)}
            names_of_sink = [name for name in names if runnable[name] == sink]
            with ChildEngine(conf=conf) as engine:
                for nemesis, name in itertools.product(nemeses, names_of_sink):
                    facts = judge(name, sink, nemesis, engine, catalogue)
                    record(sink, session, name, nemesis, facts)
    PAGE.write_text(page_text(json.loads(RESULTS.read_text("utf-8"))), "utf-8")


def selected(arguments: Sequence[str], runnable: Collection[str]) -> tuple[list[str], list[str]]:
    """The pipelines, and the nemeses (the disturbances under which they run), that the command line
    names: all pipelines if it names no pipeline, all nemeses if it names no nemesis. Raises
    UnknownName.
    """
    choices = [*runnable, *NEMESES]
    for argument in arguments:
        if argument not in choices:
            raise UnknownName("recipe or disturbance", argument, choices)
    names = [name for name in runnable if name in arguments]
    nemeses = [nemesis for nemesis in NEMESES if nemesis in arguments]
    return names or list(runnable), nemeses or list(NEMESES)


def record(
    sink: str, session: Mapping[str, str], name: str, nemesis: str, facts: Mapping[str, Any]
) -> None:
    """Writes the result of a pipeline under a nemesis (disturbance of its stream) into the file of
    kept results, with the versions of its session.
    """
    data = json.loads(RESULTS.read_text("utf-8"))
    data["sessions"][sink] = session
    data["results"].setdefault(name, {})[nemesis] = facts
    RESULTS.write_text(f"{json.dumps(data, indent=1, ensure_ascii=False)}\n", "utf-8")


def _packages(sink: str, spark: str) -> str:
    """The packages that the session of a lakehouse needs beside Spark, in the form of
    `--spark-packages`.
    """
    if sink == AUTO_CDC:
        return ":".join((*TABLES_FOR_TESTS.modules[0], TABLES_FOR_TESTS.classifier))
    return lakehouse(_lakehouse_of(sink), spark).packages


if __name__ == "__main__":
    main(sys.argv[1:])
