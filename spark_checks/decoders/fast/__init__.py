"""Fast level-two decoders: Arrow batches, columns at a time, `--decoder fast`.

A decoder here gives the rows that its reference decoder gives. Messages of the usual shape are parsed and typed by Arrow's own
kernels; whatever a kernel refuses, or may read otherwise than the format means it, is read by plain Python, a message or
a cell at a time.
"""
