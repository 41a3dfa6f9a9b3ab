"""The cases of a run: named and drawn cases, their ids, and their decode calls.

Of `conformance`, imports only this room and the base modules.
"""
