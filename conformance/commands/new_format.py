"""The command `new-format`: the files of a further wire format, laid out in a checkout from the
skeleton beside this module.

The skeleton is a format named `sample-json` of a product `sample`: code that imports, with tests
that fail with a sentence for each part that is still to be written.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import click

from conformance.commands.shell import print_notice
from generators.errors import UsageError
from generators.wire_format import module_name

SKELETON: Final = Path(__file__).with_name("skeleton")
"""The folder with the files of the sample format, by container."""
CONTAINERS: Final = ("json",)
"""The kinds of message values for which there is a skeleton."""
NAME: Final = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)+")
"""A legal name of a format: a product and a form, as toy-json."""
LONGEST: Final = 30
"""How many characters the name of a format may have."""
REGISTRY: Final = "generators/wire_format.py"
"""The file of a checkout that lists all formats."""
PAGES: Final = "conformance/rules/sources"
"""The folder of a checkout with the facts on products."""

_FORMATS: Final = re.compile(
    r'^FORMATS: tuple\[str, \.\.\.\] = \(\n((?:    "[^"]+",\n)+)', re.MULTILINE
)
"""The list of formats in the registry."""


@dataclass(frozen=True, slots=True)
class Layout:
    """What `new-format` writes: the texts of the new format's files by path in the checkout, and
    the new text of the registry, the file that lists all formats.
    """

    files: Mapping[str, str]
    registry: str

    @property
    def lines(self) -> int:
        """The number of new lines: all those of the files, and one in the registry."""
        return sum(content.count("\n") for content in self.files.values()) + 1


def lay_out(name: str, container: str, checkout: Path) -> Layout:
    """The files of a new format, and the new text of the registry; writes nothing.

    Raises UsageError for a name that is wrong or taken, for a folder that is no checkout, and for a
    file that exists already.
    """
    registry = checkout / REGISTRY
    registry_text = registry.read_text("utf-8") if registry.is_file() else ""
    format_list = _FORMATS.search(registry_text)
    if format_list is None:
        raise UsageError(
            f"{checkout} is no checkout of cdc-conformance: {REGISTRY} has no FORMATS in it"
        )
    format_names = re.findall(r'"([^"]+)"', format_list[1])
    _check_name(name, format_names)
    page = name.partition("-")[0]
    if (checkout / PAGES / f"{page}.toml").exists():
        page = name
    words = {
        "sample-json": name,
        "sample_json": module_name(name),
        "sample#": f"{page}#",
        '"sample"': f'"{page}"',
    }
    words |= {
        "sample.toml": f"{page}.toml",
        "Sample": "".join(map(str.capitalize, page.split("-"))),
    }
    files = {}
    for path in sorted(
        path for path in (SKELETON / container).rglob("*") if path.suffix in (".py", ".toml")
    ):
        files[_replace_words(path.relative_to(SKELETON / container).as_posix(), words)] = (
            _replace_words(path.read_text("utf-8"), words)
        )
    existing_files = [path for path in files if (checkout / path).exists()]
    if existing_files:
        raise UsageError(
            f"{name}: nothing was written, since these files are there: {', '.join(existing_files)}"
        )
    return Layout(
        files,
        f'{registry_text[: format_list.end()]}    "{name}",\n{registry_text[format_list.end() :]}',
    )


def _check_name(name: str, format_names: list[str]) -> None:
    """Raises UsageError if a new format cannot have this name: another format has it or its
    module's name, it is too long, or it is not a product and a form in lower case.
    """
    if name in format_names:
        raise UsageError(
            f"format {name!r} is there already. Known: {', '.join(sorted(format_names))}"
        )
    same = next(
        (
            format_name
            for format_name in format_names
            if module_name(format_name) == module_name(name)
        ),
        None,
    )
    if same:
        raise UsageError(f"format {name!r} would have the module of {same!r}")
    if not NAME.fullmatch(name) or len(name) > LONGEST:
        near = re.sub("[^a-z0-9]+", "-", name.lower()).strip("-")
        hint = (
            f" Did you mean {near!r}?"
            if NAME.fullmatch(near) and len(near) <= LONGEST and near not in format_names
            else ""
        )
        legal = (
            f"a name is a product and a form in lower case, as toy-json, of {LONGEST} characters at"
            " most"
        )
        raise UsageError(f"name {name!r} of a format: {legal}.{hint}")


def _replace_words(template: str, words: Mapping[str, str]) -> str:
    """The template with each sample word (a key of `words`) replaced by the new format's word."""
    for sample, word in words.items():
        template = template.replace(sample, word)
    return template


def write(layout: Layout, checkout: Path) -> None:
    """Writes the files of a new format into the checkout, and the registry with its name."""
    for name, content in layout.files.items():
        path = checkout / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content, "utf-8")
    (checkout / REGISTRY).write_text(layout.registry, "utf-8")


@click.command("new-format", short_help="Lays out the files of a further wire format.")
@click.argument("name", metavar="NAME")
@click.option(
    "--container",
    type=click.Choice(CONTAINERS),
    default="json",
    show_default=True,
    help="What a message's value is.",
)
@click.option(
    "--into",
    type=click.Path(path_type=Path, file_okay=False),
    default=".",
    show_default=True,
    help="The checkout to write into.",
)
def new_format(name: str, container: str, into: Path) -> None:
    """Lays out the files of a further wire format in a checkout, with tests that say what to write next.

    docs/adding-a-format.md goes the whole way with a small format.

    \b
    Example: cdc-conformance new-format toy-json
    """
    layout = lay_out(name, container, into)
    write(layout, into)
    for path, content in layout.files.items():
        click.echo(f"{path}: {content.count(chr(10))} lines")
    click.echo(f"{REGISTRY}: 1 line")
    click.echo(f"{len(layout.files)} files and a line in FORMATS, {layout.lines} lines")
    print_notice(_NEXT.format(name=name, module=module_name(name)))


_NEXT: Final = """
Next:
1. python -m pytest tests/generators/formats/test_{module}.py tests/spark_checks/decoders/test_{module}.py
   Each failure names a file and what to write in it, facts and writer first.
2. cdc-conformance run {name} --broker none --budget smoke      judges the reference decoder
3. cdc-conformance selftest {name}                              tries the liars and the lies
4. python -m generators.storage.fixtures fixtures {name}        writes the corpora to commit
5. python -m spark_checks.pages docs && cdc-conformance config schema > conformance/commands/config.schema.json
   writes the pages and the schema that name formats"""
"""What to do after the files are written, as text for the user."""

COMMANDS = (new_format,)
"""Commands for `cli`."""
