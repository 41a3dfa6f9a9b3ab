"""Runs decoders: records in, an Arrow table of changes out, in a child process that may hang or
die, or on a user's session.

`child` starts a Spark session, `live` is given one, `command` runs a program over JSON lines.
Only this room knows `spark_checks`, and only by name.
Imports `brokers`, `judging`.
"""
