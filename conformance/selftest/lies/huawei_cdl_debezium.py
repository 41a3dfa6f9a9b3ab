"""The lies about Huawei CDL Debezium JSON."""

from __future__ import annotations

from typing import Final

from conformance.selftest.lies.altering import in_json, put
from conformance.selftest.lies.base import Lie

_NAME: Final = "huawei-cdl-debezium"

LIES: Final = (
    Lie("before-left-out", "2.0", f"{_NAME}/image/before", "shape/update-one-column", field="identity", value="default"),
    Lie("package", "2.0", None, field="package", value="com.other.mrs"),
    Lie("heartbeat-identifier", "2.0", None, field="heartbeat", value=True),
    Lie("version", "2.0", None, alter=in_json(put("2.1", "payload", "message_version"))),
)
