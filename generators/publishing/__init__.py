"""Messages to a Kafka broker: what was acknowledged, where it lies, at which rate.

Imports nothing of `generators` beyond this room and the base modules.
"""
