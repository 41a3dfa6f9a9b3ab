"""Arrow's JSON reader over a batch of messages, each a document of its own.

The reader knows no messages: it reads the values behind each other, so a second document in a value would move all rows
behind it. Every value is therefore put into a document of its own, `{"S":[VALUE,{"S":NUMBER}]}` and a line feed, with a name S
that no value can know. If each of them is there, with two elements and its number in the second one, each value is one document.
A batch that Arrow refuses (it does not say for which message) is divided until the message stands alone.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

import pyarrow as pa
import pyarrow.compute as pc
from pyarrow.json import ParseOptions, ReadOptions, read_json

__all__ = ["DIVIDE", "Documents", "Parsed"]

DIVIDE: Final = 8
"""Into how many parts a refused batch is divided."""


@dataclass(frozen=True, slots=True)
class Parsed:
    """Messages: those of `elements` at `places`, one for each value. A part of a message is cheaper to take than the whole."""

    elements: pa.StructArray
    places: pa.Array

    def __len__(self) -> int:
        return len(self.places)

    @property
    def messages(self) -> pa.StructArray:
        """All of them, whole."""
        return self.elements.take(self.places)


@dataclass(frozen=True, slots=True)
class Documents:
    """A reader of values of one shape. Every value is read as if `before` stood before it."""

    mark: str
    options: ParseOptions
    before: str = ""

    @classmethod
    def of(cls, members: Mapping[str, pa.DataType], before: str = "") -> Documents:
        """The reader of objects with these members; it ignores others."""
        mark = f"m{secrets.token_hex(8)}"
        element = pa.struct(list({**members, mark: pa.int64()}.items()))
        schema = pa.schema([(mark, pa.list_(element))])
        return cls(mark, ParseOptions(schema, newlines_in_values=False, unexpected_field_behavior="ignore"), before)

    def parts(self, values: pa.Array, first: int = 0) -> Iterator[tuple[int, Parsed | None]]:
        """What was read, in parts by the number of their first message; None is a single message that Arrow refuses."""
        parsed = self.parsed(values)
        if parsed is not None:
            yield first, parsed
        elif len(values) == 1:
            yield first, None
        else:
            step = -(-len(values) // DIVIDE)
            for at in range(0, len(values), step):
                yield from self.parts(values.slice(at, step), first + at)

    def parsed(self, values: pa.Array) -> Parsed | None:
        """The messages as structs; None if Arrow refuses any, or the result is not one struct for each."""
        count = len(values)
        if values.null_count or not count:
            none = pa.array([], self.options.explicit_schema.field(0).type.value_type)
            return None if count else Parsed(none, pa.array([], pa.int64()))
        numbers = pa.array(range(count))
        try:
            # The cast refuses what is not UTF-8; the reader does not.
            texts = values.cast(pa.string())
            open_, close = f'{{"{self.mark}":[{self.before}', f',{{"{self.mark}":'
            wrapped = pc.binary_join_element_wise(open_, texts, close, numbers.cast(pa.string()), "}]}\n", "")
            text = wrapped.buffers()[2]
            read = read_json(pa.BufferReader(text), ReadOptions(use_threads=False, block_size=text.size), self.options)
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
            return None
        pairs = read.column(self.mark).combine_chunks()
        if len(pairs) != count or pairs.null_count or not pc.all(pc.equal(pc.list_value_length(pairs), 2)).as_py():
            return None
        elements, first = pairs.flatten(), pc.multiply(numbers, 2)
        found = elements.field(self.mark).take(pc.add(first, 1))
        whole = found.equals(numbers) and not elements.null_count
        return Parsed(elements, first) if whole else None
