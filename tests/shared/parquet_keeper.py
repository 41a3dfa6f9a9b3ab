"""A right pipeline of huawei-cdl-json without a lakehouse: all changes as Parquet files, a folder a
batch; the table is the newest of each key, the history all of them.
"""

from pyspark.sql import Window
from pyspark.sql import functions as F

from spark_checks.decoders.huawei_cdl_json import decode, decode_rows

PLACES = {}
"""The folder of each target's files."""


def start(spark, records, target, table, checkpoint, deployment):
    PLACES[target] = f"{checkpoint}-rows"

    def keep(batch, number):
        told = decode(batch, deployment=deployment).where("kind = 'ROW'")
        version = "CAST(position AS decimal(20,0)) AS version"
        order = told.selectExpr("partition", "offset", "row", version)
        rows = decode_rows(batch, table, deployment=deployment).where("kind = 'ROW'")
        both = rows.join(order, ["partition", "offset", "row"])
        gone = "struct(before AS image, true AS gone, 0 AS half)"
        there = "struct(after AS image, false AS gone, 1 AS half)"
        halves = (
            f"CASE WHEN op = 'DELETE' THEN array({gone})"
            f" WHEN op = 'UPDATE' AND before.id <> after.id THEN array({gone}, {there})"
            f" ELSE array({there}) END"
        )
        changes = both.selectExpr("version", "offset", f"explode({halves}) AS change")
        changes = changes.select(
            "version", "offset", "change.gone", "change.half", "change.image.*"
        )
        # A batch that comes again replaces its folder.
        changes.write.mode("overwrite").parquet(f"{PLACES[target]}/{number}")

    return records.writeStream.foreachBatch(keep).option("checkpointLocation", checkpoint).start()


def changes_of(spark, target):
    place = F.struct("version", "offset", "half")
    return spark.read.parquet(f"{PLACES[target]}/*").withColumn("place", place)


def table(spark, target):
    newest = Window.partitionBy("id").orderBy(F.desc("place"))
    rows = changes_of(spark, target).withColumn("n", F.row_number().over(newest))
    return rows.where("n = 1 AND NOT gone").drop("n", "place")


def history(spark, target):
    later = Window.partitionBy("id").orderBy("place")
    rows = changes_of(spark, target).withColumn("valid_to", F.lead("place").over(later))
    return rows.where("NOT gone").withColumnRenamed("place", "valid_from")
