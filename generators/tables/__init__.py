"""The user's own tables: read from DDL, given values and histories, and turned into scenarios.

Of `generators`, imports `drawing`, `recorded` (how databases spell types and values) and `sources`.
"""
