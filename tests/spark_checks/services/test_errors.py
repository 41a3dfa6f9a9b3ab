"""Errors in words."""

from spark_checks.services.errors import CAUSES, LINES, told


def test_an_error_has_its_first_lines_and_its_deepest_causes_but_no_stack():
    stack = "\n".join(f"  at org.Class{i}\nCaused by: {i}" for i in range(9))
    lines = told(ValueError("no\n\n\tat org.Class\nbecause\n" + "x\n" * 50 + stack)).splitlines()
    assert lines[:3] == ["no", "because", "x"]
    assert lines[LINES:] == ["Caused by: 6", "Caused by: 7", "Caused by: 8"]
    assert len(lines) == LINES + CAUSES
