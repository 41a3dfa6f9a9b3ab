"""Decoders of Canal's dialects that are wrong on purpose: first of all those of Alibaba's messages."""

from __future__ import annotations

from typing import Final

from spark_checks.decoders import alibaba_canal_json as alibaba
from spark_checks.decoders import canal_dialects_json as reference
from spark_checks.liars.laws import law
from spark_checks.liars.liar import Decode, Liar


def _alibaba(name: str, level: int, convicts: str, why: str, decode: Decode) -> Liar:
    return Liar(f"alibaba-{name}", level, convicts, f"A decoder of Alibaba's flat message: {why}", decode)


LIARS: Final[tuple[Liar, ...]] = (
    _alibaba("on-full-loads", 1, "rows/snapshot", "INIT is none of its types.", alibaba.decode),
    _alibaba("on-statements", 1, "ddl/type", "DDL is none of its types.", alibaba.decode),
    _alibaba("on-deletes", 1, "rows/deleted-in-old", "it looks for a deleted row in data, which is null.", alibaba.decode),
    _alibaba("on-seconds", 1, "envelope/seconds", "es is milliseconds to it: changes are of January 1970.", alibaba.decode),
    _alibaba("on-hex", 2, "value/binary-hex", "hex digits are ISO-8859-1 to it.", alibaba.decode_rows),
    *law(reference.decode, "nowhere"),
)
