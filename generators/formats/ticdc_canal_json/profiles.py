"""TiCDC's releases and Canal-JSON options as facts about the bytes, and which of them go together.

Read at the releases' tags. Facts: ticdc#canal-crlf, #canal-old-partial, #canal-content-compatible,
#canal-handle-key-only, #canal-claim-check, #compression.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final, Literal

from generators.families.ticdc.sink import COMPRESSION, DISPATCHERS, NEWEST, REDUCED, delivered
from generators.families.ticdc.text import Doubles
from generators.model import Deployment
from generators.wire_format import Choices, Limit, Profile, meanings


@dataclass(frozen=True, slots=True)
class TicdcProfile(Profile):
    """A TiCDC release and its Canal-JSON options as facts about the bytes.

    `insert_old` is the JSON text of an INSERT's `old`, `delete_old` "null" or "data" (the row
    again); `dml_key_order` are the last two keys of a DML; `column_order` and `mysql_type_order`
    order the keys of column objects ("random" is Go's map order); `split_keys` tells that an UPDATE
    of any key becomes DELETE and INSERT (clustered integer keys always do); `json_doubles` is how
    the TiDB inside spells doubles of JSON documents; `max_message_bytes` is compared only when
    `reduce` says what becomes of a larger message; `delete_handle_key` tells that a DELETE has the
    columns of the handle key alone; `row_key` that the extension has TiKV's key of the row;
    `dispatcher` chooses the partitions of rows; `raw_change` tells that TiCDC itself splits no
    UPDATE; `placement_rules` that statements keep placement rules, `ttl_off` that TiCDC turns TTL
    off in them (ticdc#ddl-restored).
    """

    new: bool = False
    extension: bool = False
    terminator: bytes = b""
    ts_filled: bool = True
    insert_old: Literal["null", "[null]"] = "null"
    delete_old: Literal["null", "data"] = "null"
    dml_key_order: tuple[str, str] = ("old", "data")
    column_order: Literal["table", "sorted"] = "table"
    mysql_type_order: Literal["random", "sorted", "table"] = "random"
    unsigned_suffix: bool = True
    zerofill_suffix: bool = True
    params_in_mysql_type: bool = False
    legacy_sql_types: bool = False
    float_via_double: bool = False
    binary_lossy: bool = False
    null_text_bug: bool = False
    old_updated_only: bool = False
    split_keys: bool = True
    json_doubles: Doubles = "go"
    ddl_broadcast: bool = False
    max_message_bytes: int = 10 * 1024 * 1024
    reduce: str = ""
    delete_handle_key: bool = False
    row_key: bool = False
    dispatcher: str = "table"
    raw_change: bool = False
    placement_rules: bool = False
    ttl_off: bool = True


_ESCAPING_ASSUMED: Final = "JSON escaping of DML before v6.5 (Go's standard rules)"
_V6_5_1: Final = TicdcProfile(
    "v6.5.1",
    terminator=b"\r\n",
    zerofill_suffix=False,
    float_via_double=True,
    split_keys=False,
    ttl_off=False,
)
_V5_4: Final = replace(
    _V6_5_1,
    release="v5.4.3",
    placement_rules=True,
    assumed=_ESCAPING_ASSUMED,
    terminator=b"",
    dml_key_order=("data", "old"),
    column_order="sorted",
    mysql_type_order="sorted",
)
_V5_3: Final = replace(
    _V5_4,
    release="v5.3.4",
    ts_filled=False,
    insert_old="[null]",
    delete_old="data",
    unsigned_suffix=False,
    legacy_sql_types=True,
    binary_lossy=True,
    ddl_broadcast=True,
)
OPTIONS: Final = meanings("ticdc-canal-json")
_DISPATCHERS: Final = ("index-value", "ts")
_OPTIONS_7_1: Final = (
    "extension",
    "content-compatible",
    "only-updated",
    "handle-key-only",
    "delete-handle-key",
    *_DISPATCHERS,
    "raw-change",
)
_OPTIONS_NEW: Final = tuple(option for option in OPTIONS if option != "routed")
_OPTIONS_8_5: Final = tuple(option for option in _OPTIONS_NEW if option != "row-key")

RELEASES: Final[Mapping[str, tuple[TicdcProfile, tuple[str, ...]]]] = {
    "v5.3.4": (_V5_3, _DISPATCHERS),
    "v5.4.3": (_V5_4, ("extension", *_DISPATCHERS)),
    "v6.5.1": (_V6_5_1, ("extension", *_DISPATCHERS)),
    "v6.5.11": (
        TicdcProfile("v6.5.11", terminator=b"\r\n", ttl_off=False),
        (
            "extension",
            "content-compatible",
            "handle-key-only",
            "delete-handle-key",
            *_DISPATCHERS,
            "raw-change",
        ),
    ),
    "v7.1.6": (TicdcProfile("v7.1.6"), _OPTIONS_7_1),
    "v8.5.7": (TicdcProfile("v8.5.7"), _OPTIONS_8_5),
    "new-8.5.4": (TicdcProfile("new-8.5.4", new=True, null_text_bug=True), _OPTIONS_NEW),
    "new-8.5.6": (TicdcProfile("new-8.5.6", new=True), _OPTIONS_NEW),
    NEWEST: (TicdcProfile(NEWEST, new=True), tuple(OPTIONS)),
}
"""Each release without options, and the options that it has."""


def _since(option: str) -> Limit:
    having = tuple(name for name, (_, options) in RELEASES.items() if option in options)
    return Limit(option, f"is an option of {', '.join(having)} alone", having)


CHOICES: Final = Choices(
    "ticdc-canal-json",
    tuple(RELEASES),
    OPTIONS,
    (REDUCED, COMPRESSION, DISPATCHERS),
    (
        *map(_since, OPTIONS),
        Limit("selected", "leaves out columns that columns takes", without=("columns",)),
        *(
            Limit(option, "needs extension", needs=("extension",))
            for option in ("handle-key-only", "claim-check", "row-key")
        ),
    ),
)

DEPLOYMENTS: Final[Mapping[str, Deployment]] = {
    "none": Deployment("Asia/Shanghai"),
    "snappy": Deployment("America/New_York", compression="snappy"),
    "lz4": Deployment("Asia/Kolkata", compression="lz4"),
}


def profile(release: str, *options: str) -> TicdcProfile:
    """The profile of a release with options; they are named in one fixed order, whatever the order
    of the arguments.

    Raises UnknownName for an unknown release or option, UsageError for an option that the release
    has not, for two options that exclude each other, and for one that needs the extension.
    """
    made = CHOICES.made({name: base for name, (base, _) in RELEASES.items()}, release, *options)
    compatible = "content-compatible" in options
    facts = delivered(options, DEPLOYMENTS, made.max_message_bytes)
    updated_only = compatible or "only-updated" in options
    return replace(made, params_in_mysql_type=compatible, old_updated_only=updated_only, **facts)
