"""The run as data, one JSON object a line (report.schema.json): a header; each case, rule, call,
failure and entry of the record of known failures; a footer. A report without its footer is
truncated.
"""

from __future__ import annotations

import base64
import importlib.resources
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import orjson

from conformance.files import json_text, put
from conformance.judging.known import EntryResult
from conformance.judging.results import Failure, FormatResult, Header, OwnTables, RunResult
from conformance.reports import facts
from conformance.running.events import Event, Judged, Started

VERSION = 4
"""The version of the form of report.jsonl, which its header states."""
NAME = "report.jsonl"
"""The file's name in the report's folder."""


def records(result: RunResult) -> Iterator[dict[str, Any]]:
    """The lines of report.jsonl for a finished run, as objects."""
    yield header(result.header)
    for fmt in result.formats:
        yield from of_format(fmt)
    yield from closing(result)


def header(head: Header) -> dict[str, Any]:
    """The first line of report.jsonl as an object: the run's settings. `version` is that of the
    form of report.jsonl, `versions` are those of packages, with the run's date and system, and
    `arguments` are those of the command line. `topic` is None if the run has none, and only a run
    on a user's own tables has `tables`.
    """
    return {
        "type": "header",
        "version": VERSION,
        "seed": head.seed,
        "budget": head.budget,
        "decoder": head.decoder,
        "broker": head.broker,
        "topic": head.topic or None,
        "versions": dict(head.versions),
        "arguments": list(head.arguments),
        **({"tables": _tables(head.tables)} if head.tables else {}),
    }


def _tables(own_tables: OwnTables) -> dict[str, Any]:
    """The user's own tables, on which the run was made, as the `tables` member of the header line."""
    notes = [asdict(note) for note in own_tables.notes]
    return {
        "dialect": own_tables.dialect,
        "names": list(own_tables.names),
        "notes": notes,
        "left_out": list(own_tables.left_out),
    }


def of_format(fmt: FormatResult) -> Iterator[dict[str, Any]]:
    """The lines of report.jsonl on one judged format, as objects: its cases, rules and decode
    calls.
    """
    yield from _cases(fmt)
    yield from _rules(fmt)
    for call in fmt.calls:
        yield {
            "type": "call",
            "format": fmt.format,
            "name": call.name,
            "level": call.level,
            "cases": call.cases,
            "messages": call.messages,
            "note": call.note,
        }


def closing(result: RunResult) -> Iterator[dict[str, Any]]:
    """The last lines of report.jsonl as objects: failures, entries of the record of known failures,
    and the footer with exit code and counts.
    """
    for failure in result.failures:
        yield _failure(failure)
    for entry in result.entries:
        yield _expectation(entry)
    yield {
        "type": "footer",
        "exit_code": result.exit_code,
        "seconds": round(result.seconds, 3),
        "stopped_early": result.stopped_early,
        "ended": result.ended or None,
        "unjudged": list(result.unjudged),
        "formats": {fmt.format: _format_counts(fmt) for fmt in result.formats},
    }


def _format_counts(fmt: FormatResult) -> dict[str, Any]:
    """The counts of one format in the last line of report.jsonl."""
    return {
        "cases": len(fmt.cases),
        "drawn": fmt.drawn,
        "rules": len(fmt.rules),
        "rules_exercised": sum(1 for rule_result in fmt.rules if rule_result.compared),
        "verdicts": {verdict.value: count for verdict, count in sorted(fmt.verdicts.items())},
        "certain_cells": round(fmt.certain, 6),
        "cells": {state.value: count for state, count in sorted(fmt.cells.items())},
    }


def _cases(fmt: FormatResult) -> Iterator[dict[str, Any]]:
    """The lines of report.jsonl on the cases of a format, as objects."""
    for result in fmt.cases:
        places = fmt.places.get(result.case.id, ())
        yield {
            "type": "case",
            "id": result.case.id,
            "format": fmt.format,
            "profile": result.case.profile,
            "level": result.case.level,
            "origin": result.case.origin.value,
            "verdict": result.verdict.value,
            "rules_broken": sorted({f.rule for f in result.findings}),
            "rules_known": sorted(result.known),
            "messages": [{"topic": t, "partition": p, "offset": o} for t, p, o in places],
            "note": result.note,
            "nulled": result.nulled,
        }


def _rules(fmt: FormatResult) -> Iterator[dict[str, Any]]:
    """The lines of report.jsonl on the rules of a format, as objects."""
    for result in fmt.rules:
        rule = result.rule
        yield {
            "type": "rule",
            "format": fmt.format,
            "id": rule.id,
            "statement": rule.statement,
            "obligation": rule.obligation.value,
            "provenance": rule.provenance.value,
            "effect": rule.effect.value,
            "citations": [str(c) for c in rule.citations],
            "compared": result.compared,
            "broken": result.broken,
            "reachable": result.reachable,
        }


