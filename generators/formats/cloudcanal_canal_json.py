"""CloudCanal's Canal Json: Canal's flat message as CloudCanal writes it for readers of Canal, with deviations of its own.

Source: the vendor's page on message formats (cloudcanal#canal-members and after). Against Canal: `tableChanges` on DDL, no
`gtid`, `old` holds whole rows (the option `partial-old`: the changed columns), and a DDL has `[]` for data, old and pkNames,
and whole type maps, where Canal has null. Values are assumed to be Canal's (index of ENUM, mask of SET, ISO-8859-1 binaries),
since the format is offered for compatibility with it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import ClassVar, Final

from generators.families.cloudcanal import messages
from generators.families.cloudcanal.scenarios import canal_scenarios
from generators.families.mysql_texts import supports
from generators.garbage.faults import FAULTS, NESTED_CELL
from generators.model import Change, Deployment, History, Layout, Written
from generators.wire_format import Choices, Format, KindRow

__all__ = ["FORMAT", "PROFILES", "CanalJsonProfile", "profile", "write"]

NAME: Final = "cloudcanal-canal-json"


@dataclass(frozen=True, slots=True)
class CanalJsonProfile(messages.CloudCanalProfile):
    """`no_old` is what INSERT and DELETE have for `old`: "[]", "null", or "" for no such key (cloudcanal#canal-old-open)."""

    labels: ClassVar[bool] = False
    no_old: str = "[]"


_NEW_YORK: Final = Deployment(time_zone="America/New_York")
_SHANGHAI: Final = Deployment(time_zone="Asia/Shanghai")
_KOLKATA: Final = Deployment(time_zone="Asia/Kolkata")

OPTIONS: Final[Mapping[str, str]] = {
    "null-old": "`old` of INSERT and DELETE is null, not an empty array.",
    "without-old": "INSERT and DELETE have no `old`.",
    "numbered": "`id` is a sequence number, as the field table says, not the examples' 0.",
    "deleted-in-both": "A deleted row stands in `old` and in `data`: the example's lists, read for DELETE too.",
    "partial-old": "`old` of an UPDATE has the changed columns alone, as in Canal.",
    "milliseconds": "`es` has milliseconds, as documented; every example is in whole seconds.",
    "ddl-topic": messages.DDL_TOPIC,
}
"""What each option means, in the order of a profile's name."""

CHOICES: Final = Choices(NAME, (messages.RELEASE,), OPTIONS, (("null-old", "without-old"),))


def profile(*options: str) -> CanalJsonProfile:
    """The profile with options, in any order. Raises UnknownName, or UsageError for options that exclude each other."""
    plain = CanalJsonProfile(messages.RELEASE, assumed=messages.ASSUMED)
    return replace(
        CHOICES.made({messages.RELEASE: plain}, messages.RELEASE, *options),
        deployment=_SHANGHAI if "null-old" in options else _KOLKATA if "without-old" in options else _NEW_YORK,
        deleted_in="both" if "deleted-in-both" in options else "data",
        no_old="null" if "null-old" in options else "" if "without-old" in options else "[]",
    )


PROFILES: Final = (
    profile(),
    profile("null-old"),
    profile("without-old", "numbered"),
    profile("deleted-in-both", "partial-old", "milliseconds"),
)

_SHAPE: Final = messages.EnvelopeShape(messages.CANAL_ACTIONS, transaction_end=False)


def write(history: History, profile: CanalJsonProfile, layout: Layout) -> list[Written]:
    """The messages of a history in order: row changes, one message a statement, and DDL of tables."""
    return messages.write(history, profile, layout, _SHAPE, lambda draft: _finish(draft, profile))


def _finish(draft: messages.Draft, profile: CanalJsonProfile) -> tuple[str, list[Change]]:
    old = messages.rows_text(draft.old) if draft.old or draft.is_ddl else profile.no_old
    members = [
        ("data", messages.rows_text(draft.rows)),
        ("database", messages.quoted(draft.database)),
        ("es", str(draft.exec_ms)),
        ("id", str(draft.number)),
        ("isDdl", "true" if draft.is_ddl else "false"),
        ("mysqlType", messages.type_map(draft.columns, profile)),
        *([("old", old)] if old else []),
        ("pkNames", messages.listed(draft.keys)),
        ("sql", messages.quoted(draft.sql)),
        ("sqlType", messages.jdbc_map(draft.columns)),
        ("table", messages.quoted(draft.table)),
        *([("tableChanges", messages.table_changes(draft, profile))] if draft.described is not None else []),
        ("ts", str(draft.send_ms)),
        ("type", messages.quoted(draft.action)),
    ]
    return messages.object_text(members), [replace(change, keys=draft.keys) for change in draft.changes]


KINDS: Final = (
    KindRow("type INSERT, isDdl false", "ROW", "INSERT", "a change for each element of data; old is [], null or absent"),
    KindRow("type UPDATE, isDdl false", "ROW", "UPDATE", "old[i] is the old row of data[i], whole or what changed"),
    KindRow("type DELETE, isDdl false", "ROW", "DELETE", "the row stands in data, or in old and data"),
    KindRow("isDdl true", "DDL", note="data, old and pkNames are [], not null"),
)

FORMAT: Final = Format(
    name=NAME,
    title="CloudCanal's Canal Json",
    source="mysql",
    profiles=PROFILES,
    choices=CHOICES,
    build=lambda _release, *options: profile(*options),
    write=write,
    kinds=KINDS,
    faults=(*FAULTS, NESTED_CELL),
    position="`id`, described as the operation's sequence number; 0 in every example, so no order",
    scenarios=canal_scenarios,
    supports=supports,
)
