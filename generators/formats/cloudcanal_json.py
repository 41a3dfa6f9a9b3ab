"""CloudCanal Json: the default message format of CloudCanal (ClouGence), as the vendor's page on
message formats describes it.

Source: that page (cloudcanal#members and after) and an older edition of it. It holds one DML and
one DDL example, neither of them JSON (comments, a merged action). One message is one statement's
rows of one table, all with one action; `before[i]` goes with `data[i]` (cloudcanal#pairing-open).
The older edition prints `ddl` where this one prints `isDdl`: with `ddl` the keys of both examples
are in alphabetical order, with `isDdl` they are not.

INSERT, UPDATE and DELETE of the row `id` 1 of `shop.notes`, and ADD COLUMN:

    {"action":"INSERT","before":[],"bid":0,"data":[{"id":"1","note":"old"}],"db":"shop",
    "dbValType":{"id":"int(11)","note":"text"},"isDdl":false,"entryType":"ROWDATA",
    "execTs":1700000000000,"jdbcType":{"id":4,"note":2005},"pks":[],"schema":"shop",
    "sendTs":1700000001377,"sql":"","table":"notes"}

    {"action":"UPDATE","before":[{"note":"old"}],"bid":0,"data":[{"id":"1","note":"new"}],
    "db":"shop","dbValType":{"id":"int(11)","note":"text"},"isDdl":false,"entryType":"ROWDATA",
    "execTs":1700000000000,"jdbcType":{"id":4,"note":2005},"pks":[],"schema":"shop",
    "sendTs":1700000001377,"sql":"","table":"notes"}

    {"action":"DELETE","before":[{"id":"1","note":"new"}],"bid":0,"data":[{"id":"1","note":"new"}],
    "db":"shop","dbValType":{"id":"int(11)","note":"text"},"isDdl":false,"entryType":"ROWDATA",
    "execTs":1700000000000,"jdbcType":{"id":4,"note":2005},"pks":[],"schema":"shop",
    "sendTs":1700000001377,"sql":"","table":"notes"}

    {"action":"ALTER","before":[],"bid":0,"data":[],"db":"shop","dbValType":{},"isDdl":true,
    "entryType":"ROWDATA","execTs":1700000000000,"jdbcType":{},"pks":[],"schema":"shop",
    "sendTs":1700000001377,"sql":"ALTER TABLE `t3142384771` ADD COLUMN `added` int DEFAULT 1",
    "table":"t3142384771"}
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

from generators.families.cloudcanal import messages
from generators.families.cloudcanal.scenarios import json_scenarios
from generators.families.mysql_texts import supports
from generators.families.wire_messages import WireMessage
from generators.garbage.cell_faults import LABELS
from generators.garbage.faults import FAULTS, NESTED_CELL
from generators.model import History, Layout, Written
from generators.profile_tables import read_choices
from generators.wire_format import Format, about

__all__ = ["FORMAT", "JsonProfile", "write"]

NAME: Final = "cloudcanal-json"


@dataclass(frozen=True, slots=True)
class JsonProfile(messages.CloudCanalProfile):
    """What is open in CloudCanal Json beside what both formats leave open."""

    ddl_key: bool = False
    """The flag of a DDL is named `ddl`, not `isDdl` (cloudcanal#ddl-key)."""
    keyed: bool = False
    """`pks` is filled, which the examples leave empty (cloudcanal#keys-empty)."""


CHOICES: Final = read_choices(NAME, JsonProfile)

_WORDS: Final = {"ERASE": "DROP", "CINDEX": "ALTER", "DINDEX": "ALTER"}
"""The `action` in place of Canal's word for some DDL actions."""
DDL_ACTIONS: Final = {
    action: _WORDS.get(word, word) for action, word in messages.CANAL_ACTIONS.items()
}
"""`action` of each DDL action: only ALTER is documented. Statements without a table of their own
are not sent (assumed).
"""

_SHAPE: Final = messages.EnvelopeShape(DDL_ACTIONS, transaction_end=True)
"""What CloudCanal's two formats do differently: here DDL has the words of DDL_ACTIONS, and
transactions have an end.
"""


def write(history: History, profile: JsonProfile, layout: Layout) -> list[Written]:
    """The messages of a history in order: row changes, DDL of tables, and a TRANSACTIONEND for
    every COMMIT mark (`_SHAPE`). `_finish` gives each its members.
    """
    return messages.write(history, profile, layout, _SHAPE, lambda draft: _finish(draft, profile))


def _finish(draft: messages.Draft, profile: JsonProfile) -> WireMessage:
    """The message of a draft (what CloudCanal says of an event, in whatever format): CloudCanal's
    own members, and the changes that a decoder owes for it, which have the draft's schema and, if
    the profile names keys, its key columns.
    """
    keys = draft.keys if profile.keyed else ()
    members = {
        "action": draft.action,
        "before": draft.old,
        "bid": draft.number,
        "data": draft.rows,
        "db": draft.database,
        "dbValType": messages.type_map(draft.columns, profile),
        "ddl" if profile.ddl_key else "isDdl": draft.is_ddl,
        "entryType": draft.entry,
        "execTs": draft.exec_ms,
        "jdbcType": messages.jdbc_map(draft.columns),
        "pks": keys,
        "schema": draft.schema,
        "sendTs": draft.send_ms,
        "sql": draft.sql,
        "table": draft.table,
        "tableChanges": messages.table_changes(draft, profile),
    }
    changes = (replace(change, schema=draft.schema, keys=keys) for change in draft.changes)
    return WireMessage(members, tuple(changes))


FORMAT: Final = Format(
    **about(NAME, CHOICES),
    write=write,
    faults=(*FAULTS, NESTED_CELL),
    scenarios=json_scenarios,
    supports=supports,
    cell_faults=messages.text_faults,
    fits=LABELS,
)
