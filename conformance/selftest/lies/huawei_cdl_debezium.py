"""The lies about Huawei CDL Debezium JSON."""

from __future__ import annotations

from typing import Final

from conformance.selftest.lies.altering import in_json, put
from conformance.selftest.lies.lie import Lie

LIES: Final = (
    Lie("before-left-out", "2.0", "image/before", "shape/update-one-column", "identity", "default"),
    Lie("another source", "2.0", None, "*", "store", "opengauss"),
    Lie("package", "2.0", None, "*", "package", "com.other.mrs"),
    Lie("heartbeat-identifier", "2.0", None, "*", "heartbeat", True),
    Lie("version", "2.0", None, alter=in_json(put("2.1", "payload", "message_version"))),
)
