"""Reports of a run: for people (console, page, Markdown), for programs (JSON lines, JUnit, badge).

Imports `rules`, `judging`, `running` and `load`.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from conformance.judging.results import RunResult


def write_all(result: RunResult, directory: Path) -> list[Path]:
    """Writes report.jsonl, report.html, junit.xml, report.md and badge.json into the directory, creating it if needed.

    Raises HarnessError if writing fails; no file is left half-written.
    """
    from conformance.files import put
    from conformance.reports import badge, junit, markdown, page, records

    def text(content: str) -> bytes:
        return content.encode("utf-8", "backslashreplace")

    return [
        records.write(result, directory),
        put(directory / "report.html", lambda: [text(page.html(result))]),
        put(directory / "junit.xml", lambda: [text(junit.render(result))]),
        put(directory / "report.md", lambda: [text(markdown.render(result) + "\n")]),
        put(directory / "badge.json", lambda: [badge.text(result)]),
    ]
