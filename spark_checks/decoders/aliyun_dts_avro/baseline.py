"""The baseline of Aliyun DTS's Record: `from_avro` with the plain schema, the text of a cell
whatever its branch, try_cast.

It notices nothing malformed, ignores what follows `afterImages`, takes every Character for UTF-8,
gives NULL for what was not captured, and drops fractions of times; operations and names stay as
written.
"""

from __future__ import annotations

import json
from typing import Final

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql.avro.functions import from_avro

from generators.model import Deployment, Table
from spark_checks.decoders.aliyun_dts_avro.record import MEMBERS, WIRE
from spark_checks.decoders.baselines import cast_columns, level_one, level_two
from spark_checks.decoders.families.framing import COORDINATES

_ROWS: Final = ("INSERT", "UPDATE", "DELETE")


class AliyunBaseline:
    """The baseline at both levels."""

    def decode(self, records: DataFrame, *, deployment: Deployment | None = None) -> DataFrame:
        """The baseline of level one: every row change with its images as maps of texts, and its
        envelope, without any check.
        """
        m, fields = F.col("m"), F.col("m.fields.member1")
        return level_one(
            _records(records),
            _if_row(m, "ROW"),
            op=_if_row(m, m["operation"]),
            database=F.split_part(m["objectName"], F.lit("."), F.lit(1)),
            table=F.split_part(m["objectName"], F.lit("."), F.lit(2)),
            keys=F.from_json(m["tags"]["pk_uk_info"], "PRIMARY array<string>")["PRIMARY"],
            position=m["sourcePosition"],
            commit_time=F.timestamp_seconds(m["sourceTimestamp"]),
            before=_image(m, "beforeImages"),
            after=_image(m, "afterImages"),
            types=F.map_from_arrays(fields["name"], fields["dataTypeNumber"].cast("array<string>")),
            sql=m["afterImages"]["member0"],
        )

    def decode_rows(
        self, records: DataFrame, table: Table, *, deployment: Deployment | None = None
    ) -> DataFrame:
        """The baseline of level two: every row change with its images as structs of the table's
        columns, without any check.
        """
        m = F.col("m")
        images = (
            cast_columns(table, _image(m, side).__getitem__)
            for side in ("beforeImages", "afterImages")
        )
        return level_two(_records(records), _if_row(m, "ROW"), _if_row(m, m["operation"]), *images)


def _records(records: DataFrame) -> DataFrame:
    """The records with their messages in the column `m`, read by the writer's schema and not
    checked.
    """
    return records.select(
        *COORDINATES, from_avro(F.col("value"), json.dumps(WIRE), {"mode": "PERMISSIVE"}).alias("m")
    )


def _if_row(m: Column, value: Column | str) -> Column:
    """A value for a row change; NULL for any other message."""
    return F.when(m["operation"].isin(*_ROWS), value)


def _image(m: Column, side: str) -> Column:
    """A row's image as a map of texts: the fields' names, and the text of each cell."""
    return F.map_from_arrays(
        m["fields"]["member1"]["name"], F.transform(m[side]["member1"], _branch_text)
    )


def _branch_text(cell: Column) -> Column:
    """A cell's text, from the one branch of its Avro union that is there; NULL if none is, and for
    branches that the baseline does not read: TimestampWithTimeZone, geometries and EmptyObject.
    """
    branch = {name: cell[member] for name, member in MEMBERS.items()}
    clock = branch["DateTime"]
    date = F.concat_ws("-", clock["year"], clock["month"], clock["day"])
    time = F.concat_ws(":", clock["hour"], clock["minute"], clock["second"])
    return F.coalesce(
        branch["Integer"]["value"],
        branch["Character"]["value"].cast("string"),
        branch["Decimal"]["value"],
        branch["Float"]["value"].cast("string"),
        F.timestamp_seconds(branch["Timestamp"]["timestamp"]).cast("string"),
        F.when(clock.isNotNull(), F.concat_ws(" ", date, time)),
        branch["BinaryObject"]["value"].cast("string"),
        branch["TextObject"]["value"],
    )


BASELINE: Final = AliyunBaseline()
