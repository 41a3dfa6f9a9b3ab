"""Aliyun DTS Avro's schema editions and the choices that its sources leave open, as the facts that
change what is written.

The vendor names no release: an edition of the schema is one.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, fields, replace
from functools import partial
from typing import Any, Final

from generators.formats.aliyun_dts_avro.schema import ONE_BLOCK, Framing
from generators.model import Deployment
from generators.wire_format import Choices, Limit, Profile, meanings

NAME: Final = "aliyun-dts-avro"

ASSUMED: Final = (
    "Avro branch of TEXT, BINARY, VARBINARY and of PostgreSQL's types, type texts of objects,"
    " charset of TEXT as BinaryObject, zero TIMESTAMP, trailing zeros of BINARY, labels of ENUM and"
    " SET, spelling of JSON, precision and scale of Float and Decimal, precision of BIT,"
    " DateTime.millis of values without a fraction, tags of control records, object name of"
    " PostgreSQL's DDL"
)

SETTING: Final = "dts-setting"
"""A `SourceStatement` of this family is no record: its `sql`, a JSON object, sets fields of
`TaskFacts` for what follows.
"""

OPERATION: Final = "dts-operation"
"""A `SourceStatement` of this family is a record of the operation in `table`; COMMAND has the text
of `sql`.
"""


@dataclass(frozen=True, slots=True)
class AliyunProfile(Profile):
    """An edition of the schema with a source's and a task's choices.

    `born` writes bornTimestamp, in seconds. `source_type` and `source_version` are the record's
    Source; `fraction` is the unit of DateTime.millis (micros or nanos). `null_fraction` leaves
    millis null where it would be 0. `physical` is a reader of PostgreSQL's physical log.
    `logical_tags` writes a physical object name, and the logical one in tags.

    `text` is the branch of the TEXT family (binary-object, text-object, character), `binary` that
    of BINARY and VARBINARY (character, object). `charset` is the character set of CHAR and VARCHAR,
    `charsets` that of types by name; a value that it cannot hold is of a column in utf8mb4.
    `offset` is the zone of TimestampWithTimeZone in minutes, `booleans` are the texts of
    PostgreSQL's boolean.

    `partial` has EmptyObject NONE in before images for what was not captured. `framing` puts arrays
    and maps into blocks, `processed` writes processTimestamps, `meta_version` writes metaVersion.
    """

    deployment: Deployment = Deployment(schemas="published")
    born: bool = True
    version: int = 0
    source_type: str = "MySQL"
    source_version: str = "8.0.28"
    fraction: str = "micros"
    null_fraction: bool = False
    physical: bool = False
    logical_tags: bool = False
    text: str = "binary-object"
    binary: str = "character"
    charset: str = "utf8mb4"
    charsets: tuple[tuple[str, str], ...] = ()
    offset: int = 480
    booleans: tuple[str, str] = ("f", "t")
    partial: bool = False
    framing: Framing = ONE_BLOCK
    processed: bool = False
    meta_version: bool = True


@dataclass(frozen=True, slots=True)
class TaskFacts(AliyunProfile):
    """A profile as a task follows it, and what settings alone change.

    `unset` columns are EmptyObject NONE in any image, `hidden` ones are filtered out.
    `empty_images` writes an empty array for an image that there is not. `keys_told` False leaves
    out pk_uk_info. `short` records have positions of a few characters and no tags but a row's,
    `bare` ones nothing but the operation. `fields_text` puts an empty text in a DDL record's
    fields, `ddl_table` names the table in it. `table_order` keeps columns in the order of the
    table; `order` salts their random order, `one_id` gives every record the same id.
    """

    unset: tuple[str, ...] = ()
    hidden: tuple[str, ...] = ()
    empty_images: bool = False
    keys_told: bool = True
    short: bool = False
    bare: bool = False
    fields_text: bool = False
    ddl_table: bool = False
    table_order: bool = False
    order: int = 0
    one_id: bool = False


def followed(profile: AliyunProfile) -> TaskFacts:
    """The profile before any setting."""
    return TaskFacts(**{fact.name: getattr(profile, fact.name) for fact in fields(profile)})


def changed(facts: TaskFacts, setting: str) -> TaskFacts:
    """The facts with those that a setting names. Raises TypeError for one that there is not."""
    values: dict[str, Any] = {
        name: tuple(v) if isinstance(v, list) else v for name, v in json.loads(setting).items()
    }
    return replace(facts, **values)


RELEASES: Final = {
    "2019": AliyunProfile(
        "2019", assumed=ASSUMED, born=False, meta_version=False, version=170844600
    ),
    "2020-06": AliyunProfile("2020-06", assumed=ASSUMED),
}


_FACTS: Final[dict[str, dict[str, Any]]] = {
    "postgresql": {
        "source": "postgresql",
        "source_type": "PostgreSQL",
        "source_version": "13.4",
        "charset": "utf8",
    },
    "physical-log": {
        "physical": True,
        "fraction": "nanos",
        "offset": -210,
        "booleans": ("false", "true"),
    },
    "drds": {
        "source_type": "DRDS",
        "source_version": "5.4.12",
        "fraction": "nanos",
        "logical_tags": True,
    },
    "logical-names": {"logical_tags": True, "source_version": "8.0.34"},
    "text-character": {"text": "character", "null_fraction": True},
    "text-object": {"text": "text-object", "binary": "object"},
    "legacy-charsets": {
        "charsets": (("char", "latin1"), ("varchar", "gbk"), ("tinytext", "utf8mb3"))
    },
    "blocks": {"framing": Framing((1, 2), sized=False), "processed": True},
    "sized-blocks": {"framing": Framing((2,), sized=True), "processed": True},
}

CHOICES: Final = Choices(
    NAME,
    tuple(RELEASES),
    meanings(NAME),
    (("drds", "logical-names"), ("text-character", "text-object"), ("blocks", "sized-blocks")),
    (
        Limit("physical-log", "needs postgresql", needs=("postgresql",)),
        Limit(
            "postgresql",
            "has no choice of MySQL's",
            without=("drds", "logical-names", "text-character", "text-object", "legacy-charsets"),
        ),
    ),
    _FACTS,
)

profile: Final = partial(CHOICES.made, RELEASES)
"""The plain one, which bench and load take, is the last. One deployment: the bytes tell everything.
"""
