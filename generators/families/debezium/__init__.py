"""Debezium's values by source: shared by upstream Debezium and CloudCanal's envelope."""
