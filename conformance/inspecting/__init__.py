"""What messages of unknown origin say about their writer: format, release, options, tables, and the
evidence for each.

`books` has a table of evidence for each format. Imports `brokers`, whose registry tells schemas,
and `rules`, which reads tables.
"""
