"""Decoders of cloudcanal-json that are wrong on purpose in input, deployment or law."""

from __future__ import annotations

from typing import Final

from spark_checks.decoders import cloudcanal_json as reference
from spark_checks.liars.laws import law
from spark_checks.liars.liar import Liar, on_input

LIARS: Final[tuple[Liar, ...]] = (
    Liar(
        "older-key-ignored",
        1,
        "ddl/older-key",
        "Only isDdl is read: under the older edition's ddl a statement is a row change of an unknown action.",
        on_input(reference.decode, "regexp_replace(t, r'\"ddl\": ?true', '\"ddl\":false')"),
    ),
    *law(reference.decode, "session-zone"),
)
