"""What databases hold: MySQL's, PostgreSQL's and MongoDB's types, their values and the boundaries
of each.

Imports nothing of `generators` beyond this room and the base modules.
"""