def _failure(failure: Failure) -> dict[str, Any]:
    """The line of report.jsonl on a failure (a rule and one cause why it is broken), as an object.

    `cases` counts the cases with this cause, `new` those of them that the record of known failures
    does not cover; `known` says that there are none of these. `other_causes` counts further causes
    of the rule that have no line. `side` is "" for what is of the row itself; `reduced` describes
    the case before it was made smaller; `file` is the saved crash file.
    """
    finding = failure.finding
    message = failure.result.case.written[finding.message].message
    return {
        "type": "failure",
        "rule": failure.rule.id,
        "cause": failure.cause.key if failure.cause else None,
        "cause_in_words": failure.cause.words if failure.cause else None,
        "hint": facts.hint(failure),
        "other_causes": failure.others,
        "profiles": list(failure.profiles),
        "faults": list(failure.faults),
        "case": finding.case,
        "cases": failure.cases,
        "new": failure.new,
        "known": failure.known,
        "reason": failure.reason,
        "link": failure.link,
        "reduced": failure.reduced,
        "verdict": failure.result.verdict.value,
        "aspect": finding.aspect.value,
        "path": finding.path,
        "side": finding.side,
        "column": finding.column,
        "expected": finding.expected,
        "actual": finding.actual,
        "message": {"key": as_bytes(message.key), "value": as_bytes(message.value)},
        "file": failure.file or None,
    }


def _expectation(result: EntryResult) -> dict[str, Any]:
    """The line of report.jsonl on an entry of the record of known failures, as an object."""
    entry = result.entry
    return {
        "type": "expectation",
        "rule": entry.rule,
        "verdict": entry.verdict.value,
        "profiles": list(entry.profiles),
        "cases": list(entry.cases),
        "causes": list(entry.causes),
        "drawn": entry.drawn,
        "state": result.state.value,
        "count": result.cases,
        "hint": result.hint,
    }


def as_bytes(value: bytes | None) -> Mapping[str, str] | None:
    """A key, value or header as the report's JSON: an object with `text` if it is UTF-8, else with
    `base64`; null for None.
    """
    if value is None:
        return None
    try:
        return {"text": value.decode("utf-8")}
    except UnicodeDecodeError:
        return {"base64": base64.b64encode(value).decode()}


def write(result: RunResult, directory: Path) -> Path:
    """Writes report.jsonl. Raises HarnessError if writing fails; no half-written file stays under
    its name.
    """
    return put(directory / NAME, lambda: map(_line, records(result)))


@dataclass(slots=True)
class Stream:
    """A listener that passes each line of the report to `write` as soon as it is known; `close`
    passes the remaining lines.

    The header line comes first; formats come in the order of judging. `formats` are those that are
    written, `begun` says whether the header is.
    """

    write: Callable[[dict[str, Any]], None]
    formats: set[str] = field(default_factory=set)
    head: Header | None = None
    begun: bool = False

    def __call__(self, event: Event) -> None:
        """Passes on the lines that an event of the run makes known."""
        match event:
            case Started():
                self.head = event.header
            case Judged(result=judged) if self.head:
                self._begin(self.head)
                self._format(judged)

    def close(self, result: RunResult) -> None:
        """Writes the lines of report.jsonl that are not written yet, for a result that may be
        unfinished.
        """
        self._begin(result.header)
        for fmt in result.formats:
            self._format(fmt)
        for line in closing(result):
            self.write(line)

    def _begin(self, head: Header) -> None:
        """Passes the header line of the report on, before the first other line and only once."""
        if not self.begun:
            self.begun = True
            self.write(header(head))

    def _format(self, fmt: FormatResult) -> None:
        """Writes the lines of a judged format, but only once: `close` passes all formats again."""
        if fmt.format not in self.formats:
            self.formats.add(fmt.format)
            for line in of_format(fmt):
                self.write(line)


def _line(record: Mapping[str, Any]) -> bytes:
    """A record of the run as one line of JSON with its line end."""
    try:
        return orjson.dumps(record) + b"\n"
    except orjson.JSONEncodeError:
        # A lone surrogate, which an exception's text may hold.
        return json_text(record).encode() + b"\n"


def schema() -> dict[str, Any]:
    """The JSON Schema of a line of report.jsonl."""
    schema_json = (
        importlib.resources.files("conformance.reports").joinpath("report.schema.json").read_bytes()
    )
    loaded: dict[str, Any] = orjson.loads(schema_json)
    return loaded
