"""What several formats share of their writers: texts of Java, Kafka Connect's JSON, Avro, products
with two formats.

Imports `sources` and `garbage`.
"""
