"""What the self test makes the writers say behind the judge's back: a table of lies per format, in the module of its name.

Imports nothing of the harness but its own modules.
"""
