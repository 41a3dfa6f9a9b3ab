"""Real products on demand: an audit of the writers with fresh input.

A recorder starts a private database and the real writer, executes SQL that is made from a drawn
history, captures what the product publishes, and compares it with what `generators.formats` writes
for the same history. Nothing imports this package but the command `record`, lazily; it imports
`generators`, and `brokers`, `files`, `rules` and `text` of `conformance`.
"""
