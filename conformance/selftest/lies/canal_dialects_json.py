"""The lies about the writers of Canal's dialects."""

from __future__ import annotations

from typing import Final

from conformance.selftest.lies.altering import backwards, in_json, put, shift
from conformance.selftest.lies.lie import Lie

LIES: Final = (
    Lie("offset lost", "tencent-dts", "value/wire", "timestamp-0/max", "zoned", False),
    Lie("parameters of types", "tencent-dts", "envelope/types", "shape/insert", "bare_types", False),
    Lie("codes told", "tencent-dts", None, "shape/insert", "codes", True),
    Lie("nothing described", "aliyun-dts", "envelope/types", "shape/insert", "described", False),
    Lie("whole old", "aliyun-dts", "image/old", "shape/update-one-column", "whole_old", True),
    Lie("deleted in data", "huawei-drs", None, "shape/delete", "deleted_in_old", False),
    Lie("full load inserted", "huawei-drs", None, "init/rows", "init", False),
    Lie("statement as Canal's", "huawei-drs", None, "ddl/create-table", "ddl", ""),
    Lie("a second later", "tencent-ckafka", "envelope/seconds", "shape/insert", alter=in_json(shift(1, "es"))),
    Lie("no row", "huawei-drs", "rows/deleted-in-old", "shape/delete", alter=in_json(put(None, "old"))),
    Lie("members backwards", "tencent-dts", None, alter=in_json(backwards())),
)
