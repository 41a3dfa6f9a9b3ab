"""Aliyun DTS Avro's schema editions and the choices that its sources leave open, as the facts that
change what is written.

The vendor names no release: an edition of the schema is one.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Final, Literal

from generators.formats.aliyun_dts_avro.schema import ONE_BLOCK, Framing
from generators.model import Deployment
from generators.profile_tables import read_choices
from generators.profiles import Profile

NAME: Final = "aliyun-dts-avro"


@dataclass(frozen=True, slots=True)
class AliyunProfile(Profile):
    """An edition of the schema with a source's and a task's choices."""

    deployment: Deployment = Deployment(schemas="published")
    born: bool = True
    """Records have bornTimestamp, in seconds."""
    version: int = 0
    """The record's version."""
    source_type: str = "MySQL"
    """sourceType of the record's Source."""
    source_version: str = "8.0.28"
    """version of the record's Source."""
    fraction: Literal["micros", "nanos"] = "micros"
    """The unit of DateTime.millis."""
    null_fraction: bool = False
    """DateTime.millis is null where it would be 0."""
    physical: bool = False
    """The reader is one of PostgreSQL's physical log."""
    logical_tags: bool = False
    """The object name is the physical one, and tags have the logical one."""
    text: Literal["binary-object", "text-object", "character"] = "binary-object"
    """The branch of the TEXT family."""
    binary: Literal["character", "object"] = "character"
    """The branch of BINARY and VARBINARY."""
    charset: str = "utf8mb4"
    """The character set of CHAR and VARCHAR; a value that it cannot hold is of a column in
    utf8mb4."""
    charsets: tuple[tuple[str, str], ...] = ()
    """The character sets of types by name, where it is another one."""
    offset: int = 480
    """The zone of TimestampWithTimeZone in minutes."""
    booleans: tuple[str, str] = ("f", "t")
    """The texts of PostgreSQL's boolean, false and true."""
    partial: bool = False
    """Before images have EmptyObject NONE for what was not captured."""
    framing: Framing = ONE_BLOCK
    """How arrays and maps are put into blocks."""
    processed: bool = False
    """Records have processTimestamps."""
    meta_version: bool = True
    """Tags have metaVersion."""


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
    """The profile as a task follows it before any setting changes it."""
    return TaskFacts(**{fact.name: getattr(profile, fact.name) for fact in fields(profile)})


CHOICES: Final = read_choices(NAME, AliyunProfile)
"""The plain one, which bench and load take, is the last. One deployment: the bytes tell everything.
"""
