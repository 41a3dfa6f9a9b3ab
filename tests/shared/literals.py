"""Messages of documents and products, each once: what writers must write and decoders must read."""

from pathlib import Path

FOLDER = Path(__file__).with_name("literals")


def literal(name: str) -> str:
    """The text of `literals/NAME`, whose page or recording the test that takes it cites."""
    return (FOLDER / name).read_text("utf-8").removesuffix("\n")
