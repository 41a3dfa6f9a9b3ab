"""What the self test makes the writers say behind the judge's back: a table of lies for each
format, in the file of its name.

`lie` reads the tables, `altering` has their words for changes of a message. Imports, beside, only
the reader of rules.
"""
