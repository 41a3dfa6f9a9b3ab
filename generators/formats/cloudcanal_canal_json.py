"""CloudCanal's Canal Json: Canal's flat message as CloudCanal writes it for readers of Canal, with
deviations of its own.

Source: the vendor's page on message formats (cloudcanal#canal-members and after). Against Canal:
`tableChanges` on DDL, no `gtid`, `old` holds whole rows (the option `partial-old`: the changed
columns), and a DDL has `[]` for data, old and pkNames, and whole type maps, where Canal has null.
Values are assumed to be Canal's (index of ENUM, mask of SET, ISO-8859-1 binaries), since the format
is offered for compatibility with it.

INSERT, UPDATE and DELETE of the row `id` 1 of `shop.notes`, and ADD COLUMN:

    {"data":[{"id":"1","note":"old"}],"database":"shop","es":1700000000000,"id":0,"isDdl":false,
    "mysqlType":{"id":"int(11)","note":"text"},"old":[],"pkNames":["id"],"sql":"","sqlType":{"id":4,
    "note":2005},"table":"notes","ts":1700000001377,"type":"INSERT"}

    {"data":[{"id":"1","note":"new"}],"database":"shop","es":1700000000000,"id":0,"isDdl":false,
    "mysqlType":{"id":"int(11)","note":"text"},"old":[{"note":"old"}],"pkNames":["id"],"sql":"",
    "sqlType":{"id":4,"note":2005},"table":"notes","ts":1700000001377,"type":"UPDATE"}

    {"data":[{"id":"1","note":"new"}],"database":"shop","es":1700000000000,"id":0,"isDdl":false,
    "mysqlType":{"id":"int(11)","note":"text"},"old":[{"id":"1","note":"new"}],"pkNames":["id"],
    "sql":"","sqlType":{"id":4,"note":2005},"table":"notes","ts":1700000001377,"type":"DELETE"}

    {"data":[],"database":"shop","es":1700000000000,"id":0,"isDdl":true,"mysqlType":{},"old":[],
    "pkNames":[],"sql":"ALTER TABLE `t3142384771` ADD COLUMN `added` int DEFAULT 1","sqlType":{},
    "table":"t3142384771","ts":1700000001377,"type":"ALTER"}
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar, Final, Literal

from generators.families.cloudcanal import messages
from generators.families.cloudcanal.scenarios import canal_scenarios
from generators.families.mysql_texts import supports
from generators.families.wire_messages import ABSENT, Raw, WireMessage
from generators.garbage.faults import FAULTS, NESTED_CELL
from generators.model import History, Layout, Written
from generators.profile_tables import read_choices
from generators.wire_format import Format, about

__all__ = ["FORMAT", "CanalJsonProfile", "write"]

NAME: Final = "cloudcanal-canal-json"


@dataclass(frozen=True, slots=True)
class CanalJsonProfile(messages.CloudCanalProfile):
    """What is open in Canal Json beside what both formats leave open."""

    labels: ClassVar[bool] = False
    no_old: Literal["[]", "null", ""] = "[]"
    """What INSERT and DELETE have for `old`, "" for no such member (cloudcanal#canal-old-open)."""


CHOICES: Final = read_choices(NAME, CanalJsonProfile)

_SHAPE: Final = messages.EnvelopeShape(messages.CANAL_ACTIONS, transaction_end=False)
"""What CloudCanal's two formats do differently: here DDL has Canal's words, and transactions have
no end.
"""


def write(history: History, profile: CanalJsonProfile, layout: Layout) -> list[Written]:
    """The messages of a history in order: row changes, one message a statement, and DDL of tables,
    in Canal's words (`_SHAPE`). `_finish` gives each its members.
    """
    return messages.write(history, profile, layout, _SHAPE, lambda draft: _finish(draft, profile))


def _finish(draft: messages.Draft, profile: CanalJsonProfile) -> WireMessage:
    """The message of a draft (what CloudCanal says of an event, in whatever format): Canal's
    members in the order of the alphabet, and the changes that a decoder owes for it, which have the
    draft's key columns. `no_old` is the JSON that the profile has for `old` where a row's message
    has no old rows, "" for no such member.
    """
    no_old = Raw(profile.no_old) if profile.no_old else ABSENT
    members = {
        "data": draft.rows,
        "database": draft.database,
        "es": draft.exec_ms,
        "id": draft.number,
        "isDdl": draft.is_ddl,
        "mysqlType": messages.type_map(draft.columns, profile),
        "old": draft.old if draft.old or draft.is_ddl else no_old,
        "pkNames": draft.keys,
        "sql": draft.sql,
        "sqlType": messages.jdbc_map(draft.columns),
        "table": draft.table,
        "tableChanges": messages.table_changes(draft, profile),
        "ts": draft.send_ms,
        "type": draft.action,
    }
    changes = (replace(change, keys=draft.keys) for change in draft.changes)
    return WireMessage(members, tuple(changes))


FORMAT: Final = Format(
    **about(NAME, CHOICES),
    write=write,
    faults=(*FAULTS, NESTED_CELL),
    scenarios=canal_scenarios,
    supports=supports,
)
