"""The names that TiCDC gives the fields and records of its Avro schemas."""

from __future__ import annotations

import re
from functools import lru_cache


@lru_cache(maxsize=1024)
def adjusted(name: str) -> str:
    """The name with `_` for what Avro's names cannot have (ticdc-avro#names)."""
    return re.sub("[^A-Za-z0-9_]", "_", re.sub("^(?=[0-9])", "_", name))
