"""Errors in words: the first lines, the line of the user's code, and the deepest causes, without
the stack.
"""

from __future__ import annotations

import re
import traceback
from typing import Final

LINES: Final = 12
"""First lines of an error that are kept."""
CAUSES: Final = 3
"""Deepest causes that are kept."""
_WORKERS: Final = re.compile(r'^\s*File "([^"]+)", line (\d+)', re.MULTILINE)
"""A line of the stack of a Python worker, in the text of Spark's error."""
_RAISED: Final = re.compile(r'^\s+File "[^"]+", line \d+.*\n(?:\s+.*\n)*(\S.*)', re.MULTILINE)
"""The last lines of the stack of a Python worker, and (group 1) the error that was raised."""
_INSTALLED: Final = re.compile(
    r"[/\\](site-packages|pyspark|spark_checks|lib[/\\]python[\d.]*)[/\\]|^<|pyspark\.zip"
)
"""A path of a file that is not the user's: of an installed package, of Python, or of Spark."""
_CALLED: Final = re.compile(r"^An error occurred while calling o\d+\.\w+\.\n: ")
"""How py4j begins: with the number of an object of its own, another one each time."""
_PROXIED: Final = "py4j.protocol.Py4JJavaError: An error occurred while calling "
"""How Python's stack ends when Java raised: the reason stands in the lines behind."""
_FAILED: Final = re.compile(
    r"^\[STREAM_FAILED\] Query \[id = [^]]*\] terminated with exception: (?=\S)"
)
"""How Spark begins the error of a query: with ids that nobody knows it by."""
_CAPTURED: Final = "pyspark.errors.exceptions.captured."
"""The module of PySpark's errors of Java, which tells nobody anything."""
LENGTH: Final = 3_000
"""Characters of the first lines, and of the causes."""


def summary(error: BaseException) -> str:
    """The first lines of an error and its deepest causes; the lines of its stack are left out."""
    # If Spark refuses a plan, the text of the plan comes behind the reason, and is cut off. If a
    # Python worker fails, the reason comes behind the worker's stack, and is put first.
    message = _FAILED.sub("", _CALLED.sub("", str(error))).partition(";\n'")[0]
    if (raised := list(_RAISED.finditer(message))) and not message.startswith(raised[-1][1]):
        cause_words = java_cause(message) or _first_words(raised[-1], message)
        message = f"{cause_words}\n{message}"
    lines = [
        line
        for line in message.splitlines()
        if line.strip() and not line.startswith(("\tat ", "  at "))
    ]
    causes = [line for line in lines[LINES:] if line.startswith("Caused by:")]
    # PySpark keeps the causes of a Java error beside its text.
    cause = getattr(error, "cause", None)
    while isinstance(cause, BaseException):
        causes.append(f"Caused by: {type(cause).__name__}: {(str(cause).splitlines() or [''])[0]}")
        cause = getattr(cause, "cause", None)
    first_lines = "\n".join(lines[:LINES])[:LENGTH]
    return "\n".join((first_lines, *_place(error), "\n".join(causes[-CAUSES:])[:LENGTH])).rstrip(
        "\n"
    )


def _first_words(raised: re.Match[str], message: str) -> str:
    """The error behind the Python stack that `raised` has found in the text `message`: its class
    and the first line of its own message, which may begin on the next line.
    """
    words = raised[1].strip().removeprefix(_CAPTURED)
    if not words.endswith(":"):
        return words
    following = (line.strip() for line in message[raised.end() :].splitlines())
    return f"{words} {next(filter(None, following), '')}".rstrip()


def java_cause(message: str) -> str:
    """The innermost cause that Java gives in the text of an error that went through Python, as
    CLASS: MESSAGE; "" if there is none.
    """
    _, separator, java_lines = message.rpartition(_PROXIED)
    if not separator:
        return ""
    causes = [
        line.removeprefix("Caused by: ").removeprefix(": ")
        for line in java_lines.splitlines()
        if line.startswith((": ", "Caused by: "))
    ]
    ours = [cause for cause in causes if not cause.startswith(("py4j.", "java.lang.reflect."))]
    return ours[-1] if ours else ""


def _place(error: BaseException) -> list[str]:
    """The place in the user's code that raised, `at FILE, line N`, as a list of one; [] if there is
    none. It is the last place of the stack, or of a Python worker's, that is in no installed
    package.
    """
    frames = [
        (frame.filename, frame.lineno or 0) for frame in traceback.extract_tb(error.__traceback__)
    ]
    frames += [(name, int(line)) for name, line in _WORKERS.findall(str(error))]
    user_frames = [(name, line) for name, line in frames if not _INSTALLED.search(name)]
    return [f"at {user_frames[-1][0]}, line {user_frames[-1][1]}"] if user_frames else []
