"""Decoders of ticdc-canal-json that are wrong on purpose in input, deployment or law."""

from __future__ import annotations

from typing import Final

from spark_checks.decoders import ticdc_canal_json as reference
from spark_checks.liars.laws import law
from spark_checks.liars.liar import Liar, on_input

LIARS: Final[tuple[Liar, ...]] = (
    Liar(
        "carriage-return-refused",
        1,
        "framing/crlf",
        "A strict parser chokes on the CRLF behind a row change (pingcap/tiflow#11707).",
        on_input(reference.decode, "CASE WHEN endswith(t, concat(chr(13), chr(10))) THEN NULL ELSE t END"),
    ),
    Liar(
        "truncated-as-nulls",
        1,
        "fault/unreadable",
        "from_json in PERMISSIVE mode without a corrupt-record column: a truncated message is a row of NULLs.",
        on_input(
            reference.decode,
            "CASE WHEN t LIKE '{%' AND length(replace(t, '{', '')) < length(replace(t, '}', '')) "
            """THEN '{"database":"","table":"","isDdl":false,"type":"INSERT","sql":"","data":[{}],"old":null}' ELSE t END""",
        ),
    ),
    *law(reference.decode, "batch-dependent"),
)
