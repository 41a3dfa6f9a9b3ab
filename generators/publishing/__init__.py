"""Publishes messages to a Kafka broker: which were acknowledged, at which offsets, at which rate.

Imports nothing of `generators` beyond this room and the base modules.
"""
