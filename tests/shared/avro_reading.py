"""Apache's own Avro library as a reader of what the formats write: branches of unions, and strings that are no UTF-8."""

from __future__ import annotations

from typing import Any

import avro.errors
import avro.io


class Branches(avro.io.DatumReader):
    """Reads a union's value as (branch, value)."""

    def read_union(self, writers_schema: Any, _readers_schema: Any, decoder: Any) -> tuple[str, Any]:
        """The name of the branch without its namespace, and the value."""
        index = int(decoder.read_long())
        if not 0 <= index < len(writers_schema.schemas):
            raise avro.errors.SchemaResolutionException(f"branch {index}")
        branch = writers_schema.schemas[index]
        name = getattr(branch, "fullname", branch.type)
        return name.rpartition(".")[2], self.read_data(branch, branch, decoder)


class AnyBytes(avro.io.BinaryDecoder):
    """Reads strings that are no UTF-8: the raw bytes of a BIT column's default."""

    def read_utf8(self) -> str:
        """The bytes as text with surrogates for what is no UTF-8."""
        found: str = self.read_bytes().decode("utf-8", "surrogateescape")
        return found
