"""The command `new-decoder`: a decoder of a format that runs and decodes nothing yet, with a test
beside it.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from string import Template
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias

import click

from conformance.commands.shell import FORMAT_NAME
from conformance.judging.wording import describe_cell
from generators.errors import UsageError
from generators.model import SIDES, Change, Deployment, Kind, State
from generators.wire_format import Format, get

if TYPE_CHECKING:
    from conformance.pages.samples import Sample

Level: TypeAlias = Literal["changes", "rows"]
SKELETON: Final = Path(__file__).with_name("decoder_skeleton")
"""The folder with the templates of decoders and their test."""
FUNCTIONS: Final[Mapping[Level, str]] = {"changes": "decode", "rows": "decode_rows"}
"""The name of a decoder's function for each level."""
WIDTH: Final = 100
"""The length of a line in the written files."""
DEPLOYMENT: Final = {
    "time_zone": "the IANA name of the server's time zone",
    "charset": "the character set of the source",
    "compression": "how a whole value is packed",
    "binary": "the text form of binaries",
    "decimal": "the form of DECIMAL",
    "temporal": "the form of dates and times",
    "bigint_unsigned": "the form of BIGINT UNSIGNED",
    "schemas": "where a message's schema is",
}
"""What each field of a deployment (what a decoder needs to know and the bytes do not show) says."""


@dataclass(frozen=True, slots=True)
class Skeleton:
    """The texts of a new decoder and its test by path; `command` is the command line that judges
    the decoder.
    """

    files: Mapping[Path, str]
    command: str


def write_skeleton(fmt: Format[Any], level: Level, path: Path) -> Skeleton:
    """The texts of the files that `new-decoder` writes: a decoder at `path` that decodes nothing
    yet, and a test beside it; with the command that judges the decoder. Writes no file.
    """
    from conformance.pages.samples import plain

    profile = plain(fmt).name
    test = path.with_name(f"test_{path.name}")
    names = {
        "format": fmt.name,
        "title": fmt.title,
        "file": path.as_posix(),
        "test": test.as_posix(),
        "function": FUNCTIONS[level],
        "level": level,
        "profile": profile,
        "kinds": _comment(_kind_lines(fmt)),
        "deployment": textwrap.indent("\n".join(_deployment_lines(fmt)), "    "),
        "fields": textwrap.indent("\n".join(_field_lines()), "    "),
        "samples": _comment(_sample_lines(fmt, level)),
    }
    command = (
        f"cdc-conformance run {fmt.name} --decoder {path.as_posix()}:{FUNCTIONS[level]}"
        f" --writer-profile {profile} --level {level} --broker none"
    )
    files = {path: _fill_in(f"{level}.py.txt", names), test: _fill_in("test.py.txt", names)}
    return Skeleton(files, command)


def _fill_in(template: str, names: Mapping[str, str]) -> str:
    """The text of a template with its placeholders replaced."""
    return Template((SKELETON / template).read_text("utf-8")).substitute(names)


def _comment(lines: Iterator[str]) -> str:
    """The lines as a comment of Python."""
    return "\n".join(f"# {line}".rstrip() for line in lines)


def _kind_lines(fmt: Format[Any]) -> Iterator[str]:
    """The lines of a comment that list the format's sorts of messages, each with the kind and op of
    its rows.
    """
    for kind in fmt.kinds:
        op = f" {kind.op}" if kind.op else ""
        note = f" ({kind.note})" if kind.note else ""
        yield from textwrap.wrap(
            f"{kind.wire}: {kind.kind}{op}{note}", WIDTH - 4, subsequent_indent="    "
        )


def _deployment_lines(fmt: Format[Any]) -> Iterator[str]:
    """The lines of a comment that list the fields of a deployment (what a decoder needs to know and
    the bytes do not show), each with its values in this format; unused fields last, in one line.
    """
    values: dict[str, list[str]] = {}
    for name in Deployment.__dataclass_fields__:
        distinct = {str(getattr(profile.deployment, name)) for profile in fmt.profiles}
        values[name] = sorted(distinct)
    for name, field_values in values.items():
        if field_values != [""]:
            value_list = ", ".join(value or "none" for value in field_values)
            yield from textwrap.wrap(
                f"- {name}: {DEPLOYMENT[name]} ({value_list})", WIDTH - 8, subsequent_indent="  "
            )
    unused = [name for name, field_values in values.items() if field_values == [""]]
    if unused:
        yield f"- empty in this format: {', '.join(unused)}"


def _field_lines() -> Iterator[str]:
    """The lines of a docstring that list the columns of a decoder's output, each with what it
    holds.
    """
    from conformance.pages.column_types import FIELDS, PROPERTIES

    for name, words in (FIELDS | PROPERTIES).items():
        plain = words.replace("`", "")
        yield from textwrap.wrap(f"- {name}: {plain}", WIDTH - 8, subsequent_indent="  ")


