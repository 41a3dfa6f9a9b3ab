"""TiCDC's releases and the options of its Simple protocol as facts about the messages, and which of
them go together.

Facts: ticdc#simple-pre-table-schema, #simple-timestamp, #simple-checksum, #float-exponent,
#simple-reduced, #compression, #column-selectors.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from generators.families.ticdc.sink import (
    SinkProfile,
)
from generators.families.ticdc.text import Doubles


@dataclass(frozen=True, slots=True)
class SimpleProfile(SinkProfile):
    """A TiCDC release and its Simple options as facts about the messages."""

    new_architecture: bool = False
    """The new architecture."""
    location: str = ""
    """The zone's name in TIMESTAMP objects (ticdc#simple-timestamp); "" is the host's own, which is
    the deployment's `time_zone`, and `Local` is what Go calls the host's zone."""
    pre_table_schema: bool = True
    """A DDL has preTableSchema, the table before it (ticdc#simple-pre-table-schema)."""
    column_order: Literal["id", "table"] = "id"
    """The order of a tableSchema's columns; `id`: by column id."""
    float_verb: Literal["f", "g"] = "f"
    """Go's verb for floats in JSON (ticdc#float-exponent): `f` is fixed notation, `g` has exponents
    from 1e6 on and below 1e-4."""
    short_escapes: bool = True
    """JSON has escapes of two characters for \\b and \\f (Go since 1.22)."""
    checksum: bool = False
    """Rows have a checksum (ticdc#simple-checksum)."""
    auto_bootstrap: bool = False
    """A BOOTSTRAP is sent before a table's first row and again after 120 s or 10,000 rows; else one
    is sent where the history has one."""
    bootstrap_to_all: bool = True
    """A BOOTSTRAP goes to every partition."""
    max_message_bytes: int = 10 * 1024 * 1024
    """The limit of a message's size; compared only where `reduce` says what becomes of a larger
    one."""
    reduce: Literal["", "handle-key-only", "claim-check"] = ""
    """What becomes of a message above the limit (ticdc#simple-reduced)."""
    dispatcher: Literal["table", "index-value", "ts", "columns"] = "table"
    """What chooses the partition of a row (ticdc#partitions)."""
    raw_change: bool = False
    """TiCDC itself splits no UPDATE."""
    json_doubles: Doubles = "go"
    """How the TiDB inside spells doubles of JSON documents."""
