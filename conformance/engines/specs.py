"""Decoder specifications: `module:function`, `path/file.py:function`, `cmd:COMMAND` or, in the self
test, `liar:NAME`.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import Final, NamedTuple

from generators.errors import UnknownName, UsageError
from generators.wire_format import module_name

DECODERS: Final = "spark_checks.decoders"
"""The package of the reference decoders, each a module with its format's name."""

SPARK_LIARS: Final = "spark_checks.liars"
"""The package with the tables of liars in Spark, FORMAT.toml."""

COMMAND: Final = "cmd:"
"""Prefix of the specification of a command."""
LIAR: Final = "liar:"
"""Prefix of the specification of a liar: `liar:FORMAT/NAME`."""

SERVICES: Final = {
    "bench": "throughput",
    "corpus": "corpora",
    "fuzz": "fuzzing",
    "generate": "generate",
    "pipeline": "piping",
    "produce": "producing",
    "stream": "streaming",
    "sustain": "sustained",
}
"""The services of Spark's side beside decoding, by a request's `op`: modules of
spark_checks.services with a `handle`.
"""


def decoder_spec(fmt: str, decoder: str | None) -> str:
    """Returns the specification `decoder` (such as `module:function`) as it is; for None that of
    the format's reference decoder.
    """
    return decoder or f"{DECODERS}.{module_name(fmt)}"


def is_command(decoder: object) -> bool:
    """Whether a decoder's specification names a command."""
    return isinstance(decoder, str) and decoder.startswith(COMMAND)


class DecoderPlace(NamedTuple):
    """Where a decoder's specification finds it: `source`, the name of a module or the path of a
    `.py` file, and the name of the `function` there; "" if the specification names none.
    """

    source: str
    function: str

    @property
    def file(self) -> Path | None:
        """The absolute path of the decoder's file; None for a module that is named."""
        return Path(self.source).resolve() if self.source.endswith(".py") else None


def find_place(spec: str) -> DecoderPlace:
    """Where a specification in Python, `module:function` or `path/file.py:function`, finds the
    decoder. It is divided at its last colon. One that ends with `.py` is a path, colons and all.
    """
    source, colon, function = spec.rpartition(":")
    if not colon or spec.endswith(".py"):
        return DecoderPlace(spec, "")
    return DecoderPlace(source, function)


def check_decoder_file(decoder: str, *, parse_file: bool = True) -> None:
    """Raises UsageError if the file of a decoder does not exist, or, with `parse_file`, if it is no
    Python or has no function of that name. The file is parsed, not run: names that come from
    `import *`, or are made while it runs, are accepted.
    """
    source, name = find_place(decoder)
    if is_command(decoder) or not source.endswith(".py"):
        return
    if not Path(source).is_file():
        raise UsageError(f"decoder {decoder}: there is no file {source}")
    if not parse_file:
        return
    try:
        tree = ast.parse(Path(source).read_bytes(), source)
    except SyntaxError as error:
        raise UsageError(
            f"decoder {decoder}: {source}, line {error.lineno}: {error.msg}"
        ) from error
    except ValueError as error:
        raise UsageError(f"decoder {decoder}: {source}: {error}") from error
    names = set(_defined_names(tree))
    if name and names.isdisjoint({name, "*", "__getattr__", "globals"}):
        raise UnknownName(
            "function",
            name,
            sorted(_public_definitions(tree)),
            of=source,
        )


def _public_definitions(tree: ast.Module) -> set[str]:
    """The names of a module's functions and classes that are not inside other ones and do not
    begin with an underscore.
    """
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
    nested_ids = {
        id(inner)
        for node in ast.walk(tree)
        if isinstance(node, kinds)
        for inner in ast.walk(node)
        if inner is not node
    }
    return {
        node.name
        for node in ast.walk(tree)
        if isinstance(node, kinds) and id(node) not in nested_ids and not node.name.startswith("_")
    }


def _defined_names(tree: ast.Module) -> Iterator[str]:
    """The names that the statements of a module define at any depth, and `globals` if the module
    uses that.
    """
    for node in ast.walk(tree):
        match node:
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                yield node.name
            case ast.Name(id="globals") | ast.Name(ctx=ast.Store()):
                yield node.id
            case ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)):
                yield name
            case ast.MatchMapping(rest=str(name)):
                yield name
            case ast.alias():
                yield (node.asname or node.name).partition(".")[0]
