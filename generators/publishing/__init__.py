"""Messages to a Kafka broker: what was acknowledged, where it lies, at which rate.

Imports `generators.model` and `generators.errors` alone.
"""
