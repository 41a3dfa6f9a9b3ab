"""Decoders and keepers of tables that are wrong on purpose; each names the rule that must convict it.

Imports `decoders` and `keepers`.
"""
