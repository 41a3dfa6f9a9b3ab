"""The lies about Huawei CDL JSON."""

from __future__ import annotations

from typing import Final

from conformance.selftest.lies.altering import in_json, put
from conformance.selftest.lies.lie import Lie

LIES: Final = (
    Lie("before-left-out", "1.0", "image/before", "shape/update-one-column", "identity", "default"),
    Lie("another source", "1.0", None, "*", "store", "opengauss"),
    Lie("package", "1.0", None, "*", "package", "com.other.mrs"),
    Lie("version", "1.0", None, alter=in_json(put("1.1", "payload", "message_version"))),
    Lie("txid-first", "1.0", None, "*", "properties", ("txId", "lsn")),
)