def _sample_lines(fmt: Format[Any], level: Level) -> Iterator[str]:
    """The lines of a comment that show messages on row changes, each with the rows that a right
    decoder returns for it.
    """
    from conformance.pages.samples import samples
    from conformance.reports.excerpt import excerpt_value

    yield "Messages, and what the harness expects of them (a row of four columns, changed):"
    for sample in samples(fmt):
        if any(change.kind is Kind.ROW for change in sample.changes):
            yield ""
            yield from _wrap_lines("key    ", excerpt_value(sample.message.key).plain)
            yield from _value_lines(fmt, sample)
            for change in sample.changes:
                yield from _expected_lines(change, level)


def _value_lines(fmt: Format[Any], sample: Sample) -> Iterator[str]:
    """The lines of a comment that show a sample message's value, laid out; Kafka Connect's schema
    is left out.
    """
    from conformance.pages.samples import pretty
    from conformance.reports.wire import find_connect_schema

    value_text = sample.text
    if schema := find_connect_schema(value_text):
        value_text = f'{value_text[: schema[0]]}"..."{value_text[schema[1] :]}'
    for number, line in enumerate(pretty(value_text, WIDTH - 10).splitlines()):
        yield f"       {line}" if number else f"value  {line}"
    if sample.message.value is not None and fmt.container in _CONTAINERS:
        yield f"       ({_CONTAINERS[fmt.container]})"


_CONTAINERS: Final = {
    "avro": "Avro as its schema reads it, which the product publishes",
    "confluent": "Avro as its schema in the registry reads it; before it a zero byte and the id",
    "protobuf": "Protobuf by the names of its fields, messages in bytes decoded, too",
    "frames": "before it its length in 8 bytes; a value may hold several",
}
"""The words behind a value that is shown decoded, by the container that its bytes have."""


def _wrap_lines(head: str, sentence: str) -> Iterator[str]:
    """The sentence in lines for a comment, the first behind `head`, the others indented as far."""
    yield from textwrap.wrap(
        sentence,
        WIDTH - 2,
        initial_indent=head,
        subsequent_indent=" " * len(head),
        break_on_hyphens=False,
    )


def _expected_lines(change: Change, level: Level) -> Iterator[str]:
    """The lines of a comment that show the row which a right decoder returns for a change, with the
    cells of both images.
    """
    numbers: Mapping[Level, int] = {"changes": 1, "rows": 2}
    columns = f"row {change.row}, kind {change.kind}, op {change.op}"
    if level == "changes":
        keys = list(change.keys or ())
        columns += f", database {change.database}, table {change.table}, keys {keys}"
    yield from _wrap_lines("gives  ", columns)
    for side in SIDES:
        image = change.image(side, numbers[level])
        if image is not None:
            cells = (
                f"{name}: {describe_cell(cell, numbers[level])}"
                for name, cell in image.items()
                if cell.state is not State.ABSENT
            )
            yield from _wrap_lines(f"       {side:<6} ", ", ".join(cells))


@click.command("new-decoder", short_help="Writes a decoder that runs and decodes nothing yet.")
@click.argument("fmt", metavar="FORMAT", type=FORMAT_NAME)
@click.option(
    "--level",
    type=click.Choice(["changes", "rows"]),
    default="changes",
    show_default=True,
    help="Changes as texts, or typed rows of a table.",
)
@click.option(
    "--out",
    metavar="FILE",
    type=click.Path(dir_okay=False, path_type=Path),
    default="decoder.py",
    show_default=True,
    help="The file; its test stands beside it.",
)
def new_decoder(fmt: str, level: Level, out: Path) -> None:
    """Writes a decoder that runs and decodes nothing yet, with a pytest test beside it.

    Its comments have the format's messages, the rows that they owe, and what to write first. Files that are there are left.

    \b
    Example: cdc-conformance new-decoder ticdc-canal-json --out mine.py
    Example: cdc-conformance new-decoder debezium-json --level rows
    """
    if out.suffix != ".py":
        raise UsageError(f"--out {out}: a decoder is a file of Python, such as {out.stem}.py")
    skeleton = write_skeleton(get(fmt), level, out)
    present = [str(path) for path in skeleton.files if path.exists()]
    if present:
        raise UsageError(f"{' and '.join(present)} is there already; name another file with --out")
    for path, content in skeleton.files.items():
        path.write_text(content, "utf-8")
    click.echo(
        f"{out}, {' '.join(str(path) for path in skeleton.files if path != out)}: judge it with"
    )
    click.echo(f"  {skeleton.command}")


COMMANDS = (new_decoder,)
"""Commands for `cli`."""
