"""Faults of a decoder as operators on the rows of a right decoder.

`cells` changes values, `rows` changes rows and envelopes, `general` has operators with arguments
and conditions.
"""
