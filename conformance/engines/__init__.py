"""Runs decoders: records in, an Arrow table of changes out, in a child process that may hang or die.

`child` keeps a Spark session, `command` a program over JSON lines. The one room that knows `spark_checks`, and only by name.
Imports `judging`.
"""
