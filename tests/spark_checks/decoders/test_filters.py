"""A user's filter on a decoder's output is planned: Spark copies an expression into a filter as often as it is named there."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest

from generators.sources.boundaries import COMPOSITE
from generators.wire_format import FORMATS
from spark_checks import reference

pytestmark = pytest.mark.spark
SECONDS = 90
"""An expression that doubles with every layer takes hours; all others take seconds on a busy machine."""


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("level", [1, 2])
def test_a_filter_is_planned(records, name, level):
    module, none = reference(name), records()
    rows = module.decode(none) if level == 1 else module.decode_rows(none, COMPOSITE)
    wanted, pool = rows.where("kind = 'ROW' AND op IN ('INSERT', 'UPDATE') AND offset > 7"), ThreadPoolExecutor(1)
    planned = pool.submit(wanted.count)
    pool.shutdown(wait=False)
    assert planned.result(timeout=SECONDS) == 0
