"""What databases hold: MySQL's and PostgreSQL's types, their values and the boundaries of each.

Imports `generators.model` and `generators.errors` alone.
"""
