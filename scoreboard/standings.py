"""Each named failure of a product: its standing before and now, and the reason of each change."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from conformance.rules.tables import TableFile, check_name, naming_place
from generators.errors import UsageError
from scoreboard.record import UNSENT, Standing, faults

STANDINGS: Final = Path(__file__).parent / "standings.toml"


@dataclass(frozen=True, slots=True)
class Change:
    """A named failure of a product's record with its standing before and after, None where it was
    not on record. `reason` says why they differ, "" if they do not.
    """

    record: str
    fault: str
    title: str
    before: Standing | None
    after: Standing | None
    reason: str


@dataclass(frozen=True, slots=True)
class Standings:
    """All named failures of products with their standings on `day`, at `commit`, and now; but of
    the records in `added`, which are of readers that were not judged then.
    """

    day: str
    commit: str
    added: tuple[str, ...]
    changes: tuple[Change, ...]


def read_standings(file: Path = STANDINGS) -> Standings:
    """The standings of every record that the file names, in its order. Raises UsageError for a file
    that does not fit.
    """
    table = TableFile(
        file.name,
        file.read_text("utf-8"),
        {"day": str, "commit": str, "added": list, "before": dict, "reason": dict},
    )
    reasons: Mapping[str, Mapping[str, str]] = table.data["reason"]
    changes: list[Change] = []
    for record, standing_by_fault in table.data["before"].items():
        with naming_place(f"{file.name}: {record}"):
            before = {
                fault_id: Standing(check_name(standing, "standing", Standing))
                for fault_id, standing in standing_by_fault.items()
            }
        now = {fault.id: fault for fault in faults(record) if fault != UNSENT}
        for fault_id in dict.fromkeys((*before, *now)):
            fault = now.get(fault_id)
            changes.append(
                Change(
                    record,
                    fault_id,
                    fault.title if fault else "",
                    before.get(fault_id),
                    fault.standing if fault else None,
                    reasons.get(record, {}).get(fault_id, ""),
                )
            )
    failures_on_record = {(change.record, change.fault) for change in changes}
    for record, reason_by_fault in reasons.items():
        for fault_id in reason_by_fault:
            if (record, fault_id) not in failures_on_record:
                raise UsageError(
                    f"{file.name}: a reason of {record}/{fault_id}, which is no failure on record"
                )
    return Standings(
        table.data["day"], table.data["commit"], tuple(table.data["added"]), tuple(changes)
    )
