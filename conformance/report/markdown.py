"""The run as Markdown, for a pull request's summary."""

from __future__ import annotations

from conformance.results import RunResult


def render(result: RunResult) -> str:
    """A table of formats and profiles by verdict, then the broken rules."""
    lines = ["| format | profile | cases | verdicts |", "|---|---|---|---|"]
    for fmt in result.formats:
        for profile, cases in fmt.by_profile().items():
            counted: dict[str, int] = {}
            for case in cases:
                counted[case.verdict.value] = counted.get(case.verdict.value, 0) + 1
            words = ", ".join(f"{n} {v}" for v, n in sorted(counted.items()))
            lines.append(f"| {fmt.format} | {profile} | {len(cases)} | {words} |")
    if result.failures:
        lines += ["", "| rule | obligation | smallest case | expected | actual |", "|---|---|---|---|---|"]
    for failure in result.failures:
        cells = (
            failure.rule.id,
            failure.rule.obligation.value,
            failure.finding.case,
            failure.finding.expected,
            failure.finding.actual,
        )
        lines.append("| " + " | ".join(_cell(text) for text in cells) + " |")
    lines += ["", f"Seed {result.header.seed}, budget {result.header.budget}, exit code {result.exit_code}."]
    return "\n".join(lines)


def _cell(text: str) -> str:
    return text.replace("\\", "\\\\").replace("|", "\\|").replace("\n", " ").replace("<", "&lt;")[:200]
