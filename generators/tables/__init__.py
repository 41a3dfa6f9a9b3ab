"""The user's own tables: read from DDL, given values and histories, and turned into scenarios.

Imports `drawing`, `recorded` (how databases spell types and values) and `sources`.
"""
