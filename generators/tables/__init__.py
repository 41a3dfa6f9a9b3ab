"""The user's own tables: read from DDL, given values and histories, and turned into scenarios.

Of `generators`, imports only this room and the base modules.
"""
