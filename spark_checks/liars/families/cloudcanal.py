"""The traps that both of CloudCanal's Canal-shaped formats set, as variations of a reference decoder of either."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from pyspark.sql import DataFrame

from generators.model import Deployment
from spark_checks.liars.base import Decode, Liar, on_columns, on_input
from spark_checks.liars.families.canal import Decoders

_WITHOUT_LENGTH = r"regexp_replace(v, r'\(.*\)', '')"


def common(fmt: str, module: Decoders, convicts: Mapping[str, str], *, op: str, committed: str, sent: str) -> Iterator[Liar]:
    """The liars of a format by name, for the names that `convicts` gives a rule; the rest is what it calls Canal's members."""
    decode = module.decode
    is_ddl, action = "t RLIKE r'\"(isDdl|ddl)\": ?true'", f"get_json_object(t, '$.{op}')"
    traps: dict[str, tuple[str, Decode]] = {
        "ddl-refused": (
            "SeaTunnel skips a DDL whose data is null: [] gets past that and is an unknown operation (canal#seatunnel-ddl).",
            on_input(decode, f"CASE WHEN {is_ddl} AND t RLIKE r'\"data\": ?\\[\\]' THEN NULL ELSE t END"),
        ),
        "only-alter": (
            "ALTER is the only DDL that the document shows, and any other is refused.",
            on_input(decode, f"CASE WHEN {is_ddl} AND {action} <> 'ALTER' THEN NULL ELSE t END"),
        ),
        "ddl-without-types": (
            "A DDL has no type maps in Canal, and here they are not looked for.",
            on_columns(decode, types="CASE WHEN kind <> 'DDL' THEN types END"),
        ),
        "old-of-first-row": (
            "The old image of the first row is taken for that of each row of the batch.",
            _of_first_row(decode),
        ),
        "empty-old-as-row": (
            "[] in the place of an INSERT's old image is taken for an image without columns.",
            on_columns(decode, before="CASE WHEN op = 'INSERT' THEN CAST(map() AS map<string, string>) ELSE before END"),
        ),
        "types-without-length": (
            "A type's length is cut off: varchar(22) becomes varchar.",
            on_columns(decode, types=f"transform_values(types, (k, v) -> {_WITHOUT_LENGTH})"),
        ),
        "milliseconds-cut": (
            "The commit time is divided by 1000 as a whole number, since every example ends in 000.",
            on_columns(decode, commit_time="date_trunc('SECOND', commit_time)"),
        ),
        "sent-as-committed": (
            "The time at which the message went out is taken for that of the commit.",
            on_input(decode, f"""replace(replace(t, '"{committed}":', '"was":'), '"{sent}":', '"{committed}":')"""),
        ),
        "old-ignored": (
            "RisingWave FORMAT CANAL and kafka-cdc-redshift read no old: the row before is the row after.",
            on_columns(decode, before="CASE WHEN op = 'UPDATE' THEN after ELSE before END"),
        ),
        "absent-old-as-null": (
            "What an old row leaves out is made NULL: unchanged columns are taken for columns that were NULL.",
            on_columns(
                decode,
                before="CASE WHEN op = 'UPDATE' THEN "
                "map_from_arrays(map_keys(after), transform(map_keys(after), k -> try_element_at(before, k))) ELSE before END",
            ),
        ),
        "deletes-dropped": (
            "A DELETE is not looked for at all.",
            on_input(decode, f"CASE WHEN {action} = 'DELETE' THEN NULL ELSE t END"),
        ),
        "unchanged-not-kept": (
            "What is equal in both images is taken out of the old one, as Canal would have it.",
            on_columns(
                decode,
                before="CASE WHEN op = 'UPDATE' THEN map_filter(before, (k, v) -> NOT v <=> try_element_at(after, k)) "
                "ELSE before END",
            ),
        ),
    }
    for name, (why, lie) in traps.items():
        if name in convicts:
            yield Liar(name, fmt, 1, f"{fmt}/{convicts[name]}", why, lie)


def _of_first_row(decode: Decode) -> Decode:
    image = "first_value(before) OVER (PARTITION BY topic, partition, offset ORDER BY row)"

    def lie(records: DataFrame, *, deployment: Deployment | None = None) -> DataFrame:
        lied = on_columns(decode, before=f"CASE WHEN op = 'UPDATE' THEN {image} ELSE before END")
        return lied(records, deployment=deployment)

    return lie
