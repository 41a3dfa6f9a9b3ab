"""Decoders and keepers of tables that are wrong on purpose; each names the rule that must convict
it.

Most liars are operators on right rows (`conformance.selftest.liars`). Here are those that are wrong
in input, deployment or law, a few of each format, which show that the way through Spark convicts: a
table NAME.toml for each. Imports `keepers`.
"""
