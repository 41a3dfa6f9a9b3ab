"""New liars: faults of a decoder as changes of a right decoder's output, written without a look at rules, liars or cases.

`cells` changes values, `rows` changes rows and envelopes; `measuring` applies them and counts how many are convicted.
"""
