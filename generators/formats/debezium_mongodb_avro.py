r"""Debezium's MongoDB connector through Confluent's AvroConverter, releases 2.5 and 3.6, in
Confluent's framing.

Source: debezium-mongodb-json for the connector, confluentinc/schema-registry for the converter (the
pages debezium-mongodb, confluent of the sources). Key and value are each a zero byte, the id of a
schema in the registry, and one Avro record. `before` and `after` are nullable strings of the same
Extended JSON, `updateDescription` a nullable record whose `updatedFields` is one, too. So a
topic's schema is the same whatever its documents have, and the registry knows no field of them. The
connector runs with `schema.name.adjustment.mode`, without which the converter refuses names.

Not written: `avro_unicode` adjustment; schema references; `use.latest.version`.

Key and value of INSERT, UPDATE and DELETE of the document `_id` 1 of `shop.notes` in capture mode
change_streams, and a heartbeat:

    b'\x00i\xca\xceW\x021' b'\x00Y\x83\xbd\xdf\x00\x020{"_id": 1,"note": "old"}\x00\x163.6.1.Final\x
    0emongodb\x06cdc\x80\xa0\xab\xfe\xf9b\x00\nfalse\x08shop\x00\x02\x80\x80\xf2\x81\x83\x89\x85\x06
    \x02\x80\x80\xd0\xe2\xc6\xbf\xce\x97/\nnotes\x02\x00\x00\x02\x80\xa0\xab\xfe\xf9b\x02\x02c\x02\x
    e2\xa2\xab\xfe\xf9b\x00'

    b'\x00i\xca\xceW\x021' b'\x00Y\x83\xbd\xdf\x00\x00\x02\x00\x02\x1e{"note": "new"}\x00\x163.6.1.F
    inal\x0emongodb\x06cdc\x80\xa0\xab\xfe\xf9b\x00\nfalse\x08shop\x00\x02\x80\x80\xf2\x81\x83\x89\x
    85\x06\x02\x80\x80\xd0\xe2\xc6\xbf\xce\x97/\nnotes\x02\x00\x00\x02\x80\xa0\xab\xfe\xf9b\x02\x02u
    \x02\xe2\xa2\xab\xfe\xf9b\x00'

    b'\x00i\xca\xceW\x021' b'\x00Y\x83\xbd\xdf\x00\x00\x00\x163.6.1.Final\x0emongodb\x06cdc\x80\xa0
    \xab\xfe\xf9b\x00\nfalse\x08shop\x00\x02\x80\x80\xf2\x81\x83\x89\x85\x06\x02\x80\x80\xd0\xe2\xc6
    \xbf\xce\x97/\nnotes\x02\x00\x00\x02\x80\xa0\xab\xfe\xf9b\x02\x02d\x02\xe2\xa2\xab\xfe\xf9b\x00'

    b'\x00i\xca\xceW\x021' None

    b'\x00C\x9f\xc7\xab\x06cdc' b'\x00\x06\xe9\xd6\xac\xe2\xa2\xab\xfe\xf9b'
"""

from __future__ import annotations

from typing import Any, Final

from generators.families import confluent
from generators.formats import debezium_mongodb_json
from generators.formats.debezium_mongodb_json.faults import PayloadChange, faults_of_texts
from generators.formats.debezium_mongodb_json.profiles import MongodbProfile, supports
from generators.formats.debezium_mongodb_json.scenarios import TextChange, unfit_cells
from generators.garbage.faults import Fault
from generators.model import History, Kind, Layout, Written
from generators.profile_tables import read_choices
from generators.wire_format import Format, about

NAME: Final = "debezium-mongodb-avro"
CHOICES: Final = read_choices(NAME, MongodbProfile)


def write(history: History, profile: MongodbProfile, layout: Layout) -> list[Written]:
    """The records of a history: those of the connector's JSON, converted to Avro. Keys have other
    bytes, hence other partitions.
    """
    return [
        confluent.convert_record(written, profile.subjects, layout.partitions)
        for written in debezium_mongodb_json.write(history, profile, layout)
    ]


# Faults


def _change_document(value: bytes, change: TextChange) -> bytes | None:
    """A message's value with the text of the document in `after` changed; None if it has none, or
    no place for the change.
    """

    def apply(members: dict[str, Any]) -> bool:
        """Puts the changed text in its place. Returns whether there is one."""
        document_text = members.get("after")
        changed = None if document_text is None else change(document_text)
        if changed is None:
            return False
        members["after"] = changed
        return True

    return confluent.change_record(apply)(value)


def _replace_op(op: str | None) -> PayloadChange:
    """The change of a message's members that replaces its operation by `op`, None for null."""

    def apply(members: dict[str, Any]) -> bool:
        """Replaces the operation of a message that has one. Returns whether there is one."""
        if members.get("op") is None:
            return False
        members["op"] = op
        return True

    return apply


def _null_document(members: dict[str, Any]) -> bool:
    """Puts null in the place of `after`, which has the new document, in the members of a message:
    the fault document-gone, after which no member says what the document is. Returns whether it
    did: a message without `after` stays as it is, and so does one with `updateDescription`, which
    also says it.
    """
    if members.get("after") is None or members.get("updateDescription") is not None:
        return False
    members["after"] = None
    return True


_NO_SUCH_MESSAGE: Final = tuple(
    Fault(
        name,
        "no-such-message",
        statement,
        confluent.change_record(change),
        accept=(Kind.CONTROL,),
    )
    for name, statement, change in (
        ("no-type", "Null stands in the place of op, beside a source.", _replace_op(None)),
        (
            "unknown-type",
            "op has a word that the connector does not write.",
            _replace_op("UNHEARD"),
        ),
        (
            "document-gone",
            "Null stands in the place of the new document.",
            _null_document,
        ),
    )
)
"""Faults that make a message of none of the kinds that the connector writes."""
FAULTS: Final = (
    *confluent.FAULTS,
    *_NO_SUCH_MESSAGE,
    *faults_of_texts(confluent.change_record),
)
"""Every fault of a whole value of the format."""

FORMAT: Final = Format(
    **about(NAME, CHOICES),
    write=write,
    scenarios=debezium_mongodb_json.FORMAT.scenarios,
    supports=supports,
    container="confluent",
    faults=FAULTS,
    cell_faults=lambda _profile: (),
    unfit=lambda _profile, _fits: unfit_cells(_change_document),
    losses=debezium_mongodb_json.FORMAT.losses,
    oracle=confluent.remains_of_datum,
)
