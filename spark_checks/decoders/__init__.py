"""The reference decoders: a reading of each format that shares no code with its writer.

Imports `generators.model`, Spark and Arrow alone.
"""
