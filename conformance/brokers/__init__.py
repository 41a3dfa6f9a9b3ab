"""Kafka brokers: in a container, from jars, or already running; the jars; the registry of
schemas; and what Spark needs to start.

Imports nothing of `conformance` beyond this room and the base modules.
"""
