"""Kafka brokers: in a container, from jars, or already running; and the jars.

Imports nothing of `conformance` beyond this room and the base modules.
"""
