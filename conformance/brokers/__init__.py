"""Kafka brokers: one in a container, one started from its jars, or one that runs already; and the jars themselves.

Imports nothing of `conformance` beyond this room and the base modules.
"""
