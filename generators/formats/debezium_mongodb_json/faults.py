"""Ways to spoil a message of the MongoDB connector: its envelope, as in every format in JSON, and
the text of the document that it holds.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, Final, TypeAlias

from generators.garbage.faults import FAULTS, SCHEMA_NO_GRAMMAR, UNSPECIFIED, Fault
from generators.model import Kind

PayloadChange: TypeAlias = Callable[[dict[str, Any]], bool]
"""Changes the members of a message, and returns whether there was a place for it."""
ChangePayload: TypeAlias = Callable[[PayloadChange], Callable[[bytes], bytes | None]]
"""Makes of a change of members the function that changes a message's value, which gives None where
there is no place.
"""

_ROWS_OF_OBJECTS: Final = ("rows-reshaped", "rows-gone")
"""Faults of messages whose rows are JSON objects, not texts."""


def _change_payload(change: PayloadChange) -> Callable[[bytes], bytes | None]:
    """The function that applies `change` to the payload of a value, the whole document where there
    is none; it gives None where `change` says that there is no place for it.
    """

    def apply(value: bytes) -> bytes | None:
        """The value with its payload changed, written again as JSON."""
        document = json.loads(value)
        payload = document.get("payload")
        members = payload if isinstance(payload, dict) else document
        if not change(members):
            return None
        return json.dumps(document, ensure_ascii=False, separators=(",", ":")).encode()

    return apply


def _change_text(change: Callable[[str], Any]) -> PayloadChange:
    """The change of the text of a message's new document: that of `after`, else of
    `updatedFields`.
    """

    def apply(members: dict[str, Any]) -> bool:
        """Puts the changed text in the place of the document's. Returns whether there is one."""
        description = members.get("updateDescription")
        for holder, name in ((members, "after"), (description, "updatedFields")):
            if isinstance(holder, dict) and isinstance(holder.get(name), str):
                holder[name] = change(holder[name])
                return True
        return False

    return apply


def _drop_document(members: dict[str, Any]) -> bool:
    """Drops `after`, which has the new document, from the members of a message. Returns whether it
    did: a message without `after` stays as it is, and so does one with `updateDescription`, which
    also says what the document is.
    """
    if members.get("after") is None or members.get("updateDescription") is not None:
        return False
    del members["after"]
    return True


_DOCUMENT_GONE: Final = Fault(
    "document-gone",
    "no-such-message",
    "The member that holds the new document is missing.",
    _change_payload(_drop_document),
    accept=(Kind.CONTROL,),
)


def faults_of_texts(change_payload: ChangePayload) -> tuple[Fault, ...]:
    """The ways to spoil the text of the document in a message; `change_payload` reads and writes
    the messages of a format.
    """
    return tuple(
        Fault(name, "syntax", statement, change_payload(_change_text(change)))
        for name, statement, change in _TEXTS
    )


_TEXTS: Final[tuple[tuple[str, str, Callable[[str], str]], ...]] = (
    (
        "document-truncated",
        "The text of the document is cut in the middle.",
        lambda document: document[: len(document) // 2],
    ),
    (
        "document-array",
        "The text of the document is that of an array of it.",
        lambda document: f"[{document}]",
    ),
    (
        "document-scalar",
        "The text of the document is a number.",
        lambda _document: "42",
    ),
    (
        "document-trailing",
        "A letter follows the document in its text.",
        lambda document: f"{document}x",
    ),
    (
        "document-twice",
        "The document stands in its text twice.",
        lambda document: document * 2,
    ),
    (
        "document-empty",
        "The text of the document has no characters.",
        lambda _document: "",
    ),
)
"""The name of each fault of a document's text, its statement, and the function that spoils the
text.
"""
_DOCUMENT_AS_OBJECT: Final = Fault(
    "document-object",
    "nested-cell",
    "The document stands in the message as an object, not as a text.",
    _change_payload(_change_text(json.loads)),
    UNSPECIFIED,
)

MONGODB_FAULTS: Final = (
    *(fault for fault in FAULTS if fault.name not in _ROWS_OF_OBJECTS),
    SCHEMA_NO_GRAMMAR,
    _DOCUMENT_GONE,
    *faults_of_texts(_change_payload),
    _DOCUMENT_AS_OBJECT,
)
"""Every fault of a whole value of the format."""
