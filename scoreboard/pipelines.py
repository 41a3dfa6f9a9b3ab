"""`python -m scoreboard.pipelines`: judges public recipes that keep a table by MERGE, in Delta
Lake, and the pipeline that `new-pipeline` writes in their place; writes their page.
"""

from __future__ import annotations

import json
import sys
import tempfile
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from conformance.brokers.lakehouses import lakehouse
from conformance.brokers.spark import installed_spark
from conformance.engines.child import QUICK, ChildEngine
from conformance.pipelines.results import PipelineResult
from conformance.pipelines.running import PipelineSettings, run_pipeline
from conformance.pipelines.sessions import session_conf
from conformance.pipelines.writing import pipeline_text
from conformance.sheets import marked

FORMAT: Final = "debezium-json"
NEMESES: Final = ("stale",)
REPAIRED: Final = "new-pipeline"
HOME: Final = Path(__file__).parent
RESULTS: Final = HOME / "results" / "pipelines.json"
PAGE: Final = HOME.parent / "docs" / "scoreboard" / "pipelines.md"


@dataclass(frozen=True, slots=True)
class Recipe:
    """A public recipe: where it stands, its steps in a line, and what repairs it. `why` says why it
    does not run.
    """

    name: str
    title: str
    publisher: str
    address: str
    read: str = ""
    published: str = ""
    steps: str = ""
    repair: str = ""
    why: str = ""


def recipes() -> tuple[list[Recipe], list[Recipe]]:
    """Those that run, and those that do not."""
    data = tomllib.loads((HOME / "recipes" / "recipes.toml").read_text("utf-8"))
    run, unjudged = (
        [Recipe(name, **given) for name, given in data[table].items()]
        for table in ("recipes", "unjudged")
    )
    return run, unjudged


def judge() -> dict[str, Any]:
    """The results of the recipes and of the repaired pipeline, as they are kept."""
    conf, catalogue = session_conf(QUICK, {}, "delta", "")
    results: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as folder, ChildEngine(conf=conf) as engine:
        repaired = Path(folder, "repaired.py")
        repaired.write_text(pipeline_text(FORMAT, "delta", "repaired.py"), "utf-8")
        files = {recipe.name: HOME / "recipes" / f"{recipe.name}.py" for recipe in recipes()[0]}
        for name, path in (*files.items(), (REPAIRED, repaired)):
            results[name] = {}
            for nemesis in NEMESES:
                settings = PipelineSettings(
                    FORMAT, str(path), nemesis=nemesis, catalogue=catalogue, limit_s=600
                )
                for result in run_pipeline(settings, engine, None, lambda _line: None):
                    if result.nemesis in NEMESES:
                        results[name][nemesis] = _facts(result)
                        sys.stderr.write(f"{name}, {nemesis}: {result.word}\n")
    spark = installed_spark()[0]
    return {"spark": spark, "packages": lakehouse("delta", spark).packages, "results": results}


def _facts(result: PipelineResult) -> dict[str, Any]:
    return {
        "result": result.word,
        "profile": result.profile,
        "broken": {rule.rpartition("/")[2]: count for rule, count in result.broken.items()},
        # Behind the cause of a query's end stand Python's frames, with paths of a machine.
        "first": result.wrong[0][1].partition(" [STREAM_FAILED]")[0] if result.wrong else "",
    }


def page_text(data: Mapping[str, Any]) -> str:
    """The page of kept results."""
    return "\n".join(_page(data))


def _page(data: Mapping[str, Any]) -> Iterator[str]:
    results = data["results"]
    profile = results[REPAIRED][NEMESES[0]]["profile"]
    run, unjudged = recipes()
    yield "# Recipes that keep a table"
    yield ""
    yield "<!-- Written by `python -m scoreboard.pipelines --page`; a test compares. -->"
    yield ""
    yield "Public recipes for MERGE, judged by [`pipeline`](../from-rows-to-a-table.md). The harness's own decoder reads the messages, so that"
    yield "the MERGE alone is judged; its steps are written again in our own words (`scoreboard/recipes`), in SQL where the page uses Delta's"
    yield f"builder. {FORMAT}, profile {profile}, into {data['packages']} on Spark {data['spark']}. A cell has the rules that are broken, the one"
    yield "that is told first in front."
    yield ""
    lines = []
    for recipe in run:
        lines.append(
            (
                f"[{recipe.publisher}: {recipe.title}](#{recipe.name.replace('_', '-')})",
                *_cells(results[recipe.name]),
            )
        )
    lines.append((f"`{REPAIRED} {FORMAT} --sink delta`", *_cells(results[REPAIRED])))
    yield from marked(("recipe", *NEMESES), lines)
    for recipe in run:
        yield ""
        yield f"## {recipe.name.replace('_', '-')}"
        yield ""
        published = f" of {recipe.published}" if recipe.published else ""
        yield f"[{recipe.title}]({recipe.address}), {recipe.publisher}{published}, read on {recipe.read}."
        yield ""
        yield f"- Steps: {recipe.steps}."
        for nemesis in NEMESES:
            facts = results[recipe.name][nemesis]
            if facts["first"]:
                yield f"- {nemesis}: {facts['first']}."
        yield f"- Repair: {recipe.repair}; `cdc-conformance {REPAIRED}` writes it."
    yield ""
    yield "## Not judged"
    yield ""
    for recipe in unjudged:
        yield f"- [{recipe.title}]({recipe.address}), {recipe.publisher}: {recipe.why}."
    yield ""


def _cells(results: Mapping[str, Mapping[str, Any]]) -> list[str]:
    return [
        ", ".join(results[nemesis]["broken"]) or results[nemesis]["result"] for nemesis in NEMESES
    ]


def main(arguments: list[str]) -> None:
    """Judges, unless the page alone is asked for."""
    if arguments != ["--page"]:
        RESULTS.write_text(json.dumps(judge(), indent=1, ensure_ascii=False) + "\n", "utf-8")
    PAGE.write_text(page_text(json.loads(RESULTS.read_text("utf-8"))), "utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
