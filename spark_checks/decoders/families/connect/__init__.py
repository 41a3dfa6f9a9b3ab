"""Kafka Connect's JSON: rows, values, decimals."""
