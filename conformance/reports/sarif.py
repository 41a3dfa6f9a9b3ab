"""The run as SARIF 2.1.0, which code hosts show beside the decoder's source: a result for each
broken rule and cause.

A broken MUST is an error, a broken SHOULD a warning, a known failure is suppressed with the
record's reason. A result's place is the decoder's function, as far as its file is known without
running it.
"""

from __future__ import annotations

import ast
import hashlib
import os
import shlex
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote

import orjson

from conformance.engines.specs import COMMAND, find_place, is_command
from conformance.judging.results import Failure, FormatResult, RunResult
from conformance.reports import facts
from conformance.reports.facts import RuleStanding, Standing
from conformance.reports.junit import explain_failures, short
from conformance.rules.rules import Rule
from conformance.text import printable, printable_lines

SCHEMA: Final = "https://json.schemastore.org/sarif-2.1.0.json"
"""The JSON Schema that the document names."""
_LEVELS: Final = {
    Standing.BROKEN: "error",
    Standing.LAX: "warning",
    Standing.KNOWN: "error",
    Standing.IDLE: "error",
}
"""SARIF's level for the standings of a rule that give a result."""


def sarif_bytes(result: RunResult) -> bytes:
    """The content of report.sarif."""
    return orjson.dumps(document(result), option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)


def document(result: RunResult) -> dict[str, Any]:
    """The run as a SARIF document, an object to be written as JSON."""
    rules: list[Rule] = []
    entries: list[dict[str, Any]] = []
    for fmt in result.formats:
        for standing in facts.standings(fmt, result.strict):
            rule = standing.result.rule
            rules.append(rule)
            entries += _results(fmt, standing, result.failures_of(rule.id))
    numbers = {rule.id: number for number, rule in enumerate(rules)}
    results = [{**entry, "ruleIndex": numbers[entry["ruleId"]]} for entry in entries]
    ended = (
        [{"level": "error", "message": {"text": printable(facts.headline(result))}}]
        if result.ended
        else []
    )
    version = result.header.versions.get("cdc-conformance")
    driver = {
        "name": facts.COMMAND,
        **({"version": version} if version else {}),
        "rules": [_rule_descriptor(rule) for rule in rules],
    }
    invocation: dict[str, Any] = {
        "executionSuccessful": not result.ended,
        "exitCode": result.exit_code,
    }
    if ended:
        invocation["toolExecutionNotifications"] = ended
    run = {
        "tool": {"driver": driver},
        "automationDetails": {
            "id": f"{facts.COMMAND}/{' '.join(fmt.format for fmt in result.formats)}/"
        },
        "invocations": [invocation],
        "columnKind": "unicodeCodePoints",
        "results": results,
    }
    return {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}


def _rule_descriptor(rule: Rule) -> dict[str, Any]:
    """The description of a rule in SARIF: sentence, obligation, sources, and a web address if a
    source has one; its name is the rule's effect in CamelCase.
    """
    address = next((cited.address for cited in rule.citations if cited.address), "")
    sources = "\n".join(f"- {cited}" for cited in rule.citations)
    return {
        "id": rule.id,
        "name": "".join(part.capitalize() for part in rule.effect.value.split("_")),
        "shortDescription": {"text": rule.statement},
        "help": {"text": f"{rule.obligation}, {rule.provenance}. {rule.statement}\n{sources}"},
        **({"helpUri": address} if address else {}),
        "properties": {
            "tags": [rule.id.partition("/")[0], str(rule.obligation), str(rule.provenance)]
        },
    }


def _results(
    fmt: FormatResult, standing: RuleStanding, failures: list[Failure]
) -> Iterator[dict[str, Any]]:
    """The SARIF results of one rule: one for each failure (known ones are suppressed), one without
    a cause if it was not exercised or has no failure to show; none for a standing outside of
    _LEVELS.
    """
    if standing.standing not in _LEVELS:
        return
    rule = standing.result.rule
    common = {
        "ruleId": rule.id,
        "level": _LEVELS[standing.standing],
        "locations": [_location(fmt.decoder)],
    }
    if standing.standing is Standing.IDLE:
        failures = []
    for failure in failures:
        entry: dict[str, Any] = {
            **common,
            "message": {"text": printable_lines(explain_failures([failure]))},
            "occurrenceCount": failure.cases,
        }
        if failure.known:
            why = {"justification": printable_lines(failure.reason)} if failure.reason else {}
            entry["suppressions"] = [{"kind": "external", "status": "accepted", **why}]
        yield {
            **entry,
            "partialFingerprints": {"ruleAndCause/v1": _fingerprint(rule.id, *failure.keys)},
        }
    if not failures:
        idle = standing.standing is Standing.IDLE
        words = (
            "not exercised: no case compared anything for it"
            if idle
            else short(rule.statement, None, f"{standing.cases:,} cases")
        )
        yield {
            **common,
            "message": {"text": words},
            "partialFingerprints": {"ruleAndCause/v1": _fingerprint(rule.id)},
        }


def _fingerprint(*parts: str) -> str:
    """A digest of the parts (rule and cause) by which a code host knows a result again."""
    return hashlib.sha256("\0".join(parts).encode("utf-8", "backslashreplace")).hexdigest()[:32]


def _location(decoder: str) -> dict[str, Any]:
    """The location of a result in SARIF: the decoder's name, and its file and line if they can be
    found.
    """
    logical = [{"fullyQualifiedName": printable(decoder)}]
    place = where(decoder)
    if place is None:
        return {"logicalLocations": logical}
    file, line = place
    physical = {"artifactLocation": {"uri": quote(file.as_posix())}, "region": {"startLine": line}}
    return {"physicalLocation": physical, "logicalLocations": logical}


def where(decoder: str) -> tuple[Path, int] | None:
    """The file (relative to the working directory) and the line of a decoder's function, for links;
    None if no such file is found below the directory. For a command it is the first word that names
    a file. The decoder is not run.
    """
    function = ""
    if is_command(decoder):
        files = [Path(word) for word in shlex.split(decoder.removeprefix(COMMAND))]
    else:
        source, function = find_place(decoder)
        source = source.removesuffix(".py")
        bases = [Path(source), *(Path(folder, *source.split(".")) for folder in ("", *sys.path))]
        files = []
        for base in bases:
            files += [base.with_name(f"{base.name}.py"), base / "__init__.py"]
    for file in files:
        # Unlike Path.is_file, this takes a word that is too long for a name, such as a command's
        # JSON, for no file.
        if not os.path.isfile(file):  # noqa: PTH113
            continue
        absolute = file.resolve()
        if absolute.is_relative_to(Path.cwd()):
            return absolute.relative_to(Path.cwd()), _line(absolute, function)
    return None


def _line(file: Path, function: str) -> int:
    """The line of the decoder's function in its file; 1 if it is not found there."""
    try:
        tree = ast.parse(file.read_bytes())
    except (OSError, SyntaxError, ValueError):
        return 1
    lines = {
        node.name: node.lineno
        for node in tree.body
        if isinstance(node, ast.FunctionDef | ast.ClassDef)
    }
    return next((lines[name] for name in (function, "decode", "decode_rows") if name in lines), 1)
