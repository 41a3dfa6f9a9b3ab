"""TiCDC's releases and Canal-JSON options as facts about the bytes, and which of them go together.

Read at the releases' tags. Facts: ticdc#canal-crlf, #canal-old-partial, #canal-content-compatible,
#canal-handle-key-only, #canal-claim-check, #compression.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

from generators.families.ticdc.sink import (
    SinkProfile,
)
from generators.families.ticdc.text import Doubles
from generators.profile_tables import read_choices


@dataclass(frozen=True, slots=True)
class TicdcProfile(SinkProfile):
    """A TiCDC release and its Canal-JSON options as facts about the bytes."""

    new_architecture: bool = False
    """The release is one of the new architecture (pingcap/ticdc)."""
    extension: bool = False
    """Messages have the member `_tidb`, and there are watermarks."""
    terminator: bytes = b""
    """What follows a message (ticdc#canal-crlf)."""
    ts_filled: bool = True
    """`ts` is the time of building; else 0."""
    insert_old: Literal["null", "[null]"] = "null"
    """The JSON text of an INSERT's `old`."""
    delete_old: Literal["null", "data"] = "null"
    """A DELETE's `old`: null, or the row of `data` again."""
    dml_key_order: tuple[str, str] = ("old", "data")
    """The last two members of a row change."""
    column_order: Literal["table", "sorted"] = "table"
    """The order of the members of column objects."""
    mysql_type_order: Literal["random", "sorted", "table"] = "random"
    """The order of the members of mysqlType; `random` is that of Go's maps."""
    unsigned_suffix: bool = True
    """mysqlType says `unsigned`."""
    zerofill_suffix: bool = True
    """mysqlType says `zerofill`."""
    params_in_mysql_type: bool = False
    """mysqlType has a type's parameters, as Canal's has (ticdc#canal-content-compatible)."""
    legacy_sql_types: bool = False
    """sqlType has the codes of releases before v5.4."""
    float_via_double: bool = False
    """A FLOAT is written by way of a double, with digits that it has not."""
    binary_lossy: bool = False
    """A binary's bytes that are not ISO-8859-1's are lost."""
    null_text_bug: bool = False
    """A text `null` is written as NULL."""
    old_updated_only: bool = False
    """`old` of an UPDATE has only the columns that changed (ticdc#canal-old-partial)."""
    split_keys: bool = True
    """An UPDATE of any key becomes DELETE and INSERT; one of a clustered integer key always does
    (ticdc#key-update)."""
    json_doubles: Doubles = "go"
    """How the TiDB inside spells doubles of JSON documents."""
    ddl_broadcast: bool = False
    """DDL goes to every partition."""
    max_message_bytes: int = 10 * 1024 * 1024
    """The limit of a message's size; compared only where `reduce` says what becomes of a larger
    one."""
    reduce: Literal["", "handle-key-only", "claim-check"] = ""
    """What becomes of a message above the limit (ticdc#canal-handle-key-only,
    #canal-claim-check).
    """
    delete_handle_key: bool = False
    """A DELETE has the columns of the handle key alone."""
    row_key: bool = False
    """The extension has TiKV's key of the row."""
    dispatcher: Literal["table", "index-value", "ts", "columns"] = "table"
    """What chooses the partition of a row (ticdc#partitions)."""
    raw_change: bool = False
    """TiCDC itself splits no UPDATE."""
    placement_rules: bool = False
    """Statements keep placement rules (ticdc#ddl-restored)."""
    ttl_off: bool = True
    """TiCDC turns TTL off in statements (ticdc#ddl-restored)."""


CHOICES: Final = read_choices("ticdc-canal-json", TicdcProfile)
