"""Runs the named programs in one session of Spark, and prints each name with what it printed, in
base64. The first argument names Spark's further jars, with commas between them.
"""

import base64
import contextlib
import io
import runpy
import sys

from pyspark.sql import SparkSession


def main(jars: str, *names: str) -> None:
    """Runs the programs; an exception of one is printed in a line, as its last output."""
    builder = SparkSession.builder.master("local[1]").config("spark.jars", jars)
    spark = builder.config("spark.ui.enabled", "false").getOrCreate()
    try:
        for name in names:
            printed = io.StringIO()
            with contextlib.redirect_stdout(printed):
                try:
                    runpy.run_path(f"{name}.py")
                except Exception as error:  # noqa: BLE001 - a refusal is what a program may show
                    # An exception without a text, as that of a bare assert, has its class alone.
                    first_line = next(iter(str(error).splitlines()), "")
                    printed.write(f"{type(error).__name__}: {first_line}")
            output = base64.b64encode(printed.getvalue().encode()).decode()
            sys.stdout.write(f"{name} {output}\n")
    finally:
        spark.stop()


main(*sys.argv[1:])
