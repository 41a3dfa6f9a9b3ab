"""Reports of a run: for people (console, page, notebook, Markdown), for programs (JSON lines,
JUnit, SARIF, badge).

Imports `rules`, `judging`, `engines`, `running`, `load` and `inspecting`.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from conformance.judging.results import RunResult


def write_all(result: RunResult, directory: Path) -> list[Path]:
    """Writes report.jsonl, .html, .sarif and .md, junit.xml and badge.json into the directory,
    creating it if needed, and adds the run to its history.jsonl.

    Raises HarnessError if writing fails; no file is left half-written.
    """
    from conformance.files import put
    from conformance.reports import badge, history, junit, markdown, page, records, sarif

    def encode_text(content: str) -> bytes:
        """A text in UTF-8; a lone surrogate as its escape."""
        return content.encode("utf-8", "backslashreplace")

    runs = history.add_run(directory, result)
    return [
        records.write(result, directory),
        put(directory / "report.html", lambda: [encode_text(page.page_of_run(result, runs))]),
        put(directory / "junit.xml", lambda: [encode_text(junit.render(result))]),
        put(directory / "report.sarif", lambda: [sarif.sarif_bytes(result)]),
        put(directory / "report.md", lambda: [encode_text(markdown.render(result) + "\n")]),
        put(directory / "badge.json", lambda: [badge.badge_bytes(result)]),
        put(directory / history.NAME, lambda: history.history_lines(runs)),
    ]
