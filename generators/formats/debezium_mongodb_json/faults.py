"""Ways to spoil a message of the MongoDB connector: its envelope, as in every format in JSON, and
the text of the document that it holds.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, Final

from generators.garbage.faults import FAULTS, SCHEMA_NO_GRAMMAR, UNSPECIFIED, Fault
from generators.model import Kind

_ROWS_OF_OBJECTS: Final = ("rows-reshaped", "rows-gone")
"""Faults of messages whose rows are JSON objects, not texts."""


def _change_payload(change: Callable[[dict[str, Any]], bool]) -> Callable[[bytes], bytes | None]:
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


def _change_text(change: Callable[[str], Any]) -> Callable[[bytes], bytes | None]:
    """The function that changes the text of a message's new document: that of `after`, else of
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

    return _change_payload(apply)


def _drop_document(members: dict[str, Any]) -> bool:
    """Drops `after` of a message in which nothing else says what the document is."""
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
_DOCUMENTS: Final = (
    Fault(
        "document-truncated",
        "syntax",
        "The text of the document is cut in the middle.",
        _change_text(lambda document: document[: len(document) // 2]),
    ),
    Fault(
        "document-array",
        "syntax",
        "The text of the document is that of an array of it.",
        _change_text(lambda document: f"[{document}]"),
    ),
    Fault(
        "document-scalar",
        "syntax",
        "The text of the document is a number.",
        _change_text(lambda _document: "42"),
    ),
    Fault(
        "document-trailing",
        "syntax",
        "A letter follows the document in its text.",
        _change_text(lambda document: f"{document}x"),
    ),
    Fault(
        "document-twice",
        "syntax",
        "The document stands in its text twice.",
        _change_text(lambda document: document * 2),
    ),
    Fault(
        "document-empty",
        "syntax",
        "The text of the document has no characters.",
        _change_text(lambda _document: ""),
    ),
    Fault(
        "document-object",
        "nested-cell",
        "The document stands in the message as an object, not as a text.",
        _change_text(json.loads),
        UNSPECIFIED,
    ),
)

MONGODB_FAULTS: Final = (
    *(fault for fault in FAULTS if fault.name not in _ROWS_OF_OBJECTS),
    SCHEMA_NO_GRAMMAR,
    _DOCUMENT_GONE,
    *_DOCUMENTS,
)
"""Every fault of a whole value of the format."""
