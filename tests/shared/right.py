"""The rows of a right decoder, made of what a case owes: the one place of the tests that names
where the harness makes them.
"""

from conformance.judging.perfect import owed_changes, row_of_change

__all__ = ["owed_changes", "row_of_change"]
