"""Runs decoders: records in, an Arrow table of changes out, in a child process that may hang or die.

`child` runs a Spark session, `command` a program over JSON lines. Only this room knows `spark_checks`, and only by name.
Imports `brokers`, `judging`.
"""
