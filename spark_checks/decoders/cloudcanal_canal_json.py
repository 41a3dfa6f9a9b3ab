"""CloudCanal's Canal Json as native Spark expressions (cloudcanal#canal-members and what follows
it).

Canal's flat message without `gtid`, and with `tableChanges` on DDL. `isDdl` decides before anything
else: a DDL has `[]` where Canal has null, and complete type maps, so neither tells it from a row
change. The page names one DDL type, ALTER; whatever type comes with `isDdl` is DDL unless it is a
row operation. An UPDATE's `old` is complete in the example and overlaid on `data` where it is not;
an INSERT's or DELETE's is null, `[]`, absent or a row, and ignored. `keys` are `pkNames`, also on a
DDL, whose key columns are in `tableChanges` only. `position` is `id`, the operation's sequence
number (always 0 in the examples). Values: `families.cloudcanal`.
"""

from __future__ import annotations

from typing import Final

from pyspark.sql import Column
from pyspark.sql import functions as F

from spark_checks.decoders.baselines import CANAL
from spark_checks.decoders.families import canal as _canal
from spark_checks.decoders.families import cloudcanal as _cloudcanal


def _kind(m: Column) -> Column:
    """The kind of a message, by `isDdl` and its type: DDL, or ROW if it has rows; NULL for any
    other, which is CORRUPT.
    """
    is_row = m["type"].isin(*_canal.ROW_TYPES)
    return F.when(m["isDdl"] & ~is_row, "DDL").when(
        ~m["isDdl"] & is_row & _canal.has_rows(m["data"]), "ROW"
    )


DIALECT: Final = _canal.CanalDialect(kind=_kind, typed=_cloudcanal.typed)
BASELINE: Final = CANAL
decode, decode_rows = DIALECT.decode, DIALECT.decode_rows
