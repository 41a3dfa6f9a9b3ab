"""The user's own tables: read from DDL, given values and histories, and turned into scenarios.

Imports `recorded` and `sources`: how databases spell types and values.
"""
