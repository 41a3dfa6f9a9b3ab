"""Decoders that are wrong in one way each, as rows of a table: an operator, and the rule that must
convict its output.

`table` reads the TOML files beside it, by level: what is wrong in input, deployment or law is in
`spark_checks.liars`.
"""
